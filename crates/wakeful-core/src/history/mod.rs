//! The history of a monitor: heartbeats encoded as blocks, roll-ups of hours
//! and days, and the statistics computed from both. All of it is pure; the
//! store reads and writes it. The formulas are in docs/history.md.

mod bit_stream;
pub mod block_codec;
#[cfg(test)]
mod block_format;
pub mod by_region;
mod checksum;
pub mod exclusions;
pub mod month;
pub mod period;
mod range_coder;
pub mod readings;
pub mod rollup;
pub mod sketch;
pub mod stats;
mod validity;

use std::ops::{Index, IndexMut};
use std::time::Duration;

use crate::heartbeat::{Beat, Heartbeat, Phases};
use crate::time::Millis;

pub use exclusions::{Exclusion, ExclusionKind, Exclusions};
pub use validity::Validity;

/// For how many intervals a heartbeat is valid when no other follows it. A
/// check that runs into its timeout still ends within two.
const VALID_INTERVALS: u32 = 2;

pub const HOUR: Duration = Duration::from_secs(3600);
pub const DAY: Duration = Duration::from_secs(24 * 3600);
/// Long spans are made of these: a year of about 26, and the days at its ends.
pub const FORTNIGHT: Duration = Duration::from_secs(14 * 24 * 3600);

/// The status a heartbeat counts as in statistics.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum HistoryStatus {
    Up,
    /// Part of an outage, including the failures that led to it.
    Down,
    /// Failed, but did not become an outage.
    Pending,
    /// The check could not be performed.
    Unknown,
    Maintenance,
    /// Up, with something that is not as it should be.
    Degraded,
}

impl HistoryStatus {
    pub const ALL: [Self; 6] =
        [Self::Up, Self::Down, Self::Pending, Self::Unknown, Self::Maintenance, Self::Degraded];

    pub fn as_str(self) -> &'static str {
        match self {
            Self::Up => "up",
            Self::Down => "down",
            Self::Pending => "pending",
            Self::Unknown => "unknown",
            Self::Maintenance => "maintenance",
            Self::Degraded => "degraded",
        }
    }

    /// Whether the target is up, degraded or not.
    pub fn is_up(self) -> bool {
        matches!(self, Self::Up | Self::Degraded)
    }

    /// As programs know it that know nothing of degraded targets.
    #[must_use]
    pub fn plain(self) -> Self {
        if self == Self::Degraded { Self::Up } else { self }
    }

    fn of(number: u64) -> Self {
        let number = usize::try_from(number).unwrap_or(0);
        Self::ALL.get(number).copied().unwrap_or(Self::Unknown)
    }
}

/// One number for each history status.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct PerStatus([u64; 6]);

impl PerStatus {
    pub fn total(&self) -> u64 {
        self.0.iter().sum()
    }

    /// Up, degraded or not.
    pub fn up(&self) -> u64 {
        self[HistoryStatus::Up] + self[HistoryStatus::Degraded]
    }

    /// Up as a percentage of up and down; `None` when both are zero.
    pub fn uptime(&self) -> Option<f64> {
        self.share(self.up())
    }

    /// The same, without what was degraded.
    pub fn healthy(&self) -> Option<f64> {
        self.share(self[HistoryStatus::Up])
    }

    /// As a percentage of up and down.
    fn share(&self, part: u64) -> Option<f64> {
        let known = self.up() + self[HistoryStatus::Down];
        (known > 0).then(|| (part as f64) * 100.0 / (known as f64))
    }

    fn add(&mut self, other: &Self) {
        for (ours, theirs) in self.0.iter_mut().zip(other.0) {
            *ours += theirs;
        }
    }
}

impl Index<HistoryStatus> for PerStatus {
    type Output = u64;

    fn index(&self, standing: HistoryStatus) -> &u64 {
        &self.0[standing as usize]
    }
}

impl IndexMut<HistoryStatus> for PerStatus {
    fn index_mut(&mut self, standing: HistoryStatus) -> &mut u64 {
        &mut self.0[standing as usize]
    }
}

