//! Identifiers: UUIDv7, one type per entity, so that a user's id cannot be
//! passed where a team's is expected. As text they are lower-case and
//! hyphenated.

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
            /// A new id: the time from `now`, the rest from `random`.
            pub fn new(now: Millis, random: [u8; 10]) -> Self {
                Self(v7(now, random))
            }

            /// An id that nothing has.
            pub const UNKNOWN: Self = Self(Uuid::nil());

            /// The id in a text; `None` when the text is not an id.
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
    /// A team; the reference calls it `groupid`.
    TeamId,
    UserId,
    SessionId,
    ApiKeyId,
    InvitationId,
    /// A mail of the service itself, waiting to be sent.
    MailId,
    ContactId,
    MonitorId,
    /// The monitors that a member or an API key is limited to.
    MonitorFilterId,
    NotifierId,
    /// A browser of a user that receives push messages.
    PushSubscriptionId,
    /// A maintenance window.
    MaintenanceId,
    /// An escalation policy.
    PolicyId,
    /// An on-call schedule.
    ScheduleId,
    /// Somebody who takes over in a schedule for a while.
    OverrideId,
    /// A webhook that receives the audit log.
    StreamId,
    HeartbeatId,
    /// An outage or a warning.
    AlertId,
    /// An event: every delivery of it carries this id.
    EventId,
    DeliveryId,
    /// What one check has seen.
    EvidenceId,
    /// A report of a job.
    PingId,
    /// An entry of the timeline of an alert.
    AlertEventId,
    /// The reference calls it `membershipToken`.
    MembershipId,
    PaymentMethodId,
    InvoiceId,
    /// One attempt to charge or refund; its text is the idempotency key.
    PaymentAttemptId,
    StatuspageId,
    /// A section of a status page.
    SectionId,
    /// A component of a status page.
    ComponentId,
    /// An incident or a maintenance of status pages.
    IncidentId,
    IncidentUpdateId,
    IncidentTemplateId,
    /// A rule that opens incidents.
    IncidentRuleId,
    /// A recipient of the updates of a status page.
    SubscriberId,
    /// A process that runs checks; a new id at every start.
    NodeId,
    /// A request of one node to the node that holds a monitor.
    NodeRequestId,
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
    fn an_invalid_id_is_rejected() {
        for text in ["", "x", "../../etc/passwd", "' or 1=1 --", "00000000"] {
            assert_eq!(UserId::parse(text), None, "{text}");
        }
    }
}
