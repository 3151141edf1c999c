//! The connection to NATS, which joins the nodes and probes of one service. It
//! comes and goes by itself: being away is a state that callers ask for, never
//! an error of the start. Nothing is kept in NATS; it carries and wakes.

use async_nats::{Client, ConnectOptions, Event, ServerAddr};
use bytes::Bytes;
use std::fmt;
use std::path::PathBuf;
use std::sync::{Arc, OnceLock};
use std::time::Duration;
use tokio::sync::watch;
use wakeful_core::secret::Secret;

pub use async_nats::Subscriber;

/// How long one attempt to connect may take.
const CONNECT: Duration = Duration::from_secs(5);
/// How often a silent connection is asked whether it still lives.
const PING: Duration = Duration::from_secs(5);
/// Between two attempts, once the first few have failed.
const LONGEST_PAUSE: Duration = Duration::from_secs(2);
/// How long a message waits for its place in the queue to the server.
const HANDED_OVER: Duration = Duration::from_millis(500);
/// The oldest server that the tests run against.
const OLDEST: (i64, i64, i64) = (2, 9, 0);

/// Where NATS is and how one proves to be allowed in.
#[derive(Clone, Debug)]
pub struct NatsSettings {
    /// One url or several with commas; they may hold a password.
    pub url: Secret,
    pub user: Option<String>,
    pub password: Option<Secret>,
    pub token: Option<Secret>,
    /// A credentials file, as `nsc` writes it.
    pub creds: Option<PathBuf>,
    /// The seed of a key, which begins with SU.
    pub nkey: Option<Secret>,
    /// Certificates to trust instead of the system's.
    pub ca: Option<PathBuf>,
    /// A certificate of our own, with its key.
    pub certificate: Option<(PathBuf, PathBuf)>,
}

impl NatsSettings {
    /// A server without credentials.
    pub fn at(url: impl Into<String>) -> Self {
        Self {
            url: Secret::new(url),
            user: None,
            password: None,
            token: None,
            creds: None,
            nkey: None,
            ca: None,
            certificate: None,
        }
    }

    fn servers(&self) -> Result<Vec<ServerAddr>, NatsError> {
        let parts = self.url.expose().split(',').map(str::trim);
        // The parser's own words may repeat the url, password included.
        parts.map(|url| url.parse().map_err(|_| NatsError::Url)).collect()
    }

    async fn options(&self, servers: &[ServerAddr]) -> Result<ConnectOptions, NatsError> {
        let mut options = ConnectOptions::new();
        if let Some(path) = &self.creds {
            options = options
                .credentials_file(path)
                .await
                .map_err(|error| NatsError::File("nats.creds", error))?;
        }
        let in_url = servers.iter().find(|server| server.has_user_pass());
        match (&self.user, in_url) {
            (Some(user), _) => {
                let password = self.password.as_ref().map_or("", Secret::expose);
                options = options.user_and_password(user.clone(), password.to_owned());
            }
            (None, Some(server)) => {
                let part = |part: Option<&str>| part.unwrap_or_default().to_owned();
                options =
                    options.user_and_password(part(server.username()), part(server.password()));
            }
            (None, None) => {}
        }
        if let Some(token) = &self.token {
            options = options.token(token.expose().to_owned());
        }
        if let Some(seed) = &self.nkey {
            options = options.nkey(seed.expose().to_owned());
        }
        if let Some(path) = &self.ca {
            options = options.add_root_certificates(path.clone()).require_tls(true);
        }
        if let Some((certificate, key)) = &self.certificate {
            options =
                options.add_client_certificate(certificate.clone(), key.clone()).require_tls(true);
        }
        Ok(options)
    }
}

