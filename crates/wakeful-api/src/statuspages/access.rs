//! Who may see a page: everybody, visitors with its password or its token, or the members of
//! its team; and only from some networks if the team has limited it to them.

use axum::http::header;
use axum::http::request::Parts;
use data_encoding::BASE64;
use std::net::IpAddr;
use wakeful_core::access::{Need as _, permission};
use wakeful_core::secret::Secret;
use wakeful_core::statuspages::page::Access;
use wakeful_engine::statuspages::snapshots::Served;

use super::form::Class;
use super::host::OnDomain;
use super::query::Parameters;
use super::render::Way;
use crate::app::Api;
use crate::caller::Credentials;
use crate::error::ApiError;

const COOKIE: &str = "wakeful_page";
/// A password is not longer, and neither is a token.
const MAX_CREDENTIAL: usize = 1024;

/// What a visitor may do.
pub(super) enum Admission {
    /// Everybody may.
    Open,
    /// The page is locked, and the visitor has unlocked it.
    Unlocked,
    /// The same, by a token in the URL: it is exchanged for a cookie.
    ByToken,
    Locked(Way),
}

/// Whether a visitor may see a page. The network has been checked.
pub(super) async fn admit(
    api: &Api,
    page: &Served,
    parts: &Parts,
    query: &Parameters,
    client: IpAddr,
    class: Class,
) -> Result<Admission, ApiError> {
    let way = match page.access {
        Access::Public => return Ok(Admission::Open),
        Access::Members => {
            // Only the app's own host knows who is logged in.
            let on_domain = parts.extensions.get::<OnDomain>().is_some();
            let is_member = !on_domain && is_member(api, page, parts).await?;
            let locked = Admission::Locked(Way::Members);
            return Ok(if is_member { Admission::Unlocked } else { locked });
        }
        Access::Password => Way::Password,
        Access::Token => Way::Token,
    };
    if cookies(parts).any(|cookie| api.engine().is_statuspage_cookie(page, cookie)) {
        return Ok(Admission::Unlocked);
    }
    if query.token.as_deref().is_some_and(|token| page.is_token(token)) {
        return Ok(Admission::ByToken);
    }
    // Programs that read data send the password with each request.
    if way == Way::Password
        && class != Class::Html
        && let Some(password) = basic_password(parts)
        && api.engine().try_statuspage_password(page, &password, client).await?
    {
        return Ok(Admission::Unlocked);
    }
    Ok(Admission::Locked(way))
}

async fn is_member(api: &Api, page: &Served, parts: &Parts) -> Result<bool, ApiError> {
    let Some(credentials) = Credentials::of_member(parts, api, page.team) else {
        return Ok(false);
    };
    match credentials.caller(api.engine()).await {
        // A key that may only report, for example, shows its holder nothing.
        Ok(caller) => {
            Ok(caller.team() == page.team && caller.require(permission::View::PERMISSION).is_ok())
        }
        Err(error) if error.is_unavailable() => Err(error.into()),
        Err(_) => Ok(false),
    }
}

fn cookies(parts: &Parts) -> impl Iterator<Item = &str> {
    parts
        .headers
        .get_all(header::COOKIE)
        .iter()
        .filter_map(|line| line.to_str().ok())
        .flat_map(|line| line.split(';'))
        .filter_map(|pair| pair.trim().split_once('='))
        .filter(|(name, value)| *name == COOKIE && value.len() <= MAX_CREDENTIAL)
        .map(|(_, value)| value)
        .take(4)
}

/// The password of HTTP Basic, with any user name.
fn basic_password(parts: &Parts) -> Option<Secret> {
    let value = parts.headers.get(header::AUTHORIZATION)?.to_str().ok()?;
    let (scheme, encoded) = value.split_once(' ')?;
    if !scheme.eq_ignore_ascii_case("basic") || encoded.len() > MAX_CREDENTIAL {
        return None;
    }
    let decoded = String::from_utf8(BASE64.decode(encoded.trim().as_bytes()).ok()?).ok()?;
    let (_, password) = decoded.split_once(':')?;
    Some(Secret::new(password))
}

/// The `Set-Cookie` header that unlocks a page, or that locks it again.
pub(super) fn set_cookie(api: &Api, parts: &Parts, base: &str, value: Option<&str>) -> String {
    let seconds = match value {
        Some(_) => wakeful_core::statuspages::unlock::UNLOCKED_FOR.as_secs(),
        None => 0,
    };
    // A custom domain may have TLS where the web app has none. The header can only make the
    // cookie of its sender stricter.
    let forwarded = parts.headers.get("x-forwarded-proto");
    let is_secure = api.settings().https || forwarded.is_some_and(|proto| proto == "https");
    let secure = if is_secure { "; Secure" } else { "" };
    let path = if base.is_empty() { "/" } else { base };
    let value = value.unwrap_or_default();
    format!("{COOKIE}={value}; Path={path}; Max-Age={seconds}; HttpOnly; SameSite=Lax{secure}")
}
