//! The tables of clock changes and rules, random rules compared with a walk of the
//! calendar, and hostile rules.

use super::*;
use jiff::tz::TimeZone;
use proptest::prelude::*;
use std::collections::BTreeMap;
use std::time::Instant;

fn at(text: &str) -> Millis {
    Millis::parse(text).unwrap_or_else(|| panic!("{text} is a time"))
}

fn once(zone: &str, starts: &str, seconds: u64) -> Schedule {
    let zone = Zone::parse(zone).expect("a zone");
    let starts = Start::parse(starts).expect("a start");
    let length = Some(Duration::from_secs(seconds));
    Schedule::new(starts, zone, length, Rule::Once, Vec::new()).expect("valid")
}

fn recurring(zone: &str, starts: &str, seconds: u64, rule: Rule) -> Schedule {
    let zone = Zone::parse(zone).expect("a zone");
    let starts = Start::parse(starts).expect("a start");
    let length = Some(Duration::from_secs(seconds));
    Schedule::new(starts, zone, length, rule, Vec::new()).expect("valid")
}

fn rrule(text: &str) -> Rule {
    Rule::Rrule(Rrule::parse(text).expect(text))
}

fn cron(text: &str) -> Rule {
    Rule::Cron(Cron::parse(text).expect(text))
}

/// The local starts of the next occurrences, such as `03-29T02:30`.
fn local_starts(schedule: &Schedule, from: &str, count: usize) -> Vec<String> {
    let zone = schedule.zone();
    let spans = schedule.upcoming(at(from), count);
    spans.iter().map(|span| zone.local(span.from).strftime("%m-%d").to_string()).collect()
}

#[test]
fn clock_changes_are_as_in_the_table() {
    for (zone, local, seconds, from, to) in [
        ("Europe/Berlin", "2026-03-29T02:30", 3_600, "2026-03-29T01:30Z", "2026-03-29T02:30Z"),
        ("Europe/Berlin", "2026-03-29T01:30", 7_200, "2026-03-29T00:30Z", "2026-03-29T02:30Z"),
        ("Europe/Berlin", "2026-10-25T02:30", 3_600, "2026-10-25T00:30Z", "2026-10-25T01:30Z"),
        ("Europe/Berlin", "2026-10-25T01:30", 10_800, "2026-10-24T23:30Z", "2026-10-25T02:30Z"),
        ("America/New_York", "2026-03-08T02:00", 7_200, "2026-03-08T07:00Z", "2026-03-08T09:00Z"),
        ("America/New_York", "2026-11-01T01:30", 3_600, "2026-11-01T05:30Z", "2026-11-01T06:30Z"),
        (
            "Australia/Lord_Howe",
            "2026-10-04T02:15",
            1_800,
            "2026-10-03T15:45Z",
            "2026-10-03T16:15Z",
        ),
        (
            "Australia/Lord_Howe",
            "2026-04-05T01:45",
            1_800,
            "2026-04-04T14:45Z",
            "2026-04-04T15:15Z",
        ),
        ("America/Havana", "2026-03-08T00:30", 3_600, "2026-03-08T05:30Z", "2026-03-08T06:30Z"),
        ("Africa/Cairo", "2026-04-24T00:30", 3_600, "2026-04-23T22:30Z", "2026-04-23T23:30Z"),
    ] {
        let expected = [Span { from: at(from), to: at(to) }];
        let far = (at("2000-01-01T00:00Z"), at("2100-01-01T00:00Z"));
        assert_eq!(once(zone, local, seconds).occurrences(far.0, far.1), expected, "{local}");
        // The same as a rule, among its neighbors.
        let daily = recurring(zone, "2026-01-01T00:00", seconds, rrule("FREQ=DAILY"));
        let time = local.split_once('T').expect("a time").1;
        let daily = Schedule {
            starts: Start::parse(&format!("2026-01-01T{time}")).expect("a start"),
            ..daily
        };
        assert_eq!(daily.occurrences(at(from), at(to)), expected, "{local}");
        let (hour, minute) = time.split_once(':').expect("a time");
        let by_cron =
            recurring(zone, "2026-01-01T00:00", seconds, cron(&format!("{minute} {hour} * * *")));
        assert_eq!(by_cron.occurrences(at(from), at(to)), expected, "{local}");
    }
}

