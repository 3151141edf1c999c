//! Sequences of checks and their outcomes. A sequence is a starting status with
//! settings, then events with their times; the outcome is the final status,
//! each notification on the way, and the re-check that the last event requests.

use proptest::prelude::*;

use super::*;
use crate::health::{Degraded, HealthChangeKind};
use crate::observation::{Certificate, Contact, FaultKind};
use crate::reason::Reason;
use crate::region::Region;

#[test]
fn one_failure_is_rechecked_before_it_counts() {
    check("up; fail@0", "up, recheck@5s");
    check("up; fail@0; fail@5s", "down, notify down");
    check("up; fail@0; ok@5s", "up");
    check("up; fail@0; ok@5s; fail@60s", "up, recheck@65s");
}

#[test]
fn the_number_of_retries_is_the_number_of_rechecks() {
    check("up retries=0; fail@0", "down, notify down");
    check("up retries=2; fail@0; fail@5s", "up, recheck@10s");
    check("up retries=2; fail@0; fail@5s; ok@10s; fail@60s; fail@65s", "up, recheck@70s");
    check("up retries=2; fail@0; fail@5s; fail@10s", "down, notify down");
}

#[test]
fn an_outage_notifies_once_and_recovery_counts_at_once() {
    check("down", "down");
    check("down; fail@0; fail@60s; fail@120s", "down");
    check("down; ok@0", "up, notify up");
    check("up; fail@0; fail@5s; fail@60s; ok@120s; ok@180s", "up, notify down, notify up");
    check("down; ok@0; fail@60s", "up, notify up, recheck@65s");
}

#[test]
fn the_first_verdict_notifies_only_when_it_is_down() {
    check("pending", "pending");
    check("pending; ok@0", "up");
    check("pending; fail@0", "pending, recheck@5s");
    check("pending; fail@0; fail@5s", "down, notify down");
    check("pending; fail@0; ok@5s", "up");
    check("pending; ok@0; fail@60s; fail@65s; ok@120s", "up, notify down, notify up");
}

#[test]
fn upside_down_reverses_every_verdict() {
    check("up upside-down; ok@0", "up, recheck@5s");
    check("up upside-down; ok@0; ok@5s", "down, notify down");
    check("down upside-down; fail@0", "up, notify up");
    check("pending upside-down; fail@0", "up");
    check("up upside-down; missed@0", "up");
    check("down upside-down; missed@0", "up, notify up");
    check("pending upside-down; missed@0", "up");
    check("up upside-down; report-up@0", "down, notify down");
    check("down upside-down; report-down@0", "up, notify up");
}

#[test]
fn slow_checks_and_warnings_make_a_monitor_degraded() {
    check("up slow=500; slow@0; slow@10s", "up");
    check("up slow=500; slow@0; slow@10s; ok@20s; slow@30s", "up, degraded@0s");
    check("up; slow@0; slow@10s; slow@20s", "up");
    // The warnings of assertions count without any settings.
    check("up; warn@0; warn@10s; warn@20s", "up, degraded@0s");
    check("pending; warn@0; warn@10s; warn@20s", "up, degraded@0s");
    check(
        "up; warn@0; warn@10s; warn@20s; ok@30s; ok@40s; ok@50s; ok@60s",
        "up, degraded@0s, restored",
    );
    // Neither a fault nor a failure that is not confirmed says anything about it.
    check("up; warn@0; fault@1s; warn@10s; fail@15s; warn@20s", "up, degraded@0s");
    check("up upside-down; fail@0; fail@1s; fail@2s", "up");
}

#[test]
fn a_degraded_monitor_that_goes_down_has_one_notification() {
    check(
        "up; warn@0; warn@10s; warn@20s; fail@30s; fail@35s",
        "down, degraded@0s, notify down, degraded until down",
    );
    check(
        "up; warn@0; warn@10s; fail@30s; fail@35s; ok@40s; warn@50s",
        "up, notify down, notify up",
    );
    check("down; warn@0; warn@10s; warn@20s", "up, notify up, degraded@0s");
}

