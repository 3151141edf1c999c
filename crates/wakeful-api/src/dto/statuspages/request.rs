//! Status pages as they are saved. When a stored page is changed, omitted fields retain their
//! values, in nested objects as well; lists of sections, components and rules are complete.

use serde_json::Value;
use std::collections::BTreeMap;
use utoipa::ToSchema;
use wakeful_core::Invalid;
use wakeful_core::calendar::zone::Zone;
use wakeful_core::email_address::EmailAddress;
use wakeful_core::id::NotifierId;
use wakeful_core::monitors::Name;
use wakeful_core::monitors::spec::HttpUrl;
use wakeful_core::secret::Secret;
use wakeful_core::statuspages::Language;
use wakeful_core::statuspages::css;
use wakeful_core::statuspages::page::{
    Access, Appearance, Display, Link, MAX_DESCRIPTION, MAX_DOMAINS, MAX_FOOTER, MAX_IMAGE_BYTES,
    MAX_LINKS, MAX_NETWORKS, MAX_ORIGINS, MAX_SHOWN_AFTER, PASSWORD_LENGTH, PageSettings,
    StatusPage, Subscribe, Texts, parse_domain, parse_network, parse_origin,
};
use wakeful_core::statuspages::slug;
use wakeful_core::statuspages::snapshot::{Collapsed, Color, ImageKind, Layout, Scheme};
use wakeful_engine::PageDraft;

use super::response::{AppearanceBody, DisplayBody, DomainBody, SubscribeBody};
use super::rules::{SaveRule, rules};
use super::sections::{SaveSection, sections};
use crate::dto::Fields;
use crate::dto::enums;
use crate::dto::incidents::PreviewIncident;
use crate::dto::policies::number;

/// A status page to create (without `pageid`) or to change.
#[derive(ToSchema)]
#[schema(as = SaveStatuspage)]
#[expect(dead_code, reason = "only its schema is used")]
pub(crate) struct SaveStatuspage {
    pageid: Option<String>,
    /// Required for a new page.
    #[schema(min_length = 1, max_length = 255)]
    name: Option<String>,
    /// The name of the page in its URL. Made of the name unless sent.
    #[schema(min_length = 2, max_length = 63)]
    slug: Option<String>,
    /// Markdown.
    #[schema(max_length = 2000)]
    description: Option<String>,
    /// Markdown.
    #[schema(max_length = 1000)]
    footer: Option<String>,
    language: Option<enums::StatuspageLanguage>,
    /// Further languages.
    languages: Option<Vec<enums::StatuspageLanguage>>,
    /// Translations: `{"de": {"name": "…"}}`.
    #[schema(value_type = Option<Object>)]
    texts: Option<Value>,
    /// The name of a time zone.
    timezone: Option<String>,
    /// Whether everybody with access can see it. Default: false.
    published: Option<bool>,
    /// Whether search engines may list it. Default: false.
    indexed: Option<bool>,
    access: Option<enums::StatuspageAccess>,
    /// Never returned.
    #[schema(max_length = 256)]
    password: Option<String>,
    /// Addresses or networks; empty for all.
    #[schema(max_items = 100)]
    allowed_networks: Option<Vec<String>>,
    appearance: Option<AppearanceBody>,
    display: Option<DisplayBody>,
    /// Seconds that an outage must last before it is shown.
    #[schema(maximum = 3600)]
    shown_after: Option<u32>,
    subscribe: Option<SubscribeBody>,
    /// Origins that may frame the page; `*` for all.
    #[schema(max_items = 50)]
    embed_origins: Option<Vec<String>>,
    #[schema(max_items = 10)]
    domains: Option<Vec<DomainBody>>,
    /// All sections in their order: those with an id are changed, others are created, and
    /// those left out are deleted.
    #[schema(max_items = 50)]
    sections: Option<Vec<SaveSection>>,
    /// All rules in their order.
    #[schema(max_items = 50)]
    rules: Option<Vec<SaveRule>>,
}

/// A status page as in `statuspage/save`.
#[derive(ToSchema)]
#[schema(as = PreviewStatuspage)]
#[expect(dead_code, reason = "only its schema is used")]
pub(crate) struct PreviewStatuspage {
    #[serde(flatten)]
    page: SaveStatuspage,
    /// An incident of the page with an update that has not been saved.
    incident: Option<PreviewIncident>,
}

