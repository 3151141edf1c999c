//! The users of the installation, for its administrators.

use std::collections::HashMap;
use uuid::Uuid;
use wakeful_core::access::Role;
use wakeful_core::audit::{Action, Object, ObjectKind};
use wakeful_core::id::{TeamId, UserId};
use wakeful_core::time::Millis;

use super::{AdminAuthority, AdminOutcome, confirm, is_last_admin, set_flag};
use crate::accounts::team::lock_team;
use crate::accounts::{credentials, email_verification, leaving, members, mfa};
use crate::audit::log::pattern;
use crate::dialect::{Tx, either, from_row, read, within};
use crate::monitors::json;
use crate::{AuditContext, Mail, NewEntry, Result, Store};

/// A person as administrators see them.
#[derive(Clone, Debug)]
pub struct AdminUser {
    pub user: UserId,
    pub email: String,
    pub name: String,
    pub created: Millis,
    /// When a session of theirs was last used, to the minute.
    pub last_seen: Option<Millis>,
    pub email_verified: bool,
    pub mfa_enabled: bool,
    pub is_admin: bool,
    pub suspended: Option<Millis>,
    /// By name.
    pub teams: Vec<AdminMembership>,
}

/// A team of a person, and what they are in it.
#[derive(Clone, Debug)]
pub struct AdminMembership {
    pub team: TeamId,
    pub name: String,
    pub role: Role,
    pub suspended: bool,
}

from_row!(AdminUser, |row| Self {
    user: row.try_get::<Uuid, _>("id")?.into(),
    email: row.try_get("email")?,
    name: row.try_get("name")?,
    created: Millis(row.try_get("created")?),
    last_seen: row.try_get::<Option<i64>, _>("last_seen")?.map(Millis),
    email_verified: row.try_get::<Option<i64>, _>("email_verified")?.is_some(),
    mfa_enabled: row.try_get("mfa_enabled")?,
    is_admin: row.try_get("is_admin")?,
    suspended: row.try_get::<Option<i64>, _>("suspended_at")?.map(Millis),
    teams: Vec::new(),
});

/// A membership with its user.
struct TeamRow {
    user: UserId,
    team: AdminMembership,
}

from_row!(TeamRow, |row| Self {
    user: row.try_get::<Uuid, _>("user_id")?.into(),
    team: AdminMembership {
        team: row.try_get::<Uuid, _>("id")?.into(),
        name: row.try_get("name")?,
        role: members::read_role(&row.try_get::<String, _>("role")?)?,
        suspended: row.try_get::<Option<i64>, _>("suspended_at")?.is_some(),
    },
});

/// Which users to list, newest first.
#[derive(Clone, Debug, Default)]
pub struct AdminUserQuery {
    /// Part of the address or the name.
    pub text: Option<String>,
    pub admin: Option<bool>,
    pub suspended: Option<bool>,
    /// Only the members of this team.
    pub team: Option<TeamId>,
    /// Only those who were created before this one.
    pub before: Option<UserId>,
}

