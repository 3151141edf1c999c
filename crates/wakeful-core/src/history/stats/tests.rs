use super::*;
use crate::heartbeat::{Beat, Heartbeat, Phases};
use crate::history::{Entry, Exclusion, ExclusionKind, HistoryStatus, in_order};
use proptest::prelude::*;
use std::time::Duration;

const SECOND: i64 = 1_000;

/// Heartbeats as a text: `u0 d60 p65 x70`, each a status and a second, of a
/// monitor with an interval of 60 s.
fn entries(text: &str) -> Vec<Entry> {
    let read = |word: &str| {
        let (symbol, at) = word.split_at(1);
        let standing = match symbol {
            "u" => HistoryStatus::Up,
            "d" => HistoryStatus::Down,
            "p" => HistoryStatus::Pending,
            "m" => HistoryStatus::Maintenance,
            _ => HistoryStatus::Unknown,
        };
        entry(standing, at.parse::<i64>().expect("seconds") * SECOND, 60)
    };
    text.split_whitespace().map(read).collect()
}

fn entry(standing: HistoryStatus, at: i64, interval: u32) -> Entry {
    let status = if standing == HistoryStatus::Up { Beat::Up } else { Beat::Down };
    let (message, load_time, phases) = (String::new(), None, Phases::default());
    let heartbeat = Heartbeat {
        at: Millis(at),
        status,
        message,
        load_time,
        phases,
        regions: Vec::new(),
        readings: Default::default(),
    };
    Entry { seq: at, standing, interval, heartbeat }
}

fn seconds(stats: &SpanStats) -> [u64; 6] {
    let of = |standing| stats.millis[standing] / 1_000;
    let [up, down, pending, unknown, maintenance, _] = HistoryStatus::ALL.map(of);
    [up, down, pending, unknown, maintenance, stats.no_data() / 1_000]
}

fn check(text: &str, from: i64, to: i64, expected: [u64; 6]) {
    let entries = entries(text);
    let (from, to) = (Millis(from * SECOND), Millis(to * SECOND));
    let before =
        entries.iter().rev().find(|entry| entry.heartbeat.at < from).map(LastHeartbeat::of);
    let mut stats = SpanStats::new(from, to, before);
    let within = entries.iter().filter(|entry| (from..to).contains(&entry.heartbeat.at));
    if let Some(rollup) = Rollup::of(within) {
        stats.add(&rollup);
    }
    assert_eq!(seconds(&stats.finish()), expected, "{text} from {from} to {to}");
}

#[test]
fn a_heartbeat_counts_until_the_next_one_and_for_two_intervals_at_most() {
    check("u0 u60 u120", 0, 180, [180, 0, 0, 0, 0, 0]);
    check("u0 u60 u120", 0, 600, [240, 0, 0, 0, 0, 360]);
    check("u0 d60 u90", 0, 120, [90, 30, 0, 0, 0, 0]);
    check("u0 p60 u65", 0, 100, [95, 0, 5, 0, 0, 0]);
    check("u0 x60 m80 u100", 0, 120, [80, 0, 0, 20, 20, 0]);
    check("u0 u500", 0, 560, [180, 0, 0, 0, 0, 380]);
}

#[test]
fn a_span_begins_with_the_heartbeat_before_it() {
    check("u0 u60", 30, 60, [30, 0, 0, 0, 0, 0]);
    check("d0 u60", 30, 90, [30, 30, 0, 0, 0, 0]);
    check("u0", 130, 200, [0, 0, 0, 0, 0, 70]);
    check("", 0, 50, [0, 0, 0, 0, 0, 50]);
}

#[test]
fn pending_and_unknown_count_neither_way() {
    let mut shares = PerStatus::default();
    assert_eq!(shares.uptime(), None);
    shares[HistoryStatus::Pending] = 9;
    shares[HistoryStatus::Unknown] = 9;
    assert_eq!(shares.uptime(), None);
    shares[HistoryStatus::Up] = 3;
    shares[HistoryStatus::Down] = 1;
    assert_eq!(shares.uptime(), Some(75.0));
}

