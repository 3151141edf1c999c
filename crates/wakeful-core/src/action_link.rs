//! Action links: a link in a message that acts on one alert, without a login. The token names the
//! alert and the recipient, and is signed, so nothing is stored. It permits nothing but the
//! actions here.

use data_encoding::BASE64URL_NOPAD;
use hmac::{Hmac, KeyInit as _, Mac as _};
use sha2::Sha256;
use std::time::Duration;
use uuid::Uuid;

use crate::Invalid;
use crate::id::{AlertId, NotifierId, UserId};
use crate::named_enum;
use crate::seal::Key;

const PREFIX: &str = "wkt_";
const VERSION: u8 = 1;
/// The purpose that the signing key is derived for.
const PURPOSE: &str = "action links";
const MAC_LENGTH: usize = 16;
/// Version, alert, kind of subject, subject.
const CONTENT_LENGTH: usize = 1 + 16 + 1 + 16;
/// How long a link works after its alert has ended.
pub const VALID_AFTER_END: Duration = Duration::from_secs(7 * 86_400);
/// How long a link can snooze an alert.
pub const MAX_SNOOZE: Duration = Duration::from_secs(86_400);

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ActionLink {
    pub alert: AlertId,
    pub subject: Subject,
}

/// The recipient of a link.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Subject {
    User(UserId),
    /// Everybody who reads its channel.
    Notifier(NotifierId),
}

named_enum! {
    /// What a link can do.
    #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
    pub enum LinkAction {
        Acknowledge = "acknowledge",
        Snooze = "snooze",
        Comment = "comment",
        Resolve = "resolve",
    }
}

impl LinkAction {
    pub fn parse(text: &str) -> Result<Self, Invalid> {
        let found = Self::ALL.iter().copied().find(|action| action.as_str() == text);
        found.ok_or_else(|| Invalid::one_of(Self::ALL.iter().map(|action| action.as_str())))
    }
}

impl ActionLink {
    /// The token, signed with a key that is derived from this one.
    pub fn token(&self, key: &Key) -> String {
        let mut bytes = self.content().to_vec();
        bytes.extend_from_slice(&mac(key, &bytes).finalize().into_bytes()[..MAC_LENGTH]);
        format!("{PREFIX}{}", BASE64URL_NOPAD.encode(&bytes))
    }

    /// The link of a token that was signed with one of these keys.
    pub fn open<'a>(token: &str, mut keys: impl Iterator<Item = &'a Key>) -> Option<Self> {
        let bytes = BASE64URL_NOPAD.decode(token.strip_prefix(PREFIX)?.as_bytes()).ok()?;
        let (content, signature) = bytes.split_first_chunk::<CONTENT_LENGTH>()?;
        if signature.len() != MAC_LENGTH
            || !keys.any(|key| mac(key, content).verify_truncated_left(signature).is_ok())
        {
            return None;
        }
        Self::of_content(content)
    }

    fn content(&self) -> [u8; CONTENT_LENGTH] {
        let (kind, subject) = match self.subject {
            Subject::User(user) => (0, user.uuid()),
            Subject::Notifier(notifier) => (1, notifier.uuid()),
        };
        let mut content = [0; CONTENT_LENGTH];
        content[0] = VERSION;
        content[1..17].copy_from_slice(self.alert.uuid().as_bytes());
        content[17] = kind;
        content[18..].copy_from_slice(subject.as_bytes());
        content
    }

    fn of_content(content: &[u8; CONTENT_LENGTH]) -> Option<Self> {
        let alert = Uuid::from_slice(&content[1..17]).ok()?.into();
        let subject = Uuid::from_slice(&content[18..]).ok()?;
        let subject = match (content[0], content[17]) {
            (VERSION, 0) => Subject::User(subject.into()),
            (VERSION, 1) => Subject::Notifier(subject.into()),
            _ => return None,
        };
        Some(Self { alert, subject })
    }
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
    use crate::time::Millis;

    fn link(subject: Subject) -> ActionLink {
        ActionLink { alert: AlertId::new(Millis(1), [1; 10]), subject }
    }

    #[test]
    fn a_link_is_opened_with_its_key_also_after_a_rotation() {
        let (old, new) = (Key::new([1; 32]), Key::new([2; 32]));
        let user = UserId::new(Millis(1), [2; 10]);
        let notifier = NotifierId::new(Millis(1), [3; 10]);
        for link in [link(Subject::User(user)), link(Subject::Notifier(notifier))] {
            let token = link.token(&old);
            assert!(token.starts_with("wkt_"));
            assert_eq!(token, link.token(&old), "every attempt sends the same link");
            assert_eq!(ActionLink::open(&token, [&old].into_iter()), Some(link));
            assert_eq!(ActionLink::open(&token, [&new, &old].into_iter()), Some(link));
            assert_eq!(ActionLink::open(&token, [&new].into_iter()), None);
        }
    }

    #[test]
    fn a_changed_link_is_not_opened() {
        let key = Key::new([1; 32]);
        let token = link(Subject::User(UserId::new(Millis(1), [2; 10]))).token(&key);
        let bytes = BASE64URL_NOPAD.decode(&token.as_bytes()[PREFIX.len()..]).expect("base64");
        for bit in 0..bytes.len() * 8 {
            let mut changed = bytes.clone();
            changed[bit / 8] ^= 1 << (bit % 8);
            let token = format!("{PREFIX}{}", BASE64URL_NOPAD.encode(&changed));
            assert_eq!(ActionLink::open(&token, [&key].into_iter()), None, "bit {bit}");
        }
        for token in ["", "wkt_", "wkt_AAAA", &token[4..], &token[..token.len() - 2], "wkt_é"] {
            assert_eq!(ActionLink::open(token, [&key].into_iter()), None, "{token}");
        }
    }
}
