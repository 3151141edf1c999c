//! Rate limits. Failed logins count per account and client network, so that guessing is slow
//! and a user cannot be locked out by others, and per network, so that one password cannot be
//! tried on every account; the networks of an IPv6 site count together as well. Declined cards
//! count per team and per network, so that stolen numbers are not tested here. Everything else
//! counts per network and per site.

use std::net::IpAddr;
use std::time::Duration;
use wakeful_core::client_network::ClientNetwork;
use wakeful_core::id::{StatuspageId, TeamId, UserId};
use wakeful_core::time::Millis;
use wakeful_core::token::Digest;
use wakeful_outbound::fair_queue::Turn;
use wakeful_store::Hits;

use crate::{Engine, Error, Result};

const MINUTE: Duration = Duration::from_secs(60);
const TEN_MINUTES: Duration = Duration::from_secs(600);
const HOUR: Duration = Duration::from_secs(3600);
/// How many times as many attempts a site may have as one of its networks: 65,536 of an IPv6
/// site, 256 addresses of an IPv4 site.
const SITE_FACTOR: u32 = 4;
/// For one account or API key.
const LOGIN_ENTRIES_PER_HOUR: u32 = 60;
/// For one team.
const CALENDARS_PER_MINUTE: u32 = 60;
/// For one status page and one client.
const PAGE_PASSWORDS_PER_MINUTE: u32 = 10;
/// From all clients: each one may send an email.
const SUBSCRIPTIONS_OF_PAGE_PER_HOUR: u32 = 1_000;
/// Each one sends a message to an external server.
const NOTIFIER_TESTS_PER_MINUTE: u32 = 10;

/// The maximum number of attempts within a window.
pub(crate) struct Limit {
    key: Digest,
    /// Who makes the attempts, if a stranger can: they take turns.
    client: Option<IpAddr>,
    max: u32,
    window: Duration,
}

impl Limit {
    fn by(self, client: IpAddr) -> Self {
        Self { client: Some(client), ..self }
    }
}

impl Engine {
    pub(crate) fn failed_login_limit(&self, account: &str, from: IpAddr) -> Vec<Limit> {
        let limits = &self.settings().limits;
        let failed_logins = |network: ClientNetwork, factor: u32| {
            let network = network.to_string();
            let of_account = limits.failed_logins_per_minute.saturating_mul(factor);
            let of_network = limits.failed_logins_per_network.saturating_mul(factor);
            [
                limit("login", &[account, &network], of_account, MINUTE).by(from),
                limit("login network", &[&network], of_network, TEN_MINUTES).by(from),
            ]
        };
        let network = ClientNetwork::of(from);
        let mut of_client = Vec::from(failed_logins(network, 1));
        // Not of an IPv4 site: the addresses of a /24 belong to many customers of a provider, and
        // one of them could keep the others from logging in. It has only 256 addresses anyway.
        if from.to_canonical().is_ipv6() {
            of_client.extend(failed_logins(network.site(), SITE_FACTOR));
        }
        of_client
    }

    /// Wrong passwords of a status page. As for logins, only an IPv6 site counts together.
    pub(crate) fn statuspage_password_limits(
        &self,
        page: StatuspageId,
        from: IpAddr,
    ) -> Vec<Limit> {
        let page = page.to_string();
        let of = |network: ClientNetwork, factor: u32| {
            let max = PAGE_PASSWORDS_PER_MINUTE.saturating_mul(factor);
            limit("status page", &[&page, &network.to_string()], max, MINUTE).by(from)
        };
        let network = ClientNetwork::of(from);
        let mut all = vec![of(network, 1)];
        if from.to_canonical().is_ipv6() {
            all.push(of(network.site(), SITE_FACTOR));
        }
        all
    }

    /// Subscriptions to a status page that a visitor requests, and all of the page.
    pub(crate) fn subscription_limits(&self, page: StatuspageId, from: IpAddr) -> Vec<Limit> {
        let max = self.settings().limits.subscriptions_per_hour;
        let mut all = network_limits("subscription", from, max);
        let page = page.to_string();
        let of_page = limit("subscription page", &[&page], SUBSCRIPTIONS_OF_PAGE_PER_HOUR, HOUR);
        all.push(of_page.by(from));
        all
    }

    pub(crate) fn signup_limits(&self, from: IpAddr) -> Vec<Limit> {
        network_limits("signup", from, self.settings().limits.signups_per_hour)
    }

    pub(crate) fn contact_limits(&self, from: IpAddr) -> Vec<Limit> {
        network_limits("contact", from, self.settings().limits.contacts_per_hour)
    }

    /// Requests for a reset link, whether or not the address has an account.
    pub(crate) fn reset_request_limits(&self, from: IpAddr) -> Vec<Limit> {
        network_limits("reset request", from, self.settings().limits.reset_requests_per_hour)
    }

