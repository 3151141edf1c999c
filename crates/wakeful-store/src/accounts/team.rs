//! One team's data. Every statement here includes the team's id, so an id of
//! another team behaves exactly like an id that does not exist.

use uuid::Uuid;
use wakeful_core::access::{Permission, Role, TeamAccess};
use wakeful_core::audit::Action;
use wakeful_core::email_address::EmailAddress;
use wakeful_core::id::{MonitorFilterId, SessionId, TeamId, UserId};
use wakeful_core::time::Millis;

use crate::accounts::{account, credentials, leaving, members};
use crate::audit;
use crate::dialect::{Tx, from_row, read, within};
use crate::notifications::notifiers;
use crate::{
    AuditContext, Authority, Credential, FilterChange, MemberOutcome, NewAccount, Result, Store,
    StoreError,
};

pub struct TeamStore<'a> {
    pub(crate) store: &'a Store,
    pub(crate) team: TeamId,
    /// The monitor filter of the caller, which every statement on monitors has to apply; see
    /// `monitors/visible.rs`.
    pub(crate) filter: Option<Uuid>,
    has_caller: bool,
}

/// A user as listed to the team.
#[derive(Clone, Debug)]
pub struct Member {
    pub user: UserId,
    pub email: String,
    /// As given at sign-up; may be empty.
    pub name: String,
    pub role: Role,
    pub filter: Option<MonitorFilterId>,
    pub suspended: bool,
    pub mfa_enabled: bool,
    /// Whether the team may change the account.
    pub managed: bool,
    /// When a session was last used.
    pub last_seen: Option<Millis>,
    pub created: Millis,
}

from_row!(Member, |row| Self {
    user: row.try_get::<Uuid, _>("id")?.into(),
    email: row.try_get("email")?,
    name: row.try_get("name")?,
    role: members::read_role(&row.try_get::<String, _>("role")?)?,
    filter: row.try_get::<Option<Uuid>, _>("filter_id")?.map(MonitorFilterId::from),
    suspended: row.try_get::<Option<i64>, _>("suspended_at")?.is_some(),
    mfa_enabled: row.try_get("mfa_enabled")?,
    managed: row.try_get::<i64, _>("managed")? == 1,
    last_seen: row.try_get::<Option<i64>, _>("last_seen")?.map(Millis),
    created: Millis(row.try_get("created")?),
});

/// A user to add to the team.
#[derive(Clone, Debug)]
pub struct NewMember<'a> {
    pub account: &'a NewAccount,
    /// `None`: the team's default role, or the caller's own if that is lower.
    pub role: Option<Role>,
    pub filter: FilterChange,
    /// The most users that the team may have.
    pub limit: Option<u32>,
}

/// A change to a user. A new password ends the user's sessions, except the one
/// that made the change.
#[derive(Clone, Debug)]
pub struct UserChange<'a> {
    pub user: UserId,
    pub email: EmailAddress,
    pub password_hash: Option<String>,
    /// `None`: unchanged.
    pub role: Option<Role>,
    pub filter: FilterChange,
    pub caller: UserId,
    /// The credential that the caller has authenticated with.
    pub credential: Credential<'a>,
}

/// The outcome of adding a user.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum AddUserOutcome {
    Done,
    /// The team has reached its limit of users.
    Full,
    /// The user cannot become such a member.
    Refused(MemberOutcome),
}

impl<'a> TeamStore<'a> {
    pub(crate) fn new(store: &'a Store, access: &TeamAccess) -> Self {
        let filter = access.filter().map(MonitorFilterId::uuid);
        Self { store, team: access.team(), filter, has_caller: access.has_caller() }
    }

    /// Opens a write transaction, for a caller in the turn of the team.
    pub(crate) async fn begin(&self) -> Result<Tx> {
        if !self.has_caller {
            return self.store.begin().await;
        }
        let turn = self.store.write_turns.turn(self.team).await?;
        Ok(self.store.begin().await?.with_turn(turn))
    }

