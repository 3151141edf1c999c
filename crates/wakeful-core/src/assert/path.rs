//! JSONPath (RFC 9535). A path of names and indexes, as nearly all are, is evaluated on the bytes
//! and needs no memory. Others build a tree of a bounded document. What makes a query expensive
//! is bounded, too: one `..`, one filter, one list of selectors.

use serde::de::IgnoredAny;
use serde_json::Value;
use serde_json_path::JsonPath;
use std::borrow::Cow;
use std::ops::ControlFlow;
use std::sync::OnceLock;

use crate::Invalid;

/// The longest document that a tree is built of.
pub const MAX_TREE_BYTES: usize = 512 * 1024;
const MAX_COMMAS: usize = 7;

/// A valid path.
#[derive(Clone, Debug)]
pub struct Path(Form);

#[derive(Clone, Debug)]
enum Form {
    Steps(Vec<Step>),
    Query(Box<JsonPath>),
}

#[derive(Clone, Debug, PartialEq, Eq)]
enum Step {
    Name(String),
    Index(i64),
}

impl Path {
    pub fn parse(text: &str) -> Result<Self, Invalid> {
        check_cost(text)?;
        let query = JsonPath::parse(text).map_err(|error| {
            let why = error.to_string();
            Invalid::new(format!("is not a valid RFC 9535 JSONPath: {why}"))
        })?;
        Ok(Self(steps(text).map_or_else(|| Form::Query(Box::new(query)), Form::Steps)))
    }

    /// Whether it needs a tree of the document.
    pub fn needs_tree(&self) -> bool {
        matches!(self.0, Form::Query(_))
    }
}

/// Rejects what multiplies the work of a query. Strings in the path do not count.
fn check_cost(text: &str) -> Result<(), Invalid> {
    let (mut descents, mut filters, mut roots, mut brackets) = (0, 0, 0, 0);
    let (mut commas, mut list) = (0, None);
    let (mut quote, mut previous) = (None, ' ');
    let mut chars = text.chars();
    while let Some(char) = chars.next() {
        match (quote, char) {
            (Some(_), '\\') => {
                chars.next();
            }
            (Some(open), char) if char == open => quote = None,
            (Some(_), _) => {}
            (None, '\'' | '"') => quote = Some(char),
            (None, '.') if previous == '.' => descents += 1,
            (None, '?') => filters += 1,
            (None, '[') => brackets += 1,
            (None, ',') => {
                commas += 1;
                if *list.get_or_insert(brackets) != brackets {
                    return Err(Invalid::new("must have at most one list of selectors"));
                }
            }
            (None, '$') => roots += 1,
            (None, _) => {}
        }
        previous = char;
    }
    match () {
        () if descents > 1 => Err(Invalid::new("must have at most one `..`")),
        () if filters > 1 => Err(Invalid::new("must have at most one filter")),
        () if commas > MAX_COMMAS => {
            Err(Invalid::new("must have at most eight selectors in a list"))
        }
        () if roots > 1 => Err(Invalid::new("must have `$` only at its beginning")),
        () => Ok(()),
    }
}

/// The steps of a valid path that has only names and indexes.
fn steps(text: &str) -> Option<Vec<Step>> {
    let mut rest = text.strip_prefix('$')?;
    let mut steps = Vec::new();
    while !rest.is_empty() {
        if let Some(name) = rest.strip_prefix('.') {
            let end = name.find(['.', '[']).unwrap_or(name.len());
            let is_name = |char: char| char.is_alphanumeric() || char == '_' || !char.is_ascii();
            if end == 0 || !name[..end].chars().all(is_name) {
                return None;
            }
            steps.push(Step::Name(name[..end].to_owned()));
            rest = &name[end..];
            continue;
        }
        let inside = rest.strip_prefix('[')?;
        let quote = inside.chars().next()?;
        if matches!(quote, '\'' | '"') {
            let end = inside[1..].find(quote)? + 1;
            let name = &inside[1..end];
            if name.contains('\\') {
                return None;
            }
            rest = inside[end + 1..].strip_prefix(']')?;
            steps.push(Step::Name(name.to_owned()));
        } else {
            let end = inside.find(']')?;
            steps.push(Step::Index(inside[..end].parse().ok()?));
            rest = &inside[end + 1..];
        }
    }
    Some(steps)
}

/// Why nothing could be selected.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum JsonError {
    Invalid,
    /// Only so many bytes of it were read.
    Cut(usize),
    TooLarge,
}

/// A document, checked and parsed when it is first needed.
pub struct Json<'a> {
    bytes: &'a [u8],
    /// How many bytes were read, if there were more.
    cut: Option<usize>,
    is_valid: OnceLock<bool>,
    tree: OnceLock<Option<Value>>,
}

impl<'a> Json<'a> {
    pub fn new(bytes: &'a [u8]) -> Self {
        Self { bytes, cut: None, is_valid: OnceLock::new(), tree: OnceLock::new() }
    }

    /// The beginning of a document of which no more than `limit` bytes are read, if there is one.
    #[must_use]
    pub fn cut_at(self, limit: Option<usize>) -> Self {
        Self { cut: limit, ..self }
    }

