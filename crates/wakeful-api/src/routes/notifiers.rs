//! The notifiers of the caller's team, and their deliveries.

use axum::Json;
use axum::extract::{Path, State};
use wakeful_core::Invalid;
use wakeful_core::access::{Permission, permission};
use wakeful_core::id::{DeliveryId, NotifierId};
use wakeful_core::notifications::notifier::{Channel, Notifier};
use wakeful_engine::Authorized;
use wakeful_engine::NotifierDraft;

use crate::api_router::{ApiRouter, routes};
use crate::app::Api;
use crate::body::Body;
use crate::caller::needs;
use crate::client_ip::ClientIp;
use crate::dto::notifiers::{
    self as dto, DeliveryItem, DeliveryList, NotifierBody, NotifierKinds, NotifierList,
    NotifierPreview, NotifierTestResult, PreviewNotifier, SaveNotifier,
};
use crate::dto::{Ack, Fields};
use crate::error::{ApiError, ApiResult, ErrorBody};
use crate::path_id;
use crate::query::{self, ListPage, Query};

pub(super) fn protected() -> ApiRouter {
    ApiRouter::new()
        .routes(needs(Permission::View, routes!(list_notifiers)))
        .routes(needs(Permission::View, routes!(list_notifier_kinds)))
        .routes(needs(Permission::Edit, routes!(save_notifier)))
        .routes(needs(Permission::Respond, routes!(test_notifier)))
        .routes(needs(Permission::Edit, routes!(preview_notifier)))
        .routes(needs(Permission::Edit, routes!(delete_notifier)))
        .routes(needs(Permission::Edit, routes!(rotate_signing_secret)))
        .routes(needs(Permission::View, routes!(list_deliveries)))
        .routes(needs(Permission::Respond, routes!(resend_delivery)))
}

/// Lists the team's notifiers, or with `personal=true` the caller's personal ones.
#[utoipa::path(get, path = "/api/v1/notifiers", tag = "Notifiers",
    params(
        ("personal" = Option<bool>, Query, description = "Whether to list the caller's personal notifiers instead"),
        ("limit" = Option<u32>, Query, minimum = 1, maximum = 1000, description = "Notifiers per page"),
        ("cursor" = Option<String>, Query, description = "`next_cursor` of the previous page")),
    responses(
        (status = 200, description = "The notifiers", body = NotifierList),
        (status = 422, description = "A query parameter is invalid", body = ErrorBody)))]
async fn list_notifiers(
    State(api): State<Api>,
    caller: Authorized<permission::View>,
    Query(mut query): Query,
) -> ApiResult<NotifierList> {
    let personal = query::flag(&mut query, "personal").unwrap_or(false);
    let part = ListPage::read(Query(query), NotifierId::parse)?;
    let notifiers = if personal {
        api.engine().personal_notifiers(&caller).await?
    } else {
        api.engine().notifiers(&caller).await?
    };
    let (notifiers, next_cursor) =
        part.paginate(notifiers, |view| view.notifier.id, |id| id.to_string());
    let notifiers = notifiers.iter().map(NotifierBody::of).collect();
    Ok(Json(NotifierList { success: true, notifiers, next_cursor }))
}

/// Lists the types of notifiers that send to a known service, with their settings.
#[utoipa::path(get, path = "/api/v1/notifier/kinds", tag = "Notifiers",
    responses((status = 200, description = "The types", body = NotifierKinds)))]
async fn list_notifier_kinds(_caller: Authorized<permission::View>) -> ApiResult<NotifierKinds> {
    Ok(Json(NotifierKinds::all()))
}

/// Creates a notifier, or changes the one with the given `notifierid`. Omitted fields
/// retain their values. Returns the notifier. With type account, it is the caller's personal
/// notifier, which sends emails to the address of the account; a new one also sends a link to
/// verify the address, unless it is verified. With `personal`, only the caller sees it, and only
/// contact rules use it.
#[utoipa::path(post, path = "/api/v1/notifier/save", tag = "Notifiers",
    request_body = SaveNotifier,
    responses(
        (status = 200, description = "The notifier as saved", body = NotifierBody),
        (status = 403, description = "It is the personal notifier of another user", body = ErrorBody),
        (status = 404, description = "The team has no such notifier", body = ErrorBody),
        (status = 409, description = "Modified concurrently; nothing was saved", body = ErrorBody)))]
