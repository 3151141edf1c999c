//! Identifiers: UUIDv7, one type per thing, so that a user's id cannot be
//! passed where a team's is meant. As text they are lower-case and hyphenated.

use serde::{Deserialize, Serialize};
use std::fmt;
use uuid::Uuid;

use crate::time::Millis;

macro_rules! ids {
    ($($(#[$doc:meta])* $name:ident),+ $(,)?) => {$(
        $(#[$doc])*
        #[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
        #[serde(transparent)]
        pub struct $name(Uuid);

        impl $name {
            /// A new id: its time from `now`, the rest from `random`.
            pub fn new(now: Millis, random: [u8; 10]) -> Self {
                Self(v7(now, random))
            }

            /// The id in a text, or nothing when the text is no id.
            pub fn parse(text: &str) -> Option<Self> {
                Uuid::try_parse(text).ok().map(Self)
            }

            pub fn uuid(self) -> Uuid {
                self.0
            }
        }

        impl From<Uuid> for $name {
            fn from(uuid: Uuid) -> Self {
                Self(uuid)
            }
        }

        impl fmt::Display for $name {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                self.0.hyphenated().fmt(f)
            }
        }

        impl fmt::Debug for $name {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                self.0.hyphenated().fmt(f)
            }
        }
    )+};
}

ids! {
    /// A team: what the reference calls `groupid`.
    TeamId,
    UserId,
    SessionId,
    ApiKeyId,
    /// A message of the service itself, waiting to be mailed.
    MailId,
    ContactId,
    MonitorId,
    NotifierId,
    HeartbeatId,
    /// An outage or a warning.
    AlertId,
    /// What happened, once: every delivery of it carries this id.
    EventId,
    DeliveryId,
    /// What the reference calls `membershipToken`.
    MembershipId,
    /// A payment method.
    MethodId,
    InvoiceId,
    /// One try to move money; its text is the key that makes it happen once.
    AttemptId,
    /// A process that takes part in watching; a new one at every start.
    NodeId,
    /// What a node asks the holder of a monitor to do.
    AskId,
}

fn v7(now: Millis, random: [u8; 10]) -> Uuid {
    uuid::Builder::from_unix_timestamp_millis(now.0.max(0).cast_unsigned(), &random).into_uuid()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_id_is_a_lower_case_hyphenated_uuid_of_version_7() {
        let id = TeamId::new(Millis(1_763_200_000_123), [0xAB; 10]);
        let text = id.to_string();
        assert_eq!(text.len(), 36);
        assert_eq!(text, text.to_lowercase());
        assert_eq!(id.uuid().get_version_num(), 7);
        assert_eq!(TeamId::parse(&text), Some(id));
    }

    #[test]
    fn ids_sort_by_their_time() {
        let early = TeamId::new(Millis(1_000), [0xFF; 10]);
        let late = TeamId::new(Millis(1_001), [0x00; 10]);
        assert!(early < late);
    }

    #[test]
    fn a_text_that_is_no_id_is_nothing() {
        for text in ["", "x", "../../etc/passwd", "' or 1=1 --", "00000000"] {
            assert_eq!(UserId::parse(text), None, "{text}");
        }
    }
}
