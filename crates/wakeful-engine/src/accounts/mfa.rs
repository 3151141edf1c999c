//! The second factor: it is set up, confirmed with a code to turn it on, and required at each
//! login. A code works once. Five wrong codes in a row lock the account's second factor for a
//! while, which requires the password first.

use std::time::Duration;
use wakeful_core::access::permission;
use wakeful_core::accounts::totp::{self, RECOVERY_CODE_COUNT, Seed};
use wakeful_core::id::UserId;
use wakeful_core::secret::Secret;
use wakeful_core::token::Digest;

use crate::accounts::auth::{Claimant, Origin};
use crate::accounts::team::require_done;
use crate::caller::{Authorized, Reauthenticated};
use crate::{Engine, Error, Result, mail::templates, random};

const MAX_WRONG_CODES: i64 = 5;
const LOCKOUT: Duration = Duration::from_secs(15 * 60);

/// The data for an authenticator app.
pub struct MfaSetup {
    pub secret: Secret,
    pub uri: Secret,
    pub qr: Secret,
}

impl Engine {
    /// Creates a new seed, which is used once it is confirmed with a code.
    pub async fn set_up_mfa(
        &self,
        caller: &Reauthenticated<permission::Myself>,
    ) -> Result<MfaSetup> {
        let seed = Seed::new(random::bytes());
        if !self.store().set_mfa_seed(caller.user(), &seed).await? {
            return Err(Error::MfaAlreadyOn);
        }
        let uri = seed.uri(caller.email());
        Ok(MfaSetup { secret: seed.base32(), qr: qr_code(&uri), uri })
    }

    /// Turns MFA on if the code matches the seed; returns the recovery codes.
    pub async fn enable_mfa(
        &self,
        caller: &Authorized<permission::Myself>,
        code: &str,
    ) -> Result<Vec<Secret>> {
        let mfa = self.store().mfa(caller.user()).await?.ok_or(Error::NotAuthenticated)?;
        if mfa.enabled {
            return Err(Error::MfaAlreadyOn);
        }
        let seed = mfa.seed.ok_or(Error::MfaNotSetUp)?;
        let step = seed.check(code, self.now()).ok_or(Error::MfaInvalid)?;
        let (codes, digests) = new_recovery_codes();
        let by = self.audit(caller);
        if self.store().enable_mfa(caller.authority(), &mfa.sealed, step, &digests, &by).await? {
            Ok(codes)
        } else {
            Err(Error::MfaAlreadyOn)
        }
    }

    /// Turns MFA off for a caller with both factors.
    pub async fn disable_mfa(
        &self,
        caller: &Authorized<permission::Myself>,
        password: &Secret,
        code: &str,
        from: &Origin,
    ) -> Result<()> {
        let claimant = Claimant::Caller(caller);
        let account = self.verify_credentials(claimant, password, Some(code), from).await?;
        if !account.mfa_enabled {
            return Err(Error::MfaNotOn);
        }
        if self.store().disable_mfa(caller.authority(), &self.audit(caller)).await? {
            Ok(())
        } else {
            Err(Error::LastFactor)
        }
    }

    /// Replaces the caller's recovery codes; the previous ones no longer work.
    pub async fn renew_recovery_codes(
        &self,
        caller: &Reauthenticated<permission::Myself>,
    ) -> Result<Vec<Secret>> {
        let (codes, digests) = new_recovery_codes();
        let (authority, by) = (caller.authority(), self.audit(caller));
        if self.store().renew_recovery_codes(authority, &digests, &by).await? {
            Ok(codes)
        } else {
            Err(Error::MfaNotOn)
        }
    }

    /// Turns MFA off for a member who has lost the second factor, if the team manages the
    /// account, and notifies them by mail. Callers turn off their own with both factors.
    pub async fn reset_mfa_of_member(
        &self,
        caller: &Reauthenticated<permission::People>,
        user: UserId,
    ) -> Result<()> {
        if user == caller.user() {
            let why = "must be another person; turn off your own MFA with mfa/disable".to_owned();
            return Err(Error::Refused { field: "userid", why });
        }
        let team = self.store().team(caller.team_access());
        let members = team.members().await?;
        let member = members.into_iter().find(|member| member.user == user);
        let member = member.ok_or(Error::NotFound("user"))?;
        let text = templates::mfa_reset(self.settings(), &member.email, caller.email());
        let notice = self.new_mail(&member.email, text);
        let (authority, by) = (caller.authority(), self.audit(caller));
        require_done(team.reset_mfa(user, &notice, authority, &by, self.now()).await?)?;
        self.0.mail_queued.notify_one();
        Ok(())
    }

    /// Uses up a code from the app or a recovery code.
    pub(crate) async fn consume_mfa_code(&self, user: UserId, code: &str) -> Result<()> {
        let mfa = self.store().mfa(user).await?.ok_or(Error::MfaInvalid)?;
        let now = self.now();
        if mfa.locked_until > now {
            return Err(Error::Limited { retry_after: mfa.locked_until.since(now) });
        }
        let seed = mfa.seed.filter(|_| mfa.enabled).ok_or(Error::MfaInvalid)?;
        if let Some(step) = seed.check(code.trim(), now) {
            // A used code is refused, but does not count as a guess.
            return if self.store().use_mfa_step(user, step, now).await? {
                Ok(())
            } else {
                Err(Error::MfaInvalid)
            };
        }
        if self.store().use_recovery_code(user, totp::recovery_digest(code), now).await? {
            return Ok(());
        }
        let until = now.after(LOCKOUT);
        if self.store().count_wrong_code(user, MAX_WRONG_CODES, now, until).await? {
            Err(Error::MfaInvalid)
        } else {
            Err(Error::Limited { retry_after: LOCKOUT })
        }
    }
}

fn new_recovery_codes() -> (Vec<Secret>, Vec<Digest>) {
    let codes: Vec<Secret> =
        (0..RECOVERY_CODE_COUNT).map(|_| totp::recovery_code(random::bytes())).collect();
    let digests = codes.iter().map(|code| totp::recovery_digest(code.expose())).collect();
    (codes, digests)
}

fn qr_code(uri: &Secret) -> Secret {
    let code = qrcode::QrCode::new(uri.expose().as_bytes()).expect("an otpauth URI fits a QR code");
    let svg = code.render::<qrcode::render::svg::Color>().min_dimensions(200, 200).build();
    Secret::new(svg)
}
