//! The loop that reminds: asks the store which outages people are to be told of
//! once more, and writes it into the outbox. Nothing is kept here; of many
//! nodes that ask, one writes.

use std::collections::HashMap;
use std::time::Duration;
use tokio_util::sync::CancellationToken;
use wakeful_core::id::MonitorId;
use wakeful_core::reminder;
use wakeful_store::{Reminder, StoredMonitor};

use crate::{Engine, Result, notices};

const LOOK_EVERY: Duration = Duration::from_secs(1);
/// How many reminders one transaction takes.
const BATCH: u32 = 500;

pub async fn run(engine: Engine, shutdown: CancellationToken) {
    while !shutdown.is_cancelled() {
        if let Err(error) = remind(&engine).await {
            tracing::warn!(
                error = &error as &dyn std::error::Error,
                "reminders wait for the store"
            );
        }
        tokio::select! {
            () = tokio::time::sleep(LOOK_EVERY) => {}
            () = shutdown.cancelled() => {}
        }
    }
}

/// Writes all reminders that are due; answers how many.
pub async fn remind(engine: &Engine) -> Result<usize> {
    let mut written = 0;
    loop {
        let now = engine.now();
        let due = engine.store().due_reminders(now, BATCH).await?;
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
                let event = decision.tell.then(|| notices::reminder(stored, of, now));
                Some(Reminder { of: *of, next: decision.next, seq: stored.seq, event })
            })
            .collect();
        if reminders.is_empty() {
            // What is left was changed or deleted meanwhile, or cannot be read.
            return Ok(written);
        }
        written += engine.store().remind(&reminders, now).await?;
    }
}
