//! The authenticated caller. A handler that takes an `Authorized` cannot be reached without
//! valid credentials and the permission it names; a handler without one is public and listed
//! as such in the router. `Reauthenticated` and `PageReauthenticated` also need a caller who
//! has entered their credentials recently.

use axum::extract::{FromRequestParts, Query};
use axum::http::request::Parts;
use axum::http::{HeaderMap, HeaderName, header};
use std::collections::HashMap;
use std::net::IpAddr;
use std::sync::Arc;
use wakeful_core::access::{Need, Permission, TeamAccess};
use wakeful_core::id::TeamId;
use wakeful_core::named_enum;
use wakeful_core::secret::Secret;
use wakeful_core::time::Millis;
use wakeful_engine::{Authorized, Caller, Engine, KeyPair, Reauthenticated};

use crate::api_router::Routes;
use crate::app::Api;
use crate::client_ip;
use crate::cookie;
use crate::error::ApiError;

const API_KEY: HeaderName = HeaderName::from_static("x-api-key");
const ENC_KEY: HeaderName = HeaderName::from_static("x-enc-key");
/// Chooses one of the caller's teams for a call.
const TEAM: HeaderName = HeaderName::from_static("x-wakeful-team");
/// What browsers open without a header: the event stream, and downloads.
const OPENED_BY_BROWSERS: [&str; 4] =
    ["/api/v1/events", "/api/v1/report", "/api/v1/audit/export", "/api/v1/user/export"];

/// The credentials that the caller sent, and the team to act in, if the caller has chosen one.
pub(crate) struct Credentials {
    pub(crate) kind: CredentialKind,
    team: Option<TeamId>,
    /// The client's address.
    from: IpAddr,
}

pub(crate) enum CredentialKind {
    Token(Secret),
    Keys(KeyPair),
    /// A token in the web app's cookie. Scripts cannot read the cookie, so no response
    /// may contain the token.
    Cookie(Secret),
}

impl CredentialKind {
    fn of(parts: &Parts, api: &Api) -> Option<Self> {
        let headers = &parts.headers;
        if headers.contains_key(header::AUTHORIZATION) {
            bearer(headers).map(Self::Token)
        } else if headers.contains_key(API_KEY) || headers.contains_key(ENC_KEY) {
            key_pair(headers).map(Self::Keys)
        } else {
            cookie::token(api, &parts.method, headers).map(Self::Cookie)
        }
    }
}

impl Credentials {
    /// Those of a request to what only the members of a team may see.
    pub(crate) fn of_member(parts: &Parts, api: &Api, team: TeamId) -> Option<Self> {
        let kind = CredentialKind::of(parts, api)?;
        Some(Self { kind, team: Some(team), from: client_ip::of(parts, api) })
    }

    /// The user they belong to now; an error once they have expired.
    pub(crate) async fn caller(&self, engine: &Engine) -> wakeful_engine::Result<Caller> {
        let _turn = engine.lookup_turn(self.from).await?;
        match &self.kind {
            CredentialKind::Token(token) => engine.caller_by_token(token.expose(), self.team).await,
            CredentialKind::Cookie(token) => {
                engine.caller_by_cookie(token.expose(), self.team).await
            }
            CredentialKind::Keys(pair) => engine.caller_by_keys(pair, self.from, self.team).await,
        }
    }
}

impl FromRequestParts<Api> for Credentials {
    type Rejection = ApiError;

    async fn from_request_parts(parts: &mut Parts, api: &Api) -> Result<Self, ApiError> {
        let kind = CredentialKind::of(parts, api).ok_or_else(ApiError::not_authenticated)?;
        Ok(Self { kind, team: chosen_team(parts), from: client_ip::of(parts, api) })
    }
}

/// The team that the caller has chosen for this call. Something that is not an id is read as the
/// id of a team that does not exist, which is reported after the credentials were verified.
fn chosen_team(parts: &Parts) -> Option<TeamId> {
    let chosen = if parts.headers.contains_key(TEAM) {
        single_header(&parts.headers, &TEAM).unwrap_or_default().to_owned()
    } else {
        team_in_query(parts)?
    };
    let unknown = || TeamId::new(Millis(0), [0; 10]);
    Some(TeamId::parse(&chosen).unwrap_or_else(unknown))
}

