//! Telling by mail: the letter is handed to the notifier's own server. The
//! address behind its name passes the egress guard and is the one dialled;
//! the name is what its certificate must be for.

use futures_util::future::BoxFuture;
use lettre::transport::smtp::Error;
use lettre::transport::smtp::client::AsyncSmtpConnection;
use lettre::transport::smtp::commands::{Data, Mail, Rcpt};
use lettre::transport::smtp::extension::{Extension, MailBodyParameter, MailParameter};
use lettre::{Address, Message};
use std::time::Duration;
use wakeful_core::chain::Chain;
use wakeful_core::monitor::spec::Host;
use wakeful_core::notice::retry::{Failure, Outcome};
use wakeful_core::notifier::EmailSpec;

use super::tidy;
use crate::mail::{self, Letter};
use crate::net::tls::Trust;
use crate::net::{Deadline, Net, Target, Trace};
use crate::smtp::{self, Login};

/// All of the conversation, from the name to the last reply.
pub const TOTAL: Duration = Duration::from_secs(30);

/// What happened to a letter does not depend on how the goodbye goes.
pub(crate) const GOODBYE: Duration = Duration::from_secs(1);

/// Hands a letter to the notifier's server, for all of its recipients or for those
/// who are left of an earlier attempt.
pub fn deliver<'a>(
    net: &'a Net,
    spec: &'a EmailSpec,
    letter: &'a Letter,
    left: Option<&'a [String]>,
) -> BoxFuture<'a, Outcome> {
    Box::pin(async move {
        let message = match mail::compose(letter) {
            Ok(message) => message,
            Err(error) => return Outcome::Refused(error.message),
        };
        let is_left = |to: &&Address| left.is_none_or(|left| left.contains(&to.to_string()));
        let whom: Vec<&Address> = message.envelope().to().iter().filter(is_left).collect();
        if whom.is_empty() {
            return Outcome::Delivered(
                "whoever had yet to be told is no recipient any more".into(),
            );
        }
        let by = Deadline::within(TOTAL);
        let talk = async {
            let mut connection = connect(net, spec, by).await?;
            let sent = hand_over(&mut connection, &message, &whom).await;
            Ok::<_, Unsent>((connection, sent))
        };
        match by.limit(talk).await {
            Some(Ok((mut connection, sent))) => {
                let _ = Deadline::within(GOODBYE).limit(connection.quit()).await;
                sent.unwrap_or_else(|unsent| unsent.outcome(spec))
            }
            Some(Err(unsent)) => unsent.outcome(spec),
            None => Outcome::Failed(Failure {
                answer: format!("the mail server did not finish within {}", by.span()),
                retry_after: None,
                overloaded: true,
            }),
        }
    })
}

/// Why a letter was not taken.
struct Unsent {
    permanent: bool,
    message: String,
}

impl Unsent {
    fn passing(message: impl Into<String>) -> Self {
        Self { permanent: false, message: message.into() }
    }

    fn of(error: &Error) -> Self {
        Self { permanent: mail::is_final(error), message: Chain(error).to_string() }
    }

    fn outcome(self, spec: &EmailSpec) -> Outcome {
        let answer = tidy(&format!("{}: {}", spec.hostname.with_port(spec.port), self.message));
        match self.permanent {
            true => Outcome::Refused(answer),
            false => Outcome::failed(answer),
        }
    }
}

/// Speaks of a letter until the server has it, for all of the recipients that it
/// takes: one bad address must not keep the others from being told. The answer is
/// the last reply, with whom it does not go to.
async fn hand_over(
    connection: &mut AsyncSmtpConnection,
    message: &Message,
    whom: &[&Address],
) -> Result<Outcome, Unsent> {
    let refused = |error: Error| Unsent::of(&error);
    let (envelope, text) = (message.envelope(), message.formatted());
    let parameters = parameters(connection, message, &text)?;
    connection.command(Mail::new(envelope.from().cloned(), parameters)).await.map_err(refused)?;
    let mut missed = Vec::new();
    for to in whom {
        match connection.command(Rcpt::new((*to).clone(), Vec::new())).await {
            Ok(_) => {}
            Err(error) if error.status().is_some() => missed.push((to, Unsent::of(&error))),
            Err(error) => return Err(Unsent::of(&error)),
        }
    }
    let why: Vec<String> =
        missed.iter().map(|(to, why)| format!("{to}: {}", why.message)).collect();
    // Who is only put off may be told later.
    let put_off = missed.iter().filter(|(_, why)| !why.permanent);
    let left: Vec<String> = put_off.map(|(to, _)| to.to_string()).collect();
    if missed.len() == whom.len() {
        return Err(Unsent { permanent: left.is_empty(), message: why.join("; ") });
    }
    connection.command(Data).await.map_err(refused)?;
    let reply = connection.message(&text).await.map_err(refused)?;
    let answer = match why.is_empty() {
        true => tidy(&smtp::describe(&reply)),
        false => tidy(&format!("{}; not for {}", smtp::describe(&reply), why.join("; "))),
    };
    Ok(match left.is_empty() {
        true => Outcome::Delivered(answer),
        false => Outcome::Partly { answer, left },
    })
}

/// What the server must be told of the letter beforehand, and must be able to
/// take: addresses (RFC 6531) or text (RFC 6152) beyond ASCII.
fn parameters(
    connection: &AsyncSmtpConnection,
    message: &Message,
    text: &[u8],
) -> Result<Vec<MailParameter>, Unsent> {
    let server = connection.server_info();
    let envelope = message.envelope();
    let mut parameters = Vec::new();
    let mut addresses = envelope.from().into_iter().chain(envelope.to());
    if addresses.any(|one| !one.to_string().is_ascii()) {
        if !server.supports_feature(Extension::SmtpUtfEight) {
            return Err(Unsent::passing(
                "the server does not offer SMTPUTF8, which an address needs that is not in ASCII",
            ));
        }
        parameters.push(MailParameter::SmtpUtfEight);
    }
    if !text.is_ascii() {
        if !server.supports_feature(Extension::EightBitMime) {
            return Err(Unsent::passing("the server takes no text beyond ASCII (8BITMIME)"));
        }
        parameters.push(MailParameter::Body(MailBodyParameter::EightBitMime));
    }
    Ok(parameters)
}

async fn connect(net: &Net, spec: &EmailSpec, by: Deadline) -> Result<AsyncSmtpConnection, Unsent> {
    let host = spec.hostname.host();
    let reached = net.reach(Target::from(host), spec.port, by, &mut Trace::default()).await;
    let tcp = reached.map_err(|trouble| Unsent::passing(trouble.message()))?;
    let login = Login {
        transport: spec.transport(),
        tls_name: &tls_name(host),
        trust: if spec.ignore_tls_errors { Trust::Ignored } else { Trust::Required },
        username: &spec.username,
        password: &spec.password,
    };
    // An error before the message is shown is not an objection to the message.
    smtp::open(net, tcp, &login).await.map_err(Unsent::passing)
}

fn tls_name(host: &Host) -> String {
    match host {
        Host::Name(name) => name.trim_end_matches('.').to_owned(),
        Host::Address(ip) => ip.to_string(),
    }
}
