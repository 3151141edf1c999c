//! How far arrivals at the target are from their due times. A process starts
//! its clock less than a millisecond off the wall clock, so the earliest
//! arrival counts as on time: a timer is never early.

use std::collections::HashSet;
use wakeful_core::monitors::Interval;

use crate::site;
use crate::stats::Spread;
use crate::target::Arrival;

/// The schedule between two moments of the monotonic clock.
#[derive(Clone, Copy)]
pub struct Schedule {
    pub monitors: u32,
    pub interval: Interval,
    /// Wall minus monotonic, in nanoseconds.
    pub skew: u64,
    pub from: u64,
    pub to: u64,
}

/// The result, in milliseconds.
#[derive(Clone, Copy, Debug, Default)]
pub struct Punctuality {
    pub deviation: Spread,
    pub missed: usize,
    pub due: usize,
}

impl Schedule {
    pub fn judge(&self, arrivals: &[Arrival]) -> Punctuality {
        let (mut late, mut seen) = (Vec::with_capacity(arrivals.len()), HashSet::new());
        for arrival in arrivals.iter().filter(|arrival| arrival.number < self.monitors) {
            let at = self.millis(arrival.at);
            let due = self.due(arrival.number, (at - self.interval_millis() / 2.0) as u64);
            late.push(at - due as f64);
            seen.insert((arrival.number, due));
        }
        let earliest = late.iter().copied().fold(f64::MAX, f64::min);
        let late: Vec<f64> = late.into_iter().map(|late| late - earliest).collect();
        let (mut missed, mut due) = (0, 0);
        for number in 0..self.monitors {
            for at in self.times(number) {
                due += 1;
                missed += usize::from(!seen.contains(&(number, at)));
            }
        }
        Punctuality { deviation: Spread::of(&late), missed, due }
    }

    /// The due times of a monitor, except those too close to either end.
    fn times(&self, number: u32) -> impl Iterator<Item = u64> {
        const MARGIN: u64 = 1_000;
        let (from, to) = (self.millis(self.from) as u64, self.millis(self.to) as u64);
        let first = self.due(number, from + MARGIN);
        (0..)
            .map(move |count| first + count * self.interval_millis() as u64)
            .take_while(move |at| *at + MARGIN < to)
    }

    /// The first grid time after `at`.
    fn due(&self, number: u32, at: u64) -> u64 {
        site::rhythm(number, self.interval).next(0, at)
    }

    fn millis(&self, mono: u64) -> f64 {
        (mono + self.skew) as f64 / 1e6
    }

    fn interval_millis(&self) -> f64 {
        self.interval.duration().as_secs_f64() * 1_000.0
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn schedule() -> Schedule {
        let from = 1_790_000_000_000_000_000;
        let interval = Interval::new(20).expect("an interval");
        Schedule { monitors: 50, interval, skew: 0, from, to: from + 60_000_000_000 }
    }

    fn on_time(schedule: &Schedule, late: impl Fn(u32) -> u64) -> Vec<Arrival> {
        let all = (0..schedule.monitors)
            .flat_map(|number| schedule.times(number).map(move |at| (number, at)));
        all.map(|(number, at)| Arrival { number, at: at * 1_000_000 + late(number) }).collect()
    }

    #[test]
    fn arrivals_on_time_have_no_deviation_and_none_is_missed() {
        let schedule = schedule();
        let result = schedule.judge(&on_time(&schedule, |_| 300_000));
        assert!(result.deviation.p99 < 0.001, "{result:?}");
        assert_eq!((result.missed, result.due > 100), (0, true));
    }

    #[test]
    fn late_arrivals_deviate_and_absent_ones_are_missed() {
        let schedule = schedule();
        let mut arrivals =
            on_time(&schedule, |number| if number % 10 == 0 { 7_000_000 } else { 0 });
        arrivals.retain(|arrival| arrival.number != 3);
        let result = schedule.judge(&arrivals);
        assert!((result.deviation.p99 - 7.0).abs() < 0.001, "{result:?}");
        assert_eq!(result.missed, schedule.times(3).count());
    }
}
