//! The pings of jobs. The body is compressed and encrypted, because jobs print secrets. Only the
//! latest of each monitor remain.

use std::collections::HashMap;
use std::time::Duration;
use uuid::Uuid;
use wakeful_core::audit::{Action, Change, Object, ObjectKind};
use wakeful_core::id::{MonitorId, PingId, TeamId};
use wakeful_core::push::{PingKind, Slug};
use wakeful_core::secret::Secret;
use wakeful_core::time::Millis;
use wakeful_core::token::Digest;

use super::row::ping_uuid_sealed;
use crate::deletion::deleted_teams;
use crate::dialect::{from_row, read, within, write};
use crate::{AuditContext, NewEntry, Result, Store, StoreError, TeamStore};

const BODY: &str = "pings.body";
const PING_KEY: &str = "teams.ping_key";
/// How many pings of a monitor are stored.
const MAX_PINGS: i64 = 100;
/// How often a ping is numbered again, because another one has got its number.
const MAX_ATTEMPTS: u32 = 5;
const COMPRESSION_LEVEL: i32 = 3;
/// A body that takes more than this is damaged.
const MAX_BODY_BYTES: usize = 1 << 20;
/// The number of rows that one statement deletes.
const DELETE_BATCH: i64 = 500;

/// A ping to be stored.
#[derive(Clone, Debug)]
pub struct NewPing {
    pub id: PingId,
    pub monitor: MonitorId,
    pub at: Millis,
    pub kind: PingKind,
    pub exit_code: Option<u8>,
    pub rid: Option<Uuid>,
    pub method: String,
    pub scheme: String,
    pub client: String,
    pub agent: String,
    /// Of the run that it ended.
    pub duration: Option<Duration>,
    pub body: Vec<u8>,
}

/// A stored ping without its body.
#[derive(Clone, Debug)]
pub struct StoredPing {
    pub n: i64,
    pub at: Millis,
    pub kind: PingKind,
    pub exit_code: Option<u8>,
    pub rid: Option<Uuid>,
    pub method: String,
    pub scheme: String,
    pub client: String,
    pub agent: String,
    pub duration: Option<Duration>,
    /// The length of the stored body.
    pub bytes: u64,
}

from_row!(StoredPing, |row| {
    let kind: String = row.try_get("kind")?;
    let span: Option<i64> = row.try_get("duration")?;
    let bytes: i64 = row.try_get("bytes")?;
    let exit_code: Option<i64> = row.try_get("exit_code")?;
    Self {
        n: row.try_get("n")?,
        at: Millis(row.try_get("at")?),
        kind: PingKind::parse(&kind).unwrap_or(PingKind::Ignored),
        exit_code: exit_code.and_then(|code| u8::try_from(code).ok()),
        rid: row.try_get("rid")?,
        method: row.try_get("method")?,
        scheme: row.try_get("scheme")?,
        client: row.try_get("client")?,
        agent: row.try_get("agent")?,
        duration: span.map(|span| Duration::from_micros(span.max(0).cast_unsigned())),
        bytes: bytes.max(0).cast_unsigned(),
    }
});

/// The latest ping of a monitor.
#[derive(Clone, Copy, Debug)]
pub struct LastPing {
    pub n: i64,
    pub at: Millis,
}

/// The outcome of looking up a ping key with a slug.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SlugTarget {
    UnknownKey,
    /// The team has no monitor with this slug.
    UnknownSlug(TeamId),
    Found(TeamId, MonitorId),
}

impl Store {
    /// Stores a ping and deletes the oldest one beyond the limit. A monitor that was deleted
    /// meanwhile has none.
    pub async fn add_ping(&self, ping: &NewPing) -> Result<()> {
        let body = seal_body(self, ping);
        for attempt in 1.. {
            match self.try_add_ping(ping, body.as_deref()).await {
                Err(StoreError::Taken) if attempt < MAX_ATTEMPTS => {}
                added => return added,
            }
        }
        Ok(())
    }

    async fn try_add_ping(&self, ping: &NewPing, body: Option<&[u8]>) -> Result<()> {
        let mut tx = self.begin().await?;
        within!(tx, |db| {
            let n: Option<i64> = sqlx::query_scalar(
                "insert into pings
                 (id, monitor_id, n, at, kind, exit_code, rid, method, scheme, client, agent,
                  duration, bytes, body)
                 select $1, m.id, coalesce((select max(n) from pings where monitor_id = $2), 0) + 1,
                        $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13
                 from monitors m
                 where m.id = $2
                 returning n",
            )
            .bind(ping.id.uuid())
            .bind(ping.monitor.uuid())
            .bind(ping.at.0)
            .bind(ping.kind.as_str())
            .bind(ping.exit_code.map(i64::from))
            .bind(ping.rid)
            .bind(&ping.method)
            .bind(&ping.scheme)
            .bind(&ping.client)
            .bind(&ping.agent)
            .bind(ping.duration.map(|span| i64::try_from(span.as_micros()).unwrap_or(i64::MAX)))
            .bind(i64::try_from(ping.body.len()).unwrap_or(i64::MAX))
            .bind(body)
            .fetch_optional(&mut *db)
            .await?;
            if let Some(n) = n {
                sqlx::query("delete from pings where monitor_id = $1 and n <= $2")
                    .bind(ping.monitor.uuid())
                    .bind(n - MAX_PINGS)
                    .execute(db)
                    .await?;
            }
            Ok::<_, sqlx::Error>(())
        })?;
        tx.commit().await
    }

