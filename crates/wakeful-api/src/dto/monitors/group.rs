//! Groups of monitors.

use serde::Serialize;
use std::collections::{BTreeMap, HashSet};
use utoipa::ToSchema;
use wakeful_core::Invalid;
use wakeful_core::group::{self, Counts, MAX_WEIGHTS, Rule};
use wakeful_core::id::MonitorId;
use wakeful_core::monitors::spec::{GroupSpec, Spec};
use wakeful_core::selector::SelectorParts;

use super::SpecFields;
use super::request::TextOrList;
use crate::dto::Fields;
use crate::dto::maintenances::selector;

/// The members of a group and its rule.
#[derive(ToSchema)]
#[expect(dead_code, reason = "only its schema is used")]
pub(crate) struct SaveGroup {
    /// Comma-separated ids, or an array.
    #[schema(value_type = Option<TextOrList>)]
    monitors: (),
    /// Groups whose members are members of this one, too: comma-separated ids, or an array.
    #[schema(value_type = Option<TextOrList>)]
    groups: (),
    /// Monitors with any of these tags; `env:*` matches what begins with `env:`.
    #[schema(value_type = Option<TextOrList>)]
    tags: (),
    /// Monitors with all of these tags.
    #[schema(value_type = Option<TextOrList>)]
    all_tags: (),
    everything: Option<bool>,
    /// When the group is down: any (one member is down; the default), all, at_least:N, percent:P
    /// or weight:W.
    rule: Option<String>,
    /// The weights of members, 1 to 100, by their ids; other members weigh 1.
    #[schema(value_type = Option<std::collections::BTreeMap<String, u8>>)]
    weights: (),
    /// Outages of members are only reported through the group.
    members_quiet: Option<bool>,
}

pub(super) fn read(fields: &mut Fields, old: Option<&Spec>) -> Option<Spec> {
    let old = old.and_then(Spec::group);
    fields.within("group", |fields| {
        let members = selector(fields, old.map(|old| &old.members));
        let rule = fields.optional("rule", Rule::parse);
        let weights = weights(fields);
        let members_quiet = fields.optional_flag("members_quiet");
        Some(Spec::Group(GroupSpec {
            members: members?,
            rule: rule.or(old.map(|old| old.rule)).unwrap_or_default(),
            weights: weights.or_else(|| old.map(|old| old.weights.clone())).unwrap_or_default(),
            members_quiet: members_quiet.or(old.map(|old| old.members_quiet)).unwrap_or(false),
        }))
    })
}

fn weights(fields: &mut Fields) -> Option<BTreeMap<MonitorId, u8>> {
    let sent = fields.optional_object("weights")?;
    let sent = sent.as_object()?;
    if sent.len() > MAX_WEIGHTS {
        fields.refuse("weights", format!("must be at most {MAX_WEIGHTS} weights"));
        return None;
    }
    let read = sent.iter().map(|(id, number)| {
        let id = MonitorId::parse(id).ok_or_else(|| Invalid::new("must have ids as names"))?;
        let number = number.as_u64().unwrap_or(0);
        Ok((id, group::weight(number)?))
    });
    fields.accept("weights", read.collect::<Result<_, Invalid>>())
}

pub(super) fn show(group: &GroupSpec) -> SpecFields<'_> {
    SpecFields { group: Some(group), ..SpecFields::default() }
}

#[derive(Serialize, ToSchema)]
#[schema(as = MonitorGroup)]
pub(crate) struct GroupBody {
    #[schema(value_type = Vec<String>)]
    monitors: Vec<MonitorId>,
    #[schema(value_type = Vec<String>)]
    groups: Vec<MonitorId>,
    tags: Vec<String>,
    all_tags: Vec<String>,
    everything: bool,
    rule: String,
    /// By the ids of members.
    #[schema(value_type = std::collections::HashMap<String, u8>)]
    weights: BTreeMap<String, u8>,
    members_quiet: bool,
    /// The members, without those that are left out.
    total: usize,
    up: usize,
    down: usize,
    /// Members that are pending, inactive or in maintenance.
    left_out: usize,
    /// Whether some members are down, but not enough.
    partial: bool,
}

impl GroupBody {
    /// Without the ids of the hidden members.
    pub(super) fn of(group: &GroupSpec, counts: Counts, hidden: &HashSet<MonitorId>) -> Self {
        let GroupSpec { members, rule, weights, members_quiet } = group;
        let SelectorParts { mut monitors, mut groups, tags, all_tags, everything } =
            members.clone().into();
        monitors.retain(|id| !hidden.contains(id));
        groups.retain(|id| !hidden.contains(id));
        let weights = weights.iter().filter(|(id, _)| !hidden.contains(id));
        let Counts { total, up, down, left_out, partial } = counts;
        Self {
            monitors,
            groups,
            tags: tags.iter().map(str::to_owned).collect(),
            all_tags: all_tags.iter().map(str::to_owned).collect(),
            everything,
            rule: rule.to_string(),
            weights: weights.map(|(id, weight)| (id.to_string(), *weight)).collect(),
            members_quiet: *members_quiet,
            total,
            up,
            down,
            left_out,
            partial,
        }
    }
}

#[cfg(test)]
pub(super) fn examples() -> Vec<serde_json::Value> {
    let id = "01a1dd16-3e86-7039-aa0a-37292a4ffff7";
    vec![
        serde_json::json!({"type": "group", "group": {"tags": "web"}}),
        serde_json::json!({"type": "group", "group": {
            "monitors": [id], "rule": "weight:3", "weights": {id: 5}, "members_quiet": true}}),
    ]
}
