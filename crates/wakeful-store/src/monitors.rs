//! Monitors as a team keeps them. What people set is written here and nowhere
//! else; what verdicts come to is written by `record.rs`, into a table of its
//! own beside it.

use futures_util::TryStreamExt as _;
use sqlx::Error;
use std::collections::HashMap;
use std::time::Duration;
use uuid::Uuid;
use wakeful_core::chain::Chain;
use wakeful_core::id::{MonitorId, NotifierId, TeamId};
use wakeful_core::monitor::{Interval, Kind, Monitor, Name, Spec, Tags};
use wakeful_core::region::{Quorum, Regions};
use wakeful_core::secret::Secret;
use wakeful_core::slot::Slot;
use wakeful_core::time::Millis;
use wakeful_core::token::Digest;
use wakeful_core::verdict::{State, Status};

use crate::dialect::{either, from_row, read, within, write};
use crate::{Keyring, Result, Store, StoreError, TeamStore};

const SECRET: &str = "monitors.secret";
const PUSH_TOKEN: &str = "monitors.push_token";

/// A monitor with what its checks have come to.
#[derive(Clone, Debug)]
pub struct StoredMonitor {
    pub monitor: Monitor,
    pub state: State,
    /// How many verdicts there were: each has the next number.
    pub seq: i64,
    /// How many times it was saved: a newer one wins.
    pub revision: i64,
}

/// A notifier as a monitor that is linked to it shows it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Linked {
    pub id: NotifierId,
    pub name: String,
    pub kind: String,
}

/// Which monitors of a team are listed: all that match what is given.
#[derive(Clone, Debug, Default)]
pub struct MonitorFilter {
    pub kind: Option<Kind>,
    pub status: Option<Status>,
    pub tag: Option<String>,
    /// A part of the name, the target or a tag, in any letter case.
    pub q: Option<String>,
    /// Nothing: all of them.
    pub limit: Option<u32>,
    /// Those behind this one.
    pub after: Option<MonitorId>,
}

/// What came of saving a monitor.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Saved {
    Done,
    /// The team has no such monitor.
    NoMonitor,
    /// The team has no such notifiers; nothing was saved.
    NoNotifiers(Vec<NotifierId>),
}

macro_rules! columns {
    () => {
        "m.id, m.team_id, m.name, m.spec, m.secret, m.isactive, m.heartbeat_interval, m.timeout,
         m.retry_interval, m.resend_interval, m.retries, m.upside_down_mode, m.tags, m.regions,
         m.quorum, m.push_token, m.revision, m.created, m.modified, s.status, s.since,
         s.last_check, s.last_message, s.load_time, s.failing, s.warned, s.seq"
    };
}

/// Each monitor with its state. SQLite takes a cross join to mean this order:
/// the monitors are found first, whatever it thinks of the condition.
macro_rules! tables {
    () => {
        "monitors m cross join monitor_states s"
    };
}

pub(crate) struct Row {
    id: MonitorId,
    team: TeamId,
    name: String,
    spec: String,
    secret: Option<Vec<u8>>,
    isactive: bool,
    heartbeat_interval: i64,
    timeout: Option<i64>,
    retry_interval: Option<i64>,
    resend_interval: i64,
    retries: i64,
    upside_down_mode: bool,
    tags: String,
    regions: String,
    quorum: String,
    push_token: Option<Vec<u8>>,
    revision: i64,
    created: i64,
    modified: i64,
    status: String,
    since: Option<i64>,
    last_check: Option<i64>,
    last_message: String,
    load_time: Option<i64>,
    failing: Option<String>,
    warned: Option<String>,
    seq: i64,
}

from_row!(Row, |row| Self {
    id: row.try_get::<Uuid, _>("id")?.into(),
    team: row.try_get::<Uuid, _>("team_id")?.into(),
    name: row.try_get("name")?,
    spec: row.try_get("spec")?,
    secret: row.try_get("secret")?,
    isactive: row.try_get("isactive")?,
    heartbeat_interval: row.try_get("heartbeat_interval")?,
    timeout: row.try_get("timeout")?,
    retry_interval: row.try_get("retry_interval")?,
    resend_interval: row.try_get("resend_interval")?,
    retries: row.try_get("retries")?,
    upside_down_mode: row.try_get("upside_down_mode")?,
    tags: row.try_get("tags")?,
    regions: row.try_get("regions")?,
    quorum: row.try_get("quorum")?,
    push_token: row.try_get("push_token")?,
    revision: row.try_get("revision")?,
    created: row.try_get("created")?,
    modified: row.try_get("modified")?,
    status: row.try_get("status")?,
    since: row.try_get("since")?,
    last_check: row.try_get("last_check")?,
    last_message: row.try_get("last_message")?,
    load_time: row.try_get("load_time")?,
    failing: row.try_get("failing")?,
    warned: row.try_get("warned")?,
    seq: row.try_get("seq")?,
});

