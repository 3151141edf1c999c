//! The output forms of hand-built snapshots.

use flate2::Compression;
use serde_json::Value;
use wakeful_core::statuspages::Language;
use wakeful_core::statuspages::snapshot::{
    ComponentFigures, Image, OutageSpan, ResponseDay, Scheme, Snapshot, Update,
};
use wakeful_core::time::Millis;

use super::badge::{Subject, find};
use super::feeds::{Entries, Format};
use super::render::{self, Context, Way};
use super::sample::{self, NOW};
use super::v2::Document;
use super::{assets, calendar, embed, feeds, json, v2};
use crate::compression::gzip;

mod outputs;

fn context(language: Language) -> Context<'static> {
    Context { language, base: "/status/acme", unlocked: false }
}

fn figures(snapshot: &Snapshot) -> ComponentFigures {
    let days = snapshot.components().next().expect("a component").days.clone();
    let times = days.iter().map(|day| ResponseDay { date: day.date, p50: 100, p95: 250 });
    ComponentFigures {
        response_times: Some(times.collect()),
        outages: Some(vec![
            OutageSpan { started: Millis(NOW.0 - 60_000), ended: None },
            OutageSpan { started: Millis(NOW.0 - 900_000), ended: Some(Millis(NOW.0 - 600_000)) },
        ]),
        days,
    }
}

/// Every document of the sample page in a language, by name.
fn documents(snapshot: &Snapshot, language: Language) -> Vec<(&'static str, String)> {
    let context = context(language);
    let api = snapshot.component("api").expect("a component");
    let incident = &snapshot.past[0];
    [
        ("front", render::front(snapshot, context)),
        ("component", render::component(snapshot, api, Some(&figures(snapshot)), context)),
        ("incident", render::incident(snapshot, incident, context)),
        ("history", render::history(snapshot, None, None, context).expect("the last months")),
        ("password", render::login(snapshot, Way::Password, Some("Wrong."), context)),
        ("token", render::login(snapshot, Way::Token, None, context)),
        ("members", render::login(snapshot, Way::Members, None, context)),
        ("frame", embed::frame(snapshot, None, context)),
        ("not found", render::not_found()),
        ("starting", render::starting()),
    ]
    .into_iter()
    .chain(outputs::subscription_documents(snapshot, context))
    .collect()
}

/// Tags are balanced, attributes are quoted, ids are unique and headings are in order: what
/// every parser reads in the same way.
fn assert_well_formed(name: &str, html: &str) {
    const VOID: [&str; 8] = ["meta", "link", "img", "input", "br", "hr", "source", "path"];
    let mut open: Vec<String> = Vec::new();
    let mut ids: Vec<String> = Vec::new();
    let (mut heading, mut main) = (0, 0);
    let mut rest = html.strip_prefix("<!doctype html>").expect("a document type");
    while let Some((_, after)) = rest.split_once('<') {
        let (tag, after) = after.split_once('>').unwrap_or_else(|| panic!("{name}: an open tag"));
        rest = after;
        if let Some(closed) = tag.strip_prefix('/') {
            assert_eq!(open.pop().as_deref(), Some(closed), "{name}: {open:?}");
            continue;
        }
        let (tag, is_closed) = tag.strip_suffix('/').map_or((tag, false), |tag| (tag, true));
        let element = tag.split([' ', '\n']).next().expect("an element").to_owned();
        let attributes = tag[element.len()..].replace(['\n'], " ");
        assert_eq!(attributes.matches('"').count() % 2, 0, "{name}: {tag}");
        for (index, part) in attributes.split('"').enumerate() {
            if index % 2 == 0 {
                assert!(!part.contains('\''), "{name}: {tag}");
                let attribute = part.trim();
                assert!(attribute != "style=" && !attribute.starts_with("on"), "{name}: {tag}");
                let unquoted =
                    part.split(' ').any(|word| word.contains('=') && !word.ends_with('='));
                assert!(!unquoted, "{name}: {tag}");
                if part.trim() == "id=" {
                    let id = attributes.split('"').nth(index + 1).expect("a value").to_owned();
                    assert!(!ids.contains(&id), "{name}: {id} twice");
                    ids.push(id);
                }
            }
        }
        if let Some(level) = element.strip_prefix('h').and_then(|level| level.parse::<u8>().ok()) {
            assert!(level <= heading + 1, "{name}: h{level} after h{heading}");
            heading = level;
        }
        main += u8::from(element == "main");
        if !is_closed && !VOID.contains(&element.as_str()) {
            open.push(element);
        }
    }
    assert!(open.is_empty(), "{name}: {open:?}");
    assert_eq!(main, 1, "{name}");
    assert_eq!(html.matches("<h1").count(), 1, "{name}");
}

