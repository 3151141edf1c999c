//! An authenticator app, and a user who has one. Each code is accepted once, so the app
//! remembers the last one and returns the next that the server accepts.

use data_encoding::BASE32_NOPAD;
use serde_json::{Value, json};
use std::time::{SystemTime, UNIX_EPOCH};
use wakeful_core::accounts::totp::Seed;
use wakeful_core::time::Millis;
use wakeful_testkit::{Client, User};

const STEP: i64 = 30;

pub(crate) struct App {
    seed: Seed,
    used: i64,
}

impl App {
    pub(crate) fn new(secret: &str) -> Self {
        let seed = Seed::from_bytes(&BASE32_NOPAD.decode(secret.as_bytes()).unwrap());
        Self { seed, used: 0 }
    }

    /// A code that was not used before. One step back and one ahead are accepted, so three
    /// are available at any time.
    pub(crate) fn code(&mut self) -> String {
        let now = now() / STEP;
        self.used = (self.used + 1).max(now - 1);
        assert!(self.used <= now + 1, "too many codes within 30 s");
        self.seed.code(Millis(self.used * STEP * 1000))
    }
}

#[expect(clippy::disallowed_methods, reason = "the server under test has the real clock")]
fn now() -> i64 {
    i64::try_from(SystemTime::now().duration_since(UNIX_EPOCH).unwrap().as_secs()).unwrap()
}

/// A user with MFA on.
pub(crate) struct MfaUser {
    pub(crate) user: User,
    pub(crate) secret: String,
    pub(crate) recovery_codes: Vec<String>,
    pub(crate) app: App,
}

impl MfaUser {
    pub(crate) async fn sign_up(anonymous: &Client, email: &str) -> Self {
        let user = User::sign_up(anonymous, email).await;
        let set_up = user.client.post_nothing("mfa/setup").await.ok();
        let secret = set_up["secret"].as_str().unwrap().to_owned();
        let mut app = App::new(&secret);
        let enabled = user.client.post("mfa/enable", &json!({"mfacode": app.code()})).await.ok();
        let codes = enabled["recovery_codes"].as_array().unwrap();
        let recovery_codes = codes.iter().map(|code| code.as_str().unwrap().to_owned()).collect();
        Self { user, secret, recovery_codes, app }
    }

    /// Logs in with the next code from the app.
    pub(crate) async fn log_in(&mut self, anonymous: &Client) -> Value {
        let (email, password) = (&self.user.email, &self.user.password);
        let body = json!({"email": email, "password": password, "mfacode": self.app.code()});
        anonymous.post("login", &body).await.ok()
    }
}
