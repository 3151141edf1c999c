//! The administration of the installation, for callers with the permission `operate`: users,
//! teams, what waits to be sent, and the state of the whole. It shows counts and states, never
//! the monitors, targets or messages of a team.

pub(crate) mod emails;
mod status;
mod teams;
mod users;

pub use status::{HealthFinding, Overview};
pub use wakeful_store::{
    AdminTeam, AdminTeamQuery, AdminUser, AdminUserQuery, DatabaseSize, InstallationCounts,
    ListedNode, QueueStatus, Retried, StuckDeliveries,
};

use uuid::Uuid;
use wakeful_core::access::{TeamAccess, permission};
use wakeful_core::id::TeamId;
use wakeful_store::AdminOutcome;

use crate::audit::{AuditQuery, StoredEntry};
use crate::mail::templates::EmailText;
use crate::{Authorized, Engine, Error, Page, Result};

impl Engine {
    /// A page of the installation's own audit log, newest first.
    #[expect(clippy::disallowed_methods, reason = "the chain of the installation has no team")]
    pub async fn installation_audit(
        &self,
        caller: &Authorized<permission::Operate>,
        query: &AuditQuery,
        limit: u32,
    ) -> Result<Page<StoredEntry, i64>> {
        let _turn = self.bulk_turn(caller).await?;
        let installation = self.store().team(&TeamAccess::whole(Uuid::nil().into()));
        let entries = installation.audit(query, limit.saturating_add(1)).await?;
        Ok(Page::of(entries, Some(limit), |stored| stored.entry.seq))
    }

    /// Whether people have accounts, but none of them administers the installation.
    pub async fn lacks_admin(&self) -> Result<bool> {
        Ok(self.store().has_admin().await? == Some(false))
    }

    fn mails_to(&self, addresses: &[String], text: &EmailText) -> Vec<wakeful_store::Mail> {
        addresses.iter().map(|address| self.new_mail(address, text.clone())).collect()
    }

    /// The name of a team, for mails.
    #[expect(clippy::disallowed_methods, reason = "administrators are not members of the team")]
    async fn team_name(&self, team: TeamId) -> Result<String> {
        let settings = self.store().team(&TeamAccess::whole(team)).settings().await?;
        Ok(settings.ok_or(Error::NotFound("team"))?.name)
    }
}

/// Whether something was changed.
pub(crate) fn require_changed(outcome: AdminOutcome) -> Result<bool> {
    match outcome {
        AdminOutcome::Done => Ok(true),
        AdminOutcome::Unchanged => Ok(false),
        AdminOutcome::NoUser => Err(Error::NotFound("user")),
        AdminOutcome::NoTeam => Err(Error::NotFound("team")),
        AdminOutcome::LastAdmin => Err(Error::LastAdmin),
        AdminOutcome::HasOwner => Err(Error::HasOwner),
        AdminOutcome::OtherName => {
            let why = "must be the name of the team".to_owned();
            Err(Error::Refused { field: "name", why })
        }
    }
}
