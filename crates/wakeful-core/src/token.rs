//! Tokens and keys handed to clients: 256 random bits as base64url, with a
//! prefix that shows their kind. Only their SHA-256 is stored, which is
//! sufficient for values that cannot be guessed.

use data_encoding::BASE64URL_NOPAD;
use sha2::{Digest as _, Sha256};

use crate::secret::Secret;

/// The purpose of a token; the prefix shows it to people and secret scanners.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    Bearer,
    ApiKey,
    EncKey,
    Reset,
    /// Verifies an email address.
    Verification,
    Invitation,
    /// Opens a status page.
    StatuspageAccess,
    /// Confirms a subscription to a status page.
    Subscription,
}

impl Kind {
    pub fn prefix(self) -> &'static str {
        match self {
            Self::Bearer => "wk_",
            Self::ApiKey => "wka_",
            Self::EncKey => "wke_",
            Self::Reset => "wkr_",
            Self::Verification => "wkv_",
            Self::Invitation => "wki_",
            Self::StatuspageAccess => "wkp_",
            Self::Subscription => "wks_",
        }
    }

    pub fn issue(self, random: [u8; 32]) -> Secret {
        Secret::new(format!("{}{}", self.prefix(), BASE64URL_NOPAD.encode(&random)))
    }

    /// The 32 bytes of a token of this kind; `None` when it is not one.
    pub fn decode(self, text: &str) -> Option<[u8; 32]> {
        let body = text.strip_prefix(self.prefix())?;
        BASE64URL_NOPAD.decode(body.as_bytes()).ok()?.try_into().ok()
    }
}

/// Stored in place of a token.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Digest(pub [u8; 32]);

impl Digest {
    pub fn of(text: &str) -> Self {
        Self::of_bytes(text.as_bytes())
    }

    pub fn of_bytes(bytes: &[u8]) -> Self {
        Self(Sha256::digest(bytes).into())
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
    fn a_token_of_one_kind_is_rejected_as_another() {
        let key = Kind::ApiKey.issue([9; 32]);
        assert_eq!(Kind::EncKey.decode(key.expose()), None);
        assert_eq!(Kind::ApiKey.decode("wka_short"), None);
    }
}