    pub(crate) fn reset_limit(&self, account: &str) -> Limit {
        limit("reset", &[account], self.settings().limits.resets_per_hour, HOUR)
    }

    /// Links to verify an address: per client network, per user, who may enter one address
    /// after the other, and per address. As many as reset links.
    pub(crate) fn verification_limits(
        &self,
        user: UserId,
        account: &str,
        from: IpAddr,
    ) -> Vec<Limit> {
        let limits = &self.settings().limits;
        let (of_network, max) = (limits.reset_requests_per_hour, limits.resets_per_hour);
        let mut all = network_limits("verification request", from, of_network);
        all.push(limit("verification user", &[&user.to_string()], max, HOUR));
        all.push(limit("verification", &[account], max, HOUR));
        all
    }

    /// Most invitations send a mail to someone who did not ask for it. A user may have many
    /// teams, so all invitations by the user count as well.
    pub(crate) fn invitation_limits(&self, team: TeamId, user: UserId) -> [Limit; 2] {
        let max = self.settings().limits.invitations_per_hour;
        [("invitation", team.to_string()), ("invitation user", user.to_string())]
            .map(|(what, of)| limit(what, &[&of], max, HOUR))
    }

    /// Subscribers that a team adds get mail that they have not requested. As for invitations,
    /// those of all teams of the user count as well.
    pub(crate) fn added_subscriber_limits(&self, team: TeamId, user: UserId) -> [Limit; 2] {
        let max = self.settings().limits.added_subscribers_per_hour;
        [("added subscriber", team.to_string()), ("added subscriber user", user.to_string())]
            .map(|(what, of)| limit(what, &[&of], max, HOUR))
    }

    /// The messages to subscribers that the updates of a team cause.
    pub(crate) fn subscriber_message_limit(&self, team: TeamId) -> Limit {
        let max = self.settings().limits.subscriber_messages_per_hour;
        limit("subscriber message", &[&team.to_string()], max, HOUR)
    }

    /// Incidents that people create: each one stores text. As for invitations, those of all teams
    /// of the user count as well.
    pub(crate) fn incident_limits(&self, team: TeamId, user: UserId) -> [Limit; 2] {
        let max = self.settings().limits.incidents_per_hour;
        [("incident", team.to_string()), ("incident user", user.to_string())]
            .map(|(what, of)| limit(what, &[&of], max, HOUR))
    }

    /// Lines in the log about updates of a team that notify nobody because of that limit.
    pub(crate) fn subscriber_message_warning_limit(&self, team: TeamId) -> Limit {
        limit("subscriber message warning", &[&team.to_string()], 1, HOUR)
    }

    /// Failed logins of an account, or logins with an API key, in the audit log: they must not
    /// push other entries out of it.
    pub(crate) fn login_entry_limit(&self, of: &str) -> Limit {
        limit("login entry", &[of], LOGIN_ENTRIES_PER_HOUR, HOUR)
    }

    /// Action links that do not exist.
    pub(crate) fn invalid_action_link_limits(&self, from: IpAddr) -> [Limit; 2] {
        let max = self.settings().limits.action_links_per_minute;
        let site = ClientNetwork::of(from).site().to_string();
        [
            limit("action link", &["from", &network(from)], max, MINUTE).by(from),
            limit("action link", &["site", &site], max.saturating_mul(SITE_FACTOR), MINUTE)
                .by(from),
        ]
    }

    /// Actions through one link.
    pub(crate) fn action_link_limit(&self, token: &str) -> Limit {
        let max = self.settings().limits.action_links_per_minute;
        limit("action", &[token], max, MINUTE)
    }

    /// Reads of a team's calendars, which need no login and take as long as there are shifts.
    pub(crate) fn calendar_limit(&self, team: TeamId) -> Limit {
        limit("calendar", &[&team.to_string()], CALENDARS_PER_MINUTE, MINUTE)
    }

    pub(crate) fn notifier_test_limit(&self, team: TeamId) -> Limit {
        limit("notifier test", &[&team.to_string()], NOTIFIER_TESTS_PER_MINUTE, MINUTE)
    }

    /// A new team is quickly created, so the client's network counts as well.
    fn declined_card_limits(&self, team: TeamId, from: IpAddr) -> [Limit; 2] {
        let max = self.settings().limits.declined_cards_per_hour;
        [
            limit("declined card", &["team", &team.to_string()], max, HOUR),
            limit("declined card", &["from", &network(from)], max.saturating_mul(2), HOUR),
        ]
    }

