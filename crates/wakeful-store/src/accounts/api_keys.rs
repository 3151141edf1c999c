//! API keys. A row names the owner; the identity that the key grants is sealed
//! with the Enc key, which is not stored, so the rows alone grant no access.

use std::net::IpAddr;
use uuid::Uuid;
use wakeful_core::access::{Scope, UserKind};
use wakeful_core::accounts::MAX_API_KEYS_PER_USER;
use wakeful_core::audit::{Action, Object, ObjectKind, View};
use wakeful_core::id::{ApiKeyId, MonitorFilterId, TeamId, UserId};
use wakeful_core::time::Millis;
use wakeful_core::token::Digest;

use crate::accounts::members::Joined;
use crate::accounts::monitor_filters::{self, StoredMonitorFilter};
use crate::accounts::services::{self, Service};
use crate::accounts::team::lock_team;
use crate::accounts::{credentials, members};
use crate::audit::Snapshot;
use crate::dialect::{Tx, from_row, read, within, write};
use crate::mail::{self, Mail};
use crate::{AuditContext, Authority, MemberOutcome, Membership, Result, Store, TeamStore};

const DAY_MILLIS: i64 = 86_400_000;

#[derive(Clone, Debug)]
pub struct NewApiKey {
    pub id: ApiKeyId,
    pub user: UserId,
    pub team: TeamId,
    pub name: String,
    pub prefix: String,
    pub scope: Scope,
    /// The monitors that the key is limited to.
    pub filter: Option<StoredMonitorFilter>,
    pub expires: Option<Millis>,
    pub digest: Digest,
    pub sealed_identity: Vec<u8>,
}

/// The outcome of adding a key.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum AddKeyOutcome {
    Done,
    /// The user has `MAX_API_KEYS_PER_USER`.
    Full,
    /// The filter names monitors that the team does not have.
    UnknownMonitors,
    /// The caller may not change the service account, or there is none.
    Refused(MemberOutcome),
}

/// A key as it appears in its owner's list.
#[derive(Clone, Debug)]
pub struct ApiKey {
    pub id: ApiKeyId,
    pub team: TeamId,
    pub name: String,
    pub prefix: String,
    pub scope: Scope,
    pub filter: Option<MonitorFilterId>,
    /// When it becomes, or became, invalid.
    pub expires: Option<Millis>,
    pub created: Millis,
    pub last_used: Option<Millis>,
    /// The address that last used it; empty if none has.
    pub last_address: String,
}

from_row!(ApiKey, |row| Self {
    id: row.try_get::<Uuid, _>("id")?.into(),
    team: row.try_get::<Uuid, _>("team_id")?.into(),
    name: row.try_get("name")?,
    prefix: row.try_get("prefix")?,
    scope: members::read_scope(&row.try_get::<String, _>("scope")?)?,
    filter: row.try_get::<Option<Uuid>, _>("filter_id")?.map(MonitorFilterId::from),
    expires: row.try_get::<Option<i64>, _>("expires")?.map(Millis),
    created: Millis(row.try_get("created")?),
    last_used: row.try_get::<Option<i64>, _>("last_used")?.map(Millis),
    last_address: row.try_get("last_address")?,
});

/// A key of a team with its holder.
#[derive(Clone, Debug)]
pub struct TeamApiKey {
    pub key: ApiKey,
    pub holder: UserId,
    pub kind: UserKind,
    /// Empty for a service account.
    pub email: String,
    pub name: String,
}

from_row!(TeamApiKey, |row| Self {
    key: ApiKey::from_row(row)?,
    holder: row.try_get::<Uuid, _>("user_id")?.into(),
    kind: members::read_kind(&row.try_get::<String, _>("kind")?)?,
    email: row.try_get("email")?,
    name: row.try_get("holder_name")?,
});

