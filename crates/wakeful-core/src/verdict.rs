//! The verdict: state, input, policy and time give the new state, the
//! heartbeat, and possibly a change of status. All rules about when a target
//! counts as down and when people are notified are in `step`.
//!
//! A failing check is confirmed by re-checks before it counts; a passing one
//! counts at once. A report through notify comes from the target itself, and a
//! missed heartbeat has had its grace period: both count at once, too.
//! Upside-down mode reverses all three. A fault says nothing about the target:
//! the status and the number of failures do not change, and confirmation
//! continues at the next check.
//!
//! A check that passes with warnings makes a heartbeat degraded; `health.rs` says how many of them
//! make the monitor degraded.

mod input;
mod state;

use std::time::Duration;

use crate::assert::{FailsAs, Fingerprint};
use crate::certificate::{Expiry, ExpiryWarning};
use crate::health::{self, HealthChange, Row, Watch};
use crate::heartbeat::{Beat, Heartbeat, Phases, Readings, RegionBeat};
use crate::monitors::Monitor;
use crate::observation::{Fault, FaultKind, Observation, Warning};
use crate::reason::Reason;
use crate::time::Millis;

pub use input::{Input, Report};
pub use state::{FailureStreak, Health, KnownValues, State, Status};

/// Changes within one millisecond are recorded one after the other, but not further ahead than
/// this: the clock may have been set back.
const MAX_CHANGES_AHEAD: Duration = Duration::from_secs(1);

/// The settings of a monitor that affect its verdicts.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Policy {
    pub retries: u16,
    pub retry_interval: Duration,
    pub upside_down: bool,
    pub certificate_warnings: bool,
    /// What makes it degraded; `None`: only the warnings of its assertions.
    pub degraded: Option<Watch>,
}

impl Policy {
    pub fn of(monitor: &Monitor) -> Self {
        Self {
            // The failures of the members of a group are confirmed already.
            retries: if monitor.spec.group().is_some() { 0 } else { monitor.retries },
            retry_interval: monitor.retry_interval(),
            upside_down: monitor.upside_down_mode,
            certificate_warnings: monitor.spec.warns_of_expiry(),
            degraded: monitor.degraded.as_ref().map(|degraded| degraded.watch(None)),
        }
    }

    fn watch(&self) -> Watch {
        self.degraded.unwrap_or_default()
    }
}

/// The decision of one step.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Step {
    pub state: State,
    pub heartbeat: Heartbeat,
    /// Why this one check did not find the target healthy.
    pub reason: Option<Reason>,
    pub change: Option<Change>,
    pub health_change: Option<HealthChange>,
    /// When to re-check before the regular check, to confirm a failure.
    pub recheck_after: Option<Duration>,
    pub warning: Option<ExpiryWarning>,
    /// What has changed, of the values that must not: to be notified.
    pub changed: Option<String>,
    /// The values that must not change, and are not the known ones.
    pub differing: Vec<Fingerprint>,
}

/// A change of status: to be recorded at once, and possibly notified.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Change {
    pub previous: Status,
    pub status: Status,
    /// The outage that begins or ends; `None` from pending to up.
    pub outage: Option<Outage>,
}

/// When an outage began, at its first failing check, and the message of that
/// check.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Outage {
    pub started: Millis,
    pub cause: String,
    pub reason: Option<Reason>,
}

impl Change {
    /// Whether an alert opens.
    pub fn opens_alert(&self) -> bool {
        self.status == Status::Down
    }

    /// Whether the open alert ends.
    pub fn closes_alert(&self) -> bool {
        self.previous == Status::Down
    }

    /// Whether notifications are sent: always, except when the first verdict is
    /// up.
    pub fn notifies(&self) -> bool {
        self.opens_alert() || self.closes_alert()
    }
}

