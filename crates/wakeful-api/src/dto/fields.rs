//! A reader for the fields of a JSON object that collects all invalid fields instead of
//! stopping at the first. `null` counts as omitted; unknown fields are ignored.

use serde_json::{Map, Value};
use wakeful_core::Invalid;
use wakeful_core::secret::Secret;
use zeroize::Zeroize as _;

use crate::error::{ApiError, FieldError};

/// A request that can be read from fields. `None` only if a field was recorded as
/// invalid.
pub(crate) trait FromFields: Sized {
    fn read(fields: &mut Fields) -> Option<Self>;
}

pub(crate) struct Fields {
    values: Map<String, Value>,
    /// The prefix of field names in errors: `http.` within `http`.
    prefix: String,
    errors: Vec<FieldError>,
}

/// The values may be a card or a password, so they are wiped, read or not.
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
        // A number is stored in the map itself.
        Value::Number(_) => *value = Value::Null,
        Value::Null | Value::Bool(_) => {}
    }
}

/// The fields themselves, for a request whose meaning depends on stored data.
impl FromFields for Fields {
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

    /// A copy of the fields, for a second read.
    pub(crate) fn reread(&self) -> Self {
        let Self { values, prefix, errors } = self;
        Self { values: values.clone(), prefix: prefix.clone(), errors: errors.clone() }
    }

    /// The value that was read, or 422 with all invalid fields.
    pub(crate) fn finish<T>(mut self, read: Option<T>) -> Result<T, ApiError> {
        match read {
            Some(read) if self.errors.is_empty() => Ok(read),
            _ => Err(ApiError::fields(std::mem::take(&mut self.errors))),
        }
    }

    /// Records an error for a field. Only the first error of a field counts.
    pub(crate) fn refuse(&mut self, field: &str, message: impl Into<String>) {
        let field = format!("{}{field}", self.prefix);
        if self.errors.iter().all(|error| error.field != field) {
            self.errors.push(FieldError { field, message: message.into() });
        }
    }

    /// Whether the field is present, but null.
    pub(crate) fn is_null(&self, field: &str) -> bool {
        self.values.get(field).is_some_and(Value::is_null)
    }

    pub(crate) fn has(&self, field: &str) -> bool {
        self.values.get(field).is_some_and(|value| !value.is_null())
    }

    pub(crate) fn has_object(&self, field: &str) -> bool {
        self.values.get(field).is_some_and(Value::is_object)
    }

    pub(crate) fn is_empty_object(&self, field: &str) -> bool {
        let object = self.values.get(field).and_then(Value::as_object);
        object.is_some_and(Map::is_empty)
    }

    /// Records an error for each field that is not in this list.
    pub(crate) fn reject_unknown(&mut self, known: &[&str]) {
        let is_unknown = |field: &&String| !known.contains(&field.as_str());
        let unknown: Vec<String> = self.values.keys().filter(is_unknown).cloned().collect();
        for field in unknown {
            self.refuse(&field, "is not a known field");
        }
    }

    /// Whether the field contains more than white space.
    pub(crate) fn is_filled(&self, field: &str) -> bool {
        self.values.get(field).and_then(Value::as_str).is_some_and(|text| !text.trim().is_empty())
    }

    /// A required text that must not be empty.
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

    /// A required text of at most `max` characters.
    pub(crate) fn short_text(&mut self, field: &str, max: usize) -> Option<String> {
        let text = self.text(field)?;
        self.at_most(field, text, max)
    }

