//! The formats of status pages, read by the programs that others read them with.

use serde_json::{Value, json};
use std::io::Write as _;
use std::path::Path;
use std::process::{Command, Stdio};
use std::time::Duration;
use wakeful_testkit::{DatabaseKind, Setup, until};

/// Reads the documents by name, and prints what they contain.
const READER: &str = r#"
import json, sys
import feedparser, icalendar, jsonschema_rs

documents = json.load(sys.stdin)
found = {}
for name, text in documents.items():
    if name.endswith((".atom", ".rss")):
        feed = feedparser.parse(text.encode())
        assert not feed.bozo, (name, feed.get("bozo_exception"))
        assert feed.version in ("atom10", "rss20"), (name, feed.version)
        for entry in feed.entries:
            assert entry.id and entry.title and entry.link, (name, entry)
            assert entry.get("published_parsed") or entry.get("updated_parsed"), (name, entry)
        ids = [entry.id for entry in feed.entries]
        assert len(ids) == len(set(ids)), (name, ids)
        found[name] = [entry.title for entry in feed.entries]
    elif name.endswith(".ics"):
        calendar = icalendar.Calendar.from_ical(text)
        events = list(calendar.walk("VEVENT"))
        for event in events:
            assert event["UID"] and event["DTSTAMP"] and event.decoded("DTEND") > event.decoded("DTSTART")
            assert not event.errors, event.errors
        found[name] = [str(event["SUMMARY"]) for event in events]
    else:
        schema, value = json.loads(text)
        jsonschema_rs.validator_for(schema).validate(value)
        found[name] = True
print(json.dumps(found))
"#;

fn text() -> Value {
    json!({"type": "string"})
}

fn maybe_text() -> Value {
    json!({"type": ["string", "null"]})
}

/// An object with exactly these fields.
fn object(fields: &[(&str, Value)]) -> Value {
    let names: Vec<&str> = fields.iter().map(|(name, _)| *name).collect();
    let fields: serde_json::Map<String, Value> =
        fields.iter().map(|(name, schema)| ((*name).to_owned(), schema.clone())).collect();
    json!({"type": "object", "properties": fields, "required": names, "additionalProperties": false})
}

fn list(of: &Value) -> Value {
    json!({"type": "array", "items": of, "minItems": 1})
}

/// The endpoint format of shields.io.
fn shields() -> Value {
    json!({"type": "object", "required": ["schemaVersion", "label", "message"],
        "additionalProperties": false,
        "properties": {"schemaVersion": {"const": 1}, "label": text(), "message": {"type": "string", "minLength": 1},
            "color": text(), "labelColor": text(), "isError": {"type": "boolean"}}})
}

/// JSON Feed 1.1.
fn json_feed() -> Value {
    let item = json!({"type": "object", "required": ["id"],
        "anyOf": [{"required": ["content_html"]}, {"required": ["content_text"]}],
        "properties": {"id": text(), "url": {"type": "string", "pattern": "^https?://"}, "title": text(),
            "content_html": text(), "content_text": text(),
            "date_published": {"type": "string", "pattern": "^\\d{4}-\\d\\d-\\d\\dT[0-9:.]+Z$"}}});
    json!({"type": "object", "required": ["version", "title", "items"],
        "properties": {"version": {"const": "https://jsonfeed.org/version/1.1"}, "title": text(),
            "home_page_url": text(), "feed_url": text(), "language": text(), "items": list(&item)}})
}

