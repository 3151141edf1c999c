//! A message that cannot be sent without a panic or a crash is given up, and does not
//! keep the others from being sent.

use futures_util::FutureExt as _;
use std::panic::AssertUnwindSafe;
use wakeful_core::backoff::{CRASHED, MAX_CRASHES};
use wakeful_core::id::DeliveryId;
use wakeful_core::notice::retry::Outcome;
use wakeful_store::ClaimedDelivery;

use crate::Engine;

/// A panic that was caught, and reported where it happened.
pub(crate) struct Panicked;

/// What this comes to, unless it panics.
pub(crate) async fn survived<T>(work: impl Future<Output = T>) -> Result<T, Panicked> {
    AssertUnwindSafe(work).catch_unwind().await.map_err(|_| Panicked)
}

/// A panic is no reason to give a message up at once, nor to try it for ever.
pub(super) fn defect(_: Panicked) -> Outcome {
    Outcome::failed("Wakeful itself failed while sending; see its log")
}

/// Gives up those of these rows that too many processes did not survive, and returns
/// the others.
pub(super) async fn without_crashed(
    engine: &Engine,
    claimed: Vec<ClaimedDelivery>,
) -> Vec<ClaimedDelivery> {
    let (crashed, sound): (Vec<_>, Vec<_>) =
        claimed.into_iter().partition(|row| row.crashes >= MAX_CRASHES);
    let Some(first) = crashed.first() else { return sound };
    let ids: Vec<DeliveryId> = crashed.iter().map(|row| row.id).collect();
    let given_up =
        engine.store().give_up_deliveries(&ids, first.lease, CRASHED, engine.now()).await;
    match given_up {
        Ok(()) => {
            for row in &crashed {
                let (id, notifier) = (row.id, row.notifier);
                tracing::error!(delivery.id = %id, notifier.id = %notifier, "delivery {id} of notifier {notifier} failed: {CRASHED}");
            }
        }
        Err(error) => {
            tracing::warn!(
                error = &error as &dyn std::error::Error,
                "giving up deliveries after crashes failed, retrying when their lease ends"
            );
        }
    }
    sound
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test]
    async fn a_panic_is_an_outcome_of_the_message() {
        let sending = async { panic!("as a test wants it") };
        let outcome = survived::<Outcome>(sending).await.unwrap_or_else(defect);
        assert!(matches!(outcome, Outcome::Failed(_)), "{outcome:?}");
    }
}
