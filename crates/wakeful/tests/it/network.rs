//! Hostile clients: they forge their address and hold connections open.

use serde_json::json;
use std::time::{Duration, Instant};
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::{TcpListener, TcpSocket, TcpStream};
use tokio::task::JoinSet;
use tokio::time::timeout;
use wakeful_core::notifications::notifier::Kind;
use wakeful_testkit::fakes::FakeService;
use wakeful_testkit::{Client, DatabaseKind, Receiver, User, send_raw, until};

use crate::process::{Installation, Server};

const TRIES: usize = 10;

/// A failed login that claims to come from this address.
async fn guess(client: &Client, email: &str, from: &str) -> u16 {
    let body = json!({"email": email, "password": "no password of ann's"});
    client.with("x-forwarded-for", from).post("login", &body).await.status
}

#[tokio::test]
async fn a_forged_forwarded_address_does_not_bypass_the_limit() {
    let installation = Installation::new(DatabaseKind::Sqlite).await;
    let server = installation.serve().await;
    let ann = User::sign_up(&server.anonymous(), "ann@example.com").await;
    for count in 0..TRIES {
        assert_eq!(guess(&server.anonymous(), &ann.email, &format!("9.9.9.{count}")).await, 401);
    }
    assert_eq!(guess(&server.anonymous(), &ann.email, "9.9.9.200").await, 429);
    // A restart does not bypass it, and other accounts are not affected.
    server.kill().await;
    let server = installation.serve().await;
    assert_eq!(guess(&server.anonymous(), &ann.email, "9.9.9.201").await, 429);
    assert_eq!(guess(&server.anonymous(), "bob@example.com", "9.9.9.202").await, 401);
}

#[tokio::test]
async fn behind_a_trusted_proxy_each_client_has_its_own_limit() {
    let installation =
        Installation::new(DatabaseKind::Sqlite).await.set("SERVER_TRUSTED_PROXIES", "127.0.0.1/32");
    let server = installation.serve().await;
    let ann = User::sign_up(&server.anonymous(), "ann@example.com").await;
    for count in 0..TRIES {
        // Addresses that the client adds before the proxy's entry are ignored.
        let from = format!("9.9.9.{count}, 8.8.8.8");
        assert_eq!(guess(&server.anonymous(), &ann.email, &from).await, 401);
    }
    assert_eq!(guess(&server.anonymous(), &ann.email, "8.8.8.8").await, 429);
    assert_eq!(guess(&server.anonymous(), &ann.email, "7.7.7.7").await, 401);
    let other = server.anonymous().with("x-forwarded-for", "7.7.7.7");
    ann.log_in(&other).await;
}

#[tokio::test]
async fn the_listener_of_status_pages_serves_nothing_else() {
    let free = TcpListener::bind("127.0.0.1:0").await.unwrap().local_addr().unwrap();
    let installation = Installation::new(DatabaseKind::Sqlite)
        .await
        .set("STATUSPAGES_LISTEN", &free.to_string())
        .set("STATUSPAGES_FRONT", "acme");
    let server = installation.serve().await;
    let ann = User::sign_up(&server.anonymous(), "ann@example.com").await;
    let page = json!({"name": "Acme", "slug": "acme", "published": true,
        "domains": [{"domain": "status.acme.example"}]});
    ann.client.post("statuspage/save", &page).await.ok();
    let pages = Client::new(&format!("http://{free}")).with("accept", "text/html");
    until("the page", || async { (pages.get("/status").await.status == 200).then_some(()) }).await;
    assert_eq!(pages.get("/status/acme/feed.atom").await.status, 200);
    for path in
        ["/", "/healthz", "/metrics", "/api/v1/monitors", "/api/docs", "/login", "/assets/x.js"]
    {
        let answer = pages.get(path).await;
        assert_eq!(answer.status, 404, "{path}: {}", answer.text);
        assert!(answer.text.contains("<h1>Not found</h1>"), "{path}: {}", answer.text);
    }
    let request = b"GET / HTTP/1.1\r\nhost: status.acme.example\r\nconnection: close\r\n\r\n";
    let answer = send_raw(&format!("http://{free}"), request).await;
    assert!(answer.starts_with("HTTP/1.1 200 ") && answer.contains("Acme"), "{answer}");
    server.stop().await;
}