#[test]
fn a_day_that_a_zone_skips_happens_once_with_the_next() {
    for rule in [rrule("FREQ=DAILY"), cron("0 9 * * *")] {
        let daily = recurring("Pacific/Apia", "2011-12-28T09:00", 3_600, rule);
        let span = |from, to| Span { from: at(from), to: at(to) };
        assert_eq!(
            daily.occurrences(at("2011-12-29T00:00Z"), at("2012-01-01T00:00Z")),
            [
                span("2011-12-29T19:00Z", "2011-12-29T20:00Z"),
                span("2011-12-30T19:00Z", "2011-12-30T20:00Z"),
                span("2011-12-31T19:00Z", "2011-12-31T20:00Z"),
            ]
        );
        for day in ["2011-12-30", "2011-12-31"] {
            let one = once("Pacific/Apia", &format!("{day}T09:00"), 3_600);
            assert_eq!(one.next_start(Millis(0)), Some(at("2011-12-30T19:00Z")), "{day}");
        }
    }
}

#[test]
fn rules_are_as_in_the_table() {
    let (zone, rule) = ("Europe/Berlin", rrule("FREQ=MONTHLY;BYDAY=-1SU"));
    let last_sunday = recurring(zone, "2026-01-25T02:30", 3_600, rule);
    let year = last_sunday.occurrences(at("2026-01-01T00:00Z"), at("2026-12-01T00:00Z"));
    let starts: Vec<String> = year.iter().map(|span| span.from.to_string()).collect();
    let expected = [
        "2026-01-25T01:30:00.000Z",
        "2026-02-22T01:30:00.000Z",
        "2026-03-29T01:30:00.000Z",
        "2026-04-26T00:30:00.000Z",
    ];
    assert_eq!(starts[..4], expected);
    assert_eq!(starts[9..], ["2026-10-25T00:30:00.000Z", "2026-11-29T01:30:00.000Z"]);

    for (rule, starts, zone, dates) in [
        (
            "FREQ=MONTHLY;BYMONTHDAY=31",
            "2026-01-31T23:00",
            "America/New_York",
            &["01-31", "03-31", "05-31", "07-31", "08-31"][..],
        ),
        (
            "FREQ=MONTHLY;BYDAY=TU;BYSETPOS=2",
            "2026-01-13T20:00",
            "America/Chicago",
            &["01-13", "02-10", "03-10", "04-14"],
        ),
        (
            "FREQ=WEEKLY;INTERVAL=2;BYDAY=TU,SU;WKST=SU",
            "2026-03-03T10:00",
            "UTC",
            &["03-03", "03-15", "03-17", "03-29"],
        ),
        (
            "FREQ=WEEKLY;INTERVAL=2;BYDAY=TU,SU;WKST=MO",
            "2026-03-03T10:00",
            "UTC",
            &["03-03", "03-08", "03-17", "03-22"],
        ),
    ] {
        let schedule = recurring(zone, starts, 3_600, rrule(rule));
        assert_eq!(local_starts(&schedule, "2026-01-01T00:00Z", dates.len()), dates, "{rule}");
    }

    let rule = rrule("FREQ=YEARLY;BYMONTH=2;BYMONTHDAY=29");
    let leap = recurring("UTC", "2024-02-29T10:00", 3_600, rule);
    let spans = leap.upcoming(at("2024-01-01T00:00Z"), 3);
    let years: Vec<i16> = spans.iter().map(|span| leap.zone().local(span.from).year()).collect();
    assert_eq!(years, [2024, 2028, 2032]);
}

#[test]
fn what_a_rule_leaves_open_is_taken_from_the_first_start() {
    for (rule, dates) in [
        ("FREQ=WEEKLY", ["05-14", "05-21", "05-28"]),
        ("FREQ=MONTHLY", ["05-14", "06-14", "07-14"]),
        ("FREQ=YEARLY;BYMONTH=6,8", ["06-14", "08-14", "06-14"]),
        ("FREQ=YEARLY;BYMONTHDAY=-1", ["05-31", "06-30", "07-31"]),
        ("FREQ=YEARLY;BYDAY=20MO", ["05-18", "05-17", "05-15"]),
        ("FREQ=YEARLY;BYMONTH=6;BYDAY=1MO", ["06-01", "06-07", "06-05"]),
        ("FREQ=DAILY;BYMONTHDAY=13;BYDAY=FR", ["11-13", "08-13", "10-13"]),
    ] {
        let schedule = recurring("UTC", "2026-05-14T10:00", 60, rrule(rule));
        assert_eq!(local_starts(&schedule, "2026-01-01T00:00Z", 3), dates, "{rule}");
    }
}

#[test]
fn a_count_becomes_an_end() {
    let three = recurring("UTC", "2026-01-31T10:00", 60, rrule("FREQ=MONTHLY;COUNT=3"));
    assert_eq!(local_starts(&three, "2026-01-01T00:00Z", 9), ["01-31", "03-31", "05-31"]);
    let Rule::Rrule(rule) = three.rule() else { panic!("a rule") };
    assert_eq!(rule.to_string(), "FREQ=MONTHLY;UNTIL=20260531T100000");
    assert_eq!(three.next_change(at("2026-06-01T00:00Z")), None);
}

