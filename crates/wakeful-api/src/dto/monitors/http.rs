//! Monitors of the types http and http_keyword.

use serde::Serialize;
use utoipa::ToSchema;
use wakeful_core::Invalid;
use wakeful_core::monitors::spec::http::{max_redirects, password};
use wakeful_core::monitors::spec::{
    Authentication, Body, CodeRange, ConnectOptions, Headers, HttpSpec, HttpUrl, Keyword, Method,
    Proxy, Spec, StatusCodes, Username,
};
use wakeful_core::secret::Secret;

use super::append::{append_object, nullable, value};
use super::client_certificate::{ClientCertificateBody, SaveClientCertificate};
use super::http_options::{Oauth2Body, SaveOauth2};
use super::request::texts;
use super::{SpecFields, connect, http_options};
use crate::dto::Fields;
use crate::dto::enums::{HttpAuthentication, HttpMethod, HttpVersion};

/// The HTTP request and the responses that count as up.
#[derive(ToSchema)]
#[schema(as = SaveHttp)]
#[expect(dead_code, reason = "only its schema is used")]
pub(crate) struct SaveHttp {
    /// Required.
    url: Option<String>,
    /// Such as `200-299, 301`, one code, or an array of these.
    #[schema(value_type = Option<Codes>)]
    accepted_status_codes: (),
    /// Text that the response must contain; required for http_keyword.
    keyword: Option<String>,
    certificate_expiry_notification: Option<bool>,
    ignore_tls_error: Option<bool>,
    method: Option<HttpMethod>,
    authentication_type: Option<HttpAuthentication>,
    username: Option<String>,
    /// Stored encrypted and never returned; an empty string deletes it.
    password: Option<String>,
    body: Option<String>,
    /// A JSON object as text, or `Name: value` lines.
    headers: Option<String>,
    #[schema(maximum = 10)]
    max_redirects: Option<u8>,
    /// For bearer. Stored encrypted and never returned; an empty string deletes it.
    #[schema(max_length = 8192)]
    token: Option<String>,
    /// For oauth2.
    oauth2: Option<SaveOauth2>,
    /// The certificate to present, with its issuers, as PEM; an empty string deletes it.
    client_certificate: Option<SaveClientCertificate>,
    /// Its private key as PEM. Stored encrypted and never returned.
    client_key: Option<String>,
    /// Authorities to trust in addition to those of the system, as PEM.
    ca: Option<String>,
    /// Whether cookies that are set are sent to later hops of the same check.
    cookies: Option<bool>,
    /// Such as `http://proxy.example:3128` or `socks5://user:password@host:1080`; an empty string
    /// removes it. Stored encrypted and returned without the password; without one, the stored
    /// password is retained.
    proxy: Option<String>,
    /// A response in another version is down; auto unless set.
    version: Option<HttpVersion>,
    /// Whether each check requests another URL, so that no cache responds.
    cache_buster: Option<bool>,
    /// How many bytes of a body are read; 1048576 unless set, and 10485760 for http_keyword.
    #[schema(minimum = 1024, maximum = 10485760)]
    max_body: Option<u32>,
}

#[derive(serde::Serialize, ToSchema)]
#[serde(untagged)]
#[expect(dead_code, reason = "only its schema is used")]
pub(crate) enum Codes {
    Text(String),
    Number(u16),
    List(Vec<serde_json::Value>),
}

#[derive(Serialize, ToSchema)]
#[schema(as = MonitorHttp)]
pub(crate) struct HttpBody<'a> {
    keyword: &'a str,
    url: &'a str,
    certificate_expiry_notification: bool,
    ignore_tls_error: bool,
    #[schema(value_type = HttpMethod)]
    method: &'static str,
    /// As in a request, in the letter case the client sent.
    authentication_type: &'a str,
    username: &'a str,
    body: &'a str,
    headers: &'a str,
    #[schema(value_type = Vec<String>)]
    accepted_status_codes: &'a [CodeRange],
    max_redirects: u8,
    oauth2: Option<Oauth2Body<'a>>,
    /// The certificate that checks present.
    client_certificate: Option<ClientCertificateBody<'a>>,
    ca: &'a str,
    cookies: bool,
    /// Without its password; empty if there is none.
    proxy: String,
    #[schema(value_type = HttpVersion)]
    version: &'static str,
    cache_buster: bool,
    max_body: u32,
}

