//! Which monitors something applies to: by id, by group, by tag, or all of them. The
//! parts are combined with *or*. It is evaluated when it is used: a monitor that gets
//! the tag later belongs to it from then on.

use serde::{Deserialize, Serialize};
use std::collections::{BTreeMap, HashMap};
use std::ops::Bound;

use crate::Invalid;
use crate::id::MonitorId;
use crate::monitors::Tags;

/// The most monitors, and the most groups.
pub const MAX_MONITORS: usize = 1_000;

/// A selection of monitors; never an empty one.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(try_from = "SelectorParts", into = "SelectorParts")]
pub struct Selector {
    /// In order, so that a monitor is found quickly.
    monitors: Vec<MonitorId>,
    groups: Vec<MonitorId>,
    tags: Tags,
    all_tags: Tags,
    everything: bool,
}

/// The parts of a selector as they are sent and stored.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct SelectorParts {
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub monitors: Vec<MonitorId>,
    /// Monitors of type group: their members.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub groups: Vec<MonitorId>,
    /// Monitors with any of these tags. A tag that ends in `*` matches what begins with it.
    #[serde(skip_serializing_if = "Tags::is_empty")]
    pub tags: Tags,
    /// Monitors with all of these tags.
    #[serde(skip_serializing_if = "Tags::is_empty")]
    pub all_tags: Tags,
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub everything: bool,
}

impl Selector {
    pub fn new(parts: SelectorParts) -> Result<Self, Invalid> {
        let SelectorParts { mut monitors, mut groups, tags, all_tags, everything } = parts;
        let is_empty = monitors.is_empty() && groups.is_empty();
        if is_empty && tags.is_empty() && all_tags.is_empty() && !everything {
            return Err(Invalid::new("must select monitors by id, by tag, or everything"));
        }
        for ids in [&mut monitors, &mut groups] {
            ids.sort_unstable();
            ids.dedup();
            if ids.len() > MAX_MONITORS {
                return Err(Invalid::new(format!("must be at most {MAX_MONITORS} monitors")));
            }
        }
        Ok(Self { monitors, groups, tags, all_tags, everything })
    }

    pub fn monitors(&self) -> &[MonitorId] {
        &self.monitors
    }

    pub fn groups(&self) -> &[MonitorId] {
        &self.groups
    }

    pub fn tags(&self) -> &Tags {
        &self.tags
    }

    pub fn all_tags(&self) -> &Tags {
        &self.all_tags
    }

    pub fn is_everything(&self) -> bool {
        self.everything
    }

    /// Whether it names this monitor, instead of selecting it by tags.
    pub fn names(&self, monitor: MonitorId) -> bool {
        self.monitors.binary_search(&monitor).is_ok()
    }

    /// Whether it only names monitors.
    pub fn only_names(&self) -> bool {
        !self.everything
            && self.groups.is_empty()
            && self.tags.is_empty()
            && self.all_tags.is_empty()
    }

    /// The same with these monitors, such as the members of its groups.
    #[must_use]
    pub fn including(mut self, monitors: Vec<MonitorId>) -> Self {
        self.monitors.extend(monitors);
        self.monitors.sort_unstable();
        self.monitors.dedup();
        self
    }

    /// The same without the ids that a reader must not see. If it has nothing else, nothing of it
    /// is left, so it is only for showing.
    #[must_use]
    pub fn shown(mut self, is_visible: impl Fn(MonitorId) -> bool) -> Self {
        self.monitors.retain(|id| is_visible(*id));
        self.groups.retain(|id| is_visible(*id));
        self
    }

    /// Whether a monitor with these tags belongs to it. Members of groups are resolved
    /// to ids before.
    pub fn selects(&self, monitor: MonitorId, tags: &Tags) -> bool {
        self.everything
            || self.names(monitor)
            || (!self.tags.is_empty() && self.tags.iter().any(|tag| has_tag(tags, tag)))
            || (!self.all_tags.is_empty() && self.all_tags.iter().all(|tag| has_tag(tags, tag)))
    }
}

fn has_tag(tags: &Tags, wanted: &str) -> bool {
    match wanted.strip_suffix('*') {
        Some(prefix) => tags.iter().any(|tag| tag.starts_with(prefix)),
        None => tags.iter().any(|tag| tag == wanted),
    }
}

