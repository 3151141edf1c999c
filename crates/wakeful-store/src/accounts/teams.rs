//! The teams of a person: a person can be in several. A session acts in one of them.

use uuid::Uuid;
use wakeful_core::access::{KeyDays, MfaPolicy, Role};
use wakeful_core::accounts::MAX_TEAMS_PER_USER;
use wakeful_core::audit::{Action, Object, ObjectKind, View};
use wakeful_core::id::{SessionId, TeamId, UserId};
use wakeful_core::time::Millis;

use crate::accounts::team::lock_team;
use crate::accounts::{credentials, members};
use crate::audit::Snapshot;
use crate::dialect::{Tx, from_row, read, within, write};
use crate::{AuditContext, Authority, MemberOutcome, NewEntry, Result, Store, TeamStore};

/// A team as one of its members sees it.
#[derive(Clone, Debug)]
pub struct TeamOfUser {
    pub team: TeamId,
    pub role: Role,
    pub suspended: bool,
    pub settings: TeamSettings,
}

from_row!(TeamOfUser, |row| Self {
    team: row.try_get::<Uuid, _>("id")?.into(),
    role: members::read_role(&row.try_get::<String, _>("role")?)?,
    suspended: row.try_get::<Option<i64>, _>("suspended_at")?.is_some(),
    settings: TeamSettings::from_row(row)?,
});

/// A change to a team; what is `None` stays as it is.
#[derive(Clone, Debug, Default)]
pub struct TeamChange {
    pub name: Option<String>,
    pub default_role: Option<Role>,
    pub mfa: Option<MfaPolicy>,
    pub key_days: Option<KeyDays>,
    pub personal_keys: Option<bool>,
}

/// What a team has decided about itself.
#[derive(Clone, Debug)]
pub struct TeamSettings {
    pub name: String,
    /// The role of new members, unless another one is given.
    pub default_role: Role,
    pub mfa: MfaPolicy,
    pub key_days: KeyDays,
    /// Whether people can have API keys; service accounts always can.
    pub personal_keys: bool,
}

from_row!(TeamSettings, |row| Self {
    name: row.try_get("name")?,
    default_role: members::read_role(&row.try_get::<String, _>("default_role")?)?,
    mfa: members::read_mfa(&row.try_get::<String, _>("mfa")?)?,
    key_days: read_key_days(row.try_get("key_days")?)?,
    personal_keys: row.try_get("personal_keys")?,
});

fn read_key_days(days: i64) -> sqlx::Result<KeyDays> {
    let days = u64::try_from(days).ok().and_then(|days| KeyDays::new(days).ok());
    days.ok_or_else(|| sqlx::Error::Decode("not a number of days".into()))
}

const SETTINGS: &str =
    "select name, default_role, mfa, key_days, personal_keys from teams where id = $1";

impl Store {
    /// The teams of a person, by name.
    pub async fn teams_of(&self, user: UserId) -> Result<Vec<TeamOfUser>> {
        Ok(read!(self, |db| {
            sqlx::query_as(
                "select t.id, t.name, t.default_role, t.mfa, t.key_days, t.personal_keys,
                        m.role, m.suspended_at
                 from members m
                 join teams t on t.id = m.team_id
                 where m.user_id = $1
                 order by lower(t.name), t.id",
            )
            .bind(user.uuid())
            .fetch_all(db)
            .await
        })?)
    }

    /// Whether other people are in a team whose only active owner is this person.
    pub async fn is_last_owner_of_others(&self, user: UserId) -> Result<bool> {
        let teams: i64 = read!(self, |db| {
            sqlx::query_scalar(
                "select count(*) from members m
                 where m.user_id = $1
                 and exists (select 1 from members o join users u on u.id = o.user_id
                             where o.team_id = m.team_id and o.user_id <> $1
                             and u.kind = 'person')
                 and not exists (select 1 from members o
                                 where o.team_id = m.team_id and o.user_id <> $1
                                 and o.role = 'owner' and o.suspended_at is null)",
            )
            .bind(user.uuid())
            .fetch_one(db)
            .await
        })?;
        Ok(teams > 0)
    }

    /// The team that a login of this person starts in: another one than usual while they are
    /// suspended there.
    pub async fn login_team(&self, user: UserId) -> Result<Option<TeamId>> {
        let team: Option<Uuid> = read!(self, |db| {
            sqlx::query_scalar(
                "select m.team_id
                 from members m
                 join users u on u.id = m.user_id
                 where m.user_id = $1
                 order by case when m.suspended_at is null then 0 else 1 end,
                          case when m.team_id = u.team_id then 0 else 1 end,
                          m.created, m.team_id
                 limit 1",
            )
            .bind(user.uuid())
            .fetch_optional(db)
            .await
        })?;
        Ok(team.map(TeamId::from))
    }

