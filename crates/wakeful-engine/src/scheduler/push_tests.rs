//! Tests of push monitors with schedules and runs, without the loops of the scheduler. The
//! clock starts on a Sunday at 09:30:00 UTC.

use super::tests::{WALL, advance, scheduler, scheduler_at, stored, suspension};
use super::*;
use std::time::Duration;
use uuid::Uuid;
use wakeful_core::calendar::zone::Zone;
use wakeful_core::monitors::spec::ApiSpec;
use wakeful_core::push::{JobSchedule, Signal};
use wakeful_core::reason::Reason;
use wakeful_core::verdict::{State, Status};

const HOUR: Duration = Duration::from_secs(3_600);
const MINUTE: Duration = Duration::from_secs(60);
const SECOND: Duration = Duration::from_secs(1);

fn job(schedule: &str, grace: Duration, max_runtime: Option<Duration>) -> StoredMonitor {
    job_in(Zone::utc(), schedule, grace, max_runtime)
}

fn job_in(
    zone: Zone,
    schedule: &str,
    grace: Duration,
    max_runtime: Option<Duration>,
) -> StoredMonitor {
    let schedule = (!schedule.is_empty())
        .then(|| Box::new(JobSchedule::parse(schedule, zone).expect("a schedule")));
    let spec = ApiSpec { grace: Some(grace), schedule, max_runtime, ..ApiSpec::default() };
    stored(1, Spec::Api(spec), 3_600)
}

struct Job {
    scheduler: Scheduler,
    id: MonitorId,
}

impl Job {
    fn saved(monitor: StoredMonitor) -> Self {
        Self::saved_with(scheduler(), monitor)
    }

    fn saved_with(scheduler: Scheduler, monitor: StoredMonitor) -> Self {
        let id = monitor.monitor.id;
        scheduler.configure(monitor, LoadReason::Saved);
        Self { scheduler, id }
    }

    fn state(&self) -> State {
        self.scheduler.shard(self.id).lock().entries.get(self.id).expect("scheduled").state.clone()
    }

    fn status(&self) -> Status {
        self.state().status
    }

    fn reason(&self) -> Option<Reason> {
        self.state().failing.and_then(|failing| failing.reason)
    }

    fn wall(&self) -> Millis {
        Millis(i64::try_from(self.scheduler.clock.now()).expect("a time"))
    }

    /// Whether it is a new one.
    fn ping(&self, signal: Signal, rid: Option<Uuid>) -> bool {
        let pinged = self.scheduler.ping(self.id, signal, rid, self.wall()).expect("scheduled");
        matches!(pinged, Pinged::Accepted(..))
    }
}

#[tokio::test(start_paused = true)]
async fn a_report_is_missed_after_its_scheduled_time_and_the_grace() {
    let job = Job::saved(job("0 10 * * *", 5 * MINUTE, None));
    advance(&job.scheduler, 34 * MINUTE).await;
    assert_eq!(job.status(), Status::Up);
    advance(&job.scheduler, MINUTE + SECOND).await;
    assert_eq!((job.status(), job.reason()), (Status::Down, Some(Reason::Missed)));
    job.ping(Signal::Success, None);
    assert_eq!(job.status(), Status::Up);
    // The next one is tomorrow.
    advance(&job.scheduler, 23 * HOUR).await;
    assert_eq!(job.status(), Status::Up);
    // A little early: it counts for 10:00.
    advance(&job.scheduler, 54 * MINUTE + 29 * SECOND).await;
    job.ping(Signal::Success, None);
    advance(&job.scheduler, 2 * HOUR).await;
    assert_eq!(job.status(), Status::Up);
    advance(&job.scheduler, 24 * HOUR).await;
    assert_eq!(job.status(), Status::Down);
}

#[tokio::test(start_paused = true)]
async fn a_change_of_the_clock_neither_misses_a_report_nor_expects_a_second_one() {
    for (noon, wait) in [
        // There is no 02:30: the job runs when the clock changes, at 01:00 UTC.
        ("2026-03-28T12:00:00Z", 13 * HOUR),
        // There are two: the job runs at the first, at 00:30 UTC.
        ("2026-10-24T12:00:00Z", 12 * HOUR + 30 * MINUTE),
    ] {
        let zone = Zone::parse("Europe/Berlin").expect("a zone");
        let nightly = job_in(zone, "30 2 * * *", 5 * MINUTE, None);
        let scheduler = scheduler_at(Millis::parse(noon).expect("a time"));
        let job = Job::saved_with(scheduler, nightly);
        advance(&job.scheduler, wait).await;
        assert_eq!(job.status(), Status::Up, "{noon}");
        job.ping(Signal::Success, None);
        advance(&job.scheduler, 23 * HOUR).await;
        assert_eq!(job.status(), Status::Up, "one report is enough: {noon}");
        advance(&job.scheduler, 2 * HOUR + 10 * MINUTE).await;
        assert_eq!((job.status(), job.reason()), (Status::Down, Some(Reason::Missed)), "{noon}");
    }
}

