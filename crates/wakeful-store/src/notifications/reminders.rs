//! Reminders and escalation steps that are not sent any more: those of outages that are over or
//! that somebody has responded to.

use uuid::Uuid;
use wakeful_core::id::DeliveryId;
use wakeful_core::time::Millis;

use crate::dialect::{either, write};
use crate::{Result, Store};

/// The answer stored for a reminder whose outage ended before it was sent.
const OUTAGE_OVER: &str = "not sent: the outage was over";

/// The answer stored for a reminder that was being sent when somebody responded.
const SOMEBODY_RESPONDED: &str = "not sent: somebody has responded";

impl Store {
    /// Gives up those of these deliveries that are reminders of an outage that has
    /// ended or was acknowledged; returns their ids.
    pub async fn withdraw_reminders(
        &self,
        ids: &[DeliveryId],
        now: Millis,
    ) -> Result<Vec<DeliveryId>> {
        let sql = either!(
            self,
            sqlite: "update deliveries
                 set state = case when left_to is null then 'failed' else 'delivered' end,
                     next_try = null, lease_until = 0, finished = $3,
                     last_answer = case when exists (
                         select 1 from alerts a
                         where a.id = deliveries.alert_id and a.ended is not null)
                         then $2 else $4 end
                 where id in (select unhex(value) from json_each($1))
                 and kind in ('monitor.reminder', 'alert.escalated') and state = 'waiting'
                 and exists (
                     select 1 from alerts a
                     where a.id = deliveries.alert_id
                     and (a.ended is not null or a.status in ('acknowledged', 'snoozed', 'resolved')))
                 returning id",
            postgres: "update deliveries
                 set state = case when left_to is null then 'failed' else 'delivered' end,
                     next_try = null, lease_until = 0, finished = $3,
                     last_answer = case when exists (
                         select 1 from alerts a
                         where a.id = deliveries.alert_id and a.ended is not null)
                         then $2 else $4 end
                 where id = any(cast(string_to_array($1, ',') as uuid[]))
                 and kind in ('monitor.reminder', 'alert.escalated') and state = 'waiting'
                 and exists (
                     select 1 from alerts a
                     where a.id = deliveries.alert_id
                     and (a.ended is not null or a.status in ('acknowledged', 'snoozed', 'resolved')))
                 returning id"
        );
        let rows: Vec<Uuid> = write!(self, |db| {
            sqlx::query_scalar(sql)
                .bind(self.id_list(ids))
                .bind(OUTAGE_OVER)
                .bind(now.0)
                .bind(SOMEBODY_RESPONDED)
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
                 where deliveries.alert_id = r.id
                 and (deliveries.kind = 'monitor.reminder'
                      or (deliveries.is_step
                          and (deliveries.kind not in ('monitor.down', 'monitor.flapping')
                               or deliveries.attempts = 0)))
                 and deliveries.state = 'waiting' and deliveries.lease_until <= r.ended",
            postgres: "update deliveries
                 set state = case when left_to is null then 'failed' else 'delivered' end,
                     next_try = null, last_answer = $2, finished = r.ended
                 from json_to_recordset(cast($1 as json)) as r(id uuid, ended bigint)
                 where deliveries.alert_id = r.id
                 and (deliveries.kind = 'monitor.reminder'
                      or (deliveries.is_step
                          and (deliveries.kind not in ('monitor.down', 'monitor.flapping')
                               or deliveries.attempts = 0)))
                 and deliveries.state = 'waiting' and deliveries.lease_until <= r.ended"
        )
    }

    pub(crate) fn canceled_answer() -> &'static str {
        OUTAGE_OVER
    }
}
