//! The OpenAPI document: the served and the committed one are the same.

use serde_json::{Value, json};
use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;
use wakeful_core::monitors::spec;
use wakeful_core::notifications::notifier;
use wakeful_testkit::both_databases;

/// Every path and method of the reference that concerns accounts.
const ACCOUNTS: &[&str] = &[
    "get /api/v1/authenticated",
    "post /api/v1/authenticated",
    "post /api/v1/settings/save",
    "get /api/v1/team/get",
    "post /api/v1/team/save",
    "post /api/v1/team/revoke",
    "post /api/v1/team/delete",
    "post /api/v1/login",
    "post /api/v1/logout",
    "post /api/v1/logoutall",
    "post /api/v1/signup",
    "get /api/v1/users/me",
    "post /api/v1/user/delete",
    "delete /api/v1/user/delete",
    "post /api/v1/password/lost",
    "post /api/v1/password/update",
    "post /api/v1/contactus",
    "get /api/v1/integrations/apikeys",
    "post /api/v1/integrations/apikey/save",
    "delete /api/v1/integrations/apikey/{apikeyid}/delete",
    "post /api/v1/mfa/setup",
    "post /api/v1/mfa/enable",
    "post /api/v1/mfa/disable",
];

fn operations(document: &Value) -> Vec<(String, Value)> {
    let paths = document["paths"].as_object().unwrap();
    let of_path = |(path, item): (&String, &Value)| {
        let item = item.as_object().unwrap().clone();
        let path = path.clone();
        item.into_iter().map(move |(method, operation)| (format!("{method} {path}"), operation))
    };
    paths.iter().flat_map(of_path).collect()
}

fn document() -> Value {
    serde_json::to_value(wakeful_api::document()).unwrap()
}

/// The document as it is committed. The extensions of an operation have no order of their own.
fn text() -> String {
    let json = wakeful_api::document().to_pretty_json().unwrap();
    let mut lines: Vec<&str> = json.lines().map(|line| line.trim_end_matches(',')).collect();
    let with_comma: Vec<bool> = json.lines().map(|line| line.ends_with(',')).collect();
    let is_extension = |line: &&str| line.trim_start().starts_with("\"x-wakeful-");
    lines.chunk_by_mut(|a, b| is_extension(a) && is_extension(b)).for_each(<[&str]>::sort_unstable);
    let comma = |with: bool| if with { ",\n" } else { "\n" };
    lines.iter().zip(with_comma).map(|(line, with)| format!("{line}{}", comma(with))).collect()
}

#[test]
fn the_committed_document_matches_the_handlers() {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/openapi.json");
    let current = text();
    if std::env::var_os("WAKEFUL_UPDATE").is_some() {
        std::fs::write(&path, &current).unwrap();
    }
    let committed = std::fs::read_to_string(&path).unwrap_or_default();
    assert!(
        committed == current,
        "docs/openapi.json is not what the handlers say: renew it with \
         `WAKEFUL_UPDATE=1 cargo nextest run -p wakeful-api openapi` and read the diff"
    );
}

#[test]
fn the_document_is_openapi_3_1_and_has_every_account_path() {
    let document = document();
    assert!(document["openapi"].as_str().unwrap().starts_with("3.1."), "{}", document["openapi"]);
    let have: BTreeSet<String> = operations(&document).into_iter().map(|(name, _)| name).collect();
    for name in ACCOUNTS {
        assert!(have.contains(*name), "{name} is missing");
    }
}

#[test]
fn every_operation_has_a_unique_id_and_describes_its_errors() {
    let document = document();
    let mut ids = BTreeSet::new();
    for (name, operation) in operations(&document) {
        let id = operation["operationId"].as_str().unwrap().to_owned();
        assert!(ids.insert(id), "{name}: its operationId is taken");
        let answers = operation["responses"].as_object().unwrap();
        let mut expected = vec!["200", "413", "429", "431", "500", "503"];
        if operation.get("security").is_some() {
            expected.push("401");
        }
        if operation.get("requestBody").is_some() {
            expected.extend(["400", "415", "422"]);
        }
        for status in expected {
            assert!(answers.contains_key(status), "{name} does not describe {status}");
        }
        // Push URLs respond in their own format.
        if name.contains("/api/push/") {
            continue;
        }
        let errors = answers.iter().filter(|(status, _)| status.starts_with(['4', '5']));
        for (status, answer) in errors {
            let schema = &answer["content"]["application/json"]["schema"]["$ref"];
            assert_eq!(schema, "#/components/schemas/ErrorBody", "{name} {status}");
        }
    }
}

