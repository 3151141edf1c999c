//! The administration of the installation, for people with `is_admin` in a session.

use axum::Json;
use axum::extract::State;
use wakeful_core::access::{Permission, permission};
use wakeful_core::id::{TeamId, UserId};
use wakeful_core::time::Millis;
use wakeful_engine::{AdminTeamQuery, AdminUserQuery, Authorized, Reauthenticated};

use crate::api_router::{ApiRouter, routes};
use crate::app::Api;
use crate::body::Body;
use crate::caller::Reauthentication::Always;
use crate::caller::{needs, reauthenticated};
use crate::dto::admin::{
    AdminDeliveries, AdminOverview, AdminRetried, AdminRetry, AdminSettings, AdminTeamChange,
    AdminTeamDeletion, AdminTeamOwner, AdminTeams, AdminUserChange, AdminUserChoice, AdminUsers,
};
use crate::dto::audit::AuditLog;
use crate::dto::{Ack, Fields};
use crate::error::{ApiError, ApiResult, ErrorBody};
use crate::query::{self, ListPage, Query};
use crate::routes::audit;

/// How many items a page has if the caller does not say.
const DEFAULT_LIMIT: u32 = 100;

pub(super) fn protected() -> ApiRouter {
    ApiRouter::new()
        .routes(needs(Permission::Operate, routes!(get_overview)))
        .routes(needs(Permission::Operate, routes!(list_teams)))
        .routes(needs(Permission::Operate, routes!(list_users)))
        .routes(needs(Permission::Operate, routes!(list_deliveries)))
        .routes(needs(Permission::Operate, routes!(list_settings)))
        .routes(needs(Permission::Operate, routes!(list_audit)))
        .routes(needs(Permission::Operate, reauthenticated(Always, routes!(change_user))))
        .routes(needs(Permission::Operate, reauthenticated(Always, routes!(mail_reset_link))))
        .routes(needs(Permission::Operate, reauthenticated(Always, routes!(reset_factors))))
        .routes(needs(Permission::Operate, reauthenticated(Always, routes!(delete_user))))
        .routes(needs(Permission::Operate, reauthenticated(Always, routes!(change_team))))
        .routes(needs(Permission::Operate, reauthenticated(Always, routes!(appoint_owner))))
        .routes(needs(Permission::Operate, reauthenticated(Always, routes!(delete_team))))
        .routes(needs(Permission::Operate, reauthenticated(Always, routes!(retry))))
}

/// Returns the state of the installation: its nodes, the size of its database, what waits to be
/// sent, and what is wrong.
#[utoipa::path(get, path = "/api/v1/admin/overview", tag = "Administration",
    responses((status = 200, description = "The state", body = AdminOverview)))]
async fn get_overview(
    State(api): State<Api>,
    caller: Authorized<permission::Operate>,
) -> ApiResult<AdminOverview> {
    Ok(Json(AdminOverview::of(api.engine().overview(&caller).await?)))
}

/// Lists the teams of the installation, newest first.
#[utoipa::path(get, path = "/api/v1/admin/teams", tag = "Administration",
    params(
        ("q" = Option<String>, Query, description = "Part of the name"),
        ("suspended" = Option<bool>, Query, description = "Only teams that are suspended, or are not"),
        ("limit" = Option<u32>, Query, minimum = 1, maximum = 1000, description = "Teams per page; 100 if omitted"),
        ("cursor" = Option<String>, Query, description = "`next_cursor` of the previous page")),
    responses(
        (status = 200, description = "A page of the teams", body = AdminTeams),
        (status = 422, description = "A query parameter is invalid", body = ErrorBody)))]
async fn list_teams(
    State(api): State<Api>,
    caller: Authorized<permission::Operate>,
    Query(mut query): Query,
) -> ApiResult<AdminTeams> {
    let limit = query::limit(&mut query).unwrap_or(DEFAULT_LIMIT);
    let wanted = AdminTeamQuery {
        text: query.optional_text("q"),
        suspended: flag(&mut query, "suspended"),
        before: query::cursor(&mut query, TeamId::parse),
    };
    let wanted = query.finish(Some(wanted))?;
    let page = api.engine().admin_teams(&caller, &wanted, limit).await?;
    Ok(Json(AdminTeams::of(page.items, page.next)))
}

