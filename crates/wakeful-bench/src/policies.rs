//! Escalation: monitors under a policy with two steps go down and up. How long after an alert was
//! due its decision is written, as the service measures it, and how soon the first step arrives.

use std::time::Duration;
use tokio::time::sleep;

use crate::alerts::{FINAL_WAIT, FLAPPING};
use crate::paced::{INTERVAL, WARM_UP};
use crate::report::Report;
use crate::seed::{self, MonitorSet};
use crate::service::Service;
use crate::stats::Spread;
use crate::target::Target;
use crate::{Outcome, Run};

const MONITORS: u32 = 1_000;
/// Sooner than the recovery at the next check: the second step is taken, too.
pub const SECOND_STEP_SECONDS: u32 = 10;
/// Three checks of each monitor: one that flaps goes down twice.
const WINDOW: Duration = Duration::from_secs(60);
const MAX_MILLISECONDS: f64 = 250.0;
const METRICS_TOKEN: &str = "bench-metrics";
const BUCKET: &str = "wakeful_response_lag_seconds_bucket{le=\"";
const SECOND_STEPS: &str = "select count(*) from deliveries where kind = 'alert.escalated'";

/// How many decisions were written within a number of seconds after their alert was due.
#[derive(Clone, Copy, Debug, PartialEq)]
struct Bucket {
    seconds: f64,
    count: u64,
}

pub async fn measure(run: &Run, target: &Target, report: &mut Report) -> Outcome<()> {
    println!("policies: {MONITORS} monitors under a policy with two steps, {FLAPPING} % flapping");
    let monitors_to_seed = MonitorSet {
        hook: Some(target.hook),
        escalated: true,
        ..MonitorSet::paced(MONITORS, INTERVAL, target.http)
    };
    let data = tempfile::tempdir()?;
    let token = seed::seed(data.path(), &monitors_to_seed).await?;
    let variables = [("WAKEFUL_SERVER_METRICS_TOKEN", METRICS_TOKEN)];
    let service = Service::launch_with(run, target, data, token, &variables).await?;
    sleep(WARM_UP).await;
    target.state.reset_delays();
    target.state.flap(FLAPPING);
    sleep(WINDOW).await;
    target.state.flap(0);
    sleep(FINAL_WAIT).await;
    let (delays, unnotified) = target.state.notification_delays();
    let delays = Spread::of(&delays);
    // Before the first change, there are no decisions.
    let lags = buckets(&metrics(&service).await?);
    let lag = percentile_limit(&lags, 0.99).ok_or("the metrics have no decisions")?;
    let second_steps = service.count(SECOND_STEPS).await?;
    let name = |what: &str| format!("policies, {MONITORS} monitors: {what}");
    report.at_most(&name("lag of a decision, p99 at most, ms"), lag * 1e3, MAX_MILLISECONDS);
    report.at_most(&name("failing check to first step, p99, ms"), delays.p99, MAX_MILLISECONDS);
    let all = delays.count + unnotified;
    report.expect_none_of(&name("outages without first step"), unnotified, all);
    report.at_least(&name("second steps sent"), second_steps as f64, 1.0);
    service.stop().await
}

async fn metrics(service: &Service) -> Outcome<String> {
    let request = service.anonymous("/metrics").bearer_auth(METRICS_TOKEN);
    let answer = request.send().await?.error_for_status()?;
    Ok(String::from_utf8(answer.bytes().await?.to_vec())?)
}

/// The buckets of the lag, from the shortest to all.
fn buckets(metrics: &str) -> Vec<Bucket> {
    let bucket = |line: &str| {
        let (seconds, count) = line.strip_prefix(BUCKET)?.split_once("\"} ")?;
        Some(Bucket { seconds: seconds.parse().ok()?, count: count.parse().ok()? })
    };
    metrics.lines().filter_map(bucket).collect()
}

/// The limit, in seconds, of the first bucket with at least this share of the decisions; `None`
/// without decisions.
fn percentile_limit(buckets: &[Bucket], share: f64) -> Option<f64> {
    let all = buckets.last().filter(|all| all.count > 0)?.count;
    let place = (all as f64 * share).ceil() as u64;
    buckets.iter().find(|bucket| bucket.count >= place).map(|bucket| bucket.seconds)
}

#[cfg(test)]
mod tests {
    use super::*;

    const METRICS: &str = "# TYPE wakeful_response_lag_seconds histogram\n\
        wakeful_response_lag_seconds_bucket{le=\"0.1\"} 98\n\
        wakeful_response_lag_seconds_bucket{le=\"0.25\"} 99\n\
        wakeful_response_lag_seconds_bucket{le=\"+Inf\"} 100\n\
        wakeful_response_lag_seconds_sum 9.5\n\
        wakeful_response_lag_seconds_count 100\n";

    #[test]
    fn a_percentile_is_the_limit_of_its_bucket() {
        let lags = buckets(METRICS);
        assert_eq!(lags.len(), 3);
        assert_eq!(percentile_limit(&lags, 0.5), Some(0.1));
        assert_eq!(percentile_limit(&lags, 0.99), Some(0.25));
        assert_eq!(percentile_limit(&lags, 1.0), Some(f64::INFINITY));
        assert_eq!(percentile_limit(&buckets(""), 0.99), None);
        assert_eq!(percentile_limit(&[Bucket { seconds: 0.1, count: 0 }], 0.99), None);
    }
}
