//! The audit log of the real process: its lines on standard error, the commands of the operator,
//! and streams across kill -9.

use serde_json::{Value, json};
use std::process::Stdio;
use tokio::io::AsyncWriteExt as _;
use tokio::process::Command;
use wakeful_testkit::{DatabaseKind, Receiver, User, until};

use crate::process::{Installation, workspace};

async fn add_monitor(user: &User, name: &str) {
    let body = json!({"type": "api", "name": name, "heartbeat_interval": 86400, "isactive": true,
        "upside_down_mode": false});
    user.client.post("monitor/save", &body).await.ok();
}

/// The numbers of the team's entries, oldest first, with their hashes.
async fn listed(user: &User) -> Vec<(Value, Value)> {
    let log = user.client.get("audit?limit=1000").await.ok();
    let entries = log["entries"].as_array().unwrap().iter().rev();
    entries.map(|entry| (entry["seq"].clone(), entry["hash"].clone())).collect()
}

fn numbers_and_hashes(entries: &[Value]) -> Vec<(Value, Value)> {
    entries.iter().map(|entry| (entry["seq"].clone(), entry["hash"].clone())).collect()
}

fn json_lines(text: &str) -> Vec<Value> {
    text.lines().map(|line| serde_json::from_str(line).unwrap()).collect()
}

/// Runs the program in docs/audit.md that verifies an export.
async fn verify_as_documented(export: &str) -> String {
    let page = std::fs::read_to_string(workspace().join("docs/audit.md")).unwrap();
    let (_, rest) = page.split_once("```python\n").unwrap();
    let (program, _) = rest.split_once("```").unwrap();
    let mut python = Command::new("python3")
        .args(["-c", program])
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    let mut input = python.stdin.take().unwrap();
    input.write_all(export.as_bytes()).await.unwrap();
    drop(input);
    let output = python.wait_with_output().await.unwrap();
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    String::from_utf8(output.stdout).unwrap()
}

#[tokio::test]
async fn with_audit_log_each_entry_is_a_line_of_json_whatever_the_level() {
    let installation = Installation::new(DatabaseKind::Sqlite).await;
    let installation = installation.set("AUDIT_LOG", "true").set("LOG", "off");
    let server = installation.serve().await;
    let ann = User::sign_up(&server.anonymous(), "ann@example.com").await;
    // What the rest of the log masks, or would have to escape.
    for name in ["password=hunter2", "4242 4242 4242 4242", "{\"cvc\": 123}", "ä\n\"\u{1b}[31m"] {
        add_monitor(&ann, name).await;
    }
    let expected = listed(&ann).await;
    server.stop().await;
    let lines = json_lines(&installation.log());
    let is_of_ann = |line: &&Value| line["groupid"] == json!(ann.team);
    let entries: Vec<Value> =
        lines.iter().filter(is_of_ann).map(|line| line["entry"].clone()).collect();
    assert_eq!(numbers_and_hashes(&entries), expected);
    assert!(lines.iter().all(|line| line["target"] == "audit"), "{lines:?}");
    let export: String = entries.iter().map(|entry| format!("{entry}\n")).collect();
    verify_as_documented(&export).await;
}

#[tokio::test]
async fn without_audit_log_no_entry_is_in_the_log() {
    let installation = Installation::new(DatabaseKind::Sqlite).await.set("LOG", "trace,sqlx=warn");
    let server = installation.serve().await;
    User::sign_up(&server.anonymous(), "ann@example.com").await;
    server.stop().await;
    assert!(!installation.log().contains("person_hash"));
}

