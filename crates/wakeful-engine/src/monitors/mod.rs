//! Operations on the monitors of a team: saving, listing, deleting, reports and on-demand
//! checks. Changes reach the scheduler over the bus.

mod bulk;
pub(crate) mod groups;
mod inbound;
mod live_events;
mod pings;

pub use bulk::BulkOutcome;
pub use live_events::LiveEvents;
pub use pings::{NewJob, PingRequest, PingTarget, random_uuid};
pub(crate) use pings::{add_ping_urls, new_ping_uuid};
pub use wakeful_outbound::net::client_auth::{read_authorities, read_client_certificate};

use data_encoding::BASE64URL_NOPAD;
use serde_json::Value;
use std::collections::{HashMap, HashSet};
use std::time::Duration;
use tokio::time::Instant;
use uuid::Uuid;
use wakeful_core::access::{MonitorFilter, Permission, TeamAccess, permission};
use wakeful_core::assert::{Assertion, Assertions, Fingerprint};
use wakeful_core::billing::Plan;
use wakeful_core::cluster::version::Version;
use wakeful_core::dependency::{Dependency, MAX_DEPTH};
use wakeful_core::evidence::{Evidence, EvidenceLevel};
use wakeful_core::flapping::FlapLimit;
use wakeful_core::group::{Counts, MAX_GROUPS, MAX_NESTING};
use wakeful_core::health::Degraded;
use wakeful_core::heartbeat::Heartbeat;
use wakeful_core::id::{MonitorId, NotifierId, PolicyId, TeamId};
use wakeful_core::maintenance::{RunningWindows, ShownCover};
use wakeful_core::monitors::spec::{ApiSpec, Echoes};
use wakeful_core::monitors::{Description, Interval, Monitor, Name, Spec, Tags};
use wakeful_core::notifications::event;
use wakeful_core::observation::{Fault, FaultKind};
use wakeful_core::push::JobSchedule;
use wakeful_core::reason::Reason;
use wakeful_core::region::{Quorum, Regions};
use wakeful_core::secret::Secret;
use wakeful_core::severity::Severity;
use wakeful_core::slo::Slo;
use wakeful_core::time::Millis;
use wakeful_core::token::Digest;
use wakeful_core::verdict::{Input, Policy, Report, State, Step, step};
use wakeful_outbound::checks;
use wakeful_outbound::net::Deadline;
use wakeful_store::{LinkError, MAX_LONG_REQUEST_BYTES, SaveOutcome, StoreError, StoredMonitor};

pub use wakeful_store::{
    LastPing, LinkedNotifier, MonitorQuery, MonitorSelection, ReportedGroup, StoredCertificate,
    StoredPing,
};

use crate::bus::Event;
use crate::caller::{Authorized, Caller};
use crate::cluster::OwnerRequest;
use crate::probes;
use crate::scheduler::{CheckResult, Judged, LoadReason, catch_panic};
use crate::{Engine, Error, MAX_SAVE_ATTEMPTS, Page, Result, limit_plus_one, random};

/// How long a caller waits for a verdict to be recorded.
const RECORD_TIMEOUT: Duration = Duration::from_secs(5);

/// The settings of a monitor, complete and valid.
#[derive(Clone, Debug)]
pub struct MonitorDraft {
    pub name: Name,
    pub spec: Spec,
    pub isactive: bool,
    pub heartbeat_interval: Interval,
    pub timeout: Option<Duration>,
    pub retries: u16,
    pub retry_interval: Option<Duration>,
    pub resend_interval: Option<Duration>,
    pub severity: Severity,
    pub policy: Option<PolicyId>,
    pub upside_down_mode: bool,
    pub tags: Tags,
    /// `None`: the stored ones, or the team's default ones for a new monitor.
    pub notifiers: Option<Vec<NotifierId>>,
    /// `None`: the stored ones.
    pub depends_on: Option<Vec<Dependency>>,
    pub flapping: FlapLimit,
    pub regions: Regions,
    pub quorum: Quorum,
    pub assertions: Assertions,
    pub evidence: EvidenceLevel,
    pub degraded: Option<Box<Degraded>>,
    pub slo: Option<Slo>,
    pub description: Description,
}

/// The result of an on-demand check.
#[derive(Clone, Debug)]
pub struct CheckOutcome {
    pub heartbeat: Heartbeat,
    /// Why the target is not healthy.
    pub reason: Option<Reason>,
    /// What the check saw; `None` if the monitor has none stored, or another node has checked.
    pub evidence: Option<Box<Evidence>>,
}

