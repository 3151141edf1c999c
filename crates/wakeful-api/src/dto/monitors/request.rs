//! Reads a monitor to be saved. When a stored monitor is changed, omitted fields retain
//! their values; the settings of a new type must be complete.

use std::time::Duration;
use utoipa::ToSchema;
use wakeful_core::Invalid;
use wakeful_core::dependency::{Dependency, DependencyKind, MAX_PARENTS};
use wakeful_core::evidence::EvidenceLevel;
use wakeful_core::flapping::{self, FlapLimit};
use wakeful_core::id::{MonitorId, NotifierId, PolicyId};
use wakeful_core::monitors::spec::{Hostname, Kind, Spec, port};
use wakeful_core::monitors::{
    DEFAULT_RETRIES, Description, Interval, MAX_NOTIFIERS, Monitor, Name, Tags, timing,
};
use wakeful_core::region::{Quorum, Regions};
use wakeful_core::severity::Severity;
use wakeful_core::verdict::Health;
use wakeful_engine::MonitorDraft;

use super::{assertions, health};
use crate::dto::Fields;

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
pub(crate) enum TextOrNumber {
    Text(String),
    Number(u16),
}

/// The stored monitor with the sent fields applied; `None` if some are invalid.
pub(crate) fn draft(fields: &mut Fields, stored: Option<&Monitor>) -> Option<MonitorDraft> {
    let spec = spec(fields, stored);
    let name = fields.optional("name", Name::parse);
    let name = name.or_else(|| stored.map(|old| old.name.clone()));
    let name = fields.require("name", name);
    // Also if its settings are invalid.
    let kind = fields.optional("type", Kind::parse);
    let is_group = kind.or(stored.map(|old| old.spec.kind())) == Some(Kind::Group);
    let interval = interval(fields, stored, kind, spec.as_ref());
    let interval = interval.or_else(|| is_group.then_some(Interval::DEFAULT_OF_GROUPS));
    let interval = fields.require("heartbeat_interval", interval);
    let isactive = fields.optional_flag("isactive").or(stored.map(|old| old.isactive));
    let isactive = fields.require("isactive", isactive);
    let upside_down = fields.optional_flag("upside_down_mode");
    let upside_down = upside_down.or(stored.map(|old| old.upside_down_mode));
    let upside_down = upside_down.or(is_group.then_some(false));
    let upside_down = fields.require("upside_down_mode", upside_down);
    let timeout = span(fields, "timeout", timing::timeout, stored.and_then(|old| old.timeout));
    let previous = stored.and_then(|old| old.retry_interval);
    let retry_interval = span(fields, "retry_interval", timing::retry_interval, previous);
    let previous = stored.and_then(|old| old.resend_interval);
    let resend_interval = span(fields, "resend_interval", timing::resend_interval, previous);
    let severity = fields.optional("severity", Severity::parse);
    let severity = severity.or(stored.map(|old| old.severity)).unwrap_or_default();
    let policy = policy(fields, stored);
    let retries = fields.optional_number("retries", timing::retries);
    let tags = fields.optional_items("tags", None);
    let tags = tags.and_then(|tags| fields.accept("tags", Tags::of(texts(&tags))));
    let notifiers = notifiers(fields, "notifiers", MAX_NOTIFIERS);
    let regions = fields.optional_items("regions", None);
    let regions = regions.and_then(|names| fields.accept("regions", Regions::of(texts(&names))));
    if is_group && regions.as_ref().is_some_and(|regions: &Regions| !regions.only_local()) {
        fields.refuse("regions", "must be local for a group");
    }
    let old_regions = stored.map(|old| old.regions.clone()).filter(|_| !is_group);
    let regions = regions.or(old_regions).unwrap_or_default();
    let depends_on = depends_on(fields);
    let flapping = flapping(fields, stored);
    let quorum = quorum(fields, stored, &regions);
    let kind = kind.or(stored.map(|old| old.spec.kind()));
    let assertions = assertions::read(fields, stored, kind, upside_down.unwrap_or(false));
    let evidence = fields.optional("evidence", EvidenceLevel::parse);
    let evidence = evidence.or(stored.map(|old| old.evidence)).unwrap_or_default();
    let degraded = health::degraded(fields, stored, &regions);
    let slo = health::slo(fields, stored);
    let description = fields.optional("description", Description::parse);
    let description = description.or_else(|| stored.map(|old| old.description.clone()));
    let description = description.unwrap_or_default();
    Some(MonitorDraft {
        name: name?,
        spec: spec?,
        isactive: isactive?,
        heartbeat_interval: interval?,
        timeout,
        retries: retries.or(stored.map(|old| old.retries)).unwrap_or(DEFAULT_RETRIES),
        retry_interval,
        resend_interval,
        severity,
        policy,
        upside_down_mode: upside_down?,
        tags: tags.or(stored.map(|old| old.tags.clone())).unwrap_or_default(),
        notifiers,
        depends_on,
        flapping,
        regions,
        quorum,
        assertions,
        evidence,
        degraded,
        slo,
        description,
    })
}

