//! What the parts of the service tell each other: edits, to whoever watches
//! the monitor, and live events, to the open pages of the team. Alone it is
//! made of channels. Nothing is lost with it: who missed an edit reads the
//! store again, who missed an event is told so.

pub mod nats;

use std::collections::HashMap;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use tokio::sync::broadcast;
use tokio::sync::broadcast::error::RecvError;
use wakeful_core::id::{MonitorId, TeamId};
use wakeful_core::verdict::{Heartbeat, Status};

/// An import saves many monitors in a moment.
const EDITS: usize = 4_096;
/// A page that is further behind reads everything again anyway.
const EVENTS: usize = 1_024;

/// A monitor was made, changed or deleted: what it is now is in the store.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Edit {
    pub team: TeamId,
    pub monitor: MonitorId,
}

/// What a team's pages are told.
#[derive(Clone, Debug)]
pub enum Event {
    /// A monitor was made or changed by a person.
    Saved(MonitorId),
    Deleted(MonitorId),
    /// A verdict was recorded. `previous` is there when it changed the status.
    Heartbeat {
        monitor: MonitorId,
        status: Status,
        previous: Option<Status>,
        heartbeat: Heartbeat,
    },
    /// Some events were missed: read the list again.
    Missed,
}

pub(crate) struct Bus {
    edits: broadcast::Sender<Edit>,
    teams: Arc<Teams>,
}

#[derive(Default)]
struct Teams {
    /// Spares the recorder the lock while nobody looks.
    listeners: AtomicUsize,
    senders: Mutex<HashMap<TeamId, broadcast::Sender<Event>>>,
}

impl Bus {
    pub(crate) fn new() -> Self {
        Self { edits: broadcast::Sender::new(EDITS), teams: Arc::default() }
    }

    pub(crate) fn edited(&self, edit: Edit) {
        // Nobody listens on a node that watches nothing, and that is fine.
        let _ = self.edits.send(edit);
    }

    pub(crate) fn edits(&self) -> broadcast::Receiver<Edit> {
        self.edits.subscribe()
    }

    /// Tells the pages of a team; `event` is not made when there are none.
    pub(crate) fn tell(&self, team: TeamId, event: impl FnOnce() -> Event) {
        if self.teams.listeners.load(Ordering::Relaxed) == 0 {
            return;
        }
        if let Some(sender) = self.teams.lock().get(&team) {
            let _ = sender.send(event());
        }
    }

    pub(crate) fn subscribe(&self, team: TeamId) -> Subscription {
        let mut senders = self.teams.lock();
        let sender = senders.entry(team).or_insert_with(|| broadcast::Sender::new(EVENTS));
        let events = Some(sender.subscribe());
        self.teams.listeners.fetch_add(1, Ordering::Relaxed);
        drop(senders);
        Subscription { team, events, teams: Arc::clone(&self.teams) }
    }
}

impl Teams {
    fn lock(&self) -> std::sync::MutexGuard<'_, HashMap<TeamId, broadcast::Sender<Event>>> {
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
    use wakeful_core::time::Millis;

    fn team(number: u8) -> TeamId {
        TeamId::new(Millis(0), [number; 10])
    }

    fn monitor(number: u8) -> MonitorId {
        MonitorId::new(Millis(0), [number; 10])
    }

    #[tokio::test]
    async fn a_team_hears_of_its_own_monitors_only() {
        let bus = Bus::new();
        let mut one = bus.subscribe(team(1));
        bus.tell(team(2), || Event::Saved(monitor(2)));
        bus.tell(team(1), || Event::Saved(monitor(1)));
        assert!(matches!(one.next().await, Some(Event::Saved(id)) if id == monitor(1)));
    }

    #[tokio::test]
    async fn who_falls_behind_is_told_so_and_goes_on() {
        let bus = Bus::new();
        let mut slow = bus.subscribe(team(1));
        for _ in 0..=EVENTS {
            bus.tell(team(1), || Event::Saved(monitor(1)));
        }
        assert!(matches!(slow.next().await, Some(Event::Missed)));
        assert!(matches!(slow.next().await, Some(Event::Saved(_))));
    }

    #[tokio::test]
    async fn nothing_is_kept_of_teams_whose_pages_are_closed() {
        let bus = Bus::new();
        let (one, two) = (bus.subscribe(team(1)), bus.subscribe(team(1)));
        drop(one);
        assert_eq!(bus.teams.lock().len(), 1);
        drop(two);
        assert!(bus.teams.lock().is_empty());
        bus.tell(team(1), || unreachable!("nobody listens"));
    }
}