async fn save_notifier(
    State(api): State<Api>,
    caller: Authorized<permission::Edit>,
    ClientIp(from): ClientIp,
    Body(mut fields): Body<Fields>,
) -> ApiResult<NotifierBody> {
    let id = optional_id(&mut fields)?;
    let settings = SettingsReader::new(&api, &caller, fields).await?;
    let merge = |stored: Option<&Notifier>| settings.read(stored);
    let view = api.engine().save_notifier(&caller, id, from, merge).await?;
    Ok(Json(NotifierBody::of(&view)))
}

/// The settings in a request, read for saving or testing a notifier.
struct SettingsReader<'a> {
    api: &'a Api,
    fields: Fields,
    /// The channel of the caller's personal notifier, if the request is about it.
    account: Option<Channel>,
    /// The templates that do not work, and why.
    wrong: Vec<(&'static str, Invalid)>,
}

impl<'a> SettingsReader<'a> {
    async fn new(
        api: &'a Api,
        caller: &Authorized<permission::Edit>,
        fields: Fields,
    ) -> Result<Self, ApiError> {
        let templates = dto::custom_templates(&mut fields.reread());
        let wrong = api.engine().wrong_templates(caller, templates).await?;
        let account = if dto::is_account(&mut fields.reread()) {
            Some(api.engine().account_channel(caller).await?)
        } else {
            None
        };
        Ok(Self { api, fields, account, wrong })
    }

    /// The stored notifier with the sent fields applied, or all errors at once.
    fn read(&self, stored: Option<&Notifier>) -> Result<NotifierDraft, ApiError> {
        let mut fields = self.fields.reread();
        let draft = dto::draft(&mut fields, stored, self.account.as_ref(), self.api.engine());
        for (field, why) in &self.wrong {
            fields.refuse(field, why.0.as_str());
        }
        fields.finish(draft)
    }
}

/// Sends a test message and returns the receiver's response in `message`. The notifier is a
/// saved one (`notifierid`), one that is not saved yet (the fields of `notifier/save`), or a
/// saved one with changes that are not saved yet (both).
#[utoipa::path(post, path = "/api/v1/notifier/test", tag = "Notifiers",
    request_body = SaveNotifier,
    responses(
        (status = 200, description = "Accepted by the receiver", body = NotifierTestResult),
        (status = 403, description = "Changes to the personal notifier of another user", body = ErrorBody),
        (status = 404, description = "The team has no such notifier", body = ErrorBody),
        (status = 502, description = "Not accepted by the receiver", body = ErrorBody)))]
async fn test_notifier(
    State(api): State<Api>,
    caller: Authorized<permission::Respond>,
    Body(mut fields): Body<Fields>,
) -> ApiResult<NotifierTestResult> {
    let id = optional_id(&mut fields)?;
    if !dto::has_settings(&fields) {
        let id = fields.require("notifierid", id);
        let id = fields.finish(id)?;
        let test = api.engine().test_notifier(&caller, id).await?;
        return Ok(Json(NotifierTestResult::of(test)));
    }
    // Changed settings could send a stored password elsewhere.
    let caller = caller.authorize::<permission::Edit>()?;
    let settings = SettingsReader::new(&api, &caller, fields).await?;
    let merge = |stored: Option<&Notifier>| settings.read(stored);
    let test = api.engine().test_notifier_draft(&caller, id, merge).await?;
    Ok(Json(NotifierTestResult::of(test)))
}

/// Previews the message that a notifier with the given settings would send about an
/// example monitor. Nothing is sent or stored.
#[utoipa::path(post, path = "/api/v1/notifier/preview", tag = "Notifiers",
    request_body = PreviewNotifier,
    responses(
        (status = 200, description = "The message", body = NotifierPreview),
        (status = 404, description = "The team has no such notifier", body = ErrorBody)))]
async fn preview_notifier(
    State(api): State<Api>,
    caller: Authorized<permission::Edit>,
    Body(mut fields): Body<Fields>,
) -> ApiResult<NotifierPreview> {
    let id = optional_id(&mut fields)?;
    let stored = api.engine().optional_notifier(&caller, id).await?;
    let draft = dto::preview(&mut fields, stored.as_ref());
    let draft = fields.finish(draft)?;
    Ok(Json(api.engine().preview_notifier(&caller, draft).await?.into()))
}

