//! The domain logic of Wakeful without any I/O: ids, times, secrets, and the
//! rules of the contract as pure functions. Nothing here waits for I/O,
//! connects, stores or reads a clock: `now`, ids and randomness are arguments.

pub mod access;
pub mod accounts;
pub mod action_link;
pub mod alerting;
pub mod assert;
pub mod audit;
pub mod backoff;
pub mod billing;
pub mod calendar;
pub mod certificate;
pub mod client_network;
pub mod cluster;
pub mod contacts;
pub mod dependency;
pub mod domain;
pub mod email_address;
pub mod error_chain;
pub mod escalation;
pub mod evidence;
pub mod flapping;
pub mod group;
pub mod health;
pub mod heartbeat;
pub mod history;
pub mod ical;
pub mod id;
pub mod maintenance;
pub mod monitors;
mod named_enum;
pub mod notifications;
pub mod observation;
pub mod oncall;
pub mod one_line;
pub mod push;
pub mod quiet;
pub mod quorum;
pub mod reason;
pub mod redact;
pub mod region;
pub mod routing;
pub mod schedule;
pub mod seal;
pub mod secret;
pub mod selector;
mod serde_millis;
pub mod severity;
pub mod slo;
pub mod statuspages;
mod stored_as_text;
pub mod template;
pub mod time;
pub mod token;
pub mod verdict;

/// Why a value was rejected, as one sentence about the field for the user.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{0}")]
pub struct Invalid(pub String);

impl Invalid {
    pub fn new(reason: impl Into<String>) -> Self {
        Self(reason.into())
    }

    /// The value is not one of these.
    pub(crate) fn one_of(names: impl Iterator<Item = &'static str>) -> Self {
        Self(format!("must be one of {}", names.collect::<Vec<_>>().join(", ")))
    }
}