/// Lists the people of the installation, newest first.
#[utoipa::path(get, path = "/api/v1/admin/users", tag = "Administration",
    params(
        ("q" = Option<String>, Query, description = "Part of the address or the name"),
        ("admin" = Option<bool>, Query, description = "Only administrators, or only others"),
        ("suspended" = Option<bool>, Query, description = "Only users who are suspended, or are not"),
        ("groupid" = Option<String>, Query, description = "Only the members of this team"),
        ("limit" = Option<u32>, Query, minimum = 1, maximum = 1000, description = "Users per page; 100 if omitted"),
        ("cursor" = Option<String>, Query, description = "`next_cursor` of the previous page")),
    responses(
        (status = 200, description = "A page of the users", body = AdminUsers),
        (status = 422, description = "A query parameter is invalid", body = ErrorBody)))]
async fn list_users(
    State(api): State<Api>,
    caller: Authorized<permission::Operate>,
    Query(mut query): Query,
) -> ApiResult<AdminUsers> {
    let limit = query::limit(&mut query).unwrap_or(DEFAULT_LIMIT);
    let wanted = AdminUserQuery {
        text: query.optional_text("q"),
        admin: flag(&mut query, "admin"),
        suspended: flag(&mut query, "suspended"),
        // A malformed id is that of no team.
        team: query.optional_text("groupid").map(|id| TeamId::parse(&id).unwrap_or_else(no_team)),
        before: query::cursor(&mut query, UserId::parse),
    };
    let wanted = query.finish(Some(wanted))?;
    let page = api.engine().admin_users(&caller, &wanted, limit).await?;
    Ok(Json(AdminUsers::of(page.items, page.next)))
}

/// Lists the notifiers with deliveries that have waited for more than a minute, by team.
#[utoipa::path(get, path = "/api/v1/admin/deliveries", tag = "Administration",
    params(
        ("limit" = Option<u32>, Query, minimum = 1, maximum = 1000, description = "Notifiers per page; 100 if omitted"),
        ("cursor" = Option<String>, Query, description = "`next_cursor` of the previous page")),
    responses(
        (status = 200, description = "A page of the notifiers", body = AdminDeliveries),
        (status = 422, description = "A query parameter is invalid", body = ErrorBody)))]
async fn list_deliveries(
    State(api): State<Api>,
    caller: Authorized<permission::Operate>,
    Query(mut query): Query,
) -> ApiResult<AdminDeliveries> {
    let limit = query::limit(&mut query).unwrap_or(DEFAULT_LIMIT);
    let after = query::cursor(&mut query, AdminDeliveries::cursor);
    let after = query.finish(Some(after))?;
    let page = api.engine().stuck_deliveries(&caller, after, limit).await?;
    Ok(Json(AdminDeliveries::of(page.items, page.next)))
}

/// Lists the effective settings of this node with their sources. Secrets are hidden. Settings are
/// changed in the settings file or the environment.
#[utoipa::path(get, path = "/api/v1/admin/settings", tag = "Administration",
    params(
        ("limit" = Option<u32>, Query, minimum = 1, maximum = 1000, description = "Settings per page"),
        ("cursor" = Option<String>, Query, description = "`next_cursor` of the previous page")),
    responses(
        (status = 200, description = "The settings", body = AdminSettings),
        (status = 422, description = "A query parameter is invalid", body = ErrorBody)))]
async fn list_settings(
    State(api): State<Api>,
    _caller: Authorized<permission::Operate>,
    query: Query,
) -> ApiResult<AdminSettings> {
    let part = ListPage::read(query, |text| Some(text.to_owned()))?;
    let settings = api.settings().effective_settings.to_vec();
    let (settings, next) = part.paginate(settings, |setting| setting.key.clone(), |key| key);
    Ok(Json(AdminSettings::of(settings, next)))
}