/// `team` in the query of what a browser opens: it cannot send headers with it.
fn team_in_query(parts: &Parts) -> Option<String> {
    if !OPENED_BY_BROWSERS.contains(&parts.uri.path()) {
        return None;
    }
    let Query(mut query) = Query::<HashMap<String, String>>::try_from_uri(&parts.uri).ok()?;
    query.remove("team")
}

impl<N: Need> FromRequestParts<Api> for Authorized<N> {
    type Rejection = ApiError;

    async fn from_request_parts(parts: &mut Parts, api: &Api) -> Result<Self, ApiError> {
        let credentials = Credentials::from_request_parts(parts, api).await?;
        let caller = credentials.caller(api.engine()).await?;
        let caller = caller.with_origin(client_ip::origin(parts, api));
        let caller = if parts.method.is_safe() { caller.for_reading() } else { caller };
        api.count_call(caller.via())?;
        let access = *caller.team_access();
        let authorized = caller.authorize()?;
        let grant = Grant { credentials, access, permission: N::PERMISSION };
        parts.extensions.insert(Arc::new(grant));
        Ok(authorized)
    }
}

/// Every session must be fresh; API keys are refused.
impl<N: Need> FromRequestParts<Api> for Reauthenticated<N> {
    type Rejection = ApiError;

    async fn from_request_parts(parts: &mut Parts, api: &Api) -> Result<Self, ApiError> {
        let authorized = Authorized::from_request_parts(parts, api).await?;
        Ok(api.engine().require_reauthentication(authorized)?)
    }
}

/// For calls of the reference: only the sessions of the web app must be fresh. Bearer tokens and
/// API keys are accepted as they are.
pub(crate) struct PageReauthenticated<N: Need>(pub(crate) Reauthenticated<N>);

impl<N: Need> FromRequestParts<Api> for PageReauthenticated<N> {
    type Rejection = ApiError;

    async fn from_request_parts(parts: &mut Parts, api: &Api) -> Result<Self, ApiError> {
        let authorized = Authorized::from_request_parts(parts, api).await?;
        Ok(Self(api.engine().require_reauthentication_in_page(authorized)?))
    }
}

/// What a request was authorized for, before its body arrived.
pub(crate) struct Grant {
    credentials: Credentials,
    access: TeamAccess,
    permission: Permission,
}

impl Grant {
    /// Fails if it would not be given again.
    pub(crate) async fn confirm(&self, engine: &Engine) -> Result<(), ApiError> {
        let caller = self.credentials.caller(engine).await?;
        if *caller.team_access() != self.access {
            return Err(ApiError::not_authenticated());
        }
        Ok(caller.require(self.permission)?)
    }
}

/// Declares the permission of a route in the OpenAPI document. It repeats the one in the
/// signature of the handler; a test over all routes and roles finds differences.
pub(crate) fn needs(permission: Permission, routes: Routes) -> Routes {
    routes.needing(permission)
}

named_enum! {
    /// Which sessions must be fresh for a call.
    #[derive(Clone, Copy, Debug, PartialEq, Eq)]
    pub(crate) enum Reauthentication {
        /// Every one, as with `Reauthenticated`.
        Always = "always",
        /// That of the web app, as with `PageReauthenticated`.
        Page = "page",
    }
}

/// Declares in the OpenAPI document that a route needs a fresh session. It repeats the type in
/// the signature of the handler; a test over all routes finds differences.
pub(crate) fn reauthenticated(which: Reauthentication, routes: Routes) -> Routes {
    routes.reauthenticated(which)
}

fn bearer(headers: &HeaderMap) -> Option<Secret> {
    let value = single_header(headers, &header::AUTHORIZATION)?;
    let (scheme, token) = value.split_once(' ')?;
    scheme.eq_ignore_ascii_case("bearer").then(|| Secret::new(token.trim()))
}

fn key_pair(headers: &HeaderMap) -> Option<KeyPair> {
    let apikey = Secret::new(single_header(headers, &API_KEY)?);
    let enckey = Secret::new(single_header(headers, &ENC_KEY)?);
    Some(KeyPair { apikey, enckey })
}

/// The value of a header that occurs exactly once and is not empty.
fn single_header<'a>(headers: &'a HeaderMap, name: &HeaderName) -> Option<&'a str> {
    let mut values = headers.get_all(name).iter();
    let value = values.next()?.to_str().ok()?;
    (values.next().is_none() && !value.is_empty()).then_some(value)
}
