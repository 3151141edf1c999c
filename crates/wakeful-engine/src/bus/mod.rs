//! What the parts of the service tell each other: edits, to whoever watches
//! the monitor, and live events, to the open pages of the team. Within one
//! process it is made of channels (`local`); between nodes NATS carries it
//! (`nodes`). Nothing is lost with it: who missed an edit finds it in the store,
//! who missed an event is told so.

mod local;
pub mod nats;
mod nodes;

pub use local::Subscription;
pub(crate) use nodes::{News, run};

use serde::{Deserialize, Serialize};
use std::sync::Arc;
use tokio::sync::broadcast;
use wakeful_core::id::{MonitorId, TeamId};
use wakeful_core::verdict::{Heartbeat, Status};

use local::Teams;
use nats::Nats;
use nodes::Others;

/// An import saves many monitors in a moment.
const EDITS: usize = 4_096;

/// A monitor was made, changed or deleted: what it is now is in the store.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Edit {
    pub team: TeamId,
    pub monitor: MonitorId,
}

/// What a team's pages are told.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
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
    others: Option<Others>,
}

impl Bus {
    pub(crate) fn new(nats: Option<Nats>) -> Self {
        Self {
            edits: broadcast::Sender::new(EDITS),
            teams: Arc::default(),
            others: nats.map(Others::new),
        }
    }

    /// Tells every node that a person has changed something.
    pub(crate) fn edited(&self, edit: Edit) {
        self.look_again(edit);
        self.say(News::Edited(edit));
    }

    /// Has this node read a monitor again.
    pub(crate) fn look_again(&self, edit: Edit) {
        // Nobody listens on a node that watches nothing, and that is fine.
        let _ = self.edits.send(edit);
    }

    pub(crate) fn edits(&self) -> broadcast::Receiver<Edit> {
        self.edits.subscribe()
    }

    /// Tells the pages of a team, wherever they are open; `event` is not made
    /// when there are none.
    pub(crate) fn tell(&self, team: TeamId, event: impl FnOnce() -> Event) {
        match self.others.as_ref().filter(|others| others.have_pages_of(team)) {
            None => self.teams.tell(team, event),
            Some(others) => {
                let event = event();
                others.say(News::Event(team, event.clone()));
                self.teams.tell(team, || event);
            }
        }
    }

    /// Tells the pages that are open here.
    pub(crate) fn tell_all(&self, event: &Event) {
        self.teams.tell_all(event);
    }

    pub(crate) fn subscribe(&self, team: TeamId) -> Subscription {
        let subscription = self.teams.subscribe(team);
        self.say(News::Listening(vec![team]));
        subscription
    }

    /// Tells the other nodes, when there is a way to them.
    pub(crate) fn say(&self, news: News) {
        if let Some(others) = &self.others {
            others.say(news);
        }
    }

    /// Whether what other nodes say is heard here.
    pub(crate) fn hears_others(&self) -> bool {
        self.others.as_ref().is_some_and(|others| others.nats().is_connected())
    }
}
