//! The codes of errors: each that the source can answer stands in the table of
//! docs/api.md, and no other.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..")
}

fn sources(folder: &Path, found: &mut Vec<PathBuf>) {
    for entry in std::fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        match path.is_dir() {
            true => sources(&path, found),
            false => found.push(path),
        }
    }
}

/// The first text in quotes, when it is a word as codes are.
fn word(source: &str) -> Option<String> {
    let (_, rest) = source.split_once('"')?;
    let (word, _) = rest.split_once('"')?;
    let is_code = |c: char| c.is_ascii_lowercase() || c == '_';
    (!word.is_empty() && word.chars().all(is_code)).then(|| word.to_owned())
}

/// What stands first in quotes behind each of these.
fn behind(source: &str, mark: &str) -> BTreeSet<String> {
    source.split(mark).skip(1).filter_map(word).collect()
}

fn answered() -> BTreeSet<String> {
    let mut files = Vec::new();
    sources(&root().join("crates/wakeful-api/src"), &mut files);
    let mut codes = BTreeSet::new();
    for file in files {
        let source = std::fs::read_to_string(&file).unwrap();
        for mark in
            ["ApiError::new(", "Self::new(StatusCode", "Self::new(\n", "conflict(", "unauthorized("]
        {
            codes.extend(behind(&source, mark));
        }
    }
    let payment = root().join("crates/wakeful-outbound/src/payment/mod.rs");
    let payment = std::fs::read_to_string(payment).unwrap();
    let (_, declines) = payment.split_once("pub fn code(self)").unwrap();
    codes.extend(behind(declines, " => "));
    codes
}

/// The codes in the rows that begin with a status.
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
    let answered = answered();
    assert!(answered.len() > 30, "{answered:?}");
    let guide = std::fs::read_to_string(root().join("docs/api.md")).unwrap();
    let told: BTreeSet<String> = table(&guide).into_iter().collect();
    let missing: Vec<&String> = answered.difference(&told).collect();
    let strange: Vec<&String> = told.difference(&answered).collect();
    assert!(missing.is_empty(), "not in docs/api.md: {missing:?}");
    assert!(strange.is_empty(), "only in docs/api.md: {strange:?}");
}

#[test]
fn no_code_means_two_things() {
    let guide = std::fs::read_to_string(root().join("docs/api.md")).unwrap();
    let mut seen = BTreeSet::new();
    for code in table(&guide) {
        assert!(seen.insert(code.clone()), "{code} stands twice");
    }
}
