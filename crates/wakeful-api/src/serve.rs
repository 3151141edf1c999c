//! The HTTP server on a listener. `Limits` bounds the number of connections, each
//! client's share of them, and the time a connection may be idle or stalled, so that
//! no client can keep others from being served. A stop lets running requests finish.

mod activity;
mod body;
mod connections;
mod io;
mod streams;

use axum::Router;
use axum::body::Body;
use axum::extract::{ConnectInfo, Request};
use axum::http::{HeaderValue, Version, header};
use axum::response::Response;
use hyper::body::Incoming;
use hyper::service::Service;
use hyper_util::rt::{TokioIo, TokioTimer};
use hyper_util::server::conn::auto::Builder;
use ipnet::IpNet;
use std::convert::Infallible;
use std::net::SocketAddr;
use std::pin::{Pin, pin};
use std::sync::Arc;
use std::time::Duration;
use tokio::net::{TcpListener, TcpStream};
use tokio::time::Instant;
use tokio_util::sync::CancellationToken;
use tokio_util::task::TaskTracker;
use tower::ServiceExt as _;
use wakeful_core::chain::Chain;

use crate::layers::MOST_HEADERS;
use activity::{Activity, Exchange};
use body::TrackedBody;
use connections::{Connections, Slot};
use io::GuardedIo;
use streams::StreamExecutor;

/// After an error such as "too many open files", accepting again at once spins.
const ACCEPT_RETRY_INTERVAL: Duration = Duration::from_millis(50);
const HTTP2_PING_INTERVAL: Duration = Duration::from_secs(60);
const MAX_HTTP2_STREAMS: u32 = 32;
const MAX_HTTP2_HEADER_LIST: u32 = 16 * 1024;
/// Streams that a client opened and reset before they were accepted.
const MAX_HTTP2_PENDING_RESETS: usize = 20;
/// Streams that the server reset because of errors of the client.
const MAX_HTTP2_ERROR_RESETS: usize = 256;
const HTTP2_WINDOW: u32 = 256 * 1024;
const MAX_HTTP2_SEND_BUFFER: usize = 256 * 1024;

/// What clients may hold of the server. The defaults are for production; tests use less.
#[derive(Clone, Debug)]
pub struct Limits {
    /// Connections of all clients.
    pub connections: usize,
    /// Connections in addition to those, for reports and health checks only. They are
    /// used when all others are taken and none can be closed.
    pub reserved: usize,
    /// Connections of one client: an IPv4 address or an IPv6 /64.
    pub per_client: usize,
    /// From the connection until the first request's headers have arrived.
    pub header_timeout: Duration,
    /// The same for a reserved connection.
    pub reserved_header_timeout: Duration,
    /// A connection without a request in progress.
    pub idle_timeout: Duration,
    /// A response of which the client accepts nothing.
    pub stall_timeout: Duration,
    /// How long a connection must have been idle to be closed in favor of a new one.
    pub min_idle: Duration,
    /// The same for one whose requests make no progress.
    pub min_stall: Duration,
}

impl Default for Limits {
    fn default() -> Self {
        Self {
            connections: 4096,
            reserved: 256,
            per_client: 256,
            header_timeout: Duration::from_secs(10),
            reserved_header_timeout: Duration::from_secs(2),
            idle_timeout: Duration::from_secs(30),
            stall_timeout: Duration::from_secs(30),
            min_idle: Duration::from_millis(500),
            min_stall: Duration::from_secs(3),
        }
    }
}

/// How a listener is served.
#[derive(Clone, Debug, Default)]
pub struct ServeSettings {
    pub limits: Limits,
    /// Proxies are not limited to the share of one client.
    pub trusted_proxies: Vec<IpNet>,
    /// How long a stop waits for running requests.
    pub grace: Duration,
}

/// What a request can know of its connection, as an extension.
#[derive(Clone, Copy, Debug)]
pub(crate) struct ConnectionContext {
    /// The address of the listener.
    pub(crate) listener: SocketAddr,
    /// All other connections are taken: only reports and health checks are served.
    pub(crate) reserved: bool,
}

