//! Renders the templates of users for deliveries: a few at a time, on threads that
//! neither requests nor checks run on. Teams take turns.

use tokio::task::spawn_blocking;
use wakeful_core::id::TeamId;

use crate::fair_queue::{Bounds, FairQueue};

/// A team has far fewer messages in flight than may wait.
const BOUNDS: Bounds =
    Bounds { running: 2, waiting: usize::MAX, waiting_per_key: usize::MAX, share: |_free| 1 };

pub struct Renderers(FairQueue<TeamId>);

impl Default for Renderers {
    fn default() -> Self {
        Self(FairQueue::new(BOUNDS))
    }
}

impl Renderers {
    /// Renders when it is the team's turn. Returns `None` if rendering panics.
    pub(crate) async fn render<T: Send + 'static>(
        &self,
        team: TeamId,
        render: impl FnOnce() -> T + Send + 'static,
    ) -> Option<T> {
        let turn = self.0.turn(team).await.ok()?;
        let rendering = spawn_blocking(move || {
            let rendered = render();
            drop(turn);
            rendered
        });
        rendering.await.ok()
    }
}
