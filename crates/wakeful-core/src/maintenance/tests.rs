//! What windows mean for a monitor, and what is recorded.

use super::*;
use crate::calendar::rrule::Rrule;
use crate::calendar::zone::Zone;
use crate::calendar::{Rule, Start};
use crate::selector::SelectorParts;
use proptest::prelude::*;

const MINUTE: i64 = 60_000;
/// 2026-01-01T00:00Z, a Thursday.
const BASE: i64 = 1_767_225_600_000;

fn at(minutes: i64) -> Millis {
    Millis(BASE + minutes * MINUTE)
}

fn monitor(number: u8) -> MonitorId {
    MonitorId::new(Millis(0), [number; 10])
}

fn tags(text: &str) -> Tags {
    Tags::parse(text).expect("valid")
}

/// A window for the tag `db`, from one minute to another, that happens once or daily.
fn window(number: u8, from: i64, to: i64, is_daily: bool) -> Window {
    let rule = if is_daily {
        Rule::Rrule(Rrule::parse("FREQ=DAILY").expect("a rule"))
    } else {
        Rule::Once
    };
    let length = Duration::from_secs((to - from).unsigned_abs() * 60);
    let starts = Start::Instant(at(from));
    let schedule = Schedule::new(starts, Zone::utc(), Some(length), rule, Vec::new());
    let parts = SelectorParts { tags: tags("db"), ..SelectorParts::default() };
    Window {
        id: MaintenanceId::new(Millis(0), [number; 10]),
        team: TeamId::new(Millis(0), [1; 10]),
        name: format!("window {number}"),
        description: String::new(),
        isactive: true,
        selector: Selector::new(parts).expect("a selector"),
        reached: Vec::new(),
        schedule: schedule.expect("a schedule"),
        checks: Checks::Run,
        counts: Counts::Excluded,
        alerts: Alerts::Suppress,
        dependents: true,
        grace: Duration::ZERO,
        announce: Announce::default(),
        running: None,
        ended: None,
        skipped_until: None,
        due: Some(at(from)),
        created: Millis(0),
        modified: Millis(0),
    }
}

fn covers(windows: &[Window], minute: i64) -> Option<Cover> {
    cover(windows, monitor(1), &tags("db"), at(minute))
}

#[test]
fn a_monitor_is_covered_while_a_window_runs_that_selects_it() {
    let windows = [window(1, 10, 20, false)];
    assert_eq!(covers(&windows, 9), None);
    let found = covers(&windows, 10).expect("covered");
    assert_eq!(found.until, Some(at(20)));
    assert_eq!((found.pauses, found.excluded, found.suppresses), (false, true, true));
    assert_eq!(found.windows[0].name, "window 1");
    assert_eq!(covers(&windows, 20), None);
    assert_eq!(cover(&windows, monitor(1), &tags("web"), at(15)), None);
    let inactive = [Window { isactive: false, ..window(1, 10, 20, false) }];
    assert_eq!(covers(&inactive, 15), None);
}

#[test]
fn the_cover_lasts_until_no_window_covers_the_monitor() {
    let mute = Window { counts: Counts::Counted, ..window(1, 10, 20, false) };
    let pause =
        Window { checks: Checks::Pause, alerts: Alerts::Notify, ..window(2, 15, 40, false) };
    let later = window(3, 40, 50, false);
    let windows = [mute, pause, later];
    let first = covers(&windows, 12).expect("covered");
    assert_eq!((first.pauses, first.excluded, first.suppresses), (false, false, true));
    assert_eq!(first.until, Some(at(50)));
    let both = covers(&windows, 15).expect("covered");
    assert_eq!((both.pauses, both.excluded, both.suppresses), (true, true, true));
    assert_eq!(both.windows.len(), 2);
    let second = covers(&windows, 30).expect("covered");
    assert_eq!((second.pauses, second.excluded, second.suppresses), (true, true, false));
}

