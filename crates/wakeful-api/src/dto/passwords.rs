//! Requests to reset or change a password.

use utoipa::ToSchema;
use wakeful_core::accounts::password::NewPassword;
use wakeful_core::email_address::EmailAddress;
use wakeful_core::secret::Secret;

use super::accounts::passwords;
use super::fields::{Fields, FromFields};

#[derive(ToSchema)]
pub(crate) struct LostPassword {
    #[schema(min_length = 1, pattern = r"\S")]
    pub(crate) email: String,
}

impl FromFields for LostPassword {
    fn read(fields: &mut Fields) -> Option<Self> {
        Some(Self { email: fields.text("email")? })
    }
}

#[derive(ToSchema)]
pub(crate) struct UpdatePassword {
    /// The email of the account that tokenid belongs to.
    #[schema(value_type = String, format = Email)]
    pub(crate) email: EmailAddress,
    #[schema(value_type = String, min_length = 8, max_length = 256)]
    pub(crate) password1: NewPassword,
    /// Must equal password1.
    #[schema(value_type = String, min_length = 8, max_length = 256)]
    #[expect(dead_code, reason = "validated by `passwords`; the field exists for the schema")]
    password2: (),
    /// The token of the emailed link, or a valid bearer token of the account.
    #[schema(value_type = String, min_length = 1, pattern = r"\S")]
    pub(crate) tokenid: Secret,
}

impl FromFields for UpdatePassword {
    fn read(fields: &mut Fields) -> Option<Self> {
        let email = fields.parse("email", EmailAddress::parse);
        let password1 = passwords(fields, email.as_ref());
        let tokenid = fields.text("tokenid").map(Secret::new);
        Some(Self { email: email?, password1: password1?, password2: (), tokenid: tokenid? })
    }
}
