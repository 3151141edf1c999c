//! The alerts of a team: each outage or warning with the deliveries of its
//! notifications.

use std::collections::{HashMap, HashSet};
use uuid::Uuid;
use wakeful_core::alerting::alert::{Alert, AlertKind};
use wakeful_core::alerting::state::{AlertState, AlertStatus, Reason, Suppressed};
use wakeful_core::id::{AlertId, DeliveryId, MonitorId, NotifierId, UserId};
use wakeful_core::notifications::delivery_state::DeliveryState;
use wakeful_core::notifications::recipients::Recipients;
use wakeful_core::reason::Reason as Why;
use wakeful_core::severity::Severity;
use wakeful_core::time::Millis;

use super::due::id_list;
use crate::dialect::{either, from_row, read};
use crate::monitors::list::like;
use crate::monitors::visible::is_visible;
use crate::notifications::deliveries::optional_json;
use crate::{Affected, Result, TeamStore};

/// An alert with the name of its monitor.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ListedAlert {
    pub alert: Alert,
    pub monitor_name: String,
    pub status: AlertStatus,
    pub state: AlertState,
    /// The user it is assigned to, with the name or else the address.
    pub assignee: Option<(UserId, String)>,
    /// The monitors that depend on this one, while it is down.
    pub affected: Option<Affected>,
    pub deliveries: Vec<Delivery>,
    /// The next escalation step; the engine computes it.
    pub next_step: Option<NextStep>,
}

/// An escalation step that will be taken unless somebody responds.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct NextStep {
    /// From 1.
    pub step: u32,
    pub at: Millis,
    /// The names of its recipients.
    pub notifies: Vec<String>,
}

/// Which alerts to list; all of them by default.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct AlertQuery {
    pub monitor: Option<MonitorId>,
    pub status: Option<AlertStatus>,
    pub severity: Option<Severity>,
    pub kind: Option<AlertKind>,
    pub tag: Option<String>,
    pub assignee: Option<UserId>,
    /// A part of the name, the target or the tags of the monitor.
    pub text: Option<String>,
    /// Those that one message was about.
    pub digest: Option<DeliveryId>,
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
        severity: Severity::parse(row.try_get("severity")?)
            .map_err(|_| sqlx::Error::Decode("not a severity".into()))?,
        cause: row.try_get("cause")?,
        reason: row.try_get::<Option<String>, _>("reason")?.map(|text| Why::parse(&text)),
        started: Millis(row.try_get("started")?),
        ended: row.try_get::<Option<i64>, _>("ended")?.map(Millis),
    },
    monitor_name: row.try_get("name")?,
    status: AlertStatus::parse(row.try_get("status")?)
        .ok_or_else(|| sqlx::Error::Decode("not a status of an alert".into()))?,
    state: optional_json(Some(row.try_get("state")?))?.unwrap_or_default(),
    assignee: row
        .try_get::<Option<Uuid>, _>("assignee")?
        .map(UserId::from)
        .zip(row.try_get::<Option<String>, _>("assignee_name")?),
    affected: None,
    deliveries: Vec::new(),
    next_step: None,
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

/// What has suppressed an alert, if it is a monitor.
fn links(state: &mut AlertState) -> impl Iterator<Item = &mut Suppressed> {
    let released = state.released.as_mut().map(|released| &mut released.by);
    let all = state.suppressed.as_mut().into_iter().chain(released);
    all.filter(|by| matches!(by.reason, Reason::Dependency | Reason::Group))
}

fn is_linked(state: &AlertState) -> bool {
    links(&mut state.clone()).next().is_some()
}

/// Hides monitors that the caller may not see.
fn hide_links(state: &mut AlertState, visible: &HashSet<Uuid>) {
    for by in links(state).filter(|by| !visible.contains(&by.id)) {
        by.id = Uuid::nil();
        by.name = String::new();
    }
}

/// Beyond this, the deliveries of all alerts in between are read.
const MAX_ID_LIST: usize = 1_000;

