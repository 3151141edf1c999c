//! Turns, precedence, clock changes and departures, and random schedules.

use super::*;
use crate::calendar::hours::{Day, TimeOfDay};
use proptest::prelude::*;

fn user(number: u8) -> UserId {
    UserId::new(Millis(0), [number; 10])
}

fn at(text: &str) -> Millis {
    Millis::parse(text).unwrap_or_else(|| panic!("{text} is a time"))
}

fn layer(users: &[u8], starts: &str, every: u32, unit: Unit) -> Layer {
    let users = users.iter().copied().map(user).collect();
    let starts = parse_local(starts).expect("a local time");
    Layer::new("layer".to_owned(), users, starts, every, unit, Vec::new()).expect("valid")
}

fn hours(days: &[Day], from: &str, to: &str) -> DailyHours {
    let time = |text| TimeOfDay::parse(text).expect("a time");
    DailyHours::new(days.to_vec(), time(from), time(to)).expect("valid")
}

fn schedule(zone: &str, layers: Vec<Layer>) -> OnCallSchedule {
    OnCallSchedule {
        id: ScheduleId::new(Millis(0), [1; 10]),
        team: TeamId::new(Millis(0), [2; 10]),
        name: "Ops".to_owned(),
        zone: Zone::parse(zone).expect("a zone"),
        layers,
        announce: Handover::default(),
        created: Millis(0),
        modified: Millis(0),
    }
}

fn weekly(users: &[u8]) -> OnCallSchedule {
    schedule("Europe/Berlin", vec![layer(users, "2026-01-05T09:00", 1, Unit::Week)])
}

fn over(number: u8, of: u8, from: &str, to: &str) -> Override {
    Override {
        id: OverrideId::new(Millis(i64::from(number)), [number; 10]),
        user: user(of),
        span: Span { from: at(from), to: at(to) },
        created: Millis(i64::from(number)),
    }
}

#[test]
fn users_take_turns_at_the_local_time_of_the_start() {
    let ops = weekly(&[1, 2, 3]);
    for (time, expected) in [
        ("2026-01-05T07:59:59Z", None),
        ("2026-01-05T08:00:00Z", Some(1)),
        ("2026-01-12T07:59:59Z", Some(1)),
        ("2026-01-12T08:00:00Z", Some(2)),
        ("2026-01-19T08:00:00Z", Some(3)),
        ("2026-01-26T08:00:00Z", Some(1)),
        // Summer: 9:00 is an hour earlier in UTC.
        ("2026-06-29T06:59:59Z", Some(1)),
        ("2026-06-29T07:00:00Z", Some(2)),
    ] {
        assert_eq!(ops.who(&[], at(time)), expected.map(user), "{time}");
    }
}

#[test]
fn a_week_with_a_clock_change_has_167_or_169_hours() {
    let ops = weekly(&[1, 2]);
    for (from, to, length) in [
        ("2026-03-23T08:00:00Z", "2026-03-30T07:00:00Z", 167),
        ("2026-10-19T07:00:00Z", "2026-10-26T08:00:00Z", 169),
        ("2026-06-01T07:00:00Z", "2026-06-08T07:00:00Z", 168),
    ] {
        let shifts = ops.shifts(&[], at(from), at(to));
        assert_eq!(shifts.len(), 1, "{from}");
        assert_eq!(shifts[0].span.to.since(shifts[0].span.from).as_secs(), length * 3_600);
        assert_eq!(ops.next_handover(&[], at(from)), Some(at(to)));
    }
}

#[test]
fn a_handover_in_the_gap_of_a_clock_change_uses_the_offset_before() {
    let ops = schedule("Europe/Berlin", vec![layer(&[1, 2], "2026-03-28T02:30", 1, Unit::Day)]);
    let shifts = ops.shifts(&[], at("2026-03-28T01:30:00Z"), at("2026-03-30T01:00:00Z"));
    let times: Vec<String> = shifts.iter().map(|shift| shift.span.from.to_string()).collect();
    assert_eq!(
        times,
        ["2026-03-28T01:30:00.000Z", "2026-03-29T01:30:00.000Z", "2026-03-30T00:30:00.000Z"]
    );
}