impl Row {
    /// The monitor without what the checks have no use for: its notifiers and
    /// its push token.
    pub(crate) fn bare(&self, keyring: &Keyring) -> Result<StoredMonitor> {
        let mut spec: Spec = serde_json::from_str(&self.spec).map_err(|_| damaged())?;
        if let Some(sealed) = &self.secret {
            spec.put_secret(unseal(keyring, SECRET, self.id, sealed)?);
        }
        let monitor = Monitor {
            id: self.id,
            team: self.team,
            name: Name::parse(&self.name).map_err(|_| damaged())?,
            spec,
            isactive: self.isactive,
            heartbeat_interval: u64::try_from(self.heartbeat_interval)
                .ok()
                .and_then(|seconds| Interval::new(seconds).ok())
                .ok_or_else(damaged)?,
            timeout: self.timeout.map(seconds),
            retries: u16::try_from(self.retries).map_err(|_| damaged())?,
            retry_interval: self.retry_interval.map(seconds),
            resend_interval: Some(seconds(self.resend_interval)).filter(|span| !span.is_zero()),
            upside_down_mode: self.upside_down_mode,
            tags: serde_json::from_str::<Tags>(&self.tags).map_err(|_| damaged())?,
            notifiers: Vec::new(),
            regions: serde_json::from_str::<Regions>(&self.regions).map_err(|_| damaged())?,
            quorum: Quorum::parse(&self.quorum).map_err(|_| damaged())?,
            push_token: None,
            created: Millis(self.created),
            modified: Millis(self.modified),
        };
        Ok(StoredMonitor { monitor, state: self.state()?, seq: self.seq, revision: self.revision })
    }

    fn state(&self) -> Result<State> {
        let warned = self.warned.as_deref().map(serde_json::from_str).transpose();
        Ok(State {
            status: Status::parse(&self.status).ok_or_else(damaged)?,
            since: self.since.map(Millis),
            last_check: self.last_check.map(Millis),
            last_message: self.last_message.clone(),
            load_time: self
                .load_time
                .map(|span| Duration::from_micros(span.max(0).cast_unsigned())),
            failing: self
                .failing
                .as_deref()
                .map(serde_json::from_str)
                .transpose()
                .map_err(|_| damaged())?,
            warned: warned.map_err(|_| damaged())?.unwrap_or_default(),
        })
    }

    fn whole(&self, keyring: &Keyring, links: &[Linked]) -> Result<StoredMonitor> {
        let mut stored = self.bare(keyring)?;
        stored.monitor.notifiers = links.iter().map(|link| link.id).collect();
        if let Some(sealed) = &self.push_token {
            stored.monitor.push_token = Some(unseal(keyring, PUSH_TOKEN, self.id, sealed)?);
        }
        Ok(stored)
    }
}

struct Link {
    monitor: MonitorId,
    linked: Linked,
}

from_row!(Link, |row| Self {
    monitor: row.try_get::<Uuid, _>("monitor_id")?.into(),
    linked: Linked {
        id: row.try_get::<Uuid, _>("id")?.into(),
        name: row.try_get("name")?,
        kind: row.try_get("kind")?,
    },
});

