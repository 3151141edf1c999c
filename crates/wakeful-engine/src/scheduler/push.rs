//! Push monitors in the scheduler's memory: when the report of a job is overdue, and its pings.
//! The times of schedules and runs are those of the wall clock; `now` is that of the scheduler,
//! which is the same unless the wall clock was changed meanwhile.

use std::time::Duration;
use tokio::sync::oneshot;
use uuid::Uuid;
use wakeful_core::heartbeat::{Beat, Heartbeat, Phases};
use wakeful_core::id::MonitorId;
use wakeful_core::monitors::Spec;
use wakeful_core::monitors::spec::ApiSpec;
use wakeful_core::push::{JobSchedule, MAX_EARLY, PushState, Signal};
use wakeful_core::reason::Reason;
use wakeful_core::schedule;
use wakeful_core::time::Millis;
use wakeful_core::verdict::{Input, Step};

use super::entry::{Entry, NEVER};
use super::{Scheduler, ShardState, VerdictExtras};
use crate::{Error, Result};

/// A report that was due within a stall of the process this long is waited for.
const SHORT_STALL_MS: u64 = 60_000;

/// What has become of a ping.
pub(crate) enum Pinged {
    /// It was received before.
    Repeated,
    /// Notified when it is recorded; and how long the run took that it has ended.
    Accepted(oneshot::Receiver<()>, Option<Duration>),
}

impl Pinged {
    pub(crate) fn duration(&self) -> Option<Duration> {
        match self {
            Self::Repeated => None,
            Self::Accepted(_, duration) => *duration,
        }
    }

    /// Waits until it is recorded. Whether it was received before.
    pub(crate) async fn recorded(self) -> Result<bool> {
        match self {
            Self::Repeated => Ok(true),
            Self::Accepted(recorded, _) => {
                recorded.await.map_err(|_| Error::NotRecorded)?;
                Ok(false)
            }
        }
    }
}

impl Entry {
    fn api(&self) -> Option<&ApiSpec> {
        match &*self.spec {
            Spec::Api(api) => Some(api),
            _ => None,
        }
    }

    fn job_schedule(&self) -> Option<&JobSchedule> {
        self.api().and_then(|api| api.schedule.as_deref())
    }

    /// Sets when the monitor is due. A run of a push monitor may be overdue before that.
    pub(super) fn set_due(&mut self, due: u64) {
        self.report_due = due;
        self.due = due;
        if let Some(end) = self.run_deadline() {
            self.due = due.min(end);
        }
    }

    /// When the monitor is due, whatever its runs.
    pub(super) fn own_due(&self) -> u64 {
        if self.is_push() { self.report_due } else { self.due }
    }

    fn run_deadline(&self) -> Option<u64> {
        let push = self.state.push.as_deref().filter(|_| self.is_push())?;
        push.deadline(self.max_runtime()).map(|at| at.0.max(0).cast_unsigned())
    }

    pub(super) fn max_runtime(&self) -> Duration {
        let set = self.api().and_then(|api| api.max_runtime);
        set.unwrap_or_else(|| self.grace())
    }

    /// When a report is missed that is waited for since `since`.
    pub(super) fn deadline_since(&self, since: u64) -> u64 {
        match self.job_schedule() {
            Some(schedule) => self.missed_at(schedule.next(millis(since))),
            None => schedule::deadline(None, since, self.interval, self.grace()),
        }
    }

    /// When the next report is missed after one at `now`, which is `wall`.
    pub(super) fn deadline_after_report(&self, now: u64, wall: Millis) -> u64 {
        let Some(schedule) = self.job_schedule() else { return self.deadline_since(now) };
        let wait = schedule.expected(wall).map(|expected| expected.since(wall));
        let wait = wait.and_then(|wait| u64::try_from((wait + self.grace()).as_millis()).ok());
        wait.map_or(NEVER, |wait| now.saturating_add(wait))
    }

    /// The deadline of a monitor that resumes: it last reported at `last`, and no reports were
    /// accepted since `not_listening_since`.
    pub(super) fn resumed_deadline(&self, last: u64, now: u64, not_listening_since: u64) -> u64 {
        let Some(schedule) = self.job_schedule() else {
            let (interval, grace) = (self.interval, self.grace());
            return schedule::resumed_deadline(last, not_listening_since, now, interval, grace);
        };
        // The last verdict may have been about silence instead of a report.
        let reason = self.state.failing.as_ref().and_then(|failing| failing.reason);
        let was_silent = matches!(reason, Some(Reason::Missed | Reason::Runtime));
        let expected =
            if was_silent { schedule.next(millis(last)) } else { schedule.expected(millis(last)) };
        self.unless_lost(self.missed_at(expected), now, not_listening_since)
    }

    /// The deadline after a gap in listening.
    pub(super) fn deadline_after_gap(&self, now: u64, not_listening_since: u64) -> u64 {
        if self.job_schedule().is_some() {
            return self.unless_lost(self.report_due, now, not_listening_since);
        }
        // The time of its last report follows from its current deadline.
        let silence = u64::try_from(self.max_silence().as_millis()).unwrap_or(u64::MAX);
        let last = self.report_due.saturating_sub(silence);
        let (interval, grace) = (self.interval, self.grace());
        schedule::resumed_deadline(last, not_listening_since, now, interval, grace)
    }

