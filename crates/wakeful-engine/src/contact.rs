//! The contact form: kept, and mailed to the operator. The sender chooses no
//! recipient and gets no automatic answer.

use std::net::IpAddr;
use wakeful_core::email::Email;
use wakeful_core::id::ContactId;
use wakeful_store::Contact;

use crate::{Engine, Result, letters, random};

#[derive(Clone, Debug)]
pub struct ContactForm {
    pub name: String,
    pub email: Email,
    pub subject: String,
    pub message: String,
}

impl Engine {
    pub async fn contact(&self, form: &ContactForm, from: IpAddr) -> Result<()> {
        self.count(&self.contacts(from)).await?;
        let settings = self.settings();
        let to = match settings.contact_to.as_str() {
            "" => settings.mail_from.clone(),
            to => to.to_owned(),
        };
        let mut mail = self.letter(&to, letters::contact(form));
        mail.reply_to = Some(form.email.to_string());
        let contact = Contact {
            id: ContactId::new(self.now(), random::bytes()),
            name: form.name.clone(),
            email: form.email.to_string(),
            subject: form.subject.clone(),
            message: form.message.clone(),
        };
        self.store().add_contact(&contact, &mail, self.now()).await?;
        self.0.mail_waits.notify_one();
        Ok(())
    }
}
