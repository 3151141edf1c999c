//! schemathesis tries the API against the document it publishes: every answer
//! is described, nothing fails inside, and no credential is needed only in words.

use std::time::Duration;
use tokio::process::Command;
use tokio::time::timeout;
use wakeful_testkit::{Engine, User};

use crate::home::{Home, Server, python_tool, workspace};

/// Calls after which their own session is no more, and a stream without an end.
const APART: &str = "/logout$|/logoutall$|/user/delete$|/events$";
const LONGEST: Duration = Duration::from_secs(200);

fn schemathesis(server: &Server) -> Command {
    let mut command = python_tool("schemathesis");
    command.arg("--config-file").arg(workspace().join("schemathesis.toml"));
    command.args(["run", &format!("{}/api/openapi.json", server.url)]);
    // A fixed seed: a run that fails can be repeated.
    command.args(["--seed", "1", "--no-color"]);
    command
}

async fn assert_clean(home: &Home, mut command: Command) {
    command.current_dir(home.data());
    let output = timeout(LONGEST, command.output()).await.expect("it ends in time").unwrap();
    let told = String::from_utf8_lossy(&output.stdout);
    assert!(output.status.success(), "{told}\n{}", String::from_utf8_lossy(&output.stderr));
    assert!(told.contains("generated"), "no case was tried:\n{told}");
    let log = home.log();
    let failed = log.lines().find(|line| line.contains("\"level\":\"ERROR\""));
    assert_eq!(failed, None);
}

async fn served() -> (Home, Server) {
    let home = Home::new(Engine::Sqlite).await.without_limits();
    // Whatever monitor it makes up, no check of it leaves this machine.
    let home = home.set("NETWORK_EGRESS", "127.0.0.1/32");
    let server = home.serve().await;
    (home, server)
}

#[tokio::test]
async fn a_stranger_meets_only_what_is_described() {
    let (home, server) = served().await;
    assert_clean(&home, schemathesis(&server)).await;
}

#[tokio::test]
async fn a_user_meets_only_what_is_described() {
    let (home, server) = served().await;
    let ann = User::sign_up(&server.anonymous(), "ann@example.com").await;
    let mut command = schemathesis(&server);
    command.args(["--exclude-path-regex", APART]);
    command.args(["-H", &format!("Authorization: Bearer {}", ann.token)]);
    assert_clean(&home, command).await;
    ann.client.get("users/me").await.ok();
}

/// The header fields of a new API key pair, which outlives a logout.
async fn key_pair(user: &User) -> [String; 2] {
    let body = serde_json::json!({"name": "schemathesis"});
    let made = user.client.post("integrations/apikey/save", &body).await.ok();
    let text = |field: &str| made[field].as_str().unwrap().to_owned();
    [format!("X-API-Key: {}", text("apikey")), format!("X-Enc-Key: {}", text("enckey"))]
}

#[tokio::test]
async fn calls_that_end_sessions_answer_only_what_is_described() {
    let (home, server) = served().await;
    let ann = User::sign_up(&server.anonymous(), "ann@example.com").await;
    let [apikey, enckey] = key_pair(&ann).await;
    let mut command = schemathesis(&server);
    command.args(["--include-path-regex", "/logout$|/logoutall$", "-H", &apikey, "-H", &enckey]);
    assert_clean(&home, command).await;
    // By themselves, and last: what follows them is a stranger's.
    let mut command = schemathesis(&server);
    command.args(["--include-path-regex", "/user/delete$", "-H", &apikey, "-H", &enckey]);
    assert_clean(&home, command).await;
    let users = home.run(&["user", "list"]).await.ok();
    assert!(!users.contains("ann@example.com"), "{users}");
}
