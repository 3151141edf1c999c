//! The recorder of the process's metrics, and the task that limits its memory: a
//! histogram buffers every sample until it is drained.

use metrics_exporter_prometheus::{BuildError, Matcher, PrometheusBuilder, PrometheusHandle};
use std::time::Duration;
use tokio::time::{MissedTickBehavior, interval};
use tokio_util::sync::CancellationToken;

const BUCKETS_SECONDS: &[f64] =
    &[0.001, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 5.0, 10.0, 30.0];
const UPKEEP_INTERVAL: Duration = Duration::from_secs(5);

/// Installs the recorder; the handle renders the metrics of this process.
pub fn install() -> Result<PrometheusHandle, BuildError> {
    builder()?.install_recorder()
}

fn builder() -> Result<PrometheusBuilder, BuildError> {
    PrometheusBuilder::new()
        .set_buckets_for_metric(Matcher::Suffix("_seconds".into()), BUCKETS_SECONDS)
}

/// Drains the histograms until shutdown. Otherwise their samples would accumulate while
/// the metrics are not scraped.
pub async fn run_upkeep(metrics: PrometheusHandle, shutdown: CancellationToken) {
    let mut ticks = interval(UPKEEP_INTERVAL);
    ticks.set_missed_tick_behavior(MissedTickBehavior::Delay);
    loop {
        tokio::select! {
            _ = ticks.tick() => metrics.run_upkeep(),
            () = shutdown.cancelled() => return,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const ROUNDS: usize = 40;
    const SAMPLES: usize = 100_000;
    const MAX_GROWTH: usize = 16 << 20;

    fn resident() -> usize {
        let pages = std::fs::read_to_string("/proc/self/statm").expect("Linux");
        let pages = pages.split_whitespace().nth(1).and_then(|pages| pages.parse::<usize>().ok());
        pages.expect("resident pages") * 4_096
    }

    #[tokio::test(start_paused = true)]
    async fn samples_do_not_accumulate_without_scrapes() {
        let recorder = builder().expect("buckets").build_recorder();
        let histogram =
            metrics::with_local_recorder(&recorder, || metrics::histogram!("lag_seconds"));
        let shutdown = CancellationToken::new();
        let upkeep = run_upkeep(recorder.handle(), shutdown.clone());
        let load = async {
            let before = resident();
            for _ in 0..ROUNDS {
                for _ in 0..SAMPLES {
                    histogram.record(0.001);
                }
                tokio::time::sleep(UPKEEP_INTERVAL).await;
            }
            shutdown.cancel();
            resident().saturating_sub(before)
        };
        let ((), growth) = tokio::join!(upkeep, load);
        assert!(growth < MAX_GROWTH, "grew by {growth} bytes");
        let text = recorder.handle().render();
        assert!(text.contains(&format!("lag_seconds_count {}", ROUNDS * SAMPLES)), "{text}");
    }
}