pub fn step(state: &State, input: Input, policy: &Policy, now: Millis) -> Step {
    match input {
        Input::Fault(fault) => apply_fault(state, fault, policy, now),
        Input::Observation(mut observation) => {
            let warning = warn(state, &observation, policy, now);
            let Compared { known, changed, differing } =
                compare_values(state, &mut observation, policy);
            let signal = Signal::of_observation(observation, policy);
            let mut step = apply_signal(state, signal, policy, now);
            if let Some(warning) = &warning {
                step.state.warned.add(warning);
            }
            step.state.known = known;
            Step { warning, changed, differing, ..step }
        }
        Input::Report(report) => {
            apply_signal(state, Signal::of_report(report, policy), policy, now)
        }
        Input::Missed(after) => {
            let message = format!("nothing was reported for {} s", after.as_secs());
            apply_signal(state, Signal::of_silence(Reason::Missed, message, policy), policy, now)
        }
        Input::Overran(limit) => {
            let message = format!("started, and did not end within {} s", limit.as_secs());
            apply_signal(state, Signal::of_silence(Reason::Runtime, message, policy), policy, now)
        }
    }
}

/// A check, report or silence after upside-down mode is applied.
struct Signal {
    good: bool,
    /// Whether a failure must be confirmed by re-checks before it counts.
    needs_confirming: bool,
    /// Why it fails; `None` in upside-down mode, where nothing is wrong with the target.
    reason: Option<Reason>,
    message: String,
    load_time: Option<Duration>,
    phases: Phases,
    regions: Vec<RegionBeat>,
    readings: Readings,
    /// What makes it degraded, if it is good.
    degraded: Option<Warning>,
    /// Whether the target says itself how it is.
    is_report: bool,
}

impl Signal {
    fn of_observation(observation: Observation, policy: &Policy) -> Self {
        let good = observation.up != policy.upside_down;
        let message = if policy.upside_down && !good {
            // Without it, an alert would read "down: 200 OK".
            format!("{} (upside-down mode: this counts as down)", observation.message)
        } else {
            observation.message
        };
        let Observation { load_time, phases, regions, reason, readings, warnings, .. } =
            observation;
        let degraded = (good && !policy.upside_down)
            .then(|| degraded_by(warnings, policy.watch().slow(load_time)))
            .flatten();
        Self {
            good,
            needs_confirming: true,
            reason,
            message: with_warning(message, degraded.as_ref()),
            load_time,
            phases,
            regions: with_upside_down(regions, policy),
            readings,
            degraded,
            is_report: false,
        }
    }

    fn of_report(report: Report, policy: &Policy) -> Self {
        let Report { up, degraded, message, load_time, reason } = report;
        let good = up != policy.upside_down;
        let is_watched = good && !policy.upside_down;
        let slow = policy.watch().slow(load_time).filter(|_| is_watched && !degraded);
        let reported = (degraded && is_watched)
            .then(|| Warning { reason: Reason::Reported, words: message.clone() });
        Self {
            good,
            needs_confirming: false,
            reason: (!up).then_some(reason.unwrap_or(Reason::Reported)),
            message: with_warning(message, slow.as_ref()),
            load_time,
            phases: Phases::default(),
            regions: Vec::new(),
            readings: Readings::default(),
            degraded: reported.or(slow),
            is_report: true,
        }
    }

    fn of_silence(reason: Reason, message: String, policy: &Policy) -> Self {
        Self {
            good: policy.upside_down,
            needs_confirming: false,
            reason: Some(reason),
            message,
            load_time: None,
            phases: Phases::default(),
            regions: Vec::new(),
            readings: Readings::default(),
            degraded: None,
            is_report: false,
        }
    }

    fn beat(&self) -> Beat {
        match (self.good, &self.degraded) {
            (true, None) => Beat::Up,
            (true, Some(_)) => Beat::Degraded,
            (false, _) => Beat::Down,
        }
    }

    /// The last checks including this one, and whether the health of the monitor changes.
    fn health(
        &self,
        state: &State,
        status: Status,
        policy: &Policy,
        now: Millis,
    ) -> (Option<Box<Row>>, Option<HealthChange>) {
        let (before, watch) = (state.degraded.as_deref(), policy.watch());
        match (self.good, status) {
            (false, Status::Down) => (None, health::went_down(before, &watch)),
            // Not confirmed.
            (false, _) => (state.degraded.clone(), None),
            (true, _) if self.is_report && self.takes_effect_at_once(before) => {
                health::report(before, self.degraded.as_ref(), &watch, now)
            }
            (true, _) => health::row(before, self.degraded.as_ref(), &watch, now),
        }
    }

