//! Changes and deletions of many monitors of a team, each in one transaction. The rows
//! are read without their specs, so that many of them need little memory.

use futures_util::TryStreamExt as _;
use serde::Serialize;
use uuid::Uuid;
use wakeful_core::access::Permission;
use wakeful_core::audit::{Action, Audited as _, Change, Object, ObjectKind, diff};
use wakeful_core::id::{MonitorId, NotifierId};
use wakeful_core::monitors::bulk::{BulkChange, BulkSettings};
use wakeful_core::monitors::{Interval, Name, Tags};
use wakeful_core::time::Millis;

use super::list::{matches, with_filter};
use super::row::{damaged, seconds, tables};
use super::save::{COUNT_ACTIVE, active_monitors};
use super::visible::is_visible;
use super::{MonitorQuery, SaveOutcome, id_array, json, to_seconds};
use crate::accounts::team::lock_team;
use crate::accounts::{credentials, members};
use crate::deletion::hidden_team;
use crate::dialect::{Tx, either, from_row, read, within};
use crate::history::bulk::lock_monitors_to_change;
use crate::history::record::SimpleUuid;
use crate::statuspages::pages::note_lost_monitors;
use crate::{AuditContext, Authority, NewEntry, Result, StoreError, TeamStore};

/// The monitors that a bulk operation concerns.
#[derive(Clone, Debug)]
pub enum MonitorSelection {
    Ids(Vec<MonitorId>),
    Filter(MonitorQuery),
}

/// The settings of a monitor as read for a bulk change.
#[derive(Clone, Debug)]
pub struct StoredSettings {
    pub settings: BulkSettings,
    pub revision: i64,
    search: String,
}

/// One monitor of a bulk change.
#[derive(Clone, Debug)]
pub struct BulkEdit {
    pub before: StoredSettings,
    pub after: BulkSettings,
}

macro_rules! bulk_columns {
    () => {
        "m.id, m.name, m.isactive, m.heartbeat_interval, m.timeout, m.retry_interval,
         m.resend_interval, m.retries, m.tags, m.search, m.revision, m.kind,
         m.kind = 'api' and m.spec like '%\"schedule\":%'"
    };
}

struct BulkRow {
    id: MonitorId,
    name: String,
    isactive: bool,
    heartbeat_interval: i64,
    timeout: Option<i64>,
    retry_interval: Option<i64>,
    resend_interval: i64,
    retries: i64,
    tags: String,
    search: String,
    revision: i64,
    kind: String,
    has_schedule: bool,
}

from_row!(BulkRow, |row| Self {
    id: row.try_get::<Uuid, _>(0)?.into(),
    name: row.try_get(1)?,
    isactive: row.try_get(2)?,
    heartbeat_interval: row.try_get(3)?,
    timeout: row.try_get(4)?,
    retry_interval: row.try_get(5)?,
    resend_interval: row.try_get(6)?,
    retries: row.try_get(7)?,
    tags: row.try_get(8)?,
    search: row.try_get(9)?,
    revision: row.try_get(10)?,
    kind: row.try_get(11)?,
    has_schedule: row.try_get(12)?,
});

impl BulkRow {
    fn settings(self) -> Result<StoredSettings> {
        let settings = BulkSettings {
            id: self.id,
            name: Name::parse(&self.name).map_err(|_| damaged())?,
            isactive: self.isactive,
            min_interval: Interval::min_of(&self.kind),
            has_schedule: self.has_schedule,
            heartbeat_interval: u64::try_from(self.heartbeat_interval)
                .ok()
                .and_then(|seconds| Interval::of_api(seconds).ok())
                .ok_or_else(damaged)?,
            timeout: self.timeout.map(seconds),
            retries: u16::try_from(self.retries).map_err(|_| damaged())?,
            retry_interval: self.retry_interval.map(seconds),
            resend_interval: Some(seconds(self.resend_interval)).filter(|span| !span.is_zero()),
            tags: serde_json::from_str::<Tags>(&self.tags).map_err(|_| damaged())?,
            notifiers: Vec::new(),
        };
        Ok(StoredSettings { settings, revision: self.revision, search: self.search })
    }
}

