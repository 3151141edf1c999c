//! A clock that only moves when a test advances it.

use std::sync::atomic::{AtomicI64, Ordering};
use std::time::Duration;
use wakeful_core::time::{Clock, Millis};

/// Starts at 2026-11-15T09:30:00Z.
pub struct TestClock(AtomicI64);

impl Default for TestClock {
    fn default() -> Self {
        Self(AtomicI64::new(1_794_735_000_000))
    }
}

impl TestClock {
    pub fn at(now: Millis) -> Self {
        Self(AtomicI64::new(now.0))
    }

    pub fn set(&self, now: Millis) {
        self.0.store(now.0, Ordering::SeqCst);
    }

    pub fn set_back(&self, span: Duration) {
        self.0.fetch_sub(i64::try_from(span.as_millis()).unwrap(), Ordering::SeqCst);
    }

    pub fn advance(&self, span: Duration) {
        self.0.fetch_add(i64::try_from(span.as_millis()).unwrap(), Ordering::SeqCst);
    }
}

impl Clock for TestClock {
    fn now(&self) -> Millis {
        Millis(self.0.load(Ordering::SeqCst))
    }
}