/// A heartbeat as stored in the history.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Entry {
    /// The sequence number of the verdict within its monitor.
    pub seq: i64,
    pub standing: HistoryStatus,
    /// The monitor's interval at that time, in seconds.
    pub interval: u32,
    pub heartbeat: Heartbeat,
}

impl Entry {
    /// Determines the history status of a heartbeat. Failures count as down
    /// from the first one of an outage until it ends; outages must be in order.
    /// During maintenance every heartbeat counts as that, whether up or down.
    pub fn of(
        seq: i64,
        heartbeat: Heartbeat,
        interval: u32,
        outages: &[Outage],
        exclusions: &Exclusions,
    ) -> Self {
        let standing = match heartbeat.status {
            _ if exclusions.is_maintenance(heartbeat.at) => HistoryStatus::Maintenance,
            Beat::Up => HistoryStatus::Up,
            Beat::Degraded => HistoryStatus::Degraded,
            Beat::Down if exclusions.is_unreachable(heartbeat.at) => HistoryStatus::Unknown,
            Beat::Unknown => HistoryStatus::Unknown,
            Beat::Down if is_within(outages, heartbeat.at) => HistoryStatus::Down,
            Beat::Down => HistoryStatus::Pending,
        };
        Self { seq, standing, interval, heartbeat }
    }

    /// Its position among the heartbeats of its monitor.
    pub fn position(&self) -> (Millis, i64) {
        (self.heartbeat.at, self.seq)
    }

    /// Until when it is valid if no other follows.
    fn valid_until(&self) -> Millis {
        self.heartbeat.at.after(Duration::from_secs(self.interval.into()) * VALID_INTERVALS)
    }
}

/// A span in which a monitor was down, from its first failing check.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Outage {
    pub started: Millis,
    /// `None` while it lasts.
    pub ended: Option<Millis>,
}

fn is_within(outages: &[Outage], at: Millis) -> bool {
    let behind = outages.partition_point(|outage| outage.started <= at);
    let last = behind.checked_sub(1).map(|position| &outages[position]);
    last.is_some_and(|outage| outage.ended.is_none_or(|ended| at < ended))
}

/// Sorts heartbeats and removes duplicates.
pub fn in_order(mut entries: Vec<Entry>) -> Vec<Entry> {
    entries.sort_by_key(Entry::position);
    entries.dedup_by_key(|entry| entry.position());
    entries
}

/// The start of the hour, day or fortnight that contains a time.
pub fn start_of(grain: Duration, at: Millis) -> Millis {
    let grain = i64::try_from(grain.as_millis()).unwrap_or(1).max(1);
    Millis(at.0.div_euclid(grain).saturating_mul(grain))
}

/// The start and step of a series: as many units per step as needed to stay
/// within the requested number of points. Steps start at multiples of their
/// length, so that a moving span has the same ones; a single step starts at the
/// first unit.
pub fn series_step(unit: Duration, from: Millis, to: Millis, points: u32) -> (Millis, Duration) {
    let units = |begin: Millis, parts: u32| {
        let part = to.since(begin).as_millis().div_ceil(u128::from(parts.max(1)));
        let count = part.div_ceil(unit.as_millis()).max(1);
        unit * u32::try_from(count).unwrap_or(u32::MAX)
    };
    let step = units(from, points);
    let begin = start_of(step, from);
    if to.since(begin).as_millis().div_ceil(step.as_millis()) <= points.into() {
        return (begin, step);
    }
    match points {
        0 | 1 => (start_of(unit, from), units(start_of(unit, from), 1)),
        // One step fewer always fits, so it still fits with the one at the
        // edge.
        _ => {
            let step = units(from, points - 1);
            (start_of(step, from), step)
        }
    }
}

/// The phases in the order in which they are stored.
fn phase_durations(phases: &Phases) -> [Option<Duration>; 5] {
    let Phases { resolve, connect, tls, first_byte, transfer } = *phases;
    [resolve, connect, tls, first_byte, transfer]
}

