//! The members of a team and their roles. Changes to members happen one after the
//! other, because each locks the team, so the rules hold for concurrent changes too.

use uuid::Uuid;
use wakeful_core::access::{MfaPolicy, Role, Scope, UserKind};
use wakeful_core::audit::{Action, Object, ObjectKind, View};
use wakeful_core::id::{MonitorFilterId, TeamId, UserId};
use wakeful_core::time::Millis;

use crate::accounts::credentials::{self, Authority};
use crate::accounts::monitor_filters::{self, StoredMonitorFilter};
use crate::accounts::team::lock_team;
use crate::audit::Snapshot;
use crate::dialect::{Tx, from_row, within};
use crate::{AuditContext, Result, TeamStore};

/// What a user is in their team.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Membership {
    pub role: Role,
    pub suspended: bool,
    /// The monitors that the member is limited to.
    pub filter: Option<MonitorFilterId>,
    pub team_name: String,
    /// Whether an administrator of the installation has suspended the team.
    pub team_suspended: bool,
    /// The policies of the team.
    pub mfa: MfaPolicy,
    pub personal_keys: bool,
}

from_row!(Membership, |row| Self {
    role: read_role(row.try_get("role")?)?,
    suspended: row.try_get::<Option<i64>, _>("suspended_at")?.is_some(),
    filter: row.try_get::<Option<Uuid>, _>("filter_id")?.map(MonitorFilterId::from),
    team_name: row.try_get("team_name")?,
    team_suspended: row.try_get::<Option<i64>, _>("team_suspended_at")?.is_some(),
    mfa: read_mfa(row.try_get("mfa")?)?,
    personal_keys: row.try_get("personal_keys")?,
});

/// The membership in a row that has none for a user who is not in the team.
pub(crate) struct Joined(pub(crate) Option<Membership>);

from_row!(Joined, |row| Self(match row.try_get::<Option<&str>, _>("role")? {
    None => None,
    Some(_) => Some(Membership::from_row(row)?),
}));

pub(crate) fn read_mfa(text: &str) -> sqlx::Result<MfaPolicy> {
    MfaPolicy::parse(text).map_err(|_| sqlx::Error::Decode("not a policy".into()))
}

pub(crate) fn read_scope(text: &str) -> sqlx::Result<Scope> {
    Scope::parse(text).map_err(|_| sqlx::Error::Decode("not a scope".into()))
}

pub(crate) fn read_kind(text: &str) -> sqlx::Result<UserKind> {
    UserKind::parse(text).map_err(|_| sqlx::Error::Decode("not a kind of user".into()))
}

pub(crate) fn read_role(text: &str) -> sqlx::Result<Role> {
    Role::parse(text).map_err(|_| sqlx::Error::Decode("not a role".into()))
}

/// The outcome of a change to the members of a team.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum MemberOutcome {
    Done,
    /// The team has no such user.
    NoUser,
    /// A role is above the caller's own.
    RoleTooHigh,
    /// The team would have members, but no owner.
    LastOwner,
    /// A member with this role cannot be limited to some monitors.
    FilterNotAllowed,
    /// The filter names monitors that the team does not have.
    UnknownMonitors,
    /// Only its holder may change the account.
    NotManaged,
    /// Nobody would be left who administers the installation.
    LastAdmin,
    /// The member has no second factor.
    MfaNotOn,
}

/// A change to a member of a team.
#[derive(Clone, Debug)]
pub struct MemberChange<'a> {
    pub user: UserId,
    pub caller: Authority<'a>,
    /// `None`: unchanged, as for the next one.
    pub role: Option<Role>,
    pub suspended: Option<bool>,
    pub filter: FilterChange,
}

/// A change of the monitors that a member is limited to. Without one, a member who can no
/// longer be limited loses the limit.
#[derive(Clone, Debug, Default)]
pub enum FilterChange {
    #[default]
    Unchanged,
    Remove,
    Set(StoredMonitorFilter),
}

