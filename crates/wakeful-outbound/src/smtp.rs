//! The connection below the SMTP client: plain, with TLS from the first byte,
//! or with TLS after STARTTLS. It bounds what a server may send, above TLS,
//! because the mail library reads a whole line before it checks the line's
//! length and parses a whole response again for each of its lines.

use lettre::transport::smtp::authentication::{Credentials, Mechanism};
use lettre::transport::smtp::client::{AsyncSmtpConnection, AsyncTokioStream};
use lettre::transport::smtp::commands::{Ehlo, Starttls};
use lettre::transport::smtp::extension::{ClientId, Extension, ServerInfo};
use lettre::transport::smtp::response::Response;
use std::fmt::Display;
use std::io;
use std::net::SocketAddr;
use std::pin::Pin;
use std::task::{Context, Poll, ready};
use tokio::io::{
    AsyncBufReadExt as _, AsyncRead, AsyncWrite, AsyncWriteExt as _, BufReader, ReadBuf,
};
use tokio::net::TcpStream;
use wakeful_core::error_chain::ErrorChain;
use wakeful_core::notifications::notifier::Transport;
use wakeful_core::secret::Secret;

use crate::net::tls::{Offer, Trust};
use crate::net::{Net, Stream, Trace};

/// RFC 5321 allows 512 bytes.
const MAX_LINE_BYTES: usize = 2_048;
/// The mail library fails above 1,000, also after it has sent a mail; the rest of a longer line
/// is not passed on.
const MAX_PASSED_LINE_BYTES: usize = 900;
/// Everything that is read between two commands.
const MAX_RESPONSE_BYTES: usize = 64 * 1_024;
/// The mail library's work grows with the square of this.
const MAX_RESPONSE_LINES: usize = 256;
/// Everything that is read on one connection.
const MAX_SESSION_BYTES: usize = 256 * 1_024;

const MECHANISMS: &[Mechanism] = &[Mechanism::Plain, Mechanism::Login];

/// Read by the mail library after STARTTLS: it expects a greeting on every new
/// connection, and the server has sent its own before TLS.
const GREETING_AFTER_STARTTLS: &[u8] = b"220 ready\r\n";

/// How to log in to a mail server.
pub(crate) struct Login<'a> {
    pub(crate) transport: Transport,
    /// The name that the certificate must be for.
    pub(crate) tls_name: &'a str,
    pub(crate) trust: Trust,
    /// Empty: no authentication.
    pub(crate) username: &'a str,
    pub(crate) password: &'a Secret,
}

/// Opens an SMTP session on a TCP connection, up to the point where the server
/// accepts mail. The error is the reason in one sentence.
pub(crate) async fn open(
    net: &Net,
    tcp: TcpStream,
    login: &Login<'_>,
) -> Result<AsyncSmtpConnection, String> {
    let stream = match login.transport {
        Transport::Plain => SmtpStream::new(Stream::Plain(tcp), b""),
        Transport::Tls => SmtpStream::new(encrypt(net, tcp, login).await?, b""),
        Transport::StartTls => {
            let tcp = request_tls(tcp).await?;
            SmtpStream::new(encrypt(net, tcp, login).await?, GREETING_AFTER_STARTTLS)
        }
    };
    let failed = |error: lettre::transport::smtp::Error| ErrorChain(&error).to_string();
    let name = ClientId::default();
    let opened = AsyncSmtpConnection::connect_with_transport(Box::new(stream), &name).await;
    let mut connection = opened.map_err(failed)?;
    if !login.username.is_empty() {
        let password = login.password.expose().to_owned();
        let credentials = Credentials::new(login.username.to_owned(), password);
        connection.auth(MECHANISMS, &credentials).await.map_err(failed)?;
    }
    Ok(connection)
}

async fn encrypt(net: &Net, tcp: TcpStream, login: &Login<'_>) -> Result<Stream, String> {
    let mut trace = Trace::default();
    let secured = net
        .tls()
        .secure(tcp, login.tls_name, login.trust, Offer::Nothing, net.clock(), &mut trace)
        .await;
    let stream = secured.map_err(|failure| failure.message().to_owned())?;
    Ok(Stream::Tls(Box::new(stream)))
}

