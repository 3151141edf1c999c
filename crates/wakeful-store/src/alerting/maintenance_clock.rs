//! What the maintenance clock writes: one transaction for the windows of a team that are
//! due, so that it can be killed at any point and continue from the rows. It locks the
//! windows before it checks that nothing has changed since it was read: nodes take turns, and
//! changes of tags either are seen or make a window due again.

use std::collections::{HashMap, HashSet};
use uuid::Uuid;
use wakeful_core::calendar::Span;
use wakeful_core::group::{Reach, TeamGraph};
use wakeful_core::id::{MaintenanceId, MonitorId, TeamId};
use wakeful_core::maintenance::{
    DueAnnouncement, ExclusionChange, MAX_GAP, OpenExclusion, Plan, Recorded, Window, next_change,
    plan,
};
use wakeful_core::notifications::announcement;
use wakeful_core::notifications::event::EventAffected;
use wakeful_core::time::Millis;
use wakeful_core::token::Digest;

use super::maintenances::{StoredWindow, columns};
use crate::dialect::{Tx, either, from_row, read, within};
use crate::history::run_blocking;
use crate::monitors::{id_array, json};
use crate::{DueDelivery, MAX_AFFECTED_NAMES, Result, Store};

/// Exclusions that begin longer ago than this may concern heartbeats that are compacted
/// already.
pub(super) const COMPACTED_AFTER: std::time::Duration = std::time::Duration::from_secs(10 * 60);
/// When announcements that a node of another version could not read are tried again.
const ANNOUNCE_RETRY: std::time::Duration = std::time::Duration::from_secs(10);

/// What a step of the maintenance clock has changed.
#[derive(Clone, Debug, Default)]
pub struct MaintenanceStep {
    /// The windows that began, ended, or were changed.
    pub windows: Vec<MaintenanceId>,
    /// The monitors whose cover has begun, changed or ended.
    pub monitors: Vec<MonitorId>,
    /// More is due than fits into one step.
    pub more: bool,
    /// What the step was computed from has changed meanwhile: nothing was written.
    pub is_outdated: bool,
}

struct RecordedRow(OpenExclusion, Option<Millis>);

from_row!(RecordedRow, |row| Self(
    OpenExclusion {
        monitor: row.try_get::<Uuid, _>("monitor_id")?.into(),
        from: Millis(row.try_get("from_at")?),
        window: row.try_get::<Option<Uuid>, _>("maintenance_id")?.unwrap_or_default().into(),
        pauses: row.try_get("pauses")?,
        counts: row.try_get("counts")?,
    },
    row.try_get::<Option<i64>, _>("to_at")?.map(Millis)
));

/// Changes with every monitor that is added, saved or deleted.
type MonitorsVersion = (i64, i64, i64);

const MONITORS_VERSION: &str = "select count(*), cast(coalesce(sum(revision), 0) as bigint),
            cast(coalesce(sum(modified), 0) as bigint)
     from monitors where team_id = $1";

/// The id, revision and next time of each window of a team.
#[derive(PartialEq, Eq)]
struct WindowVersions(Vec<(Uuid, i64, Option<i64>)>);

impl WindowVersions {
    fn of(windows: &[StoredWindow]) -> Self {
        let version = |StoredWindow { window, revision, .. }: &StoredWindow| {
            (window.id.uuid(), *revision, window.due.map(|due| due.0))
        };
        Self(windows.iter().map(version).collect())
    }
}

/// What is announced of a window, and which monitors it covers.
struct WindowAnnouncement {
    /// Among the windows.
    place: usize,
    due: DueAnnouncement,
    covered: Vec<MonitorId>,
}

/// What a step writes.
struct PlannedStep {
    windows: Vec<StoredWindow>,
    plan: Plan,
    announcements: Vec<WindowAnnouncement>,
}

impl PlannedStep {
    fn of(
        mut windows: Vec<StoredWindow>,
        graph: &TeamGraph,
        recorded: &Recorded,
        now: Millis,
    ) -> Self {
        let monitors = graph.index();
        if graph.is_connected() {
            let mut reach = Reach::new(graph, &monitors);
            windows.iter_mut().for_each(|stored| stored.window.resolve(&mut reach));
        }
        let all: Vec<Window> = windows.iter().map(|stored| stored.window.clone()).collect();
        let plan = plan(&all, &monitors, recorded, now);
        let mut announcements = Vec::new();
        for (place, StoredWindow { window, announced, .. }) in windows.iter().enumerate() {
            if plan.is_partial || window.due.is_none_or(|due| due > now) {
                continue;
            }
            for due in window.due_announcements(*announced, window.at(plan.done), plan.done) {
                let covered = monitors.ids().iter().zip(window.covered(&monitors));
                let covered = covered.filter(|(_, is)| *is).map(|(id, _)| *id).collect();
                announcements.push(WindowAnnouncement { place, due, covered });
            }
        }
        Self { windows, plan, announcements }
    }
}

