//! The test vectors of docs/block-format.md: small ones that together use every
//! field and every branch of the format.

use std::time::Duration;

use crate::heartbeat::{Beat, Heartbeat, Phases, Readings, RegionBeat};
use crate::history::rollup::{Detail, Rollup};
use crate::history::{Entry, HistoryStatus};
use crate::region::Region;
use crate::time::Millis;

pub(super) struct Vector {
    pub(super) title: &'static str,
    pub(super) about: &'static str,
    pub(super) content: Content,
}

pub(super) enum Content {
    Block(Vec<Entry>),
    Rollups(Vec<Rollup>, Detail),
}

pub(super) fn all() -> Vec<Vector> {
    let block = |title, about, entries| Vector { title, about, content: Content::Block(entries) };
    let rollups = |title, about, rollups, depth| {
        let content = Content::Rollups(rollups, depth);
        Vector { title, about, content }
    };
    let day = a_day();
    let hours: Vec<Rollup> = day.chunks(60).filter_map(Rollup::of).collect();
    vec![
        block("One heartbeat", "A check that passed, with all phases.", one_heartbeat()),
        block("No heartbeats", "Never stored; the shortest stream there is.", Vec::new()),
        block(
            "An outage",
            "Checks every minute with small delays, a failure that a re-check did not confirm, an \
             outage of two checks, a check that could not be performed, and a changed interval. \
             `phases` has a smaller unit than `data`.",
            an_outage(),
        ),
        block(
            "Regions",
            "Two regions that are checked in the same order every time, then only one of them.",
            regions(),
        ),
        block(
            "Extremes",
            "A time before 1970, the greatest durations, numbers that go backwards, texts that \
             share part of a character, statuses that differ from the one the heartbeat counts as.",
            extremes(),
        ),
        rollups("Hours", "The row of the hours of one day, as `grain` 1.", hours, Detail::Means),
        rollups(
            "A day",
            "The same heartbeats as a row of `grain` 2.",
            Rollup::of(&day).into_iter().collect(),
            Detail::Full,
        ),
        rollups(
            "Gaps and extremes",
            "Two roll-ups, of the *outage* above and of the third heartbeat of the *extremes*: \
             sketches with gaps, time without data, and numbers that wrap around.",
            [an_outage(), vec![extremes().remove(2)]].iter().filter_map(Rollup::of).collect(),
            Detail::Full,
        ),
        rollups("No roll-ups", "Never stored.", Vec::new(), Detail::Means),
        block(
            "Degraded",
            "Two degraded heartbeats, one of them during maintenance, a region that is degraded, \
             and readings.",
            degraded(),
        ),
        rollups(
            "A degraded hour",
            "A roll-up of the same heartbeats, in version 2.",
            Rollup::of(&degraded()).into_iter().collect(),
            Detail::Means,
        ),
    ]
}

fn entry(
    seq: i64,
    at: i64,
    standing: HistoryStatus,
    load_time: Option<u64>,
    message: &str,
) -> Entry {
    let status = match standing {
        HistoryStatus::Up => Beat::Up,
        HistoryStatus::Down | HistoryStatus::Pending => Beat::Down,
        HistoryStatus::Unknown | HistoryStatus::Maintenance => Beat::Unknown,
        HistoryStatus::Degraded => Beat::Degraded,
    };
    let heartbeat = Heartbeat {
        at: Millis(at),
        status,
        message: message.to_owned(),
        load_time: load_time.map(Duration::from_micros),
        phases: Phases::default(),
        regions: Vec::new(),
        readings: Readings::default(),
    };
    Entry { seq, standing, interval: 60, heartbeat }
}

fn degraded() -> Vec<Entry> {
    let start = 1_790_000_000_000;
    let minute = |number: i64, standing, load| {
        entry(number + 1, start + 60_000 * number, standing, Some(load), "all echoes returned")
    };
    let mut entries = vec![
        minute(0, HistoryStatus::Up, 20_000),
        minute(1, HistoryStatus::Degraded, 900_000),
        minute(2, HistoryStatus::Maintenance, 950_000),
        minute(3, HistoryStatus::Up, 21_000),
    ];
    let eu = Region::parse("eu").expect("a region");
    let message = "slower than 500 ms".to_owned();
    let load_time = Some(Duration::from_micros(900_000));
    entries[1].heartbeat.regions =
        vec![RegionBeat { region: eu, status: Beat::Degraded, load_time, message }];
    entries[2].heartbeat.status = Beat::Degraded;
    entries[0].heartbeat.readings = Readings([Some(0), Some(1_250)]);
    entries[1].heartbeat.readings = Readings([Some(40_000), None]);
    entries[3].heartbeat.readings = Readings([Some(-2_500), Some(1_000)]);
    entries
}

fn with_phases(mut entry: Entry, micros: [Option<u64>; 5]) -> Entry {
    let [resolve, connect, tls, first_byte, transfer] =
        micros.map(|span| span.map(Duration::from_micros));
    entry.heartbeat.phases = Phases { resolve, connect, tls, first_byte, transfer };
    entry
}

