//! The verdict: state, what was seen, policy and now give the new state, the
//! heartbeat, and perhaps a change of status. Every rule of when a target counts
//! as down, and when people are told, is in `step` and nowhere else.
//!
//! A failing check is confirmed by re-checks before it counts, a passing one is
//! believed at once. A report through notify is the target's own word and a
//! missed heartbeat has had its grace: both are believed at once, too. Upside
//! down reverses all three. A fault says nothing about the target: the status
//! and the count of failures stay, and confirming goes on at the next check.

mod seen;
mod state;

use std::time::Duration;

use crate::certificate::Warning;
use crate::monitor::Monitor;
use crate::observation::{Fault, Observation, Phases};
use crate::region::RegionBeat;
use crate::time::Millis;

pub use seen::{Report, Seen};
pub use state::{Beat, Failing, Heartbeat, State, Status};

/// What a monitor's settings say about its verdicts.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Policy {
    pub retries: u16,
    pub retry_interval: Duration,
    pub upside_down: bool,
    pub certificate_warnings: bool,
}

impl Policy {
    pub fn of(monitor: &Monitor) -> Self {
        Self {
            retries: monitor.retries,
            retry_interval: monitor.retry_interval(),
            upside_down: monitor.upside_down_mode,
            certificate_warnings: monitor
                .spec
                .http()
                .is_some_and(|http| http.certificate_expiry_notification),
        }
    }
}

/// What one step decides.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Step {
    pub state: State,
    pub heartbeat: Heartbeat,
    pub change: Option<Change>,
    /// When to look again before the regular check, to confirm a failure.
    pub recheck_after: Option<Duration>,
    pub warning: Option<Warning>,
}

/// A change of status: to be recorded at once, and perhaps told to people.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Change {
    pub previous: Status,
    pub status: Status,
    /// The outage that begins or ends; nothing from pending to up.
    pub outage: Option<Outage>,
}

/// When an outage began, at its first failing check, and what that one said.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Outage {
    pub started: Millis,
    pub cause: String,
}

impl Change {
    /// Whether an alert opens.
    pub fn opens(&self) -> bool {
        self.status == Status::Down
    }

    /// Whether the open alert ends.
    pub fn closes(&self) -> bool {
        self.previous == Status::Down
    }

    /// Whether the notifiers fire: always, but for the first verdict being up.
    pub fn fires(&self) -> bool {
        self.opens() || self.closes()
    }
}

pub fn step(state: &State, seen: Seen, policy: &Policy, now: Millis) -> Step {
    match seen {
        Seen::Fault(fault) => could_not_look(state, fault, policy, now),
        Seen::Observation(seen) => {
            let warning = warn(state, &seen, policy, now);
            let sign = Sign::of_observation(seen, policy);
            let mut step = looked(state, sign, policy, now);
            if let Some(warning) = &warning {
                step.state.warned.add(warning);
            }
            Step { warning, ..step }
        }
        Seen::Report(report) => looked(state, Sign::of_report(report, policy), policy, now),
        Seen::Missed(after) => looked(state, Sign::of_silence(after, policy), policy, now),
    }
}

/// What a check, report or silence comes to once upside down is applied.
struct Sign {
    good: bool,
    /// Whether a bad sign waits for re-checks before it counts.
    needs_confirming: bool,
    message: String,
    load_time: Option<Duration>,
    phases: Phases,
    regions: Vec<RegionBeat>,
}

impl Sign {
    fn of_observation(seen: Observation, policy: &Policy) -> Self {
        let good = seen.up != policy.upside_down;
        let message = match policy.upside_down && !good {
            // Without it, an alert would read "down: 200 OK".
            true => format!("{} (upside-down mode: this counts as down)", seen.message),
            false => seen.message,
        };
        let Observation { load_time, phases, regions, .. } = seen;
        let regions = turned(regions, policy);
        Self { good, needs_confirming: true, message, load_time, phases, regions }
    }

    fn of_report(report: Report, policy: &Policy) -> Self {
        Self {
            good: report.up != policy.upside_down,
            needs_confirming: false,
            message: report.message,
            load_time: report.load_time,
            phases: Phases::default(),
            regions: Vec::new(),
        }
    }

    fn of_silence(after: Duration, policy: &Policy) -> Self {
        Self {
            good: policy.upside_down,
            needs_confirming: false,
            message: format!("nothing was reported for {} s", after.as_secs()),
            load_time: None,
            phases: Phases::default(),
            regions: Vec::new(),
        }
    }

    fn heartbeat(&self, at: Millis) -> Heartbeat {
        Heartbeat {
            at,
            status: if self.good { Beat::Up } else { Beat::Down },
            message: self.message.clone(),
            load_time: self.load_time,
            phases: self.phases,
            regions: self.regions.clone(),
        }
    }
}

/// What the regions saw, once upside down is applied.
fn turned(regions: Vec<RegionBeat>, policy: &Policy) -> Vec<RegionBeat> {
    match policy.upside_down {
        true => regions.into_iter().map(RegionBeat::reversed).collect(),
        false => regions,
    }
}

fn could_not_look(state: &State, fault: Fault, policy: &Policy, now: Millis) -> Step {
    let state = State { last_message: fault.message.clone(), ..state.clone() };
    let heartbeat = Heartbeat {
        at: now,
        status: Beat::Unknown,
        message: fault.message,
        load_time: None,
        phases: Phases::default(),
        regions: turned(fault.regions, policy),
    };
    Step { state, heartbeat, change: None, recheck_after: None, warning: None }
}

fn looked(state: &State, sign: Sign, policy: &Policy, now: Millis) -> Step {
    let heartbeat = sign.heartbeat(now);
    let failing = (!sign.good).then(|| one_more(state, &sign.message, now));
    let status = match &failing {
        None => Status::Up,
        Some(failing) if !sign.needs_confirming || failing.checks > policy.retries => Status::Down,
        Some(_) => state.status,
    };
    let change = (status != state.status).then(|| Change {
        previous: state.status,
        status,
        outage: outage(failing.as_ref(), state),
    });
    // A row of failures that is not yet an outage is worth a second look, soon.
    let recheck_after =
        (failing.is_some() && status != Status::Down).then_some(policy.retry_interval);
    let state = State {
        status,
        since: if change.is_some() { Some(now) } else { state.since },
        last_check: Some(now),
        last_message: sign.message,
        load_time: sign.load_time,
        failing,
        warned: state.warned.clone(),
    };
    Step { state, heartbeat, change, recheck_after, warning: None }
}

/// The row of failures with this one at its end.
fn one_more(state: &State, message: &str, now: Millis) -> Failing {
    match &state.failing {
        Some(row) => Failing { checks: row.checks.saturating_add(1), ..row.clone() },
        None => Failing { checks: 1, started: now, cause: message.to_owned() },
    }
}

/// The outage that begins, or else the one that ends.
fn outage(failing: Option<&Failing>, state: &State) -> Option<Outage> {
    let ending = state.failing.as_ref().filter(|_| state.status == Status::Down);
    let row = failing.or(ending)?;
    Some(Outage { started: row.started, cause: row.cause.clone() })
}

fn warn(state: &State, seen: &Observation, policy: &Policy, now: Millis) -> Option<Warning> {
    let certificate = seen.certificate.as_ref().filter(|_| policy.certificate_warnings)?;
    state.warned.due(certificate, now)
}

#[cfg(test)]
mod tests;
