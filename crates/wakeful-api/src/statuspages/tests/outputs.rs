//! Every output form of a page, compared with what it was before.

use std::path::Path;
use wakeful_core::statuspages::Language;
use wakeful_core::statuspages::badge::Style;
use wakeful_core::statuspages::i18n::fill;
use wakeful_core::statuspages::scope::Scope;
use wakeful_core::statuspages::snapshot::Snapshot;
use wakeful_core::statuspages::subscriber::SubscriberSettings;

use super::super::badge::{Subject, find};
use super::super::feeds::{Entries, Format};
use super::super::render::Context;
use super::super::sample::{self, NOW};
use super::super::subscribe_form::{self, Entered};
use super::super::v2::Document;
use super::super::{assets, calendar, feeds, json, kuma, subscription, v2};
use super::documents;

/// How many days of history the stored outputs show.
const SNAPSHOT_DAYS: usize = 5;

/// What those who subscribe see, from the form to the end.
pub(super) fn subscription_documents(
    snapshot: &Snapshot,
    context: Context<'_>,
) -> Vec<(&'static str, String)> {
    let texts = context.language.subscriptions();
    let new = |wrong| subscribe_form::new_form(snapshot, context, &Entered::default(), wrong);
    let scope = Scope {
        components: snapshot.components().take(1).map(|component| component.id).collect(),
        ..Scope::default()
    };
    let settings =
        SubscriberSettings { language: context.language, scope, ..SubscriberSettings::default() };
    let manage = |is_locked, notice, wrong| {
        let token = "AQ-token";
        subscribe_form::manage_form(snapshot, context, token, &settings, is_locked, notice, wrong)
    };
    let error = fill(texts.webhook_failed, &[("answer", "404 <Not Found>")]);
    let confirm = |error| subscription::confirmation(snapshot, context, "wks_token", error);
    let end = |token| subscription::end(context.language, "Acme & Co", token);
    vec![
        ("subscribe", new(None)),
        ("subscribe, wrong address", new(Some(("email", texts.invalid_email)))),
        ("subscribe, wrong URL", new(Some(("address", texts.invalid_url)))),
        ("confirm", confirm(None)),
        ("confirm, refused by the webhook", confirm(Some(&error))),
        ("confirmed", subscription::confirmed(snapshot, context, None)),
        (
            "confirmed, with a secret",
            subscription::confirmed(snapshot, context, Some("whsec_c2VjcmV0")),
        ),
        ("manage", manage(false, None, None)),
        ("manage, saved", manage(false, Some(texts.saved), None)),
        ("manage, nothing chosen", manage(true, None, Some(("kinds", texts.choose_one)))),
        ("unsubscribe", end(Some("AQ-token"))),
        ("unsubscribed", end(None)),
    ]
}

/// Every output form of the sample page in a language, one after the other.
fn outputs(snapshot: &Snapshot, language: Language) -> String {
    let api = snapshot.component("api").expect("a component");
    let mut outputs: Vec<(String, String)> =
        documents(snapshot, language).into_iter().map(|(name, text)| (name.into(), text)).collect();
    for document in Document::ALL {
        let text = v2::render(*document, snapshot, language);
        outputs.push((format!("api/v2/{}", document.as_str()), text));
    }
    for format in [Format::Atom, Format::Rss, Format::Json] {
        let kinds = [
            ("updates", Entries::Updates),
            ("incidents", Entries::Incidents),
            ("component", Entries::Component(api)),
        ];
        for (name, entries) in kinds {
            let text = feeds::render(format, entries, snapshot, language, "/feed");
            outputs.push((format!("{format:?} of {name}"), text));
        }
    }
    let badge = |path| find(path, Some(snapshot), Subject::Component("api"), NOW);
    outputs.extend([
        ("index.json".to_owned(), json::index(snapshot, language)),
        ("live.json".to_owned(), json::live(snapshot)),
        ("manifest".to_owned(), json::manifest(snapshot, language, "/status/acme")),
        ("calendar".to_owned(), calendar::render(snapshot, language)),
        ("Kuma's page".to_owned(), kuma::page(snapshot, language)),
        ("Kuma's heartbeats".to_owned(), kuma::heartbeats(snapshot)),
        ("badge".to_owned(), badge("status").svg(Style::Flat)),
        ("square badge".to_owned(), badge("uptime/90d").svg(Style::FlatSquare)),
        ("plastic badge".to_owned(), badge("certificate").svg(Style::Plastic)),
        ("large badge".to_owned(), badge("response/24h").svg(Style::ForTheBadge)),
        ("badge of shields.io".to_owned(), badge("status").json()),
    ]);
    let kumas = |path: &str, subject, query: &str| {
        let uri = format!("/?{query}").parse().expect("a URI");
        let badge = kuma::badge(path, subject, Some((snapshot, NOW)), &kuma::Parameters::of(&uri));
        (format!("Kuma's badge {path}?{query}"), badge.svg(Style::Flat))
    };
    let api = Subject::Component("api");
    outputs.extend([
        kumas("", Subject::Page, ""),
        kumas("status", api, ""),
        kumas("status", api, "downLabel=broken&downColor=red&label=A%3CB"),
        kumas("uptime/720", api, "labelPrefix=API%20"),
        kumas("ping", api, ""),
        kumas("avg-response/24", api, ""),
        kumas("response", api, "suffix=%20ms"),
        kumas("cert-exp", api, ""),
        kumas("cert-exp", api, "date=1"),
        kumas("nothing", api, ""),
    ]);
    let part = |(name, text): &(String, String)| format!("==== {name}\n{text}\n");
    let all: String = outputs.iter().map(part).collect();
    // Their names change with their content, and nothing else does.
    all.replace(&assets::style().name, "page.css").replace(&assets::script().name, "page.js")
}

/// Compares what visitors and programs get with what they got before. After an intended change,
/// `WAKEFUL_UPDATE=1 cargo nextest run -p wakeful-api every_output` writes the files; read the diff.
#[test]
fn every_output_is_as_it_was_in_every_language() {
    let mut snapshot = sample::page();
    snapshot.page.languages = Language::ALL.to_vec();
    for component in snapshot.sections.iter_mut().flat_map(|section| &mut section.components) {
        // Enough to see a day of each kind.
        let unseen = component.days.len().saturating_sub(SNAPSHOT_DAYS);
        component.days = component.days.iter().skip(unseen).collect();
    }
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("src/statuspages/snapshots");
    for language in Language::ALL {
        let (path, found) = (folder.join(format!("{language}.txt")), outputs(&snapshot, *language));
        if std::env::var_os("WAKEFUL_UPDATE").is_some() {
            std::fs::create_dir_all(&folder).expect("a folder");
            std::fs::write(&path, &found).expect("written");
        }
        let before = std::fs::read_to_string(&path).unwrap_or_default();
        let differs = before.lines().zip(found.lines()).find(|(before, found)| before != found);
        assert_eq!(differs, None, "{language}");
        assert_eq!(before.lines().count(), found.lines().count(), "{language}");
    }
}
