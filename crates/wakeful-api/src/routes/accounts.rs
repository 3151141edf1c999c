//! The caller's own account.

use axum::Json;
use axum::extract::State;
use axum::http::HeaderMap;

use crate::address::{ClientIp, From};
use crate::app::Api;
use crate::body::Body;
use crate::caller::Caller;
use crate::cookie::{self, Said};
use crate::error::{ApiError, ApiResult, ErrorBody};
use crate::wire::{Done, Me, SaveSettings, SignUp, SignedIn, UserSaved};

/// Creates a user and a new team around them.
#[utoipa::path(post, path = "/api/v1/signup", tag = "User", request_body = SignUp,
    responses(
        (status = 200, description = "Signed up and logged in", body = SignedIn),
        (status = 403, description = "Sign-up is closed", body = ErrorBody),
        (status = 409, description = "The email is used by another user", body = ErrorBody)))]
pub(crate) async fn signup(
    State(api): State<Api>,
    From(from): From,
    headers: HeaderMap,
    Body(wanted): Body<SignUp>,
) -> Result<(Said, Json<SignedIn>), ApiError> {
    let signed_in = api.engine().sign_up(&wanted.into(), &from).await?;
    Ok(cookie::hand_over(&api, &headers, signed_in))
}

/// Tells who the credentials belong to.
#[utoipa::path(get, path = "/api/v1/users/me", tag = "User",
    responses((status = 200, description = "The caller", body = Me)))]
pub(crate) async fn me(State(api): State<Api>, caller: Caller) -> ApiResult<Me> {
    let who = caller.who;
    let mfa = api.engine().has_mfa(&who).await?;
    Ok(Json(Me { success: true, userid: who.user, email: who.email, groupid: who.team, mfa }))
}

/// Changes the caller's email and, when both password fields are sent, password.
#[utoipa::path(post, path = "/api/v1/settings/save", tag = "Settings", request_body = SaveSettings,
    responses(
        (status = 200, description = "Saved", body = UserSaved),
        (status = 409, description = "The email is used by another user", body = ErrorBody)))]
pub(crate) async fn save_settings(
    State(api): State<Api>,
    caller: Caller,
    ClientIp(from): ClientIp,
    Body(wanted): Body<SaveSettings>,
) -> ApiResult<UserSaved> {
    let password = wanted.password1.as_ref();
    api.engine().save_settings(&caller.who, &wanted.email, password, from).await?;
    Ok(Json(UserSaved::of(caller.who.user)))
}

/// Deletes the caller's account; the last user takes the team along.
#[utoipa::path(method(post, delete), path = "/api/v1/user/delete", tag = "User",
    responses((status = 200, description = "Deleted", body = Done)))]
pub(crate) async fn delete(
    State(api): State<Api>,
    caller: Caller,
    headers: HeaderMap,
) -> Result<(Said, Json<Done>), ApiError> {
    api.engine().delete_account(&caller.who).await?;
    Ok((cookie::forget(&api, &headers), Done::say("The account and its data are deleted.")?))
}
