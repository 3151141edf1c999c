//! The sections and components of status pages as they are saved.

use serde_json::Value;
use utoipa::ToSchema;
use wakeful_core::Invalid;
use wakeful_core::id::{ComponentId, MonitorId, SectionId};
use wakeful_core::monitors::spec::HttpUrl;
use wakeful_core::monitors::{Name, Tags};
use wakeful_core::statuspages::component::{
    self, Component, ComponentDisplay, ComponentSettings, MAX_MONITORS, MAX_NOTE, Needs, Override,
    Section, SectionSettings, UptimeFrom, parse_alias,
};
use wakeful_core::statuspages::page::{
    self, MAX_COMPONENTS, MAX_DESCRIPTION, MAX_SECTIONS, StatusPage,
};
use wakeful_core::statuspages::snapshot::{Collapsed, ComponentStatus};
use wakeful_core::time::Millis;
use wakeful_engine::{ComponentDraft, SectionDraft};

use super::request::{known, short, texts};
use super::response::ComponentDisplayBody;
use crate::dto::Fields;
use crate::dto::enums;

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

pub(super) fn sections(
    fields: &mut Fields,
    stored: Option<&StatusPage>,
) -> Option<Vec<SectionDraft>> {
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
    let components = sections.iter().flat_map(|section| &section.components);
    if components.map(|component| component.monitors.len()).sum::<usize>() > page::MAX_MONITORS {
        let max = page::MAX_MONITORS;
        fields.refuse("sections", format!("must have at most {max} monitors in all components"));
        return None;
    }
    Some(sections)
}

fn unchanged(section: &Section) -> SectionDraft {
    let component = |component: &Component| ComponentDraft {
        id: Some(component.id),
        name: component.name.clone(),
        monitors: component.monitor_ids().collect(),
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
    let limits = [("name", Name::MAX_LENGTH), ("description", MAX_DESCRIPTION)];
    let texts = texts(fields, &limits);
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
    let mut before = old.map(|old| old.settings.clone()).unwrap_or_default();
    before.had_monitors = old.is_some_and(Component::has_lost_monitors);
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
        if monitors.len() > MAX_MONITORS {
            fields.refuse("monitors", format!("must have at most {MAX_MONITORS} items"));
            return None;
        }
    }
    Some(monitors)
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
    let limits = [("name", Name::MAX_LENGTH), ("description", component::MAX_DESCRIPTION)];
    let texts = texts(fields, &limits);
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
        // Until a status is sent for it.
        had_monitors: old.had_monitors && own_status.is_none(),
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
