//! Status pages as they are saved. When a stored page is changed, omitted fields retain their
//! values, in nested objects as well; lists of sections, components and rules are complete.

use serde_json::Value;
use std::collections::BTreeMap;
use utoipa::ToSchema;
use wakeful_core::Invalid;
use wakeful_core::calendar::zone::Zone;
use wakeful_core::email_address::EmailAddress;
use wakeful_core::id::{
    ComponentId, IncidentRuleId, IncidentTemplateId, MonitorId, NotifierId, SectionId,
};
use wakeful_core::monitors::spec::HttpUrl;
use wakeful_core::monitors::{Name, Tags};
use wakeful_core::secret::Secret;
use wakeful_core::statuspages::Language;
use wakeful_core::statuspages::component::{
    self, Component, ComponentDisplay, ComponentSettings, MAX_MONITORS, MAX_NOTE, Needs, Override,
    Section, SectionSettings, UptimeFrom, parse_alias,
};
use wakeful_core::statuspages::css;
use wakeful_core::statuspages::page::{
    Access, Appearance, Display, Link, MAX_COMPONENTS, MAX_DESCRIPTION, MAX_DOMAINS, MAX_FOOTER,
    MAX_IMAGE_BYTES, MAX_LINKS, MAX_NETWORKS, MAX_ORIGINS, MAX_SECTIONS, MAX_SHOWN_AFTER,
    PASSWORD_LENGTH, PageSettings, StatusPage, Subscribe, Texts, parse_domain, parse_network,
    parse_origin,
};
use wakeful_core::statuspages::rule::{
    AFTER, MAX_GROUP, MAX_RESOLVE_AFTER, MAX_RULES, OnRecovery, Rule, RuleMode, RuleSettings,
};
use wakeful_core::statuspages::slug;
use wakeful_core::statuspages::snapshot::{
    Collapsed, Color, ComponentStatus, ImageKind, Impact, Layout, Scheme,
};
use wakeful_core::time::Millis;
use wakeful_engine::{ComponentDraft, PageDraft, RuleDraft, SectionDraft};

use super::response::{
    AppearanceBody, ComponentDisplayBody, DisplayBody, DomainBody, SubscribeBody,
};
use crate::dto::Fields;
use crate::dto::enums;
use crate::dto::policies::number;

/// The longest translation of any field.
const MAX_TEXT: usize = 10_000;

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

#[derive(ToSchema)]
#[schema(as = SaveSection)]
#[expect(dead_code, reason = "only its schema is used")]
pub(crate) struct SaveSection {
    sectionid: Option<String>,
    /// May be empty: no heading.
    #[schema(max_length = 255)]
    name: Option<String>,
    #[schema(max_length = 2000)]
    description: Option<String>,
    /// `inherit`, or when the section is closed at first.
    collapsed: Option<enums::SectionCollapsed>,
    #[schema(value_type = Option<Object>)]
    texts: Option<Value>,
    /// All components in their order; at most 500 on a page.
    #[schema(max_items = 500)]
    components: Option<Vec<SaveComponent>>,
}

#[derive(ToSchema)]
#[schema(as = SaveComponent)]
#[expect(dead_code, reason = "only its schema is used")]
pub(crate) struct SaveComponent {
    componentid: Option<String>,
    /// That of its first monitor is shown if it is empty.
    #[schema(max_length = 255)]
    name: Option<String>,
    #[schema(max_length = 2000)]
    description: Option<String>,
    #[schema(value_type = Option<Object>)]
    texts: Option<Value>,
    /// The ids of monitors, as an array or separated by commas, or objects with `monitorid`.
    #[schema(max_items = 200)]
    monitors: Option<Vec<String>>,
    /// Also includes every monitor with this tag.
    tag: Option<String>,
    /// How many of its monitors must be up: `all`, `any` or a number.
    needs: Option<String>,
    /// The status of a component without monitors.
    own_status: Option<enums::ComponentStatus>,
    uptime_from: Option<enums::UptimeFrom>,
    /// From when on its uptime counts; empty for all data.
    since: Option<String>,
    /// A URL to show.
    link: Option<String>,
    only_show_if_degraded: Option<bool>,
    display: Option<ComponentDisplayBody>,
    /// A short name for badges.
    #[schema(max_length = 64)]
    alias: Option<String>,
}

