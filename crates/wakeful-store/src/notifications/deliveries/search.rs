//! The search for due deliveries. It reads the first delivery of each queue and nothing of those
//! behind it, and of each team only a limited number of queues at a time: however many deliveries
//! a team has waiting, the others are found.

use serde::Serialize;
use uuid::Uuid;
use wakeful_core::id::{DeliveryId, NodeId, NotifierId, TeamId};
use wakeful_core::notifications::notifier::Kind;
use wakeful_core::time::Millis;

use crate::claims::crashes;
use crate::deletion::deleted_monitors;
use crate::dialect::{either, from_row, read};
use crate::history::record::SimpleUuid;
use crate::monitors::json;
use crate::{Result, Store};

/// A delivery that can probably be claimed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct DueDelivery {
    pub id: DeliveryId,
    pub team: TeamId,
    pub notifier: NotifierId,
    pub kind: Kind,
    /// The number of other processes that claimed it and ended without an outcome.
    pub crashes: u32,
}

from_row!(DueDelivery, |row| Self {
    id: row.try_get::<Uuid, _>("id")?.into(),
    team: row.try_get::<Uuid, _>("team_id")?.into(),
    notifier: row.try_get::<Uuid, _>("notifier_id")?.into(),
    kind: Kind::parse(row.try_get("kind")?)
        .map_err(|_| sqlx::Error::Decode("not a kind of notifier".into()))?,
    crashes: u32::try_from(row.try_get::<i64, _>("crashes")?).unwrap_or(0),
});

/// The place of a queue among those of its team.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct QueuePosition {
    pub team: TeamId,
    pub notifier: NotifierId,
    /// A monitor, a window or a schedule.
    pub line: Uuid,
}

impl QueuePosition {
    /// Behind all queues of a team.
    pub fn end(team: TeamId) -> Self {
        Self { team, notifier: Uuid::max().into(), line: Uuid::max() }
    }
}

/// What is searched for due deliveries.
#[derive(Clone, Copy, Debug)]
pub struct DueSearch<'a> {
    pub now: Millis,
    /// The most for one notifier.
    pub each: u32,
    /// The most in total.
    pub limit: u32,
    /// The queues of a team that are read, at most.
    pub queues: u32,
    /// Teams whose queues are read from behind this one on, except that the first of all is
    /// always read.
    pub from: &'a [QueuePosition],
}

/// What was found.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct FoundDeliveries {
    /// The first of every team comes before the second of any, and within a team the first of
    /// every notifier before the second of any.
    pub due: Vec<DueDelivery>,
    /// The last queue that was read of each team that may have more of them.
    pub read_to: Vec<QueuePosition>,
}

struct FoundRow {
    due: Option<DueDelivery>,
    read_to: Option<QueuePosition>,
}

from_row!(FoundRow, |row| {
    let found: DueDelivery = sqlx::FromRow::from_row(row)?;
    let DueDelivery { team, notifier, .. } = found;
    let position = QueuePosition { team, notifier, line: row.try_get("line")? };
    Self {
        due: row.try_get::<bool, _>("is_due")?.then_some(found),
        read_to: row.try_get::<bool, _>("is_last")?.then_some(position),
    }
});

#[derive(Serialize)]
struct FromRow {
    team: SimpleUuid,
    notifier: SimpleUuid,
    line: SimpleUuid,
}

/// The columns of a queue's first delivery, in the index of what waits.
macro_rules! head_columns {
    ($of:literal) => {
        concat!(
            $of,
            ".team_id, ",
            $of,
            ".notifier_id, ",
            $of,
            ".line, ",
            $of,
            ".sequence, ",
            $of,
            ".id, ",
            $of,
            ".next_try, ",
            $of,
            ".lease_until, ",
            $of,
            ".created, ",
            $of,
            ".claims, ",
            $of,
            ".claimed_by"
        )
    };
}

/// Without the escalation steps that wait for their delay: what is behind them need not wait.
macro_rules! in_queue {
    () => {
        "f.state = 'waiting' and f.left_to is null
             and not (f.is_step and f.attempts = 0 and f.next_try > $1)"
    };
}

