//! Operations of the operator at the command line, for users who are locked out. There is no
//! caller: access to the data folder is the authorization.

use wakeful_core::email_address;
use wakeful_core::token::Kind;
use wakeful_store::Account;

pub use wakeful_store::ListedUser;

use crate::accounts::team::require_done;
use crate::caller::audit_of_operator;
use crate::{Engine, Error, Result, mail::templates, random};

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

    /// Turns off the second factor of a user who has lost it, and notifies them by mail.
    pub async fn disable_mfa_for(&self, email: &str) -> Result<()> {
        let account = self.account_of(email).await?;
        let by = audit_of_operator(account.team, self.now());
        let text =
            templates::mfa_reset(self.settings(), &account.email, "the operator of the service");
        let notice = self.new_mail(&account.email, text);
        Ok(self.store().reset_mfa(account.user, &notice, &by).await?)
    }

    /// Deletes a user, and the teams that nobody else is in.
    pub async fn delete_user_for(&self, email: &str) -> Result<()> {
        let account = self.account_of(email).await?;
        let by = audit_of_operator(account.team, self.now());
        self.delete_deliveries_before_account(account.user).await?;
        require_done(self.store().delete_account(account.user, None, &by, self.now()).await?)?;
        self.erase_deleted().await
    }

    pub(crate) async fn account_of(&self, email: &str) -> Result<Account> {
        self.store()
            .account_by_email(&email_address::key(email))
            .await?
            .ok_or(Error::NotFound("user"))
    }
}
