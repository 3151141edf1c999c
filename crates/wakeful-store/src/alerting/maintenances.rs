//! The maintenance windows of teams. A change makes the window due, so that the
//! maintenance clock (`maintenance_clock.rs`) applies it.

use sqlx::Error;
use std::time::Duration;
use uuid::Uuid;
use wakeful_core::audit::{Action, Audited as _, Object, ObjectKind, diff};
use wakeful_core::calendar::{Schedule, Span};
use wakeful_core::id::{MaintenanceId, MonitorId, NotifierId, TeamId, UserId};
use wakeful_core::maintenance::{Alerts, Checks, Counts, MAX_WINDOWS, Window};
use wakeful_core::monitors::Tags;
use wakeful_core::time::Millis;

use crate::dialect::{Tx, either, from_row, read, within};
use crate::monitors::json;
use crate::monitors::visible::is_visible;
use crate::notifications::deliveries::withdraw_announcements;
use crate::{AuditContext, NewEntry, Result, Store, TeamStore};

/// A window with the number of times it was changed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct StoredWindow {
    pub window: Window,
    pub created_by: Option<UserId>,
    pub revision: i64,
    /// Until when its occurrences have been announced; `None`: it was changed since.
    pub(crate) announced: Option<Millis>,
    /// Deleted by a user, but not yet by the maintenance clock.
    pub(crate) is_deleted: bool,
}

/// The outcome of saving a window.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum SaveWindowOutcome {
    Done,
    /// The team has `MAX_WINDOWS`.
    LimitReached,
    /// It was changed or deleted meanwhile; nothing was saved.
    Conflict,
    /// The team has no such notifiers; nothing was saved.
    UnknownNotifiers(Vec<NotifierId>),
}

/// A monitor that windows may cover.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct NamedMonitor {
    pub id: MonitorId,
    pub name: String,
    pub tags: Tags,
}

from_row!(NamedMonitor, |row| Self {
    id: row.try_get::<Uuid, _>("id")?.into(),
    name: row.try_get("name")?,
    tags: serde_json::from_str(row.try_get("tags")?).map_err(|_| damaged("tags"))?,
});

macro_rules! columns {
    () => {
        "id, team_id, name, description, isactive, selector, schedule, checks, counts, alerts,
         dependents, grace, announce, next_at, running_from, running_to, ended_at, skipped_until,
         revision, created_by, created, modified, deleted, announced"
    };
}
pub(super) use columns;

fn damaged(what: &'static str) -> Error {
    Error::Decode(format!("the {what} of a maintenance window are damaged").into())
}

fn named<T: Copy>(all: &[T], name: fn(T) -> &'static str, text: &str) -> sqlx::Result<T> {
    all.iter().copied().find(|one| name(*one) == text).ok_or_else(|| damaged("settings"))
}

from_row!(StoredWindow, |row| {
    let running: (Option<i64>, Option<i64>) =
        (row.try_get("running_from")?, row.try_get("running_to")?);
    let grace: i64 = row.try_get("grace")?;
    Self {
        window: Window {
            id: row.try_get::<Uuid, _>("id")?.into(),
            team: row.try_get::<Uuid, _>("team_id")?.into(),
            name: row.try_get("name")?,
            description: row.try_get("description")?,
            isactive: row.try_get("isactive")?,
            selector: serde_json::from_str(row.try_get("selector")?)
                .map_err(|_| damaged("monitors"))?,
            reached: Vec::new(),
            schedule: serde_json::from_str(row.try_get("schedule")?)
                .map_err(|_| damaged("times"))?,
            checks: named(Checks::ALL, Checks::as_str, row.try_get("checks")?)?,
            counts: named(Counts::ALL, Counts::as_str, row.try_get("counts")?)?,
            alerts: named(Alerts::ALL, Alerts::as_str, row.try_get("alerts")?)?,
            dependents: row.try_get("dependents")?,
            grace: Duration::from_secs(grace.max(0).cast_unsigned()),
            announce: serde_json::from_str(row.try_get("announce")?)
                .map_err(|_| damaged("announcements"))?,
            running: match running {
                (Some(from), Some(to)) => Some(Span { from: Millis(from), to: Millis(to) }),
                _ => None,
            },
            ended: row.try_get::<Option<i64>, _>("ended_at")?.map(Millis),
            skipped_until: row.try_get::<Option<i64>, _>("skipped_until")?.map(Millis),
            due: row.try_get::<Option<i64>, _>("next_at")?.map(Millis),
            created: Millis(row.try_get("created")?),
            modified: Millis(row.try_get("modified")?),
        },
        created_by: row.try_get::<Option<Uuid>, _>("created_by")?.map(UserId::from),
        revision: row.try_get("revision")?,
        announced: row.try_get::<Option<i64>, _>("announced")?.map(Millis),
        is_deleted: row.try_get::<Option<i64>, _>("deleted")?.is_some(),
    }
});

