//! The page's session: the Bearer Token in a cookie that scripts cannot read
//! and other sites cannot send. It is set only for a request that carries the
//! page's own header, which no other site can add without leave from CORS.

use axum::Json;
use axum::http::{HeaderMap, HeaderName, HeaderValue, Method, header};
use axum::response::AppendHeaders;
use wakeful_core::secret::Secret;

use crate::app::Api;
use crate::wire::SignedIn;

/// The header the page sends with every call.
const PAGE: HeaderName = HeaderName::from_static("x-wakeful-page");

/// Over TLS the browser vouches for who set the cookie; on plain http at home
/// it would refuse the prefix.
fn name(api: &Api) -> &'static str {
    if api.settings().https { "__Host-wakeful" } else { "wakeful" }
}

/// Whether the request says that it comes from the page.
pub(crate) fn from_page(headers: &HeaderMap) -> bool {
    headers.get(PAGE).is_some_and(|value| value == "1")
}

/// The token in the cookie, where the request may be believed to be the
/// page's own: a link may read, only the page may change.
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
    // Two of the same name mean that somebody else set one of them.
    found.next().is_none().then(|| Secret::new(value))
}

/// What an answer says about the cookie: `Set-Cookie`, or nothing.
pub(crate) type Said = AppendHeaders<Option<(HeaderName, HeaderValue)>>;

/// Hands over a new token: to the page in the cookie, where no script reads it,
/// and to any other client in the answer.
pub(crate) fn hand_over(
    api: &Api,
    headers: &HeaderMap,
    signed_in: wakeful_engine::SignedIn,
) -> (Said, Json<SignedIn>) {
    match from_page(headers) {
        false => (said(None), Json(SignedIn::of(signed_in))),
        true => {
            let seconds = api.settings().session_max.as_secs();
            let cookie = line(api, signed_in.token.expose(), seconds);
            (said(Some(cookie)), Json(SignedIn::by_cookie(signed_in)))
        }
    }
}

/// Takes the cookie back from whoever has one.
pub(crate) fn forget(api: &Api, headers: &HeaderMap) -> Said {
    said(headers.contains_key(header::COOKIE).then(|| line(api, "", 0)))
}

fn line(api: &Api, value: &str, seconds: u64) -> String {
    let secure = if api.settings().https { "; Secure" } else { "" };
    let name = name(api);
    format!("{name}={value}; Path=/; Max-Age={seconds}; HttpOnly; SameSite=Strict{secure}")
}

fn said(line: Option<String>) -> Said {
    let value = line.and_then(|line| HeaderValue::from_str(&line).ok());
    AppendHeaders(value.map(|mut value| {
        value.set_sensitive(true);
        (header::SET_COOKIE, value)
    }))
}
