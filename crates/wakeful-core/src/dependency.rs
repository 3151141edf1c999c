//! Dependencies between monitors: a child whose parent is down is not reported. Either the
//! parent is a service that the child needs, or it is our network path to the child. `judge`
//! considers one hop, because the status of a parent reflects everything above it.

use std::collections::{HashMap, HashSet};
use std::time::Duration;

use crate::Invalid;
use crate::id::MonitorId;
use crate::monitors::spec::Spec;
use crate::monitors::{Monitor, Name};
use crate::named_enum;
use crate::time::Millis;
use crate::verdict::{State, Status};

/// The most parents of a monitor.
pub const MAX_PARENTS: usize = 20;
/// The most monitors above each other, not counting the lowest.
pub const MAX_DEPTH: usize = 10;
/// A notification waits at most this long for the verdict about a parent.
const MAX_DOUBT: Duration = Duration::from_secs(120);
/// Of a group that is a parent, at most so many members are checked because of a child.
const MAX_MEMBER_CHECKS: usize = 100;
/// What a check may take in addition to its timeouts.
const DOUBT_MARGIN: Duration = Duration::from_secs(5);

/// A parent of a monitor.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Dependency {
    pub parent: MonitorId,
    pub kind: DependencyKind,
}

named_enum! {
    /// What a parent is to its child.
    #[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
    pub enum DependencyKind {
        /// The child really is down, because it needs the parent.
        #[default]
        Service = "service",
        /// The parent is our network path to the child, which is unreachable without it.
        Path = "path",
    }
}

impl DependencyKind {
    pub fn parse(text: &str) -> Result<Self, Invalid> {
        let known = Self::ALL.iter().find(|known| known.as_str() == text);
        known.copied().ok_or_else(|| Invalid::one_of(Self::ALL.iter().map(|kind| kind.as_str())))
    }
}

/// A parent as it is when the alert of a child is decided about.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Parent {
    pub id: MonitorId,
    pub name: Name,
    pub kind: DependencyKind,
    pub isactive: bool,
    pub status: Status,
    /// It is up, but failures are being confirmed.
    pub is_failing: bool,
    pub last_check: Option<Millis>,
    /// A window that also covers dependents covers it.
    pub is_covered: bool,
    /// How long it may take until its failure is confirmed.
    pub max_doubt: Duration,
    /// What to check to find out: the monitor itself or, for a group, its members.
    pub checks: Vec<MonitorId>,
}

/// A member of a group that is a parent.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ParentMember {
    pub id: MonitorId,
    /// It is up, but failures are being confirmed.
    pub is_failing: bool,
    pub last_check: Option<Millis>,
}

impl Parent {
    pub fn of(kind: DependencyKind, monitor: &Monitor, state: &State, is_covered: bool) -> Self {
        Self {
            id: monitor.id,
            name: monitor.name.clone(),
            kind,
            isactive: monitor.isactive,
            status: state.status,
            is_failing: state.status == Status::Up && state.failing.is_some(),
            last_check: state.last_check,
            is_covered,
            max_doubt: max_doubt(monitor),
            checks: vec![monitor.id],
        }
    }

    /// The same for a group with these members, without those that do not count: its status
    /// follows from theirs, so it is as recent as the oldest of them.
    #[must_use]
    pub fn with_members(self, members: &[ParentMember]) -> Self {
        let Some(oldest) = members.iter().map(|member| member.last_check).min() else {
            return self;
        };
        Self {
            is_failing: self.status == Status::Up && members.iter().any(|one| one.is_failing),
            last_check: oldest,
            max_doubt: MAX_DOUBT,
            checks: members.iter().take(MAX_MEMBER_CHECKS).map(|member| member.id).collect(),
            ..self
        }
    }
}

/// How long a failure of this monitor may take to be confirmed.
fn max_doubt(monitor: &Monitor) -> Duration {
    let span = match monitor.spec {
        Spec::Api(_) => monitor.heartbeat_interval.duration() + monitor.grace(),
        _ => {
            let timeout = monitor.timeout();
            let retry = monitor.retry_interval() + timeout;
            timeout + retry * u32::from(monitor.retries) + DOUBT_MARGIN
        }
    };
    span.min(MAX_DOUBT)
}

/// What the parents mean for the outage of a child.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Judgement<'a> {
    Clear,
    /// This parent is down, or in maintenance together with what depends on it.
    Suppress(&'a Parent),
    /// The verdict about a parent is still open; it is by then.
    Doubt {
        until: Millis,
        /// Parents to check now.
        ask: Vec<MonitorId>,
    },
}

