//! The table of error codes in docs/api.md lists exactly the codes that the API can return.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use wakeful_engine::billing::Decline;

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..")
}

fn sources(folder: &Path, found: &mut Vec<PathBuf>) {
    for entry in std::fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() { sources(&path, found) } else { found.push(path) }
    }
}

/// The codes in the OpenAPI document, which are those that the API can return.
fn known() -> BTreeSet<String> {
    let document = serde_json::to_value(wakeful_api::document()).unwrap();
    let codes = &document["components"]["schemas"]["KnownErrorCode"]["enum"];
    codes.as_array().unwrap().iter().map(|code| code.as_str().unwrap().to_owned()).collect()
}

/// `NotFound` for `not_found`: the name of its variant.
fn variant(code: &str) -> String {
    let capitalized = |word: &str| word[..1].to_uppercase() + &word[1..];
    code.split('_').map(capitalized).collect()
}

/// The codes in the table rows that begin with a status.
fn table(guide: &str) -> Vec<String> {
    let of_row = |line: &str| {
        let mut cells = line.strip_prefix('|')?.split('|');
        cells.next()?.trim().parse::<u16>().ok()?;
        cells.next()?.split('`').nth(1).map(str::to_owned)
    };
    guide.lines().filter_map(of_row).collect()
}

#[test]
fn the_table_of_codes_has_every_code_and_no_other() {
    let known = known();
    assert!(known.len() > 30, "{known:?}");
    let guide = std::fs::read_to_string(root().join("docs/api.md")).unwrap();
    let documented: BTreeSet<String> = table(&guide).into_iter().collect();
    let missing: Vec<&String> = known.difference(&documented).collect();
    let unknown: Vec<&String> = documented.difference(&known).collect();
    assert!(missing.is_empty(), "not in docs/api.md: {missing:?}");
    assert!(unknown.is_empty(), "only in docs/api.md: {unknown:?}");
}

#[test]
fn every_code_is_returned_somewhere() {
    let mut files = Vec::new();
    sources(&root().join("crates/wakeful-api/src"), &mut files);
    let all: String = files.iter().map(|file| std::fs::read_to_string(file).unwrap()).collect();
    let used = |code: &str| {
        let name = format!("ErrorCode::{}", variant(code));
        all.split(&name).skip(1).any(|rest| !rest.starts_with(char::is_alphanumeric))
    };
    let declines: Vec<&str> = Decline::ALL.iter().map(|decline| decline.as_str()).collect();
    let unused: Vec<String> = known()
        .into_iter()
        .filter(|code| !declines.contains(&code.as_str()) && !used(code))
        .collect();
    assert!(unused.is_empty(), "no handler returns {unused:?}");
}

#[test]
fn no_code_is_documented_twice() {
    let guide = std::fs::read_to_string(root().join("docs/api.md")).unwrap();
    let mut seen = BTreeSet::new();
    for code in table(&guide) {
        assert!(seen.insert(code.clone()), "{code} is listed twice");
    }
}
