//! The memory of checks that must see a whole body: the bodies of all checks together are
//! bounded, and so are the documents that are parsed into trees and the compiled patterns. Each
//! team has a share of the bodies: the fewer are left, the smaller it is, so that a team whose
//! targets send large bodies slowly leaves memory for the others.

use futures_util::FutureExt as _;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;
use tokio::sync::{OwnedSemaphorePermit, Semaphore};
use tokio::time::timeout;
use wakeful_core::assert::{MAX_TREE_BYTES, Pattern};
use wakeful_core::id::TeamId;

use super::DecodeShare;
use crate::fair_queue::{Bounds, FairQueue, Turn};

const KIB: usize = 1_024;
const DEFAULT_BYTES: usize = 16 << 20;
/// The longest body that is buffered.
pub(crate) const MAX_BODY_BYTES: usize = 1 << 20;
/// A body of up to this length is buffered without a permit: checks that run at one time are
/// few enough.
pub(crate) const SMALL_BODY_BYTES: usize = 64 * KIB;
/// How long a check waits for the bodies of others. A target may give up on a client that does
/// not read for longer.
const MAX_WAIT: Duration = Duration::from_millis(900);
/// How many compiled patterns are cached.
const MAX_PATTERNS: usize = 64;
const WAITS: &str = "wakeful_check_waits_total";

/// Permits to buffer bodies, one for each body of the greatest length, and to build trees, one
/// for each KiB.
pub(crate) struct Buffers {
    bodies: FairQueue<TeamId>,
    trees: Arc<Semaphore>,
}

impl Default for Buffers {
    fn default() -> Self {
        Self::new(DEFAULT_BYTES)
    }
}

impl Buffers {
    pub(super) fn new(bytes: usize) -> Self {
        let bounds = Bounds {
            running: (bytes / MAX_BODY_BYTES).max(2),
            // More than the checks that run at a time.
            waiting: 4_096,
            waiting_per_key: 4_096,
            share: |free| free / 2,
        };
        let trees = Arc::new(Semaphore::new(MAX_TREE_BYTES / KIB));
        Self { bodies: FairQueue::new(bounds), trees }
    }

    /// Waits until a body may be buffered. That time is not the target's.
    async fn body(&self, share: &DecodeShare) -> Option<BodyPermit> {
        if let Some(permit) = self.try_body(share.team()) {
            return Some(permit);
        }
        metrics::counter!(WAITS, "for" => "body").increment(1);
        let turn = share.wait(timeout(MAX_WAIT, self.bodies.turn(share.team()))).await;
        turn.ok().and_then(Result::ok).map(BodyPermit::new)
    }

    /// The same without waiting.
    fn try_body(&self, team: TeamId) -> Option<BodyPermit> {
        let turn = self.bodies.turn(team).now_or_never();
        turn.and_then(Result::ok).map(BodyPermit::new)
    }

    /// Waits until a document of this length may become a tree.
    pub(crate) async fn tree(&self, bytes: usize) -> Option<OwnedSemaphorePermit> {
        let permits = kib(bytes.min(MAX_TREE_BYTES));
        if let Ok(permit) = Arc::clone(&self.trees).try_acquire_many_owned(permits) {
            return Some(permit);
        }
        metrics::counter!(WAITS, "for" => "json").increment(1);
        Arc::clone(&self.trees).acquire_many_owned(permits).await.ok()
    }
}

fn kib(bytes: usize) -> u32 {
    u32::try_from(bytes.div_ceil(KIB)).unwrap_or(u32::MAX)
}

/// The permission to buffer one body.
pub(crate) struct BodyPermit(
    #[expect(dead_code, reason = "it ends when it is dropped")] Turn<TeamId>,
);

impl BodyPermit {
    fn new(turn: Turn<TeamId>) -> Self {
        buffered_bytes().increment(MAX_BODY_BYTES as f64);
        Self(turn)
    }
}

impl Drop for BodyPermit {
    fn drop(&mut self) {
        buffered_bytes().decrement(MAX_BODY_BYTES as f64);
    }
}

fn buffered_bytes() -> metrics::Gauge {
    metrics::gauge!("wakeful_buffered_bytes")
}