/// The interval; with a schedule, it follows from that.
fn interval(
    fields: &mut Fields,
    stored: Option<&Monitor>,
    kind: Option<Kind>,
    spec: Option<&Spec>,
) -> Option<Interval> {
    let has_schedule = matches!(spec, Some(Spec::Api(api)) if api.schedule.is_some());
    let previous = stored.map(|old| old.heartbeat_interval);
    if has_schedule {
        return previous.or(Some(Interval::DEFAULT));
    }
    let is_api = kind.or(stored.map(|old| old.spec.kind())) == Some(Kind::Api);
    let is_domain = kind.or(stored.map(|old| old.spec.kind())) == Some(Kind::Domain);
    let parse = match () {
        () if is_api => Interval::of_api,
        () if is_domain => Interval::of_domain,
        () => Interval::new,
    };
    let sent = fields.optional_number("heartbeat_interval", parse);
    // That of another type may be too long.
    sent.or_else(|| fields.accept("heartbeat_interval", parse(previous?.seconds().into())))
}

/// The monitors that it depends on, each once.
fn depends_on(fields: &mut Fields) -> Option<Vec<Dependency>> {
    const FIELD: &str = "depends_on";
    let pairs = fields.optional_pairs(FIELD, "monitorid", "as")?;
    let mut parents: Vec<Dependency> = Vec::new();
    for (id, kind) in pairs.iter().filter(|(id, _)| !id.trim().is_empty()) {
        let parent = MonitorId::parse(id.trim());
        let parent = parent.ok_or_else(|| Invalid::new(format!("names an unknown monitor: {id}")));
        let parent = fields.accept(FIELD, parent)?;
        let kind = match kind.as_str() {
            "" => Ok(DependencyKind::default()),
            kind => DependencyKind::parse(kind),
        };
        let kind = fields.accept(FIELD, kind)?;
        if parents.iter().any(|one| one.parent == parent) {
            continue;
        }
        if parents.len() >= MAX_PARENTS {
            fields.refuse(FIELD, format!("must be at most {MAX_PARENTS} monitors"));
            return None;
        }
        parents.push(Dependency { parent, kind });
    }
    Some(parents)
}

fn flapping(fields: &mut Fields, stored: Option<&Monitor>) -> FlapLimit {
    let old = stored.map(|old| old.flapping).unwrap_or_default();
    let outages = fields.optional_number("flap_outages", flapping::outages);
    let within = fields.optional_number("flap_within", flapping::within);
    FlapLimit { outages: outages.unwrap_or(old.outages), within: within.unwrap_or(old.within) }
}

/// The escalation policy; an empty text removes it.
fn policy(fields: &mut Fields, stored: Option<&Monitor>) -> Option<PolicyId> {
    let sent = fields.optional("policyid", |text| match text.trim() {
        "" => Ok(None),
        text => PolicyId::parse(text)
            .map(Some)
            .ok_or_else(|| Invalid::new("names a policy that this team does not have")),
    });
    sent.unwrap_or_else(|| stored.and_then(|old| old.policy))
}

/// The status in the filter of a list.
pub(crate) fn parse_status(text: &str) -> Result<Health, Invalid> {
    let found = Health::ALL.iter().copied().find(|health| health.as_str() == text);
    found.ok_or_else(|| Invalid::new("must be pending, up, degraded or down"))
}

/// The revision that a change is based on.
pub(crate) fn revision(fields: &mut Fields) -> Option<i64> {
    fields.optional_number("expected_revision", |number| {
        i64::try_from(number).map_err(|_| Invalid::new("must be a whole number"))
    })
}

