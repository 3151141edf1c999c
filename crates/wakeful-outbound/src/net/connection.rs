//! The connection of an HTTP session, and who drives it: the caller that waits
//! for the response, so that a plain request needs no task of its own.

use bytes::Bytes;
use http_body_util::Full;
use hyper::client::conn::{http1, http2};
use hyper_util::rt::TokioIo;
use std::io;
use std::pin::{Pin, pin};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::task::{Context, Poll};
use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};
use tokio::net::TcpStream;
use tokio::task::JoinSet;
use tokio_rustls::client::TlsStream;

use super::http2_frames::CountedFrames;

#[expect(clippy::large_enum_variant, reason = "the large variant is the common one")]
pub(super) enum HttpConnection {
    Http1(http1::Connection<TokioIo<Stream>, Full<Bytes>>),
    Http2(Box<http2::Connection<TokioIo<CountedFrames<Stream>>, Full<Bytes>, Tasks>>, Tasks),
    Ended,
}

impl HttpConnection {
    /// Drives the connection while waiting for the result of `work`.
    pub(super) async fn drive<T>(&mut self, work: impl Future<Output = T>) -> T {
        let mut work = pin!(work);
        std::future::poll_fn(|context| {
            let ended = match self {
                Self::Http1(connection) => Pin::new(connection).poll(context).is_ready(),
                Self::Http2(connection, _) => Pin::new(connection).poll(context).is_ready(),
                Self::Ended => false,
            };
            if ended {
                // The result of `work` shows how it ended.
                *self = Self::Ended;
            }
            work.as_mut().poll(context)
        })
        .await
    }
}

impl Drop for HttpConnection {
    fn drop(&mut self) {
        if let Self::Http2(_, tasks) = self {
            tasks.lock().abort_all();
        }
    }
}

/// HTTP/2 spawns tasks; they end with the session.
#[derive(Clone, Default)]
pub(super) struct Tasks(Arc<Mutex<JoinSet<()>>>);

impl Tasks {
    fn lock(&self) -> MutexGuard<'_, JoinSet<()>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl<F: Future<Output = ()> + Send + 'static> hyper::rt::Executor<F> for Tasks {
    fn execute(&self, part: F) {
        self.lock().spawn(part);
    }
}

#[derive(Debug)]
pub(crate) enum Stream {
    Plain(TcpStream),
    Tls(Box<TlsStream<TcpStream>>),
}

impl AsyncRead for Stream {
    fn poll_read(
        self: Pin<&mut Self>,
        context: &mut Context<'_>,
        into: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        match self.get_mut() {
            Self::Plain(tcp) => Pin::new(tcp).poll_read(context, into),
            // Many servers close the connection without the closing alert. If
            // that truncates a body, its length shows it; otherwise it is how
            // the response ends.
            Self::Tls(tls) => match Pin::new(tls).poll_read(context, into) {
                Poll::Ready(Err(error)) if error.kind() == io::ErrorKind::UnexpectedEof => {
                    Poll::Ready(Ok(()))
                }
                other => other,
            },
        }
    }
}

impl AsyncWrite for Stream {
    fn poll_write(
        self: Pin<&mut Self>,
        context: &mut Context<'_>,
        bytes: &[u8],
    ) -> Poll<io::Result<usize>> {
        match self.get_mut() {
            Self::Plain(tcp) => Pin::new(tcp).poll_write(context, bytes),
            Self::Tls(tls) => Pin::new(tls).poll_write(context, bytes),
        }
    }

    fn poll_flush(self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        match self.get_mut() {
            Self::Plain(tcp) => Pin::new(tcp).poll_flush(context),
            Self::Tls(tls) => Pin::new(tls).poll_flush(context),
        }
    }

    fn poll_shutdown(self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        match self.get_mut() {
            Self::Plain(tcp) => Pin::new(tcp).poll_shutdown(context),
            Self::Tls(tls) => Pin::new(tls).poll_shutdown(context),
        }
    }
}