/// A key found by its digest, still sealed, with the user it must belong to.
#[derive(Clone, Debug)]
pub struct FoundApiKey {
    pub id: ApiKeyId,
    pub sealed_identity: Vec<u8>,
    pub user: UserId,
    pub team: TeamId,
    pub email: String,
    /// As given at sign-up, or by the team for a service account.
    pub name: String,
    pub kind: UserKind,
    /// Whether the user cannot sign in.
    pub user_suspended: bool,
    pub mfa_enabled: bool,
    pub email_verified: bool,
    pub membership: Option<Membership>,
    /// A copy of the sealed one, as the next two.
    pub scope: Scope,
    pub filter: Option<MonitorFilterId>,
    pub expires: Option<Millis>,
    pub last_used: Option<Millis>,
}

from_row!(FoundApiKey, |row| Self {
    id: row.try_get::<Uuid, _>("id")?.into(),
    sealed_identity: row.try_get("stands_for")?,
    user: row.try_get::<Uuid, _>("user_id")?.into(),
    team: row.try_get::<Uuid, _>("team_id")?.into(),
    email: row.try_get("email")?,
    name: row.try_get("name")?,
    kind: members::read_kind(&row.try_get::<String, _>("kind")?)?,
    user_suspended: row.try_get::<Option<i64>, _>("user_suspended_at")?.is_some(),
    mfa_enabled: row.try_get("mfa_enabled")?,
    email_verified: row.try_get::<Option<i64>, _>("email_verified")?.is_some(),
    membership: Joined::from_row(row)?.0,
    scope: members::read_scope(&row.try_get::<String, _>("scope")?)?,
    filter: row.try_get::<Option<Uuid>, _>("key_filter_id")?.map(MonitorFilterId::from),
    expires: row.try_get::<Option<i64>, _>("expires")?.map(Millis),
    last_used: row.try_get::<Option<i64>, _>("last_used")?.map(Millis),
});

/// A key that expires soon, and the reminder of it that is due.
#[derive(Clone, Debug)]
pub struct ExpiringKey {
    pub id: ApiKeyId,
    pub name: String,
    pub prefix: String,
    pub team: TeamId,
    /// The holder's address; empty for a service account.
    pub email: String,
    pub expires: Millis,
    /// The reminder that is due: this many days before the expiry.
    pub days: i64,
}

from_row!(ExpiringKey, |row| Self {
    id: row.try_get::<Uuid, _>("id")?.into(),
    name: row.try_get("name")?,
    prefix: row.try_get("prefix")?,
    team: row.try_get::<Uuid, _>("team_id")?.into(),
    email: row.try_get("email")?,
    expires: Millis(row.try_get("expires")?),
    days: row.try_get("days")?,
});

impl Store {
    /// Keys whose holders must be reminded of the expiry, 7 days or 1 day before it. A key
    /// that was created later than that needs no such reminder.
    pub async fn expiring_keys(&self, now: Millis, limit: u32) -> Result<Vec<ExpiringKey>> {
        Ok(read!(self, |db| {
            sqlx::query_as(
                "select k.id, k.name, k.prefix, k.team_id, u.email, k.expires, r.days
                 from (select cast(1 as bigint) as days union all select cast(7 as bigint)) r
                 join api_keys k on k.expires > $1 and k.expires <= $1 + r.days * $2
                 join users u on u.id = k.user_id
                 where k.created < k.expires - r.days * $2
                 and (k.reminded_days is null or k.reminded_days > r.days)
                 order by r.days, k.expires
                 limit $3",
            )
            .bind(now.0)
            .bind(DAY_MILLIS)
            .bind(i64::from(limit))
            .fetch_all(db)
            .await
        })?)
    }