#[test]
fn a_rule_ends_with_the_last_start_that_until_includes() {
    for (until, count) in [
        ("20260103", 3),
        ("20260103T100000", 3),
        ("20260103T095959", 2),
        ("20260103T090000Z", 3),
        ("20260103T085959Z", 2),
    ] {
        let rule = rrule(&format!("FREQ=DAILY;UNTIL={until}"));
        let schedule = recurring("Europe/Berlin", "2026-01-01T10:00", 60, rule);
        assert_eq!(schedule.upcoming(at("2025-12-01T00:00Z"), 9).len(), count, "{until}");
    }
}

#[test]
fn exceptions_are_local_dates() {
    let zone = Zone::parse("Pacific/Auckland").expect("a zone");
    let starts = Start::parse("2026-12-25T02:00").expect("a start");
    let except = vec![parse_date("2026-12-26").expect("a date")];
    let length = Some(Duration::from_secs(60));
    let schedule = Schedule::new(starts, zone, length, rrule("FREQ=DAILY"), except).expect("valid");
    assert_eq!(local_starts(&schedule, "2026-12-01T00:00Z", 2), ["12-25", "12-27"]);
}

#[test]
fn occurrences_without_a_gap_are_one() {
    let whole_days = recurring("UTC", "2026-01-01T00:00", 86_400, rrule("FREQ=DAILY;COUNT=3"));
    let span = Span { from: at("2026-01-01T00:00Z"), to: at("2026-01-04T00:00Z") };
    assert_eq!(whole_days.at(span.from), Some(span));
    assert_eq!(whole_days.upcoming(Millis(0), 5), [span]);
    assert_eq!(whole_days.next_change(at("2026-01-01T12:00Z")), Some(span.to));

    let endless = recurring("UTC", "2026-01-01T00:00", 86_400, rrule("FREQ=DAILY"));
    assert_eq!(endless.upcoming(at("2026-06-01T00:00Z"), 5).len(), 1);
}

#[test]
fn a_start_in_the_repeated_hour_happens_once() {
    let half_hours = recurring("Europe/Berlin", "2026-01-01T00:00", 60, cron("*/30 2 * * *"));
    let night = half_hours.occurrences(at("2026-10-24T22:00Z"), at("2026-10-25T04:00Z"));
    let starts: Vec<Millis> = night.iter().map(|span| span.from).collect();
    assert_eq!(starts, [at("2026-10-25T00:00Z"), at("2026-10-25T00:30Z")]);
}

#[test]
fn a_window_without_an_end_lasts_until_it_is_ended() {
    let (zone, starts) = (Zone::utc(), Start::Instant(Millis(946_684_800_000)));
    let open = Schedule::new(starts, zone, None, Rule::Once, Vec::new()).expect("valid");
    let span = Span { from: Millis(946_684_800_000), to: FOREVER };
    assert_eq!(open.at(at("2026-01-01T00:00Z")), Some(span));
    assert_eq!(open.next_change(at("2026-01-01T00:00Z")), None);
    assert_eq!(open.next_change(Millis(0)), Some(span.from));
    assert_eq!(open.upcoming(Millis(0), 3), [span]);
}

#[test]
fn a_schedule_is_stored_and_read_again() {
    let rules = [Rule::Once, rrule("FREQ=WEEKLY;BYDAY=SU,WE;WKST=SU"), cron("30 2 1,L * *")];
    for rule in rules {
        let zone = Zone::parse("Europe/Berlin").expect("a zone");
        let starts = Start::parse("2026-03-01T02:30").expect("a start");
        let except = vec![parse_date("2026-12-27").expect("a date")];
        let length = Some(Duration::from_secs(5_400));
        let schedule = Schedule::new(starts, zone, length, rule, except).expect("valid");
        let text = serde_json::to_string(&schedule).expect("plain data");
        assert_eq!(serde_json::from_str::<Schedule>(&text).expect("readable"), schedule, "{text}");
    }
    let instant = Start::parse("2026-10-25T01:30:00.500Z").expect("a start");
    let mute = Schedule::new(instant, Zone::utc(), None, Rule::Once, Vec::new()).expect("valid");
    let text = serde_json::to_string(&mute).expect("plain data");
    assert_eq!(serde_json::from_str::<Schedule>(&text).expect("readable"), mute, "{text}");
}

