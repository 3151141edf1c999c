//! Signing up, the caller's own settings, and who the caller is.

use serde::Serialize;
use utoipa::ToSchema;
use wakeful_core::email::Email;
use wakeful_core::id::{TeamId, UserId};
use wakeful_core::password::NewPassword;

use super::fields::{Fields, Wire};

/// A new account and a new team around it.
#[derive(ToSchema)]
pub(crate) struct SignUp {
    #[schema(value_type = String, format = Email)]
    email: Email,
    #[schema(value_type = String, min_length = 8, max_length = 256)]
    password: NewPassword,
    #[schema(value_type = Option<String>, max_length = 255)]
    name: String,
}

impl Wire for SignUp {
    fn read(fields: &mut Fields) -> Option<Self> {
        let email = fields.parse("email", Email::parse);
        let password = new_password(fields, "password", email.as_ref());
        let name = fields.optional_short_text("name", 255).unwrap_or_default();
        Some(Self { email: email?, password: password?, name })
    }
}

impl From<SignUp> for wakeful_engine::SignUp {
    fn from(wire: SignUp) -> Self {
        Self { email: wire.email, password: wire.password, name: wire.name }
    }
}

/// The caller's email and, to change it, password.
#[derive(ToSchema)]
pub(crate) struct SaveSettings {
    #[schema(value_type = String, format = Email)]
    pub(crate) email: Email,
    /// Leave both password fields out to keep the password.
    #[schema(value_type = Option<String>, min_length = 8, max_length = 256)]
    pub(crate) password1: Option<NewPassword>,
    /// Must equal password1.
    #[schema(value_type = Option<String>, min_length = 8, max_length = 256)]
    #[expect(dead_code, reason = "read and compared with password1; kept for the schema")]
    password2: (),
}

impl Wire for SaveSettings {
    fn read(fields: &mut Fields) -> Option<Self> {
        let email = fields.parse("email", Email::parse);
        let password1 = optional_passwords(fields, email.as_ref());
        Some(Self { email: email?, password1: password1?, password2: () })
    }
}

/// A new password that is wrong by itself is told even when the email is wrong too.
pub(super) fn new_password(
    fields: &mut Fields,
    field: &str,
    email: Option<&Email>,
) -> Option<NewPassword> {
    fields.parse(field, |text| match email {
        Some(email) => NewPassword::parse(text, email),
        None => NewPassword::parse(text, &Email::parse("nobody@invalid")?),
    })
}

/// Both password fields, which must be the same.
pub(super) fn passwords(fields: &mut Fields, email: Option<&Email>) -> Option<NewPassword> {
    let first = fields.optional_text("password1");
    let password = new_password(fields, "password1", email);
    let second = fields.text("password2")?;
    if first? != second {
        fields.refuse("password2", "must be the same as password1");
        return None;
    }
    password
}

/// Both password fields or neither. The outer `None` means a wrong field.
pub(super) fn optional_passwords(
    fields: &mut Fields,
    email: Option<&Email>,
) -> Option<Option<NewPassword>> {
    if fields.has("password1") || fields.has("password2") {
        passwords(fields, email).map(Some)
    } else {
        Some(None)
    }
}

#[derive(Serialize, ToSchema)]
pub(crate) struct UserSaved {
    pub(crate) success: bool,
    pub(crate) message: String,
    #[schema(value_type = String, format = Uuid)]
    pub(crate) userid: UserId,
}

impl UserSaved {
    pub(crate) fn of(userid: UserId) -> Self {
        Self { success: true, message: "The user was saved.".into(), userid }
    }
}

/// The user behind the credentials.
#[derive(Serialize, ToSchema)]
pub(crate) struct Me {
    pub(crate) success: bool,
    #[schema(value_type = String, format = Uuid)]
    pub(crate) userid: UserId,
    #[schema(format = Email)]
    pub(crate) email: String,
    /// The team's id.
    #[schema(value_type = String, format = Uuid)]
    pub(crate) groupid: TeamId,
    /// Whether logins ask for a second factor.
    pub(crate) mfa: bool,
}
