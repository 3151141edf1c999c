//! The recipients of a mail: how many of them its server accepted, and which
//! ones it did not.

use serde::{Deserialize, Serialize};

/// The recipients of a mail after its latest attempt.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Recipients {
    pub total: usize,
    /// Those that have not been accepted, with the server's latest reply. A 4xx
    /// reply defers a recipient: as long as the delivery waits, it is retried.
    pub refused: Vec<RefusedRecipient>,
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct RefusedRecipient {
    pub address: String,
    pub answer: String,
}

impl Recipients {
    pub fn accepted(&self) -> usize {
        self.total.saturating_sub(self.refused.len())
    }

    /// The recipients after a retry for the addresses in `left`. Repeating it
    /// changes nothing, so it may be recorded twice.
    #[must_use]
    pub fn after_retry(mut self, left: &[String], retry: &Self) -> Self {
        self.refused.retain(|one| !left.contains(&one.address));
        self.refused.extend(retry.refused.iter().cloned());
        self
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn recipients(total: usize, refused: &[(&str, &str)]) -> Recipients {
        let refused = refused.iter().map(|(address, answer)| RefusedRecipient {
            address: (*address).to_owned(),
            answer: (*answer).to_owned(),
        });
        Recipients { total, refused: refused.collect() }
    }

    #[test]
    fn a_retry_replaces_the_replies_of_the_recipients_it_was_for() {
        let first = recipients(3, &[("bob@a.example", "450 later"), ("eve@a.example", "550 no")]);
        assert_eq!(first.accepted(), 1);
        let left = ["bob@a.example".to_owned()];
        let deferred = recipients(1, &[("bob@a.example", "452 full")]);
        let again = first.clone().after_retry(&left, &deferred);
        let expected = recipients(3, &[("eve@a.example", "550 no"), ("bob@a.example", "452 full")]);
        assert_eq!(again, expected);
        let accepted = again.after_retry(&left, &recipients(1, &[]));
        assert_eq!(accepted, recipients(3, &[("eve@a.example", "550 no")]));
        assert_eq!(accepted.accepted(), 2);
        assert_eq!(accepted.clone().after_retry(&left, &recipients(1, &[])), accepted);
    }
}
