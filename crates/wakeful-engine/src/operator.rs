//! What the operator does for somebody who is locked out, at the command line.
//! There is no caller here: whoever can read the data folder may do this.

use wakeful_core::email;
use wakeful_core::token::Kind;
use wakeful_store::{Account, ListedUser};

use crate::{Engine, Error, Result, letters, random};

impl Engine {
    /// Every user of the installation, team by team.
    pub async fn every_user(&self) -> Result<Vec<ListedUser>> {
        Ok(self.store().every_user().await?)
    }

    /// A link with which the user sets a new password, to be handed over by the operator.
    pub async fn reset_link_for(&self, email: &str) -> Result<String> {
        let account = self.account_of(email).await?;
        let token = Kind::Reset.issue(random::bytes());
        self.keep_reset(&account, &token, None).await?;
        Ok(letters::reset_link(self.settings(), &token))
    }

    /// Turns off the second factor of a user who has lost it.
    pub async fn disable_mfa_for(&self, email: &str) -> Result<()> {
        let account = self.account_of(email).await?;
        Ok(self.store().disable_mfa(account.user).await?)
    }

    /// Deletes a user, and the team with its last one.
    pub async fn delete_user_for(&self, email: &str) -> Result<()> {
        let account = self.account_of(email).await?;
        let deleted =
            self.store().team(account.team).delete_users(&[account.user], self.now()).await?;
        if deleted { Ok(()) } else { Err(Error::NotFound("user")) }
    }

    pub(crate) async fn account_of(&self, email: &str) -> Result<Account> {
        self.store().account_by_email(&email::key(email)).await?.ok_or(Error::NotFound("user"))
    }
}
