//! The monitors of a team: saved, listed, deleted, reported to, and checked
//! when somebody asks. What is saved here reaches the watch over the bus.

use data_encoding::BASE64URL_NOPAD;
use serde_json::Value;
use std::time::Duration;
use wakeful_core::billing::Plan;
use wakeful_core::chain::Chain;
use wakeful_core::id::{MonitorId, NotifierId, TeamId};
use wakeful_core::monitor::{Interval, Monitor, Name, Spec, Tags};
use wakeful_core::region::{Quorum, Regions};
use wakeful_core::secret::Secret;
use wakeful_core::token::Digest;
use wakeful_core::verdict::{Heartbeat, Policy, Report, Seen, State, step};
use wakeful_outbound::check;
use wakeful_outbound::net::Deadline;
use wakeful_store::{Linked, MonitorFilter, Saved, ShownCertificate, StoreError, StoredMonitor};

use crate::bus::{Edit, Event, Subscription};
use crate::caller::Caller;
use crate::cluster::Wish;
use crate::history::keeper;
use crate::probe;
use crate::watch::{Arrival, Begun, Looked, guarded};
use crate::{Engine, Error, Result, random};

/// Heartbeats of a deleted monitor that go at once; the janitor has the rest.
const SWEPT_AT_ONCE: u32 = 20;

/// How often a change is laid over what is stored before its caller is told that
/// others are in the way: of those who change at once, one gets through each time.
pub(crate) const ROUNDS: usize = 20;

/// How long a caller waits for a verdict to be on record.
const RECORDED_WITHIN: Duration = Duration::from_secs(5);

/// What people set of a monitor, complete and valid.
#[derive(Clone, Debug)]
pub struct Draft {
    pub name: Name,
    pub spec: Spec,
    pub isactive: bool,
    pub heartbeat_interval: Interval,
    pub timeout: Option<Duration>,
    pub retries: u16,
    pub retry_interval: Option<Duration>,
    pub resend_interval: Option<Duration>,
    pub upside_down_mode: bool,
    pub tags: Tags,
    pub notifiers: Vec<NotifierId>,
    pub regions: Regions,
    pub quorum: Quorum,
}

/// A monitor as its team sees it.
#[derive(Clone, Debug)]
pub struct MonitorView {
    pub monitor: Monitor,
    pub state: State,
    pub notifiers: Vec<Linked>,
}

impl From<(StoredMonitor, Vec<Linked>)> for MonitorView {
    fn from((stored, notifiers): (StoredMonitor, Vec<Linked>)) -> Self {
        Self { monitor: stored.monitor, state: stored.state, notifiers }
    }
}

/// A monitor that is reported to by its push address, active or not.
#[derive(Clone, Copy, Debug)]
pub struct PushTarget {
    team: TeamId,
    id: MonitorId,
}

/// A part of a list. `next` is what to ask with for the part behind it.
#[derive(Clone, Debug)]
pub struct Page<T, C> {
    pub items: Vec<T>,
    pub next: Option<C>,
}

impl<T, C> Page<T, C> {
    /// A page of items that were asked for with one more than `limit`.
    pub fn of(mut items: Vec<T>, limit: Option<u32>, cursor: impl Fn(&T) -> C) -> Self {
        let most = limit.map_or(usize::MAX, |limit| usize::try_from(limit).unwrap_or(usize::MAX));
        let more = items.len() > most;
        items.truncate(most);
        let next = items.last().filter(|_| more).map(cursor);
        Self { items, next }
    }
}

/// One more than is shown tells whether there is a next page.
pub(crate) fn and_one(limit: Option<u32>) -> Option<u32> {
    limit.map(|limit| limit.saturating_add(1))
}

impl Engine {
    /// Makes a monitor, or changes the one that is named. `merge` lays what is
    /// wanted over what is stored, and does so anew when that changed meanwhile:
    /// of two changes at once neither is lost.
    pub async fn save_monitor<E: From<Error>>(
        &self,
        caller: &Caller,
        id: Option<MonitorId>,
        mut merge: impl FnMut(Option<&Monitor>) -> std::result::Result<Draft, E>,
    ) -> std::result::Result<MonitorView, E> {
        let Some(id) = id else {
            let draft = merge(None)?;
            return Ok(self.make_monitor(caller, draft).await?);
        };
        for _ in 0..ROUNDS {
            let before = self.stored_monitor(caller, id).await?;
            let draft = merge(Some(&before.monitor))?;
            if let Some(view) = self.change_monitor(caller, before, draft).await? {
                return Ok(view);
            }
        }
        Err(Error::Overtaken.into())
    }

