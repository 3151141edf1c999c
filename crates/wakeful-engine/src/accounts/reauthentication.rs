//! Reauthentication: a caller enters their credentials again, and the session is fresh for a
//! while. Guessing is limited and recorded as at a login.

use wakeful_core::access::permission;
use wakeful_core::accounts::reauthentication::REAUTHENTICATION_LIFETIME;
use wakeful_core::secret::Secret;
use wakeful_core::time::Millis;
use wakeful_store::Credential;

use crate::accounts::auth::{Claimant, Origin};
use crate::caller::{Authorized, Via};
use crate::{Engine, Error, Result};

impl Engine {
    /// Makes the caller's session fresh, and no other; returns until when. API keys, and sessions
    /// that were opened with one, cannot reauthenticate.
    pub async fn reauthenticate(
        &self,
        caller: &Authorized<permission::Myself>,
        password: &Secret,
        mfacode: Option<&str>,
        from: &Origin,
    ) -> Result<Millis> {
        caller.ways_to_reauthenticate()?;
        let Via::Session(session) = caller.via() else { return Err(Error::NotForKeys) };
        let claimant = Claimant::Caller(caller);
        let account = self.verify_credentials(claimant, password, mfacode, from).await?;
        let entered =
            Credential::Password { hash: &account.password_hash, mfa_enabled: account.mfa_enabled };
        let (user, team, now) = (caller.user(), caller.team(), self.now());
        if self.store().reauthenticate_session(session, user, team, entered, now).await? {
            Ok(now.after(REAUTHENTICATION_LIFETIME))
        } else {
            // The password was changed since it was verified.
            Err(Error::BadCredentials)
        }
    }
}
