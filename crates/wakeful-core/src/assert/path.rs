//! JSONPath (RFC 9535). A path of names and indexes, as nearly all are, is evaluated on the bytes
//! and needs no memory. Others build a tree of a bounded document. What makes a query expensive
//! is bounded, too: one `..`, one filter, one list of selectors, and the work that the query may be for
//! this document.

use serde::de::IgnoredAny;
use serde_json::Value;
use serde_json_path::JsonPath;
use std::borrow::Cow;
use std::ops::ControlFlow;
use std::sync::OnceLock;

use super::work::Work;
use crate::Invalid;

/// The longest document that a tree is built of.
pub const MAX_TREE_BYTES: usize = 512 * 1024;
const MAX_COMMAS: usize = 7;
/// The bytes of a text that count as one node.
const NODE_BYTES: usize = 32;

/// A valid path.
#[derive(Clone, Debug)]
pub struct Path(Form);

#[derive(Clone, Debug)]
enum Form {
    Steps(Vec<Step>),
    Query(Box<Query>),
}

#[derive(Clone, Debug)]
struct Query {
    path: JsonPath,
    /// Whether it has a `..`, which selects nodes inside of others that are selected as well.
    descends: bool,
    /// How often it may visit a node for each way to it: for each selector of its list, and for each
    /// `@` of its filter.
    visits: usize,
}

impl Query {
    /// No less than the nodes that it visits, or that are compared or shown because of it.
    fn work(&self, tree: &Tree) -> usize {
        let nodes = if self.descends { tree.nested } else { tree.nodes };
        nodes.saturating_mul(self.visits)
    }
}

#[derive(Clone, Debug, PartialEq, Eq)]
enum Step {
    Name(String),
    Index(i64),
}

impl Path {
    pub fn parse(text: &str) -> Result<Self, Invalid> {
        let (descends, visits) = check_cost(text)?;
        let path = JsonPath::parse(text).map_err(|error| {
            let why = error.to_string();
            Invalid::new(format!("is not a valid RFC 9535 JSONPath: {why}"))
        })?;
        let query = || Form::Query(Box::new(Query { path, descends, visits }));
        Ok(Self(steps(text).map_or_else(query, Form::Steps)))
    }

    /// Whether it needs a tree of the document.
    pub fn needs_tree(&self) -> bool {
        matches!(self.0, Form::Query(_))
    }
}

/// Rejects what multiplies the work of a query; returns whether it descends, and its `visits`.
/// Strings in the path do not count.
fn check_cost(text: &str) -> Result<(bool, usize), Invalid> {
    let (mut descents, mut filters, mut roots, mut brackets) = (0, 0, 0, 0);
    let (mut commas, mut list, mut currents) = (0, None, 0);
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
            (None, '@') => currents += 1,
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
        () => Ok((descents > 0, 1 + commas + currents)),
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
    /// Evaluating the path takes too long.
    TooMuchWork,
}

/// A document in memory, with its size.
struct Tree {
    root: Value,
    nodes: usize,
    /// The nodes of all its values together: one that is nested counts for each value around it.
    nested: usize,
}

impl Tree {
    fn parse(bytes: &[u8]) -> Option<Self> {
        let root = serde_json::from_slice(bytes).ok()?;
        let (nodes, nested) = measure(&root);
        Some(Self { root, nodes, nested })
    }
}

/// The nodes of a value, and those of all values in it. Long texts count for more. The parser limits
/// how deep values are nested.
fn measure(value: &Value) -> (usize, usize) {
    let of_text = |text: &str| text.len() / NODE_BYTES;
    let add = |sum: (usize, usize), value: &Value| {
        let (nodes, nested) = measure(value);
        (sum.0 + nodes, sum.1 + nested)
    };
    let (nodes, nested) = match value {
        Value::String(text) => (1 + of_text(text), 0),
        Value::Array(items) => items.iter().fold((1, 0), add),
        Value::Object(members) => {
            let names = members.keys().map(|name| of_text(name)).sum::<usize>();
            members.values().fold((1 + names, 0), add)
        }
        _ => (1, 0),
    };
    (nodes, nested + nodes)
}

