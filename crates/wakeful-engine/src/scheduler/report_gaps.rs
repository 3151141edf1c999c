//! Detects gaps in which no reports could be accepted. A node renews a mark in the store
//! while it listens. At startup, the age of the mark is the length of the gap: reports sent
//! meanwhile are lost, so silence during the gap proves nothing. The same applies while the
//! mark cannot be renewed, because reports need the store, too.

use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::time::Duration;
use tokio::sync::Notify;
use tokio::time::{sleep, timeout};
use tokio_util::sync::CancellationToken;
use wakeful_core::error_chain::ErrorChain;

use super::{STALL_THRESHOLD_MS, Scheduler};
use crate::Engine;

/// After a crash the mark is this old at most.
const RENEW_INTERVAL: Duration = Duration::from_secs(2);
/// When silence waits for a confirmation, the mark is renewed sooner, but not more often
/// than this.
const MIN_RENEW_INTERVAL: Duration = Duration::from_millis(200);
/// How long a renewal may take. A slower one may succeed although a report just before it
/// failed.
const RENEW_TIMEOUT: Duration = Duration::from_secs(3);

/// The outcome of the last renewals of the mark.
#[derive(Default)]
pub(super) struct ListeningState {
    /// Whether the mark is renewed. If not, all silence counts.
    active: AtomicBool,
    /// When the last successful renewal was started.
    confirmed: AtomicU64,
    /// Notified when silence waits for a confirmation.
    confirmation_wanted: Notify,
}

impl ListeningState {
    /// From now on, silence has to be confirmed.
    pub(super) fn activate(&self) {
        self.active.store(true, Ordering::Release);
    }

    /// Whether a report could have arrived at this time or later.
    pub(super) fn confirms(&self, at: u64) -> bool {
        !self.active.load(Ordering::Acquire) || self.confirmed.load(Ordering::Acquire) >= at
    }

    pub(super) fn request_confirmation(&self) {
        self.confirmation_wanted.notify_one();
    }
}

/// Reads when reports were last accepted. Without a mark, the gap is unlimited.
pub(super) async fn load_last_mark(engine: &Engine) {
    if let Ok(Some(at)) = engine.store().listened_until().await {
        let at = engine.scheduler().local_millis(at);
        engine.scheduler().not_listening_since.store(at, Ordering::Release);
    }
}

/// Renews the mark until shutdown, and then a last time.
pub(super) async fn run(engine: Engine, stop: CancellationToken) {
    let mut renewer = MarkRenewer::new(engine.scheduler());
    loop {
        let last = stop.is_cancelled();
        renewer.renew(&engine).await;
        if last {
            return;
        }
        let confirmation_wanted = async {
            sleep(MIN_RENEW_INTERVAL).await;
            engine.scheduler().listening.confirmation_wanted.notified().await;
        };
        tokio::select! {
            () = sleep(RENEW_INTERVAL) => {}
            () = confirmation_wanted => {}
            () = stop.cancelled() => {}
        }
    }
}

/// The state between renewals.
struct MarkRenewer {
    /// When the last successful renewal was started.
    last_success: u64,
    /// When the last renewal ended, successful or not.
    last_finished: u64,
    failing: bool,
}

impl MarkRenewer {
    fn new(scheduler: &Scheduler) -> Self {
        let now = scheduler.clock.now();
        scheduler.listening.activate();
        Self { last_success: now, last_finished: now, failing: false }
    }

    async fn renew(&mut self, engine: &Engine) {
        let scheduler = engine.scheduler();
        let started = scheduler.clock.now();
        // A process that was stalled between two renewals received nothing, either.
        let stalled = started.saturating_sub(self.last_finished)
            > millis(RENEW_INTERVAL) + STALL_THRESHOLD_MS;
        let marked = timeout(RENEW_TIMEOUT, engine.store().mark_listening(engine.now())).await;
        self.last_finished = scheduler.clock.now();
        let failure = match marked {
            Ok(Ok(())) => None,
            Ok(Err(error)) => Some(ErrorChain(&error).to_string()),
            Err(_) => Some(format!("no response within {} s", RENEW_TIMEOUT.as_secs())),
        };
        match failure {
            Some(why) if !self.failing => {
                self.failing = true;
                tracing::warn!(
                    "the store is unavailable, missing reports count as no outage until it is back: {why}"
                );
            }
            Some(_) => {}
            None => {
                if std::mem::take(&mut self.failing) || stalled {
                    scheduler.extend_deadlines(self.last_success);
                }
                self.last_success = started;
                scheduler.confirm_listening(started);
            }
        }
    }
}

fn millis(span: Duration) -> u64 {
    u64::try_from(span.as_millis()).unwrap_or(u64::MAX)
}

impl Scheduler {
    /// Extends the deadlines of push monitors by the time in which no report could
    /// arrive.
    pub(super) fn extend_deadlines(&self, not_listening_since: u64) {
        let now = self.clock.now();
        for shard in &self.shards {
            for entry in shard.lock().entries.iter_mut().filter(|entry| entry.is_push()) {
                // This is later than the wheel returns it, which then inserts it again.
                entry.drop_unheard_runs(now, not_listening_since);
                let due = entry.deadline_after_gap(now, not_listening_since);
                entry.set_due(entry.own_due().max(due));
            }
        }
    }

    /// Notes that reports could arrive at this time, and has the monitors judged that
    /// waited for that.
    pub(super) fn confirm_listening(&self, at: u64) {
        self.listening.confirmed.store(at, Ordering::Release);
        for shard in &self.shards {
            let mut monitors = shard.lock();
            let super::ShardState { entries, wheel, unconfirmed, .. } = &mut *monitors;
            for id in unconfirmed.drain(..) {
                if let Some(entry) = entries.get_mut(id) {
                    shard.arm(entry, wheel);
                }
            }
        }
    }
}