/// Brings a server to the point where it expects the TLS handshake (RFC 3207).
async fn request_tls(tcp: TcpStream) -> Result<TcpStream, String> {
    let mut stream = BufReader::new(SmtpStream::new(Stream::Plain(tcp), b""));
    read_response(&mut stream).await?;
    let offered = command(&mut stream, Ehlo::new(ClientId::default())).await?;
    let server =
        ServerInfo::from_response(&offered).map_err(|error| ErrorChain(&error).to_string())?;
    if !server.supports_feature(Extension::StartTls) {
        return Err(
            "the server does not offer STARTTLS; set security to none, or use another port"
                .to_owned(),
        );
    }
    command(&mut stream, Starttls).await?;
    // Plain text sent before TLS must not be treated as part of the TLS
    // session.
    if !stream.buffer().is_empty() {
        return Err("the server sent more than its response to STARTTLS".to_owned());
    }
    match stream.into_inner().inner {
        Stream::Plain(tcp) => Ok(tcp),
        Stream::Tls(_) => Err("the connection is already encrypted".to_owned()),
    }
}

async fn command(
    stream: &mut BufReader<SmtpStream>,
    command: impl Display,
) -> Result<Response, String> {
    let written = stream.write_all(command.to_string().as_bytes()).await;
    written.map_err(|error| error.to_string())?;
    read_response(stream).await
}

async fn read_response(stream: &mut BufReader<SmtpStream>) -> Result<Response, String> {
    let mut text = String::new();
    loop {
        let start = text.len();
        let read = stream.read_line(&mut text).await.map_err(|error| error.to_string())?;
        if read == 0 {
            return Err("the server closed the connection".to_owned());
        }
        if text.as_bytes().get(start + 3) != Some(&b'-') {
            break;
        }
    }
    let response: Response =
        text.parse().map_err(|_| "the server did not send an SMTP response".to_owned())?;
    if response.is_positive() { Ok(response) } else { Err(describe(&response)) }
}

/// A response as one line: its code and its text.
pub(crate) fn describe(response: &Response) -> String {
    format!("{} {}", response.code(), response.message().collect::<Vec<_>>().join(" "))
}

/// A connection to a mail server that fails when the server sends more than an
/// SMTP response can contain.
#[derive(Debug)]
struct SmtpStream {
    inner: Stream,
    /// Read before anything that the server sends.
    greeting: &'static [u8],
    usage: Usage,
    shortener: Shortener,
}

impl SmtpStream {
    fn new(inner: Stream, greeting: &'static [u8]) -> Self {
        Self { inner, greeting, usage: Usage::default(), shortener: Shortener::default() }
    }
}

impl AsyncTokioStream for SmtpStream {
    fn peer_addr(&self) -> io::Result<SocketAddr> {
        match &self.inner {
            Stream::Plain(tcp) => tcp.peer_addr(),
            Stream::Tls(tls) => tls.get_ref().0.peer_addr(),
        }
    }
}

impl AsyncRead for SmtpStream {
    fn poll_read(
        self: Pin<&mut Self>,
        context: &mut Context<'_>,
        into: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        let this = self.get_mut();
        this.usage.check()?;
        if !this.greeting.is_empty() {
            let (now, later) = this.greeting.split_at(this.greeting.len().min(into.remaining()));
            into.put_slice(now);
            this.greeting = later;
            return Poll::Ready(Ok(()));
        }
        let before = into.filled().len();
        loop {
            ready!(Pin::new(&mut this.inner).poll_read(context, into))?;
            let read = &mut into.filled_mut()[before..];
            if read.is_empty() {
                return Poll::Ready(Ok(()));
            }
            this.usage.add(read);
            this.usage.check()?;
            let passed = this.shortener.shorten(read);
            into.set_filled(before + passed);
            // Nothing at all would mean that the server has closed the connection.
            if passed > 0 {
                return Poll::Ready(Ok(()));
            }
        }
    }
}

impl AsyncWrite for SmtpStream {
    fn poll_write(
        self: Pin<&mut Self>,
        context: &mut Context<'_>,
        bytes: &[u8],
    ) -> Poll<io::Result<usize>> {
        let this = self.get_mut();
        this.usage.check()?;
        let written = ready!(Pin::new(&mut this.inner).poll_write(context, bytes))?;
        this.usage.start_response();
        Poll::Ready(Ok(written))
    }

    fn poll_flush(self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.get_mut().inner).poll_flush(context)
    }

    fn poll_shutdown(self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.get_mut().inner).poll_shutdown(context)
    }
}

/// Leaves out the end of long lines.
#[derive(Debug, Default)]
struct Shortener {
    passed: usize,
    is_cut: bool,
}

impl Shortener {
    /// Moves what is passed on to the front; returns its length.
    fn shorten(&mut self, bytes: &mut [u8]) -> usize {
        let mut kept = 0;
        for at in 0..bytes.len() {
            let byte = bytes[at];
            let is_end = matches!(byte, b'\r' | b'\n');
            // A character is passed on as a whole, or not at all.
            let continues_character = byte & 0xc0 == 0x80;
            self.is_cut |= self.passed >= MAX_PASSED_LINE_BYTES && !continues_character;
            if is_end || !self.is_cut {
                bytes[kept] = byte;
                kept += 1;
                self.passed += 1;
            }
            if byte == b'\n' {
                *self = Self::default();
            }
        }
        kept
    }
}

