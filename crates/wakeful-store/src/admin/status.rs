//! How the installation is doing, in numbers: what it has, and what waits to be sent.

use uuid::Uuid;
use wakeful_core::audit::{Action, Change, Object, ObjectKind};
use wakeful_core::id::{NotifierId, TeamId};
use wakeful_core::time::Millis;

use super::{AdminAuthority, confirm};
use crate::deletion::deleted_teams;
use crate::dialect::{either, from_row, read, within};
use crate::{AuditContext, NewEntry, Result, Store, Table};

/// Beyond this, what waits is not counted.
const MAX_COUNTED: i64 = 100_000;
/// The sizes of the tables of a larger SQLite database are not measured, because that reads all
/// of it.
const MAX_MEASURED_BYTES: i64 = 256 << 20;
/// How many mails, and how many deliveries, become due at once.
const RETRY_BATCH: i64 = 1_000;

/// How much the installation has.
#[derive(Clone, Copy, Debug)]
pub struct InstallationCounts {
    pub teams: i64,
    pub suspended_teams: i64,
    pub users: i64,
    pub suspended_users: i64,
    pub admins: i64,
    pub monitors: i64,
}

from_row!(InstallationCounts, |row| Self {
    teams: row.try_get("teams")?,
    suspended_teams: row.try_get("suspended_teams")?,
    users: row.try_get("users")?,
    suspended_users: row.try_get("suspended_users")?,
    admins: row.try_get("admins")?,
    monitors: row.try_get("monitors")?,
});

/// What waits in a queue.
#[derive(Clone, Copy, Debug)]
pub struct QueueStatus {
    pub waiting: i64,
    /// Those that were tried before.
    pub failing: i64,
    /// When the oldest was created.
    pub oldest: Option<Millis>,
}

from_row!(QueueStatus, |row| Self {
    waiting: row.try_get("waiting")?,
    failing: row.try_get("failing")?,
    oldest: row.try_get::<Option<i64>, _>("oldest")?.map(Millis),
});

/// The size of the database.
#[derive(Clone, Debug)]
pub struct DatabaseSize {
    pub bytes: i64,
    /// The largest first; empty if measuring would take too long.
    pub tables: Vec<Table>,
}

/// Deliveries of a notifier that should have arrived by now.
#[derive(Clone, Debug)]
pub struct StuckDeliveries {
    pub team: TeamId,
    pub team_name: String,
    pub notifier: NotifierId,
    pub kind: String,
    /// Since when the notifier has done nothing but fail.
    pub failing_since: Option<Millis>,
    pub waiting: i64,
    pub oldest: Millis,
    pub next_try: Millis,
}

from_row!(StuckDeliveries, |row| Self {
    team: row.try_get::<Uuid, _>("team_id")?.into(),
    team_name: row.try_get("team_name")?,
    notifier: row.try_get::<Uuid, _>("notifier_id")?.into(),
    kind: row.try_get("kind")?,
    failing_since: row.try_get::<Option<i64>, _>("failing_since")?.map(Millis),
    waiting: row.try_get("waiting")?,
    oldest: Millis(row.try_get("oldest")?),
    next_try: Millis(row.try_get("next_try")?),
});

/// How much became due.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Retried {
    pub mails: u64,
    pub deliveries: u64,
    /// Whether there may be more.
    pub more: bool,
}