    /// Whether the target reports that it is degraded, or no longer. Slow reports are counted as
    /// slow checks are.
    fn takes_effect_at_once(&self, before: Option<&Row>) -> bool {
        let is_reported = |reason| reason == Reason::Reported;
        match &self.degraded {
            Some(warning) => is_reported(warning.reason),
            None => before
                .and_then(|row| row.degraded.as_ref())
                .is_some_and(|degradation| is_reported(degradation.reason)),
        }
    }

    fn heartbeat(&self, at: Millis) -> Heartbeat {
        Heartbeat {
            at,
            status: self.beat(),
            message: self.message.clone(),
            load_time: self.load_time,
            phases: self.phases,
            regions: self.regions.clone(),
            readings: self.readings,
        }
    }
}

/// The first of all warnings, which says how many more there are.
fn degraded_by(warnings: Vec<Warning>, slow: Option<Warning>) -> Option<Warning> {
    let mut all = warnings.into_iter().chain(slow);
    let first = all.next()?;
    let words = match all.count() {
        0 => first.words,
        more => format!("{} (and {more} more)", first.words),
    };
    Some(Warning { words, ..first })
}

/// `200 OK; slower than 500 ms`.
fn with_warning(message: String, warning: Option<&Warning>) -> String {
    match warning {
        Some(warning) if message.is_empty() => warning.words.clone(),
        Some(warning) => format!("{message}; {}", warning.words),
        None => message,
    }
}

/// The results of the regions after upside-down mode is applied.
fn with_upside_down(regions: Vec<RegionBeat>, policy: &Policy) -> Vec<RegionBeat> {
    if policy.upside_down {
        regions.into_iter().map(RegionBeat::reversed).collect()
    } else {
        regions
    }
}

fn apply_fault(state: &State, fault: Fault, policy: &Policy, now: Millis) -> Step {
    let state = match fault.kind {
        // Nothing was tried, so nothing is known and nothing failed.
        FaultKind::Maintenance => state.clone(),
        _ => State { last_message: fault.message.clone(), blocked: true, ..state.clone() },
    };
    let heartbeat = Heartbeat {
        at: now,
        status: Beat::Unknown,
        message: fault.message,
        load_time: None,
        phases: Phases::default(),
        regions: with_upside_down(fault.regions, policy),
        readings: Readings::default(),
    };
    Step {
        state,
        heartbeat,
        reason: None,
        change: None,
        health_change: None,
        recheck_after: None,
        warning: None,
        changed: None,
        differing: Vec::new(),
    }
}

fn apply_signal(state: &State, signal: Signal, policy: &Policy, now: Millis) -> Step {
    let heartbeat = signal.heartbeat(now);
    let reason = match &signal.degraded {
        Some(degraded) => Some(degraded.reason),
        None => signal.reason.filter(|_| !signal.good),
    };
    let failing = (!signal.good).then(|| Box::new(extend_streak(state, &signal, now)));
    let status = match &failing {
        None => Status::Up,
        Some(failing) if !signal.needs_confirming || failing.checks > policy.retries => {
            Status::Down
        }
        Some(_) => state.status,
    };
    let change = (status != state.status).then(|| Change {
        previous: state.status,
        status,
        outage: outage(failing.as_deref(), state),
    });
    let started = failing.as_ref().map_or(now, |failing| failing.started);
    let is_soon = |since: &Millis| since.since(now) < MAX_CHANGES_AHEAD;
    let since = state.since.into_iter().chain([started]).filter(is_soon).fold(now, Millis::max);
    // A streak of failures that is not yet an outage is re-checked soon.
    let recheck_after =
        (failing.is_some() && status != Status::Down).then_some(policy.retry_interval);
    let (degraded, health_change) = signal.health(state, status, policy, now);
    let state = State {
        status,
        since: if change.is_some() { Some(since) } else { state.since },
        last_check: Some(now),
        last_message: signal.message,
        blocked: false,
        load_time: signal.load_time,
        failing,
        warned: state.warned.clone(),
        degraded,
        push: state.push.clone(),
        known: state.known.clone(),
    };
    Step {
        state,
        heartbeat,
        reason,
        change,
        health_change,
        recheck_after,
        warning: None,
        changed: None,
        differing: Vec::new(),
    }
}

