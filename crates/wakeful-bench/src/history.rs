//! What the past costs: bytes a heartbeat after a month, how fast heartbeats
//! are packed and folded, how near percentiles are, and how quick a year of a
//! thousand monitors is read.

use sqlx::sqlite::{SqliteConnectOptions, SqliteSynchronous};
use sqlx::{Connection as _, SqliteConnection};
use std::path::Path;
use std::time::{Duration, Instant};
use wakeful_core::history::pack::{FULL, pack, unpack, unpack_phases};
use wakeful_core::history::rollup::Rollup;
use wakeful_core::history::{DAY, Entry};
use wakeful_core::id::MonitorId;
use wakeful_core::observation::Phases;
use wakeful_core::time::Millis;
use wakeful_core::verdict::{Beat, Heartbeat, State, Status};
use wakeful_store::{Keyring, Limits, Location, Options, Record, Store};

use crate::reader::times;
use crate::report::Report;
use crate::seed::{self, Crowd};
use crate::service::Service;
use crate::stats::{Spread, percentile};
use crate::target::Target;
use crate::{Outcome, Run, clock, site};

const INTERVAL: u64 = 60;
const MINUTES_A_DAY: u64 = 24 * 60;
/// How many monitors the month is measured with, and how many have a year.
const MONTH_MONITORS: u32 = 5;
const YEAR_MONITORS: u32 = 1_000;
/// As the settings have it.
const PHASE_DAYS: u32 = 7;
/// How many heartbeats one record and one step of folding take.
const BATCH: usize = 4_096;
const ASKED: usize = 200;

pub async fn measure(run: &Run, target: &Target, report: &mut Report) -> Outcome<()> {
    println!("the past");
    packing(report);
    month(target, report).await?;
    year(run, target, report).await
}

/// The codec alone, on one core.
fn packing(report: &mut Report) {
    let beats = Checks::new(1).take(FULL);
    let entries: Vec<Entry> =
        (1..).zip(beats).map(|(seq, beat)| Entry::of(seq, beat, INTERVAL as u32, &[])).collect();
    let began = Instant::now();
    let mut rounds = 0;
    while began.elapsed() < Duration::from_secs(2) {
        std::hint::black_box(pack(std::hint::black_box(&entries)));
        rounds += 1;
    }
    let rate = (rounds * entries.len()) as f64 / began.elapsed().as_secs_f64();
    report.at_least("history: heartbeats packed a second on one core", rate, 200_000.0);
    let packed = pack(&entries);
    let began = Instant::now();
    if let Ok(mut read) = unpack(&packed.data) {
        let _ = unpack_phases(&packed.phases, &mut read);
        println!("  a block of {FULL} is read in {:.1} ms", began.elapsed().as_secs_f64() * 1e3);
    }
    let mut exact: Vec<f64> =
        entries.iter().filter_map(|entry| entry.heartbeat.load_time).map(micros).collect();
    exact.sort_by(f64::total_cmp);
    let times = Rollup::of(&entries).map(|rollup| rollup.times).unwrap_or_default();
    let error = [0.5, 0.9, 0.95, 0.99].map(|share| {
        let exact = percentile(&exact, share);
        times.percentile(share).map_or(1.0, |told| (told - exact).abs() / exact)
    });
    let worst = error.into_iter().fold(0.0, f64::max) * 100.0;
    report.at_most("history: error of p50, p90, p95, p99, %", worst, 1.0);
}

