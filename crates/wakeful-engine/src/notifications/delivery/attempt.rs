//! One attempt to send, in the delivery mode of the notifier's kind.

use std::time::Duration;
use tokio::time::Instant;
use wakeful_core::error_chain::ErrorChain;
use wakeful_core::id::NotifierId;
use wakeful_core::notifications::notifier::{Delivery, DigestRoute, Notifier};
use wakeful_core::notifications::retry::Outcome;
use wakeful_core::time::Millis;
use wakeful_store::{ClaimedDelivery, DeliveryClaim};

use super::{email, service, single};
use crate::{Engine, Result};

/// When messages whose notifier cannot be used are retried.
const UNUSABLE_WAIT: Duration = Duration::from_secs(60);
/// The pause after a failure of the store.
const STORE_RETRY_PAUSE: Duration = Duration::from_secs(5);

/// Why a message to a user fails.
pub(super) const NO_MEMBER: &str = "the user is suspended or no longer a member of the team";

/// How an attempt ended, as far as the dispatcher is concerned.
pub(super) enum Completion {
    Done,
    /// Nothing may be sent to this notifier until then.
    Paused(NotifierId, Millis),
}

/// What an attempt sends, by the delivery mode of the notifier's kind.
enum Work {
    /// One event.
    Single(Box<ClaimedMessage>),
    /// Everything that is due and has this number of crashes.
    Digest { crashes: u32 },
}

/// A message that the dispatcher has claimed.
pub(super) struct ClaimedMessage {
    pub(super) row: ClaimedDelivery,
    pub(super) claimed_at: Instant,
}

pub(super) async fn send_single(
    engine: &Engine,
    notifier: &Notifier,
    message: ClaimedMessage,
) -> Completion {
    let sent = send(engine, notifier, Work::Single(Box::new(message))).await;
    pause_after_error(engine, notifier.id, sent)
}

/// Sends the due messages with this number of crashes, separately from the others.
pub(super) async fn send_digest(engine: &Engine, id: NotifierId, crashes: u32) -> Completion {
    let sending = async {
        match engine.store().notifiers_by_id(&[id]).await?.remove(&id) {
            Some(notifier) => send(engine, &notifier, Work::Digest { crashes }).await,
            None => Ok(Completion::Paused(id, engine.now().after(UNUSABLE_WAIT))),
        }
    };
    pause_after_error(engine, id, sending.await)
}

/// If the kind of the notifier was changed to one with another delivery mode after its
/// messages were picked, they are sent when they are picked again.
async fn send(engine: &Engine, notifier: &Notifier, work: Work) -> Result<Completion> {
    match (work, notifier.channel.delivery()) {
        (Work::Single(message), Delivery::Single) => {
            Ok(single::deliver(engine, notifier, *message).await)
        }
        (Work::Single(message), Delivery::Digest(_)) => {
            postpone(engine, &message.row, "the type of the notifier has changed").await;
            Ok(Completion::Done)
        }
        (Work::Digest { crashes }, Delivery::Digest(DigestRoute::Mail(route))) => {
            email::deliver(engine, notifier, route, crashes).await
        }
        (Work::Digest { crashes }, Delivery::Digest(DigestRoute::Service)) => {
            service::deliver(engine, notifier, crashes).await
        }
        (Work::Digest { .. }, Delivery::Single) => Ok(Completion::Done),
    }
}

/// What a message of a personal notifier fails with while its user may not receive it.
pub(super) async fn refusal(engine: &Engine, notifier: &Notifier) -> Option<Outcome> {
    match engine.is_withheld(notifier).await {
        Ok(false) => None,
        Ok(true) => Some(Outcome::Refused(NO_MEMBER.to_owned())),
        Err(error) => {
            let id = notifier.id;
            tracing::warn!(notifier.id = %id, error = %ErrorChain(&error), "finding the user of notifier {id} failed, the message is retried");
            Some(Outcome::failed("the user of the notifier could not be determined"))
        }
    }
}

impl Engine {
    /// Whether the user of a personal notifier is suspended, or no longer in the team. Their
    /// messages may have been queued before that.
    pub(in crate::notifications) async fn is_withheld(&self, notifier: &Notifier) -> Result<bool> {
        match notifier.owner {
            Some(owner) => Ok(self.account_spec(notifier.team, owner).await?.is_none()),
            None => Ok(false),
        }
    }
}

fn pause_after_error(engine: &Engine, id: NotifierId, sent: Result<Completion>) -> Completion {
    sent.unwrap_or_else(|error| {
        tracing::warn!(notifier.id = %id, error = %ErrorChain(&error), "sending messages of notifier {id} failed, retrying in {} s", STORE_RETRY_PAUSE.as_secs());
        Completion::Paused(id, engine.now().after(STORE_RETRY_PAUSE))
    })
}

/// Postpones a message whose notifier cannot be used.
pub(super) async fn postpone(engine: &Engine, row: &ClaimedDelivery, why: &str) {
    let (store, now) = (engine.store(), engine.now());
    let next_try = Some(now.after(UNUSABLE_WAIT));
    let claim = DeliveryClaim { ids: &[row.id], lease: row.lease };
    let written = store.deliveries_failed(row.notifier, claim, why, next_try, now).await;
    if let Err(error) = written {
        tracing::warn!(
            error = %ErrorChain(&error),
            "postponing a message failed, it is retried when its lease expires"
        );
    }
}
