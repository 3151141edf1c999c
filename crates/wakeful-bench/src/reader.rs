//! A client that reads the list of monitors all the time.

use std::sync::Arc;
use std::time::Duration;
use tokio::task::JoinHandle;
use tokio::time::{Instant, interval};

use crate::service::Service;

/// How often the whole list is read.
const READ_INTERVAL: Duration = Duration::from_secs(1);

pub struct Reader(JoinHandle<()>);

impl Reader {
    pub fn start(service: Arc<Service>) -> Self {
        Self(tokio::spawn(async move {
            let mut turn = interval(READ_INTERVAL);
            loop {
                turn.tick().await;
                // A list that cannot be read shows in the figures for the list.
                let _ = service.get("/api/v1/monitors").await;
            }
        }))
    }

    pub async fn stop(self) {
        self.0.abort();
        // It releases the service only when it has ended.
        let _ = self.0.await;
    }
}

/// How long it takes to get these paths, one after the other, in milliseconds.
pub async fn times(service: &Service, paths: &[String]) -> crate::Outcome<Vec<f64>> {
    let mut times = Vec::with_capacity(paths.len());
    for path in paths {
        let began = Instant::now();
        service.get(path).await?;
        times.push(began.elapsed().as_secs_f64() * 1_000.0);
    }
    Ok(times)
}
