//! A monitor as a row of a long list: what a list shows and no more, so that a
//! thousand of them travel in one small answer.

use serde::Serialize;
use utoipa::ToSchema;
use wakeful_core::id::{MonitorId, NotifierId};
use wakeful_core::monitor::Monitor;
use wakeful_core::time::Millis;
use wakeful_core::verdict::State;
use wakeful_engine::Linked;

use super::millis;

#[derive(Serialize, ToSchema)]
pub(crate) struct MonitorRow {
    #[schema(value_type = String, format = Uuid)]
    monitorid: MonitorId,
    r#type: &'static str,
    isactive: bool,
    name: String,
    /// What is watched, in one line; empty for api.
    target: String,
    tags: Vec<String>,
    heartbeat_interval: u32,
    /// pending, up or down.
    status: &'static str,
    /// When the status became what it is.
    #[schema(value_type = Option<String>, format = DateTime)]
    status_since: Option<Millis>,
    #[schema(value_type = Option<String>, format = DateTime)]
    last_check: Option<Millis>,
    last_message: String,
    /// Milliseconds; null before the first check.
    load_time: Option<f64>,
    /// The ids of those who are told.
    #[schema(value_type = Vec<String>)]
    notifiers: Vec<NotifierId>,
}

impl MonitorRow {
    pub(crate) fn of(monitor: &Monitor, state: &State, linked: &[Linked]) -> Self {
        Self {
            monitorid: monitor.id,
            r#type: monitor.spec.kind().as_str(),
            isactive: monitor.isactive,
            name: monitor.name.to_string(),
            target: monitor.spec.target(),
            tags: monitor.tags.iter().map(str::to_owned).collect(),
            heartbeat_interval: monitor.heartbeat_interval.seconds(),
            status: state.status.as_str(),
            status_since: state.since,
            last_check: state.last_check,
            last_message: state.last_message.clone(),
            load_time: state.load_time.map(millis),
            notifiers: linked.iter().map(|linked| linked.id).collect(),
        }
    }
}

/// What the pieces of the list come to.
#[derive(Serialize, ToSchema)]
pub(crate) struct MonitorRows {
    pub(crate) success: bool,
    pub(crate) monitors: Vec<MonitorRow>,
    /// Only with `limit`: where the next page begins, null at the end.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) next_cursor: Option<Option<String>>,
}
