//! The cost of checks: processor time per check, compared with bare loops that
//! do the same: an http check, one with assertions, one that fails and collects
//! evidence, a handshake, https with a client certificate, and a ping of five
//! echoes. What a tcp check adds to its loop is the
//! measure for the last one. The server is a separate process, so that only the
//! client side is measured. Run with `make bench parts=checks`; it fails if a limit
//! is missed by much. With `--count CASE NUMBER` it only runs so many checks one
//! after the other, for `scripts/compare-instructions`.

#![expect(clippy::print_stdout, reason = "prints its measurement")]
#![expect(clippy::unwrap_used, reason = "a measurement that cannot continue panics")]

use rustls::client::Resumption;
use rustls::pki_types::pem::PemObject as _;
use rustls::pki_types::{CertificateDer, PrivateKeyDer, ServerName};
use rustls::server::WebPkiClientVerifier;
use rustls::{ClientConfig, RootCertStore, ServerConfig, ServerConnection, StreamOwned};
use socket2::{Domain, Protocol, Socket, Type};
use std::io::{BufRead as _, BufReader, Read as _, Write as _};
use std::net::{SocketAddr, TcpListener};
use std::path::Path;
use std::process::{Command, ExitCode, Stdio};
use std::sync::Arc;
use std::time::Duration;
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::runtime::Runtime;
use tokio_rustls::TlsConnector;
use wakeful_core::assert::Assertion;
use wakeful_core::id::TeamId;
use wakeful_core::monitors::spec::{
    ConnectOptions, Echoes, Hostname, HttpSpec, HttpUrl, PingSpec, RequestOptions, Spec, TcpSpec,
    TlsSpec,
};
use wakeful_core::secret::Secret;
use wakeful_core::time::{Clock, Millis};
use wakeful_outbound::checks::{CheckRequest, check};
use wakeful_outbound::net::client_auth::read_client_certificate;
use wakeful_outbound::net::guard::{Guard, Policy};
use wakeful_outbound::net::resolve::NameResolver;
use wakeful_outbound::net::tls::Tls;
use wakeful_outbound::net::{Deadline, Net};
use wakeful_testkit::Authority;

const CHECKS: usize = 5_000;
const CONCURRENCY: usize = 32;
const ROUNDS: usize = 5;
const CHECK_TIMEOUT: Duration = Duration::from_secs(10);
/// A ping takes a while, and is made of five echoes.
const PINGS: usize = 1_000;
const HANDSHAKES: usize = 1_000;
const ECHOES: u8 = 5;
const MAX_ASSERTING: f64 = 1.10;
const MAX_FAILING: f64 = 1.5;
const MAX_CERTIFIED: f64 = 1.15;
const MAX_TLS: f64 = 1.3;
/// Of what a tcp check adds.
const MAX_ADDED: f64 = 1.2;
/// A limit that is missed by more than this is not the noise of a machine that does other things.
const TOLERANCE: f64 = 1.2;
const REQUEST: &[u8] = b"GET / HTTP/1.1\r\nhost: 127.0.0.1\r\nuser-agent: bare\r\naccept: */*\r\n\
    accept-encoding: gzip, br, zstd\r\nconnection: close\r\n\r\n";

struct Epoch;

impl Clock for Epoch {
    fn now(&self) -> Millis {
        // The certificates are valid then.
        Millis(1_800_000_000_000)
    }
}

fn main() -> ExitCode {
    // Cargo adds `--bench`.
    let arguments: Vec<String> = std::env::args().skip(1).filter(|one| one != "--bench").collect();
    let arguments: Vec<&str> = arguments.iter().map(String::as_str).collect();
    match arguments[..] {
        ["--serve", folder] => {
            serve(Path::new(folder));
            ExitCode::SUCCESS
        }
        ["--count", case, checks] => {
            let checks = checks.parse().unwrap();
            with_server(|bench| bench.check(case, checks, 1));
            ExitCode::SUCCESS
        }
        _ if with_server(measure) => ExitCode::SUCCESS,
        _ => ExitCode::FAILURE,
    }
}

