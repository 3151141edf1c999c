//! The caller's teams. The header `X-Wakeful-Team` chooses one of them for a single call.

use axum::Json;
use axum::extract::State;
use wakeful_core::access::{Permission, permission};
use wakeful_engine::{Authorized, Reauthenticated, TeamOfUser};

use crate::api_router::{ApiRouter, routes};
use crate::app::Api;
use crate::body::Body;
use crate::caller::Reauthentication::Always;
use crate::caller::{needs, reauthenticated};
use crate::client_ip::ClientIp;
use crate::dto::Ack;
use crate::dto::teams::{
    SaveTeamSettings, TeamChoice, TeamCreated, TeamName, TeamSwitched, TeamsOfCaller,
};
use crate::error::{ApiError, ApiResult, ErrorBody};
use crate::query::{ListPage, Query};

pub(super) fn protected() -> ApiRouter {
    ApiRouter::new()
        .routes(needs(Permission::Myself, routes!(list_teams)))
        .routes(needs(Permission::Myself, routes!(create_team)))
        .routes(needs(Permission::Myself, routes!(switch_team)))
        .routes(needs(Permission::Myself, routes!(leave_team)))
        .routes(needs(Permission::Own, reauthenticated(Always, routes!(save_team_settings))))
        .routes(needs(Permission::Own, reauthenticated(Always, routes!(remove_team))))
}

/// Lists the caller's teams, by name.
#[utoipa::path(get, path = "/api/v1/teams", tag = "Team",
    params(
        ("limit" = Option<u32>, Query, minimum = 1, maximum = 1000, description = "Teams per page"),
        ("cursor" = Option<String>, Query, description = "`next_cursor` of the previous page")),
    responses(
        (status = 200, description = "The teams", body = TeamsOfCaller),
        (status = 422, description = "A query parameter is invalid", body = ErrorBody)))]
async fn list_teams(
    State(api): State<Api>,
    caller: Authorized<permission::Myself>,
    query: Query,
) -> ApiResult<TeamsOfCaller> {
    let part = ListPage::read(query, parse_cursor)?;
    let mut teams = api.engine().teams(&caller).await?;
    teams.sort_by_key(position);
    let (teams, next) = part.paginate(teams, position, |(name, id)| format!("{id}{name}"));
    Ok(Json(TeamsOfCaller::of(teams, &caller, next)))
}

/// The position of a team in the list: by name, then by id.
fn position(of_user: &TeamOfUser) -> (String, String) {
    (of_user.settings.name.to_lowercase(), of_user.team.to_string())
}

fn parse_cursor(text: &str) -> Option<(String, String)> {
    const ID_LENGTH: usize = 36;
    let (id, name) = text.split_at_checked(ID_LENGTH)?;
    Some((name.to_owned(), id.to_owned()))
}

/// Creates another team, with the caller as its owner.
#[utoipa::path(post, path = "/api/v1/team/new", tag = "Team", request_body = TeamName,
    responses(
        (status = 200, description = "Created", body = TeamCreated),
        (status = 403, description = "Sign-up is closed", body = ErrorBody),
        (status = 409, description = "The caller is in 50 teams", body = ErrorBody)))]
async fn create_team(
    State(api): State<Api>,
    caller: Authorized<permission::Myself>,
    ClientIp(from): ClientIp,
    Body(wanted): Body<TeamName>,
) -> ApiResult<TeamCreated> {
    let team = api.engine().create_team(&caller, &wanted.name, from).await?;
    Ok(Json(TeamCreated::of(team)))
}

/// Makes the caller's session act in another of their teams.
#[utoipa::path(post, path = "/api/v1/team/switch", tag = "Team", request_body = TeamChoice,
    responses(
        (status = 200, description = "Switched", body = TeamSwitched),
        (status = 404, description = "The caller is not an active member of such a team, or \
            uses an API key", body = ErrorBody)))]
async fn switch_team(
    State(api): State<Api>,
    caller: Authorized<permission::Myself>,
    Body(wanted): Body<TeamChoice>,
) -> ApiResult<TeamSwitched> {
    let team = wanted.id().ok_or_else(|| ApiError::not_found("team"))?;
    let team = api.engine().switch_team(&caller, team).await?;
    Ok(Json(TeamSwitched::of(&caller, &team)))
}

/// Ends the caller's membership in the team, and deletes their API keys there.
#[utoipa::path(post, path = "/api/v1/team/leave", tag = "Team",
    responses(
        (status = 200, description = "Left", body = Ack),
        (status = 409, description = "The team would have no owner", body = ErrorBody)))]
async fn leave_team(
    State(api): State<Api>,
    caller: Authorized<permission::Myself>,
) -> ApiResult<Ack> {
    api.engine().leave_team(&caller).await?;
    Ack::with_message("You have left the team.")
}

/// Changes the team's name, the role of new members, or its policies.
#[utoipa::path(post, path = "/api/v1/team/settings", tag = "Team",
    request_body = SaveTeamSettings,
    responses(
        (status = 200, description = "Saved", body = Ack),
        (status = 409, description = "A node of an earlier version would ignore the policy",
            body = ErrorBody)))]
async fn save_team_settings(
    State(api): State<Api>,
    caller: Reauthenticated<permission::Own>,
    Body(wanted): Body<SaveTeamSettings>,
) -> ApiResult<Ack> {
    api.engine().save_team_settings(&caller, &wanted.into()).await?;
    Ack::with_message("Team saved.")
}

/// Deletes the team, everything in it, and the accounts that it manages. `name` must be its
/// name.
#[utoipa::path(post, path = "/api/v1/team/remove", tag = "Team", request_body = TeamName,
    responses((status = 200, description = "Deleted", body = Ack)))]
async fn remove_team(
    State(api): State<Api>,
    caller: Reauthenticated<permission::Own>,
    Body(wanted): Body<TeamName>,
) -> ApiResult<Ack> {
    api.engine().remove_team(&caller, &wanted.name).await?;
    Ack::with_message("Team and its data deleted.")
}
