//! The settings: default.toml, then the file, then variables, then flags, parsed once at
//! startup into validated types. All errors are reported at once, each in one sentence.
//! `layers` collects the values, `reader` parses them.

mod layers;
mod plans;
mod problem;
mod reader;
mod service_links;
#[cfg(test)]
mod tests;

use std::ffi::OsString;
use std::fmt;
use std::net::{Ipv4Addr, Ipv6Addr, SocketAddr};
use std::path::PathBuf;
use std::time::Duration;

use ipnet::{IpNet, Ipv4Net, Ipv6Net};
use url::{Host, Url};
use wakeful_api::EffectiveSetting;
use wakeful_core::billing::Catalog;
use wakeful_core::email_address::EmailAddress;
use wakeful_core::monitors::spec::Proxy;
use wakeful_core::region::{ProbeName, Region};
use wakeful_core::seal::Key;
use wakeful_core::secret::Secret;
use wakeful_engine::history::compactor::Settings as History;
use wakeful_engine::{Limits as AttemptLimits, SignupMode};

use crate::cli::Flags;
use layers::{Layers, Origin};
pub use problem::SettingsError;
use reader::Reader;

/// Every setting with its default and a comment; `wakeful config default` prints it.
pub const DEFAULT_TOML: &str = include_str!("default.toml");

const EGRESS: &str = "network.egress";
const VERIFY_DOMAINS: &str = "statuspages.verify_domains";
/// The value of a setting that is derived from other settings.
const AUTOMATIC: &str = "auto";

#[derive(Clone, Debug)]
pub struct Settings {
    pub data: PathBuf,
    pub server: Server,
    pub database: Database,
    pub nats: Nats,
    pub nodes: Nodes,
    pub cluster: Cluster,
    pub probe: Probe,
    pub secrets: Secrets,
    pub signup: SignupMode,
    pub sessions: Sessions,
    pub audit: Audit,
    pub limits: Limits,
    pub statuspages: Statuspages,
    pub mail: Mail,
    pub history: History,
    /// Days to retain what the checks of outages saw.
    pub evidence_days: u32,
    /// How many bytes of a ping's body are stored.
    pub ping_body_bytes: usize,
    pub network: Network,
    pub checks: Checks,
    pub billing: Billing,
    report: String,
    effective: Vec<EffectiveSetting>,
}

#[derive(Clone, Debug)]
pub struct Server {
    pub listen: SocketAddr,
    /// As configured; `public_url()` has the fallback.
    pub public_url: Option<String>,
    pub trusted_proxies: Vec<IpNet>,
    pub cors_origins: Vec<String>,
    pub body_limit: usize,
    pub metrics_listen: Option<SocketAddr>,
    pub metrics_token: Option<Secret>,
    pub shutdown: Duration,
    pub hsts_subdomains: bool,
    pub docs: bool,
}

