//! The users of a team.

use serde::Serialize;
use utoipa::ToSchema;
use wakeful_core::access::{Permission, Role};
use wakeful_core::accounts::password::NewPassword;
use wakeful_core::email_address::EmailAddress;
use wakeful_core::id::UserId;
use wakeful_core::time::Millis;
use wakeful_engine::{Caller, FilterDraft, MemberDraft, MemberView};

use super::accounts::{optional_passwords, passwords};
use super::enums;
use super::fields::{Fields, FromFields};
use super::monitor_filter::{self, MonitorFilterBody};
use crate::query::NextCursor;

/// The most users in one call.
const MAX_USERS: usize = 100;

/// A user to add (without `userid`) or to change.
#[derive(ToSchema)]
pub(crate) struct SaveUser {
    #[schema(value_type = Option<String>)]
    userid: Option<String>,
    #[schema(value_type = String, format = Email)]
    email: EmailAddress,
    /// Required for a new user; omit both fields to retain a user's password.
    #[schema(value_type = Option<String>, min_length = 8, max_length = 256)]
    password1: Option<NewPassword>,
    /// Must equal password1.
    #[schema(value_type = Option<String>, min_length = 8, max_length = 256)]
    #[expect(dead_code, reason = "read and compared with password1; only its schema is used")]
    password2: (),
    /// At most the caller's own. If omitted, it is unchanged, or the team's default role for
    /// a new user.
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
    /// The limit as it is listed, instead of `tags` or `monitors`. Null removes it.
    #[schema(value_type = Option<MonitorFilterBody>)]
    #[expect(dead_code, reason = "for the schema; read as `filter`")]
    monitor_filter: (),
    #[schema(ignore)]
    filter: FilterDraft,
}

impl FromFields for SaveUser {
    fn read(fields: &mut Fields) -> Option<Self> {
        let changes = fields.has("userid");
        let userid = fields.optional_text("userid");
        let email = fields.parse("email", EmailAddress::parse);
        let password1 = if changes {
            optional_passwords(fields, email.as_ref())
        } else {
            passwords(fields, email.as_ref()).map(Some)
        };
        let role = fields.optional("role", Role::parse);
        let filter = monitor_filter::read_change(fields);
        let (email, password1, password2) = (email?, password1?, ());
        let (tags, monitors, monitor_filter) = ((), (), ());
        Some(Self {
            userid,
            email,
            password1,
            password2,
            role,
            tags,
            monitors,
            monitor_filter,
            filter,
        })
    }
}

impl SaveUser {
    /// The requested change; `None` if the `userid` is malformed.
    pub(crate) fn wanted(self) -> Option<wakeful_engine::SaveUser> {
        match (self.userid, self.password1) {
            (Some(userid), password) => Some(wakeful_engine::SaveUser::Change {
                user: UserId::parse(&userid)?,
                email: self.email,
                password,
                role: self.role,
                filter: self.filter,
            }),
            (None, Some(password)) => Some(wakeful_engine::SaveUser::Add {
                email: self.email,
                password,
                role: self.role,
                filter: self.filter,
            }),
            (None, None) => None,
        }
    }
}

/// A change to a member; fields that are omitted stay as they are.
#[derive(ToSchema)]
pub(crate) struct SaveMember {
    userid: String,
    /// At most the caller's own.
    #[schema(value_type = Option<enums::Role>)]
    role: Option<Role>,
    /// A suspended member keeps the account, but cannot act in the team.
    suspended: Option<bool>,
    /// Limits a viewer or responder to monitors with one of these tags; not together with
    /// `monitors`. Comma-separated tags, or an array of strings. Up to 20.
    #[schema(value_type = Option<Vec<String>>)]
    #[expect(dead_code, reason = "for the schema; read as `filter`")]
    tags: (),
    /// Limits a viewer or responder to these monitors; not together with `tags`. Up to 100 ids.
    #[schema(value_type = Option<Vec<String>>)]
    #[expect(dead_code, reason = "for the schema; read as `filter`")]
    monitors: (),
    /// The limit as it is listed, instead of `tags` or `monitors`. Null removes it.
    #[schema(value_type = Option<MonitorFilterBody>)]
    #[expect(dead_code, reason = "for the schema; read as `filter`")]
    monitor_filter: (),
    #[schema(ignore)]
    filter: FilterDraft,
}