#[test]
fn documents_are_well_formed_in_every_language() {
    let mut snapshot = sample::page();
    snapshot.delayed_since = Some(NOW);
    snapshot.page.languages = Language::ALL.to_vec();
    for language in Language::ALL {
        for (name, html) in documents(&snapshot, *language) {
            let name = format!("{name} in {language}");
            assert_well_formed(&name, &html);
            assert!(!html.contains("<script>alert"), "{name}");
            let text = html.replace("{status}", "");
            assert!(!text.contains('{'), "{name}: a placeholder was not replaced");
            if !["not found", "starting"].iter().any(|one| name.starts_with(one)) {
                let start = format!("<html lang=\"{language}\" dir=\"{}\"", language.direction());
                assert!(html.contains(&start), "{name}");
            }
        }
    }
}

#[test]
fn the_front_page_shows_everything_in_its_language() {
    let snapshot = sample::page();
    let english = render::front(&snapshot, context(Language::English));
    for shown in [
        "<h1>Partial System Outage</h1>",
        "<title>Acme &#38; Co: Partial System Outage</title>",
        "Slow &lt;requests&gt;",
        "90 days, 99.996% up, outages on 2 days",
        "New disks",
        "November 19, 2026, 12:06 CET",
        "Certificate expired",
        "Lasted 1 h 30 min",
        "href=\"https://api.example.com/?a=1&#38;b=2\"",
        "Certificate valid until December 18, 2026",
        "123 ms",
        "Times are in Europe/Berlin.",
        "<a href=\"/status/acme?lang=de\" lang=\"de\" hreflang=\"de\">Deutsch</a>",
        "<meta name=\"robots\" content=\"noindex\">",
    ] {
        assert!(english.contains(shown), "{shown} in {english}");
    }
    assert!(!english.contains("Fallback"), "it is operational");
    let german = render::front(&snapshot, context(Language::German));
    for shown in [
        "<h1>Teilweiser Ausfall</h1>",
        "Langsame &lt;Anfragen&gt;",
        "90 Tage, 99,996\u{a0}% verfügbar, Ausfälle an 2 Tagen",
        "<span lang=\"en\" dir=\"ltr\">New disks</span>",
        "href=\"/status/acme/history?lang=de\"",
        "19. November 2026, 12:06 CET",
    ] {
        assert!(german.contains(shown), "{shown} in {german}");
    }
    let arabic = render::front(&snapshot, context(Language::Arabic));
    assert!(arabic.contains("<html lang=\"ar\" dir=\"rtl\""));
    assert!(arabic.contains("انقطاع جزئي في النظام"));
    assert!(arabic.contains("<span lang=\"en\" dir=\"ltr\">API</span>"), "{arabic}");
}

#[test]
fn the_logo_is_that_of_the_color_scheme_of_the_page_or_else_of_the_visitor() {
    let image = |hash: &str| Some(Image { hash: hash.to_owned(), media_type: "image/png".into() });
    let mut snapshot = sample::page();
    snapshot.page.appearance.logo = image("11");
    snapshot.page.appearance.logo_dark = image("22");
    let (light, dark) =
        ("src=\"/status/acme/image/logo?v=11\"", "/status/acme/image/logo_dark?v=22");
    let by_visitor = format!("<source srcset=\"{dark}\" media=\"(prefers-color-scheme: dark)\">");
    for scheme in [Scheme::Auto, Scheme::Light, Scheme::Dark] {
        snapshot.page.appearance.scheme = scheme;
        let front = render::front(&snapshot, context(Language::English));
        let locked = render::login(&snapshot, Way::Password, None, context(Language::English));
        for html in [front, locked] {
            assert_eq!(html.contains(&by_visitor), scheme == Scheme::Auto, "{html}");
            assert_eq!(html.contains(light), scheme != Scheme::Dark, "{html}");
            let is_dark = html.contains(&format!("src=\"{dark}\""));
            assert_eq!(is_dark, scheme == Scheme::Dark, "{html}");
        }
    }
}

