//! Shared by the tests: a net, a check with an enforced deadline, and servers
//! that end with the test.

use std::net::SocketAddr;
use std::os::unix::fs::MetadataExt as _;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};
use std::time::Duration;
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::{TcpListener, TcpStream};
use tokio::task::JoinSet;
use wakeful_core::id::TeamId;
use wakeful_core::monitors::spec::{HttpSpec, HttpUrl, Keyword, Spec};
use wakeful_core::observation::{Contact, Fault, Observation};
use wakeful_core::time::{Clock, Millis};
use wakeful_outbound::checks::{self, CheckRequest};
use wakeful_outbound::net::guard::Policy;
use wakeful_outbound::net::{Deadline, Net};
use wakeful_testkit::Stopwatch;

/// Long enough for loopback on a busy machine.
pub(crate) const LONG_TIMEOUT: Duration = Duration::from_secs(5);
/// For servers that never respond.
pub(crate) const SHORT_TIMEOUT: Duration = Duration::from_millis(400);

/// The fixed date of all tests.
pub(crate) struct Today;

impl Clock for Today {
    fn now(&self) -> Millis {
        Millis::parse("2026-11-15T12:00:00Z").unwrap()
    }
}

pub(crate) fn net() -> Net {
    net_with(Policy::Private)
}

pub(crate) fn net_with(policy: Policy) -> Net {
    Net::new(policy, Vec::new(), Arc::new(Today))
}

/// Runs one check; fails the test if it exceeds its deadline by three seconds.
pub(crate) async fn check_with(
    net: &Net,
    spec: &Spec,
    allowed: Duration,
) -> Result<Observation, Fault> {
    check_for(net, team(0), spec, allowed).await
}

pub(crate) fn team(number: u8) -> TeamId {
    TeamId::new(Millis(0), [number; 10])
}

/// The same for one of several teams.
pub(crate) async fn check_for(
    net: &Net,
    team: TeamId,
    spec: &Spec,
    allowed: Duration,
) -> Result<Observation, Fault> {
    run(net, &CheckRequest::new(team, spec), allowed).await
}

/// The same with all parameters.
pub(crate) async fn run(
    net: &Net,
    request: &CheckRequest<'_>,
    allowed: Duration,
) -> Result<Observation, Fault> {
    let began = Stopwatch::start();
    let observation = checks::check(net, request, Deadline::within(allowed)).await;
    let took = began.elapsed();
    // The machine may pause for seconds.
    assert!(took < allowed + Duration::from_secs(10), "took {took:?} of {allowed:?}");
    if let Ok(observation) = &observation {
        assert!(
            observation.message.chars().count() <= 500
                && !observation.message.contains(char::is_control)
        );
        assert!(!observation.message.is_empty());
    }
    observation
}

pub(crate) async fn check(spec: &Spec) -> Observation {
    check_with(&net(), spec, LONG_TIMEOUT).await.unwrap()
}

#[track_caller]
pub(crate) fn assert_down(observation: &Observation, contact: Contact, message: &str) {
    assert!(!observation.up, "{observation:?}");
    assert_eq!((observation.message.as_str(), observation.contact), (message, contact));
}

#[track_caller]
pub(crate) fn assert_up(observation: &Observation, message: &str) {
    assert!(observation.up, "{observation:?}");
    assert_eq!(observation.message, message);
    assert!(observation.load_time.is_some());
}

pub(crate) fn http(url: impl AsRef<str>) -> HttpSpec {
    HttpSpec::new(HttpUrl::parse(url.as_ref()).unwrap())
}

pub(crate) fn keyword(url: impl AsRef<str>, keyword: &str) -> Spec {
    let spec = HttpSpec { keyword: Keyword::parse(keyword).unwrap(), ..http(url) };
    Spec::http_keyword(spec).unwrap()
}

/// A server on loopback that ends with the test.
pub(crate) struct TestServer {
    pub(crate) addr: SocketAddr,
    pub(crate) connections: Arc<AtomicUsize>,
    pub(crate) requests: Arc<Mutex<Vec<String>>>,
    _tasks: JoinSet<()>,
}