#[test]
fn alerts_stay_suppressed_for_the_grace_after_a_window() {
    let windows = [Window { grace: Duration::from_secs(300), ..window(1, 10, 20, false) }];
    let cover_at = |minute| cover_of_alerts(&windows, monitor(1), &tags("db"), at(minute));
    assert_eq!(cover_at(15).expect("covered").until, Some(at(25)));
    let after = cover_at(22).expect("covered");
    assert_eq!((after.pauses, after.excluded, after.suppresses), (false, false, true));
    assert_eq!(after.until, Some(at(25)));
    assert_eq!(cover_at(25), None);
    assert_eq!(covers(&windows, 22), None);
}

#[test]
fn a_window_that_does_not_suppress_alerts_does_not_extend_their_suppression() {
    let notifies = Window { alerts: Alerts::Notify, ..window(1, 5, 500, false) };
    let windows = [notifies, window(2, 10, 20, false), window(3, 20, 30, false)];
    let until = |minute| {
        let cover = cover_of_alerts(&windows, monitor(1), &tags("db"), at(minute))?;
        assert!(cover.suppresses, "{minute}");
        cover.until
    };
    assert_eq!(until(9), None);
    assert_eq!(until(15), Some(at(30)));
    assert_eq!(until(25), Some(at(30)));
    assert_eq!(until(30), None);
    assert_eq!(covers(&windows, 15).expect("covered").until, Some(at(500)));
}

#[test]
fn the_grace_follows_the_end_of_an_occurrence_that_was_ended_or_extended() {
    let daily = Window { grace: Duration::from_secs(300), ..window(1, 10, 70, true) };
    let until = |window: &Window, minute| {
        let windows = std::slice::from_ref(window);
        let cover = cover_of_alerts(windows, monitor(1), &tags("db"), at(minute))?;
        assert!(cover.suppresses && !cover.excluded, "{minute}");
        cover.until
    };
    let running = Some(Span { from: at(10), to: at(30) });
    let ended = Window { running, skipped_until: Some(at(70)), ..daily.clone() };
    // Before and after the maintenance clock has recorded the end.
    let recorded = Window { running: None, ended: Some(at(30)), ..ended.clone() };
    for window in [&ended, &recorded] {
        assert_eq!(until(window, 30), Some(at(35)));
        assert_eq!(until(window, 34), Some(at(35)));
        assert_eq!(until(window, 35), None);
        // Its own end would have been here.
        assert_eq!(until(window, 72), None);
    }
    let running = Some(Span { from: at(10), to: at(90) });
    let extended = Window { running, ..daily.clone() };
    let recorded = Window { running: None, ended: Some(at(90)), ..daily };
    for window in [&extended, &recorded] {
        assert_eq!(until(window, 94), Some(at(95)));
        assert_eq!(until(window, 95), None);
    }
}

#[test]
fn an_alert_names_the_window_that_suppresses_it() {
    let notifies = Window { alerts: Alerts::Notify, ..window(1, 10, 40, false) };
    let windows = [notifies, window(2, 15, 30, false), window(3, 15, 30, false)];
    let names = |minute| covers(&windows, minute).expect("covered").windows;
    let names = |minute| names(minute).into_iter().map(|window| window.name).collect::<Vec<_>>();
    assert_eq!(names(20), ["window 2", "window 1", "window 3"]);
    assert_eq!(names(35), ["window 1"]);
}

#[test]
fn an_occurrence_can_be_ended_and_extended() {
    let daily = window(1, 10, 70, true);
    let ended = Window {
        running: Some(Span { from: at(10), to: at(30) }),
        skipped_until: Some(at(70)),
        ..daily.clone()
    };
    assert!(ended.at(at(29)).is_some());
    assert_eq!(ended.at(at(30)), None);
    assert_eq!(next_change(&ended, at(30)), Some(at(10 + 1_440)));
    assert_eq!(ended.status(at(30)), WindowStatus::Scheduled);
    assert!(ended.at(at(20 + 1_440)).is_some());

    let extended = Window { running: Some(Span { from: at(10), to: at(90) }), ..daily };
    assert_eq!(extended.at(at(80)), Some(Span { from: at(10), to: at(90) }));
    assert_eq!(next_change(&extended, at(20)), Some(at(90)));
    assert_eq!(extended.at(at(95)), None);
}