/// A number must not exceed the number of regions. A stored one that does, because there
/// are fewer regions now, means all of them.
fn quorum(fields: &mut Fields, stored: Option<&Monitor>, regions: &Regions) -> Quorum {
    let sent = fields.optional_text_or_number("quorum", Quorum::parse);
    match sent {
        Some(sent) => fields.accept("quorum", sent.among(regions)).unwrap_or_default(),
        None => {
            let previous = stored.map(|old| old.quorum).unwrap_or_default();
            previous.among(regions).unwrap_or(Quorum::All)
        }
    }
}

/// Seconds; 0 means the default, and an omitted value means the stored one.
fn span(
    fields: &mut Fields,
    field: &str,
    parse: impl FnOnce(u64) -> Result<Duration, Invalid>,
    previous: Option<Duration>,
) -> Option<Duration> {
    sent_span(fields, field, parse).unwrap_or(previous)
}

/// Seconds, if they are sent; `Some(None)` for 0.
pub(super) fn sent_span(
    fields: &mut Fields,
    field: &str,
    parse: impl FnOnce(u64) -> Result<Duration, Invalid>,
) -> Option<Option<Duration>> {
    fields.optional_number(field, |seconds| match seconds {
        0 => Ok(None),
        seconds => parse(seconds).map(Some),
    })
}

/// The timeout that checks of the monitor would have.
pub(crate) fn timeout(fields: &mut Fields, stored: Option<&Monitor>) -> Duration {
    let interval = fields.optional_number("heartbeat_interval", Interval::new);
    let interval = interval.or(stored.map(|old| old.heartbeat_interval));
    let set = span(fields, "timeout", timing::timeout, stored.and_then(|old| old.timeout));
    timing::effective_timeout(set, interval.unwrap_or(Interval::DEFAULT))
}

