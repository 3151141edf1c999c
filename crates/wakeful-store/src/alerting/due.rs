//! Alerts that are due, with what is needed to decide about them.

use serde::{Deserialize, Serialize};
use std::collections::HashMap;
use uuid::Uuid;
use wakeful_core::alerting::alert::AlertKind;
use wakeful_core::alerting::state::AlertState;
use wakeful_core::alerting::step::{AcknowledgedOutage, Facts, Report};
use wakeful_core::error_chain::ErrorChain;
use wakeful_core::id::{AlertId, EventId, TeamId};
use wakeful_core::monitors::Monitor;
use wakeful_core::notifications::event::{self, Event};
use wakeful_core::severity::Severity;
use wakeful_core::time::Millis;

use crate::deletion::deleted_monitors;
use crate::dialect::{either, from_row, read};
use crate::monitors::json;
use crate::monitors::visible::is_visible;
use crate::{NewEvent, Result, Store, TeamStore};

/// An alert to decide about.
#[derive(Clone, Debug)]
pub struct DueAlert {
    pub id: AlertId,
    pub team: TeamId,
    pub facts: Facts,
    pub cause: String,
    pub state: AlertState,
    pub due: Option<Millis>,
    /// A decision is written only if nobody has changed the alert since.
    pub revision: i64,
    pub opened: Option<StoredEvent>,
    pub closed: Option<StoredEvent>,
    /// The monitor's outage before this one, if it was acknowledged.
    pub previous: Option<AcknowledgedOutage>,
    /// For a certificate warning: the target still presents that certificate.
    pub same_certificate: bool,
    /// How many notifiers the monitor has.
    pub notifiers: usize,
    /// Whether the team has routing rules.
    pub is_routed: bool,
    /// Whether the team has maintenance windows.
    pub has_windows: bool,
    /// Whether the team has groups or dependencies.
    pub is_connected: bool,
    /// Since when the team is suspended.
    pub suspended_at: Option<Millis>,
    /// A reminder that was rescheduled since the last decision; it is in the state already.
    pub(crate) remind_at: Option<i64>,
}

impl DueAlert {
    /// An alert as it would open, which is not stored: to find out what would suppress it besides
    /// maintenance windows.
    pub fn imagined(
        monitor: &Monitor,
        kind: AlertKind,
        severity: Severity,
        started: Millis,
    ) -> Self {
        Self {
            id: AlertId::UNKNOWN,
            team: monitor.team,
            facts: Facts {
                monitor: monitor.id,
                kind,
                severity,
                started,
                ended: None,
                opening: Report::Pending,
                recovery: Report::Pending,
            },
            cause: String::new(),
            state: AlertState::default(),
            due: None,
            revision: 0,
            opened: None,
            closed: None,
            previous: None,
            same_certificate: true,
            notifiers: 0,
            is_routed: false,
            has_windows: false,
            is_connected: true,
            suspended_at: None,
            remind_at: None,
        }
    }
}

/// An event that is stored with its alert until it is delivered.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct StoredEvent {
    id: EventId,
    kind: String,
    seq: i64,
    at: i64,
    body: String,
}

impl StoredEvent {
    pub(crate) fn of(event: &NewEvent, seq: i64, at: Millis) -> Self {
        let NewEvent { id, kind, body, .. } = event;
        Self { id: *id, kind: (*kind).to_owned(), seq, at: at.0, body: body.clone() }
    }

    /// The event of this alert; `None` if a later version has written it.
    pub fn event(&self, alert: AlertId) -> Option<NewEvent> {
        let kind = event::TYPES.iter().find(|kind| **kind == self.kind)?;
        Some(NewEvent { id: self.id, kind, alert, body: self.body.clone() })
    }

    /// Whether a monitor is no longer degraded because it is down.
    fn is_replaced(&self) -> bool {
        self.kind == event::RESTORED
            && Event::parse(&self.body)
                .is_some_and(|event| event.data.health.as_deref() == Some("down"))
    }

    /// The sequence number of the verdict that it reports.
    pub fn seq(&self) -> i64 {
        self.seq
    }

    pub fn at(&self) -> Millis {
        Millis(self.at)
    }
}

