//! A monitor as it is returned. Settings that do not belong to its type are
//! null; passwords are not returned.

use serde::Serialize;
use std::time::Duration;
use utoipa::ToSchema;
use wakeful_core::id::{MonitorId, NotifierId};
use wakeful_core::monitor::Monitor;
use wakeful_core::monitor::spec::{DnsSpec, HttpSpec, Spec};
use wakeful_core::time::Millis;
use wakeful_core::verdict::State;
use wakeful_engine::Linked;

use super::CertificateBody;

#[derive(Serialize, ToSchema)]
#[schema(as = Monitor)]
pub(crate) struct MonitorBody {
    #[schema(value_type = String, format = Uuid)]
    monitorid: MonitorId,
    r#type: &'static str,
    isactive: bool,
    name: String,
    http: Option<HttpBody>,
    dns: Option<DnsBody>,
    hostname: Option<String>,
    port: Option<String>,
    notifiers: Vec<LinkedBody>,
    heartbeat_interval: u32,
    upside_down_mode: bool,
    tags: Vec<String>,
    /// pending, up or down.
    status: &'static str,
    /// When the status became what it is.
    #[schema(value_type = Option<String>, format = DateTime)]
    status_since: Option<Millis>,
    #[schema(value_type = Option<String>, format = DateTime)]
    last_check: Option<Millis>,
    last_message: String,
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
pub(crate) struct HttpBody {
    keyword: String,
    url: String,
    certificate_expiry_notification: bool,
    ignore_tls_error: bool,
    method: &'static str,
    authentication_type: String,
    username: String,
    body: String,
    headers: String,
    accepted_status_codes: Vec<String>,
    max_redirects: u8,
}

#[derive(Serialize, ToSchema)]
#[schema(as = MonitorDns)]
pub(crate) struct DnsBody {
    resolver_server: String,
    record_type: &'static str,
}

#[derive(Serialize, ToSchema)]
#[schema(as = LinkedNotifier)]
pub(crate) struct LinkedBody {
    #[schema(value_type = String, format = Uuid)]
    notifierid: NotifierId,
    name: String,
    r#type: String,
}

impl MonitorBody {
    pub(crate) fn of(
        monitor: &Monitor,
        state: &State,
        linked: &[Linked],
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
            name: monitor.name.to_string(),
            http: spec.http().map(HttpBody::of),
            dns: spec.dns().map(DnsBody::of),
            hostname: spec.hostname().map(ToString::to_string),
            port: spec.port().map(|port| port.to_string()),
            notifiers: linked.iter().map(LinkedBody::of).collect(),
            heartbeat_interval: monitor.heartbeat_interval.seconds(),
            upside_down_mode: monitor.upside_down_mode,
            tags: monitor.tags.iter().map(str::to_owned).collect(),
            status: state.status.as_str(),
            status_since: state.since,
            last_check: state.last_check,
            last_message: state.last_message.clone(),
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
            push_url: monitor
                .push_token
                .as_ref()
                .map(|token| format!("{public_url}/api/push/{}", token.expose())),
        }
    }
}

impl HttpBody {
    fn of(http: &HttpSpec) -> Self {
        Self {
            keyword: http.keyword.to_string(),
            url: http.url.to_string(),
            certificate_expiry_notification: http.certificate_expiry_notification,
            ignore_tls_error: http.ignore_tls_error,
            method: http.method.as_str(),
            authentication_type: http.authentication.as_sent().to_owned(),
            username: http.username.to_string(),
            body: http.body.to_string(),
            headers: http.headers.as_str().to_owned(),
            accepted_status_codes: http.accepted.items().collect(),
            max_redirects: http.max_redirects,
        }
    }
}

impl DnsBody {
    fn of(dns: &DnsSpec) -> Self {
        Self {
            resolver_server: dns.resolver_server.to_string(),
            record_type: dns.record_type.as_str(),
        }
    }
}

impl LinkedBody {
    fn of(linked: &Linked) -> Self {
        Self { notifierid: linked.id, name: linked.name.clone(), r#type: linked.kind.clone() }
    }
}

/// Milliseconds with at most three decimals.
pub(crate) fn millis(span: Duration) -> f64 {
    (span.as_micros() as f64) / 1e3
}

#[derive(Serialize, ToSchema)]
pub(crate) struct MonitorAnswer {
    pub(crate) success: bool,
    pub(crate) message: String,
    pub(crate) monitor: MonitorBody,
}

/// A monitor with what is told of one alone.
#[derive(Serialize, ToSchema)]
pub(crate) struct MonitorWhole {
    pub(crate) success: bool,
    pub(crate) monitor: MonitorBody,
    /// The certificate that the target showed last; null when it showed none.
    pub(crate) certificate: Option<CertificateBody>,
}

/// What the pieces of the list come to.
#[derive(Serialize, ToSchema)]
pub(crate) struct MonitorList {
    pub(crate) success: bool,
    pub(crate) monitors: Vec<MonitorBody>,
    /// Only with `limit`: where the next page begins, null at the end.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) next_cursor: Option<Option<String>>,
}