/// At most `max` distinct notifiers. A malformed id gets the same error as an unknown one.
pub(in crate::dto) fn notifiers(
    fields: &mut Fields,
    field: &str,
    max: usize,
) -> Option<Vec<NotifierId>> {
    let items = fields.optional_items(field, Some("notifierid"))?;
    let mut ids = Vec::new();
    for item in items.iter().map(|item| item.trim()).filter(|item| !item.is_empty()) {
        match NotifierId::parse(item) {
            Some(id) if ids.contains(&id) => {}
            Some(_) if ids.len() >= max => {
                fields.refuse(field, format!("must be at most {max} notifiers"));
                return None;
            }
            Some(id) => ids.push(id),
            None => {
                fields.refuse(field, "names a notifier that this team does not have");
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
    super::read(fields.require("type", kind)?, fields, old)
}

pub(super) fn hostname(fields: &mut Fields, old: Option<&Spec>) -> Option<Hostname> {
    let sent = fields.optional("hostname", Hostname::parse);
    let hostname = sent.or_else(|| old.and_then(Spec::hostname).cloned());
    fields.require("hostname", hostname)
}

/// An optional port; an empty one removes it.
pub(super) fn optional_port(fields: &mut Fields, old: Option<&Spec>) -> Option<u16> {
    let sent = fields.optional_text_or_number("port", |text| match text.trim() {
        "" => Ok(None),
        text => port(text).map(Some),
    });
    sent.unwrap_or_else(|| old.and_then(Spec::port))
}

/// Whether a stored password or other secret is deleted because the monitor now has another
/// server, and the request neither sets nor removes it.
pub(crate) fn drops_password(fields: &mut Fields, stored: &Monitor, draft: &MonitorDraft) -> bool {
    if stored.spec.kind() != draft.spec.kind() && draft.spec.http().is_none() {
        return false;
    }
    let (old, new) = (&stored.spec, &draft.spec);
    let password = (old.secret().is_some() && new.secret().is_none()).then_some("password");
    let kept = new.secrets();
    let lost = old.secrets().into_keys().filter(|path| !kept.contains_key(path));
    let object = if new.http().is_some() { "http" } else { "tls" };
    let mut lost = password.map(str::to_owned).into_iter().chain(lost);
    fields.within(object, |fields| {
        lost.any(|path| match path.split_once('.') {
            Some((object, field)) => !fields.within(object, |fields| fields.has(field)),
            None if path == "client_key" => !fields.has("client_certificate"),
            None => !fields.has(&path),
        })
    })
}

pub(super) fn texts(items: &[String]) -> impl Iterator<Item = &str> {
    items.iter().map(String::as_str)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::dto::monitors::MonitorBody;
    use serde_json::{Value, json};
    use wakeful_core::id::TeamId;
    use wakeful_core::time::Millis;
    use wakeful_core::verdict::State;
    use wakeful_engine::MonitorView;

    fn read(body: Value, stored: Option<&Monitor>) -> Result<MonitorDraft, Vec<String>> {
        let mut fields = Fields::of(body).expect("an object");
        let read = draft(&mut fields, stored);
        fields.finish(read).map_err(|error| error.field_names())
    }

    fn view(monitor: &Monitor) -> MonitorView {
        MonitorView {
            monitor: monitor.clone(),
            state: State::default(),
            revision: 1,
            notifiers: Vec::new(),
            dependents: 0,
            group: None,
            hidden_members: Default::default(),
            maintenance: None,
            redacted: false,
            unreadable: false,
        }
    }

    fn shown(monitor: &Monitor) -> Value {
        serde_json::to_value(MonitorBody::of(&view(monitor), "http://x")).unwrap()
    }

    fn stored(draft: MonitorDraft) -> Monitor {
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
            severity: draft.severity,
            policy: draft.policy,
            upside_down_mode: draft.upside_down_mode,
            tags: draft.tags,
            notifiers: draft.notifiers.unwrap_or_default(),
            depends_on: draft.depends_on.unwrap_or_default(),
            flapping: draft.flapping,
            regions: draft.regions,
            quorum: draft.quorum,
            assertions: draft.assertions,
            evidence: draft.evidence,
            degraded: draft.degraded,
            slo: draft.slo,
            push_token: None,
            ping_uuid: None,
            description: draft.description,
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

    /// Monitors of each type, in the form of the reference.
    fn examples() -> Vec<Value> {
        let examples: Vec<Value> =
            Kind::ALL.iter().flat_map(|kind| super::super::examples(*kind)).collect();
        examples.iter().map(with).collect()
    }

    #[test]
    fn a_returned_monitor_can_be_sent_back_and_changes_nothing() {
        for body in examples() {
            let monitor = stored(read(body.clone(), None).expect("good"));
            let draft = read(shown(&monitor), Some(&monitor)).expect("good");
            assert_eq!(stored(draft), monitor, "{body}");
        }
    }

    #[test]
    fn a_monitor_in_a_list_has_the_text_of_a_single_one() {
        for body in examples() {
            let plain = view(&stored(read(body, None).expect("good")));
            let state = State { blocked: true, last_message: "\"no\"".into(), ..State::default() };
            let full = MonitorView { state, redacted: true, ..plain.clone() };
            for view in [plain, full] {
                let body = MonitorBody::of(&view, "http://x");
                let mut listed = b"[".to_vec();
                body.append_to(&mut listed);
                let single = serde_json::to_string(&body).unwrap();
                assert_eq!(String::from_utf8(listed).unwrap(), format!("[{single}"));
            }
        }
    }

    #[test]
    fn omitted_fields_retain_their_values() {
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
    fn all_invalid_fields_are_reported_at_once() {
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
    fn a_new_type_requires_complete_settings() {
        let ping =
            stored(read(with(&json!({"type": "ping", "hostname": "x"})), None).expect("good"));
        assert_eq!(read(json!({"type": "tcp"}), Some(&ping)).expect_err("wrong"), ["port"]);
        assert_eq!(read(json!({"type": "http"}), Some(&ping)).expect_err("wrong"), ["http.url"]);
        assert!(read(json!({"type": "tcp", "port": "80"}), Some(&ping)).is_ok());
    }

    #[test]
    fn the_port_of_a_ping_is_stored_as_text_and_removed_when_it_is_empty() {
        let body = with(&json!({"type": "ping", "hostname": "x", "port": 80}));
        let ping = stored(read(body, None).expect("good"));
        assert_eq!(shown(&ping)["port"], "80");
        let port = |body| read(body, Some(&ping)).expect("good").spec.port();
        assert_eq!(port(json!({"name": "y"})), Some(80));
        assert_eq!(port(json!({"port": ""})), None);
    }

    #[test]
    fn accepted_codes_may_be_text_a_number_or_an_array_of_both() {
        for (sent, expected) in [
            (json!("200-299, 301"), json!(["200-299", "301"])),
            (json!(200), json!(["200"])),
            (json!([200]), json!(["200"])),
            (json!(["200-299", 301]), json!(["200-299", "301"])),
        ] {
            let http = json!({"url": "http://x", "accepted_status_codes": sent});
            let monitor =
                stored(read(with(&json!({"type": "http", "http": http})), None).expect("good"));
            let http = shown(&monitor)["http"].clone();
            assert_eq!(http["accepted_status_codes"], expected);
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
            assert_eq!(read(body, None).expect("good").notifiers, Some(vec![a, b]));
        }
    }

    #[test]
    fn dependencies_may_be_text_ids_or_objects() {
        let id = |number| MonitorId::new(Millis(number), [1; 10]);
        let (a, b) = (id(1), id(2));
        let depends_on = |sent: Value| {
            let body = with(&json!({"type": "ping", "hostname": "x", "depends_on": sent}));
            read(body, None).map(|draft| draft.depends_on.expect("sent"))
        };
        let parent = |parent, kind| Dependency { parent, kind };
        let service = |id| parent(id, DependencyKind::Service);
        for sent in [
            json!(format!("{a}, {b},{a}")),
            json!([a.to_string(), b.to_string()]),
            json!([{"monitorid": a.to_string()}, {"monitorid": b.to_string(), "as": "service"}]),
        ] {
            assert_eq!(depends_on(sent), Ok(vec![service(a), service(b)]));
        }
        let path = json!([{"monitorid": a.to_string(), "as": "path"}]);
        assert_eq!(depends_on(path), Ok(vec![parent(a, DependencyKind::Path)]));
        assert_eq!(depends_on(json!("")), Ok(Vec::new()));
        let many = |count| (0..count).map(|number| id(number).to_string()).collect::<Vec<_>>();
        assert_eq!(depends_on(json!(many(20))).map(|all| all.len()), Ok(20));
        for wrong in [
            json!(many(21)),
            json!("nothing"),
            json!([{"monitorid": a.to_string(), "as": "friend"}]),
            json!([{"monitorid": a.to_string(), "as": 1}]),
            json!({"monitorid": a.to_string()}),
        ] {
            assert_eq!(depends_on(wrong), Err(vec!["depends_on".to_owned()]));
        }
    }

    #[test]
    fn the_limit_of_flapping_has_a_range() {
        let ping = |extra: Value| {
            let mut body = with(&json!({"type": "ping", "hostname": "x"}));
            body.as_object_mut().unwrap().extend(extra.as_object().unwrap().clone());
            read(body, None).map(|draft| (draft.flapping.outages, draft.flapping.within.as_secs()))
        };
        assert_eq!(ping(json!({})), Ok((0, 3_600)));
        assert_eq!(ping(json!({"flap_outages": 4, "flap_within": 600})), Ok((4, 600)));
        let wrong = json!({"flap_outages": 1, "flap_within": 9});
        assert_eq!(ping(wrong), Err(vec!["flap_outages".to_owned(), "flap_within".to_owned()]));
    }

    #[test]
    fn a_group_is_local_and_has_defaults() {
        let group = |extra: Value| {
            let mut body =
                json!({"type": "group", "name": "g", "isactive": true, "group": {"tags": "a"}});
            body.as_object_mut().unwrap().extend(extra.as_object().unwrap().clone());
            read(body, None).map(|draft| draft.heartbeat_interval.seconds())
        };
        assert_eq!(group(json!({})), Ok(30));
        assert_eq!(group(json!({"regions": "eu-west"})), Err(vec!["regions".to_owned()]));
        let wrong = json!({"group": {"rule": "some", "weights": {"x": 1}}});
        let expected = ["group.monitors", "group.rule", "group.weights"].map(str::to_owned);
        assert_eq!(group(wrong), Err(expected.to_vec()));
    }

    #[test]
    fn a_monitor_has_at_most_a_hundred_notifiers() {
        let ids = |count: u8| -> Vec<String> {
            (0..count).map(|number| NotifierId::new(Millis(1), [number; 10]).to_string()).collect()
        };
        let body = |count| with(&json!({"type": "ping", "hostname": "x", "notifiers": ids(count)}));
        assert_eq!(read(body(100), None).expect("good").notifiers.map(|all| all.len()), Some(100));
        assert!(read(body(101), None).is_err());
    }
}