/// Serves until `shutdown` is cancelled, then waits for running requests.
pub async fn serve(
    listener: TcpListener,
    router: Router,
    shutdown: CancellationToken,
    settings: ServeSettings,
) {
    let Ok(address) = listener.local_addr() else { return };
    let grace = settings.grace;
    let server = Server::new(address, router, shutdown.clone(), settings);
    loop {
        let accepted = tokio::select! {
            () = shutdown.cancelled() => break,
            accepted = listener.accept() => accepted,
        };
        match accepted {
            Ok((stream, peer)) => server.admit(stream, peer),
            Err(error) => {
                tracing::warn!(error = %Chain(&error), "a connection could not be accepted");
                // With too few files for all connections, one more is available then.
                server.connections.evict_longest_idle();
                tokio::time::sleep(ACCEPT_RETRY_INTERVAL).await;
            }
        }
    }
    drop(listener);
    server.finish(grace).await;
}

struct Server {
    router: Router,
    listener: SocketAddr,
    limits: Limits,
    builder: Builder<StreamExecutor>,
    connections: Arc<Connections>,
    tasks: TaskTracker,
    shutdown: CancellationToken,
    /// Ends the connections that a stop does not wait for any longer.
    abort: CancellationToken,
}

impl Server {
    fn new(
        listener: SocketAddr,
        router: Router,
        shutdown: CancellationToken,
        settings: ServeSettings,
    ) -> Self {
        let ServeSettings { limits, trusted_proxies, .. } = settings;
        let tasks = TaskTracker::new();
        Self {
            router,
            listener,
            builder: builder(&limits, StreamExecutor::new(tasks.clone(), limits.stall_timeout)),
            connections: Arc::new(Connections::new(limits.clone(), trusted_proxies)),
            limits,
            tasks,
            shutdown,
            abort: CancellationToken::new(),
        }
    }

    fn admit(&self, stream: TcpStream, peer: SocketAddr) {
        let Some(slot) = self.connections.admit(peer.ip()) else { return };
        // Without it responses are slower, and correct all the same.
        let _ = stream.set_nodelay(true);
        let activity = Arc::clone(slot.activity());
        let context = ConnectionContext { listener: self.listener, reserved: slot.is_reserved() };
        let service =
            Handler { router: self.router.clone(), activity: activity.clone(), peer, context };
        let io = TokioIo::new(GuardedIo::new(stream, activity));
        let connection = self.builder.serve_connection(io, service).into_owned();
        let (shutdown, abort) = (self.shutdown.clone(), self.abort.clone());
        let timeouts = Timeouts::of(&self.limits, slot.is_reserved());
        self.tasks.spawn(async move {
            tokio::select! {
                () = drive(connection, &slot, timeouts, shutdown) => {}
                () = abort.cancelled() => {}
            }
        });
    }

    async fn finish(self, grace: Duration) {
        self.tasks.close();
        if tokio::time::timeout(grace, self.tasks.wait()).await.is_err() {
            tracing::warn!(
                "some requests did not end within {} s and were cut off",
                grace.as_secs()
            );
            self.abort.cancel();
        }
    }
}

#[derive(Clone, Copy)]
pub(crate) struct Timeouts {
    header: Duration,
    idle: Duration,
    stall: Duration,
}

impl Timeouts {
    fn of(limits: &Limits, reserved: bool) -> Self {
        let (header, idle) = match reserved {
            true => (limits.reserved_header_timeout, limits.reserved_header_timeout),
            false => (limits.header_timeout, limits.idle_timeout),
        };
        Self { header, idle, stall: limits.stall_timeout }
    }

    /// A connection is checked at least this often: no deadline can begin and pass in between.
    fn shortest(&self) -> Duration {
        self.idle.min(self.stall)
    }
}

