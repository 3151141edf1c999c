//! The emails of notifiers: one for a single event, and one for many at
//! once. Their ids derive from the events, so that an email sent twice is
//! recognized as the same one.

use serde_json::{Map, Value, json};
use wakeful_core::id::{EventId, TeamId};
use wakeful_core::notifications::event::{self, Event, EventEvidence};
use wakeful_core::notifications::notifier::{EmailSpec, Mailboxes, Subject};
use wakeful_core::one_line;
use wakeful_core::template::Escape;
use wakeful_core::time::Millis;
use wakeful_core::token::Digest;

use super::digest;
use super::renderers::Renderers;
use super::template::{self, Style, TemplateContext};
use crate::mail::Email;

const MAX_SUBJECT_LENGTH: usize = 200;

/// The addresses of an email, and the template of its subject if it has its own.
#[derive(Clone, Debug, Default)]
pub struct Envelope {
    pub from: String,
    pub to: Vec<String>,
    pub cc: Vec<String>,
    pub bcc: Vec<String>,
    pub subject: Subject,
}

impl From<&EmailSpec> for Envelope {
    fn from(spec: &EmailSpec) -> Self {
        let all = |boxes: &Mailboxes| boxes.iter().map(ToString::to_string).collect();
        Self {
            from: spec.from_email.to_string(),
            to: all(&spec.to_email),
            cc: all(&spec.to_cc),
            bcc: all(&spec.to_bcc),
            subject: spec.subject.clone(),
        }
    }
}

impl Envelope {
    /// An email without content.
    fn email(self, date: Millis) -> Email {
        let Self { from, to, cc, bcc, subject: _ } = self;
        Email { date, from, to, cc, bcc, ..Email::default() }
    }
}

/// The email about one event. `in_reply_to` is the event of an earlier email,
/// so that mail programs show them as one thread.
pub async fn event_email(
    renderers: &Renderers,
    team: TeamId,
    envelope: impl Into<Envelope>,
    event: &Event,
    link: &str,
    in_reply_to: Option<EventId>,
    date: Millis,
) -> Email {
    let envelope = envelope.into();
    let subject = match envelope.subject.template() {
        None => subject(&envelope.subject, event, link),
        // Rendered on another thread: it may take a while, and others wait on
        // this one.
        Some(_) => {
            let (own, monitor, link) = (envelope.subject.clone(), event.clone(), link.to_owned());
            let rendering = renderers.render(team, move || subject(&own, &monitor, &link));
            rendering.await.unwrap_or_else(|| one_line(&default_subject(event)))
        }
    };
    let (text, html) = render(event, link);
    Email {
        id: event.data.eventid.to_string(),
        in_reply_to: in_reply_to.map(|event| event.to_string()),
        subject,
        text,
        html: Some(html),
        ..envelope.email(date)
    }
}

/// The content of the email about an event, as text and as HTML.
pub(super) fn render(event: &Event, link: &str) -> (String, String) {
    let mut fields = Map::new();
    fields.insert("title".into(), json!(template::title(event)));
    fields.insert("word".into(), json!(status_label(event)));
    fields.insert("message".into(), json!(cause_or_message(event)));
    fields.insert("color".into(), json!(format!("#{:06x}", Style::of(event).color)));
    fields.insert("rows".into(), Value::Array(rows(event)));
    fields.insert("link".into(), json!(link));
    fields.insert("acknowledge".into(), json!(event.data.action_page));
    let text = template::render_page(include_str!("templates/mail.txt"), &fields, Escape::Nothing);
    (text, template::render_page(include_str!("templates/mail.html"), &fields, Escape::Html))
}

/// One email that lists all events.
pub fn digest(envelope: impl Into<Envelope>, events: &[Event], link: &str, date: Millis) -> Email {
    let title = digest::title(events);
    let mut fields = Map::new();
    fields.insert("title".into(), json!(title));
    // The color of the most severe event.
    let worst = events.iter().find(|event| digest::is_down(event));
    let style = worst.or(events.first()).map_or(0, |event| Style::of(event).color);
    fields.insert("color".into(), json!(format!("#{style:06x}")));
    fields.insert("lines".into(), events.iter().map(line).collect());
    fields.insert("link".into(), json!(link));
    let events: Vec<String> = events.iter().map(|event| event.data.eventid.to_string()).collect();
    let Digest(hash) = Digest::of(&events.join(" "));
    Email {
        id: format!("digest-{}", data_encoding::HEXLOWER.encode(&hash[..16])),
        subject: format!("[Wakeful] {title}"),
        text: template::render_page(include_str!("templates/digest.txt"), &fields, Escape::Nothing),
        html: Some(template::render_page(
            include_str!("templates/digest.html"),
            &fields,
            Escape::Html,
        )),
        ..envelope.into().email(date)
    }
}

