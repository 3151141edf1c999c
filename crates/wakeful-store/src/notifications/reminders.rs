//! Reminders of ongoing outages. The time of the next one is stored with its
//! alert, so that none is lost in a restart and only one of many nodes writes it.
//! A reminder goes through the same outbox as everything else, but only to
//! notifiers without a waiting delivery for that monitor.

use serde::Serialize;
use sqlx::Error;
use std::collections::HashSet;
use uuid::Uuid;
use wakeful_core::id::{AlertId, DeliveryId, MonitorId};
use wakeful_core::monitors::Monitor;
use wakeful_core::time::Millis;

use crate::dialect::{Tx, either, from_row, read, within, write};
use crate::history::record::{EventToDeliver, NotifierLink, SimpleUuid, delivery_rows};
use crate::monitors::json;
use crate::{NewEvent, Result, Store};

/// The answer stored for a reminder whose outage ended before it was sent.
const OUTAGE_OVER: &str = "not sent: the outage was over";

/// An outage with a reminder due.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct DueReminder {
    pub alert: AlertId,
    pub monitor: MonitorId,
    pub started: Millis,
    pub due: Millis,
}

from_row!(DueReminder, |row| Self {
    alert: row.try_get::<Uuid, _>("id")?.into(),
    monitor: row.try_get::<Uuid, _>("monitor_id")?.into(),
    started: Millis(row.try_get("started")?),
    due: Millis(row.try_get("remind_at")?),
});

/// A reminder, and the time of the next one.
#[derive(Clone, Debug)]
pub struct Reminder {
    pub of: DueReminder,
    pub next: Millis,
    /// The sequence number of the monitor's last verdict.
    pub seq: i64,
    /// `None` to skip this reminder.
    pub event: Option<NewEvent>,
}

#[derive(Serialize)]
struct RescheduleRow {
    id: SimpleUuid,
    due: i64,
    next: i64,
}

impl Store {
    /// Ongoing outages with a reminder due, longest due first.
    pub async fn due_reminders(&self, now: Millis, limit: u32) -> Result<Vec<DueReminder>> {
        Ok(read!(self, |db| {
            sqlx::query_as(
                "select a.id, a.monitor_id, a.started, a.remind_at
                 from alerts a
                 join monitors m on m.id = a.monitor_id
                 join monitor_states s on s.monitor_id = a.monitor_id
                 join teams t on t.id = m.team_id
                 where a.remind_at <= $1 and a.ended is null and m.isactive
                 and s.status = 'down' and t.suspended_at is null
                 order by a.remind_at
                 limit $2",
            )
            .bind(now.0)
            .bind(i64::from(limit))
            .fetch_all(db)
            .await
        })?)
    }

    /// Writes these reminders into the outbox, except those that another node has
    /// written and those whose outage has ended. Returns their number.
    pub async fn write_reminders(&self, reminders: &[Reminder], now: Millis) -> Result<usize> {
        let rows: Vec<RescheduleRow> = reminders
            .iter()
            .map(|reminder| RescheduleRow {
                id: reminder.of.alert.uuid().into(),
                due: reminder.of.due.0,
                next: reminder.next.0,
            })
            .collect();
        let mut tx = self.begin().await?;
        let written = within!(tx, |db| {
            let ours: Vec<Uuid> = sqlx::query_scalar(self.reschedule_alerts())
                .bind(json(&rows))
                .fetch_all(&mut *db)
                .await?;
            let ours: HashSet<AlertId> = ours.into_iter().map(AlertId::from).collect();
            let due: Vec<&Reminder> = reminders
                .iter()
                .filter(|one| one.event.is_some() && ours.contains(&one.of.alert))
                .collect();
            let monitors: Vec<String> =
                due.iter().map(|one| one.of.monitor.uuid().simple().to_string()).collect();
            let links: Vec<NotifierLink> = sqlx::query_as(self.select_idle_links())
                .bind(json(&monitors))
                .fetch_all(&mut *db)
                .await?;
            let events = due.iter().filter_map(|one| {
                let event = one.event.as_ref()?;
                Some(EventToDeliver { monitor: one.of.monitor, seq: one.seq, at: now, event })
            });
            for rows in delivery_rows(events, &links) {
                sqlx::query(self.insert_deliveries()).bind(rows).execute(&mut *db).await?;
            }
            Ok::<_, Error>(due.len())
        })?;
        tx.commit().await?;
        if written > 0 {
            self.outbox.notify_any();
        }
        Ok(written)
    }

