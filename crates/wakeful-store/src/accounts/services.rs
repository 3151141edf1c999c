//! Service accounts: users without a password, for programs.

use uuid::Uuid;
use wakeful_core::access::{Role, UserKind};
use wakeful_core::accounts::MAX_SERVICES_PER_TEAM;
use wakeful_core::audit::Action;
use wakeful_core::id::{TeamId, UserId};
use wakeful_core::time::Millis;

use crate::accounts::team::lock_team;
use crate::accounts::{credentials, members};
use crate::dialect::{Tx, from_row, read, within};
use crate::{AuditContext, Authority, MemberOutcome, Result, StoreError, TeamStore};

/// A service account as listed to the team.
#[derive(Clone, Debug)]
pub struct ServiceAccount {
    pub user: UserId,
    pub name: String,
    pub role: Role,
    pub suspended: bool,
    /// How many API keys it has.
    pub keys: i64,
    /// When one of them was last used.
    pub last_used: Option<Millis>,
    pub created: Millis,
}

from_row!(ServiceAccount, |row| Self {
    user: row.try_get::<Uuid, _>("id")?.into(),
    name: row.try_get("name")?,
    role: members::read_role(&row.try_get::<String, _>("role")?)?,
    suspended: row.try_get::<Option<i64>, _>("suspended_at")?.is_some(),
    keys: row.try_get("keys")?,
    last_used: row.try_get::<Option<i64>, _>("last_used")?.map(Millis),
    created: Millis(row.try_get("created")?),
});

#[derive(Clone, Debug)]
pub struct NewService<'a> {
    pub user: UserId,
    pub name: &'a str,
    pub role: Role,
    pub suspended: bool,
}

/// A change to a service account; what is `None` stays as it is.
#[derive(Clone, Debug)]
pub struct ServiceChange<'a> {
    pub user: UserId,
    pub name: Option<&'a str>,
    pub role: Option<Role>,
    pub suspended: Option<bool>,
}

/// The outcome of adding a service account.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum AddServiceOutcome {
    Done,
    /// The team has `MAX_SERVICES_PER_TEAM`.
    Full,
    /// The role is above the caller's own.
    RoleTooHigh,
}

/// A service account of a team.
#[derive(Clone, Copy)]
pub(crate) struct Service {
    pub(crate) team: TeamId,
    pub(crate) user: UserId,
}

