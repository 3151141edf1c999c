//! The fields of a monitor in the audit log.

use serde_json::{Value, json};
use std::time::Duration;

use super::bulk::BulkChange;
use super::spec::{
    ApiSpec, ClientCertificate, DnsSpec, GroupSpec, Hostname, HttpSpec, HttpUrl, Proxy,
    RequestOptions, Resolver, Spec, TlsSpec,
};
use super::{Headers, Interval, Monitor};
use crate::audit::{Audited, View};
use crate::dependency::Dependency;
use crate::evidence::EvidenceLevel;
use crate::id::NotifierId;
use crate::push::{JobSchedule, Slug};
use crate::region::Region;

impl Audited for Monitor {
    fn view(&self) -> View {
        let view = View::default()
            .with("name", self.name.to_string())
            .with("type", self.spec.kind().as_str())
            .with("isactive", self.isactive)
            .with("heartbeat_interval", self.heartbeat_interval.seconds())
            .with("timeout", seconds(self.timeout))
            .with("retries", self.retries)
            .with("retry_interval", seconds(self.retry_interval))
            .with("resend_interval", seconds(self.resend_interval))
            .with("severity", self.severity.as_str())
            .with("policyid", self.policy.map(|id| id.to_string()))
            .with("upside_down_mode", self.upside_down_mode)
            .with("tags", self.tags.iter().collect::<Vec<_>>())
            .with("notifiers", texts(&self.notifiers))
            .with("depends_on", self.depends_on.iter().map(dependency).collect::<Vec<_>>())
            .with("flap_outages", self.flapping.outages)
            .with("flap_within", self.flapping.within.as_secs())
            .with("regions", self.regions.iter().map(Region::as_str).collect::<Vec<_>>())
            .with("quorum", self.quorum.to_string())
            .with_secret("push_url", self.push_token.as_ref().map_or("", |token| token.expose()));
        of_checks(of_spec(view, &self.spec), self)
    }
}

/// Only what differs from the defaults: most monitors have none of it.
fn of_checks(mut view: View, monitor: &Monitor) -> View {
    if !monitor.assertions.is_empty() {
        view = view.with("assertions", json!(monitor.assertions));
    }
    if monitor.evidence != EvidenceLevel::default() {
        view = view.with("evidence", monitor.evidence.as_str());
    }
    if let Some(degraded) = &monitor.degraded {
        view = view.with("degraded", json!(degraded));
    }
    if let Some(slo) = &monitor.slo {
        view = view.with("slo", json!(slo));
    }
    if !monitor.description.as_str().is_empty() {
        view = view.with("description", monitor.description.as_str());
    }
    if let Some(uuid) = &monitor.ping_uuid {
        view = view.with_secret("ping_url", uuid.expose());
    }
    view
}

fn dependency(one: &Dependency) -> String {
    format!("{} ({})", one.parent, one.kind.as_str())
}

fn of_spec(view: View, spec: &Spec) -> View {
    let view = match spec {
        Spec::Api(api) => of_api(view, api),
        Spec::Dns(dns) => of_dns(view, dns),
        Spec::Domain(domain) => view
            .with("hostname", domain.hostname.to_string())
            .with("domain.expiry_notification", domain.expiry_notification)
            .with("domain.server", domain.server.as_ref().map(HttpUrl::as_str)),
        Spec::Group(group) => of_group(view, group),
        Spec::Http(http) | Spec::HttpKeyword(http) => of_http(view, http),
        Spec::Ping(ping) => view
            .with("hostname", ping.hostname.to_string())
            .with("ping.count", ping.echoes.count)
            .with("ping.spacing", ping.echoes.spacing)
            .with("ping.size", ping.echoes.size),
        Spec::Tcp(tcp) => view.with("hostname", tcp.hostname.to_string()).with("port", tcp.port),
        Spec::Tls(tls) => of_tls(view, tls),
    };
    match spec.connect() {
        None => view,
        Some(connect) => view
            .with("ip_family", connect.ip_family.as_str())
            .with("resolver", connect.resolver.as_ref().map(Resolver::as_str))
            .with("connect_to", connect.connect_to.as_ref().map(Hostname::as_str)),
    }
}

fn of_tls(view: View, tls: &TlsSpec) -> View {
    let view = view
        .with("hostname", tls.hostname.to_string())
        .with("port", tls.port)
        .with("tls.server_name", tls.server_name.as_ref().map(Hostname::as_str))
        .with("tls.starttls", tls.starttls.as_str())
        .with("tls.ignore_tls_error", tls.ignore_tls_error)
        .with("tls.certificate_expiry_notification", tls.certificate_expiry_notification);
    with_certificate(view, "tls", tls.client_certificate.as_deref())
}

fn with_certificate(view: View, object: &str, certificate: Option<&ClientCertificate>) -> View {
    let Some(certificate) = certificate else { return view };
    view.with(&format!("{object}.client_certificate"), certificate.fingerprint.as_str())
        .with_secret(&format!("{object}.client_key"), certificate.key.expose())
}

