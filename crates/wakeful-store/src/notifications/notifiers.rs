//! The notifiers of teams. Their secrets are sealed, bound to their id; delivery
//! reads them by id, whatever the team.

use serde::Deserialize;
use std::collections::HashMap;
use uuid::Uuid;
use wakeful_core::audit::{Action, Audited as _, Object, ObjectKind, diff};
use wakeful_core::email_address::EmailAddress;
use wakeful_core::error_chain::ErrorChain;
use wakeful_core::escalation::Target;
use wakeful_core::id::{NotifierId, TeamId, UserId};
use wakeful_core::monitors::Name;
use wakeful_core::notifications::message_rules::MessageRules;
use wakeful_core::notifications::notifier::{
    AccountSpec, AttemptRecord, AttemptReset, Channel, Disabled, Kind, Notifier,
};
use wakeful_core::notifications::{MAX_NOTIFIERS_PER_TEAM, MAX_PERSONAL_NOTIFIERS};
use wakeful_core::secret::Secret;
use wakeful_core::time::Millis;

use crate::alerting::routing::rules_of;
use crate::alerting::schedules::policies_within;
use crate::deletion::{deleted_teams, hide_notifier, hide_personal_notifiers};
use crate::dialect::{Tx, either, from_row, read, within};
use crate::monitors::json;
use crate::monitors::visible::is_visible;
use crate::{AuditContext, Keyring, NewEntry, Result, Store, StoreError, TeamStore};

const SECRET: &str = "notifiers.secret";

/// The outcome of deleting a notifier.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum DeleteNotifierOutcome {
    Done,
    /// The team has no such notifier.
    Missing,
    /// These monitors still use it.
    Linked(Vec<String>),
}

/// The outcome of changing a notifier.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ChangeNotifierOutcome {
    Done,
    /// The team has no such notifier.
    Missing,
    /// It has changed since it was read; nothing was saved.
    Conflict,
}

macro_rules! columns {
    () => {
        "id, team_id, name, kind, config, secret, disabled_at, disabled_why, isdefault,
         failing_since, healthy_since, last_error, revision, created, modified, user_id,
         events, min_severity, quiet, group_wait, owner_id,
         (select u.email from users u where u.id = notifiers.user_id) as user_email,
         (select u.email_verified from users u where u.id = notifiers.user_id) as user_verified"
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
    isdefault: bool,
    messages: MessageRules,
    group_wait: i64,
    attempts: AttemptRecord,
    revision: i64,
    created: i64,
    modified: i64,
    owner: Option<UserId>,
    /// For a notifier of type account.
    account: Option<AccountSpec>,
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
    isdefault: row.try_get("isdefault")?,
    messages: MessageRules::stored(
        row.try_get("events")?,
        row.try_get("min_severity")?,
        row.try_get("quiet")?,
    ),
    group_wait: row.try_get("group_wait")?,
    attempts: AttemptRecord {
        failing_since: row.try_get::<Option<i64>, _>("failing_since")?.map(Millis),
        healthy_since: row.try_get::<Option<i64>, _>("healthy_since")?.map(Millis),
        last_error: row.try_get("last_error")?,
    },
    revision: row.try_get("revision")?,
    created: row.try_get("created")?,
    modified: row.try_get("modified")?,
    owner: row.try_get::<Option<Uuid>, _>("owner_id")?.map(UserId::from),
    account: match (row.try_get::<Option<Uuid>, _>("user_id")?, row.try_get("user_email")?) {
        (Some(user), Some(email)) => Some(AccountSpec {
            user: user.into(),
            email,
            verified: row.try_get::<Option<i64>, _>("user_verified")?.is_some(),
        }),
        _ => None,
    },
});

impl Row {
    fn into_notifier(self, keyring: &Keyring) -> Result<Notifier> {
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
            channel: Channel::from_parts(kind, &self.config, &secret, self.account)
                .ok_or_else(damaged)?,
            owner: self.owner,
            disabled: self.disabled_at.map(|at| Disabled { at: Millis(at), why }),
            isdefault: self.isdefault,
            messages: self.messages,
            group_wait: u32::try_from(self.group_wait).unwrap_or(0),
            attempts: self.attempts,
            revision: self.revision,
            created: Millis(self.created),
            modified: Millis(self.modified),
        })
    }
}

