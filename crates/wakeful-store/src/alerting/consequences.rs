//! What a decision changes besides its alert: the alert about flapping that opens in its place,
//! the time that counts as unreachable, and the alerts that it suppresses, pauses or releases.

use wakeful_core::alerting::alert::AlertKind;
use wakeful_core::alerting::step::Unreachable;
use wakeful_core::id::{AlertId, MonitorId};
use wakeful_core::time::Millis;
use wakeful_core::token::Digest;

use super::decisions::{AlertDecision, NewAlert};
use super::maintenance_clock::COMPACTED_AFTER;
use super::reschedule::Waking;
use crate::dialect::{Tx, within};
use crate::history::record::new_alert_rows;
use crate::{Result, Store};

impl Store {
    /// Written in the transaction of the decisions. Returns what is left for `wake_rest`.
    pub(super) async fn write_consequences(
        &self,
        tx: &mut Tx,
        decisions: &[&AlertDecision],
        now: Millis,
    ) -> Result<Vec<Waking>> {
        let opened: Vec<&NewAlert> =
            decisions.iter().filter_map(|decision| decision.opens.as_ref()).collect();
        if !opened.is_empty() {
            within!(*tx, |db| {
                sqlx::query(self.insert_alerts()).bind(new_alert_rows(&opened)).execute(db).await?;
            });
        }
        for decision in decisions {
            let alert = &decision.alert;
            if let Some(ended) = decision.ended {
                end_alert(tx, alert.id, ended).await?;
            }
            if let Some(change) = decision.unreachable {
                write_unreachable(tx, alert.id, alert.facts.monitor, change, now).await?;
            }
        }
        let woken = |is_flapping: bool| {
            let waking = decisions.iter().filter(|decision| decision.wakes);
            let facts = waking.map(|decision| &decision.alert.facts);
            let chosen = facts.filter(|facts| (facts.kind == AlertKind::Flapping) == is_flapping);
            chosen.map(|facts| facts.monitor).collect::<Vec<MonitorId>>()
        };
        let suppressed = self.wake_suppressed(tx, &woken(true), now).await?;
        let dependents = self.wake_dependents(tx, &woken(false), now).await?;
        Ok(suppressed.into_iter().chain(dependents).collect())
    }
}

async fn end_alert(tx: &mut Tx, id: AlertId, ended: Millis) -> Result<()> {
    within!(*tx, |db| {
        sqlx::query("update alerts set ended = $2 where id = $1 and ended is null")
            .bind(id.uuid())
            .bind(ended.0)
            .execute(db)
            .await?;
    });
    Ok(())
}

/// An alert has at most one exclusion: its id is derived from that of the alert, so that writing
/// it twice has no effect.
async fn write_unreachable(
    tx: &mut Tx,
    alert: AlertId,
    monitor: MonitorId,
    change: Unreachable,
    now: Millis,
) -> Result<()> {
    let (from, to) = match change {
        Unreachable::Begins(from) => (Some(from), None),
        Unreachable::Ends(to) => (None, Some(to)),
        Unreachable::Was { from, to } => (Some(from), Some(to)),
    };
    let Digest(hash) = Digest::of(&format!("unreachable {alert}"));
    let mut random = [0; 10];
    random.copy_from_slice(&hash[..10]);
    // The first bytes of an alert's id are the time of its start.
    let id = MonitorId::new(Millis(alert_millis(alert)), random);
    within!(*tx, |db| {
        if let Some(from) = from {
            sqlx::query(
                "insert into exclusions
                 (id, monitor_id, from_at, to_at, kind, pauses, counts, changed, recount)
                 values ($1, $2, $3, $4, 'unreachable', false, false, $5, $6)
                 on conflict (id) do nothing",
            )
            .bind(id.uuid())
            .bind(monitor.uuid())
            .bind(from.0)
            .bind(to.map(|to| to.0))
            .bind(now.0)
            .bind(from < now.before(COMPACTED_AFTER))
            .execute(db)
            .await?;
        } else {
            sqlx::query("update exclusions set to_at = $2, changed = $3 where id = $1")
                .bind(id.uuid())
                .bind(to.map(|to| to.0))
                .bind(now.0)
                .execute(db)
                .await?;
        }
    });
    Ok(())
}

fn alert_millis(alert: AlertId) -> i64 {
    let (high, _) = alert.uuid().as_u64_pair();
    i64::try_from(high >> 16).unwrap_or(0)
}
