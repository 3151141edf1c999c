//! The words of the service's own mail.

use wakeful_core::email::Email;
use wakeful_core::id::MailId;
use wakeful_core::secret::Secret;
use wakeful_store::Mail;

use crate::contact::ContactForm;
use crate::{Engine, Settings, random};

/// A subject and a text, still without an address.
pub(crate) struct Words {
    pub(crate) subject: String,
    pub(crate) text: String,
}

impl Engine {
    /// A letter to somebody, ready for the queue.
    pub(crate) fn letter(&self, to: &str, words: Words) -> Mail {
        Mail {
            id: MailId::new(self.now(), random::bytes()),
            to: to.to_owned(),
            reply_to: None,
            subject: words.subject,
            text: words.text,
        }
    }
}

pub(crate) fn welcome(settings: &Settings, email: &Email) -> Words {
    let url = &settings.public_url;
    Words {
        subject: "Welcome to Wakeful".into(),
        text: format!(
            "Welcome to Wakeful.\n\n\
             Your account {email} is ready:\n\n    {url}\n\n\
             If you did not sign up, somebody mistyped an address. Nothing more will come.\n"
        ),
    }
}

/// Where a reset token is used. It stands behind a `#`: browsers do not send that part to servers,
/// and a mail scanner that follows the link spends nothing.
pub(crate) fn reset_link(settings: &Settings, token: &Secret) -> String {
    format!("{}/password#tokenid={}", settings.public_url, token.expose())
}

pub(crate) fn reset(settings: &Settings, email: &str, token: &Secret) -> Words {
    let url = &settings.public_url;
    let link = reset_link(settings, token);
    let token = token.expose();
    Words {
        subject: "Set a new Wakeful password".into(),
        text: format!(
            "Somebody asked for a new password for {email}.\n\n\
             To set one, open this link within an hour. It works once:\n\n    \
             {link}\n\n\
             Or send it yourself:\n\n    \
             curl -X POST {url}/api/v1/password/update -H 'Content-Type: application/json' \\\n      \
             -d '{{\"email\": \"{email}\", \"password1\": \"NEW\", \"password2\": \"NEW\", \"tokenid\": \"{token}\"}}'\n\n\
             A new password ends all sessions and deletes all API keys of the account.\n\
             If someone else may have signed up with your address, check afterwards who is\n\
             in your team:\n\n    {url}/team\n\n\
             If it was not you, do nothing: your password stays as it is.\n"
        ),
    }
}

pub(crate) fn contact(form: &ContactForm) -> Words {
    Words {
        subject: format!("[contact] {}", form.subject),
        text: format!(
            "From: {} <{}>\nSubject: {}\n\n{}\n",
            form.name, form.email, form.subject, form.message
        ),
    }
}

pub(crate) fn notifier_off(settings: &Settings, name: &str, why: &str) -> Words {
    let url = &settings.public_url;
    let name: String = name.chars().map(|c| if c.is_control() { ' ' } else { c }).collect();
    Words {
        subject: format!("The notifier {name} was turned off"),
        text: format!(
            "Wakeful has turned off the notifier \"{name}\" of your team: {why}.\n\n\
             Nobody is told by it any more. Set it right and turn it on again here:\n\n    \
             {url}\n"
        ),
    }
}
