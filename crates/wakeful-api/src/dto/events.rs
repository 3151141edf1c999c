//! Live events in the format of a server-sent event stream.

use axum::response::sse;
use serde_json::json;
use wakeful_core::verdict::{Health, Status};
use wakeful_engine::Event;

use super::history::HeartbeatBody;

/// The event as clients receive it; its name determines the format of its data.
pub(crate) fn event(event: &Event) -> sse::Event {
    let (name, data) = match event {
        Event::Saved(monitor) => ("saved", json!({"monitorid": monitor})),
        Event::Deleted(monitor) => ("deleted", json!({"monitorid": monitor})),
        Event::Heartbeat { monitor, status, previous, degraded, heartbeat } => (
            "heartbeat",
            json!({
                "monitorid": monitor,
                "status": status.as_str(),
                "previous_status": previous.map(Status::as_str),
                "health": if *degraded { Health::Degraded.as_str() } else { status.as_str() },
                "heartbeat": HeartbeatBody::of(heartbeat),
            }),
        ),
        Event::Alert { alert, monitor, status } => {
            ("alert", json!({"alertid": alert, "monitorid": monitor, "status": status}))
        }
        Event::Statuspage(page) => ("statuspage", json!({"pageid": page})),
        Event::Incident(incident) => ("incident", json!({"incidentid": incident})),
        Event::Maintenance(window) => ("maintenance", json!({"maintenanceid": window})),
        Event::Missed => ("missed", json!({})),
    };
    sse::Event::default().event(name).data(data.to_string())
}