    /// Queues the reminders of a key, once.
    pub async fn remind_of_expiry(
        &self,
        key: &ExpiringKey,
        reminders: &[Mail],
        now: Millis,
    ) -> Result<()> {
        let mut tx = self.begin().await?;
        let is_first = within!(tx, |db| {
            sqlx::query(
                "update api_keys set reminded_days = $2
                 where id = $1 and (reminded_days is null or reminded_days > $2)",
            )
            .bind(key.id.uuid())
            .bind(key.days)
            .execute(db)
            .await
            .map(|done| done.rows_affected() == 1)
        })?;
        if is_first {
            for reminder in reminders {
                mail::insert(&mut tx, &mail::sealed(&self.keyring, reminder), now).await?;
            }
            tx.commit().await?;
        }
        Ok(())
    }

    /// Deletes keys that expired before this time.
    pub async fn prune_api_keys(&self, expired: Millis) -> Result<u64> {
        Ok(write!(self, |db| {
            sqlx::query("delete from api_keys where expires < $1")
                .bind(expired.0)
                .execute(db)
                .await
                .map(|done| done.rows_affected())
        })?)
    }

    /// Adds a key of the caller, or of a service account that the caller may change. Fails with
    /// `StoreError::Gone` if the caller's credential is no longer valid.
    pub async fn add_api_key(
        &self,
        key: &NewApiKey,
        caller: Authority<'_>,
        by: &AuditContext,
        now: Millis,
    ) -> Result<AddKeyOutcome> {
        let mut tx = self.begin().await?;
        if key.user == caller.user {
            credentials::confirm(&mut tx, caller).await?;
        } else {
            let service = Service { team: key.team, user: key.user };
            let outcome = services::lock_for_change(&mut tx, service, caller, now).await?;
            if outcome != MemberOutcome::Done {
                return Ok(AddKeyOutcome::Refused(outcome));
            }
        }
        if let Some(filter) = &key.filter
            && !monitor_filters::insert(&mut tx, key.team, filter).await?
        {
            return Ok(AddKeyOutcome::UnknownMonitors);
        }
        let added = within!(tx, |db| {
            sqlx::query(
                "insert into api_keys
                 (id, digest, user_id, name, prefix, stands_for, created, scope,
                  filter_id, expires, team_id)
                 select $1, $2, $3, $4, $5, $6, $7, $8, $10, $11, $12
                 where (select count(*) from api_keys where user_id = $3) < $9",
            )
            .bind(key.id.uuid())
            .bind(&key.digest.0[..])
            .bind(key.user.uuid())
            .bind(key.name.as_str())
            .bind(key.prefix.as_str())
            .bind(&key.sealed_identity[..])
            .bind(now.0)
            .bind(key.scope.as_str())
            .bind(i64::from(MAX_API_KEYS_PER_USER))
            .bind(key.filter.as_ref().map(|filter| filter.id.uuid()))
            .bind(key.expires.map(|at| at.0))
            .bind(key.team.uuid())
            .execute(db)
            .await
            .map(|done| done.rows_affected() == 1)
        })?;
        if !added {
            return Ok(AddKeyOutcome::Full);
        }
        self.record_key(&mut tx, by, Action::KeyCreate, key.id, None).await?;
        tx.commit().await?;
        Ok(AddKeyOutcome::Done)
    }

    /// A user's keys of a team, or of all teams, oldest first.
    pub async fn api_keys(&self, user: UserId, team: Option<TeamId>) -> Result<Vec<ApiKey>> {
        Ok(read!(self, |db| {
            sqlx::query_as(
                "select id, team_id, name, prefix, scope, filter_id, expires, created, last_used,
                        last_address
                 from api_keys
                 where user_id = $1 and ($2 is null or team_id = $2)
                 order by id",
            )
            .bind(user.uuid())
            .bind(team.map(TeamId::uuid))
            .fetch_all(db)
            .await
        })?)
    }

