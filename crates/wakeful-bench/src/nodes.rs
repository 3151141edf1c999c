//! Results recorded per second in one PostgreSQL, by one node and by two: the
//! store's own transaction, with the fencing that several nodes need, in the
//! batches of the result writer. The server is the one that
//! `scripts/with-postgres` started.

use sqlx::{AssertSqlSafe, Connection as _, PgConnection};
use std::collections::HashMap;
use std::time::Duration;
use tokio::task::JoinSet;
use tokio::time::Instant;
use wakeful_core::cluster::slot::{Grant, LEASE_DURATION, SLOT_COUNT, Slot};
use wakeful_core::error_chain::ErrorChain;
use wakeful_core::heartbeat::{Beat, Heartbeat, Phases};
use wakeful_core::id::{MonitorId, NodeId};
use wakeful_core::time::Millis;
use wakeful_core::verdict::{State, Status};
use wakeful_store::{Keyring, Location, Node, Options, Record, Store};

use crate::report::Report;
use crate::{Outcome, clock, seed};

const MONITORS: i64 = 20_000;
/// As many as the result writer writes at once.
const BATCH: usize = 2_000;
const WINDOW: Duration = Duration::from_secs(10);

pub async fn measure(report: &mut Report) -> Outcome<()> {
    let server = std::env::var("WAKEFUL_TEST_POSTGRES")
        .map_err(|_| "no PostgreSQL: run under scripts/with-postgres")?;
    let folder = tempfile::tempdir()?;
    let mut rates = Vec::new();
    for nodes in [1, 2] {
        let url = fresh(&server, &format!("nodes_{nodes}")).await?;
        let key = folder.path().join("master.key");
        let store = open(&url, &key).await?;
        fill(&store, &url).await?;
        rates.push(race(&url, &key, nodes).await?);
        store.close().await;
    }
    for (nodes, rate) in (1..).zip(&rates) {
        let name = format!("results recorded a second into PostgreSQL, {nodes} node(s)");
        report.measured(&name, format!("{rate:.0}"));
    }
    Ok(())
}

/// A new database on the server.
pub async fn fresh(server: &str, part: &str) -> Outcome<String> {
    let name = format!("bench_{}_{part}", std::process::id());
    let mut db = PgConnection::connect(server).await?;
    sqlx::query(AssertSqlSafe(format!("create database {name}"))).execute(&mut db).await?;
    db.close().await?;
    let (start, _) = server.rsplit_once('/').ok_or("not a url")?;
    Ok(format!("{start}/{name}"))
}

async fn open(url: &str, key: &std::path::Path) -> Outcome<Store> {
    let options = Options { location: Location::parse(url)?, max_connections: 4 };
    Ok(Store::open(&options, Keyring::load_or_create(key)?).await?)
}

/// Creates one monitor through the store, the others as its copies.
async fn fill(store: &Store, url: &str) -> Outcome<()> {
    let (team, _) = seed::sign_up(store).await?;
    store
        .team(&seed::whole(team))
        .add_monitor(&seed::MonitorSet::paced(1, 60, 9).monitor(team, 0)?, &seed::system(Millis(0)))
        .await?;
    let mut db = PgConnection::connect(url).await?;
    sqlx::query(
        "with made as (
             insert into monitors (id, team_id, name, kind, spec, isactive, heartbeat_interval,
                 retries, upside_down_mode, tags, search, created, modified, slot)
             select g.id, m.team_id, m.name, m.kind, m.spec, m.isactive, m.heartbeat_interval,
                 m.retries, m.upside_down_mode, m.tags, m.search, m.created, m.modified,
                 (get_byte(uuid_send(g.id), 13) & 3) * 256 + get_byte(uuid_send(g.id), 14)
             from monitors m, (select gen_random_uuid() as id from generate_series(2, $1)) g
             returning id)
         insert into monitor_states (monitor_id) select id from made",
    )
    .bind(MONITORS)
    .execute(&mut db)
    .await?;
    sqlx::query("analyze").execute(&mut db).await?;
    db.close().await?;
    Ok(())
}

/// Every node writes as fast as it can; returns the results per second of all
/// together.
async fn race(url: &str, key: &std::path::Path, nodes: i64) -> Outcome<f64> {
    let mut running = JoinSet::new();
    let began = Instant::now();
    for number in 0..nodes {
        let store = open(url, key).await?;
        let id = NodeId::new(Millis(clock::wall_millis()), [u8::try_from(number)?; 10]);
        let node = Node { id, name: "bench".into(), home: String::new(), version: String::new() };
        store.renew_node(&node, LEASE_DURATION * 10).await?;
        let max = usize::from(SLOT_COUNT) / usize::try_from(nodes)?;
        let taken = store.take_slots(id, max, true).await?;
        running.spawn(write(store, taken.into_iter().map(|taken| taken.grant).collect()));
    }
    let mut written = 0;
    while let Some(done) = running.join_next().await {
        written += done??;
    }
    Ok(written as f64 / began.elapsed().as_secs_f64())
}

async fn write(store: Store, grants: Vec<Grant>) -> Outcome<usize> {
    let slots: Vec<Slot> = grants.iter().map(|grant| grant.slot).collect();
    let grants: HashMap<Slot, Grant> =
        grants.into_iter().map(|grant| (grant.slot, grant)).collect();
    let monitors: Vec<MonitorId> =
        store.active_in_slots(&slots).await?.iter().map(|stored| stored.monitor.id).collect();
    let (mut written, mut seq) = (0, 0);
    let began = Instant::now();
    while began.elapsed() < WINDOW {
        seq += 1;
        for ids in monitors.chunks(BATCH) {
            let at = Millis(clock::wall_millis());
            let records: Vec<Record> = ids
                .iter()
                .map(|id| record(*id, seq, at, grants.get(&Slot::of(*id)).copied()))
                .collect();
            // The chain names the statement and the reason.
            let done =
                store.record(&records).await.map_err(|error| ErrorChain(&error).to_string())?;
            if !done.stale.is_empty() {
                return Err("results were rejected".into());
            }
            written += done.heartbeats;
        }
    }
    store.close().await;
    Ok(written)
}

fn record(monitor: MonitorId, seq: i64, at: Millis, grant: Option<Grant>) -> Record {
    let load_time = Some(Duration::from_micros(12_345));
    Record {
        monitor,
        seq,
        heartbeat: Heartbeat {
            at,
            status: Beat::Up,
            message: "200 OK".into(),
            load_time,
            phases: Phases { connect: Some(Duration::from_micros(678)), ..Phases::default() },
            regions: Vec::new(),
            readings: Default::default(),
        },
        state: State {
            status: Status::Up,
            since: Some(at),
            last_check: Some(at),
            last_message: "200 OK".into(),
            load_time,
            ..State::default()
        },
        opens: Vec::new(),
        closes: None,
        events: Vec::new(),
        certificate: None,
        evidence: Vec::new(),
        grant,
    }
}
