//! The alerts of a team: each outage or warning with the deliveries of its
//! notifications.

use std::collections::HashMap;
use uuid::Uuid;
use wakeful_core::alerting::alert::{Alert, AlertKind};
use wakeful_core::id::{AlertId, DeliveryId, MonitorId, NotifierId};
use wakeful_core::notifications::delivery_state::DeliveryState;
use wakeful_core::notifications::recipients::Recipients;
use wakeful_core::time::Millis;

use crate::dialect::{from_row, read};
use crate::monitors::visible::is_visible;
use crate::notifications::deliveries::optional_json;
use crate::{Result, TeamStore};

/// An alert with the name of its monitor.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ListedAlert {
    pub alert: Alert,
    pub monitor_name: String,
    pub deliveries: Vec<Delivery>,
}

/// The delivery of one event to one notifier.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Delivery {
    pub id: DeliveryId,
    pub notifier: NotifierId,
    pub notifier_name: String,
    /// `monitor.down`, `monitor.reminder`, `monitor.up` or
    /// `monitor.certificate_expiring`.
    pub kind: String,
    pub state: DeliveryState,
    pub attempts: i64,
    pub last_answer: String,
    /// For a mail, once its server has responded to the recipients.
    pub recipients: Option<Recipients>,
    pub created: Millis,
    pub next_try: Option<Millis>,
    pub finished: Option<Millis>,
}

from_row!(ListedAlert, |row| Self {
    alert: Alert {
        id: row.try_get::<Uuid, _>("id")?.into(),
        team: row.try_get::<Uuid, _>("team_id")?.into(),
        monitor: row.try_get::<Uuid, _>("monitor_id")?.into(),
        kind: AlertKind::parse(row.try_get("kind")?)
            .ok_or_else(|| sqlx::Error::Decode("not a kind of alert".into()))?,
        cause: row.try_get("cause")?,
        started: Millis(row.try_get("started")?),
        ended: row.try_get::<Option<i64>, _>("ended")?.map(Millis),
    },
    monitor_name: row.try_get("name")?,
    deliveries: Vec::new(),
});

struct AlertDelivery {
    alert: AlertId,
    delivery: Delivery,
}

from_row!(AlertDelivery, |row| Self {
    alert: row.try_get::<Uuid, _>("alert_id")?.into(),
    delivery: Delivery {
        id: row.try_get::<Uuid, _>("id")?.into(),
        notifier: row.try_get::<Uuid, _>("notifier_id")?.into(),
        notifier_name: row.try_get("name")?,
        kind: row.try_get("kind")?,
        state: DeliveryState::parse(row.try_get("state")?)
            .ok_or_else(|| sqlx::Error::Decode("not a state of a delivery".into()))?,
        attempts: row.try_get("attempts")?,
        last_answer: row.try_get("last_answer")?,
        recipients: optional_json(row.try_get("recipients")?)?,
        created: Millis(row.try_get("created")?),
        next_try: row.try_get::<Option<i64>, _>("next_try")?.map(Millis),
        finished: row.try_get::<Option<i64>, _>("finished")?.map(Millis),
    },
});

impl TeamStore<'_> {
    /// The team's alerts older than `before`, newest first.
    pub async fn alerts(
        &self,
        before: Option<AlertId>,
        limit: Option<u32>,
    ) -> Result<Vec<ListedAlert>> {
        self.with_deliveries(self.alert_rows(None, before, limit).await?).await
    }

    /// One monitor's alerts; `None` when the team has no such monitor.
    pub async fn monitor_alerts(
        &self,
        monitor: MonitorId,
        before: Option<AlertId>,
        limit: Option<u32>,
    ) -> Result<Option<Vec<ListedAlert>>> {
        if !self.has_monitor(monitor).await? {
            return Ok(None);
        }
        let rows = self.alert_rows(Some(monitor), before, limit).await?;
        self.with_deliveries(rows).await.map(Some)
    }

    async fn alert_rows(
        &self,
        monitor: Option<MonitorId>,
        before: Option<AlertId>,
        limit: Option<u32>,
    ) -> Result<Vec<ListedAlert>> {
        Ok(read!(self.store, |db| {
            let query = match monitor {
                None => sqlx::query_as(concat!(
                    "select a.id, a.team_id, a.monitor_id, a.kind, a.cause, a.started, a.ended,
                            m.name
                     from alerts a
                     join monitors m on m.id = a.monitor_id
                     where a.team_id = $1 and a.id < $2 and ",
                    is_visible!("4"),
                    " order by a.id desc
                     limit $3"
                ))
                .bind(self.team.uuid()),
                Some(monitor) => sqlx::query_as(concat!(
                    "select a.id, a.team_id, a.monitor_id, a.kind, a.cause, a.started, a.ended,
                            m.name
                     from alerts a
                     join monitors m on m.id = a.monitor_id
                     where a.monitor_id = $1 and a.id < $2 and ",
                    is_visible!("4"),
                    " order by a.id desc
                     limit $3"
                ))
                .bind(monitor.uuid()),
            };
            query
                .bind(before.map_or(Uuid::max(), AlertId::uuid))
                .bind(limit.map_or(i64::MAX, i64::from))
                .bind(self.filter)
                .fetch_all(db)
                .await
        })?)
    }

    async fn with_deliveries(&self, mut alerts: Vec<ListedAlert>) -> Result<Vec<ListedAlert>> {
        let (Some(newest), Some(oldest)) = (alerts.first(), alerts.last()) else {
            return Ok(alerts);
        };
        let rows: Vec<AlertDelivery> = read!(self.store, |db| {
            sqlx::query_as(
                "select d.alert_id, d.id, d.notifier_id, n.name, d.kind, d.state, d.attempts,
                        d.last_answer, d.recipients, d.created, d.next_try, d.finished
                 from deliveries d
                 join notifiers n on n.id = d.notifier_id
                 where d.team_id = $1 and d.alert_id between $2 and $3
                 order by d.id",
            )
            .bind(self.team.uuid())
            .bind(oldest.alert.id.uuid())
            .bind(newest.alert.id.uuid())
            .fetch_all(db)
            .await
        })?;
        let mut found: HashMap<AlertId, Vec<Delivery>> = HashMap::new();
        for AlertDelivery { alert, delivery } in rows {
            found.entry(alert).or_default().push(delivery);
        }
        for listed in &mut alerts {
            listed.deliveries = found.remove(&listed.alert.id).unwrap_or_default();
        }
        Ok(alerts)
    }
}
