//! Clients that occupy connections: their connections are closed in time, and however
//! many there are, reports and health checks get through.

use futures_util::future::{join_all, select_all};
use serde_json::json;
use std::io::ErrorKind;
use std::net::{Ipv4Addr, SocketAddr};
use std::time::{Duration, Instant};
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::{TcpListener, TcpSocket, TcpStream};
use tokio::process::Command;
use tokio::time::timeout;
use wakeful_api::Limits;
use wakeful_testkit::{App, DatabaseKind, Setup, User, until};

use crate::http2::{
    PREFACE, get as request, get_compressed, ping, post_without_body, read_responses, settings,
};
use crate::notifiers::peak_memory;

/// Long enough for a busy machine.
const PATIENCE: Duration = Duration::from_secs(20);
const RESPONSE_TIMEOUT: Duration = Duration::from_secs(1);
/// The same for a call that is not a report: one that has to be admitted in favor of others.
const CALL_TIMEOUT: Duration = Duration::from_secs(2);

#[derive(Clone, Copy, Debug, PartialEq)]
enum Hostile {
    Silent,
    SlowHeaders,
    IdleHttp1,
    IdleHttp2,
    UnreadStreams,
    UnreadResponse,
    SlowBody,
    EndlessBody,
    SlowReport,
}

impl Hostile {
    /// The bytes it sends; afterward it neither reads nor sends.
    fn opening(self) -> Vec<u8> {
        match self {
            Self::Silent => Vec::new(),
            Self::SlowHeaders => b"GET / HTTP/1.1\r\nHost: localhost\r\nX-Slow: ".to_vec(),
            Self::IdleHttp1 => get("/healthz"),
            Self::IdleHttp2 => {
                [PREFACE, &settings(None), &request(1, "localhost", "/healthz")].concat()
            }
            Self::UnreadStreams => {
                let streams: Vec<u8> =
                    (0..2).flat_map(|n| request(2 * n + 1, "localhost", "/")).collect();
                [PREFACE, &settings(Some(0)), &streams].concat()
            }
            Self::UnreadResponse => get("/api/openapi.json"),
            Self::SlowBody => b"POST /api/v1/login HTTP/1.1\r\nHost: localhost\r\n\
                Content-Type: application/json\r\nContent-Length: 1000\r\n\r\n{"
                .to_vec(),
            Self::EndlessBody => b"POST /api/v1/login HTTP/1.1\r\nHost: localhost\r\n\
                Content-Type: application/json\r\nTransfer-Encoding: chunked\r\n\r\nfffff\r\n"
                .to_vec(),
            Self::SlowReport => b"POST /api/v1/monitor/notify/1 HTTP/1.1\r\nHost: localhost\r\n\
                Content-Type: application/json\r\nContent-Length: 1000\r\n\r\n{"
                .to_vec(),
        }
    }
}

fn get(path: &str) -> Vec<u8> {
    format!("GET {path} HTTP/1.1\r\nHost: localhost\r\n\r\n").into_bytes()
}

fn address(app: &App) -> SocketAddr {
    app.url.strip_prefix("http://").unwrap().parse().unwrap()
}

/// A connection from one of many clients, each with a loopback address in a site of its own.
async fn connect(app: &App, client: u32) -> TcpStream {
    connect_from(app, Ipv4Addr::from_bits(Ipv4Addr::new(127, 1, 0, 1).to_bits() + (client << 8)))
        .await
}

async fn connect_from(app: &App, from: Ipv4Addr) -> TcpStream {
    let socket = TcpSocket::new_v4().unwrap();
    socket.set_recv_buffer_size(4096).unwrap();
    socket.bind((from, 0).into()).unwrap();
    timeout(PATIENCE, socket.connect(address(app))).await.unwrap().unwrap()
}

async fn attack(app: &App, client: u32, kind: Hostile) -> TcpStream {
    occupy(connect(app, client).await, kind).await
}

async fn occupy(mut stream: TcpStream, kind: Hostile) -> TcpStream {
    // The server may have closed it already.
    let _ = stream.write_all(&kind.opening()).await;
    stream
}

/// Reads until the server closes the connection.
async fn read_to_close(stream: &mut TcpStream) -> Vec<u8> {
    let mut read = Vec::new();
    let closed = timeout(PATIENCE, stream.read_to_end(&mut read)).await;
    let _ = closed.expect("the server closes the connection");
    read
}