/// Does the work beside a server, which runs as long as it takes.
fn with_server<T>(work: impl FnOnce(&Bench) -> T) -> T {
    let folder = tempfile::tempdir().unwrap();
    let mut server = Command::new(std::env::current_exe().unwrap())
        .arg("--serve")
        .arg(folder.path())
        .stdout(Stdio::piped())
        .spawn()
        .unwrap();
    let mut lines = BufReader::new(server.stdout.take().unwrap()).lines();
    let mut next = || lines.next().unwrap().unwrap().parse().unwrap();
    let (plain, tls) = (next(), next());
    let done = work(&Bench::new(plain, tls, folder.path()));
    server.kill().unwrap();
    server.wait().unwrap();
    done
}

fn serve(folder: &Path) {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    println!("{}", listener.local_addr().unwrap());
    serve_tls(folder);
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

/// Serves TLS on a thread. It asks clients for a certificate, and accepts those without one. The
/// folder gets the authority and the certificate of a client.
fn serve_tls(folder: &Path) {
    let authority = Authority::new("Bench Authority");
    let client = authority.issue("client.test");
    std::fs::write(folder.join("ca.pem"), authority.pem()).unwrap();
    std::fs::write(folder.join("client.pem"), &client.pem.0).unwrap();
    std::fs::write(folder.join("client.key"), &client.pem.1).unwrap();
    let own = authority.issue("localhost");
    let provider = Arc::new(rustls::crypto::aws_lc_rs::default_provider());
    let verifier = WebPkiClientVerifier::builder_with_provider(
        Arc::new(roots(authority.pem())),
        provider.clone(),
    );
    let mut config = ServerConfig::builder_with_provider(provider)
        .with_safe_default_protocol_versions()
        .unwrap()
        .with_client_cert_verifier(verifier.allow_unauthenticated().build().unwrap())
        .with_single_cert(own.chain, PrivateKeyDer::from_pem_slice(own.pem.1.as_bytes()).unwrap())
        .unwrap();
    config.send_tls13_tickets = 0;
    let config = Arc::new(config);
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    println!("{}", listener.local_addr().unwrap());
    std::thread::spawn(move || {
        for stream in listener.incoming() {
            let Ok(stream) = stream else { continue };
            let connection = ServerConnection::new(config.clone()).unwrap();
            let mut stream = StreamOwned::new(connection, stream);
            let answer = b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok";
            // A client that only wanted the handshake has left.
            let _ = stream.read(&mut [0; 1_024]).and_then(|_| stream.write_all(answer));
            stream.conn.send_close_notify();
            let _ = stream.flush();
        }
    });
}

fn roots(pem: &str) -> RootCertStore {
    let mut roots = RootCertStore::empty();
    roots.add(CertificateDer::from_pem_slice(pem.as_bytes()).unwrap()).unwrap();
    roots
}

/// Checks and the bare handshake trust the same authority.
struct Encrypted {
    net: Net,
    https: Spec,
    with_certificate: Spec,
    tls: Spec,
    connector: TlsConnector,
}

impl Encrypted {
    fn new(addr: SocketAddr, folder: &Path) -> Self {
        let read = |name: &str| std::fs::read_to_string(folder.join(name)).unwrap();
        let roots = || roots(&read("ca.pem"));
        let guard = Guard::new(Policy::Private, Vec::new());
        let tls = Tls::with_roots(roots());
        let net = Net::with(guard, NameResolver::from_system(), tls, Arc::new(Epoch));
        let key = Secret::new(read("client.key"));
        let certificate = read_client_certificate(&read("client.pem"), &key).unwrap();
        let options =
            RequestOptions { client_certificate: Some(certificate), ..RequestOptions::default() };
        let connect_to = Some(host("127.0.0.1"));
        let connect = ConnectOptions { connect_to, ..ConnectOptions::default() };
        let url = format!("https://localhost:{}/", addr.port());
        let https = HttpSpec {
            connect: connect.clone().boxed(),
            ..HttpSpec::new(HttpUrl::parse(&url).unwrap())
        };
        let provider = Arc::new(rustls::crypto::aws_lc_rs::default_provider());
        let mut config = ClientConfig::builder_with_provider(provider)
            .with_safe_default_protocol_versions()
            .unwrap()
            .with_root_certificates(roots())
            .with_no_client_auth();
        config.resumption = Resumption::disabled();
        Self {
            net,
            with_certificate: Spec::Http(HttpSpec { options: options.boxed(), ..https.clone() }),
            https: Spec::Http(https),
            tls: Spec::Tls(TlsSpec {
                connect: connect.boxed(),
                ..TlsSpec::of(host("localhost"), addr.port())
            }),
            connector: TlsConnector::from(Arc::new(config)),
        }
    }
}

#[expect(clippy::disallowed_methods, reason = "the bare loop has no guard, for comparison")]
async fn shake_hands_bare(connector: &TlsConnector, addr: SocketAddr) {
    let stream = tokio::net::TcpStream::connect(addr).await.unwrap();
    let name = ServerName::try_from("localhost").unwrap();
    drop(connector.connect(name, stream).await.unwrap());
}

/// Everything that is checked.
struct Bench {
    runtime: Runtime,
    addr: SocketAddr,
    tls_addr: SocketAddr,
    net: Net,
    encrypted: Encrypted,
    fine: Spec,
    failing: Spec,
    tcp: Spec,
    ping: Spec,
    echoes: Spec,
    assertions: Vec<Assertion>,
}

impl Bench {
    fn new(addr: SocketAddr, tls_addr: SocketAddr, folder: &Path) -> Self {
        let spec = |path: &str| {
            Spec::Http(HttpSpec::new(HttpUrl::parse(&format!("http://{addr}{path}")).unwrap()))
        };
        let ping = PingSpec::of(host("127.0.0.1"));
        let echoes = Echoes { count: ECHOES, spacing: 20, ..Echoes::default() };
        let assertions = serde_json::from_str(
            r#"[{"source": "status", "comparison": "equals", "target": "200"},
                {"source": "header", "property": "server", "comparison": "equals", "target": "bench"},
                {"source": "json", "property": "$.a.b", "comparison": "less_than", "target": "8"}]"#,
        );
        Self {
            runtime: tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap(),
            addr,
            tls_addr,
            net: Net::new(Policy::Private, Vec::new(), Arc::new(Epoch)),
            encrypted: Encrypted::new(tls_addr, folder),
            fine: spec("/"),
            failing: spec("/fail"),
            tcp: Spec::Tcp(TcpSpec::of(host("127.0.0.1"), addr.port())),
            echoes: Spec::Ping(PingSpec { echoes, ..ping.clone() }),
            ping: Spec::Ping(ping),
            assertions: assertions.unwrap(),
        }
    }

    /// What is checked, through which net, and whether it is up.
    fn case(&self, name: &str) -> (&Net, CheckRequest<'_>, bool) {
        let of = |spec| CheckRequest::new(TeamId::new(Millis(0), [0; 10]), spec);
        let Self { net, encrypted, assertions, .. } = self;
        match name {
            "http" => (net, of(&self.fine), true),
            "http-asserting" => (net, CheckRequest { assertions, ..of(&self.fine) }, true),
            "http-failing" => (net, of(&self.failing), false),
            "tcp" => (net, of(&self.tcp), true),
            "ping" => (net, of(&self.ping), true),
            "ping-five" => (net, of(&self.echoes), true),
            "https" => (&encrypted.net, of(&encrypted.https), true),
            "https-certificate" => (&encrypted.net, of(&encrypted.with_certificate), true),
            "tls" => (&encrypted.net, of(&encrypted.tls), true),
            other => panic!("there is no case {other}"),
        }
    }

    fn check(&self, name: &str, count: usize, concurrency: usize) {
        let (net, request, up) = self.case(name);
        self.runtime.block_on(many(count, concurrency, || async {
            let deadline = Deadline::within(CHECK_TIMEOUT);
            let seen = check(net, &request, deadline).await.unwrap();
            assert_eq!(seen.up, up, "{seen:?}");
        }));
    }
}