impl TeamStore<'_> {
    /// Changes a member, or nothing. Fails with `StoreError::Gone` if the caller's credential
    /// is no longer valid.
    pub async fn change_member(
        &self,
        change: &MemberChange<'_>,
        by: &AuditContext,
        now: Millis,
    ) -> Result<MemberOutcome> {
        let (user, caller) = (change.user, change.caller);
        let mut tx = self.begin().await?;
        lock_team(&mut tx, self.team, now).await?;
        credentials::confirm(&mut tx, caller).await?;
        match may_change(&mut tx, self.team, caller.user, user).await? {
            None => return Ok(MemberOutcome::NoUser),
            Some(false) => return Ok(MemberOutcome::RoleTooHigh),
            Some(true) => {}
        }
        let before = snapshot(&mut tx, self.team, user).await?;
        if let Some(new) = change.role {
            let own = role(&mut tx, self.team, caller.user).await?;
            if !own.is_some_and(|own| own.may_assign(new)) {
                return Ok(MemberOutcome::RoleTooHigh);
            }
            set_role(&mut tx, self.team, user, new, now).await?;
        }
        if let Some(suspended) = change.suspended {
            set_suspended(&mut tx, self.team, user, suspended, now).await?;
        }
        let outcome = change_filter(&mut tx, self.team, user, &change.filter).await?;
        if outcome != MemberOutcome::Done {
            return Ok(outcome);
        }
        if lacks_owner(&mut tx, self.team).await? {
            return Ok(MemberOutcome::LastOwner);
        }
        let action = match change.suspended {
            Some(_) => Action::MemberSuspend,
            None => Action::MemberRole,
        };
        self.record_member(&mut tx, by, action, user, before).await?;
        tx.commit().await?;
        Ok(MemberOutcome::Done)
    }

    /// Records a change of a member, which is written already.
    pub(crate) async fn record_member(
        &self,
        tx: &mut Tx,
        by: &AuditContext,
        action: Action,
        user: UserId,
        before: Option<Snapshot>,
    ) -> Result<()> {
        let after = snapshot(tx, self.team, user).await?;
        self.store.write_change(tx, by, action, before, after).await
    }
}

/// A member or a service account of a team; `None` when the team has no such user.
pub(crate) async fn snapshot(tx: &mut Tx, team: TeamId, user: UserId) -> Result<Option<Snapshot>> {
    let row: Option<MemberRow> = within!(*tx, |db| {
        sqlx::query_as(
            "select u.kind, u.email, u.name, u.password_hash, m.role, m.suspended_at, m.filter_id
             from members m
             join users u on u.id = m.user_id
             where m.team_id = $1 and m.user_id = $2",
        )
        .bind(team.uuid())
        .bind(user.uuid())
        .fetch_optional(db)
        .await
    })?;
    let Some(row) = row else { return Ok(None) };
    let view = View::default()
        .with("role", row.role)
        .with("suspended", row.suspended)
        .with_secret("password", &row.password_hash);
    let (object, view) = match row.kind {
        UserKind::Person => {
            (Object::new(ObjectKind::Person, &user, &row.email), view.with("email", row.email))
        }
        UserKind::Service => {
            (Object::new(ObjectKind::Service, &user, &row.name), view.with("name", row.name))
        }
    };
    let view = match row.filter {
        None => view,
        Some(filter) => monitor_filters::audited(tx, view, filter).await?,
    };
    Ok(Some(Snapshot { object, view }))
}

struct MemberRow {
    kind: UserKind,
    email: String,
    name: String,
    password_hash: String,
    role: String,
    suspended: bool,
    filter: Option<Uuid>,
}

from_row!(MemberRow, |row| Self {
    kind: read_kind(&row.try_get::<String, _>("kind")?)?,
    email: row.try_get("email")?,
    name: row.try_get("name")?,
    password_hash: row.try_get("password_hash")?,
    role: row.try_get("role")?,
    suspended: row.try_get::<Option<i64>, _>("suspended_at")?.is_some(),
    filter: row.try_get("filter_id")?,
});

/// The role of a user in a team.
pub(crate) async fn role(tx: &mut Tx, team: TeamId, user: UserId) -> Result<Option<Role>> {
    let role: Option<String> = within!(*tx, |db| {
        sqlx::query_scalar("select role from members where team_id = $1 and user_id = $2")
            .bind(team.uuid())
            .bind(user.uuid())
            .fetch_optional(db)
            .await
    })?;
    Ok(role.map(|role| read_role(&role)).transpose()?)
}

pub(crate) async fn kind(tx: &mut Tx, user: UserId) -> Result<Option<UserKind>> {
    let kind: Option<String> = within!(*tx, |db| {
        sqlx::query_scalar("select kind from users where id = $1")
            .bind(user.uuid())
            .fetch_optional(db)
            .await
    })?;
    Ok(kind.map(|kind| read_kind(&kind)).transpose()?)
}

/// Whether a user is an owner of a team.
pub(crate) async fn is_owner(tx: &mut Tx, team: TeamId, user: UserId) -> Result<bool> {
    Ok(role(tx, team, user).await? == Some(Role::Owner))
}

/// Adds a member to a team.
pub(crate) async fn insert(
    tx: &mut Tx,
    team: TeamId,
    user: UserId,
    role: Role,
    now: Millis,
) -> Result<()> {
    within!(*tx, |db| {
        sqlx::query(
            "insert into members (team_id, user_id, role, created, modified)
             values ($1, $2, $3, $4, $4)",
        )
        .bind(team.uuid())
        .bind(user.uuid())
        .bind(role.as_str())
        .bind(now.0)
        .execute(db)
        .await?;
    });
    Ok(())
}