/// The response to the request of a new client, with `Connection: close`.
async fn visit(app: &App, client: u32, path: &str) -> String {
    fetch(connect(app, client).await, path).await
}

async fn fetch(stream: TcpStream, path: &str) -> String {
    send(stream, &format!("GET {path} HTTP/1.1"), "").await
}

const LOGIN: &str = "POST /api/v1/login HTTP/1.1";

fn credentials(user: &User) -> String {
    json!({"email": user.email, "password": user.password}).to_string()
}

async fn send(mut stream: TcpStream, line: &str, body: &str) -> String {
    let length = body.len();
    let request = format!(
        "{line}\r\nHost: localhost\r\nConnection: close\r\n\
         Content-Type: application/json\r\nContent-Length: {length}\r\n\r\n{body}"
    );
    let _ = stream.write_all(request.as_bytes()).await;
    String::from_utf8_lossy(&read_to_close(&mut stream).await).into_owned()
}

/// The path of a new monitor's push URL.
async fn push_path(app: &App, user: &User) -> String {
    let body = json!({"type": "api", "name": "job", "heartbeat_interval": 60, "isactive": true,
        "upside_down_mode": false});
    let saved = user.client.post("monitor/save", &body).await.ok();
    saved["monitor"]["push_url"].as_str().unwrap().strip_prefix(&app.url).unwrap().to_owned()
}

/// Few connections and short timeouts.
fn small() -> Limits {
    Limits {
        connections: 32,
        reserved: 8,
        per_client: 8,
        header_timeout: Duration::from_millis(300),
        reserved_lifetime: Duration::from_millis(300),
        idle_timeout: Duration::from_millis(300),
        stall_timeout: Duration::from_millis(300),
        ..Limits::default()
    }
}

