//! Visitors of a path: many connections that request it again and again, at full speed. The
//! requests are bytes that are made once, so that the visitors cost less than the service.

use std::net::{IpAddr, Ipv4Addr, SocketAddr};
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::{TcpSocket, TcpStream};
use tokio::runtime::Runtime;
use tokio::task::JoinSet;
use tokio::time::{Instant, sleep_until, timeout};

use crate::Outcome;

/// The service limits the connections of one client, and those of one site.
const PER_SITE: usize = 128;
const RESPONSE_TIMEOUT: Duration = Duration::from_secs(10);

/// What each visitor requests.
#[derive(Clone)]
pub struct Visit {
    pub address: SocketAddr,
    pub path: String,
    /// The entity tag that the visitor has, for 304.
    pub etag: Option<String>,
    /// Whether a connection is used for one request only.
    pub reconnect: bool,
    /// How often each visitor requests it; zero: as often as possible.
    pub every: Duration,
}

/// What came back.
#[derive(Clone, Debug, Default)]
pub struct Answer {
    pub status: u16,
    pub etag: String,
    pub bytes: usize,
    closes: bool,
}

#[derive(Clone, Copy, Debug, Default)]
pub struct Visits {
    pub per_second: f64,
    pub failed: usize,
}

impl Visit {
    fn request(&self) -> Vec<u8> {
        let known = self.etag.as_ref().map(|tag| format!("if-none-match: {tag}\r\n"));
        let close = if self.reconnect { "connection: close\r\n" } else { "" };
        format!(
            "GET {} HTTP/1.1\r\nhost: {}\r\naccept: text/html\r\naccept-encoding: gzip\r\n{}{close}\r\n",
            self.path,
            self.address,
            known.unwrap_or_default()
        )
        .into_bytes()
    }

    /// One request on a connection of its own, from a client that is none of the visitors.
    pub async fn once(&self) -> Outcome<Answer> {
        let mut visitor = Visitor::new(self, Ipv4Addr::LOCALHOST);
        visitor.view().await
    }

    /// So many visitors for so long. They have threads of their own, so that other calls of the
    /// benchmark do not wait for them.
    pub async fn repeat(&self, visitors: usize, window: Duration) -> Visits {
        let runtime = Runtime::new().expect("threads for the visitors");
        let (views, failed) = (Arc::new(AtomicUsize::new(0)), Arc::new(AtomicUsize::new(0)));
        let began = Instant::now();
        let mut tasks = JoinSet::new();
        for number in 0..visitors {
            let mut visitor = Visitor::new(self, address(number));
            let (views, failed) = (Arc::clone(&views), Arc::clone(&failed));
            let every = self.every;
            let visits = async move {
                let mut next = began;
                while began.elapsed() < window {
                    sleep_until(next).await;
                    next += every;
                    match visitor.view().await {
                        Ok(answer) if answer.status == visitor.wanted() => {
                            views.fetch_add(1, Ordering::Relaxed);
                        }
                        Ok(answer) if answer.status == 200 => visitor.adopt(answer.etag),
                        _ => {
                            failed.fetch_add(1, Ordering::Relaxed);
                        }
                    }
                }
            };
            tasks.spawn_on(visits, runtime.handle());
        }
        while tasks.join_next().await.is_some() {}
        runtime.shutdown_background();
        let views = views.load(Ordering::Relaxed) as f64;
        let per_second = views / began.elapsed().as_secs_f64();
        Visits { per_second, failed: failed.load(Ordering::Relaxed) }
    }
}

/// The address of a visitor: each part of them comes from another network.
fn address(number: usize) -> Ipv4Addr {
    let network = u8::try_from(number / PER_SITE).unwrap_or(u8::MAX);
    Ipv4Addr::new(127, 1, network, 1)
}

struct Visitor {
    from: IpAddr,
    visit: Visit,
    request: Vec<u8>,
    stream: Option<TcpStream>,
    buffer: Vec<u8>,
}

impl Visitor {
    fn new(visit: &Visit, from: Ipv4Addr) -> Self {
        Self {
            from: from.into(),
            visit: visit.clone(),
            request: visit.request(),
            stream: None,
            buffer: vec![0; 64 << 10],
        }
    }

    fn wanted(&self) -> u16 {
        if self.visit.etag.is_some() { 304 } else { 200 }
    }

    /// The page has changed, as it does each minute.
    fn adopt(&mut self, etag: String) {
        self.visit.etag = Some(etag);
        self.request = self.visit.request();
    }

    async fn view(&mut self) -> Outcome<Answer> {
        let answer = timeout(RESPONSE_TIMEOUT, self.try_view()).await;
        let answer = answer.unwrap_or_else(|_| Err("no response".into()));
        if self.visit.reconnect || answer.as_ref().map_or(true, |answer| answer.closes) {
            self.stream = None;
        }
        answer
    }

    async fn try_view(&mut self) -> Outcome<Answer> {
        if self.stream.is_none() {
            let socket = TcpSocket::new_v4()?;
            socket.set_reuseaddr(true)?;
            socket.bind(SocketAddr::new(self.from, 0))?;
            let stream = socket.connect(self.visit.address).await?;
            stream.set_nodelay(true)?;
            self.stream = Some(stream);
        }
        let stream = self.stream.as_mut().ok_or("no connection")?;
        stream.write_all(&self.request).await?;
        let mut filled = 0;
        let (head, mut answer) = loop {
            let read = stream.read(&mut self.buffer[filled..]).await?;
            if read == 0 {
                return Err("the connection was closed".into());
            }
            filled += read;
            let end = self.buffer[..filled].windows(4).position(|four| four == b"\r\n\r\n");
            if let Some(end) = end {
                break (end + 4, parse(&self.buffer[..end])?);
            }
        };
        let mut left = (head + answer.bytes).saturating_sub(filled);
        while left > 0 {
            let most = left.min(self.buffer.len());
            let read = stream.read(&mut self.buffer[..most]).await?;
            if read == 0 {
                return Err("the response was cut off".into());
            }
            left -= read;
        }
        if answer.status == 304 {
            answer.bytes = 0;
        }
        Ok(answer)
    }
}

fn parse(head: &[u8]) -> Outcome<Answer> {
    let head = std::str::from_utf8(head)?;
    let status = head.get(9..12).ok_or("no status")?.parse()?;
    let mut answer = Answer { status, ..Answer::default() };
    for line in head.lines().skip(1) {
        let (name, value) = line.split_once(':').unwrap_or_default();
        match name {
            "content-length" => answer.bytes = value.trim().parse()?,
            "etag" => value.trim().clone_into(&mut answer.etag),
            "connection" => answer.closes = value.trim() == "close",
            _ => {}
        }
    }
    if status == 304 {
        answer.bytes = 0;
    }
    Ok(answer)
}
