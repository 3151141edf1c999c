//! Bundles messages and records the outcome of attempts. An outage that could not be
//! delivered in time is combined with its recovery, and a notifier whose receiver is dead is
//! disabled and its team notified.

use std::collections::HashMap;
use std::time::Duration;
use wakeful_core::access::Permission;
use wakeful_core::error_chain::ErrorChain;
use wakeful_core::id::{AlertId, DeliveryId};
use wakeful_core::notifications::event::{self, Event, EventData};
use wakeful_core::notifications::notifier::{Channel, Notifier};
use wakeful_core::notifications::recipients::Recipients;
use wakeful_core::notifications::retry::{self, Failure, Outcome};
use wakeful_core::time::Millis;
use wakeful_store::{ClaimedDelivery, DeliveryClaim, NewThread};

use crate::{Engine, Error, Result, mail::templates, random};

/// An outage that has waited this long for delivery is combined with its recovery for
/// webhooks. Before, both are sent separately: programs want every event.
const MERGE_AFTER: Duration = Duration::from_secs(120);
/// The pause between attempts to record an outcome.
const RETRY_PAUSE: Duration = Duration::from_secs(1);

/// One message: a row of the outbox, or two that are combined.
pub(super) struct Bundle {
    rows: Vec<ClaimedDelivery>,
    /// `None` if the stored event cannot be read.
    pub(super) event: Option<Event>,
}

impl Bundle {
    /// A message to a webhook: an outage is combined with its recovery only if it is late.
    /// `None` if there is nothing left to send.
    pub(super) async fn of(engine: &Engine, row: ClaimedDelivery) -> Option<Self> {
        let late = !row.last_answer.is_empty() || engine.now().since(row.created) >= MERGE_AFTER;
        let ups = if late {
            claim_recoveries_of(engine, std::slice::from_ref(&row)).await
        } else {
            HashMap::new()
        };
        Self::all(engine, vec![row], ups).await.pop()
    }

    /// Messages by email: an outage and its recovery that wait together are combined.
    pub(super) async fn merged(engine: &Engine, rows: Vec<ClaimedDelivery>) -> Vec<Self> {
        let ups = claim_recoveries_of(engine, &rows).await;
        Self::all(engine, rows, ups).await
    }

    /// Messages that may have arrived before: a recovery would not be noticed in them.
    pub(super) async fn repeated(engine: &Engine, rows: Vec<ClaimedDelivery>) -> Vec<Self> {
        Self::all(engine, rows, HashMap::new()).await
    }

    async fn all(
        engine: &Engine,
        rows: Vec<ClaimedDelivery>,
        mut ups: HashMap<AlertId, ClaimedDelivery>,
    ) -> Vec<Self> {
        let mut bundles = Vec::with_capacity(rows.len());
        for row in rows {
            if withdraw_stale_reminders(engine, std::slice::from_ref(&row)).await {
                continue;
            }
            let up = row.alert.filter(|_| row.kind == event::DOWN).and_then(|id| ups.remove(&id));
            bundles.push(Self::merge(row, up));
        }
        bundles
    }

    /// The recipients that have not received it yet, if others have.
    pub(super) fn remaining_recipients(&self) -> Option<&[String]> {
        self.rows.first()?.left.as_deref()
    }

    /// Adds the server's responses to the recipients of an attempt to those of earlier ones.
    pub(super) fn add_recipients(&mut self, attempt: &Recipients) {
        for row in &mut self.rows {
            row.recipients = match (&row.left, row.recipients.take()) {
                (None, _) => Some(attempt.clone()),
                (Some(left), earlier) => earlier.map(|all| all.after_retry(left, attempt)),
            };
        }
    }

    fn merge(row: ClaimedDelivery, up: Option<ClaimedDelivery>) -> Self {
        let event = Event::parse(&row.body);
        let recovery = up.as_ref().and_then(|up| Event::parse(&up.body));
        match (&event, up, recovery) {
            (Some(down), Some(up), Some(recovery)) => {
                let event = Some(Event::with_outage(down, recovery));
                Self { rows: vec![row, up], event }
            }
            _ => Self { rows: vec![row], event },
        }
    }
}

