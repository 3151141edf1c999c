//! Places for the checks that a probe runs for the teams of its nodes. They follow the rules
//! of the scheduler's own checks (`concurrency.rs`): a team leaves room for others, and a
//! check that has run for a second gives way to a team that has far fewer, and waits again.

use std::collections::HashMap;
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::Duration;
use tokio::sync::{Notify, mpsc};
use tokio::time::{Instant, sleep, timeout_at};
use wakeful_core::id::{MonitorId, TeamId};

use super::concurrency::{ConcurrencyLimiter, Job, RunPermit};

/// How often to look for checks that have to give way, while others wait.
const RELEASE_INTERVAL: Duration = Duration::from_millis(50);

pub(crate) struct FairPlaces {
    epoch: Instant,
    state: Mutex<State>,
    /// Notified when checks start to wait.
    has_waiting: Notify,
}

struct State {
    limiter: ConcurrencyLimiter,
    /// The checks that wait or run, by their numbers.
    checks: HashMap<u64, mpsc::UnboundedSender<RunPermit>>,
    last_number: u64,
}

/// A check that waits or runs, until it is dropped.
struct Place<'a> {
    places: &'a FairPlaces,
    number: u64,
    team: TeamId,
    permits: mpsc::UnboundedReceiver<RunPermit>,
    current: Option<RunPermit>,
}

impl FairPlaces {
    pub(crate) fn new(max_running: usize) -> Self {
        let limiter = ConcurrencyLimiter::new(max_running);
        let state = State { limiter, checks: HashMap::new(), last_number: 0 };
        Self { epoch: Instant::now(), state: Mutex::new(state), has_waiting: Notify::new() }
    }

    /// Runs a check of a team when it is its turn, from the beginning whenever it had to give
    /// way. `None` if it has not ended by then.
    pub(crate) async fn run<F: Future>(
        &self,
        team: TeamId,
        monitor: MonitorId,
        until: Instant,
        mut check: impl FnMut() -> F,
    ) -> Option<F::Output> {
        let mut place = self.enqueue(team, monitor);
        let running = async {
            loop {
                let stop = place.turn().await?;
                tokio::select! {
                    done = check() => return Some(done),
                    () = stop.notified() => {}
                }
            }
        };
        timeout_at(until, running).await.ok().flatten()
    }

    /// Makes checks give way while others wait; never ends.
    pub(crate) async fn release_waiting(&self) {
        loop {
            self.has_waiting.notified().await;
            let mut has_waiting = true;
            while has_waiting {
                sleep(RELEASE_INTERVAL).await;
                let mut state = self.lock();
                let mut start = Vec::new();
                state.limiter.release_waiting(self.now(), &mut start);
                state.start(start, self.now());
                has_waiting = state.limiter.has_waiting();
            }
        }
    }

    fn enqueue(&self, team: TeamId, monitor: MonitorId) -> Place<'_> {
        let (sender, permits) = mpsc::unbounded_channel();
        let now = self.now();
        let mut state = self.lock();
        state.last_number += 1;
        let number = state.last_number;
        state.checks.insert(number, sender);
        // Each check has a host of its own: nodes limit the checks of a host.
        let job = Job { monitor, team, host: number, due: now, target_version: 0 };
        let mut start = Vec::new();
        state.limiter.submit(job, now, &mut start);
        state.start(start, now);
        if state.limiter.has_waiting() {
            self.has_waiting.notify_one();
        }
        drop(state);
        Place { places: self, number, team, permits, current: None }
    }

    fn now(&self) -> u64 {
        u64::try_from(self.epoch.elapsed().as_millis()).unwrap_or(u64::MAX)
    }

    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl State {
    fn start(&mut self, mut start: Vec<RunPermit>, now: u64) {
        while let Some(permit) = start.pop() {
            let check = self.checks.get(&permit.job.host);
            if check.is_none_or(|check| check.send(permit.clone()).is_err()) {
                self.limiter.release(&permit, now, &mut start);
            }
        }
    }
}