    /// The people of the team in the order they were added.
    pub async fn members(&self) -> Result<Vec<Member>> {
        Ok(read!(self.store, |db| {
            sqlx::query_as(
                "select u.id, u.email, u.name, m.role, m.filter_id, m.suspended_at, m.created,
                        u.mfa_enabled, u.last_seen,
                        cast(case when u.managed_by = $1
                                   and not exists (select 1 from members o
                                                   where o.user_id = u.id and o.team_id <> $1)
                             then 1 else 0 end as bigint) as managed
                 from members m
                 join users u on u.id = m.user_id
                 where m.team_id = $1 and u.kind = 'person'
                 order by u.id",
            )
            .bind(self.team.uuid())
            .fetch_all(db)
            .await
        })?)
    }

    /// The name of the team. One that a node of an earlier version has created has none: then
    /// it is the name that its first member gave at sign-up, or else the address of that member.
    pub async fn display_name(&self) -> Result<String> {
        let name: Option<String> = read!(self.store, |db| {
            sqlx::query_scalar(
                "select coalesce(nullif(t.name, ''), nullif(trim(u.name), ''), u.email)
                 from teams t
                 join members m on m.team_id = t.id
                 join users u on u.id = m.user_id
                 where t.id = $1 and u.kind = 'person'
                 order by u.id
                 limit 1",
            )
            .bind(self.team.uuid())
            .fetch_optional(db)
            .await
        })?;
        Ok(name.unwrap_or_default())
    }

    /// Adds a user, unless the team already has as many as it may have. Fails with
    /// `StoreError::Taken` if the address is in use, and with `StoreError::Gone` if the
    /// caller's credential is no longer valid.
    pub async fn add_user(
        &self,
        new: &NewMember<'_>,
        caller: Authority<'_>,
        by: &AuditContext,
        now: Millis,
    ) -> Result<AddUserOutcome> {
        let mut tx = self.begin().await?;
        lock_team(&mut tx, self.team, now).await?;
        credentials::confirm(&mut tx, caller).await?;
        let own = members::role(&mut tx, self.team, caller.user).await?;
        let own = own.ok_or(StoreError::Gone)?;
        let role = match new.role {
            // The caller may have been demoted while the password was being hashed.
            _ if !own.permissions().contains(Permission::People) => {
                return Ok(AddUserOutcome::Refused(MemberOutcome::RoleTooHigh));
            }
            Some(role) if !own.may_assign(role) => {
                return Ok(AddUserOutcome::Refused(MemberOutcome::RoleTooHigh));
            }
            Some(role) => role,
            None => members::default_role(&mut tx, self.team).await?.at_most(own),
        };
        if let Some(limit) = new.limit
            && count_people(&mut tx, self.team).await? >= i64::from(limit)
        {
            return Ok(AddUserOutcome::Full);
        }
        account::insert(&mut tx, self.team, new.account, Some(self.team), now).await?;
        members::set_role(&mut tx, self.team, new.account.user, role, now).await?;
        let limited =
            members::change_filter(&mut tx, self.team, new.account.user, &new.filter).await?;
        if limited != MemberOutcome::Done {
            return Ok(AddUserOutcome::Refused(limited));
        }
        self.record_member(&mut tx, by, Action::MemberJoin, new.account.user, None).await?;
        tx.commit().await?;
        Ok(AddUserOutcome::Done)
    }

