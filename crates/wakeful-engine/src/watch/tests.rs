//! The watch without its loops: what is held in memory, and what falls due when.

use super::*;
use wakeful_core::id::{NodeId, TeamId};
use wakeful_core::monitor::spec::{ApiSpec, HttpSpec, HttpUrl};
use wakeful_core::monitor::{DEFAULT_RETRIES, Interval, Monitor, Name, Tags};
use wakeful_core::observation::{Evidence, Observation};
use wakeful_core::verdict::{Report, State, Status};

const WALL: Millis = Millis(1_794_735_000_000);

fn stored(number: u64, spec: Spec, seconds: u64) -> StoredMonitor {
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
        upside_down_mode: false,
        tags: Tags::default(),
        notifiers: Vec::new(),
        regions: Default::default(),
        quorum: Default::default(),
        push_token: None,
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
    StoredMonitor { monitor, state, seq: 1, revision: 1 }
}

fn http(number: u64) -> Spec {
    let url = format!("https://www{number}.example.com/some/health/check?full=1");
    Spec::Http(HttpSpec::new(HttpUrl::parse(&url).expect("an address")))
}

fn watch() -> Watch {
    let alone = Cluster::new(NodeId::new(WALL, [1; 10]), true, Duration::from_secs(15));
    Watch::new(WALL, 512, Vec::new(), Arc::new(alone))
}

/// Lets time pass, and takes what falls due in each shard on the way.
async fn pass(watch: &Watch, span: Duration) -> Vec<Job> {
    let until = watch.ticker.now() + u64::try_from(span.as_millis()).expect("short");
    let mut jobs = Vec::new();
    loop {
        let next = (0..watch.shards.len()).filter_map(|n| watch.expire(n, WALL, &mut jobs)).min();
        let now = watch.ticker.now();
        if now >= until {
            return jobs;
        }
        let step = next.map_or(until, |next| next.clamp(now + 1, until)) - now;
        tokio::time::advance(Duration::from_millis(step)).await;
    }
}

fn failed() -> Seen {
    Seen::Observation(Observation::down(Evidence::Refused, "connection refused"))
}

#[tokio::test(start_paused = true)]
async fn a_check_falls_due_once_an_interval_and_not_while_one_is_under_way() {
    let watch = watch();
    watch.configure(stored(1, http(1), 60), Arrival::Saved);
    let jobs = pass(&watch, Duration::from_secs(1)).await;
    assert_eq!(jobs.len(), 1, "the first within a second");
    assert_eq!(pass(&watch, Duration::from_secs(600)).await.len(), 0, "it is still under way");
    watch.finish(&jobs[0], Seen::Observation(Observation::up(Duration::ZERO, "200 OK")), WALL);
    for _ in 0..10 {
        let jobs = pass(&watch, Duration::from_secs(60)).await;
        assert_eq!(jobs.len(), 1);
        watch.finish(&jobs[0], Seen::Observation(Observation::up(Duration::ZERO, "200 OK")), WALL);
    }
}

#[tokio::test(start_paused = true)]
async fn a_failure_is_looked_at_again_soon() {
    let watch = watch();
    watch.configure(stored(1, http(1), 3_600), Arrival::Saved);
    let first = pass(&watch, Duration::from_secs(1)).await.remove(0);
    watch.finish(&first, failed(), WALL);
    assert_eq!(pass(&watch, Duration::from_millis(4_990)).await.len(), 0);
    let again = pass(&watch, Duration::from_millis(20)).await.remove(0);
    watch.finish(&again, failed(), WALL);
    assert_eq!(pass(&watch, Duration::from_secs(600)).await.len(), 0, "it is down by now");
}

#[tokio::test(start_paused = true)]
async fn what_was_seen_of_an_old_target_does_not_count() {
    let watch = watch();
    let before = stored(1, http(1), 60);
    watch.configure(before.clone(), Arrival::Saved);
    let job = pass(&watch, Duration::from_secs(1)).await.remove(0);
    let mut moved = stored(1, http(2), 60);
    moved.revision = 2;
    watch.configure(moved, Arrival::Saved);
    watch.configure(before, Arrival::Saved);
    watch.finish(&job, failed(), WALL);
    let next = pass(&watch, Duration::from_secs(1)).await.remove(0);
    let Begun { spec, .. } = watch.begin(&next).expect("the new target");
    assert_eq!(*spec, http(2), "and the older revision came too late");
    let shard = watch.shard(next.monitor).lock();
    assert_eq!(shard.entries.get(next.monitor).expect("watched").state.failing, None);
}

#[tokio::test(start_paused = true)]
async fn a_report_moves_the_deadline() {
    let watch = watch();
    let job = stored(1, Spec::Api(ApiSpec::default()), 60);
    let id = job.monitor.id;
    watch.configure(job, Arrival::Saved);
    let status = || watch.shard(id).lock().entries.get(id).expect("watched").state.status;
    let report = || Seen::Report(Report::parse("up").expect("known"));
    for _ in 0..100 {
        pass(&watch, Duration::from_secs(65)).await;
        assert_eq!(status(), Status::Up);
        watch.judge(id, None, report(), None, WALL).expect("watched");
    }
    pass(&watch, Duration::from_millis(65_990)).await;
    assert_eq!(status(), Status::Up);
    pass(&watch, Duration::from_millis(20)).await;
    assert_eq!(status(), Status::Down);
}

