//! Push messages to the browsers of a user: the subscriptions of the caller, and what delivery
//! needs to send to them. Only the user sees and changes them. In each team, one personal notifier
//! of type webpush sends to all of them.

use wakeful_core::access::permission;
use wakeful_core::error_chain::ErrorChain;
use wakeful_core::id::{NotifierId, PushSubscriptionId};
use wakeful_core::monitors::Name;
use wakeful_core::notifications::notifier::webpush::MAX_SUBSCRIPTIONS;
use wakeful_core::notifications::notifier::{
    Channel, Mailbox, Notifier, PushReceiver, PushSubscription,
};
use wakeful_core::one_line::one_line;
use wakeful_outbound::notify::webpush::vapid::{PRIVATE_KEY_BYTES, VapidKey};
use wakeful_outbound::notify::webpush::{Browsers, PushReport, ece};
use wakeful_store::{AddSubscriptionOutcome, StoreError};
use zeroize::Zeroizing;

use super::notifiers::NotifierDraft;
use crate::caller::{Authorized, Caller};
use crate::{Engine, Error, MAX_SAVE_ATTEMPTS, Result, random};

/// How much of the user agent is stored.
const MAX_AGENT_CHARS: usize = 255;
/// The name of a new notifier.
const NAME: &str = "Push";

/// What a browser needs to subscribe, and what the caller has.
#[derive(Clone, Debug)]
pub struct PushSetup {
    /// The public key of the installation.
    pub key: String,
    /// Oldest first.
    pub subscriptions: Vec<PushSubscription>,
    /// The caller's notifier of type webpush in the team.
    pub notifier: Option<NotifierId>,
}

/// A browser that receives push messages.
#[derive(Clone, Copy, Debug)]
pub struct Subscribed {
    pub id: PushSubscriptionId,
    /// The notifier that sends to it.
    pub notifier: NotifierId,
}

impl Engine {
    /// The key pair of the installation, created when it is first needed.
    async fn push_key(&self) -> Result<&VapidKey> {
        let key = self.0.push_key.get_or_try_init(|| async {
            let candidate = loop {
                let bytes = Zeroizing::new(random::bytes::<PRIVATE_KEY_BYTES>());
                if VapidKey::from_private(&*bytes).is_some() {
                    break bytes;
                }
            };
            let stored = self.store().push_key(&*candidate).await?;
            let key = VapidKey::from_private(&stored);
            key.ok_or(Error::Store(StoreError::Damaged("meta")))
        });
        key.await
    }

    /// What the caller's browser needs to subscribe, and the caller's subscriptions.
    pub async fn push_setup(&self, caller: &Authorized<permission::Myself>) -> Result<PushSetup> {
        let key = self.push_key().await?.public().to_owned();
        let subscriptions = self.store().push_subscriptions(caller.user()).await?;
        let notifier = self.push_notifier(caller).await?.map(|notifier| notifier.id);
        Ok(PushSetup { key, subscriptions, notifier })
    }

    /// The caller's notifier of type webpush in the team.
    pub(super) async fn push_notifier(&self, caller: &Caller) -> Result<Option<Notifier>> {
        let team = self.store().team(caller.team_access());
        let own = team.personal_notifiers(caller.user()).await?;
        Ok(own.into_iter().find(|notifier| notifier.channel == Channel::Webpush))
    }

    /// Subscribes a browser of the caller, which may be known already. The caller's notifier of
    /// type webpush in the team is created, or turned on.
    pub async fn subscribe_push(
        &self,
        caller: &Authorized<permission::Myself>,
        receiver: PushReceiver,
        agent: &str,
    ) -> Result<Subscribed> {
        if ece::check_key(&receiver).is_err() {
            let why = "must be a public key of P-256 in base64url".to_owned();
            return Err(Error::Refused { field: "keys.p256dh", why });
        }
        if let Err(why) = self.validate_url(&receiver.endpoint) {
            return Err(Error::Refused { field: "endpoint", why: why.to_string() });
        }
        let notifier = self.enable_push_notifier(caller).await?;
        let now = self.now();
        let new = PushSubscription {
            id: PushSubscriptionId::new(now, random::bytes()),
            receiver,
            agent: one_line(agent, MAX_AGENT_CHARS),
            created: now,
            last_used: None,
        };
        let user = caller.user();
        match self.store().add_push_subscription(user, &new, &self.audit(caller)).await? {
            AddSubscriptionOutcome::Done(id) => Ok(Subscribed { id, notifier }),
            AddSubscriptionOutcome::Full => Err(Error::FixedLimit {
                max: MAX_SUBSCRIPTIONS,
                of: "browsers with push messages per user",
            }),
            AddSubscriptionOutcome::Missing => Err(Error::NotAuthenticated),
        }
    }

