//! Monitors of the types http and http_keyword.

use serde::Serialize;
use utoipa::ToSchema;
use wakeful_core::Invalid;
use wakeful_core::monitors::spec::http::{max_redirects, password};
use wakeful_core::monitors::spec::{
    Authentication, Body, Headers, HttpSpec, HttpUrl, Keyword, Method, Spec, StatusCodes, Username,
};
use wakeful_core::secret::Secret;

use super::SpecFields;
use super::request::texts;
use crate::dto::Fields;
use crate::dto::enums::{HttpAuthentication, HttpMethod};

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
    /// none, basic or ntlm, in the letter case the client sent.
    authentication_type: &'a str,
    username: &'a str,
    body: &'a str,
    headers: &'a str,
    accepted_status_codes: Vec<String>,
    max_redirects: u8,
}

pub(super) fn read(fields: &mut Fields, old: Option<&Spec>) -> Option<Spec> {
    read_as(fields, old, |http| Ok(Spec::Http(http)))
}

pub(super) fn read_with_keyword(fields: &mut Fields, old: Option<&Spec>) -> Option<Spec> {
    read_as(fields, old, Spec::http_keyword)
}

/// `whole` adds the error of the keyword to all others.
fn read_as(
    fields: &mut Fields,
    old: Option<&Spec>,
    whole: fn(HttpSpec) -> Result<Spec, Invalid>,
) -> Option<Spec> {
    let old = old.and_then(Spec::http);
    fields.within("http", |fields| {
        let url = fields.optional("url", HttpUrl::parse);
        let base = match (old, url) {
            (Some(old), Some(url)) => Some(with_new_url(old, url)),
            (Some(old), None) => Some(old.clone()),
            (None, url) => fields.require("url", url).map(HttpSpec::new),
        };
        // Without a valid URL the rest is still read, to report its errors.
        let mut http = base.clone().unwrap_or_else(placeholder_http);
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
        let spec = fields.accept("keyword", whole(http));
        base.and(spec)
    })
}

/// A stored password belongs to the server it was entered for: a user who may edit a
/// monitor must not be able to have it sent to another server.
fn with_new_url(old: &HttpSpec, url: HttpUrl) -> HttpSpec {
    let same_server = old.url.url().origin() == url.url().origin();
    let password = if same_server { old.password.clone() } else { Secret::new("") };
    HttpSpec { url, password, ..old.clone() }
}

fn placeholder_http() -> HttpSpec {
    HttpSpec::new(HttpUrl::parse("http://localhost/").expect("a valid URL"))
}

fn set<T>(place: &mut T, sent: Option<T>) {
    if let Some(value) = sent {
        *place = value;
    }
}

pub(super) fn show(http: &HttpSpec) -> SpecFields<'_> {
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
        accepted_status_codes: http.accepted.items().collect(),
        max_redirects: http.max_redirects,
    };
    SpecFields { http: Some(body), ..SpecFields::default() }
}

#[cfg(test)]
pub(super) fn examples() -> Vec<serde_json::Value> {
    vec![
        serde_json::json!({"type": "http", "tags": "a, b,,a", "http": {"url": "https://example.com",
        "accepted_status_codes": "200-299, 301", "authentication_type": "None",
        "headers": "{\"X-A\": \"1\"}", "method": "post", "body": "x"}}),
    ]
}

#[cfg(test)]
pub(super) fn examples_with_keyword() -> Vec<serde_json::Value> {
    vec![serde_json::json!({"type": "http_keyword", "http": {"url": "http://[::1]:8080/x?y=1",
        "accepted_status_codes": "200-299", "keyword": "ok"}})]
}
