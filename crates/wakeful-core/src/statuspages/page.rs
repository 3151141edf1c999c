//! A status page as its team has set it up: what is shown, who may see it, and in which form.

use ipnet::IpNet;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;
use std::net::IpAddr;

use super::component::{Component, Section};
use super::incident::NamedComponent;
use super::rule::Rule;
use super::snapshot::{Collapsed, Color, ImageKind, Layout, Scheme, text_enum};
use super::{Language, Localized};
use crate::Invalid;
use crate::audit::{Audited, View};
use crate::calendar::zone::Zone;
use crate::id::{MonitorId, NotifierId, StatuspageId, TeamId};
use crate::monitors::spec::{Host, Hostname};
use crate::secret::Secret;
use crate::time::Millis;

/// The most pages of a team.
pub const MAX_PAGES: usize = 1_000;
pub const MAX_SECTIONS: usize = 50;
/// On all sections of a page.
pub const MAX_COMPONENTS: usize = 500;
/// In all components of a page together, also where several name the same one.
pub const MAX_MONITORS: usize = 5_000;
pub const MAX_DOMAINS: usize = 10;
pub const MAX_LINKS: usize = 8;
pub const MAX_NETWORKS: usize = 100;
pub const MAX_ORIGINS: usize = 50;
pub const MAX_DESCRIPTION: usize = 2_000;
pub const MAX_FOOTER: usize = 1_000;
pub const MAX_SHOWN_AFTER: u32 = 3_600;
/// The most bytes of the names of components in an automatic text, which has every language.
const MAX_NAMES: usize = 2_000;
pub const MAX_IMAGE_BYTES: usize = 256 << 10;
pub const PASSWORD_LENGTH: std::ops::RangeInclusive<usize> = 8..=256;

/// Translations: the texts of each language by the name of their field.
pub type Texts = BTreeMap<Language, BTreeMap<String, String>>;

/// A status page.
#[derive(Clone, Debug, PartialEq)]
pub struct StatusPage {
    pub id: StatuspageId,
    pub team: TeamId,
    pub name: String,
    pub slug: String,
    pub published: bool,
    pub access: Access,
    /// Argon2id; empty: none.
    pub password_hash: String,
    /// Increases with each new password.
    pub password_revision: i64,
    pub access_token: Option<Secret>,
    pub settings: PageSettings,
    pub domains: Vec<PageDomain>,
    pub sections: Vec<Section>,
    pub rules: Vec<Rule>,
    pub images: Vec<PageImage>,
    pub created: Millis,
    pub modified: Millis,
}

text_enum! {
    /// Who may see a page.
    #[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
    pub enum Access {
        #[default]
        Public = "public",
        Password = "password",
        Token = "token",
        /// Logged-in users of the team.
        Members = "members",
    }
}

/// An image of a page, without its content.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PageImage {
    pub kind: ImageKind,
    /// Identifies the content in its URL.
    pub digest: String,
    pub media_type: String,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PageDomain {
    pub domain: String,
    pub primary: bool,
    pub verified: Option<Millis>,
}

/// The record in the DNS that proves that a team owns the domain of its page.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct DomainRecord {
    pub name: String,
    pub value: String,
}

impl DomainRecord {
    pub const KIND: &str = "TXT";

    pub fn of(page: StatuspageId, domain: &str) -> Self {
        Self { name: format!("_wakeful.{domain}"), value: format!("wakeful-page={page}") }
    }
}

/// Everything else about a page, stored as one JSON text.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct PageSettings {
    pub description: String,
    pub footer: String,
    pub language: Language,
    /// Besides the default one.
    pub languages: Vec<Language>,
    pub texts: Texts,
    pub timezone: String,
    pub indexed: bool,
    pub allowed_networks: Vec<IpNet>,
    pub appearance: Appearance,
    pub display: Display,
    /// Seconds that an outage must last before it colors a component or a bar.
    pub shown_after: u32,
    pub subscribe: Subscribe,
    pub embed_origins: Vec<String>,
}

