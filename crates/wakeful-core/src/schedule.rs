//! When a monitor is checked: on its own grid, `phase + n * interval`, so that
//! checks neither drift nor bunch up. Times are milliseconds of a monotonic
//! clock that starts at wall-clock time: it never jumps, and after a restart
//! every monitor returns to its grid.

use std::time::Duration;

use crate::id::MonitorId;
use crate::monitors::Interval;

/// The first check runs this soon after a monitor is created, activated or
/// changed: immediately for a user, but spread out for an import.
const FIRST_CHECK_SPREAD_MS: u64 = 500;

/// Checks that are overdue after a restart are spread over at most this long,
/// or over a millisecond per monitor when that is longer.
const CATCH_UP_SPREAD_MS: u64 = 60_000;

/// A monitor's grid of check times.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct CheckSchedule {
    interval: u64,
    phase: u64,
    /// 64 well-mixed bits of the id, the source of every spread.
    hash: u64,
}

impl CheckSchedule {
    pub fn new(id: MonitorId, interval: Interval) -> Self {
        let (interval, hash) = (millis(interval.duration()), mix_id(id));
        Self { interval, phase: fraction_of(hash, interval), hash }
    }

    /// The first check of a new, activated or changed monitor, within a second.
    pub fn first(&self, now: u64) -> u64 {
        now.saturating_add(fraction_of(self.hash, FIRST_CHECK_SPREAD_MS))
    }

    /// The first check after a restart. It is on the grid; if checks were
    /// missed and the next grid time is far off, it is soon and spread out, the
    /// wider the more monitors there are. All within one interval, with some
    /// time left for loading them.
    pub fn resume(&self, last_check: Option<u64>, now: u64, monitors: u64) -> u64 {
        let on_time = last_check.is_some_and(|last| now < last.saturating_add(self.interval));
        let within = CATCH_UP_SPREAD_MS.max(monitors).min(self.interval - self.interval / 16);
        let next = self.after(now);
        if on_time || next.saturating_sub(now) < within {
            return next;
        }
        // The remaining monitors have similar phases, so the spread uses other
        // bits.
        now.saturating_add(fraction_of(self.hash.rotate_left(32), within))
    }

    /// The check after the one that was due at `due`. On the grid, that is one
    /// interval later, whenever the check itself began or ended. Times in the
    /// past are skipped: a late check never causes a burst.
    pub fn next(&self, due: u64, now: u64) -> u64 {
        // A first check is off the grid; the next grid point could be almost at
        // the same moment.
        let earliest = due.saturating_add(self.interval / 4);
        self.after(earliest.max(now))
    }

    /// The first grid point later than `at`.
    fn after(&self, at: u64) -> u64 {
        let Some(past) = at.checked_sub(self.phase) else { return self.phase };
        let count = past / self.interval + 1;
        self.phase.saturating_add(count.saturating_mul(self.interval))
    }
}

/// When an api monitor has missed its heartbeat: interval and grace after the
/// last report. Time in which no report could arrive, because the service was
/// off or the monitor not active, does not count: `listening_since`.
pub fn deadline(
    last_report: Option<u64>,
    listening_since: u64,
    interval: Interval,
    grace: Duration,
) -> u64 {
    let heard = last_report.unwrap_or(0).max(listening_since);
    heard.saturating_add(millis(interval.duration())).saturating_add(millis(grace))
}

/// The same for a monitor that resumes at `now`, after the service has been
/// offline since `offline_since`. A report sent meanwhile is lost, so the time
/// restarts if one may have been sent: when it was due, or when the service was
/// offline for more than a hundredth of the interval. Otherwise the time
/// continues: a monitor with an interval of a month must go down even if the
/// service restarts every week.
pub fn resumed_deadline(
    last_report: u64,
    offline_since: u64,
    now: u64,
    interval: Interval,
    grace: Duration,
) -> u64 {
    let missed = deadline(Some(last_report), 0, interval, grace);
    let owed = deadline(Some(last_report), 0, interval, Duration::ZERO);
    let is_lost = may_be_lost(owed, missed, offline_since, now);
    if is_lost || is_long(now.saturating_sub(offline_since), interval) {
        return deadline(None, now, interval, grace);
    }
    missed.max(now)
}

/// Whether a report that was due from `owed` on, and missed at `missed`, may have been sent while
/// the service was offline, from `offline_since` to `now`.
pub fn may_be_lost(owed: u64, missed: u64, offline_since: u64, now: u64) -> bool {
    offline_since < now && offline_since < missed && owed < now
}

/// The new deadline when the service was delayed and evaluates the one at `due`
/// only now. Pending reports may still arrive.
pub fn delayed_deadline(due: u64, now: u64, interval: Interval, grace: Duration) -> u64 {
    if is_long(now.saturating_sub(due), interval) {
        deadline(None, now, interval, grace)
    } else {
        now.saturating_add(millis(grace))
    }
}