#[test]
fn a_report_of_degraded_takes_effect_at_once() {
    check("up; report-degraded@0", "up, degraded@0s");
    check("up; report-degraded@0; report-up@10s", "up, degraded@0s, restored");
    check("pending; report-degraded@0; report-degraded@9s", "up, degraded@0s");
    check("down; report-degraded@0", "up, notify up, degraded@0s");
    check(
        "up; report-degraded@0; report-down@5s",
        "down, degraded@0s, notify down, degraded until down",
    );
    check("up upside-down; report-degraded@0", "down, notify down");
}

#[test]
fn a_degraded_heartbeat_says_what_is_wrong_without_a_number_that_was_measured() {
    let (state, steps) = run_story("up slow=500; slow@0; warn@10s; slow@20s");
    let beats: Vec<(Beat, &str)> =
        steps.iter().map(|step| (step.heartbeat.status, step.heartbeat.message.as_str())).collect();
    assert_eq!(
        beats,
        [
            (Beat::Degraded, "slow at 0; slower than 500 ms"),
            (Beat::Degraded, "warn at 10000; odd"),
            (Beat::Degraded, "slow at 20000; slower than 500 ms"),
        ]
    );
    assert_eq!(state.health(), Health::Degraded);
    assert_eq!(state.reason(), Some(Reason::Slow));
    assert_eq!(state.degradation().expect("degraded").since, Millis(0));
}

#[test]
fn a_fault_is_never_a_verdict() {
    for start in ["pending", "up", "down"] {
        for mode in ["", " upside-down"] {
            check(&format!("{start}{mode} retries=0; fault@0; fault@60s; fault@120s"), start);
        }
    }
}

#[test]
fn a_fault_neither_confirms_nor_clears_a_failure() {
    check("up; fail@0; fault@5s", "up");
    check("up; fail@0; fault@5s; fail@60s", "down, notify down");
    check("up; fail@0; fault@5s; ok@60s; fail@120s", "up, recheck@125s");
}

#[test]
fn a_fault_keeps_the_results_of_regions_and_upside_down_reverses_them() {
    let beat = |name: &str, status| RegionBeat {
        region: Region::parse(name).expect("a region"),
        status,
        load_time: None,
        message: String::new(),
    };
    let saw = vec![beat("eu", Beat::Down), beat("us", Beat::Unknown)];
    let fault = Fault::new(FaultKind::Probe, "too few could check").with_regions(saw.clone());
    for (upside_down, expected) in
        [(false, saw), (true, vec![beat("eu", Beat::Up), beat("us", Beat::Unknown)])]
    {
        let policy = Policy { upside_down, ..plain() };
        let input = Input::Fault(fault.clone());
        let heartbeat = step(&State::default(), input, &policy, Millis(0)).heartbeat;
        assert_eq!((heartbeat.status, heartbeat.regions), (Beat::Unknown, expected));
    }
}

#[test]
fn a_report_counts_at_once() {
    check("up; report-down@0", "down, notify down");
    check("down; report-up@0", "up, notify up");
    check("pending; report-up@0", "up");
    check("pending; report-down@0", "down, notify down");
    check("up; fail@0; report-up@1s; fail@5s", "up, recheck@10s");
    check("up; report-down@0; report-down@1s", "down, notify down");
    check("up; report-down@0; ok@10s", "up, notify down, notify up");
}

#[test]
fn a_missed_heartbeat_goes_down_without_retries() {
    check("up; missed@66s", "down, notify down");
    check("pending; missed@66s", "down, notify down");
    check("up; missed@66s; missed@126s", "down, notify down");
    check("up; missed@66s; report-up@70s", "up, notify down, notify up");
}

