//! A reader over the fields of a JSON object that notes every wrong field
//! instead of stopping at the first. `null` reads as left out; fields nobody
//! asks for are ignored.

use serde_json::{Map, Value};
use wakeful_core::Invalid;
use wakeful_core::secret::Secret;
use zeroize::Zeroize as _;

use crate::error::{ApiError, FieldError};

/// A request that can be read from fields. `None` only when a field was noted
/// as wrong.
pub(crate) trait Wire: Sized {
    fn read(fields: &mut Fields) -> Option<Self>;
}

pub(crate) struct Fields {
    values: Map<String, Value>,
    /// What stands before the names in errors: `http.` within `http`.
    prefix: String,
    errors: Vec<FieldError>,
}

/// What was sent may be a card or a password: it is wiped, read or not.
impl Drop for Fields {
    fn drop(&mut self) {
        self.values.values_mut().for_each(wipe);
    }
}

fn wipe(value: &mut Value) {
    match value {
        Value::String(text) => text.zeroize(),
        Value::Array(items) => items.iter_mut().for_each(wipe),
        Value::Object(values) => values.values_mut().for_each(wipe),
        // A number stands in the map itself.
        Value::Number(_) => *value = Value::Null,
        Value::Null | Value::Bool(_) => {}
    }
}

/// The fields themselves, for a request whose meaning depends on what is stored.
impl Wire for Fields {
    fn read(fields: &mut Fields) -> Option<Self> {
        let values = std::mem::take(&mut fields.values);
        Some(Self { values, prefix: String::new(), errors: Vec::new() })
    }
}

impl Fields {
    pub(crate) fn of(value: Value) -> Result<Self, ApiError> {
        match value {
            Value::Object(values) => Ok(Self { values, prefix: String::new(), errors: Vec::new() }),
            _ => Err(ApiError::fields(vec![FieldError {
                field: "body".into(),
                message: "must be a JSON object".into(),
            }])),
        }
    }

    /// The same fields once more, for what has to be read again.
    pub(crate) fn again(&self) -> Self {
        let Self { values, prefix, errors } = self;
        Self { values: values.clone(), prefix: prefix.clone(), errors: errors.clone() }
    }

    /// What was read, or 422 with every wrong field.
    pub(crate) fn finish<T>(mut self, read: Option<T>) -> Result<T, ApiError> {
        match read {
            Some(read) if self.errors.is_empty() => Ok(read),
            _ => Err(ApiError::fields(std::mem::take(&mut self.errors))),
        }
    }

    /// Notes what is wrong with a field; what was said of it first stands.
    pub(crate) fn refuse(&mut self, field: &str, message: impl Into<String>) {
        let field = format!("{}{field}", self.prefix);
        if self.errors.iter().all(|error| error.field != field) {
            self.errors.push(FieldError { field, message: message.into() });
        }
    }

    pub(crate) fn has(&self, field: &str) -> bool {
        self.values.get(field).is_some_and(|value| !value.is_null())
    }

    /// Whether the field holds more than blanks.
    pub(crate) fn is_filled(&self, field: &str) -> bool {
        self.values.get(field).and_then(Value::as_str).is_some_and(|text| !text.trim().is_empty())
    }

    /// A text that must be there and not be empty.
    pub(crate) fn text(&mut self, field: &str) -> Option<String> {
        if !self.has(field) {
            self.refuse(field, "is required");
            return None;
        }
        let text = self.optional_text(field)?;
        if text.trim().is_empty() {
            self.refuse(field, "must not be empty");
            return None;
        }
        Some(text)
    }

    /// A text that must be there and have at most so many characters.
    pub(crate) fn short_text(&mut self, field: &str, most: usize) -> Option<String> {
        let text = self.text(field)?;
        self.at_most(field, text, most)
    }

    /// A text that may be left out.
    pub(crate) fn optional_text(&mut self, field: &str) -> Option<String> {
        match self.values.get(field) {
            None | Some(Value::Null) => None,
            // PostgreSQL cannot keep the character, and nobody types it.
            Some(Value::String(text)) if text.contains('\0') => {
                self.refuse(field, "must not contain the NUL character");
                None
            }
            Some(Value::String(text)) => Some(text.clone()),
            Some(_) => {
                self.refuse(field, "must be a string");
                None
            }
        }
    }

    /// A text that may be left out and has at most so many characters.
    pub(crate) fn optional_short_text(&mut self, field: &str, most: usize) -> Option<String> {
        let text = self.optional_text(field)?;
        self.at_most(field, text, most)
    }

