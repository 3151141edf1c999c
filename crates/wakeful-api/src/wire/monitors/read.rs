//! Reading a monitor to be saved. With a stored monitor beside it, fields left
//! out keep their value; the settings of a type that is new must be complete.

use std::time::Duration;
use utoipa::ToSchema;
use wakeful_core::Invalid;
use wakeful_core::id::NotifierId;
use wakeful_core::monitor::http::{max_redirects, password};
use wakeful_core::monitor::spec::{
    ApiSpec, Authentication, Body, DnsSpec, Headers, Hostname, HttpSpec, HttpUrl, Keyword, Kind,
    Method, PingSpec, RecordType, Resolver, Spec, StatusCodes, TcpSpec, Username, port,
};
use wakeful_core::monitor::{DEFAULT_RETRIES, Interval, Monitor, Name, Tags, timing};
use wakeful_core::region::{Quorum, Regions};
use wakeful_core::secret::Secret;

use wakeful_engine::Draft;

use crate::wire::Fields;

/// A monitor to make (no `monitorid`) or to change. Fields may also be sent in
/// the shape they are returned in.
#[derive(ToSchema)]
#[schema(as = SaveMonitor)]
#[expect(dead_code, reason = "only its schema is used")]
pub(crate) struct SaveMonitor {
    monitorid: Option<String>,
    /// api, dns, http, http_keyword, ping or tcp; required for a new monitor.
    r#type: Option<String>,
    /// Required for a new monitor.
    #[schema(min_length = 1, max_length = 255)]
    name: Option<String>,
    /// Seconds between checks; required for a new monitor.
    #[schema(minimum = 1, maximum = 2592000)]
    heartbeat_interval: Option<u32>,
    /// Required for a new monitor.
    isactive: Option<bool>,
    /// Reverses every verdict; required for a new monitor.
    upside_down_mode: Option<bool>,
    /// Ids with commas, an array of ids, or an array of objects with `notifierid`.
    #[schema(value_type = Option<TextOrList>)]
    notifiers: (),
    /// Tags with commas, or an array of strings.
    #[schema(value_type = Option<TextOrList>)]
    tags: (),
    /// For dns, ping and tcp.
    hostname: Option<String>,
    /// For tcp, and for dns when it is not 53; with ping it is kept and not used.
    #[schema(value_type = Option<TextOrNumber>)]
    port: (),
    http: Option<SaveHttp>,
    dns: Option<SaveDns>,
    /// Seconds a check may take; 0 for the default, 80 % of the interval.
    timeout: Option<u32>,
    /// Re-checks that confirm a failure.
    retries: Option<u16>,
    /// Seconds between re-checks; 0 for the default.
    retry_interval: Option<u32>,
    /// Seconds between reminders while it is down; 0 for none.
    resend_interval: Option<u32>,
    /// For api: seconds that a report may be late.
    grace: Option<u32>,
    /// Where it is checked from: names with commas, or an array; empty for `local`.
    #[schema(value_type = Option<TextOrList>)]
    regions: (),
    /// How many regions must agree before it counts as down: any, majority (the
    /// default), all or a number.
    #[schema(value_type = Option<TextOrNumber>)]
    quorum: (),
}

/// How a page is asked for and what counts as up.
#[derive(ToSchema)]
#[schema(as = SaveHttp)]
#[expect(dead_code, reason = "only its schema is used")]
pub(crate) struct SaveHttp {
    /// Required.
    url: Option<String>,
    /// Such as `200-299, 301`, one code, or an array of these.
    #[schema(value_type = Option<Codes>)]
    accepted_status_codes: (),
    /// Text the page must hold; required for http_keyword.
    keyword: Option<String>,
    certificate_expiry_notification: Option<bool>,
    ignore_tls_error: Option<bool>,
    method: Option<String>,
    /// none, basic or ntlm.
    authentication_type: Option<String>,
    username: Option<String>,
    /// Kept sealed and never returned; an empty text removes it.
    password: Option<String>,
    body: Option<String>,
    /// A JSON object as text, or `Name: value` lines.
    headers: Option<String>,
    #[schema(maximum = 10)]
    max_redirects: Option<u8>,
}

