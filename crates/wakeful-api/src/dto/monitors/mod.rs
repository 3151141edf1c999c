//! Monitors in JSON. Each type of monitor has a file with its fields in requests and
//! responses; this file lists the types and has the fields of all of them. `request` reads
//! complete and partial changes, `MonitorBody` has the form that `request` accepts unchanged,
//! `row` is the short form for long lists, `append` writes the long form to them, and `bulk` changes
//! many monitors in one call.

pub(crate) mod api;
pub(crate) mod append;
pub(crate) mod assertions;
pub(crate) mod bulk;
pub(crate) mod certificate;
mod client_certificate;
mod connect;
mod dns;
mod domain;
mod group;
mod health;
mod http;
mod http_options;
mod ping;
pub(crate) mod request;
pub(crate) mod response;
pub(crate) mod row;
mod tcp;
mod tls;

use serde::Serialize;
use utoipa::ToSchema;
use wakeful_core::dependency::Dependency;
use wakeful_core::id::{MaintenanceId, MonitorId, NotifierId, PolicyId};
use wakeful_core::maintenance::ShownCover;
use wakeful_core::monitors::spec::{GroupSpec, Kind, Spec};
use wakeful_core::reason;
use wakeful_core::region::{Quorum, Region};
use wakeful_core::time::Millis;
use wakeful_engine::{LinkedNotifier, MonitorView};

use self::api::{ApiBody, SaveApi};
use self::append::{append_object, nullable, present, value};
use self::assertions::{AssertionBody, SaveAssertion};
use self::dns::{DnsBody, SaveDns};
use self::domain::{DomainBody, SaveDomain};
use self::group::{GroupBody, SaveGroup};
use self::health::{DegradedBody, SaveDegraded, SaveSlo, SloBody};
use self::http::{HttpBody, SaveHttp, http_body};
use self::ping::{PingBody, SavePing};
use self::request::{TextOrList, TextOrNumber};
use self::response::{blocked, millis, ping_url, push_url};
use self::tls::{SaveTls, TlsBody};
use super::Fields;
use super::enums::{
    DependencyKind, EvidenceLevel, IpFamily, KnownMonitorType, MonitorHealth, MonitorStatus,
    MonitorType, NotifierType, Reason, Severity,
};

/// Reads the settings of a type: those that are sent, and otherwise those of `old`.
fn read(kind: Kind, fields: &mut Fields, old: Option<&Spec>) -> Option<Spec> {
    if matches!(kind, Kind::Api | Kind::Dns | Kind::Domain | Kind::Group) {
        connect::refuse(fields, kind);
    }
    match kind {
        Kind::Api => api::read(fields, old),
        Kind::Dns => dns::read(fields, old),
        Kind::Domain => domain::read(fields, old),
        Kind::Group => group::read(fields, old),
        Kind::Http => http::read(fields, old),
        Kind::HttpKeyword => http::read_with_keyword(fields, old),
        Kind::Ping => ping::read(fields, old),
        Kind::Tcp => tcp::read(fields, old),
        Kind::Tls => tls::read(fields, old),
    }
}

/// The fields of `MonitorBody` that depend on the type.
fn show(spec: &Spec) -> SpecFields<'_> {
    let mut shown = match spec {
        Spec::Api(api) => api::show(api),
        Spec::Dns(dns) => dns::show(dns),
        Spec::Domain(domain) => domain::show(domain),
        Spec::Group(group) => group::show(group),
        Spec::Http(http) => http::show(http, http::MAX_BODY),
        Spec::HttpKeyword(http) => http::show(http, http::MAX_KEYWORD_BODY),
        Spec::Ping(ping) => ping::show(ping),
        Spec::Tcp(tcp) => tcp::show(tcp),
        Spec::Tls(tls) => tls::show(tls),
    };
    let connect = spec.connect();
    let connects = !matches!(spec, Spec::Api(_) | Spec::Dns(_) | Spec::Domain(_) | Spec::Group(_));
    let family = connect.map(|connect| connect.ip_family).unwrap_or_default();
    shown.ip_family = connects.then(|| family.as_str());
    shown.resolver = connect.and_then(|connect| Some(connect.resolver.as_ref()?.as_str()));
    shown.connect_to = connect.and_then(|connect| Some(connect.connect_to.as_ref()?.as_str()));
    shown
}

