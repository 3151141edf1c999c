//! Limits how many checks run concurrently: in total, per team and per target host. Other
//! checks wait, first come first served within their team, and the team with the fewest
//! running checks is next; of those with equally many, the one that has waited the longest
//! for its turn. When all places are taken, a check that has run for a second gives way to a
//! team that has far fewer, and is queued again, behind the teams that wait: teams whose
//! targets hang, however many, cannot keep another team from its turn.
//!
//! A host gets four checks at a time, and the teams that check it take turns. A team that has
//! no check of the host running need not wait for others: however many teams check a host,
//! none delays another. A check that takes longer than a quarter of a second no longer counts,
//! because otherwise a single hanging page would delay the checks of its healthy neighbors.

use std::cmp::Reverse;
use std::collections::hash_map::{Entry, HashMap};
use std::collections::{BTreeSet, VecDeque};
use std::sync::Arc;
use tokio::sync::Notify;
use wakeful_core::id::{MonitorId, TeamId};

const MAX_PER_HOST: usize = 4;
const SLOW_CHECK_MS: u64 = 250;
/// How long a check runs before it may have to give way.
const MIN_RUN_MS: u64 = 1_000;
/// How many times as many running checks the team has that must give way.
const GIVE_WAY_FACTOR: usize = 4;
/// The shortest time between two searches for a check that gives way, if there was none.
const SEARCH_INTERVAL_MS: u64 = 50;
/// The capacity of a queue that is used again.
const MAX_SPARE: usize = 64;

/// A check to be run.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Job {
    pub(super) monitor: MonitorId,
    pub(super) team: TeamId,
    /// A hash of the target's host and port.
    pub(super) host: u64,
    /// When it was due, on the scheduler's clock.
    pub(super) due: u64,
    /// The version of the monitor's target; the result for an older one is dropped.
    pub(super) target_version: u32,
}

/// A running job; it must be returned with `release`.
#[derive(Clone, Debug)]
pub(super) struct RunPermit {
    pub(super) job: Job,
    /// Notified when the job has to stop.
    pub(super) stop: Arc<Notify>,
    started: u64,
    /// Counts the jobs that were started.
    number: u64,
}

pub(super) struct ConcurrencyLimiter {
    max_running: usize,
    running: usize,
    teams: HashMap<TeamId, TeamQueue>,
    /// The teams with waiting jobs, by their number of running jobs and their turns.
    ready_teams: BTreeSet<(usize, u64, TeamId)>,
    /// Whether so many jobs are running that one may soon have to give way.
    is_crowded: bool,
    /// The teams with running jobs, by how many they have; of equals, the one with the oldest
    /// job last. Empty unless it is crowded.
    busy_teams: BTreeSet<(usize, Reverse<u64>, TeamId)>,
    /// Counts the turns that teams were given.
    turns: u64,
    hosts: HashMap<u64, HostQueue>,
    /// How many jobs wait for their host.
    waiting_for_host: usize,
    /// When to look again for a job that gives way.
    next_search: u64,
    started_jobs: u64,
    /// The empty queues of a team and of a host that have just become idle. Usually one check runs
    /// at a time, and the next one uses their memory.
    spare_team: TeamQueue,
    spare_host: HostQueue,
}

#[derive(Default)]
struct TeamQueue {
    /// In the order of their start, so of their numbers.
    running: VecDeque<RunPermit>,
    waiting: VecDeque<Job>,
    /// The team's turn: a number that is larger, the later the team began to wait for it.
    turn: u64,
}

impl TeamQueue {
    /// The place among the busy teams, if any job is running.
    fn load(&self, id: TeamId) -> Option<(usize, Reverse<u64>, TeamId)> {
        Some((self.running.len(), Reverse(self.running.front()?.number), id))
    }

    fn is_small(&self) -> bool {
        self.running.capacity().max(self.waiting.capacity()) <= MAX_SPARE
    }

    /// Removes a running job; false if there is none such.
    fn remove_running(&mut self, number: u64) -> bool {
        let found = self.running.binary_search_by_key(&number, |permit| permit.number);
        found.is_ok_and(|index| self.running.remove(index).is_some())
    }
}

