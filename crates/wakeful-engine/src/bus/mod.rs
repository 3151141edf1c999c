//! Messages between the parts of the service: edits, to the scheduler that checks the
//! monitor, and live events, to the open pages of the team. Within one process they use
//! channels (`local`), between nodes NATS (`cluster`). Losing the bus loses no data: a
//! missed edit is found in the store, and a page that missed events is notified.

mod cluster;
mod local;
pub mod nats;

pub(crate) use cluster::{NodeMessage, run};
pub use local::Subscription;

use serde::{Deserialize, Serialize};
use std::sync::Arc;
use tokio::sync::broadcast;
use wakeful_core::heartbeat::Heartbeat;
use wakeful_core::id::{AlertId, IncidentId, MaintenanceId, MonitorId, StatuspageId, TeamId};
use wakeful_core::verdict::Status;

use cluster::RemoteNodes;
use local::TeamChannels;
use nats::Nats;

/// An import saves many monitors in a moment.
const EDIT_CAPACITY: usize = 4_096;

/// A monitor was created, changed or deleted: its current state is in the store.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Edit {
    pub team: TeamId,
    pub monitor: MonitorId,
    /// It was not changed: it is to be checked now. A node of an earlier version reads it again.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub check: bool,
}

impl Edit {
    pub(crate) fn new(team: TeamId, monitor: MonitorId) -> Self {
        Self { team, monitor, check: false }
    }

    /// A request to check a monitor now.
    pub(crate) fn check(team: TeamId, monitor: MonitorId) -> Self {
        Self { check: true, ..Self::new(team, monitor) }
    }
}

/// A live event for the open pages of a team.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Event {
    /// A user created or changed a monitor.
    Saved(MonitorId),
    Deleted(MonitorId),
    /// A verdict was recorded. `previous` is set when it changed the status.
    Heartbeat {
        monitor: MonitorId,
        status: Status,
        previous: Option<Status>,
        /// Whether the monitor is degraded.
        #[serde(default)]
        degraded: bool,
        heartbeat: Heartbeat,
    },
    /// An alert opened, ended, or somebody responded to it.
    Alert {
        alert: AlertId,
        monitor: MonitorId,
        status: String,
    },
    /// A maintenance window was changed, has begun or has ended.
    Maintenance(MaintenanceId),
    /// A status page was changed or deleted.
    Statuspage(StatuspageId),
    /// An incident of status pages was changed or deleted.
    Incident(IncidentId),
    /// Some events were missed: read the list again.
    Missed,
}

pub(crate) struct Bus {
    edits: broadcast::Sender<Edit>,
    teams: Arc<TeamChannels>,
    remote: Option<RemoteNodes>,
}

impl Bus {
    pub(crate) fn new(nats: Option<Nats>) -> Self {
        Self {
            edits: broadcast::Sender::new(EDIT_CAPACITY),
            teams: Arc::default(),
            remote: nats.map(RemoteNodes::new),
        }
    }

    /// Announces an edit to every node.
    pub(crate) fn publish_edit(&self, edit: Edit) {
        self.reload_monitor(edit);
        self.send_to_nodes(NodeMessage::Edited(edit));
    }

    /// Makes this node read a monitor again.
    pub(crate) fn reload_monitor(&self, edit: Edit) {
        // A node without a scheduler has no receiver, which is fine.
        let _ = self.edits.send(edit);
    }

    pub(crate) fn edits(&self) -> broadcast::Receiver<Edit> {
        self.edits.subscribe()
    }

    /// Sends an event to the pages of a team on all nodes; `event` is not called when
    /// there are none.
    pub(crate) fn publish_event(&self, team: TeamId, event: impl FnOnce() -> Event) {
        match self.remote.as_ref().filter(|remote| remote.has_pages_of(team)) {
            None => self.teams.publish(team, event),
            Some(remote) => {
                let event = event();
                remote.send_to_nodes(NodeMessage::Event(team, event.clone()));
                self.teams.publish(team, || event);
            }
        }
    }

    /// Sends an event to all pages that are open on this node.
    pub(crate) fn publish_to_all_pages(&self, event: &Event) {
        self.teams.publish_to_all_pages(event);
    }

    pub(crate) fn subscribe(&self, team: TeamId) -> Subscription {
        let subscription = self.teams.subscribe(team);
        self.send_to_nodes(NodeMessage::Listening(vec![team]));
        subscription
    }

    /// Sends a message to the other nodes, if there is a connection to them.
    pub(crate) fn send_to_nodes(&self, message: NodeMessage) {
        if let Some(remote) = &self.remote {
            remote.send_to_nodes(message);
        }
    }

    /// Whether messages from other nodes can be received.
    pub(crate) fn is_connected(&self) -> bool {
        self.remote.as_ref().is_some_and(|remote| remote.nats().is_connected())
    }
}
