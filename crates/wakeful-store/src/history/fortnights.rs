//! What fortnights came to, made of their days once they are over. One that
//! comes late makes its fortnight anew, in the transaction that changes the
//! day, so a fortnight always says what its days say.

use std::collections::{BTreeMap, BTreeSet};
use wakeful_core::history::rollup::{self, Damaged, Depth, Rollup};
use wakeful_core::history::{FORTNIGHT, start_of};
use wakeful_core::id::MonitorId;
use wakeful_core::time::Millis;

use super::{Grain, aside};
use crate::dialect::read;
use crate::{Result, Store};

/// How far a monitor was folded before.
#[derive(Clone, Copy, Default)]
pub(super) struct Folds {
    pub(super) revision: i64,
    pub(super) until: Option<Millis>,
    has_fortnights: bool,
}

/// A fortnight as it is to be kept; nothing when only its days are.
pub(super) type Fortnight = (i64, Option<Vec<u8>>);

impl Store {
    pub(super) async fn folds(&self, monitor: MonitorId) -> Result<Folds> {
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
        let folds = row.map(|(revision, until, fortnight)| Folds {
            revision,
            until: Some(Millis(until)),
            has_fortnights: fortnight.is_some(),
        });
        Ok(folds.unwrap_or_default())
    }

    /// The fortnights that are over and were not before, and those of which a
    /// day changes.
    pub(super) async fn fortnights(
        &self,
        monitor: MonitorId,
        folds: &Folds,
        last: Millis,
        days: &[(i64, Vec<u8>)],
    ) -> Result<Vec<Fortnight>> {
        let open = start_of(FORTNIGHT, folds.until.map_or(last, |until| until.max(last)));
        let mut starts: BTreeSet<Millis> =
            days.iter().map(|(day, _)| start_of(FORTNIGHT, Millis(*day))).collect();
        starts.extend(folds.until.map(|until| start_of(FORTNIGHT, until)));
        if !folds.has_fortnights {
            // The past is older than this table, or none is over yet.
            starts.extend(self.fortnights_of_days(monitor, open).await?);
        }
        let mut made = Vec::new();
        for start in starts.into_iter().filter(|start| *start < open) {
            let end = start.after(FORTNIGHT);
            let known = self.rolled(Grain::Days, monitor, start, end).await?;
            let mut of_days: BTreeMap<i64, Vec<u8>> = known.into_iter().collect();
            let changed = days.iter().filter(|(day, _)| (start.0..end.0).contains(day));
            of_days.extend(changed.cloned());
            made.push((start.0, aside(move || together(of_days.values())).await.ok().flatten()));
        }
        Ok(made)
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

/// What days in their order come to; one that is damaged spoils it, and is told
/// when the days are read.
fn together<'a>(
    days: impl IntoIterator<Item = &'a Vec<u8>>,
) -> std::result::Result<Option<Vec<u8>>, Damaged> {
    let mut whole: Option<Rollup> = None;
    for data in days {
        for day in rollup::unpack(data, Depth::Whole)? {
            match &mut whole {
                None => whole = Some(day),
                Some(whole) => whole.merge(&day),
            }
        }
    }
    Ok(whole.map(|whole| rollup::pack(&[whole], Depth::Whole)))
}
