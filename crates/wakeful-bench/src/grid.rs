//! How far arrivals at the target are from the times they were due. A process
//! counts its own clock from its start, less than a millisecond off the wall's,
//! so the earliest arrival of all is taken as on time: a timer is never early.

use std::collections::HashSet;
use wakeful_core::monitor::Interval;

use crate::site;
use crate::stats::Spread;
use crate::target::Arrival;

/// A look at the schedule between two moments of the monotonic clock.
#[derive(Clone, Copy)]
pub struct Grid {
    pub monitors: u32,
    pub interval: Interval,
    /// Wall minus monotonic, in nanoseconds.
    pub skew: u64,
    pub from: u64,
    pub to: u64,
}

/// What came of it. Milliseconds.
#[derive(Clone, Copy, Debug, Default)]
pub struct Punctuality {
    pub deviation: Spread,
    pub missed: usize,
    pub due: usize,
}

impl Grid {
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

    /// The times a monitor was due, those too near to either end left out.
    fn times(&self, number: u32) -> impl Iterator<Item = u64> {
        const MARGIN: u64 = 1_000;
        let (from, to) = (self.millis(self.from) as u64, self.millis(self.to) as u64);
        let first = self.due(number, from + MARGIN);
        (0..)
            .map(move |count| first + count * self.interval_millis() as u64)
            .take_while(move |at| *at + MARGIN < to)
    }

    /// The first time on the grid behind `at`.
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

    fn grid() -> Grid {
        let from = 1_790_000_000_000_000_000;
        let interval = Interval::new(20).expect("an interval");
        Grid { monitors: 50, interval, skew: 0, from, to: from + 60_000_000_000 }
    }

    fn on_time(grid: &Grid, late: impl Fn(u32) -> u64) -> Vec<Arrival> {
        let all =
            (0..grid.monitors).flat_map(|number| grid.times(number).map(move |at| (number, at)));
        all.map(|(number, at)| Arrival { number, at: at * 1_000_000 + late(number) }).collect()
    }

    #[test]
    fn arrivals_on_time_deviate_by_nothing_and_miss_nothing() {
        let grid = grid();
        let came = grid.judge(&on_time(&grid, |_| 300_000));
        assert!(came.deviation.p99 < 0.001, "{came:?}");
        assert_eq!((came.missed, came.due > 100), (0, true));
    }

    #[test]
    fn lateness_shows_and_what_never_came_is_missed() {
        let grid = grid();
        let mut arrivals = on_time(&grid, |number| if number % 10 == 0 { 7_000_000 } else { 0 });
        arrivals.retain(|arrival| arrival.number != 3);
        let came = grid.judge(&arrivals);
        assert!((came.deviation.p99 - 7.0).abs() < 0.001, "{came:?}");
        assert_eq!(came.missed, grid.times(3).count());
    }
}
