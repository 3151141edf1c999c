//! Feeds: one entry for each update, because chat tools announce only new entries, or one
//! for each incident, as Statuspage has them.

use askama::Template;
use serde::Serialize;
use wakeful_core::calendar::zone::Zone;
use wakeful_core::statuspages::Language;
use wakeful_core::statuspages::markdown::{escape, visible};
use wakeful_core::statuspages::snapshot::{Component, Incident, Snapshot, Update};
use wakeful_core::time::Millis;

use super::json::to_json;
use super::view::View;

const MAX_ENTRIES: usize = 50;

/// The format of a feed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(super) enum Format {
    Atom,
    Rss,
    Json,
}

/// What the entries of a feed are.
#[derive(Clone, Copy)]
pub(super) enum Entries<'a> {
    Updates,
    Incidents,
    /// The updates of the incidents of one component.
    Component(&'a Component),
}

/// What an entry is about.
enum Subject<'a> {
    Update(&'a Incident, &'a Update),
    Incident(&'a Incident),
}

struct Entry {
    /// Stays the same whenever the feed is read.
    id: String,
    title: String,
    url: String,
    published: Millis,
    updated: Millis,
    html: String,
    text: String,
}

impl Entry {
    fn rfc_822(&self) -> String {
        rfc_822(self.published)
    }
}

fn rfc_822(at: Millis) -> String {
    Zone::utc().local(at).strftime("%a, %d %b %Y %H:%M:%S +0000").to_string()
}

#[derive(Template)]
#[template(path = "feed.atom.xml")]
struct Atom<'a> {
    feed: &'a Feed,
}

#[derive(Template)]
#[template(path = "feed.rss.xml")]
struct Rss<'a> {
    feed: &'a Feed,
}

struct Feed {
    id: String,
    title: String,
    /// The page that it belongs to.
    home: String,
    /// The feed itself.
    own_url: String,
    language: Language,
    updated: Millis,
    entries: Vec<Entry>,
}

impl Feed {
    fn built(&self) -> String {
        rfc_822(self.updated)
    }
}

#[derive(Serialize)]
struct JsonFeed<'a> {
    version: &'static str,
    title: &'a str,
    home_page_url: &'a str,
    feed_url: &'a str,
    language: Language,
    items: Vec<JsonItem<'a>>,
}

#[derive(Serialize)]
struct JsonItem<'a> {
    id: &'a str,
    url: &'a str,
    title: &'a str,
    content_html: &'a str,
    content_text: &'a str,
    date_published: Millis,
    date_modified: Millis,
}

/// A feed of the page; `path` is its own address below that of the page.
pub(super) fn render(
    format: Format,
    entries: Entries<'_>,
    snapshot: &Snapshot,
    language: Language,
    path: &str,
) -> String {
    let feed = feed(entries, snapshot, language, path);
    let rendered = match format {
        Format::Atom => Atom { feed: &feed }.render(),
        Format::Rss => Rss { feed: &feed }.render(),
        Format::Json => Ok(json(&feed)),
    };
    rendered.expect("writing to a string cannot fail")
}

fn feed(entries: Entries<'_>, snapshot: &Snapshot, language: Language, path: &str) -> Feed {
    let v = View::new(snapshot, language, "");
    let page = &snapshot.page;
    let incidents = snapshot.all_incidents();
    let mut subjects: Vec<Subject<'_>> = match entries {
        Entries::Updates => incidents.flat_map(updates).collect(),
        Entries::Incidents => incidents.map(Subject::Incident).collect(),
        Entries::Component(component) => {
            let names = |one: &&Incident| {
                one.components.iter().any(|affected| affected.id == Some(component.id))
            };
            incidents.filter(names).flat_map(updates).collect()
        }
    };
    subjects.sort_by_key(|one| std::cmp::Reverse(one.published()));
    let mut all: Vec<Entry> = Vec::new();
    for subject in subjects.iter().take(MAX_ENTRIES) {
        // The newest one is there in any case.
        if !all.is_empty() && !v.texts.has_room() {
            break;
        }
        all.push(entry(&v, subject));
    }
    let name = match entries {
        Entries::Component(component) => {
            format!("{} – {}", v.name(), v.plain(&component.name))
        }
        Entries::Updates | Entries::Incidents => v.name(),
    };
    let newest = all.iter().map(|entry| entry.updated).max();
    Feed {
        id: format!("{}{path}", page.url),
        title: name,
        home: page.url.clone(),
        own_url: format!("{}{path}", page.url),
        language,
        updated: newest.unwrap_or(page.created),
        entries: all,
    }
}

impl Subject<'_> {
    fn published(&self) -> Millis {
        match self {
            Self::Update(_, update) => update.display_at,
            Self::Incident(incident) => incident.begins().min(incident.created),
        }
    }
}

fn updates(incident: &Incident) -> impl Iterator<Item = Subject<'_>> {
    incident.updates.iter().map(move |update| Subject::Update(incident, update))
}

fn entry(v: &View<'_>, subject: &Subject<'_>) -> Entry {
    match subject {
        Subject::Update(incident, update) => of_update(v, incident, update),
        Subject::Incident(incident) => of_incident(v, incident),
    }
}

fn of_update(v: &View<'_>, incident: &Incident, update: &Update) -> Entry {
    let url = v.incident_url(incident);
    let (html, text) = v.texts.html_and_text(update.body.get(v.language), &url);
    Entry {
        id: format!("urn:uuid:{}", update.id),
        title: format!("{}: {}", v.m.incident_status(update.status), v.plain(&incident.title)),
        url,
        published: update.display_at,
        updated: update.edited.unwrap_or(update.display_at),
        html,
        text,
    }
}

/// An incident with all its updates and its postmortem, as far as they fit.
fn of_incident(v: &View<'_>, incident: &Incident) -> Entry {
    let url = v.incident_url(incident);
    let mut html = String::new();
    let mut text = String::new();
    let mut add = |heading: &str, at: Millis, body: &str| {
        let time = v.m.time(at, v.zone());
        let (body_html, body_text) = v.texts.html_and_text(body, &url);
        html.push_str(&format!("<p><strong>{}</strong> ({})</p>", escape(heading), escape(&time)));
        html.push_str(&body_html);
        text.push_str(&format!("{heading} ({time})\n{body_text}\n\n"));
    };
    let mut updated = incident.modified;
    if let Some(postmortem) = &incident.postmortem {
        add(v.m.postmortem, postmortem.published, postmortem.body.get(v.language));
        updated = updated.max(postmortem.published);
    }
    for Update { status, display_at, body, .. } in &incident.updates {
        add(v.m.incident_status(*status), *display_at, body.get(v.language));
        if !v.texts.has_room() {
            break;
        }
    }
    Entry {
        id: format!("urn:uuid:{}", incident.id),
        title: v.plain(&incident.title),
        url,
        published: incident.begins().min(incident.created),
        updated,
        html,
        text: visible(text.trim_end()),
    }
}

fn json(feed: &Feed) -> String {
    let items = feed.entries.iter().map(|entry| JsonItem {
        id: &entry.id,
        url: &entry.url,
        title: &entry.title,
        content_html: &entry.html,
        content_text: &entry.text,
        date_published: entry.published,
        date_modified: entry.updated,
    });
    to_json(&JsonFeed {
        version: "https://jsonfeed.org/version/1.1",
        title: &feed.title,
        home_page_url: &feed.home,
        feed_url: &feed.own_url,
        language: feed.language,
        items: items.collect(),
    })
}
