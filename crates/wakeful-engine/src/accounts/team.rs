//! Operations on the users of a team. Every member of the team may call them.

use std::net::IpAddr;
use wakeful_core::accounts::password::NewPassword;
use wakeful_core::email_address::EmailAddress;
use wakeful_core::id::UserId;
use wakeful_store::AddUserOutcome;

pub use wakeful_store::Member;

use crate::caller::Caller;
use crate::{Engine, Error, Result};

/// A user to add, who needs a password, or to change.
#[derive(Clone, Debug)]
pub enum SaveUser {
    Add { email: EmailAddress, password: NewPassword },
    Change { user: UserId, email: EmailAddress, password: Option<NewPassword> },
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
                let plan = self.check_user_limit(caller.team).await?;
                let limit = plan.as_ref().and_then(|plan| plan.limits.users);
                let hash = self.hash_new(password, "password1", from).await?;
                let account = self.new_account(email, hash, "");
                let team = self.store().team(caller.team);
                match team.add_user(&account, limit, caller.authority(), self.now()).await? {
                    AddUserOutcome::Done => Ok(account.user),
                    AddUserOutcome::Full => Err(self.too_many_users(plan.as_ref())),
                }
            }
        }
    }

    /// Ends all sessions and deletes all API keys of these users, of all or none.
    pub async fn revoke_users(&self, caller: &Caller, users: &[UserId]) -> Result<()> {
        let revoked = self
            .store()
            .team(caller.team)
            .revoke(&distinct(users), caller.authority(), self.now())
            .await?;
        require_all_found(revoked)
    }

    /// Deletes these users, all or none.
    pub async fn delete_users(&self, caller: &Caller, users: &[UserId]) -> Result<()> {
        let by = Some(caller.authority());
        let team = self.store().team(caller.team);
        let deleted = team.delete_users(&distinct(users), by, self.now()).await?;
        require_all_found(deleted)
    }
}

fn distinct(users: &[UserId]) -> Vec<UserId> {
    let mut users = users.to_vec();
    users.sort_unstable();
    users.dedup();
    users
}

fn require_all_found(all: bool) -> Result<()> {
    if all { Ok(()) } else { Err(Error::NotFound("user")) }
}
