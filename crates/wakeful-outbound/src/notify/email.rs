//! Notification by email: the email is sent through the notifier's own server.
//! The address of the server passes the egress guard and is the one connected
//! to; the certificate must be for its name.

use futures_util::future::BoxFuture;
use lettre::transport::smtp::Error;
use lettre::transport::smtp::client::AsyncSmtpConnection;
use lettre::transport::smtp::commands::{Data, Mail, Rcpt};
use lettre::transport::smtp::extension::{Extension, MailBodyParameter, MailParameter};
use lettre::{Address, Message};
use std::error::Error as _;
use std::time::Duration;
use wakeful_core::Invalid;
use wakeful_core::error_chain::ErrorChain;
use wakeful_core::id::TeamId;
use wakeful_core::monitors::spec::Host;
use wakeful_core::notifications::event::Event;
use wakeful_core::notifications::notifier::{EmailSpec, Mailboxes, Subject};
use wakeful_core::notifications::recipients::{Recipients, RefusedRecipient};
use wakeful_core::notifications::retry::{Failure, Outcome};
use wakeful_core::time::Millis;

use super::hidden::Hidden;
use super::{Attempt, Preview, Validated, email_template, sanitize, template};
use crate::mail::{self, Email};
use crate::net::guard::Guard;
use crate::net::tls::Trust;
use crate::net::{Deadline, Net, Target, Trace};
use crate::smtp::{self, Login};

/// For the whole session, from name resolution to the last reply.
pub const TIMEOUT: Duration = Duration::from_secs(30);

/// How much of a reply is stored for each recipient: there may be 150 of them.
const MAX_REPLY_LENGTH: usize = 200;

/// The outcome of an email does not depend on the response to QUIT.
pub(crate) const QUIT_TIMEOUT: Duration = Duration::from_secs(1);

/// Sends an email through the notifier's server, to all of its recipients or to
/// those left from an earlier attempt.
pub fn deliver<'a>(
    net: &'a Net,
    spec: &'a EmailSpec,
    email: &'a Email,
    left: Option<&'a [String]>,
) -> BoxFuture<'a, Attempt> {
    Box::pin(async move {
        let message = match mail::compose(email) {
            Ok(message) => message,
            Err(error) => return Outcome::Refused(error.message).into(),
        };
        let is_left = |to: &&Address| left.is_none_or(|left| left.contains(&to.to_string()));
        let recipients: Vec<&Address> = message.envelope().to().iter().filter(is_left).collect();
        if recipients.is_empty() {
            return Outcome::Delivered(
                "the deferred recipients have been removed from the notifier".into(),
            )
            .into();
        }
        let (deadline, hidden) = (Deadline::within(TIMEOUT), login(spec));
        let conversation = async {
            let mut connection = connect(net, spec, deadline).await?;
            let sent = submit(&mut connection, &message, &recipients, &hidden).await;
            Ok::<_, SendFailure>((connection, sent))
        };
        match deadline.limit(conversation).await {
            Some(Ok((mut connection, sent))) => {
                let _ = Deadline::within(QUIT_TIMEOUT).limit(connection.quit()).await;
                sent.unwrap_or_else(|failure| failure.attempt(spec, &hidden))
            }
            Some(Err(failure)) => failure.attempt(spec, &hidden),
            None => Outcome::Failed(Failure {
                answer: format!("the mail server did not finish within {}", deadline.span()),
                overloaded: true,
                ..Failure::default()
            })
            .into(),
        }
    })
}

/// The login, in the forms in which the server gets it.
fn login(spec: &EmailSpec) -> Hidden {
    let (user, password) = (spec.username.as_str(), spec.password.expose());
    if password.is_empty() {
        return Hidden::default();
    }
    let plain = format!("\0{user}\0{password}");
    Hidden::new([password, plain.as_str()].into_iter())
}

/// Sends an email about one event.
pub(super) async fn deliver_event(
    net: &Net,
    team: TeamId,
    spec: &EmailSpec,
    event: &Event,
    link: &str,
    now: Millis,
) -> Attempt {
    let renderers = net.renderers();
    let email = email_template::event_email(renderers, team, spec, event, link, None, now).await;
    deliver(net, spec, &email, None).await
}

pub(super) fn validate(guard: &Guard, spec: &EmailSpec) -> Validated {
    let recipients = |all: &Mailboxes| all.iter().try_for_each(mail::check_recipient);
    vec![
        ("email.hostname", guard.validate_host(&spec.hostname, spec.port)),
        ("email.from_email", mail::check_sender(&spec.from_email)),
        ("email.to_email", recipients(&spec.to_email)),
        ("email.to_cc", recipients(&spec.to_cc)),
        ("email.to_bcc", recipients(&spec.to_bcc)),
    ]
}

/// An email with this template as its subject, or the standard one when it is
/// empty.
pub(super) fn preview(subject: &Subject, event: &Event, link: &str) -> Result<Preview, Invalid> {
    subject.template().map_or(Ok(()), template::check)?;
    let (body, html) = email_template::render(event, link);
    Ok(Preview {
        subject: Some(email_template::subject(subject, event, link)),
        content_type: "text/plain; charset=utf-8",
        body,
        html: Some(html),
        requests: Vec::new(),
    })
}

/// Why an email was not accepted.
struct SendFailure {
    permanent: bool,
    message: String,
    /// Set when the server has accepted no recipient.
    recipients: Option<Recipients>,
}

impl SendFailure {
    fn transient(message: impl Into<String>) -> Self {
        Self { permanent: false, message: message.into(), recipients: None }
    }

