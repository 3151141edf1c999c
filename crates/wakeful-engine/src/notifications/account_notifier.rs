//! Personal notifiers, of type account: each user has at most one, and only that user can
//! create, change or delete it. Everyone in the team sees it and may link it to monitors.

use std::net::IpAddr;
use wakeful_core::access::permission;
use wakeful_core::notifications::notifier::{Channel, Notifier};
use wakeful_store::StoreError;

use super::notifiers::too_many_notifiers;
use super::notifiers::{NotifierDraft, NotifierView};
use crate::caller::{Authorized, Caller};
use crate::{Engine, Error, MAX_SAVE_ATTEMPTS, Result};

impl Engine {
    /// The channel of the caller's personal notifier.
    pub async fn account_channel(&self, caller: &Authorized<permission::Edit>) -> Result<Channel> {
        let spec = self.account_spec(caller.team(), caller.user()).await?;
        Ok(Channel::Account(spec.ok_or(Error::NotAuthenticated)?))
    }

    /// Creates the caller's personal notifier, or changes it if there is one. A new one for an
    /// address that is not verified sends the link that verifies it.
    pub(super) async fn save_account_notifier<E: From<Error>>(
        &self,
        caller: &Caller,
        from: IpAddr,
        mut merge: impl FnMut(Option<&Notifier>) -> std::result::Result<NotifierDraft, E>,
    ) -> std::result::Result<NotifierView, E> {
        for _ in 0..MAX_SAVE_ATTEMPTS {
            let team = self.store().team(caller.team_access());
            let stored = team.account_notifier(caller.user()).await.map_err(Error::from)?;
            let draft = merge(stored.as_ref())?;
            let saved = match &stored {
                Some(before) => self.change_notifier(caller, before, draft).await?,
                None => self.create_account_notifier(caller, from, draft).await?,
            };
            if let Some(view) = saved {
                return Ok(view);
            }
        }
        Err(Error::Conflict.into())
    }

    /// `None` if the caller has one by now.
    async fn create_account_notifier(
        &self,
        caller: &Caller,
        from: IpAddr,
        draft: NotifierDraft,
    ) -> Result<Option<NotifierView>> {
        let notifier = self.apply_notifier_draft(caller, draft, None);
        let team = self.store().team(caller.team_access());
        match team.add_notifier(&notifier, &self.audit(caller)).await {
            Err(StoreError::Taken) => return Ok(None),
            Ok(false) => return Err(too_many_notifiers()),
            Ok(true) => {}
            Err(error) => return Err(error.into()),
        }
        match self.mail_verification(caller, from).await {
            // Enough links have been sent; the user can request another one later.
            Ok(_) | Err(Error::Limited { .. }) => Ok(Some(notifier.into())),
            Err(error) => Err(error),
        }
    }
}

/// Refuses to change the personal notifier of another user.
pub(super) fn require_own_notifier(caller: &Caller, notifier: &Notifier) -> Result<()> {
    if notifier.channel.user().is_none_or(|user| user == caller.user()) {
        Ok(())
    } else {
        Err(Error::PersonalNotifier)
    }
}
