//! Operations of the operator at the command line, for users who are locked out and for the first
//! administrator. There is no caller: access to the data folder is the authorization.

use wakeful_core::access::Role;
use wakeful_core::email_address;
use wakeful_core::id::TeamId;
use wakeful_core::token::Kind;
use wakeful_store::{
    Account, AdminAuthority, AdminTeam, AdminTeamQuery, AdminUser, AdminUserQuery, AuditContext,
    Deleter,
};

pub use wakeful_store::ListedUser;

use crate::accounts::team::require_done;
use crate::admin::{emails, require_changed};
use crate::caller::audit_of_operator;
use crate::{Engine, Error, Result, mail::templates, random};

/// How many teams are read at a time.
const TEAM_BATCH: u32 = 1_000;

impl Engine {
    /// Every user of the installation, team by team.
    pub async fn every_user(&self) -> Result<Vec<ListedUser>> {
        Ok(self.store().all_users().await?)
    }

    /// A link to set a new password, which the operator gives to the user.
    pub async fn reset_link_for(&self, email: &str) -> Result<String> {
        let account = self.account_of(email).await?;
        let token = Kind::Reset.issue(random::bytes());
        let by = audit_of_operator(account.team, self.now());
        self.store_reset_token(&account, &token, None, Some(&by)).await?;
        Ok(templates::reset_link(self.settings(), &token))
    }

    /// Turns off the second factor of a user who has lost it, and notifies them by mail; false if
    /// it was off already.
    pub async fn disable_mfa_for(&self, email: &str) -> Result<bool> {
        let account = self.account_of(email).await?;
        let mails = [self.new_mail(
            &account.email,
            templates::mfa_reset(self.settings(), &account.email, "the operator of the service"),
        )];
        let by = self.audit_of_operator(&account);
        let operator = AdminAuthority::Operator;
        require_changed(self.store().reset_factors(account.user, operator, &mails, &by).await?)
    }

    /// Grants or revokes the administration of the installation; false if it was so already.
    pub async fn set_admin_for(&self, email: &str, is_admin: bool) -> Result<bool> {
        let account = self.account_of(email).await?;
        let text = if is_admin {
            emails::admin_granted(self.settings())
        } else {
            emails::admin_revoked(self.settings())
        };
        let mails = [self.new_mail(&account.email, text)];
        let by = self.audit_of_operator(&account);
        let operator = AdminAuthority::Operator;
        let done = self.store().set_admin(account.user, is_admin, operator, &mails, &by).await?;
        require_changed(done)
    }

    /// Suspends or resumes a user; false if it was so already.
    pub async fn suspend_user_for(&self, email: &str, suspended: bool) -> Result<bool> {
        let account = self.account_of(email).await?;
        if suspended {
            self.require_roles_on_all_nodes().await?;
        }
        let text = if suspended {
            emails::user_suspended(self.settings())
        } else {
            emails::user_resumed(self.settings())
        };
        let mails = [self.new_mail(&account.email, text)];
        let by = self.audit_of_operator(&account);
        let operator = AdminAuthority::Operator;
        let done =
            self.store().suspend_user(account.user, suspended, operator, &mails, &by).await?;
        require_changed(done)
    }

    /// Marks the address of a user as verified.
    pub async fn verify_user_for(&self, email: &str) -> Result<()> {
        let account = self.account_of(email).await?;
        let by = self.audit_of_operator(&account);
        require_changed(self.store().verify_user(account.user, &by).await?)?;
        Ok(())
    }

    /// The next administrators of the installation, newest first.
    pub async fn admins(&self) -> Result<Vec<AdminUser>> {
        let query = AdminUserQuery { admin: Some(true), ..AdminUserQuery::default() };
        Ok(self.store().admin_users(&query, u32::MAX).await?)
    }

    /// The next teams after this one, newest first; none at the end.
    pub async fn teams_before(&self, before: Option<TeamId>) -> Result<Vec<AdminTeam>> {
        let query = AdminTeamQuery { before, ..AdminTeamQuery::default() };
        Ok(self.store().admin_teams(&query, TEAM_BATCH).await?)
    }

    /// Sets the role of a member of a team.
    pub async fn set_role_for(&self, team: TeamId, email: &str, role: Role) -> Result<()> {
        let account = self.account_of(email).await?;
        if role != Role::Owner {
            self.require_roles_on_all_nodes().await?;
        }
        let by = audit_of_operator(team, self.now());
        require_done(self.store().set_member_role(team, account.user, role, &by).await?)
    }

    fn audit_of_operator(&self, account: &Account) -> AuditContext {
        audit_of_operator(account.team, self.now())
    }

    /// Deletes a user, and the teams that nobody else is in.
    pub async fn delete_user_for(&self, email: &str) -> Result<()> {
        let account = self.account_of(email).await?;
        let by = audit_of_operator(account.team, self.now());
        let deleter = Deleter::Administration(AdminAuthority::Operator, &[]);
        require_done(self.store().delete_account(account.user, deleter, &by, self.now()).await?)?;
        // The process ends with this command.
        while self.store().delete_part().await? {}
        self.finish_deletion(by.at()).await
    }

    pub(crate) async fn account_of(&self, email: &str) -> Result<Account> {
        self.store()
            .account_by_email(&email_address::key(email))
            .await?
            .ok_or(Error::NotFound("user"))
    }
}
