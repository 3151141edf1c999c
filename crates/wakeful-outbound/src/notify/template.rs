//! The variables of templates. The language and its limits are in `core/template`.

use serde_json::{Map, Value, json};
use url::Url;
use wakeful_core::Invalid;
use wakeful_core::notifications::event::{self, Event};
use wakeful_core::notifications::notifier::BuiltinTemplate;
use wakeful_core::template::{Escape, Fields, UserTemplate, render_builtin};

/// The maximum size of a body in a receiver's format.
const MAX_BODY: usize = 20_000;

/// The variables of a template: the webhook's fields, those of `data` also at
/// the top level, and a few computed ones.
#[derive(Clone)]
pub struct TemplateContext(Fields);

impl TemplateContext {
    /// `link` is the page about the event; `url` is the target of the webhook, whose
    /// query is available as `query`.
    pub fn of(event: &Event, link: &str, url: Option<&Url>) -> Self {
        let mut envelope = serde_json::to_value(event).unwrap_or_default();
        if let Some(payload) = envelope.pointer_mut("/data/payload") {
            keep_first(payload, &mut { MAX_PAYLOAD_VALUES });
        }
        let mut fields = Map::new();
        for part in [&envelope["data"], &envelope] {
            fields.extend(part.as_object().cloned().unwrap_or_default());
        }
        let style = Style::of(event);
        let query: Map<_, _> = url.map_or_else(Map::new, |url| {
            url.query_pairs().map(|(name, value)| (name.into(), json!(value))).collect()
        });
        let topic = url.and_then(|url| url.path_segments()?.rfind(|part| !part.is_empty()));
        for (name, value) in [
            ("name", json!(event.name())),
            ("title", json!(title(event))),
            ("emoji", json!(style.emoji)),
            ("color", json!(format!("#{:06x}", style.color))),
            ("color_number", json!(style.color)),
            ("lasted", json!(event.outage_duration())),
            ("link", json!(link)),
            ("query", json!(query)),
            ("topic", json!(topic.unwrap_or_default())),
        ] {
            fields.insert(name.to_owned(), value);
        }
        Self(fields)
    }

    /// The variables of a message that is not about an event of a monitor.
    pub(crate) fn of_fields(fields: Fields) -> Self {
        Self(fields)
    }
}

/// Values of a payload that a template can use. Comparing two values takes as long as they
/// are large, in one instruction.
const MAX_PAYLOAD_VALUES: usize = 200;

/// Removes what is beyond the limit: the items of arrays and fields of objects that come
/// last.
fn keep_first(value: &mut Value, left: &mut usize) {
    let mut keep = |value: &mut Value| {
        let has_room = *left > 0;
        *left = left.saturating_sub(1);
        if has_room {
            keep_first(value, left);
        }
        has_room
    };
    match value {
        Value::Array(items) => items.retain_mut(keep),
        Value::Object(fields) => fields.retain(|_, field| keep(field)),
        _ => {}
    }
}

/// The appearance of a kind of event.
pub(crate) struct Style {
    pub(crate) emoji: &'static str,
    pub(crate) color: u32,
}

impl Style {
    pub(crate) fn of(event: &Event) -> Self {
        let kind = match (event.kind.as_str(), event.data.status.as_deref()) {
            (event::DIGEST, Some("down")) => event::DOWN,
            (event::DIGEST, Some("warning")) => event::CERTIFICATE,
            (event::DIGEST, Some("up")) => event::UP,
            _ if event.repeats_flapping() => event::FLAPPING,
            (kind, _) => kind,
        };
        match kind {
            event::DOWN | event::REMINDER | event::ESCALATED => {
                Self { emoji: "🔴", color: 0xc2_29_0a }
            }
            event::UP | event::RESTORED => Self { emoji: "✅", color: 0x2f_8f_0a },
            event::CERTIFICATE
            | event::DOMAIN
            | event::FLAPPING
            | event::DEGRADED
            | event::CHANGED => Self { emoji: "⚠️", color: 0xb7_79_00 },
            event::COMMENTED => Self { emoji: "💬", color: 0x5b_6b_7b },
            event::MAINTENANCE_SCHEDULED
            | event::MAINTENANCE_STARTED
            | event::MAINTENANCE_ENDED => Self { emoji: "🔧", color: 0x1f_6f_b5 },
            _ => Self { emoji: "🔔", color: 0x5b_6b_7b },
        }
    }
}

