//! Sends again what ends unless it is repeated: the alerts of an Alertmanager. Everything is in
//! the store, and a node claims what it sends, so that a restart delays it by a lease and several
//! nodes share the work. Without such a notifier, it is one look at an empty index.

use std::time::Duration;
use tokio::time::Instant;
use tokio_util::sync::CancellationToken;
use wakeful_core::backoff::{CRASHED, MAX_CRASHES};
use wakeful_core::error_chain::ErrorChain;
use wakeful_core::id::{AlertId, NotifierId};
use wakeful_core::notifications::event::{self, Event};
use wakeful_core::notifications::notifier::{Channel, Kind, Notifier, ServiceSpec};
use wakeful_core::notifications::retry::Outcome;
use wakeful_core::notifications::thread::Thread;
use wakeful_core::time::Millis;
use wakeful_outbound::notify::call;
use wakeful_outbound::notify::kinds::alertmanager::{self, KEEPALIVE_INTERVAL, Lasting};
use wakeful_store::Keepalive;

use super::delivery::survive::survived;
use crate::{Engine, Result, failpoint};

const POLL_INTERVAL: Duration = Duration::from_secs(5);
/// Twice as long as a request may take; after a failure, the next attempt.
const LEASE: Duration = Duration::from_secs(60);
const _: () = assert!(LEASE.as_secs() >= 2 * call::TIMEOUT.as_secs());
/// How many notifiers are found in one poll.
const MAX_NOTIFIERS: u32 = 500;
/// How many of them are sent to at a time: those that hang delay the others by one timeout.
const MAX_IN_FLIGHT: usize = 32;
/// The alerts in one request.
const ALERT_BATCH: u32 = 100;
/// The requests to a notifier in one poll: 2,000 alerts.
const MAX_REQUESTS: usize = 20;
/// How long those that other processes may have crashed with delay the others in one poll.
const SUSPECTS_FOR: Duration = Duration::from_secs(5);

/// Repeats what is due until shutdown. What is interrupted is repeated by the next process.
pub async fn run(engine: Engine, shutdown: CancellationToken) {
    let polling = async {
        loop {
            if let Err(error) = repeat_due(&engine).await {
                tracing::warn!(
                    error = %ErrorChain(&error),
                    "repeating alerts failed, retrying in {} s",
                    POLL_INTERVAL.as_secs()
                );
            }
            tokio::time::sleep(POLL_INTERVAL).await;
        }
    };
    tokio::select! {
        () = polling => {}
        () = shutdown.cancelled() => {}
    }
    if let Err(error) = engine.store().release_keepalives().await {
        tracing::warn!(error = %ErrorChain(&error), "releasing alerts that were being repeated failed");
    }
}

/// Sends everything that is due. Returns the number of alerts that were sent.
pub async fn repeat_due(engine: &Engine) -> Result<usize> {
    use futures_util::StreamExt as _;
    let found = engine.store().notifiers_to_keep_alive(engine.now(), MAX_NOTIFIERS).await?;
    if found.is_empty() {
        return Ok(0);
    }
    let suspects = repeat_suspects(engine).await?;
    let mut notifiers = engine.store().notifiers_by_id(&found).await?;
    let sending = found.into_iter().map(|id| {
        let notifier = notifiers.remove(&id);
        async move {
            let sent = survived(repeat_all(engine, id, notifier.as_ref())).await;
            match sent {
                Ok(Ok(count)) => count,
                Ok(Err(error)) => {
                    tracing::warn!(notifier.id = %id, error = %ErrorChain(&error), "repeating the alerts of notifier {id} failed, retrying in {} s", LEASE.as_secs());
                    0
                }
                Err(_) => {
                    tracing::error!(notifier.id = %id, "repeating the alerts of notifier {id} failed because of a defect, retrying in {} s", LEASE.as_secs());
                    0
                }
            }
        }
    });
    let counts = futures_util::stream::iter(sending).buffer_unordered(MAX_IN_FLIGHT);
    Ok(counts.fold(suspects, |total, count| async move { total + count }).await)
}

/// Sends what other processes may have crashed with, one after the other and with nothing beside
/// it, so that the next crash tells which one is the cause.
async fn repeat_suspects(engine: &Engine) -> Result<usize> {
    let (store, began) = (engine.store(), Instant::now());
    let mut total = 0;
    while began.elapsed() < SUSPECTS_FOR {
        let now = engine.now();
        let lease = now.after(LEASE);
        let Some(suspect) = store.claim_suspect_keepalive(now, lease).await? else { break };
        let (id, alert) = (suspect.notifier, suspect.alert);
        if suspect.crashes >= MAX_CRASHES {
            tracing::error!(notifier.id = %id, alert.id = %alert, "repeating alert {alert} by notifier {id} failed: {CRASHED}");
            store.keepalives_sent(id, &[alert], lease, None).await?;
            continue;
        }
        let notifiers = store.notifiers_by_id(&[id]).await?;
        let sent = survived(repeat(engine, id, notifiers.get(&id), vec![suspect], lease)).await;
        match sent {
            Ok(sent) => total += sent?.unwrap_or(0),
            Err(_) => {
                tracing::error!(notifier.id = %id, alert.id = %alert, "repeating alert {alert} by notifier {id} failed because of a defect, retrying in {} s", LEASE.as_secs());
            }
        }
    }
    Ok(total)
}

