//! The users of the caller's team.

use axum::Json;
use axum::extract::State;
use wakeful_core::access::{Permission, Role, permission};
use wakeful_core::id::UserId;
use wakeful_engine::Authorized;

use crate::api_router::{ApiRouter, routes};
use crate::app::Api;
use crate::body::Body;
use crate::caller::Reauthentication::Page;
use crate::caller::{PageReauthenticated, needs, reauthenticated};
use crate::client_ip::ClientIp;
use crate::dto::Ack;
use crate::dto::accounts::UserSaved;
use crate::dto::team::{MemberList, SaveMember, SaveUser, TeamList, Users};
use crate::error::{ApiError, ApiResult, ErrorBody};
use crate::query::{ListPage, Query};

pub(super) fn protected() -> ApiRouter {
    ApiRouter::new()
        .routes(needs(Permission::Myself, routes!(list_members)))
        .routes(needs(Permission::Myself, routes!(list_members_with_roles)))
        .routes(needs(Permission::People, reauthenticated(Page, routes!(save_user))))
        .routes(needs(Permission::People, routes!(save_member)))
        .routes(needs(Permission::People, routes!(revoke_members)))
        .routes(needs(Permission::People, reauthenticated(Page, routes!(delete_members))))
}

/// Lists the team's users.
#[utoipa::path(get, path = "/api/v1/team/get", tag = "Team",
    params(
        ("limit" = Option<u32>, Query, minimum = 1, maximum = 1000, description = "Users per page"),
        ("cursor" = Option<String>, Query, description = "`next_cursor` of the previous page")),
    responses(
        (status = 200, description = "The users", body = TeamList),
        (status = 422, description = "A query parameter is invalid", body = ErrorBody)))]
async fn list_members(
    State(api): State<Api>,
    caller: Authorized<permission::Myself>,
    query: Query,
) -> ApiResult<TeamList> {
    let part = ListPage::read(query, UserId::parse)?;
    let members = api.engine().members(&caller).await?;
    let (members, next) = part.paginate(members, |view| view.member.user, |id| id.to_string());
    Ok(Json(TeamList::of(members, next)))
}

/// Lists the team's members with their roles.
#[utoipa::path(get, path = "/api/v1/team/members", tag = "Team",
    params(
        ("limit" = Option<u32>, Query, minimum = 1, maximum = 1000, description = "Members per page"),
        ("cursor" = Option<String>, Query, description = "`next_cursor` of the previous page")),
    responses(
        (status = 200, description = "The members", body = MemberList),
        (status = 422, description = "A query parameter is invalid", body = ErrorBody)))]
async fn list_members_with_roles(
    State(api): State<Api>,
    caller: Authorized<permission::Myself>,
    query: Query,
) -> ApiResult<MemberList> {
    let part = ListPage::read(query, UserId::parse)?;
    let members = api.engine().members(&caller).await?;
    let (members, next) = part.paginate(members, |view| view.member.user, |id| id.to_string());
    Ok(Json(MemberList::of(&caller, members, next)))
}

/// Adds a user to the team, or changes the one with the given `userid`.
#[utoipa::path(post, path = "/api/v1/team/save", tag = "Team", request_body = SaveUser,
    responses(
        (status = 200, description = "Saved", body = UserSaved),
        (status = 403, description = "The team's plan does not allow it", body = ErrorBody),
        (status = 404, description = "The team has no such user", body = ErrorBody),
        (status = 409, description = "Another user has this email", body = ErrorBody)))]
async fn save_user(
    State(api): State<Api>,
    PageReauthenticated(caller): PageReauthenticated<permission::People>,
    ClientIp(from): ClientIp,
    Body(wanted): Body<SaveUser>,
) -> ApiResult<UserSaved> {
    let wanted = wanted.wanted().ok_or_else(no_user)?;
    let user = api.engine().save_user(&caller, &wanted, from).await?;
    Ok(Json(UserSaved::of(user)))
}

/// Changes the role of a member, the monitors they are limited to, or suspends them. The role
/// `owner` needs the permission `own` and a session that has reauthenticated recently.
#[utoipa::path(post, path = "/api/v1/member/save", tag = "Team", request_body = SaveMember,
    responses(
        (status = 200, description = "Saved", body = Ack),
        (status = 403, description = "The role is above the caller's own, or the caller must \
            reauthenticate: `ways` says how", body = ErrorBody),
        (status = 404, description = "The team has no such user", body = ErrorBody),
        (status = 409, description = "The team would have no owner", body = ErrorBody)))]
async fn save_member(
    State(api): State<Api>,
    caller: Authorized<permission::People>,
    Body(wanted): Body<SaveMember>,
) -> ApiResult<Ack> {
    let wanted = wanted.wanted().ok_or_else(no_user)?;
    let engine = api.engine();
    if wanted.role == Some(Role::Owner) {
        let caller = engine.require_reauthentication(caller.authorize::<permission::Own>()?)?;
        engine.appoint_owner(&caller, wanted).await?;
    } else {
        engine.save_member(&caller, wanted).await?;
    }
    Ack::with_message("Member saved.")
}

/// Ends all sessions and deletes all API keys of the listed users. If one of them is not in
/// the team, nothing is changed.
#[utoipa::path(post, path = "/api/v1/team/revoke", tag = "Team", request_body = Users,
    responses(
        (status = 200, description = "Revoked", body = Ack),
        (status = 404, description = "One of the users is not in the team", body = ErrorBody)))]
async fn revoke_members(
    State(api): State<Api>,
    caller: Authorized<permission::People>,
    Body(wanted): Body<Users>,
) -> ApiResult<Ack> {
    let users = wanted.ids().ok_or_else(no_user)?;
    api.engine().revoke_users(&caller, &users).await?;
    Ack::with_message("All sessions and API keys of these users revoked.")
}

/// Deletes the listed users. If one of them is not in the team, none is deleted.
#[utoipa::path(post, path = "/api/v1/team/delete", tag = "Team", request_body = Users,
    responses(
        (status = 200, description = "Deleted", body = Ack),
        (status = 404, description = "One of the users is not in the team", body = ErrorBody)))]
async fn delete_members(
    State(api): State<Api>,
    PageReauthenticated(caller): PageReauthenticated<permission::People>,
    Body(wanted): Body<Users>,
) -> ApiResult<Ack> {
    let users = wanted.ids().ok_or_else(no_user)?;
    api.engine().delete_users(&caller, &users).await?;
    Ack::with_message("Users and their data deleted.")
}

fn no_user() -> ApiError {
    ApiError::not_found("user")
}