    /// Gives up those of these deliveries that are reminders of an outage that has
    /// ended; returns their ids.
    pub async fn withdraw_reminders(
        &self,
        ids: &[DeliveryId],
        now: Millis,
    ) -> Result<Vec<DeliveryId>> {
        let sql = either!(
            self,
            sqlite: "update deliveries
                 set state = case when left_to is null then 'failed' else 'delivered' end,
                     next_try = null, lease_until = 0, last_answer = $2, finished = $3
                 where id in (select unhex(value) from json_each($1))
                 and kind = 'monitor.reminder' and state = 'waiting'
                 and exists (
                     select 1 from alerts a
                     where a.id = deliveries.alert_id and a.ended is not null)
                 returning id",
            postgres: "update deliveries
                 set state = case when left_to is null then 'failed' else 'delivered' end,
                     next_try = null, lease_until = 0, last_answer = $2, finished = $3
                 where id = any(cast(string_to_array($1, ',') as uuid[]))
                 and kind = 'monitor.reminder' and state = 'waiting'
                 and exists (
                     select 1 from alerts a
                     where a.id = deliveries.alert_id and a.ended is not null)
                 returning id"
        );
        let rows: Vec<Uuid> = write!(self, |db| {
            sqlx::query_scalar(sql)
                .bind(self.id_list(ids))
                .bind(OUTAGE_OVER)
                .bind(now.0)
                .fetch_all(db)
                .await
        })?;
        Ok(rows.into_iter().map(DeliveryId::from).collect())
    }

    /// Gives up waiting reminders of the outages that are closed here; those being
    /// sent are left to their worker. Binds `closed_alerts` and the answer.
    pub(crate) fn cancel_reminders(&self) -> &'static str {
        either!(
            self,
            sqlite: "update deliveries
                 set state = case when left_to is null then 'failed' else 'delivered' end,
                     next_try = null, last_answer = $2, finished = r.ended
                 from (select unhex(value ->> 'id') as id, value ->> 'ended' as ended
                       from json_each($1)) r
                 where deliveries.alert_id = r.id and deliveries.kind = 'monitor.reminder'
                 and deliveries.state = 'waiting' and deliveries.lease_until <= r.ended",
            postgres: "update deliveries
                 set state = case when left_to is null then 'failed' else 'delivered' end,
                     next_try = null, last_answer = $2, finished = r.ended
                 from json_to_recordset(cast($1 as json)) as r(id uuid, ended bigint)
                 where deliveries.alert_id = r.id and deliveries.kind = 'monitor.reminder'
                 and deliveries.state = 'waiting' and deliveries.lease_until <= r.ended"
        )
    }

    pub(crate) fn canceled_answer() -> &'static str {
        OUTAGE_OVER
    }

    fn reschedule_alerts(&self) -> &'static str {
        either!(
            self,
            sqlite: "update alerts
                 set remind_at = r.next
                 from (select unhex(value ->> 'id') as id, value ->> 'due' as due,
                              value ->> 'next' as next
                       from json_each($1)) r
                 where alerts.id = r.id and alerts.remind_at = r.due and alerts.ended is null
                 returning alerts.id",
            postgres: "update alerts
                 set remind_at = r.next
                 from json_to_recordset(cast($1 as json)) as r(id uuid, due bigint, next bigint)
                 where alerts.id = r.id and alerts.remind_at = r.due and alerts.ended is null
                 returning alerts.id"
        )
    }

    /// The notifiers of these monitors without a waiting delivery for the monitor.
    fn select_idle_links(&self) -> &'static str {
        either!(
            self,
            sqlite: "select l.monitor_id, l.notifier_id
                 from json_each($1) r
                 join monitor_notifiers l on l.monitor_id = unhex(r.value)
                 join notifiers n on n.id = l.notifier_id
                 where n.disabled_at is null
                 and not exists (
                     select 1 from deliveries d
                     where d.monitor_id = l.monitor_id and d.notifier_id = l.notifier_id
                     and d.state = 'waiting' and d.left_to is null)",
            postgres: "select l.monitor_id, l.notifier_id
                 from json_array_elements_text(cast($1 as json)) r
                 join monitor_notifiers l on l.monitor_id = cast(r.value as uuid)
                 join notifiers n on n.id = l.notifier_id
                 where n.disabled_at is null
                 and not exists (
                     select 1 from deliveries d
                     where d.monitor_id = l.monitor_id and d.notifier_id = l.notifier_id
                     and d.state = 'waiting' and d.left_to is null)"
        )
    }
}

/// Reschedules the reminders of an open outage after its monitor was saved with
/// another interval, or was turned on or off. Runs after the update of the
/// monitor's row, because all transactions lock the two in this order.
pub(crate) async fn reschedule_reminders(tx: &mut Tx, monitor: &Monitor) -> Result<()> {
    let next = monitor.resend_interval.filter(|_| monitor.isactive);
    within!(*tx, |db| {
        sqlx::query(
            "update alerts
             set remind_at = $2
             where monitor_id = $1 and kind = 'outage' and ended is null",
        )
        .bind(monitor.id.uuid())
        .bind(next.map(|span| monitor.modified.after(span).0))
        .execute(db)
        .await?;
    });
    Ok(())
}
