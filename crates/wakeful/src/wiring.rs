//! From settings to the parts that do the work.

use std::error::Error;
use std::net::{SocketAddr, ToSocketAddrs as _};
use std::os::unix::fs::DirBuilderExt as _;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use url::Url;
use wakeful_core::notifier::Transport;
use wakeful_core::seal::Key;
use wakeful_core::secret::Secret;
use wakeful_core::time::Clock;
use wakeful_engine::Engine;
use wakeful_engine::billing::{self, Processor, Sandbox, Stripe};
use wakeful_engine::bus::nats::{self, Nats, NatsSettings};
use wakeful_engine::probe::Probes;
use wakeful_outbound::mail::{Postbox, Smtp};
use wakeful_outbound::net::Net;
use wakeful_outbound::net::guard::Policy;
use wakeful_store::{Keyring, Location, Options, Store};

use crate::clock::SystemClock;
use crate::settings::{DatabaseUrl, Egress, MailSecurity, PaymentProcessor, Settings};

const DAY: u64 = 24 * 3600;

pub type Failure = Box<dyn Error>;
pub type Outcome = Result<(), Failure>;

/// Makes the data folder, which nobody else may look into.
pub fn make_data_folder(settings: &Settings) -> Outcome {
    make_folder(&settings.data)
}

pub fn make_folder(data: &Path) -> Outcome {
    std::fs::DirBuilder::new()
        .recursive(true)
        .mode(0o700)
        .create(data)
        .map_err(|error| format!("cannot make the data folder {}: {error}", data.display()).into())
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
    if let Some(given) = Keyring::given(&settings.secrets.master_keys) {
        return Ok(given);
    }
    let file = key_file(settings);
    // A new key would open nothing of what is there, and hide that one is missing.
    match &settings.database.url {
        DatabaseUrl::Sqlite(path) if path.exists() && !file.exists() => Err(format!(
            "the master key {} is missing, but the database {} was sealed with it: put it back",
            file.display(),
            path.display()
        )
        .into()),
        _ => Ok(Keyring::load_or_create(&file)?),
    }
}

/// Refuses to go on where there is no installation. A command that looks at one
/// must make none, at a mistyped place least of all.
pub async fn require_database(settings: &Settings) -> Outcome {
    let location = location(settings)?;
    if !location.is_in_use().await? {
        return Err(match location {
            Location::Sqlite(path) => format!(
                "there is no database at {}: look at --data and database.url, or start `wakeful serve` to make one",
                path.display()
            ),
            Location::Postgres(_) => "the database that database.url names is empty: look at its name, or start `wakeful serve` to fill it".into(),
        }
        .into());
    }
    let (shared, key) = (matches!(location, Location::Postgres(_)), key_file(settings));
    if shared && settings.secrets.master_keys.is_empty() && !key.exists() {
        return Err(format!(
            "the master key {} is missing: put it there, or set secrets.master_key to the one that all nodes have",
            key.display()
        )
        .into());
    }
    Ok(())
}

pub async fn store(settings: &Settings, keyring: Keyring) -> Result<Store, Failure> {
    let max_connections = settings.database.max_connections;
    let options = Options { location: location(settings)?, max_connections };
    Ok(Store::open(&options, keyring).await?)
}

pub fn engine(
    settings: &Settings,
    store: Store,
    public_url: String,
    nats: Option<Nats>,
    home: String,
) -> Engine {
    let limits = &settings.limits;
    let days = |days: u32| Duration::from_secs(u64::from(days) * DAY);
    let clock: Arc<dyn Clock> = Arc::new(SystemClock);
    let choices = wakeful_engine::Settings {
        public_url,
        signup_open: settings.signup.open,
        session_idle: days(settings.sessions.idle_days),
        session_max: days(settings.sessions.max_days),
        failed_logins_per_minute: limits.failed_logins_per_minute,
        failed_logins_per_network: limits.failed_logins_per_network,
        signups_per_hour: limits.signups_per_hour,
        contacts_per_hour: limits.contacts_per_hour,
        resets_per_hour: limits.resets_per_hour,
        reset_requests_per_hour: limits.reset_requests_per_hour,
        declined_cards_per_hour: limits.declined_cards_per_hour,
        mail_from: settings.mail.from.clone(),
        contact_to: settings.mail.contact_to.as_ref().map(ToString::to_string).unwrap_or_default(),
        billing: billing(settings, &clock),
        history: settings.history,
        nats,
        node_name: host_name(),
        node_home: home,
        lease: settings.nodes.lease,
        checks_at_once: settings.checks.at_once.into(),
        sentinels: settings.checks.sentinels.clone(),
    };
    let net = Arc::new(Net::new(policy(settings), own(settings), Arc::clone(&clock)));
    Engine::new(store, clock, choices, postbox(settings), net)
}

