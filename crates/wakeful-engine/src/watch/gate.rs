//! How many checks run at once: over all, per team, and per target host. What
//! finds no room waits, first come first served within its team, and the team
//! with the fewest running goes first: a team whose targets hang cannot keep
//! another one waiting.
//!
//! A host is asked four things at a time. One that keeps us waiting for a
//! quarter of a second no longer counts, or a single hanging page would hold
//! up the checks of its healthy neighbours.

use std::collections::{BTreeSet, HashMap, VecDeque};
use wakeful_core::id::{MonitorId, TeamId};

const PER_HOST: usize = 4;
/// Milliseconds.
const PATIENCE: u64 = 250;

/// One check that is to be made.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Job {
    pub(super) monitor: MonitorId,
    pub(super) team: TeamId,
    /// A hash of the host and port that are looked at.
    pub(super) host: u64,
    /// When it was due, on the watch's own clock.
    pub(super) due: u64,
    /// Which target of the monitor it is for: an older one is of no interest.
    pub(super) target: u32,
}

/// A job that runs: to be given back by `release`.
#[derive(Debug)]
pub(super) struct Pass {
    pub(super) job: Job,
    started: u64,
}

pub(super) struct Gate {
    most: usize,
    /// One team leaves room for others, who then need not wait for a time-out.
    most_of_a_team: usize,
    running: usize,
    teams: HashMap<TeamId, Team>,
    /// The teams with jobs that wait and room to run them, by what they run.
    lined_up: BTreeSet<(usize, TeamId)>,
    hosts: HashMap<u64, Host>,
    /// How many jobs wait for their host.
    held: usize,
}

#[derive(Default)]
struct Team {
    running: usize,
    waiting: VecDeque<Job>,
}

#[derive(Default)]
struct Host {
    /// When those that count were started, oldest first.
    started: VecDeque<u64>,
    waiting: VecDeque<Job>,
}

impl Gate {
    pub(super) fn new(most: usize) -> Self {
        let most = most.max(1);
        Self {
            most,
            most_of_a_team: most - most / 4,
            running: 0,
            teams: HashMap::new(),
            lined_up: BTreeSet::new(),
            hosts: HashMap::new(),
            held: 0,
        }
    }

    /// Takes a job in; what may start now is added to `start`.
    pub(super) fn enter(&mut self, job: Job, now: u64, start: &mut Vec<Pass>) {
        self.line_up(job);
        self.admit(now, start);
    }

    /// Takes note that a job has ended.
    pub(super) fn release(&mut self, pass: &Pass, now: u64, start: &mut Vec<Pass>) {
        let Job { team, host, .. } = pass.job;
        self.running -= 1;
        self.change(team, |team| team.running -= 1);
        if let Some(host) = self.hosts.get_mut(&host)
            && let Some(place) = host.started.iter().position(|at| *at == pass.started)
        {
            host.started.remove(place);
        }
        self.call(host, now);
        self.admit(now, start);
    }

    /// Lets in what waits for hosts whose time is up.
    pub(super) fn tick(&mut self, now: u64, start: &mut Vec<Pass>) {
        let waiting: Vec<u64> = self
            .hosts
            .iter()
            .filter(|(_, host)| !host.waiting.is_empty())
            .map(|(key, _)| *key)
            .collect();
        for host in waiting {
            self.call(host, now);
        }
        self.admit(now, start);
    }

    /// Whether jobs wait for their host, so that `tick` has something to do.
    pub(super) fn holds(&self) -> bool {
        self.held > 0
    }

    /// Moves jobs that wait for a host back into the line as its places free up.
    fn call(&mut self, key: u64, now: u64) {
        let Some(host) = self.hosts.get_mut(&key) else { return };
        let free = PER_HOST.saturating_sub(host.count(now));
        let called: Vec<Job> = (0..free).map_while(|_| host.waiting.pop_front()).collect();
        if host.started.is_empty() && host.waiting.is_empty() {
            self.hosts.remove(&key);
        }
        self.held -= called.len();
        for job in called.into_iter().rev() {
            self.change(job.team, |team| team.waiting.push_front(job));
        }
    }

    fn line_up(&mut self, job: Job) {
        self.change(job.team, |team| team.waiting.push_back(job));
    }

