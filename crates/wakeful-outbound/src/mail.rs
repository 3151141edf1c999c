//! Mail: a letter handed to an SMTP server, or kept as an `.eml` file when
//! there is none. Header injection is impossible: addresses are parsed and
//! header values encoded by the mail library, never pasted.

use futures_util::future::BoxFuture;
use lettre::message::header::{
    ContentTransferEncoding, ContentType, Header, HeaderName, HeaderValue,
};
use lettre::message::{Body, Mailbox, Message, MultiPart, SinglePart};
use lettre::transport::smtp::authentication::Credentials;
use lettre::transport::smtp::client::{Tls, TlsParameters};
use lettre::{AsyncSmtpTransport, AsyncTransport as _, Tokio1Executor};
use std::io;
use std::path::PathBuf;
use std::time::{Duration, SystemTime};
use tokio::io::AsyncWriteExt as _;
use wakeful_core::chain::Chain;
use wakeful_core::secret::Secret;
use wakeful_core::time::Millis;

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
    pub security: Security,
    /// Empty: no authentication.
    pub username: String,
    pub password: Secret,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Security {
    None,
    StartTls,
    Tls,
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
    pub fn send<'a>(&'a self, letter: &'a Letter) -> BoxFuture<'a, Result<Handed, MailError>> {
        Box::pin(async move {
            let message = compose(letter)?;
            match self {
                Self::Folder(folder) => {
                    keep(folder, letter, &message.formatted()).await.map(Handed::File).map_err(
                        |error| MailError::passing(format!("cannot write the mail file: {error}")),
                    )
                }
                Self::Smtp(smtp) => smtp.send(message).await.map(Handed::Server),
            }
        })
    }
}

impl Smtp {
    async fn send(&self, message: Message) -> Result<String, MailError> {
        let transport = self.transport()?;
        let sent = tokio::time::timeout(TIMEOUT, transport.send(message)).await;
        match sent {
            Ok(Ok(reply)) => {
                let words = reply.message().collect::<Vec<_>>().join(" ");
                Ok(format!("{} {words}", reply.code()))
            }
            Ok(Err(error)) => {
                Err(MailError { permanent: is_final(&error), message: self.told(&error) })
            }
            Err(_) => Err(MailError::passing(format!(
                "the mail server {}:{} did not finish within {} s",
                self.host,
                self.port,
                TIMEOUT.as_secs()
            ))),
        }
    }

    fn transport(&self) -> Result<AsyncSmtpTransport<Tokio1Executor>, MailError> {
        let tls = || {
            TlsParameters::new(self.host.clone())
                .map_err(|error| MailError::permanent(self.told(&error)))
        };
        let tls = match self.security {
            Security::None => Tls::None,
            Security::StartTls => Tls::Required(tls()?),
            Security::Tls => Tls::Wrapper(tls()?),
        };
        let mut builder = AsyncSmtpTransport::<Tokio1Executor>::builder_dangerous(&self.host)
            .port(self.port)
            .timeout(Some(TIMEOUT))
            .tls(tls);
        if !self.username.is_empty() {
            let password = self.password.expose().to_owned();
            builder = builder.credentials(Credentials::new(self.username.clone(), password));
        }
        Ok(builder.build())
    }

    /// The library's error with its causes, in one line.
    fn told(&self, error: &dyn std::error::Error) -> String {
        format!("the mail server {}:{} refused: {}", self.host, self.port, Chain(error))
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
    let mailbox = |what: &str, address: &str| -> Result<Mailbox, MailError> {
        address.parse().map_err(|_| MailError::permanent(format!("the {what} address is not one")))
    };
    let date = SystemTime::UNIX_EPOCH + Duration::from_millis(letter.date.0.max(0).cast_unsigned());
    let mut builder = Message::builder()
        .message_id(Some(message_id(&letter.id)))
        .date(date)
        .from(mailbox("sender's", &letter.from)?)
        .subject(&letter.subject)
        .header(AutoSubmitted);
    for to in &letter.to {
        builder = builder.to(mailbox("recipient's", to)?);
    }
    for cc in &letter.cc {
        builder = builder.cc(mailbox("copy's", cc)?);
    }
    for bcc in &letter.bcc {
        builder = builder.bcc(mailbox("blind copy's", bcc)?);
    }
    if let Some(reply_to) = &letter.reply_to {
        builder = builder.reply_to(mailbox("reply", reply_to)?);
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
/// our login or our way to connect (RFC 4954, section 6) is for the operator to
/// set right, and the letter waits.
fn is_final(error: &lettre::transport::smtp::Error) -> bool {
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

    #[test]
    fn what_is_not_plain_is_encoded() {
        for text in ["grüße", &"x".repeat(999)] {
            let (encoding, text) = sent(text);
            assert_ne!(encoding, ContentTransferEncoding::SevenBit, "{text}");
            assert!(text.is_ascii() && text.lines().all(|line| line.len() <= 78), "{text}");
        }
    }
}
