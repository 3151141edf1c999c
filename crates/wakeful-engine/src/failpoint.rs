//! Points at which a test can crash the process, to prove that nothing is lost there.
//! `WAKEFUL_TEST_FAILPOINT` names one of them; `name:3` crashes at the third visit, and
//! `name=word` at every visit whose text contains the word, like a message that crashes
//! every process that sends it. Release builds have no failpoints.

/// Crashes the process here, like `kill -9`, if a test requested it.
#[cfg(debug_assertions)]
pub(crate) fn here(name: &str) {
    use std::sync::atomic::{AtomicU32, Ordering::Relaxed};

    /// Visits to the requested failpoint: a process has at most one.
    static VISITS: AtomicU32 = AtomicU32::new(0);
    let Ok(requested) = std::env::var("WAKEFUL_TEST_FAILPOINT") else { return };
    let (failpoint, visit) = requested.split_once(':').unwrap_or((&requested, "1"));
    if failpoint == name && VISITS.fetch_add(1, Relaxed) + 1 == visit.parse().unwrap_or(1) {
        std::process::abort();
    }
}

/// Crashes the process here if a test requested it by a word in this text.
#[cfg(debug_assertions)]
pub(crate) fn with(name: &str, text: &str) {
    let Ok(requested) = std::env::var("WAKEFUL_TEST_FAILPOINT") else { return };
    let Some((failpoint, word)) = requested.split_once('=') else { return };
    if failpoint == name && text.contains(word) {
        std::process::abort();
    }
}

#[cfg(not(debug_assertions))]
pub(crate) fn here(_: &str) {}

#[cfg(not(debug_assertions))]
pub(crate) fn with(_: &str, _: &str) {}
