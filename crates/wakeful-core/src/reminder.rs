//! Reminders: when people are told once more that a monitor is still down. Only
//! of what was seen lately: after a night in which nobody looked, the next look
//! decides whether there is anything to remind of.

use std::time::Duration;

use crate::monitor::{Monitor, Spec};
use crate::time::Millis;

/// How much later than planned the last look may be recorded.
const SLACK: Duration = Duration::from_secs(15);
/// When an outage that nobody has looked at lately is asked for again.
const LOOK_AGAIN: Duration = Duration::from_secs(10);

/// What to do with a reminder that is due.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Decision {
    pub tell: bool,
    /// When the next one is due.
    pub next: Millis,
}

/// `due` has come. What was missed is not made up for: one reminder stands for
/// all that would have gone while we were away.
pub fn decide(
    monitor: &Monitor,
    last_check: Option<Millis>,
    due: Millis,
    now: Millis,
) -> Option<Decision> {
    let interval = monitor.resend_interval?;
    if last_check.is_none_or(|at| now.since(at) > pace(monitor)) {
        return Some(Decision { tell: false, next: now.after(interval.min(LOOK_AGAIN)) });
    }
    let next = due.after(interval);
    let next = if next > now { next } else { now.after(interval) };
    Some(Decision { tell: true, next })
}

/// How old the last look may be before it says nothing about now.
fn pace(monitor: &Monitor) -> Duration {
    let late = match &monitor.spec {
        Spec::Api(_) => monitor.grace(),
        _ => monitor.timeout(),
    };
    monitor.heartbeat_interval.duration() + late + SLACK
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::id::{MonitorId, TeamId};
    use crate::monitor::spec::ApiSpec;
    use crate::monitor::{DEFAULT_RETRIES, Interval, Name, Tags};

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
            upside_down_mode: false,
            tags: Tags::default(),
            notifiers: Vec::new(),
            regions: Default::default(),
            quorum: Default::default(),
            push_token: None,
            created: Millis(0),
            modified: Millis(0),
        }
    }

    /// All in seconds; the monitor is checked each minute.
    fn check(resend: Option<u64>, last_check: i64, due: i64, now: i64, told: Option<(bool, i64)>) {
        let at = |seconds: i64| Millis(seconds * 1_000);
        let decided = decide(&monitor(resend), Some(at(last_check)), at(due), at(now));
        let decided = decided.map(|decision| (decision.tell, decision.next.0 / 1_000));
        assert_eq!(decided, told, "{resend:?} {last_check} {due} {now}");
    }

    #[test]
    fn a_reminder_keeps_its_pace() {
        check(Some(300), 295, 300, 301, Some((true, 600)));
        check(Some(300), 595, 600, 600, Some((true, 900)));
    }

    #[test]
    fn what_was_missed_is_not_made_up_for() {
        check(Some(300), 5_000, 300, 5_010, Some((true, 5_310)));
    }

    #[test]
    fn nobody_is_reminded_of_what_nobody_has_looked_at() {
        check(Some(300), 295, 300, 900, Some((false, 910)));
        check(Some(5), 295, 300, 900, Some((false, 905)));
        let never = decide(&monitor(Some(300)), None, Millis(0), Millis(0)).expect("it is on");
        assert!(!never.tell);
    }

    #[test]
    fn without_an_interval_there_is_no_reminder() {
        check(None, 295, 300, 301, None);
    }
}