#[derive(Default)]
struct HostQueue {
    /// When the counted jobs were started, and by which team; oldest first.
    started: VecDeque<(u64, TeamId)>,
    waiting: HashMap<TeamId, VecDeque<Job>>,
    /// The teams with waiting jobs, in the order of their turns.
    turns: VecDeque<TeamId>,
}

impl ConcurrencyLimiter {
    pub(super) fn new(max_running: usize) -> Self {
        let max_running = max_running.max(1);
        Self {
            max_running,
            running: 0,
            teams: HashMap::new(),
            ready_teams: BTreeSet::new(),
            is_crowded: false,
            busy_teams: BTreeSet::new(),
            turns: 0,
            hosts: HashMap::new(),
            waiting_for_host: 0,
            next_search: 0,
            started_jobs: 0,
            spare_team: TeamQueue::default(),
            spare_host: HostQueue::default(),
        }
    }

    /// Queues a job; jobs that may start now are added to `start`.
    pub(super) fn submit(&mut self, job: Job, now: u64, start: &mut Vec<RunPermit>) {
        let running = self.teams.get(&job.team).map_or(0, |team| team.running.len());
        let is_free = self.running < self.max_running && self.may_run_more(running);
        if is_free && self.ready_teams.is_empty() {
            // It need not wait for a turn, as nobody else does.
            self.begin(job, now, start);
            return;
        }
        self.change(job.team, |team| team.waiting.push_back(job));
        self.admit(now, start);
    }

    /// Notes that a job has finished or stopped. One that gave way is no longer counted.
    pub(super) fn release(&mut self, permit: &RunPermit, now: u64, start: &mut Vec<RunPermit>) {
        let Job { team, host, .. } = permit.job;
        if !self.remove_running(team, permit.number) {
            return;
        }
        let mut idle = None;
        if let Some(host) = self.hosts.get_mut(&host) {
            let counted = (permit.started, team);
            if let Some(index) = host.started.iter().position(|job| *job == counted) {
                host.started.remove(index);
                idle = Some(team);
            }
        }
        self.requeue_host(host, now, idle);
        self.admit(now, start);
    }

    /// Stops the running job of a monitor.
    pub(super) fn stop(&self, monitor: MonitorId) {
        let running = self.teams.values().flat_map(|team| &team.running);
        for permit in running.filter(|permit| permit.job.monitor == monitor) {
            permit.stop.notify_one();
        }
    }

    /// Stops all running jobs.
    pub(super) fn stop_all(&self) {
        self.teams.values().flat_map(|team| &team.running).for_each(|job| job.stop.notify_one());
    }

    /// Removes a job that waits for its team's turn.
    pub(super) fn cancel_waiting(&mut self, team: TeamId, host: u64) {
        self.change(team, |team| team.waiting.retain(|job| job.host != host));
    }

    /// Starts jobs that wait for a host whose running jobs have become slow, or for a job
    /// that gives way.
    pub(super) fn release_waiting(&mut self, now: u64, start: &mut Vec<RunPermit>) {
        let waiting: Vec<u64> = self
            .hosts
            .iter()
            .filter(|(_, host)| !host.waiting.is_empty())
            .map(|(key, _)| *key)
            .collect();
        for host in waiting {
            self.requeue_host(host, now, None);
        }
        self.admit(now, start);
    }

    /// Whether `release_waiting` may have something to do.
    pub(super) fn has_waiting(&self) -> bool {
        self.waiting_for_host > 0
            || (self.running >= self.max_running && !self.ready_teams.is_empty())
    }

    /// Moves jobs that wait for a host back into their team's queue as its places free up,
    /// and one of each team that has become idle, if it has none running there.
    fn requeue_host(&mut self, key: u64, now: u64, idle: Option<TeamId>) {
        let Some(host) = self.hosts.get_mut(&key) else { return };
        if host.waiting.is_empty() {
            // As usual.
            host.forget_slow(now, |_| ());
            self.remove_idle_host(key);
            return;
        }
        let mut idle = Vec::from_iter(idle);
        host.forget_slow(now, |team| idle.push(team));
        let free = MAX_PER_HOST.saturating_sub(host.started.len());
        let mut called: Vec<Job> = (0..free).map_while(|_| host.next()).collect();
        for team in idle {
            let is_running = host.is_running(team) || called.iter().any(|job| job.team == team);
            called.extend((!is_running).then(|| host.next_of(team)).flatten());
        }
        self.remove_idle_host(key);
        self.waiting_for_host -= called.len();
        for job in called.into_iter().rev() {
            self.change(job.team, |team| team.waiting.push_front(job));
        }
    }

