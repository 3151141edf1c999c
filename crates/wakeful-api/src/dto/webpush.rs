//! The caller's browsers that receive push messages.

use data_encoding::HEXLOWER;
use serde::Serialize;
use utoipa::ToSchema;
use wakeful_core::id::{NotifierId, PushSubscriptionId};
use wakeful_core::notifications::notifier::{PushReceiver, PushSubscription, webpush};
use wakeful_core::time::Millis;
use wakeful_engine::{PushSetup, Subscribed};

use super::fields::{Fields, FromFields};

/// A browser to subscribe.
pub(crate) struct SavePushSubscription {
    pub(crate) receiver: PushReceiver,
}

/// A subscription as a browser returns it (`PushSubscription.toJSON()`); other fields are ignored.
#[derive(ToSchema)]
#[schema(as = SavePushSubscription)]
#[expect(dead_code, reason = "only its schema is used")]
pub(crate) struct SubscriptionSchema {
    /// The address of the browser at its push service, with https.
    #[schema(max_length = 2048)]
    endpoint: String,
    keys: SubscriptionKeys,
}

/// The keys that messages to a browser are encrypted with, in base64url.
#[derive(ToSchema)]
#[schema(as = SavePushKeys)]
#[expect(dead_code, reason = "only its schema is used")]
pub(crate) struct SubscriptionKeys {
    /// The public key of the browser: 65 bytes.
    p256dh: String,
    /// The secret of the subscription: 16 bytes.
    auth: String,
}

impl FromFields for SavePushSubscription {
    fn read(fields: &mut Fields) -> Option<Self> {
        let endpoint = fields.parse("endpoint", webpush::endpoint);
        let keys = fields.within("keys", |fields| {
            let public_key = fields.parse("p256dh", webpush::public_key);
            let auth = fields.parse("auth", webpush::auth);
            Some((public_key?, auth?))
        });
        let (endpoint, (public_key, auth)) = (endpoint?, keys?);
        Some(Self { receiver: PushReceiver { endpoint, public_key, auth } })
    }
}

/// What a browser needs to subscribe to push messages, and the caller's subscriptions.
#[derive(Serialize, ToSchema)]
pub(crate) struct PushKey {
    success: bool,
    /// The public key of the installation in base64url, for `applicationServerKey`.
    key: String,
    /// The caller's browsers, oldest first.
    subscriptions: Vec<PushSubscriptionBody>,
    /// The caller's notifier of type webpush in the team; null if there is none.
    #[schema(value_type = Option<String>, format = Uuid)]
    notifierid: Option<NotifierId>,
}

/// A browser that receives push messages.
#[derive(Serialize, ToSchema)]
#[schema(as = PushSubscription)]
pub(crate) struct PushSubscriptionBody {
    #[schema(value_type = String, format = Uuid)]
    subscriptionid: PushSubscriptionId,
    /// The SHA-256 of its `endpoint` in hexadecimal, by which a browser recognizes itself.
    fingerprint: String,
    /// The host of its push service.
    service: String,
    /// The user agent that it was subscribed with.
    agent: String,
    #[schema(value_type = String, format = DateTime)]
    created: Millis,
    /// When its push service last accepted a message, to the day; null if it never has.
    #[schema(value_type = Option<String>, format = DateTime)]
    last_used: Option<Millis>,
}

impl PushKey {
    pub(crate) fn of(setup: PushSetup) -> Self {
        let PushSetup { key, subscriptions, notifier } = setup;
        let subscriptions = subscriptions.into_iter().map(PushSubscriptionBody::of).collect();
        Self { success: true, key, subscriptions, notifierid: notifier }
    }
}

impl PushSubscriptionBody {
    pub(crate) fn of(one: PushSubscription) -> Self {
        Self {
            subscriptionid: one.id,
            fingerprint: HEXLOWER.encode(&one.receiver.digest().0),
            service: one.receiver.endpoint.url().host_str().unwrap_or_default().to_owned(),
            agent: one.agent,
            created: one.created,
            last_used: one.last_used,
        }
    }
}

/// The browser receives push messages.
#[derive(Serialize, ToSchema)]
pub(crate) struct PushSubscribed {
    success: bool,
    message: &'static str,
    #[schema(value_type = String, format = Uuid)]
    subscriptionid: PushSubscriptionId,
    /// The notifier that sends to the caller's browsers, for contact rules.
    #[schema(value_type = String, format = Uuid)]
    notifierid: NotifierId,
}

impl From<Subscribed> for PushSubscribed {
    fn from(done: Subscribed) -> Self {
        let Subscribed { id, notifier } = done;
        let message = "This browser receives push messages.";
        Self { success: true, message, subscriptionid: id, notifierid: notifier }
    }
}