/// Monitors of a type, in the form of the reference.
#[cfg(test)]
fn examples(kind: Kind) -> Vec<serde_json::Value> {
    match kind {
        Kind::Api => api::examples(),
        Kind::Dns => dns::examples(),
        Kind::Domain => domain::examples(),
        Kind::Group => group::examples(),
        Kind::Http => http::examples(),
        Kind::HttpKeyword => http::examples_with_keyword(),
        Kind::Ping => ping::examples(),
        Kind::Tcp => tcp::examples(),
        Kind::Tls => tls::examples(),
    }
}

#[derive(Default)]
struct SpecFields<'a> {
    http: Option<HttpBody<'a>>,
    dns: Option<DnsBody<'a>>,
    group: Option<&'a GroupSpec>,
    hostname: Option<&'a str>,
    port: Option<String>,
    grace: Option<u64>,
    ping: Option<PingBody>,
    api: Option<ApiBody<'a>>,
    tls: Option<TlsBody<'a>>,
    domain: Option<DomainBody<'a>>,
    ip_family: Option<&'static str>,
    resolver: Option<&'a str>,
    connect_to: Option<&'a str>,
}

/// A monitor to create (without `monitorid`) or to change. Fields may also be sent in the
/// form in which they are returned.
#[derive(ToSchema)]
#[schema(as = SaveMonitor)]
#[expect(dead_code, reason = "only its schema is used")]
pub(crate) struct SaveMonitor {
    monitorid: Option<String>,
    /// The `revision` that the change is based on; 409 if it is not the stored one.
    expected_revision: Option<i64>,
    /// Required for a new monitor.
    r#type: Option<KnownMonitorType>,
    /// Required for a new monitor.
    #[schema(min_length = 1, max_length = 255)]
    name: Option<String>,
    /// Seconds between checks; required for a new monitor, except for groups (30) and with
    /// `api.schedule`. At most 2592000, for api 31536000.
    #[schema(minimum = 1, maximum = 31536000)]
    heartbeat_interval: Option<u32>,
    /// Required for a new monitor.
    isactive: Option<bool>,
    /// Inverts up and down; required for a new monitor, except for groups (false).
    upside_down_mode: Option<bool>,
    /// Comma-separated ids, an array of ids, or an array of objects with `notifierid`. A new
    /// monitor without this field gets the team's default notifiers.
    #[schema(value_type = Option<TextOrList>)]
    notifiers: (),
    /// The monitors it depends on, at most 20: comma-separated ids, an array of ids, or an array
    /// of objects with `monitorid` and `as` (service or path; service by default).
    #[schema(value_type = Option<TextOrList>)]
    depends_on: (),
    /// From how many outages within `flap_within` it is reported as flapping instead; 0 (the
    /// default) for never, or 2 to 100.
    #[schema(minimum = 0, maximum = 100)]
    flap_outages: Option<u32>,
    /// Seconds; 3600 unless set.
    #[schema(minimum = 10, maximum = 604800)]
    flap_within: Option<u32>,
    /// Comma-separated tags, or an array of strings.
    #[schema(value_type = Option<TextOrList>)]
    tags: (),
    /// For dns, domain, ping, tcp and tls.
    hostname: Option<String>,
    /// For tcp, for dns if it is not 53, and for tls if it is not 443; for ping it is stored but
    /// not used.
    #[schema(value_type = Option<TextOrNumber>)]
    port: (),
    http: Option<SaveHttp>,
    dns: Option<SaveDns>,
    ping: Option<SavePing>,
    tls: Option<SaveTls>,
    domain: Option<SaveDomain>,
    group: Option<SaveGroup>,
    api: Option<SaveApi>,
    /// The address family of the connection, for http, ping, tcp and tls: any (the default), 4, 6,
    /// or both, which checks over each; a failure of only one is a warning.
    #[schema(value_type = Option<IpFamily>)]
    ip_family: (),
    /// For the same types: `ip` or `ip:port` of a name server to query instead of the resolvers of
    /// the system; an empty string removes it.
    resolver: Option<String>,
    /// For the same types: a name or an address to connect to instead of the target, whose name is
    /// still sent; an empty string removes it.
    connect_to: Option<String>,
    /// What it is for, at most 2,000 characters.
    #[schema(max_length = 2000)]
    description: Option<String>,
    /// Seconds that a check may take; 0 for the default, 80 % of the interval.
    timeout: Option<u32>,
    /// The number of re-checks that confirm a failure.
    retries: Option<u16>,
    /// Seconds between re-checks; 0 for the default.
    retry_interval: Option<u32>,
    /// Seconds between reminders while the monitor is down; 0 for none.
    resend_interval: Option<u32>,
    /// How urgent its alerts are; critical unless set.
    #[schema(value_type = Option<Severity>)]
    severity: (),
    /// The escalation policy of its outages; empty for none.
    policyid: Option<String>,
    /// For api: seconds by which a report may be late.
    grace: Option<u32>,
    /// The regions it is checked from: comma-separated names, or an array; empty for `local`.
    #[schema(value_type = Option<TextOrList>)]
    regions: (),
    /// How many regions must agree before it counts as down: any, majority (the
    /// default), all or a number.
    #[schema(value_type = Option<TextOrNumber>)]
    quorum: (),
    /// What the result of a check must be like, at most 20. For every type except api and group.
    assertions: Option<Vec<SaveAssertion>>,
    /// How much of what failing checks see is stored; full unless set.
    #[schema(value_type = Option<EvidenceLevel>)]
    evidence: (),
    degraded: Option<SaveDegraded>,
    slo: Option<SaveSlo>,
}

