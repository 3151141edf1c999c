use proptest::prelude::*;

use super::*;
use crate::history::rollup::Distribution;

const SECOND: i64 = 1_000;

fn warning() -> Warning {
    Warning { reason: Reason::Slow, words: "slower than 500 ms".to_owned() }
}

fn watch(over: u8, of: u8) -> Watch {
    Watch { over, of, ..Watch::default() }
}

/// What changes with each check, one per second: `!` is affected, `.` is not. `D@s` is degraded
/// since second s, `R` restored.
fn changes(signs: &str, watch: &Watch) -> String {
    let (mut state, mut text) = (None::<Box<Row>>, Vec::new());
    for (at, sign) in (0_i64..).zip(signs.chars()) {
        let warning = (sign == '!').then(warning);
        let (next, change) = row(state.as_deref(), warning.as_ref(), watch, Millis(at * SECOND));
        state = next;
        if let Some(change) = change {
            let since = change.degradation.since.0 / SECOND;
            text.push(match change.kind {
                HealthChangeKind::Degraded => format!("{at}: D@{since}"),
                HealthChangeKind::Restored => format!("{at}: R@{since}"),
                HealthChangeKind::WentDown => "down".to_owned(),
            });
        }
    }
    text.join(", ")
}

#[test]
fn so_many_of_the_last_checks_make_a_monitor_degraded_and_few_restore_it() {
    for (signs, over, of, expected) in [
        ("!!.!", 3, 5, "3: D@0"),
        ("!.!..!", 3, 5, ""),
        ("!....!", 3, 5, ""),
        ("!.!.!", 3, 5, "4: D@0"),
        (".!.!..!.!", 3, 5, ""),
        (".!.!..!.!!", 3, 5, "9: D@6"),
        // One of the three is left, which is half of what is needed, rounded down.
        ("!!!....", 3, 5, "2: D@0, 6: R@0"),
        ("!!!...", 3, 5, "2: D@0"),
        // The last of the old ones counts, but from the time it was restored on.
        ("!!!....!!", 3, 5, "2: D@0, 6: R@0"),
        ("!!!....!!!", 3, 5, "2: D@0, 6: R@0, 9: D@7"),
        ("!", 1, 1, "0: D@0"),
        ("!.!", 1, 1, "0: D@0, 1: R@0, 2: D@2"),
        ("!.", 1, 3, "0: D@0"),
        ("!...", 1, 3, "0: D@0, 3: R@0"),
        ("!!..", 2, 2, "1: D@0, 3: R@0"),
    ] {
        assert_eq!(changes(signs, &watch(over, of)), expected, "{signs} {over} of {of}");
    }
    let long = format!("{}{}", "!".repeat(32), ".".repeat(32));
    assert_eq!(changes(&long, &watch(32, 32)), "31: D@0, 48: R@0");
}

#[test]
fn a_report_takes_effect_at_once() {
    let (state, change) = report(None, Some(&warning()), &Watch::default(), Millis(5));
    let change = change.expect("a change");
    assert_eq!((change.kind, change.degradation.since), (HealthChangeKind::Degraded, Millis(5)));
    let (same, none) = report(state.as_deref(), Some(&warning()), &Watch::default(), Millis(6));
    assert_eq!((&same, none), (&state, None));
    let (end, change) = report(same.as_deref(), None, &Watch::default(), Millis(7));
    assert_eq!((end, change.expect("a change").kind), (None, HealthChangeKind::Restored));
    assert_eq!(report(None, None, &Watch::default(), Millis(8)), (None, None));
}

#[test]
fn a_monitor_that_goes_down_is_no_longer_degraded_which_is_not_notified() {
    let (state, _) = report(None, Some(&warning()), &Watch::default(), Millis(5));
    let change = went_down(state.as_deref(), &Watch::default()).expect("a change");
    assert_eq!((change.kind, change.notify), (HealthChangeKind::WentDown, true));
    assert_eq!(went_down(None, &Watch::default()), None);
}

/// So many load times of each of these milliseconds.
fn week(count: u64, millis: &[u64]) -> LoadTimes {
    let mut times = LoadTimes::default();
    let mut load = Distribution::default();
    for span in millis {
        for _ in 0..count {
            load.count += 1;
            load.sketch.add(span * 1_000);
        }
    }
    times.shortest = millis.iter().min().copied().unwrap_or(0) * 1_000;
    times.longest = millis.iter().max().copied().unwrap_or(0) * 1_000;
    times.load = load;
    times
}

