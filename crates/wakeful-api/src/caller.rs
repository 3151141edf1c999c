//! The authenticated caller. A handler that takes a `Caller` cannot be reached without
//! valid credentials; a handler without one is public and listed as such in the router.

use axum::extract::FromRequestParts;
use axum::http::request::Parts;
use axum::http::{HeaderMap, HeaderName, header};
use wakeful_core::secret::Secret;
use wakeful_engine::{Engine, KeyPair};

use crate::app::Api;
use crate::cookie;
use crate::error::ApiError;

const API_KEY: HeaderName = HeaderName::from_static("x-api-key");
const ENC_KEY: HeaderName = HeaderName::from_static("x-enc-key");

pub(crate) struct Caller {
    pub(crate) identity: wakeful_engine::Caller,
    pub(crate) credentials: Credentials,
}

/// The credentials that the caller sent.
pub(crate) enum Credentials {
    Token(Secret),
    Keys(KeyPair),
    /// A token in the web app's cookie. Scripts cannot read the cookie, so no response
    /// may contain the token.
    Cookie(Secret),
}

impl Credentials {
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

    /// The user they belong to now; an error once they have expired.
    pub(crate) async fn caller(
        &self,
        engine: &Engine,
    ) -> wakeful_engine::Result<wakeful_engine::Caller> {
        match self {
            Self::Token(token) | Self::Cookie(token) => {
                engine.caller_by_token(token.expose()).await
            }
            Self::Keys(pair) => engine.caller_by_keys(pair).await,
        }
    }
}

impl FromRequestParts<Api> for Caller {
    type Rejection = ApiError;

    async fn from_request_parts(parts: &mut Parts, api: &Api) -> Result<Self, ApiError> {
        let credentials = Credentials::of(parts, api).ok_or_else(ApiError::not_authenticated)?;
        let identity = credentials.caller(api.engine()).await?;
        api.count_call(identity.via)?;
        Ok(Self { identity, credentials })
    }
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
