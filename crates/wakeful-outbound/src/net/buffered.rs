//! The memory of checks that must see a whole body: the bodies of all checks together are
//! bounded, and so are the documents that are parsed into trees and the compiled patterns.

use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;
use tokio::sync::{OwnedSemaphorePermit, Semaphore};
use tokio::time::timeout;
use wakeful_core::assert::{MAX_TREE_BYTES, Pattern};

const KIB: usize = 1_024;
const DEFAULT_BYTES: usize = 16 << 20;
/// A body of up to this length is buffered without a permit: checks that run at one time are
/// few enough.
pub(crate) const SMALL_BODY_BYTES: usize = 64 * KIB;
/// How long a check waits for the bodies of others. It is a part of its own timeout, so a longer
/// wait could make a slow target seem to be down.
const MAX_WAIT: Duration = Duration::from_millis(100);
/// How many compiled patterns are cached.
const MAX_PATTERNS: usize = 64;

/// Permits to buffer bodies and to build trees, one for each KiB.
pub(crate) struct Buffers {
    bodies: Arc<Semaphore>,
    trees: Arc<Semaphore>,
}

impl Default for Buffers {
    fn default() -> Self {
        Self::new(DEFAULT_BYTES)
    }
}

impl Buffers {
    pub(super) fn new(bytes: usize) -> Self {
        let permits = |bytes: usize| Arc::new(Semaphore::new((bytes / KIB).max(1)));
        Self { bodies: permits(bytes.max(2 << 20)), trees: permits(MAX_TREE_BYTES) }
    }

    /// Waits until so many bytes of a body may be buffered.
    pub(crate) async fn body(&self, bytes: usize) -> Option<OwnedSemaphorePermit> {
        Arc::clone(&self.bodies).acquire_many_owned(kib(bytes)).await.ok()
    }

    /// The same without waiting.
    fn try_body(&self, bytes: usize) -> Option<OwnedSemaphorePermit> {
        Arc::clone(&self.bodies).try_acquire_many_owned(kib(bytes)).ok()
    }

    /// Waits until a document of this length may become a tree.
    pub(crate) async fn tree(&self, bytes: usize) -> Option<OwnedSemaphorePermit> {
        let bytes = bytes.min(MAX_TREE_BYTES);
        Arc::clone(&self.trees).acquire_many_owned(kib(bytes)).await.ok()
    }
}

fn kib(bytes: usize) -> u32 {
    u32::try_from(bytes.div_ceil(KIB)).unwrap_or(u32::MAX)
}

/// A body that is buffered while it arrives, up to a limit.
pub(crate) struct BodyBuffer<'n> {
    buffers: &'n Buffers,
    pub(crate) bytes: Vec<u8>,
    limit: usize,
    permit: Option<OwnedSemaphorePermit>,
    /// There was no memory for the rest.
    pub(crate) is_starved: bool,
}

impl<'n> BodyBuffer<'n> {
    /// For a body whose length may have been announced.
    pub(crate) async fn new(buffers: &'n Buffers, announced: Option<u64>, limit: usize) -> Self {
        let announced = announced.and_then(|length| usize::try_from(length).ok());
        let expected = announced.unwrap_or_default().min(limit);
        let is_large = expected > SMALL_BODY_BYTES;
        let permit = if is_large {
            timeout(MAX_WAIT, buffers.body(limit)).await.ok().flatten()
        } else {
            None
        };
        let is_starved = is_large && permit.is_none();
        Self { buffers, bytes: Vec::new(), limit, permit, is_starved }
    }

    pub(crate) fn take(&mut self, bytes: &[u8]) {
        let room = self.limit - self.bytes.len();
        let bytes = &bytes[..bytes.len().min(room)];
        if self.permit.is_none() && self.bytes.len() + bytes.len() > SMALL_BODY_BYTES {
            self.permit = self.buffers.try_body(self.limit);
            self.is_starved |= self.permit.is_none();
        }
        if !self.is_starved {
            self.bytes.extend_from_slice(bytes);
        }
    }

    pub(crate) fn into_parts(self) -> (Vec<u8>, Option<OwnedSemaphorePermit>) {
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
    async fn the_bodies_of_all_checks_share_the_memory() {
        let buffers = Buffers::new(2 << 20);
        let mut first = BodyBuffer::new(&buffers, Some(1 << 20), 1 << 20).await;
        let mut second = BodyBuffer::new(&buffers, None, 1 << 20).await;
        let mut third = BodyBuffer::new(&buffers, None, 1 << 20).await;
        for buffer in [&mut first, &mut second, &mut third] {
            (0..100).for_each(|_| buffer.take(&[b'x'; 32 * KIB]));
        }
        assert_eq!((first.bytes.len(), first.is_starved), (1 << 20, false));
        assert_eq!((second.bytes.len(), second.is_starved), (1 << 20, false));
        assert!(third.is_starved && third.bytes.len() <= SMALL_BODY_BYTES);
    }
}
