//! Creates the parts of the service from the settings.

use std::error::Error;
use std::net::{SocketAddr, ToSocketAddrs as _};
use std::os::unix::fs::DirBuilderExt as _;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use url::Url;
use wakeful_core::error_chain::ErrorChain;
use wakeful_core::notifications::notifier::Transport;
use wakeful_core::seal::Key;
use wakeful_core::secret::Secret;
use wakeful_core::time::Clock;
use wakeful_engine::Engine;
use wakeful_engine::billing::{self, Processor, Sandbox, Stripe};
use wakeful_engine::bus::nats::{self, Nats, NatsSettings};
use wakeful_engine::due_work;
use wakeful_engine::probes::Probes;
use wakeful_outbound::mail::{MailTransport, Smtp};
use wakeful_outbound::net::Net;
use wakeful_outbound::net::guard::Policy;
use wakeful_store::{
    Keyring, Location, Options, Store, StoreError, Upgrade, backup_before_upgrade,
};

use crate::clock::SystemClock;
use crate::logging;
use crate::settings::{DatabaseUrl, Egress, MailSecurity, PaymentProcessor, Settings};

const DAY: u64 = 24 * 3600;

pub type Failure = Box<dyn Error>;
pub type Outcome = Result<(), Failure>;

/// Creates the data folder with mode 700.
pub fn make_data_folder(settings: &Settings) -> Outcome {
    make_folder(&settings.data)
}

pub fn make_folder(data: &Path) -> Outcome {
    std::fs::DirBuilder::new().recursive(true).mode(0o700).create(data).map_err(|error| {
        format!("cannot create the data folder {}: {error}", data.display()).into()
    })
}

pub fn location(settings: &Settings) -> Result<Location, Failure> {
    match &settings.database.url {
        DatabaseUrl::Sqlite(path) => Ok(Location::Sqlite(path.clone())),
        DatabaseUrl::Postgres(url) => {
            Location::parse(url.expose()).map_err(|why| format!("database.url {why}").into())
        }
    }
}

pub fn key_file(settings: &Settings) -> PathBuf {
    settings.data.join("master.key")
}

pub fn keyring(settings: &Settings) -> Result<Keyring, Failure> {
    if let Some(given) = Keyring::from_keys(&settings.secrets.master_keys) {
        return Ok(given);
    }
    let file = key_file(settings);
    // A new key could not decrypt existing data, and would hide that the old one is missing.
    match &settings.database.url {
        DatabaseUrl::Sqlite(path) if path.exists() && !file.exists() => Err(format!(
            "the master key {} is missing, but the database {} was encrypted with it; restore the file",
            file.display(),
            path.display()
        )
        .into()),
        _ => Ok(Keyring::load_or_create(&file)?),
    }
}

/// Fails if there is no installation. A command that only reads one must not create one,
/// for example in a mistyped folder.
pub async fn require_database(settings: &Settings) -> Outcome {
    let location = location(settings)?;
    if !location.is_in_use().await.map_err(|error| opening_failed(&location, error))? {
        return Err(match location {
            Location::Sqlite(path) => format!(
                "there is no database at {}: check --data and database.url, or run `wakeful serve` to create one",
                path.display()
            ),
            Location::Postgres(_) => "the database in database.url is empty: check its name, or run `wakeful serve` to initialize it".into(),
        }
        .into());
    }
    let (shared, key) = (matches!(location, Location::Postgres(_)), key_file(settings));
    if shared && settings.secrets.master_keys.is_empty() && !key.exists() {
        return Err(format!(
            "the master key {} is missing: restore the file, or set secrets.master_key to the key of the other nodes",
            key.display()
        )
        .into());
    }
    Ok(())
}

pub async fn store(settings: &Settings, keyring: Keyring) -> Result<Store, Failure> {
    let max_connections = settings.database.max_connections;
    let options = Options { location: location(settings)?, max_connections };
    let upgrade = match &options.location {
        Location::Sqlite(path) if settings.database.backup_before_upgrade => {
            backup_before_upgrade(path).await.map_err(|error| {
                format!(
                    "the database was not upgraded because its backup failed: {}; free disk space, or set database.backup_before_upgrade to false",
                    ErrorChain(&error)
                )
            })?
        }
        _ => Upgrade::default(),
    };
    if let Some(backup) = &upgrade.backup {
        tracing::info!("backed up the database to {} before upgrading it", backup.display());
    }
    let opened = Store::open(&options, keyring).await;
    let store = opened.map_err(|error| opening_failed(&options.location, error))?;
    drop(upgrade);
    Ok(if settings.audit.log { store.with_audit_log(logging::audit_log()) } else { store })
}

