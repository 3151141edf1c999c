//! When the database is away: nothing turns down because of it, and what
//! happened meanwhile is told once it is back.

use sqlx::sqlite::SqliteConnectOptions;
use sqlx::{ConnectOptions as _, Connection as _, Executor as _};
use wakeful_core::verdict::{Report, Status};
use wakeful_engine::{Draft, Error};
use wakeful_testkit::{Engine, Setup};

use crate::bench::{Bench, Target, becomes, tcp};

#[tokio::test]
async fn a_locked_database_changes_no_status_and_hides_no_outage() {
    let setup = Setup::on(Engine::Sqlite);
    let bench = Bench::start(&setup).await;
    let hook = bench.notifier().await;
    let (healthy, mut failing) = (Target::new().await, Target::new().await);
    let mut events = bench.events();
    let well = bench.save(Draft { notifiers: vec![hook], ..tcp(healthy.address) }).await.monitor.id;
    let ill = bench.save(Draft { notifiers: vec![hook], ..tcp(failing.address) }).await.monitor.id;
    becomes(&mut events, ill, Status::Up).await;
    healthy.more(1).await;

    let path = bench.database.url().strip_prefix("sqlite:").expect("a file");
    let mut other = SqliteConnectOptions::new().filename(path).connect().await.expect("opens");
    other.execute("begin exclusive").await.expect("locked");
    failing.go_down().await;
    // Longer than a statement waits for the lock.
    healthy.more(7).await;
    let late = Report::parse("up").expect("known");
    let refused = bench.engine.notify(&bench.ann, well, late, None).await;
    assert!(matches!(refused, Err(Error::NotRecorded)), "{refused:?}");
    assert_eq!(bench.view(ill).await.state.status, Status::Up, "reads go on");
    other.execute("rollback").await.expect("unlocked");
    other.close().await.expect("closes");

    becomes(&mut events, ill, Status::Down).await;
    assert_eq!(bench.told(ill).await, ["monitor.down"]);
    assert_eq!(bench.view(well).await.state.status, Status::Up);
    assert!(bench.told(well).await.is_empty());
    // Not one check of that time is missing from the history.
    let span = wakeful_engine::Span {
        from: wakeful_core::time::Millis(0),
        to: wakeful_core::time::Millis(i64::MAX),
        limit: None,
        before: None,
    };
    let count = healthy.count();
    bench.engine.check_now(&bench.ann, well).await.expect("checked");
    let beats = bench.engine.heartbeats(&bench.ann, well, &span).await.expect("read").items;
    assert!(beats.len() >= count, "{} of {count}", beats.len());
    assert!(beats.iter().all(|beat| !beat.message.contains("database")));
    bench.stop().await;
}