impl Default for PageSettings {
    fn default() -> Self {
        Self {
            description: String::new(),
            footer: String::new(),
            language: Language::English,
            languages: Vec::new(),
            texts: Texts::new(),
            timezone: "UTC".to_owned(),
            indexed: false,
            allowed_networks: Vec::new(),
            appearance: Appearance::default(),
            display: Display::default(),
            shown_after: 0,
            subscribe: Subscribe::default(),
            embed_origins: vec!["*".to_owned()],
        }
    }
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct Appearance {
    pub scheme: Scheme,
    /// The built-in one unless set.
    pub accent: Option<Color>,
    pub layout: Layout,
    pub links: Vec<Link>,
    pub custom_css: String,
    pub powered_by: bool,
}

impl Default for Appearance {
    fn default() -> Self {
        Self {
            scheme: Scheme::Auto,
            accent: None,
            layout: Layout::List,
            links: Vec::new(),
            custom_css: String::new(),
            powered_by: true,
        }
    }
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Link {
    pub text: String,
    pub url: String,
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct Display {
    pub history_days: u32,
    pub bars: bool,
    pub uptime: bool,
    pub decimals: u32,
    pub response_times: bool,
    pub certificates: bool,
    /// Individual outages with their times.
    pub outages: bool,
    pub incident_days: u32,
    pub collapsed: Collapsed,
}

impl Default for Display {
    fn default() -> Self {
        Self {
            history_days: 90,
            bars: true,
            uptime: true,
            decimals: 3,
            response_times: false,
            certificates: false,
            outages: false,
            incident_days: 7,
            collapsed: Collapsed::Never,
        }
    }
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct Subscribe {
    pub email: bool,
    pub webhook: bool,
    pub chat: bool,
    pub feeds: bool,
    pub choose: bool,
    /// The service's own mail unless set.
    pub sender: Option<NotifierId>,
    pub reply_to: String,
}

impl Default for Subscribe {
    fn default() -> Self {
        Self {
            email: true,
            webhook: false,
            chat: false,
            feeds: true,
            choose: true,
            sender: None,
            reply_to: String::new(),
        }
    }
}

/// The text of a field in its default language with its translations.
pub fn localized(text: &str, texts: &Texts, field: &str) -> Localized {
    let translation = |(language, texts): (&Language, &BTreeMap<String, String>)| {
        texts.get(field).map(|text| (*language, text.clone()))
    };
    let translations = texts.iter().filter_map(translation).collect();
    Localized { text: text.to_owned(), translations }
}

impl StatusPage {
    /// All components in the order they are shown.
    pub fn components(&self) -> impl Iterator<Item = &Component> {
        self.sections.iter().flat_map(|section| &section.components)
    }

    /// The name of a component in a language; of one that was deleted, the name that it had.
    pub fn component_name(&self, named: &NamedComponent, language: Language) -> String {
        match self.components().find(|component| component.id == named.id) {
            Some(known) => {
                let name = localized(known.shown_name(), &known.settings.texts, "name");
                name.get(language).to_owned()
            }
            None => named.name.clone(),
        }
    }

    /// The names of components in a language, in one line: the first of them if they are many.
    pub fn component_names(&self, named: &[NamedComponent], language: Language) -> String {
        let mut names = String::new();
        for one in named {
            let name = self.component_name(one, language);
            if !names.is_empty() {
                names.push_str(", ");
                if names.len() + name.len() > MAX_NAMES {
                    names.push('…');
                    break;
                }
            }
            names.push_str(&name);
        }
        names
    }

    pub fn zone(&self) -> Zone {
        Zone::stored(&self.settings.timezone)
    }

    /// Where the page is: its primary domain, or a path of the web app. With `verified`, only
    /// domains whose record was found are served.
    pub fn url(&self, public_url: &str, verified: bool) -> String {
        let is_served = |domain: &&PageDomain| !verified || domain.verified.is_some();
        match self.domains.iter().filter(is_served).find(|domain| domain.primary) {
            Some(domain) => format!("https://{}", domain.domain),
            None => format!("{public_url}/status/{}", self.slug),
        }
    }

    /// The monitors that its components name, each once. Those of a tag are not among them.
    pub fn monitors(&self) -> Vec<MonitorId> {
        let mut monitors: Vec<MonitorId> = self
            .components()
            .flat_map(|component| component.monitors.iter().map(|monitor| monitor.id))
            .collect();
        monitors.sort_unstable();
        monitors.dedup();
        monitors
    }
}

/// An address or a network, such as `10.0.0.0/8`.
pub fn parse_network(text: &str) -> Result<IpNet, Invalid> {
    let text = text.trim();
    let network = text.parse::<IpNet>().ok();
    let network = network.or_else(|| text.parse::<IpAddr>().ok().map(IpNet::from));
    network
        .map(|network| network.trunc())
        .ok_or_else(|| Invalid::new("must contain addresses or networks, such as 10.0.0.0/8"))
}

/// A domain of a page: a host name with a dot that is not an address. It names one host, so a
/// wildcard is refused, and whatever else a name in the DNS could contain but no host has. The
/// result is in ASCII, as in the requests of browsers.
pub fn parse_domain(text: &str) -> Result<String, Invalid> {
    let wrong = || Invalid::new("must be a domain, such as status.example.com");
    let text = text.trim().trim_end_matches('.').to_ascii_lowercase();
    let host = Hostname::parse(&text).map_err(|_| wrong())?;
    let Host::Name(name) = host.host() else { return Err(wrong()) };
    let is_host = name.chars().all(|c| c.is_ascii_alphanumeric() || "-_.".contains(c));
    if is_host && name.contains('.') && name.len() <= 253 { Ok(name.clone()) } else { Err(wrong()) }
}

/// An origin that may frame the page, or `*` for all.
pub fn parse_origin(text: &str) -> Result<String, Invalid> {
    let wrong = || Invalid::new("must contain * or origins, such as https://example.com");
    let text = text.trim();
    if text == "*" {
        return Ok(text.to_owned());
    }
    let url = url::Url::parse(text).map_err(|_| wrong())?;
    let is_plain = matches!(url.scheme(), "http" | "https") && url.path() == "/";
    let is_bare = url.query().is_none() && url.fragment().is_none() && url.username().is_empty();
    if is_plain && is_bare && url.host_str().is_some_and(|host| !host.contains([';', ',', '*'])) {
        Ok(url.origin().ascii_serialization())
    } else {
        Err(wrong())
    }
}

impl Audited for StatusPage {
    fn view(&self) -> View {
        let json =
            |value: &dyn Fn() -> serde_json::Result<serde_json::Value>| value().unwrap_or_default();
        let settings = &self.settings;
        let domains: Vec<&str> = self.domains.iter().map(|one| one.domain.as_str()).collect();
        let mut view = View::default()
            .with("name", self.name.as_str())
            .with("slug", self.slug.as_str())
            .with("published", self.published)
            .with("access", self.access.as_str())
            .with_secret("password", &self.password_hash)
            .with("description", settings.description.as_str())
            .with("footer", settings.footer.as_str())
            .with("language", settings.language.as_str())
            .with(
                "languages",
                settings.languages.iter().map(|one| one.as_str()).collect::<Vec<_>>().join(", "),
            )
            .with("timezone", settings.timezone.as_str())
            .with("indexed", settings.indexed)
            .with("shown_after", settings.shown_after)
            .with("allowed_networks", networks(&settings.allowed_networks))
            .with("embed_origins", settings.embed_origins.join(", "))
            .with("domains", domains.join(", "))
            .with("appearance", json(&|| serde_json::to_value(&settings.appearance)))
            .with("display", json(&|| serde_json::to_value(&settings.display)))
            .with("subscribe", json(&|| serde_json::to_value(&settings.subscribe)))
            .with("texts", json(&|| serde_json::to_value(&settings.texts)));
        if let Some(token) = &self.access_token {
            view = view.with_secret("access_token", token.expose());
        }
        let sections: Vec<String> = self.sections.iter().map(Section::describe).collect();
        let rules: Vec<&str> = self.rules.iter().map(|rule| rule.name.as_str()).collect();
        view.with("sections", sections).with("rules", rules.join(", "))
    }
}

fn networks(networks: &[IpNet]) -> String {
    networks.iter().map(ToString::to_string).collect::<Vec<_>>().join(", ")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn values_of_a_page_are_checked() {
        assert_eq!(parse_network("10.1.2.3/8").unwrap().to_string(), "10.0.0.0/8");
        assert_eq!(parse_network("2001:db8::1").unwrap().to_string(), "2001:db8::1/128");
        assert!(parse_network("10.0.0.0/33").is_err());
        assert_eq!(parse_domain("Status.Example.com."), Ok("status.example.com".to_owned()));
        assert_eq!(parse_domain("Bücher.example"), Ok("xn--bcher-kva.example".to_owned()));
        for wrong in ["localhost", "10.0.0.1", "a b.c", "x.com:80", "https://x.com", "::1"] {
            assert!(parse_domain(wrong).is_err(), "{wrong}");
        }
        for wrong in ["*.example.com", "status.*.example.com", "a!b.example.com", "a,b.c", "1.2.3"]
        {
            assert!(parse_domain(wrong).is_err(), "{wrong}");
        }
        assert_eq!(parse_origin("https://X.com/"), Ok("https://x.com".to_owned()));
        assert_eq!(parse_origin("http://x.com:8080"), Ok("http://x.com:8080".to_owned()));
        for wrong in ["x.com", "https://x.com/a", "https://*.x.com", "javascript:1", "data:x"] {
            assert!(parse_origin(wrong).is_err(), "{wrong}");
        }
    }

    #[test]
    fn stored_settings_of_an_earlier_version_get_the_defaults() {
        let settings: PageSettings = serde_json::from_str("{}").unwrap();
        assert_eq!(settings, PageSettings::default());
        let text = serde_json::to_string(&settings).unwrap();
        assert_eq!(serde_json::from_str::<PageSettings>(&text).unwrap(), settings);
    }
}
