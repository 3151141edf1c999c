//! Templates: what a notice looks like for a receiver that wants a shape of its
//! own. They see the fields of the notice and nothing else: no file, no
//! network, no other template. Those that users write are bounded in steps and
//! in output, and may not build values out of values: a few lines that double
//! a text again and again would fill any memory without many steps.

use minijinja::value::Serde;
use minijinja::{AutoEscape, Environment, Error, ErrorKind, UndefinedBehavior, Value};
use serde_json::{Map, json};
use std::io;
use url::Url;
use wakeful_core::Invalid;
use wakeful_core::notice::{self, Notice};
use wakeful_core::notifier::Ready;

/// Instructions one rendering may take.
const STEPS: u64 = 20_000;
/// Bytes one rendering may give.
const MOST: usize = 20_000;
const DEPTH: usize = 20;

/// What templates see: the webhook's fields, those of `data` also by
/// themselves, and a few that spare them arithmetic.
#[derive(Clone)]
pub struct Scene(Value);

impl Scene {
    /// `link` is the monitor's page; `url` is where the webhook goes, whose
    /// query is at hand as `query`.
    pub fn of(notice: &Notice, link: &str, url: Option<&Url>) -> Self {
        let envelope = serde_json::to_value(notice).unwrap_or_default();
        let mut fields = Map::new();
        for part in [&envelope["data"], &envelope] {
            fields.extend(part.as_object().cloned().unwrap_or_default());
        }
        let tone = Tone::of(notice);
        let query: Map<_, _> = url.map_or_else(Map::new, |url| {
            url.query_pairs().map(|(name, value)| (name.into(), json!(value))).collect()
        });
        let topic = url.and_then(|url| url.path_segments()?.rfind(|part| !part.is_empty()));
        for (name, value) in [
            ("name", json!(notice.name())),
            ("title", json!(title(notice))),
            ("emoji", json!(tone.emoji)),
            ("color", json!(format!("#{:06x}", tone.color))),
            ("color_number", json!(tone.color)),
            ("lasted", json!(notice.lasted())),
            ("link", json!(link)),
            ("query", json!(query)),
            ("topic", json!(topic.unwrap_or_default())),
        ] {
            fields.insert(name.to_owned(), value);
        }
        Self(Serde(fields).into())
    }
}

/// How a kind of notice looks.
pub(crate) struct Tone {
    pub(crate) emoji: &'static str,
    pub(crate) color: u32,
}

impl Tone {
    pub(crate) fn of(notice: &Notice) -> Self {
        match notice.kind.as_str() {
            notice::DOWN | notice::REMINDER => Self { emoji: "🔴", color: 0xc2_29_0a },
            notice::UP => Self { emoji: "✅", color: 0x2f_8f_0a },
            notice::CERTIFICATE => Self { emoji: "⚠️", color: 0xb7_79_00 },
            _ => Self { emoji: "🔔", color: 0x5b_6b_7b },
        }
    }
}

/// The news in a few words.
pub fn title(notice: &Notice) -> String {
    let name = notice.name();
    match notice.kind.as_str() {
        notice::DOWN => format!("{name} is down"),
        notice::REMINDER => {
            format!("{name} is still down after {}", notice.lasted().unwrap_or_default())
        }
        notice::UP if notice.data.down_eventid.is_some() => format!("{name} was down"),
        notice::UP => format!("{name} is up again"),
        notice::CERTIFICATE => format!("The certificate of {name} runs out"),
        _ => "A test of Wakeful".to_owned(),
    }
}

/// Whether a template of a user's own can be used.
pub fn check(source: &str) -> Result<(), Invalid> {
    tame(source)?;
    own(source, &Scene::of(&sample(), "https://wakeful.example/monitor/1", None)).map(drop)
}

/// What a template of a user's own makes of a notice.
pub fn own(source: &str, scene: &Scene) -> Result<String, Invalid> {
    let env = environment();
    let mut out = Capped::default();
    let rendered = env
        .template_from_str(source)
        .and_then(|template| template.render_captured_to(scene.0.clone(), &mut out));
    match rendered {
        Ok(_) => Ok(String::from_utf8_lossy(&out.bytes).into_owned()),
        Err(_) if out.full => {
            Err(Invalid::new(format!("makes more than {MOST} bytes of a message")))
        }
        Err(error) => Err(Invalid::new(format!("is not a template that works: {}", told(&error)))),
    }
}

/// What a receiver that we know wants, as JSON.
pub(crate) fn ready(ready: Ready, scene: &Scene) -> Result<String, Invalid> {
    let source = match ready {
        Ready::Slack => include_str!("templates/slack.json"),
        Ready::Discord => include_str!("templates/discord.json"),
        Ready::Teams => include_str!("templates/teams.json"),
        Ready::Telegram => include_str!("templates/telegram.json"),
        Ready::Ntfy => include_str!("templates/ntfy.json"),
        Ready::PagerDuty => include_str!("templates/pagerduty.json"),
        Ready::UptimeKuma => include_str!("templates/uptime_kuma.json"),
    };
    let text = own(source, scene)?;
    let value: serde_json::Value =
        serde_json::from_str(&text).map_err(|error| Invalid::new(error.to_string()))?;
    Ok(value.to_string())
}

