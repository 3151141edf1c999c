//! The alerts of the caller's team: each outage or warning with its notifications, and what users
//! do with it.

use axum::Json;
use axum::extract::{Path, State};
use wakeful_core::Invalid;
use wakeful_core::access::{Permission, permission};
use wakeful_core::alerting::alert::AlertKind;
use wakeful_core::alerting::order::Action;
use wakeful_core::alerting::state::AlertStatus;
use wakeful_core::id::{AlertId, DeliveryId, MonitorId, UserId};
use wakeful_core::severity::Severity;
use wakeful_engine::{AlertQuery, Authorized};

use super::monitors::monitor_id;
use crate::api_router::{ApiRouter, routes};
use crate::app::Api;
use crate::body::Body;
use crate::caller::needs;
use crate::dto::alerts::{
    self as dto, AlertBody, AlertComment, AlertDetail, AlertList, AlertResponse, AlertsChangedBody,
    AlertsComment, AssignAlert, CommentAlert, SetSeverity, SnoozeAlert, SnoozeAlerts,
};
use crate::dto::evidence::EvidenceList;
use crate::dto::{Fields, enums};
use crate::error::{ApiError, ApiResult, ErrorBody};
use crate::path_id;
use crate::query::{self, Query};

pub(super) fn protected() -> ApiRouter {
    ApiRouter::new()
        .routes(needs(Permission::View, routes!(list_alerts)))
        .routes(needs(Permission::View, routes!(list_monitor_alerts)))
        .routes(needs(Permission::View, routes!(get_alert)))
        .routes(needs(Permission::View, routes!(list_evidence)))
        .routes(needs(Permission::Respond, routes!(acknowledge_alert)))
        .routes(needs(Permission::Respond, routes!(unacknowledge_alert)))
        .routes(needs(Permission::Respond, routes!(snooze_alert)))
        .routes(needs(Permission::Respond, routes!(assign_alert)))
        .routes(needs(Permission::Respond, routes!(comment_alert)))
        .routes(needs(Permission::Respond, routes!(set_alert_severity)))
        .routes(needs(Permission::Respond, routes!(resolve_alert)))
        .routes(needs(Permission::Respond, routes!(acknowledge_alerts)))
        .routes(needs(Permission::Respond, routes!(snooze_alerts)))
        .routes(needs(Permission::Respond, routes!(resolve_alerts)))
}

/// Lists the team's alerts: each outage or warning with its notifications.
#[utoipa::path(get, path = "/api/v1/alerts", tag = "Alerts",
    params(
        ("status" = Option<enums::AlertStatus>, Query, description = "Only alerts with this status"),
        ("severity" = Option<enums::Severity>, Query, description = "Only alerts with this severity"),
        ("kind" = Option<enums::AlertKind>, Query, description = "Only alerts of this kind"),
        ("monitorid" = Option<String>, Query, description = "Only alerts of this monitor"),
        ("tag" = Option<String>, Query, description = "Only alerts of monitors with this tag"),
        ("assignee" = Option<String>, Query, description = "Only alerts that are assigned to this user; `me` for the caller"),
        ("q" = Option<String>, Query, description = "Part of a name, target or tag of the monitor"),
        ("digest" = Option<String>, Query, description = "Only the alerts that one message was about, by the id in its link"),
        ("limit" = Option<u32>, Query, minimum = 1, maximum = 1000, description = "Alerts per page"),
        ("cursor" = Option<String>, Query, description = "`next_cursor` of the previous page")),
    responses(
        (status = 200, description = "The alerts", body = AlertList),
        (status = 404, description = "The team has no such monitor", body = ErrorBody),
        (status = 422, description = "A query parameter is invalid", body = ErrorBody)))]
async fn list_alerts(
    State(api): State<Api>,
    caller: Authorized<permission::View>,
    Query(mut query): Query,
) -> ApiResult<AlertList> {
    let found = AlertQuery {
        monitor: None,
        status: query
            .optional("status", |text| one_of(text, AlertStatus::ALL, AlertStatus::as_str)),
        severity: query.optional("severity", Severity::parse),
        kind: query.optional("kind", |text| one_of(text, AlertKind::ALL, AlertKind::as_str)),
        tag: query.optional_text("tag"),
        assignee: query.optional("assignee", |text| match text {
            "me" => Ok(caller.user()),
            other => {
                UserId::parse(other).ok_or_else(|| Invalid::new("must be me or the id of a user"))
            }
        }),
        text: query.optional_text("q"),
        // What is not an id is treated like an unknown one.
        digest: query
            .optional_text("digest")
            .map(|text| DeliveryId::parse(&text).unwrap_or(DeliveryId::UNKNOWN)),
    };
    let monitor = query.optional_text("monitorid");
    alert_page(&api, &caller, found, monitor, query).await
}

