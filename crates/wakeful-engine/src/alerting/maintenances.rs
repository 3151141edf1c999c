//! Operations on the maintenance windows of a team. Every change is applied before the
//! call returns, in the same way as the maintenance clock does.

use std::collections::HashSet;
use std::time::Duration;
use wakeful_core::access::permission;
use wakeful_core::audit::Action;
use wakeful_core::calendar::{Rule, Schedule, Span, Start};
use wakeful_core::group::Reach;
use wakeful_core::history::DAY;
use wakeful_core::id::{MaintenanceId, MonitorId, NotifierId};
use wakeful_core::maintenance::{
    Alerts, Announce, Checks, Counts, MAX_EXTENSION, MAX_WINDOWS, Window, WindowStatus, next_change,
};
use wakeful_core::selector::{Selector, TagIndex};
use wakeful_core::time::Millis;
use wakeful_store::{SaveWindowOutcome, StoredWindow};

use super::schedules::blocking;
use crate::caller::{Authorized, Caller};
use crate::{Engine, Error, MAX_SAVE_ATTEMPTS, Result, random};

/// How many occurrences a window shows.
const SHOWN_OCCURRENCES: usize = 3;
/// How many occurrences a trial shows, and how many monitors.
const TRIED_OCCURRENCES: usize = 20;
const TRIED_MONITORS: usize = 1_000;
/// The longest window in the past: its heartbeats have to be counted again.
const MAX_PAST_LENGTH: Duration = Duration::from_secs(31 * 86_400);

/// The settings of a window, complete and valid.
#[derive(Clone, Debug)]
pub struct WindowDraft {
    pub name: String,
    pub description: String,
    pub isactive: bool,
    pub selector: Selector,
    pub schedule: Schedule,
    pub checks: Checks,
    pub counts: Counts,
    pub alerts: Alerts,
    pub dependents: bool,
    pub grace: Duration,
    pub announce: Announce,
}

/// A window as it is shown.
#[derive(Clone, Debug)]
pub struct WindowView {
    pub window: Window,
    pub status: WindowStatus,
    /// The occurrence that is running.
    pub current: Option<Span>,
    /// Those after it.
    pub next: Vec<Span>,
    /// How many monitors that the caller can see are covered while it runs.
    pub monitors_covered: usize,
}

/// Filters the windows of a team; all conditions that are set must match.
#[derive(Clone, Debug, Default)]
pub struct WindowQuery {
    pub status: Option<WindowStatus>,
    /// Windows that cover this monitor while they run.
    pub monitor: Option<MonitorId>,
    /// Windows that run at a time in this range.
    pub from: Option<Millis>,
    pub to: Option<Millis>,
}

/// What a window would do.
#[derive(Clone, Debug)]
pub struct TriedWindow {
    pub occurrences: Vec<Span>,
    /// The first of the monitors it would cover.
    pub monitors: Vec<(MonitorId, String)>,
    pub monitors_covered: usize,
}

impl Engine {
    /// The team's windows in the order of creation: those that cover a monitor that the
    /// caller can see.
    pub async fn maintenances(
        &self,
        caller: &Authorized<permission::View>,
        query: &WindowQuery,
    ) -> Result<Vec<WindowView>> {
        let _turn = self.list_turn(caller).await?;
        let now = self.now();
        let team = self.store().team(caller.team_access());
        let windows = team.maintenances().await?;
        if windows.is_empty() {
            return Ok(Vec::new());
        }
        let graph = self.store().team_graph(caller.team()).await?;
        let monitors = team.named_monitors().await?;
        let is_filtered = team.is_filtered();
        let query = query.clone();
        let views = blocking(move || {
            let of_team = graph.as_ref().map(|graph| (graph, graph.index()));
            let mut reach = of_team.as_ref().map(|(graph, index)| Reach::new(graph, index));
            let index = TagIndex::new(monitors.iter().map(|one| (one.id, &one.tags)));
            let shown = windows.into_iter().map(|stored| stored.window).filter_map(|mut window| {
                if let Some(reach) = &mut reach {
                    window.resolve(reach);
                }
                let covered = window.covered(&index);
                if let Some(wanted) = query.monitor
                    && !index.place(wanted).is_some_and(|place| covered[place])
                {
                    return None;
                }
                let begins = query.from.unwrap_or(Millis(i64::MIN));
                let in_range = (query.from, query.to) == (None, None)
                    || window
                        .current_or_next(begins)
                        .is_some_and(|span| query.to.is_none_or(|to| span.from < to));
                let view = view(window, &covered, &index, is_filtered, now)?;
                let is_status = query.status.is_none_or(|status| view.status == status);
                (in_range && is_status).then_some(view)
            });
            shown.collect()
        });
        Ok(views.await)
    }

