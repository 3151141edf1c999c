//! On time: monitors at twenty seconds, beside the paced floor. What they cost,
//! how punctual they are, also while the list is read, and how soon a failing
//! check is on record.

use std::sync::Arc;
use std::time::Duration;
use tokio::process::Command;
use tokio::time::sleep;

use crate::alerts;
use crate::grid::{Grid, Punctuality};
use crate::reader::{Reader, times};
use crate::report::{Point, Report};
use crate::seed::Crowd;
use crate::service::Service;
use crate::stats::percentile;
use crate::target::Target;
use crate::{Outcome, Run, clock, process};

const INTERVAL: u64 = 20;
const WARM_UP: Duration = Duration::from_secs(3);
/// For a point in the pictures without a bar.
const BETWEEN: Duration = Duration::from_secs(30);
/// While the list is read, or monitors flap.
const AFTER: Duration = Duration::from_secs(30);

/// What a window came to: processor seconds for each 1,000 arrivals.
struct Seen {
    cost: f64,
    punctuality: Punctuality,
}

pub async fn measure(run: &Run, target: &Target, report: &mut Report) -> Outcome<()> {
    for (count, bar) in [(1_000, Some(1.4)), (3_000, None), (10_000, Some(2.0))] {
        println!("on time: {count} monitors at {INTERVAL} s");
        let window = if bar.is_some() { run.window() } else { run.window().min(BETWEEN) };
        let floor = floor(target, count, window).await?;
        let crowd = Crowd { hook: Some(target.hook), ..Crowd::paced(count, INTERVAL, target.http) };
        let service = Arc::new(Service::start(run, target, &crowd).await?);
        sleep(WARM_UP).await;
        let quiet = watch(target, count, window, || service.cpu()).await?;
        report.points.push(Point {
            monitors: count,
            cost: quiet.cost,
            floor_cost: floor.cost,
            lag: quiet.punctuality.deviation,
            floor_lag: floor.punctuality.deviation,
        });
        if let Some(bar) = bar {
            tell(report, count, bar, &quiet, &floor);
            while_read(report, target, &service, count, &floor).await?;
            alerts::measure(report, target, &service, count, AFTER).await?;
            let memory = service.resident()? as f64 / 1e6;
            report.at_most(&format!("memory, {count} monitors: MB"), memory, limit(count));
        }
        let service = Arc::try_unwrap(service).map_err(|_| "somebody still reads")?;
        service.stop().await?;
    }
    Ok(())
}

fn limit(count: u32) -> f64 {
    if count <= 10_000 { 80.0 } else { f64::MAX }
}

fn tell(report: &mut Report, count: u32, bar: f64, quiet: &Seen, floor: &Seen) {
    let name = |what: &str| format!("on time, {count} monitors: {what}");
    report.ratio(&name("CPU s per 1,000 checks"), quiet.cost, "floor", floor.cost, bar);
    deviation(report, &name("deviation"), &quiet.punctuality, floor);
    println!("  (the floor's own p50: {:.2} ms)", floor.punctuality.deviation.p50);
}

fn deviation(report: &mut Report, name: &str, seen: &Punctuality, floor: &Seen) {
    report.at_most(&format!("{name} p50, ms"), seen.deviation.p50, 0.5);
    let theirs = floor.punctuality.deviation.p99;
    report.ratio(&format!("{name} p99, ms"), seen.deviation.p99, "floor", theirs, 1.5);
    report.none_of(&format!("{name}: missed"), seen.missed, seen.due);
}

async fn while_read(
    report: &mut Report,
    target: &Target,
    service: &Arc<Service>,
    count: u32,
    floor: &Seen,
) -> Outcome<()> {
    let reader = Reader::start(service.clone());
    let read = watch(target, count, AFTER, || service.cpu()).await?;
    reader.stop().await;
    let name = format!("on time, {count} monitors, list read each second: deviation");
    deviation(report, &name, &read.punctuality, floor);
    let list = times(service, &vec!["/api/v1/monitors".to_owned(); 10]).await?;
    let name = format!("API: the whole list of {count}, slowest of 10, ms");
    report.at_most(&name, percentile(&list, 1.0), 300.0);
    Ok(())
}

async fn floor(target: &Target, count: u32, window: Duration) -> Outcome<Seen> {
    let mut child = Command::new(std::env::current_exe()?)
        .args(["floor", "--monitors", &count.to_string()])
        .args(["--interval", &INTERVAL.to_string(), "--port", &target.http.to_string()])
        .kill_on_drop(true)
        .spawn()?;
    let pid = child.id().ok_or("the floor ended at once")?;
    sleep(WARM_UP).await;
    let seen = watch(target, count, window, || process::cpu(pid)).await?;
    child.kill().await?;
    Ok(seen)
}

async fn watch(
    target: &Target,
    count: u32,
    window: Duration,
    cpu: impl Fn() -> Outcome<Duration>,
) -> Outcome<Seen> {
    let interval = Crowd::paced(count, INTERVAL, target.http).every()?;
    let (skew, from) = (clock::wall() - clock::mono(), clock::mono());
    target.board.note();
    let before = cpu()?;
    sleep(window).await;
    let spent = (cpu()? - before).as_secs_f64();
    let arrivals = target.board.noted();
    let grid = Grid { monitors: count, interval, skew, from, to: clock::mono() };
    let cost = spent * 1_000.0 / arrivals.len().max(1) as f64;
    Ok(Seen { cost, punctuality: grid.judge(&arrivals) })
}
