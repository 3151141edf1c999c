//! How much of its history a team keeps by its plan. When that becomes less, it
//! is told, with the day, and everything stays for 14 days more. The rule is
//! `wakeful_core::billing::Kept`.

use wakeful_core::billing::Kept;
use wakeful_core::id::TeamId;

use super::words;
use crate::{Engine, Result};

impl Engine {
    /// How many days of history a team keeps now; nothing: all of them.
    pub(crate) async fn kept_days(&self, team: TeamId) -> Result<Option<u32>> {
        let Some(plan) = self.limiting_plan(team).await? else { return Ok(None) };
        let store = self.store().team(team);
        let before = store.kept_history().await?;
        if before == Kept::by(plan.limits.history_days) {
            return Ok(before.days);
        }
        let (oldest, now) = (store.oldest_day().await?, self.now());
        let after = before.next(plan.limits.history_days, oldest, now);
        if after == before {
            return Ok(before.days);
        }
        let fall = after.fall.filter(|fall| before.fall != Some(*fall) && fall.takes(oldest));
        let told = match fall {
            Some(fall) => {
                let words = words::history_goes(self.settings(), &plan, fall.at);
                self.letters_to(team, words).await?
            }
            None => Vec::new(),
        };
        // Another node may have been first: then it has told them.
        if !store.keep_history(before, after, &told, now).await? {
            return Ok(before.days);
        }
        self.0.mail_waits.notify_one();
        Ok(after.days)
    }

    /// What plans allowed is forgotten while there are no limits.
    pub(crate) async fn forget_kept_days(&self) -> Result<()> {
        if !self.settings().billing.limits {
            self.store().forget_kept_history().await?;
        }
        Ok(())
    }
}
