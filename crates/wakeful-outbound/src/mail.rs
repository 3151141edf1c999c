//! Mail: an email is sent to an SMTP server, or stored as an `.eml` file when
//! none is configured. Header injection is impossible: addresses are parsed and
//! header values encoded by the mail library, never concatenated.

use futures_util::future::BoxFuture;
use lettre::address::{Address, Envelope};
use lettre::message::header::{
    Cc, ContentTransferEncoding, ContentType, From, Header, HeaderName, HeaderValue, ReplyTo, To,
};
use lettre::message::{Body, Mailbox, Mailboxes, Message, MultiPart, SinglePart};
use lettre::transport::smtp::client::AsyncSmtpConnection;
use std::io;
use std::path::PathBuf;
use std::time::{Duration, Instant, SystemTime};
use tokio::io::AsyncWriteExt as _;
use tokio::net::TcpStream;
use wakeful_core::Invalid;
use wakeful_core::error_chain::ErrorChain;
use wakeful_core::notifications::notifier::{self, Transport};
use wakeful_core::secret::Secret;
use wakeful_core::time::Millis;

use crate::net::Net;
use crate::net::tls::Trust;
use crate::notify::email::QUIT_TIMEOUT;
use crate::smtp::{self, Login};

/// For a whole SMTP session, from name resolution to the last reply.
pub const SMTP_TIMEOUT: Duration = Duration::from_secs(30);

/// Emails over one connection: servers limit them as well.
const MAX_SESSION_EMAILS: u32 = 100;
/// A connection that was idle for longer is checked before it is used.
const SESSION_IDLE: Duration = Duration::from_secs(5);

/// An email to send.
#[derive(Clone, Debug, Default)]
pub struct Email {
    /// Stable across retries: becomes the Message-ID and the file name.
    pub id: String,
    /// The id of the email that this one follows.
    pub in_reply_to: Option<String>,
    pub date: Millis,
    pub from: String,
    pub to: Vec<String>,
    pub cc: Vec<String>,
    pub bcc: Vec<String>,
    pub reply_to: Option<String>,
    pub subject: String,
    pub text: String,
    /// The same content as HTML.
    pub html: Option<String>,
    /// Set for an email to subscribers.
    pub list: Option<MailingList>,
}

/// The list that an email belongs to, and how to leave it (RFC 2919, RFC 8058).
#[derive(Clone, Debug)]
pub struct MailingList {
    /// Like a host name.
    pub id: String,
    /// A URL that ends the subscription by a POST.
    pub unsubscribe: String,
}

/// Where emails are delivered to.
#[derive(Clone, Debug)]
pub enum MailTransport {
    /// No mail server: each email becomes a file in this folder.
    Folder(PathBuf),
    Smtp(Smtp),
}

#[derive(Clone, Debug)]
pub struct Smtp {
    pub host: String,
    pub port: u16,
    pub transport: Transport,
    /// Empty: no authentication.
    pub username: String,
    pub password: Secret,
}

/// A connection to the mail server that is used for several emails.
#[derive(Default)]
pub struct MailSession(Option<OpenSession>);

struct OpenSession {
    connection: AsyncSmtpConnection,
    sent: u32,
    used: Instant,
}

impl MailSession {
    /// Ends the session properly.
    pub async fn close(&mut self) {
        if let Some(OpenSession { mut connection, .. }) = self.0.take() {
            let _ = tokio::time::timeout(QUIT_TIMEOUT, connection.quit()).await;
        }
    }
}

/// The result of sending an email.
#[derive(Debug)]
pub enum SendReceipt {
    File(PathBuf),
    /// The server's last reply.
    Server(String),
}

#[derive(Debug, thiserror::Error)]
#[error("{message}")]
pub struct MailError {
    /// Sending the same email again cannot succeed.
    pub permanent: bool,
    /// For the operator.
    pub message: String,
    /// The server's reply, if it has refused the email.
    pub reply: Option<String>,
}

impl MailError {
    fn permanent(message: impl Into<String>) -> Self {
        Self { permanent: true, message: message.into(), reply: None }
    }