/// Monitors by id and by tag, to evaluate many selectors: the cost of each is that of what it
/// finds, not of comparing all tags with all tags.
#[derive(Clone, Debug, Default)]
pub struct TagIndex {
    ids: Vec<MonitorId>,
    places: HashMap<MonitorId, usize>,
    by_tag: BTreeMap<String, Vec<usize>>,
}

impl TagIndex {
    pub fn new<'a>(monitors: impl IntoIterator<Item = (MonitorId, &'a Tags)>) -> Self {
        let mut index = Self::default();
        for (place, (id, tags)) in monitors.into_iter().enumerate() {
            index.ids.push(id);
            index.places.insert(id, place);
            for tag in tags.iter() {
                match index.by_tag.get_mut(tag) {
                    Some(places) => places.push(place),
                    None => drop(index.by_tag.insert(tag.to_owned(), vec![place])),
                }
            }
        }
        index
    }

    pub fn ids(&self) -> &[MonitorId] {
        &self.ids
    }

    /// The place of a monitor among those of the index.
    pub fn place(&self, monitor: MonitorId) -> Option<usize> {
        self.places.get(&monitor).copied()
    }

    /// The monitors that `Selector::selects` selects, in their order.
    pub fn selected(&self, selector: &Selector) -> impl Iterator<Item = MonitorId> {
        let found = self.select(selector);
        self.ids.iter().zip(found).filter(|(_, is_found)| *is_found).map(|(id, _)| *id)
    }

    /// For each monitor, in their order, what `Selector::selects` says.
    pub fn select(&self, selector: &Selector) -> Vec<bool> {
        let mut found = vec![selector.everything; self.ids.len()];
        if selector.everything {
            return found;
        }
        for place in selector.monitors.iter().filter_map(|id| self.place(*id)) {
            found[place] = true;
        }
        // Without what another pattern finds, too, each tag of a monitor is met at most once.
        let tags = without_implied(&selector.tags, is_matched);
        for place in tags.iter().flat_map(|tag| self.with_tag(tag)) {
            found[place] = true;
        }
        if !selector.all_tags.is_empty() {
            let tags = without_implied(&selector.all_tags, |tag, other| is_matched(other, tag));
            let mut matched = vec![0; found.len()];
            for (number, tag) in tags.iter().enumerate() {
                for place in self.with_tag(tag) {
                    if matched[place] == number {
                        matched[place] = number + 1;
                    }
                }
            }
            for (found, matched) in found.iter_mut().zip(matched) {
                *found |= matched == tags.len();
            }
        }
        found
    }

    fn with_tag<'t>(&'t self, wanted: &'t str) -> impl Iterator<Item = usize> + 't {
        let prefix = wanted.strip_suffix('*');
        let tags = self.by_tag.range::<str, (Bound<&str>, Bound<&str>)>((
            Bound::Included(prefix.unwrap_or(wanted)),
            Bound::Unbounded,
        ));
        let tags = tags.take_while(move |(tag, _)| match prefix {
            Some(prefix) => tag.starts_with(prefix),
            None => *tag == wanted,
        });
        tags.flat_map(|(_, places)| places.iter().copied())
    }
}

/// Whether everything that a tag or pattern matches is also matched by another pattern.
fn is_matched(tag: &str, pattern: &str) -> bool {
    pattern
        .strip_suffix('*')
        .is_some_and(|prefix| tag.strip_suffix('*').unwrap_or(tag).starts_with(prefix))
}

/// The tags without those that `is_implied` by another one.
fn without_implied(tags: &Tags, is_implied: impl Fn(&str, &str) -> bool) -> Vec<&str> {
    let is_needed = |tag: &&str| !tags.iter().any(|other| other != *tag && is_implied(tag, other));
    tags.iter().filter(is_needed).collect()
}

impl TryFrom<SelectorParts> for Selector {
    type Error = Invalid;

    fn try_from(parts: SelectorParts) -> Result<Self, Invalid> {
        Self::new(parts)
    }
}