/// The user's own subject; ours when there is none or it renders to nothing.
pub(super) fn subject(own: &Subject, event: &Event, link: &str) -> String {
    let own = own.template().and_then(|template| {
        let rendered = template::render(template, &TemplateContext::of(event, link, None));
        rendered
            .inspect_err(|why| {
                let id = event.data.eventid;
                tracing::warn!(event.id = %id, "rendering the subject for event {id} failed, using the standard one: {why}");
            })
            .ok()
    });
    let own = own.map(|text| one_line(&text)).filter(|text| !text.is_empty());
    own.unwrap_or_else(|| one_line(&default_subject(event)))
}

fn default_subject(event: &Event) -> String {
    let name = event.name();
    let lasted = event.outage_duration().unwrap_or_default();
    match event.kind.as_str() {
        event::DOWN => format!("[Down] {name}: {}", event.data.message),
        event::ESCALATED if event.repeats_flapping() => {
            format!("[Flapping] {}", template::title(event))
        }
        event::REMINDER | event::ESCALATED => {
            format!("[Down] {name} is still down after {lasted}")
        }
        event::UP if event.data.down_eventid.is_some() => {
            format!("[Up] {name} was down for {lasted}")
        }
        event::UP => format!("[Up] {name} is up again after {lasted}"),
        event::FLAPPING => format!("[Flapping] {name}: {}", event.data.message),
        event::STEADY => format!("[Steady] {}", template::title(event)),
        event::DEGRADED => format!("[Degraded] {name}: {}", event.data.message),
        event::RESTORED => format!("[Restored] {}", template::title(event)),
        event::CHANGED => format!("[Changed] {name}: {}", event.data.message),
        event::CERTIFICATE => format!("[Certificate] {name}: {}", event.data.message),
        event::DOMAIN => format!("[Domain] {name}: {}", event.data.message),
        event::ACKNOWLEDGED => format!("[Acknowledged] {}", template::title(event)),
        event::ASSIGNED => format!("[Assigned] {}", template::title(event)),
        event::COMMENTED => format!("[Comment] {}", template::title(event)),
        event::RESOLVED => format!("[Resolved] {}", template::title(event)),
        event::MAINTENANCE_SCHEDULED | event::MAINTENANCE_STARTED | event::MAINTENANCE_ENDED => {
            format!("[Maintenance] {name}: {}", event.data.message)
        }
        event::HANDOVER => format!("[On call] {name}: {}", event.data.message),
        _ => event.text.clone(),
    }
}

fn one_line(text: &str) -> String {
    let line = one_line::one_line(text, usize::MAX);
    let text = line.split_whitespace().collect::<Vec<_>>().join(" ");
    if text.chars().count() > MAX_SUBJECT_LENGTH {
        text.chars().take(MAX_SUBJECT_LENGTH - 1).chain(['…']).collect()
    } else {
        text
    }
}

/// The cause, as the check reported it.
fn cause_or_message(event: &Event) -> &str {
    event.data.cause.as_deref().unwrap_or(&event.data.message)
}

