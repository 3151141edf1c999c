//! The history retention of a team's plan. When it becomes shorter, the team is notified of
//! the date, and everything is retained for 14 more days. The rule is
//! `wakeful_core::billing::Retention`.

use wakeful_core::billing::Retention;
use wakeful_core::id::TeamId;

use super::emails;
use crate::{Engine, Result};

impl Engine {
    /// How many days of history are currently retained for a team; `None`: all of them.
    pub(crate) async fn retention_days(&self, team: TeamId) -> Result<Option<u32>> {
        let Some(plan) = self.limiting_plan(team).await? else { return Ok(None) };
        let store = self.billed_team(team);
        let before = store.history_retention().await?;
        if before == Retention::of_days(plan.limits.history_days) {
            return Ok(before.days);
        }
        let (oldest, now) = (store.oldest_day().await?, self.now());
        let after = before.next(plan.limits.history_days, oldest, now);
        if after == before {
            return Ok(before.days);
        }
        let fall =
            after.pending.filter(|fall| before.pending != Some(*fall) && fall.deletes_any(oldest));
        let mails = match fall {
            Some(fall) => {
                let text = emails::history_deletion(self.settings(), &plan, fall.at);
                self.emails_to_payers(team, &text).await?
            }
            None => Vec::new(),
        };
        // If another node was first, it has notified the team.
        if !store.set_history_retention(before, after, &mails, now).await? {
            return Ok(before.days);
        }
        self.0.mail_queued.notify_one();
        Ok(after.days)
    }

    /// Clears the stored limits of plans if limits are not enforced.
    pub(crate) async fn clear_retention_limits(&self) -> Result<()> {
        if !self.settings().billing.limits {
            self.store().clear_history_retention().await?;
        }
        Ok(())
    }
}
