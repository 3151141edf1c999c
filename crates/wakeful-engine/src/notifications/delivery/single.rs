//! Delivery of one message, for the kinds of notifiers that send each event separately.

use serde::Deserialize;
use wakeful_core::error_chain::ErrorChain;
use wakeful_core::id::AlertId;
use wakeful_core::notifications::event::{self, Event};
use wakeful_core::notifications::notifier::Notifier;
use wakeful_core::notifications::retry::Outcome;
use wakeful_core::one_line::one_line;
use wakeful_outbound::notify;

use super::attempt::ClaimedMessage;
use super::outcome::{Bundle, record_outcome, release_claims};
use super::survive::{defect, survived};
use crate::{Engine, failpoint};

/// Of what a receiver responds.
const MAX_NAME_CHARS: usize = 255;
const MAX_COMMENT_CHARS: usize = 4_000;

pub(super) async fn deliver(engine: &Engine, notifier: &Notifier, message: ClaimedMessage) {
    let ClaimedMessage { row, claimed_at } = message;
    failpoint::here("after-claim");
    let Some(bundle) = Bundle::of(engine, row).await else { return };
    if !engine.cluster().lease_held_since(claimed_at) {
        // This node stalled after its claim, and another may have sent the message.
        return release_claims(engine, &[bundle]).await;
    }
    let event = bundle.event.clone().map(|event| engine.with_links(event, notifier));
    let outcome = match &event {
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
    let response = event.and_then(|event| acknowledgement(&event, &outcome));
    record_outcome(engine, notifier, &[bundle], outcome).await;
    failpoint::here("after-acknowledgement");
    if let Some(Acknowledgement { alert, by, comment }) = response {
        let done = engine.acknowledge_by_webhook(notifier, alert, &by, &comment).await;
        if let Err(error) = done {
            let id = notifier.id;
            tracing::info!(notifier.id = %id, error = %ErrorChain(&error), "the acknowledgement in a response to notifier {id} was not accepted");
        }
    }
}

/// What a receiver can respond to a message about an outage.
#[derive(Deserialize)]
struct Response {
    acknowledge: bool,
    #[serde(default)]
    by: String,
    #[serde(default)]
    comment: String,
}

struct Acknowledgement {
    alert: AlertId,
    by: String,
    comment: String,
}

/// The acknowledgement in the response to a message about an ongoing outage.
fn acknowledgement(event: &Event, outcome: &Outcome) -> Option<Acknowledgement> {
    let Outcome::Delivered(answer) = outcome else { return None };
    let opens = [event::DOWN, event::REMINDER, event::FLAPPING, event::ESCALATED];
    let is_about_outage = opens.iter().any(|kind| event.is(kind));
    let alert = event.data.alertid.filter(|_| is_about_outage)?;
    let response: Response = serde_json::from_str(answer).ok()?;
    let by = one_line(&response.by, MAX_NAME_CHARS);
    let comment = one_line(&response.comment, MAX_COMMENT_CHARS);
    response.acknowledge.then_some(Acknowledgement { alert, by, comment })
}
