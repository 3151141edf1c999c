//! What the maintenance clock writes: one transaction for the windows of a team that are
//! due, so that it can be killed at any point and continue from the rows. It locks the
//! windows before it reads anything else: nodes take turns, and changes of tags either
//! are seen or make a window due again.

use std::collections::HashMap;
use uuid::Uuid;
use wakeful_core::id::{MaintenanceId, MonitorId, TeamId};
use wakeful_core::maintenance::{
    CoveredMonitor, ExclusionChange, OpenExclusion, Window, next_change, plan,
};
use wakeful_core::notifications::announcement;
use wakeful_core::notifications::event::EventAffected;
use wakeful_core::time::Millis;
use wakeful_core::token::Digest;

use super::maintenances::{StoredWindow, columns};
use crate::dialect::{Tx, either, from_row, read, within};
use crate::history::run_blocking;
use crate::monitors::graph::team_graph_within;
use crate::monitors::{id_array, json};
use crate::{DueDelivery, MAX_AFFECTED_NAMES, Result, Store};

/// Exclusions that begin longer ago than this may concern heartbeats that are compacted
/// already.
pub(super) const COMPACTED_AFTER: std::time::Duration = std::time::Duration::from_secs(10 * 60);
/// When announcements that a node of another version could not read are tried again.
const ANNOUNCE_RETRY: std::time::Duration = std::time::Duration::from_secs(10);
/// How many rows are written with one statement.
const WRITE_BATCH: usize = 2_000;

/// What a step of the maintenance clock has changed.
#[derive(Clone, Debug, Default)]
pub struct MaintenanceStep {
    /// The windows that began, ended, or were changed.
    pub windows: Vec<MaintenanceId>,
    /// The monitors whose cover has begun, changed or ended.
    pub monitors: Vec<MonitorId>,
    /// More is due than fits into one step.
    pub more: bool,
}

struct MonitorRow(CoveredMonitor);

from_row!(MonitorRow, |row| Self(CoveredMonitor {
    id: row.try_get::<Uuid, _>("id")?.into(),
    tags: serde_json::from_str(row.try_get("tags")?).unwrap_or_default(),
}));

struct OpenRow(OpenExclusion);

from_row!(OpenRow, |row| Self(OpenExclusion {
    monitor: row.try_get::<Uuid, _>("monitor_id")?.into(),
    from: Millis(row.try_get("from_at")?),
    window: row.try_get::<Option<Uuid>, _>("maintenance_id")?.unwrap_or_default().into(),
    pauses: row.try_get("pauses")?,
    counts: row.try_get("counts")?,
}));

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
    /// when to when, and when they are due next.
    pub async fn apply_maintenance(&self, team: TeamId, now: Millis) -> Result<MaintenanceStep> {
        let mut tx = self.begin().await?;
        let mut windows = self.lock_windows(&mut tx, team).await?;
        let is_due = |stored: &StoredWindow| stored.window.due.is_some_and(|due| due <= now);
        if !windows.iter().any(is_due) {
            return Ok(MaintenanceStep::default());
        }
        let monitors = covered_monitors(&mut tx, team).await?;
        let open = open_exclusions(&mut tx, team).await?;
        let graph = team_graph_within(&mut tx, team).await?;
        let (windows, monitors, changes, done) = run_blocking(move || {
            if let Some(graph) = graph {
                windows.iter_mut().for_each(|stored| stored.window.resolve(&graph));
            }
            let all: Vec<Window> = windows.iter().map(|stored| stored.window.clone()).collect();
            let (changes, done) = plan(&all, &monitors, &open, now);
            (windows, monitors, changes, done)
        })
        .await;
        let mut step = MaintenanceStep { more: done < now, ..MaintenanceStep::default() };
        self.write_exclusions(&mut tx, &changes, now).await?;
        let due: Vec<&StoredWindow> = windows.iter().filter(|stored| is_due(stored)).collect();
        let announced = self.announce_windows(&mut tx, &due, &monitors, done).await?;
        for stored in due {
            step.windows.push(stored.window.id);
            write_window(&mut tx, stored, done, now, announced.is_some()).await?;
        }
        step.monitors = changes.iter().map(monitor_of).collect();
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
        windows: &[&StoredWindow],
        monitors: &[CoveredMonitor],
        now: Millis,
    ) -> Result<Option<Vec<DueDelivery>>> {
        let mut due = Vec::new();
        for stored in windows {
            let window = &stored.window;
            let of_window = window.due_announcements(stored.announced, window.at(now), now);
            due.extend(of_window.into_iter().map(|due| (window, due)));
        }
        if !due.is_empty() && self.has_other_versions(tx).await? {
            return Ok(None);
        }
        let mut new = Vec::new();
        for (sequence, (window, due)) in (now.0..).zip(due) {
            let covered = monitors.iter().filter(|one| window.covers(one.id, &one.tags));
            let covered: Vec<MonitorId> = covered.map(|monitor| monitor.id).collect();
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

    /// The alert processor decides again about the alerts of these monitors.
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
            postgres: "update alerts
                 set due = $2, revision = revision + 1
                 where monitor_id in (
                     select cast(value as uuid) from json_array_elements_text(cast($1 as json)))
                 and (ended is null or due is not null)
                 and (due is null or due > $2)"
        );
        within!(*tx, |db| {
            for monitors in monitors.chunks(WRITE_BATCH) {
                sqlx::query(sql).bind(id_array(monitors)).bind(now.0).execute(&mut *db).await?;
            }
        });
        Ok(())
    }

    async fn lock_windows(&self, tx: &mut Tx, team: TeamId) -> Result<Vec<StoredWindow>> {
        let sql = either!(
            self,
            sqlite: concat!("select ", columns!(), " from maintenances
                where team_id = $1 order by id"),
            postgres: concat!("select ", columns!(), " from maintenances
                where team_id = $1 order by id for no key update")
        );
        Ok(within!(*tx, |db| sqlx::query_as(sql).bind(team.uuid()).fetch_all(db).await)?)
    }

    async fn write_exclusions(
        &self,
        tx: &mut Tx,
        changes: &[ExclusionChange],
        now: Millis,
    ) -> Result<()> {
        let ExclusionRows { ended, new } = ExclusionRows::of(changes, now);
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
                     changed = excluded.changed, recount = excluded.recount",
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
                     changed = excluded.changed, recount = excluded.recount"
        );
        within!(*tx, |db| {
            for (sql, rows) in [(end, &ended), (insert, &new)] {
                for rows in rows.chunks(WRITE_BATCH) {
                    sqlx::query(sql).bind(json(rows)).bind(now.0).execute(&mut *db).await?;
                }
            }
            // One that began and ended at the same moment.
            if !ended.is_empty() {
                sqlx::query("delete from exclusions where changed = $1 and to_at <= from_at")
                    .bind(now.0)
                    .execute(db)
                    .await?;
            }
        });
        Ok(())
    }
}

