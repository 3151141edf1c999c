//! The loop that sends reminders: it reads the outages with a due reminder and writes the
//! reminders to the outbox. It has no state of its own; of several nodes, one writes.

use std::collections::HashMap;
use std::time::Duration;
use tokio_util::sync::CancellationToken;
use wakeful_core::error_chain::ErrorChain;
use wakeful_core::id::MonitorId;
use wakeful_core::notifications::reminder;
use wakeful_store::{Reminder, StoredMonitor};

use crate::{Engine, Result, notifications::events};

const POLL_INTERVAL: Duration = Duration::from_secs(1);
/// How many reminders one transaction writes.
const REMINDER_BATCH: u32 = 500;

pub async fn run(engine: Engine, shutdown: CancellationToken) {
    while !shutdown.is_cancelled() {
        if let Err(error) = remind(&engine).await {
            tracing::warn!(
                error = %ErrorChain(&error),
                "sending reminders failed, retrying in {} s",
                POLL_INTERVAL.as_secs()
            );
        }
        tokio::select! {
            () = tokio::time::sleep(POLL_INTERVAL) => {}
            () = shutdown.cancelled() => {}
        }
    }
}

/// Writes all due reminders; returns their number.
pub async fn remind(engine: &Engine) -> Result<usize> {
    let mut written = 0;
    loop {
        let now = engine.now();
        let due = engine.store().due_reminders(now, REMINDER_BATCH).await?;
        if due.is_empty() {
            return Ok(written);
        }
        let ids: Vec<MonitorId> = due.iter().map(|one| one.monitor).collect();
        let monitors: HashMap<MonitorId, StoredMonitor> = engine
            .store()
            .monitors_by_id(&ids)
            .await?
            .into_iter()
            .map(|stored| (stored.monitor.id, stored))
            .collect();
        let reminders: Vec<Reminder> = due
            .iter()
            .filter_map(|of| {
                let stored = monitors.get(&of.monitor)?;
                let last = stored.state.last_check;
                let decision = reminder::decide(&stored.monitor, last, of.due, now)?;
                let event = decision.send.then(|| events::reminder(stored, of, now));
                Some(Reminder { of: *of, next: decision.next, seq: stored.seq, event })
            })
            .collect();
        if reminders.is_empty() {
            // The remaining ones were changed or deleted meanwhile, or cannot be read.
            return Ok(written);
        }
        written += engine.store().write_reminders(&reminders, now).await?;
    }
}
