//! What it costs to watch for slow checks: two services side by side, with the same monitors, of
//! which one compares each check with a limit and with the usual times.

use sqlx::sqlite::SqliteConnectOptions;
use sqlx::{Connection as _, SqliteConnection};
use std::path::Path;
use std::time::Duration;
use tokio::time::sleep;

use crate::paced::{INTERVAL, WARM_UP};
use crate::report::Report;
use crate::seed::{self, MonitorSet};
use crate::service::Service;
use crate::target::Target;
use crate::{Outcome, Run};

const MONITORS: u32 = 10_000;
/// Each monitor is checked this often in a window.
const CHECKS: u32 = 3;
const MAX_RATIO: f64 = 1.01;
const MAX_MEGABYTES: f64 = 0.5;
/// No check of this machine takes ten seconds.
const SETTINGS: &str = "update monitors set degraded =
     '{\"slow\":10000,\"factor\":2000,\"over\":3,\"of\":5,\"regions\":0,\"notify\":true}'";
const USUAL: &str = "update monitor_states set baseline = '{\"p50\":400000,\"p95\":500000}'";

pub async fn measure(run: &Run, target: &Target, report: &mut Report) -> Outcome<()> {
    println!(
        "degraded: {MONITORS} monitors at {INTERVAL} s, with and without a limit for slow checks"
    );
    let plain = start(run, target, &[]).await?;
    let watching = start(run, target, &[SETTINGS, USUAL]).await?;
    sleep(WARM_UP).await;
    let memory = |service: &Service| service.proportional().map(|bytes| bytes as f64 / 1e6);
    let (less, more) = (memory(&plain)?, memory(&watching)?);
    let before = [plain.cpu()?, watching.cpu()?];
    sleep(Duration::from_secs(INTERVAL) * CHECKS).await;
    let spent = |service: &Service, before: Duration| -> Outcome<f64> {
        Ok((service.cpu()? - before).as_secs_f64() * 1_000.0 / f64::from(MONITORS * CHECKS))
    };
    let (theirs, ours) = (spent(&plain, before[0])?, spent(&watching, before[1])?);
    let name = format!("degraded, {MONITORS} monitors: CPU s per 1,000 checks");
    report.ratio(&name, ours, "plain service", theirs, MAX_RATIO);
    let name = format!("degraded, {MONITORS} monitors: additional memory, MB");
    report.at_most(&name, more - less, MAX_MEGABYTES);
    plain.stop().await?;
    watching.stop().await
}

async fn start(run: &Run, target: &Target, changes: &[&'static str]) -> Outcome<Service> {
    let data = tempfile::tempdir()?;
    let token =
        seed::seed(data.path(), &MonitorSet::paced(MONITORS, INTERVAL, target.http)).await?;
    change(data.path(), changes).await?;
    Service::launch(run, target, data, token).await
}

async fn change(data: &Path, changes: &[&'static str]) -> Outcome<()> {
    let options = SqliteConnectOptions::new().filename(seed::database(data));
    let mut db = SqliteConnection::connect_with(&options).await?;
    for sql in changes {
        sqlx::query(*sql).execute(&mut db).await?;
    }
    Ok(db.close().await?)
}
