//! Maintenance windows: planned work, or a mute. While a window runs, the monitors that
//! it covers are checked or not, count or not, and alert or not. The functions here
//! decide what the windows of a team mean for a monitor at a time, and when that
//! changes; `engine/alerting/maintenance_clock.rs` acts on it.

mod audited;
mod plan;

pub use plan::{CoveredMonitor, ExclusionChange, MAX_GAP, OpenExclusion, Plan, Recorded, plan};

use serde::{Deserialize, Serialize};
use std::time::Duration;

use crate::calendar::{FOREVER, Schedule, Span};
use crate::group::Reach;
use crate::id::{MaintenanceId, MonitorId, NotifierId, TeamId};
use crate::monitors::Tags;
use crate::named_enum;
use crate::selector::{Selector, TagIndex};
use crate::time::Millis;

/// The most windows of a team.
pub const MAX_WINDOWS: usize = 500;
/// The longest time that alerts stay suppressed after a window.
pub const MAX_GRACE: Duration = Duration::from_secs(86_400);
/// How long before a start it can be announced, and how often.
pub const MAX_BEFORE: Duration = Duration::from_secs(366 * 86_400);
pub const MAX_ANNOUNCEMENTS: usize = 3;
/// How many windows after each other the end of a cover takes into account. It is only
/// earlier for more of them, and decided again then.
const MAX_SUCCESSORS: usize = 4;
/// How far an occurrence can be extended.
pub const MAX_EXTENSION: Duration = Duration::from_secs(366 * 86_400);

/// A maintenance window.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Window {
    pub id: MaintenanceId,
    pub team: TeamId,
    pub name: String,
    pub description: String,
    pub isactive: bool,
    pub selector: Selector,
    /// What it covers through groups and dependencies, in order: found when it is applied, not
    /// stored.
    pub reached: Vec<MonitorId>,
    pub schedule: Schedule,
    pub checks: Checks,
    pub counts: Counts,
    pub alerts: Alerts,
    /// It also covers monitors that depend on a covered one.
    pub dependents: bool,
    /// How long alerts stay suppressed after its end.
    pub grace: Duration,
    pub announce: Announce,
    /// The occurrence that the maintenance clock has started. Its end may have been
    /// extended.
    pub running: Option<Span>,
    /// When the maintenance clock has ended the last one: later than scheduled if it was extended,
    /// earlier if it was ended by hand.
    pub ended: Option<Millis>,
    /// Occurrences are skipped until this time, because one was ended early.
    pub skipped_until: Option<Millis>,
    /// When the maintenance clock looks at it next.
    pub due: Option<Millis>,
    pub created: Millis,
    pub modified: Millis,
}

named_enum! {
    /// What happens to the checks of a covered monitor.
    #[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
    pub enum Checks {
        #[default]
        Run = "run",
        /// No connection is made.
        Pause = "pause",
    }
}

named_enum! {
    /// How the time counts in statistics.
    #[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
    pub enum Counts {
        #[default]
        Excluded = "excluded",
        Counted = "counted",
    }
}

named_enum! {
    /// Whether people are notified of outages.
    #[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
    pub enum Alerts {
        #[default]
        Suppress = "suppress",
        Notify = "notify",
    }
}

named_enum! {
    #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
    pub enum WindowStatus {
        Scheduled = "scheduled",
        Running = "running",
        Ended = "ended",
        Inactive = "inactive",
    }
}

/// Who is notified of an occurrence itself, and when.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct Announce {
    pub notifiers: Vec<NotifierId>,
    /// Seconds before the start, the longest first.
    pub before: Vec<u32>,
    pub start: bool,
    pub end: bool,
}

impl Announce {
    pub fn is_empty(&self) -> bool {
        self.notifiers.is_empty() || (self.before.is_empty() && !self.start && !self.end)
    }
}

/// An occurrence that is announced.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct DueAnnouncement {
    pub span: Span,
    pub moment: WindowMoment,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum WindowMoment {
    /// It begins soon: this is the announcement so many seconds before.
    Before(u32),
    Started,
    Ended,
}

/// What the running windows mean for a monitor that they cover.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Cover {
    /// The windows that cover it, at least one.
    pub windows: Vec<CoveringWindow>,
    /// When no window covers it any more; `None` until a window is ended by hand.
    pub until: Option<Millis>,
    /// It is not checked.
    pub pauses: bool,
    /// Its heartbeats do not count.
    pub excluded: bool,
    /// Nobody is notified of its outages. For alerts, this lasts until the grace of the windows
    /// has passed.
    pub suppresses: bool,
}

/// A window that covers a monitor.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CoveringWindow {
    pub id: MaintenanceId,
    pub name: String,
}