    fn transient(message: impl Into<String>) -> Self {
        Self { permanent: false, message: message.into(), reply: None }
    }
}

impl MailTransport {
    /// The operator chose the server, so the egress guard of `net` does not apply to it.
    pub fn send<'a>(
        &'a self,
        net: &'a Net,
        email: &'a Email,
    ) -> BoxFuture<'a, Result<SendReceipt, MailError>> {
        Box::pin(async move {
            let mut session = MailSession::default();
            let sent = self.send_within(net, &mut session, email).await;
            // The message has been accepted, whatever the response to QUIT is.
            session.close().await;
            sent
        })
    }

    /// The same over a connection that is used for several emails.
    pub fn send_within<'a>(
        &'a self,
        net: &'a Net,
        session: &'a mut MailSession,
        email: &'a Email,
    ) -> BoxFuture<'a, Result<SendReceipt, MailError>> {
        Box::pin(async move {
            let message = compose(email)?;
            match self {
                Self::Folder(folder) => write_file(folder, email, &message.formatted())
                    .await
                    .map(SendReceipt::File)
                    .map_err(|error| {
                        MailError::transient(format!("cannot write the mail file: {error}"))
                    }),
                Self::Smtp(smtp) => {
                    smtp.send(net, session, &message).await.map(SendReceipt::Server)
                }
            }
        })
    }
}

impl Smtp {
    async fn send(
        &self,
        net: &Net,
        session: &mut MailSession,
        message: &Message,
    ) -> Result<String, MailError> {
        match tokio::time::timeout(SMTP_TIMEOUT, self.submit(net, session, message)).await {
            Ok(sent) => sent,
            Err(_) => Err(MailError::transient(format!(
                "the mail server {}:{} did not finish within {} s",
                self.host,
                self.port,
                SMTP_TIMEOUT.as_secs()
            ))),
        }
    }

    /// After a failure the session is closed.
    async fn submit(
        &self,
        net: &Net,
        session: &mut MailSession,
        message: &Message,
    ) -> Result<String, MailError> {
        let mut open = match session.0.take() {
            Some(mut open) if open.sent < MAX_SESSION_EMAILS => {
                let is_idle = open.used.elapsed() > SESSION_IDLE;
                if is_idle && !open.connection.test_connected().await {
                    self.open(net).await?
                } else {
                    open
                }
            }
            Some(OpenSession { mut connection, .. }) => {
                let _ = tokio::time::timeout(QUIT_TIMEOUT, connection.quit()).await;
                self.open(net).await?
            }
            None => self.open(net).await?,
        };
        let sent = open.connection.send(message.envelope(), &message.formatted()).await;
        let reply = sent.map_err(|error| {
            let why = ErrorChain(&error).to_string();
            let (permanent, refused) = (is_permanent(&error), self.refused(&why));
            MailError { permanent, reply: error.status().map(|_| why), ..refused }
        })?;
        (open.sent, open.used) = (open.sent + 1, Instant::now());
        session.0 = Some(open);
        Ok(smtp::describe(&reply))
    }

    async fn open(&self, net: &Net) -> Result<OpenSession, MailError> {
        let tcp = self.connect().await.map_err(|error| self.refused(&error.to_string()))?;
        let login = Login {
            transport: self.transport,
            tls_name: &self.host,
            trust: Trust::Required,
            username: &self.username,
            password: &self.password,
        };
        let opened = smtp::open(net, tcp, &login).await;
        let connection = opened.map_err(|why| self.refused(&why))?;
        Ok(OpenSession { connection, sent: 0, used: Instant::now() })
    }

    #[expect(clippy::disallowed_methods, reason = "the operator chose this server")]
    async fn connect(&self) -> io::Result<TcpStream> {
        TcpStream::connect((self.host.as_str(), self.port)).await
    }

    fn refused(&self, why: &str) -> MailError {
        MailError::transient(format!("the mail server {}:{} refused: {why}", self.host, self.port))
    }
}

