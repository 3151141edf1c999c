//! The letters of email notifiers: one for a notice, and one for many that
//! come at once. Their ids follow from the events they tell of, so that a
//! letter sent twice is the same letter to whoever reads it.

use serde_json::{Map, Value, json};
use wakeful_core::id::EventId;
use wakeful_core::notice::{self, Notice};
use wakeful_core::notifier::{EmailSpec, Subject};
use wakeful_core::template::Escape;
use wakeful_core::time::Millis;
use wakeful_core::token::Digest;

use super::template::{self, Scene, Tone};
use crate::mail::Letter;

const LONGEST_SUBJECT: usize = 200;

/// The letter about one notice. `answers` is the event of an earlier letter,
/// beneath which mail programs put this one.
pub async fn letter(
    spec: &EmailSpec,
    notice: &Notice,
    link: &str,
    answers: Option<EventId>,
    date: Millis,
) -> Letter {
    let subject = match spec.subject.template() {
        None => subject(&spec.subject, notice, link),
        // Rendered aside: that may take a while, and others wait on this thread.
        Some(_) => {
            let (own, about, link) = (spec.subject.clone(), notice.clone(), link.to_owned());
            let rendering = tokio::task::spawn_blocking(move || subject(&own, &about, &link));
            rendering.await.unwrap_or_else(|_| one_line(&usual_subject(notice)))
        }
    };
    let (text, html) = pages(notice, link);
    Letter {
        id: notice.data.eventid.to_string(),
        answers: answers.map(|event| event.to_string()),
        subject,
        text,
        html: Some(html),
        ..envelope(spec, date)
    }
}

/// What the letter about a notice says, as text and as HTML.
pub(super) fn pages(notice: &Notice, link: &str) -> (String, String) {
    let mut fields = Map::new();
    fields.insert("title".into(), json!(template::title(notice)));
    fields.insert("word".into(), json!(word(notice)));
    fields.insert("message".into(), json!(told(notice)));
    fields.insert("color".into(), json!(format!("#{:06x}", Tone::of(notice).color)));
    fields.insert("rows".into(), Value::Array(rows(notice)));
    fields.insert("link".into(), json!(link));
    let text = template::page(include_str!("templates/mail.txt"), &fields, Escape::Nothing);
    (text, template::page(include_str!("templates/mail.html"), &fields, Escape::Html))
}

/// One letter that names everything that happened.
pub fn digest(spec: &EmailSpec, notices: &[Notice], link: &str, date: Millis) -> Letter {
    let count = |kind| notices.iter().filter(|notice| notice.is(kind)).count();
    let (down, still, up) = (count(notice::DOWN), count(notice::REMINDER), count(notice::UP));
    let others = notices.len() - down - still - up;
    let parts: Vec<String> = [(down, "down"), (still, "still down"), (up, "up"), (others, "other")]
        .iter()
        .filter(|(number, _)| *number > 0)
        .map(|(number, word)| format!("{number} {word}"))
        .collect();
    let title = format!("{} changes: {}", notices.len(), parts.join(", "));
    let mut fields = Map::new();
    fields.insert("title".into(), json!(title));
    // The colour of the worst of it.
    let worst =
        notices.iter().find(|notice| notice.is(notice::DOWN) || notice.is(notice::REMINDER));
    let tone = worst.or(notices.first()).map_or(0, |notice| Tone::of(notice).color);
    fields.insert("color".into(), json!(format!("#{tone:06x}")));
    fields.insert("lines".into(), notices.iter().map(line).collect());
    fields.insert("link".into(), json!(link));
    let events: Vec<String> =
        notices.iter().map(|notice| notice.data.eventid.to_string()).collect();
    let Digest(hash) = Digest::of(&events.join(" "));
    Letter {
        id: format!("digest-{}", data_encoding::HEXLOWER.encode(&hash[..16])),
        subject: format!("[Wakeful] {title}"),
        text: template::page(include_str!("templates/digest.txt"), &fields, Escape::Nothing),
        html: Some(template::page(include_str!("templates/digest.html"), &fields, Escape::Html)),
        ..envelope(spec, date)
    }
}

fn envelope(spec: &EmailSpec, date: Millis) -> Letter {
    let all =
        |boxes: &wakeful_core::notifier::Mailboxes| boxes.iter().map(ToString::to_string).collect();
    Letter {
        date,
        from: spec.from_email.to_string(),
        to: all(&spec.to_email),
        cc: all(&spec.to_cc),
        bcc: all(&spec.to_bcc),
        ..Letter::default()
    }
}