    fn remove_idle_host(&mut self, key: u64) {
        if let Entry::Occupied(host) = self.hosts.entry(key)
            && host.get().started.is_empty()
            && host.get().waiting.is_empty()
        {
            let idle = Some(host.remove()).filter(HostQueue::is_small);
            self.spare_host = idle.unwrap_or_default();
        }
    }

    fn admit(&mut self, now: u64, start: &mut Vec<RunPermit>) {
        while let Some((running, _, id)) = self.ready_teams.first().copied() {
            if self.running >= self.max_running {
                if !self.make_way(running, now) {
                    return;
                }
            } else if !self.may_run_more(running) {
                return;
            }
            let mut next = None;
            self.change(id, |team| next = team.waiting.pop_front());
            if let Some(job) = next {
                self.begin(job, now, start);
            }
        }
    }

    /// Starts a job, unless it has to wait for its host.
    fn begin(&mut self, job: Job, now: u64, start: &mut Vec<RunPermit>) {
        let spare = &mut self.spare_host;
        let host = self.hosts.entry(job.host).or_insert_with(|| std::mem::take(spare));
        if host.must_wait(job.team, now) {
            host.wait(job);
            self.waiting_for_host += 1;
            metrics::counter!("wakeful_check_waits_total", "for" => "host").increment(1);
            return;
        }
        host.started.push_back((now, job.team));
        self.running += 1;
        self.started_jobs += 1;
        let number = self.started_jobs;
        let permit = RunPermit { job, stop: Arc::default(), started: now, number };
        start.push(permit.clone());
        let turn = self.next_turn();
        self.change(job.team, |team| {
            team.turn = turn;
            team.running.push_back(permit);
        });
        self.note_crowd();
    }

    /// Lists the busy teams while more than half of the places are taken, and until fewer than a
    /// quarter are: usually, no check needs the list.
    fn note_crowd(&mut self) {
        if !self.is_crowded && self.running * 2 > self.max_running {
            self.is_crowded = true;
            self.busy_teams = self.teams.iter().filter_map(|(id, team)| team.load(*id)).collect();
        } else if self.is_crowded && self.running * 4 < self.max_running {
            self.is_crowded = false;
            self.busy_teams.clear();
        }
    }

    /// Stops a job for a team with `running` jobs and queues it again. Its team waits for its
    /// next turn like one that has just begun to wait.
    fn make_way(&mut self, running: usize, now: u64) -> bool {
        if now < self.next_search {
            return false;
        }
        let Some(permit) = self.job_to_stop(running, now) else {
            self.next_search = now + SEARCH_INTERVAL_MS;
            return false;
        };
        permit.stop.notify_one();
        let (job, turn) = (permit.job, self.next_turn());
        self.remove_running(job.team, permit.number);
        self.change(job.team, |team| {
            team.turn = turn;
            team.waiting.push_back(job);
        });
        true
    }

    /// The oldest job of the teams with the most running ones, if it has run for a while and
    /// they have far more than `running`. If it has not, those of teams with fewer jobs may
    /// have. A step skips all teams with equally many, so there are few steps.
    fn job_to_stop(&self, running: usize, now: u64) -> Option<RunPermit> {
        let mut busiest = self.busy_teams.last();
        while let Some((jobs, _, id)) = busiest {
            if *jobs <= running * GIVE_WAY_FACTOR {
                return None;
            }
            let permit = self.teams.get(id)?.running.front()?;
            if permit.started + MIN_RUN_MS <= now {
                return Some(permit.clone());
            }
            let fewer = (*jobs, Reverse(u64::MAX), TeamId::from(uuid::Uuid::nil()));
            busiest = self.busy_teams.range(..fewer).next_back();
        }
        None
    }

