//! `wakeful serve`: listens, opens storage and starts the background loops. On SIGTERM or
//! Ctrl-C it accepts no more work, waits for work in progress, and exits.

use std::io;
use std::net::SocketAddr;
use std::num::NonZeroU32;
use std::time::Duration;
use tokio::net::{TcpListener, TcpSocket};
use tokio::signal::unix::{SignalKind, signal};
use tokio::time::Instant;
use tokio_util::sync::CancellationToken;
use tokio_util::task::TaskTracker;
use wakeful_api::{Api, ApiSettings, ServeSettings};
use wakeful_engine::audit::delivery as audit_streams;
use wakeful_engine::history::compactor;
use wakeful_engine::supervision::{exit_after_panic, restart_after_panic};
use wakeful_engine::{
    Engine, alerting::handovers, alerting::maintenance_clock, alerting::processor, billing, demo,
    janitor, mail, notifications::delivery, notifications::keepalive, probes, scheduler,
    statuspages, statuspages::auto_incidents, statuspages::snapshot_builder,
};
use wakeful_store::Store;

use crate::bootstrap::{self, Failure, Outcome};
use crate::demo::Demo;
use crate::settings::{DatabaseUrl, PaymentProcessor, Settings};
use crate::{commands, lock, metrics};

/// The queue of connections that wait to be accepted. When it is full, a client's first
/// packet is lost and retried after a second at the earliest.
const BACKLOG: u32 = 4096;
/// The memory of the kernel for what a client has not read of a response, which is not counted
/// otherwise. Linux doubles it for its own bookkeeping; by default it grows to several megabytes.
const SEND_BUFFER: u32 = 128 * 1024;
/// The part of the shutdown time that is reserved for work after the last request.
const SHUTDOWN_RESERVE: Duration = Duration::from_secs(2);
/// The least time that requests and messages in progress have at shutdown.
const MIN_GRACE: Duration = Duration::from_millis(500);
/// The time to release the claims of background work that did not finish.
const RELEASE_TIMEOUT: Duration = Duration::from_millis(500);

pub async fn run(settings: &Settings, demo: bool) -> Outcome {
    let shutdown = stop_signal()?;
    let listeners = Listeners::bind(settings)?;
    let address = listeners.main.local_addr()?;
    let public_url = settings.server.public_url(address);
    bootstrap::make_data_folder(settings)?;
    // Declared before everything that uses the data, so that it is released after it.
    let lock = DataLock::take(settings)?;
    let demo = if demo { Some(Demo::prepare(settings).await?) } else { None };
    let metrics = metrics::install()?;
    let nats = bootstrap::nats(settings).await?;
    let store = open_store(settings, &lock).await?;
    tracing::info!(%address, database = store.database_name(), "wakeful {} listens on {address}", env!("CARGO_PKG_VERSION"));
    tracing::info!("{}", settings.network.summary());
    let identity = lock.node_identity.clone();
    let engine =
        bootstrap::engine(settings, store.clone(), public_url.clone(), nats.clone(), identity);
    engine.follow_shared_clock().await?;
    if let Some(demo) = &demo {
        demo.fill(&engine).await?;
    }
    if let Some(nats) = &nats
        && let Some(probes) = bootstrap::probes(settings, nats)?
    {
        engine.set_probes(probes);
    }
    let api_settings = api_settings(settings, &public_url);
    let api = Api::new(engine.clone(), api_settings, Some(metrics.clone()), shutdown.clone());
    warn_of_other_hosts(settings, address);
    if engine.lacks_admin().await? {
        tracing::warn!(
            "nobody administers this installation: appoint a user with `wakeful admin grant EMAIL`"
        );
    }
    commands::print(&startup_message(&public_url, settings, demo.is_some()))?;

    let tasks = TaskTracker::new();
    let grace = grace_period(settings);
    let stop = shutdown.clone();
    let upkeep = move || metrics::run_upkeep(metrics.clone(), stop.clone());
    tasks.spawn(restart_after_panic("metrics", shutdown.clone(), upkeep));
    spawn_loops(&tasks, &engine, &shutdown, grace);
    if let Some(demo) = demo {
        tasks.spawn(demo.serve_site(shutdown.clone()));
    }
    let serve_settings = ServeSettings {
        trusted_proxies: settings.server.trusted_proxies.clone(),
        grace,
        ..ServeSettings::default()
    };
    let stopped_at = serve(listeners, api, serve_settings, &tasks, &shutdown).await;
    finish_by(stopped_at + grace + SHUTDOWN_RESERVE, &tasks, &engine).await;
    store.close().await;
    tracing::info!("wakeful has stopped");
    Ok(())
}

