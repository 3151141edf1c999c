//! The files around the binary agree with it: versions, and settings that they name.

use std::collections::BTreeSet;
use wakeful_testkit::DatabaseKind;

use crate::process::{Installation, workspace};

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
    let report = crate::process::run_command(command).await.ok();
    assert!(report.contains("data = \"/var/lib/wakeful\""), "{report}");
}