/// Binds the settings as $1 to $19 of both statements.
macro_rules! with_settings {
    ($statement:expr, $window:expr) => {
        $statement
            .bind($window.id.uuid())
            .bind($window.team.uuid())
            .bind(&$window.name)
            .bind(&$window.description)
            .bind($window.isactive)
            .bind(json(&$window.selector))
            .bind(json(&$window.schedule))
            .bind($window.checks.as_str())
            .bind($window.counts.as_str())
            .bind($window.alerts.as_str())
            .bind($window.dependents)
            .bind(i64::try_from($window.grace.as_secs()).unwrap_or(i64::MAX))
            .bind(json(&$window.announce))
            .bind($window.due.map(|at| at.0))
            .bind($window.running.map(|span| span.from.0))
            .bind($window.running.map(|span| span.to.0))
            .bind($window.skipped_until.map(|at| at.0))
            .bind($window.created.0)
            .bind($window.modified.0)
    };
}

impl TeamStore<'_> {
    /// The team's windows in the order they were created.
    pub async fn maintenances(&self) -> Result<Vec<StoredWindow>> {
        Ok(read!(self.store, |db| {
            sqlx::query_as(concat!(
                "select ",
                columns!(),
                " from maintenances where team_id = $1 and deleted is null order by id"
            ))
            .bind(self.team.uuid())
            .fetch_all(db)
            .await
        })?)
    }

    pub async fn maintenance(&self, id: MaintenanceId) -> Result<Option<StoredWindow>> {
        Ok(read!(self.store, |db| {
            sqlx::query_as(concat!(
                "select ",
                columns!(),
                " from maintenances where id = $1 and team_id = $2 and deleted is null"
            ))
            .bind(id.uuid())
            .bind(self.team.uuid())
            .fetch_optional(db)
            .await
        })?)
    }

    /// The windows of the team that are running: usually none.
    pub async fn running_maintenances(&self) -> Result<Vec<Window>> {
        self.store.running_windows(self.team).await
    }

    /// The monitors that the caller can see, with what windows select them by.
    pub async fn named_monitors(&self) -> Result<Vec<NamedMonitor>> {
        Ok(read!(self.store, |db| {
            sqlx::query_as(concat!(
                "select m.id, m.name, m.tags from monitors m where m.team_id = $1 and ",
                is_visible!("2"),
                " order by m.id"
            ))
            .bind(self.team.uuid())
            .bind(self.filter)
            .fetch_all(db)
            .await
        })?)
    }

    /// Whether a window covers a monitor that the caller can see.
    pub async fn covers_visible_monitor(&self, id: MaintenanceId) -> Result<bool> {
        let Some(stored) = self.maintenance(id).await? else { return Ok(false) };
        let windows = self.store.resolve_windows(self.team, vec![stored.window]).await?;
        let monitors = self.named_monitors().await?;
        let covers = |one: &NamedMonitor| windows[0].covers(one.id, &one.tags);
        Ok(monitors.iter().any(covers))
    }

    /// Whether the caller is limited to some monitors.
    pub fn is_filtered(&self) -> bool {
        self.filter.is_some()
    }

    pub async fn add_maintenance(
        &self,
        window: &Window,
        by: &AuditContext,
        created_by: UserId,
    ) -> Result<SaveWindowOutcome> {
        let mut tx = self.begin().await?;
        let unknown = unknown_notifiers(&mut tx, self.team, &window.announce.notifiers).await?;
        if !unknown.is_empty() {
            return Ok(SaveWindowOutcome::UnknownNotifiers(unknown));
        }
        let added = within!(tx, |db| {
            let insert = sqlx::query(
                "insert into maintenances
                 (id, team_id, name, description, isactive, selector, schedule, checks, counts,
                  alerts, dependents, grace, announce, next_at, running_from, running_to,
                  skipped_until, created, modified, created_by)
                 select $1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, $14, $15, $16, $17,
                        $18, $19, $20
                 where (select count(*) from maintenances where team_id = $2) < $21",
            );
            with_settings!(insert, window)
                .bind(created_by.uuid())
                .bind(MAX_WINDOWS as i64)
                .execute(db)
                .await
                .map(|done| done.rows_affected() == 1)
        })?;
        if !added {
            return Ok(SaveWindowOutcome::LimitReached);
        }
        let changes = diff(None, Some(&window.view()));
        let entry = NewEntry::new(Action::MaintenanceCreate, object(window), changes);
        self.store.write_entry(&mut tx, by, &entry).await?;
        tx.commit().await?;
        Ok(SaveWindowOutcome::Done)
    }

    /// Changes a window if it still has the revision it was read with. `action` says what
    /// the change is.
    pub async fn change_maintenance(
        &self,
        before: &StoredWindow,
        window: &Window,
        action: Action,
        by: &AuditContext,
    ) -> Result<SaveWindowOutcome> {
        let mut tx = self.begin().await?;
        let unknown = unknown_notifiers(&mut tx, self.team, &window.announce.notifiers).await?;
        if !unknown.is_empty() {
            return Ok(SaveWindowOutcome::UnknownNotifiers(unknown));
        }
        let changed = within!(tx, |db| {
            let update = sqlx::query(
                "update maintenances
                 set name = $3, description = $4, isactive = $5, selector = $6, schedule = $7,
                     checks = $8, counts = $9, alerts = $10, dependents = $11, grace = $12,
                     announce = $13, next_at = $14, running_from = $15, running_to = $16,
                     skipped_until = $17, created = $18, modified = $19, revision = revision + 1,
                     announced = case when schedule = $7 and announce = $13 then announced end
                 where id = $1 and team_id = $2 and revision = $20 and deleted is null",
            );
            with_settings!(update, window)
                .bind(before.revision)
                .execute(db)
                .await
                .map(|done| done.rows_affected() == 1)
        })?;
        if !changed {
            return Ok(SaveWindowOutcome::Conflict);
        }
        if !before.window.announce.is_empty() && before.window.schedule != window.schedule {
            withdraw_announcements(&mut tx, self.team, window.id, window.modified).await?;
        }
        let rest = self.store.wake_covered(&mut tx, self.team, window.modified).await?;
        let changes = diff(Some(&before.window.view()), Some(&window.view()));
        let entry = NewEntry::new(action, object(window), changes);
        self.store.write_entry(&mut tx, by, &entry).await?;
        tx.commit().await?;
        self.store.wake_rest(rest.as_slice()).await;
        Ok(SaveWindowOutcome::Done)
    }

    /// Deletes a window; false if the team has no such window. The maintenance clock closes
    /// what it has opened, and removes the row.
    pub async fn delete_maintenance(
        &self,
        window: &Window,
        now: Millis,
        by: &AuditContext,
    ) -> Result<bool> {
        let mut tx = self.begin().await?;
        let deleted = within!(tx, |db| {
            sqlx::query(
                "update maintenances
                 set deleted = $3, isactive = false, next_at = $3, revision = revision + 1
                 where id = $1 and team_id = $2 and deleted is null",
            )
            .bind(window.id.uuid())
            .bind(self.team.uuid())
            .bind(now.0)
            .execute(db)
            .await
            .map(|done| done.rows_affected() == 1)
        })?;
        if deleted {
            withdraw_announcements(&mut tx, self.team, window.id, now).await?;
            let rest = self.store.wake_covered(&mut tx, self.team, now).await?;
            let changes = diff(Some(&window.view()), None);
            let entry = NewEntry::new(Action::MaintenanceDelete, object(window), changes);
            self.store.write_entry(&mut tx, by, &entry).await?;
            tx.commit().await?;
            self.store.wake_rest(rest.as_slice()).await;
        }
        Ok(deleted)
    }
}

