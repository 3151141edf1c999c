//! The bare loop: as many fresh connections as it can, each with what a check
//! sends and reads, and nothing judged or stored. It runs as a process of its
//! own and prints how many it made at what cost.

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

/// As many as keep both cores busy.
const AT_ONCE: usize = 128;
const WARM_UP: Duration = Duration::from_secs(1);
/// How many addresses take turns.
const ADDRESSES: u32 = 30_000;

#[derive(Args)]
pub struct Bare {
    pub kind: Kind,
    #[arg(long)]
    pub seconds: u64,
    #[arg(long, value_delimiter = ',')]
    pub ports: Vec<u16>,
    #[arg(long)]
    pub authority: PathBuf,
}

/// What a loop came to.
#[derive(Clone, Copy, Debug, Serialize, Deserialize)]
pub struct Came {
    pub count: u64,
    pub cpu: f64,
    pub seconds: f64,
}

struct Loop {
    kind: Kind,
    ports: Vec<u16>,
    tls: Arc<ClientConfig>,
    turn: AtomicU32,
    count: AtomicU64,
    failed: AtomicU64,
}

pub async fn run(bare: Bare) -> Outcome<()> {
    let tls = client(&bare.authority)?;
    let (kind, ports) = (bare.kind, bare.ports);
    let (turn, count, failed) = (AtomicU32::new(0), AtomicU64::new(0), AtomicU64::new(0));
    let looping = Arc::new(Loop { kind, ports, tls, turn, count, failed });
    match kind {
        Kind::Ping => {
            tokio::spawn(ping(looping.clone()));
        }
        _ => (0..AT_ONCE).for_each(|_| {
            tokio::spawn(one_after_another(looping.clone()));
        }),
    }
    sleep(WARM_UP).await;
    let pid = std::process::id();
    let (began, cpu) = (Instant::now(), process::cpu(pid)?);
    let before = looping.count.load(Ordering::Relaxed);
    sleep(Duration::from_secs(bare.seconds)).await;
    let count = looping.count.load(Ordering::Relaxed) - before;
    let cpu = (process::cpu(pid)? - cpu).as_secs_f64();
    let failed = looping.failed.load(Ordering::Relaxed);
    if failed > count / 100 {
        return Err(format!("{failed} of {count} tries of the bare loop failed").into());
    }
    let came = Came { count, cpu, seconds: began.elapsed().as_secs_f64() };
    println!("{}", serde_json::to_string(&came)?);
    Ok(())
}

async fn one_after_another(looping: Arc<Loop>) {
    loop {
        let number = looping.turn.fetch_add(1, Ordering::Relaxed) % ADDRESSES;
        match looping.once(number).await {
            Ok(()) => looping.count.fetch_add(1, Ordering::Relaxed),
            Err(_) => looping.failed.fetch_add(1, Ordering::Relaxed),
        };
    }
}

impl Loop {
    async fn once(&self, number: u32) -> std::io::Result<()> {
        let port = self.ports[number as usize % self.ports.len()];
        let here = SocketAddr::from((Ipv4Addr::LOCALHOST, port));
        match self.kind {
            Kind::Http => get(connect(number, port).await?, number).await,
            Kind::Tcp => connect(number, port).await.map(drop),
            Kind::Dns => ask(here).await,
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

/// Sends a request such as Wakeful's and reads the answer to its end.
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

async fn ask(server: SocketAddr) -> std::io::Result<()> {
    const QUESTION: &[u8] = b"\x12\x34\x01\0\0\x01\0\0\0\0\0\0\x03www\x07example\0\0\x01\0\x01";
    let socket = UdpSocket::bind((Ipv4Addr::UNSPECIFIED, 0)).await?;
    socket.connect(server).await?;
    socket.send(QUESTION).await?;
    socket.recv(&mut [0; 512]).await.map(drop)
}

/// One socket with so many echoes in flight: each that comes back sends the next.
async fn ping(looping: Arc<Loop>) {
    let Ok(socket) = icmp() else { return };
    let mut echo = [0_u8; 24];
    (echo[0], echo[2], echo[3]) = (8, 0xF7, 0xFF);
    let to = |number: u32| SocketAddr::new(site::address(number % ADDRESSES), 0);
    for number in 0..AT_ONCE as u32 {
        let _ = socket.send_to(&echo, to(number)).await;
    }
    let mut buffer = [0; 256];
    while let Ok((length, _)) = socket.recv_from(&mut buffer).await {
        // A raw socket sees the header, and on loopback our own echoes, too.
        let header = if buffer[0] >> 4 == 4 { usize::from(buffer[0] & 0x0F) * 4 } else { 0 };
        if header < length && buffer[header] == 0 {
            looping.count.fetch_add(1, Ordering::Relaxed);
            let number = looping.turn.fetch_add(1, Ordering::Relaxed);
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

/// Trusts the target's authority, and begins anew with every connection.
fn client(authority: &Path) -> Outcome<Arc<ClientConfig>> {
    let mut roots = RootCertStore::empty();
    roots.add(CertificateDer::from_pem_file(authority)?)?;
    let mut config = ClientConfig::builder().with_root_certificates(roots).with_no_client_auth();
    config.resumption = rustls::client::Resumption::disabled();
    config.alpn_protocols = vec![b"http/1.1".to_vec()];
    Ok(Arc::new(config))
}
