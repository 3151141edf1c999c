//! Saving what people set of a monitor: in one transaction with its links, and
//! nothing of its state.

use sqlx::Error;
use wakeful_core::id::MonitorId;
use wakeful_core::monitor::Monitor;
use wakeful_core::slot::Slot;

use super::row::Sealed;
use super::{Saved, in_seconds, json, resend_interval};
use crate::dialect::{within, write};
use crate::methods::hold_team;
use crate::{Result, TeamStore};

/// Binds what people set, as $1 to $20 of both statements.
macro_rules! with_settings {
    ($statement:expr, $team:expr, $monitor:expr, $sealed:expr) => {
        $statement
            .bind($monitor.id.uuid())
            .bind($team.uuid())
            .bind($monitor.name.as_str())
            .bind($monitor.spec.kind().as_str())
            .bind($sealed.spec.as_str())
            .bind($sealed.secret.as_deref())
            .bind($monitor.isactive)
            .bind(i64::from($monitor.heartbeat_interval.seconds()))
            .bind($monitor.timeout.map(in_seconds))
            .bind($monitor.retry_interval.map(in_seconds))
            .bind(i64::from($monitor.retries))
            .bind($monitor.upside_down_mode)
            .bind(json(&$monitor.tags))
            .bind(search($monitor))
            .bind($sealed.push_digest())
            .bind($sealed.push_token.as_deref())
            .bind($monitor.modified.0)
            .bind(resend_interval($monitor))
            .bind(json(&$monitor.regions))
            .bind($monitor.quorum.to_string())
    };
}