impl Window {
    /// The occurrence at a time: a scheduled one that was not ended, or one that was
    /// extended.
    pub fn at(&self, now: Millis) -> Option<Span> {
        if !self.isactive {
            return None;
        }
        let skipped = self.skipped_until.filter(|until| now < *until);
        let scheduled = self.schedule.at(now).filter(|_| skipped.is_none());
        let scheduled = scheduled.map(|span| Span {
            from: self.skipped_until.map_or(span.from, |until| span.from.max(until)),
            ..span
        });
        let running = self.running.filter(|span| span.contains(now));
        match (scheduled, running) {
            (Some(scheduled), Some(running)) => Some(Span {
                from: scheduled.from.min(running.from),
                to: scheduled.to.max(running.to),
            }),
            (scheduled, running) => scheduled.or(running),
        }
    }

    /// When the last occurrence that began ended: the maintenance clock records that a little later.
    fn last_end(&self, now: Millis) -> Option<Millis> {
        let running = self.running.map(|span| span.to);
        [running, self.ended].into_iter().flatten().filter(|end| *end <= now).max()
    }

    /// The occurrence at a time, or the next one.
    pub fn current_or_next(&self, now: Millis) -> Option<Span> {
        self.at(now).or_else(|| self.at(self.next_start(now)?))
    }

    /// The next occurrences, including the one at that time.
    pub fn upcoming(&self, now: Millis, count: usize) -> Vec<Span> {
        let mut found: Vec<Span> = Vec::new();
        let mut next = self.current_or_next(now);
        while let Some(span) = next.filter(|_| found.len() < count) {
            found.push(span);
            let end = span.end().filter(|end| self.at(*end).is_none());
            next = end.and_then(|end| self.at(self.next_start(end)?));
        }
        found
    }

    pub fn status(&self, now: Millis) -> WindowStatus {
        if !self.isactive {
            WindowStatus::Inactive
        } else if self.at(now).is_some() {
            WindowStatus::Running
        } else if self.next_start(now).is_some() {
            WindowStatus::Scheduled
        } else {
            WindowStatus::Ended
        }
    }

    /// The first start after a time.
    fn next_start(&self, after: Millis) -> Option<Millis> {
        if !self.isactive {
            return None;
        }
        match self.skipped_until.filter(|until| after < *until) {
            Some(until) if self.schedule.at(until).is_some() => Some(until),
            Some(until) => self.schedule.next_start(until),
            None => self.schedule.next_start(after),
        }
        .filter(|start| *start < FOREVER)
    }

    /// When it is announced next: an occurrence that has not started yet.
    fn next_announcement(&self, now: Millis) -> Option<Millis> {
        if self.announce.is_empty() {
            return None;
        }
        let before = |seconds: &u32| Duration::from_secs((*seconds).into());
        let times = self.announce.before.iter().filter_map(|seconds| {
            // The occurrence whose announcement is the first after now.
            let start = self.next_start(now.after(before(seconds)))?;
            Some(start.before(before(seconds)))
        });
        times.min()
    }

    /// The announcements that became due after `since` and are still useful: each
    /// occurrence that has not started, with the time of its announcement.
    fn announcements(&self, since: Millis, now: Millis) -> Vec<(Span, u32)> {
        let mut due: Vec<(Span, u32)> = Vec::new();
        if self.announce.is_empty() {
            return due;
        }
        for seconds in &self.announce.before {
            let before = Duration::from_secs((*seconds).into());
            let start = self.next_start(now.max(since.after(before)));
            let Some(start) = start.filter(|start| start.before(before) <= now) else { continue };
            let Some(span) = self.at(start) else { continue };
            // Of several that are late, only the last one is sent.
            due.retain(|(other, _)| other.from != span.from);
            due.push((span, *seconds));
        }
        due
    }

    /// What is announced now, if everything was announced until `announced`: the end of the
    /// occurrence that was recorded, the start of the one that runs now, and those that begin soon.
    /// A window that was changed since is announced again; what was sent is not sent twice.
    pub fn due_announcements(
        &self,
        announced: Option<Millis>,
        running: Option<Span>,
        now: Millis,
    ) -> Vec<DueAnnouncement> {
        if self.announce.is_empty() {
            return Vec::new();
        }
        let since = announced.unwrap_or(Millis(0));
        let mut due = Vec::new();
        let is_over = |span: &Span| running.is_none_or(|running| running.from != span.from);
        if let Some(span) = self.running.filter(|span| self.announce.end && is_over(span)) {
            due.push(DueAnnouncement { span, moment: WindowMoment::Ended });
        }
        if let Some(span) = running.filter(|span| self.announce.start && since < span.from) {
            due.push(DueAnnouncement { span, moment: WindowMoment::Started });
        }
        let soon = self.announcements(since, now);
        due.extend(soon.into_iter().map(|(span, seconds)| DueAnnouncement {
            span,
            moment: WindowMoment::Before(seconds),
        }));
        due
    }

    /// Whether it covers a monitor while it runs.
    pub fn covers(&self, monitor: MonitorId, tags: &Tags) -> bool {
        self.selector.selects(monitor, tags) || self.reached.binary_search(&monitor).is_ok()
    }

    /// Finds out what it covers through groups and dependencies.
    pub fn resolve(&mut self, reach: &mut Reach<'_>) {
        self.reached = reach.of(&self.selector, self.dependents);
    }

