//! The on-call schedules of teams, with their overrides and calendar feeds.

use std::collections::{HashMap, HashSet};
use uuid::Uuid;
use wakeful_core::audit::{Action, Audited as _, Change, Object, ObjectKind, diff};
use wakeful_core::calendar::Span;
use wakeful_core::calendar::zone::Zone;
use wakeful_core::escalation::Target;
use wakeful_core::id::{NotifierId, OverrideId, ScheduleId, TeamId, UserId};
use wakeful_core::oncall::{MAX_OVERRIDES, MAX_SCHEDULES, OnCallSchedule, Override};
use wakeful_core::time::Millis;
use wakeful_core::token::Digest;

use super::handovers::look_at_schedule;
use super::maintenances::unknown_notifiers;
use super::policies::DeleteLinkedOutcome;
use crate::accounts::leaving::people;
use crate::accounts::team::lock_team;
use crate::dialect::{Tx, from_row, read, within};
use crate::monitors::json;
use crate::{AuditContext, NewEntry, Result, Store, StoredPolicy, TeamStore};

/// A schedule, the revision that a change must name, and whether it has a feed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct StoredSchedule {
    pub schedule: OnCallSchedule,
    pub revision: i64,
    pub has_feed: bool,
}

/// An override with the schedule it belongs to.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct StoredOverride {
    pub schedule: ScheduleId,
    pub replacement: Override,
}

/// The outcome of saving a schedule.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum SaveScheduleOutcome {
    Done,
    /// The team has the most that it may have.
    LimitReached,
    /// It was changed or deleted meanwhile; nothing was saved.
    Conflict,
    /// The team has no such notifiers; nothing was saved.
    UnknownNotifiers(Vec<NotifierId>),
    /// A user in it is not a person in the team; nothing was saved.
    UnknownUser(UserId),
}

/// The owner of a calendar feed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FeedOwner {
    Schedule(TeamId, ScheduleId),
    User(TeamId, UserId),
}

/// The outcome of adding an override.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum AddOverrideOutcome {
    Done,
    /// The team has no such schedule.
    Missing,
    /// The user is not a member of the team.
    NotMember,
    /// The schedule has the most that it may have.
    LimitReached,
}

macro_rules! columns {
    () => {
        "id, team_id, name, time_zone, layers, announce, feed_digest, revision, created, modified"
    };
}
pub(super) use columns;

fn damaged(error: serde_json::Error) -> sqlx::Error {
    sqlx::Error::Decode(error.into())
}

from_row!(StoredSchedule, |row| Self {
    schedule: OnCallSchedule {
        id: row.try_get::<Uuid, _>("id")?.into(),
        team: row.try_get::<Uuid, _>("team_id")?.into(),
        name: row.try_get("name")?,
        zone: Zone::stored(row.try_get("time_zone")?),
        layers: serde_json::from_str(row.try_get("layers")?).map_err(damaged)?,
        announce: serde_json::from_str(row.try_get("announce")?).map_err(damaged)?,
        created: Millis(row.try_get("created")?),
        modified: Millis(row.try_get("modified")?),
    },
    revision: row.try_get("revision")?,
    has_feed: row.try_get::<Option<Vec<u8>>, _>("feed_digest")?.is_some(),
});

from_row!(StoredOverride, |row| Self {
    schedule: row.try_get::<Uuid, _>("schedule_id")?.into(),
    replacement: Override {
        id: row.try_get::<Uuid, _>("id")?.into(),
        user: row.try_get::<Uuid, _>("user_id")?.into(),
        span: Span { from: Millis(row.try_get("starts")?), to: Millis(row.try_get("ends")?) },
        created: Millis(row.try_get("created")?),
    },
});

impl Store {
    /// The schedules of a team in the order they were created.
    pub(crate) async fn schedules_of(&self, team: TeamId) -> Result<Vec<StoredSchedule>> {
        Ok(read!(self, |db| {
            sqlx::query_as(concat!(
                "select ",
                columns!(),
                " from schedules where team_id = $1 order by id"
            ))
            .bind(team.uuid())
            .fetch_all(db)
            .await
        })?)
    }

