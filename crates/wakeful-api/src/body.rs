//! Reading a JSON body: bounded, of the right content type, an object, and
//! with every wrong field told at once.

use axum::body::HttpBody as _;
use axum::extract::{FromRequest, FromRequestParts as _, Request};
use axum::http::{HeaderMap, StatusCode, header};
use http_body_util::{BodyExt as _, LengthLimitError, Limited};
use zeroize::Zeroizing;

use crate::address::ClientIp;
use crate::app::Api;
use crate::body_memory::Reservation;
use crate::error::ApiError;
use crate::wire::{Fields, Wire};

/// How much room a client's word gets before the body is there.
const TRUSTED: usize = 64 * 1024;

/// A request body, read and checked.
pub(crate) struct Body<T>(pub(crate) T);

impl<T: Wire> FromRequest<Api> for Body<T> {
    type Rejection = ApiError;

    async fn from_request(request: Request, api: &Api) -> Result<Self, ApiError> {
        if !is_json(request.headers()) {
            return Err(ApiError::new(
                StatusCode::UNSUPPORTED_MEDIA_TYPE,
                "unsupported_media_type",
                "Send the body as JSON with Content-Type: application/json.",
            ));
        }
        let (bytes, _reservation) = collect(request, api).await?;
        let value: serde_json::Value = serde_json::from_slice(&bytes).map_err(|error| {
            let place = format!("line {}, column {}", error.line(), error.column());
            ApiError::new(
                StatusCode::BAD_REQUEST,
                "malformed_json",
                format!("The body is not valid JSON: see {place}."),
            )
        })?;
        let mut fields = Fields::of(value)?;
        let read = T::read(&mut fields);
        fields.finish(read).map(Self)
    }
}

/// A whole body in memory of our own, which is wiped when it goes: it may hold a
/// card or a password. The memory it takes is the client's while it is in use.
pub(crate) async fn collect(
    request: Request,
    api: &Api,
) -> Result<(Zeroizing<Vec<u8>>, Reservation<'_>), ApiError> {
    let (mut parts, body) = request.into_parts();
    let Ok(ClientIp(client)) = ClientIp::from_request_parts(&mut parts, api).await;
    let mut reservation = api.body_memory().reserve(client);
    let limit = api.settings().body_limit;
    let mut body = Limited::new(body, limit);
    let announced = usize::try_from(body.size_hint().lower()).unwrap_or(usize::MAX);
    let mut bytes = Zeroizing::new(Vec::with_capacity(announced.min(TRUSTED)));
    while let Some(frame) = body.frame().await {
        let frame = frame.map_err(|error| match error.is::<LengthLimitError>() {
            true => too_large(limit),
            false => incomplete(),
        })?;
        if let Ok(data) = frame.into_data() {
            if !reservation.grow(data.len()) {
                return Err(ApiError::unavailable(
                    "Too many request bodies are being received; send fewer at the same time.",
                ));
            }
            append(&mut bytes, &data);
        }
    }
    Ok((bytes, reservation))
}

/// Adds to a buffer. A vector that grows by itself would leave a copy behind.
fn append(bytes: &mut Zeroizing<Vec<u8>>, data: &[u8]) {
    let needed = bytes.len() + data.len();
    if needed > bytes.capacity() {
        let mut larger = Zeroizing::new(Vec::with_capacity(needed.max(2 * bytes.capacity())));
        larger.extend_from_slice(bytes);
        *bytes = larger;
    }
    bytes.extend_from_slice(data);
}

fn incomplete() -> ApiError {
    ApiError::new(
        StatusCode::BAD_REQUEST,
        "incomplete_body",
        "The body ended before its announced length; send it again.",
    )
}

pub(crate) fn too_large(limit: usize) -> ApiError {
    ApiError::new(
        StatusCode::PAYLOAD_TOO_LARGE,
        "body_too_large",
        format!("The body is larger than {limit} bytes; send less."),
    )
}

fn is_json(headers: &HeaderMap) -> bool {
    let kind = headers.get(header::CONTENT_TYPE).and_then(|value| value.to_str().ok());
    kind.and_then(|kind| kind.split(';').next())
        .is_some_and(|kind| kind.trim().eq_ignore_ascii_case("application/json"))
}