#[derive(ToSchema)]
#[schema(as = SaveStatuspageRule)]
#[expect(dead_code, reason = "only its schema is used")]
pub(crate) struct SaveRule {
    ruleid: Option<String>,
    #[schema(min_length = 1, max_length = 255)]
    name: Option<String>,
    isactive: Option<bool>,
    /// Of this page; empty for all.
    components: Option<Vec<String>>,
    /// Seconds of confirmed outage.
    #[schema(minimum = 30, maximum = 86400)]
    after: Option<u32>,
    mode: Option<enums::RuleMode>,
    templateid: Option<String>,
    impact: Option<enums::Impact>,
    /// Seconds in which outages join the open incident.
    #[schema(maximum = 86400)]
    group: Option<u32>,
    on_recovery: Option<enums::OnRecovery>,
    /// Seconds without a new outage.
    #[schema(maximum = 86400)]
    resolve_after: Option<u32>,
    notify: Option<bool>,
    show_cause: Option<bool>,
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
    let texts = texts(fields, &["name", "description", "footer"]);
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

fn sections(fields: &mut Fields, stored: Option<&StatusPage>) -> Option<Vec<SectionDraft>> {
    if !fields.has("sections") {
        return Some(stored.iter().flat_map(|old| &old.sections).map(unchanged).collect());
    }
    let (mut ids, mut aliases) = (Vec::new(), Vec::new());
    let sections = fields.optional_objects("sections", MAX_SECTIONS, |fields| {
        section(fields, stored, &mut ids, &mut aliases)
    })?;
    let count: usize = sections.iter().map(|section| section.components.len()).sum();
    if count > MAX_COMPONENTS {
        fields.refuse("sections", format!("must have at most {MAX_COMPONENTS} components"));
        return None;
    }
    Some(sections)
}

fn unchanged(section: &Section) -> SectionDraft {
    let component = |component: &Component| ComponentDraft {
        id: Some(component.id),
        name: component.name.clone(),
        monitors: component.monitors.iter().map(|monitor| monitor.id).collect(),
        tag: component.tag.clone(),
        settings: component.settings.clone(),
    };
    SectionDraft {
        id: Some(section.id),
        name: section.name.clone(),
        settings: section.settings.clone(),
        components: section.components.iter().map(component).collect(),
    }
}

fn section(
    fields: &mut Fields,
    stored: Option<&StatusPage>,
    ids: &mut Vec<String>,
    aliases: &mut Vec<String>,
) -> Option<SectionDraft> {
    let find = |text: &str| {
        let id = SectionId::parse(text)?;
        stored?.sections.iter().find(|section| section.id == id)
    };
    let old = known(fields, "sectionid", "section", ids, find)?;
    let name = fields.optional_short_text("name", Name::MAX_LENGTH);
    let description = fields.optional_short_text("description", MAX_DESCRIPTION);
    let collapsed = fields.optional("collapsed", |text| match text {
        "inherit" => Ok(None),
        text => Collapsed::parse(text)
            .map(Some)
            .map_err(|_| Invalid::new("must be one of inherit, never, always, operational")),
    });
    let texts = texts(fields, &["name", "description"]);
    let components = fields.optional_objects("components", MAX_COMPONENTS, |fields| {
        component(fields, stored, ids, aliases)
    });
    let kept = || old.map(|old| unchanged(old).components).unwrap_or_default();
    let components = if fields.has("components") { components } else { Some(kept()) };
    let before = old.map(|old| old.settings.clone()).unwrap_or_default();
    Some(SectionDraft {
        id: old.map(|old| old.id),
        name: name.or_else(|| old.map(|old| old.name.clone())).unwrap_or_default(),
        settings: SectionSettings {
            description: description.unwrap_or(before.description),
            collapsed: collapsed.unwrap_or(before.collapsed),
            texts: texts.unwrap_or(before.texts),
        },
        components: components?,
    })
}

/// The stored item that the id in a field names. An unknown one, or one that is named twice,
/// is refused.
fn known<'a, T>(
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

fn component(
    fields: &mut Fields,
    stored: Option<&StatusPage>,
    ids: &mut Vec<String>,
    aliases: &mut Vec<String>,
) -> Option<ComponentDraft> {
    let find = |text: &str| {
        let id = ComponentId::parse(text)?;
        stored?.components().find(|component| component.id == id)
    };
    let old = known(fields, "componentid", "component", ids, find)?;
    let before = old.map(|old| old.settings.clone()).unwrap_or_default();
    let name = fields.optional_short_text("name", Name::MAX_LENGTH);
    let monitors = monitors(fields);
    let monitors = if fields.has("monitors") {
        monitors
    } else {
        Some(old.map(|old| old.monitors.iter().map(|one| one.id).collect()).unwrap_or_default())
    };
    let tag = fields.optional("tag", parse_tag);
    let settings = component_settings(fields, before);
    let name = name.or_else(|| old.map(|old| old.name.clone())).unwrap_or_default();
    let (monitors, mut settings) = (monitors?, settings?);
    // A default that is sent back stays one.
    if let Some(old) = old.filter(|old| settings.uptime_from == Some(old.uptime_from())) {
        settings.uptime_from = old.settings.uptime_from;
    }
    if name.trim().is_empty() && monitors.is_empty() {
        fields.refuse("name", "is required for a component without monitors");
        return None;
    }
    if !settings.alias.is_empty() {
        if aliases.contains(&settings.alias) {
            fields.refuse("alias", "must be unique on the page");
        }
        aliases.push(settings.alias.clone());
    }
    Some(ComponentDraft {
        id: old.map(|old| old.id),
        name,
        monitors,
        tag: tag.or_else(|| old.map(|old| old.tag.clone())).unwrap_or_default(),
        settings,
    })
}

fn monitors(fields: &mut Fields) -> Option<Vec<MonitorId>> {
    let items = fields.optional_items("monitors", Some("monitorid"))?;
    let mut monitors = Vec::with_capacity(items.len());
    for text in items.iter().map(|text| text.trim()).filter(|text| !text.is_empty()) {
        let Some(id) = MonitorId::parse(text) else {
            fields.refuse("monitors", format!("names an unknown monitor: {}", short(text)));
            return None;
        };
        if !monitors.contains(&id) {
            monitors.push(id);
        }
    }
    if monitors.len() > MAX_MONITORS {
        fields.refuse("monitors", format!("must have at most {MAX_MONITORS} items"));
        return None;
    }
    Some(monitors)
}

fn short(text: &str) -> String {
    text.chars().take(40).collect()
}

/// One tag as those of monitors; empty for none.
fn parse_tag(text: &str) -> Result<String, Invalid> {
    let text = text.trim();
    if text.is_empty() {
        return Ok(String::new());
    }
    Tags::of([text]).map(|_| text.to_owned())
}

fn component_settings(fields: &mut Fields, old: ComponentSettings) -> Option<ComponentSettings> {
    let description = fields.optional_short_text("description", component::MAX_DESCRIPTION);
    let texts = texts(fields, &["name", "description"]);
    let needs = fields.optional_text_or_number("needs", Needs::parse);
    let own_status = fields.optional("own_status", five_statuses);
    let uptime_from = fields.optional("uptime_from", UptimeFrom::parse);
    let since = match fields.optional_text("since") {
        Some(text) if !text.is_empty() => {
            let at = Millis::parse(&text);
            let at = at.ok_or_else(|| Invalid::new("must be a time such as 2026-11-15T09:30:00Z"));
            fields.accept("since", at).map(Some)
        }
        Some(_) => Some(None),
        None => Some(old.since),
    };
    let link = match fields.optional_text("link") {
        Some(text) if !text.trim().is_empty() => {
            let url = HttpUrl::parse(text.trim());
            fields.accept("link", url).map(|url| url.as_str().to_owned())
        }
        Some(_) => Some(String::new()),
        None => Some(old.link),
    };
    let only_show_if_degraded = fields.optional_flag("only_show_if_degraded");
    let alias = fields.optional("alias", parse_alias);
    let display = fields.within("display", |fields| {
        let mut choice = |name: &str, old: Option<bool>| {
            let sent = fields.optional(name, |text| match text {
                "inherit" => Ok(None),
                "yes" => Ok(Some(true)),
                "no" => Ok(Some(false)),
                _ => Err(Invalid::new("must be one of inherit, yes, no")),
            });
            sent.unwrap_or(old)
        };
        ComponentDisplay {
            uptime: choice("uptime", old.display.uptime),
            response_time: choice("response_time", old.display.response_time),
            certificate: choice("certificate", old.display.certificate),
        }
    });
    Some(ComponentSettings {
        description: description.unwrap_or(old.description),
        texts: texts.unwrap_or(old.texts),
        needs: needs.unwrap_or(old.needs),
        own_status: own_status.unwrap_or(old.own_status),
        uptime_from: uptime_from.or(old.uptime_from),
        since: since?,
        link: link?,
        only_show_if_degraded: only_show_if_degraded.unwrap_or(old.only_show_if_degraded),
        display,
        alias: alias.unwrap_or(old.alias),
    })
}

/// A status that people may set.
pub(crate) fn five_statuses(text: &str) -> Result<ComponentStatus, Invalid> {
    let known = ComponentStatus::parse(text).ok();
    known.filter(|status| *status != ComponentStatus::Unknown).ok_or_else(|| {
        Invalid::new(
            "must be one of operational, under_maintenance, degraded_performance, \
             partial_outage, major_outage",
        )
    })
}

fn rules(fields: &mut Fields, stored: Option<&StatusPage>) -> Option<Vec<RuleDraft>> {
    if !fields.has("rules") {
        let same = |rule: &Rule| RuleDraft {
            id: Some(rule.id),
            name: rule.name.clone(),
            isactive: rule.isactive,
            settings: rule.settings.clone(),
        };
        return Some(stored.iter().flat_map(|old| &old.rules).map(same).collect());
    }
    let mut ids = Vec::new();
    fields.optional_objects("rules", MAX_RULES, |fields| {
        let find = |text: &str| {
            let id = IncidentRuleId::parse(text)?;
            stored?.rules.iter().find(|rule| rule.id == id)
        };
        let old = known(fields, "ruleid", "rule", &mut ids, find)?;
        rule(fields, old)
    })
}

fn rule(fields: &mut Fields, stored: Option<&Rule>) -> Option<RuleDraft> {
    let name = fields.optional("name", Name::parse).map(|name| name.to_string());
    let name = name.or_else(|| stored.map(|old| old.name.clone()));
    let name = fields.require("name", name);
    let isactive = fields.optional_flag("isactive");
    let old = stored.map(|old| old.settings.clone()).unwrap_or_default();
    let components = list(fields, "components", MAX_COMPONENTS, |text| {
        ComponentId::parse(text).ok_or_else(|| Invalid::new("names an unknown component"))
    });
    let after = number(fields, "after", *AFTER.start(), *AFTER.end());
    let mode = fields.optional("mode", RuleMode::parse);
    let template = match fields.optional_text("templateid") {
        Some(text) if text.is_empty() => Some(None),
        Some(text) => {
            let id = IncidentTemplateId::parse(&text);
            let id = id.ok_or_else(|| Invalid::new("names an unknown template"));
            fields.accept("templateid", id).map(Some)
        }
        None => Some(old.template),
    };
    let impact = match fields.optional_text("impact") {
        Some(text) if text.is_empty() => Some(None),
        Some(text) => fields.accept("impact", parse_impact(&text)).map(Some),
        None => Some(old.impact),
    };
    let group = number(fields, "group", 0, MAX_GROUP);
    let on_recovery = fields.optional("on_recovery", OnRecovery::parse);
    let resolve_after = number(fields, "resolve_after", 0, MAX_RESOLVE_AFTER);
    let notify = fields.optional_flag("notify");
    let show_cause = fields.optional_flag("show_cause");
    Some(RuleDraft {
        id: stored.map(|old| old.id),
        name: name?,
        isactive: isactive.or(stored.map(|old| old.isactive)).unwrap_or(true),
        settings: RuleSettings {
            components: components.unwrap_or(old.components),
            after: after.unwrap_or(old.after),
            mode: mode.unwrap_or(old.mode),
            template: template?,
            impact: impact?,
            group: group.unwrap_or(old.group),
            on_recovery: on_recovery.unwrap_or(old.on_recovery),
            resolve_after: resolve_after.unwrap_or(old.resolve_after),
            notify: notify.unwrap_or(old.notify),
            show_cause: show_cause.unwrap_or(old.show_cause),
        },
    })
}

/// An impact that people may set.
pub(crate) fn parse_impact(text: &str) -> Result<Impact, Invalid> {
    let known = Impact::parse(text).ok().filter(|impact| *impact != Impact::Maintenance);
    known.ok_or_else(|| Invalid::new("must be one of none, minor, major, critical"))
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

/// Translations of these fields; `None` if they were omitted or are invalid.
pub(crate) fn texts(fields: &mut Fields, names: &[&str]) -> Option<Texts> {
    let sent = fields.optional_object("texts")?;
    let mut all = Texts::new();
    for (language, texts) in sent.as_object().into_iter().flatten() {
        let Ok(language) = Language::parse(language) else {
            fields.refuse("texts", format!("names an unknown language: {}", short(language)));
            return None;
        };
        let mut of = BTreeMap::new();
        for (field, text) in texts.as_object().into_iter().flatten() {
            let text = text.as_str().unwrap_or_default();
            let is_valid = text.chars().count() <= MAX_TEXT && !text.contains('\0');
            if !names.contains(&field.as_str()) || !is_valid {
                let known = names.join(", ");
                fields.refuse("texts", format!("must have texts for {known} of each language"));
                return None;
            }
            if !text.is_empty() {
                of.insert(field.clone(), text.to_owned());
            }
        }
        if !of.is_empty() {
            all.insert(language, of);
        }
    }
    Some(all)
}

/// A status that is set for a component.
#[derive(ToSchema)]
#[schema(as = SetComponentStatus)]
#[expect(dead_code, reason = "only its schema is used")]
pub(crate) struct SetComponentStatus {
    /// A status, or `automatic` for the one that follows from its monitors.
    status: enums::SetStatus,
    /// Until when; until it is changed unless sent.
    #[schema(format = DateTime)]
    until: Option<String>,
    #[schema(max_length = 1000)]
    note: Option<String>,
}

/// The status to set; `None` for `automatic`.
pub(crate) fn set_status(fields: &mut Fields, now: Millis) -> Option<Option<Override>> {
    let status = fields.parse("status", |text| match text {
        "automatic" => Ok(None),
        text => five_statuses(text).map(Some).map_err(|Invalid(why)| {
            Invalid::new(why.replace("must be one of", "must be one of automatic,"))
        }),
    });
    let until = fields.optional("until", |text| {
        let at = Millis::parse(text).filter(|at| *at > now);
        at.ok_or_else(|| Invalid::new("must be a time in the future, such as 2026-11-15T09:30:00Z"))
    });
    let note = fields.optional_short_text("note", MAX_NOTE).unwrap_or_default();
    Some(status?.map(|status| Override { status, until, note }))
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