/// Whether no limit is exceeded by much.
fn measure(bench: &Bench) -> bool {
    let Bench { runtime, addr, tls_addr, encrypted, .. } = bench;
    let checked = |name: &str, count: usize| cost(|| bench.check(name, count, CONCURRENCY));
    let echo_socket = runtime.block_on(async { EchoSocket::open() });
    let mut best = [Duration::MAX; 12];
    for _ in 0..ROUNDS {
        let round = [
            cost(|| runtime.block_on(many(CHECKS, CONCURRENCY, || request_bare(*addr)))),
            checked("http", CHECKS),
            checked("http-asserting", CHECKS),
            checked("http-failing", CHECKS),
            cost(|| runtime.block_on(many(CHECKS, CONCURRENCY, || connect_bare(*addr)))),
            checked("tcp", CHECKS),
            // One after the other: a reply is that to the last request.
            cost(|| runtime.block_on(echo_socket.exchange(PINGS * usize::from(ECHOES)))),
            checked("ping-five", PINGS),
            checked("https", HANDSHAKES),
            checked("https-certificate", HANDSHAKES),
            cost(|| {
                let one = || shake_hands_bare(&encrypted.connector, *tls_addr);
                runtime.block_on(many(HANDSHAKES, CONCURRENCY, one));
            }),
            checked("tls", HANDSHAKES),
        ];
        best = std::array::from_fn(|row| best[row].min(round[row]));
    }
    let counts = [&[CHECKS; 6][..], &[PINGS; 2], &[HANDSHAKES; 4]].concat();
    let each: [f64; 12] =
        std::array::from_fn(|row| best[row].as_secs_f64() * 1e6 / counts[row] as f64);
    let [bare, plain, asserting, failing, connecting, tcp, echoing, ping, ..] = each;
    let [.., https, with_certificate, handshake, tls] = each;
    println!("bare loop {bare:.1} µs, check {plain:.1} µs of processor each: {:.2}×", plain / bare);
    let added = (tcp - connecting).max(0.0);
    println!("tcp {tcp:.1} µs, bare {connecting:.1} µs: it adds {added:.1} µs");
    let allowed = echoing + MAX_ADDED * added;
    let ratios = [
        limited("http with three assertions", asserting, "http", plain, MAX_ASSERTING),
        limited("http, failing, with evidence", failing, "http", plain, MAX_FAILING),
        limited("https with a client certificate", with_certificate, "https", https, MAX_CERTIFIED),
        limited("tls", tls, "a bare handshake", handshake, MAX_TLS),
        limited("ping of five echoes", ping, "five bare echoes and 1.2 of that", allowed, 1.0),
    ];
    ratios.into_iter().all(|ratio| ratio <= TOLERANCE)
}

