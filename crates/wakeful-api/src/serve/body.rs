//! The bodies of requests, which record when the server waits for the client, and of
//! responses, which record when the client reads them and how much it has not read. A
//! response is passed on in small pieces: data that was passed on stays in the protocol's
//! buffers while the client does not read, and cannot be taken back.

use axum::body::Body;
use axum::http::Version;
use axum::response::Response;
use hyper::body::{Body as HttpBody, Bytes, Frame, Incoming, SizeHint};
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll, ready};

use super::activity::{Arrival, Exchange};
use super::streams::{self, StreamProgress};
use crate::client_shares::Reservation;

/// The usual size of an HTTP/2 frame.
const MAX_HTTP2_PIECE: usize = 16 * 1024;
const MAX_HTTP1_PIECE: usize = 64 * 1024;
/// Smaller responses are not counted: as many as a client may have at a time are few.
const MIN_COUNTED: usize = 1024;

const TOO_MUCH_UNREAD: &str = "the client has too many responses that it does not read";

/// Bytes of a streamed response that are already in memory, as an extension of it.
#[derive(Clone, Copy, Debug)]
pub(crate) struct BufferedBytes(pub(crate) usize);

/// A response whose bytes are in memory anyway, as an extension of it.
#[derive(Clone, Copy, Debug)]
pub(crate) struct SharedBytes;

/// Counts a response that is about to be sent; false if its client has too many that it
/// does not read.
pub(super) fn count(response: &Response, unread: &mut Reservation) -> bool {
    let known = usize::try_from(response.body().size_hint().lower()).unwrap_or(usize::MAX);
    let buffered = response.extensions().get::<BufferedBytes>().map_or(0, |bytes| bytes.0);
    let bytes = known.max(buffered);
    let bytes = if is_shared(response) { bytes.min(MAX_HTTP2_PIECE) } else { bytes };
    bytes < MIN_COUNTED || unread.grow(bytes)
}

/// A compressed response is a copy, and its size is not known.
fn is_shared<B: HttpBody>(response: &Response<B>) -> bool {
    response.extensions().get::<SharedBytes>().is_some()
        && response.body().size_hint().exact().is_some()
}

pub(super) struct RequestBody {
    body: Incoming,
    arrival: Arrival,
}

impl RequestBody {
    pub(super) fn new(body: Incoming, arrival: Arrival) -> Self {
        Self { body, arrival }
    }
}

impl HttpBody for RequestBody {
    type Data = Bytes;
    type Error = hyper::Error;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, hyper::Error>>> {
        let polled = Pin::new(&mut self.body).poll_frame(context);
        if let Poll::Ready(Some(Ok(frame))) = &polled {
            self.arrival.received(frame.data_ref().map_or(0, Bytes::len));
        }
        self.arrival.set_waiting(polled.is_pending());
        polled
    }

    fn is_end_stream(&self) -> bool {
        self.body.is_end_stream()
    }

    fn size_hint(&self) -> SizeHint {
        self.body.size_hint()
    }
}

/// A frame that counts as unread until its last piece has been sent.
struct CountedData {
    data: Bytes,
    _unread: Reservation,
}

impl CountedData {
    /// Continues the count of a response with its next frame; none if its client has too
    /// much that it does not read.
    fn wrap(data: Bytes, unread: &mut Reservation) -> Option<Bytes> {
        let next = unread.another();
        let mut counted = std::mem::replace(unread, next);
        if data.len() < MIN_COUNTED {
            return Some(data);
        }
        let missing = data.len().saturating_sub(counted.amount());
        counted.grow(missing).then(|| Bytes::from_owner(Self { data, _unread: counted }))
    }
}

impl AsRef<[u8]> for CountedData {
    fn as_ref(&self) -> &[u8] {
        &self.data
    }
}

pub(crate) struct TrackedBody {
    body: Body,
    exchange: Exchange,
    unread: Reservation,
    /// Only for an HTTP/2 stream.
    stream: Option<Arc<StreamProgress>>,
    /// The rest of a frame that is passed on in pieces.
    rest: Bytes,
    max_piece: usize,
    shared: bool,
}

impl TrackedBody {
    /// Must be called by the task that sends the response.
    pub(super) fn track(
        response: Response,
        exchange: Exchange,
        unread: Reservation,
        version: Version,
    ) -> Response<Self> {
        let shared = is_shared(&response);
        response.map(|body| Self::new(body, exchange, unread, version, shared))
    }

    fn new(
        body: Body,
        exchange: Exchange,
        unread: Reservation,
        version: Version,
        shared: bool,
    ) -> Self {
        exchange.progress();
        let max_piece = if version == Version::HTTP_2 { MAX_HTTP2_PIECE } else { MAX_HTTP1_PIECE };
        let stream = streams::current();
        Self { body, exchange, unread, stream, rest: Bytes::new(), max_piece, shared }
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
        // A poll for more means that the client has read the previous piece.
        self.exchange.progress();
        if let Some(stream) = &self.stream {
            stream.asked();
        }
        if self.rest.is_empty() {
            match ready!(Pin::new(&mut self.body).poll_frame(context)) {
                Some(Ok(frame)) => match frame.into_data() {
                    Ok(data) if self.shared => self.rest = data,
                    Ok(data) => match CountedData::wrap(data, &mut self.unread) {
                        Some(data) => self.rest = data,
                        None => {
                            return Poll::Ready(Some(Err(axum::Error::new(TOO_MUCH_UNREAD))));
                        }
                    },
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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::client_shares::ClientShares;

    #[test]
    fn a_frame_is_unread_until_its_last_piece_is_dropped() {
        let shares = ClientShares::new(10_000, 10_000);
        let mut unread = shares.reserve(None);
        let mut first = CountedData::wrap(Bytes::from(vec![0; 6_000]), &mut unread).unwrap();
        let piece = first.split_to(10);
        drop(first);
        assert!(CountedData::wrap(Bytes::from(vec![0; 6_000]), &mut unread).is_none());
        drop(piece);
        assert!(CountedData::wrap(Bytes::from(vec![0; 6_000]), &mut unread).is_some());
    }

    #[test]
    fn what_was_counted_for_a_response_includes_its_first_frame() {
        let shares = ClientShares::new(10_000, 10_000);
        let mut unread = shares.reserve(None);
        assert!(unread.grow(9_000));
        assert!(CountedData::wrap(Bytes::from(vec![0; 9_000]), &mut unread).is_some());
    }
}
