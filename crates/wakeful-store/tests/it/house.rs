//! The rules of the house that no compiler holds: which crate may use which,
//! where SQL may stand, and that no sealed column is forgotten by a rotation.

#![expect(clippy::unwrap_used, reason = "tests fail loudly")]

use serde_json::Value;
use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::process::Command;

/// Which of our crates each may use; arrows point down only.
const ARROWS: &[(&str, &[&str])] = &[
    ("wakeful-core", &[]),
    ("wakeful-store", &["wakeful-core"]),
    ("wakeful-outbound", &["wakeful-core"]),
    ("wakeful-engine", &["wakeful-core", "wakeful-outbound", "wakeful-store"]),
    ("wakeful-api", &["wakeful-core", "wakeful-engine"]),
    (
        "wakeful",
        &["wakeful-api", "wakeful-core", "wakeful-engine", "wakeful-outbound", "wakeful-store"],
    ),
    (
        "wakeful-testkit",
        &["wakeful-api", "wakeful-core", "wakeful-engine", "wakeful-outbound", "wakeful-store"],
    ),
    ("wakeful-bench", &["wakeful-core", "wakeful-store"]),
];

/// Who may speak to the database: the store, and what never ships.
const MAY_USE_SQL: &[&str] = &["wakeful-store", "wakeful-testkit", "wakeful-bench"];

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..").canonicalize().unwrap()
}

fn cargo(arguments: &[&str]) -> String {
    let done = Command::new(env!("CARGO")).current_dir(root()).args(arguments).output().unwrap();
    assert!(done.status.success(), "{}", String::from_utf8_lossy(&done.stderr));
    String::from_utf8(done.stdout).unwrap()
}

/// Our crates with what they depend on when they ship, by name.
fn crates() -> Vec<(String, BTreeSet<String>)> {
    let metadata = cargo(&["metadata", "--no-deps", "--format-version=1", "--offline"]);
    let metadata: Value = serde_json::from_str(&metadata).unwrap();
    let packages = metadata["packages"].as_array().unwrap().iter();
    let text = |value: &Value| value.as_str().unwrap().to_owned();
    packages
        .map(|package| {
            let shipped = package["dependencies"].as_array().unwrap().iter();
            let shipped = shipped.filter(|dependency| dependency["kind"] != "dev");
            (text(&package["name"]), shipped.map(|dependency| text(&dependency["name"])).collect())
        })
        .collect()
}

/// Every Rust file under a folder.
fn sources(folder: &Path) -> Vec<PathBuf> {
    let mut files = Vec::new();
    for entry in std::fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() {
            files.extend(sources(&path));
        } else if path.extension().is_some_and(|kind| kind == "rs") {
            files.push(path);
        }
    }
    files
}

/// What stands in the source of our crates, but for these.
fn lines_outside(rooms: &[&str]) -> Vec<(String, String)> {
    let mut lines = Vec::new();
    for (name, _) in crates().iter().filter(|(name, _)| !rooms.contains(&name.as_str())) {
        for file in sources(&root().join("crates").join(name).join("src")) {
            let text = std::fs::read_to_string(&file).unwrap();
            for (at, line) in text.lines().enumerate() {
                let code = line.split("//").next().unwrap().to_lowercase();
                lines.push((format!("{}:{}", file.display(), at + 1), code));
            }
        }
    }
    assert!(lines.len() > 1000, "the sources were not found");
    lines
}

#[test]
fn arrows_between_crates_point_as_the_design_draws_them() {
    let crates = crates();
    let known: BTreeSet<&str> = ARROWS.iter().map(|(name, _)| *name).collect();
    assert_eq!(crates.iter().map(|(name, _)| name.as_str()).collect::<BTreeSet<_>>(), known);
    for (name, uses) in &crates {
        let allowed = ARROWS.iter().find(|(known, _)| known == name).unwrap().1;
        for used in uses.iter().filter(|used| known.contains(used.as_str())) {
            assert!(allowed.contains(&used.as_str()), "{name} must not use {used}");
        }
    }
}

#[test]
fn the_database_driver_is_used_by_the_store_alone() {
    for (name, uses) in crates() {
        let may = MAY_USE_SQL.contains(&name.as_str());
        assert!(may || !uses.contains("sqlx"), "{name} must not use sqlx");
    }
    for (place, line) in lines_outside(MAY_USE_SQL) {
        assert!(!line.contains("sqlx::"), "{place}: sqlx belongs into the store");
    }
}

#[test]
fn sql_stands_in_the_store_alone() {
    let words = [
        "\"select ",
        "\"insert into ",
        "\"update ",
        "\"delete from ",
        "insert into ",
        "create table ",
    ];
    for (place, line) in lines_outside(MAY_USE_SQL) {
        // A test that fills a file for `scripts/decode-block.py`, which reads it without us.
        if place.contains("history/block_format.rs") {
            continue;
        }
        assert!(
            words.iter().all(|word| !line.contains(word)),
            "{place}: SQL belongs into the store"
        );
    }
}

#[test]
fn the_core_does_no_io() {
    let tree =
        cargo(&["tree", "-p", "wakeful-core", "-e", "normal", "--prefix", "none", "--offline"]);
    let names: BTreeSet<&str> = tree.lines().filter_map(|line| line.split(' ').next()).collect();
    assert!(names.contains("wakeful-core") && names.len() > 5, "{tree}");
    for name in ["tokio", "sqlx", "hyper", "axum", "reqwest", "mio", "socket2"] {
        assert!(!names.contains(name), "wakeful-core depends on {name}");
    }
}

/// A column marked `-- sealed` in a migration is moved by a change of keys.
#[test]
fn every_sealed_column_is_resealed() {
    let store = root().join("crates/wakeful-store");
    let reseal = std::fs::read_to_string(store.join("src/reseal.rs")).unwrap();
    let mut sealed = 0;
    for entry in std::fs::read_dir(store.join("migrations/sqlite")).unwrap() {
        let text = std::fs::read_to_string(entry.unwrap().path()).unwrap();
        let mut table = "";
        for line in text.lines() {
            if let Some(rest) = line.strip_prefix("create table ") {
                table = rest.split(' ').next().unwrap();
            }
            if line.ends_with("-- sealed") {
                let column = line.trim().split(' ').next().unwrap();
                let row = format!("(\"{table}\", \"{column}\")");
                assert!(reseal.contains(&row), "{row} is missing in reseal.rs");
                sealed += 1;
            }
        }
    }
    assert!(sealed >= 2, "the marks were not found");
}
