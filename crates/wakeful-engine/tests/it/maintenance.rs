//! Maintenance windows that pause checks, and checks at their start and end.

use std::time::{Duration, Instant};
use tokio_util::sync::CancellationToken;
use wakeful_core::calendar::zone::Zone;
use wakeful_core::calendar::{Rule, Schedule, Start};
use wakeful_core::heartbeat::Beat;
use wakeful_core::id::MonitorId;
use wakeful_core::maintenance::{Alerts, Announce, Checks, Counts, Window};
use wakeful_core::monitors::{Interval, Tags};
use wakeful_core::selector::{Selector, SelectorParts};
use wakeful_core::time::Clock as _;
use wakeful_core::verdict::Status;
use wakeful_engine::alerting::maintenance_clock;
use wakeful_engine::{Error, Event, LiveEvents, MonitorDraft, WindowDraft, WindowView};
use wakeful_testkit::both_databases;

use crate::fixture::{Fixture, Target, tcp, wait_for_status};

/// A window for these monitors from now on, until it is ended.
pub(crate) fn window(fixture: &Fixture, select: SelectorParts, checks: Checks) -> WindowDraft {
    let starts = Start::Instant(fixture.wall_clock.now());
    let schedule = Schedule::new(starts, Zone::utc(), None, Rule::Once, Vec::new());
    WindowDraft {
        name: "Move".to_owned(),
        description: String::new(),
        isactive: true,
        selector: Selector::new(select).expect("a selector"),
        schedule: schedule.expect("a schedule"),
        checks,
        counts: Counts::Excluded,
        alerts: Alerts::Suppress,
        dependents: true,
        grace: Duration::ZERO,
        announce: Announce::default(),
    }
}

pub(crate) async fn save(fixture: &Fixture, draft: WindowDraft) -> WindowView {
    let merge = |_: Option<&Window>| Ok::<_, Error>(draft.clone());
    fixture.engine.save_maintenance(&fixture.ann(), None, merge).await.expect("saved")
}

pub(crate) fn only(id: MonitorId) -> SelectorParts {
    SelectorParts { monitors: vec![id], ..SelectorParts::default() }
}

/// The message of the next heartbeat with this status.
async fn next_beat(events: &mut LiveEvents, wanted: Beat) -> String {
    loop {
        match events.next().await {
            Some(Event::Heartbeat { heartbeat, .. }) if heartbeat.status == wanted => {
                return heartbeat.message;
            }
            Some(_) => {}
            None => panic!("the events ended"),
        }
    }
}

/// The result of `work`, during which the maintenance clock runs.
async fn with_clock<T>(fixture: &Fixture, work: impl Future<Output = T>) -> T {
    let stop = CancellationToken::new();
    let clock = maintenance_clock::run(fixture.engine.clone(), stop.clone());
    let work = async {
        let done = work.await;
        stop.cancel();
        done
    };
    tokio::join!(clock, work).1
}

