//! The ping URLs, with which jobs report in the format of Healthchecks:
//! `/ping/<uuid>[/start|/fail|/log|/<exit code>]` and `/ping/<ping key>/<slug>[/…]`. Responses are
//! plain text. These URLs are not part of the API's OpenAPI document.

use axum::Router;
use axum::body::Body;
use axum::extract::{FromRequestParts as _, Request, State};
use axum::http::{HeaderValue, Method, StatusCode, header};
use axum::response::{IntoResponse, Response};
use axum::routing::any;
use http_body_util::BodyExt as _;
use std::collections::HashMap;
use std::time::Duration;
use uuid::Uuid;
use wakeful_core::calendar::zone::Zone;
use wakeful_core::monitors::timing;
use wakeful_core::push::{Signal, Slug};
use wakeful_engine::{Error, NewJob, PingRequest, PingTarget};

use crate::app::Api;
use crate::client_ip;
use crate::error::ApiError;

/// The characters of a ping key.
const KEY_LENGTH: usize = 22;
/// More than what is stored of a body is read and dropped, but not more than this.
const MAX_READ: usize = 1 << 20;

pub(crate) fn routes() -> Router<Api> {
    Router::new().route("/ping/{*rest}", any(ping))
}

async fn ping(State(api): State<Api>, request: Request) -> Response {
    let limit = api.settings().ping_body_bytes;
    let mut response = match receive(&api, request).await {
        Ok(status) => text(status, if status == StatusCode::CREATED { "Created" } else { "OK" }),
        Err(refused) => refused,
    };
    let headers = response.headers_mut();
    headers.insert(header::ACCESS_CONTROL_ALLOW_ORIGIN, HeaderValue::from_static("*"));
    headers.insert("ping-body-limit", HeaderValue::from(limit));
    response
}

/// What a ping URL names.
enum Address {
    Uuid(Uuid),
    Slug { key: String, slug: Slug },
}

async fn receive(api: &Api, request: Request) -> Result<StatusCode, Response> {
    let method = request.method().clone();
    if ![Method::GET, Method::HEAD, Method::POST].contains(&method) {
        return Err(text(StatusCode::METHOD_NOT_ALLOWED, "method not allowed"));
    }
    let (mut parts, body) = request.into_parts();
    let client = client_ip::of(&parts, api);
    api.push_limits().check(client).map_err(plain)?;
    let path = parts.uri.path().strip_prefix("/ping/").unwrap_or_default();
    let invalid = || text(StatusCode::BAD_REQUEST, "invalid url format");
    let (address, signal) = address(path).ok_or_else(invalid)?;
    let query =
        axum::extract::Query::<HashMap<String, String>>::from_request_parts(&mut parts, api);
    let query = query.await.map_err(|_| invalid())?.0;
    let rid = query.get("rid").map(|rid| Uuid::try_parse(rid)).transpose();
    let rid = rid.map_err(|_| text(StatusCode::BAD_REQUEST, "invalid uuid format"))?;
    let (engine, limits) = (api.engine(), api.push_limits());
    let turn = engine.lookup_turn(client).await.map_err(failed)?;
    let mut found = match &address {
        Address::Uuid(uuid) => {
            let target = engine.ping_target(*uuid).await.map_err(failed)?;
            target.map(|target| (target, false))
        }
        Address::Slug { key, slug } => {
            engine.ping_target_by_slug(key, slug, None).await.map_err(failed)?
        }
    };
    drop(turn);
    if found.is_none() {
        // Creating monitors is limited like guessing.
        limits.count_unknown_token(client).map_err(plain)?;
        let create = query.get("create").is_some_and(|create| create == "1");
        if let (Address::Slug { key, slug }, true) = (&address, create) {
            let job = Some(new_job(&query));
            found = engine.ping_target_by_slug(key, slug, job).await.map_err(failed)?;
        }
    }
    let Some((target, created)) = found else {
        return Err(text(StatusCode::NOT_FOUND, "not found"));
    };
    limits.count_report(&format!("ping {}", target.id())).map_err(plain)?;
    let body = read(body, api.settings().ping_body_bytes).await?;
    let agent = parts.headers.get(header::USER_AGENT).and_then(|agent| agent.to_str().ok());
    let scheme = if api.settings().https { "https" } else { "http" };
    let ping = PingRequest {
        signal,
        rid,
        method: method.to_string(),
        scheme: scheme.to_owned(),
        client: client.to_string(),
        agent: agent.unwrap_or_default().to_owned(),
        body,
    };
    accept(api, target, ping).await?;
    Ok(if created { StatusCode::CREATED } else { StatusCode::OK })
}