/// A monitor with its state and notifiers.
#[derive(Clone, Debug)]
pub struct MonitorView {
    pub monitor: Monitor,
    pub state: State,
    /// The number of times it was saved.
    pub revision: i64,
    pub notifiers: Vec<LinkedNotifier>,
    /// The number of monitors that depend on it directly.
    pub dependents: usize,
    /// For a group: how many of its members are up and down.
    pub group: Option<Counts>,
    /// For a group: the members that it names and the caller may not see.
    pub hidden_members: HashSet<MonitorId>,
    /// The maintenance window that covers it.
    pub maintenance: Option<ShownCover>,
    /// Whether secrets were removed, because the caller may not edit.
    pub redacted: bool,
    /// Whether only its id and its name are known.
    pub unreadable: bool,
}

impl MonitorView {
    /// Removes the secrets, unless the caller may edit.
    fn redact_for(&mut self, caller: &Caller) {
        if !caller.may(Permission::Edit) {
            self.monitor.redact();
            self.redacted = true;
        }
    }
}

/// What the monitors of a list are shown with, read once for all parts of a long list.
pub struct ListContext {
    running: RunningWindows,
    /// Whether any monitor of the team depends on another one.
    has_dependencies: bool,
}

impl From<(StoredMonitor, Vec<LinkedNotifier>)> for MonitorView {
    fn from((stored, notifiers): (StoredMonitor, Vec<LinkedNotifier>)) -> Self {
        let StoredMonitor { monitor, state, revision, unreadable, .. } = stored;
        Self {
            monitor,
            state,
            revision,
            unreadable,
            notifiers,
            dependents: 0,
            group: None,
            hidden_members: HashSet::new(),
            maintenance: None,
            redacted: false,
        }
    }
}

/// The monitor of a push URL, active or not.
#[derive(Clone, Copy, Debug)]
pub struct PushTarget {
    team: TeamId,
    id: MonitorId,
}

impl Engine {
    /// Creates a monitor, or changes the one with this id. `merge` applies the request to the
    /// stored monitor, and is called again if that changed meanwhile: of two concurrent
    /// changes neither is lost. With a `revision`, the change is rejected unless that is the
    /// stored one.
    pub async fn save_monitor<E: From<Error>>(
        &self,
        caller: &Authorized<permission::Edit>,
        id: Option<MonitorId>,
        revision: Option<i64>,
        mut merge: impl FnMut(Option<&Monitor>) -> std::result::Result<MonitorDraft, E>,
    ) -> std::result::Result<MonitorView, E> {
        let Some(id) = id else {
            let draft = merge(None)?;
            self.check_nodes_judge(&draft).await?;
            return Ok(self.create_monitor(caller, draft).await?);
        };
        for _ in 0..MAX_SAVE_ATTEMPTS {
            let before = self.stored_monitor(caller, id).await?;
            if revision.is_some_and(|revision| revision != before.revision) {
                return Err(Error::Conflict.into());
            }
            let draft = merge(Some(&before.monitor))?;
            self.check_nodes_judge(&draft).await?;
            if let Some(view) = self.change_monitor(caller, before, draft).await? {
                return Ok(view);
            }
        }
        Err(Error::Conflict.into())
    }

    /// Accepts the current values of pinned assertions: the next check reads them.
    pub async fn accept_values(
        &self,
        caller: &Authorized<permission::Edit>,
        id: MonitorId,
    ) -> Result<()> {
        for _ in 0..MAX_SAVE_ATTEMPTS {
            let read = self.stored_monitor(caller, id).await?;
            let mut monitor = Monitor { modified: self.now(), ..read.monitor.clone() };
            let pinned = || read.monitor.assertions.iter().any(Assertion::is_pinned);
            if !pinned() {
                return Err(Error::NothingToAccept);
            }
            for one in monitor.assertions.iter_mut().filter(|one| one.is_pinned()) {
                one.accepted = one.accepted.wrapping_add(1);
            }
            let team = self.store().team(caller.team_access());
            let by = self.audit(caller);
            let saved = team.change_monitor_with_limit(&read, &monitor, None, &by).await?;
            if self.publish_saved(caller, id, saved, None)? {
                return Ok(());
            }
        }
        Err(Error::Conflict)
    }