impl From<Selector> for SelectorParts {
    fn from(selector: Selector) -> Self {
        let Selector { monitors, groups, tags, all_tags, everything } = selector;
        Self { monitors, groups, tags, all_tags, everything }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::time::Millis;
    use proptest::prelude::*;

    fn id(number: u8) -> MonitorId {
        MonitorId::new(Millis(0), [number; 10])
    }

    fn tags(text: &str) -> Tags {
        Tags::parse(text).expect("valid")
    }

    fn selects(parts: SelectorParts, monitor: u8, of_monitor: &str) -> bool {
        Selector::new(parts).expect("valid").selects(id(monitor), &tags(of_monitor))
    }

    #[test]
    fn parts_are_combined_with_or() {
        let parts = SelectorParts {
            monitors: vec![id(2), id(1)],
            tags: tags("backup,env:*"),
            all_tags: tags("db,prod"),
            ..SelectorParts::default()
        };
        for (monitor, of_monitor, selected) in [
            (1, "", true),
            (2, "x", true),
            (3, "", false),
            (3, "backup", true),
            (3, "backups", false),
            (3, "env:prod", true),
            (3, "env", false),
            (3, "db", false),
            (3, "db,prod", true),
            (3, "prod,web,db", true),
        ] {
            assert_eq!(selects(parts.clone(), monitor, of_monitor), selected, "{of_monitor}");
        }
        let everything = SelectorParts { everything: true, ..SelectorParts::default() };
        assert!(selects(everything, 9, ""));
    }

    #[test]
    fn an_empty_selector_is_rejected() {
        assert!(Selector::new(SelectorParts::default()).is_err());
        assert!(serde_json::from_str::<Selector>("{}").is_err());
        let many = (0..=1_000_u16).map(|number| {
            let [high, low] = number.to_be_bytes();
            MonitorId::new(Millis(0), [high, low, 0, 0, 0, 0, 0, 0, 0, 0])
        });
        let many = SelectorParts { monitors: many.collect(), ..SelectorParts::default() };
        assert!(Selector::new(many).is_err());
    }

    #[test]
    fn a_selector_is_stored_and_read_again() {
        let parts = SelectorParts { tags: tags("a,b"), ..SelectorParts::default() };
        let selector = Selector::new(parts).expect("valid");
        let text = serde_json::to_string(&selector).expect("plain data");
        assert_eq!(text, r#"{"tags":["a","b"]}"#);
        assert_eq!(serde_json::from_str::<Selector>(&text).expect("readable"), selector);
    }

    proptest! {
        #[test]
        fn an_index_selects_the_same_monitors(
            ids in prop::collection::vec(0..9_u8, 0..3),
            any in prop::collection::vec("[ab]{0,2}\\*?", 0..5),
            all in prop::collection::vec("[ab]{0,2}\\*?", 0..5),
            monitors in prop::collection::vec("([ab]{1,3}\\*?,){0,4}", 0..9),
        ) {
            let parts = SelectorParts {
                monitors: ids.iter().copied().map(id).collect(),
                tags: tags(&any.join(",")),
                all_tags: tags(&all.join(",")),
                ..SelectorParts::default()
            };
            let Ok(selector) = Selector::new(parts) else { return Ok(()) };
            let monitors: Vec<(MonitorId, Tags)> =
                (0..).map(id).zip(monitors.iter().map(|text| tags(text))).collect();
            let index = TagIndex::new(monitors.iter().map(|(id, tags)| (*id, tags)));
            let expected: Vec<bool> =
                monitors.iter().map(|(id, tags)| selector.selects(*id, tags)).collect();
            prop_assert_eq!(index.select(&selector), expected);
        }

        #[test]
        fn the_order_of_the_parts_does_not_matter(
            mut ids in prop::collection::vec(1..9_u8, 0..6),
            mut any in prop::collection::vec("[ab]{1,2}\\*?", 1..4),
            mut all in prop::collection::vec("[ab]{1,2}", 0..3),
            of_monitor in prop::collection::vec("[ab]{1,3}", 0..4),
            monitor in 1..9_u8,
        ) {
            let result = |ids: &[u8], any: &[String], all: &[String]| {
                let parts = SelectorParts {
                    monitors: ids.iter().copied().map(id).collect(),
                    tags: tags(&any.join(",")),
                    all_tags: tags(&all.join(",")),
                    ..SelectorParts::default()
                };
                selects(parts, monitor, &of_monitor.join(","))
            };
            let before = result(&ids, &any, &all);
            ids.reverse();
            any.reverse();
            all.reverse();
            prop_assert_eq!(result(&ids, &any, &all), before);
        }
    }
}
