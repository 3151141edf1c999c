//! What the templates of a page share: its language, its links, its times and its texts.

use std::borrow::Cow;
use std::time::Duration;
use wakeful_core::calendar::zone::Zone;
use wakeful_core::statuspages::i18n::{Messages, fill};
use wakeful_core::statuspages::markdown::{self, escape, visible};
use wakeful_core::statuspages::snapshot::{
    Component, ComponentStatus, Date, Image, ImageKind, Impact, Incident, Indicator, Page, Scheme,
    Section, Snapshot,
};
use wakeful_core::statuspages::{Language, Localized};
use wakeful_core::time::Millis;

use super::assets;
use super::text_budget::TextBudget;

pub(super) struct View<'a> {
    pub(super) snapshot: &'a Snapshot,
    pub(super) page: &'a Page,
    pub(super) m: &'static Messages,
    pub(super) language: Language,
    zone: Zone,
    /// The path of the front page, without a slash at its end.
    base: &'a str,
    /// For what is written about incidents.
    pub(super) texts: TextBudget,
}

impl<'a> View<'a> {
    pub(super) fn new(snapshot: &'a Snapshot, language: Language, base: &'a str) -> Self {
        let zone = Zone::stored(&snapshot.page.timezone);
        Self {
            snapshot,
            page: &snapshot.page,
            m: language.messages(),
            language,
            zone,
            base,
            texts: TextBudget::new(),
        }
    }

    /// Whether the page is shown at its own domain.
    pub(super) fn is_on_domain(&self) -> bool {
        self.base.is_empty()
    }

    // Links.

    /// The public address of an incident.
    pub(super) fn incident_url(&self, incident: &Incident) -> String {
        format!("{}/incident/{}", self.page.url, incident.id)
    }

    /// The address of a part of the page, in the same language.
    pub(super) fn href(&self, path: &str) -> String {
        self.in_language(path, &self.language)
    }

    pub(super) fn in_language(&self, path: &str, language: &Language) -> String {
        let path = self.path(path);
        if *language == self.page.language { path } else { format!("{path}?lang={language}") }
    }

    /// The address of something that has no language.
    pub(super) fn path(&self, path: &str) -> String {
        match (self.base, path) {
            ("", "") => "/".to_owned(),
            (base, path) => format!("{base}{path}"),
        }
    }

    /// The address of an image, which changes with its content.
    pub(super) fn image(&self, kind: ImageKind, image: &Image) -> String {
        self.path(&format!("/image/{}?v={}", kind.as_str(), image.hash))
    }

    /// The logo for the color scheme of the page; the one for light colors if the visitor decides.
    pub(super) fn logo(&self) -> Option<String> {
        let appearance = &self.page.appearance;
        if let (Scheme::Dark, Some(image)) = (appearance.scheme, &appearance.logo_dark) {
            return Some(self.image(ImageKind::LogoDark, image));
        }
        Some(self.image(ImageKind::Logo, appearance.logo.as_ref()?))
    }

    /// The logo for visitors who prefer dark colors, unless the page decides.
    pub(super) fn logo_dark(&self) -> Option<String> {
        let appearance = &self.page.appearance;
        let image = appearance.logo_dark.as_ref().filter(|_| appearance.scheme == Scheme::Auto)?;
        Some(self.image(ImageKind::LogoDark, image))
    }

    pub(super) fn favicon(&self) -> Option<String> {
        let image = self.page.appearance.favicon.as_ref()?;
        Some(self.image(ImageKind::Favicon, image))
    }

    /// The style sheet of all pages, or that of this page if it has colors or rules of its own.
    pub(super) fn style(&self) -> String {
        let appearance = &self.page.appearance;
        if appearance.accent.is_none() && appearance.custom_css.is_empty() {
            return assets::style().path();
        }
        self.path(&format!("/style.css?v={}", super::style::hash(appearance)))
    }

    pub(super) fn script(&self) -> String {
        assets::script().path()
    }

    /// The other languages of the page.
    pub(super) fn other_languages(&self) -> Vec<Language> {
        let all = std::iter::once(self.page.language).chain(self.page.languages.iter().copied());
        let mut others: Vec<Language> = Vec::new();
        for language in all {
            if language != self.language && !others.contains(&language) {
                others.push(language);
            }
        }
        others
    }