/// A service behind a proxy, configured as documented, with sign-up open.
#[tokio::test]
async fn behind_a_proxy_checks_and_webhooks_cannot_reach_this_machine() {
    let inside = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let port = inside.local_addr().unwrap().port();
    let mut accepted = JoinSet::new();
    accepted.spawn(async move { inside.accept().await.map(drop) });

    let installation =
        Installation::new(DatabaseKind::Sqlite).await.set("SERVER_TRUSTED_PROXIES", "127.0.0.1");
    let server = installation.serve().await;
    let eve = User::sign_up(&server.anonymous(), "eve@example.com").await;
    let own_port = server.url.rsplit(':').next().unwrap();
    for target in [&port.to_string(), own_port] {
        let url = format!("http://127.0.0.1:{target}/");
        let webhook = json!({"name": "x", "type": "webhook", "webhook": {"url": url}});
        let answer = eve.client.post("notifier/save", &webhook).await;
        assert_eq!(answer.wrong_fields(), ["webhook.url"], "{}", answer.text);
        let monitor = json!({"name": "x", "type": "http", "http": {"url": url},
            "heartbeat_interval": 60});
        let answer = eve.client.post("monitor/try", &monitor).await;
        assert!(answer.text.contains("network policy"), "{}", answer.text);
    }
    assert!(accepted.try_join_next().is_none(), "nothing has connected");
    server.stop().await;
    let words = "egress is public (because server.trusted_proxies is not empty";
    assert!(installation.log().contains(words), "{}", installation.log());

    // The operator can allow it.
    let installation = installation.set("NETWORK_EGRESS", "private");
    let server = installation.serve().await;
    let eve = eve.log_in(&server.anonymous()).await;
    let monitor = json!({"name": "x", "type": "tcp", "hostname": "127.0.0.1",
        "port": port.to_string(), "heartbeat_interval": 60});
    eve.client.post("monitor/try", &monitor).await.ok();
    accepted.join_next().await.unwrap().unwrap().unwrap();
}

/// What was saved while the service was private is of no use to a stranger once it is public.
#[tokio::test]
async fn what_was_saved_before_a_proxy_was_configured_cannot_reach_this_machine() {
    let receiver = Receiver::start().await;
    let installation = Installation::new(DatabaseKind::Sqlite).await;
    let server = installation.serve().await;
    let eve = User::sign_up(&server.anonymous(), "eve@example.com").await;
    let port: u16 = receiver.url.split(['/', ':']).nth(4).unwrap().parse().unwrap();
    let origin = format!("http://127.0.0.1:{port}");
    let mut notifiers = vec![
        json!({"name": "x", "type": "webhook", "webhook": {"url": receiver.url}}),
        json!({"name": "x", "type": "email", "email": {"hostname": "127.0.0.1", "port": port,
            "security": "None", "ignore_tls_errors": false, "username": "", "password": "",
            "from_email": "a@example.com", "to_email": "b@example.com", "to_cc": "",
            "to_bcc": "", "subject": ""}}),
    ];
    for kind in [Kind::Ntfy, Kind::Alertmanager, Kind::Signal] {
        let mut body = json!({"name": "x", "type": kind.as_str()});
        body[kind.as_str()] = FakeService::settings_for(kind, &origin);
        notifiers.push(body);
    }
    let mut saved = Vec::new();
    for body in &notifiers {
        let made = eve.client.post("notifier/save", body).await.json();
        assert!(made["notifierid"].is_string(), "{made}");
        saved.push(made["notifierid"].clone());
    }
    let first = json!({"notifierid": saved[0]});
    eve.client.post("notifier/test", &first).await.ok();
    assert_eq!(receiver.count(), 1, "it can be reached");
    server.stop().await;

    let installation = installation.set("SERVER_TRUSTED_PROXIES", "127.0.0.1");
    let server = installation.serve().await;
    let eve = eve.log_in(&server.anonymous()).await;
    for (id, body) in saved.iter().zip(&notifiers) {
        let answer = eve.client.post("notifier/test", &json!({"notifierid": id})).await;
        answer.refused(502, "not_delivered");
        assert!(answer.text.contains("network policy"), "{body}: {}", answer.text);
    }
    assert_eq!(receiver.count(), 1, "nothing has connected");
    server.stop().await;
}