    async fn make_monitor(&self, caller: &Caller, draft: Draft) -> Result<MonitorView> {
        let plan = self.limiting_plan(caller.team).await?;
        let most = plan.as_ref().and_then(|plan| plan.limits.monitors);
        let id = MonitorId::new(self.now(), random::bytes());
        let monitor = self.drafted(caller.team, id, draft, None);
        if let Some(plan) = &plan {
            self.allow_interval(plan, &monitor, None)?;
        }
        let added = self.store().team(caller.team).add_monitor_within(&monitor, most).await;
        let saved = added.map_err(|error| match error {
            StoreError::Gone => Error::NotAuthenticated,
            error => error.into(),
        })?;
        match self.tell_saved(caller, id, saved, plan.as_ref())? {
            true => self.monitor(caller, id).await,
            false => Err(Error::Overtaken),
        }
    }

    /// Nothing when the monitor was changed since it was read. What is saved as it
    /// is stored is not written: nobody hears of it, and no check comes early.
    async fn change_monitor(
        &self,
        caller: &Caller,
        before: StoredMonitor,
        draft: Draft,
    ) -> Result<Option<MonitorView>> {
        let StoredMonitor { monitor: before, revision, .. } = before;
        let id = before.id;
        let monitor = self.drafted(caller.team, id, draft, Some(&before));
        if monitor == (Monitor { modified: monitor.modified, ..before.clone() }) {
            return self.monitor(caller, id).await.map(Some);
        }
        let plan = self.limiting_plan(caller.team).await?;
        if let Some(plan) = &plan {
            self.allow_interval(plan, &monitor, Some(&before))?;
        }
        let most = plan.as_ref().and_then(|plan| plan.limits.monitors);
        if monitor.heartbeat_interval != before.heartbeat_interval
            && let Err(error) = keeper::settle(self, id).await
        {
            tracing::info!(monitor.id = %id, error = %Chain(&error), "the last hours of monitor {id} count for its new interval");
        }
        let team = self.store().team(caller.team);
        let saved = team.change_monitor_within(&monitor, revision, most).await?;
        match self.tell_saved(caller, id, saved, plan.as_ref())? {
            true => self.monitor(caller, id).await.map(Some),
            false => Ok(None),
        }
    }

    /// Tells the watch and the team of what was saved; false when it was not,
    /// because somebody was faster.
    fn tell_saved(
        &self,
        caller: &Caller,
        id: MonitorId,
        saved: Saved,
        plan: Option<&Plan>,
    ) -> Result<bool> {
        match saved {
            Saved::Done => {}
            Saved::Overtaken => return Ok(false),
            Saved::NoMonitor => return Err(Error::NotFound("monitor")),
            Saved::Full => return Err(self.too_many_monitors(plan)),
            Saved::NoNotifiers(ids) => return Err(Error::UnknownNotifiers(ids)),
        }
        self.bus().edited(Edit { team: caller.team, monitor: id });
        self.bus().tell(caller.team, || Event::Saved(id));
        Ok(true)
    }

    async fn stored_monitor(&self, caller: &Caller, id: MonitorId) -> Result<StoredMonitor> {
        let found = self.store().team(caller.team).monitor(id).await?;
        found.map(|(stored, _)| stored).ok_or(Error::NotFound("monitor"))
    }

    fn drafted(
        &self,
        team: TeamId,
        id: MonitorId,
        draft: Draft,
        before: Option<&Monitor>,
    ) -> Monitor {
        let now = self.now();
        let (created, push_token) = match before {
            Some(before) => (before.created, before.push_token.clone()),
            None => (now, None),
        };
        let listens = matches!(draft.spec, Spec::Api(_));
        Monitor {
            id,
            team,
            name: draft.name,
            isactive: draft.isactive,
            heartbeat_interval: draft.heartbeat_interval,
            timeout: draft.timeout,
            retries: draft.retries,
            retry_interval: draft.retry_interval,
            resend_interval: draft.resend_interval,
            upside_down_mode: draft.upside_down_mode,
            tags: draft.tags,
            notifiers: distinct(draft.notifiers),
            regions: draft.regions,
            quorum: draft.quorum,
            push_token: push_token.or_else(|| listens.then(new_push_token)),
            spec: draft.spec,
            created,
            modified: now,
        }
    }

