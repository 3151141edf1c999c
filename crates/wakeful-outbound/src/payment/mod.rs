//! Payment processors behind one trait. They only move money: plans, prices and
//! periods are ours. Every call that creates something carries an idempotency
//! key.

mod sandbox;
mod signature;
mod stripe;

pub use sandbox::Sandbox;
pub use signature::BadSignature;
pub use stripe::Stripe;

use std::pin::Pin;
use wakeful_core::billing::{CardSource, Expiry, Money};
use wakeful_core::id::TeamId;
use wakeful_core::named_enum;
use wakeful_core::time::Millis;

pub type PaymentFuture<'a, T> = Pin<Box<dyn Future<Output = Result<T, PaymentError>> + Send + 'a>>;

pub trait Processor: Send + Sync {
    /// As configured; stored with everything it created.
    fn name(&self) -> &'static str;

    /// The team's customer at the processor, created once per key.
    fn customer<'a>(&'a self, key: &'a str, team: TeamId) -> PaymentFuture<'a, String>;

    /// Whether the processor still has a customer.
    fn customer_exists<'a>(&'a self, customer: &'a str) -> PaymentFuture<'a, bool>;

    /// Transfers a card. The returned method can be charged only after it is
    /// attached.
    fn create<'a>(&'a self, key: &'a str, source: &'a CardSource) -> PaymentFuture<'a, NewMethod>;

    /// Attaches a method to its customer, for charges without the customer
    /// present.
    fn attach<'a>(
        &'a self,
        key: &'a str,
        customer: &'a str,
        method: &'a str,
    ) -> PaymentFuture<'a, ()>;

    /// Removes a method; succeeds if it does not exist.
    fn detach<'a>(&'a self, method: &'a str) -> PaymentFuture<'a, ()>;

    /// Removes a customer and everything that belongs to them.
    fn delete_customer<'a>(&'a self, customer: &'a str) -> PaymentFuture<'a, ()>;

    /// Charges money and returns the id of the charge.
    fn charge<'a>(&'a self, key: &'a str, order: &'a Order) -> PaymentFuture<'a, String>;

    /// The outcome of a charge whose response was lost; `None`: it was never
    /// created.
    fn find_charge<'a>(
        &'a self,
        key: &'a str,
        order: &'a Order,
    ) -> PaymentFuture<'a, Option<String>>;

    /// Refunds a charge completely.
    fn refund<'a>(&'a self, key: &'a str, charge: &'a str) -> PaymentFuture<'a, ()>;

    /// Parses a callback of the processor after verifying its signature.
    fn callback(
        &self,
        body: &[u8],
        signature: &str,
        now: Millis,
    ) -> Result<Option<Callback>, BadSignature>;
}

/// The part of a card that may be stored.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct NewMethod {
    /// Its id at the processor.
    pub reference: String,
    pub last4: String,
    pub expiry: Expiry,
    pub name: String,
}

/// The amount to charge, and the method to charge.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Order {
    pub customer: String,
    pub method: String,
    pub amount: Money,
    pub description: String,
}

/// An event at the processor: a reason to query its state, never proof.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Callback {
    /// The charge made with this key has an outcome.
    Charge { key: String },
    /// The method was removed there.
    Detached { method: String },
}

#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum PaymentError {
    /// The bank or the processor declined. Final.
    #[error("{}", .0.sentence())]
    Declined(Decline),
    /// No response, or an unclear one: it may or may not have happened.
    #[error("the payment processor did not return a definite result: {0}")]
    Unclear(String),
    /// The request cannot be fulfilled: something it refers to is unknown or
    /// invalid. Nothing happened.
    #[error("the payment processor rejected the request: {0}")]
    Rejected(String),
    /// The processor denies access, as with a wrong key. Nothing happened, and
    /// the operator must act.
    #[error("access to the payment processor failed: {0}")]
    Refused(String),
}

named_enum! {
    /// Why a card was declined, with a stable code for programs.
    #[derive(Clone, Copy, Debug, PartialEq, Eq)]
    pub enum Decline {
        Generic = "card_declined",
        InsufficientFunds = "insufficient_funds",
        Expired = "expired_card",
        AuthenticationRequired = "authentication_required",
        /// The number or the code is wrong.
        Incorrect = "incorrect_card",
        /// The bank or the processor failed; the card may be valid.
        Processing = "processing_error",
        /// The token is unknown, already used or belongs to another customer.
        BadToken = "bad_card_token",
        /// The processor can no longer charge the saved card: it was removed
        /// there, or belongs to another account.
        MethodGone = "method_gone",
    }
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
                "The card requires authentication for each payment, which is not possible for scheduled payments; use another card."
            }
            Self::Incorrect => {
                "The card was declined because its number or code is wrong; check both."
            }
            Self::Processing => {
                "The card could not be processed right now; try again or use another card."
            }
            Self::BadToken => {
                "The card details have expired or were already used; enter the card again."
            }
            Self::MethodGone => {
                "The payment processor no longer accepts this saved card; enter it again or use another card."
            }
        }
    }
}
