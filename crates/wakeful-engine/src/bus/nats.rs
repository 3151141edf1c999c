//! The connection to NATS, which links the nodes and probes of one service. It reconnects
//! automatically: being disconnected is a state that callers can query, never a startup
//! error. Nothing is stored in NATS.

use async_nats::{Client, ConnectOptions, Event, ServerAddr};
use bytes::Bytes;
use std::fmt;
use std::path::PathBuf;
use std::sync::{Arc, OnceLock};
use std::time::Duration;
use tokio::sync::watch;
use wakeful_core::error_chain::ErrorChain;
use wakeful_core::secret::Secret;

pub use async_nats::Subscriber;

/// How long one attempt to connect may take.
const CONNECT_TIMEOUT: Duration = Duration::from_secs(5);
/// How often an idle connection is tested.
const PING_INTERVAL: Duration = Duration::from_secs(5);
/// The longest delay between two attempts to connect.
const MAX_RECONNECT_DELAY: Duration = Duration::from_secs(2);
/// How long a message waits for room in the client's send queue.
const PUBLISH_TIMEOUT: Duration = Duration::from_millis(500);
/// The oldest server that the tests run against.
const MIN_SERVER_VERSION: (i64, i64, i64) = (2, 9, 0);

/// The address of NATS and the credentials for it.
#[derive(Clone, Debug)]
pub struct NatsSettings {
    /// One URL, or several separated by commas; they may contain a password.
    pub url: Secret,
    pub user: Option<String>,
    pub password: Option<Secret>,
    pub token: Option<Secret>,
    /// A credentials file, as `nsc` writes it.
    pub creds: Option<PathBuf>,
    /// The seed of a user key, which begins with SU.
    pub nkey: Option<Secret>,
    /// Certificates to trust instead of the system's.
    pub ca: Option<PathBuf>,
    /// A client certificate and its key.
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
        // The parser's message may repeat the URL, password included.
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

/// Why no connection can be attempted.
#[derive(Debug, thiserror::Error)]
pub enum NatsError {
    #[error("nats.url must be nats://host:4222 or tls://host:4222")]
    Url,
    #[error("{0} cannot be read")]
    File(&'static str, #[source] std::io::Error),
    #[error("the settings below [nats] are inconsistent")]
    Refused(#[source] async_nats::ConnectError),
}

/// A connection that reconnects automatically for the lifetime of the process.
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

/// Starts to connect. `name` identifies this client in the server's tools.
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
        .connection_timeout(CONNECT_TIMEOUT)
        .ping_interval(PING_INTERVAL)
        .reconnect_delay_callback(reconnect_delay)
        .event_callback(move |event| {
            let (about, state) = (Arc::clone(&about), Arc::clone(&state));
            async move { handle_event(&event, about.get(), &state) }
        });
    let client = options.connect(&servers[..]).await.map_err(NatsError::Refused)?;
    let _ = known.set(client.clone());
    Ok(Nats { client, connected })
}

impl Nats {
    /// Whether the client is connected, as far as it knows.
    pub fn is_connected(&self) -> bool {
        *self.connected.borrow()
    }

    /// Follows the state of the connection.
    pub fn connection(&self) -> watch::Receiver<bool> {
        self.connected.clone()
    }

    /// The version of the server, once connected.
    pub fn server_version(&self) -> Option<String> {
        self.client.try_server_info().map(|info| info.version)
    }

    /// Sends without waiting for a receiver; false if sending failed. Messages are not
    /// buffered while disconnected, because they would arrive too late.
    pub async fn publish(&self, subject: String, message: Vec<u8>) -> bool {
        if !self.is_connected() {
            return false;
        }
        let sending = self.client.publish(subject, Bytes::from(message));
        matches!(tokio::time::timeout(PUBLISH_TIMEOUT, sending).await, Ok(Ok(())))
    }

    /// Subscribes to a subject; the subscription survives reconnects.
    pub async fn subscribe(&self, subject: &str) -> Option<Subscriber> {
        self.client.subscribe(subject.to_owned()).await.ok()
    }

    pub fn client(&self) -> &Client {
        &self.client
    }
}

fn handle_event(event: &Event, client: Option<&Client>, state: &watch::Sender<bool>) {
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
            let (major, minor, patch) = MIN_SERVER_VERSION;
            if client.is_some_and(|client| !client.is_server_compatible(major, minor, patch)) {
                tracing::warn!(
                    "NATS {} is older than {major}.{minor}, the oldest tested version",
                    info.version
                );
            }
        }
        Event::Disconnected | Event::Closed => {
            state.send_replace(false);
            tracing::warn!("connection to NATS lost, reconnecting");
        }
        Event::ServerError(error) => {
            tracing::warn!(error = %ErrorChain(&error), "NATS reported an error");
        }
        Event::ClientError(why) => {
            tracing::warn!("connecting to NATS failed, retrying: {why}");
        }
        Event::SlowConsumer(_) => {
            metrics::counter!("wakeful_bus_dropped_total").increment(1);
        }
        Event::LameDuckMode | Event::Draining => {}
    }
}

/// No delay the first time, then a growing one up to the maximum.
fn reconnect_delay(attempts: usize) -> Duration {
    let doublings = u32::try_from(attempts).unwrap_or(u32::MAX).saturating_sub(1).min(5);
    match attempts {
        0 => Duration::ZERO,
        _ => (Duration::from_millis(100) * 2_u32.pow(doublings)).min(MAX_RECONNECT_DELAY),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_reconnect_delay_grows_up_to_the_maximum() {
        assert_eq!(reconnect_delay(0), Duration::ZERO);
        assert_eq!(reconnect_delay(1), Duration::from_millis(100));
        assert_eq!(reconnect_delay(3), Duration::from_millis(400));
        assert_eq!(reconnect_delay(usize::MAX), MAX_RECONNECT_DELAY);
    }

    #[test]
    fn a_refused_url_does_not_repeat_its_password() {
        let settings = NatsSettings::at("nats://ann:hunter2@h:port");
        let error = settings.servers().expect_err("no such port");
        assert!(!format!("{error} {error:?}").contains("hunter2"));
    }
}
