//! An event that people are notified of: the envelope that webhooks carry, and
//! the source of mails and templates. It is written when the event is recorded
//! and read when it is sent.

use serde::{Deserialize, Serialize};
use serde_json::Value;
use std::time::Duration;

use super::announcement;
use crate::id::{AlertId, EventId, MaintenanceId, MonitorId, ScheduleId, UserId};
use crate::reason::Reason;
use crate::severity::Severity;
use crate::time::Millis;

/// A longer body is sent without the payload of the target: receivers reject
/// large ones, and the notification matters more.
const MAX_BODY_BYTES: usize = 20_000;
/// A longer payload is not passed on: it is stored once for each notifier of the monitor, and
/// templates take as long as it is large.
const MAX_PAYLOAD_BYTES: usize = 8_192;
/// Parsers reject deep nesting, and receivers' limits are lower than ours.
const MAX_PAYLOAD_DEPTH: usize = 64;

macro_rules! event_types {
    ($($(#[$meta:meta])* $name:ident = $text:literal),+ $(,)?) => {
        $($(#[$meta])* pub const $name: &str = $text;)+

        /// All types of events.
        pub const TYPES: &[&str] = &[$($name),+];
    };
}

event_types! {
    DOWN = "monitor.down",
    /// The monitor is still down.
    REMINDER = "monitor.reminder",
    UP = "monitor.up",
    CERTIFICATE = "monitor.certificate_expiring",
    /// The registration of the domain expires.
    DOMAIN = "monitor.domain_expiring",
    /// The monitor goes down again and again.
    FLAPPING = "monitor.flapping",
    /// It no longer does.
    STEADY = "monitor.steady",
    /// The monitor is up, but not as it should be.
    DEGRADED = "monitor.degraded",
    RESTORED = "monitor.restored",
    /// A value of the monitor that must not change has changed.
    CHANGED = "monitor.changed",
    ACKNOWLEDGED = "alert.acknowledged",
    ASSIGNED = "alert.assigned",
    COMMENTED = "alert.commented",
    /// An escalation step, to somebody who knows of the outage already.
    ESCALATED = "alert.escalated",
    RESOLVED = "alert.resolved",
    /// A maintenance window begins soon.
    MAINTENANCE_SCHEDULED = "maintenance.scheduled",
    MAINTENANCE_STARTED = "maintenance.started",
    MAINTENANCE_ENDED = "maintenance.ended",
    /// Somebody else, or nobody, is on call.
    HANDOVER = "oncall.handover",
    TEST = "notifier.test",
}

/// Those that report the beginning of an alert that lasts until something changes.
pub const OPENING_TYPES: &[&str] = &[DOWN, FLAPPING, DEGRADED];

/// Those that report its end.
pub const ENDING_TYPES: &[&str] = &[UP, STEADY, RESTORED];

/// Those that report the end of an alert with the result of a check.
pub const CLOSING_TYPES: &[&str] = &[UP, RESTORED];

/// Those about alerts, which came later: notifiers from before do not get them.
pub const ALERT_TYPES: &[&str] = &[ACKNOWLEDGED, ASSIGNED, COMMENTED, ESCALATED, RESOLVED];

/// Those of them that every notifier gets when it is addressed, unless it names its types.
pub const ADDRESSED_TYPES: &[&str] = &[ASSIGNED, ESCALATED];

/// Those that a notifier gets only if it names them.
pub const OPTIONAL_TYPES: &[&str] = &[COMMENTED];

/// One message about many events. It is made when they are sent, and never stored.
pub const DIGEST: &str = "notifier.digest";

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Event {
    #[serde(rename = "type")]
    pub kind: String,
    pub timestamp: String,
    /// A one-line summary.
    pub text: String,
    pub data: EventData,
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct EventData {
    pub eventid: EventId,
    pub alertid: Option<AlertId>,
    pub monitor: Option<EventMonitor>,
    pub status: Option<String>,
    pub previous_status: Option<String>,
    pub message: String,
    /// Milliseconds.
    pub load_time: Option<f64>,
    pub down_since: Option<String>,
    pub down_seconds: Option<u64>,
    pub payload: Option<Value>,
    /// The event of the outage, when this one reports both its start and end.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub down_eventid: Option<EventId>,
    /// Why it was down, when this one reports both its start and end.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cause: Option<String>,
    /// The result of each region, when several were checked.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub regions: Vec<EventRegion>,
    /// Why the target is down, as a word that programs can rely on.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reason: Option<Reason>,
    /// The health of the monitor: up, degraded, …
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub health: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub degraded_since: Option<String>,
    /// What the check saw.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub evidence: Option<EventEvidence>,
    /// How urgent the alert is.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub severity: Option<Severity>,
    /// The status of the alert: open, acknowledged, …
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub alert_status: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub acknowledged_by: Option<String>,
    /// The name of the user who the alert is assigned to.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub assignee: Option<String>,
    /// The author of the comment, which is the message.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub commented_by: Option<String>,
    /// The number of the escalation step, from 1.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub step: Option<u32>,
    /// What withheld the notification until now.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub suppressed: Option<EventSuppression>,
    /// The monitors that depend on this one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub affected: Option<EventAffected>,
    /// The maintenance window that is announced.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub maintenance: Option<EventMaintenance>,
    /// The handover that is announced.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub oncall: Option<EventHandover>,
    /// The page about it in the web app.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub link: Option<String>,
    /// The URL that actions on the alert are posted to.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub action_url: Option<String>,
    /// The page that offers these actions, for messages that people read.
    #[serde(skip)]
    pub action_page: Option<String>,
    /// The alerts that need no more attention, of a digest.
    #[serde(skip)]
    pub attended: Vec<AlertId>,
    /// It is delivered in quiet hours, without a sound.
    #[serde(skip)]
    pub silent: bool,
}

/// What a check saw, in brief.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct EventEvidence {
    pub url: Option<String>,
    pub reason: Option<Reason>,
    pub status_code: Option<u16>,
    pub address: Option<String>,
    /// Milliseconds.
    pub phases: EventPhases,
    /// The beginning of the response.
    pub excerpt: Option<String>,
}

/// How the time of a check was spent, in milliseconds.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct EventPhases {
    pub resolve: Option<f64>,
    pub connect: Option<f64>,
    pub tls: Option<f64>,
    pub first_byte: Option<f64>,
    pub transfer: Option<f64>,
}

impl EventData {
    /// The data of an event about no monitor.
    pub fn of_message(eventid: EventId, message: String) -> Self {
        Self {
            eventid,
            alertid: None,
            monitor: None,
            status: None,
            previous_status: None,
            message,
            load_time: None,
            down_since: None,
            down_seconds: None,
            payload: None,
            down_eventid: None,
            cause: None,
            regions: Vec::new(),
            reason: None,
            health: None,
            degraded_since: None,
            evidence: None,
            severity: None,
            alert_status: None,
            acknowledged_by: None,
            assignee: None,
            commented_by: None,
            step: None,
            suppressed: None,
            affected: None,
            maintenance: None,
            oncall: None,
            link: None,
            action_url: None,
            action_page: None,
            attended: Vec::new(),
            silent: false,
        }
    }
}

/// A maintenance window, at one of its occurrences.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct EventMaintenance {
    pub maintenanceid: MaintenanceId,
    pub name: String,
    pub description: String,
    pub starts: String,
    /// `None` until it is ended by hand.
    pub ends: Option<String>,
}

/// A handover in an on-call schedule.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct EventHandover {
    pub scheduleid: ScheduleId,
    pub name: String,
    /// `None`: nobody was on call.
    pub previous: Option<EventPerson>,
    /// `None`: nobody is on call.
    pub next: Option<EventPerson>,
    /// When the next handover is, if there is one.
    pub until: Option<String>,
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct EventPerson {
    pub userid: UserId,
    pub name: String,
}

/// What withheld a notification.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct EventSuppression {
    pub reason: String,
    pub name: String,
    pub since: String,
    pub until: String,
}

/// The monitors that depend on another one, directly or not.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct EventAffected {
    pub count: usize,
    /// Not all of them if there are many.
    pub names: Vec<String>,
}

