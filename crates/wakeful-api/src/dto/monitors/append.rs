//! Appends monitors to a long list: the same bytes as those of `Serialize`, but the names of fields
//! are constants. serde_json escapes each name, of which a monitor has about 75 and mostly short
//! values or none.

use serde::Serialize;

/// Appends a struct with these fields, which are all it has, in the order in which they are
/// serialized, each with the function that appends it. The first one is never omitted.
macro_rules! append_object {
    ($text:expr, $body:expr, $type:ident { $($append:ident $name:ident),+ $(,)? }) => {{
        let text: &mut Vec<u8> = $text;
        let $type { $($name),+ } = $body;
        let start = text.len();
        $($append(
            text,
            concat!(",\"", $crate::dto::monitors::append::key!($name), "\":"),
            $name,
        );)+
        // In place of the first comma.
        text[start] = b'{';
        text.push(b'}');
    }};
}
pub(super) use append_object;

/// The name of a field in JSON.
macro_rules! key {
    (r#type) => {
        "type"
    };
    ($name:ident) => {
        stringify!($name)
    };
}
pub(super) use key;

/// Appends a field. `key` has the comma before it and the colon after it.
pub(super) fn value<T: Serialize>(text: &mut Vec<u8>, key: &'static str, value: &T) {
    text.extend_from_slice(key.as_bytes());
    append(text, value);
}

/// Appends a field that is null if it has no value, as most optional ones do.
pub(super) fn nullable<T: Serialize>(text: &mut Vec<u8>, key: &'static str, field: &Option<T>) {
    match field {
        Some(field) => value(text, key, field),
        None => {
            text.extend_from_slice(key.as_bytes());
            text.extend_from_slice(b"null");
        }
    }
}

/// Appends a field that is absent if it has no value.
pub(super) fn present<T: Serialize>(text: &mut Vec<u8>, key: &'static str, field: &Option<T>) {
    if let Some(field) = field {
        value(text, key, field);
    }
}

pub(crate) fn append(text: &mut Vec<u8>, value: &impl Serialize) {
    serde_json::to_writer(text, value).expect("writing to a vector cannot fail");
}