    /// Changes a user. Fails with `StoreError::Gone` if the caller's credential is no longer
    /// valid.
    pub async fn change_user(
        &self,
        change: &UserChange<'_>,
        by: &AuditContext,
        now: Millis,
    ) -> Result<MemberOutcome> {
        let keep = change.credential.session().filter(|_| change.user == change.caller);
        let mut tx = self.begin().await?;
        // Two users may change each other at the same time: locking the team
        // first prevents a deadlock on their rows.
        lock_team(&mut tx, self.team, now).await?;
        let (user, credential) = (change.caller, change.credential);
        let caller = Authority { user, team: self.team, credential };
        credentials::confirm(&mut tx, caller).await?;
        let before = members::snapshot(&mut tx, self.team, change.user).await?;
        let outcome = self.change_role(&mut tx, change, now).await?;
        if outcome != MemberOutcome::Done {
            return Ok(outcome);
        }
        let outcome =
            members::change_filter(&mut tx, self.team, change.user, &change.filter).await?;
        if outcome != MemberOutcome::Done {
            return Ok(outcome);
        }
        if change.user != change.caller
            && self.changes_account(&mut tx, change).await?
            && !leaving::is_managed(&mut tx, self.team, change.user).await?
        {
            return Ok(MemberOutcome::NotManaged);
        }
        notifiers::rename_account_notifier(&mut tx, change.user, &change.email).await?;
        let found = within!(tx, |db| {
            sqlx::query(
                "update users
                 set email = $2, email_key = $3, modified = $5,
                     password_hash = coalesce($4, password_hash),
                     email_verified = case when email_key = $3 then email_verified end
                 where id = $1",
            )
            .bind(change.user.uuid())
            .bind(change.email.as_str())
            .bind(change.email.key())
            .bind(change.password_hash.as_deref())
            .bind(now.0)
            .execute(db)
            .await
            .map(|done| done.rows_affected() == 1)
        })?;
        if !found {
            return Ok(MemberOutcome::NoUser);
        }
        if change.password_hash.is_some() {
            end_other_sessions(&mut tx, change.user, keep).await?;
        }
        // Links that were mailed to the previous address must not work either.
        within!(tx, |db| {
            sqlx::query("delete from resets where user_id = $1 and (email_key <> $2 or $3)")
                .bind(change.user.uuid())
                .bind(change.email.key())
                .bind(change.password_hash.is_some())
                .execute(&mut *db)
                .await?;
            sqlx::query("delete from verifications where user_id = $1 and email_key <> $2")
                .bind(change.user.uuid())
                .bind(change.email.key())
                .execute(db)
                .await?;
        });
        if change.user == change.caller && change.role.is_none() {
            let after = members::snapshot(&mut tx, self.team, change.user).await?;
            let entry = audit::change(Action::MemberUpdate, before, after);
            let entry = entry.ok_or(StoreError::Gone)?;
            self.store.write_entry_in_teams(&mut tx, by, change.user, &entry).await?;
        } else {
            self.record_member(&mut tx, by, Action::MemberUpdate, change.user, before).await?;
        }
        tx.commit().await?;
        Ok(MemberOutcome::Done)
    }

    /// Whether a change concerns the account, and not only the membership.
    async fn changes_account(&self, tx: &mut Tx, change: &UserChange<'_>) -> Result<bool> {
        let email: Option<String> = within!(*tx, |db| {
            sqlx::query_scalar("select email from users where id = $1")
                .bind(change.user.uuid())
                .fetch_optional(db)
                .await
        })?;
        Ok(change.password_hash.is_some() || email.is_none_or(|old| old != change.email.as_str()))
    }

    /// Checks that the caller may change the member, and sets the new role, if any.
    async fn change_role(
        &self,
        tx: &mut Tx,
        change: &UserChange<'_>,
        now: Millis,
    ) -> Result<MemberOutcome> {
        match members::may_change(tx, self.team, change.caller, change.user).await? {
            None => return Ok(MemberOutcome::NoUser),
            Some(false) => return Ok(MemberOutcome::RoleTooHigh),
            Some(true) => {}
        }
        let Some(role) = change.role else { return Ok(MemberOutcome::Done) };
        let own = members::role(tx, self.team, change.caller).await?;
        if !own.is_some_and(|own| own.may_assign(role)) {
            return Ok(MemberOutcome::RoleTooHigh);
        }
        members::set_role(tx, self.team, change.user, role, now).await?;
        Ok(if members::lacks_owner(tx, self.team).await? {
            MemberOutcome::LastOwner
        } else {
            MemberOutcome::Done
        })
    }

