//! Credentials, tokens and sessions.

use serde::Serialize;
use utoipa::ToSchema;
use wakeful_core::id::{SessionId, TeamId, UserId};
use wakeful_core::secret::Secret;
use wakeful_core::time::Millis;
use wakeful_engine::{Credentials, KeyPair, Session, Via};

use super::enums;
use super::fields::{Fields, FromFields};
use crate::query::NextCursor;

#[derive(ToSchema)]
pub(crate) struct LogIn {
    #[schema(min_length = 1, pattern = r"\S")]
    email: String,
    #[schema(value_type = String, min_length = 1, pattern = r"\S")]
    password: Secret,
    /// A code from the authenticator app, or a recovery code; required if MFA is on.
    mfacode: Option<String>,
}

impl FromFields for LogIn {
    fn read(fields: &mut Fields) -> Option<Self> {
        credentials(fields, "email").map(|credentials| Self {
            email: credentials.email,
            password: credentials.password,
            mfacode: credentials.mfacode,
        })
    }
}

impl From<LogIn> for Credentials {
    fn from(dto: LogIn) -> Self {
        Self { email: dto.email, password: dto.password, mfacode: dto.mfacode }
    }
}

fn credentials(fields: &mut Fields, email: &str) -> Option<Credentials> {
    let email = fields.text(email);
    let password = fields.text("password").map(Secret::new);
    let mfacode = optional_code(fields);
    Some(Credentials { email: email?, password: password?, mfacode })
}

/// Forms without a code send the field empty, which does not count as a wrong code.
pub(super) fn optional_code(fields: &mut Fields) -> Option<String> {
    fields.optional_digits("mfacode", 6).filter(|code| !code.trim().is_empty())
}

/// A user's credentials, or an API key pair.
pub(crate) enum Authenticate {
    Password(Credentials),
    Keys(KeyPair),
}

/// The JSON form of `Authenticate`.
#[derive(Serialize, ToSchema)]
#[serde(untagged)]
#[expect(dead_code, reason = "only its schema is used")]
pub(crate) enum AuthenticateBody {
    Password {
        /// The email address.
        #[schema(min_length = 1, pattern = r"\S")]
        username: String,
        #[schema(min_length = 1, pattern = r"\S")]
        password: String,
        /// Required if MFA is on.
        mfacode: Option<String>,
    },
    Keys {
        #[schema(min_length = 1, pattern = r"\S")]
        apikey: String,
        #[schema(min_length = 1, pattern = r"\S")]
        enckey: String,
    },
}

impl FromFields for Authenticate {
    fn read(fields: &mut Fields) -> Option<Self> {
        // Forms may send unused fields empty.
        let both = fields.is_filled("apikey") && fields.is_filled("enckey");
        let either = fields.has("apikey") || fields.has("enckey");
        if both || (either && !fields.has("username")) {
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
    /// A bearer token.
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
    /// A bearer token; empty for the web app, which gets it in a cookie.
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

impl User {
    pub(crate) fn of(groupid: TeamId, userid: UserId, email: String) -> Self {
        Self { groupid, userid, email }
    }
}

impl SignedIn {
    pub(crate) fn of(signed_in: wakeful_engine::SignedIn) -> Self {
        let token = signed_in.token.expose().to_owned();
        Self { token, ..Self::by_cookie(signed_in) }
    }

    /// For the web app: the token is in a cookie that scripts cannot read.
    pub(crate) fn by_cookie(signed_in: wakeful_engine::SignedIn) -> Self {
        Self {
            success: true,
            user: User::of(signed_in.team, signed_in.user, signed_in.email),
            token: String::new(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::{Value, json};

    fn read(body: Value) -> &'static str {
        let mut fields = Fields::of(body).unwrap_or_else(|_| panic!("an object"));
        match Authenticate::read(&mut fields) {
            Some(Authenticate::Password(_)) => "password",
            Some(Authenticate::Keys(_)) => "keys",
            None => "wrong",
        }
    }

    #[test]
    fn empty_fields_beside_complete_credentials_are_ignored() {
        for (body, what) in [
            (json!({"username": "ann", "password": "p"}), "password"),
            (json!({"username": "ann", "password": "p", "apikey": "", "enckey": " "}), "password"),
            (json!({"apikey": "a", "enckey": "e"}), "keys"),
            (json!({"username": "", "password": "", "apikey": "a", "enckey": "e"}), "keys"),
            (json!({"apikey": "a"}), "wrong"),
            (json!({"username": "ann", "apikey": "a"}), "wrong"),
            (json!({}), "wrong"),
        ] {
            assert_eq!(read(body.clone()), what, "{body}");
        }
    }
}

#[derive(Serialize, ToSchema)]
pub(crate) struct SessionList {
    success: bool,
    sessions: Vec<ListedSession>,
    /// Only with `limit`: the cursor of the next page; null on the last page.
    #[serde(skip_serializing_if = "Option::is_none")]
    next_cursor: Option<Option<String>>,
}

#[derive(Serialize, ToSchema)]
pub(crate) struct ListedSession {
    #[schema(value_type = String, format = Uuid)]
    sessionid: SessionId,
    #[schema(value_type = String, format = DateTime)]
    created: Millis,
    /// To the minute.
    #[schema(value_type = String, format = DateTime)]
    last_used: Millis,
    /// The address that the session was created from.
    address: String,
    /// The user agent of the client.
    agent: String,
    /// Whether this is the session of the request.
    current: bool,
    /// The id of the team that it acts in.
    #[schema(value_type = String, format = Uuid)]
    groupid: TeamId,
    /// How it was opened.
    #[schema(value_type = enums::SessionMethod)]
    method: &'static str,
}

impl SessionList {
    pub(crate) fn of(sessions: Vec<Session>, via: Via, next_cursor: NextCursor) -> Self {
        let sessions = sessions
            .into_iter()
            .map(|session| ListedSession {
                sessionid: session.id,
                created: session.created,
                last_used: session.last_used,
                address: session.address,
                agent: session.agent,
                current: via == Via::Session(session.id),
                groupid: session.team,
                method: session.method.as_str(),
            })
            .collect();
        Self { success: true, sessions, next_cursor }
    }
}