/// Whether a target that reports more often than required is likely to have
/// reported.
fn is_long(span: u64, interval: Interval) -> bool {
    span > millis(interval.duration()) / 100
}

/// When continued silence is recorded again: each interval after the missed
/// deadline, skipping times in the past.
pub fn next_deadline(missed: u64, interval: Interval, now: u64) -> u64 {
    let interval = millis(interval.duration());
    let count = now.saturating_sub(missed) / interval + 1;
    missed.saturating_add(count.saturating_mul(interval))
}

fn millis(span: Duration) -> u64 {
    u64::try_from(span.as_millis()).unwrap_or(u64::MAX)
}

/// The part of `whole` that a hash corresponds to: uniform over `0..whole`.
fn fraction_of(hash: u64, whole: u64) -> u64 {
    let product = u128::from(hash) * u128::from(whole);
    u64::try_from(product >> 64).unwrap_or(u64::MAX)
}

/// Ids created in the same second share their leading bits, so all bits are
/// folded and then mixed by the finalizer of SplitMix64, in which each bit
/// affects all others.
fn mix_id(id: MonitorId) -> u64 {
    let (high, low) = id.uuid().as_u64_pair();
    let mut hash = high.rotate_left(32) ^ low;
    hash = (hash ^ (hash >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
    hash = (hash ^ (hash >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
    hash ^ (hash >> 31)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::time::Millis;

    fn id(number: u64) -> MonitorId {
        let mut random = [0; 10];
        random[2..].copy_from_slice(&number.to_be_bytes());
        MonitorId::new(Millis(1_763_199_000_000), random)
    }

    fn seconds(number: u64) -> Interval {
        Interval::new(number).expect("an interval")
    }

    prop_compose! {
        fn schedule()(number: u64, interval in 1_u64..=2_592_000) -> CheckSchedule {
            CheckSchedule::new(id(number), seconds(interval))
        }
    }

    /// Late enough after 1970 for every phase to be in the past.
    fn now() -> impl Strategy<Value = u64> {
        1_700_000_000_000_u64..1_900_000_000_000
    }

    proptest! {
        #[test]
        fn checks_do_not_drift(schedule in schedule(), start in now(), delays in proptest::collection::vec(0.0..0.9, 1..50)) {
            let mut due = schedule.after(start);
            for (count, delay) in (1_u64..).zip(delays) {
                // The check ends at any time within the interval; the next one
                // is not affected.
                let ended = due + (schedule.interval as f64 * delay) as u64;
                due = schedule.next(due, ended);
                prop_assert_eq!(due, schedule.after(start) + count * schedule.interval);
            }
        }

        #[test]
        fn late_checks_are_skipped_and_never_repeated(schedule in schedule(), start in now(), late in 0_u64..10_000_000_000) {
            let due = schedule.after(start);
            let now = due + late;
            let next = schedule.next(due, now);
            prop_assert!(next > now && next <= now + schedule.interval);
            prop_assert_eq!((next - due) % schedule.interval, 0);
        }

        #[test]
        fn a_first_check_comes_within_a_second_and_the_second_finds_the_grid(schedule in schedule(), now in now()) {
            let first = schedule.first(now);
            prop_assert!((now..now + 1_000).contains(&first));
            let second = schedule.next(first, first);
            prop_assert_eq!(second % schedule.interval, schedule.phase);
            let gap = second - first;
            prop_assert!(gap > schedule.interval / 4 && gap <= schedule.interval / 4 + schedule.interval);
        }

        #[test]
        fn after_a_restart_a_monitor_returns_to_its_grid(schedule in schedule(), last in now(), away in 0_u64..5_000_000_000) {
            let now = last + away;
            let due = schedule.resume(Some(last), now, 1);
            prop_assert!(due >= now && due <= now + schedule.interval);
            if away < schedule.interval {
                prop_assert_eq!(due % schedule.interval, schedule.phase);
            } else {
                prop_assert!(due < now + 60_000);
            }
        }

        #[test]
        fn extreme_times_do_not_panic(schedule in schedule(), a: u64, b: u64) {
            schedule.first(a);
            schedule.resume(Some(a), b, a);
            schedule.next(a, b);
            deadline(Some(a), b, seconds(1), Duration::MAX);
            resumed_deadline(a, b, a, seconds(1), Duration::MAX);
            delayed_deadline(a, b, seconds(1), Duration::MAX);
            next_deadline(a, seconds(1), b);
        }
    }

    #[test]
    fn a_monitor_keeps_its_phase() {
        let (one, again) =
            (CheckSchedule::new(id(7), seconds(60)), CheckSchedule::new(id(7), seconds(60)));
        assert_eq!(one, again);
        assert!(one.phase < 60_000);
    }

    #[test]
    fn monitors_created_in_one_second_are_spread_evenly_over_the_interval() {
        let mut per_second = [0_u32; 60];
        for number in 0..6_000 {
            let phase = CheckSchedule::new(id(number), seconds(60)).phase;
            per_second[usize::try_from(phase / 1_000).expect("small")] += 1;
        }
        // 100 expected; an even spread stays within five standard deviations.
        assert!(per_second.iter().all(|count| (50..=150).contains(count)), "{per_second:?}");
        let squares: f64 =
            per_second.iter().map(|count| (f64::from(*count) - 100.0).powi(2) / 100.0).sum();
        // Chi-square with 59 degrees of freedom: above 113 once in 40,000 even
        // spreads, below 24 likewise.
        assert!((24.0..113.0).contains(&squares), "{squares}");
    }

    #[test]
    fn monitors_overdue_after_a_restart_are_spread_over_a_minute() {
        let now = 1_763_199_000_000;
        let mut per_second = [0_u32; 60];
        for number in 0..6_000 {
            let due = CheckSchedule::new(id(number), seconds(3_600)).resume(None, now, 6_000);
            per_second[usize::try_from((due - now) / 1_000).expect("small")] += 1;
        }
        assert!(per_second.iter().all(|count| (50..=150).contains(count)), "{per_second:?}");
    }

    #[test]
    fn a_million_overdue_monitors_are_spread_over_more_than_a_minute() {
        let (now, million) = (1_763_199_000_000, 1_000_000);
        let last = (0..1_000)
            .map(|number| {
                CheckSchedule::new(id(number), seconds(3_600)).resume(None, now, million) - now
            })
            .max();
        assert!(last.is_some_and(|last| last > 900_000 && last < 1_000_000), "{last:?}");
    }

    #[test]
    fn a_start_is_hardly_busier_than_any_other_interval() {
        let now = 1_763_199_000_000;
        let mut per_second = [0_u32; 20];
        for number in 0..10_000 {
            let schedule = CheckSchedule::new(id(number), seconds(20));
            let mut due = schedule.resume(None, now, 10_000);
            while due < now + 20_000 {
                per_second[usize::try_from((due - now) / 1_000).expect("small")] += 1;
                due = schedule.next(due, due);
            }
        }
        assert!(per_second.iter().all(|count| (400..700).contains(count)), "{per_second:?}");
    }

    #[test]
    fn an_overdue_monitor_is_checked_within_its_own_interval() {
        for number in 0..100 {
            assert!(
                CheckSchedule::new(id(number), seconds(1)).resume(Some(0), 5_000, 1_000_000)
                    < 6_000
            );
        }
    }

    #[test]
    fn a_heartbeat_is_missed_after_interval_and_grace() {
        let grace = Duration::from_secs(6);
        assert_eq!(deadline(Some(100_000), 0, seconds(60), grace), 166_000);
        assert_eq!(deadline(None, 100_000, seconds(60), grace), 166_000);
    }

    #[test]
    fn time_while_the_service_was_offline_does_not_count_as_silence() {
        let grace = Duration::from_secs(6);
        assert_eq!(deadline(Some(1_000), 100_000, seconds(60), grace), 166_000);
    }

    #[test]
    fn silence_continues_across_a_short_restart_unless_a_report_was_due() {
        const DAY: u64 = 86_400_000;
        let (month, grace) = (seconds(30 * 86_400), Duration::from_millis(3 * DAY));
        let resumed = |deaf, now| resumed_deadline(0, deaf, now, month, grace);
        for day in [7, 14, 21, 28] {
            assert_eq!(resumed(day * DAY, day * DAY + 5_000), 33 * DAY, "day {day}");
        }
        assert_eq!(resumed(31 * DAY, 31 * DAY), 33 * DAY, "never offline");
        let back = 31 * DAY + 5_000;
        assert_eq!(resumed(31 * DAY, back), back + 33 * DAY, "a report was due");
        let back = 34 * DAY + 5_000;
        assert_eq!(resumed(34 * DAY, back), back, "it was missed while online");
        assert_eq!(resumed(7 * DAY, 8 * DAY), 8 * DAY + 33 * DAY, "offline for too long");
        let soon = resumed_deadline(0, 30_000, 32_000, seconds(60), Duration::from_secs(6));
        assert_eq!(soon, 98_000, "two seconds are long for an interval of a minute");
    }

    #[test]
    fn after_a_delay_pending_reports_get_time_to_arrive() {
        let grace = Duration::from_secs(360);
        assert_eq!(delayed_deadline(0, 30_000, seconds(3_600), grace), 390_000);
        assert_eq!(delayed_deadline(0, 40_000, seconds(3_600), grace), 4_000_000);
    }

    #[test]
    fn silence_is_recorded_once_per_interval() {
        assert_eq!(next_deadline(166_000, seconds(60), 166_000), 226_000);
        assert_eq!(next_deadline(166_000, seconds(60), 400_000), 406_000);
    }
}
