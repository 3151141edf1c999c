//! A mail server on loopback: takes letters and keeps them, in the clear, by
//! STARTTLS or behind TLS, and says what it is told to say.

use data_encoding::BASE64;
use rustls::pki_types::PrivateKeyDer;
use std::sync::{Arc, Mutex};
use tokio::io::{AsyncBufReadExt as _, AsyncRead, AsyncWrite, AsyncWriteExt as _, BufReader};
use tokio::net::{TcpListener, TcpStream};
use tokio::task::JoinSet;
use tokio_rustls::TlsAcceptor;

use crate::wait::until;

/// How the server is spoken to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Line {
    Plain,
    StartTls,
    Tls,
}

/// A letter that was taken.
#[derive(Clone, Debug, Default)]
pub struct Taken {
    pub from: String,
    pub to: Vec<String>,
    pub text: String,
    pub secure: bool,
    pub user: String,
    pub password: String,
}

impl Taken {
    /// A header, unfolded.
    pub fn header(&self, name: &str) -> String {
        let head = self.text.split("\r\n\r\n").next().unwrap_or_default();
        let unfolded = head.replace("\r\n ", " ");
        let start = format!("{}:", name.to_ascii_lowercase());
        let mut lines = unfolded.split("\r\n");
        lines
            .find(|line| line.to_ascii_lowercase().starts_with(&start))
            .map_or(String::new(), |line| line[start.len()..].trim().to_owned())
    }
}

pub struct Inbox {
    pub port: u16,
    inner: Arc<Mutex<Inner>>,
    _tasks: JoinSet<()>,
}

struct Inner {
    letters: Vec<Taken>,
    /// Instead of taking a letter.
    refusal: Option<String>,
    /// Replies to lines that begin so; an empty one is silence.
    replies: Vec<(String, String)>,
    connections: usize,
}

impl Inbox {
    pub async fn start(line: Line) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        Self::on(listener, line)
    }

    /// On a port of the test's choosing.
    pub fn on(listener: TcpListener, line: Line) -> Self {
        let port = listener.local_addr().unwrap().port();
        let inner = Arc::new(Mutex::new(Inner {
            letters: Vec::new(),
            refusal: None,
            replies: Vec::new(),
            connections: 0,
        }));
        let (shared, tls) = (inner.clone(), acceptor());
        let mut tasks = JoinSet::new();
        tasks.spawn(async move {
            let mut serving = JoinSet::new();
            while let Ok((stream, _)) = listener.accept().await {
                let (inner, tls) = (shared.clone(), tls.clone());
                inner.lock().unwrap().connections += 1;
                // A client that hangs up is no failure.
                serving.spawn(async move { drop(serve(stream, line, &tls, &inner).await) });
            }
        });
        Self { port, inner, _tasks: tasks }
    }

    /// Says this instead of taking letters; nothing: takes them again.
    pub fn refuses(&self, reply: Option<&str>) {
        self.inner.lock().unwrap().refusal = reply.map(str::to_owned);
    }

    /// Says this to every line that begins so, from now on, and nothing at all
    /// when it is empty.
    pub fn says(&self, to: &str, reply: &str) {
        let mut inner = self.inner.lock().unwrap();
        inner.replies.retain(|(start, _)| start != to);
        inner.replies.push((to.to_owned(), reply.to_owned()));
    }

    /// Answers such lines by itself again.
    pub fn says_no_more(&self, to: &str) {
        self.inner.lock().unwrap().replies.retain(|(start, _)| start != to);
    }

    pub fn letters(&self) -> Vec<Taken> {
        self.inner.lock().unwrap().letters.clone()
    }

    pub fn connections(&self) -> usize {
        self.inner.lock().unwrap().connections
    }

    /// The letters, once there are so many.
    pub async fn taken(&self, count: usize) -> Vec<Taken> {
        until(&format!("{count} letters"), || async {
            let letters = self.letters();
            (letters.len() >= count).then_some(letters)
        })
        .await
    }
}

/// A certificate that nobody trusts.
fn acceptor() -> TlsAcceptor {
    let made = rcgen::generate_simple_self_signed(vec!["mail.example".to_owned()]).unwrap();
    let key = PrivateKeyDer::try_from(made.signing_key.serialize_der()).unwrap();
    let provider = Arc::new(rustls::crypto::aws_lc_rs::default_provider());
    let config = rustls::ServerConfig::builder_with_provider(provider)
        .with_safe_default_protocol_versions()
        .unwrap()
        .with_no_client_auth()
        .with_single_cert(vec![made.cert.der().clone()], key)
        .unwrap();
    TlsAcceptor::from(Arc::new(config))
}

