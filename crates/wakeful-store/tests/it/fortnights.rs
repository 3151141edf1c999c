//! Roll-ups of fortnights agree with their days: when they have ended, after late
//! heartbeats, after the migration from two tables, and when a day is damaged.

use std::time::Duration;
use wakeful_core::history::rollup::{Detail, Rollup};
use wakeful_core::history::{FORTNIGHT, start_of};
use wakeful_core::id::{MonitorId, TeamId};
use wakeful_core::monitors::Monitor;
use wakeful_core::time::Millis;
use wakeful_store::{Record, RetentionLimits, Store};
use wakeful_testkit::{DatabaseKind, both_databases, system, whole};

use crate::fixture::{NOW, monitor, passing, team};

const FOREVER: Millis = Millis(i64::MIN);
const LATER: Millis = Millis(i64::MAX - 1);
const HOUR: i64 = 3_600_000;
const DAY: i64 = 24 * HOUR;

async fn site(store: &Store) -> (TeamId, Monitor) {
    let team = team(store).await;
    let saved_monitor = monitor(team, "site");
    store.team(&whole(team)).add_monitor(&saved_monitor, &system()).await.expect("saved");
    (team, saved_monitor)
}

fn at(day: i64) -> Millis {
    Millis(start_of(FORTNIGHT, NOW).0 + day * DAY)
}

/// Four heartbeats a day for these days.
fn records(monitor: MonitorId, days: std::ops::Range<i64>) -> Vec<Record> {
    let beat = |number: i64| {
        let mut record =
            passing(monitor, number + 1, Millis(at(0).0 + number * DAY / 4 + number % 7));
        let took = Duration::from_micros(20_000 + (number * 7_919 % 90_000).cast_unsigned());
        record.heartbeat.load_time = Some(took);
        record
    };
    (days.start * 4..days.end * 4).map(beat).collect()
}

async fn compact(store: &Store, monitor: MonitorId) {
    while store.compact(monitor, LATER, FOREVER, 70).await.expect("compacted").heartbeats > 0 {}
}

async fn days(store: &Store, team: TeamId, monitor: MonitorId) -> Vec<Rollup> {
    let team = store.team(&whole(team));
    let history = team.history(monitor).await.expect("read").expect("there");
    history.days(FOREVER, LATER, Detail::Full).await.expect("read")
}

async fn fortnights(store: &Store, team: TeamId, monitor: MonitorId) -> Vec<Rollup> {
    let team = store.team(&whole(team));
    let history = team.history(monitor).await.expect("read").expect("there");
    history.fortnights(FOREVER, LATER, Detail::Full).await.expect("read")
}

/// The stored fortnights equal the merged days, except for the current one.
#[track_caller]
fn agree(fortnights: &[Rollup], days: &[Rollup]) {
    let start = |rollup: &Rollup| start_of(FORTNIGHT, rollup.first);
    let mut expected: Vec<Rollup> = days
        .chunk_by(|one, two| start(one) == start(two))
        .map(|days| {
            let mut whole = days[0].clone();
            days[1..].iter().for_each(|day| whole.merge(day));
            whole
        })
        .collect();
    expected.pop();
    assert_eq!(fortnights, expected);
}