/// Only if it has any.
fn of_options(view: View, options: &RequestOptions) -> View {
    let mut view = view
        .with("http.ca", options.ca.as_str())
        .with("http.cookies", options.cookies)
        .with("http.proxy", options.proxy.as_ref().map(Proxy::shown))
        .with("http.version", options.version.as_str())
        .with("http.cache_buster", options.cache_buster)
        .with("http.max_body", options.max_body)
        .with_secret("http.token", options.token.expose());
    if let Some(proxy) = &options.proxy {
        view = view.with_secret("http.proxy.password", proxy.password.expose());
    }
    if let Some(oauth2) = &options.oauth2 {
        view = view
            .with("http.oauth2.token_url", oauth2.token_url.as_str())
            .with("http.oauth2.client_id", oauth2.client_id.as_str())
            .with("http.oauth2.scope", oauth2.scope.as_str())
            .with("http.oauth2.audience", oauth2.audience.as_str())
            .with("http.oauth2.client_auth", oauth2.client_auth.as_str())
            .with_secret("http.oauth2.client_secret", oauth2.client_secret.expose());
    }
    with_certificate(view, "http", options.client_certificate.as_ref())
}

fn of_api(view: View, api: &ApiSpec) -> View {
    let view = view.with("grace", seconds(api.grace));
    if *api == ApiSpec::with_grace(api.grace) {
        return view;
    }
    let schedule = api.schedule.as_deref();
    view.with("api.schedule", schedule.map(JobSchedule::text))
        .with("api.tz", schedule.map(|schedule| schedule.zone().name()))
        .with("api.max_runtime", seconds(api.max_runtime))
        .with("api.slug", api.slug.as_ref().map(Slug::as_str))
        .with("api.post_only", api.post_only)
        .with("api.keywords", json!(api.keywords))
}

fn of_dns(view: View, dns: &DnsSpec) -> View {
    view.with("hostname", dns.hostname.to_string())
        .with("port", dns.port)
        .with("dns.resolver_server", dns.resolver_server.to_string())
        .with("dns.record_type", dns.record_type.to_string())
}

fn of_group(view: View, group: &GroupSpec) -> View {
    let weights: Vec<String> =
        group.weights.iter().map(|(id, weight)| format!("{id}: {weight}")).collect();
    let selector = json!(group.members);
    view.with("group.members", selector)
        .with("group.rule", group.rule.to_string())
        .with("group.weights", weights)
        .with("group.members_quiet", group.members_quiet)
}

fn of_http(view: View, http: &HttpSpec) -> View {
    let view = view
        .with("http.url", http.url.as_str())
        .with("http.method", http.method.to_string())
        .with("http.accepted_statuscodes", http.accepted.to_string())
        .with("http.keyword", http.keyword.to_string())
        .with("http.authentication", http.authentication.to_string())
        .with("http.ignore_tls_error", http.ignore_tls_error)
        .with("http.certificate_expiry_notification", http.certificate_expiry_notification)
        .with("http.max_redirects", http.max_redirects)
        .with_secret("http.username", &http.username.to_string())
        .with_secret("http.password", http.password.expose())
        .with_secret("http.body", &http.body.to_string());
    let view = with_headers(view, "http.headers", &http.headers);
    match &http.options {
        Some(options) => of_options(view, options),
        None => view,
    }
}

/// The names of headers are shown, their values are not.
pub(crate) fn with_headers(view: View, field: &str, headers: &Headers) -> View {
    let names: Vec<&str> = headers.iter().map(|(name, _)| name).collect();
    view.with(field, names).with_secret(&format!("{field}.values"), headers.as_str())
}

fn seconds(span: Option<Duration>) -> Value {
    json!(span.map(|span| span.as_secs()))
}

impl Audited for BulkChange {
    fn view(&self) -> View {
        let view = View::default()
            .with("tags_add", self.tags_add.iter().collect::<Vec<_>>())
            .with("tags_remove", self.tags_remove.iter().collect::<Vec<_>>())
            .with("notifiers_add", texts(&self.notifiers_add))
            .with("notifiers_remove", texts(&self.notifiers_remove))
            .with("isactive", self.isactive)
            .with("heartbeat_interval", self.heartbeat_interval.map(Interval::seconds))
            .with("retries", self.retries);
        [
            ("timeout", self.timeout),
            ("retry_interval", self.retry_interval),
            ("resend_interval", self.resend_interval),
        ]
        .into_iter()
        .filter_map(|(field, span)| Some((field, span?)))
        .fold(view, |view, (field, span)| {
            view.with(field, if span.is_some() { seconds(span) } else { json!("default") })
        })
    }
}

fn texts(ids: &[NotifierId]) -> Vec<String> {
    ids.iter().map(ToString::to_string).collect()
}
