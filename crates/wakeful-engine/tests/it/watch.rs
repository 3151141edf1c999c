//! Checks by the clock, what becomes of them, and how they are spread.

use std::time::Duration;
use tokio::time::Instant;
use wakeful_core::alert::AlertKind;
use wakeful_core::id::MonitorId;
use wakeful_core::monitor::spec::ApiSpec;
use wakeful_core::monitor::{Interval, Monitor, Spec};
use wakeful_core::time::{Clock as _, Millis};
use wakeful_core::verdict::{Report, Status};
use wakeful_engine::{Draft, Event};
use wakeful_testkit::{Setup, both_engines, until};

use crate::bench::{Bench, Target, beats, becomes, tcp};

both_engines! {
    async fn an_outage_is_confirmed_told_once_and_ended(setup: Setup) {
        let bench = Bench::start(&setup).await;
        let mut target = Target::new().await;
        let hook = bench.notifier().await;
        let mut events = bench.events();
        let site = bench.save(Draft { notifiers: vec![hook], ..tcp(target.address) }).await;
        let id = site.monitor.id;
        becomes(&mut events, id, Status::Up).await;
        assert!(bench.told(id).await.is_empty(), "from pending to up nothing is told");

        target.go_down().await;
        becomes(&mut events, id, Status::Down).await;
        let alerts = bench.engine.alerts(&bench.ann, None, None, None).await.expect("read").items;
        assert_eq!(alerts.len(), 1);
        let alert = &alerts[0].alert;
        assert_eq!((alert.kind, alert.ended), (AlertKind::Outage, None));
        assert_eq!(alert.cause, "connection refused");
        assert_eq!(bench.told(id).await, ["monitor.down"]);
        let view = bench.view(id).await;
        assert_eq!((view.state.status, view.state.failing.expect("failing").started), (Status::Down, alert.started));
        // It stays down without telling anybody again.
        beats(&mut events, id, 2).await;
        assert_eq!(bench.told(id).await.len(), 1);

        target.come_up().await;
        becomes(&mut events, id, Status::Up).await;
        let alerts = bench.engine.alerts(&bench.ann, Some(id), None, None).await.expect("read").items;
        assert_eq!(alerts.len(), 1);
        assert!(alerts[0].alert.ended.is_some_and(|ended| ended > alerts[0].alert.started));
        assert_eq!(bench.told(id).await, ["monitor.down", "monitor.up"]);
        bench.stop().await;
    }

    async fn a_restart_keeps_the_status_and_tells_nothing_again(setup: Setup) {
        let bench = Bench::start(&setup).await;
        let mut target = Target::new().await;
        target.go_down().await;
        let hook = bench.notifier().await;
        let mut events = bench.events();
        let site = bench.save(Draft { notifiers: vec![hook], ..tcp(target.address) }).await;
        let id = site.monitor.id;
        becomes(&mut events, id, Status::Down).await;

        let bench = bench.restart(&setup.settings).await;
        let mut events = bench.events();
        beats(&mut events, id, 3).await;
        assert_eq!(bench.view(id).await.state.status, Status::Down);
        assert_eq!(bench.told(id).await, ["monitor.down"]);

        target.come_up().await;
        becomes(&mut events, id, Status::Up).await;
        assert_eq!(bench.told(id).await, ["monitor.down", "monitor.up"]);
        bench.stop().await;
    }

    async fn silence_is_no_outage_while_the_store_is_away(setup: Setup) {
        let bench = Bench::start(&setup).await;
        let target = Target::new().await;
        let mut events = bench.events();
        // It tells how time goes by.
        let site = bench.save(tcp(target.address)).await.monitor.id;
        let second = Some(Duration::from_secs(1));
        let job = bench.save(Draft { spec: Spec::Api(ApiSpec { grace: second }), ..tcp(target.address) }).await;
        let job = job.monitor.id;
        let report = Report::parse("up").expect("known");
        bench.engine.notify(&bench.ann, job, report, None).await.expect("taken");
        becomes(&mut events, site, Status::Up).await;
        bench.database.execute("alter table meta rename to away").await;
        beats(&mut events, site, 5).await;
        assert_eq!(bench.view(job).await.state.status, Status::Up);
        bench.database.execute("alter table away rename to meta").await;
        becomes(&mut events, job, Status::Down).await;
        bench.stop().await;
    }

    async fn a_team_that_was_deleted_is_no_longer_watched(setup: Setup) {
        let bench = Bench::start(&setup).await;
        let target = Target::new().await;
        let mut events = bench.events();
        let site = bench.save(tcp(target.address)).await;
        becomes(&mut events, site.monitor.id, Status::Up).await;
        assert_eq!(bench.engine.watched(), 1);
        bench.engine.delete_account(&bench.ann).await.expect("deleted");
        until("the watch to forget", || async { (bench.engine.watched() == 0).then_some(()) }).await;
        bench.stop().await;
    }

    async fn an_edit_takes_effect_at_once(setup: Setup) {
        let bench = Bench::start(&setup).await;
        let mut target = Target::new().await;
        let other = Target::new().await;
        let mut events = bench.events();
        let hourly = Draft {
            heartbeat_interval: Interval::new(3_600).expect("an interval"),
            retries: 0,
            ..tcp(target.address)
        };
        let began = Instant::now();
        let id = bench.save(hourly.clone()).await.monitor.id;
        becomes(&mut events, id, Status::Up).await;
        assert!(began.elapsed() < Duration::from_secs(2), "{:?}", began.elapsed());

        target.go_down().await;
        bench.change(id, Draft { upside_down_mode: true, ..hourly.clone() }).await;
        // Upside down and refused: up, though nobody waited for the hour to pass.
        beats(&mut events, id, 1).await;
        assert_eq!(bench.view(id).await.state.status, Status::Up);
        bench.change(id, hourly.clone()).await;
        becomes(&mut events, id, Status::Down).await;
        bench.change(id, tcp(other.address)).await;
        becomes(&mut events, id, Status::Up).await;
        other.more(2).await;

        bench.change(id, Draft { isactive: false, ..tcp(other.address) }).await;
        let later = bench.save(tcp(target.address)).await.monitor.id;
        // By then what was seen before the stop is on record.
        beats(&mut events, later, 2).await;
        let (stopped, quiet) = (bench.view(id).await.state, other.count());
        beats(&mut events, later, 3).await;
        assert_eq!(bench.view(id).await.state, stopped);
        assert_eq!(other.count(), quiet, "no checks while it is not active");
        bench.engine.delete_monitor(&bench.ann, later).await.expect("deleted");
        bench.stop().await;
    }

    async fn silence_goes_on_across_a_restart(setup: Setup) {
        let bench = Bench::start(&setup).await;
        let job = Draft {
            spec: Spec::Api(ApiSpec { grace: Some(Duration::ZERO) }),
            heartbeat_interval: Interval::new(3_600).expect("an interval"),
            ..tcp(([127, 0, 0, 1], 1).into())
        };
        let id = bench.save(job).await.monitor.id;
        let up = Report::parse("up").expect("known");
        bench.engine.notify(&bench.ann, id, up, None).await.expect("reported");

        bench.wall.push(3_598_000);
        let bench = bench.restart(&setup.settings).await;
        let mut events = bench.events();
        becomes(&mut events, id, Status::Down).await;
        bench.stop().await;
    }

    async fn a_missed_heartbeat_turns_down_and_a_report_up(setup: Setup) {
        let bench = Bench::start(&setup).await;
        let mut events = bench.events();
        let job = Draft {
            spec: Spec::Api(ApiSpec { grace: Some(Duration::from_secs(0)) }),
            ..tcp(([127, 0, 0, 1], 1).into())
        };
        let saved = bench.save(job).await;
        let id = saved.monitor.id;
        let report = |word| Report::parse(word).expect("known");
        bench.engine.notify(&bench.ann, id, report("up"), None).await.expect("reported");
        becomes(&mut events, id, Status::Up).await;
        becomes(&mut events, id, Status::Down).await;
        let view = bench.view(id).await;
        assert_eq!(view.state.last_message, "nothing was reported for 1 s");
        let token = saved.monitor.push_token.expect("an api monitor has one");
        let target = bench.engine.push_target(token.expose()).await.expect("read");
        bench.engine.push(target.expect("known"), report("up")).await.expect("reported");
        assert_eq!(bench.view(id).await.state.status, Status::Up);
        bench.stop().await;
    }
}

