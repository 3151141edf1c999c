//! The body of a response, which notes that the client reads it. Over HTTP/2 it is
//! handed on in small pieces: what was handed on waits in the protocol's buffers for
//! a client that does not read, where nothing can be taken back.

use axum::body::Body;
use axum::http::Version;
use hyper::body::{Body as HttpBody, Bytes, Frame, SizeHint};
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll, ready};

use super::activity::Exchange;
use super::streams::{self, StreamProgress};

/// The usual size of an HTTP/2 frame.
const MAX_HTTP2_PIECE: usize = 16 * 1024;

pub(crate) struct TrackedBody {
    body: Body,
    exchange: Exchange,
    /// Only of an HTTP/2 stream.
    stream: Option<Arc<StreamProgress>>,
    /// The rest of a frame that is handed on in pieces.
    rest: Bytes,
    max_piece: usize,
}

impl TrackedBody {
    /// To be called by the task that sends the response.
    pub(super) fn new(body: Body, exchange: Exchange, version: Version) -> Self {
        exchange.progress();
        let max_piece = if version == Version::HTTP_2 { MAX_HTTP2_PIECE } else { usize::MAX };
        Self { body, exchange, stream: streams::current(), rest: Bytes::new(), max_piece }
    }

    fn next_piece(&mut self) -> Frame<Bytes> {
        let size = self.rest.len().min(self.max_piece);
        Frame::data(self.rest.split_to(size))
    }
}

impl HttpBody for TrackedBody {
    type Data = Bytes;
    type Error = axum::Error;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, axum::Error>>> {
        // Being asked for more means that the client took what it was given before.
        self.exchange.progress();
        if let Some(stream) = &self.stream {
            stream.asked();
        }
        if self.rest.is_empty() {
            match ready!(Pin::new(&mut self.body).poll_frame(context)) {
                Some(Ok(frame)) => match frame.into_data() {
                    Ok(data) => self.rest = data,
                    Err(other) => return Poll::Ready(Some(Ok(other))),
                },
                end => return Poll::Ready(end),
            }
        }
        if let Some(stream) = &self.stream {
            stream.handed_on();
        }
        Poll::Ready(Some(Ok(self.next_piece())))
    }

    fn is_end_stream(&self) -> bool {
        self.rest.is_empty() && self.body.is_end_stream()
    }

    fn size_hint(&self) -> SizeHint {
        let rest = u64::try_from(self.rest.len()).unwrap_or(u64::MAX);
        let inner = self.body.size_hint();
        let mut hint = SizeHint::new();
        if let Some(upper) = inner.upper() {
            hint.set_upper(upper.saturating_add(rest));
        }
        hint.set_lower(inner.lower().saturating_add(rest));
        hint
    }
}