/// The stored page with the sent fields applied; `None` if some are invalid.
pub(crate) fn draft(fields: &mut Fields, stored: Option<&StatusPage>) -> Option<PageDraft> {
    let name = fields.optional("name", Name::parse).map(|name| name.to_string());
    let name = name.or_else(|| stored.map(|old| old.name.clone()));
    let name = fields.require("name", name);
    let slug = if fields.is_filled("slug") { fields.optional("slug", slug::parse) } else { None };
    let settings = settings(fields, stored.map(|old| &old.settings));
    let password = fields.optional_text("password").map(Secret::new);
    if let Some(password) = password.as_ref().filter(|password| !password.expose().is_empty())
        && !PASSWORD_LENGTH.contains(&password.expose().chars().count())
    {
        fields.refuse("password", "must have 8 to 256 characters");
    }
    let domains = domains(fields, stored);
    let sections = sections(fields, stored);
    let rules = rules(fields, stored);
    let published = fields.optional_flag("published");
    let access = fields.optional("access", Access::parse);
    let (domains, primary) = domains?;
    Some(PageDraft {
        name: name?,
        slug,
        published: published.or(stored.map(|old| old.published)).unwrap_or(false),
        access: access.or(stored.map(|old| old.access)).unwrap_or_default(),
        password,
        settings: settings?,
        domains,
        primary,
        sections: sections?,
        rules: rules?,
    })
}

fn settings(fields: &mut Fields, stored: Option<&PageSettings>) -> Option<PageSettings> {
    let old = stored.cloned().unwrap_or_default();
    let language = fields.optional("language", Language::parse);
    let languages = list(fields, "languages", Language::ALL.len(), Language::parse);
    let networks = list(fields, "allowed_networks", MAX_NETWORKS, parse_network);
    let origins = list(fields, "embed_origins", MAX_ORIGINS, parse_origin);
    let timezone =
        fields.optional("timezone", |text| Zone::parse(text).map(|zone| zone.name().to_owned()));
    let description = fields.optional_short_text("description", MAX_DESCRIPTION);
    let footer = fields.optional_short_text("footer", MAX_FOOTER);
    let limits =
        [("name", Name::MAX_LENGTH), ("description", MAX_DESCRIPTION), ("footer", MAX_FOOTER)];
    let texts = texts(fields, &limits);
    let indexed = fields.optional_flag("indexed");
    let shown_after = number(fields, "shown_after", 0, MAX_SHOWN_AFTER);
    let appearance = fields.within("appearance", |fields| appearance(fields, &old.appearance));
    let display = fields.within("display", |fields| display(fields, &old.display));
    let subscribe = fields.within("subscribe", |fields| subscribe(fields, &old.subscribe));
    let language = language.unwrap_or(old.language);
    let mut languages = languages.unwrap_or(old.languages);
    languages.retain(|one| *one != language);
    languages.sort_unstable();
    languages.dedup();
    Some(PageSettings {
        description: description.unwrap_or(old.description),
        footer: footer.unwrap_or(old.footer),
        language,
        languages,
        texts: texts.unwrap_or(old.texts),
        timezone: timezone.unwrap_or(old.timezone),
        indexed: indexed.unwrap_or(old.indexed),
        allowed_networks: networks.unwrap_or(old.allowed_networks),
        appearance: appearance?,
        display: display?,
        shown_after: shown_after.unwrap_or(old.shown_after),
        subscribe: subscribe?,
        embed_origins: origins.unwrap_or(old.embed_origins),
    })
}

fn appearance(fields: &mut Fields, old: &Appearance) -> Option<Appearance> {
    let accent = match fields.optional_text("accent") {
        Some(text) if text.trim().is_empty() => Some(None),
        Some(text) => fields.accept("accent", Color::parse(text.trim())).map(Some),
        None => Some(old.accent),
    };
    let scheme = fields.optional("scheme", Scheme::parse);
    let layout = fields.optional("layout", Layout::parse);
    let links = fields.optional_objects("links", MAX_LINKS, |fields| {
        let text = fields.short_text("text", 100);
        let url =
            fields.parse("url", |text| HttpUrl::parse(text).map(|url| url.as_str().to_owned()));
        Some(Link { text: text?, url: url? })
    });
    let links = if fields.has("links") { links } else { Some(old.links.clone()) };
    let css = fields.optional("custom_css", |text| css::validate(text).map(|()| text.to_owned()));
    let powered_by = fields.optional_flag("powered_by");
    Some(Appearance {
        scheme: scheme.unwrap_or(old.scheme),
        accent: accent?,
        layout: layout.unwrap_or(old.layout),
        links: links?,
        custom_css: css.unwrap_or_else(|| old.custom_css.clone()),
        powered_by: powered_by.unwrap_or(old.powered_by),
    })
}