/// What is asked of which resolver.
#[derive(ToSchema)]
#[schema(as = SaveDns)]
#[expect(dead_code, reason = "only its schema is used")]
pub(crate) struct SaveDns {
    /// `ip` or `ip:port`.
    resolver_server: Option<String>,
    /// A, AAAA, CAA, CNAME, MX, NS, PTR, SOA, SRV or TXT.
    record_type: Option<String>,
}

#[derive(serde::Serialize, ToSchema)]
#[serde(untagged)]
#[expect(dead_code, reason = "only its schema is used")]
pub(crate) enum TextOrList {
    Text(String),
    List(Vec<serde_json::Value>),
}

#[derive(serde::Serialize, ToSchema)]
#[serde(untagged)]
#[expect(dead_code, reason = "only its schema is used")]
pub(crate) enum Codes {
    Text(String),
    Number(u16),
    List(Vec<serde_json::Value>),
}

#[derive(serde::Serialize, ToSchema)]
#[serde(untagged)]
#[expect(dead_code, reason = "only its schema is used")]
pub(crate) enum TextOrNumber {
    Text(String),
    Number(u16),
}

/// What the fields say, laid over the stored monitor; `None` when some are wrong.
pub(crate) fn draft(fields: &mut Fields, stored: Option<&Monitor>) -> Option<Draft> {
    let spec = spec(fields, stored);
    let name = fields.optional("name", Name::parse);
    let name = name.or_else(|| stored.map(|old| old.name.clone()));
    let name = fields.require("name", name);
    let interval = fields.optional_number("heartbeat_interval", Interval::new);
    let interval = interval.or(stored.map(|old| old.heartbeat_interval));
    let interval = fields.require("heartbeat_interval", interval);
    let isactive = fields.optional_flag("isactive").or(stored.map(|old| old.isactive));
    let isactive = fields.require("isactive", isactive);
    let upside_down = fields.optional_flag("upside_down_mode");
    let upside_down = upside_down.or(stored.map(|old| old.upside_down_mode));
    let upside_down = fields.require("upside_down_mode", upside_down);
    let timeout = span(fields, "timeout", timing::timeout, stored.and_then(|old| old.timeout));
    let kept = stored.and_then(|old| old.retry_interval);
    let retry_interval = span(fields, "retry_interval", timing::retry_interval, kept);
    let kept = stored.and_then(|old| old.resend_interval);
    let resend_interval = span(fields, "resend_interval", timing::resend_interval, kept);
    let retries = fields.optional_number("retries", timing::retries);
    let tags = fields.optional_items("tags", None);
    let tags = tags.and_then(|tags| fields.believe("tags", Tags::of(texts(&tags))));
    let notifiers = notifiers(fields);
    let regions = fields.optional_items("regions", None);
    let regions = regions.and_then(|names| fields.believe("regions", Regions::of(texts(&names))));
    let regions = regions.or(stored.map(|old| old.regions.clone())).unwrap_or_default();
    let quorum = quorum(fields, stored, &regions);
    Some(Draft {
        name: name?,
        spec: spec?,
        isactive: isactive?,
        heartbeat_interval: interval?,
        timeout,
        retries: retries.or(stored.map(|old| old.retries)).unwrap_or(DEFAULT_RETRIES),
        retry_interval,
        resend_interval,
        upside_down_mode: upside_down?,
        tags: tags.or(stored.map(|old| old.tags.clone())).unwrap_or_default(),
        notifiers: notifiers.or(stored.map(|old| old.notifiers.clone())).unwrap_or_default(),
        regions,
        quorum,
    })
}

/// A number of regions must be one that they can reach. A stored one that they
/// no longer can, because there are fewer of them now, means all of them.
fn quorum(fields: &mut Fields, stored: Option<&Monitor>, regions: &Regions) -> Quorum {
    let sent = fields.optional_text_or_number("quorum", Quorum::parse);
    match sent {
        Some(sent) => fields.believe("quorum", sent.among(regions)).unwrap_or_default(),
        None => {
            let kept = stored.map(|old| old.quorum).unwrap_or_default();
            kept.among(regions).unwrap_or(Quorum::All)
        }
    }
}

