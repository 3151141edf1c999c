//! What a probe costs: the same monitors at the same pace, checked by the
//! service itself, and through NATS by a probe beside it. The work of both
//! processes counts; that of NATS is told apart.

use std::net::{Ipv4Addr, TcpListener};
use std::process::Stdio;
use std::time::Duration;
use tokio::process::{Child, Command};
use tokio::time::sleep;

use crate::report::Report;
use crate::seed::Crowd;
use crate::service::{Elsewhere, Service};
use crate::target::Target;
use crate::{Outcome, Run, process};

const MONITORS: u32 = 4_000;
const INTERVAL: u64 = 10;
/// The first round finds its rhythm.
const WARM_UP: Duration = Duration::from_secs(12);
const WINDOW: Duration = Duration::from_secs(20);
/// Sealing, sending and waiting may cost as much again as the check, and half.
const BAR: f64 = 2.5;
const REGION: &str = "eu";
const KEY: &str = "AAECAwQFBgcICQoLDA0ODxAREhMUFRYXGBkaGxwdHh8=";

pub async fn measure(run: &Run, target: &Target, report: &mut Report) -> Outcome<()> {
    println!("through a probe: {MONITORS} http monitors at {INTERVAL} s");
    let crowd = Crowd::paced(MONITORS, INTERVAL, target.http);
    let local = local(run, target, &crowd).await?;
    let Some(bus) = Bus::start()? else {
        println!("  nats-server is not installed: nothing is compared");
        return Ok(());
    };
    let remote = remote(run, target, &crowd, &bus).await?;
    report.ratio(
        "through a probe, http: CPU s per 1,000 checks",
        remote,
        "service's own",
        local,
        BAR,
    );
    Ok(())
}

/// Seconds of the processor for 1,000 checks.
async fn local(run: &Run, target: &Target, crowd: &Crowd) -> Outcome<f64> {
    let service = Service::start(run, target, crowd).await?;
    sleep(WARM_UP).await;
    let ((before, _), cpu) = (service.stored().await?, service.cpu()?);
    sleep(WINDOW).await;
    let (spent, (after, _)) = (service.cpu()? - cpu, service.stored().await?);
    service.stop().await?;
    Ok(spent.as_secs_f64() * 1_000.0 / after.saturating_sub(before).max(1) as f64)
}

async fn remote(run: &Run, target: &Target, crowd: &Crowd, bus: &Bus) -> Outcome<f64> {
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
    let elsewhere = Elsewhere { region: REGION, variables: &variables };
    let service = Service::start_elsewhere(run, target, crowd, &elsewhere).await?;
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
        println!("  {not_up} of {after} heartbeats say something else than up");
    }
    service.stop().await?;
    probe.kill().await?;
    Ok(spent.as_secs_f64() * 1_000.0 / count)
}

/// A NATS server of this bench's own.
struct Bus {
    child: Child,
    url: String,
}

impl Bus {
    /// Nothing when there is no such program.
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