/// Lists the alerts of one monitor.
#[utoipa::path(get, path = "/api/v1/monitor/{monitorid}/alerts", tag = "Alerts",
    params(
        ("monitorid" = String, Path, description = "The monitor's id"),
        ("limit" = Option<u32>, Query, minimum = 1, maximum = 1000, description = "Alerts per page"),
        ("cursor" = Option<String>, Query, description = "`next_cursor` of the previous page")),
    responses(
        (status = 200, description = "The alerts", body = AlertList),
        (status = 404, description = "The team has no such monitor", body = ErrorBody),
        (status = 422, description = "A query parameter is invalid", body = ErrorBody)))]
async fn list_monitor_alerts(
    State(api): State<Api>,
    caller: Authorized<permission::View>,
    Path(monitorid): Path<String>,
    Query(query): Query,
) -> ApiResult<AlertList> {
    alert_page(&api, &caller, AlertQuery::default(), Some(monitorid), query).await
}

async fn alert_page(
    api: &Api,
    caller: &Authorized<permission::View>,
    found: AlertQuery,
    monitor: Option<String>,
    mut query: Fields,
) -> ApiResult<AlertList> {
    let limit = query::limit(&mut query);
    let before = query::cursor(&mut query, AlertId::parse);
    let (limit, before) = query.finish(Some((limit, before)))?;
    let monitor: Option<MonitorId> = monitor.as_deref().map(monitor_id).transpose()?;
    let found = AlertQuery { monitor, ..found };
    let page = api.engine().matching_alerts(caller, &found, before, limit).await?;
    let next = page.next.map(|id| id.to_string());
    Ok(Json(AlertList {
        success: true,
        alerts: page.items.iter().map(AlertBody::of).collect(),
        next_cursor: query::next(limit, next),
    }))
}

/// Returns an alert with its timeline and what its checks saw.
#[utoipa::path(get, path = "/api/v1/alert/{alertid}/get", tag = "Alerts",
    params(("alertid" = String, Path, description = "The alert's id")),
    responses(
        (status = 200, description = "The alert", body = AlertDetail),
        (status = 404, description = "The team has no such alert", body = ErrorBody)))]
async fn get_alert(
    State(api): State<Api>,
    caller: Authorized<permission::View>,
    Path(alertid): Path<String>,
) -> ApiResult<AlertDetail> {
    let (alert, timeline, evidence) = api.engine().alert(&caller, alert_id(&alertid)?).await?;
    Ok(Json(AlertDetail::of(&alert, timeline, evidence)))
}

/// Returns what the latest failing checks of a monitor saw.
#[utoipa::path(get, path = "/api/v1/monitor/{monitorid}/evidence", tag = "Alerts",
    params(
        ("monitorid" = String, Path, description = "The monitor's id"),
        ("limit" = Option<u32>, Query, minimum = 1, maximum = 1000, description = "How many; 10 unless set, and 81 at most")),
    responses(
        (status = 200, description = "The evidence", body = EvidenceList),
        (status = 404, description = "The team has no such monitor", body = ErrorBody),
        (status = 422, description = "A query parameter is invalid", body = ErrorBody)))]
async fn list_evidence(
    State(api): State<Api>,
    caller: Authorized<permission::View>,
    Path(monitorid): Path<String>,
    Query(mut query): Query,
) -> ApiResult<EvidenceList> {
    const DEFAULT_LIMIT: u32 = 10;
    let limit = query::limit(&mut query);
    let limit = query.finish(Some(limit))?.unwrap_or(DEFAULT_LIMIT);
    let found = api.engine().evidence(&caller, monitor_id(&monitorid)?, limit).await?;
    Ok(Json(EvidenceList::of(found)))
}

/// Acknowledges an alert: reminders stop. Acknowledging it again changes nothing.
#[utoipa::path(post, path = "/api/v1/alert/{alertid}/acknowledge", tag = "Alerts", request_body = AlertComment,
    params(("alertid" = String, Path, description = "The alert's id")),
    responses(
        (status = 200, description = "Acknowledged", body = AlertResponse),
        (status = 404, description = "The team has no such alert", body = ErrorBody),
        (status = 409, description = "The alert has ended or was resolved, or was modified concurrently", body = ErrorBody)))]
async fn acknowledge_alert(
    State(api): State<Api>,
    caller: Authorized<permission::Respond>,
    Path(alertid): Path<String>,
    Body(wanted): Body<AlertComment>,
) -> ApiResult<AlertResponse> {
    let action = Action::Acknowledge { comment: wanted.comment.unwrap_or_default() };
    change(&api, &caller, &alertid, action).await
}

