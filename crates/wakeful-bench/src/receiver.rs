//! The recipients of notifications: a webhook receiver and a mail server, which
//! accept everything and record the relevant parts.

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

/// Accepts webhooks and responds after a delay.
pub struct Receiver {
    pub url: String,
    received: Arc<Mutex<ReceivedHooks>>,
}

#[derive(Default)]
struct ReceivedHooks {
    ids: HashSet<String>,
    count: usize,
    now: usize,
    most: usize,
}

impl Receiver {
    pub async fn start(delay: Duration) -> Outcome<Self> {
        let listener = TcpListener::bind("127.0.0.1:0").await?;
        let url = format!("http://{}/hook", listener.local_addr()?);
        let received = Arc::new(Mutex::new(ReceivedHooks::default()));
        let shared = received.clone();
        tokio::spawn(async move {
            while let Ok((stream, _)) = listener.accept().await {
                let received = shared.clone();
                tokio::spawn(async move { drop(take_hook(stream, &received, delay).await) });
            }
        });
        Ok(Self { url, received })
    }

    pub fn count(&self) -> usize {
        lock(&self.received).count
    }

    pub fn distinct(&self) -> usize {
        lock(&self.received).ids.len()
    }

    pub fn most_at_once(&self) -> usize {
        lock(&self.received).most
    }
}

async fn take_hook(
    stream: TcpStream,
    received: &Mutex<ReceivedHooks>,
    delay: Duration,
) -> Outcome<()> {
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
        let mut received = lock(received);
        received.ids.insert(id);
        received.count += 1;
        received.now += 1;
        received.most = received.most.max(received.now);
    }
    sleep(delay).await;
    lock(received).now -= 1;
    stream.write_all(b"HTTP/1.1 204 Taken\r\nconnection: close\r\n\r\n").await?;
    Ok(())
}

/// Accepts emails.
pub struct SmtpServer {
    pub port: u16,
    mails: Arc<Mutex<Vec<(Instant, String)>>>,
}

impl SmtpServer {
    pub async fn start() -> Outcome<Self> {
        let listener = TcpListener::bind("127.0.0.1:0").await?;
        let port = listener.local_addr()?.port();
        let mails = Arc::new(Mutex::new(Vec::new()));
        let shared = mails.clone();
        tokio::spawn(async move {
            while let Ok((stream, _)) = listener.accept().await {
                let mails = shared.clone();
                tokio::spawn(async move { drop(take_mail(stream, &mails).await) });
            }
        });
        Ok(Self { port, mails })
    }

    pub fn count(&self) -> usize {
        lock(&self.mails).len()
    }

    /// How many emails to subscribers have arrived, and how many of them are different ones.
    pub fn count_mailing(&self) -> (usize, usize) {
        let mails = lock(&self.mails);
        let is_id = |line: &&str| line.to_ascii_lowercase().starts_with("message-id:");
        let ids: Vec<&str> = mails
            .iter()
            .filter(|(_, text)| text.contains("List-Unsubscribe"))
            .filter_map(|(_, text)| text.lines().find(is_id))
            .collect();
        (ids.len(), ids.iter().collect::<HashSet<_>>().len())
    }

    /// How many of these names are in none of the emails.
    pub fn names_missing(&self, names: &[String]) -> usize {
        let mails = lock(&self.mails);
        names.iter().filter(|name| !mails.iter().any(|(_, text)| text.contains(*name))).count()
    }

    /// The highest number of emails that arrived within any minute.
    pub fn fullest_minute(&self) -> usize {
        let mails = lock(&self.mails);
        let within = |from: Instant| {
            mails.iter().filter(|(at, _)| *at >= from && at.duration_since(from) < MINUTE).count()
        };
        mails.iter().map(|(at, _)| within(*at)).max().unwrap_or_default()
    }
}

async fn take_mail(stream: TcpStream, mails: &Mutex<Vec<(Instant, String)>>) -> Outcome<()> {
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
                // Long lines are folded, possibly in the middle of a name.
                lock(mails).push((Instant::now(), text.replace("=\r\n", "")));
                "250 taken"
            }
            "QUIT" => "221 bye",
            _ => "250 fine",
        };
        stream.write_all(format!("{reply}\r\n").as_bytes()).await?;
    }
    Ok(())
}
