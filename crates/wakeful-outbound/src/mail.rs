//! Mail: a letter handed to an SMTP server, or kept as an `.eml` file when
//! there is none. Header injection is impossible: addresses are parsed and
//! header values encoded by the mail library, never pasted.

use futures_util::future::BoxFuture;
use lettre::address::{Address, Envelope};
use lettre::message::header::{
    Cc, ContentTransferEncoding, ContentType, From, Header, HeaderName, HeaderValue, ReplyTo, To,
};
use lettre::message::{Body, Mailbox, Mailboxes, Message, MultiPart, SinglePart};
use lettre::transport::smtp::client::AsyncSmtpConnection;
use std::io;
use std::path::PathBuf;
use std::time::{Duration, SystemTime};
use tokio::io::AsyncWriteExt as _;
use tokio::net::TcpStream;
use wakeful_core::Invalid;
use wakeful_core::chain::Chain;
use wakeful_core::notifier::{self, Transport};
use wakeful_core::secret::Secret;
use wakeful_core::time::Millis;

use crate::net::Net;
use crate::net::tls::Trust;
use crate::notify::email::GOODBYE;
use crate::smtp::{self, Login};

/// All of an SMTP conversation, from the name to the last reply.
const TIMEOUT: Duration = Duration::from_secs(30);

/// One message, ready to go.
#[derive(Clone, Debug, Default)]
pub struct Letter {
    /// Stable over retries: becomes the Message-ID and the file's name.
    pub id: String,
    /// The id of the letter that this one follows.
    pub answers: Option<String>,
    pub date: Millis,
    pub from: String,
    pub to: Vec<String>,
    pub cc: Vec<String>,
    pub bcc: Vec<String>,
    pub reply_to: Option<String>,
    pub subject: String,
    pub text: String,
    /// The same again for programs that show HTML.
    pub html: Option<String>,
}

/// Where letters are handed over.
#[derive(Clone, Debug)]
pub enum Postbox {
    /// No mail server: each letter becomes a file in this folder.
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

/// What became of a letter that was taken.
#[derive(Debug)]
pub enum Handed {
    File(PathBuf),
    /// The server's last reply.
    Server(String),
}

#[derive(Debug, thiserror::Error)]
#[error("{message}")]
pub struct MailError {
    /// Sending the same letter again cannot help.
    pub permanent: bool,
    pub message: String,
}

impl MailError {
    fn permanent(message: impl Into<String>) -> Self {
        Self { permanent: true, message: message.into() }
    }

    fn passing(message: impl Into<String>) -> Self {
        Self { permanent: false, message: message.into() }
    }
}

impl Postbox {
    /// The operator chose the server, so the egress guard of `net` does not apply to it.
    pub fn send<'a>(
        &'a self,
        net: &'a Net,
        letter: &'a Letter,
    ) -> BoxFuture<'a, Result<Handed, MailError>> {
        Box::pin(async move {
            let message = compose(letter)?;
            match self {
                Self::Folder(folder) => {
                    keep(folder, letter, &message.formatted()).await.map(Handed::File).map_err(
                        |error| MailError::passing(format!("cannot write the mail file: {error}")),
                    )
                }
                Self::Smtp(smtp) => smtp.send(net, &message).await.map(Handed::Server),
            }
        })
    }
}

impl Smtp {
    async fn send(&self, net: &Net, message: &Message) -> Result<String, MailError> {
        match tokio::time::timeout(TIMEOUT, self.hand_over(net, message)).await {
            Ok(Ok((mut connection, reply))) => {
                // The message has been accepted, whatever the response to QUIT is.
                let _ = tokio::time::timeout(GOODBYE, connection.quit()).await;
                Ok(reply)
            }
            Ok(Err(error)) => Err(error),
            Err(_) => Err(MailError::passing(format!(
                "the mail server {}:{} did not finish within {} s",
                self.host,
                self.port,
                TIMEOUT.as_secs()
            ))),
        }
    }

    async fn hand_over(
        &self,
        net: &Net,
        message: &Message,
    ) -> Result<(AsyncSmtpConnection, String), MailError> {
        let tcp = self.connect().await.map_err(|error| self.refused(&error.to_string()))?;
        let login = Login {
            transport: self.transport,
            tls_name: &self.host,
            trust: Trust::Required,
            username: &self.username,
            password: &self.password,
        };
        let opened = smtp::open(net, tcp, &login).await;
        let mut connection = opened.map_err(|why| self.refused(&why))?;
        let sent = connection.send(message.envelope(), &message.formatted()).await;
        let reply = sent.map_err(|error| MailError {
            permanent: is_final(&error),
            ..self.refused(&Chain(&error).to_string())
        })?;
        Ok((connection, smtp::describe(&reply)))
    }

