//! Sign-up, the caller's settings, and the caller's identity.

use serde::Serialize;
use utoipa::ToSchema;
use wakeful_core::access::{MonitorFilter, Permission};
use wakeful_core::accounts::password::NewPassword;
use wakeful_core::email_address::EmailAddress;
use wakeful_core::id::{TeamId, UserId};
use wakeful_core::time::Millis;
use wakeful_engine::Caller;

use super::enums;
use super::fields::{Fields, FromFields};
use super::monitor_filter::MonitorFilterBody;

/// A new account with its own team.
#[derive(ToSchema)]
pub(crate) struct SignUp {
    #[schema(value_type = String, format = Email)]
    email: EmailAddress,
    #[schema(value_type = String, min_length = 8, max_length = 256)]
    password: NewPassword,
    #[schema(value_type = Option<String>, max_length = 255)]
    name: String,
}

impl FromFields for SignUp {
    fn read(fields: &mut Fields) -> Option<Self> {
        let email = fields.parse("email", EmailAddress::parse);
        let password = new_password(fields, "password", email.as_ref());
        let name = fields.optional_short_text("name", 255).unwrap_or_default();
        Some(Self { email: email?, password: password?, name })
    }
}

impl From<SignUp> for wakeful_engine::SignUp {
    fn from(dto: SignUp) -> Self {
        Self { email: dto.email, password: dto.password, name: dto.name }
    }
}

/// The caller's email and, optionally, a new password.
#[derive(ToSchema)]
pub(crate) struct SaveSettings {
    #[schema(value_type = String, format = Email)]
    pub(crate) email: EmailAddress,
    /// Omit both password fields to retain the password.
    #[schema(value_type = Option<String>, min_length = 8, max_length = 256)]
    pub(crate) password1: Option<NewPassword>,
    /// Must equal password1.
    #[schema(value_type = Option<String>, min_length = 8, max_length = 256)]
    #[expect(dead_code, reason = "read and compared with password1; only its schema is used")]
    password2: (),
}

impl FromFields for SaveSettings {
    fn read(fields: &mut Fields) -> Option<Self> {
        let email = fields.parse("email", EmailAddress::parse);
        let password1 = optional_passwords(fields, email.as_ref());
        Some(Self { email: email?, password1: password1?, password2: () })
    }
}

/// An invalid password is reported even if the email is invalid too.
pub(super) fn new_password(
    fields: &mut Fields,
    field: &str,
    email: Option<&EmailAddress>,
) -> Option<NewPassword> {
    fields.parse(field, |text| match email {
        Some(email) => NewPassword::parse(text, email),
        None => NewPassword::parse(text, &EmailAddress::parse("nobody@invalid")?),
    })
}

/// Both password fields, which must be equal.
pub(super) fn passwords(fields: &mut Fields, email: Option<&EmailAddress>) -> Option<NewPassword> {
    let first = fields.optional_text("password1");
    let password = new_password(fields, "password1", email);
    let second = fields.text("password2")?;
    if first? != second {
        fields.refuse("password2", "must be the same as password1");
        return None;
    }
    password
}

/// Both password fields or neither. The outer `None` means an invalid field.
pub(super) fn optional_passwords(
    fields: &mut Fields,
    email: Option<&EmailAddress>,
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
        Self { success: true, message: "User saved.".into(), userid }
    }
}

/// The user that the credentials belong to.
#[derive(Serialize, ToSchema)]
pub(crate) struct Me {
    pub(crate) success: bool,
    #[schema(value_type = String, format = Uuid)]
    pub(crate) userid: UserId,
    #[schema(format = Email)]
    pub(crate) email: String,
    /// As given at sign-up; may be empty.
    pub(crate) name: String,
    #[schema(value_type = enums::UserKind)]
    pub(crate) kind: &'static str,
    /// The team's id.
    #[schema(value_type = String, format = Uuid)]
    pub(crate) groupid: TeamId,
    /// The team's name.
    pub(crate) groupname: String,
    /// Whether logins require a second factor.
    pub(crate) mfa: bool,
    /// Whether the user has opened a link that was emailed to the address.
    pub(crate) email_verified: bool,
    /// Whether the service has a mail server. Without one, its emails become files.
    pub(crate) mail_server: bool,
    /// The role in the team.
    #[schema(value_type = enums::Role)]
    pub(crate) role: &'static str,
    /// What the caller may do: the permissions that both the role and the scope include.
    #[schema(value_type = Vec<enums::Permission>)]
    pub(crate) permissions: Vec<&'static str>,
    /// The scope of the API key; `full` for a session.
    #[schema(value_type = enums::Scope)]
    pub(crate) scope: &'static str,
    /// Whether the caller administers the installation; never with an API key.
    pub(crate) admin: bool,
    /// Whether an administrator has suspended the team, so that nothing in it can be changed.
    pub(crate) team_suspended: bool,
    /// Until when calls that need a recent reauthentication are allowed in this session; null
    /// for API keys, which cannot make them.
    #[schema(value_type = Option<String>, format = DateTime)]
    pub(crate) reauthenticated_until: Option<Millis>,
    /// Whether the team requires a second factor that the user has not set up yet.
    pub(crate) mfa_setup_required: bool,
    /// The monitors that the caller is limited to; absent without a limit.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(nullable = false)]
    pub(crate) monitor_filter: Option<MonitorFilterBody>,
}

impl Me {
    pub(crate) fn of(caller: &Caller, filter: Option<MonitorFilter>, mail_server: bool) -> Self {
        // Every credential has `known`, so it says nothing.
        let permissions = caller.permissions().without(Permission::Known);
        Self {
            success: true,
            userid: caller.user(),
            email: caller.email().to_owned(),
            name: caller.name().to_owned(),
            kind: caller.kind().as_str(),
            groupid: caller.team(),
            groupname: caller.team_name().to_owned(),
            mfa: caller.mfa_enabled(),
            email_verified: caller.email_verified(),
            mail_server,
            role: caller.role().as_str(),
            permissions: permissions.iter().map(Permission::as_str).collect(),
            scope: caller.scope().as_str(),
            admin: caller.is_admin(),
            team_suspended: caller.team_suspended(),
            reauthenticated_until: caller.reauthenticated_until(),
            mfa_setup_required: caller.must_set_up_mfa(),
            monitor_filter: filter.map(MonitorFilterBody::from),
        }
    }
}

#[derive(Serialize, ToSchema)]
pub(crate) struct CurrentSession {
    pub(crate) success: bool,
    /// Null without valid credentials.
    pub(crate) user: Option<Me>,
    /// Whether sign-up is open and nobody has signed up yet.
    pub(crate) first_signup: bool,
    /// Only before the first sign-up: whether the service has a mail server. Without one, mails
    /// become files on the server.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) mail_server: Option<bool>,
}
