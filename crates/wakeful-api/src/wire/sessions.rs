//! Letting in: credentials, and the token that comes of them.

use serde::Serialize;
use utoipa::ToSchema;
use wakeful_core::id::{TeamId, UserId};
use wakeful_core::secret::Secret;
use wakeful_engine::{Credentials, KeyPair};

use super::fields::{Fields, Wire};

#[derive(ToSchema)]
pub(crate) struct LogIn {
    email: String,
    #[schema(value_type = String)]
    password: Secret,
    /// A code of the authenticator app or a recovery code; required when MFA is on.
    mfacode: Option<String>,
}

impl Wire for LogIn {
    fn read(fields: &mut Fields) -> Option<Self> {
        credentials(fields, "email").map(|credentials| Self {
            email: credentials.email,
            password: credentials.password,
            mfacode: credentials.mfacode,
        })
    }
}

impl From<LogIn> for Credentials {
    fn from(wire: LogIn) -> Self {
        Self { email: wire.email, password: wire.password, mfacode: wire.mfacode }
    }
}

fn credentials(fields: &mut Fields, email: &str) -> Option<Credentials> {
    let email = fields.text(email);
    let password = fields.text("password").map(Secret::new);
    let mfacode = fields.optional_digits("mfacode", 6);
    Some(Credentials { email: email?, password: password?, mfacode })
}

/// A user's credentials, or an API key pair.
pub(crate) enum Authenticate {
    Password(Credentials),
    Keys(KeyPair),
}

/// How `Authenticate` looks on the wire.
#[derive(Serialize, ToSchema)]
#[serde(untagged)]
#[expect(dead_code, reason = "only its schema is used")]
pub(crate) enum AuthenticateBody {
    Password {
        /// The email address.
        username: String,
        password: String,
        /// Required when MFA is on.
        mfacode: Option<String>,
    },
    Keys {
        apikey: String,
        enckey: String,
    },
}

impl Wire for Authenticate {
    fn read(fields: &mut Fields) -> Option<Self> {
        if fields.has("apikey") || fields.has("enckey") {
            let apikey = fields.text("apikey").map(Secret::new);
            let enckey = fields.text("enckey").map(Secret::new);
            return Some(Self::Keys(KeyPair { apikey: apikey?, enckey: enckey? }));
        }
        credentials(fields, "username").map(Self::Password)
    }
}

#[derive(Serialize, ToSchema)]
pub(crate) struct Token {
    pub(crate) success: bool,
    /// A Bearer Token.
    pub(crate) token: String,
}

impl Token {
    pub(crate) fn of(token: &Secret) -> Self {
        Self { success: true, token: token.expose().to_owned() }
    }
}

#[derive(Serialize, ToSchema)]
pub(crate) struct SignedIn {
    success: bool,
    user: User,
    /// A Bearer Token.
    token: String,
}

#[derive(Serialize, ToSchema)]
pub(crate) struct User {
    /// The team's id.
    #[schema(value_type = String, format = Uuid)]
    groupid: TeamId,
    #[schema(value_type = String, format = Uuid)]
    userid: UserId,
    #[schema(format = Email)]
    email: String,
}

impl From<wakeful_engine::SignedIn> for SignedIn {
    fn from(signed_in: wakeful_engine::SignedIn) -> Self {
        Self {
            success: true,
            user: User { groupid: signed_in.team, userid: signed_in.user, email: signed_in.email },
            token: signed_in.token.expose().to_owned(),
        }
    }
}
