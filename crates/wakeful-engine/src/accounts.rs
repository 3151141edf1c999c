//! The life of an account: signing up makes a team and its first user,
//! settings change the caller, and the last user who leaves takes the team along.

use wakeful_core::email::Email;
use wakeful_core::id::{TeamId, UserId};
use wakeful_core::password::NewPassword;
use wakeful_core::secret::Secret;
use wakeful_store::{NewAccount, UserChange};

use crate::auth::Origin;
use crate::caller::Caller;
use crate::{Engine, Error, Result, letters, random};

#[derive(Clone, Debug)]
pub struct SignUp {
    pub email: Email,
    pub password: NewPassword,
    pub name: String,
}

/// A user who was let in, with the token that says so.
#[derive(Clone, Debug)]
pub struct SignedIn {
    pub user: UserId,
    pub team: TeamId,
    pub email: String,
    pub token: Secret,
}

impl Engine {
    pub async fn sign_up(&self, wanted: &SignUp, from: &Origin) -> Result<SignedIn> {
        if !self.settings().signup_open {
            return Err(Error::SignUpClosed);
        }
        self.count(&self.sign_ups(from.address)).await?;
        let team = TeamId::new(self.now(), random::bytes());
        let account = self.new_account(&wanted.email, &wanted.password, &wanted.name).await?;
        let (token, session) = self.new_session(account.user, from);
        let welcome =
            self.letter(wanted.email.as_str(), letters::welcome(self.settings(), &wanted.email));
        self.store().sign_up(team, &account, &session, &welcome, self.now()).await?;
        self.0.mail_waits.notify_one();
        tracing::info!(user.id = %account.user, team.id = %team, "user {} signed up", account.user);
        Ok(SignedIn { user: account.user, team, email: wanted.email.to_string(), token })
    }

    /// Changes the caller's own email and, when one is given, password.
    pub async fn save_settings(
        &self,
        caller: &Caller,
        email: &Email,
        password: Option<&NewPassword>,
    ) -> Result<()> {
        self.change_user(caller, caller.user, email, password).await
    }

    /// Removes the caller's account, and the team with its last user.
    pub async fn delete_account(&self, caller: &Caller) -> Result<()> {
        self.delete_users(caller, &[caller.user]).await
    }

    pub(crate) async fn new_account(
        &self,
        email: &Email,
        password: &NewPassword,
        name: &str,
    ) -> Result<NewAccount> {
        Ok(NewAccount {
            user: UserId::new(self.now(), random::bytes()),
            email: email.clone(),
            name: name.to_owned(),
            password_hash: self.0.hasher.turn().await?.hash(password.secret()).await,
        })
    }

    pub(crate) async fn change_user(
        &self,
        caller: &Caller,
        user: UserId,
        email: &Email,
        password: Option<&NewPassword>,
    ) -> Result<()> {
        let password_hash = match password {
            Some(password) => Some(self.0.hasher.turn().await?.hash(password.secret()).await),
            None => None,
        };
        let keep_session = if user == caller.user { caller.session() } else { None };
        let change = UserChange { user, email: email.clone(), password_hash, keep_session };
        match self.store().team(caller.team).change_user(&change, self.now()).await? {
            true => Ok(()),
            false => Err(Error::NotFound("user")),
        }
    }
}
