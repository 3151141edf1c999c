//! `wakeful serve`: listens, opens storage, starts the loops, and on SIGTERM
//! or Ctrl-C stops taking work, lets what has begun end, and leaves.

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
use wakeful_engine::history::keeper;
use wakeful_engine::{Engine, billing, deliver, janitor, mailer, probe, reminders, watch};

use crate::settings::{DatabaseUrl, PaymentProcessor, Settings};
use crate::wiring::{self, Failure, Outcome};
use crate::{commands, lock, metrics};

/// Connections that wait to be accepted: when there is no room, a client's first packet
/// is lost, and it tries again after a second at the earliest.
const BACKLOG: u32 = 4096;
/// Kept of the time to stop for what comes after the last request.
const LAST_STEPS: Duration = Duration::from_secs(2);
/// For releasing what background work still held then.
const RELEASE_TIMEOUT: Duration = Duration::from_millis(500);

pub async fn run(settings: &Settings) -> Outcome {
    let shutdown = stop_signal()?;
    let listener = listen(settings.server.listen, "server.listen")?;
    let metrics_listener = match settings.server.metrics_listen {
        Some(address) => Some(listen(address, "server.metrics_listen")?),
        None => None,
    };
    let address = listener.local_addr()?;
    let public_url = settings.server.public_url(address);
    wiring::make_data_folder(settings)?;
    let (alone, _place, home) = match &settings.database.url {
        DatabaseUrl::Sqlite(path) => (Some(lock::take(path)?), None, String::new()),
        DatabaseUrl::Postgres(_) => {
            let (place, home) = place(settings);
            (None, place, home)
        }
    };
    let metrics = metrics::install()?;
    let nats = wiring::nats(settings).await?;
    let store = wiring::store(settings, wiring::keyring(settings)?).await?;
    wiring::vet(settings, &store).await?;
    if alone.is_some() {
        // News that a crash held back need not wait for its lease to end.
        store.free_claims().await?;
    }
    tracing::info!(%address, engine = store.engine(), "wakeful {} listens on {address}", env!("CARGO_PKG_VERSION"));
    tracing::info!("{}", settings.network.summary());
    let engine = wiring::engine(settings, store.clone(), public_url.clone(), nats.clone(), home);
    engine.follow_clock().await?;
    if let Some(nats) = &nats
        && let Some(probes) = wiring::probes(settings, nats)?
    {
        engine.use_probes(probes);
    }
    let api = Api::new(
        engine.clone(),
        api_settings(settings, &public_url),
        Some(metrics.clone()),
        shutdown.clone(),
    );
    warn_of_other_hosts(settings, address);
    commands::print(&whereto(&public_url, settings))?;

    let tasks = TaskTracker::new();
    tasks.spawn(metrics::keep_up(metrics, shutdown.clone()));
    tasks.spawn(mailer::run(engine.clone(), shutdown.clone()));
    let grace = settings.server.shutdown.saturating_sub(LAST_STEPS).max(Duration::from_millis(500));
    tasks.spawn(deliver::run(engine.clone(), shutdown.clone(), grace));
    tasks.spawn(janitor::run(engine.clone(), shutdown.clone()));
    tasks.spawn(keeper::run(engine.clone(), shutdown.clone()));
    tasks.spawn(billing::run(engine.clone(), shutdown.clone()));
    tasks.spawn(reminders::run(engine.clone(), shutdown.clone()));
    tasks.spawn(probe::keep_roll(engine.clone(), shutdown.clone()));
    tasks.spawn(watch::run(engine.clone(), shutdown.clone()));
    let served = ServeSettings {
        trusted_proxies: settings.server.trusted_proxies.clone(),
        grace,
        ..ServeSettings::default()
    };
    if let Some(listener) = metrics_listener {
        let router = wakeful_api::metrics_router(api.clone());
        tasks.spawn(wakeful_api::serve(listener, router, shutdown.clone(), served.clone()));
    }
    let told = async {
        shutdown.cancelled().await;
        Instant::now()
    };
    let serve = wakeful_api::serve(listener, wakeful_api::router(api), shutdown.clone(), served);
    let ((), told) = tokio::join!(serve, told);
    tasks.close();
    let by = told + grace + LAST_STEPS;
    if tokio::time::timeout_at(by, finish(&tasks, &engine)).await.is_err() {
        tracing::warn!(
            "work in the background did not end in time; what it held is taken up at the next start"
        );
        let _ = tokio::time::timeout(RELEASE_TIMEOUT, engine.release_claims()).await;
    }
    store.close().await;
    tracing::info!("wakeful has stopped");
    Ok(())
}

