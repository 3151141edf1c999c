//! Who calls. A handler that takes a `Caller` cannot be reached without valid
//! credentials; one that takes none is public and stands so in the router.

use axum::extract::FromRequestParts;
use axum::http::request::Parts;
use axum::http::{HeaderMap, HeaderName, header};
use wakeful_core::secret::Secret;
use wakeful_engine::KeyPair;

use crate::app::Api;
use crate::cookie;
use crate::error::ApiError;

const API_KEY: HeaderName = HeaderName::from_static("x-api-key");
const ENC_KEY: HeaderName = HeaderName::from_static("x-enc-key");

pub(crate) struct Caller {
    pub(crate) who: wakeful_engine::Caller,
    /// The Bearer Token, when the caller came with one in the open. The page's
    /// cookie is kept from scripts, so its token is told to nobody.
    pub(crate) token: Option<Secret>,
}

impl FromRequestParts<Api> for Caller {
    type Rejection = ApiError;

    async fn from_request_parts(parts: &mut Parts, api: &Api) -> Result<Self, ApiError> {
        let headers = &parts.headers;
        let caller = if headers.contains_key(header::AUTHORIZATION) {
            let token = bearer(headers).ok_or_else(ApiError::not_authenticated)?;
            let who = api.engine().caller_by_token(token.expose()).await?;
            Self { who, token: Some(token) }
        } else if headers.contains_key(API_KEY) || headers.contains_key(ENC_KEY) {
            let pair = key_pair(headers).ok_or_else(ApiError::not_authenticated)?;
            Self { who: api.engine().caller_by_keys(&pair).await?, token: None }
        } else {
            let token = cookie::token(api, &parts.method, headers);
            let token = token.ok_or_else(ApiError::not_authenticated)?;
            Self { who: api.engine().caller_by_token(token.expose()).await?, token: None }
        };
        api.count_call(caller.who.via)?;
        Ok(caller)
    }
}

fn bearer(headers: &HeaderMap) -> Option<Secret> {
    let value = only(headers, &header::AUTHORIZATION)?;
    let (scheme, token) = value.split_once(' ')?;
    scheme.eq_ignore_ascii_case("bearer").then(|| Secret::new(token.trim()))
}

fn key_pair(headers: &HeaderMap) -> Option<KeyPair> {
    let apikey = Secret::new(only(headers, &API_KEY)?);
    let enckey = Secret::new(only(headers, &ENC_KEY)?);
    Some(KeyPair { apikey, enckey })
}

/// The value of a header that stands there exactly once and is not empty.
fn only<'a>(headers: &'a HeaderMap, name: &HeaderName) -> Option<&'a str> {
    let mut values = headers.get_all(name).iter();
    let value = values.next()?.to_str().ok()?;
    (values.next().is_none() && !value.is_empty()).then_some(value)
}
