//! Notifiers of type account.

use serde::Serialize;
use utoipa::ToSchema;
use wakeful_core::id::UserId;
use wakeful_core::notifications::notifier::AccountSpec;

/// The user that a notifier of type account sends emails to.
#[derive(Serialize, ToSchema)]
#[schema(as = NotifierAccount)]
pub(crate) struct AccountBody {
    #[schema(value_type = String, format = Uuid)]
    userid: UserId,
    /// The current address of the user.
    #[schema(format = Email)]
    email: String,
    /// Nothing is sent to an address that is not verified.
    email_verified: bool,
}

impl AccountBody {
    pub(super) fn of(spec: &AccountSpec) -> Self {
        let AccountSpec { user, email, verified } = spec;
        Self { userid: *user, email: email.clone(), email_verified: *verified }
    }
}
