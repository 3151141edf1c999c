//! Tests of scheduled checks, their results, and how they are spread over time.

use std::time::Duration;
use tokio::time::Instant;
use wakeful_core::alerting::alert::AlertKind;
use wakeful_core::id::MonitorId;
use wakeful_core::monitors::spec::ApiSpec;
use wakeful_core::monitors::{Interval, Monitor, Spec};
use wakeful_core::time::{Clock as _, Millis};
use wakeful_core::verdict::{Report, Status};
use wakeful_engine::{Event, MonitorDraft};
use wakeful_testkit::{Setup, both_databases, system, until, whole};

use crate::fixture::{Fixture, Target, sign_up, tcp, wait_for_heartbeats, wait_for_status};

both_databases! {
    async fn an_outage_is_confirmed_notified_once_and_ended(setup: Setup) {
        let fixture = Fixture::start(&setup).await;
        let mut target = Target::new().await;
        let hook = fixture.notifier().await;
        let mut events = fixture.events().await;
        let site = fixture.save(MonitorDraft { notifiers: Some(vec![hook]), ..tcp(target.address) }).await;
        let id = site.monitor.id;
        wait_for_status(&mut events, id, Status::Up).await;
        assert!(fixture.notified_kinds(id).await.is_empty(), "a change from pending to up is not notified");

        target.go_down().await;
        wait_for_status(&mut events, id, Status::Down).await;
        let alerts = fixture.engine.alerts(&fixture.ann(), None, None, None).await.expect("read").items;
        assert_eq!(alerts.len(), 1);
        let alert = &alerts[0].alert;
        assert_eq!((alert.kind, alert.ended), (AlertKind::Outage, None));
        assert_eq!(alert.cause, "connection refused");
        assert_eq!(fixture.notified_kinds(id).await, ["monitor.down"]);
        let view = fixture.view(id).await;
        assert_eq!((view.state.status, view.state.failing.expect("failing").started), (Status::Down, alert.started));
        // It stays down without another notification.
        wait_for_heartbeats(&mut events, id, 2).await;
        assert_eq!(fixture.notified_kinds(id).await.len(), 1);

        target.come_up().await;
        wait_for_status(&mut events, id, Status::Up).await;
        let alerts = fixture.engine.alerts(&fixture.ann(), Some(id), None, None).await.expect("read").items;
        assert_eq!(alerts.len(), 1);
        assert!(alerts[0].alert.ended.is_some_and(|ended| ended > alerts[0].alert.started));
        assert_eq!(fixture.notified_kinds(id).await, ["monitor.down", "monitor.up"]);
        fixture.stop().await;
    }

    async fn a_restart_keeps_the_status_and_notifies_nothing_again(setup: Setup) {
        let fixture = Fixture::start(&setup).await;
        let mut target = Target::new().await;
        target.go_down().await;
        let hook = fixture.notifier().await;
        let mut events = fixture.events().await;
        let site = fixture.save(MonitorDraft { notifiers: Some(vec![hook]), ..tcp(target.address) }).await;
        let id = site.monitor.id;
        wait_for_status(&mut events, id, Status::Down).await;

        let fixture = fixture.restart(&setup.settings).await;
        let mut events = fixture.events().await;
        wait_for_heartbeats(&mut events, id, 3).await;
        assert_eq!(fixture.view(id).await.state.status, Status::Down);
        assert_eq!(fixture.notified_kinds(id).await, ["monitor.down"]);

        target.come_up().await;
        wait_for_status(&mut events, id, Status::Up).await;
        assert_eq!(fixture.notified_kinds(id).await, ["monitor.down", "monitor.up"]);
        fixture.stop().await;
    }

    async fn silence_is_no_outage_while_the_store_is_down(setup: Setup) {
        let fixture = Fixture::start(&setup).await;
        let target = Target::new().await;
        let mut events = fixture.events().await;
        // Its heartbeats show how much time has passed.
        let site = fixture.save(tcp(target.address)).await.monitor.id;
        let second = Some(Duration::from_secs(1));
        let job = fixture.save(MonitorDraft { spec: Spec::Api(ApiSpec { grace: second }), ..tcp(target.address) }).await;
        let job = job.monitor.id;
        let report = Report::parse("up").expect("known");
        fixture.engine.report_status(&fixture.ann(), job, report, None).await.expect("reported");
        wait_for_status(&mut events, site, Status::Up).await;
        fixture.database.execute("alter table meta rename to away").await;
        wait_for_heartbeats(&mut events, site, 5).await;
        assert_eq!(fixture.view(job).await.state.status, Status::Up);
        fixture.database.execute("alter table away rename to meta").await;
        wait_for_status(&mut events, job, Status::Down).await;
        fixture.stop().await;
    }

    async fn a_deleted_team_is_no_longer_checked(setup: Setup) {
        let fixture = Fixture::start(&setup).await;
        let target = Target::new().await;
        let mut events = fixture.events().await;
        let site = fixture.save(tcp(target.address)).await;
        wait_for_status(&mut events, site.monitor.id, Status::Up).await;
        assert_eq!(fixture.engine.monitor_count(), 1);
        let ann = fixture.engine.require_reauthentication(fixture.ann()).expect("a fresh session");
        fixture.engine.delete_account(&ann).await.expect("deleted");
        until("the monitor to be removed", || async { (fixture.engine.monitor_count() == 0).then_some(()) }).await;
        fixture.stop().await;
    }

    async fn an_edit_takes_effect_at_once(setup: Setup) {
        let fixture = Fixture::start(&setup).await;
        let mut target = Target::new().await;
        let other = Target::new().await;
        let mut events = fixture.events().await;
        let hourly = MonitorDraft {
            heartbeat_interval: Interval::new(3_600).expect("an interval"),
            retries: 0,
            ..tcp(target.address)
        };
        let began = Instant::now();
        let id = fixture.save(hourly.clone()).await.monitor.id;
        wait_for_status(&mut events, id, Status::Up).await;
        assert!(began.elapsed() < Duration::from_secs(20), "{:?}", began.elapsed());

        target.go_down().await;
        fixture.change(id, MonitorDraft { upside_down_mode: true, ..hourly.clone() }).await;
        // Upside down and refused is up, and it is checked before the hour has passed.
        wait_for_heartbeats(&mut events, id, 1).await;
        assert_eq!(fixture.view(id).await.state.status, Status::Up);
        fixture.change(id, hourly.clone()).await;
        wait_for_status(&mut events, id, Status::Down).await;
        fixture.change(id, tcp(other.address)).await;
        wait_for_status(&mut events, id, Status::Up).await;
        other.wait_for_checks(2).await;

        fixture.change(id, MonitorDraft { isactive: false, ..tcp(other.address) }).await;
        let later = fixture.save(tcp(target.address)).await.monitor.id;
        // By then the results from before the deactivation are recorded.
        wait_for_heartbeats(&mut events, later, 2).await;
        let (stopped, quiet) = (fixture.view(id).await.state, other.count());
        wait_for_heartbeats(&mut events, later, 3).await;
        assert_eq!(fixture.view(id).await.state, stopped);
        assert_eq!(other.count(), quiet, "no checks while it is not active");
        fixture.engine.delete_monitor(&fixture.ann(), later).await.expect("deleted");
        fixture.stop().await;
    }

    async fn silence_counts_across_a_restart(setup: Setup) {
        let fixture = Fixture::start(&setup).await;
        let job = MonitorDraft {
            spec: Spec::Api(ApiSpec { grace: Some(Duration::ZERO) }),
            heartbeat_interval: Interval::new(3_600).expect("an interval"),
            ..tcp(([127, 0, 0, 1], 1).into())
        };
        let id = fixture.save(job).await.monitor.id;
        let up = Report::parse("up").expect("known");
        fixture.engine.report_status(&fixture.ann(), id, up, None).await.expect("reported");

        fixture.wall_clock.push(3_598_000);
        let fixture = fixture.restart(&setup.settings).await;
        let mut events = fixture.events().await;
        wait_for_status(&mut events, id, Status::Down).await;
        fixture.stop().await;
    }

    async fn a_missed_report_is_down_and_the_next_report_up(setup: Setup) {
        let fixture = Fixture::start(&setup).await;
        let mut events = fixture.events().await;
        let job = MonitorDraft {
            spec: Spec::Api(ApiSpec { grace: Some(Duration::from_secs(0)) }),
            ..tcp(([127, 0, 0, 1], 1).into())
        };
        let saved = fixture.save(job).await;
        let id = saved.monitor.id;
        let report = |status| Report::parse(status).expect("known");
        fixture.engine.report_status(&fixture.ann(), id, report("up"), None).await.expect("reported");
        wait_for_status(&mut events, id, Status::Up).await;
        wait_for_status(&mut events, id, Status::Down).await;
        let view = fixture.view(id).await;
        assert_eq!(view.state.last_message, "nothing was reported for 1 s");
        let token = saved.monitor.push_token.expect("an api monitor has one");
        let target = fixture.engine.push_target(token.expose()).await.expect("read");
        fixture.engine.report_by_push_token(target.expect("known"), report("up")).await.expect("reported");
        assert_eq!(fixture.view(id).await.state.status, Status::Up);
        fixture.stop().await;
    }
}