#[test]
fn a_locked_page_shows_only_its_name() {
    let mut snapshot = sample::page();
    snapshot.page.appearance.custom_css = "secret{}".to_owned();
    for way in [Way::Password, Way::Token, Way::Members] {
        let html = render::login(&snapshot, way, None, context(Language::English));
        assert!(html.contains("Acme &amp; Co"), "{html}");
        for hidden in
            ["API", "Partial", "Slow", "style.css", "feed", "revision", "doing", "Support"]
        {
            assert!(!html.contains(hidden), "{hidden} in {html}");
        }
    }
}

#[test]
fn a_large_page_is_small_on_the_wire() {
    for (bad_days, limit) in [(6, 16 * 1024), (90, 16 * 1024)] {
        let html = render::front(&sample::large(100, bad_days), context(Language::English));
        let size = gzip(html.as_bytes(), Compression::best()).len();
        assert!(size <= limit, "{size} bytes with {bad_days} bad days");
        assert!(html.matches('<').count() < 5_000, "{} tags", html.matches('<').count());
    }
}

#[test]
fn documents_are_small_whatever_is_written_about_incidents() {
    let mut snapshot = sample::page();
    let mut long = snapshot.past[0].clone();
    let update = Update { body: "é".repeat(10_000).as_str().into(), ..long.updates[0].clone() };
    long.updates = vec![update; 10];
    snapshot.incidents = vec![long.clone(); 50];
    snapshot.past = vec![long; 50];
    let english = Language::English;
    let context = context(english);
    for (name, text, max) in [
        ("front", render::front(&snapshot, context), 800_000),
        ("atom", feeds::render(Format::Atom, Entries::Incidents, &snapshot, english, "/"), 700_000),
        ("rss", feeds::render(Format::Rss, Entries::Updates, &snapshot, english, "/"), 700_000),
        // It has each text with markup and without.
        ("json", feeds::render(Format::Json, Entries::Updates, &snapshot, english, "/"), 1_400_000),
        ("index", json::index(&snapshot, english), 800_000),
        ("incidents", v2::render(Document::Incidents, &snapshot, english), 800_000),
    ] {
        assert!(text.contains(&"é".repeat(10_000)), "{name} has whole updates");
        assert!((500_000..max).contains(&text.len()), "{name} has {} bytes", text.len());
    }
}

/// What the first view loads: the document with the style sheet and the script.
#[test]
fn a_first_view_is_less_than_30_kilobytes() {
    const MAX_TOTAL: usize = 30_000;
    let html = render::front(&sample::large(100, 90), context(Language::English));
    let html = gzip(html.as_bytes(), Compression::best()).len();
    let (style, script) = (assets::style().gzip.len(), assets::script().gzip.len());
    let total = html + style + script;
    assert!(total < MAX_TOTAL, "{html} + {style} + {script} bytes");
    assert!([html, style, script].iter().all(|size| *size > 500), "{html}, {style}, {script}");
}

#[test]
fn the_history_goes_back_to_the_oldest_incident() {
    let mut snapshot = sample::page();
    snapshot.past[0].started = Millis(NOW.0 - 200 * 86_400_000);
    let month = |text: &str| render::parse_month(text);
    let shown = |text| render::history(&snapshot, month(text), None, context(Language::English));
    let newest =
        render::history(&snapshot, None, None, context(Language::English)).expect("it exists");
    assert!(newest.contains("November 2026") && newest.contains("September 2026"), "{newest}");
    assert!(newest.contains("href=\"/status/acme/history/2026-08\""), "{newest}");
    let oldest = shown("2026-05").expect("it exists");
    assert!(oldest.contains("Certificate expired") && oldest.contains("/history/2026-06"));
    assert!(!oldest.contains("/history/2026-04"), "nothing is older");
    assert_eq!(shown("2026-12"), None, "the future");
    assert_eq!(shown("1900-01"), None);
    for text in ["", "2026", "2026-13", "2026-1", "26-01", "2026-01-01", "+026-01"] {
        assert_eq!(month(text), None, "{text}");
    }
}

fn parse(text: &str) -> Value {
    serde_json::from_str(text).expect("JSON")
}

