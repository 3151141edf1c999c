//! What a page would look like, for its editor.

use flate2::Compression;
use wakeful_core::Invalid;
use wakeful_core::monitors::spec::Hostname;
use wakeful_core::named_enum;
use wakeful_core::statuspages::Language;
use wakeful_core::statuspages::css::readable;
use wakeful_core::statuspages::snapshot::{ComponentStatus, Incident, Snapshot};

use super::render::{self, Context, Way};
use super::style;
use crate::compression::gzip;

named_enum! {
    /// Which document is shown.
    #[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
    pub(crate) enum Show {
        #[default]
        Front = "front",
        Incident = "incident",
        Locked = "locked",
    }
}

pub(crate) struct Preview {
    pub(crate) html: String,
    pub(crate) css: String,
    /// The compressed size of the HTML.
    pub(crate) bytes: usize,
    pub(crate) warnings: Vec<Warning>,
}

/// Something that the team may not have intended.
pub(crate) struct Warning {
    pub(crate) field: String,
    pub(crate) message: String,
}

impl Show {
    pub(crate) fn parse(text: &str) -> Result<Self, Invalid> {
        let found = Self::ALL.iter().copied().find(|show| show.as_str() == text);
        found.ok_or_else(|| Invalid::new("must be one of front, incident, locked"))
    }
}

/// The page in its default language. Of its incidents, `incident` is shown, or else the first.
pub(crate) fn preview(snapshot: &Snapshot, incident: Option<&Incident>, show: Show) -> Preview {
    let language = snapshot.page.language;
    let base = format!("/status/{}", snapshot.page.slug);
    let context = Context { language, base: &base, unlocked: false };
    let html = match show {
        Show::Front => render::front(snapshot, context),
        Show::Locked => render::login(snapshot, Way::Password, None, context),
        Show::Incident => match incident.or_else(|| snapshot.all_incidents().next()) {
            Some(incident) => render::incident(snapshot, incident, context),
            None => render::front(snapshot, context),
        },
    };
    Preview {
        bytes: gzip(html.as_bytes(), Compression::default()).len(),
        html,
        css: style::sheet(&snapshot.page.appearance),
        warnings: warnings(snapshot, language),
    }
}

fn warnings(snapshot: &Snapshot, language: Language) -> Vec<Warning> {
    let mut warnings = Vec::new();
    if let Some(accent) = snapshot.page.appearance.accent {
        for (scheme, background) in [("light", style::LIGHT), ("dark", style::DARK)] {
            let shown = readable(accent, background);
            if shown != accent {
                let message = format!(
                    "has too little contrast for text on the {scheme} background, where {shown} is used"
                );
                warnings.push(Warning { field: "appearance.accent".to_owned(), message });
            }
        }
    }
    for (at, section) in snapshot.sections.iter().enumerate() {
        for (index, component) in section.components.iter().enumerate() {
            let field = |name: &str| format!("sections.{at}.components.{index}.{name}");
            let name = component.name.get(language);
            if looks_like_host(name) {
                let message = "looks like a host name or an address; visitors will see it";
                warnings.push(Warning { field: field("name"), message: message.to_owned() });
            }
            if component.status == ComponentStatus::Unknown {
                let message = "have no data yet, so the component has no status";
                warnings.push(Warning { field: field("monitors"), message: message.to_owned() });
            }
        }
    }
    warnings
}

/// Such as `db-1.internal`, `10.0.0.7` or `https://example.com`.
fn looks_like_host(name: &str) -> bool {
    let name = name.trim();
    let is_host = || name.contains('.') && !name.contains(' ') && Hostname::parse(name).is_ok();
    name.contains("://") || name.parse::<std::net::IpAddr>().is_ok() || is_host()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::statuspages::sample;
    use wakeful_core::statuspages::snapshot::Color;

    #[test]
    fn a_preview_warns_about_what_visitors_would_see() {
        let mut snapshot = sample::page();
        snapshot.page.appearance.accent = Some(Color::parse("#ffff00").expect("a color"));
        snapshot.sections[0].components[1].name = "db-1.internal".into();
        let shown = preview(&snapshot, None, Show::Front);
        let fields: Vec<&str> = shown.warnings.iter().map(|one| one.field.as_str()).collect();
        assert_eq!(
            fields,
            [
                "appearance.accent",
                "sections.0.components.1.name",
                "sections.1.components.1.monitors"
            ]
        );
        assert!(shown.html.contains("<html lang=\"en\""));
        assert!(shown.css.contains("--accent:#ffff00"));
        assert!(shown.bytes > 1_000 && shown.bytes < shown.html.len());
        for (name, is_host) in [
            ("API", false),
            ("Version 2.0", false),
            ("10.0.0.7", true),
            ("::1", true),
            ("https://x", true),
            ("shop.example.com", true),
        ] {
            assert_eq!(looks_like_host(name), is_host, "{name}");
        }
        let incident = preview(&snapshot, None, Show::Incident);
        assert!(incident.html.contains("<h1>Slow &lt;requests&gt;</h1>"), "{}", incident.html);
        assert!(!preview(&snapshot, None, Show::Locked).html.contains("db-1"));
    }
}
