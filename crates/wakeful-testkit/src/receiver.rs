//! A webhook receiver on loopback: records requests, and responds as
//! configured, as slowly as configured.

use std::sync::{Arc, Mutex};
use std::time::Duration;
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::{TcpListener, TcpStream};
use tokio::task::JoinSet;
use tokio::time::Instant;

use crate::wait::until;

pub struct Receiver {
    pub url: String,
    inner: Arc<Mutex<Inner>>,
    _tasks: JoinSet<()>,
}

struct Inner {
    hooks: Vec<Hook>,
    answer: String,
    delay: Duration,
    now: usize,
    most: usize,
}

/// One request.
#[derive(Clone, Debug)]
pub struct Hook {
    pub method: String,
    pub path: String,
    headers: Vec<(String, String)>,
    pub body: String,
    /// The body as it was sent, which need not be text.
    pub bytes: Vec<u8>,
    pub at: Instant,
}

impl Hook {
    pub fn header(&self, name: &str) -> &str {
        let mut headers = self.headers.iter();
        headers.find(|(given, _)| given == name).map_or("", |(_, value)| value)
    }

    pub fn json(&self) -> serde_json::Value {
        serde_json::from_str(&self.body).unwrap_or_else(|_| panic!("not JSON: {}", self.body))
    }

    pub fn id(&self) -> String {
        self.header("webhook-id").to_owned()
    }
}

impl Receiver {
    pub async fn start() -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let url = format!("http://{}/hook", listener.local_addr().unwrap());
        let inner = Arc::new(Mutex::new(Inner {
            hooks: Vec::new(),
            answer: answer(200, "", "taken"),
            delay: Duration::ZERO,
            now: 0,
            most: 0,
        }));
        let shared = inner.clone();
        let mut tasks = JoinSet::new();
        tasks.spawn(async move {
            let mut serving = JoinSet::new();
            while let Ok((stream, _)) = listener.accept().await {
                let inner = shared.clone();
                serving.spawn(async move { drop(serve(stream, &inner).await) });
                while serving.try_join_next().is_some() {}
            }
        });
        Self { url, inner, _tasks: tasks }
    }

    /// Responds like this from now on; each header ends with a line break.
    pub fn answer_with(&self, status: u16, headers: &str, body: &str) {
        self.inner.lock().unwrap().answer = answer(status, headers, body);
    }

    /// Delays responses from now on.
    pub fn answer_after(&self, delay: Duration) {
        self.inner.lock().unwrap().delay = delay;
    }

    pub fn hooks(&self) -> Vec<Hook> {
        self.inner.lock().unwrap().hooks.clone()
    }

    pub fn count(&self) -> usize {
        self.inner.lock().unwrap().hooks.len()
    }

    /// The received requests, once there are `count`.
    pub async fn wait_for_hooks(&self, count: usize) -> Vec<Hook> {
        until(&format!("{count} requests"), || async {
            (self.count() >= count).then(|| self.hooks())
        })
        .await
    }

    /// The highest number of concurrent requests.
    pub fn most_at_once(&self) -> usize {
        self.inner.lock().unwrap().most
    }
}

fn answer(status: u16, headers: &str, body: &str) -> String {
    let length = body.len();
    format!("HTTP/1.1 {status} Reply\r\ncontent-length: {length}\r\n{headers}\r\n{body}")
}

async fn serve(mut stream: TcpStream, inner: &Mutex<Inner>) -> std::io::Result<()> {
    let hook = read(&mut stream).await?;
    let delay = {
        let mut inner = inner.lock().unwrap();
        inner.hooks.push(hook);
        inner.now += 1;
        inner.most = inner.most.max(inner.now);
        inner.delay
    };
    // A client that gives up and disconnects no longer counts.
    let mut more = [0];
    tokio::select! {
        () = tokio::time::sleep(delay) => {}
        _ = stream.read(&mut more) => {}
    }
    let answer = {
        let mut inner = inner.lock().unwrap();
        inner.now -= 1;
        inner.answer.clone()
    };
    stream.write_all(answer.as_bytes()).await?;
    stream.shutdown().await
}

pub(crate) async fn read(stream: &mut TcpStream) -> std::io::Result<Hook> {
    let mut bytes = Vec::new();
    loop {
        if let Some(hook) = whole(&bytes) {
            return Ok(hook);
        }
        let mut part = [0; 8_192];
        match stream.read(&mut part).await? {
            0 => return Err(std::io::ErrorKind::UnexpectedEof.into()),
            length => bytes.extend_from_slice(&part[..length]),
        }
    }
}

fn whole(bytes: &[u8]) -> Option<Hook> {
    let head = bytes.windows(4).position(|part| part == b"\r\n\r\n")?;
    let text = std::str::from_utf8(&bytes[..head]).unwrap();
    let mut lines = text.lines();
    let mut start = lines.next()?.split(' ').map(str::to_owned);
    let (method, path) = (start.next()?, start.next()?);
    let headers: Vec<(String, String)> = lines
        .filter_map(|line| line.split_once(':'))
        .map(|(name, value)| (name.to_ascii_lowercase(), value.trim().to_owned()))
        .collect();
    let length = headers.iter().find(|(name, _)| name == "content-length");
    let length: usize = length.map_or(0, |(_, value)| value.parse().unwrap());
    let body = bytes.get(head + 4..head + 4 + length)?;
    let (bytes, body) = (body.to_vec(), String::from_utf8_lossy(body).into_owned());
    Some(Hook { method, path, headers, body, bytes, at: Instant::now() })
}