/// The place that this node has for itself, as long as it holds the lock: who
/// starts here later knows that this one is dead. Nothing when another node
/// lives in the same data folder.
fn place(settings: &Settings) -> (Option<lock::Lock>, String) {
    match lock::take(&settings.data.join("node")) {
        Ok(lock) => {
            let home = home(&lock).unwrap_or_default();
            (Some(lock), home)
        }
        Err(_) => (None, String::new()),
    }
}

/// What no two nodes have in common that live at the same time: which file is
/// locked, and in which run of which kernel. Names would not do: clones of a
/// machine, and containers, have the same names and the same paths.
fn home(lock: &lock::Lock) -> Option<String> {
    let kernel = std::fs::read_to_string("/proc/sys/kernel/random/boot_id").ok()?;
    let (device, file) = lock.identity().ok()?;
    Some(format!("{}:{device}:{file}", kernel.trim()))
}

async fn finish(tasks: &TaskTracker, engine: &Engine) {
    tasks.wait().await;
    engine.settle().await;
}

fn listen(address: SocketAddr, setting: &str) -> Result<TcpListener, Failure> {
    let listener = || {
        let socket = match address {
            SocketAddr::V4(_) => TcpSocket::new_v4()?,
            SocketAddr::V6(_) => TcpSocket::new_v6()?,
        };
        socket.set_reuseaddr(true)?;
        socket.bind(address)?;
        socket.listen(BACKLOG)
    };
    listener().map_err(|error: io::Error| {
        format!("{setting}: cannot listen on {address}: {error}").into()
    })
}

/// A token that is cancelled by the first SIGTERM or SIGINT.
pub fn stop_signal() -> Result<CancellationToken, Failure> {
    let mut terminate = signal(SignalKind::terminate())?;
    let mut interrupt = signal(SignalKind::interrupt())?;
    let token = CancellationToken::new();
    let cancel = token.clone();
    #[expect(
        clippy::disallowed_methods,
        reason = "it lives as long as the process and ends with it"
    )]
    tokio::spawn(async move {
        tokio::select! {
            _ = terminate.recv() => {}
            _ = interrupt.recv() => {}
        }
        tracing::info!("told to stop");
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
        session_max: Duration::from_secs(u64::from(settings.sessions.max_days) * 24 * 3600),
        docs: server.docs,
        metrics_token: server.metrics_token.clone(),
        stripe_publishable_key: match settings.billing.processor {
            PaymentProcessor::Stripe => settings.billing.stripe_publishable_key.clone(),
            PaymentProcessor::Sandbox => None,
        },
    }
}

/// Behind a proxy that passes the name people use, that name has to be known.
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

fn whereto(public_url: &str, settings: &Settings) -> String {
    let mut lines = format!("Wakeful is running.\n\n  page      {public_url}\n");
    if settings.server.docs {
        lines.push_str(&format!("  API       {public_url}/api/docs\n"));
    }
    if settings.mail.host.is_none() {
        let folder = settings.data.join("mail");
        lines.push_str(&format!(
            "  mail      no mail server is set: mails become files in {}\n",
            folder.display()
        ));
    }
    lines.push_str("  stop      Ctrl-C\n");
    lines
}