#[test]
fn invalid_schedules_are_rejected_and_the_field_is_named() {
    let reject = |starts: &str, seconds: Option<u64>, rule: Rule| {
        let (zone, starts) = (Zone::utc(), Start::parse(starts).expect("a start"));
        let length = seconds.map(Duration::from_secs);
        let schedule = Schedule::new(starts, zone, length, rule, Vec::new());
        let now = at("2026-01-01T00:00Z");
        let error = match schedule {
            Err(error) => error,
            Ok(schedule) => schedule.must_happen(now).expect_err("invalid"),
        };
        (error.field, error.reason.0)
    };
    let day = "2026-05-01T10:00";
    let never = "never happens in the next five years";
    for (starts, seconds, rule, field, reason) in [
        (day, Some(59), Rule::Once, "duration", "must be from 60 to 31622400 seconds"),
        (day, Some(31_622_401), Rule::Once, "duration", "must be from 60 to 31622400 seconds"),
        (day, Some(604_801), rrule("FREQ=DAILY"), "duration", "must be from 60 to 604800 seconds"),
        (day, None, rrule("FREQ=DAILY"), "duration", "is required with a rule"),
        ("1999-05-01T10:00", Some(60), Rule::Once, "starts", "must be in the years 2000 to 2199"),
        ("9999-05-01T10:00", Some(60), Rule::Once, "starts", "must be in the years 2000 to 2199"),
        (day, Some(60), cron("* * * * *"), "cron", "must start at most 48 times a day"),
        (day, Some(60), cron("0 0 30 2 *"), "cron", never),
        (day, Some(60), rrule("FREQ=YEARLY;BYMONTH=2;BYMONTHDAY=30"), "rrule", never),
        (day, Some(60), rrule("FREQ=DAILY;BYMONTH=2;BYMONTHDAY=-30"), "rrule", never),
        (day, Some(60), rrule("FREQ=MONTHLY;BYDAY=MO;BYSETPOS=9"), "rrule", never),
        (day, Some(60), rrule("FREQ=YEARLY;BYMONTH=6;BYDAY=53MO"), "rrule", never),
        (day, Some(60), rrule("FREQ=DAILY;UNTIL=20200101"), "rrule", never),
        ("2150-05-01T10:00", Some(60), rrule("FREQ=DAILY"), "rrule", never),
    ] {
        assert_eq!(reject(starts, seconds, rule), (field, reason.to_owned()), "{starts}");
    }
}

#[test]
fn a_window_lasts_from_a_minute_to_a_year_and_with_a_rule_to_a_week() {
    let day = "2026-05-01T10:00";
    for seconds in [60, 31_622_400] {
        let window = once("UTC", day, seconds);
        assert_eq!(window.length(), Some(Duration::from_secs(seconds)));
    }
    for seconds in [60, 604_800] {
        let window = recurring("UTC", day, seconds, rrule("FREQ=MONTHLY"));
        assert_eq!(window.length(), Some(Duration::from_secs(seconds)));
    }
}

#[test]
fn unsupported_parts_of_a_rule_are_named() {
    for (text, reason) in [
        ("", "must have FREQ"),
        ("FREQ=HOURLY", "must have FREQ=DAILY, WEEKLY, MONTHLY or YEARLY"),
        ("FREQ=DAILY;BYHOUR=3", "has BYHOUR, which is not supported"),
        ("FREQ=YEARLY;BYWEEKNO=3", "has BYWEEKNO, which is not supported"),
        ("FREQ=DAILY;FREQ=DAILY", "has FREQ twice"),
        ("FREQ=DAILY;X", "has \"X\", which is not NAME=VALUE"),
        ("FREQ=DAILY;INTERVAL=0", "has an invalid INTERVAL: \"0\""),
        ("FREQ=DAILY;INTERVAL=1000", "has an invalid INTERVAL: \"1000\""),
        ("FREQ=DAILY;COUNT=10001", "has an invalid COUNT: \"10001\""),
        ("FREQ=DAILY;COUNT=2;UNTIL=20260101", "must not have both COUNT and UNTIL"),
        ("FREQ=DAILY;UNTIL=2026-01-01", "has an invalid UNTIL: \"2026-01-01\""),
        ("FREQ=DAILY;UNTIL=20260230", "has an invalid UNTIL: \"20260230\""),
        ("FREQ=WEEKLY;BYDAY=1MO", "must have FREQ=MONTHLY or YEARLY for BYDAY=1MO"),
        ("FREQ=WEEKLY;BYMONTHDAY=1", "must not have BYMONTHDAY with FREQ=WEEKLY"),
        ("FREQ=MONTHLY;BYDAY=6MO", "has an invalid BYDAY: \"6\""),
        ("FREQ=MONTHLY;BYDAY=Ä", "has an invalid BYDAY: \"Ä\""),
        ("FREQ=MONTHLY;BYDAY=", "has an invalid BYDAY: \"\""),
        ("FREQ=MONTHLY;BYMONTHDAY=0", "has an invalid BYMONTHDAY: \"0\""),
        ("FREQ=MONTHLY;BYMONTH=13", "has an invalid BYMONTH: \"13\""),
        ("FREQ=MONTHLY;BYSETPOS=1", "must have BYDAY, BYMONTHDAY or BYMONTH with BYSETPOS"),
    ] {
        assert_eq!(Rrule::parse(text).expect_err(text).0, reason, "{text}");
    }
    assert!(Rrule::parse(&"FREQ=DAILY;".repeat(100)).is_err());
    assert_eq!(
        Rrule::parse("rrule:freq=weekly;byday=we,su").expect("valid").to_string(),
        "FREQ=WEEKLY;BYDAY=WE,SU"
    );
}

