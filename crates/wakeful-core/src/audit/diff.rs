//! The changed fields of an object. An object shows its fields in a `View`; a secret can be
//! compared there, but not shown.

use serde::{Deserialize, Serialize};
use serde_json::Value;
use std::collections::BTreeMap;

use super::entry::MAX_TEXT_BYTES;
use crate::secret::Secret;

/// An entry names at most this many fields.
const MAX_CHANGES: usize = 100;
/// The values of the fields of an entry take up at most this much, as JSON.
const MAX_CHANGES_BYTES: usize = 8 << 10;
/// Follows the beginning of a text that was cut off.
const CUT: &str = "… (cut)";
/// Instead of the values of a field, in an entry that is full.
const LEFT_OUT: &str = "changed (too long to record)";

/// A changed field. A secret has no `from`, and `changed` as its `to`.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Change {
    pub field: String,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub from: Option<Value>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub to: Option<Value>,
}

impl Change {
    /// Null is the same as no value, also when the change is read again.
    pub fn new(field: &str, from: Option<Value>, to: Option<Value>) -> Self {
        let [from, to] =
            [from, to].map(|value| value.filter(|value| !value.is_null()).map(shortened));
        Self { field: field.to_owned(), from, to }
    }

    /// A secret was set, changed or removed.
    pub fn of_secret(field: &str) -> Self {
        Self { field: field.to_owned(), from: None, to: Some(Value::from("changed")) }
    }
}

/// An object whose changes are recorded.
pub trait Audited {
    fn view(&self) -> View;
}

/// The fields of an object, by their names in the API.
#[derive(Clone, Debug, Default)]
pub struct View(BTreeMap<String, Field>);

#[derive(Clone, Debug, PartialEq, Eq)]
enum Field {
    Shown(Value),
    Hidden(Secret),
}

impl View {
    #[must_use]
    pub fn with(mut self, field: &str, value: impl Into<Value>) -> Self {
        self.0.insert(field.to_owned(), Field::Shown(value.into()));
        self
    }

    /// A field that is compared, but never shown.
    #[must_use]
    pub fn with_secret(mut self, field: &str, secret: &str) -> Self {
        self.0.insert(field.to_owned(), Field::Hidden(Secret::new(secret)));
        self
    }
}

/// The fields in which two views of an object differ; all of a new one that have a value.
pub fn diff(before: Option<&View>, after: Option<&View>) -> Vec<Change> {
    let (none, before_is_new) = (View::default(), before.is_none());
    let (before, after) = (before.unwrap_or(&none), after.unwrap_or(&none));
    let fields =
        before.0.keys().chain(after.0.keys().filter(|field| !before.0.contains_key(*field)));
    let mut changes: Vec<Change> = fields
        .filter_map(|field| {
            let (from, to) = (before.0.get(field), after.0.get(field));
            if from == to || (before_is_new && to.is_none_or(Field::is_empty)) {
                return None;
            }
            if [from, to].iter().any(|field| matches!(field, Some(Field::Hidden(_)))) {
                return Some(Change::of_secret(field));
            }
            Some(Change::new(field, from.and_then(Field::shown), to.and_then(Field::shown)))
        })
        .collect();
    changes.sort_by(|one, two| one.field.cmp(&two.field));
    changes.truncate(MAX_CHANGES);
    changes
}

/// The changes as they are recorded: once they take up too much, only the names of the other
/// fields are.
pub fn bounded(changes: Vec<Change>) -> Vec<Change> {
    let mut left = MAX_CHANGES_BYTES;
    let size = |value: &Option<Value>| value.as_ref().map_or(0, |value| value.to_string().len());
    let fit = |change: Change| match left.checked_sub(size(&change.from) + size(&change.to)) {
        Some(rest) => {
            left = rest;
            change
        }
        None => Change { field: change.field, from: None, to: Some(Value::from(LEFT_OUT)) },
    };
    changes.into_iter().take(MAX_CHANGES).map(fit).collect()
}

impl Field {
    fn is_empty(&self) -> bool {
        match self {
            Self::Shown(Value::Null) => true,
            Self::Shown(Value::String(text)) => text.is_empty(),
            Self::Shown(Value::Array(items)) => items.is_empty(),
            Self::Shown(_) => false,
            Self::Hidden(secret) => secret.expose().is_empty(),
        }
    }

