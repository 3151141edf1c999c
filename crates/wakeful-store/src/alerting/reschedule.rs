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
    pub(crate) async fn wake_dependents(&self, parents: &[MonitorId], now: Millis) {
        let found = either!(
            self,
            sqlite: "select id from alerts
                 where monitor_id in (
                     select d.child_id from json_each($1) r
                     join dependencies d on d.parent_id = unhex(r.value))
                 and status in ('open', 'acknowledged', 'snoozed', 'suppressed')
                 and ended is null and due > $2",
            postgres: "select id from alerts
                 where monitor_id in (
                     select d.child_id
                     from json_array_elements_text(cast($1 as json)) r
                     join dependencies d on d.parent_id = cast(r.value as uuid))
                 and status in ('open', 'acknowledged', 'snoozed', 'suppressed')
                 and ended is null and due > $2"
        );
        self.wake(found, parents, now).await;
    }

    /// The alerts that the flapping of these monitors has suppressed are due now.
    pub(super) async fn wake_suppressed(&self, monitors: &[MonitorId], now: Millis) {
        let found = either!(
            self,
            sqlite: "select id from alerts
                 where monitor_id in (select unhex(value) from json_each($1))
                 and status = 'suppressed' and ended is null and due > $2",
            postgres: "select id from alerts
                 where monitor_id in (
                     select cast(value as uuid)
                     from json_array_elements_text(cast($1 as json)))
                 and status = 'suppressed' and ended is null and due > $2"
        );
        self.wake(found, monitors, now).await;
    }

    /// Makes the alerts that this statement finds for these monitors due now. Thousands may depend
    /// on one monitor, so this follows the transaction of the change, in short ones. If it is not
    /// completed, no alert is forgotten: one that is suppressed or paused because of another monitor
    /// is due within a minute, and the others before anything is sent.
    async fn wake(&self, found: &'static str, monitors: &[MonitorId], now: Millis) {
        if monitors.is_empty() {
            return;
        }
        if let Err(error) = self.try_wake(found, monitors, now).await {
            tracing::warn!(
                error = %ErrorChain(&error),
                "making alerts due early failed, they are decided about when they are due"
            );
        }
    }

    async fn try_wake(
        &self,
        found: &'static str,
        monitors: &[MonitorId],
        now: Millis,
    ) -> Result<()> {
        let ids: Vec<Uuid> = read!(self, |db| {
            sqlx::query_scalar(found).bind(id_array(monitors)).bind(now.0).fetch_all(db).await
        })?;
        let ids: Vec<AlertId> = ids.into_iter().map(AlertId::from).collect();
        let sql = either!(
            self,
            sqlite: "update alerts
                 set due = $2, revision = revision + 1
                 where id in (select unhex(value) from json_each($1))
                 and ended is null and due > $2",
            postgres: "with locked as (
                     select id from alerts
                     where id in (
                         select cast(value as uuid)
                         from json_array_elements_text(cast($1 as json)))
                     and ended is null and due > $2
                     order by id
                     for no key update)
                 update alerts
                 set due = $2, revision = revision + 1
                 where id in (select id from locked)"
        );
        for ids in ids.chunks(MAX_WOKEN) {
            write_lazily!(self, |db| {
                let query = sqlx::query(sql).bind(id_list(ids)).bind(now.0);
                query.execute(db).await.map(|_| ())
            })?;
        }
        Ok(())
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