/// Deletes a notifier that nothing uses.
#[utoipa::path(delete, path = "/api/v1/notifier/{notifierid}/delete", tag = "Notifiers",
    params(("notifierid" = String, Path, description = "The notifier's id")),
    responses(
        (status = 200, description = "Deleted", body = Ack),
        (status = 403, description = "It is the personal notifier of another user", body = ErrorBody),
        (status = 404, description = "The team has no such notifier", body = ErrorBody),
        (status = 409, description = "Monitors, policies, routing rules, windows or schedules still use it", body = ErrorBody)))]
async fn delete_notifier(
    State(api): State<Api>,
    caller: Authorized<permission::Edit>,
    Path(notifierid): Path<String>,
) -> ApiResult<Ack> {
    api.engine().delete_notifier(&caller, id(&notifierid)?).await?;
    Ack::with_message("Notifier deleted.")
}

/// Creates a new signing secret, shown only once. Messages are signed with the old one as
/// well for 24 hours.
#[utoipa::path(post, path = "/api/v1/notifier/{notifierid}/rotate", tag = "Notifiers",
    params(("notifierid" = String, Path, description = "The notifier's id")),
    responses(
        (status = 200, description = "The notifier with its new secret", body = NotifierBody),
        (status = 404, description = "The team has no such notifier", body = ErrorBody),
        (status = 409, description = "The notifier is not a webhook and has no secret", body = ErrorBody)))]
async fn rotate_signing_secret(
    State(api): State<Api>,
    caller: Authorized<permission::Edit>,
    Path(notifierid): Path<String>,
) -> ApiResult<NotifierBody> {
    let view = api.engine().rotate_notifier(&caller, id(&notifierid)?).await?;
    Ok(Json(NotifierBody::of(&view)))
}

/// Lists the deliveries of a notifier, newest first.
#[utoipa::path(get, path = "/api/v1/notifier/{notifierid}/deliveries", tag = "Notifiers",
    params(
        ("notifierid" = String, Path, description = "The notifier's id"),
        ("limit" = Option<u32>, Query, minimum = 1, maximum = 1000, description = "Deliveries per page"),
        ("cursor" = Option<String>, Query, description = "`next_cursor` of the previous page")),
    responses(
        (status = 200, description = "The deliveries", body = DeliveryList),
        (status = 404, description = "The team has no such notifier", body = ErrorBody),
        (status = 422, description = "A query parameter is invalid", body = ErrorBody)))]
async fn list_deliveries(
    State(api): State<Api>,
    caller: Authorized<permission::View>,
    Path(notifierid): Path<String>,
    Query(mut query): Query,
) -> ApiResult<DeliveryList> {
    let id = id(&notifierid)?;
    let limit = query::limit(&mut query);
    let before = query::cursor(&mut query, DeliveryId::parse);
    query.finish(Some(()))?;
    let page = api.engine().notifier_deliveries(&caller, id, before, limit).await?;
    let next = page.next.map(|id| id.to_string());
    Ok(Json(DeliveryList {
        success: true,
        deliveries: page.items.into_iter().map(DeliveryItem::of).collect(),
        next_cursor: query::next(limit, next),
    }))
}

/// Sends a message again, with the same event id.
#[utoipa::path(post, path = "/api/v1/delivery/{deliveryid}/resend", tag = "Notifiers",
    params(("deliveryid" = String, Path, description = "The delivery's id")),
    responses(
        (status = 200, description = "Queued", body = Ack),
        (status = 404, description = "The team has no such delivery", body = ErrorBody),
        (status = 409, description = "Its notifier is disabled", body = ErrorBody)))]
async fn resend_delivery(
    State(api): State<Api>,
    caller: Authorized<permission::Respond>,
    Path(deliveryid): Path<String>,
) -> ApiResult<Ack> {
    let id = path_id::parse(&deliveryid, "delivery", DeliveryId::parse)?;
    api.engine().resend_delivery(&caller, id).await?;
    Ack::with_message("Message queued for delivery.")
}

fn optional_id(fields: &mut Fields) -> Result<Option<NotifierId>, ApiError> {
    fields.optional_text("notifierid").map(|text| id(&text)).transpose()
}

fn id(text: &str) -> Result<NotifierId, ApiError> {
    path_id::parse(text, "notifier", NotifierId::parse)
}
