//! What is watched: servers for http, https, tcp and dns on loopback, which
//! count and note who came when, and fail when they are told to. Addresses of
//! 127.0.0.0/8 all lead here; the kernel itself answers pings. And who is told:
//! a webhook that notes how long after the bad answer it heard of it.

use rcgen::{BasicConstraints, CertificateParams, IsCa, Issuer, KeyPair};
use rustls::ServerConfig;
use rustls::pki_types::PrivateKeyDer;
use std::net::{Ipv4Addr, SocketAddr};
use std::sync::atomic::{AtomicBool, AtomicU8, AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use tempfile::TempDir;
use tokio::io::{AsyncRead, AsyncReadExt as _, AsyncWrite, AsyncWriteExt as _};
use tokio::net::{TcpListener, TcpStream, UdpSocket};
use tokio_rustls::TlsAcceptor;
use wakeful_core::id::MonitorId;

use crate::{Outcome, clock, site};

/// A host is asked four things at a time, so these stand for several hosts.
const HTTPS_PORTS: usize = 32;
const DNS_PORTS: usize = 128;
/// More monitors than these never flap.
const FLAPPING: usize = 1 << 16;

pub struct Target {
    pub http: u16,
    pub tcp: u16,
    pub https: Vec<u16>,
    pub dns: Vec<u16>,
    pub hook: u16,
    folder: TempDir,
    pub board: Arc<Board>,
}

/// Somebody came. Nanoseconds of the monotonic clock.
#[derive(Clone, Copy, Debug)]
pub struct Arrival {
    pub number: u32,
    pub at: u64,
}

/// What the servers note down, and what they are told to do.
pub struct Board {
    noting: AtomicBool,
    arrivals: Mutex<Vec<Arrival>>,
    /// How many of a hundred monitors get good and bad answers in turn.
    flapping: AtomicU8,
    good: Vec<AtomicBool>,
    /// When each was last answered that it is down; 0 when that has been told.
    refused: Vec<AtomicU64>,
    /// Milliseconds from a bad answer to the request that tells of it.
    delays: Mutex<Vec<f64>>,
}

impl Board {
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

    /// Begins to note arrivals, without those noted before.
    pub fn note(&self) {
        self.lock().clear();
        self.noting.store(true, Ordering::Release);
    }

    /// Ends it and gives what was noted.
    pub fn noted(&self) -> Vec<Arrival> {
        self.noting.store(false, Ordering::Release);
        std::mem::take(&mut *self.lock())
    }

    /// Lets so many of a hundred monitors go down and up in turn; 0 ends it.
    pub fn flap(&self, percent: u8) {
        self.flapping.store(percent, Ordering::Release);
    }

    /// Begins to measure delays anew.
    pub fn listen(&self) {
        self.delays().clear();
        self.refused.iter().for_each(|at| at.store(0, Ordering::Release));
    }

    /// The delays so far, and how many bad answers nobody was told of yet.
    pub fn told(&self) -> (Vec<f64>, usize) {
        let untold = self.refused.iter().filter(|at| at.load(Ordering::Acquire) > 0).count();
        (self.delays().clone(), untold)
    }

    /// Somebody was told at this time that this one is down.
    fn tell(&self, number: u32, at: u64) {
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

    /// Whether this request gets a good answer.
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
        let board = Arc::new(Board::new());
        let folder = tempfile::tempdir()?;
        let tls = authority(&folder)?;
        let http = listen().await?;
        let tcp = listen().await?;
        let hook = listen().await?;
        let hook_port = hook.local_addr()?.port();
        tokio::spawn(serve_hook(hook, board.clone()));
        let (http_port, tcp_port) = (http.local_addr()?.port(), tcp.local_addr()?.port());
        tokio::spawn(serve_http(http, board.clone()));
        tokio::spawn(serve_tcp(tcp));
        let (mut https, mut dns) = (Vec::new(), Vec::new());
        for _ in 0..HTTPS_PORTS {
            let listener = listen().await?;
            https.push(listener.local_addr()?.port());
            tokio::spawn(serve_https(listener, tls.clone(), board.clone()));
        }
        for _ in 0..DNS_PORTS {
            let socket = UdpSocket::bind((Ipv4Addr::LOCALHOST, 0)).await?;
            dns.push(socket.local_addr()?.port());
            tokio::spawn(serve_dns(socket));
        }
        Ok(Self { http: http_port, tcp: tcp_port, https, dns, hook: hook_port, folder, board })
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

async fn serve_http(listener: TcpListener, board: Arc<Board>) {
    while let Some(stream) = accept(&listener).await {
        let at = clock::mono();
        let board = board.clone();
        tokio::spawn(async move {
            // A client that leaves early is none of our business.
            let _ = answer(stream, at, &board).await;
        });
    }
}

async fn serve_https(listener: TcpListener, tls: TlsAcceptor, board: Arc<Board>) {
    while let Some(stream) = accept(&listener).await {
        let (at, tls, board) = (clock::mono(), tls.clone(), board.clone());
        tokio::spawn(async move {
            let _ = stream.set_nodelay(true);
            if let Ok(stream) = tls.accept(stream).await {
                let _ = answer(stream, at, &board).await;
            }
        });
    }
}

async fn serve_hook(listener: TcpListener, board: Arc<Board>) {
    while let Some(stream) = accept(&listener).await {
        let board = board.clone();
        tokio::spawn(async move {
            // What did not come whole is not heard of, and shows as that.
            let _ = hear(stream, &board).await;
        });
    }
}

/// Reads one message of a webhook and thanks for it.
async fn hear(mut stream: TcpStream, board: &Board) -> std::io::Result<()> {
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
    if let (Some(number), Some(at)) = (went_down(body), at) {
        board.tell(number, at);
    }
    stream.write_all(b"HTTP/1.1 204 No Content\r\nConnection: close\r\n\r\n").await?;
    stream.shutdown().await
}

/// The body of a request, once it is whole.
fn body(request: &[u8]) -> Option<&[u8]> {
    let end = request.windows(4).position(|four| four == b"\r\n\r\n")? + 4;
    let head = std::str::from_utf8(&request[..end]).ok()?.to_ascii_lowercase();
    let length = head.lines().find_map(|line| line.strip_prefix("content-length:"))?;
    request.get(end..end + length.trim().parse::<usize>().ok()?)
}

/// The number of the monitor that a message says is down.
fn went_down(body: &[u8]) -> Option<u32> {
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
            // The client was gone before we came to it, or no file was free.
            Err(_) => tokio::task::yield_now().await,
        }
    }
}

async fn answer<S: AsyncRead + AsyncWrite + Unpin>(
    mut stream: S,
    at: u64,
    board: &Board,
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
    board.arrived(number, at);
    stream.write_all(if board.is_good(number) { GOOD } else { BAD }).await?;
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

/// The question with one address as its answer.
fn resolve(query: &[u8]) -> Option<Vec<u8>> {
    const ADDRESS: &[u8] = &[0xC0, 12, 0, 1, 0, 1, 0, 0, 0, 60, 0, 4, 192, 0, 2, 1];
    let mut answer = query.to_vec();
    *answer.get_mut(2)? |= 0x80;
    *answer.get_mut(7)? = 1;
    // What stands behind the question, as options do, is not echoed.
    let name = query.get(12..)?.iter().position(|byte| *byte == 0)?;
    answer.truncate(12 + name + 5);
    answer[8..12].fill(0);
    answer.extend_from_slice(ADDRESS);
    Some(answer)
}

/// A certificate for 127.0.0.1 and, as a file, who signed it.
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
    fn the_number_is_read_off_the_path() {
        assert_eq!(number(b"GET /17 HTTP/1.1\r\n\r\n"), Some(17));
        assert_eq!(number(b"GET /x HTTP/1.1\r\n\r\n"), None);
        assert_eq!(number(b"rubbish"), None);
    }

    #[test]
    fn a_question_is_answered_with_an_address() {
        let query = [&[7, 7, 1, 0, 0, 1, 0, 0, 0, 0, 0, 0][..], b"\x01a\0\0\x01\0\x01"].concat();
        let answer = resolve(&query).expect("an answer");
        assert_eq!((answer[2], answer[7], answer.len()), (0x81, 1, query.len() + 16));
        assert_eq!(resolve(b"short"), None);
    }

    #[test]
    fn a_monitor_that_flaps_goes_down_first_and_then_up() {
        let board = Board::new();
        assert!(board.is_good(0));
        board.flap(1);
        assert!(!board.is_good(100) && board.is_good(100) && !board.is_good(100));
        assert!(board.is_good(101));
        assert_eq!(board.told(), (Vec::new(), 1));
        board.tell(101, clock::mono());
        board.tell(100, clock::mono());
        board.tell(100, clock::mono());
        let (delays, untold) = board.told();
        assert_eq!((delays.len(), untold), (1, 0));
    }

    #[test]
    fn a_message_is_read_when_it_is_whole() {
        let id = site::id(17);
        let json = format!(
            r#"{{"type": "monitor.down", "data": {{"monitor": {{"monitorid": "{id}"}}}}}}"#
        );
        let request = format!("POST / HTTP/1.1\r\nContent-Length: {}\r\n\r\n{json}", json.len());
        assert_eq!(body(request.as_bytes()).and_then(went_down), Some(17));
        assert_eq!(body(&request.as_bytes()[..request.len() - 1]), None);
        assert_eq!(went_down(json.replace("down", "up").as_bytes()), None);
    }
}
