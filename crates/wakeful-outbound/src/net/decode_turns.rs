//! Turns to decode and search bodies. A body that inflates takes far longer to decode than to
//! send, so after a moment a check needs a turn for more. The teams take turns, and there are
//! fewer turns than cores: a team whose pages take long to decode delays its own checks. The
//! time that a check waits here is not the target's: it counts neither as response time nor
//! toward the deadline.

use std::pin::pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;
use tokio::time::{Instant, timeout, timeout_at};
use wakeful_core::id::TeamId;
use wakeful_core::observation::FaultKind;

use super::Deadline;
use super::error::ProbeError;
use crate::fair_queue::{Bounds, FairQueue, Turn};

/// How long a check decodes without a turn, which is enough for most pages.
const FREE_TIME: Duration = Duration::from_millis(1);
/// How long a turn lasts.
const TURN_TIME: Duration = Duration::from_millis(10);
/// How long a check decodes before it lets the other tasks of its thread run.
const SLICE_TIME: Duration = Duration::from_micros(500);
/// How long a check waits for all of its turns.
const MAX_WAIT: Duration = Duration::from_secs(30);
/// A target may give up on a client that does not read for so long.
const MAX_UNREAD_TIME: Duration = Duration::from_secs(1);
/// By how much the deadline of a waiting check is moved at a time.
const EXTENSION: Duration = Duration::from_millis(100);

/// `waiting_since` of a check that does not wait.
const NOT_WAITING: u64 = u64::MAX;

pub(super) struct DecodeTurns(FairQueue<TeamId>);

impl Default for DecodeTurns {
    fn default() -> Self {
        let cores = std::thread::available_parallelism().map_or(1, usize::from);
        Self::new((cores / 2).max(1))
    }
}

impl DecodeTurns {
    fn new(running: usize) -> Self {
        // More than the checks that run at a time.
        let (waiting, waiting_per_key) = (4_096, 4_096);
        let share = |free: usize| free / 2;
        Self(FairQueue::new(Bounds { running, waiting, waiting_per_key, share }))
    }
}

/// The decoding of one check.
pub(crate) struct DecodeShare {
    turns: Arc<DecodeTurns>,
    team: TeamId,
    epoch: Instant,
    /// How long it has waited, and since when it waits, in microseconds since `epoch`.
    waited: AtomicU64,
    waiting_since: AtomicU64,
}

impl DecodeShare {
    pub(super) fn new(turns: Arc<DecodeTurns>, team: TeamId) -> Self {
        let (waited, waiting_since) = (AtomicU64::new(0), AtomicU64::new(NOT_WAITING));
        Self { turns, team, epoch: Instant::now(), waited, waiting_since }
    }

    pub(crate) fn team(&self) -> TeamId {
        self.team
    }

    /// How long the check has waited.
    pub(crate) fn waited(&self) -> Duration {
        let waited = self.waited.load(Ordering::Relaxed);
        let since = self.waiting_since.load(Ordering::Relaxed);
        let waiting = if since == NOT_WAITING { 0 } else { self.now().saturating_sub(since) };
        Duration::from_micros(waited + waiting)
    }

    /// The cause of an error while the body is read. If the check has waited for long, the target
    /// may have closed the connection because of that, and is not down.
    pub(super) fn explain(&self, error: ProbeError) -> ProbeError {
        match error {
            ProbeError::Down(..) if self.waited() >= MAX_UNREAD_TIME => ProbeError::fault(
                FaultKind::Resources,
                "the connection ended while the response waited to be decoded",
            ),
            error => error,
        }
    }

    /// Like `Deadline::limit`, without the time that the work waits for turns.
    pub(crate) async fn limit<T>(
        &self,
        deadline: Deadline,
        work: impl Future<Output = T>,
    ) -> Option<T> {
        let mut work = pin!(work);
        let mut extension = Duration::ZERO;
        loop {
            if let Ok(done) = timeout_at(deadline.at() + extension, work.as_mut()).await {
                return Some(done);
            }
            let is_waiting = self.waiting_since.load(Ordering::Relaxed) != NOT_WAITING;
            let waited = self.waited();
            if is_waiting {
                extension = waited + EXTENSION;
            } else if waited > extension {
                extension = waited;
            } else {
                return None;
            }
        }
    }

    pub(crate) async fn turn(&self) -> Result<Turn<TeamId>, ProbeError> {
        let left = MAX_WAIT.saturating_sub(self.waited());
        let turn = self.wait(timeout(left, self.turns.0.turn(self.team))).await;
        turn.ok().and_then(Result::ok).ok_or_else(|| {
            ProbeError::fault(
                FaultKind::Resources,
                "the response was not decoded, because too many large responses of the team are \
                 being decoded; check smaller pages, or check them less often",
            )
        })
    }

    /// Does work whose time does not count.
    pub(super) async fn wait<T>(&self, work: impl Future<Output = T>) -> T {
        let began = self.now();
        self.waiting_since.store(began, Ordering::Relaxed);
        let done = work.await;
        self.waited.fetch_add(self.now().saturating_sub(began), Ordering::Relaxed);
        self.waiting_since.store(NOT_WAITING, Ordering::Relaxed);
        done
    }

    fn now(&self) -> u64 {
        u64::try_from(self.epoch.elapsed().as_micros()).unwrap_or(NOT_WAITING)
    }
}

/// The decoding of one body.
pub(super) struct DecodeMeter<'s> {
    share: &'s DecodeShare,
    /// What is left without a turn.
    free: Duration,
    turn: Option<Turn<TeamId>>,
    /// Since the turn began, and since other tasks could run.
    in_turn: Duration,
    in_slice: Duration,
}