    /// The overrides of a team's schedules that overlap a range.
    pub async fn overrides_of(
        &self,
        team: TeamId,
        range: Span,
    ) -> Result<HashMap<ScheduleId, Vec<Override>>> {
        let rows: Vec<StoredOverride> = read!(self, |db| {
            sqlx::query_as(
                "select o.id, o.schedule_id, o.user_id, o.starts, o.ends, o.created
                 from schedules s
                 join overrides o on o.schedule_id = s.id
                 where s.team_id = $1 and o.ends > $2 and o.starts < $3
                 order by o.id",
            )
            .bind(team.uuid())
            .bind(range.from.0)
            .bind(range.to.0)
            .fetch_all(db)
            .await
        })?;
        let mut by_schedule: HashMap<ScheduleId, Vec<Override>> = HashMap::new();
        for row in rows {
            by_schedule.entry(row.schedule).or_default().push(row.replacement);
        }
        Ok(by_schedule)
    }

    /// The overrides of one of a team's schedules that overlap a range.
    pub async fn overrides_of_schedule(
        &self,
        team: TeamId,
        schedule: ScheduleId,
        range: Span,
    ) -> Result<Vec<Override>> {
        let rows: Vec<StoredOverride> = read!(self, |db| {
            sqlx::query_as(
                "select o.id, o.schedule_id, o.user_id, o.starts, o.ends, o.created
                 from schedules s
                 join overrides o on o.schedule_id = s.id
                 where s.id = $1 and s.team_id = $2 and o.ends > $3 and o.starts < $4
                 order by o.id",
            )
            .bind(schedule.uuid())
            .bind(team.uuid())
            .bind(range.from.0)
            .bind(range.to.0)
            .fetch_all(db)
            .await
        })?;
        Ok(rows.into_iter().map(|row| row.replacement).collect())
    }

    /// The owner of the calendar feed with this token. That of a user does not work while the
    /// member or the account is suspended.
    pub async fn feed_owner(&self, digest: Digest) -> Result<Option<FeedOwner>> {
        let schedule: Option<(Uuid, Uuid)> = read!(self, |db| {
            sqlx::query_as("select team_id, id from schedules where feed_digest = $1")
                .bind(&digest.0[..])
                .fetch_optional(db)
                .await
        })?;
        if let Some((team, id)) = schedule {
            return Ok(Some(FeedOwner::Schedule(team.into(), id.into())));
        }
        let user: Option<(Uuid, Uuid)> = read!(self, |db| {
            sqlx::query_as(
                "select c.team_id, c.user_id
                 from contact_rules c
                 join members m on m.team_id = c.team_id and m.user_id = c.user_id
                 join users u on u.id = c.user_id
                 where c.feed_digest = $1
                 and m.suspended_at is null and u.suspended_at is null",
            )
            .bind(&digest.0[..])
            .fetch_optional(db)
            .await
        })?;
        Ok(user.map(|(team, id)| FeedOwner::User(team.into(), id.into())))
    }
}

