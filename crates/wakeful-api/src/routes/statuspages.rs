//! The status pages of the caller's team.

use axum::Json;
use axum::extract::{Path, State};
use axum::http::HeaderMap;
use axum::response::Response;
use std::panic::resume_unwind;
use tokio::task::spawn_blocking;
use wakeful_core::access::{Permission, permission};
use wakeful_core::id::{ComponentId, StatuspageId};
use wakeful_core::statuspages::page::StatusPage;
use wakeful_core::statuspages::snapshot::ImageKind;
use wakeful_engine::{Authorized, Previewed};

use crate::api_router::{ApiRouter, routes};
use crate::app::Api;
use crate::body::Body;
use crate::caller::needs;
use crate::client_ip::ClientIp;
use crate::compression::{accepts_gzip, json_response};
use crate::dto::incidents::unsaved_update;
use crate::dto::statuspages::request::{
    self as dto, CheckDomain, PreviewStatuspage, SaveStatuspage, SetStatuspageImage,
};
use crate::dto::statuspages::response::{
    ComponentAnswer, ComponentBody, DomainAnswer, ImageAnswer, ListedBody, PreviewAnswer,
    StatuspageAnswer, StatuspageBody, StatuspageList, StatuspageWhole, TokenAnswer, image_url,
};
use crate::dto::statuspages::sections::{SetComponentStatus, set_status};
use crate::dto::{Ack, Fields, enums};
use crate::error::{ApiError, ApiResult, ErrorBody};
use crate::path_id;
use crate::query::{ListPage, Query};
use crate::statuspages::{self, Show};

pub(super) fn protected() -> ApiRouter {
    ApiRouter::new()
        .routes(needs(Permission::View, routes!(list_statuspages)))
        .routes(needs(Permission::View, routes!(get_statuspage)))
        .routes(needs(Permission::Edit, routes!(save_statuspage)))
        .routes(needs(Permission::Edit, routes!(preview_statuspage)))
        .routes(needs(Permission::Edit, routes!(delete_statuspage)))
        .routes(needs(Permission::Edit, routes!(set_image)))
        .routes(needs(Permission::Edit, routes!(delete_image)))
        .routes(needs(Permission::Edit, routes!(check_domain)))
        .routes(needs(Permission::Edit, routes!(rotate_token)))
        .routes(needs(Permission::Respond, routes!(set_component_status)))
}

/// Lists the team's status pages.
#[utoipa::path(get, path = "/api/v1/statuspages", tag = "Status pages",
    params(
        ("limit" = Option<u32>, Query, minimum = 1, maximum = 1000, description = "Status pages per page of the list"),
        ("cursor" = Option<String>, Query, description = "`next_cursor` of the previous page")),
    responses(
        (status = 200, description = "The status pages", body = StatuspageList),
        (status = 422, description = "A query parameter is invalid", body = ErrorBody)))]
async fn list_statuspages(
    State(api): State<Api>,
    caller: Authorized<permission::View>,
    query: Query,
) -> ApiResult<StatuspageList> {
    let part = ListPage::read(query, StatuspageId::parse)?;
    let pages = api.engine().statuspages(&caller).await?;
    let (pages, next_cursor) = part.paginate(pages, |one| one.listed.id, |id| id.to_string());
    let statuspages = pages.into_iter().map(ListedBody::of).collect();
    Ok(Json(StatuspageList { success: true, statuspages, next_cursor }))
}

/// Returns a status page with its sections, components and rules.
#[utoipa::path(get, path = "/api/v1/statuspage/{pageid}/get", tag = "Status pages",
    params(("pageid" = String, Path, description = "The id of the status page")),
    responses(
        (status = 200, description = "The status page", body = StatuspageWhole),
        (status = 404, description = "The team has no such status page", body = ErrorBody)))]
async fn get_statuspage(
    State(api): State<Api>,
    caller: Authorized<permission::View>,
    Path(pageid): Path<String>,
) -> ApiResult<StatuspageWhole> {
    let view = api.engine().statuspage(&caller, page_id(&pageid)?).await?;
    Ok(Json(StatuspageWhole { success: true, statuspage: StatuspageBody::of(view) }))
}

/// Creates a status page, or changes the one with the given `pageid`. Omitted fields retain
/// their values. `sections` and `rules` are complete lists.
#[utoipa::path(post, path = "/api/v1/statuspage/save", tag = "Status pages", request_body = SaveStatuspage,
    responses(
        (status = 200, description = "The status page as saved", body = StatuspageAnswer),
        (status = 403, description = "The caller is limited to some monitors, or the plan allows no more pages", body = ErrorBody),
        (status = 404, description = "The team has no such status page", body = ErrorBody),
        (status = 409, description = "Another page has the slug or a domain, the page was modified concurrently, or the team has the maximum number of pages; nothing was saved", body = ErrorBody)))]
