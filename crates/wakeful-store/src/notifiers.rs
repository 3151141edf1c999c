//! Notifiers as a team keeps them. What is secret of them is sealed under
//! their id; who delivers reads them by id, whatever the team.

use sqlx::Error;
use std::collections::HashMap;
use uuid::Uuid;
use wakeful_core::id::{NotifierId, TeamId};
use wakeful_core::monitor::Name;
use wakeful_core::notifier::{Channel, Disabled, Kind, Notifier};
use wakeful_core::secret::Secret;
use wakeful_core::time::Millis;

use crate::dialect::{either, from_row, read, within, write};
use crate::mails::{self, sealed};
use crate::monitors::json;
use crate::{Keyring, Mail, Result, Store, StoreError, TeamStore};

const SECRET: &str = "notifiers.secret";

/// What came of deleting a notifier.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum DeletedNotifier {
    Done,
    /// The team has no such notifier.
    Missing,
    /// These monitors still tell by it.
    Linked(Vec<String>),
}

/// What came of changing a notifier.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ChangedNotifier {
    Done,
    /// The team has no such notifier.
    Missing,
    /// It was changed since it was read; nothing was saved.
    Overtaken,
}

macro_rules! columns {
    () => {
        "id, team_id, name, kind, config, secret, disabled_at, disabled_why, revision, created,
         modified"
    };
}

struct Row {
    id: NotifierId,
    team: TeamId,
    name: String,
    kind: String,
    config: String,
    secret: Option<Vec<u8>>,
    disabled_at: Option<i64>,
    disabled_why: String,
    revision: i64,
    created: i64,
    modified: i64,
}

from_row!(Row, |row| Self {
    id: row.try_get::<Uuid, _>("id")?.into(),
    team: row.try_get::<Uuid, _>("team_id")?.into(),
    name: row.try_get("name")?,
    kind: row.try_get("kind")?,
    config: row.try_get("config")?,
    secret: row.try_get("secret")?,
    disabled_at: row.try_get("disabled_at")?,
    disabled_why: row.try_get("disabled_why")?,
    revision: row.try_get("revision")?,
    created: row.try_get("created")?,
    modified: row.try_get("modified")?,
});

impl Row {
    fn whole(self, keyring: &Keyring) -> Result<Notifier> {
        let damaged = || StoreError::Damaged("notifiers");
        let secret = match &self.secret {
            None => Secret::new(""),
            Some(sealed) => {
                let plain =
                    keyring.open(&context(self.id), sealed).ok_or(StoreError::Sealed(SECRET))?;
                let text = std::str::from_utf8(&plain).map_err(|_| StoreError::Sealed(SECRET))?;
                Secret::new(text)
            }
        };
        let kind = Kind::parse(&self.kind).map_err(|_| damaged())?;
        let why = self.disabled_why;
        Ok(Notifier {
            id: self.id,
            team: self.team,
            name: Name::parse(&self.name).map_err(|_| damaged())?,
            channel: Channel::from_parts(kind, &self.config, &secret).ok_or_else(damaged)?,
            disabled: self.disabled_at.map(|at| Disabled { at: Millis(at), why }),
            revision: self.revision,
            created: Millis(self.created),
            modified: Millis(self.modified),
        })
    }
}

/// Gives up what waits for a notifier that is turned off.
macro_rules! give_up {
    ($db:ident, $id:expr, $answer:expr, $now:expr) => {
        sqlx::query(
            "update deliveries
             set state = case when left_to is null then 'failed' else 'delivered' end,
                 next_try = null, lease_until = 0, finished = $2,
                 last_answer = case when last_answer = '' then $3 else last_answer end
             where notifier_id = $1 and state = 'waiting'",
        )
        .bind($id.uuid())
        .bind($now.0)
        .bind($answer)
        .execute(&mut *$db)
        .await
    };
}

fn context(id: NotifierId) -> String {
    format!("{SECRET}:{id}")
}

fn seal(keyring: &Keyring, notifier: &Notifier) -> Vec<u8> {
    keyring.seal(&context(notifier.id), notifier.channel.sealed_part().expose().as_bytes())
}

