//! The fields of a monitor in the audit log.

use serde_json::{Value, json};
use std::time::Duration;

use super::bulk::BulkChange;
use super::spec::{ApiSpec, DnsSpec, GroupSpec, HttpSpec, Spec};
use super::{Headers, Interval, Monitor};
use crate::audit::{Audited, View};
use crate::dependency::Dependency;
use crate::evidence::EvidenceLevel;
use crate::id::NotifierId;
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
    view
}

fn dependency(one: &Dependency) -> String {
    format!("{} ({})", one.parent, one.kind.as_str())
}

fn of_spec(view: View, spec: &Spec) -> View {
    match spec {
        Spec::Api(ApiSpec { grace }) => view.with("grace", seconds(*grace)),
        Spec::Dns(dns) => of_dns(view, dns),
        Spec::Group(group) => of_group(view, group),
        Spec::Http(http) | Spec::HttpKeyword(http) => of_http(view, http),
        Spec::Ping(ping) => view
            .with("hostname", ping.hostname.to_string())
            .with("ping.count", ping.echoes.count)
            .with("ping.spacing", ping.echoes.spacing)
            .with("ping.size", ping.echoes.size),
        Spec::Tcp(tcp) => view.with("hostname", tcp.hostname.to_string()).with("port", tcp.port),
    }
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
    with_headers(view, "http.headers", &http.headers)
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
