//! What belongs together and what becomes of it: an outage and its recovery
//! are told as one when nobody could be told in time, an attempt is written
//! down, and a receiver that is dead is turned off and its team told.

use std::collections::HashMap;
use std::time::Duration;
use wakeful_core::id::{AlertId, DeliveryId};
use wakeful_core::notice::retry::{self, Failure, Outcome};
use wakeful_core::notice::{self, Notice};
use wakeful_core::notifier::Notifier;
use wakeful_core::time::Millis;
use wakeful_store::ClaimedDelivery;

use crate::{Engine, Error, Result, letters, random};

/// An outage that waited this long without being told is old news to a program.
/// Before, its recovery is told by itself: programs want every event.
const OLD_NEWS: Duration = Duration::from_secs(120);
/// Between tries to write down what came of an attempt.
const PAUSE: Duration = Duration::from_secs(1);

/// One message: a row of the outbox, or two that are told as one.
pub(super) struct Bundle {
    rows: Vec<ClaimedDelivery>,
    /// Nothing when what was stored cannot be read.
    pub(super) notice: Option<Notice>,
}

impl Bundle {
    /// A message to a program: an outage is told with its recovery only when it
    /// is old news. Nothing when there is no longer anything to tell.
    pub(super) async fn of(engine: &Engine, row: ClaimedDelivery) -> Option<Self> {
        let late = !row.last_answer.is_empty() || engine.now().since(row.created) >= OLD_NEWS;
        let ups = match late {
            true => recoveries(engine, std::slice::from_ref(&row)).await,
            false => HashMap::new(),
        };
        Self::all(engine, vec![row], ups).await.pop()
    }

    /// Messages to people: whatever waits together is told together.
    pub(super) async fn together(engine: &Engine, rows: Vec<ClaimedDelivery>) -> Vec<Self> {
        let ups = recoveries(engine, &rows).await;
        Self::all(engine, rows, ups).await
    }

    async fn all(
        engine: &Engine,
        rows: Vec<ClaimedDelivery>,
        mut ups: HashMap<AlertId, ClaimedDelivery>,
    ) -> Vec<Self> {
        let mut bundles = Vec::with_capacity(rows.len());
        for row in rows {
            if overtaken(engine, std::slice::from_ref(&row)).await {
                continue;
            }
            let up = row.alert.filter(|_| row.kind == notice::DOWN).and_then(|id| ups.remove(&id));
            bundles.push(Self::told(row, up));
        }
        bundles
    }

    /// Whom it has yet to reach, when it has reached others.
    pub(super) fn left(&self) -> Option<&[String]> {
        self.rows.first()?.left.as_deref()
    }

    fn told(row: ClaimedDelivery, up: Option<ClaimedDelivery>) -> Self {
        let notice = Notice::parse(&row.body);
        let both = up.as_ref().and_then(|up| Notice::parse(&up.body));
        match (&notice, up, both) {
            (Some(down), Some(up), Some(both)) => {
                let notice = Some(Notice::was_down(down, both));
                Self { rows: vec![row, up], notice }
            }
            _ => Self { rows: vec![row], notice },
        }
    }
}

/// Claims the recoveries that wait right behind these outages of one notifier.
/// When the store does not say, each outage is told by itself. One that only some
/// have yet to hear of is, too: its end is for everybody. So is one that a process did
/// not survive: it may be the cause, and the recovery is not.
async fn recoveries(
    engine: &Engine,
    rows: &[ClaimedDelivery],
) -> HashMap<AlertId, ClaimedDelivery> {
    let outages = rows
        .iter()
        .filter(|row| row.kind == notice::DOWN && row.left.is_none() && row.crashes == 0);
    let ids: Vec<DeliveryId> = outages.map(|row| row.id).collect();
    let Some(lease) = rows.first().map(|row| row.lease).filter(|_| !ids.is_empty()) else {
        return HashMap::new();
    };
    let claimed = engine.store().claim_recoveries(&ids, lease).await.unwrap_or_default();
    claimed.into_iter().filter_map(|up| Some((up.alert?, up))).collect()
}

/// Lets go of what was claimed and not sent, unless another has taken it.
pub(super) async fn give_back(engine: &Engine, bundles: &[Bundle]) {
    let rows = || bundles.iter().flat_map(|bundle| &bundle.rows);
    let ids: Vec<DeliveryId> = rows().map(|row| row.id).collect();
    let Some(first) = rows().next() else { return };
    if let Err(error) = engine.store().give_back_deliveries(&ids, first.lease).await {
        tracing::warn!(
            error = &error as &dyn std::error::Error,
            "messages wait for their lease to end"
        );
    }
}

/// Gives up what reminds of an outage that is over; true when that is all of
/// it. When the store does not say, the reminder goes its way.
async fn overtaken(engine: &Engine, rows: &[ClaimedDelivery]) -> bool {
    let reminders = rows.iter().filter(|row| row.kind == notice::REMINDER);
    let reminders: Vec<DeliveryId> = reminders.map(|row| row.id).collect();
    if reminders.is_empty() {
        return false;
    }
    let over = engine.store().withdraw_reminders(&reminders, engine.now()).await;
    over.is_ok_and(|over| over.len() == rows.len())
}

