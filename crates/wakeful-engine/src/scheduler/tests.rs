//! Tests of the scheduler without its loops: the monitors in memory, and when they are due.

use super::*;
use wakeful_core::id::{NodeId, TeamId};
use wakeful_core::monitors::spec::{ApiSpec, HttpSpec, HttpUrl};
use wakeful_core::monitors::{DEFAULT_RETRIES, Interval, Monitor, Name, Tags};
use wakeful_core::observation::{Contact, Observation};
use wakeful_core::reason::Reason;
use wakeful_core::verdict::{Report, State, Status};

pub(super) const WALL: Millis = Millis(1_794_735_000_000);

pub(super) fn stored(number: u64, spec: Spec, seconds: u64) -> StoredMonitor {
    let mut random = [0; 10];
    random[2..].copy_from_slice(&number.wrapping_mul(0x9E37_79B9_7F4A_7C15).to_be_bytes());
    let monitor = Monitor {
        id: MonitorId::new(WALL, random),
        team: TeamId::new(WALL, [1; 10]),
        name: Name::parse("site").expect("a name"),
        spec,
        isactive: true,
        heartbeat_interval: Interval::new(seconds).expect("an interval"),
        timeout: None,
        retries: DEFAULT_RETRIES,
        retry_interval: None,
        resend_interval: None,
        severity: Default::default(),
        policy: None,
        upside_down_mode: false,
        tags: Tags::default(),
        notifiers: Vec::new(),
        depends_on: Vec::new(),
        flapping: Default::default(),
        regions: Default::default(),
        quorum: Default::default(),
        assertions: Default::default(),
        evidence: Default::default(),
        degraded: None,
        slo: None,
        push_token: None,
        ping_uuid: None,
        description: Default::default(),
        created: WALL,
        modified: WALL,
    };
    let state = State {
        status: Status::Up,
        since: Some(WALL),
        last_check: Some(WALL),
        last_message: "200 OK".into(),
        load_time: Some(Duration::from_millis(12)),
        ..State::default()
    };
    StoredMonitor { monitor, state, usual: None, seq: 1, revision: 1, unreadable: false }
}

fn http(number: u64) -> Spec {
    let url = format!("https://www{number}.example.com/some/health/check?full=1");
    Spec::Http(HttpSpec::new(HttpUrl::parse(&url).expect("a URL")))
}

pub(super) fn scheduler() -> Scheduler {
    scheduler_at(WALL)
}

pub(super) fn scheduler_at(wall: Millis) -> Scheduler {
    let standalone = Cluster::new(NodeId::new(WALL, [1; 10]), true, Duration::from_secs(15));
    Scheduler::new(wall, 512, Vec::new(), Arc::new(standalone))
}

/// Advances the time, and takes the jobs that become due in each shard.
pub(super) async fn advance(scheduler: &Scheduler, span: Duration) -> Vec<Job> {
    let until = scheduler.clock.now() + u64::try_from(span.as_millis()).expect("short");
    let mut jobs = Vec::new();
    loop {
        let next =
            (0..scheduler.shards.len()).filter_map(|n| scheduler.expire(n, WALL, &mut jobs)).min();
        let now = scheduler.clock.now();
        if now >= until {
            return jobs;
        }
        let step = next.map_or(until, |next| next.clamp(now + 1, until)) - now;
        tokio::time::advance(Duration::from_millis(step)).await;
    }
}

fn failed() -> Input {
    Input::Observation(Observation::down(
        Contact::Refused,
        Reason::ConnectRefused,
        "connection refused",
    ))
}

#[tokio::test(start_paused = true)]
async fn a_check_is_due_once_an_interval_and_not_while_one_is_running() {
    let scheduler = scheduler();
    scheduler.configure(stored(1, http(1), 60), LoadReason::Saved);
    let jobs = advance(&scheduler, Duration::from_secs(1)).await;
    assert_eq!(jobs.len(), 1, "the first within a second");
    assert_eq!(advance(&scheduler, Duration::from_secs(600)).await.len(), 0, "it is still running");
    scheduler.finish(&jobs[0], Input::Observation(Observation::up(Duration::ZERO, "200 OK")), WALL);
    for _ in 0..10 {
        let jobs = advance(&scheduler, Duration::from_secs(60)).await;
        assert_eq!(jobs.len(), 1);
        scheduler.finish(
            &jobs[0],
            Input::Observation(Observation::up(Duration::ZERO, "200 OK")),
            WALL,
        );
    }
}

