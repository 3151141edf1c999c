//! Signals new rows in the outbox that were added through this store. It names
//! the rows as long as their team has few, which saves a query: a team that adds many does
//! not delay those of others.

use std::collections::{HashMap, HashSet};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use tokio::sync::Notify;
use wakeful_core::id::TeamId;

use super::DueDelivery;
use crate::Store;

/// Beyond this, the rows of a team are queried, in an order that is fair to all notifiers.
const MAX_KNOWN_PER_TEAM: usize = 50;
/// Beyond this, those of all teams are.
const MAX_KNOWN: usize = 1_000;

#[derive(Default)]
pub(crate) struct OutboxSignal {
    notify: Notify,
    pending: Mutex<PendingDeliveries>,
    /// The teams with too many waiting rows, as of the last count.
    crowded: Mutex<Arc<HashSet<TeamId>>>,
}

#[derive(Default)]
struct PendingDeliveries {
    known: HashMap<TeamId, Vec<DueDelivery>>,
    /// The number of them.
    count: usize,
    /// There are more rows than the known ones.
    more: bool,
}

/// Rows that were added to the outbox.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct NewDeliveries {
    pub known: Vec<DueDelivery>,
    /// There are more, which the caller has to query.
    pub more: bool,
}

impl OutboxSignal {
    /// Signals that some rows were added.
    pub(crate) fn notify_any(&self) {
        self.lock().more = true;
        self.notify.notify_one();
    }

    /// Signals that these rows were added.
    pub(crate) fn notify_of(&self, new: Vec<DueDelivery>) {
        let mut pending = self.lock();
        let PendingDeliveries { known, count, more } = &mut *pending;
        for row in new {
            let of_team = known.entry(row.team).or_default();
            if of_team.len() < MAX_KNOWN_PER_TEAM && *count < MAX_KNOWN {
                of_team.push(row);
                *count += 1;
            } else {
                *more = true;
            }
        }
        drop(pending);
        self.notify.notify_one();
    }

    pub(crate) fn crowded(&self) -> Arc<HashSet<TeamId>> {
        Arc::clone(&self.crowded.lock().unwrap_or_else(PoisonError::into_inner))
    }

    pub(super) fn set_crowded(&self, teams: HashSet<TeamId>) {
        *self.crowded.lock().unwrap_or_else(PoisonError::into_inner) = Arc::new(teams);
    }

    fn lock(&self) -> MutexGuard<'_, PendingDeliveries> {
        self.pending.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Store {
    /// Whether a team had too many waiting rows at the last count.
    pub fn is_crowded(&self, team: TeamId) -> bool {
        self.outbox.crowded().contains(&team)
    }

    /// Waits until rows are added to the outbox through this store. Rows that other nodes
    /// add are not signaled here.
    pub async fn wait_for_outbox(&self) -> NewDeliveries {
        self.outbox.notify.notified().await;
        let PendingDeliveries { known, more, .. } = std::mem::take(&mut *self.outbox.lock());
        NewDeliveries { known: known.into_values().flatten().collect(), more }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use uuid::Uuid;
    use wakeful_core::notifications::notifier::Kind;

    #[test]
    fn rows_of_a_team_that_adds_many_do_not_hide_those_of_another() {
        let row = |team: u128, number: u128| DueDelivery {
            id: Uuid::from_u128((team << 64) | number).into(),
            team: Uuid::from_u128(team).into(),
            notifier: Uuid::from_u128(team).into(),
            kind: Kind::Webhook,
            crashes: 0,
        };
        let signal = OutboxSignal::default();
        signal.notify_of((0..500).map(|number| row(1, number)).collect());
        signal.notify_of(vec![row(2, 1)]);
        let pending = signal.lock();
        assert!(pending.more);
        assert_eq!(pending.known[&row(1, 0).team].len(), MAX_KNOWN_PER_TEAM);
        assert_eq!(pending.known[&row(2, 0).team], [row(2, 1)]);
    }
}