impl TeamStore<'_> {
    pub async fn monitor(&self, id: MonitorId) -> Result<Option<(StoredMonitor, Vec<Linked>)>> {
        let row: Option<Row> = read!(self.store, |db| {
            sqlx::query_as(concat!(
                "select ",
                columns!(),
                " from ",
                tables!(),
                " where m.id = $1 and m.team_id = $2 and s.monitor_id = m.id"
            ))
            .bind(id.uuid())
            .bind(self.team.uuid())
            .fetch_optional(db)
            .await
        })?;
        let Some(row) = row else { return Ok(None) };
        let links = self.links(id, id).await?.remove(&id).unwrap_or_default();
        Ok(Some((row.whole(&self.store.keyring, &links)?, links)))
    }

    /// The team's monitors in the order they were made, each with its notifiers.
    pub async fn monitors(
        &self,
        filter: &MonitorFilter,
    ) -> Result<Vec<(StoredMonitor, Vec<Linked>)>> {
        let found = self.unlinked(filter).await?;
        let (Some(first), Some(last)) = (found.first(), found.last()) else {
            return Ok(Vec::new());
        };
        let mut links = self.links(first.monitor.id, last.monitor.id).await?;
        let link = |mut stored: StoredMonitor| {
            let links = links.remove(&stored.monitor.id).unwrap_or_default();
            stored.monitor.notifiers = links.iter().map(|link| link.id).collect();
            (stored, links)
        };
        Ok(found.into_iter().map(link).collect())
    }

    /// Those that match, without their notifiers, each understood as soon as it
    /// is read: a long list is not held twice.
    async fn unlinked(&self, filter: &MonitorFilter) -> Result<Vec<StoredMonitor>> {
        // A tag stands in the JSON behind a comma (or the bracket, which is made
        // one here): a quote inside a tag has a backslash before it instead.
        let tag = filter.tag.as_deref().map(|tag| format!(",{}", json(tag)));
        let q = filter.q.as_deref().map(|q| format!("%{}%", escaped(&q.to_lowercase())));
        let mut found = Vec::new();
        read!(self.store, |db| {
            let mut rows = sqlx::query_as::<_, Row>(concat!(
                "select ",
                columns!(),
                " from ",
                tables!(),
                " where m.team_id = $1
                 and m.id > $2
                 and s.monitor_id = m.id
                 and (cast($3 as text) is null or m.kind = $3)
                 and (cast($4 as text) is null or s.status = $4)
                 and (cast($5 as text) is null
                      or replace(',' || substr(m.tags, 2), $5, '') <> ',' || substr(m.tags, 2))
                 and (cast($6 as text) is null or m.search like $6 escape '!')
                 order by m.id
                 limit $7"
            ))
            .bind(self.team.uuid())
            .bind(filter.after.map_or(Uuid::nil(), MonitorId::uuid))
            .bind(filter.kind.map(Kind::as_str))
            .bind(filter.status.map(Status::as_str))
            .bind(tag)
            .bind(q)
            .bind(filter.limit.map_or(i64::MAX, i64::from))
            .fetch(db);
            while let Some(row) = rows.try_next().await? {
                found.push(row.whole(&self.store.keyring, &[])?);
            }
        });
        Ok(found)
    }

    /// The notifiers of the team's monitors from one id to another, in order.
    async fn links(
        &self,
        first: MonitorId,
        last: MonitorId,
    ) -> Result<HashMap<MonitorId, Vec<Linked>>> {
        let rows: Vec<Link> = read!(self.store, |db| {
            sqlx::query_as(
                "select l.monitor_id, n.id, n.name, n.kind
                 from monitor_notifiers l
                 join notifiers n on n.id = l.notifier_id
                 where n.team_id = $1 and l.monitor_id between $2 and $3
                 order by l.monitor_id, l.position",
            )
            .bind(self.team.uuid())
            .bind(first.uuid())
            .bind(last.uuid())
            .fetch_all(db)
            .await
        })?;
        let mut links: HashMap<MonitorId, Vec<Linked>> = HashMap::new();
        for Link { monitor, linked } in rows {
            links.entry(monitor).or_default().push(linked);
        }
        Ok(links)
    }

    /// Keeps a new monitor. `Gone` when the team is.
    pub async fn add_monitor(&self, monitor: &Monitor) -> Result<Saved> {
        let sealed = Sealed::of(&self.store.keyring, monitor);
        let mut tx = self.store.begin().await?;
        let unknown = within!(tx, |db| {
            sqlx::query(
                "insert into monitors
                 (id, team_id, name, kind, spec, secret, isactive, heartbeat_interval, timeout,
                  retry_interval, retries, upside_down_mode, tags, search, push_digest,
                  push_token, modified, resend_interval, regions, quorum, created, slot)
                 values ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, $14, $15, $16,
                         $17, $18, $19, $20, $21, $22)",
            )
            .bind(monitor.id.uuid())
            .bind(self.team.uuid())
            .bind(monitor.name.as_str())
            .bind(monitor.spec.kind().as_str())
            .bind(json(&monitor.spec))
            .bind(sealed.secret.as_deref())
            .bind(monitor.isactive)
            .bind(i64::from(monitor.heartbeat_interval.seconds()))
            .bind(monitor.timeout.map(in_seconds))
            .bind(monitor.retry_interval.map(in_seconds))
            .bind(i64::from(monitor.retries))
            .bind(monitor.upside_down_mode)
            .bind(json(&monitor.tags))
            .bind(search(monitor))
            .bind(sealed.push_digest())
            .bind(sealed.push_token.as_deref())
            .bind(monitor.modified.0)
            .bind(resend_interval(monitor))
            .bind(json(&monitor.regions))
            .bind(monitor.quorum.to_string())
            .bind(monitor.created.0)
            .bind(i64::from(Slot::of(monitor.id).number()))
            .execute(&mut *db)
            .await?;
            sqlx::query("insert into monitor_states (monitor_id) values ($1)")
                .bind(monitor.id.uuid())
                .execute(&mut *db)
                .await?;
            link_notifiers!(db, self.team, monitor)
        })?;
        if !unknown.is_empty() {
            return Ok(Saved::NoNotifiers(unknown));
        }
        tx.commit().await?;
        Ok(Saved::Done)
    }

    /// Changes what people set of a monitor, and nothing of its state.
    pub async fn change_monitor(&self, monitor: &Monitor) -> Result<Saved> {
        let sealed = Sealed::of(&self.store.keyring, monitor);
        let mut tx = self.store.begin().await?;
        let saved = within!(tx, |db| {
            let before: Option<(i64, bool, String)> = sqlx::query_as(
                "select resend_interval, isactive, spec from monitors
                 where id = $1 and team_id = $2",
            )
            .bind(monitor.id.uuid())
            .bind(self.team.uuid())
            .fetch_optional(&mut *db)
            .await?;
            let done = sqlx::query(
                "update monitors
                 set name = $3, kind = $4, spec = $5, secret = $6, isactive = $7,
                     heartbeat_interval = $8, timeout = $9, retry_interval = $10, retries = $11,
                     upside_down_mode = $12, tags = $13, search = $14, push_digest = $15,
                     push_token = $16, modified = $17, resend_interval = $18, regions = $19,
                     quorum = $20, revision = revision + 1
                 where id = $1 and team_id = $2",
            )
            .bind(monitor.id.uuid())
            .bind(self.team.uuid())
            .bind(monitor.name.as_str())
            .bind(monitor.spec.kind().as_str())
            .bind(json(&monitor.spec))
            .bind(sealed.secret.as_deref())
            .bind(monitor.isactive)
            .bind(i64::from(monitor.heartbeat_interval.seconds()))
            .bind(monitor.timeout.map(in_seconds))
            .bind(monitor.retry_interval.map(in_seconds))
            .bind(i64::from(monitor.retries))
            .bind(monitor.upside_down_mode)
            .bind(json(&monitor.tags))
            .bind(search(monitor))
            .bind(sealed.push_digest())
            .bind(sealed.push_token.as_deref())
            .bind(monitor.modified.0)
            .bind(resend_interval(monitor))
            .bind(json(&monitor.regions))
            .bind(monitor.quorum.to_string())
            .execute(&mut *db)
            .await?;
            if done.rows_affected() == 0 {
                return Ok(Saved::NoMonitor);
            }
            let (pace, spec) = match before {
                Some((resend_interval, isactive, spec)) => {
                    (Some((resend_interval, isactive)), spec)
                }
                None => (None, String::new()),
            };
            crate::reminders::pace_anew!(db, monitor, pace);
            if spec != json(&monitor.spec) {
                // What another target showed says nothing about this one.
                sqlx::query("delete from certificates where monitor_id = $1")
                    .bind(monitor.id.uuid())
                    .execute(&mut *db)
                    .await?;
            }
            sqlx::query("delete from monitor_notifiers where monitor_id = $1")
                .bind(monitor.id.uuid())
                .execute(&mut *db)
                .await?;
            link_notifiers!(db, self.team, monitor).map(|unknown| match unknown.is_empty() {
                true => Saved::Done,
                false => Saved::NoNotifiers(unknown),
            })
        })?;
        if saved == Saved::Done {
            tx.commit().await?;
        }
        Ok(saved)
    }

    /// Deletes a monitor with its alerts, deliveries and links at once; its
    /// heartbeats are out of reach from then on and swept by `sweep_graves`.
    pub async fn delete_monitor(&self, id: MonitorId) -> Result<bool> {
        Ok(write!(self.store, |db| {
            sqlx::query("delete from monitors where id = $1 and team_id = $2")
                .bind(id.uuid())
                .bind(self.team.uuid())
                .execute(db)
                .await
                .map(|done| done.rows_affected() == 1)
        })?)
    }
}