/// The error, with the server if that does not respond, but never with the password.
fn opening_failed(location: &Location, error: StoreError) -> Failure {
    let Some(server) = location.server().filter(|_| matches!(error, StoreError::Unavailable(_)))
    else {
        return error.into();
    };
    let why = ErrorChain(&error);
    format!("{why}: check the PostgreSQL server {server} and database.url").into()
}

pub fn engine(
    settings: &Settings,
    store: Store,
    public_url: String,
    nats: Option<Nats>,
    home: String,
) -> Engine {
    let days = |days: u32| Duration::from_secs(u64::from(days) * DAY);
    let clock: Arc<dyn Clock> = Arc::new(SystemClock);
    let engine_settings = wakeful_engine::Settings {
        public_url,
        signup: settings.signup.clone(),
        session_idle: days(settings.sessions.idle_days),
        session_max: days(settings.sessions.max_days),
        audit: days(settings.audit.days),
        poll_interval: due_work::POLL_INTERVAL,
        limits: settings.limits.attempts,
        mail_from: settings.mail.from.clone(),
        page_mail_concurrency: settings.statuspages.mail_concurrency.into(),
        page_mails_per_minute: settings.statuspages.mails_per_minute,
        page_memory: usize::try_from(settings.statuspages.memory_mb).unwrap_or(64) << 20,
        contact_to: settings.mail.contact_to.as_ref().map(ToString::to_string).unwrap_or_default(),
        billing: billing(settings, &clock),
        history: settings.history,
        evidence: Duration::from_secs(u64::from(settings.evidence_days) * 86_400),
        nats,
        node_name: host_name(),
        node_home: home,
        lease: settings.nodes.lease,
        verify_domains: settings.statuspages.verify_domains,
        max_concurrent_checks: settings.checks.at_once.into(),
        sentinels: settings.checks.sentinels.clone(),
    };
    let net = Net::new(policy(settings), own_addresses(settings), Arc::clone(&clock));
    let net = net.with_max_buffered_bytes(buffered_bytes(settings));
    let net = net.with_rdap_bootstrap(&settings.checks.rdap_bootstrap);
    let net = Arc::new(net.with_proxy(settings.checks.proxy.clone()));
    Engine::new(store, clock, engine_settings, mail_transport(settings), net)
}

/// The client for the probes, if NATS and a key are configured.
pub fn probes(settings: &Settings, nats: &Nats) -> Result<Option<Probes>, Failure> {
    let keys = cluster_keys(settings)?;
    if keys.is_empty() {
        tracing::info!("no cluster key is set, monitors are checked from this node only");
        return Ok(None);
    }
    let clock = Arc::new(SystemClock);
    Ok(Some(Probes::new(nats.clone(), keys, clock, settings.cluster.stand_in)))
}

/// The cluster's keys, from the settings or the data folder; may be empty.
pub fn cluster_keys(settings: &Settings) -> Result<Vec<Key>, Failure> {
    if !settings.cluster.keys.is_empty() {
        return Ok(settings.cluster.keys.clone());
    }
    let file = settings.data.join("cluster.key");
    if file.exists() { Ok(Keyring::read_keys(&file)?) } else { Ok(Vec::new()) }
}

/// The egress policy of checks and notifications.
pub fn policy(settings: &Settings) -> Policy {
    match &settings.network.egress {
        Egress::Private => Policy::Private,
        Egress::Public => Policy::Public,
        Egress::Networks(list) => Policy::List(list.clone()),
    }
}

/// The host name of this machine.
pub fn host_name() -> String {
    let read = std::fs::read_to_string("/proc/sys/kernel/hostname");
    read.map(|name| name.trim().to_owned()).unwrap_or_default()
}

/// Logs the version of the database. Fails if it is too old, or if it may lose confirmed
/// data and the operator has not allowed that.
pub async fn require_durable_database(settings: &Settings, store: &Store) -> Outcome {
    const MIN_POSTGRES_VERSION: i64 = 150_000;
    let server = store.server().await?;
    tracing::info!(
        version = server.version,
        "the database is {} {}",
        store.database_name(),
        server.version
    );
    if !store.is_shared() {
        return Ok(());
    }
    if server.number < MIN_POSTGRES_VERSION {
        let found = server.version;
        return Err(
            format!("PostgreSQL {found} is too old: version 15 or later is required").into()
        );
    }
    let unsafe_settings = server.unsafe_settings.join(" and ");
    match unsafe_settings.as_str() {
        "" => Ok(()),
        found if settings.database.allow_unsafe => {
            tracing::warn!("PostgreSQL runs with {found}, a crash may lose confirmed data");
            Ok(())
        }
        found => Err(format!(
            "PostgreSQL runs with {found}, so a crash may lose confirmed data: turn it on, or set database.allow_unsafe for a trial"
        )
        .into()),
    }
}

