//! The cost of history: bytes per heartbeat after a month, how fast heartbeats
//! are encoded and compacted, how accurate percentiles are, and how fast a year
//! of a thousand monitors is read.

mod checks;
pub mod database;

use std::time::{Duration, Instant};
use wakeful_core::heartbeat::Heartbeat;
use wakeful_core::history::block_codec::{BLOCK_CAPACITY, pack, unpack, unpack_phases};
use wakeful_core::history::rollup::{self, Detail, Rollup};
use wakeful_core::history::{DAY, Entry, Exclusions, HOUR, start_of};
use wakeful_core::id::MonitorId;
use wakeful_core::time::Millis;
use wakeful_core::verdict::{State, Status};
use wakeful_store::{Record, RetentionLimits, Store};

use checks::{Checks, INTERVAL};
use database::Database;

use crate::reader::times;
use crate::report::Report;
use crate::seed::MonitorSet;
use crate::service::Service;
use crate::stats::{Spread, percentile};
use crate::target::Target;
use crate::{Outcome, Run, clock, site};

const BEATS_A_DAY: usize = 24 * 60;
/// The number of monitors with a month of history, and with a year.
const MONTH_MONITORS: u32 = 36;
const MONTH_DAYS: u32 = 30;
/// What a heartbeat took when blocks got their format, and how far it varies: new fields must not
/// make those larger that do not use them.
const MAX_BYTES_SQLITE: f64 = 3.4 + 0.05;
const MAX_BYTES_POSTGRES: f64 = 3.9 + 0.05;
const YEAR_MONITORS: u32 = 1_000;
const YEAR_DAYS: u32 = 365;
/// As in the default settings, and as the service compacts.
const PHASE_DAYS: u32 = 3;
const COMPACTION_DELAY: Duration = Duration::from_secs(15 * 60);
/// The number of heartbeats per record and per compaction step.
const BATCH: usize = 4_096;
/// A year is compacted in these steps, and its last day by the hour, as in
/// operation.
const STEP: usize = 960;
const HOURLY: usize = BEATS_A_DAY / 24;
const REQUESTS: usize = 200;

/// How small heartbeats become, and how fast: the codec alone, and thirty days
/// on both databases.
pub async fn month(target: &Target, report: &mut Report) -> Outcome<()> {
    println!("a month");
    packing(report);
    reading();
    month_on(Database::file()?, MAX_BYTES_SQLITE, target, report).await?;
    match Database::server("month").await? {
        Some(database) => month_on(database, MAX_BYTES_POSTGRES, target, report).await,
        None => without_server(),
    }
}

/// How fast a year of many monitors is read, on both databases.
pub async fn year(run: &Run, target: &Target, report: &mut Report) -> Outcome<()> {
    println!("a year");
    year_on(Database::file()?, run, target, report).await?;
    match Database::server("year").await? {
        Some(database) => year_on(database, run, target, report).await,
        None => without_server(),
    }
}

fn without_server() -> Outcome<()> {
    println!("  no PostgreSQL, skipped: run under scripts/with-postgres");
    Ok(())
}

/// The codec alone, on one core.
fn packing(report: &mut Report) {
    let beats = Checks::new(1).take(BLOCK_CAPACITY);
    let entries: Vec<Entry> = (1..)
        .zip(beats)
        .map(|(seq, beat)| Entry::of(seq, beat, INTERVAL as u32, &[], &Exclusions::default()))
        .collect();
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
        println!(
            "  a block of {BLOCK_CAPACITY} is read in {:.1} ms",
            began.elapsed().as_secs_f64() * 1e3
        );
    }
    let mut exact: Vec<f64> =
        entries.iter().filter_map(|entry| entry.heartbeat.load_time).map(micros).collect();
    exact.sort_by(f64::total_cmp);
    let times = Rollup::of(&entries).map(|rollup| rollup.times).unwrap_or_default();
    let error = [0.5, 0.9, 0.95, 0.99].map(|share| {
        let exact = percentile(&exact, share);
        times.percentile(share).map_or(1.0, |estimate| (estimate - exact).abs() / exact)
    });
    let worst = error.into_iter().fold(0.0, f64::max) * 100.0;
    report.at_most("history: error of p50, p90, p95, p99, %", worst, 1.0);
}