#[test]
fn outages_are_counted_if_they_overlap_the_span() {
    let outage =
        |started, ended: Option<i64>| Outage { started: Millis(started), ended: ended.map(Millis) };
    let outages =
        [outage(0, Some(10)), outage(5, Some(30)), outage(50, Some(90)), outage(95, None)];
    let none = Exclusions::default();
    let summary = OutageStats::within(&outages, &none, Millis(10), Millis(100));
    assert_eq!(
        (summary.count, summary.longest, summary.mean_time_to_recover),
        (3, Some(40), Some(32))
    );
    let summary = OutageStats::within(&outages, &none, Millis(40), Millis(60));
    assert_eq!((summary.count, summary.longest, summary.mean_time_to_recover), (1, Some(10), None));
    assert_eq!(OutageStats::within(&[], &none, Millis(0), Millis(9)), OutageStats::default());
}

#[test]
fn the_covered_part_of_an_outage_does_not_count() {
    let outage = |from, to| Outage { started: Millis(from), ended: Some(Millis(to)) };
    let outages = [outage(100, 200), outage(300, 340), outage(500, 600)];
    let span = |from, to| Exclusion {
        from: Millis(from),
        to: Some(Millis(to)),
        kind: ExclusionKind::Maintenance,
    };
    let exclusions = Exclusions::new([span(120, 150), span(290, 350), span(560, 700)]);
    let summary = OutageStats::within(&outages, &exclusions, Millis(0), Millis(1_000));
    let expected = OutageStats { count: 2, longest: Some(70), mean_time_to_recover: Some(65) };
    assert_eq!(summary, expected);
    // A span in which the outage is covered does not contain it.
    let summary = OutageStats::within(&outages, &exclusions, Millis(570), Millis(1_000));
    assert_eq!(summary, OutageStats::default());
}

#[test]
fn steps_without_heartbeats_are_omitted_but_still_covered() {
    let all = entries("u0 d60 u70 u310");
    let pieces: Vec<Rollup> = all.iter().filter_map(|entry| Rollup::of([entry])).collect();
    let span = (Millis(0), Millis(330 * SECOND));
    let summary = stats_per_step(&pieces, None, span, Duration::from_secs(100));
    let starts: Vec<i64> = summary.iter().map(|stats| stats.from.0 / SECOND).collect();
    assert_eq!(starts, [0, 300]);
    assert_eq!(seconds(&summary[0]), [90, 10, 0, 0, 0, 0]);
    assert_eq!(seconds(&summary[1]), [20, 0, 0, 0, 0, 10]);
}

/// Looks up the valid heartbeat for every millisecond: slow, but obviously
/// correct.
fn by_hand(entries: &[Entry], from: i64, to: i64) -> [u64; 6] {
    let mut spoken = [0; 6];
    for at in from..to {
        let speaker = entries.iter().rev().find(|entry| entry.heartbeat.at.0 <= at);
        let speaker = speaker.filter(|entry| at < entry.valid_until().0);
        spoken[speaker.map_or(5, |entry| entry.standing as usize)] += 1;
    }
    spoken
}

proptest! {
    /// However the span is divided, the statistics equal those of a model that
    /// evaluates every millisecond.
    #[test]
    fn parts_add_up_to_the_model_of_every_millisecond(
        beats in prop::collection::vec((0_i64..9_000, 0_u64..5, 1_u32..3), 0..30),
        mut cuts in prop::collection::vec(0_i64..9_000, 0..6),
        from in 0_i64..5_000,
        length in 0_i64..4_000,
    ) {
        let entries = in_order(beats.iter().map(|(at, standing, interval)| {
            entry(HistoryStatus::of(*standing), *at, *interval)
        }).collect());
        let to = from + length;
        cuts.extend([from, to]);
        cuts.retain(|cut| (from..=to).contains(cut));
        cuts.sort_unstable();
        let before = entries.iter().rev().find(|entry| entry.heartbeat.at.0 < from).map(LastHeartbeat::of);
        let mut stats = SpanStats::new(Millis(from), Millis(to), before);
        for piece in cuts.windows(2) {
            let within = |entry: &&Entry| (piece[0]..piece[1]).contains(&entry.heartbeat.at.0);
            if let Some(rollup) = Rollup::of(entries.iter().filter(within)) {
                stats.add(&rollup);
            }
        }
        let stats = stats.finish();
        let summary = HistoryStatus::ALL.map(|standing| stats.millis[standing]);
        let [up, down, pending, unknown, maintenance, no_data] = by_hand(&entries, from, to);
        prop_assert_eq!(summary, [up, down, pending, unknown, maintenance, 0]);
        prop_assert_eq!(stats.no_data(), no_data);
    }
}
