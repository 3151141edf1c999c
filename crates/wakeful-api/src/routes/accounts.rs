//! The caller's own account.

use axum::Json;
use axum::extract::State;
use axum::http::HeaderMap;
use wakeful_core::access::{Permission, permission};
use wakeful_engine::Authorized;

use crate::api_router::{ApiRouter, routes};
use crate::app::Api;
use crate::body::Body;
use crate::caller::Reauthentication::Page;
use crate::caller::{PageReauthenticated, needs, reauthenticated};
use crate::client_ip::{ClientIp, ClientOrigin};
use crate::cookie::{self, CookieHeader};
use crate::dto::Ack;
use crate::dto::accounts::{CurrentSession, Me, SaveSettings, SignUp, UserSaved};
use crate::dto::sessions::SignedIn;
use crate::error::{ApiError, ApiResult, ErrorBody};

pub(super) fn public() -> ApiRouter {
    ApiRouter::new().routes(routes!(sign_up)).routes(routes!(get_session))
}

pub(super) fn protected() -> ApiRouter {
    ApiRouter::new()
        .routes(needs(Permission::Known, routes!(get_current_user)))
        .routes(needs(Permission::Myself, reauthenticated(Page, routes!(save_settings))))
        .routes(needs(Permission::Myself, reauthenticated(Page, routes!(delete_account))))
}

/// Creates a user and their team.
#[utoipa::path(post, path = "/api/v1/signup", tag = "User", request_body = SignUp,
    responses(
        (status = 200, description = "Signed up and logged in", body = SignedIn),
        (status = 403, description = "Sign-up is closed", body = ErrorBody),
        (status = 409, description = "Another user has this email", body = ErrorBody)))]
async fn sign_up(
    State(api): State<Api>,
    ClientOrigin(from): ClientOrigin,
    headers: HeaderMap,
    Body(wanted): Body<SignUp>,
) -> Result<(CookieHeader, Json<SignedIn>), ApiError> {
    let signed_in = api.engine().sign_up(&wanted.into(), &from).await?;
    Ok(cookie::sign_in_response(&api, &headers, signed_in))
}

/// Returns the user that the credentials belong to.
#[utoipa::path(get, path = "/api/v1/users/me", tag = "User",
    responses((status = 200, description = "The caller", body = Me)))]
async fn get_current_user(
    State(api): State<Api>,
    caller: Authorized<permission::Known>,
) -> ApiResult<Me> {
    Ok(Json(current_user(&api, &caller).await?))
}

async fn current_user(api: &Api, caller: &Authorized<permission::Known>) -> Result<Me, ApiError> {
    let filter = api.engine().monitor_filter(caller).await?;
    Ok(Me::of(caller, filter, api.engine().has_mail_server()))
}

/// Returns the user that the credentials belong to, or null without valid credentials. For
/// clients that do not know whether they are logged in, such as a web page that was just opened.
#[utoipa::path(get, path = "/api/v1/session", tag = "User",
    responses((status = 200, description = "The caller, if any", body = CurrentSession)))]
async fn get_session(
    State(api): State<Api>,
    caller: Result<Authorized<permission::Known>, ApiError>,
) -> ApiResult<CurrentSession> {
    let user = match caller {
        Ok(caller) => Some(current_user(&api, &caller).await?),
        Err(error) if error.is_not_authenticated() => None,
        Err(error) => return Err(error),
    };
    let first_signup = user.is_none() && api.engine().awaits_first_signup().await?;
    let mail_server = first_signup.then(|| api.engine().has_mail_server());
    Ok(Json(CurrentSession { success: true, user, first_signup, mail_server }))
}

/// Changes the caller's email and, if both password fields are sent, the password.
#[utoipa::path(post, path = "/api/v1/settings/save", tag = "Settings", request_body = SaveSettings,
    responses(
        (status = 200, description = "Saved", body = UserSaved),
        (status = 409, description = "Another user has this email", body = ErrorBody)))]
async fn save_settings(
    State(api): State<Api>,
    PageReauthenticated(caller): PageReauthenticated<permission::Myself>,
    ClientIp(from): ClientIp,
    Body(wanted): Body<SaveSettings>,
) -> ApiResult<UserSaved> {
    let password = wanted.password1.as_ref();
    api.engine().save_settings(&caller, &wanted.email, password, from).await?;
    Ok(Json(UserSaved::of(caller.user())))
}

/// Deletes the caller's account, and the team too if it has no other user.
#[utoipa::path(method(post, delete), path = "/api/v1/user/delete", tag = "User",
    responses((status = 200, description = "Deleted", body = Ack)))]
async fn delete_account(
    State(api): State<Api>,
    PageReauthenticated(caller): PageReauthenticated<permission::Myself>,
    headers: HeaderMap,
) -> Result<(CookieHeader, Json<Ack>), ApiError> {
    api.engine().delete_account(&caller).await?;
    Ok((cookie::clear(&api, &headers), Ack::with_message("Account and its data deleted.")?))
}
