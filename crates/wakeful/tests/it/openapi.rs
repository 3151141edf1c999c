//! schemathesis tests the API against its OpenAPI document: every response is described,
//! there are no internal errors, and documented credentials are really required.

use std::time::Duration;
use tokio::process::Command;
use tokio::time::timeout;
use wakeful_testkit::{DatabaseKind, User};

use crate::process::{Installation, Server, python_tool, workspace};

/// Calls that end their own session or refuse later calls, and an endless stream.
const EXCLUDED_PATHS: &str = "/logout$|/logoutall$|/user/delete$|/events$|/team/settings$";
const MAX_DURATION: Duration = Duration::from_secs(850);
/// The same with every boundary of every value.
const MAX_LONG_DURATION: Duration = Duration::from_secs(3_600);

fn schemathesis(server: &Server) -> Command {
    let mut command = python_tool("schemathesis");
    command.arg("--config-file").arg(workspace().join("schemathesis.toml"));
    command.args(["run", &format!("{}/api/openapi.json", server.url)]);
    // A fixed seed makes failures reproducible.
    command.args(["--seed", "1", "--no-color"]);
    command
}

async fn assert_clean(installation: &Installation, command: Command) {
    assert_clean_within(MAX_DURATION, installation, command).await;
}

async fn assert_clean_within(limit: Duration, installation: &Installation, mut command: Command) {
    command.current_dir(installation.data());
    let output = timeout(limit, command.output()).await.expect("it ends in time").unwrap();
    let report = String::from_utf8_lossy(&output.stdout);
    assert!(output.status.success(), "{report}\n{}", String::from_utf8_lossy(&output.stderr));
    assert!(report.contains("generated"), "no case was generated:\n{report}");
    let log = installation.log();
    let failed = log.lines().find(|line| line.contains("\"level\":\"ERROR\""));
    assert_eq!(failed, None);
}

async fn served() -> (Installation, Server) {
    let installation = Installation::new(DatabaseKind::Sqlite).await.without_limits();
    // No check of a generated monitor leaves this machine.
    let installation = installation.set("NETWORK_EGRESS", "127.0.0.1/32");
    let server = installation.serve().await;
    (installation, server)
}

#[tokio::test]
async fn anonymous_calls_return_only_what_is_described() {
    let (installation, server) = served().await;
    let mut command = schemathesis(&server);
    // Most of them are refused, whatever they contain; the calls below have all kinds of values.
    command.args(["--phases", "fuzzing", "--max-examples", "5"]);
    assert_clean(&installation, command).await;
}

#[tokio::test]
async fn authenticated_calls_return_only_what_is_described() {
    try_authenticated_calls(MAX_DURATION, &["--phases", "fuzzing"]).await;
}

#[tokio::test]
#[ignore = "takes minutes: every boundary of every value"]
async fn authenticated_calls_with_every_boundary_return_only_what_is_described() {
    try_authenticated_calls(MAX_LONG_DURATION, &[]).await;
}

async fn try_authenticated_calls(limit: Duration, options: &[&str]) {
    let (installation, server) = served().await;
    let ann = User::sign_up(&server.anonymous(), "ann@example.com").await;
    let team = own_team(&ann).await;
    let mut command = schemathesis(&server);
    command.args(options);
    command.args(["--exclude-path-regex", EXCLUDED_PATHS, "-H", &team]);
    command.args(["-H", &format!("Authorization: Bearer {}", ann.token)]);
    assert_clean_within(limit, &installation, command).await;
    // Last: a policy may require a second factor that the user does not have.
    let mut command = schemathesis(&server);
    command.args(["--include-path-regex", "/team/settings$", "-H", &team]);
    command.args(["-H", &format!("Authorization: Bearer {}", ann.token)]);
    assert_clean(&installation, command).await;
    ann.client.get("users/me").await.ok();
}

/// The header that names the team of a user. A generated one names no team, so every call would
/// return 404.
async fn own_team(user: &User) -> String {
    let teams = user.client.get("teams").await.ok();
    format!("X-Wakeful-Team: {}", teams["teams"][0]["groupid"].as_str().unwrap())
}

/// The headers of a new API key pair, which remains valid after a logout.
async fn key_pair(user: &User) -> [String; 2] {
    let body = serde_json::json!({"name": "schemathesis"});
    let made = user.client.post("integrations/apikey/save", &body).await.ok();
    let text = |field: &str| made[field].as_str().unwrap().to_owned();
    [format!("X-API-Key: {}", text("apikey")), format!("X-Enc-Key: {}", text("enckey"))]
}

#[tokio::test]
async fn calls_that_end_sessions_return_only_what_is_described() {
    let (installation, server) = served().await;
    let ann = User::sign_up(&server.anonymous(), "ann@example.com").await;
    let team = own_team(&ann).await;
    let [apikey, enckey] = key_pair(&ann).await;
    let mut command = schemathesis(&server);
    command.args(["--include-path-regex", "/logout$|/logoutall$", "-H", &team]);
    command.args(["-H", &apikey, "-H", &enckey]);
    assert_clean(&installation, command).await;
    // Separately and last: later calls are not authenticated any more.
    let mut command = schemathesis(&server);
    command.args(["--include-path-regex", "/user/delete$", "-H", &team]);
    command.args(["-H", &apikey, "-H", &enckey]);
    assert_clean(&installation, command).await;
    let users = installation.run(&["user", "list"]).await.ok();
    assert!(!users.contains("ann@example.com"), "{users}");
}