/// The way to the probes, where there is a bus and a key.
pub fn probes(settings: &Settings, nats: &Nats) -> Result<Option<Probes>, Failure> {
    let keys = cluster_keys(settings)?;
    if keys.is_empty() {
        tracing::info!("no cluster key is set: monitors are checked from this node alone");
        return Ok(None);
    }
    let clock = Arc::new(SystemClock);
    Ok(Some(Probes::new(nats.clone(), keys, clock, settings.cluster.stand_in)))
}

/// The cluster's keys, as set or as they stand in the data folder; none when there are none.
pub fn cluster_keys(settings: &Settings) -> Result<Vec<Key>, Failure> {
    if !settings.cluster.keys.is_empty() {
        return Ok(settings.cluster.keys.clone());
    }
    let file = settings.data.join("cluster.key");
    match file.exists() {
        true => Ok(Keyring::read_keys(&file)?),
        false => Ok(Vec::new()),
    }
}

/// What checks and notifications may reach.
pub fn policy(settings: &Settings) -> Policy {
    match &settings.network.egress {
        Egress::Private => Policy::Private,
        Egress::Public => Policy::Public,
        Egress::Networks(list) => Policy::List(list.clone()),
    }
}

/// What the operating system calls this machine.
pub fn host_name() -> String {
    let read = std::fs::read_to_string("/proc/sys/kernel/hostname");
    read.map(|name| name.trim().to_owned()).unwrap_or_default()
}

/// The database server as it is: what was found is told, and one that may lose
/// what it has confirmed is refused unless it was chosen.
pub async fn vet(settings: &Settings, store: &Store) -> Outcome {
    const OLDEST: i64 = 150_000;
    let server = store.server().await?;
    tracing::info!(
        version = server.version,
        "the database is {} {}",
        store.engine(),
        server.version
    );
    if !store.is_shared() {
        return Ok(());
    }
    if server.number < OLDEST {
        let found = server.version;
        return Err(
            format!("database.url leads to PostgreSQL {found}: 15 or later is needed").into()
        );
    }
    let unsafe_settings = server.unsafe_settings.join(" and ");
    match unsafe_settings.as_str() {
        "" => Ok(()),
        found if settings.database.allow_unsafe => {
            tracing::warn!("PostgreSQL runs with {found}: a crash may lose what it has confirmed");
            Ok(())
        }
        found => Err(format!(
            "PostgreSQL runs with {found}, so a crash may lose what it has confirmed: turn it on, or set database.allow_unsafe for a trial"
        )
        .into()),
    }
}

/// The connection to the bus, when there is one. It need not be there yet.
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

/// Where the parts of this service are: out of reach of checks in public.
pub fn own(settings: &Settings) -> Vec<SocketAddr> {
    let mut own = vec![settings.server.listen];
    own.extend(settings.server.metrics_listen);
    if settings.network.egress != Egress::Public {
        return own;
    }
    if let DatabaseUrl::Postgres(url) = &settings.database.url {
        own.extend(places(url.expose(), 5432));
    }
    let buses = settings.nats.url.as_ref().map(Secret::expose).unwrap_or_default();
    own.extend(buses.split(',').flat_map(|url| places(url, 4222)));
    own
}

/// The addresses of a URL's host. A name that nobody knows now protects nothing.
fn places(url: &str, usual_port: u16) -> Vec<SocketAddr> {
    let Ok(url) = Url::parse(url.trim()) else { return Vec::new() };
    let Some(host) = url.host_str() else { return Vec::new() };
    let bare = host.trim_start_matches('[').trim_end_matches(']');
    match (bare, url.port().unwrap_or(usual_port)).to_socket_addrs() {
        Ok(found) => found.collect(),
        Err(error) => {
            tracing::warn!(%error, "{host} has no address now, so checks are not kept from it");
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
        catalogue: chosen.catalogue.clone(),
        processor,
    }
}

fn postbox(settings: &Settings) -> Postbox {
    let mail = &settings.mail;
    let Some(host) = &mail.host else { return Postbox::Folder(settings.data.join("mail")) };
    Postbox::Smtp(Smtp {
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

    fn own_of(egress: &str) -> Vec<String> {
        let environment = [
            ("WAKEFUL_LISTEN", "192.0.2.1:8080"),
            ("WAKEFUL_DATABASE_URL", "postgres://ann:secret@192.0.2.2/wakeful"),
            ("WAKEFUL_NATS_URL", "nats://192.0.2.3,tls://[2001:db8::4]:4333"),
            ("WAKEFUL_NETWORK_EGRESS", egress),
        ];
        let settings = Settings::load(&Flags::default(), environment).expect("settings");
        own(&settings).iter().map(ToString::to_string).collect()
    }

    #[test]
    fn in_public_the_database_and_the_bus_are_out_of_reach_as_well() {
        let all = ["192.0.2.1:8080", "192.0.2.2:5432", "192.0.2.3:4222", "[2001:db8::4]:4333"];
        assert_eq!(own_of("public"), all);
        assert_eq!(own_of("private"), all[..1]);
    }
}