/// Judges the parents of a child whose first failing check was at `failed`. The verdict about
/// them has been awaited since `since`. A parent that is down wins, then the longest doubt.
pub fn judge(failed: Millis, parents: &[Parent], since: Millis, now: Millis) -> Judgement<'_> {
    let mut ask = Vec::new();
    let mut until: Option<Millis> = None;
    for parent in parents {
        if !parent.isactive || parent.status == Status::Pending {
            continue;
        }
        if parent.status == Status::Down || parent.is_covered {
            return Judgement::Suppress(parent);
        }
        let is_checked = parent.last_check.is_some_and(|at| at > failed);
        if is_checked && !parent.is_failing {
            continue;
        }
        let end = since.after(parent.max_doubt);
        if end <= now {
            continue;
        }
        if !is_checked {
            ask.extend_from_slice(&parent.checks);
        }
        until = until.max(Some(end));
    }
    until.map_or(Judgement::Clear, |until| Judgement::Doubt { until, ask })
}

/// Why dependencies are rejected.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum DependencyError {
    /// The monitors of the cycle in order, from the child over its parents back to the child.
    Cycle(Vec<MonitorId>),
    TooDeep,
}

/// Whether a monitor may have these parents. `parents_of` contains the parents of everything
/// above it, `children_of` the children of everything below it.
pub fn validate(
    child: MonitorId,
    parents: &[MonitorId],
    parents_of: &HashMap<MonitorId, Vec<MonitorId>>,
    children_of: &HashMap<MonitorId, Vec<MonitorId>>,
) -> Result<(), DependencyError> {
    if let Some(mut path) = path_to(child, parents, parents_of) {
        path.insert(0, child);
        return Err(DependencyError::Cycle(path));
    }
    let above = parents.iter().map(|parent| 1 + height(*parent, parents_of)).max().unwrap_or(0);
    if above + height(child, children_of) > MAX_DEPTH {
        return Err(DependencyError::TooDeep);
    }
    Ok(())
}

/// A way from one of these monitors to `target`, including both.
pub(crate) fn path_to(
    target: MonitorId,
    from: &[MonitorId],
    next_of: &HashMap<MonitorId, Vec<MonitorId>>,
) -> Option<Vec<MonitorId>> {
    let mut came_from: HashMap<MonitorId, Option<MonitorId>> = HashMap::new();
    let mut waiting: Vec<MonitorId> = Vec::new();
    for start in from {
        if came_from.insert(*start, None).is_none() {
            waiting.push(*start);
        }
    }
    while let Some(at) = waiting.pop() {
        if at == target {
            let mut path = vec![at];
            let mut at = at;
            while let Some(Some(before)) = came_from.get(&at) {
                path.push(*before);
                at = *before;
            }
            path.reverse();
            return Some(path);
        }
        for next in next_of.get(&at).into_iter().flatten() {
            came_from.entry(*next).or_insert_with(|| {
                waiting.push(*next);
                Some(at)
            });
        }
    }
    None
}

