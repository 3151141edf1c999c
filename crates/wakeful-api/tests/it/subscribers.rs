//! Subscribers of status pages: how they subscribe, what they receive, and how it ends.

use reqwest::Method;
use serde_json::{Map, Value, json};
use std::time::Duration;
use wakeful_outbound::net::guard::Policy;
use wakeful_testkit::{
    Answer, App, Client, DatabaseKind, Receiver, SmtpSecurity, SmtpServer, Stopwatch, User,
    both_databases, until,
};

use crate::page_formats::python;

const FORM: Option<&str> = Some("application/x-www-form-urlencoded");

/// Verifies signatures with the public library for receivers, at the time when each was made;
/// prints how many are right, and how many still are when the body has changed.
const VERIFY: &str = r#"
import json, sys
from datetime import datetime
from standardwebhooks import webhooks

class Clock(datetime):
    @classmethod
    def now(cls, tz=None):
        return datetime.fromtimestamp(at, tz)

webhooks.datetime = Clock
counts = [0, 0]
for one in json.load(sys.stdin):
    at = int(one["headers"]["webhook-timestamp"])
    for index, body in enumerate([one["body"], one["body"] + " "]):
        try:
            webhooks.Webhook(one["secret"]).verify(body, one["headers"])
            counts[index] += 1
        except webhooks.WebhookVerificationError:
            pass
print(json.dumps(counts))
"#;

pub(crate) fn text(value: &Value) -> String {
    value.as_str().unwrap_or_else(|| panic!("no text: {value}")).to_owned()
}

/// A published page with the components API and Web, which is served.
async fn page(app: &App, ann: &User, more: Value) -> Value {
    let mut page = json!({"name": "Acme", "published": true, "languages": ["de"], "sections": [
        {"name": "Core", "components": [{"name": "API"}]},
        {"name": "Other", "components": [{"name": "Web"}]}]});
    page.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
    let saved = ann.client.post("statuspage/save", &page).await.ok()["statuspage"].clone();
    until("the page", || async {
        let answer = app.anonymous().get("/status/acme/index.json").await;
        (answer.status == 200).then_some(())
    })
    .await;
    saved
}

fn component(page: &Value, section: usize) -> String {
    text(&page["sections"][section]["components"][0]["componentid"])
}

pub(crate) async fn post_form(client: &Client, path: &str, form: &str) -> Answer {
    client.raw(Method::POST, path, FORM, form.to_owned()).await
}

/// Opens an incident that affects a component; returns its id.
async fn incident(ann: &User, component: &str, title: &str) -> String {
    let body = json!({"title": title, "update": {"body": "We are **looking** into it."},
        "components": [{"componentid": component, "status": "partial_outage"}]});
    text(&ann.client.post("incident/save", &body).await.ok()["incident"]["incidentid"])
}

async fn update(ann: &User, incident: &str, body: Value) -> Answer {
    ann.client.post(&format!("incident/{incident}/update/save"), &body).await
}

async fn listed(ann: &User, page: &Value, query: &str) -> Value {
    let id = text(&page["pageid"]);
    ann.client.get(&format!("statuspage/{id}/subscribers{query}")).await.ok()
}

/// The path of the link to a page in a mail.
pub(crate) fn link(app: &App, mail: &str, kind: &str) -> String {
    let start = format!("{}/status/acme/{kind}/", app.url);
    let at = mail.find(&start).unwrap_or_else(|| panic!("no {kind}: {mail}"));
    let rest = &mail[at + app.url.len()..];
    rest.split(|c: char| c.is_whitespace() || "<>\"".contains(c)).next().unwrap().to_owned()
}

fn header<'a>(mail: &'a str, name: &str) -> &'a str {
    let start = format!("{name}: ");
    let line = mail.split("\r\n").find(|line| line.starts_with(&start));
    line.unwrap_or_else(|| panic!("no {name}: {mail}")).strip_prefix(&start).unwrap()
}

/// Subscribers without addresses, each with a message that waits, as one that exists does.
fn ninety_nine_thousand_more(database: DatabaseKind) -> [&'static str; 2] {
    let subscribers = match database {
        DatabaseKind::Sqlite => {
            "insert into subscribers
             (id, page_id, kind, digest, state, source, settings, created, confirmed)
             with recursive n (i) as (select 1 union all select i + 1 from n where i < 99000)
             select unhex(printf('%032x', n.i)), s.page_id, s.kind, unhex(printf('%064x', n.i)),
                    s.state, s.source, s.settings, s.created, s.confirmed
             from n, (select * from subscribers where kind = 'email' limit 1) s"
        }
        DatabaseKind::Postgres => {
            "insert into subscribers
             (id, page_id, kind, digest, state, source, settings, created, confirmed)
             select cast(lpad(to_hex(n.i), 32, '0') as uuid), s.page_id, s.kind,
                    decode(lpad(to_hex(n.i), 64, '0'), 'hex'),
                    s.state, s.source, s.settings, s.created, s.confirmed
             from generate_series(1, 99000) n (i),
                  (select * from subscribers where kind = 'email' limit 1) s"
        }
    };
    let deliveries = "insert into statuspage_deliveries
         (event_id, subscriber_id, incident_id, sequence, page_id, queue, state, next_try, created)
         select d.event_id, s.id, d.incident_id, d.sequence, d.page_id, d.queue, d.state,
                d.next_try, d.created
         from subscribers s,
              (select * from statuspage_deliveries where state = 'waiting' limit 1) d
         where s.address is null";
    [subscribers, deliveries]
}