    /// Digits that may come as a string or, where that is natural, as a number.
    pub(crate) fn optional_digits(&mut self, field: &str, width: usize) -> Option<String> {
        match self.values.get(field) {
            Some(Value::Number(number)) if number.is_u64() => {
                Some(format!("{:0>width$}", number.to_string()))
            }
            _ => self.optional_text(field),
        }
    }

    /// Digits that nobody else shall see: taken out of the request and wiped
    /// after use. They may come as a string or as a number.
    pub(crate) fn secret_digits(&mut self, field: &str) -> Option<Secret> {
        let digits = match self.values.remove(field) {
            Some(Value::String(text)) => Secret::new(text),
            Some(Value::Number(number)) if number.is_u64() => Secret::new(number.to_string()),
            None | Some(Value::Null) => {
                self.refuse(field, "is required");
                return None;
            }
            Some(_) => {
                self.refuse(field, "must be a string of digits");
                return None;
            }
        };
        Some(digits)
    }

    /// A text that must be there, turned into a value by `parse`.
    pub(crate) fn parse<T>(
        &mut self,
        field: &str,
        parse: impl FnOnce(&str) -> Result<T, Invalid>,
    ) -> Option<T> {
        let text = self.text(field)?;
        self.believe(field, parse(&text))
    }

    /// A text that may be left out, turned into a value by `parse`.
    pub(crate) fn optional<T>(
        &mut self,
        field: &str,
        parse: impl FnOnce(&str) -> Result<T, Invalid>,
    ) -> Option<T> {
        let text = self.optional_text(field)?;
        self.believe(field, parse(&text))
    }

    /// A text or a number that may be left out, as text: `port` and the like.
    pub(crate) fn optional_text_or_number<T>(
        &mut self,
        field: &str,
        parse: impl FnOnce(&str) -> Result<T, Invalid>,
    ) -> Option<T> {
        match self.values.get(field) {
            None | Some(Value::Null | Value::String(_)) => self.optional(field, parse),
            Some(Value::Number(number)) if number.is_u64() => {
                let text = number.to_string();
                self.believe(field, parse(&text))
            }
            // The parser knows best what it takes.
            Some(other) => {
                let why = match parse(&other.to_string()) {
                    Err(Invalid(why)) => why,
                    Ok(_) => "must be a string or a whole number".into(),
                };
                self.refuse(field, why);
                None
            }
        }
    }

    /// A whole number that may be left out, turned into a value by `parse`.
    pub(crate) fn optional_number<T>(
        &mut self,
        field: &str,
        parse: impl FnOnce(u64) -> Result<T, Invalid>,
    ) -> Option<T> {
        match self.values.get(field) {
            None | Some(Value::Null) => None,
            Some(Value::Number(number)) if number.is_u64() => {
                let number = number.as_u64()?;
                self.believe(field, parse(number))
            }
            // No number is as large: the parser names what it takes.
            Some(_) => {
                let why = match parse(u64::MAX) {
                    Err(Invalid(why)) => why,
                    Ok(_) => "must be a whole number".into(),
                };
                self.refuse(field, why);
                None
            }
        }
    }

    /// An object that may be left out, as it was sent.
    pub(crate) fn optional_object(&mut self, field: &str) -> Option<Value> {
        match self.values.get(field) {
            None | Some(Value::Null) => None,
            Some(object @ Value::Object(_)) => Some(object.clone()),
            Some(_) => {
                self.refuse(field, "must be an object");
                None
            }
        }
    }

    pub(crate) fn optional_flag(&mut self, field: &str) -> Option<bool> {
        match self.values.get(field) {
            None | Some(Value::Null) => None,
            Some(Value::Bool(flag)) => Some(*flag),
            Some(_) => {
                self.refuse(field, "must be true or false");
                None
            }
        }
    }

    /// Several values in one of the two shapes of the interface: a text with
    /// commas, or an array of texts (or of objects that hold the text in `key`).
    pub(crate) fn optional_items(&mut self, field: &str, key: Option<&str>) -> Option<Vec<String>> {
        self.items(field, |item| match item {
            Value::String(text) => Some(text.clone()),
            Value::Object(object) => object.get(key?)?.as_str().map(str::to_owned),
            _ => None,
        })
    }

    /// The same of values that are also written as a number, or as several.
    pub(crate) fn optional_items_or_numbers(&mut self, field: &str) -> Option<Vec<String>> {
        self.items(field, |item| match item {
            Value::String(text) => Some(text.clone()),
            Value::Number(number) if number.is_u64() => Some(number.to_string()),
            _ => None,
        })
    }