/// Of a message to a personal notifier, the others see its user and nothing else.
macro_rules! delivery_columns {
    () => {
        "d.alert_id, d.id, d.notifier_id, d.kind, d.state, d.attempts, d.created, d.next_try,
         d.finished,
         case when n.owner_id is null then d.last_answer else '' end as last_answer,
         case when n.owner_id is null then d.recipients end as recipients,
         case when n.owner_id is null then n.name
              else (select case when u.name = '' then u.email else u.name end
                    from users u where u.id = n.owner_id) end as name
         from deliveries d
         join notifiers n on n.id = d.notifier_id and n.team_id = d.team_id"
    };
}

const DELIVERIES_BETWEEN: &str = concat!(
    "select ",
    delivery_columns!(),
    " where d.team_id = $1 and d.alert_id between $2 and $3 and cast($4 as text) is not null
      order by d.id"
);

/// The status of the alert `a`: one that a node of the previous version has closed is over, too.
macro_rules! effective_status {
    () => {
        "case when a.ended is not null and a.status <> 'suppressed' then 'over' else a.status end"
    };
}

/// The columns of a listed alert. A user without a name is shown by the address.
macro_rules! listed_columns {
    () => {
        concat!(
            "a.id, a.team_id, a.monitor_id, a.kind, a.severity, a.cause, a.reason, a.started, a.ended,
             a.state, ",
            effective_status!(),
            " as status, m.name, a.assignee,
             case when u.name = '' then u.email else u.name end as assignee_name"
        )
    };
}

macro_rules! listed_tables {
    () => {
        "alerts a
         join monitors m on m.id = a.monitor_id and m.team_id = a.team_id
         left join users u on u.id = a.assignee"
    };
}

/// The conditions of an `AlertQuery`, in the parameters 5 to 11, and the page.
macro_rules! matches {
    () => {
        concat!(
            " and a.id < $2 and ",
            is_visible!("4"),
            " and ($5 is null or ",
            effective_status!(),
            " = $5)
              and ($6 is null or a.severity = $6)
              and ($7 is null or a.kind = $7)
              and ($8 is null or exists (
                  select 1 from monitor_tags t where t.monitor_id = m.id and t.tag = $8))
              and ($9 is null or a.assignee = $9)
              and ($10 is null or m.search like $10 escape '!')
              and ($11 is null or a.id in (
                  select d.alert_id from deliveries d where d.digest = $11))
              order by a.id desc
              limit $3"
        )
    };
}

