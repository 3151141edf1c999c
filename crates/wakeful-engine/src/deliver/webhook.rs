//! One message to one webhook.

use wakeful_core::notice::retry::Outcome;
use wakeful_core::notifier::{Notifier, WebhookSpec};
use wakeful_outbound::notify::webhook;
use wakeful_store::ClaimedDelivery;

use super::settle::{Bundle, settle};
use crate::Engine;

pub(super) async fn deliver(
    engine: &Engine,
    notifier: &Notifier,
    hook: &WebhookSpec,
    row: ClaimedDelivery,
) {
    let bundle = Bundle::of(engine, row).await;
    let outcome = match &bundle.notice {
        None => Outcome::Refused("the stored event cannot be read".to_owned()),
        Some(notice) => {
            let link = engine.page_of(notice);
            webhook::deliver(engine.net(), hook, notice, &link, engine.now()).await
        }
    };
    settle(engine, notifier, &[bundle], outcome).await;
}
