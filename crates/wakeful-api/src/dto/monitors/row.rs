//! A monitor as a row of a long list. It has only the fields that a list shows, so that a
//! response with a thousand monitors stays small.

use serde::Serialize;
use utoipa::ToSchema;
use wakeful_core::id::{MonitorId, NotifierId};
use wakeful_core::reason;
use wakeful_core::time::Millis;
use wakeful_engine::MonitorView;

use super::MaintenanceCoverBody;
use super::response::{blocked, millis};
use crate::dto::enums::{MonitorHealth, MonitorStatus, MonitorType, Reason};

#[derive(Serialize, ToSchema)]
pub(crate) struct MonitorRow {
    #[schema(value_type = String, format = Uuid)]
    monitorid: MonitorId,
    #[schema(value_type = MonitorType)]
    r#type: &'static str,
    isactive: bool,
    name: String,
    /// The monitored target in one line; empty for api.
    target: String,
    tags: Vec<String>,
    heartbeat_interval: u32,
    #[schema(value_type = MonitorStatus)]
    status: &'static str,
    /// The time of the last status change.
    #[schema(value_type = Option<String>, format = DateTime)]
    status_since: Option<Millis>,
    /// To the second.
    #[schema(value_type = Option<String>, format = DateTime)]
    last_check: Option<Millis>,
    last_message: String,
    /// Why checks cannot be performed at present; absent if they can.
    #[serde(skip_serializing_if = "Option::is_none")]
    blocked: Option<String>,
    /// Milliseconds, rounded from 10 on; null if the last check measured none.
    load_time: Option<f64>,
    /// Whether up and down are inverted; absent if they are not.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(nullable = false)]
    upside_down_mode: Option<bool>,
    #[schema(value_type = MonitorHealth)]
    health: &'static str,
    /// Since when it is degraded; absent if it is not.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(value_type = Option<String>, format = DateTime, nullable = false)]
    degraded_since: Option<Millis>,
    /// What is not as it should be; absent if it is not degraded.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(nullable = false)]
    degraded_cause: Option<String>,
    /// Why it is down or degraded; absent if it is neither, or that is not known.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(value_type = Option<Reason>, nullable = false)]
    reason: Option<&'static str>,
    /// The ids of the linked notifiers.
    #[schema(value_type = Vec<String>)]
    notifiers: Vec<NotifierId>,
    /// The maintenance that covers the monitor; absent if there is none.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(nullable = false)]
    maintenance: Option<MaintenanceCoverBody>,
    /// True if this version of the service cannot read the monitor: only its id and its name are
    /// known. Otherwise absent.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(nullable = false)]
    unreadable: Option<bool>,
}

impl MonitorRow {
    pub(crate) fn of(view: &MonitorView) -> Self {
        let MonitorView { monitor, state, notifiers: linked, maintenance, .. } = view;
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
            last_check: state.last_check.map(Millis::to_second),
            last_message: state.last_message.clone(),
            blocked: blocked(monitor, state).map(str::to_owned),
            load_time: state.load_time.map(|span| rounded(millis(span))),
            upside_down_mode: monitor.upside_down_mode.then_some(true),
            health: state.health().as_str(),
            degraded_since: state.degradation().map(|one| one.since),
            degraded_cause: state.degradation().map(|one| one.cause.clone()),
            reason: state.reason().map(reason::Reason::as_str),
            notifiers: linked.iter().map(|linked| linked.id).collect(),
            maintenance: maintenance.as_ref().map(MaintenanceCoverBody::of),
            unreadable: view.unreadable.then_some(true),
        }
    }
}

/// A monitor in the long list of which only this is known.
#[derive(Serialize)]
pub(crate) struct UnreadableMonitor<'a> {
    monitorid: MonitorId,
    name: &'a str,
    unreadable: bool,
}

impl<'a> UnreadableMonitor<'a> {
    pub(crate) fn of(view: &'a MonitorView) -> Self {
        let monitor = &view.monitor;
        Self { monitorid: monitor.id, name: monitor.name.as_str(), unreadable: true }
    }
}

/// A list shows no fractions of larger figures, and they make it longer.
fn rounded(millis: f64) -> f64 {
    if millis < 10.0 { millis } else { millis.round() }
}

/// The list as the client receives it; it is sent in chunks.
#[derive(Serialize, ToSchema)]
pub(crate) struct MonitorRows {
    pub(crate) success: bool,
    pub(crate) monitors: Vec<MonitorRow>,
    /// Only with `limit`: the cursor of the next page; null on the last page.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) next_cursor: Option<Option<String>>,
}