/// Hours and days alone: the size of a year of them, and how fast it is read.
fn reading() {
    let beats = Checks::new(1).take(YEAR_DAYS as usize * BEATS_A_DAY);
    let entries: Vec<Entry> = (1..)
        .zip(beats)
        .map(|(seq, beat)| Entry::of(seq, beat, INTERVAL as u32, &[], &Exclusions::default()))
        .collect();
    let rolled = |grain: Duration| -> Vec<Rollup> {
        let at = |entry: &Entry| start_of(grain, entry.heartbeat.at);
        entries.chunk_by(|one, two| at(one) == at(two)).filter_map(Rollup::of).collect()
    };
    let (days, hours) = (rolled(DAY), rolled(HOUR));
    let day = |rollup: &Rollup| start_of(DAY, rollup.first);
    let days = days.chunks(1).map(|day| rollup::pack(day, Detail::Full));
    let hours =
        hours.chunk_by(|one, two| day(one) == day(two)).map(|day| rollup::pack(day, Detail::Means));
    let rows: [(&str, Vec<Vec<u8>>); 2] = [("days", days.collect()), ("hours", hours.collect())];
    for (name, rows) in rows {
        let began = Instant::now();
        let read = rows.iter().filter_map(|row| rollup::unpack(row, Detail::Full).ok()).count();
        let took = began.elapsed().as_secs_f64() * 1e3;
        let each = rows.iter().map(Vec::len).sum::<usize>() as f64 / entries.len() as f64;
        println!("  {read} rows of {name} are read in {took:.1} ms, {each:.2} bytes per heartbeat");
    }
}

/// The size on disk of thirty days as in operation: recorded and compacted
/// every hour, with phases deleted when they are old enough. Monitors are added
/// one by one, an hour apart.
async fn month_on(
    database: Database,
    max_bytes: f64,
    target: &Target,
    report: &mut Report,
) -> Outcome<()> {
    let store = database.open().await?;
    database
        .seed_monitors(&store, &MonitorSet::paced(MONTH_MONITORS, INTERVAL, target.http))
        .await?;
    database.vacuum().await?;
    let before = database.bytes().await?;
    let began = Instant::now();
    let end = Millis(clock::wall_millis());
    let from = end.before(DAY * MONTH_DAYS);
    let begins = |number: u32| from.after(HOUR * number);
    let mut sites: Vec<MonitorHistory> =
        (0..MONTH_MONITORS).map(|number| MonitorHistory::new(number, begins(number))).collect();
    let (mut compacted, mut compacting) = (0, Duration::ZERO);
    for turn in 1..=MONTH_DAYS * 24 {
        let now = from.after(HOUR * turn);
        let there = &mut sites[..MONTH_MONITORS.min(turn) as usize];
        for site in &mut *there {
            store.record(&site.records(HOURLY)).await?;
        }
        let until = if now < end { now.before(COMPACTION_DELAY) } else { now };
        let began = Instant::now();
        for site in &*there {
            compacted += compact(&store, site.id, until).await?;
        }
        compacting += began.elapsed();
        database.vacuum().await?;
        let phases = now.before(DAY * PHASE_DAYS);
        let (heartbeats, hours, days) = (Millis(0), Millis(0), Millis(0));
        for site in &*there {
            let limits = RetentionLimits { heartbeats, phases, hours, days };
            while store.delete_expired(site.id, &limits).await? > 0 {}
        }
    }
    while store.empty_pages().await? > 0 {
        store.shrink(1_000).await?;
    }
    database.vacuum().await?;
    let name = database.name;
    let (took, rate) = (began.elapsed().as_secs_f64(), compacted as f64 / compacting.as_secs_f64());
    println!(
        "  {name}: {compacted} heartbeats in {took:.0} s, {rate:.0} compacted per second with the database"
    );
    for table in store.tables().await? {
        if ["heartbeats", "blocks", "rollups", "folds"].contains(&&*table.name) {
            println!(
                "  {}: {:.2} bytes per heartbeat",
                table.name,
                table.bytes as f64 / compacted as f64
            );
        }
    }
    let grown = database.bytes().await?.saturating_sub(before) as f64 / compacted as f64;
    report.at_most(
        &format!("history: bytes a heartbeat on disk, 30 days, {name}"),
        grown,
        max_bytes,
    );
    store.close().await;
    Ok(())
}

