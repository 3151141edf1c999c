//! Heartbeats and alerts as they are returned, and what a target reports.

use serde::Serialize;
use serde_json::Value;
use std::time::Duration;
use utoipa::ToSchema;
use wakeful_core::id::{AlertId, DeliveryId, MonitorId, NotifierId};
use wakeful_core::region::RegionBeat;
use wakeful_core::time::Millis;
use wakeful_core::verdict::{Heartbeat, Report};
use wakeful_engine::{Delivery, ListedAlert};

use super::fields::{Fields, Wire};
use super::monitors::millis;

/// What a target says of itself.
#[derive(ToSchema)]
pub(crate) struct Notify {
    /// up or down, in any letter case.
    #[schema(value_type = String)]
    status: Report,
    /// Travels on to the notifications. `message`, if it is text, and `load_time`,
    /// if it is a number of milliseconds up to a day, become those of the heartbeat.
    #[schema(value_type = Option<Object>)]
    payload: Option<Value>,
}

/// The longest load time that is believed: a day, in milliseconds.
const LONGEST: f64 = 86_400_000.0;

impl Wire for Notify {
    fn read(fields: &mut Fields) -> Option<Self> {
        let report = fields.parse("status", Report::parse);
        // What is in it is the target's own affair.
        let payload = fields.optional_object("payload");
        let said = |field: &str| payload.as_ref()?.get(field);
        let message = said("message").and_then(Value::as_str);
        let load_time = said("load_time").and_then(Value::as_f64).and_then(load_time);
        let mut report = report?;
        if let Some(message) = message.filter(|message| !message.trim().is_empty()) {
            report = report.with_message(message);
        }
        if let Some(load_time) = load_time {
            report = report.with_load_time(load_time);
        }
        Some(Self { status: report, payload })
    }
}

impl Notify {
    pub(crate) fn into_parts(self) -> (Report, Option<Value>) {
        (self.status, self.payload)
    }
}

/// A load time in milliseconds, as a target or a sender gives it. One that
/// cannot be is passed over: the report it came with counts.
pub(crate) fn load_time(number: f64) -> Option<Duration> {
    (0.0..=LONGEST).contains(&number).then(|| Duration::from_secs_f64(number / 1e3))
}

#[derive(Serialize, ToSchema)]
#[schema(as = Heartbeat)]
pub(crate) struct HeartbeatBody {
    #[schema(value_type = String, format = DateTime)]
    at: Millis,
    /// up, down, or unknown when the check could not be made.
    status: &'static str,
    message: String,
    /// Milliseconds.
    load_time: Option<f64>,
    phases: PhasesBody,
    /// What each region saw; empty when only the service itself looked.
    regions: Vec<RegionBeatBody>,
}

#[derive(Serialize, ToSchema)]
#[schema(as = RegionBeat)]
pub(crate) struct RegionBeatBody {
    region: String,
    /// up, down, or unknown when it could not look.
    status: &'static str,
    /// Milliseconds.
    load_time: Option<f64>,
    message: String,
}

impl RegionBeatBody {
    fn of(beat: &RegionBeat) -> Self {
        Self {
            region: beat.region.to_string(),
            status: beat.status.as_str(),
            load_time: beat.load_time.map(millis),
            message: beat.message.clone(),
        }
    }
}

/// Where the time went, each in milliseconds.
#[derive(Serialize, ToSchema)]
#[schema(as = Phases)]
pub(crate) struct PhasesBody {
    resolve: Option<f64>,
    connect: Option<f64>,
    tls: Option<f64>,
    first_byte: Option<f64>,
    transfer: Option<f64>,
}