async fn save_statuspage(
    State(api): State<Api>,
    caller: Authorized<permission::Edit>,
    ClientIp(from): ClientIp,
    Body(mut fields): Body<Fields>,
) -> ApiResult<StatuspageAnswer> {
    let id = fields.optional_text("pageid").map(|text| page_id(&text)).transpose()?;
    let merge = |stored: Option<&StatusPage>| {
        let mut fields = fields.reread();
        let draft = dto::draft(&mut fields, stored);
        fields.finish(draft)
    };
    let view = api.engine().save_statuspage(&caller, id, from, merge).await?;
    let statuspage = StatuspageBody::of(view);
    Ok(Json(StatuspageAnswer { success: true, message: "Status page saved.", statuspage }))
}

/// Renders a status page as `statuspage/save` would save it, with an update of an incident if one
/// is sent. Nothing is stored.
#[utoipa::path(post, path = "/api/v1/statuspage/preview", tag = "Status pages", request_body = PreviewStatuspage,
    params(("show" = inline(Option<enums::StatuspageShow>), Query, description = "What is shown; default: front. Also accepted in the body")),
    responses(
        (status = 200, description = "The page as visitors would see it", body = PreviewAnswer),
        (status = 403, description = "The caller is limited to some monitors", body = ErrorBody),
        (status = 404, description = "The team has no such status page, incident or update", body = ErrorBody),
        (status = 409, description = "The incident is closed, or has the maximum number of updates", body = ErrorBody)))]
async fn preview_statuspage(
    State(api): State<Api>,
    caller: Authorized<permission::Edit>,
    headers: HeaderMap,
    Query(mut query): Query,
    Body(mut fields): Body<Fields>,
) -> Result<Response, ApiError> {
    let id = fields.optional_text("pageid").map(|text| page_id(&text)).transpose()?;
    let show = query.optional("show", Show::parse);
    let show = query.finish(Some(show))?;
    let show = fields.optional("show", Show::parse).or(show).unwrap_or_default();
    let unsaved = unsaved_update(&mut fields, api.engine().now());
    let merge = |stored: Option<&StatusPage>| {
        let draft = dto::draft(&mut fields, stored);
        fields.finish(draft)
    };
    let previewed = api.engine().preview_statuspage(&caller, id, unsaved, merge).await?;
    let accepts_gzip = accepts_gzip(&headers);
    // A large page takes some tenths of a second.
    let rendering = spawn_blocking(move || {
        let Previewed { snapshot, incident, .. } = &previewed;
        let shown = statuspages::preview(snapshot, incident.as_ref(), show);
        let json = serde_json::to_vec(&PreviewAnswer::of(shown)).expect("texts are valid JSON");
        let response = json_response(json, accepts_gzip);
        // It holds the turn.
        drop(previewed);
        response
    });
    Ok(rendering.await.unwrap_or_else(|broken| resume_unwind(broken.into_panic())))
}

/// Deletes a status page with its images and rules, and the incidents that no other page shows.
#[utoipa::path(delete, path = "/api/v1/statuspage/{pageid}/delete", tag = "Status pages",
    params(("pageid" = String, Path, description = "The id of the status page")),
    responses(
        (status = 200, description = "Deleted", body = Ack),
        (status = 403, description = "The caller is limited to some monitors", body = ErrorBody),
        (status = 404, description = "The team has no such status page", body = ErrorBody)))]
async fn delete_statuspage(
    State(api): State<Api>,
    caller: Authorized<permission::Edit>,
    Path(pageid): Path<String>,
) -> ApiResult<Ack> {
    api.engine().delete_statuspage(&caller, page_id(&pageid)?).await?;
    Ack::with_message("Status page deleted.")
}

/// Stores an image of a status page.
#[utoipa::path(post, path = "/api/v1/statuspage/{pageid}/image", tag = "Status pages", request_body = SetStatuspageImage,
    params(("pageid" = String, Path, description = "The id of the status page")),
    responses(
        (status = 200, description = "Stored", body = ImageAnswer),
        (status = 403, description = "The caller is limited to some monitors", body = ErrorBody),
        (status = 404, description = "The team has no such status page", body = ErrorBody)))]
async fn set_image(
    State(api): State<Api>,
    caller: Authorized<permission::Edit>,
    Path(pageid): Path<String>,
    Body(mut fields): Body<Fields>,
) -> ApiResult<ImageAnswer> {
    let id = page_id(&pageid)?;
    let image = dto::image(&mut fields);
    let (kind, media_type, data) = fields.finish(image)?;
    let image = Some((media_type, data));
    let view = api.engine().set_statuspage_image(&caller, id, kind, image).await?;
    let stored = view.page.images.iter().find(|image| image.kind == kind);
    let digest = stored.map(|image| image.digest.as_str()).unwrap_or_default();
    let url = image_url(&view.url, kind, digest);
    Ok(Json(ImageAnswer { success: true, message: "Image saved.", url }))
}

