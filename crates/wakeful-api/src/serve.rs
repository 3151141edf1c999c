//! The HTTP server on a listener. `Limits` bounds the number of connections, each site's and
//! client's share of them, and the time a connection may be idle or stalled, so that
//! no client can keep others from being served. A shutdown lets running requests finish.

mod activity;
mod body;
mod connections;
mod io;
mod requests;
mod streams;

use axum::Router;
use axum::body::Body;
use axum::extract::{ConnectInfo, Request};
use axum::http::{HeaderValue, Version, header};
use axum::response::{IntoResponse as _, Response};
use hyper::body::{Body as _, Incoming};
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
use wakeful_core::error_chain::ErrorChain;

use crate::client_shares::{ClientShares, HeldReservation};
use crate::error::ApiError;
use crate::layers::{MAX_HEADERS, is_served_when_full};
use activity::{Activity, Arrival, Exchange, Work};
pub(crate) use body::{BufferedBytes, SharedBytes};
use body::{RequestBody, TrackedBody};
use connections::{Connections, Slot};
use io::GuardedIo;
use requests::{Admission, Requests, Reservable};
use streams::StreamExecutor;

/// After an error such as "too many open files", accepting again at once would spin.
const ACCEPT_RETRY_INTERVAL: Duration = Duration::from_millis(50);
const HTTP2_PING_INTERVAL: Duration = Duration::from_secs(60);
/// Of one connection, for the headers of a request and for a response that is written.
const MAX_HTTP1_BUFFER: usize = 32 * 1024;
const MAX_HTTP2_STREAMS: u32 = 32;
const MAX_HTTP2_HEADER_LIST: u32 = 16 * 1024;
/// Streams that a client opened and reset before they were accepted.
const MAX_HTTP2_PENDING_RESETS: usize = 20;
/// Streams that the server reset because of errors of the client.
const MAX_HTTP2_ERROR_RESETS: usize = 256;
const HTTP2_WINDOW: u32 = 256 * 1024;
const MAX_HTTP2_SEND_BUFFER: usize = 16 * 1024;

/// The limits on connections. The defaults are for production; tests use lower ones.
#[derive(Clone, Debug)]
pub struct Limits {
    /// Connections of all clients.
    pub connections: usize,
    /// Additional connections, for reports and health checks only. They are used when all
    /// others are taken and none can be closed.
    pub reserved: usize,
    /// Reserved connections of one client.
    pub reserved_per_client: usize,
    /// How long a reserved connection may last, whatever it does.
    pub reserved_lifetime: Duration,
    /// Connections of one client: an IPv4 address or an IPv6 /64.
    pub per_client: usize,
    /// From accepting the connection until the first request's headers have arrived.
    pub header_timeout: Duration,
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
            reserved_per_client: 8,
            reserved_lifetime: Duration::from_secs(2),
            per_client: 256,
            header_timeout: Duration::from_secs(10),
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
    /// How long a shutdown waits for running requests.
    pub grace: Duration,
}

/// The connection of a request, as an extension of the request.
#[derive(Clone, Copy, Debug)]
pub(crate) struct ConnectionContext {
    /// The address of the listener.
    pub(crate) listener: SocketAddr,
    /// All other connections are taken, or there are too many requests: only reports and
    /// health checks are served.
    pub(crate) reserved: bool,
    /// Half of the connections are taken.
    pub(crate) half_full: bool,
}

/// Serves until `shutdown` is canceled, then waits for running requests.
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
                tracing::warn!(error = %ErrorChain(&error), "accepting a connection failed");
                // Frees a file descriptor if the process has run out of them.
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
    /// HTTP/1 only: one request, one response.
    reserved_builder: Builder<StreamExecutor>,
    connections: Arc<Connections>,
    requests: Requests,
    unread: ClientShares,
    tasks: TaskTracker,
    shutdown: CancellationToken,
    /// Ends the connections that are still open after the grace period.
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
        let builder = builder(&limits, StreamExecutor::new(tasks.clone(), limits.stall_timeout));
        let connections = Arc::new(Connections::new(limits.clone(), trusted_proxies));
        Self {
            router,
            listener,
            reserved_builder: builder.clone().http1_only(),
            builder,
            requests: Requests::new(&limits, Arc::clone(&connections)),
            connections,
            limits,
            unread: ClientShares::of_memory(),
            tasks,
            shutdown,
            abort: CancellationToken::new(),
        }
    }

    fn admit(&self, stream: TcpStream, peer: SocketAddr) {
        let Some(slot) = self.connections.admit(peer.ip()) else { return };
        // Without it responses are slower, but still correct.
        let _ = stream.set_nodelay(true);
        let activity = Arc::clone(slot.activity());
        let context = ConnectionContext {
            listener: self.listener,
            reserved: slot.is_reserved(),
            half_full: false,
        };
        let service = Handler {
            router: self.router.clone(),
            activity: activity.clone(),
            peer,
            context,
            requests: self.requests.clone(),
            unread: self.unread.clone(),
        };
        let io = TokioIo::new(GuardedIo::new(stream, activity));
        let builder = if slot.is_reserved() { &self.reserved_builder } else { &self.builder };
        let connection = builder.serve_connection(io, service).into_owned();
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
                "some requests did not finish within {} s and were aborted",
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
    /// Only of a reserved connection.
    lifetime: Option<Duration>,
}

impl Timeouts {
    fn of(limits: &Limits, reserved: bool) -> Self {
        let lifetime = reserved.then_some(limits.reserved_lifetime);
        Self {
            header: limits.header_timeout,
            idle: limits.idle_timeout,
            stall: limits.stall_timeout,
            lifetime,
        }
    }