#[derive(Clone, Debug)]
pub struct Database {
    pub url: DatabaseUrl,
    pub max_connections: u32,
    pub allow_unsafe: bool,
    pub backup_before_upgrade: bool,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub enum DatabaseUrl {
    Sqlite(PathBuf),
    /// The whole URL, which may contain a password.
    Postgres(Secret),
}

#[derive(Clone, Debug)]
pub struct Nats {
    /// One or more comma-separated URLs, which may contain passwords.
    pub url: Option<Secret>,
    pub user: Option<String>,
    pub password: Option<Secret>,
    pub token: Option<Secret>,
    pub creds: Option<PathBuf>,
    pub nkey: Option<Secret>,
    pub tls_ca: Option<PathBuf>,
    pub tls_cert: Option<PathBuf>,
    pub tls_key: Option<PathBuf>,
}

#[derive(Clone, Debug)]
pub struct Nodes {
    pub lease: Duration,
}

#[derive(Clone, Debug)]
pub struct Cluster {
    /// The first seals, all unseal. Empty: those of the file in the data folder.
    pub keys: Vec<Key>,
    pub stand_in: bool,
}

#[derive(Clone, Debug)]
pub struct Probe {
    pub region: Option<Region>,
    pub name: Option<ProbeName>,
    /// The keys of this probe. Empty: derived from those of the cluster.
    pub keys: Vec<Key>,
}

#[derive(Clone, Debug)]
pub struct Secrets {
    /// The first seals, all unseal. Empty: the key file in the data folder is used.
    pub master_keys: Vec<Key>,
}

#[derive(Clone, Debug)]
pub struct Audit {
    pub days: u32,
    /// Whether entries are also written to standard error.
    pub log: bool,
}

#[derive(Clone, Debug)]
pub struct Sessions {
    pub idle_days: u32,
    pub max_days: u32,
}

#[derive(Clone, Debug)]
pub struct Limits {
    pub attempts: AttemptLimits,
    pub api_calls_per_minute: u32,
    pub pushes_per_minute: u32,
}

#[derive(Clone, Debug)]
pub struct Mail {
    /// None: each mail becomes a file in the data folder's `mail/`.
    pub host: Option<String>,
    pub port: u16,
    pub security: MailSecurity,
    pub username: Option<String>,
    pub password: Option<Secret>,
    /// `Name <address>` or an address.
    pub from: String,
    pub contact_to: Option<EmailAddress>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum MailSecurity {
    None,
    StartTls,
    Tls,
}

#[derive(Clone, Debug)]
pub struct Network {
    pub egress: Egress,
    /// The origin of the egress mode: `because …` or `from …`.
    pub egress_reason: String,
}

#[derive(Clone, Debug)]
pub struct Checks {
    pub at_once: u16,
    /// The bytes of pages that checks may buffer at the same time.
    pub max_buffered_bytes: u32,
    pub proxy: Option<Proxy>,
    /// The list of RDAP servers: a URL, or the path of a file.
    pub rdap_bootstrap: String,
    /// Hosts and ports that answer whenever our own network works.
    pub sentinels: Vec<(String, u16)>,
}

#[derive(Clone, Debug)]
pub struct Statuspages {
    pub listen: Option<SocketAddr>,
    /// The slug of the page at `/status`; empty: none.
    pub front: String,
    pub verify_domains: bool,
    pub memory_mb: u32,
    pub mail_concurrency: u16,
    pub mails_per_minute: u32,
}

#[derive(Clone, Debug)]
pub struct Billing {
    pub enabled: bool,
    pub limits: bool,
    pub catalog: Catalog,
    pub processor: PaymentProcessor,
    pub stripe_url: Url,
    pub stripe_key: Option<Secret>,
    /// Not a secret, as the name says.
    pub stripe_publishable_key: Option<String>,
    pub stripe_callback_secret: Option<Secret>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PaymentProcessor {
    Sandbox,
    Stripe,
}

/// The addresses that checks and notifications may reach.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Egress {
    Private,
    Public,
    Networks(Vec<IpNet>),
}

impl fmt::Display for Egress {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Private => f.write_str("private"),
            Self::Public => f.write_str("public"),
            Self::Networks(_) => f.write_str("limited to a list of networks"),
        }
    }
}

impl Network {
    /// The effective egress mode, the reason for it and its meaning, in one sentence.
    pub fn summary(&self) -> String {
        let meaning = match self.egress {
            Egress::Public => {
                "checks and notifications reach public addresses only; to monitor private networks, set network.egress to \"private\" or to a list of networks"
            }
            Egress::Private => "checks and notifications reach private networks too",
            Egress::Networks(_) => "checks and notifications reach these networks only",
        };
        format!("egress is {} ({}): {meaning}", self.egress, self.egress_reason)
    }
}

impl Settings {
    /// Reads all layers. `environment` is the environment of the process.
    pub fn load<I, K, V>(flags: &Flags, environment: I) -> Result<Self, SettingsError>
    where
        I: IntoIterator<Item = (K, V)>,
        K: Into<OsString>,
        V: Into<OsString>,
    {
        let environment = environment.into_iter().map(|(name, value)| (name.into(), value.into()));
        let (mut layers, mut problems) = Layers::collect(flags, environment);
        let mut reader = Reader::new(&layers);
        let mut settings = Self::read(&mut reader);
        problems.append(&mut reader.problems);
        if !problems.is_empty() {
            return Err(SettingsError(problems));
        }
        settings.resolve_egress(&mut layers);
        settings.resolve_verify_domains(&mut layers);
        settings.report = layers.to_string();
        settings.effective = layers.effective();
        Ok(settings)
    }

    /// Each effective setting with its source; secrets are redacted.
    pub fn report(&self) -> &str {
        &self.report
    }

    /// The same, for the administrators of the installation.
    pub fn effective(&self) -> &[EffectiveSetting] {
        &self.effective
    }

    /// For the demo: whatever else is set, checks and notifications reach only this machine,
    /// and mails become files.
    pub fn stay_on_loopback(&mut self) {
        let v4 = Ipv4Net::new_assert(Ipv4Addr::new(127, 0, 0, 0), 8);
        let v6 = Ipv6Net::new_assert(Ipv6Addr::LOCALHOST, 128);
        self.network.egress = Egress::Networks(vec![v4.into(), v6.into()]);
        self.network.egress_reason = "because of --demo".to_owned();
        self.mail.host = None;
    }