    async fn create_monitor(
        &self,
        caller: &Caller,
        mut draft: MonitorDraft,
    ) -> Result<MonitorView> {
        self.check_filter(caller, &[&draft.tags], None).await?;
        Self::check_group_filter(caller, &draft.spec, None)?;
        let uses_defaults = draft.notifiers.is_none();
        if uses_defaults {
            draft.notifiers =
                Some(self.store().team(caller.team_access()).default_notifiers().await?);
        }
        let plan = self.limiting_plan(caller.team()).await?;
        let limit = plan.as_ref().and_then(|plan| plan.limits.monitors);
        let id = MonitorId::new(self.now(), random::bytes());
        let monitor = self.apply_draft(caller.team(), id, draft, None)?;
        if let Some(plan) = &plan {
            self.check_interval_limit(plan, self.activity(&monitor), None)?;
        }
        let team = self.store().team(caller.team_access());
        let added = team.add_monitor_with_limit(&monitor, limit, &self.audit(caller)).await;
        let saved = added.map_err(|error| match error {
            StoreError::Gone => Error::NotAuthenticated,
            StoreError::Taken => slug_taken(),
            error => error.into(),
        })?;
        if uses_defaults && matches!(saved, SaveOutcome::UnknownNotifiers(_)) {
            // A default notifier was deleted since it was read.
            return Err(Error::Conflict);
        }
        if self.publish_saved(caller, id, saved, plan.as_ref())? {
            self.monitor_view(caller, id).await
        } else {
            Err(Error::Conflict)
        }
    }

    /// `None` if the monitor was changed since it was read. A monitor without changes is not
    /// written: there is no event, and no early check.
    async fn change_monitor(
        &self,
        caller: &Caller,
        before: StoredMonitor,
        draft: MonitorDraft,
    ) -> Result<Option<MonitorView>> {
        let read = before;
        let before = &read.monitor;
        let id = before.id;
        let monitor = self.apply_draft(caller.team(), id, draft, Some(before))?;
        if monitor == (Monitor { modified: monitor.modified, ..before.clone() }) {
            return self.monitor_view(caller, id).await.map(Some);
        }
        self.check_filter(caller, &[&monitor.tags], Some("tags")).await?;
        Self::check_group_filter(caller, &monitor.spec, Some(&before.spec))?;
        let plan = self.limiting_plan(caller.team()).await?;
        if let Some(plan) = &plan {
            let previous = Some(self.activity(before));
            self.check_interval_limit(plan, self.activity(&monitor), previous)?;
        }
        let limit = plan.as_ref().and_then(|plan| plan.limits.monitors);
        if monitor.heartbeat_interval != before.heartbeat_interval {
            self.compact_before_change(id).await;
        }
        let team = self.store().team(caller.team_access());
        let by = self.audit(caller);
        let saved = team.change_monitor_with_limit(&read, &monitor, limit, &by).await;
        let saved = saved.map_err(|error| match error {
            StoreError::Taken => slug_taken(),
            error => error.into(),
        })?;
        if self.publish_saved(caller, id, saved, plan.as_ref())? {
            self.monitor_view(caller, id).await.map(Some)
        } else {
            Ok(None)
        }
    }

    /// Fails if a monitor with one of these lists of tags would not match the filter of the caller.
    /// `changed` is the field of existing monitors that has been changed; without it, the monitor
    /// is new, and is not one of those that a filter names.
    async fn check_filter(
        &self,
        caller: &Caller,
        tags: &[&Tags],
        changed: Option<&'static str>,
    ) -> Result<()> {
        let Some(id) = caller.team_access().filter() else { return Ok(()) };
        let filters = self.store().team(caller.team_access()).monitor_filters().await?;
        match (filters.get(&id), changed) {
            (Some(MonitorFilter::Tags(allowed)), _)
                if tags.iter().all(|tags| tags.intersects(allowed)) =>
            {
                Ok(())
            }
            (Some(MonitorFilter::Tags(allowed)), _) => {
                let allowed: Vec<&str> = allowed.iter().collect();
                let why = format!("must contain one of your tags: {}", allowed.join(", "));
                Err(Error::Refused { field: changed.unwrap_or("tags"), why })
            }
            (Some(MonitorFilter::Monitors(_)), Some(_)) => Ok(()),
            (Some(MonitorFilter::Monitors(_)) | None, _) => Err(Error::KeyScope(caller.scope())),
        }
    }

    /// A caller who is limited to some monitors names the members of a group: the messages of
    /// the group would reveal others.
    fn check_group_filter(caller: &Caller, spec: &Spec, before: Option<&Spec>) -> Result<()> {
        let is_limited = caller.team_access().filter().is_some();
        let Some(group) = spec.group().filter(|_| is_limited && before != Some(spec)) else {
            return Ok(());
        };
        if group.members.only_names() {
            return Ok(());
        }
        let why = "must name its members in monitors, because you can see some monitors only";
        Err(Error::Refused { field: "group", why: why.to_owned() })
    }