    /// Gives a monitor a new push token and returns it. Reports by the old one are
    /// rejected from then on.
    pub async fn rotate_push_token(&self, caller: &Caller, id: MonitorId) -> Result<Secret> {
        for _ in 0..ROUNDS {
            let StoredMonitor { mut monitor, revision, .. } =
                self.stored_monitor(caller, id).await?;
            if monitor.push_token.is_none() {
                return Err(Error::NoPushUrl);
            }
            let token = new_push_token();
            monitor.push_token = Some(token.clone());
            monitor.modified = self.now();
            match self.store().team(caller.team).change_monitor(&monitor, revision).await? {
                Saved::Done => {
                    self.bus().tell(caller.team, || Event::Saved(id));
                    return Ok(token);
                }
                Saved::NoMonitor => return Err(Error::NotFound("monitor")),
                // Somebody changed the monitor, or deleted one of its notifiers.
                Saved::Overtaken | Saved::NoNotifiers(_) | Saved::Full => {}
            }
        }
        Err(Error::Overtaken)
    }

    pub async fn monitor(&self, caller: &Caller, id: MonitorId) -> Result<MonitorView> {
        let found = self.store().team(caller.team).monitor(id).await?;
        found.map(MonitorView::from).ok_or(Error::NotFound("monitor"))
    }

    /// The certificate that the target of a monitor showed last; nothing when
    /// it showed none, or when the team has no such monitor.
    pub async fn certificate(
        &self,
        caller: &Caller,
        id: MonitorId,
    ) -> Result<Option<ShownCertificate>> {
        Ok(self.store().team(caller.team).certificate(id).await?)
    }

    /// The team's monitors that match, in the order they were made.
    pub async fn monitors(
        &self,
        caller: &Caller,
        filter: &MonitorFilter,
    ) -> Result<Page<MonitorView, MonitorId>> {
        let asked = MonitorFilter { limit: and_one(filter.limit), ..filter.clone() };
        let found = self.store().team(caller.team).monitors(&asked).await?;
        let views = found.into_iter().map(MonitorView::from).collect();
        Ok(Page::of(views, filter.limit, |view: &MonitorView| view.monitor.id))
    }

    /// Deletes a monitor and all that is known of it.
    pub async fn delete_monitor(&self, caller: &Caller, id: MonitorId) -> Result<()> {
        let team = self.store().team(caller.team);
        team.empty_monitor(id).await?;
        if !team.delete_monitor(id).await? {
            return Err(Error::NotFound("monitor"));
        }
        self.bus().edited(Edit { team: caller.team, monitor: id });
        self.bus().tell(caller.team, || Event::Deleted(id));
        // The monitor is gone either way; what is left of its heartbeats is
        // out of reach, and the janitor comes by.
        if let Err(error) = self.store().sweep_graves(SWEPT_AT_ONCE).await {
            tracing::info!(monitor.id = %id, error = %Chain(&error), "heartbeats of monitor {id} wait to be swept");
        }
        Ok(())
    }

    /// What the target of a monitor says of itself: one heartbeat. Nothing when
    /// the report is kept and the node that watches the monitor has not come to
    /// it yet.
    pub async fn notify(
        &self,
        caller: &Caller,
        id: MonitorId,
        report: Report,
        payload: Option<Value>,
    ) -> Result<Option<Heartbeat>> {
        self.active(caller.team, id).await?;
        self.take_report(id, report, payload).await
    }

    /// The monitor that has this token in its push address.
    pub async fn push_target(&self, token: &str) -> Result<Option<PushTarget>> {
        let found = self.store().monitor_by_push(Digest::of(token)).await?;
        Ok(found.map(|(team, id)| PushTarget { team, id }))
    }

    /// As notify, by the secret address of a monitor instead of a caller.
    pub async fn push(&self, target: PushTarget, report: Report) -> Result<Option<Heartbeat>> {
        let PushTarget { team, id } = target;
        match self.active(team, id).await {
            // Who holds only the address learns no more than that it does not work.
            Err(Error::Inactive) => Err(Error::NotFound("monitor")),
            Err(error) => Err(error),
            Ok(_) => self.take_report(id, report, None).await,
        }
    }

    async fn take_report(
        &self,
        id: MonitorId,
        report: Report,
        payload: Option<Value>,
    ) -> Result<Option<Heartbeat>> {
        if !self.cluster().holds(id) {
            return self.ask_holder(id, &Wish::Report { report, payload }, RECORDED_WITHIN).await;
        }
        self.judge(id, None, Seen::Report(report), payload).await.map(Some)
    }

