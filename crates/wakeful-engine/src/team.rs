//! The users of a team: seen, added, changed, logged out and removed by any
//! of them, and by nobody else.

use std::net::IpAddr;
use wakeful_core::email::Email;
use wakeful_core::id::UserId;
use wakeful_core::password::NewPassword;
use wakeful_store::{Added, Member};

use crate::caller::Caller;
use crate::{Engine, Error, Result};

/// A user to add, who needs a password, or to change.
#[derive(Clone, Debug)]
pub enum SaveUser {
    Add { email: Email, password: NewPassword },
    Change { user: UserId, email: Email, password: Option<NewPassword> },
}

impl Engine {
    pub async fn members(&self, caller: &Caller) -> Result<Vec<Member>> {
        Ok(self.store().team(caller.team).members().await?)
    }

    pub async fn save_user(
        &self,
        caller: &Caller,
        save: &SaveUser,
        from: IpAddr,
    ) -> Result<UserId> {
        match save {
            SaveUser::Change { user, email, password } => {
                self.change_user(caller, *user, email, password.as_ref(), from).await?;
                Ok(*user)
            }
            SaveUser::Add { email, password } => {
                let plan = self.allow_user(caller.team).await?;
                let most = plan.as_ref().and_then(|plan| plan.limits.users);
                let hash = self.hash_new(password, "password1", from).await?;
                let account = self.new_account(email, hash, "");
                let by = (caller.user, caller.credential());
                let team = self.store().team(caller.team);
                match team.add_user(&account, most, by, self.now()).await? {
                    Added::Done => Ok(account.user),
                    Added::Full => Err(self.too_many_users(plan.as_ref())),
                }
            }
        }
    }

    /// Ends every session and API key of these users, of all or of none.
    pub async fn revoke_users(&self, caller: &Caller, users: &[UserId]) -> Result<()> {
        let revoked = self.store().team(caller.team).revoke(&distinct(users), self.now()).await?;
        found(revoked)
    }

    /// Deletes these users, all or none.
    pub async fn delete_users(&self, caller: &Caller, users: &[UserId]) -> Result<()> {
        let deleted =
            self.store().team(caller.team).delete_users(&distinct(users), self.now()).await?;
        found(deleted)
    }
}

fn distinct(users: &[UserId]) -> Vec<UserId> {
    let mut users = users.to_vec();
    users.sort_unstable();
    users.dedup();
    users
}

fn found(all: bool) -> Result<()> {
    if all { Ok(()) } else { Err(Error::NotFound("user")) }
}
