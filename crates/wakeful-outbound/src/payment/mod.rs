//! Payment processors behind one trait. They only move money: plans, prices and
//! periods are ours. Every call that makes something carries a key, and the
//! same key twice makes it once.

mod sandbox;
mod signature;
mod stripe;

pub use sandbox::Sandbox;
pub use signature::BadSignature;
pub use stripe::Stripe;

use std::pin::Pin;
use wakeful_core::billing::{Expiry, Money, Source};
use wakeful_core::id::TeamId;
use wakeful_core::time::Millis;

pub type Answer<'a, T> = Pin<Box<dyn Future<Output = Result<T, PaymentError>> + Send + 'a>>;

pub trait Processor: Send + Sync {
    /// As it is configured, and kept beside what it made.
    fn name(&self) -> &'static str;

    /// The team at the processor, made once for a key.
    fn customer<'a>(&'a self, key: &'a str, team: TeamId) -> Answer<'a, String>;

    /// Whether the processor still has a customer.
    fn knows<'a>(&'a self, customer: &'a str) -> Answer<'a, bool>;

    /// Hands a card over. What comes back can be charged only once attached.
    fn create<'a>(&'a self, key: &'a str, source: &'a Source) -> Answer<'a, NewMethod>;

    /// Binds a method to its customer, for charges without them present.
    fn attach<'a>(&'a self, key: &'a str, customer: &'a str, method: &'a str) -> Answer<'a, ()>;

    /// Removes a method; one that is gone is removed.
    fn detach<'a>(&'a self, method: &'a str) -> Answer<'a, ()>;

    /// Removes a customer and what belongs to them.
    fn forget<'a>(&'a self, customer: &'a str) -> Answer<'a, ()>;

    /// Moves money and answers the id of the charge.
    fn charge<'a>(&'a self, key: &'a str, order: &'a Order) -> Answer<'a, String>;

    /// What became of a charge whose answer was lost; nothing: it never began.
    fn find<'a>(&'a self, key: &'a str, order: &'a Order) -> Answer<'a, Option<String>>;

    /// Gives all of a charge back.
    fn refund<'a>(&'a self, key: &'a str, charge: &'a str) -> Answer<'a, ()>;

    /// What a callback of the processor says, once its signature is proved.
    fn callback(
        &self,
        body: &[u8],
        signature: &str,
        now: Millis,
    ) -> Result<Option<Callback>, BadSignature>;
}

/// What may be kept of a card.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct NewMethod {
    /// Its id at the processor.
    pub reference: String,
    pub last4: String,
    pub expiry: Expiry,
    pub name: String,
}

/// What is to be charged to whom.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Order {
    pub customer: String,
    pub method: String,
    pub amount: Money,
    pub description: String,
}

/// Something happened at the processor: a reason to look, never to believe.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Callback {
    /// The charge made with this key has an outcome.
    Charge { key: String },
    /// The method was removed there.
    Detached { method: String },
}

#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum PaymentError {
    /// The bank or the processor said no. Final.
    #[error("{}", .0.sentence())]
    Declined(Decline),
    /// No answer, or none that tells: it may or may not have happened.
    #[error("the payment processor gave no clear answer: {0}")]
    Unclear(String),
    /// What was asked for cannot be done: something it names is unknown or
    /// unfit. Nothing happened.
    #[error("the payment processor rejected the request: {0}")]
    Rejected(String),
    /// The processor refuses to talk, as with a wrong key. Nothing happened, and
    /// the operator is needed.
    #[error("the payment processor refuses to talk: {0}")]
    Refused(String),
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Decline {
    Generic,
    InsufficientFunds,
    Expired,
    AuthenticationRequired,
    /// The number or the code is not the card's.
    Incorrect,
    /// The bank or the processor stumbled; the card may be good.
    Processing,
    /// The token is unknown, used up or of another customer.
    BadToken,
    /// The processor cannot charge the saved card any more: it was removed
    /// there, or belongs to another account.
    MethodGone,
}

impl Decline {
    /// For the person who pays.
    pub fn sentence(self) -> &'static str {
        match self {
            Self::Generic => "The card was declined; use another card or ask your bank.",
            Self::InsufficientFunds => {
                "The card was declined for insufficient funds; use another card."
            }
            Self::Expired => "The card was declined because it has expired; use another card.",
            Self::AuthenticationRequired => {
                "The card asks for authentication at each payment, which scheduled payments cannot give; use another card."
            }
            Self::Incorrect => {
                "The card was declined because its number or code is wrong; check both."
            }
            Self::Processing => {
                "The card could not be processed just now; try again or use another card."
            }
            Self::BadToken => {
                "The token is unknown to the payment processor or was used; enter the card again."
            }
            Self::MethodGone => {
                "The payment processor no longer takes this saved card; enter it again or use another card."
            }
        }
    }

    /// A stable word for programs.
    pub fn code(self) -> &'static str {
        match self {
            Self::Generic => "card_declined",
            Self::InsufficientFunds => "insufficient_funds",
            Self::Expired => "expired_card",
            Self::AuthenticationRequired => "authentication_required",
            Self::Incorrect => "incorrect_card",
            Self::Processing => "processing_error",
            Self::BadToken => "bad_card_token",
            Self::MethodGone => "method_gone",
        }
    }
}