fn one_heartbeat() -> Vec<Entry> {
    let entry = entry(1, 1_790_000_000_123, HistoryStatus::Up, Some(123_400), "200 OK");
    vec![with_phases(entry, [Some(3_100), Some(14_200), Some(22_300), Some(77_400), Some(6_000)])]
}

fn an_outage() -> Vec<Entry> {
    const MINUTE: i64 = 60_000;
    let start = 1_790_000_000_000;
    let up = |seq, at, load| {
        let entry = entry(seq, start + at, HistoryStatus::Up, Some(load), "200 OK");
        let spans = [Some(2_050), Some(13_000), Some(21_500), Some(load - 45_000), Some(7_300)];
        with_phases(entry, spans)
    };
    let refused = |seq, at, standing| {
        let entry = entry(seq, start + at, standing, None, "connection refused");
        with_phases(entry, [Some(1_950), None, None, None, None])
    };
    let blind = entry(8, start + 6 * MINUTE, HistoryStatus::Unknown, None, "no route to any host");
    let mut slower = up(9, 7 * MINUTE + 91, 90_000);
    slower.interval = 300;
    let silent = |seq, at| {
        let mut entry = entry(seq, start + at, HistoryStatus::Down, Some(48_000_000), "HTTP 503");
        entry.interval = 300;
        with_phases(entry, [Some(2_000), Some(13_500), None, Some(47_900_000), None])
    };
    vec![
        up(1, 81, 80_500),
        up(2, MINUTE + 79, 77_000),
        refused(3, 2 * MINUTE + 3, HistoryStatus::Pending),
        up(4, 2 * MINUTE + 10_085, 82_300),
        refused(5, 3 * MINUTE + 2, HistoryStatus::Down),
        refused(6, 4 * MINUTE + 2, HistoryStatus::Down),
        up(7, 5 * MINUTE + 84, 83_000),
        blind,
        slower,
        silent(10, 12 * MINUTE + 48_001),
    ]
}

fn regions() -> Vec<Entry> {
    let result = |region: &str, status, load: Option<u64>, message: &str| RegionBeat {
        region: Region::parse(region).expect("a region"),
        status,
        load_time: load.map(Duration::from_micros),
        message: message.to_owned(),
    };
    let mut both = entry(41, 1_790_000_060_040, HistoryStatus::Up, Some(40_000), "200 OK");
    both.heartbeat.regions = vec![
        result("eu-west", Beat::Up, Some(40_000), ""),
        result("us_east", Beat::Down, None, "connection timed out"),
    ];
    let mut again = entry(42, 1_790_000_120_042, HistoryStatus::Up, Some(42_000), "200 OK");
    again.heartbeat.regions = vec![
        result("eu-west", Beat::Up, Some(42_000), ""),
        result("us_east", Beat::Unknown, None, "no probe answered"),
    ];
    let mut one = entry(43, 1_790_000_180_095, HistoryStatus::Up, Some(95_000), "200 OK");
    one.heartbeat.regions = vec![result("us_east", Beat::Up, Some(95_000), "")];
    let local = entry(44, 1_790_000_240_039, HistoryStatus::Up, Some(39_000), "200 OK");
    vec![both, again, one, local]
}

fn extremes() -> Vec<Entry> {
    let old = entry(i64::MAX, -86_400_001, HistoryStatus::Maintenance, Some(0), "ä");
    let old = with_phases(old, [None, None, None, Some(5), None]);
    let mut worked = entry(i64::MIN, -1, HistoryStatus::Maintenance, None, "å");
    worked.heartbeat.status = Beat::Up;
    worked.interval = u32::MAX;
    let longest = entry(7, 1, HistoryStatus::Up, Some(u64::MAX), "");
    let longest = with_phases(longest, [Some(u64::MAX), Some(1), None, Some(u64::MAX), Some(0)]);
    let mut wrong = entry(7, 2, HistoryStatus::Up, Some(1), "ä");
    wrong.heartbeat.status = Beat::Unknown;
    let wrong = with_phases(wrong, [None, None, None, Some(2), Some(3)]);
    vec![old, worked, longest, wrong]
}

/// Four hours of checks, with an outage in the second and a gap before the last.
fn a_day() -> Vec<Entry> {
    let mut dice = 1_u64;
    let mut roll = |max: u64| {
        dice = dice.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (dice >> 33) % max
    };
    let check = |number: i64| {
        let hour = if number < 180 { number / 60 } else { 4 };
        let at = 1_789_948_800_000 + hour * 3_600_000 + number % 60 * 60_000;
        let spans = [roll(40), 100 + roll(90), 200 + roll(70), 500 + roll(900), roll(60)];
        let load = (spans.iter().sum::<u64>() + roll(4)) * 100;
        if (70..73).contains(&number) {
            let entry = entry(number, at + 10_000, HistoryStatus::Down, None, "timed out");
            return with_phases(entry, [Some(spans[0] * 100), None, None, None, None]);
        }
        let entry =
            entry(number, at + load as i64 / 1_000, HistoryStatus::Up, Some(load), "200 OK");
        let resolve = (number % 7 > 0).then_some(spans[0] * 100);
        let [_, connect, tls, first_byte, transfer] = spans.map(|span| Some(span * 100));
        with_phases(entry, [resolve, connect, tls, first_byte, transfer])
    };
    (0..240).map(check).collect()
}