impl TeamStore<'_> {
    pub async fn schedules(&self) -> Result<Vec<StoredSchedule>> {
        self.store.schedules_of(self.team).await
    }

    pub async fn schedule(&self, id: ScheduleId) -> Result<Option<StoredSchedule>> {
        Ok(read!(self.store, |db| {
            sqlx::query_as(concat!(
                "select ",
                columns!(),
                " from schedules where id = $1 and team_id = $2"
            ))
            .bind(id.uuid())
            .bind(self.team.uuid())
            .fetch_optional(db)
            .await
        })?)
    }

    /// The overrides of the team's schedules that overlap a range.
    pub async fn overrides(&self, range: Span) -> Result<HashMap<ScheduleId, Vec<Override>>> {
        self.store.overrides_of(self.team, range).await
    }

    /// The overrides of one of the team's schedules that overlap a range.
    pub async fn schedule_overrides(&self, id: ScheduleId, range: Span) -> Result<Vec<Override>> {
        self.store.overrides_of_schedule(self.team, id, range).await
    }

    pub async fn add_schedule(
        &self,
        schedule: &OnCallSchedule,
        on_call: Option<UserId>,
        by: &AuditContext,
    ) -> Result<SaveScheduleOutcome> {
        let mut tx = self.begin().await?;
        lock_team(&mut tx, self.team, schedule.modified).await?;
        let unknown = unknown_notifiers(&mut tx, self.team, &schedule.announce.notifiers).await?;
        if !unknown.is_empty() {
            return Ok(SaveScheduleOutcome::UnknownNotifiers(unknown));
        }
        if let Some(user) = unknown_user(&mut tx, schedule).await? {
            return Ok(SaveScheduleOutcome::UnknownUser(user));
        }
        let added = within!(tx, |db| {
            sqlx::query(
                "insert into schedules
                 (id, team_id, name, time_zone, layers, announce, created, modified, next_at,
                  on_call)
                 select $1, $2, $3, $4, $5, $6, $7, $8, $9, $10
                 where (select count(*) from schedules where team_id = $2) < $11",
            )
            .bind(schedule.id.uuid())
            .bind(self.team.uuid())
            .bind(&schedule.name)
            .bind(schedule.zone.name())
            .bind(json(&schedule.layers))
            .bind(json(&schedule.announce))
            .bind(schedule.created.0)
            .bind(schedule.modified.0)
            .bind(next_look(schedule, schedule.modified))
            .bind(on_call.map(UserId::uuid))
            .bind(MAX_SCHEDULES as i64)
            .execute(db)
            .await
            .map(|done| done.rows_affected() == 1)
        })?;
        if !added {
            return Ok(SaveScheduleOutcome::LimitReached);
        }
        let changes = diff(None, Some(&schedule.view()));
        let entry = NewEntry::new(Action::ScheduleCreate, object(schedule), changes);
        self.store.write_entry(&mut tx, by, &entry).await?;
        tx.commit().await?;
        Ok(SaveScheduleOutcome::Done)
    }

    /// Changes a schedule if it still has the revision it was read with. `on_call` is the user who
    /// is on call, for a schedule whose handovers were not announced before.
    pub async fn change_schedule(
        &self,
        before: &StoredSchedule,
        schedule: &OnCallSchedule,
        on_call: Option<UserId>,
        by: &AuditContext,
    ) -> Result<SaveScheduleOutcome> {
        let mut tx = self.begin().await?;
        lock_team(&mut tx, self.team, schedule.modified).await?;
        let unknown = unknown_notifiers(&mut tx, self.team, &schedule.announce.notifiers).await?;
        if !unknown.is_empty() {
            return Ok(SaveScheduleOutcome::UnknownNotifiers(unknown));
        }
        if let Some(user) = unknown_user(&mut tx, schedule).await? {
            return Ok(SaveScheduleOutcome::UnknownUser(user));
        }
        let now = schedule.modified;
        if !write_schedule(&mut tx, schedule, before.revision, on_call, now).await? {
            return Ok(SaveScheduleOutcome::Conflict);
        }
        let changes = diff(Some(&before.schedule.view()), Some(&schedule.view()));
        let entry = NewEntry::new(Action::ScheduleUpdate, object(schedule), changes);
        self.store.write_entry(&mut tx, by, &entry).await?;
        tx.commit().await?;
        Ok(SaveScheduleOutcome::Done)
    }

    /// Deletes a schedule with its overrides, unless a policy uses it.
    pub async fn delete_schedule(
        &self,
        schedule: &OnCallSchedule,
        now: Millis,
        by: &AuditContext,
    ) -> Result<DeleteLinkedOutcome> {
        let mut tx = self.begin().await?;
        // Policies are saved under the same lock.
        lock_team(&mut tx, self.team, now).await?;
        let policies = policies_within(&mut tx, self.team).await?;
        let target = Target::Schedule(schedule.id);
        let linked: Vec<String> = policies
            .into_iter()
            .map(|stored| stored.policy)
            .filter(|policy| policy.steps.iter().any(|step| step.notify.contains(&target)))
            .map(|policy| policy.name)
            .collect();
        if !linked.is_empty() {
            return Ok(DeleteLinkedOutcome::Linked(linked));
        }
        let deleted = within!(tx, |db| {
            sqlx::query("delete from schedules where id = $1 and team_id = $2")
                .bind(schedule.id.uuid())
                .bind(self.team.uuid())
                .execute(db)
                .await
                .map(|done| done.rows_affected() == 1)
        })?;
        if !deleted {
            return Ok(DeleteLinkedOutcome::Missing);
        }
        let entry = NewEntry::new(Action::ScheduleDelete, object(schedule), Vec::new());
        self.store.write_entry(&mut tx, by, &entry).await?;
        tx.commit().await?;
        Ok(DeleteLinkedOutcome::Done)
    }

    /// Gives a schedule a new calendar feed; false if the team has no such schedule.
    pub async fn set_schedule_feed(
        &self,
        schedule: &OnCallSchedule,
        digest: Digest,
        by: &AuditContext,
    ) -> Result<bool> {
        let mut tx = self.begin().await?;
        let changed = within!(tx, |db| {
            sqlx::query(
                "update schedules set feed_digest = $3, revision = revision + 1
                 where id = $1 and team_id = $2",
            )
            .bind(schedule.id.uuid())
            .bind(self.team.uuid())
            .bind(&digest.0[..])
            .execute(db)
            .await
            .map(|done| done.rows_affected() == 1)
        })?;
        if changed {
            let entry = NewEntry::new(Action::ScheduleFeed, object(schedule), Vec::new());
            self.store.write_entry(&mut tx, by, &entry).await?;
            tx.commit().await?;
        }
        Ok(changed)
    }

    pub async fn add_override(
        &self,
        schedule: &OnCallSchedule,
        replacement: &Override,
        by: &AuditContext,
        created_by: UserId,
    ) -> Result<AddOverrideOutcome> {
        let mut tx = self.begin().await?;
        lock_team(&mut tx, self.team, replacement.created).await?;
        if !is_person(&mut tx, self.team, replacement.user).await? {
            return Ok(AddOverrideOutcome::NotMember);
        }
        let ahead: Option<i64> = within!(tx, |db| {
            sqlx::query_scalar(
                "select (select count(*) from overrides o
                         where o.schedule_id = s.id and o.ends > $3)
                 from schedules s
                 where s.id = $1 and s.team_id = $2",
            )
            .bind(schedule.id.uuid())
            .bind(self.team.uuid())
            .bind(replacement.created.0)
            .fetch_optional(db)
            .await
        })?;
        match ahead {
            None => return Ok(AddOverrideOutcome::Missing),
            Some(ahead) if ahead >= MAX_OVERRIDES as i64 => {
                return Ok(AddOverrideOutcome::LimitReached);
            }
            Some(_) => {}
        }
        look_at_schedule(&mut tx, schedule.id, replacement.created).await?;
        within!(tx, |db| {
            sqlx::query(
                "insert into overrides
                 (id, schedule_id, user_id, starts, ends, created_by, created)
                 values ($1, $2, $3, $4, $5, $6, $7)",
            )
            .bind(replacement.id.uuid())
            .bind(schedule.id.uuid())
            .bind(replacement.user.uuid())
            .bind(replacement.span.from.0)
            .bind(replacement.span.to.0)
            .bind(created_by.uuid())
            .bind(replacement.created.0)
            .execute(db)
            .await?;
        });
        let changes = vec![
            Change::new("userid", None, Some(replacement.user.to_string().into())),
            Change::new("starts", None, Some(replacement.span.from.to_string().into())),
            Change::new("ends", None, Some(replacement.span.to.to_string().into())),
        ];
        let entry = NewEntry::new(Action::ScheduleOverride, object(schedule), changes);
        self.store.write_entry(&mut tx, by, &entry).await?;
        tx.commit().await?;
        Ok(AddOverrideOutcome::Done)
    }

    /// Deletes an override; false if the team has no such override.
    pub async fn delete_override(
        &self,
        id: OverrideId,
        now: Millis,
        by: &AuditContext,
    ) -> Result<bool> {
        let mut tx = self.begin().await?;
        let found: Option<StoredSchedule> = within!(tx, |db| {
            sqlx::query_as(concat!(
                "select ",
                columns!(),
                " from schedules
                 where team_id = $2 and id = (select o.schedule_id from overrides o where o.id = $1)"
            ))
            .bind(id.uuid())
            .bind(self.team.uuid())
            .fetch_optional(db)
            .await
        })?;
        let Some(stored) = found else { return Ok(false) };
        let deleted = within!(tx, |db| {
            sqlx::query("delete from overrides where id = $1")
                .bind(id.uuid())
                .execute(db)
                .await
                .map(|done| done.rows_affected() == 1)
        })?;
        if deleted {
            look_at_schedule(&mut tx, stored.schedule.id, now).await?;
            let changes = vec![Change::new("overrideid", Some(id.to_string().into()), None)];
            let entry = NewEntry::new(Action::ScheduleOverride, object(&stored.schedule), changes);
            self.store.write_entry(&mut tx, by, &entry).await?;
            tx.commit().await?;
        }
        Ok(deleted)
    }
}