/// Deletes an image of a status page.
#[utoipa::path(delete, path = "/api/v1/statuspage/{pageid}/image/{kind}/delete", tag = "Status pages",
    params(
        ("pageid" = String, Path, description = "The id of the status page"),
        ("kind" = String, Path, description = "`logo`, `logo_dark` or `favicon`")),
    responses(
        (status = 200, description = "Deleted", body = Ack),
        (status = 403, description = "The caller is limited to some monitors", body = ErrorBody),
        (status = 404, description = "The team has no such status page, or the page has no such image", body = ErrorBody)))]
async fn delete_image(
    State(api): State<Api>,
    caller: Authorized<permission::Edit>,
    Path((pageid, kind)): Path<(String, String)>,
) -> ApiResult<Ack> {
    let kind = path_id::parse(&kind, "image", ImageKind::parse)?;
    let id = page_id(&pageid)?;
    api.engine().set_statuspage_image(&caller, id, kind, None).await?;
    Ack::with_message("Image deleted.")
}

/// Looks up the TXT record that proves that the team owns a domain of a status page.
#[utoipa::path(post, path = "/api/v1/statuspage/{pageid}/domain/check", tag = "Status pages", request_body = CheckDomain,
    params(("pageid" = String, Path, description = "The id of the status page")),
    responses(
        (status = 200, description = "What was found", body = DomainAnswer),
        (status = 403, description = "The caller is limited to some monitors", body = ErrorBody),
        (status = 404, description = "The team has no such status page", body = ErrorBody)))]
async fn check_domain(
    State(api): State<Api>,
    caller: Authorized<permission::Edit>,
    Path(pageid): Path<String>,
    Body(mut fields): Body<Fields>,
) -> ApiResult<DomainAnswer> {
    let id = page_id(&pageid)?;
    let domain = dto::domain_to_check(&mut fields);
    let domain = fields.finish(domain)?;
    let lookup = api.engine().check_statuspage_domain(&caller, id, &domain).await?;
    Ok(Json(DomainAnswer::of(lookup)))
}

/// Replaces the access token of a status page. The old one becomes invalid.
#[utoipa::path(post, path = "/api/v1/statuspage/{pageid}/token/rotate", tag = "Status pages",
    params(("pageid" = String, Path, description = "The id of the status page")),
    responses(
        (status = 200, description = "The new token", body = TokenAnswer),
        (status = 403, description = "The caller is limited to some monitors", body = ErrorBody),
        (status = 404, description = "The team has no such status page", body = ErrorBody),
        (status = 409, description = "Modified concurrently", body = ErrorBody)))]
async fn rotate_token(
    State(api): State<Api>,
    caller: Authorized<permission::Edit>,
    Path(pageid): Path<String>,
) -> ApiResult<TokenAnswer> {
    let view = api.engine().rotate_statuspage_token(&caller, page_id(&pageid)?).await?;
    let token = view
        .page
        .access_token
        .as_ref()
        .map(wakeful_core::secret::Secret::expose)
        .unwrap_or_default();
    Ok(Json(TokenAnswer {
        success: true,
        message: "New access token created; the old one no longer works.",
        access_token: token.to_owned(),
        url: format!("{}?token={token}", view.url),
    }))
}

/// Sets the status of a component, whatever its monitors and incidents say, or returns it to
/// what follows from them.
#[utoipa::path(post, path = "/api/v1/component/{componentid}/status", tag = "Status pages", request_body = SetComponentStatus,
    params(("componentid" = String, Path, description = "The id of the component")),
    responses(
        (status = 200, description = "Set", body = ComponentAnswer),
        (status = 403, description = "The caller is limited to some monitors", body = ErrorBody),
        (status = 404, description = "The team has no such component", body = ErrorBody)))]
async fn set_component_status(
    State(api): State<Api>,
    caller: Authorized<permission::Respond>,
    Path(componentid): Path<String>,
    Body(mut fields): Body<Fields>,
) -> ApiResult<ComponentAnswer> {
    let id = path_id::parse(&componentid, "component", ComponentId::parse)?;
    let set = set_status(&mut fields, api.engine().now());
    let set = fields.finish(set)?;
    let (view, id) = api.engine().set_component_status(&caller, id, set).await?;
    let component = view.page.components().find(|component| component.id == id);
    let component = component.ok_or_else(|| ApiError::not_found("component"))?;
    let component = ComponentBody::of(component, view.statuses.get(&id).copied());
    Ok(Json(ComponentAnswer { success: true, message: "Component status saved.", component }))
}

fn page_id(text: &str) -> Result<StatuspageId, ApiError> {
    path_id::parse(text, "status page", StatuspageId::parse)
}