    fn invalid(&self) -> JsonError {
        self.cut.map_or(JsonError::Invalid, JsonError::Cut)
    }

    /// Passes the text of each selected node to `visit`, until it breaks.
    pub(super) fn select(
        &self,
        path: &Path,
        mut visit: impl FnMut(&str) -> ControlFlow<()>,
    ) -> Result<(), JsonError> {
        match &path.0 {
            Form::Steps(steps) => {
                let bytes = self.bytes.trim_ascii();
                // Ignoring a value needs no memory, however it is nested.
                let is_valid = self
                    .is_valid
                    .get_or_init(|| serde_json::from_slice::<IgnoredAny>(bytes).is_ok());
                if !is_valid {
                    return Err(self.invalid());
                }
                if let Some(found) = walk(bytes, steps) {
                    let _ = visit(&text_of(found));
                }
            }
            Form::Query(query) => {
                if self.bytes.len() > MAX_TREE_BYTES {
                    return Err(JsonError::TooLarge);
                }
                let tree = self.tree.get_or_init(|| serde_json::from_slice(self.bytes).ok());
                let tree = tree.as_ref().ok_or_else(|| self.invalid())?;
                for node in query.query(tree).all() {
                    let text = match node {
                        Value::String(text) => Cow::Borrowed(text.as_str()),
                        other => Cow::Owned(other.to_string()),
                    };
                    if visit(&text).is_break() {
                        break;
                    }
                }
            }
        }
        Ok(())
    }
}

/// The value at the end of the steps. The document is valid.
fn walk<'a>(document: &'a [u8], steps: &[Step]) -> Option<&'a [u8]> {
    let mut value = document;
    for step in steps {
        let mut found = None;
        match step {
            Step::Name(name) if value.first() == Some(&b'{') => {
                let mut rest = value[1..].trim_ascii_start();
                while rest.first() == Some(&b'"') {
                    let (key, behind) = rest.split_at(skip(rest));
                    let behind = behind.trim_ascii_start().strip_prefix(b":")?.trim_ascii_start();
                    let (member, behind) = behind.split_at(skip(behind));
                    // Of duplicate names, the last one counts.
                    if text_of(key) == name.as_str() {
                        found = Some(member);
                    }
                    rest = next_item(behind);
                }
            }
            Step::Index(index) if value.first() == Some(&b'[') => {
                let index = match usize::try_from(*index) {
                    Ok(index) => Some(index),
                    // From the end.
                    Err(_) => items_of(value).count().checked_add_signed(*index as isize),
                };
                found = index.and_then(|index| items_of(value).nth(index));
            }
            _ => {}
        }
        value = found?;
    }
    Some(value)
}

/// The values in an array.
fn items_of(array: &[u8]) -> impl Iterator<Item = &[u8]> {
    let mut rest = array[1..].trim_ascii_start();
    std::iter::from_fn(move || {
        if matches!(rest.first(), None | Some(b']')) {
            return None;
        }
        let (item, behind) = rest.split_at(skip(rest));
        rest = next_item(behind);
        Some(item)
    })
}

/// What follows a comma.
fn next_item(behind: &[u8]) -> &[u8] {
    let behind = behind.trim_ascii_start();
    behind.strip_prefix(b",").map_or(behind, <[u8]>::trim_ascii_start)
}

/// The length of the value that begins here. The document is valid.
fn skip(bytes: &[u8]) -> usize {
    let (mut depth, mut at) = (0_usize, 0);
    while let Some(byte) = bytes.get(at) {
        match byte {
            b'"' => at += string_length(&bytes[at..]),
            b'{' | b'[' => {
                depth += 1;
                at += 1;
            }
            b'}' | b']' if depth == 0 => return at,
            b'}' | b']' => {
                depth -= 1;
                at += 1;
            }
            b',' | b':' if depth == 0 => return at,
            byte if byte.is_ascii_whitespace() && depth == 0 => return at,
            _ => {
                at += 1;
                continue;
            }
        }
        if depth == 0 {
            return at;
        }
    }
    at
}

/// The length of a string with its quotes.
fn string_length(bytes: &[u8]) -> usize {
    let mut at = 1;
    while let Some(byte) = bytes.get(at) {
        match byte {
            b'"' => return at + 1,
            b'\\' => at += 2,
            _ => at += 1,
        }
    }
    bytes.len()
}

/// A string without quotes; anything else as compact JSON.
fn text_of(value: &[u8]) -> Cow<'_, str> {
    match value.first() {
        Some(b'"') if !value.contains(&b'\\') => {
            String::from_utf8_lossy(&value[1..value.len().saturating_sub(1).max(1)])
        }
        Some(b'"') => Cow::Owned(serde_json::from_slice(value).unwrap_or_default()),
        Some(b'{' | b'[') => Cow::Owned(compact(value)),
        _ => String::from_utf8_lossy(value),
    }
}

fn compact(value: &[u8]) -> String {
    let (mut text, mut at) = (Vec::with_capacity(value.len()), 0);
    while let Some(byte) = value.get(at) {
        if *byte == b'"' {
            let length = string_length(&value[at..]);
            text.extend_from_slice(&value[at..at + length]);
            at += length;
        } else {
            if !byte.is_ascii_whitespace() {
                text.push(*byte);
            }
            at += 1;
        }
    }
    String::from_utf8_lossy(&text).into_owned()
}