fn keys(value: &Value) -> Vec<&str> {
    let mut keys: Vec<&str> =
        value.as_object().expect("an object").keys().map(String::as_str).collect();
    keys.sort_unstable();
    keys
}

#[test]
fn the_json_of_statuspage_has_every_field() {
    let snapshot = sample::page();
    let summary = parse(&v2::render(Document::Summary, &snapshot, Language::English));
    assert_eq!(
        keys(&summary),
        ["components", "incidents", "page", "scheduled_maintenances", "status"]
    );
    assert_eq!(keys(&summary["page"]), ["id", "name", "time_zone", "updated_at", "url"]);
    assert_eq!(summary["status"]["indicator"], "major");
    assert_eq!(summary["status"]["description"], "Partial System Outage");
    let components = summary["components"].as_array().expect("a list");
    let names: Vec<&str> = components.iter().filter_map(|one| one["name"].as_str()).collect();
    assert_eq!(names, ["Core", "API", "Website", "Fallback"], "without the unknown one");
    let fields = [
        "created_at",
        "description",
        "group",
        "group_id",
        "id",
        "name",
        "only_show_if_degraded",
        "page_id",
        "position",
        "showcase",
        "start_date",
        "status",
        "updated_at",
    ];
    assert_eq!(keys(&components[1]), fields);
    assert_eq!(components[0]["group"], true);
    assert_eq!(components[0]["components"][0], components[1]["id"]);
    assert_eq!(components[0]["status"], "partial_outage");
    assert_eq!(components[1]["group_id"], components[0]["id"]);
    assert_eq!(components[1]["start_date"], "2025-10-14");
    assert!(components[3]["group_id"].is_null());
    let incident = &summary["incidents"][0];
    let fields = [
        "components",
        "created_at",
        "id",
        "impact",
        "incident_updates",
        "monitoring_at",
        "name",
        "page_id",
        "reminder_intervals",
        "resolved_at",
        "shortlink",
        "started_at",
        "status",
        "updated_at",
    ];
    assert_eq!(keys(incident), fields);
    assert_eq!(incident["components"][0]["name"], "API");
    let update = &incident["incident_updates"][0];
    let fields = [
        "affected_components",
        "body",
        "created_at",
        "custom_tweet",
        "deliver_notifications",
        "display_at",
        "id",
        "incident_id",
        "status",
        "tweet_id",
        "updated_at",
    ];
    assert_eq!(keys(update), fields);
    assert_eq!(update["body"], "We know more: <script>alert(1)</script>");
    assert_eq!(
        keys(&update["affected_components"][0]),
        ["code", "name", "new_status", "old_status"]
    );
    let maintenance = &summary["scheduled_maintenances"][0];
    assert_eq!(maintenance["scheduled_for"], "2026-11-19T11:06:40.000Z");
    assert_eq!(maintenance["impact"], "maintenance");

    let of = |document| parse(&v2::render(document, &snapshot, Language::English));
    let all = of(Document::Incidents);
    assert_eq!(all["incidents"].as_array().map(Vec::len), Some(2));
    assert_eq!(all["incidents"][1]["incident_updates"][0]["status"], "postmortem");
    assert_eq!(of(Document::Unresolved)["incidents"].as_array().map(Vec::len), Some(1));
    assert_eq!(keys(&of(Document::Status)), ["page", "status"]);
    assert_eq!(keys(&of(Document::Components)), ["components", "page"]);
    for (document, number) in
        [(Document::Maintenances, 1), (Document::Upcoming, 1), (Document::Active, 0)]
    {
        let list = &of(document)["scheduled_maintenances"];
        assert_eq!(list.as_array().map(Vec::len), Some(number), "{document:?}");
    }
}