impl Store {
    /// The teams with windows that are due, at most `limit`.
    pub async fn teams_with_due_maintenance(&self, now: Millis, limit: u32) -> Result<Vec<TeamId>> {
        let teams: Vec<Uuid> = read!(self, |db| {
            sqlx::query_scalar(
                "select team_id from maintenances
                 where next_at <= $1
                 group by team_id
                 order by min(next_at)
                 limit $2",
            )
            .bind(now.0)
            .bind(i64::from(limit))
            .fetch_all(db)
            .await
        })?;
        Ok(teams.into_iter().map(TeamId::from).collect())
    }

    /// Applies the windows of a team that are due: records which monitors they cover from
    /// when to when, and when they are due next. Everything is read and computed before the
    /// transaction, so that others can write meanwhile; if something of it has changed by then,
    /// nothing is written, and there is more to do.
    pub async fn apply_maintenance(&self, team: TeamId, now: Millis) -> Result<MaintenanceStep> {
        let is_due = |due: Option<Millis>| due.is_some_and(|due| due <= now);
        let windows = self.windows_to_apply(team).await?;
        if !windows.iter().any(|stored| is_due(stored.window.due)) {
            return Ok(MaintenanceStep::default());
        }
        let read = WindowVersions::of(&windows);
        // Read first: a change of a monitor after it is noticed below.
        let version = self.monitors_version(team).await?;
        let graph = match self.team_graph(team).await? {
            Some(graph) => graph,
            None => {
                TeamGraph { monitors: self.covered_monitors(team).await?, ..TeamGraph::default() }
            }
        };
        let recorded = self.recorded_exclusions(team, now).await?;
        let (PlannedStep { windows, plan, announcements }, rows) = run_blocking(move || {
            let planned = PlannedStep::of(windows, &graph, &recorded, now);
            let rows = ExclusionRows::of(&planned.plan.changes, now);
            (planned, rows)
        })
        .await;
        let mut step = MaintenanceStep { more: true, ..MaintenanceStep::default() };
        let mut tx = self.begin().await?;
        if self.lock_windows(&mut tx, team).await? != read
            || monitors_version_within(&mut tx, team).await? != version
        {
            step.is_outdated = true;
            return Ok(step);
        }
        self.write_exclusions(&mut tx, rows, now).await?;
        let mut announced = None;
        if plan.is_partial {
            continue_from(&mut tx, team, plan.done, now).await?;
        } else {
            let done = plan.done;
            announced = self.announce_windows(&mut tx, &windows, announcements, done).await?;
            for stored in windows.iter().filter(|stored| is_due(stored.window.due)) {
                step.windows.push(stored.window.id);
                write_window(&mut tx, stored, done, now, announced.is_some()).await?;
            }
            step.more = done < now;
        }
        step.monitors = plan.changes.iter().map(monitor_of).collect();
        step.monitors.sort_unstable();
        step.monitors.dedup();
        self.make_alerts_due(&mut tx, &step.monitors, now).await?;
        tx.commit().await?;
        if let Some(new) = announced.filter(|new| !new.is_empty()) {
            self.outbox.notify_of(new);
        }
        Ok(step)
    }

    /// Writes what is announced of these windows; `None` if that has to wait for the end of a node
    /// of another version.
    async fn announce_windows(
        &self,
        tx: &mut Tx,
        windows: &[StoredWindow],
        due: Vec<WindowAnnouncement>,
        now: Millis,
    ) -> Result<Option<Vec<DueDelivery>>> {
        if !due.is_empty() && self.has_other_versions(tx).await? {
            return Ok(None);
        }
        let mut new = Vec::new();
        for (sequence, WindowAnnouncement { place, due, covered }) in (now.0..).zip(due) {
            let window = &windows[place].window;
            let names = self.some_names(tx, &covered).await?;
            let affected = EventAffected { count: covered.len(), names };
            let announcement = announcement::of_window(window, &due, affected, now);
            let to = &window.announce.notifiers;
            let added =
                self.add_announcement(tx, window.team, &announcement, to, sequence, now).await?;
            new.extend(added);
        }
        Ok(Some(new))
    }

