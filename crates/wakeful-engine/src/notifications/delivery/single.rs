//! Delivery of one message, for the kinds of notifiers that send each event separately.

use wakeful_core::notifications::notifier::Notifier;
use wakeful_core::notifications::retry::Outcome;
use wakeful_outbound::notify;

use super::attempt::ClaimedMessage;
use super::outcome::{Bundle, record_outcome, release_claims};
use super::survive::{defect, survived};
use crate::{Engine, failpoint};

pub(super) async fn deliver(engine: &Engine, notifier: &Notifier, message: ClaimedMessage) {
    let ClaimedMessage { row, claimed_at } = message;
    failpoint::here("after-claim");
    let Some(bundle) = Bundle::of(engine, row).await else { return };
    if !engine.cluster().lease_held_since(claimed_at) {
        // This node stalled after its claim, and another may have sent the message.
        return release_claims(engine, &[bundle]).await;
    }
    let outcome = match &bundle.event {
        None => Outcome::Refused("the stored event cannot be read".to_owned()),
        Some(event) => {
            failpoint::with("while-sending", &event.text);
            let link = engine.details_url(event);
            let (net, mail, channel) = (engine.net(), engine.service_mail(), &notifier.channel);
            let (team, now) = (notifier.team, engine.now());
            let sending = notify::deliver(net, mail, team, channel, event, &link, now);
            survived(sending).await.map_or_else(defect, |attempt| attempt.outcome)
        }
    };
    failpoint::here("after-send");
    record_outcome(engine, notifier, &[bundle], outcome).await;
    failpoint::here("after-acknowledgement");
}