/// Thirty days, folded as the service does it, with phases of the last week.
async fn month(target: &Target, report: &mut Report) -> Outcome<()> {
    let data = tempfile::tempdir()?;
    seed::seed(data.path(), &Crowd::paced(MONTH_MONITORS, INTERVAL, target.http)).await?;
    let store = open(data.path()).await?;
    let end = Millis(clock::wall_millis());
    let began = Instant::now();
    for number in 0..MONTH_MONITORS {
        fill(&store, site::id(number), end, 30).await?;
    }
    println!("  a month made in {:.0} s", began.elapsed().as_secs_f64());
    let (began, mut folded) = (Instant::now(), 0);
    for number in 0..MONTH_MONITORS {
        folded += fold(&store, site::id(number), end).await?;
    }
    let rate = folded as f64 / began.elapsed().as_secs_f64();
    println!("  {folded} heartbeats folded, {rate:.0} a second with the database");
    let limits = Limits {
        heartbeats: Millis(0),
        phases: end.before(DAY * PHASE_DAYS),
        hours: Millis(0),
        days: Millis(0),
    };
    for number in 0..MONTH_MONITORS {
        while store.let_go(site::id(number), &limits).await? > 0 {}
    }
    while store.empty_pages().await? > 0 {
        store.shrink(1_000).await?;
    }
    let mut all = 0;
    for table in store.tables().await? {
        if ["heartbeats", "blocks", "hours", "days", "folds"].contains(&&*table.name) {
            let each = table.bytes as f64 / folded as f64;
            println!("  {}: {each:.2} bytes a heartbeat", table.name);
            all += table.bytes;
        }
    }
    report.at_most(
        "history: bytes a heartbeat, all tables, 30 days",
        all as f64 / folded as f64,
        4.0,
    );
    store.close().await;
    Ok(())
}

/// A year of one monitor, copied to a thousand: days and hours whole, single
/// heartbeats of the last month.
async fn year(run: &Run, target: &Target, report: &mut Report) -> Outcome<()> {
    let data = tempfile::tempdir()?;
    let token =
        seed::seed(data.path(), &Crowd::paced(YEAR_MONITORS, INTERVAL, target.http)).await?;
    let store = open(data.path()).await?;
    let end = Millis(clock::wall_millis());
    fill(&store, site::id(0), end, 365).await?;
    fold(&store, site::id(0), end).await?;
    store.close().await;
    copy(data.path(), end.before(DAY * 30)).await?;
    let size = std::fs::metadata(seed::database(data.path()))?.len() >> 20;
    println!("  a year of {YEAR_MONITORS} monitors: {size} MiB");
    let service = Service::launch(run, target, data, token).await?;
    let span = format!("from={}&to={end}", end.before(DAY * 365));
    for (name, query, bar) in [
        ("history: stats of 365 days, p99, ms", format!("stats?{span}"), 20.0),
        ("history: series of 800 points, p99, ms", format!("series?{span}&points=800"), 50.0),
    ] {
        let paths: Vec<String> = (0..ASKED as u32)
            .map(|turn| turn.wrapping_mul(2_654_435_761) % YEAR_MONITORS)
            .map(|number| format!("/api/v1/monitor/{}/{query}", site::id(number)))
            .collect();
        let Spread { p50, p99, .. } = Spread::of(&times(&service, &paths).await?);
        println!("  {query}: p50 {p50:.1} ms");
        report.at_most(name, p99, bar);
    }
    service.stop().await
}

async fn open(data: &Path) -> Outcome<Store> {
    let keyring = Keyring::load_or_create(&data.join("master.key"))?;
    let location = Location::Sqlite(seed::database(data));
    Ok(Store::open(&Options { location, max_connections: 2 }, keyring).await?)
}

async fn fill(store: &Store, monitor: MonitorId, end: Millis, days: u32) -> Outcome<()> {
    let count = u64::from(days) * MINUTES_A_DAY;
    let from = end.before(Duration::from_secs(count * INTERVAL));
    let beats = Checks::new(u64::from(days) + monitor.uuid().as_u128() as u64).take(count as usize);
    let mut records = Vec::with_capacity(BATCH);
    for (seq, mut heartbeat) in (1..).zip(beats) {
        heartbeat.at = Millis(from.0 + heartbeat.at.0);
        let state =
            State { status: Status::Up, last_check: Some(heartbeat.at), ..State::default() };
        let (opens, events) = (Vec::new(), Vec::new());
        records.push(Record {
            monitor,
            seq,
            heartbeat,
            state,
            opens,
            closes: None,
            events,
            certificate: None,
            grant: None,
        });
        if records.len() == BATCH {
            store.record(&records).await?;
            records.clear();
        }
    }
    store.record(&records).await?;
    Ok(())
}

