//! Two versions of the service side by side: both have the same monitors, check the same target and
//! get the same calls at the same time, so that whatever else the machine does happens to both.

use clap::Args;
use serde_json::json;
use std::path::{Path, PathBuf};
use std::time::Duration;
use tokio::time::sleep;

use crate::paced::{INTERVAL, WARM_UP};
use crate::reader::times;
use crate::report::Report;
use crate::service::Service;
use crate::stats::percentile;
use crate::target::Target;
use crate::{Outcome, Run, site};

/// What a version may cost compared with the one before, where nothing new is used.
const MAX_CHECK_RATIO: f64 = 1.03;
const MAX_CALL_RATIO: f64 = 1.1;
const USER_CALLS: usize = 300;
const USER_ROUNDS: usize = 20;
const LIST_CALLS: usize = 2;
const LIST_ROUNDS: usize = 15;

#[derive(Args)]
pub struct Compare {
    /// The release binary of the earlier version
    #[arg(long)]
    before: PathBuf,
    /// The release binary of the later version
    #[arg(long)]
    after: PathBuf,
    /// How many monitors each of them checks every 20 seconds
    #[arg(long, default_value_t = 10_000)]
    monitors: u32,
    /// How many seconds their checks are measured in each round
    #[arg(long, default_value_t = 60)]
    seconds: u64,
    #[arg(long, default_value_t = 5)]
    rounds: usize,
}

/// What one version needed.
struct Cost {
    /// Processor seconds per 1,000 checks or calls.
    cpu: f64,
    /// The median duration of a call.
    millis: f64,
}

pub async fn run(compare: &Compare) -> Outcome<()> {
    let target = Target::start().await?;
    let mut report = Report::default();
    let sides = [side(&compare.before, &target).await?, side(&compare.after, &target).await?];
    let [before, after] = calls(&sides, "/api/v1/users/me", USER_CALLS, USER_ROUNDS).await?;
    report_calls(&mut report, "users/me", &before, &after);
    for (number, service) in sides.iter().enumerate() {
        add_monitors(service, &target, compare.monitors, number as u32).await?;
    }
    sleep(WARM_UP + Duration::from_secs(INTERVAL)).await;
    let mut ratios = Vec::new();
    for _ in 0..compare.rounds {
        let [before, after] = checks(&sides, &target, compare).await?;
        println!("  CPU s per 1,000 checks: {before:.3} before, {after:.3} after");
        ratios.push(after / before);
    }
    let name =
        format!("{} http monitors: CPU of a check, median of {}", compare.monitors, ratios.len());
    report.ratio(&name, percentile(&ratios, 0.5), "earlier version", 1.0, MAX_CHECK_RATIO);
    let [before, after] = calls(&sides, "/api/v1/monitors", LIST_CALLS, LIST_ROUNDS).await?;
    report_calls(&mut report, &format!("list of {}", compare.monitors), &before, &after);
    for service in sides {
        service.stop().await?;
    }
    println!("\n{}", report.table());
    Ok(())
}

async fn side(binary: &Path, target: &Target) -> Outcome<Service> {
    let run = Run {
        wakeful: binary.to_owned(),
        seconds: 0,
        soak_minutes: 0,
        parts: Vec::new(),
        docs: None,
    };
    Service::start_empty(&run, target).await
}

async fn add_monitors(service: &Service, target: &Target, count: u32, side: u32) -> Outcome<()> {
    for number in side * count..(side + 1) * count {
        let url = format!("http://{}:{}/{number}", site::address(number), target.http);
        let monitor = json!({"name": format!("site {number}"), "type": "http", "isactive": true,
            "heartbeat_interval": INTERVAL, "upside_down_mode": false,
            "http": {"url": url, "accepted_status_codes": "200-299"}});
        service.post("monitor/save", &monitor).await?;
    }
    Ok(())
}

/// The cost of the same calls to both, in turns.
async fn calls(
    sides: &[Service; 2],
    path: &str,
    count: usize,
    rounds: usize,
) -> Outcome<[Cost; 2]> {
    let paths = vec![path.to_owned(); count];
    let (mut spent, mut durations) = ([Duration::ZERO; 2], [Vec::new(), Vec::new()]);
    for round in 0..rounds {
        for turn in 0..2 {
            let side = (round + turn) % 2;
            let before = sides[side].cpu()?;
            durations[side].extend(times(&sides[side], &paths).await?);
            spent[side] += sides[side].cpu()? - before;
        }
    }
    let cost = |side: usize| Cost {
        cpu: spent[side].as_secs_f64() * 1_000.0 / (count * rounds) as f64,
        millis: percentile(&durations[side], 0.5),
    };
    Ok([cost(0), cost(1)])
}

fn report_calls(report: &mut Report, what: &str, before: &Cost, after: &Cost) {
    let name = format!("{what}: CPU s per 1,000 calls");
    report.ratio(&name, after.cpu, "earlier version", before.cpu, MAX_CALL_RATIO);
    let name = format!("{what}: p50, ms");
    report.ratio(&name, after.millis, "earlier version", before.millis, MAX_CALL_RATIO);
}

/// Processor seconds per 1,000 checks of both, in the same window.
async fn checks(sides: &[Service; 2], target: &Target, compare: &Compare) -> Outcome<[f64; 2]> {
    let cpu = || -> Outcome<[Duration; 2]> { Ok([sides[0].cpu()?, sides[1].cpu()?]) };
    target.state.start_recording();
    let from = cpu()?;
    sleep(Duration::from_secs(compare.seconds)).await;
    let to = cpu()?;
    let arrivals = target.state.take_arrivals();
    let of_first = arrivals.iter().filter(|arrival| arrival.number < compare.monitors).count();
    let cost = |side: usize, checks: usize| {
        (to[side] - from[side]).as_secs_f64() * 1_000.0 / checks.max(1) as f64
    };
    Ok([cost(0, of_first), cost(1, arrivals.len() - of_first)])
}