    fn shown(&self) -> Option<Value> {
        match self {
            Self::Shown(value) => Some(value.clone()),
            Self::Hidden(_) => None,
        }
    }
}

/// A long value as the beginning of its text.
fn shortened(value: Value) -> Value {
    let text = match value {
        Value::String(text) => text,
        Value::Array(_) | Value::Object(_) => {
            let text = value.to_string();
            if text.len() <= MAX_TEXT_BYTES {
                return value;
            }
            text
        }
        short => return short,
    };
    Value::String(shorten(text))
}

pub(super) fn shorten(mut text: String) -> String {
    if text.len() > MAX_TEXT_BYTES {
        text.truncate(text.floor_char_boundary(MAX_TEXT_BYTES));
        text.push_str(CUT);
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn only_changed_fields_are_recorded_and_secrets_without_their_values() {
        let before = View::default()
            .with("name", "old")
            .with("isactive", true)
            .with_secret("password", "hunter2");
        let after = View::default()
            .with("name", "new")
            .with("isactive", true)
            .with_secret("password", "hunter3");
        let changes = diff(Some(&before), Some(&after));
        let expected = json!([{"field": "name", "from": "old", "to": "new"}, {"field": "password", "to": "changed"}]);
        assert_eq!(json!(changes), expected);
        assert_eq!(diff(Some(&after), Some(&after)), []);
        assert!(!format!("{before:?}{changes:?}").contains("hunter"));
    }

    #[test]
    fn a_new_object_shows_what_it_has() {
        let view = View::default()
            .with("name", "new")
            .with("tags", json!([]))
            .with("keyword", "")
            .with_secret("password", "")
            .with_secret("secret", "x")
            .with("retries", 0);
        let fields: Vec<String> =
            diff(None, Some(&view)).into_iter().map(|change| change.field).collect();
        assert_eq!(fields, ["name", "retries", "secret"]);
        assert_eq!(diff(Some(&view), None).len(), 6);
    }

    #[test]
    fn a_change_is_the_same_when_it_is_read_again() {
        let view = |value: Value| View::default().with("timeout", value);
        for (from, to) in [(json!(null), json!(1.5)), (json!(60), json!(null))] {
            let changes = diff(Some(&view(from)), Some(&view(to)));
            let text = serde_json::to_string(&changes).unwrap();
            assert_eq!(serde_json::from_str::<Vec<Change>>(&text).unwrap(), changes, "{text}");
        }
    }

    #[test]
    fn long_texts_and_long_lists_are_cut_off() {
        let long = "ä".repeat(2_000);
        let changes = diff(
            None,
            Some(
                &View::default()
                    .with("name", long.as_str())
                    .with("ids", json!(vec![long.as_str(); 9])),
            ),
        );
        for change in changes {
            let to = change.to.unwrap();
            let to = to.as_str().unwrap();
            assert!(to.len() <= MAX_TEXT_BYTES + CUT.len() && to.ends_with(CUT), "{to}");
        }
        let many = (0..200).fold(View::default(), |view, n| view.with(&format!("field {n}"), n));
        assert_eq!(diff(None, Some(&many)).len(), MAX_CHANGES);
    }

    #[test]
    fn an_entry_has_the_values_of_some_fields_and_the_names_of_all() {
        let names: Vec<String> = (0..40).map(|field| format!("{field:02}")).collect();
        let view = |value: &str| {
            let value = format!("{value}{}", "a".repeat(999));
            names.iter().fold(View::default(), |view, name| view.with(name, value.as_str()))
        };
        let changes = bounded(diff(Some(&view("1")), Some(&view("2"))));
        assert_eq!(changes.iter().map(|change| change.field.clone()).collect::<Vec<_>>(), names);
        assert!(serde_json::to_string(&changes).unwrap().len() < 2 * MAX_CHANGES_BYTES);
        let is_left_out = |change: &Change| change.to == Some(json!(LEFT_OUT));
        assert_eq!(changes.iter().position(is_left_out), Some(4), "{changes:?}");
        assert!(changes.iter().skip(4).all(is_left_out));
    }
}
