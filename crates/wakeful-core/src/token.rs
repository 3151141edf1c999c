//! Tokens and keys handed to callers: 256 random bits as base64url behind a
//! prefix that says what they are. Only their SHA-256 is ever stored, which is
//! enough for values that nobody can guess.

use data_encoding::BASE64URL_NOPAD;
use sha2::{Digest as _, Sha256};

use crate::secret::Secret;

/// What a token is for; the prefix shows it to people and secret scanners.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    Bearer,
    ApiKey,
    EncKey,
    Reset,
}

impl Kind {
    pub fn prefix(self) -> &'static str {
        match self {
            Self::Bearer => "wk_",
            Self::ApiKey => "wka_",
            Self::EncKey => "wke_",
            Self::Reset => "wkr_",
        }
    }

    pub fn issue(self, random: [u8; 32]) -> Secret {
        Secret::new(format!("{}{}", self.prefix(), BASE64URL_NOPAD.encode(&random)))
    }

    /// The 32 bytes behind a token of this kind, or nothing when it is none.
    pub fn decode(self, text: &str) -> Option<[u8; 32]> {
        let body = text.strip_prefix(self.prefix())?;
        BASE64URL_NOPAD.decode(body.as_bytes()).ok()?.try_into().ok()
    }
}

/// What is stored in place of a token.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Digest(pub [u8; 32]);

impl Digest {
    pub fn of(text: &str) -> Self {
        Self(Sha256::digest(text.as_bytes()).into())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_token_carries_its_prefix_and_256_bits() {
        let token = Kind::Bearer.issue([9; 32]);
        assert!(token.expose().starts_with("wk_"));
        assert_eq!(token.expose().len(), "wk_".len() + 43);
        assert_eq!(Kind::Bearer.decode(token.expose()), Some([9; 32]));
    }

    #[test]
    fn a_token_of_one_kind_is_none_of_another() {
        let key = Kind::ApiKey.issue([9; 32]);
        assert_eq!(Kind::EncKey.decode(key.expose()), None);
        assert_eq!(Kind::ApiKey.decode("wka_short"), None);
    }
}