/// What the values that must not change are, compared with those of the last good check.
struct Compared {
    /// The values to know.
    known: Option<Box<KnownValues>>,
    /// What is reported.
    changed: Option<String>,
    differing: Vec<Fingerprint>,
}

/// Compares the values that must not change with those of the last good check. A new value is
/// reported once, and known from then on. One that is pinned fails until a user accepts it.
fn compare_values(state: &State, observation: &mut Observation, policy: &Policy) -> Compared {
    let seen = std::mem::take(&mut observation.fingerprints);
    if !observation.up || policy.upside_down || seen.is_empty() {
        return Compared { known: state.known.clone(), changed: None, differing: Vec::new() };
    }
    let (mut known, mut changed, mut differing) = (KnownValues::new(), Vec::new(), Vec::new());
    for value in seen {
        let before = state.known.as_ref().and_then(|known| known.get(&value.key));
        let kept = before.filter(|_| value.pinned).unwrap_or(&value.hash).clone();
        known.insert(value.key.clone(), kept);
        if before.is_none_or(|before| *before == value.hash) {
            continue;
        }
        let words = value.change();
        match (value.pinned, value.fails_as) {
            (true, FailsAs::Down) => {
                observation.up = false;
                observation.reason = Some(Reason::Changed);
                observation.message.clone_from(&words);
            }
            (true, FailsAs::Degraded) => {
                observation.warnings.push(Warning { reason: Reason::Changed, words });
            }
            (false, _) => {
                observation
                    .warnings
                    .push(Warning { reason: Reason::Changed, words: words.clone() });
                changed.push(words);
            }
        }
        differing.push(value);
    }
    let changed = (!changed.is_empty()).then(|| changed.join(", "));
    Compared { known: Some(Box::new(known)), changed, differing }
}

/// The streak of failures including this one.
fn extend_streak(state: &State, signal: &Signal, now: Millis) -> FailureStreak {
    match &state.failing {
        Some(row) => FailureStreak { checks: row.checks.saturating_add(1), ..(**row).clone() },
        None => {
            let started = after_last_change(state, now);
            let (cause, reason) = (signal.message.clone(), signal.reason);
            FailureStreak { checks: 1, started, cause, reason }
        }
    }
}

/// The time now or, if the status has changed within this millisecond, the next one: each outage
/// of a monitor has a start of its own, which its alert is identified by.
fn after_last_change(state: &State, now: Millis) -> Millis {
    let next = state.since.map(|since| since.after(Duration::from_millis(1)));
    let is_soon = |next: &Millis| next.since(now) < MAX_CHANGES_AHEAD;
    next.filter(|_| state.status == Status::Up).filter(is_soon).map_or(now, |next| next.max(now))
}

/// The outage that begins, or else the one that ends.
fn outage(failing: Option<&FailureStreak>, state: &State) -> Option<Outage> {
    let ending = state.failing.as_deref().filter(|_| state.status == Status::Down);
    let row = failing.or(ending)?;
    Some(Outage { started: row.started, cause: row.cause.clone(), reason: row.reason })
}

fn warn(
    state: &State,
    observation: &Observation,
    policy: &Policy,
    now: Millis,
) -> Option<ExpiryWarning> {
    if !policy.certificate_warnings {
        return None;
    }
    let of_target = observation.certificate.as_ref().map(|certificate| Expiry::of(certificate));
    let others = observation.expiry.as_deref().cloned();
    of_target.into_iter().chain(others).find_map(|expiry| state.warned.due(&expiry, now))
}

#[cfg(test)]
mod tests;