#[test]
fn later_layers_take_precedence_in_their_hours_across_midnight() {
    let mut night = layer(&[9], "2026-01-05T09:00", 1, Unit::Week);
    night.hours = vec![hours(&[Day::Monday, Day::Friday], "22:00", "06:00")];
    let base = layer(&[1, 2], "2026-01-05T09:00", 1, Unit::Week);
    let ops = schedule("Europe/Berlin", vec![base, night]);
    let shifts = ops.shifts(&[], at("2026-01-09T12:00:00Z"), at("2026-01-12T12:00:00Z"));
    let seen: Vec<(String, Option<UserId>)> =
        shifts.iter().map(|one| (one.span.from.to_string(), one.user())).collect();
    let expected = [
        ("2026-01-09T12:00:00.000Z", 1),
        ("2026-01-09T21:00:00.000Z", 9),
        ("2026-01-10T05:00:00.000Z", 1),
        ("2026-01-12T08:00:00.000Z", 2),
    ];
    assert_eq!(seen, expected.map(|(from, one)| (from.to_owned(), Some(user(one)))));
}

#[test]
fn overrides_take_precedence_and_of_two_the_newer_wins() {
    let ops = weekly(&[1, 2]);
    let overrides = [
        over(1, 5, "2026-01-06T00:00:00Z", "2026-01-08T00:00:00Z"),
        over(2, 6, "2026-01-07T00:00:00Z", "2026-01-09T00:00:00Z"),
    ];
    for (time, expected) in [
        ("2026-01-05T23:59:59Z", 1),
        ("2026-01-06T00:00:00Z", 5),
        ("2026-01-07T00:00:00Z", 6),
        ("2026-01-08T12:00:00Z", 6),
        ("2026-01-09T00:00:00Z", 1),
    ] {
        assert_eq!(ops.who(&overrides, at(time)), Some(user(expected)), "{time}");
    }
    let duty = ops.duty(&overrides, at("2026-01-07T00:00:00Z")).expect("somebody");
    assert_eq!(duty.by, DutySource::Override(overrides[1].id));
}

#[test]
fn a_gap_is_a_shift_without_a_user() {
    let mut day = layer(&[1], "2026-01-05T00:00", 1, Unit::Week);
    day.hours = vec![hours(&[], "09:00", "17:00")];
    let ops = schedule("UTC", vec![day]);
    let shifts = ops.shifts(&[], at("2026-01-05T00:00:00Z"), at("2026-01-06T00:00:00Z"));
    let users: Vec<Option<UserId>> = shifts.iter().map(Shift::user).collect();
    assert_eq!(users, [None, Some(user(1)), None]);
    assert_eq!(
        ops.next_handover(&[], at("2026-01-05T10:00:00Z")),
        Some(at("2026-01-05T17:00:00Z"))
    );
    let empty = schedule("UTC", vec![layer(&[], "2026-01-05T00:00", 1, Unit::Week)]);
    assert_eq!(empty.who(&[], at("2026-01-05T10:00:00Z")), None);
    assert_eq!(empty.next_handover(&[], at("2026-01-05T10:00:00Z")), None);
}

#[test]
fn after_a_departure_the_user_on_call_stays_and_the_others_continue_in_their_order() {
    let now = at("2026-01-14T12:00:00Z"); // The turn of 2.
    let next = at("2026-01-19T08:00:00Z");
    let weeks = |ops: &OnCallSchedule| {
        let week = |number: i64| next.after(Duration::from_secs(7 * 86_400) * number as u32);
        let mut users = vec![ops.who(&[], now).expect("somebody")];
        users.extend((0..4).map(|number| ops.who(&[], week(number)).expect("somebody")));
        users
    };
    let ops = weekly(&[1, 2, 3, 4]);
    assert_eq!(weeks(&ops), [2, 3, 4, 1, 2].map(user));
    for (gone, expected) in
        [(1, [2, 3, 4, 2, 3]), (2, [3, 4, 1, 3, 4]), (3, [2, 4, 1, 2, 4]), (4, [2, 3, 1, 2, 3])]
    {
        let after = ops.without_user(user(gone), now);
        assert_eq!(weeks(&after), expected.map(user), "without {gone}");
        assert_eq!(after.next_handover(&[], now), Some(next), "without {gone}");
        assert!(!after.names_user(user(gone)));
    }
    assert_eq!(ops.without_user(user(9), now), ops, "others change nothing");
    let alone = weekly(&[1]).without_user(user(1), now);
    assert_eq!(alone.who(&[], now), None, "an empty layer is a gap");
}

#[test]
fn a_layer_is_stored_and_read_again() {
    let mut night = layer(&[1, 2], "2026-01-05T09:00", 2, Unit::Day);
    night.hours = vec![hours(&[Day::Monday], "22:00", "06:00")];
    let text = serde_json::to_string(&night).expect("plain data");
    assert_eq!(serde_json::from_str::<Layer>(&text).expect("readable"), night);
    for text in ["2026-01-05", "2026-01-05T09:00Z", "2026-01-05T09:00+01:00", "now"] {
        assert!(parse_local(text).is_err(), "{text}");
    }
}

