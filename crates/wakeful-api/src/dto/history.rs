//! Heartbeats as they are returned, and reports of targets.

use serde::Serialize;
use serde_json::Value;
use std::time::Duration;
use utoipa::ToSchema;
use wakeful_core::heartbeat::{Heartbeat, Phases, Readings, RegionBeat};
use wakeful_core::history::Entry;
use wakeful_core::reason;
use wakeful_core::time::Millis;
use wakeful_core::verdict::Report;
use wakeful_engine::CheckOutcome;

use super::enums::{HeartbeatHealth, HeartbeatStanding, HeartbeatStatus, Reason, ReportStatus};
use super::evidence::EvidenceBody;
use super::fields::{Fields, FromFields};
use super::monitors::response::millis;

/// A report of a target about its own status.
#[derive(ToSchema)]
pub(crate) struct Notify {
    /// Case-insensitive.
    #[schema(value_type = ReportStatus)]
    status: Report,
    /// Passed on to the notifications. `message`, if it is a string, and `load_time`, if it
    /// is a number of milliseconds up to one day, are stored in the heartbeat.
    #[schema(value_type = Option<Object>)]
    payload: Option<Value>,
}

/// The longest plausible load time: a day, in milliseconds.
const MAX_LOAD_TIME_MS: f64 = 86_400_000.0;

impl FromFields for Notify {
    fn read(fields: &mut Fields) -> Option<Self> {
        let report = fields.parse("status", Report::parse);
        // Its content is up to the target and not validated.
        let payload = fields.optional_object("payload");
        let reported = |field: &str| payload.as_ref()?.get(field);
        let message = reported("message").and_then(Value::as_str);
        let load_time = reported("load_time").and_then(Value::as_f64).and_then(load_time);
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

/// A reported load time in milliseconds. An implausible one is ignored; the report still
/// counts.
pub(crate) fn load_time(number: f64) -> Option<Duration> {
    (0.0..=MAX_LOAD_TIME_MS).contains(&number).then(|| Duration::from_secs_f64(number / 1e3))
}

#[derive(Serialize, ToSchema)]
#[schema(as = Heartbeat)]
pub(crate) struct HeartbeatBody {
    #[schema(value_type = String, format = DateTime)]
    at: Millis,
    #[schema(value_type = HeartbeatStatus)]
    status: &'static str,
    /// The status, or degraded.
    #[schema(value_type = HeartbeatHealth)]
    health: &'static str,
    message: String,
    /// Milliseconds.
    load_time: Option<f64>,
    phases: PhasesBody,
    /// The result of each region; empty if only the service itself checked.
    regions: Vec<RegionBeatBody>,
    /// Up to two numbers that the check has measured: loss in percent and jitter in milliseconds of
    /// a ping, or the number that an assertion charts. Absent if there are none.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(nullable = false)]
    readings: Option<[Option<f64>; 2]>,
    /// Why an on-demand check did not pass; absent otherwise.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(value_type = Option<Reason>, nullable = false)]
    reason: Option<&'static str>,
    /// What the heartbeat counts as in statistics; absent where it is not known yet.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(value_type = Option<HeartbeatStanding>, nullable = false)]
    standing: Option<&'static str>,
}

#[derive(Serialize, ToSchema)]
#[schema(as = RegionBeat)]
pub(crate) struct RegionBeatBody {
    region: String,
    #[schema(value_type = HeartbeatStatus)]
    status: &'static str,
    /// The status, or degraded.
    #[schema(value_type = HeartbeatHealth)]
    health: &'static str,
    /// Milliseconds.
    load_time: Option<f64>,
    message: String,
}

impl RegionBeatBody {
    fn of(beat: &RegionBeat) -> Self {
        Self {
            region: beat.region.to_string(),
            status: beat.status.plain().as_str(),
            health: beat.status.as_str(),
            load_time: beat.load_time.map(millis),
            message: beat.message.clone(),
        }
    }
}

/// The duration of each phase in milliseconds.
#[derive(Serialize, ToSchema)]
#[schema(as = Phases)]
pub(crate) struct PhasesBody {
    resolve: Option<f64>,
    connect: Option<f64>,
    tls: Option<f64>,
    first_byte: Option<f64>,
    transfer: Option<f64>,
}

impl PhasesBody {
    pub(crate) fn of(phases: &Phases) -> Self {
        Self {
            resolve: phases.resolve.map(millis),
            connect: phases.connect.map(millis),
            tls: phases.tls.map(millis),
            first_byte: phases.first_byte.map(millis),
            transfer: phases.transfer.map(millis),
        }
    }
}

fn readings(readings: &Readings) -> Option<[Option<f64>; 2]> {
    let number = |thousandths: i64| thousandths as f64 / 1e3;
    (!readings.is_empty()).then(|| readings.0.map(|reading| reading.map(number)))
}

impl HeartbeatBody {
    pub(crate) fn of(heartbeat: &Heartbeat) -> Self {
        Self {
            at: heartbeat.at,
            status: heartbeat.status.plain().as_str(),
            health: heartbeat.status.as_str(),
            message: heartbeat.message.clone(),
            load_time: heartbeat.load_time.map(millis),
            phases: PhasesBody::of(&heartbeat.phases),
            regions: heartbeat.regions.iter().map(RegionBeatBody::of).collect(),
            readings: readings(&heartbeat.readings),
            reason: None,
            standing: None,
        }
    }

    /// A heartbeat of the history.
    pub(crate) fn of_entry(entry: &Entry) -> Self {
        Self { standing: Some(entry.standing.plain().as_str()), ..Self::of(&entry.heartbeat) }
    }
}

#[derive(Serialize, ToSchema)]
pub(crate) struct HeartbeatAnswer {
    success: bool,
    message: String,
    heartbeat: HeartbeatBody,
    /// What the check saw, with the result of each assertion; null if that is not known.
    evidence: Option<EvidenceBody>,
}

impl HeartbeatAnswer {
    pub(crate) fn of(outcome: CheckOutcome) -> Self {
        let CheckOutcome { heartbeat, reason, evidence } = outcome;
        Self {
            success: true,
            message: heartbeat.message.clone(),
            heartbeat: HeartbeatBody {
                reason: reason.map(reason::Reason::as_str),
                ..HeartbeatBody::of(&heartbeat)
            },
            evidence: evidence.map(|evidence| EvidenceBody::of(*evidence)),
        }
    }
}

#[derive(Serialize, ToSchema)]
pub(crate) struct HeartbeatList {
    pub(crate) success: bool,
    /// Newest first.
    pub(crate) heartbeats: Vec<HeartbeatBody>,
    /// Only with `limit`: the cursor of the next page; null on the last page.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) next_cursor: Option<Option<String>>,
}
