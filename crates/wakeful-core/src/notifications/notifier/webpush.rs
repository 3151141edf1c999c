//! Push messages to the browsers of a user. Such a notifier is personal and has no settings: its
//! receivers are the browsers that the user has subscribed, each with an address at its push
//! service, and with keys that only the browser itself can decrypt with.

use data_encoding::BASE64URL_NOPAD;
use serde::{Deserialize, Serialize};
use std::fmt;
use url::Host;

use crate::Invalid;
use crate::id::PushSubscriptionId;
use crate::monitors::spec::HttpUrl;
use crate::secret::Secret;
use crate::time::Millis;
use crate::token::Digest;

/// The most browsers of a user.
pub const MAX_SUBSCRIPTIONS: u32 = 10;
/// An uncompressed point of P-256.
pub const PUBLIC_KEY_BYTES: usize = 65;
const AUTH_BYTES: usize = 16;

/// A browser of a user.
#[derive(Clone, Debug)]
pub struct PushSubscription {
    pub id: PushSubscriptionId,
    pub receiver: PushReceiver,
    /// The user agent that it was subscribed with.
    pub agent: String,
    pub created: Millis,
    /// When its push service last accepted a message, to the day; `None` if it never has.
    pub last_used: Option<Millis>,
}

/// Where a browser receives its messages, and what they are encrypted with.
#[derive(Clone, PartialEq, Eq)]
pub struct PushReceiver {
    pub endpoint: HttpUrl,
    pub public_key: [u8; PUBLIC_KEY_BYTES],
    pub auth: [u8; AUTH_BYTES],
}

/// With its address, anyone could send to it.
impl fmt::Debug for PushReceiver {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("PushReceiver").field(&self.endpoint.origin().as_str()).finish()
    }
}

/// The keys as browsers name them.
#[derive(Serialize, Deserialize)]
struct StoredKeys {
    p256dh: String,
    auth: String,
}

impl PushReceiver {
    /// Identifies its address.
    pub fn digest(&self) -> Digest {
        Digest::of(self.endpoint.as_str())
    }

    /// The keys, to be stored encrypted.
    pub fn keys(&self) -> Secret {
        Secret::new(super::json(&StoredKeys {
            p256dh: BASE64URL_NOPAD.encode(&self.public_key),
            auth: BASE64URL_NOPAD.encode(&self.auth),
        }))
    }

    /// A receiver that was stored.
    pub fn from_parts(endpoint: &str, keys: &str) -> Option<Self> {
        let keys: StoredKeys = serde_json::from_str(keys).ok()?;
        Some(Self {
            endpoint: HttpUrl::parse(endpoint).ok()?,
            public_key: public_key(&keys.p256dh).ok()?,
            auth: auth(&keys.auth).ok()?,
        })
    }
}

/// The address at a push service. Only one on this computer may be without TLS.
pub fn endpoint(text: &str) -> Result<HttpUrl, Invalid> {
    let url = HttpUrl::parse(text)?;
    let is_loopback = match url.url().host() {
        Some(Host::Ipv4(ip)) => ip.is_loopback(),
        Some(Host::Ipv6(ip)) => ip.is_loopback(),
        _ => false,
    };
    if url.url().scheme() == "https" || is_loopback {
        Ok(url)
    } else {
        Err(Invalid::new("must be an https URL"))
    }
}

/// The public key of a browser; whether it is a point of the curve is not checked here.
pub fn public_key(text: &str) -> Result<[u8; PUBLIC_KEY_BYTES], Invalid> {
    let key = bytes(text).filter(|key: &[u8; PUBLIC_KEY_BYTES]| key[0] == 4);
    key.ok_or_else(|| Invalid::new("must be a public key of P-256 in base64url"))
}

pub fn auth(text: &str) -> Result<[u8; AUTH_BYTES], Invalid> {
    bytes(text).ok_or_else(|| Invalid::new("must be 16 bytes in base64url"))
}

fn bytes<const N: usize>(text: &str) -> Option<[u8; N]> {
    let text = text.trim().trim_end_matches('=');
    BASE64URL_NOPAD.decode(text.as_bytes()).ok()?.try_into().ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    const KEY: &str =
        "BCVxsr7N_eNgVRqvHtD0zTZsEc6-VV-JvLexhqUzORcxaOzi6-AYWXvTBHm4bjyPjs7Vd8pZGH6SRpkNtoIAiw4";

    #[test]
    fn an_address_has_tls_unless_it_is_on_this_computer() {
        for text in ["https://push.example.com/abc", "http://127.0.0.1:9/abc", "http://[::1]/a"] {
            assert!(endpoint(text).is_ok(), "{text}");
        }
        for text in ["http://push.example.com/abc", "http://10.0.0.1/", "ftp://127.0.0.1/", ""] {
            assert!(endpoint(text).is_err(), "{text}");
        }
    }

    #[test]
    fn a_receiver_is_stored_in_two_parts_and_hides_its_address() {
        let receiver = PushReceiver {
            endpoint: endpoint("https://push.example.com/s3cret").expect("valid"),
            public_key: public_key(KEY).expect("valid"),
            auth: auth("BTBZMqHH6r4Tts7J_aSIgg==").expect("valid"),
        };
        let keys = receiver.keys();
        let again = PushReceiver::from_parts(receiver.endpoint.as_str(), keys.expose());
        assert_eq!(again.as_ref(), Some(&receiver));
        assert!(!format!("{receiver:?}").contains("s3cret"));
        assert!(public_key("BCVx").is_err() && public_key(&KEY.replace("BCV", "ACV")).is_err());
        assert!(auth("BTBZ").is_err() && auth("###").is_err());
    }
}
