//! Invitations to a team.

use axum::Json;
use axum::extract::{Path, State};
use axum::http::HeaderMap;
use wakeful_core::access::{Permission, Role, permission};
use wakeful_core::id::InvitationId;
use wakeful_engine::{Authorized, SignedIn as Login};

use crate::api_router::{ApiRouter, routes};
use crate::app::Api;
use crate::body::Body;
use crate::caller::{CredentialKind, Credentials, needs};
use crate::client_ip::ClientOrigin;
use crate::cookie::{self, CookieHeader};
use crate::dto::Ack;
use crate::dto::invitations::{
    AcceptInvitation, InvitationList, InvitationOpened, InvitationSaved, InvitationToken,
    SaveInvitation,
};
use crate::dto::sessions::SignedIn;
use crate::error::{ApiError, ApiResult, ErrorBody, FieldError};
use crate::path_id;
use crate::query::{ListPage, Query};

pub(super) fn public() -> ApiRouter {
    ApiRouter::new().routes(routes!(open_invitation)).routes(routes!(accept_invitation))
}

pub(super) fn protected() -> ApiRouter {
    ApiRouter::new()
        .routes(needs(Permission::People, routes!(list_invitations)))
        .routes(needs(Permission::People, routes!(save_invitation)))
        .routes(needs(Permission::People, routes!(delete_invitation)))
}

/// Lists the team's invitations that were not accepted yet.
#[utoipa::path(get, path = "/api/v1/invitations", tag = "Team",
    params(
        ("limit" = Option<u32>, Query, minimum = 1, maximum = 1000,
            description = "Invitations per page"),
        ("cursor" = Option<String>, Query, description = "`next_cursor` of the previous page")),
    responses(
        (status = 200, description = "The invitations", body = InvitationList),
        (status = 422, description = "A query parameter is invalid", body = ErrorBody)))]
async fn list_invitations(
    State(api): State<Api>,
    caller: Authorized<permission::People>,
    query: Query,
) -> ApiResult<InvitationList> {
    let part = ListPage::read(query, InvitationId::parse)?;
    let listed = api.engine().invitations(&caller).await?;
    let (listed, next) = part.paginate(listed, |view| view.invitation.id, |id| id.to_string());
    Ok(Json(InvitationList::of(listed, next)))
}

/// Invites a person to the team, or makes a new link for the invitation with the given
/// `invitationid`. The link works once, for seven days. The role `owner` needs the permission
/// `own` and a session that has reauthenticated recently.
#[utoipa::path(post, path = "/api/v1/invitation/save", tag = "Team",
    request_body = SaveInvitation,
    responses(
        (status = 200, description = "Saved", body = InvitationSaved),
        (status = 403, description = "The role is above the caller's own, the team's plan does \
            not allow it, or the caller must reauthenticate: `ways` says how", body = ErrorBody),
        (status = 404, description = "The team has no such invitation", body = ErrorBody),
        (status = 409, description = "The person is already a member, or the team has 100 \
            invitations", body = ErrorBody)))]
async fn save_invitation(
    State(api): State<Api>,
    caller: Authorized<permission::People>,
    Body(wanted): Body<SaveInvitation>,
) -> ApiResult<InvitationSaved> {
    let wanted = wanted.wanted().ok_or_else(no_invitation)?;
    let engine = api.engine();
    let saved = if engine.invited_role(&caller, &wanted).await? == Role::Owner {
        let caller = engine.require_reauthentication(caller.authorize::<permission::Own>()?)?;
        engine.invite_owner(&caller, wanted).await?
    } else {
        engine.save_invitation(&caller, wanted).await?
    };
    Ok(Json(InvitationSaved::of(saved)))
}

/// Deletes an invitation; its link stops working.
#[utoipa::path(delete, path = "/api/v1/invitation/{invitationid}/delete", tag = "Team",
    params(("invitationid" = String, Path, description = "The invitation's id")),
    responses(
        (status = 200, description = "Deleted", body = Ack),
        (status = 404, description = "The team has no such invitation", body = ErrorBody)))]