#[test]
fn an_outage_begins_with_its_first_failing_check() {
    let (_, steps) =
        run_story("up retries=2; ok@0; fail@60s; fail@65s; fail@70s; fail@130s; ok@190s");
    let changes: Vec<&Change> = steps.iter().filter_map(|step| step.change.as_ref()).collect();
    let [down, up] = changes[..] else { panic!("{changes:?}") };
    let outage = Outage {
        started: Millis(60_000),
        cause: "fail at 60000".to_owned(),
        reason: Some(Reason::ConnectRefused),
    };
    assert_eq!(
        (down.previous, down.status, &down.outage),
        (Status::Up, Status::Down, &Some(outage.clone()))
    );
    assert_eq!((up.previous, up.status, &up.outage), (Status::Down, Status::Up, &Some(outage)));
    assert!(down.opens_alert() && !down.closes_alert() && down.notifies());
    assert!(up.closes_alert() && !up.opens_alert() && up.notifies());
}

#[test]
fn the_first_verdict_being_up_opens_and_closes_nothing() {
    for story in ["pending; ok@7s", "pending; fail@2s; ok@7s"] {
        let (_, steps) = run_story(story);
        let change = steps.last().and_then(|step| step.change.as_ref()).expect("turns up");
        assert!(!change.opens_alert() && !change.closes_alert() && !change.notifies(), "{story}");
        assert_eq!(change.outage, None, "{story}");
    }
}

#[test]
fn a_heartbeat_shows_the_result_confirmed_or_not() {
    let (state, steps) = run_story("up; ok@0; fail@60s; fault@65s; report-down@70s; missed@80s");
    let beats: Vec<Beat> = steps.iter().map(|step| step.heartbeat.status).collect();
    assert_eq!(beats, [Beat::Up, Beat::Down, Beat::Unknown, Beat::Down, Beat::Down]);
    let messages: Vec<&str> = steps.iter().map(|step| step.heartbeat.message.as_str()).collect();
    assert_eq!(
        messages,
        [
            "ok at 0",
            "fail at 60000",
            "fault at 65000",
            "reported down",
            "nothing was reported for 66 s"
        ]
    );
    assert_eq!(state.last_message, "nothing was reported for 66 s");
}

#[test]
fn a_check_that_maintenance_pauses_changes_nothing() {
    let (before, _) = run_story("up; ok@0; fail@60s");
    let input = Input::Fault(Fault::new(FaultKind::Maintenance, "maintenance: Backups"));
    let step = step(&before, input, &plain(), Millis(90_000));
    assert_eq!(step.state, before);
    assert_eq!(step.heartbeat.status, Beat::Unknown);
    assert_eq!(step.heartbeat.message, "maintenance: Backups");
    assert_eq!((step.change, step.recheck_after), (None, None));
}

#[test]
fn a_fault_changes_only_the_message() {
    let (before, _) = run_story("up; ok@0; fail@60s");
    let (after, _) = run_story("up; ok@0; fail@60s; fault@65s");
    let blocked = State { last_message: "fault at 65000".to_owned(), blocked: true, ..before };
    assert_eq!(after, blocked);
}

#[test]
fn since_is_when_the_status_changed() {
    for (story, since) in [
        ("pending; fail@1s", None),
        ("pending; ok@7s", Some(7)),
        ("pending; ok@7s; ok@60s; fail@120s; fault@125s", Some(7)),
        ("pending; ok@7s; fail@60s; fail@65s; fail@120s", Some(65)),
    ] {
        let (state, _) = run_story(story);
        assert_eq!(state.since, since.map(|seconds| Millis(seconds * 1_000)), "{story}");
    }
}

#[test]
fn the_state_follows_the_last_check() {
    let (state, _) = run_story("up; ok@3s");
    assert_eq!(state.last_check, Some(Millis(3_000)));
    assert_eq!(state.load_time, Some(Duration::from_millis(12)));
    let (state, _) = run_story("up; ok@3s; fail@60s");
    assert_eq!((state.last_check, state.load_time), (Some(Millis(60_000)), None));
}

