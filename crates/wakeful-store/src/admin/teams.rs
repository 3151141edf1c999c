//! The teams of the installation, for its administrators.

use uuid::Uuid;
use wakeful_core::access::Role;
use wakeful_core::audit::{Action, Object, ObjectKind};
use wakeful_core::id::{TeamId, UserId};
use wakeful_core::time::Millis;

use super::{AdminAuthority, AdminOutcome, confirm};
use crate::accounts::members;
use crate::accounts::team::lock_team;
use crate::audit::log::pattern;
use crate::dialect::{Tx, from_row, read, within};
use crate::{AuditContext, Mail, NewEntry, Result, Store};

/// A team as administrators see it: what it is called and how much it has.
#[derive(Clone, Debug)]
pub struct AdminTeam {
    pub team: TeamId,
    pub name: String,
    /// The id of its plan; none if it has no plan.
    pub plan: Option<String>,
    pub members: i64,
    pub monitors: i64,
    pub created: Millis,
    /// When one of its members was last seen.
    pub last_seen: Option<Millis>,
    pub suspended: Option<Millis>,
    /// Whether it has an owner who can act.
    pub has_owner: bool,
}

from_row!(AdminTeam, |row| Self {
    team: row.try_get::<Uuid, _>("id")?.into(),
    name: row.try_get("name")?,
    plan: row.try_get("plan")?,
    members: row.try_get("members")?,
    monitors: row.try_get("monitors")?,
    created: Millis(row.try_get("created")?),
    last_seen: row.try_get::<Option<i64>, _>("last_seen")?.map(Millis),
    suspended: row.try_get::<Option<i64>, _>("suspended_at")?.map(Millis),
    has_owner: row.try_get("has_owner")?,
});

/// Which teams to list, newest first.
#[derive(Clone, Debug, Default)]
pub struct AdminTeamQuery {
    /// Part of the name.
    pub text: Option<String>,
    pub suspended: Option<bool>,
    /// Only those that were created before this one.
    pub before: Option<TeamId>,
}

/// A team that is suspended, or was.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Suspension {
    pub team: TeamId,
    pub suspended: bool,
    pub resumed_at: Option<Millis>,
    /// Whether it was deleted, so that it is never resumed.
    pub deleted: bool,
}

from_row!(Suspension, |row| Self {
    team: row.try_get::<Uuid, _>("id")?.into(),
    suspended: row.try_get::<Option<i64>, _>("suspended_at")?.is_some(),
    resumed_at: row.try_get::<Option<i64>, _>("resumed_at")?.map(Millis),
    deleted: row.try_get::<Option<i64>, _>("deleted_at")?.is_some(),
});

impl Store {
    /// A page of the teams of the installation, newest first.
    pub async fn admin_teams(&self, query: &AdminTeamQuery, limit: u32) -> Result<Vec<AdminTeam>> {
        Ok(read!(self, |db| {
            sqlx::query_as(
                "select t.id, t.name, t.created, t.suspended_at,
                        (select p.plan from memberships p
                         where p.team_id = t.id and p.plan <> 'none') as plan,
                        (select count(*) from members m join users u on u.id = m.user_id
                         where m.team_id = t.id and u.kind = 'person') as members,
                        (select count(*) from monitors o where o.team_id = t.id) as monitors,
                        (select max(u.last_seen) from members m join users u on u.id = m.user_id
                         where m.team_id = t.id) as last_seen,
                        exists (select 1 from members m join users u on u.id = m.user_id
                                where m.team_id = t.id and m.role = 'owner'
                                and m.suspended_at is null and u.suspended_at is null) as has_owner
                 from teams t
                 where t.deleted_at is null
                 and ($1 is null or t.id < $1)
                 and ($2 is null or lower(t.name) like $2 escape '\\')
                 and ($3 is null or (t.suspended_at is not null) = $3)
                 order by t.id desc
                 limit $4",
            )
            .bind(query.before.map(TeamId::uuid))
            .bind(query.text.as_deref().map(pattern))
            .bind(query.suspended)
            .bind(i64::from(limit))
            .fetch_all(db)
            .await
        })?)
    }