type HttpConnection = hyper_util::server::conn::auto::Connection<
    'static,
    TokioIo<GuardedIo>,
    Handler,
    StreamExecutor,
>;

/// Runs a connection until it ends, is closed for another, or passes a deadline.
async fn drive(
    connection: HttpConnection,
    slot: &Slot,
    timeouts: Timeouts,
    shutdown: CancellationToken,
) {
    let activity = slot.activity();
    let mut connection = pin!(connection);
    let mut stopping = false;
    let reason = loop {
        let deadline = activity.deadline(&timeouts);
        let next = Instant::now() + timeouts.shortest();
        let wake = deadline.map_or(next, |(at, _)| at.min(next));
        tokio::select! {
            biased;
            // A client that goes away in the middle of a request is not an error of ours.
            _ = connection.as_mut() => return,
            () = activity.closed() => break "evicted",
            () = shutdown.cancelled(), if !stopping => {
                stopping = true;
                connection.as_mut().graceful_shutdown();
            }
            () = tokio::time::sleep_until(wake) => {
                if let Some((at, reason)) = activity.deadline(&timeouts)
                    && at <= Instant::now()
                {
                    break reason;
                }
            }
        }
    };
    metrics::counter!("wakeful_connections_closed_total", "reason" => reason).increment(1);
    say_goodbye(connection).await;
}

/// Gives an HTTP/2 client the chance to learn that nothing more is served. What
/// cannot be written at once is not written.
async fn say_goodbye(mut connection: Pin<&mut HttpConnection>) {
    connection.as_mut().graceful_shutdown();
    std::future::poll_fn(|context| {
        let _ = connection.as_mut().poll(context);
        std::task::Poll::Ready(())
    })
    .await;
}

/// One connection's requests on their way to the router.
struct Handler {
    router: Router,
    activity: Arc<Activity>,
    peer: SocketAddr,
    context: ConnectionContext,
}

impl Service<hyper::Request<Incoming>> for Handler {
    type Response = Response<TrackedBody>;
    type Error = Infallible;
    type Future = Pin<Box<dyn Future<Output = Result<Self::Response, Infallible>> + Send>>;

    fn call(&self, request: hyper::Request<Incoming>) -> Self::Future {
        let exchange = Exchange::begin(Arc::clone(&self.activity));
        let version = request.version();
        let mut request: Request = request.map(Body::new);
        request.extensions_mut().insert(ConnectInfo(self.peer));
        request.extensions_mut().insert(self.context);
        let (router, reserved) = (self.router.clone(), self.context.reserved);
        Box::pin(async move {
            let mut response = router.oneshot(request).await?;
            if reserved && version < Version::HTTP_2 {
                response
                    .headers_mut()
                    .insert(header::CONNECTION, HeaderValue::from_static("close"));
            }
            Ok(response.map(|body| TrackedBody::new(body, exchange, version)))
        })
    }
}

fn builder(limits: &Limits, executor: StreamExecutor) -> Builder<StreamExecutor> {
    let mut builder = Builder::new(executor);
    // Hyper closes the connection without a response; a request over our own,
    // lower limit gets one.
    builder
        .http1()
        .timer(TokioTimer::new())
        .header_read_timeout(limits.header_timeout)
        .max_headers(MOST_HEADERS * 10);
    builder
        .http2()
        .timer(TokioTimer::new())
        .keep_alive_interval(Some(HTTP2_PING_INTERVAL))
        .max_concurrent_streams(MAX_HTTP2_STREAMS)
        .max_header_list_size(MAX_HTTP2_HEADER_LIST)
        .max_pending_accept_reset_streams(MAX_HTTP2_PENDING_RESETS)
        .max_local_error_reset_streams(MAX_HTTP2_ERROR_RESETS)
        .initial_stream_window_size(HTTP2_WINDOW)
        .initial_connection_window_size(HTTP2_WINDOW)
        .max_send_buf_size(MAX_HTTP2_SEND_BUFFER);
    builder
}