/// The summary of Statuspage, with every field that clients know.
fn summary() -> Value {
    let bool = || json!({"type": "boolean"});
    let component = json!({"type": "object", "additionalProperties": false,
        "required": ["id", "name", "status", "created_at", "updated_at", "position", "description", "showcase",
            "start_date", "group_id", "page_id", "group", "only_show_if_degraded"],
        "properties": {"id": text(), "name": text(), "created_at": text(), "updated_at": text(),
            "status": {"enum": ["operational", "degraded_performance", "partial_outage", "major_outage", "under_maintenance"]},
            "position": {"type": "integer"}, "description": maybe_text(), "showcase": bool(),
            "start_date": maybe_text(), "group_id": maybe_text(), "page_id": text(), "group": bool(),
            "only_show_if_degraded": bool(), "components": list(&text())}});
    let affected = object(&[
        ("code", text()),
        ("name", text()),
        ("old_status", text()),
        ("new_status", text()),
    ]);
    let update = object(&[
        ("id", text()),
        ("status", text()),
        ("body", text()),
        ("incident_id", text()),
        ("created_at", text()),
        ("updated_at", text()),
        ("display_at", text()),
        ("affected_components", json!({"type": ["array", "null"], "items": affected})),
        ("deliver_notifications", bool()),
        ("custom_tweet", json!({"type": "null"})),
        ("tweet_id", json!({"type": "null"})),
    ]);
    let mut fields = vec![
        ("id", text()),
        ("name", text()),
        ("status", text()),
        ("created_at", text()),
        ("updated_at", text()),
        ("monitoring_at", maybe_text()),
        ("resolved_at", maybe_text()),
        ("impact", text()),
        ("shortlink", text()),
        ("started_at", text()),
        ("page_id", text()),
        ("incident_updates", list(&update)),
        ("components", list(&component)),
        ("reminder_intervals", json!({"type": "null"})),
    ];
    let incident = object(&fields);
    fields.extend([("scheduled_for", text()), ("scheduled_until", text())]);
    let maintenance = object(&fields);
    let page = object(&[
        ("id", text()),
        ("name", text()),
        ("url", text()),
        ("time_zone", text()),
        ("updated_at", text()),
    ]);
    let status = object(&[("indicator", text()), ("description", text())]);
    object(&[
        ("page", page),
        ("status", status),
        ("components", list(&component)),
        ("incidents", list(&incident)),
        ("scheduled_maintenances", list(&maintenance)),
    ])
}

/// What dashboards for Uptime Kuma read: the page, and its heartbeats.
fn kuma() -> (Value, Value) {
    let time = json!({"type": "string", "pattern": "^\\d{4}-\\d\\d-\\d\\d \\d\\d:\\d\\d:\\d\\d\\.\\d{3}$"});
    let monitor = json!({"type": "object", "required": ["id", "name", "type", "sendUrl"],
        "properties": {"id": text(), "name": text(), "sendUrl": {"type": "boolean"},
            "type": {"enum": ["group", "http", "keyword", "port", "ping", "dns", "push"]}}});
    let group = json!({"type": "object", "required": ["id", "name", "weight", "monitorList"],
        "properties": {"name": text(), "weight": {"type": "integer"}, "monitorList": list(&monitor)}});
    let incident = json!({"type": ["object", "null"], "required": ["id", "style", "title", "content", "pin", "createdDate"],
        "properties": {"style": {"enum": ["info", "warning", "danger"]}, "title": text(), "content": text(),
            "pin": {"const": true}, "createdDate": time, "lastUpdatedDate": time}});
    let window = json!({"type": "object", "required": ["id", "title", "description", "strategy", "active", "status", "timeslotList"],
        "properties": {"status": {"enum": ["scheduled", "under-maintenance"]},
            "timeslotList": list(&object(&[("startDate", time.clone()), ("endDate", time.clone())]))}});
    let config = json!({"type": "object",
        "required": ["slug", "title", "description", "icon", "theme", "published", "showTags", "customCSS", "footerText",
            "showPoweredBy", "showCertificateExpiry", "autoRefreshInterval"],
        "properties": {"slug": text(), "title": text(), "published": {"const": true}, "theme": {"enum": ["auto", "light", "dark"]}}});
    let page = object(&[
        ("config", config),
        ("incident", incident.clone()),
        ("incidents", list(&incident)),
        ("publicGroupList", list(&group)),
        ("maintenanceList", list(&window)),
    ]);
    let beat = object(&[
        ("status", json!({"enum": [0, 1, 2, 3]})),
        ("time", time),
        ("msg", json!({"const": ""})),
        ("ping", json!({"type": ["number", "null"]})),
    ]);
    let beats = json!({"type": "array", "items": beat, "minItems": 1, "maxItems": 50});
    let heartbeats = object(&[
        (
            "heartbeatList",
            json!({"type": "object", "minProperties": 1, "additionalProperties": beats}),
        ),
        (
            "uptimeList",
            json!({"type": "object", "propertyNames": {"pattern": "_24$"},
            "additionalProperties": {"type": "number", "minimum": 0, "maximum": 1}}),
        ),
    ]);
    (page, heartbeats)
}

