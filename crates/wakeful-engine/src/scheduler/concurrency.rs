//! Limits how many checks run concurrently: in total, per team and per target host. Other
//! checks wait, first come first served within their team, and the team with the fewest
//! running checks is next: a team whose targets hang cannot delay another team.
//!
//! A host gets four checks at a time. A check that takes longer than a quarter of a second
//! no longer counts, because otherwise a single hanging page would delay the checks of its
//! healthy neighbors.

use std::collections::{BTreeSet, HashMap, VecDeque};
use wakeful_core::id::{MonitorId, TeamId};

const MAX_PER_HOST: usize = 4;
const SLOW_CHECK_MS: u64 = 250;

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
#[derive(Debug)]
pub(super) struct RunPermit {
    pub(super) job: Job,
    started: u64,
}

pub(super) struct ConcurrencyLimiter {
    max_running: usize,
    running: usize,
    teams: HashMap<TeamId, TeamQueue>,
    /// The teams with waiting jobs, by their number of running jobs.
    ready_teams: BTreeSet<(usize, TeamId)>,
    hosts: HashMap<u64, HostQueue>,
    /// How many jobs wait for their host.
    waiting_for_host: usize,
}

#[derive(Default)]
struct TeamQueue {
    running: usize,
    waiting: VecDeque<Job>,
}

#[derive(Default)]
struct HostQueue {
    /// When the counted jobs were started, oldest first.
    started: VecDeque<u64>,
    waiting: VecDeque<Job>,
}

impl ConcurrencyLimiter {
    pub(super) fn new(max_running: usize) -> Self {
        let max_running = max_running.max(1);
        Self {
            max_running,
            running: 0,
            teams: HashMap::new(),
            ready_teams: BTreeSet::new(),
            hosts: HashMap::new(),
            waiting_for_host: 0,
        }
    }

    /// Queues a job; jobs that may start now are added to `start`.
    pub(super) fn submit(&mut self, job: Job, now: u64, start: &mut Vec<RunPermit>) {
        self.enqueue(job);
        self.admit(now, start);
    }

    /// Notes that a job has finished.
    pub(super) fn release(&mut self, permit: &RunPermit, now: u64, start: &mut Vec<RunPermit>) {
        let Job { team, host, .. } = permit.job;
        self.running -= 1;
        self.change(team, |team| team.running -= 1);
        if let Some(host) = self.hosts.get_mut(&host)
            && let Some(index) = host.started.iter().position(|at| *at == permit.started)
        {
            host.started.remove(index);
        }
        self.requeue_host(host, now);
        self.admit(now, start);
    }

    /// Releases jobs that wait for a host whose running jobs have become slow.
    pub(super) fn release_hosts(&mut self, now: u64, start: &mut Vec<RunPermit>) {
        let waiting: Vec<u64> = self
            .hosts
            .iter()
            .filter(|(_, host)| !host.waiting.is_empty())
            .map(|(key, _)| *key)
            .collect();
        for host in waiting {
            self.requeue_host(host, now);
        }
        self.admit(now, start);
    }

    /// Whether jobs wait for their host, so that `release_hosts` has something to do.
    pub(super) fn has_host_queue(&self) -> bool {
        self.waiting_for_host > 0
    }

    /// Moves jobs that wait for a host back into their team's queue as its places free up.
    fn requeue_host(&mut self, key: u64, now: u64) {
        let Some(host) = self.hosts.get_mut(&key) else { return };
        let free = MAX_PER_HOST.saturating_sub(host.count(now));
        let called: Vec<Job> = (0..free).map_while(|_| host.waiting.pop_front()).collect();
        if host.started.is_empty() && host.waiting.is_empty() {
            self.hosts.remove(&key);
        }
        self.waiting_for_host -= called.len();
        for job in called.into_iter().rev() {
            self.change(job.team, |team| team.waiting.push_front(job));
        }
    }

    fn enqueue(&mut self, job: Job) {
        self.change(job.team, |team| team.waiting.push_back(job));
    }

    fn admit(&mut self, now: u64, start: &mut Vec<RunPermit>) {
        while self.running < self.max_running {
            let Some((running, id)) = self.ready_teams.first().copied() else { return };
            if !self.may_run_more(running) {
                return;
            }
            let mut next = None;
            self.change(id, |team| next = team.waiting.pop_front());
            let Some(job) = next else { continue };
            let host = self.hosts.entry(job.host).or_default();
            if host.count(now) >= MAX_PER_HOST {
                host.waiting.push_back(job);
                self.waiting_for_host += 1;
                continue;
            }
            host.started.push_back(now);
            self.running += 1;
            self.change(id, |team| team.running += 1);
            start.push(RunPermit { job, started: now });
        }
    }

    /// Whether a team with this many running jobs may run another: it leaves a quarter of
    /// what others have left to it, so that several teams whose targets hang still leave
    /// room for others.
    fn may_run_more(&self, running: usize) -> bool {
        running == 0 || running < 3 * (self.max_running - self.running)
    }

    /// Changes a team and its place among the ready ones.
    fn change(&mut self, id: TeamId, change: impl FnOnce(&mut TeamQueue)) {
        let team = self.teams.entry(id).or_default();
        self.ready_teams.remove(&(team.running, id));
        change(team);
        if !team.waiting.is_empty() {
            self.ready_teams.insert((team.running, id));
        }
        if team.running == 0 && team.waiting.is_empty() {
            self.teams.remove(&id);
        }
    }
}

impl HostQueue {
    /// How many count as running: those that are not slow.
    fn count(&mut self, now: u64) -> usize {
        while self.started.front().is_some_and(|at| *at + SLOW_CHECK_MS <= now) {
            self.started.pop_front();
        }
        self.started.len()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
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
    fn a_host_gets_four_checks_at_a_time() {
        let mut limiter = ConcurrencyLimiter::new(100);
        let mut running = submit_all(&mut limiter, 1, [7; 10]);
        assert_eq!((running.len(), limiter.has_host_queue()), (4, true));
        let other = submit_all(&mut limiter, 1, [8]);
        assert_eq!(other.len(), 1, "another host is not delayed");
        let mut done = 0;
        while let Some(permit) = running.pop() {
            done += 1;
            limiter.release(&permit, 1, &mut running);
            assert!(running.len() <= 4);
        }
        assert_eq!((done, limiter.has_host_queue()), (10, false));
    }

    #[test]
    fn a_slow_check_does_not_delay_others_of_its_host() {
        let mut limiter = ConcurrencyLimiter::new(100);
        let hanging = submit_all(&mut limiter, 1, [7; 6]);
        assert_eq!(hanging.len(), 4);
        let mut start = Vec::new();
        limiter.release_hosts(SLOW_CHECK_MS - 1, &mut start);
        assert!(start.is_empty());
        limiter.release_hosts(SLOW_CHECK_MS, &mut start);
        assert_eq!((start.len(), limiter.has_host_queue()), (2, false));
        for permit in hanging.iter().chain(&start) {
            limiter.release(permit, SLOW_CHECK_MS, &mut Vec::new());
        }
        assert!(limiter.hosts.is_empty());
    }
}
