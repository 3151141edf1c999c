//! What the maintenance clock records: from when to when each monitor was covered. A
//! monitor has at most one open exclusion, however many windows cover it, so that what
//! is stored does not grow with the number of windows.

use std::collections::HashMap;
use std::time::Duration;

use super::{Checks, Counts, Window};
use crate::calendar::Rule;
use crate::id::{MaintenanceId, MonitorId};
use crate::monitors::Tags;
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

/// A change of what is recorded.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ExclusionChange {
    Open(OpenExclusion),
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

/// The changes from the times at which windows were due until now, in order, and until
/// when they are complete: `now`, or earlier if there is more than fits into one step.
pub fn plan(
    windows: &[Window],
    monitors: &[CoveredMonitor],
    open: &[OpenExclusion],
    now: Millis,
) -> (Vec<ExclusionChange>, Millis) {
    let (times, done) = times_to_look_at(windows, now);
    let mut open: HashMap<MonitorId, OpenExclusion> =
        open.iter().map(|exclusion| (exclusion.monitor, *exclusion)).collect();
    let mut changes = Vec::new();
    let mut members: HashMap<MaintenanceId, Vec<bool>> = HashMap::new();
    for at in times {
        let mut running: Vec<(Millis, &Window)> = windows
            .iter()
            .filter_map(|window| window.at(at).map(|span| (span.from, window)))
            .collect();
        running.sort_by_key(|(from, window)| (*from, window.id));
        for (_, window) in &running {
            members.entry(window.id).or_insert_with(|| {
                monitors.iter().map(|monitor| window.covers(monitor.id, &monitor.tags)).collect()
            });
        }
        let running: Vec<(&Window, &[bool])> =
            running.iter().map(|(_, window)| (*window, &members[&window.id][..])).collect();
        for (index, monitor) in monitors.iter().enumerate() {
            let wanted = wanted(&running, index, monitor.id, at);
            let known = open.get(&monitor.id).copied();
            if known.map(meaning) == wanted.map(meaning) {
                continue;
            }
            if let Some(OpenExclusion { monitor, from, .. }) = known {
                changes.push(ExclusionChange::Close { monitor, from, to: at.max(from) });
                open.remove(&monitor);
            }
            if let Some(wanted) = wanted {
                open.insert(monitor.id, wanted);
                changes.push(ExclusionChange::Open(wanted));
            }
        }
    }
    (changes, done)
}

/// What an exclusion says, whenever it began.
fn meaning(exclusion: OpenExclusion) -> (MaintenanceId, bool, bool) {
    (exclusion.window, exclusion.pauses, exclusion.counts)
}

/// The times at which a window that is due was saved, begins or ends, and now.
fn times_to_look_at(windows: &[Window], now: Millis) -> (Vec<Millis>, Millis) {
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
    let done = times.last().copied().unwrap_or(now);
    (times, done)
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