#[tokio::test(start_paused = true)]
async fn a_failure_is_rechecked_soon() {
    let scheduler = scheduler();
    scheduler.configure(stored(1, http(1), 3_600), LoadReason::Saved);
    let first = advance(&scheduler, Duration::from_secs(1)).await.remove(0);
    scheduler.finish(&first, failed(), WALL);
    assert_eq!(advance(&scheduler, Duration::from_millis(4_990)).await.len(), 0);
    let again = advance(&scheduler, Duration::from_millis(20)).await.remove(0);
    scheduler.finish(&again, failed(), WALL);
    assert_eq!(advance(&scheduler, Duration::from_secs(600)).await.len(), 0, "it is down by now");
}

#[tokio::test(start_paused = true)]
async fn a_result_for_an_old_target_does_not_count() {
    let scheduler = scheduler();
    let before = stored(1, http(1), 60);
    scheduler.configure(before.clone(), LoadReason::Saved);
    let job = advance(&scheduler, Duration::from_secs(1)).await.remove(0);
    let mut moved = stored(1, http(2), 60);
    moved.revision = 2;
    scheduler.configure(moved, LoadReason::Saved);
    scheduler.configure(before, LoadReason::Saved);
    scheduler.finish(&job, failed(), WALL);
    let next = advance(&scheduler, Duration::from_secs(1)).await.remove(0);
    let CheckParams { spec, .. } = scheduler.params_of(&next).expect("the new target");
    assert_eq!(*spec, http(2), "the older revision is ignored");
    let shard = scheduler.shard(next.monitor).lock();
    assert_eq!(shard.entries.get(next.monitor).expect("scheduled").state.failing, None);
}

/// The messages of the evidence that is written with the result of the next check.
async fn evidence_of(scheduler: &Scheduler, mut seen: Observation) -> Vec<String> {
    let job = advance(scheduler, Duration::from_secs(60)).await.remove(0);
    seen.evidence = Some(Box::default());
    let mut monitors = scheduler.shard(job.monitor).lock();
    let entry = monitors.entries.get_mut(job.monitor).expect("scheduled");
    entry.busy = false;
    let (_, new) = scheduler.judge_entry(entry, Input::Observation(seen), WALL);
    new.into_iter().map(|new| format!("{} {}", new.of.as_str(), new.content.message)).collect()
}

#[tokio::test(start_paused = true)]
async fn the_evidence_of_an_outage_is_that_of_its_own_target() {
    let failing =
        |message: &str| Observation::down(Contact::Refused, Reason::ConnectRefused, message);
    let none = Vec::<String>::new();
    let scheduler = scheduler();
    let mut monitor = stored(1, http(1), 60);
    let save = |changed: &mut StoredMonitor| {
        changed.revision += 1;
        scheduler.configure(changed.clone(), LoadReason::Saved);
    };
    save(&mut monitor);
    assert_eq!(evidence_of(&scheduler, failing("old")).await, none, "it is not confirmed");
    monitor.monitor.spec = http(2);
    save(&mut monitor);
    assert_eq!(evidence_of(&scheduler, failing("new")).await, none);
    let expected = ["first new", "confirming again"];
    assert_eq!(evidence_of(&scheduler, failing("again")).await, expected);
    // What was held when all of it could be stored is not written when none may be.
    assert_eq!(evidence_of(&scheduler, failing("still")).await, none);
    monitor.monitor.evidence = EvidenceLevel::None;
    save(&mut monitor);
    let up = Observation::up(Duration::ZERO, "200 OK");
    assert_eq!(evidence_of(&scheduler, up).await, ["recovery 200 OK"]);
}

#[tokio::test(start_paused = true)]
async fn a_report_moves_the_deadline() {
    let scheduler = scheduler();
    let job = stored(1, Spec::Api(ApiSpec::default()), 60);
    let id = job.monitor.id;
    scheduler.configure(job, LoadReason::Saved);
    let status = || scheduler.shard(id).lock().entries.get(id).expect("scheduled").state.status;
    let report = || Input::Report(Report::parse("up").expect("known"));
    for _ in 0..100 {
        advance(&scheduler, Duration::from_secs(65)).await;
        assert_eq!(status(), Status::Up);
        scheduler.judge(id, None, report(), None, WALL).expect("scheduled");
    }
    advance(&scheduler, Duration::from_millis(65_990)).await;
    assert_eq!(status(), Status::Up);
    advance(&scheduler, Duration::from_millis(20)).await;
    assert_eq!(status(), Status::Down);
}

#[tokio::test(start_paused = true)]
async fn checks_missed_during_a_sleep_are_not_made_up() {
    let scheduler = scheduler();
    for number in 0..100 {
        scheduler.configure(stored(number, http(number), 1), LoadReason::Resumed);
    }
    tokio::time::advance(Duration::from_secs(3_600)).await;
    let mut jobs = Vec::new();
    for shard in 0..scheduler.shards.len() {
        scheduler.expire(shard, WALL, &mut jobs);
    }
    assert_eq!(jobs.len(), 100, "one each, not one for each second");
}