impl Store {
    /// The windows of a team that are running: usually none.
    pub async fn running_windows(&self, team: TeamId) -> Result<Vec<Window>> {
        let rows: Vec<StoredWindow> = read!(self, |db| {
            sqlx::query_as(concat!(
                "select ",
                columns!(),
                " from maintenances
                 where team_id = $1 and running_from is not null and deleted is null
                 order by running_from, id"
            ))
            .bind(team.uuid())
            .fetch_all(db)
            .await
        })?;
        self.resolve_windows(team, rows.into_iter().map(|row| row.window).collect()).await
    }
}

impl Store {
    /// The names of windows whose time zone is not in the database of zones, with the zone.
    pub async fn windows_without_zone(&self) -> Result<Vec<String>> {
        let rows: Vec<(String, String)> = read!(self, |db| {
            sqlx::query_as(
                "select name, schedule from maintenances where deleted is null order by id",
            )
            .fetch_all(db)
            .await
        })?;
        let without = rows.into_iter().filter_map(|(name, schedule)| {
            let schedule: Schedule = serde_json::from_str(&schedule).ok()?;
            let zone = schedule.zone();
            (!zone.is_known()).then(|| format!("{name} ({})", zone.name()))
        });
        Ok(without.collect())
    }

    /// The windows of a team that may suppress alerts: those that run, are about to begin or
    /// end, or have a grace.
    pub async fn windows_for_alerts(&self, team: TeamId, now: Millis) -> Result<Vec<Window>> {
        let rows: Vec<StoredWindow> = read!(self, |db| {
            sqlx::query_as(concat!(
                "select ",
                columns!(),
                " from maintenances
                 where team_id = $1 and isactive and deleted is null
                 and (running_from is not null or next_at <= $2 or grace > 0)
                 order by id"
            ))
            .bind(team.uuid())
            .bind(now.0)
            .fetch_all(db)
            .await
        })?;
        self.resolve_windows(team, rows.into_iter().map(|row| row.window).collect()).await
    }
}