    /// The teams that are suspended or deleted, and those that were resumed since this time.
    pub async fn suspensions(&self, since: Millis) -> Result<Vec<Suspension>> {
        Ok(read!(self, |db| {
            sqlx::query_as(
                "select id, suspended_at, resumed_at, deleted_at from teams
                 where (suspended_at is not null or resumed_at is not null)
                 and (suspended_at is not null or resumed_at > $1)",
            )
            .bind(since.0)
            .fetch_all(db)
            .await
        })?)
    }

    /// Suspends a team, or resumes it.
    pub async fn suspend_team(
        &self,
        team: TeamId,
        suspended: bool,
        who: AdminAuthority<'_>,
        mails: &[Mail],
        by: &AuditContext,
    ) -> Result<AdminOutcome> {
        let mut tx = self.begin_administration(who).await?;
        lock_team(&mut tx, team, by.at()).await?;
        confirm(&mut tx, who).await?;
        let Some(object) = object(&mut tx, team).await? else { return Ok(AdminOutcome::NoTeam) };
        let changed = within!(tx, |db| {
            sqlx::query(
                "update teams
                 set suspended_at = case when $2 then $3 end,
                     resumed_at = case when $2 then resumed_at else $3 end
                 where id = $1 and (suspended_at is not null) <> $2",
            )
            .bind(team.uuid())
            .bind(suspended)
            .bind(by.at().0)
            .execute(db)
            .await
            .map(|done| done.rows_affected() == 1)
        })?;
        if !changed {
            return Ok(AdminOutcome::Unchanged);
        }
        if !suspended {
            self.decide_all_again(&mut tx, team, by.at()).await?;
        }
        let action = if suspended { Action::AdminSuspend } else { Action::AdminResume };
        self.queue_mails(&mut tx, mails, by).await?;
        let entry = NewEntry::new(action, object, Vec::new());
        self.write_administration(&mut tx, by, &entry, &[team]).await?;
        tx.commit().await?;
        Ok(AdminOutcome::Done)
    }

    /// Makes a member the owner of a team that has none who can act.
    pub async fn appoint_owner(
        &self,
        team: TeamId,
        user: UserId,
        who: AdminAuthority<'_>,
        mails: &[Mail],
        by: &AuditContext,
    ) -> Result<AdminOutcome> {
        let mut tx = self.begin_administration(who).await?;
        if !lock_team(&mut tx, team, by.at()).await? {
            return Ok(AdminOutcome::NoTeam);
        }
        confirm(&mut tx, who).await?;
        let member = members::snapshot(&mut tx, team, user).await?;
        let Some(member) = member.filter(|member| member.object.kind == ObjectKind::Person) else {
            return Ok(AdminOutcome::NoUser);
        };
        if has_owner(&mut tx, team).await? {
            return Ok(AdminOutcome::HasOwner);
        }
        members::set_role(&mut tx, team, user, Role::Owner, by.at()).await?;
        members::set_suspended(&mut tx, team, user, false, by.at()).await?;
        self.queue_mails(&mut tx, mails, by).await?;
        let entry = NewEntry::new(Action::AdminOwner, member.object, Vec::new());
        self.write_administration(&mut tx, by, &entry, &[team]).await?;
        tx.commit().await?;
        Ok(AdminOutcome::Done)
    }
}

/// Whether a team has an owner who is suspended neither there nor in the installation.
async fn has_owner(tx: &mut Tx, team: TeamId) -> Result<bool> {
    let owners: i64 = within!(*tx, |db| {
        sqlx::query_scalar(
            "select count(*) from members m join users u on u.id = m.user_id
             where m.team_id = $1 and m.role = 'owner'
             and m.suspended_at is null and u.suspended_at is null",
        )
        .bind(team.uuid())
        .fetch_one(db)
        .await
    })?;
    Ok(owners > 0)
}

/// A team, for the audit log; `None` if there is none with this id.
pub(super) async fn object(tx: &mut Tx, team: TeamId) -> Result<Option<Object>> {
    let name: Option<String> = within!(*tx, |db| {
        sqlx::query_scalar("select name from teams where id = $1 and deleted_at is null")
            .bind(team.uuid())
            .fetch_optional(db)
            .await
    })?;
    Ok(name.map(|name| Object::new(ObjectKind::Team, &team, &name)))
}