/// The length of the longest way from here, level by level; more than `MAX_DEPTH` is not
/// counted further.
pub(crate) fn height(from: MonitorId, next_of: &HashMap<MonitorId, Vec<MonitorId>>) -> usize {
    let mut level = HashSet::from([from]);
    for height in 0..=MAX_DEPTH {
        level = level.iter().filter_map(|at| next_of.get(at)).flatten().copied().collect();
        if level.is_empty() {
            return height;
        }
    }
    MAX_DEPTH + 1
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at(seconds: i64) -> Millis {
        Millis(1_790_000_000_000 + seconds * 1_000)
    }

    fn id(number: u8) -> MonitorId {
        MonitorId::new(at(0), [number; 10])
    }

    /// Up, and checked after the child's first failure at 0.
    fn parent(number: u8) -> Parent {
        Parent {
            id: id(number),
            name: Name::parse("router").expect("a name"),
            kind: DependencyKind::Service,
            isactive: true,
            status: Status::Up,
            is_failing: false,
            last_check: Some(at(1)),
            is_covered: false,
            max_doubt: Duration::from_secs(31),
            checks: vec![id(number)],
        }
    }

    fn judged(parents: &[Parent], now: i64) -> Judgement<'_> {
        judge(at(0), parents, at(10), at(now))
    }

    #[test]
    fn an_inactive_or_pending_parent_is_ignored() {
        let down = Parent { status: Status::Down, ..parent(1) };
        assert_eq!(judged(&[Parent { isactive: false, ..down.clone() }], 10), Judgement::Clear);
        let pending = Parent { status: Status::Pending, last_check: None, ..parent(1) };
        assert_eq!(judged(&[pending], 10), Judgement::Clear);
    }

    #[test]
    fn a_parent_that_is_down_or_covered_suppresses() {
        let down = [Parent { status: Status::Down, ..parent(1) }];
        assert_eq!(judged(&down, 10), Judgement::Suppress(&down[0]));
        let covered = [Parent { is_covered: true, ..parent(1) }];
        assert_eq!(judged(&covered, 10), Judgement::Suppress(&covered[0]));
    }

    #[test]
    fn a_parent_whose_failures_are_being_confirmed_is_awaited() {
        let failing = [Parent { is_failing: true, ..parent(1) }];
        assert_eq!(judged(&failing, 10), Judgement::Doubt { until: at(41), ask: Vec::new() });
        assert_eq!(judged(&failing, 41), Judgement::Clear, "but not longer than it may take");
    }

    #[test]
    fn a_parent_that_was_last_checked_before_the_failure_is_checked_now_and_awaited() {
        for last_check in [None, Some(at(-40)), Some(at(0))] {
            let stale = [Parent { last_check, ..parent(1) }];
            assert_eq!(judged(&stale, 10), Judgement::Doubt { until: at(41), ask: vec![id(1)] });
            assert_eq!(judged(&stale, 41), Judgement::Clear);
        }
    }

    #[test]
    fn a_parent_that_was_checked_after_the_failure_is_clear() {
        assert_eq!(judged(&[parent(1)], 10), Judgement::Clear);
        assert_eq!(judged(&[], 10), Judgement::Clear);
    }

    #[test]
    fn a_group_is_known_to_be_up_when_its_members_are() {
        let member = |number, last_check| ParentMember {
            id: id(number),
            is_failing: false,
            last_check: Some(at(last_check)),
        };
        let known = parent(1).with_members(&[member(2, 3), member(3, 1)]);
        assert_eq!(judged(&[known], 10), Judgement::Clear);
        let stale = [parent(1).with_members(&[member(2, 3), member(3, -1)])];
        let expected = Judgement::Doubt { until: at(130), ask: vec![id(2), id(3)] };
        assert_eq!(judged(&stale, 10), expected);
        let failing = ParentMember { is_failing: true, ..member(3, 5) };
        let failing = [parent(1).with_members(&[member(2, 3), failing])];
        assert_eq!(judged(&failing, 10), Judgement::Doubt { until: at(130), ask: Vec::new() });
        assert_eq!(parent(1).with_members(&[]), parent(1));
    }

    #[test]
    fn a_parent_that_is_down_wins_then_the_longest_doubt() {
        let stale = Parent { last_check: Some(at(-1)), ..parent(1) };
        let slow = Parent { max_doubt: MAX_DOUBT, last_check: None, ..parent(2) };
        let doubts = [parent(3), slow.clone(), stale.clone()];
        let expected = Judgement::Doubt { until: at(130), ask: vec![id(2), id(1)] };
        assert_eq!(judged(&doubts, 10), expected);
        let all = [stale, slow, Parent { status: Status::Down, ..parent(3) }];
        assert_eq!(judged(&all, 10), Judgement::Suppress(&all[2]));
    }

    fn edges(pairs: &[(u8, u8)]) -> HashMap<MonitorId, Vec<MonitorId>> {
        let mut found: HashMap<MonitorId, Vec<MonitorId>> = HashMap::new();
        for (from, to) in pairs {
            found.entry(id(*from)).or_default().push(id(*to));
        }
        found
    }

    /// Whether 1 may have these parents, with these other pairs of child and parent.
    fn validated(parents: &[u8], pairs: &[(u8, u8)]) -> Result<(), DependencyError> {
        let parents: Vec<MonitorId> = parents.iter().map(|number| id(*number)).collect();
        let reversed: Vec<(u8, u8)> =
            pairs.iter().map(|(child, parent)| (*parent, *child)).collect();
        validate(id(1), &parents, &edges(pairs), &edges(&reversed))
    }

    #[test]
    fn a_cycle_is_named() {
        let cycle = |numbers: &[u8]| {
            Err(DependencyError::Cycle(numbers.iter().map(|number| id(*number)).collect()))
        };
        assert_eq!(validated(&[1], &[]), cycle(&[1, 1]));
        assert_eq!(validated(&[2], &[(2, 1)]), cycle(&[1, 2, 1]));
        assert_eq!(validated(&[4, 2], &[(2, 3), (3, 1), (4, 5)]), cycle(&[1, 2, 3, 1]));
        assert_eq!(validated(&[2, 3], &[(2, 4), (3, 4)]), Ok(()), "two ways are no cycle");
    }

    #[test]
    fn monitors_depend_on_each_other_over_at_most_ten_levels() {
        let chain: Vec<(u8, u8)> = (2..11).map(|number| (number, number + 1)).collect();
        assert_eq!(validated(&[2], &chain), Ok(()), "1 to 11 are ten levels");
        assert_eq!(
            validated(&[2], &[&chain[..], &[(11, 12)]].concat()),
            Err(DependencyError::TooDeep)
        );
        assert_eq!(
            validated(&[2], &[&chain[..], &[(20, 1)]].concat()),
            Err(DependencyError::TooDeep)
        );
    }
}
