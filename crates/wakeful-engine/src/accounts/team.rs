//! Operations on the users of a team and their roles.

use std::collections::HashMap;
use std::net::IpAddr;
use wakeful_core::access::{MonitorFilter, Permission, Role, TeamAccess, permission};
use wakeful_core::accounts::password::NewPassword;
use wakeful_core::email_address::EmailAddress;
use wakeful_core::id::{MonitorFilterId, TeamId, UserId};
use wakeful_store::{
    AddUserOutcome, FilterChange, MemberChange, MemberOutcome, NewMember, StoredMonitorFilter,
};

pub use wakeful_store::Member;

use wakeful_core::cluster::version::Version;

use crate::caller::{Authorized, Caller, Reauthenticated};
use crate::{Engine, Error, Result, random};

/// Nodes of earlier versions let every member do everything.
const FIRST_WITH_ROLES: Version = Version(0, 2, 0);

/// A user to add, who needs a password, or to change.
#[derive(Clone, Debug)]
pub enum SaveUser {
    Add {
        email: EmailAddress,
        password: NewPassword,
        /// `None`: the team's default role, as far as the caller may assign it.
        role: Option<Role>,
        filter: FilterDraft,
    },
    Change {
        user: UserId,
        email: EmailAddress,
        password: Option<NewPassword>,
        /// `None`: unchanged.
        role: Option<Role>,
        filter: FilterDraft,
    },
}

/// What changes in the team together with an account.
#[derive(Clone, Debug, Default)]
pub(crate) struct MembershipChange {
    /// `None`: unchanged.
    pub(crate) role: Option<Role>,
    pub(crate) filter: FilterChange,
}

/// A member with the monitors they are limited to.
#[derive(Clone, Debug)]
pub struct MemberView {
    pub member: Member,
    pub filter: Option<MonitorFilter>,
}

/// A change to a member; what is `None` stays as it is.
#[derive(Clone, Debug)]
pub struct MemberDraft {
    pub user: UserId,
    pub role: Option<Role>,
    pub suspended: Option<bool>,
    pub filter: FilterDraft,
}

#[derive(Clone, Debug)]
pub enum FilterDraft {
    Unchanged,
    Remove,
    Set(MonitorFilter),
}

impl Engine {
    pub async fn members(
        &self,
        caller: &Authorized<permission::Myself>,
    ) -> Result<Vec<MemberView>> {
        let members = self.store().team(caller.team_access()).members().await?;
        let limited = members.iter().any(|member| member.filter.is_some());
        let mut filters = self.monitor_filters(caller, limited).await?;
        let view = |member: Member| {
            let filter = member.filter.and_then(|id| filters.remove(&id));
            MemberView { member, filter }
        };
        Ok(members.into_iter().map(view).collect())
    }

    /// The monitors that the caller is limited to; nothing is read for one who is not.
    pub async fn monitor_filter(
        &self,
        caller: &Authorized<permission::Known>,
    ) -> Result<Option<MonitorFilter>> {
        let Some(id) = caller.team_access().filter() else { return Ok(None) };
        let mut filters = self.monitor_filters(caller, true).await?;
        // One that was replaced since the caller was authenticated matches nothing.
        Ok(Some(filters.remove(&id).unwrap_or_else(|| MonitorFilter::Monitors(Vec::new()))))
    }

    /// The monitor filters of the team; none are read unless some are `wanted`.
    pub(super) async fn monitor_filters(
        &self,
        caller: &Caller,
        wanted: bool,
    ) -> Result<HashMap<MonitorFilterId, MonitorFilter>> {
        if !wanted {
            return Ok(HashMap::new());
        }
        Ok(self.store().team(caller.team_access()).monitor_filters().await?)
    }

    /// The addresses of the members who have a permission.
    #[expect(clippy::disallowed_methods, reason = "for mails that no caller asked for")]
    pub(crate) async fn emails_of_members_with(
        &self,
        team: TeamId,
        permission: Permission,
    ) -> Result<Vec<String>> {
        let members = self.store().team(&TeamAccess::whole(team)).members().await?;
        let active = members.into_iter().filter(|member| !member.suspended);
        let allowed = active.filter(|member| member.role.permissions().contains(permission));
        Ok(allowed.map(|member| member.email).collect())
    }

    /// Changes the role, the monitor filter or the suspension of a member; `appoint_owner`
    /// makes an owner of one.
    pub async fn save_member(
        &self,
        caller: &Authorized<permission::People>,
        draft: MemberDraft,
    ) -> Result<()> {
        if draft.role == Some(Role::Owner) {
            return Err(Error::ReauthenticationRequired(caller.ways_to_reauthenticate()?));
        }
        self.change_member(caller, draft).await
    }

    pub async fn appoint_owner(
        &self,
        caller: &Reauthenticated<permission::Own>,
        draft: MemberDraft,
    ) -> Result<()> {
        self.change_member(caller, MemberDraft { role: Some(Role::Owner), ..draft }).await
    }

    async fn change_member(&self, caller: &Caller, draft: MemberDraft) -> Result<()> {
        let MemberDraft { user, role, suspended, filter } = draft;
        self.check_nodes_know(role).await?;
        let filter = self.filter_change(filter).await?;
        let change = MemberChange { user, caller: caller.authority(), role, suspended, filter };
        let team = self.store().team(caller.team_access());
        require_done(team.change_member(&change, &self.audit(caller), self.now()).await?)
    }