macro_rules! head_order {
    ($of:literal) => {
        concat!(
            " order by ",
            $of,
            ".team_id, ",
            $of,
            ".notifier_id, ",
            $of,
            ".line, ",
            $of,
            ".sequence, ",
            $of,
            ".id limit 1"
        )
    };
}

/// The key behind which the search continues after the queue `h`: that of this queue, or one
/// further on.
macro_rules! next_key {
    ($max:literal, $notifier:literal, $line:literal, $from:literal) => {
        concat!(
            "(h.team_id, case when h.place >= $5 then ",
            $max,
            "
                  when h.place = 1 then coalesce((select ",
            $notifier,
            $from,
            "), h.notifier_id)
                  else h.notifier_id end,
              case when h.place >= $5 then ",
            $max,
            "
                  when h.place = 1 then coalesce((select ",
            $line,
            $from,
            "), h.line)
                  else h.line end)"
        )
    };
}

/// From the queues to the rows: those that are due, in turns, and those that end a part.
macro_rules! found {
    () => {
        concat!(
            "select w.id, w.team_id, w.notifier_id, w.line, n.kind, w.crashes, w.is_last,
                    w.is_due and w.place <= $2 and n.disabled_at is null
                    and w.is_monitored as is_due
             from (
                 select d.id, d.team_id, d.notifier_id, d.line, d.created, d.is_due, ",
            crashes!("$4"),
            ", d.is_last, d.line not in ",
            deleted_monitors!(),
            " as is_monitored,
                        row_number() over (
                            partition by d.notifier_id, d.is_due
                            order by d.created, d.id) as place
                 from (
                     select h.id, h.team_id, h.notifier_id, h.line, h.created, h.claims,
                            h.claimed_by, h.place >= $5 as is_last,
                            h.next_try <= $1 and h.lease_until <= $1 as is_due
                     from heads h
                     where (h.next_try <= $1 and h.lease_until <= $1) or h.place >= $5
                     union all
                     select d.id, d.team_id, d.notifier_id, d.line, d.created, d.claims,
                            d.claimed_by, false, true
                     from deliveries d
                     where d.state = 'waiting' and d.left_to is not null
                     and d.next_try <= $1 and d.lease_until <= $1) d) w
             join notifiers n on n.id = w.notifier_id
             where w.is_last or (w.place <= $2 and n.disabled_at is null and w.is_monitored)
             order by w.is_last desc,
                      row_number() over (partition by w.team_id order by w.place, w.created),
                      w.created
             limit $3"
        )
    };
}

const SQLITE: &str = concat!(
    "with recursive heads(team_id, notifier_id, line, sequence, id, next_try, lease_until,
                          created, claims, claimed_by, place) as (
         select ",
    head_columns!("e"),
    ", 1
         from deliveries e
         where e.state = 'waiting' and e.left_to is null
         and (e.team_id, e.notifier_id, e.line, e.sequence, e.id) = (
             select f.team_id, f.notifier_id, f.line, f.sequence, f.id
             from deliveries f
             where ",
    in_queue!(),
    head_order!("f"),
    ")
         union all
         select ",
    head_columns!("e"),
    ",
                case when e.team_id = h.team_id then h.place + 1 else 1 end
         from heads h
         join deliveries e on e.state = 'waiting' and e.left_to is null
         and (e.team_id, e.notifier_id, e.line, e.sequence, e.id) = (
             select f.team_id, f.notifier_id, f.line, f.sequence, f.id
             from deliveries f
             where ",
    in_queue!(),
    "
             and (f.team_id, f.notifier_id, f.line) > ",
    next_key!(
        "x'ffffffffffffffffffffffffffffffff'",
        "unhex(value ->> 'notifier')",
        "unhex(value ->> 'line')",
        " from json_each($6)
          where unhex(value ->> 'team') = h.team_id
          and (unhex(value ->> 'notifier'), unhex(value ->> 'line'))
              > (h.notifier_id, h.line)"
    ),
    head_order!("f"),
    "))
     ",
    found!()
);

const POSTGRES: &str = concat!(
    "with recursive heads(team_id, notifier_id, line, sequence, id, next_try, lease_until,
                          created, claims, claimed_by, place) as (
         (select ",
    head_columns!("f"),
    ", cast(1 as bigint)
          from deliveries f
          where ",
    in_queue!(),
    head_order!("f"),
    ")
         union all
         select ",
    head_columns!("e"),
    ",
                case when e.team_id = h.team_id then h.place + 1 else 1 end
         from heads h
         cross join lateral (
             select ",
    head_columns!("f"),
    "
             from deliveries f
             where ",
    in_queue!(),
    "
             and (f.team_id, f.notifier_id, f.line) > ",
    next_key!(
        "cast('ffffffff-ffff-ffff-ffff-ffffffffffff' as uuid)",
        "r.notifier",
        "r.line",
        " from json_to_recordset(cast($6 as json)) as r(team uuid, notifier uuid, line uuid)
          where r.team = h.team_id and (r.notifier, r.line) > (h.notifier_id, h.line)"
    ),
    head_order!("f"),
    ") e)
     ",
    found!()
);

impl Store {
    /// Deliveries that are due and first in their queues.
    pub async fn search_due_deliveries(&self, search: DueSearch<'_>) -> Result<FoundDeliveries> {
        let from: Vec<FromRow> = search
            .from
            .iter()
            .map(|QueuePosition { team, notifier, line }| FromRow {
                team: team.uuid().into(),
                notifier: notifier.uuid().into(),
                line: (*line).into(),
            })
            .collect();
        let sql = either!(self, sqlite: SQLITE, postgres: POSTGRES);
        let rows: Vec<FoundRow> = read!(self, |db| {
            sqlx::query_as(sql)
                .bind(search.now.0)
                .bind(i64::from(search.each))
                .bind(i64::from(search.limit))
                .bind(self.node.map(NodeId::uuid))
                .bind(i64::from(search.queues))
                .bind(json(&from))
                .fetch_all(db)
                .await
        })?;
        let mut found = FoundDeliveries::default();
        for FoundRow { due, read_to } in rows {
            found.due.extend(due);
            found.read_to.extend(read_to);
        }
        Ok(found)
    }

    /// Deliveries that are due and first in their queues, of as many queues as there are.
    pub async fn due_deliveries(
        &self,
        now: Millis,
        each: u32,
        limit: u32,
    ) -> Result<Vec<DueDelivery>> {
        let search = DueSearch { now, each, limit, queues: u32::MAX, from: &[] };
        Ok(self.search_due_deliveries(search).await?.due)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Keyring, Location, Options};

    /// The search reads the index of what waits, from queue to queue, and no other.
    #[tokio::test]
    async fn the_search_in_sqlite_skips_what_is_behind_the_first_of_a_queue() {
        let folder = tempfile::tempdir().unwrap();
        let location = Location::Sqlite(folder.path().join("wakeful.db"));
        let keyring = Keyring::load_or_create(&folder.path().join("master.key")).unwrap();
        let store = Store::open(&Options { location, max_connections: 8 }, keyring).await.unwrap();
        let explain = || sqlx::AssertSqlSafe(format!("explain query plan {SQLITE}"));
        let plan: Vec<(i64, i64, i64, String)> =
            read!(store, |db| sqlx::query_as(explain()).fetch_all(db).await).unwrap();
        let plan: Vec<String> = plan.into_iter().map(|(.., step)| step).collect();
        let next = "SEARCH f USING COVERING INDEX deliveries_waiting \
                    ((team_id,notifier_id,line)>(?,?,?))";
        let head = "SEARCH e USING COVERING INDEX deliveries_waiting \
                    (team_id=? AND notifier_id=? AND line=? AND sequence=? AND id=?)";
        let partly_sent = "SEARCH d USING INDEX deliveries_left_to (state=? AND next_try<?)";
        for step in [next, head, partly_sent] {
            assert!(plan.iter().any(|line| line == step), "{step}: {plan:#?}");
        }
        let reads_others = |line: &String| line.contains("deliveries_next_try") || line == "SCAN d";
        assert!(!plan.iter().any(reads_others), "{plan:#?}");
    }
}
