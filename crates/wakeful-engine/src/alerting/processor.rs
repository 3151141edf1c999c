//! The alert processor: it decides about alerts that are due and writes what follows from the
//! decisions. The result writer hands it each alert that opens or closes, as long as its team has
//! few (`backlog.rs`), and it polls for everything else: reminders, the work of other nodes, and
//! what a crash has left. Teams take turns, and each transaction is short, so that a team with
//! many alerts delays no other. It has no state that a restart would lose; of several nodes that
//! decide about the same alert, one writes.

use std::collections::{HashMap, HashSet, VecDeque};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::time::Duration;
use tokio::time::Instant;
use tokio_util::sync::CancellationToken;
use wakeful_core::alerting::state::{AlertState, AlertStatus};
use wakeful_core::error_chain::ErrorChain;
use wakeful_core::id::{AlertId, MonitorId, TeamId};
use wakeful_core::time::Millis;
use wakeful_store::{AlertDecision, DueAlert, Store, StoreError, StoredMonitor};

use super::backlog::NewAlert;
use super::decide::{Decided, decide};
use super::recipients::TeamResponders;
use super::surroundings::Surroundings;
use crate::bus::{Edit, Event, NodeMessage};
use crate::due_work::{DueWorkReader, POLL_INTERVAL};
use crate::{Engine, Result, failpoint};

/// How many alerts are read together.
const ALERT_BATCH: u32 = 500;
/// The rows that decisions made together write.
const MAX_ROWS: usize = 1_000;
/// The rows that one transaction writes, unless it is about one alert: others wait for it.
const MAX_WRITTEN_ROWS: usize = 200;
/// After this time the alerts that are due are read again: another team may have become due.
const MAX_ROUND: Duration = Duration::from_millis(250);
/// An outage that was over before it could be reported costs a team with too many waiting
/// messages this part of the rows: most of them are not written, but all queues are read.
const CROWDED_PART: usize = 4;
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
    /// The alerts whose decision panicked. They stay due.
    panicked: Vec<AlertId>,
    written: Vec<WrittenDecision>,
    ask: Vec<Edit>,
}

/// A decision as open pages see it.
#[derive(Clone, Debug)]
struct WrittenDecision {
    edit: Edit,
    alert: AlertId,
    status: AlertStatus,
    /// When the alert was due.
    due: Option<Millis>,
    /// When it is due next.
    next: Option<Millis>,
}

/// Decides about everything that is due, once a second and when an alert is known to be due, until
/// shutdown.
pub async fn run(engine: Engine, shutdown: CancellationToken) {
    let mut polls: u32 = 0;
    let mut last_poll = engine.now();
    let mut due_work = DueWorkReader::default();
    let mut is_due = true;
    while !shutdown.is_cancelled() {
        let now = engine.now();
        let polling = async {
            let back = last_poll.since(now);
            if back > CLOCK_TOLERANCE && engine.cluster().is_standalone() {
                shift_back(engine.store(), back, now).await?;
            }
            if is_due {
                process_due(&engine).await?;
            }
            Ok::<(), crate::Error>(())
        };
        let polled = tokio::select! {
            polled = polling => polled,
            // Everything is in the store: the next process continues.
            () = shutdown.cancelled() => return,
        };
        match polled {
            Ok(()) => last_poll = now,
            Err(error) => tracing::warn!(
                error = %ErrorChain(&error),
                "processing alerts failed, retrying in {} s",
                POLL_INTERVAL.as_secs()
            ),
        }
        if polls.is_multiple_of(POLLS_PER_COUNT) {
            polls = 1;
            count_open(engine.store()).await;
        }
        tokio::select! {
            due = due_work.next(&engine) => {
                is_due = due.alerts;
                polls += 1;
            }
            () = engine.alert_backlog().wait() => is_due = true,
            () = engine.alert_backlog().upcoming.wait(|| engine.now()) => is_due = true,
            () = shutdown.cancelled() => {}
        }
    }
}

/// Decides about all alerts that are due, in turns.
pub async fn process_due(engine: &Engine) -> Result<Processed> {
    let mut total = Processed::default();
    loop {
        let (began, now) = (Instant::now(), engine.now());
        let seen = engine.alert_backlog().seen();
        let due = engine.store().due_alerts(now, ALERT_BATCH).await?;
        let is_all = due.len() < ALERT_BATCH as usize / 2;
        let mut due = VecDeque::from(due);
        let mut progress = false;
        // If none of the first ones can be written, the next ones are tried.
        let has_time = |progress: bool| !progress || began.elapsed() < MAX_ROUND;
        while !due.is_empty() && has_time(progress) {
            let began = Instant::now();
            let some = take_some(engine.store(), &mut due);
            let processed = process(engine.store(), some, now).await?;
            publish(engine, &processed);
            total.alerts += processed.alerts;
            total.reminders += processed.reminders;
            progress |= processed.alerts > 0;
            if !due.is_empty() {
                tokio::time::sleep(began.elapsed().min(MAX_ROUND)).await;
            }
        }
        if is_all && due.is_empty() {
            engine.alert_backlog().caught_up(seen);
            return Ok(total);
        }
        // Without progress, the rest was changed by others meanwhile or cannot be read.
        if !progress {
            return Ok(total);
        }
    }
}