impl Store {
    /// The last of the next `size` active monitors behind `after`, so that they
    /// can be read a page at a time; nothing when there are no more than that.
    pub async fn page_of_active(
        &self,
        after: Option<MonitorId>,
        size: u32,
    ) -> Result<Option<MonitorId>> {
        let last: Option<Uuid> = read!(self, |db| {
            sqlx::query_scalar(
                "select id from monitors
                 where isactive and id > $1
                 order by id
                 limit 1 offset $2",
            )
            .bind(after.map_or(Uuid::nil(), MonitorId::uuid))
            .bind(i64::from(size.max(1)) - 1)
            .fetch_optional(db)
            .await
        })?;
        Ok(last.map(MonitorId::from))
    }

    /// Active monitors of all teams behind `after`, up to and with `last`, for
    /// those who check them. A row that cannot be read is left out and told to
    /// the operator: one damaged monitor must not keep all the others from
    /// being watched.
    pub async fn active_monitors(
        &self,
        after: Option<MonitorId>,
        last: Option<MonitorId>,
    ) -> Result<Vec<StoredMonitor>> {
        let mut found = Vec::new();
        read!(self, |db| {
            let mut rows = sqlx::query_as::<_, Row>(concat!(
                "select ",
                columns!(),
                " from ",
                tables!(),
                " where m.isactive and m.id > $1 and m.id <= $2 and s.monitor_id = m.id"
            ))
            .bind(after.map_or(Uuid::nil(), MonitorId::uuid))
            .bind(last.map_or(Uuid::max(), MonitorId::uuid))
            .fetch(db);
            while let Some(row) = rows.try_next().await? {
                found.extend(readable(&row, &self.keyring));
            }
        });
        Ok(found)
    }

