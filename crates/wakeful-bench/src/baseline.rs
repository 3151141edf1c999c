//! The bare loop: as many new connections as possible, each with the requests
//! and reads of a check, without evaluating or storing anything. It runs as a
//! separate process and prints the number of connections and their cost.

use clap::Args;
use rustls::pki_types::{CertificateDer, ServerName, pem::PemObject as _};
use rustls::{ClientConfig, RootCertStore};
use serde::{Deserialize, Serialize};
use socket2::{Domain, Protocol, Socket, Type};
use std::net::{IpAddr, Ipv4Addr, SocketAddr};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicU32, AtomicU64, Ordering};
use std::time::Duration;
use tokio::io::{AsyncRead, AsyncReadExt as _, AsyncWrite, AsyncWriteExt as _};
use tokio::net::{TcpStream, UdpSocket};
use tokio::time::{Instant, sleep};
use tokio_rustls::TlsConnector;

use crate::kind::Kind;
use crate::{Outcome, process, site};

/// Enough to saturate both cores.
const MAX_CONCURRENT: usize = 128;
const WARM_UP: Duration = Duration::from_secs(1);
/// How many addresses are used in rotation.
const ADDRESSES: u32 = 30_000;

#[derive(Args)]
pub struct Baseline {
    pub kind: Kind,
    #[arg(long)]
    pub seconds: u64,
    #[arg(long, value_delimiter = ',')]
    pub ports: Vec<u16>,
    #[arg(long)]
    pub authority: PathBuf,
}

/// The result of a loop.
#[derive(Clone, Copy, Debug, Serialize, Deserialize)]
pub struct LoopResult {
    pub count: u64,
    pub cpu: f64,
    pub seconds: f64,
}

struct BaselineLoop {
    kind: Kind,
    ports: Vec<u16>,
    tls: Arc<ClientConfig>,
    turn: AtomicU32,
    count: AtomicU64,
    failed: AtomicU64,
}

pub async fn run(baseline: Baseline) -> Outcome<()> {
    let tls = client(&baseline.authority)?;
    let (kind, ports) = (baseline.kind, baseline.ports);
    let (turn, count, failed) = (AtomicU32::new(0), AtomicU64::new(0), AtomicU64::new(0));
    let shared = Arc::new(BaselineLoop { kind, ports, tls, turn, count, failed });
    match kind {
        Kind::Ping => {
            tokio::spawn(ping(shared.clone()));
        }
        _ => (0..MAX_CONCURRENT).for_each(|_| {
            tokio::spawn(one_after_another(shared.clone()));
        }),
    }
    sleep(WARM_UP).await;
    let pid = std::process::id();
    let (began, cpu) = (Instant::now(), process::cpu(pid)?);
    let before = shared.count.load(Ordering::Relaxed);
    sleep(Duration::from_secs(baseline.seconds)).await;
    let count = shared.count.load(Ordering::Relaxed) - before;
    let cpu = (process::cpu(pid)? - cpu).as_secs_f64();
    let failed = shared.failed.load(Ordering::Relaxed);
    if failed > count / 100 {
        return Err(format!("{failed} of {count} connections of the bare loop failed").into());
    }
    let result = LoopResult { count, cpu, seconds: began.elapsed().as_secs_f64() };
    println!("{}", serde_json::to_string(&result)?);
    Ok(())
}

async fn one_after_another(shared: Arc<BaselineLoop>) {
    loop {
        let number = shared.turn.fetch_add(1, Ordering::Relaxed) % ADDRESSES;
        match shared.once(number).await {
            Ok(()) => shared.count.fetch_add(1, Ordering::Relaxed),
            Err(_) => shared.failed.fetch_add(1, Ordering::Relaxed),
        };
    }
}