    #[expect(clippy::disallowed_methods, reason = "the operator chose this server")]
    async fn connect(&self) -> io::Result<TcpStream> {
        TcpStream::connect((self.host.as_str(), self.port)).await
    }

    fn refused(&self, why: &str) -> MailError {
        MailError::passing(format!("the mail server {}:{} refused: {why}", self.host, self.port))
    }
}

/// Machines that answer mail must not answer this (RFC 3834).
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

pub(crate) fn compose(letter: &Letter) -> Result<Message, MailError> {
    let from = mailbox("sender's", &letter.from)?;
    let [to, cc, bcc] = [
        mailboxes("recipient's", &letter.to)?,
        mailboxes("copy's", &letter.cc)?,
        mailboxes("blind copy's", &letter.bcc)?,
    ];
    let date = SystemTime::UNIX_EPOCH + Duration::from_millis(letter.date.0.max(0).cast_unsigned());
    let mut builder = Message::builder()
        .envelope(envelope(&from, [&to, &cc, &bcc])?)
        .message_id(Some(message_id(&letter.id)))
        .date(date)
        .header(From::from(Mailboxes::from(from)))
        .header(To::from(Mailboxes::from(to)))
        .subject(&letter.subject)
        .header(AutoSubmitted);
    if !cc.is_empty() {
        builder = builder.header(Cc::from(Mailboxes::from(cc)));
    }
    if let Some(reply_to) = &letter.reply_to {
        builder = builder.header(ReplyTo::from(Mailboxes::from(mailbox("reply", reply_to)?)));
    }
    if let Some(answers) = &letter.answers {
        builder = builder.in_reply_to(message_id(answers)).references(message_id(answers));
    }
    let text = body(&letter.text);
    match &letter.html {
        None => builder.header(ContentType::TEXT_PLAIN).body(text),
        Some(html) => builder.multipart(
            MultiPart::alternative()
                .singlepart(SinglePart::builder().header(ContentType::TEXT_PLAIN).body(text))
                .singlepart(SinglePart::html(html.replace('\n', "\r\n"))),
        ),
    }
    .map_err(|error| MailError::permanent(format!("the message cannot be written: {error}")))
}

/// Who gets it: everybody once, however often they are named. Made here, because
/// the library would read the header lines again, and it does not understand all
/// that it writes.
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
        .and_then(|one| written(&one))
        .ok_or_else(|| MailError::permanent(format!("the {what} address is not one")))
}

fn mailboxes(what: &str, texts: &[String]) -> Result<Vec<Mailbox>, MailError> {
    texts.iter().map(|text| mailbox(what, text)).collect()
}

/// The address as it stands in a letter: its name quoted where need be, its
/// domain as name servers know it, so that every mail server understands it.
fn written(one: &notifier::Mailbox) -> Option<Mailbox> {
    let (user, domain) = one.email.as_str().rsplit_once('@')?;
    let address = match domain.is_ascii() {
        true => Address::new(user, domain),
        false => Address::new(user, idna::domain_to_ascii(domain).ok()?),
    };
    Some(Mailbox::new(one.name.clone(), address.ok()?))
}

/// Refuses an address that no letter can be written to.
pub fn check_recipient(one: &notifier::Mailbox) -> Result<(), Invalid> {
    match written(one) {
        Some(_) => Ok(()),
        None => {
            Err(Invalid::new(format!("must hold addresses that mail can go to: {one} is none")))
        }
    }
}

/// Refuses an address that no letter can come from. The library reads the
/// sender's line again, and takes no quotes before the @ there.
pub fn check_sender(one: &notifier::Mailbox) -> Result<(), Invalid> {
    match written(one).is_some_and(|one| one.to_string().parse::<Mailbox>().is_ok()) {
        true => Ok(()),
        false => Err(Invalid::new("must be an address that mail can come from")),
    }
}

fn message_id(id: &str) -> String {
    format!("<{id}@wakeful>")
}

/// Plain text stays as it is where RFC 5322 allows it (ASCII, lines up to 998):
/// other encodings break long links, and people read these files. The library
/// itself encodes from 76 characters a line on.
fn body(text: &str) -> Body {
    let text = text.replace("\r\n", "\n").replace('\r', "\n").replace('\n', "\r\n");
    if text.is_ascii() && text.lines().all(|line| line.len() <= 998) {
        return Body::dangerous_pre_encoded(text.into_bytes(), ContentTransferEncoding::SevenBit);
    }
    Body::new(text)
}

