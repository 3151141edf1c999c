//! The teams of a person.

use serde::Serialize;
use utoipa::ToSchema;
use wakeful_core::access::{KeyDays, MfaPolicy, Role};
use wakeful_core::id::{TeamId, UserId};
use wakeful_engine::{Caller, TeamChange, TeamOfUser};

use super::enums;
use super::fields::{Fields, FromFields};
use super::sessions::User;
use crate::query::NextCursor;

/// The longest name of a team, in characters.
const MAX_NAME_LENGTH: usize = 100;

/// The caller's teams.
#[derive(Serialize, ToSchema)]
pub(crate) struct TeamsOfCaller {
    success: bool,
    teams: Vec<ListedTeam>,
    /// Only with `limit`: the cursor of the next page; null on the last page.
    #[serde(skip_serializing_if = "Option::is_none")]
    next_cursor: Option<Option<String>>,
}

#[derive(Serialize, ToSchema)]
pub(crate) struct ListedTeam {
    #[schema(value_type = String, format = Uuid)]
    groupid: TeamId,
    name: String,
    /// The caller's role in the team.
    #[schema(value_type = enums::Role)]
    role: &'static str,
    /// Whether this call acts in it.
    current: bool,
    /// Whether the caller is suspended there.
    suspended: bool,
    /// The role of new members, unless another one is given.
    #[schema(value_type = enums::Role)]
    default_role: &'static str,
    /// Whether its members need a second factor.
    #[schema(value_type = enums::MfaPolicy)]
    mfa: &'static str,
    /// After how many days new API keys expire at the latest; 0: they need not expire.
    key_days: u32,
    /// Whether people can have API keys; service accounts always can.
    personal_keys: bool,
}

impl TeamsOfCaller {
    pub(crate) fn of(teams: Vec<TeamOfUser>, caller: &Caller, next_cursor: NextCursor) -> Self {
        let teams = teams
            .into_iter()
            .map(|TeamOfUser { team, role, suspended, settings }| ListedTeam {
                groupid: team,
                name: settings.name,
                role: role.as_str(),
                current: team == caller.team(),
                suspended,
                default_role: settings.default_role.as_str(),
                mfa: settings.mfa.as_str(),
                key_days: settings.key_days.number(),
                personal_keys: settings.personal_keys,
            })
            .collect();
        Self { success: true, teams, next_cursor }
    }
}

/// A new team, or the confirmation to delete one.
#[derive(ToSchema)]
pub(crate) struct TeamName {
    #[schema(min_length = 1, max_length = 100, pattern = r"\S")]
    pub(crate) name: String,
}

impl FromFields for TeamName {
    fn read(fields: &mut Fields) -> Option<Self> {
        Some(Self { name: fields.short_text("name", MAX_NAME_LENGTH)? })
    }
}

#[derive(Serialize, ToSchema)]
pub(crate) struct TeamCreated {
    success: bool,
    #[schema(value_type = String, format = Uuid)]
    groupid: TeamId,
}

impl TeamCreated {
    pub(crate) fn of(groupid: TeamId) -> Self {
        Self { success: true, groupid }
    }
}

/// One of the caller's teams.
#[derive(ToSchema)]
pub(crate) struct TeamChoice {
    groupid: String,
}

impl FromFields for TeamChoice {
    fn read(fields: &mut Fields) -> Option<Self> {
        Some(Self { groupid: fields.text("groupid")? })
    }
}

impl TeamChoice {
    /// `None` if the id is malformed.
    pub(crate) fn id(&self) -> Option<TeamId> {
        TeamId::parse(&self.groupid)
    }
}

#[derive(Serialize, ToSchema)]
pub(crate) struct TeamSwitched {
    success: bool,
    user: User,
    /// The caller's role in the team.
    #[schema(value_type = enums::Role)]
    role: &'static str,
}

impl TeamSwitched {
    pub(crate) fn of(caller: &Caller, team: &TeamOfUser) -> Self {
        let userid: UserId = caller.user();
        let user = User::of(team.team, userid, caller.email().to_owned());
        Self { success: true, user, role: team.role.as_str() }
    }
}

/// A change to the team; fields that are omitted stay as they are.
#[derive(ToSchema)]
pub(crate) struct SaveTeamSettings {
    #[schema(min_length = 1, max_length = 100, pattern = r"\S")]
    name: Option<String>,
    /// The role of new members, unless another one is given.
    #[schema(value_type = Option<enums::Role>)]
    default_role: Option<Role>,
    /// `required`: people without a second factor can do nothing in the team but set it up.
    #[schema(value_type = Option<enums::MfaPolicy>)]
    mfa: Option<MfaPolicy>,
    /// The most days that new API keys are valid, and the default; 0: no limit.
    #[schema(value_type = Option<u32>, maximum = 3650)]
    key_days: Option<KeyDays>,
    /// False: only service accounts can have API keys; those of people are refused.
    personal_keys: Option<bool>,
}

impl FromFields for SaveTeamSettings {
    fn read(fields: &mut Fields) -> Option<Self> {
        let name = if fields.has("name") {
            fields.short_text("name", MAX_NAME_LENGTH).map(Some)
        } else {
            Some(None)
        };
        let default_role = fields.optional("default_role", Role::parse);
        let mfa = fields.optional("mfa", MfaPolicy::parse);
        let key_days = fields.optional_number("key_days", KeyDays::new);
        let personal_keys = fields.optional_flag("personal_keys");
        Some(Self { name: name?, default_role, mfa, key_days, personal_keys })
    }
}

impl From<SaveTeamSettings> for TeamChange {
    fn from(dto: SaveTeamSettings) -> Self {
        let SaveTeamSettings { name, default_role, mfa, key_days, personal_keys } = dto;
        Self { name, default_role, mfa, key_days, personal_keys }
    }
}
