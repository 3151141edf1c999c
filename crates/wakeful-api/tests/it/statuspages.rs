//! statuspage/…, component/…/status, incident/…: what is saved, and what pages then show.

use serde_json::{Value, json};
use std::sync::Arc;
use std::time::Duration;
use tokio_util::sync::CancellationToken;
use wakeful_core::statuspages::snapshot::{ComponentStatus, DayColor, Indicator, Snapshot, Uptime};
use wakeful_engine::alerting::maintenance_clock;
use wakeful_engine::history::compactor;
use wakeful_engine::statuspages::snapshots::Found;
use wakeful_engine::statuspages::{auto_incidents, maintenance};
use wakeful_testkit::{App, Client, DatabaseKind, Setup, User, both_databases, until};

use crate::every_route::UNKNOWN;

pub(crate) fn text(value: &Value) -> String {
    value.as_str().unwrap_or_else(|| panic!("no text: {value}")).to_owned()
}

/// A monitor that reports its status, and is up.
pub(crate) async fn job(client: &Client, name: &str, tags: &str) -> String {
    let body = json!({"type": "api", "name": name, "heartbeat_interval": 60, "isactive": true,
        "upside_down_mode": false, "tags": tags});
    let saved = client.post("monitor/save", &body).await.ok();
    let id = text(&saved["monitor"]["monitorid"]);
    report(client, &id, "up").await;
    id
}

pub(crate) async fn report(client: &Client, monitor: &str, status: &str) {
    client.post(&format!("monitor/notify/{monitor}"), &json!({"status": status})).await.ok();
}

/// What a page shows once it fulfils a condition.
pub(crate) async fn shown(
    app: &App,
    slug: &str,
    what: &str,
    is_so: impl Fn(&Snapshot) -> bool,
) -> Arc<Snapshot> {
    until(what, async || {
        let Found::Page(page) = app.engine.snapshots().by_slug(slug) else { return None };
        page.note_use(app.engine.now());
        page.snapshot().filter(|snapshot| is_so(snapshot))
    })
    .await
}

pub(crate) fn status(snapshot: &Snapshot, name: &str) -> ComponentStatus {
    let found = snapshot.components().find(|component| component.name.text == name);
    found.unwrap_or_else(|| panic!("no component {name}")).status
}

/// The invalid fields of a refused request.
fn fields(answer: &wakeful_testkit::Answer) -> Vec<String> {
    answer.refused(422, "invalid_fields");
    let errors = answer.json()["errors"].clone();
    errors.as_array().unwrap().iter().map(|error| text(&error["field"])).collect()
}

/// A published page with these components.
pub(crate) async fn page(ann: &User, components: Value) -> Value {
    let body = json!({"name": "Acme", "published": true, "sections": [{"components": components}]});
    ann.client.post("statuspage/save", &body).await.ok()["statuspage"].clone()
}

pub(crate) fn component(page: &Value, place: usize) -> String {
    text(&page["sections"][0]["components"][place]["componentid"])
}

