//! What people are told of one event: the envelope that webhooks carry, which
//! mails and templates are written from too. It is written when the event is
//! recorded and read again when it is sent.

pub mod retry;

use serde::{Deserialize, Serialize};
use serde_json::Value;
use std::time::Duration;

use crate::id::{AlertId, EventId, MonitorId};
use crate::time::Millis;

/// A body that is longer is sent without what the target reported of itself:
/// receivers refuse large ones, and the news matters more.
const LONGEST: usize = 20_000;

pub const DOWN: &str = "monitor.down";
/// It is still down.
pub const REMINDER: &str = "monitor.reminder";
pub const UP: &str = "monitor.up";
pub const CERTIFICATE: &str = "monitor.certificate_expiring";
pub const TEST: &str = "notifier.test";

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Notice {
    #[serde(rename = "type")]
    pub kind: String,
    pub timestamp: String,
    /// All of it in one line.
    pub text: String,
    pub data: Data,
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Data {
    pub eventid: EventId,
    pub alertid: Option<AlertId>,
    pub monitor: Option<About>,
    pub status: Option<String>,
    pub previous_status: Option<String>,
    pub message: String,
    /// Milliseconds.
    pub load_time: Option<f64>,
    pub down_since: Option<String>,
    pub down_seconds: Option<u64>,
    pub payload: Option<Value>,
    /// The event of the outage, when this one tells of both its ends.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub down_eventid: Option<EventId>,
    /// Why it was down, when this one tells of both its ends.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cause: Option<String>,
    /// What each region saw, when several looked.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub regions: Vec<RegionWord>,
}

/// What one region saw.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct RegionWord {
    pub region: String,
    /// up, down or unknown.
    pub status: String,
    pub message: String,
}

/// The monitor as it was when the event happened.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct About {
    pub monitorid: MonitorId,
    pub name: String,
    #[serde(rename = "type")]
    pub kind: String,
    pub target: String,
    pub tags: Vec<String>,
}

impl Notice {
    pub fn parse(body: &str) -> Option<Self> {
        serde_json::from_str(body).ok()
    }

    /// Tries whether a notifier works.
    pub fn test(event: EventId, notifier: &str, now: Millis) -> Self {
        Self {
            kind: TEST.to_owned(),
            timestamp: now.to_string(),
            text: format!("[Wakeful] test of the notifier {notifier}"),
            data: Data {
                eventid: event,
                alertid: None,
                monitor: None,
                status: None,
                previous_status: None,
                message: format!("This is a test of the notifier {notifier}. It works."),
                load_time: None,
                down_since: None,
                down_seconds: None,
                payload: None,
                down_eventid: None,
                cause: None,
                regions: Vec::new(),
            },
        }
    }

    /// What is shown of a message before there is a real one: an invented shop
    /// that has been out for four minutes. Nothing for a kind that is not known.
    pub fn example(kind: &str, event: EventId, notifier: &str, now: Millis) -> Option<Self> {
        const NAME: &str = "Storefront";
        let (status, previous, message) = match kind {
            DOWN => ("down", "up", "503 Service Unavailable"),
            REMINDER => ("down", "down", "503 Service Unavailable"),
            UP => ("up", "down", "200 OK"),
            CERTIFICATE => ("up", "up", "the certificate expires in 7 days"),
            TEST => return Some(Self::test(event, notifier, now)),
            _ => return None,
        };
        let out = (kind != CERTIFICATE).then(|| Duration::from_secs(240));
        Some(Self {
            kind: kind.to_owned(),
            timestamp: now.to_string(),
            text: match kind {
                CERTIFICATE => format!("[{NAME}] {message}"),
                REMINDER => format!("[{NAME}] still down after 4 min: {message}"),
                _ => format!("[{NAME}] {status}: {message}"),
            },
            data: Data {
                eventid: event,
                alertid: Some(AlertId::new(now, [0; 10])),
                monitor: Some(About {
                    monitorid: MonitorId::new(now, [0; 10]),
                    name: NAME.to_owned(),
                    kind: "http".to_owned(),
                    target: "https://shop.example.com/".to_owned(),
                    tags: vec!["production".to_owned(), "shop".to_owned()],
                }),
                status: Some(status.to_owned()),
                previous_status: Some(previous.to_owned()),
                message: message.to_owned(),
                load_time: Some(182.4),
                down_since: out.map(|span| now.before(span).to_string()),
                down_seconds: out.map(|span| span.as_secs()),
                payload: None,
                down_eventid: None,
                cause: None,
                regions: Vec::new(),
            },
        })
    }

