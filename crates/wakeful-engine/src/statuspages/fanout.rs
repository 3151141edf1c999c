//! Writes the deliveries of events of status pages: one for each subscriber whose scope covers
//! the incident. An event is claimed with a lease, and its progress is part of each transaction,
//! so that another node continues where this one has stopped. An event that several processes
//! crashed with is given up; one at a time is written, so that no other is suspect. Teams take
//! turns, and each turn is limited: neither many updates nor a page with many subscribers delay
//! what another team announces.

use std::collections::{HashMap, HashSet};
use std::time::Duration;
use tokio_util::sync::CancellationToken;
use wakeful_core::backoff::{CRASHED, MAX_CRASHES};
use wakeful_core::error_chain::ErrorChain;
use wakeful_core::id::TeamId;
use wakeful_core::statuspages::mailing::EMAIL_INTERVAL;
use wakeful_core::statuspages::scope::Affected;
use wakeful_core::statuspages::subscriber::SubscriberKind;
use wakeful_core::time::Millis;
use wakeful_store::{Candidate, ClaimedEvent, NewPageDelivery, OpenEvent, PageQueue};

use crate::due_work::{DueWorkReader, POLL_INTERVAL};
use crate::notifications::delivery::survive::survived;
use crate::{Engine, Result, failpoint};

/// Much longer than the deliveries of a page with all its subscribers take.
const LEASE: Duration = Duration::from_secs(120);
/// Subscribers that are considered in one transaction.
const BATCH: u32 = 500;
/// Transactions in one turn of a team.
const MAX_BATCHES: usize = 4;

/// Writes deliveries until shutdown.
pub async fn run(engine: Engine, shutdown: CancellationToken) {
    let mut due_work = DueWorkReader::default();
    let mut turns = Turns::default();
    while !shutdown.is_cancelled() {
        match survived(write_next(&engine, &mut turns, &shutdown)).await {
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

/// When each team with events had its turn.
#[derive(Default)]
struct Turns {
    latest: HashMap<TeamId, u64>,
    number: u64,
}

impl Turns {
    /// The events in the order of their teams' turns: those that have waited the longest first.
    fn order(&mut self, mut open: Vec<OpenEvent>) -> Vec<OpenEvent> {
        let teams: HashSet<TeamId> = open.iter().map(|event| event.team).collect();
        self.latest.retain(|team, _| teams.contains(team));
        open.sort_by_key(|event| self.latest.get(&event.team).copied().unwrap_or(0));
        open
    }

    fn take(&mut self, team: TeamId) {
        self.number += 1;
        self.latest.insert(team, self.number);
    }
}

/// Writes deliveries of the event whose turn it is; false when there is none.
async fn write_next(
    engine: &Engine,
    turns: &mut Turns,
    shutdown: &CancellationToken,
) -> Result<bool> {
    let store = engine.store();
    let now = engine.now();
    for next in turns.order(store.open_statuspage_events(now).await?) {
        // Another node may have been first.
        if let Some(event) = store.claim_statuspage_event(next.id, now, now.after(LEASE)).await? {
            turns.take(event.team);
            write_part(engine, &event, shutdown).await?;
            return Ok(true);
        }
    }
    Ok(false)
}

/// Writes as many deliveries of an event as belong to one turn.
async fn write_part(
    engine: &Engine,
    event: &ClaimedEvent,
    shutdown: &CancellationToken,
) -> Result<()> {
    let store = engine.store();
    let now = engine.now();
    if event.crashes >= MAX_CRASHES {
        let (id, page) = (event.id, event.page);
        tracing::error!(event.id = %id, page.id = %page, "writing messages to the subscribers of status page {page} about event {id} failed: {CRASHED}");
        store.add_page_deliveries(event, &[], None, now).await?;
        return Ok(());
    }
    let incident = store.read_incident(event.incident).await?;
    let page = store.shown_statuspage(event.page, event.team).await?;
    let (Some(incident), Some(page)) = (incident, page) else {
        store.add_page_deliveries(event, &[], None, now).await?;
        return Ok(());
    };
    let (incident, page) = (incident.incident, page.page);
    failpoint::with("while-announcing", &incident.title);
    let affected = Affected::of(&incident, &page);
    let mut progress = event.progress;
    for _ in 0..MAX_BATCHES {
        if shutdown.is_cancelled() {
            return Ok(());
        }
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
        let is_claimed = store.add_page_deliveries(event, &deliveries, progress, now).await?;
        failpoint::here("after-fanout-batch");
        engine.0.page_messages.notify_one();
        if is_last || !is_claimed {
            return Ok(());
        }
    }
    Ok(store.release_statuspage_event(event).await?)
}

/// An inbox that has just got an email gets the next one later.
fn next_try(candidate: &Candidate, now: Millis) -> Millis {
    let last = candidate.last_delivery.filter(|last| *last <= now);
    match (candidate.kind, last) {
        (SubscriberKind::Email, Some(last)) => last.after(EMAIL_INTERVAL).max(now),
        _ => now,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use wakeful_core::id::EventId;

    fn event(team: u8, number: u8) -> OpenEvent {
        let team = TeamId::new(Millis(0), [team; 10]);
        OpenEvent { id: EventId::new(Millis(i64::from(number)), [number; 10]), team }
    }

    #[test]
    fn every_team_has_its_turn_however_many_events_another_has() {
        let mut turns = Turns::default();
        let mut order = Vec::new();
        for number in 0..6 {
            // The second team's only event is the newest of all; the third team comes later.
            let mut open = vec![event(1, number), event(2, 100)];
            if number >= 2 {
                open.push(event(3, 200));
            }
            let first = turns.order(open)[0];
            turns.take(first.team);
            order.push(first.team);
        }
        let teams = [1, 2, 3, 1, 2, 3].map(|team| event(team, 0).team);
        assert_eq!(order, teams);
    }
}
