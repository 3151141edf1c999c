//! Tests of the operations on monitors.

use serde_json::json;
use std::time::Duration;
use tokio::net::TcpListener;
use wakeful_core::heartbeat::Beat;
use wakeful_core::monitors::spec::{ApiSpec, HttpSpec, HttpUrl};
use wakeful_core::monitors::{Name, Spec};
use wakeful_core::verdict::{Report, Status};
use wakeful_engine::{Error, Event, MonitorDraft, MonitorQuery};
use wakeful_testkit::{both_databases, whole};

use crate::fixture::{Fixture, Target, tcp};

both_databases! {
    async fn an_inactive_monitor_accepts_no_reports_and_no_checks(setup: Setup) {
        let fixture = Fixture::start(&setup).await;
        let target = Target::new().await;
        let inactive = MonitorDraft { isactive: false, ..tcp(target.address) };
        let id = fixture.save(inactive.clone()).await.monitor.id;
        let report = Report::parse("up").expect("known");
        let refused = fixture.engine.report_status(&fixture.ann(), id, report.clone(), None).await;
        assert!(matches!(refused, Err(Error::Inactive)), "{refused:?}");
        let refused = fixture.engine.check_now(&fixture.ann(), id).await;
        assert!(matches!(refused, Err(Error::Inactive)), "{refused:?}");
        // Once activated, it accepts them from the next call on.
        fixture.change(id, MonitorDraft { isactive: true, ..inactive }).await;
        fixture.engine.report_status(&fixture.ann(), id, report, None).await.expect("reported");
        fixture.stop().await;
    }

    async fn an_unchanged_save_is_not_written_and_publishes_nothing(setup: Setup) {
        let fixture = Fixture::start(&setup).await;
        let target = Target::new().await;
        let inactive = MonitorDraft { isactive: false, ..tcp(target.address) };
        let id = fixture.save(inactive.clone()).await.monitor.id;
        let team = fixture.store.team(&whole(fixture.caller.team()));
        let revision = async || team.monitor(id).await.expect("read").expect("found").0.revision;
        let mut events = fixture.events().await;
        fixture.change(id, inactive.clone()).await;
        assert_eq!(revision().await, 1);
        let renamed = MonitorDraft { name: Name::parse("other").expect("a name"), ..inactive };
        fixture.change(id, renamed.clone()).await;
        fixture.change(id, renamed).await;
        assert_eq!(revision().await, 2);
        fixture.engine.delete_monitor(&fixture.ann(), id).await.expect("deleted");
        let received = [events.next().await, events.next().await];
        let of = |event: &Option<Event>| format!("{event:?}");
        assert!(matches!(received[0], Some(Event::Saved(_))), "{}", of(&received[0]));
        assert!(matches!(received[1], Some(Event::Deleted(_))), "{}", of(&received[1]));
        fixture.stop().await;
    }

    async fn a_report_is_recorded_with_its_payload_before_the_response(setup: Setup) {
        let fixture = Fixture::start(&setup).await;
        let hook = fixture.notifier().await;
        let job = MonitorDraft {
            spec: Spec::Api(ApiSpec::with_grace(Some(Duration::from_secs(600)))),
            notifiers: Some(vec![hook]),
            ..tcp(([127, 0, 0, 1], 1).into())
        };
        let id = fixture.save(job).await.monitor.id;
        let down = Report::parse("DOWN").expect("known").with_message("disk full");
        let payload = json!({"disk": "/dev/sda1"});
        let beat = fixture.engine.report_status(&fixture.ann(), id, down, Some(payload)).await.expect("reported").expect("judged");
        assert_eq!((beat.status, beat.message.as_str()), (Beat::Down, "disk full"));
        let view = fixture.view(id).await;
        assert_eq!((view.state.status, view.state.last_message.as_str()), (Status::Down, "disk full"));
        assert_eq!(fixture.notified_kinds(id).await, ["monitor.down"]);
        fixture.stop().await;
    }

    async fn a_manual_check_counts(setup: Setup) {
        let fixture = Fixture::start(&setup).await;
        let target = Target::new().await;
        let id = fixture.save(tcp(target.address)).await.monitor.id;
        let beat = fixture.engine.check_now(&fixture.ann(), id).await.expect("checked").heartbeat;
        assert_eq!(beat.status, Beat::Up);
        assert!(beat.load_time.is_some() && beat.phases.connect.is_some());
        assert_eq!(fixture.view(id).await.state.status, Status::Up);
        let tried = fixture.engine.try_check(&fixture.ann(), &tcp(target.address).spec, &[], Duration::from_secs(1), Duration::from_secs(28)).await;
        assert_eq!(tried.expect("tried").heartbeat.status, Beat::Up);
        let refused = fixture.engine.try_check(&fixture.ann(), &Spec::Api(ApiSpec::default()), &[], Duration::from_secs(1), Duration::from_secs(28)).await;
        assert!(matches!(refused, Err(Error::PushMonitor)));
        fixture.stop().await;
    }

    async fn a_trial_that_is_cut_short_says_nothing_about_the_target(setup: Setup) {
        let fixture = Fixture::start(&setup).await;
        let silent = TcpListener::bind("127.0.0.1:0").await.expect("a port");
        let url = format!("http://{}/", silent.local_addr().expect("an address"));
        let spec = Spec::Http(HttpSpec::new(HttpUrl::parse(&url).expect("a URL")));
        let (short, long) = (Duration::from_millis(300), Duration::from_secs(60));
        let tried = async |timeout, max| {
            fixture.engine.try_check(&fixture.ann(), &spec, &[], timeout, max).await.expect("tried").heartbeat
        };
        let cut = tried(long, short).await;
        assert_eq!(cut.status, Beat::Unknown, "{}", cut.message);
        assert!(cut.message.contains("the check itself waits up to 60 s"), "{}", cut.message);
        let timed_out = tried(short, long).await;
        assert_eq!(timed_out.status, Beat::Down, "{}", timed_out.message);
        fixture.stop().await;
    }

    async fn a_list_returns_the_next_cursor(setup: Setup) {
        let fixture = Fixture::start(&setup).await;
        let target = Target::new().await;
        for _ in 0..5 {
            fixture.save(MonitorDraft { isactive: false, ..tcp(target.address) }).await;
        }
        let mut filter = MonitorQuery { limit: Some(2), ..MonitorQuery::default() };
        let mut sizes = Vec::new();
        loop {
            let page = fixture.engine.monitors(&fixture.ann(), &filter).await.expect("read");
            sizes.push(page.items.len());
            match page.next {
                Some(next) => filter.after = Some(next),
                None => break,
            }
        }
        assert_eq!(sizes, [2, 2, 1]);
        fixture.stop().await;
    }
}