/// One of the mails' own templates; `html` says whether its values are escaped.
pub(crate) fn page(source: &str, fields: Map<String, serde_json::Value>, html: bool) -> String {
    let mut env = environment();
    env.set_fuel(None);
    if html {
        env.set_auto_escape_callback(|_| AutoEscape::Html);
    }
    env.render_str(source, Serde(fields)).expect("our own templates work, as their tests show")
}

fn environment() -> Environment<'static> {
    let mut env = Environment::empty();
    env.set_fuel(Some(STEPS));
    env.set_recursion_limit(DEPTH);
    env.set_undefined_behavior(UndefinedBehavior::Chainable);
    env.set_auto_escape_callback(|_| AutoEscape::None);
    env.set_formatter(|out, state, value| match value.is_none() {
        true => Ok(()),
        false => minijinja::escape_formatter(out, state, value),
    });
    env.add_filter("upper", minijinja::filters::upper);
    env.add_filter("lower", minijinja::filters::lower);
    env.add_filter("trim", minijinja::filters::trim);
    env.add_filter("length", minijinja::filters::length);
    env.add_filter("default", or_else);
    env.add_filter("truncate", truncate);
    env.add_filter("tojson", tojson);
    env.add_filter("mrkdwn", mrkdwn);
    env.add_filter("html", html);
    env.add_filter("sql_time", sql_time);
    env
}

/// The value, or the other when there is none.
fn or_else(value: Value, other: Option<Value>) -> Value {
    match value.is_undefined() || value.is_none() {
        true => other.unwrap_or_else(|| Value::from("")),
        false => value,
    }
}

fn truncate(text: &str, most: usize) -> String {
    match text.chars().count() > most {
        true => text.chars().take(most.saturating_sub(1)).chain(['…']).collect(),
        false => text.to_owned(),
    }
}

/// The value as JSON, quotes included.
fn tojson(value: &Value) -> Result<Value, Error> {
    let mut out = Capped::default();
    serde_json::to_writer(&mut out, value)
        .map_err(|error| Error::new(ErrorKind::BadSerialization, error.to_string()))?;
    Ok(Value::from_safe_string(String::from_utf8_lossy(&out.bytes).into_owned()))
}

/// Text in Slack's markup: what would be a mention or a link is none.
fn mrkdwn(text: &str) -> String {
    text.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;")
}

/// Text within the HTML that some receivers read.
fn html(text: &str) -> String {
    mrkdwn(text).replace('"', "&quot;")
}

/// `2026-11-15T09:30:00.123Z` without its letters.
fn sql_time(text: &str) -> String {
    text.replace('T', " ").replace('Z', "")
}

/// The error with its place, for somebody who writes a template.
fn told(error: &Error) -> String {
    let what = error.detail().map_or_else(|| error.kind().to_string(), str::to_owned);
    match error.line() {
        Some(line) => format!("{what}, in line {line}"),
        None => what,
    }
}

/// Bytes up to a bound, and an error beyond.
#[derive(Default)]
struct Capped {
    bytes: Vec<u8>,
    full: bool,
}

impl io::Write for Capped {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        if self.bytes.len() + bytes.len() > MOST {
            self.full = true;
            return Err(io::ErrorKind::WriteZero.into());
        }
        self.bytes.extend_from_slice(bytes);
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

/// Refuses what users' templates may not hold: all tags but conditions and
/// loops, and every way to make a value that is larger than what is there.
fn tame(source: &str) -> Result<(), Invalid> {
    let mut rest = source;
    while let Some(at) = rest.find('{') {
        rest = &rest[at + 1..];
        let (end, tag) = match rest.as_bytes().first() {
            Some(b'{') => ("}}", false),
            Some(b'%') => ("%}", true),
            Some(b'#') => {
                rest = rest.split_once("#}").map_or("", |(_, behind)| behind);
                continue;
            }
            _ => continue,
        };
        rest = inside(&rest[1..], end, tag)?;
    }
    Ok(())
}

/// Reads one tag up to its end; gives what stands behind it.
fn inside<'a>(text: &'a str, end: &str, tag: bool) -> Result<&'a str, Invalid> {
    if tag {
        let words = text.trim_start_matches(['-', '+']).trim_start();
        let word: String = words.chars().take_while(char::is_ascii_alphanumeric).collect();
        if !["if", "elif", "else", "endif", "for", "endfor"].contains(&word.as_str()) {
            return Err(Invalid::new(format!(
                "must not use {{% {word} %}}: there are if, elif, else and for"
            )));
        }
    }
    let mut chars = text.char_indices();
    let mut before = ' ';
    while let Some((at, c)) = chars.next() {
        if text[at..].starts_with(end) {
            return Ok(&text[at + end.len()..]);
        }
        match c {
            '"' | '\'' => skip_text(&mut chars, c),
            // A minus or plus at the edge of a tag trims the space around it.
            '+' if text[at + 1..].starts_with(end) || (tag && at == 0) => {}
            '~' | '+' | '*' | ',' | '{' => return Err(too_much(c)),
            '[' if !(before.is_alphanumeric() || "_])".contains(before)) => {
                return Err(too_much(c));
            }
            _ => {}
        }
        before = c;
    }
    Ok("")
}