fn display(fields: &mut Fields, old: &Display) -> Option<Display> {
    let history_days = fields.optional_number("history_days", |days| match days {
        30 | 60 | 90 => Ok(days as u32),
        _ => Err(Invalid::new("must be 30, 60 or 90")),
    });
    let decimals = number(fields, "decimals", 0, 4);
    let incident_days = number(fields, "incident_days", 0, 30);
    let collapsed = fields.optional("collapsed", Collapsed::parse);
    let mut flag = |name: &str, old: bool| fields.optional_flag(name).unwrap_or(old);
    Some(Display {
        history_days: history_days.unwrap_or(old.history_days),
        bars: flag("bars", old.bars),
        uptime: flag("uptime", old.uptime),
        decimals: decimals.unwrap_or(old.decimals),
        response_times: flag("response_times", old.response_times),
        certificates: flag("certificates", old.certificates),
        outages: flag("outages", old.outages),
        incident_days: incident_days.unwrap_or(old.incident_days),
        collapsed: collapsed.unwrap_or(old.collapsed),
    })
}

fn subscribe(fields: &mut Fields, old: &Subscribe) -> Option<Subscribe> {
    let sender = match fields.optional_text("sender") {
        None => Some(old.sender),
        Some(text) if text.is_empty() => Some(None),
        Some(text) => {
            let id = NotifierId::parse(&text);
            let id = id.ok_or_else(|| Invalid::new("must be an email notifier of the team"));
            fields.accept("sender", id).map(Some)
        }
    };
    let reply_to = match fields.optional_text("reply_to") {
        Some(text) if !text.trim().is_empty() => {
            let parsed = EmailAddress::parse(text.trim());
            fields.accept("reply_to", parsed).map(|address| address.to_string())
        }
        Some(_) => Some(String::new()),
        None => Some(old.reply_to.clone()),
    };
    let mut flag = |name: &str, old: bool| fields.optional_flag(name).unwrap_or(old);
    Some(Subscribe {
        email: flag("email", old.email),
        webhook: flag("webhook", old.webhook),
        chat: flag("chat", old.chat),
        feeds: flag("feeds", old.feeds),
        choose: flag("choose", old.choose),
        sender: sender?,
        reply_to: reply_to?,
    })
}

/// A request to look up the record of a domain.
#[derive(ToSchema)]
#[schema(as = CheckStatuspageDomain)]
#[expect(dead_code, reason = "only its schema is used")]
pub(crate) struct CheckDomain {
    /// One of the domains of the page.
    #[schema(max_length = 253)]
    domain: String,
}

pub(crate) fn domain_to_check(fields: &mut Fields) -> Option<String> {
    fields.parse("domain", parse_domain)
}

/// The domains and the primary one.
fn domains(
    fields: &mut Fields,
    stored: Option<&StatusPage>,
) -> Option<(Vec<String>, Option<String>)> {
    if !fields.has("domains") {
        let old = stored.map_or(&[][..], |old| &old.domains);
        let primary = old.iter().find(|one| one.primary).map(|one| one.domain.clone());
        return Some((old.iter().map(|one| one.domain.clone()).collect(), primary));
    }
    let domains = fields.optional_objects("domains", MAX_DOMAINS, |fields| {
        let primary = fields.optional_flag("primary").unwrap_or(false);
        Some((fields.parse("domain", parse_domain)?, primary))
    })?;
    if domains.iter().filter(|(_, primary)| *primary).count() > 1 {
        fields.refuse("domains", "must have at most one primary domain");
        return None;
    }
    let primary = domains.iter().find(|(_, primary)| *primary).map(|(domain, _)| domain.clone());
    let mut all: Vec<String> = domains.into_iter().map(|(domain, _)| domain).collect();
    all.sort_unstable();
    if all.windows(2).any(|pair| pair[0] == pair[1]) {
        fields.refuse("domains", "must not name a domain twice");
        return None;
    }
    Some((all, primary))
}

/// The stored item that the id in a field names. An unknown one, or one that is named twice,
/// is refused.
pub(super) fn known<'a, T>(
    fields: &mut Fields,
    field: &str,
    what: &str,
    ids: &mut Vec<String>,
    find: impl Fn(&str) -> Option<&'a T>,
) -> Option<Option<&'a T>> {
    let Some(text) = fields.optional_text(field).filter(|text| !text.is_empty()) else {
        return Some(None);
    };
    let Some(found) = find(&text) else {
        fields.refuse(field, format!("names an unknown {what}"));
        return None;
    };
    let text = text.to_ascii_lowercase();
    if ids.contains(&text) {
        fields.refuse(field, format!("names a {what} twice"));
        return None;
    }
    ids.push(text);
    Some(Some(found))
}