impl StoredSettings {
    /// The search text with other tags; the name and the target come before them.
    fn search_with(&self, tags: &Tags) -> String {
        let head = self.search.strip_suffix(&joined(&self.settings.tags));
        format!("{}{}", head.unwrap_or(&self.search), joined(tags))
    }
}

fn joined(tags: &Tags) -> String {
    tags.iter().collect::<Vec<_>>().join("\n").to_lowercase()
}

/// What is written about one monitor: the settings that are the same for all of them are not in
/// it, because a database takes long to read them.
#[derive(Serialize)]
struct EditRow {
    id: SimpleUuid,
    revision: i64,
    /// If they change.
    #[serde(flatten)]
    tags: Option<TagsRow>,
}

#[derive(Serialize)]
struct TagsRow {
    tags: String,
    search: String,
}

impl EditRow {
    fn of(edit: &BulkEdit) -> Self {
        let BulkEdit { before, after } = edit;
        let tags = (before.settings.tags != after.tags)
            .then(|| TagsRow { tags: json(&after.tags), search: before.search_with(&after.tags) });
        Self { id: after.id.uuid().into(), revision: before.revision, tags }
    }
}

/// The settings that a bulk change gives all of the monitors, but for the interval of those with a
/// schedule.
macro_rules! common_settings {
    () => {
        "isactive = coalesce(cast($4 as boolean), isactive),
         heartbeat_interval = case
             when monitors.kind = 'api' and monitors.spec like '%\"schedule\":%'
             then heartbeat_interval
             else coalesce(cast($5 as bigint), heartbeat_interval) end,
         retries = coalesce(cast($6 as bigint), retries),
         resend_interval = coalesce(cast($7 as bigint), resend_interval),
         timeout = case when $8 then cast($9 as bigint) else timeout end,
         retry_interval = case when $10 then cast($11 as bigint) else retry_interval end,
         modified = $3, revision = monitors.revision + 1"
    };
}

#[derive(Serialize)]
struct RemindRow {
    id: SimpleUuid,
    next: Option<i64>,
}

#[derive(Serialize)]
struct LinkRow {
    monitor: SimpleUuid,
    notifier: SimpleUuid,
    /// After the links that exist, in the order of the change.
    offset: usize,
}

/// What a bulk change writes.
struct BulkRows {
    ids: Vec<MonitorId>,
    /// Those whose tags stay the same, and those whose tags change.
    settings: [Option<String>; 2],
    reminders: Option<String>,
    /// Those that are turned on or off.
    toggled: Vec<MonitorId>,
    /// The links to remove, and to add with their number.
    removed: Option<String>,
    added: Option<(String, u64)>,
    entry: NewEntry,
}

impl BulkRows {
    fn of(edits: &[BulkEdit], change: &BulkChange, now: Millis) -> Self {
        let (with_tags, without): (Vec<EditRow>, Vec<EditRow>) =
            edits.iter().map(EditRow::of).partition(|row| row.tags.is_some());
        // Like `reschedule_reminders`, for those that need it.
        let reminds = |BulkEdit { before, after }: &&BulkEdit| {
            before.settings.resend_interval != after.resend_interval
                || before.settings.isactive != after.isactive
        };
        let reminder = |BulkEdit { after, .. }: &BulkEdit| RemindRow {
            id: after.id.uuid().into(),
            next: next_reminder(after, now),
        };
        let reminders: Vec<RemindRow> = edits.iter().filter(reminds).map(reminder).collect();
        let is_toggled =
            |BulkEdit { before, after }: &&BulkEdit| before.settings.isactive != after.isactive;
        let (mut added, mut removed) = (Vec::new(), Vec::new());
        for BulkEdit { before, after } in edits {
            let (old, new) = (&before.settings.notifiers, &after.notifiers);
            removed.extend(difference(after.id, old, new));
            added.extend(difference(after.id, new, old));
        }
        let named = edits.iter().map(|edit| (edit.after.id, edit.after.name.to_string()));
        Self {
            ids: edits.iter().map(|edit| edit.after.id).collect(),
            settings: [without, with_tags].map(|rows| (!rows.is_empty()).then(|| json(&rows))),
            reminders: (!reminders.is_empty()).then(|| json(&reminders)),
            toggled: edits.iter().filter(is_toggled).map(|edit| edit.after.id).collect(),
            removed: (!removed.is_empty()).then(|| json(&removed)),
            added: (!added.is_empty()).then(|| (json(&added), added.len() as u64)),
            entry: of_all(Action::MonitorUpdate, named, diff(None, Some(&change.view()))),
        }
    }
}

