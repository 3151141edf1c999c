//! A soak test: ten thousand monitors every ten seconds, one percent of them
//! changing its status at every check, for two hours. Memory must be flat after
//! the first half hour and stay below its limit: slow growth with each change
//! shows only here.

use std::time::Duration;
use tokio::time::{Instant, sleep_until};

use crate::report::Report;
use crate::seed::MonitorSet;
use crate::service::Service;
use crate::target::Target;
use crate::{Outcome, Run};

const COUNT: u32 = 10_000;
const INTERVAL: u64 = 10;
/// Percentage of monitors that change their status at every check.
const FLAPPING: u8 = 1;
const SAMPLE_INTERVAL: Duration = Duration::from_secs(15);
const PRINT_EVERY: usize = 20;
/// The share of the soak in which memory may still rise.
const WARM_UP_SHARE: f64 = 0.25;
const MAX_MEGABYTES: f64 = 80.0;
/// Growth from the first to the last third after the warm-up that counts as
/// flat: the hourly compaction makes memory rise and fall by about as much.
const MAX_GROWTH_MEGABYTES: f64 = 2.0;

pub async fn measure(run: &Run, target: &Target, report: &mut Report) -> Outcome<()> {
    println!("soak: {COUNT} monitors at {INTERVAL} s for {} minutes", run.soak_minutes);
    let monitors_to_seed =
        MonitorSet { hook: Some(target.hook), ..MonitorSet::paced(COUNT, INTERVAL, target.http) };
    let service = Service::start(run, target, &monitors_to_seed).await?;
    target.state.flap(FLAPPING);
    let samples = sample(&service, Duration::from_secs(run.soak_minutes * 60)).await?;
    target.state.flap(0);
    let (changes, _) = target.state.notification_delays();
    let warm = &samples[(samples.len() as f64 * WARM_UP_SHARE) as usize..];
    let name = |what: &str| format!("soak, {COUNT} monitors, {FLAPPING} % flapping: {what}");
    report.measured(&name("minutes"), run.soak_minutes.to_string());
    report.measured(&name("outages notified"), changes.len().to_string());
    report.at_most(&name("most memory after the warm-up, MB"), most(warm), MAX_MEGABYTES);
    report.at_most(&name("growth after the warm-up, MB"), growth(warm), MAX_GROWTH_MEGABYTES);
    service.stop().await
}

/// Megabytes in memory, at regular intervals.
async fn sample(service: &Service, span: Duration) -> Outcome<Vec<f64>> {
    let began = Instant::now();
    let mut samples = Vec::new();
    while began.elapsed() < span {
        let next = began + SAMPLE_INTERVAL * (samples.len() as u32 + 1);
        sleep_until(next).await;
        samples.push(service.proportional()? as f64 / 1e6);
        if samples.len() % PRINT_EVERY == 0 {
            let recent = &samples[samples.len() - PRINT_EVERY..];
            let minutes = began.elapsed().as_secs() / 60;
            println!("  after {minutes} min: {:.1} MB, at most {:.1}", mean(recent), most(recent));
        }
    }
    Ok(samples)
}

/// By how much the mean of the last third exceeds that of the first.
fn growth(samples: &[f64]) -> f64 {
    let third = samples.len() / 3;
    mean(&samples[samples.len() - third..]) - mean(&samples[..third])
}

fn mean(samples: &[f64]) -> f64 {
    samples.iter().sum::<f64>() / samples.len().max(1) as f64
}

fn most(samples: &[f64]) -> f64 {
    samples.iter().copied().fold(0.0, f64::max)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn steady_growth_shows_and_a_wave_does_not() {
        let rising: Vec<f64> = (0..360).map(|at| 60.0 + f64::from(at) / 60.0).collect();
        assert!(growth(&rising) > MAX_GROWTH_MEGABYTES);
        let wave: Vec<f64> = (0..360).map(|at| 60.0 + 5.0 * f64::from(at).sin()).collect();
        assert!(growth(&wave).abs() < 0.5);
    }
}