fn context(id: NotifierId) -> String {
    format!("{SECRET}:{id}")
}

fn seal(keyring: &Keyring, notifier: &Notifier) -> Vec<u8> {
    keyring.seal(&context(notifier.id), notifier.channel.sealed_part().expose().as_bytes())
}

impl TeamStore<'_> {
    /// The team's notifiers in the order they were created.
    pub async fn notifiers(&self) -> Result<Vec<Notifier>> {
        let rows: Vec<Row> = read!(self.store, |db| {
            sqlx::query_as(concat!(
                "select ",
                columns!(),
                " from notifiers where team_id = $1 and not implicit order by id"
            ))
            .bind(self.team.uuid())
            .fetch_all(db)
            .await
        })?;
        rows.into_iter().map(|row| row.into_notifier(&self.store.keyring)).collect()
    }

    /// The personal notifiers of a user in the team, in the order they were created.
    pub async fn personal_notifiers(&self, user: UserId) -> Result<Vec<Notifier>> {
        let rows: Vec<Row> = read!(self.store, |db| {
            sqlx::query_as(concat!(
                "select ",
                columns!(),
                " from notifiers where owner_id = $1 and team_id = $2 order by id"
            ))
            .bind(user.uuid())
            .bind(self.team.uuid())
            .fetch_all(db)
            .await
        })?;
        rows.into_iter().map(|row| row.into_notifier(&self.store.keyring)).collect()
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
        row.map(|row| row.into_notifier(&self.store.keyring)).transpose()
    }

    /// The team's notifiers for new monitors, in the order they were created.
    pub async fn default_notifiers(&self) -> Result<Vec<NotifierId>> {
        let ids: Vec<Uuid> = read!(self.store, |db| {
            sqlx::query_scalar(
                "select id from notifiers where team_id = $1 and isdefault order by id",
            )
            .bind(self.team.uuid())
            .fetch_all(db)
            .await
        })?;
        Ok(ids.into_iter().map(NotifierId::from).collect())
    }

    /// All notifiers of the team that do not belong to a person.
    pub async fn notifier_ids(&self) -> Result<Vec<NotifierId>> {
        let ids: Vec<Uuid> = read!(self.store, |db| {
            sqlx::query_scalar(
                "select id from notifiers where team_id = $1 and owner_id is null order by id",
            )
            .bind(self.team.uuid())
            .fetch_all(db)
            .await
        })?;
        Ok(ids.into_iter().map(NotifierId::from).collect())
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

    /// The personal notifier of a user of the team.
    pub async fn account_notifier(&self, user: UserId) -> Result<Option<Notifier>> {
        let row: Option<Row> = read!(self.store, |db| {
            sqlx::query_as(concat!(
                "select ",
                columns!(),
                " from notifiers where user_id = $1 and team_id = $2"
            ))
            .bind(user.uuid())
            .bind(self.team.uuid())
            .fetch_optional(db)
            .await
        })?;
        row.map(|row| row.into_notifier(&self.store.keyring)).transpose()
    }

    /// Adds a notifier; false if the team has `MAX_NOTIFIERS_PER_TEAM`, or the user of a personal
    /// one `MAX_PERSONAL_NOTIFIERS` in all teams. Fails with
    /// `StoreError::Gone` if the team or the user has been deleted, and with
    /// `StoreError::Taken` if the user already has a personal notifier.
    pub async fn add_notifier(&self, notifier: &Notifier, by: &AuditContext) -> Result<bool> {
        let secret = seal(&self.store.keyring, notifier);
        let max = match notifier.owner {
            None => MAX_NOTIFIERS_PER_TEAM,
            Some(_) => MAX_PERSONAL_NOTIFIERS,
        };
        let mut tx = self.begin().await?;
        let added = within!(tx, |db| {
            sqlx::query(
                "insert into notifiers
                 (id, team_id, name, kind, config, secret, disabled_at, disabled_why, isdefault,
                  created, modified, user_id, events, min_severity, quiet, owner_id, implicit,
                  group_wait)
                 select $1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $14, $15, $16, $17, $18,
                        $19
                 where case when $18 then (select count(*) from notifiers where owner_id = $17)
                            else (select count(*) from notifiers
                                  where team_id = $2 and not implicit) end < $13",
            )
            .bind(notifier.id.uuid())
            .bind(self.team.uuid())
            .bind(notifier.name.as_str())
            .bind(notifier.channel.kind().as_str())
            .bind(notifier.channel.open_part())
            .bind(&secret[..])
            .bind(notifier.disabled.as_ref().map(|disabled| disabled.at.0))
            .bind(notifier.disabled.as_ref().map_or("", |disabled| disabled.why.as_str()))
            .bind(notifier.isdefault)
            .bind(notifier.created.0)
            .bind(notifier.modified.0)
            .bind(notifier.channel.user().map(UserId::uuid))
            .bind(i64::from(max))
            .bind(notifier.messages.events.as_ref().map(json))
            .bind(notifier.messages.min_severity.as_str())
            .bind(notifier.messages.quiet.as_ref().map(json))
            .bind(notifier.owner.map(UserId::uuid))
            .bind(notifier.owner.is_some())
            .bind(i64::from(notifier.group_wait))
            .execute(db)
            .await
            .map(|done| done.rows_affected() == 1)
        })?;
        if added {
            let changes = diff(None, Some(&notifier.view()));
            let entry = NewEntry::new(Action::NotifierCreate, object(notifier), changes);
            self.store.write_entry(&mut tx, by, &entry).await?;
            tx.commit().await?;
        }
        Ok(added)
    }

    /// Changes a notifier if it still has the revision it was read with, so that
    /// later changes by others are not overwritten. Disabling it gives up waiting
    /// deliveries, which would be outdated when it is turned on again. `AttemptReset`
    /// says which records of its attempts are reset.
    pub async fn change_notifier(
        &self,
        notifier: &Notifier,
        by: &AuditContext,
    ) -> Result<ChangeNotifierOutcome> {
        let Some(before) = self.notifier(notifier.id).await? else {
            return Ok(ChangeNotifierOutcome::Missing);
        };
        let toggled = before.disabled.is_some() != notifier.disabled.is_some();
        let reset = AttemptReset::between(&before, notifier);
        let secret = seal(&self.store.keyring, notifier);
        if toggled && before.disabled.is_some() {
            // What was still waiting when it was disabled, or was written at that moment.
            self.store.give_up_waiting(notifier.id, "", notifier.modified).await?;
        }
        let mut tx = self.begin().await?;
        let changed = within!(tx, |db| {
            sqlx::query(
                "update notifiers
                 set name = $3, kind = $4, config = $5, secret = $6, disabled_at = $7,
                     disabled_why = $8, isdefault = $9, modified = $10,
                     failing_since = case when $11 then null else failing_since end,
                     last_error = case when $11 then '' else last_error end,
                     healthy_since = case when $12 then null else healthy_since end,
                     events = $14, min_severity = $15, quiet = $16, implicit = owner_id is not null,
                     group_wait = $17, revision = revision + 1
                 where id = $1 and team_id = $2 and revision = $13",
            )
            .bind(notifier.id.uuid())
            .bind(self.team.uuid())
            .bind(notifier.name.as_str())
            .bind(notifier.channel.kind().as_str())
            .bind(notifier.channel.open_part())
            .bind(&secret[..])
            .bind(notifier.disabled.as_ref().map(|disabled| disabled.at.0))
            .bind(notifier.disabled.as_ref().map_or("", |disabled| disabled.why.as_str()))
            .bind(notifier.isdefault)
            .bind(notifier.modified.0)
            .bind(reset.failures)
            .bind(reset.successes)
            .bind(notifier.revision)
            .bind(notifier.messages.events.as_ref().map(json))
            .bind(notifier.messages.min_severity.as_str())
            .bind(notifier.messages.quiet.as_ref().map(json))
            .bind(i64::from(notifier.group_wait))
            .execute(db)
            .await
            .map(|done| done.rows_affected() == 1)
        })?;
        if !changed {
            return Ok(ChangeNotifierOutcome::Conflict);
        }
        let changes = diff(Some(&before.view()), Some(&notifier.view()));
        let entry = NewEntry::new(Action::NotifierUpdate, object(notifier), changes);
        self.store.write_entry(&mut tx, by, &entry).await?;
        tx.commit().await?;
        if toggled && notifier.disabled.is_some() {
            self.store.give_up_waiting(notifier.id, "", notifier.modified).await?;
        }
        Ok(ChangeNotifierOutcome::Done)
    }

    /// Deletes a notifier with its deliveries, unless something uses it. `Store::delete_part`
    /// deletes the rows later.
    pub async fn delete_notifier(
        &self,
        notifier: &Notifier,
        by: &AuditContext,
    ) -> Result<DeleteNotifierOutcome> {
        let id = notifier.id;
        let mut tx = self.begin().await?;
        // Waits for links that are being added, which the statements below then see.
        let lock = either!(
            self.store,
            sqlite: "select 1 where $1 is null and $2 is null",
            postgres: "select 1 from notifiers where id = $1 and team_id = $2 for update"
        );
        within!(tx, |db| {
            sqlx::query(lock).bind(id.uuid()).bind(self.team.uuid()).execute(db).await?;
        });
        let by_others = used_by(&mut tx, self.team, id).await?;
        // Monitors that the caller cannot see count, but are not named.
        let linked: Vec<Option<String>> = within!(tx, |db| {
            sqlx::query_scalar(concat!(
                "select case when ",
                is_visible!("3"),
                " then m.name end
                 from monitor_notifiers l
                 join monitors m on m.id = l.monitor_id
                 where l.notifier_id = $1 and m.team_id = $2
                 order by m.id"
            ))
            .bind(id.uuid())
            .bind(self.team.uuid())
            .bind(self.filter)
            .fetch_all(db)
            .await
        })?;
        if !linked.is_empty() || !by_others.is_empty() {
            let named = linked.into_iter().flatten().chain(by_others).collect();
            return Ok(DeleteNotifierOutcome::Linked(named));
        }
        if !hide_notifier(&mut tx, self.team, id, by.at()).await? {
            return Ok(DeleteNotifierOutcome::Missing);
        }
        let entry = NewEntry::new(Action::NotifierDelete, object(notifier), Vec::new());
        self.store.write_entry(&mut tx, by, &entry).await?;
        tx.commit().await?;
        Ok(DeleteNotifierOutcome::Done)
    }
}

