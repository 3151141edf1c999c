//! What follows when a team, an account, a monitor or a notifier was deleted. Nobody sees it any
//! more; its rows are deleted in parts. A call deletes some of its own rows only: the janitor
//! deletes the rest, and what an interruption has left.

use wakeful_core::error_chain::ErrorChain;
use wakeful_core::time::Millis;

use crate::{Engine, Result};

/// How many parts a call deletes before it returns.
const MAX_PARTS: u32 = 20;

impl Engine {
    /// After a team or an account was deleted, at that time: its monitors are no longer checked.
    pub(crate) async fn finish_deletion(&self, at: Millis) -> Result<()> {
        self.refresh_suspensions().await?;
        self.delete_some(at).await;
        self.erase_deleted().await
    }

    /// Deletes some rows of what was deleted at that time: a call does not wait for the deletions
    /// of others. A failure does not matter to the caller.
    pub(crate) async fn delete_some(&self, at: Millis) {
        for _ in 0..MAX_PARTS {
            match self.store().delete_part_at(at).await {
                Ok(true) => {}
                Ok(false) => return,
                Err(error) => {
                    tracing::info!(error = %ErrorChain(&error), "deleting the rest of what was deleted failed, retrying later");
                    return;
                }
            }
        }
        self.0.rows_left.notify_one();
    }
}
