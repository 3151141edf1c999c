//! The cookie of a visitor who has unlocked a page: signed, so nothing is stored. It names the
//! revision of the password or token, so that a new one invalidates all cookies.

use data_encoding::BASE64URL_NOPAD;
use hmac::{Hmac, KeyInit as _, Mac as _};
use sha2::Sha256;
use std::time::Duration;
use uuid::Uuid;

use crate::id::StatuspageId;
use crate::seal::Key;
use crate::time::Millis;
use crate::token::Digest;

/// How long a page stays unlocked.
pub const UNLOCKED_FOR: Duration = Duration::from_secs(30 * 86_400);

const PURPOSE: &str = "status page cookies";
const VERSION: u8 = 1;
const MAC_LENGTH: usize = 16;
/// Version, page, revision, expiry.
const CONTENT_LENGTH: usize = 1 + 16 + 8 + 8;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Unlocked {
    pub page: StatuspageId,
    pub revision: i64,
    pub expires: Millis,
}

impl Unlocked {
    /// The value of the cookie, signed with a key that is derived from this one.
    pub fn cookie(&self, key: &Key) -> String {
        let mut bytes = self.content().to_vec();
        bytes.extend_from_slice(&mac(key, &bytes).finalize().into_bytes()[..MAC_LENGTH]);
        BASE64URL_NOPAD.encode(&bytes)
    }

    /// What a cookie says that was signed with one of these keys.
    pub fn open<'a>(cookie: &str, mut keys: impl Iterator<Item = &'a Key>) -> Option<Self> {
        let bytes = BASE64URL_NOPAD.decode(cookie.as_bytes()).ok()?;
        let (content, signature) = bytes.split_first_chunk::<CONTENT_LENGTH>()?;
        if signature.len() != MAC_LENGTH
            || content[0] != VERSION
            || !keys.any(|key| mac(key, content).verify_truncated_left(signature).is_ok())
        {
            return None;
        }
        let number = |at: usize| content[at..at + 8].try_into().map(i64::from_be_bytes).ok();
        Some(Self {
            page: Uuid::from_slice(&content[1..17]).ok()?.into(),
            revision: number(17)?,
            expires: Millis(number(25)?),
        })
    }

    fn content(&self) -> [u8; CONTENT_LENGTH] {
        let mut content = [0; CONTENT_LENGTH];
        content[0] = VERSION;
        content[1..17].copy_from_slice(self.page.uuid().as_bytes());
        content[17..25].copy_from_slice(&self.revision.to_be_bytes());
        content[25..].copy_from_slice(&self.expires.0.to_be_bytes());
        content
    }
}

/// The revision of an access token: another token has another one.
pub fn token_revision(token: &Digest) -> i64 {
    let first = token.0.first_chunk().copied().unwrap_or_default();
    i64::from_be_bytes(first)
}

fn mac(key: &Key, content: &[u8]) -> Hmac<Sha256> {
    let key = key.derive(PURPOSE);
    let mut mac = Hmac::<Sha256>::new_from_slice(key.bytes()).expect("any length is a key");
    mac.update(content);
    mac
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_cookie_is_opened_with_its_key_and_cannot_be_changed() {
        let (old, new) = (Key::new([1; 32]), Key::new([2; 32]));
        let page = StatuspageId::new(Millis(1), [1; 10]);
        let unlocked = Unlocked { page, revision: 3, expires: Millis(9) };
        let cookie = unlocked.cookie(&old);
        assert_eq!(Unlocked::open(&cookie, [&new, &old].into_iter()), Some(unlocked));
        assert_eq!(Unlocked::open(&cookie, [&new].into_iter()), None);
        for at in 0..cookie.len() {
            let mut changed = cookie.clone().into_bytes();
            changed[at] = if changed[at] == b'A' { b'B' } else { b'A' };
            let changed = String::from_utf8(changed).expect("ASCII");
            assert_eq!(Unlocked::open(&changed, [&old].into_iter()), None, "{at}");
        }
        for other in ["", "x", &"A".repeat(10_000)] {
            assert_eq!(Unlocked::open(other, [&old].into_iter()), None);
        }
        let [one, two] = ["wkp_a", "wkp_b"].map(|token| token_revision(&Digest::of(token)));
        assert_ne!(one, two);
    }
}
