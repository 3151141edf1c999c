//! A graceful shutdown: requests in progress are finished, new ones are not accepted, and
//! the process exits in time.

use serde_json::{Value, json};
use std::time::{Duration, Instant};
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::TcpStream;
use tokio::task::JoinSet;
use tokio::time::timeout;
use wakeful_testkit::{DatabaseKind, Receiver, User, until};

use crate::process::{Installation, MAX_WAIT, Server};

const IN_FLIGHT: usize = 12;
const MAX_SHUTDOWN_TIME: Duration = Duration::from_secs(10);

/// A login whose body has not been sent. The server requests the body (100 Continue) once
/// the handler runs, so the request is known to be in progress.
struct PartialRequest {
    stream: TcpStream,
    body: String,
}

impl PartialRequest {
    async fn login(server: &Server, user: &User) -> Self {
        let body = json!({"email": user.email, "password": user.password}).to_string();
        let mut stream = server.connect().await.unwrap();
        let head = format!(
            "POST /api/v1/login HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\n\
             Content-Length: {}\r\nExpect: 100-continue\r\n\r\n",
            body.len()
        );
        stream.write_all(head.as_bytes()).await.unwrap();
        let mut head = [0; 25];
        timeout(MAX_WAIT, stream.read_exact(&mut head)).await.expect("100 Continue").unwrap();
        assert_eq!(&head, b"HTTP/1.1 100 Continue\r\n\r\n");
        Self { stream, body }
    }

    /// Sends the rest and reads the response to the end of the connection.
    async fn finish(mut self) -> String {
        self.stream.write_all(self.body.as_bytes()).await.unwrap();
        let mut answer = String::new();
        let read = timeout(MAX_WAIT, self.stream.read_to_string(&mut answer));
        read.await.expect("the response ends").unwrap();
        answer
    }
}

async fn ends_gracefully_by(signal: &str) {
    let installation = Installation::new(DatabaseKind::Sqlite).await;
    let server = installation.serve().await;
    let ann = User::sign_up(&server.anonymous(), "ann@example.com").await;
    let idle = server.connect().await.unwrap();
    let mut begun = Vec::new();
    for _ in 0..IN_FLIGHT {
        begun.push(PartialRequest::login(&server, &ann).await);
    }

    let signaled = Instant::now();
    server.signal(signal).await;
    until("new connections refused", || async { server.connect().await.is_err().then_some(()) })
        .await;
    let mut answers = JoinSet::new();
    for one in begun {
        answers.spawn(one.finish());
    }
    let answers = answers.join_all().await;
    for answer in &answers {
        assert!(answer.starts_with("HTTP/1.1 200 OK\r\n"), "{answer}");
    }
    assert_eq!(server.ended().await, Some(0));
    assert!(signaled.elapsed() < MAX_SHUTDOWN_TIME, "it took {:?}", signaled.elapsed());
    drop(idle);

    let log = installation.log();
    assert!(log.contains("\"stopping\"") && log.contains("wakeful has stopped"), "{log}");
    let server = installation.serve().await;
    for answer in &answers {
        let (_, body) = answer.split_once("\r\n\r\n").unwrap();
        let json: Value = serde_json::from_str(body).unwrap();
        let token = json["token"].as_str().unwrap();
        server.anonymous().with_token(token).get("users/me").await.ok();
    }
}

#[tokio::test]
async fn sigterm_lets_running_requests_finish() {
    ends_gracefully_by("TERM").await;
}

#[tokio::test]
async fn sigint_lets_running_requests_finish() {
    ends_gracefully_by("INT").await;
}

#[tokio::test]
async fn a_server_without_a_reader_of_its_log_runs_and_stops_as_usual() {
    let installation = Installation::new(DatabaseKind::Sqlite).await;
    let server = installation.serve_unread().await;
    User::sign_up(&server.anonymous(), "ann@example.com").await;
    server.signal("TERM").await;
    assert_eq!(server.ended().await, Some(0));
}

#[tokio::test]
async fn a_client_that_never_finishes_does_not_delay_the_shutdown() {
    let installation =
        Installation::new(DatabaseKind::Sqlite).await.set("SERVER_SHUTDOWN_SECONDS", "3");
    let server = installation.serve().await;
    let ann = User::sign_up(&server.anonymous(), "ann@example.com").await;
    let stuck = PartialRequest::login(&server, &ann).await;
    let signaled = Instant::now();
    server.signal("TERM").await;
    assert_eq!(server.ended().await, Some(0));
    assert!(signaled.elapsed() < Duration::from_secs(6), "it took {:?}", signaled.elapsed());
    drop(stuck);
}

#[tokio::test]
async fn a_shutdown_waits_for_a_message_in_flight_which_is_not_resent() {
    let installation = Installation::new(DatabaseKind::Sqlite).await.without_limits();
    let server = installation.serve().await;
    let ann = User::sign_up(&server.anonymous(), "ann@example.com").await;
    let receiver = Receiver::start().await;
    receiver.answer_after(Duration::from_secs(4));
    let body = json!({"name": "hook", "type": "webhook", "webhook": {"url": receiver.url}});
    let made = ann.client.post("notifier/save", &body).await.json();
    let body = json!({"name": "job", "type": "api", "heartbeat_interval": 86_400,
        "isactive": true, "upside_down_mode": false, "notifiers": made["notifierid"]});
    let job = ann.client.post("monitor/save", &body).await.ok();
    let path = format!("monitor/notify/{}", job["monitor"]["monitorid"].as_str().unwrap());
    ann.client.post(&path, &json!({"status": "down"})).await.ok();
    receiver.wait_for_hooks(1).await;
    let signaled = Instant::now();
    server.signal("TERM").await;
    assert_eq!(server.ended().await, Some(0));
    assert!(signaled.elapsed() < MAX_SHUTDOWN_TIME, "it took {:?}", signaled.elapsed());

    receiver.answer_after(Duration::ZERO);
    let server = installation.serve().await;
    let ann = ann.log_in(&server.anonymous()).await;
    let path = format!("notifier/{}/deliveries", made["notifierid"].as_str().unwrap());
    let deliveries = ann.client.get(&path).await.ok();
    assert_eq!(deliveries["deliveries"][0]["state"], "delivered", "{deliveries}");
    assert_eq!(receiver.count(), 1);
}
