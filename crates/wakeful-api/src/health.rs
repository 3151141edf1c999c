//! Whether the service lives, whether it can work, and what it counted.

use axum::extract::State;
use axum::http::{HeaderMap, StatusCode, header};
use axum::response::{IntoResponse, Response};
use wakeful_core::token::Digest;

use crate::app::Api;
use crate::error::{ApiError, ApiResult};
use crate::layers::no_such_path;
use crate::wire::Done;

/// The process answers.
pub(crate) async fn alive() -> ApiResult<Done> {
    Done::say("Wakeful is alive.")
}

/// Storage answers and the monitors are being watched.
pub(crate) async fn ready(State(api): State<Api>) -> ApiResult<Done> {
    if !api.engine().ready().await? {
        return Err(ApiError::unavailable("The monitors are being loaded; wait a moment."));
    }
    Done::say("Wakeful is ready.")
}

/// The metrics, for whoever holds the token; nothing is here without one.
pub(crate) async fn metrics(
    State(api): State<Api>,
    headers: HeaderMap,
) -> Result<Response, ApiError> {
    let Some(token) = &api.settings().metrics_token else { return Err(no_such_path()) };
    let sent = headers.get(header::AUTHORIZATION).and_then(|value| value.to_str().ok());
    let sent = sent.and_then(|value| value.split_once(' ')).map(|(_, token)| token.trim());
    // Digests are compared, so that the time tells nothing of the token.
    if sent.map(Digest::of) != Some(Digest::of(token.expose())) {
        return Err(ApiError::new(
            StatusCode::UNAUTHORIZED,
            "not_authenticated",
            "Send the metrics token as a Bearer Token in Authorization.",
        ));
    }
    open_metrics(State(api)).await
}

/// The metrics, for a listener that only the operator reaches.
pub(crate) async fn open_metrics(State(api): State<Api>) -> Result<Response, ApiError> {
    let metrics = api.metrics().ok_or_else(no_such_path)?;
    metrics.run_upkeep();
    let kind = [(header::CONTENT_TYPE, "text/plain; version=0.0.4")];
    Ok((kind, metrics.render()).into_response())
}