    /// A window, and its next occurrences.
    pub async fn maintenance(
        &self,
        caller: &Authorized<permission::View>,
        id: MaintenanceId,
        occurrences: usize,
    ) -> Result<(WindowView, Vec<Span>)> {
        let view = self.maintenance_view(caller, id).await?;
        let occurrences = view.window.upcoming(self.now(), occurrences);
        Ok((view, occurrences))
    }

    async fn maintenance_view(&self, caller: &Caller, id: MaintenanceId) -> Result<WindowView> {
        let team = self.store().team(caller.team_access());
        let unknown = || Error::NotFound("maintenance window");
        let stored = team.maintenance(id).await?.ok_or_else(unknown)?;
        let windows = self.store().resolve_windows(caller.team(), vec![stored.window]).await?;
        let monitors = team.named_monitors().await?;
        let (is_filtered, now) = (team.is_filtered(), self.now());
        let shown = blocking(move || {
            let index = TagIndex::new(monitors.iter().map(|one| (one.id, &one.tags)));
            let window = windows.into_iter().next()?;
            let covered = window.covered(&index);
            view(window, &covered, &index, is_filtered, now)
        });
        shown.await.ok_or_else(unknown)
    }

    /// Creates a window, or changes the one with this id. `merge` applies the request to the
    /// stored window, and is called again if that changed meanwhile.
    pub async fn save_maintenance<E: From<Error>>(
        &self,
        caller: &Authorized<permission::Respond>,
        id: Option<MaintenanceId>,
        mut merge: impl FnMut(Option<&Window>) -> std::result::Result<WindowDraft, E>,
    ) -> std::result::Result<WindowView, E> {
        for _ in 0..MAX_SAVE_ATTEMPTS {
            let before = match id {
                Some(id) => Some(self.changeable_window(caller, id).await?),
                None => None,
            };
            let draft = merge(before.as_ref().map(|stored| &stored.window))?;
            self.validate_window(caller, &draft, before.as_ref()).await?;
            let window = self.apply_window_draft(caller, draft, before.as_ref());
            if before.as_ref().is_some_and(|before| is_same(&before.window, &window)) {
                return Ok(self.maintenance_view(caller, window.id).await?);
            }
            if self
                .store_window(caller, before.as_ref(), &window, Action::MaintenanceUpdate)
                .await?
            {
                return Ok(self.maintenance_view(caller, window.id).await?);
            }
        }
        Err(Error::Conflict.into())
    }

    /// What a window would do; nothing is stored.
    pub async fn try_maintenance<E: From<Error>>(
        &self,
        caller: &Authorized<permission::Respond>,
        id: Option<MaintenanceId>,
        merge: impl FnOnce(Option<&Window>) -> std::result::Result<WindowDraft, E>,
    ) -> std::result::Result<TriedWindow, E> {
        let before = match id {
            Some(id) => Some(self.changeable_window(caller, id).await?),
            None => None,
        };
        let draft = merge(before.as_ref().map(|stored| &stored.window))?;
        self.validate_window(caller, &draft, before.as_ref()).await?;
        let now = self.now();
        let occurrences = match past_span(&draft.schedule, now) {
            Some(span) => vec![span],
            None => draft.schedule.upcoming(now, TRIED_OCCURRENCES),
        };
        let team = self.store().team(caller.team_access());
        let monitors = team.named_monitors().await.map_err(Error::from)?;
        let reached = self.reached(caller, &draft).await?;
        let covered = blocking(move || {
            let covered = monitors.into_iter().filter(|one| {
                draft.selector.selects(one.id, &one.tags) || reached.binary_search(&one.id).is_ok()
            });
            covered.map(|one| (one.id, one.name)).collect()
        });
        let mut covered: Vec<(MonitorId, String)> = covered.await;
        let monitors_covered = covered.len();
        covered.truncate(TRIED_MONITORS);
        Ok(TriedWindow { occurrences, monitors: covered, monitors_covered })
    }

