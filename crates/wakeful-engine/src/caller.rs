//! The authenticated caller. Operations on a team's data take a `Caller`, so none can be
//! reached without authentication.

use wakeful_core::id::{ApiKeyId, SessionId, TeamId, UserId};
use wakeful_store::{Authority, Credential};

#[derive(Clone, Debug)]
pub struct Caller {
    pub user: UserId,
    pub team: TeamId,
    pub email: String,
    pub via: Via,
}

/// How the caller authenticated.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Via {
    Session(SessionId),
    ApiKey(ApiKeyId),
}

impl Caller {
    /// Checked again by the store before it changes the credentials of others.
    pub(crate) fn authority(&self) -> Authority<'static> {
        Authority { user: self.user, credential: self.credential() }
    }

    /// Checked again by the store before it writes a credential for the caller.
    pub(crate) fn credential(&self) -> Credential<'static> {
        match self.via {
            Via::Session(id) => Credential::Session(id),
            Via::ApiKey(id) => Credential::ApiKey(id),
        }
    }
}