    fn next_turn(&mut self) -> u64 {
        self.turns += 1;
        self.turns
    }

    /// Removes a running job of a team; false if there is none such.
    fn remove_running(&mut self, id: TeamId, number: u64) -> bool {
        let mut removed = false;
        self.change(id, |team| removed = team.remove_running(number));
        self.running -= usize::from(removed);
        self.note_crowd();
        removed
    }

    /// Whether a team with this many running jobs may run another: it leaves a quarter of
    /// what others have left to it, so that several teams whose targets hang still leave
    /// room for others.
    fn may_run_more(&self, running: usize) -> bool {
        running == 0 || running < 3 * (self.max_running - self.running)
    }

    /// Changes a team and its places among the ready and the busy ones. A team that begins to
    /// wait gets a new turn.
    fn change(&mut self, id: TeamId, change: impl FnOnce(&mut TeamQueue)) {
        let spare = &mut self.spare_team;
        let team = self.teams.entry(id).or_insert_with(|| std::mem::take(spare));
        let is_crowded = self.is_crowded;
        let load_of = |team: &TeamQueue| is_crowded.then(|| team.load(id)).flatten();
        let (was_ready, load) = (!team.waiting.is_empty(), load_of(team));
        if was_ready {
            self.ready_teams.remove(&(team.running.len(), team.turn, id));
        }
        change(team);
        if !team.waiting.is_empty() {
            if !was_ready {
                self.turns += 1;
                team.turn = self.turns;
            }
            self.ready_teams.insert((team.running.len(), team.turn, id));
        }
        let new_load = load_of(team);
        if new_load != load {
            if let Some(load) = load {
                self.busy_teams.remove(&load);
            }
            self.busy_teams.extend(new_load);
        }
        if team.running.is_empty() && team.waiting.is_empty() {
            let idle = self.teams.remove(&id).filter(TeamQueue::is_small);
            self.spare_team = idle.unwrap_or_default();
        }
    }
}

impl HostQueue {
    fn is_small(&self) -> bool {
        self.started.capacity().max(self.waiting.capacity()) <= MAX_SPARE
    }

    fn wait(&mut self, job: Job) {
        let of_team = self.waiting.entry(job.team).or_default();
        if of_team.is_empty() {
            self.turns.push_back(job.team);
        }
        of_team.push_back(job);
    }

    /// The first waiting job of the team whose turn it is.
    fn next(&mut self) -> Option<Job> {
        let team = *self.turns.front()?;
        self.next_of(team)
    }

    /// The first waiting job of a team, which then has its next turn last.
    fn next_of(&mut self, team: TeamId) -> Option<Job> {
        let of_team = self.waiting.get_mut(&team)?;
        let job = of_team.pop_front();
        let turn = self.turns.iter().position(|other| *other == team)?;
        self.turns.remove(turn);
        if of_team.is_empty() {
            self.waiting.remove(&team);
        } else {
            self.turns.push_back(team);
        }
        job
    }

    /// Whether the host has its four checks, one of them by this team.
    fn must_wait(&self, team: TeamId, now: u64) -> bool {
        let counted = || self.started.iter().rev().take_while(|(at, _)| *at + SLOW_CHECK_MS > now);
        counted().count() >= MAX_PER_HOST && counted().any(|(_, other)| *other == team)
    }

    fn is_running(&self, team: TeamId) -> bool {
        self.started.iter().any(|(_, other)| *other == team)
    }

