//! Announcements: the events about maintenance windows and on-call schedules themselves. Their ids
//! are derived from what they announce, so that one that is written twice is sent once.

use std::time::Duration;
use uuid::Uuid;

use super::event::{
    self, Event, EventAffected, EventData, EventHandover, EventMaintenance, EventPerson,
    format_duration,
};
use super::message_rules::MessageRules;
use crate::calendar::Span;
use crate::calendar::zone::Zone;
use crate::id::{EventId, MaintenanceId, ScheduleId};
use crate::maintenance::{DueAnnouncement, Window, WindowMoment};
use crate::oncall::OnCallSchedule;
use crate::severity::Severity;
use crate::time::Millis;
use crate::token::Digest;

/// An event that is ready to be sent.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Announcement {
    pub event: EventId,
    pub kind: &'static str,
    /// JSON.
    pub body: String,
    /// The window or schedule: its announcements to a notifier are sent in order.
    pub line: Uuid,
    /// From then on it says nothing useful.
    pub expires: Option<Millis>,
}

impl Announcement {
    fn of(event: &Event, kind: &'static str, line: Uuid, expires: Option<Millis>) -> Self {
        Self { event: event.data.eventid, kind, body: event.body(), line, expires }
    }

    /// When it is sent to a notifier with these rules; `None`: never. Those who choose where to
    /// announce name the notifier, so that its least urgent severity does not matter; quiet hours
    /// do.
    pub fn first_try(&self, rules: &MessageRules, now: Millis) -> Option<Millis> {
        let at = rules.later_try(self.kind, Severity::Info, now)?;
        Some(at).filter(|at| self.expires.is_none_or(|expires| *at < expires))
    }
}

/// Announces an occurrence of a window that covers these monitors.
pub fn of_window(
    window: &Window,
    due: &DueAnnouncement,
    affected: EventAffected,
    now: Millis,
) -> Announcement {
    let DueAnnouncement { span, moment } = *due;
    let (kind, distinct, expires) = match moment {
        WindowMoment::Before(seconds) => {
            (event::MAINTENANCE_SCHEDULED, u64::from(seconds), Some(span.from))
        }
        WindowMoment::Started => (event::MAINTENANCE_STARTED, 0, None),
        WindowMoment::Ended => (event::MAINTENANCE_ENDED, 0, None),
    };
    let what = format!("{} {} {kind} {distinct}", window.id, span.from.0);
    let described = EventMaintenance {
        maintenanceid: window.id,
        name: window.name.clone(),
        description: window.description.clone(),
        starts: span.from.to_string(),
        ends: span.end().map(|end| end.to_string()),
    };
    let message = describe(span, window.schedule.zone(), moment, affected.count);
    let event =
        maintenance_event(event_id(&what, span.from), kind, described, affected, message, now);
    Announcement::of(&event, kind, window.id.uuid(), expires)
}

/// Who was on call in a schedule, who is, and until when.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ScheduleHandover {
    pub previous: Option<EventPerson>,
    pub next: Option<EventPerson>,
    pub until: Option<Millis>,
}

/// Announces a handover in a schedule.
pub fn of_handover(
    schedule: &OnCallSchedule,
    handover: ScheduleHandover,
    now: Millis,
) -> Announcement {
    let ScheduleHandover { previous, next, until } = handover;
    let id_of = |person: &Option<EventPerson>| person.as_ref().map(|one| one.userid.to_string());
    let (left, came) = (id_of(&previous), id_of(&next));
    let what = format!("{} {} {left:?} {came:?}", schedule.id, now.0);
    let described = EventHandover {
        scheduleid: schedule.id,
        name: schedule.name.clone(),
        previous,
        next,
        until: until.map(|until| until.to_string()),
    };
    let end = until.map(|until| format!(" until {}", schedule.zone.describe(until)));
    let event = handover_event(event_id(&what, now), described, &end.unwrap_or_default(), now);
    Announcement::of(&event, event::HANDOVER, schedule.id.uuid(), None)
}

/// A sample announcement for previews; `None` for another type of event.
pub(super) fn example(kind: &str, event: EventId, now: Millis) -> Option<Event> {
    let hour = Duration::from_secs(3_600);
    let (from, moment) = match kind {
        event::MAINTENANCE_SCHEDULED => (now.after(hour), WindowMoment::Before(3_600)),
        event::MAINTENANCE_STARTED => (now, WindowMoment::Started),
        event::MAINTENANCE_ENDED => (now.before(hour), WindowMoment::Ended),
        event::HANDOVER => {
            let person = |name: &str| EventPerson {
                userid: crate::id::UserId::new(now, [0; 10]),
                name: name.to_owned(),
            };
            let described = EventHandover {
                scheduleid: ScheduleId::new(now, [0; 10]),
                name: "Operations".to_owned(),
                previous: Some(person("Ann")),
                next: Some(person("Bob")),
                until: Some(now.after(7 * 24 * hour).to_string()),
            };
            let end = format!(" until {}", Zone::utc().describe(now.after(7 * 24 * hour)));
            return Some(handover_event(event, described, &end, now));
        }
        _ => return None,
    };
    let span = Span { from, to: from.after(hour) };
    let affected = EventAffected { count: 1, names: vec!["Storefront".to_owned()] };
    let described = EventMaintenance {
        maintenanceid: MaintenanceId::new(now, [0; 10]),
        name: "Database upgrade".to_owned(),
        description: String::new(),
        starts: span.from.to_string(),
        ends: span.end().map(|end| end.to_string()),
    };
    let kind = event::TYPES.iter().copied().find(|known| *known == kind)?;
    let message = describe(span, &Zone::utc(), moment, affected.count);
    Some(maintenance_event(event, kind, described, affected, message, now))
}