fn any_layer() -> impl Strategy<Value = Layer> {
    let span = (prop::collection::vec(0..7_usize, 0..3), 0..24_u8, 0..24_u8).prop_filter_map(
        "different hours",
        |(days, from, to)| {
            let days = days.into_iter().map(|day| Day::ALL[day]).collect();
            let time = |hour| TimeOfDay::parse(&format!("{hour:02}:00")).ok();
            DailyHours::new(days, time(from)?, time(to)?).ok()
        },
    );
    let spans = prop::collection::vec(span, 0..3);
    let users = prop::collection::vec(1..6_u8, 0..5);
    (users, 0..700_i64, 0..24_i8, 0..60_i8, 1..4_u32, any::<bool>(), spans).prop_map(
        |(users, day, hour, minute, every, daily, hours)| {
            let starts = date_of(18_262 + day).at(hour, minute, 0, 0);
            let unit = if daily { Unit::Day } else { Unit::Week };
            let users = users.into_iter().map(user).collect();
            Layer::new("x".to_owned(), users, starts, every, unit, hours).expect("valid")
        },
    )
}

/// Checks random schedules: a few with every run of the tests, all of them with
/// `cargo nextest run --release -p wakeful-core --run-ignored all -E 'test(oncall)'`.
fn run(cases: u32) {
    let mut runner = proptest::test_runner::TestRunner::new(ProptestConfig {
        cases,
        failure_persistence: None,
        ..ProptestConfig::default()
    });
    let zones = prop::sample::select(vec![
        "UTC",
        "Europe/Berlin",
        "America/New_York",
        "Australia/Lord_Howe",
        "America/Havana",
        "Pacific/Apia",
    ]);
    let overrides = prop::collection::vec((0..20_i64, 1..72_i64, 1..6_u8), 0..4);
    let case = (zones, prop::collection::vec(any_layer(), 0..4), overrides, 0..7_000_i64, 1..6_u8);
    let check = |(zone, layers, overrides, day, gone): (&str, Vec<Layer>, Vec<_>, i64, u8)| {
        let ops = schedule(zone, layers);
        let from = Millis((18_262 + day) * 86_400_000 + 12 * 3_600_000);
        let to = from.after(20 * DAY);
        let overrides: Vec<Override> = overrides
            .into_iter()
            .enumerate()
            .map(|(number, (start, length, of)): (usize, (i64, i64, u8))| {
                let starts = Millis(from.0 + (start - 2) * 86_400_000);
                let ends = Millis(starts.0 + length * 3_600_000);
                let number = u8::try_from(number).expect("small");
                Override {
                    span: Span { from: starts, to: ends },
                    ..over(number, of, "1970-01-01T00:00:00Z", "1970-01-01T00:00:00Z")
                }
            })
            .collect();
        let shifts = ops.shifts(&overrides, from, to);
        // They cover every instant once.
        prop_assert_eq!(shifts.first().map(|one| one.span.from), Some(from));
        prop_assert_eq!(shifts.last().map(|one| one.span.to), Some(to));
        for pair in shifts.windows(2) {
            prop_assert_eq!(pair[0].span.to, pair[1].span.from);
            prop_assert_ne!(pair[0].duty, pair[1].duty);
        }
        // They agree with `duty`, at their edges and in between.
        for shift in &shifts {
            prop_assert!(shift.span.from < shift.span.to);
            let last = Millis(shift.span.to.0 - 1);
            let inside = (0..20).map(|part| {
                Millis(shift.span.from.0 + (shift.span.to.0 - shift.span.from.0) * part / 20)
            });
            for at in inside.chain([last]) {
                prop_assert_eq!(ops.duty(&overrides, at), shift.duty, "at {}", at);
            }
        }
        // A departure changes nobody else's current turn.
        let after = ops.without_user(user(gone), from);
        for (before, after) in ops.layers.iter().zip(&after.layers) {
            let was = before.user(&ops.zone, from);
            if was.is_some_and(|was| was != user(gone)) {
                prop_assert_eq!(after.user(&ops.zone, from), was);
            }
        }
        Ok(())
    };
    runner.run(&case, check).expect("agrees");
}

#[test]
fn shifts_cover_every_instant_once_and_agree_with_who() {
    run(40);
}

#[test]
#[ignore = "10,000 cases; run it in release"]
fn shifts_cover_every_instant_once_and_agree_with_who_10_000_times() {
    run(10_000);
}