    /// Ends the running occurrence; the next one happens as planned.
    pub async fn end_maintenance(
        &self,
        caller: &Authorized<permission::Respond>,
        id: MaintenanceId,
    ) -> Result<WindowView> {
        self.change_running(caller, id, Action::MaintenanceEnd, |window, span, now| {
            // Not until the end of an extension: the next one may begin before that.
            let planned = window.schedule.at(now).map(|planned| planned.to);
            Ok(Window {
                running: Some(Span { from: span.from.min(now), to: now }),
                skipped_until: planned.or(window.skipped_until),
                ..window.clone()
            })
        })
        .await
    }

    /// Extends the running occurrence.
    pub async fn extend_maintenance(
        &self,
        caller: &Authorized<permission::Respond>,
        id: MaintenanceId,
        until: Start,
    ) -> Result<WindowView> {
        self.change_running(caller, id, Action::MaintenanceExtend, |window, span, now| {
            let until = until.instant(window.schedule.zone());
            let refused = |why: &str| Error::Refused { field: "until", why: why.to_owned() };
            match span.end() {
                None => Err(refused("cannot be set: the window has no end")),
                Some(end) if until <= end => Err(refused("must be later than the current end")),
                Some(_) if until > now.after(MAX_EXTENSION) => {
                    Err(refused("must be at most 366 days from now"))
                }
                Some(_) => Ok(Window {
                    running: Some(Span { from: span.from, to: until }),
                    ..window.clone()
                }),
            }
        })
        .await
    }

    pub async fn delete_maintenance(
        &self,
        caller: &Authorized<permission::Respond>,
        id: MaintenanceId,
    ) -> Result<()> {
        let stored = self.changeable_window(caller, id).await?;
        let team = self.store().team(caller.team_access());
        if !team.delete_maintenance(&stored.window, self.now(), &self.audit(caller)).await? {
            return Err(Error::NotFound("maintenance window"));
        }
        self.apply_maintenance(caller.team()).await
    }

    async fn change_running(
        &self,
        caller: &Authorized<permission::Respond>,
        id: MaintenanceId,
        action: Action,
        change: impl Fn(&Window, Span, Millis) -> Result<Window>,
    ) -> Result<WindowView> {
        for _ in 0..MAX_SAVE_ATTEMPTS {
            let before = self.changeable_window(caller, id).await?;
            let now = self.now();
            let span = before.window.at(now).ok_or(Error::NotRunning)?;
            let window = change(&before.window, span, now)?;
            let window = Window { due: Some(now), modified: now, ..window };
            if self.store_window(caller, Some(&before), &window, action).await? {
                return self.maintenance_view(caller, id).await;
            }
        }
        Err(Error::Conflict)
    }

    /// A window that the caller may change. One that concerns monitors outside the filter of
    /// the caller can only be seen.
    async fn changeable_window(&self, caller: &Caller, id: MaintenanceId) -> Result<StoredWindow> {
        self.maintenance_view(caller, id).await?;
        let team = self.store().team(caller.team_access());
        let stored = team.maintenance(id).await?.ok_or(Error::NotFound("maintenance window"))?;
        self.require_visible(caller, &stored.window.selector).await?;
        Ok(stored)
    }

    /// A caller who is limited to some monitors names them.
    async fn require_visible(&self, caller: &Caller, selector: &Selector) -> Result<()> {
        if caller.team_access().filter().is_none() {
            return Ok(());
        }
        if !selector.only_names()
            || !self.monitors_unknown_to(caller, selector.monitors()).await?.is_empty()
        {
            return Err(Error::WindowOutsideFilter);
        }
        Ok(())
    }

