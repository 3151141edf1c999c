//! Limits on trying. Failed logins count per account and address, so guessing
//! is slow and nobody can lock another out. Declined cards count per team and
//! per address, so that stolen numbers are not tried out here; the rest counts
//! per address.

use std::net::IpAddr;
use std::time::Duration;
use wakeful_core::id::TeamId;
use wakeful_core::token::Digest;
use wakeful_store::Hits;

use crate::{Engine, Error, Result};

const MINUTE: Duration = Duration::from_secs(60);
const HOUR: Duration = Duration::from_secs(3600);
/// Each goes out to somebody's server.
const TESTS_A_MINUTE: u32 = 10;

/// One thing that may be tried only so often.
pub(crate) struct Limit {
    key: Digest,
    most: u32,
    window: Duration,
}

impl Engine {
    pub(crate) fn failed_logins(&self, account: &str, from: IpAddr) -> Limit {
        let most = self.settings().failed_logins_per_minute;
        limit("login", &[account, &from.to_string()], most, MINUTE)
    }

    pub(crate) fn sign_ups(&self, from: IpAddr) -> Limit {
        limit("signup", &[&from.to_string()], self.settings().signups_per_hour, HOUR)
    }

    pub(crate) fn contacts(&self, from: IpAddr) -> Limit {
        limit("contact", &[&from.to_string()], self.settings().contacts_per_hour, HOUR)
    }

    pub(crate) fn resets(&self, account: &str) -> Limit {
        limit("reset", &[account], self.settings().resets_per_hour, HOUR)
    }

    pub(crate) fn notifier_tests(&self, team: TeamId) -> Limit {
        limit("notifier test", &[&team.to_string()], TESTS_A_MINUTE, MINUTE)
    }

    /// A team of its own is quickly made, so the address counts as well.
    fn declined_cards(&self, team: TeamId, from: IpAddr) -> [Limit; 2] {
        let most = self.settings().declined_cards_per_hour;
        [
            limit("declined card", &["team", &team.to_string()], most, HOUR),
            limit("declined card", &["from", &from.to_string()], most.saturating_mul(2), HOUR),
        ]
    }

    /// Does something with a card, unless too many were declined. It is counted
    /// before and taken back after, so that many at once are no way around it.
    pub(crate) async fn with_card<T>(
        &self,
        team: TeamId,
        from: IpAddr,
        work: impl Future<Output = Result<T>>,
    ) -> Result<T> {
        let limits = self.declined_cards(team, from);
        for limit in &limits {
            self.count(limit).await?;
        }
        let done = work.await;
        if !matches!(done, Err(Error::Declined(_))) {
            for limit in &limits {
                self.store().take_back_hit(limit.key).await?;
            }
        }
        done
    }

    /// Refuses when the limit is reached, without counting.
    pub(crate) async fn allow(&self, limit: &Limit) -> Result<()> {
        let now = self.now();
        let hits = self.store().hits(limit.key, now.before(limit.window), now).await?;
        match hits {
            Some(hits) if hits.count >= i64::from(limit.most) => Err(self.limited(limit, hits)),
            _ => Ok(()),
        }
    }

    /// Counts one, and refuses when that was one too many.
    pub(crate) async fn count(&self, limit: &Limit) -> Result<()> {
        let now = self.now();
        let hits = self.store().count_hit(limit.key, now.before(limit.window), now).await?;
        if hits.count > i64::from(limit.most) {
            return Err(self.limited(limit, hits));
        }
        Ok(())
    }

    fn limited(&self, limit: &Limit, hits: Hits) -> Error {
        let left = hits.started.after(limit.window).since(self.now());
        Error::Limited { retry_after: left.max(Duration::from_secs(1)) }
    }
}

fn limit(what: &str, parts: &[&str], most: u32, window: Duration) -> Limit {
    // The separator cannot stand in an address or an email.
    let key = Digest::of(&format!("{what}\n{}", parts.join("\n")));
    Limit { key, most, window }
}