impl HttpBody<'_> {
    fn append_to(&self, text: &mut Vec<u8>) {
        append_object!(
            text,
            self,
            HttpBody {
                value keyword,
                value url,
                value certificate_expiry_notification,
                value ignore_tls_error,
                value method,
                value authentication_type,
                value username,
                value body,
                value headers,
                value accepted_status_codes,
                value max_redirects,
                nullable oauth2,
                nullable client_certificate,
                value ca,
                value cookies,
                value proxy,
                value version,
                value cache_buster,
                value max_body,
            }
        );
    }
}

/// Appends the field `http` of a monitor.
pub(super) fn http_body(text: &mut Vec<u8>, key: &'static str, http: &Option<HttpBody<'_>>) {
    match http {
        Some(http) => {
            text.extend_from_slice(key.as_bytes());
            http.append_to(text);
        }
        None => nullable(text, key, http),
    }
}

/// How many bytes of a body are read unless `max_body` says otherwise.
pub(super) const MAX_BODY: u32 = 1 << 20;
pub(super) const MAX_KEYWORD_BODY: u32 = 10 << 20;

pub(super) fn read(fields: &mut Fields, old: Option<&Spec>) -> Option<Spec> {
    read_as(fields, old, MAX_BODY, |http| Ok(Spec::Http(http)))
}

pub(super) fn read_with_keyword(fields: &mut Fields, old: Option<&Spec>) -> Option<Spec> {
    read_as(fields, old, MAX_KEYWORD_BODY, Spec::http_keyword)
}

/// `whole` adds the error of the keyword to all others.
fn read_as(
    fields: &mut Fields,
    old: Option<&Spec>,
    default_body: u32,
    whole: fn(HttpSpec) -> Result<Spec, Invalid>,
) -> Option<Spec> {
    // A copy, because errors are recorded below.
    let mut copy = fields.reread();
    let sent = copy.within("http", |fields| fields.optional("url", HttpUrl::parse));
    let url = sent.or_else(|| old.and_then(Spec::http).map(|old| old.url.clone()));
    let host = url.as_ref().and_then(HttpUrl::host);
    let connect = connect::read(fields, old, host.as_ref());
    let old = old.and_then(Spec::http);
    fields.within("http", |fields| {
        let url = fields.optional("url", HttpUrl::parse);
        let base = match (old, url) {
            (Some(old), Some(url)) => Some(HttpSpec { url, ..old.clone() }),
            (Some(old), None) => Some(old.clone()),
            (None, url) => fields.require("url", url).map(HttpSpec::new),
        };
        // Without a valid URL the rest is still read, to report its errors.
        let mut http = base.clone().unwrap_or_else(placeholder_http);
        let is_moved = old.is_some_and(|old| is_moved(old, &http, connect.as_deref()));
        if is_moved {
            http.password = Secret::empty();
        }
        http.connect = connect;
        let codes = fields.optional_items_or_numbers("accepted_status_codes");
        let codes = codes.and_then(|codes| {
            fields.accept("accepted_status_codes", StatusCodes::of(texts(&codes)))
        });
        set(&mut http.accepted, codes);
        set(&mut http.keyword, fields.optional("keyword", Keyword::parse));
        set(&mut http.method, fields.optional("method", Method::parse));
        set(&mut http.body, fields.optional("body", Body::parse));
        set(&mut http.headers, fields.optional("headers", Headers::parse));
        set(
            &mut http.authentication,
            fields.optional("authentication_type", Authentication::parse),
        );
        set(&mut http.username, fields.optional("username", Username::parse));
        set(&mut http.password, fields.optional("password", password));
        set(&mut http.ignore_tls_error, fields.optional_flag("ignore_tls_error"));
        let expiry = fields.optional_flag("certificate_expiry_notification");
        set(&mut http.certificate_expiry_notification, expiry);
        set(&mut http.max_redirects, fields.optional_number("max_redirects", max_redirects));
        http.options = http_options::read(fields, &http, is_moved, default_body);
        let proxy = |http: &HttpSpec| {
            let proxy = http.options.as_ref().and_then(|options| options.proxy.as_ref());
            proxy.map(Proxy::shown)
        };
        if old.is_some_and(|old| proxy(old) != proxy(&http)) && !fields.has("password") {
            http.password = Secret::empty();
        }
        let spec = fields.accept("keyword", whole(http));
        base.and(spec)
    })
}

