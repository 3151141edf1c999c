//! Architecture rules that the compiler does not check: the dependencies between
//! crates, SQL only in the store, key rotation for every sealed column, and one way to log
//! an error.

#![expect(clippy::unwrap_used, reason = "tests fail loudly")]

use serde_json::Value;
use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::process::Command;

/// The crates of this workspace that each crate may depend on.
const ALLOWED_DEPENDENCIES: &[(&str, &[&str])] = &[
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

/// The crates for tests and measurements only.
const NEVER_SHIP: &[&str] = &["wakeful-testkit", "wakeful-bench"];

/// The crates that may use the database: the store, and those that never ship.
const MAY_USE_SQL: &[&str] = &["wakeful-store", "wakeful-testkit", "wakeful-bench"];

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..").canonicalize().unwrap()
}

fn cargo(arguments: &[&str]) -> String {
    let done = Command::new(env!("CARGO")).current_dir(root()).args(arguments).output().unwrap();
    assert!(done.status.success(), "{}", String::from_utf8_lossy(&done.stderr));
    String::from_utf8(done.stdout).unwrap()
}

/// The crates of this workspace with the names of their dependencies, excluding
/// those for tests.
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

/// The source lines of the workspace's crates, except the excluded ones.
fn lines_outside(excluded: &[&str]) -> Vec<(String, String)> {
    let mut lines = Vec::new();
    for (name, _) in crates().iter().filter(|(name, _)| !excluded.contains(&name.as_str())) {
        for file in sources(&root().join("crates").join(name).join("src")) {
            let text = std::fs::read_to_string(&file).unwrap();
            for (at, line) in text.lines().enumerate() {
                let code = line.split("//").next().unwrap().to_lowercase();
                lines.push((format!("{}:{}", file.display(), at + 1), code));
            }
        }
    }
    assert!(lines.len() > 1000, "sources not found");
    lines
}

#[test]
fn crates_depend_only_on_allowed_crates() {
    let crates = crates();
    let known: BTreeSet<&str> = ALLOWED_DEPENDENCIES.iter().map(|(name, _)| *name).collect();
    assert_eq!(crates.iter().map(|(name, _)| name.as_str()).collect::<BTreeSet<_>>(), known);
    for (name, uses) in &crates {
        let allowed = ALLOWED_DEPENDENCIES.iter().find(|(known, _)| known == name).unwrap().1;
        for used in uses.iter().filter(|used| known.contains(used.as_str())) {
            assert!(allowed.contains(&used.as_str()), "{name} must not depend on {used}");
        }
    }
}

#[test]
fn only_the_store_uses_the_database_driver() {
    for (name, uses) in crates() {
        let may = MAY_USE_SQL.contains(&name.as_str());
        assert!(may || !uses.contains("sqlx"), "{name} must not depend on sqlx");
    }
    for (place, line) in lines_outside(MAY_USE_SQL) {
        assert!(!line.contains("sqlx::"), "{place}: sqlx belongs in the store");
    }
}

#[test]
fn only_the_store_contains_sql() {
    let words = [
        "\"select ",
        "\"insert into ",
        "\"update ",
        "\"delete from ",
        "insert into ",
        "create table ",
    ];
    for (place, line) in lines_outside(MAY_USE_SQL) {
        // This test creates a database file for `scripts/decode-block.py`.
        if place.contains("history/block_format.rs") {
            continue;
        }
        assert!(words.iter().all(|word| !line.contains(word)), "{place}: SQL belongs in the store");
    }
}