impl Place<'_> {
    /// Waits for its turn; the check must stop when the result is notified.
    async fn turn(&mut self) -> Option<std::sync::Arc<Notify>> {
        self.current = self.permits.recv().await;
        self.current.as_ref().map(|permit| std::sync::Arc::clone(&permit.stop))
    }
}

impl Drop for Place<'_> {
    fn drop(&mut self) {
        let now = self.places.now();
        let mut state = self.places.lock();
        state.checks.remove(&self.number);
        state.limiter.cancel_waiting(self.team, self.number);
        let mut start = Vec::new();
        let permits = self.current.take().into_iter();
        for permit in permits.chain(std::iter::from_fn(|| self.permits.try_recv().ok())) {
            state.limiter.release(&permit, now, &mut start);
        }
        state.start(start, now);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use futures_util::FutureExt as _;
    use futures_util::future::{join_all, pending};
    use wakeful_core::time::Millis;

    fn team(number: u128) -> TeamId {
        uuid::Uuid::from_u128(number).into()
    }

    fn monitor() -> MonitorId {
        MonitorId::new(Millis(0), [1; 10])
    }

    /// The longest timeout of a monitor.
    const LONGEST: Duration = Duration::from_secs(300);

    async fn hang(places: &FairPlaces, team: TeamId) {
        let ended = places.run(team, monitor(), Instant::now() + LONGEST, pending::<()>).await;
        assert_eq!(ended, None);
    }

    /// How long the check of another team takes while these hang.
    async fn delay_of_a_victim(places: &FairPlaces, hanging: impl Future) -> Duration {
        let victim = async {
            // After the others.
            sleep(Duration::from_secs(10)).await;
            let began = Instant::now();
            let until = began + Duration::from_secs(60);
            assert_eq!(places.run(team(9_999), monitor(), until, async || 7).await, Some(7));
            began.elapsed()
        };
        tokio::select! {
            _ = hanging => panic!("they hang"),
            () = places.release_waiting() => panic!("it never ends"),
            delay = victim => delay,
        }
    }

    #[tokio::test(start_paused = true)]
    async fn one_team_whose_targets_hang_delays_no_other_on_a_probe() {
        let places = FairPlaces::new(512);
        let hanging = join_all((0..2_000).map(|_| hang(&places, team(1))));
        assert_eq!(delay_of_a_victim(&places, hanging).await, Duration::ZERO);
    }

    #[tokio::test(start_paused = true)]
    async fn more_teams_than_places_whose_targets_hang_delay_another_by_a_turn_each() {
        let places = FairPlaces::new(512);
        let hanging = join_all((0..1_240).map(|at| hang(&places, team(at % 620))));
        let delay = delay_of_a_victim(&places, hanging).await;
        assert!(delay <= Duration::from_millis(2_200), "{delay:?}");
    }

    #[tokio::test(start_paused = true)]
    async fn a_check_that_gave_way_runs_again_and_one_that_is_dropped_leaves_its_place() {
        let places = FairPlaces::new(1);
        let runs = std::cell::Cell::new(0);
        let slow = places.run(team(1), monitor(), Instant::now() + LONGEST, || async {
            runs.set(runs.get() + 1);
            // The first run is interrupted.
            sleep(Duration::from_secs(if runs.get() == 1 { 30 } else { 0 })).await;
        });
        let other = places.run(team(2), monitor(), Instant::now() + LONGEST, async || ());
        let both = async { tokio::join!(slow, other) };
        tokio::select! {
            () = places.release_waiting() => panic!("it never ends"),
            both = both => assert_eq!(both, (Some(()), Some(()))),
        }
        assert_eq!(runs.get(), 2);
        let mut running = Box::pin(hang(&places, team(1)));
        let mut waiting = Box::pin(hang(&places, team(2)));
        assert!(running.as_mut().now_or_never().is_none());
        assert!(waiting.as_mut().now_or_never().is_none());
        drop((waiting, running));
        let until = Instant::now() + LONGEST;
        let next = places.run(team(3), monitor(), until, async || 7).now_or_never();
        assert_eq!(next, Some(Some(7)));
        assert!(places.lock().checks.is_empty());
    }
}