/// The result of one region.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct EventRegion {
    pub region: String,
    /// up, down or unknown.
    pub status: String,
    pub message: String,
}

/// The monitor as it was when the event happened.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct EventMonitor {
    pub monitorid: MonitorId,
    pub name: String,
    #[serde(rename = "type")]
    pub kind: String,
    pub target: String,
    pub tags: Vec<String>,
}

impl Event {
    pub fn parse(body: &str) -> Option<Self> {
        serde_json::from_str(body).ok()
    }

    /// An event that tests a notifier.
    pub fn test(event: EventId, notifier: &str, now: Millis) -> Self {
        Self {
            kind: TEST.to_owned(),
            timestamp: now.to_string(),
            text: format!("[Wakeful] test of the notifier {notifier}"),
            data: EventData::of_message(
                event,
                format!("This is a test of the notifier {notifier}. It works."),
            ),
        }
    }

    /// A sample event for previews: a fictitious shop that has been down for
    /// four minutes. `None` for an unknown kind.
    pub fn example(kind: &str, event: EventId, notifier: &str, now: Millis) -> Option<Self> {
        const NAME: &str = "Storefront";
        let (status, previous, message) = match kind {
            DOWN => ("down", "up", "503 Service Unavailable"),
            REMINDER | ACKNOWLEDGED | ASSIGNED | ESCALATED | RESOLVED => {
                ("down", "down", "503 Service Unavailable")
            }
            COMMENTED => ("down", "down", "The provider is working on it."),
            UP => ("up", "down", "200 OK"),
            FLAPPING => ("down", "down", "4 outages in 31 min"),
            STEADY | RESTORED => ("up", "up", "200 OK"),
            DEGRADED => ("up", "up", "200 OK; slower than 500 ms"),
            CERTIFICATE => ("up", "up", "the certificate expires in 7 days"),
            DOMAIN => ("up", "up", "the registration expires in 30 days"),
            CHANGED => ("up", "up", "body has changed"),
            TEST => return Some(Self::test(event, notifier, now)),
            _ => return announcement::example(kind, event, now),
        };
        let is_health = [DEGRADED, RESTORED].contains(&kind);
        let out = (!is_health && ![CERTIFICATE, DOMAIN, CHANGED, FLAPPING, STEADY].contains(&kind))
            .then(|| Duration::from_secs(240));
        Some(Self {
            kind: kind.to_owned(),
            timestamp: now.to_string(),
            text: match kind {
                CERTIFICATE | DOMAIN | CHANGED => format!("[{NAME}] {message}"),
                FLAPPING => format!("[{NAME}] flapping: {message}"),
                STEADY => format!("[{NAME}] steady: {status}, {message}"),
                DEGRADED => format!("[{NAME}] degraded: {message}"),
                RESTORED => format!("[{NAME}] restored: {message}"),
                REMINDER => format!("[{NAME}] still down after 4 min: {message}"),
                ACKNOWLEDGED => format!("[{NAME}] acknowledged by Ann: {message}"),
                ASSIGNED => format!("[{NAME}] assigned to Ann: {message}"),
                COMMENTED => format!("[{NAME}] comment by Ann: {message}"),
                ESCALATED => format!("[{NAME}] still down after 4 min, step 2: {message}"),
                RESOLVED => format!("[{NAME}] resolved by Ann: {message}"),
                _ => format!("[{NAME}] {status}: {message}"),
            },
            data: EventData {
                alertid: Some(AlertId::new(now, [0; 10])),
                monitor: Some(EventMonitor {
                    monitorid: MonitorId::new(now, [0; 10]),
                    name: NAME.to_owned(),
                    kind: "http".to_owned(),
                    target: "https://shop.example.com/".to_owned(),
                    tags: vec!["production".to_owned(), "shop".to_owned()],
                }),
                status: Some(status.to_owned()),
                previous_status: Some(previous.to_owned()),
                load_time: Some(182.4),
                down_since: out.map(|span| now.before(span).to_string()),
                down_seconds: out.map(|span| span.as_secs()),
                severity: Some(if is_health { Severity::Warning } else { Severity::Critical }),
                reason: is_health.then_some(Reason::Slow),
                health: is_health
                    .then(|| if kind == DEGRADED { "degraded" } else { "up" }.to_owned()),
                degraded_since: is_health.then(|| now.before(Duration::from_secs(240)).to_string()),
                acknowledged_by: (kind == ACKNOWLEDGED).then(|| "Ann".to_owned()),
                assignee: (kind == ASSIGNED).then(|| "Ann".to_owned()),
                commented_by: (kind == COMMENTED).then(|| "Ann".to_owned()),
                step: (kind == ESCALATED).then_some(2),
                ..EventData::of_message(event, message.to_owned())
            },
        })
    }