#[tokio::test(start_paused = true)]
async fn time_while_the_process_was_stalled_is_no_silence() {
    let scheduler = scheduler();
    let job = stored(1, Spec::Api(ApiSpec::default()), 60);
    let id = job.monitor.id;
    scheduler.configure(job, LoadReason::Saved);
    let status = || scheduler.shard(id).lock().entries.get(id).expect("scheduled").state.status;
    tokio::time::advance(Duration::from_secs(3_600)).await;
    advance(&scheduler, Duration::from_secs(65)).await;
    assert_eq!(status(), Status::Up);
    advance(&scheduler, Duration::from_secs(2)).await;
    assert_eq!(status(), Status::Down);
}

#[tokio::test(start_paused = true)]
async fn silence_counts_once_listening_is_confirmed() {
    let scheduler = scheduler();
    let job = stored(1, Spec::Api(ApiSpec::default()), 60);
    let id = job.monitor.id;
    scheduler.listening.activate();
    scheduler.confirm_listening(scheduler.clock.now());
    scheduler.configure(job, LoadReason::Saved);
    let status = || scheduler.shard(id).lock().entries.get(id).expect("scheduled").state.status;
    advance(&scheduler, Duration::from_millis(66_500)).await;
    assert_eq!(status(), Status::Up, "it is unknown whether the store is available");
    scheduler.confirm_listening(scheduler.clock.now());
    advance(&scheduler, Duration::from_millis(1)).await;
    assert_eq!(status(), Status::Down);
}

#[tokio::test(start_paused = true)]
async fn deadlines_are_extended_after_a_gap_in_listening() {
    let scheduler = scheduler();
    let job = stored(1, Spec::Api(ApiSpec::default()), 60);
    let id = job.monitor.id;
    scheduler.listening.activate();
    scheduler.configure(job, LoadReason::Saved);
    let status = || scheduler.shard(id).lock().entries.get(id).expect("scheduled").state.status;
    let gap_start = scheduler.clock.now();
    scheduler.confirm_listening(gap_start);
    advance(&scheduler, Duration::from_secs(90)).await;
    scheduler.extend_deadlines(gap_start);
    scheduler.confirm_listening(scheduler.clock.now());
    advance(&scheduler, Duration::from_secs(65)).await;
    scheduler.confirm_listening(scheduler.clock.now());
    assert_eq!(status(), Status::Up);
    advance(&scheduler, Duration::from_secs(2)).await;
    scheduler.confirm_listening(scheduler.clock.now());
    advance(&scheduler, Duration::from_millis(1)).await;
    assert_eq!(status(), Status::Down, "no report arrived after that, either");
}

#[tokio::test(start_paused = true)]
async fn newer_state_of_another_node_is_adopted() {
    let scheduler = scheduler();
    let mut known = stored(1, http(1), 60);
    known.seq = 100;
    let id = known.monitor.id;
    scheduler.configure(known.clone(), LoadReason::Resumed);
    let mut newer = known.clone();
    newer.seq = 101;
    newer.state.status = Status::Down;
    let state_of = |scheduler: &Scheduler| {
        let monitors = scheduler.shard(id).lock();
        let entry = monitors.entries.get(id).expect("scheduled");
        (entry.seq, entry.state.status)
    };
    scheduler.configure(newer, LoadReason::Resumed);
    assert_eq!(state_of(&scheduler), (101, Status::Down));
    scheduler.configure(known, LoadReason::Resumed);
    assert_eq!(state_of(&scheduler), (101, Status::Down), "older state is ignored");
}

#[tokio::test(start_paused = true)]
async fn a_check_from_before_a_slot_was_lost_and_regained_does_not_count() {
    let scheduler = scheduler();
    let before = stored(1, http(1), 60);
    let id = before.monitor.id;
    scheduler.configure(before, LoadReason::Saved);
    let job = advance(&scheduler, Duration::from_secs(1)).await.remove(0);
    scheduler.drop_slots(&HashSet::from([Slot::of(id)]));
    scheduler.configure(stored(1, http(2), 60), LoadReason::Saved);
    assert!(scheduler.params_of(&job).is_none());
    scheduler.finish(&job, failed(), WALL);
    let monitors = scheduler.shard(id).lock();
    assert_eq!(monitors.entries.get(id).expect("scheduled").state.failing, None);
}

pub(super) fn suspension(
    suspended: bool,
    resumed_at: Option<Millis>,
) -> [wakeful_store::Suspension; 1] {
    [wakeful_store::Suspension {
        team: TeamId::new(WALL, [1; 10]),
        suspended,
        resumed_at,
        deleted: false,
    }]
}

