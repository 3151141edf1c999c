//! Why an operation was refused: causes that a caller can act on. The words
//! and the status a client sees are chosen by the API.

use std::time::Duration;
use wakeful_core::billing::Refusal;
use wakeful_core::id::NotifierId;
use wakeful_outbound::payment::{Decline, PaymentError};
use wakeful_store::StoreError;

#[derive(Debug, thiserror::Error)]
pub enum Error {
    #[error("email or password is wrong")]
    BadCredentials,
    #[error("no valid credentials were given")]
    NotAuthenticated,
    #[error("the account asks for a second factor")]
    MfaRequired,
    #[error("the second factor is wrong or was used before")]
    MfaInvalid,
    #[error("multi-factor authentication is already on")]
    MfaAlreadyOn,
    #[error("multi-factor authentication is not set up")]
    MfaNotSetUp,
    #[error("the token is unknown, used, too old or belongs to another address")]
    BadResetToken,
    #[error("the email address has an account")]
    EmailTaken,
    #[error("sign-up is closed")]
    SignUpClosed,
    #[error("there is no such {0}")]
    NotFound(&'static str),
    /// Tried again and again, and each time somebody else was faster.
    #[error("it is being changed by others")]
    Overtaken,
    #[error("the monitor is not active")]
    Inactive,
    #[error("an api monitor is never called: its target reports by itself")]
    Passive,
    #[error("the monitor has no push address")]
    NoPushUrl,
    #[error("the team has no such notifiers")]
    UnknownNotifiers(Vec<NotifierId>),
    #[error("monitors still tell by the notifier")]
    StillLinked(Vec<String>),
    #[error("the notifier signs nothing")]
    Unsigned,
    #[error("the notifier is turned off")]
    NotifierOff,
    /// A field that is well formed but cannot be used.
    #[error("{field} {why}")]
    Refused { field: &'static str, why: String },
    #[error("the receiver did not take the message: {0}")]
    NotDelivered(String),
    /// It counts, and will be recorded when storage is back.
    #[error("storage is not available")]
    NotRecorded,
    #[error("too many attempts")]
    Limited { retry_after: Duration },
    #[error("the team has as many checks on request as it may")]
    TooManyChecks,
    #[error("too many passwords wait to be checked")]
    Overloaded,
    #[error("there is no such plan")]
    UnknownPlan,
    #[error("the plan None is reached by stopping")]
    PlanNotForSale,
    #[error("the team has no plan")]
    NoPlan,
    #[error("the plan is set by an administrator")]
    PlanByAdministrator,
    #[error("the payment was declined")]
    Declined(Decline),
    #[error("a payment of the team is under way")]
    PaymentUnderWay,
    /// The payment goes on in the background.
    #[error("the payment processor gave no clear answer")]
    PaymentUnclear,
    #[error(transparent)]
    Processor(PaymentError),
    #[error("the plan {plan} does not allow it")]
    PlanLimit { limit: String, plan: String, next: Option<String> },
    #[error(transparent)]
    Store(StoreError),
}

impl From<StoreError> for Error {
    fn from(error: StoreError) -> Self {
        match error {
            // The only unique value that callers choose is the email address.
            StoreError::Taken => Self::EmailTaken,
            // The caller's account was deleted while they called.
            StoreError::Gone => Self::NotAuthenticated,
            error => Self::Store(error),
        }
    }
}

impl From<PaymentError> for Error {
    fn from(error: PaymentError) -> Self {
        match error {
            PaymentError::Declined(decline) => Self::Declined(decline),
            error => Self::Processor(error),
        }
    }
}

impl From<Refusal> for Error {
    fn from(refusal: Refusal) -> Self {
        match refusal {
            Refusal::NothingHeld => Self::NoPlan,
            Refusal::Administered => Self::PlanByAdministrator,
            Refusal::NotForSale => Self::PlanNotForSale,
        }
    }
}
