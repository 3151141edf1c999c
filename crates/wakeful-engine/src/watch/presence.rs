//! Whether somebody listens to reports: a mark in the store that is renewed while
//! we do. Who starts reads from it for how long nobody did, because what was
//! reported meanwhile is lost, and silence that it may have broken proves nothing.
//! The same goes for a time in which the mark could not be renewed: a report
//! takes the way through the store, too.

use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::time::Duration;
use tokio::sync::Notify;
use tokio::time::{sleep, timeout};
use tokio_util::sync::CancellationToken;
use wakeful_core::chain::Chain;

use super::{HELD_UP, Watch};
use crate::Engine;

/// After a crash the mark is this old at most.
const EVERY: Duration = Duration::from_secs(2);
/// When silence waits for a proof that it could have been broken, the mark is
/// renewed sooner, but not more often than this.
const SOONEST: Duration = Duration::from_millis(200);
/// How long a renewal may take. One that took longer may have come through where
/// a report, a moment before it, did not.
const WITHIN: Duration = Duration::from_secs(3);

/// What the last renewals of the mark have come to.
#[derive(Default)]
pub(super) struct Hearing {
    /// Whether somebody renews the mark. If not, all that could be said is heard.
    kept: AtomicBool,
    /// When the last renewal that came through was begun.
    proven: AtomicU64,
    /// Told when silence waits for a proof.
    wanted: Notify,
}

impl Hearing {
    /// From now on silence has to be proven.
    pub(super) fn keep(&self) {
        self.kept.store(true, Ordering::Release);
    }

    /// Whether a report could have come through at this time or after it.
    pub(super) fn proves(&self, at: u64) -> bool {
        !self.kept.load(Ordering::Acquire) || self.proven.load(Ordering::Acquire) >= at
    }

    pub(super) fn want(&self) {
        self.wanted.notify_one();
    }
}

/// Finds out when somebody listened last. When the store does not say, nobody
/// has for long.
pub(super) async fn arrive(engine: &Engine) {
    if let Ok(Some(at)) = engine.store().listened_until().await {
        let at = engine.watch().counted(at);
        engine.watch().deaf_since.store(at, Ordering::Release);
    }
}

/// Renews the mark until told to stop, and then once more.
pub(super) async fn keep(engine: Engine, stop: CancellationToken) {
    let mut keeper = Keeper::new(engine.watch());
    loop {
        let last = stop.is_cancelled();
        keeper.renew(&engine).await;
        if last {
            return;
        }
        let wanted = async {
            sleep(SOONEST).await;
            engine.watch().hearing.wanted.notified().await;
        };
        tokio::select! {
            () = sleep(EVERY) => {}
            () = wanted => {}
            () = stop.cancelled() => {}
        }
    }
}

/// What is kept from one renewal to the next.
struct Keeper {
    /// When the last good one was begun.
    good: u64,
    /// When the last one was over, good or not.
    over: u64,
    failing: bool,
}

impl Keeper {
    fn new(watch: &Watch) -> Self {
        let now = watch.ticker.now();
        watch.hearing.keep();
        Self { good: now, over: now, failing: false }
    }

    async fn renew(&mut self, engine: &Engine) {
        let watch = engine.watch();
        let begun = watch.ticker.now();
        // Whoever stood still between two renewals heard nothing, either.
        let stood_still = begun.saturating_sub(self.over) > millis(EVERY) + HELD_UP;
        let noted = timeout(WITHIN, engine.store().note_listening(engine.now())).await;
        self.over = watch.ticker.now();
        let failure = match noted {
            Ok(Ok(())) => None,
            Ok(Err(error)) => Some(Chain(&error).to_string()),
            Err(_) => Some("it is silent".to_owned()),
        };
        match failure {
            Some(error) if !self.failing => {
                self.failing = true;
                tracing::warn!(error, "the store is away: until it is back, silence is no outage");
            }
            Some(_) => {}
            None => {
                if std::mem::take(&mut self.failing) || stood_still {
                    watch.hear_again(self.good);
                }
                self.good = begun;
                watch.prove(begun);
            }
        }
    }
}

fn millis(span: Duration) -> u64 {
    u64::try_from(span.as_millis()).unwrap_or(u64::MAX)
}

impl Watch {
    /// Gives those who report the time again that they may have lost, because
    /// nobody heard them since then.
    pub(super) fn hear_again(&self, deaf_since: u64) {
        let now = self.ticker.now();
        for shard in &self.shards {
            for entry in shard.lock().entries.iter_mut().filter(|entry| entry.listens()) {
                // Later than the wheel brings it up, which then puts it back.
                entry.due = entry.due.max(entry.heard_again(now, deaf_since));
            }
        }
    }

    /// Takes note that reports came through at this time, and has what waited
    /// for that judged.
    pub(super) fn prove(&self, at: u64) {
        self.hearing.proven.store(at, Ordering::Release);
        for shard in &self.shards {
            let mut monitors = shard.lock();
            let super::Monitors { entries, wheel, unproven } = &mut *monitors;
            for id in unproven.drain(..) {
                if let Some(entry) = entries.get_mut(id) {
                    shard.arm(entry, wheel);
                }
            }
        }
    }
}