impl TeamStore<'_> {
    /// The team's alerts older than `before`, newest first.
    pub async fn alerts(
        &self,
        before: Option<AlertId>,
        limit: Option<u32>,
    ) -> Result<Vec<ListedAlert>> {
        self.matching_alerts(&AlertQuery::default(), before, limit).await
    }

    /// The team's alerts that match the query and are older than `before`, newest first.
    pub async fn matching_alerts(
        &self,
        query: &AlertQuery,
        before: Option<AlertId>,
        limit: Option<u32>,
    ) -> Result<Vec<ListedAlert>> {
        self.with_deliveries(self.alert_rows(query, before, limit).await?).await
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
        let query = AlertQuery { monitor: Some(monitor), ..AlertQuery::default() };
        self.matching_alerts(&query, before, limit).await.map(Some)
    }

    /// One alert; `None` when the team has no such alert that the caller may see.
    pub async fn alert(&self, id: AlertId) -> Result<Option<ListedAlert>> {
        let row: Option<ListedAlert> = read!(self.store, |db| {
            sqlx::query_as(concat!(
                "select ",
                listed_columns!(),
                " from ",
                listed_tables!(),
                " where a.id = $1 and a.team_id = $2 and ",
                is_visible!("3")
            ))
            .bind(id.uuid())
            .bind(self.team.uuid())
            .bind(self.filter)
            .fetch_optional(db)
            .await
        })?;
        let listed = self.with_deliveries(row.into_iter().collect()).await?;
        Ok(listed.into_iter().next())
    }

    async fn alert_rows(
        &self,
        query: &AlertQuery,
        before: Option<AlertId>,
        limit: Option<u32>,
    ) -> Result<Vec<ListedAlert>> {
        let AlertQuery { monitor, status, severity, kind, tag, assignee, text, digest } = query;
        Ok(read!(self.store, |db| {
            let select = match monitor {
                None => sqlx::query_as(concat!(
                    "select ",
                    listed_columns!(),
                    " from ",
                    listed_tables!(),
                    " where a.team_id = $1",
                    matches!()
                ))
                .bind(self.team.uuid()),
                Some(monitor) => sqlx::query_as(concat!(
                    "select ",
                    listed_columns!(),
                    " from ",
                    listed_tables!(),
                    " where a.monitor_id = $1 and a.team_id = $12",
                    matches!()
                ))
                .bind(monitor.uuid()),
            };
            let select = select
                .bind(before.map_or(Uuid::max(), AlertId::uuid))
                .bind(limit.map_or(i64::MAX, i64::from))
                .bind(self.filter)
                .bind(status.map(AlertStatus::as_str))
                .bind(severity.map(Severity::as_str))
                .bind(kind.map(AlertKind::as_str))
                .bind(tag.as_deref())
                .bind(assignee.map(UserId::uuid))
                .bind(text.as_deref().map(like))
                .bind(digest.map(DeliveryId::uuid));
            match monitor {
                None => select.fetch_all(db).await,
                Some(_) => select.bind(self.team.uuid()).fetch_all(db).await,
            }
        })?)
    }

    async fn with_deliveries(&self, mut alerts: Vec<ListedAlert>) -> Result<Vec<ListedAlert>> {
        let (Some(newest), Some(oldest)) = (alerts.first(), alerts.last()) else {
            return Ok(alerts);
        };
        let listed = alerts.iter().map(|listed| listed.alert.id);
        // Those of a filter may be far apart.
        let ids: Vec<AlertId> = if alerts.len() <= MAX_ID_LIST { listed.collect() } else { vec![] };
        let rows: Vec<AlertDelivery> = read!(self.store, |db| {
            sqlx::query_as(if ids.is_empty() { DELIVERIES_BETWEEN } else { self.deliveries_of() })
                .bind(self.team.uuid())
                .bind(oldest.alert.id.uuid())
                .bind(newest.alert.id.uuid())
                .bind(id_list(&ids))
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
        self.add_links(&mut alerts).await?;
        Ok(alerts)
    }

    /// Adds what depends on the monitors that are down. What suppresses an alert is only named
    /// if the caller may see it.
    async fn add_links(&self, alerts: &mut [ListedAlert]) -> Result<()> {
        let is_open = |listed: &&ListedAlert| {
            listed.alert.ended.is_none() && listed.alert.kind == AlertKind::Outage
        };
        let mut down: Vec<MonitorId> =
            alerts.iter().filter(is_open).map(|listed| listed.alert.monitor).collect();
        down.sort_unstable();
        down.dedup();
        if !down.is_empty() {
            let affected = self.store.affected_by(&down, self.filter).await?;
            for listed in alerts.iter_mut().filter(|listed| is_open(&&**listed)) {
                listed.affected = affected.get(&listed.alert.monitor).cloned();
            }
        }
        if self.filter.is_some() && alerts.iter().any(|listed| is_linked(&listed.state)) {
            let visible: HashSet<Uuid> =
                self.monitor_ids().await?.into_iter().map(MonitorId::uuid).collect();
            alerts.iter_mut().for_each(|listed| hide_links(&mut listed.state, &visible));
        }
        Ok(())
    }

    /// What would suppress an alert, only named if the caller may see it.
    pub async fn without_hidden(&self, by: Option<Suppressed>) -> Result<Option<Suppressed>> {
        let mut state = AlertState { suppressed: by, ..AlertState::default() };
        if is_linked(&state) {
            let visible: HashSet<Uuid> =
                self.monitor_ids().await?.into_iter().map(MonitorId::uuid).collect();
            hide_links(&mut state, &visible);
        }
        Ok(state.suppressed)
    }

    fn deliveries_of(&self) -> &'static str {
        either!(
            self.store,
            sqlite: concat!("select ", delivery_columns!(),
                " where d.team_id = $1 and d.alert_id between $2 and $3
                  and d.alert_id in (select unhex(value) from json_each($4))
                  order by d.id"),
            postgres: concat!("select ", delivery_columns!(),
                " where d.team_id = $1 and d.alert_id between $2 and $3
                  and d.alert_id in (
                      select cast(value as uuid) from json_array_elements_text(cast($4 as json)))
                  order by d.id")
        )
    }
}
