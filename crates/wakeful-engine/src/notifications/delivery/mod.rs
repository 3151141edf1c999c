//! The delivery loop: it polls the outbox, claims due messages and sends them fairly. Each
//! notifier has a few messages in flight at a time, and each team not many more, so that
//! hanging receivers delay no other team. The state in memory consists of hints only; the
//! store is authoritative, so the loop may crash at any point and another one continues.

mod attempt;
mod dispatcher;
mod email;
mod limits;
mod outcome;
mod page_turns;
mod service;
mod single;
pub mod statuspages;
pub(crate) mod survive;
mod turns;

use std::time::Duration;
use tokio::time::Instant;
use tokio_util::sync::CancellationToken;
use wakeful_core::error_chain::ErrorChain;
use wakeful_core::notifications::notifier::Kind;
use wakeful_outbound::notify;
use wakeful_store::NewDeliveries;

use crate::Engine;
use dispatcher::Dispatcher;

/// A row is claimed while it is sent: twice as long as any attempt may take.
const LEASE: Duration = Duration::from_secs(60);
const _: () = {
    let mut kinds = Kind::ALL;
    while let [kind, others @ ..] = kinds {
        let timeout = notify::timeout(*kind).as_secs();
        assert!(
            LEASE.as_secs() >= 2 * timeout,
            "another node would send a message that is still being sent"
        );
        kinds = others;
    }
};
/// Other nodes write to the outbox too, and retries become due.
const POLL_INTERVAL: Duration = Duration::from_secs(1);
/// The shortest time between polls that follow the end of an attempt, or many new messages.
const MIN_POLL_INTERVAL: Duration = Duration::from_millis(50);
/// Counting the waiting messages reads all of them, so it takes at most this part of the time.
const COUNT_PART: u32 = 50;

/// Delivers until shutdown. Messages in flight then have `shutdown_timeout` to arrive: if
/// they were sent again after the next start, they would arrive twice.
pub async fn run(engine: Engine, shutdown: CancellationToken, shutdown_timeout: Duration) {
    let mut dispatcher = Dispatcher::new(engine.clone());
    let mut next_poll = Instant::now();
    let (mut last_poll, mut next_count) = (next_poll, next_poll);
    while !shutdown.is_cancelled() {
        if Instant::now() >= next_poll {
            dispatcher.poll().await;
            last_poll = Instant::now();
            next_poll = last_poll + POLL_INTERVAL;
        }
        dispatcher.send().await;
        if Instant::now() >= next_count {
            let began = Instant::now();
            dispatcher.count_waiting().await;
            next_count = Instant::now() + POLL_INTERVAL.max(began.elapsed() * COUNT_PART);
        }
        tokio::select! {
            () = dispatcher.next_completion() => {
                if dispatcher.needs_poll() {
                    next_poll = next_poll.min(Instant::now() + MIN_POLL_INTERVAL);
                }
            }
            NewDeliveries { known, more } = engine.store().wait_for_outbox() => {
                dispatcher.add(known);
                if more {
                    next_poll = next_poll.min(last_poll + MIN_POLL_INTERVAL);
                }
            }
            () = tokio::time::sleep_until(next_poll) => {}
            () = shutdown.cancelled() => {}
        }
    }
    let drained = tokio::time::timeout(shutdown_timeout, dispatcher.drain()).await;
    if drained.is_err() {
        // The next process sends the rest.
        dispatcher.abandon().await;
    }
}

impl Engine {
    /// Releases the messages and mails that this node has claimed but not sent before
    /// shutdown, so that this does not count as a crash.
    pub async fn release_claims(&self) {
        if let Err(error) = self.store().release_claims().await {
            tracing::warn!(
                error = %ErrorChain(&error),
                "releasing claimed messages failed, they are sent when their lease expires"
            );
        }
    }
}
