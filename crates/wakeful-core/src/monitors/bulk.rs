//! A change of many monitors at once: the settings it can affect, and the result for one
//! monitor.

use std::time::Duration;

use super::{Interval, MAX_NOTIFIERS, Name, Tags};
use crate::Invalid;
use crate::id::{MonitorId, NotifierId};

/// The settings of a monitor that a bulk change can affect.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct BulkSettings {
    pub id: MonitorId,
    pub name: Name,
    pub isactive: bool,
    /// The shortest interval of monitors of its type.
    pub min_interval: Interval,
    /// Its interval follows from a schedule, and stays as it is.
    pub has_schedule: bool,
    pub heartbeat_interval: Interval,
    pub timeout: Option<Duration>,
    pub retries: u16,
    pub retry_interval: Option<Duration>,
    pub resend_interval: Option<Duration>,
    pub tags: Tags,
    pub notifiers: Vec<NotifierId>,
}

/// The settings to change; those that are `None` or empty stay as they are.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct BulkChange {
    pub isactive: Option<bool>,
    pub heartbeat_interval: Option<Interval>,
    /// `Some(None)` for the default, as in the next two.
    pub timeout: Option<Option<Duration>>,
    pub retries: Option<u16>,
    pub retry_interval: Option<Option<Duration>>,
    pub resend_interval: Option<Option<Duration>>,
    pub tags_add: Tags,
    pub tags_remove: Tags,
    pub notifiers_add: Vec<NotifierId>,
    pub notifiers_remove: Vec<NotifierId>,
}

/// A setting that does not suit one of the monitors.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Unsuitable {
    pub field: &'static str,
    pub why: String,
}

impl BulkChange {
    pub fn is_empty(&self) -> bool {
        *self == Self::default()
    }

    /// Whether links to notifiers change.
    pub fn affects_notifiers(&self) -> bool {
        !self.notifiers_add.is_empty() || !self.notifiers_remove.is_empty()
    }

    /// The settings of a monitor after the change.
    pub fn apply(&self, before: &BulkSettings) -> Result<BulkSettings, Unsuitable> {
        let tags = before.tags.changed(&self.tags_add, &self.tags_remove);
        let interval = self.heartbeat_interval.filter(|_| !before.has_schedule);
        let after = BulkSettings {
            id: before.id,
            name: before.name.clone(),
            isactive: self.isactive.unwrap_or(before.isactive),
            min_interval: before.min_interval,
            has_schedule: before.has_schedule,
            heartbeat_interval: interval.unwrap_or(before.heartbeat_interval),
            timeout: self.timeout.unwrap_or(before.timeout),
            retries: self.retries.unwrap_or(before.retries),
            retry_interval: self.retry_interval.unwrap_or(before.retry_interval),
            resend_interval: self.resend_interval.unwrap_or(before.resend_interval),
            tags: tags.map_err(|why| unsuitable("tags_add", &before.name, &why))?,
            notifiers: self.changed_notifiers(&before.notifiers),
        };
        self.check_interval(&after)?;
        self.check_timeout(&after)?;
        if after.notifiers.len() > MAX_NOTIFIERS.max(before.notifiers.len()) {
            let why = Invalid::new(format!("gives more than {MAX_NOTIFIERS} notifiers"));
            return Err(unsuitable("notifiers_add", &after.name, &why));
        }
        Ok(after)
    }

    fn check_interval(&self, after: &BulkSettings) -> Result<(), Unsuitable> {
        let min = after.min_interval;
        match self.heartbeat_interval {
            Some(interval) if interval.seconds() < min.seconds() => {
                let why = Invalid::new(format!("must be at least {} s", min.seconds()));
                Err(unsuitable("heartbeat_interval", &after.name, &why))
            }
            _ => Ok(()),
        }
    }

    /// One value for many monitors may be longer than the interval of some, which is
    /// reported here; a save of one monitor shortens it.
    fn check_timeout(&self, after: &BulkSettings) -> Result<(), Unsuitable> {
        let field = match (self.timeout, self.heartbeat_interval) {
            (Some(_), _) => "timeout",
            (None, Some(_)) => "heartbeat_interval",
            (None, None) => return Ok(()),
        };
        let interval = after.heartbeat_interval;
        match after.timeout {
            Some(timeout) if timeout > interval.duration() => {
                let (timeout, interval) = (timeout.as_secs(), interval.seconds());
                let why =
                    format!("gives a timeout of {timeout} s with an interval of {interval} s");
                Err(unsuitable(field, &after.name, &Invalid::new(why)))
            }
            _ => Ok(()),
        }
    }