/// A rule as a test generates it, evaluated in the simplest way.
#[derive(Clone, Debug)]
struct TestRule {
    frequency: &'static str,
    interval: i64,
    by_day: Vec<(i8, usize)>,
    by_month_day: Vec<i8>,
    by_month: Vec<i8>,
    positions: Vec<i16>,
    week_start: usize,
}

const NAMES: [&str; 7] = ["MO", "TU", "WE", "TH", "FR", "SA", "SU"];

impl TestRule {
    fn text(&self) -> String {
        let list = |name: &str, values: Vec<String>| {
            if values.is_empty() { String::new() } else { format!(";{name}={}", values.join(",")) }
        };
        let text = |values: &[i8]| values.iter().map(i8::to_string).collect();
        let day = |(nth, day): &(i8, usize)| match nth {
            0 => NAMES[*day].to_owned(),
            nth => format!("{nth}{}", NAMES[*day]),
        };
        [
            format!("FREQ={};INTERVAL={}", self.frequency, self.interval),
            list("BYMONTH", text(&self.by_month)),
            list("BYMONTHDAY", text(&self.by_month_day)),
            list("BYDAY", self.by_day.iter().map(day).collect()),
            list("BYSETPOS", self.positions.iter().map(i16::to_string).collect()),
            format!(";WKST={}", NAMES[self.week_start]),
        ]
        .concat()
    }

    /// The number of the period that contains a date, from that of the first start.
    fn period(&self, starts: Date, date: Date) -> i64 {
        let week_start = |date: Date| {
            let mut date = date;
            while date.weekday().to_monday_zero_offset() as usize != self.week_start {
                date = date.yesterday().expect("in range");
            }
            date
        };
        let days = |one: Date, two: Date| i64::from((two - one).get_days());
        match self.frequency {
            "DAILY" => days(starts, date),
            "WEEKLY" => days(week_start(starts), week_start(date)) / 7,
            "MONTHLY" => {
                i64::from(date.year() - starts.year()) * 12
                    + i64::from(date.month() - starts.month())
            }
            _ => i64::from(date.year() - starts.year()),
        }
    }

    fn is_on(&self, starts: Date, date: Date) -> bool {
        let weekday = |date: Date| date.weekday().to_monday_zero_offset() as usize;
        let is_month = self.by_month.is_empty() || self.by_month.contains(&date.month());
        let from_end = date.day() - date.days_in_month() - 1;
        let is_month_day = |days: &[i8]| days.contains(&date.day()) || days.contains(&from_end);
        let nth = |nth: i8, day: usize| {
            let in_year = self.frequency == "YEARLY" && self.by_month.is_empty();
            let (first, last) = if in_year {
                (date.first_of_year(), date.last_of_year())
            } else {
                (date.first_of_month(), date.last_of_month())
            };
            let all = first.series(jiff::Span::new().days(1)).take_while(|date| *date <= last);
            let all: Vec<Date> = all.filter(|date| weekday(*date) == day).collect();
            let index = match nth {
                1.. => nth as usize - 1,
                _ => match all.len().checked_sub(nth.unsigned_abs().into()) {
                    Some(index) => index,
                    None => return false,
                },
            };
            all.get(index) == Some(&date)
        };
        let is_weekday = |(number, day): &(i8, usize)| match number {
            0 => weekday(date) == *day,
            number => nth(*number, *day),
        };
        if self.by_day.is_empty() && self.by_month_day.is_empty() {
            return is_month
                && match self.frequency {
                    "DAILY" => true,
                    "WEEKLY" => date.weekday() == starts.weekday(),
                    "MONTHLY" => date.day() == starts.day(),
                    _ if self.by_month.is_empty() => {
                        (date.month(), date.day()) == (starts.month(), starts.day())
                    }
                    _ => date.day() == starts.day(),
                };
        }
        is_month
            && (self.by_month_day.is_empty() || is_month_day(&self.by_month_day))
            && (self.by_day.is_empty() || self.by_day.iter().any(is_weekday))
    }

