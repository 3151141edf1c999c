//! The notifiers of the caller's team, and what was sent by them.

use axum::Json;
use axum::extract::{Path, State};
use wakeful_core::id::{DeliveryId, NotifierId};
use wakeful_core::notifier::Notifier;

use crate::app::Api;
use crate::body::Body;
use crate::caller::Caller;
use crate::error::{ApiError, ApiResult, ErrorBody};
use crate::pathid;
use crate::query::{self, Part, Query};
use crate::wire::notifiers::{
    self as wire, DeliveryItem, DeliveryList, NotifierBody, NotifierList, NotifierPreview,
    PreviewNotifier, SaveNotifier, TestNotifier,
};
use crate::wire::{Done, Fields};

/// Lists the team's notifiers.
#[utoipa::path(get, path = "/api/v1/notifiers", tag = "Notifiers",
    params(
        ("limit" = Option<u32>, Query, minimum = 1, maximum = 1000, description = "Notifiers a page"),
        ("cursor" = Option<String>, Query, description = "next_cursor of the page before")),
    responses(
        (status = 200, description = "The notifiers", body = NotifierList),
        (status = 422, description = "A part of the query is wrong", body = ErrorBody)))]
pub(crate) async fn list(
    State(api): State<Api>,
    caller: Caller,
    query: Query,
) -> ApiResult<NotifierList> {
    let part = Part::read(query, NotifierId::parse)?;
    let notifiers = api.engine().notifiers(&caller.who).await?;
    let (notifiers, next_cursor) = part.of(notifiers, |notifier| notifier.id, |id| id.to_string());
    let notifiers = notifiers.iter().map(NotifierBody::listed).collect();
    Ok(Json(NotifierList { success: true, notifiers, next_cursor }))
}

/// Creates a notifier, or changes the one whose `notifierid` is given; what a
/// change leaves out stays as it is. Answers the notifier itself.
#[utoipa::path(post, path = "/api/v1/notifier/save", tag = "Notifiers",
    request_body = SaveNotifier,
    responses(
        (status = 200, description = "The notifier as saved", body = NotifierBody),
        (status = 404, description = "The team has no such notifier", body = ErrorBody),
        (status = 409, description = "Others keep changing it; nothing was saved", body = ErrorBody)))]
pub(crate) async fn save(
    State(api): State<Api>,
    caller: Caller,
    Body(mut fields): Body<Fields>,
) -> ApiResult<NotifierBody> {
    let id = fields.optional_text("notifierid").map(|notifierid| id(&notifierid)).transpose()?;
    let templates = wire::own_templates(&mut fields.again());
    let wrong = api.engine().wrong_templates(templates).await?;
    let merge = |stored: Option<&Notifier>| {
        let mut fields = fields.again();
        let draft = wire::draft(&mut fields, stored, api.engine());
        for (field, why) in &wrong {
            fields.refuse(field, why.0.as_str());
        }
        fields.finish(draft)
    };
    let view = api.engine().save_notifier(&caller.who, id, merge).await?;
    Ok(Json(NotifierBody::of(&view)))
}

/// Sends a test message; `message` is what the receiver answered.
#[utoipa::path(post, path = "/api/v1/notifier/test", tag = "Notifiers",
    request_body = TestNotifier,
    responses(
        (status = 200, description = "Taken by the receiver", body = Done),
        (status = 404, description = "The team has no such notifier", body = ErrorBody),
        (status = 502, description = "Not taken by the receiver", body = ErrorBody)))]
pub(crate) async fn test(
    State(api): State<Api>,
    caller: Caller,
    Body(wanted): Body<TestNotifier>,
) -> ApiResult<Done> {
    let answer = api.engine().test_notifier(&caller.who, id(&wanted.notifierid)?).await?;
    Done::say(answer)
}

/// Shows what a notifier that is still being written would send about an
/// invented monitor. Nothing is sent and nothing is kept.
#[utoipa::path(post, path = "/api/v1/notifier/preview", tag = "Notifiers",
    request_body = PreviewNotifier,
    responses((status = 200, description = "The message", body = NotifierPreview)))]