/// When a schedule that is saved now is looked at for handovers.
fn next_look(schedule: &OnCallSchedule, now: Millis) -> Option<i64> {
    (!schedule.announce.is_empty()).then_some(now.0)
}

/// Writes the settings of a schedule; false if it was changed meanwhile.
async fn write_schedule(
    tx: &mut Tx,
    schedule: &OnCallSchedule,
    revision: i64,
    on_call: Option<UserId>,
    now: Millis,
) -> Result<bool> {
    Ok(within!(*tx, |db| {
        sqlx::query(
            "update schedules
             set name = $3, time_zone = $4, layers = $5, announce = $6, modified = $7,
                 on_call = case when next_at is null then $9 else on_call end, next_at = $10,
                 revision = revision + 1
             where id = $1 and team_id = $2 and revision = $8",
        )
        .bind(schedule.id.uuid())
        .bind(schedule.team.uuid())
        .bind(&schedule.name)
        .bind(schedule.zone.name())
        .bind(json(&schedule.layers))
        .bind(json(&schedule.announce))
        .bind(schedule.modified.0)
        .bind(revision)
        .bind(on_call.map(UserId::uuid))
        .bind(next_look(schedule, now))
        .execute(db)
        .await
        .map(|done| done.rows_affected() == 1)
    })?)
}

