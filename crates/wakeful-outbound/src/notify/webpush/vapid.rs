//! VAPID (RFC 8292): a push service learns which installation sends, and that it is the one that
//! the browser has subscribed to. The key pair belongs to the installation.

use aws_lc_rs::agreement::{ECDH_P256, PrivateKey};
use aws_lc_rs::rand::SystemRandom;
use aws_lc_rs::signature::{ECDSA_P256_SHA256_FIXED_SIGNING, EcdsaKeyPair};
use data_encoding::BASE64URL_NOPAD;
use serde_json::json;
use std::fmt;
use std::time::Duration;
use url::Url;
use wakeful_core::time::Millis;

pub const PRIVATE_KEY_BYTES: usize = 32;
/// A push service refuses a token that is valid for more than a day.
const VALIDITY: Duration = Duration::from_secs(12 * 3_600);

/// The key pair of the installation.
pub struct VapidKey {
    pair: EcdsaKeyPair,
    public: String,
}

impl fmt::Debug for VapidKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("VapidKey").field(&self.public).finish()
    }
}

impl VapidKey {
    /// `None` for the few numbers that are no private key.
    pub fn from_private(private: &[u8]) -> Option<Self> {
        let public = PrivateKey::from_private_key(&ECDH_P256, private).ok()?;
        let public = public.compute_public_key().ok()?;
        let pair = EcdsaKeyPair::from_private_key_and_public_key(
            &ECDSA_P256_SHA256_FIXED_SIGNING,
            private,
            public.as_ref(),
        );
        Some(Self { pair: pair.ok()?, public: BASE64URL_NOPAD.encode(public.as_ref()) })
    }

    /// The public key as browsers want it.
    pub fn public(&self) -> &str {
        &self.public
    }

    /// The header `Authorization` of a message. `contact` is a URI where the operator of the push
    /// service reaches ours.
    pub fn authorization(&self, endpoint: &Url, contact: &str, now: Millis) -> Option<String> {
        let claims = json!({"aud": endpoint.origin().ascii_serialization(),
            "exp": now.after(VALIDITY).0.div_euclid(1_000), "sub": contact});
        let part = |json: serde_json::Value| BASE64URL_NOPAD.encode(json.to_string().as_bytes());
        let signed = format!("{}.{}", part(json!({"typ": "JWT", "alg": "ES256"})), part(claims));
        let signature = self.pair.sign(&SystemRandom::new(), signed.as_bytes()).ok()?;
        let signature = BASE64URL_NOPAD.encode(signature.as_ref());
        Some(format!("vapid t={signed}.{signature}, k={}", self.public))
    }
}
