//! What administrators do to teams. Each action is recorded, and those concerned are mailed: the
//! owners or, if it is deleted, all members.

use wakeful_core::access::{Permission, TeamAccess, permission};
use wakeful_core::id::{TeamId, UserId};
use wakeful_store::{AdminTeam, AdminTeamQuery, Mail, Member};

use super::{emails, require_changed};
use crate::{Authorized, Engine, Error, Page, Reauthenticated, Result};

impl Engine {
    /// A page of the teams of the installation, newest first.
    pub async fn admin_teams(
        &self,
        caller: &Authorized<permission::Operate>,
        query: &AdminTeamQuery,
        limit: u32,
    ) -> Result<Page<AdminTeam, TeamId>> {
        let _turn = self.bulk_turn(caller).await?;
        let teams = self.store().admin_teams(query, limit.saturating_add(1)).await?;
        Ok(Page::of(teams, Some(limit), |team| team.team))
    }

    /// Suspends a team: its checks are paused, and its members can only read. Or resumes it.
    pub async fn suspend_team(
        &self,
        caller: &Reauthenticated<permission::Operate>,
        team: TeamId,
        suspended: bool,
    ) -> Result<()> {
        if suspended {
            self.require_roles_on_all_nodes().await?;
        }
        let name = self.team_name(team).await?;
        let text = if suspended {
            emails::team_suspended(self.settings(), &name)
        } else {
            emails::team_resumed(self.settings(), &name)
        };
        let owners = self.emails_of_members_with(team, Permission::Own).await?;
        let mails = self.mails_to(&owners, &text);
        let (who, by) = (caller.admin_authority(), self.audit(caller));
        let outcome = self.store().suspend_team(team, suspended, who, &mails, &by).await?;
        let changed = require_changed(outcome)?;
        // Other nodes find it at their next round.
        self.refresh_suspensions().await?;
        self.announce(changed);
        Ok(())
    }

    /// Makes a member the owner of a team that has none who can act.
    pub async fn appoint_owner_as_admin(
        &self,
        caller: &Reauthenticated<permission::Operate>,
        team: TeamId,
        user: UserId,
    ) -> Result<()> {
        let text = emails::owner_appointed(self.settings(), &self.team_name(team).await?);
        let account = self.store().account(user).await?.ok_or(Error::NotFound("user"))?;
        let mails = self.mails_to(&[account.email], &text);
        let (who, by) = (caller.admin_authority(), self.audit(caller));
        let outcome = self.store().appoint_owner(team, user, who, &mails, &by).await?;
        self.announce(require_changed(outcome)?);
        Ok(())
    }

    /// Deletes a team, everything in it, and the accounts that end with it. `name` must be its
    /// name.
    #[expect(clippy::disallowed_methods, reason = "administrators are not members of the team")]
    pub async fn delete_team_as_admin(
        &self,
        caller: &Reauthenticated<permission::Operate>,
        team: TeamId,
        name: &str,
    ) -> Result<()> {
        let store = self.store().team(&TeamAccess::whole(team));
        let members = store.members().await?;
        let mail = |member: &Member| {
            let text = emails::team_deleted(self.settings(), name, member.managed);
            self.new_mail(&member.email, text)
        };
        let mails: Vec<Mail> = members.iter().map(mail).collect();
        let (who, by) = (caller.admin_authority(), self.audit(caller));
        require_changed(store.remove_team_as_admin(name, who, &mails, &by).await?)?;
        self.announce(true);
        self.finish_deletion(by.at()).await
    }
}
