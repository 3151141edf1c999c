//! Reminders of an outage that lasts. When the next one is due stands with its
//! alert, so that a restart forgets none and of many nodes one writes it. A
//! reminder goes through the same outbox as everything else, to those for whom
//! nothing waits there: who has not heard the last word needs no reminder.

use serde::Serialize;
use sqlx::Error;
use std::collections::HashSet;
use uuid::Uuid;
use wakeful_core::id::{AlertId, DeliveryId, MonitorId};
use wakeful_core::time::Millis;

use crate::dialect::{either, from_row, read, within, write};
use crate::monitors::json;
use crate::record::{Link, Simple, told_to};
use crate::{NewEvent, Result, Store};

/// What became of a reminder that the end of its outage overtook.
const OVERTAKEN: &str = "not sent: the outage was over";

/// An outage of which people are to be reminded.
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

/// One reminder, and when the one after it is due.
#[derive(Clone, Debug)]
pub struct Reminder {
    pub of: DueReminder,
    pub next: Millis,
    /// The number of the monitor's last verdict.
    pub seq: i64,
    /// Nothing: this time people are not told.
    pub event: Option<NewEvent>,
}

#[derive(Serialize)]
struct PaceRow {
    id: Simple,
    due: i64,
    next: i64,
}

impl Store {
    /// Outages that last and of which people are to be reminded, longest due
    /// first.
    pub async fn due_reminders(&self, now: Millis, limit: u32) -> Result<Vec<DueReminder>> {
        Ok(read!(self, |db| {
            sqlx::query_as(
                "select a.id, a.monitor_id, a.started, a.remind_at
                 from alerts a
                 join monitors m on m.id = a.monitor_id
                 join monitor_states s on s.monitor_id = a.monitor_id
                 where a.remind_at <= $1 and a.ended is null and m.isactive
                 and s.status = 'down'
                 order by a.remind_at
                 limit $2",
            )
            .bind(now.0)
            .bind(i64::from(limit))
            .fetch_all(db)
            .await
        })?)
    }

    /// Writes these reminders into the outbox, but for those that somebody else
    /// wrote and those whose outage ended meanwhile. Answers how many.
    pub async fn remind(&self, reminders: &[Reminder], now: Millis) -> Result<usize> {
        let paces: Vec<PaceRow> = reminders
            .iter()
            .map(|reminder| PaceRow {
                id: reminder.of.alert.uuid().into(),
                due: reminder.of.due.0,
                next: reminder.next.0,
            })
            .collect();
        let mut tx = self.begin().await?;
        let written = within!(tx, |db| {
            let ours: Vec<Uuid> = sqlx::query_scalar(self.pace_alerts())
                .bind(json(&paces))
                .fetch_all(&mut *db)
                .await?;
            let ours: HashSet<AlertId> = ours.into_iter().map(AlertId::from).collect();
            let told: Vec<&Reminder> = reminders
                .iter()
                .filter(|one| one.event.is_some() && ours.contains(&one.of.alert))
                .collect();
            let monitors: Vec<String> =
                told.iter().map(|one| one.of.monitor.uuid().simple().to_string()).collect();
            let links: Vec<Link> = sqlx::query_as(self.select_idle_links())
                .bind(json(&monitors))
                .fetch_all(&mut *db)
                .await?;
            let events = told.iter().filter_map(|one| {
                let event = one.event.as_ref()?;
                Some((one.of.monitor, one.seq, now, event))
            });
            sqlx::query(self.insert_deliveries())
                .bind(told_to(events, &links))
                .execute(&mut *db)
                .await?;
            Ok::<_, Error>(told.len())
        })?;
        tx.commit().await?;
        if written > 0 {
            self.outbox.ring();
        }
        Ok(written)
    }

    /// Gives up those of these rows that remind of an outage that is over;
    /// answers which they were.
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
                .bind(self.listed(ids))
                .bind(OVERTAKEN)
                .bind(now.0)
                .fetch_all(db)
                .await
        })?;
        Ok(rows.into_iter().map(DeliveryId::from).collect())
    }

    /// Gives up what waits to remind of outages that are closed here; what is
    /// on its way is left to whoever sends it. Binds the rows of `closed` and
    /// the words.
    pub(crate) fn overtake_reminders(&self) -> &'static str {
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

    pub(crate) fn overtaken() -> &'static str {
        OVERTAKEN
    }

    fn pace_alerts(&self) -> &'static str {
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

    /// The notifiers of these monitors for which nothing of theirs waits.
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

/// Counts the reminders of an open outage anew when its monitor was saved with
/// another pace than `before`, or was switched on or off. After the monitor's
/// own row, as everybody takes the two in this order.
macro_rules! pace_anew {
    ($db:expr, $monitor:expr, $before:expr) => {{
        let now = ($crate::monitors::resend_interval($monitor), $monitor.isactive);
        if $before != Some(now) {
            let next = $monitor.resend_interval.filter(|_| $monitor.isactive);
            sqlx::query(
                "update alerts
                 set remind_at = $2
                 where monitor_id = $1 and kind = 'outage' and ended is null",
            )
            .bind($monitor.id.uuid())
            .bind(next.map(|span| $monitor.modified.after(span).0))
            .execute(&mut *$db)
            .await?;
        }
    }};
}
pub(crate) use pace_anew;
