//! Changes of a monitor that make the alert processor decide about its open outage again, or about
//! the alerts of the monitors that depend on it, and those of a team that do so for all of its open
//! alerts.

use wakeful_core::id::{MonitorId, TeamId};
use wakeful_core::monitors::Monitor;
use wakeful_core::time::Millis;

use crate::dialect::{Tx, either, within};
use crate::monitors::id_array;
use crate::{Result, Store};

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
    ) -> Result<()> {
        if parents.is_empty() {
            return Ok(());
        }
        let sql = either!(
            self,
            sqlite: "update alerts
                 set due = $2, revision = revision + 1
                 where monitor_id in (
                     select d.child_id from json_each($1) r
                     join dependencies d on d.parent_id = unhex(r.value))
                 and status in ('open', 'acknowledged', 'snoozed', 'suppressed')
                 and ended is null and due > $2",
            postgres: "with locked as (
                     select id from alerts
                     where monitor_id in (
                         select d.child_id
                         from json_array_elements_text(cast($1 as json)) r
                         join dependencies d on d.parent_id = cast(r.value as uuid))
                     and status in ('open', 'acknowledged', 'snoozed', 'suppressed')
                     and ended is null and due > $2
                     order by id
                     for no key update)
                 update alerts
                 set due = $2, revision = revision + 1
                 where id in (select id from locked)"
        );
        within!(*tx, |db| {
            sqlx::query(sql).bind(id_array(parents)).bind(now.0).execute(db).await?;
        });
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
