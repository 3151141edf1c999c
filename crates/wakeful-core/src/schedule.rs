//! When a monitor is checked: on a grid of its own, `phase + n * interval`, so
//! that checks neither drift nor gather. Times are milliseconds of one clock
//! that starts at the wall's time and from then on only counts: it never jumps,
//! and after a restart every monitor finds its place on the grid again.

use std::time::Duration;

use crate::id::MonitorId;
use crate::monitor::Interval;

/// The first check comes this soon after a monitor is made, activated or
/// pointed elsewhere: at once for a person, not all at once for an import.
const FIRST_WITHIN: u64 = 500;

/// Checks that are overdue after a restart are spread over at most this long,
/// or over a millisecond for each of them when there are more than so many.
const CATCH_UP_WITHIN: u64 = 60_000;

/// A monitor's grid of check times.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Rhythm {
    interval: u64,
    phase: u64,
    /// 64 well-mixed bits of the id, the source of every spread.
    hash: u64,
}

impl Rhythm {
    pub fn new(id: MonitorId, interval: Interval) -> Self {
        let (interval, hash) = (millis(interval.duration()), mixed(id));
        Self { interval, phase: share(hash, interval), hash }
    }

    /// The first check of a new, activated or changed monitor, within a second.
    pub fn first(&self, now: u64) -> u64 {
        now.saturating_add(share(self.hash, FIRST_WITHIN))
    }

    /// The first check after a restart: on the grid, or, when checks were missed
    /// meanwhile and the grid's next time is far off, soon and spread out, the
    /// wider the more monitors there are. All of it within an interval, with some
    /// time left for loading them.
    pub fn resume(&self, last_check: Option<u64>, now: u64, monitors: u64) -> u64 {
        let on_time = last_check.is_some_and(|last| now < last.saturating_add(self.interval));
        let within = CATCH_UP_WITHIN.max(monitors).min(self.interval - self.interval / 16);
        let next = self.after(now);
        if on_time || next.saturating_sub(now) < within {
            return next;
        }
        // Those that are left have phases close together: other bits tell them apart.
        now.saturating_add(share(self.hash.rotate_left(32), within))
    }