async fn start(limits: Limits) -> App {
    let mut setup = Setup::on(DatabaseKind::Sqlite);
    setup.connections = limits;
    setup.start().await
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn hostile_connections_are_closed_in_time() {
    let app = start(small()).await;
    for kind in [
        Hostile::Silent,
        Hostile::SlowHeaders,
        Hostile::IdleHttp1,
        Hostile::IdleHttp2,
        Hostile::UnreadStreams,
    ] {
        let mut stream = attack(&app, 1, kind).await;
        let read = read_to_close(&mut stream).await;
        let was_reset = read.windows(5).any(|bytes| bytes == [0, 0, 4, 3, 0]);
        assert_eq!(was_reset, kind == Hostile::UnreadStreams, "{kind:?}");
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_response_that_is_not_read_is_dropped() {
    let app = start(small()).await;
    let mut stream = attack(&app, 1, Hostile::UnreadResponse).await;
    // Far more than the kernel buffers for a connection.
    let more: Vec<u8> = (0..100).flat_map(|_| get("/api/openapi.json")).collect();
    let _ = stream.write_all(&more).await;
    // Once the server has closed its end, sending fails.
    let dropped = |error: std::io::Error| error.kind() != ErrorKind::WouldBlock;
    until("the connection to be dropped", || async {
        stream.try_write(b"GET").is_err_and(dropped).then_some(())
    })
    .await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn pings_do_not_keep_an_idle_connection_open() {
    let app = start(small()).await;
    let mut stream = attack(&app, 1, Hostile::IdleHttp2).await;
    let (mut reading, mut writing) = stream.split();
    let pinging = async {
        while writing.write_all(&ping()).await.is_ok() {
            tokio::time::sleep(Duration::from_millis(20)).await;
        }
    };
    let mut read = Vec::new();
    let closed = async {
        tokio::select! {
            () = pinging => {}
            _ = reading.read_to_end(&mut read) => {}
        }
    };
    timeout(PATIENCE, closed).await.expect("the server closes the connection");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_slow_client_gets_the_whole_response() {
    let app = start(small()).await;
    let expected = app.anonymous().get("/api/openapi.json").await.text.len();
    let mut stream = connect(&app, 1).await;
    stream.write_all(&get("/api/openapi.json")).await.unwrap();
    let (mut read, mut total) = ([0; 8 * 1024], 0);
    let began = Instant::now();
    // Reading takes longer than the stall timeout and the idle timeout.
    while total < expected {
        total += timeout(PATIENCE, stream.read(&mut read)).await.unwrap().unwrap();
        tokio::time::sleep(Duration::from_millis(15)).await;
    }
    assert!(began.elapsed() > 2 * small().stall_timeout, "{:?}", began.elapsed());
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn live_updates_outlast_every_timeout() {
    let app = start(small()).await;
    let ann = app.sign_up("ann@example.com").await;
    let url = format!("{}/api/v1/events", app.url);
    let request = reqwest::Client::new().get(url).bearer_auth(&ann.token);
    let mut events = request.send().await.unwrap();
    let quiet = timeout(3 * small().idle_timeout, events.chunk()).await;
    assert!(quiet.is_err(), "no event was expected: {quiet:?}");
    push_path(&app, &ann).await;
    let event = timeout(PATIENCE, events.chunk()).await.unwrap().unwrap().unwrap();
    assert!(event.starts_with(b"event: saved"), "{event:?}");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_client_at_its_limit_loses_its_own_longest_idle_connection() {
    let patient = Duration::from_secs(60);
    let limits = Limits { header_timeout: patient, min_idle: Duration::ZERO, ..small() };
    let app = start(limits).await;
    let mut other = connect(&app, 2).await;
    let mut held = vec![connect(&app, 1).await];
    // The response shows that the first connection was accepted before the others.
    visit(&app, 3, "/healthz").await;
    for _ in 1..small().per_client {
        held.push(connect(&app, 1).await);
    }
    // One more replaces the first.
    let mut newest = attack(&app, 1, Hostile::IdleHttp1).await;
    assert!(newest.read_u8().await.is_ok(), "it is served");
    assert_eq!(read_to_close(&mut held[0]).await, b"");
    for stream in held.iter_mut().skip(1).chain([&mut other]) {
        stream.write_all(&get("/healthz")).await.unwrap();
        assert_eq!(timeout(PATIENCE, stream.read_u8()).await.unwrap().unwrap(), b'H');
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_trusted_proxy_is_exempt_from_the_limit_per_client() {
    let patient = Duration::from_secs(60);
    for trusted in [false, true] {
        let mut setup = Setup::on(DatabaseKind::Sqlite);
        // Nothing is idle for long enough to be closed in favor of another.
        setup.connections = Limits { header_timeout: patient, min_idle: patient, ..small() };
        if trusted {
            setup.api.trusted_proxies = vec!["127.1.0.0/16".parse().unwrap()];
        }
        let app = setup.start().await;
        let mut held = Vec::new();
        for _ in 0..small().per_client {
            held.push(connect(&app, 1).await);
        }
        let response = visit(&app, 1, "/healthz").await;
        assert_eq!(response.starts_with("HTTP/1.1 200 "), trusted, "{response}");
        assert!(visit(&app, 2, "/healthz").await.starts_with("HTTP/1.1 200 "));
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn when_all_connections_are_taken_the_longest_idle_is_closed() {
    let patient = Duration::from_secs(60);
    let limits = Limits { header_timeout: patient, min_idle: Duration::ZERO, ..small() };
    let app = start(limits.clone()).await;
    let mut held = vec![connect(&app, 0).await];
    // The response shows that the first connection was accepted before the others.
    visit(&app, 999, "/healthz").await;
    for count in 1..limits.connections {
        held.push(connect(&app, u32::try_from(count).unwrap()).await);
    }
    // All paths are served: the new connection has a regular slot.
    assert!(visit(&app, 1000, "/api/openapi.json").await.starts_with("HTTP/1.1 200 "));
    assert_eq!(read_to_close(&mut held[0]).await, b"");
    held[1].write_all(&get("/healthz")).await.unwrap();
    assert_eq!(timeout(PATIENCE, held[1].read_u8()).await.unwrap().unwrap(), b'H');
}

/// The head of a response with a body of known length, which is read, too.
async fn read_response(stream: &mut TcpStream) -> String {
    let mut head = Vec::new();
    while !head.ends_with(b"\r\n\r\n") {
        head.push(timeout(PATIENCE, stream.read_u8()).await.unwrap().unwrap());
    }
    let head = String::from_utf8(head).unwrap().to_lowercase();
    let length = head.split("content-length: ").nth(1).unwrap().split("\r\n").next().unwrap();
    let mut body = vec![0; length.parse().unwrap()];
    timeout(PATIENCE, stream.read_exact(&mut body)).await.unwrap().unwrap();
    head
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn visitors_of_pages_keep_no_connection_when_half_of_them_are_taken() {
    let patient = Duration::from_secs(60);
    let app = start(Limits { header_timeout: patient, idle_timeout: patient, ..small() }).await;
    let ann = app.sign_up("ann@example.com").await;
    let page = json!({"name": "Acme", "published": true});
    ann.client.post("statuspage/save", &page).await.ok();
    until_served(&app, 500, "/status/acme", "HTTP/1.1 200 ").await;
    let mut visitor = connect(&app, 0).await;
    let mut view = async || {
        visitor.write_all(&get("/status/acme")).await.unwrap();
        read_response(&mut visitor).await
    };
    for _ in 0..2 {
        let head = view().await;
        assert!(head.starts_with("http/1.1 200 ") && !head.contains("connection: close"), "{head}");
    }
    let mut held = Vec::new();
    for client in 1..=16 {
        held.push(connect(&app, client).await);
    }
    // Its response shows that they were accepted.
    visit(&app, 501, "/healthz").await;
    let head = view().await;
    assert!(head.starts_with("http/1.1 200 ") && head.contains("connection: close"), "{head}");
    assert_eq!(read_to_close(&mut visitor).await, b"");
    // Others keep theirs.
    let mut program = connect(&app, 502).await;
    for _ in 0..2 {
        program.write_all(&get("/healthz")).await.unwrap();
        let head = read_response(&mut program).await;
        assert!(head.starts_with("http/1.1 200 ") && !head.contains("connection: close"), "{head}");
    }
    // When there is room again, visitors keep theirs, too.
    drop(held);
    until("room", || async {
        let mut visitor = connect(&app, 503).await;
        visitor.write_all(&get("/status/acme")).await.unwrap();
        let head = read_response(&mut visitor).await;
        (!head.contains("connection: close")).then_some(())
    })
    .await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_request_that_is_being_handled_is_not_evicted() {
    let limits = Limits { min_idle: Duration::ZERO, min_stall: Duration::ZERO, ..small() };
    let app = start(limits.clone()).await;
    let ann = app.sign_up("ann@example.com").await;
    let target = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let url = format!("http://{}/", target.local_addr().unwrap());
    let body = json!({"type": "http", "http": {"url": url}});
    let check = ann.client.post("monitor/try", &body);
    let crowd = async {
        let (mut asked, _) = timeout(PATIENCE, target.accept()).await.unwrap().unwrap();
        // More clients than there are connections: each replaces another.
        let mut held = Vec::new();
        for count in 0..2 * limits.connections {
            held.push(attack(&app, u32::try_from(count).unwrap(), Hostile::SlowBody).await);
        }
        read_to_close(&mut held[0]).await;
        asked.write_all(b"HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n").await.unwrap();
    };
    let (checked, ()) = tokio::join!(check, crowd);
    assert_eq!(checked.ok()["heartbeat"]["status"], "up");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn while_no_connection_can_be_closed_reports_and_health_checks_are_served() {
    let patient = Duration::from_secs(60);
    let limits = Limits {
        header_timeout: patient,
        idle_timeout: patient,
        stall_timeout: patient,
        min_idle: patient,
        min_stall: patient,
        ..small()
    };
    let app = start(limits.clone()).await;
    let ann = app.sign_up("ann@example.com").await;
    let push = push_path(&app, &ann).await;
    let mut held = Vec::new();
    for count in 0..limits.connections + limits.reserved {
        held.push(attack(&app, u32::try_from(count).unwrap(), Hostile::SlowBody).await);
    }
    // Requests in reserved slots are rejected and closed as soon as the machine has time.
    until("a reserved slot", || async {
        visit(&app, 999, &push).await.contains("{\"ok\":true}").then_some(())
    })
    .await;
    for client in 1000..1020 {
        assert!(visit(&app, client, &push).await.contains("{\"ok\":true}"));
        let healthy = visit(&app, client, "/healthz").await;
        assert!(healthy.starts_with("HTTP/1.1 200 "), "{healthy}");
        assert!(healthy.contains("connection: close\r\n"), "{healthy}");
        let refused = visit(&app, client, "/api/openapi.json").await;
        assert!(refused.starts_with("HTTP/1.1 503 "), "{refused}");
        assert!(refused.contains("retry-after: ") && refused.contains("\"unavailable\""));
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn unfinished_bodies_do_not_exhaust_memory() {
    const MIB: usize = 1024 * 1024;
    let app = start(Limits::default()).await;
    let _held = unfinished_until_one_is_refused(&app, 33, MIB - 1).await;
    // A short body is accepted all the same.
    let mut short = connect(&app, 1).await;
    let login = "POST /api/v1/login HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\
        Content-Type: application/json\r\nContent-Length: 2\r\n\r\n{}";
    short.write_all(login.as_bytes()).await.unwrap();
    assert!(read_to_close(&mut short).await.starts_with(b"HTTP/1.1 422 "));
    app.sign_up("ann@example.com").await;
}

/// The buffers of bodies that have arrived in part are longer than what has arrived, and count
/// whole: of these, 136 fit into the client's 32 MiB, although 200 would by what they contain.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn the_buffers_of_unfinished_bodies_count_whole() {
    let app = start(Limits::default()).await;
    let _held = unfinished_until_one_is_refused(&app, 200, 130 * 1024).await;
}

/// Connections of one client, each with the beginning of a body of 1 MiB.
async fn unfinished_until_one_is_refused(app: &App, count: usize, sent: usize) -> Vec<TcpStream> {
    const MIB: usize = 1024 * 1024;
    let unfinished = format!(
        "POST /api/v1/login HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\n\
         Content-Length: {MIB}\r\n\r\n{}",
        " ".repeat(sent)
    );
    let mut held = Vec::new();
    for _ in 0..count {
        let mut stream = connect(app, 1).await;
        // Beyond the client's limit the server responds and closes before the end.
        let _ = timeout(PATIENCE, stream.write_all(unfinished.as_bytes())).await.unwrap();
        held.push(stream);
    }
    let one_is_refused = async {
        loop {
            for stream in &mut held {
                let mut start = [0; 12];
                let read = timeout(Duration::from_millis(10), stream.read_exact(&mut start));
                if read.await.is_ok_and(|read| read.is_ok()) && &start == b"HTTP/1.1 503" {
                    return;
                }
            }
        }
    };
    timeout(PATIENCE, one_is_refused).await.expect("one is refused");
    held
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_body_of_very_many_values_is_refused_before_it_is_parsed() {
    let app = start(Limits::default()).await;
    let ann = app.sign_up("ann@example.com").await;
    let many = vec![json!({"a": 0}); 5_000];
    let few = vec![json!({"a": 0}); 4_900];
    let report = |values| json!({"status": "up", "payload": {"a": values}});
    let refused = ann.client.post("monitor/notify/1", &report(many)).await;
    refused.refused(413, "body_too_large");
    ann.client.post("monitor/notify/1", &report(few)).await.refused(404, "not_found");
    let text = json!({"email": "ann@example.com", "password": ",".repeat(50_000)});
    assert_ne!(app.anonymous().post("login", &text).await.status, 413, "text is one value");
}

/// An HTTP/2 connection with requests whose bodies never arrive.
async fn unfinished_streams(app: &App, client: u32, count: u32) -> TcpStream {
    let login = |n| post_without_body(2 * n + 1, "localhost", "/api/v1/login");
    let streams: Vec<u8> = (0..count).flat_map(login).collect();
    let mut stream = connect(app, client).await;
    stream.write_all(&[PREFACE, &settings(None), &streams].concat()).await.unwrap();
    stream
}

async fn until_served(app: &App, client: u32, path: &str, status: &str) {
    until(status, || async { visit(app, client, path).await.starts_with(status).then_some(()) })
        .await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_client_can_have_only_so_many_requests_in_progress() {
    let patient = Duration::from_secs(60);
    let app = start(Limits { min_stall: patient, stall_timeout: patient, ..small() }).await;
    let mut held = unfinished_streams(&app, 1, 20).await;
    // Those beyond the client's share are rejected although their bodies have not arrived.
    let rejected = 20 - small().per_client;
    timeout(PATIENCE, read_responses(&mut held, rejected)).await.unwrap();
    let refused = visit(&app, 1, "/api/openapi.json").await;
    assert!(refused.starts_with("HTTP/1.1 503 "), "{refused}");
    assert!(visit(&app, 1, "/healthz").await.starts_with("HTTP/1.1 200 "));
    assert!(visit(&app, 2, "/api/openapi.json").await.starts_with("HTTP/1.1 200 "));
    drop(held);
    until_served(&app, 1, "/api/openapi.json", "HTTP/1.1 200 ").await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn reports_pass_while_clients_have_all_requests_in_progress() {
    let patient = Duration::from_secs(60);
    let mut setup = Setup::on(DatabaseKind::Sqlite);
    // However busy the machine is, their headers arrive in time.
    setup.connections =
        Limits { header_timeout: patient, min_stall: patient, stall_timeout: patient, ..small() };
    // A proxy does not make room for others: nobody knows how many clients it has.
    setup.api.trusted_proxies = vec!["127.1.192.0/19".parse().unwrap()];
    let app = setup.start().await;
    let push = push_path(&app, &app.sign_up("ann@example.com").await).await;
    let mut held = Vec::new();
    for client in 200..211 {
        held.push(unfinished_streams(&app, client, 3).await);
    }
    let filling = async {
        while !visit(&app, 9, "/api/openapi.json").await.starts_with("HTTP/1.1 503 ") {
            // The visitor had a place that one of them was refused.
            held.push(unfinished_streams(&app, 211, 1).await);
        }
    };
    timeout(PATIENCE, filling).await.unwrap();
    // It was refused before the router saw it.
    let refused = visit(&app, 9, "/api/openapi.json").await;
    assert!(refused.contains("Too many requests are in progress"), "{refused}");
    // Reports whose bodies never arrive cannot take the places of those without one.
    for client in 100..120 {
        let notify = |n: u32| post_without_body(2 * n + 1, "localhost", "/api/v1/monitor/notify/1");
        let streams: Vec<u8> = (0..4).flat_map(notify).collect();
        let mut stream = connect(&app, client).await;
        stream.write_all(&[PREFACE, &settings(None), &streams].concat()).await.unwrap();
        held.push(stream);
    }
    for client in 10..20 {
        assert!(visit(&app, client, &push).await.contains("{\"ok\":true}"));
        assert!(visit(&app, client, "/healthz").await.starts_with("HTTP/1.1 200 "));
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn requests_without_progress_make_room_for_others() {
    let patient = Duration::from_secs(60);
    let limits = Limits { min_stall: Duration::from_secs(1), stall_timeout: patient, ..small() };
    let app = start(limits).await;
    let mut held = Vec::new();
    for client in 1..5 {
        held.push(unfinished_streams(&app, client, 8).await);
    }
    let visitors = async {
        loop {
            visit(&app, 9, "/api/openapi.json").await;
        }
    };
    // Which of them made no progress for longest is up to the scheduler.
    let closed = held.iter_mut().map(|stream| Box::pin(read_to_close(stream)));
    tokio::select! {
        () = visitors => {}
        _ = select_all(closed) => {}
    }
    until_served(&app, 9, "/api/openapi.json", "HTTP/1.1 200 ").await;
}

/// Bodies that arrive fast enough to count as progress, from as many sites as connections.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn bodies_that_take_long_make_room_for_others() {
    let patient = Duration::from_secs(60);
    let limits = Limits {
        min_stall: Duration::from_millis(500),
        idle_timeout: patient,
        stall_timeout: patient,
        ..small()
    };
    let app = start(limits.clone()).await;
    let sending = (0..2 * limits.connections).map(|client| {
        let app = &app;
        async move {
            let client = 100 + u32::try_from(client).unwrap();
            loop {
                let mut stream = attack(app, client, Hostile::EndlessBody).await;
                let mut ticks = tokio::time::interval(Duration::from_millis(100));
                while stream.write_all(&[b' '; 1024]).await.is_ok() {
                    ticks.tick().await;
                }
            }
        }
    });
    let visitor = async {
        for _ in 0..5 {
            until_served(&app, 9, "/api/openapi.json", "HTTP/1.1 200 ").await;
        }
    };
    tokio::select! {
        _ = join_all(sending) => {}
        () = visitor => {}
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_header_without_an_end_is_refused_before_it_fills_memory() {
    let patient = Duration::from_secs(60);
    let app = start(Limits { header_timeout: patient, ..Limits::default() }).await;
    let mut stream = connect(&app, 1).await;
    let header = format!("GET / HTTP/1.1\r\nX-Long: {}", "a".repeat(200_000));
    let _ = stream.write_all(header.as_bytes()).await;
    // The connection is reset if the server closes it before it has read everything.
    read_to_close(&mut stream).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn slow_requests_on_reserved_connections_make_room_for_others() {
    let patient = Duration::from_secs(60);
    let limits = Limits {
        reserved_per_client: 2,
        reserved_lifetime: patient,
        header_timeout: patient,
        idle_timeout: patient,
        stall_timeout: patient,
        min_idle: patient,
        min_stall: patient,
        ..small()
    };
    let app = start(limits.clone()).await;
    let ann = app.sign_up("ann@example.com").await;
    let push = push_path(&app, &ann).await;
    let mut held = Vec::new();
    for count in 0..limits.connections {
        held.push(attack(&app, u32::try_from(count).unwrap(), Hostile::SlowBody).await);
    }
    for round in 0..5 {
        for count in 0..2 * limits.reserved {
            let client = 100 + u32::try_from(round * 100 + count).unwrap();
            let kind = if count % 2 == 0 { Hostile::SlowReport } else { Hostile::UnreadStreams };
            held.push(attack(&app, client, kind).await);
        }
        until("a report to be accepted", || async {
            visit(&app, 10_000, &push).await.contains("{\"ok\":true}").then_some(())
        })
        .await;
    }
    // One client cannot take all reserved connections.
    for _ in 0..2 * limits.reserved {
        held.push(attack(&app, 20_000, Hostile::SlowReport).await);
    }
    until("a health check to be served", || async {
        visit(&app, 10_001, "/healthz").await.starts_with("HTTP/1.1 200 ").then_some(())
    })
    .await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn the_clients_of_one_site_cannot_take_all_connections() {
    let patient = Duration::from_secs(60);
    let limits = Limits {
        connections: 64,
        idle_timeout: patient,
        stall_timeout: patient,
        min_idle: patient,
        min_stall: patient,
        ..small()
    };
    let app = start(limits.clone()).await;
    let ann = app.sign_up("ann@example.com").await;
    let push = push_path(&app, &ann).await;
    let mut held = Vec::new();
    for count in 0..2 * limits.connections {
        let last = u8::try_from(count / 4 + 1).unwrap();
        let stream = connect_from(&app, [127, 0, 200, last].into()).await;
        held.push(occupy(stream, Hostile::SlowBody).await);
    }
    for client in 0..8 {
        let document = visit(&app, client, "/api/openapi.json").await;
        assert!(document.starts_with("HTTP/1.1 200 "), "{document}");
    }
    until("a report from the same site to be accepted", || async {
        let stream = connect_from(&app, [127, 0, 200, 250].into()).await;
        fetch(stream, &push).await.contains("{\"ok\":true}").then_some(())
    })
    .await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_reserved_connection_lasts_only_so_long() {
    let patient = Duration::from_secs(60);
    let limits = Limits { min_idle: patient, min_stall: patient, idle_timeout: patient, ..small() };
    let app = start(Limits { stall_timeout: patient, ..limits.clone() }).await;
    let mut held = Vec::new();
    for count in 0..limits.connections {
        held.push(attack(&app, u32::try_from(count).unwrap(), Hostile::SlowBody).await);
    }
    let mut slow = attack(&app, 999, Hostile::SlowReport).await;
    read_to_close(&mut slow).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn compressed_responses_that_are_not_read_do_not_fill_memory() {
    let app = start(Limits::default()).await;
    visit(&app, 1, "/healthz").await;
    let before = peak_memory();
    let streams: Vec<u8> =
        (0..32).flat_map(|n| get_compressed(2 * n + 1, "localhost", "/healthz")).collect();
    let opening = [PREFACE, &settings(Some(0)), &streams].concat();
    let mut held = Vec::new();
    for _ in 0..60 {
        let mut stream = connect(&app, 1).await;
        stream.write_all(&opening).await.unwrap();
        held.push(stream);
    }
    // By their responses, the requests of all connections have been handled.
    for stream in &mut held {
        timeout(PATIENCE, read_responses(stream, 32)).await.unwrap();
    }
    let grown = peak_memory().saturating_sub(before);
    assert!(grown < 100 << 20, "{} MiB", grown >> 20);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_client_can_leave_only_so_much_unread() {
    let patient = Duration::from_secs(60);
    let app = start(Limits { min_stall: patient, ..Limits::default() }).await;
    let streams: Vec<u8> =
        (0..32).flat_map(|n| request(2 * n + 1, "localhost", "/api/openapi.json")).collect();
    let opening = [PREFACE, &settings(Some(0)), &streams].concat();
    // Each counts only as what is on its way: the document itself is in memory once.
    let mut held = Vec::new();
    for _ in 0..70 {
        let mut stream = connect(&app, 1).await;
        stream.write_all(&opening).await.unwrap();
        held.push(stream);
    }
    let document = async |client| visit(&app, client, "/api/openapi.json").await;
    until("the client to have its share", || async {
        document(1).await.starts_with("HTTP/1.1 503 ").then_some(())
    })
    .await;
    assert!(document(2).await.starts_with("HTTP/1.1 200 "), "other clients");
    drop(held);
    until("the share to be free again", || async {
        document(1).await.starts_with("HTTP/1.1 200 ").then_some(())
    })
    .await;
}

/// Fills all connections of the production limits with one kind of attack.
async fn with_4096_hostile_connections(kind: Hostile) {
    const FILES: &str = "--nofile=12000:";
    let pid = std::process::id().to_string();
    let allowed = Command::new("prlimit").args(["--pid", &pid, FILES]).status().await;
    assert!(allowed.unwrap().success(), "this test needs 12,000 open files");
    let limits = Limits::default();
    let app = start(limits.clone()).await;
    let ann = app.sign_up("ann@example.com").await;
    let push = push_path(&app, &ann).await;
    let mut held = Vec::new();
    for count in 0..limits.connections {
        let client = u32::try_from(count % HOSTILE_SITES).unwrap();
        held.push(attack(&app, client, kind).await);
    }
    let me = format!("GET /api/v1/users/me HTTP/1.1\r\nAuthorization: Bearer {}", ann.token);
    let calls = [
        (format!("GET {push} HTTP/1.1"), RESPONSE_TIMEOUT),
        ("GET /healthz HTTP/1.1".to_owned(), RESPONSE_TIMEOUT),
        (me, CALL_TIMEOUT),
        (LOGIN.to_owned(), CALL_TIMEOUT),
    ];
    for (call, timeout) in calls {
        let body = if call == LOGIN { credentials(&ann) } else { String::new() };
        let mut waits = Vec::new();
        for client in 1000..1009 {
            let began = Instant::now();
            let response = send(connect(&app, client).await, &call, &body).await;
            assert!(response.starts_with("HTTP/1.1 200 "), "{kind:?} {call}: {response}");
            waits.push(began.elapsed());
        }
        // A single request may be slow: the machine serves both ends of 4,096 connections.
        waits.sort();
        assert!(waits[4] < timeout, "{kind:?} {call}: {waits:?}");
    }
}

/// None of them has more than a thirty-second of all connections.
const HOSTILE_SITES: usize = 33;

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn connections_that_are_closed_and_reopened_do_not_keep_others_out() {
    let app = start(small()).await;
    let ann = app.sign_up("ann@example.com").await;
    let cycling = (0..16).map(|client| {
        let app = &app;
        async move {
            loop {
                // So few that their site is no larger than others may be.
                let held = join_all((0..3).map(|_| attack(app, client, Hostile::Silent))).await;
                tokio::time::sleep(Duration::from_millis(50)).await;
                drop(held);
            }
        }
    });
    let visitors = async {
        for client in 100..120 {
            let document = visit(&app, client, "/api/openapi.json").await;
            assert!(document.starts_with("HTTP/1.1 200 "), "{document}");
        }
        let login = send(connect(&app, 200).await, LOGIN, &credentials(&ann)).await;
        assert!(login.starts_with("HTTP/1.1 200 "), "{login}");
    };
    tokio::select! {
        _ = join_all(cycling) => {}
        () = visitors => {}
    }
}

macro_rules! hostile_connections {
    ($($name:ident: $kind:ident,)+) => {$(
        #[tokio::test(flavor = "multi_thread", worker_threads = 2)]
        async fn $name() {
            with_4096_hostile_connections(Hostile::$kind).await;
        }
    )+};
}

hostile_connections! {
    reports_pass_4096_silent_connections: Silent,
    reports_pass_4096_connections_with_slow_headers: SlowHeaders,
    reports_pass_4096_idle_http1_connections: IdleHttp1,
    reports_pass_4096_idle_http2_connections: IdleHttp2,
    reports_pass_4096_connections_with_unread_streams: UnreadStreams,
    reports_pass_4096_connections_with_unread_responses: UnreadResponse,
    reports_pass_4096_connections_with_slow_bodies: SlowBody,
}
