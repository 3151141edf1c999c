//! Invitations to a team.

use serde::Serialize;
use utoipa::ToSchema;
use wakeful_core::access::{MonitorFilter, Role};
use wakeful_core::email_address::EmailAddress;
use wakeful_core::id::InvitationId;
use wakeful_core::named_enum;
use wakeful_core::secret::Secret;
use wakeful_core::time::Millis;
use wakeful_engine::{InvitationView, InvitedAccount, JoinAsNew, OpenedInvitation};

use super::enums;
use super::fields::{Fields, FromFields};
use super::monitor_filter::{self, MonitorFilterBody};
use crate::query::NextCursor;

named_enum! {
    #[derive(Clone, Copy, PartialEq, Eq)]
    pub(crate) enum AccountState {
        New = "new",
        Exists = "exists",
        Yours = "yours",
    }
}

impl From<InvitedAccount> for AccountState {
    fn from(account: InvitedAccount) -> Self {
        match account {
            InvitedAccount::New => Self::New,
            InvitedAccount::Exists => Self::Exists,
            InvitedAccount::Yours => Self::Yours,
        }
    }
}

/// A person to invite, or an invitation (with `invitationid`) that gets a new link.
#[derive(ToSchema)]
pub(crate) struct SaveInvitation {
    #[schema(value_type = Option<String>)]
    invitationid: Option<String>,
    /// Required without `invitationid`.
    #[schema(value_type = Option<String>, format = Email)]
    email: Option<EmailAddress>,
    /// Required without `invitationid`; at most the caller's own.
    #[schema(value_type = Option<enums::Role>)]
    role: Option<Role>,
    /// Limits a viewer or responder to monitors with one of these tags; not together with
    /// `monitors`. Comma-separated tags, or an array of strings. Up to 20.
    #[schema(value_type = Option<Vec<String>>)]
    #[expect(dead_code, reason = "for the schema; read as `filter`")]
    tags: (),
    /// Limits a viewer or responder to these monitors; not together with `tags`. Up to 100 ids.
    #[schema(value_type = Option<Vec<String>>)]
    #[expect(dead_code, reason = "for the schema; read as `filter`")]
    monitors: (),
    #[schema(ignore)]
    filter: Option<MonitorFilter>,
    /// Whether to mail the link, which then only the invited person sees; true if omitted.
    #[schema(value_type = Option<bool>)]
    mail: bool,
}

impl FromFields for SaveInvitation {
    fn read(fields: &mut Fields) -> Option<Self> {
        let renews = fields.has("invitationid");
        let invitationid = fields.optional_text("invitationid");
        let mail = fields.optional_flag("mail").unwrap_or(true);
        let (tags, monitors) = ((), ());
        if renews {
            let (email, role, filter) = (None, None, None);
            return Some(Self { invitationid, email, role, tags, monitors, filter, mail });
        }
        let email = fields.parse("email", EmailAddress::parse);
        let role = fields.parse("role", Role::parse);
        let filter = monitor_filter::read(fields);
        let (email, role) = (Some(email?), Some(role?));
        Some(Self { invitationid, email, role, tags, monitors, filter, mail })
    }
}

impl SaveInvitation {
    /// The requested change; `None` if the `invitationid` is malformed.
    pub(crate) fn wanted(self) -> Option<wakeful_engine::SaveInvitation> {
        let Self { invitationid, email, role, filter, mail, .. } = self;
        match (invitationid, email, role) {
            (Some(id), ..) => {
                let invitation = InvitationId::parse(&id)?;
                Some(wakeful_engine::SaveInvitation::Renew { invitation, mail })
            }
            (None, Some(email), Some(role)) => {
                Some(wakeful_engine::SaveInvitation::New { email, role, filter, mail })
            }
            _ => None,
        }
    }
}

#[derive(Serialize, ToSchema)]
pub(crate) struct InvitationSaved {
    success: bool,
    #[schema(value_type = String, format = Uuid)]
    invitationid: InvitationId,
    /// The link to pass on, shown only once; absent if it was mailed.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(nullable = false)]
    link: Option<String>,
}

impl InvitationSaved {
    pub(crate) fn of(saved: wakeful_engine::InvitationSaved) -> Self {
        Self { success: true, invitationid: saved.id, link: saved.link }
    }
}