    /// One event for an outage that ended before its notification was sent. It
    /// has the id of the recovery and refers to the other.
    #[must_use]
    pub fn with_outage(down: &Self, up: Self) -> Self {
        let mut combined = up;
        let since = combined.data.down_since.as_deref().unwrap_or(&down.timestamp);
        let lasted =
            combined.outage_duration().map(|span| format!(" ({span})")).unwrap_or_default();
        let (name, cause) = (combined.name(), &down.data.message);
        combined.text =
            format!("[{name}] was down from {since} to {}{lasted}: {cause}", combined.timestamp);
        combined.data.down_eventid = Some(down.data.eventid);
        combined.data.cause = Some(cause.clone());
        combined
    }

    /// The body of a webhook.
    pub fn body(&self) -> String {
        let Some(payload) = &self.data.payload else { return json(self) };
        if is_deeper_than(payload, MAX_PAYLOAD_DEPTH) {
            return json(&self.without_payload());
        }
        let whole = json(self);
        if whole.len() <= MAX_BODY_BYTES { whole } else { json(&self.without_payload()) }
    }

    /// The same event without the payload of the target.
    #[must_use]
    pub fn without_payload(&self) -> Self {
        let mut less = self.clone();
        less.data.payload = None;
        less
    }

    /// The name of what it is about: a monitor, a window or a schedule.
    pub fn name(&self) -> &str {
        let EventData { monitor, maintenance, oncall, .. } = &self.data;
        let monitor = monitor.as_ref().map(|monitor| monitor.name.as_str());
        let window = || maintenance.as_ref().map(|window| window.name.as_str());
        let schedule = || oncall.as_ref().map(|handover| handover.name.as_str());
        monitor.or_else(window).or_else(schedule).unwrap_or("Wakeful")
    }

