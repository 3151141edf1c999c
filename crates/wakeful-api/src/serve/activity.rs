//! The activity of a connection, in a few atomic numbers: its own task checks them
//! against the time limits, and the accept loop uses them to find the connection that
//! has been idle the longest. No request and no byte takes a lock.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU32, AtomicU64, Ordering};
use std::time::Duration;
use tokio::time::Instant;
use tokio_util::sync::CancellationToken;

use super::Timeouts;

/// How much an HTTP/2 client may send without a request in progress: more than the rest
/// of a body whose request was already rejected, less than a flood of control frames.
const MAX_BYTES_WITHOUT_REQUEST: u64 = 4 * 1024 * 1024;

/// A body that arrives more slowly, in bytes per second, makes no progress.
const MIN_BODY_RATE: u64 = 1024;

/// `blocked_since` while no write is pending.
const NOT_BLOCKED: u64 = u64::MAX;
/// `idle_since` of a connection whose task has not begun.
const NOT_BEGUN: u64 = u64::MAX;

pub(super) struct Activity {
    /// All times are in microseconds since this moment, which all connections share.
    epoch: Instant,
    /// Requests from their headers to the last byte of their response.
    in_progress: AtomicU32,
    /// Those of them that wait for the server and not for the client.
    at_work: AtomicU32,
    /// Since when there have been any.
    working_since: AtomicU64,
    had_request: AtomicBool,
    /// When the last request ended, or the connection's task began.
    idle_since: AtomicU64,
    /// When a request last began, ended, or had its response read on by the client. A body
    /// that arrives moves it forward by the time its bytes may take.
    progress_at: AtomicU64,
    /// Requests whose bodies have not been received in full.
    arrivals: AtomicU32,
    /// Since when there have been any.
    arriving_since: AtomicU64,
    /// Requests whose handlers wait for more of their bodies.
    waiting_bodies: AtomicU32,
    /// Since when a write has been pending because the client does not read.
    blocked_since: AtomicU64,
    read_since_request: AtomicU64,
    close: CancellationToken,
}

/// How suitable a connection is for being closed in favor of a new one: the
/// smallest first.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Evictable {
    Idle {
        since: u64,
    },
    WithoutProgress {
        since: u64,
    },
    /// Its client sends a body fast enough, but has been sending it for long.
    SlowBody {
        since: u64,
    },
}

impl Evictable {
    pub(super) fn is_idle(self) -> bool {
        matches!(self, Self::Idle { .. })
    }

    pub(super) fn since(self) -> u64 {
        let (Self::Idle { since } | Self::WithoutProgress { since } | Self::SlowBody { since }) =
            self;
        since
    }
}

/// How suitable a connection of a crowded site is for being closed in favor of another site:
/// the smallest first.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Yielding {
    Idle {
        since: u64,
    },
    /// A request waits for its client. Another request, or the end of one, is a new wait.
    Waiting {
        since: u64,
    },
    /// Its requests have been handled for long, one or another of them at any time.
    Working {
        since: u64,
    },
}

impl Activity {
    pub(super) fn new(epoch: Instant) -> Self {
        let now = micros_since(epoch);
        Self {
            epoch,
            in_progress: AtomicU32::new(0),
            at_work: AtomicU32::new(0),
            working_since: AtomicU64::new(now),
            had_request: AtomicBool::new(false),
            idle_since: AtomicU64::new(NOT_BEGUN),
            progress_at: AtomicU64::new(now),
            arrivals: AtomicU32::new(0),
            arriving_since: AtomicU64::new(now),
            waiting_bodies: AtomicU32::new(0),
            blocked_since: AtomicU64::new(NOT_BLOCKED),
            read_since_request: AtomicU64::new(0),
            close: CancellationToken::new(),
        }
    }

    /// The connection's task runs. Until then nothing from the client has been read.
    pub(super) fn begin(&self) {
        self.idle_since.store(self.now(), Ordering::Relaxed);
    }

    /// Asks the connection's task to close it.
    pub(super) fn close(&self) {
        self.close.cancel();
    }

    pub(super) async fn closed(&self) {
        self.close.cancelled().await;
    }

    pub(super) fn is_closed(&self) -> bool {
        self.close.is_cancelled()
    }