/// Whether the server spoke against this letter for good. What it says against
/// our login or our way to connect (RFC 4954, section 6) is for whoever set it
/// to set right, and the letter waits.
pub(crate) fn is_final(error: &lettre::transport::smtp::Error) -> bool {
    let login = [530, 534, 535, 538];
    error.is_permanent() && !error.status().is_some_and(|code| login.contains(&u16::from(code)))
}

/// Writes the file whole under another name first: who watches the folder
/// never reads half a letter. Others may not read it: it can hold a reset link.
async fn keep(folder: &PathBuf, letter: &Letter, bytes: &[u8]) -> io::Result<PathBuf> {
    tokio::fs::DirBuilder::new().recursive(true).mode(0o700).create(folder).await?;
    let path = folder.join(format!("{}.eml", letter.id));
    let partial = folder.join(format!(".{}.partial", letter.id));
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
    fn every_line_ends_as_mail_wants_it() {
        assert_eq!(sent("a\r\nb\rc\nd").1, "a\r\nb\r\nc\r\nd");
    }

    /// The header line of that name, unfolded, and who gets the letter.
    fn addressed(from: &str, to: &str) -> (String, String, Vec<String>) {
        let to = notifier::Mailboxes::parse(to).expect("addresses");
        let letter = Letter {
            id: "1".into(),
            from: from.into(),
            to: to.iter().map(ToString::to_string).collect(),
            ..Letter::default()
        };
        let message = compose(&letter).unwrap_or_else(|why| panic!("{from} {to}: {why}"));
        let text = String::from_utf8(message.formatted()).expect("ASCII").replace("\r\n ", " ");
        let line = |name: &str| {
            let mut lines = text.lines().filter_map(|line| line.strip_prefix(name));
            lines.next().unwrap_or_default().to_owned()
        };
        let to = message.envelope().to().iter().map(ToString::to_string).collect();
        (line("From: "), line("To: "), to)
    }

    #[test]
    fn names_are_quoted_or_encoded_and_read_by_no_one_as_addresses() {
        for (text, line) in [
            ("x@example.com", "x@example.com"),
            ("Ops <x@example.com>", "Ops <x@example.com>"),
            ("Ops night <x@example.com>", "\"Ops night\" <x@example.com>"),
            ("a\\b <x@example.com>", r#""a\\b" <x@example.com>"#),
        ] {
            let written = (line.to_owned(), line.to_owned(), vec!["x@example.com".to_owned()]);
            assert_eq!(addressed(text, text), written, "{text}");
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
    fn a_domain_in_another_script_is_written_as_name_servers_know_it() {
        let (_, line, to) = addressed("x@exämple.com", "Jürgen <y@bücher.example>, x@Exämple.com");
        assert_eq!(to, ["y@xn--bcher-kva.example", "x@xn--exmple-cua.com"]);
        assert!(line.ends_with("<y@xn--bcher-kva.example>, x@xn--exmple-cua.com"), "{line}");
    }

    #[test]
    fn quotes_before_the_at_sign_stay_and_everybody_gets_it_once() {
        let (_, line, to) =
            addressed("w@example.com", r#""a b"@example.com, x@a.example, x@a.example"#);
        assert_eq!(to, [r#""a b"@example.com"#, "x@a.example"]);
        assert!(line.starts_with(r#""a b"@example.com, "#), "{line}");
    }

    #[test]
    fn what_can_never_be_sent_is_known_before() {
        let one = |text: &str| notifier::Mailbox::parse(text).expect("in form");
        for text in ["x@example.com", "Ops (night) <x@example.com>", "x@exämple.com"] {
            assert_eq!(check_sender(&one(text)), Ok(()), "{text}");
            assert_eq!(check_recipient(&one(text)), Ok(()), "{text}");
        }
        let quoted = one(r#""a b"@example.com"#);
        assert_eq!(check_recipient(&quoted), Ok(()));
        assert!(check_sender(&quoted).is_err());
        let nowhere = one("x@xn--ä.example");
        assert!(check_recipient(&nowhere).is_err() && check_sender(&nowhere).is_err());
    }

    #[test]
    fn what_is_not_plain_is_encoded() {
        for text in ["grüße", &"x".repeat(999)] {
            let (encoding, text) = sent(text);
            assert_ne!(encoding, ContentTransferEncoding::SevenBit, "{text}");
            assert!(text.is_ascii() && text.lines().all(|line| line.len() <= 78), "{text}");
        }
    }
}
