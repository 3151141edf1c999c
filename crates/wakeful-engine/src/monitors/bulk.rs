//! Changes and deletions of many monitors at once: all or nothing, with the same rules and
//! the same effects as for each of them alone.

use futures_util::{StreamExt as _, stream};
use std::time::Duration;
use tokio::time::timeout;
use wakeful_core::access::permission;
use wakeful_core::error_chain::ErrorChain;
use wakeful_core::id::{MonitorId, NotifierId};
use wakeful_core::monitors::Tags;
use wakeful_core::monitors::bulk::{BulkChange, BulkSettings};
use wakeful_store::{BulkEdit, MonitorSelection, SaveOutcome, StoreError, StoredSettings};

use crate::bus::{Edit, Event};
use crate::caller::{Authorized, Caller};
use crate::history::compactor;
use crate::{Engine, Error, MAX_SAVE_ATTEMPTS, Result};

/// How many batches of heartbeats of deleted monitors are deleted at once; the janitor
/// deletes the rest.
const SWEEP_BATCH: u32 = 20;

/// How long a change of the interval may compact heartbeats before it is saved. Those that
/// are left count with the new interval.
const COMPACTION_TIMEOUT: Duration = Duration::from_secs(10);

/// How many rows one call writes: it is a single transaction, which others wait for. A monitor
/// counts as three of its tags or links to notifiers.
const MAX_ROWS: usize = 30_000;
const ROWS_PER_MONITOR: usize = 3;

/// How many monitors are compacted at the same time.
const MAX_CONCURRENT: usize = 8;

/// How many monitors a bulk operation selected, and how many of them it affected.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct BulkOutcome {
    pub matched: usize,
    pub affected: usize,
}

impl Engine {
    /// Changes the selected monitors. Monitors that already have the settings are not
    /// written: there is no event, and no early check. With `dry_run`, nothing is written.
    pub async fn change_monitors(
        &self,
        caller: &Authorized<permission::Edit>,
        which: &MonitorSelection,
        change: &BulkChange,
        dry_run: bool,
    ) -> Result<BulkOutcome> {
        let _turn = self.bulk_turn(caller).await?;
        self.check_notifiers(caller, change).await?;
        for _ in 0..MAX_SAVE_ATTEMPTS {
            let mut found = self.selected(caller, which).await?;
            if change.affects_notifiers() {
                self.store().team(caller.team_access()).add_notifiers_to(&mut found).await?;
            }
            let matched = found.len();
            let edits = edits(found, change)?;
            check_size(which, edits.iter().map(rows).sum())?;
            if self.write_edits(caller, change, &edits, dry_run).await? {
                return Ok(BulkOutcome { matched, affected: edits.len() });
            }
        }
        Err(Error::Conflict)
    }

    /// False if one of the monitors was changed since it was read; then nothing is written.
    async fn write_edits(
        &self,
        caller: &Caller,
        change: &BulkChange,
        edits: &[BulkEdit],
        dry_run: bool,
    ) -> Result<bool> {
        if !edits.is_empty() {
            let tags: Vec<&Tags> = edits.iter().map(|edit| &edit.after.tags).collect();
            self.check_filter(caller, &tags, Some("tags_remove")).await?;
        }
        let plan = self.limiting_plan(caller.team()).await?;
        if let Some(plan) = &plan {
            for BulkEdit { before, after } in edits {
                let before = (before.settings.isactive, before.settings.heartbeat_interval);
                let wanted = (after.isactive, after.heartbeat_interval);
                self.check_interval_limit(plan, wanted, Some(before))?;
            }
        }
        let limit = plan.as_ref().and_then(|plan| plan.limits.monitors);
        let team = self.store().team(caller.team_access());
        if dry_run {
            return match limit {
                Some(limit) if team.would_exceed(edits, limit).await? => {
                    Err(self.too_many_monitors(plan.as_ref()))
                }
                _ => Ok(true),
            };
        }
        self.compact_before(edits).await;
        let (authority, by) = (Some(caller.authority()), self.audit(caller));
        let changed = team.change_monitors(edits, change, limit, authority, &by).await;
        match changed.map_err(no_longer_allowed)? {
            SaveOutcome::Done => {
                self.publish_all(caller, edits.iter().map(|edit| edit.after.id), Event::Saved);
                Ok(true)
            }
            SaveOutcome::LimitReached => Err(self.too_many_monitors(plan.as_ref())),
            SaveOutcome::Conflict
            | SaveOutcome::NotFound
            | SaveOutcome::UnknownNotifiers(_)
            | SaveOutcome::InvalidDependencies(_)
            | SaveOutcome::InvalidMembers(_)
            | SaveOutcome::HiddenMembers
            | SaveOutcome::TooManyGroups
            | SaveOutcome::UnknownPolicy
            | SaveOutcome::TooLong => Ok(false),
        }
    }

    /// Deletes the selected monitors with their histories. With `dry_run`, none is deleted.
    pub async fn delete_monitors(
        &self,
        caller: &Authorized<permission::Edit>,
        which: &MonitorSelection,
        dry_run: bool,
    ) -> Result<BulkOutcome> {
        let _turn = self.bulk_turn(caller).await?;
        for _ in 0..MAX_SAVE_ATTEMPTS {
            let found = self.selected(caller, which).await?;
            let ids: Vec<MonitorId> = found.iter().map(|stored| stored.settings.id).collect();
            check_size(which, ids.len() * ROWS_PER_MONITOR)?;
            if dry_run || self.delete_all(caller, &ids).await? {
                return Ok(BulkOutcome { matched: ids.len(), affected: ids.len() });
            }
        }
        Err(Error::Conflict)
    }