    /// An optional text.
    pub(crate) fn optional_text(&mut self, field: &str) -> Option<String> {
        match self.values.get(field) {
            None | Some(Value::Null) => None,
            // PostgreSQL cannot store this character.
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

    /// An optional text of at most `max` characters.
    pub(crate) fn optional_short_text(&mut self, field: &str, max: usize) -> Option<String> {
        let text = self.optional_text(field)?;
        self.at_most(field, text, max)
    }

    /// Optional digits, as a string or a number.
    pub(crate) fn optional_digits(&mut self, field: &str, width: usize) -> Option<String> {
        match self.values.get(field) {
            Some(Value::Number(number)) if number.is_u64() => {
                Some(format!("{:0>width$}", number.to_string()))
            }
            _ => self.optional_text(field),
        }
    }

    /// Secret digits, as a string or a number: taken out of the request and wiped after
    /// use.
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

    /// A required text, parsed by `parse`.
    pub(crate) fn parse<T>(
        &mut self,
        field: &str,
        parse: impl FnOnce(&str) -> Result<T, Invalid>,
    ) -> Option<T> {
        let text = self.text(field)?;
        self.accept(field, parse(&text))
    }

    /// An optional text, parsed by `parse`.
    pub(crate) fn optional<T>(
        &mut self,
        field: &str,
        parse: impl FnOnce(&str) -> Result<T, Invalid>,
    ) -> Option<T> {
        let text = self.optional_text(field)?;
        self.accept(field, parse(&text))
    }

    /// An optional text or number, as text, such as `port`.
    pub(crate) fn optional_text_or_number<T>(
        &mut self,
        field: &str,
        parse: impl FnOnce(&str) -> Result<T, Invalid>,
    ) -> Option<T> {
        match self.values.get(field) {
            None | Some(Value::Null | Value::String(_)) => self.optional(field, parse),
            Some(Value::Number(number)) if number.is_u64() => {
                let text = number.to_string();
                self.accept(field, parse(&text))
            }
            // The parser's own message names the accepted values.
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

    /// An optional text, number or boolean, as text.
    pub(crate) fn optional_scalar(&mut self, field: &str) -> Option<String> {
        match self.values.get(field) {
            Some(Value::Number(number)) => Some(number.to_string()),
            Some(Value::Bool(flag)) => Some(flag.to_string()),
            _ => self.optional_text(field),
        }
    }

    /// An optional whole number, parsed by `parse`.
    pub(crate) fn optional_number<T>(
        &mut self,
        field: &str,
        parse: impl FnOnce(u64) -> Result<T, Invalid>,
    ) -> Option<T> {
        match self.values.get(field) {
            None | Some(Value::Null) => None,
            Some(Value::Number(number)) if number.is_u64() => {
                let number = number.as_u64()?;
                self.accept(field, parse(number))
            }
            // The parser rejects the largest number with a message that names its range.
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

    /// An optional number, which may have decimals, parsed by `parse`.
    pub(crate) fn optional_decimal<T>(
        &mut self,
        field: &str,
        parse: impl FnOnce(f64) -> Result<T, Invalid>,
    ) -> Option<T> {
        match self.values.get(field) {
            None | Some(Value::Null) => None,
            // The parser rejects what is no number with a message that names its range.
            Some(value) => {
                let number = value.as_f64().unwrap_or(f64::NAN);
                self.accept(field, parse(number))
            }
        }
    }

    /// An optional object, as it was sent.
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

    /// Several values, as a comma-separated text or as an array of texts (or of objects
    /// that have the text in `key`).
    pub(crate) fn optional_items(&mut self, field: &str, key: Option<&str>) -> Option<Vec<String>> {
        self.items(field, |item| match item {
            Value::String(text) => Some(text.clone()),
            Value::Object(object) => object.get(key?)?.as_str().map(str::to_owned),
            _ => None,
        })
    }

    /// The same, with the text in another field of each object; an empty one unless it is sent.
    pub(crate) fn optional_pairs(
        &mut self,
        field: &str,
        key: &str,
        other: &str,
    ) -> Option<Vec<(String, String)>> {
        let keys = self.optional_items(field, Some(key))?;
        let other = |place: usize| {
            let item = self.values.get(field)?.as_array()?.get(place)?;
            item.get(other).filter(|value| !value.is_null()).cloned()
        };
        let mut pairs = Vec::new();
        for (place, key) in keys.into_iter().enumerate() {
            match other(place) {
                None => pairs.push((key, String::new())),
                Some(Value::String(text)) => pairs.push((key, text)),
                Some(_) => {
                    self.refuse(field, "must be a comma-separated string or an array");
                    return None;
                }
            }
        }
        Some(pairs)
    }

    /// The same for values that may also be numbers.
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
                self.refuse(field, "must be a comma-separated string or an array");
                None
            }
        }
    }

    /// Reads the object in a field; its errors have the field's name as a prefix. An
    /// omitted object reads as one without fields.
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

    /// An array of objects, each read by `read`; its errors have the field's name and the place
    /// in the array as a prefix, as in `steps.0.after`. `None` if it was omitted or is invalid.
    pub(crate) fn optional_objects<T>(
        &mut self,
        field: &str,
        max: usize,
        mut read: impl FnMut(&mut Self) -> Option<T>,
    ) -> Option<Vec<T>> {
        let items = match self.values.get(field) {
            None | Some(Value::Null) => return None,
            Some(Value::Array(items)) if items.len() <= max => items.clone(),
            Some(Value::Array(_)) => {
                self.refuse(field, format!("must have at most {max} items"));
                return None;
            }
            Some(_) => {
                self.refuse(field, "must be an array of objects");
                return None;
            }
        };
        let mut all = Some(Vec::with_capacity(items.len()));
        for (place, item) in items.into_iter().enumerate() {
            let Value::Object(values) = item else {
                self.refuse(field, "must be an array of objects");
                return None;
            };
            let prefix = format!("{}{field}.{place}.", self.prefix);
            let mut inner = Self { values, prefix, errors: Vec::new() };
            let one = read(&mut inner);
            let is_valid = inner.errors.is_empty();
            self.errors.append(&mut inner.errors);
            match (one, &mut all) {
                (Some(one), Some(all)) if is_valid => all.push(one),
                _ => all = None,
            }
        }
        all
    }

    /// Records a required field that was omitted.
    pub(crate) fn require<T>(&mut self, field: &str, value: Option<T>) -> Option<T> {
        if value.is_none() && !self.has(field) {
            self.refuse(field, "is required");
        }
        value
    }

    /// A parsed value; otherwise records the error.
    pub(crate) fn accept<T>(&mut self, field: &str, parsed: Result<T, Invalid>) -> Option<T> {
        match parsed {
            Ok(value) => Some(value),
            Err(Invalid(why)) => {
                self.refuse(field, why);
                None
            }
        }
    }

    /// A required list of texts that must not be empty.
    pub(crate) fn texts(&mut self, field: &str, max: usize) -> Option<Vec<String>> {
        let wrong = match self.values.get(field) {
            None | Some(Value::Null) => "is required".to_owned(),
            Some(Value::Array(items)) if items.is_empty() => "must not be empty".to_owned(),
            Some(Value::Array(items)) if items.len() > max => {
                format!("must have at most {max} items")
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

    fn at_most(&mut self, field: &str, text: String, max: usize) -> Option<String> {
        if text.chars().count() > max {
            self.refuse(field, format!("must have at most {max} characters"));
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
    fn all_invalid_fields_are_reported_at_once() {
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
    fn digits_sent_as_a_number_get_their_leading_zeros_back() {
        let mut fields = Fields::of(json!({"code": 1234, "text": "001234"})).unwrap();
        assert_eq!(fields.optional_digits("code", 6).as_deref(), Some("001234"));
        assert_eq!(fields.optional_digits("text", 6).as_deref(), Some("001234"));
    }

    #[test]
    fn a_wipe_leaves_nothing_of_the_sent_values() {
        let mut sent = json!({"cardNumber": "4242424242424242", "cvc": 917, "deep":
            [{"password": "hunter2"}, "hunter2", 917, null, true]});
        wipe(&mut sent);
        let left = json!({"cardNumber": "", "cvc": null, "deep":
            [{"password": ""}, "", null, null, true]});
        assert_eq!(sent, left);
    }

    #[test]
    fn a_body_that_is_not_an_object_is_rejected() {
        for value in [json!([]), json!("x"), json!(null), json!(1)] {
            assert!(Fields::of(value).is_err());
        }
    }
}