both_databases! {
    async fn a_page_is_saved_partially_and_can_be_sent_back(setup: Setup) {
        let app = setup.start().await;
        let (ann, bob) = (app.sign_up("ann@example.com").await, app.sign_up("bob@example.com").await);
        let client = &ann.client;
        let (one, two) = (job(client, "one", "").await, job(client, "two", "web").await);
        let body = json!({"name": "Acme Inc.", "description": "**Hi**", "language": "de",
            "languages": ["en", "de"], "timezone": "europe/berlin", "texts": {"en": {"name": "Acme"}},
            "appearance": {"accent": "#0A6CFF", "links": [{"text": "Home", "url": "https://acme.example/"}]},
            "display": {"decimals": 2}, "allowed_networks": "10.1.2.3/8, 2001:db8::1",
            "domains": [{"domain": "Status.Acme.example", "primary": true}],
            "sections": [{"name": "Services", "components": [
                {"name": "API", "monitors": format!("{one},{two}"), "needs": 1, "alias": "api"},
                {"name": "Web", "tag": "web", "display": {"uptime": "no"}},
                {"name": "Phone", "own_status": "degraded_performance"}]}],
            "rules": [{"name": "outages", "after": 60}]});
        let saved = client.post("statuspage/save", &body).await.ok()["statuspage"].clone();
        assert_eq!(saved["slug"], "acme-inc");
        assert_eq!(saved["url"], "https://status.acme.example");
        assert_eq!(saved["timezone"], "Europe/Berlin");
        assert_eq!(saved["languages"], json!(["en"]));
        assert_eq!(saved["allowed_networks"], json!(["10.0.0.0/8", "2001:db8::1/128"]));
        assert_eq!(saved["appearance"]["accent"], "#0a6cff");
        assert_eq!((&saved["display"]["decimals"], &saved["display"]["history_days"]), (&json!(2), &json!(90)));
        let components = &saved["sections"][0]["components"];
        assert_eq!(components[0]["monitors"][1], json!({"monitorid": two, "name": "two"}));
        assert_eq!(components[0]["status"], "operational");
        assert_eq!(components[1]["status"], "operational", "by its tag");
        assert_eq!(components[2]["status"], "degraded_performance");
        assert_eq!(components[2]["uptime_from"], "incidents");
        let id = text(&saved["pageid"]);
        let path = format!("statuspage/{id}/get");
        assert_eq!(client.get(&path).await.ok()["statuspage"], saved);
        let again = client.post("statuspage/save", &saved).await.ok()["statuspage"].clone();
        assert_eq!(again, saved, "sent back unchanged");
        // One section moves a component, changes one and deletes one.
        let change = json!({"pageid": id, "display": {"bars": false}, "sections": [
            {"name": "New", "components": [{"componentid": component(&saved, 1), "name": "Site"}]},
            {"sectionid": saved["sections"][0]["sectionid"],
             "components": [{"componentid": component(&saved, 0)}]}]});
        let changed = client.post("statuspage/save", &change).await.ok()["statuspage"].clone();
        assert_eq!(changed["display"]["decimals"], 2);
        assert_eq!(changed["sections"][0]["components"][0]["tag"], "web");
        assert_eq!(changed["sections"][1]["name"], "Services");
        assert_eq!(changed["sections"][1]["components"][0]["needs"], "1");
        assert_eq!(changed["sections"][1]["components"].as_array().unwrap().len(), 1);
        // Nothing of another team, at any depth.
        let theirs = page(&bob, json!([{"name": "x"}])).await;
        for (body, field) in [
            (json!({"sections": [{"sectionid": theirs["sections"][0]["sectionid"]}]}), "sections.0.sectionid"),
            (json!({"sections": [{"components": [{"componentid": component(&theirs, 0)}]}]}), "sections.0.components.0.componentid"),
            (json!({"rules": [{"name": "x", "components": [component(&theirs, 0)]}]}), "rules.0.components"),
            (json!({"subscribe": {"sender": UNKNOWN}}), "subscribe.sender"),
        ] {
            let mut body = body;
            body["pageid"] = json!(id);
            assert_eq!(fields(&client.post("statuspage/save", &body).await), [field]);
        }
        let foreign = json!({"name": "x", "sections": [{}, {"components": [{"monitors": [one]}]}]});
        let refused = bob.client.post("statuspage/save", &foreign).await;
        assert_eq!(fields(&refused), ["sections.1.components.0.monitors"]);
        let slug = json!({"name": "x", "slug": "ACME-inc"});
        bob.client.post("statuspage/save", &slug).await.refused(409, "slug_taken");
        let domain = json!({"name": "x", "domains": [{"domain": "status.acme.example"}]});
        bob.client.post("statuspage/save", &domain).await.refused(409, "domain_taken");
        let other = json!({"name": "Acme Inc."});
        let other = bob.client.post("statuspage/save", &other).await.ok();
        assert_eq!(other["statuspage"]["slug"], "acme-inc-2");
        for _ in 0..10 {
            let another = bob.client.post("statuspage/save", &json!({"name": "Acme Inc."})).await.ok();
            assert!(text(&another["statuspage"]["slug"]).starts_with("acme-inc-"), "{another}");
        }
        // A deleted monitor leaves its components.
        for id in [&one, &two] {
            client.delete(&format!("monitor/{id}/delete")).await.ok();
        }
        let left = client.get(&path).await.ok()["statuspage"]["sections"].clone();
        assert_eq!(left[1]["components"][0]["monitors"], json!([]));
        assert_eq!(left[0]["components"][0]["status"], "unknown");
        client.delete(&format!("statuspage/{id}/delete")).await.ok();
        client.get(&path).await.refused(404, "not_found");
    }

    async fn a_component_that_has_lost_its_monitors_is_unknown_until_somebody_decides(setup: Setup) {
        let app = setup.start().await;
        let ann = app.sign_up("ann@example.com").await;
        let client = &ann.client;
        let (one, two) = (job(client, "one", "").await, job(client, "two", "").await);
        let saved = page(&ann, json!([{"name": "API", "monitors": [one]}, {"monitors": [one]},
            {"name": "Web", "monitors": [one, two]}, {"name": "Desk"}])).await;
        shown(&app, "acme", "a first snapshot", |now| status(now, "API") == ComponentStatus::Operational).await;
        client.delete(&format!("monitor/{one}/delete")).await.ok();
        let lost = shown(&app, "acme", "no status", |now| status(now, "API") == ComponentStatus::Unknown).await;
        assert_eq!(status(&lost, "one"), ComponentStatus::Unknown, "with the name of its monitor");
        for name in ["Web", "Desk"] {
            assert_eq!(status(&lost, name), ComponentStatus::Operational, "{name}");
        }
        let path = format!("statuspage/{}/get", text(&saved["pageid"]));
        let read = client.get(&path).await.ok()["statuspage"].clone();
        assert_eq!(read["sections"][0]["components"][0]["own_status"], json!(null));
        let again = client.post("statuspage/save", &read).await.ok()["statuspage"].clone();
        assert_eq!(again["sections"], read["sections"], "sent back unchanged");
        // A status, or other monitors, are a decision.
        let mut changed = read["sections"].clone();
        changed[0]["components"][0]["own_status"] = json!("operational");
        changed[0]["components"][1]["monitors"] = json!([two]);
        let body = json!({"pageid": saved["pageid"], "sections": changed});
        let decided = client.post("statuspage/save", &body).await.ok()["statuspage"].clone();
        let components = decided["sections"][0]["components"].clone();
        assert_eq!((&components[0]["status"], &components[1]["status"]), (&json!("operational"), &json!("operational")));
        // So is removing the monitors that are left.
        changed[0]["components"][2]["monitors"] = json!([]);
        let body = json!({"pageid": saved["pageid"], "sections": changed});
        let removed = client.post("statuspage/save", &body).await.ok()["statuspage"].clone();
        assert_eq!(removed["sections"][0]["components"][2]["status"], "operational");
    }

    async fn invalid_values_are_refused_with_their_path(setup: Setup) {
        let app = setup.start().await;
        let ann = app.sign_up("ann@example.com").await;
        let many: Vec<Value> = (0..51).map(|_| json!({})).collect();
        for (body, field) in [
            (json!({}), "name"),
            (json!({"name": "x", "slug": "api"}), "slug"),
            (json!({"name": "x", "language": "xx"}), "language"),
            (json!({"name": "x", "languages": ["de", "xx"]}), "languages"),
            (json!({"name": "x", "timezone": "Mars/Base"}), "timezone"),
            (json!({"name": "x", "allowed_networks": ["10.0.0.0/40"]}), "allowed_networks"),
            (json!({"name": "x", "access": "password"}), "password"),
            (json!({"name": "x", "access": "password", "password": "short"}), "password"),
            (json!({"name": "x", "appearance": {"accent": "red"}}), "appearance.accent"),
            (json!({"name": "x", "appearance": {"custom_css": "x".repeat(20_001)}}), "appearance.custom_css"),
            (json!({"name": "x", "appearance": {"links": [{"text": "a", "url": "javascript:1"}]}}), "appearance.links.0.url"),
            (json!({"name": "x", "appearance": {"custom_css": "@import 'x';"}}), "appearance.custom_css"),
            (json!({"name": "x", "display": {"history_days": 45}}), "display.history_days"),
            (json!({"name": "x", "shown_after": 3601}), "shown_after"),
            (json!({"name": "x", "embed_origins": ["x.com"]}), "embed_origins"),
            (json!({"name": "x", "domains": [{"domain": "10.0.0.1"}]}), "domains.0.domain"),
            (json!({"name": "x", "domains": [{"domain": "*.example.com"}]}), "domains.0.domain"),
            (json!({"name": "x", "texts": {"de": {"slug": "x"}}}), "texts"),
            (json!({"name": "x", "texts": {"xx": {"name": "x"}}}), "texts"),
            (json!({"name": "x", "texts": {"de": "x"}}), "texts.de"),
            (json!({"name": "x", "texts": {"de": {"name": 1}}}), "texts.de.name"),
            (json!({"name": "x", "texts": {"de": {"name": "x".repeat(256)}}}), "texts.de.name"),
            (json!({"name": "x", "texts": {"de": {"footer": "x".repeat(1_001)}}}), "texts.de.footer"),
            (json!({"name": "x", "sections": [{"texts": {"de": {"description": "x".repeat(2_001)}}}]}), "sections.0.texts.de.description"),
            (json!({"name": "x", "sections": [{"components": [{"name": "a", "texts": {"de": {"name": "x".repeat(256)}}}]}]}), "sections.0.components.0.texts.de.name"),
            (json!({"name": "x", "sections": many}), "sections"),
            (json!({"name": "x", "sections": [{"components": [{}]}]}), "sections.0.components.0.name"),
            (json!({"name": "x", "sections": [{"components": [{"name": "a", "needs": 0}]}]}), "sections.0.components.0.needs"),
            (json!({"name": "x", "sections": [{"components": [{"name": "a", "own_status": "unknown"}]}]}), "sections.0.components.0.own_status"),
            (json!({"name": "x", "sections": [{"components": [{"name": "a", "monitors": ["rubbish"]}]}]}), "sections.0.components.0.monitors"),
            (json!({"name": "x", "sections": [{"components": [{"name": "a", "alias": "b"}, {"name": "c", "alias": "b"}]}]}), "sections.0.components.1.alias"),
            (json!({"name": "x", "rules": [{"name": "r", "after": 10}]}), "rules.0.after"),
        ] {
            let refused = ann.client.post("statuspage/save", &body).await;
            assert_eq!(fields(&refused), [field], "{body}");
        }
        let saved = page(&ann, json!([{"name": "API"}])).await;
        let (id, component) = (text(&saved["pageid"]), component(&saved, 0));
        let image = format!("statuspage/{id}/image");
        for (body, field) in [
            (json!({"kind": "banner", "data": "iVBORw0KGgo="}), "kind"),
            (json!({"kind": "logo", "data": "aGVsbG8="}), "data"),
            (json!({"kind": "logo", "data": "%"}), "data"),
        ] {
            assert_eq!(fields(&ann.client.post(&image, &body).await), [field]);
        }
        let set = format!("component/{component}/status");
        for (body, field) in [
            (json!({"status": "unknown"}), "status"),
            (json!({"status": "operational", "until": "2020-01-01T00:00:00Z"}), "until"),
        ] {
            assert_eq!(fields(&ann.client.post(&set, &body).await), [field]);
        }
        let here = json!([{"componentid": component}]);
        let update = json!({"body": "x"});
        for (body, field) in [
            (json!({"title": "x", "update": update}), "components"),
            (json!({"title": "x", "components": here}), "update.body"),
            (json!({"components": here, "update": update}), "title"),
            (json!({"title": "x", "components": [{"componentid": UNKNOWN}], "update": update}), "components"),
            (json!({"title": "x", "pageids": [UNKNOWN], "update": update}), "pageids"),
            (json!({"title": "x", "components": here, "update": {"body": "x", "status": "scheduled"}}), "update.status"),
            (json!({"title": "x", "components": here, "templateid": UNKNOWN, "update": update}), "templateid"),
            (json!({"title": "x", "components": here, "texts": {"de": {"title": "x".repeat(256)}}, "update": update}), "texts.de.title"),
            (json!({"title": "x", "components": here, "update": {"body": "x", "texts": {"de": {"body": "x".repeat(10_001)}}}}), "update.texts.de.body"),
            (json!({"title": "x", "kind": "maintenance", "components": here, "update": update}), "scheduled_for"),
        ] {
            let refused = fields(&ann.client.post("incident/save", &body).await);
            assert_eq!(refused.first().map(String::as_str), Some(field), "{body}");
        }
        let broken = json!({"name": "x", "title": "{{", "body": "x"});
        assert_eq!(fields(&ann.client.post("incidenttemplate/save", &broken).await), ["title"]);
    }

    async fn a_page_has_at_most_5000_monitors_in_its_components(setup: Setup) {
        let app = setup.start().await;
        let ann = app.sign_up("ann@example.com").await;
        let mut monitors = Vec::new();
        for number in 0..25 {
            let body = json!({"type": "api", "name": format!("job {number}"), "isactive": false,
                "heartbeat_interval": 60, "upside_down_mode": false});
            monitors.push(text(&ann.client.post("monitor/save", &body).await.ok()["monitor"]["monitorid"]));
        }
        let reversed: Vec<&String> = monitors.iter().rev().collect();
        let component = |number: usize| match number {
            0 => json!({"name": "reversed", "monitors": reversed}),
            _ => json!({"name": format!("component {number}"), "monitors": monitors.join(",")}),
        };
        let page = |count: usize| {
            let components: Vec<Value> = (0..count).map(component).collect();
            json!({"name": "Acme", "sections": [{"components": components}]})
        };
        let refused = ann.client.post("statuspage/save", &page(201)).await;
        assert_eq!(fields(&refused), ["sections"]);
        let saved = ann.client.post("statuspage/save", &page(200)).await.ok()["statuspage"].clone();
        let shown = |component: &Value| -> Vec<String> {
            component["monitors"].as_array().unwrap().iter().map(|one| text(&one["monitorid"])).collect()
        };
        let components = saved["sections"][0]["components"].as_array().unwrap();
        assert_eq!(components.len(), 200);
        assert_eq!(shown(&components[0]), reversed.iter().copied().cloned().collect::<Vec<_>>());
        assert!(components[1..].iter().all(|component| shown(component) == monitors));

        // Only the components whose monitors change are written again, all in their order.
        let mut changed = saved["sections"].clone();
        for component in changed[0]["components"].as_array_mut().unwrap() {
            component["monitors"] = json!(shown(component).join(","));
        }
        changed[0]["components"][7]["monitors"] = json!(monitors[3]);
        let body = json!({"pageid": saved["pageid"], "sections": changed});
        let saved = ann.client.post("statuspage/save", &body).await.ok()["statuspage"].clone();
        let components = saved["sections"][0]["components"].as_array().unwrap();
        assert_eq!(shown(&components[7]), [monitors[3].clone()]);
        assert_eq!((shown(&components[6]), shown(&components[8])), (monitors.clone(), monitors));
    }

    async fn a_snapshot_follows_monitors_people_and_incidents(setup: Setup) {
        let app = setup.start().await;
        let ann = app.sign_up("ann@example.com").await;
        let client = &ann.client;
        let (one, two) = (job(client, "secret.internal", "web").await, job(client, "two", "web").await);
        let saved = page(&ann, json!([{"name": "API", "monitors": [one]},
            {"name": "Web", "tag": "web"}, {"name": "Desk"}])).await;
        let fine = shown(&app, "acme", "a first snapshot", |_| true).await;
        assert_eq!(fine.status.indicator, Indicator::None);
        assert_eq!(fine.components().next().unwrap().days.len(), 90);
        assert!(!serde_json::to_string(&*fine).unwrap().contains("secret.internal"));
        assert!(matches!(app.engine.snapshots().by_slug("ACME"), Found::Page(_)));
        assert!(matches!(app.engine.snapshots().by_slug("other"), Found::Unknown));
        report(client, &one, "down").await;
        let down = shown(&app, "acme", "the outage", |now| status(now, "API") == ComponentStatus::MajorOutage).await;
        assert_eq!(status(&down, "Web"), ComponentStatus::PartialOutage);
        assert_eq!(down.status.indicator, Indicator::Major);
        assert!(down.revision > fine.revision);
        // A person decides, then an incident, then the monitors again.
        let set = format!("component/{}/status", component(&saved, 0));
        let answer = client.post(&set, &json!({"status": "operational", "note": "a test"})).await.ok();
        assert_eq!(answer["component"]["override"]["note"], "a test");
        assert_eq!(answer["component"]["status"], "operational");
        shown(&app, "acme", "the override", |now| status(now, "API") == ComponentStatus::Operational).await;
        client.post(&set, &json!({"status": "automatic"})).await.ok();
        report(client, &one, "up").await;
        let incident = json!({"title": "Desk closed", "update": {"body": "Back **soon**."},
            "components": [{"componentid": component(&saved, 2), "status": "partial_outage"}]});
        let incident = client.post("incident/save", &incident).await.ok()["incident"].clone();
        assert_eq!((&incident["impact"], &incident["status"]), (&json!("major"), &json!("investigating")));
        let open = shown(&app, "acme", "the incident", |now| now.incidents.len() == 1).await;
        assert_eq!(status(&open, "Desk"), ComponentStatus::PartialOutage);
        assert_eq!(open.incidents[0].updates[0].body.text, "Back **soon**.");
        let list = client.get("statuspages").await.ok()["statuspages"][0].clone();
        assert_eq!((&list["open_incidents"], &list["components"]), (&json!(1), &json!(3)));
        // Another slug: the former one leads to it, until another page takes it.
        let id = &saved["pageid"];
        client.post("statuspage/save", &json!({"pageid": id, "slug": "acme-2"})).await.ok();
        until("the new slug", async || match app.engine.snapshots().by_slug("acme") {
            Found::Moved(slug) if slug == "acme-2" => Some(()),
            _ => None,
        })
        .await;
        // Access control has what it needs, and nobody else's data.
        let locked = json!({"pageid": id, "access": "token", "allowed_networks": ["10.0.0.0/8"]});
        let locked = client.post("statuspage/save", &locked).await.ok()["statuspage"].clone();
        let token = text(&locked["access_token"]);
        let page = until("the lock", async || match app.engine.snapshots().by_slug("acme-2") {
            Found::Page(page) if page.is_restricted() => Some(page),
            _ => None,
        })
        .await;
        assert!(page.is_token(&token) && !page.is_token("wkp_other"));
        assert!(page.admits([10, 1, 1, 1].into()) && !page.admits([11, 1, 1, 1].into()));
        client.post("statuspage/save", &json!({"pageid": id, "published": false})).await.ok();
        until("no page", async || {
            matches!(app.engine.snapshots().by_slug("acme-2"), Found::Unknown).then_some(())
        })
        .await;
        client.delete(&format!("monitor/{two}/delete")).await.ok();
    }

    async fn the_uptime_of_one_monitor_is_that_of_its_statistics(setup: Setup) {
        let app = setup.start().await;
        let ann = app.sign_up("ann@example.com").await;
        // Its interval is longer than the gaps below, so that it counts as checked all the time.
        let body = json!({"type": "api", "name": "one", "heartbeat_interval": 3600, "isactive": true,
            "upside_down_mode": false});
        let monitor = text(&ann.client.post("monitor/save", &body).await.ok()["monitor"]["monitorid"]);
        report(&ann.client, &monitor, "up").await;
        // Reports at random times, for another sequence in each run; it is named on failure.
        let seed = u64::from(std::process::id());
        let mut random = seed;
        for place in 0..40 {
            random = random.wrapping_mul(0x5851_f42d_4c95_7f2d).wrapping_add(0x1405_7b7e_f767_814f);
            let status = if place == 20 || random >> 62 == 0 { "down" } else { "up" };
            app.clock.advance(Duration::from_millis((random >> 33) % 900_000 + 1_000));
            report(&ann.client, &monitor, status).await;
        }
        app.clock.advance(Duration::from_secs(31));
        let stats = ann.client.get(&format!("monitor/{monitor}/stats")).await.ok();
        let of_day = stats["spans"].as_array().unwrap().iter().find(|one| one["span"] == "24h");
        let uptime = of_day.expect("a day")["uptime"].as_f64().unwrap();
        assert!(uptime < 100.0, "{uptime} with seed {seed}");
        for zone in ["UTC", "Asia/Kathmandu"] {
            let body = json!({"name": zone, "slug": zone.replace('/', "-").to_lowercase(), "published": true,
                "timezone": zone, "sections": [{"components": [{"name": "API", "monitors": [monitor]}]}]});
            let saved = ann.client.post("statuspage/save", &body).await.ok();
            let slug = text(&saved["statuspage"]["slug"]);
            let snapshot = shown(&app, &slug, "figures", |_| true).await;
            let api = snapshot.components().next().unwrap();
            let figures = api.uptime.expect("shown");
            for figure in [figures.day, figures.week, figures.quarter, figures.year] {
                let percent = f64::from(figure.map(Uptime::millionths).expect("data")) / 1e4;
                assert!((percent - uptime).abs() < 1e-9, "{zone}: {percent} {uptime}");
            }
            // All reports are of one day in both zones.
            let days = api.days.to_vec();
            let last = days.last().unwrap();
            assert!(last.color == DayColor::Out && last.down > 0, "{last:?} with seed {seed}");
            let percent = f64::from(last.uptime.map(Uptime::millionths).expect("data")) / 1e4;
            assert!((percent - uptime).abs() < 1e-9, "{zone}: {percent} {uptime}");
            assert!(days[..80].iter().all(|day| day.color == DayColor::NoData && day.uptime.is_none()));
        }
    }

    async fn an_outage_after_a_gap_is_on_the_bar_of_its_day(setup: Setup) {
        let app = setup.start().await;
        let ann = app.sign_up("ann@example.com").await;
        let client = &ann.client;
        let monitor = job(client, "one", "").await;
        // Hours without a report, and an outage of five minutes later on that day.
        for (minutes, status, times) in [(1, "up", 5), (240, "up", 1), (1, "down", 5), (1, "up", 3)] {
            for _ in 0..times {
                app.clock.advance(Duration::from_secs(minutes * 60));
                report(client, &monitor, status).await;
            }
        }
        let stats = client.get(&format!("monitor/{monitor}/stats")).await.ok();
        let uptime = stats["spans"][0]["uptime"].as_f64().unwrap();
        for zone in ["UTC", "Asia/Kathmandu"] {
            let body = json!({"name": zone, "slug": zone.replace('/', "-").to_lowercase(), "published": true,
                "timezone": zone, "sections": [{"components": [{"name": "API", "monitors": [monitor]}]}]});
            let saved = client.post("statuspage/save", &body).await.ok();
            let slug = text(&saved["statuspage"]["slug"]);
            let snapshot = shown(&app, &slug, "figures", |_| true).await;
            let day = snapshot.components().next().unwrap().days.iter().last().unwrap();
            assert_eq!((day.color, day.down), (DayColor::Out, 300), "{zone}");
            let percent = f64::from(day.uptime.map(Uptime::millionths).expect("data")) / 1e4;
            assert!((percent - uptime).abs() < 1e-9, "{zone}: {percent} {uptime}");
        }
    }

    async fn an_outage_in_a_maintenance_window_is_no_downtime(setup: Setup) {
        let app = setup.start().await;
        let ann = app.sign_up("ann@example.com").await;
        let client = &ann.client;
        let (one, two) = (job(client, "one", "").await, job(client, "two", "").await);
        let window = json!({"name": "w", "monitors": one, "starts": "2026-11-15T09:32:00Z", "duration": 600});
        client.post("maintenance/save", &window).await.ok();
        for minute in 1..=20 {
            app.clock.advance(Duration::from_secs(60));
            maintenance_clock::apply_due(&app.engine).await.unwrap();
            report(client, &one, if (4..8).contains(&minute) { "down" } else { "up" }).await;
            report(client, &two, "up").await;
        }
        let body = json!({"name": "Acme", "published": true, "display": {"outages": true}, "sections": [
            {"components": [{"name": "One", "monitors": [one]}, {"name": "Both", "monitors": [one, two]}]}]});
        client.post("statuspage/save", &body).await.ok();
        let snapshot = shown(&app, "acme", "figures", |_| true).await;
        for component in snapshot.components() {
            let (name, day) = (&component.name.text, component.days.iter().last().unwrap());
            assert_eq!((day.color, day.down), (DayColor::Good, 0), "{name}");
            let figures = component.uptime.expect("shown");
            for figure in [figures.day, figures.year, figures.shown, day.uptime] {
                assert_eq!(figure.map(Uptime::millionths), Some(1_000_000), "{name}");
            }
            let badge = format!("/status/acme/component/{}/badge/uptime/24h.json", component.id);
            let badge = app.anonymous().get(&badge).await;
            assert!(text(&badge.json()["message"]).starts_with("100"), "{name}: {}", badge.text);
        }
        let found = &app.engine.snapshots().by_slug("acme");
        let Found::Page(found) = found else { panic!("no page") };
        for id in snapshot.components().map(|component| component.id) {
            let figures = app.engine.component_page_figures(found.id, found.team, id).await.unwrap();
            assert_eq!(figures.outages, Some(Vec::new()));
        }
    }

    async fn pages_that_do_not_fit_into_memory_are_built_again_for_visitors(setup: Setup) {
        let mut setup = setup;
        setup.settings.page_memory = 1;
        let app = setup.start().await;
        let ann = app.sign_up("ann@example.com").await;
        let monitor = job(&ann.client, "one", "").await;
        for slug in ["one", "two"] {
            let body = json!({"name": slug, "slug": slug, "published": true,
                "sections": [{"components": [{"name": "API", "monitors": [monitor], "alias": "api"}]}]});
            ann.client.post("statuspage/save", &body).await.ok();
        }
        let visitor = app.anonymous();
        for slug in ["one", "two", "one"] {
            until("the page to be dropped", async || match app.engine.snapshots().by_slug(slug) {
                Found::Page(page) if page.snapshot().is_none() && page.is_dropped() => Some(()),
                _ => None,
            })
            .await;
            let index = visitor.get(&format!("/status/{slug}/index.json")).await;
            assert_eq!((index.status, &index.json()["page"]["name"]), (200, &json!(slug)));
        }
        report(&ann.client, &monitor, "down").await;
        until("the outage in the list", || async {
            let all = ann.client.get("statuspages").await.ok()["statuspages"].clone();
            (all[0]["indicator"] == "critical" && all[1]["indicator"] == "critical").then_some(())
        })
        .await;
        assert!(visitor.get("/status/two").await.text.contains("Major Service Outage"));
    }

    async fn incidents_and_maintenance_run_their_course(setup: Setup) {
        let app = setup.start().await;
        let ann = app.sign_up("ann@example.com").await;
        let client = &ann.client;
        let saved = page(&ann, json!([{"name": "API"}, {"name": "Web"}])).await;
        let (api, web) = (component(&saved, 0), component(&saved, 1));
        let template = json!({"name": "outage", "title": "{{ components }} down",
            "body": "{{ page }}: {{ components }}", "status": "identified", "components": [web]});
        let template = client.post("incidenttemplate/save", &template).await.ok();
        let incident = json!({"templateid": template["incidenttemplate"]["templateid"], "state": "draft"});
        let draft = client.post("incident/save", &incident).await.ok()["incident"].clone();
        assert_eq!((&draft["title"], &draft["status"]), (&json!("Web down"), &json!("identified")));
        assert_eq!(draft["updates"][0]["body"], "Acme: Web");
        let id = text(&draft["incidentid"]);
        let list = async |query: &str| {
            let list = client.get(&format!("incidents?{query}")).await.ok();
            list["incidents"].as_array().unwrap().len()
        };
        assert_eq!((list("state=draft").await, list("state=open").await), (1, 0));
        let published = client.post(&format!("incident/{id}/publish"), &json!({})).await.ok();
        assert_eq!(published["incident"]["state"], "published");
        let post = async |body: Value| client.post(&format!("incident/{id}/update/save"), &body).await;
        app.clock.advance(Duration::from_secs(60));
        let worse = json!({"status": "monitoring", "body": "b", "components": [{"componentid": api, "status": "major_outage"}]});
        let worse = post(worse).await.ok()["incident"].clone();
        assert_eq!((&worse["impact"], &worse["components"].as_array().unwrap().len()), (&json!("critical"), &2));
        assert_eq!(list(&format!("componentid={api}&state=open")).await, 1);
        let first = text(&worse["updates"][1]["updateid"]);
        let edited = post(json!({"updateid": first, "body": "edited"})).await.ok()["incident"].clone();
        assert_eq!(edited["updates"][1]["body"], "edited");
        assert!(edited["updates"][1]["edited"].is_string());
        assert_eq!(fields(&post(json!({"updateid": first, "status": "resolved"})).await), ["status"]);
        assert_eq!(fields(&post(json!({"body": "x", "display_at": "2099-01-01T00:00:00Z"})).await), ["display_at"]);
        app.clock.advance(Duration::from_secs(60));
        let done = post(json!({"status": "resolved", "body": "c"})).await.ok()["incident"].clone();
        assert!(done["components"].as_array().unwrap().iter().all(|one| one["status"] == "operational"));
        assert_eq!(done["impact"], "critical");
        post(json!({"status": "monitoring", "body": "d"})).await.refused(409, "incident_closed");
        let again = post(json!({"status": "monitoring", "body": "d", "reopen": true})).await.ok();
        assert_eq!(again["incident"]["resolved"], Value::Null);
        for update in again["incident"]["updates"].as_array().unwrap().iter().skip(1) {
            client.delete(&format!("incident/{id}/update/{}/delete", text(&update["updateid"]))).await.ok();
        }
        let last = text(&again["incident"]["updates"][0]["updateid"]);
        client.delete(&format!("incident/{id}/update/{last}/delete")).await.refused(409, "last_update");
        let report = json!({"body": "It was DNS.", "published": true});
        let report = client.post(&format!("incident/{id}/postmortem/save"), &report).await.ok();
        assert_eq!(report["incident"]["postmortem"], json!({"body": "It was DNS.", "published": true}));

        let now = app.engine.now();
        let at = |minutes: u64| now.after(Duration::from_secs(minutes * 60)).to_string();
        let planned = json!({"kind": "maintenance", "title": "Upgrade", "components": [{"componentid": api}],
            "scheduled_for": at(10), "scheduled_until": at(20), "repeat": "FREQ=DAILY;COUNT=2",
            "update": {"body": "Short."}});
        let planned = client.post("incident/save", &planned).await.ok()["incident"].clone();
        assert_eq!((&planned["status"], &planned["impact"]), (&json!("scheduled"), &json!("maintenance")));
        let path = format!("incident/{}/get", text(&planned["incidentid"]));
        for (minutes, status) in [(0, "scheduled"), (10, "in_progress"), (10, "completed")] {
            app.clock.advance(Duration::from_secs(minutes * 60));
            maintenance::apply_due(&app.engine).await.unwrap();
            assert_eq!(client.get(&path).await.ok()["incident"]["status"], status);
        }
        let ended = client.get(&path).await.ok()["incident"].clone();
        assert_eq!((&ended["started"], &ended["resolved"]), (&json!(at(10)), &json!(at(20))));
        let next = client.get("incidents?kind=maintenance&state=open").await.ok()["incidents"].clone();
        assert_eq!(next.as_array().unwrap().len(), 1, "{next}");
        assert_eq!(next[0]["scheduled_for"], at(10 + 24 * 60));
        assert_eq!(next[0]["components"][0]["status"], "under_maintenance");
        maintenance::apply_due(&app.engine).await.unwrap();
        assert_eq!(list("kind=maintenance").await, 2, "only one follows");
        app.clock.advance(Duration::from_secs(2 * 86_400));
        maintenance::apply_due(&app.engine).await.unwrap();
        assert_eq!((list("kind=maintenance&state=open").await, list("kind=maintenance").await), (0, 2));
        let past = json!({"title": "Old", "started": at(0), "resolved": at(5), "update": {"body": "x"},
            "components": [{"componentid": web, "status": "partial_outage"}]});
        let past = client.post("incident/save", &past).await.ok()["incident"].clone();
        assert_eq!((&past["backfilled"], &past["status"], &past["impact"]), (&json!(true), &json!("resolved"), &json!("major")));
        let snapshot = shown(&app, "acme", "past incidents", |now| now.past.len() == 3 && now.incidents.len() == 1).await;
        assert_eq!(snapshot.maintenances.len(), 0);
        assert!(snapshot.incidents[0].postmortem.is_some());
    }

    async fn without_an_update_an_incident_is_what_the_others_say(setup: Setup) {
        let app = setup.start().await;
        let ann = app.sign_up("ann@example.com").await;
        let client = &ann.client;
        let saved = page(&ann, json!([{"name": "API"}])).await;
        let api = component(&saved, 0);
        let body = json!({"title": "Slow", "update": {"body": "x"},
            "components": [{"componentid": api, "status": "degraded_performance"}]});
        let id = text(&client.post("incident/save", &body).await.ok()["incident"]["incidentid"]);
        let post = async |body: Value| {
            app.clock.advance(Duration::from_secs(60));
            client.post(&format!("incident/{id}/update/save"), &body).await.ok()["incident"].clone()
        };
        post(json!({"status": "identified", "body": "x", "components": [{"componentid": api, "status": "major_outage"}]})).await;
        let over = post(json!({"status": "resolved", "body": "x"})).await;
        for (place, status, of_component, impact) in [
            (0, "identified", "major_outage", "critical"),
            (1, "investigating", "degraded_performance", "minor"),
        ] {
            let update = text(&over["updates"][place]["updateid"]);
            client.delete(&format!("incident/{id}/update/{update}/delete")).await.ok();
            let left = client.get(&format!("incident/{id}/get")).await.ok()["incident"].clone();
            assert_eq!((&left["status"], &left["impact"]), (&json!(status), &json!(impact)));
            assert_eq!(left["components"][0]["status"], of_component);
            assert_eq!(left["resolved"], Value::Null);
        }
        shown(&app, "acme", "the status", |now| status(now, "API") == ComponentStatus::DegradedPerformance).await;
    }

    async fn a_new_incident_follows_its_template_and_its_request(setup: Setup) {
        let app = setup.start().await;
        let ann = app.sign_up("ann@example.com").await;
        let client = &ann.client;
        let body = json!({"name": "Acme", "published": true, "timezone": "Europe/Berlin",
            "sections": [{"components": [{"name": "API"}]}]});
        let saved = client.post("statuspage/save", &body).await.ok()["statuspage"].clone();
        let api = component(&saved, 0);
        let template = async |body: Value| {
            let saved = client.post("incidenttemplate/save", &body).await.ok();
            saved["incidenttemplate"].clone()
        };
        let outage = template(json!({"name": "outage", "title": "{{ components }} down", "body": "x",
            "components": [api]})).await;
        let upgrade = template(json!({"name": "upgrade", "kind": "maintenance", "title": "Upgrade",
            "body": "x", "status": "scheduled", "components": [api]})).await;
        let (outage, upgrade) = (&outage["templateid"], &upgrade["templateid"]);
        let new = async |body: Value| client.post("incident/save", &body).await;
        for (body, notifies) in [
            (json!({"templateid": outage}), true),
            (json!({"templateid": outage, "notify": false}), false),
            (json!({"templateid": outage, "notify": false, "update": {"body": "y"}}), false),
            (json!({"templateid": outage, "notify": false, "update": {"notify": true}}), true),
        ] {
            let incident = new(body.clone()).await.ok()["incident"].clone();
            assert_eq!((&incident["kind"], &incident["updates"][0]["notify"]), (&json!("incident"), &json!(notifies)), "{body}");
        }

        let at = |hours: u64| app.engine.now().after(Duration::from_secs(hours * 3_600)).to_string();
        let planned = json!({"templateid": upgrade, "scheduled_for": at(1), "scheduled_until": at(2),
            "repeat": "FREQ=WEEKLY;BYDAY=MO"});
        let incident = new(planned.clone()).await.ok()["incident"].clone();
        assert_eq!((&incident["kind"], &incident["status"]), (&json!("maintenance"), &json!("scheduled")));
        assert_eq!(incident["components"][0]["status"], "under_maintenance");
        assert_eq!(incident["timezone"], "Europe/Berlin", "that of the page");
        let mut elsewhere = planned.clone();
        elsewhere["timezone"] = json!("Asia/Tokyo");
        assert_eq!(new(elsewhere).await.ok()["incident"]["timezone"], "Asia/Tokyo");
        let by_page = json!({"kind": "maintenance", "title": "x", "pageids": [saved["pageid"]], "update": {"body": "x"},
            "scheduled_for": at(1), "scheduled_until": at(2)});
        assert_eq!(new(by_page).await.ok()["incident"]["timezone"], "Europe/Berlin");
        let mut wrong = planned;
        wrong["kind"] = json!("incident");
        assert_eq!(fields(&new(wrong).await), ["templateid"]);

        // The status of a template fits its kind, whichever of them changes.
        let change = async |body: Value| client.post("incidenttemplate/save", &body).await;
        let incident = json!({"templateid": upgrade, "kind": "incident"});
        assert_eq!(fields(&change(incident).await), ["status"]);
        let cleared = json!({"templateid": upgrade, "kind": "incident", "status": ""});
        assert_eq!(change(cleared).await.ok()["incidenttemplate"]["status"], Value::Null);
        change(json!({"templateid": upgrade, "kind": "maintenance"})).await.ok();
        let rule = json!({"pageid": saved["pageid"], "rules": [{"name": "r", "templateid": upgrade}]});
        assert_eq!(fields(&client.post("statuspage/save", &rule).await), ["rules.0.templateid"]);
    }

    async fn a_preview_shows_an_update_that_is_not_saved(setup: Setup) {
        let app = setup.start().await;
        let ann = app.sign_up("ann@example.com").await;
        let client = &ann.client;
        let saved = page(&ann, json!([{"name": "API"}, {"name": "Web"}])).await;
        let (api, web) = (component(&saved, 0), component(&saved, 1));
        let acme = text(&saved["pageid"]);
        let write = async |title: &str, state: &str| {
            let body = json!({"title": title, "state": state, "update": {"body": "We are looking."},
                "components": [{"componentid": api, "status": "degraded_performance"}]});
            let id = text(&client.post("incident/save", &body).await.ok()["incident"]["incidentid"]);
            app.clock.advance(Duration::from_secs(60));
            id
        };
        let (draft, newer) = (write("Slow orders", "draft").await, write("Slow images", "published").await);
        let path = format!("incident/{draft}/get");
        let stored = client.get(&path).await.ok();
        let preview = async |page: &str, incident: &str, show: &str, update: Value| {
            let incident = json!({"incidentid": incident, "update": update});
            let body = json!({"pageid": page, "show": show, "incident": incident});
            client.post("statuspage/preview", &body).await
        };
        let html = async |show: &str, update: Value| {
            text(&preview(&acme, &draft, show, update).await.ok()["html"])
        };
        let worse = json!({"status": "identified", "body": "It is **DNS**.",
            "components": [{"componentid": web, "status": "major_outage"}]});
        let front = html("front", worse).await;
        for part in ["Slow orders", "It is <strong>DNS</strong>.", "Identified", "Major Service Outage", "Slow images"] {
            assert!(front.contains(part), "{part}: {front}");
        }
        let over = html("incident", json!({"status": "resolved", "body": "Over."})).await;
        assert!(over.contains("<h1>Slow orders</h1>") && over.contains("Over."), "{over}");
        let first = &stored["incident"]["updates"][0]["updateid"];
        let edited = html("incident", json!({"updateid": first, "body": "We looked."})).await;
        assert!(edited.contains("We looked.") && !edited.contains("We are looking."), "{edited}");
        // Nothing was stored, and the draft is still one.
        assert_eq!(client.get(&path).await.ok(), stored);
        let plain = client.post("statuspage/preview", &json!({"pageid": acme})).await.ok();
        assert!(!text(&plain["html"]).contains("Slow orders"));

        let unknown = json!([{"componentid": UNKNOWN}]);
        for (update, field) in [
            (json!({"status": "identified"}), "body"),
            (json!({"body": "x", "status": "scheduled"}), "status"),
            (json!({"body": "x", "display_at": "2099-01-01T00:00:00Z"}), "display_at"),
            (json!({"body": "x", "components": unknown}), "components"),
        ] {
            let refused = preview(&acme, &draft, "front", update).await;
            assert_eq!(fields(&refused), [format!("incident.update.{field}")]);
        }
        let body = json!({"body": "x"});
        preview(&acme, UNKNOWN, "front", body.clone()).await.refused(404, "not_found");
        let changed = json!({"updateid": UNKNOWN, "body": "x"});
        preview(&acme, &draft, "front", changed).await.refused(404, "not_found");
        let other = client.post("statuspage/save", &json!({"name": "Other"})).await.ok();
        let other = text(&other["statuspage"]["pageid"]);
        let elsewhere = preview(&other, &draft, "front", body.clone()).await;
        assert_eq!(fields(&elsewhere), ["incident.incidentid"]);
        let over = json!({"status": "resolved", "body": "x"});
        client.post(&format!("incident/{newer}/update/save"), &over).await.ok();
        preview(&acme, &newer, "front", json!({"status": "monitoring", "body": "x"})).await
            .refused(409, "incident_closed");
        let eve = app.sign_up("eve@example.com").await;
        let own = page(&eve, json!([{"name": "API"}])).await;
        let stolen = json!({"pageid": own["pageid"], "incident": {"incidentid": draft, "update": body}});
        eve.client.post("statuspage/preview", &stolen).await.refused(404, "not_found");
    }

    async fn a_rule_writes_until_a_person_does(setup: Setup) {
        let app = setup.start().await;
        let ann = app.sign_up("ann@example.com").await;
        let client = &ann.client;
        let (one, two) = (job(client, "one", "").await, job(client, "two", "").await);
        let saved = page(&ann, json!([{"name": "API", "monitors": [one]}, {"name": "Web", "monitors": [two]}])).await;
        let rule = json!({"pageid": saved["pageid"], "rules": [{"name": "outages", "after": 30, "mode": "publish", "resolve_after": 60}]});
        client.post("statuspage/save", &rule).await.ok();
        let step = async |seconds: u64| {
            app.clock.advance(Duration::from_secs(seconds));
            auto_incidents::apply_rules(&app.engine).await.unwrap();
            client.get("incidents").await.ok()["incidents"].clone()
        };
        report(client, &one, "down").await;
        assert_eq!(step(20).await, json!([]));
        let opened = step(20).await;
        assert_eq!(opened[0]["updates"][0]["body"], "API is not available. We are looking into it.");
        assert_eq!((&opened[0]["source"], &opened[0]["state"], &opened[0]["impact"]),
            (&json!("rule"), &json!("published"), &json!("critical")));
        assert_eq!(step(5).await.as_array().unwrap().len(), 1, "once");
        report(client, &two, "down").await;
        let joined = step(40).await;
        assert_eq!(joined[0]["components"].as_array().unwrap().len(), 2);
        report(client, &one, "up").await;
        report(client, &two, "up").await;
        let recovered = step(5).await;
        assert_eq!((&recovered[0]["status"], &recovered[0]["components"][0]["status"]), (&json!("monitoring"), &json!("operational")));
        assert_eq!(step(30).await[0]["status"], "monitoring");
        assert_eq!(step(40).await[0]["status"], "resolved");
        // A draft is discarded with its outage; after a person's update the rule is silent.
        report(client, &one, "down").await;
        let second = step(60).await[0].clone();
        let path = format!("incident/{}/update/save", text(&second["incidentid"]));
        // Updates are listed by time.
        app.clock.advance(Duration::from_secs(1));
        client.post(&path, &json!({"status": "identified", "body": "We know why."})).await.ok();
        report(client, &one, "up").await;
        step(5).await;
        let silent = step(120).await[0].clone();
        assert_eq!((&silent["status"], &silent["updates"][0]["body"]), (&json!("identified"), &json!("We know why.")));
        assert_eq!(silent["components"][0]["status"], "operational");
        let drafts = json!({"pageid": saved["pageid"], "rules": [{"name": "drafts", "after": 30}]});
        client.post("statuspage/save", &drafts).await.ok();
        report(client, &two, "down").await;
        assert_eq!(step(40).await[0]["state"], "draft");
        report(client, &two, "up").await;
        assert_eq!(step(5).await[0]["state"], "discarded");
        app.clock.advance(Duration::from_secs(8 * 86_400));
        app.sweep().await;
        assert_eq!(client.get("incidents").await.ok()["incidents"].as_array().unwrap().len(), 2);
    }
}