impl BaselineLoop {
    async fn once(&self, number: u32) -> std::io::Result<()> {
        let port = self.ports[number as usize % self.ports.len()];
        let here = SocketAddr::from((Ipv4Addr::LOCALHOST, port));
        match self.kind {
            Kind::Http => get(connect(number, port).await?, number).await,
            Kind::Tcp => connect(number, port).await.map(drop),
            Kind::Dns => query(here).await,
            Kind::Https => {
                let stream = TcpStream::connect(here).await?;
                stream.set_nodelay(true)?;
                let name = ServerName::IpAddress(IpAddr::from(Ipv4Addr::LOCALHOST).into());
                let tls = TlsConnector::from(self.tls.clone());
                get(tls.connect(name, stream).await?, number).await
            }
            Kind::Ping => Ok(()),
        }
    }
}

pub async fn connect(number: u32, port: u16) -> std::io::Result<TcpStream> {
    TcpStream::connect(SocketAddr::new(site::address(number), port)).await
}

/// Sends a request like Wakeful's and reads the response to its end.
pub async fn get<S: AsyncRead + AsyncWrite + Unpin>(
    mut stream: S,
    number: u32,
) -> std::io::Result<()> {
    const BODY: &[u8] = b"all is well here";
    let request = format!(
        "GET /{number} HTTP/1.1\r\nhost: {}\r\nuser-agent: bare\r\naccept: */*\r\n\
         accept-encoding: gzip, br, zstd\r\nconnection: close\r\n\r\n",
        site::address(number)
    );
    stream.write_all(request.as_bytes()).await?;
    let mut buffer = [0; 8_192];
    let mut length = 0;
    while !buffer[..length].ends_with(BODY) {
        let read = stream.read(&mut buffer[length..]).await?;
        if read == 0 {
            return Err(std::io::ErrorKind::UnexpectedEof.into());
        }
        length += read;
    }
    Ok(())
}

async fn query(server: SocketAddr) -> std::io::Result<()> {
    const QUESTION: &[u8] = b"\x12\x34\x01\0\0\x01\0\0\0\0\0\0\x03www\x07example\0\0\x01\0\x01";
    let socket = UdpSocket::bind((Ipv4Addr::UNSPECIFIED, 0)).await?;
    socket.connect(server).await?;
    socket.send(QUESTION).await?;
    socket.recv(&mut [0; 512]).await.map(drop)
}

/// One socket with this many echoes in flight: each reply sends the next.
async fn ping(shared: Arc<BaselineLoop>) {
    let Ok(socket) = icmp() else { return };
    let mut echo = [0_u8; 24];
    (echo[0], echo[2], echo[3]) = (8, 0xF7, 0xFF);
    let to = |number: u32| SocketAddr::new(site::address(number % ADDRESSES), 0);
    for number in 0..MAX_CONCURRENT as u32 {
        let _ = socket.send_to(&echo, to(number)).await;
    }
    let mut buffer = [0; 256];
    while let Ok((length, _)) = socket.recv_from(&mut buffer).await {
        // A raw socket includes the header, and on loopback our own echoes,
        // too.
        let header = if buffer[0] >> 4 == 4 { usize::from(buffer[0] & 0x0F) * 4 } else { 0 };
        if header < length && buffer[header] == 0 {
            shared.count.fetch_add(1, Ordering::Relaxed);
            let number = shared.turn.fetch_add(1, Ordering::Relaxed);
            let _ = socket.send_to(&echo, to(number)).await;
        }
    }
}

fn icmp() -> std::io::Result<UdpSocket> {
    let open = |kind| Socket::new(Domain::IPV4, kind, Some(Protocol::ICMPV4));
    let socket = open(Type::DGRAM).or_else(|_| open(Type::RAW))?;
    socket.set_nonblocking(true)?;
    UdpSocket::from_std(socket.into())
}

/// Trusts the target's authority, and does not resume sessions.
fn client(authority: &Path) -> Outcome<Arc<ClientConfig>> {
    let mut roots = RootCertStore::empty();
    roots.add(CertificateDer::from_pem_file(authority)?)?;
    let mut config = ClientConfig::builder().with_root_certificates(roots).with_no_client_auth();
    config.resumption = rustls::client::Resumption::disabled();
    config.alpn_protocols = vec![b"http/1.1".to_vec()];
    Ok(Arc::new(config))
}