    /// The monitor of a ping URL, and its team. A monitor whose type has changed keeps its URL for
    /// the case that it changes back; until then nothing has that URL.
    pub async fn monitor_by_ping_uuid(
        &self,
        digest: Digest,
    ) -> Result<Option<(TeamId, MonitorId)>> {
        let row: Option<(Uuid, Uuid)> = read!(self, |db| {
            sqlx::query_as(concat!(
                "select team_id, id from monitors
                 where ping_digest = $1 and kind = 'api' and team_id not in ",
                deleted_teams!()
            ))
            .bind(&digest.0[..])
            .fetch_optional(db)
            .await
        })?;
        Ok(row.map(|(team, id)| (team.into(), id.into())))
    }

    /// The monitor with this slug in the team of a ping key.
    pub async fn monitor_by_slug(&self, key: Digest, slug: &Slug) -> Result<SlugTarget> {
        let row: Option<(Uuid, Option<Uuid>)> = read!(self, |db| {
            sqlx::query_as(concat!(
                "select t.id, m.id from teams t
                 left join monitors m on m.team_id = t.id and m.slug = $2
                 where t.ping_key_digest = $1 and t.id not in ",
                deleted_teams!()
            ))
            .bind(&key.0[..])
            .bind(slug.as_str())
            .fetch_optional(db)
            .await
        })?;
        Ok(match row {
            None => SlugTarget::UnknownKey,
            Some((team, None)) => SlugTarget::UnknownSlug(team.into()),
            Some((team, Some(monitor))) => SlugTarget::Found(team.into(), monitor.into()),
        })
    }

    /// Api monitors without a ping URL, which were created by an earlier version.
    pub async fn monitors_without_ping_url(&self, limit: u32) -> Result<Vec<MonitorId>> {
        let ids: Vec<Uuid> = read!(self, |db| {
            sqlx::query_scalar(
                "select id from monitors where kind = 'api' and ping_digest is null limit $1",
            )
            .bind(i64::from(limit))
            .fetch_all(db)
            .await
        })?;
        Ok(ids.into_iter().map(MonitorId::from).collect())
    }

    /// Gives a monitor a ping URL, if it has none. No setting changes, so its revision does not.
    pub async fn set_ping_uuid(&self, id: MonitorId, uuid: &Secret) -> Result<()> {
        let sealed = ping_uuid_sealed(&self.keyring, id, uuid);
        write!(self, |db| {
            sqlx::query(
                "update monitors set ping_uuid = $2, ping_digest = $3
                 where id = $1 and ping_digest is null",
            )
            .bind(id.uuid())
            .bind(&sealed[..])
            .bind(&Digest::of(uuid.expose()).0[..])
            .execute(db)
            .await
            .map(|_| ())
        })?;
        Ok(())
    }

    /// Deletes pings from before `oldest`; true when there are more.
    pub async fn prune_pings(&self, oldest: Millis) -> Result<bool> {
        Ok(write!(self, |db| {
            sqlx::query(
                "delete from pings where id in (
                     select id from pings where at < $1 order by at limit $2)",
            )
            .bind(oldest.0)
            .bind(DELETE_BATCH)
            .execute(db)
            .await
            .map(|done| done.rows_affected() >= DELETE_BATCH.cast_unsigned())
        })?)
    }
}

