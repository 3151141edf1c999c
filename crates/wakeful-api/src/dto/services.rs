//! Service accounts.

use serde::Serialize;
use utoipa::ToSchema;
use wakeful_core::access::Role;
use wakeful_core::id::UserId;
use wakeful_core::time::Millis;
use wakeful_engine::ServiceAccount;

use super::enums;
use super::fields::{Fields, FromFields};
use crate::query::NextCursor;

const MAX_NAME_CHARS: usize = 255;

/// A service account to create (without `serviceid`), which needs a name and a role, or to
/// change; fields that are omitted stay as they are.
#[derive(ToSchema)]
pub(crate) struct SaveService {
    #[schema(value_type = Option<String>)]
    serviceid: Option<String>,
    #[schema(value_type = Option<String>, max_length = 255, min_length = 1, pattern = r"\S")]
    name: Option<String>,
    /// At most the caller's own.
    #[schema(value_type = Option<enums::ServiceRole>)]
    role: Option<Role>,
    /// The API keys of a suspended service account are refused.
    #[schema(value_type = Option<bool>)]
    suspended: Option<bool>,
}

impl FromFields for SaveService {
    fn read(fields: &mut Fields) -> Option<Self> {
        let serviceid = fields.optional_text("serviceid");
        let is_new = serviceid.is_none();
        let (name, role) = if is_new {
            (
                fields.short_text("name", MAX_NAME_CHARS),
                fields.parse("role", Role::parse_for_service),
            )
        } else {
            let name = fields.has("name").then(|| fields.short_text("name", MAX_NAME_CHARS));
            (name.flatten(), fields.optional("role", Role::parse_for_service))
        };
        let suspended = fields.optional_flag("suspended");
        (!is_new || (name.is_some() && role.is_some())).then_some(Self {
            serviceid,
            name,
            role,
            suspended,
        })
    }
}

impl SaveService {
    /// The requested change; `None` if the `serviceid` is malformed.
    pub(crate) fn wanted(self) -> Option<wakeful_engine::SaveService> {
        let Self { serviceid, name, role, suspended } = self;
        Some(match serviceid {
            Some(serviceid) => wakeful_engine::SaveService::Change {
                service: UserId::parse(&serviceid)?,
                name,
                role,
                suspended,
            },
            None => wakeful_engine::SaveService::Add {
                name: name?,
                role: role?,
                suspended: suspended.unwrap_or(false),
            },
        })
    }
}

#[derive(Serialize, ToSchema)]
pub(crate) struct ServiceList {
    success: bool,
    services: Vec<ListedService>,
    /// Only with `limit`: the cursor of the next page; null on the last page.
    #[serde(skip_serializing_if = "Option::is_none")]
    next_cursor: Option<Option<String>>,
}

#[derive(Serialize, ToSchema)]
pub(crate) struct ListedService {
    #[schema(value_type = String, format = Uuid)]
    serviceid: UserId,
    name: String,
    #[schema(value_type = enums::ServiceRole)]
    role: &'static str,
    suspended: bool,
    /// How many API keys it has.
    keys: i64,
    /// When one of its keys was last used, to the minute; null if never.
    #[schema(value_type = Option<String>, format = DateTime)]
    last_used: Option<Millis>,
    #[schema(value_type = String, format = DateTime)]
    created: Millis,
}

impl ServiceList {
    pub(crate) fn of(services: Vec<ServiceAccount>, next_cursor: NextCursor) -> Self {
        let services = services
            .into_iter()
            .map(|service| ListedService {
                serviceid: service.user,
                name: service.name,
                role: service.role.as_str(),
                suspended: service.suspended,
                keys: service.keys,
                last_used: service.last_used,
                created: service.created,
            })
            .collect();
        Self { success: true, services, next_cursor }
    }
}

#[derive(Serialize, ToSchema)]
pub(crate) struct ServiceSaved {
    success: bool,
    message: &'static str,
    #[schema(value_type = String, format = Uuid)]
    serviceid: UserId,
}

impl ServiceSaved {
    pub(crate) fn of(serviceid: UserId) -> Self {
        Self { success: true, message: "Service account saved.", serviceid }
    }
}
