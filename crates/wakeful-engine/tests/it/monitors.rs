//! Operations on monitors, called by people.

use serde_json::json;
use std::time::Duration;
use wakeful_core::monitor::spec::ApiSpec;
use wakeful_core::monitor::{Name, Spec};
use wakeful_core::verdict::{Beat, Report, Status};
use wakeful_engine::{Draft, Error, Event, MonitorFilter};
use wakeful_testkit::both_engines;

use crate::bench::{Bench, Target, tcp};

both_engines! {
    async fn an_inactive_monitor_takes_no_reports_and_no_checks(setup: Setup) {
        let bench = Bench::start(&setup).await;
        let target = Target::new().await;
        let asleep = Draft { isactive: false, ..tcp(target.address) };
        let id = bench.save(asleep.clone()).await.monitor.id;
        let report = Report::parse("up").expect("known");
        let refused = bench.engine.notify(&bench.ann, id, report.clone(), None).await;
        assert!(matches!(refused, Err(Error::Inactive)), "{refused:?}");
        let refused = bench.engine.check_now(&bench.ann, id).await;
        assert!(matches!(refused, Err(Error::Inactive)), "{refused:?}");
        // Made active, it takes them from the next call on.
        bench.change(id, Draft { isactive: true, ..asleep }).await;
        bench.engine.notify(&bench.ann, id, report, None).await.expect("reported");
        bench.stop().await;
    }

    async fn what_is_saved_as_it_is_stored_is_not_written_and_nobody_hears_of_it(setup: Setup) {
        let bench = Bench::start(&setup).await;
        let target = Target::new().await;
        let asleep = Draft { isactive: false, ..tcp(target.address) };
        let id = bench.save(asleep.clone()).await.monitor.id;
        let team = bench.store.team(bench.ann.team);
        let revision = async || team.monitor(id).await.expect("read").expect("there").0.revision;
        let mut events = bench.events();
        bench.change(id, asleep.clone()).await;
        assert_eq!(revision().await, 1);
        let renamed = Draft { name: Name::parse("other").expect("a name"), ..asleep };
        bench.change(id, renamed.clone()).await;
        bench.change(id, renamed).await;
        assert_eq!(revision().await, 2);
        bench.engine.delete_monitor(&bench.ann, id).await.expect("deleted");
        let told = [events.next().await, events.next().await];
        let of = |event: &Option<Event>| format!("{event:?}");
        assert!(matches!(told[0], Some(Event::Saved(_))), "{}", of(&told[0]));
        assert!(matches!(told[1], Some(Event::Deleted(_))), "{}", of(&told[1]));
        bench.stop().await;
    }

    async fn a_report_is_on_record_when_it_is_answered_and_its_payload_travels(setup: Setup) {
        let bench = Bench::start(&setup).await;
        let hook = bench.notifier().await;
        let job = Draft {
            spec: Spec::Api(ApiSpec { grace: Some(Duration::from_secs(600)) }),
            notifiers: vec![hook],
            ..tcp(([127, 0, 0, 1], 1).into())
        };
        let id = bench.save(job).await.monitor.id;
        let down = Report::parse("DOWN").expect("known").with_message("disk full");
        let payload = json!({"disk": "/dev/sda1"});
        let beat = bench.engine.notify(&bench.ann, id, down, Some(payload)).await.expect("reported").expect("judged");
        assert_eq!((beat.status, beat.message.as_str()), (Beat::Down, "disk full"));
        let view = bench.view(id).await;
        assert_eq!((view.state.status, view.state.last_message.as_str()), (Status::Down, "disk full"));
        assert_eq!(bench.told(id).await, ["monitor.down"]);
        bench.stop().await;
    }

    async fn a_check_that_is_asked_for_counts(setup: Setup) {
        let bench = Bench::start(&setup).await;
        let target = Target::new().await;
        let id = bench.save(tcp(target.address)).await.monitor.id;
        let beat = bench.engine.check_now(&bench.ann, id).await.expect("checked");
        assert_eq!(beat.status, Beat::Up);
        assert!(beat.load_time.is_some() && beat.phases.connect.is_some());
        assert_eq!(bench.view(id).await.state.status, Status::Up);
        let tried = bench.engine.try_check(&bench.ann, &tcp(target.address).spec, Duration::from_secs(1)).await;
        assert_eq!(tried.expect("tried").status, Beat::Up);
        let passive = bench.engine.try_check(&bench.ann, &Spec::Api(ApiSpec::default()), Duration::from_secs(1)).await;
        assert!(matches!(passive, Err(Error::Passive)));
        bench.stop().await;
    }

    async fn a_list_says_where_it_goes_on(setup: Setup) {
        let bench = Bench::start(&setup).await;
        let target = Target::new().await;
        for _ in 0..5 {
            bench.save(Draft { isactive: false, ..tcp(target.address) }).await;
        }
        let mut filter = MonitorFilter { limit: Some(2), ..MonitorFilter::default() };
        let mut sizes = Vec::new();
        loop {
            let page = bench.engine.monitors(&bench.ann, &filter).await.expect("read");
            sizes.push(page.items.len());
            match page.next {
                Some(next) => filter.after = Some(next),
                None => break,
            }
        }
        assert_eq!(sizes, [2, 2, 1]);
        bench.stop().await;
    }
}