impl Store {
    /// The personal notifiers of a user in all teams, in the order they were created.
    pub async fn notifiers_of_user(&self, user: UserId) -> Result<Vec<Notifier>> {
        let rows: Vec<Row> = read!(self, |db| {
            sqlx::query_as(concat!(
                "select ",
                columns!(),
                " from notifiers where owner_id = $1 or (user_id = $1 and not implicit) order by id"
            ))
            .bind(user.uuid())
            .fetch_all(db)
            .await
        })?;
        rows.into_iter().map(|row| row.into_notifier(&self.keyring)).collect()
    }
}

/// The names of the policies, routing rules, windows and schedules that use a notifier.
async fn used_by(tx: &mut Tx, team: TeamId, id: NotifierId) -> Result<Vec<String>> {
    let target = Target::Notifier(id);
    let policies = policies_within(tx, team).await?.into_iter().map(|stored| stored.policy);
    let policies =
        policies.filter(|policy| policy.steps.iter().any(|step| step.notify.contains(&target)));
    let policies = policies.map(|policy| policy.name).collect::<Vec<_>>();
    let rules = rules_of(tx, team).await?.into_iter();
    let rules = rules.filter(|rule| rule.notifiers.contains(&id)).map(|rule| rule.name);
    let rules: Vec<String> = rules.collect();
    let announced = announcing_to(tx, team, id).await?;
    Ok(policies.into_iter().chain(rules).chain(announced).collect())
}