/// A user in a schedule who is not a person in its team, whose row is locked.
async fn unknown_user(tx: &mut Tx, schedule: &OnCallSchedule) -> Result<Option<UserId>> {
    let people: HashSet<UserId> = people(tx, schedule.team).await?.into_iter().collect();
    let mut users = schedule.layers.iter().flat_map(|layer| &layer.users);
    Ok(users.find(|user| !people.contains(user)).copied())
}

/// Rewrites the schedules of a team, whose row is locked, for a user who leaves it: the others
/// take their turns in the same order.
pub(crate) async fn leave_schedules(
    tx: &mut Tx,
    team: TeamId,
    user: UserId,
    now: Millis,
) -> Result<()> {
    let all: Vec<StoredSchedule> = within!(*tx, |db| {
        // The loop of handovers, which does not lock the team, must not change one meanwhile.
        sqlx::query("update schedules set revision = revision where team_id = $1")
            .bind(team.uuid())
            .execute(&mut *db)
            .await?;
        sqlx::query_as(concat!("select ", columns!(), " from schedules where team_id = $1"))
            .bind(team.uuid())
            .fetch_all(db)
            .await
    })?;
    for stored in all.iter().filter(|stored| stored.schedule.names_user(user)) {
        let schedule = stored.schedule.without_user(user, now);
        write_schedule(tx, &schedule, stored.revision, None, now).await?;
    }
    if all.is_empty() {
        return Ok(());
    }
    within!(*tx, |db| {
        sqlx::query(
            "update schedules set next_at = $3, revision = revision + 1
             where team_id = $1 and next_at is not null
             and id in (select o.schedule_id from overrides o where o.user_id = $2)",
        )
        .bind(team.uuid())
        .bind(user.uuid())
        .bind(now.0)
        .execute(&mut *db)
        .await?;
        sqlx::query(
            "delete from overrides
             where user_id = $2 and schedule_id in (select id from schedules where team_id = $1)",
        )
        .bind(team.uuid())
        .bind(user.uuid())
        .execute(db)
        .await?;
    });
    Ok(())
}

/// The policies of a team, within a transaction.
pub(crate) async fn policies_within(tx: &mut Tx, team: TeamId) -> Result<Vec<StoredPolicy>> {
    Ok(within!(*tx, |db| {
        sqlx::query_as(concat!(
            "select ",
            super::policies::policy_columns!(),
            " from policies where team_id = $1 order by id"
        ))
        .bind(team.uuid())
        .fetch_all(db)
        .await
    })?)
}

/// Whether a user is a person in the team.
async fn is_person(tx: &mut Tx, team: TeamId, user: UserId) -> Result<bool> {
    let found: Option<i64> = within!(*tx, |db| {
        sqlx::query_scalar(
            "select m.created from members m
             join users u on u.id = m.user_id
             where m.team_id = $1 and m.user_id = $2 and u.kind = 'person'",
        )
        .bind(team.uuid())
        .bind(user.uuid())
        .fetch_optional(db)
        .await
    })?;
    Ok(found.is_some())
}

fn object(schedule: &OnCallSchedule) -> Object {
    Object::new(ObjectKind::Schedule, &schedule.id, &schedule.name)
}