pub(crate) async fn preview(
    State(api): State<Api>,
    _caller: Caller,
    Body(wanted): Body<PreviewNotifier>,
) -> ApiResult<NotifierPreview> {
    Ok(Json(api.engine().preview_notifier(wanted.into()).await?.into()))
}

/// Deletes a notifier that no monitor is linked to.
#[utoipa::path(delete, path = "/api/v1/notifier/{notifierid}/delete", tag = "Notifiers",
    params(("notifierid" = String, Path, description = "The notifier's id")),
    responses(
        (status = 200, description = "Deleted", body = Done),
        (status = 404, description = "The team has no such notifier", body = ErrorBody),
        (status = 409, description = "Monitors are still linked to it", body = ErrorBody)))]
pub(crate) async fn delete(
    State(api): State<Api>,
    caller: Caller,
    Path(notifierid): Path<String>,
) -> ApiResult<Done> {
    api.engine().delete_notifier(&caller.who, id(&notifierid)?).await?;
    Done::say("The notifier is deleted.")
}

/// Makes a new signing secret, shown this once; the old one signs beside it
/// for 24 hours.
#[utoipa::path(post, path = "/api/v1/notifier/{notifierid}/rotate", tag = "Notifiers",
    params(("notifierid" = String, Path, description = "The notifier's id")),
    responses(
        (status = 200, description = "The notifier with its new secret", body = NotifierBody),
        (status = 404, description = "The team has no such notifier", body = ErrorBody),
        (status = 409, description = "It is no webhook and signs nothing", body = ErrorBody)))]
pub(crate) async fn rotate(
    State(api): State<Api>,
    caller: Caller,
    Path(notifierid): Path<String>,
) -> ApiResult<NotifierBody> {
    let view = api.engine().rotate_notifier(&caller.who, id(&notifierid)?).await?;
    Ok(Json(NotifierBody::of(&view)))
}

/// What was sent by a notifier, newest first.
#[utoipa::path(get, path = "/api/v1/notifier/{notifierid}/deliveries", tag = "Notifiers",
    params(
        ("notifierid" = String, Path, description = "The notifier's id"),
        ("limit" = Option<u32>, Query, minimum = 1, maximum = 1000, description = "Deliveries a page"),
        ("cursor" = Option<String>, Query, description = "next_cursor of the page before")),
    responses(
        (status = 200, description = "The deliveries", body = DeliveryList),
        (status = 404, description = "The team has no such notifier", body = ErrorBody),
        (status = 422, description = "A part of the query is wrong", body = ErrorBody)))]
pub(crate) async fn deliveries(
    State(api): State<Api>,
    caller: Caller,
    Path(notifierid): Path<String>,
    Query(mut query): Query,
) -> ApiResult<DeliveryList> {
    let id = id(&notifierid)?;
    let limit = query::limit(&mut query);
    let before = query::cursor(&mut query, DeliveryId::parse);
    query.finish(Some(()))?;
    let page = api.engine().notifier_deliveries(&caller.who, id, before, limit).await?;
    let next = page.next.map(|id| id.to_string());
    Ok(Json(DeliveryList {
        success: true,
        deliveries: page.items.into_iter().map(DeliveryItem::of).collect(),
        next_cursor: query::next(limit, next),
    }))
}

/// Sends a message once more, with the same event id.
#[utoipa::path(post, path = "/api/v1/delivery/{deliveryid}/resend", tag = "Notifiers",
    params(("deliveryid" = String, Path, description = "The delivery's id")),
    responses(
        (status = 200, description = "On its way", body = Done),
        (status = 404, description = "The team has no such delivery", body = ErrorBody),
        (status = 409, description = "Its notifier is turned off", body = ErrorBody)))]
pub(crate) async fn resend(
    State(api): State<Api>,
    caller: Caller,
    Path(deliveryid): Path<String>,
) -> ApiResult<Done> {
    let id = pathid::parse(&deliveryid, "delivery", DeliveryId::parse)?;
    api.engine().resend_delivery(&caller.who, id).await?;
    Done::say("The message is sent once more.")
}

fn id(text: &str) -> Result<NotifierId, ApiError> {
    pathid::parse(text, "notifier", NotifierId::parse)
}