#[test]
fn a_window_without_an_end_is_over_when_it_is_ended() {
    let open = Schedule::new(Start::Instant(at(0)), Zone::utc(), None, Rule::Once, Vec::new());
    let open = Window { schedule: open.expect("a schedule"), ..window(1, 0, 1, false) };
    assert_eq!(covers(std::slice::from_ref(&open), 500).expect("covered").until, None);
    assert_eq!(next_change(&open, at(500)), None);
    let ended = Window { skipped_until: Some(FOREVER), ..open };
    assert_eq!(ended.status(at(500)), WindowStatus::Ended);
    assert_eq!(next_change(&ended, at(500)), None);
}

#[test]
fn announcements_come_before_each_occurrence_once() {
    let announce = Announce {
        notifiers: vec![NotifierId::new(Millis(0), [1; 10])],
        before: vec![3_600, 900],
        start: true,
        end: true,
    };
    let daily = Window { announce, ..window(1, 120, 180, true) };
    let first = Span { from: at(120), to: at(180) };
    assert_eq!(next_change(&daily, at(0)), Some(at(60)));
    assert_eq!(daily.announcements(at(0), at(60)), [(first, 3_600)]);
    assert_eq!(next_change(&daily, at(60)), Some(at(105)));
    assert_eq!(daily.announcements(at(60), at(105)), [(first, 900)]);
    assert_eq!(next_change(&daily, at(105)), Some(at(120)));
    // Both were missed: one is sent.
    assert_eq!(daily.announcements(at(0), at(110)), [(first, 900)]);
    // The occurrence has begun: it is not announced.
    assert_eq!(daily.announcements(at(0), at(130)), []);
    let next = Span { from: at(120 + 1_440), to: at(180 + 1_440) };
    assert_eq!(daily.announcements(at(1_490), at(1_500)), [(next, 3_600)]);
}

#[test]
fn the_start_and_the_end_of_an_occurrence_are_announced_when_they_are_noticed() {
    let announce = Announce {
        notifiers: vec![NotifierId::new(Millis(0), [1; 10])],
        before: Vec::new(),
        start: true,
        end: true,
    };
    let daily = Window { announce, ..window(1, 120, 180, true) };
    let span = Span { from: at(120), to: at(180) };
    let due = |running: Option<Span>, announced: i64, minute: i64| {
        let window = Window { running, ..daily.clone() };
        let due = window.due_announcements(Some(at(announced)), window.at(at(minute)), at(minute));
        due.into_iter().map(|due| (due.span.from, due.moment)).collect::<Vec<_>>()
    };
    assert_eq!(due(None, 60, 119), []);
    assert_eq!(due(None, 60, 121), [(at(120), WindowMoment::Started)]);
    assert_eq!(due(Some(span), 121, 150), []);
    assert_eq!(due(Some(span), 121, 181), [(at(120), WindowMoment::Ended)]);
    // It was ended early, and then nothing was noticed until the next day.
    let early = Span { to: at(140), ..span };
    let next = (at(120 + 1_440), WindowMoment::Started);
    assert_eq!(due(Some(early), 121, 1_570), [(at(120), WindowMoment::Ended), next]);
    // The end of one that was extended is the end of the same occurrence.
    let longer = Span { to: at(240), ..span };
    assert_eq!(due(Some(longer), 121, 200), []);
}

fn index(monitors: &[CoveredMonitor]) -> TagIndex {
    TagIndex::new(monitors.iter().map(|one| (one.id, &one.tags)))
}

fn planned(windows: &[Window], open: &[OpenExclusion], minute: i64) -> Vec<ExclusionChange> {
    let monitors = [
        CoveredMonitor { id: monitor(1), tags: tags("db") },
        CoveredMonitor { id: monitor(2), tags: tags("web") },
    ];
    let recorded = Recorded { open: open.to_vec(), ..Recorded::default() };
    plan(windows, &index(&monitors), &recorded, at(minute)).changes
}

