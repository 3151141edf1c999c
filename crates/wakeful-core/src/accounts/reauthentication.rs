//! Reauthentication: dangerous calls need a session whose user has entered their credentials
//! recently, so that an unattended browser or a stolen cookie is not enough for them.

use std::time::Duration;

use crate::named_enum;
use crate::time::Millis;

/// How long a session is fresh after the login or a reauthentication.
pub const REAUTHENTICATION_LIFETIME: Duration = Duration::from_secs(15 * 60);

named_enum! {
    /// How a session was opened.
    #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
    pub enum SessionMethod {
        Password = "password",
        /// The link of an invitation.
        Link = "link",
        /// An API key pair.
        Key = "key",
        /// In a way that a later version has added.
        Other = "other",
    }
}

impl SessionMethod {
    /// A stored method. The sessions of a later version work, too.
    pub fn stored(text: &str) -> Self {
        let found = Self::ALL.iter().copied().find(|method| method.as_str() == text);
        found.unwrap_or(Self::Other)
    }

    /// Until when a session counts as fresh whose user was last authenticated at this time.
    /// Never for one that was opened with an API key: a program has no credentials to enter. Nor
    /// for one that was opened in an unknown way: nothing is known about its credentials.
    pub fn fresh_until(self, authenticated: Millis) -> Option<Millis> {
        match self {
            Self::Password | Self::Link => Some(authenticated.after(REAUTHENTICATION_LIFETIME)),
            Self::Key | Self::Other => None,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_session_is_fresh_for_fifteen_minutes_unless_a_key_or_something_unknown_has_opened_it() {
        let at = Millis(1_000);
        let later = Some(Millis(1_000 + 15 * 60_000));
        assert_eq!(SessionMethod::Password.fresh_until(at), later);
        assert_eq!(SessionMethod::Link.fresh_until(at), later);
        assert_eq!(SessionMethod::Key.fresh_until(at), None);
        assert_eq!(SessionMethod::Other.fresh_until(at), None);
    }

    #[test]
    fn every_method_is_read_by_its_name() {
        for method in SessionMethod::ALL {
            assert_eq!(SessionMethod::stored(method.as_str()), *method);
        }
        assert_eq!(SessionMethod::stored("magic"), SessionMethod::Other);
    }
}
