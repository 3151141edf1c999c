//! Which new alerts the result writer processes at once, and which it leaves to the alert
//! processor, so that a team with many changes and notifiers does not delay the changes of
//! others. A team that leaves alerts to the processor does so until it has caught up: its
//! notifications stay in order.

use std::collections::{HashMap, HashSet};
use std::sync::{Mutex, MutexGuard, PoisonError};
use tokio::sync::Notify;
use wakeful_core::id::{AlertId, TeamId};

use super::reported_panics::ReportedPanics;
use super::upcoming::Upcoming;

/// The rows that a batch of changes may write about its alerts: for one team, and for all. One
/// alert of a monitor with as many notifiers as it may have always fits.
const MAX_TEAM_ROWS: usize = 250;
const MAX_BATCH_ROWS: usize = 1_000;

/// An alert that was just written and is due.
#[derive(Clone, Copy, Debug)]
pub(crate) struct NewAlert {
    pub(crate) id: AlertId,
    pub(crate) team: TeamId,
}

#[derive(Default)]
pub(crate) struct AlertBacklog {
    /// The teams that left alerts to the processor, and how often.
    teams: Mutex<HashMap<TeamId, u64>>,
    left: Notify,
    pub(super) upcoming: Upcoming,
    pub(super) panics: ReportedPanics,
}

/// The teams with a backlog at some time.
pub(super) struct SeenBacklog(HashMap<TeamId, u64>);

impl AlertBacklog {
    /// Those of these alerts whose teams have no backlog; the others are left to the processor.
    pub(super) fn without_left(&self, alerts: &[NewAlert]) -> Vec<AlertId> {
        let teams = self.lock();
        let (left, others): (Vec<NewAlert>, Vec<NewAlert>) =
            alerts.iter().partition(|alert| teams.contains_key(&alert.team));
        drop(teams);
        self.leave(&left);
        others.into_iter().map(|alert| alert.id).collect()
    }

    /// Those of these alerts to process at once, given about how many rows are written about each;
    /// the others are left to the processor. They are in the order of their turns.
    pub(super) fn admit(&self, alerts: &[(NewAlert, usize)]) -> HashSet<AlertId> {
        let mut admitted = HashSet::new();
        let mut rows_of: HashMap<TeamId, usize> = HashMap::new();
        let mut all_rows = 0;
        let mut left: Vec<NewAlert> = Vec::new();
        for (alert, rows) in alerts.iter().copied() {
            let of_team = rows_of.entry(alert.team).or_default();
            let fits = *of_team + rows <= MAX_TEAM_ROWS && all_rows + rows <= MAX_BATCH_ROWS;
            if fits && left.iter().all(|earlier| earlier.team != alert.team) {
                *of_team += rows;
                all_rows += rows;
                admitted.insert(alert.id);
            } else {
                left.push(alert);
            }
        }
        self.leave(&left);
        admitted
    }

    /// Leaves these alerts, and those that follow of their teams, to the processor.
    pub(crate) fn leave(&self, alerts: &[NewAlert]) {
        if alerts.is_empty() {
            return;
        }
        let mut teams = self.lock();
        for alert in alerts {
            *teams.entry(alert.team).or_default() += 1;
        }
        drop(teams);
        self.left.notify_one();
    }

    /// Waits until alerts are left to the processor.
    pub(super) async fn wait(&self) {
        self.left.notified().await;
    }

    pub(super) fn seen(&self) -> SeenBacklog {
        SeenBacklog(self.lock().clone())
    }

    /// Notes that everything that was due then has been processed.
    pub(super) fn caught_up(&self, SeenBacklog(seen): SeenBacklog) {
        let mut teams = self.lock();
        teams.retain(|team, count| seen.get(team) != Some(count));
    }

    fn lock(&self) -> MutexGuard<'_, HashMap<TeamId, u64>> {
        self.teams.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use futures_util::FutureExt as _;
    use wakeful_core::time::Millis;

    fn alert(team: u8, number: u8) -> NewAlert {
        let id = AlertId::new(Millis(0), [number; 10]);
        NewAlert { id, team: TeamId::new(Millis(0), [team; 10]) }
    }

    /// The numbers of the alerts, of a team and with so many rows each, that are admitted.
    fn admitted(backlog: &AlertBacklog, alerts: &[(u8, u8, usize)]) -> Vec<u8> {
        let all: Vec<_> =
            alerts.iter().map(|(team, number, rows)| (alert(*team, *number), *rows)).collect();
        let admitted = backlog.admit(&all);
        let numbers = alerts.iter().map(|(team, number, _)| alert(*team, *number)).zip(alerts);
        numbers.filter(|(alert, _)| admitted.contains(&alert.id)).map(|(_, one)| one.1).collect()
    }

    #[test]
    fn a_team_with_many_notifications_leaves_them_to_the_processor_and_others_do_not() {
        let backlog = AlertBacklog::default();
        let batch = [(1, 1, 101), (2, 2, 2), (1, 3, 101), (1, 4, 101), (1, 5, 1)];
        assert_eq!(admitted(&backlog, &batch), [1, 2, 3], "none overtakes an earlier one");
        assert!(backlog.wait().now_or_never().is_some(), "the processor is notified");
        let next = [alert(1, 6), alert(2, 7)];
        assert_eq!(backlog.without_left(&next), [next[1].id], "until it has caught up");
    }

    #[test]
    fn a_team_waits_for_the_processor_until_all_that_it_left_is_processed() {
        let backlog = AlertBacklog::default();
        admitted(&backlog, &[(1, 1, 1_000)]);
        let seen = backlog.seen();
        assert!(backlog.without_left(&[alert(1, 2)]).is_empty());
        backlog.caught_up(seen);
        assert!(backlog.without_left(&[alert(1, 3)]).is_empty(), "the second was not seen");
        backlog.caught_up(backlog.seen());
        assert_eq!(backlog.without_left(&[alert(1, 4)]).len(), 1);
    }

    #[test]
    fn however_many_teams_change_at_once_a_batch_is_bounded() {
        let backlog = AlertBacklog::default();
        let batch: Vec<_> = (0..50).map(|number| (number, number, 101)).collect();
        assert_eq!(admitted(&backlog, &batch).len(), MAX_BATCH_ROWS / 101);
    }
}
