//! The responses that contain monitors.

use serde::Serialize;
use std::time::Duration;
use utoipa::ToSchema;
use wakeful_core::monitors::Monitor;
use wakeful_core::secret::Secret;
use wakeful_core::verdict::State;

use super::MonitorBody;
use super::certificate::CertificateBody;

/// Why checks cannot be performed at present. A paused monitor is not checked anyway.
pub(super) fn blocked<'a>(monitor: &Monitor, state: &'a State) -> Option<&'a str> {
    (monitor.isactive && state.blocked).then_some(state.last_message.as_str())
}

pub(super) fn push_url(public_url: &str, token: &Secret) -> String {
    format!("{public_url}/api/push/{}", token.expose())
}

pub(crate) fn ping_url(public_url: &str, uuid: &Secret) -> String {
    format!("{public_url}/ping/{}", uuid.expose())
}

/// The new push URL of a monitor.
#[derive(Serialize, ToSchema)]
pub(crate) struct PushRotated {
    success: bool,
    message: &'static str,
    push_url: String,
}

impl PushRotated {
    pub(crate) fn of(public_url: &str, token: &Secret) -> Self {
        Self {
            success: true,
            message: "Push URL replaced; the old one no longer works.",
            push_url: push_url(public_url, token),
        }
    }
}

/// Milliseconds with at most three decimals.
pub(crate) fn millis(span: Duration) -> f64 {
    (span.as_micros() as f64) / 1e3
}

#[derive(Serialize, ToSchema)]
pub(crate) struct MonitorAnswer<'a> {
    pub(crate) success: bool,
    pub(crate) message: String,
    pub(crate) monitor: MonitorBody<'a>,
}

/// A monitor with the details that lists do not have.
#[derive(Serialize, ToSchema)]
pub(crate) struct MonitorWhole<'a> {
    pub(crate) success: bool,
    pub(crate) monitor: MonitorBody<'a>,
    /// The certificate that the target last presented; null if it has presented none.
    pub(crate) certificate: Option<CertificateBody>,
}

/// The list as the client receives it; it is sent in chunks.
#[derive(Serialize, ToSchema)]
pub(crate) struct MonitorList<'a> {
    pub(crate) success: bool,
    pub(crate) monitors: Vec<MonitorBody<'a>>,
    /// Only with `limit`: the cursor of the next page; null on the last page.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) next_cursor: Option<Option<String>>,
}
