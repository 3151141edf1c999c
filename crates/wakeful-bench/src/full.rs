//! Full speed: more monitors at one second than two cores can check, compared
//! with the bare loop. Heartbeats in the database count, not started checks.

use std::process::Stdio;
use std::time::Duration;
use tokio::process::Command;
use tokio::time::{Instant, sleep};

use crate::baseline::LoopResult;
use crate::kind::Kind;
use crate::report::Report;
use crate::seed::MonitorSet;
use crate::service::Service;
use crate::target::Target;
use crate::{Outcome, Run, site};

const WARM_UP: Duration = Duration::from_secs(4);
const WINDOW: Duration = Duration::from_secs(8);
const BASELINE_SECONDS: u64 = 5;

pub async fn measure(run: &Run, target: &Target, kind: Kind, report: &mut Report) -> Outcome<()> {
    println!("full speed: {kind}");
    let baseline = baseline(target, kind).await?;
    let result = checked(run, target, kind).await?;
    let [baseline_cost, cost] =
        [&baseline, &result].map(|result| result.cpu * 1_000.0 / result.count as f64);
    let [baseline_rate, rate] =
        [&baseline, &result].map(|result| result.count as f64 / result.seconds);
    report.ratio(
        &format!("full speed, {kind}: CPU s per 1,000 checks"),
        cost,
        "bare loop",
        baseline_cost,
        kind.bar(),
    );
    report.at_least_half(
        &format!("full speed, {kind}: checks a second"),
        rate,
        "bare loop",
        baseline_rate,
    );
    if kind == Kind::Ping {
        match fping().await? {
            Some(theirs) => {
                let name = "full speed, ping beside fping: checks a second";
                report.at_least_half(name, rate, "fping", theirs);
            }
            None => println!("  fping is not installed, skipping the comparison"),
        }
    }
    Ok(())
}

fn ports(target: &Target, kind: Kind) -> Vec<u16> {
    match kind {
        Kind::Http => vec![target.http],
        Kind::Tcp => vec![target.tcp],
        Kind::Dns => target.dns.clone(),
        Kind::Https => target.https.clone(),
        Kind::Ping => vec![0],
    }
}

async fn baseline(target: &Target, kind: Kind) -> Outcome<LoopResult> {
    let ports: Vec<String> = ports(target, kind).iter().map(ToString::to_string).collect();
    let output = Command::new(std::env::current_exe()?)
        .args(["baseline", &kind.to_string(), "--seconds", &BASELINE_SECONDS.to_string()])
        .args(["--ports", &ports.join(",")])
        .arg("--authority")
        .arg(target.authority())
        .stderr(Stdio::inherit())
        .output()
        .await?;
    Ok(serde_json::from_slice(&output.stdout)?)
}

async fn checked(run: &Run, target: &Target, kind: Kind) -> Outcome<LoopResult> {
    let monitors_to_seed = MonitorSet {
        kind,
        count: kind.too_many(),
        interval: 1,
        ports: ports(target, kind),
        known: true,
        retries: 1,
        hook: None,
        escalated: false,
    };
    let service = Service::start(run, target, &monitors_to_seed).await?;
    sleep(WARM_UP).await;
    let (before, _) = service.stored().await?;
    let (began, cpu) = (Instant::now(), service.cpu()?);
    sleep(WINDOW).await;
    let (cpu, seconds) = ((service.cpu()? - cpu).as_secs_f64(), began.elapsed().as_secs_f64());
    let (after, not_up) = service.stored().await?;
    if not_up > 0 {
        println!("  {not_up} of {after} heartbeats are not up");
    }
    service.stop().await?;
    Ok(LoopResult { count: after - before, cpu, seconds })
}

/// Echoes per second of fping over one socket, at full speed; `None` if it is
/// not installed.
async fn fping() -> Outcome<Option<f64>> {
    const ECHOES: u32 = 20_000;
    let folder = tempfile::tempdir()?;
    let list = folder.path().join("addresses");
    let addresses: Vec<String> = (0..ECHOES).map(|n| site::address(n).to_string()).collect();
    std::fs::write(&list, addresses.join("\n"))?;
    let began = Instant::now();
    let fping = Command::new("fping")
        .args(["-q", "-r", "0", "-i", "0", "-t", "1000", "-f"])
        .arg(&list)
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .status()
        .await;
    Ok(fping.is_ok().then(|| f64::from(ECHOES) / began.elapsed().as_secs_f64()))
}