    /// Announces a saved monitor to the scheduler and the team; false if it was not saved
    /// because of a concurrent change.
    fn publish_saved(
        &self,
        caller: &Caller,
        id: MonitorId,
        saved: SaveOutcome,
        plan: Option<&Plan>,
    ) -> Result<bool> {
        match saved {
            SaveOutcome::Done => {}
            SaveOutcome::Conflict => return Ok(false),
            SaveOutcome::NotFound => return Err(Error::NotFound("monitor")),
            SaveOutcome::LimitReached => return Err(self.too_many_monitors(plan)),
            SaveOutcome::TooLong => return Err(too_long()),
            SaveOutcome::UnknownNotifiers(ids) => return Err(Error::UnknownNotifiers(ids)),
            SaveOutcome::InvalidDependencies(error) => return Err(invalid_dependencies(&error)),
            SaveOutcome::InvalidMembers(error) => return Err(invalid_members(&error)),
            SaveOutcome::HiddenMembers => {
                let why = "has members that you cannot see, so you cannot change what it contains or its rule";
                return Err(Error::Refused { field: "group", why: why.to_owned() });
            }
            SaveOutcome::TooManyGroups => {
                let why = format!("cannot be added: the team already has {MAX_GROUPS} groups");
                return Err(Error::Refused { field: "group", why });
            }
            SaveOutcome::UnknownPolicy => {
                let why = "names a policy that this team does not have".to_owned();
                return Err(Error::Refused { field: "policyid", why });
            }
        }
        self.publish_all(caller, std::iter::once(id), Event::Saved);
        Ok(true)
    }

    async fn stored_monitor(&self, caller: &Caller, id: MonitorId) -> Result<StoredMonitor> {
        let found = self.store().team(caller.team_access()).monitor(id).await?;
        found.map(|(stored, _)| stored).ok_or(Error::NotFound("monitor"))
    }

    /// A node of an earlier version would report a target as up without judging its assertions,
    /// and would not read a schedule.
    async fn check_nodes_judge(&self, draft: &MonitorDraft) -> Result<()> {
        let has_known_spec = match &draft.spec {
            Spec::Api(api) => *api == ApiSpec::with_grace(api.grace),
            Spec::Ping(ping) => ping.echoes == Echoes::default(),
            spec => spec.is_plain(),
        };
        let is_plain = has_known_spec
            && draft.assertions.is_empty()
            && draft.degraded.is_none()
            && draft.slo.is_none();
        if is_plain {
            return Ok(());
        }
        let (now, own) = (self.now(), Version::parse(env!("CARGO_PKG_VERSION")));
        let nodes = self.store().nodes().await?;
        let mut older = nodes
            .into_iter()
            .filter(|listed| listed.expires > now && Version::parse(&listed.node.version) < own);
        match older.next().map(|listed| listed.node) {
            Some(node) => Err(Error::OlderNode { name: node.name, version: node.version }),
            None => Ok(()),
        }
    }

    fn apply_draft(
        &self,
        team: TeamId,
        id: MonitorId,
        draft: MonitorDraft,
        before: Option<&Monitor>,
    ) -> Result<Monitor> {
        let now = self.now();
        let heartbeat_interval = scheduled_interval(&draft, before, now)?;
        let (created, push_token, notifiers) = match before {
            Some(before) => (before.created, before.push_token.clone(), before.notifiers.clone()),
            None => (now, None, Vec::new()),
        };
        let mut depends_on = draft
            .depends_on
            .unwrap_or_else(|| before.map(|before| before.depends_on.clone()).unwrap_or_default());
        depends_on.sort_by_key(|dependency| dependency.parent);
        let is_push = matches!(draft.spec, Spec::Api(_));
        let ping_uuid = before.and_then(|before| before.ping_uuid.clone());
        Ok(Monitor {
            id,
            team,
            name: draft.name,
            isactive: draft.isactive,
            heartbeat_interval,
            timeout: draft.timeout,
            retries: draft.retries,
            retry_interval: draft.retry_interval,
            resend_interval: draft.resend_interval,
            severity: draft.severity,
            policy: draft.policy,
            upside_down_mode: draft.upside_down_mode,
            tags: draft.tags,
            notifiers: draft.notifiers.map_or(notifiers, distinct),
            depends_on,
            flapping: draft.flapping,
            regions: draft.regions,
            quorum: draft.quorum,
            assertions: draft.assertions,
            evidence: draft.evidence,
            degraded: draft.degraded,
            slo: draft.slo,
            push_token: push_token.or_else(|| is_push.then(new_push_token)),
            ping_uuid: ping_uuid.or_else(|| is_push.then(new_ping_uuid)),
            description: draft.description,
            spec: draft.spec,
            created,
            modified: now,
        })
    }