/// Automatic responders must not reply to this (RFC 3834).
#[derive(Clone)]
struct AutoSubmitted;

impl Header for AutoSubmitted {
    fn name() -> HeaderName {
        HeaderName::new_from_ascii_str("Auto-Submitted")
    }

    fn parse(_: &str) -> Result<Self, Box<dyn std::error::Error + Send + Sync>> {
        Ok(Self)
    }

    fn display(&self) -> HeaderValue {
        HeaderValue::new(Self::name(), "auto-generated".to_owned())
    }
}

pub(crate) fn compose(email: &Email) -> Result<Message, MailError> {
    let from = mailbox("sender", &email.from)?;
    let [to, cc, bcc] = [
        mailboxes("recipient", &email.to)?,
        mailboxes("copy", &email.cc)?,
        mailboxes("blind copy", &email.bcc)?,
    ];
    let date = SystemTime::UNIX_EPOCH + Duration::from_millis(email.date.0.max(0).cast_unsigned());
    let mut builder = Message::builder()
        .envelope(envelope(&from, [&to, &cc, &bcc])?)
        .message_id(Some(message_id(&email.id)))
        .date(date)
        .header(From::from(Mailboxes::from(from)))
        .header(To::from(Mailboxes::from(to)))
        .subject(&email.subject)
        .header(AutoSubmitted);
    if !cc.is_empty() {
        builder = builder.header(Cc::from(Mailboxes::from(cc)));
    }
    if let Some(reply_to) = &email.reply_to {
        builder = builder.header(ReplyTo::from(Mailboxes::from(mailbox("reply", reply_to)?)));
    }
    if let Some(in_reply_to) = &email.in_reply_to {
        builder = builder.in_reply_to(message_id(in_reply_to)).references(message_id(in_reply_to));
    }
    if let Some(list) = &email.list {
        for (name, value) in [
            ("List-Id", format!("<{}>", list.id)),
            ("List-Unsubscribe", format!("<{}>", list.unsubscribe)),
            ("List-Unsubscribe-Post", "List-Unsubscribe=One-Click".to_owned()),
        ] {
            builder = builder.raw_header(plain_header(name, value)?);
        }
    }
    let text = body(&email.text);
    match &email.html {
        None => builder.header(ContentType::TEXT_PLAIN).body(text),
        Some(html) => builder.multipart(
            MultiPart::alternative()
                .singlepart(SinglePart::builder().header(ContentType::TEXT_PLAIN).body(text))
                .singlepart(SinglePart::html(html.replace('\n', "\r\n"))),
        ),
    }
    .map_err(|error| MailError::permanent(format!("the message cannot be written: {error}")))
}

/// A header of printable ASCII characters, which is not folded: some receivers read the lines of a
/// URL separately.
fn plain_header(name: &'static str, value: String) -> Result<HeaderValue, MailError> {
    if value.len() > 900 || !value.bytes().all(|byte| (b' '..=b'~').contains(&byte)) {
        return Err(MailError::permanent(format!("the header {name} cannot be written")));
    }
    let name = HeaderName::new_from_ascii_str(name);
    Ok(HeaderValue::dangerous_new_pre_encoded(name, value.clone(), value))
}

/// The envelope: each recipient once, however often they are listed. Built
/// here, because the library would parse the header lines again, and it cannot
/// parse everything that it writes.
fn envelope(from: &Mailbox, groups: [&Vec<Mailbox>; 3]) -> Result<Envelope, MailError> {
    let mut all: Vec<Address> = Vec::new();
    for one in groups.into_iter().flatten() {
        if !all.contains(&one.email) {
            all.push(one.email.clone());
        }
    }
    Envelope::new(Some(from.email.clone()), all)
        .map_err(|_| MailError::permanent("the message has no recipient"))
}

fn mailbox(what: &str, text: &str) -> Result<Mailbox, MailError> {
    notifier::Mailbox::parse(text)
        .ok()
        .and_then(|one| to_lettre(&one))
        .ok_or_else(|| MailError::permanent(format!("the {what} address is invalid")))
}

