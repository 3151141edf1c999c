//! The escalation policies of teams.

use uuid::Uuid;
use wakeful_core::audit::{Action, Audited as _, Object, ObjectKind, diff};
use wakeful_core::escalation::{MAX_POLICIES, Policy};
use wakeful_core::id::{PolicyId, TeamId};
use wakeful_core::time::Millis;

use super::routing::rules_of;
use crate::accounts::team::lock_team;
use crate::dialect::{Tx, from_row, read, within};
use crate::monitors::json;
use crate::monitors::visible::is_visible;
use crate::{AuditContext, NewEntry, Result, TeamStore};

/// A policy and the revision that a change must name.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct StoredPolicy {
    pub policy: Policy,
    pub revision: i64,
}

/// The outcome of saving something that a team has a limited number of.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SaveTeamOutcome {
    Done,
    /// The team has the most that it may have.
    LimitReached,
    /// It was changed or deleted meanwhile; nothing was saved.
    Conflict,
}

/// The outcome of deleting something that other things of the team may use.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum DeleteLinkedOutcome {
    Done,
    /// The team has no such thing.
    Missing,
    /// These still use it. Monitors that the caller cannot see are not named.
    Linked(Vec<String>),
}

macro_rules! columns {
    () => {
        "id, team_id, name, steps, repeat, every, ack_timeout, revision, created, modified"
    };
}
pub(super) use columns as policy_columns;

from_row!(StoredPolicy, |row| {
    let seconds = |column: &str| -> sqlx::Result<u32> {
        Ok(u32::try_from(row.try_get::<i64, _>(column)?).unwrap_or(0))
    };
    Self {
        policy: Policy {
            id: row.try_get::<Uuid, _>("id")?.into(),
            team: row.try_get::<Uuid, _>("team_id")?.into(),
            name: row.try_get("name")?,
            steps: serde_json::from_str(row.try_get("steps")?)
                .map_err(|error| sqlx::Error::Decode(error.into()))?,
            repeat: seconds("repeat")?,
            every: seconds("every")?,
            ack_timeout: seconds("ack_timeout")?,
            created: Millis(row.try_get("created")?),
            modified: Millis(row.try_get("modified")?),
        },
        revision: row.try_get("revision")?,
    }
});