async fn delete_invitation(
    State(api): State<Api>,
    caller: Authorized<permission::People>,
    Path(invitationid): Path<String>,
) -> ApiResult<Ack> {
    let id = path_id::parse(&invitationid, "invitation", InvitationId::parse)?;
    api.engine().delete_invitation(&caller, id).await?;
    Ack::with_message("Invitation deleted.")
}

/// Returns the invitation behind a link, to show it before it is accepted.
#[utoipa::path(post, path = "/api/v1/invitation/read", tag = "Team",
    request_body = InvitationToken,
    responses(
        (status = 200, description = "The invitation", body = InvitationOpened),
        (status = 401, description = "The link does not work, or no longer", body = ErrorBody)))]
async fn open_invitation(
    State(api): State<Api>,
    ClientOrigin(from): ClientOrigin,
    caller: Result<Authorized<permission::Myself>, ApiError>,
    Body(wanted): Body<InvitationToken>,
) -> ApiResult<InvitationOpened> {
    let caller = logged_in(caller)?;
    let opened = api.engine().open_invitation(&wanted.token, caller.as_deref(), &from).await?;
    Ok(Json(InvitationOpened::of(opened)))
}

/// Accepts an invitation. Someone who is logged in joins the team, and the session continues
/// there. Someone without an account gets one, and is logged in.
#[utoipa::path(post, path = "/api/v1/invitation/accept", tag = "Team",
    request_body = AcceptInvitation,
    responses(
        (status = 200, description = "Joined and logged in", body = SignedIn),
        (status = 401, description = "The link does not work, or no longer, or the address has \
            an account, whose holder must log in first", body = ErrorBody),
        (status = 403, description = "The team's plan does not allow it", body = ErrorBody),
        (status = 409, description = "The caller is already a member, or the invitation is for \
            another address", body = ErrorBody)))]
async fn accept_invitation(
    State(api): State<Api>,
    ClientOrigin(from): ClientOrigin,
    caller: Result<Authorized<permission::Myself>, ApiError>,
    credentials: Result<Credentials, ApiError>,
    headers: HeaderMap,
    Body(wanted): Body<AcceptInvitation>,
) -> Result<(CookieHeader, Json<SignedIn>), ApiError> {
    let Some(caller) = logged_in(caller)? else {
        let missing = || FieldError { field: "password".into(), message: "is required".into() };
        // The link is checked first, so that a password is not asked for in vain.
        api.engine().require_new_account(&wanted.token, &from).await?;
        let wanted = wanted.into_new().ok_or_else(|| ApiError::fields(vec![missing()]))?;
        let joined = api.engine().accept_invitation_as_new(&wanted, &from).await?;
        return Ok(cookie::sign_in_response(&api, &headers, joined));
    };
    let team = api.engine().accept_invitation(&caller, &wanted.token, &from).await?;
    let (user, email) = (caller.user(), caller.email().to_owned());
    let joined = |token| Login { user, team, email, token };
    Ok(match credentials?.kind {
        CredentialKind::Token(token) => cookie::no_cookie(SignedIn::of(joined(token))),
        CredentialKind::Cookie(token) => cookie::no_cookie(SignedIn::by_cookie(joined(token))),
        // The engine has refused it.
        CredentialKind::Keys(_) => return Err(ApiError::not_authenticated()),
    })
}

/// The caller, if there are valid credentials.
fn logged_in<T>(caller: Result<T, ApiError>) -> Result<Option<T>, ApiError> {
    match caller {
        Ok(caller) => Ok(Some(caller)),
        Err(error) if error.is_not_authenticated() => Ok(None),
        Err(error) => Err(error),
    }
}

fn no_invitation() -> ApiError {
    ApiError::not_found("invitation")
}
