//! Maps rows to subscribers.

use uuid::Uuid;
use wakeful_core::id::SubscriberId;
use wakeful_core::notifications::notifier::SigningSecret;
use wakeful_core::statuspages::subscriber::{
    Recipient, Subscriber, SubscriberKind, SubscriberSettings, SubscriberSource, SubscriberState,
};
use wakeful_core::time::Millis;

use crate::dialect::from_row;
use crate::monitors::json;
use crate::{Keyring, Result, StoreError};

const ADDRESS: &str = "subscribers.address";
const SECRET: &str = "subscribers.secret";
pub(super) struct SubscriberRow {
    subscriber: Subscriber,
    address: Option<Vec<u8>>,
    secret: Option<Vec<u8>>,
}

macro_rules! subscriber_columns {
    () => {
        "s.id, s.page_id, s.kind, s.address, s.secret, s.state, s.source, s.settings, s.created,
         s.confirmed, s.last_delivery, s.failures"
    };
}
pub(super) use subscriber_columns;

/// What ends a subscription, except the time at which it ended: the digest of the address remains.
macro_rules! end_subscription {
    () => {
        "state = 'unsubscribed', address = null, secret = null, token = null, token_until = null"
    };
}
pub(super) use end_subscription;

from_row!(SubscriberRow, |row| {
    let decode = |error| sqlx::Error::Decode(Box::new(error));
    Self {
        subscriber: Subscriber {
            id: row.try_get::<Uuid, _>("id")?.into(),
            page: row.try_get::<Uuid, _>("page_id")?.into(),
            kind: SubscriberKind::parse(row.try_get("kind")?).map_err(decode)?,
            recipient: Recipient::default(),
            secret: None,
            settings: serde_json::from_str::<SubscriberSettings>(row.try_get("settings")?)
                .map_err(|error| sqlx::Error::Decode(error.into()))?,
            state: SubscriberState::parse(row.try_get("state")?).map_err(decode)?,
            source: SubscriberSource::parse(row.try_get("source")?).map_err(decode)?,
            created: Millis(row.try_get("created")?),
            confirmed: row.try_get::<Option<i64>, _>("confirmed")?.map(Millis),
            last_delivery: row.try_get::<Option<i64>, _>("last_delivery")?.map(Millis),
            failures: row.try_get("failures")?,
        },
        address: row.try_get("address")?,
        secret: row.try_get("secret")?,
    }
});

impl SubscriberRow {
    pub(super) fn unsealed(self, keyring: &Keyring) -> Result<Subscriber> {
        let Self { mut subscriber, address, secret } = self;
        if let Some(address) = address {
            let plain = keyring.open(&context(ADDRESS, subscriber.id), &address);
            let plain = plain.ok_or(StoreError::Sealed(ADDRESS))?;
            subscriber.recipient =
                serde_json::from_slice(&plain).map_err(|_| StoreError::Sealed(ADDRESS))?;
        }
        if let Some(secret) = secret {
            let plain = keyring.open(&context(SECRET, subscriber.id), &secret);
            let plain = plain.ok_or(StoreError::Sealed(SECRET))?;
            let text = std::str::from_utf8(&plain).map_err(|_| StoreError::Sealed(SECRET))?;
            let secret = SigningSecret::parse(text).map_err(|_| StoreError::Sealed(SECRET))?;
            subscriber.secret = Some(secret);
        }
        Ok(subscriber)
    }
}

fn context(column: &str, id: SubscriberId) -> String {
    format!("{column}:{id}")
}

pub(super) fn sealed_address(
    keyring: &Keyring,
    id: SubscriberId,
    recipient: &Recipient,
) -> Vec<u8> {
    keyring.seal(&context(ADDRESS, id), json(recipient).as_bytes())
}

pub(super) fn sealed_secret(
    keyring: &Keyring,
    id: SubscriberId,
    secret: Option<&SigningSecret>,
) -> Option<Vec<u8>> {
    secret.map(|secret| keyring.seal(&context(SECRET, id), secret.expose().as_bytes()))
}