    /// Runs `work` with a card, unless too many were declined. The attempt is counted before
    /// and the count undone after, so that concurrent attempts cannot exceed the limit.
    pub(crate) async fn with_card_limit<T>(
        &self,
        team: TeamId,
        from: IpAddr,
        work: impl Future<Output = Result<T>>,
    ) -> Result<T> {
        let limits = self.declined_card_limits(team, from);
        self.count_attempts(&limits).await?;
        let done = work.await;
        if !matches!(done, Err(Error::Declined(_))) {
            self.undo_attempts(&limits, 1).await?;
        }
        done
    }

    /// Undoes the count of attempts that are not to count.
    pub(crate) async fn undo_attempts(&self, limits: &[Limit], count: u32) -> Result<()> {
        for limit in limits {
            self.store().undo_hits(limit.key, count).await?;
        }
        Ok(())
    }

    /// Counts many attempts against several limits, or none if they exceed one of them together. The
    /// caller has refused more attempts than a limit allows at all, which would always fail.
    pub(crate) async fn count_together(&self, limits: &[Limit], count: u32) -> Result<()> {
        for (place, limit) in limits.iter().enumerate() {
            let now = self.now();
            // Not written if it cannot fit, so that a flood of them does not delay other writes.
            let seen = self.hits(limit, now).await?;
            let exceeds = |hits: i64| hits + i64::from(count) > i64::from(limit.max);
            if let Some(hits) = seen.filter(|hits| exceeds(hits.count)) {
                self.undo_attempts(&limits[..place], count).await?;
                return Err(self.limit_error(limit, hits));
            }
            let hits = self.record_hits(limit, count, now).await?;
            if hits.count > i64::from(limit.max) {
                self.undo_attempts(&limits[..=place], count).await?;
                return Err(self.limit_error(limit, hits));
            }
        }
        Ok(())
    }

    /// Fails if one of the limits is reached, without counting.
    pub(crate) async fn check_limit(&self, limits: &[Limit]) -> Result<()> {
        let now = self.now();
        for limit in limits {
            let hits = self.hits(limit, now).await?;
            if let Some(hits) = hits.filter(|hits| hits.count >= i64::from(limit.max)) {
                return Err(self.limit_error(limit, hits));
            }
        }
        Ok(())
    }

    /// Counts an attempt, and fails if it exceeds the limit. Attempts beyond the limit are
    /// not written, so that a flood of them does not delay other writes.
    pub(crate) async fn count_attempt(&self, limit: &Limit) -> Result<()> {
        let now = self.now();
        let hits = self.hits(limit, now).await?;
        if let Some(hits) = hits.filter(|hits| hits.count > i64::from(limit.max)) {
            return Err(self.limit_error(limit, hits));
        }
        let hits = self.record_hits(limit, 1, now).await?;
        if hits.count > i64::from(limit.max) {
            return Err(self.limit_error(limit, hits));
        }
        Ok(())
    }

    /// Counts an attempt against several limits.
    pub(crate) async fn count_attempts(&self, limits: &[Limit]) -> Result<()> {
        for limit in limits {
            self.count_attempt(limit).await?;
        }
        Ok(())
    }

    async fn hits(&self, limit: &Limit, now: Millis) -> Result<Option<Hits>> {
        let _turn = self.turn_of(limit).await?;
        Ok(self.store().hits(limit.key, now.before(limit.window), now).await?)
    }

    async fn record_hits(&self, limit: &Limit, count: u32, now: Millis) -> Result<Hits> {
        let _turn = self.turn_of(limit).await?;
        Ok(self.store().record_hits(limit.key, count, now.before(limit.window), now).await?)
    }

    async fn turn_of(&self, limit: &Limit) -> Result<Option<Turn<ClientNetwork>>> {
        match limit.client {
            Some(client) => self.lookup_turn(client).await.map(Some),
            None => Ok(None),
        }
    }

    fn limit_error(&self, limit: &Limit, hits: Hits) -> Error {
        let left = hits.started.after(limit.window).since(self.now());
        Error::Limited { retry_after: left.max(Duration::from_secs(1)) }
    }
}

/// The attempts of a client per hour, and those of all clients of its site.
fn network_limits(what: &str, from: IpAddr, max: u32) -> Vec<Limit> {
    let site = ClientNetwork::of(from).site().to_string();
    vec![
        limit(what, &[&network(from)], max, HOUR).by(from),
        limit(what, &[&site], max.saturating_mul(SITE_FACTOR), HOUR).by(from),
    ]
}

fn network(address: IpAddr) -> String {
    ClientNetwork::of(address).to_string()
}

fn limit(what: &str, parts: &[&str], max: u32, window: Duration) -> Limit {
    // The separator cannot be part of an address or an email.
    let key = Digest::of(&format!("{what}\n{}", parts.join("\n")));
    Limit { key, client: None, max, window }
}
