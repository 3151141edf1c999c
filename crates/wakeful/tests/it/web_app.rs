//! `scripts/with-web-app` builds the web app and the crates at the same time. The crates wait for the
//! web app, and each of the two is stopped when the other fails.

use std::fs;
use std::os::unix::fs::PermissionsExt as _;
use tokio::process::Command;

use crate::process::{CommandOutput, run_command, workspace};

/// Never returns.
const BLOCK: &str = "mkfifo \"$0.fifo\" && read -r _ <\"$0.fifo\"";

/// Runs the script in a folder of its own, with scripts instead of `make` and `cargo`.
async fn build(make: &str, cargo: &str) -> CommandOutput {
    let folder = tempfile::tempdir().unwrap();
    let path = |name: &str| folder.path().join(name);
    for name in ["bin", "scripts", "web"] {
        fs::create_dir(path(name)).unwrap();
    }
    fs::write(path("web/package.json"), "{}").unwrap();
    for (name, text) in [("bin/make", make), ("bin/cargo", cargo)] {
        fs::write(path(name), format!("#!/bin/sh\nset -eu\n{text}\n")).unwrap();
        fs::set_permissions(path(name), fs::Permissions::from_mode(0o755)).unwrap();
    }
    let script = path("scripts/with-web-app");
    fs::copy(workspace().join("scripts/with-web-app"), &script).unwrap();
    let programs = format!("{}:{}", path("bin").display(), std::env::var("PATH").unwrap());
    let mut command = Command::new(script);
    command.args(["cargo", "build"]).env("PATH", programs);
    run_command(command).await
}

#[tokio::test]
async fn the_crates_are_built_beside_the_web_app_and_wait_for_its_files() {
    let make = "mkdir web/dist && echo page >web/dist/index.html";
    let cargo = "flock -s \"$WAKEFUL_WEB_LOCK\" cat \"$WAKEFUL_WEB_LOCK\" web/dist/index.html";
    assert_eq!(build(make, cargo).await.ok(), "built\npage\n");
}

#[tokio::test]
async fn a_web_app_that_cannot_be_built_stops_the_crates() {
    let output = build("echo missing module; exit 2", BLOCK).await;
    assert_eq!(output.code, Some(1), "{output:?}");
    for text in ["missing module\n", "the web app could not be built; see the output above"] {
        assert!(output.stderr.contains(text), "no {text:?} in {output:?}");
    }
}

#[tokio::test]
async fn crates_that_cannot_be_built_stop_the_web_app() {
    let output = build(BLOCK, "exit 101").await;
    assert_eq!(output.code, Some(1), "{output:?}");
    for text in ["beside the crates; its output is in /", "failed: cargo build\n"] {
        assert!(output.stderr.contains(text), "no {text:?} in {output:?}");
    }
}