    pub fn is(&self, kind: &str) -> bool {
        self.kind == kind
    }

    /// Whether it is an escalation step about flapping, which has no duration, unlike an outage.
    pub fn repeats_flapping(&self) -> bool {
        self.is(ESCALATED) && self.data.down_seconds.is_none()
    }

    /// How long the outage lasted, or has lasted so far, as text.
    pub fn outage_duration(&self) -> Option<String> {
        self.data.down_seconds.map(|seconds| format_duration(Duration::from_secs(seconds)))
    }
}

/// A request body is nested at most as deeply as the parser allows, so this
/// ends.
/// Whether a payload is passed on to notifications.
pub fn is_passed_on(payload: &Value) -> bool {
    !is_deeper_than(payload, MAX_PAYLOAD_DEPTH) && payload.to_string().len() <= MAX_PAYLOAD_BYTES
}

fn is_deeper_than(value: &Value, levels: usize) -> bool {
    let Some(rest) = levels.checked_sub(1) else { return value.is_array() || value.is_object() };
    match value {
        Value::Array(items) => items.iter().any(|item| is_deeper_than(item, rest)),
        Value::Object(fields) => fields.values().any(|field| is_deeper_than(field, rest)),
        _ => false,
    }
}

fn json(event: &Event) -> String {
    serde_json::to_string(event).expect("an event is plain data")
}

