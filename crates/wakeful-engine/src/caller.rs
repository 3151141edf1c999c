//! Who is calling, proved. Operations on a team's data take a `Caller`, so
//! that none can be reached without one.

use wakeful_core::id::{ApiKeyId, SessionId, TeamId, UserId};

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
    /// The session that stays when the caller changes their own password.
    pub(crate) fn session(&self) -> Option<SessionId> {
        match self.via {
            Via::Session(id) => Some(id),
            Via::ApiKey(_) => None,
        }
    }
}