fn exclusion(number: u8, from: i64) -> OpenExclusion {
    OpenExclusion {
        monitor: monitor(1),
        from: at(from),
        window: MaintenanceId::new(Millis(0), [number; 10]),
        pauses: false,
        counts: false,
    }
}

fn close(from: i64, to: i64) -> ExclusionChange {
    ExclusionChange::Close { monitor: monitor(1), from: at(from), to: at(to) }
}

#[test]
fn what_is_recorded_begins_and_ends_with_the_window_even_if_it_is_noticed_late() {
    let once = [window(1, 10, 20, false)];
    assert_eq!(planned(&once, &[], 10), [ExclusionChange::Open(exclusion(1, 10))]);
    assert_eq!(planned(&once, &[], 13), [ExclusionChange::Open(exclusion(1, 10))]);
    let both = [ExclusionChange::Open(exclusion(1, 10)), close(10, 20)];
    assert_eq!(planned(&once, &[], 500), both);
    let at_end = [Window { due: Some(at(20)), ..window(1, 10, 20, false) }];
    assert_eq!(planned(&at_end, &[exclusion(1, 10)], 21), [close(10, 20)]);
    assert_eq!(planned(&at_end, &[], 21), []);
}

#[test]
fn adjacent_windows_are_recorded_without_a_gap() {
    let windows = [window(1, 10, 20, false), window(2, 20, 30, false)];
    let expected = [
        ExclusionChange::Open(exclusion(1, 10)),
        close(10, 20),
        ExclusionChange::Open(exclusion(2, 20)),
    ];
    assert_eq!(planned(&windows, &[], 25), expected);
}

#[test]
fn overlapping_windows_are_one_exclusion_while_nothing_else_changes() {
    let windows = [window(1, 10, 30, false), window(2, 15, 25, false)];
    let expected = [ExclusionChange::Open(exclusion(1, 10)), close(10, 30)];
    assert_eq!(planned(&windows, &[], 40), expected);
}

#[test]
fn an_edit_closes_what_is_open_as_of_now() {
    let moved = Window { due: Some(at(15)), ..window(1, 60, 70, false) };
    assert_eq!(planned(&[moved], &[exclusion(1, 10)], 15), [close(10, 15)]);
    let pausing = Window { checks: Checks::Pause, due: Some(at(15)), ..window(1, 10, 20, false) };
    let paused = OpenExclusion { pauses: true, ..exclusion(1, 15) };
    let expected = [close(10, 15), ExclusionChange::Open(paused)];
    assert_eq!(planned(&[pausing], &[exclusion(1, 10)], 15), expected);
}

#[test]
fn catching_up_is_bounded() {
    let mut frequent = window(1, 0, 1, false);
    let cron = crate::calendar::cron::Cron::parse("*/30 * * * *").expect("valid");
    let length = Some(Duration::from_secs(60));
    let starts = Start::Instant(at(0));
    let schedule = Schedule::new(starts, Zone::utc(), length, Rule::Cron(cron), Vec::new());
    frequent.schedule = schedule.expect("a schedule");
    let year = 366 * 1_440;
    let monitors = [CoveredMonitor { id: monitor(1), tags: tags("db") }];
    let mut windows = [frequent];
    let mut steps = 0;
    let mut open: Vec<OpenExclusion> = Vec::new();
    loop {
        let recorded = Recorded { open: open.clone(), ..Recorded::default() };
        let Plan { changes, done, .. } = plan(&windows, &index(&monitors), &recorded, at(year));
        assert!(changes.len() <= 200);
        steps += 1;
        for change in changes {
            match change {
                ExclusionChange::Open(exclusion) | ExclusionChange::Reopen { exclusion, .. } => {
                    open = vec![exclusion];
                }
                ExclusionChange::Close { .. } => open.clear(),
            }
        }
        if done == at(year) {
            break;
        }
        windows[0].due = Some(done);
    }
    // A week of 48 occurrences a day, not a year of them.
    assert!((3..=5).contains(&steps), "{steps}");
}

