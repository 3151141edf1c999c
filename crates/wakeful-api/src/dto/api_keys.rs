//! API key pairs.

use serde::Serialize;
use utoipa::ToSchema;
use wakeful_core::access::{Expiry, MonitorFilter, Scope};
use wakeful_core::id::{ApiKeyId, TeamId, UserId};
use wakeful_core::time::Millis;
use wakeful_engine::{ApiKey, ApiKeyDraft, ApiKeyView, NewKeyPair, TeamApiKeyView};

use super::enums;
use super::fields::{Fields, FromFields};
use super::monitor_filter::{self, MonitorFilterBody};
use crate::query::NextCursor;

/// A key pair to create (without `apikeyid`) or to rename.
#[derive(ToSchema)]
pub(crate) struct SaveApiKey {
    #[schema(value_type = Option<String>)]
    pub(crate) apikeyid: Option<String>,
    #[serde(flatten)]
    pub(crate) key: NewApiKey,
}

/// A key pair to create.
#[derive(ToSchema)]
pub(crate) struct NewApiKey {
    #[schema(max_length = 255, min_length = 1, pattern = r"\S")]
    pub(crate) name: String,
    /// What the key may do at most, whatever its holder may; cannot be changed later.
    /// Default: full.
    #[schema(value_type = Option<enums::Scope>)]
    pub(crate) scope: Scope,
    /// Limits the key to monitors with one of these tags; not together with `monitors`.
    /// Comma-separated tags, or an array of strings. Up to 20.
    #[schema(value_type = Option<Vec<String>>)]
    #[expect(dead_code, reason = "for the schema; read as `filter`")]
    tags: (),
    /// Limits the key to these monitors; not together with `tags`. Up to 100 ids.
    #[schema(value_type = Option<Vec<String>>)]
    #[expect(dead_code, reason = "for the schema; read as `filter`")]
    monitors: (),
    #[schema(ignore)]
    pub(crate) filter: Option<MonitorFilter>,
    /// When the key becomes invalid: a time such as `2027-01-31T00:00:00Z`, or a number of
    /// days. Default: never.
    #[schema(value_type = Option<String>)]
    pub(crate) expires: Option<Expiry>,
}

impl FromFields for SaveApiKey {
    fn read(fields: &mut Fields) -> Option<Self> {
        let apikeyid = fields.optional_text("apikeyid");
        Some(Self { apikeyid, key: NewApiKey::read(fields)? })
    }
}

impl FromFields for NewApiKey {
    fn read(fields: &mut Fields) -> Option<Self> {
        let scope = fields.optional("scope", Scope::parse);
        let name = fields.short_text("name", 255);
        let filter = monitor_filter::read(fields);
        let expires = fields.optional_text_or_number("expires", Expiry::parse);
        let scope = scope.unwrap_or(Scope::Full);
        Some(Self { name: name?, scope, tags: (), monitors: (), filter, expires })
    }
}

impl From<NewApiKey> for ApiKeyDraft {
    fn from(dto: NewApiKey) -> Self {
        Self { name: dto.name, scope: dto.scope, filter: dto.filter, expires: dto.expires }
    }
}

#[derive(Serialize, ToSchema)]
pub(crate) struct ApiKeyList {
    success: bool,
    apikeys: Vec<ListedKey>,
    /// Only with `limit`: the cursor of the next page; null on the last page.
    #[serde(skip_serializing_if = "Option::is_none")]
    next_cursor: Option<Option<String>>,
}