    /// Ends all sessions of these users, since any of them could act in the team, and deletes
    /// their API keys of the team, in one transaction. Fails with `StoreError::Gone` if the caller's credential is no longer
    /// valid.
    pub async fn revoke(
        &self,
        users: &[UserId],
        caller: Authority<'_>,
        by: &AuditContext,
        now: Millis,
    ) -> Result<MemberOutcome> {
        let mut tx = self.begin().await?;
        lock_team(&mut tx, self.team, now).await?;
        credentials::confirm(&mut tx, caller).await?;
        for user in users {
            match members::may_change(&mut tx, self.team, caller.user, *user).await? {
                Some(true) if lock_member(&mut tx, self.team, *user).await? => {}
                Some(true) | None => return Ok(MemberOutcome::NoUser),
                Some(false) => return Ok(MemberOutcome::RoleTooHigh),
            }
            end_other_sessions(&mut tx, *user, None).await?;
            delete_api_keys(&mut tx, self.team, *user).await?;
        }
        for user in users {
            let unchanged = members::snapshot(&mut tx, self.team, *user).await?;
            self.record_member(&mut tx, by, Action::MemberRevoke, *user, unchanged).await?;
        }
        tx.commit().await?;
        Ok(MemberOutcome::Done)
    }
}

/// Locks the team's row until the transaction ends, so that changes to what belongs
/// to the team happen one after the other; false when there is no such team, or it was deleted.
pub(crate) async fn lock_team(tx: &mut Tx, team: TeamId, now: Millis) -> Result<bool> {
    Ok(within!(*tx, |db| {
        sqlx::query("update teams set modified = $2 where id = $1 and deleted_at is null")
            .bind(team.uuid())
            .bind(now.0)
            .execute(db)
            .await
            .map(|done| done.rows_affected() == 1)
    })?)
}

/// Locks a user's row until the transaction ends; false when the team has no such
/// user.
pub(crate) async fn lock_member(tx: &mut Tx, team: TeamId, user: UserId) -> Result<bool> {
    Ok(within!(*tx, |db| {
        sqlx::query(
            "update users set modified = modified
             where id = $1
             and exists (select 1 from members m where m.team_id = $2 and m.user_id = users.id)",
        )
        .bind(user.uuid())
        .bind(team.uuid())
        .execute(db)
        .await
        .map(|done| done.rows_affected() == 1)
    })?)
}

pub(crate) async fn count_people(tx: &mut Tx, team: TeamId) -> Result<i64> {
    Ok(within!(*tx, |db| {
        sqlx::query_scalar(
            "select count(*) from members m join users u on u.id = m.user_id
             where m.team_id = $1 and u.kind = 'person'",
        )
        .bind(team.uuid())
        .fetch_one(db)
        .await
    })?)
}

/// Ends a user's sessions, except the one to keep.
async fn end_other_sessions(tx: &mut Tx, user: UserId, keep: Option<SessionId>) -> Result<()> {
    within!(*tx, |db| {
        sqlx::query("delete from sessions where user_id = $1 and id <> $2")
            .bind(user.uuid())
            .bind(keep.map_or(Uuid::nil(), SessionId::uuid))
            .execute(db)
            .await?;
    });
    Ok(())
}

/// Deletes a user's API keys of a team, and the sessions opened with them.
pub(crate) async fn delete_api_keys(tx: &mut Tx, team: TeamId, user: UserId) -> Result<()> {
    within!(*tx, |db| {
        sqlx::query("delete from api_keys where user_id = $1 and team_id = $2")
            .bind(user.uuid())
            .bind(team.uuid())
            .execute(db)
            .await?;
    });
    Ok(())
}