impl TeamStore<'_> {
    /// The team's notifiers in the order they were made.
    pub async fn notifiers(&self) -> Result<Vec<Notifier>> {
        let rows: Vec<Row> = read!(self.store, |db| {
            sqlx::query_as(concat!(
                "select ",
                columns!(),
                " from notifiers where team_id = $1 order by id"
            ))
            .bind(self.team.uuid())
            .fetch_all(db)
            .await
        })?;
        rows.into_iter().map(|row| row.whole(&self.store.keyring)).collect()
    }

    pub async fn notifier(&self, id: NotifierId) -> Result<Option<Notifier>> {
        let row: Option<Row> = read!(self.store, |db| {
            sqlx::query_as(concat!(
                "select ",
                columns!(),
                " from notifiers where id = $1 and team_id = $2"
            ))
            .bind(id.uuid())
            .bind(self.team.uuid())
            .fetch_optional(db)
            .await
        })?;
        row.map(|row| row.whole(&self.store.keyring)).transpose()
    }

    pub(crate) async fn has_notifier(&self, id: NotifierId) -> Result<bool> {
        let found: Option<i64> = read!(self.store, |db| {
            sqlx::query_scalar("select created from notifiers where id = $1 and team_id = $2")
                .bind(id.uuid())
                .bind(self.team.uuid())
                .fetch_optional(db)
                .await
        })?;
        Ok(found.is_some())
    }

    /// Keeps a new notifier. `Gone` when the team is.
    pub async fn add_notifier(&self, notifier: &Notifier) -> Result<()> {
        let secret = seal(&self.store.keyring, notifier);
        write!(self.store, |db| {
            sqlx::query(
                "insert into notifiers
                 (id, team_id, name, kind, config, secret, disabled_at, disabled_why, created,
                  modified)
                 values ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10)",
            )
            .bind(notifier.id.uuid())
            .bind(self.team.uuid())
            .bind(notifier.name.as_str())
            .bind(notifier.channel.kind().as_str())
            .bind(notifier.channel.open_part())
            .bind(&secret[..])
            .bind(notifier.disabled.as_ref().map(|off| off.at.0))
            .bind(notifier.disabled.as_ref().map_or("", |off| off.why.as_str()))
            .bind(notifier.created.0)
            .bind(notifier.modified.0)
            .execute(db)
            .await
            .map(|_| ())
        })?;
        Ok(())
    }

    /// Changes a notifier that was read with its revision: what others changed
    /// since is not undone. Turned off, it gives up what waits: it would be old
    /// news, and perhaps untrue, when it is on again. Turned on, or with another
    /// address, it begins without a past.
    pub async fn change_notifier(&self, notifier: &Notifier) -> Result<ChangedNotifier> {
        let Some(before) = self.notifier(notifier.id).await? else {
            return Ok(ChangedNotifier::Missing);
        };
        let turned = before.disabled.is_some() != notifier.disabled.is_some();
        let anew = turned || before.channel != notifier.channel;
        let secret = seal(&self.store.keyring, notifier);
        let mut tx = self.store.begin().await?;
        let changed = within!(tx, |db| {
            let done = sqlx::query(
                "update notifiers
                 set name = $3, kind = $4, config = $5, secret = $6, disabled_at = $7,
                     disabled_why = $8, modified = $9,
                     failing_since = case when $10 then null else failing_since end,
                     revision = revision + 1
                 where id = $1 and team_id = $2 and revision = $11",
            )
            .bind(notifier.id.uuid())
            .bind(self.team.uuid())
            .bind(notifier.name.as_str())
            .bind(notifier.channel.kind().as_str())
            .bind(notifier.channel.open_part())
            .bind(&secret[..])
            .bind(notifier.disabled.as_ref().map(|off| off.at.0))
            .bind(notifier.disabled.as_ref().map_or("", |off| off.why.as_str()))
            .bind(notifier.modified.0)
            .bind(anew)
            .bind(notifier.revision)
            .execute(&mut *db)
            .await?;
            if done.rows_affected() == 0 {
                return Ok(ChangedNotifier::Overtaken);
            }
            // What was written at the moment it was turned off goes when it is on.
            if turned {
                let answer = "not sent: the notifier was turned off";
                give_up!(db, notifier.id, answer, notifier.modified)?;
            }
            Ok::<_, Error>(ChangedNotifier::Done)
        })?;
        tx.commit().await?;
        Ok(changed)
    }

    /// Deletes a notifier with its deliveries, unless a monitor tells by it.
    pub async fn delete_notifier(&self, id: NotifierId) -> Result<DeletedNotifier> {
        let mut tx = self.store.begin().await?;
        let deleted = within!(tx, |db| {
            let linked: Vec<String> = sqlx::query_scalar(
                "select m.name
                 from monitor_notifiers l
                 join monitors m on m.id = l.monitor_id
                 where l.notifier_id = $1 and m.team_id = $2
                 order by m.id",
            )
            .bind(id.uuid())
            .bind(self.team.uuid())
            .fetch_all(&mut *db)
            .await?;
            if !linked.is_empty() {
                return Ok(DeletedNotifier::Linked(linked));
            }
            let done = sqlx::query("delete from notifiers where id = $1 and team_id = $2")
                .bind(id.uuid())
                .bind(self.team.uuid())
                .execute(&mut *db)
                .await?;
            Ok::<_, Error>(match done.rows_affected() {
                0 => DeletedNotifier::Missing,
                _ => DeletedNotifier::Done,
            })
        })?;
        tx.commit().await?;
        Ok(deleted)
    }
}

