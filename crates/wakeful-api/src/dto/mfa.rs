//! Multi-factor authentication: setup, enabling and disabling.

use serde::Serialize;
use utoipa::ToSchema;
use wakeful_core::secret::Secret;
use wakeful_engine::MfaSetup;

use super::fields::{Fields, FromFields};

#[derive(ToSchema)]
pub(crate) struct EnableMfa {
    /// A code from the authenticator app.
    #[schema(min_length = 1, pattern = r"\S")]
    pub(crate) mfacode: String,
}

impl FromFields for EnableMfa {
    fn read(fields: &mut Fields) -> Option<Self> {
        Some(Self { mfacode: code(fields)? })
    }
}

#[derive(ToSchema)]
pub(crate) struct DisableMfa {
    #[schema(value_type = String, min_length = 1, pattern = r"\S")]
    pub(crate) password: Secret,
    /// A code from the authenticator app, or a recovery code.
    #[schema(min_length = 1, pattern = r"\S")]
    pub(crate) mfacode: String,
}

impl FromFields for DisableMfa {
    fn read(fields: &mut Fields) -> Option<Self> {
        let password = fields.text("password").map(Secret::new);
        let mfacode = code(fields);
        Some(Self { password: password?, mfacode: mfacode? })
    }
}

fn code(fields: &mut Fields) -> Option<String> {
    match fields.optional_digits("mfacode", 6) {
        Some(code) if !code.trim().is_empty() => Some(code),
        _ => fields.text("mfacode"),
    }
}

#[derive(Serialize, ToSchema)]
pub(crate) struct MfaSetUp {
    success: bool,
    message: String,
    /// The shared secret in base32, to type into an app.
    secret: String,
    /// The same as an otpauth URI.
    uri: String,
    /// The URI as a QR code, in SVG.
    qr: String,
}

impl MfaSetUp {
    pub(crate) fn of(setup: &MfaSetup) -> Self {
        Self {
            success: true,
            message: "Add the secret to an authenticator app, then send a code to mfa/enable."
                .into(),
            secret: setup.secret.expose().to_owned(),
            uri: setup.uri.expose().to_owned(),
            qr: setup.qr.expose().to_owned(),
        }
    }
}

#[derive(Serialize, ToSchema)]
pub(crate) struct MfaCodes {
    success: bool,
    message: String,
    /// Each is accepted once in place of a code. Shown only once.
    recovery_codes: Vec<String>,
}

impl MfaCodes {
    pub(crate) fn enabled(codes: &[Secret]) -> Self {
        let message =
            "Multi-factor authentication is on. Save the recovery codes: they are shown only once.";
        Self::of(codes, message)
    }

    pub(crate) fn renewed(codes: &[Secret]) -> Self {
        let message = "Save the new recovery codes: they are shown only once, and the previous ones no longer work.";
        Self::of(codes, message)
    }

    fn of(codes: &[Secret], message: &str) -> Self {
        Self {
            success: true,
            message: message.into(),
            recovery_codes: codes.iter().map(|code| code.expose().to_owned()).collect(),
        }
    }
}