/// A body that is buffered while it arrives, up to a limit.
pub(crate) struct BodyBuffer<'n> {
    buffers: &'n Buffers,
    team: TeamId,
    pub(crate) bytes: Vec<u8>,
    permit: Option<BodyPermit>,
    /// There was no memory for the rest.
    pub(crate) is_starved: bool,
}

impl<'n> BodyBuffer<'n> {
    /// For a body whose length may have been announced.
    pub(crate) async fn new(
        buffers: &'n Buffers,
        share: &DecodeShare,
        announced: Option<u64>,
    ) -> Self {
        let is_large = announced.is_some_and(|length| length > SMALL_BODY_BYTES as u64);
        let permit = if is_large { buffers.body(share).await } else { None };
        let is_starved = is_large && permit.is_none();
        Self { buffers, team: share.team(), bytes: Vec::new(), permit, is_starved }
    }

    pub(crate) fn take(&mut self, bytes: &[u8]) {
        let room = MAX_BODY_BYTES - self.bytes.len();
        let bytes = &bytes[..bytes.len().min(room)];
        if self.permit.is_none() && self.bytes.len() + bytes.len() > SMALL_BODY_BYTES {
            self.permit = self.buffers.try_body(self.team);
            self.is_starved |= self.permit.is_none();
        }
        if !self.is_starved {
            self.bytes.extend_from_slice(bytes);
        }
    }

    pub(crate) fn into_parts(self) -> (Vec<u8>, Option<BodyPermit>) {
        (self.bytes, self.permit)
    }
}

/// The patterns used last, compiled.
#[derive(Default)]
pub(crate) struct PatternCache(Mutex<Vec<(Box<str>, Arc<Pattern>)>>);

impl PatternCache {
    pub(crate) fn get(&self, text: &str) -> Option<Arc<Pattern>> {
        if let Some(found) = self.cached(text) {
            return Some(found);
        }
        // Not under the lock: compiling may take milliseconds.
        let pattern = Arc::new(Pattern::parse(text).ok()?);
        let mut cache = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if cache.len() >= MAX_PATTERNS {
            cache.remove(0);
        }
        cache.push((text.into(), Arc::clone(&pattern)));
        Some(pattern)
    }

    fn cached(&self, text: &str) -> Option<Arc<Pattern>> {
        let mut cache = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let at = cache.iter().rposition(|(known, _)| **known == *text)?;
        let found = cache.remove(at);
        let pattern = Arc::clone(&found.1);
        cache.push(found);
        Some(pattern)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use wakeful_core::time::Millis;

    #[test]
    fn the_pattern_used_longest_ago_makes_room() {
        let cache = PatternCache::default();
        for number in 0..MAX_PATTERNS + 10 {
            assert!(cache.get(&format!("a{number}")).is_some());
            assert!(cache.get("a0").is_some());
        }
        let cached = cache.0.lock().expect("not poisoned");
        assert_eq!(cached.len(), MAX_PATTERNS);
        assert!(cached.iter().any(|(text, _)| **text == *"a0"));
        assert!(cached.iter().all(|(text, _)| **text != *"a1"));
    }

    #[tokio::test]
    async fn a_team_has_a_share_of_the_memory_for_bodies() {
        let buffers = Buffers::new(16 << 20);
        let team = |number: u8| TeamId::new(Millis(0), [number; 10]);
        let filled = |number| {
            let (bytes, permit) = (Vec::new(), None);
            let (team, buffers) = (team(number), &buffers);
            let mut buffer = BodyBuffer { buffers, team, bytes, permit, is_starved: false };
            (0..100).for_each(|_| buffer.take(&[b'x'; 32 * KIB]));
            buffer
        };
        let hostile: Vec<_> = (0..100).map(|_| filled(1)).collect();
        let full = hostile.iter().filter(|buffer| !buffer.is_starved);
        assert!((4..=8).contains(&full.count()));
        for buffer in &hostile {
            let limit = if buffer.is_starved { SMALL_BODY_BYTES } else { MAX_BODY_BYTES };
            assert!(buffer.bytes.len() <= limit, "{}", buffer.bytes.len());
        }
        // Several such teams leave some for one more.
        let more: Vec<_> = (0..300).map(|number| filled(number as u8 % 3 + 2)).collect();
        let victim = filled(9);
        assert_eq!((victim.bytes.len(), victim.is_starved), (MAX_BODY_BYTES, false));
        drop((hostile, more, victim));
        assert!(buffers.bodies.is_unused());
    }
}