/// Monitors that were never checked, put into the store before the watch begins.
async fn put_in(bench: &Bench, target: &Target, count: u64, seconds: u64) {
    let Draft { name, spec, tags, .. } = tcp(target.address);
    for number in 0..count {
        let mut random = [0; 10];
        random[2..].copy_from_slice(&number.to_be_bytes());
        let monitor = Monitor {
            id: MonitorId::new(Millis(1_794_000_000_000), random),
            team: bench.ann.team,
            name: name.clone(),
            spec: spec.clone(),
            isactive: true,
            heartbeat_interval: Interval::new(seconds).expect("an interval"),
            timeout: None,
            retries: 1,
            retry_interval: None,
            resend_interval: None,
            upside_down_mode: false,
            tags: tags.clone(),
            notifiers: Vec::new(),
            regions: Default::default(),
            quorum: Default::default(),
            push_token: None,
            created: bench.wall.now(),
            modified: bench.wall.now(),
        };
        bench.store.team(bench.ann.team).add_monitor(&monitor).await.expect("kept");
    }
}

#[tokio::test]
async fn a_thousand_monitors_that_start_together_are_spread() {
    let setup = Setup::on(wakeful_testkit::Engine::Sqlite);
    let bench = Bench::start(&setup).await;
    let target = Target::new().await;
    put_in(&bench, &target, 1_000, 60).await;
    let bench = bench.restart(&setup.settings).await;
    // About 17 a second are fair; a burst would bring the hundred at once.
    let took = target.more(100).await;
    assert!((Duration::from_secs(3)..Duration::from_secs(10)).contains(&took), "{took:?}");
    bench.stop().await;
}