/// Prints a cost, what it is compared with, and whether it is within its limit. Returns the part of
/// the limit that it takes.
fn limited(name: &str, seen: f64, whose: &str, theirs: f64, limit: f64) -> f64 {
    let ratio = seen / theirs;
    let word = if ratio <= limit { "met" } else { "MISSED" };
    println!("{name} {seen:.1} µs, {whose} {theirs:.1} µs: {ratio:.2}× (at most {limit}×: {word})");
    ratio / limit
}

fn host(text: &str) -> Hostname {
    Hostname::parse(text).unwrap()
}

async fn many<F: Future<Output = ()>>(count: usize, concurrency: usize, one: impl Fn() -> F) {
    use futures_util::StreamExt as _;
    futures_util::stream::iter(0..count).for_each_concurrent(concurrency, |_| one()).await;
}

/// Echo requests and replies, and nothing else.
struct EchoSocket(tokio::net::UdpSocket);

impl EchoSocket {
    fn open() -> Self {
        let icmp = Some(Protocol::ICMPV4);
        let socket = Socket::new(Domain::IPV4, Type::DGRAM, icmp)
            .or_else(|_| Socket::new(Domain::IPV4, Type::RAW, icmp))
            .unwrap();
        socket.set_nonblocking(true).unwrap();
        Self(tokio::net::UdpSocket::from_std(socket.into()).unwrap())
    }

    async fn exchange(&self, count: usize) {
        // An echo request with zeros: its checksum is the complement of its type.
        let mut request = [0; 24];
        (request[0], request[2], request[3]) = (8, 0xF7, 0xFF);
        let mut buffer = [0; 2_048];
        for _ in 0..count {
            self.0.send_to(&request, "127.0.0.1:0").await.unwrap();
            loop {
                let (length, _) = self.0.recv_from(&mut buffer).await.unwrap();
                // A raw socket has the IP header, and gets the request, too.
                let start = if buffer[0] >> 4 == 4 { 20 } else { 0 };
                if length > start && buffer[start] == 0 {
                    break;
                }
            }
        }
    }
}

#[expect(clippy::disallowed_methods, reason = "the bare loop has no guard, for comparison")]
async fn connect_bare(addr: SocketAddr) {
    drop(tokio::net::TcpStream::connect(addr).await.unwrap());
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
