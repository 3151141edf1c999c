//! Delivery of one message about one event.

use serde::Deserialize;
use std::time::Duration;
use wakeful_core::error_chain::ErrorChain;
use wakeful_core::id::AlertId;
use wakeful_core::notifications::event::{self, Event};
use wakeful_core::notifications::notifier::{Ability, Channel, Notifier, ServiceSpec};
use wakeful_core::notifications::retry::Outcome;
use wakeful_core::notifications::thread::Thread;
use wakeful_core::one_line::one_line;
use wakeful_core::time::Millis;
use wakeful_outbound::notify::{self, Attempt, Message};
use wakeful_store::NewThread;

use super::attempt::{ClaimedMessage, Completion, refusal};
use super::outcome::{Bundle, record_outcome, release_claims};
use super::survive::{defect, survived};
use crate::{Engine, failpoint};

/// Of what a receiver responds.
const MAX_NAME_CHARS: usize = 255;
const MAX_COMMENT_CHARS: usize = 4_000;

pub(super) async fn deliver(
    engine: &Engine,
    notifier: &Notifier,
    message: ClaimedMessage,
) -> Completion {
    let ClaimedMessage { row, claimed_at } = message;
    failpoint::here("after-claim");
    let Some(mut bundle) = Bundle::of(engine, row).await else { return Completion::Done };
    let event = bundle.event.clone().map(|event| engine.with_links(event, notifier));
    let event = event.map(|event| quietened(event, notifier, engine.now()));
    let thread = match &event {
        Some(event) => thread_of(engine, notifier, event).await,
        None => None,
    };
    let browsers = engine.browsers(notifier, bundle.remaining_recipients()).await;
    let refused = refusal(engine, notifier).await;
    if !engine.cluster().lease_held_since(claimed_at) {
        // This node stalled after its claim, and another may have sent the message.
        release_claims(engine, &[bundle]).await;
        return Completion::Done;
    }
    let attempt = match (refused, &event) {
        (Some(outcome), _) => outcome.into(),
        (None, None) => Outcome::Refused("the stored event cannot be read".to_owned()).into(),
        (None, Some(event)) => {
            failpoint::with("while-sending", &event.text);
            let link = engine.details_url(event);
            let (net, mail, channel) = (engine.net(), engine.service_mail(), &notifier.channel);
            let (left, thread) = (bundle.remaining_recipients(), thread.as_ref());
            let message = Message { event, link: &link, thread, left, browsers: browsers.as_ref() };
            let sending = notify::deliver(net, mail, notifier.team, channel, message, engine.now());
            survived(sending).await.unwrap_or_else(|panic| defect(panic).into())
        }
    };
    failpoint::here("after-send");
    let Attempt { outcome, recipients, thread, moved, pause, keepalive, push } = attempt;
    if let Some(recipients) = &recipients {
        bundle.add_recipients(recipients);
    }
    engine.record_push(&push).await;
    let response = event.as_ref().and_then(|event| acknowledgement(notifier, event, &outcome));
    let alert = event.and_then(|event| event.data.alertid);
    let thread = alert.zip(thread).map(|(alert, thread)| {
        let keepalive_at = keepalive.map(|span| engine.now().after(span));
        NewThread { alert, thread, keepalive_at }
    });
    record_outcome(engine, notifier, &[bundle], outcome, thread.as_ref()).await;
    failpoint::here("after-acknowledgement");
    if let Some(Acknowledgement { alert, by, comment }) = response {
        let done = engine.acknowledge_by_webhook(notifier, alert, &by, &comment).await;
        if let Err(error) = done {
            let id = notifier.id;
            tracing::info!(notifier.id = %id, error = %ErrorChain(&error), "the acknowledgement in a response to notifier {id} was not accepted");
        }
    }
    after_attempt(engine, notifier, moved, pause).await
}

/// What a service has said about later messages.
pub(super) async fn after_attempt(
    engine: &Engine,
    notifier: &Notifier,
    moved: Option<ServiceSpec>,
    pause: Option<Duration>,
) -> Completion {
    if let Some(spec) = moved {
        store_moved(engine, notifier, spec).await;
    }
    match pause {
        Some(pause) => Completion::Paused(notifier.id, engine.now().after(pause)),
        None => Completion::Done,
    }
}

/// The end of an alert makes no sound in quiet hours.
pub(super) fn quietened(mut event: Event, notifier: &Notifier, now: Millis) -> Event {
    let is_end = event::ENDING_TYPES.iter().any(|kind| event.is(kind));
    let are_ends = event.is(event::DIGEST) && event.data.status.as_deref() == Some("up");
    event.data.silent = (is_end || are_ends)
        && notifier.channel.kind().can_be_silent()
        && notifier.messages.is_quiet(now);
    event
}

/// Where the first message about the alert is. If the store fails, this becomes the first one.
async fn thread_of(engine: &Engine, notifier: &Notifier, event: &Event) -> Option<Thread> {
    let Channel::Service(spec) = &notifier.channel else { return None };
    let can = spec.descriptor().can;
    let follows = can.contains(&Ability::Thread) || can.contains(&Ability::Edit);
    let alert = event.data.alertid.filter(|_| follows && !event.is(event::DOWN))?;
    engine.store().thread(alert, notifier.id).await.ok().flatten()
}

/// Settings that the service itself has changed, such as the id of a chat.
async fn store_moved(engine: &Engine, notifier: &Notifier, spec: ServiceSpec) {
    let id = notifier.id;
    let moved = Notifier { channel: Channel::Service(spec), ..notifier.clone() };
    match engine.store().move_notifier(&moved).await {
        Ok(_) => {
            tracing::info!(notifier.id = %id, "the service has moved the receiver of notifier {id}");
        }
        Err(error) => {
            tracing::warn!(notifier.id = %id, error = %ErrorChain(&error), "storing the new receiver of notifier {id} failed, retrying with the next message");
        }
    }
}

/// What a receiver can respond to a message about an alert that lasts.
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

/// The acknowledgement in the response of a webhook to a message about an alert that lasts.
fn acknowledgement(
    notifier: &Notifier,
    event: &Event,
    outcome: &Outcome,
) -> Option<Acknowledgement> {
    let Outcome::Delivered(answer) = outcome else { return None };
    if !matches!(notifier.channel, Channel::Webhook(_)) {
        return None;
    }
    let repeats = [event::REMINDER, event::ESCALATED];
    let is_open = event::OPENING_TYPES.iter().chain(&repeats).any(|kind| event.is(kind));
    let alert = event.data.alertid.filter(|_| is_open)?;
    let response: Response = serde_json::from_str(answer).ok()?;
    let by = one_line(&response.by, MAX_NAME_CHARS);
    let comment = one_line(&response.comment, MAX_COMMENT_CHARS);
    response.acknowledge.then_some(Acknowledgement { alert, by, comment })
}
