//! Passwords: the rules for a new one, and how it is stored (Argon2id, 19 MiB,
//! two passes). Hashing is slow on purpose, and estimating strength is not
//! free: callers run both outside the threads that serve requests.

use argon2::password_hash::phc::PasswordHash;
use argon2::password_hash::{PasswordHasher, PasswordVerifier};
use argon2::{Algorithm, Argon2, Params, Version};

use crate::Invalid;
use crate::email_address::EmailAddress;
use crate::secret::Secret;

const MIN_LENGTH: usize = 8;
const MAX_LENGTH: usize = 256;
/// Longer passwords are not on any list of common ones, and the cost of an
/// estimate grows with the square of the length.
const MAX_ESTIMATED_LENGTH: usize = 32;

/// A password of a valid length that is not the email address of its account.
/// Whether it is too common is decided when it is hashed.
#[derive(Clone, Debug)]
pub struct NewPassword {
    secret: Secret,
    email: String,
}

impl NewPassword {
    pub fn parse(text: &str, email: &EmailAddress) -> Result<Self, Invalid> {
        let length = text.chars().count();
        if !(MIN_LENGTH..=MAX_LENGTH).contains(&length) {
            return Err(Invalid::new(format!("must have {MIN_LENGTH} to {MAX_LENGTH} characters")));
        }
        if text.trim().to_lowercase() == email.key() {
            return Err(Invalid::new("must not be the email address"));
        }
        Ok(Self { secret: Secret::new(text), email: email.key() })
    }

    /// The PHC string to store, unless the password is too common.
    pub fn hash(&self, salt: [u8; 16]) -> Result<String, Invalid> {
        if is_common(self.secret.expose(), &self.email) {
            return Err(Invalid::new("is too common; choose another password"));
        }
        Ok(hash(&self.secret, salt))
    }
}

/// Whether a password is among the first thousand or so that an attacker tries.
fn is_common(password: &str, email: &str) -> bool {
    if password.chars().count() > MAX_ESTIMATED_LENGTH {
        return false;
    }
    let (password, email) = (without_symbols(password), without_symbols(email));
    zxcvbn::zxcvbn(&password, &[&email]).score() == zxcvbn::Score::Zero
}

/// Replaces symbols that stand for letters ("p@$$word") with these letters. The
/// estimator would try every combination of them, which takes seconds; digits
/// alone leave it only a few.
fn without_symbols(text: &str) -> String {
    let letter = |symbol| match symbol {
        '@' => 'a',
        '(' | '{' | '[' | '<' => 'c',
        '!' | '|' => 'i',
        '$' => 's',
        '+' => 't',
        '%' => 'x',
        other => other,
    };
    text.chars().map(letter).collect()
}

/// The PHC string to store for a password.
pub fn hash(password: &Secret, salt: [u8; 16]) -> String {
    argon2()
        .hash_password_with_salt(password.expose().as_bytes(), &salt)
        .expect("the parameters are constant and valid")
        .to_string()
}

/// Whether the password matches the stored string.
pub fn verify(password: &Secret, stored: &str) -> bool {
    PasswordHash::new(stored)
        .is_ok_and(|hash| argon2().verify_password(password.expose().as_bytes(), &hash).is_ok())
}

/// Whether a stored string was hashed with a lower cost than today's.
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
    use std::time::Duration;

    fn refused(text: &str) -> Option<String> {
        let email = EmailAddress::parse("ann@example.com").expect("an address");
        let password = match NewPassword::parse(text, &email) {
            Ok(password) => password,
            Err(why) => return Some(why.0),
        };
        password.hash([3; 16]).err().map(|why| why.0)
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
    fn the_email_and_common_passwords_are_refused() {
        for text in [
            "ann@example.com",
            " ANN@example.com",
            "password1",
            "12345678",
            "qwertyuiop",
            "iloveyou",
            "p@ssword",
            "Pa$$w0rd",
            "!!!!!!!!",
            "abcabcabcabc",
            "moc.elpmaxe@nna",
        ] {
            assert!(refused(text).is_some(), "{text}");
        }
    }

    #[test]
    fn estimating_is_cheap_for_every_password() {
        let symbols = "4@8({[<369!1|7057$+%2";
        let attacks = [
            symbols.repeat(12),
            symbols.repeat(2),
            symbols.to_owned(),
            symbols.chars().cycle().take(MAX_ESTIMATED_LENGTH).collect(),
            "0123456789".chars().cycle().take(MAX_ESTIMATED_LENGTH).collect(),
            "17".repeat(MAX_ESTIMATED_LENGTH / 2),
            "1776943058271694".repeat(2),
            "a1b7c".chars().cycle().take(MAX_ESTIMATED_LENGTH).collect(),
            "pass1word7".chars().cycle().take(MAX_ESTIMATED_LENGTH).collect(),
            "11111111111111112222222222222222".to_owned(),
            "\u{130}".repeat(MAX_ESTIMATED_LENGTH),
            "a".repeat(MAX_LENGTH),
        ];
        // The word lists are loaded by the first estimate.
        is_common("k9#vT2qz", "ann@example.com");
        for attack in attacks {
            let cost = (0..5).map(|_| time(&attack)).min().expect("five");
            assert!(cost < Duration::from_millis(50), "{cost:?} for {attack}");
        }
    }

    fn time(password: &str) -> Duration {
        let started = std::time::Instant::now();
        is_common(password, "ann@example.com");
        started.elapsed()
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
    fn a_hash_with_a_lower_cost_is_outdated() {
        let stored = hash(&Secret::new("k9#vT2qz"), [3; 16]);
        assert!(!is_outdated(&stored));
        assert!(is_outdated(&stored.replace("m=19456", "m=12288")));
        assert!(is_outdated(&stored.replace("t=2", "t=1")));
        assert!(!is_outdated(&stored.replace("m=19456", "m=65536")));
        assert!(!is_outdated("not a hash"));
    }

    #[test]
    fn a_long_password_is_not_truncated() {
        let long = "x".repeat(72);
        let stored = hash(&Secret::new(format!("{long}y")), [3; 16]);
        assert!(!verify(&Secret::new(long), &stored));
    }
}
