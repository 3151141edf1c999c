//! Reads a JSON body: limited in size, with the right content type, an object. All
//! invalid fields are reported at once.

use axum::body::HttpBody as _;
use axum::extract::{FromRequest, FromRequestParts as _, Request};
use axum::http::{HeaderMap, StatusCode, Uri, header};
use http_body_util::{BodyExt as _, LengthLimitError, Limited};
use std::sync::Arc;
use std::time::{Duration, Instant};
use wakeful_core::client_network::ClientNetwork;
use zeroize::Zeroizing;

use crate::app::Api;
use crate::caller::Grant;
use crate::client_ip::ClientIp;
use crate::client_shares::HeldReservation;
use crate::dto::{Fields, FromFields};
use crate::error::{ApiError, ErrorCode};
use crate::query::Query;

/// The most memory that is allocated on the strength of `Content-Length` alone.
const MAX_INITIAL_BUFFER: usize = 4 * 1024;

/// The beginning of a body does not count as memory of its client: the number of requests in
/// progress bounds it, and a short report must not be rejected because of others' long bodies.
const UNCOUNTED: usize = 16 * 1024;

/// Values in a body. Parsed, small ones take up to 70 times the memory of their text.
const MAX_VALUES: usize = 10_000;
/// Deeper values are refused by the parser.
const MAX_DEPTH: usize = 128;

/// A caller is authorized before the body is read. If it takes longer than this to arrive,
/// the authorization is confirmed, because it may have been withdrawn.
const CONFIRM_AFTER: Duration = Duration::from_millis(200);

/// A request body, read and checked.
pub(crate) struct Body<T>(pub(crate) T);

impl<T: FromFields> FromRequest<Api> for Body<T> {
    type Rejection = ApiError;

    async fn from_request(request: Request, api: &Api) -> Result<Self, ApiError> {
        let value = parse(&collect_json(request, api).await?)?;
        let mut fields = Fields::of(value)?;
        let read = T::read(&mut fields);
        fields.finish(read).map(Self)
    }
}

/// Parses a body that does not have too many values.
pub(crate) fn parse(bytes: &[u8]) -> Result<serde_json::Value, ApiError> {
    if count_values(bytes) > MAX_VALUES {
        return Err(ApiError::new(
            StatusCode::PAYLOAD_TOO_LARGE,
            ErrorCode::BodyTooLarge,
            format!("The body has more than {MAX_VALUES} values; send fewer."),
        ));
    }
    serde_json::from_slice(bytes).map_err(|error| malformed(&error))
}

/// The bytes of a body that says it is JSON.
pub(crate) async fn collect_json(
    request: Request,
    api: &Api,
) -> Result<Zeroizing<Vec<u8>>, ApiError> {
    if !is_json(request.headers()) {
        return Err(ApiError::new(
            StatusCode::UNSUPPORTED_MEDIA_TYPE,
            ErrorCode::UnsupportedMediaType,
            "Send the body as JSON with Content-Type: application/json.",
        ));
    }
    collect(request, api).await
}

pub(crate) fn malformed(error: &serde_json::Error) -> ApiError {
    let position = format!("line {}, column {}", error.line(), error.column());
    ApiError::new(
        StatusCode::BAD_REQUEST,
        ErrorCode::MalformedJson,
        format!("The body is not valid JSON: see {position}."),
    )
}

/// A request body as a browser sends a form, or JSON.
pub(crate) struct FormBody<T>(pub(crate) T);

impl<T: FromFields> FromRequest<Api> for FormBody<T> {
    type Rejection = ApiError;

    async fn from_request(request: Request, api: &Api) -> Result<Self, ApiError> {
        if !has_type(request.headers(), "application/x-www-form-urlencoded") {
            return Body::from_request(request, api).await.map(|Body(read)| Self(read));
        }
        let bytes = collect(request, api).await?;
        let mut fields = form(&bytes).ok_or_else(|| {
            ApiError::new(
                StatusCode::BAD_REQUEST,
                ErrorCode::MalformedJson,
                "The body cannot be parsed; write it as name=value&….",
            )
        })?;
        let read = T::read(&mut fields);
        fields.finish(read).map(Self)
    }
}

/// The fields of a form; it is encoded like a query.
fn form(bytes: &[u8]) -> Option<Fields> {
    let uri: Uri = format!("/?{}", std::str::from_utf8(bytes).ok()?.trim()).parse().ok()?;
    let Query(fields) = Query::of_uri(&uri).ok()?;
    Some(fields)
}