/// The invitations of the team that were not accepted yet.
#[derive(Serialize, ToSchema)]
pub(crate) struct InvitationList {
    success: bool,
    invitations: Vec<ListedInvitation>,
    /// Only with `limit`: the cursor of the next page; null on the last page.
    #[serde(skip_serializing_if = "Option::is_none")]
    next_cursor: Option<Option<String>>,
}

#[derive(Serialize, ToSchema)]
pub(crate) struct ListedInvitation {
    #[schema(value_type = String, format = Uuid)]
    invitationid: InvitationId,
    #[schema(format = Email)]
    email: String,
    #[schema(value_type = enums::Role)]
    role: &'static str,
    /// The monitors that the member will be limited to; null if to none.
    monitor_filter: Option<MonitorFilterBody>,
    /// Whether the link was mailed.
    mailed: bool,
    /// The address of the member who sent it; null once they have left the team. The link then
    /// no longer works.
    invited_by: Option<String>,
    #[schema(value_type = String, format = DateTime)]
    created: Millis,
    #[schema(value_type = String, format = DateTime)]
    expires: Millis,
}

impl InvitationList {
    pub(crate) fn of(invitations: Vec<InvitationView>, next_cursor: NextCursor) -> Self {
        let invitations = invitations
            .into_iter()
            .map(|InvitationView { invitation, filter }| ListedInvitation {
                invitationid: invitation.id,
                email: invitation.email,
                role: invitation.role.as_str(),
                monitor_filter: filter.map(MonitorFilterBody::from),
                mailed: invitation.mailed,
                invited_by: invitation.invited_by,
                created: invitation.created,
                expires: invitation.expires,
            })
            .collect();
        Self { success: true, invitations, next_cursor }
    }
}

/// The token of an invitation's link.
#[derive(ToSchema)]
pub(crate) struct InvitationToken {
    #[schema(value_type = String, min_length = 1, pattern = r"\S")]
    pub(crate) token: Secret,
}

impl FromFields for InvitationToken {
    fn read(fields: &mut Fields) -> Option<Self> {
        Some(Self { token: Secret::new(fields.text("token")?) })
    }
}

/// An invitation as the invited person sees it.
#[derive(Serialize, ToSchema)]
pub(crate) struct InvitationOpened {
    success: bool,
    /// The team's name.
    team: String,
    #[schema(format = Email)]
    email: String,
    #[schema(value_type = enums::Role)]
    role: &'static str,
    /// The address of the member who sent it.
    invited_by: Option<String>,
    /// Whether the address has no account yet (`new`), has one (`exists`), or has the one that
    /// the caller is logged in with (`yours`).
    #[schema(value_type = enums::InvitedAccount)]
    account: &'static str,
}

impl InvitationOpened {
    pub(crate) fn of(opened: OpenedInvitation) -> Self {
        let OpenedInvitation { invitation, account } = opened;
        Self {
            success: true,
            team: invitation.team_name,
            email: invitation.email,
            role: invitation.role.as_str(),
            invited_by: invitation.invited_by,
            account: AccountState::from(account).as_str(),
        }
    }
}

/// An invitation to accept. Someone without an account also sends a password.
#[derive(ToSchema)]
pub(crate) struct AcceptInvitation {
    #[schema(value_type = String, min_length = 1, pattern = r"\S")]
    pub(crate) token: Secret,
    /// Required for a new account.
    #[schema(value_type = Option<String>, min_length = 8, max_length = 256)]
    password: Option<Secret>,
    #[schema(value_type = Option<String>, max_length = 255)]
    name: String,
}

impl FromFields for AcceptInvitation {
    fn read(fields: &mut Fields) -> Option<Self> {
        let token = fields.text("token").map(Secret::new);
        let password = fields.optional_text("password").map(Secret::new);
        let name = fields.optional_short_text("name", 255).unwrap_or_default();
        Some(Self { token: token?, password, name })
    }
}

impl AcceptInvitation {
    /// For someone without an account; `None` without a password.
    pub(crate) fn into_new(self) -> Option<JoinAsNew> {
        let Self { token, password, name } = self;
        Some(JoinAsNew { token, password: password?, name })
    }
}