#[cfg(test)]
mod rfc9535;

#[cfg(test)]
mod tests {
    use super::*;

    pub(super) fn select(document: &str, path: &Path) -> Result<Vec<String>, JsonError> {
        let mut found = Vec::new();
        Json::new(document.as_bytes()).select(path, |text| {
            found.push(text.to_owned());
            ControlFlow::Continue(())
        })?;
        Ok(found)
    }

    const DOCUMENT: &str = r#" { "a" : {"b": [1, 2.50, "three", null, {"c": " d "}], "e\n": true},
        "a2": [], "dup": 1, "dup": {"x" : [ 1 , 2 ] }, "empty": {}, "q'": "\u00e9\"", "é": 1e3 } "#;

    #[test]
    fn both_evaluations_select_the_same() {
        for (path, expected) in [
            ("$.a.b[0]", &["1"][..]),
            ("$.a.b[1]", &["2.50"]),
            ("$.a.b[-1].c", &[" d "]),
            ("$.a.b[2]", &["three"]),
            ("$.a.b[3]", &["null"]),
            ("$.a.b[9]", &[]),
            ("$.a.b[-9]", &[]),
            ("$['a']['b'][0]", &["1"]),
            ("$[\"q'\"]", &["é\""]),
            ("$.dup.x", &["[1,2]"]),
            ("$.dup", &[r#"{"x":[1,2]}"#]),
            ("$.a2", &["[]"]),
            ("$.empty", &["{}"]),
            ("$.é", &["1e3"]),
            ("$.none", &[]),
            ("$.a.b.c", &[]),
            ("$.a[0]", &[]),
        ] {
            let parsed = Path::parse(path).expect(path);
            assert!(!parsed.needs_tree(), "{path}");
            assert_eq!(select(DOCUMENT, &parsed).expect(path), expected, "{path}");
            let tree = Path(Form::Query(Box::new(JsonPath::parse(path).expect(path))));
            let selected = select(DOCUMENT, &tree).expect(path);
            // A tree does not preserve how a number is written.
            let written = |text: &String| text.replace("2.50", "2.5").replace("1e3", "1000.0");
            let expected: Vec<String> =
                expected.iter().map(|text| written(&(*text).into())).collect();
            assert_eq!(selected.iter().map(written).collect::<Vec<_>>(), expected, "{path}");
        }
    }

    #[test]
    fn invalid_and_expensive_paths_are_rejected() {
        for (path, why) in [
            ("", "is not a valid RFC 9535 JSONPath"),
            ("a.b", "is not a valid RFC 9535 JSONPath"),
            ("$.a[", "is not a valid RFC 9535 JSONPath"),
            ("$..*..a", "must have at most one `..`"),
            ("$.a[?@.b[?@.c]]", "must have at most one filter"),
            ("$.a[?$.b[0] == 1]", "must have `$` only at its beginning"),
            ("$['a','a','a','a','a','a','a','a','a','a']", "must have at most eight selectors"),
            ("$[*,*][*,*]", "must have at most one list of selectors"),
        ] {
            let error = Path::parse(path).expect_err(path).to_string();
            assert!(error.starts_with(why), "{path}: {error}");
        }
        assert!(Path::parse("$['..']['..']['?']['?']['$']").is_ok());
    }

    #[test]
    fn what_is_not_json_or_too_large_is_reported() {
        let (simple, query) =
            (Path::parse("$.a").expect("valid"), Path::parse("$..a").expect("valid"));
        for text in ["", "<html>", "{\"a\":1", "{\"a\":1} x", "[1,]"] {
            assert_eq!(select(text, &simple), Err(JsonError::Invalid), "{text}");
            assert_eq!(select(text, &query), Err(JsonError::Invalid), "{text}");
        }
        let long = format!("[{}1]", "1,".repeat(MAX_TREE_BYTES / 2));
        assert_eq!(select(&long, &query), Err(JsonError::TooLarge));
        assert_eq!(select(&long, &Path::parse("$[0]").expect("valid")), Ok(vec!["1".to_owned()]));
    }

    #[test]
    fn hostile_nesting_takes_neither_stack_nor_time() {
        let began = std::time::Instant::now();
        let nested = format!("{}{}", "[".repeat(200_000), "]".repeat(200_000));
        for path in ["$[0][0][0]", "$.a", "$[-1][0]"] {
            assert!(select(&nested, &Path::parse(path).expect("valid")).is_ok(), "{path}");
        }
        let objects = format!("[{}1]", "{\"a\":[1]},".repeat(8_000));
        for path in ["$..a", "$..*", "$[*][*][*]", "$[?@.a]", "$..[?@[*]]", "$[*,*,*,*][*]"] {
            assert!(select(&objects, &Path::parse(path).expect("valid")).is_ok(), "{path}");
        }
        assert!(began.elapsed() < std::time::Duration::from_secs(30), "{:?}", began.elapsed());
    }
}