/// A document, checked and parsed when it is first needed.
pub struct Json<'a> {
    bytes: &'a [u8],
    /// How many bytes were read, if there were more.
    cut: Option<usize>,
    is_valid: OnceLock<bool>,
    tree: OnceLock<Option<Tree>>,
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
        work: &Work,
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
                if let Some(found) = walk(bytes, steps, work)? {
                    let _ = visit(&text_of(found));
                }
            }
            Form::Query(query) => {
                if self.bytes.len() > MAX_TREE_BYTES {
                    return Err(JsonError::TooLarge);
                }
                let tree = self.tree.get_or_init(|| Tree::parse(self.bytes));
                let tree = tree.as_ref().ok_or_else(|| self.invalid())?;
                work.visit_nodes(query.work(tree)).ok_or(JsonError::TooMuchWork)?;
                for node in query.path.query(&tree.root).all() {
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
fn walk<'a>(
    document: &'a [u8],
    steps: &[Step],
    work: &Work,
) -> Result<Option<&'a [u8]>, JsonError> {
    let mut value = document;
    for step in steps {
        // An index from the end takes another look.
        let looks = if matches!(step, Step::Index(..0)) { 2 } else { 1 };
        work.read(looks * value.len(), document.len()).ok_or(JsonError::TooMuchWork)?;
        let Some(found) = member(value, step) else { return Ok(None) };
        value = found;
    }
    Ok(Some(value))
}

/// What a step selects of a value.
fn member<'a>(value: &'a [u8], step: &Step) -> Option<&'a [u8]> {
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
    found
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
        Json::new(document.as_bytes()).select(path, &Work::default(), |text| {
            found.push(text.to_owned());
            ControlFlow::Continue(())
        })?;
        Ok(found)
    }

    /// The same path as a query on a tree.
    pub(super) fn tree_path(path: &str) -> Path {
        let (descends, visits) = check_cost(path).expect(path);
        let path = JsonPath::parse(path).expect(path);
        Path(Form::Query(Box::new(Query { path, descends, visits })))
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
            let tree = tree_path(path);
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
    fn what_takes_too_long_is_not_evaluated() {
        // Each value is compared, or shown, with everything in it.
        let deep = format!("{}{}1{}", "[".repeat(125), "1,".repeat(250_000), "]".repeat(125));
        let terms = |operator: &str, comparison: &str| {
            format!("$..[?{}]", vec![comparison; 40].join(operator))
        };
        let list = "$..[*,*,*,*,*,*,*,*]";
        for path in [&terms("&&", "@==@"), &terms("||", "@!=@"), list] {
            let path = Path::parse(path).expect(path);
            assert_eq!(select(&deep, &path), Err(JsonError::TooMuchWork));
        }
        // All assertions of a check share the work.
        let objects = format!("[{}1]", "{\"a\":[1]},".repeat(8_000));
        let (work, path) = (Work::default(), Path::parse("$..[?@.a==1]").expect("valid"));
        let ignore = |_: &str| ControlFlow::Continue(());
        let json = Json::new(objects.as_bytes());
        let all = (0..100).take_while(|_| json.select(&path, &work, ignore).is_ok()).count();
        assert!((20..100).contains(&all), "{all}");
        // The same is true of reading.
        let names = format!("{}1{}", "{\"a\":".repeat(126), "}".repeat(126));
        let padded = format!("{names}{}", " ".repeat(10_000));
        let path = Path::parse(&format!("${}", ".a".repeat(126))).expect("valid");
        assert_eq!(select(&padded, &path), Ok(vec!["1".to_owned()]));
        let long = names.replace('1', &format!("\"{}\"", "1".repeat(1 << 20)));
        let (work, json) = (Work::default(), Json::new(long.as_bytes()));
        assert_eq!(json.select(&path, &work, ignore), Ok(()));
        assert_eq!(json.select(&path, &work, ignore), Err(JsonError::TooMuchWork));
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