#[tokio::test(start_paused = true)]
async fn the_machine_sleeps_and_nothing_is_made_up_for() {
    let watch = watch();
    for number in 0..100 {
        watch.configure(stored(number, http(number), 1), Arrival::Resumed);
    }
    tokio::time::advance(Duration::from_secs(3_600)).await;
    let mut jobs = Vec::new();
    for shard in 0..watch.shards.len() {
        watch.expire(shard, WALL, &mut jobs);
    }
    assert_eq!(jobs.len(), 100, "one each, not one for each second");
}

#[tokio::test(start_paused = true)]
async fn time_in_which_we_stood_still_is_nobodys_silence() {
    let watch = watch();
    let job = stored(1, Spec::Api(ApiSpec::default()), 60);
    let id = job.monitor.id;
    watch.configure(job, Arrival::Saved);
    let status = || watch.shard(id).lock().entries.get(id).expect("watched").state.status;
    tokio::time::advance(Duration::from_secs(3_600)).await;
    pass(&watch, Duration::from_secs(65)).await;
    assert_eq!(status(), Status::Up);
    pass(&watch, Duration::from_secs(2)).await;
    assert_eq!(status(), Status::Down);
}

#[tokio::test(start_paused = true)]
async fn silence_counts_once_it_is_proven_that_it_could_have_been_broken() {
    let watch = watch();
    let job = stored(1, Spec::Api(ApiSpec::default()), 60);
    let id = job.monitor.id;
    watch.hearing.keep();
    watch.prove(watch.ticker.now());
    watch.configure(job, Arrival::Saved);
    let status = || watch.shard(id).lock().entries.get(id).expect("watched").state.status;
    pass(&watch, Duration::from_millis(66_500)).await;
    assert_eq!(status(), Status::Up, "nobody knows whether the store is there");
    watch.prove(watch.ticker.now());
    pass(&watch, Duration::from_millis(1)).await;
    assert_eq!(status(), Status::Down);
}

#[tokio::test(start_paused = true)]
async fn who_could_not_report_is_given_the_time_again() {
    let watch = watch();
    let job = stored(1, Spec::Api(ApiSpec::default()), 60);
    let id = job.monitor.id;
    watch.hearing.keep();
    watch.configure(job, Arrival::Saved);
    let status = || watch.shard(id).lock().entries.get(id).expect("watched").state.status;
    let gone = watch.ticker.now();
    watch.prove(gone);
    pass(&watch, Duration::from_secs(90)).await;
    watch.hear_again(gone);
    watch.prove(watch.ticker.now());
    pass(&watch, Duration::from_secs(65)).await;
    watch.prove(watch.ticker.now());
    assert_eq!(status(), Status::Up);
    pass(&watch, Duration::from_secs(2)).await;
    watch.prove(watch.ticker.now());
    pass(&watch, Duration::from_millis(1)).await;
    assert_eq!(status(), Status::Down, "nobody reported after that, either");
}

#[tokio::test(start_paused = true)]
async fn what_another_node_found_out_meanwhile_is_taken_over() {
    let watch = watch();
    let mut known = stored(1, http(1), 60);
    known.seq = 100;
    let id = known.monitor.id;
    watch.configure(known.clone(), Arrival::Resumed);
    let mut newer = known.clone();
    newer.seq = 101;
    newer.state.status = Status::Down;
    let told = |watch: &Watch| {
        let monitors = watch.shard(id).lock();
        let entry = monitors.entries.get(id).expect("watched");
        (entry.seq, entry.state.status)
    };
    watch.configure(newer, Arrival::Resumed);
    assert_eq!(told(&watch), (101, Status::Down));
    watch.configure(known, Arrival::Resumed);
    assert_eq!(told(&watch), (101, Status::Down), "what is older came too late");
}

#[tokio::test(start_paused = true)]
async fn a_check_from_before_a_slot_went_and_came_back_does_not_count() {
    let watch = watch();
    let before = stored(1, http(1), 60);
    let id = before.monitor.id;
    watch.configure(before, Arrival::Saved);
    let job = pass(&watch, Duration::from_secs(1)).await.remove(0);
    watch.drop_slots(&HashSet::from([Slot::of(id)]));
    watch.configure(stored(1, http(2), 60), Arrival::Saved);
    assert!(watch.begin(&job).is_none());
    watch.finish(&job, failed(), WALL);
    let monitors = watch.shard(id).lock();
    assert_eq!(monitors.entries.get(id).expect("watched").state.failing, None);
}

#[test]
fn a_monitor_takes_less_than_a_kibibyte() {
    const COUNT: u64 = 100_000;
    let resident = || {
        let statm = std::fs::read_to_string("/proc/self/statm").expect("Linux");
        let pages = statm.split(' ').nth(1).and_then(|pages| pages.parse::<u64>().ok());
        pages.expect("a number") * 4_096
    };
    let watch = watch();
    let before = resident();
    for number in 0..COUNT {
        watch.configure(stored(number, http(number), 60), Arrival::Resumed);
    }
    let each = (resident() - before) / COUNT;
    assert_eq!(watch.len(), 100_000);
    assert!(each < 1_024, "{each} bytes each");
    println!("{each} bytes each");
}
