//! The readings of heartbeats in equal steps of a span. Only single heartbeats have them.

use std::collections::BTreeMap;
use std::time::Duration;

use super::Entry;
use crate::time::Millis;

/// One of the readings in one step.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct ReadingStats {
    pub mean: f64,
    pub min: f64,
    pub max: f64,
}

impl ReadingStats {
    fn of(thousandths: &[i64]) -> Option<Self> {
        let number = |thousandths: i64| thousandths as f64 / 1e3;
        let sum: f64 = thousandths.iter().map(|one| number(*one)).sum();
        Some(Self {
            mean: sum / thousandths.len() as f64,
            min: number(*thousandths.iter().min()?),
            max: number(*thousandths.iter().max()?),
        })
    }
}

/// The two readings of each step that has any, by the start of the step; steps start at `from`.
pub fn readings_per_step(
    entries: &[Entry],
    from: Millis,
    step: Duration,
) -> BTreeMap<Millis, [Option<ReadingStats>; 2]> {
    let length = i64::try_from(step.as_millis()).unwrap_or(i64::MAX).max(1);
    let mut steps: BTreeMap<Millis, [Vec<i64>; 2]> = BTreeMap::new();
    for Entry { heartbeat, .. } in entries.iter().filter(|one| !one.heartbeat.readings.is_empty()) {
        let begin = from.0 + (heartbeat.at.0 - from.0).div_euclid(length) * length;
        let both = steps.entry(Millis(begin)).or_default();
        for (numbers, reading) in both.iter_mut().zip(heartbeat.readings.0) {
            numbers.extend(reading);
        }
    }
    steps
        .into_iter()
        .map(|(at, both)| (at, both.map(|numbers| ReadingStats::of(&numbers))))
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::heartbeat::Readings;
    use crate::history::block_codec::tests::realistic;

    #[test]
    fn each_step_has_the_mean_and_the_extremes_of_its_readings() {
        let mut entries = realistic(4);
        let readings =
            [[Some(0), None], [Some(40_000), Some(1_500)], [None, None], [None, Some(2)]];
        for (entry, (at, readings)) in entries.iter_mut().zip((0..).step_by(1_000).zip(readings)) {
            entry.heartbeat.at = Millis(at);
            entry.heartbeat.readings = Readings(readings);
        }
        let found = readings_per_step(&entries, Millis(0), Duration::from_secs(2));
        let one = |mean, min, max| Some(ReadingStats { mean, min, max });
        let expected = BTreeMap::from([
            (Millis(0), [one(20.0, 0.0, 40.0), one(1.5, 1.5, 1.5)]),
            (Millis(2_000), [None, one(0.002, 0.002, 0.002)]),
        ]);
        assert_eq!(found, expected);
    }
}
