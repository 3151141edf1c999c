//! A mail server on loopback: accepts and records emails, in clear text, with
//! STARTTLS or with TLS, and sends scripted replies.

use data_encoding::BASE64;
use rustls::pki_types::PrivateKeyDer;
use std::sync::{Arc, Mutex};
use tokio::io::{AsyncBufReadExt as _, AsyncRead, AsyncWrite, AsyncWriteExt as _, BufReader};
use tokio::net::{TcpListener, TcpStream};
use tokio::task::JoinSet;
use tokio_rustls::TlsAcceptor;

use crate::wait::until;

/// The security of the connection.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SmtpSecurity {
    Plain,
    StartTls,
    Tls,
}

/// An accepted email.
#[derive(Clone, Debug, Default)]
pub struct ReceivedMail {
    pub from: String,
    pub to: Vec<String>,
    pub text: String,
    pub secure: bool,
    pub user: String,
    pub password: String,
}

impl ReceivedMail {
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

pub struct SmtpServer {
    pub port: u16,
    inner: Arc<Mutex<Inner>>,
    _tasks: JoinSet<()>,
}

struct Inner {
    mails: Vec<ReceivedMail>,
    /// Sent instead of accepting an email.
    refusal: Option<String>,
    /// Replies to lines with this prefix; an empty one means no reply.
    replies: Vec<(String, String)>,
    connections: usize,
}

impl SmtpServer {
    pub async fn start(line: SmtpSecurity) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        Self::on(listener, line)
    }

    /// On a given port.
    pub fn on(listener: TcpListener, line: SmtpSecurity) -> Self {
        let port = listener.local_addr().unwrap().port();
        let inner = Arc::new(Mutex::new(Inner {
            mails: Vec::new(),
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
                // A client that disconnects is not a failure.
                serving.spawn(async move { drop(serve(stream, line, &tls, &inner).await) });
            }
        });
        Self { port, inner, _tasks: tasks }
    }

    /// Replies with this instead of accepting emails; `None` accepts them
    /// again.
    pub fn refuse_with(&self, reply: Option<&str>) {
        self.inner.lock().unwrap().refusal = reply.map(str::to_owned);
    }

    /// Replies with this to every line with this prefix from now on; empty
    /// means no reply.
    pub fn reply_to(&self, to: &str, reply: &str) {
        let mut inner = self.inner.lock().unwrap();
        inner.replies.retain(|(start, _)| start != to);
        inner.replies.push((to.to_owned(), reply.to_owned()));
    }

    /// Removes a scripted reply.
    pub fn stop_replying_to(&self, to: &str) {
        self.inner.lock().unwrap().replies.retain(|(start, _)| start != to);
    }

    pub fn mails(&self) -> Vec<ReceivedMail> {
        self.inner.lock().unwrap().mails.clone()
    }

    pub fn connections(&self) -> usize {
        self.inner.lock().unwrap().connections
    }

    /// The emails, once there are `count`.
    pub async fn wait_for_mails(&self, count: usize) -> Vec<ReceivedMail> {
        until(&format!("{count} emails"), || async {
            let mails = self.mails();
            (mails.len() >= count).then_some(mails)
        })
        .await
    }
}

/// An untrusted certificate.
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
    line: SmtpSecurity,
    tls: &TlsAcceptor,
    inner: &Mutex<Inner>,
) -> std::io::Result<()> {
    if line == SmtpSecurity::Tls {
        let stream = tls.accept(stream).await?;
        return converse(stream, true, Session { secure: true, offers: false }, inner)
            .await
            .map(drop);
    }
    let offers = line == SmtpSecurity::StartTls;
    let Some(stream) = converse(stream, true, Session { secure: false, offers }, inner).await?
    else {
        return Ok(());
    };
    let stream = tls.accept(stream).await?;
    converse(stream, false, Session { secure: true, offers: false }, inner).await.map(drop)
}

#[derive(Clone, Copy)]
struct Session {
    secure: bool,
    /// STARTTLS is offered.
    offers: bool,
}

/// Responds until the client leaves, or returns the connection to be secured.
async fn converse<S: AsyncRead + AsyncWrite + Unpin>(
    stream: S,
    greet: bool,
    how: Session,
    inner: &Mutex<Inner>,
) -> std::io::Result<Option<S>> {
    let mut stream = BufReader::new(stream);
    if greet {
        stream.write_all(b"220 mail.example ready\r\n").await?;
    }
    let mut mail = ReceivedMail { secure: how.secure, ..ReceivedMail::default() };
    loop {
        let mut line = String::new();
        if stream.read_line(&mut line).await? == 0 {
            return Ok(None);
        }
        let line = line.trim_end();
        if let Some(reply) = scripted_reply(inner, line) {
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
                mail.user = parts.next().unwrap_or_default();
                mail.password = parts.next().unwrap_or_default();
                match mail.password.as_str() {
                    "wrong" => "535 5.7.8 authentication failed".to_owned(),
                    _ => "235 2.7.0 welcome".to_owned(),
                }
            }
            "MAIL" => {
                mail.from = address(line);
                mail.to.clear();
                "250 2.1.0 fine".to_owned()
            }
            "RCPT" => {
                mail.to.push(address(line));
                "250 2.1.5 fine".to_owned()
            }
            "DATA" => {
                stream.write_all(b"354 go on\r\n").await?;
                mail.text = data(&mut stream).await?;
                let mut inner = inner.lock().unwrap();
                match inner.refusal.clone() {
                    Some(reply) => reply,
                    None => {
                        inner.mails.push(mail.clone());
                        format!("250 2.0.0 taken as {}", inner.mails.len())
                    }
                }
            }
            "QUIT" => "221 2.0.0 bye".to_owned(),
            _ => "502 5.5.1 what?".to_owned(),
        };
        stream.write_all(format!("{reply}\r\n").as_bytes()).await?;
    }
}

fn scripted_reply(inner: &Mutex<Inner>, line: &str) -> Option<String> {
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