/// Decides about those of these alerts that are due, which were just written and are in the order
/// of their turns, unless that is left to the poll. So it is after a failure.
pub(crate) async fn process_new(engine: &Engine, alerts: &[NewAlert]) {
    let ids = engine.alert_backlog().without_left(alerts);
    if ids.is_empty() {
        return;
    }
    if let Err(error) = process_alerts(engine, ids).await {
        engine.alert_backlog().leave(alerts);
        tracing::warn!(
            error = %ErrorChain(&error),
            "processing alerts failed, retrying in {} s",
            POLL_INTERVAL.as_secs()
        );
    }
}

/// An alert that others change meanwhile is read again; after a few attempts it is left to the
/// poll. One whose decision panicked is left to it at once.
async fn process_alerts(engine: &Engine, mut ids: Vec<AlertId>) -> Result<()> {
    for attempt in 0..MAX_ATTEMPTS {
        let now = engine.now();
        let mut alerts = engine.store().alerts_to_decide(&ids).await?;
        // The time of a result may be a little ahead after a correction of the clock.
        let soon = now.after(CLOCK_TOLERANCE);
        alerts.retain(|alert| alert.due.is_some_and(|due| due <= soon));
        if attempt == 0 {
            let place: HashMap<AlertId, usize> =
                ids.iter().enumerate().map(|(place, id)| (*id, place)).collect();
            alerts.sort_by_key(|alert| place.get(&alert.id));
            admit(engine, &mut alerts);
            ids = alerts.iter().map(|alert| alert.id).collect();
        }
        let count = alerts.len();
        let processed = process(engine.store(), alerts, now).await?;
        publish(engine, &processed);
        if processed.alerts + processed.panicked.len() == count {
            break;
        }
        ids.retain(|id| !processed.panicked.contains(id));
    }
    Ok(())
}

/// Retains the alerts to process at once.
fn admit(engine: &Engine, alerts: &mut Vec<DueAlert>) {
    let new = |alert: &DueAlert| {
        (NewAlert { id: alert.id, team: alert.team }, rows_about(engine.store(), alert))
    };
    let admitted = engine.alert_backlog().admit(&alerts.iter().map(new).collect::<Vec<_>>());
    alerts.retain(|alert| admitted.contains(&alert.id));
}

/// Takes the first of these alerts whose decisions fit into a transaction, one at least.
fn take_some(store: &Store, alerts: &mut VecDeque<DueAlert>) -> Vec<DueAlert> {
    let mut rows = 0;
    let fits = |alert: &&DueAlert| {
        rows += rows_about(store, alert);
        rows <= MAX_ROWS
    };
    let count = alerts.iter().take_while(fits).count().max(1);
    alerts.drain(..count).collect()
}

/// About how many rows a decision about an alert writes.
fn rows_about(store: &Store, alert: &DueAlert) -> usize {
    let events = [&alert.opened, &alert.closed].into_iter().flatten().count();
    let is_unreported = alert.facts.ended.is_some() && alert.state.notified.is_none();
    let is_left_out = is_unreported && store.is_crowded(alert.team);
    1 + events * alert.notifiers / if is_left_out { CROWDED_PART } else { 1 }
}