    /// The names of the first of these monitors.
    async fn some_names(&self, tx: &mut Tx, monitors: &[MonitorId]) -> Result<Vec<String>> {
        let sql = either!(
            self,
            sqlite: "select name from monitors
                 where id in (select unhex(value) from json_each($1)) order by name, id",
            postgres: "select name from monitors
                 where id in (
                     select cast(value as uuid) from json_array_elements_text(cast($1 as json)))
                 order by name, id"
        );
        let first = &monitors[..monitors.len().min(MAX_AFFECTED_NAMES)];
        let ids = id_array(first);
        Ok(within!(*tx, |db| sqlx::query_scalar(sql).bind(ids).fetch_all(db).await)?)
    }

    /// The alert processor decides again about the alerts of these monitors. On PostgreSQL the rows
    /// are locked in the order of their ids, as decisions lock them.
    async fn make_alerts_due(
        &self,
        tx: &mut Tx,
        monitors: &[MonitorId],
        now: Millis,
    ) -> Result<()> {
        let sql = either!(
            self,
            sqlite: "update alerts
                 set due = $2, revision = revision + 1
                 where monitor_id in (select unhex(value) from json_each($1))
                 and (ended is null or due is not null)
                 and (due is null or due > $2)",
            postgres: "with locked as (
                     select id from alerts
                     where monitor_id in (
                         select cast(value as uuid)
                         from json_array_elements_text(cast($1 as json)))
                     and (ended is null or due is not null)
                     and (due is null or due > $2)
                     order by id
                     for no key update)
                 update alerts
                 set due = $2, revision = revision + 1
                 where id in (select id from locked)"
        );
        if !monitors.is_empty() {
            within!(*tx, |db| {
                sqlx::query(sql).bind(id_array(monitors)).bind(now.0).execute(db).await?;
            });
        }
        Ok(())
    }

    async fn windows_to_apply(&self, team: TeamId) -> Result<Vec<StoredWindow>> {
        Ok(read!(self, |db| {
            sqlx::query_as(concat!(
                "select ",
                columns!(),
                " from maintenances where team_id = $1 order by id"
            ))
            .bind(team.uuid())
            .fetch_all(db)
            .await
        })?)
    }

    async fn lock_windows(&self, tx: &mut Tx, team: TeamId) -> Result<WindowVersions> {
        let sql = either!(
            self,
            sqlite: "select id, revision, next_at from maintenances
                 where team_id = $1 order by id",
            postgres: "select id, revision, next_at from maintenances
                 where team_id = $1 order by id for no key update"
        );
        let rows = within!(*tx, |db| sqlx::query_as(sql).bind(team.uuid()).fetch_all(db).await)?;
        Ok(WindowVersions(rows))
    }

    async fn monitors_version(&self, team: TeamId) -> Result<MonitorsVersion> {
        Ok(read!(self, |db| {
            sqlx::query_as(MONITORS_VERSION).bind(team.uuid()).fetch_one(db).await
        })?)
    }

    /// Those that last, and those that may be continued.
    async fn recorded_exclusions(&self, team: TeamId, now: Millis) -> Result<Recorded> {
        let open: Vec<RecordedRow> = read!(self, |db| {
            sqlx::query_as(
                "select e.monitor_id, e.from_at, e.to_at, e.maintenance_id, e.pauses, e.counts
                 from exclusions e join monitors m on m.id = e.monitor_id
                 where m.team_id = $1 and e.to_at is null and e.kind = 'maintenance'",
            )
            .bind(team.uuid())
            .fetch_all(db)
            .await
        })?;
        // SQLite never reorders a cross join: few exclusions have changed a moment ago, but a
        // monitor may have many.
        let ended: Vec<RecordedRow> = read!(self, |db| {
            sqlx::query_as(
                "select e.monitor_id, e.from_at, e.to_at, e.maintenance_id, e.pauses, e.counts
                 from exclusions e cross join monitors m
                 where e.changed >= $2 and m.id = e.monitor_id and m.team_id = $1 and e.to_at is not null
                 and e.kind = 'maintenance' and e.maintenance_id is not null and not e.recount
                 order by e.to_at",
            )
            .bind(team.uuid())
            .bind(now.before(2 * MAX_GAP).0)
            .fetch_all(db)
            .await
        })?;
        Ok(Recorded {
            open: open.into_iter().map(|RecordedRow(exclusion, _)| exclusion).collect(),
            ended: ended
                .into_iter()
                .filter_map(|RecordedRow(exclusion, to)| Some((exclusion, to?)))
                .collect(),
        })
    }

    async fn write_exclusions(&self, tx: &mut Tx, rows: ExclusionRows, now: Millis) -> Result<()> {
        let ExclusionRows { ended, replaced, new } = rows;
        let delete = either!(
            self,
            sqlite: "delete from exclusions where id in (select unhex(value) from json_each($1))",
            postgres: "delete from exclusions where id in (
                     select cast(value as uuid) from json_array_elements_text(cast($1 as json)))"
        );
        let end = either!(
            self,
            sqlite: "update exclusions
                 set to_at = r.value ->> 'to', changed = $2
                 from json_each($1) r
                 where exclusions.monitor_id = unhex(r.value ->> 'monitor')
                 and exclusions.to_at is null
                 and exclusions.kind = 'maintenance'
                 and exclusions.from_at = r.value ->> 'from'",
            postgres: "update exclusions
                 set to_at = r.\"to\", changed = $2
                 from json_to_recordset(cast($1 as json))
                      as r (monitor uuid, \"from\" bigint, \"to\" bigint)
                 where exclusions.monitor_id = r.monitor
                 and exclusions.to_at is null
                 and exclusions.kind = 'maintenance'
                 and exclusions.from_at = r.\"from\""
        );
        let insert = either!(
            self,
            sqlite: "insert into exclusions
                 (id, monitor_id, from_at, to_at, kind, maintenance_id, pauses, counts, changed,
                  recount)
                 select unhex(r.value ->> 'id'), unhex(r.value ->> 'monitor'), r.value ->> 'from',
                        r.value ->> 'to', 'maintenance', unhex(r.value ->> 'window'),
                        r.value ->> 'pauses', r.value ->> 'counts', $2, r.value ->> 'recount'
                 from json_each($1) r
                 where true
                 on conflict (id) do update
                 set to_at = excluded.to_at, pauses = excluded.pauses, counts = excluded.counts,
                     changed = excluded.changed,
                     recount = exclusions.recount or excluded.recount",
            postgres: "insert into exclusions
                 (id, monitor_id, from_at, to_at, kind, maintenance_id, pauses, counts, changed,
                  recount)
                 select r.id, r.monitor, r.\"from\", r.\"to\", 'maintenance', r.\"window\",
                        r.pauses, r.counts, $2, r.recount
                 from json_to_recordset(cast($1 as json))
                      as r (id uuid, monitor uuid, \"from\" bigint, \"to\" bigint, \"window\" uuid,
                            pauses boolean, counts boolean, recount boolean)
                 on conflict (id) do update
                 set to_at = excluded.to_at, pauses = excluded.pauses, counts = excluded.counts,
                     changed = excluded.changed,
                     recount = exclusions.recount or excluded.recount"
        );
        within!(*tx, |db| {
            if let Some(replaced) = &replaced {
                sqlx::query(delete).bind(replaced).execute(&mut *db).await?;
            }
            for (sql, rows) in [(end, &ended), (insert, &new)] {
                if let Some(rows) = rows {
                    sqlx::query(sql).bind(rows).bind(now.0).execute(&mut *db).await?;
                }
            }
            // One that began and ended at the same moment.
            if ended.is_some() {
                sqlx::query("delete from exclusions where changed = $1 and to_at <= from_at")
                    .bind(now.0)
                    .execute(db)
                    .await?;
            }
        });
        Ok(())
    }
}

