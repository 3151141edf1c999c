//! Liveness, readiness and metrics.

use axum::extract::State;
use axum::http::{HeaderMap, StatusCode, header};
use axum::response::{IntoResponse, Response};
use wakeful_core::token::Digest;

use crate::app::Api;
use crate::dto::Ack;
use crate::error::{ApiError, ApiResult, ErrorCode};
use crate::layers::no_such_path;

/// The process responds.
pub(crate) async fn alive() -> ApiResult<Ack> {
    Ack::with_message("Wakeful is alive.")
}

/// Storage responds and the monitors have been loaded.
pub(crate) async fn ready(State(api): State<Api>) -> ApiResult<Ack> {
    if !api.engine().ready().await? {
        return Err(ApiError::unavailable("The monitors are being loaded; wait a moment."));
    }
    Ack::with_message("Wakeful is ready.")
}

/// The metrics, for clients with the token; 404 if no token is set.
pub(crate) async fn metrics(
    State(api): State<Api>,
    headers: HeaderMap,
) -> Result<Response, ApiError> {
    let Some(token) = &api.settings().metrics_token else { return Err(no_such_path()) };
    let sent = headers.get(header::AUTHORIZATION).and_then(|value| value.to_str().ok());
    let sent = sent.and_then(|value| value.split_once(' ')).map(|(_, token)| token.trim());
    // Comparing digests keeps the timing independent of the token.
    if sent.map(Digest::of) != Some(Digest::of(token.expose())) {
        return Err(ApiError::new(
            StatusCode::UNAUTHORIZED,
            ErrorCode::NotAuthenticated,
            "Send the metrics token as a bearer token in Authorization.",
        ));
    }
    open_metrics(State(api)).await
}

/// The metrics, for a listener that only the operator can reach.
pub(crate) async fn open_metrics(State(api): State<Api>) -> Result<Response, ApiError> {
    let metrics = api.metrics().ok_or_else(no_such_path)?;
    metrics.run_upkeep();
    let kind = [(header::CONTENT_TYPE, "text/plain; version=0.0.4")];
    Ok((kind, metrics.render()).into_response())
}