    /// What the limit of a plan on intervals depends on.
    fn activity(&self, monitor: &Monitor) -> (bool, Interval) {
        let schedule = job_schedule(&monitor.spec);
        let shortest = schedule.and_then(|schedule| schedule.gaps(self.now())).map(|gaps| gaps.0);
        let interval = shortest.and_then(|seconds| Interval::of_api(seconds).ok());
        (monitor.isactive, interval.unwrap_or(monitor.heartbeat_interval))
    }

    /// Gives a monitor a new push token and returns it. Reports with the old one are rejected
    /// from then on.
    pub async fn rotate_push_token(
        &self,
        caller: &Authorized<permission::Edit>,
        id: MonitorId,
    ) -> Result<Secret> {
        for _ in 0..MAX_SAVE_ATTEMPTS {
            let before = self.stored_monitor(caller, id).await?;
            let mut monitor = before.monitor.clone();
            if monitor.push_token.is_none() {
                return Err(Error::NoPushUrl);
            }
            let token = new_push_token();
            monitor.push_token = Some(token.clone());
            monitor.modified = self.now();
            let team = self.store().team(caller.team_access());
            match team.change_monitor(&before, &monitor, &self.audit(caller)).await? {
                SaveOutcome::Done => {
                    self.bus().publish_event(caller.team(), || Event::Saved(id));
                    return Ok(token);
                }
                SaveOutcome::NotFound => return Err(Error::NotFound("monitor")),
                // The monitor was changed, or one of its notifiers deleted.
                SaveOutcome::Conflict
                | SaveOutcome::UnknownNotifiers(_)
                | SaveOutcome::InvalidDependencies(_)
                | SaveOutcome::InvalidMembers(_)
                | SaveOutcome::HiddenMembers
                | SaveOutcome::TooManyGroups
                | SaveOutcome::UnknownPolicy
                | SaveOutcome::LimitReached
                | SaveOutcome::TooLong => {}
            }
        }
        Err(Error::Conflict)
    }

    /// Without the secrets, unless the caller may edit.
    pub async fn monitor(
        &self,
        caller: &Authorized<permission::View>,
        id: MonitorId,
    ) -> Result<MonitorView> {
        let mut view = self.monitor_view(caller, id).await?;
        view.redact_for(caller);
        Ok(view)
    }

    /// With all secrets, to try changes of a stored monitor.
    pub async fn monitor_to_edit(
        &self,
        caller: &Authorized<permission::Edit>,
        id: MonitorId,
    ) -> Result<Monitor> {
        Ok(self.stored_monitor(caller, id).await?.monitor)
    }

    async fn monitor_view(&self, caller: &Caller, id: MonitorId) -> Result<MonitorView> {
        let found = self.store().team(caller.team_access()).monitor(id).await?;
        let view = found.map(MonitorView::from).ok_or(Error::NotFound("monitor"))?;
        let running = self.running_maintenance(caller).await?;
        let maintenance = running.cover(id, &view.monitor.tags);
        let mut views = [MonitorView { maintenance, ..view }];
        self.add_links(caller, &mut views, true).await?;
        let [view] = views;
        Ok(view)
    }

    /// Adds how many monitors depend on these, which are in the order of their ids, and how many
    /// members of groups are down.
    async fn add_links(
        &self,
        caller: &Caller,
        views: &mut [MonitorView],
        has_dependencies: bool,
    ) -> Result<()> {
        let (Some(first), Some(last)) = (views.first(), views.last()) else { return Ok(()) };
        let team = self.store().team(caller.team_access());
        let dependents = if has_dependencies {
            team.dependents(first.monitor.id, last.monitor.id).await?
        } else {
            HashMap::new()
        };
        let mut groups = Vec::new();
        for view in views.iter() {
            if let Spec::Group(spec) = &view.monitor.spec {
                groups.push((view.monitor.id, spec.clone()));
            }
        }
        let is_limited = team.is_filtered() && !groups.is_empty();
        let visible: HashSet<MonitorId> = if is_limited {
            team.monitor_ids().await?.into_iter().collect()
        } else {
            HashSet::new()
        };
        let counts = self.group_counts(caller.team(), groups).await?;
        for view in views {
            if let Some(group) = view.monitor.spec.group().filter(|_| is_limited) {
                let mut named = group.named_monitors();
                named.retain(|id| !visible.contains(id));
                view.hidden_members = named.into_iter().collect();
            }
            view.dependents = dependents.get(&view.monitor.id).copied().unwrap_or(0);
            view.group = counts.get(&view.monitor.id).copied();
        }
        Ok(())
    }