    /// Checks a monitor at once; it counts as any other check.
    pub async fn check_now(&self, caller: &Caller, id: MonitorId) -> Result<Heartbeat> {
        let monitor = self.active(caller.team, id).await?;
        if matches!(monitor.spec, Spec::Api(_)) {
            return Err(Error::Passive);
        }
        if !self.cluster().holds(id) {
            let patience = monitor.timeout() + 2 * RECORDED_WITHIN;
            return self.ask_holder(id, &Wish::Check, patience).await?.ok_or(Error::NotRecorded);
        }
        self.check_known(caller.team, id).await
    }

    /// Checks a monitor that this node watches, for another node.
    pub(crate) async fn check_held(&self, id: MonitorId) -> Result<Heartbeat> {
        let found = self.store().monitors_by_id(&[id]).await?.into_iter().next();
        let stored = found.ok_or(Error::NotFound("monitor"))?;
        if !stored.monitor.isactive {
            return Err(Error::Inactive);
        }
        let team = stored.monitor.team;
        self.watch().configure(stored, Arrival::Resumed);
        self.check_known(team, id).await
    }

    async fn check_known(&self, team: TeamId, id: MonitorId) -> Result<Heartbeat> {
        let slot = self.watch().requested_checks().slot(team).await?;
        // What is looked at and what it is judged as come from one hand.
        let Begun { target, spec, timeout, interval, place, upside_down } =
            self.watch().aim(id).ok_or(Error::NotFound("monitor"))?;
        if matches!(*spec, Spec::Api(_)) {
            return Err(Error::Passive);
        }
        let times = (timeout, interval);
        let seen = probe::look(self, id, &spec, times, place.as_deref(), upside_down).await;
        drop(slot);
        self.judge(id, Some(target), seen, None).await
    }

    /// Looks once at what a monitor would watch, and keeps nothing.
    pub async fn try_check(
        &self,
        caller: &Caller,
        spec: &Spec,
        timeout: Duration,
    ) -> Result<Heartbeat> {
        if matches!(spec, Spec::Api(_)) {
            return Err(Error::Passive);
        }
        let slot = self.watch().requested_checks().slot(caller.team).await?;
        let looked: Looked =
            guarded(check::look(self.net(), spec, Deadline::within(timeout))).await;
        drop(slot);
        let seen = match looked {
            Ok(seen) => Seen::Observation(seen),
            Err(fault) => Seen::Fault(fault),
        };
        let policy = Policy {
            retries: 0,
            retry_interval: Duration::ZERO,
            upside_down: false,
            certificate_warnings: false,
        };
        Ok(step(&State::default(), seen, &policy, self.now()).heartbeat)
    }

    /// What happens to the caller's monitors from now on.
    pub fn subscribe(&self, caller: &Caller) -> Subscription {
        self.bus().subscribe(caller.team)
    }

    /// An active monitor of the team, which the watch then knows as it is now.
    async fn active(&self, team: TeamId, id: MonitorId) -> Result<Monitor> {
        let found = self.store().team(team).monitor(id).await?;
        let (stored, _) = found.ok_or(Error::NotFound("monitor"))?;
        if !stored.monitor.isactive {
            return Err(Error::Inactive);
        }
        let monitor = stored.monitor.clone();
        self.watch().configure(stored, Arrival::Resumed);
        Ok(monitor)
    }

    /// One verdict on a monitor, on record when this returns.
    async fn judge(
        &self,
        id: MonitorId,
        target: Option<u32>,
        seen: Seen,
        payload: Option<Value>,
    ) -> Result<Heartbeat> {
        // Nothing: it was deleted, stopped or pointed elsewhere meanwhile.
        let judged = self.watch().judge(id, target, seen, payload, self.now());
        let (heartbeat, recorded) = judged.ok_or(Error::NotFound("monitor"))?;
        match tokio::time::timeout(RECORDED_WITHIN, recorded).await {
            Ok(Ok(())) => Ok(heartbeat),
            Ok(Err(_)) | Err(_) => Err(Error::NotRecorded),
        }
    }
}

fn distinct(notifiers: Vec<NotifierId>) -> Vec<NotifierId> {
    let mut kept: Vec<NotifierId> = Vec::with_capacity(notifiers.len());
    for id in notifiers {
        if !kept.contains(&id) {
            kept.push(id);
        }
    }
    kept
}

/// 192 random bits in 32 characters, the length that senders know.
fn new_push_token() -> Secret {
    Secret::new(BASE64URL_NOPAD.encode(&random::bytes::<24>()))
}
