//! Operations on the escalation policies of a team.

use wakeful_core::access::permission;
use wakeful_core::escalation::{MAX_POLICIES, Policy, PolicyStep, Target};
use wakeful_core::id::PolicyId;
use wakeful_store::{DeleteLinkedOutcome, Responders, SaveTeamOutcome, StoredPolicy};

use crate::caller::{Authorized, Caller};
use crate::notifications::notifiers::require_all_monitors;
use crate::{Engine, Error, MAX_SAVE_ATTEMPTS, Result, random};

/// The settings of a policy, complete and well formed.
#[derive(Clone, Debug)]
pub struct PolicyDraft {
    pub name: String,
    pub steps: Vec<PolicyStep>,
    pub repeat: u32,
    pub every: u32,
    pub ack_timeout: u32,
}

impl Engine {
    /// The team's policies in the order of creation.
    pub async fn policies(&self, caller: &Authorized<permission::View>) -> Result<Vec<Policy>> {
        let stored = self.store().team(caller.team_access()).policies().await?;
        Ok(stored.into_iter().map(|one| one.policy).collect())
    }

    /// Creates a policy, or changes the one with this id. `merge` applies the request to the
    /// stored policy, and is called again if that changed meanwhile.
    pub async fn save_policy<E: From<Error>>(
        &self,
        caller: &Authorized<permission::Edit>,
        id: Option<PolicyId>,
        mut merge: impl FnMut(Option<&Policy>) -> std::result::Result<PolicyDraft, E>,
    ) -> std::result::Result<Policy, E> {
        require_all_monitors(caller)?;
        for _ in 0..MAX_SAVE_ATTEMPTS {
            let before = match id {
                Some(id) => Some(self.stored_policy(caller, id).await?),
                None => None,
            };
            let draft = merge(before.as_ref().map(|stored| &stored.policy))?;
            if let Some(policy) = self.store_policy(caller, before.as_ref(), draft).await? {
                return Ok(policy);
            }
        }
        Err(Error::Conflict.into())
    }

    /// Deletes a policy that nothing uses.
    pub async fn delete_policy(
        &self,
        caller: &Authorized<permission::Edit>,
        id: PolicyId,
    ) -> Result<()> {
        require_all_monitors(caller)?;
        let stored = self.stored_policy(caller, id).await?;
        let team = self.store().team(caller.team_access());
        match team.delete_policy(&stored.policy, self.now(), &self.audit(caller)).await? {
            DeleteLinkedOutcome::Done => Ok(()),
            DeleteLinkedOutcome::Missing => Err(Error::NotFound("policy")),
            DeleteLinkedOutcome::Linked(by) => Err(Error::PolicyInUse(by)),
        }
    }

    async fn stored_policy(&self, caller: &Caller, id: PolicyId) -> Result<StoredPolicy> {
        let found = self.store().team(caller.team_access()).policy(id).await?;
        found.ok_or(Error::NotFound("policy"))
    }

    /// `None` if the policy was changed since it was read.
    async fn store_policy(
        &self,
        caller: &Caller,
        before: Option<&StoredPolicy>,
        draft: PolicyDraft,
    ) -> Result<Option<Policy>> {
        let now = self.now();
        let old = before.map(|stored| &stored.policy);
        let PolicyDraft { name, steps, repeat, every, ack_timeout } = draft;
        let policy = Policy {
            id: old.map_or_else(|| PolicyId::new(now, random::bytes()), |old| old.id),
            team: caller.team(),
            name,
            steps,
            repeat,
            every,
            ack_timeout,
            created: old.map_or(now, |old| old.created),
            modified: now,
        };
        if old.is_some_and(|old| *old == (Policy { modified: old.modified, ..policy.clone() })) {
            return Ok(old.cloned());
        }
        let team = self.store().team(caller.team_access());
        let responders = team.responders(now).await?;
        for (place, step) in policy.steps.iter().enumerate() {
            // What was deleted since it was saved may stay.
            let old = old.and_then(|old| old.steps.get(place));
            let is_new = |target: &&Target| !old.is_some_and(|old| old.notify.contains(target));
            if let Some(target) = step.notify.iter().filter(is_new).find(|t| !knows(&responders, t))
            {
                return Err(unknown(target));
            }
        }
        let by = self.audit(caller);
        let saved = match before {
            Some(before) => team.change_policy(before, &policy, &by).await?,
            None => team.add_policy(&policy, &by).await?,
        };
        match saved {
            SaveTeamOutcome::Done => Ok(Some(policy)),
            SaveTeamOutcome::Conflict => Ok(None),
            SaveTeamOutcome::LimitReached => {
                Err(Error::FixedLimit { max: MAX_POLICIES as u32, of: "policies per team" })
            }
        }
    }
}

/// Whether the team has a target.
fn knows(responders: &Responders, target: &Target) -> bool {
    match target {
        Target::Notifier(id) => {
            responders.notifiers.get(id).is_some_and(|notifier| !notifier.is_personal)
        }
        Target::Schedule(id) => responders.schedules.contains_key(id),
        Target::User(id) => responders.members.iter().any(|member| member.user == *id),
        Target::Everybody(_) => true,
    }
}

fn unknown(target: &Target) -> Error {
    let why = match target {
        Target::Notifier(id) => format!("names an unknown notifier: {id}"),
        Target::Schedule(id) => format!("names an unknown schedule: {id}"),
        Target::User(id) => format!("names a user who is not a member of the team: {id}"),
        Target::Everybody(_) => "is invalid".to_owned(),
    };
    Error::Refused { field: "steps", why }
}
