//! The texts of the service's own mail.

use wakeful_core::access::Role;
use wakeful_core::email_address::EmailAddress;
use wakeful_core::id::{AlertId, MailId};
use wakeful_core::one_line::one_line;
use wakeful_core::secret::Secret;
use wakeful_core::statuspages::page::DomainRecord;
use wakeful_store::{DueDomain, ExpiringKey, Mail};

use crate::{Engine, Settings, random};

/// Characters of the name of a monitor and of a cause in a mail.
const MAX_SUBJECT: usize = 200;
const MAX_CAUSE: usize = 1_000;

/// A subject and a text, without a recipient.
#[derive(Clone)]
pub(crate) struct EmailText {
    pub(crate) subject: String,
    pub(crate) text: String,
}

impl Engine {
    /// A mail to this address, ready for the queue.
    pub(crate) fn new_mail(&self, to: &str, content: EmailText) -> Mail {
        Mail {
            id: MailId::new(self.now(), random::bytes()),
            to: to.to_owned(),
            reply_to: None,
            subject: content.subject,
            text: content.text,
        }
    }
}

pub(crate) fn welcome(settings: &Settings, email: &EmailAddress, token: &Secret) -> EmailText {
    let url = &settings.public_url;
    let link = verification_link(settings, token);
    EmailText {
        subject: "Welcome to Wakeful".into(),
        text: format!(
            "Welcome to Wakeful.\n\n\
             Your account {email} is ready:\n\n    {url}\n\n\
             To get notifications at this address, verify it with this link. It works once and\n\
             expires in seven days:\n\n    \
             {link}\n\n\
             If you did not sign up, someone may have mistyped their address. You can ignore\n\
             this mail.\n"
        ),
    }
}

/// To a user who has no personal notifier.
pub(crate) fn alert_assigned(
    settings: &Settings,
    monitor: &str,
    cause: &str,
    by: &str,
    alert: AlertId,
) -> EmailText {
    let url = &settings.public_url;
    EmailText {
        subject: one_line(&format!("[Wakeful] {monitor} was assigned to you"), MAX_SUBJECT),
        text: format!(
            "{by} assigned an alert of {monitor} to you:\n\n    {}\n\n\
             Open it here:\n\n    {url}/alert/{alert}\n",
            one_line(cause, MAX_CAUSE)
        ),
    }
}

/// The link to verify an address. The token is in the fragment, as in a reset link.
fn verification_link(settings: &Settings, token: &Secret) -> String {
    format!("{}/verify#token={}", settings.public_url, token.expose())
}

pub(crate) fn verification(settings: &Settings, email: &str, token: &Secret) -> EmailText {
    let link = verification_link(settings, token);
    EmailText {
        subject: "Verify your email address".into(),
        text: format!(
            "The Wakeful account {email} is to get notifications at this address.\n\n\
             To verify it, open this link. It works once and expires in seven days:\n\n    \
             {link}\n\n\
             If this is not your account, ignore this mail. No notifications are sent to an\n\
             address that is not verified.\n"
        ),
    }
}

pub(crate) fn confirm_signup(
    settings: &Settings,
    email: &EmailAddress,
    token: &Secret,
) -> EmailText {
    let link = verification_link(settings, token);
    EmailText {
        subject: "Confirm your Wakeful account".into(),
        text: format!(
            "Someone has signed up for Wakeful as {email}.\n\n\
             To create the account, open this link. It works once and expires in seven days:\n\n    \
             {link}\n\n\
             Then log in with the password that was chosen at sign-up. If you did not sign up,\n\
             ignore this mail. No account is created.\n"
        ),
    }
}

/// The link of an invitation. The token is in the fragment, as in a reset link.
pub(crate) fn invitation_link(settings: &Settings, token: &Secret) -> String {
    format!("{}/join#token={}", settings.public_url, token.expose())
}

pub(crate) fn invitation(
    settings: &Settings,
    inviter: &str,
    team: &str,
    role: Role,
    token: &Secret,
) -> EmailText {
    let link = invitation_link(settings, token);
    let (team, role) = (one_line(team, usize::MAX), role.as_str());
    EmailText {
        subject: format!("Join {team} on Wakeful"),
        text: format!(
            "{inviter} has invited you to the team \"{team}\" on Wakeful, as {role}.\n\n\
             To join, open this link. It works once and expires in seven days:\n\n    \
             {link}\n\n\
             If you do not know {inviter}, ignore this mail. No account is created unless you\n\
             accept.\n"
        ),
    }
}