/// Seconds where 0 means the default, and nothing what was set before.
fn span(
    fields: &mut Fields,
    field: &str,
    parse: impl FnOnce(u64) -> Result<Duration, Invalid>,
    kept: Option<Duration>,
) -> Option<Duration> {
    let sent = fields.optional_number(field, |seconds| match seconds {
        0 => Ok(None),
        seconds => parse(seconds).map(Some),
    });
    sent.unwrap_or(kept)
}

/// How long a check that is only tried may take.
pub(crate) fn timeout(fields: &mut Fields) -> Option<Duration> {
    span(fields, "timeout", timing::timeout, None)
}

/// Linked notifiers. A text that is no id names no notifier of the team.
fn notifiers(fields: &mut Fields) -> Option<Vec<NotifierId>> {
    let items = fields.optional_items("notifiers", Some("notifierid"))?;
    let mut ids = Vec::new();
    for item in items.iter().map(|item| item.trim()).filter(|item| !item.is_empty()) {
        match NotifierId::parse(item) {
            Some(id) if ids.contains(&id) => {}
            Some(id) => ids.push(id),
            None => {
                fields.refuse("notifiers", "names a notifier that this team does not have");
                return None;
            }
        }
    }
    Some(ids)
}

/// The settings of the type that is sent, or of the stored one.
pub(crate) fn spec(fields: &mut Fields, stored: Option<&Monitor>) -> Option<Spec> {
    let old = stored.map(|monitor| &monitor.spec);
    let kind = fields.optional("type", Kind::parse).or(old.map(Spec::kind));
    match fields.require("type", kind)? {
        Kind::Api => {
            let kept = old.and_then(|old| match old {
                Spec::Api(api) => api.grace,
                _ => None,
            });
            let grace = fields.optional_number("grace", timing::grace).or(kept);
            Some(Spec::Api(ApiSpec { grace }))
        }
        Kind::Http => http(fields, old, |http| Ok(Spec::Http(http))),
        Kind::HttpKeyword => http(fields, old, Spec::http_keyword),
        Kind::Dns => dns(fields, old).map(Spec::Dns),
        Kind::Ping => {
            let hostname = hostname(fields, old);
            let port = optional_port(fields, old.filter(|old| old.kind() == Kind::Ping));
            hostname.map(|hostname| Spec::Ping(PingSpec { hostname, port }))
        }
        Kind::Tcp => {
            let hostname = hostname(fields, old);
            let kept = old.filter(|old| old.kind() != Kind::Ping).and_then(Spec::port);
            let port = fields.optional_text_or_number("port", port).or(kept);
            let port = fields.require("port", port);
            Some(Spec::Tcp(TcpSpec { hostname: hostname?, port: port? }))
        }
    }
}

fn hostname(fields: &mut Fields, old: Option<&Spec>) -> Option<Hostname> {
    let sent = fields.optional("hostname", Hostname::parse);
    let hostname = sent.or_else(|| old.and_then(Spec::hostname).cloned());
    fields.require("hostname", hostname)
}

/// A port that may be left out, and sent empty to remove it.
fn optional_port(fields: &mut Fields, old: Option<&Spec>) -> Option<u16> {
    let sent = fields.optional_text_or_number("port", |text| match text.trim() {
        "" => Ok(None),
        text => port(text).map(Some),
    });
    sent.unwrap_or_else(|| old.and_then(Spec::port))
}

fn dns(fields: &mut Fields, old: Option<&Spec>) -> Option<DnsSpec> {
    let hostname = hostname(fields, old);
    // Without a port it is the resolver's own.
    let port = optional_port(fields, old.filter(|old| old.kind() == Kind::Dns));
    let old = old.and_then(Spec::dns);
    fields.within("dns", |fields| {
        let resolver = fields.optional("resolver_server", Resolver::parse);
        let resolver = resolver.or_else(|| old.map(|old| old.resolver_server.clone()));
        let resolver = fields.require("resolver_server", resolver);
        let record_type = fields.optional("record_type", RecordType::parse);
        let record_type = record_type.or_else(|| old.map(|old| old.record_type));
        let record_type = fields.require("record_type", record_type);
        Some(DnsSpec {
            hostname: hostname?,
            port,
            resolver_server: resolver?,
            record_type: record_type?,
        })
    })
}

