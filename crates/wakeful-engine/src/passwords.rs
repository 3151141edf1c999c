//! A lost password and its replacement. Asking answers the same for every
//! address; the mailed token is good once and for an hour.

use std::net::IpAddr;
use std::time::Duration;
use wakeful_core::chain::Chain;
use wakeful_core::email::{self, Email};
use wakeful_core::password::NewPassword;
use wakeful_core::secret::Secret;
use wakeful_core::token::{Digest, Kind};
use wakeful_store::{Account, Mail};

use crate::{Engine, Error, Result, letters, random};

const RESET_LIVES: Duration = Duration::from_secs(3600);

impl Engine {
    /// Sends a reset link if the address has an account. What is done only for
    /// a known address is done after the answer, so that time tells nothing.
    pub async fn lose_password(&self, email: &str, from: IpAddr) -> Result<()> {
        self.count(&self.reset_requests(from)).await?;
        if let Some(account) = self.store().account_by_email(&email::key(email)).await? {
            let engine = self.clone();
            self.0.tasks.spawn(async move {
                if let Err(error) = engine.send_reset(&account).await {
                    tracing::warn!(user.id = %account.user, error = %Chain(&error), "no reset link for user {}", account.user);
                }
            });
        }
        Ok(())
    }

    async fn send_reset(&self, account: &Account) -> Result<()> {
        self.count(&self.resets(&email::key(&account.email))).await?;
        let token = Kind::Reset.issue(random::bytes());
        let letter = letters::reset(self.settings(), &account.email, &token);
        let mail = self.letter(&account.email, letter);
        self.keep_reset(account, &token, Some(&mail)).await?;
        self.0.mail_waits.notify_one();
        Ok(())
    }

    pub(crate) async fn keep_reset(
        &self,
        account: &Account,
        token: &Secret,
        mail: Option<&Mail>,
    ) -> Result<()> {
        let now = self.now();
        let expires = now.after(RESET_LIVES);
        let digest = Digest::of(token.expose());
        Ok(self.store().add_reset(account, digest, expires, mail, now).await?)
    }

    /// Sets a password by a mailed token or by a live Bearer Token of the account.
    pub async fn update_password(
        &self,
        email: &Email,
        password: &NewPassword,
        tokenid: &Secret,
        from: IpAddr,
    ) -> Result<()> {
        let limits = self.failed_logins(&email.key(), from);
        self.allow(&limits).await?;
        let updated = if Kind::Reset.decode(tokenid.expose()).is_some() {
            self.update_by_reset(email, password, tokenid, from).await
        } else {
            self.update_by_session(email, password, tokenid, from).await
        };
        match updated {
            Err(Error::BadResetToken) => Err(self.failed(&limits, Error::BadResetToken).await?),
            updated => updated,
        }
    }

    async fn update_by_reset(
        &self,
        email: &Email,
        password: &NewPassword,
        token: &Secret,
        from: IpAddr,
    ) -> Result<()> {
        let digest = Digest::of(token.expose());
        // Looked at before the work of hashing, spent after it.
        if !self.store().reset_is_live(digest, &email.key(), self.now()).await? {
            return Err(Error::BadResetToken);
        }
        let hash = self.hash_new(password, "password1", from).await?;
        let spent = self.store().reset_password(digest, &email.key(), &hash, self.now()).await?;
        let user = spent.ok_or(Error::BadResetToken)?;
        tracing::info!(user.id = %user, "user {user} set a new password by a mailed link");
        Ok(())
    }

    async fn update_by_session(
        &self,
        email: &Email,
        password: &NewPassword,
        token: &Secret,
        from: IpAddr,
    ) -> Result<()> {
        let caller = match self.caller_by_token(token.expose()).await {
            Err(Error::NotAuthenticated) => return Err(Error::BadResetToken),
            caller => caller?,
        };
        let account = self.store().account(caller.user).await?.ok_or(Error::BadResetToken)?;
        if email::key(&account.email) != email.key() {
            return Err(Error::BadResetToken);
        }
        let kept = Email::parse(&account.email).unwrap_or_else(|_| email.clone());
        match self.change_user(&caller, caller.user, &kept, Some(password), from).await {
            // Revoked since it was looked up.
            Err(Error::NotAuthenticated) => Err(Error::BadResetToken),
            changed => changed,
        }
    }
}