    /// Every date of the rule until `last`, by a walk over all days.
    fn dates(&self, starts: Date, last: Date) -> Vec<Date> {
        let begin =
            starts.first_of_year().checked_sub(jiff::Span::new().days(7)).expect("in range");
        let end = last.last_of_year().checked_add(jiff::Span::new().days(7)).expect("in range");
        let mut periods: BTreeMap<i64, Vec<Date>> = BTreeMap::new();
        for date in begin.series(jiff::Span::new().days(1)).take_while(|date| *date <= end) {
            if self.is_on(starts, date) {
                periods.entry(self.period(starts, date)).or_default().push(date);
            }
        }
        let chosen =
            periods.into_iter().filter(|(number, _)| number.rem_euclid(self.interval) == 0);
        let chosen = chosen.flat_map(|(_, dates)| {
            let length = dates.len() as i16;
            let kept = dates.into_iter().enumerate().filter(move |(index, _)| {
                let position = *index as i16 + 1;
                self.positions.is_empty()
                    || self.positions.contains(&position)
                    || self.positions.contains(&(position - length - 1))
            });
            kept.map(|(_, date)| date).collect::<Vec<_>>()
        });
        chosen.filter(|date| starts <= *date && *date <= last).collect()
    }
}

fn test_rule() -> impl Strategy<Value = TestRule> {
    let frequency = prop::sample::select(vec!["DAILY", "WEEKLY", "MONTHLY", "YEARLY"]);
    let nth = prop_oneof![3 => Just(0_i8), 1 => 1..=5_i8, 1 => -5..=-1_i8];
    let position = prop_oneof![1..=4_i16, -4..=-1_i16];
    let month_day = prop_oneof![1..=31_i8, -31..=-1_i8];
    (
        frequency,
        prop_oneof![3 => Just(1), 2 => 2..=5_i64, 1 => 1..=40_i64],
        prop::collection::vec((nth, 0..7_usize), 0..=3),
        prop::collection::vec(month_day, 0..=3),
        prop::collection::vec(1..=12_i8, 0..=3),
        prop::collection::vec(position, 0..=2),
        0..7_usize,
    )
        .prop_map(
            |(frequency, interval, by_day, by_month_day, by_month, positions, week_start)| {
                let has_nth = frequency == "MONTHLY" || frequency == "YEARLY";
                let by_day =
                    by_day.into_iter().map(|(nth, day)| (if has_nth { nth } else { 0 }, day));
                let by_month_day = if frequency == "WEEKLY" { Vec::new() } else { by_month_day };
                let mut rule = TestRule {
                    frequency,
                    interval,
                    by_day: by_day.collect(),
                    by_month_day,
                    by_month,
                    positions,
                    week_start,
                };
                let is_empty = rule.by_day.is_empty()
                    && rule.by_month_day.is_empty()
                    && rule.by_month.is_empty();
                if is_empty {
                    rule.positions.clear();
                }
                rule
            },
        )
}

fn test_zone() -> impl Strategy<Value = &'static str> {
    prop::sample::select(vec![
        "UTC",
        "Europe/Berlin",
        "America/New_York",
        "Australia/Lord_Howe",
        "America/Havana",
        "Africa/Cairo",
        "Asia/Kathmandu",
        "Pacific/Auckland",
        "America/Santiago",
    ])
}

/// A random day, which often has a clock change.
fn test_day() -> impl Strategy<Value = Date> {
    let day = (2020..=2040_i16, 1..=12_i8, 1..=28_i8);
    let change = (2020..=2040_i16, prop::sample::select(vec![3_i8, 4, 9, 10, 11]), 1..=28_i8);
    prop_oneof![day, change].prop_map(|(year, month, day)| date(year, month, day))
}

/// The spans of local starts, by jiff's own conversion.
fn spans_of(zone: &str, starts: impl Iterator<Item = DateTime>, length: i64) -> Vec<(i64, i64)> {
    let zone = TimeZone::get(zone).expect("a zone");
    let instant = |local| zone.to_timestamp(local).expect("in range").as_millisecond();
    starts.map(instant).map(|from| (from, from + length)).collect()
}