    /// The remaining notifiers in their order, then the new ones.
    fn changed_notifiers(&self, before: &[NotifierId]) -> Vec<NotifierId> {
        let is_new = |id: &&NotifierId| !before.contains(id);
        let removed = |id: &&NotifierId| {
            self.notifiers_remove.contains(id) && !self.notifiers_add.contains(id)
        };
        let remaining = before.iter().filter(|id| !removed(id));
        remaining.chain(self.notifiers_add.iter().filter(is_new)).copied().collect()
    }
}

fn unsuitable(field: &'static str, monitor: &Name, why: &Invalid) -> Unsuitable {
    Unsuitable { field, why: format!("{why} for the monitor \"{monitor}\"") }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::time::Millis;

    fn notifier(number: u8) -> NotifierId {
        NotifierId::new(Millis(0), [number; 10])
    }

    fn before() -> BulkSettings {
        BulkSettings {
            id: MonitorId::new(Millis(0), [1; 10]),
            name: Name::parse("site").expect("a name"),
            isactive: true,
            min_interval: Interval::min_of("http"),
            has_schedule: false,
            heartbeat_interval: Interval::new(60).expect("an interval"),
            timeout: None,
            retries: 1,
            retry_interval: None,
            resend_interval: Some(Duration::from_secs(60)),
            tags: Tags::parse("web, eu").expect("tags"),
            notifiers: vec![notifier(1), notifier(2)],
        }
    }

    #[test]
    fn omitted_settings_stay_as_they_are() {
        assert!(BulkChange::default().is_empty());
        assert_eq!(BulkChange::default().apply(&before()), Ok(before()));
    }

    #[test]
    fn tags_and_notifiers_are_added_at_the_end_and_removed_in_place() {
        let change = BulkChange {
            tags_add: Tags::parse("eu, new").expect("tags"),
            tags_remove: Tags::parse("web, unknown").expect("tags"),
            notifiers_add: vec![notifier(3), notifier(2)],
            notifiers_remove: vec![notifier(1), notifier(2), notifier(9)],
            resend_interval: Some(None),
            ..BulkChange::default()
        };
        let after = change.apply(&before()).expect("suitable");
        assert_eq!(after.tags.iter().collect::<Vec<_>>(), ["eu", "new"]);
        assert_eq!(after.notifiers, [notifier(2), notifier(3)]);
        assert_eq!(after.resend_interval, None);
    }

    #[test]
    fn an_interval_too_short_for_a_type_names_the_monitor() {
        let interval = |seconds| Some(Interval::new(seconds).expect("an interval"));
        let domain = BulkSettings { min_interval: Interval::min_of("domain"), ..before() };
        let change = BulkChange { heartbeat_interval: interval(3_599), ..BulkChange::default() };
        let why = "must be at least 3600 s for the monitor \"site\"";
        let refused = Unsuitable { field: "heartbeat_interval", why: why.to_owned() };
        assert_eq!(change.apply(&domain), Err(refused));
        assert!(change.apply(&before()).is_ok());
        let change = BulkChange { heartbeat_interval: interval(3_600), ..BulkChange::default() };
        assert!(change.apply(&domain).is_ok());
    }

    #[test]
    fn a_timeout_longer_than_the_interval_names_the_monitor() {
        let timeout = Some(Some(Duration::from_secs(61)));
        let too_long = BulkChange { timeout, ..BulkChange::default() };
        let why = "gives a timeout of 61 s with an interval of 60 s for the monitor \"site\"";
        let refused = Unsuitable { field: "timeout", why: why.to_owned() };
        assert_eq!(too_long.apply(&before()), Err(refused));

        // A stored timeout that was already too long does not prevent other changes.
        let odd = BulkSettings { timeout: Some(Duration::from_secs(61)), ..before() };
        let pause = BulkChange { isactive: Some(false), ..BulkChange::default() };
        assert!(pause.apply(&odd).is_ok());
        let interval = Some(Interval::new(60).expect("an interval"));
        let faster = BulkChange { heartbeat_interval: interval, ..BulkChange::default() };
        assert_eq!(faster.apply(&odd).map_err(|no| no.field), Err("heartbeat_interval"));
    }
}