/// Claims the recoveries that wait right behind these outages of one notifier. If the store
/// fails, each outage is sent separately. So is an outage that only some recipients still
/// need, because its recovery is for all of them, and one that a process crashed with,
/// because it may be the cause and the recovery is not.
async fn claim_recoveries_of(
    engine: &Engine,
    rows: &[ClaimedDelivery],
) -> HashMap<AlertId, ClaimedDelivery> {
    let outages =
        rows.iter().filter(|row| row.kind == event::DOWN && row.left.is_none() && row.crashes == 0);
    let ids: Vec<DeliveryId> = outages.map(|row| row.id).collect();
    let Some(lease) = rows.first().map(|row| row.lease).filter(|_| !ids.is_empty()) else {
        return HashMap::new();
    };
    let claimed = engine.store().claim_recoveries(&ids, lease).await.unwrap_or_default();
    claimed.into_iter().filter_map(|up| Some((up.alert?, up))).collect()
}

/// Releases rows that were claimed and not sent, unless another node has claimed them.
pub(super) async fn release_claims(engine: &Engine, bundles: &[Bundle]) {
    let rows = || bundles.iter().flat_map(|bundle| &bundle.rows);
    let ids: Vec<DeliveryId> = rows().map(|row| row.id).collect();
    let Some(first) = rows().next() else { return };
    let claim = DeliveryClaim { ids: &ids, lease: first.lease };
    if let Err(error) = engine.store().release_deliveries(claim).await {
        tracing::warn!(
            error = %ErrorChain(&error),
            "releasing messages failed, they are sent when their lease expires"
        );
    }
}

/// Withdraws reminders of an outage that is over; true if these are all rows. If the store
/// fails, the reminder is sent.
async fn withdraw_stale_reminders(engine: &Engine, rows: &[ClaimedDelivery]) -> bool {
    let kinds = [event::REMINDER, event::ESCALATED];
    let reminders = rows.iter().filter(|row| kinds.contains(&row.kind.as_str()));
    let reminders: Vec<DeliveryId> = reminders.map(|row| row.id).collect();
    if reminders.is_empty() {
        return false;
    }
    let over = engine.store().withdraw_reminders(&reminders, engine.now()).await;
    over.is_ok_and(|over| over.len() == rows.len())
}

/// Records the outcome of an attempt, and the thread of the message, with retries. If that fails,
/// the lease expires and the message is sent again, with the same id.
pub(super) async fn record_outcome(
    engine: &Engine,
    notifier: &Notifier,
    bundles: &[Bundle],
    outcome: Outcome,
    thread: Option<&NewThread>,
) {
    let rows = || bundles.iter().flat_map(|bundle| &bundle.rows);
    let Some(lease) = rows().map(|row| row.lease).min() else { return };
    count_outcome(notifier, &outcome, rows().count());
    while let Err(error) = try_record_outcome(engine, notifier, bundles, &outcome, thread).await {
        if engine.now().after(RETRY_PAUSE) < lease && matches!(error, Error::Store(_)) {
            tokio::time::sleep(RETRY_PAUSE).await;
            continue;
        }
        let id = notifier.id;
        tracing::warn!(notifier.id = %id, error = %ErrorChain(&error), "could not save the delivery result for notifier {id}, messages may be sent again");
        return;
    }
}

async fn try_record_outcome(
    engine: &Engine,
    notifier: &Notifier,
    bundles: &[Bundle],
    outcome: &Outcome,
    thread: Option<&NewThread>,
) -> Result<()> {
    let now = engine.now();
    let rows = || bundles.iter().flat_map(|bundle| &bundle.rows);
    let ids: Vec<DeliveryId> = rows().map(|row| row.id).collect();
    let Some(first) = rows().next() else { return Ok(()) };
    let claim = DeliveryClaim { ids: &ids, lease: first.lease };
    record_recipients(engine, rows()).await?;
    let answer = outcome.answer();
    let attempts = rows().map(|row| row.attempts).max().unwrap_or(1);
    let next_try = match outcome {
        Outcome::Delivered(_) => {
            let (store, id) = (engine.store(), notifier.id);
            match thread {
                Some(thread) => {
                    store.deliveries_succeeded_in_thread(id, &ids, answer, thread, now).await?;
                }
                None => store.deliveries_succeeded(id, &ids, answer, now).await?,
            }
            for row in rows() {
                let lag = now.since(row.created).as_secs_f64();
                metrics::histogram!("wakeful_delivery_lag_seconds").record(lag);
            }
            return Ok(());
        }
        Outcome::Partial { left, retry_after, .. } => {
            let store = engine.store();
            let retry_after = *retry_after;
            let overloaded = retry_after.is_some();
            let failure = Failure { retry_after, overloaded, ..Failure::default() };
            let next_try = next_try(attempts, &failure, now);
            let Some(next_try) = next_try else {
                return Ok(store.deliveries_succeeded(notifier.id, &ids, answer, now).await?);
            };
            store
                .deliveries_partially_succeeded(notifier.id, claim, answer, left, next_try, now)
                .await?;
            return Ok(());
        }
        Outcome::Failed(failure) => next_try(attempts, failure, now),
        Outcome::Refused(_) | Outcome::Gone(_) => None,
    };
    let store = engine.store();
    let since = store.deliveries_failed(notifier.id, claim, answer, next_try, now).await?;
    for bundle in bundles {
        // The messages behind a reminder need not wait for its next attempt.
        withdraw_stale_reminders(engine, &bundle.rows).await;
    }
    let id = notifier.id;
    tracing::info!(notifier.id = %id, answer, "delivering a message of notifier {id} failed");
    if matches!(outcome, Outcome::Gone(_)) {
        let why = match notifier.channel {
            Channel::Service(_) => format!("its receiver no longer exists: {answer}"),
            _ => "its receiver responded with 410 Gone".to_owned(),
        };
        return disable(engine, notifier, &why).await;
    }
    // A message that failed for the first time is retried before its notifier is disabled,
    // and the message with it.
    let is_first = attempts == 1 && next_try.is_some();
    if !is_first && retry::should_disable(since, now) {
        return disable(engine, notifier, "no message has arrived for five days").await;
    }
    Ok(())
}