async fn accept(api: &Api, target: PingTarget, ping: PingRequest) -> Result<(), Response> {
    match api.engine().ping(target, ping).await {
        Ok(()) => Ok(()),
        Err(Error::NotFound(_)) => Err(text(StatusCode::NOT_FOUND, "not found")),
        Err(error) => Err(failed(error)),
    }
}

fn address(path: &str) -> Option<(Address, Signal)> {
    let parts: Vec<&str> = path.split('/').collect();
    let uuid = |text: &str| Uuid::try_parse(text).ok().filter(|_| text.len() == 36);
    match parts[..] {
        [one] => Some((Address::Uuid(uuid(one)?), Signal::Success)),
        [one, end] if uuid(one).is_some() => Some((Address::Uuid(uuid(one)?), Signal::parse(end)?)),
        [key, slug] => Some((by_slug(key, slug)?, Signal::Success)),
        [key, slug, end] => Some((by_slug(key, slug)?, Signal::parse(end)?)),
        _ => None,
    }
}

fn by_slug(key: &str, slug: &str) -> Option<Address> {
    let slug = Slug::parse(slug).ok()?;
    (key.len() == KEY_LENGTH).then(|| Address::Slug { key: key.to_owned(), slug })
}

/// The settings of a new monitor in the query; those that are invalid are the defaults.
fn new_job(query: &HashMap<String, String>) -> NewJob {
    let zone = query.get("tz").and_then(|name| Zone::parse(name).ok());
    let schedule = query.get("schedule").map(String::as_str);
    let grace: Option<Duration> =
        query.get("grace").and_then(|grace| timing::grace(grace.parse().ok()?).ok());
    NewJob::new(schedule.map(|text| (text, zone.unwrap_or_else(Zone::utc))), grace)
}

/// The first bytes of a body.
async fn read(mut body: Body, limit: usize) -> Result<Vec<u8>, Response> {
    let (mut kept, mut total) = (Vec::new(), 0);
    while let Some(frame) = body.frame().await {
        let unreadable = |_| text(StatusCode::BAD_REQUEST, "the body cannot be read");
        let Ok(data) = frame.map_err(unreadable)?.into_data() else { continue };
        total += data.len();
        if total > MAX_READ {
            return Err(text(StatusCode::PAYLOAD_TOO_LARGE, "body too large"));
        }
        let room = limit.saturating_sub(kept.len()).min(data.len());
        kept.extend_from_slice(&data[..room]);
    }
    Ok(kept)
}

fn text(status: StatusCode, body: &'static str) -> Response {
    (status, body).into_response()
}

fn failed(error: Error) -> Response {
    plain(error.into())
}

/// The status of an error of the API, with its own words.
fn plain(error: ApiError) -> Response {
    let (parts, _) = error.into_response().into_parts();
    let body = match parts.status {
        StatusCode::TOO_MANY_REQUESTS => "rate limit exceeded",
        StatusCode::SERVICE_UNAVAILABLE => "service unavailable",
        StatusCode::NOT_FOUND => "not found",
        _ => "error",
    };
    let mut response = text(parts.status, body);
    if let Some(wait) = parts.headers.get(header::RETRY_AFTER) {
        response.headers_mut().insert(header::RETRY_AFTER, wait.clone());
    }
    if let Some(cause) = parts.extensions.get::<crate::error::Cause>() {
        response.extensions_mut().insert(cause.clone());
    }
    response
}
