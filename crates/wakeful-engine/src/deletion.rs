//! What follows when a team, an account, a monitor or a notifier was deleted. Nobody sees it any
//! more; its rows are deleted in parts. If there are many, or if this is interrupted, the janitor
//! continues.

use wakeful_core::error_chain::ErrorChain;

use crate::{Engine, Result};

/// How many parts a call deletes before it returns.
const MAX_PARTS: u32 = 20;

impl Engine {
    /// After a team or an account was deleted: its monitors are no longer checked.
    pub(crate) async fn finish_deletion(&self) -> Result<()> {
        self.refresh_suspensions().await?;
        self.delete_some().await;
        self.erase_deleted().await
    }

    /// Deletes some rows. A failure does not matter to the caller.
    pub(crate) async fn delete_some(&self) {
        // Several calls at a time would delete the same rows.
        let _turn = self.0.deleting.lock().await;
        for _ in 0..MAX_PARTS {
            match self.store().delete_part().await {
                Ok(true) => {}
                Ok(false) => return,
                Err(error) => {
                    tracing::info!(error = %ErrorChain(&error), "deleting the rest of what was deleted failed, retrying later");
                    return;
                }
            }
        }
    }
}
