//! Card numbers and security codes leave no trace in the log at the most verbose level,
//! in the database or in mails, with the sandbox and with Stripe.

use serde_json::{Value, json};
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Stdio;
use tokio::net::{TcpListener, TcpSocket};
use tokio::process::Child;
use wakeful_testkit::{DatabaseKind, User, until};

use crate::process::{Installation, python_tool};

const NUMBERS: [&str; 4] =
    ["4242424242424242", "4000000000000341", "4000000000000002", "4242 4242 4242 4242"];

fn card(number: &str) -> Value {
    json!({"plan": "pro", "method": "new", "cardholderName": "Ann", "cardNumber": number,
        "expiryMonth": 12, "expiryYear": 2040, "cvc": 917, "zipCode": "12345"})
}

/// localstripe on a free port; it ends when the value is dropped.
pub(crate) async fn localstripe() -> (Child, String) {
    let free = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let port = free.local_addr().unwrap().port();
    drop(free);
    let mut command = python_tool("localstripe");
    command.args(["--from-scratch", "--port", &port.to_string()]);
    command.stdout(Stdio::null()).stderr(Stdio::null()).kill_on_drop(true);
    let child = command.spawn().unwrap();
    until("localstripe", || async {
        let socket = TcpSocket::new_v4().unwrap();
        socket.connect(([127, 0, 0, 1], port).into()).await.ok()
    })
    .await;
    (child, format!("http://127.0.0.1:{port}"))
}

fn files(folder: &Path, found: &mut Vec<PathBuf>) {
    for entry in fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() { files(&path, found) } else { found.push(path) }
    }
}

/// Makes every billing call with every card, then searches everything that was written.
async fn no_card_is_left_behind(installation: Installation) {
    let server = installation.serve().await;
    let ann = User::sign_up(&server.anonymous(), "ann@example.com").await.client;
    for number in NUMBERS {
        for path in ["paymentmethod/save", "membership/save"] {
            let status = ann.post(path, &card(number)).await.status;
            assert!(matches!(status, 200 | 402), "{status}");
        }
        let mut wrong = card(number);
        wrong["expiryMonth"] = json!(13);
        assert_eq!(ann.post("membership/save", &wrong).await.status, 422);
        let torn = wrong.to_string();
        let torn = ann.raw(
            reqwest::Method::POST,
            "membership/save",
            Some("application/json"),
            torn[..torn.len() - 1].to_owned(),
        );
        assert_eq!(torn.await.status, 400);
    }
    let environment = fs::read(format!("/proc/{}/environ", server.pid)).unwrap();
    assert!(!holds_a_card(&environment), "a card is in the environment");
    // Killed, so that the write-ahead log remains and is searched too.
    server.kill().await;
    assert!(installation.data().join("wakeful.db-wal").exists());
    let log = installation.log();
    assert!(log.contains("\"level\":\"DEBUG\""), "the log is verbose");
    for number in NUMBERS {
        assert!(!log.contains(number), "{number} is in the log");
    }
    for code in ["917\"", ":917", "=917", "cvc=", "cardNumber"] {
        assert!(!log.contains(code), "{code} is in the log");
    }
    let mut all = Vec::new();
    files(&installation.data(), &mut all);
    for path in all {
        assert!(!holds_a_card(&fs::read(&path).unwrap()), "a card is in {}", path.display());
    }
}

fn holds_a_card(bytes: &[u8]) -> bool {
    let holds = |text: &&str| bytes.windows(text.len()).any(|part| part == text.as_bytes());
    NUMBERS.iter().any(holds)
}

#[test]
fn the_search_finds_a_card() {
    assert!(holds_a_card(b"\0\x01 4242 4242 4242 4242\n"));
    assert!(!holds_a_card(b"4242"));
}

#[tokio::test]
async fn the_sandbox_leaves_no_card_behind() {
    no_card_is_left_behind(Installation::new(DatabaseKind::Sqlite).await.set("LOG", "trace")).await;
}

#[tokio::test]
async fn stripe_leaves_no_card_behind() {
    let (_stripe, url) = localstripe().await;
    let installation = Installation::new(DatabaseKind::Sqlite)
        .await
        .set("LOG", "trace")
        .set("BILLING_PROCESSOR", "stripe")
        .set("BILLING_STRIPE_KEY", "sk_test_12345")
        .set("BILLING_STRIPE_URL", &url);
    no_card_is_left_behind(installation).await;
}

#[tokio::test]
async fn an_operator_can_set_a_plan_while_the_server_runs() {
    let installation = Installation::new(DatabaseKind::Sqlite).await;
    let server = installation.serve().await;
    let ann = User::sign_up(&server.anonymous(), "ann@example.com").await;
    let output = installation.run(&["membership", "set", &ann.team, "Enterprise"]).await.ok();
    assert!(output.contains("Enterprise"), "{output}");
    ann.client.post_nothing("membership/stop").await.refused(403, "administrator_needed");
    installation.run(&["membership", "set", "ann@example.com", "none"]).await.ok();
    ann.client.post_nothing("membership/stop").await.refused(409, "no_plan");
    let platinum = ["membership", "set", "ann@example.com", "platinum"];
    let why = installation.run(&platinum).await.refused();
    assert!(why.starts_with("there is no such plan: choose one of none, "), "{why}");
    for unknown in ["nobody@example.com", "nope"] {
        let why = installation.run(&["membership", "set", unknown, "pro"]).await.refused();
        assert!(why.contains("no such team or email"), "{why}");
    }
    server.stop().await;
}
