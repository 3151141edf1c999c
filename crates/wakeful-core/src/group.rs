//! Groups: monitors whose status follows from that of others, by a rule. The members are
//! selected when the group is evaluated. Members that cannot be counted are left out.

use serde::{Deserialize, Serialize};
use std::collections::{BTreeMap, HashMap, HashSet};
use std::fmt;
use std::time::Duration;

use crate::Invalid;
use crate::dependency::{height, path_to};
use crate::id::MonitorId;
use crate::maintenance::CoveredMonitor;
use crate::monitors::Tags;
use crate::observation::{Contact, Fault, FaultKind, Observation};
use crate::reason::Reason;
use crate::selector::{Selector, TagIndex};
use crate::verdict::Status;

/// The most groups of a team. A change of a monitor may have all of them evaluated.
pub const MAX_GROUPS: usize = 200;
/// How deep groups may contain other groups.
pub const MAX_NESTING: usize = 5;
const MAX_WEIGHT: u64 = 100;
/// The most members that have a weight of their own.
pub const MAX_WEIGHTS: usize = 1_000;
/// The most names in a message.
const MAX_NAMES: usize = 10;

/// When a group is down.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Rule {
    /// One member is down.
    #[default]
    Any,
    All,
    AtLeast(u32),
    /// So many percent of the members are down.
    Percent(u32),
    /// The weights of the members that are down have this sum.
    Weight(u32),
}

impl Rule {
    pub fn parse(text: &str) -> Result<Self, Invalid> {
        let invalid =
            || Invalid::new("must be any, all, at_least:N, percent:P with 1 to 100, or weight:W");
        let text = text.trim();
        let (name, number) = match text.split_once(':') {
            None => (text, None),
            Some((name, number)) => {
                let digits = number.bytes().all(|byte| byte.is_ascii_digit());
                let number = number.parse::<u32>().ok().filter(|number| digits && *number > 0);
                (name, Some(number.ok_or_else(invalid)?))
            }
        };
        match (name, number) {
            ("any", None) => Ok(Self::Any),
            ("all", None) => Ok(Self::All),
            ("at_least", Some(number)) => Ok(Self::AtLeast(number)),
            ("percent", Some(number)) if number <= 100 => Ok(Self::Percent(number)),
            ("weight", Some(number)) => Ok(Self::Weight(number)),
            _ => Err(invalid()),
        }
    }
}

impl fmt::Display for Rule {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Any => f.write_str("any"),
            Self::All => f.write_str("all"),
            Self::AtLeast(number) => write!(f, "at_least:{number}"),
            Self::Percent(number) => write!(f, "percent:{number}"),
            Self::Weight(number) => write!(f, "weight:{number}"),
        }
    }
}

impl Serialize for Rule {
    fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(self)
    }
}

impl<'de> Deserialize<'de> for Rule {
    fn deserialize<D: serde::Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let text = String::deserialize(deserializer)?;
        Self::parse(&text).map_err(serde::de::Error::custom)
    }
}

/// The weight of a member: 1 to 100.
pub fn weight(number: u64) -> Result<u8, Invalid> {
    u8::try_from(number)
        .ok()
        .filter(|_| (1..=MAX_WEIGHT).contains(&number))
        .ok_or_else(|| Invalid::new("must have whole numbers from 1 to 100"))
}

/// A member as it is when its group is evaluated.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Member {
    pub id: MonitorId,
    pub name: String,
    pub status: Status,
    pub isactive: bool,
    /// Maintenance covers it.
    pub is_covered: bool,
}

impl Member {
    /// Whether its status says something.
    pub fn counts(&self) -> bool {
        self.isactive && !self.is_covered && self.status != Status::Pending
    }
}

/// How many members are up and down.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Counts {
    /// Without those that are left out.
    pub total: usize,
    pub up: usize,
    pub down: usize,
    /// Pending, inactive, or in maintenance.
    pub left_out: usize,
    /// Some members are down, but not enough.
    pub partial: bool,
}

type Weights = BTreeMap<MonitorId, u8>;

pub fn counts(rule: Rule, weights: &Weights, members: &[Member]) -> Counts {
    let total = members.iter().filter(|member| member.counts()).count();
    let down = down(members).count();
    Counts {
        total,
        up: total - down,
        down,
        left_out: members.len() - total,
        partial: down > 0 && !is_down(rule, weights, members, total),
    }
}