fn mailboxes(what: &str, texts: &[String]) -> Result<Vec<Mailbox>, MailError> {
    texts.iter().map(|text| mailbox(what, text)).collect()
}

/// The address as written in an email: its name quoted where necessary, its
/// domain in ASCII, so that every mail server understands it.
fn to_lettre(one: &notifier::Mailbox) -> Option<Mailbox> {
    let (user, domain) = one.email.as_str().rsplit_once('@')?;
    let address = if domain.is_ascii() {
        Address::new(user, domain)
    } else {
        Address::new(user, idna::domain_to_ascii(domain).ok()?)
    };
    Some(Mailbox::new(one.name.clone(), address.ok()?))
}

/// Rejects an address that no email can be sent to.
pub fn check_recipient(one: &notifier::Mailbox) -> Result<(), Invalid> {
    match to_lettre(one) {
        Some(_) => Ok(()),
        None => Err(Invalid::new(format!("must contain valid mail addresses: {one} is not valid"))),
    }
}

/// Rejects an address that no email can be sent from. The library parses the
/// sender's header again, and does not accept quotes before the @ there.
pub fn check_sender(one: &notifier::Mailbox) -> Result<(), Invalid> {
    if to_lettre(one).is_some_and(|one| one.to_string().parse::<Mailbox>().is_ok()) {
        Ok(())
    } else {
        Err(Invalid::new("must be a valid sender address"))
    }
}

fn message_id(id: &str) -> String {
    format!("<{id}@wakeful>")
}

/// Plain text is not encoded where RFC 5322 allows it (ASCII, lines up to 998
/// characters): other encodings break long links, and people read these files.
/// The library itself would encode lines of more than 76 characters.
fn body(text: &str) -> Body {
    let text = text.replace("\r\n", "\n").replace('\r', "\n").replace('\n', "\r\n");
    if text.is_ascii() && text.lines().all(|line| line.len() <= 998) {
        return Body::dangerous_pre_encoded(text.into_bytes(), ContentTransferEncoding::SevenBit);
    }
    Body::new(text)
}

/// Whether the server rejected this email permanently. An error about
/// authentication or the connection (RFC 4954, section 6) can be corrected in
/// the settings, so the email is retried.
pub(crate) fn is_permanent(error: &lettre::transport::smtp::Error) -> bool {
    let login = [530, 534, 535, 538];
    error.is_permanent() && !error.status().is_some_and(|code| login.contains(&u16::from(code)))
}