    fn of(error: &Error) -> Self {
        let (permanent, message) = (mail::is_permanent(error), ErrorChain(error).to_string());
        Self { permanent, message, recipients: None }
    }

    fn attempt(self, spec: &EmailSpec, hidden: &Hidden) -> Attempt {
        let why = hidden.hide(&self.message);
        let answer = sanitize(&format!("{}: {why}", spec.hostname.with_port(spec.port)));
        let outcome =
            if self.permanent { Outcome::Refused(answer) } else { Outcome::failed(answer) };
        Attempt { recipients: self.recipients, ..outcome.into() }
    }
}

/// Submits an email for all of the recipients that the server accepts: one bad
/// address must not prevent delivery to the others. The answer is the last
/// reply, with the recipients that were not accepted.
async fn submit(
    connection: &mut AsyncSmtpConnection,
    message: &Message,
    recipients: &[&Address],
    hidden: &Hidden,
) -> Result<Attempt, SendFailure> {
    let refused = |error: Error| SendFailure::of(&error);
    let (envelope, text) = (message.envelope(), message.formatted());
    let parameters = parameters(connection, message, &text)?;
    connection.command(Mail::new(envelope.from().cloned(), parameters)).await.map_err(refused)?;
    let mut rejected = Vec::new();
    let mut accounted = Recipients { total: recipients.len(), refused: Vec::new() };
    for to in recipients {
        match connection.command(Rcpt::new((*to).clone(), Vec::new())).await {
            Ok(_) => {}
            Err(error) if error.status().is_some() => {
                accounted.refused.push(refused_recipient(to, &error, hidden));
                rejected.push((to, SendFailure::of(&error)));
            }
            Err(error) => return Err(SendFailure::of(&error)),
        }
    }
    let why: Vec<String> =
        rejected.iter().map(|(to, why)| format!("{to}: {}", why.message)).collect();
    // Deferred recipients are retried later.
    let deferred = rejected.iter().filter(|(_, why)| !why.permanent);
    let left: Vec<String> = deferred.map(|(to, _)| to.to_string()).collect();
    if rejected.len() == recipients.len() {
        let (permanent, message) = (left.is_empty(), why.join("; "));
        return Err(SendFailure { permanent, message, recipients: Some(accounted) });
    }
    connection.command(Data).await.map_err(refused)?;
    let reply = connection.message(&text).await.map_err(refused)?;
    let answer = if why.is_empty() {
        smtp::describe(&reply)
    } else {
        format!("{}; not accepted for {}", smtp::describe(&reply), why.join("; "))
    };
    let answer = sanitize(&hidden.hide(&answer));
    let outcome = if left.is_empty() {
        Outcome::Delivered(answer)
    } else {
        Outcome::Partial { answer, left, retry_after: None }
    };
    Ok(Attempt { recipients: Some(accounted), ..outcome.into() })
}

/// A recipient with the server's reply, such as `550 5.1.1 no such user`.
fn refused_recipient(to: &Address, error: &Error, hidden: &Hidden) -> RefusedRecipient {
    let code = error.status().map(|code| code.to_string()).unwrap_or_default();
    let text = error.source().map(ToString::to_string).unwrap_or_default();
    let reply = sanitize(&hidden.hide(&format!("{code} {text}")));
    let answer = reply.chars().take(MAX_REPLY_LENGTH).collect();
    RefusedRecipient { address: to.to_string(), answer }
}

/// The parameters of the MAIL command, and the extensions they require: for
/// addresses (RFC 6531) and for text (RFC 6152) beyond ASCII.
fn parameters(
    connection: &AsyncSmtpConnection,
    message: &Message,
    text: &[u8],
) -> Result<Vec<MailParameter>, SendFailure> {
    let server = connection.server_info();
    let envelope = message.envelope();
    let mut parameters = Vec::new();
    let mut addresses = envelope.from().into_iter().chain(envelope.to());
    if addresses.any(|one| !one.to_string().is_ascii()) {
        if !server.supports_feature(Extension::SmtpUtfEight) {
            return Err(SendFailure::transient(
                "the server does not support SMTPUTF8, which non-ASCII addresses require",
            ));
        }
        parameters.push(MailParameter::SmtpUtfEight);
    }
    if !text.is_ascii() {
        if !server.supports_feature(Extension::EightBitMime) {
            return Err(SendFailure::transient("the server does not support 8BITMIME"));
        }
        parameters.push(MailParameter::Body(MailBodyParameter::EightBitMime));
    }
    Ok(parameters)
}

async fn connect(
    net: &Net,
    spec: &EmailSpec,
    deadline: Deadline,
) -> Result<AsyncSmtpConnection, SendFailure> {
    let host = spec.hostname.host();
    let reached =
        net.connect_to(Target::from(host), spec.port, deadline, &mut Trace::default()).await;
    let tcp = reached.map_err(|failure| SendFailure::transient(failure.message()))?;
    let login = Login {
        transport: spec.transport(),
        tls_name: &tls_name(host),
        trust: if spec.ignore_tls_errors { Trust::Ignored } else { Trust::Required },
        username: &spec.username,
        password: &spec.password,
    };
    // An error before the message is transmitted is not a rejection of the
    // message.
    smtp::open(net, tcp, &login).await.map_err(SendFailure::transient)
}

fn tls_name(host: &Host) -> String {
    match host {
        Host::Name(name) => name.trim_end_matches('.').to_owned(),
        Host::Address(ip) => ip.to_string(),
    }
}