impl<'s> DecodeMeter<'s> {
    pub(super) fn new(share: &'s DecodeShare) -> Self {
        let (in_turn, in_slice) = (Duration::ZERO, Duration::ZERO);
        Self { share, free: FREE_TIME, turn: None, in_turn, in_slice }
    }

    /// Whether `ready` has anything to do before more is decoded.
    pub(super) fn must_wait(&self) -> bool {
        self.in_slice >= SLICE_TIME || (self.free.is_zero() && self.turn.is_none())
    }

    /// Waits until more may be decoded.
    pub(super) async fn ready(&mut self) -> Result<(), ProbeError> {
        if self.in_slice >= SLICE_TIME {
            self.share.wait(tokio::task::yield_now()).await;
            self.in_slice = Duration::ZERO;
        }
        if self.free.is_zero() && self.turn.is_none() {
            self.turn = Some(self.share.turn().await?);
            self.in_turn = Duration::ZERO;
        }
        Ok(())
    }

    /// More has been decoded, which took this long.
    pub(super) fn decoded(&mut self, took: Duration) {
        self.in_slice += took;
        self.free = self.free.saturating_sub(took);
        self.in_turn += took;
        if self.in_turn >= TURN_TIME {
            self.turn = None;
        }
    }

    pub(super) fn has_turn(&self) -> bool {
        self.turn.is_some()
    }

    /// There is nothing to decode until the target sends more.
    pub(super) fn end_turn(&mut self) {
        self.turn = None;
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use futures_util::FutureExt as _;
    use futures_util::future::join_all;
    use wakeful_core::time::Millis;

    fn share(turns: &Arc<DecodeTurns>, team: u8) -> DecodeShare {
        DecodeShare::new(Arc::clone(turns), TeamId::new(Millis(0), [team; 10]))
    }

    /// A body that takes this long to decode; only one is decoded at a time.
    async fn decode(share: &DecodeShare, work: Duration) -> Result<(), ProbeError> {
        let step = Duration::from_micros(100);
        let mut meter = DecodeMeter::new(share);
        let mut left = work;
        while !left.is_zero() {
            meter.ready().await?;
            tokio::time::advance(step).await;
            meter.decoded(step);
            left = left.saturating_sub(step);
        }
        Ok(())
    }

    #[tokio::test(start_paused = true)]
    async fn a_team_that_decodes_all_the_time_does_not_delay_another() {
        let turns = Arc::new(DecodeTurns::new(1));
        let hostile: Vec<_> = (0..300).map(|_| share(&turns, 1)).collect();
        let attack = join_all(hostile.iter().map(|share| decode(share, 10 * TURN_TIME)));
        let victim = share(&turns, 2);
        tokio::select! {
            biased;
            _ = attack => panic!("the victim is first"),
            done = decode(&victim, TURN_TIME) => done.expect("decoded"),
        }
        // Before each of its turns, one of the other team ends.
        let free = 300 * FREE_TIME;
        assert!(victim.waited() <= free + 3 * TURN_TIME, "{:?}", victim.waited());
    }

    #[tokio::test(start_paused = true)]
    async fn a_page_that_is_decoded_in_a_moment_needs_no_turn() {
        let turns = Arc::new(DecodeTurns::new(1));
        let _held = share(&turns, 1).turn().await.expect("a turn");
        let page = share(&turns, 1);
        let mut meter = DecodeMeter::new(&page);
        assert!(!meter.must_wait());
        let moment = Duration::from_micros(1);
        meter.decoded(FREE_TIME - moment);
        meter.ready().await.expect("no turn is needed");
        assert!(!meter.must_wait());
        meter.decoded(moment);
        assert!(meter.must_wait() && meter.ready().now_or_never().is_none());
    }

    #[tokio::test(start_paused = true)]
    async fn a_wait_moves_the_deadline_and_ends() {
        let turns = Arc::new(DecodeTurns::new(1));
        let second = Duration::from_secs(1);
        let held = share(&turns, 1).turn().await.expect("a turn");
        let waiting = share(&turns, 1);
        let work = async {
            let turn = waiting.turn().await.expect("a turn");
            tokio::time::sleep(second / 2).await;
            drop(turn);
        };
        let limited = waiting.limit(Deadline::within(second), work);
        let holder = async {
            tokio::time::sleep(10 * second).await;
            drop(held);
        };
        let (done, ()) = tokio::join!(limited, holder);
        assert!(done.is_some());
        assert_eq!(waiting.waited().as_secs(), 10);

        // The target's own silence still counts.
        let silent = waiting.limit(Deadline::within(second), std::future::pending::<()>());
        let began = Instant::now();
        assert!(silent.await.is_none());
        assert!(began.elapsed() <= 11 * second, "{:?}", began.elapsed());

        // A target that meanwhile gave up is not down.
        let closed = || {
            ProbeError::answered(
                wakeful_core::reason::Reason::HttpIncomplete,
                "incomplete response",
            )
        };
        assert!(matches!(waiting.explain(closed()), ProbeError::Fault(_)));
        assert!(matches!(share(&turns, 1).explain(closed()), ProbeError::Down(..)));

        let _held = share(&turns, 1).turn().await.expect("a turn");
        let patient = share(&turns, 1);
        let began = Instant::now();
        let Err(ProbeError::Fault(fault)) = patient.turn().await else { panic!("no turn is free") };
        assert_eq!(fault.kind, FaultKind::Resources);
        assert_eq!(began.elapsed().as_secs(), MAX_WAIT.as_secs());
    }
}
