//! The loop that delivers: looks into the outbox, claims what is due and sends
//! it, fairly. Of one notifier a few messages are on their way at a time, of
//! one team not many more, so that receivers who hang hold up nobody else. All
//! that is kept here are hints; the truth is in the store, so the loop may die
//! at any point and another goes on.

mod desk;
mod mail;
mod settle;
pub(crate) mod survive;
mod webhook;

use std::time::Duration;
use tokio::time::Instant;
use tokio_util::sync::CancellationToken;
use wakeful_outbound::notify;

use crate::Engine;
use desk::Desk;

/// A row is kept while it is sent: twice as long as any attempt may take.
const LEASE: Duration = Duration::from_secs(60);
const _: () = assert!(
    LEASE.as_secs() >= 2 * notify::email::TOTAL.as_secs()
        && LEASE.as_secs() >= 2 * notify::webhook::TOTAL.as_secs(),
    "somebody else would send what is still being sent"
);
/// Other nodes fill the outbox too, and waits come to their end.
const LOOK_EVERY: Duration = Duration::from_secs(1);
/// Between looks that only the end of an attempt asks for.
const BREATH: Duration = Duration::from_millis(50);

/// Delivers until told to stop. What is on its way then may take as long as
/// `last_words` to arrive: sent again after the next start, it would arrive twice.
pub async fn run(engine: Engine, shutdown: CancellationToken, last_words: Duration) {
    let mut desk = Desk::new(engine.clone());
    let mut next_look = Instant::now();
    let mut next_count = next_look;
    while !shutdown.is_cancelled() {
        if Instant::now() >= next_look {
            desk.look().await;
            next_look = Instant::now() + LOOK_EVERY;
        }
        desk.send().await;
        if Instant::now() >= next_count {
            desk.count().await;
            next_count = Instant::now() + LOOK_EVERY;
        }
        tokio::select! {
            () = desk.landed() => {
                if desk.is_short() {
                    next_look = next_look.min(Instant::now() + BREATH);
                }
            }
            filled = engine.store().outbox_filled() => match filled {
                Some(new) => desk.add(new),
                None => next_look = Instant::now(),
            },
            () = tokio::time::sleep_until(next_look) => {}
            () = shutdown.cancelled() => {}
        }
    }
    let drained = tokio::time::timeout(last_words, desk.drain()).await;
    if drained.is_err() {
        // What did not arrive in time is for whoever starts next.
        desk.abandon().await;
    }
}

impl Engine {
    /// Releases the messages and mails that this node has claimed, when it stops
    /// before it has sent them: that is no crash.
    pub async fn release_claims(&self) {
        if let Err(error) = self.store().release_claims().await {
            tracing::warn!(
                error = &error as &dyn std::error::Error,
                "releasing claimed messages failed, they wait for their lease to end"
            );
        }
    }
}