impl FromFields for SaveMember {
    fn read(fields: &mut Fields) -> Option<Self> {
        let userid = fields.text("userid");
        let role = fields.optional("role", Role::parse);
        let suspended = fields.optional_flag("suspended");
        let filter = monitor_filter::read_change(fields);
        let (tags, monitors, monitor_filter) = ((), (), ());
        Some(Self { userid: userid?, role, suspended, tags, monitors, monitor_filter, filter })
    }
}

impl SaveMember {
    /// The requested change; `None` if the `userid` is malformed.
    pub(crate) fn wanted(self) -> Option<MemberDraft> {
        let user = UserId::parse(&self.userid)?;
        let Self { role, suspended, filter, .. } = self;
        Some(MemberDraft { user, role, suspended, filter })
    }
}

/// A user named by their id.
#[derive(ToSchema)]
pub(crate) struct OneUser {
    userid: String,
}

impl FromFields for OneUser {
    fn read(fields: &mut Fields) -> Option<Self> {
        Some(Self { userid: fields.text("userid")? })
    }
}

impl OneUser {
    /// `None` if the id is malformed.
    pub(crate) fn id(&self) -> Option<UserId> {
        UserId::parse(&self.userid)
    }
}

/// Users named by their ids.
#[derive(ToSchema)]
pub(crate) struct Users {
    #[schema(min_items = 1, max_items = 100)]
    userids: Vec<String>,
}

impl FromFields for Users {
    fn read(fields: &mut Fields) -> Option<Self> {
        Some(Self { userids: fields.texts("userids", MAX_USERS)? })
    }
}

impl Users {
    /// The ids; `None` if one of them is malformed.
    pub(crate) fn ids(&self) -> Option<Vec<UserId>> {
        self.userids.iter().map(|id| UserId::parse(id)).collect()
    }
}

#[derive(Serialize, ToSchema)]
pub(crate) struct TeamList {
    success: bool,
    /// The team's users.
    message: Vec<TeamUser>,
    /// Only with `limit`: the cursor of the next page; null on the last page.
    #[serde(skip_serializing_if = "Option::is_none")]
    next_cursor: Option<Option<String>>,
}

#[derive(Serialize, ToSchema)]
pub(crate) struct TeamUser {
    #[schema(format = Email)]
    email: String,
    #[schema(value_type = String, format = Uuid)]
    userid: UserId,
}

/// The members of a team with their roles.
#[derive(Serialize, ToSchema)]
pub(crate) struct MemberList {
    success: bool,
    members: Vec<ListedMember>,
    /// Only with `limit`: the cursor of the next page; null on the last page.
    #[serde(skip_serializing_if = "Option::is_none")]
    next_cursor: Option<Option<String>>,
}

#[derive(Serialize, ToSchema)]
pub(crate) struct ListedMember {
    #[schema(value_type = String, format = Uuid)]
    userid: UserId,
    #[schema(format = Email)]
    email: String,
    /// As given at sign-up; may be empty.
    name: String,
    #[schema(value_type = enums::Role)]
    role: &'static str,
    /// The monitors that the member is limited to; null if to none.
    monitor_filter: Option<MonitorFilterBody>,
    suspended: bool,
    /// Whether the team may change the email and the password, and reset the second factor.
    managed: bool,
    /// Whether the member has a second factor; only for callers with the permission `people`.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(nullable = false)]
    mfa: Option<bool>,
    /// When a session of the member was last used, to the minute; null if never. Only for callers
    /// with the permission `people`.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(value_type = Option<String>, format = DateTime)]
    last_seen: Option<Option<Millis>>,
    /// The time of joining the team.
    #[schema(value_type = String, format = DateTime)]
    created: Millis,
}

impl MemberList {
    pub(crate) fn of(caller: &Caller, members: Vec<MemberView>, next_cursor: NextCursor) -> Self {
        let manages = caller.may(Permission::People);
        let members = members
            .into_iter()
            .map(|MemberView { member, filter }| ListedMember {
                userid: member.user,
                email: member.email,
                name: member.name,
                role: member.role.as_str(),
                monitor_filter: filter.map(MonitorFilterBody::from),
                suspended: member.suspended,
                managed: member.managed,
                mfa: manages.then_some(member.mfa_enabled),
                last_seen: manages.then_some(member.last_seen),
                created: member.created,
            })
            .collect();
        Self { success: true, members, next_cursor }
    }
}

impl TeamList {
    pub(crate) fn of(members: Vec<MemberView>, next_cursor: NextCursor) -> Self {
        let message = members
            .into_iter()
            .map(|MemberView { member, .. }| TeamUser { email: member.email, userid: member.user })
            .collect();
        Self { success: true, message, next_cursor }
    }
}