#[tokio::test]
async fn feeds_calendars_and_json_are_what_their_readers_expect() {
    let app = Setup::on(DatabaseKind::Sqlite).start().await;
    let ann = app.sign_up("ann@example.com").await;
    let client = &ann.client;
    let page = json!({"name": "Acme & <Co>", "slug": "acme", "published": true,
        "sections": [{"name": "Core", "components": [{"name": "Shop"}]}]});
    let page = client.post("statuspage/save", &page).await.ok()["statuspage"].clone();
    let shop = &page["sections"][0]["components"][0]["componentid"];
    let at = |hours: u64| app.engine.now().after(Duration::from_secs(hours * 3_600)).to_string();
    for (title, status) in [("Slow & <odd> ]]>", "monitoring"), ("Over", "resolved")] {
        let body = json!({"title": title, "components": [{"componentid": shop, "status": "partial_outage"}],
            "update": {"body": "We *look*; \"it\" is `a < b`, über 日本.", "status": "investigating"}});
        let saved = client.post("incident/save", &body).await.ok()["incident"].clone();
        app.clock.advance(Duration::from_secs(60));
        let path = format!("incident/{}/update/save", saved["incidentid"].as_str().unwrap());
        client.post(&path, &json!({"status": status, "body": "Next"})).await.ok();
    }
    let planned = json!({"kind": "maintenance", "title": "Disks, new; ones", "components": [{"componentid": shop}],
        "scheduled_for": at(2), "scheduled_until": at(4), "update": {"body": format!("Line\n\n{}", "long ".repeat(40))}});
    client.post("incident/save", &planned).await.ok();
    let anonymous = app.anonymous();
    until("the page", || async {
        let index = anonymous.get("/status/acme/index.json").await;
        (index.status == 200
            && index.json()["maintenances"].as_array().is_some_and(|all| all.len() == 1)
            && index.text.contains("Over"))
        .then_some(())
    })
    .await;
    let mut documents = serde_json::Map::new();
    for name in ["feed.atom", "feed.rss", "rss", "history.atom", "history.rss", "maintenance.ics"] {
        let answer = anonymous.get(&format!("/status/acme/{name}")).await;
        let key = if name == "rss" { "short.rss" } else { name };
        documents.insert(key.to_owned(), Value::from(answer.text));
    }
    let (kuma_page, kuma_heartbeats) = kuma();
    for (name, path, schema) in [
        ("badge", "/status/acme/badge/status.json", shields()),
        ("component badge", "/status/acme/component/shop/badge/uptime/90d.json", shields()),
        ("feed", "/status/acme/feed.json", json_feed()),
        ("summary", "/status/acme/api/v2/summary.json", summary()),
        ("kuma page", "/api/status-page/acme", kuma_page),
        ("kuma heartbeats", "/api/status-page/heartbeat/acme", kuma_heartbeats),
    ] {
        let value = anonymous.get(path).await.json();
        documents.insert(name.to_owned(), json!([schema, value]).to_string().into());
    }
    let found = read(&Value::Object(documents));
    assert_eq!(
        found["feed.atom"].as_array().unwrap().len(),
        5,
        "an entry for each update: {found}"
    );
    assert_eq!(found["history.rss"].as_array().unwrap().len(), 3, "one for each incident: {found}");
    assert!(found["history.atom"].to_string().contains("Slow & <odd> ]]>"), "{found}");
    assert_eq!(found["maintenance.ics"], json!(["Acme & <Co>: Disks, new; ones"]));
}

fn read(documents: &Value) -> Value {
    python(READER, documents)
}

/// What a script prints about its input.
pub(crate) fn python(script: &str, input: &Value) -> Value {
    let python = concat!(env!("CARGO_MANIFEST_DIR"), "/../../target/venv/bin/python");
    assert!(Path::new(python).exists(), "{python} is missing: run scripts/install-test-deps");
    let mut child = Command::new(python)
        .args(["-c", script])
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    child.stdin.take().unwrap().write_all(input.to_string().as_bytes()).unwrap();
    let output = child.wait_with_output().unwrap();
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    serde_json::from_slice(&output.stdout).unwrap()
}