impl TeamStore<'_> {
    /// The settings of the selected monitors in the order of their creation, without their
    /// notifiers. Ids that the team does not have are skipped.
    pub async fn bulk_settings(&self, which: &MonitorSelection) -> Result<Vec<StoredSettings>> {
        match which {
            MonitorSelection::Ids(ids) => {
                let rows: Vec<BulkRow> = read!(self.store, |db| {
                    sqlx::query_as(self.select_by_id())
                        .bind(self.team.uuid())
                        .bind(id_array(ids))
                        .bind(self.filter)
                        .fetch_all(db)
                        .await
                })?;
                rows.into_iter().map(BulkRow::settings).collect()
            }
            MonitorSelection::Filter(filter) => self.bulk_matching(filter).await,
        }
    }

    async fn bulk_matching(&self, filter: &MonitorQuery) -> Result<Vec<StoredSettings>> {
        let mut found = Vec::new();
        let sql = either!(
            self.store,
            sqlite: concat!("select ", bulk_columns!(), " from ", tables!(), matches!(sqlite)),
            postgres: concat!("select ", bulk_columns!(), " from ", tables!(), matches!(postgres))
        );
        read!(self.store, |db| {
            let select = sqlx::query_as::<_, BulkRow>(sql);
            let mut rows = with_filter!(select, self, filter).fetch(db);
            while let Some(row) = rows.try_next().await? {
                found.push(row.settings()?);
            }
        });
        Ok(found)
    }

    /// Adds the notifiers of these monitors, which are in the order of their ids.
    pub async fn add_notifiers_to(&self, monitors: &mut [StoredSettings]) -> Result<()> {
        let (Some(first), Some(last)) = (monitors.first(), monitors.last()) else {
            return Ok(());
        };
        let mut links = self.links(first.settings.id, last.settings.id).await?;
        for monitor in monitors {
            let links = links.remove(&monitor.settings.id).unwrap_or_default();
            monitor.settings.notifiers = links.iter().map(|link| link.id).collect();
        }
        Ok(())
    }

    /// Those of these notifiers that the team does not have.
    pub async fn unknown_notifiers(&self, ids: &[NotifierId]) -> Result<Vec<NotifierId>> {
        let known: Vec<Uuid> = read!(self.store, |db| {
            sqlx::query_scalar("select id from notifiers where team_id = $1 and owner_id is null")
                .bind(self.team.uuid())
                .fetch_all(db)
                .await
        })?;
        Ok(ids.iter().copied().filter(|id| !known.contains(&id.uuid())).collect())
    }

    /// Writes these changes, all or none: `Conflict` if one of the monitors has changed since
    /// it was read, or does not exist any more. `limit` is the number of active monitors that
    /// the team may have.
    pub async fn change_monitors(
        &self,
        edits: &[BulkEdit],
        change: &BulkChange,
        limit: Option<u32>,
        caller: Option<Authority<'_>>,
        by: &AuditContext,
    ) -> Result<SaveOutcome> {
        if edits.is_empty() {
            return Ok(SaveOutcome::Done);
        }
        let now = by.at();
        // Prepared before the transaction, which others wait for.
        let rows = BulkRows::of(edits, change, now);
        let mut tx = self.begin().await?;
        if let Some(limit) = limit {
            // Locked before the count below, so that it stays valid.
            lock_team(&mut tx, self.team, now).await?;
            let active = active_monitors(&mut tx, self.team).await?;
            if exceeds(edits, active, limit) {
                return Ok(SaveOutcome::LimitReached);
            }
        }
        self.confirm_editor(&mut tx, caller).await?;
        lock_monitors_to_change(&mut tx, &rows.ids).await?;
        if self.update_settings(&mut tx, &rows, change, now).await? != edits.len() as u64 {
            return Ok(SaveOutcome::Conflict);
        }
        self.reschedule_all_reminders(&mut tx, &rows, now).await?;
        let rest = self.store.wake_dependents(&mut tx, &rows.toggled, now).await?;
        if !self.change_links(&mut tx, &rows).await? {
            return Ok(SaveOutcome::Conflict);
        }
        self.store.write_entry(&mut tx, by, &rows.entry).await?;
        tx.commit().await?;
        self.store.wake_rest(rest.as_slice()).await;
        Ok(SaveOutcome::Done)
    }

    /// Whether `change_monitors` would find the limit reached now.
    pub async fn would_exceed(&self, edits: &[BulkEdit], limit: u32) -> Result<bool> {
        let active = read!(self.store, |db| {
            sqlx::query_scalar(COUNT_ACTIVE).bind(self.team.uuid()).fetch_one(db).await
        })?;
        Ok(exceeds(edits, active, limit))
    }

    /// Deletes these monitors with everything that belongs to them, all or none; false if one of
    /// them does not exist. Nobody sees them any more: `Store::delete_part` deletes the rows
    /// later, and `Store::delete_orphaned_heartbeats` the heartbeats.
    pub async fn delete_monitors(
        &self,
        ids: &[MonitorId],
        caller: Option<Authority<'_>>,
        by: &AuditContext,
    ) -> Result<bool> {
        let mut tx = self.begin().await?;
        self.confirm_editor(&mut tx, caller).await?;
        note_lost_monitors(self.store, &mut tx, self.team, ids).await?;
        lock_monitors_to_change(&mut tx, ids).await?;
        let found: Vec<BulkRow> = within!(tx, |db| {
            sqlx::query_as(self.select_by_id())
                .bind(self.team.uuid())
                .bind(id_array(ids))
                .bind(self.filter)
                .fetch_all(db)
                .await
        })?;
        if found.len() != ids.len() {
            return Ok(false);
        }
        let hidden = hidden_team(&mut tx, by.at()).await?;
        within!(tx, |db| {
            sqlx::query(self.hide_by_id())
                .bind(self.team.uuid())
                .bind(id_array(ids))
                .bind(hidden.uuid())
                .bind(by.at().0)
                .execute(&mut *db)
                .await?;
            // What others would still see, or what would be in their way.
            for sql in self.delete_links() {
                sqlx::query(sql).bind(id_array(ids)).execute(&mut *db).await?;
            }
        });
        let named = found.into_iter().map(|row| (row.id, row.name));
        self.store
            .write_entry(&mut tx, by, &of_all(Action::MonitorDelete, named, Vec::new()))
            .await?;
        tx.commit().await?;
        Ok(true)
    }

    /// Fails with `StoreError::Gone` if the caller, who may have waited for a turn, may no longer
    /// edit. Work without a caller needs no permission.
    async fn confirm_editor(&self, tx: &mut Tx, caller: Option<Authority<'_>>) -> Result<()> {
        let Some(caller) = caller else { return Ok(()) };
        credentials::confirm(tx, caller).await?;
        let role = members::role(tx, self.team, caller.user).await?;
        if role.is_some_and(|role| role.permissions().contains(Permission::Edit)) {
            Ok(())
        } else {
            Err(StoreError::Gone)
        }
    }

    async fn update_settings(
        &self,
        tx: &mut Tx,
        rows: &BulkRows,
        change: &BulkChange,
        now: Millis,
    ) -> Result<u64> {
        let mut updated = 0;
        for (sql, rows) in self.update_many().into_iter().zip(&rows.settings) {
            let Some(rows) = rows else { continue };
            updated += within!(*tx, |db| {
                sqlx::query(sql)
                    .bind(self.team.uuid())
                    .bind(rows)
                    .bind(now.0)
                    .bind(change.isactive)
                    .bind(change.heartbeat_interval.map(|interval| i64::from(interval.seconds())))
                    .bind(change.retries.map(i64::from))
                    .bind(change.resend_interval.map(|span| span.map_or(0, to_seconds)))
                    .bind(change.timeout.is_some())
                    .bind(change.timeout.flatten().map(to_seconds))
                    .bind(change.retry_interval.is_some())
                    .bind(change.retry_interval.flatten().map(to_seconds))
                    .execute(db)
                    .await
                    .map(|done| done.rows_affected())
            })?;
        }
        Ok(updated)
    }

    async fn reschedule_all_reminders(
        &self,
        tx: &mut Tx,
        rows: &BulkRows,
        now: Millis,
    ) -> Result<()> {
        if let Some(reminders) = &rows.reminders {
            within!(*tx, |db| {
                sqlx::query(self.remind_many()).bind(reminders).bind(now.0).execute(db).await?;
            });
        }
        Ok(())
    }

    /// Removes and adds links; false if a notifier to add was deleted meanwhile.
    async fn change_links(&self, tx: &mut Tx, rows: &BulkRows) -> Result<bool> {
        within!(*tx, |db| {
            if let Some(removed) = &rows.removed {
                sqlx::query(self.unlink_many()).bind(removed).execute(&mut *db).await?;
            }
            let Some((added, count)) = &rows.added else { return Ok(true) };
            let linked = sqlx::query(self.link_many())
                .bind(self.team.uuid())
                .bind(added)
                .execute(&mut *db)
                .await?;
            Ok(linked.rows_affected() == *count)
        })
    }

    fn select_by_id(&self) -> &'static str {
        either!(
            self.store,
            sqlite: concat!("select ", bulk_columns!(), " from monitors m
                 where m.team_id = $1 and m.id in (select unhex(value) from json_each($2))
                 and ", is_visible!("3"), " order by m.id"),
            postgres: concat!("select ", bulk_columns!(), " from monitors m
                 where m.team_id = $1 and m.id in (
                     select cast(value as uuid) from json_array_elements_text(cast($2 as json)))
                 and ", is_visible!("3"), " order by m.id")
        )
    }

    fn hide_by_id(&self) -> &'static str {
        macro_rules! hide {
            ($ids:literal) => {
                concat!(
                    "update monitors
                     set team_id = $3, isactive = false, push_digest = null, push_token = null,
                         ping_digest = null, ping_uuid = null, slug = null,
                         policy_id = null, modified = $4, revision = revision + 1
                     where team_id = $1 and id in (",
                    $ids,
                    ")"
                )
            };
        }
        either!(
            self.store,
            sqlite: hide!("select unhex(value) from json_each($2)"),
            postgres: hide!(
                "select cast(value as uuid) from json_array_elements_text(cast($2 as json))")
        )
    }

    fn delete_links(&self) -> [&'static str; 3] {
        macro_rules! delete {
            ($ids:literal) => {
                [
                    concat!("delete from dependencies where child_id in (", $ids, ")"),
                    concat!("delete from dependencies where parent_id in (", $ids, ")"),
                    concat!("delete from monitor_filter_monitors where monitor_id in (", $ids, ")"),
                ]
            };
        }
        either!(
            self.store,
            sqlite: delete!("select unhex(value) from json_each($1)"),
            postgres: delete!(
                "select cast(value as uuid) from json_array_elements_text(cast($1 as json))")
        )
    }

    /// For monitors whose tags stay the same, and for those whose tags change. Without
    /// `materialized`, SQLite would read the JSON once for each monitor of the team.
    fn update_many(&self) -> [&'static str; 2] {
        macro_rules! sqlite {
            ($columns:literal, $tags:literal) => {
                concat!(
                    "with r as materialized (
                         select unhex(value ->> 'id') as id, value ->> 'revision' as revision",
                    $columns,
                    "
                         from json_each($2))
                     update monitors
                     set ",
                    common_settings!(),
                    $tags,
                    "
                     from r
                     where monitors.id = r.id and monitors.team_id = $1
                     and monitors.revision = r.revision"
                )
            };
        }
        macro_rules! postgres {
            ($columns:literal, $tags:literal) => {
                concat!(
                    "update monitors
                     set ",
                    common_settings!(),
                    $tags,
                    "
                     from json_to_recordset(cast($2 as json))
                          as r(id uuid, revision bigint",
                    $columns,
                    ")
                     where monitors.id = r.id and monitors.team_id = $1
                     and monitors.revision = r.revision"
                )
            };
        }
        either!(
            self.store,
            sqlite: [
                sqlite!("", ""),
                sqlite!(
                    ", value ->> 'tags' as tags, value ->> 'search' as search",
                    ", tags = r.tags, search = r.search"
                ),
            ],
            postgres: [
                postgres!("", ""),
                postgres!(", tags text, search text", ", tags = r.tags, search = r.search"),
            ]
        )
    }

    fn remind_many(&self) -> &'static str {
        either!(
            self.store,
            sqlite: "with r as materialized (
                     select unhex(value ->> 'id') as id, value ->> 'next' as next
                     from json_each($1))
                 update alerts
                 set remind_at = case when kind = 'outage' then r.next else remind_at end, due = $2,
                     revision = revision + 1
                 from r
                 where alerts.monitor_id = r.id and alerts.kind in ('outage', 'flapping')
                 and alerts.ended is null",
            postgres: "update alerts
                 set remind_at = case when kind = 'outage' then r.next else remind_at end, due = $2,
                     revision = revision + 1
                 from json_to_recordset(cast($1 as json)) as r(id uuid, next bigint)
                 where alerts.monitor_id = r.id and alerts.kind in ('outage', 'flapping')
                 and alerts.ended is null"
        )
    }

    fn unlink_many(&self) -> &'static str {
        either!(
            self.store,
            sqlite: "delete from monitor_notifiers
                 where (monitor_id, notifier_id) in (
                     select unhex(value ->> 'monitor'), unhex(value ->> 'notifier')
                     from json_each($1))",
            postgres: "delete from monitor_notifiers
                 where (monitor_id, notifier_id) in (
                     select monitor, notifier
                     from json_to_recordset(cast($1 as json)) as r(monitor uuid, notifier uuid))"
        )
    }

    fn link_many(&self) -> &'static str {
        either!(
            self.store,
            sqlite: "insert into monitor_notifiers (monitor_id, notifier_id, position)
                 select unhex(r.value ->> 'monitor'), n.id,
                        1 + (r.value ->> 'offset') + coalesce((
                            select max(l.position) from monitor_notifiers l
                            where l.monitor_id = unhex(r.value ->> 'monitor')), -1)
                 from json_each($2) r
                 cross join notifiers n
                 where n.id = unhex(r.value ->> 'notifier') and n.team_id = $1
                 and n.owner_id is null
                 on conflict do nothing",
            postgres: "insert into monitor_notifiers (monitor_id, notifier_id, position)
                 select r.monitor, n.id,
                        1 + r.\"offset\" + coalesce((
                            select max(l.position) from monitor_notifiers l
                            where l.monitor_id = r.monitor), -1)
                 from json_to_recordset(cast($2 as json))
                      as r(monitor uuid, notifier uuid, \"offset\" bigint)
                 join notifiers n on n.id = r.notifier and n.team_id = $1
                      and n.owner_id is null
                 for key share of n
                 on conflict do nothing"
        )
    }
}

