//! Sign-up creates a team and its first user, the settings change the caller's account, and
//! deleting the last user deletes the team.

use std::net::IpAddr;
use wakeful_core::access::permission;
use wakeful_core::accounts::password::NewPassword;
use wakeful_core::accounts::reauthentication::SessionMethod;
use wakeful_core::email_address::EmailAddress;
use wakeful_core::error_chain::ErrorChain;
use wakeful_core::id::{TeamId, UserId};
use wakeful_core::secret::Secret;
use wakeful_core::token::Digest;
use wakeful_store::{Deleter, NewAccount, UserChange};

use crate::accounts::auth::Origin;
use crate::accounts::team::{MembershipChange, require_done};
use crate::caller::{Caller, Reauthenticated, audit_of_person};
use crate::{Engine, Error, Result, SignupMode, mail::templates, random};

#[derive(Clone, Debug)]
pub struct SignUp {
    pub email: EmailAddress,
    pub password: NewPassword,
    pub name: String,
}

/// A user who has logged in, with a session token.
#[derive(Clone, Debug)]
pub struct SignedIn {
    pub user: UserId,
    pub team: TeamId,
    pub email: String,
    pub token: Secret,
}

impl Engine {
    pub async fn sign_up(&self, wanted: &SignUp, from: &Origin) -> Result<SignedIn> {
        self.require_signup(wanted.email.as_str())?;
        self.count_attempts(&self.signup_limits(from.address)).await?;
        if matches!(self.settings().signup, SignupMode::Domains(_)) {
            self.begin_signup(wanted, from).await?;
            return Err(Error::ConfirmEmail);
        }
        let team = TeamId::new(self.now(), random::bytes());
        let hash = self.hash_new(&wanted.password, "password", from.address).await?;
        let account = self.new_account(&wanted.email, hash, &wanted.name);
        let (token, session) = self.new_session(account.user, team, SessionMethod::Password, from);
        let (secret, link) = self.new_verification();
        let text = templates::welcome(self.settings(), &wanted.email, &secret);
        let welcome = self.new_mail(wanted.email.as_str(), text);
        let by = audit_of_person(team, account.user, wanted.email.as_str(), from, self.now());
        self.store().sign_up(team, &account, &session, &welcome, Some(link), &by).await?;
        self.0.mail_queued.notify_one();
        tracing::info!(user.id = %account.user, team.id = %team, "user {} signed up", account.user);
        Ok(SignedIn { user: account.user, team, email: wanted.email.to_string(), token })
    }

    /// Refuses addresses that may not have an account of their own.
    pub(crate) fn require_signup(&self, email: &str) -> Result<()> {
        let mode = &self.settings().signup;
        if mode.allows(email) { Ok(()) } else { Err(Error::SignUpClosed(mode.clone())) }
    }

    /// Mails a link; the account is created when it is used. For an address that has an account,
    /// nothing is mailed, and the response is the same.
    async fn begin_signup(&self, wanted: &SignUp, from: &Origin) -> Result<()> {
        // Someone else's mailbox must not be filled, from however many addresses. Counted whether
        // or not there is an account, so that the limit does not tell.
        self.count_attempt(&self.reset_limit(&wanted.email.key())).await?;
        let hash = self.hash_new(&wanted.password, "password", from.address).await?;
        let account = self.new_account(&wanted.email, hash, &wanted.name);
        let engine = self.clone();
        // In the background, so that the response time does not tell either.
        self.0.tasks.spawn(async move {
            if let Err(error) = engine.mail_signup_link(&account).await {
                tracing::warn!(error = %ErrorChain(&error), "mailing the link of a sign-up failed");
            }
        });
        Ok(())
    }

    async fn mail_signup_link(&self, account: &NewAccount) -> Result<()> {
        if self.store().account_by_email(&account.email.key()).await?.is_some() {
            return Ok(());
        }
        let (token, link) = self.new_verification();
        let text = templates::confirm_signup(self.settings(), &account.email, &token);
        let mail = self.new_mail(account.email.as_str(), text);
        self.store().add_pending_signup(account, link, &mail, self.now()).await?;
        self.0.mail_queued.notify_one();
        Ok(())
    }

    /// Creates the account of a sign-up whose link is used; false if there is no such link.
    pub(super) async fn finish_signup(&self, digest: Digest, from: &Origin) -> Result<bool> {
        let now = self.now();
        let Some(pending) = self.store().pending_signup(digest, now).await? else {
            return Ok(false);
        };
        self.require_signup(&pending.email)?;
        let team = TeamId::new(now, random::bytes());
        let user = UserId::new(now, random::bytes());
        let by = audit_of_person(team, user, &pending.email, from, now);
        let created = self.store().finish_signup(digest, team, user, &by).await?;
        if created {
            tracing::info!(user.id = %user, team.id = %team, "user {user} signed up");
        }
        Ok(created)
    }

    /// Whether sign-up is open and nobody has signed up yet.
    pub async fn awaits_first_signup(&self) -> Result<bool> {
        Ok(self.settings().signup == SignupMode::Open && !self.store().has_accounts().await?)
    }

    /// Changes the caller's own email and, if given, password.
    pub async fn save_settings(
        &self,
        caller: &Reauthenticated<permission::Myself>,
        email: &EmailAddress,
        password: Option<&NewPassword>,
        from: IpAddr,
    ) -> Result<()> {
        let member = MembershipChange::default();
        self.change_user(caller, caller.user(), email, password, member, from).await
    }

    /// Deletes the caller's account, and the teams that nobody else is in.
    pub async fn delete_account(&self, caller: &Reauthenticated<permission::Myself>) -> Result<()> {
        let (user, by) = (caller.user(), self.audit(caller));
        // Refused before anything is deleted.
        if self.store().is_last_owner_of_others(user).await? {
            return Err(Error::LastOwner);
        }
        let deleter = Deleter::Holder(caller.authority());
        let deleted = self.store().delete_account(user, deleter, &by, self.now());
        require_done(deleted.await?)?;
        self.finish_deletion(by.at()).await
    }

    pub(crate) fn new_account(
        &self,
        email: &EmailAddress,
        password_hash: String,
        name: &str,
    ) -> NewAccount {
        NewAccount {
            user: UserId::new(self.now(), random::bytes()),
            email: email.clone(),
            name: name.to_owned(),
            password_hash,
        }
    }

    /// Hashes the new password in this field, unless it is a common one.
    pub(crate) async fn hash_new(
        &self,
        password: &NewPassword,
        field: &'static str,
        from: IpAddr,
    ) -> Result<String> {
        let hash = self.0.hasher.acquire(from).await?.hash_new(password).await;
        hash.map_err(|why| Error::Refused { field, why: why.0 })
    }

    pub(crate) async fn change_user(
        &self,
        caller: &Caller,
        user: UserId,
        email: &EmailAddress,
        password: Option<&NewPassword>,
        member: MembershipChange,
        from: IpAddr,
    ) -> Result<()> {
        let password_hash = match password {
            Some(password) => Some(self.hash_new(password, "password1", from).await?),
            None => None,
        };
        let MembershipChange { role, filter } = member;
        let change = UserChange {
            user,
            email: email.clone(),
            password_hash,
            role,
            filter,
            caller: caller.user(),
            credential: caller.credential(),
        };
        let team = self.store().team(caller.team_access());
        require_done(team.change_user(&change, &self.audit(caller), self.now()).await?)
    }
}
