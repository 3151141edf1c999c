//! Who is calling, proved. Operations on a team's data take a `Caller`, so
//! that none can be reached without one.

use wakeful_core::id::{ApiKeyId, SessionId, TeamId, UserId};
use wakeful_store::Credential;

#[derive(Clone, Debug)]
pub struct Caller {
    pub user: UserId,
    pub team: TeamId,
    pub email: String,
    pub via: Via,
}

/// What the caller proved themselves with.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Via {
    Session(SessionId),
    ApiKey(ApiKeyId),
}

impl Caller {
    /// What the store checks again before it writes a credential for the caller.
    pub(crate) fn credential(&self) -> Credential<'static> {
        match self.via {
            Via::Session(id) => Credential::Session(id),
            Via::ApiKey(id) => Credential::ApiKey(id),
        }
    }
}
