//! What is true of Wakeful without any I/O: ids, times, secrets, and the rules
//! of the contract as pure functions. Nothing here waits for I/O, connects, stores or
//! reads a clock: `now`, ids and randomness are arguments.

pub mod alert;
pub mod backoff;
pub mod billing;
pub mod certificate;
pub mod chain;
pub mod client_network;
pub mod email;
pub mod history;
pub mod id;
pub mod monitor;
pub mod notice;
pub mod notifier;
mod number;
pub mod observation;
pub mod password;
pub mod poll;
pub mod region;
pub mod reminder;
pub mod schedule;
pub mod seal;
pub mod secret;
pub mod slot;
pub mod template;
pub mod time;
pub mod token;
pub mod totp;
pub mod verdict;

/// Why a value was refused, as one sentence about the field for a person.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{0}")]
pub struct Invalid(pub String);

impl Invalid {
    pub fn new(reason: impl Into<String>) -> Self {
        Self(reason.into())
    }
}