/// Adds monitors that were never checked to the store, before the scheduler starts.
async fn insert_monitors(fixture: &Fixture, target: &Target, count: u64, seconds: u64) {
    let MonitorDraft { name, spec, tags, .. } = tcp(target.address);
    for number in 0..count {
        let mut random = [0; 10];
        random[2..].copy_from_slice(&number.to_be_bytes());
        let monitor = Monitor {
            id: MonitorId::new(Millis(1_794_000_000_000), random),
            team: fixture.caller.team(),
            name: name.clone(),
            spec: spec.clone(),
            isactive: true,
            heartbeat_interval: Interval::new(seconds).expect("an interval"),
            timeout: None,
            retries: 1,
            retry_interval: None,
            resend_interval: None,
            severity: Default::default(),
            policy: None,
            upside_down_mode: false,
            tags: tags.clone(),
            notifiers: Vec::new(),
            depends_on: Vec::new(),
            flapping: Default::default(),
            regions: Default::default(),
            quorum: Default::default(),
            assertions: Default::default(),
            evidence: Default::default(),
            degraded: None,
            slo: None,
            push_token: None,
            created: fixture.wall_clock.now(),
            modified: fixture.wall_clock.now(),
        };
        fixture
            .store
            .team(&whole(fixture.caller.team()))
            .add_monitor(&monitor, &system())
            .await
            .expect("added");
    }
}

