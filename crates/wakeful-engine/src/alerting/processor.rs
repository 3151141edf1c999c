//! The alert processor: it decides about alerts that are due and writes what follows from the
//! decisions. The result writer hands it each alert that opens or closes, and it polls for
//! everything else: reminders, the work of other nodes, and what a crash has left. It has no state
//! of its own; of several nodes that decide about the same alert, one writes.

use std::collections::{HashMap, HashSet};
use std::time::Duration;
use tokio_util::sync::CancellationToken;
use wakeful_core::alerting::state::{AlertState, AlertStatus};
use wakeful_core::error_chain::ErrorChain;
use wakeful_core::id::{AlertId, MonitorId};
use wakeful_core::time::Millis;
use wakeful_store::{AlertDecision, DueAlert, Store, StoreError, StoredMonitor};

use super::decide::{Decided, TeamWindows, decide};
use crate::bus::{Edit, Event};
use crate::{Engine, Result, failpoint};

const POLL_INTERVAL: Duration = Duration::from_secs(1);
/// How many alerts one transaction decides about.
const ALERT_BATCH: u32 = 500;
/// How often the open alerts are counted, in polls.
const POLLS_PER_COUNT: u32 = 15;
/// How often alerts that another node has changed meanwhile are read again at once.
const MAX_ATTEMPTS: usize = 3;
/// Smaller corrections of the clock are normal.
const CLOCK_TOLERANCE: Duration = Duration::from_secs(2);

/// What was decided.
#[derive(Clone, Debug, Default)]
pub struct Processed {
    /// The number of decisions that were written.
    pub alerts: usize,
    /// The number of reminders among them.
    pub reminders: usize,
    written: Vec<WrittenDecision>,
    ask: Vec<Edit>,
}

/// A decision as open pages see it.
#[derive(Clone, Debug)]
struct WrittenDecision {
    edit: Edit,
    alert: AlertId,
    status: AlertStatus,
}

/// Decides about everything that is due, once a second, until shutdown.
pub async fn run(engine: Engine, shutdown: CancellationToken) {
    let mut polls: u32 = 0;
    let mut last_poll = engine.now();
    while !shutdown.is_cancelled() {
        let now = engine.now();
        let polled = async {
            let back = last_poll.since(now);
            if back > CLOCK_TOLERANCE && engine.cluster().is_standalone() {
                shift_back(engine.store(), back, now).await?;
            }
            process_due(&engine).await
        };
        match polled.await {
            Ok(_) => last_poll = now,
            Err(error) => tracing::warn!(
                error = %ErrorChain(&error),
                "processing alerts failed, retrying in {} s",
                POLL_INTERVAL.as_secs()
            ),
        }
        if polls.is_multiple_of(POLLS_PER_COUNT) {
            count_open(engine.store()).await;
        }
        polls += 1;
        tokio::select! {
            () = tokio::time::sleep(POLL_INTERVAL) => {}
            () = shutdown.cancelled() => {}
        }
    }
}

/// Decides about all alerts that are due.
pub async fn process_due(engine: &Engine) -> Result<Processed> {
    let mut total = Processed::default();
    loop {
        let now = engine.now();
        let due = engine.store().due_alerts(now, ALERT_BATCH).await?;
        let is_last = due.len() < ALERT_BATCH as usize;
        let processed = process(engine.store(), due, now).await?;
        publish(engine, &processed);
        total.alerts += processed.alerts;
        total.reminders += processed.reminders;
        // Without progress, the rest was changed by others meanwhile or cannot be read.
        if is_last || processed.alerts == 0 {
            return Ok(total);
        }
    }
}

/// Decides about those of these alerts that are due, which were just written. After a failure,
/// the poll does.
pub(crate) async fn process_new(engine: &Engine, ids: &[AlertId]) {
    if let Err(error) = process_alerts(engine, ids).await {
        tracing::warn!(
            error = %ErrorChain(&error),
            "processing alerts failed, retrying in {} s",
            POLL_INTERVAL.as_secs()
        );
    }
}

/// An alert that others change meanwhile is read again; after a few attempts it is left to the
/// poll.
async fn process_alerts(engine: &Engine, ids: &[AlertId]) -> Result<()> {
    for _ in 0..MAX_ATTEMPTS {
        let now = engine.now();
        let mut alerts = engine.store().alerts_to_decide(ids).await?;
        // The time of a result may be a little ahead after a correction of the clock.
        let soon = now.after(CLOCK_TOLERANCE);
        alerts.retain(|alert| alert.due.is_some_and(|due| due <= soon));
        let count = alerts.len();
        let processed = process(engine.store(), alerts, now).await?;
        publish(engine, &processed);
        if processed.alerts == count {
            break;
        }
    }
    Ok(())
}

