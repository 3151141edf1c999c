//! The bus within one process, made of channels: events go to the open pages of a team.

use std::collections::{HashMap, HashSet};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use tokio::sync::broadcast;
use tokio::sync::broadcast::error::RecvError;
use wakeful_core::id::TeamId;

use super::Event;

/// A page that lags further behind reads everything again.
const EVENT_CAPACITY: usize = 1_024;

/// The teams that have pages open here.
#[derive(Default)]
pub(super) struct TeamChannels {
    /// Spares the result writer the lock while no page is open.
    listeners: AtomicUsize,
    senders: Mutex<HashMap<TeamId, broadcast::Sender<Event>>>,
}

impl TeamChannels {
    /// Sends an event to the pages of a team; `event` is not called when there are none.
    pub(super) fn publish(&self, team: TeamId, event: impl FnOnce() -> Event) {
        if self.listeners.load(Ordering::Relaxed) == 0 {
            return;
        }
        if let Some(sender) = self.lock().get(&team) {
            let _ = sender.send(event());
        }
    }

    pub(super) fn publish_to_all_pages(&self, event: &Event) {
        for sender in self.lock().values() {
            let _ = sender.send(event.clone());
        }
    }

    pub(super) fn all(&self) -> HashSet<TeamId> {
        self.lock().keys().copied().collect()
    }

    pub(super) fn subscribe(self: &Arc<Self>, team: TeamId) -> Subscription {
        let mut senders = self.lock();
        let sender = senders.entry(team).or_insert_with(|| broadcast::Sender::new(EVENT_CAPACITY));
        let events = Some(sender.subscribe());
        self.listeners.fetch_add(1, Ordering::Relaxed);
        drop(senders);
        Subscription { team, events, teams: Arc::clone(self) }
    }

    fn lock(&self) -> MutexGuard<'_, HashMap<TeamId, broadcast::Sender<Event>>> {
        self.senders.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// The events of one team, from the moment of subscribing on.
pub struct Subscription {
    team: TeamId,
    events: Option<broadcast::Receiver<Event>>,
    teams: Arc<TeamChannels>,
}

impl Subscription {
    /// The next event. Cancel-safe.
    pub async fn next(&mut self) -> Option<Event> {
        match self.events.as_mut()?.recv().await {
            Ok(event) => Some(event),
            Err(RecvError::Lagged(_)) => Some(Event::Missed),
            Err(RecvError::Closed) => None,
        }
    }
}

impl Drop for Subscription {
    fn drop(&mut self) {
        self.events = None;
        self.teams.listeners.fetch_sub(1, Ordering::Relaxed);
        let mut senders = self.teams.lock();
        if senders.get(&self.team).is_some_and(|sender| sender.receiver_count() == 0) {
            senders.remove(&self.team);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use wakeful_core::id::MonitorId;
    use wakeful_core::time::Millis;

    fn team(number: u8) -> TeamId {
        TeamId::new(Millis(0), [number; 10])
    }

    fn monitor(number: u8) -> MonitorId {
        MonitorId::new(Millis(0), [number; 10])
    }

    #[tokio::test]
    async fn a_team_receives_events_of_its_own_monitors_only() {
        let teams = Arc::new(TeamChannels::default());
        let mut one = teams.subscribe(team(1));
        teams.publish(team(2), || Event::Saved(monitor(2)));
        teams.publish(team(1), || Event::Saved(monitor(1)));
        assert!(matches!(one.next().await, Some(Event::Saved(id)) if id == monitor(1)));
    }

    #[tokio::test]
    async fn a_slow_subscriber_gets_missed_and_continues() {
        let teams = Arc::new(TeamChannels::default());
        let mut slow = teams.subscribe(team(1));
        for _ in 0..=EVENT_CAPACITY {
            teams.publish(team(1), || Event::Saved(monitor(1)));
        }
        assert!(matches!(slow.next().await, Some(Event::Missed)));
        assert!(matches!(slow.next().await, Some(Event::Saved(_))));
    }

    #[tokio::test]
    async fn nothing_is_stored_for_teams_without_open_pages() {
        let teams = Arc::new(TeamChannels::default());
        let (one, two) = (teams.subscribe(team(1)), teams.subscribe(team(1)));
        drop(one);
        assert_eq!(teams.lock().len(), 1);
        drop(two);
        assert!(teams.lock().is_empty());
        teams.publish(team(1), || unreachable!("no page is open"));
    }
}