/// Decides about these alerts and writes the decisions.
pub async fn process(store: &Store, alerts: Vec<DueAlert>, now: Millis) -> Result<Processed> {
    if alerts.is_empty() {
        return Ok(Processed::default());
    }
    let monitors = monitors_of(store, alerts.iter()).await?;
    let surroundings = Surroundings::of(store, &alerts, &monitors, now).await?;
    let responders = TeamResponders::of(store, &alerts, &monitors, now).await?;
    let mut processed = Processed::default();
    let mut decided: Vec<Decided> = Vec::with_capacity(alerts.len());
    for alert in alerts {
        let Some(stored) = monitors.get(&alert.facts.monitor) else { continue };
        let id = alert.id;
        let deciding = || {
            failpoint::panic_with("panic-deciding", stored.monitor.name.as_str());
            decide(alert, stored, &surroundings, &responders, None, now)
        };
        // One alert must not keep the others from being decided about.
        match catch_unwind(AssertUnwindSafe(deciding)) {
            Ok(one) => decided.push(one),
            Err(_) => {
                metrics::counter!("wakeful_decision_panics_total").increment(1);
                processed.panicked.push(id);
            }
        }
    }
    failpoint::here("before-decision");
    let written = write(store, &decided, now).await?;
    failpoint::here("after-decision");
    for Decided { decision, ask, reminders } in decided {
        if !written.contains(&decision.alert.id) {
            continue;
        }
        processed.alerts += 1;
        processed.reminders += reminders;
        let team = decision.alert.team;
        let edit = Edit::new(team, decision.alert.facts.monitor);
        processed.ask.extend(ask.into_iter().map(|monitor| Edit::check(team, monitor)));
        measure(&decision);
        processed.written.push(WrittenDecision {
            edit,
            alert: decision.alert.id,
            status: decision.status,
            due: decision.alert.due,
            next: decision.due,
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

/// Writes decisions, in short transactions. If the store rejects some of them, for example because
/// they have too many messages for one transaction, they are written in parts: one that cannot be
/// written delays no other.
async fn write(store: &Store, decided: &[Decided], now: Millis) -> Result<HashSet<AlertId>> {
    let decisions: Vec<AlertDecision> =
        decided.iter().map(|decided| decided.decision.clone()).collect();
    let mut written = HashSet::new();
    let mut parts = in_parts(&decisions, |decision| rows_about(store, &decision.alert));
    parts.reverse();
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

/// These in order, in parts that fit into a transaction.
fn in_parts<T>(all: &[T], rows_about: impl Fn(&T) -> usize) -> Vec<&[T]> {
    let mut rows = all.first().map_or(0, &rows_about);
    let fits = |_: &T, next: &T| {
        let more = rows_about(next);
        let fits = rows + more <= MAX_WRITTEN_ROWS;
        rows = if fits { rows + more } else { more };
        fits
    };
    all.chunk_by(fits).collect()
}

/// Logs the alerts whose decision panicked for the first time.
fn report_panics(engine: &Engine, panicked: &[AlertId]) {
    let first = panicked.iter().filter(|id| engine.alert_backlog().panics.is_first(**id));
    for id in first {
        tracing::error!(alert.id = %id, "deciding about alert {id} failed because of a bug in Wakeful, retrying every {} s; this is logged once", POLL_INTERVAL.as_secs());
    }
}

fn measure(decision: &AlertDecision) {
    metrics::counter!("wakeful_steps_total").increment(1);
    if let (None, Some(by)) = (&decision.alert.state.suppressed, &decision.state.suppressed) {
        let reason = by.reason.as_str();
        metrics::counter!("wakeful_alerts_suppressed_total", "reason" => reason).increment(1);
    }
}

/// Reading, deciding and writing are part of the lag.
fn measure_lag(processed: &Processed, written: Millis) {
    for due in processed.written.iter().filter_map(|decision| decision.due) {
        let lag = written.since(due).as_secs_f64();
        metrics::histogram!("wakeful_response_lag_seconds").record(lag);
    }
}

/// Notifies open pages, and makes the schedulers check monitors, right after the decisions were
/// written. Logs what could not be decided.
fn publish(engine: &Engine, processed: &Processed) {
    report_panics(engine, &processed.panicked);
    measure_lag(processed, engine.now());
    // Of the children of one parent, each asks for it.
    let asked: HashMap<MonitorId, Edit> =
        processed.ask.iter().map(|edit| (edit.monitor, *edit)).collect();
    for Edit { team, monitor, .. } in asked.into_values() {
        engine.request_check(team, monitor);
    }
    for WrittenDecision { edit, alert, status, next, .. } in &processed.written {
        if let Some(next) = next {
            engine.alert_backlog().upcoming.note(*next);
        }
        publish_alert(engine, *edit, *alert, *status);
    }
}

impl Engine {
    /// Has a monitor checked now, by the node that owns it. If the request is lost, so is nothing
    /// but time: the alert processor repeats it.
    pub(crate) fn request_check(&self, team: TeamId, monitor: MonitorId) {
        if self.cluster().holds(monitor) {
            self.scheduler().check_soon(monitor);
        } else {
            let edit = Edit::check(team, monitor);
            self.bus().send_to_nodes(NodeMessage::Edited(edit));
        }
    }
}

pub(super) fn publish_alert(engine: &Engine, of: Edit, alert: AlertId, status: AlertStatus) {
    let Edit { team, monitor, .. } = of;
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
        opens: None,
        ended: None,
        unreachable: None,
        wakes: false,
        alert,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn alerts_with_many_notifiers_are_written_in_short_transactions() {
        // An outage with 100 notifiers writes 101 rows.
        let storm = [101; 300];
        assert!(in_parts(&storm, |rows| *rows).iter().all(|part| part.len() == 1));
        let lengths = |rows: &[usize]| -> Vec<usize> {
            in_parts(rows, |rows| *rows).iter().map(|part| part.len()).collect()
        };
        assert_eq!(lengths(&[2; 250]), [100, 100, 50]);
        assert_eq!(lengths(&[1, 199, 1, 500, 150, 50, 1]), [2, 1, 1, 2, 1]);
        assert_eq!(lengths(&[]), [0; 0]);
    }
}