fn rows(event: &Event) -> Vec<Value> {
    let data = &event.data;
    let monitor = data.monitor.as_ref();
    let up = event.is(event::UP);
    let since = data.down_since.as_deref().map(time);
    let tags = monitor.map(|monitor| monitor.tags.join(", ")).unwrap_or_default();
    let target = monitor.map(|monitor| monitor.target.clone()).unwrap_or_default();
    let window = data.maintenance.as_ref();
    let handover = data.oncall.as_ref();
    let covered = window.and(data.affected.as_ref()).map(|affected| affected.names.join(", "));
    let rows = [
        ("Maintenance", window.map(|window| window.name.clone()).unwrap_or_default()),
        ("Description", window.map(|window| window.description.clone()).unwrap_or_default()),
        ("Starts", window.map(|window| time(&window.starts)).unwrap_or_default()),
        ("Ends", window.and_then(|window| Some(time(window.ends.as_deref()?))).unwrap_or_default()),
        ("Monitors", covered.unwrap_or_default()),
        ("Schedule", handover.map(|handover| handover.name.clone()).unwrap_or_default()),
        ("Monitor", monitor.map(|monitor| monitor.name.clone()).unwrap_or_default()),
        ("Target", target),
        ("Tags", tags),
        ("Down since", since.filter(|_| !up).unwrap_or_default()),
        ("Was down from", data.down_since.as_deref().filter(|_| up).map(time).unwrap_or_default()),
        ("Until", if up { time(&event.timestamp) } else { String::new() }),
        ("Lasted", event.outage_duration().filter(|_| up).unwrap_or_default()),
        ("Last response", data.cause.as_ref().map(|_| data.message.clone()).unwrap_or_default()),
        ("Time", if up { String::new() } else { time(&event.timestamp) }),
        ("What the check saw", data.evidence.as_ref().map(seen).unwrap_or_default()),
        ("Response time", data.load_time.map(|ms| format!("{ms} ms")).unwrap_or_default()),
    ];
    rows.into_iter()
        .filter(|(_, value)| !value.is_empty())
        .map(|(label, value)| json!({"label": label, "value": value}))
        .collect()
}

/// The code, the address and the beginning of the response.
fn seen(evidence: &EventEvidence) -> String {
    let code = evidence.status_code.map(|code| format!("status {code}"));
    let address = evidence.address.as_ref().map(|address| format!("from {address}"));
    let head: Vec<String> = code.into_iter().chain(address).collect();
    match (&evidence.excerpt, head.is_empty()) {
        (Some(excerpt), false) => format!("{}: {excerpt}", head.join(" ")),
        (Some(excerpt), true) => excerpt.clone(),
        (None, _) => head.join(" "),
    }
}

/// The status in a word or two.
fn status_label(event: &Event) -> &'static str {
    match event.kind.as_str() {
        event::DOWN => "Down",
        event::ESCALATED if event.repeats_flapping() => "Still flapping",
        event::REMINDER | event::ESCALATED => "Still down",
        event::UP => "Up",
        event::FLAPPING => "Flapping",
        event::STEADY => "Steady",
        event::DEGRADED => "Degraded",
        event::RESTORED => "Restored",
        event::CHANGED => "Changed",
        event::CERTIFICATE => "Certificate",
        event::DOMAIN => "Domain",
        event::ACKNOWLEDGED => "Acknowledged",
        event::ASSIGNED => "Assigned",
        event::COMMENTED => "Comment",
        event::RESOLVED => "Resolved",
        event::MAINTENANCE_SCHEDULED => "Planned maintenance",
        event::MAINTENANCE_STARTED => "Maintenance started",
        event::MAINTENANCE_ENDED => "Maintenance ended",
        event::HANDOVER => "On call",
        _ => "Test",
    }
}

fn line(event: &Event) -> Value {
    let word = match event.kind.as_str() {
        event::ESCALATED if event.repeats_flapping() => "FLAP",
        event::DOWN | event::REMINDER | event::ESCALATED => "DOWN",
        event::UP => "UP  ",
        event::FLAPPING => "FLAP",
        event::DEGRADED => "SLOW",
        event::RESTORED => "OK  ",
        event::CHANGED => "NEW ",
        event::CERTIFICATE => "CERT",
        event::DOMAIN => "REG ",
        event::MAINTENANCE_SCHEDULED | event::MAINTENANCE_STARTED | event::MAINTENANCE_ENDED => {
            "WORK"
        }
        event::HANDOVER => "CALL",
        _ => "    ",
    };
    let message: String = cause_or_message(event).chars().take(200).collect();
    let message = match (event.kind.as_str(), event.outage_duration()) {
        (event::UP, Some(lasted)) => format!("{message}, was down for {lasted}"),
        (event::REMINDER | event::ESCALATED, Some(lasted)) => {
            format!("{message}, still down after {lasted}")
        }
        _ => message,
    };
    json!({
        "word": word,
        "name": event.name(),
        "message": message,
        "time": time(&event.timestamp),
        "color": format!("#{:06x}", Style::of(event).color),
    })
}

/// `2026-11-15 09:30:00 UTC` for `2026-11-15T09:30:00.123Z`.
fn time(text: &str) -> String {
    let seconds = text.split_once('.').map_or(text, |(seconds, _)| seconds);
    format!("{} UTC", seconds.trim_end_matches('Z').replace('T', " "))
}