    pub async fn api_key(&self, digest: Digest) -> Result<Option<FoundApiKey>> {
        Ok(read!(self, |db| {
            sqlx::query_as(
                "select k.id, k.stands_for, k.user_id, k.team_id, u.email, u.name, u.kind,
                        u.mfa_enabled, u.email_verified,
                        u.suspended_at as user_suspended_at, m.role,
                        m.suspended_at, m.filter_id, t.mfa, t.personal_keys,
                        t.name as team_name, t.suspended_at as team_suspended_at, k.scope,
                        k.filter_id as key_filter_id, k.expires, k.last_used
                 from api_keys k
                 join users u on u.id = k.user_id
                 left join members m on m.team_id = k.team_id and m.user_id = u.id
                 left join teams t on t.id = m.team_id
                 where k.digest = $1",
            )
            .bind(&digest.0[..])
            .fetch_optional(db)
            .await
        })?)
    }

    pub async fn touch_api_key(&self, id: ApiKeyId, address: IpAddr, now: Millis) -> Result<()> {
        write!(self, |db| {
            sqlx::query("update api_keys set last_used = $2, last_address = $3 where id = $1")
                .bind(id.uuid())
                .bind(now.0)
                .bind(address.to_string())
                .execute(db)
                .await
                .map(|_| ())
        })?;
        Ok(())
    }

    /// Renames a key of this user, if `team` is its team or not given; false when the user has no
    /// such key.
    pub async fn rename_api_key(
        &self,
        user: UserId,
        team: Option<TeamId>,
        id: ApiKeyId,
        name: &str,
        by: &AuditContext,
    ) -> Result<bool> {
        let mut tx = self.begin().await?;
        let Some(team) = team_of_key(&mut tx, id, team).await? else { return Ok(false) };
        let before = snapshot(&mut tx, id).await?;
        let renamed = within!(tx, |db| {
            sqlx::query("update api_keys set name = $3 where id = $1 and user_id = $2")
                .bind(id.uuid())
                .bind(user.uuid())
                .bind(name)
                .execute(db)
                .await
                .map(|done| done.rows_affected() == 1)
        })?;
        if renamed {
            self.record_key(&mut tx, &by.in_team(team), Action::KeyUpdate, id, before).await?;
            tx.commit().await?;
        }
        Ok(renamed)
    }

    /// Deletes a key of this user and the sessions opened with it, if `team` is its team or not
    /// given; false when the user has no such key.
    pub async fn delete_api_key(
        &self,
        user: UserId,
        team: Option<TeamId>,
        id: ApiKeyId,
        by: &AuditContext,
    ) -> Result<bool> {
        let mut tx = self.begin().await?;
        // The same lock as everywhere else that deletes both keys and sessions.
        credentials::lock_user(&mut tx, user).await?;
        let Some(team) = team_of_key(&mut tx, id, team).await? else { return Ok(false) };
        let before = snapshot(&mut tx, id).await?;
        let deleted = within!(tx, |db| {
            sqlx::query("delete from api_keys where id = $1 and user_id = $2")
                .bind(id.uuid())
                .bind(user.uuid())
                .execute(db)
                .await
                .map(|done| done.rows_affected() == 1)
        })?;
        if deleted {
            self.record_key(&mut tx, &by.in_team(team), Action::KeyDelete, id, before).await?;
            tx.commit().await?;
        }
        Ok(deleted)
    }

    /// Records a change of a key, which is written already.
    async fn record_key(
        &self,
        tx: &mut Tx,
        by: &AuditContext,
        action: Action,
        id: ApiKeyId,
        before: Option<Snapshot>,
    ) -> Result<()> {
        let after = snapshot(tx, id).await?;
        self.write_change(tx, by, action, before, after).await
    }
}

/// The team of a key, whose log says what becomes of it; `None` unless it is the given one, if any.
async fn team_of_key(tx: &mut Tx, id: ApiKeyId, team: Option<TeamId>) -> Result<Option<TeamId>> {
    let found: Option<Uuid> = within!(*tx, |db| {
        sqlx::query_scalar("select team_id from api_keys where id = $1")
            .bind(id.uuid())
            .fetch_optional(db)
            .await
    })?;
    Ok(found.map(TeamId::from).filter(|found| team.is_none_or(|team| team == *found)))
}

