//! Places at which a test lets the process die, to prove that nothing is lost
//! there. `WAKEFUL_TEST_FAILPOINT` names one of them; `name:3` lets two visits pass
//! and ends at the third. `name=word` ends at every visit whose text contains the word:
//! the message that no process survives. Release builds have none of it.

/// Ends the process here, as `kill -9` would, when a test asked for it.
#[cfg(debug_assertions)]
pub(crate) fn here(name: &str) {
    use std::sync::atomic::{AtomicU32, Ordering::Relaxed};

    /// Visits to the place that is asked for: a process has one.
    static VISITS: AtomicU32 = AtomicU32::new(0);
    let Ok(asked) = std::env::var("WAKEFUL_TEST_FAILPOINT") else { return };
    let (place, visit) = asked.split_once(':').unwrap_or((&asked, "1"));
    if place == name && VISITS.fetch_add(1, Relaxed) + 1 == visit.parse().unwrap_or(1) {
        std::process::abort();
    }
}

/// Ends the process here when a test asked for it by a word in this text.
#[cfg(debug_assertions)]
pub(crate) fn with(name: &str, text: &str) {
    let Ok(asked) = std::env::var("WAKEFUL_TEST_FAILPOINT") else { return };
    let Some((place, word)) = asked.split_once('=') else { return };
    if place == name && text.contains(word) {
        std::process::abort();
    }
}

#[cfg(not(debug_assertions))]
pub(crate) fn here(_: &str) {}

#[cfg(not(debug_assertions))]
pub(crate) fn with(_: &str, _: &str) {}