#[test]
fn what_is_usual_needs_a_day_and_a_thousand_checks() {
    let day = Duration::from_secs(86_400);
    assert_eq!(baseline(&week(999, &[100]), day), None);
    assert_eq!(baseline(&week(1_000, &[100]), day - Duration::from_secs(1)), None);
    let usual = baseline(&week(1_000, &[100]), day).expect("usual");
    assert_eq!((usual.p50, usual.p95), (100_000, 100_000));
}

#[test]
fn the_limit_is_the_smaller_of_the_fixed_one_and_the_multiple_of_the_usual_time() {
    let usual = |p50: u64, p95: u64| Some(Usual { p50: p50 * 1_000, p95: p95 * 1_000 });
    for (slow, factor, usual, expected) in [
        (0, 0, usual(100, 200), None),
        (1_500, 0, usual(100, 200), Some((1_500, Reason::Slow))),
        (1_500, 300, usual(100, 200), Some((600, Reason::SlowerThanUsual))),
        (500, 300, usual(100, 200), Some((500, Reason::Slow))),
        (0, 300, None, None),
        // A target that takes a millisecond is not slow at three.
        (0, 300, usual(1, 1), Some((51, Reason::SlowerThanUsual))),
        (0, 120, usual(10, 100), Some((120, Reason::SlowerThanUsual))),
    ] {
        let policy = Degraded { slow, factor, ..Degraded::default() };
        let found = limit(&policy, usual).map(|one| (one.above.as_millis() as u64, one.reason));
        assert_eq!(found, expected, "{slow} {factor}");
    }
    let watch = Degraded { slow: 500, ..Degraded::default() }.watch(None);
    assert_eq!(watch.slow(Some(Duration::from_millis(500))), None);
    assert_eq!(watch.slow(None), None);
    assert_eq!(watch.slow(Some(Duration::from_millis(501))), Some(warning()));
}

#[test]
fn settings_are_bounded() {
    assert_eq!(Degraded::parse_factor(3.0), Ok(300));
    assert_eq!(Degraded::parse_factor(0.0), Ok(0));
    for factor in [0.1, 1.1, 20.1, -3.0, f64::NAN, f64::INFINITY] {
        assert!(Degraded::parse_factor(factor).is_err(), "{factor}");
    }
    assert!(Degraded::parse_window(0).is_err() && Degraded::parse_window(33).is_err());
    assert!(Degraded::parse_slow(3_600_001).is_err() && Degraded::parse_regions(33).is_err());
}

proptest! {
    #[test]
    fn a_row_is_bounded_and_its_changes_alternate(
        signs in "[!.]{0,200}", over in 1_u8..=32, of in 1_u8..=32,
    ) {
        let watch = watch(over.min(of), of);
        let mut state = None::<Box<Row>>;
        let mut was_degraded = false;
        let mut ended = Millis(i64::MIN);
        for (at, sign) in (0_i64..).zip(signs.chars()) {
            let (now, warning) = (Millis(at * SECOND), (sign == '!').then(warning));
            let (next, change) = row(state.as_deref(), warning.as_ref(), &watch, now);
            if let Some(change) = change {
                let is_degraded = change.kind == HealthChangeKind::Degraded;
                prop_assert_ne!(is_degraded, was_degraded);
                was_degraded = is_degraded;
                if is_degraded {
                    prop_assert!(ended <= change.degradation.since, "no two of them overlap");
                    prop_assert!(change.degradation.since <= now);
                } else {
                    ended = now;
                }
            }
            if let Some(row) = &next {
                prop_assert_eq!(row.affected.len(), row.recent.count_ones() as usize);
                prop_assert!(row.affected.len() <= usize::from(of));
                let text = serde_json::to_string(row).expect("serializes");
                prop_assert_eq!(&serde_json::from_str::<Row>(&text).expect("reads"), &**row);
            }
            prop_assert_eq!(
                next.as_ref().is_some_and(|row| row.degraded.is_some()), was_degraded
            );
            state = next;
        }
    }
}