/// What a server has sent so far. Once exceeded, a limit stays exceeded.
#[derive(Debug, Default)]
struct Usage {
    line: usize,
    response: usize,
    lines: usize,
    session: usize,
    exceeded: Option<Limit>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
enum Limit {
    #[error("the mail server sent a line longer than 2,048 bytes")]
    Line,
    #[error("the mail server sent a response longer than 64 KiB")]
    Response,
    #[error("the mail server sent a response of more than 256 lines")]
    Lines,
    #[error("the mail server sent more than 256 KiB")]
    Session,
}

impl Usage {
    /// A command was sent: the server sends a new response.
    fn start_response(&mut self) {
        (self.line, self.response, self.lines) = (0, 0, 0);
    }

    fn add(&mut self, bytes: &[u8]) {
        self.response = self.response.saturating_add(bytes.len());
        self.session = self.session.saturating_add(bytes.len());
        for part in bytes.split_inclusive(|byte| *byte == b'\n') {
            self.line = self.line.saturating_add(part.len());
            if self.line > MAX_LINE_BYTES {
                self.exceeded.get_or_insert(Limit::Line);
            }
            if part.ends_with(b"\n") {
                self.line = 0;
                self.lines = self.lines.saturating_add(1);
            }
        }
        for (used, max, limit) in [
            (self.lines, MAX_RESPONSE_LINES, Limit::Lines),
            (self.response, MAX_RESPONSE_BYTES, Limit::Response),
            (self.session, MAX_SESSION_BYTES, Limit::Session),
        ] {
            if used > max {
                self.exceeded.get_or_insert(limit);
            }
        }
    }

    fn check(&self) -> io::Result<()> {
        match self.exceeded {
            Some(limit) => Err(io::Error::new(io::ErrorKind::InvalidData, limit)),
            None => Ok(()),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_response_may_not_exceed_its_limits() {
        let line = |length: usize| [vec![b'x'; length - 2], b"\r\n".to_vec()].concat();
        for (bytes, times, exceeded) in [
            (line(MAX_LINE_BYTES), 32, None),
            (line(MAX_LINE_BYTES), 33, Some(Limit::Response)),
            (line(MAX_LINE_BYTES + 1), 1, Some(Limit::Line)),
            (vec![b'x'; MAX_LINE_BYTES + 1], 1, Some(Limit::Line)),
            (vec![b'x'; 1], MAX_LINE_BYTES, None),
            (vec![b'x'; 1], MAX_LINE_BYTES + 1, Some(Limit::Line)),
            (line(6), MAX_RESPONSE_LINES, None),
            (line(6), MAX_RESPONSE_LINES + 1, Some(Limit::Lines)),
        ] {
            let mut usage = Usage::default();
            (0..times).for_each(|_| usage.add(&bytes));
            assert_eq!(usage.exceeded, exceeded, "{times} times {} bytes", bytes.len());
        }
    }

    #[tokio::test]
    async fn a_line_of_2048_bytes_is_read() {
        use tokio::io::AsyncReadExt as _;
        let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await.unwrap();
        let address = listener.local_addr().unwrap();
        let server = async {
            let (mut socket, _) = listener.accept().await.unwrap();
            for code in ["220", "250", "250"] {
                let text = "ü".repeat((MAX_LINE_BYTES - 6) / 2);
                socket.write_all(format!("{code} {text}\r\n").as_bytes()).await.unwrap();
                let _ = socket.read(&mut [0; 512]).await;
            }
        };
        let client = async {
            #[expect(clippy::disallowed_methods, reason = "the server of this test")]
            let tcp = TcpStream::connect(address).await.unwrap();
            let stream = Box::new(SmtpStream::new(Stream::Plain(tcp), b""));
            let opened =
                AsyncSmtpConnection::connect_with_transport(stream, &ClientId::default()).await;
            let mut connection = opened.expect("a session");
            assert!(connection.test_connected().await, "each response is read");
        };
        tokio::join!(server, client);
    }

    #[test]
    fn each_command_allows_a_response_and_all_of_them_are_counted() {
        let mut usage = Usage::default();
        let response = vec![b'\n'; MAX_RESPONSE_LINES];
        let times = MAX_SESSION_BYTES / response.len();
        for _ in 0..times {
            usage.add(&response);
            assert_eq!(usage.exceeded, None);
            usage.start_response();
        }
        usage.add(b"\n");
        assert_eq!(usage.exceeded, Some(Limit::Session));
        usage.start_response();
        assert!(usage.check().is_err(), "it stays exceeded");
    }
}
