//! Service accounts: users without a password, for programs, which have API keys only.

use wakeful_core::access::{Role, UserKind, permission};
use wakeful_core::accounts::MAX_SERVICES_PER_TEAM;
use wakeful_core::id::UserId;
use wakeful_store::{AddServiceOutcome, MemberOutcome, NewService, ServiceChange};

pub use wakeful_store::ServiceAccount;

use crate::accounts::api_keys::{ApiKeyDraft, NewKeyPair};
use crate::accounts::team::require_done;
use crate::caller::{Authorized, Reauthenticated};
use crate::{Engine, Error, Result, random};

/// A service account to add, or to change; what is `None` stays as it is.
#[derive(Clone, Debug)]
pub enum SaveService {
    Add { name: String, role: Role, suspended: bool },
    Change { service: UserId, name: Option<String>, role: Option<Role>, suspended: Option<bool> },
}

impl Engine {
    pub async fn services(
        &self,
        caller: &Authorized<permission::People>,
    ) -> Result<Vec<ServiceAccount>> {
        Ok(self.store().team(caller.team_access()).services().await?)
    }

    pub async fn save_service(
        &self,
        caller: &Authorized<permission::People>,
        save: &SaveService,
    ) -> Result<UserId> {
        self.require_roles_on_all_nodes().await?;
        let (now, team) = (self.now(), self.store().team(caller.team_access()));
        let by = self.audit(caller);
        match save {
            SaveService::Add { name, role, suspended } => {
                let user = UserId::new(now, random::bytes());
                let new = NewService { user, name, role: *role, suspended: *suspended };
                match team.add_service(&new, caller.authority(), &by, now).await? {
                    AddServiceOutcome::Done => Ok(user),
                    AddServiceOutcome::Full => Err(Error::FixedLimit {
                        max: MAX_SERVICES_PER_TEAM,
                        of: "service accounts per team",
                    }),
                    AddServiceOutcome::RoleTooHigh => Err(Error::RoleTooHigh),
                }
            }
            SaveService::Change { service, name, role, suspended } => {
                let change = ServiceChange {
                    user: *service,
                    name: name.as_deref(),
                    role: *role,
                    suspended: *suspended,
                };
                match team.change_service(&change, caller.authority(), &by, now).await? {
                    MemberOutcome::Done => Ok(*service),
                    why => Err(service_error(why)),
                }
            }
        }
    }

    /// Deletes a service account and its API keys.
    pub async fn delete_service(
        &self,
        caller: &Reauthenticated<permission::People>,
        service: UserId,
    ) -> Result<()> {
        let team = self.store().team(caller.team_access());
        let by = self.audit(caller);
        match team.delete_service(service, caller.authority(), &by, self.now()).await? {
            MemberOutcome::Done => Ok(()),
            why => Err(service_error(why)),
        }
    }

    pub async fn create_service_key(
        &self,
        caller: &Reauthenticated<permission::People>,
        service: UserId,
        draft: ApiKeyDraft,
    ) -> Result<NewKeyPair> {
        if service == caller.user() && caller.kind() == UserKind::Person {
            return Err(service_error(MemberOutcome::NoUser));
        }
        self.create_key_for(caller, service, draft).await
    }
}

/// Why a service account was not changed.
pub(super) fn service_error(why: MemberOutcome) -> Error {
    match require_done(why) {
        Err(Error::NotFound(_)) | Ok(()) => Error::NotFound("service account"),
        Err(error) => error,
    }
}
