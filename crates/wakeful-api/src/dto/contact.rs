//! The contact form, with the field names of the web form.

use utoipa::ToSchema;
use wakeful_core::email_address::EmailAddress;
use wakeful_engine::ContactForm;

use super::fields::{Fields, FromFields};

#[derive(ToSchema)]
pub(crate) struct ContactUs {
    #[schema(rename = "contact-name", max_length = 255, min_length = 1, pattern = r"\S")]
    name: String,
    #[schema(rename = "contact-email", value_type = String, format = Email)]
    email: EmailAddress,
    #[schema(rename = "contact-subject", max_length = 255, min_length = 1, pattern = r"\S")]
    subject: String,
    #[schema(rename = "contact-message", max_length = 20000, min_length = 1, pattern = r"\S")]
    message: String,
}

impl FromFields for ContactUs {
    fn read(fields: &mut Fields) -> Option<Self> {
        let name = fields.short_text("contact-name", 255);
        let email = fields.parse("contact-email", EmailAddress::parse);
        let subject = fields.short_text("contact-subject", 255);
        let message = fields.short_text("contact-message", 20_000);
        Some(Self { name: name?, email: email?, subject: subject?, message: message? })
    }
}

impl From<ContactUs> for ContactForm {
    fn from(dto: ContactUs) -> Self {
        Self { name: dto.name, email: dto.email, subject: dto.subject, message: dto.message }
    }
}