/// A whole body in a buffer that is wiped when dropped, because it may contain a card
/// or a password. The whole buffer, not only what has arrived, counts against the client's limit
/// until the request has been handled: the values that are read from it take as much.
pub(crate) async fn collect(request: Request, api: &Api) -> Result<Zeroizing<Vec<u8>>, ApiError> {
    let (mut parts, body) = request.into_parts();
    let Ok(ClientIp(client)) = ClientIp::from_request_parts(&mut parts, api).await;
    let held = parts.extensions.remove::<HeldReservation>().unwrap_or_default();
    let (grant, began) = (parts.extensions.remove::<Arc<Grant>>(), Instant::now());
    // The headers take more memory than most bodies, and a body may take long to arrive.
    drop(parts);
    let mut reservation = api.body_memory().reserve(Some(ClientNetwork::of(client)));
    let limit = api.settings().body_limit;
    let mut body = Limited::new(body, limit);
    let declared = usize::try_from(body.size_hint().lower()).unwrap_or(usize::MAX);
    let most = body.size_hint().upper().and_then(|upper| usize::try_from(upper).ok());
    let most = most.unwrap_or(limit).min(limit);
    let mut bytes = Zeroizing::new(Vec::with_capacity(declared.min(MAX_INITIAL_BUFFER)));
    while let Some(frame) = body.frame().await {
        let frame = frame.map_err(|error| {
            if error.is::<LengthLimitError>() { too_large(limit) } else { incomplete() }
        })?;
        if let Ok(data) = frame.into_data() {
            let capacity = capacity_for(bytes.len() + data.len(), bytes.capacity(), most);
            let counted = capacity.saturating_sub(UNCOUNTED);
            if !reservation.grow(counted.saturating_sub(reservation.amount())) {
                return Err(ApiError::unavailable(
                    "Too many request bodies are being received; send fewer at a time.",
                ));
            }
            append(&mut bytes, &data, capacity);
        }
    }
    held.hold(reservation);
    if let Some(grant) = grant.filter(|_| began.elapsed() >= CONFIRM_AFTER) {
        grant.confirm(api.engine()).await?;
    }
    Ok(bytes)
}

/// How many values the parser reads at most: one more than there are separators and
/// brackets outside strings, up to the depth where the parser gives up.
fn count_values(json: &[u8]) -> usize {
    let (mut count, mut depth, mut in_string, mut escaped) = (1, 0, false, false);
    for byte in json {
        match byte {
            _ if escaped => escaped = false,
            b'\\' => escaped = in_string,
            b'"' => in_string = !in_string,
            _ if in_string => {}
            b',' => count += 1,
            b'[' | b'{' if depth == MAX_DEPTH => break,
            b'[' | b'{' => (count, depth) = (count + 1, depth + 1),
            b']' | b'}' => depth = depth.saturating_sub(1),
            _ => {}
        }
    }
    count
}

/// The capacity of a buffer for so many bytes, of a body that has at most `most`: a power of two,
/// so that each byte is copied only a few times, but never more than the whole body needs.
fn capacity_for(needed: usize, current: usize, most: usize) -> usize {
    if needed <= current { current } else { needed.next_power_of_two().min(most).max(needed) }
}

/// Appends to a buffer, of this capacity if it grows. A vector that reallocates would leave an
/// unwiped copy behind. There are two copies only within this call, so at most one for each thread
/// beyond those that are counted.
fn append(bytes: &mut Zeroizing<Vec<u8>>, data: &[u8], capacity: usize) {
    if capacity > bytes.capacity() {
        let mut larger = Zeroizing::new(Vec::with_capacity(capacity));
        larger.extend_from_slice(bytes);
        *bytes = larger;
    }
    bytes.extend_from_slice(data);
}

fn incomplete() -> ApiError {
    ApiError::new(
        StatusCode::BAD_REQUEST,
        ErrorCode::IncompleteBody,
        "The body ended before its announced length; send it again.",
    )
}

pub(crate) fn too_large(limit: usize) -> ApiError {
    ApiError::new(
        StatusCode::PAYLOAD_TOO_LARGE,
        ErrorCode::BodyTooLarge,
        format!("The body is larger than {limit} bytes; send less."),
    )
}

fn is_json(headers: &HeaderMap) -> bool {
    has_type(headers, "application/json")
}

fn has_type(headers: &HeaderMap, expected: &str) -> bool {
    let kind = headers.get(header::CONTENT_TYPE).and_then(|value| value.to_str().ok());
    kind.and_then(|kind| kind.split(';').next())
        .is_some_and(|kind| kind.trim().eq_ignore_ascii_case(expected))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_buffer_has_the_capacity_that_was_counted_and_none_beyond_the_body() {
        const KIB: usize = 1024;
        assert_eq!(capacity_for(3 * KIB, 4 * KIB, 1024 * KIB), 4 * KIB);
        assert_eq!(capacity_for(5 * KIB, 4 * KIB, 1024 * KIB), 8 * KIB);
        assert_eq!(capacity_for(130 * KIB, 128 * KIB, 1024 * KIB), 256 * KIB);
        assert_eq!(capacity_for(130 * KIB, 128 * KIB, 140 * KIB), 140 * KIB, "the whole body");
        assert_eq!(capacity_for(5, 0, 0), 5);
        let mut bytes = Zeroizing::new(Vec::<u8>::with_capacity(4));
        for piece in [&b"abc"[..], b"", b"defg", b"hijklmnopqrstuvwx"] {
            let capacity = capacity_for(bytes.len() + piece.len(), bytes.capacity(), 24);
            append(&mut bytes, piece, capacity);
            assert_eq!(bytes.capacity(), capacity);
        }
        assert_eq!(*bytes, b"abcdefghijklmnopqrstuvwx");
        assert_eq!(bytes.capacity(), 24);
    }

    #[test]
    fn separators_inside_strings_are_no_values() {
        assert_eq!(count_values(br#"{"a": 1, "b": [2, 3]}"#), 5);
        assert_eq!(count_values(br#"{"a,[{": "x\",,,"}"#), 2);
        assert_eq!(count_values("[".repeat(100_000).as_bytes()), 1 + MAX_DEPTH);
    }
}