impl TeamStore<'_> {
    /// The latest pings of a monitor, newest first; `None` when the team has no such monitor.
    pub async fn pings(
        &self,
        monitor: MonitorId,
        limit: u32,
        before: Option<i64>,
    ) -> Result<Option<Vec<StoredPing>>> {
        if !self.has_monitor(monitor).await? {
            return Ok(None);
        }
        let rows = read!(self.store, |db| {
            sqlx::query_as(
                "select n, at, kind, exit_code, rid, method, scheme, client, agent, duration, bytes
                 from pings
                 where monitor_id = $1 and n < $3
                 order by n desc
                 limit $2",
            )
            .bind(monitor.uuid())
            .bind(i64::from(limit))
            .bind(before.unwrap_or(i64::MAX))
            .fetch_all(db)
            .await
        })?;
        Ok(Some(rows))
    }

    /// The latest ping of each monitor of the team that has one, whatever the filter of the caller:
    /// it is used for monitors that were read with it.
    pub async fn last_pings(&self) -> Result<HashMap<MonitorId, LastPing>> {
        let rows: Vec<(Uuid, i64, i64)> = read!(self.store, |db| {
            sqlx::query_as(
                "select p.monitor_id, max(p.n), max(p.at)
                 from monitors m
                 join pings p on p.monitor_id = m.id
                 where m.team_id = $1
                 group by p.monitor_id",
            )
            .bind(self.team.uuid())
            .fetch_all(db)
            .await
        })?;
        let last = |(id, n, at): (Uuid, i64, i64)| (id.into(), LastPing { n, at: Millis(at) });
        Ok(rows.into_iter().map(last).collect())
    }

    /// The latest ping of one monitor, which the caller has read.
    pub async fn last_ping(&self, monitor: MonitorId) -> Result<Option<LastPing>> {
        let row: Option<(i64, i64)> = read!(self.store, |db| {
            sqlx::query_as(
                "select p.n, p.at
                 from pings p
                 join monitors m on m.id = p.monitor_id
                 where p.monitor_id = $1 and m.team_id = $2
                 order by p.n desc
                 limit 1",
            )
            .bind(monitor.uuid())
            .bind(self.team.uuid())
            .fetch_optional(db)
            .await
        })?;
        Ok(row.map(|(n, at)| LastPing { n, at: Millis(at) }))
    }

    /// The stored part of a ping's body; `None` when there is no such ping, or it has none.
    pub async fn ping_body(&self, monitor: MonitorId, n: i64) -> Result<Option<Vec<u8>>> {
        if !self.has_monitor(monitor).await? {
            return Ok(None);
        }
        let row: Option<(Uuid, Option<Vec<u8>>)> = read!(self.store, |db| {
            sqlx::query_as("select id, body from pings where monitor_id = $1 and n = $2")
                .bind(monitor.uuid())
                .bind(n)
                .fetch_optional(db)
                .await
        })?;
        let Some((id, Some(sealed))) = row else { return Ok(None) };
        let packed = self.store.keyring.open(&context(BODY, id), &sealed);
        let packed = packed.ok_or(StoreError::Sealed(BODY))?;
        let plain = zstd::bulk::decompress(&packed, MAX_BODY_BYTES);
        plain.map(Some).map_err(|_| StoreError::Damaged("pings"))
    }

    /// The team's ping key; `None` until one is created.
    pub async fn ping_key(&self) -> Result<Option<Secret>> {
        let sealed: Option<Option<Vec<u8>>> = read!(self.store, |db| {
            sqlx::query_scalar("select ping_key from teams where id = $1")
                .bind(self.team.uuid())
                .fetch_optional(db)
                .await
        })?;
        let Some(sealed) = sealed.flatten() else { return Ok(None) };
        let context = context(PING_KEY, self.team.uuid());
        let plain = self.store.keyring.open(&context, &sealed);
        let plain = plain.ok_or(StoreError::Sealed(PING_KEY))?;
        let text = std::str::from_utf8(&plain).map_err(|_| StoreError::Sealed(PING_KEY))?;
        Ok(Some(Secret::new(text)))
    }

    /// Sets the team's ping key. The previous one no longer works.
    pub async fn set_ping_key(&self, key: &Secret, by: &AuditContext) -> Result<()> {
        let sql = "update teams set ping_key = $2, ping_key_digest = $3 where id = $1";
        self.write_ping_key(sql, key, by).await
    }

    /// Sets the team's ping key, unless it has one.
    pub async fn add_ping_key(&self, key: &Secret, by: &AuditContext) -> Result<()> {
        let sql = "update teams set ping_key = $2, ping_key_digest = $3
                   where id = $1 and ping_key is null";
        self.write_ping_key(sql, key, by).await
    }

    async fn write_ping_key(
        &self,
        sql: &'static str,
        key: &Secret,
        by: &AuditContext,
    ) -> Result<()> {
        let context = context(PING_KEY, self.team.uuid());
        let sealed = self.store.keyring.seal(&context, key.expose().as_bytes());
        let name = self.display_name().await?;
        let mut tx = self.begin().await?;
        let is_set = within!(tx, |db| {
            sqlx::query(sql)
                .bind(self.team.uuid())
                .bind(&sealed[..])
                .bind(&Digest::of(key.expose()).0[..])
                .execute(db)
                .await
                .map(|done| done.rows_affected() == 1)
        })?;
        if !is_set {
            return Ok(());
        }
        let changes = vec![Change::of_secret("ping_key")];
        let object = Object::new(ObjectKind::Team, &self.team, &name);
        let entry = NewEntry::new(Action::TeamUpdate, object, changes);
        self.store.write_entry(&mut tx, by, &entry).await?;
        tx.commit().await
    }
}

fn seal_body(store: &Store, ping: &NewPing) -> Option<Vec<u8>> {
    if ping.body.is_empty() {
        return None;
    }
    let packed = zstd::bulk::compress(&ping.body, COMPRESSION_LEVEL).ok()?;
    Some(store.keyring.seal(&context(BODY, ping.id.uuid()), &packed))
}

fn context(column: &str, id: Uuid) -> String {
    format!("{column}:{}", id.hyphenated())
}