impl TeamStore<'_> {
    /// Keeps a new monitor. `Gone` when the team is.
    pub async fn add_monitor(&self, monitor: &Monitor) -> Result<Saved> {
        self.add_monitor_within(monitor, None).await
    }

    /// As `add_monitor`, unless the team has `most` active monitors already.
    pub async fn add_monitor_within(&self, monitor: &Monitor, most: Option<u32>) -> Result<Saved> {
        let sealed = Sealed::of(&self.store.keyring, monitor);
        let mut tx = self.store.begin().await?;
        let unknown = within!(tx, |db| {
            if let Some(most) = most.filter(|_| monitor.isactive) {
                hold_team!(db, self.team, monitor.modified)?;
                if is_full!(db, self.team, most) {
                    return Ok(Saved::Full);
                }
            }
            let insert = sqlx::query(
                "insert into monitors
                 (id, team_id, name, kind, spec, secret, isactive, heartbeat_interval, timeout,
                  retry_interval, retries, upside_down_mode, tags, search, push_digest,
                  push_token, modified, resend_interval, regions, quorum, created, slot)
                 values ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, $14, $15, $16,
                         $17, $18, $19, $20, $21, $22)",
            );
            with_settings!(insert, self.team, monitor, sealed)
                .bind(monitor.created.0)
                .bind(i64::from(Slot::of(monitor.id).number()))
                .execute(&mut *db)
                .await?;
            sqlx::query("insert into monitor_states (monitor_id) values ($1)")
                .bind(monitor.id.uuid())
                .execute(&mut *db)
                .await?;
            link_notifiers!(db, self.team, monitor)
        })?;
        if !unknown.is_empty() {
            return Ok(Saved::NoNotifiers(unknown));
        }
        tx.commit().await?;
        Ok(Saved::Done)
    }

    /// Changes what people set of a monitor, and nothing of its state. `revision`
    /// is the one it was read with: what others changed since is not undone.
    pub async fn change_monitor(&self, monitor: &Monitor, revision: i64) -> Result<Saved> {
        self.change_monitor_within(monitor, revision, None).await
    }

    /// As `change_monitor`, unless it would become active beside `most` others.
    pub async fn change_monitor_within(
        &self,
        monitor: &Monitor,
        revision: i64,
        most: Option<u32>,
    ) -> Result<Saved> {
        let sealed = Sealed::of(&self.store.keyring, monitor);
        let mut tx = self.store.begin().await?;
        let most = most.filter(|_| monitor.isactive);
        let saved = within!(tx, |db| {
            if most.is_some() {
                // Before anything is looked at: what follows stays true.
                hold_team!(db, self.team, monitor.modified)?;
            }
            let before: Option<(i64, bool, String)> = sqlx::query_as(
                "select resend_interval, isactive, spec from monitors
                 where id = $1 and team_id = $2",
            )
            .bind(monitor.id.uuid())
            .bind(self.team.uuid())
            .fetch_optional(&mut *db)
            .await?;
            if let Some(most) = most
                && matches!(before, Some((_, false, _)))
                && is_full!(db, self.team, most)
            {
                return Ok(Saved::Full);
            }
            let update = sqlx::query(
                "update monitors
                 set name = $3, kind = $4, spec = $5, secret = $6, isactive = $7,
                     heartbeat_interval = $8, timeout = $9, retry_interval = $10, retries = $11,
                     upside_down_mode = $12, tags = $13, search = $14, push_digest = $15,
                     push_token = $16, modified = $17, resend_interval = $18, regions = $19,
                     quorum = $20, revision = revision + 1
                 where id = $1 and team_id = $2 and revision = $21",
            );
            let done = with_settings!(update, self.team, monitor, sealed)
                .bind(revision)
                .execute(&mut *db)
                .await?;
            let Some((resend_interval, isactive, spec)) = before else {
                return Ok(Saved::NoMonitor);
            };
            if done.rows_affected() == 0 {
                return Ok(Saved::Overtaken);
            }
            crate::reminders::pace_anew!(db, monitor, Some((resend_interval, isactive)));
            if spec != sealed.spec {
                // What another target showed says nothing about this one.
                sqlx::query("delete from certificates where monitor_id = $1")
                    .bind(monitor.id.uuid())
                    .execute(&mut *db)
                    .await?;
            }
            sqlx::query("delete from monitor_notifiers where monitor_id = $1")
                .bind(monitor.id.uuid())
                .execute(&mut *db)
                .await?;
            link_notifiers!(db, self.team, monitor).map(|unknown| match unknown.is_empty() {
                true => Saved::Done,
                false => Saved::NoNotifiers(unknown),
            })
        })?;
        if saved == Saved::Done {
            tx.commit().await?;
        }
        Ok(saved)
    }

    /// Deletes a monitor with its alerts, deliveries and links at once; its
    /// heartbeats are out of reach from then on and swept by `sweep_graves`.
    pub async fn delete_monitor(&self, id: MonitorId) -> Result<bool> {
        Ok(write!(self.store, |db| {
            sqlx::query("delete from monitors where id = $1 and team_id = $2")
                .bind(id.uuid())
                .bind(self.team.uuid())
                .execute(db)
                .await
                .map(|done| done.rows_affected() == 1)
        })?)
    }
}

fn search(monitor: &Monitor) -> String {
    let tags: Vec<&str> = monitor.tags.iter().collect();
    format!("{}\n{}\n{}", monitor.name, monitor.spec.target(), tags.join("\n")).to_lowercase()
}

/// Whether a team has so many active monitors, inside a transaction that holds it.
macro_rules! is_full {
    ($db:expr, $team:expr, $most:expr) => {{
        let active: i64 =
            sqlx::query_scalar("select count(*) from monitors where team_id = $1 and isactive")
                .bind($team.uuid())
                .fetch_one(&mut *$db)
                .await?;
        active >= i64::from($most)
    }};
}
use is_full;

/// Links a monitor to its notifiers, in order; gives those the team has not.
macro_rules! link_notifiers {
    ($db:expr, $team:expr, $monitor:expr) => {{
        let mut unknown = Vec::new();
        for (position, notifier) in (0_i64..).zip(&$monitor.notifiers) {
            let done = sqlx::query(
                "insert into monitor_notifiers (monitor_id, notifier_id, position)
                 select $1, id, $3 from notifiers where id = $2 and team_id = $4
                 on conflict do nothing",
            )
            .bind($monitor.id.uuid())
            .bind(notifier.uuid())
            .bind(position)
            .bind($team.uuid())
            .execute(&mut *$db)
            .await?;
            if done.rows_affected() == 0 {
                unknown.push(*notifier);
            }
        }
        Ok::<_, Error>(unknown)
    }};
}
use link_notifiers;
