//! Measures time without the part that the host of a virtual machine gave to others: on a shared
//! host that is most of it at times, and no limit in seconds would hold.

use std::time::Duration;
use tokio::time::Instant;

/// The kernel counts in hundredths of a second, whatever its own clock is.
const TICK: Duration = Duration::from_millis(10);

pub struct Stopwatch {
    began: Instant,
    stolen: Duration,
}

impl Stopwatch {
    pub fn start() -> Self {
        Self { began: Instant::now(), stolen: stolen() }
    }

    pub fn elapsed(&self) -> Duration {
        self.began.elapsed().saturating_sub(stolen().saturating_sub(self.stolen))
    }
}

/// The time that was taken from this machine since it started, averaged over its processors; zero
/// where that is unknown.
fn stolen() -> Duration {
    let text = std::fs::read_to_string("/proc/stat").unwrap_or_default();
    let all = text.lines().next().unwrap_or_default();
    let ticks: u32 =
        all.split_whitespace().nth(8).and_then(|ticks| ticks.parse().ok()).unwrap_or(0);
    let is_processor = |line: &&str| line.starts_with("cpu") && !line.starts_with("cpu ");
    let processors = text.lines().filter(is_processor).count().max(1);
    TICK * ticks / u32::try_from(processors).unwrap_or(1)
}
