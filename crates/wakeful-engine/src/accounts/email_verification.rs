//! Verification of email addresses. A link is mailed to the address; the user who opens it can
//! read mail there. Until then, no notification is sent to the address, so that nobody can
//! use the service to mail other people.

use std::net::IpAddr;
use std::time::Duration;
use wakeful_core::access::permission;
use wakeful_core::email_address;
use wakeful_core::id::{TeamId, UserId};
use wakeful_core::notifications::notifier::AccountSpec;
use wakeful_core::secret::Secret;
use wakeful_core::token::{Digest, Kind};
use wakeful_store::NewVerification;

use crate::accounts::auth::Origin;
use crate::caller::{Authorized, Caller, audit_of_account};
use crate::{Engine, Error, Result, mail::templates, random};

const VERIFICATION_LIFETIME: Duration = Duration::from_secs(7 * 86_400);

/// The outcome of a request for a link.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum VerificationRequest {
    Sent,
    /// There is nothing left to verify; no mail was sent.
    AlreadyVerified,
}

impl Engine {
    /// Mails the caller a link that verifies the address of the account.
    pub async fn send_verification(
        &self,
        caller: &Authorized<permission::Myself>,
        from: IpAddr,
    ) -> Result<VerificationRequest> {
        self.mail_verification(caller, from).await
    }

    pub(crate) async fn mail_verification(
        &self,
        caller: &Caller,
        from: IpAddr,
    ) -> Result<VerificationRequest> {
        let account = self.store().account(caller.user()).await?.ok_or(Error::NotAuthenticated)?;
        if account.email_verified {
            return Ok(VerificationRequest::AlreadyVerified);
        }
        let key = email_address::key(&account.email);
        self.count_attempts(&self.verification_limits(account.user, &key, from)).await?;
        let (token, link) = self.new_verification();
        let text = templates::verification(self.settings(), &account.email, &token);
        let mail = self.new_mail(&account.email, text);
        self.store().add_verification(&account, link, &mail, self.now()).await?;
        self.0.mail_queued.notify_one();
        Ok(VerificationRequest::Sent)
    }

    /// Verifies an address with the token of a mailed link.
    pub async fn verify_email(&self, token: &Secret, from: &Origin) -> Result<()> {
        let limits = self.failed_login_limit(token.expose(), from.address);
        self.check_limit(&limits).await?;
        if self.finish_signup(Digest::of(token.expose()), from).await? {
            return Ok(());
        }
        let Some(user) = self.use_verification(token, from).await? else {
            return Err(self.record_failure(&limits, Error::BadVerificationToken).await?);
        };
        tracing::info!(user.id = %user, "user {user} verified the email address");
        Ok(())
    }

    /// `None` if the token is not valid, or no longer.
    async fn use_verification(&self, token: &Secret, from: &Origin) -> Result<Option<UserId>> {
        if Kind::Verification.decode(token.expose()).is_none() {
            return Ok(None);
        }
        let digest = Digest::of(token.expose());
        match self.store().account_of_verification(digest).await? {
            None => Ok(None),
            Some(account) => {
                let by = audit_of_account(&account, from, self.now());
                Ok(self.store().verify_email(digest, &by).await?)
            }
        }
    }

    /// A new token, and what is stored of it.
    pub(crate) fn new_verification(&self) -> (Secret, NewVerification) {
        let token = Kind::Verification.issue(random::bytes());
        let digest = Digest::of(token.expose());
        (token, NewVerification { digest, expires: self.now().after(VERIFICATION_LIFETIME) })
    }

    /// The recipient of a user's personal notifier in a team, as of now; `None` while the user
    /// has no access to the team.
    pub(crate) async fn account_spec(
        &self,
        team: TeamId,
        user: UserId,
    ) -> Result<Option<AccountSpec>> {
        let account = self.store().account_of_member(team, user).await?;
        Ok(account.map(|account| AccountSpec {
            user,
            email: account.email,
            verified: account.email_verified,
        }))
    }
}