// Settings that do not belong to the type are null. The password is never returned; headers,
// body and the push URL are.
#[derive(Serialize, ToSchema)]
#[schema(as = Monitor)]
pub(crate) struct MonitorBody<'a> {
    #[schema(value_type = String, format = Uuid)]
    monitorid: MonitorId,
    #[schema(value_type = MonitorType)]
    r#type: &'static str,
    isactive: bool,
    name: &'a str,
    http: Option<HttpBody<'a>>,
    dns: Option<DnsBody<'a>>,
    ping: Option<PingBody>,
    tls: Option<TlsBody<'a>>,
    domain: Option<DomainBody<'a>>,
    hostname: Option<&'a str>,
    port: Option<String>,
    /// Over which address family it connects; null for types that do not connect to a target.
    #[schema(value_type = Option<IpFamily>)]
    ip_family: Option<&'static str>,
    /// The name server to query instead of the resolvers of the system.
    resolver: Option<&'a str>,
    /// What to connect to instead of the target.
    connect_to: Option<&'a str>,
    notifiers: Vec<LinkedBody<'a>>,
    heartbeat_interval: u32,
    upside_down_mode: bool,
    tags: Vec<&'a str>,
    #[schema(value_type = MonitorStatus)]
    status: &'static str,
    /// The time of the last status change.
    #[schema(value_type = Option<String>, format = DateTime)]
    status_since: Option<Millis>,
    #[schema(value_type = Option<String>, format = DateTime)]
    last_check: Option<Millis>,
    last_message: &'a str,
    /// Why checks cannot be performed at present; absent if they can.
    #[serde(skip_serializing_if = "Option::is_none")]
    blocked: Option<&'a str>,
    /// Milliseconds; null if the last check measured none.
    load_time: Option<f64>,
    #[schema(value_type = String, format = DateTime)]
    created: Millis,
    #[schema(value_type = String, format = DateTime)]
    modified: Millis,
    /// Increases with every change of the settings; send it as `expected_revision` to
    /// have a save rejected if someone else has changed the monitor meanwhile.
    revision: i64,
    /// Seconds; null for the default.
    timeout: Option<u64>,
    retries: u16,
    /// Seconds; null for the default.
    retry_interval: Option<u64>,
    /// Seconds between reminders while the monitor is down; 0 for none.
    resend_interval: u64,
    /// How urgent its alerts are.
    #[schema(value_type = Severity)]
    severity: &'static str,
    /// The escalation policy of its outages; null if it has none.
    #[schema(value_type = Option<String>, format = Uuid)]
    policyid: Option<PolicyId>,
    /// Seconds; null for the default and for types other than api.
    grace: Option<u64>,
    /// The regions it is checked from; `local` is the node that owns the monitor.
    regions: Vec<&'a str>,
    /// How many regions must agree before it counts as down: any, majority, all or a number.
    #[schema(value_type = String)]
    quorum: Quorum,
    /// What the result of a check must be like.
    assertions: Vec<AssertionBody<'a>>,
    /// How much of what failing checks see is stored.
    #[schema(value_type = EvidenceLevel)]
    evidence: &'static str,
    /// When it counts as degraded although it is up; null if only its assertions say so.
    degraded: Option<DegradedBody>,
    /// How much of the time it should be up.
    slo: Option<SloBody>,
    /// The status, or degraded.
    #[schema(value_type = MonitorHealth)]
    health: &'static str,
    /// Since when it is degraded; null if it is not.
    #[schema(value_type = Option<String>, format = DateTime)]
    degraded_since: Option<Millis>,
    /// What is not as it should be.
    degraded_cause: Option<&'a str>,
    /// Why its checks fail at present, or why it is degraded; null if neither is the case.
    #[schema(value_type = Option<Reason>)]
    reason: Option<&'static str>,
    /// The URL with which the target reports its status; for type api only.
    push_url: Option<String>,
    /// The URL to which a job sends pings in the format of Healthchecks; for type api only.
    ping_url: Option<String>,
    /// For type api only: the schedule, and what pings mean.
    api: Option<ApiBody<'a>>,
    description: &'a str,
    /// The monitors it depends on.
    depends_on: Vec<DependencyBody>,
    /// The number of monitors that depend on it directly.
    dependents: usize,
    /// From how many outages within `flap_within` it counts as flapping; 0 for never.
    flap_outages: u32,
    /// Seconds.
    flap_within: u64,
    /// For type group only: the members, the rule, and how many members are up and down.
    group: Option<GroupBody>,
    /// The maintenance that covers the monitor; null if there is none.
    maintenance: Option<MaintenanceCoverBody>,
    /// True if secrets were removed, because the caller may not edit.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(nullable = false)]
    redacted: Option<bool>,
    /// Only in lists, for a monitor that this version of the service cannot read: it has no other
    /// fields but monitorid and name.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(nullable = false)]
    unreadable: Option<bool>,
}