/// The names of the windows and schedules that are announced to a notifier.
async fn announcing_to(tx: &mut Tx, team: TeamId, id: NotifierId) -> Result<Vec<String>> {
    #[derive(Deserialize)]
    struct Announced {
        #[serde(default)]
        notifiers: Vec<NotifierId>,
    }
    let rows: Vec<(String, String)> = within!(*tx, |db| {
        sqlx::query_as(
            "select name, announce from maintenances where team_id = $1 and deleted is null
             union all
             select name, announce from schedules where team_id = $1",
        )
        .bind(team.uuid())
        .fetch_all(db)
        .await
    })?;
    let uses = |announce: &str| {
        serde_json::from_str(announce).is_ok_and(|Announced { notifiers }| notifiers.contains(&id))
    };
    Ok(rows.into_iter().filter(|(_, announce)| uses(announce)).map(|(name, _)| name).collect())
}

fn object(notifier: &Notifier) -> Object {
    // That of type account is named after its user's address, which must not outlive the account.
    // Nobody but its user sees a personal one.
    let name = if notifier.user().is_some() { "" } else { notifier.name.as_str() };
    Object::new(ObjectKind::Notifier, &notifier.id, name)
}

impl Store {
    /// Those of these notifiers that exist, for delivery, without those of deleted teams. One that cannot be read
    /// is skipped and logged: it must not block the others.
    pub async fn notifiers_by_id(
        &self,
        ids: &[NotifierId],
    ) -> Result<HashMap<NotifierId, Notifier>> {
        let sql = either!(
            self,
            sqlite: concat!("select ", columns!(),
                " from notifiers where id in (select unhex(value) from json_each($1))
                  and team_id not in ", deleted_teams!()),
            postgres: concat!("select ", columns!(),
                " from notifiers where id in (
                     select cast(value as uuid) from json_array_elements_text(cast($1 as json)))
                  and team_id not in ", deleted_teams!())
        );
        let ids: Vec<String> = ids.iter().map(|id| id.uuid().simple().to_string()).collect();
        let rows: Vec<Row> =
            read!(self, |db| sqlx::query_as(sql).bind(json(&ids)).fetch_all(db).await)?;
        let mut found = HashMap::with_capacity(rows.len());
        for row in rows {
            let id = row.id;
            match row.into_notifier(&self.keyring) {
                Ok(notifier) => drop(found.insert(id, notifier)),
                Err(error) => {
                    tracing::error!(notifier.id = %id, error = %ErrorChain(&error), "reading notifier {id} failed, skipping it");
                }
            }
        }
        Ok(found)
    }
}

impl Store {
    /// Unlinks and deletes the personal notifier of a user who leaves a team. The monitors are
    /// locked first, as by everything that changes their links; then the notifier, so that no
    /// other link is added.
    pub(crate) async fn remove_account_notifier(
        &self,
        tx: &mut Tx,
        team: TeamId,
        user: UserId,
        now: Millis,
    ) -> Result<()> {
        let locks: &[&'static str] = either!(
            self,
            sqlite: &[],
            postgres: &[
                "select 1 from monitors where id in (
                     select l.monitor_id
                     from monitor_notifiers l
                     join notifiers n on n.id = l.notifier_id
                     where n.user_id = $1 and n.team_id = $2)
                 order by id
                 for no key update",
                "select 1 from notifiers where user_id = $1 and team_id = $2 for update",
            ]
        );
        let unlink = "delete from monitor_notifiers where notifier_id in (
                 select id from notifiers where user_id = $1 and team_id = $2)";
        within!(*tx, |db| {
            for sql in locks.iter().copied().chain([unlink]) {
                sqlx::query(sql).bind(user.uuid()).bind(team.uuid()).execute(&mut *db).await?;
            }
        });
        hide_personal_notifiers(tx, team, user, now).await
    }
}

/// Renames the personal notifiers of a user whose address changes, if they are named after it.
pub(crate) async fn rename_account_notifier(
    tx: &mut Tx,
    user: UserId,
    email: &EmailAddress,
) -> Result<()> {
    within!(*tx, |db| {
        sqlx::query(
            "update notifiers set name = $2, revision = revision + 1
             where user_id = $1 and name <> $2
             and name = (select email from users where id = $1)",
        )
        .bind(user.uuid())
        .bind(email.as_str())
        .execute(db)
        .await?;
    });
    Ok(())
}