/// The link to use a reset token. The token is in the fragment: browsers do not send that
/// part to servers, and a mail scanner that follows the link does not use it up.
pub(crate) fn reset_link(settings: &Settings, token: &Secret) -> String {
    format!("{}/password#tokenid={}", settings.public_url, token.expose())
}

pub(crate) fn reset(settings: &Settings, email: &str, token: &Secret) -> EmailText {
    let url = &settings.public_url;
    let link = reset_link(settings, token);
    let token = token.expose();
    EmailText {
        subject: "Set a new Wakeful password".into(),
        text: format!(
            "Someone requested a new password for {email}.\n\n\
             To set one, open this link. It works once and expires in an hour:\n\n    \
             {link}\n\n\
             Or use the API:\n\n    \
             curl -X POST {url}/api/v1/password/update -H 'Content-Type: application/json' \\\n      \
             -d '{{\"email\": \"{email}\", \"password1\": \"NEW\", \"password2\": \"NEW\", \"tokenid\": \"{token}\"}}'\n\n\
             A new password ends all sessions and deletes all API keys of the account.\n\
             If someone else may have signed up with your address, check the members of your\n\
             team afterwards:\n\n    {url}/team\n\n\
             If you did not request this, you can ignore this mail. Your password stays the\n\
             same.\n"
        ),
    }
}

pub(crate) fn mfa_reset(settings: &Settings, email: &str, by: &str) -> EmailText {
    let url = &settings.public_url;
    EmailText {
        subject: "Your second factor was removed".into(),
        text: format!(
            "Multi-factor authentication of the Wakeful account {email} was turned off\n\
             by {by}. Your authenticator app and your recovery codes no longer work.\n\n\
             Log in with your password and set it up again:\n\n    \
             {url}/settings\n\n\
             If you did not ask for this, set a new password and contact {by}.\n"
        ),
    }
}

pub(crate) fn key_expires(settings: &Settings, key: &ExpiringKey) -> EmailText {
    let url = &settings.public_url;
    let name = one_line(&key.name, usize::MAX);
    let (prefix, expires) = (&key.prefix, key.expires);
    let when = match key.days {
        1 => "within a day".to_owned(),
        days => format!("in {days} days"),
    };
    EmailText {
        subject: format!("API key {name} expires {when}"),
        text: format!(
            "Your Wakeful API key \"{name}\" ({prefix}…) expires on {expires}.\n\n\
             Programs that use it are refused from then on. If it is still needed, create\n\
             another one and replace it there:\n\n    \
             {url}/settings\n"
        ),
    }
}

pub(crate) fn stream_disabled(settings: &Settings, receiver: &str, why: &str) -> EmailText {
    let url = &settings.public_url;
    let receiver = one_line(receiver, usize::MAX);
    EmailText {
        subject: "A stream of the audit log was turned off".into(),
        text: format!(
            "Wakeful has turned off the stream of your team's audit log to {receiver}: {why}.\n\n\
             No entry is lost: when you turn it on again, it continues where it stopped:\n\n    \
             {url}/team/audit\n"
        ),
    }
}

pub(crate) fn notifier_disabled(settings: &Settings, name: &str, why: &str) -> EmailText {
    let url = &settings.public_url;
    let name = one_line(name, usize::MAX);
    EmailText {
        subject: format!("Notifier {name} was turned off"),
        text: format!(
            "Wakeful has turned off your team's notifier \"{name}\": {why}.\n\n\
             It no longer sends notifications. Correct it and turn it on again here:\n\n    \
             {url}\n"
        ),
    }
}

pub(crate) fn domain_lost(
    settings: &Settings,
    due: &DueDomain,
    record: &DomainRecord,
) -> EmailText {
    let url = &settings.public_url;
    let (domain, page) = (&due.domain, due.page);
    let name = one_line(&due.name, MAX_SUBJECT);
    let (kind, record_name, value) = (DomainRecord::KIND, &record.name, &record.value);
    EmailText {
        subject: format!("The DNS record of {domain} is missing"),
        text: format!(
            "Your status page \"{name}\" is served at {domain}, but the record that proves that\n\
             the domain is yours is gone:\n\n    \
             {record_name} {kind} \"{value}\"\n\n\
             The page is still served there. Add the record again, or remove the domain from the\n\
             page if it is no longer yours:\n\n    \
             {url}/statuspage/{page}\n"
        ),
    }
}
