//! On schedule: monitors at twenty seconds, compared with the paced baseline.
//! Their cost, how punctual they are, also while the list is read, and how soon
//! a failing check is recorded.

use std::sync::Arc;
use std::time::Duration;
use tokio::process::Command;
use tokio::time::sleep;

use crate::alerts;
use crate::jitter::{Punctuality, Schedule};
use crate::reader::{Reader, times};
use crate::report::{Point, Report};
use crate::seed::MonitorSet;
use crate::service::Service;
use crate::stats::percentile;
use crate::target::Target;
use crate::{Outcome, Run, clock, process};

pub const INTERVAL: u64 = 20;
pub const WARM_UP: Duration = Duration::from_secs(3);
/// For a point in the charts without a limit.
const SHORT_WINDOW: Duration = Duration::from_secs(30);
/// While the list is read, or monitors flap.
const FOLLOW_UP_WINDOW: Duration = Duration::from_secs(30);

/// The result of a window: processor seconds per 1,000 arrivals.
pub struct Measurement {
    pub cost: f64,
    pub punctuality: Punctuality,
}

pub async fn measure(run: &Run, target: &Target, report: &mut Report) -> Outcome<()> {
    for (count, bar) in [(1_000, Some(1.4)), (3_000, None), (10_000, Some(2.0))] {
        println!("on time: {count} monitors at {INTERVAL} s");
        let window = if bar.is_some() { run.window() } else { run.window().min(SHORT_WINDOW) };
        let baseline = baseline(target, count, window).await?;
        let monitors_to_seed = MonitorSet {
            hook: Some(target.hook),
            ..MonitorSet::paced(count, INTERVAL, target.http)
        };
        let service = Arc::new(Service::start(run, target, &monitors_to_seed).await?);
        sleep(WARM_UP).await;
        let quiet = measure_window(target, count, window, || service.cpu()).await?;
        report.points.push(Point {
            monitors: count,
            cost: quiet.cost,
            baseline_cost: baseline.cost,
            lag: quiet.punctuality.deviation,
            baseline_lag: baseline.punctuality.deviation,
        });
        if let Some(bar) = bar {
            report_cost(report, count, bar, &quiet, &baseline);
            while_read(report, target, &service, count, &baseline).await?;
            alerts::measure(report, target, &service, count, FOLLOW_UP_WINDOW).await?;
            let memory = service.resident()? as f64 / 1e6;
            report.at_most(&format!("memory, {count} monitors: MB"), memory, limit(count));
        }
        let service = Arc::try_unwrap(service).map_err(|_| "a reader is still running")?;
        service.stop().await?;
    }
    Ok(())
}

fn limit(count: u32) -> f64 {
    if count <= 10_000 { 80.0 } else { f64::MAX }
}

fn report_cost(
    report: &mut Report,
    count: u32,
    bar: f64,
    quiet: &Measurement,
    baseline: &Measurement,
) {
    let name = |what: &str| format!("on time, {count} monitors: {what}");
    report.ratio(&name("CPU s per 1,000 checks"), quiet.cost, "floor", baseline.cost, bar);
    deviation(report, &name("deviation"), &quiet.punctuality, baseline);
    println!("  (the floor's own p50: {:.2} ms)", baseline.punctuality.deviation.p50);
}

pub fn deviation(report: &mut Report, name: &str, seen: &Punctuality, baseline: &Measurement) {
    report.at_most(&format!("{name} p50, ms"), seen.deviation.p50, 0.5);
    let theirs = baseline.punctuality.deviation.p99;
    report.ratio(&format!("{name} p99, ms"), seen.deviation.p99, "floor", theirs, 1.5);
    report.expect_none_of(&format!("{name}: missed"), seen.missed, seen.due);
}

async fn while_read(
    report: &mut Report,
    target: &Target,
    service: &Arc<Service>,
    count: u32,
    baseline: &Measurement,
) -> Outcome<()> {
    let reader = Reader::start(service.clone());
    let read = measure_window(target, count, FOLLOW_UP_WINDOW, || service.cpu()).await?;
    reader.stop().await;
    let name = format!("on time, {count} monitors, list read each second: deviation");
    deviation(report, &name, &read.punctuality, baseline);
    let list = times(service, &vec!["/api/v1/monitors".to_owned(); 10]).await?;
    let name = format!("API: the whole list of {count}, slowest of 10, ms");
    report.at_most(&name, percentile(&list, 1.0), 300.0);
    Ok(())
}

pub async fn baseline(target: &Target, count: u32, window: Duration) -> Outcome<Measurement> {
    let mut child = Command::new(std::env::current_exe()?)
        .args(["paced-baseline", "--monitors", &count.to_string()])
        .args(["--interval", &INTERVAL.to_string(), "--port", &target.http.to_string()])
        .kill_on_drop(true)
        .spawn()?;
    let pid = child.id().ok_or("the paced baseline ended at once")?;
    sleep(WARM_UP).await;
    let seen = measure_window(target, count, window, || process::cpu(pid)).await?;
    child.kill().await?;
    Ok(seen)
}

pub async fn measure_window(
    target: &Target,
    count: u32,
    window: Duration,
    cpu: impl Fn() -> Outcome<Duration>,
) -> Outcome<Measurement> {
    let interval = MonitorSet::paced(count, INTERVAL, target.http).every()?;
    let (skew, from) = (clock::wall() - clock::mono(), clock::mono());
    target.state.start_recording();
    let before = cpu()?;
    sleep(window).await;
    let spent = (cpu()? - before).as_secs_f64();
    let arrivals = target.state.take_arrivals();
    let schedule = Schedule { monitors: count, interval, skew, from, to: clock::mono() };
    let cost = spent * 1_000.0 / arrivals.len().max(1) as f64;
    Ok(Measurement { cost, punctuality: schedule.judge(&arrivals) })
}