    async fn enable_push_notifier(&self, caller: &Caller) -> Result<NotifierId> {
        for _ in 0..MAX_SAVE_ATTEMPTS {
            let found = self.push_notifier(caller).await?;
            let draft = |name: Name| NotifierDraft {
                group_wait: None,
                name,
                channel: Channel::Webpush,
                is_personal: true,
                isactive: Some(true),
                isdefault: None,
                min_severity: None,
                events: None,
                quiet: None,
            };
            let saved = match &found {
                Some(on) if on.disabled.is_none() => return Ok(on.id),
                Some(off) => self.change_notifier(caller, off, draft(off.name.clone())).await,
                None => {
                    let name = Name::parse(NAME).expect("a valid name");
                    self.create_notifier(caller, draft(name)).await.map(Some)
                }
            };
            match saved {
                Ok(Some(view)) => return Ok(view.notifier.id),
                // Another request of the user has created or changed it.
                Ok(None) | Err(Error::Store(StoreError::Taken)) => {}
                Err(error) => return Err(error),
            }
        }
        Err(Error::Conflict)
    }

    /// Deletes a browser of the caller.
    pub async fn delete_push_subscription(
        &self,
        caller: &Authorized<permission::Myself>,
        id: PushSubscriptionId,
    ) -> Result<()> {
        let by = self.audit(caller);
        if self.store().delete_push_subscription(caller.user(), id, &by).await? {
            Ok(())
        } else {
            Err(Error::NotFound("subscription"))
        }
    }

    /// The browsers that a message of a notifier is sent to: those of its owner, or the remaining
    /// ones. `None` for other types, and if the store fails.
    pub(super) async fn browsers(
        &self,
        notifier: &Notifier,
        left: Option<&[String]>,
    ) -> Option<Browsers<'_>> {
        let user = notifier.owner.filter(|_| notifier.channel == Channel::Webpush)?;
        let reading = async {
            let mut subscriptions = self.store().push_subscriptions(user).await?;
            if let Some(left) = left {
                subscriptions.retain(|one| left.contains(&one.id.to_string()));
            }
            let key = self.push_key().await?;
            let contact = self.push_contact();
            Ok::<_, Error>(Browsers { key, contact, subscriptions, is_retry: left.is_some() })
        };
        reading
            .await
            .inspect_err(|error| {
                let id = notifier.id;
                tracing::warn!(notifier.id = %id, error = %ErrorChain(error), "reading the browsers of notifier {id} failed, retrying later");
            })
            .ok()
    }

    /// Records what push services said about browsers. If that fails, they say it again.
    pub(super) async fn record_push(&self, report: &PushReport) {
        let PushReport { accepted, gone } = report;
        let store = self.store();
        let recording = async {
            if !gone.is_empty() {
                store.delete_gone_subscriptions(gone).await?;
            }
            if !accepted.is_empty() {
                store.push_subscriptions_used(accepted, self.now()).await?;
            }
            Ok::<_, StoreError>(())
        };
        if let Err(error) = recording.await {
            tracing::warn!(error = %ErrorChain(&error), "recording which browsers received a push message failed, it is repeated with the next one");
        }
    }

    /// Where the operators of push services reach ours: the sender of the service's mail.
    fn push_contact(&self) -> String {
        match Mailbox::parse(&self.settings().mail_from) {
            Ok(from) => format!("mailto:{}", from.email.as_str()),
            Err(_) => self.public_url().to_owned(),
        }
    }
}