#[tokio::test(start_paused = true)]
async fn a_run_must_end_in_time() {
    let job = Job::saved(job("", 10 * MINUTE, Some(MINUTE)));
    let (a, b) = (Some(Uuid::from_u128(1)), Some(Uuid::from_u128(2)));
    assert!(job.ping(Signal::Start, a));
    assert!(!job.ping(Signal::Start, a), "a retry");
    advance(&job.scheduler, 30 * SECOND).await;
    assert!(job.ping(Signal::Success, a));
    assert_eq!(job.state().load_time, Some(30 * SECOND));
    let seq =
        |job: &Job| job.scheduler.shard(job.id).lock().entries.get(job.id).expect("scheduled").seq;
    let before = seq(&job);
    assert!(!job.ping(Signal::Success, a), "a retry is one heartbeat");
    assert_eq!(seq(&job), before);
    advance(&job.scheduler, 2 * MINUTE).await;
    assert_eq!(job.status(), Status::Up, "it has ended");
    job.ping(Signal::Start, b);
    advance(&job.scheduler, 59 * SECOND).await;
    assert_eq!(job.status(), Status::Up);
    advance(&job.scheduler, 2 * SECOND).await;
    assert_eq!((job.status(), job.reason()), (Status::Down, Some(Reason::Runtime)));
    job.ping(Signal::ExitCode(0), b);
    assert_eq!(job.status(), Status::Up);
    job.ping(Signal::ExitCode(3), None);
    assert_eq!((job.status(), job.reason()), (Status::Down, Some(Reason::ExitCode)));
    job.ping(Signal::Success, None);
    job.ping(Signal::Fail, None);
    assert_eq!((job.status(), job.reason()), (Status::Down, Some(Reason::Reported)));
    // The interval still counts from the last report.
    job.ping(Signal::Success, None);
    advance(&job.scheduler, 69 * MINUTE).await;
    assert_eq!(job.status(), Status::Up);
    advance(&job.scheduler, 2 * MINUTE).await;
    assert_eq!((job.status(), job.reason()), (Status::Down, Some(Reason::Missed)));
}

/// Loads the monitor into another process, at `now`, while nobody listened since `since`.
async fn restarted(job: &Job, monitor: &StoredMonitor, away: Duration) -> Job {
    let stopped = job.scheduler.clock.now();
    let state = job.state();
    tokio::time::advance(away).await;
    let scheduler = scheduler_at(job.wall());
    scheduler.not_listening_since.store(stopped, Ordering::Release);
    scheduler.configure(StoredMonitor { state, ..monitor.clone() }, LoadReason::Resumed);
    Job { scheduler, id: job.id }
}

#[tokio::test(start_paused = true)]
async fn a_restart_neither_hides_a_missed_report_nor_makes_one_up() {
    let nightly = job("0 10 * * *", 5 * MINUTE, Some(20 * MINUTE));
    let first = Job::saved(nightly.clone());
    first.ping(Signal::Success, None);
    advance(&first.scheduler, 10 * MINUTE).await;
    // Away for a while, but not when the report is due: it is still expected at 10:00.
    let second = restarted(&first, &nightly, 5 * MINUTE).await;
    advance(&second.scheduler, 19 * MINUTE).await;
    assert_eq!(second.status(), Status::Up);
    advance(&second.scheduler, 2 * MINUTE).await;
    assert_eq!(second.status(), Status::Down, "it was missed while we listened");
    second.ping(Signal::Success, None);
    // Away while the report of tomorrow is due: up until another one is due.
    advance(&second.scheduler, 23 * HOUR + 50 * MINUTE).await;
    let third = restarted(&second, &nightly, 10 * MINUTE).await;
    advance(&third.scheduler, 23 * HOUR).await;
    assert_eq!(third.status(), Status::Up);
    advance(&third.scheduler, 2 * HOUR).await;
    assert_eq!(third.status(), Status::Down);
    // The end of a run may be lost, too.
    third.ping(Signal::Success, None);
    third.ping(Signal::Start, None);
    advance(&third.scheduler, MINUTE).await;
    let fourth = restarted(&third, &nightly, 5 * MINUTE).await;
    advance(&fourth.scheduler, HOUR).await;
    assert_eq!(fourth.status(), Status::Up);
    // A short restart does not end it.
    fourth.ping(Signal::Start, None);
    advance(&fourth.scheduler, MINUTE).await;
    let fifth = restarted(&fourth, &nightly, 2 * SECOND).await;
    advance(&fifth.scheduler, 20 * MINUTE).await;
    assert_eq!((fifth.status(), fifth.reason()), (Status::Down, Some(Reason::Runtime)));
}

