//! Compresses responses. An encoder takes about 300 kB until its client has read the
//! response, so there are only a few at a time: a body that is known is compressed at once,
//! and a stream is sent as it is when all encoders are in use.

use axum::body::Body;
use axum::extract::Request;
use axum::http::{HeaderMap, HeaderValue, header};
use axum::middleware::Next;
use axum::response::{IntoResponse as _, Response};
use flate2::Compression;
use flate2::write::GzEncoder;
use http_body_util::BodyExt as _;
use hyper::body::{Body as HttpBody, Bytes, Frame};
use std::io::Write as _;
use std::pin::Pin;
use std::sync::{Arc, LazyLock};
use std::task::{Context, Poll, ready};
use tokio::sync::{OwnedSemaphorePermit, Semaphore};

use crate::error::ApiError;

/// A smaller body is not worth it.
const MIN_SIZE: u64 = 1024;
/// A larger body is compressed while it is sent.
const MAX_SIZE_AT_ONCE: u64 = 256 * 1024;
const MAX_ENCODERS: usize = 32;

/// The encoders of all listeners of this process.
static ENCODERS: LazyLock<Arc<Semaphore>> =
    LazyLock::new(|| Arc::new(Semaphore::new(MAX_ENCODERS)));

/// Compresses the response if the client accepts it and it is worth it.
pub(crate) async fn compress(request: Request, next: Next) -> Response {
    let accepted = accepts_gzip(request.headers());
    let mut response = next.run(request).await;
    if !is_compressible(response.headers()) {
        return response;
    }
    response.headers_mut().append(header::VARY, HeaderValue::from_static("accept-encoding"));
    let size = response.body().size_hint().exact();
    if !accepted || size.is_some_and(|size| size < MIN_SIZE) {
        return response;
    }
    let (mut parts, body) = response.into_parts();
    let body = if size.is_some_and(|size| size <= MAX_SIZE_AT_ONCE) {
        match body.collect().await {
            Ok(whole) => Body::from(gzip(&whole.to_bytes(), Compression::default())),
            Err(_) => return ApiError::internal().into_response(),
        }
    } else {
        match Arc::clone(&ENCODERS).try_acquire_owned() {
            Ok(permit) => Body::new(GzipBody::new(body, permit)),
            Err(_) => return Response::from_parts(parts, body),
        }
    };
    parts.headers.remove(header::CONTENT_LENGTH);
    parts.headers.insert(header::CONTENT_ENCODING, HeaderValue::from_static("gzip"));
    Response::from_parts(parts, body)
}

/// A JSON response as a blocking thread makes it: what is large is compressed there, and not
/// where it would delay other requests.
pub(crate) fn json_response(json: Vec<u8>, accepts_gzip: bool) -> Response {
    let kind = (header::CONTENT_TYPE, HeaderValue::from_static("application/json"));
    if !accepts_gzip || json.len() as u64 <= MAX_SIZE_AT_ONCE {
        return ([kind], json).into_response();
    }
    let coding = (header::CONTENT_ENCODING, HeaderValue::from_static("gzip"));
    let vary = (header::VARY, HeaderValue::from_static("accept-encoding"));
    ([kind, coding, vary], gzip(&json, Compression::default())).into_response()
}

/// Text that is not compressed already. Events are sent one by one.
fn is_compressible(headers: &HeaderMap) -> bool {
    let kind = headers.get(header::CONTENT_TYPE).and_then(|kind| kind.to_str().ok());
    let is_text = kind.is_some_and(|kind| {
        kind.starts_with("application/json")
            || kind.starts_with("text/") && !kind.starts_with("text/event-stream")
    });
    is_text && !headers.contains_key(header::CONTENT_ENCODING)
}

pub(crate) fn accepts_gzip(headers: &HeaderMap) -> bool {
    let accepted = headers.get_all(header::ACCEPT_ENCODING).iter();
    let mut codings = accepted.filter_map(|value| value.to_str().ok()).flat_map(|v| v.split(','));
    codings.any(|coding| {
        let (name, weight) = coding.split_once(';').unwrap_or((coding, ""));
        name.trim() == "gzip" && !matches!(weight.trim(), "q=0" | "q=0.0" | "q=0.00" | "q=0.000")
    })
}

pub(crate) fn gzip(bytes: &[u8], level: Compression) -> Bytes {
    let mut encoder = GzEncoder::new(Vec::new(), level);
    let written = encoder.write_all(bytes).and_then(|()| encoder.finish());
    // Without the rest of the vector, which would be kept as long as the bytes are.
    written.expect("writing to a vector cannot fail").into_boxed_slice().into()
}

/// A body that is compressed while it is sent.
struct GzipBody {
    body: Body,
    /// None once the end has been written.
    encoder: Option<GzEncoder<Vec<u8>>>,
    _permit: OwnedSemaphorePermit,
}

impl GzipBody {
    fn new(body: Body, permit: OwnedSemaphorePermit) -> Self {
        let encoder = Some(GzEncoder::new(Vec::new(), Compression::default()));
        Self { body, encoder, _permit: permit }
    }
}

