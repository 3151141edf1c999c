//! The bus within one process: channels. Edits go to whoever watches here,
//! events to the open pages of a team.

use std::collections::{HashMap, HashSet};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use tokio::sync::broadcast;
use tokio::sync::broadcast::error::RecvError;
use wakeful_core::id::TeamId;

use super::Event;

/// A page that is further behind reads everything again anyway.
const EVENTS: usize = 1_024;

/// The teams that have pages open here.
#[derive(Default)]
pub(super) struct Teams {
    /// Spares the recorder the lock while nobody looks.
    listeners: AtomicUsize,
    senders: Mutex<HashMap<TeamId, broadcast::Sender<Event>>>,
}

impl Teams {
    /// Tells the pages of a team; `event` is not made when there are none.
    pub(super) fn tell(&self, team: TeamId, event: impl FnOnce() -> Event) {
        if self.listeners.load(Ordering::Relaxed) == 0 {
            return;
        }
        if let Some(sender) = self.lock().get(&team) {
            let _ = sender.send(event());
        }
    }

    pub(super) fn tell_all(&self, event: &Event) {
        for sender in self.lock().values() {
            let _ = sender.send(event.clone());
        }
    }

    pub(super) fn all(&self) -> HashSet<TeamId> {
        self.lock().keys().copied().collect()
    }

    pub(super) fn subscribe(self: &Arc<Self>, team: TeamId) -> Subscription {
        let mut senders = self.lock();
        let sender = senders.entry(team).or_insert_with(|| broadcast::Sender::new(EVENTS));
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
    teams: Arc<Teams>,
}

impl Subscription {
    /// The next event. It may be asked again after being dropped halfway.
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
    async fn a_team_hears_of_its_own_monitors_only() {
        let teams = Arc::new(Teams::default());
        let mut one = teams.subscribe(team(1));
        teams.tell(team(2), || Event::Saved(monitor(2)));
        teams.tell(team(1), || Event::Saved(monitor(1)));
        assert!(matches!(one.next().await, Some(Event::Saved(id)) if id == monitor(1)));
    }

    #[tokio::test]
    async fn who_falls_behind_is_told_so_and_goes_on() {
        let teams = Arc::new(Teams::default());
        let mut slow = teams.subscribe(team(1));
        for _ in 0..=EVENTS {
            teams.tell(team(1), || Event::Saved(monitor(1)));
        }
        assert!(matches!(slow.next().await, Some(Event::Missed)));
        assert!(matches!(slow.next().await, Some(Event::Saved(_))));
    }

    #[tokio::test]
    async fn nothing_is_kept_of_teams_whose_pages_are_closed() {
        let teams = Arc::new(Teams::default());
        let (one, two) = (teams.subscribe(team(1)), teams.subscribe(team(1)));
        drop(one);
        assert_eq!(teams.lock().len(), 1);
        drop(two);
        assert!(teams.lock().is_empty());
        teams.tell(team(1), || unreachable!("nobody listens"));
    }
}
