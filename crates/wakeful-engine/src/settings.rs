//! The settings of the engine.

use std::time::Duration;

use crate::bus::nats::Nats;
use crate::{billing, due_work, history};

#[derive(Clone, Debug)]
pub struct Settings {
    /// The public URL of the web app, without a trailing slash. Links in mails start
    /// with it, never with the Host header of a request.
    pub public_url: String,
    pub signup: SignupMode,
    pub session_idle: Duration,
    pub session_max: Duration,
    /// How long entries of the audit log are kept.
    pub audit: Duration,
    /// How often due work is looked for.
    pub poll_interval: Duration,
    pub limits: Limits,
    pub mail_from: String,
    /// Emails to subscribers of status pages that are sent at the same time.
    pub page_mail_concurrency: usize,
    /// Emails to subscribers of status pages; 0: no limit.
    pub page_mails_per_minute: u32,
    /// The memory for status pages, in bytes.
    pub page_memory: usize,
    /// The recipient of the contact form; if empty, the sender of the service's mail.
    pub contact_to: String,
    pub billing: billing::Settings,
    pub history: history::compactor::Settings,
    /// How long evidence of outages is kept.
    pub evidence: Duration,
    /// How many checks run at the same time.
    pub max_concurrent_checks: usize,
    /// Hosts and ports that respond as long as our own network works.
    pub sentinels: Vec<(String, u16)>,
    /// The connection to other nodes and to probes.
    pub nats: Option<Nats>,
    /// The name of this node in logs and lists.
    pub node_name: String,
    /// Identifies this node's data directory, which it uses alone; empty if it has none.
    pub node_home: String,
    /// A node without a heartbeat for this long is replaced.
    pub lease: Duration,
    /// Whether a domain of a status page is served only once its record was found.
    pub verify_domains: bool,
}

impl Default for Settings {
    fn default() -> Self {
        const DAY: u64 = 24 * 3600;
        Self {
            public_url: "http://127.0.0.1:8080".into(),
            signup: SignupMode::Open,
            session_idle: Duration::from_secs(30 * DAY),
            session_max: Duration::from_secs(180 * DAY),
            audit: Duration::from_secs(365 * DAY),
            poll_interval: due_work::POLL_INTERVAL,
            limits: Limits::default(),
            mail_from: "Wakeful <wakeful@localhost>".into(),
            page_mail_concurrency: 4,
            page_mails_per_minute: 1_200,
            page_memory: 64 << 20,
            contact_to: String::new(),
            billing: billing::Settings::default(),
            history: history::compactor::Settings::default(),
            evidence: Duration::from_secs(30 * DAY),
            max_concurrent_checks: 512,
            sentinels: Vec::new(),
            nats: None,
            node_name: String::new(),
            node_home: String::new(),
            lease: wakeful_core::cluster::slot::LEASE_DURATION,
            verify_domains: false,
        }
    }
}

/// Who may create an account.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum SignupMode {
    /// Everyone.
    Open,
    /// Those who were invited to a team.
    Invite,
    /// Those with an address in one of these domains, once it is verified, and those who were
    /// invited to a team.
    Domains(Vec<String>),
    /// Nobody; accounts are created by teams and by the operator.
    Closed,
}

impl SignupMode {
    /// Whether people with this address may have an account of their own.
    pub(crate) fn allows(&self, email: &str) -> bool {
        match self {
            Self::Open => true,
            Self::Domains(domains) => {
                let (_, domain) = email.rsplit_once('@').unwrap_or_default();
                domains.iter().any(|allowed| allowed.eq_ignore_ascii_case(domain))
            }
            Self::Invite | Self::Closed => false,
        }
    }
}

/// How many attempts are allowed in a time.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Limits {
    pub failed_logins_per_minute: u32,
    /// In ten minutes, from one client network, for all accounts together.
    pub failed_logins_per_network: u32,
    pub signups_per_hour: u32,
    pub contacts_per_hour: u32,
    pub resets_per_hour: u32,
    pub reset_requests_per_hour: u32,
    pub declined_cards_per_hour: u32,
    /// Of one team, and of one user in all teams.
    pub invitations_per_hour: u32,
    /// Invalid action links from one address, and actions through one link.
    pub action_links_per_minute: u32,
    /// Of status pages, from one client network.
    pub subscriptions_per_hour: u32,
    /// By one team to its status pages, and by one user in all teams.
    pub added_subscribers_per_hour: u32,
    /// That one team announces with updates.
    pub subscriber_messages_per_hour: u32,
    /// That people create in one team, and that one user creates in all teams.
    pub incidents_per_hour: u32,
}

impl Default for Limits {
    fn default() -> Self {
        Self {
            failed_logins_per_minute: 10,
            failed_logins_per_network: 100,
            signups_per_hour: 100,
            contacts_per_hour: 20,
            resets_per_hour: 3,
            reset_requests_per_hour: 20,
            declined_cards_per_hour: 10,
            invitations_per_hour: 50,
            action_links_per_minute: 30,
            subscriptions_per_hour: 10,
            added_subscribers_per_hour: 10_000,
            subscriber_messages_per_hour: 100_000,
            incidents_per_hour: 200,
        }
    }
}