/// The connection to NATS, if configured. The server need not be up yet.
pub async fn nats(settings: &Settings) -> Result<Option<Nats>, Failure> {
    let Some(wanted) = nats_settings(settings) else { return Ok(None) };
    Ok(Some(nats::connect(&wanted, "wakeful").await?))
}

fn nats_settings(settings: &Settings) -> Option<NatsSettings> {
    let chosen = &settings.nats;
    Some(NatsSettings {
        url: chosen.url.clone()?,
        user: chosen.user.clone(),
        password: chosen.password.clone(),
        token: chosen.token.clone(),
        creds: chosen.creds.clone(),
        nkey: chosen.nkey.clone(),
        ca: chosen.tls_ca.clone(),
        certificate: chosen.tls_cert.clone().zip(chosen.tls_key.clone()),
    })
}

/// How much checks may buffer.
pub fn buffered_bytes(settings: &Settings) -> usize {
    usize::try_from(settings.checks.max_buffered_bytes).unwrap_or(usize::MAX)
}

/// The addresses of this service itself, which checks may not reach. With the public
/// egress policy, they include the database and NATS.
pub fn own_addresses(settings: &Settings) -> Vec<SocketAddr> {
    let mut own = vec![settings.server.listen];
    own.extend(settings.server.metrics_listen);
    own.extend(settings.statuspages.listen);
    if settings.network.egress != Egress::Public {
        return own;
    }
    if let DatabaseUrl::Postgres(url) = &settings.database.url {
        own.extend(addresses_of(url.expose(), 5432));
    }
    let buses = settings.nats.url.as_ref().map(Secret::expose).unwrap_or_default();
    own.extend(buses.split(',').flat_map(|url| addresses_of(url, 4222)));
    own
}

/// The addresses of a URL's host; empty if the name cannot be resolved.
fn addresses_of(url: &str, default_port: u16) -> Vec<SocketAddr> {
    let Ok(url) = Url::parse(url.trim()) else { return Vec::new() };
    let Some(host) = url.host_str() else { return Vec::new() };
    let bare = host.trim_start_matches('[').trim_end_matches(']');
    match (bare, url.port().unwrap_or(default_port)).to_socket_addrs() {
        Ok(found) => found.collect(),
        Err(error) => {
            tracing::warn!(error = %ErrorChain(&error), "resolving {host} failed, its addresses are not denied to checks");
            Vec::new()
        }
    }
}

fn billing(settings: &Settings, clock: &Arc<dyn Clock>) -> billing::Settings {
    let chosen = &settings.billing;
    let secret = |given: &Option<Secret>| given.clone().unwrap_or_else(|| Secret::new(""));
    let processor: Arc<dyn Processor> = match chosen.processor {
        PaymentProcessor::Sandbox => Arc::new(Sandbox),
        PaymentProcessor::Stripe => Arc::new(Stripe::new(
            chosen.stripe_url.clone(),
            secret(&chosen.stripe_key),
            secret(&chosen.stripe_callback_secret),
            Arc::clone(clock),
        )),
    };
    billing::Settings {
        enabled: chosen.enabled,
        limits: chosen.limits,
        catalog: chosen.catalog.clone(),
        processor,
    }
}

fn mail_transport(settings: &Settings) -> MailTransport {
    let mail = &settings.mail;
    let Some(host) = &mail.host else { return MailTransport::Folder(settings.data.join("mail")) };
    MailTransport::Smtp(Smtp {
        host: host.clone(),
        port: mail.port,
        transport: match mail.security {
            MailSecurity::None => Transport::Plain,
            MailSecurity::StartTls => Transport::StartTls,
            MailSecurity::Tls => Transport::Tls,
        },
        username: mail.username.clone().unwrap_or_default(),
        password: mail.password.clone().unwrap_or_else(|| Secret::new("")),
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::cli::Flags;

    fn own_addresses_with(egress: &str) -> Vec<String> {
        let environment = [
            ("WAKEFUL_LISTEN", "192.0.2.1:8080"),
            ("WAKEFUL_DATABASE_URL", "postgres://ann:secret@192.0.2.2/wakeful"),
            ("WAKEFUL_NATS_URL", "nats://192.0.2.3,tls://[2001:db8::4]:4333"),
            ("WAKEFUL_NETWORK_EGRESS", egress),
        ];
        let settings = Settings::load(&Flags::default(), environment).expect("settings");
        own_addresses(&settings).iter().map(ToString::to_string).collect()
    }

    #[test]
    fn with_public_egress_the_database_and_nats_are_denied_too() {
        let all = ["192.0.2.1:8080", "192.0.2.2:5432", "192.0.2.3:4222", "[2001:db8::4]:4333"];
        assert_eq!(own_addresses_with("public"), all);
        assert_eq!(own_addresses_with("private"), all[..1]);
    }
}
