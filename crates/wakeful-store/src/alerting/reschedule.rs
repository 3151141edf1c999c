//! Changes of a monitor that make the alert processor decide about its open outage again, or about
//! the alerts of the monitors that depend on it, and those of a team that do so for all of its open
//! alerts.

use uuid::Uuid;
use wakeful_core::error_chain::ErrorChain;
use wakeful_core::id::{AlertId, MonitorId, TeamId};
use wakeful_core::monitors::Monitor;
use wakeful_core::time::Millis;

use super::due::id_list;
use crate::dialect::{Tx, either, read, within, write_lazily};
use crate::monitors::id_array;
use crate::{Result, Store};

/// The alerts that one transaction makes due: others wait for it.
const MAX_WOKEN: usize = 200;

/// Alerts to make due.
pub(crate) struct Waking {
    /// The statement that finds them.
    found: &'static str,
    /// What they depend on: the monitors, as JSON, or the team.
    of: String,
    now: Millis,
}

impl Store {
    /// Makes the alert processor decide about the open alerts of a team that was resumed.
    pub(crate) async fn decide_all_again(
        &self,
        tx: &mut Tx,
        team: TeamId,
        now: Millis,
    ) -> Result<()> {
        let sql = either!(
            self,
            sqlite: "update alerts
                 set due = $2, revision = revision + 1
                 where team_id = $1 and ended is null
                 and status in ('open', 'acknowledged', 'snoozed', 'suppressed')",
            postgres: "with locked as (
                     select id from alerts
                     where team_id = $1 and ended is null
                     and status in ('open', 'acknowledged', 'snoozed', 'suppressed')
                     order by id
                     for no key update)
                 update alerts
                 set due = $2, revision = revision + 1
                 where id in (select id from locked)"
        );
        within!(*tx, |db| {
            sqlx::query(sql).bind(team.uuid()).bind(now.0).execute(db).await?;
        });
        Ok(())
    }

    /// The open alerts of the monitors that depend on these, which have gone down or come up, or
    /// were turned on or off, are due now. Those that nothing follows are left alone.
    pub(crate) async fn wake_dependents(
        &self,
        tx: &mut Tx,
        parents: &[MonitorId],
        now: Millis,
    ) -> Result<Option<Waking>> {
        if parents.is_empty() {
            return Ok(None);
        }
        let found = either!(
            self,
            sqlite: "select id from alerts
                 where monitor_id in (
                     select d.child_id from json_each($1) r
                     join dependencies d on d.parent_id = unhex(r.value))
                 and status in ('open', 'acknowledged', 'snoozed', 'suppressed')
                 and ended is null and due > $2
                 limit $3",
            postgres: "select id from alerts
                 where monitor_id in (
                     select d.child_id
                     from json_array_elements_text(cast($1 as json)) r
                     join dependencies d on d.parent_id = cast(r.value as uuid))
                 and status in ('open', 'acknowledged', 'snoozed', 'suppressed')
                 and ended is null and due > $2
                 limit $3"
        );
        self.wake(tx, Waking { found, of: id_array(parents), now }).await
    }

    /// The alerts that the flapping of these monitors has suppressed are due now.
    pub(super) async fn wake_suppressed(
        &self,
        tx: &mut Tx,
        monitors: &[MonitorId],
        now: Millis,
    ) -> Result<Option<Waking>> {
        if monitors.is_empty() {
            return Ok(None);
        }
        let found = either!(
            self,
            sqlite: "select id from alerts
                 where monitor_id in (select unhex(value) from json_each($1))
                 and status = 'suppressed' and ended is null and due > $2
                 limit $3",
            postgres: "select id from alerts
                 where monitor_id in (
                     select cast(value as uuid)
                     from json_array_elements_text(cast($1 as json)))
                 and status = 'suppressed' and ended is null and due > $2
                 limit $3"
        );
        self.wake(tx, Waking { found, of: id_array(monitors), now }).await
    }

    /// The alerts of a team that are suppressed or paused are due now, because one of its
    /// maintenance windows has changed: what is recorded about the monitors need not change with
    /// it, and the end that the alerts wait for may be days away.
    pub(super) async fn wake_covered(
        &self,
        tx: &mut Tx,
        team: TeamId,
        now: Millis,
    ) -> Result<Option<Waking>> {
        let found = either!(
            self,
            sqlite: "select id from alerts
                 where team_id = unhex($1) and due > $2
                 and (status = 'suppressed' or state like '%\"paused_at\"%')
                 limit $3",
            postgres: "select id from alerts
                 where team_id = cast($1 as uuid) and due > $2
                 and (status = 'suppressed' or state like '%\"paused_at\"%')
                 limit $3"
        );
        self.wake(tx, Waking { found, of: team.uuid().simple().to_string(), now }).await
    }

    /// Makes the first alerts due. If there are more, the caller passes what is returned to
    /// `wake_rest` after the transaction.
    async fn wake(&self, tx: &mut Tx, waking: Waking) -> Result<Option<Waking>> {
        let Waking { found, of, now } = &waking;
        let ids: Vec<Uuid> = within!(*tx, |db| {
            sqlx::query_scalar(*found)
                .bind(of.as_str())
                .bind(now.0)
                .bind(MAX_WOKEN as i64 + 1)
                .fetch_all(db)
                .await
        })?;
        if ids.is_empty() {
            return Ok(None);
        }
        let is_rest = ids.len() > MAX_WOKEN;
        let first: Vec<AlertId> = ids.into_iter().take(MAX_WOKEN).map(AlertId::from).collect();
        within!(*tx, |db| {
            sqlx::query(self.make_due()).bind(id_list(&first)).bind(now.0).execute(db).await?;
        });
        Ok(is_rest.then_some(waking))
    }

    /// Makes the others due, in short transactions: thousands may depend on one monitor. If that
    /// is not completed, no alert is forgotten: one that is suppressed or paused because of another
    /// monitor is due within a minute, and any other before anything is sent.
    pub(crate) async fn wake_rest(&self, rest: &[Waking]) {
        for waking in rest {
            if let Err(error) = self.try_wake_rest(waking).await {
                tracing::warn!(
                    error = %ErrorChain(&error),
                    "making alerts due early failed, they are decided about when they are due"
                );
            }
        }
    }

    async fn try_wake_rest(&self, waking: &Waking) -> Result<()> {
        let Waking { found, of, now } = waking;
        let ids: Vec<Uuid> = read!(self, |db| {
            sqlx::query_scalar(*found)
                .bind(of.as_str())
                .bind(now.0)
                .bind(i64::MAX)
                .fetch_all(db)
                .await
        })?;
        let ids: Vec<AlertId> = ids.into_iter().map(AlertId::from).collect();
        for ids in ids.chunks(MAX_WOKEN) {
            write_lazily!(self, |db| {
                let query = sqlx::query(self.make_due()).bind(id_list(ids)).bind(now.0);
                query.execute(db).await.map(|_| ())
            })?;
        }
        Ok(())
    }

    /// On PostgreSQL the rows are locked in the order of their ids, so that two nodes cannot
    /// deadlock.
    fn make_due(&self) -> &'static str {
        either!(
            self,
            sqlite: "update alerts
                 set due = $2, revision = revision + 1
                 where id in (select unhex(value) from json_each($1)) and due > $2",
            postgres: "with locked as (
                     select id from alerts
                     where id in (
                         select cast(value as uuid)
                         from json_array_elements_text(cast($1 as json)))
                     and due > $2
                     order by id
                     for no key update)
                 update alerts
                 set due = $2, revision = revision + 1
                 where id in (select id from locked)"
        )
    }
}

