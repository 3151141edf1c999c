//! What a status page shows and writes automatically: the incidents of its rules, and statuses that
//! change with time.

use serde_json::{Value, json};
use std::time::Duration;
use wakeful_core::statuspages::snapshot::{ComponentStatus, Snapshot};
use wakeful_engine::statuspages::auto_incidents;
use wakeful_testkit::{App, User, both_databases};

use crate::statuspages::{component, job, page, report, shown, status, text};

/// Saves the rules of a page. They wait for 30 seconds.
async fn set_rules(ann: &User, page: &Value, mut rules: Value) {
    for rule in rules.as_array_mut().unwrap() {
        rule["name"] = json!("outages");
        rule["after"] = json!(30);
    }
    let body = json!({"pageid": page["pageid"], "rules": rules});
    ann.client.post("statuspage/save", &body).await.ok();
}

/// The incidents, newest first, after so many seconds and a round of the rules.
async fn step(app: &App, ann: &User, seconds: u64) -> Vec<Value> {
    app.clock.advance(Duration::from_secs(seconds));
    auto_incidents::apply_rules(&app.engine).await.unwrap();
    let list = ann.client.get("incidents").await.ok();
    list["incidents"].as_array().unwrap().clone()
}

fn statuses(incidents: &[Value]) -> Vec<String> {
    incidents.iter().map(|incident| text(&incident["status"])).collect()
}