impl Store {
    /// These notifiers, as far as there are any, for those who deliver. One
    /// that cannot be read is left out and told to the operator: it must not
    /// keep the others from being told.
    pub async fn notifiers_by_id(
        &self,
        ids: &[NotifierId],
    ) -> Result<HashMap<NotifierId, Notifier>> {
        let sql = either!(
            self,
            sqlite: concat!("select ", columns!(),
                " from notifiers where id in (select unhex(value) from json_each($1))"),
            postgres: concat!("select ", columns!(),
                " from notifiers where id in (
                     select cast(value as uuid) from json_array_elements_text(cast($1 as json)))")
        );
        let ids: Vec<String> = ids.iter().map(|id| id.uuid().simple().to_string()).collect();
        let rows: Vec<Row> =
            read!(self, |db| sqlx::query_as(sql).bind(json(&ids)).fetch_all(db).await)?;
        let mut found = HashMap::with_capacity(rows.len());
        for row in rows {
            let id = row.id;
            match row.whole(&self.keyring) {
                Ok(notifier) => drop(found.insert(id, notifier)),
                Err(error) => {
                    tracing::error!(notifier.id = %id, error = &error as &dyn std::error::Error, "notifier {id} cannot be read");
                }
            }
        }
        Ok(found)
    }

    /// Turns a notifier off and gives up what waits for it; true when this
    /// caller did, and then the letters about it are on their way too.
    pub async fn disable_notifier(
        &self,
        id: NotifierId,
        why: &str,
        letters: &[Mail],
        now: Millis,
    ) -> Result<bool> {
        let letters: Vec<_> = letters.iter().map(|mail| sealed(&self.keyring, mail)).collect();
        let mut tx = self.begin().await?;
        let disabled = within!(tx, |db| {
            let done = sqlx::query(
                "update notifiers
                 set disabled_at = $2, disabled_why = $3, revision = revision + 1
                 where id = $1 and disabled_at is null",
            )
            .bind(id.uuid())
            .bind(now.0)
            .bind(why)
            .execute(&mut *db)
            .await?;
            if done.rows_affected() == 0 {
                return Ok(false);
            }
            let answer = format!("not sent: the notifier was turned off ({why})");
            give_up!(db, id, answer, now)?;
            for mail in &letters {
                mails::insert!(db, mail, now)?;
            }
            Ok::<_, Error>(true)
        })?;
        tx.commit().await?;
        Ok(disabled)
    }
}
