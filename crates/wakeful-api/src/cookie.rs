//! The web app's session: the bearer token in a cookie that scripts cannot read and
//! other sites cannot send. It is set only for requests with the web app's own header,
//! which other sites cannot add unless CORS allows it.

use axum::Json;
use axum::http::{HeaderMap, HeaderName, HeaderValue, Method, header};
use axum::response::AppendHeaders;
use wakeful_core::secret::Secret;

use crate::app::Api;
use crate::dto::sessions::SignedIn;

/// The header that the web app sends with every call.
const PAGE_HEADER: HeaderName = HeaderName::from_static("x-wakeful-page");

/// Over TLS the prefix proves which host set the cookie; over plain HTTP, browsers
/// reject the prefix.
fn name(api: &Api) -> &'static str {
    if api.settings().https { "__Host-wakeful" } else { "wakeful" }
}

/// Whether the request has the web app's header.
pub(crate) fn from_page(headers: &HeaderMap) -> bool {
    headers.get(PAGE_HEADER).is_some_and(|value| value == "1")
}

/// The token in the cookie. Other sites can link to a GET request, so requests with
/// other methods also need the web app's header.
pub(crate) fn token(api: &Api, method: &Method, headers: &HeaderMap) -> Option<Secret> {
    let reads = matches!(*method, Method::GET | Method::HEAD);
    if !reads && !from_page(headers) {
        return None;
    }
    let mut found = headers
        .get_all(header::COOKIE)
        .iter()
        .filter_map(|line| line.to_str().ok())
        .flat_map(|line| line.split(';'))
        .filter_map(|pair| pair.trim().split_once('='))
        .filter(|(cookie, value)| *cookie == name(api) && !value.is_empty());
    let (_, value) = found.next()?;
    // Two cookies of this name mean that another host set one of them.
    found.next().is_none().then(|| Secret::new(value))
}

/// The `Set-Cookie` header of a response, if any.
pub(crate) type CookieHeader = AppendHeaders<Option<(HeaderName, HeaderValue)>>;

/// Returns a new token: to the web app in the cookie, where scripts cannot read it, and
/// to any other client in the body.
pub(crate) fn sign_in_response(
    api: &Api,
    headers: &HeaderMap,
    signed_in: wakeful_engine::SignedIn,
) -> (CookieHeader, Json<SignedIn>) {
    if from_page(headers) {
        let seconds = api.settings().session_max.as_secs();
        let cookie = cookie_value(api, signed_in.token.expose(), seconds);
        (set_cookie(Some(cookie)), Json(SignedIn::by_cookie(signed_in)))
    } else {
        (set_cookie(None), Json(SignedIn::of(signed_in)))
    }
}

/// A response that leaves the session as it is.
pub(crate) fn no_cookie(signed_in: SignedIn) -> (CookieHeader, Json<SignedIn>) {
    (set_cookie(None), Json(signed_in))
}

/// Deletes the cookie, if the client has one.
pub(crate) fn clear(api: &Api, headers: &HeaderMap) -> CookieHeader {
    set_cookie(headers.contains_key(header::COOKIE).then(|| cookie_value(api, "", 0)))
}

fn cookie_value(api: &Api, value: &str, seconds: u64) -> String {
    let secure = if api.settings().https { "; Secure" } else { "" };
    let name = name(api);
    format!("{name}={value}; Path=/; Max-Age={seconds}; HttpOnly; SameSite=Strict{secure}")
}

fn set_cookie(line: Option<String>) -> CookieHeader {
    let value = line.and_then(|line| HeaderValue::from_str(&line).ok());
    AppendHeaders(value.map(|mut value| {
        value.set_sensitive(true);
        (header::SET_COOKIE, value)
    }))
}