/// All enums of the document, by component.
fn enums(document: &Value) -> BTreeMap<String, BTreeSet<String>> {
    let schemas = document["components"]["schemas"].as_object().unwrap();
    let values = |schema: &Value| {
        let values = schema["enum"].as_array()?;
        Some(values.iter().map(|value| value.as_str().unwrap().to_owned()).collect())
    };
    schemas.iter().filter_map(|(name, schema)| Some((name.clone(), values(schema)?))).collect()
}

#[test]
fn closed_sets_are_enums_with_the_values_of_the_domain() {
    let document = document();
    let enums = enums(&document);
    for (name, values) in [
        ("MonitorStatus", &["pending", "up", "down"][..]),
        ("HeartbeatStatus", &["up", "down", "unknown"]),
        ("ReportStatus", &["up", "degraded", "down"]),
        ("DeliveryState", &["waiting", "delivered", "failed"]),
        ("AlertKind", &["outage", "certificate", "domain", "flapping", "degraded", "change"]),
        ("MembershipState", &["none", "active", "cancelled", "past_due"]),
        ("InvoiceState", &["open", "paid", "void"]),
        ("PaymentMethodType", &["credit card"]),
        ("StatsPeriod", &["24h", "7d", "30d", "90d", "365d"]),
    ] {
        let values: BTreeSet<String> = values.iter().map(|&value| value.to_owned()).collect();
        assert_eq!(enums.get(name), Some(&values), "{name}");
    }
    let set = |names: &mut dyn Iterator<Item = &str>| names.map(str::to_owned).collect();
    let kinds: BTreeSet<String> = set(&mut spec::Kind::ALL.iter().map(|kind| kind.as_str()));
    assert_eq!(enums["KnownMonitorType"], kinds);
    let kinds: BTreeSet<String> = set(&mut notifier::Kind::ALL.iter().map(|kind| kind.as_str()));
    assert_eq!(enums["KnownNotifierType"], kinds);
    assert!(enums["KnownEventType"].contains("monitor.reminder"));
    assert!(enums["KnownErrorCode"].contains("card_declined"), "declines are codes, too");
}

#[test]
fn responses_accept_later_values_of_sets_that_grow_and_requests_do_not() {
    let document = document();
    let schemas = &document["components"]["schemas"];
    for name in ["ErrorCode", "EventType", "MonitorType", "NotifierType", "WebhookTemplate"] {
        let known = format!("#/components/schemas/Known{name}");
        assert_eq!(schemas[name]["anyOf"], json!([{"$ref": known}, {"type": "string"}]), "{name}");
    }
    let field = |schema: &str, field: &str| schemas[schema]["properties"][field].to_string();
    assert!(field("Monitor", "type").contains("schemas/MonitorType"));
    assert!(field("SaveMonitor", "type").contains("schemas/KnownMonitorType"));
    assert!(field("NotifierDelivery", "type").contains("schemas/EventType"));
    assert!(field("PreviewNotifier", "event").contains("schemas/KnownEventType"));
    assert!(field("ErrorBody", "code").contains("schemas/ErrorCode"));
}

#[test]
fn every_reference_of_the_document_has_a_target() {
    fn references(value: &Value, found: &mut BTreeSet<String>) {
        match value {
            Value::Object(fields) => {
                found.extend(fields.get("$ref").and_then(Value::as_str).map(str::to_owned));
                fields.values().for_each(|value| references(value, found));
            }
            Value::Array(items) => items.iter().for_each(|item| references(item, found)),
            _ => {}
        }
    }
    let document = document();
    let mut found = BTreeSet::new();
    references(&document, &mut found);
    for reference in found {
        let target = document.pointer(reference.trim_start_matches('#'));
        assert!(target.is_some(), "{reference} does not exist");
    }
}

both_databases! {
    async fn the_served_document_is_the_same(setup: Setup) {
        let app = setup.start().await;
        let answer = app.anonymous().get("/api/openapi.json").await;
        assert_eq!(answer.status, 200);
        assert_eq!(answer.header("content-type"), "application/json");
        assert_eq!(answer.json(), document());
    }
}