struct Listeners {
    main: TcpListener,
    /// A separate address for metrics.
    metrics: Option<TcpListener>,
    /// A separate address for status pages.
    pages: Option<TcpListener>,
}

impl Listeners {
    fn bind(settings: &Settings) -> Result<Self, Failure> {
        let main = listen(settings.server.listen, "server.listen")?;
        let metrics = match settings.server.metrics_listen {
            Some(address) => Some(listen(address, "server.metrics_listen")?),
            None => None,
        };
        let pages = match settings.statuspages.listen {
            Some(address) => Some(listen(address, "statuspages.listen")?),
            None => None,
        };
        Ok(Self { main, metrics, pages })
    }
}

/// What this process has locked, until this is dropped.
struct DataLock {
    _lock: Option<lock::Lock>,
    /// The identity of this node among those that share a database. Empty on SQLite, and if
    /// another node runs in the same data folder.
    node_identity: String,
    /// Whether no other process uses the database.
    is_exclusive: bool,
}

impl DataLock {
    /// Locks a SQLite file, which only one process may use. On PostgreSQL, locks the data
    /// folder if it can: a node that gets this lock later knows that this one is dead.
    fn take(settings: &Settings) -> Result<Self, Failure> {
        if let DatabaseUrl::Sqlite(path) = &settings.database.url {
            let lock = lock::take(path)?;
            let node_identity = String::new();
            return Ok(Self { _lock: Some(lock), node_identity, is_exclusive: true });
        }
        let lock = lock::take(&settings.data.join("node")).ok();
        let node_identity = lock.as_ref().and_then(node_identity).unwrap_or_default();
        Ok(Self { _lock: lock, node_identity, is_exclusive: false })
    }
}

/// An identity that no other live node has: the locked file and the boot of the kernel.
/// Names are not enough: clones of a machine, and containers, share names and paths.
fn node_identity(lock: &lock::Lock) -> Option<String> {
    let kernel = std::fs::read_to_string("/proc/sys/kernel/random/boot_id").ok()?;
    let (device, file) = lock.identity().ok()?;
    Some(format!("{}:{device}:{file}", kernel.trim()))
}

async fn open_store(settings: &Settings, lock: &DataLock) -> Result<Store, Failure> {
    let store = bootstrap::store(settings, bootstrap::keyring(settings)?).await?;
    bootstrap::require_durable_database(settings, &store).await?;
    if lock.is_exclusive {
        // Messages claimed before a crash need not wait for their lease to expire.
        store.release_all_claims().await?;
    }
    Ok(store)
}

/// How long requests and messages in progress may take at shutdown.
fn grace_period(settings: &Settings) -> Duration {
    settings.server.shutdown.saturating_sub(SHUTDOWN_RESERVE).max(MIN_GRACE)
}