#[test]
fn the_own_json_has_days_and_statuses() {
    let snapshot = sample::page();
    let index = parse(&json::index(&snapshot, Language::German));
    assert_eq!(index["page"]["name"], "Acme & Co KG");
    assert_eq!(index["status"]["description"], "Partial System Outage", "in English");
    let api = &index["sections"][0]["components"][0];
    assert_eq!(api["days"].as_array().map(Vec::len), Some(90));
    assert_eq!(api["days"][89]["date"], "2026-11-18");
    assert_eq!(api["uptime"]["90d"], 99.9968);
    assert_eq!(index["colors"]["good"], "Keine Ausfälle");
    assert_eq!(index["incidents"].as_array().map(Vec::len), Some(2), "open and of the last days");
    assert_eq!(index["maintenances"][0]["title"], "New disks");
    let live = parse(&json::live(&snapshot));
    assert_eq!((&live["revision"], &live["indicator"]), (&7.into(), &"major".into()));
    assert_eq!(live["components"].as_object().map(serde_json::Map::len), Some(3));
    let manifest = parse(&json::manifest(&snapshot, Language::English, "/status/acme"));
    assert_eq!(manifest["start_url"], "/status/acme");
}

#[test]
fn feeds_have_an_entry_for_each_update_or_incident() {
    let snapshot = sample::page();
    let api = snapshot.component("api").expect("a component");
    let render = |format, entries, language| {
        feeds::render(format, entries, &snapshot, language, "/feed.atom")
    };
    let atom = render(Format::Atom, Entries::Updates, Language::English);
    assert_eq!(atom.matches("<entry>").count(), 6);
    assert!(atom.starts_with("<?xml version=\"1.0\" encoding=\"utf-8\"?>\n<feed "), "{atom}");
    assert!(atom.contains("<title>Identified: Slow &#60;requests&#62;</title>"), "{atom}");
    assert!(!atom.contains("<script"), "{atom}");
    let rss = render(Format::Rss, Entries::Incidents, Language::German);
    assert_eq!(rss.matches("<item>").count(), 3);
    assert!(rss.contains("<pubDate>Mon, 16 Nov 2026 11:06:40 +0000</pubDate>"), "{rss}");
    assert!(rss.contains("Nachbetrachtung"), "{rss}");
    let one = render(Format::Json, Entries::Component(api), Language::English);
    let one = parse(&one);
    assert_eq!(one["version"], "https://jsonfeed.org/version/1.1");
    assert_eq!(one["items"].as_array().map(Vec::len), Some(4), "without the maintenance");
    assert_eq!(one["title"], "Acme & Co – API");
    for xml in [atom, rss] {
        let opened = xml.matches('<').count() - xml.matches("</").count() - 1;
        let closed = xml.matches("</").count() + xml.matches("/>").count();
        assert_eq!(opened, closed, "{xml}");
    }
}

#[test]
fn maintenance_is_a_calendar() {
    let mut snapshot = sample::page();
    let calendar = calendar::render(&snapshot, Language::English);
    assert!(calendar.contains("SUMMARY:Acme & Co: New disks"), "{calendar}");
    assert!(calendar.contains("DTSTART:20261119T110640Z"), "{calendar}");
    assert_eq!(calendar.matches("BEGIN:VEVENT").count(), 1, "incidents are not maintenance");
    snapshot.as_of = Millis(NOW.0 + 60_000);
    assert_eq!(calendar::render(&snapshot, Language::English), calendar);
    snapshot.maintenances[0].cancelled = true;
    assert!(!calendar::render(&snapshot, Language::English).contains("VEVENT"));
}

#[test]
fn badges_show_only_what_the_page_shows() {
    let snapshot = sample::page();
    let message =
        |path: &str, subject: Subject<'_>| find(path, Some(&snapshot), subject, NOW).message;
    let api = Subject::Component("api");
    let web = snapshot.sections[0].components[1].id.to_string();
    let web = Subject::Component(&web);
    for (path, subject, expected) in [
        ("status", Subject::Page, "partial outage"),
        ("uptime/90d", Subject::Page, "99.993%"),
        ("response/24h", Subject::Page, "N/A"),
        ("status", api, "partial outage"),
        ("uptime/365d", api, "99.996%"),
        ("response/24h", api, "123 ms"),
        ("response/7d", api, "N/A"),
        ("certificate", api, "30 days"),
        ("status", web, "operational"),
        ("response/24h", web, "N/A"),
        ("certificate", web, "N/A"),
        ("uptime/5y", api, "N/A"),
        ("status/24h", api, "N/A"),
        ("status", Subject::Component("other"), "N/A"),
        ("x", Subject::Page, "N/A"),
    ] {
        assert_eq!(message(path, subject), expected, "{path}");
    }
    assert_eq!(find("status", None, Subject::Page, NOW), find("status", None, api, NOW));
}