    /// The maintenance windows of the team that are running.
    async fn running_maintenance(&self, caller: &Caller) -> Result<RunningWindows> {
        let windows = self.store().team(caller.team_access()).running_maintenances().await?;
        Ok(RunningWindows::new(windows, self.now()))
    }

    /// The last certificate of a monitor's target; `None` if there is none, or if the team has
    /// no such monitor.
    pub async fn certificate(
        &self,
        caller: &Authorized<permission::View>,
        id: MonitorId,
    ) -> Result<Option<StoredCertificate>> {
        Ok(self.store().team(caller.team_access()).certificate(id).await?)
    }

    /// The ids of the members of a group, to list only these. A monitor that is not a group has
    /// none.
    pub async fn group_members(
        &self,
        caller: &Authorized<permission::View>,
        id: MonitorId,
    ) -> Result<Vec<MonitorId>> {
        let group = self.stored_monitor(caller, id).await?;
        self.member_ids(&group.monitor).await
    }

    /// The team's monitors that match, in the order of creation.
    pub async fn monitors(
        &self,
        caller: &Authorized<permission::View>,
        filter: &MonitorQuery,
    ) -> Result<Page<MonitorView, MonitorId>> {
        let context = self.list_context(caller).await?;
        self.monitors_with(caller, filter, &context).await
    }

    /// For a list that is read in parts by `monitors_with`: all of them show the maintenance that
    /// runs now.
    pub async fn list_context(&self, caller: &Authorized<permission::View>) -> Result<ListContext> {
        let team = self.store().team(caller.team_access());
        let has_dependencies = team.has_dependencies().await?;
        let running = self.running_maintenance(caller).await?;
        Ok(ListContext { running, has_dependencies })
    }

    /// Like `monitors`, for a part of a list.
    pub async fn monitors_with(
        &self,
        caller: &Authorized<permission::View>,
        filter: &MonitorQuery,
        context: &ListContext,
    ) -> Result<Page<MonitorView, MonitorId>> {
        let query = MonitorQuery { limit: limit_plus_one(filter.limit), ..filter.clone() };
        let team = self.store().team(caller.team_access());
        let found = if context.has_dependencies {
            team.monitors(&query).await?
        } else {
            team.monitors_without_dependencies(&query).await?
        };
        // A view is large: it is changed where it is.
        let mut views = Vec::with_capacity(found.len());
        views.extend(found.into_iter().map(MonitorView::from));
        for view in &mut views {
            view.redact_for(caller);
            view.maintenance = context.running.cover(view.monitor.id, &view.monitor.tags);
        }
        self.add_links(caller, &mut views, context.has_dependencies).await?;
        Ok(Page::of(views, filter.limit, |view: &MonitorView| view.monitor.id))
    }

    /// Records a report of a monitor's target as a heartbeat. `None` if the report is stored
    /// and the node that owns the monitor has not processed it yet.
    pub async fn report_status(
        &self,
        caller: &Authorized<permission::Report>,
        id: MonitorId,
        report: Report,
        payload: Option<Value>,
    ) -> Result<Option<Heartbeat>> {
        self.load_active(caller.team_access(), id).await?;
        self.accept_report(id, report, payload).await
    }

    /// The monitor with this token in its push URL.
    pub async fn push_target(&self, token: &str) -> Result<Option<PushTarget>> {
        let found = self.store().monitor_by_push_token(Digest::of(token)).await?;
        Ok(found.map(|(team, id)| PushTarget { team, id }))
    }

    /// Like `report_status`, authenticated by the push URL instead of a caller.
    #[expect(clippy::disallowed_methods, reason = "the push URL is of this monitor")]
    pub async fn report_by_push_token(
        &self,
        target: PushTarget,
        report: Report,
    ) -> Result<Option<Heartbeat>> {
        let PushTarget { team, id } = target;
        match self.load_active(&TeamAccess::whole(team), id).await {
            // The push URL must not reveal more than that it does not work.
            Err(Error::Inactive) => Err(Error::NotFound("monitor")),
            Err(error) => Err(error),
            Ok(_) => self.accept_report(id, report, None).await,
        }
    }

    async fn accept_report(
        &self,
        id: MonitorId,
        report: Report,
        payload: Option<Value>,
    ) -> Result<Option<Heartbeat>> {
        let payload = payload.filter(event::is_passed_on);
        if !self.cluster().holds(id) {
            return self
                .request_from_owner(id, &OwnerRequest::Report { report, payload }, RECORD_TIMEOUT)
                .await
                .map(|answer| answer.map(|answer| answer.heartbeat));
        }
        let (heartbeat, ..) = self.judge(id, None, Input::Report(report), payload).await?;
        Ok(Some(heartbeat))
    }

