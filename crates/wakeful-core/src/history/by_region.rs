//! The results of each region, in equal steps of a span. Only single heartbeats
//! have them: hours and days are of the verdict of all regions together.

use std::collections::BTreeMap;
use std::time::Duration;

use super::Entry;
use crate::heartbeat::{Beat, RegionBeat};
use crate::region::Region;
use crate::time::Millis;

/// The points of one region, without the steps in which it was not checked.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RegionSeries {
    pub region: Region,
    pub points: Vec<RegionPoint>,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RegionPoint {
    pub at: Millis,
    /// Passing, with or without warnings.
    pub up: u64,
    pub down: u64,
    /// The check could not be performed.
    pub unknown: u64,
    /// Of the load times of passing checks: the median and the longest.
    pub median: Option<Duration>,
    pub longest: Option<Duration>,
}

/// The series of all regions, in the order of their names. The heartbeats must
/// be in order; steps start at `from`.
pub fn by_region(entries: &[Entry], from: Millis, step: Duration) -> Vec<RegionSeries> {
    let length = i64::try_from(step.as_millis()).unwrap_or(i64::MAX).max(1);
    let mut lines: BTreeMap<&Region, BTreeMap<i64, Vec<&RegionBeat>>> = BTreeMap::new();
    for Entry { heartbeat, .. } in entries {
        let step_index = (heartbeat.at.0 - from.0).div_euclid(length);
        for beat in &heartbeat.regions {
            let line = lines.entry(&beat.region).or_default();
            line.entry(step_index).or_default().push(beat);
        }
    }
    let point = |(step_index, beats): (i64, Vec<&RegionBeat>)| {
        RegionPoint::of(Millis(from.0 + step_index * length), &beats)
    };
    lines
        .into_iter()
        .map(|(region, steps)| RegionSeries {
            region: region.clone(),
            points: steps.into_iter().map(point).collect(),
        })
        .collect()
}

impl RegionPoint {
    fn of(at: Millis, beats: &[&RegionBeat]) -> Self {
        let count = |status: Beat| beats.iter().filter(|beat| beat.status == status).count() as u64;
        let passed = beats.iter().filter(|beat| beat.status.is_up());
        let mut times: Vec<Duration> = passed.filter_map(|beat| beat.load_time).collect();
        times.sort_unstable();
        Self {
            at,
            up: count(Beat::Up) + count(Beat::Degraded),
            down: count(Beat::Down),
            unknown: count(Beat::Unknown),
            median: times.get(times.len().saturating_sub(1) / 2).copied(),
            longest: times.last().copied(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::heartbeat::{Heartbeat, Phases};
    use crate::history::Exclusions;

    fn beat(name: &str, status: Beat, millis: Option<u64>) -> RegionBeat {
        let region = Region::parse(name).expect("a region");
        let load_time = millis.map(Duration::from_millis);
        RegionBeat { region, status, load_time, message: String::new() }
    }

    fn entry(at: i64, regions: Vec<RegionBeat>) -> Entry {
        let heartbeat = Heartbeat {
            at: Millis(at),
            status: Beat::Up,
            message: String::new(),
            load_time: None,
            phases: Phases::default(),
            regions,
            readings: Default::default(),
        };
        Entry::of(at, heartbeat, 60, &[], &Exclusions::default())
    }

    /// `region: step_index up/down/unknown median longest; …`
    fn summary(lines: &[RegionSeries], from: i64) -> Vec<String> {
        let millis = |span: Option<Duration>| {
            span.map_or("-".to_owned(), |span| span.as_millis().to_string())
        };
        let point = |point: &RegionPoint| {
            let RegionPoint { at, up, down, unknown, median, longest } = point;
            let (median, longest) = (millis(*median), millis(*longest));
            format!("{} {up}/{down}/{unknown} {median} {longest}", at.0 - from)
        };
        let words =
            |line: &RegionSeries| line.points.iter().map(point).collect::<Vec<_>>().join("; ");
        lines.iter().map(|line| format!("{}: {}", line.region, words(line))).collect()
    }

    #[test]
    fn each_region_has_points_in_the_steps_it_was_checked_in() {
        let entries = [
            entry(1_000, vec![beat("us", Beat::Up, Some(90)), beat("eu", Beat::Up, Some(10))]),
            entry(1_400, vec![beat("us", Beat::Down, Some(5)), beat("eu", Beat::Up, Some(30))]),
            entry(1_900, vec![beat("us", Beat::Unknown, None), beat("eu", Beat::Up, Some(20))]),
            // Only the owning node checked.
            entry(2_100, Vec::new()),
            entry(4_000, vec![beat("eu", Beat::Down, None)]),
        ];
        let lines = by_region(&entries, Millis(1_000), Duration::from_secs(1));
        assert_eq!(
            summary(&lines, 1_000),
            ["eu: 0 3/0/0 20 30; 3000 0/1/0 - -", "us: 0 1/1/1 90 90"],
            "failed checks have no load time"
        );
    }

    #[test]
    fn without_regions_there_are_no_series() {
        assert!(by_region(&[entry(5, Vec::new())], Millis(0), Duration::from_secs(1)).is_empty());
    }
}