/// Records the recipients of mails. The rows of one message usually have the same ones.
async fn record_recipients(
    engine: &Engine,
    rows: impl Iterator<Item = &ClaimedDelivery>,
) -> Result<()> {
    let mut groups: Vec<(&Recipients, Vec<DeliveryId>)> = Vec::new();
    for row in rows {
        let Some(recipients) = &row.recipients else { continue };
        match groups.iter_mut().find(|(same, _)| *same == recipients) {
            Some((_, ids)) => ids.push(row.id),
            None => groups.push((recipients, vec![row.id])),
        }
    }
    for (recipients, ids) in groups {
        engine.store().record_recipients(&ids, recipients).await?;
    }
    Ok(())
}

/// The time of the next attempt; `None` after the last one.
fn next_try(attempts: u32, failure: &Failure, now: Millis) -> Option<Millis> {
    let jitter = u32::from_ne_bytes(random::bytes());
    retry::delay(attempts, failure, jitter).map(|wait| now.after(wait))
}

/// Disables a notifier and notifies those who may change it, once.
async fn disable(engine: &Engine, notifier: &Notifier, why: &str) -> Result<()> {
    let editors = match notifier.owner {
        None => engine.emails_of_members_with(notifier.team, Permission::Edit).await?,
        Some(owner) => {
            let account = engine.account_spec(notifier.team, owner).await?;
            account.map(|user| user.email).into_iter().collect()
        }
    };
    let text = templates::notifier_disabled(engine.settings(), notifier.name.as_str(), why);
    let mails: Vec<_> = editors.iter().map(|email| engine.new_mail(email, text.clone())).collect();
    if engine.store().disable_notifier(notifier.id, why, &mails, engine.now()).await? {
        let id = notifier.id;
        tracing::warn!(notifier.id = %id, "disabled notifier {id}: {why}");
        engine.0.mail_queued.notify_one();
    }
    Ok(())
}

fn count_outcome(notifier: &Notifier, outcome: &Outcome, rows: usize) {
    let result = match outcome {
        Outcome::Delivered(_) | Outcome::Partial { .. } => "delivered",
        Outcome::Failed(_) => "failed",
        Outcome::Refused(_) | Outcome::Gone(_) => "refused",
    };
    let kind = notifier.channel.kind().as_str();
    metrics::counter!("wakeful_deliveries_total", "type" => kind, "result" => result)
        .increment(rows as u64);
}

impl Engine {
    /// The page with the details of an event.
    pub(crate) fn details_url(&self, event: &Event) -> String {
        let EventData { alertid, monitor, maintenance, .. } = &event.data;
        let url = self.public_url();
        match (alertid, monitor, maintenance) {
            (Some(alert), ..) => format!("{url}/alert/{alert}"),
            (None, Some(monitor), _) => format!("{url}/monitor/{}", monitor.monitorid),
            (None, None, Some(window)) => format!("{url}/maintenance/{}", window.maintenanceid),
            (None, None, None) => url.to_owned(),
        }
    }
}
