//! Limits on attempts. Failed logins count per account and client network, so
//! that guessing is slow and nobody can lock another user out, and per network,
//! so that one password is not tried on every account. Declined cards count per
//! team and per network, so that stolen numbers are not tried out here; the rest
//! counts per network.

use std::net::IpAddr;
use std::time::Duration;
use wakeful_core::client_network::ClientNetwork;
use wakeful_core::id::TeamId;
use wakeful_core::token::Digest;
use wakeful_store::Hits;

use crate::{Engine, Error, Result};

const MINUTE: Duration = Duration::from_secs(60);
const TEN_MINUTES: Duration = Duration::from_secs(600);
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
    pub(crate) fn failed_logins(&self, account: &str, from: IpAddr) -> [Limit; 2] {
        let (settings, network) = (self.settings(), network(from));
        let of_account = settings.failed_logins_per_minute;
        let of_network = settings.failed_logins_per_network;
        [
            limit("login", &[account, &network], of_account, MINUTE),
            limit("login network", &[&network], of_network, TEN_MINUTES),
        ]
    }

    pub(crate) fn sign_ups(&self, from: IpAddr) -> Limit {
        limit("signup", &[&network(from)], self.settings().signups_per_hour, HOUR)
    }

    pub(crate) fn contacts(&self, from: IpAddr) -> Limit {
        limit("contact", &[&network(from)], self.settings().contacts_per_hour, HOUR)
    }

    /// Requests for a reset link, whether or not the address has an account.
    pub(crate) fn reset_requests(&self, from: IpAddr) -> Limit {
        limit("reset request", &[&network(from)], self.settings().reset_requests_per_hour, HOUR)
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
            limit("declined card", &["from", &network(from)], most.saturating_mul(2), HOUR),
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

    /// Refuses when one of the limits is reached, without counting.
    pub(crate) async fn allow(&self, limits: &[Limit]) -> Result<()> {
        let now = self.now();
        for limit in limits {
            let hits = self.store().hits(limit.key, now.before(limit.window), now).await?;
            if let Some(hits) = hits.filter(|hits| hits.count >= i64::from(limit.most)) {
                return Err(self.limited(limit, hits));
            }
        }
        Ok(())
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

fn network(address: IpAddr) -> String {
    ClientNetwork::of(address).to_string()
}

fn limit(what: &str, parts: &[&str], most: u32, window: Duration) -> Limit {
    // The separator cannot stand in an address or an email.
    let key = Digest::of(&format!("{what}\n{}", parts.join("\n")));
    Limit { key, most, window }
}