/// Lists the installation's own audit log, newest first: what administrators and the operator did,
/// and which teams were deleted.
#[utoipa::path(get, path = "/api/v1/admin/audit", tag = "Administration",
    params(
        ("from" = Option<String>, Query, format = DateTime, description = "Only entries from this time on"),
        ("to" = Option<String>, Query, format = DateTime, description = "Only entries before this time"),
        ("actor" = Option<String>, Query, description = "Only changes by the user with this id"),
        ("action" = Option<String>, Query, description = "Only this action, such as `admin.suspend`, or all of a thing, such as `admin`"),
        ("object" = Option<String>, Query, description = "Only changes of the object with this id"),
        ("q" = Option<String>, Query, description = "Part of a name or an address"),
        ("limit" = Option<u32>, Query, minimum = 1, maximum = 1000, description = "Entries per page; 100 if omitted"),
        ("cursor" = Option<String>, Query, description = "`next_cursor` of the previous page")),
    responses(
        (status = 200, description = "A page of the log", body = AuditLog),
        (status = 422, description = "A query parameter is invalid", body = ErrorBody)))]
async fn list_audit(
    State(api): State<Api>,
    caller: Authorized<permission::Operate>,
    Query(mut query): Query,
) -> ApiResult<AuditLog> {
    let (wanted, limit) = audit::wanted(&mut query);
    let wanted = query.finish(Some(wanted))?;
    let page = api.engine().installation_audit(&caller, &wanted, limit).await?;
    Ok(Json(AuditLog::of(&page.items, page.next)))
}

/// Suspends or resumes a user, or grants or revokes the administration of the installation. The
/// user is mailed.
#[utoipa::path(post, path = "/api/v1/admin/user", tag = "Administration",
    request_body = AdminUserChange,
    responses(
        (status = 200, description = "Changed", body = Ack),
        (status = 404, description = "There is no such user", body = ErrorBody),
        (status = 409, description = "Nobody would administer the installation, or a node is too \
            old", body = ErrorBody)))]
async fn change_user(
    State(api): State<Api>,
    caller: Reauthenticated<permission::Operate>,
    Body(wanted): Body<AdminUserChange>,
) -> ApiResult<Ack> {
    let user = wanted.id().ok_or_else(|| ApiError::not_found("user"))?;
    if let Some(admin) = wanted.admin {
        api.engine().set_admin(&caller, user, admin).await?;
    }
    if let Some(suspended) = wanted.suspended {
        api.engine().suspend_user(&caller, user, suspended).await?;
    }
    Ack::with_message("User changed.")
}

/// Mails a user a link to set a new password.
#[utoipa::path(post, path = "/api/v1/admin/user/reset", tag = "Administration",
    request_body = AdminUserChoice,
    responses(
        (status = 200, description = "Mailed", body = Ack),
        (status = 404, description = "There is no such user", body = ErrorBody)))]
async fn mail_reset_link(
    State(api): State<Api>,
    caller: Reauthenticated<permission::Operate>,
    Body(wanted): Body<AdminUserChoice>,
) -> ApiResult<Ack> {
    let user = wanted.id().ok_or_else(|| ApiError::not_found("user"))?;
    api.engine().mail_reset_link(&caller, user).await?;
    Ack::with_message("A link was mailed to the user.")
}

/// Removes the second factors of a user who has lost them. The user is mailed.
#[utoipa::path(post, path = "/api/v1/admin/user/mfareset", tag = "Administration",
    request_body = AdminUserChoice,
    responses(
        (status = 200, description = "Removed", body = Ack),
        (status = 404, description = "There is no such user", body = ErrorBody)))]
async fn reset_factors(
    State(api): State<Api>,
    caller: Reauthenticated<permission::Operate>,
    Body(wanted): Body<AdminUserChoice>,
) -> ApiResult<Ack> {
    let user = wanted.id().ok_or_else(|| ApiError::not_found("user"))?;
    api.engine().reset_factors(&caller, user).await?;
    Ack::with_message("Second factors removed.")
}

/// Deletes a user, and the teams that nobody else is in. The user is mailed.
#[utoipa::path(post, path = "/api/v1/admin/user/delete", tag = "Administration",
    request_body = AdminUserChoice,
    responses(
        (status = 200, description = "Deleted", body = Ack),
        (status = 404, description = "There is no such user", body = ErrorBody),
        (status = 409, description = "Nobody would administer the installation", body = ErrorBody)))]