/// A row, as text: one that cannot be read must not hide the others.
struct Row {
    id: Uuid,
    team: Uuid,
    monitor: Uuid,
    kind: String,
    cause: String,
    severity: String,
    started: i64,
    ended: Option<i64>,
    due: Option<i64>,
    remind_at: Option<i64>,
    revision: i64,
    state: String,
    opened: Option<String>,
    closed: Option<String>,
    previous_state: Option<String>,
    previous_ended: Option<i64>,
    certificate_since: Option<i64>,
    notifiers: i64,
    routing: Option<i64>,
    has_windows: bool,
    is_connected: bool,
    suspended_at: Option<i64>,
}

from_row!(Row, |row| Self {
    id: row.try_get(0)?,
    team: row.try_get(1)?,
    monitor: row.try_get(2)?,
    kind: row.try_get(3)?,
    cause: row.try_get(4)?,
    severity: row.try_get(5)?,
    started: row.try_get(6)?,
    ended: row.try_get(7)?,
    due: row.try_get(8)?,
    remind_at: row.try_get(9)?,
    revision: row.try_get(10)?,
    state: row.try_get(11)?,
    opened: row.try_get(12)?,
    closed: row.try_get(13)?,
    previous_state: row.try_get(14)?,
    previous_ended: row.try_get(15)?,
    certificate_since: row.try_get(16)?,
    notifiers: row.try_get(17)?,
    routing: row.try_get(18)?,
    has_windows: row.try_get(19)?,
    is_connected: row.try_get(20)?,
    suspended_at: row.try_get(21)?,
});

/// The columns of `Row`, for the alert `a` and the monitor's outage before it, `p`.
macro_rules! due_columns {
    () => {
        "a.id, a.team_id, a.monitor_id, a.kind, a.cause, a.severity, a.started, a.ended, a.due,
         a.remind_at, a.revision, a.state, a.opened_event, a.closed_event, p.state, p.ended,
         (select c.since from certificates c
          where c.monitor_id = a.monitor_id and a.kind = 'certificate'),
         (select count(*) from monitor_notifiers l where l.monitor_id = a.monitor_id),
         (select r.revision from routing r where r.team_id = a.team_id),
         exists (select 1 from maintenances w where w.team_id = a.team_id),
         exists (select 1 from dependencies d where d.team_id = a.team_id)
         or exists (select 1 from monitors g where g.team_id = a.team_id and g.kind = 'group'),
         (select t.suspended_at from teams t where t.id = a.team_id)"
    };
}

macro_rules! with_previous {
    () => {
        "alerts a
         left join alerts p on p.id = (
             select q.id from alerts q
             where q.monitor_id = a.monitor_id and q.kind = 'outage' and q.id < a.id
             order by q.id desc
             limit 1)"
    };
}

/// The teams with alerts that are due now or later, from one to the next in the index.
macro_rules! teams_with_due {
    () => {
        "with recursive due_teams(id) as (
             select f.team_id from (
                 select team_id from alerts where due is not null order by team_id limit 1) f
             union all
             select (
                 select a.team_id from alerts a
                 where a.due is not null and a.team_id > t.id
                 order by a.team_id
                 limit 1)
             from due_teams t
             where t.id is not null)"
    };
}

impl Row {
    /// `None`, with a line in the log, if it cannot be read.
    fn read(self) -> Option<DueAlert> {
        let id = AlertId::from(self.id);
        self.try_read()
            .inspect_err(|error| {
                tracing::error!(alert.id = %id, error = %ErrorChain(error), "reading alert {id} failed, nobody is notified of it");
            })
            .ok()
    }

    fn try_read(self) -> sqlx::Result<DueAlert> {
        let mut state: AlertState = parse(&self.state)?;
        if let Some(at) = self.remind_at {
            state.reminder_at = Some(Millis(at));
        }
        let opened: Option<StoredEvent> = self.opened.as_deref().map(parse).transpose()?;
        let closed: Option<StoredEvent> = self.closed.as_deref().map(parse).transpose()?;
        let report = |event: &Option<StoredEvent>| match event {
            Some(event) if event.is_replaced() => Report::Replaced,
            Some(_) => Report::Pending,
            None => Report::Elsewhere,
        };
        let previous: Option<AlertState> = self.previous_state.as_deref().map(parse).transpose()?;
        let acknowledged = previous.and_then(|previous| previous.acknowledged);
        let started = Millis(self.started);
        Ok(DueAlert {
            id: self.id.into(),
            team: self.team.into(),
            facts: Facts {
                monitor: self.monitor.into(),
                kind: AlertKind::parse(&self.kind).ok_or_else(|| damaged("kind"))?,
                severity: Severity::parse(&self.severity).map_err(|_| damaged("severity"))?,
                started,
                ended: self.ended.map(Millis),
                opening: report(&opened),
                recovery: report(&closed),
            },
            cause: self.cause,
            state,
            due: self.due.map(Millis),
            revision: self.revision,
            opened,
            closed,
            previous: acknowledged.zip(self.previous_ended).map(|(acknowledged, ended)| {
                AcknowledgedOutage { ended: Millis(ended), acknowledged }
            }),
            same_certificate: self.certificate_since.is_some_and(|since| since <= self.started),
            notifiers: usize::try_from(self.notifiers).unwrap_or(0),
            is_routed: self.routing.is_some(),
            has_windows: self.has_windows,
            is_connected: self.is_connected,
            suspended_at: self.suspended_at.map(Millis),
            remind_at: self.remind_at,
        })
    }
}