    fn items(
        &mut self,
        field: &str,
        text_of: impl Fn(&Value) -> Option<String>,
    ) -> Option<Vec<String>> {
        let items = match self.values.get(field) {
            None | Some(Value::Null) => return None,
            Some(Value::String(text)) => Some(text.split(',').map(str::to_owned).collect()),
            Some(number @ Value::Number(_)) => text_of(number).map(|text| vec![text]),
            Some(Value::Array(items)) => items.iter().map(text_of).collect::<Option<Vec<String>>>(),
            Some(_) => None,
        };
        match items {
            Some(items) if items.iter().any(|item| item.contains('\0')) => {
                self.refuse(field, "must not contain the NUL character");
                None
            }
            Some(items) => Some(items),
            None => {
                self.refuse(field, "must be a string with commas or an array");
                None
            }
        }
    }

    /// Reads the object in a field; its errors are noted under its name. Left
    /// out, it reads as an object without fields.
    pub(crate) fn within<T>(&mut self, field: &str, read: impl FnOnce(&mut Self) -> T) -> T {
        let values = match self.values.get(field) {
            None | Some(Value::Null) => Map::new(),
            Some(Value::Object(values)) => values.clone(),
            Some(_) => {
                self.refuse(field, "must be an object");
                Map::new()
            }
        };
        let prefix = format!("{}{field}.", self.prefix);
        let mut inner = Self { values, prefix, errors: Vec::new() };
        let value = read(&mut inner);
        self.errors.append(&mut inner.errors);
        value
    }

    /// Notes a field that is needed and was left out.
    pub(crate) fn require<T>(&mut self, field: &str, value: Option<T>) -> Option<T> {
        if value.is_none() && !self.has(field) {
            self.refuse(field, "is required");
        }
        value
    }

    /// A parsed value, or its refusal noted.
    pub(crate) fn believe<T>(&mut self, field: &str, parsed: Result<T, Invalid>) -> Option<T> {
        match parsed {
            Ok(value) => Some(value),
            Err(Invalid(why)) => {
                self.refuse(field, why);
                None
            }
        }
    }

    /// A list of texts that must be there and not be empty.
    pub(crate) fn texts(&mut self, field: &str, most: usize) -> Option<Vec<String>> {
        let wrong = match self.values.get(field) {
            None | Some(Value::Null) => "is required".to_owned(),
            Some(Value::Array(items)) if items.is_empty() => "must not be empty".to_owned(),
            Some(Value::Array(items)) if items.len() > most => {
                format!("must have at most {most} items")
            }
            Some(Value::Array(items)) => {
                let texts: Option<Vec<String>> =
                    items.iter().map(|item| item.as_str().map(str::to_owned)).collect();
                match texts {
                    Some(texts) => return Some(texts),
                    None => "must be an array of strings".to_owned(),
                }
            }
            Some(_) => "must be an array of strings".to_owned(),
        };
        self.refuse(field, wrong);
        None
    }

    fn at_most(&mut self, field: &str, text: String, most: usize) -> Option<String> {
        if text.chars().count() > most {
            self.refuse(field, format!("must have at most {most} characters"));
            return None;
        }
        Some(text)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn wrong(fields: &Fields) -> Vec<String> {
        fields.errors.iter().map(|error| format!("{} {}", error.field, error.message)).collect()
    }

    #[test]
    fn every_wrong_field_is_noted_at_once() {
        let mut fields = Fields::of(json!({"a": 1, "b": "", "c": "x\u{0}", "d": null})).unwrap();
        for field in ["a", "b", "c", "d", "e"] {
            assert_eq!(fields.text(field), None);
        }
        assert_eq!(
            wrong(&fields),
            [
                "a must be a string",
                "b must not be empty",
                "c must not contain the NUL character",
                "d is required",
                "e is required"
            ]
        );
    }

    #[test]
    fn digits_may_be_a_number_that_lost_its_zeros() {
        let mut fields = Fields::of(json!({"code": 1234, "text": "001234"})).unwrap();
        assert_eq!(fields.optional_digits("code", 6).as_deref(), Some("001234"));
        assert_eq!(fields.optional_digits("text", 6).as_deref(), Some("001234"));
    }

    #[test]
    fn nothing_that_was_sent_is_left_when_it_is_wiped() {
        let mut sent = json!({"cardNumber": "4242424242424242", "cvc": 917, "deep":
            [{"password": "hunter2"}, "hunter2", 917, null, true]});
        wipe(&mut sent);
        let left = json!({"cardNumber": "", "cvc": null, "deep":
            [{"password": ""}, "", null, null, true]});
        assert_eq!(sent, left);
    }

    #[test]
    fn what_is_no_object_is_refused() {
        for value in [json!([]), json!("x"), json!(null), json!(1)] {
            assert!(Fields::of(value).is_err());
        }
    }
}
