//! Rows of a queue that other processes crashed with. They are separated from the others and from
//! each other, so that the next crash tells which of them is the cause; that one is given up after
//! `MAX_CRASHES`. Each queue counts the claims of its rows (`store/claims.rs`).

use std::time::Duration;
use tokio::time::Instant;
use wakeful_core::backoff::MAX_CRASHES;

/// After this many crashes a row is sent alone, so that the next crash identifies the cause: no
/// other suspect is started before it has finished, and nothing at all before `ALONE_FOR` has
/// passed.
const ALONE_AFTER: u32 = MAX_CRASHES - 1;
const ALONE_FOR: Duration = Duration::from_secs(1);

/// Whether a row is given up after one more crash.
pub(crate) fn is_last_chance(crashes: u32) -> bool {
    (ALONE_AFTER..MAX_CRASHES).contains(&crashes)
}

/// A row that is being sent.
#[derive(Clone, Copy, Debug)]
pub(crate) struct InFlight {
    /// How many other processes crashed with it.
    pub(crate) crashes: u32,
    pub(crate) begun: Instant,
}

impl InFlight {
    /// Whether nothing else of the queue may be started yet.
    pub(crate) fn is_alone(&self) -> bool {
        is_last_chance(self.crashes) && self.begun.elapsed() < ALONE_FOR
    }
}

/// Whether a row may be sent beside those that are: suspects follow one another.
pub(crate) fn may_start(crashes: u32, mut in_flight: impl Iterator<Item = InFlight>) -> bool {
    in_flight.all(|other| !other.is_alone() && (crashes == 0 || other.crashes == 0))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn sent(crashes: u32) -> InFlight {
        InFlight { crashes, begun: Instant::now() }
    }

    #[tokio::test(start_paused = true)]
    async fn suspects_follow_one_another_and_the_last_chance_is_had_alone() {
        assert!(may_start(0, [sent(0), sent(1)].into_iter()));
        assert!(may_start(1, [sent(0), sent(0)].into_iter()));
        assert!(!may_start(1, [sent(0), sent(1)].into_iter()));
        let last = sent(MAX_CRASHES - 1);
        assert!(!may_start(0, [last].into_iter()));
        tokio::time::advance(ALONE_FOR).await;
        assert!(may_start(0, [last].into_iter()));
        assert!(!may_start(1, [last].into_iter()));
        // It is given up, not sent.
        assert!(may_start(0, [sent(MAX_CRASHES)].into_iter()));
    }
}
