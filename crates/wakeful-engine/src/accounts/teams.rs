//! The teams of a person. A session acts in one of them; another one can be chosen for a single
//! call, or for the session.

use std::net::IpAddr;
use wakeful_core::access::{MfaPolicy, Role, permission};
use wakeful_core::accounts::MAX_TEAMS_PER_USER;
use wakeful_core::id::TeamId;
use wakeful_store::RemoveTeamOutcome;

pub use wakeful_store::{TeamChange, TeamOfUser, TeamSettings};

use crate::accounts::team::require_done;
use crate::caller::{Authorized, Reauthenticated, Via};
use crate::{Engine, Error, Result, random};

impl Engine {
    /// The caller's teams, by name.
    pub async fn teams(&self, caller: &Authorized<permission::Myself>) -> Result<Vec<TeamOfUser>> {
        Ok(self.store().teams_of(caller.user()).await?)
    }

    /// Creates another team, with the caller as its owner. Those who may not sign up may not
    /// create teams either.
    pub async fn create_team(
        &self,
        caller: &Authorized<permission::Myself>,
        name: &str,
        from: IpAddr,
    ) -> Result<TeamId> {
        self.require_signup(caller.email())?;
        self.count_attempts(&self.signup_limits(from)).await?;
        let (now, by) = (self.now(), self.audit(caller));
        let team = TeamId::new(now, random::bytes());
        if self.store().add_team(team, name, caller.authority(), &by, now).await? {
            Ok(team)
        } else {
            Err(too_many_teams())
        }
    }

    /// Makes the caller's session act in another of their teams.
    pub async fn switch_team(
        &self,
        caller: &Authorized<permission::Myself>,
        team: TeamId,
    ) -> Result<TeamOfUser> {
        let unknown = || Error::NotFound("team");
        let Via::Session(session) = caller.via() else { return Err(unknown()) };
        if !self.store().switch_session(session, caller.user(), team).await? {
            return Err(unknown());
        }
        let teams = self.store().teams_of(caller.user()).await?;
        teams.into_iter().find(|of_user| of_user.team == team).ok_or_else(unknown)
    }

    /// Ends the caller's membership, and deletes their API keys of the team.
    pub async fn leave_team(&self, caller: &Authorized<permission::Myself>) -> Result<()> {
        let team = self.store().team(caller.team_access());
        require_done(team.leave(caller.authority(), &self.audit(caller), self.now()).await?)
    }

    pub async fn team_settings(
        &self,
        caller: &Authorized<permission::Known>,
    ) -> Result<TeamSettings> {
        let settings = self.store().team(caller.team_access()).settings().await?;
        settings.ok_or(Error::NotFound("team"))
    }

    pub async fn save_team_settings(
        &self,
        caller: &Reauthenticated<permission::Own>,
        change: &TeamChange,
    ) -> Result<()> {
        if is_restriction(change) {
            self.require_roles_on_all_nodes().await?;
        }
        let (team, by) = (self.store().team(caller.team_access()), self.audit(caller));
        require_done(team.change_team(change, caller.authority(), &by, self.now()).await?)
    }

    /// Deletes the team, everything in it, and the accounts that end with it. `name` must be
    /// its name.
    pub async fn remove_team(
        &self,
        caller: &Reauthenticated<permission::Own>,
        name: &str,
    ) -> Result<()> {
        let (team, by) = (self.store().team(caller.team_access()), self.audit(caller));
        match team.remove_team(name, caller.authority(), &by, self.now()).await? {
            RemoveTeamOutcome::Done => self.finish_deletion(by.at()).await,
            RemoveTeamOutcome::NotOwner => Err(Error::RoleTooHigh),
            RemoveTeamOutcome::OtherName => {
                let why = "must be the name of the team".to_owned();
                Err(Error::Refused { field: "name", why })
            }
        }
    }
}

/// Whether a change sets a policy that a node of an earlier version would ignore.
fn is_restriction(change: &TeamChange) -> bool {
    change.default_role.is_some_and(|role| role != Role::Owner)
        || change.mfa == Some(MfaPolicy::Required)
        || change.key_days.is_some_and(|days| days.limit().is_some())
        || change.personal_keys == Some(false)
}

pub(super) fn too_many_teams() -> Error {
    Error::FixedLimit { max: MAX_TEAMS_PER_USER, of: "teams per user" }
}