    /// Slow jobs no longer count; `forgotten` gets their teams.
    fn forget_slow(&mut self, now: u64, mut forgotten: impl FnMut(TeamId)) {
        while let Some((_, team)) = self.started.pop_front_if(|(at, _)| *at + SLOW_CHECK_MS <= now)
        {
            forgotten(team);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use futures_util::FutureExt as _;
    use wakeful_core::time::Millis;

    fn team(number: u8) -> TeamId {
        TeamId::new(Millis(0), [number; 10])
    }

    fn job(team_number: u8, host: u64) -> Job {
        let monitor = MonitorId::new(Millis(0), [team_number; 10]);
        Job { monitor, team: team(team_number), host, due: 0, target_version: 0 }
    }

    fn submit_all(
        limiter: &mut ConcurrencyLimiter,
        team: u8,
        hosts: impl IntoIterator<Item = u64>,
    ) -> Vec<RunPermit> {
        let mut start = Vec::new();
        for host in hosts {
            limiter.submit(job(team, host), 0, &mut start);
        }
        start
    }

    #[test]
    fn no_more_than_the_limit_run_at_a_time_and_all_run() {
        let mut limiter = ConcurrencyLimiter::new(8);
        let mut running = submit_all(&mut limiter, 1, 0..50);
        running.extend(submit_all(&mut limiter, 2, 100..150));
        let mut done = 0;
        while let Some(permit) = running.pop() {
            assert!(limiter.running <= 8);
            done += 1;
            limiter.release(&permit, 0, &mut running);
        }
        assert_eq!((done, limiter.running), (100, 0));
        assert!(
            limiter.teams.is_empty() && limiter.hosts.is_empty() && limiter.ready_teams.is_empty()
        );
        assert!(limiter.busy_teams.is_empty());
    }

    #[test]
    fn a_team_that_hangs_leaves_room_for_another() {
        let mut limiter = ConcurrencyLimiter::new(8);
        assert_eq!(submit_all(&mut limiter, 1, 0..50).len(), 6);
        assert_eq!(submit_all(&mut limiter, 2, 100..150).len(), 2);
    }

    #[test]
    fn several_teams_that_hang_leave_room_for_another() {
        let mut limiter = ConcurrencyLimiter::new(512);
        let held = (1..=4).map(|team| submit_all(&mut limiter, team, 0..600).len());
        assert_eq!(held.collect::<Vec<_>>(), [384, 96, 24, 6]);
        assert_eq!(submit_all(&mut limiter, 5, [9_999]).len(), 1);
    }

    #[test]
    fn a_free_slot_goes_to_the_team_with_the_fewest_running() {
        let mut limiter = ConcurrencyLimiter::new(8);
        let mut slow = submit_all(&mut limiter, 1, 0..50);
        let quick = submit_all(&mut limiter, 2, 100..150);
        let mut start = Vec::new();
        limiter.release(&slow.pop().expect("six run"), 0, &mut start);
        limiter.release(&quick[0], 0, &mut start);
        assert!(start.iter().all(|permit| permit.job.team == team(2)));
        assert_eq!(start.len(), 2);
    }

    #[test]
    fn teams_that_take_every_place_give_way_to_others() {
        let mut limiter = ConcurrencyLimiter::new(512);
        let mut hanging = Vec::new();
        for team in 1..=6 {
            hanging.extend(submit_all(&mut limiter, team, 0..600));
        }
        assert_eq!(hanging.len(), 512);
        assert!(submit_all(&mut limiter, 9, 9_000..9_010).is_empty(), "all places are taken");
        assert!(limiter.has_waiting());
        let mut start = Vec::new();
        limiter.release_waiting(MIN_RUN_MS - 1, &mut start);
        assert!(start.is_empty(), "none has run long enough");
        limiter.release_waiting(MIN_RUN_MS + SEARCH_INTERVAL_MS, &mut start);
        let started = start.iter().filter(|permit| permit.job.team == team(9)).count();
        assert_eq!((started, limiter.running), (10, 512));
        // Those that gave way are stopped, are not counted twice, and run again later.
        let stopped =
            hanging.iter().filter(|permit| permit.stop.notified().now_or_never().is_some());
        let stopped: Vec<_> = stopped.cloned().collect();
        assert!(stopped.len() >= 10 && stopped.iter().all(|permit| permit.job.team == team(1)));
        let mut again = Vec::new();
        for permit in &stopped {
            limiter.release(permit, 2_000, &mut again);
        }
        assert_eq!(limiter.running, 512);
        let mut done = 0;
        let mut running: Vec<_> = hanging.into_iter().chain(start).collect();
        while let Some(permit) = running.pop() {
            let before = limiter.running;
            limiter.release(&permit, 2_000, &mut running);
            done += usize::from(limiter.running < before || !running.is_empty());
        }
        assert!(done > 0);
        assert!(limiter.teams.is_empty() && limiter.hosts.is_empty(), "all of them ended");
    }

    /// Teams in the order of their creation, as ids are ordered by time.
    fn nth_team(number: i64) -> TeamId {
        TeamId::new(Millis(number), [0; 10])
    }

    fn nth_job(number: i64, host: u64) -> Job {
        Job { team: nth_team(number), ..job(0, host) }
    }

    #[test]
    fn more_older_teams_than_places_whose_targets_hang_leave_a_younger_team_its_turn() {
        const TEAMS: i64 = 620;
        let mut limiter = ConcurrencyLimiter::new(512);
        let mut start = Vec::new();
        for number in 0..TEAMS {
            for monitor in 0..2 {
                limiter.submit(nth_job(number, 2 * number.unsigned_abs() + monitor), 0, &mut start);
            }
        }
        assert_eq!(start.len(), 512);
        let victim = nth_job(9_999, 99_999);
        let mut waited = Vec::new();
        for round in 1..=5 {
            let due = round * 10_000;
            limiter.submit(victim, due, &mut start);
            // The others' targets hang: nothing is released but the victim's check.
            let started = (due..due + 10_000).step_by(50).find_map(|now| {
                let mut start = Vec::new();
                limiter.release_waiting(now, &mut start);
                let of_victim = start.into_iter().find(|permit| permit.job == victim);
                of_victim.map(|permit| (now, permit))
            });
            let (now, permit) = started.expect("it gets its turn");
            waited.push(now - due);
            limiter.release(&permit, now, &mut start);
        }
        // All others have one turn before it at the most: 620 of them, 512 a second.
        assert!(waited.iter().all(|waited| *waited <= 2 * MIN_RUN_MS), "{waited:?}");
    }

    #[test]
    fn every_team_has_its_turn_before_any_has_two() {
        let mut limiter = ConcurrencyLimiter::new(4);
        let mut start = Vec::new();
        for number in (0..12).rev() {
            limiter.submit(nth_job(number, number.unsigned_abs()), 0, &mut start);
        }
        for second in 1..=2 {
            limiter.release_waiting(second * MIN_RUN_MS, &mut start);
        }
        let teams: Vec<TeamId> = start.iter().map(|permit| permit.job.team).collect();
        assert_eq!(teams, (0..12).rev().map(nth_team).collect::<Vec<_>>());
    }

    #[test]
    fn a_busy_team_whose_checks_have_just_begun_does_not_protect_older_ones_of_others() {
        let mut limiter = ConcurrencyLimiter::new(8);
        let mut hanging = Vec::new();
        for number in 0..5 {
            limiter.submit(nth_job(number, number.unsigned_abs()), 0, &mut hanging);
        }
        let mut busy = Vec::new();
        for host in 100..103 {
            limiter.submit(nth_job(50, host), MIN_RUN_MS, &mut busy);
        }
        assert_eq!((hanging.len(), busy.len()), (5, 3));
        let mut start = Vec::new();
        limiter.submit(nth_job(60, 200), MIN_RUN_MS + 1, &mut start);
        assert_eq!(start.first().map(|permit| permit.job.team), Some(nth_team(60)));
        assert!(busy.iter().all(|permit| permit.stop.notified().now_or_never().is_none()));
        assert!(hanging[0].stop.notified().now_or_never().is_some());
    }

    #[test]
    fn a_busy_team_does_not_give_way_to_one_that_is_about_as_busy() {
        let mut limiter = ConcurrencyLimiter::new(8);
        submit_all(&mut limiter, 1, 0..50);
        submit_all(&mut limiter, 2, 100..150);
        let mut start = Vec::new();
        limiter.release_waiting(60_000, &mut start);
        assert!(start.is_empty(), "{start:?}");
    }

    #[test]
    fn the_check_of_a_deleted_monitor_stops() {
        let mut limiter = ConcurrencyLimiter::new(8);
        let running = submit_all(&mut limiter, 1, [7]);
        limiter.stop(running[0].job.monitor);
        assert!(running[0].stop.notified().now_or_never().is_some());
    }

    #[test]
    fn all_running_checks_stop_at_shutdown() {
        let mut limiter = ConcurrencyLimiter::new(8);
        let mut running = submit_all(&mut limiter, 1, [7, 7, 8]);
        running.extend(submit_all(&mut limiter, 2, [7]));
        limiter.stop_all();
        let mut stopped = running.iter().map(|permit| permit.stop.notified().now_or_never());
        assert!(running.len() == 4 && stopped.all(|stopped| stopped.is_some()));
    }

    #[test]
    fn a_host_gets_four_checks_at_a_time() {
        let mut limiter = ConcurrencyLimiter::new(100);
        let mut running = submit_all(&mut limiter, 1, [7; 10]);
        assert_eq!((running.len(), limiter.has_waiting()), (4, true));
        let other = submit_all(&mut limiter, 1, [8]);
        assert_eq!(other.len(), 1, "another host is not delayed");
        let mut done = 0;
        while let Some(permit) = running.pop() {
            done += 1;
            limiter.release(&permit, 1, &mut running);
            assert!(running.len() <= 4);
        }
        assert_eq!((done, limiter.has_waiting()), (10, false));
    }

    #[test]
    fn the_teams_that_check_a_host_take_turns() {
        let mut limiter = ConcurrencyLimiter::new(100);
        let mut running = submit_all(&mut limiter, 1, [7; 1_000]);
        running.extend(submit_all(&mut limiter, 2, [7; 3]));
        assert_eq!(running.len(), 5, "the second team has one at once, two wait");
        let mut before = 0;
        while running.iter().filter(|permit| permit.job.team == team(2)).count() < 2 {
            before += 1;
            let permit = running.remove(0);
            limiter.release(&permit, 1, &mut running);
        }
        assert!(before <= 3, "after {before} checks of the other team");
    }

    #[test]
    fn many_teams_that_check_a_host_do_not_delay_another() {
        let mut limiter = ConcurrencyLimiter::new(500);
        let mut running = Vec::new();
        for team in 1..=40 {
            running.extend(submit_all(&mut limiter, team, [7; 20]));
        }
        assert_eq!(running.len(), 4 + 39, "four of the first team, one of each other");
        let victim = submit_all(&mut limiter, 99, [7, 7]);
        assert_eq!(victim.len(), 1, "at once");
        // The next one starts as soon as the first has finished, or has become slow.
        let mut start = Vec::new();
        limiter.release(&victim[0], 1, &mut start);
        assert_eq!(start.iter().filter(|permit| permit.job.team == team(99)).count(), 1);
        limiter.submit(job(99, 7), 2, &mut start);
        let mut slow = Vec::new();
        limiter.release_waiting(1 + SLOW_CHECK_MS, &mut slow);
        assert_eq!(slow.iter().filter(|permit| permit.job.team == team(99)).count(), 1);
        running.extend(start);
        running.extend(slow);
        let mut done = 1;
        while let Some(permit) = running.pop() {
            done += 1;
            limiter.release(&permit, 2 + SLOW_CHECK_MS, &mut running);
        }
        assert_eq!((done, limiter.has_waiting()), (803, false));
        assert!(limiter.teams.is_empty() && limiter.hosts.is_empty());
    }

    #[test]
    fn a_slow_check_does_not_delay_others_of_its_host() {
        let mut limiter = ConcurrencyLimiter::new(100);
        let hanging = submit_all(&mut limiter, 1, [7; 6]);
        assert_eq!(hanging.len(), 4);
        let mut start = Vec::new();
        limiter.release_waiting(SLOW_CHECK_MS - 1, &mut start);
        assert!(start.is_empty());
        limiter.release_waiting(SLOW_CHECK_MS, &mut start);
        assert_eq!((start.len(), limiter.has_waiting()), (2, false));
        for permit in hanging.iter().chain(&start) {
            limiter.release(permit, SLOW_CHECK_MS, &mut Vec::new());
        }
        assert!(limiter.hosts.is_empty());
    }
}