/// Withdraws an acknowledgement: reminders continue.
#[utoipa::path(post, path = "/api/v1/alert/{alertid}/unacknowledge", tag = "Alerts",
    params(("alertid" = String, Path, description = "The alert's id")),
    responses(
        (status = 200, description = "Not acknowledged any more", body = AlertResponse),
        (status = 404, description = "The team has no such alert", body = ErrorBody),
        (status = 409, description = "The alert has ended or was resolved, or was modified concurrently", body = ErrorBody)))]
async fn unacknowledge_alert(
    State(api): State<Api>,
    caller: Authorized<permission::Respond>,
    Path(alertid): Path<String>,
) -> ApiResult<AlertResponse> {
    let action = Action::Unacknowledge;
    change(&api, &caller, &alertid, action).await
}

/// Snoozes an alert: no reminders until then, and one at the end.
#[utoipa::path(post, path = "/api/v1/alert/{alertid}/snooze", tag = "Alerts", request_body = SnoozeAlert,
    params(("alertid" = String, Path, description = "The alert's id")),
    responses(
        (status = 200, description = "Snoozed", body = AlertResponse),
        (status = 404, description = "The team has no such alert", body = ErrorBody),
        (status = 409, description = "The alert has ended or was resolved, or was modified concurrently", body = ErrorBody)))]
async fn snooze_alert(
    State(api): State<Api>,
    caller: Authorized<permission::Respond>,
    Path(alertid): Path<String>,
    Body(mut fields): Body<Fields>,
) -> ApiResult<AlertResponse> {
    let action = dto::snooze(&mut fields, api.engine().now());
    let action = fields.finish(action)?;
    change(&api, &caller, &alertid, action).await
}

/// Assigns an alert to a member of the team, who is notified.
#[utoipa::path(post, path = "/api/v1/alert/{alertid}/assign", tag = "Alerts",
    request_body = AssignAlert,
    params(("alertid" = String, Path, description = "The alert's id")),
    responses(
        (status = 200, description = "Assigned", body = AlertResponse),
        (status = 404, description = "The team has no such alert", body = ErrorBody),
        (status = 409, description = "The alert has ended or was resolved, or was modified concurrently", body = ErrorBody)))]
async fn assign_alert(
    State(api): State<Api>,
    caller: Authorized<permission::Respond>,
    Path(alertid): Path<String>,
    Body(wanted): Body<AssignAlert>,
) -> ApiResult<AlertResponse> {
    let id = alert_id(&alertid)?;
    let alert = api.engine().assign_alert(&caller, id, wanted.userid).await?;
    Ok(Json(AlertResponse::of(&alert)))
}

/// Adds a comment to the timeline of an alert, also after it is over.
#[utoipa::path(post, path = "/api/v1/alert/{alertid}/comment", tag = "Alerts", request_body = CommentAlert,
    params(("alertid" = String, Path, description = "The alert's id")),
    responses(
        (status = 200, description = "Added", body = AlertResponse),
        (status = 404, description = "The team has no such alert", body = ErrorBody),
        (status = 409, description = "The alert has ended or was resolved, or was modified concurrently", body = ErrorBody)))]
async fn comment_alert(
    State(api): State<Api>,
    caller: Authorized<permission::Respond>,
    Path(alertid): Path<String>,
    Body(wanted): Body<CommentAlert>,
) -> ApiResult<AlertResponse> {
    let action = Action::Comment(wanted.text);
    change(&api, &caller, &alertid, action).await
}

/// Sets the severity of an open alert.
#[utoipa::path(post, path = "/api/v1/alert/{alertid}/severity", tag = "Alerts", request_body = SetSeverity,
    params(("alertid" = String, Path, description = "The alert's id")),
    responses(
        (status = 200, description = "Set", body = AlertResponse),
        (status = 404, description = "The team has no such alert", body = ErrorBody),
        (status = 409, description = "The alert has ended or was resolved, or was modified concurrently", body = ErrorBody)))]
async fn set_alert_severity(
    State(api): State<Api>,
    caller: Authorized<permission::Respond>,
    Path(alertid): Path<String>,
    Body(wanted): Body<SetSeverity>,
) -> ApiResult<AlertResponse> {
    let action = Action::Severity(wanted.severity);
    change(&api, &caller, &alertid, action).await
}

