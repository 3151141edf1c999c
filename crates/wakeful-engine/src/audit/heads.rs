//! The daily line of each chain in the process log. Somebody who collects the log elsewhere can
//! detect with it that a chain was cut off or rewritten.

use std::sync::atomic::Ordering;

use crate::{Engine, Result};

const DAY_MILLIS: i64 = 86_400_000;

impl Engine {
    /// Logs the newest hash of each chain with new entries, once a UTC day and after the start.
    pub(crate) async fn report_audit_heads(&self) -> Result<()> {
        let today = self.now().0.div_euclid(DAY_MILLIS);
        if self.0.heads_reported_on.load(Ordering::Relaxed) == today {
            return Ok(());
        }
        for head in self.store().unreported_chains().await? {
            let (seq, hash) = (head.seq, head.hash);
            match head.team {
                Some(team) => {
                    tracing::info!(team.id = %team, seq, %hash, "the audit log of team {team} ends with entry {seq}, hash {hash}");
                }
                None => {
                    tracing::info!(seq, %hash, "the audit log of the installation ends with entry {seq}, hash {hash}");
                }
            }
            self.store().record_reported_chain(&head).await?;
        }
        self.0.heads_reported_on.store(today, Ordering::Relaxed);
        Ok(())
    }
}