/// The event in a few words.
pub fn title(event: &Event) -> String {
    let name = event.name();
    match event.kind.as_str() {
        event::DOWN => format!("{name} is down"),
        event::ESCALATED if event.repeats_flapping() => format!("{name} is still flapping"),
        event::REMINDER | event::ESCALATED => {
            format!("{name} is still down after {}", event.outage_duration().unwrap_or_default())
        }
        event::UP if event.data.down_eventid.is_some() => format!("{name} was down"),
        event::UP => format!("{name} is up again"),
        event::FLAPPING => format!("{name} is flapping"),
        event::DEGRADED => format!("{name} is degraded"),
        event::RESTORED => format!("{name} is no longer degraded"),
        event::CHANGED => format!("{name} has changed"),
        event::STEADY => {
            let status = event.data.status.as_deref().unwrap_or_default();
            format!("{name} no longer flaps, it is {status}")
        }
        event::CERTIFICATE => format!("The certificate of {name} is about to expire"),
        event::DOMAIN => format!("The registration of {name} is about to expire"),
        event::ACKNOWLEDGED => {
            let by = event.data.acknowledged_by.as_deref().unwrap_or("somebody");
            format!("{name}: acknowledged by {by}")
        }
        event::ASSIGNED => {
            format!("{name}: assigned to {}", event.data.assignee.as_deref().unwrap_or("somebody"))
        }
        event::COMMENTED => {
            format!(
                "{name}: comment by {}",
                event.data.commented_by.as_deref().unwrap_or("somebody")
            )
        }
        event::DIGEST => event.text.clone(),
        event::RESOLVED => format!("{name}: resolved, although it is still down"),
        event::MAINTENANCE_SCHEDULED => format!("Planned maintenance: {name}"),
        event::MAINTENANCE_STARTED => format!("Maintenance has started: {name}"),
        event::MAINTENANCE_ENDED => format!("Maintenance has ended: {name}"),
        event::HANDOVER => {
            let next = event.data.oncall.as_ref().and_then(|handover| handover.next.as_ref());
            let next = next.map_or("nobody", |person| person.name.as_str());
            format!("On call in {name}: {next}")
        }
        _ => "Test message from Wakeful".to_owned(),
    }
}

/// Whether a custom template can be used: it is rendered with a sample.
pub fn check(template: &UserTemplate) -> Result<(), Invalid> {
    let context = TemplateContext::of(&sample(), "https://wakeful.example/monitor/1", None);
    render(template, &context).map(drop)
}

/// Renders a custom template for an event.
pub(crate) fn render(
    template: &UserTemplate,
    context: &TemplateContext,
) -> Result<String, Invalid> {
    template.validated().map_err(Clone::clone)?.render(&context.0)
}

/// The body in the format of a known receiver, as JSON.
pub(crate) fn render_for_receiver(
    ready: BuiltinTemplate,
    context: &TemplateContext,
) -> Result<String, Invalid> {
    let text = render_builtin(ready.source(), &context.0, Escape::Nothing)?;
    if text.len() > MAX_BODY {
        return Err(Invalid::new(format!("renders to more than {MAX_BODY} bytes")));
    }
    let value: serde_json::Value =
        serde_json::from_str(&text).map_err(|error| Invalid::new(error.to_string()))?;
    Ok(value.to_string())
}

/// Renders one of the built-in email templates.
pub(crate) fn render_page(source: &'static str, fields: &Fields, escape: Escape) -> String {
    render_builtin(source, fields, escape).expect("built-in templates are tested")
}

/// An event with every field, to try templates with.
fn sample() -> Event {
    let id = "01a1dd16-3e86-7039-aa0a-37292a4ffff7";
    let body = json!({"type": event::DOWN, "timestamp": "2026-11-15T09:30:00.000Z",
        "text": "[site] down: 503 Service Unavailable",
        "data": {"eventid": id, "alertid": id, "status": "down", "previous_status": "up",
            "monitor": {"monitorid": id, "name": "site", "type": "http",
                "target": "https://example.com/", "tags": ["shop"]},
            "message": "503 Service Unavailable", "load_time": 12.5,
            "down_since": "2026-11-15T09:26:00.000Z", "down_seconds": 240, "payload": null}});
    Event::parse(&body.to_string()).expect("an event")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_template_sees_the_fields_of_the_webhook() {
        let context = TemplateContext::of(&sample(), "https://w.example/monitor/1", None);
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
            assert_eq!(render(&template, &context).as_deref(), Ok(gives), "{source}");
        }
    }

    #[test]
    fn a_template_sees_only_so_much_of_a_payload() {
        let mut event = sample();
        event.data.payload = Some(json!({"a": [1, 2], "b": vec![json!([[]]); 6_000], "c": 3}));
        let context = TemplateContext::of(&event, "", None);
        let count = "{{ payload.a|length }} {{ payload.b|length }} {{ data.payload.b|length }}";
        // 200 values: three for `a`, one for `b`, two for each item of it.
        for (source, gives) in [(count, "2 98 98"), ("{{ payload.c }}", "")] {
            let template = UserTemplate::parse(source).expect(source);
            assert_eq!(render(&template, &context).as_deref(), Ok(gives), "{source}");
        }
        // Without the limit, this takes many seconds.
        let compare = format!("payload{}", " == data.payload == payload".repeat(200));
        let source =
            format!("{{% for i in payload.b %}}{{% if {compare} %}}{{% endif %}}{{% endfor %}}x");
        let template = UserTemplate::parse(&source);
        let begun = std::time::Instant::now();
        let _ = template.map(|template| render(&template, &context));
        assert!(begun.elapsed() < std::time::Duration::from_secs(5), "{:?}", begun.elapsed());
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
