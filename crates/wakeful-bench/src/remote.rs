//! The cost of a probe: the same monitors at the same rate, checked by the
//! service itself, and through NATS by a probe beside it. The work of both
//! processes counts; that of NATS is reported separately.

use std::net::{Ipv4Addr, TcpListener};
use std::process::Stdio;
use std::time::Duration;
use tokio::process::{Child, Command};
use tokio::time::sleep;

use crate::report::Report;
use crate::seed::MonitorSet;
use crate::service::{ProbeRegion, Service};
use crate::target::Target;
use crate::{Outcome, Run, process};

const MONITORS: u32 = 4_000;
const INTERVAL: u64 = 10;
/// The first interval is not yet steady.
const WARM_UP: Duration = Duration::from_secs(12);
const WINDOW: Duration = Duration::from_secs(20);
/// Encrypting, sending and waiting may cost one and a half times as much as the
/// check.
const BAR: f64 = 2.5;
const REGION: &str = "eu";
const KEY: &str = "AAECAwQFBgcICQoLDA0ODxAREhMUFRYXGBkaGxwdHh8=";

pub async fn measure(run: &Run, target: &Target, report: &mut Report) -> Outcome<()> {
    println!("through a probe: {MONITORS} http monitors at {INTERVAL} s");
    let monitors_to_seed = MonitorSet::paced(MONITORS, INTERVAL, target.http);
    let local = local(run, target, &monitors_to_seed).await?;
    let Some(bus) = Bus::start()? else {
        println!("  nats-server is not installed, skipping the comparison");
        return Ok(());
    };
    let remote = remote(run, target, &monitors_to_seed, &bus).await?;
    report.ratio(
        "through a probe, http: CPU s per 1,000 checks",
        remote,
        "service's own",
        local,
        BAR,
    );
    Ok(())
}

/// Processor seconds per 1,000 checks.
async fn local(run: &Run, target: &Target, monitors_to_seed: &MonitorSet) -> Outcome<f64> {
    let service = Service::start(run, target, monitors_to_seed).await?;
    sleep(WARM_UP).await;
    let ((before, _), cpu) = (service.stored().await?, service.cpu()?);
    sleep(WINDOW).await;
    let (spent, (after, _)) = (service.cpu()? - cpu, service.stored().await?);
    service.stop().await?;
    Ok(spent.as_secs_f64() * 1_000.0 / after.saturating_sub(before).max(1) as f64)
}

async fn remote(
    run: &Run,
    target: &Target,
    monitors_to_seed: &MonitorSet,
    bus: &Bus,
) -> Outcome<f64> {
    let variables = [("WAKEFUL_NATS_URL", bus.url.as_str()), ("WAKEFUL_CLUSTER_KEY", KEY)];
    let mut probe = Command::new(&run.wakeful)
        .args(["probe", "--region", REGION, "--name", "bench"])
        .envs(variables)
        .stdin(Stdio::null())
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .kill_on_drop(true)
        .spawn()?;
    let pid = probe.id().ok_or("the probe ended at once")?;
    let elsewhere = ProbeRegion { region: REGION, variables: &variables };
    let service = Service::start_with_probes(run, target, monitors_to_seed, &elsewhere).await?;
    sleep(WARM_UP).await;
    let cpu = || -> Outcome<Duration> { Ok(service.cpu()? + process::cpu(pid)?) };
    let ((before, _), begun, bus_begun) = (service.stored().await?, cpu()?, bus.cpu()?);
    sleep(WINDOW).await;
    let (spent, bus_spent) = (cpu()? - begun, bus.cpu()? - bus_begun);
    let (after, not_up) = service.stored().await?;
    let count = after.saturating_sub(before).max(1) as f64;
    println!(
        "  NATS itself: {:.3} CPU s per 1,000 checks",
        bus_spent.as_secs_f64() * 1_000.0 / count
    );
    if not_up > 0 {
        println!("  {not_up} of {after} heartbeats are not up");
    }
    service.stop().await?;
    probe.kill().await?;
    Ok(spent.as_secs_f64() * 1_000.0 / count)
}

/// A separate NATS server for this benchmark.
struct Bus {
    child: Child,
    url: String,
}

impl Bus {
    /// `None` when there is no such program.
    fn start() -> Outcome<Option<Self>> {
        let port = TcpListener::bind((Ipv4Addr::LOCALHOST, 0))?.local_addr()?.port();
        let program =
            ["/usr/sbin/nats-server", "/usr/bin/nats-server", "/usr/local/bin/nats-server"]
                .into_iter()
                .find(|path| std::path::Path::new(path).exists());
        let Some(program) = program else { return Ok(None) };
        let child = Command::new(program)
            .args(["-a", "127.0.0.1", "-p", &port.to_string()])
            .stdin(Stdio::null())
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            .kill_on_drop(true)
            .spawn()?;
        Ok(Some(Self { child, url: format!("nats://127.0.0.1:{port}") }))
    }

    fn cpu(&self) -> Outcome<Duration> {
        process::cpu(self.child.id().ok_or("NATS has ended")?)
    }
}