/// Why a connection cannot even be tried.
#[derive(Debug, thiserror::Error)]
pub enum NatsError {
    #[error("nats.url must be nats://host:4222 or tls://host:4222")]
    Url,
    #[error("{0} cannot be read")]
    File(&'static str, #[source] std::io::Error),
    #[error("the settings below [nats] do not fit together")]
    Refused(#[source] async_nats::ConnectError),
}

/// A connection that comes back by itself for as long as the process lives.
#[derive(Clone)]
pub struct Nats {
    client: Client,
    connected: watch::Receiver<bool>,
}

impl fmt::Debug for Nats {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Nats").field("connected", &self.is_connected()).finish_non_exhaustive()
    }
}

/// Begins to connect. `name` is what the server's own tools show of us.
pub async fn connect(settings: &NatsSettings, name: &str) -> Result<Nats, NatsError> {
    let servers = settings.servers()?;
    let (state, connected) = watch::channel(false);
    let known: Arc<OnceLock<Client>> = Arc::default();
    let about = Arc::clone(&known);
    let state = Arc::new(state);
    let options = settings
        .options(&servers)
        .await?
        .name(name)
        .retry_on_initial_connect()
        .max_reconnects(None)
        .connection_timeout(CONNECT)
        .ping_interval(PING)
        .reconnect_delay_callback(pause)
        .event_callback(move |event| {
            let (about, state) = (Arc::clone(&about), Arc::clone(&state));
            async move { follow(&event, about.get(), &state) }
        });
    let client = options.connect(&servers[..]).await.map_err(NatsError::Refused)?;
    let _ = known.set(client.clone());
    Ok(Nats { client, connected })
}

impl Nats {
    /// Whether the server can be reached right now, as far as is known.
    pub fn is_connected(&self) -> bool {
        *self.connected.borrow()
    }

    /// Tells of every change between connected and not.
    pub fn connection(&self) -> watch::Receiver<bool> {
        self.connected.clone()
    }

    /// The version of the server, once there was one.
    pub fn server_version(&self) -> Option<String> {
        self.client.try_server_info().map(|info| info.version)
    }

    /// Sends without waiting for anybody; false when it did not go. What is
    /// sent while the server is away would come late, so it is not kept.
    pub async fn publish(&self, subject: String, message: Vec<u8>) -> bool {
        if !self.is_connected() {
            return false;
        }
        let sending = self.client.publish(subject, Bytes::from(message));
        matches!(tokio::time::timeout(HANDED_OVER, sending).await, Ok(Ok(())))
    }

    /// Messages of a subject from now on; it outlives the connection.
    pub async fn subscribe(&self, subject: &str) -> Option<Subscriber> {
        self.client.subscribe(subject.to_owned()).await.ok()
    }

    /// For what is not said above.
    pub fn client(&self) -> &Client {
        &self.client
    }
}

fn follow(event: &Event, client: Option<&Client>, state: &watch::Sender<bool>) {
    match event {
        Event::Connected => {
            state.send_replace(true);
            let info = client.and_then(Client::try_server_info).unwrap_or_default();
            tracing::info!(
                nats.version = info.version,
                "connected to NATS {} ({})",
                info.version,
                info.server_name
            );
            let (major, minor, patch) = OLDEST;
            if client.is_some_and(|client| !client.is_server_compatible(major, minor, patch)) {
                tracing::warn!(
                    "NATS {} is older than {major}.{minor}, with which nothing was tried",
                    info.version
                );
            }
        }
        Event::Disconnected | Event::Closed => {
            state.send_replace(false);
            tracing::warn!("the connection to NATS is lost; it is tried again by itself");
        }
        Event::ServerError(error) => tracing::warn!(%error, "NATS refuses something"),
        Event::ClientError(error) => tracing::warn!(%error, "NATS cannot be reached"),
        Event::SlowConsumer(_) => {
            metrics::counter!("wakeful_bus_dropped_total").increment(1);
        }
        Event::LameDuckMode | Event::Draining => {}
    }
}

/// At once the first time, then longer, never long.
fn pause(attempts: usize) -> Duration {
    let doublings = u32::try_from(attempts).unwrap_or(u32::MAX).saturating_sub(1).min(5);
    match attempts {
        0 => Duration::ZERO,
        _ => (Duration::from_millis(100) * 2_u32.pow(doublings)).min(LONGEST_PAUSE),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_pause_between_attempts_grows_and_stays_short() {
        assert_eq!(pause(0), Duration::ZERO);
        assert_eq!(pause(1), Duration::from_millis(100));
        assert_eq!(pause(3), Duration::from_millis(400));
        assert_eq!(pause(usize::MAX), LONGEST_PAUSE);
    }

    #[test]
    fn a_refused_url_does_not_repeat_its_password() {
        let settings = NatsSettings::at("nats://ann:hunter2@h:port");
        let error = settings.servers().expect_err("no such port");
        assert!(!format!("{error} {error:?}").contains("hunter2"));
    }
}