impl Store {
    /// A page of the people of the installation, newest first.
    pub async fn admin_users(&self, query: &AdminUserQuery, limit: u32) -> Result<Vec<AdminUser>> {
        let mut users: Vec<AdminUser> = read!(self, |db| {
            sqlx::query_as(
                "select id, email, name, created, last_seen, email_verified, mfa_enabled, is_admin,
                        suspended_at
                 from users
                 where kind = 'person'
                 and ($1 is null or id < $1)
                 and ($2 is null or email_key like $2 escape '\\' or lower(name) like $2 escape '\\')
                 and ($3 is null or is_admin = $3)
                 and ($4 is null or (suspended_at is not null) = $4)
                 and ($5 is null or id in (select m.user_id from members m where m.team_id = $5))
                 order by id desc
                 limit $6",
            )
            .bind(query.before.map(UserId::uuid))
            .bind(query.text.as_deref().map(pattern))
            .bind(query.admin)
            .bind(query.suspended)
            .bind(query.team.map(TeamId::uuid))
            .bind(i64::from(limit))
            .fetch_all(db)
            .await
        })?;
        let ids: Vec<String> =
            users.iter().map(|user| user.user.uuid().simple().to_string()).collect();
        let sql = either!(
            self,
            sqlite: "select m.user_id, t.id, t.name, m.role, m.suspended_at
                 from members m
                 join teams t on t.id = m.team_id
                 where m.user_id in (select unhex(value) from json_each($1))
                 order by lower(t.name), t.id",
            postgres: "select m.user_id, t.id, t.name, m.role, m.suspended_at
                 from members m
                 join teams t on t.id = m.team_id
                 where m.user_id in (
                     select cast(value as uuid) from json_array_elements_text(cast($1 as json)))
                 order by lower(t.name), t.id"
        );
        let rows: Vec<TeamRow> =
            read!(self, |db| sqlx::query_as(sql).bind(json(&ids)).fetch_all(db).await)?;
        let mut teams: HashMap<UserId, Vec<AdminMembership>> = HashMap::new();
        for TeamRow { user, team } in rows {
            teams.entry(user).or_default().push(team);
        }
        for user in &mut users {
            user.teams = teams.remove(&user.user).unwrap_or_default();
        }
        Ok(users)
    }

    /// Grants or revokes the administration of the installation.
    pub async fn set_admin(
        &self,
        user: UserId,
        is_admin: bool,
        who: AdminAuthority<'_>,
        mails: &[Mail],
        by: &AuditContext,
    ) -> Result<AdminOutcome> {
        let mut tx = self.begin_administration(who).await?;
        confirm(&mut tx, who).await?;
        let Some(person) = object(&mut tx, user).await? else { return Ok(AdminOutcome::NoUser) };
        if !is_admin && is_last_admin(&mut tx, user).await? {
            return Ok(AdminOutcome::LastAdmin);
        }
        if !set_flag(&mut tx, user, is_admin).await? {
            return Ok(AdminOutcome::Unchanged);
        }
        let action = if is_admin { Action::AdminGrant } else { Action::AdminRevoke };
        self.queue_mails(&mut tx, mails, by).await?;
        // It gives no access to a team.
        let entry = NewEntry::new(action, person, Vec::new());
        self.write_administration(&mut tx, by, &entry, &[]).await?;
        tx.commit().await?;
        Ok(AdminOutcome::Done)
    }

    /// Suspends a user, which ends their sessions, or lets them sign in again.
    pub async fn suspend_user(
        &self,
        user: UserId,
        suspended: bool,
        who: AdminAuthority<'_>,
        mails: &[Mail],
        by: &AuditContext,
    ) -> Result<AdminOutcome> {
        let mut tx = self.begin_administration(who).await?;
        confirm(&mut tx, who).await?;
        let Some(person) = object(&mut tx, user).await? else { return Ok(AdminOutcome::NoUser) };
        if suspended && is_last_admin(&mut tx, user).await? {
            return Ok(AdminOutcome::LastAdmin);
        }
        let changed = within!(tx, |db| {
            let done = sqlx::query(
                "update users set suspended_at = case when $2 then $3 end
                 where id = $1 and (suspended_at is not null) <> $2",
            )
            .bind(user.uuid())
            .bind(suspended)
            .bind(by.at().0)
            .execute(&mut *db)
            .await?;
            if suspended {
                sqlx::query("delete from sessions where user_id = $1")
                    .bind(user.uuid())
                    .execute(db)
                    .await?;
            }
            Ok::<_, sqlx::Error>(done.rows_affected() == 1)
        })?;
        if !changed {
            return Ok(AdminOutcome::Unchanged);
        }
        let action = if suspended { Action::AdminSuspend } else { Action::AdminResume };
        self.finish_for_user(tx, user, NewEntry::new(action, person, Vec::new()), mails, by).await
    }