fn maintenance_event(
    id: EventId,
    kind: &'static str,
    window: EventMaintenance,
    affected: EventAffected,
    message: String,
    now: Millis,
) -> Event {
    Event {
        kind: kind.to_owned(),
        timestamp: now.to_string(),
        text: format!("[{}] {message}", window.name),
        data: EventData {
            affected: Some(affected),
            maintenance: Some(window),
            ..EventData::of_message(id, message)
        },
    }
}

fn handover_event(id: EventId, handover: EventHandover, until: &str, now: Millis) -> Event {
    let message = match (&handover.next, &handover.previous) {
        (Some(next), Some(previous)) => {
            format!("{} is on call{until}, after {}", next.name, previous.name)
        }
        (Some(next), None) => format!("{} is on call{until}", next.name),
        (None, _) => format!("nobody is on call{until}"),
    };
    Event {
        kind: event::HANDOVER.to_owned(),
        timestamp: now.to_string(),
        text: format!("[{}] {message}", handover.name),
        data: EventData { oncall: Some(handover), ..EventData::of_message(id, message) },
    }
}

/// An occurrence in a sentence.
fn describe(span: Span, zone: &Zone, moment: WindowMoment, monitors: usize) -> String {
    let covered = match monitors {
        0 => "it covers no monitor".to_owned(),
        1 => "it covers 1 monitor".to_owned(),
        count => format!("it covers {count} monitors"),
    };
    let lasts = match span.end() {
        Some(end) => format!("lasts {}", format_duration(end.since(span.from))),
        None => "lasts until it is ended".to_owned(),
    };
    match moment {
        WindowMoment::Before(_) => {
            let start = zone.describe(span.from);
            format!("maintenance starts at {start} and {lasts}; {covered}")
        }
        WindowMoment::Started => {
            let until = span.end().map_or_else(
                || "until it is ended".to_owned(),
                |end| format!("until {}", zone.describe(end)),
            );
            format!("maintenance has started and lasts {until}; {covered}")
        }
        WindowMoment::Ended => {
            let start = zone.describe(span.from);
            format!("maintenance has ended, which started at {start}")
        }
    }
}

fn event_id(what: &str, at: Millis) -> EventId {
    let Digest(hash) = Digest::of(&format!("announcement {what}"));
    let mut random = [0; 10];
    random.copy_from_slice(&hash[..10]);
    EventId::new(at, random)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at(text: &str) -> Millis {
        Millis::parse(text).expect("a time")
    }

    #[test]
    fn an_occurrence_is_described_in_its_own_time_zone() {
        let zone = Zone::parse("Europe/Berlin").expect("a zone");
        let span = Span { from: at("2026-11-18T01:30:00Z"), to: at("2026-11-18T03:00:00Z") };
        let text = |moment, monitors| describe(span, &zone, moment, monitors);
        assert_eq!(
            text(WindowMoment::Before(900), 3),
            "maintenance starts at 2026-11-18 02:30 (Europe/Berlin) and lasts 1 h 30 min; \
             it covers 3 monitors"
        );
        assert_eq!(
            text(WindowMoment::Started, 1),
            "maintenance has started and lasts until 2026-11-18 04:00 (Europe/Berlin); \
             it covers 1 monitor"
        );
        assert_eq!(
            text(WindowMoment::Ended, 0),
            "maintenance has ended, which started at 2026-11-18 02:30 (Europe/Berlin)"
        );
    }

    #[test]
    fn quiet_hours_delay_an_announcement_unless_it_says_nothing_by_then() {
        let night = r#"{"time_zone":"UTC","hours":[{"from":"22:00","to":"06:00"}],
            "except":"critical","then":"hold"}"#;
        let rules = MessageRules::stored(None, "critical", Some(night));
        let morning = Some(at("2026-11-18T06:00:00Z"));
        let announcement = |expires| Announcement {
            event: EventId::new(Millis(1), [0; 10]),
            kind: event::MAINTENANCE_SCHEDULED,
            body: "{}".to_owned(),
            line: Uuid::nil(),
            expires,
        };
        let first = |expires| announcement(expires).first_try(&rules, at("2026-11-18T01:00:00Z"));
        assert_eq!(first(None), morning);
        assert_eq!(first(Some(at("2026-11-18T07:00:00Z"))), morning);
        assert_eq!(first(Some(at("2026-11-18T01:30:00Z"))), None);
        let others = MessageRules::stored(Some(r#"["monitor.down"]"#), "info", None);
        assert_eq!(announcement(None).first_try(&others, Millis(1)), None);
    }
}