/// Starts the background loops, which end at shutdown.
fn spawn_loops(
    tasks: &TaskTracker,
    engine: &Engine,
    shutdown: &CancellationToken,
    grace: Duration,
) {
    let loops = Loops { tasks, engine, shutdown };
    loops.spawn("mail", mail::run);
    loops.spawn("notifications", move |engine, shutdown| delivery::run(engine, shutdown, grace));
    loops.spawn("keepalive", keepalive::run);
    loops.spawn("audit_streams", move |engine, shutdown| {
        audit_streams::run(engine, shutdown, grace)
    });
    loops.spawn("janitor", janitor::run);
    loops.spawn("compactor", compactor::run);
    loops.spawn("billing", billing::run);
    loops.spawn("alert_processor", processor::run);
    loops.spawn("maintenance_clock", maintenance_clock::run);
    loops.spawn("handovers", handovers::run);
    loops.spawn("statuspage_builder", snapshot_builder::run);
    loops.spawn("statuspage_maintenance", statuspages::maintenance::run);
    loops.spawn("statuspage_fanout", statuspages::fanout::run);
    loops.spawn("statuspage_notifications", move |engine, shutdown| {
        delivery::statuspages::run(engine, shutdown, grace)
    });
    loops.spawn("auto_incidents", auto_incidents::run);
    loops.spawn("probes", probes::run_registry);
    let checking = scheduler::run(engine.clone(), shutdown.clone());
    tasks.spawn(exit_after_panic("scheduler", shutdown.clone(), checking));
}

/// Starts loops whose state is all in the store.
struct Loops<'a> {
    tasks: &'a TaskTracker,
    engine: &'a Engine,
    shutdown: &'a CancellationToken,
}

impl Loops<'_> {
    fn spawn<F>(
        &self,
        name: &'static str,
        run: impl Fn(Engine, CancellationToken) -> F + Send + 'static,
    ) where
        F: Future<Output = ()> + Send + 'static,
    {
        let (engine, shutdown) = (self.engine.clone(), self.shutdown.clone());
        let start = move || run(engine.clone(), shutdown.clone());
        self.tasks.spawn(restart_after_panic(name, self.shutdown.clone(), start));
    }
}

/// Serves until shutdown and the end of the last request; returns when the shutdown began.
async fn serve(
    listeners: Listeners,
    api: Api,
    settings: ServeSettings,
    tasks: &TaskTracker,
    shutdown: &CancellationToken,
) -> Instant {
    if let Some(listener) = listeners.metrics {
        let router = wakeful_api::metrics_router(api.clone());
        let serving = wakeful_api::serve(listener, router, shutdown.clone(), settings.clone());
        tasks.spawn(exit_after_panic("metrics_listener", shutdown.clone(), serving));
    }
    if let Some(listener) = listeners.pages {
        let router = wakeful_api::pages_router(api.clone());
        let serving = wakeful_api::serve(listener, router, shutdown.clone(), settings.clone());
        tasks.spawn(exit_after_panic("statuspage_listener", shutdown.clone(), serving));
    }
    let stopped_at = async {
        shutdown.cancelled().await;
        Instant::now()
    };
    let router = wakeful_api::router(api);
    let serving = wakeful_api::serve(listeners.main, router, shutdown.clone(), settings);
    let ((), stopped_at) = tokio::join!(serving, stopped_at);
    stopped_at
}

/// Waits for the background loops; at the deadline, releases their claims instead.
async fn finish_by(deadline: Instant, tasks: &TaskTracker, engine: &Engine) {
    tasks.close();
    let finishing = async {
        tasks.wait().await;
        engine.drain().await;
    };
    if tokio::time::timeout_at(deadline, finishing).await.is_err() {
        tracing::warn!("background work did not finish in time, it continues at the next start");
        let _ = tokio::time::timeout(RELEASE_TIMEOUT, engine.release_claims()).await;
    }
}

fn listen(address: SocketAddr, setting: &str) -> Result<TcpListener, Failure> {
    let listener = || {
        let socket = match address {
            SocketAddr::V4(_) => TcpSocket::new_v4()?,
            SocketAddr::V6(_) => TcpSocket::new_v6()?,
        };
        socket.set_reuseaddr(true)?;
        // Connections inherit it.
        socket.set_send_buffer_size(SEND_BUFFER)?;
        socket.bind(address)?;
        socket.listen(BACKLOG)
    };
    let option = if setting == "server.listen" { "--listen" } else { setting };
    listener().map_err(|error: io::Error| {
        format!(
            "{setting}: cannot listen on {address}: {error}; choose another address with {option}"
        )
        .into()
    })
}

