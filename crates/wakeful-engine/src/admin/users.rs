//! What administrators do to users. Each action is recorded, and the user is mailed.

use wakeful_core::access::permission;
use wakeful_core::id::UserId;
use wakeful_core::token::Kind;
use wakeful_store::{Account, AdminUser, AdminUserQuery, Deleter};

use super::{emails, require_changed};
use crate::accounts::team::require_done;
use crate::mail::templates;
use crate::{Authorized, Engine, Error, Page, Reauthenticated, Result, random};

impl Engine {
    /// A page of the people of the installation, newest first.
    pub async fn admin_users(
        &self,
        caller: &Authorized<permission::Operate>,
        query: &AdminUserQuery,
        limit: u32,
    ) -> Result<Page<AdminUser, UserId>> {
        let _turn = self.bulk_turn(caller).await?;
        let users = self.store().admin_users(query, limit.saturating_add(1)).await?;
        Ok(Page::of(users, Some(limit), |user| user.user))
    }

    /// Grants or revokes the administration of the installation.
    pub async fn set_admin(
        &self,
        caller: &Reauthenticated<permission::Operate>,
        user: UserId,
        is_admin: bool,
    ) -> Result<()> {
        if is_admin {
            // A node that does not know administrators knows no suspension either.
            self.require_roles_on_all_nodes().await?;
        }
        let account = self.person(user).await?;
        let settings = self.settings();
        let text = if is_admin {
            emails::admin_granted(settings)
        } else {
            emails::admin_revoked(settings)
        };
        let mails = [self.new_mail(&account.email, text)];
        let (who, by) = (caller.admin_authority(), self.audit(caller));
        let outcome = self.store().set_admin(user, is_admin, who, &mails, &by).await?;
        self.announce(require_changed(outcome)?);
        Ok(())
    }

    /// Suspends a user, which ends their sessions, or resumes them.
    pub async fn suspend_user(
        &self,
        caller: &Reauthenticated<permission::Operate>,
        user: UserId,
        suspended: bool,
    ) -> Result<()> {
        if suspended {
            self.require_roles_on_all_nodes().await?;
        }
        let account = self.person(user).await?;
        let settings = self.settings();
        let text = if suspended {
            emails::user_suspended(settings)
        } else {
            emails::user_resumed(settings)
        };
        let mails = [self.new_mail(&account.email, text)];
        let (who, by) = (caller.admin_authority(), self.audit(caller));
        let outcome = self.store().suspend_user(user, suspended, who, &mails, &by).await?;
        self.announce(require_changed(outcome)?);
        Ok(())
    }

    /// Mails a link to set a new password.
    pub async fn mail_reset_link(
        &self,
        caller: &Reauthenticated<permission::Operate>,
        user: UserId,
    ) -> Result<()> {
        let account = self.person(user).await?;
        let token = Kind::Reset.issue(random::bytes());
        let text = templates::reset(self.settings(), &account.email, &token);
        let mail = self.new_mail(&account.email, text);
        self.store_reset_token(&account, &token, Some(&mail), Some(&self.audit(caller))).await?;
        self.announce(true);
        Ok(())
    }

    /// Removes the second factors of a user who has lost them.
    pub async fn reset_factors(
        &self,
        caller: &Reauthenticated<permission::Operate>,
        user: UserId,
    ) -> Result<()> {
        let account = self.person(user).await?;
        let mails = [self.new_mail(
            &account.email,
            templates::mfa_reset(self.settings(), &account.email, "an administrator"),
        )];
        let (who, by) = (caller.admin_authority(), self.audit(caller));
        let outcome = self.store().reset_factors(user, who, &mails, &by).await?;
        self.announce(require_changed(outcome)?);
        Ok(())
    }

    /// Deletes a user, and the teams that nobody else is in.
    pub async fn delete_user_as_admin(
        &self,
        caller: &Reauthenticated<permission::Operate>,
        user: UserId,
    ) -> Result<()> {
        let account = self.person(user).await?;
        let mails = [self.new_mail(&account.email, emails::user_deleted(self.settings()))];
        // Refused before anything is deleted.
        if self.store().is_only_admin(user).await? {
            return Err(Error::LastAdmin);
        }
        let deleter = Deleter::Administration(caller.admin_authority(), &mails);
        let by = self.audit(caller);
        require_done(self.store().delete_account(user, deleter, &by, self.now()).await?)?;
        self.announce(true);
        self.finish_deletion(by.at()).await
    }

    /// The account of a person.
    async fn person(&self, user: UserId) -> Result<Account> {
        let account = self.store().account(user).await?;
        // Service accounts have no address.
        account.filter(|account| !account.email.is_empty()).ok_or(Error::NotFound("user"))
    }

    /// Has queued mails sent.
    pub(super) fn announce(&self, changed: bool) {
        if changed {
            self.0.mail_queued.notify_one();
        }
    }
}