impl TeamStore<'_> {
    /// The team's service accounts, oldest first.
    pub async fn services(&self) -> Result<Vec<ServiceAccount>> {
        Ok(read!(self.store, |db| {
            sqlx::query_as(
                "select u.id, u.name, m.role, m.suspended_at, m.created,
                        (select count(*) from api_keys k where k.user_id = u.id) as keys,
                        (select max(k.last_used) from api_keys k where k.user_id = u.id)
                            as last_used
                 from members m
                 join users u on u.id = m.user_id
                 where m.team_id = $1 and u.kind = 'service'
                 order by u.id",
            )
            .bind(self.team.uuid())
            .fetch_all(db)
            .await
        })?)
    }

    /// Adds a service account. Fails with `StoreError::Gone` if the caller's credential is no
    /// longer valid.
    pub async fn add_service(
        &self,
        new: &NewService<'_>,
        caller: Authority<'_>,
        by: &AuditContext,
        now: Millis,
    ) -> Result<AddServiceOutcome> {
        let mut tx = self.begin().await?;
        lock_team(&mut tx, self.team, now).await?;
        credentials::confirm(&mut tx, caller).await?;
        let own = members::role(&mut tx, self.team, caller.user).await?;
        if !own.ok_or(StoreError::Gone)?.may_assign(new.role) {
            return Ok(AddServiceOutcome::RoleTooHigh);
        }
        let added = within!(tx, |db| {
            sqlx::query(
                "insert into users
                 (id, team_id, email, email_key, name, password_hash, kind, created, modified)
                 select $1, $2, '', $3, $4, '', 'service', $5, $5
                 where (select count(*) from users where team_id = $2 and kind = 'service') < $6",
            )
            .bind(new.user.uuid())
            .bind(self.team.uuid())
            .bind(email_key(new.user))
            .bind(new.name)
            .bind(now.0)
            .bind(i64::from(MAX_SERVICES_PER_TEAM))
            .execute(db)
            .await
            .map(|done| done.rows_affected() == 1)
        })?;
        if !added {
            return Ok(AddServiceOutcome::Full);
        }
        members::set_role(&mut tx, self.team, new.user, new.role, now).await?;
        members::set_suspended(&mut tx, self.team, new.user, new.suspended, now).await?;
        self.record_member(&mut tx, by, Action::ServiceCreate, new.user, None).await?;
        tx.commit().await?;
        Ok(AddServiceOutcome::Done)
    }

    /// Changes a service account. Fails with `StoreError::Gone` if the caller's credential is
    /// no longer valid.
    pub async fn change_service(
        &self,
        change: &ServiceChange<'_>,
        caller: Authority<'_>,
        by: &AuditContext,
        now: Millis,
    ) -> Result<MemberOutcome> {
        let mut tx = self.begin().await?;
        let service = Service { team: self.team, user: change.user };
        let outcome = lock_for_change(&mut tx, service, caller, now).await?;
        if outcome != MemberOutcome::Done {
            return Ok(outcome);
        }
        let before = members::snapshot(&mut tx, self.team, change.user).await?;
        if let Some(role) = change.role {
            let own = members::role(&mut tx, self.team, caller.user).await?;
            if !own.is_some_and(|own| own.may_assign(role)) {
                return Ok(MemberOutcome::RoleTooHigh);
            }
            members::set_role(&mut tx, self.team, change.user, role, now).await?;
        }
        if let Some(suspended) = change.suspended {
            members::set_suspended(&mut tx, self.team, change.user, suspended, now).await?;
        }
        if let Some(name) = change.name {
            within!(tx, |db| {
                sqlx::query("update users set name = $2, modified = $3 where id = $1")
                    .bind(change.user.uuid())
                    .bind(name)
                    .bind(now.0)
                    .execute(db)
                    .await?;
            });
        }
        self.record_member(&mut tx, by, Action::ServiceUpdate, change.user, before).await?;
        tx.commit().await?;
        Ok(MemberOutcome::Done)
    }

    /// Deletes a service account with its API keys. Fails with `StoreError::Gone` if the
    /// caller's credential is no longer valid.
    pub async fn delete_service(
        &self,
        user: UserId,
        caller: Authority<'_>,
        by: &AuditContext,
        now: Millis,
    ) -> Result<MemberOutcome> {
        let mut tx = self.begin().await?;
        let service = Service { team: self.team, user };
        let outcome = lock_for_change(&mut tx, service, caller, now).await?;
        if outcome != MemberOutcome::Done {
            return Ok(outcome);
        }
        let before = members::snapshot(&mut tx, self.team, user).await?;
        within!(tx, |db| {
            sqlx::query("delete from users where id = $1").bind(user.uuid()).execute(db).await?;
        });
        self.record_member(&mut tx, by, Action::ServiceDelete, user, before).await?;
        tx.commit().await?;
        Ok(MemberOutcome::Done)
    }
}

/// Locks a service account until the transaction ends, if the caller may change it.
pub(crate) async fn lock_for_change(
    tx: &mut Tx,
    Service { team, user }: Service,
    caller: Authority<'_>,
    now: Millis,
) -> Result<MemberOutcome> {
    lock_team(tx, team, now).await?;
    credentials::confirm(tx, caller).await?;
    match members::may_change_user(tx, team, caller.user, user, UserKind::Service).await? {
        None => return Ok(MemberOutcome::NoUser),
        Some(false) => return Ok(MemberOutcome::RoleTooHigh),
        Some(true) => {}
    }
    let exists = credentials::lock_user(tx, user).await?;
    Ok(if exists { MemberOutcome::Done } else { MemberOutcome::NoUser })
}

/// Cannot be equal to the key of an email address, and is unique.
fn email_key(user: UserId) -> String {
    format!("service:{user}")
}