    fn admit(&mut self, now: u64, start: &mut Vec<Pass>) {
        while self.running < self.most {
            let Some((_, id)) = self.lined_up.first().copied() else { return };
            let mut next = None;
            self.change(id, |team| next = team.waiting.pop_front());
            let Some(job) = next else { continue };
            let host = self.hosts.entry(job.host).or_default();
            if host.count(now) >= PER_HOST {
                host.waiting.push_back(job);
                self.held += 1;
                continue;
            }
            host.started.push_back(now);
            self.running += 1;
            self.change(id, |team| team.running += 1);
            start.push(Pass { job, started: now });
        }
    }

    /// Changes a team and its place in the line.
    fn change(&mut self, id: TeamId, change: impl FnOnce(&mut Team)) {
        let team = self.teams.entry(id).or_default();
        self.lined_up.remove(&(team.running, id));
        change(team);
        if !team.waiting.is_empty() && team.running < self.most_of_a_team {
            self.lined_up.insert((team.running, id));
        }
        if team.running == 0 && team.waiting.is_empty() {
            self.teams.remove(&id);
        }
    }
}

impl Host {
    /// How many count as running: those that have not kept us waiting.
    fn count(&mut self, now: u64) -> usize {
        while self.started.front().is_some_and(|at| *at + PATIENCE <= now) {
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
        Job { monitor, team: team(team_number), host, due: 0, target: 0 }
    }

    fn enter(gate: &mut Gate, team: u8, hosts: impl IntoIterator<Item = u64>) -> Vec<Pass> {
        let mut start = Vec::new();
        for host in hosts {
            gate.enter(job(team, host), 0, &mut start);
        }
        start
    }

    #[test]
    fn no_more_than_the_limit_run_and_all_get_their_turn() {
        let mut gate = Gate::new(8);
        let mut running = enter(&mut gate, 1, 0..50);
        running.extend(enter(&mut gate, 2, 100..150));
        let mut done = 0;
        while let Some(pass) = running.pop() {
            assert!(gate.running <= 8);
            done += 1;
            gate.release(&pass, 0, &mut running);
        }
        assert_eq!((done, gate.running), (100, 0));
        assert!(gate.teams.is_empty() && gate.hosts.is_empty() && gate.lined_up.is_empty());
    }

    #[test]
    fn a_team_that_hangs_leaves_room_for_another() {
        let mut gate = Gate::new(8);
        assert_eq!(enter(&mut gate, 1, 0..50).len(), 6);
        assert_eq!(enter(&mut gate, 2, 100..150).len(), 2);
    }

    #[test]
    fn a_free_place_goes_to_the_team_that_runs_least() {
        let mut gate = Gate::new(8);
        let mut slow = enter(&mut gate, 1, 0..50);
        let quick = enter(&mut gate, 2, 100..150);
        let mut start = Vec::new();
        gate.release(&slow.pop().expect("six run"), 0, &mut start);
        gate.release(&quick[0], 0, &mut start);
        assert!(start.iter().all(|pass| pass.job.team == team(2)));
        assert_eq!(start.len(), 2);
    }

    #[test]
    fn a_host_is_asked_four_things_at_a_time() {
        let mut gate = Gate::new(100);
        let mut running = enter(&mut gate, 1, [7; 10]);
        assert_eq!((running.len(), gate.holds()), (4, true));
        let other = enter(&mut gate, 1, [8]);
        assert_eq!(other.len(), 1, "another host is not held up");
        let mut done = 0;
        while let Some(pass) = running.pop() {
            done += 1;
            gate.release(&pass, 1, &mut running);
            assert!(running.len() <= 4);
        }
        assert_eq!((done, gate.holds()), (10, false));
    }

    #[test]
    fn a_host_that_keeps_us_waiting_does_not_hold_up_its_neighbours() {
        let mut gate = Gate::new(100);
        let hanging = enter(&mut gate, 1, [7; 6]);
        assert_eq!(hanging.len(), 4);
        let mut start = Vec::new();
        gate.tick(PATIENCE - 1, &mut start);
        assert!(start.is_empty());
        gate.tick(PATIENCE, &mut start);
        assert_eq!((start.len(), gate.holds()), (2, false));
        for pass in hanging.iter().chain(&start) {
            gate.release(pass, PATIENCE, &mut Vec::new());
        }
        assert!(gate.hosts.is_empty());
    }
}
