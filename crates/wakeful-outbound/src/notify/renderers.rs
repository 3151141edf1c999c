//! Rendering of users' templates: a few at a time, on threads that neither requests nor
//! checks run on. Requests and deliveries do not wait for each other.

use std::time::Duration;
use tokio::sync::Semaphore;
use tokio::task::spawn_blocking;
use tokio::time::timeout;

const REQUESTS_AT_ONCE: usize = 1;
const DELIVERIES_AT_ONCE: usize = 2;
const REQUEST_TIMEOUT: Duration = Duration::from_secs(5);

pub struct Renderers {
    requests: Semaphore,
    deliveries: Semaphore,
}

impl Default for Renderers {
    fn default() -> Self {
        Self {
            requests: Semaphore::new(REQUESTS_AT_ONCE),
            deliveries: Semaphore::new(DELIVERIES_AT_ONCE),
        }
    }
}

impl Renderers {
    /// Renders for a request; nothing when too many others want the same.
    pub async fn for_request<T: Send + 'static>(
        &self,
        render: impl FnOnce() -> T + Send + 'static,
    ) -> Option<T> {
        let _slot = timeout(REQUEST_TIMEOUT, self.requests.acquire()).await.ok()?.ok()?;
        spawn_blocking(render).await.ok()
    }

    /// Renders for a delivery, when it is its turn.
    pub(crate) async fn for_delivery<T: Send + 'static>(
        &self,
        render: impl FnOnce() -> T + Send + 'static,
    ) -> Option<T> {
        let _slot = self.deliveries.acquire().await.ok()?;
        spawn_blocking(render).await.ok()
    }
}
