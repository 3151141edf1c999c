//! Visitors of a page: each of them asks again as soon as it has the page.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use tokio::task::JoinSet;

use crate::client::Client;

/// They visit until they leave, or are dropped.
pub struct Visitors {
    tasks: JoinSet<()>,
    views: Arc<AtomicUsize>,
    failed: Arc<AtomicUsize>,
}

impl Visitors {
    pub fn start(client: &Client, path: &'static str, count: usize) -> Self {
        let (views, failed) = (Arc::new(AtomicUsize::new(0)), Arc::new(AtomicUsize::new(0)));
        let mut tasks = JoinSet::new();
        for _ in 0..count {
            let client = client.with("accept", "text/html");
            let (views, failed) = (views.clone(), failed.clone());
            tasks.spawn(async move {
                loop {
                    let answer = client.get(path).await;
                    views.fetch_add(1, Ordering::SeqCst);
                    failed.fetch_add(usize::from(answer.status != 200), Ordering::SeqCst);
                }
            });
        }
        Self { tasks, views, failed }
    }

    /// How many views there were so far.
    pub fn views(&self) -> usize {
        self.views.load(Ordering::SeqCst)
    }

    /// Ends the visits: there were more than `least`, and all of them succeeded.
    pub async fn leave(mut self, least: usize) {
        self.tasks.shutdown().await;
        let counts = (self.views(), self.failed.load(Ordering::SeqCst));
        assert!(counts.0 > least && counts.1 == 0, "views and failures: {counts:?}");
    }
}