/// Resolves an alert although the outage lasts: its recovery is not sent.
#[utoipa::path(post, path = "/api/v1/alert/{alertid}/resolve", tag = "Alerts", request_body = AlertComment,
    params(("alertid" = String, Path, description = "The alert's id")),
    responses(
        (status = 200, description = "Resolved", body = AlertResponse),
        (status = 404, description = "The team has no such alert", body = ErrorBody),
        (status = 409, description = "The alert has ended or was resolved, or was modified concurrently", body = ErrorBody)))]
async fn resolve_alert(
    State(api): State<Api>,
    caller: Authorized<permission::Respond>,
    Path(alertid): Path<String>,
    Body(wanted): Body<AlertComment>,
) -> ApiResult<AlertResponse> {
    let action = Action::Resolve { comment: wanted.comment.unwrap_or_default() };
    change(&api, &caller, &alertid, action).await
}

/// Acknowledges several alerts; those that are over are skipped.
#[utoipa::path(post, path = "/api/v1/alerts/acknowledge", tag = "Alerts", request_body = AlertsComment,
    responses(
        (status = 200, description = "Which were acknowledged", body = AlertsChangedBody),
        (status = 409, description = "Modified concurrently", body = ErrorBody)))]
async fn acknowledge_alerts(
    State(api): State<Api>,
    caller: Authorized<permission::Respond>,
    Body(mut fields): Body<Fields>,
) -> ApiResult<AlertsChangedBody> {
    let ids = dto::alert_ids(&mut fields);
    let action = Some(Action::Acknowledge { comment: dto::comment(&mut fields) });
    let (ids, action) = fields.finish(ids.zip(action))?;
    change_all(&api, &caller, ids, action).await
}

/// Snoozes several alerts; those that are over are skipped.
#[utoipa::path(post, path = "/api/v1/alerts/snooze", tag = "Alerts", request_body = SnoozeAlerts,
    responses(
        (status = 200, description = "Which were snoozed", body = AlertsChangedBody),
        (status = 409, description = "Modified concurrently", body = ErrorBody)))]
async fn snooze_alerts(
    State(api): State<Api>,
    caller: Authorized<permission::Respond>,
    Body(mut fields): Body<Fields>,
) -> ApiResult<AlertsChangedBody> {
    let ids = dto::alert_ids(&mut fields);
    let action = dto::snooze(&mut fields, api.engine().now());
    let (ids, action) = fields.finish(ids.zip(action))?;
    change_all(&api, &caller, ids, action).await
}

/// Resolves several alerts; those that are over are skipped.
#[utoipa::path(post, path = "/api/v1/alerts/resolve", tag = "Alerts", request_body = AlertsComment,
    responses(
        (status = 200, description = "Which were resolved", body = AlertsChangedBody),
        (status = 409, description = "Modified concurrently", body = ErrorBody)))]
async fn resolve_alerts(
    State(api): State<Api>,
    caller: Authorized<permission::Respond>,
    Body(mut fields): Body<Fields>,
) -> ApiResult<AlertsChangedBody> {
    let ids = dto::alert_ids(&mut fields);
    let action = Some(Action::Resolve { comment: dto::comment(&mut fields) });
    let (ids, action) = fields.finish(ids.zip(action))?;
    change_all(&api, &caller, ids, action).await
}

async fn change(
    api: &Api,
    caller: &Authorized<permission::Respond>,
    alertid: &str,
    action: Action,
) -> ApiResult<AlertResponse> {
    let alert = api.engine().change_alert(caller, alert_id(alertid)?, action).await?;
    Ok(Json(AlertResponse::of(&alert)))
}

async fn change_all(
    api: &Api,
    caller: &Authorized<permission::Respond>,
    ids: Vec<String>,
    action: Action,
) -> ApiResult<AlertsChangedBody> {
    // A malformed id is reported like an unknown one.
    let (known, unknown): (Vec<String>, Vec<String>) =
        ids.into_iter().partition(|id| AlertId::parse(id).is_some());
    let ids: Vec<AlertId> = known.iter().filter_map(|id| AlertId::parse(id)).collect();
    let changed = api.engine().change_alerts(caller, &ids, action).await?;
    Ok(Json(AlertsChangedBody::of(changed, unknown)))
}

fn alert_id(text: &str) -> Result<AlertId, ApiError> {
    path_id::parse(text, "alert", AlertId::parse)
}

/// The value with this name.
fn one_of<T: Copy>(text: &str, all: &[T], name: impl Fn(T) -> &'static str) -> Result<T, Invalid> {
    all.iter().copied().find(|one| name(*one) == text).ok_or_else(|| {
        let names: Vec<&str> = all.iter().map(|one| name(*one)).collect();
        Invalid::new(format!("must be one of {}", names.join(", ")))
    })
}