/// What is written to the table, as JSON.
struct ExclusionRows {
    /// The ends of exclusions that are stored.
    ended: Option<String>,
    /// The ids of those that others replace.
    replaced: Option<String>,
    new: Option<String>,
}

impl ExclusionRows {
    fn of(changes: &[ExclusionChange], now: Millis) -> Self {
        let (mut ended, mut replaced) = (Vec::new(), Vec::new());
        // Of those that began with this step, by monitor and start, the end.
        let mut reopened = HashSet::new();
        let mut began: Vec<(OpenExclusion, Option<Millis>)> = Vec::new();
        let mut index: HashMap<(MonitorId, Millis), usize> = HashMap::new();
        for change in changes {
            match *change {
                ExclusionChange::Open(exclusion) => {
                    index.insert((exclusion.monitor, exclusion.from), began.len());
                    began.push((exclusion, None));
                }
                ExclusionChange::Reopen { exclusion, replaces } => {
                    let OpenExclusion { monitor, from, .. } = exclusion;
                    replaced.extend(replaces.map(|window| exclusion_id(monitor, window, from)));
                    index.insert((monitor, from), began.len());
                    reopened.insert(began.len());
                    began.push((exclusion, None));
                }
                ExclusionChange::Close { monitor, from, to } => match index.get(&(monitor, from)) {
                    Some(at) => began[*at].1 = Some(to),
                    None => ended.push(serde_json::json!({
                        "monitor": monitor.uuid().simple().to_string(),
                        "from": from.0,
                        "to": to.0,
                    })),
                },
            }
        }
        let is_long = |(_, (exclusion, to)): &(usize, &(OpenExclusion, Option<Millis>))| {
            to.is_none_or(|to| to > exclusion.from)
        };
        let row = |(place, (exclusion, to)): (usize, &(OpenExclusion, Option<Millis>))| {
            let OpenExclusion { monitor, from, window, pauses, counts } = *exclusion;
            // What a reopened one adds is not compacted yet.
            let is_late = from < now.before(COMPACTED_AFTER) && !reopened.contains(&place);
            let recount = !counts && is_late;
            serde_json::json!({
                "id": exclusion_id(monitor, window, from),
                "monitor": monitor.uuid().simple().to_string(),
                "from": from.0,
                "to": to.map(|to| to.0),
                "window": window.uuid().simple().to_string(),
                "pauses": pauses,
                "counts": counts,
                "recount": recount,
            })
        };
        let new: Vec<_> = began.iter().enumerate().filter(is_long).map(row).collect();
        Self {
            ended: (!ended.is_empty()).then(|| json(&ended)),
            replaced: (!replaced.is_empty()).then(|| json(&replaced)),
            new: (!new.is_empty()).then(|| json(&new)),
        }
    }
}

