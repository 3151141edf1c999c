//! The spans of a monitor's history that do not count as usual: maintenance, and times
//! in which the monitor could not be reached because of something else.

use crate::time::Millis;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Exclusion {
    pub from: Millis,
    /// `None` while it lasts.
    pub to: Option<Millis>,
    pub kind: ExclusionKind,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ExclusionKind {
    /// No heartbeat counts, whether up or down.
    Maintenance,
    /// Failures say nothing about the monitor.
    Unreachable,
}

/// The exclusions of a monitor: for each kind, spans in order that do not overlap.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Exclusions {
    maintenance: Vec<(Millis, Millis)>,
    unreachable: Vec<(Millis, Millis)>,
    /// Of either kind.
    any: Vec<(Millis, Millis)>,
}

impl Exclusions {
    /// They may overlap, and be in any order.
    pub fn new(exclusions: impl IntoIterator<Item = Exclusion>) -> Self {
        let mut new = Self::default();
        for Exclusion { from, to, kind } in exclusions {
            let span = (from, to.unwrap_or(Millis(i64::MAX)));
            match kind {
                ExclusionKind::Maintenance => new.maintenance.push(span),
                ExclusionKind::Unreachable => new.unreachable.push(span),
            }
            new.any.push(span);
        }
        for spans in [&mut new.maintenance, &mut new.unreachable, &mut new.any] {
            merge(spans);
        }
        new
    }

    pub fn is_empty(&self) -> bool {
        self.any.is_empty()
    }

    pub fn is_maintenance(&self, at: Millis) -> bool {
        is_within(&self.maintenance, at)
    }

    pub fn is_unreachable(&self, at: Millis) -> bool {
        is_within(&self.unreachable, at)
    }

    /// The spans of maintenance in their order.
    pub fn maintenance(&self) -> impl Iterator<Item = (Millis, Millis)> {
        self.maintenance.iter().copied()
    }

    /// The spans of either kind in their order.
    pub fn any(&self) -> impl Iterator<Item = (Millis, Millis)> {
        self.any.iter().copied()
    }

    /// How much of a span is covered, in milliseconds.
    pub fn covered_millis(&self, from: Millis, to: Millis) -> u64 {
        let first = self.any.partition_point(|(_, end)| *end <= from);
        let touching = self.any[first..].iter().take_while(|(start, _)| *start < to);
        let covered = touching.map(|(start, end)| {
            let (start, end) = (from.max(*start), to.min(*end));
            end.0.saturating_sub(start.0).max(0).cast_unsigned()
        });
        covered.sum()
    }
}

fn merge(spans: &mut Vec<(Millis, Millis)>) {
    spans.sort_unstable();
    spans.dedup_by(|next, last| {
        let touches = next.0 <= last.1;
        if touches {
            last.1 = last.1.max(next.1);
        }
        touches
    });
}

fn is_within(spans: &[(Millis, Millis)], at: Millis) -> bool {
    let behind = spans.partition_point(|(start, _)| *start <= at);
    behind.checked_sub(1).is_some_and(|last| at < spans[last].1)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn maintenance(spans: &[(i64, Option<i64>)]) -> Exclusions {
        Exclusions::new(spans.iter().map(|(from, to)| Exclusion {
            from: Millis(*from),
            to: to.map(Millis),
            kind: ExclusionKind::Maintenance,
        }))
    }

    #[test]
    fn an_exclusion_that_lasts_has_no_end() {
        let open = maintenance(&[(10, Some(20)), (30, None)]);
        assert!(open.is_maintenance(Millis(i64::MAX - 1)));
        assert!(!open.is_maintenance(Millis(20)));
        assert_eq!(open.covered_millis(Millis(0), Millis(100)), 80);
        assert!(!Exclusions::default().is_maintenance(Millis(0)));
    }

    proptest! {
        #[test]
        fn covered_time_is_what_a_walk_counts(
            spans in prop::collection::vec((0..100_i64, 0..40_i64), 0..8),
            from in 0..100_i64,
            length in 0..100_i64,
        ) {
            let all: Vec<(i64, Option<i64>)> =
                spans.iter().map(|(from, length)| (*from, Some(from + length))).collect();
            let exclusions = maintenance(&all);
            let is_covered = |at: i64| spans.iter().any(|(from, length)| (*from..from + length).contains(&at));
            for at in 0..150 {
                prop_assert_eq!(exclusions.is_maintenance(Millis(at)), is_covered(at));
            }
            let counted = (from..from + length).filter(|at| is_covered(*at)).count();
            let covered = exclusions.covered_millis(Millis(from), Millis(from + length));
            prop_assert_eq!(covered, counted as u64);
        }
    }
}