#[tokio::test(start_paused = true)]
async fn a_run_of_a_paused_monitor_is_not_waited_for() {
    let monitor = job("", 10 * MINUTE, Some(30 * MINUTE));
    let job = Job::saved(monitor.clone());
    let set_active = |isactive: bool, revision: i64| {
        let mut changed = monitor.clone();
        (changed.monitor.isactive, changed.revision) = (isactive, revision);
        job.scheduler.configure(changed, LoadReason::Saved);
    };
    job.ping(Signal::Start, None);
    set_active(false, 2);
    advance(&job.scheduler, HOUR).await;
    assert_eq!(job.status(), Status::Up, "nothing is judged while it is paused");
    // Resumed before the end of the run would be overdue.
    set_active(true, 3);
    job.ping(Signal::Start, None);
    set_active(false, 4);
    set_active(true, 5);
    advance(&job.scheduler, 40 * MINUTE).await;
    assert_eq!(job.status(), Status::Up);
    // Resumed in another process.
    job.ping(Signal::Start, None);
    let scheduler = scheduler_at(job.wall());
    let resumed = StoredMonitor { state: job.state(), ..monitor.clone() };
    scheduler.configure(resumed, LoadReason::Saved);
    let other = Job { scheduler, id: job.id };
    advance(&other.scheduler, 40 * MINUTE).await;
    assert_eq!(other.status(), Status::Up);
    advance(&other.scheduler, 40 * MINUTE).await;
    assert_eq!((other.status(), other.reason()), (Status::Down, Some(Reason::Missed)));
}

#[tokio::test(start_paused = true)]
async fn a_run_of_a_suspended_team_is_not_waited_for() {
    let of = |max_runtime| job("", 10 * MINUTE, Some(max_runtime));
    let short = Job::saved(of(MINUTE));
    short.ping(Signal::Start, None);
    short.scheduler.apply_suspensions(&suspension(true, None));
    advance(&short.scheduler, 2 * MINUTE).await;
    let shards = 0..short.scheduler.shards.len();
    let next = shards.filter_map(|n| short.scheduler.expire(n, WALL, &mut Vec::new())).min();
    assert!(next.is_some_and(|at| at > short.scheduler.clock.now()), "it is not due all the time");
    assert_eq!(short.status(), Status::Up);

    // Its deadline starts again when the team is resumed, also if another run starts then.
    let long = Job::saved(of(3 * HOUR));
    advance(&long.scheduler, 10 * MINUTE).await;
    long.scheduler.apply_suspensions(&suspension(true, None));
    advance(&long.scheduler, 50 * MINUTE).await;
    long.scheduler.apply_suspensions(&suspension(false, Some(long.wall())));
    long.ping(Signal::Start, None);
    advance(&long.scheduler, 69 * MINUTE).await;
    assert_eq!(long.status(), Status::Up);
    advance(&long.scheduler, 2 * MINUTE).await;
    assert_eq!((long.status(), long.reason()), (Status::Down, Some(Reason::Missed)));
}

#[tokio::test(start_paused = true)]
async fn a_deadline_starts_again_after_maintenance_but_that_of_a_run_does_not() {
    let of = |max_runtime| job("", 10 * MINUTE, Some(max_runtime));
    let long = Job::saved(of(3 * HOUR));
    advance(&long.scheduler, 10 * MINUTE).await;
    long.scheduler.set_cover(long.id, Some("window"));
    advance(&long.scheduler, 50 * MINUTE).await;
    long.scheduler.set_cover(long.id, None);
    long.ping(Signal::Start, None);
    advance(&long.scheduler, 69 * MINUTE).await;
    assert_eq!(long.status(), Status::Up, "the start of a run does not bring back the old one");
    advance(&long.scheduler, 2 * MINUTE).await;
    assert_eq!((long.status(), long.reason()), (Status::Down, Some(Reason::Missed)));

    let short = Job::saved(of(30 * MINUTE));
    short.ping(Signal::Start, None);
    short.scheduler.set_cover(short.id, Some("window"));
    advance(&short.scheduler, MINUTE).await;
    short.scheduler.set_cover(short.id, None);
    advance(&short.scheduler, 30 * MINUTE).await;
    assert_eq!((short.status(), short.reason()), (Status::Down, Some(Reason::Runtime)));
}
