//! The members of a team and their roles. Changes to members happen one after the
//! other, because each locks the team, so the rules hold for concurrent changes too.

use wakeful_core::access::{Role, Scope};
use wakeful_core::id::{TeamId, UserId};
use wakeful_core::time::Millis;

use crate::Result;
use crate::dialect::{Tx, within};

/// What a user is in their team.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Membership {
    pub role: Role,
    pub suspended: bool,
}

impl Membership {
    /// `None` for a user who is in no team.
    pub(crate) fn from_row(
        role: Option<String>,
        suspended_at: Option<i64>,
    ) -> sqlx::Result<Option<Self>> {
        let role = role.map(|role| read_role(&role)).transpose()?;
        Ok(role.map(|role| Self { role, suspended: suspended_at.is_some() }))
    }
}

pub(crate) fn read_scope(text: &str) -> sqlx::Result<Scope> {
    Scope::parse(text).map_err(|_| sqlx::Error::Decode("not a scope".into()))
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
}

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

/// Sets the role of a member, who exists since the user was added.
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

/// Whether `caller` may change or remove this member: only owners may change owners,
/// and nobody may change a member with a role above their own. `None` when the user is
/// not in the team.
pub(crate) async fn may_change(
    tx: &mut Tx,
    team: TeamId,
    caller: UserId,
    user: UserId,
) -> Result<Option<bool>> {
    let Some(theirs) = role(tx, team, user).await? else { return Ok(None) };
    let own = role(tx, team, caller).await?;
    Ok(Some(caller == user || own.is_some_and(|own| own.may_assign(theirs))))
}