    /// The deadline after a stall of this process.
    pub(super) fn deadline_after_stall(&self, now: u64) -> u64 {
        let due = self.report_due;
        if self.job_schedule().is_none() {
            return schedule::delayed_deadline(due, now, self.interval, self.grace());
        }
        if now.saturating_sub(due) > SHORT_STALL_MS {
            self.deadline_since(now)
        } else {
            now.saturating_add(self.grace_ms())
        }
    }

    /// When continued silence is recorded again.
    pub(super) fn next_deadline(&self, now: u64) -> u64 {
        match self.job_schedule() {
            Some(_) => self.deadline_since(now),
            None => schedule::next_deadline(self.report_due, self.interval, now),
        }
    }

    /// How long nothing was reported, at most.
    pub(super) fn silence(&self, wall: Millis) -> Duration {
        let last = self.state.last_check.filter(|_| self.job_schedule().is_some());
        last.map_or_else(|| self.max_silence(), |last| wall.since(last))
    }

    /// Drops runs whose end nobody can have heard.
    pub(super) fn drop_unheard_runs(&mut self, now: u64, not_listening_since: u64) {
        let max_runtime = self.max_runtime();
        if let Some(push) = &mut self.state.push {
            push.drop_unheard(max_runtime, millis(not_listening_since), millis(now));
        }
    }

    /// Drops all runs: their ends were not accepted.
    pub(super) fn drop_runs(&mut self) {
        if let Some(push) = &mut self.state.push {
            push.drop_runs();
        }
        drop_empty(&mut self.state.push);
    }

    /// Drops the runs that have taken too long. Whether there are any.
    pub(super) fn drop_overdue_runs(&mut self, now: u64) -> bool {
        let max_runtime = self.max_runtime();
        self.state.push.as_mut().is_some_and(|push| push.drop_overdue(max_runtime, millis(now)))
    }

    /// A report that was sent while nobody listened does not count as missed.
    fn unless_lost(&self, missed: u64, now: u64, not_listening_since: u64) -> u64 {
        let early = u64::try_from(MAX_EARLY.as_millis()).unwrap_or(0);
        let owed = missed.saturating_sub(self.grace_ms()).saturating_sub(early);
        if schedule::may_be_lost(owed, missed, not_listening_since, now) {
            self.deadline_since(now)
        } else {
            missed.max(now)
        }
    }

    fn missed_at(&self, expected: Option<Millis>) -> u64 {
        expected.map_or(NEVER, |at| at.0.max(0).cast_unsigned().saturating_add(self.grace_ms()))
    }

    fn grace_ms(&self) -> u64 {
        u64::try_from(self.grace().as_millis()).unwrap_or(NEVER)
    }
}

fn millis(at: u64) -> Millis {
    Millis(i64::try_from(at).unwrap_or(i64::MAX))
}

impl Scheduler {
    /// Accepts a ping of a job: a start, or an end. `None` if the monitor is not scheduled here.
    pub(crate) fn ping(
        &self,
        id: MonitorId,
        signal: Signal,
        rid: Option<Uuid>,
        wall: Millis,
    ) -> Option<Pinged> {
        let shard = self.shard(id);
        let mut monitors = shard.lock();
        let ShardState { entries, wheel, .. } = &mut *monitors;
        let found = entries.get_mut(id).filter(|entry| entry.active && entry.is_push());
        let entry = found.filter(|entry| !self.suspensions.contains(entry.team))?;
        let push = entry.state.push.get_or_insert_default();
        if push.is_repeated(rid, signal, wall) {
            return Some(Pinged::Repeated);
        }
        let (recorded, receiver) = oneshot::channel();
        let extras = VerdictExtras { recorded: Some(recorded), ..VerdictExtras::default() };
        match signal {
            Signal::Start => push.start(rid, wall),
            Signal::Log => {}
            Signal::Success | Signal::Fail | Signal::ExitCode(_) => {
                let duration = push.end(rid, wall);
                if let Some(report) = signal.report(duration) {
                    drop_empty(&mut entry.state.push);
                    let (step, evidence) = self.judge_entry(entry, Input::Report(report), wall);
                    self.queue_for_writing(entry, step, VerdictExtras { evidence, ..extras });
                    shard.arm(entry, wheel);
                    return Some(Pinged::Accepted(receiver, duration));
                }
            }
        }
        entry.seq += 1;
        entry.set_due(entry.own_due());
        let step = unchanged(entry, wall);
        self.queue_for_writing(entry, step, VerdictExtras { state_only: true, ..extras });
        shard.arm(entry, wheel);
        Some(Pinged::Accepted(receiver, None))
    }
}

/// A monitor without runs needs no memory for them.
fn drop_empty(push: &mut Option<Box<PushState>>) {
    if push.as_ref().is_some_and(|push| push.is_empty()) {
        *push = None;
    }
}

/// The state as it is, to be written without a heartbeat.
fn unchanged(entry: &Entry, at: Millis) -> Step {
    let heartbeat = Heartbeat {
        at,
        status: Beat::Unknown,
        message: String::new(),
        load_time: None,
        phases: Phases::default(),
        regions: Vec::new(),
        readings: Default::default(),
    };
    Step {
        state: entry.state.clone(),
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
