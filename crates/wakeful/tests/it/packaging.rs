//! The files around the binary agree with it: versions, and settings that they name.

use std::collections::BTreeSet;
use tokio::process::Command;
use wakeful_testkit::DatabaseKind;

use crate::process::{Installation, run_command, workspace};

fn read(path: &str) -> String {
    std::fs::read_to_string(workspace().join(path))
        .unwrap_or_else(|error| panic!("{path}: {error}"))
}

#[test]
fn every_file_names_the_version_of_the_binary() {
    let version = env!("CARGO_PKG_VERSION");
    for (path, line) in [
        ("compose.yaml", format!("image: wakeful:{version}\n")),
        ("compose.cluster.yaml", format!("image: wakeful:{version}\n")),
        ("packaging/helm/wakeful/Chart.yaml", format!("\nversion: {version}\n")),
        ("packaging/helm/wakeful/Chart.yaml", format!("\nappVersion: {version}\n")),
        ("README.md", format!("wakeful_{version}_amd64.deb")),
        ("docs/install.md", format!("wakeful_{version}_amd64.deb")),
    ] {
        assert!(read(path).contains(&line), "{path} does not have {line:?}");
    }
}

/// The variables that a file mentions.
fn variables(path: &str) -> BTreeSet<String> {
    let text = read(path);
    let is_part = |c: char| c.is_ascii_uppercase() || c.is_ascii_digit() || c == '_';
    let words = text.split(|c: char| !is_part(c)).filter(|word| word.starts_with("WAKEFUL_"));
    words.map(str::to_owned).collect()
}

#[tokio::test]
async fn every_variable_in_the_packages_is_a_setting() {
    let report = Installation::new(DatabaseKind::Sqlite).await.run(&["config", "check"]).await.ok();
    let variable = |key: &str| format!("WAKEFUL_{}", key.replace('.', "_").to_uppercase());
    let mut known: BTreeSet<String> =
        report.lines().filter_map(|line| line.split(" = ").next()).map(variable).collect();
    // It is short for another.
    known.insert("WAKEFUL_LISTEN".to_owned());
    for path in [
        "Dockerfile",
        "compose.yaml",
        "compose.cluster.yaml",
        "packaging/build-image.py",
        "packaging/helm/wakeful/values.yaml",
        "packaging/helm/wakeful/templates/deployment.yaml",
    ] {
        let found = variables(path);
        assert!(!found.is_empty(), "{path}");
        let unknown: Vec<&String> = found.difference(&known).collect();
        assert!(unknown.is_empty(), "{path}: {unknown:?}");
    }
}

#[tokio::test]
async fn the_settings_of_the_package_are_valid() {
    let file = workspace().join("packaging/debian/wakeful.toml");
    let mut command = Installation::new(DatabaseKind::Sqlite).await.command(&["config", "check"]);
    command.env_remove("WAKEFUL_DATA").arg("--config").arg(file);
    let report = run_command(command).await.ok();
    assert!(report.contains("data = \"/var/lib/wakeful\""), "{report}");
}

#[tokio::test]
async fn the_version_names_the_commit_and_its_date() {
    let version = env!("CARGO_PKG_VERSION");
    let printed = Installation::new(DatabaseKind::Sqlite).await.run(&["--version"]).await.ok();
    assert!(printed.starts_with(&format!("wakeful {version}")), "{printed}");

    // What the build script of the binary makes of the variables of a release.
    let folder = tempfile::tempdir().unwrap();
    let script = folder.path().join("build");
    let source = workspace().join("crates/wakeful/build.rs");
    let mut compiler = Command::new("rustc");
    compiler.args(["--edition=2024", "-o"]).arg(&script).arg(source);
    compiler.env("CARGO_PKG_VERSION", version);
    run_command(compiler).await.ok();
    let (commit, date) = (("SOURCE_COMMIT", "0123456789ab"), ("SOURCE_DATE_EPOCH", "1709164800"));
    for (variables, more) in [
        (vec![commit, date], " (commit 0123456789ab, 2024-02-29)"),
        (vec![commit], " (commit 0123456789ab)"),
        (vec![date], " (2024-02-29)"),
        (vec![], ""),
    ] {
        let mut built = Command::new(&script);
        built.env_clear().envs(variables);
        let printed = run_command(built).await.ok();
        let line = format!("cargo:rustc-env=WAKEFUL_VERSION={version}{more}\n");
        assert!(printed.contains(&line), "no {line} in {printed}");
    }
}