    /// Deletes a monitor with its history.
    pub async fn delete_monitor(
        &self,
        caller: &Authorized<permission::Edit>,
        id: MonitorId,
    ) -> Result<()> {
        if self.delete_all(caller, &[id]).await? { Ok(()) } else { Err(Error::NotFound("monitor")) }
    }

    /// False if one of the monitors does not exist; then none is deleted.
    async fn delete_all(&self, caller: &Caller, ids: &[MonitorId]) -> Result<bool> {
        let team = self.store().team(caller.team_access());
        let (authority, by) = (Some(caller.authority()), self.audit(caller));
        if !team.delete_monitors(ids, authority, &by).await.map_err(no_longer_allowed)? {
            return Ok(false);
        }
        self.publish_all(caller, ids.iter().copied(), Event::Deleted);
        // Components of status pages may have lost their monitors.
        self.note_page_change();
        // The monitors are deleted in any case. The rest of their rows cannot be read any more,
        // and the janitor deletes them.
        self.delete_some(by.at()).await;
        if let Err(error) = self.store().delete_heartbeats_of(ids, SWEEP_BATCH).await {
            tracing::info!(error = %ErrorChain(&error), "deleting heartbeats of deleted monitors failed, retrying later");
        }
        Ok(true)
    }

    /// The selected monitors of the team; an unknown id is an error.
    async fn selected(
        &self,
        caller: &Caller,
        which: &MonitorSelection,
    ) -> Result<Vec<StoredSettings>> {
        let found = self.store().team(caller.team_access()).bulk_settings(which).await?;
        match which {
            MonitorSelection::Ids(ids) if found.len() < ids.len() => {
                Err(Error::NotFound("monitor"))
            }
            _ => Ok(found),
        }
    }

    async fn check_notifiers(&self, caller: &Caller, change: &BulkChange) -> Result<()> {
        for (field, ids) in [
            ("notifiers_add", &change.notifiers_add),
            ("notifiers_remove", &change.notifiers_remove),
        ] {
            let unknown = self.store().team(caller.team_access()).unknown_notifiers(ids).await?;
            if let Some(id) = unknown.first() {
                let why = format!("contains an unknown notifier: {id}");
                return Err(Error::Refused { field, why });
            }
        }
        Ok(())
    }

    /// Compacts the heartbeats of monitors whose interval is about to change.
    async fn compact_before(&self, edits: &[BulkEdit]) {
        let changes_interval = |edit: &&BulkEdit| {
            edit.before.settings.heartbeat_interval != edit.after.heartbeat_interval
        };
        let ids: Vec<MonitorId> =
            edits.iter().filter(changes_interval).map(|edit| edit.after.id).collect();
        let compacting = stream::iter(ids)
            .for_each_concurrent(MAX_CONCURRENT, |id| self.compact_before_change(id));
        if timeout(COMPACTION_TIMEOUT, compacting).await.is_err() {
            tracing::info!(
                "compacting before a change of many intervals took too long, the last hours of some monitors count with the new interval"
            );
        }
    }

    /// Compacts the heartbeats of a monitor whose interval is about to change.
    pub(super) async fn compact_before_change(&self, id: MonitorId) {
        if let Err(error) = compactor::compact_now(self, id).await {
            tracing::info!(monitor.id = %id, error = %ErrorChain(&error), "compacting monitor {id} failed, its last hours count with the new interval");
        }
    }

    /// Announces monitors to the scheduler and the team.
    pub(super) fn publish_all(
        &self,
        caller: &Caller,
        ids: impl Iterator<Item = MonitorId>,
        event: fn(MonitorId) -> Event,
    ) {
        self.0.recent_members.forget(caller.team());
        for monitor in ids {
            self.bus().publish_edit(Edit::new(caller.team(), monitor));
            self.bus().publish_event(caller.team(), || event(monitor));
        }
    }
}

/// The monitors that the change affects.
fn edits(found: Vec<StoredSettings>, change: &BulkChange) -> Result<Vec<BulkEdit>> {
    let mut edits = Vec::new();
    for before in found {
        let after: BulkSettings = change
            .apply(&before.settings)
            .map_err(|no| Error::Refused { field: no.field, why: no.why })?;
        if after != before.settings {
            edits.push(BulkEdit { before, after });
        }
    }
    Ok(edits)
}

/// About how many rows the change of a monitor writes. All of its tags are written again.
fn rows(edit: &BulkEdit) -> usize {
    let (before, after) = (&edit.before.settings, &edit.after);
    let tags = if before.tags == after.tags {
        0
    } else {
        before.tags.iter().count() + after.tags.iter().count()
    };
    let missing = |these: &[NotifierId], those: &[NotifierId]| {
        these.iter().filter(|id| !those.contains(id)).count()
    };
    let links =
        missing(&before.notifiers, &after.notifiers) + missing(&after.notifiers, &before.notifiers);
    ROWS_PER_MONITOR + tags + links
}

fn check_size(which: &MonitorSelection, rows: usize) -> Result<()> {
    if rows <= MAX_ROWS {
        return Ok(());
    }
    let field = match which {
        MonitorSelection::Ids(_) => "ids",
        MonitorSelection::Filter(_) => "filter",
    };
    let why = "must select fewer monitors: this would change too much at once".to_owned();
    Err(Error::Refused { field, why })
}

/// The caller was suspended, demoted or removed while the call waited for its turn.
fn no_longer_allowed(error: StoreError) -> Error {
    match error {
        StoreError::Gone => Error::NotAuthenticated,
        error => error.into(),
    }
}