    async fn filter_change(&self, draft: FilterDraft) -> Result<FilterChange> {
        Ok(match draft {
            FilterDraft::Unchanged => FilterChange::Unchanged,
            FilterDraft::Remove => FilterChange::Remove,
            FilterDraft::Set(filter) => {
                self.require_roles_on_all_nodes().await?;
                FilterChange::Set(self.new_filter(filter))
            }
        })
    }

    pub(super) fn new_filter(&self, filter: MonitorFilter) -> StoredMonitorFilter {
        StoredMonitorFilter { id: MonitorFilterId::new(self.now(), random::bytes()), filter }
    }

    pub async fn save_user(
        &self,
        caller: &Reauthenticated<permission::People>,
        save: &SaveUser,
        from: IpAddr,
    ) -> Result<UserId> {
        match save {
            SaveUser::Change { user, email, password, role, filter } => {
                self.check_nodes_know(*role).await?;
                let filter = self.filter_change(filter.clone()).await?;
                let member = MembershipChange { role: *role, filter };
                self.change_user(caller, *user, email, password.as_ref(), member, from).await?;
                Ok(*user)
            }
            SaveUser::Add { email, password, role, filter } => {
                let assigned = match role {
                    Some(role) => *role,
                    None => self.default_role(caller).await?,
                };
                self.check_nodes_know(Some(assigned)).await?;
                let filter = self.filter_change(filter.clone()).await?;
                let plan = self.check_user_limit(caller.team()).await?;
                let limit = plan.as_ref().and_then(|plan| plan.limits.users);
                let hash = self.hash_new(password, "password1", from).await?;
                let account = self.new_account(email, hash, "");
                let new = NewMember { account: &account, role: *role, filter, limit };
                let team = self.store().team(caller.team_access());
                let by = self.audit(caller);
                match team.add_user(&new, caller.authority(), &by, self.now()).await? {
                    AddUserOutcome::Done => Ok(account.user),
                    AddUserOutcome::Full => Err(self.too_many_users(plan.as_ref())),
                    AddUserOutcome::Refused(why) => require_done(why).map(|()| account.user),
                }
            }
        }
    }

    /// The role of a user who the caller adds without one.
    async fn default_role(&self, caller: &Caller) -> Result<Role> {
        let settings = self.store().team(caller.team_access()).settings().await?;
        let settings = settings.ok_or(Error::NotFound("team"))?;
        Ok(settings.default_role.at_most(caller.role()))
    }

    /// Ends all sessions of these users and deletes their API keys of the team, of all or none.
    pub async fn revoke_users(
        &self,
        caller: &Authorized<permission::People>,
        users: &[UserId],
    ) -> Result<()> {
        let revoked = self
            .store()
            .team(caller.team_access())
            .revoke(&distinct(users), caller.authority(), &self.audit(caller), self.now())
            .await?;
        require_done(revoked)
    }

    /// Removes these users from the team, all or none. Accounts that the team manages are deleted.
    pub async fn delete_users(
        &self,
        caller: &Reauthenticated<permission::People>,
        users: &[UserId],
    ) -> Result<()> {
        let (authority, by) = (caller.authority(), self.audit(caller));
        let team = self.store().team(caller.team_access());
        require_done(team.delete_users(&distinct(users), authority, &by, self.now()).await?)?;
        self.finish_deletion(by.at()).await
    }

    /// A node that does not know roles would let everyone do everything.
    pub(super) async fn check_nodes_know(&self, role: Option<Role>) -> Result<()> {
        match role {
            None | Some(Role::Owner) => Ok(()),
            Some(_) => self.require_roles_on_all_nodes().await,
        }
    }

    /// Refuses a restriction that a node of an earlier version would ignore.
    pub(crate) async fn require_roles_on_all_nodes(&self) -> Result<()> {
        let now = self.now();
        let nodes = self.store().nodes().await?;
        let outdated = nodes.iter().any(|listed| {
            listed.expires > now && Version::parse(&listed.node.version) < FIRST_WITH_ROLES
        });
        if outdated { Err(Error::NodesTooOld) } else { Ok(()) }
    }
}

fn distinct(users: &[UserId]) -> Vec<UserId> {
    let mut users = users.to_vec();
    users.sort_unstable();
    users.dedup();
    users
}

pub(super) fn unknown_monitors() -> Error {
    Error::Refused { field: "monitors", why: "contains monitors that do not exist".to_owned() }
}

pub(crate) fn require_done(outcome: MemberOutcome) -> Result<()> {
    match outcome {
        MemberOutcome::Done => Ok(()),
        MemberOutcome::NoUser => Err(Error::NotFound("user")),
        MemberOutcome::RoleTooHigh => Err(Error::RoleTooHigh),
        MemberOutcome::LastOwner => Err(Error::LastOwner),
        MemberOutcome::FilterNotAllowed => {
            let why =
                "can only be viewer or responder for a member who is limited to some monitors";
            Err(Error::Refused { field: "role", why: why.to_owned() })
        }
        MemberOutcome::UnknownMonitors => Err(unknown_monitors()),
        MemberOutcome::NotManaged => Err(Error::AccountNotManaged),
        MemberOutcome::LastAdmin => Err(Error::LastAdmin),
        MemberOutcome::MfaNotOn => Err(Error::MfaNotOn),
    }
}