/// A list of values, as a comma-separated text or as an array; `None` if it was omitted or is
/// invalid.
pub(crate) fn list<T: PartialEq>(
    fields: &mut Fields,
    field: &str,
    max: usize,
    parse: impl Fn(&str) -> Result<T, Invalid>,
) -> Option<Vec<T>> {
    let items = fields.optional_items(field, None)?;
    let mut values = Vec::with_capacity(items.len().min(max));
    for text in items.iter().map(|text| text.trim()).filter(|text| !text.is_empty()) {
        let value = fields.accept(field, parse(text))?;
        if !values.contains(&value) {
            values.push(value);
        }
    }
    if values.len() > max {
        fields.refuse(field, format!("must have at most {max} items"));
        return None;
    }
    Some(values)
}

/// Translations of these fields, which have at most so many characters; `None` if they were omitted
/// or are invalid.
pub(crate) fn texts(fields: &mut Fields, limits: &[(&str, usize)]) -> Option<Texts> {
    let sent = fields.optional_object("texts")?;
    let mut all = Texts::new();
    for (name, texts) in sent.as_object().into_iter().flatten() {
        let Ok(language) = Language::parse(name) else {
            fields.refuse("texts", format!("names an unknown language: {}", short(name)));
            return None;
        };
        let is_known = |field: &String| limits.iter().any(|(known, _)| known == field);
        if !texts.as_object().into_iter().flatten().all(|(field, _)| is_known(field)) {
            let known: Vec<&str> = limits.iter().map(|(known, _)| *known).collect();
            let known = known.join(", ");
            fields.refuse("texts", format!("must have texts for {known} of each language"));
            return None;
        }
        let of =
            fields.within("texts", |fields| fields.within(name, |fields| texts_of(fields, limits)));
        if !of.is_empty() {
            all.insert(language, of);
        }
    }
    Some(all)
}

/// The translations of one language.
fn texts_of(fields: &mut Fields, limits: &[(&str, usize)]) -> BTreeMap<String, String> {
    let text = |(field, max): &(&str, usize)| {
        let text = fields.optional_short_text(field, *max).filter(|text| !text.is_empty())?;
        Some(((*field).to_owned(), text))
    };
    limits.iter().filter_map(text).collect()
}

/// An image of a page.
#[derive(ToSchema)]
#[schema(as = SetStatuspageImage)]
#[expect(dead_code, reason = "only its schema is used")]
pub(crate) struct SetStatuspageImage {
    kind: enums::StatuspageImage,
    /// Base64: PNG, JPEG, WebP or SVG, up to 256 KiB.
    data: String,
}

/// The kind, the media type and the content of an image.
pub(crate) fn image(fields: &mut Fields) -> Option<(ImageKind, &'static str, Vec<u8>)> {
    let kind = fields.parse("kind", |text| {
        ImageKind::parse(text)
            .ok_or_else(|| Invalid::new("must be one of logo, logo_dark, favicon"))
    });
    let data = fields.parse("data", |text| {
        let text: String = text.chars().filter(|c| !c.is_ascii_whitespace()).collect();
        if text.len() > MAX_IMAGE_BYTES.div_ceil(3) * 4 {
            return Err(Invalid::new("must have at most 256 KiB"));
        }
        let data = data_encoding::BASE64.decode(text.as_bytes());
        let data = data.map_err(|_| Invalid::new("must be base64"))?;
        if data.len() > MAX_IMAGE_BYTES {
            return Err(Invalid::new("must have at most 256 KiB"));
        }
        let kind = media_type(&data)
            .ok_or_else(|| Invalid::new("must be an image: PNG, JPEG, WebP or SVG"))?;
        Ok((kind, data))
    });
    let (media_type, data) = data?;
    Some((kind?, media_type, data))
}

/// The type of an image, by its first bytes.
fn media_type(data: &[u8]) -> Option<&'static str> {
    if data.starts_with(b"\x89PNG\r\n\x1a\n") {
        return Some("image/png");
    }
    if data.starts_with(b"\xff\xd8\xff") {
        return Some("image/jpeg");
    }
    if data.starts_with(b"RIFF") && data.get(8..12) == Some(b"WEBP") {
        return Some("image/webp");
    }
    let text = std::str::from_utf8(data).ok()?;
    let text = text.trim_start_matches('\u{feff}').trim_start();
    let is_svg = text.starts_with("<svg")
        || ((text.starts_with("<?xml") || text.starts_with("<!")) && text.contains("<svg"));
    is_svg.then_some("image/svg+xml")
}

pub(super) fn short(text: &str) -> String {
    text.chars().take(40).collect()
}
