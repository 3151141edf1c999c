//! Requests to verify an email address.

use utoipa::ToSchema;
use wakeful_core::secret::Secret;

use super::fields::{Fields, FromFields};

#[derive(ToSchema)]
pub(crate) struct VerifyEmail {
    /// The token of the emailed link.
    #[schema(value_type = String, min_length = 1, pattern = r"\S")]
    pub(crate) token: Secret,
}

impl FromFields for VerifyEmail {
    fn read(fields: &mut Fields) -> Option<Self> {
        Some(Self { token: fields.text("token").map(Secret::new)? })
    }
}