    /// What a window would cover through groups and dependencies, in order.
    async fn reached(&self, caller: &Caller, draft: &WindowDraft) -> Result<Vec<MonitorId>> {
        let Some(graph) = self.store().team_graph(caller.team()).await? else {
            return Ok(Vec::new());
        };
        let (selector, dependents) = (draft.selector.clone(), draft.dependents);
        let reached =
            blocking(move || Reach::new(&graph, &graph.index()).of(&selector, dependents));
        Ok(reached.await)
    }

    async fn monitors_unknown_to(
        &self,
        caller: &Caller,
        wanted: &[MonitorId],
    ) -> Result<Vec<MonitorId>> {
        if wanted.is_empty() {
            return Ok(Vec::new());
        }
        let team = self.store().team(caller.team_access());
        let known: HashSet<MonitorId> = team.monitor_ids().await?.into_iter().collect();
        Ok(wanted.iter().copied().filter(|id| !known.contains(id)).collect())
    }

    async fn validate_window(
        &self,
        caller: &Caller,
        draft: &WindowDraft,
        before: Option<&StoredWindow>,
    ) -> Result<()> {
        let refused = |field, why: String| Error::Refused { field, why };
        let known = before.map(|stored| stored.window.selector.monitors()).unwrap_or_default();
        let new: Vec<MonitorId> =
            draft.selector.monitors().iter().copied().filter(|id| !known.contains(id)).collect();
        // Those that were deleted since they were saved may stay.
        let unknown = self.monitors_unknown_to(caller, &new).await?;
        if let Some(id) = unknown.first() {
            return Err(refused("monitors", format!("names an unknown monitor: {id}")));
        }
        if !draft.selector.groups().is_empty() {
            let groups = self.store().groups(caller.team()).await?;
            let known = before.map(|stored| stored.window.selector.groups()).unwrap_or_default();
            let mut named = draft.selector.groups().iter().filter(|id| !known.contains(id));
            if let Some(id) = named.find(|id| !groups.iter().any(|group| group.id == **id)) {
                let why = format!("names a monitor that is not a group: {id}");
                return Err(refused("groups", why));
            }
        }
        self.require_visible(caller, &draft.selector).await?;
        if caller.team_access().filter().is_some() {
            let reached = self.reached(caller, draft).await?;
            if !self.monitors_unknown_to(caller, &reached).await?.is_empty() {
                return Err(Error::WindowOutsideFilter);
            }
        }
        if before.is_some_and(|stored| stored.window.schedule == draft.schedule) {
            return Ok(());
        }
        let now = self.now();
        draft
            .schedule
            .must_happen(now)
            .map_err(|invalid| refused(invalid.field, invalid.reason.0))?;
        let Some(span) = past_span(&draft.schedule, now) else { return Ok(()) };
        let raw = DAY * self.settings().history.raw_days;
        if draft.counts != Counts::Excluded {
            return Err(refused("counts", "must be excluded for a window in the past".into()));
        }
        if span.to.since(span.from) > MAX_PAST_LENGTH {
            return Err(refused("duration", "must be at most 31 days in the past".into()));
        }
        if span.from < now.before(raw) {
            let days = self.settings().history.raw_days;
            return Err(refused("starts", format!("must be at most {days} days ago")));
        }
        Ok(())
    }