impl<'a> MonitorBody<'a> {
    pub(crate) fn of(view: &'a MonitorView, public_url: &str) -> Self {
        let MonitorView { monitor, state, revision, maintenance, .. } = view;
        let spec = show(&monitor.spec);
        let SpecFields { http, dns, group, hostname, port, grace, ping, api, tls, domain, .. } =
            spec;
        let degradation = state.degradation();
        Self {
            monitorid: monitor.id,
            r#type: monitor.spec.kind().as_str(),
            isactive: monitor.isactive,
            name: monitor.name.as_str(),
            http,
            dns,
            ping,
            tls,
            domain,
            hostname,
            port,
            ip_family: spec.ip_family,
            resolver: spec.resolver,
            connect_to: spec.connect_to,
            notifiers: view.notifiers.iter().map(LinkedBody::of).collect(),
            heartbeat_interval: monitor.heartbeat_interval.seconds(),
            upside_down_mode: monitor.upside_down_mode,
            tags: monitor.tags.iter().collect(),
            status: state.status.as_str(),
            status_since: state.since,
            last_check: state.last_check,
            last_message: &state.last_message,
            blocked: blocked(monitor, state),
            load_time: state.load_time.map(millis),
            created: monitor.created,
            modified: monitor.modified,
            revision: *revision,
            timeout: monitor.timeout.map(|span| span.as_secs()),
            regions: monitor.regions.iter().map(Region::as_str).collect(),
            quorum: monitor.quorum,
            assertions: monitor.assertions.iter().map(AssertionBody::of).collect(),
            evidence: monitor.evidence.as_str(),
            degraded: monitor.degraded.as_deref().map(DegradedBody::of),
            slo: monitor.slo.as_ref().map(SloBody::of),
            health: state.health().as_str(),
            degraded_since: degradation.map(|one| one.since),
            degraded_cause: degradation.map(|one| one.cause.as_str()),
            reason: (state.failing.as_ref().and_then(|failing| failing.reason))
                .or(degradation.map(|one| one.reason))
                .map(reason::Reason::as_str),
            retries: monitor.retries,
            retry_interval: monitor.retry_interval.map(|span| span.as_secs()),
            resend_interval: monitor.resend_interval.map_or(0, |span| span.as_secs()),
            severity: monitor.severity.as_str(),
            policyid: monitor.policy,
            grace,
            push_url: monitor.push_token.as_ref().map(|token| push_url(public_url, token)),
            ping_url: (monitor.ping_uuid.as_ref())
                .filter(|_| monitor.spec.kind() == Kind::Api)
                .map(|uuid| ping_url(public_url, uuid)),
            api,
            description: monitor.description.as_str(),
            depends_on: monitor.depends_on.iter().map(DependencyBody::of).collect(),
            dependents: view.dependents,
            flap_outages: monitor.flapping.outages,
            flap_within: monitor.flapping.within.as_secs(),
            group: group.map(|group| {
                GroupBody::of(group, view.group.unwrap_or_default(), &view.hidden_members)
            }),
            maintenance: maintenance.as_ref().map(MaintenanceCoverBody::of),
            redacted: view.redacted.then_some(true),
            unreadable: None,
        }
    }

