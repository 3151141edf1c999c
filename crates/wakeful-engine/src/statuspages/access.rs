//! How a visitor unlocks a page: with its password, limited to a few attempts, or with its
//! token. Both are exchanged for a signed cookie.

use std::net::IpAddr;
use wakeful_core::secret::Secret;
use wakeful_core::statuspages::unlock::{UNLOCKED_FOR, Unlocked};

use super::snapshots::Served;
use crate::{Engine, Result};

impl Engine {
    /// Whether a password opens a page. Fails after too many wrong ones. Each attempt is counted
    /// before the password is verified and the count undone if it is correct, so that concurrent
    /// guesses cannot exceed the limit. Only those with a permit count: a client has few at a
    /// time, so that many concurrent requests with the correct password are not refused.
    pub async fn try_statuspage_password(
        &self,
        page: &Served,
        password: &Secret,
        client: IpAddr,
    ) -> Result<bool> {
        let limits = self.statuspage_password_limits(page.id, client);
        self.check_limit(&limits).await?;
        let permit = self.0.hasher.acquire(client).await?;
        self.count_attempts(&limits).await?;
        let is_correct = permit.verify(password, page.password_hash()).await;
        if is_correct {
            self.undo_attempts(&limits, 1).await?;
        }
        Ok(is_correct)
    }

    /// The cookie of a visitor who has unlocked a page.
    pub fn statuspage_cookie(&self, page: &Served) -> String {
        let expires = self.now().after(UNLOCKED_FOR);
        let unlocked = Unlocked { page: page.id, revision: page.lock_revision(), expires };
        self.store().unlock_cookie(&unlocked)
    }

    /// Whether a cookie opens a page.
    pub fn is_statuspage_cookie(&self, page: &Served, cookie: &str) -> bool {
        let unlocked = self.store().unlocked_by(cookie);
        unlocked.is_some_and(|unlocked| {
            unlocked.page == page.id
                && unlocked.revision == page.lock_revision()
                && unlocked.expires > self.now()
        })
    }
}