/// The status of a group; a fault if no member can be counted.
pub fn judge(rule: Rule, weights: &Weights, members: &[Member]) -> Result<Observation, Fault> {
    let Counts { total, down: failed, .. } = counts(rule, weights, members);
    if total == 0 {
        let why = match members.len() {
            0 => "the group has no members".to_owned(),
            count => format!(
                "none of the {count} members of the group counts: they are pending, inactive or in maintenance"
            ),
        };
        return Err(Fault::new(FaultKind::Config, why));
    }
    let message = match failed {
        0 => format!("{total} of {total} up"),
        failed => format!("{failed} of {total} down: {}", names(members)),
    };
    if is_down(rule, weights, members, total) {
        Ok(Observation::down(Contact::Answered, Reason::Members, message))
    } else {
        Ok(Observation { load_time: None, ..Observation::up(Duration::ZERO, message) })
    }
}

fn down(members: &[Member]) -> impl Iterator<Item = &Member> {
    members.iter().filter(|member| member.counts() && member.status == Status::Down)
}

fn is_down(rule: Rule, weights: &Weights, members: &[Member], total: usize) -> bool {
    let failed = down(members).count();
    match rule {
        Rule::Any => failed > 0,
        Rule::All => failed == total && total > 0,
        Rule::AtLeast(number) => failed >= number as usize,
        Rule::Percent(number) => failed > 0 && failed * 100 >= number as usize * total,
        Rule::Weight(number) => {
            let weight = |member: &Member| u64::from(weights.get(&member.id).copied().unwrap_or(1));
            down(members).map(weight).sum::<u64>() >= u64::from(number)
        }
    }
}

fn names(members: &[Member]) -> String {
    let all: Vec<&str> = down(members).map(|member| member.name.as_str()).collect();
    let shown = all.iter().take(MAX_NAMES).copied().collect::<Vec<_>>().join(", ");
    match all.len().saturating_sub(MAX_NAMES) {
        0 => shown,
        more => format!("{shown} and {more} more"),
    }
}

/// The monitors of a team, its groups, and the dependencies between them.
#[derive(Clone, Debug, Default)]
pub struct TeamGraph {
    pub monitors: Vec<CoveredMonitor>,
    pub groups: HashMap<MonitorId, Selector>,
    /// The monitors that depend directly on each.
    pub children: HashMap<MonitorId, Vec<MonitorId>>,
}

impl TeamGraph {
    /// Whether windows may cover more than what their selectors name or select by tag.
    pub fn is_connected(&self) -> bool {
        !self.groups.is_empty() || !self.children.is_empty()
    }

    pub fn index(&self) -> TagIndex {
        TagIndex::new(self.monitors.iter().map(|one| (one.id, &one.tags)))
    }

    /// Whether a group may have this selector; it is one of `groups` already.
    pub fn validate(&self, group: MonitorId) -> Result<(), NestingError> {
        let inside: HashMap<MonitorId, Vec<MonitorId>> =
            self.groups.iter().map(|(id, selector)| (*id, self.groups_in(*id, selector))).collect();
        let own = inside.get(&group).cloned().unwrap_or_default();
        if let Some(mut path) = path_to(group, &own, &inside) {
            path.insert(0, group);
            return Err(NestingError::Cycle(path));
        }
        let mut around: HashMap<MonitorId, Vec<MonitorId>> = HashMap::new();
        for (outer, inner) in &inside {
            for inner in inner {
                around.entry(*inner).or_default().push(*outer);
            }
        }
        // Groups, not the steps between them.
        if 1 + height(group, &inside) + height(group, &around) > MAX_NESTING {
            return Err(NestingError::TooDeep);
        }
        Ok(())
    }

    /// The groups that this one contains. One that selects by tags never contains itself.
    fn groups_in(&self, group: MonitorId, selector: &Selector) -> Vec<MonitorId> {
        let selected = self.monitors.iter().filter(|one| {
            let is_group = self.groups.contains_key(&one.id);
            let is_itself = one.id == group && !selector.names(group);
            is_group && !is_itself && selector.selects(one.id, &one.tags)
        });
        selected.map(|one| one.id).chain(selector.groups().iter().copied()).collect()
    }
}

/// The monitors of a team by their tags, and its groups: the members of many groups are found
/// without comparing the tags of each monitor with those of each group.
#[derive(Clone, Debug, Default)]
pub struct MemberIndex {
    index: TagIndex,
    groups: HashMap<MonitorId, Selector>,
}