    pub(super) fn dir(&self) -> &'static str {
        self.language.direction()
    }

    // Texts.

    /// A text as HTML. One that has no translation is marked as of another language.
    pub(super) fn text(&self, text: &Localized) -> String {
        let shown = escape(&visible(text.get(self.language)));
        match self.foreign(text) {
            Some(language) => {
                format!("<span lang=\"{language}\" dir=\"{}\">{shown}</span>", language.direction())
            }
            None => shown,
        }
    }

    /// A text without markup, for attributes and titles.
    pub(super) fn plain(&self, text: &Localized) -> String {
        visible(text.get(self.language))
    }

    /// A Markdown text as HTML.
    pub(super) fn markdown(&self, text: &Localized) -> String {
        self.in_its_language(text, markdown::to_html(text.get(self.language)))
    }

    /// The HTML of a text, marked if it is in another language than the page.
    pub(super) fn in_its_language(&self, text: &Localized, html: String) -> String {
        match self.foreign(text) {
            Some(language) => {
                format!("<div lang=\"{language}\" dir=\"{}\">{html}</div>", language.direction())
            }
            None => html,
        }
    }

    fn foreign(&self, text: &Localized) -> Option<Language> {
        let is_translated =
            self.language == self.page.language || text.translation(self.language).is_some();
        (!is_translated).then_some(self.page.language)
    }

    pub(super) fn name(&self) -> String {
        self.plain(&self.page.name)
    }

    pub(super) fn headline(&self) -> &'static str {
        self.m.page_status(self.snapshot.status)
    }

    /// The phrase of the language with its one value.
    pub(super) fn fill(&self, pattern: &str, name: &str, value: &str) -> String {
        fill(pattern, &[(name, value)])
    }

    // Times.

    pub(super) fn zone(&self) -> &Zone {
        &self.zone
    }

    /// A `time` element in the page's time zone.
    pub(super) fn time(&self, at: &Millis) -> String {
        let at = *at;
        format!(
            "<time datetime=\"{}\">{}</time>",
            at.to_second(),
            escape(&self.m.time(at, &self.zone))
        )
    }

    pub(super) fn window(&self, from: &Millis, to: &Millis) -> String {
        fill(self.m.window, &[("from", &self.time(from)), ("to", &self.time(to))])
    }

    /// A phrase with the time in it, as HTML.
    pub(super) fn phrase_with_time(&self, pattern: &str, at: &Millis) -> String {
        fill(&escape(pattern), &[("time", &self.time(at))])
    }

    pub(super) fn date_in_zone(&self, at: Millis) -> Date {
        self.zone.local(at).date()
    }

    /// How long an incident lasted, if it is over.
    pub(super) fn lasted(&self, incident: &Incident) -> Option<String> {
        if incident.cancelled {
            return None;
        }
        let span = incident.resolved?.since(incident.started);
        Some(self.fill(self.m.lasted, "duration", &self.m.duration(span)))
    }

    pub(super) fn seconds(&self, seconds: &u32) -> String {
        self.m.duration(Duration::from_secs(u64::from(*seconds)))
    }

    // Parts of the front page.

    /// The components that the front page lists.
    pub(super) fn listed(&self, section: &'a Section) -> Vec<&'a Component> {
        section.components.iter().filter(|component| component.is_listed()).collect()
    }

    /// The uptime of the days that the bars show, as a phrase.
    pub(super) fn uptime(&self, component: &Component) -> Option<Cow<'static, str>> {
        let figures = component.uptime.as_ref()?;
        let Some(uptime) = figures.shown else { return Some(self.m.no_data.into()) };
        Some(self.fill(self.m.uptime_of, "percent", &self.percent(&uptime)).into())
    }

    pub(super) fn certificate(&self, component: &Component) -> Option<String> {
        let until = self.m.day_of(self.date_in_zone(component.certificate_expires?));
        Some(self.fill(self.m.certificate_until, "date", &until))
    }

    pub(super) fn response_time(&self, component: &Component) -> Option<String> {
        let median = component.response_times.as_ref()?.day?;
        Some(format!("{median} ms"))
    }
}

/// The class of a status, for its color and its icon.
pub(super) fn status_class(status: ComponentStatus) -> &'static str {
    match status {
        ComponentStatus::Unknown => "none",
        ComponentStatus::Operational => "ok",
        ComponentStatus::UnderMaintenance => "maint",
        ComponentStatus::DegradedPerformance => "minor",
        ComponentStatus::PartialOutage => "major",
        ComponentStatus::MajorOutage => "crit",
    }
}

pub(super) fn indicator_class(snapshot: &Snapshot) -> &'static str {
    match snapshot.status.indicator {
        _ if snapshot.status.no_data => "none",
        Indicator::None => "ok",
        Indicator::Maintenance => "maint",
        Indicator::Minor => "minor",
        Indicator::Major => "major",
        Indicator::Critical => "crit",
    }
}

pub(super) fn impact_class(impact: Impact) -> &'static str {
    match impact {
        Impact::None => "none",
        Impact::Maintenance => "maint",
        Impact::Minor => "minor",
        Impact::Major => "major",
        Impact::Critical => "crit",
    }
}