/// Writes the file completely under another name first, so that programs that
/// watch the folder never read a partial email. Only the owner may read it: it
/// may contain a reset link.
async fn write_file(folder: &PathBuf, email: &Email, bytes: &[u8]) -> io::Result<PathBuf> {
    tokio::fs::DirBuilder::new().recursive(true).mode(0o700).create(folder).await?;
    let path = folder.join(format!("{}.eml", email.id));
    let partial = folder.join(format!(".{}.partial", email.id));
    let mut file = tokio::fs::OpenOptions::new()
        .write(true)
        .create(true)
        .truncate(true)
        .mode(0o600)
        .open(&partial)
        .await?;
    file.write_all(bytes).await?;
    file.sync_all().await?;
    tokio::fs::rename(&partial, &path).await?;
    Ok(path)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn sent(text: &str) -> (ContentTransferEncoding, String) {
        let body = body(text);
        (body.encoding(), String::from_utf8(body.into_vec()).expect("ASCII"))
    }

    #[test]
    fn a_long_link_is_not_broken() {
        let link = format!("https://example.com/password#tokenid={}", "a".repeat(300));
        let (encoding, text) = sent(&format!("Open this:\n\n    {link}\n"));
        assert_eq!(encoding, ContentTransferEncoding::SevenBit);
        assert_eq!(text, format!("Open this:\r\n\r\n    {link}\r\n"));
    }

    #[test]
    fn every_line_ends_with_crlf() {
        assert_eq!(sent("a\r\nb\rc\nd").1, "a\r\nb\r\nc\r\nd");
    }

    /// The header lines, unfolded, and the recipients of the envelope.
    fn addressed(from: &str, to: &str) -> (String, String, Vec<String>) {
        let to = notifier::Mailboxes::parse(to).expect("addresses");
        let email = Email {
            id: "1".into(),
            from: from.into(),
            to: to.iter().map(ToString::to_string).collect(),
            ..Email::default()
        };
        let message = compose(&email).unwrap_or_else(|why| panic!("{from} {to}: {why}"));
        let text = String::from_utf8(message.formatted()).expect("ASCII").replace("\r\n ", " ");
        let line = |name: &str| {
            let mut lines = text.lines().filter_map(|line| line.strip_prefix(name));
            lines.next().unwrap_or_default().to_owned()
        };
        let to = message.envelope().to().iter().map(ToString::to_string).collect();
        (line("From: "), line("To: "), to)
    }

    #[test]
    fn names_are_quoted_or_encoded_and_not_parsed_as_addresses() {
        for (text, line) in [
            ("x@example.com", "x@example.com"),
            ("Ops <x@example.com>", "Ops <x@example.com>"),
            ("Ops night <x@example.com>", "\"Ops night\" <x@example.com>"),
            ("a\\b <x@example.com>", r#""a\\b" <x@example.com>"#),
        ] {
            let to_lettre = (line.to_owned(), line.to_owned(), vec!["x@example.com".to_owned()]);
            assert_eq!(addressed(text, text), to_lettre, "{text}");
        }
        for name in ["Ops (night)", "Team: Ops", "Team [prod]", "ops@team", "Ops; Night", "a\"b"] {
            let text = format!("{name} <x@example.com>");
            let (from, to, all) = addressed(&text, &text);
            assert_eq!((from.as_str(), all), (to.as_str(), vec!["x@example.com".to_owned()]));
            assert!(from.ends_with(" <x@example.com>"), "{from}");
            let safe = from.starts_with("=?utf-8?b?") || from.starts_with('"');
            assert!(safe, "{text}: {from}");
        }
    }

    #[test]
    fn an_internationalized_domain_is_written_in_ascii() {
        let (_, line, to) = addressed("x@exämple.com", "Jürgen <y@bücher.example>, x@Exämple.com");
        assert_eq!(to, ["y@xn--bcher-kva.example", "x@xn--exmple-cua.com"]);
        assert!(line.ends_with("<y@xn--bcher-kva.example>, x@xn--exmple-cua.com"), "{line}");
    }

    #[test]
    fn a_quoted_local_part_is_preserved_and_recipients_are_deduplicated() {
        let (_, line, to) =
            addressed("w@example.com", r#""a b"@example.com, x@a.example, x@a.example"#);
        assert_eq!(to, [r#""a b"@example.com"#, "x@a.example"]);
        assert!(line.starts_with(r#""a b"@example.com, "#), "{line}");
    }

    #[test]
    fn an_address_that_cannot_be_used_is_rejected_early() {
        let one = |text: &str| notifier::Mailbox::parse(text).expect("a mailbox");
        for text in ["x@example.com", "Ops (night) <x@example.com>", "x@exämple.com"] {
            assert_eq!(check_sender(&one(text)), Ok(()), "{text}");
            assert_eq!(check_recipient(&one(text)), Ok(()), "{text}");
        }
        let quoted = one(r#""a b"@example.com"#);
        assert_eq!(check_recipient(&quoted), Ok(()));
        assert!(check_sender(&quoted).is_err());
        let invalid = one("x@xn--ä.example");
        assert!(check_recipient(&invalid).is_err() && check_sender(&invalid).is_err());
    }

    #[test]
    fn text_that_is_not_plain_ascii_is_encoded() {
        for text in ["grüße", &"x".repeat(999)] {
            let (encoding, text) = sent(text);
            assert_ne!(encoding, ContentTransferEncoding::SevenBit, "{text}");
            assert!(text.is_ascii() && text.lines().all(|line| line.len() <= 78), "{text}");
        }
    }
}
