//! A lost password, and a new one in its place.

use utoipa::ToSchema;
use wakeful_core::email::Email;
use wakeful_core::password::NewPassword;
use wakeful_core::secret::Secret;

use super::accounts::passwords;
use super::fields::{Fields, Wire};

#[derive(ToSchema)]
pub(crate) struct LostPassword {
    #[schema(min_length = 1, pattern = r"\S")]
    pub(crate) email: String,
}

impl Wire for LostPassword {
    fn read(fields: &mut Fields) -> Option<Self> {
        Some(Self { email: fields.text("email")? })
    }
}

#[derive(ToSchema)]
pub(crate) struct UpdatePassword {
    /// Must be the address of the account that tokenid belongs to.
    #[schema(value_type = String, format = Email)]
    pub(crate) email: Email,
    #[schema(value_type = String, min_length = 8, max_length = 256)]
    pub(crate) password1: NewPassword,
    /// Must equal password1.
    #[schema(value_type = String, min_length = 8, max_length = 256)]
    #[expect(dead_code, reason = "read and compared with password1; kept for the schema")]
    password2: (),
    /// The token of the mailed link, or a live Bearer Token of the account.
    #[schema(value_type = String, min_length = 1, pattern = r"\S")]
    pub(crate) tokenid: Secret,
}

impl Wire for UpdatePassword {
    fn read(fields: &mut Fields) -> Option<Self> {
        let email = fields.parse("email", Email::parse);
        let password1 = passwords(fields, email.as_ref());
        let tokenid = fields.text("tokenid").map(Secret::new);
        Some(Self { email: email?, password1: password1?, password2: (), tokenid: tokenid? })
    }
}
