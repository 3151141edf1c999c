//! Getting a token and giving it back.

use axum::Json;
use axum::extract::{Path, State};
use axum::http::HeaderMap;
use std::cmp::Reverse;
use wakeful_core::id::SessionId;
use wakeful_core::time::Millis;
use wakeful_engine::Session;

use crate::address::From;
use crate::app::Api;
use crate::body::Body;
use crate::caller::{Caller, Credentials};
use crate::cookie::{self, Said};
use crate::error::{ApiError, ApiResult, ErrorBody};
use crate::pathid;
use crate::query::{Part, Query};
use crate::wire::{Authenticate, AuthenticateBody, Done, LogIn, SessionList, SignedIn, Token};

/// Verifies the credentials of the request: answers the Bearer Token it came
/// with, or a new one for an API key pair.
#[utoipa::path(get, path = "/api/v1/authenticated", tag = "Authenticate",
    responses((status = 200, description = "The credentials are good", body = Token)))]
pub(crate) async fn authenticated(
    State(api): State<Api>,
    From(from): From,
    caller: Caller,
) -> ApiResult<Token> {
    let token = match caller.credentials {
        Credentials::Token(token) => token,
        Credentials::Keys(_) => api.engine().issue_token(&caller.who, &from).await?,
        // A script that gets into the page must not take its session elsewhere.
        Credentials::Cookie(_) => return Err(ApiError::not_authenticated()),
    };
    Ok(Json(Token::of(&token)))
}

/// Trades a user name and password, or an API key pair, for a Bearer Token.
#[utoipa::path(post, path = "/api/v1/authenticated", tag = "Authenticate", request_body = AuthenticateBody,
    responses(
        (status = 200, description = "The credentials are good", body = Token),
        (status = 401, description = "The credentials are wrong", body = ErrorBody)))]
pub(crate) async fn authenticate(
    State(api): State<Api>,
    From(from): From,
    Body(wanted): Body<Authenticate>,
) -> ApiResult<Token> {
    let token = match wanted {
        Authenticate::Password(credentials) => {
            api.engine().log_in(&credentials, &from).await?.token
        }
        Authenticate::Keys(pair) => api.engine().log_in_by_keys(&pair, &from).await?,
    };
    Ok(Json(Token::of(&token)))
}

/// Logs a user in.
#[utoipa::path(post, path = "/api/v1/login", tag = "User", request_body = LogIn,
    responses(
        (status = 200, description = "Logged in", body = SignedIn),
        (status = 401, description = "The credentials are wrong, or mfacode is missing or wrong",
            body = ErrorBody)))]
pub(crate) async fn login(
    State(api): State<Api>,
    From(from): From,
    headers: HeaderMap,
    Body(wanted): Body<LogIn>,
) -> Result<(Said, Json<SignedIn>), ApiError> {
    let signed_in = api.engine().log_in(&wanted.into(), &from).await?;
    Ok(cookie::hand_over(&api, &headers, signed_in))
}

/// Ends the session whose token the request carries.
#[utoipa::path(post, path = "/api/v1/logout", tag = "User",
    responses((status = 200, description = "Logged out", body = Done)))]
pub(crate) async fn logout(
    State(api): State<Api>,
    caller: Caller,
    headers: HeaderMap,
) -> Result<(Said, Json<Done>), ApiError> {
    api.engine().log_out(&caller.who).await?;
    Ok((cookie::forget(&api, &headers), Done::say("You are logged out.")?))
}

/// Ends all sessions of the caller; API keys stay.
#[utoipa::path(post, path = "/api/v1/logoutall", tag = "User",
    responses((status = 200, description = "Logged out everywhere", body = Done)))]
pub(crate) async fn logout_all(
    State(api): State<Api>,
    caller: Caller,
    headers: HeaderMap,
) -> Result<(Said, Json<Done>), ApiError> {
    api.engine().log_out_everywhere(&caller.who).await?;
    Ok((cookie::forget(&api, &headers), Done::say("You are logged out everywhere.")?))
}

/// Lists the caller's sessions, the one used last first.
#[utoipa::path(get, path = "/api/v1/sessions", tag = "User",
    params(
        ("limit" = Option<u32>, Query, minimum = 1, maximum = 1000, description = "Sessions a page"),
        ("cursor" = Option<String>, Query, description = "next_cursor of the page before")),
    responses(
        (status = 200, description = "The sessions", body = SessionList),
        (status = 422, description = "A part of the query is wrong", body = ErrorBody)))]
pub(crate) async fn list(
    State(api): State<Api>,
    caller: Caller,
    query: Query,
) -> ApiResult<SessionList> {
    let part = Part::read(query, place)?;
    let sessions = api.engine().sessions(&caller.who).await?;
    let of = |session: &Session| (Reverse(session.last_used), Reverse(session.id));
    let text = |(used, id): (Reverse<Millis>, Reverse<SessionId>)| format!("{}.{}", used.0.0, id.0);
    let (sessions, next) = part.of(sessions, of, text);
    Ok(Json(SessionList::of(sessions, caller.who.via, next)))
}

/// Where a session stands in the list: by its last use, then by its id.
fn place(text: &str) -> Option<(Reverse<Millis>, Reverse<SessionId>)> {
    let (used, id) = text.split_once('.')?;
    Some((Reverse(Millis(used.parse().ok()?)), Reverse(SessionId::parse(id)?)))
}

/// Ends one of the caller's sessions; its token opens nothing from now on.
#[utoipa::path(delete, path = "/api/v1/session/{sessionid}/delete", tag = "User",
    params(("sessionid" = String, Path, description = "The session's id")),
    responses(
        (status = 200, description = "Ended", body = Done),
        (status = 404, description = "The caller has no such session", body = ErrorBody)))]
pub(crate) async fn delete(
    State(api): State<Api>,
    caller: Caller,
    Path(sessionid): Path<String>,
) -> ApiResult<Done> {
    let id = pathid::parse(&sessionid, "session", SessionId::parse)?;
    api.engine().end_session(&caller.who, id).await?;
    Done::say("The session has ended.")
}