impl Store {
    /// Makes the running windows of a team due because it has a new monitor. The maintenance
    /// clock locks the windows before it reads the monitors, so it sees this one, or this
    /// waits for it.
    pub(crate) async fn look_at_maintenance(
        &self,
        tx: &mut Tx,
        team: TeamId,
        now: Millis,
    ) -> Result<()> {
        let lock = either!(
            self,
            sqlite: "select id from maintenances where team_id = $1",
            postgres: "select id from maintenances where team_id = $1 order by id
                 for no key update"
        );
        let windows: Vec<Uuid> =
            within!(*tx, |db| sqlx::query_scalar(lock).bind(team.uuid()).fetch_all(db).await)?;
        if !windows.is_empty() {
            within!(*tx, |db| {
                sqlx::query(
                    "update maintenances
                     set next_at = $2
                     where team_id = $1 and running_from is not null
                     and (next_at is null or next_at > $2)",
                )
                .bind(team.uuid())
                .bind(now.0)
                .execute(db)
                .await?;
            });
        }
        Ok(())
    }
}

/// Which of these notifiers, for announcements, are not those of the team.
pub(super) async fn unknown_notifiers(
    tx: &mut Tx,
    team: TeamId,
    notifiers: &[NotifierId],
) -> Result<Vec<NotifierId>> {
    let mut unknown = Vec::new();
    within!(*tx, |db| {
        for notifier in notifiers {
            let found: Option<i64> = sqlx::query_scalar(
                "select created from notifiers
                 where id = $1 and team_id = $2 and owner_id is null",
            )
            .bind(notifier.uuid())
            .bind(team.uuid())
            .fetch_optional(&mut *db)
            .await?;
            if found.is_none() {
                unknown.push(*notifier);
            }
        }
    });
    Ok(unknown)
}

fn object(window: &Window) -> Object {
    Object::new(ObjectKind::Maintenance, &window.id, &window.name)
}