/// Sends what is due of one notifier.
async fn repeat_all(engine: &Engine, id: NotifierId, notifier: Option<&Notifier>) -> Result<usize> {
    let mut total = 0;
    for _ in 0..MAX_REQUESTS {
        let now = engine.now();
        let lease = now.after(LEASE);
        let due = engine.store().claim_keepalives(id, now, lease, ALERT_BATCH).await?;
        let is_all = due.len() < ALERT_BATCH as usize;
        match repeat(engine, id, notifier, due, lease).await? {
            Some(count) => total += count,
            None => break,
        }
        if is_all {
            break;
        }
    }
    Ok(total)
}

/// What has to be sent again, and for how long.
struct Due {
    alert: AlertId,
    event: Event,
    link: String,
    thread: Thread,
    lasts: bool,
}

/// Sends these in one request. `None` after a failure.
async fn repeat(
    engine: &Engine,
    id: NotifierId,
    notifier: Option<&Notifier>,
    due: Vec<Keepalive>,
    lease: Millis,
) -> Result<Option<usize>> {
    let store = engine.store();
    let all: Vec<AlertId> = due.iter().map(|one| one.alert).collect();
    let is_withheld = match notifier {
        Some(notifier) => engine.is_withheld(notifier).await?,
        None => false,
    };
    let spec = match notifier {
        Some(Notifier { disabled, .. }) if disabled.is_some() || is_withheld => {
            // It may be used again while the alert lasts.
            let next = engine.now().after(KEEPALIVE_INTERVAL);
            store.keepalives_sent(id, &all, lease, Some(next)).await?;
            return Ok(Some(0));
        }
        Some(Notifier { channel: Channel::Service(spec), .. })
            if spec.kind() == Kind::Alertmanager =>
        {
            spec
        }
        _ => {
            store.keepalives_sent(id, &all, lease, None).await?;
            return Ok(Some(0));
        }
    };
    let due: Vec<Due> = due.into_iter().filter_map(|one| of(engine, one)).collect();
    let over: Vec<AlertId> =
        all.into_iter().filter(|id| due.iter().all(|one| one.alert != *id)).collect();
    store.keepalives_sent(id, &over, lease, None).await?;
    if due.is_empty() {
        return Ok(Some(0));
    }
    if let Outcome::Failed(_) = send(engine, id, spec, &due).await {
        // They are sent again when the lease ends.
        let failed: Vec<AlertId> = due.iter().map(|one| one.alert).collect();
        store.keepalives_sent(id, &failed, lease, Some(lease)).await?;
        return Ok(None);
    }
    let next = engine.now().after(KEEPALIVE_INTERVAL);
    for (lasts, next) in [(true, Some(next)), (false, None)] {
        let sent = due.iter().filter(|one| one.lasts == lasts).map(|one| one.alert);
        store.keepalives_sent(id, &sent.collect::<Vec<_>>(), lease, next).await?;
    }
    Ok(Some(due.len()))
}

/// `None` if there is nothing to send any more: the alert is over, and its end was not to be
/// reported or has not been yet.
fn of(engine: &Engine, due: Keepalive) -> Option<Due> {
    let Keepalive { alert, thread, is_over, event, .. } = due;
    let event = Event::parse(&event?)?;
    let lasts = event.is(event::DOWN) || event.is(event::FLAPPING);
    if lasts && is_over {
        return None;
    }
    let link = engine.details_url(&event);
    Some(Due { alert, event, link, thread: thread?, lasts })
}

async fn send(engine: &Engine, id: NotifierId, spec: &ServiceSpec, due: &[Due]) -> Outcome {
    let now = engine.now();
    for one in due {
        failpoint::with("while-repeating", &one.event.text);
    }
    let alerts: Vec<Lasting<'_>> = due
        .iter()
        .map(|one| Lasting { event: &one.event, link: &one.link, thread: &one.thread })
        .collect();
    let outcome = match alertmanager::repeat(spec, &alerts, now) {
        Ok(call) => call::send_call(engine.net(), spec, call, now).await,
        Err(why) => Outcome::Refused(why),
    };
    if !matches!(outcome, Outcome::Delivered(_)) {
        tracing::info!(notifier.id = %id, answer = outcome.answer(), "repeating {} alerts of notifier {id} failed", due.len());
    }
    outcome
}