/// `whole` says what is wrong with the keyword beside all the rest.
fn http(
    fields: &mut Fields,
    old: Option<&Spec>,
    whole: fn(HttpSpec) -> Result<Spec, Invalid>,
) -> Option<Spec> {
    let old = old.and_then(Spec::http);
    fields.within("http", |fields| {
        let url = fields.optional("url", HttpUrl::parse);
        let base = match (old, url) {
            (Some(old), Some(url)) => Some(moved(old, url)),
            (Some(old), None) => Some(old.clone()),
            (None, url) => fields.require("url", url).map(HttpSpec::new),
        };
        // Without an address the rest is still read, for its errors.
        let mut http = base.clone().unwrap_or_else(nowhere);
        let codes = fields.optional_items_or_numbers("accepted_status_codes");
        let codes = codes.and_then(|codes| {
            fields.believe("accepted_status_codes", StatusCodes::of(texts(&codes)))
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
        let spec = fields.believe("keyword", whole(http));
        base.and(spec)
    })
}

/// A stored password stays with the server it was given for: who may edit a
/// monitor must not be able to have it sent elsewhere.
fn moved(old: &HttpSpec, url: HttpUrl) -> HttpSpec {
    let same_server = old.url.url().origin() == url.url().origin();
    let password = if same_server { old.password.clone() } else { Secret::new("") };
    HttpSpec { url, password, ..old.clone() }
}

/// Whether a stored password stays behind because the address is now another
/// server's, and nobody sent one or asked to remove it.
pub(crate) fn leaves_password(fields: &mut Fields, stored: &Monitor, draft: &Draft) -> bool {
    let sent = fields.within("http", |fields| fields.has("password"));
    let had = stored.spec.secret().is_some();
    had && !sent && draft.spec.http().is_some() && draft.spec.secret().is_none()
}

fn texts(items: &[String]) -> impl Iterator<Item = &str> {
    items.iter().map(String::as_str)
}

fn nowhere() -> HttpSpec {
    HttpSpec::new(HttpUrl::parse("http://localhost/").expect("an address"))
}

fn set<T>(place: &mut T, sent: Option<T>) {
    if let Some(value) = sent {
        *place = value;
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::wire::monitors::MonitorBody;
    use serde_json::{Value, json};
    use wakeful_core::id::{MonitorId, TeamId};
    use wakeful_core::time::Millis;
    use wakeful_core::verdict::State;

    fn read(body: Value, stored: Option<&Monitor>) -> Result<Draft, Vec<String>> {
        let mut fields = Fields::of(body).expect("an object");
        let read = draft(&mut fields, stored);
        fields.finish(read).map_err(|error| error.field_names())
    }

    fn shown(monitor: &Monitor) -> Value {
        let state = State::default();
        serde_json::to_value(MonitorBody::of(monitor, &state, &[], "http://x")).unwrap()
    }

    fn stored(draft: Draft) -> Monitor {
        let at = Millis(1_763_199_000_123);
        Monitor {
            id: MonitorId::new(at, [1; 10]),
            team: TeamId::new(at, [2; 10]),
            name: draft.name,
            spec: draft.spec,
            isactive: draft.isactive,
            heartbeat_interval: draft.heartbeat_interval,
            timeout: draft.timeout,
            retries: draft.retries,
            retry_interval: draft.retry_interval,
            resend_interval: draft.resend_interval,
            upside_down_mode: draft.upside_down_mode,
            tags: draft.tags,
            notifiers: draft.notifiers,
            regions: draft.regions,
            quorum: draft.quorum,
            push_token: None,
            created: at,
            modified: at,
        }
    }

    fn with(extra: &Value) -> Value {
        let mut body = json!({"name": "site", "heartbeat_interval": 60, "isactive": true,
            "upside_down_mode": false});
        body.as_object_mut().unwrap().extend(extra.as_object().unwrap().clone());
        body
    }

    /// One monitor of each type, in the shape the reference sends.
    fn examples() -> Vec<Value> {
        [
            json!({"type": "api", "grace": 7}),
            json!({"type": "dns", "hostname": "example.com", "port": "5353",
                "dns": {"resolver_server": "9.9.9.9", "record_type": "AAAA"}}),
            json!({"type": "http", "tags": "a, b,,a", "http": {"url": "https://example.com",
                "accepted_status_codes": "200-299, 301", "authentication_type": "None",
                "headers": "{\"X-A\": \"1\"}", "method": "post", "body": "x"}}),
            json!({"type": "http_keyword", "http": {"url": "http://[::1]:8080/x?y=1",
                "accepted_status_codes": "200-299", "keyword": "ok"}}),
            json!({"type": "ping", "hostname": "127.0.0.1", "regions": "eu, us,,EU", "quorum": 2}),
            json!({"type": "ping", "hostname": "127.0.0.1", "port": "80"}),
            json!({"type": "tcp", "hostname": "localhost", "port": 22}),
        ]
        .iter()
        .map(with)
        .collect()
    }

    #[test]
    fn what_a_read_returns_can_be_sent_back_and_changes_nothing() {
        for body in examples() {
            let monitor = stored(read(body.clone(), None).expect("good"));
            let draft = read(shown(&monitor), Some(&monitor)).expect("good");
            assert_eq!(stored(draft), monitor, "{body}");
        }
    }

    #[test]
    fn a_partial_body_keeps_what_it_leaves_out() {
        for body in examples() {
            let monitor = stored(read(body.clone(), None).expect("good"));
            let draft =
                read(json!({"isactive": false, "tags": ["x"]}), Some(&monitor)).expect("good");
            assert!(!draft.isactive);
            assert_eq!(draft.spec, monitor.spec, "{body}");
            assert_eq!(draft.name, monitor.name);
        }
    }

    #[test]
    fn the_defaults_in_http_are_those_of_the_contract() {
        let body = with(&json!({"type": "http", "http": {"url": "https://example.com"}}));
        let monitor = stored(read(body, None).expect("good"));
        let http = shown(&monitor)["http"].clone();
        assert_eq!(http["method"], "GET");
        assert_eq!(http["accepted_status_codes"], json!(["200-299"]));
        assert_eq!(http["authentication_type"], "none");
        assert_eq!(http["keyword"], "");
        assert_eq!(http["body"], "");
        assert_eq!(http["headers"], "");
        assert_eq!(http["certificate_expiry_notification"], false);
        assert_eq!(http["ignore_tls_error"], false);
    }

    #[test]
    fn every_wrong_field_is_told_at_once() {
        let wrong = |body| read(body, None).expect_err("wrong");
        assert_eq!(
            wrong(json!({})),
            ["type", "name", "heartbeat_interval", "isactive", "upside_down_mode"]
        );
        assert_eq!(
            wrong(with(&json!({"type": "http", "name": "", "heartbeat_interval": 0, "http": {
                "url": "ftp://x", "accepted_status_codes": "700", "method": "BREW",
                "headers": "X: a\r\nY"}}))),
            [
                "http.url",
                "http.accepted_status_codes",
                "http.method",
                "http.headers",
                "name",
                "heartbeat_interval"
            ]
        );
        assert_eq!(
            wrong(with(&json!({"type": "http_keyword", "http": {"url": "http://x"}}))),
            ["http.keyword"]
        );
        let long = "k".repeat(100_000);
        for keyword in [json!({}), json!({"keyword": ""}), json!({"keyword": long})] {
            let both = wrong(with(&json!({"type": "http_keyword", "http": keyword})));
            assert_eq!(both, ["http.url", "http.keyword"]);
        }
        assert_eq!(wrong(with(&json!({"type": "tcp"}))), ["hostname", "port"]);
        assert_eq!(
            wrong(with(&json!({"type": "tcp", "hostname": "x", "port": "70000"}))),
            ["port"]
        );
        assert_eq!(
            wrong(with(&json!({"type": "ping", "hostname": "x", "port": "70000"}))),
            ["port"]
        );
        assert_eq!(
            wrong(with(&json!({"type": "dns", "hostname": "x"}))),
            ["dns.resolver_server", "dns.record_type"]
        );
        assert_eq!(
            wrong(with(&json!({"type": "ping", "hostname": "x", "notifiers": "nobody"}))),
            ["notifiers"]
        );
        assert_eq!(wrong(with(&json!({"type": "smtp"}))), ["type"]);
        assert_eq!(wrong(with(&json!({"type": "http", "http": "x"}))), ["http", "http.url"]);
    }

    #[test]
    fn a_new_type_needs_its_settings_whole() {
        let ping =
            stored(read(with(&json!({"type": "ping", "hostname": "x"})), None).expect("good"));
        assert_eq!(read(json!({"type": "tcp"}), Some(&ping)).expect_err("wrong"), ["port"]);
        assert_eq!(read(json!({"type": "http"}), Some(&ping)).expect_err("wrong"), ["http.url"]);
        assert!(read(json!({"type": "tcp", "port": "80"}), Some(&ping)).is_ok());
    }

    #[test]
    fn the_port_of_a_ping_is_kept_as_text_and_removed_when_it_is_empty() {
        let body = with(&json!({"type": "ping", "hostname": "x", "port": 80}));
        let ping = stored(read(body, None).expect("good"));
        assert_eq!(shown(&ping)["port"], "80");
        let port = |body| read(body, Some(&ping)).expect("good").spec.port();
        assert_eq!(port(json!({"name": "y"})), Some(80));
        assert_eq!(port(json!({"port": ""})), None);
    }

    #[test]
    fn accepted_codes_may_be_text_a_number_or_an_array_of_both() {
        for (sent, kept) in [
            (json!("200-299, 301"), json!(["200-299", "301"])),
            (json!(200), json!(["200"])),
            (json!([200]), json!(["200"])),
            (json!(["200-299", 301]), json!(["200-299", "301"])),
        ] {
            let http = json!({"url": "http://x", "accepted_status_codes": sent});
            let monitor =
                stored(read(with(&json!({"type": "http", "http": http})), None).expect("good"));
            let http = shown(&monitor)["http"].clone();
            assert_eq!(http["accepted_status_codes"], kept);
        }
        for wrong in [json!(20), json!([600]), json!(-200), json!(200.5), json!(true)] {
            let http = json!({"url": "http://x", "accepted_status_codes": wrong});
            let body = with(&json!({"type": "http", "http": http}));
            assert_eq!(read(body, None).expect_err("wrong"), ["http.accepted_status_codes"]);
        }
    }

    #[test]
    fn a_stored_password_is_not_sent_to_another_server() {
        let body =
            with(&json!({"type": "http", "http": {"url": "https://a.example/x", "password": "p"}}));
        let monitor = stored(read(body, None).expect("good"));
        let password_at = |url: &str| {
            let draft = read(json!({"http": {"url": url}}), Some(&monitor)).expect("good");
            draft.spec.secret().map(|secret| secret.expose().to_owned())
        };
        assert_eq!(password_at("https://a.example/y").as_deref(), Some("p"));
        for elsewhere in ["https://b.example/x", "http://a.example/x", "https://a.example:8443/x"] {
            assert_eq!(password_at(elsewhere), None, "{elsewhere}");
        }
    }

    #[test]
    fn notifiers_may_be_text_ids_or_objects() {
        let (a, b) = (NotifierId::new(Millis(1), [1; 10]), NotifierId::new(Millis(2), [2; 10]));
        for sent in [
            json!(format!("{a}, {b},{a}")),
            json!([a.to_string(), b.to_string()]),
            json!([{"notifierid": a.to_string(), "name": "x"}, {"notifierid": b.to_string()}]),
        ] {
            let body = with(&json!({"type": "ping", "hostname": "x", "notifiers": sent}));
            assert_eq!(read(body, None).expect("good").notifiers, [a, b]);
        }
    }
}
