//! A thread: the reference that a service returned for the first message about an alert, so that
//! later messages can reply to it or change it. Its content is up to the kind of notifier.

use serde::{Deserialize, Serialize};
use serde_json::Value;

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(transparent)]
pub struct Thread(pub Value);

/// The references of all services have fewer bytes.
const MAX_BYTES: usize = 1_024;

impl Thread {
    /// Whether it can be stored.
    pub fn is_short(&self) -> bool {
        self.0.to_string().len() <= MAX_BYTES
    }

    /// As stored. What cannot be read counts as lost.
    pub fn stored(text: &str) -> Option<Self> {
        serde_json::from_str(text).ok()
    }

    /// A text in it.
    pub fn text(&self, name: &str) -> Option<&str> {
        self.0.get(name)?.as_str()
    }
}
