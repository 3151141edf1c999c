//! What is due, read once a second for all loops that look for it: a loop of its own read would
//! cost more than the checks of a small installation.

use std::time::Duration;
use tokio::sync::Mutex;
use tokio::time::{Instant, sleep_until};
use wakeful_store::DueWork;

use crate::{Engine, alerting, audit};

/// How often due work is looked for, unless the settings say otherwise.
pub const POLL_INTERVAL: Duration = Duration::from_secs(1);

/// The last reading. The loop that holds the lock takes the next one, for all that wait for it.
pub(crate) struct DueWorkReadings(Mutex<Reading>);

struct Reading {
    number: u64,
    at: Instant,
    due: DueWork,
}

/// The readings as one loop sees them.
#[derive(Debug, Default)]
pub(crate) struct DueWorkReader {
    seen: u64,
}

impl DueWorkReadings {
    pub(crate) fn new() -> Self {
        Self(Mutex::new(Reading { number: 0, at: Instant::now(), due: DueWork::ANY }))
    }
}

impl DueWorkReader {
    /// Waits for a reading that this loop has not seen. If the database cannot be read, anything
    /// may be due, and the loops report it.
    pub(crate) async fn next(&mut self, engine: &Engine) -> DueWork {
        let mut latest = engine.0.due_work.0.lock().await;
        if latest.number == self.seen {
            sleep_until(latest.at + engine.settings().poll_interval).await;
            let now = engine.now();
            let covers_since = now.before(alerting::maintenance_clock::LOOKBACK);
            let due = engine.store().due_work(audit::delivery::time(now), covers_since).await;
            latest.due = due.unwrap_or(DueWork::ANY);
            latest.at = Instant::now();
            latest.number += 1;
        }
        self.seen = latest.number;
        latest.due
    }
}