#[tokio::test]
async fn a_jump_of_the_wall_clock_brings_no_burst_no_stall_and_no_change() {
    const HOUR: i64 = 3_600_000;
    let setup = Setup::on(wakeful_testkit::Engine::Sqlite);
    let bench = Bench::start(&setup).await;
    let target = Target::new().await;
    let mut events = bench.events();
    let id = bench.save(tcp(target.address)).await.monitor.id;
    let hourly = Interval::new(3_600).expect("an interval");
    let job = Draft {
        spec: Spec::Api(ApiSpec::default()),
        heartbeat_interval: hourly,
        ..tcp(target.address)
    };
    let job = bench.save(job).await.monitor.id;
    bench
        .engine
        .notify(&bench.ann, job, Report::parse("up").expect("known"), None)
        .await
        .expect("up");
    target.more(2).await;
    for push in [HOUR, -HOUR, -HOUR, HOUR] {
        bench.wall.push(push);
        let took = target.more(3).await;
        assert!((1_500..4_500).contains(&took.as_millis()), "{push}: {took:?}");
    }
    // Everything until here, and nothing of it a change but the first verdicts.
    beats(&mut events, id, 8).await;
    for id in [id, job] {
        assert_eq!(bench.view(id).await.state.status, Status::Up);
        assert!(bench.told(id).await.is_empty());
    }
    let span =
        wakeful_engine::Span { from: Millis(0), to: Millis(i64::MAX), limit: None, before: None };
    let beats = bench.engine.heartbeats(&bench.ann, id, &span).await.expect("read").items;
    assert!(beats.len() >= 10, "{}", beats.len());
    bench.stop().await;
}

/// Contract: the first check comes within a second of creation. Monitors that
/// are taken up at a start are spread over a minute; these are none of them.
#[tokio::test]
async fn what_is_saved_before_all_is_loaded_is_checked_at_once() {
    let setup = Setup::on(wakeful_testkit::Engine::Sqlite);
    let target = Target::new().await;
    let hourly = Interval::new(3_600).expect("an interval");
    let (bench, go) = Bench::held(&setup).await;
    for _ in 0..8 {
        bench.save(Draft { heartbeat_interval: hourly, ..tcp(target.address) }).await;
    }
    drop(go);
    let took = target.more(8).await;
    assert!(took < Duration::from_secs(10), "{took:?}");
    bench.stop().await;
}

#[tokio::test]
async fn another_team_hears_nothing() {
    let setup = Setup::on(wakeful_testkit::Engine::Sqlite);
    let bench = Bench::start(&setup).await;
    let eve = wakeful_engine::Caller {
        team: wakeful_core::id::TeamId::new(Millis(0), [9; 10]),
        ..bench.ann.clone()
    };
    let (mut hers, mut ours) = (bench.engine.subscribe(&eve), bench.events());
    let target = Target::new().await;
    let id = bench.save(tcp(target.address)).await.monitor.id;
    becomes(&mut ours, id, Status::Up).await;
    let heard = tokio::time::timeout(Duration::from_millis(1), hers.next()).await;
    assert!(heard.is_err(), "{heard:?}");
    bench.engine.delete_monitor(&bench.ann, id).await.expect("deleted");
    while !matches!(ours.next().await, Some(Event::Deleted(gone)) if gone == id) {}
    bench.stop().await;
}
