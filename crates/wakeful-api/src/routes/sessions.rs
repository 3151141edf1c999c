//! Login, logout and the caller's sessions.

use axum::Json;
use axum::extract::{Path, State};
use axum::http::HeaderMap;
use std::cmp::Reverse;
use wakeful_core::access::{Permission, permission};
use wakeful_core::id::SessionId;
use wakeful_core::time::Millis;
use wakeful_engine::Authorized;
use wakeful_engine::Session;

use crate::api_router::{ApiRouter, routes};
use crate::app::Api;
use crate::body::Body;
use crate::caller::{CredentialKind, Credentials, needs};
use crate::client_ip::ClientOrigin;
use crate::cookie::{self, CookieHeader};
use crate::dto::Ack;
use crate::dto::sessions::{Authenticate, AuthenticateBody, LogIn, SessionList, SignedIn, Token};
use crate::error::{ApiError, ApiResult, ErrorBody};
use crate::path_id;
use crate::query::{ListPage, Query};

pub(super) fn public() -> ApiRouter {
    ApiRouter::new().routes(routes!(create_token)).routes(routes!(log_in))
}

pub(super) fn protected() -> ApiRouter {
    ApiRouter::new()
        .routes(needs(Permission::Known, routes!(get_token)))
        .routes(needs(Permission::Known, routes!(log_out)))
        .routes(needs(Permission::Myself, routes!(log_out_everywhere)))
        .routes(needs(Permission::Myself, routes!(list_sessions)))
        .routes(needs(Permission::Myself, routes!(delete_session)))
}

/// Verifies the credentials of the request. Returns the bearer token that was sent, or a
/// new one for an API key pair.
#[utoipa::path(get, path = "/api/v1/authenticated", tag = "Authenticate",
    responses((status = 200, description = "The credentials are valid", body = Token)))]
async fn get_token(
    State(api): State<Api>,
    ClientOrigin(from): ClientOrigin,
    caller: Authorized<permission::Known>,
    credentials: Credentials,
) -> ApiResult<Token> {
    let token = match credentials.kind {
        CredentialKind::Token(token) => token,
        CredentialKind::Keys(_) => api.engine().issue_token(&caller, &from).await?,
        // A script injected into the web app must not be able to steal the session.
        CredentialKind::Cookie(_) => return Err(ApiError::not_authenticated()),
    };
    Ok(Json(Token::of(&token)))
}

/// Exchanges a user name and password, or an API key pair, for a bearer token.
#[utoipa::path(post, path = "/api/v1/authenticated", tag = "Authenticate", request_body = AuthenticateBody,
    responses(
        (status = 200, description = "The credentials are valid", body = Token),
        (status = 401, description = "The credentials are wrong", body = ErrorBody),
        (status = 403, description = "The holder of the key is suspended, or the team does not \
            allow the keys of people", body = ErrorBody)))]
async fn create_token(
    State(api): State<Api>,
    ClientOrigin(from): ClientOrigin,
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
async fn log_in(
    State(api): State<Api>,
    ClientOrigin(from): ClientOrigin,
    headers: HeaderMap,
    Body(wanted): Body<LogIn>,
) -> Result<(CookieHeader, Json<SignedIn>), ApiError> {
    let signed_in = api.engine().log_in(&wanted.into(), &from).await?;
    Ok(cookie::sign_in_response(&api, &headers, signed_in))
}

/// Ends the session of the request's token.
#[utoipa::path(post, path = "/api/v1/logout", tag = "User",
    responses((status = 200, description = "Logged out", body = Ack)))]
async fn log_out(
    State(api): State<Api>,
    caller: Authorized<permission::Known>,
    headers: HeaderMap,
) -> Result<(CookieHeader, Json<Ack>), ApiError> {
    api.engine().log_out(&caller).await?;
    Ok((cookie::clear(&api, &headers), Ack::with_message("You are logged out.")?))
}

/// Ends all sessions of the caller. API keys remain valid.
#[utoipa::path(post, path = "/api/v1/logoutall", tag = "User",
    responses((status = 200, description = "Logged out everywhere", body = Ack)))]
async fn log_out_everywhere(
    State(api): State<Api>,
    caller: Authorized<permission::Myself>,
    headers: HeaderMap,
) -> Result<(CookieHeader, Json<Ack>), ApiError> {
    api.engine().log_out_everywhere(&caller).await?;
    Ok((cookie::clear(&api, &headers), Ack::with_message("You are logged out everywhere.")?))
}

/// Lists the caller's sessions, most recently used first.
#[utoipa::path(get, path = "/api/v1/sessions", tag = "User",
    params(
        ("limit" = Option<u32>, Query, minimum = 1, maximum = 1000, description = "Sessions per page"),
        ("cursor" = Option<String>, Query, description = "`next_cursor` of the previous page")),
    responses(
        (status = 200, description = "The sessions", body = SessionList),
        (status = 422, description = "A query parameter is invalid", body = ErrorBody)))]
async fn list_sessions(
    State(api): State<Api>,
    caller: Authorized<permission::Myself>,
    query: Query,
) -> ApiResult<SessionList> {
    let part = ListPage::read(query, parse_cursor)?;
    let sessions = api.engine().sessions(&caller).await?;
    let of = |session: &Session| (Reverse(session.last_used), Reverse(session.id));
    let text = |(used, id): (Reverse<Millis>, Reverse<SessionId>)| format!("{}.{}", used.0.0, id.0);
    let (sessions, next) = part.paginate(sessions, of, text);
    Ok(Json(SessionList::of(sessions, caller.via(), next)))
}

/// The position of a session in the list: by last use, then by id.
fn parse_cursor(text: &str) -> Option<(Reverse<Millis>, Reverse<SessionId>)> {
    let (used, id) = text.split_once('.')?;
    Some((Reverse(Millis(used.parse().ok()?)), Reverse(SessionId::parse(id)?)))
}

/// Ends one of the caller's sessions; its token stops working immediately.
#[utoipa::path(delete, path = "/api/v1/session/{sessionid}/delete", tag = "User",
    params(("sessionid" = String, Path, description = "The session's id")),
    responses(
        (status = 200, description = "Ended", body = Ack),
        (status = 404, description = "The caller has no such session", body = ErrorBody)))]
async fn delete_session(
    State(api): State<Api>,
    caller: Authorized<permission::Myself>,
    Path(sessionid): Path<String>,
) -> ApiResult<Ack> {
    let id = path_id::parse(&sessionid, "session", SessionId::parse)?;
    api.engine().end_session(&caller, id).await?;
    Ack::with_message("Session ended.")
}
