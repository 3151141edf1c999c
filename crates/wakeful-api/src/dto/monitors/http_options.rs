//! The options of an http request that most monitors do not use.

use serde::Serialize;
use utoipa::ToSchema;
use wakeful_core::monitors::spec::request::{max_body, oauth2_text, token};
use wakeful_core::monitors::spec::{
    ClientAuth, HttpSpec, HttpUrl, HttpVersion, Oauth2, Proxy, RequestOptions,
};
use wakeful_core::secret::Secret;
use wakeful_engine::read_authorities;

use super::client_certificate;
use super::http::set;
use crate::dto::Fields;
use crate::dto::enums;

/// Client credentials (RFC 6749, section 4.4).
#[derive(ToSchema)]
#[schema(as = SaveOauth2)]
#[expect(dead_code, reason = "only its schema is used")]
pub(crate) struct SaveOauth2 {
    /// Required.
    token_url: Option<String>,
    /// Required.
    client_id: Option<String>,
    /// Stored encrypted and never returned.
    client_secret: Option<String>,
    scope: Option<String>,
    audience: Option<String>,
    /// basic unless set.
    client_auth: Option<enums::ClientAuth>,
}

#[derive(Serialize, ToSchema)]
#[schema(as = Oauth2)]
pub(crate) struct Oauth2Body<'a> {
    token_url: &'a str,
    client_id: &'a str,
    scope: &'a str,
    audience: &'a str,
    #[schema(value_type = enums::ClientAuth)]
    client_auth: &'static str,
}

impl<'a> Oauth2Body<'a> {
    pub(super) fn of(oauth2: &'a Oauth2) -> Self {
        Self {
            token_url: oauth2.token_url.as_str(),
            client_id: &oauth2.client_id,
            scope: &oauth2.scope,
            audience: &oauth2.audience,
            client_auth: oauth2.client_auth.as_str(),
        }
    }
}

/// The options that are sent, and otherwise the old ones. `default_body` is the number of bytes
/// that are read unless `max_body` says otherwise. If the server has changed, stored secrets are
/// dropped: a user who may edit a monitor must not be able to have them sent elsewhere.
pub(super) fn read(
    fields: &mut Fields,
    http: &HttpSpec,
    is_moved: bool,
    default_body: u32,
) -> Option<Box<RequestOptions>> {
    let mut options = http.options.as_deref().cloned().unwrap_or_default();
    let proxy = read_proxy(fields, options.proxy.as_ref());
    let server = |proxy: &Option<Proxy>| proxy.as_ref().map(Proxy::shown);
    let is_moved = is_moved || server(&proxy) != server(&options.proxy);
    options.proxy = proxy;
    if is_moved {
        options.token = Secret::empty();
    }
    set(&mut options.token, fields.optional("token", token));
    options.oauth2 = read_oauth2(fields, options.oauth2.as_ref(), is_moved);
    let own = options.client_certificate.take().filter(|_| !is_moved);
    options.client_certificate = client_certificate::read(fields, own);
    set(&mut options.ca, fields.optional("ca", read_authorities));
    set(&mut options.cookies, fields.optional_flag("cookies"));
    set(&mut options.version, fields.optional_text_or_number("version", HttpVersion::parse));
    set(&mut options.cache_buster, fields.optional_flag("cache_buster"));
    if let Some(bytes) = fields.optional_number("max_body", max_body) {
        options.max_body = Some(bytes).filter(|bytes| *bytes != default_body);
    }
    for (field, why) in options.problems(http.authentication.kind) {
        fields.refuse(field, why);
    }
    options.boxed()
}

/// A proxy without its password is the stored one, if it is for the same user; an empty text
/// removes it.
fn read_proxy(fields: &mut Fields, old: Option<&Proxy>) -> Option<Proxy> {
    let sent = fields.optional("proxy", |text| match text.trim() {
        "" => Ok(None),
        text => Proxy::parse(text).map(Some),
    });
    match (sent, old) {
        (None, old) => old.cloned(),
        (Some(Some(new)), Some(old))
            if new.password.expose().is_empty() && new.is_same_user(old) =>
        {
            Some(old.clone())
        }
        (Some(sent), _) => sent,
    }
}

fn read_oauth2(fields: &mut Fields, old: Option<&Oauth2>, is_moved: bool) -> Option<Oauth2> {
    if !fields.has("oauth2") {
        let mut oauth2 = old?.clone();
        if is_moved {
            oauth2.client_secret = Secret::empty();
        }
        return Some(oauth2);
    }
    if old.is_none() && fields.is_empty_object("oauth2") {
        return None;
    }
    fields.within("oauth2", |fields| {
        let token_url = fields.optional("token_url", HttpUrl::parse);
        let token_url = token_url.or_else(|| old.map(|old| old.token_url.clone()));
        let token_url = fields.require("token_url", token_url);
        let client_id = fields.optional("client_id", oauth2_text);
        let client_id = client_id.or_else(|| old.map(|old| old.client_id.clone()));
        let client_id = fields.require("client_id", client_id);
        // The secret is for the endpoint that it was entered for.
        let known = old.filter(|old| {
            let origin = |url: &HttpUrl| url.url().origin();
            !is_moved && token_url.as_ref().is_some_and(|url| origin(url) == origin(&old.token_url))
        });
        let client_secret = fields
            .optional("client_secret", |text| oauth2_text(text).map(Secret::new))
            .or_else(|| known.map(|old| old.client_secret.clone()));
        let text = |fields: &mut Fields, field: &str, old: Option<&String>| {
            let sent = fields.optional(field, oauth2_text);
            sent.or_else(|| old.cloned()).unwrap_or_default()
        };
        let scope = text(fields, "scope", old.map(|old| &old.scope));
        let audience = text(fields, "audience", old.map(|old| &old.audience));
        let client_auth = fields.optional("client_auth", ClientAuth::parse);
        let client_auth = client_auth.or(old.map(|old| old.client_auth)).unwrap_or_default();
        Some(Oauth2 {
            token_url: token_url?,
            client_id: client_id?,
            client_secret: client_secret.unwrap_or_else(Secret::empty),
            scope,
            audience,
            client_auth,
        })
    })
}
