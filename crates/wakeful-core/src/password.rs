//! Passwords: what is accepted as a new one, and how it is stored (Argon2id,
//! 19 MiB, two passes). Hashing is slow on purpose: callers keep it off the
//! threads that serve requests.

use argon2::password_hash::phc::PasswordHash;
use argon2::password_hash::{PasswordHasher, PasswordVerifier};
use argon2::{Algorithm, Argon2, Params, Version};

use crate::Invalid;
use crate::email::Email;
use crate::secret::Secret;

const SHORTEST: usize = 8;
const LONGEST: usize = 256;

/// A password that has passed the policy for the account it is meant for.
#[derive(Clone, Debug)]
pub struct NewPassword(Secret);

impl NewPassword {
    pub fn parse(text: &str, email: &Email) -> Result<Self, Invalid> {
        let length = text.chars().count();
        if !(SHORTEST..=LONGEST).contains(&length) {
            return Err(Invalid::new(format!("must have {SHORTEST} to {LONGEST} characters")));
        }
        if text.trim().to_lowercase() == email.key() {
            return Err(Invalid::new("must not be the email address"));
        }
        if zxcvbn::zxcvbn(text, &[email.as_str()]).score() == zxcvbn::Score::Zero {
            return Err(Invalid::new(
                "is one of the passwords that are guessed first; choose another",
            ));
        }
        Ok(Self(Secret::new(text)))
    }

    pub fn secret(&self) -> &Secret {
        &self.0
    }
}

/// The PHC string that is stored for a password.
pub fn hash(password: &Secret, salt: [u8; 16]) -> String {
    argon2()
        .hash_password_with_salt(password.expose().as_bytes(), &salt)
        .expect("the parameters are constant and valid")
        .to_string()
}

/// Whether the password is the one behind the stored string.
pub fn verify(password: &Secret, stored: &str) -> bool {
    PasswordHash::new(stored)
        .is_ok_and(|hash| argon2().verify_password(password.expose().as_bytes(), &hash).is_ok())
}

/// Whether a stored string was made with less work than is asked for today.
pub fn is_outdated(stored: &str) -> bool {
    let made_with = PasswordHash::new(stored).ok().and_then(|hash| Params::try_from(&hash).ok());
    let today = argon2();
    made_with.is_some_and(|params| {
        params.m_cost() < today.params().m_cost() || params.t_cost() < today.params().t_cost()
    })
}

fn argon2() -> Argon2<'static> {
    let params = Params::new(19_456, 2, 1, Some(32)).expect("within Argon2's bounds");
    Argon2::new(Algorithm::Argon2id, Version::V0x13, params)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn refused(text: &str) -> Option<String> {
        let email = Email::parse("ann@example.com").expect("an address");
        NewPassword::parse(text, &email).err().map(|why| why.0)
    }

    #[test]
    fn a_new_password_has_8_to_256_characters_of_any_kind() {
        assert!(refused("k9#vT2q").is_some());
        assert_eq!(refused("k9#vT2qz"), None);
        assert_eq!(refused("twenty lower case letters"), None);
        assert_eq!(refused("ключ от квартиры"), None);
        assert_eq!(refused(&"k9#vT2qz".repeat(32)), None);
        assert!(refused(&format!("{}!", "k9#vT2qz".repeat(32))).is_some());
    }

    #[test]
    fn the_email_and_the_common_ones_are_refused() {
        for text in [
            "ann@example.com",
            " ANN@example.com",
            "password1",
            "12345678",
            "qwertyuiop",
            "iloveyou",
        ] {
            assert!(refused(text).is_some(), "{text}");
        }
    }

    #[test]
    fn a_password_verifies_against_its_own_hash_only() {
        let stored = hash(&Secret::new("k9#vT2qz"), [3; 16]);
        assert!(stored.starts_with("$argon2id$v=19$m=19456,t=2,p=1$"), "{stored}");
        assert!(verify(&Secret::new("k9#vT2qz"), &stored));
        assert!(!verify(&Secret::new("k9#vT2qZ"), &stored));
        assert!(!verify(&Secret::new("k9#vT2qz"), "not a hash"));
    }

    #[test]
    fn a_hash_that_took_less_work_is_outdated() {
        let stored = hash(&Secret::new("k9#vT2qz"), [3; 16]);
        assert!(!is_outdated(&stored));
        assert!(is_outdated(&stored.replace("m=19456", "m=12288")));
        assert!(is_outdated(&stored.replace("t=2", "t=1")));
        assert!(!is_outdated(&stored.replace("m=19456", "m=65536")));
        assert!(!is_outdated("not a hash"));
    }

    #[test]
    fn nothing_of_a_long_password_is_cut_off() {
        let long = "x".repeat(72);
        let stored = hash(&Secret::new(format!("{long}y")), [3; 16]);
        assert!(!verify(&Secret::new(long), &stored));
    }
}