    /// For each monitor of the index, what `covers` says.
    pub fn covered(&self, index: &TagIndex) -> Vec<bool> {
        let mut covered = index.select(&self.selector);
        for place in self.reached.iter().filter_map(|id| index.place(*id)) {
            covered[place] = true;
        }
        covered
    }
}

/// When a window begins, ends or is announced next, so that it has to be looked at.
pub fn next_change(window: &Window, now: Millis) -> Option<Millis> {
    let change = match window.at(now) {
        Some(span) => span.end(),
        None => window.next_start(now),
    };
    [change, window.next_announcement(now)].into_iter().flatten().min()
}

/// What the windows of a team mean for a monitor: while several overlap, the cover lasts
/// until none of them covers the monitor, and pauses, excludes and suppresses if any of
/// them does.
pub fn cover(windows: &[Window], monitor: MonitorId, tags: &Tags, now: Millis) -> Option<Cover> {
    cover_by(windows.iter(), monitor, tags, now, |_| Duration::ZERO)
}

/// The same for alerts, which stay suppressed until the grace has passed. Windows that do not
/// suppress alerts neither begin nor extend it.
pub fn cover_of_alerts(
    windows: &[Window],
    monitor: MonitorId,
    tags: &Tags,
    now: Millis,
) -> Option<Cover> {
    let suppressing = windows.iter().filter(|window| window.alerts == Alerts::Suppress);
    cover_by(suppressing, monitor, tags, now, |window| window.grace)
}

/// A window that covers a monitor, and until when the monitor is covered by those that run.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ShownCover {
    pub window: CoveringWindow,
    /// `None` until a window is ended by hand.
    pub until: Option<Millis>,
}

/// The windows that run at a time, for a list of many monitors.
pub struct RunningWindows(Vec<(Window, Span)>);

impl RunningWindows {
    pub fn new(windows: Vec<Window>, now: Millis) -> Self {
        let running = windows.into_iter().filter_map(|window| {
            let span = window.at(now)?;
            Some((window, span))
        });
        Self(running.collect())
    }

    pub fn cover(&self, monitor: MonitorId, tags: &Tags) -> Option<ShownCover> {
        let covering = self.0.iter().filter(|(window, _)| window.covers(monitor, tags));
        covering.fold(None, |shown: Option<ShownCover>, (window, span)| {
            let end = span.end();
            Some(match shown {
                None => ShownCover {
                    window: CoveringWindow { id: window.id, name: window.name.clone() },
                    until: end,
                },
                Some(shown) => {
                    let until = shown.until.zip(end).map(|(one, two)| one.max(two));
                    ShownCover { until, ..shown }
                }
            })
        })
    }
}

fn cover_by<'a>(
    windows: impl Iterator<Item = &'a Window>,
    monitor: MonitorId,
    tags: &Tags,
    now: Millis,
    grace: impl Fn(&Window) -> Duration,
) -> Option<Cover> {
    let windows: Vec<&Window> =
        windows.filter(|window| window.isactive && window.covers(monitor, tags)).collect();
    // The end, with its grace, of the occurrence at a time, or of the one just before.
    let until = |window: &Window, at: Millis| {
        let grace = grace(window);
        let extended = |span: Span| Span { to: span.to.after(grace), ..span };
        let ended = || {
            let scheduled = window.at(at.before(grace));
            // One that was ended early or extended is not in the schedule.
            let recorded = window.last_end(at).map(|to| Span { from: to, to });
            let spans = [scheduled, recorded].into_iter().flatten().map(extended);
            spans.filter(|span| span.contains(at)).max_by_key(|span| span.to)
        };
        window.at(at).map(extended).or_else(|| ended().filter(|_| !grace.is_zero()))
    };
    let mut cover: Option<Cover> = None;
    let mut end = now;
    for window in &windows {
        let Some(span) = until(window, now) else { continue };
        let is_running = window.at(now).is_some();
        let cover = cover.get_or_insert(Cover {
            windows: Vec::new(),
            until: None,
            pauses: false,
            excluded: false,
            suppresses: false,
        });
        let covering = CoveringWindow { id: window.id, name: window.name.clone() };
        // Those that suppress come first: an alert names the window that suppresses it.
        if window.alerts == Alerts::Suppress && !cover.suppresses {
            cover.windows.insert(0, covering);
        } else {
            cover.windows.push(covering);
        }
        cover.pauses |= is_running && window.checks == Checks::Pause;
        cover.excluded |= is_running && window.counts == Counts::Excluded;
        cover.suppresses |= window.alerts == Alerts::Suppress;
        end = end.max(span.to);
    }
    let mut cover = cover?;
    // Others may begin before the last one ends.
    for _ in 0..MAX_SUCCESSORS {
        let later = windows.iter().filter_map(|window| until(window, end)).map(|span| span.to);
        match later.max().filter(|later| *later > end) {
            Some(later) if end != FOREVER => end = later,
            _ => break,
        }
    }
    cover.until = (end != FOREVER).then_some(end);
    Some(cover)
}

#[cfg(test)]
mod tests;
