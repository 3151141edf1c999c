//! The regions that a team's monitors use, and the revoked probes.

use wakeful_core::region::{ProbeName, Regions};
use wakeful_core::time::Millis;

use crate::dialect::{read, write};
use crate::monitors::visible::is_visible;
use crate::{Result, Store, StoreError, TeamStore};

impl TeamStore<'_> {
    /// The sets of regions of the team's active monitors, with the number of
    /// monitors for each set.
    pub async fn regions_in_use(&self) -> Result<Vec<(Regions, usize)>> {
        let rows: Vec<(String, i64)> = read!(self.store, |db| {
            sqlx::query_as(concat!(
                "select m.regions, count(*)
                 from monitors m
                 where m.team_id = $1 and m.isactive and ",
                is_visible!("2"),
                " group by m.regions"
            ))
            .bind(self.team.uuid())
            .bind(self.filter)
            .fetch_all(db)
            .await
        })?;
        let damaged = |_| StoreError::Damaged("monitors");
        rows.iter()
            .map(|(regions, count)| {
                let regions = serde_json::from_str(regions).map_err(damaged)?;
                Ok((regions, usize::try_from(*count).unwrap_or(0)))
            })
            .collect()
    }
}

impl Store {
    /// Revokes a probe; false if it is revoked already.
    pub async fn revoke_probe(&self, name: &ProbeName, now: Millis) -> Result<bool> {
        Ok(write!(self, |db| {
            sqlx::query(
                "insert into revoked_probes (name, at) values ($1, $2) on conflict do nothing",
            )
            .bind(name.as_str())
            .bind(now.0)
            .execute(db)
            .await
            .map(|done| done.rows_affected() == 1)
        })?)
    }

    /// Readmits a probe; false when it was not revoked.
    pub async fn restore_probe(&self, name: &ProbeName) -> Result<bool> {
        Ok(write!(self, |db| {
            sqlx::query("delete from revoked_probes where name = $1")
                .bind(name.as_str())
                .execute(db)
                .await
                .map(|done| done.rows_affected() == 1)
        })?)
    }

    pub async fn revoked_probes(&self) -> Result<Vec<ProbeName>> {
        let rows: Vec<String> = read!(self, |db| {
            sqlx::query_scalar("select name from revoked_probes").fetch_all(db).await
        })?;
        Ok(rows.iter().filter_map(|name| ProbeName::parse(name).ok()).collect())
    }
}