    /// Creates another team with the caller as its owner; false if the caller is in
    /// `MAX_TEAMS_PER_USER`. Fails with `StoreError::Gone` if the caller's credential is no
    /// longer valid.
    pub async fn add_team(
        &self,
        team: TeamId,
        name: &str,
        caller: Authority<'_>,
        by: &AuditContext,
        now: Millis,
    ) -> Result<bool> {
        let mut tx = self.begin().await?;
        credentials::confirm(&mut tx, caller).await?;
        if is_in_too_many(&mut tx, caller.user).await? {
            return Ok(false);
        }
        insert(&mut tx, team, name, now).await?;
        add_owner(&mut tx, team, caller.user, now).await?;
        let created = Object::new(ObjectKind::Team, &team, name);
        let entry = NewEntry::new(Action::TeamCreate, created, Vec::new());
        self.write_entry(&mut tx, &by.in_team(team), &entry).await?;
        tx.commit().await?;
        Ok(true)
    }

    /// Makes a session act in another team of its user; false unless the user is an active
    /// member there. A session of an API key stays in the team of the key.
    pub async fn switch_session(
        &self,
        session: SessionId,
        user: UserId,
        team: TeamId,
    ) -> Result<bool> {
        Ok(write!(self, |db| {
            sqlx::query(
                "update sessions set team_id = $3
                 where id = $1 and user_id = $2 and api_key_id is null
                 and exists (select 1 from members m
                             where m.team_id = $3 and m.user_id = $2 and m.suspended_at is null)",
            )
            .bind(session.uuid())
            .bind(user.uuid())
            .bind(team.uuid())
            .execute(db)
            .await
            .map(|done| done.rows_affected() == 1)
        })?)
    }
}

impl TeamStore<'_> {
    pub async fn settings(&self) -> Result<Option<TeamSettings>> {
        Ok(read!(self.store, |db| {
            sqlx::query_as(SETTINGS).bind(self.team.uuid()).fetch_optional(db).await
        })?)
    }

    /// Changes the team. Fails with `StoreError::Gone` if the caller's credential is no longer
    /// valid.
    pub async fn change_team(
        &self,
        change: &TeamChange,
        caller: Authority<'_>,
        by: &AuditContext,
        now: Millis,
    ) -> Result<MemberOutcome> {
        let mut tx = self.begin().await?;
        lock_team(&mut tx, self.team, now).await?;
        credentials::confirm(&mut tx, caller).await?;
        if !members::is_owner(&mut tx, self.team, caller.user).await? {
            return Ok(MemberOutcome::RoleTooHigh);
        }
        let before = snapshot(&mut tx, self.team).await?;
        within!(tx, |db| {
            sqlx::query(
                "update teams
                 set name = coalesce($2, name), default_role = coalesce($3, default_role),
                     mfa = coalesce($4, mfa), key_days = coalesce($5, key_days),
                     personal_keys = coalesce($6, personal_keys)
                 where id = $1",
            )
            .bind(self.team.uuid())
            .bind(change.name.as_deref())
            .bind(change.default_role.map(Role::as_str))
            .bind(change.mfa.map(MfaPolicy::as_str))
            .bind(change.key_days.map(|days| i64::from(days.number())))
            .bind(change.personal_keys)
            .execute(db)
            .await?;
        });
        let after = snapshot(&mut tx, self.team).await?;
        self.store.write_change(&mut tx, by, Action::TeamUpdate, before, after).await?;
        tx.commit().await?;
        Ok(MemberOutcome::Done)
    }
}

async fn snapshot(tx: &mut Tx, team: TeamId) -> Result<Option<Snapshot>> {
    let settings: Option<TeamSettings> =
        within!(*tx, |db| sqlx::query_as(SETTINGS).bind(team.uuid()).fetch_optional(db).await)?;
    Ok(settings.map(|settings| Snapshot {
        object: Object::new(ObjectKind::Team, &team, &settings.name),
        view: View::default()
            .with("name", settings.name)
            .with("default_role", settings.default_role.as_str())
            .with("mfa", settings.mfa.as_str())
            .with("key_days", settings.key_days.number())
            .with("personal_keys", settings.personal_keys),
    }))
}

pub(crate) async fn insert(tx: &mut Tx, team: TeamId, name: &str, now: Millis) -> Result<()> {
    within!(*tx, |db| {
        sqlx::query("insert into teams (id, name, created, modified) values ($1, $2, $3, $3)")
            .bind(team.uuid())
            .bind(name)
            .bind(now.0)
            .execute(db)
            .await?;
    });
    Ok(())
}

pub(crate) async fn name(tx: &mut Tx, team: TeamId) -> Result<String> {
    Ok(within!(*tx, |db| {
        sqlx::query_scalar("select name from teams where id = $1")
            .bind(team.uuid())
            .fetch_one(db)
            .await
    })?)
}

/// Makes a user the owner of a new team.
pub(crate) async fn add_owner(tx: &mut Tx, team: TeamId, user: UserId, now: Millis) -> Result<()> {
    members::insert(tx, team, user, Role::Owner, now).await
}

/// Whether a user cannot join another team.
pub(crate) async fn is_in_too_many(tx: &mut Tx, user: UserId) -> Result<bool> {
    let teams: i64 = within!(*tx, |db| {
        sqlx::query_scalar("select count(*) from members where user_id = $1")
            .bind(user.uuid())
            .fetch_one(db)
            .await
    })?;
    Ok(teams >= i64::from(MAX_TEAMS_PER_USER))
}
