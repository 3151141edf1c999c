//! Points at which a test can crash the process, to prove that nothing is lost there.
//! `WAKEFUL_TEST_FAILPOINT` names one of them; `name:3` crashes at the third visit, and
//! `name=word` at every visit whose text contains the word, like a message that crashes
//! every process that sends it. `panic-in=loop` only panics, in the background loop with this
//! name, `panic-building=word` whenever a status page with the word in its slug is built,
//! `hang-building=word` does not let it be finished, and
//! `panic-deciding=word` whenever an alert of a monitor with the word in its name is decided
//! about. Release builds have no failpoints.

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

/// Panics here, but only once, if a test requested it for the loop with this name.
#[cfg(debug_assertions)]
pub(crate) fn panic_in(name: &str) {
    use std::sync::atomic::{AtomicBool, Ordering::Relaxed};

    static HAS_PANICKED: AtomicBool = AtomicBool::new(false);
    let requested = std::env::var("WAKEFUL_TEST_FAILPOINT").unwrap_or_default();
    let is_requested = requested.strip_prefix("panic-in=") == Some(name);
    if is_requested && !HAS_PANICKED.swap(true, Relaxed) {
        panic!("a test requested this panic");
    }
}

/// Panics here whenever a test requested it by a word in this text.
#[cfg(debug_assertions)]
pub(crate) fn panic_with(name: &str, text: &str) {
    let requested = std::env::var("WAKEFUL_TEST_FAILPOINT").unwrap_or_default();
    let word = requested.split_once('=').filter(|(failpoint, _)| *failpoint == name);
    if word.is_some_and(|(_, word)| text.contains(word)) {
        panic!("a test requested this panic");
    }
}

/// Never goes on if a test requested it by a word in this text.
#[cfg(debug_assertions)]
pub(crate) async fn hang_with(name: &str, text: &str) {
    let requested = std::env::var("WAKEFUL_TEST_FAILPOINT").unwrap_or_default();
    let word = requested.split_once('=').filter(|(failpoint, _)| *failpoint == name);
    if word.is_some_and(|(_, word)| text.contains(word)) {
        std::future::pending::<()>().await;
    }
}

#[cfg(not(debug_assertions))]
pub(crate) fn here(_: &str) {}

#[cfg(not(debug_assertions))]
pub(crate) fn with(_: &str, _: &str) {}

#[cfg(not(debug_assertions))]
pub(crate) fn panic_in(_: &str) {}

#[cfg(not(debug_assertions))]
pub(crate) fn panic_with(_: &str, _: &str) {}

#[cfg(not(debug_assertions))]
pub(crate) async fn hang_with(_: &str, _: &str) {}
