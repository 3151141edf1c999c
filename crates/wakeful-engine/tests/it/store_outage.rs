//! Tests with an unavailable database: no monitor goes down because of it, and outages that
//! happened meanwhile are notified when it is back.

use sqlx::sqlite::SqliteConnectOptions;
use sqlx::{ConnectOptions as _, Connection as _, Executor as _, SqliteConnection};
use wakeful_core::monitors::bulk::BulkChange;
use wakeful_core::verdict::{Report, Status};
use wakeful_engine::{Error, MonitorDraft};
use wakeful_store::{MonitorQuery, MonitorSelection};
use wakeful_testkit::{DatabaseKind, Setup};

use crate::fixture::{Fixture, Target, tcp, wait_for_status};

/// Another process that holds a lock until it is closed.
async fn lock(fixture: &Fixture, statement: &'static str) -> SqliteConnection {
    let path = fixture.database.url().strip_prefix("sqlite:").expect("a file");
    let mut other = SqliteConnectOptions::new().filename(path).connect().await.expect("opens");
    other.execute(statement).await.expect("locked");
    other
}

#[tokio::test]
async fn a_locked_database_changes_no_status_and_hides_no_outage() {
    let setup = Setup::on(DatabaseKind::Sqlite);
    let fixture = Fixture::start(&setup).await;
    let hook = fixture.notifier().await;
    let (healthy, mut failing) = (Target::new().await, Target::new().await);
    let mut events = fixture.events().await;
    let healthy_id = fixture
        .save(MonitorDraft { notifiers: Some(vec![hook]), ..tcp(healthy.address) })
        .await
        .monitor
        .id;
    let failing_id = fixture
        .save(MonitorDraft { notifiers: Some(vec![hook]), ..tcp(failing.address) })
        .await
        .monitor
        .id;
    wait_for_status(&mut events, failing_id, Status::Up).await;
    healthy.wait_for_checks(1).await;

    let mut other = lock(&fixture, "begin exclusive").await;
    failing.go_down().await;
    // Longer than a statement waits for the lock.
    healthy.wait_for_checks(7).await;
    let late = Report::parse("up").expect("known");
    let refused = fixture.engine.report_status(&fixture.ann(), healthy_id, late, None).await;
    assert!(matches!(refused, Err(Error::NotRecorded)), "{refused:?}");
    assert_eq!(fixture.view(failing_id).await.state.status, Status::Up, "reads still work");
    other.execute("rollback").await.expect("unlocked");
    other.close().await.expect("closes");

    wait_for_status(&mut events, failing_id, Status::Down).await;
    assert_eq!(fixture.notified_kinds(failing_id).await, ["monitor.down"]);
    assert_eq!(fixture.view(healthy_id).await.state.status, Status::Up);
    assert!(fixture.notified_kinds(healthy_id).await.is_empty());
    // No check of that time is missing from the history.
    let span = wakeful_engine::HeartbeatRange {
        from: wakeful_core::time::Millis(0),
        to: wakeful_core::time::Millis(i64::MAX),
        limit: None,
        before: None,
    };
    let count = healthy.count();
    fixture.engine.check_now(&fixture.ann(), healthy_id).await.expect("checked");
    let heartbeats =
        fixture.engine.heartbeats(&fixture.ann(), healthy_id, &span).await.expect("read").items;
    assert!(heartbeats.len() >= count, "{} of {count}", heartbeats.len());
    assert!(heartbeats.iter().all(|beat| !beat.heartbeat.message.contains("database")));
    fixture.stop().await;
}

#[tokio::test]
async fn a_dry_run_does_not_wait_for_writers() {
    let setup = Setup::on(DatabaseKind::Sqlite);
    let fixture = Fixture::start(&setup).await;
    let target = Target::new().await;
    fixture.save(tcp(target.address)).await;
    let mut other = lock(&fixture, "begin immediate").await;
    let change = BulkChange { retries: Some(9), ..BulkChange::default() };
    let all = MonitorSelection::Filter(MonitorQuery::default());
    let outcome = fixture.engine.change_monitors(&fixture.ann(), &all, &change, true).await;
    assert_eq!(outcome.expect("nothing is written").affected, 1);
    other.execute("rollback").await.expect("unlocked");
    other.close().await.expect("closes");
    fixture.stop().await;
}
