//! The rules of status pages, with what each of them has open, and the causes that they may name.

use uuid::Uuid;
use wakeful_core::id::{IncidentRuleId, MonitorId, StatuspageId, TeamId};
use wakeful_core::statuspages::incident::Incident;
use wakeful_core::statuspages::rule::{OpenIncident, Rule};
use wakeful_core::time::Millis;

use super::incidents::{change, insert, make_room};
use crate::deletion::deleted_teams;
use crate::dialect::{either, from_row, read, within, write_lazily};
use crate::monitors::id_array;
use crate::{Result, Store, StoredIncident};

/// An active rule.
#[derive(Clone, Debug)]
pub struct ActiveRule {
    pub rule: Rule,
    pub page: StatuspageId,
    pub team: TeamId,
    /// Oldest first.
    pub open: Vec<OpenIncident>,
    /// As it is stored: a step must name it.
    state: String,
}

from_row!(ActiveRule, |row| {
    let state: String = row.try_get("state")?;
    Self {
        rule: Rule {
            id: row.try_get::<Uuid, _>("id")?.into(),
            name: row.try_get("name")?,
            isactive: true,
            settings: serde_json::from_str(row.try_get("settings")?)
                .map_err(|error| sqlx::Error::Decode(error.into()))?,
        },
        page: row.try_get::<Uuid, _>("page_id")?.into(),
        team: row.try_get::<Uuid, _>("team_id")?.into(),
        open: open_incidents(&state),
        state,
    }
});

/// One incident is stored as itself, as previous versions do.
fn open_incidents(state: &str) -> Vec<OpenIncident> {
    let one = || serde_json::from_str(state).map(|one| vec![one]);
    serde_json::from_str(state).or_else(|_| one()).unwrap_or_default()
}

fn stored_state(open: &[OpenIncident]) -> String {
    match open {
        [] => "{}".to_owned(),
        [one] => crate::monitors::json(one),
        several => crate::monitors::json(several),
    }
}

/// What a step of a rule writes besides its own state.
#[derive(Clone, Debug)]
pub enum RuleWrite<'a> {
    Nothing,
    Insert(&'a Incident),
    Change(&'a StoredIncident, &'a Incident),
}

impl Store {
    /// The active rules of published pages, by page.
    pub async fn active_rules(&self) -> Result<Vec<ActiveRule>> {
        Ok(read!(self, |db| {
            sqlx::query_as(concat!(
                "select r.id, r.name, r.settings, r.state, r.page_id, p.team_id
                 from statuspage_rules r
                 join statuspages p on p.id = r.page_id
                 where r.isactive and p.published and p.team_id not in ",
                deleted_teams!(),
                " order by r.page_id, r.position"
            ))
            .fetch_all(db)
            .await
        })?)
    }

    /// Why the first of these monitors of a team went down.
    pub async fn outage_cause(
        &self,
        team: TeamId,
        monitors: &[MonitorId],
    ) -> Result<Option<String>> {
        let sql = either!(
            self,
            sqlite: "select cause from alerts
                 where team_id = $1 and kind = 'outage' and ended is null
                 and monitor_id in (select unhex(value) from json_each($2))
                 order by started, id
                 limit 1",
            postgres: "select cause from alerts
                 where team_id = $1 and kind = 'outage' and ended is null
                 and monitor_id in (
                     select cast(value as uuid) from json_array_elements_text(cast($2 as json)))
                 order by started, id
                 limit 1"
        );
        Ok(read!(self, |db| {
            sqlx::query_scalar(sql)
                .bind(team.uuid())
                .bind(id_array(monitors))
                .fetch_optional(db)
                .await
        })?)
    }

    /// Writes a step of a rule; false if another node has made one.
    pub async fn step_rule(
        &self,
        before: &ActiveRule,
        open: &[OpenIncident],
        write: RuleWrite<'_>,
    ) -> Result<bool> {
        let state = stored_state(open);
        let mut tx = self.begin().await?;
        let changed = within!(tx, |db| {
            sqlx::query("update statuspage_rules set state = $3 where id = $1 and state = $2")
                .bind(IncidentRuleId::uuid(before.rule.id))
                .bind(&before.state)
                .bind(&state)
                .execute(db)
                .await
                .map(|done| done.rows_affected() == 1)
        })?;
        if !changed {
            return Ok(false);
        }
        match write {
            RuleWrite::Nothing => {}
            RuleWrite::Insert(incident) => {
                insert(&mut tx, incident).await?;
                make_room(&mut tx, incident).await?;
            }
            RuleWrite::Change(stored, incident) => {
                if !change(&mut tx, stored, incident).await? {
                    return Ok(false);
                }
            }
        }
        tx.commit().await?;
        Ok(true)
    }

    /// Deletes drafts that were discarded before a time.
    pub async fn prune_discarded_incidents(&self, before: Millis) -> Result<()> {
        write_lazily!(self, |db| {
            sqlx::query("delete from incidents where state = 'discarded' and modified < $1")
                .bind(before.0)
                .execute(db)
                .await?;
        });
        Ok(())
    }
}
