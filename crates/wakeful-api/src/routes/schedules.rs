//! The on-call schedules of the caller's team.

use axum::Json;
use axum::extract::{Path, State};
use wakeful_core::access::{Permission, permission};
use wakeful_core::id::{OverrideId, ScheduleId};
use wakeful_core::oncall::OnCallSchedule;
use wakeful_engine::Authorized;

use super::history::time;
use crate::api_router::{ApiRouter, routes};
use crate::app::Api;
use crate::body::Body;
use crate::caller::needs;
use crate::dto::contacts::FeedUrl;
use crate::dto::schedules::{
    self as dto, OnCallList, OverrideAnswer, SaveOverride, SaveSchedule, ScheduleAnswer,
    ScheduleBody, ScheduleList, ScheduleWhole,
};
use crate::dto::{Ack, Fields};
use crate::error::{ApiError, ApiResult, ErrorBody};
use crate::path_id;
use crate::query::{ListPage, Query};

pub(super) fn protected() -> ApiRouter {
    ApiRouter::new()
        .routes(needs(Permission::View, routes!(list_schedules)))
        .routes(needs(Permission::View, routes!(get_schedule)))
        .routes(needs(Permission::Edit, routes!(save_schedule)))
        .routes(needs(Permission::Edit, routes!(delete_schedule)))
        .routes(needs(Permission::Respond, routes!(add_override)))
        .routes(needs(Permission::Respond, routes!(delete_override)))
        .routes(needs(Permission::Edit, routes!(create_schedule_feed)))
        .routes(needs(Permission::View, routes!(list_on_call)))
}

/// Lists the team's on-call schedules.
#[utoipa::path(get, path = "/api/v1/schedules", tag = "On call",
    params(
        ("limit" = Option<u32>, Query, minimum = 1, maximum = 1000, description = "Schedules per page"),
        ("cursor" = Option<String>, Query, description = "`next_cursor` of the previous page")),
    responses(
        (status = 200, description = "The schedules", body = ScheduleList),
        (status = 422, description = "A query parameter is invalid", body = ErrorBody)))]
async fn list_schedules(
    State(api): State<Api>,
    caller: Authorized<permission::View>,
    query: Query,
) -> ApiResult<ScheduleList> {
    let part = ListPage::read(query, ScheduleId::parse)?;
    let views = api.engine().schedules(&caller).await?;
    let (views, next_cursor) = part.paginate(views, |view| view.schedule.id, |id| id.to_string());
    let schedules = views.into_iter().map(ScheduleBody::of).collect();
    Ok(Json(ScheduleList { success: true, schedules, next_cursor }))
}

/// An on-call schedule and its shifts in a range.
#[utoipa::path(get, path = "/api/v1/schedule/{scheduleid}/get", tag = "On call",
    params(
        ("scheduleid" = String, Path, description = "The schedule's id"),
        ("from" = Option<String>, Query, format = DateTime, description = "Default: now"),
        ("to" = Option<String>, Query, format = DateTime, description = "At most 93 days later; default: 28 days later")),
    responses(
        (status = 200, description = "The schedule", body = ScheduleWhole),
        (status = 404, description = "The team has no such schedule", body = ErrorBody),
        (status = 422, description = "A query parameter is invalid", body = ErrorBody)))]
async fn get_schedule(
    State(api): State<Api>,
    caller: Authorized<permission::View>,
    Path(scheduleid): Path<String>,
    Query(mut query): Query,
) -> ApiResult<ScheduleWhole> {
    let (from, to) = (time(&mut query, "from"), time(&mut query, "to"));
    let (from, to) = query.finish(Some((from, to)))?;
    let (view, shifts) = api.engine().schedule(&caller, id(&scheduleid)?, from, to).await?;
    Ok(Json(ScheduleWhole::of(view, shifts)))
}

/// Creates an on-call schedule, or changes the one with the given `scheduleid`. Omitted fields
/// retain their values.
#[utoipa::path(post, path = "/api/v1/schedule/save", tag = "On call", request_body = SaveSchedule,
    responses(
        (status = 200, description = "The schedule as saved", body = ScheduleAnswer),
        (status = 403, description = "The caller is limited to some monitors", body = ErrorBody),
        (status = 404, description = "The team has no such schedule", body = ErrorBody),
        (status = 409, description = "Modified concurrently, or the team has the maximum number of schedules; nothing was saved", body = ErrorBody)))]
