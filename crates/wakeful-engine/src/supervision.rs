//! Supervises the loops that run as long as the process. A loop that panics, or returns although
//! the service is not stopping, never just ends: it starts again after a pause if all of its
//! state is in the store; otherwise the process ends, and whatever runs the service starts it
//! again.

use std::fmt;
use std::time::Duration;
use tokio::time::{Instant, sleep};
use tokio_util::sync::CancellationToken;

use crate::failpoint;
use crate::notifications::delivery::survive::survived;

/// The pause before a loop starts again. It doubles with each further panic.
const MIN_PAUSE: Duration = Duration::from_secs(1);
const MAX_PAUSE: Duration = Duration::from_secs(60);
/// After a loop has run for so long, the next pause is the shortest again.
const STABLE_AFTER: Duration = Duration::from_secs(600);
/// Of a process that one of its loops ends.
const EXIT_CODE: i32 = 70;

/// Runs a loop until shutdown. After a panic, or if it ends before, it starts again.
pub async fn restart_after_panic<F: Future<Output = ()>>(
    name: &'static str,
    shutdown: CancellationToken,
    run: impl Fn() -> F,
) {
    let mut pause = MIN_PAUSE;
    loop {
        let began = Instant::now();
        let running = run();
        let ended = end_of(name, running).await;
        if shutdown.is_cancelled() {
            if ended == End::Panic {
                tracing::error!("background loop {name} panicked while the service was stopping");
            }
            return;
        }
        if began.elapsed() >= STABLE_AFTER {
            pause = MIN_PAUSE;
        }
        tracing::error!(
            "background loop {name} {ended}, starting it again in {} s",
            pause.as_secs()
        );
        tokio::select! {
            () = sleep(pause) => {}
            () = shutdown.cancelled() => return,
        }
        pause = (pause * 2).min(MAX_PAUSE);
    }
}

/// Runs a loop with state in memory that does not outlive a panic, such as results that are not
/// written yet. A panic ends the process, also if the service is stopping; so does the end of the
/// loop before.
pub async fn exit_after_panic(
    name: &'static str,
    shutdown: CancellationToken,
    running: impl Future<Output = ()>,
) {
    let ended = end_of(name, running).await;
    if ended == End::Return && shutdown.is_cancelled() {
        return;
    }
    tracing::error!("background loop {name} {ended} and cannot start again, exiting");
    std::process::exit(EXIT_CODE);
}

/// How a loop has ended.
#[derive(Clone, Copy, PartialEq, Eq)]
enum End {
    Return,
    /// The panic handler has logged it.
    Panic,
}

impl fmt::Display for End {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Return => "ended",
            Self::Panic => "panicked",
        })
    }
}

/// Runs a loop to its end.
async fn end_of(name: &'static str, running: impl Future<Output = ()>) -> End {
    let done = survived(async {
        failpoint::panic_in(name);
        running.await;
    });
    if done.await.is_ok() {
        return End::Return;
    }
    metrics::counter!("wakeful_loop_panics_total", "loop" => name).increment(1);
    End::Panic
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::sync::Mutex;

    fn fail() {
        panic!("caused by the test");
    }

    #[tokio::test(start_paused = true)]
    async fn the_pauses_grow_until_the_loop_is_stable() {
        let began = Instant::now();
        let (starts, shutdown) = (Mutex::new(Vec::new()), CancellationToken::new());
        restart_after_panic("test", shutdown.clone(), || async {
            let start = {
                let mut starts = starts.lock().expect("not poisoned");
                starts.push(began.elapsed().as_secs());
                starts.len()
            };
            match start {
                1..=9 => fail(),
                10 => {
                    sleep(STABLE_AFTER).await;
                    fail();
                }
                _ => shutdown.cancel(),
            }
        })
        .await;
        let starts = starts.into_inner().expect("not poisoned");
        assert_eq!(starts, [0, 1, 3, 7, 15, 31, 63, 123, 183, 243, 844]);
    }

    #[tokio::test(start_paused = true)]
    async fn a_stopping_service_starts_no_loop_again() {
        let shutdown = CancellationToken::new();
        let starts = Mutex::new(0);
        let run = restart_after_panic("test", shutdown.clone(), || async {
            *starts.lock().expect("not poisoned") += 1;
            fail();
        });
        let stop = async {
            sleep(MIN_PAUSE / 2).await;
            shutdown.cancel();
        };
        tokio::join!(run, stop);
        assert_eq!(*starts.lock().expect("not poisoned"), 1);
    }

    #[tokio::test(start_paused = true)]
    async fn a_loop_that_returns_before_shutdown_starts_again() {
        let (starts, shutdown) = (Mutex::new(0), CancellationToken::new());
        restart_after_panic("test", shutdown.clone(), || async {
            let mut starts = starts.lock().expect("not poisoned");
            *starts += 1;
            if *starts == 3 {
                shutdown.cancel();
            }
        })
        .await;
        assert_eq!(*starts.lock().expect("not poisoned"), 3);
    }
}
