//! What the maintenance clock records: from when to when each monitor was covered. A
//! monitor has at most one open exclusion, however many windows cover it, so that what
//! is stored does not grow with the number of windows.

use std::collections::HashMap;
use std::time::Duration;

use super::{Checks, Counts, Window};
use crate::calendar::Rule;
use crate::id::{MaintenanceId, MonitorId};
use crate::monitors::Tags;
use crate::selector::TagIndex;
use crate::time::Millis;

/// A monitor that windows may cover.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CoveredMonitor {
    pub id: MonitorId,
    pub tags: Tags,
}

/// An exclusion that lasts, as it is stored.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct OpenExclusion {
    pub monitor: MonitorId,
    pub from: Millis,
    /// The window that began it.
    pub window: MaintenanceId,
    pub pauses: bool,
    /// Heartbeats count as usual: alerts are muted only.
    pub counts: bool,
}

/// What is stored about the monitors of a team.
#[derive(Clone, Debug, Default)]
pub struct Recorded {
    pub open: Vec<OpenExclusion>,
    /// Those that have ended within `MAX_GAP`, with their ends.
    pub ended: Vec<(OpenExclusion, Millis)>,
}

/// A change of what is recorded.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ExclusionChange {
    Open(OpenExclusion),
    /// One that has just ended lasts again. If another window had begun it, this one replaces it.
    Reopen {
        exclusion: OpenExclusion,
        replaces: Option<MaintenanceId>,
    },
    /// The exclusion that lasted until then ends.
    Close {
        monitor: MonitorId,
        from: Millis,
        to: Millis,
    },
}

/// The most times that one step looks at; the next step continues.
const MAX_STEPS: usize = 200;
/// Occurrences that ended longer ago, while Wakeful was not running, are not recorded.
const MAX_CATCH_UP: Duration = Duration::from_secs(7 * 86_400);

/// A window that is turned off and on again within this time, or replaced by another, continues
/// what it has recorded: what is stored does not grow with the number of changes.
pub const MAX_GAP: Duration = Duration::from_secs(60);
/// About the most changes of one step: others wait while it is written.
const MAX_CHANGES: usize = 1_000;

/// What the maintenance clock does next.
#[derive(Clone, Debug)]
pub struct Plan {
    pub changes: Vec<ExclusionChange>,
    /// Until when the changes are complete: `now`, or earlier if there is more than fits into
    /// one step.
    pub done: Millis,
    /// These are some of the changes at `done`, and there are none before: the next step continues
    /// from there.
    pub is_partial: bool,
}

/// The changes from the times at which windows were due until now, in order.
pub fn plan(windows: &[Window], monitors: &TagIndex, recorded: &Recorded, now: Millis) -> Plan {
    let mut plan = Plan { changes: Vec::new(), done: now, is_partial: false };
    let mut open: HashMap<MonitorId, OpenExclusion> =
        recorded.open.iter().map(|exclusion| (exclusion.monitor, *exclusion)).collect();
    let mut ended: HashMap<MonitorId, Vec<(OpenExclusion, Millis)>> = HashMap::new();
    for one in &recorded.ended {
        ended.entry(one.0.monitor).or_default().push(*one);
    }
    let mut members: HashMap<MaintenanceId, Vec<bool>> = HashMap::new();
    for at in times_to_look_at(windows, now) {
        let mut running: Vec<(Millis, &Window)> = windows
            .iter()
            .filter_map(|window| window.at(at).map(|span| (span.from, window)))
            .collect();
        running.sort_by_key(|(from, window)| (*from, window.id));
        for (_, window) in &running {
            members.entry(window.id).or_insert_with(|| window.covered(monitors));
        }
        let running: Vec<(&Window, &[bool])> =
            running.iter().map(|(_, window)| (*window, &members[&window.id][..])).collect();
        let before = plan.changes.len();
        for (index, monitor) in monitors.ids().iter().enumerate() {
            let wanted = wanted(&running, index, *monitor, at);
            let known = open.get(monitor).copied();
            if known.map(meaning) == wanted.map(meaning) {
                continue;
            }
            if plan.changes.len() >= MAX_CHANGES {
                // The earlier times are complete. Of the first one with changes, some monitors are.
                if before == 0 {
                    return Plan { done: at, is_partial: true, ..plan };
                }
                plan.changes.truncate(before);
                return plan;
            }
            if let Some(OpenExclusion { monitor, from, .. }) = known {
                plan.changes.push(ExclusionChange::Close { monitor, from, to: at.max(from) });
                open.remove(&monitor);
            }
            if let Some(wanted) = wanted {
                let candidates = ended.get_mut(monitor).filter(|_| now.since(at) < MAX_GAP);
                let change = candidates
                    .and_then(|candidates| reopened(candidates, wanted))
                    .unwrap_or(ExclusionChange::Open(wanted));
                if let ExclusionChange::Open(new) | ExclusionChange::Reopen { exclusion: new, .. } =
                    change
                {
                    open.insert(*monitor, new);
                }
                plan.changes.push(change);
            }
        }
        plan.done = at;
    }
    plan
}