/// A macro compiles its statement again at each call and hides it from the reader.
#[test]
fn macros_of_the_store_contain_no_statements() {
    let mut macros = 0;
    for file in sources(&root().join("crates/wakeful-store/src")) {
        let name = file.file_name().unwrap();
        if name == "dialect.rs" || name == "migrate.rs" {
            continue;
        }
        let text = std::fs::read_to_string(&file).unwrap();
        for rest in text.split("macro_rules! ").skip(1) {
            let body = rest.split("\n}\n").next().unwrap();
            let place = file.display();
            assert!(!body.contains("sqlx::"), "{place}: a function over `&mut Tx` instead: {body}");
            macros += 1;
        }
    }
    assert!(macros > 0, "macros not found");
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

/// The arguments of every call of a logging macro.
fn log_calls(text: &str) -> Vec<&str> {
    let mut calls = Vec::new();
    for level in ["error", "warn", "info", "debug", "trace"] {
        let name = format!("tracing::{level}!(");
        for (at, _) in text.match_indices(&name) {
            let rest = &text[at + name.len()..];
            let mut depth = 1;
            let end = rest.find(|c| {
                depth += i32::from(c == '(') - i32::from(c == ')');
                depth == 0
            });
            calls.push(&rest[..end.expect("the call ends")]);
        }
    }
    calls
}

/// Whether the only error in a log line is `error = %ErrorChain(…)`, its last field. Of a
/// `&dyn Error`, as of a `%error`, a log in JSON contains only the outermost message.
fn logs_errors_with_causes(call: &str) -> bool {
    const CHAIN: &str = "error = %ErrorChain(";
    let is_bare = |field: &str| ["error", "%error", "?error"].contains(&field.trim());
    let (before, after) = call.split_once(CHAIN).unwrap_or((call, ""));
    let is_last = after.is_empty()
        || after
            .split_once("), ")
            .is_some_and(|(_, message)| message.trim_start().starts_with('"'));
    let others = ["error =", "{error", "dyn ", "ErrorChain("];
    is_last
        && !call.split(',').any(is_bare)
        && others.iter().all(|other| !before.contains(other) && !after.contains(other))
}

#[test]
fn log_lines_contain_an_error_with_its_causes() {
    for (call, good) in [
        (r#""started""#, true),
        (r#"monitor.id = %id, error = %ErrorChain(&error), "failed""#, true),
        (r#"error = %ErrorChain(error.as_ref()), "failed""#, true),
        (r#"error = &error as &dyn std::error::Error, "failed""#, false),
        (r#"error = cause, "failed""#, false),
        (r#"error, "failed""#, false),
        (r#"%error, "failed""#, false),
        (r#""failed: {error}""#, false),
        (r#"cause = %ErrorChain(&error), "failed""#, false),
        (r#"error = %ErrorChain(&error), monitor.id = %id, "failed""#, false),
    ] {
        assert_eq!(logs_errors_with_causes(call), good, "{call}");
    }
    let mut errors = 0;
    for (name, _) in crates().iter().filter(|(name, _)| !NEVER_SHIP.contains(&name.as_str())) {
        for file in sources(&root().join("crates").join(name).join("src")) {
            let text = std::fs::read_to_string(&file).unwrap();
            for call in log_calls(&text) {
                let call = call.split_whitespace().collect::<Vec<_>>().join(" ");
                assert!(logs_errors_with_causes(&call), "{}: {call}", file.display());
                errors += usize::from(call.contains("ErrorChain("));
            }
        }
    }
    assert!(errors > 20, "log lines not found");
}

/// Key rotation must cover every column marked `-- sealed` in a migration.
#[test]
fn every_sealed_column_is_resealed() {
    let store = root().join("crates/wakeful-store");
    let reseal = std::fs::read_to_string(store.join("src/key_rotation.rs")).unwrap();
    let mut sealed = 0;
    for entry in std::fs::read_dir(store.join("migrations/sqlite")).unwrap() {
        let text = std::fs::read_to_string(entry.unwrap().path()).unwrap();
        let mut table = "";
        for line in text.lines() {
            let mut definition = line.trim();
            if let Some(rest) = line.strip_prefix("create table ") {
                table = rest.split(' ').next().unwrap();
            }
            let altered = line.strip_prefix("alter table ");
            if let Some(added) = altered.and_then(|rest| rest.split_once(" add column ")) {
                (table, definition) = added;
            }
            if line.ends_with("-- sealed") {
                let column = definition.split(' ').next().unwrap();
                let row = format!("(\"{table}\", \"{column}\")");
                assert!(reseal.contains(&row), "{row} is missing in key_rotation.rs");
                sealed += 1;
            }
        }
    }
    assert!(sealed >= 2, "marked columns not found");
}

/// The files of a crate, as the map writes them, that contain one of these words.
fn files_with(name: &str, words: &[&str]) -> BTreeSet<String> {
    let folder = root().join("crates").join(name).join("src");
    let mut found = BTreeSet::new();
    for file in sources(&folder) {
        let text = std::fs::read_to_string(&file).unwrap();
        if words.iter().any(|word| text.contains(word)) {
            let short = name.trim_start_matches("wakeful-");
            let path = file.strip_prefix(&folder).unwrap();
            found.insert(format!("{short}/{}", path.display()));
        }
    }
    found
}

#[test]
fn branches_on_the_database_are_in_few_files() {
    let branches = ["Pool::Sqlite", "Pool::Postgres", "Tx::Sqlite", "Tx::Postgres"];
    let allowed = [
        "store/dialect.rs",
        "store/doctor.rs",
        "store/history/bulk.rs",
        "store/history/record.rs",
        "store/history/retention.rs",
        "store/lib.rs",
        "store/open.rs",
        "store/transfer.rs",
        "store/transfer/rows.rs",
        "store/transfer/schema.rs",
    ];
    let found = files_with("wakeful-store", &branches);
    assert_eq!(found, allowed.map(str::to_owned).into(), "ARCHITECTURE.md lists them too");
}

#[test]
fn randomness_comes_from_few_files() {
    let sources_of_randomness = ["getrandom::", "RandomState", "now_v7", "Uuid::new_v4"];
    let allowed = [
        "api/request_id.rs",
        "engine/random.rs",
        "outbound/checks/authenticate.rs",
        "outbound/checks/ntlm.rs",
        "outbound/checks/ping.rs",
        "outbound/net/dns_client.rs",
        "outbound/net/resolve.rs",
        "outbound/notify/webpush/mod.rs",
        "store/keyring.rs",
    ];
    let mut found = BTreeSet::new();
    for (name, _) in crates().iter().filter(|(name, _)| !NEVER_SHIP.contains(&name.as_str())) {
        found.extend(files_with(name, &sources_of_randomness));
    }
    assert_eq!(found, allowed.map(str::to_owned).into(), "ARCHITECTURE.md lists them too");
}

/// Where a path of ARCHITECTURE.md is: `core/time.rs` is in the sources of that crate.
fn location(path: &str) -> PathBuf {
    const CRATES: [&str; 7] = ["api", "bench", "core", "engine", "outbound", "store", "testkit"];
    let (first, rest) = path.split_once('/').unwrap_or((path, ""));
    let name = match first {
        "wakeful" => "wakeful".to_owned(),
        _ if CRATES.contains(&first) => format!("wakeful-{first}"),
        _ => return root().join(path),
    };
    let inside = ["tests/", "migrations/", "benches/"].iter().any(|part| rest.starts_with(part));
    let folder = root().join("crates").join(name);
    if inside { folder.join(rest) } else { folder.join("src").join(rest) }
}

#[test]
fn every_path_in_the_map_exists() {
    let kinds = [".rs", ".toml", ".json", ".md", ".ts", ".tsx", ".js", ".html", ".sql", ".py"];
    let mut paths = 0;
    for document in ["ARCHITECTURE.md", "CONTRIBUTING.md"] {
        let text = std::fs::read_to_string(root().join(document)).unwrap();
        for path in text.split('`').skip(1).step_by(2) {
            let is_path = path.contains('/') && kinds.iter().any(|kind| path.ends_with(kind));
            if !is_path || path.contains(['<', ' ', '*', '…']) || path.contains("NNNN") {
                continue;
            }
            assert!(location(path).exists(), "{document}: {path} does not exist");
            paths += 1;
        }
    }
    assert!(paths > 80, "{paths} paths were found");
}