/// Makes the alert processor decide about what a policy may escalate, of a monitor that was saved with
/// another interval of reminders, or was turned on or off. Runs after the update of the monitor's
/// row, because all transactions lock the two in this order.
pub(crate) async fn reschedule_reminders(tx: &mut Tx, monitor: &Monitor) -> Result<()> {
    let next = monitor.resend_interval.filter(|_| monitor.isactive);
    within!(*tx, |db| {
        sqlx::query(
            "update alerts
             set remind_at = case when kind = 'outage' then $2 else remind_at end, due = $3,
                 revision = revision + 1
             where monitor_id = $1 and kind in ('outage', 'flapping') and ended is null",
        )
        .bind(monitor.id.uuid())
        .bind(next.map(|span| monitor.modified.after(span).0))
        .bind(monitor.modified.0)
        .execute(db)
        .await?;
    });
    Ok(())
}

/// Makes the alert processor decide about what a policy may escalate, of a monitor that was saved with
/// another policy.
pub(crate) async fn decide_again(tx: &mut Tx, monitor: &Monitor) -> Result<()> {
    within!(*tx, |db| {
        sqlx::query(
            "update alerts
             set due = $2, revision = revision + 1
             where monitor_id = $1 and kind in ('outage', 'flapping') and ended is null",
        )
        .bind(monitor.id.uuid())
        .bind(monitor.modified.0)
        .execute(db)
        .await?;
    });
    Ok(())
}