impl HeartbeatBody {
    pub(crate) fn of(heartbeat: &Heartbeat) -> Self {
        let phases = &heartbeat.phases;
        Self {
            at: heartbeat.at,
            status: heartbeat.status.as_str(),
            message: heartbeat.message.clone(),
            load_time: heartbeat.load_time.map(millis),
            phases: PhasesBody {
                resolve: phases.resolve.map(millis),
                connect: phases.connect.map(millis),
                tls: phases.tls.map(millis),
                first_byte: phases.first_byte.map(millis),
                transfer: phases.transfer.map(millis),
            },
            regions: heartbeat.regions.iter().map(RegionBeatBody::of).collect(),
        }
    }
}

#[derive(Serialize, ToSchema)]
pub(crate) struct HeartbeatAnswer {
    success: bool,
    message: String,
    heartbeat: HeartbeatBody,
}

impl HeartbeatAnswer {
    pub(crate) fn of(heartbeat: &Heartbeat) -> Self {
        Self {
            success: true,
            message: heartbeat.message.clone(),
            heartbeat: HeartbeatBody::of(heartbeat),
        }
    }
}

#[derive(Serialize, ToSchema)]
pub(crate) struct HeartbeatList {
    pub(crate) success: bool,
    /// Newest first.
    pub(crate) heartbeats: Vec<HeartbeatBody>,
    /// Only with `limit`: where the next page begins, null at the end.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) next_cursor: Option<Option<String>>,
}

#[derive(Serialize, ToSchema)]
pub(crate) struct AlertList {
    pub(crate) success: bool,
    /// Newest first.
    pub(crate) alerts: Vec<AlertBody>,
    /// Only with `limit`: where the next page begins, null at the end.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) next_cursor: Option<Option<String>>,
}

#[derive(Serialize, ToSchema)]
#[schema(as = Alert)]
pub(crate) struct AlertBody {
    #[schema(value_type = String, format = Uuid)]
    alertid: AlertId,
    monitor: AlertMonitor,
    /// outage or certificate.
    kind: &'static str,
    cause: String,
    /// The first failing check.
    #[schema(value_type = String, format = DateTime)]
    started: Millis,
    /// Null while it lasts.
    #[schema(value_type = Option<String>, format = DateTime)]
    ended: Option<Millis>,
    deliveries: Vec<DeliveryBody>,
}

#[derive(Serialize, ToSchema)]
pub(crate) struct AlertMonitor {
    #[schema(value_type = String, format = Uuid)]
    monitorid: MonitorId,
    name: String,
}

/// One event on its way to one notifier.
#[derive(Serialize, ToSchema)]
#[schema(as = Delivery)]
pub(crate) struct DeliveryBody {
    #[schema(value_type = String, format = Uuid)]
    deliveryid: DeliveryId,
    #[schema(value_type = String, format = Uuid)]
    notifierid: NotifierId,
    name: String,
    r#type: String,
    /// waiting, delivered or failed.
    state: String,
    attempts: i64,
    last_answer: String,
    #[schema(value_type = String, format = DateTime)]
    created: Millis,
    #[schema(value_type = Option<String>, format = DateTime)]
    next_try: Option<Millis>,
    #[schema(value_type = Option<String>, format = DateTime)]
    finished: Option<Millis>,
}

impl AlertBody {
    pub(crate) fn of(listed: &ListedAlert) -> Self {
        let alert = &listed.alert;
        Self {
            alertid: alert.id,
            monitor: AlertMonitor { monitorid: alert.monitor, name: listed.monitor_name.clone() },
            kind: alert.kind.as_str(),
            cause: alert.cause.clone(),
            started: alert.started,
            ended: alert.ended,
            deliveries: listed.deliveries.iter().map(DeliveryBody::of).collect(),
        }
    }
}

impl DeliveryBody {
    fn of(delivery: &Delivery) -> Self {
        Self {
            deliveryid: delivery.id,
            notifierid: delivery.notifier,
            name: delivery.notifier_name.clone(),
            r#type: delivery.kind.clone(),
            state: delivery.state.clone(),
            attempts: delivery.attempts,
            last_answer: delivery.last_answer.clone(),
            created: delivery.created,
            next_try: delivery.next_try,
            finished: delivery.finished,
        }
    }
}