fn parse<T: serde::de::DeserializeOwned>(text: &str) -> sqlx::Result<T> {
    serde_json::from_str(text).map_err(|error| sqlx::Error::Decode(error.into()))
}

fn damaged(column: &str) -> sqlx::Error {
    sqlx::Error::Decode(format!("not a {column} of an alert").into())
}

fn readable(rows: Vec<Row>) -> Vec<DueAlert> {
    rows.into_iter().filter_map(Row::read).collect()
}

/// The first alert of every team before the second of any; those of a team stay in order.
fn in_turns(mut alerts: Vec<DueAlert>) -> Vec<DueAlert> {
    let mut counts: HashMap<TeamId, usize> = HashMap::new();
    alerts.sort_by_cached_key(|alert| {
        let count = counts.entry(alert.team).or_default();
        *count += 1;
        *count
    });
    alerts
}

impl Store {
    /// Alerts that are due, and those whose reminder a node of the previous version has scheduled.
    /// Teams take turns: the first of every team comes before the second of any, the longest
    /// overdue first. At most `limit`; if there are more, at most half as many of one team, so
    /// fewer than half of `limit` are all of them.
    pub async fn due_alerts(&self, now: Millis, limit: u32) -> Result<Vec<DueAlert>> {
        let rows: Vec<Row> = read!(self, |db| {
            sqlx::query_as(concat!(
                "select ",
                due_columns!(),
                " from ",
                with_previous!(),
                " where a.id in (
                      select d.id from (
                          select id from alerts
                          where due <= $1 and monitor_id not in ",
                deleted_monitors!(),
                "         order by due limit $2) d
                      union
                      select r.id from (
                          select id from alerts
                          where remind_at <= $1 and monitor_id not in ",
                deleted_monitors!(),
                "         order by remind_at limit $2) r)
                  order by coalesce(a.due, a.remind_at), a.id
                  limit $2"
            ))
            .bind(now.0)
            .bind(i64::from(limit))
            .fetch_all(db)
            .await
        })?;
        if rows.len() < limit as usize {
            return Ok(in_turns(readable(rows)));
        }
        let ids = self.due_alerts_of_all_teams(now, limit).await?;
        let mut alerts = self.alerts_to_decide(&ids).await?;
        alerts.sort_by_key(|alert| (alert.due, alert.id));
        Ok(in_turns(alerts))
    }

    /// The longest overdue alerts of each team, the first of every team before the second of any.
    /// It reads those and no others.
    async fn due_alerts_of_all_teams(&self, now: Millis, limit: u32) -> Result<Vec<AlertId>> {
        let sql = either!(
            self,
            sqlite: concat!(teams_with_due!(), "
                 select d.id
                 from due_teams t
                 cross join alerts d
                 where d.id in (
                     select e.id from alerts e
                     where e.team_id = t.id and e.due <= $1
                     and e.monitor_id not in ", deleted_monitors!(), "
                     order by e.due
                     limit $2)
                 order by row_number() over (partition by d.team_id order by d.due, d.id), d.due
                 limit $3"),
            postgres: concat!(teams_with_due!(), "
                 select d.id
                 from due_teams t
                 cross join lateral (
                     select e.id, e.team_id, e.due from alerts e
                     where e.team_id = t.id and e.due <= $1
                     and e.monitor_id not in ", deleted_monitors!(), "
                     order by e.due
                     limit $2) d
                 order by row_number() over (partition by d.team_id order by d.due, d.id), d.due
                 limit $3")
        );
        let ids: Vec<Uuid> = read!(self, |db| {
            sqlx::query_scalar(sql)
                .bind(now.0)
                .bind(i64::from(limit.div_ceil(2)))
                .bind(i64::from(limit))
                .fetch_all(db)
                .await
        })?;
        Ok(ids.into_iter().map(AlertId::from).collect())
    }

    /// Those of these alerts that exist.
    pub async fn alerts_to_decide(&self, ids: &[AlertId]) -> Result<Vec<DueAlert>> {
        let sql = either!(
            self,
            sqlite: concat!("select ", due_columns!(), " from ", with_previous!(),
                " where a.id in (select unhex(value) from json_each($1))
                  order by a.id"),
            postgres: concat!("select ", due_columns!(), " from ", with_previous!(),
                " where a.id in (
                      select cast(value as uuid) from json_array_elements_text(cast($1 as json)))
                  order by a.id")
        );
        let rows: Vec<Row> =
            read!(self, |db| sqlx::query_as(sql).bind(id_list(ids)).fetch_all(db).await)?;
        Ok(readable(rows))
    }

    /// The number of alerts that have been due since before then, and the longest overdue ones.
    pub async fn overdue_alerts(
        &self,
        before: Millis,
        limit: u32,
    ) -> Result<(i64, Vec<(AlertId, Millis)>)> {
        let count: i64 = read!(self, |db| {
            sqlx::query_scalar(concat!(
                "select count(*) from alerts where due < $1 and monitor_id not in ",
                deleted_monitors!()
            ))
            .bind(before.0)
            .fetch_one(db)
            .await
        })?;
        let rows: Vec<(Uuid, i64)> = read!(self, |db| {
            sqlx::query_as(concat!(
                "select id, due from alerts
                 where due < $1 and monitor_id not in ",
                deleted_monitors!(),
                " order by due limit $2"
            ))
            .bind(before.0)
            .bind(i64::from(limit))
            .fetch_all(db)
            .await
        })?;
        Ok((count, rows.into_iter().map(|(id, due)| (id.into(), Millis(due))).collect()))
    }

    /// The number of open alerts by status and severity, for the metrics.
    pub async fn count_open_alerts(&self) -> Result<Vec<(String, String, i64)>> {
        Ok(read!(self, |db| {
            sqlx::query_as(concat!(
                "select status, severity, count(*)
                 from alerts
                 where ended is null and monitor_id not in ",
                deleted_monitors!(),
                " group by status, severity"
            ))
            .fetch_all(db)
            .await
        })?)
    }

    /// Alerts with something due later, in the order of their ids, after the clock was set back.
    pub async fn alerts_due_later(
        &self,
        now: Millis,
        after: Option<AlertId>,
        limit: u32,
    ) -> Result<Vec<DueAlert>> {
        let rows: Vec<Row> = read!(self, |db| {
            sqlx::query_as(concat!(
                "select ",
                due_columns!(),
                " from ",
                with_previous!(),
                " where a.due > $1 and a.id > $2
                  order by a.id
                  limit $3"
            ))
            .bind(now.0)
            .bind(after.map_or(Uuid::nil(), AlertId::uuid))
            .bind(i64::from(limit))
            .fetch_all(db)
            .await
        })?;
        Ok(readable(rows))
    }
}

impl TeamStore<'_> {
    /// Those of these alerts that the team has and the caller may see.
    pub async fn alerts_to_change(&self, ids: &[AlertId]) -> Result<Vec<DueAlert>> {
        let sql = either!(
            self.store,
            sqlite: concat!("select ", due_columns!(), " from ", with_previous!(),
                " join monitors m on m.id = a.monitor_id and m.team_id = a.team_id
                  where a.id in (select unhex(value) from json_each($1)) and a.team_id = $2
                  and ", is_visible!("3"), "
                  order by a.id"),
            postgres: concat!("select ", due_columns!(), " from ", with_previous!(),
                " join monitors m on m.id = a.monitor_id and m.team_id = a.team_id
                  where a.id in (
                      select cast(value as uuid) from json_array_elements_text(cast($1 as json)))
                  and a.team_id = $2 and ", is_visible!("3"), "
                  order by a.id")
        );
        let rows: Vec<Row> = read!(self.store, |db| {
            sqlx::query_as(sql)
                .bind(id_list(ids))
                .bind(self.team.uuid())
                .bind(self.filter)
                .fetch_all(db)
                .await
        })?;
        Ok(readable(rows))
    }
}

/// Ids as a JSON array that both databases can read.
pub(crate) fn id_list(ids: &[AlertId]) -> String {
    let ids: Vec<String> = ids.iter().map(|id| id.uuid().simple().to_string()).collect();
    json(&ids)
}
