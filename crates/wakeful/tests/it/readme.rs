//! The commands in the README work as pasted.

use std::path::Path;
use tokio::process::Command;
use wakeful_testkit::DatabaseKind;

use crate::process::{Installation, Server, run_command, workspace};

/// The blocks of shell commands, one after the other, for this server and data folder.
fn commands(server: &Server, data: &Path) -> String {
    let readme = std::fs::read_to_string(workspace().join("README.md")).unwrap();
    let blocks = readme.split("```sh\n").skip(1).map(|rest| rest.split("```").next().unwrap());
    let commands: String = blocks.collect();
    for pasted in ["http://127.0.0.1:8080", "./data/mail"] {
        assert!(commands.contains(pasted), "no {pasted} in {commands}");
    }
    commands.replace("http://127.0.0.1:8080", &server.url).replace("./data", data.to_str().unwrap())
}

#[tokio::test]
async fn the_quick_start_runs_as_pasted() {
    let installation = Installation::new(DatabaseKind::Sqlite).await;
    let server = installation.serve().await;
    let mut shell = Command::new("bash");
    shell.args(["-eu", "-c", &commands(&server, &installation.data())]).kill_on_drop(true);
    let output = run_command(shell).await;
    let answers = output.stdout.matches("\"success\":true").count();
    assert!(answers == 6 && !output.stdout.contains("\"success\":false"), "{output:?}");
    assert!(output.stdout.contains("\"status\":\"up\""), "the check: {output:?}");
    let (_, login) = output.stdout.rsplit_once('\n').unwrap();
    assert!(login.contains("\"token\":\"wk_"), "the login with the new password: {output:?}");
    assert_eq!(output.code, Some(0), "{output:?}");
    server.stop().await;
}
