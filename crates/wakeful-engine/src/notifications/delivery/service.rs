//! Delivery of the waiting messages of one notifier that sends to a service that people read. Each
//! event is a message, as long as there are few; more are combined into one.

use tokio::time::Instant;
use wakeful_core::id::{DeliveryId, EventId};
use wakeful_core::notifications::event::Event;
use wakeful_core::notifications::notifier::Notifier;
use wakeful_core::notifications::retry::Outcome;
use wakeful_core::token::Digest;
use wakeful_outbound::notify::{self, Attempt, Message, digest};
use wakeful_store::{ClaimedDelivery, LimitedClaim, MessageLimit};

use super::LEASE;
use super::attempt::{ClaimedMessage, Completion, refusal};
use super::limits::{
    Budget, MAX_DIGEST, MAX_PER_MINUTE, MINUTE, budget, chunk_len, count_limited, waits_until,
};
use super::outcome::{Bundle, record_outcome, release_claims};
use super::single;
use super::survive::{defect, survived, without_crashed};
use super::turns::SLOW_AFTER;
use crate::{Engine, Result, failpoint};

/// Sends the due messages with this number of crashes.
pub(super) async fn deliver(
    engine: &Engine,
    notifier: &Notifier,
    crashes: u32,
) -> Result<Completion> {
    let (id, now) = (notifier.id, engine.now());
    let groups = engine.store().due_for_notifier(id, now, MAX_DIGEST).await?;
    let mut completion = Completion::Done;
    for group in groups.into_iter().filter(|group| group.crashes == crashes) {
        if let Some(until) = waits_until(notifier, &group, now) {
            completion = Completion::Paused(id, until);
            continue;
        }
        let left = match budget(engine, &[key(notifier)]).await? {
            Budget::Left(left) => left,
            Budget::Spent(until) => {
                count_limited(notifier);
                return Ok(Completion::Paused(id, until));
            }
        };
        let chunk_len = chunk_len(notifier, &group, left);
        if group.digest.is_none() && group.ids.len() > left {
            count_limited(notifier);
        }
        for ids in group.ids.chunks(chunk_len) {
            let begun = Instant::now();
            // What was sent together is sent again with the same id.
            let same = group.digest.filter(|_| chunk_len == group.ids.len());
            let digest = same.or_else(|| ids.first().copied().filter(|_| ids.len() > 1));
            let digest = digest.map(|id| Combined { id, is_repeated: same.is_some() });
            match send(engine, notifier, ids, digest).await? {
                Completion::Done => {}
                paused @ Completion::Paused(..) => return Ok(paused),
            }
            if begun.elapsed() >= SLOW_AFTER {
                // Meanwhile there may be more to combine.
                return Ok(Completion::Done);
            }
        }
    }
    Ok(completion)
}

/// What the messages of a notifier are counted by.
fn key(notifier: &Notifier) -> Digest {
    Digest::of(&format!("notifier\n{}", notifier.id))
}

/// A message about many events.
#[derive(Clone, Copy)]
struct Combined {
    id: DeliveryId,
    /// It was sent before, and may have arrived.
    is_repeated: bool,
}

/// Claims these rows and sends them as one message.
async fn send(
    engine: &Engine,
    notifier: &Notifier,
    ids: &[DeliveryId],
    digest: Option<Combined>,
) -> Result<Completion> {
    let (claimed_at, now) = (Instant::now(), engine.now());
    let limit = MessageLimit { key: key(notifier), since: now.before(MINUTE), max: MAX_PER_MINUTE };
    let (store, lease) = (engine.store(), now.after(LEASE));
    let id = digest.map(|digest| digest.id);
    let claim = store.claim_within_limit(notifier.id, ids, id, limit, now, lease).await?;
    let claimed = match claim {
        LimitedClaim::Claimed(claimed) => claimed,
        LimitedClaim::Spent(at) => {
            // Another node was faster.
            count_limited(notifier);
            return Ok(Completion::Paused(notifier.id, at.after(MINUTE)));
        }
    };
    let mut claimed = without_crashed(engine, claimed).await;
    match digest {
        Some(digest) => Ok(send_digest(engine, notifier, digest, claimed, claimed_at).await),
        None => match claimed.pop() {
            Some(row) => {
                let message = ClaimedMessage { row, claimed_at };
                Ok(single::deliver(engine, notifier, message).await)
            }
            None => Ok(Completion::Done),
        },
    }
}

/// Sends one message about all of these rows. It belongs to no thread.
async fn send_digest(
    engine: &Engine,
    notifier: &Notifier,
    Combined { id, is_repeated }: Combined,
    claimed: Vec<ClaimedDelivery>,
    claimed_at: Instant,
) -> Completion {
    failpoint::here("after-claim");
    let mut bundles = if is_repeated {
        Bundle::repeated(engine, claimed).await
    } else {
        Bundle::merged(engine, claimed).await
    };
    if bundles.is_empty() {
        return Completion::Done;
    }
    // They wait for the same recipients.
    let left = bundles.first().and_then(|bundle| bundle.remaining_recipients());
    let browsers = engine.browsers(notifier, left).await;
    let refused = refusal(engine, notifier).await;
    if !engine.cluster().lease_held_since(claimed_at) {
        // This node stalled after its claim, and another may have sent the message.
        release_claims(engine, &bundles).await;
        return Completion::Done;
    }
    let events: Vec<Event> = bundles.iter().filter_map(|bundle| bundle.event.clone()).collect();
    let attempt = if let Some(outcome) = refused {
        outcome.into()
    } else if events.is_empty() {
        Outcome::Refused("the stored events cannot be read".to_owned()).into()
    } else {
        for event in &events {
            failpoint::with("while-sending", &event.text);
        }
        let now = engine.now();
        let event = digest::event(EventId::from(id.uuid()), &events, now);
        let event = single::quietened(event, notifier, now);
        let link = format!("{}/alerts?digest={id}", engine.public_url());
        let browsers = browsers.as_ref();
        let message = Message { event: &event, link: &link, thread: None, left, browsers };
        let (net, mail, channel) = (engine.net(), engine.service_mail(), &notifier.channel);
        let sending = notify::deliver(net, mail, notifier.team, channel, message, now);
        survived(sending).await.unwrap_or_else(|panic| defect(panic).into())
    };
    failpoint::here("after-send");
    let Attempt { outcome, recipients, moved, pause, push, .. } = attempt;
    if let Some(recipients) = &recipients {
        for bundle in &mut bundles {
            bundle.add_recipients(recipients);
        }
    }
    engine.record_push(&push).await;
    record_outcome(engine, notifier, &bundles, outcome, None).await;
    failpoint::here("after-acknowledgement");
    single::after_attempt(engine, notifier, moved, pause).await
}
