//! The second factor: set up, proved once to turn it on, asked at each login.
//! A code works once; five wrong ones in a row close the door for a while,
//! which only somebody with the password can bring about.

use std::net::IpAddr;
use std::time::Duration;
use wakeful_core::id::UserId;
use wakeful_core::secret::Secret;
use wakeful_core::totp::{self, RECOVERY_CODES, Seed};

use crate::caller::Caller;
use crate::{Engine, Error, Result, random};

const WRONG_CODES: i64 = 5;
const LOCKED: Duration = Duration::from_secs(15 * 60);

/// What an authenticator app needs.
pub struct MfaSetup {
    pub secret: Secret,
    pub uri: Secret,
    pub qr: Secret,
}

impl Engine {
    /// Makes a new seed, which counts once a code has proved it.
    pub async fn set_up_mfa(&self, caller: &Caller) -> Result<MfaSetup> {
        let seed = Seed::new(random::bytes());
        if !self.store().set_mfa_seed(caller.user, &seed).await? {
            return Err(Error::MfaAlreadyOn);
        }
        let uri = seed.uri(&caller.email);
        Ok(MfaSetup { secret: seed.base32(), qr: qr_code(&uri), uri })
    }

    /// Whether the caller's logins ask for a second factor.
    pub async fn has_mfa(&self, caller: &Caller) -> Result<bool> {
        let mfa = self.store().mfa(caller.user).await?.ok_or(Error::NotAuthenticated)?;
        Ok(mfa.enabled)
    }

    /// Turns MFA on when the code fits the seed; answers the recovery codes.
    pub async fn enable_mfa(&self, caller: &Caller, code: &str) -> Result<Vec<Secret>> {
        let mfa = self.store().mfa(caller.user).await?.ok_or(Error::NotAuthenticated)?;
        if mfa.enabled {
            return Err(Error::MfaAlreadyOn);
        }
        let seed = mfa.seed.ok_or(Error::MfaNotSetUp)?;
        let step = seed.check(code, self.now()).ok_or(Error::MfaInvalid)?;
        let codes: Vec<Secret> =
            (0..RECOVERY_CODES).map(|_| totp::recovery_code(random::bytes())).collect();
        let digests: Vec<_> =
            codes.iter().map(|code| totp::recovery_digest(code.expose())).collect();
        match self.store().enable_mfa(caller.user, &mfa.sealed, step, &digests).await? {
            true => Ok(codes),
            false => Err(Error::MfaAlreadyOn),
        }
    }

    /// Turns MFA off for somebody who has both factors.
    pub async fn disable_mfa(
        &self,
        caller: &Caller,
        password: &Secret,
        code: &str,
        from: IpAddr,
    ) -> Result<()> {
        self.prove_password(caller, password, from).await?;
        let mfa = self.store().mfa(caller.user).await?.ok_or(Error::NotAuthenticated)?;
        if !mfa.enabled {
            return Err(Error::MfaNotSetUp);
        }
        self.use_code(caller.user, code).await?;
        Ok(self.store().disable_mfa(caller.user).await?)
    }

    /// Uses up a code of the app or a recovery code.
    pub(crate) async fn use_code(&self, user: UserId, code: &str) -> Result<()> {
        let mfa = self.store().mfa(user).await?.ok_or(Error::MfaInvalid)?;
        let now = self.now();
        if mfa.locked_until > now {
            return Err(Error::Limited { retry_after: mfa.locked_until.since(now) });
        }
        let seed = mfa.seed.filter(|_| mfa.enabled).ok_or(Error::MfaInvalid)?;
        if let Some(step) = seed.check(code.trim(), now) {
            // A code seen before is refused, but it was no guess.
            return match self.store().use_mfa_step(user, step).await? {
                true => Ok(()),
                false => Err(Error::MfaInvalid),
            };
        }
        if self.store().use_recovery_code(user, totp::recovery_digest(code)).await? {
            return Ok(());
        }
        self.store().count_wrong_code(user, WRONG_CODES, now.after(LOCKED)).await?;
        Err(Error::MfaInvalid)
    }
}

fn qr_code(uri: &Secret) -> Secret {
    let code = qrcode::QrCode::new(uri.expose().as_bytes()).expect("an otpauth URI fits a QR code");
    let svg = code.render::<qrcode::render::svg::Color>().min_dimensions(200, 200).build();
    Secret::new(svg)
}