/// Decides about these alerts and writes the decisions.
pub async fn process(store: &Store, alerts: Vec<DueAlert>, now: Millis) -> Result<Processed> {
    if alerts.is_empty() {
        return Ok(Processed::default());
    }
    let monitors = monitors_of(store, alerts.iter()).await?;
    let windows = TeamWindows::of(store, &monitors, now).await?;
    let decided: Vec<Decided> = alerts
        .into_iter()
        .filter_map(|alert| {
            let stored = monitors.get(&alert.facts.monitor)?;
            Some(decide(alert, stored, &windows, None, now))
        })
        .collect();
    failpoint::here("before-decision");
    let written = write(store, &decided, now).await?;
    failpoint::here("after-decision");
    let mut processed = Processed::default();
    for Decided { decision, ask, reminders } in decided {
        if !written.contains(&decision.alert.id) {
            continue;
        }
        processed.alerts += 1;
        processed.reminders += reminders;
        let edit = Edit { team: decision.alert.team, monitor: decision.alert.facts.monitor };
        processed.ask.extend(ask.iter().map(|_| edit));
        measure(&decision, now);
        processed.written.push(WrittenDecision {
            edit,
            alert: decision.alert.id,
            status: decision.status,
        });
    }
    Ok(processed)
}

/// The monitors of these alerts.
pub(super) async fn monitors_of(
    store: &Store,
    alerts: impl Iterator<Item = &DueAlert>,
) -> Result<HashMap<MonitorId, StoredMonitor>> {
    let mut ids: Vec<MonitorId> = alerts.map(|alert| alert.facts.monitor).collect();
    ids.sort_unstable();
    ids.dedup();
    let found = store.monitors_by_id(&ids).await?;
    Ok(found.into_iter().map(|stored| (stored.monitor.id, stored)).collect())
}

/// Writes decisions. If the store rejects some of them, for example because they have too many
/// messages for one transaction, they are written in parts: one that cannot be written delays no
/// other.
async fn write(store: &Store, decided: &[Decided], now: Millis) -> Result<HashSet<AlertId>> {
    let decisions: Vec<AlertDecision> =
        decided.iter().map(|decided| decided.decision.clone()).collect();
    let mut written = HashSet::new();
    let mut parts = vec![&decisions[..]];
    while let Some(part) = parts.pop() {
        match store.write_decisions(part, now).await {
            Ok(ids) => written.extend(ids),
            Err(error @ StoreError::Unavailable(_)) => return Err(error.into()),
            Err(_) if part.len() > 1 => {
                let (first, second) = part.split_at(part.len() / 2);
                parts.extend([second, first]);
            }
            // A notifier was deleted between being read and being used: decided again later.
            Err(StoreError::Gone) => {}
            Err(error) => {
                let id = part[0].alert.id;
                tracing::error!(alert.id = %id, error = %ErrorChain(&error), "the store rejected the decision about alert {id}, retrying in {} s", POLL_INTERVAL.as_secs());
            }
        }
    }
    Ok(written)
}

fn measure(decision: &AlertDecision, now: Millis) {
    metrics::counter!("wakeful_steps_total").increment(1);
    if let Some(due) = decision.alert.due {
        let lag = now.since(due).as_secs_f64();
        metrics::histogram!("wakeful_response_lag_seconds").record(lag);
    }
    if let (None, Some(by)) = (&decision.alert.state.suppressed, &decision.state.suppressed) {
        let reason = by.reason.as_str();
        metrics::counter!("wakeful_alerts_suppressed_total", "reason" => reason).increment(1);
    }
}

/// Notifies open pages, and makes the schedulers check monitors.
fn publish(engine: &Engine, processed: &Processed) {
    for edit in &processed.ask {
        engine.bus().publish_edit(*edit);
    }
    for WrittenDecision { edit, alert, status } in &processed.written {
        publish_alert(engine, *edit, *alert, *status);
    }
}

pub(super) fn publish_alert(engine: &Engine, of: Edit, alert: AlertId, status: AlertStatus) {
    let Edit { team, monitor } = of;
    engine.bus().publish_event(team, || Event::Alert {
        alert,
        monitor,
        status: status.as_str().to_owned(),
    });
}

async fn count_open(store: &Store) {
    let Ok(counts) = store.count_open_alerts().await else { return };
    for status in AlertStatus::ALL {
        for severity in wakeful_core::severity::Severity::ALL {
            let (status, severity) = (status.as_str(), severity.as_str());
            let found = counts.iter().find(|(one, other, _)| one == status && other == severity);
            let count = found.map_or(0, |(_, _, count)| *count);
            metrics::gauge!("wakeful_alerts_open", "status" => status, "severity" => severity)
                .set(count as f64);
        }
    }
}

/// Moves what is due later forward after the clock was set back, so that it does not wait longer.
/// Nodes that share a store follow its clock.
async fn shift_back(store: &Store, by: Duration, now: Millis) -> Result<()> {
    let mut after = None;
    loop {
        let alerts = store.alerts_due_later(now, after, ALERT_BATCH).await?;
        let Some(last) = alerts.last().map(|alert| alert.id) else { return Ok(()) };
        after = Some(last);
        let shifted: Vec<AlertDecision> =
            alerts.into_iter().map(|alert| shifted(alert, by, now)).collect();
        store.write_decisions(&shifted, now).await?;
    }
}

fn shifted(alert: DueAlert, by: Duration, now: Millis) -> AlertDecision {
    let state: AlertState = alert.state.clone().shifted_back(by, now);
    AlertDecision {
        status: alert.facts.status(&state),
        severity: alert.facts.severity(&state),
        due: alert.due.map(|due| due.before(by)),
        state,
        notes: Vec::new(),
        messages: Vec::new(),
        cancels: None,
        alert,
    }
}