async fn delete_user(
    State(api): State<Api>,
    caller: Reauthenticated<permission::Operate>,
    Body(wanted): Body<AdminUserChoice>,
) -> ApiResult<Ack> {
    let user = wanted.id().ok_or_else(|| ApiError::not_found("user"))?;
    api.engine().delete_user_as_admin(&caller, user).await?;
    Ack::with_message("User deleted.")
}

/// Suspends or resumes a team. While it is suspended, its checks are paused, reports are refused,
/// and its members can only read and export. The owners are mailed.
#[utoipa::path(post, path = "/api/v1/admin/team", tag = "Administration",
    request_body = AdminTeamChange,
    responses(
        (status = 200, description = "Changed", body = Ack),
        (status = 404, description = "There is no such team", body = ErrorBody),
        (status = 409, description = "A node is too old", body = ErrorBody)))]
async fn change_team(
    State(api): State<Api>,
    caller: Reauthenticated<permission::Operate>,
    Body(wanted): Body<AdminTeamChange>,
) -> ApiResult<Ack> {
    let team = wanted.id().ok_or_else(|| ApiError::not_found("team"))?;
    api.engine().suspend_team(&caller, team, wanted.suspended).await?;
    Ack::with_message(if wanted.suspended { "Team suspended." } else { "Team resumed." })
}

/// Makes a member the owner of a team that has no owner who can act. The member is mailed.
#[utoipa::path(post, path = "/api/v1/admin/team/owner", tag = "Administration",
    request_body = AdminTeamOwner,
    responses(
        (status = 200, description = "Appointed", body = Ack),
        (status = 404, description = "There is no such team, or no such member in it", body = ErrorBody),
        (status = 409, description = "The team has an owner", body = ErrorBody)))]
async fn appoint_owner(
    State(api): State<Api>,
    caller: Reauthenticated<permission::Operate>,
    Body(wanted): Body<AdminTeamOwner>,
) -> ApiResult<Ack> {
    let team = wanted.team().ok_or_else(|| ApiError::not_found("team"))?;
    let user = wanted.user().ok_or_else(|| ApiError::not_found("user"))?;
    api.engine().appoint_owner_as_admin(&caller, team, user).await?;
    Ack::with_message("Owner appointed.")
}

/// Deletes a team, everything in it, and the accounts that it manages. `name` must be its name.
/// The owners are mailed.
#[utoipa::path(post, path = "/api/v1/admin/team/delete", tag = "Administration",
    request_body = AdminTeamDeletion,
    responses(
        (status = 200, description = "Deleted", body = Ack),
        (status = 404, description = "There is no such team", body = ErrorBody)))]
async fn delete_team(
    State(api): State<Api>,
    caller: Reauthenticated<permission::Operate>,
    Body(wanted): Body<AdminTeamDeletion>,
) -> ApiResult<Ack> {
    let team = wanted.id().ok_or_else(|| ApiError::not_found("team"))?;
    api.engine().delete_team_as_admin(&caller, team, &wanted.name).await?;
    Ack::with_message("Team and its data deleted.")
}

/// Makes waiting mails and deliveries due now, up to 1,000 of each; with `notifierid`, only the
/// deliveries of this notifier.
#[utoipa::path(post, path = "/api/v1/admin/retry", tag = "Administration",
    request_body = AdminRetry,
    responses(
        (status = 200, description = "Due now", body = AdminRetried),
        (status = 404, description = "There is no such notifier", body = ErrorBody)))]
async fn retry(
    State(api): State<Api>,
    caller: Reauthenticated<permission::Operate>,
    Body(wanted): Body<AdminRetry>,
) -> ApiResult<AdminRetried> {
    let notifier = wanted.notifier().ok_or_else(|| ApiError::not_found("notifier"))?;
    Ok(Json(AdminRetried::of(api.engine().retry_now(&caller, notifier).await?)))
}

fn no_team() -> TeamId {
    TeamId::new(Millis(0), [0; 10])
}

/// `true` or `false` in a query.
fn flag(query: &mut Fields, name: &str) -> Option<bool> {
    query.optional(name, |text| {
        text.parse().map_err(|_| wakeful_core::Invalid::new("must be true or false"))
    })
}