/// Whether the edits would make more monitors active than the limit allows. Edits that
/// activate none are always allowed.
fn exceeds(edits: &[BulkEdit], active: i64, limit: u32) -> bool {
    let activated = |edit: &&BulkEdit| edit.after.isactive && !edit.before.settings.isactive;
    let activated = edits.iter().filter(activated).count() as i64;
    activated > 0 && active.saturating_add(activated) > i64::from(limit)
}

fn next_reminder(monitor: &BulkSettings, now: Millis) -> Option<i64> {
    let span = monitor.resend_interval.filter(|_| monitor.isactive)?;
    Some(now.after(span).0)
}

/// The entry for a change of one monitor, or of many.
fn of_all(
    action: Action,
    monitors: impl Iterator<Item = (MonitorId, String)>,
    mut changes: Vec<Change>,
) -> NewEntry {
    let monitors: Vec<_> = monitors.collect();
    if let [(id, name)] = &monitors[..] {
        return NewEntry::new(action, Object::new(ObjectKind::Monitor, &id, name), changes);
    }
    let names: Vec<&str> = monitors.iter().map(|(_, name)| name.as_str()).collect();
    changes.insert(0, Change::new("count", None, Some(names.len().into())));
    changes.insert(1, Change::new("monitors", None, Some(names.into())));
    NewEntry::new(action, Object::new(ObjectKind::Monitors, &"", ""), changes)
}

/// The links to notifiers in `these` that are not in `those`.
fn difference<'a>(
    monitor: MonitorId,
    these: &'a [NotifierId],
    those: &'a [NotifierId],
) -> impl Iterator<Item = LinkRow> + 'a {
    let missing = these.iter().filter(|id| !those.contains(id)).enumerate();
    missing.map(move |(offset, id)| LinkRow {
        monitor: monitor.uuid().into(),
        notifier: id.uuid().into(),
        offset,
    })
}
