//! The streams of HTTP/2 connections, each in its own task. A stream whose client does
//! not read the response is reset. The socket does not show this: a client may read
//! every byte of the connection and still give a stream no window.

use hyper::rt::Executor;
use std::pin::pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;
use tokio::time::Instant;
use tokio_util::task::TaskTracker;

tokio::task_local! {
    static STREAM: Arc<StreamProgress>;
}

/// The progress of the current task's stream; none over HTTP/1.
pub(super) fn current() -> Option<Arc<StreamProgress>> {
    STREAM.try_with(Arc::clone).ok()
}

/// `waiting_since` while the server does not wait for the client.
const NOT_WAITING: u64 = u64::MAX;

pub(super) struct StreamProgress {
    began: Instant,
    /// Milliseconds from `began` until the last piece of the response was passed on,
    /// unless another one has been requested since.
    waiting_since: AtomicU64,
}

impl StreamProgress {
    fn new() -> Self {
        Self { began: Instant::now(), waiting_since: AtomicU64::new(NOT_WAITING) }
    }

    /// The client has read everything so far.
    pub(super) fn asked(&self) {
        self.waiting_since.store(NOT_WAITING, Ordering::Relaxed);
    }

    pub(super) fn handed_on(&self) {
        let now = u64::try_from(self.began.elapsed().as_millis()).unwrap_or(NOT_WAITING);
        self.waiting_since.store(now, Ordering::Relaxed);
    }

    fn waiting_since(&self) -> Option<Instant> {
        match self.waiting_since.load(Ordering::Relaxed) {
            NOT_WAITING => None,
            since => Some(self.began + Duration::from_millis(since)),
        }
    }
}

#[derive(Clone)]
pub(super) struct StreamExecutor {
    tasks: TaskTracker,
    stall_timeout: Duration,
}

impl StreamExecutor {
    pub(super) fn new(tasks: TaskTracker, stall_timeout: Duration) -> Self {
        Self { tasks, stall_timeout }
    }
}

impl<F> Executor<F> for StreamExecutor
where
    F: Future + Send + 'static,
    F::Output: Send,
{
    fn execute(&self, stream: F) {
        let progress = Arc::new(StreamProgress::new());
        let running = STREAM.scope(Arc::clone(&progress), stream);
        self.tasks.spawn(until_stalled(running, progress, self.stall_timeout));
    }
}

/// Runs a stream to its end, or drops it when it stalls, which resets it.
async fn until_stalled<F: Future>(stream: F, progress: Arc<StreamProgress>, timeout: Duration) {
    let mut stream = pin!(stream);
    loop {
        let from = progress.waiting_since().unwrap_or_else(Instant::now);
        tokio::select! {
            biased;
            _ = stream.as_mut() => return,
            () = tokio::time::sleep_until(from + timeout) => {}
        }
        if progress.waiting_since().is_some_and(|since| since.elapsed() >= timeout) {
            metrics::counter!("wakeful_http2_streams_reset_total").increment(1);
            return;
        }
    }
}
