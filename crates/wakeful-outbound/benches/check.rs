//! The cost of an http check: processor time per check, compared with a bare
//! loop that connects, sends and reads; and that of one with assertions, and of
//! one that fails and collects evidence. The server is a separate process, so
//! that only the client side is measured. Run with `cargo bench -p
//! wakeful-outbound`.

#![expect(clippy::print_stdout, reason = "prints its measurement")]
#![expect(clippy::unwrap_used, reason = "a measurement that cannot continue panics")]

use std::io::{BufRead as _, BufReader, Read as _, Write as _};
use std::net::{SocketAddr, TcpListener};
use std::process::{Command, Stdio};
use std::sync::Arc;
use std::time::Duration;
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use wakeful_core::assert::Assertion;
use wakeful_core::id::TeamId;
use wakeful_core::monitors::spec::{HttpSpec, HttpUrl, Spec};
use wakeful_core::time::{Clock, Millis};
use wakeful_outbound::checks::{CheckRequest, check};
use wakeful_outbound::net::guard::Policy;
use wakeful_outbound::net::{Deadline, Net};

const CHECKS: usize = 5_000;
const CONCURRENCY: usize = 32;
const ROUNDS: usize = 5;
const CHECK_TIMEOUT: Duration = Duration::from_secs(10);
const REQUEST: &[u8] = b"GET / HTTP/1.1\r\nhost: 127.0.0.1\r\nuser-agent: bare\r\naccept: */*\r\n\
    accept-encoding: gzip, br, zstd\r\nconnection: close\r\n\r\n";

struct Epoch;

impl Clock for Epoch {
    fn now(&self) -> Millis {
        Millis(0)
    }
}

fn main() {
    if std::env::args().any(|argument| argument == "--serve") {
        return serve();
    }
    let mut server = Command::new(std::env::current_exe().unwrap())
        .arg("--serve")
        .stdout(Stdio::piped())
        .spawn()
        .unwrap();
    let mut line = String::new();
    BufReader::new(server.stdout.take().unwrap()).read_line(&mut line).unwrap();
    measure(line.trim().parse().unwrap());
    server.kill().unwrap();
    server.wait().unwrap();
}

fn serve() {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    println!("{}", listener.local_addr().unwrap());
    let body = format!(r#"{{"a": {{"b": 7}}, "x": "{}"}}"#, "x".repeat(1_970));
    let answer = |status: &str| {
        let length = body.len();
        format!("HTTP/1.1 {status}\r\nServer: bench\r\nContent-Length: {length}\r\n\r\n{body}")
    };
    let (fine, failing) = (answer("200 OK"), answer("500 No"));
    for stream in listener.incoming() {
        let Ok(mut stream) = stream else { continue };
        let mut buffer = [0; 1_024];
        // The request arrives in one piece; a client that has left does not
        // matter.
        let _ = stream.read(&mut buffer).and_then(|_| {
            let answer = if buffer.starts_with(b"GET /fail") { &failing } else { &fine };
            stream.write_all(answer.as_bytes())
        });
    }
}

fn measure(addr: SocketAddr) {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
    let net = Net::new(Policy::Private, Vec::new(), Arc::new(Epoch));
    let spec = |path: &str| {
        Spec::Http(HttpSpec::new(HttpUrl::parse(&format!("http://{addr}{path}")).unwrap()))
    };
    let (fine, failing) = (spec("/"), spec("/fail"));
    let assertions: Vec<Assertion> = serde_json::from_str(
        r#"[{"source": "status", "comparison": "equals", "target": "200"},
            {"source": "header", "property": "server", "comparison": "equals", "target": "bench"},
            {"source": "json", "property": "$.a.b", "comparison": "less_than", "target": "8"}]"#,
    )
    .unwrap();
    let team = TeamId::new(Millis(0), [0; 10]);
    let plain = CheckRequest::new(team, &fine);
    let asserting = CheckRequest { assertions: &assertions, ..plain };
    let failing = CheckRequest::new(team, &failing);
    let checked = |request: &CheckRequest<'_>, up: bool| {
        cost(|| {
            runtime.block_on(many(|| async {
                let deadline = Deadline::within(CHECK_TIMEOUT);
                assert_eq!(check(&net, request, deadline).await.unwrap().up, up);
            }));
        })
    };
    let mut best = [Duration::MAX; 4];
    for _ in 0..ROUNDS {
        let round = [
            cost(|| runtime.block_on(many(|| request_bare(addr)))),
            checked(&plain, true),
            checked(&asserting, true),
            checked(&failing, false),
        ];
        best = std::array::from_fn(|row| best[row].min(round[row]));
    }
    let micros = best.map(|spent| spent.as_secs_f64() * 1e6 / CHECKS as f64);
    let [bare, plain, asserting, failing] = micros;
    println!("bare loop {bare:.1} µs, check {plain:.1} µs of processor each: {:.2}×", plain / bare);
    println!("with three assertions {asserting:.1} µs: {:.2}× a check", asserting / plain);
    println!("failing, with evidence {failing:.1} µs: {:.2}× a check", failing / plain);
}

async fn many<F: Future<Output = ()>>(one: impl Fn() -> F) {
    use futures_util::StreamExt as _;
    futures_util::stream::iter(0..CHECKS).for_each_concurrent(CONCURRENCY, |_| one()).await;
}

#[expect(clippy::disallowed_methods, reason = "the bare loop has no guard, for comparison")]
async fn request_bare(addr: SocketAddr) {
    let mut stream = tokio::net::TcpStream::connect(addr).await.unwrap();
    stream.write_all(REQUEST).await.unwrap();
    let mut buffer = [0; 8_192];
    let mut read = 0;
    while read < 2_000 {
        read += stream.read(&mut buffer).await.unwrap();
    }
}

/// Processor time used by this process.
fn cost(work: impl FnOnce()) -> Duration {
    let before = processor_time();
    work();
    processor_time() - before
}

fn processor_time() -> Duration {
    let spent = rustix::time::clock_gettime(rustix::time::ClockId::ProcessCPUTime);
    Duration::new(spent.tv_sec.cast_unsigned(), u32::try_from(spent.tv_nsec).unwrap())
}