impl TestServer {
    /// Runs `work` for each connection.
    pub(crate) async fn new<F>(work: impl Fn(TcpStream) -> F + Send + 'static) -> Self
    where
        F: Future<Output = std::io::Result<()>> + Send + 'static,
    {
        Self::at("127.0.0.1:0", work).await
    }

    pub(crate) async fn at<F>(addr: &str, work: impl Fn(TcpStream) -> F + Send + 'static) -> Self
    where
        F: Future<Output = std::io::Result<()>> + Send + 'static,
    {
        let listener = TcpListener::bind(addr).await.unwrap();
        let addr = listener.local_addr().unwrap();
        let connections = Arc::new(AtomicUsize::new(0));
        let counter = connections.clone();
        let mut tasks = JoinSet::new();
        tasks.spawn(async move {
            let mut running = JoinSet::new();
            while let Ok((stream, _)) = listener.accept().await {
                counter.fetch_add(1, Ordering::SeqCst);
                let served = work(stream);
                // A client that has read enough disconnects; that is not a
                // failure.
                running.spawn(async move { drop(served.await) });
            }
        });
        Self { addr, connections, requests: Arc::default(), _tasks: tasks }
    }

    /// Reads a request, responds with these bytes, and closes the connection.
    pub(crate) async fn answering(answer: impl Into<Vec<u8>>) -> Self {
        let answer = answer.into();
        Self::replying(move |_| answer.clone()).await
    }

    /// Like `answering`, depending on the request; requests are recorded.
    pub(crate) async fn replying(reply: impl Fn(&str) -> Vec<u8> + Send + Sync + 'static) -> Self {
        let requests: Arc<Mutex<Vec<String>>> = Arc::default();
        let recorded = requests.clone();
        let reply = Arc::new(reply);
        let server = Self::new(move |mut stream| {
            let (recorded, reply) = (recorded.clone(), reply.clone());
            async move {
                let request = read_request(&mut stream).await?;
                let answer = reply(&request);
                recorded.lock().unwrap().push(request);
                stream.write_all(&answer).await?;
                stream.shutdown().await
            }
        })
        .await;
        Self { requests, ..server }
    }

    pub(crate) fn url(&self, path: &str) -> String {
        format!("http://{}{path}", self.addr)
    }

    pub(crate) fn connection_count(&self) -> usize {
        self.connections.load(Ordering::SeqCst)
    }

    pub(crate) fn requests(&self) -> Vec<String> {
        self.requests.lock().unwrap().clone()
    }
}

/// Head and body of a request, the body by its content-length.
pub(crate) async fn read_request(
    stream: &mut (impl tokio::io::AsyncRead + Unpin),
) -> std::io::Result<String> {
    let mut all = Vec::new();
    loop {
        let text = String::from_utf8_lossy(&all).into_owned();
        if let Some((head, body)) = text.split_once("\r\n\r\n") {
            let length = head
                .lines()
                .find_map(|line| line.strip_prefix("content-length: "))
                .map_or(0, |length| length.parse().unwrap());
            if body.len() >= length {
                return Ok(text);
            }
        }
        let mut buffer = [0; 4_096];
        match stream.read(&mut buffer).await? {
            0 => return Ok(text),
            read => all.extend_from_slice(&buffer[..read]),
        }
    }
}

pub(crate) fn page(body: &str) -> Vec<u8> {
    format!("HTTP/1.1 200 OK\r\nContent-Length: {}\r\n\r\n{body}", body.len()).into_bytes()
}

pub(crate) fn redirect(code: u16, to: &str) -> Vec<u8> {
    format!("HTTP/1.1 {code} Moved\r\nLocation: {to}\r\nContent-Length: 0\r\n\r\n").into_bytes()
}

/// Whether network namespaces can be created.
pub(crate) fn is_root() -> bool {
    std::fs::metadata("/proc/self").is_ok_and(|own| own.uid() == 0)
}

/// Runs one ignored test of this binary in a separate shell, such as
/// `["unshare", "--net", "sh"]`, after the setup, and reports its failure.
pub(crate) fn run_inside(shell: &[&str], setup: &str, test: &str) {
    let binary = std::env::current_exe().unwrap();
    let line = format!("{setup} && exec \"$0\" --exact --ignored --nocapture {test}");
    let output = std::process::Command::new(shell[0])
        .args(&shell[1..])
        .args(["-c", &line])
        .arg(binary)
        .output()
        .unwrap();
    let text = String::from_utf8_lossy(&output.stdout);
    let errors = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success() && text.contains("1 passed"), "{text}\n{errors}");
}
