//! The authenticator app of a user: stores the secret and shows codes.

use data_encoding::BASE32_NOPAD;
use serde_json::{Value, json};
use std::time::Duration;
use wakeful_core::accounts::totp::Seed;
use wakeful_core::time::Clock as _;

use crate::client::User;
use crate::clock::TestClock;

pub struct Authenticator(Seed);

impl Authenticator {
    /// An app that scanned the response of mfa/setup.
    pub fn scan(setup: &Value) -> Self {
        let secret = setup["secret"].as_str().unwrap();
        Self(Seed::from_bytes(&BASE32_NOPAD.decode(secret.as_bytes()).unwrap()))
    }

    /// Turns on MFA for a user; returns the app and the recovery codes. The
    /// time step of the code that was used is over.
    pub async fn enable(user: &User, clock: &TestClock) -> (Self, Vec<String>) {
        let authenticator = Self::scan(&user.client.post_nothing("mfa/setup").await.ok());
        let body = json!({"mfacode": authenticator.code(clock)});
        let enabled = user.client.post("mfa/enable", &body).await.ok();
        let codes = enabled["recovery_codes"].as_array().unwrap();
        clock.advance(Duration::from_secs(30));
        (authenticator, codes.iter().map(|code| code.as_str().unwrap().to_owned()).collect())
    }

    /// The code that the app shows now.
    pub fn code(&self, clock: &TestClock) -> String {
        self.0.code(clock.now())
    }

    /// A code that is invalid now, and in the steps before and after.
    pub fn wrong_code(&self, clock: &TestClock) -> String {
        let good = |code: &String| self.0.check(code, clock.now()).is_some();
        (0..10).map(|digit| digit.to_string().repeat(6)).find(|code| !good(code)).unwrap()
    }

    /// The secret shared by the app and the service.
    pub fn seed(&self) -> &[u8] {
        self.0.bytes()
    }
}