#[test]
fn an_upside_down_alert_says_why_a_passing_check_counts_as_down() {
    let (state, _) = run_story("up upside-down; ok@0; ok@5s");
    assert_eq!(state.last_message, "ok at 5000 (upside-down mode: this counts as down)");
    let (state, _) = run_story("up upside-down; fail@0");
    assert_eq!(state.last_message, "fail at 0");
}

#[test]
fn an_unconfirmed_failure_from_before_a_pause_confirms_nothing() {
    let (unconfirmed, _) = run_story("up; fail@0");
    let policy = Policy { retries: 1, ..plain() };
    let after = step(
        &unconfirmed.without_unconfirmed_failures(),
        event("fail", 9_000),
        &policy,
        Millis(9_000),
    );
    assert_eq!(after.state.status, Status::Up);
    let (down, _) = run_story("up; fail@0; fail@5s");
    assert_eq!(down.clone().without_unconfirmed_failures(), down);
}

#[test]
fn certificate_warnings_come_with_checks_that_see_the_certificate() {
    let day = 86_400_000;
    let shown = |left: i64, now: i64| {
        let certificate = Certificate {
            subject: "a.example".to_owned(),
            issuer: "CA".to_owned(),
            names: Vec::new(),
            not_after: Millis(now + left),
            trusted: true,
            chain: Vec::new(),
        };
        let up = Observation::up(Duration::ZERO, "200 OK");
        Input::Observation(up.with_certificate(Some(certificate)))
    };
    let watching = Policy { certificate_warnings: true, ..plain() };
    let now = Millis(40 * day);
    let first = step(&State::default(), shown(10 * day, now.0), &watching, now);
    assert_eq!(first.warning.as_ref().map(|warning| warning.days), Some(14));
    let second = step(&first.state, shown(10 * day, now.0), &watching, now);
    assert_eq!(second.warning, None);
    let silent = step(&State::default(), shown(10 * day, now.0), &plain(), now);
    assert_eq!(silent.warning, None);
}

#[test]
fn a_value_that_changes_is_reported_once_and_a_pinned_one_fails_until_it_is_accepted() {
    let seen = |hash: &str, pinned, accepted: u32, fails_as| {
        let mut up = Observation::up(Duration::ZERO, "200 OK");
        up.fingerprints.push(Fingerprint {
            key: format!("{accepted} body"),
            hash: hash.to_owned(),
            label: "body".to_owned(),
            pinned,
            fails_as,
            index: Some(0),
        });
        Input::Observation(up)
    };
    let policy = Policy { retries: 0, ..plain() };
    let run = |state: &State, input| step(state, input, &policy, Millis(0));
    let plainly = |hash| seen(hash, false, 0, FailsAs::Down);
    let first = run(&State::default(), plainly("a"));
    assert_eq!((first.heartbeat.status, &first.changed), (Beat::Up, &None));
    let other = run(&first.state, plainly("b"));
    assert_eq!(other.changed.as_deref(), Some("body has changed"));
    assert_eq!(other.heartbeat.status, Beat::Degraded);
    assert_eq!(other.heartbeat.message, "200 OK; body has changed");
    assert_eq!((first.differing.len(), other.differing.len()), (0, 1));
    let again = run(&other.state, plainly("b"));
    assert_eq!((again.heartbeat.status, again.changed), (Beat::Up, None));
    // A failure between them is not a value.
    let failed = Observation::down(Contact::Answered, Reason::HttpStatus, "503");
    let failed = run(&again.state, Input::Observation(failed));
    assert_eq!(run(&failed.state, plainly("b")).changed, None);

    let pinned = |hash, accepted| seen(hash, true, accepted, FailsAs::Down);
    let known = run(&State::default(), pinned("a", 0)).state;
    let differs = run(&known, pinned("b", 0));
    assert_eq!((differs.state.status, differs.changed), (Status::Down, None));
    assert_eq!(differs.state.reason(), Some(Reason::Changed));
    assert_eq!(run(&differs.state, pinned("b", 0)).state.status, Status::Down);
    let accepted = run(&differs.state, pinned("b", 1));
    assert_eq!(accepted.state.status, Status::Up);
    assert_eq!(run(&accepted.state, pinned("a", 1)).state.status, Status::Down);
    let warned = run(&known, seen("b", true, 0, FailsAs::Degraded));
    assert_eq!((warned.heartbeat.status, warned.changed), (Beat::Degraded, None));
}