#[test]
fn turning_windows_off_and_on_continues_what_was_recorded() {
    let second = |number: i64| Millis(at(10).0 + number * 1_000);
    let windows =
        |number: u8, now: Millis| [Window { due: Some(now), ..window(number, 10, 100, false) }];
    let monitors = [CoveredMonitor { id: monitor(1), tags: tags("db") }];
    let reopened = |ended: (OpenExclusion, Millis), number: u8, now: Millis| {
        let recorded = Recorded { open: Vec::new(), ended: vec![ended] };
        match plan(&windows(number, now), &index(&monitors), &recorded, now).changes[..] {
            [ExclusionChange::Reopen { exclusion, replaces }] => {
                assert_eq!(
                    exclusion,
                    OpenExclusion { from: ended.0.from, ..self::exclusion(number, 10) }
                );
                Some(replaces)
            }
            [ExclusionChange::Open(_)] => None,
            ref other => panic!("{other:?}"),
        }
    };
    let one =
        |from: i64, to: i64| (OpenExclusion { from: second(from), ..exclusion(1, 10) }, second(to));
    assert_eq!(reopened(one(0, 300), 1, second(359)), Some(None));
    assert_eq!(reopened(one(0, 300), 1, second(360)), None, "too late");
    let other = exclusion(1, 10).window;
    assert_eq!(reopened(one(300, 359), 2, second(400)), Some(Some(other)), "short");
    assert_eq!(reopened(one(299, 359), 2, second(400)), None, "long");
    let muted = (OpenExclusion { counts: true, ..one(300, 301).0 }, second(301));
    assert_eq!(reopened(muted, 1, second(302)), None, "another meaning");
}

