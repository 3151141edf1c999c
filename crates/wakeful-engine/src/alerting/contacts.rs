//! How the caller is notified: the contact rules, and the calendar feed of the caller's shifts.

use wakeful_core::access::permission;
use wakeful_core::contacts::{ContactRule, ContactTarget};
use wakeful_core::token::Digest;

pub use wakeful_store::StoredContacts;

use super::schedules::{feed_token, feed_url};
use crate::caller::Authorized;
use crate::{Engine, Error, Result};

impl Engine {
    /// How the caller is notified as a member of the team.
    pub async fn contacts(
        &self,
        caller: &Authorized<permission::Myself>,
    ) -> Result<StoredContacts> {
        Ok(self.store().team(caller.team_access()).contacts(caller.user()).await?)
    }

    /// Sets how the caller is notified. Rules name the caller's account or notifiers of the team.
    pub async fn save_contacts(
        &self,
        caller: &Authorized<permission::Myself>,
        rules: &[ContactRule],
    ) -> Result<StoredContacts> {
        let team = self.store().team(caller.team_access());
        let own =
            |user: Option<wakeful_core::id::UserId>| user.is_none_or(|one| one == caller.user());
        let mut notifiers = team.notifiers().await?;
        notifiers.extend(team.personal_notifiers(caller.user()).await?);
        for rule in rules {
            let ContactTarget::Notifier(id) = rule.to else { continue };
            // The personal notifiers of others are not the caller's to use.
            let known = notifiers.iter().find(|one| one.id == id);
            if !known.is_some_and(|one| own(one.channel.user())) {
                let why = "name an unknown notifier".to_owned();
                return Err(Error::Refused { field: "rules", why });
            }
        }
        let before = team.contacts(caller.user()).await?;
        let rules = (rules != [ContactRule::DEFAULT]).then_some(rules);
        if before.rules.as_deref() == rules {
            return Ok(before);
        }
        let (user, email, by) = (caller.user(), caller.email(), self.audit(caller));
        let old = before.rules.as_deref();
        team.save_contacts(user, email, old, rules, self.now(), &by).await?;
        Ok(team.contacts(caller.user()).await?)
    }

    /// A new URL of the calendar of the caller's shifts; the old one stops working.
    pub async fn new_contacts_feed(
        &self,
        caller: &Authorized<permission::Myself>,
    ) -> Result<String> {
        let token = feed_token();
        let team = self.store().team(caller.team_access());
        let (digest, by) = (Digest::of(&token), self.audit(caller));
        let authority = caller.authority();
        team.set_contacts_feed(authority, caller.email(), digest, self.now(), &by).await?;
        Ok(feed_url(self.public_url(), &token))
    }
}
