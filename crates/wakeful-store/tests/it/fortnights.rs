//! Fortnights say what their days say: when they are over, when something comes
//! late, after the past was carried over from two tables, and when a day is
//! damaged they leave it to the days.

use std::time::Duration;
use wakeful_core::history::rollup::{Depth, Rollup};
use wakeful_core::history::{FORTNIGHT, start_of};
use wakeful_core::id::{MonitorId, TeamId};
use wakeful_core::monitor::Monitor;
use wakeful_core::time::Millis;
use wakeful_store::{Limits, Record, Store};
use wakeful_testkit::{Engine, both_engines};

use crate::bench::{NOW, monitor, passing, team};

const FOREVER: Millis = Millis(i64::MIN);
const LATER: Millis = Millis(i64::MAX - 1);
const HOUR: i64 = 3_600_000;
const DAY: i64 = 24 * HOUR;

async fn site(store: &Store) -> (TeamId, Monitor) {
    let team = team(store).await;
    let kept = monitor(team, "site");
    store.team(team).add_monitor(&kept).await.expect("kept");
    (team, kept)
}

fn at(day: i64) -> Millis {
    Millis(start_of(FORTNIGHT, NOW).0 + day * DAY)
}

/// Four heartbeats a day, from one day until before another.
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

async fn fold(store: &Store, monitor: MonitorId) {
    while store.fold(monitor, LATER, FOREVER, 70).await.expect("folded").heartbeats > 0 {}
}

async fn days(store: &Store, team: TeamId, monitor: MonitorId) -> Vec<Rollup> {
    let team = store.team(team);
    let past = team.past(monitor).await.expect("read").expect("there");
    past.days(FOREVER, LATER, Depth::Whole).await.expect("read")
}

async fn fortnights(store: &Store, team: TeamId, monitor: MonitorId) -> Vec<Rollup> {
    let team = store.team(team);
    let past = team.past(monitor).await.expect("read").expect("there");
    past.fortnights(FOREVER, LATER, Depth::Whole).await.expect("read")
}

/// What is there is what the days come to, but for the fortnight that lasts.
#[track_caller]
fn agree(fortnights: &[Rollup], days: &[Rollup]) {
    let place = |rollup: &Rollup| start_of(FORTNIGHT, rollup.first);
    let mut expected: Vec<Rollup> = days
        .chunk_by(|one, two| place(one) == place(two))
        .map(|days| {
            let mut whole = days[0].clone();
            days[1..].iter().for_each(|day| whole.merge(day));
            whole
        })
        .collect();
    expected.pop();
    assert_eq!(fortnights, expected);
}

both_engines! {
    async fn fortnights_say_what_their_days_say(setup: Setup) {
        let database = setup.database().await;
        let store = database.open().await;
        let (team, kept) = site(&store).await;
        for (number, days_seen) in [0..5, 5..14, 14..15, 15..43, 60..61, 61..80].into_iter().enumerate() {
            store.record(&records(kept.id, days_seen.clone())).await.expect("recorded");
            fold(&store, kept.id).await;
            agree(&fortnights(&store, team, kept.id).await, &days(&store, team, kept.id).await);
            // Some come late, to the first day and to one in the middle.
            for day in [0, days_seen.end / 2] {
                let late = Millis(at(day).0 + HOUR + number as i64);
                store.record(&[passing(kept.id, 1_000 + number as i64, late)]).await.expect("recorded");
            }
            fold(&store, kept.id).await;
            agree(&fortnights(&store, team, kept.id).await, &days(&store, team, kept.id).await);
        }
        assert_eq!(fortnights(&store, team, kept.id).await.len(), 5);
        assert!(store.harm().await.expect("read").is_empty());
    }

    async fn fortnights_are_let_go_before_their_days(setup: Setup) {
        let database = setup.database().await;
        let store = database.open().await;
        let (team, kept) = site(&store).await;
        store.record(&records(kept.id, 0..60)).await.expect("recorded");
        fold(&store, kept.id).await;
        let limits = Limits { heartbeats: FOREVER, phases: FOREVER, hours: FOREVER, days: at(20) };
        while store.let_go(kept.id, &limits).await.expect("let go") > 0 {}
        let left: Vec<Millis> =
            fortnights(&store, team, kept.id).await.iter().map(|told| start_of(FORTNIGHT, told.first)).collect();
        assert_eq!(left, [at(28), at(42)]);
        assert_eq!(days(&store, team, kept.id).await.len(), 40);
    }

    async fn a_past_in_two_tables_is_carried_over(setup: Setup) {
        let database = setup.database().await;
        let store = database.open().await;
        let (team, kept) = site(&store).await;
        store.record(&records(kept.id, 0..50)).await.expect("recorded");
        fold(&store, kept.id).await;
        let before = days(&store, team, kept.id).await;
        let hours = database.number("select count(*) from rollups where grain = 1").await;
        store.close().await;
        // As it was before: the step is undone by hand.
        let (id, number, bytes) = match setup.engine {
            Engine::Sqlite => ("blob", "integer", "blob"),
            Engine::Postgres => ("uuid", "bigint", "bytea"),
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
        assert_eq!(days(&store, team, kept.id).await, before);
        assert_eq!(database.number("select count(*) from rollups where grain = 1").await, hours);
        assert!(fortnights(&store, team, kept.id).await.is_empty());
        // The first that is folded brings the fortnights.
        store.record(&records(kept.id, 50..51)).await.expect("recorded");
        fold(&store, kept.id).await;
        assert_eq!(fortnights(&store, team, kept.id).await.len(), 3);
        agree(&fortnights(&store, team, kept.id).await, &days(&store, team, kept.id).await);
    }

    async fn a_damaged_day_leaves_its_fortnight_to_the_days(setup: Setup) {
        let database = setup.database().await;
        let store = database.open().await;
        let (team, kept) = site(&store).await;
        store.record(&records(kept.id, 0..30)).await.expect("recorded");
        fold(&store, kept.id).await;
        assert_eq!(fortnights(&store, team, kept.id).await.len(), 2);
        let nothing = match setup.engine {
            Engine::Sqlite => "x'00'",
            Engine::Postgres => "'\\x00'",
        };
        let hurt = at(3).0;
        database.execute(&format!("update rollups set data = {nothing} where grain = 2 and at = {hurt}")).await;
        store.record(&[passing(kept.id, 1_000, Millis(at(5).0 + HOUR))]).await.expect("recorded");
        fold(&store, kept.id).await;
        let left: Vec<Millis> =
            fortnights(&store, team, kept.id).await.iter().map(|told| start_of(FORTNIGHT, told.first)).collect();
        assert_eq!(left, [at(14)]);
        let harm = store.harm().await.expect("read");
        assert_eq!(harm.iter().map(|harm| (harm.at.0, harm.what)).collect::<Vec<_>>(), [(hurt, "days")]);
    }
}