    /// Removes the second factors of a user who has lost them, whatever their teams require.
    pub async fn reset_factors(
        &self,
        user: UserId,
        who: AdminAuthority<'_>,
        mails: &[Mail],
        by: &AuditContext,
    ) -> Result<AdminOutcome> {
        let mut tx = self.begin_administration(who).await?;
        confirm(&mut tx, who).await?;
        let Some(person) = object(&mut tx, user).await? else { return Ok(AdminOutcome::NoUser) };
        credentials::lock_user(&mut tx, user).await?;
        if !mfa::is_on(&mut tx, user).await? {
            return Ok(AdminOutcome::Unchanged);
        }
        mfa::turn_off(&mut tx, user).await?;
        let entry = NewEntry::new(Action::MfaReset, person, Vec::new());
        self.finish_for_user(tx, user, entry, mails, by).await
    }

    /// Marks the address of a user as verified, on the word of the operator.
    pub async fn verify_user(&self, user: UserId, by: &AuditContext) -> Result<AdminOutcome> {
        let mut tx = self.begin_administration(AdminAuthority::Operator).await?;
        let Some(person) = object(&mut tx, user).await? else { return Ok(AdminOutcome::NoUser) };
        credentials::lock_user(&mut tx, user).await?;
        email_verification::mark_verified(&mut tx, user, by.at()).await?;
        let entry = NewEntry::new(Action::MemberVerify, person, Vec::new());
        self.finish_for_user(tx, user, entry, &[], by).await
    }

    /// Records an action about a user, in the installation and in all of their teams.
    async fn finish_for_user(
        &self,
        mut tx: Tx,
        user: UserId,
        entry: NewEntry,
        mails: &[Mail],
        by: &AuditContext,
    ) -> Result<AdminOutcome> {
        self.queue_mails(&mut tx, mails, by).await?;
        let teams = leaving::teams_of(&mut tx, user).await?;
        self.write_administration(&mut tx, by, &entry, &teams).await?;
        tx.commit().await?;
        Ok(AdminOutcome::Done)
    }

    /// Sets the role of a member, on behalf of the operator.
    #[expect(clippy::disallowed_methods, reason = "the operator is not a member of the team")]
    pub async fn set_member_role(
        &self,
        team: TeamId,
        user: UserId,
        role: Role,
        by: &AuditContext,
    ) -> Result<crate::MemberOutcome> {
        use crate::MemberOutcome;
        use wakeful_core::access::TeamAccess;

        let mut tx = self.begin_administration(AdminAuthority::Operator).await?;
        lock_team(&mut tx, team, by.at()).await?;
        let Some(before) = members::snapshot(&mut tx, team, user).await? else {
            return Ok(MemberOutcome::NoUser);
        };
        if before.object.kind != ObjectKind::Person {
            return Ok(MemberOutcome::NoUser);
        }
        members::set_role(&mut tx, team, user, role, by.at()).await?;
        if members::lacks_owner(&mut tx, team).await? {
            return Ok(MemberOutcome::LastOwner);
        }
        let store = self.team(&TeamAccess::whole(team));
        let by = by.in_team(team);
        store.record_member(&mut tx, &by, Action::MemberRole, user, Some(before)).await?;
        tx.commit().await?;
        Ok(MemberOutcome::Done)
    }
}

/// A person, for the audit log; `None` if there is none with this id.
pub(super) async fn object(tx: &mut Tx, user: UserId) -> Result<Option<Object>> {
    let email: Option<String> = within!(*tx, |db| {
        sqlx::query_scalar("select email from users where id = $1 and kind = 'person'")
            .bind(user.uuid())
            .fetch_optional(db)
            .await
    })?;
    Ok(email.map(|email| Object::new(ObjectKind::Person, &user, &email)))
}