    fn read(from: &mut Reader<'_>) -> Self {
        let data = from.path("data");
        Self {
            server: Server::read(from),
            database: Database {
                url: from.database_url("database.url", &data),
                max_connections: from.number("database.max_connections", 1..=1_000),
                allow_unsafe: from.flag("database.allow_unsafe"),
                backup_before_upgrade: from.flag("database.backup_before_upgrade"),
            },
            nats: Nats::read(from),
            nodes: Nodes {
                lease: Duration::from_secs(from.number("nodes.lease_seconds", 2..=300)),
            },
            cluster: Cluster {
                keys: from.keys("cluster.key"),
                stand_in: from.flag("cluster.stand_in"),
            },
            probe: Probe {
                region: from.region("probe.region"),
                name: from.probe_name("probe.name"),
                keys: from.keys("probe.key"),
            },
            secrets: Secrets { master_keys: from.keys("secrets.master_key") },
            signup: from.signup(),
            sessions: Sessions::read(from),
            audit: Audit {
                days: from.number("audit.days", 30..=3_650),
                log: from.flag("audit.log"),
            },
            limits: Limits::read(from),
            statuspages: Statuspages::read(from),
            mail: Mail::read(from),
            billing: Billing::read(from),
            history: history(from),
            evidence_days: from.number("history.evidence_days", 1..=3_650),
            ping_body_bytes: from.number("push.body_bytes", 0..=100_000),
            network: Network {
                egress: from.egress(EGRESS).unwrap_or(Egress::Private),
                egress_reason: String::new(),
            },
            checks: Checks {
                at_once: from.number("checks.at_once", 1..=65_535),
                max_buffered_bytes: from
                    .number("checks.max_buffered_bytes", 2_097_152..=1_073_741_824),
                proxy: from.proxy("checks.proxy"),
                rdap_bootstrap: from.optional_text("checks.rdap_bootstrap").unwrap_or_default(),
                sentinels: from.host_ports("checks.sentinels"),
            },
            data,
            report: String::new(),
            effective: Vec::new(),
        }
    }

    /// Decides the egress mode if the operator has not set it.
    fn resolve_egress(&mut self, layers: &mut Layers) {
        if layers.get(EGRESS).value.as_str() == Some(AUTOMATIC) {
            let (egress, why) = self.automatic_egress();
            layers.set(EGRESS, egress.to_string(), Origin::Rule(why));
            self.network.egress = egress;
        }
        self.network.egress_reason = layers.get(EGRESS).origin.to_string();
    }

    /// If people on other machines may have accounts, checks must not reach the operator's
    /// own network unless the operator has allowed it.
    fn automatic_egress(&self) -> (Egress, &'static str) {
        let server = &self.server;
        let on_loopback = self.on_loopback();
        if server.public_url.as_deref().is_some_and(|url| !names_loopback(url)) {
            (Egress::Public, "server.public_url names a host that is not loopback")
        } else if !server.trusted_proxies.is_empty() {
            (Egress::Public, "server.trusted_proxies is not empty")
        } else if self.sign_up_is_open() && !on_loopback {
            (Egress::Public, "sign-up is open and the listener is not loopback")
        } else if on_loopback {
            (Egress::Private, "the listener is loopback and no proxy is configured")
        } else {
            (Egress::Private, "sign-up is closed and no proxy is configured")
        }
    }

    /// Decides whether custom domains must be verified if the operator has not set it. A stranger
    /// with an account could otherwise claim a name under which this service is reached, and
    /// the web app, the API and push reports would no longer be found there.
    fn resolve_verify_domains(&mut self, layers: &mut Layers) {
        if layers.get(VERIFY_DOMAINS).value.as_str() != Some(AUTOMATIC) {
            return;
        }
        let is_public = self.automatic_egress().0 == Egress::Public;
        let (verify, why) = match (self.sign_up_is_open(), is_public) {
            (true, true) => (true, "sign-up is open to people on other machines"),
            (true, false) => (false, "the listener is loopback and no proxy is configured"),
            (false, _) => (false, "sign-up is closed"),
        };
        layers.set(VERIFY_DOMAINS, verify, Origin::Rule(why));
        self.statuspages.verify_domains = verify;
    }

    fn on_loopback(&self) -> bool {
        self.server.listen.ip().to_canonical().is_loopback()
    }

    fn sign_up_is_open(&self) -> bool {
        matches!(self.signup, SignupMode::Open | SignupMode::Domains(_))
    }
}

/// Whether the host of a URL is loopback.
fn names_loopback(url: &str) -> bool {
    match Url::parse(url).ok().as_ref().and_then(Url::host) {
        Some(Host::Domain(name)) => {
            let name = name.trim_end_matches('.');
            name == "localhost" || name.ends_with(".localhost")
        }
        Some(Host::Ipv4(ip)) => ip.is_loopback(),
        Some(Host::Ipv6(ip)) => ip.to_canonical().is_loopback(),
        None => false,
    }
}

impl Server {
    /// The URL at which people open the service, given the address it is bound to.
    pub fn public_url(&self, bound: SocketAddr) -> String {
        self.public_url.clone().unwrap_or_else(|| format!("http://{bound}"))
    }