/// Whether each minute of two days is in an occurrence exactly when it is in a span.
fn agree(schedule: &Schedule, spans: &[(i64, i64)], day: Date) -> Result<(), TestCaseError> {
    let from = Zone::utc().instant(day.at(0, 0, 0, 0)).before(Duration::from_secs(43_200));
    let to = from.after(2 * DAY);
    let found = schedule.occurrences(from, to);
    let gap = found.windows(2).all(|pair| pair[0].to < pair[1].from);
    prop_assert!(gap, "{found:?}");
    let mut last_change = None;
    for minute in 0..2 * 1_440 {
        let at = from.after(Duration::from_secs(minute * 60 + 30));
        let expected = spans.iter().any(|(from, to)| *from <= at.0 && at.0 < *to);
        let in_occurrence = found.iter().any(|span| span.contains(at));
        prop_assert_eq!(in_occurrence, expected, "{} {:?}", at, schedule);
        if minute % 60 == 0 {
            prop_assert_eq!(schedule.at(at).is_some(), expected, "{} {:?}", at, schedule);
            let change = schedule.next_change(at);
            if let (Some(last), Some(next)) = (last_change, change) {
                prop_assert!(last <= next, "went back from {last} to {next}");
            }
            if let Some(next) = change {
                prop_assert!(next > at, "{next} is not after {at}");
                // Nothing changes before it.
                let between = at.0 + (next.0 - at.0) / 2;
                let is_covered = schedule.at(Millis(between)).is_some();
                prop_assert_eq!(is_covered, expected, "skipped a change before {}", next);
            }
            last_change = change;
        }
    }
    Ok(())
}

