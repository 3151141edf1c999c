//! A monitor as it is returned. Settings that do not belong to its type are
//! null; passwords are not returned.

use serde::Serialize;
use std::time::Duration;
use utoipa::ToSchema;
use wakeful_core::id::{MonitorId, NotifierId};
use wakeful_core::monitor::Monitor;
use wakeful_core::monitor::spec::{DnsSpec, Hostname, HttpSpec, Spec};
use wakeful_core::secret::Secret;
use wakeful_core::time::Millis;
use wakeful_core::verdict::State;
use wakeful_engine::Linked;

use super::CertificateBody;

#[derive(Serialize, ToSchema)]
#[schema(as = Monitor)]
pub(crate) struct MonitorBody<'a> {
    #[schema(value_type = String, format = Uuid)]
    monitorid: MonitorId,
    r#type: &'static str,
    isactive: bool,
    name: &'a str,
    http: Option<HttpBody<'a>>,
    dns: Option<DnsBody<'a>>,
    hostname: Option<&'a str>,
    port: Option<String>,
    notifiers: Vec<LinkedBody<'a>>,
    heartbeat_interval: u32,
    upside_down_mode: bool,
    tags: Vec<&'a str>,
    /// pending, up or down.
    status: &'static str,
    /// When the status became what it is.
    #[schema(value_type = Option<String>, format = DateTime)]
    status_since: Option<Millis>,
    #[schema(value_type = Option<String>, format = DateTime)]
    last_check: Option<Millis>,
    last_message: &'a str,
    /// Milliseconds; null before the first check.
    load_time: Option<f64>,
    #[schema(value_type = String, format = DateTime)]
    created: Millis,
    #[schema(value_type = String, format = DateTime)]
    modified: Millis,
    /// Seconds; null for the default.
    timeout: Option<u64>,
    retries: u16,
    /// Seconds; null for the default.
    retry_interval: Option<u64>,
    /// Seconds between reminders while it is down; 0: none.
    resend_interval: u64,
    /// Seconds; null for the default and for other types than api.
    grace: Option<u64>,
    /// Where it is checked from; `local` is the service itself.
    regions: Vec<String>,
    /// How many regions must agree before it counts as down: any, majority, all or a number.
    quorum: String,
    /// Where a target reports itself by opening an address.
    push_url: Option<String>,
}

#[derive(Serialize, ToSchema)]
#[schema(as = MonitorHttp)]
pub(crate) struct HttpBody<'a> {
    keyword: &'a str,
    url: &'a str,
    certificate_expiry_notification: bool,
    ignore_tls_error: bool,
    method: &'static str,
    authentication_type: &'a str,
    username: &'a str,
    body: &'a str,
    headers: &'a str,
    accepted_status_codes: Vec<String>,
    max_redirects: u8,
}

#[derive(Serialize, ToSchema)]
#[schema(as = MonitorDns)]
pub(crate) struct DnsBody<'a> {
    resolver_server: &'a str,
    record_type: &'static str,
}

#[derive(Serialize, ToSchema)]
#[schema(as = LinkedNotifier)]
pub(crate) struct LinkedBody<'a> {
    #[schema(value_type = String, format = Uuid)]
    notifierid: NotifierId,
    name: &'a str,
    r#type: &'a str,
}

impl<'a> MonitorBody<'a> {
    pub(crate) fn of(
        monitor: &'a Monitor,
        state: &'a State,
        linked: &'a [Linked],
        public_url: &str,
    ) -> Self {
        let spec = &monitor.spec;
        let grace = match spec {
            Spec::Api(api) => api.grace,
            _ => None,
        };
        Self {
            monitorid: monitor.id,
            r#type: spec.kind().as_str(),
            isactive: monitor.isactive,
            name: monitor.name.as_str(),
            http: spec.http().map(HttpBody::of),
            dns: spec.dns().map(DnsBody::of),
            hostname: spec.hostname().map(Hostname::as_str),
            port: spec.port().map(|port| port.to_string()),
            notifiers: linked.iter().map(LinkedBody::of).collect(),
            heartbeat_interval: monitor.heartbeat_interval.seconds(),
            upside_down_mode: monitor.upside_down_mode,
            tags: monitor.tags.iter().collect(),
            status: state.status.as_str(),
            status_since: state.since,
            last_check: state.last_check,
            last_message: &state.last_message,
            load_time: state.load_time.map(millis),
            created: monitor.created,
            modified: monitor.modified,
            timeout: monitor.timeout.map(|span| span.as_secs()),
            regions: monitor.regions.clone().into(),
            quorum: monitor.quorum.to_string(),
            retries: monitor.retries,
            retry_interval: monitor.retry_interval.map(|span| span.as_secs()),
            resend_interval: monitor.resend_interval.map_or(0, |span| span.as_secs()),
            grace: grace.map(|span| span.as_secs()),
            push_url: monitor.push_token.as_ref().map(|token| push_url(public_url, token)),
        }
    }
}

impl<'a> HttpBody<'a> {
    fn of(http: &'a HttpSpec) -> Self {
        Self {
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
        }
    }
}

impl<'a> DnsBody<'a> {
    fn of(dns: &'a DnsSpec) -> Self {
        Self {
            resolver_server: dns.resolver_server.as_str(),
            record_type: dns.record_type.as_str(),
        }
    }
}

impl<'a> LinkedBody<'a> {
    fn of(linked: &'a Linked) -> Self {
        Self { notifierid: linked.id, name: &linked.name, r#type: &linked.kind }
    }
}

fn push_url(public_url: &str, token: &Secret) -> String {
    format!("{public_url}/api/push/{}", token.expose())
}

/// The new address of a monitor that targets report to.
#[derive(Serialize, ToSchema)]
pub(crate) struct PushRotated {
    success: bool,
    message: &'static str,
    push_url: String,
}

impl PushRotated {
    pub(crate) fn of(public_url: &str, token: &Secret) -> Self {
        Self {
            success: true,
            message: "The push address has been replaced; the old one no longer works.",
            push_url: push_url(public_url, token),
        }
    }
}

/// Milliseconds with at most three decimals.
pub(crate) fn millis(span: Duration) -> f64 {
    (span.as_micros() as f64) / 1e3
}

#[derive(Serialize, ToSchema)]
pub(crate) struct MonitorAnswer<'a> {
    pub(crate) success: bool,
    pub(crate) message: String,
    pub(crate) monitor: MonitorBody<'a>,
}

/// A monitor with what is told of one alone.
#[derive(Serialize, ToSchema)]
pub(crate) struct MonitorWhole<'a> {
    pub(crate) success: bool,
    pub(crate) monitor: MonitorBody<'a>,
    /// The certificate that the target showed last; null when it showed none.
    pub(crate) certificate: Option<CertificateBody>,
}

/// What the pieces of the list come to.
#[derive(Serialize, ToSchema)]
pub(crate) struct MonitorList<'a> {
    pub(crate) success: bool,
    pub(crate) monitors: Vec<MonitorBody<'a>>,
    /// Only with `limit`: where the next page begins, null at the end.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) next_cursor: Option<Option<String>>,
}