/// Writes down what an attempt came to, in more than one try when the store is
/// busy. When that fails, the lease ends and the message goes out once more,
/// with the same id.
pub(super) async fn settle(
    engine: &Engine,
    notifier: &Notifier,
    bundles: &[Bundle],
    outcome: Outcome,
) {
    let rows = || bundles.iter().flat_map(|bundle| &bundle.rows);
    let Some(lease) = rows().map(|row| row.lease).min() else { return };
    count(notifier, &outcome, rows().count());
    while let Err(error) = try_settle(engine, notifier, bundles, &outcome).await {
        if engine.now().after(PAUSE) < lease && matches!(error, Error::Store(_)) {
            tokio::time::sleep(PAUSE).await;
            continue;
        }
        let id = notifier.id;
        tracing::warn!(notifier.id = %id, error = &error as &dyn std::error::Error, "what came of messages of notifier {id} cannot be kept; they may be sent again");
        return;
    }
}

async fn try_settle(
    engine: &Engine,
    notifier: &Notifier,
    bundles: &[Bundle],
    outcome: &Outcome,
) -> Result<()> {
    let now = engine.now();
    let rows = || bundles.iter().flat_map(|bundle| &bundle.rows);
    let ids: Vec<DeliveryId> = rows().map(|row| row.id).collect();
    let Some(first) = rows().next() else { return Ok(()) };
    let answer = outcome.answer();
    let attempts = rows().map(|row| row.attempts).max().unwrap_or(1);
    let next_try = match outcome {
        Outcome::Delivered(_) => {
            engine.store().deliveries_arrived(notifier.id, &ids, answer, now).await?;
            for row in rows() {
                let lag = now.since(row.created).as_secs_f64();
                metrics::histogram!("wakeful_delivery_lag_seconds").record(lag);
            }
            return Ok(());
        }
        Outcome::Partly { left, .. } => {
            let store = engine.store();
            let next_try = next_try(attempts, &Failure::default(), now);
            let Some(next_try) = next_try else {
                return Ok(store.deliveries_arrived(notifier.id, &ids, answer, now).await?);
            };
            let claimed = (&ids[..], first.lease);
            store.deliveries_arrived_partly(notifier.id, claimed, answer, left, next_try).await?;
            return Ok(());
        }
        Outcome::Failed(failure) => next_try(attempts, failure, now),
        Outcome::Refused(_) | Outcome::Gone(_) => None,
    };
    let store = engine.store();
    let since =
        store.deliveries_failed(notifier.id, &ids, first.lease, answer, next_try, now).await?;
    for bundle in bundles {
        // Those behind it need not wait for the next try.
        overtaken(engine, &bundle.rows).await;
    }
    let id = notifier.id;
    tracing::info!(notifier.id = %id, answer, "a message of notifier {id} did not arrive");
    if matches!(outcome, Outcome::Gone(_)) {
        return disable(engine, notifier, "its receiver answered 410 Gone").await;
    }
    // A message that failed for the first time is tried again before its
    // receiver is given up, and with it the message.
    let is_first = attempts == 1 && next_try.is_some();
    if !is_first && retry::is_dead(since, now) {
        return disable(engine, notifier, "nothing has arrived for five days").await;
    }
    Ok(())
}

/// When to try again after so many attempts; nothing when that was the last.
fn next_try(attempts: u32, failure: &Failure, now: Millis) -> Option<Millis> {
    let jitter = u32::from_ne_bytes(random::bytes());
    retry::wait(attempts, failure, jitter).map(|wait| now.after(wait))
}

/// Turns a notifier off and tells its team, once.
async fn disable(engine: &Engine, notifier: &Notifier, why: &str) -> Result<()> {
    let members = engine.store().team(notifier.team).members().await?;
    let letters: Vec<_> = members
        .iter()
        .map(|member| {
            let words = letters::notifier_off(engine.settings(), notifier.name.as_str(), why);
            engine.letter(&member.email, words)
        })
        .collect();
    if engine.store().disable_notifier(notifier.id, why, &letters, engine.now()).await? {
        let id = notifier.id;
        tracing::warn!(notifier.id = %id, "notifier {id} was turned off: {why}");
        engine.0.mail_waits.notify_one();
    }
    Ok(())
}

fn count(notifier: &Notifier, outcome: &Outcome, rows: usize) {
    let result = match outcome {
        Outcome::Delivered(_) | Outcome::Partly { .. } => "delivered",
        Outcome::Failed(_) => "failed",
        Outcome::Refused(_) | Outcome::Gone(_) => "refused",
    };
    let kind = notifier.channel.kind().as_str();
    metrics::counter!("wakeful_deliveries_total", "type" => kind, "result" => result)
        .increment(rows as u64);
}

impl Engine {
    /// Where people read more about what a notice tells.
    pub(super) fn page_of(&self, notice: &Notice) -> String {
        match &notice.data.monitor {
            Some(about) => format!("{}/monitor/{}", self.public_url(), about.monitorid),
            None => self.public_url().to_owned(),
        }
    }
}