    /// The check after the one that was due at `due`. On the grid that is one
    /// interval later, whenever the check itself began or ended. Times already
    /// past are left out: a late check is never made up for by a burst.
    pub fn next(&self, due: u64, now: u64) -> u64 {
        // A first check is off the grid; the grid point right behind it would
        // look a second time at nearly the same moment.
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
/// last report. Time in which nobody could have reported, because the service
/// was off or the monitor not active, does not count: `listening_since`.
pub fn deadline(
    last_report: Option<u64>,
    listening_since: u64,
    interval: Interval,
    grace: Duration,
) -> u64 {
    let heard = last_report.unwrap_or(0).max(listening_since);
    heard.saturating_add(millis(interval.duration())).saturating_add(millis(grace))
}

/// The same for a monitor that is taken up again at `now`, after nobody listened
/// since `deaf_since`. A report that came meanwhile is lost, so the time starts
/// over where one may have come: when it was owed, or when nobody listened for
/// more than a hundredth of the interval. Else it goes on: a monitor of a month
/// that is restarted every week must turn down, too.
pub fn resumed_deadline(
    last_report: u64,
    deaf_since: u64,
    now: u64,
    interval: Interval,
    grace: Duration,
) -> u64 {
    let missed = deadline(Some(last_report), 0, interval, grace);
    let owed = deadline(Some(last_report), 0, interval, Duration::ZERO);
    let deaf_when_owed = deaf_since < now && deaf_since < missed && owed < now;
    if deaf_when_owed || is_long(now.saturating_sub(deaf_since), interval) {
        return deadline(None, now, interval, grace);
    }
    missed.max(now)
}

/// When an api monitor has missed its heartbeat that would have at `due`, had we
/// not been held up. Whoever reported meanwhile may only now get through.
pub fn held_up_deadline(due: u64, now: u64, interval: Interval, grace: Duration) -> u64 {
    match is_long(now.saturating_sub(due), interval) {
        true => deadline(None, now, interval, grace),
        false => now.saturating_add(millis(grace)),
    }
}

/// Whether somebody who reports more often than need be may well have done so.
fn is_long(span: u64, interval: Interval) -> bool {
    span > millis(interval.duration()) / 100
}

/// When silence that goes on is noted again: each interval after the deadline
/// that was missed, leaving out what is past.
pub fn next_deadline(missed: u64, interval: Interval, now: u64) -> u64 {
    let interval = millis(interval.duration());
    let count = now.saturating_sub(missed) / interval + 1;
    missed.saturating_add(count.saturating_mul(interval))
}

fn millis(span: Duration) -> u64 {
    u64::try_from(span.as_millis()).unwrap_or(u64::MAX)
}

/// The part of `whole` that a hash stands for: uniform over `0..whole`.
fn share(hash: u64, whole: u64) -> u64 {
    let product = u128::from(hash) * u128::from(whole);
    u64::try_from(product >> 64).unwrap_or(u64::MAX)
}

/// Ids made in one second share their leading bits, so all bits are folded and
/// then mixed by the finaliser of SplitMix64, in which each bit moves all others.
fn mixed(id: MonitorId) -> u64 {
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
        fn rhythm()(number: u64, interval in 1_u64..=2_592_000) -> Rhythm {
            Rhythm::new(id(number), seconds(interval))
        }
    }

    /// Long enough after 1970 for every phase to lie behind.
    fn now() -> impl Strategy<Value = u64> {
        1_700_000_000_000_u64..1_900_000_000_000
    }

    proptest! {
        #[test]
        fn checks_do_not_drift(rhythm in rhythm(), start in now(), delays in proptest::collection::vec(0.0..0.9, 1..50)) {
            let mut due = rhythm.after(start);
            for (count, delay) in (1_u64..).zip(delays) {
                // The check ends somewhere within the interval; the next one does not care.
                let ended = due + (rhythm.interval as f64 * delay) as u64;
                due = rhythm.next(due, ended);
                prop_assert_eq!(due, rhythm.after(start) + count * rhythm.interval);
            }
        }

        #[test]
        fn late_checks_are_left_out_and_never_made_up_for(rhythm in rhythm(), start in now(), late in 0_u64..10_000_000_000) {
            let due = rhythm.after(start);
            let now = due + late;
            let next = rhythm.next(due, now);
            prop_assert!(next > now && next <= now + rhythm.interval);
            prop_assert_eq!((next - due) % rhythm.interval, 0);
        }

        #[test]
        fn a_first_check_comes_within_a_second_and_the_second_finds_the_grid(rhythm in rhythm(), now in now()) {
            let first = rhythm.first(now);
            prop_assert!((now..now + 1_000).contains(&first));
            let second = rhythm.next(first, first);
            prop_assert_eq!(second % rhythm.interval, rhythm.phase);
            let gap = second - first;
            prop_assert!(gap > rhythm.interval / 4 && gap <= rhythm.interval / 4 + rhythm.interval);
        }

        #[test]
        fn after_a_restart_a_monitor_goes_on_where_it_was(rhythm in rhythm(), last in now(), away in 0_u64..5_000_000_000) {
            let now = last + away;
            let due = rhythm.resume(Some(last), now, 1);
            prop_assert!(due >= now && due <= now + rhythm.interval);
            if away < rhythm.interval {
                prop_assert_eq!(due % rhythm.interval, rhythm.phase);
            } else {
                prop_assert!(due < now + 60_000);
            }
        }

        #[test]
        fn wild_times_do_not_panic(rhythm in rhythm(), a: u64, b: u64) {
            rhythm.first(a);
            rhythm.resume(Some(a), b, a);
            rhythm.next(a, b);
            deadline(Some(a), b, seconds(1), Duration::MAX);
            resumed_deadline(a, b, a, seconds(1), Duration::MAX);
            held_up_deadline(a, b, seconds(1), Duration::MAX);
            next_deadline(a, seconds(1), b);
        }
    }

    #[test]
    fn a_monitor_keeps_its_phase() {
        let (one, again) = (Rhythm::new(id(7), seconds(60)), Rhythm::new(id(7), seconds(60)));
        assert_eq!(one, again);
        assert!(one.phase < 60_000);
    }

    #[test]
    fn monitors_made_in_one_second_are_spread_evenly_over_the_interval() {
        let mut per_second = [0_u32; 60];
        for number in 0..6_000 {
            let phase = Rhythm::new(id(number), seconds(60)).phase;
            per_second[usize::try_from(phase / 1_000).expect("small")] += 1;
        }
        // 100 expected; a fair spread stays within five standard deviations.
        assert!(per_second.iter().all(|count| (50..=150).contains(count)), "{per_second:?}");
        let squares: f64 =
            per_second.iter().map(|count| (f64::from(*count) - 100.0).powi(2) / 100.0).sum();
        // Chi-square of 59 degrees: above 113 once in 40,000 fair spreads, below 24 likewise.
        assert!((24.0..113.0).contains(&squares), "{squares}");
    }

    #[test]
    fn monitors_overdue_after_a_restart_are_spread_over_a_minute() {
        let now = 1_763_199_000_000;
        let mut per_second = [0_u32; 60];
        for number in 0..6_000 {
            let due = Rhythm::new(id(number), seconds(3_600)).resume(None, now, 6_000);
            per_second[usize::try_from((due - now) / 1_000).expect("small")] += 1;
        }
        assert!(per_second.iter().all(|count| (50..=150).contains(count)), "{per_second:?}");
    }

    #[test]
    fn a_million_overdue_monitors_are_spread_over_more_than_a_minute() {
        let (now, million) = (1_763_199_000_000, 1_000_000);
        let last = (0..1_000)
            .map(|number| Rhythm::new(id(number), seconds(3_600)).resume(None, now, million) - now)
            .max();
        assert!(last.is_some_and(|last| last > 900_000 && last < 1_000_000), "{last:?}");
    }

    #[test]
    fn a_start_is_hardly_busier_than_any_other_interval() {
        let now = 1_763_199_000_000;
        let mut per_second = [0_u32; 20];
        for number in 0..10_000 {
            let rhythm = Rhythm::new(id(number), seconds(20));
            let mut due = rhythm.resume(None, now, 10_000);
            while due < now + 20_000 {
                per_second[usize::try_from((due - now) / 1_000).expect("small")] += 1;
                due = rhythm.next(due, due);
            }
        }
        assert!(per_second.iter().all(|count| (400..700).contains(count)), "{per_second:?}");
    }

    #[test]
    fn an_overdue_monitor_is_checked_within_its_own_interval() {
        for number in 0..100 {
            assert!(Rhythm::new(id(number), seconds(1)).resume(Some(0), 5_000, 1_000_000) < 6_000);
        }
    }

    #[test]
    fn a_heartbeat_is_missed_after_interval_and_grace() {
        let grace = Duration::from_secs(6);
        assert_eq!(deadline(Some(100_000), 0, seconds(60), grace), 166_000);
        assert_eq!(deadline(None, 100_000, seconds(60), grace), 166_000);
    }

    #[test]
    fn time_in_which_we_did_not_listen_does_not_count_as_silence() {
        let grace = Duration::from_secs(6);
        assert_eq!(deadline(Some(1_000), 100_000, seconds(60), grace), 166_000);
    }

    #[test]
    fn silence_counts_on_across_a_short_restart_unless_a_report_was_owed() {
        const DAY: u64 = 86_400_000;
        let (month, grace) = (seconds(30 * 86_400), Duration::from_millis(3 * DAY));
        let resumed = |deaf, now| resumed_deadline(0, deaf, now, month, grace);
        for day in [7, 14, 21, 28] {
            assert_eq!(resumed(day * DAY, day * DAY + 5_000), 33 * DAY, "day {day}");
        }
        assert_eq!(resumed(31 * DAY, 31 * DAY), 33 * DAY, "others listened");
        let back = 31 * DAY + 5_000;
        assert_eq!(resumed(31 * DAY, back), back + 33 * DAY, "it was owed");
        let back = 34 * DAY + 5_000;
        assert_eq!(resumed(34 * DAY, back), back, "it was missed while we listened");
        assert_eq!(resumed(7 * DAY, 8 * DAY), 8 * DAY + 33 * DAY, "too long away");
        let soon = resumed_deadline(0, 30_000, 32_000, seconds(60), Duration::from_secs(6));
        assert_eq!(soon, 98_000, "of a minute two seconds are much");
    }

    #[test]
    fn who_was_held_up_waits_for_those_who_wait_at_the_door() {
        let grace = Duration::from_secs(360);
        assert_eq!(held_up_deadline(0, 30_000, seconds(3_600), grace), 390_000);
        assert_eq!(held_up_deadline(0, 40_000, seconds(3_600), grace), 4_000_000);
    }

    #[test]
    fn silence_is_noted_once_each_interval() {
        assert_eq!(next_deadline(166_000, seconds(60), 166_000), 226_000);
        assert_eq!(next_deadline(166_000, seconds(60), 400_000), 406_000);
    }
}