/// A year of one monitor, copied to a thousand: all days and hours, and the
/// single heartbeats of the last month.
async fn year_on(
    database: Database,
    run: &Run,
    target: &Target,
    report: &mut Report,
) -> Outcome<()> {
    let name = database.name;
    let store = database.open().await?;
    let token = database
        .seed_monitors(&store, &MonitorSet::paced(YEAR_MONITORS, INTERVAL, target.http))
        .await?;
    let end = Millis(clock::wall_millis());
    let from = end.before(DAY * YEAR_DAYS);
    let began = Instant::now();
    record_days(&store, from, end).await?;
    store.close().await;
    database.copy_history(end.before(DAY * 30).0).await?;
    let (size, took) = (database.bytes().await? >> 20, began.elapsed().as_secs_f64());
    println!("  {name}: a year of {YEAR_MONITORS} monitors, {size} MiB, created in {took:.0} s");
    let service = database.launch(run, target, token).await?;
    wait_until_idle(&service).await?;
    let span = format!("from={from}&to={end}");
    for (what, query, bar) in [
        ("stats of 365 days", format!("stats?{span}"), 20.0),
        ("stats of the five usual spans", "stats".to_owned(), 20.0),
        ("series of 800 points", format!("series?{span}&points=800"), 50.0),
    ] {
        let paths: Vec<String> = (0..REQUESTS as u32)
            .map(|turn| turn.wrapping_mul(2_654_435_761) % YEAR_MONITORS)
            .map(|number| format!("/api/v1/monitor/{}/{query}", site::id(number)))
            .collect();
        let cpu = service.cpu()?;
        let Spread { p50, p99, .. } = Spread::of(&times(&service, &paths).await?);
        let cpu = (service.cpu()? - cpu).as_secs_f64() * 1e3 / REQUESTS as f64;
        println!("  {what}: p50 {p50:.1} ms, {cpu:.1} ms of the service's processor time");
        report.at_most(&format!("history: {what}, {name}, p99, ms"), p99, bar);
    }
    service.stop().await
}

/// Records and compacts the history of the first monitor.
async fn record_days(store: &Store, from: Millis, end: Millis) -> Outcome<()> {
    let mut site = MonitorHistory::new(0, from);
    let days = end.since(from).as_secs().div_ceil(DAY.as_secs());
    let mut left = usize::try_from(days)? * BEATS_A_DAY;
    while left > 0 {
        let records = site.records(if left > BEATS_A_DAY { STEP } else { HOURLY });
        left -= records.len();
        store.record(&records).await?;
        compact(store, site.id, end).await?;
    }
    Ok(())
}

/// A service on SQLite whose monitors have so many days of history.
pub async fn launch_with_days(
    run: &Run,
    target: &Target,
    monitors: &MonitorSet,
    days: u32,
) -> Outcome<Service> {
    let database = Database::file()?;
    let store = database.open().await?;
    let token = database.seed_monitors(&store, monitors).await?;
    let end = Millis(clock::wall_millis());
    record_days(&store, end.before(DAY * days), end).await?;
    store.close().await;
    database.copy_history(end.before(DAY).0).await?;
    database.launch(run, target, token).await
}

/// Waits until the service has compacted its history, as it does after a start
/// and then every hour: until it does little more than run checks.
pub async fn wait_until_idle(service: &Service) -> Outcome<()> {
    let (began, before) = (Instant::now(), service.cpu()?);
    let mut cpu = before;
    for _ in 0..60 {
        tokio::time::sleep(Duration::from_secs(1)).await;
        let now = service.cpu()?;
        if now - cpu < Duration::from_millis(40) {
            break;
        }
        cpu = now;
    }
    let (took, used) = (began.elapsed().as_secs_f64(), (service.cpu()? - before).as_secs_f64());
    println!("  idle after {took:.0} s and {used:.1} s of processor time");
    Ok(())
}

/// A monitor and its checks so far.
struct MonitorHistory {
    id: MonitorId,
    from: Millis,
    seq: i64,
    checks: Checks,
}

impl MonitorHistory {
    fn new(number: u32, from: Millis) -> Self {
        Self { id: site::id(number), from, seq: 0, checks: Checks::new(u64::from(number) + 30) }
    }

    /// The next `count` checks.
    fn records(&mut self, count: usize) -> Vec<Record> {
        let beats: Vec<Heartbeat> = self.checks.by_ref().take(count).collect();
        beats.into_iter().map(|beat| self.record(beat)).collect()
    }

    fn record(&mut self, mut heartbeat: Heartbeat) -> Record {
        self.seq += 1;
        heartbeat.at = Millis(self.from.0 + heartbeat.at.0);
        let state =
            State { status: Status::Up, last_check: Some(heartbeat.at), ..State::default() };
        let (opens, events) = (Vec::new(), Vec::new());
        let (monitor, seq) = (self.id, self.seq);
        Record {
            monitor,
            seq,
            heartbeat,
            state,
            opens,
            closes: None,
            events,
            certificate: None,
            evidence: Vec::new(),
            grant: None,
            state_only: false,
        }
    }
}

async fn compact(store: &Store, monitor: MonitorId, until: Millis) -> Outcome<usize> {
    let mut compacted = 0;
    loop {
        let step = store.compact(monitor, until, Millis(0), BATCH as u32).await?;
        compacted += step.heartbeats;
        if step.heartbeats == 0 {
            return Ok(compacted);
        }
    }
}

fn micros(span: Duration) -> f64 {
    span.as_micros() as f64
}
