//! The second factor: RFC 6238 codes (SHA-1, 6 digits, 30 s, one step either
//! way) and recovery codes. A code works once: `check` returns its time step,
//! and the store only accepts a step later than the last one.

use data_encoding::{BASE32_NOPAD, HEXLOWER};
use totp_rs::{Algorithm, Builder, Totp};
use zeroize::Zeroizing;

use crate::secret::Secret;
use crate::time::Millis;
use crate::token::Digest;

pub const SEED_LENGTH: usize = 20;
pub const RECOVERY_CODE_COUNT: usize = 10;

/// The secret shared by the authenticator app and the service.
#[derive(Clone)]
pub struct Seed(Zeroizing<Vec<u8>>);

impl Seed {
    pub fn new(random: [u8; SEED_LENGTH]) -> Self {
        Self(Zeroizing::new(random.to_vec()))
    }

    pub fn from_bytes(bytes: &[u8]) -> Self {
        Self(Zeroizing::new(bytes.to_vec()))
    }

    pub fn bytes(&self) -> &[u8] {
        &self.0
    }

    /// The seed as a user types it into an app.
    pub fn base32(&self) -> Secret {
        Secret::new(BASE32_NOPAD.encode(&self.0))
    }

    /// `otpauth://totp/…`, which apps read from a QR code.
    pub fn uri(&self, account: &str) -> Secret {
        let uri = self.totp(account).to_url().expect("issuer and account are set");
        Secret::new(uri)
    }

    /// The time step of a code that is valid at `now`.
    pub fn check(&self, code: &str, now: Millis) -> Option<i64> {
        let step = self.totp("").check(code, seconds(now))?;
        i64::try_from(step).ok()
    }

    /// The code an app would show at `now`.
    pub fn code(&self, now: Millis) -> String {
        self.totp("").generate(seconds(now)).to_string()
    }

    fn totp(&self, account: &str) -> Totp {
        Builder::new()
            .with_algorithm(Algorithm::SHA1)
            .with_digits(6)
            .with_skew(1)
            .with_step_duration(30)
            .with_secret(self.0.to_vec())
            // The label separates issuer and account by a colon, so neither may contain one.
            .with_account_name(account.replace(':', ""))
            .with_issuer(Some("Wakeful"))
            .build_noncompliant()
    }
}

fn seconds(now: Millis) -> u64 {
    now.0.max(0).cast_unsigned() / 1000
}

/// A recovery code of 80 random bits, in groups that are easy to copy.
pub fn recovery_code(random: [u8; 10]) -> Secret {
    let hex = HEXLOWER.encode(&random);
    let groups: Vec<&str> = (0..hex.len()).step_by(5).map(|at| &hex[at..at + 5]).collect();
    Secret::new(groups.join("-"))
}

/// The digest to store for a recovery code; spaces, dashes and letter case do
/// not matter.
pub fn recovery_digest(typed: &str) -> Digest {
    let bare: String = typed.chars().filter(char::is_ascii_alphanumeric).collect();
    Digest::of(&bare.to_ascii_lowercase())
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The secret of RFC 6238, appendix B.
    fn seed() -> Seed {
        Seed::from_bytes(b"12345678901234567890")
    }

    #[test]
    fn codes_match_rfc_6238() {
        for (second, code) in
            [(59, "287082"), (1_111_111_109, "081804"), (20_000_000_000, "353130")]
        {
            assert_eq!(seed().code(Millis(second * 1000)), code);
        }
    }

    #[test]
    fn a_code_is_valid_for_its_step_and_one_either_way() {
        let at = Millis(59_000);
        for (now, good) in [(59_000, true), (89_000, true), (29_000, true), (119_000, false)] {
            assert_eq!(seed().check(&seed().code(at), Millis(now)), good.then_some(1), "{now}");
        }
        assert_eq!(seed().check("", at), None);
        assert_eq!(seed().check("28708", at), None);
        assert_eq!(seed().check("２８７０８２", at), None);
    }

    #[test]
    fn the_uri_names_issuer_and_account() {
        let uri = seed().uri("ann:x@example.com");
        assert!(
            uri.expose().starts_with("otpauth://totp/Wakeful:annx%40example.com?"),
            "{}",
            uri.expose()
        );
        assert!(uri.expose().contains(seed().base32().expose()));
    }

    #[test]
    fn a_recovery_code_may_be_typed_without_dashes_and_in_any_case() {
        let code = recovery_code([0xA5; 10]);
        assert_eq!(code.expose(), "a5a5a-5a5a5-a5a5a-5a5a5");
        assert_eq!(recovery_digest(code.expose()), recovery_digest(" A5A5A5A5A5A5A5A5A5A5 "));
    }
}