both_databases! {
    async fn a_rule_goes_on_after_a_person_has_published_its_draft(setup: Setup) {
        let app = setup.start().await;
        let ann = app.sign_up("ann@example.com").await;
        let one = job(&ann.client, "one", "").await;
        let page = page(&ann, json!([{"name": "API", "monitors": [one]}])).await;
        set_rules(&ann, &page, json!([{"resolve_after": 60}])).await;
        report(&ann.client, &one, "down").await;
        let draft = step(&app, &ann, 40).await[0].clone();
        assert_eq!(draft["state"], "draft");
        let publish = format!("incident/{}/publish", text(&draft["incidentid"]));
        ann.client.post(&publish, &json!({})).await.ok();
        app.clock.advance(Duration::from_secs(1));
        report(&ann.client, &one, "up").await;
        let recovered = step(&app, &ann, 5).await;
        assert_eq!((&recovered[0]["state"], &recovered[0]["status"]), (&json!("published"), &json!("monitoring")));
        assert_eq!(recovered[0]["components"][0]["status"], "operational");
        assert_eq!(statuses(&step(&app, &ann, 61).await), ["resolved"]);
    }

    async fn a_rule_opens_an_incident_with_the_status_of_its_template(setup: Setup) {
        let app = setup.start().await;
        let ann = app.sign_up("ann@example.com").await;
        let one = job(&ann.client, "one", "").await;
        let page = page(&ann, json!([{"name": "API", "monitors": [one]}])).await;
        let template = json!({"name": "known", "title": "{{ components }} down", "body": "We know why.", "status": "identified"});
        let template = ann.client.post("incidenttemplate/save", &template).await.ok();
        let template = &template["incidenttemplate"]["templateid"];
        set_rules(&ann, &page, json!([{"mode": "publish", "templateid": template}])).await;
        report(&ann.client, &one, "down").await;
        let opened = step(&app, &ann, 40).await;
        assert_eq!((&opened[0]["title"], &opened[0]["status"]), (&json!("API down"), &json!("identified")));
    }

    async fn a_rule_names_components_in_each_language(setup: Setup) {
        let app = setup.start().await;
        let ann = app.sign_up("ann@example.com").await;
        let one = job(&ann.client, "one", "").await;
        let page = page(&ann, json!([{"name": "API", "monitors": [one], "texts": {"de": {"name": "Schnittstelle"}}}])).await;
        set_rules(&ann, &page, json!([{"mode": "publish", "resolve_after": 60}])).await;
        for (to, body, german) in [
            ("down", "API is not available. We are looking into it.", "Schnittstelle ist nicht verfügbar. Wir untersuchen das."),
            ("up", "API works again. We are monitoring the situation.", "Schnittstelle funktioniert wieder. Wir beobachten die Lage."),
        ] {
            report(&ann.client, &one, to).await;
            let incident = step(&app, &ann, 40).await[0].clone();
            let newest = &incident["updates"][0];
            assert_eq!((&newest["body"], &newest["texts"]["de"]["body"]), (&json!(body), &json!(german)));
            let titles = json!({"de": {"title": "Schnittstelle"}});
            assert_eq!((&incident["title"], &incident["texts"]), (&json!("API"), &titles));
        }
    }

    async fn what_a_person_changes_of_an_automatic_text_applies_to_every_language(setup: Setup) {
        let app = setup.start().await;
        let ann = app.sign_up("ann@example.com").await;
        let one = job(&ann.client, "one", "").await;
        let page = page(&ann, json!([{"name": "API", "monitors": [one], "texts": {"de": {"name": "Schnittstelle"}}}])).await;
        set_rules(&ann, &page, json!([{"mode": "publish"}])).await;
        report(&ann.client, &one, "down").await;
        let opened = step(&app, &ann, 40).await[0].clone();
        let (id, update) = (text(&opened["incidentid"]), &opened["updates"][0]["updateid"]);
        let edit = async |body: Value| {
            let path = format!("incident/{id}/update/save");
            ann.client.post(&path, &body).await.ok()["incident"].clone()
        };
        let kept = edit(json!({"updateid": update, "notify": false})).await;
        assert_eq!(kept["updates"][0]["texts"], opened["updates"][0]["texts"]);
        let edited = edit(json!({"updateid": update, "body": "A disk is full."})).await;
        assert_eq!(edited["updates"][0]["texts"], json!({}));
        let german = json!({"de": {"body": "Die Festplatte war voll."}});
        edit(json!({"updateid": update, "texts": german})).await;
        let edited = edit(json!({"updateid": update, "body": "The disk was full.", "texts": german})).await;
        assert_eq!(edited["updates"][0]["texts"], german);
        assert_eq!(edited["texts"], json!({"de": {"title": "Schnittstelle"}}));
        let renamed = json!({"incidentid": id, "title": "Uploads fail"});
        let renamed = ann.client.post("incident/save", &renamed).await.ok()["incident"].clone();
        assert_eq!((&renamed["title"], &renamed["texts"]), (&json!("Uploads fail"), &json!({})));
    }

    async fn all_updates_of_a_rule_notify_nobody_if_it_says_so(setup: Setup) {
        let app = setup.start().await;
        let ann = app.sign_up("ann@example.com").await;
        let (one, two) = (job(&ann.client, "one", "").await, job(&ann.client, "two", "").await);
        let components = json!([{"name": "API", "monitors": [one]}, {"name": "Web", "monitors": [two]}]);
        let page = page(&ann, components).await;
        set_rules(&ann, &page, json!([{"mode": "publish", "notify": false, "resolve_after": 60}])).await;
        for (monitor, to) in [(&one, "down"), (&two, "down"), (&one, "up"), (&two, "up"), (&two, "down"), (&two, "up")] {
            report(&ann.client, monitor, to).await;
            step(&app, &ann, 40).await;
        }
        let last = step(&app, &ann, 61).await[0].clone();
        let incident = ann.client.get(&format!("incident/{}/get", text(&last["incidentid"]))).await.ok();
        let updates = incident["incident"]["updates"].as_array().unwrap();
        let statuses: Vec<&Value> = updates.iter().rev().map(|update| &update["status"]).collect();
        let expected = ["investigating", "investigating", "monitoring", "investigating", "monitoring", "resolved"];
        assert_eq!(statuses, expected);
        assert!(updates.iter().all(|update| update["notify"] == false), "{updates:?}");
    }

    async fn beyond_the_limit_of_messages_a_rule_publishes_without_notifying_subscribers(setup: Setup) {
        let mut setup = setup;
        setup.settings.limits.subscriber_messages_per_hour = 1;
        let app = setup.start().await;
        let ann = app.sign_up("ann@example.com").await;
        let one = job(&ann.client, "one", "").await;
        let page = page(&ann, json!([{"name": "API", "monitors": [one]}])).await;
        let import = json!({"consent": true, "subscribers": [{"address": "vic@example.com"}]});
        ann.client.post(&format!("statuspage/{}/subscribers/import", text(&page["pageid"])), &import).await.ok();
        set_rules(&ann, &page, json!([{"mode": "publish", "notify": true, "resolve_after": 60}])).await;
        for to in ["down", "up"] {
            report(&ann.client, &one, to).await;
            step(&app, &ann, 40).await;
        }
        let last = step(&app, &ann, 61).await[0].clone();
        let incident = ann.client.get(&format!("incident/{}/get", text(&last["incidentid"]))).await.ok();
        let updates = incident["incident"]["updates"].as_array().unwrap();
        let written: Vec<(&Value, &Value)> =
            updates.iter().rev().map(|update| (&update["status"], &update["notify"])).collect();
        let (yes, no) = (json!(true), json!(false));
        let expected = [("investigating", &yes), ("monitoring", &no), ("resolved", &no)];
        assert_eq!(written.len(), expected.len(), "{updates:?}");
        for ((status, notify), (expected_status, expected_notify)) in written.into_iter().zip(expected) {
            assert_eq!((status.as_str(), notify), (Some(expected_status), expected_notify));
        }
    }

    async fn a_rule_leaves_room_for_the_updates_of_people(setup: Setup) {
        let app = setup.start().await;
        let ann = app.sign_up("ann@example.com").await;
        let one = job(&ann.client, "one", "").await;
        let page = page(&ann, json!([{"name": "API", "monitors": [one]}])).await;
        set_rules(&ann, &page, json!([{"mode": "publish", "notify": false, "resolve_after": 3_600}])).await;
        report(&ann.client, &one, "down").await;
        let id = text(&step(&app, &ann, 40).await[0]["incidentid"]);
        // A flapping monitor: two updates each.
        for _ in 0..51 {
            for to in ["up", "down"] {
                report(&ann.client, &one, to).await;
                step(&app, &ann, 5).await;
            }
        }
        let incident = ann.client.get(&format!("incident/{id}/get")).await.ok()["incident"].clone();
        assert_eq!(incident["updates"].as_array().unwrap().len(), 100);
        assert_eq!(incident["components"][0]["status"], "major_outage", "it still follows the monitor");
        let update = json!({"status": "resolved", "body": "We have replaced the disk.", "notify": false});
        let resolved = ann.client.post(&format!("incident/{id}/update/save"), &update).await.ok();
        assert_eq!(resolved["incident"]["status"], "resolved");
    }

    async fn an_outage_of_many_components_names_the_first_of_them(setup: Setup) {
        let app = setup.start().await;
        let ann = app.sign_up("ann@example.com").await;
        let one = job(&ann.client, "one", "").await;
        let name = |number: u32| format!("{number:03} {}", "x".repeat(246));
        let components: Vec<Value> =
            (0..200).map(|number| json!({"name": name(number), "monitors": [one]})).collect();
        let page = page(&ann, json!(components)).await;
        set_rules(&ann, &page, json!([{"mode": "publish"}])).await;
        report(&ann.client, &one, "down").await;
        let opened = step(&app, &ann, 40).await[0].clone();
        assert_eq!(opened["components"].as_array().unwrap().len(), 200);
        let seven: Vec<String> = (0..7).map(name).collect();
        let body = format!("{}, … is not available. We are looking into it.", seven.join(", "));
        assert_eq!(opened["updates"][0]["body"], body);
        // There is room for a person's text.
        let update = json!({"body": "é".repeat(10_000), "notify": false});
        let path = format!("incident/{}/update/save", text(&opened["incidentid"]));
        ann.client.post(&path, &update).await.ok();
    }

    async fn outages_that_begin_later_have_an_incident_of_their_own(setup: Setup) {
        let app = setup.start().await;
        let ann = app.sign_up("ann@example.com").await;
        let (one, two) = (job(&ann.client, "one", "").await, job(&ann.client, "two", "").await);
        let components = json!([{"name": "API", "monitors": [one]}, {"name": "Web", "monitors": [two]}]);
        let page = page(&ann, components).await;
        set_rules(&ann, &page, json!([{"mode": "publish", "group": 60, "resolve_after": 60}])).await;
        report(&ann.client, &one, "down").await;
        assert_eq!(step(&app, &ann, 40).await.len(), 1);
        app.clock.advance(Duration::from_secs(61));
        report(&ann.client, &two, "down").await;
        let both = step(&app, &ann, 40).await;
        assert_eq!(statuses(&both), ["investigating", "investigating"]);
        let names: Vec<&Value> = both.iter().map(|incident| &incident["components"][0]["name"]).collect();
        assert_eq!(names, ["Web", "API"]);
        assert_eq!(step(&app, &ann, 5).await.len(), 2, "once");
        // Each follows its own outage.
        report(&ann.client, &two, "up").await;
        assert_eq!(statuses(&step(&app, &ann, 5).await), ["monitoring", "investigating"]);
        assert_eq!(statuses(&step(&app, &ann, 61).await), ["resolved", "investigating"]);
        // What a person has closed is left alone, but keeps no other outage from being reported.
        let close = format!("incident/{}/update/save", text(&both[1]["incidentid"]));
        ann.client.post(&close, &json!({"status": "resolved", "body": "It may stay down."})).await.ok();
        assert_eq!(statuses(&step(&app, &ann, 5).await), ["resolved", "resolved"]);
        report(&ann.client, &two, "down").await;
        assert_eq!(statuses(&step(&app, &ann, 40).await), ["investigating", "resolved", "resolved"]);
        report(&ann.client, &one, "up").await;
        step(&app, &ann, 5).await;
        report(&ann.client, &one, "down").await;
        let joined = step(&app, &ann, 40).await;
        assert_eq!(joined.len(), 3);
        assert_eq!(joined[0]["components"].as_array().unwrap().len(), 2);
    }

    async fn an_outage_begins_when_too_few_monitors_are_up(setup: Setup) {
        let app = setup.start().await;
        let ann = app.sign_up("ann@example.com").await;
        let (one, two) = (job(&ann.client, "one", "").await, job(&ann.client, "two", "").await);
        let page = page(&ann, json!([{"name": "API", "monitors": [one, two], "needs": 1}])).await;
        set_rules(&ann, &page, json!([{"mode": "publish", "on_recovery": "resolve"}])).await;
        report(&ann.client, &one, "down").await;
        assert!(step(&app, &ann, 100).await.is_empty(), "one is enough");
        for number in 1..3 {
            report(&ann.client, &two, "down").await;
            assert_eq!(step(&app, &ann, 20).await.len(), number - 1, "not confirmed yet");
            assert_eq!(step(&app, &ann, 20).await.len(), number);
            report(&ann.client, &two, "up").await;
            step(&app, &ann, 5).await;
            assert_eq!(step(&app, &ann, 5).await[0]["status"], "resolved");
        }
    }

    async fn what_is_left_to_people_stays_open_and_its_draft_is_discarded(setup: Setup) {
        let app = setup.start().await;
        let ann = app.sign_up("ann@example.com").await;
        let one = job(&ann.client, "one", "").await;
        let page = page(&ann, json!([{"name": "API", "monitors": [one]}])).await;
        let leave = |mode: &str| json!({"mode": mode, "on_recovery": "leave"});
        set_rules(&ann, &page, json!([leave("draft"), leave("publish")])).await;
        report(&ann.client, &one, "down").await;
        assert_eq!(step(&app, &ann, 40).await.len(), 2);
        report(&ann.client, &one, "up").await;
        let left = step(&app, &ann, 5).await;
        let mut states: Vec<String> = left.iter().map(|incident| text(&incident["state"])).collect();
        states.sort();
        assert_eq!(states, ["discarded", "published"]);
        assert_eq!(statuses(&left), ["investigating", "investigating"]);
    }

    async fn a_cause_is_named_only_by_the_template_of_a_rule_that_allows_it(setup: Setup) {
        let app = setup.start().await;
        let ann = app.sign_up("ann@example.com").await;
        let one = job(&ann.client, "one", "").await;
        let page = page(&ann, json!([{"name": "API", "monitors": [one]}])).await;
        let template = json!({"name": "outage", "title": "{{ components }}: {{ cause }}", "body": "Why: {{ cause }}"});
        let template = ann.client.post("incidenttemplate/save", &template).await.ok();
        let template = &template["incidenttemplate"]["templateid"];
        let rule = |allowed: bool| json!({"mode": "publish", "templateid": template, "show_cause": allowed});
        set_rules(&ann, &page, json!([rule(false), rule(true)])).await;
        report(&ann.client, &one, "down").await;
        // A check may have seen anything.
        let cause = "no <b>*answer*</b> from [db](https://db.internal)";
        let change = format!("update alerts set cause = '{cause}' where kind = 'outage' returning cast(1 as bigint)");
        assert_eq!(app.database.number(&change).await, 1);
        let mut opened = step(&app, &ann, 40).await;
        assert_eq!(opened.len(), 2);
        opened.sort_by_key(|incident| text(&incident["title"]).len());
        assert_eq!((&opened[0]["title"], &opened[0]["updates"][0]["body"]), (&json!("API: "), &json!("Why: ")));
        assert_eq!(opened[1]["title"], format!("API: {cause}"));
        let id = text(&opened[1]["incidentid"]);
        shown(&app, "acme", "the incidents", |now| now.incidents.len() == 2).await;
        let browser = app.anonymous().with("accept", "text/html");
        let html = browser.get(&format!("/status/acme/incident/{id}")).await.text;
        assert!(html.contains("<p>Why: no &lt;b&gt;*answer*&lt;/b&gt; from [db](https://db.internal)</p>"), "{html}");
        assert!(!html.contains("<b>") && !html.contains("href=\"https://db.internal"), "{html}");
    }

    async fn time_alone_changes_what_a_page_shows(setup: Setup) {
        let app = setup.start().await;
        let ann = app.sign_up("ann@example.com").await;
        let one = job(&ann.client, "one", "").await;
        let body = json!({"name": "Acme", "published": true, "shown_after": 1,
            "sections": [{"components": [{"name": "API", "monitors": [one]}]}]});
        let page = ann.client.post("statuspage/save", &body).await.ok()["statuspage"].clone();
        shown(&app, "acme", "a first snapshot", |_| true).await;
        app.clock.advance(Duration::from_secs(1));
        report(&ann.client, &one, "down").await;
        let began = app.engine.now();
        let early = shown(&app, "acme", "the page after the outage", |now| now.as_of == began).await;
        assert_eq!(status(&early, "API"), ComponentStatus::Operational);
        app.clock.advance(Duration::from_secs(1));
        let is = |wanted| move |now: &Snapshot| status(now, "API") == wanted;
        shown(&app, "acme", "the outage that has lasted", is(ComponentStatus::MajorOutage)).await;
        let until = app.engine.now().after(Duration::from_secs(1));
        let set = json!({"status": "degraded_performance", "until": until.to_string()});
        ann.client.post(&format!("component/{}/status", component(&page, 0)), &set).await.ok();
        shown(&app, "acme", "the override", is(ComponentStatus::DegradedPerformance)).await;
        app.clock.advance(Duration::from_secs(1));
        shown(&app, "acme", "the end of the override", is(ComponentStatus::MajorOutage)).await;
    }
}