async fn the_operator_verifies_and_exports_all_logs(kind: DatabaseKind) {
    let installation = Installation::new(kind).await;
    let server = installation.serve().await;
    let ann = User::sign_up(&server.anonymous(), "ann@example.com").await;
    let bob = User::sign_up(&server.anonymous(), "bob@example.com").await;
    add_monitor(&ann, "größe").await;
    // A team that is deleted leaves an entry in the log of the installation.
    let eve = User::sign_up(&server.anonymous(), "eve@example.com").await;
    eve.client.post("user/delete", &json!({"password": eve.password})).await.ok();

    let verified = installation.run(&["audit", "verify"]).await.ok();
    let lines: Vec<&str> = verified.lines().collect();
    assert_eq!(lines.len(), 3, "{verified}");
    assert!(lines[0].starts_with("installation: "), "{verified}");
    assert!(lines.iter().all(|line| line.contains(" entries, intact, head ")), "{verified}");

    let export = installation.run(&["audit", "export", "--team", &ann.team]).await.ok();
    let entries = json_lines(&export);
    assert_eq!(numbers_and_hashes(&entries), listed(&ann).await);
    let last = entries.last().unwrap();
    assert_eq!(
        (&last["action"], &last["actor"]["kind"]),
        (&json!("audit.export"), &json!("operator"))
    );
    let head = last["hash"].as_str().unwrap();
    assert_eq!(verify_as_documented(&export).await.trim(), format!("intact up to {head}"));

    let all = json_lines(&installation.run(&["audit", "export"]).await.ok());
    for team in [json!(ann.team), json!(bob.team), Value::Null] {
        let of_team = all.iter().filter(|line| line["groupid"] == team);
        let of_team: Vec<Value> = of_team.map(|line| line["entry"].clone()).collect();
        assert_eq!(of_team.last().unwrap()["action"], "audit.export", "{team}");
    }
    let why = installation.run(&["audit", "verify", "--team", &eve.team]).await.refused();
    assert!(why.contains("no such team"), "{why}");
    let why = installation.run(&["audit", "export", "--team", "x"]).await.refused();
    assert!(why.contains("not the id of a team"), "{why}");

    installation.execute("update audit set object_name = 'x' where object_name = 'größe'").await;
    let broken = installation.run(&["audit", "verify"]).await;
    assert_eq!(broken.code, Some(1), "{broken:?}");
    let line = format!("{}: 4 entries, BROKEN at entry 2", ann.team);
    assert!(broken.stdout.lines().any(|found| found == line), "{broken:?}");
    assert!(broken.stderr.contains("1 of 3 logs were changed"), "{broken:?}");
    installation.run(&["audit", "verify", "--team", &bob.team]).await.ok();
}

#[tokio::test]
async fn the_operator_verifies_and_exports_all_logs_on_sqlite() {
    the_operator_verifies_and_exports_all_logs(DatabaseKind::Sqlite).await;
}

#[tokio::test]
async fn the_operator_verifies_and_exports_all_logs_on_postgres() {
    the_operator_verifies_and_exports_all_logs(DatabaseKind::Postgres).await;
}

#[tokio::test]
async fn the_head_of_each_log_with_new_entries_is_logged_after_a_start() {
    let installation = Installation::new(DatabaseKind::Sqlite).await;
    let server = installation.serve().await;
    let ann = User::sign_up(&server.anonymous(), "ann@example.com").await;
    let head = listed(&ann).await[0].1.as_str().unwrap().to_owned();
    server.stop().await;
    let line = format!("the audit log of team {} ends with entry 1, hash {head}", ann.team);
    let server = installation.serve().await;
    until("the line", async || installation.log().contains(&line).then_some(())).await;
    server.stop().await;
    // Without new entries, it is not logged again.
    let server = installation.serve().await;
    let ann = ann.log_in(&server.anonymous()).await;
    server.stop().await;
    let server = installation.serve().await;
    let next = format!("the audit log of team {} ends with entry 2", ann.team);
    until("the next line", async || installation.log().contains(&next).then_some(())).await;
    server.stop().await;
    assert_eq!(installation.log().matches(&line).count(), 1);
}

#[tokio::test]
async fn no_entry_is_lost_through_kill_9_while_it_is_sent() {
    let installation = Installation::new(DatabaseKind::Sqlite).await;
    let server = installation.serve().await;
    let receiver = Receiver::start().await;
    let ann = User::sign_up(&server.anonymous(), "ann@example.com").await;
    ann.client.post("audit/stream/save", &json!({"url": receiver.url})).await.ok();
    receiver.wait_for_hooks(1).await;
    server.stop().await;
    // The request arrives, and the process dies before it can record that.
    let installation = installation.with_failpoint("after-stream", 1);
    let server = installation.serve().await;
    let body = json!({"type": "api", "name": "job", "heartbeat_interval": 86400, "isactive": true,
        "upside_down_mode": false});
    // The process may die before it responds.
    let _ = reqwest::Client::new()
        .post(format!("{}/api/v1/monitor/save", server.url))
        .bearer_auth(&ann.token)
        .json(&body)
        .send()
        .await;
    server.died().await;
    assert_eq!(receiver.count(), 2);
    let installation = installation.without_failpoint();
    let server = installation.serve().await;
    let ann = User { client: server.anonymous().with_token(&ann.token), ..ann };
    let hooks = receiver.wait_for_hooks(3).await;
    assert_eq!(hooks[1].id(), hooks[2].id(), "the same request again");
    assert_eq!(hooks[1].json()["data"], hooks[2].json()["data"]);
    add_monitor(&ann, "next").await;
    let hooks = receiver.wait_for_hooks(4).await;
    let numbers: Vec<Value> =
        hooks.iter().map(|hook| hook.json()["data"]["entries"][0]["seq"].clone()).collect();
    assert_eq!(numbers, [2, 3, 3, 4]);
}