/// The same exclusion has the same id, whichever node records it.
fn exclusion_id(monitor: MonitorId, window: MaintenanceId, from: Millis) -> String {
    let Digest(hash) = Digest::of(&format!("exclusion {monitor} {window} {}", from.0));
    let mut random = [0; 10];
    random.copy_from_slice(&hash[..10]);
    MonitorId::new(from, random).uuid().simple().to_string()
}

fn monitor_of(change: &ExclusionChange) -> MonitorId {
    match change {
        ExclusionChange::Open(exclusion) | ExclusionChange::Reopen { exclusion, .. } => {
            exclusion.monitor
        }
        ExclusionChange::Close { monitor, .. } => *monitor,
    }
}

async fn monitors_version_within(tx: &mut Tx, team: TeamId) -> Result<MonitorsVersion> {
    Ok(within!(*tx, |db| {
        sqlx::query_as(MONITORS_VERSION).bind(team.uuid()).fetch_one(db).await
    })?)
}

/// Some of the monitors were written: the windows that are due continue from that time, and what
/// another node has planned meanwhile is outdated.
async fn continue_from(tx: &mut Tx, team: TeamId, at: Millis, now: Millis) -> Result<()> {
    within!(*tx, |db| {
        sqlx::query(
            "update maintenances
             set next_at = case when next_at < $3 then $3 else next_at end,
                 revision = revision + 1
             where team_id = $1 and next_at <= $2",
        )
        .bind(team.uuid())
        .bind(now.0)
        .bind(at.0)
        .execute(db)
        .await?;
    });
    Ok(())
}

/// The occurrence that runs by then, and when the window is due next. A deleted window is
/// removed: what it had opened is closed.
async fn write_window(
    tx: &mut Tx,
    stored: &StoredWindow,
    done: Millis,
    now: Millis,
    is_announced: bool,
) -> Result<()> {
    let window = &stored.window;
    if stored.is_deleted && done == now {
        within!(*tx, |db| {
            sqlx::query("delete from maintenances where id = $1")
                .bind(window.id.uuid())
                .execute(db)
                .await?;
        });
        return Ok(());
    }
    let running = window.at(done);
    // The grace of an occurrence begins when it is over.
    let is_over = |span: &Span| running.is_none_or(|running| running.from > span.from);
    let ended = window.running.filter(is_over).map(|span| span.to.min(done));
    let after = Window { running, ..window.clone() };
    let due = if done < now { Some(done) } else { next_change(&after, now) };
    // What could not be announced is tried again.
    let retry = now.after(ANNOUNCE_RETRY);
    let due = if is_announced { due } else { Some(due.map_or(retry, |due| due.min(retry))) };
    let announced = if is_announced { Some(done) } else { stored.announced };
    within!(*tx, |db| {
        sqlx::query(
            "update maintenances
             set running_from = $2, running_to = $3, next_at = $4, announced = $5,
                 ended_at = coalesce($6, ended_at), revision = revision + 1
             where id = $1",
        )
        .bind(window.id.uuid())
        .bind(running.map(|span| span.from.0))
        .bind(running.map(|span| span.to.0))
        .bind(due.map(|at| at.0))
        .bind(announced.map(|at| at.0))
        .bind(ended.map(|at| at.0))
        .execute(db)
        .await?;
    });
    Ok(())
}
