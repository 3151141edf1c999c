//! One message to one webhook.

use tokio::time::Instant;
use wakeful_core::notice::retry::Outcome;
use wakeful_core::notifier::{Notifier, WebhookSpec};
use wakeful_outbound::notify::webhook;
use wakeful_store::ClaimedDelivery;

use super::settle::{Bundle, give_back, settle};
use super::survive::{defect, survived};
use crate::{Engine, failpoint};

pub(super) async fn deliver(
    engine: &Engine,
    notifier: &Notifier,
    hook: &WebhookSpec,
    row: ClaimedDelivery,
    claimed: Instant,
) {
    failpoint::here("after-claim");
    let Some(bundle) = Bundle::of(engine, row).await else { return };
    if !engine.cluster().is_steady_since(claimed) {
        // This node was held up since its claim, and another may have sent it.
        return give_back(engine, &[bundle]).await;
    }
    let outcome = match &bundle.notice {
        None => Outcome::Refused("the stored event cannot be read".to_owned()),
        Some(notice) => {
            failpoint::with("while-sending", &notice.text);
            let link = engine.page_of(notice);
            let sending = webhook::deliver(engine.net(), hook, notice, &link, engine.now());
            survived(sending).await.unwrap_or_else(defect)
        }
    };
    failpoint::here("after-send");
    settle(engine, notifier, &[bundle], outcome).await;
    failpoint::here("after-acknowledgement");
}