async fn serve(
    stream: TcpStream,
    line: Line,
    tls: &TlsAcceptor,
    inner: &Mutex<Inner>,
) -> std::io::Result<()> {
    if line == Line::Tls {
        let stream = tls.accept(stream).await?;
        return talk(stream, true, Talk { secure: true, offers: false }, inner).await.map(drop);
    }
    let offers = line == Line::StartTls;
    let Some(stream) = talk(stream, true, Talk { secure: false, offers }, inner).await? else {
        return Ok(());
    };
    let stream = tls.accept(stream).await?;
    talk(stream, false, Talk { secure: true, offers: false }, inner).await.map(drop)
}

#[derive(Clone, Copy)]
struct Talk {
    secure: bool,
    /// STARTTLS is offered.
    offers: bool,
}

/// Speaks until the client leaves, or gives the line back to be secured.
async fn talk<S: AsyncRead + AsyncWrite + Unpin>(
    stream: S,
    greet: bool,
    how: Talk,
    inner: &Mutex<Inner>,
) -> std::io::Result<Option<S>> {
    let mut stream = BufReader::new(stream);
    if greet {
        stream.write_all(b"220 mail.example ready\r\n").await?;
    }
    let mut letter = Taken { secure: how.secure, ..Taken::default() };
    loop {
        let mut line = String::new();
        if stream.read_line(&mut line).await? == 0 {
            return Ok(None);
        }
        let line = line.trim_end();
        if let Some(reply) = told_to_say(inner, line) {
            stream.write_all(reply.as_bytes()).await?;
            continue;
        }
        let verb = line.split(' ').next().unwrap_or_default().to_ascii_uppercase();
        let reply = match verb.as_str() {
            "EHLO" if how.offers => "250-mail.example\r\n250-STARTTLS\r\n250 8BITMIME".to_owned(),
            "EHLO" => "250-mail.example\r\n250-AUTH PLAIN LOGIN\r\n250 8BITMIME".to_owned(),
            "STARTTLS" if how.offers => {
                stream.write_all(b"220 go ahead\r\n").await?;
                return Ok(Some(stream.into_inner()));
            }
            "AUTH" => {
                let given = BASE64.decode(line.rsplit(' ').next().unwrap().as_bytes()).unwrap();
                let given = String::from_utf8(given).unwrap();
                let mut parts = given.split('\0').skip(1).map(str::to_owned);
                letter.user = parts.next().unwrap_or_default();
                letter.password = parts.next().unwrap_or_default();
                match letter.password.as_str() {
                    "wrong" => "535 5.7.8 authentication failed".to_owned(),
                    _ => "235 2.7.0 welcome".to_owned(),
                }
            }
            "MAIL" => {
                letter.from = address(line);
                "250 2.1.0 fine".to_owned()
            }
            "RCPT" => {
                letter.to.push(address(line));
                "250 2.1.5 fine".to_owned()
            }
            "DATA" => {
                stream.write_all(b"354 go on\r\n").await?;
                letter.text = data(&mut stream).await?;
                let mut inner = inner.lock().unwrap();
                match inner.refusal.clone() {
                    Some(reply) => reply,
                    None => {
                        inner.letters.push(letter.clone());
                        format!("250 2.0.0 taken as {}", inner.letters.len())
                    }
                }
            }
            "QUIT" => "221 2.0.0 bye".to_owned(),
            _ => "502 5.5.1 what?".to_owned(),
        };
        stream.write_all(format!("{reply}\r\n").as_bytes()).await?;
    }
}

fn told_to_say(inner: &Mutex<Inner>, line: &str) -> Option<String> {
    let inner = inner.lock().unwrap();
    let (_, reply) = inner.replies.iter().find(|(start, _)| line.starts_with(start))?;
    Some(if reply.is_empty() { String::new() } else { format!("{reply}\r\n") })
}

fn address(line: &str) -> String {
    let inside = line.split_once('<').and_then(|(_, rest)| rest.split_once('>'));
    inside.map_or(String::new(), |(address, _)| address.to_owned())
}

async fn data<S: AsyncRead + Unpin>(stream: &mut BufReader<S>) -> std::io::Result<String> {
    let mut text = String::new();
    loop {
        let mut line = String::new();
        if stream.read_line(&mut line).await? == 0 {
            return Err(std::io::ErrorKind::UnexpectedEof.into());
        }
        if line == ".\r\n" {
            return Ok(text);
        }
        text.push_str(line.strip_prefix('.').unwrap_or(&line));
    }
}