    fn read(from: &mut Reader<'_>) -> Self {
        Self {
            listen: from.address("server.listen"),
            public_url: from.public_url("server.public_url"),
            trusted_proxies: from.networks("server.trusted_proxies"),
            cors_origins: from.origins("server.cors_origins"),
            body_limit: from.number("server.body_limit", 1_024..=67_108_864),
            metrics_listen: from.optional_address("server.metrics_listen"),
            metrics_token: from.token("server.metrics_token"),
            shutdown: Duration::from_secs(from.number("server.shutdown_seconds", 1..=300)),
            hsts_subdomains: from.flag("server.hsts_subdomains"),
            docs: from.flag("server.docs"),
        }
    }
}

impl Nats {
    fn read(from: &mut Reader<'_>) -> Self {
        let tls_cert = from.optional_file("nats.tls_cert");
        Self {
            url: from.nats_url("nats.url"),
            user: from.optional_text("nats.user"),
            password: from.secret("nats.password"),
            token: from.secret("nats.token"),
            creds: from.optional_file("nats.creds"),
            nkey: from.secret("nats.nkey"),
            tls_ca: from.optional_file("nats.tls_ca"),
            tls_key: from.file_with("nats.tls_key", tls_cert.is_some(), "nats.tls_cert"),
            tls_cert,
        }
    }
}

impl Sessions {
    fn read(from: &mut Reader<'_>) -> Self {
        let max_days = from.number("sessions.max_days", 1..=3_650);
        Self { idle_days: from.number("sessions.idle_days", 1..=max_days), max_days }
    }
}

impl Statuspages {
    fn read(from: &mut Reader<'_>) -> Self {
        Self {
            listen: from.optional_address("statuspages.listen"),
            front: from.slug("statuspages.front"),
            verify_domains: from.automatic_flag(VERIFY_DOMAINS).unwrap_or(false),
            memory_mb: from.number("statuspages.memory_mb", 8..=65_536),
            mail_concurrency: from.number("statuspages.mail_concurrency", 1..=100),
            mails_per_minute: from.number("statuspages.mails_per_minute", 0..=1_000_000),
        }
    }
}

impl Limits {
    fn read(from: &mut Reader<'_>) -> Self {
        let mut limit = |key| from.number(key, 1..=1_000_000);
        let attempts = AttemptLimits {
            failed_logins_per_minute: limit("limits.failed_logins_per_minute"),
            failed_logins_per_network: limit("limits.failed_logins_per_network"),
            signups_per_hour: limit("limits.signups_per_hour"),
            action_links_per_minute: limit("limits.action_links_per_minute"),
            subscriptions_per_hour: limit("limits.subscriptions_per_hour"),
            added_subscribers_per_hour: limit("limits.added_subscribers_per_hour"),
            subscriber_messages_per_hour: limit("limits.subscriber_messages_per_hour"),
            incidents_per_hour: limit("limits.incidents_per_hour"),
            contacts_per_hour: limit("limits.contacts_per_hour"),
            resets_per_hour: limit("limits.resets_per_hour"),
            reset_requests_per_hour: limit("limits.reset_requests_per_hour"),
            declined_cards_per_hour: limit("limits.declined_cards_per_hour"),
            invitations_per_hour: limit("limits.invitations_per_hour"),
        };
        Self {
            attempts,
            api_calls_per_minute: limit("limits.api_calls_per_minute"),
            pushes_per_minute: limit("limits.pushes_per_minute"),
        }
    }
}

fn history(from: &mut Reader<'_>) -> History {
    let mut days = |key| from.number(key, 2..=36_500);
    History {
        raw_days: days("history.raw_days"),
        phase_days: days("history.phase_days"),
        hour_days: days("history.hour_days"),
        day_days: days("history.day_days"),
    }
}

impl Billing {
    fn read(from: &mut Reader<'_>) -> Self {
        let processor = from.processor("billing.processor");
        Self {
            enabled: from.flag("billing.enabled"),
            limits: from.flag("billing.limits"),
            catalog: from.plans("billing.plans"),
            processor,
            stripe_url: from.base_url("billing.stripe_url"),
            stripe_key: from.stripe_key("billing.stripe_key", processor),
            stripe_publishable_key: from.publishable_key("billing.stripe_publishable_key"),
            stripe_callback_secret: from.secret("billing.stripe_callback_secret"),
        }
    }
}

impl Mail {
    fn read(from: &mut Reader<'_>) -> Self {
        Self {
            host: from.host("mail.host"),
            port: from.number("mail.port", 1..=65_535),
            security: from.mail_security("mail.security"),
            username: from.optional_text("mail.username"),
            password: from.secret("mail.password"),
            from: from.mailbox("mail.from"),
            contact_to: from.optional_email("mail.contact_to"),
        }
    }
}
