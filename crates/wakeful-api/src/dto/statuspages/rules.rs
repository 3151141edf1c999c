//! The rules of status pages as they are saved.

use utoipa::ToSchema;
use wakeful_core::Invalid;
use wakeful_core::id::{ComponentId, IncidentRuleId, IncidentTemplateId};
use wakeful_core::monitors::Name;
use wakeful_core::statuspages::page::{MAX_COMPONENTS, StatusPage};
use wakeful_core::statuspages::rule::{
    AFTER, MAX_GROUP, MAX_RESOLVE_AFTER, MAX_RULES, OnRecovery, Rule, RuleMode, RuleSettings,
};
use wakeful_core::statuspages::snapshot::Impact;
use wakeful_engine::RuleDraft;

use super::request::{known, list};
use crate::dto::Fields;
use crate::dto::enums;
use crate::dto::policies::number;

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

pub(super) fn rules(fields: &mut Fields, stored: Option<&StatusPage>) -> Option<Vec<RuleDraft>> {
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