impl TeamStore<'_> {
    /// The team's policies in the order they were created.
    pub async fn policies(&self) -> Result<Vec<StoredPolicy>> {
        Ok(read!(self.store, |db| {
            sqlx::query_as(concat!(
                "select ",
                columns!(),
                " from policies where team_id = $1 order by id"
            ))
            .bind(self.team.uuid())
            .fetch_all(db)
            .await
        })?)
    }

    pub async fn policy(&self, id: PolicyId) -> Result<Option<StoredPolicy>> {
        Ok(read!(self.store, |db| {
            sqlx::query_as(concat!(
                "select ",
                columns!(),
                " from policies where id = $1 and team_id = $2"
            ))
            .bind(id.uuid())
            .bind(self.team.uuid())
            .fetch_optional(db)
            .await
        })?)
    }

    pub async fn add_policy(&self, policy: &Policy, by: &AuditContext) -> Result<SaveTeamOutcome> {
        let mut tx = self.begin().await?;
        lock_team(&mut tx, self.team, policy.modified).await?;
        let added = within!(tx, |db| {
            sqlx::query(
                "insert into policies
                 (id, team_id, name, steps, repeat, every, ack_timeout, created, modified)
                 select $1, $2, $3, $4, $5, $6, $7, $8, $9
                 where (select count(*) from policies where team_id = $2) < $10",
            )
            .bind(policy.id.uuid())
            .bind(self.team.uuid())
            .bind(&policy.name)
            .bind(json(&policy.steps))
            .bind(i64::from(policy.repeat))
            .bind(i64::from(policy.every))
            .bind(i64::from(policy.ack_timeout))
            .bind(policy.created.0)
            .bind(policy.modified.0)
            .bind(MAX_POLICIES as i64)
            .execute(db)
            .await
            .map(|done| done.rows_affected() == 1)
        })?;
        if !added {
            return Ok(SaveTeamOutcome::LimitReached);
        }
        let changes = diff(None, Some(&policy.view()));
        let entry = NewEntry::new(Action::PolicyCreate, object(policy), changes);
        self.store.write_entry(&mut tx, by, &entry).await?;
        tx.commit().await?;
        Ok(SaveTeamOutcome::Done)
    }

    /// Changes a policy if it still has the revision it was read with. The alerts that it
    /// escalates are decided about again: it applies from their next step on.
    pub async fn change_policy(
        &self,
        before: &StoredPolicy,
        policy: &Policy,
        by: &AuditContext,
    ) -> Result<SaveTeamOutcome> {
        let mut tx = self.begin().await?;
        let changed = within!(tx, |db| {
            sqlx::query(
                "update policies
                 set name = $3, steps = $4, repeat = $5, every = $6, ack_timeout = $7,
                     modified = $8, revision = revision + 1
                 where id = $1 and team_id = $2 and revision = $9",
            )
            .bind(policy.id.uuid())
            .bind(self.team.uuid())
            .bind(&policy.name)
            .bind(json(&policy.steps))
            .bind(i64::from(policy.repeat))
            .bind(i64::from(policy.every))
            .bind(i64::from(policy.ack_timeout))
            .bind(policy.modified.0)
            .bind(before.revision)
            .execute(db)
            .await
            .map(|done| done.rows_affected() == 1)
        })?;
        if !changed {
            return Ok(SaveTeamOutcome::Conflict);
        }
        decide_again(&mut tx, self.team, policy.id, policy.modified).await?;
        let changes = diff(Some(&before.policy.view()), Some(&policy.view()));
        let entry = NewEntry::new(Action::PolicyUpdate, object(policy), changes);
        self.store.write_entry(&mut tx, by, &entry).await?;
        tx.commit().await?;
        Ok(SaveTeamOutcome::Done)
    }

    /// Deletes a policy, unless a monitor or a rule uses it.
    pub async fn delete_policy(
        &self,
        policy: &Policy,
        now: Millis,
        by: &AuditContext,
    ) -> Result<DeleteLinkedOutcome> {
        let mut tx = self.begin().await?;
        // Rules are not foreign keys: saving them takes the same lock.
        lock_team(&mut tx, self.team, now).await?;
        let monitors: Vec<Option<String>> = within!(tx, |db| {
            sqlx::query_scalar(concat!(
                "select case when ",
                is_visible!("3"),
                " then m.name end
                 from monitors m
                 where m.policy_id = $1 and m.team_id = $2
                 order by m.id"
            ))
            .bind(policy.id.uuid())
            .bind(self.team.uuid())
            .bind(self.filter)
            .fetch_all(db)
            .await
        })?;
        let rules = rules_of(&mut tx, self.team).await?;
        let by_rules = rules.iter().filter(|rule| rule.policy == Some(policy.id));
        let by_rules: Vec<String> = by_rules.map(|rule| rule.name.clone()).collect();
        if !monitors.is_empty() || !by_rules.is_empty() {
            let named = monitors.into_iter().flatten().chain(by_rules).collect();
            return Ok(DeleteLinkedOutcome::Linked(named));
        }
        let deleted = within!(tx, |db| {
            sqlx::query("delete from policies where id = $1 and team_id = $2")
                .bind(policy.id.uuid())
                .bind(self.team.uuid())
                .execute(db)
                .await
                .map(|done| done.rows_affected() == 1)
        })?;
        if !deleted {
            return Ok(DeleteLinkedOutcome::Missing);
        }
        decide_again(&mut tx, self.team, policy.id, now).await?;
        let entry = NewEntry::new(Action::PolicyDelete, object(policy), Vec::new());
        self.store.write_entry(&mut tx, by, &entry).await?;
        tx.commit().await?;
        Ok(DeleteLinkedOutcome::Done)
    }
}

/// Makes the open alerts that a policy escalates due.
async fn decide_again(tx: &mut Tx, team: TeamId, policy: PolicyId, now: Millis) -> Result<()> {
    within!(*tx, |db| {
        sqlx::query(
            "update alerts
             set due = $3, revision = revision + 1
             where team_id = $1 and ended is null and state like $2
             and (due is null or due > $3)",
        )
        .bind(team.uuid())
        .bind(format!("%{policy}%"))
        .bind(now.0)
        .execute(db)
        .await?;
    });
    Ok(())
}

/// Whether a team has a policy.
pub(crate) async fn has_policy(tx: &mut Tx, team: TeamId, id: PolicyId) -> Result<bool> {
    let found: Option<i64> = within!(*tx, |db| {
        sqlx::query_scalar("select created from policies where id = $1 and team_id = $2")
            .bind(id.uuid())
            .bind(team.uuid())
            .fetch_optional(db)
            .await
    })?;
    Ok(found.is_some())
}

fn object(policy: &Policy) -> Object {
    Object::new(ObjectKind::Policy, &policy.id, &policy.name)
}
