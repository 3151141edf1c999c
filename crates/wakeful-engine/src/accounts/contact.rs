//! The contact form. Messages are stored and mailed to the operator. The sender cannot choose
//! the recipient and gets no automatic reply.

use std::net::IpAddr;
use wakeful_core::email_address::EmailAddress;
use wakeful_core::id::ContactId;
use wakeful_store::Contact;

use crate::mail::templates::EmailText;
use crate::{Engine, Result, random};

#[derive(Clone, Debug)]
pub struct ContactForm {
    pub name: String,
    pub email: EmailAddress,
    pub subject: String,
    pub message: String,
}

impl Engine {
    pub async fn submit_contact_form(&self, form: &ContactForm, from: IpAddr) -> Result<()> {
        self.count_attempts(&self.contact_limits(from)).await?;
        let settings = self.settings();
        let to = match settings.contact_to.as_str() {
            "" => settings.mail_from.clone(),
            to => to.to_owned(),
        };
        let mut mail = self.new_mail(&to, contact_email(form));
        mail.reply_to = Some(form.email.to_string());
        let contact = Contact {
            id: ContactId::new(self.now(), random::bytes()),
            name: form.name.clone(),
            email: form.email.to_string(),
            subject: form.subject.clone(),
            message: form.message.clone(),
        };
        self.store().add_contact(&contact, &mail, self.now()).await?;
        self.0.mail_queued.notify_one();
        Ok(())
    }
}

fn contact_email(form: &ContactForm) -> EmailText {
    EmailText {
        subject: format!("[contact] {}", form.subject),
        text: format!(
            "From: {} <{}>\nSubject: {}\n\n{}\n",
            form.name, form.email, form.subject, form.message
        ),
    }
}