    fn apply_window_draft(
        &self,
        caller: &Caller,
        draft: WindowDraft,
        before: Option<&StoredWindow>,
    ) -> Window {
        let now = self.now();
        let old = before.map(|stored| &stored.window);
        let WindowDraft { name, description, isactive, selector, schedule, .. } = draft;
        let is_past = past_span(&schedule, now).is_some();
        let is_same = old.is_some_and(|old| old.schedule == schedule);
        let running = old.and_then(|old| old.running);
        let mut window = Window {
            id: old.map_or_else(|| MaintenanceId::new(now, random::bytes()), |old| old.id),
            team: caller.team(),
            name,
            description,
            isactive,
            selector,
            reached: Vec::new(),
            schedule,
            // Nothing of this has an effect in the past.
            checks: if is_past { Checks::Run } else { draft.checks },
            counts: draft.counts,
            alerts: if is_past { Alerts::Suppress } else { draft.alerts },
            announce: if is_past { Announce::default() } else { draft.announce },
            dependents: draft.dependents,
            grace: draft.grace,
            running: if is_same {
                running
            } else {
                running.map(|span| Span { from: span.from, to: now.min(span.to) })
            },
            ended: old.and_then(|old| old.ended),
            skipped_until: old.filter(|_| is_same).and_then(|old| old.skipped_until),
            due: Some(now),
            created: old.map_or(now, |old| old.created),
            modified: now,
        };
        // A new window that should be running already counts from its start, like one that
        // was missed.
        if (old.is_none() || !is_same) && is_past {
            window.due = Some(window.schedule.starts().instant(window.schedule.zone()));
        } else if old.is_none() {
            window.due = match window.at(now) {
                Some(span) => Some(span.from.max(now.before(MAX_PAST_LENGTH))),
                // It may be about to begin.
                None if !window.announce.is_empty() => Some(now),
                None => next_change(&window, now),
            };
        }
        window
    }

    /// Writes a window and applies it; false if it was changed since it was read.
    async fn store_window(
        &self,
        caller: &Caller,
        before: Option<&StoredWindow>,
        window: &Window,
        action: Action,
    ) -> Result<bool> {
        let team = self.store().team(caller.team_access());
        let by = self.audit(caller);
        let outcome = match before {
            Some(before) => team.change_maintenance(before, window, action, &by).await?,
            None => team.add_maintenance(window, &by, caller.user()).await?,
        };
        match outcome {
            SaveWindowOutcome::Done => {
                self.apply_maintenance(caller.team()).await?;
                Ok(true)
            }
            SaveWindowOutcome::Conflict => Ok(false),
            SaveWindowOutcome::LimitReached => Err(Error::FixedLimit {
                max: MAX_WINDOWS as u32,
                of: "maintenance windows per team",
            }),
            SaveWindowOutcome::UnknownNotifiers(unknown) => Err(unknown_notifiers(&unknown)),
        }
    }
}

/// The team has no such notifiers to announce to. Personal ones are not the team's.
pub(super) fn unknown_notifiers(unknown: &[NotifierId]) -> Error {
    let names: Vec<String> = unknown.iter().map(ToString::to_string).collect();
    let why = format!("names unknown notifiers: {}", names.join(", "));
    Error::Refused { field: "announce.notifiers", why }
}

/// Whether a save changes nothing.
fn is_same(before: &Window, after: &Window) -> bool {
    let Window { due, modified, .. } = after;
    Window { due: *due, modified: *modified, ..before.clone() } == *after
}

/// The span of a schedule that lies entirely in the past.
fn past_span(schedule: &Schedule, now: Millis) -> Option<Span> {
    if *schedule.rule() != Rule::Once {
        return None;
    }
    let from = schedule.starts().instant(schedule.zone());
    let to = from.after(schedule.length()?);
    (to <= now).then_some(Span { from, to })
}

/// `None` if it covers no monitor that a limited caller can see.
fn view(
    mut window: Window,
    covered: &[bool],
    visible: &TagIndex,
    is_filtered: bool,
    now: Millis,
) -> Option<WindowView> {
    let monitors_covered = covered.iter().filter(|is_covered| **is_covered).count();
    if is_filtered {
        if monitors_covered == 0 {
            return None;
        }
        window.selector = window.selector.shown(|id| visible.place(id).is_some());
    }
    let current = window.at(now);
    let mut next = window.upcoming(now, SHOWN_OCCURRENCES + 1);
    next.retain(|span| !span.contains(now));
    next.truncate(SHOWN_OCCURRENCES);
    let status = window.status(now);
    Some(WindowView { window, status, current, next, monitors_covered })
}
