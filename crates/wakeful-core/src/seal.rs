//! Sealing: XChaCha20-Poly1305 with a random nonce in front. The owner of the
//! bytes is bound in as `context`, so a sealed value that is moved to another
//! row or column cannot be opened.

use chacha20poly1305::aead::{Aead, KeyInit, Payload};
use chacha20poly1305::{XChaCha20Poly1305, XNonce};
use hmac::{Hmac, Mac as _};
use sha2::Sha256;
use std::fmt;
use zeroize::Zeroizing;

pub const NONCE_LENGTH: usize = 24;

/// A 256-bit key, wiped when dropped and never shown.
#[derive(Clone, PartialEq, Eq)]
pub struct Key(Zeroizing<[u8; 32]>);

impl Key {
    pub fn new(bytes: [u8; 32]) -> Self {
        Self(Zeroizing::new(bytes))
    }

    pub fn bytes(&self) -> &[u8; 32] {
        &self.0
    }

    /// A derived key for one purpose: it reveals nothing about this one, nor
    /// about the key for any other purpose.
    #[must_use]
    pub fn derive(&self, purpose: &str) -> Self {
        let mut mac = Hmac::<Sha256>::new_from_slice(self.bytes()).expect("any length is a key");
        mac.update(purpose.as_bytes());
        Self::new(mac.finalize().into_bytes().into())
    }

    pub fn seal(&self, nonce: [u8; NONCE_LENGTH], context: &str, plain: &[u8]) -> Vec<u8> {
        let payload = Payload { msg: plain, aad: context.as_bytes() };
        let sealed = self
            .cipher()
            .encrypt(&XNonce::from(nonce), payload)
            .expect("sealing fails only over 256 GiB");
        [&nonce[..], &sealed].concat()
    }

    /// The plain bytes; `None` when key, context or bytes are not the sealed
    /// ones.
    pub fn open(&self, context: &str, sealed: &[u8]) -> Option<Zeroizing<Vec<u8>>> {
        let (nonce, body) = sealed.split_first_chunk::<NONCE_LENGTH>()?;
        let payload = Payload { msg: body, aad: context.as_bytes() };
        self.cipher().decrypt(&XNonce::from(*nonce), payload).ok().map(Zeroizing::new)
    }

    fn cipher(&self) -> XChaCha20Poly1305 {
        XChaCha20Poly1305::new((&*self.0).into())
    }
}

impl fmt::Debug for Key {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Key(…)")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn key(byte: u8) -> Key {
        Key::new([byte; 32])
    }

    #[test]
    fn a_sealed_value_opens_with_the_same_key_and_context() {
        let sealed = key(1).seal([7; NONCE_LENGTH], "users.mfa:1", b"seed");
        assert_eq!(key(1).open("users.mfa:1", &sealed).expect("opens").as_slice(), b"seed");
    }

    #[test]
    fn every_purpose_has_a_key_of_its_own() {
        let keys = [key(1).derive("a"), key(1).derive("b"), key(2).derive("a"), key(1)];
        for (at, one) in keys.iter().enumerate() {
            assert!(keys.iter().skip(at + 1).all(|other| one != other));
        }
        assert_eq!(key(1).derive("a"), keys[0]);
    }

    #[test]
    fn another_key_another_context_or_a_changed_byte_does_not_open() {
        let sealed = key(1).seal([7; NONCE_LENGTH], "a", b"seed");
        assert!(key(2).open("a", &sealed).is_none());
        assert!(key(1).open("b", &sealed).is_none());
        for at in 0..sealed.len() {
            let mut changed = sealed.clone();
            changed[at] ^= 1;
            assert!(key(1).open("a", &changed).is_none(), "byte {at}");
        }
        assert!(key(1).open("a", &sealed[..10]).is_none());
    }
}
