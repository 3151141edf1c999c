//! Roll-ups of fortnights, computed from their days when the fortnight is over.
//! A late heartbeat recomputes its fortnight in the transaction that changes the
//! day, so a fortnight always agrees with its days.

use std::collections::{BTreeMap, BTreeSet};
use wakeful_core::history::rollup::{self, Damaged, Detail, Rollup};
use wakeful_core::history::{FORTNIGHT, start_of};
use wakeful_core::id::MonitorId;
use wakeful_core::time::Millis;

use super::{Grain, run_blocking};
use crate::dialect::read;
use crate::{Result, Store};

/// How far a monitor has been compacted.
#[derive(Clone, Copy, Default)]
pub(super) struct CompactionState {
    pub(super) revision: i64,
    pub(super) until: Option<Millis>,
    has_fortnights: bool,
}

/// A fortnight to store; `None` to store only its days.
pub(super) type Fortnight = (i64, Option<Vec<u8>>);

impl Store {
    pub(super) async fn compaction_state(&self, monitor: MonitorId) -> Result<CompactionState> {
        let row: Option<(i64, i64, Option<i64>)> = read!(self, |db| {
            sqlx::query_as(
                "select f.revision, f.until,
                        (select min(r.at) from rollups r
                         where r.monitor_id = f.monitor_id and r.grain = $2)
                 from folds f
                 where f.monitor_id = $1",
            )
            .bind(monitor.uuid())
            .bind(Grain::Fortnights as i64)
            .fetch_optional(db)
            .await
        })?;
        let state = row.map(|(revision, until, fortnight)| CompactionState {
            revision,
            until: Some(Millis(until)),
            has_fortnights: fortnight.is_some(),
        });
        Ok(state.unwrap_or_default())
    }

    /// The fortnights that have ended since the last compaction, and those with
    /// a changed day.
    pub(super) async fn fortnights(
        &self,
        monitor: MonitorId,
        state: &CompactionState,
        last: Millis,
        days: &[(i64, Vec<u8>)],
    ) -> Result<Vec<Fortnight>> {
        let open = start_of(FORTNIGHT, state.until.map_or(last, |until| until.max(last)));
        let mut starts: BTreeSet<Millis> =
            days.iter().map(|(day, _)| start_of(FORTNIGHT, Millis(*day))).collect();
        starts.extend(state.until.map(|until| start_of(FORTNIGHT, until)));
        if !state.has_fortnights {
            // The history is older than the fortnights, or none has ended yet.
            starts.extend(self.fortnights_of_days(monitor, open).await?);
        }
        let mut computed = Vec::new();
        for start in starts.into_iter().filter(|start| *start < open) {
            let end = start.after(FORTNIGHT);
            let known = self.rollup_rows(Grain::Days, monitor, start, end).await?;
            let mut of_days: BTreeMap<i64, Vec<u8>> = known.into_iter().collect();
            let changed = days.iter().filter(|(day, _)| (start.0..end.0).contains(day));
            of_days.extend(changed.cloned());
            computed.push((
                start.0,
                run_blocking(move || merge_days(of_days.values())).await.ok().flatten(),
            ));
        }
        Ok(computed)
    }

    async fn fortnights_of_days(&self, monitor: MonitorId, before: Millis) -> Result<Vec<Millis>> {
        let days: Vec<i64> = read!(self, |db| {
            sqlx::query_scalar(
                "select at from rollups where monitor_id = $1 and grain = $2 and at < $3",
            )
            .bind(monitor.uuid())
            .bind(Grain::Days as i64)
            .bind(before.0)
            .fetch_all(db)
            .await
        })?;
        Ok(days.into_iter().map(|day| start_of(FORTNIGHT, Millis(day))).collect())
    }
}

/// Merges the roll-ups of days in their order. A damaged day is an error, which
/// is logged when the days are read.
fn merge_days<'a>(
    days: impl IntoIterator<Item = &'a Vec<u8>>,
) -> std::result::Result<Option<Vec<u8>>, Damaged> {
    let mut whole: Option<Rollup> = None;
    for data in days {
        for day in rollup::unpack(data, Detail::Full)? {
            match &mut whole {
                None => whole = Some(day),
                Some(whole) => whole.merge(&day),
            }
        }
    }
    Ok(whole.map(|whole| rollup::pack(&[whole], Detail::Full)))
}