async fn save_schedule(
    State(api): State<Api>,
    caller: Authorized<permission::Edit>,
    Body(mut fields): Body<Fields>,
) -> ApiResult<ScheduleAnswer> {
    let id = fields.optional_text("scheduleid").map(|text| id(&text)).transpose()?;
    let merge = |stored: Option<&OnCallSchedule>| {
        let mut fields = fields.reread();
        let draft = dto::draft(&mut fields, stored);
        fields.finish(draft)
    };
    let view = api.engine().save_schedule(&caller, id, merge).await?;
    Ok(Json(ScheduleAnswer::of("Schedule saved.", view)))
}

/// Deletes an on-call schedule that no policy uses, with its overrides.
#[utoipa::path(delete, path = "/api/v1/schedule/{scheduleid}/delete", tag = "On call",
    params(("scheduleid" = String, Path, description = "The schedule's id")),
    responses(
        (status = 200, description = "Deleted", body = Ack),
        (status = 403, description = "The caller is limited to some monitors", body = ErrorBody),
        (status = 404, description = "The team has no such schedule", body = ErrorBody),
        (status = 409, description = "A policy still uses it", body = ErrorBody)))]
async fn delete_schedule(
    State(api): State<Api>,
    caller: Authorized<permission::Edit>,
    Path(scheduleid): Path<String>,
) -> ApiResult<Ack> {
    api.engine().delete_schedule(&caller, id(&scheduleid)?).await?;
    Ack::with_message("Schedule deleted.")
}

/// Lets a user take over in an on-call schedule for a while. Of two overrides at the same time,
/// the newer one counts.
#[utoipa::path(post, path = "/api/v1/schedule/{scheduleid}/override", tag = "On call",
    params(("scheduleid" = String, Path, description = "The schedule's id")),
    request_body = SaveOverride,
    responses(
        (status = 200, description = "Saved", body = OverrideAnswer),
        (status = 404, description = "The team has no such schedule", body = ErrorBody),
        (status = 409, description = "The schedule has the maximum number of overrides", body = ErrorBody)))]
async fn add_override(
    State(api): State<Api>,
    caller: Authorized<permission::Respond>,
    Path(scheduleid): Path<String>,
    Body(wanted): Body<SaveOverride>,
) -> ApiResult<OverrideAnswer> {
    let SaveOverride { userid, starts, ends } = wanted;
    let id = id(&scheduleid)?;
    let id = api.engine().add_override(&caller, id, userid, starts, ends).await?;
    Ok(Json(OverrideAnswer::of(id)))
}

/// Deletes an override.
#[utoipa::path(delete, path = "/api/v1/override/{overrideid}/delete", tag = "On call",
    params(("overrideid" = String, Path, description = "The override's id")),
    responses(
        (status = 200, description = "Deleted", body = Ack),
        (status = 404, description = "The team has no such override", body = ErrorBody)))]
async fn delete_override(
    State(api): State<Api>,
    caller: Authorized<permission::Respond>,
    Path(overrideid): Path<String>,
) -> ApiResult<Ack> {
    let id = path_id::parse(&overrideid, "override", OverrideId::parse)?;
    api.engine().delete_override(&caller, id).await?;
    Ack::with_message("Override deleted.")
}

/// Creates a new URL of the calendar of a schedule. The old one stops working.
#[utoipa::path(post, path = "/api/v1/schedule/{scheduleid}/feed", tag = "On call",
    params(("scheduleid" = String, Path, description = "The schedule's id")),
    responses(
        (status = 200, description = "The URL", body = FeedUrl),
        (status = 403, description = "The caller is limited to some monitors", body = ErrorBody),
        (status = 404, description = "The team has no such schedule", body = ErrorBody)))]
async fn create_schedule_feed(
    State(api): State<Api>,
    caller: Authorized<permission::Edit>,
    Path(scheduleid): Path<String>,
) -> ApiResult<FeedUrl> {
    let url = api.engine().new_schedule_feed(&caller, id(&scheduleid)?).await?;
    Ok(Json(FeedUrl::of(url)))
}

/// Who is on call in each schedule.
#[utoipa::path(get, path = "/api/v1/oncall", tag = "On call",
    params(("at" = Option<String>, Query, format = DateTime, description = "Default: now")),
    responses(
        (status = 200, description = "Who is on call", body = OnCallList),
        (status = 422, description = "A query parameter is invalid", body = ErrorBody)))]
async fn list_on_call(
    State(api): State<Api>,
    caller: Authorized<permission::View>,
    Query(mut query): Query,
) -> ApiResult<OnCallList> {
    let at = time(&mut query, "at");
    let at = query.finish(Some(at))?;
    Ok(Json(OnCallList::of(api.engine().on_call(&caller, at).await?)))
}

fn id(text: &str) -> Result<ScheduleId, ApiError> {
    path_id::parse(text, "schedule", ScheduleId::parse)
}
