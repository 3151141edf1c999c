//! The webhook of an Alertmanager. Its body may list thousands of alerts; only what identifies
//! the group is read, and the rest takes no memory.

use serde::Deserialize;
use serde::de::{Deserializer, IgnoredAny, MapAccess, SeqAccess, Visitor};
use serde_json::{Map, Value};
use std::fmt;
use utoipa::ToSchema;
use wakeful_core::Invalid;
use wakeful_core::one_line::one_line;
use wakeful_core::token::Digest;
use wakeful_engine::ReportedGroup;

use crate::dto::{Fields, FromFields};
use crate::error::ApiError;

/// Bytes of a key; a longer one is stored as its digest.
const MAX_KEY: usize = 256;
/// A longer name is shortened.
const MAX_NAME: usize = 200;
/// The labels of a group that are read.
const MAX_LABELS: usize = 50;

/// The webhook of an Alertmanager. It has more fields, which are not used.
#[derive(ToSchema)]
#[expect(dead_code, reason = "only its schema is used")]
pub(crate) struct AlertmanagerWebhook {
    /// "4".
    version: String,
    /// Identifies the group.
    #[schema(rename = "groupKey")]
    group_key: String,
    /// firing or resolved.
    status: String,
    /// The labels that the alerts of the group have in common and are grouped by.
    #[schema(rename = "groupLabels", value_type = Option<std::collections::BTreeMap<String, String>>)]
    group_labels: Option<Value>,
    /// All labels that the alerts of the group have in common.
    #[schema(rename = "commonLabels", value_type = Option<std::collections::BTreeMap<String, String>>)]
    common_labels: Option<Value>,
}

/// The group in a body; `None` if it is not JSON.
pub(crate) fn read(body: &[u8]) -> Result<Result<ReportedGroup, ApiError>, serde_json::Error> {
    let Value::Object(mut values) = serde_json::from_slice::<Bounded>(body)?.0 else {
        return Ok(Fields::of(Value::Null).map(|_| unreachable!("not an object")));
    };
    let name = name(&values);
    values.retain(|field, _| ["version", "groupKey", "status"].contains(&field.as_str()));
    Ok(Fields::of(Value::Object(values)).and_then(|mut fields| {
        let group = Group::read(&mut fields).map(|Group { key, is_firing }| {
            let text = name;
            ReportedGroup { key, text, is_firing }
        });
        fields.finish(group)
    }))
}

struct Group {
    key: String,
    is_firing: bool,
}

impl FromFields for Group {
    fn read(fields: &mut Fields) -> Option<Self> {
        let version = fields.parse("version", |text| match text {
            "4" => Ok(()),
            _ => Err(Invalid::new("must be 4: other versions are not known")),
        });
        let is_firing = fields.parse("status", |text| match text {
            "firing" => Ok(true),
            "resolved" => Ok(false),
            _ => Err(Invalid::new("must be firing or resolved")),
        });
        let key = fields.parse("groupKey", |text| match text.len() {
            0 => Err(Invalid::new("must not be empty")),
            1..=MAX_KEY => Ok(text.to_owned()),
            _ => Ok(format!("sha256:{}", digest(text))),
        });
        let ((), is_firing, key) = (version?, is_firing?, key?);
        Some(Self { key, is_firing })
    }
}

fn digest(text: &str) -> String {
    let Digest(bytes) = Digest::of(text);
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}

/// The name of a group: its labels, that of its alerts first.
fn name(values: &Map<String, Value>) -> String {
    let labels = |field: &str| values.get(field).and_then(Value::as_object);
    let alertname = |labels: &Map<String, Value>| {
        labels.get("alertname").and_then(Value::as_str).map(str::to_owned)
    };
    let group = labels("groupLabels");
    let name = group.and_then(alertname).or_else(|| labels("commonLabels").and_then(alertname));
    let others = group.into_iter().flatten().filter(|(label, _)| *label != "alertname");
    let others = others.filter_map(|(label, value)| Some(format!("{label}={}", value.as_str()?)));
    let parts: Vec<String> = name.into_iter().chain(others).collect();
    let name = one_line(&parts.join(", "), MAX_NAME);
    if name.is_empty() { "all alerts".to_owned() } else { name }
}

/// An object whose values are texts or objects of texts. Everything else is null.
struct Bounded(Value);

impl<'de> Deserialize<'de> for Bounded {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_any(Level::<2>).map(Self)
    }
}

/// How many objects deep values are read.
struct Level<const N: u8>;

impl<'de, const N: u8> Visitor<'de> for Level<N> {
    type Value = Value;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a value")
    }

    fn visit_str<E>(self, text: &str) -> Result<Value, E> {
        Ok(Value::String(text.to_owned()))
    }

    fn visit_bool<E>(self, flag: bool) -> Result<Value, E> {
        Ok(Value::Bool(flag))
    }

    fn visit_i64<E>(self, number: i64) -> Result<Value, E> {
        Ok(number.into())
    }

    fn visit_u64<E>(self, number: u64) -> Result<Value, E> {
        Ok(number.into())
    }

    fn visit_f64<E>(self, number: f64) -> Result<Value, E> {
        Ok(number.into())
    }

    fn visit_unit<E>(self) -> Result<Value, E> {
        Ok(Value::Null)
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut items: A) -> Result<Value, A::Error> {
        while items.next_element::<IgnoredAny>()?.is_some() {}
        Ok(Value::Null)
    }

    fn visit_map<A: MapAccess<'de>>(self, mut entries: A) -> Result<Value, A::Error> {
        let mut object = Map::new();
        while let Some(name) = entries.next_key::<String>()? {
            if N == 0 || object.len() >= MAX_LABELS {
                entries.next_value::<IgnoredAny>()?;
            } else if N == 2 {
                object.insert(name, entries.next_value_seed(Level::<1>)?);
            } else {
                object.insert(name, entries.next_value_seed(Level::<0>)?);
            }
        }
        Ok(Value::Object(object))
    }
}

impl<'de, const N: u8> serde::de::DeserializeSeed<'de> for Level<N> {
    type Value = Value;

    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<Value, D::Error> {
        deserializer.deserialize_any(self)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn group(body: &Value) -> ReportedGroup {
        let read = super::read(body.to_string().as_bytes()).expect("JSON");
        read.unwrap_or_else(|_| panic!("{body} is valid"))
    }

    #[test]
    fn a_group_is_named_by_its_labels() {
        let mut body = json!({"version": "4", "status": "firing", "groupKey": "{}:{}",
            "groupLabels": {"cluster": "eu", "alertname": "Slow"}, "alerts": [[[{"a": [1]}]]],
            "commonLabels": {"alertname": "Slow", "x": {"y": {"z": 1}}}});
        assert_eq!(group(&body).text, "Slow, cluster=eu");
        body["groupLabels"] = json!({});
        assert_eq!(group(&body).text, "Slow");
        body["commonLabels"] = json!([]);
        assert_eq!(group(&body).text, "all alerts");
    }

    #[test]
    fn a_long_key_is_stored_as_its_digest() {
        let key = |length: usize| {
            let body =
                json!({"version": "4", "status": "resolved", "groupKey": "k".repeat(length)});
            group(&body).key
        };
        assert_eq!(key(256).len(), 256);
        assert_eq!(key(257).len(), "sha256:".len() + 64);
        assert_ne!(key(257), key(258));
    }
}