#[tokio::test(start_paused = true)]
async fn the_checks_of_a_suspended_team_pause_and_resume() {
    let scheduler = scheduler();
    scheduler.configure(stored(1, http(1), 60), LoadReason::Saved);
    let running = advance(&scheduler, Duration::from_secs(1)).await.remove(0);
    scheduler.apply_suspensions(&suspension(true, None));
    assert!(scheduler.params_of(&running).is_none(), "a check that waits is not run");
    assert!(scheduler.check_params(running.monitor).is_none(), "nor one on demand");
    scheduler.finish(&running, failed(), WALL);
    assert_eq!(advance(&scheduler, Duration::from_secs(3_600)).await.len(), 0);
    // Another one that is loaded meanwhile, and one of another team.
    scheduler.configure(stored(2, http(2), 60), LoadReason::Resumed);
    let mut other = stored(3, http(3), 60);
    other.monitor.team = TeamId::new(WALL, [2; 10]);
    scheduler.configure(other, LoadReason::Resumed);
    assert_eq!(advance(&scheduler, Duration::from_secs(60)).await.len(), 1);
    scheduler.apply_suspensions(&suspension(false, Some(WALL)));
    let jobs = advance(&scheduler, Duration::from_secs(60)).await;
    assert_eq!(jobs.len(), 2, "each once, and that of the other team is still running");
    let shard = scheduler.shard(running.monitor).lock();
    let state = &shard.entries.get(running.monitor).expect("scheduled").state;
    assert_eq!((state.status, state.failing.as_ref()), (Status::Up, None));
}

#[tokio::test(start_paused = true)]
async fn the_deadlines_of_a_resumed_team_start_again() {
    let scheduler = scheduler();
    let job = stored(1, Spec::Api(ApiSpec::default()), 60);
    let id = job.monitor.id;
    scheduler.configure(job.clone(), LoadReason::Saved);
    let status = |scheduler: &Scheduler| {
        scheduler.shard(id).lock().entries.get(id).expect("scheduled").state.status
    };
    let report = || Input::Report(Report::parse("down").expect("known"));
    scheduler.apply_suspensions(&suspension(true, None));
    advance(&scheduler, Duration::from_secs(3_630)).await;
    assert!(scheduler.judge(id, None, report(), None, WALL).is_none());
    let now = Millis(i64::try_from(scheduler.clock.now()).expect("a time"));
    scheduler.apply_suspensions(&suspension(false, Some(now)));
    advance(&scheduler, Duration::from_secs(65)).await;
    assert_eq!(status(&scheduler), Status::Up);
    advance(&scheduler, Duration::from_secs(2)).await;
    assert_eq!(status(&scheduler), Status::Down, "no report arrived after that, either");

    // Another process, which has just loaded it: its last report is from before the suspension.
    let restarted = Scheduler::new(
        Millis(now.0 + 10_000),
        512,
        Vec::new(),
        Arc::new(Cluster::new(NodeId::new(WALL, [1; 10]), true, Duration::from_secs(15))),
    );
    restarted.not_listening_since.store(restarted.clock.now(), Ordering::Release);
    restarted.apply_suspensions(&suspension(false, Some(now)));
    restarted.configure(job, LoadReason::Resumed);
    advance(&restarted, Duration::from_secs(50)).await;
    assert_eq!(status(&restarted), Status::Up);
    advance(&restarted, Duration::from_secs(10)).await;
    assert_eq!(status(&restarted), Status::Down);
}

#[test]
fn a_monitor_takes_less_than_a_kibibyte() {
    const COUNT: u64 = 100_000;
    let resident = || {
        let statm = std::fs::read_to_string("/proc/self/statm").expect("Linux");
        let pages = statm.split(' ').nth(1).and_then(|pages| pages.parse::<u64>().ok());
        pages.expect("a number") * 4_096
    };
    let scheduler = scheduler();
    let before = resident();
    for number in 0..COUNT {
        scheduler.configure(stored(number, http(number), 60), LoadReason::Resumed);
    }
    let each = (resident() - before) / COUNT;
    assert_eq!(scheduler.len(), 100_000);
    assert!(each < 1_024, "{each} bytes each");
    println!("{each} bytes each");
}

/// A monitor without new capabilities takes at most 16 bytes more than before assertions and
/// evidence: what most monitors do not use is behind one pointer.
#[test]
fn a_monitor_in_memory_stays_small() {
    const BEFORE_ASSERTIONS: usize = 272;
    assert!(size_of::<Entry>() <= BEFORE_ASSERTIONS + 16, "{} bytes", size_of::<Entry>());
}