    /// When the connection must be closed in its current state, and why.
    pub(super) fn deadline(&self, timeouts: &Timeouts) -> Option<(Instant, &'static str)> {
        let at =
            |since: u64, timeout: Duration| self.epoch + Duration::from_micros(since) + timeout;
        let blocked = match self.blocked_since.load(Ordering::Relaxed) {
            NOT_BLOCKED => None,
            since => Some((at(since, timeouts.stall), "stalled")),
        };
        let idle = (self.in_progress.load(Ordering::Acquire) == 0).then(|| {
            let since = self.idle_since.load(Ordering::Relaxed);
            if self.had_request.load(Ordering::Relaxed) {
                (at(since, timeouts.idle), "idle")
            } else {
                (at(since, timeouts.header), "headers")
            }
        });
        blocked.into_iter().chain(idle).min_by_key(|(at, _)| *at)
    }

    /// Whether this connection may be closed in favor of another. One whose request is
    /// being handled may not: its client waits for the server.
    pub(super) fn evictable(&self, min_idle: Duration, min_stall: Duration) -> Option<Evictable> {
        let now = self.now();
        let since = |since: u64, least: Duration| {
            (Duration::from_micros(now.saturating_sub(since)) >= least).then_some(since)
        };
        if self.at_work.load(Ordering::Acquire) > 0 {
            return None;
        }
        match self.in_progress.load(Ordering::Acquire) {
            0 => since(self.idle_since.load(Ordering::Relaxed), min_idle)
                .map(|since| Evictable::Idle { since }),
            _ => since(self.progress_at.load(Ordering::Relaxed), min_stall)
                .map(|since| Evictable::WithoutProgress { since })
                .or_else(|| {
                    let arriving = self.arrivals.load(Ordering::Acquire) > 0;
                    let since = since(self.arriving_since.load(Ordering::Relaxed), min_stall)?;
                    arriving.then_some(Evictable::SlowBody { since })
                }),
        }
    }

    /// Whether this connection may be closed in favor of a site that has far fewer. While its
    /// client waits for the server, that must have taken a while.
    pub(super) fn yielding(&self, min_work: Duration) -> Option<Yielding> {
        if self.at_work.load(Ordering::Acquire) > 0 {
            let since = self.working_since.load(Ordering::Relaxed);
            return (self.elapsed_since(since) >= min_work).then_some(Yielding::Working { since });
        }
        match self.in_progress.load(Ordering::Acquire) {
            // One whose task has not begun is the last of these.
            0 => Some(Yielding::Idle { since: self.idle_since.load(Ordering::Relaxed) }),
            _ => Some(Yielding::Waiting { since: self.progress_at.load(Ordering::Relaxed) }),
        }
    }

    pub(super) fn elapsed_since(&self, since: u64) -> Duration {
        Duration::from_micros(self.now().saturating_sub(since))
    }

    /// One more request waits for the server.
    fn begin_work(&self) {
        if self.at_work.load(Ordering::Acquire) == 0 {
            self.working_since.store(self.now(), Ordering::Relaxed);
        }
        self.at_work.fetch_add(1, Ordering::AcqRel);
    }

    /// The number of requests that wait for more of their bodies.
    pub(super) fn waiting_bodies(&self) -> usize {
        self.waiting_bodies.load(Ordering::Acquire) as usize
    }

    /// The socket accepted no bytes; its task is woken when it does.
    pub(super) fn write_blocked(&self) {
        if self.blocked_since.load(Ordering::Relaxed) == NOT_BLOCKED {
            self.blocked_since.store(self.now(), Ordering::Relaxed);
        }
    }

    /// The socket accepted bytes. A slow client is not idle.
    pub(super) fn wrote(&self) {
        if self.blocked_since.load(Ordering::Relaxed) != NOT_BLOCKED {
            self.blocked_since.store(NOT_BLOCKED, Ordering::Relaxed);
            self.idle_since.store(self.now(), Ordering::Relaxed);
        }
    }

    /// Counts received bytes; false if there are too many for a connection without a
    /// request in progress.
    pub(super) fn may_receive(&self, bytes: usize) -> bool {
        let bytes = u64::try_from(bytes).unwrap_or(u64::MAX);
        let before = self.read_since_request.fetch_add(bytes, Ordering::Relaxed);
        before.saturating_add(bytes) <= MAX_BYTES_WITHOUT_REQUEST
            || self.in_progress.load(Ordering::Acquire) > 0
    }