/// The exclusion that `wanted` continues: one of the same window, or a short one of another, so
/// that windows that replace each other quickly share one.
fn reopened(
    ended: &mut Vec<(OpenExclusion, Millis)>,
    wanted: OpenExclusion,
) -> Option<ExclusionChange> {
    let fits = |(one, to): &(OpenExclusion, Millis)| {
        (one.pauses, one.counts) == (wanted.pauses, wanted.counts)
            && one.from <= wanted.from
            && wanted.from.since(*to) < MAX_GAP
    };
    let is_same = |(one, _): &(OpenExclusion, Millis)| one.window == wanted.window;
    let is_short = |(one, to): &(OpenExclusion, Millis)| to.since(one.from) < MAX_GAP;
    let place = ended
        .iter()
        .position(|one| fits(one) && is_same(one))
        .or_else(|| ended.iter().position(|one| fits(one) && is_short(one)))?;
    let (old, _) = ended.swap_remove(place);
    Some(ExclusionChange::Reopen {
        exclusion: OpenExclusion { from: old.from, ..wanted },
        replaces: Some(old.window).filter(|window| *window != wanted.window),
    })
}

/// What an exclusion says, whenever it began.
fn meaning(exclusion: OpenExclusion) -> (MaintenanceId, bool, bool) {
    (exclusion.window, exclusion.pauses, exclusion.counts)
}

/// The times at which a window that is due was saved, begins or ends, and now.
fn times_to_look_at(windows: &[Window], now: Millis) -> Vec<Millis> {
    let mut times: Vec<Millis> = Vec::new();
    for window in windows {
        let Some(due) = window.due.filter(|due| *due <= now) else { continue };
        let since = match window.schedule.rule() {
            Rule::Once => due,
            _ => due.max(now.before(MAX_CATCH_UP)),
        };
        // What runs by then began earlier, but not before it was due.
        times.push(window.at(since).map_or(since, |span| span.from.max(due)));
        let mut at = since;
        for _ in 0..=MAX_STEPS {
            let change = match window.at(at) {
                Some(span) => span.end(),
                None => window.next_start(at),
            };
            let Some(change) = change.filter(|change| *change <= now) else { break };
            times.push(change);
            at = change;
        }
    }
    times.push(now);
    times.sort_unstable();
    times.dedup();
    times.truncate(MAX_STEPS);
    times
}

/// The exclusion that a monitor should have. The window that began first names it.
fn wanted(
    running: &[(&Window, &[bool])],
    index: usize,
    monitor: MonitorId,
    at: Millis,
) -> Option<OpenExclusion> {
    let mut wanted: Option<OpenExclusion> = None;
    for (window, _) in running.iter().filter(|(_, members)| members[index]) {
        let exclusion = wanted.get_or_insert(OpenExclusion {
            monitor,
            from: at,
            window: window.id,
            pauses: false,
            counts: true,
        });
        exclusion.pauses |= window.checks == Checks::Pause;
        exclusion.counts &= window.counts == Counts::Counted;
    }
    wanted
}
