//! What templates see of a notice, and Wakeful's own templates for receivers that
//! want a shape of their own. The language and its bounds are in `core/template`.

use serde_json::{Map, json};
use url::Url;
use wakeful_core::Invalid;
use wakeful_core::notice::{self, Notice};
use wakeful_core::notifier::Ready;
use wakeful_core::template::{Escape, Fields, UserTemplate, render_builtin};

/// Bytes of a body in a known receiver's shape.
const MAX_BODY: usize = 20_000;

/// What templates see: the webhook's fields, those of `data` also by
/// themselves, and a few that spare them arithmetic.
#[derive(Clone)]
pub struct Scene(Fields);

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
        Self(fields)
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

/// Whether a template of a user's own can be used: it is tried on a sample.
pub fn check(template: &UserTemplate) -> Result<(), Invalid> {
    let scene = Scene::of(&sample(), "https://wakeful.example/monitor/1", None);
    render(template, &scene).map(drop)
}

/// What a template of a user's own makes of a notice.
pub(crate) fn render(template: &UserTemplate, scene: &Scene) -> Result<String, Invalid> {
    template.validated().map_err(Clone::clone)?.render(&scene.0)
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
    let text = render_builtin(source, &scene.0, Escape::Nothing)?;
    if text.len() > MAX_BODY {
        return Err(Invalid::new(format!("makes more than {MAX_BODY} bytes of a message")));
    }
    let value: serde_json::Value =
        serde_json::from_str(&text).map_err(|error| Invalid::new(error.to_string()))?;
    Ok(value.to_string())
}

/// One of the mails' own templates.
pub(crate) fn page(source: &'static str, fields: &Fields, escape: Escape) -> String {
    render_builtin(source, fields, escape).expect("our own templates work, as their tests show")
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

    #[test]
    fn a_template_sees_the_fields_of_the_webhook() {
        let scene = Scene::of(&sample(), "https://w.example/monitor/1", None);
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
        ] {
            let template = UserTemplate::parse(source).expect(source);
            check(&template).unwrap_or_else(|why| panic!("{source}: {why}"));
            assert_eq!(render(&template, &scene).as_deref(), Ok(gives), "{source}");
        }
    }

    #[test]
    fn a_template_that_fails_on_a_sample_cannot_be_used() {
        for source in ["{{ text|unknown }}", "{{ text - 1 }}", "{{ text|truncate('a') }}"] {
            let template = UserTemplate::parse(source).expect(source);
            assert!(check(&template).is_err(), "{source}");
        }
        assert!(check(&UserTemplate::stored("{{ text ~ text }}")).is_err());
    }
}
