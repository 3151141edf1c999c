//! Writes the deliveries of events of status pages: one for each subscriber whose scope covers
//! the incident. An event is claimed with a lease, and its progress is part of each transaction,
//! so that another node continues where this one has stopped. An event that several processes
//! crashed with is given up; one at a time is written, so that no other is suspect.

use std::time::Duration;
use tokio_util::sync::CancellationToken;
use wakeful_core::backoff::{CRASHED, MAX_CRASHES};
use wakeful_core::error_chain::ErrorChain;
use wakeful_core::statuspages::mailing::EMAIL_INTERVAL;
use wakeful_core::statuspages::scope::Affected;
use wakeful_core::statuspages::subscriber::SubscriberKind;
use wakeful_core::time::Millis;
use wakeful_store::{Candidate, NewPageDelivery, PageQueue};

use crate::due_work::{DueWorkReader, POLL_INTERVAL};
use crate::notifications::delivery::survive::survived;
use crate::{Engine, Result, failpoint};

/// Much longer than the deliveries of a page with all its subscribers take.
const LEASE: Duration = Duration::from_secs(120);
/// Subscribers that are considered in one transaction.
const BATCH: u32 = 500;

/// Writes deliveries until shutdown.
pub async fn run(engine: Engine, shutdown: CancellationToken) {
    let mut due_work = DueWorkReader::default();
    while !shutdown.is_cancelled() {
        match survived(write_next(&engine, &shutdown)).await {
            Ok(Ok(true)) => continue,
            Ok(Ok(false)) => {}
            Err(_) => {
                tracing::error!(
                    "writing messages to subscribers failed because of a defect, retrying in {} s",
                    LEASE.as_secs()
                );
            }
            Ok(Err(error)) => {
                tracing::warn!(error = %ErrorChain(&error), "writing messages to subscribers failed, retrying in {} s", POLL_INTERVAL.as_secs());
            }
        }
        // Other nodes write events too, without waking this one.
        let due = async { while !due_work.next(&engine).await.page_events {} };
        tokio::select! {
            () = engine.0.page_events.notified() => {}
            () = due => {}
            () = shutdown.cancelled() => {}
        }
    }
}

/// Writes the deliveries of one event; false when there is none.
async fn write_next(engine: &Engine, shutdown: &CancellationToken) -> Result<bool> {
    let store = engine.store();
    let now = engine.now();
    let Some(event) = store.claim_statuspage_event(now, now.after(LEASE)).await? else {
        return Ok(false);
    };
    if event.crashes >= MAX_CRASHES {
        let (id, page) = (event.id, event.page);
        tracing::error!(event.id = %id, page.id = %page, "writing messages to the subscribers of status page {page} about event {id} failed: {CRASHED}");
        store.add_page_deliveries(&event, &[], None, now).await?;
        return Ok(true);
    }
    let incident = store.read_incident(event.incident).await?;
    let page = store.shown_statuspage(event.page, event.team).await?;
    let (Some(incident), Some(page)) = (incident, page) else {
        store.add_page_deliveries(&event, &[], None, now).await?;
        return Ok(true);
    };
    let (incident, page) = (incident.incident, page.page);
    failpoint::with("while-announcing", &incident.title);
    let affected = Affected::of(&incident, &page);
    let mut progress = event.progress;
    while !shutdown.is_cancelled() {
        let now = engine.now();
        let candidates = store.candidates(page.id, progress, BATCH).await?;
        let wanted = |one: &&Candidate| {
            one.settings.wants(incident.kind) && one.settings.scope.covers(&affected)
        };
        let deliveries: Vec<NewPageDelivery> = candidates
            .iter()
            .filter(wanted)
            .map(|one| NewPageDelivery {
                subscriber: one.id,
                queue: match one.kind {
                    SubscriberKind::Email if page.settings.subscribe.sender.is_none() => {
                        PageQueue::Mail
                    }
                    _ => PageQueue::Remote,
                },
                next_try: next_try(one, now),
            })
            .collect();
        let is_last = candidates.len() < BATCH as usize;
        progress = candidates.last().map(|one| one.id).filter(|_| !is_last);
        let is_claimed = store.add_page_deliveries(&event, &deliveries, progress, now).await?;
        failpoint::here("after-fanout-batch");
        engine.0.page_messages.notify_one();
        if is_last || !is_claimed {
            break;
        }
    }
    Ok(true)
}

/// An inbox that has just got an email gets the next one later.
fn next_try(candidate: &Candidate, now: Millis) -> Millis {
    let last = candidate.last_delivery.filter(|last| *last <= now);
    match (candidate.kind, last) {
        (SubscriberKind::Email, Some(last)) => last.after(EMAIL_INTERVAL).max(now),
        _ => now,
    }
}
