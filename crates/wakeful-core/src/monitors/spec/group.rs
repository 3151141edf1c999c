//! Group: up or down by a rule on the status of its members.

use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

use crate::group::Rule;
use crate::id::MonitorId;
use crate::selector::Selector;

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct GroupSpec {
    pub members: Selector,
    pub rule: Rule,
    /// For the rule `weight`; other members weigh 1.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub weights: BTreeMap<MonitorId, u8>,
    /// Outages of members are only reported through the group.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub members_quiet: bool,
}

impl GroupSpec {
    pub fn new(members: Selector) -> Self {
        Self { members, rule: Rule::default(), weights: BTreeMap::new(), members_quiet: false }
    }

    /// The monitors that it names, each once.
    pub fn named_monitors(&self) -> Vec<MonitorId> {
        let (monitors, groups) = (self.members.monitors(), self.members.groups());
        let mut named: Vec<MonitorId> =
            monitors.iter().chain(groups).chain(self.weights.keys()).copied().collect();
        named.sort_unstable();
        named.dedup();
        named
    }
}