async fn snapshot(tx: &mut Tx, id: ApiKeyId) -> Result<Option<Snapshot>> {
    let row: Option<KeyRow> = within!(*tx, |db| {
        sqlx::query_as(
            "select name, prefix, scope, filter_id, expires, user_id from api_keys where id = $1",
        )
        .bind(id.uuid())
        .fetch_optional(db)
        .await
    })?;
    let Some(row) = row else { return Ok(None) };
    let view = View::default()
        .with("name", row.name.as_str())
        .with("prefix", row.prefix)
        .with("scope", row.scope)
        .with("expires", serde_json::json!(row.expires.map(Millis)))
        .with("holder", row.holder.to_string());
    let view = match row.filter {
        None => view,
        Some(filter) => monitor_filters::audited(tx, view, filter).await?,
    };
    Ok(Some(Snapshot { object: Object::new(ObjectKind::Key, &id, &row.name), view }))
}

struct KeyRow {
    name: String,
    prefix: String,
    scope: String,
    filter: Option<Uuid>,
    expires: Option<i64>,
    holder: Uuid,
}

from_row!(KeyRow, |row| Self {
    name: row.try_get("name")?,
    prefix: row.try_get("prefix")?,
    scope: row.try_get("scope")?,
    filter: row.try_get("filter_id")?,
    expires: row.try_get("expires")?,
    holder: row.try_get("user_id")?,
});

impl TeamStore<'_> {
    /// The keys of all users of the team, oldest first.
    pub async fn api_keys(&self) -> Result<Vec<TeamApiKey>> {
        Ok(read!(self.store, |db| {
            sqlx::query_as(
                "select k.id, k.team_id, k.name, k.prefix, k.scope, k.filter_id, k.expires, k.created,
                        k.last_used, k.last_address, k.user_id, u.kind, u.email,
                        u.name as holder_name
                 from api_keys k
                 join users u on u.id = k.user_id
                 where k.team_id = $1
                 order by k.id",
            )
            .bind(self.team.uuid())
            .fetch_all(db)
            .await
        })?)
    }

    /// Deletes a key of a user of the team if the caller may change that user, and the sessions
    /// opened with it. Fails with `StoreError::Gone` if the caller's credential is no longer
    /// valid.
    pub async fn delete_api_key(
        &self,
        id: ApiKeyId,
        caller: Authority<'_>,
        by: &AuditContext,
        now: Millis,
    ) -> Result<MemberOutcome> {
        let mut tx = self.begin().await?;
        lock_team(&mut tx, self.team, now).await?;
        credentials::confirm(&mut tx, caller).await?;
        let holder: Option<Uuid> = within!(tx, |db| {
            sqlx::query_scalar("select user_id from api_keys where id = $1 and team_id = $2")
                .bind(id.uuid())
                .bind(self.team.uuid())
                .fetch_optional(db)
                .await
        })?;
        let Some(holder) = holder.map(UserId::from) else { return Ok(MemberOutcome::NoUser) };
        let kind = members::kind(&mut tx, holder).await?.unwrap_or(UserKind::Person);
        match members::may_change_user(&mut tx, self.team, caller.user, holder, kind).await? {
            None => return Ok(MemberOutcome::NoUser),
            Some(false) => return Ok(MemberOutcome::RoleTooHigh),
            Some(true) => {}
        }
        credentials::lock_user(&mut tx, holder).await?;
        let before = snapshot(&mut tx, id).await?;
        let deleted = within!(tx, |db| {
            sqlx::query("delete from api_keys where id = $1")
                .bind(id.uuid())
                .execute(db)
                .await
                .map(|done| done.rows_affected() == 1)
        })?;
        if !deleted {
            return Ok(MemberOutcome::NoUser);
        }
        self.store.record_key(&mut tx, by, Action::KeyDelete, id, before).await?;
        tx.commit().await?;
        Ok(MemberOutcome::Done)
    }
}