#[tokio::test]
async fn a_thousand_monitors_that_start_together_are_spread() {
    let setup = Setup::on(wakeful_testkit::DatabaseKind::Sqlite);
    let fixture = Fixture::start(&setup).await;
    let target = Target::new().await;
    insert_monitors(&fixture, &target, 1_000, 60).await;
    let fixture = fixture.restart(&setup.settings).await;
    // About 17 a second are expected; a burst would be all hundred at once.
    let took = target.wait_for_checks(100).await;
    assert!((Duration::from_secs(3)..Duration::from_secs(10)).contains(&took), "{took:?}");
    fixture.stop().await;
}

#[tokio::test]
async fn a_jump_of_the_wall_clock_causes_no_burst_no_stall_and_no_change() {
    const HOUR: i64 = 3_600_000;
    let setup = Setup::on(wakeful_testkit::DatabaseKind::Sqlite);
    let fixture = Fixture::start(&setup).await;
    let target = Target::new().await;
    let mut events = fixture.events().await;
    let id = fixture.save(tcp(target.address)).await.monitor.id;
    let hourly = Interval::new(3_600).expect("an interval");
    let job = MonitorDraft {
        spec: Spec::Api(ApiSpec::default()),
        heartbeat_interval: hourly,
        ..tcp(target.address)
    };
    let job = fixture.save(job).await.monitor.id;
    fixture
        .engine
        .report_status(&fixture.ann(), job, Report::parse("up").expect("known"), None)
        .await
        .expect("up");
    target.wait_for_checks(2).await;
    for push in [HOUR, -HOUR, -HOUR, HOUR] {
        fixture.wall_clock.push(push);
        let took = target.wait_for_checks(3).await;
        assert!((1_500..4_500).contains(&took.as_millis()), "{push}: {took:?}");
    }
    // All results until here are recorded, and only the first ones were changes.
    wait_for_heartbeats(&mut events, id, 8).await;
    for id in [id, job] {
        assert_eq!(fixture.view(id).await.state.status, Status::Up);
        assert!(fixture.notified_kinds(id).await.is_empty());
    }
    let span = wakeful_engine::HeartbeatRange {
        from: Millis(0),
        to: Millis(i64::MAX),
        limit: None,
        before: None,
    };
    let heartbeats =
        fixture.engine.heartbeats(&fixture.ann(), id, &span).await.expect("read").items;
    assert!(heartbeats.len() >= 10, "{}", heartbeats.len());
    fixture.stop().await;
}

/// Contract: the first check runs within a second of creation. Monitors that are loaded at
/// startup are spread over a minute, but these are not among them.
#[tokio::test]
async fn a_monitor_saved_during_loading_is_checked_at_once() {
    let setup = Setup::on(wakeful_testkit::DatabaseKind::Sqlite);
    let target = Target::new().await;
    let hourly = Interval::new(3_600).expect("an interval");
    let (fixture, go) = Fixture::start_paused(&setup).await;
    for _ in 0..8 {
        fixture.save(MonitorDraft { heartbeat_interval: hourly, ..tcp(target.address) }).await;
    }
    drop(go);
    let took = target.wait_for_checks(8).await;
    assert!(took < Duration::from_secs(10), "{took:?}");
    fixture.stop().await;
}

#[tokio::test]
async fn another_team_receives_no_events() {
    let setup = Setup::on(wakeful_testkit::DatabaseKind::Sqlite);
    let fixture = Fixture::start(&setup).await;
    let eve = sign_up(&fixture.engine, "eve@example.com").await;
    let eve = eve.authorize().expect("an owner");
    let (mut hers, mut ours) =
        (fixture.engine.subscribe(&eve).await.expect("subscribed"), fixture.events().await);
    let target = Target::new().await;
    let id = fixture.save(tcp(target.address)).await.monitor.id;
    wait_for_status(&mut ours, id, Status::Up).await;
    let received = tokio::time::timeout(Duration::from_millis(1), hers.next()).await;
    assert!(received.is_err(), "{received:?}");
    fixture.engine.delete_monitor(&fixture.ann(), id).await.expect("deleted");
    while !matches!(ours.next().await, Some(Event::Deleted(deleted)) if deleted == id) {}
    fixture.stop().await;
}
