//! Password resets. The response to a request is the same for every address; the mailed token
//! works once and expires in an hour.

use std::net::IpAddr;
use std::time::Duration;
use wakeful_core::access::permission;
use wakeful_core::accounts::password::NewPassword;
use wakeful_core::email_address::{self, EmailAddress};
use wakeful_core::error_chain::ErrorChain;
use wakeful_core::secret::Secret;
use wakeful_core::token::{Digest, Kind};
use wakeful_store::{Account, AuditContext, Mail};

use crate::accounts::auth::Origin;
use crate::accounts::team::MembershipChange;
use crate::caller::audit_of_account;
use crate::{Engine, Error, Result, mail::templates, random};

const RESET_TOKEN_LIFETIME: Duration = Duration::from_secs(3600);

impl Engine {
    /// Sends a reset link if the address has an account. The work for a known address is done
    /// in the background, so that the response time reveals nothing.
    pub async fn request_password_reset(&self, email: &str, from: IpAddr) -> Result<()> {
        self.count_attempts(&self.reset_request_limits(from)).await?;
        if let Some(account) = self.store().account_by_email(&email_address::key(email)).await? {
            let engine = self.clone();
            self.0.tasks.spawn(async move {
                if let Err(error) = engine.send_reset_email(&account).await {
                    tracing::warn!(user.id = %account.user, error = %ErrorChain(&error), "sending a reset link to user {} failed", account.user);
                }
            });
        }
        Ok(())
    }

    async fn send_reset_email(&self, account: &Account) -> Result<()> {
        self.count_attempt(&self.reset_limit(&email_address::key(&account.email))).await?;
        let token = Kind::Reset.issue(random::bytes());
        let text = templates::reset(self.settings(), &account.email, &token);
        let mail = self.new_mail(&account.email, text);
        self.store_reset_token(account, &token, Some(&mail), None).await?;
        self.0.mail_queued.notify_one();
        Ok(())
    }

    pub(crate) async fn store_reset_token(
        &self,
        account: &Account,
        token: &Secret,
        mail: Option<&Mail>,
        by: Option<&AuditContext>,
    ) -> Result<()> {
        let now = self.now();
        let expires = now.after(RESET_TOKEN_LIFETIME);
        let digest = Digest::of(token.expose());
        Ok(self.store().add_password_reset(account, digest, expires, mail, by, now).await?)
    }

    /// Sets a password, authorized by a mailed token or a valid bearer token of the account.
    pub async fn update_password(
        &self,
        email: &EmailAddress,
        password: &NewPassword,
        tokenid: &Secret,
        from: &Origin,
    ) -> Result<()> {
        let limits = self.failed_login_limit(&email.key(), from.address);
        self.check_limit(&limits).await?;
        let updated = if Kind::Reset.decode(tokenid.expose()).is_some() {
            self.update_by_reset_token(email, password, tokenid, from).await
        } else {
            self.update_by_session(email, password, tokenid, from).await
        };
        match updated {
            Err(Error::BadResetToken) => {
                Err(self.record_failure(&limits, Error::BadResetToken).await?)
            }
            updated => updated,
        }
    }

    async fn update_by_reset_token(
        &self,
        email: &EmailAddress,
        password: &NewPassword,
        token: &Secret,
        from: &Origin,
    ) -> Result<()> {
        let digest = Digest::of(token.expose());
        // Checked before the work of hashing, and used up after it.
        if !self.store().is_password_reset_valid(digest, &email.key(), self.now()).await? {
            return Err(Error::BadResetToken);
        }
        let account = self.store().account_by_email(&email.key()).await?;
        let account = account.ok_or(Error::BadResetToken)?;
        let hash = self.hash_new(password, "password1", from.address).await?;
        let by = audit_of_account(&account, from, self.now());
        let user = self.store().reset_password(digest, &email.key(), &hash, &by).await?;
        let user = user.ok_or(Error::BadResetToken)?;
        tracing::info!(user.id = %user, "user {user} set a new password with a reset link");
        Ok(())
    }

    async fn update_by_session(
        &self,
        email: &EmailAddress,
        password: &NewPassword,
        token: &Secret,
        from: &Origin,
    ) -> Result<()> {
        let caller = match self.caller_by_token(token.expose(), None).await {
            Err(Error::NotAuthenticated) => return Err(Error::BadResetToken),
            caller => caller?.with_origin(from.clone()).authorize::<permission::Myself>()?,
        };
        let account = self.store().account(caller.user()).await?.ok_or(Error::BadResetToken)?;
        if email_address::key(&account.email) != email.key() {
            return Err(Error::BadResetToken);
        }
        let stored = EmailAddress::parse(&account.email).unwrap_or_else(|_| email.clone());
        let user = caller.user();
        let member = MembershipChange::default();
        let changed =
            self.change_user(&caller, user, &stored, Some(password), member, from.address).await;
        match changed {
            // The token was revoked meanwhile.
            Err(Error::NotAuthenticated) => Err(Error::BadResetToken),
            changed => changed,
        }
    }
}
