//! The health of a notifier: whether its latest messages have arrived. The
//! delivery worker records attempts in the notifier's row, so that every node
//! and every start of the service report the same.

use super::Notifier;
use crate::named_enum;
use crate::time::Millis;

/// What is known from the latest attempts to send.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct AttemptRecord {
    /// The first of the failed attempts since the last success.
    pub failing_since: Option<Millis>,
    /// The first success since the last failed attempt.
    pub healthy_since: Option<Millis>,
    /// The response to the latest failed attempt; empty after a success.
    pub last_error: String,
}

named_enum! {
    #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
    pub enum HealthState {
        /// The latest message arrived.
        Healthy = "healthy",
        /// The latest message did not arrive.
        Failing = "failing",
        /// Disabled: nothing is sent.
        Off = "off",
        /// Nothing has been sent with these settings yet.
        Unused = "unused",
    }
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Health {
    pub state: HealthState,
    pub since: Option<Millis>,
    /// The response to the latest failed attempt.
    pub error: Option<String>,
}

impl Notifier {
    pub fn health(&self) -> Health {
        let AttemptRecord { failing_since, healthy_since, last_error } = &self.attempts;
        let (state, since) = match (&self.disabled, failing_since, healthy_since) {
            (Some(disabled), _, _) => (HealthState::Off, Some(disabled.at)),
            (None, Some(since), _) => (HealthState::Failing, Some(*since)),
            (None, None, Some(since)) => (HealthState::Healthy, Some(*since)),
            (None, None, None) => (HealthState::Unused, None),
        };
        let error = (!last_error.is_empty()).then(|| last_error.clone());
        Health { state, since, error }
    }
}

/// Which records of earlier attempts a change of a notifier makes meaningless.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct AttemptReset {
    /// It was enabled or disabled, or sends to another receiver.
    pub failures: bool,
    /// It sends to another receiver.
    pub successes: bool,
}

impl AttemptReset {
    pub fn between(before: &Notifier, after: &Notifier) -> Self {
        let successes = !before.channel.has_same_receiver(&after.channel);
        let toggled = before.disabled.is_some() != after.disabled.is_some();
        Self { failures: toggled || successes, successes }
    }

    #[must_use]
    pub fn apply(self, mut record: AttemptRecord) -> AttemptRecord {
        if self.failures {
            record.failing_since = None;
            record.last_error.clear();
        }
        if self.successes {
            record.healthy_since = None;
        }
        record
    }
}

#[cfg(test)]
mod tests {
    use super::super::{Channel, Disabled, email};
    use super::*;
    use crate::id::{NotifierId, TeamId};
    use crate::monitors::Name;

    fn notifier(attempts: AttemptRecord, disabled: Option<Disabled>) -> Notifier {
        Notifier {
            id: NotifierId::new(Millis(1), [1; 10]),
            team: TeamId::new(Millis(1), [1; 10]),
            name: Name::parse("ops").expect("a name"),
            channel: Channel::Email(email::tests::spec()),
            owner: None,
            disabled,
            isdefault: false,
            group_wait: 0,
            messages: Default::default(),
            attempts,
            revision: 1,
            created: Millis(1),
            modified: Millis(1),
        }
    }

    fn failing() -> AttemptRecord {
        let last_error = "503 Service Unavailable".to_owned();
        AttemptRecord { failing_since: Some(Millis(5)), healthy_since: None, last_error }
    }

    #[test]
    fn health_follows_from_the_latest_attempts() {
        let healthy = AttemptRecord { healthy_since: Some(Millis(7)), ..AttemptRecord::default() };
        let off = || Some(Disabled { at: Millis(9), why: "turned off by its team".to_owned() });
        for (attempts, disabled, state, since, error) in [
            (AttemptRecord::default(), None, HealthState::Unused, None, None),
            (healthy.clone(), None, HealthState::Healthy, Some(7), None),
            (failing(), None, HealthState::Failing, Some(5), Some("503 Service Unavailable")),
            (failing(), off(), HealthState::Off, Some(9), Some("503 Service Unavailable")),
            (healthy, off(), HealthState::Off, Some(9), None),
        ] {
            let health = notifier(attempts, disabled).health();
            let expected = (state, since.map(Millis), error.map(str::to_owned));
            assert_eq!((health.state, health.since, health.error), expected);
        }
    }

    #[test]
    fn another_receiver_resets_all_and_turning_it_on_resets_failures() {
        let before = notifier(failing(), None);
        let mut moved = before.clone();
        if let Channel::Email(spec) = &mut moved.channel {
            spec.port = 2525;
        }
        let reset = AttemptReset::between(&before, &moved);
        assert_eq!(reset, AttemptReset { failures: true, successes: true });
        assert_eq!(reset.apply(failing()), AttemptRecord::default());
        let off = Some(Disabled { at: Millis(9), why: String::new() });
        let toggled = AttemptReset::between(&before, &notifier(failing(), off));
        assert_eq!(toggled, AttemptReset { failures: true, successes: false });
        let renamed = Notifier { name: Name::parse("night").expect("a name"), ..before.clone() };
        let unchanged = AttemptReset::between(&before, &renamed).apply(failing());
        assert_eq!(unchanged, failing());
    }
}