both_databases! {
    async fn a_window_that_pauses_checks_makes_no_connection(setup: Setup) {
        let fixture = Fixture::start(&setup).await;
        let stop = CancellationToken::new();
        let clock = maintenance_clock::run(fixture.engine.clone(), stop.clone());
        let story = async {
            let target = Target::new().await;
            let mut events = fixture.events().await;
            let id = fixture.save(tcp(target.address)).await.monitor.id;
            wait_for_status(&mut events, id, Status::Up).await;
            let view = save(&fixture, window(&fixture, only(id), Checks::Pause)).await;
            assert_eq!(next_beat(&mut events, Beat::Unknown).await, "maintenance: Move");
            let before = target.count();
            assert_eq!(next_beat(&mut events, Beat::Unknown).await, "maintenance: Move");
            let by_hand = fixture.engine.check_now(&fixture.ann(), id).await.expect("checked").heartbeat;
            assert_eq!((by_hand.status, by_hand.message.as_str()), (Beat::Unknown, "maintenance: Move"));
            assert_eq!(target.count(), before, "no connection is made");
            let state = fixture.view(id).await.state;
            assert_eq!((state.status, state.blocked), (Status::Up, false));
            fixture.engine.end_maintenance(&fixture.ann(), view.window.id).await.expect("ended");
            next_beat(&mut events, Beat::Up).await;
            stop.cancel();
        };
        tokio::join!(clock, story);
        fixture.stop().await;
    }

    async fn a_window_that_began_or_ended_while_the_clock_did_not_run_is_followed(setup: Setup) {
        let fixture = Fixture::start(&setup).await;
        let target = Target::new().await;
        let mut events = fixture.events().await;
        let id = fixture.save(tcp(target.address)).await.monitor.id;
        wait_for_status(&mut events, id, Status::Up).await;
        let view = save(&fixture, window(&fixture, only(id), Checks::Pause)).await;
        // Longer than changes are read again: a loop that panics often starts again after a minute.
        fixture.wall_clock.push(60_000);
        let paused = with_clock(&fixture, next_beat(&mut events, Beat::Unknown)).await;
        assert_eq!(paused, "maintenance: Move");
        fixture.engine.end_maintenance(&fixture.ann(), view.window.id).await.expect("ended");
        fixture.wall_clock.push(60_000);
        with_clock(&fixture, next_beat(&mut events, Beat::Up)).await;
        fixture.stop().await;
    }

    async fn monitors_are_checked_when_a_window_begins_and_ends(setup: Setup) {
        let fixture = Fixture::start(&setup).await;
        let stop = CancellationToken::new();
        let clock = maintenance_clock::run(fixture.engine.clone(), stop.clone());
        let story = async {
            let target = Target::new().await;
            let mut events = fixture.events().await;
            let hourly = MonitorDraft {
                heartbeat_interval: Interval::new(3_600).expect("an interval"),
                ..tcp(target.address)
            };
            let id = fixture.save(hourly).await.monitor.id;
            wait_for_status(&mut events, id, Status::Up).await;
            let before = target.count();
            let view = save(&fixture, window(&fixture, only(id), Checks::Run)).await;
            target.wait_for_count(before + 1).await;
            fixture.engine.delete_maintenance(&fixture.ann(), view.window.id).await.expect("deleted");
            target.wait_for_count(before + 2).await;
            stop.cancel();
        };
        tokio::join!(clock, story);
        fixture.stop().await;
    }
}

/// Measures the most windows over many monitors:
/// `cargo nextest run --release -p wakeful-engine --run-ignored all -E 'test(500_windows)' --no-capture`
#[tokio::test]
#[ignore = "measures; run it in release"]
async fn an_edit_among_500_windows_and_10_000_monitors_takes_at_most_a_second() {
    let setup = wakeful_testkit::Setup::on(wakeful_testkit::DatabaseKind::Sqlite);
    let fixture = Fixture::start(&setup).await;
    let team = fixture.store.team(&wakeful_testkit::whole(fixture.caller.team()));
    let view =
        fixture.save(MonitorDraft { isactive: false, ..tcp(([127, 0, 0, 1], 1).into()) }).await;
    for number in 0..10_000_u32 {
        let mut monitor = view.monitor.clone();
        let [a, b, c, d] = number.to_be_bytes();
        monitor.id = MonitorId::new(monitor.created, [a, b, c, d, 0, 0, 0, 0, 0, 1]);
        monitor.tags = Tags::parse(&format!("team:{},env:prod,db", number % 10)).expect("tags");
        team.add_monitor(&monitor, &wakeful_testkit::system()).await.expect("added");
    }
    let select = || SelectorParts {
        tags: Tags::parse("team:11,env:*").expect("tags"),
        ..SelectorParts::default()
    };
    let mut last = None;
    for _ in 0..500 {
        last = Some(save(&fixture, window(&fixture, select(), Checks::Run)).await);
    }
    let id = last.expect("one").window.id;
    let before = resident();
    for _ in 0..3 {
        let draft = window(&fixture, select(), Checks::Pause);
        let began = Instant::now();
        let merge = |_: Option<&Window>| Ok::<_, Error>(draft.clone());
        fixture.engine.save_maintenance(&fixture.ann(), Some(id), merge).await.expect("saved");
        let took = began.elapsed();
        eprintln!("edit: {took:?}, {} KiB more", resident().saturating_sub(before));
        assert!(took <= Duration::from_secs(1), "{took:?}");
    }
    let began = Instant::now();
    fixture.engine.delete_maintenance(&fixture.ann(), id).await.expect("deleted");
    eprintln!("delete: {:?}", began.elapsed());
    fixture.stop().await;
}

/// The resident memory of this process, in KiB.
fn resident() -> u64 {
    let status = std::fs::read_to_string("/proc/self/status").expect("on Linux");
    let line = status.lines().find_map(|line| line.strip_prefix("VmRSS:")).expect("a line");
    line.trim().trim_end_matches(" kB").parse().expect("a number")
}
