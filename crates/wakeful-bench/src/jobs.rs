//! The reports of jobs: what a ping costs, compared with a report to the push URL of the same
//! monitor, which stores no ping.

use serde_json::json;
use tokio::task::JoinSet;
use tokio::time::sleep;

use crate::paced::WARM_UP;
use crate::report::Report;
use crate::seed::MonitorSet;
use crate::service::Service;
use crate::target::Target;
use crate::{Outcome, Run};

const JOBS: usize = 300;
const ROUNDS: usize = 5;
/// The reports of a round to each monitor, of each kind. One monitor accepts 60 per minute.
const REPORTS: usize = 4;
const MAX_RATIO: f64 = 1.2;

/// The two URLs of a monitor, without the address of the service.
struct Job {
    ping: String,
    push: String,
}

pub async fn measure(run: &Run, target: &Target, report: &mut Report) -> Outcome<()> {
    println!("jobs: pings and push reports of {JOBS} monitors");
    let service = Service::start(run, target, &MonitorSet::paced(1, 20, target.http)).await?;
    let mut jobs = Vec::new();
    for number in 0..JOBS {
        let body = json!({"name": format!("job {number}"), "type": "api",
            "heartbeat_interval": 3_600, "isactive": true, "upside_down_mode": false});
        let saved = service.post("monitor/save", &body).await?;
        let path = |field: &str, start: &str| {
            let url = saved["monitor"][field].as_str().unwrap_or_default();
            url.find(start).map(|at| url[at..].to_owned()).ok_or("the monitor has no such URL")
        };
        jobs.push(Job { ping: path("ping_url", "/ping/")?, push: path("push_url", "/api/push/")? });
    }
    sleep(WARM_UP).await;
    let mut best = [f64::MAX; 2];
    for _ in 0..ROUNDS {
        let round = [
            cost(&service, jobs.iter().map(|job| job.ping.as_str())).await?,
            cost(&service, jobs.iter().map(|job| job.push.as_str())).await?,
        ];
        best = std::array::from_fn(|row| best[row].min(round[row]));
    }
    let [ping, push] = best;
    report.ratio("jobs: CPU s per 1,000 pings", ping, "push report", push, MAX_RATIO);
    service.stop().await
}

/// Processor seconds per 1,000 reports.
async fn cost(service: &Service, paths: impl Iterator<Item = &str> + Clone) -> Outcome<f64> {
    let before = service.cpu()?;
    for _ in 0..REPORTS {
        // A response waits until the report is stored, with many others.
        let mut sending = JoinSet::new();
        for path in paths.clone() {
            let request = service.anonymous(path);
            sending.spawn(async move { request.send().await?.error_for_status()?.bytes().await });
        }
        while let Some(sent) = sending.join_next().await {
            sent??;
        }
    }
    let spent = (service.cpu()? - before).as_secs_f64();
    Ok(spent * 1_000.0 / (JOBS * REPORTS) as f64)
}