impl Store {
    pub async fn installation_counts(&self) -> Result<InstallationCounts> {
        Ok(read!(self, |db| {
            sqlx::query_as(concat!(
                "select (select count(*) from teams where deleted_at is null) as teams,
                        (select count(*) from teams
                         where suspended_at is not null and deleted_at is null
                         and (suspended_at is not null or resumed_at is not null)) as suspended_teams,
                        (select count(*) from users where kind = 'person') as users,
                        (select count(*) from users
                         where kind = 'person' and suspended_at is not null) as suspended_users,
                        (select count(*) from users where is_admin) as admins,
                        (select count(*) from monitors where team_id not in ",
                deleted_teams!(),
                ") as monitors"
            ))
            .fetch_one(db)
            .await
        })?)
    }

    /// The service's own mail that waits to be sent.
    pub async fn mail_queue(&self) -> Result<QueueStatus> {
        Ok(read!(self, |db| {
            sqlx::query_as(
                "select count(*) as waiting, count(case when attempts > 0 then 1 end) as failing,
                        min(created) as oldest
                 from (select created, attempts from mails where next_try is not null limit $1) w",
            )
            .bind(MAX_COUNTED)
            .fetch_one(db)
            .await
        })?)
    }

    /// The notifications that wait to be delivered.
    pub async fn delivery_queue(&self) -> Result<QueueStatus> {
        Ok(read!(self, |db| {
            sqlx::query_as(
                "select count(*) as waiting, count(case when attempts > 0 then 1 end) as failing,
                        min(created) as oldest
                 from (select created, attempts from deliveries
                       where next_try is not null
                       limit $1) w",
            )
            .bind(MAX_COUNTED)
            .fetch_one(db)
            .await
        })?)
    }

    pub async fn database_size(&self) -> Result<DatabaseSize> {
        let sql = either!(
            self,
            sqlite: "select page_count * page_size from pragma_page_count, pragma_page_size",
            postgres: "select pg_database_size(current_database())"
        );
        let bytes: i64 = read!(self, |db| sqlx::query_scalar(sql).fetch_one(db).await)?;
        let measurable = self.is_shared() || bytes <= MAX_MEASURED_BYTES;
        let tables = if measurable { self.tables().await? } else { Vec::new() };
        Ok(DatabaseSize { bytes, tables })
    }

    /// A page of the notifiers with deliveries that were created before `since` and still wait,
    /// by team and notifier.
    pub async fn stuck_deliveries(
        &self,
        since: Millis,
        after: Option<(TeamId, NotifierId)>,
        limit: u32,
    ) -> Result<Vec<StuckDeliveries>> {
        let (team, notifier) = after
            .map_or((Uuid::nil(), Uuid::nil()), |(team, notifier)| (team.uuid(), notifier.uuid()));
        Ok(read!(self, |db| {
            sqlx::query_as(
                "select w.team_id, t.name as team_name, w.notifier_id, n.kind, n.failing_since,
                        w.waiting, w.oldest, w.next_try
                 from (select team_id, notifier_id, count(*) as waiting, min(created) as oldest,
                              min(next_try) as next_try
                       from deliveries
                       where next_try is not null and created < $1
                       and (team_id, notifier_id) > ($2, $3)
                       group by team_id, notifier_id
                       order by team_id, notifier_id
                       limit $4) w
                 join teams t on t.id = w.team_id and t.deleted_at is null
                 join notifiers n on n.id = w.notifier_id and n.team_id = w.team_id
                 order by w.team_id, w.notifier_id",
            )
            .bind(since.0)
            .bind(team)
            .bind(notifier)
            .bind(i64::from(limit))
            .fetch_all(db)
            .await
        })?)
    }

    /// Makes waiting mails and deliveries due, those that are due first; with a notifier, only its
    /// deliveries. `None` if there is no such notifier.
    pub async fn retry_now(
        &self,
        notifier: Option<NotifierId>,
        who: AdminAuthority<'_>,
        by: &AuditContext,
    ) -> Result<Option<Retried>> {
        let now = by.at();
        let mut tx = self.begin_administration(who).await?;
        confirm(&mut tx, who).await?;
        let of: Option<(Uuid, String)> = match notifier {
            None => None,
            Some(id) => within!(tx, |db| {
                sqlx::query_as(concat!(
                    "select team_id, kind from notifiers where id = $1 and team_id not in ",
                    deleted_teams!()
                ))
                .bind(id.uuid())
                .fetch_optional(db)
                .await
            })?,
        };
        if notifier.is_some() && of.is_none() {
            return Ok(None);
        }
        let deliveries = within!(tx, |db| {
            sqlx::query(
                "update deliveries set next_try = $1
                 where id in (select id from deliveries
                              where next_try > $1 and lease_until <= $1
                              and ($2 is null or notifier_id = $2)
                              order by next_try
                              limit $3)",
            )
            .bind(now.0)
            .bind(notifier.map(NotifierId::uuid))
            .bind(RETRY_BATCH)
            .execute(db)
            .await
            .map(|done| done.rows_affected())
        })?;
        let mails = match notifier {
            Some(_) => 0,
            None => within!(tx, |db| {
                sqlx::query(
                    "update mails set next_try = $1
                     where id in (select id from mails
                                  where next_try > $1 and lease_until <= $1
                                  order by next_try
                                  limit $2)",
                )
                .bind(now.0)
                .bind(RETRY_BATCH)
                .execute(db)
                .await
                .map(|done| done.rows_affected())
            })?,
        };
        let changes = vec![
            Change::new("mails", None, Some(mails.into())),
            Change::new("deliveries", None, Some(deliveries.into())),
        ];
        let (object, teams) = match (notifier, of) {
            (Some(id), Some((team, _))) => {
                (Object::new(ObjectKind::Notifier, &id, ""), vec![TeamId::from(team)])
            }
            _ => (Object::new(ObjectKind::Installation, &"", ""), Vec::new()),
        };
        let entry = NewEntry::new(Action::AdminRetry, object, changes);
        self.write_administration(&mut tx, by, &entry, &teams).await?;
        tx.commit().await?;
        if deliveries > 0 {
            self.outbox.notify_any();
        }
        let full = RETRY_BATCH.cast_unsigned();
        Ok(Some(Retried { mails, deliveries, more: mails == full || deliveries == full }))
    }
}