/// The role of new members of a team.
pub(crate) async fn default_role(tx: &mut Tx, team: TeamId) -> Result<Role> {
    let role: String = within!(*tx, |db| {
        sqlx::query_scalar("select default_role from teams where id = $1")
            .bind(team.uuid())
            .fetch_one(db)
            .await
    })?;
    Ok(read_role(&role)?)
}

/// Sets the role of a member, who exists since the user was added. A role that cannot be
/// limited to some monitors removes the limit.
pub(crate) async fn set_role(
    tx: &mut Tx,
    team: TeamId,
    user: UserId,
    role: Role,
    now: Millis,
) -> Result<()> {
    within!(*tx, |db| {
        sqlx::query(
            "update members set role = $3, modified = $4 where team_id = $1 and user_id = $2",
        )
        .bind(team.uuid())
        .bind(user.uuid())
        .bind(role.as_str())
        .bind(now.0)
        .execute(db)
        .await?;
    });
    if role.may_have_filter() {
        return Ok(());
    }
    set_filter(tx, team, user, None).await
}

pub(crate) async fn set_suspended(
    tx: &mut Tx,
    team: TeamId,
    user: UserId,
    suspended: bool,
    now: Millis,
) -> Result<()> {
    within!(*tx, |db| {
        sqlx::query(
            "update members
             set suspended_at = case when $3 then coalesce(suspended_at, $4) end, modified = $4
             where team_id = $1 and user_id = $2",
        )
        .bind(team.uuid())
        .bind(user.uuid())
        .bind(suspended)
        .bind(now.0)
        .execute(db)
        .await?;
    });
    Ok(())
}

/// Changes the monitors that a member is limited to.
pub(crate) async fn change_filter(
    tx: &mut Tx,
    team: TeamId,
    user: UserId,
    change: &FilterChange,
) -> Result<MemberOutcome> {
    match change {
        FilterChange::Unchanged => {}
        FilterChange::Remove => set_filter(tx, team, user, None).await?,
        FilterChange::Set(filter) => {
            let role = role(tx, team, user).await?;
            if !role.is_some_and(Role::may_have_filter) {
                return Ok(MemberOutcome::FilterNotAllowed);
            }
            if !monitor_filters::insert(tx, team, filter).await? {
                return Ok(MemberOutcome::UnknownMonitors);
            }
            set_filter(tx, team, user, Some(filter.id)).await?;
        }
    }
    Ok(MemberOutcome::Done)
}

/// Replaces the filter of a member, and deletes the previous one.
pub(crate) async fn set_filter(
    tx: &mut Tx,
    team: TeamId,
    user: UserId,
    filter: Option<MonitorFilterId>,
) -> Result<()> {
    within!(*tx, |db| {
        let previous: Option<Option<Uuid>> =
            sqlx::query_scalar("select filter_id from members where team_id = $1 and user_id = $2")
                .bind(team.uuid())
                .bind(user.uuid())
                .fetch_optional(&mut *db)
                .await?;
        sqlx::query("update members set filter_id = $3 where team_id = $1 and user_id = $2")
            .bind(team.uuid())
            .bind(user.uuid())
            .bind(filter.map(MonitorFilterId::uuid))
            .execute(&mut *db)
            .await?;
        if let Some(previous) = previous.flatten() {
            sqlx::query("delete from monitor_filters where id = $1")
                .bind(previous)
                .execute(db)
                .await?;
        }
    });
    Ok(())
}

/// Whether the team has members, but none of them is an owner who is not suspended.
pub(crate) async fn lacks_owner(tx: &mut Tx, team: TeamId) -> Result<bool> {
    let (members, owners): (i64, i64) = within!(*tx, |db| {
        sqlx::query_as(
            "select count(*),
                    count(case when role = 'owner' and suspended_at is null then 1 end)
             from members
             where team_id = $1",
        )
        .bind(team.uuid())
        .fetch_one(db)
        .await
    })?;
    Ok(members > 0 && owners == 0)
}

/// Whether `caller` may change or remove this person: only owners may change owners,
/// and nobody may change a member with a role above their own. `None` when the team has no
/// such person.
pub(crate) async fn may_change(
    tx: &mut Tx,
    team: TeamId,
    caller: UserId,
    user: UserId,
) -> Result<Option<bool>> {
    may_change_user(tx, team, caller, user, UserKind::Person).await
}

/// The same for a user of either kind.
pub(crate) async fn may_change_user(
    tx: &mut Tx,
    team: TeamId,
    caller: UserId,
    user: UserId,
    kind: UserKind,
) -> Result<Option<bool>> {
    if self::kind(tx, user).await? != Some(kind) {
        return Ok(None);
    }
    let Some(theirs) = role(tx, team, user).await? else { return Ok(None) };
    let own = role(tx, team, caller).await?;
    Ok(Some(caller == user || own.is_some_and(|own| own.may_assign(theirs))))
}