#[derive(Serialize, ToSchema)]
pub(crate) struct ListedKey {
    #[schema(value_type = String, format = Uuid)]
    apikeyid: ApiKeyId,
    name: String,
    #[schema(value_type = String, format = DateTime)]
    created: Millis,
    /// To the minute; null if it has never been used.
    #[schema(value_type = Option<String>, format = DateTime)]
    last_used: Option<Millis>,
    /// The address of the client that last used it; empty if none has.
    last_address: String,
    /// The first characters of the API key.
    prefix: String,
    /// What the key may do at most.
    #[schema(value_type = enums::Scope)]
    scope: &'static str,
    /// The monitors that the key is limited to; null if it is not.
    monitor_filter: Option<MonitorFilterBody>,
    /// When the key becomes, or became, invalid; null if never.
    #[schema(value_type = Option<String>, format = DateTime)]
    expires: Option<Millis>,
    /// The team's id.
    #[schema(value_type = String, format = Uuid)]
    groupid: TeamId,
}

impl ListedKey {
    fn of(key: ApiKey, filter: Option<MonitorFilter>) -> Self {
        Self {
            apikeyid: key.id,
            name: key.name,
            created: key.created,
            last_used: key.last_used,
            last_address: key.last_address,
            prefix: key.prefix,
            scope: key.scope.as_str(),
            monitor_filter: filter.map(MonitorFilterBody::from),
            expires: key.expires,
            groupid: key.team,
        }
    }
}

impl ApiKeyList {
    pub(crate) fn of(keys: Vec<ApiKeyView>, next_cursor: NextCursor) -> Self {
        let listed = |ApiKeyView { key, filter }| ListedKey::of(key, filter);
        Self { success: true, apikeys: keys.into_iter().map(listed).collect(), next_cursor }
    }
}

/// The API keys of all users of a team.
#[derive(Serialize, ToSchema)]
pub(crate) struct TeamKeyList {
    success: bool,
    apikeys: Vec<TeamKey>,
    /// Only with `limit`: the cursor of the next page; null on the last page.
    #[serde(skip_serializing_if = "Option::is_none")]
    next_cursor: Option<Option<String>>,
}

#[derive(Serialize, ToSchema)]
pub(crate) struct TeamKey {
    #[serde(flatten)]
    key: ListedKey,
    holder: KeyHolder,
}

/// The user who holds an API key.
#[derive(Serialize, ToSchema)]
pub(crate) struct KeyHolder {
    #[schema(value_type = String, format = Uuid)]
    userid: UserId,
    #[schema(value_type = enums::UserKind)]
    kind: &'static str,
    /// Empty for a service account.
    email: String,
    /// May be empty.
    name: String,
}

impl TeamKeyList {
    pub(crate) fn of(keys: Vec<TeamApiKeyView>, next_cursor: NextCursor) -> Self {
        let listed = |TeamApiKeyView { held, filter }: TeamApiKeyView| TeamKey {
            key: ListedKey::of(held.key, filter),
            holder: KeyHolder {
                userid: held.holder,
                kind: held.kind.as_str(),
                email: held.email,
                name: held.name,
            },
        };
        Self { success: true, apikeys: keys.into_iter().map(listed).collect(), next_cursor }
    }
}

#[derive(Serialize, ToSchema)]
pub(crate) struct ApiKeySaved {
    success: bool,
    message: String,
    #[schema(value_type = String, format = Uuid)]
    apikeyid: ApiKeyId,
    /// For the header X-API-Key; shown only when it is created.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(nullable = false)]
    apikey: Option<String>,
    /// For the header X-Enc-Key; shown only when it is created, and not stored.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(nullable = false)]
    enckey: Option<String>,
}

impl ApiKeySaved {
    pub(crate) fn renamed(apikeyid: ApiKeyId) -> Self {
        let message = "API key renamed; both keys remain valid.".into();
        Self { success: true, message, apikeyid, apikey: None, enckey: None }
    }

    pub(crate) fn made(pair: &NewKeyPair) -> Self {
        Self {
            success: true,
            message: "API key created. Save both keys: they are shown only once.".into(),
            apikeyid: pair.id,
            apikey: Some(pair.apikey.expose().to_owned()),
            enckey: Some(pair.enckey.expose().to_owned()),
        }
    }
}
