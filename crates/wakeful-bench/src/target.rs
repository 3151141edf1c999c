//! The monitored target: servers for http, https, tcp and dns on loopback,
//! which record arrivals and fail on request. All addresses of 127.0.0.0/8 lead
//! here; the kernel itself answers pings. It also has a webhook that records
//! how long after a failing response it was notified.

use rcgen::{BasicConstraints, CertificateParams, IsCa, Issuer, KeyPair};
use rustls::ServerConfig;
use rustls::pki_types::PrivateKeyDer;
use std::net::{Ipv4Addr, SocketAddr};
use std::sync::atomic::{AtomicBool, AtomicU8, AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use tempfile::TempDir;
use tokio::io::{AsyncRead, AsyncReadExt as _, AsyncWrite, AsyncWriteExt as _};
use tokio::net::{TcpListener, TcpStream, UdpSocket};
use tokio::runtime::Runtime;
use tokio_rustls::TlsAcceptor;
use wakeful_core::id::MonitorId;

use crate::{Outcome, clock, site};

/// A host gets at most four concurrent checks, so these stand for several
/// hosts.
const HTTPS_PORTS: usize = 32;
const DNS_PORTS: usize = 128;
/// Monitors beyond this number never flap.
const FLAPPING: usize = 1 << 16;

pub struct Target {
    pub http: u16,
    pub tcp: u16,
    pub https: Vec<u16>,
    pub dns: Vec<u16>,
    pub hook: u16,
    folder: TempDir,
    pub state: Arc<TargetState>,
    /// Threads of its own: arrivals are recorded when they happen, also while other tasks of the
    /// benchmark, such as visitors of status pages, occupy all threads of its runtime.
    runtime: Option<Runtime>,
}

impl Drop for Target {
    fn drop(&mut self) {
        if let Some(runtime) = self.runtime.take() {
            runtime.shutdown_background();
        }
    }
}

/// A request that arrived. Nanoseconds of the monotonic clock.
#[derive(Clone, Copy, Debug)]
pub struct Arrival {
    pub number: u32,
    pub at: u64,
}

/// The records of the servers, and their behavior.
pub struct TargetState {
    noting: AtomicBool,
    arrivals: Mutex<Vec<Arrival>>,
    /// Percentage of monitors that get good and bad responses in turn.
    flapping: AtomicU8,
    good: Vec<AtomicBool>,
    /// When each last got a bad response; 0 once that has been notified.
    refused: Vec<AtomicU64>,
    /// Milliseconds from a bad response to its notification.
    delays: Mutex<Vec<f64>>,
}

impl TargetState {
    fn new() -> Self {
        Self {
            noting: AtomicBool::new(false),
            arrivals: Mutex::default(),
            flapping: AtomicU8::new(0),
            good: (0..FLAPPING).map(|_| AtomicBool::new(true)).collect(),
            refused: (0..FLAPPING).map(|_| AtomicU64::new(0)).collect(),
            delays: Mutex::default(),
        }
    }

    /// Starts recording arrivals, without earlier ones.
    pub fn start_recording(&self) {
        self.lock().clear();
        self.noting.store(true, Ordering::Release);
    }

    /// Stops recording and returns the arrivals.
    pub fn take_arrivals(&self) -> Vec<Arrival> {
        self.noting.store(false, Ordering::Release);
        std::mem::take(&mut *self.lock())
    }

    /// Makes this percentage of monitors go down and up in turn; 0 ends it.
    pub fn flap(&self, percent: u8) {
        self.flapping.store(percent, Ordering::Release);
    }

    /// Discards the delays measured so far.
    pub fn reset_delays(&self) {
        self.delays().clear();
        self.refused.iter().for_each(|at| at.store(0, Ordering::Release));
    }

    /// The delays so far, and how many bad responses have not been notified
    /// yet.
    pub fn notification_delays(&self) -> (Vec<f64>, usize) {
        let unnotified = self.refused.iter().filter(|at| at.load(Ordering::Acquire) > 0).count();
        (self.delays().clone(), unnotified)
    }

    /// Records a notification that this monitor is down.
    fn record_notification(&self, number: u32, at: u64) {
        let Some(refused) = self.refused.get(number as usize) else { return };
        let refused = refused.swap(0, Ordering::AcqRel);
        if refused > 0 {
            self.delays().push(at.saturating_sub(refused) as f64 / 1e6);
        }
    }

    fn delays(&self) -> MutexGuard<'_, Vec<f64>> {
        self.delays.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn arrived(&self, number: u32, at: u64) {
        if self.noting.load(Ordering::Acquire) {
            self.lock().push(Arrival { number, at });
        }
    }

    /// Whether this request gets a good response.
    fn is_good(&self, number: u32) -> bool {
        let flaps = number % 100 < self.flapping.load(Ordering::Acquire).into();
        let Some(good) = self.good.get(number as usize).filter(|_| flaps) else { return true };
        let good = !good.fetch_xor(true, Ordering::AcqRel);
        if !good {
            self.refused[number as usize].store(clock::mono(), Ordering::Release);
        }
        good
    }

    fn lock(&self) -> MutexGuard<'_, Vec<Arrival>> {
        self.arrivals.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Target {
    pub async fn start() -> Outcome<Self> {
        let runtime = Runtime::new()?;
        let mut target = runtime.spawn(Self::serve()).await??;
        target.runtime = Some(runtime);
        Ok(target)
    }

    async fn serve() -> Outcome<Self> {
        let state = Arc::new(TargetState::new());
        let folder = tempfile::tempdir()?;
        let tls = authority(&folder)?;
        let http = listen().await?;
        let tcp = listen().await?;
        let hook = listen().await?;
        let hook_port = hook.local_addr()?.port();
        tokio::spawn(serve_hook(hook, state.clone()));
        let (http_port, tcp_port) = (http.local_addr()?.port(), tcp.local_addr()?.port());
        tokio::spawn(serve_http(http, state.clone()));
        tokio::spawn(serve_tcp(tcp));
        let (mut https, mut dns) = (Vec::new(), Vec::new());
        for _ in 0..HTTPS_PORTS {
            let listener = listen().await?;
            https.push(listener.local_addr()?.port());
            tokio::spawn(serve_https(listener, tls.clone(), state.clone()));
        }
        for _ in 0..DNS_PORTS {
            let socket = UdpSocket::bind((Ipv4Addr::LOCALHOST, 0)).await?;
            dns.push(socket.local_addr()?.port());
            tokio::spawn(serve_dns(socket));
        }
        let (http, tcp, hook, runtime) = (http_port, tcp_port, hook_port, None);
        Ok(Self { http, tcp, https, dns, hook, folder, state, runtime })
    }

    /// The file with the authority that signed the https server's certificate.
    pub fn authority(&self) -> std::path::PathBuf {
        self.folder.path().join("authority.pem")
    }
}

async fn listen() -> Outcome<TcpListener> {
    let socket = tokio::net::TcpSocket::new_v4()?;
    socket.bind(SocketAddr::from((Ipv4Addr::UNSPECIFIED, 0)))?;
    Ok(socket.listen(4_096)?)
}

async fn serve_http(listener: TcpListener, state: Arc<TargetState>) {
    while let Some(stream) = accept(&listener).await {
        let at = clock::mono();
        let state = state.clone();
        tokio::spawn(async move {
            // A client that leaves early does not matter.
            let _ = answer(stream, at, &state).await;
        });
    }
}

async fn serve_https(listener: TcpListener, tls: TlsAcceptor, state: Arc<TargetState>) {
    while let Some(stream) = accept(&listener).await {
        let (at, tls, state) = (clock::mono(), tls.clone(), state.clone());
        tokio::spawn(async move {
            let _ = stream.set_nodelay(true);
            if let Ok(stream) = tls.accept(stream).await {
                let _ = answer(stream, at, &state).await;
            }
        });
    }
}

async fn serve_hook(listener: TcpListener, state: Arc<TargetState>) {
    while let Some(stream) = accept(&listener).await {
        let state = state.clone();
        tokio::spawn(async move {
            // An incomplete message is not recorded, and counts as not
            // notified.
            let _ = take_webhook(stream, &state).await;
        });
    }
}

/// Reads one webhook message and acknowledges it.
async fn take_webhook(mut stream: TcpStream, state: &TargetState) -> std::io::Result<()> {
    let mut bytes = Vec::new();
    let mut at = None;
    let body = loop {
        if stream.read_buf(&mut bytes).await? == 0 {
            return Ok(());
        }
        at.get_or_insert_with(clock::mono);
        if let Some(body) = body(&bytes) {
            break body;
        }
    };
    if let (Some(number), Some(at)) = (down_monitor(body), at) {
        state.record_notification(number, at);
    }
    stream.write_all(b"HTTP/1.1 204 No Content\r\nConnection: close\r\n\r\n").await?;
    stream.shutdown().await
}

/// The body of a request, once it is complete.
fn body(request: &[u8]) -> Option<&[u8]> {
    let end = request.windows(4).position(|four| four == b"\r\n\r\n")? + 4;
    let head = std::str::from_utf8(&request[..end]).ok()?.to_ascii_lowercase();
    let length = head.lines().find_map(|line| line.strip_prefix("content-length:"))?;
    request.get(end..end + length.trim().parse::<usize>().ok()?)
}

/// The number of the monitor that a message reports as down.
fn down_monitor(body: &[u8]) -> Option<u32> {
    let message: serde_json::Value = serde_json::from_slice(body).ok()?;
    let id = MonitorId::parse(message["data"]["monitor"]["monitorid"].as_str()?)?;
    (message["type"] == "monitor.down").then(|| site::number(id))?
}

async fn serve_tcp(listener: TcpListener) {
    while accept(&listener).await.is_some() {}
}

async fn accept(listener: &TcpListener) -> Option<TcpStream> {
    loop {
        match listener.accept().await {
            Ok((stream, _)) => return Some(stream),
            // The client left before it was accepted, or no file descriptor was
            // free.
            Err(_) => tokio::task::yield_now().await,
        }
    }
}

async fn answer<S: AsyncRead + AsyncWrite + Unpin>(
    mut stream: S,
    at: u64,
    state: &TargetState,
) -> std::io::Result<()> {
    const GOOD: &[u8] = b"HTTP/1.1 200 OK\r\nContent-Type: text/plain\r\nContent-Length: 16\r\n\
        Connection: close\r\n\r\nall is well here";
    const BAD: &[u8] =
        b"HTTP/1.1 503 Service Unavailable\r\nContent-Length: 0\r\nConnection: close\r\n\r\n";
    let mut buffer = [0; 2_048];
    let mut length = 0;
    while !buffer[..length].ends_with(b"\r\n\r\n") {
        let read = stream.read(&mut buffer[length..]).await?;
        if read == 0 {
            return Ok(());
        }
        length += read;
    }
    let number = number(&buffer[..length]).unwrap_or(u32::MAX);
    state.arrived(number, at);
    stream.write_all(if state.is_good(number) { GOOD } else { BAD }).await?;
    stream.shutdown().await
}

/// `GET /17 HTTP/1.1`
fn number(request: &[u8]) -> Option<u32> {
    let path = request.split(|byte| *byte == b' ').nth(1)?.strip_prefix(b"/")?;
    std::str::from_utf8(path).ok()?.parse().ok()
}

async fn serve_dns(socket: UdpSocket) {
    let mut buffer = [0; 512];
    loop {
        let Ok((length, from)) = socket.recv_from(&mut buffer).await else { continue };
        if let Some(answer) = resolve(&buffer[..length]) {
            let _ = socket.send_to(&answer, from).await;
        }
    }
}

/// The query with one address as its answer.
fn resolve(query: &[u8]) -> Option<Vec<u8>> {
    const ADDRESS: &[u8] = &[0xC0, 12, 0, 1, 0, 1, 0, 0, 0, 60, 0, 4, 192, 0, 2, 1];
    let mut answer = query.to_vec();
    *answer.get_mut(2)? |= 0x80;
    *answer.get_mut(7)? = 1;
    // Data after the question, such as options, is not echoed.
    let name = query.get(12..)?.iter().position(|byte| *byte == 0)?;
    answer.truncate(12 + name + 5);
    answer[8..12].fill(0);
    answer.extend_from_slice(ADDRESS);
    Some(answer)
}

/// A certificate for 127.0.0.1, and a file with its authority.
fn authority(folder: &TempDir) -> Outcome<TlsAcceptor> {
    let mut params = CertificateParams::new(Vec::new())?;
    params.is_ca = IsCa::Ca(BasicConstraints::Unconstrained);
    let key = KeyPair::generate()?;
    let root = params.self_signed(&key)?;
    std::fs::write(folder.path().join("authority.pem"), root.pem())?;
    let leaf_key = KeyPair::generate()?;
    let leaf = CertificateParams::new(vec!["127.0.0.1".to_owned()])?
        .signed_by(&leaf_key, &Issuer::from_params(&params, &key))?;
    let private = PrivateKeyDer::Pkcs8(leaf_key.serialize_der().into());
    let mut config = ServerConfig::builder()
        .with_no_client_auth()
        .with_single_cert(vec![leaf.der().clone()], private)?;
    config.alpn_protocols = vec![b"http/1.1".to_vec()];
    Ok(TlsAcceptor::from(Arc::new(config)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_number_is_parsed_from_the_path() {
        assert_eq!(number(b"GET /17 HTTP/1.1\r\n\r\n"), Some(17));
        assert_eq!(number(b"GET /x HTTP/1.1\r\n\r\n"), None);
        assert_eq!(number(b"rubbish"), None);
    }

    #[test]
    fn a_query_is_answered_with_an_address() {
        let query = [&[7, 7, 1, 0, 0, 1, 0, 0, 0, 0, 0, 0][..], b"\x01a\0\0\x01\0\x01"].concat();
        let answer = resolve(&query).expect("an answer");
        assert_eq!((answer[2], answer[7], answer.len()), (0x81, 1, query.len() + 16));
        assert_eq!(resolve(b"short"), None);
    }

    #[test]
    fn a_monitor_that_flaps_goes_down_first_and_then_up() {
        let state = TargetState::new();
        assert!(state.is_good(0));
        state.flap(1);
        assert!(!state.is_good(100) && state.is_good(100) && !state.is_good(100));
        assert!(state.is_good(101));
        assert_eq!(state.notification_delays(), (Vec::new(), 1));
        state.record_notification(101, clock::mono());
        state.record_notification(100, clock::mono());
        state.record_notification(100, clock::mono());
        let (delays, unnotified) = state.notification_delays();
        assert_eq!((delays.len(), unnotified), (1, 0));
    }

    #[test]
    fn a_message_is_parsed_when_it_is_complete() {
        let id = site::id(17);
        let json = format!(
            r#"{{"type": "monitor.down", "data": {{"monitor": {{"monitorid": "{id}"}}}}}}"#
        );
        let request = format!("POST / HTTP/1.1\r\nContent-Length: {}\r\n\r\n{json}", json.len());
        assert_eq!(body(request.as_bytes()).and_then(down_monitor), Some(17));
        assert_eq!(body(&request.as_bytes()[..request.len() - 1]), None);
        assert_eq!(down_monitor(json.replace("down", "up").as_bytes()), None);
    }
}