fn check_rule(
    (rule, zone): (TestRule, &'static str),
    day: Date,
    (before, hour, minute): (i32, i8, i8),
    length: i64,
) -> Result<(), TestCaseError> {
    let first = day.checked_sub(jiff::Span::new().days(before)).expect("in range");
    let starts = first.at(hour, minute, 0, 0);
    let parsed = Rrule::parse(&rule.text())
        .map_err(|error| TestCaseError::fail(format!("{}: {error}", rule.text())))?;
    prop_assert_eq!(&Rrule::parse(&parsed.to_string()).expect("written"), &parsed);
    let schedule = Schedule::new(
        Start::Local(starts),
        Zone::parse(zone).expect("a zone"),
        Some(Duration::from_secs(length.unsigned_abs())),
        Rule::Rrule(parsed),
        Vec::new(),
    )
    .expect("valid");
    let last = day.checked_add(jiff::Span::new().days(4)).expect("in range");
    let dates = rule.dates(first, last);
    let local = dates.into_iter().map(|date| date.at(hour, minute, 0, 0));
    agree(&schedule, &spans_of(zone, local, length * 1_000), day)
}

fn check_cron(
    zone: &'static str,
    day: Date,
    (minutes, hours): (Vec<i8>, Vec<i8>),
    (days, weekdays): (Vec<i8>, Vec<i8>),
    length: i64,
) -> Result<(), TestCaseError> {
    let list = |values: &[i8]| {
        if values.is_empty() {
            "*".to_owned()
        } else {
            values.iter().map(i8::to_string).collect::<Vec<_>>().join(",")
        }
    };
    let text = format!("{} {} {} * {}", list(&minutes), list(&hours), list(&days), list(&weekdays));
    let parsed = Cron::parse(&text).expect("valid");
    prop_assert_eq!(&Cron::parse(&parsed.to_string()).expect("written"), &parsed);
    let starts = day.checked_sub(jiff::Span::new().days(30)).expect("in range");
    let schedule =
        recurring(zone, &starts.at(0, 0, 0, 0).to_string(), length.unsigned_abs(), cron(&text));
    let nearby = starts.series(jiff::Span::new().days(1)).take(35);
    let is_on = |date: &Date| {
        let weekday = date.weekday().to_sunday_zero_offset();
        match (days.is_empty(), weekdays.is_empty()) {
            (true, true) => true,
            (false, true) => days.contains(&date.day()),
            (true, false) => weekdays.contains(&weekday),
            (false, false) => days.contains(&date.day()) || weekdays.contains(&weekday),
        }
    };
    let local = nearby.filter(is_on).flat_map(|date| {
        let (hours, minutes) = (hours.clone(), minutes.clone());
        hours.into_iter().flat_map(move |hour| {
            let minutes = minutes.clone();
            minutes.into_iter().map(move |minute| date.at(hour, minute, 0, 0))
        })
    });
    agree(&schedule, &spans_of(zone, local, length * 1_000), day)
}

/// Checks random cases: a few with every run of the tests, all of them with
/// `cargo nextest run --release -p wakeful-core --run-ignored all -E 'test(calendar)'`.
fn run(cases: u32, rules: bool) {
    let mut runner = proptest::test_runner::TestRunner::new(ProptestConfig {
        cases,
        failure_persistence: None,
        ..ProptestConfig::default()
    });
    let length = prop_oneof![60..=90_000_i64, 60..=604_800_i64];
    if rules {
        let start = (0..800_i32, 0..24_i8, 0..60_i8);
        let case = (test_rule(), test_zone(), test_day(), start, length);
        let check = |(rule, zone, day, start, length)| check_rule((rule, zone), day, start, length);
        runner.run(&case, check).expect("agrees");
    } else {
        let some = |values: std::ops::Range<i8>, most| prop::collection::vec(values, 1..=most);
        let any = |values: std::ops::Range<i8>| prop::collection::vec(values, 0..=2);
        let case = (
            test_zone(),
            test_day(),
            (some(0..60, 3), some(0..24, 3)),
            (any(1..32), any(0..7)),
            length,
        );
        let check = |(zone, day, times, days, length)| check_cron(zone, day, times, days, length);
        runner.run(&case, check).expect("agrees");
    }
}

#[test]
fn an_instant_is_in_a_rule_when_a_walk_of_the_calendar_says_so() {
    run(8, true);
}

#[test]
fn an_instant_is_in_a_cron_when_a_walk_of_the_calendar_says_so() {
    run(30, false);
}

#[test]
#[ignore = "10,000 cases; run it in release"]
fn an_instant_is_in_a_rule_when_a_walk_of_the_calendar_says_so_10_000_times() {
    run(10_000, true);
}

#[test]
#[ignore = "10,000 cases; run it in release"]
fn an_instant_is_in_a_cron_when_a_walk_of_the_calendar_says_so_10_000_times() {
    run(10_000, false);
}

/// Rules that take the most work.
fn hostile() -> Vec<Schedule> {
    let all_days = (1..=31).map(|day| day.to_string()).collect::<Vec<_>>().join(",");
    let positions = (1..=60).map(|day| day.to_string()).collect::<Vec<_>>().join(",");
    let week = 604_800;
    let rules = [
        "FREQ=DAILY".to_owned(),
        "FREQ=DAILY;BYMONTH=2;BYMONTHDAY=30".to_owned(),
        "FREQ=WEEKLY;INTERVAL=999;BYDAY=MO".to_owned(),
        "FREQ=YEARLY;INTERVAL=999".to_owned(),
        "FREQ=YEARLY;BYMONTH=2;BYMONTHDAY=30".to_owned(),
        "FREQ=YEARLY;BYDAY=53MO,-53MO,MO".to_owned(),
        format!("FREQ=YEARLY;BYMONTHDAY={all_days};BYSETPOS={positions}"),
        format!("FREQ=MONTHLY;BYMONTHDAY={all_days};BYSETPOS=-31"),
        "FREQ=YEARLY;BYMONTH=2;BYMONTHDAY=29;COUNT=10000".to_owned(),
        "FREQ=YEARLY;BYMONTH=2;BYMONTHDAY=29;UNTIL=99991231T235959Z".to_owned(),
    ];
    let rules = rules.into_iter().map(|text| rrule(&text));
    let crons = ["*/30 * * * *", "0,30 * 30 2 *", "59 23 L 2 *"].map(cron);
    let zone = "America/New_York";
    let once = std::iter::once(Rule::Once);
    let rules = rules.chain(crons).chain(once);
    rules.map(|rule| recurring(zone, "2000-02-29T00:00", week, rule)).collect()
}

/// The average time of one call, in microseconds.
fn micros(mut work: impl FnMut()) -> f64 {
    (0..10).for_each(|_| work());
    let begin = Instant::now();
    (0..200).for_each(|_| work());
    begin.elapsed().as_secs_f64() * 1e6 / 200.0
}

#[test]
#[ignore = "measures; run it in release"]
fn the_occurrences_of_a_day_take_at_most_50_microseconds() {
    let day = at("2026-03-08T00:00Z");
    for schedule in hostile() {
        let took = micros(|| {
            std::hint::black_box(schedule.occurrences(day, day.after(DAY)));
        });
        let next = micros(|| {
            std::hint::black_box(schedule.next_start(day));
        });
        let covers = micros(|| {
            std::hint::black_box(schedule.at(day));
        });
        eprintln!("{took:8.2} µs, next {next:8.2} µs, at {covers:8.2} µs: {schedule:?}");
        assert!(took <= 50.0, "{took} µs: {schedule:?}");
    }
}

#[test]
fn hostile_rules_and_times_take_bounded_work() {
    let begin = Instant::now();
    for schedule in hostile() {
        for at in [Millis(i64::MIN), Millis(0), at("2026-05-05T00:00Z"), Millis(i64::MAX)] {
            assert!(schedule.occurrences(at, at.after(DAY)).len() < 100);
            schedule.next_change(at);
            assert!(schedule.upcoming(at, 20).len() <= 20);
            let _ = schedule.must_happen(at);
        }
    }
    assert!(begin.elapsed() < Duration::from_secs(5), "{:?}", begin.elapsed());
}
