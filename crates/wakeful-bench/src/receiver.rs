//! Who is told: a webhook's receiver and a mail server, which take everything
//! and remember what matters of it.

use std::collections::HashSet;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;
use tokio::io::{AsyncBufReadExt as _, AsyncReadExt as _, AsyncWriteExt as _, BufReader};
use tokio::net::{TcpListener, TcpStream};
use tokio::time::{Instant, sleep};

use crate::Outcome;

const MINUTE: Duration = Duration::from_secs(60);

fn lock<T>(shared: &Mutex<T>) -> MutexGuard<'_, T> {
    shared.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Takes webhooks and answers after a while.
pub struct Receiver {
    pub url: String,
    told: Arc<Mutex<Told>>,
}

#[derive(Default)]
struct Told {
    ids: HashSet<String>,
    count: usize,
    now: usize,
    most: usize,
}

impl Receiver {
    pub async fn start(delay: Duration) -> Outcome<Self> {
        let listener = TcpListener::bind("127.0.0.1:0").await?;
        let url = format!("http://{}/hook", listener.local_addr()?);
        let told = Arc::new(Mutex::new(Told::default()));
        let shared = told.clone();
        tokio::spawn(async move {
            while let Ok((stream, _)) = listener.accept().await {
                let told = shared.clone();
                tokio::spawn(async move { drop(take_hook(stream, &told, delay).await) });
            }
        });
        Ok(Self { url, told })
    }

    pub fn count(&self) -> usize {
        lock(&self.told).count
    }

    pub fn distinct(&self) -> usize {
        lock(&self.told).ids.len()
    }

    pub fn most_at_once(&self) -> usize {
        lock(&self.told).most
    }
}

async fn take_hook(stream: TcpStream, told: &Mutex<Told>, delay: Duration) -> Outcome<()> {
    let mut stream = BufReader::new(stream);
    let (mut id, mut length) = (String::new(), 0);
    loop {
        let mut line = String::new();
        if stream.read_line(&mut line).await? == 0 {
            return Ok(());
        }
        match line.trim_end().split_once(": ") {
            Some((name, value)) if name.eq_ignore_ascii_case("webhook-id") => {
                value.clone_into(&mut id);
            }
            Some((name, value)) if name.eq_ignore_ascii_case("content-length") => {
                length = value.parse()?;
            }
            _ if line == "\r\n" => break,
            _ => {}
        }
    }
    let mut body = vec![0; length];
    stream.read_exact(&mut body).await?;
    {
        let mut told = lock(told);
        told.ids.insert(id);
        told.count += 1;
        told.now += 1;
        told.most = told.most.max(told.now);
    }
    sleep(delay).await;
    lock(told).now -= 1;
    stream.write_all(b"HTTP/1.1 204 Taken\r\nconnection: close\r\n\r\n").await?;
    Ok(())
}

/// Takes letters.
pub struct Inbox {
    pub port: u16,
    letters: Arc<Mutex<Vec<(Instant, String)>>>,
}

impl Inbox {
    pub async fn start() -> Outcome<Self> {
        let listener = TcpListener::bind("127.0.0.1:0").await?;
        let port = listener.local_addr()?.port();
        let letters = Arc::new(Mutex::new(Vec::new()));
        let shared = letters.clone();
        tokio::spawn(async move {
            while let Ok((stream, _)) = listener.accept().await {
                let letters = shared.clone();
                tokio::spawn(async move { drop(take_letter(stream, &letters).await) });
            }
        });
        Ok(Self { port, letters })
    }

    pub fn count(&self) -> usize {
        lock(&self.letters).len()
    }

    /// How many of these names are in none of the letters.
    pub fn unnamed(&self, names: &[String]) -> usize {
        let letters = lock(&self.letters);
        names.iter().filter(|name| !letters.iter().any(|(_, text)| text.contains(*name))).count()
    }

    /// The most letters that came within any minute.
    pub fn fullest_minute(&self) -> usize {
        let letters = lock(&self.letters);
        let within = |from: Instant| {
            letters.iter().filter(|(at, _)| *at >= from && at.duration_since(from) < MINUTE).count()
        };
        letters.iter().map(|(at, _)| within(*at)).max().unwrap_or_default()
    }
}

async fn take_letter(stream: TcpStream, letters: &Mutex<Vec<(Instant, String)>>) -> Outcome<()> {
    let mut stream = BufReader::new(stream);
    stream.write_all(b"220 ready\r\n").await?;
    let mut line = String::new();
    while {
        line.clear();
        stream.read_line(&mut line).await? > 0
    } {
        let verb = line.get(..4).unwrap_or_default().to_ascii_uppercase();
        let reply = match verb.as_str() {
            "DATA" => {
                stream.write_all(b"354 go on\r\n").await?;
                let mut text = String::new();
                while !text.ends_with("\r\n.\r\n") && stream.read_line(&mut text).await? > 0 {}
                // Long lines come folded, in the middle of a name perhaps.
                lock(letters).push((Instant::now(), text.replace("=\r\n", "")));
                "250 taken"
            }
            "QUIT" => "221 bye",
            _ => "250 fine",
        };
        stream.write_all(format!("{reply}\r\n").as_bytes()).await?;
    }
    Ok(())
}
