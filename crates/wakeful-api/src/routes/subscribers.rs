//! The subscribers of the status pages of the caller's team, and what was sent to them.

use axum::Json;
use axum::extract::{Path, State};
use axum::http::header;
use axum::response::{IntoResponse as _, Response};
use wakeful_core::access::{Permission, permission};
use wakeful_core::id::{IncidentId, IncidentUpdateId, StatuspageId, SubscriberId};
use wakeful_core::statuspages::page::StatusPage;
use wakeful_core::statuspages::subscriber::{Subscriber, SubscriberKind, SubscriberState};
use wakeful_engine::{Authorized, SubscriberQuery};

use crate::api_router::{ApiRouter, routes};
use crate::app::Api;
use crate::body::Body;
use crate::caller::needs;
use crate::dto::subscribers::{
    self as dto, DeliveriesAnswer, ImportAnswer, ImportSubscribers, SaveSubscriberBody,
    SubscriberAnswer, SubscriberBody, SubscriberExport, SubscriberList, UpdateDeliveriesBody,
    subscriber_id,
};
use crate::dto::{Ack, Fields, enums};
use crate::error::{ApiError, ApiResult, ErrorBody};
use crate::path_id;
use crate::query::{self, Query};

pub(super) fn protected() -> ApiRouter {
    ApiRouter::new()
        .routes(needs(Permission::Edit, routes!(list_subscribers)))
        .routes(needs(Permission::Edit, routes!(save_subscriber)))
        .routes(needs(Permission::Edit, routes!(import_subscribers)))
        .routes(needs(Permission::Edit, routes!(delete_subscriber)))
        .routes(needs(Permission::Edit, routes!(test_subscriber)))
        .routes(needs(Permission::View, routes!(list_deliveries)))
        .routes(needs(Permission::Respond, routes!(resend_update)))
}

/// Lists the subscribers of a status page, newest first, as JSON or as a table.
#[utoipa::path(get, path = "/api/v1/statuspage/{pageid}/subscribers", tag = "Status pages",
    params(
        ("pageid" = String, Path, description = "The id of the status page"),
        ("state" = inline(Option<enums::SubscriberState>), Query, description = "Only those with this state"),
        ("kind" = inline(Option<enums::SubscriberKind>), Query, description = "Only this kind"),
        ("q" = Option<String>, Query, description = "Part of the address"),
        ("format" = inline(Option<enums::SubscriberExport>), Query, description = "Default: json"),
        ("limit" = Option<u32>, Query, minimum = 1, maximum = 1000, description = "Subscribers per page of the list"),
        ("cursor" = Option<String>, Query, description = "`next_cursor` of the previous page")),
    responses(
        (status = 200, description = "The subscribers", content(
            (SubscriberList = "application/json"), (String = "text/csv"))),
        (status = 403, description = "The caller is limited to some monitors", body = ErrorBody),
        (status = 404, description = "The team has no such status page", body = ErrorBody),
        (status = 422, description = "A query parameter is invalid", body = ErrorBody)))]
async fn list_subscribers(
    State(api): State<Api>,
    caller: Authorized<permission::Edit>,
    Path(pageid): Path<String>,
    Query(mut query): Query,
) -> Result<Response, ApiError> {
    let page = page_id(&pageid)?;
    let limit = query::limit(&mut query);
    let format = query.optional("format", SubscriberExport::parse);
    let wanted = SubscriberQuery {
        state: query.optional("state", SubscriberState::parse),
        kind: query.optional("kind", SubscriberKind::parse),
        text: query.optional_short_text("q", 254).unwrap_or_default(),
        before: query::cursor(&mut query, SubscriberId::parse),
        limit,
    };
    let wanted = query.finish(Some(wanted))?;
    let (found, counts) = api.engine().subscribers(&caller, page, &wanted).await?;
    let next = found.next.map(|id| id.to_string());
    let subscribers: Vec<SubscriberBody> =
        found.items.into_iter().map(SubscriberBody::listed).collect();
    if format == Some(SubscriberExport::Csv) {
        let kind = (header::CONTENT_TYPE, "text/csv; charset=utf-8");
        let name = (header::CONTENT_DISPOSITION, "attachment; filename=\"subscribers.csv\"");
        return Ok(([kind, name], SubscriberBody::table(&subscribers)).into_response());
    }
    let next_cursor = query::next(limit, next);
    let list = SubscriberList { success: true, subscribers, counts: counts.into(), next_cursor };
    Ok(Json(list).into_response())
}