    /// Appends it as JSON: the same bytes as those of `Serialize`.
    pub(crate) fn append_to(&self, text: &mut Vec<u8>) {
        append_object!(
            text,
            self,
            MonitorBody {
                value monitorid,
                value r#type,
                value isactive,
                value name,
                http_body http,
                nullable dns,
                nullable ping,
                nullable tls,
                nullable domain,
                nullable hostname,
                nullable port,
                nullable ip_family,
                nullable resolver,
                nullable connect_to,
                value notifiers,
                value heartbeat_interval,
                value upside_down_mode,
                value tags,
                value status,
                nullable status_since,
                nullable last_check,
                value last_message,
                present blocked,
                nullable load_time,
                value created,
                value modified,
                value revision,
                nullable timeout,
                value retries,
                nullable retry_interval,
                value resend_interval,
                value severity,
                nullable policyid,
                nullable grace,
                value regions,
                value quorum,
                value assertions,
                value evidence,
                nullable degraded,
                nullable slo,
                value health,
                nullable degraded_since,
                nullable degraded_cause,
                nullable reason,
                nullable push_url,
                nullable ping_url,
                nullable api,
                value description,
                value depends_on,
                value dependents,
                value flap_outages,
                value flap_within,
                nullable group,
                nullable maintenance,
                present redacted,
                present unreadable,
            }
        );
    }
}

/// A monitor that another one depends on.
#[derive(Serialize, ToSchema)]
#[schema(as = Dependency)]
pub(crate) struct DependencyBody {
    #[schema(value_type = String, format = Uuid)]
    monitorid: MonitorId,
    #[schema(value_type = DependencyKind)]
    r#as: &'static str,
}

impl DependencyBody {
    fn of(dependency: &Dependency) -> Self {
        Self { monitorid: dependency.parent, r#as: dependency.kind.as_str() }
    }
}

/// A maintenance window that covers a monitor.
#[derive(Serialize, ToSchema)]
#[schema(as = MaintenanceCover)]
pub(crate) struct MaintenanceCoverBody {
    #[schema(value_type = String, format = Uuid)]
    maintenanceid: MaintenanceId,
    name: String,
    /// When no window covers the monitor any more; null until one is ended.
    #[schema(value_type = Option<String>, format = DateTime)]
    until: Option<Millis>,
}

impl MaintenanceCoverBody {
    fn of(cover: &ShownCover) -> Self {
        let ShownCover { window, until } = cover;
        Self { maintenanceid: window.id, name: window.name.clone(), until: *until }
    }
}

#[derive(Serialize, ToSchema)]
#[schema(as = LinkedNotifier)]
pub(crate) struct LinkedBody<'a> {
    #[schema(value_type = String, format = Uuid)]
    notifierid: NotifierId,
    name: &'a str,
    #[schema(value_type = NotifierType)]
    r#type: &'a str,
}

impl<'a> LinkedBody<'a> {
    fn of(linked: &'a LinkedNotifier) -> Self {
        Self { notifierid: linked.id, name: &linked.name, r#type: &linked.kind }
    }
}
