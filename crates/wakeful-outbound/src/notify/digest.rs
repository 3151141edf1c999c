//! One message about many events, for people: what it says.

use wakeful_core::id::{AlertId, EventId};
use wakeful_core::notifications::event::{self, Event, EventData};
use wakeful_core::one_line::one_line;
use wakeful_core::time::Millis;

use super::scene::shorten;
use super::template::{self, Style};

/// The events that are named; the others are counted.
const MAX_LINES: usize = 25;
/// All lines together fit into a message of most services.
const MAX_LINE: usize = 110;

/// How many there are, by what has happened: `40 changes: 38 down, 2 up`.
pub fn title(events: &[Event]) -> String {
    let count = |kind| events.iter().filter(|event| event.is(kind)).count();
    let flapping = events.iter().filter(|event| event.repeats_flapping()).count();
    let still = count(event::REMINDER) + count(event::ESCALATED) - flapping;
    let (down, up) = (count(event::DOWN), count(event::UP));
    let others = events.len() - down - still - up;
    let parts: Vec<String> = [(down, "down"), (still, "still down"), (up, "up"), (others, "other")]
        .iter()
        .filter(|(number, _)| *number > 0)
        .map(|(number, word)| format!("{number} {word}"))
        .collect();
    let changes = if events.len() == 1 { "change" } else { "changes" };
    format!("{} {changes}: {}", events.len(), parts.join(", "))
}

/// The events as one, which a service shows like any other. Its id identifies the message.
pub fn event(id: EventId, events: &[Event], now: Millis) -> Event {
    let outages = events.iter().filter(|event| is_down(event) || is_warning(event));
    let severity = outages.filter_map(|event| event.data.severity).max();
    Event {
        kind: event::DIGEST.to_owned(),
        timestamp: now.to_string(),
        text: title(events),
        data: EventData {
            status: status(events).map(str::to_owned),
            severity,
            attended: attended(events),
            ..EventData::of_message(id, lines(events))
        },
    }
}

/// The last alerts that are over, or that somebody has.
fn attended(events: &[Event]) -> Vec<AlertId> {
    const CALMING: [&str; 5] =
        [event::UP, event::STEADY, event::RESTORED, event::RESOLVED, event::ACKNOWLEDGED];
    let calming = events.iter().rev().filter(|event| CALMING.iter().any(|kind| event.is(kind)));
    calming.filter_map(|event| event.data.alertid).take(MAX_LINES).collect()
}

/// The worst that has happened.
fn status(events: &[Event]) -> Option<&'static str> {
    let ends = [event::UP, event::STEADY, event::RESTORED];
    let is_over = |event: &Event| ends.iter().any(|kind| event.is(kind));
    if events.iter().any(is_down) {
        Some("down")
    } else if events.iter().any(is_warning) {
        Some("warning")
    } else {
        events.iter().all(is_over).then_some("up")
    }
}

/// Whether an event says that a monitor is down.
pub fn is_down(event: &Event) -> bool {
    [event::DOWN, event::REMINDER, event::ESCALATED].contains(&event.kind.as_str())
        && !event.repeats_flapping()
}

fn is_warning(event: &Event) -> bool {
    [event::CERTIFICATE, event::DOMAIN, event::FLAPPING, event::DEGRADED, event::CHANGED]
        .contains(&event.kind.as_str())
        || event.repeats_flapping()
}

fn lines(events: &[Event]) -> String {
    let named = events.iter().take(MAX_LINES).map(line);
    let others = events.len().saturating_sub(MAX_LINES);
    let others = (others > 0).then(|| format!("… and {others} more"));
    named.chain(others).collect::<Vec<_>>().join("\n")
}

fn line(event: &Event) -> String {
    let title = template::title(event);
    let cause = event.data.cause.as_deref().unwrap_or(&event.data.message);
    let text = match event.kind.as_str() {
        event::UP if event.data.down_eventid.is_none() => title,
        _ if cause.is_empty() => title,
        _ => format!("{title}: {cause}"),
    };
    let emoji = Style::of(event).emoji;
    format!("{emoji} {}", shorten(&one_line(&text, usize::MAX), MAX_LINE))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn example(kind: &str, number: u8) -> Event {
        let id = EventId::new(Millis(1), [number; 10]);
        let mut event = Event::example(kind, id, "ops", Millis(1)).expect(kind);
        event.data.monitor.as_mut().expect("a monitor").name = format!("site {number}");
        event
    }

    fn of(events: &[Event]) -> Event {
        event(EventId::new(Millis(1), [9; 10]), events, Millis(1))
    }

    #[test]
    fn the_first_events_are_named_and_all_are_counted() {
        let mut events: Vec<Event> = (1..=38).map(|number| example(event::DOWN, number)).collect();
        events.extend([39, 40].map(|number| example(event::UP, number)));
        let digest = of(&events);
        assert_eq!(digest.text, "40 changes: 38 down, 2 up");
        let lines: Vec<&str> = digest.data.message.lines().collect();
        assert_eq!(lines.len(), MAX_LINES + 1);
        assert_eq!(lines[0], "🔴 site 1 is down: 503 Service Unavailable");
        assert_eq!(lines[MAX_LINES], "… and 15 more");
    }

    #[test]
    fn a_long_text_takes_one_line() {
        let mut long = example(event::DOWN, 1);
        long.data.message = "x\n".repeat(5_000);
        let digest = of(&[long.clone(), long]);
        assert_eq!(digest.data.message.lines().count(), 2);
        assert!(digest.data.message.chars().count() < 2 * (MAX_LINE + 3));
    }

    #[test]
    fn the_worst_event_decides_how_it_looks() {
        let status = |kinds: &[&str]| {
            let events: Vec<Event> = kinds.iter().map(|kind| example(kind, 1)).collect();
            of(&events).data.status
        };
        for (kinds, expected) in [
            (&[event::UP, event::DOWN, event::CERTIFICATE][..], Some("down")),
            (&[event::UP, event::ESCALATED], Some("down")),
            (&[event::UP, event::FLAPPING], Some("warning")),
            (&[event::UP, event::STEADY], Some("up")),
            (&[event::UP, event::DEGRADED], Some("warning")),
            (&[event::RESTORED], Some("up")),
            (&[event::UP, event::ACKNOWLEDGED], None),
        ] {
            assert_eq!(status(kinds).as_deref(), expected, "{kinds:?}");
        }
        let mut flapping = example(event::ESCALATED, 1);
        flapping.data.down_seconds = None;
        let flapping = of(&[flapping]);
        assert_eq!(flapping.data.status.as_deref(), Some("warning"));
        assert_eq!(flapping.text, "1 change: 1 other");
        assert_eq!(flapping.data.message, "⚠️ site 1 is still flapping: 503 Service Unavailable");
        let only = of(&[example(event::UP, 1)]);
        assert_eq!((only.text.as_str(), only.data.severity), ("1 change: 1 up", None));
    }
}