const SLOW: usize = 500;
/// The server waits ten seconds for headers; the rest is for a busy machine.
const MAX_RELEASE_TIME: Duration = Duration::from_secs(20);

/// The beginnings of requests that are never finished.
const BEGINNINGS: [&str; 5] = [
    "",
    "P",
    "GET /readyz HTTP/1.1\r\nHost: localhost\r\n",
    "GET /readyz HTTP/1.1\r\nHost: localhost\r\nX-Slow: ",
    "PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n",
];

#[tokio::test]
async fn slow_clients_do_not_delay_others_and_are_dropped() {
    let installation = Installation::new(DatabaseKind::Sqlite).await;
    let server = installation.serve().await;
    let begun = Instant::now();
    let mut slow = JoinSet::new();
    for count in 0..SLOW {
        let mut stream = connect_from(&server, count).await;
        let beginning = BEGINNINGS[count % BEGINNINGS.len()];
        stream.write_all(beginning.as_bytes()).await.unwrap();
        slow.spawn(hold_open(stream, beginning.ends_with(": ")));
    }
    let mut waits = Vec::new();
    for _ in 0..100 {
        waits.push(response_time(&server).await);
    }
    waits.sort();
    assert!(waits[98] < Duration::from_secs(1), "99 of 100 responses within {:?}", waits[98]);

    let freed = timeout(MAX_RELEASE_TIME.saturating_sub(begun.elapsed()), async {
        let mut freed = 0;
        while slow.join_next().await.is_some() {
            freed += 1;
        }
        freed
    });
    assert_eq!(freed.await.expect("the server drops slow clients"), SLOW);
    assert!(response_time(&server).await < Duration::from_secs(1));
}

/// A connection from one of many clients, none of which reaches its limit.
async fn connect_from(server: &Server, client: usize) -> TcpStream {
    let socket = TcpSocket::new_v4().unwrap();
    let from = format!("127.1.0.{}:0", client % 200 + 1);
    socket.bind(from.parse().unwrap()).unwrap();
    socket.connect(server.url.strip_prefix("http://").unwrap().parse().unwrap()).await.unwrap()
}

#[tokio::test]
async fn behind_a_proxy_a_loopback_listener_serves_the_host_of_public_url() {
    let installation = Installation::new(DatabaseKind::Sqlite)
        .await
        .set("SERVER_PUBLIC_URL", "https://wakeful.example.com")
        .set("SERVER_TRUSTED_PROXIES", "127.0.0.1/32");
    let server = installation.serve().await;
    for (host, status) in [
        ("wakeful.example.com", "200"),
        ("localhost:8080", "200"),
        ("evil.example", "421"),
        ("wakeful.example.com.evil.example", "421"),
    ] {
        let head = format!("GET /healthz HTTP/1.1\r\nHost: {host}\r\nConnection: close\r\n\r\n");
        let answer = send_raw(&server.url, head.as_bytes()).await;
        assert!(answer.starts_with(&format!("HTTP/1.1 {status} ")), "{host}: {answer}");
        let has_public_host = answer.contains("wakeful.example.com");
        assert_eq!(has_public_host, status == "421", "the message names it: {answer}");
    }
}

/// Keeps a connection alive with an occasional byte until the server closes it.
async fn hold_open(mut stream: TcpStream, drips: bool) {
    let mut read = [0; 1024];
    loop {
        match timeout(Duration::from_millis(500), stream.read(&mut read)).await {
            Ok(Ok(0) | Err(_)) => return,
            Ok(Ok(_)) => {}
            Err(_) if drips => {
                if stream.write_all(b"a").await.is_err() {
                    return;
                }
            }
            Err(_) => {}
        }
    }
}

/// The response time for a new client.
async fn response_time(server: &Server) -> Duration {
    let begun = Instant::now();
    server.anonymous().get("/readyz").await.ok();
    begun.elapsed()
}