fn micros(span: Duration) -> u64 {
    u64::try_from(span.as_micros()).unwrap_or(u64::MAX)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn beat(at: i64, status: Beat) -> Heartbeat {
        let (message, load_time, phases) = (String::new(), None, Phases::default());
        Heartbeat {
            at: Millis(at),
            status,
            message,
            load_time,
            phases,
            regions: Vec::new(),
            readings: Default::default(),
        }
    }

    #[test]
    fn failures_count_as_down_only_within_an_outage() {
        let outages = [
            Outage { started: Millis(100), ended: Some(Millis(200)) },
            Outage { started: Millis(300), ended: None },
        ];
        let entry =
            |at, status| Entry::of(1, beat(at, status), 60, &outages, &Exclusions::default());
        for (at, standing) in [
            (99, HistoryStatus::Pending),
            (100, HistoryStatus::Down),
            (199, HistoryStatus::Down),
            (200, HistoryStatus::Pending),
            (301, HistoryStatus::Down),
        ] {
            assert_eq!(entry(at, Beat::Down).standing, standing, "{at}");
        }
        assert_eq!(entry(150, Beat::Up).standing, HistoryStatus::Up);
        assert_eq!(entry(150, Beat::Unknown).standing, HistoryStatus::Unknown);
    }

    #[test]
    fn in_an_excluded_span_every_heartbeat_counts_as_maintenance() {
        let outages = [Outage { started: Millis(100), ended: Some(Millis(200)) }];
        let span = |from, to, kind| Exclusion { from: Millis(from), to: Some(Millis(to)), kind };
        let exclusions = Exclusions::new([
            span(120, 140, ExclusionKind::Maintenance),
            span(130, 180, ExclusionKind::Unreachable),
        ]);
        for (at, status, standing) in [
            (119, Beat::Down, HistoryStatus::Down),
            (120, Beat::Down, HistoryStatus::Maintenance),
            (120, Beat::Up, HistoryStatus::Maintenance),
            (135, Beat::Unknown, HistoryStatus::Maintenance),
            (140, Beat::Down, HistoryStatus::Unknown),
            (140, Beat::Up, HistoryStatus::Up),
            (180, Beat::Down, HistoryStatus::Down),
        ] {
            let entry = Entry::of(1, beat(at, status), 60, &outages, &exclusions);
            assert_eq!(entry.standing, standing, "{at} {status:?}");
        }
    }

    #[test]
    fn a_heartbeat_written_twice_is_stored_once() {
        let entry = |at, seq| Entry::of(seq, beat(at, Beat::Up), 60, &[], &Exclusions::default());
        let ordered = in_order(vec![entry(5, 2), entry(3, 1), entry(5, 2), entry(5, 3)]);
        let sequence_numbers: Vec<i64> = ordered.iter().map(|entry| entry.seq).collect();
        assert_eq!(sequence_numbers, [1, 2, 3]);
    }

    #[test]
    fn hours_and_days_begin_in_utc_before_and_after_1970() {
        assert_eq!(start_of(DAY, Millis(86_400_001)), Millis(86_400_000));
        assert_eq!(start_of(HOUR, Millis(-1)), Millis(-3_600_000));
    }

    proptest! {
        #[test]
        fn a_series_has_no_more_points_than_were_asked_for(
            from in 0_i64..2_000_000_000_000,
            span in 1_i64..100_000_000_000,
            points in 1_u32..1_000,
            unit in prop::sample::select(vec![Duration::from_secs(1), HOUR, DAY]),
        ) {
            let (from, to) = (Millis(from), Millis(from + span));
            let (begin, step) = series_step(unit, from, to, points);
            prop_assert!(begin <= from && from.since(begin) < step);
            prop_assert_eq!(step.as_millis() % unit.as_millis(), 0);
            prop_assert_eq!(begin, start_of(unit, begin));
            let count = to.since(begin).as_millis().div_ceil(step.as_millis());
            prop_assert!(count <= points.into(), "{count} of {points}");
        }
    }

    #[test]
    fn a_day_that_begins_at_midnight_has_its_hours() {
        let day = (Millis(0), Millis(86_400_000));
        assert_eq!(series_step(HOUR, day.0, day.1, 24), (Millis(0), HOUR));
        assert_eq!(series_step(HOUR, Millis(1), Millis(86_400_001), 24), (Millis(0), 2 * HOUR));
    }
}
