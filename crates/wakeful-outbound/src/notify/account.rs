//! Notification of a user by the service's own mail. Nothing is sent to an address that its
//! owner has not verified. The user sees the reply of the mail server, but not which server
//! the operator uses.

use wakeful_core::error_chain::ErrorChain;
use wakeful_core::id::TeamId;
use wakeful_core::notifications::event::Event;
use wakeful_core::notifications::notifier::account::UNVERIFIED;
use wakeful_core::notifications::notifier::{AccountSpec, Subject};
use wakeful_core::notifications::recipients::Recipients;
use wakeful_core::notifications::retry::Outcome;
use wakeful_core::time::Millis;

use super::email_template::{self, Envelope};
use super::{Attempt, sanitize};
use crate::mail::{Email, MailError, MailTransport, SendReceipt};
use crate::net::Net;

pub use crate::mail::SMTP_TIMEOUT as TIMEOUT;

/// The answer for a mail that became a file, because the operator has no mail server.
const WRITTEN: &str = "written to a file: the service has no mail server";

/// The service's own mail.
#[derive(Clone, Copy, Debug)]
pub struct ServiceMail<'a> {
    pub transport: &'a MailTransport,
    pub from: &'a str,
}

impl ServiceMail<'_> {
    /// The addresses of an email to a user, with the standard subject.
    pub fn envelope(&self, account: &AccountSpec) -> Envelope {
        Envelope {
            from: self.from.to_owned(),
            to: vec![account.email.clone()],
            subject: Subject::default(),
            ..Envelope::default()
        }
    }
}

/// Sends an email to a user.
pub async fn deliver(
    net: &Net,
    mail: ServiceMail<'_>,
    account: &AccountSpec,
    email: &Email,
) -> Attempt {
    if !account.verified {
        return Outcome::failed(UNVERIFIED).into();
    }
    match mail.transport.send(net, email).await {
        Ok(receipt) => {
            let outcome = Outcome::Delivered(match receipt {
                SendReceipt::File(_) => WRITTEN.to_owned(),
                SendReceipt::Server(reply) => sanitize(&reply),
            });
            let recipients = Some(Recipients { total: 1, refused: Vec::new() });
            Attempt { recipients, ..outcome.into() }
        }
        Err(error) => failed(&error, email).into(),
    }
}

fn failed(error: &MailError, email: &Email) -> Outcome {
    let id = &email.id;
    tracing::warn!(email.id = %id, error = %ErrorChain(error), "sending email {id} to a user failed");
    let answer = match &error.reply {
        Some(reply) => sanitize(&format!("the service's mail server replied: {reply}")),
        None => "the service's mail server cannot be used at the moment".to_owned(),
    };
    if error.permanent { Outcome::Refused(answer) } else { Outcome::failed(answer) }
}

/// Sends an email about one event.
pub(super) async fn deliver_event(
    net: &Net,
    mail: ServiceMail<'_>,
    team: TeamId,
    account: &AccountSpec,
    event: &Event,
    link: &str,
    now: Millis,
) -> Attempt {
    let to = mail.envelope(account);
    let email = email_template::event_email(net.renderers(), team, to, event, link, None, now);
    deliver(net, mail, account, &email.await).await
}