    /// The active monitors of some slots.
    pub async fn active_in(&self, slots: &[Slot]) -> Result<Vec<StoredMonitor>> {
        let slots: Vec<String> = slots.iter().map(|slot| slot.number().to_string()).collect();
        let sql = either!(
            self,
            sqlite: concat!("select ", columns!(), " from ", tables!(), "
                 where m.isactive and s.monitor_id = m.id
                 and m.slot in (select value from json_each('[' || $1 || ']'))"),
            postgres: concat!("select ", columns!(), " from ", tables!(), "
                 where m.isactive and s.monitor_id = m.id
                 and m.slot = any(cast(string_to_array($1, ',') as bigint[]))")
        );
        let rows: Vec<Row> =
            read!(self, |db| sqlx::query_as(sql).bind(slots.join(",")).fetch_all(db).await)?;
        Ok(rows.iter().filter_map(|row| readable(row, &self.keyring)).collect())
    }

    /// Monitors that a person has saved since then, each with its revision.
    pub async fn edited_since(&self, since: Millis) -> Result<Vec<(TeamId, MonitorId, i64)>> {
        let rows: Vec<(Uuid, Uuid, i64)> = read!(self, |db| {
            sqlx::query_as("select team_id, id, revision from monitors where modified >= $1")
                .bind(since.0)
                .fetch_all(db)
                .await
        })?;
        Ok(rows
            .into_iter()
            .map(|(team, id, revision)| (team.into(), id.into(), revision))
            .collect())
    }

    /// These monitors, as far as there are any, for those who check them.
    pub async fn monitors_by_id(&self, ids: &[MonitorId]) -> Result<Vec<StoredMonitor>> {
        let rows: Vec<Row> = self.rows_by_id(ids).await?;
        Ok(rows.iter().filter_map(|row| readable(row, &self.keyring)).collect())
    }

    async fn rows_by_id(&self, ids: &[MonitorId]) -> Result<Vec<Row>> {
        let sql = crate::dialect::either!(
            self,
            sqlite: concat!("select ", columns!(), " from ", tables!(),
                " where m.id in (select unhex(value) from json_each($1))
                 and s.monitor_id = m.id"),
            postgres: concat!("select ", columns!(), " from ", tables!(),
                " where m.id in (
                     select cast(value as uuid) from json_array_elements_text(cast($1 as json)))
                 and s.monitor_id = m.id")
        );
        let ids: Vec<String> = ids.iter().map(|id| id.uuid().simple().to_string()).collect();
        Ok(read!(self, |db| sqlx::query_as(sql).bind(json(&ids)).fetch_all(db).await)?)
    }

    /// The monitor that a push address stands for, and its team.
    pub async fn monitor_by_push(&self, digest: Digest) -> Result<Option<(TeamId, MonitorId)>> {
        let row: Option<(Uuid, Uuid)> = read!(self, |db| {
            sqlx::query_as("select team_id, id from monitors where push_digest = $1")
                .bind(&digest.0[..])
                .fetch_optional(db)
                .await
        })?;
        Ok(row.map(|(team, id)| (team.into(), id.into())))
    }
}

fn readable(row: &Row, keyring: &Keyring) -> Option<StoredMonitor> {
    let id = row.id;
    row.bare(keyring)
        .inspect_err(|error| {
            tracing::error!(monitor.id = %id, error = %Chain(error), "monitor {id} cannot be read and is not watched");
        })
        .ok()
}

/// What is kept of a monitor's secrets.
struct Sealed {
    secret: Option<Vec<u8>>,
    push_token: Option<Vec<u8>>,
    push_digest: Option<Digest>,
}

impl Sealed {
    fn of(keyring: &Keyring, monitor: &Monitor) -> Self {
        let seal = |column: &str, secret: &Secret| {
            keyring.seal(&context(column, monitor.id), secret.expose().as_bytes())
        };
        let push = monitor.push_token.as_ref();
        Self {
            secret: monitor.spec.secret().map(|secret| seal(SECRET, secret)),
            push_token: push.map(|token| seal(PUSH_TOKEN, token)),
            push_digest: push.map(|token| Digest::of(token.expose())),
        }
    }

    fn push_digest(&self) -> Option<&[u8]> {
        self.push_digest.as_ref().map(|digest| &digest.0[..])
    }
}

fn unseal(keyring: &Keyring, column: &'static str, id: MonitorId, sealed: &[u8]) -> Result<Secret> {
    let plain = keyring.open(&context(column, id), sealed).ok_or(StoreError::Sealed(column))?;
    let text = std::str::from_utf8(&plain).map_err(|_| StoreError::Sealed(column))?;
    Ok(Secret::new(text))
}

fn context(column: &str, id: MonitorId) -> String {
    format!("{column}:{id}")
}

fn search(monitor: &Monitor) -> String {
    let tags: Vec<&str> = monitor.tags.iter().collect();
    format!("{}\n{}\n{}", monitor.name, monitor.spec.target(), tags.join("\n")).to_lowercase()
}

/// A text in which `like` finds no wildcards.
fn escaped(text: &str) -> String {
    text.replace('!', "!!").replace('%', "!%").replace('_', "!_")
}

pub(crate) fn json<T: serde::Serialize + ?Sized>(value: &T) -> String {
    serde_json::to_string(value).expect("stored values are plain data")
}

fn damaged() -> StoreError {
    StoreError::Damaged("monitors")
}

fn seconds(number: i64) -> Duration {
    Duration::from_secs(number.max(0).cast_unsigned())
}

fn in_seconds(span: Duration) -> i64 {
    i64::try_from(span.as_secs()).unwrap_or(i64::MAX)
}

/// Seconds between reminders; 0 for none.
pub(crate) fn resend_interval(monitor: &Monitor) -> i64 {
    monitor.resend_interval.map_or(0, in_seconds)
}

/// Links a monitor to its notifiers, in order; gives those the team has not.
macro_rules! link_notifiers {
    ($db:expr, $team:expr, $monitor:expr) => {{
        let mut unknown = Vec::new();
        for (position, notifier) in (0_i64..).zip(&$monitor.notifiers) {
            let done = sqlx::query(
                "insert into monitor_notifiers (monitor_id, notifier_id, position)
                 select $1, id, $3 from notifiers where id = $2 and team_id = $4
                 on conflict do nothing",
            )
            .bind($monitor.id.uuid())
            .bind(notifier.uuid())
            .bind(position)
            .bind($team.uuid())
            .execute(&mut *$db)
            .await?;
            if done.rows_affected() == 0 {
                unknown.push(*notifier);
            }
        }
        Ok::<_, Error>(unknown)
    }};
}
use link_notifiers;