#[test]
fn a_report_names_its_status_in_any_case() {
    for (text, up) in [("up", true), (" UP ", true), ("Down", false)] {
        assert_eq!(Report::parse(text).expect("known").up, up);
    }
    for text in ["", "pending", "ok", "up down"] {
        assert!(Report::parse(text).is_err(), "{text:?}");
    }
    let report = Report::parse("up").expect("known").with_message("a\r\nb");
    assert_eq!(report.message, "a  b");
}

proptest! {
    #[test]
    fn no_streak_of_faults_changes_a_status(start in story(), faults in 1_usize..50, upside_down: bool) {
        let policy = Policy { retries: 0, upside_down, ..plain() };
        let before = run(State::default(), &start, &policy).0;
        let (after, steps) = run(before.clone(), &vec!["fault"; faults], &policy);
        prop_assert_eq!(after.status, before.status);
        prop_assert_eq!(after.failing, before.failing);
        prop_assert!(steps.iter().all(|step| step.change.is_none() && step.recheck_after.is_none()));
    }

    #[test]
    fn events_alternate_and_begin_with_down(events in story(), retries in 0_u16..4, upside_down: bool) {
        let policy = Policy { retries, upside_down, ..plain() };
        let (_, steps) = run(State::default(), &events, &policy);
        let changes = steps.iter().filter_map(|step| step.change.as_ref()).filter(|c| c.notifies());
        for (at, change) in changes.enumerate() {
            let expected = if at % 2 == 0 { Status::Down } else { Status::Up };
            prop_assert_eq!(change.status, expected);
            prop_assert!(change.outage.is_some());
        }
    }

    #[test]
    fn only_a_down_status_has_an_outage(events in story(), retries in 0_u16..4) {
        let policy = Policy { retries, ..plain() };
        let (_, steps) = run(State::default(), &events, &policy);
        for step in steps {
            let row = step.state.failing.as_ref();
            prop_assert!(step.state.status != Status::Down || row.is_some());
            prop_assert_eq!(
                step.recheck_after.is_some(),
                step.heartbeat.status == Beat::Down && step.state.status != Status::Down
            );
            prop_assert!(row.is_none_or(|row| step.state.status == Status::Down || row.checks <= retries));
        }
    }

    #[test]
    fn a_state_continues_the_same_after_it_was_stored(events in story(), more in story()) {
        let (state, _) = run(State::default(), &events, &plain());
        let text = serde_json::to_string(&state).expect("serializes");
        let read: State = serde_json::from_str(&text).expect("reads");
        prop_assert_eq!(&read, &state);
        prop_assert_eq!(run(read, &more, &plain()), run(state, &more, &plain()));
    }
}

fn story() -> impl Strategy<Value = Vec<&'static str>> {
    let event = proptest::sample::select(vec![
        "ok",
        "fail",
        "fail",
        "fault",
        "report-up",
        "report-degraded",
        "report-down",
        "missed",
        "warn",
        "warn",
    ]);
    proptest::collection::vec(event, 0..40)
}

/// Runs events a second apart.
fn run(start: State, events: &[&str], policy: &Policy) -> (State, Vec<Step>) {
    let mut state = start;
    let mut steps = Vec::new();
    for (at, word) in (0_i64..).step_by(1_000).zip(events) {
        let step = step(&state, event(word, at), policy, Millis(at));
        state = step.state.clone();
        steps.push(step);
    }
    (state, steps)
}