    /// One notice for an outage that was over before anybody could be told.
    /// It is the recovery's event, and names the other.
    #[must_use]
    pub fn was_down(down: &Self, up: Self) -> Self {
        let mut both = up;
        let since = both.data.down_since.as_deref().unwrap_or(&down.timestamp);
        let lasted = both.lasted().map(|span| format!(" ({span})")).unwrap_or_default();
        let (name, cause) = (both.name(), &down.data.message);
        both.text =
            format!("[{name}] was down from {since} to {}{lasted}: {cause}", both.timestamp);
        both.data.down_eventid = Some(down.data.eventid);
        both.data.cause = Some(cause.clone());
        both
    }

    /// The body of a webhook.
    pub fn body(&self) -> String {
        let whole = json(self);
        if whole.len() <= LONGEST || self.data.payload.is_none() {
            return whole;
        }
        json(&self.without_payload())
    }

    /// The same news without what the target reported of itself.
    #[must_use]
    pub fn without_payload(&self) -> Self {
        let mut less = self.clone();
        less.data.payload = None;
        less
    }

    /// What it is about, for people.
    pub fn name(&self) -> &str {
        self.data.monitor.as_ref().map_or("Wakeful", |about| about.name.as_str())
    }

    pub fn is(&self, kind: &str) -> bool {
        self.kind == kind
    }

    /// How long the outage lasted, or has lasted so far, in words.
    pub fn lasted(&self) -> Option<String> {
        self.data.down_seconds.map(|seconds| words(Duration::from_secs(seconds)))
    }
}

fn json(notice: &Notice) -> String {
    serde_json::to_string(notice).expect("a notice is plain data")
}

/// A span for people: the two largest units of it.
pub fn words(span: Duration) -> String {
    let seconds = span.as_secs();
    let units = [
        ("d", seconds / 86_400),
        ("h", seconds / 3_600 % 24),
        ("min", seconds / 60 % 60),
        ("s", seconds % 60),
    ];
    let mut told: Vec<String> = units
        .iter()
        .skip_while(|(_, number)| *number == 0)
        .take(2)
        .filter(|(_, number)| *number > 0)
        .map(|(unit, number)| format!("{number} {unit}"))
        .collect();
    if told.is_empty() {
        told.push("0 s".to_owned());
    }
    told.join(" ")
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn notice(kind: &str, seconds: u64, payload: &Value) -> Notice {
        let id = "01a1dd16-3e86-7039-aa0a-37292a4ffff7";
        let body = json!({"type": kind, "timestamp": "2026-11-15T09:30:00.000Z", "text": "t",
            "data": {"eventid": id, "alertid": id, "status": "down", "previous_status": "up",
                "monitor": {"monitorid": id, "name": "site", "type": "http",
                    "target": "https://example.com/", "tags": ["a"]},
                "message": "503 Service Unavailable", "load_time": 12.5,
                "down_since": "2026-11-15T09:26:00.000Z", "down_seconds": seconds,
                "payload": payload}});
        Notice::parse(&body.to_string()).expect("a notice")
    }

    #[test]
    fn what_was_stored_is_sent_unchanged() {
        let stored = notice(DOWN, 0, &json!({"deploy": 7})).body();
        assert_eq!(Notice::parse(&stored).expect("a notice").body(), stored);
    }

    #[test]
    fn a_large_payload_does_not_keep_the_news_from_arriving() {
        let body = notice(DOWN, 0, &json!({"log": "x".repeat(30_000)})).body();
        assert!(body.len() < LONGEST, "{}", body.len());
        assert_eq!(Notice::parse(&body).expect("a notice").data.payload, None);
    }

    #[test]
    fn an_outage_nobody_was_told_of_is_told_from_end_to_end() {
        let down = notice(DOWN, 0, &Value::Null);
        let mut up = notice(UP, 240, &Value::Null);
        up.data.message = "200 OK".to_owned();
        let both = Notice::was_down(&down, up);
        assert_eq!(
            both.text,
            "[site] was down from 2026-11-15T09:26:00.000Z to 2026-11-15T09:30:00.000Z (4 min): \
             503 Service Unavailable"
        );
        assert!(both.is(UP));
        assert_eq!(both.data.down_eventid, Some(down.data.eventid));
        assert_eq!(both.data.cause.as_deref(), Some("503 Service Unavailable"));
        assert_eq!(both.data.message, "200 OK");
    }

    #[test]
    fn a_span_is_told_in_its_two_largest_units() {
        for (seconds, told) in [
            (0, "0 s"),
            (59, "59 s"),
            (60, "1 min"),
            (250, "4 min 10 s"),
            (3_605, "1 h"),
            (90_000, "1 d 1 h"),
            (86_400 * 9 + 61, "9 d"),
        ] {
            assert_eq!(words(Duration::from_secs(seconds)), told);
        }
    }
}