async fn fold(store: &Store, monitor: MonitorId, until: Millis) -> Outcome<usize> {
    let mut folded = 0;
    loop {
        let step = store.fold(monitor, until, Millis(0), BATCH as u32).await?;
        folded += step.heartbeats;
        if step.heartbeats == 0 {
            return Ok(folded);
        }
    }
}

async fn copy(data: &Path, raw_from: Millis) -> Outcome<()> {
    let options = SqliteConnectOptions::new()
        .filename(seed::database(data))
        .synchronous(SqliteSynchronous::Off);
    let mut db = SqliteConnection::connect_with(&options).await?;
    let first = site::id(0).uuid().as_bytes().to_vec();
    for sql in [
        "insert into days (monitor_id, at, data)
         select m.id, d.at, d.data from monitors m join days d on d.monitor_id = $1
         where m.id <> $1 order by m.id, d.at",
        "insert into hours (monitor_id, at, data)
         select m.id, h.at, h.data from hours h join monitors m on m.id <> $1
         where h.monitor_id = $1 order by h.at, m.id",
        "insert into folds (monitor_id, revision, until)
         select m.id, f.revision, f.until from monitors m join folds f on f.monitor_id = $1
         where m.id <> $1",
    ] {
        sqlx::query(sql).bind(&first).execute(&mut db).await?;
    }
    sqlx::query(
        "insert into blocks (monitor_id, from_at, to_at, count, data)
         select m.id, b.from_at, b.to_at, b.count, b.data
         from blocks b join monitors m on m.id <> $1
         where b.monitor_id = $1 and b.to_at >= $2
         order by b.from_at, m.id",
    )
    .bind(&first)
    .bind(raw_from.0)
    .execute(&mut db)
    .await?;
    sqlx::query("pragma wal_checkpoint(truncate)").execute(&mut db).await?;
    db.close().await?;
    Ok(())
}

fn micros(span: Duration) -> f64 {
    span.as_micros() as f64
}

/// Checks as they come: every minute, a little late, log-normal phases to a
/// tenth of a millisecond, and an outage of some minutes every other day.
struct Checks {
    dice: u64,
    number: i64,
}

impl Checks {
    fn new(seed: u64) -> Self {
        Self { dice: seed.wrapping_mul(0x9E37_79B9_7F4A_7C15) | 1, number: 0 }
    }

    /// A number between nothing and one.
    fn roll(&mut self) -> f64 {
        self.dice ^= self.dice << 13;
        self.dice ^= self.dice >> 7;
        self.dice ^= self.dice << 17;
        ((self.dice >> 11) as f64 + 0.5) / (1_u64 << 53) as f64
    }

    /// Log-normal, from its median in milliseconds.
    fn span(&mut self, median: f64, sigma: f64) -> Duration {
        let normal = (-2.0 * self.roll().ln()).sqrt() * (std::f64::consts::TAU * self.roll()).cos();
        Duration::from_micros(((median * (sigma * normal).exp() * 10.0) as u64) * 100)
    }
}

impl Iterator for Checks {
    type Item = Heartbeat;

    fn next(&mut self) -> Option<Heartbeat> {
        let number = self.number;
        self.number += 1;
        let down = number % 2_880 < 4;
        let (resolve, connect) = (self.span(3.0, 0.3), self.span(14.0, 0.2));
        let (tls, first_byte) = (self.span(22.0, 0.2), self.span(80.0, 0.35));
        let transfer = self.span(6.0, 0.4);
        let load = resolve + connect + tls + first_byte + transfer + self.span(0.3, 0.2);
        let late = self.span(1.5, 0.8);
        let at = Millis(number * (INTERVAL as i64) * 1_000).after(load + late);
        let phases = match down {
            true => Phases { resolve: Some(resolve), ..Phases::default() },
            false => Phases {
                resolve: Some(resolve),
                connect: Some(connect),
                tls: Some(tls),
                first_byte: Some(first_byte),
                transfer: Some(transfer),
            },
        };
        Some(Heartbeat {
            at,
            status: if down { Beat::Down } else { Beat::Up },
            message: if down { "connection refused" } else { "200 OK" }.to_owned(),
            load_time: (!down).then_some(load),
            phases,
            regions: Vec::new(),
        })
    }
}
