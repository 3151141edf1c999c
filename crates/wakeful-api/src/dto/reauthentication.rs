//! Reauthentication: how, and until when it counts.

use serde::Serialize;
use utoipa::ToSchema;
use wakeful_core::secret::Secret;
use wakeful_core::time::Millis;
use wakeful_engine::Way;

use super::enums;
use super::fields::{Fields, FromFields};
use super::sessions::optional_code;

/// A way to reauthenticate.
#[derive(Debug, Serialize, ToSchema)]
pub(crate) struct WayBody {
    #[schema(value_type = enums::SessionMethod)]
    method: &'static str,
    /// Whether an `mfacode` is needed too, because MFA is on.
    mfacode: bool,
}

impl From<Way> for WayBody {
    fn from(way: Way) -> Self {
        Self { method: way.method.as_str(), mfacode: way.mfacode }
    }
}

/// The ways of the caller.
#[derive(Serialize, ToSchema)]
pub(crate) struct Ways {
    success: bool,
    ways: Vec<WayBody>,
}

impl Ways {
    pub(crate) fn of(ways: Vec<Way>) -> Self {
        Self { success: true, ways: ways.into_iter().map(WayBody::from).collect() }
    }
}

/// The caller's credentials, entered again.
#[derive(ToSchema)]
pub(crate) struct Reauthenticate {
    #[schema(value_type = String, min_length = 1, pattern = r"\S")]
    pub(crate) password: Secret,
    /// A code from the authenticator app, or a recovery code; required if MFA is on.
    pub(crate) mfacode: Option<String>,
}

impl FromFields for Reauthenticate {
    fn read(fields: &mut Fields) -> Option<Self> {
        let password = fields.text("password").map(Secret::new);
        let mfacode = optional_code(fields);
        Some(Self { password: password?, mfacode })
    }
}

#[derive(Serialize, ToSchema)]
pub(crate) struct ReauthenticatedUntil {
    success: bool,
    #[schema(value_type = String, format = DateTime)]
    reauthenticated_until: Millis,
}

impl ReauthenticatedUntil {
    pub(crate) fn of(reauthenticated_until: Millis) -> Self {
        Self { success: true, reauthenticated_until }
    }
}