/// Adds a subscriber, or changes what the one with the given `subscriberid` receives. Without
/// `consent`, an email address must be confirmed by its owner; also with it, if the address bounces,
/// or was unsubscribed, or deleted while it bounced, in the last 90 days.
#[utoipa::path(post, path = "/api/v1/statuspage/{pageid}/subscriber/save", tag = "Status pages", request_body = SaveSubscriberBody,
    params(("pageid" = String, Path, description = "The id of the status page")),
    responses(
        (status = 200, description = "The subscriber; a new webhook with its signing secret", body = SubscriberAnswer),
        (status = 403, description = "The caller is limited to some monitors, or the plan allows no more subscribers", body = ErrorBody),
        (status = 404, description = "The team has no such status page, or the page no such subscriber", body = ErrorBody),
        (status = 409, description = "The page has the maximum number of subscribers", body = ErrorBody)))]
async fn save_subscriber(
    State(api): State<Api>,
    caller: Authorized<permission::Edit>,
    Path(pageid): Path<String>,
    Body(mut fields): Body<Fields>,
) -> ApiResult<SubscriberAnswer> {
    let page = page_id(&pageid)?;
    let id = fields.optional_text("subscriberid").map(|text| subscriber_id(&text)).transpose()?;
    let read = |page: &StatusPage, stored: Option<&Subscriber>| {
        let read = dto::save(&mut fields, page, stored);
        fields.finish(read)
    };
    let subscriber = api.engine().save_subscriber(&caller, page, id, read).await?;
    let subscriber = SubscriberBody::of(subscriber);
    Ok(Json(SubscriberAnswer { success: true, message: "Subscriber saved.", subscriber }))
}

/// Adds up to 1,000 subscribers whose consent the team has in writing. Addresses that bounce, or
/// were unsubscribed, or deleted while they bounced, in the last 90 days, are not added.
#[utoipa::path(post, path = "/api/v1/statuspage/{pageid}/subscribers/import", tag = "Status pages", request_body = ImportSubscribers,
    params(("pageid" = String, Path, description = "The id of the status page")),
    responses(
        (status = 200, description = "Imported", body = ImportAnswer),
        (status = 403, description = "The caller is limited to some monitors, or the plan allows no more subscribers; nothing was added", body = ErrorBody),
        (status = 404, description = "The team has no such status page", body = ErrorBody),
        (status = 409, description = "The page would have more than the maximum number of subscribers; nothing was added", body = ErrorBody)))]
async fn import_subscribers(
    State(api): State<Api>,
    caller: Authorized<permission::Edit>,
    Path(pageid): Path<String>,
    Body(mut fields): Body<Fields>,
) -> ApiResult<ImportAnswer> {
    let page = page_id(&pageid)?;
    let read = |page: &StatusPage| {
        let read = dto::import(&mut fields, page);
        fields.finish(read)
    };
    let imported = api.engine().import_subscribers(&caller, page, read).await?;
    let (added, known, refused) = (imported.added, imported.known, imported.refused);
    let message = format!("{added} added, {known} known, {refused} refused.");
    Ok(Json(ImportAnswer { success: true, message, added, known, refused }))
}

/// Deletes a subscriber with everything that is known about it. Of an email address, or the webhook
/// of a visitor, that was bouncing, a keyed digest is retained for 90 days, as of one that was
/// unsubscribed: only its owner can subscribe it again. The record itself cannot be deleted.
#[utoipa::path(delete, path = "/api/v1/statuspage/{pageid}/subscriber/{subscriberid}/delete", tag = "Status pages",
    params(
        ("pageid" = String, Path, description = "The id of the status page"),
        ("subscriberid" = String, Path, description = "The id of the subscriber")),
    responses(
        (status = 200, description = "Deleted", body = Ack),
        (status = 403, description = "The caller is limited to some monitors", body = ErrorBody),
        (status = 404, description = "The team has no such status page, or the page no such subscriber", body = ErrorBody),
        (status = 422, description = "It was unsubscribed, or deleted while it was bouncing, which is remembered", body = ErrorBody)))]