/// Checks many overrides and hours against the plain definition, `duty`, at random times, and the
/// shifts of the parts of a range against those of the whole.
fn compare(cases: u32) {
    let mut runner = proptest::test_runner::TestRunner::new(ProptestConfig {
        cases,
        failure_persistence: None,
        ..ProptestConfig::default()
    });
    let zones = prop::sample::select(vec!["UTC", "Europe/Berlin", "America/Havana"]);
    let layers = prop::collection::vec(any_layer(), 0..10);
    // Many begin, end or were created at the same time, and many do not overlap the range.
    let override_ = (-40..40_i64, -2..60_i64, 0..4_i64, 1..6_u8);
    let overrides = prop::collection::vec(override_, 0..80);
    let times = prop::collection::vec(0..20 * 86_400_000_i64, 1..30);
    let case = (zones, layers, overrides, 0..7_000_i64, times);
    let check =
        |(zone, layers, overrides, day, times): (&str, Vec<Layer>, Vec<_>, i64, Vec<i64>)| {
            let ops = schedule(zone, layers);
            let from = Millis((18_262 + day) * 86_400_000 + 12 * 3_600_000);
            let to = from.after(20 * DAY);
            let overrides: Vec<Override> = (0..)
                .zip(overrides)
                .map(|(number, (start, length, created, of)): (u8, (i64, i64, i64, u8))| {
                    let starts = Millis(from.0 + start * 12 * 3_600_000);
                    Override {
                        id: OverrideId::new(Millis(0), [number; 10]),
                        user: user(of),
                        span: Span { from: starts, to: Millis(starts.0 + length * 6 * 3_600_000) },
                        created: Millis(created),
                    }
                })
                .collect();
            let shifts = ops.shifts(&overrides, from, to);
            for time in times {
                let at = Millis(from.0 + time);
                let shift = shifts.iter().find(|shift| shift.span.contains(at));
                let shift = shift.expect("every instant has a shift");
                prop_assert_eq!(ops.duty(&overrides, at), shift.duty, "at {}", at);
                prop_assert_eq!(ops.who(&overrides, at), shift.user(), "at {}", at);
                let mut parts = ops.shifts(&overrides, from, at);
                parts.extend(ops.shifts(&overrides, at, to));
                parts.dedup_by(|next, last| {
                    let is_same = next.duty == last.duty;
                    if is_same {
                        last.span.to = next.span.to;
                    }
                    is_same
                });
                prop_assert_eq!(&parts, &shifts, "in parts at {}", at);
            }
            let current = ops.who(&overrides, from);
            let next =
                shifts.iter().find(|shift| shift.user() != current).map(|shift| shift.span.from);
            prop_assert_eq!(ops.next_handover_within(&overrides, from, 20 * DAY), next);
            Ok(())
        };
    runner.run(&case, check).expect("agrees");
}

#[test]
fn shifts_of_many_overrides_and_hours_agree_with_who_at_random_times() {
    compare(40);
}

#[test]
#[ignore = "3,000 cases; run it in release"]
fn shifts_of_many_overrides_and_hours_agree_with_who_at_random_times_3_000_times() {
    compare(3_000);
}

/// Layers with as many hours as possible, all with the same user.
fn busy_layers(count: u32) -> Vec<Layer> {
    let busy = |number: u32| {
        let hours = (0..14)
            .map(|hour| hours(&[], &format!("{hour:02}:{number:02}"), &format!("{hour:02}:30")))
            .collect();
        Layer { hours, ..layer(&[1], "2026-01-01T00:00", 1, Unit::Day) }
    };
    (0..count).map(busy).collect()
}

#[test]
fn hidden_layers_and_overlapping_overrides_take_few_steps() {
    let from = at("2026-06-01T00:00:00Z");
    let to = from.after(MAX_RANGE);
    let overrides: Vec<Override> = (0..MAX_OVERRIDES)
        .map(|number| {
            let number = i64::try_from(number).expect("small");
            let starts = Millis(from.0 + number * 60_000);
            let random = (u128::try_from(number).expect("small") << 48).to_be_bytes();
            Override {
                id: OverrideId::new(Millis(0), random[..10].try_into().expect("ten bytes")),
                user: user(2),
                span: Span { from: starts, to: starts.after(90 * DAY) },
                created: Millis(-number),
            }
        })
        .collect();
    let mut layers = busy_layers(9);
    layers.push(layer(&[3], "2026-01-01T00:00", 1, Unit::Week));
    let hidden = schedule("Europe/Berlin", layers);
    let (_, steps) = hidden.shifts_and_steps(&overrides, from, to);
    assert!((MAX_OVERRIDES..4 * MAX_OVERRIDES).contains(&steps), "{steps}");
    let (_, steps) = hidden.shifts_and_steps(&[], from, to);
    assert!(steps < 100, "{steps}");
    // Those that are not hidden are computed once.
    let visible = schedule("Europe/Berlin", busy_layers(10));
    let (_, steps) = visible.shifts_and_steps(&[], from, to);
    assert!((10 * 14 * 93..100_000).contains(&steps), "{steps}");
}