impl MemberIndex {
    pub fn new<'a>(
        monitors: impl IntoIterator<Item = &'a CoveredMonitor>,
        groups: HashMap<MonitorId, Selector>,
    ) -> Self {
        let monitors = monitors.into_iter().map(|one| (one.id, &one.tags));
        Self { index: TagIndex::new(monitors), groups }
    }

    /// The members of a group, directly or through the groups that it names: never itself.
    pub fn members(&self, group: MonitorId, selector: &Selector) -> HashSet<MonitorId> {
        let mut found = HashSet::new();
        let mut seen = HashSet::new();
        let mut waiting = vec![selector];
        while let Some(selector) = waiting.pop() {
            found.extend(self.index.selected(selector));
            let new = selector.groups().iter().filter(|group| seen.insert(**group));
            waiting.extend(new.filter_map(|group| self.groups.get(group)));
        }
        found.remove(&group);
        found
    }

    /// The groups that contain one of these monitors.
    pub fn groups_with(&self, monitors: &HashSet<MonitorId>) -> Vec<MonitorId> {
        let contains = |(id, selector): &(&MonitorId, &Selector)| {
            !self.members(**id, selector).is_disjoint(monitors)
        };
        self.groups.iter().filter(contains).map(|(id, _)| *id).collect()
    }
}

/// What maintenance windows cover. Each group is evaluated once, however many windows name it.
pub struct Reach<'a> {
    graph: &'a TeamGraph,
    index: &'a TagIndex,
    groups: HashMap<MonitorId, Vec<usize>>,
}

impl<'a> Reach<'a> {
    /// `index` is that of the graph.
    pub fn new(graph: &'a TeamGraph, index: &'a TagIndex) -> Self {
        Self { graph, index, groups: HashMap::new() }
    }

    /// What a maintenance window covers besides what its selector names or selects by tag:
    /// the members of groups, at any depth, and what depends on a covered monitor. In order.
    pub fn of(&mut self, selector: &Selector, dependents: bool) -> Vec<MonitorId> {
        let graph = self.graph;
        let mut found = self.index.select(selector);
        let mut seen = HashSet::new();
        let mut waiting: Vec<MonitorId> = selector.groups().to_vec();
        while let Some(group) = waiting.pop() {
            let Some(members) = graph.groups.get(&group).filter(|_| seen.insert(group)) else {
                continue;
            };
            waiting.extend(members.groups());
            let places = self.groups.entry(group).or_insert_with(|| {
                let selected = self.index.select(members);
                (0..selected.len()).filter(|place| selected[*place]).collect()
            });
            for place in places {
                found[*place] = true;
                let id = graph.monitors[*place].id;
                if graph.groups.contains_key(&id) {
                    waiting.push(id);
                }
            }
        }
        if dependents {
            let mut waiting: Vec<usize> = (0..found.len()).filter(|place| found[*place]).collect();
            while let Some(parent) = waiting.pop() {
                let parent = graph.monitors[parent].id;
                for child in graph.children.get(&parent).into_iter().flatten() {
                    if let Some(place) = self.index.place(*child).filter(|place| !found[*place]) {
                        found[place] = true;
                        waiting.push(place);
                    }
                }
            }
        }
        let found = graph.monitors.iter().zip(found).filter(|(_, is_found)| *is_found);
        let mut reached: Vec<MonitorId> = found.map(|(one, _)| one.id).collect();
        reached.sort_unstable();
        reached
    }
}

/// Whether a selector contains a monitor, directly or through the groups that it names.
pub fn is_member(
    groups: &HashMap<MonitorId, Selector>,
    selector: &Selector,
    monitor: MonitorId,
    tags: &Tags,
) -> bool {
    let mut seen = HashSet::new();
    let mut waiting = vec![selector];
    while let Some(selector) = waiting.pop() {
        if selector.selects(monitor, tags) {
            return true;
        }
        let new = selector.groups().iter().filter(|group| seen.insert(**group));
        waiting.extend(new.filter_map(|group| groups.get(group)));
    }
    false
}

