//! The routing rules of teams: one list for each, with a revision.

use wakeful_core::audit::{Action, Audited as _, Object, ObjectKind, diff};
use wakeful_core::id::TeamId;
use wakeful_core::routing::Rule;
use wakeful_core::time::Millis;

use crate::accounts::team::lock_team;
use crate::dialect::{Tx, from_row, read, within};
use crate::monitors::json;
use crate::{AuditContext, NewEntry, Result, Store, TeamStore};

/// The rules of a team.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Routing {
    pub rules: Vec<Rule>,
    /// Incremented by each change; 0 before the first one.
    pub revision: i64,
}

from_row!(Routing, |row| Self {
    rules: serde_json::from_str(row.try_get("rules")?)
        .map_err(|error| sqlx::Error::Decode(error.into()))?,
    revision: row.try_get("revision")?,
});

impl Store {
    /// The rules of a team.
    pub async fn routing(&self, team: TeamId) -> Result<Routing> {
        let found: Option<Routing> = read!(self, |db| {
            sqlx::query_as("select rules, revision from routing where team_id = $1")
                .bind(team.uuid())
                .fetch_optional(db)
                .await
        })?;
        Ok(found.unwrap_or_default())
    }
}

impl TeamStore<'_> {
    pub async fn routing(&self) -> Result<Routing> {
        self.store.routing(self.team).await
    }

    /// Replaces the rules if they still have the revision they were read with.
    pub async fn save_routing(
        &self,
        before: &Routing,
        rules: &[Rule],
        now: Millis,
        by: &AuditContext,
    ) -> Result<bool> {
        let mut tx = self.begin().await?;
        // The deletion of a policy reads the rules under the same lock.
        lock_team(&mut tx, self.team, now).await?;
        let saved = within!(tx, |db| {
            sqlx::query(
                "insert into routing (team_id, rules, revision, modified)
                 select $1, $2, 1, $3 where $4 = 0 or exists (
                     select 1 from routing r where r.team_id = $1)
                 on conflict (team_id) do update
                 set rules = excluded.rules, revision = routing.revision + 1,
                     modified = excluded.modified
                 where routing.revision = $4",
            )
            .bind(self.team.uuid())
            .bind(json(&rules))
            .bind(now.0)
            .bind(before.revision)
            .execute(db)
            .await
            .map(|done| done.rows_affected() == 1)
        })?;
        if !saved {
            return Ok(false);
        }
        let changes = diff(Some(&before.rules.view()), Some(&rules.view()));
        let object = Object::new(ObjectKind::Routing, &"", "");
        let entry = NewEntry::new(Action::RoutingUpdate, object, changes);
        self.store.write_entry(&mut tx, by, &entry).await?;
        tx.commit().await?;
        Ok(true)
    }
}

/// The rules of a team, within a transaction.
pub(crate) async fn rules_of(tx: &mut Tx, team: TeamId) -> Result<Vec<Rule>> {
    let found: Option<Routing> = within!(*tx, |db| {
        sqlx::query_as("select rules, revision from routing where team_id = $1")
            .bind(team.uuid())
            .fetch_optional(db)
            .await
    })?;
    Ok(found.map(|routing| routing.rules).unwrap_or_default())
}
