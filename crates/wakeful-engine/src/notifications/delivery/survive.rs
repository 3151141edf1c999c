//! A message that always causes a panic or a crash is given up, so that it does not block
//! the others.

use futures_util::FutureExt as _;
use std::panic::AssertUnwindSafe;
use wakeful_core::backoff::{CRASHED, MAX_CRASHES};
use wakeful_core::error_chain::ErrorChain;
use wakeful_core::id::DeliveryId;
use wakeful_core::notifications::retry::Outcome;
use wakeful_store::{ClaimedDelivery, DeliveryClaim};

use crate::Engine;

/// A panic that was caught; the panic handler has logged it.
pub(crate) struct Panicked;

/// The result of `work`, unless it panics.
pub(crate) async fn survived<T>(work: impl Future<Output = T>) -> Result<T, Panicked> {
    AssertUnwindSafe(work).catch_unwind().await.map_err(|_| Panicked)
}

/// After a panic, a message is retried like after any other failure.
pub(super) fn defect(_: Panicked) -> Outcome {
    Outcome::failed("Wakeful itself failed while sending; see its log")
}

/// Gives up the rows that too many processes crashed with, and returns the others.
pub(super) async fn without_crashed(
    engine: &Engine,
    claimed: Vec<ClaimedDelivery>,
) -> Vec<ClaimedDelivery> {
    let (crashed, sound): (Vec<_>, Vec<_>) =
        claimed.into_iter().partition(|row| row.crashes >= MAX_CRASHES);
    let Some(first) = crashed.first() else { return sound };
    let ids: Vec<DeliveryId> = crashed.iter().map(|row| row.id).collect();
    let claim = DeliveryClaim { ids: &ids, lease: first.lease };
    let given_up = engine.store().give_up_deliveries(claim, CRASHED, engine.now()).await;
    match given_up {
        Ok(()) => {
            for row in &crashed {
                let (id, notifier) = (row.id, row.notifier);
                tracing::error!(delivery.id = %id, notifier.id = %notifier, "delivery {id} of notifier {notifier} failed: {CRASHED}");
            }
        }
        Err(error) => {
            tracing::warn!(
                error = %ErrorChain(&error),
                "giving up deliveries after crashes failed, retrying when their lease expires"
            );
        }
    }
    sound
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test]
    async fn a_panic_is_a_failed_delivery() {
        let sending = async { panic!("caused by the test") };
        let outcome = survived::<Outcome>(sending).await.unwrap_or_else(defect);
        assert!(matches!(outcome, Outcome::Failed(_)), "{outcome:?}");
    }
}
