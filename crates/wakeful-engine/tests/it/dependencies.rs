//! Checks that alerts ask for, with real targets: after a suppression, of a parent, and of the
//! groups of a monitor that has changed.

use std::time::Duration;
use wakeful_core::dependency::{Dependency, DependencyKind};
use wakeful_core::id::MonitorId;
use wakeful_core::monitors::spec::GroupSpec;
use wakeful_core::monitors::{Interval, Spec};
use wakeful_core::selector::{Selector, SelectorParts};
use wakeful_core::verdict::Status;
use wakeful_engine::MonitorDraft;
use wakeful_engine::WindowDraft;
use wakeful_engine::alerting::processor::process_due;
use wakeful_testkit::both_databases;

use crate::fixture::{Fixture, Target, tcp, wait_for_heartbeats, wait_for_status};
use crate::maintenance::{only, save, window};

/// A monitor that is checked once an hour, unless something asks for it.
fn hourly(target: &Target) -> MonitorDraft {
    MonitorDraft {
        heartbeat_interval: Interval::new(3_600).expect("an interval"),
        retries: 0,
        ..tcp(target.address)
    }
}

fn members(ids: &[MonitorId]) -> Spec {
    let parts = SelectorParts { monitors: ids.to_vec(), ..SelectorParts::default() };
    Spec::Group(GroupSpec::new(Selector::new(parts).expect("a selector")))
}

both_databases! {
    async fn a_check_is_requested_when_a_suppression_ends(setup: Setup) {
        let fixture = Fixture::start(&setup).await;
        let mut target = Target::new().await;
        let mut events = fixture.events().await;
        let hook = fixture.notifier().await;
        let draft = MonitorDraft { notifiers: Some(vec![hook]), ..hourly(&target) };
        let id = fixture.save(draft).await.monitor.id;
        wait_for_status(&mut events, id, Status::Up).await;
        let grace = Duration::from_secs(60);
        let draft = WindowDraft { grace, ..window(&fixture, only(id), Default::default()) };
        let view = save(&fixture, draft).await;
        target.go_down().await;
        fixture.engine.check_now(&fixture.ann(), id).await.expect("checked");
        wait_for_status(&mut events, id, Status::Down).await;
        fixture.engine.end_maintenance(&fixture.ann(), view.window.id).await.expect("ended");
        fixture.wall_clock.push(61_000);
        process_due(&fixture.engine).await.expect("decided");
        assert_eq!(fixture.notified_kinds(id).await, Vec::<String>::new());
        wait_for_heartbeats(&mut events, id, 1).await;
        fixture.wall_clock.push(10_000);
        process_due(&fixture.engine).await.expect("decided");
        assert_eq!(fixture.notified_kinds(id).await, ["monitor.down"]);
        fixture.stop().await;
    }

    async fn a_parent_is_checked_when_its_child_fails(setup: Setup) {
        let fixture = Fixture::start(&setup).await;
        let (mut router, mut web) = (Target::new().await, Target::new().await);
        let mut events = fixture.events().await;
        let hook = Some(vec![fixture.notifier().await]);
        let draft = MonitorDraft { notifiers: hook.clone(), ..hourly(&router) };
        let parent = fixture.save(draft).await.monitor.id;
        wait_for_status(&mut events, parent, Status::Up).await;
        let depends_on = Some(vec![Dependency { parent, kind: DependencyKind::Service }]);
        let draft = MonitorDraft { notifiers: hook, depends_on, ..hourly(&web) };
        let child = fixture.save(draft).await.monitor.id;
        wait_for_status(&mut events, child, Status::Up).await;
        router.go_down().await;
        web.go_down().await;
        fixture.engine.check_now(&fixture.ann(), child).await.expect("checked");
        wait_for_status(&mut events, parent, Status::Down).await;
        assert_eq!(fixture.notified_kinds(parent).await, ["monitor.down"]);
        fixture.wall_clock.push(11_000);
        process_due(&fixture.engine).await.expect("decided");
        assert_eq!(fixture.notified_kinds(child).await, Vec::<String>::new());
        // Both recover: the parent's is sent, and the child is checked and closes silently.
        router.come_up().await;
        web.come_up().await;
        fixture.engine.check_now(&fixture.ann(), parent).await.expect("checked");
        process_due(&fixture.engine).await.expect("decided");
        wait_for_status(&mut events, child, Status::Up).await;
        assert_eq!(fixture.notified_kinds(parent).await, ["monitor.down", "monitor.up"]);
        assert_eq!(fixture.notified_kinds(child).await, Vec::<String>::new());
        fixture.stop().await;
    }

    async fn a_group_is_evaluated_immediately_when_a_member_changes(setup: Setup) {
        let fixture = Fixture::start(&setup).await;
        let mut target = Target::new().await;
        let mut events = fixture.events().await;
        let member = fixture.save(hourly(&target)).await.monitor.id;
        wait_for_status(&mut events, member, Status::Up).await;
        let inner = fixture.save(MonitorDraft { spec: members(&[member]), ..hourly(&target) }).await;
        let inner = inner.monitor.id;
        wait_for_status(&mut events, inner, Status::Up).await;
        let outer = fixture.save(MonitorDraft { spec: members(&[inner]), ..hourly(&target) }).await;
        wait_for_status(&mut events, outer.monitor.id, Status::Up).await;
        let connections = target.count();
        target.go_down().await;
        fixture.engine.check_now(&fixture.ann(), member).await.expect("checked");
        wait_for_status(&mut events, outer.monitor.id, Status::Down).await;
        assert_eq!(fixture.view(inner).await.state.status, Status::Down);
        assert_eq!(fixture.view(inner).await.state.last_message, "1 of 1 down: site");
        target.come_up().await;
        fixture.engine.check_now(&fixture.ann(), member).await.expect("checked");
        wait_for_status(&mut events, outer.monitor.id, Status::Up).await;
        assert_eq!(target.count(), connections + 1, "groups make no connections");
        fixture.stop().await;
    }
}
