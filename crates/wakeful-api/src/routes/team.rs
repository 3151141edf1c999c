//! The users of the caller's team.

use axum::Json;
use axum::extract::State;
use wakeful_core::id::UserId;

use crate::address::ClientIp;
use crate::app::Api;
use crate::body::Body;
use crate::caller::Caller;
use crate::error::{ApiError, ApiResult, ErrorBody};
use crate::query::{Part, Query};
use crate::wire::{Done, SaveUser, TeamList, UserSaved, Users};

/// Lists the team's users.
#[utoipa::path(get, path = "/api/v1/team/get", tag = "Team",
    params(
        ("limit" = Option<u32>, Query, minimum = 1, maximum = 1000, description = "Users a page"),
        ("cursor" = Option<String>, Query, description = "next_cursor of the page before")),
    responses(
        (status = 200, description = "The users", body = TeamList),
        (status = 422, description = "A part of the query is wrong", body = ErrorBody)))]
pub(crate) async fn get(
    State(api): State<Api>,
    caller: Caller,
    query: Query,
) -> ApiResult<TeamList> {
    let part = Part::read(query, UserId::parse)?;
    let members = api.engine().members(&caller.who).await?;
    let (members, next) = part.of(members, |member| member.user, |id| id.to_string());
    Ok(Json(TeamList::of(members, next)))
}

/// Adds a user to the team, or changes the one whose `userid` is given.
#[utoipa::path(post, path = "/api/v1/team/save", tag = "Team", request_body = SaveUser,
    responses(
        (status = 200, description = "Saved", body = UserSaved),
        (status = 403, description = "The team's plan does not allow it", body = ErrorBody),
        (status = 404, description = "The team has no such user", body = ErrorBody),
        (status = 409, description = "The email is used by another user", body = ErrorBody)))]
pub(crate) async fn save(
    State(api): State<Api>,
    caller: Caller,
    ClientIp(from): ClientIp,
    Body(wanted): Body<SaveUser>,
) -> ApiResult<UserSaved> {
    let wanted = wanted.wanted().ok_or_else(no_user)?;
    let user = api.engine().save_user(&caller.who, &wanted, from).await?;
    Ok(Json(UserSaved::of(user)))
}

/// Ends all sessions and API keys of the listed users, of all or of none.
#[utoipa::path(post, path = "/api/v1/team/revoke", tag = "Team", request_body = Users,
    responses(
        (status = 200, description = "Revoked", body = Done),
        (status = 404, description = "One of them is not of the team", body = ErrorBody)))]
pub(crate) async fn revoke(
    State(api): State<Api>,
    caller: Caller,
    Body(wanted): Body<Users>,
) -> ApiResult<Done> {
    let users = wanted.ids().ok_or_else(no_user)?;
    api.engine().revoke_users(&caller.who, &users).await?;
    Done::say("All sessions and API keys of these users are revoked.")
}

/// Deletes the listed users, all or none.
#[utoipa::path(post, path = "/api/v1/team/delete", tag = "Team", request_body = Users,
    responses(
        (status = 200, description = "Deleted", body = Done),
        (status = 404, description = "One of them is not of the team", body = ErrorBody)))]
pub(crate) async fn delete(
    State(api): State<Api>,
    caller: Caller,
    Body(wanted): Body<Users>,
) -> ApiResult<Done> {
    let users = wanted.ids().ok_or_else(no_user)?;
    api.engine().delete_users(&caller.who, &users).await?;
    Done::say("The users and their data are deleted.")
}

fn no_user() -> ApiError {
    ApiError::not_found("user")
}
