//! Which of the waiting messages of a subscriber are sent next. An inbox gets at most one email
//! every five minutes, with all that was posted meanwhile; a webhook gets the messages one by
//! one, in the order of each incident.

use std::time::Duration;

use super::subscriber::SubscriberKind;
use crate::id::{EventId, IncidentId};
use crate::time::Millis;

/// The shortest time between two emails to an inbox.
pub const EMAIL_INTERVAL: Duration = Duration::from_secs(300);

/// A message that waits for a subscriber. They are sorted: those of an incident are in their
/// order.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct WaitingMessage {
    pub event: EventId,
    pub incident: IncidentId,
    pub next_try: Millis,
    /// The first event of the email that it was sent with before.
    pub sent_with: Option<EventId>,
}

/// What to do with the waiting messages of a subscriber.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Plan {
    /// They are sent as one.
    Send(Vec<EventId>),
    /// These wait until then.
    Wait(Vec<EventId>, Millis),
    Nothing,
}

pub fn plan(
    kind: SubscriberKind,
    waiting: &[WaitingMessage],
    last_delivery: Option<Millis>,
    now: Millis,
) -> Plan {
    match kind {
        SubscriberKind::Email => plan_email(waiting, last_delivery, now),
        _ => plan_single(waiting, now),
    }
}

fn plan_email(waiting: &[WaitingMessage], last_delivery: Option<Millis>, now: Millis) -> Plan {
    // An email that was tried is repeated as it was, so that it is recognized as the same one.
    if let Some(email) = waiting.iter().find_map(|one| one.sent_with) {
        let (tried, others): (Vec<&WaitingMessage>, Vec<&WaitingMessage>) =
            waiting.iter().partition(|one| one.sent_with == Some(email));
        let next_try = tried.iter().map(|one| one.next_try).max().unwrap_or(now);
        if next_try <= now {
            return Plan::Send(events(tried));
        }
        return wait(others, next_try, now);
    }
    let earliest = last_delivery.map_or(now, |last| last.after(EMAIL_INTERVAL));
    // A delivery in the future is that of a clock that was set back.
    let is_recent = earliest > now && last_delivery.is_some_and(|last| last <= now);
    if is_recent {
        return wait(waiting, earliest, now);
    }
    if waiting.is_empty() { Plan::Nothing } else { Plan::Send(events(waiting)) }
}

fn plan_single(waiting: &[WaitingMessage], now: Millis) -> Plan {
    let mut first_of: Vec<&WaitingMessage> = Vec::new();
    let mut blocked = Plan::Nothing;
    for one in waiting {
        match first_of.iter().find(|first| first.incident == one.incident) {
            None if one.next_try <= now => return Plan::Send(vec![one.event]),
            None => first_of.push(one),
            Some(first) if one.next_try <= now && blocked == Plan::Nothing => {
                blocked = Plan::Wait(vec![one.event], first.next_try);
            }
            Some(_) => {}
        }
    }
    blocked
}

/// Those that are due wait.
fn wait<'a>(
    messages: impl IntoIterator<Item = &'a WaitingMessage>,
    until: Millis,
    now: Millis,
) -> Plan {
    let due = events(messages.into_iter().filter(|one| one.next_try <= now));
    if due.is_empty() { Plan::Nothing } else { Plan::Wait(due, until) }
}

fn events<'a>(messages: impl IntoIterator<Item = &'a WaitingMessage>) -> Vec<EventId> {
    messages.into_iter().map(|one| one.event).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    const NOW: Millis = Millis(10_000_000);

    fn event(number: u8) -> EventId {
        EventId::new(Millis(0), [number; 10])
    }

    fn message(number: u8, incident: u8, next_try: i64, sent_with: Option<u8>) -> WaitingMessage {
        WaitingMessage {
            event: event(number),
            incident: IncidentId::new(Millis(0), [incident; 10]),
            next_try: Millis(next_try),
            sent_with: sent_with.map(event),
        }
    }

    #[test]
    fn an_inbox_gets_one_email_in_five_minutes() {
        let email = |waiting: &[WaitingMessage], last: Option<i64>| {
            plan(SubscriberKind::Email, waiting, last.map(Millis), NOW)
        };
        let two = [message(1, 1, NOW.0, None), message(2, 2, NOW.0, None)];
        assert_eq!(email(&[], None), Plan::Nothing);
        assert_eq!(email(&two, None), Plan::Send(vec![event(1), event(2)]));
        let last = NOW.0 - 60_000;
        assert_eq!(
            email(&two, Some(last)),
            Plan::Wait(vec![event(1), event(2)], Millis(last + 300_000))
        );
        assert_eq!(email(&two, Some(NOW.0 - 300_000)), Plan::Send(vec![event(1), event(2)]));
        // Set back.
        assert_eq!(email(&two, Some(NOW.0 + 1)), Plan::Send(vec![event(1), event(2)]));
        // One that was tried is repeated without the new ones, also soon after a delivery.
        let tried = [message(1, 1, NOW.0, Some(1)), message(2, 1, NOW.0, None)];
        assert_eq!(email(&tried, Some(last)), Plan::Send(vec![event(1)]));
        let later = [message(1, 1, NOW.0 + 5, Some(1)), message(2, 1, NOW.0, None)];
        assert_eq!(email(&later, None), Plan::Wait(vec![event(2)], Millis(NOW.0 + 5)));
    }

    #[test]
    fn a_webhook_gets_the_messages_of_an_incident_in_order() {
        let hook = |waiting: &[WaitingMessage]| plan(SubscriberKind::Webhook, waiting, None, NOW);
        let (due, later) = (NOW.0, NOW.0 + 5);
        assert_eq!(
            hook(&[message(1, 1, due, None), message(2, 1, due, None)]),
            Plan::Send(vec![event(1)])
        );
        // A failing one holds back its incident only.
        assert_eq!(
            hook(&[message(1, 1, later, None), message(2, 1, due, None), message(3, 2, due, None)]),
            Plan::Send(vec![event(3)])
        );
        assert_eq!(
            hook(&[message(1, 1, later, None), message(2, 1, due, None)]),
            Plan::Wait(vec![event(2)], Millis(later))
        );
    }
}