both_databases! {
    async fn a_visitor_subscribes_chooses_and_unsubscribes(setup: Setup) {
        let app = setup.start().await;
        let ann = app.sign_up("ann@example.com").await;
        let page = page(&app, &ann, json!({"subscribe": {"reply_to": "help@example.com"}})).await;
        let (api, web) = (component(&page, 0), component(&page, 1));
        let visitor = app.anonymous();
        let front = visitor.get("/status/acme").await;
        assert_eq!(front.text.matches("/status/acme/subscribe").count(), 2, "{}", front.text);
        let form = visitor.get("/status/acme/subscribe").await;
        assert!(form.text.contains("name=\"email\"") && !form.text.contains("<script"), "{}", form.text);
        assert_eq!(form.header("cache-control"), "private, no-store");
        let wrong = post_form(&visitor, "/status/acme/subscribe", "email=nobody&incidents=on").await;
        assert!(wrong.status == 422 && wrong.text.contains("email-error"), "{}", wrong.text);
        let wrong = post_form(&visitor, "/status/acme/subscribe", "email=vic@example.com").await;
        assert!(wrong.status == 422 && wrong.text.contains("kinds-error"), "{}", wrong.text);
        // A program fills every field.
        let both = "incidents=on&maintenance=on";
        let bot = post_form(&visitor, "/status/acme/subscribe", &format!("email=bot@example.com&website=x&{both}")).await;
        let sent = post_form(&visitor, "/status/acme/subscribe", &format!("email=vic@example.com&{both}&lang=de")).await;
        assert_eq!((bot.status, &bot.text), (sent.status, &sent.text), "the same for every address");

        let mail = app.mails("vic@example.com", 1).await.remove(0);
        let confirm = link(&app, &mail, "confirm");
        assert!(confirm.contains("/confirm/wks_"), "{confirm}");
        assert!(visitor.get(&confirm).await.text.contains("<button"), "opening it changes nothing");
        assert_eq!(listed(&ann, &page, "?state=pending").await["subscribers"].as_array().unwrap().len(), 1);
        assert_eq!(visitor.post_nothing(&confirm).await.status, 200);
        assert_eq!(visitor.post_nothing(&confirm).await.status, 404, "once");
        let list = listed(&ann, &page, "?q=VIC").await;
        let one = &list["subscribers"][0];
        assert_eq!((&one["state"], &one["source"], &one["address"]), (&json!("active"), &json!("self"), &json!("vic@example.com")));
        assert_eq!((&list["counts"]["email"], &list["counts"]["active"]), (&json!(1), &json!(1)));
        let pages = ann.client.get("statuspages").await.ok()["statuspages"][0].clone();
        assert_eq!((&pages["subscribers"], &pages["recipients"]["email"]), (&json!(1), &json!(1)));
        assert!(app.mails_now("bot@example.com").is_empty());

        // The first update at once; those of the next five minutes in one email.
        let id = incident(&ann, &api, "API down").await;
        let mails = app.mails("vic@example.com", 2).await;
        let first = mails.iter().find(|mail| mail.contains("API down")).unwrap().clone();
        assert_eq!(header(&first, "Subject"), "[Acme] API down: Investigating");
        assert_eq!(header(&first, "List-Unsubscribe-Post"), "List-Unsubscribe=One-Click");
        assert_eq!(header(&first, "Reply-To"), "help@example.com");
        assert!(header(&first, "From").contains("Acme") && header(&first, "List-Id").starts_with("<acme."), "{first}");
        assert!(first.contains("We are looking into it.") && first.contains("<strong>looking</strong>"), "{first}");
        let unsubscribe = link(&app, header(&first, "List-Unsubscribe"), "unsubscribe");
        app.clock.advance(Duration::from_secs(10));
        update(&ann, &id, json!({"status": "identified", "body": "Found it."})).await.ok();
        app.clock.advance(Duration::from_secs(10));
        update(&ann, &id, json!({"status": "resolved", "body": "Fixed."})).await.ok();
        let waiting = until("two waiting messages", || async {
            let all = ann.client.get(&format!("incident/{id}/deliveries")).await.ok()["updates"].clone();
            (all[0]["waiting"] == 1 && all[1]["waiting"] == 1).then_some(all)
        })
        .await;
        assert_eq!((&waiting[2]["delivered"], &waiting[2]["failures"]), (&json!(1), &json!([])));
        assert_eq!(app.mails_now("vic@example.com").len(), 2);
        app.clock.advance(Duration::from_secs(300));
        let mails = app.mails("vic@example.com", 3).await;
        let digest = mails.iter().find(|mail| mail.contains("Found it.")).unwrap();
        assert!(digest.contains("Fixed.") && digest.find("Found it.") < digest.find("Fixed."), "{digest}");
        assert_eq!(header(digest, "Subject"), "[Acme] API down: Resolved");
        assert_eq!(header(digest, "In-Reply-To"), header(&first, "Message-ID"));

        // Only what was chosen is sent.
        let manage = link(&app, digest, "manage");
        assert!(visitor.get(&manage).await.text.contains("Web"));
        let saved = post_form(&visitor, &manage, &format!("component-{web}=on&incidents=on&language=de")).await;
        assert!(saved.status == 200 && saved.text.contains("checked"), "{}", saved.text);
        app.clock.advance(Duration::from_secs(600));
        let unseen = incident(&ann, &api, "API again").await;
        incident(&ann, &web, "Web down").await;
        let mails = app.mails("vic@example.com", 4).await;
        let german = mails.iter().find(|mail| mail.contains("Web down")).unwrap();
        assert!(header(german, "Subject").contains("Wird untersucht") || german.contains("lang=\"de\""), "{german}");
        let deliveries = ann.client.get(&format!("incident/{unseen}/deliveries")).await.ok();
        assert_eq!(deliveries["updates"][0]["delivered"], 0);

        // One click, as mail programs do it: without a cookie, twice, and while nothing is published.
        ann.client.post("statuspage/save", &json!({"pageid": page["pageid"], "published": false})).await.ok();
        until("no page", || async { (visitor.get("/status/acme").await.status == 404).then_some(()) }).await;
        assert!(visitor.get(&unsubscribe).await.text.contains("<button"));
        for _ in 0..2 {
            assert_eq!(post_form(&visitor, &unsubscribe, "List-Unsubscribe=One-Click").await.status, 200);
        }
        visitor.get("/status/acme/unsubscribe/x").await.refused(404, "not_found");
        let browser = visitor.with("accept", "text/html");
        for answer in [browser.get("/status/acme/unsubscribe/x").await, browser.post_nothing("/status/acme/unsubscribe/x").await] {
            assert!(answer.status == 404 && answer.text.contains("<h1"), "{}", answer.text);
        }
        let gone = listed(&ann, &page, "").await["subscribers"][0].clone();
        assert_eq!((&gone["state"], &gone["address"]), (&json!("unsubscribed"), &json!("")));
        let again = json!({"consent": true, "subscribers": [{"address": "VIC@example.com"}, {"address": "new@example.com"}]});
        let path = format!("statuspage/{}/subscribers/import", text(&page["pageid"]));
        let again = ann.client.post(&path, &again).await.ok();
        assert_eq!((&again["added"], &again["refused"]), (&json!(1), &json!(1)), "{again}");
        app.clock.advance(Duration::from_secs(91 * 86_400));
        app.sweep().await;
        let ann = ann.log_in(&visitor).await;
        assert_eq!(listed(&ann, &page, "").await["counts"]["unsubscribed"], 0);
    }

    async fn only_its_owner_restores_an_address_that_was_unsubscribed_or_bounces(setup: Setup) {
        let app = setup.start().await;
        let ann = app.sign_up("ann@example.com").await;
        let page = page(&app, &ann, json!({})).await;
        let id = text(&page["pageid"]);
        let (save, import) =
            (format!("statuspage/{id}/subscriber/save"), format!("statuspage/{id}/subscribers/import"));
        let (bob, eve) = ("bob@example.com", "eve@example.com");
        let both = json!({"consent": true, "subscribers": [{"address": bob}, {"address": eve}]});
        assert_eq!(ann.client.post(&import, &both).await.ok()["added"], 2);
        incident(&ann, &component(&page, 0), "API down").await;
        let mail = app.mails(bob, 1).await.remove(0);
        app.mails(eve, 1).await;
        let hook = json!({"kind": "webhook", "address": "https://hooks.example.com/1"});
        let stored = ann.client.post(&save, &hook).await.ok()["subscriber"].clone();
        let visitor = app.anonymous();
        let unsubscribe = link(&app, header(&mail, "List-Unsubscribe"), "unsubscribe");
        assert_eq!(visitor.post_nothing(&unsubscribe).await.status, 200);
        app.database.execute("update subscribers set state = 'bouncing' where state = 'active'").await;

        // Neither an import nor the team's consent restores them, also after they were asked again.
        let left = async || {
            let imported = ann.client.post(&import, &both).await.ok();
            let counts = listed(&ann, &page, "?kind=email").await["counts"].clone();
            (imported["refused"].clone(), counts["active"].clone(), counts["bouncing"].clone())
        };
        assert_eq!(left().await, (json!(2), json!(0), json!(2)));
        for address in [bob, eve] {
            ann.client.post(&save, &json!({"address": address, "consent": true})).await.ok();
            app.mails(address, 2).await;
        }
        assert_eq!(left().await, (json!(2), json!(0), json!(2)));
        let pending = listed(&ann, &page, "?state=pending").await["subscribers"][0].clone();
        assert_eq!(pending["address"], bob);
        let delete = format!("statuspage/{id}/subscriber/{}/delete", text(&pending["subscriberid"]));
        assert_eq!(ann.client.delete(&delete).await.wrong_fields(), ["subscriberid"]);
        app.clock.advance(Duration::from_secs(86_401));
        app.sweep().await;
        let ended = listed(&ann, &page, "?state=unsubscribed").await["subscribers"][0].clone();
        assert_eq!((&ended["subscriberid"], &ended["address"]), (&pending["subscriberid"], &json!("")));
        assert_eq!(ann.client.delete(&delete).await.wrong_fields(), ["subscriberid"]);
        assert_eq!(left().await, (json!(2), json!(0), json!(2)));

        // Their own confirmation does; the link of the first email has expired.
        for address in [bob, eve] {
            ann.client.post(&save, &json!({"address": address, "consent": true})).await.ok();
            let mut confirmed = 0;
            for mail in app.mails(address, 3).await.iter().filter(|mail| mail.contains("/confirm/")) {
                let answer = visitor.post_nothing(&link(&app, mail, "confirm")).await;
                confirmed += u32::from(answer.status == 200);
            }
            assert_eq!(confirmed, 1, "{address}");
        }
        assert_eq!(listed(&ann, &page, "").await["counts"]["email"], 2);

        // A webhook that the team has added has no owner who could confirm it.
        assert_eq!(ann.client.post(&save, &hook).await.wrong_fields(), ["address"]);
        let delete = format!("statuspage/{id}/subscriber/{}/delete", text(&stored["subscriberid"]));
        ann.client.delete(&delete).await.ok();
        assert_eq!(ann.client.post(&save, &hook).await.ok()["subscriber"]["state"], "active");
    }

    async fn a_bouncing_address_that_was_deleted_is_restored_only_by_its_owner(setup: Setup) {
        let app = setup.start().await;
        let ann = app.sign_up("ann@example.com").await;
        let page = page(&app, &ann, json!({})).await;
        let id = text(&page["pageid"]);
        let (save, import) =
            (format!("statuspage/{id}/subscriber/save"), format!("statuspage/{id}/subscribers/import"));
        let bob = "bob@example.com";
        let one = |address: &str| json!({"consent": true, "subscribers": [{"address": address}]});
        assert_eq!(ann.client.post(&import, &one(bob)).await.ok()["added"], 1);
        app.database.execute("update subscribers set state = 'bouncing', failures = 3").await;
        let bouncing = listed(&ann, &page, "?state=bouncing").await["subscribers"][0].clone();
        let delete = format!("statuspage/{id}/subscriber/{}/delete", text(&bouncing["subscriberid"]));
        let deleted = ann.client.delete(&delete).await.ok();
        assert!(text(&deleted["message"]).contains("must confirm"), "{deleted}");
        let left = listed(&ann, &page, "").await["subscribers"][0].clone();
        assert_eq!((&left["state"], &left["address"]), (&json!("unsubscribed"), &json!("")));
        assert_eq!(ann.client.delete(&delete).await.wrong_fields(), ["subscriberid"]);

        // Neither an import nor the team's consent makes it deliverable, also after it was asked.
        let refused = async || {
            for address in [bob, "BOB@Example.com"] {
                let imported = ann.client.post(&import, &one(address)).await.ok();
                assert_eq!((&imported["added"], &imported["refused"]), (&json!(0), &json!(1)));
            }
            assert_eq!(listed(&ann, &page, "").await["counts"]["active"], 0);
        };
        refused().await;
        let saved = ann.client.post(&save, &json!({"address": bob, "consent": true})).await.ok();
        assert_eq!(saved["subscriber"]["state"], "pending");
        assert_eq!(ann.client.delete(&delete).await.wrong_fields(), ["subscriberid"]);
        refused().await;

        // Its owner subscribes and confirms; the link that the team has sent is no longer valid.
        app.mails(bob, 1).await;
        let visitor = app.anonymous();
        let form = format!("email={bob}&incidents=on&maintenance=on");
        post_form(&visitor, "/status/acme/subscribe", &form).await;
        let mut confirmed = 0;
        for mail in app.mails(bob, 2).await {
            let answer = visitor.post_nothing(&link(&app, &mail, "confirm")).await;
            confirmed += u32::from(answer.status == 200);
        }
        assert_eq!(confirmed, 1);
        let restored = listed(&ann, &page, "").await["subscribers"][0].clone();
        assert_eq!((&restored["state"], &restored["address"]), (&json!("active"), &json!(bob)));
        incident(&ann, &component(&page, 0), "API down").await;
        app.mails(bob, 3).await;

        // The same protects the webhook of a visitor.
        let hook = json!({"kind": "webhook", "address": "https://hooks.example.com/1"});
        let stored = ann.client.post(&save, &hook).await.ok()["subscriber"].clone();
        app.database
            .execute("update subscribers set state = 'bouncing', source = 'self' where kind = 'webhook'")
            .await;
        let delete = format!("statuspage/{id}/subscriber/{}/delete", text(&stored["subscriberid"]));
        ann.client.delete(&delete).await.ok();
        assert_eq!(ann.client.post(&save, &hook).await.wrong_fields(), ["address"]);
    }

    async fn a_team_cannot_add_strangers_without_end(setup: Setup) {
        let mut setup = setup;
        setup.settings.limits.added_subscribers_per_hour = 5;
        let app = setup.start().await;
        let ann = app.sign_up("ann@example.com").await;
        let first = page(&app, &ann, json!({})).await;
        let id = text(&first["pageid"]);
        let (save, import) =
            (format!("statuspage/{id}/subscriber/save"), format!("statuspage/{id}/subscribers/import"));
        let of = |names: &[&str]| {
            let all = names.iter().map(|name| json!({"address": format!("{name}@example.com")}));
            json!({"consent": true, "subscribers": all.collect::<Vec<_>>()})
        };
        ann.client.post(&import, &of(&["a", "b", "c"])).await.ok();
        // Those that are known, or cannot be added, do not count.
        let again = ann.client.post(&import, &of(&["a", "b"])).await.ok();
        assert_eq!((&again["added"], &again["known"]), (&json!(0), &json!(2)), "{again}");
        let known = json!({"address": "a@example.com", "consent": true});
        ann.client.post(&save, &known).await.ok();
        // Deleting some makes no room.
        for one in listed(&ann, &first, "").await["subscribers"].as_array().unwrap() {
            let path = format!("statuspage/{id}/subscriber/{}/delete", text(&one["subscriberid"]));
            ann.client.delete(&path).await.ok();
        }
        let refused = ann.client.post(&import, &of(&["d", "e", "f"])).await;
        refused.refused(429, "too_many_requests");
        assert!(!refused.header("retry-after").is_empty(), "{}", refused.text);
        // More than fit into an hour are not to be tried again later.
        let too_many = ann.client.post(&import, &of(&["d", "e", "f", "g", "h", "i"])).await;
        too_many.refused(422, "invalid_fields");
        let error = too_many.json()["errors"][0].clone();
        let why = "must have at most 5 items: a team can add no more subscribers in an hour";
        assert_eq!((&error["field"], &error["message"]), (&json!("subscribers"), &json!(why)));
        // Neither does another page; a refused import has used up nothing.
        let second = json!({"name": "Other", "slug": "other"});
        let second = ann.client.post("statuspage/save", &second).await.ok()["statuspage"].clone();
        let of_second = format!("statuspage/{}/subscribers/import", text(&second["pageid"]));
        ann.client.post(&of_second, &of(&["d", "e"])).await.ok();
        ann.client.post(&of_second, &of(&["g"])).await.refused(429, "too_many_requests");
        // A confirmation is an email, too.
        for consent in [false, true] {
            let stranger = json!({"address": "g@example.com", "consent": consent});
            ann.client.post(&save, &stranger).await.refused(429, "too_many_requests");
        }
        app.clock.advance(Duration::from_secs(3_601));
        ann.client.post(&save, &json!({"address": "g@example.com"})).await.ok();
    }

    async fn emails_name_components_in_the_language_of_the_subscriber(setup: Setup) {
        let app = setup.start().await;
        let ann = app.sign_up("ann@example.com").await;
        let components = json!([{"name": "API", "texts": {"de": {"name": "Schnittstelle"}}}]);
        let page = page(&app, &ann, json!({"sections": [{"components": components}]})).await;
        let import = json!({"consent": true, "subscribers": [{"address": "vic@example.com"},
            {"address": "eva@example.com", "language": "de"}]});
        ann.client.post(&format!("statuspage/{}/subscribers/import", text(&page["pageid"])), &import).await.ok();
        incident(&ann, &component(&page, 0), "Slow").await;
        let english = app.mails("vic@example.com", 1).await.remove(0);
        assert!(english.contains(": API (Partial outage)"), "{english}");
        let german = app.mails("eva@example.com", 1).await.remove(0);
        assert!(german.contains(": Schnittstelle (") && !german.contains(": API ("), "{german}");
    }

    async fn the_updates_of_a_team_cannot_cause_messages_without_end(setup: Setup) {
        let mut setup = setup;
        setup.settings.limits.subscriber_messages_per_hour = 5;
        let app = setup.start().await;
        let ann = app.sign_up("ann@example.com").await;
        let page = page(&app, &ann, json!({})).await;
        let (api, id) = (component(&page, 0), text(&page["pageid"]));
        let all: Vec<Value> = (0..2).map(|number| json!({"address": format!("inbox{number}@example.com")})).collect();
        let import = json!({"consent": true, "subscribers": all});
        ann.client.post(&format!("statuspage/{id}/subscribers/import"), &import).await.ok();
        let down = incident(&ann, &api, "API down").await;
        update(&ann, &down, json!({"status": "identified", "body": "Found it."})).await.ok();
        let refused = update(&ann, &down, json!({"status": "monitoring", "body": "Fixed?"})).await;
        refused.refused(429, "too_many_requests");
        assert!(!refused.header("retry-after").is_empty(), "{}", refused.text);
        let other = json!({"title": "Web down", "update": {"body": "We look."},
            "components": [{"componentid": component(&page, 1), "status": "partial_outage"}]});
        ann.client.post("incident/save", &other).await.refused(429, "too_many_requests");
        // What notifies nobody is published.
        update(&ann, &down, json!({"status": "monitoring", "body": "Fixed.", "notify": false})).await.ok();
        let incidents = ann.client.get("incidents").await.ok()["incidents"].clone();
        assert_eq!((incidents.as_array().unwrap().len(), &incidents[0]["status"]), (1, &json!("monitoring")));
        // Another team has messages of its own.
        let bob = app.sign_up("bob@example.com").await;
        let of_bob = json!({"name": "Bob", "slug": "bob", "published": true, "sections": [{"components": [{"name": "API"}]}]});
        let of_bob = bob.client.post("statuspage/save", &of_bob).await.ok()["statuspage"].clone();
        let save = format!("statuspage/{}/subscriber/save", text(&of_bob["pageid"]));
        bob.client.post(&save, &json!({"address": "vic@example.com", "consent": true})).await.ok();
        incident(&bob, &component(&of_bob, 0), "Bob is down").await;
        app.clock.advance(Duration::from_secs(3_601));
        ann.client.post("incident/save", &other).await.ok();
    }

    async fn an_update_to_more_subscribers_than_the_limit_is_possible_once_an_hour(setup: Setup) {
        let mut setup = setup;
        setup.settings.limits.subscriber_messages_per_hour = 1;
        let app = setup.start().await;
        let ann = app.sign_up("ann@example.com").await;
        let page = page(&app, &ann, json!({})).await;
        let all: Vec<Value> = (0..3).map(|number| json!({"address": format!("inbox{number}@example.com")})).collect();
        let import = json!({"consent": true, "subscribers": all});
        ann.client.post(&format!("statuspage/{}/subscribers/import", text(&page["pageid"])), &import).await.ok();
        let down = incident(&ann, &component(&page, 0), "API down").await;
        let next = json!({"status": "identified", "body": "Found it."});
        update(&ann, &down, next.clone()).await.refused(429, "too_many_requests");
        for number in 0..3 {
            app.mails(&format!("inbox{number}@example.com"), 1).await;
        }
        app.clock.advance(Duration::from_secs(3_601));
        update(&ann, &down, next).await.ok();
        for number in 0..3 {
            app.mails(&format!("inbox{number}@example.com"), 2).await;
        }
    }

    async fn a_team_manages_subscribers_and_sees_what_was_sent(setup: Setup) {
        let mut setup = setup;
        let server = SmtpServer::start(SmtpSecurity::Plain).await;
        setup.mail_port = Some(server.port);
        let app = setup.start().await;
        let ann = app.sign_up("ann@example.com").await;
        let page = page(&app, &ann, json!({})).await;
        let (api, id) = (component(&page, 0), text(&page["pageid"]));
        let save = format!("statuspage/{id}/subscriber/save");
        for (body, field) in [
            (json!({}), "address"),
            (json!({"address": "nobody"}), "address"),
            (json!({"kind": "pigeon", "address": "a@b.example"}), "kind"),
            (json!({"kind": "webhook", "address": "ftp://x.example"}), "address"),
            (json!({"address": "a@b.example", "kinds": []}), "kinds"),
            (json!({"address": "a@b.example", "language": "xx"}), "language"),
            (json!({"address": "a@b.example", "scope": {"components": [id]}}), "scope.components"),
            (json!({"address": "a@b.example", "scope": {"sections": ["x"]}}), "scope.sections"),
        ] {
            let refused = ann.client.post(&save, &body).await;
            refused.refused(422, "invalid_fields");
            assert_eq!(refused.json()["errors"][0]["field"], field, "{body}");
        }
        ann.client.post(&format!("statuspage/{id}/subscribers/import"), &json!({"subscribers": []})).await.refused(422, "invalid_fields");
        let bob = json!({"address": "bob@example.com", "consent": true, "scope": {"components": [api]}});
        let bob = ann.client.post(&save, &bob).await.ok()["subscriber"].clone();
        assert_eq!((&bob["state"], &bob["language"]), (&json!("active"), &json!("en")));
        let back = ann.client.post(&save, &bob).await.ok()["subscriber"].clone();
        assert_eq!(back, bob, "sent back unchanged");
        let receiver = Receiver::start().await;
        let hook = json!({"kind": "webhook", "address": receiver.url});
        let hook = ann.client.post(&save, &hook).await.ok()["subscriber"].clone();
        assert!(text(&hook["secret"]).starts_with("whsec_"), "{hook}");
        let slack = json!({"kind": "slack", "address": format!("{}/slack", receiver.url)});
        ann.client.post(&save, &slack).await.ok();
        let other = json!({"kind": "webhook", "format": "statuspage", "address": format!("{}/sp", receiver.url)});
        ann.client.post(&save, &other).await.ok();
        let asked = json!({"address": "carl@example.com"});
        assert_eq!(ann.client.post(&save, &asked).await.ok()["subscriber"]["state"], "pending");
        let table = ann.client.get(&format!("statuspage/{id}/subscribers?format=csv&kind=email")).await;
        assert!(table.header("content-type").starts_with("text/csv"), "{:?}", table.headers);
        assert!(table.text.contains("\"email\",\"bob@example.com\",\"active\",\"team\",\"en\","), "{}", table.text);
        ann.client.post_nothing(&format!("statuspage/{id}/subscriber/test")).await.ok();
        // A rejected address is not asked for again after three times.
        server.reply_to("RCPT TO:<bob@example.com>", "550 5.1.1 no such user");
        let mut first = String::new();
        for number in 0..3 {
            let incident = incident(&ann, &api, &format!("Down {number}")).await;
            let path = format!("incident/{incident}/deliveries");
            let done = until("all deliveries", || async {
                let one = ann.client.get(&path).await.ok()["updates"][0].clone();
                (one["delivered"] == 3 && one["failed"] == 1).then_some(one)
            })
            .await;
            let failure = &done["failures"][0];
            assert_eq!((&failure["subscriberid"], &failure["kind"]), (&bob["subscriberid"], &json!("email")));
            assert!(text(&failure["last_answer"]).contains("no such user"), "{failure}");
            if number == 0 {
                first = format!("incident/{incident}/update/{}/resend", text(&done["updateid"]));
                server.stop_replying_to("RCPT TO:<bob@example.com>");
                ann.client.post_nothing(&first).await.ok();
                until("the email", || async {
                    let one = ann.client.get(&path).await.ok()["updates"][0].clone();
                    (one["delivered"] == 4).then_some(())
                })
                .await;
                server.reply_to("RCPT TO:<bob@example.com>", "550 5.1.1 no such user");
            }
            app.clock.advance(Duration::from_secs(301));
        }
        assert_eq!(listed(&ann, &page, "?q=bob").await["subscribers"][0]["state"], "active", "a delivery in between");
        incident(&ann, &api, "Down 3").await;
        until("the end", || async {
            let one = listed(&ann, &page, "?q=bob").await["subscribers"][0].clone();
            (one["state"] == "bouncing").then_some(())
        })
        .await;
        assert!(ann.client.post_nothing(&first).await.text.contains("no failed messages"));
        // What webhooks got, in order.
        let hooks = receiver.wait_for_hooks(12).await;
        let of = |path: &str| hooks.iter().filter(|hook| hook.path == path).collect::<Vec<_>>();
        let standard = of("/hook");
        let titles: Vec<Value> = standard.iter().map(|hook| hook.json()["data"]["incident"]["title"].clone()).collect();
        assert_eq!(titles, [json!("Down 0"), json!("Down 1"), json!("Down 2"), json!("Down 3")]);
        let one = standard[0].json();
        assert_eq!((&one["type"], &one["data"]["components"][0]["name"]), (&json!("incident.created"), &json!("API")));
        assert_eq!(one["data"]["update"]["body"], "We are looking into it.");
        let names = ["webhook-id", "webhook-timestamp", "webhook-signature"];
        let signed: Vec<Value> = standard.iter().map(|post| {
            let headers: Map<String, Value> =
                names.iter().map(|name| ((*name).to_owned(), json!(post.header(name)))).collect();
            json!({"secret": hook["secret"], "body": post.body, "headers": headers})
        }).collect();
        assert_eq!(python(VERIFY, &json!(signed)), json!([4, 0]));
        let now = (app.engine.now().0 / 1_000).to_string();
        assert_eq!(standard[3].header("webhook-timestamp"), now);
        assert!(text(&one["data"]["unsubscribe"]).contains("/status/acme/unsubscribe/"));
        let sp = of("/hook/sp")[0].json();
        assert_eq!((&sp["incident"]["name"], &sp["incident"]["incident_updates"][0]["status"]), (&json!("Down 0"), &json!("investigating")));
        assert_eq!(sp["page"]["id"], page["pageid"]);
        assert!(of("/hook/slack")[0].json()["text"].as_str().unwrap().contains("Acme: Down 0 (Investigating)"));
        // A postmortem is an update of its own.
        let about = first.split('/').nth(1).unwrap();
        let report = json!({"body": "It was **DNS**.", "published": true});
        let path = format!("incident/{about}/postmortem/save");
        ann.client.post(&path, &report).await.ok();
        ann.client.post(&path, &json!({"notify": true})).await.ok();
        let hooks = receiver.wait_for_hooks(15).await;
        let of = |path: &str| hooks.iter().rfind(|hook| hook.path == path).unwrap().json();
        let standard = of("/hook");
        assert_eq!((&standard["type"], &standard["data"]["update"]["status"]), (&json!("incident.updated"), &json!("postmortem")));
        assert_eq!(standard["data"]["update"]["body"], "It was DNS.");
        assert_eq!(of("/hook/sp")["incident"]["incident_updates"][0]["status"], "postmortem");
        assert!(of("/hook/slack")["text"].as_str().unwrap().contains("Acme: Down 0 (Postmortem)"));
        // 410 ends a subscription.
        receiver.answer_with(410, "", "");
        incident(&ann, &api, "Down 4").await;
        until("the webhooks to end", || async {
            let counts = listed(&ann, &page, "").await["counts"].clone();
            (counts["unsubscribed"] == 3).then_some(())
        })
        .await;
        ann.client.delete(&format!("statuspage/{id}/subscriber/{}/delete", text(&bob["subscriberid"]))).await.ok();
        assert_eq!(listed(&ann, &page, "?q=bob").await["subscribers"], json!([]));
        let samples: Vec<String> = server.mails().iter().filter(|mail| mail.to.iter().any(|to| to.contains("ann@"))).map(|mail| mail.header("Subject")).collect();
        assert!(samples.iter().any(|subject| subject.starts_with("[Acme]")), "{samples:?}");
    }

    async fn a_subscription_can_be_ended_when_its_page_has_lost_its_domain(setup: Setup) {
        let app = setup.start().await;
        let ann = app.sign_up("ann@example.com").await;
        let domains = json!([{"domain": "status.acme.example", "primary": true}]);
        let page = page(&app, &ann, json!({"domains": domains})).await;
        let save = format!("statuspage/{}/subscriber/save", text(&page["pageid"]));
        ann.client.post(&save, &json!({"address": "bob@example.com", "consent": true})).await.ok();
        incident(&ann, &component(&page, 0), "API down").await;
        let mail = app.mails("bob@example.com", 1).await.remove(0);
        assert!(mail.contains("https://status.acme.example/manage/"), "{mail}");
        let unsubscribe = link(&app, header(&mail, "List-Unsubscribe"), "unsubscribe");
        let gone = json!({"pageid": page["pageid"], "slug": "other", "domains": [], "published": false});
        ann.client.post("statuspage/save", &gone).await.ok();
        let visitor = app.anonymous();
        until("no page", || async { (visitor.get("/status/acme").await.status == 404).then_some(()) }).await;
        let ended = post_form(&visitor, &unsubscribe, "List-Unsubscribe=One-Click").await;
        assert_eq!(ended.status, 200, "{}", ended.text);
        assert_eq!(listed(&ann, &page, "").await["subscribers"][0]["state"], "unsubscribed");
    }

    async fn a_webhook_of_the_public_must_be_public_and_limits_hold(setup: Setup) {
        let mut setup = setup;
        setup.settings.limits.subscriptions_per_hour = 3;
        let app = setup.start().await;
        let ann = app.sign_up("ann@example.com").await;
        page(&app, &ann, json!({"subscribe": {"webhook": true}})).await;
        let visitor = app.anonymous();
        let canary = Receiver::start().await;
        let port = canary.url.rsplit(':').next().unwrap().trim_end_matches("/hook").to_owned();
        for host in ["127.0.0.1", "localhost", "[::1]", "0.0.0.0", "127.1", "2130706433", "0x7f.1",
            "0177.0.0.1", "[::ffff:127.0.0.1]", "[::ffff:7f00:1]", "10.0.0.1", "169.254.169.254",
            "192.168.1.1", "[fd00::1]", "[fe80::1]", "[64:ff9b::7f00:1]", "metadata.google.internal",
            "127.0.0.1.", "localhost.", "100.64.0.1", "user@127.0.0.1"] {
            let body = json!({"kind": "webhook", "email": "vic@example.com", "address": format!("http://{host}:{port}/")});
            let refused = visitor.post("/status/acme/subscribe", &body).await;
            assert_eq!(refused.status, 422, "{host}: {}", refused.text);
        }
        let chat = json!({"kind": "slack", "email": "vic@example.com", "address": "https://example.com/"});
        assert_eq!(visitor.post("/status/acme/subscribe", &chat).await.status, 422, "not offered");
        assert_eq!(canary.count(), 0);
        // Statuspage's call; three emails a day to an address, and three subscriptions an hour here.
        let call = "/status/acme/api/v2/subscribers.json";
        for _ in 0..3 {
            visitor.post(call, &json!({"subscriber": {"email": "vic@example.com"}})).await.ok();
        }
        app.mails("vic@example.com", 3).await;
        visitor.post(call, &json!({"subscriber": {"email": "wim@example.com"}})).await.refused(429, "too_many_requests");
        let form = post_form(&visitor, "/status/acme/subscribe", "email=wim@example.com&incidents=on").await;
        assert_eq!(form.status, 200, "a form says nothing about limits");
        app.clock.advance(Duration::from_secs(3_601));
        visitor.post(call, &json!({"subscriber": {"email": "vic@example.com"}})).await.ok();
        visitor.post(call, &json!({"subscriber": {"email": "wim@example.com"}})).await.ok();
        app.mails("wim@example.com", 1).await;
        assert_eq!(app.mails_now("vic@example.com").len(), 3, "no fourth in a day");
        app.clock.advance(Duration::from_secs(86_401));
        app.sweep().await;
        let id = text(&ann.client.get("statuspages").await.ok()["statuspages"][0]["pageid"]);
        let left = ann.client.get(&format!("statuspage/{id}/subscribers")).await.ok();
        assert_eq!(left["subscribers"], json!([]), "never confirmed");
    }

    async fn an_address_gets_few_emails_however_many_webhooks_are_entered_with_it(setup: Setup) {
        let app = setup.start().await;
        let ann = app.sign_up("ann@example.com").await;
        page(&app, &ann, json!({"subscribe": {"webhook": true}})).await;
        let mut entered = 0;
        let mut enter = async |email: &str| {
            entered += 1;
            let body = json!({"kind": "webhook", "email": email,
                "address": format!("https://hooks.example.com/{entered}")});
            app.anonymous().post("/status/acme/subscribe", &body).await.ok();
        };
        for count in 1..=3 {
            enter("vic@example.com").await;
            app.mails("vic@example.com", count).await;
        }
        enter("vic@example.com").await;
        enter("Vic@Example.com").await;
        // They are handled in the background, and this one is entered after them.
        enter("wim@example.com").await;
        app.mails("wim@example.com", 1).await;
        assert_eq!(app.mails_now("vic@example.com").len(), 3);
        app.clock.advance(Duration::from_secs(86_401));
        enter("vic@example.com").await;
        app.mails("vic@example.com", 4).await;
    }

    async fn with_public_egress_the_webhooks_of_a_team_must_be_public_too(setup: Setup) {
        let app = setup.start().await;
        let ann = app.sign_up("ann@example.com").await;
        let page = page(&app, &ann, json!({})).await;
        let save = format!("statuspage/{}/subscriber/save", text(&page["pageid"]));
        let receiver = Receiver::start().await;
        let hook = json!({"kind": "webhook", "address": receiver.url});
        ann.client.post(&save, &hook).await.ok();
        let app = app.restart_with(|setup| setup.egress = Policy::Public).await;
        let ann = ann.log_in(&app.anonymous()).await;
        let other = json!({"kind": "webhook", "address": format!("{}/other", receiver.url)});
        assert_eq!(ann.client.post(&save, &other).await.wrong_fields(), ["address"]);
        let import = json!({"consent": true, "subscribers": [other]});
        let path = format!("statuspage/{}/subscribers/import", text(&page["pageid"]));
        assert_eq!(ann.client.post(&path, &import).await.wrong_fields(), ["subscribers.0.address"]);
        // One that was saved under another policy.
        incident(&ann, &component(&page, 0), "Down").await;
        until("the attempt", || async {
            let refused = "select count(*) from statuspage_deliveries where last_answer like '%policy%'";
            (app.database.number(refused).await == 1).then_some(())
        })
        .await;
        assert_eq!(receiver.count(), 0);
    }

    async fn hanging_webhooks_delay_no_email_and_reminders_are_sent(setup: Setup) {
        let app = setup.start().await;
        let ann = app.sign_up("ann@example.com").await;
        let page = page(&app, &ann, json!({})).await;
        let (api, id) = (component(&page, 0), text(&page["pageid"]));
        let receiver = Receiver::start().await;
        receiver.answer_after(Duration::from_secs(30));
        let mut all: Vec<Value> = (0..20).map(|number| json!({"kind": "webhook", "address": format!("{}/{number}", receiver.url)})).collect();
        all.push(json!({"address": "vic@example.com"}));
        let import = json!({"consent": true, "subscribers": all});
        ann.client.post(&format!("statuspage/{id}/subscribers/import"), &import).await.ok();
        incident(&ann, &api, "API down").await;
        app.mails("vic@example.com", 1).await;
        assert!(receiver.most_at_once() <= 8, "of one page");
        // A reminder an hour before, and nothing for the reminder that is past.
        app.clock.advance(Duration::from_secs(600));
        let now = app.engine.now();
        let at = |minutes: u64| now.after(Duration::from_secs(minutes * 60)).to_string();
        let planned = json!({"kind": "maintenance", "title": "Upgrade", "components": [{"componentid": api}],
            "scheduled_for": at(90), "scheduled_until": at(120), "update": {"body": "Short."}});
        ann.client.post("incident/save", &planned).await.ok();
        app.mails("vic@example.com", 2).await;
        app.clock.advance(Duration::from_secs(31 * 60));
        wakeful_engine::statuspages::maintenance::apply_due(&app.engine).await.unwrap();
        let mails = app.mails("vic@example.com", 3).await;
        assert!(mails.iter().any(|mail| mail.contains("Reminder: this maintenance begins on")), "{mails:?}");
        wakeful_engine::statuspages::maintenance::apply_due(&app.engine).await.unwrap();
        let audit = json!({"title": "Old", "started": at(0), "resolved": at(1), "update": {"body": "x"},
            "components": [{"componentid": api, "status": "partial_outage"}]});
        let past = ann.client.post("incident/save", &audit).await.ok();
        let past = ann.client.get(&format!("incident/{}/deliveries", text(&past["incident"]["incidentid"]))).await.ok();
        assert_eq!(past["updates"][0]["waiting"], 0, "backfilled");
    }

    async fn webhooks_of_one_team_that_never_respond_delay_no_other_team(setup: Setup) {
        let app = setup.start().await;
        let (ann, bob) = (app.sign_up("ann@example.com").await, app.sign_up("bob@example.com").await);
        let (hanging, healthy) = (Receiver::start().await, Receiver::start().await);
        hanging.answer_after(Duration::from_secs(30));
        // More webhooks than there are places for.
        let mut affected = Vec::new();
        for page in 0..9 {
            let body = json!({"name": "Acme", "slug": format!("hanging-{page}"), "published": true,
                "sections": [{"name": "Core", "components": [{"name": "API"}]}]});
            let saved = ann.client.post("statuspage/save", &body).await.ok()["statuspage"].clone();
            let all: Vec<Value> = (0..8).map(|number| json!({"kind": "webhook", "address": format!("{}/{page}/{number}", hanging.url)})).collect();
            let import = json!({"consent": true, "subscribers": all});
            ann.client.post(&format!("statuspage/{}/subscribers/import", text(&saved["pageid"])), &import).await.ok();
            affected.push(json!({"componentid": component(&saved, 0), "status": "partial_outage"}));
        }
        let all_down = json!({"title": "All down", "update": {"body": "We look."}, "components": affected});
        ann.client.post("incident/save", &all_down).await.ok();
        hanging.wait_for_hooks(8).await;
        let page = page(&app, &bob, json!({})).await;
        let save = format!("statuspage/{}/subscriber/save", text(&page["pageid"]));
        bob.client.post(&save, &json!({"kind": "webhook", "address": healthy.url})).await.ok();
        incident(&bob, &component(&page, 0), "API down").await;
        healthy.wait_for_hooks(1).await;
        assert!(hanging.most_at_once() <= 16, "of one team: {}", hanging.most_at_once());
    }

    async fn a_mailing_of_one_team_delays_no_email_of_another(setup: Setup) {
        let mut setup = setup;
        // All emails of the first team would take more than three minutes.
        setup.settings.page_mails_per_minute = 300;
        let app = setup.start().await;
        let (ann, bob) = (app.sign_up("ann@example.com").await, app.sign_up("bob@example.com").await);
        let large = page(&app, &ann, json!({})).await;
        let all: Vec<Value> = (0..1_000).map(|number| json!({"address": format!("inbox{number}@example.com")})).collect();
        let import = json!({"consent": true, "subscribers": all});
        ann.client.post(&format!("statuspage/{}/subscribers/import", text(&large["pageid"])), &import).await.ok();
        incident(&ann, &component(&large, 0), "All down").await;
        let waiting = "select count(*) from statuspage_deliveries where state = 'waiting'";
        until("the mailing", || async { (app.database.number(waiting).await > 900).then_some(()) }).await;
        let small = page(&app, &bob, json!({"slug": "small"})).await;
        let save = format!("statuspage/{}/subscriber/save", text(&small["pageid"]));
        bob.client.post(&save, &json!({"address": "vic@example.com", "consent": true})).await.ok();
        incident(&bob, &component(&small, 0), "API down").await;
        app.mails("vic@example.com", 1).await;
        assert!(app.database.number(waiting).await > 500, "most of the others still wait");
    }

    async fn an_alert_does_not_wait_for_a_mailing(setup: Setup) {
        let mut setup = setup;
        setup.settings.page_mails_per_minute = 1;
        let app = setup.start().await;
        let ann = app.sign_up("ann@example.com").await;
        let page = page(&app, &ann, json!({})).await;
        let (api, id) = (component(&page, 0), text(&page["pageid"]));
        let receiver = Receiver::start().await;
        let hook = json!({"name": "hook", "type": "webhook", "webhook": {"url": receiver.url}});
        let hook = text(&ann.client.post("notifier/save", &hook).await.json()["notifierid"]);
        // From the report to the notification.
        let alert = async |name: &str| {
            let job = json!({"type": "api", "name": name, "heartbeat_interval": 60, "isactive": true,
                "upside_down_mode": false, "notifiers": hook});
            let job = text(&ann.client.post("monitor/save", &job).await.ok()["monitor"]["monitorid"]);
            let (reported, before) = (Stopwatch::start(), receiver.count());
            ann.client.post(&format!("monitor/notify/{job}"), &json!({"status": "down"})).await.ok();
            receiver.wait_for_hooks(before + 1).await;
            reported.elapsed()
        };
        let alone = alert("early").await;
        let all: Vec<Value> = (0..1_000).map(|number| json!({"address": format!("inbox{number}@example.com")})).collect();
        let import = json!({"consent": true, "subscribers": all});
        ann.client.post(&format!("statuspage/{id}/subscribers/import"), &import).await.ok();
        let incident = incident(&ann, &api, "API down").await;
        until("a thousand waiting messages", || async {
            let one = ann.client.get(&format!("incident/{incident}/deliveries")).await.ok()["updates"][0].clone();
            (one["waiting"].as_i64() >= Some(990)).then_some(())
        })
        .await;
        for sql in ninety_nine_thousand_more(app.database.kind()) {
            app.database.execute(sql).await;
        }
        let waiting = "select count(*) from statuspage_deliveries where state = 'waiting'";
        assert!(app.database.number(waiting).await >= 99_990);
        let late = alert("late").await;
        assert!(late <= alone + Duration::from_secs(2), "{late:?}, and {alone:?} without a mailing");

        // A page with all its subscribers is gone at once.
        ann.client.delete(&format!("statuspage/{id}/delete")).await.ok();
        for path in ["/status/acme", "/status/acme/subscribe", "/status/acme/index.json"] {
            app.anonymous().get(path).await.refused(404, "not_found");
        }
        assert_eq!(ann.client.get("statuspages").await.ok()["statuspages"], json!([]));
        assert_eq!(ann.client.get("incidents").await.ok()["incidents"], json!([]));
        for path in [format!("statuspage/{id}/get"), format!("statuspage/{id}/subscribers"), format!("incident/{incident}/get")] {
            ann.client.get(&path).await.refused(404, "not_found");
        }
    }
}
