//! What a notifier would send, for people who are still writing it. Nothing
//! leaves the machine. A template that fails is told here; a real message
//! would go out in the standard shape instead.

use url::Url;
use wakeful_core::Invalid;
use wakeful_core::notice::Notice;
use wakeful_core::notifier::{Subject, Template};

use super::{letters, template, webhook};

/// A message that is not sent.
#[derive(Clone, Debug)]
pub struct Preview {
    /// Of a mail.
    pub subject: Option<String>,
    pub content_type: &'static str,
    pub body: String,
    /// The other half of a mail.
    pub html: Option<String>,
}

/// The body of a webhook; `url` is where it would go, if that is known yet.
pub fn webhook(
    template: &Template,
    notice: &Notice,
    link: &str,
    url: Option<&Url>,
) -> Result<Preview, Invalid> {
    let body = webhook::shaped(template, notice, link, url)?;
    Ok(Preview { subject: None, content_type: webhook::content_type(&body), body, html: None })
}

/// A mail with this template as its subject, or the usual one when it is empty.
pub fn email(subject: &Subject, notice: &Notice, link: &str) -> Result<Preview, Invalid> {
    subject.template().map_or(Ok(()), template::check)?;
    let (body, html) = letters::pages(notice, link);
    Ok(Preview {
        subject: Some(letters::subject(subject, notice, link)),
        content_type: "text/plain; charset=utf-8",
        body,
        html: Some(html),
    })
}