impl HttpBody for GzipBody {
    type Data = Bytes;
    type Error = axum::Error;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, axum::Error>>> {
        loop {
            let next = ready!(Pin::new(&mut self.body).poll_frame(context)).transpose()?;
            let Some(encoder) = &mut self.encoder else { return Poll::Ready(None) };
            let piece = match next {
                Some(frame) => {
                    let Ok(data) = frame.into_data() else { continue };
                    encoder.write_all(&data).map_err(axum::Error::new)?;
                    std::mem::take(encoder.get_mut())
                }
                None => {
                    let Some(encoder) = self.encoder.take() else { return Poll::Ready(None) };
                    encoder.finish().map_err(axum::Error::new)?
                }
            };
            if !piece.is_empty() {
                return Poll::Ready(Some(Ok(Frame::data(piece.into()))));
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use axum::Router;
    use axum::middleware::from_fn;
    use axum::routing::get;
    use flate2::read::GzDecoder;
    use futures_util::stream;
    use std::io::Read as _;
    use tower::ServiceExt as _;

    const LARGE: usize = 1_000_000;

    fn text(size: usize) -> String {
        "wakeful ".chars().cycle().take(size).collect()
    }

    /// What a client that accepts gzip gets: the headers and the decoded body.
    async fn fetch(body: fn() -> Body, kind: &'static str) -> (HeaderMap, String) {
        let handler = move || async move { ([(header::CONTENT_TYPE, kind)], body()) };
        let router = Router::new().route("/", get(handler)).layer(from_fn(compress));
        let request = Request::get("/").header(header::ACCEPT_ENCODING, "br, gzip");
        let request = request.body(Body::empty()).expect("a request");
        let response = router.oneshot(request).await.expect("a response");
        let (parts, body) = response.into_parts();
        let bytes = body.collect().await.expect("a body").to_bytes();
        let mut text = String::new();
        if parts.headers.contains_key(header::CONTENT_ENCODING) {
            assert!(bytes.len() < LARGE / 10, "{}", bytes.len());
            GzDecoder::new(&bytes[..]).read_to_string(&mut text).expect("gzip");
        } else {
            text.push_str(std::str::from_utf8(&bytes).expect("text"));
        }
        (parts.headers, text)
    }

    fn stream_of_pieces() -> Body {
        let pieces = (0..LARGE / 1000).map(|_| Ok::<_, std::convert::Infallible>(text(1000)));
        Body::from_stream(stream::iter(pieces))
    }

    #[tokio::test]
    async fn a_decompressed_body_is_what_was_sent() {
        let bodies: [(fn() -> Body, usize); 3] = [
            (|| Body::from(text(5_000)), 5_000),
            (|| Body::from(text(LARGE)), LARGE),
            (stream_of_pieces, LARGE),
        ];
        for (body, size) in bodies {
            let (headers, received) = fetch(body, "application/json").await;
            assert_eq!(headers[header::CONTENT_ENCODING], "gzip");
            assert_eq!(headers[header::VARY], "accept-encoding");
            assert!(received == text(size), "{} of {size}", received.len());
        }
    }

    #[tokio::test]
    async fn a_large_response_that_was_compressed_already_is_sent_as_it_is() {
        for (size, accepts_gzip) in [(LARGE, true), (LARGE, false), (5_000, true)] {
            let handler = move || async move { json_response(text(size).into(), accepts_gzip) };
            let router = Router::new().route("/", get(handler)).layer(from_fn(compress));
            let mut request = Request::get("/");
            if accepts_gzip {
                request = request.header(header::ACCEPT_ENCODING, "gzip");
            }
            let request = request.body(Body::empty()).expect("a request");
            let response = router.oneshot(request).await.expect("a response");
            let (parts, body) = response.into_parts();
            assert_eq!(parts.headers[header::CONTENT_TYPE], "application/json");
            assert_eq!(parts.headers[header::VARY], "accept-encoding");
            assert_eq!(parts.headers.contains_key(header::CONTENT_ENCODING), accepts_gzip);
            let bytes = body.collect().await.expect("a body").to_bytes();
            let mut received = Vec::new();
            if accepts_gzip {
                GzDecoder::new(&bytes[..]).read_to_end(&mut received).expect("gzip, once");
            } else {
                received.extend_from_slice(&bytes);
            }
            assert!(received == text(size).into_bytes(), "{} of {size}", received.len());
        }
    }

    #[tokio::test]
    async fn small_bodies_events_and_pictures_are_sent_as_they_are() {
        let small: fn() -> Body = || Body::from(text(500));
        let large: fn() -> Body = || Body::from(text(5_000));
        for (body, kind) in
            [(small, "application/json"), (large, "text/event-stream"), (large, "image/png")]
        {
            let (headers, _) = fetch(body, kind).await;
            assert!(!headers.contains_key(header::CONTENT_ENCODING), "{kind}");
        }
    }

    #[tokio::test]
    async fn when_all_encoders_are_in_use_a_stream_is_sent_as_it_is() {
        let permits = u32::try_from(MAX_ENCODERS).expect("a few");
        let _all = ENCODERS.try_acquire_many(permits).expect("none is in use");
        let (headers, received) = fetch(stream_of_pieces, "application/json").await;
        assert!(!headers.contains_key(header::CONTENT_ENCODING));
        assert!(received == text(LARGE));
    }
}