/// The user's own subject, or ours when there is none or it comes to nothing.
pub(super) fn subject(own: &Subject, notice: &Notice, link: &str) -> String {
    let own = own.template().and_then(|template| {
        let rendered = template::render(template, &Scene::of(notice, link, None));
        rendered
            .inspect_err(|why| {
                let id = notice.data.eventid;
                tracing::warn!(event.id = %id, "the subject for event {id} failed, the mail has the standard one: {why}");
            })
            .ok()
    });
    let own = own.map(|text| one_line(&text)).filter(|text| !text.is_empty());
    own.unwrap_or_else(|| one_line(&usual_subject(notice)))
}

fn usual_subject(notice: &Notice) -> String {
    let name = notice.name();
    let lasted = notice.lasted().unwrap_or_default();
    match notice.kind.as_str() {
        notice::DOWN => format!("[Down] {name}: {}", notice.data.message),
        notice::REMINDER => format!("[Down] {name} is still down after {lasted}"),
        notice::UP if notice.data.down_eventid.is_some() => {
            format!("[Up] {name} was down for {lasted}")
        }
        notice::UP => format!("[Up] {name} is up again after {lasted}"),
        notice::CERTIFICATE => format!("[Certificate] {name}: {}", notice.data.message),
        _ => notice.text.clone(),
    }
}

fn one_line(text: &str) -> String {
    let spaced: String = text.chars().map(|c| if c.is_control() { ' ' } else { c }).collect();
    let text = spaced.split_whitespace().collect::<Vec<_>>().join(" ");
    match text.chars().count() > LONGEST_SUBJECT {
        true => text.chars().take(LONGEST_SUBJECT - 1).chain(['…']).collect(),
        false => text,
    }
}

/// Why, in the words of the check.
fn told(notice: &Notice) -> &str {
    notice.data.cause.as_deref().unwrap_or(&notice.data.message)
}

fn rows(notice: &Notice) -> Vec<Value> {
    let data = &notice.data;
    let about = data.monitor.as_ref();
    let up = notice.is(notice::UP);
    let since = data.down_since.as_deref().map(time);
    let tags = about.map(|about| about.tags.join(", ")).unwrap_or_default();
    let target = about.map(|about| about.target.clone()).unwrap_or_default();
    let rows = [
        ("Monitor", about.map(|about| about.name.clone()).unwrap_or_default()),
        ("Target", target),
        ("Tags", tags),
        ("Down since", since.filter(|_| !up).unwrap_or_default()),
        ("Was down from", data.down_since.as_deref().filter(|_| up).map(time).unwrap_or_default()),
        ("Until", if up { time(&notice.timestamp) } else { String::new() }),
        ("Lasted", notice.lasted().filter(|_| up).unwrap_or_default()),
        ("Last answer", data.cause.as_ref().map(|_| data.message.clone()).unwrap_or_default()),
        ("Time", if up { String::new() } else { time(&notice.timestamp) }),
        ("Load time", data.load_time.map(|ms| format!("{ms} ms")).unwrap_or_default()),
    ];
    rows.into_iter()
        .filter(|(_, value)| !value.is_empty())
        .map(|(label, value)| json!({"label": label, "value": value}))
        .collect()
}

/// What it is in a word or two.
fn word(notice: &Notice) -> &'static str {
    match notice.kind.as_str() {
        notice::DOWN => "Down",
        notice::REMINDER => "Still down",
        notice::UP => "Up",
        notice::CERTIFICATE => "Certificate",
        _ => "Test",
    }
}

fn line(notice: &Notice) -> Value {
    let word = match notice.kind.as_str() {
        notice::DOWN | notice::REMINDER => "DOWN",
        notice::UP => "UP  ",
        notice::CERTIFICATE => "CERT",
        _ => "    ",
    };
    let message: String = told(notice).chars().take(200).collect();
    let message = match (notice.kind.as_str(), notice.lasted()) {
        (notice::UP, Some(lasted)) => format!("{message}, was down for {lasted}"),
        (notice::REMINDER, Some(lasted)) => format!("{message}, still down after {lasted}"),
        _ => message,
    };
    json!({
        "word": word,
        "name": notice.name(),
        "message": message,
        "time": time(&notice.timestamp),
        "color": format!("#{:06x}", Tone::of(notice).color),
    })
}

/// `2026-11-15 09:30:00 UTC` for `2026-11-15T09:30:00.123Z`.
fn time(text: &str) -> String {
    let seconds = text.split_once('.').map_or(text, |(seconds, _)| seconds);
    format!("{} UTC", seconds.trim_end_matches('Z').replace('T', " "))
}