/// A token that is canceled by the first SIGTERM or SIGINT.
pub fn stop_signal() -> Result<CancellationToken, Failure> {
    let mut terminate = signal(SignalKind::terminate())?;
    let mut interrupt = signal(SignalKind::interrupt())?;
    let token = CancellationToken::new();
    let cancel = token.clone();
    #[expect(clippy::disallowed_methods, reason = "it runs as long as the process")]
    tokio::spawn(async move {
        tokio::select! {
            _ = terminate.recv() => {}
            _ = interrupt.recv() => {}
        }
        tracing::info!("stopping");
        cancel.cancel();
    });
    Ok(token)
}

fn api_settings(settings: &Settings, public_url: &str) -> ApiSettings {
    let server = &settings.server;
    ApiSettings {
        trusted_proxies: server.trusted_proxies.clone(),
        cors_origins: server.cors_origins.clone(),
        body_limit: server.body_limit,
        api_calls_per_minute: NonZeroU32::new(settings.limits.api_calls_per_minute)
            .unwrap_or(NonZeroU32::MIN),
        https: public_url.starts_with("https://"),
        hsts_subdomains: server.hsts_subdomains,
        pushes_per_minute: NonZeroU32::new(settings.limits.pushes_per_minute)
            .unwrap_or(NonZeroU32::MIN),
        ping_body_bytes: settings.ping_body_bytes,
        session_max: Duration::from_secs(u64::from(settings.sessions.max_days) * 24 * 3600),
        docs: server.docs,
        metrics_token: server.metrics_token.clone(),
        stripe_publishable_key: match settings.billing.processor {
            PaymentProcessor::Stripe => settings.billing.stripe_publishable_key.clone(),
            PaymentProcessor::Sandbox => None,
        },
        front: settings.statuspages.front.clone(),
        effective_settings: settings.effective().into(),
    }
}

/// Behind a proxy that passes on the public host name, that name must be configured.
fn warn_of_other_hosts(settings: &Settings, address: SocketAddr) {
    let server = &settings.server;
    let behind_proxy = !server.trusted_proxies.is_empty();
    if address.ip().is_loopback() && behind_proxy && server.public_url.is_none() {
        tracing::warn!(
            "server.trusted_proxies is set and server.public_url is not: requests for any host but localhost and {} get 421",
            address.ip()
        );
    }
}

fn startup_message(public_url: &str, settings: &Settings, demo: bool) -> String {
    let mut lines = format!("Wakeful is running.\n\n  web app   {public_url}\n");
    if demo {
        lines.push_str(&format!("  log in    {}, password: {}\n", demo::EMAIL, demo::PASSWORD));
    }
    if settings.server.docs {
        lines.push_str(&format!("  API       {public_url}/api/docs\n"));
    }
    if settings.mail.host.is_none() {
        let folder = settings.data.join("mail");
        lines.push_str(&format!(
            "  mail      no mail server is configured; mails are written to {}\n",
            folder.display()
        ));
    }
    lines.push_str("  stop      Ctrl-C\n");
    lines
}

#[cfg(test)]
mod tests {
    use super::*;
    use socket2::SockRef;
    use std::net::Ipv4Addr;

    #[tokio::test]
    async fn the_send_buffer_of_a_connection_is_bounded() {
        let listener = listen((Ipv4Addr::LOCALHOST, 0).into(), "server.listen").expect("a port");
        let client = TcpSocket::new_v4().expect("a socket");
        let address = listener.local_addr().expect("an address");
        let (connected, accepted) = tokio::join!(client.connect(address), listener.accept());
        let (_client, (stream, _)) = (connected.expect("connected"), accepted.expect("accepted"));
        let size = SockRef::from(&stream).send_buffer_size().expect("a size");
        assert!((1..=2 * SEND_BUFFER as usize).contains(&size), "{size}");
    }
}