/// A duration in its two largest units.
pub fn format_duration(span: Duration) -> String {
    let seconds = span.as_secs();
    let units = [
        ("d", seconds / 86_400),
        ("h", seconds / 3_600 % 24),
        ("min", seconds / 60 % 60),
        ("s", seconds % 60),
    ];
    let mut parts: Vec<String> = units
        .iter()
        .skip_while(|(_, number)| *number == 0)
        .take(2)
        .filter(|(_, number)| *number > 0)
        .map(|(unit, number)| format!("{number} {unit}"))
        .collect();
    if parts.is_empty() {
        parts.push("0 s".to_owned());
    }
    parts.join(" ")
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn event(kind: &str, seconds: u64, payload: &Value) -> Event {
        let id = "01a1dd16-3e86-7039-aa0a-37292a4ffff7";
        let body = json!({"type": kind, "timestamp": "2026-11-15T09:30:00.000Z", "text": "t",
            "data": {"eventid": id, "alertid": id, "status": "down", "previous_status": "up",
                "monitor": {"monitorid": id, "name": "site", "type": "http",
                    "target": "https://example.com/", "tags": ["a"]},
                "message": "503 Service Unavailable", "load_time": 12.5,
                "down_since": "2026-11-15T09:26:00.000Z", "down_seconds": seconds,
                "payload": payload}});
        Event::parse(&body.to_string()).expect("an event")
    }

    #[test]
    fn every_type_of_event_has_a_preview() {
        for kind in TYPES {
            let id = EventId::new(Millis(1), [1; 10]);
            let example = Event::example(kind, id, "ops", Millis(1)).expect(kind);
            assert!(example.is(kind), "{kind}");
        }
    }

    #[test]
    fn a_stored_event_is_sent_unchanged() {
        let stored = event(DOWN, 0, &json!({"deploy": 7})).body();
        assert_eq!(Event::parse(&stored).expect("an event").body(), stored);
    }

    #[test]
    fn a_large_payload_does_not_prevent_delivery() {
        let body = event(DOWN, 0, &json!({"log": "x".repeat(30_000)})).body();
        assert!(body.len() < MAX_BODY_BYTES, "{}", body.len());
        assert_eq!(Event::parse(&body).expect("an event").data.payload, None);
    }

    #[test]
    fn a_large_or_deep_payload_is_not_passed_on() {
        assert!(is_passed_on(&serde_json::json!({"a": "b".repeat(8_000)})));
        assert!(!is_passed_on(&serde_json::json!({"a": "b".repeat(8_200)})));
        let deep = (0..100).fold(Value::Null, |inner, _| serde_json::json!([inner]));
        assert!(!is_passed_on(&deep));
    }

    #[test]
    fn a_deeply_nested_payload_does_not_prevent_delivery() {
        // As deep as a request body may be.
        let mut deep = json!({});
        for _ in 1..126 {
            deep = json!({"a": deep});
        }
        let mut event = event(DOWN, 0, &json!({"a": [{"b": 1}]}));
        assert!(event.body().contains(r#"{"a":[{"b":1}]}"#));
        event.data.payload = Some(deep);
        assert_eq!(Event::parse(&event.body()).expect("an event").data.payload, None);
    }

    #[test]
    fn an_outage_and_its_recovery_become_one_event() {
        let down = event(DOWN, 0, &Value::Null);
        let mut up = event(UP, 240, &Value::Null);
        up.data.message = "200 OK".to_owned();
        let combined = Event::with_outage(&down, up);
        assert_eq!(
            combined.text,
            "[site] was down from 2026-11-15T09:26:00.000Z to 2026-11-15T09:30:00.000Z (4 min): \
             503 Service Unavailable"
        );
        assert!(combined.is(UP));
        assert_eq!(combined.data.down_eventid, Some(down.data.eventid));
        assert_eq!(combined.data.cause.as_deref(), Some("503 Service Unavailable"));
        assert_eq!(combined.data.message, "200 OK");
    }

    #[test]
    fn a_duration_is_shown_in_its_two_largest_units() {
        for (seconds, parts) in [
            (0, "0 s"),
            (59, "59 s"),
            (60, "1 min"),
            (250, "4 min 10 s"),
            (3_605, "1 h"),
            (90_000, "1 d 1 h"),
            (86_400 * 9 + 61, "9 d"),
        ] {
            assert_eq!(format_duration(Duration::from_secs(seconds)), parts);
        }
    }
}