    fn now(&self) -> u64 {
        micros_since(self.epoch)
    }
}

fn micros_since(epoch: Instant) -> u64 {
    u64::try_from(epoch.elapsed().as_micros()).unwrap_or(u64::MAX)
}

/// A request that is being handled, until it is dropped.
pub(super) struct Work(Arc<Activity>);

impl Work {
    pub(super) fn begin(activity: Arc<Activity>) -> Self {
        activity.begin_work();
        Self(activity)
    }
}

impl Drop for Work {
    fn drop(&mut self) {
        self.0.at_work.fetch_sub(1, Ordering::AcqRel);
    }
}

/// Tracks whether the handler of a request waits for more of its body, until dropped.
pub(super) struct Arrival {
    activity: Arc<Activity>,
    waiting: bool,
}

impl Arrival {
    pub(super) fn new(activity: Arc<Activity>) -> Self {
        if activity.arrivals.fetch_add(1, Ordering::AcqRel) == 0 {
            activity.arriving_since.store(activity.now(), Ordering::Relaxed);
        }
        Self { activity, waiting: false }
    }

    /// More of the body has arrived.
    pub(super) fn received(&self, bytes: usize) {
        let before = self.activity.progress_at.load(Ordering::Relaxed);
        let progress = body_progress(before, bytes, self.activity.now());
        self.activity.progress_at.store(progress, Ordering::Relaxed);
    }

    pub(super) fn set_waiting(&mut self, waiting: bool) {
        let Activity { at_work, waiting_bodies, .. } = &*self.activity;
        match (std::mem::replace(&mut self.waiting, waiting), waiting) {
            (false, true) => {
                waiting_bodies.fetch_add(1, Ordering::AcqRel);
                at_work.fetch_sub(1, Ordering::AcqRel);
            }
            (true, false) => {
                self.activity.begin_work();
                waiting_bodies.fetch_sub(1, Ordering::AcqRel);
            }
            _ => {}
        }
    }
}

impl Drop for Arrival {
    fn drop(&mut self) {
        self.set_waiting(false);
        self.activity.arrivals.fetch_sub(1, Ordering::AcqRel);
    }
}

/// A request in progress, until it is dropped with its response's body.
pub(super) struct Exchange(Arc<Activity>);

impl Exchange {
    pub(super) fn begin(activity: Arc<Activity>) -> Self {
        activity.in_progress.fetch_add(1, Ordering::AcqRel);
        activity.had_request.store(true, Ordering::Relaxed);
        activity.read_since_request.store(0, Ordering::Relaxed);
        let exchange = Self(activity);
        exchange.progress();
        exchange
    }

    /// The client has read more, or there is nothing for it to read yet.
    pub(super) fn progress(&self) {
        self.0.progress_at.store(self.0.now(), Ordering::Relaxed);
    }
}

impl Drop for Exchange {
    fn drop(&mut self) {
        self.progress();
        self.0.idle_since.store(self.0.now(), Ordering::Relaxed);
        self.0.read_since_request.store(0, Ordering::Relaxed);
        self.0.in_progress.fetch_sub(1, Ordering::AcqRel);
    }
}

/// The time up to which a body has arrived fast enough, in microseconds.
fn body_progress(before: u64, received: usize, now: u64) -> u64 {
    let received = u64::try_from(received).unwrap_or(u64::MAX);
    let allowed = received.saturating_mul(1_000_000) / MIN_BODY_RATE;
    before.saturating_add(allowed).min(now)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_body_that_trickles_makes_no_progress() {
        // How far a body is behind after 10 seconds of so many bytes per second.
        let behind = |bytes_per_second: usize| {
            let seconds = (1..=10).map(|second| second * 1_000_000);
            let progress =
                seconds.fold(0, |before, now| body_progress(before, bytes_per_second, now));
            Duration::from_micros(10_000_000 - progress)
        };
        assert!(behind(1) > Duration::from_secs(9));
        assert!(behind(512) >= Duration::from_secs(5));
        assert_eq!(behind(1_024), Duration::ZERO);
        assert_eq!(behind(usize::MAX), Duration::ZERO, "no credit for later");
    }
}