fn skip_text(chars: &mut std::str::CharIndices<'_>, quote: char) {
    while let Some((_, c)) = chars.next() {
        if c == '\\' {
            chars.next();
        } else if c == quote {
            return;
        }
    }
}

fn too_much(c: char) -> Invalid {
    Invalid::new(format!(
        "must not use {c} inside its tags: write texts beside each other instead of joining them"
    ))
}

/// A notice with every field, on which templates are tried.
fn sample() -> Notice {
    let id = "01a1dd16-3e86-7039-aa0a-37292a4ffff7";
    let body = json!({"type": notice::DOWN, "timestamp": "2026-11-15T09:30:00.000Z",
        "text": "[site] down: 503 Service Unavailable",
        "data": {"eventid": id, "alertid": id, "status": "down", "previous_status": "up",
            "monitor": {"monitorid": id, "name": "site", "type": "http",
                "target": "https://example.com/", "tags": ["shop"]},
            "message": "503 Service Unavailable", "load_time": 12.5,
            "down_since": "2026-11-15T09:26:00.000Z", "down_seconds": 240, "payload": null}});
    Notice::parse(&body.to_string()).expect("a whole notice")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn rendered(source: &str) -> String {
        own(source, &Scene::of(&sample(), "https://w.example/monitor/1", None)).expect("works")
    }

    #[test]
    fn a_template_sees_the_fields_of_the_webhook() {
        for (source, gives) in [
            ("{{ text }}", "[site] down: 503 Service Unavailable"),
            ("{{ data.monitor.name }} {{ monitor.target }}", "site https://example.com/"),
            (
                "{{ status|upper }} {{ lasted }} {{ link }}",
                "DOWN 4 min https://w.example/monitor/1",
            ),
            ("{{ type }}{{ payload }}{{ nothing.at.all }}", "monitor.down"),
            ("{{ message|truncate(4) }}", "503…"),
            ("{{ monitor.tags[0]|tojson }}", "\"shop\""),
            (
                r#"{"a": {{ data.monitor|tojson }}}"#,
                r#"{"a": {"monitorid":"01a1dd16-3e86-7039-aa0a-37292a4ffff7","name":"site","tags":["shop"],"target":"https://example.com/","type":"http"}}"#,
            ),
            (
                "{%- if status == 'down' -%} a {%- elif status == \"up\" %}b{% else %}c{% endif +%}",
                "a",
            ),
            ("{% for tag in monitor.tags %}<{{ tag }}>{% endfor %}", "<shop>"),
            ("{# a, comment ~ #}{ {{ payload|default('none, or so') }} }", "{ none, or so }"),
        ] {
            check(source).unwrap_or_else(|why| panic!("{source}: {why}"));
            assert_eq!(rendered(source), gives, "{source}");
        }
    }

    #[test]
    fn a_template_cannot_reach_out_or_grow() {
        let deep = format!("{}x{}", "{% for a in text %}".repeat(6), "{% endfor %}".repeat(6));
        for source in [
            "{% include 'x' %}",
            "{% extends 'x' %}",
            "{% import 'x' as x %}",
            "{% set x = text %}{{ x }}",
            "{% macro m() %}{% endmacro %}",
            "{% with x = text %}{{ x }}{% endwith %}",
            "{% filter upper %}x{% endfilter %}",
            "{{ text ~ text }}",
            "{{ text + text }}",
            "{{ 'a' * 1000000 }}",
            "{% for x in [text] %}{{ x }}{% endfor %}",
            "{% for x in (text, text) %}{{ x }}{% endfor %}",
            "{{ {'a': text} }}",
            "{{ range(1000000) }}",
            "{{ text|unknown }}",
            "{{ text",
            "{% if %}",
            "{{ text.__class__() }}",
            &deep,
        ] {
            assert!(check(source).is_err(), "{}", &source[..source.len().min(60)]);
        }
    }

    #[test]
    fn what_it_makes_is_bounded() {
        let twice = "{% for a in text %}{% for b in text %}{{ text }}{% endfor %}{% endfor %}";
        let why = check(twice).expect_err("too much");
        assert!(why.0.contains("20000 bytes") || why.0.contains("fuel"), "{why}");
    }

    #[test]
    fn the_place_of_a_mistake_is_told() {
        let why = check("fine\n{{ text | }}").expect_err("wrong");
        assert!(why.0.ends_with("in line 2"), "{why}");
    }
}