/// What is written to the table.
struct ExclusionRows {
    /// The ends of exclusions that are stored.
    ended: Vec<serde_json::Value>,
    new: Vec<serde_json::Value>,
}

impl ExclusionRows {
    fn of(changes: &[ExclusionChange], now: Millis) -> Self {
        let mut ended = Vec::new();
        // Of those that began with this step, by monitor and start, the end.
        let mut began: Vec<(OpenExclusion, Option<Millis>)> = Vec::new();
        let mut index: HashMap<(MonitorId, Millis), usize> = HashMap::new();
        for change in changes {
            match *change {
                ExclusionChange::Open(exclusion) => {
                    index.insert((exclusion.monitor, exclusion.from), began.len());
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
        let is_long = |(exclusion, to): &&(OpenExclusion, Option<Millis>)| {
            to.is_none_or(|to| to > exclusion.from)
        };
        let row = |(exclusion, to): &(OpenExclusion, Option<Millis>)| {
            let OpenExclusion { monitor, from, window, pauses, counts } = *exclusion;
            let recount = !counts && from < now.before(COMPACTED_AFTER);
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
        Self { ended, new: began.iter().filter(is_long).map(row).collect() }
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
        ExclusionChange::Open(exclusion) => exclusion.monitor,
        ExclusionChange::Close { monitor, .. } => *monitor,
    }
}

async fn covered_monitors(tx: &mut Tx, team: TeamId) -> Result<Vec<CoveredMonitor>> {
    let rows: Vec<MonitorRow> = within!(*tx, |db| {
        sqlx::query_as("select id, tags from monitors where team_id = $1 order by id")
            .bind(team.uuid())
            .fetch_all(db)
            .await
    })?;
    Ok(rows.into_iter().map(|MonitorRow(monitor)| monitor).collect())
}

async fn open_exclusions(tx: &mut Tx, team: TeamId) -> Result<Vec<OpenExclusion>> {
    let rows: Vec<OpenRow> = within!(*tx, |db| {
        sqlx::query_as(
            "select e.monitor_id, e.from_at, e.maintenance_id, e.pauses, e.counts
             from exclusions e join monitors m on m.id = e.monitor_id
             where m.team_id = $1 and e.to_at is null and e.kind = 'maintenance'",
        )
        .bind(team.uuid())
        .fetch_all(db)
        .await
    })?;
    Ok(rows.into_iter().map(|OpenRow(exclusion)| exclusion).collect())
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
                 revision = revision + 1
             where id = $1",
        )
        .bind(window.id.uuid())
        .bind(running.map(|span| span.from.0))
        .bind(running.map(|span| span.to.0))
        .bind(due.map(|at| at.0))
        .bind(announced.map(|at| at.0))
        .execute(db)
        .await?;
    });
    Ok(())
}