/// Why a group is rejected.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum NestingError {
    /// The groups of the cycle in order.
    Cycle(Vec<MonitorId>),
    TooDeep,
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::selector::SelectorParts;
    use crate::time::Millis;

    fn id(number: u8) -> MonitorId {
        MonitorId::new(Millis(0), [number; 10])
    }

    /// Members by their status: u up, d down, p pending, i inactive, c covered and down.
    fn members(statuses: &str) -> Vec<Member> {
        let member = |(number, status): (usize, char)| Member {
            id: id(u8::try_from(number).expect("few")),
            name: format!("m{number}"),
            status: match status {
                'u' => Status::Up,
                'p' => Status::Pending,
                _ => Status::Down,
            },
            isactive: status != 'i',
            is_covered: status == 'c',
        };
        statuses.chars().enumerate().map(member).collect()
    }

    fn judged(rule: &str, statuses: &str) -> (&'static str, String) {
        let rule = Rule::parse(rule).expect("a rule");
        let weights = Weights::from([(id(0), 5), (id(1), 2)]);
        match judge(rule, &weights, &members(statuses)) {
            Ok(seen) => (if seen.up { "up" } else { "down" }, seen.message),
            Err(fault) => ("unknown", fault.message),
        }
    }

    #[test]
    fn a_group_is_down_by_its_rule() {
        for (rule, statuses, expected) in [
            ("any", "uuu", "up"),
            ("any", "udu", "down"),
            ("all", "ddu", "up"),
            ("all", "ddd", "down"),
            ("at_least:2", "duuuu", "up"),
            ("at_least:2", "dduuu", "down"),
            ("percent:50", "duu", "up"),
            ("percent:50", "dduu", "down"),
            ("percent:1", "uuu", "up"),
            ("percent:100", "ddd", "down"),
            ("weight:5", "uddu", "up"),
            ("weight:5", "duuu", "down"),
            ("weight:3", "uddu", "down"),
        ] {
            assert_eq!(judged(rule, statuses).0, expected, "{rule} {statuses}");
        }
    }

    #[test]
    fn members_that_cannot_be_counted_are_left_out() {
        assert_eq!(judged("all", "dpic"), ("down", "1 of 1 down: m0".to_owned()));
        assert_eq!(judged("percent:50", "udpic").0, "down");
        let counted = counts(Rule::All, &Weights::new(), &members("udpic"));
        let expected = Counts { total: 2, up: 1, down: 1, left_out: 3, partial: true };
        assert_eq!(counted, expected);
        assert!(!counts(Rule::Any, &Weights::new(), &members("udpic")).partial);
    }

    #[test]
    fn a_group_without_members_that_count_is_unknown_and_never_up() {
        for statuses in ["", "p", "pic"] {
            assert_eq!(judged("any", statuses).0, "unknown", "{statuses}");
            assert_eq!(judged("all", statuses).0, "unknown", "{statuses}");
        }
    }

    #[test]
    fn the_message_says_how_many_and_which_members_are_down() {
        assert_eq!(judged("at_least:2", "duudu").1, "2 of 5 down: m0, m3");
        assert_eq!(judged("any", "uuu").1, "3 of 3 up");
        assert!(judged("any", "dddddddddddd").1.ends_with("m9 and 2 more"));
    }

    #[test]
    fn a_rule_is_written_as_it_is_read() {
        for text in ["any", "all", "at_least:2", "percent:50", "weight:12"] {
            assert_eq!(Rule::parse(text).expect("a rule").to_string(), text);
        }
        for text in [
            "",
            "some",
            "any:1",
            "at_least",
            "at_least:0",
            "at_least:-1",
            "at_least:+1",
            "percent:101",
            "weight:x",
            "weight:99999999999",
        ] {
            assert!(Rule::parse(text).is_err(), "{text}");
        }
    }

    fn selector(monitors: &[u8], groups: &[u8], tags: &str) -> Selector {
        let parts = SelectorParts {
            monitors: monitors.iter().map(|number| id(*number)).collect(),
            groups: groups.iter().map(|number| id(*number)).collect(),
            tags: Tags::parse(tags).expect("tags"),
            ..SelectorParts::default()
        };
        Selector::new(parts).expect("a selector")
    }

    /// Monitors 1 to 30; those below 10 have the tag `low`.
    fn graph(groups: &[(u8, Selector)], pairs: &[(u8, u8)]) -> TeamGraph {
        let monitors = (1..=30).map(|number| CoveredMonitor {
            id: id(number),
            tags: Tags::parse(if number < 10 { "low" } else { "" }).expect("tags"),
        });
        let mut children: HashMap<MonitorId, Vec<MonitorId>> = HashMap::new();
        for (child, parent) in pairs {
            children.entry(id(*parent)).or_default().push(id(*child));
        }
        let groups = groups.iter().map(|(number, selector)| (id(*number), selector.clone()));
        TeamGraph { monitors: monitors.collect(), groups: groups.collect(), children }
    }

    fn index(groups: &[(u8, Selector)]) -> MemberIndex {
        let TeamGraph { monitors, groups, .. } = graph(groups, &[]);
        MemberIndex::new(&monitors, groups)
    }

    #[test]
    fn the_index_finds_the_members_that_the_selectors_select() {
        let all_tags = |tags: &str| {
            let all_tags = Tags::parse(tags).expect("tags");
            Selector::new(SelectorParts { all_tags, ..SelectorParts::default() }).expect("valid")
        };
        let everything = SelectorParts { everything: true, ..SelectorParts::default() };
        let groups = [
            (20, selector(&[11, 12, 99], &[], "")),
            (21, selector(&[], &[20], "lo*")),
            (22, selector(&[], &[21, 22], "lower")),
            (23, all_tags("low")),
            (24, all_tags("low,high")),
            (25, Selector::new(everything).expect("valid")),
        ];
        let (graph, index) = (graph(&groups, &[]), index(&groups));
        for (group, selector) in &groups {
            let expected: HashSet<MonitorId> = graph
                .monitors
                .iter()
                .filter(|one| one.id != id(*group))
                .filter(|one| is_member(&graph.groups, selector, one.id, &one.tags))
                .map(|one| one.id)
                .collect();
            assert_eq!(index.members(id(*group), selector), expected, "{group}");
        }
        let mut found = index.groups_with(&HashSet::from([id(11)]));
        found.sort_unstable();
        assert_eq!(found, [20, 21, 22, 25].map(id));
    }

    #[test]
    fn a_group_never_contains_itself() {
        let by_tag = selector(&[], &[], "low");
        let found = index(&[(1, by_tag.clone())]).members(id(1), &by_tag);
        assert_eq!(found.len(), 8);
        assert_eq!(graph(&[(1, by_tag)], &[]).validate(id(1)), Ok(()));
        let named = graph(&[(1, selector(&[1], &[], ""))], &[]).validate(id(1));
        assert_eq!(named, Err(NestingError::Cycle(vec![id(1), id(1)])));
        let other = graph(&[(1, selector(&[2], &[], "")), (2, selector(&[], &[1], ""))], &[]);
        assert_eq!(other.validate(id(1)), Err(NestingError::Cycle(vec![id(1), id(2), id(1)])));
    }

    #[test]
    fn groups_contain_each_other_at_most_five_deep() {
        let nested = |depth: u8| -> Vec<(u8, Selector)> {
            (1..=depth).map(|number| (number, selector(&[number + 1], &[], ""))).collect()
        };
        for number in 1..=5 {
            assert_eq!(graph(&nested(5), &[]).validate(id(number)), Ok(()));
            assert_eq!(graph(&nested(6), &[]).validate(id(number)), Err(NestingError::TooDeep));
        }
    }

    #[test]
    fn a_window_reaches_the_members_of_groups_and_what_depends_on_covered_monitors() {
        let groups = [(10, selector(&[11, 12], &[], "")), (12, selector(&[13], &[], ""))];
        let graph = graph(&groups, &[(20, 11), (21, 20), (22, 13), (21, 22), (25, 24)]);
        let reached = |selector: &Selector, dependents| -> Vec<MonitorId> {
            Reach::new(&graph, &graph.index()).of(selector, dependents)
        };
        let ids = |numbers: &[u8]| {
            let mut ids: Vec<MonitorId> = numbers.iter().map(|number| id(*number)).collect();
            ids.sort_unstable();
            ids
        };
        assert_eq!(reached(&selector(&[], &[10], ""), false), ids(&[11, 12, 13]));
        assert_eq!(reached(&selector(&[], &[10], ""), true), ids(&[11, 12, 13, 20, 21, 22]));
        assert_eq!(reached(&selector(&[10], &[], ""), true), ids(&[10]), "only the group itself");
        assert_eq!(reached(&selector(&[24], &[], ""), true), ids(&[24, 25]));
        assert_eq!(reached(&selector(&[24], &[], ""), false), ids(&[24]));
    }
}
