//! The HTTP server on a listener: bounded in connections and in the time a
//! client may take over its headers, and stopped by letting what has begun end.

use axum::Router;
use axum::extract::ConnectInfo;
use axum::extract::Request;
use hyper::body::Incoming;
use hyper_util::rt::{TokioExecutor, TokioIo, TokioTimer};
use hyper_util::server::conn::auto::Builder;
use hyper_util::server::graceful::GracefulShutdown;
use std::io;
use std::pin::pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::{OwnedSemaphorePermit, Semaphore};
use tokio_util::sync::CancellationToken;
use tokio_util::task::TaskTracker;
use tower::ServiceExt as _;
use wakeful_core::chain::Chain;

use crate::layers::MOST_HEADERS;

const CONNECTIONS: usize = 4096;
const HEADERS_WITHIN: Duration = Duration::from_secs(10);
/// After an error such as "too many open files", accepting again at once spins.
const PAUSE: Duration = Duration::from_millis(50);

/// Serves until told to stop, then waits up to `grace` for what has begun.
pub async fn serve(
    listener: TcpListener,
    router: Router,
    shutdown: CancellationToken,
    grace: Duration,
) {
    let server = Arc::new(server());
    let graceful = GracefulShutdown::new();
    let tasks = TaskTracker::new();
    let places = Arc::new(Semaphore::new(CONNECTIONS));
    loop {
        let accepted = tokio::select! {
            () = shutdown.cancelled() => break,
            accepted = accept(&listener, &places) => accepted,
        };
        let (stream, place) = match accepted {
            Ok(accepted) => accepted,
            Err(error) => {
                tracing::warn!(
                    error = %Chain(&error),
                    "a connection could not be accepted"
                );
                tokio::time::sleep(PAUSE).await;
                continue;
            }
        };
        let Ok(peer) = stream.peer_addr() else { continue };
        let router = router.clone();
        let heard = Arc::new(AtomicBool::new(false));
        let hears = heard.clone();
        let service = hyper::service::service_fn(move |request: hyper::Request<Incoming>| {
            hears.store(true, Ordering::Relaxed);
            let mut request: Request = request.map(axum::body::Body::new);
            request.extensions_mut().insert(ConnectInfo(peer));
            router.clone().oneshot(request)
        });
        let connection =
            server.serve_connection_with_upgrades(TokioIo::new(stream), service).into_owned();
        let connection = graceful.watch(connection);
        tasks.spawn(async move {
            let mut connection = pin!(connection);
            // The server's own time for headers begins when the first bytes have told it
            // the protocol; a client that never sends them must not keep its place.
            let first = tokio::time::timeout(HEADERS_WITHIN, connection.as_mut()).await;
            if first.is_err() && heard.load(Ordering::Relaxed) {
                // A client that goes away mid-sentence is no news.
                let _ = connection.await;
            }
            drop(place);
        });
    }
    drop(listener);
    if tokio::time::timeout(grace, graceful.shutdown()).await.is_err() {
        tracing::warn!("some requests did not end within {} s and were cut off", grace.as_secs());
    }
}

async fn accept(
    listener: &TcpListener,
    places: &Arc<Semaphore>,
) -> io::Result<(TcpStream, OwnedSemaphorePermit)> {
    let place = places.clone().acquire_owned().await.map_err(io::Error::other)?;
    let (stream, _) = listener.accept().await?;
    stream.set_nodelay(true)?;
    Ok((stream, place))
}

fn server() -> Builder<TokioExecutor> {
    let mut server = Builder::new(TokioExecutor::new());
    // Hyper refuses without a word; what is over our own bound is told.
    let most = MOST_HEADERS * 10;
    server.http1().timer(TokioTimer::new()).header_read_timeout(HEADERS_WITHIN).max_headers(most);
    server.http2().timer(TokioTimer::new()).keep_alive_interval(Some(Duration::from_secs(60)));
    server
}
