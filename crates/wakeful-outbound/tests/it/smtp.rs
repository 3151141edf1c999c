//! Mail servers that send more than an SMTP response can contain, at every
//! point of a session and on both sides of STARTTLS: the connection ends at
//! once, and little of what they send is read.

use data_encoding::BASE64;
use rustls::pki_types::PrivateKeyDer;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;
use tokio::io::{AsyncBufReadExt as _, AsyncRead, AsyncWrite, AsyncWriteExt as _, BufReader};
use tokio::time::Instant;
use tokio_rustls::TlsAcceptor;
use wakeful_core::monitors::spec::Hostname;
use wakeful_core::notifications::notifier::{
    EmailSpec, Mailbox, Mailboxes, Security, Subject, Transport,
};
use wakeful_core::notifications::retry::Outcome;
use wakeful_core::secret::Secret;
use wakeful_outbound::mail::{Email, MailTransport, Smtp};
use wakeful_outbound::notify::email;
use wakeful_testkit::{SmtpSecurity, SmtpServer};

use crate::servers::{TestServer, net};

/// More than the kernel may buffer between the server and us. The server stops
/// here, so that a client without limits fails the test by its time.
const MAX_SENT: usize = 64 << 20;
/// A session may take 30 s; these end as soon as a limit is exceeded.
const MAX_TIME: Duration = Duration::from_secs(10);
/// The mail library rejects longer lines once it has read them.
const MAX_LIBRARY_LINE: usize = 1_000;

/// The commands in the order of a session; the greeting and the message have none.
const PLAIN_STEPS: [&str; 6] = ["greeting", "EHLO", "MAIL", "RCPT", "DATA", "message"];
const STARTTLS_STEPS: [&str; 4] = ["greeting", "EHLO", "STARTTLS", "EHLO in TLS"];

/// Sends `flood` endlessly at one step of the session, and counts what it sent.
#[derive(Clone)]
struct Hostile {
    step: &'static str,
    flood: &'static [u8],
    offers_starttls: bool,
    sent: Arc<AtomicUsize>,
}

impl Hostile {
    async fn start(
        step: &'static str,
        flood: &'static [u8],
        offers_starttls: bool,
    ) -> (Self, TestServer) {
        let hostile = Self { step, flood, offers_starttls, sent: Arc::default() };
        let (server, tls) = (hostile.clone(), acceptor());
        let peer = TestServer::new(move |tcp| {
            let (server, tls) = (server.clone(), tls.clone());
            async move {
                let Some(tcp) = server.talk(tcp, false).await? else { return Ok(()) };
                server.talk(tls.accept(tcp).await?, true).await.map(drop)
            }
        })
        .await;
        (hostile, peer)
    }

    /// Responds until the client leaves, or returns the connection to encrypt
    /// it.
    async fn talk<S>(&self, stream: S, encrypted: bool) -> std::io::Result<Option<S>>
    where
        S: AsyncRead + AsyncWrite + Unpin,
    {
        let mut stream = BufReader::new(stream);
        if !encrypted {
            self.say(&mut stream, "greeting", "220 mail.example").await?;
        }
        loop {
            let mut line = String::new();
            if stream.read_line(&mut line).await? == 0 {
                return Ok(None);
            }
            match line.split([' ', '\r']).next().unwrap_or_default() {
                "EHLO" if encrypted => self.say(&mut stream, "EHLO in TLS", "250 fine").await?,
                "EHLO" if self.offers_starttls => {
                    self.say(&mut stream, "EHLO", "250-mail.example\r\n250 STARTTLS").await?;
                }
                "STARTTLS" => {
                    self.say(&mut stream, "STARTTLS", "220 go ahead").await?;
                    return Ok(Some(stream.into_inner()));
                }
                "DATA" => {
                    self.say(&mut stream, "DATA", "354 go on").await?;
                    while line != ".\r\n" {
                        line.clear();
                        stream.read_line(&mut line).await?;
                    }
                    self.say(&mut stream, "message", "250 accepted").await?;
                }
                command => self.say(&mut stream, command, "250 fine").await?,
            }
        }
    }

    async fn say<S>(&self, stream: &mut S, step: &str, reply: &str) -> std::io::Result<()>
    where
        S: AsyncWrite + Unpin,
    {
        if step != self.step {
            return stream.write_all(format!("{reply}\r\n").as_bytes()).await;
        }
        let flood = self.flood.repeat(1 + 65_536 / self.flood.len());
        while self.sent.load(Ordering::SeqCst) < MAX_SENT {
            stream.write_all(&flood).await?;
            stream.flush().await?;
            self.sent.fetch_add(flood.len(), Ordering::SeqCst);
        }
        std::future::pending().await
    }
}

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

fn notifier(port: u16, security: &str) -> EmailSpec {
    EmailSpec {
        hostname: Hostname::parse("127.0.0.1").unwrap(),
        port,
        security: Security::parse(security).unwrap(),
        ignore_tls_errors: true,
        username: String::new(),
        password: Secret::new(""),
        from_email: Mailbox::parse("wakeful@example.com").unwrap(),
        to_email: Mailboxes::parse("ann@example.com").unwrap(),
        to_cc: Mailboxes::default(),
        to_bcc: Mailboxes::default(),
        subject: Subject::default(),
    }
}

fn message() -> Email {
    Email {
        id: "1".into(),
        from: "wakeful@example.com".into(),
        to: vec!["ann@example.com".into()],
        subject: "Hello".into(),
        text: "Hello".into(),
        ..Email::default()
    }
}