/// Days that are over are not read again, and count the same nevertheless.
#[tokio::test]
async fn past_days_are_those_of_a_page_that_reads_them() {
    let app = Setup::on(DatabaseKind::Sqlite).start().await;
    let ann = app.sign_up("ann@example.com").await;
    let client = &ann.client;
    let monitors = [job(client, "one", "").await, job(client, "two", "").await];
    let zones = [("UTC", "utc"), ("Asia/Kathmandu", "far")];
    let body = |zone: &str, slug: &str, note: &str| {
        json!({"name": slug, "slug": slug, "published": true, "timezone": zone,
            "description": note, "display": {"response_times": true}, "sections": [{"components": [
                {"name": "One", "monitors": [monitors[0]]},
                {"name": "Both", "monitors": monitors, "needs": 1}]}]})
    };
    let shutdown = CancellationToken::new();
    let reports = async |hours: &[(u64, &str)]| {
        for (hours, status) in hours {
            app.clock.advance(Duration::from_secs(hours * 3_600));
            for monitor in &monitors {
                let report = json!({"status": status, "payload": {"load_time": 10 + hours}});
                client.post(&format!("monitor/notify/{monitor}"), &report).await.ok();
                app.clock.advance(Duration::from_secs(45));
            }
        }
    };
    for _ in 0..4 {
        reports(&[(9, "up"), (7, "down"), (0, "up"), (5, "down"), (3, "up"), (0, "up")]).await;
    }
    compactor::compact(&app.engine, &shutdown).await.unwrap();
    reports(&[(0, "down"), (0, "up")]).await;
    let mut ids = Vec::new();
    for (zone, slug) in zones {
        let saved = client.post("statuspage/save", &body(zone, slug, "")).await.ok();
        ids.push(saved["statuspage"]["pageid"].clone());
        shown(&app, slug, "the page in use", |_| true).await;
    }
    for (note, is_compacted) in [("read", false), ("kept", false), ("compacted", true)] {
        reports(&[(0, "down"), (0, "up")]).await;
        if is_compacted {
            reports(&[(2, "up")]).await;
            compactor::compact(&app.engine, &shutdown).await.unwrap();
        }
        for ((zone, slug), id) in zones.into_iter().zip(&ids) {
            client.post("statuspage/save", &json!({"pageid": id, "description": note})).await.ok();
            let fresh = format!("{slug}-{note}");
            client.post("statuspage/save", &body(zone, &fresh, note)).await.ok();
        }
        for (zone, slug) in zones {
            let is_new = |now: &Snapshot| now.page.description.text == note;
            let known = shown(&app, slug, "the edited page", is_new).await;
            let read = shown(&app, &format!("{slug}-{note}"), "the new page", |_| true).await;
            for (known, read) in known.components().zip(read.components()) {
                let what = format!("{zone}, {}, {note}", known.name.text);
                assert_eq!(known.days, read.days, "{what}");
                assert_eq!((known.uptime, known.since), (read.uptime, read.since), "{what}");
                assert_eq!(known.response_times, read.response_times, "{what}");
                assert!(known.days.iter().filter(|day| day.down > 0).count() >= 4, "{what}");
            }
            let stats = client.get(&format!("monitor/{}/stats", monitors[0])).await.ok();
            let figures = known.components().next().unwrap().uptime.expect("shown");
            let all = [figures.day, figures.week, figures.month, figures.quarter, figures.year];
            for (figure, span) in all.into_iter().zip(stats["spans"].as_array().unwrap()) {
                let percent = figure.map(|uptime| f64::from(uptime.millionths()) / 1e4);
                assert_eq!(percent, span["uptime"].as_f64(), "{zone}, {note}: {span}");
            }
        }
    }
}