/// Stored secrets belong to the server they were entered for: a user who may edit a monitor must
/// not be able to have them sent to another one, under its name or another.
fn is_moved(old: &HttpSpec, new: &HttpSpec, connect: Option<&ConnectOptions>) -> bool {
    let place = |connect: Option<&ConnectOptions>| {
        connect.map(|connect| (connect.resolver.clone(), connect.connect_to.clone()))
    };
    let nowhere_else = Some((None, None));
    let place = |connect| place(connect).or(nowhere_else.clone());
    old.url.url().origin() != new.url.url().origin()
        || place(old.connect.as_deref()) != place(connect)
}

fn placeholder_http() -> HttpSpec {
    HttpSpec::new(HttpUrl::parse("http://localhost/").expect("a valid URL"))
}

pub(super) fn set<T>(place: &mut T, sent: Option<T>) {
    if let Some(value) = sent {
        *place = value;
    }
}

pub(super) fn show(http: &HttpSpec, default_body: u32) -> SpecFields<'_> {
    let options = http.options.as_deref();
    let version = options.map(|options| options.version).unwrap_or_default();
    let certificate = options.and_then(|options| options.client_certificate.as_ref());
    let proxy = options.and_then(|options| options.proxy.as_ref());
    let body = HttpBody {
        keyword: &http.keyword,
        url: http.url.as_str(),
        certificate_expiry_notification: http.certificate_expiry_notification,
        ignore_tls_error: http.ignore_tls_error,
        method: http.method.as_str(),
        authentication_type: http.authentication.as_sent(),
        username: &http.username,
        body: &http.body,
        headers: http.headers.as_str(),
        accepted_status_codes: http.accepted.items(),
        max_redirects: http.max_redirects,
        oauth2: options.and_then(|options| options.oauth2.as_ref()).map(Oauth2Body::of),
        client_certificate: certificate.map(ClientCertificateBody::of),
        ca: http.ca(),
        cookies: options.is_some_and(|options| options.cookies),
        proxy: proxy.map(Proxy::shown).unwrap_or_default(),
        version: version.as_str(),
        cache_buster: options.is_some_and(|options| options.cache_buster),
        max_body: options.and_then(|options| options.max_body).unwrap_or(default_body),
    };
    SpecFields { http: Some(body), ..SpecFields::default() }
}

#[cfg(test)]
pub(super) fn examples() -> Vec<serde_json::Value> {
    vec![
        serde_json::json!({"type": "http", "tags": "a, b,,a", "http": {"url": "https://example.com",
        "accepted_status_codes": "200-299, 301", "authentication_type": "None",
        "headers": "{\"X-A\": \"1\"}", "method": "post", "body": "x"}}),
        serde_json::json!({"type": "http", "ip_family": "both", "resolver": "9.9.9.9:5353",
            "connect_to": "origin.example", "http": {"url": "https://example.com",
            "authentication_type": "bearer", "token": "abc.def", "cookies": true,
            "proxy": "socks5://ann:secret@proxy.example:1080", "version": "1.1",
            "cache_buster": true, "max_body": 2048}}),
        serde_json::json!({"type": "http", "http": {"url": "https://example.com",
            "authentication_type": "oauth2", "oauth2": {"token_url": "https://id.example/token",
                "client_id": "wakeful", "client_secret": "secret", "scope": "read"}}}),
    ]
}

#[cfg(test)]
pub(super) fn examples_with_keyword() -> Vec<serde_json::Value> {
    vec![serde_json::json!({"type": "http_keyword", "http": {"url": "http://[::1]:8080/x?y=1",
        "accepted_status_codes": "200-299", "keyword": "ok"}})]
}
