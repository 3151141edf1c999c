//! Reminders that a monitor is still down. They need a recent check: after a
//! night without checks, the next check decides whether there is anything to
//! remind of.

use std::time::Duration;

use crate::monitors::{Monitor, Spec};
use crate::time::Millis;

/// How much later than planned the last check may be recorded.
const CHECK_TOLERANCE: Duration = Duration::from_secs(15);
/// When to decide again if an outage has not been checked recently.
const STALE_RECHECK_INTERVAL: Duration = Duration::from_secs(10);

/// What to do with a reminder that is due.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Decision {
    pub send: bool,
    /// When the next one is due.
    pub next: Millis,
}

/// How often reminders are sent, and how old the last check may be.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Pace {
    /// `None` sends no reminders.
    pub interval: Option<Duration>,
    pub max_check_age: Duration,
}

/// The pace of the reminders of a monitor.
pub fn pace(monitor: &Monitor) -> Pace {
    Pace { interval: monitor.resend_interval, max_check_age: max_check_age(monitor) }
}

/// Decides about a reminder that is due at `due`. Missed ones are not sent
/// later: one reminder replaces all that would have been sent while the service
/// was down.
pub fn decide(
    pace: &Pace,
    last_check: Option<Millis>,
    due: Millis,
    now: Millis,
) -> Option<Decision> {
    let interval = pace.interval?;
    if last_check.is_none_or(|at| now.since(at) > pace.max_check_age) {
        return Some(Decision {
            send: false,
            next: now.after(interval.min(STALE_RECHECK_INTERVAL)),
        });
    }
    let next = due.after(interval);
    let next = if next > now { next } else { now.after(interval) };
    Some(Decision { send: true, next })
}

/// How old the last check may be to still count as current.
fn max_check_age(monitor: &Monitor) -> Duration {
    let late = match &monitor.spec {
        Spec::Api(_) => monitor.grace(),
        _ => monitor.timeout(),
    };
    monitor.heartbeat_interval.duration() + late + CHECK_TOLERANCE
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::id::{MonitorId, TeamId};
    use crate::monitors::spec::ApiSpec;
    use crate::monitors::{DEFAULT_RETRIES, Interval, Name, Tags};

    fn monitor(resend: Option<u64>) -> Monitor {
        Monitor {
            id: MonitorId::new(Millis(0), [1; 10]),
            team: TeamId::new(Millis(0), [2; 10]),
            name: Name::parse("job").expect("a name"),
            spec: Spec::Api(ApiSpec::default()),
            isactive: true,
            heartbeat_interval: Interval::new(60).expect("an interval"),
            timeout: None,
            retries: DEFAULT_RETRIES,
            retry_interval: None,
            resend_interval: resend.map(Duration::from_secs),
            severity: Default::default(),
            policy: None,
            upside_down_mode: false,
            tags: Tags::default(),
            notifiers: Vec::new(),
            depends_on: Vec::new(),
            flapping: Default::default(),
            regions: Default::default(),
            quorum: Default::default(),
            assertions: Default::default(),
            evidence: Default::default(),
            degraded: None,
            slo: None,
            push_token: None,
            created: Millis(0),
            modified: Millis(0),
        }
    }

    /// All in seconds; the monitor is checked each minute.
    fn check(
        resend: Option<u64>,
        last_check: i64,
        due: i64,
        now: i64,
        expected: Option<(bool, i64)>,
    ) {
        let at = |seconds: i64| Millis(seconds * 1_000);
        let decided = decide(&pace(&monitor(resend)), Some(at(last_check)), at(due), at(now));
        let decided = decided.map(|decision| (decision.send, decision.next.0 / 1_000));
        assert_eq!(decided, expected, "{resend:?} {last_check} {due} {now}");
    }

    #[test]
    fn a_reminder_repeats_at_its_interval() {
        check(Some(300), 295, 300, 301, Some((true, 600)));
        check(Some(300), 595, 600, 600, Some((true, 900)));
    }

    #[test]
    fn missed_reminders_are_not_sent_later() {
        check(Some(300), 5_000, 300, 5_010, Some((true, 5_310)));
    }

    #[test]
    fn there_is_no_reminder_without_a_recent_check() {
        check(Some(300), 295, 300, 900, Some((false, 910)));
        check(Some(5), 295, 300, 900, Some((false, 905)));
        let never =
            decide(&pace(&monitor(Some(300))), None, Millis(0), Millis(0)).expect("it is on");
        assert!(!never.send);
    }

    #[test]
    fn without_an_interval_there_is_no_reminder() {
        check(None, 295, 300, 301, None);
    }
}