    /// Checks a monitor now; the result counts like that of any other check.
    pub async fn check_now(
        &self,
        caller: &Authorized<permission::Respond>,
        id: MonitorId,
    ) -> Result<CheckOutcome> {
        let monitor = self.load_active(caller.team_access(), id).await?;
        if matches!(monitor.spec, Spec::Api(_)) {
            return Err(Error::PushMonitor);
        }
        if !self.cluster().holds(id) {
            let wait = monitor.timeout() + 2 * RECORD_TIMEOUT;
            let answer = self.request_from_owner(id, &OwnerRequest::Check, wait).await?;
            return Ok(answer.ok_or(Error::NotRecorded)?.into_outcome(self));
        }
        self.check_loaded_monitor(caller.team(), id).await
    }

    /// Checks a monitor of this node, for another node.
    pub(crate) async fn check_owned_monitor(&self, id: MonitorId) -> Result<CheckOutcome> {
        let found = self.store().monitors_by_id(&[id]).await?.into_iter().next();
        let stored = found.ok_or(Error::NotFound("monitor"))?;
        if !stored.monitor.isactive {
            return Err(Error::Inactive);
        }
        let team = stored.monitor.team;
        self.scheduler().configure(stored, LoadReason::Resumed);
        self.check_loaded_monitor(team, id).await
    }

    async fn check_loaded_monitor(&self, team: TeamId, id: MonitorId) -> Result<CheckOutcome> {
        let permit = self.scheduler().requested_checks().permit(team).await?;
        // The check and the verdict must use the same version of the monitor.
        let params = self.scheduler().check_params(id).ok_or(Error::NotFound("monitor"))?;
        let params = params.with_evidence();
        if matches!(*params.spec, Spec::Api(_)) {
            return Err(Error::PushMonitor);
        }
        let seen = match self.scheduler().pauses().fault(id) {
            Some(paused) => Input::Fault(paused),
            None => permit.run(probes::check(self, id, &params)).await?,
        };
        let mut evidence = seen.evidence().cloned().map(Box::new);
        let (heartbeat, reason, differing) =
            self.judge(id, Some(params.target_version), seen, None).await?;
        if let Some(evidence) = &mut evidence {
            evidence.set_changed(&differing);
        }
        Ok(CheckOutcome { heartbeat, reason, evidence })
    }

    /// Checks a target once, without a monitor and without storing anything. The check may
    /// take as long as `timeout`, but together with the wait for a permit no longer than
    /// `max_duration`: a target that is then still silent is neither up nor down.
    pub async fn try_check(
        &self,
        caller: &Authorized<permission::Edit>,
        spec: &Spec,
        assertions: &[Assertion],
        timeout: Duration,
        max_duration: Duration,
    ) -> Result<CheckOutcome> {
        if matches!(spec, Spec::Api(_)) {
            return Err(Error::PushMonitor);
        }
        let policy = Policy {
            retries: 0,
            retry_interval: Duration::ZERO,
            upside_down: false,
            certificate_warnings: false,
            degraded: None,
        };
        if let Spec::Group(group) = spec {
            Self::check_group_filter(caller, spec, None)?;
            if caller.team_access().filter().is_some() {
                let visible = self.store().team(caller.team_access()).monitor_ids().await?;
                if group.named_monitors().iter().any(|id| !visible.contains(id)) {
                    return Err(Error::NotFound("monitor"));
                }
            }
            let seen = self.check_group(caller.team(), MonitorId::from(Uuid::nil()), group).await;
            return Ok(self.judge_once(seen, &policy));
        }
        let end = Instant::now() + max_duration;
        let permit = self.scheduler().requested_checks().permit(caller.team()).await?;
        let left = end.saturating_duration_since(Instant::now());
        let deadline = Deadline::within(timeout.min(left));
        let request = checks::CheckRequest::new(caller.team(), spec);
        let request = checks::CheckRequest { assertions, always: true, ..request };
        let check = catch_panic(checks::check(self.net(), &request, deadline));
        let result: CheckResult = permit.run(check).await?;
        let seen = match result {
            Ok(seen) if !seen.up && timeout > left && Instant::now() >= end => {
                Input::Fault(cut_short(timeout))
            }
            Ok(seen) => Input::Observation(seen),
            Err(fault) => Input::Fault(fault),
        };
        Ok(self.judge_once(seen, &policy))
    }