both_databases! {
    async fn fortnights_match_their_days(setup: Setup) {
        let database = setup.database().await;
        let store = database.open().await;
        let (team, saved_monitor) = site(&store).await;
        for (number, range) in [0..5, 5..14, 14..15, 15..43, 60..61, 61..80].into_iter().enumerate() {
            store.record(&records(saved_monitor.id, range.clone())).await.expect("recorded");
            compact(&store, saved_monitor.id).await;
            agree(&fortnights(&store, team, saved_monitor.id).await, &days(&store, team, saved_monitor.id).await);
            // Late heartbeats for the first day and one in the middle.
            for day in [0, range.end / 2] {
                let late = Millis(at(day).0 + HOUR + number as i64);
                store.record(&[passing(saved_monitor.id, 1_000 + number as i64, late)]).await.expect("recorded");
            }
            compact(&store, saved_monitor.id).await;
            agree(&fortnights(&store, team, saved_monitor.id).await, &days(&store, team, saved_monitor.id).await);
        }
        assert_eq!(fortnights(&store, team, saved_monitor.id).await.len(), 5);
        assert!(store.find_damage().await.expect("read").is_empty());
    }

    async fn fortnights_are_deleted_before_their_days(setup: Setup) {
        let database = setup.database().await;
        let store = database.open().await;
        let (team, saved_monitor) = site(&store).await;
        store.record(&records(saved_monitor.id, 0..60)).await.expect("recorded");
        compact(&store, saved_monitor.id).await;
        let limits = RetentionLimits { heartbeats: FOREVER, phases: FOREVER, hours: FOREVER, days: at(20) };
        while store.delete_expired(saved_monitor.id, &limits).await.expect("deleted") > 0 {}
        let left: Vec<Millis> =
            fortnights(&store, team, saved_monitor.id).await.iter().map(|rollup| start_of(FORTNIGHT, rollup.first)).collect();
        assert_eq!(left, [at(28), at(42)]);
        assert_eq!(days(&store, team, saved_monitor.id).await.len(), 40);
    }

    async fn history_in_two_tables_is_migrated(setup: Setup) {
        let database = setup.database().await;
        let store = database.open().await;
        let (team, saved_monitor) = site(&store).await;
        store.record(&records(saved_monitor.id, 0..50)).await.expect("recorded");
        compact(&store, saved_monitor.id).await;
        let before = days(&store, team, saved_monitor.id).await;
        let hours = database.number("select count(*) from rollups where grain = 1").await;
        store.close().await;
        // Undoes the migration by hand.
        let (id, number, bytes) = match setup.database_kind {
            DatabaseKind::Sqlite => ("blob", "integer", "blob"),
            DatabaseKind::Postgres => ("uuid", "bigint", "bytea"),
        };
        for (table, grain) in [("hours", 1), ("days", 2)] {
            let columns = format!("monitor_id {id} not null, at {number} not null, data {bytes} not null");
            database.execute(&format!("create table {table} ({columns})")).await;
            let rows = format!("select monitor_id, at, data from rollups where grain = {grain}");
            database.execute(&format!("insert into {table} (monitor_id, at, data) {rows}")).await;
        }
        database.execute("drop table rollups").await;
        database.execute("delete from schema_migrations where name = '0013_history'").await;
        let store = database.open().await;
        assert_eq!(days(&store, team, saved_monitor.id).await, before);
        assert_eq!(database.number("select count(*) from rollups where grain = 1").await, hours);
        assert!(fortnights(&store, team, saved_monitor.id).await.is_empty());
        // The next compaction creates the fortnights.
        store.record(&records(saved_monitor.id, 50..51)).await.expect("recorded");
        compact(&store, saved_monitor.id).await;
        assert_eq!(fortnights(&store, team, saved_monitor.id).await.len(), 3);
        agree(&fortnights(&store, team, saved_monitor.id).await, &days(&store, team, saved_monitor.id).await);
    }

    async fn a_fortnight_with_a_damaged_day_is_not_stored(setup: Setup) {
        let database = setup.database().await;
        let store = database.open().await;
        let (team, saved_monitor) = site(&store).await;
        store.record(&records(saved_monitor.id, 0..30)).await.expect("recorded");
        compact(&store, saved_monitor.id).await;
        assert_eq!(fortnights(&store, team, saved_monitor.id).await.len(), 2);
        let nothing = match setup.database_kind {
            DatabaseKind::Sqlite => "x'00'",
            DatabaseKind::Postgres => "'\\x00'",
        };
        let damage = at(3).0;
        database.execute(&format!("update rollups set data = {nothing} where grain = 2 and at = {damage}")).await;
        store.record(&[passing(saved_monitor.id, 1_000, Millis(at(5).0 + HOUR))]).await.expect("recorded");
        compact(&store, saved_monitor.id).await;
        let left: Vec<Millis> =
            fortnights(&store, team, saved_monitor.id).await.iter().map(|rollup| start_of(FORTNIGHT, rollup.first)).collect();
        assert_eq!(left, [at(14)]);
        let damaged = store.find_damage().await.expect("read");
        assert_eq!(damaged.iter().map(|damaged| (damaged.at.0, damaged.what)).collect::<Vec<_>>(), [(damage, "days")]);
    }
}