#[track_caller]
fn check(story: &str, outcome: &str) {
    assert_eq!(summary(story), outcome, "{story}");
}

fn summary(story: &str) -> String {
    let (state, steps) = run_story(story);
    let mut words = vec![state.status.as_str().to_owned()];
    for step in &steps {
        if let Some(change) = step.change.as_ref().filter(|change| change.notifies()) {
            words.push(format!("notify {}", change.status.as_str()));
        }
        if let Some(change) = &step.health_change {
            let since = change.degradation.since.0 / 1_000;
            words.push(match change.kind {
                HealthChangeKind::Degraded => format!("degraded@{since}s"),
                HealthChangeKind::Restored => "restored".to_owned(),
                HealthChangeKind::WentDown => "degraded until down".to_owned(),
            });
        }
    }
    if let Some(last) = steps.last()
        && let Some(after) = last.recheck_after
    {
        words.push(format!("recheck@{}s", last.heartbeat.at.after(after).0 / 1_000));
    }
    words.join(", ")
}

fn run_story(story: &str) -> (State, Vec<Step>) {
    let (start, events) = story.split_once(';').unwrap_or((story, ""));
    let (mut state, policy) = begin(start);
    let mut steps = Vec::new();
    for text in events.split(';').map(str::trim).filter(|text| !text.is_empty()) {
        let (word, at) = text.split_once('@').expect("event@time");
        let at = seconds(at) * 1_000;
        let step = step(&state, event(word, at), &policy, Millis(at));
        state = step.state.clone();
        steps.push(step);
    }
    (state, steps)
}

fn begin(words: &str) -> (State, Policy) {
    let mut words = words.split_whitespace();
    let status = words.next().and_then(Status::parse).expect("a starting status");
    let failing = (status == Status::Down).then(|| {
        Box::new(FailureStreak {
            checks: 2,
            started: Millis(-60_000),
            cause: "earlier".to_owned(),
            reason: None,
        })
    });
    let mut policy = plain();
    for word in words {
        match word.split_once('=') {
            None if word == "upside-down" => policy.upside_down = true,
            Some(("slow", millis)) => {
                let slow = millis.parse().expect("a number");
                let degraded = Degraded { slow, ..Degraded::default() };
                policy.degraded = Some(degraded.watch(None));
            }
            Some(("retries", number)) => policy.retries = number.parse().expect("a number"),
            _ => panic!("no setting: {word}"),
        }
    }
    (State { status, failing, ..State::default() }, policy)
}

fn plain() -> Policy {
    Policy {
        retries: 1,
        retry_interval: Duration::from_secs(5),
        upside_down: false,
        certificate_warnings: false,
        degraded: None,
    }
}

fn event(word: &str, at: i64) -> Input {
    let message = format!("{word} at {at}");
    match word {
        "ok" => Input::Observation(Observation::up(Duration::from_millis(12), message)),
        "slow" => Input::Observation(Observation::up(Duration::from_millis(900), message)),
        "warn" => Input::Observation(Observation {
            warnings: vec![Warning { reason: Reason::Assertion, words: "odd".to_owned() }],
            ..Observation::up(Duration::from_millis(12), message)
        }),
        "fail" => {
            Input::Observation(Observation::down(Contact::Refused, Reason::ConnectRefused, message))
        }
        "fault" => Input::Fault(Fault::new(FaultKind::Network, message)),
        "report-up" => Input::Report(Report::parse("up").expect("known")),
        "report-degraded" => Input::Report(Report::parse("degraded").expect("known")),
        "report-down" => Input::Report(Report::parse("down").expect("known")),
        "missed" => Input::Missed(Duration::from_secs(66)),
        other => panic!("no event: {other}"),
    }
}

fn seconds(text: &str) -> i64 {
    text.trim_end_matches('s').parse().expect("a number of seconds")
}
