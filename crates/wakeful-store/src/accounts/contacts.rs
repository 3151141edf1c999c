//! Messages from the contact form: stored, and mailed to the operator.

use wakeful_core::id::ContactId;
use wakeful_core::time::Millis;

use crate::dialect::within;
use crate::{Mail, Result, Store, mail};

#[derive(Clone, Debug)]
pub struct Contact {
    pub id: ContactId,
    pub name: String,
    pub email: String,
    pub subject: String,
    pub message: String,
}

impl Store {
    /// Stores a message together with the mail that forwards it.
    pub async fn add_contact(&self, contact: &Contact, mail: &Mail, now: Millis) -> Result<()> {
        let mail = mail::sealed(&self.keyring, mail);
        let mut tx = self.begin().await?;
        within!(tx, |db| {
            sqlx::query(
                "insert into contacts (id, name, email, subject, message, created)
                 values ($1, $2, $3, $4, $5, $6)",
            )
            .bind(contact.id.uuid())
            .bind(contact.name.as_str())
            .bind(contact.email.as_str())
            .bind(contact.subject.as_str())
            .bind(contact.message.as_str())
            .bind(now.0)
            .execute(db)
            .await?;
        });
        mail::insert(&mut tx, &mail, now).await?;
        tx.commit().await
    }
}