    /// Returns when the lifetime of the connection is over.
    async fn expired(self) {
        match self.lifetime {
            Some(lifetime) => tokio::time::sleep(lifetime).await,
            None => std::future::pending().await,
        }
    }

    /// A connection is checked at least this often, so that no deadline is missed.
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

/// Runs a connection until it ends, is closed in favor of another, or exceeds a timeout.
async fn drive(
    connection: HttpConnection,
    slot: &Slot,
    timeouts: Timeouts,
    shutdown: CancellationToken,
) {
    let activity = slot.activity();
    activity.begin();
    let mut connection = pin!(connection);
    let mut expired = pin!(timeouts.expired());
    let mut stopping = false;
    let reason = loop {
        let deadline = activity.deadline(&timeouts);
        let next = Instant::now() + timeouts.shortest();
        let wake = deadline.map_or(next, |(at, _)| at.min(next));
        tokio::select! {
            biased;
            // A client that disconnects during a request is not our error.
            _ = connection.as_mut() => return,
            () = activity.closed() => break "evicted",
            () = expired.as_mut() => break "expired",
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
    send_goaway(connection).await;
}

/// Sends GOAWAY to an HTTP/2 client, as far as it can be written without waiting.
async fn send_goaway(mut connection: Pin<&mut HttpConnection>) {
    connection.as_mut().graceful_shutdown();
    std::future::poll_fn(|context| {
        let _ = connection.as_mut().poll(context);
        std::task::Poll::Ready(())
    })
    .await;
}

/// Passes the requests of one connection to the router.
struct Handler {
    router: Router,
    activity: Arc<Activity>,
    peer: SocketAddr,
    context: ConnectionContext,
    requests: Requests,
    /// Responses that clients have not read.
    unread: ClientShares,
}

impl Service<hyper::Request<Incoming>> for Handler {
    type Response = Response<TrackedBody>;
    type Error = Infallible;
    type Future = Pin<Box<dyn Future<Output = Result<Self::Response, Infallible>> + Send>>;

    fn call(&self, request: hyper::Request<Incoming>) -> Self::Future {
        let exchange = Exchange::begin(Arc::clone(&self.activity));
        let client = self.requests.client(self.peer.ip(), request.headers());
        let mut unread = self.unread.reserve(client);
        let version = request.version();
        let close = self.context.reserved && version < Version::HTTP_2;
        let requests = self.requests.clone();
        let reservable = if !is_served_when_full(request.uri().path()) {
            Reservable::No
        } else if request.body().is_end_stream() {
            Reservable::WithoutBody
        } else {
            Reservable::WithBody
        };
        // A request that is not admitted is dropped at once, with its headers. It costs no line in
        // the log: when many are refused, there is no time to write them.
        let handled = self
            .requests
            .admit(client, reservable)
            .map(|admission| self.handle(request, admission));
        Box::pin(async move {
            let mut response = match handled {
                Some(handled) => handled.await,
                None => too_many_requests(),
            };
            if !body::count(&response, &mut unread) {
                requests.evict_stalled();
                response = ApiError::unavailable(
                    "Too many responses have not been read; read them, or send fewer requests at a time.",
                )
                .into_response();
            }
            if close {
                let close = HeaderValue::from_static("close");
                response.headers_mut().insert(header::CONNECTION, close);
            }
            Ok(TrackedBody::track(response, exchange, unread, version))
        })
    }
}

impl Handler {
    /// Passes a request on to the router.
    fn handle(
        &self,
        request: hyper::Request<Incoming>,
        admission: Admission,
    ) -> impl Future<Output = Response> + Send + use<> {
        let work = Work::begin(Arc::clone(&self.activity));
        let held = HeldReservation::default();
        let lifetime = admission.lifetime;
        let context = ConnectionContext {
            reserved: self.context.reserved || lifetime.is_some(),
            half_full: self.requests.is_half_full(),
            ..self.context
        };
        let request = self.prepare(request, context, held.clone());
        let router = self.router.clone();
        async move {
            let routed = router.oneshot(request);
            let response = match lifetime {
                Some(lifetime) => tokio::time::timeout(lifetime, routed)
                    .await
                    .unwrap_or_else(|_| Ok(too_many_requests())),
                None => routed.await,
            }
            .unwrap_or_else(|never| match never {});
            drop((admission, work, held));
            response
        }
    }

    fn prepare(
        &self,
        request: hyper::Request<Incoming>,
        context: ConnectionContext,
        held: HeldReservation,
    ) -> Request {
        let arrival = Arrival::new(Arc::clone(&self.activity));
        let mut request = request.map(|body| Body::new(RequestBody::new(body, arrival)));
        request.extensions_mut().insert(ConnectInfo(self.peer));
        request.extensions_mut().insert(context);
        request.extensions_mut().insert(held);
        request
    }
}

fn too_many_requests() -> Response {
    metrics::counter!("wakeful_requests_refused_total").increment(1);
    ApiError::unavailable("Too many requests are in progress; try again in a moment.")
        .into_response()
}

fn builder(limits: &Limits, executor: StreamExecutor) -> Builder<StreamExecutor> {
    let mut builder = Builder::new(executor);
    // Hyper closes the connection without a response at this limit; `layers` responds
    // with 431 at a lower one.
    builder
        .http1()
        .timer(TokioTimer::new())
        .header_read_timeout(limits.header_timeout)
        .max_buf_size(MAX_HTTP1_BUFFER)
        .max_headers(MAX_HEADERS * 10);
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