/// Sends through a notifier's hostile server; returns the reason why that
/// failed.
async fn attack(step: &'static str, flood: &'static [u8], security: &str) -> String {
    let (hostile, peer) = Hostile::start(step, flood, security == "tls").await;
    let began = Instant::now();
    let spec = notifier(peer.addr.port(), security);
    let outcome = email::deliver(&net(), &spec, &message(), None).await.outcome;
    let (took, sent) = (began.elapsed(), hostile.sent.load(Ordering::SeqCst));
    assert!(took < MAX_TIME, "{step} with {security}: took {took:?}");
    assert!(sent < MAX_SENT, "{step} with {security}: {sent} bytes were sent");
    assert!(matches!(outcome, Outcome::Failed(_)), "{step} with {security}: {outcome:?}");
    outcome.answer().to_owned()
}

#[tokio::test]
async fn an_endless_line_ends_the_connection_at_every_step() {
    for (security, steps) in [("none", &PLAIN_STEPS[..]), ("tls", &STARTTLS_STEPS[..])] {
        for step in steps {
            let why = attack(step, b"250-xxxxxxxxxxxx", security).await;
            let words = "the mail server sent a line longer than 2,048 bytes";
            assert!(why.ends_with(words), "{step} with {security}: {why}");
        }
    }
}

#[tokio::test]
async fn endless_continuation_lines_end_the_connection_at_every_step() {
    for (security, steps) in [("none", &PLAIN_STEPS[..]), ("tls", &STARTTLS_STEPS[..])] {
        for step in steps {
            let why = attack(step, b"250-x\r\n", security).await;
            let words = "the mail server sent a response of more than 256 lines";
            assert!(why.ends_with(words), "{step} with {security}: {why}");
        }
    }
}

#[tokio::test]
async fn a_response_of_long_lines_ends_the_connection() {
    static LONG: [u8; 500] = {
        let mut line = [b'x'; 500];
        (line[0], line[1], line[2], line[3]) = (b'2', b'5', b'0', b'-');
        (line[498], line[499]) = (b'\r', b'\n');
        line
    };
    let why = attack("EHLO", &LONG, "none").await;
    assert!(why.ends_with("the mail server sent a response longer than 64 KiB"), "{why}");
}

#[tokio::test]
async fn the_services_own_mail_server_has_the_same_limits() {
    for (transport, step) in [(Transport::Plain, "RCPT"), (Transport::StartTls, "STARTTLS")] {
        let starttls = transport == Transport::StartTls;
        let (hostile, peer) = Hostile::start(step, b"x", starttls).await;
        let postbox = MailTransport::Smtp(Smtp {
            host: "127.0.0.1".into(),
            port: peer.addr.port(),
            transport,
            username: String::new(),
            password: Secret::new(""),
        });
        let began = Instant::now();
        let error = postbox.send(&net(), &message()).await.unwrap_err();
        assert!(!error.permanent, "{error}");
        assert!(error.message.ends_with("a line longer than 2,048 bytes"), "{error}");
        assert!(began.elapsed() < MAX_TIME && hostile.sent.load(Ordering::SeqCst) < MAX_SENT);
    }
}

#[tokio::test]
async fn a_verbose_server_within_the_limits_gets_its_mail() {
    let inbox = SmtpServer::start(SmtpSecurity::Plain).await;
    // Longer than RFC 5321 allows, and as long as the mail library accepts.
    let long = format!("250-{}\r\n", "x".repeat(MAX_LIBRARY_LINE - 6));
    inbox.reply_to("EHLO", &format!("{}250 8BITMIME", long.repeat(20)));
    inbox.reply_to("MAIL", &format!("{}250 fine", "250-x\r\n".repeat(255)));
    let outcome =
        email::deliver(&net(), &notifier(inbox.port, "none"), &message(), None).await.outcome;
    assert_eq!(outcome, Outcome::Delivered("250 2.0.0 taken as 1".into()));
}

/// Everybody in the team sees what the server said.
#[tokio::test]
async fn a_login_that_a_server_repeats_is_not_shown() {
    let peer = TestServer::new(async |tcp| {
        let mut stream = BufReader::new(tcp);
        stream.write_all(b"220 mail.example\r\n").await?;
        loop {
            let mut line = String::new();
            if stream.read_line(&mut line).await? == 0 {
                return Ok(());
            }
            let reply = match line.trim_end() {
                ehlo if ehlo.starts_with("EHLO") => "250-mail.example\r\n250 AUTH PLAIN\r\n".into(),
                other => format!("535 sentinel-pw {other}\r\n"),
            };
            stream.write_all(reply.as_bytes()).await?;
        }
    })
    .await;
    let mut spec = notifier(peer.addr.port(), "none");
    (spec.username, spec.password) = ("ann".into(), Secret::new("sentinel-pw"));
    let outcome = email::deliver(&net(), &spec, &message(), None).await.outcome;
    let (answer, plain) = (outcome.answer(), BASE64.encode(b"\0ann\0sentinel-pw"));
    assert!(answer.contains("*** AUTH PLAIN ***"), "{answer}");
    assert!(!answer.contains("sentinel") && !answer.contains(&plain), "{answer}");
}

#[tokio::test]
async fn plain_text_after_starttls_is_not_read_inside_tls() {
    let peer = TestServer::new(|tcp| async move {
        let mut stream = BufReader::new(tcp);
        stream.write_all(b"220 mail.example\r\n").await?;
        for reply in ["250 STARTTLS\r\n", "220 go ahead\r\n250 AUTH PLAIN\r\n"] {
            stream.read_line(&mut String::new()).await?;
            stream.write_all(reply.as_bytes()).await?;
        }
        std::future::pending().await
    })
    .await;
    let spec = notifier(peer.addr.port(), "tls");
    let outcome = email::deliver(&net(), &spec, &message(), None).await.outcome;
    let words = "sent more than its response to STARTTLS";
    assert!(outcome.answer().contains(words), "{outcome:?}");
}