/// The work does not grow with windows times monitors times tags times tags, and what others
/// wait for is bounded.
#[test]
fn many_windows_with_many_tags_are_planned_in_bounded_steps() {
    let many = |kind: char, first: usize| {
        let tags: Vec<String> =
            (first..first + 50).map(|number| format!("{kind}{number}")).collect();
        Tags::of(tags.iter().map(String::as_str)).expect("tags")
    };
    let id = |number: u16| {
        let [high, low] = number.to_be_bytes();
        MonitorId::new(Millis(0), [high, low, 0, 0, 0, 0, 0, 0, 0, 0])
    };
    let monitors: Vec<CoveredMonitor> =
        (0..2_500).map(|number| CoveredMonitor { id: id(number), tags: many('m', 0) }).collect();
    let mut windows: Vec<Window> = (1..=100)
        .map(|number| {
            let parts =
                SelectorParts { tags: many('w', usize::from(number)), ..SelectorParts::default() };
            Window {
                selector: Selector::new(parts).expect("valid"),
                ..window(number, 10, 20, false)
            }
        })
        .collect();
    let everything = SelectorParts { everything: true, ..SelectorParts::default() };
    windows[7].selector = Selector::new(everything).expect("valid");
    // The first of them is due earlier: there, nothing changes.
    windows[0].due = Some(at(5));
    let monitors = index(&monitors);
    let mut recorded = Recorded::default();
    let mut steps = Vec::new();
    loop {
        let Plan { changes, done, is_partial } = plan(&windows, &monitors, &recorded, at(20));
        steps.push((changes.len(), (done.0 - BASE) / MINUTE, is_partial));
        for change in changes {
            match change {
                ExclusionChange::Open(exclusion) => {
                    assert_eq!((exclusion.window, exclusion.from), (windows[7].id, at(10)));
                    recorded.open.push(exclusion);
                }
                ExclusionChange::Close { monitor, from, to } => {
                    assert_eq!((from, to), (at(10), at(20)));
                    recorded.open.retain(|one| one.monitor != monitor);
                }
                other @ ExclusionChange::Reopen { .. } => panic!("{other:?}"),
            }
        }
        if !is_partial && done == at(20) {
            break;
        }
        windows.iter_mut().for_each(|window| window.due = window.due.map(|due| due.max(done)));
    }
    let of = |minute: i64| [(1_000, minute, true), (1_000, minute, true), (500, minute, false)];
    assert_eq!(steps, [of(10), of(20)].concat());
    assert!(recorded.open.is_empty());
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 64, failure_persistence: None, ..ProptestConfig::default() })]

    /// However often and late the clock looks, it records when the windows ran.
    #[test]
    fn what_is_recorded_does_not_depend_on_when_the_clock_looks(
        spans in prop::collection::vec((0..300_i64, 1..120_i64, any::<bool>()), 1..4),
        mut looks in prop::collection::vec(0..500_i64, 0..12),
    ) {
        let mut windows: Vec<Window> = (1..)
            .zip(&spans)
            .map(|(number, (from, length, is_muted))| Window {
                counts: if *is_muted { Counts::Counted } else { Counts::Excluded },
                ..window(number, *from, from + length, false)
            })
            .collect();
        looks.push(500);
        looks.sort_unstable();
        let monitors = [CoveredMonitor { id: monitor(1), tags: tags("db") }];
        let (mut open, mut closed): (Vec<OpenExclusion>, Vec<(OpenExclusion, Millis)>) = Default::default();
        for look in looks {
            if windows.iter().all(|window| window.due.is_none_or(|due| due > at(look))) {
                continue;
            }
            let recorded = Recorded { open: open.clone(), ..Recorded::default() };
            let Plan { changes, done, .. } = plan(&windows, &index(&monitors), &recorded, at(look));
            prop_assert_eq!(done, at(look));
            for change in changes {
                match change {
                    ExclusionChange::Open(exclusion)
                    | ExclusionChange::Reopen { exclusion, .. } => open.push(exclusion),
                    ExclusionChange::Close { from, to, .. } => {
                        let exclusion = open.pop().expect("it was open");
                        prop_assert_eq!(exclusion.from, from);
                        closed.push((exclusion, to));
                    }
                }
            }
            for window in &mut windows {
                window.due = next_change(window, done);
            }
        }
        prop_assert!(open.is_empty());
        for minute in 0..500 {
            let expected = cover(&windows, monitor(1), &tags("db"), at(minute));
            let recorded = closed.iter().find(|(exclusion, to)| exclusion.from <= at(minute) && at(minute) < *to);
            prop_assert_eq!(recorded.is_some(), expected.is_some(), "{}", minute);
            let is_excluded = recorded.is_some_and(|(exclusion, _)| !exclusion.counts);
            prop_assert_eq!(is_excluded, expected.is_some_and(|cover| cover.excluded), "{}", minute);
        }
    }
}

fn check_next_change(
    (from, length): (i64, i64),
    ended: Option<i64>,
    is_daily: bool,
) -> Result<(), TestCaseError> {
    let window =
        Window { skipped_until: ended.map(at), ..window(1, from, from + length, is_daily) };
    let mut last = at(0);
    for minute in 0..600 {
        let now = at(minute * 7);
        if let Some(next) = next_change(&window, now) {
            prop_assert!(next > now && next >= last);
            last = next;
            let middle = Millis(now.0 + (next.0 - now.0) / 2);
            prop_assert_eq!(window.at(middle).is_some(), window.at(now).is_some());
        }
    }
    Ok(())
}

/// Checks random windows: a few with every run of the tests, all of them with
/// `cargo nextest run --release -p wakeful-core --run-ignored all -E 'test(next_change)'`.
fn run(cases: u32) {
    let mut runner = proptest::test_runner::TestRunner::new(ProptestConfig {
        cases,
        failure_persistence: None,
        ..ProptestConfig::default()
    });
    let case = ((0..2_000_i64, 1..1_440_i64), prop::option::of(0..3_000_i64), any::<bool>());
    let check = |(span, ended, is_daily)| check_next_change(span, ended, is_daily);
    runner.run(&case, check).expect("agrees");
}

#[test]
fn the_next_change_never_goes_backwards_and_never_skips() {
    run(64);
}

#[test]
#[ignore = "10,000 cases; run it in release"]
fn the_next_change_never_goes_backwards_and_never_skips_10_000_times() {
    run(10_000);
}
