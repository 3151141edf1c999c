//! Delivery of all waiting messages of one notifier that sends emails. A recipient gets a few messages
//! per minute; more events are combined into a digest.

use tokio::time::Instant;
use wakeful_core::id::{DeliveryId, TeamId};
use wakeful_core::notifications::event::{self, Event};
use wakeful_core::notifications::notifier::{AccountSpec, MailRoute, Notifier};
use wakeful_core::notifications::retry::Outcome;
use wakeful_core::token::Digest;
use wakeful_outbound::mail::Email;
use wakeful_outbound::notify::email_template::{self, Envelope};
use wakeful_outbound::notify::{Attempt, account, email};

use super::LEASE;
use super::attempt::{Completion, NO_MEMBER, refusal};
use super::limits::{Budget, MAX_DIGEST, budget, chunk_len, count_limited, waits_until};
use super::outcome::{Bundle, record_outcome, release_claims};
use super::survive::{defect, survived, without_crashed};
use crate::{Engine, Result, failpoint};

/// Sends the due messages with this number of crashes.
pub(super) async fn deliver(
    engine: &Engine,
    notifier: &Notifier,
    route: MailRoute<'_>,
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
        let left = match budget(engine, &recipients(notifier.team, route, |_| true)).await? {
            Budget::Left(left) => left,
            Budget::Spent(until) => {
                count_limited(notifier);
                return Ok(Completion::Paused(id, until));
            }
        };
        if group.ids.len() > left {
            count_limited(notifier);
        }
        for ids in group.ids.chunks(chunk_len(notifier, &group, left)) {
            send(engine, notifier, route, ids).await?;
        }
    }
    Ok(completion)
}

/// Recipients are counted separately for each team: one team cannot silence another that
/// writes to the same address.
fn recipients(team: TeamId, route: MailRoute<'_>, counts: impl Fn(&String) -> bool) -> Vec<Digest> {
    let mut keys: Vec<String> = route.recipient_keys().into_iter().filter(counts).collect();
    keys.sort_unstable();
    keys.dedup();
    keys.iter().map(|key| Digest::of(&format!("mail\n{team}\n{key}"))).collect()
}

/// Claims these rows and sends them as one message, to the recipients that have not received
/// it yet. All rows have the same ones.
async fn send(
    engine: &Engine,
    notifier: &Notifier,
    route: MailRoute<'_>,
    ids: &[DeliveryId],
) -> Result<()> {
    let (begun, now) = (Instant::now(), engine.now());
    let claimed = engine.store().claim_deliveries(ids, now, now.after(LEASE)).await?;
    failpoint::here("after-claim");
    let claimed = without_crashed(engine, claimed).await;
    let mut bundles = Bundle::merged(engine, claimed).await;
    if !engine.cluster().lease_held_since(begun) {
        // This node stalled after its claim, and another may have sent the message.
        release_claims(engine, &bundles).await;
        return Ok(());
    }
    let Some(first) = bundles.first() else { return Ok(()) };
    let left = first.remaining_recipients().map(<[String]>::to_vec);
    let left = left.as_deref();
    let events = bundles.iter().filter_map(|bundle| bundle.event.clone());
    let events: Vec<Event> = events.map(|event| engine.with_links(event, notifier)).collect();
    let sending = hand_over(engine, notifier, route, &events, left);
    let sent = survived(sending).await.unwrap_or_else(|panic| Ok(defect(panic).into()))?;
    let Attempt { outcome, recipients: responses, .. } = sent;
    if let Some(responses) = &responses {
        bundles.iter_mut().for_each(|bundle| bundle.add_recipients(responses));
    }
    failpoint::here("after-send");
    let deferred = match &outcome {
        Outcome::Delivered(_) => Some(Vec::new()),
        Outcome::Partial { left, .. } => Some(left.clone()),
        _ => None,
    };
    record_outcome(engine, notifier, &bundles, outcome, None).await;
    failpoint::here("after-acknowledgement");
    if let Some(deferred) = deferred {
        let was_reached = |key: &String| {
            left.is_none_or(|left| contains_address(left, key)) && !contains_address(&deferred, key)
        };
        let reached = recipients(notifier.team, route, was_reached);
        engine.store().record_sent_mail(&reached, engine.now()).await?;
    }
    Ok(())
}

/// Renders the message about these events and hands it to the mail server.
async fn hand_over(
    engine: &Engine,
    notifier: &Notifier,
    route: MailRoute<'_>,
    events: &[Event],
    left: Option<&[String]>,
) -> Result<Attempt> {
    for event in events {
        failpoint::with("while-sending", &event.text);
    }
    if events.is_empty() {
        return Ok(Outcome::Refused("the stored event cannot be read".to_owned()).into());
    }
    match route {
        MailRoute::Server(spec) => {
            if let Some(outcome) = refusal(engine, notifier).await {
                return Ok(outcome.into());
            }
            let message = compose(engine, spec.into(), notifier, events).await?;
            Ok(email::deliver(engine.net(), spec, &message, left).await)
        }
        MailRoute::Account(spec) => mail_to_account(engine, spec, notifier, events).await,
    }
}

/// Sends the message to the address that the user has now.
async fn mail_to_account(
    engine: &Engine,
    spec: &AccountSpec,
    notifier: &Notifier,
    events: &[Event],
) -> Result<Attempt> {
    let Some(spec) = engine.account_spec(notifier.team, spec.user).await? else {
        return Ok(Outcome::Refused(NO_MEMBER.to_owned()).into());
    };
    let mail = engine.service_mail();
    let message = compose(engine, mail.envelope(&spec), notifier, events).await?;
    // Other users get a message of their own about the same event.
    let personal = |id: String| format!("{id}.{}", notifier.id);
    let message = Email {
        id: personal(message.id),
        in_reply_to: message.in_reply_to.map(personal),
        ..message
    };
    Ok(account::deliver(engine.net(), mail, &spec, &message).await)
}

async fn compose(
    engine: &Engine,
    envelope: Envelope,
    notifier: &Notifier,
    events: &[Event],
) -> Result<Email> {
    if let [one] = events {
        return threaded_email(engine, envelope, notifier, one).await;
    }
    let link = format!("{}/alerts", engine.public_url());
    Ok(email_template::digest(envelope, events, &link, engine.now()))
}

/// Whether one of these addresses has this key.
fn contains_address(addresses: &[String], key: &str) -> bool {
    addresses.iter().any(|one| wakeful_core::email_address::key(one) == key)
}

/// The mail about one event; a reminder or recovery replies to the mail of the outage.
async fn threaded_email(
    engine: &Engine,
    envelope: Envelope,
    notifier: &Notifier,
    event: &Event,
) -> Result<Email> {
    let separate = event.data.down_eventid.is_none();
    let later = event.is(event::UP) || event.is(event::REMINDER) || event.is(event::ESCALATED);
    let outage = event.data.alertid.filter(|_| later && separate);
    let replies_to = match outage {
        Some(alert) => engine.store().outage_event(alert, notifier.id).await?,
        None => None,
    };
    Ok(email_template::event_email(
        engine.net().renderers(),
        notifier.team,
        envelope,
        event,
        &engine.details_url(event),
        replies_to,
        engine.now(),
    )
    .await)
}