    /// The verdict on a target that has no monitor.
    fn judge_once(&self, seen: Input, policy: &Policy) -> CheckOutcome {
        let evidence = seen.evidence().cloned().map(Box::new);
        let Step { heartbeat, reason, .. } = step(&State::default(), seen, policy, self.now());
        CheckOutcome { heartbeat, reason, evidence }
    }

    /// An active monitor of the team; the scheduler is updated with its stored state.
    async fn load_active(&self, access: &TeamAccess, id: MonitorId) -> Result<Monitor> {
        if self.scheduler().is_suspended(access.team()) {
            return Err(Error::Inactive);
        }
        let found = self.store().team(access).monitor(id).await?;
        let (stored, _) = found.ok_or(Error::NotFound("monitor"))?;
        if !stored.monitor.isactive {
            return Err(Error::Inactive);
        }
        let monitor = stored.monitor.clone();
        self.scheduler().configure(stored, LoadReason::Resumed);
        Ok(monitor)
    }

    /// Judges an input; the verdict is recorded when this returns.
    async fn judge(
        &self,
        id: MonitorId,
        target_version: Option<u32>,
        seen: Input,
        payload: Option<Value>,
    ) -> Result<(Heartbeat, Option<Reason>, Vec<Fingerprint>)> {
        // `None`: the monitor was deleted, deactivated or got another target meanwhile.
        let judged = self.scheduler().judge(id, target_version, seen, payload, self.now());
        let Judged { heartbeat, reason, differing, recorded } =
            judged.ok_or(Error::NotFound("monitor"))?;
        match tokio::time::timeout(RECORD_TIMEOUT, recorded).await {
            Ok(Ok(())) => Ok((heartbeat, reason, differing)),
            Ok(Err(_)) | Err(_) => Err(Error::NotRecorded),
        }
    }
}

fn invalid_dependencies(error: &LinkError) -> Error {
    let why = match error {
        LinkError::Unknown(id) => format!("names an unknown monitor: {id}"),
        LinkError::Cycle(names) => {
            format!("would make the monitor depend on itself: {}", names.join(" → "))
        }
        LinkError::TooDeep => {
            format!("must not have more than {MAX_DEPTH} monitors above each other")
        }
    };
    Error::Refused { field: "depends_on", why }
}

fn invalid_members(error: &LinkError) -> Error {
    let why = match error {
        LinkError::Unknown(id) => format!("names an unknown monitor: {id}"),
        LinkError::Cycle(names) => {
            format!("would make the group contain itself: {}", names.join(" → "))
        }
        LinkError::TooDeep => format!("must not have groups more than {MAX_NESTING} deep"),
    };
    Error::Refused { field: "group", why }
}

fn too_long() -> Error {
    let megabytes = MAX_LONG_REQUEST_BYTES >> 20;
    let why = format!(
        "is too long: the long request bodies and headers of a team can have {megabytes} MiB in total"
    );
    Error::Refused { field: "http.body", why }
}

fn cut_short(timeout: Duration) -> Fault {
    let message = format!(
        "there was no result in the time that a test may take; the check itself waits up to {} s",
        timeout.as_secs()
    );
    Fault::new(FaultKind::Resources, message)
}

fn job_schedule(spec: &Spec) -> Option<&JobSchedule> {
    match spec {
        Spec::Api(api) => api.schedule.as_deref(),
        _ => None,
    }
}

/// The interval of a monitor: as sent, or the longest of the next gaps of its schedule.
fn scheduled_interval(
    draft: &MonitorDraft,
    before: Option<&Monitor>,
    now: Millis,
) -> Result<Interval> {
    let Some(schedule) = job_schedule(&draft.spec) else { return Ok(draft.heartbeat_interval) };
    if let Some(before) = before.filter(|before| job_schedule(&before.spec) == Some(schedule)) {
        return Ok(before.heartbeat_interval);
    }
    let gaps = schedule.gaps(now).and_then(|(_, longest)| Interval::of_api(longest).ok());
    gaps.ok_or_else(|| Error::Refused {
        field: "api.schedule",
        why: "never happens in the next 50 years".to_owned(),
    })
}

fn slug_taken() -> Error {
    let why = "is the slug of another monitor of this team".to_owned();
    Error::Refused { field: "api.slug", why }
}

fn distinct(notifiers: Vec<NotifierId>) -> Vec<NotifierId> {
    let mut distinct: Vec<NotifierId> = Vec::with_capacity(notifiers.len());
    for id in notifiers {
        if !distinct.contains(&id) {
            distinct.push(id);
        }
    }
    distinct
}

/// 192 random bits in 32 characters.
pub(crate) fn new_push_token() -> Secret {
    Secret::new(BASE64URL_NOPAD.encode(&random::bytes::<24>()))
}