async fn delete_subscriber(
    State(api): State<Api>,
    caller: Authorized<permission::Edit>,
    Path((pageid, subscriberid)): Path<(String, String)>,
) -> ApiResult<Ack> {
    // An invalid page is one without this subscriber, like an unknown one.
    let page = path_id::parse(&pageid, "subscriber", StatuspageId::parse)?;
    let id = subscriber_id(&subscriberid)?;
    let is_remembered = api.engine().delete_subscriber(&caller, page, id).await?;
    Ack::with_message(if is_remembered {
        "Subscriber deleted. Its owner must confirm before anything is sent to it again."
    } else {
        "Subscriber deleted."
    })
}

/// Sends a sample of the emails that subscribers receive to the caller's own address.
#[utoipa::path(post, path = "/api/v1/statuspage/{pageid}/subscriber/test", tag = "Status pages",
    params(("pageid" = String, Path, description = "The id of the status page")),
    responses(
        (status = 200, description = "Sent", body = Ack),
        (status = 403, description = "The caller is limited to some monitors", body = ErrorBody),
        (status = 404, description = "The team has no such status page", body = ErrorBody),
        (status = 429, description = "Too many tests; try again in a minute", body = ErrorBody),
        (status = 502, description = "The mail server did not accept it", body = ErrorBody)))]
async fn test_subscriber(
    State(api): State<Api>,
    caller: Authorized<permission::Edit>,
    Path(pageid): Path<String>,
) -> ApiResult<Ack> {
    api.engine().test_subscriber(&caller, page_id(&pageid)?).await?;
    Ack::with_message("Sample sent to your email address.")
}

/// Returns what became of the messages about each update of an incident.
#[utoipa::path(get, path = "/api/v1/incident/{incidentid}/deliveries", tag = "Status pages",
    params(("incidentid" = String, Path, description = "The id of the incident")),
    responses(
        (status = 200, description = "The deliveries by update, newest first", body = DeliveriesAnswer),
        (status = 404, description = "The team has no such incident", body = ErrorBody)))]
async fn list_deliveries(
    State(api): State<Api>,
    caller: Authorized<permission::View>,
    Path(incidentid): Path<String>,
) -> ApiResult<DeliveriesAnswer> {
    let id = incident_id(&incidentid)?;
    let updates = api.engine().incident_deliveries(&caller, id).await?;
    let updates = updates.into_iter().map(UpdateDeliveriesBody::from).collect();
    Ok(Json(DeliveriesAnswer { success: true, updates }))
}

/// Sends the failed messages about an update again.
#[utoipa::path(post, path = "/api/v1/incident/{incidentid}/update/{updateid}/resend", tag = "Status pages",
    params(
        ("incidentid" = String, Path, description = "The id of the incident"),
        ("updateid" = String, Path, description = "The id of the update")),
    responses(
        (status = 200, description = "Queued", body = Ack),
        (status = 403, description = "The caller is limited to some monitors", body = ErrorBody),
        (status = 404, description = "The team has no such incident, or the incident no such update", body = ErrorBody)))]
async fn resend_update(
    State(api): State<Api>,
    caller: Authorized<permission::Respond>,
    Path((incidentid, updateid)): Path<(String, String)>,
) -> ApiResult<Ack> {
    let id = incident_id(&incidentid)?;
    let update = path_id::parse(&updateid, "update", IncidentUpdateId::parse)?;
    let resent = api.engine().resend_incident_update(&caller, id, update).await?;
    Ack::with_message(match resent {
        0 => "There are no failed messages to send again.",
        _ => "The failed messages are being sent again.",
    })
}

fn page_id(text: &str) -> Result<StatuspageId, ApiError> {
    path_id::parse(text, "status page", StatuspageId::parse)
}

fn incident_id(text: &str) -> Result<IncidentId, ApiError> {
    path_id::parse(text, "incident", IncidentId::parse)
}
