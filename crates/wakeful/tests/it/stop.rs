//! A graceful stop: what has begun is finished, nothing new is taken, and the
//! process ends by itself in time.

use serde_json::{Value, json};
use std::time::{Duration, Instant};
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::TcpStream;
use tokio::task::JoinSet;
use tokio::time::timeout;
use wakeful_testkit::{Engine, Receiver, User, until};

use crate::home::{Home, LONG, Server};

const IN_FLIGHT: usize = 12;
const ENDS_WITHIN: Duration = Duration::from_secs(10);

/// A login whose body is still to come. The server asks for the body once its
/// handler runs, so it is known to be at work.
struct Begun {
    stream: TcpStream,
    body: String,
}

impl Begun {
    async fn login(server: &Server, user: &User) -> Self {
        let body = json!({"email": user.email, "password": user.password}).to_string();
        let mut stream = server.connect().await.unwrap();
        let head = format!(
            "POST /api/v1/login HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\n\
             Content-Length: {}\r\nExpect: 100-continue\r\n\r\n",
            body.len()
        );
        stream.write_all(head.as_bytes()).await.unwrap();
        let mut said = [0; 25];
        timeout(LONG, stream.read_exact(&mut said)).await.expect("it asks on").unwrap();
        assert_eq!(&said, b"HTTP/1.1 100 Continue\r\n\r\n");
        Self { stream, body }
    }

    /// Sends the rest and reads the answer to the end of the connection.
    async fn finish(mut self) -> String {
        self.stream.write_all(self.body.as_bytes()).await.unwrap();
        let mut answer = String::new();
        let read = timeout(LONG, self.stream.read_to_string(&mut answer));
        read.await.expect("the answer ends").unwrap();
        answer
    }
}

async fn ends_gracefully_by(signal: &str) {
    let home = Home::new(Engine::Sqlite).await;
    let server = home.serve().await;
    let ann = User::sign_up(&server.anonymous(), "ann@example.com").await;
    let idle = server.connect().await.unwrap();
    let mut begun = Vec::new();
    for _ in 0..IN_FLIGHT {
        begun.push(Begun::login(&server, &ann).await);
    }

    let told = Instant::now();
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
    assert!(told.elapsed() < ENDS_WITHIN, "it took {:?}", told.elapsed());
    drop(idle);

    let log = home.log();
    assert!(log.contains("told to stop") && log.contains("wakeful has stopped"), "{log}");
    let server = home.serve().await;
    for answer in &answers {
        let (_, body) = answer.split_once("\r\n\r\n").unwrap();
        let json: Value = serde_json::from_str(body).unwrap();
        let token = json["token"].as_str().unwrap();
        server.anonymous().with_token(token).get("users/me").await.ok();
    }
}

#[tokio::test]
async fn sigterm_lets_what_has_begun_end() {
    ends_gracefully_by("TERM").await;
}

#[tokio::test]
async fn sigint_lets_what_has_begun_end() {
    ends_gracefully_by("INT").await;
}

#[tokio::test]
async fn when_nobody_reads_its_log_it_goes_on_and_ends_as_ever() {
    let home = Home::new(Engine::Sqlite).await;
    let server = home.serve_unread().await;
    User::sign_up(&server.anonymous(), "ann@example.com").await;
    server.signal("TERM").await;
    assert_eq!(server.ended().await, Some(0));
}

#[tokio::test]
async fn a_client_that_never_finishes_does_not_hold_up_the_end() {
    let home = Home::new(Engine::Sqlite).await.set("SERVER_SHUTDOWN_SECONDS", "3");
    let server = home.serve().await;
    let ann = User::sign_up(&server.anonymous(), "ann@example.com").await;
    let stuck = Begun::login(&server, &ann).await;
    let told = Instant::now();
    server.signal("TERM").await;
    assert_eq!(server.ended().await, Some(0));
    assert!(told.elapsed() < Duration::from_secs(6), "it took {:?}", told.elapsed());
    drop(stuck);
}

#[tokio::test]
async fn a_message_on_its_way_may_arrive_before_the_end_and_is_not_sent_again() {
    let home = Home::new(Engine::Sqlite).await.without_limits();
    let server = home.serve().await;
    let ann = User::sign_up(&server.anonymous(), "ann@example.com").await;
    let receiver = Receiver::start().await;
    receiver.takes(Duration::from_secs(4));
    let body = json!({"name": "hook", "type": "webhook", "webhook": {"url": receiver.url}});
    let made = ann.client.post("notifier/save", &body).await.json();
    let body = json!({"name": "job", "type": "api", "heartbeat_interval": 86_400,
        "isactive": true, "upside_down_mode": false, "notifiers": made["notifierid"]});
    let job = ann.client.post("monitor/save", &body).await.ok();
    let path = format!("monitor/notify/{}", job["monitor"]["monitorid"].as_str().unwrap());
    ann.client.post(&path, &json!({"status": "down"})).await.ok();
    receiver.received(1).await;
    let told = Instant::now();
    server.signal("TERM").await;
    assert_eq!(server.ended().await, Some(0));
    assert!(told.elapsed() < ENDS_WITHIN, "it took {:?}", told.elapsed());

    receiver.takes(Duration::ZERO);
    let server = home.serve().await;
    let ann = ann.log_in(&server.anonymous()).await;
    let path = format!("notifier/{}/deliveries", made["notifierid"].as_str().unwrap());
    let deliveries = ann.client.get(&path).await.ok();
    assert_eq!(deliveries["deliveries"][0]["state"], "delivered", "{deliveries}");
    assert_eq!(receiver.count(), 1);
}
