//! The incidents of the caller's team on its status pages, and templates for them.

use axum::Json;
use axum::extract::{Path, State};
use wakeful_core::Invalid;
use wakeful_core::access::{Permission, permission};
use wakeful_core::id::{
    ComponentId, IncidentId, IncidentTemplateId, IncidentUpdateId, StatuspageId,
};
use wakeful_core::statuspages::incident::{Incident, IncidentTemplate};
use wakeful_core::statuspages::snapshot;
use wakeful_engine::{Authorized, IncidentDefaults, IncidentQuery};

use crate::api_router::{ApiRouter, routes};
use crate::app::Api;
use crate::body::Body;
use crate::caller::needs;
use crate::dto::enums::{IncidentKind, ListedState};
use crate::dto::incidents::{
    self as dto, IncidentAnswer, IncidentBody, IncidentList, IncidentWhole, PublishIncident,
    SaveIncident, SaveIncidentTemplate, SaveIncidentUpdate, SavePostmortem, TemplateAnswer,
    TemplateBody, TemplateList,
};
use crate::dto::{Ack, Fields};
use crate::error::{ApiError, ApiResult, ErrorBody};
use crate::path_id;
use crate::query::{self, ListPage, Query};

pub(super) fn protected() -> ApiRouter {
    ApiRouter::new()
        .routes(needs(Permission::View, routes!(list_incidents)))
        .routes(needs(Permission::View, routes!(get_incident)))
        .routes(needs(Permission::Respond, routes!(save_incident)))
        .routes(needs(Permission::Respond, routes!(save_update)))
        .routes(needs(Permission::Respond, routes!(delete_update)))
        .routes(needs(Permission::Respond, routes!(publish_incident)))
        .routes(needs(Permission::Respond, routes!(save_postmortem)))
        .routes(needs(Permission::Edit, routes!(delete_incident)))
        .routes(needs(Permission::View, routes!(list_templates)))
        .routes(needs(Permission::Edit, routes!(save_template)))
        .routes(needs(Permission::Edit, routes!(delete_template)))
}

/// Lists the team's incidents and maintenance, newest first, each with its newest update.
#[utoipa::path(get, path = "/api/v1/incidents", tag = "Status pages",
    params(
        ("limit" = Option<u32>, Query, minimum = 1, maximum = 1000, description = "Incidents per page"),
        ("cursor" = Option<String>, Query, description = "`next_cursor` of the previous page"),
        ("pageid" = Option<String>, Query, description = "Only those that this status page shows"),
        ("componentid" = Option<String>, Query, description = "Only those that name this component"),
        ("kind" = Option<IncidentKind>, Query, description = "Only this kind"),
        ("state" = inline(Option<ListedState>), Query, description = "Only drafts, open or resolved ones")),
    responses(
        (status = 200, description = "The incidents", body = IncidentList),
        (status = 422, description = "A query parameter is invalid", body = ErrorBody)))]
async fn list_incidents(
    State(api): State<Api>,
    caller: Authorized<permission::View>,
    Query(mut query): Query,
) -> ApiResult<IncidentList> {
    let limit = query::limit(&mut query);
    let wanted = IncidentQuery {
        // What is not an id is treated like an unknown one.
        page: query
            .optional_text("pageid")
            .map(|text| StatuspageId::parse(&text).unwrap_or(StatuspageId::UNKNOWN)),
        component: query
            .optional_text("componentid")
            .map(|text| ComponentId::parse(&text).unwrap_or(ComponentId::UNKNOWN)),
        kind: query.optional("kind", snapshot::IncidentKind::parse),
        state: query.optional("state", |text| match text {
            "draft" => Ok(wakeful_engine::ListedState::Draft),
            "open" => Ok(wakeful_engine::ListedState::Open),
            "resolved" => Ok(wakeful_engine::ListedState::Resolved),
            _ => Err(Invalid::new("must be one of draft, open, resolved")),
        }),
        before: query::cursor(&mut query, IncidentId::parse),
        limit,
    };
    let wanted = query.finish(Some(wanted))?;
    let page = api.engine().incidents(&caller, &wanted).await?;
    let next = page.next.map(|id| id.to_string());
    Ok(Json(IncidentList {
        success: true,
        incidents: page.items.into_iter().map(IncidentBody::listed).collect(),
        next_cursor: query::next(limit, next),
    }))
}

/// Returns an incident with all its updates.
#[utoipa::path(get, path = "/api/v1/incident/{incidentid}/get", tag = "Status pages",
    params(("incidentid" = String, Path, description = "The id of the incident")),
    responses(
        (status = 200, description = "The incident", body = IncidentWhole),
        (status = 404, description = "The team has no such incident", body = ErrorBody)))]
async fn get_incident(
    State(api): State<Api>,
    caller: Authorized<permission::View>,
    Path(incidentid): Path<String>,
) -> ApiResult<IncidentWhole> {
    let incident = api.engine().incident(&caller, incident_id(&incidentid)?).await?;
    Ok(Json(IncidentWhole { success: true, incident: IncidentBody::of(incident) }))
}

/// Creates an incident or a maintenance, or changes the one with the given `incidentid`.
/// Omitted fields retain their values. A new one is published unless `state` is `draft`. The title,
/// the updates, the postmortem and all translations together have at most 262,144 bytes. A team
/// stores at most 5,000 incidents that people create.
#[utoipa::path(post, path = "/api/v1/incident/save", tag = "Status pages", request_body = SaveIncident,
    responses(
        (status = 200, description = "The incident as saved", body = IncidentAnswer),
        (status = 403, description = "The caller is limited to some monitors", body = ErrorBody),
        (status = 404, description = "The team has no such incident", body = ErrorBody),
        (status = 409, description = "Modified concurrently, or the team has the maximum number of incidents, or of open ones; nothing was saved", body = ErrorBody),
        (status = 429, description = "Too many new incidents in an hour; try again later", body = ErrorBody)))]
async fn save_incident(
    State(api): State<Api>,
    caller: Authorized<permission::Respond>,
    Body(mut fields): Body<Fields>,
) -> ApiResult<IncidentAnswer> {
    let id = fields.optional_text("incidentid").map(|text| incident_id(&text)).transpose()?;
    let now = api.engine().now();
    let defaults = match id {
        Some(_) => IncidentDefaults::default(),
        None => {
            let origin = dto::origin(fields.reread());
            api.engine().incident_defaults(&caller, origin).await?
        }
    };
    let merge = |stored: Option<&Incident>| {
        let mut fields = fields.reread();
        let draft = dto::draft(&mut fields, stored, &defaults, now);
        fields.finish(draft)
    };
    let incident = api.engine().save_incident(&caller, id, merge).await?;
    Ok(Json(IncidentAnswer::of("Incident saved.", incident)))
}

/// Posts an update of an incident, or changes the text of the one with the given `updateid`.
#[utoipa::path(post, path = "/api/v1/incident/{incidentid}/update/save", tag = "Status pages", request_body = SaveIncidentUpdate,
    params(("incidentid" = String, Path, description = "The id of the incident")),
    responses(
        (status = 200, description = "The incident with the update", body = IncidentAnswer),
        (status = 403, description = "The caller is limited to some monitors", body = ErrorBody),
        (status = 404, description = "The team has no such incident or update", body = ErrorBody),
        (status = 409, description = "The incident is closed, was modified concurrently, or has the maximum number of updates", body = ErrorBody)))]
async fn save_update(
    State(api): State<Api>,
    caller: Authorized<permission::Respond>,
    Path(incidentid): Path<String>,
    Body(mut fields): Body<Fields>,
) -> ApiResult<IncidentAnswer> {
    let id = incident_id(&incidentid)?;
    let update = fields.optional_text("updateid").map(|text| update_id(&text)).transpose()?;
    let draft = dto::update(&mut fields, api.engine().now());
    let draft = fields.finish(draft)?;
    let incident = api.engine().save_incident_update(&caller, id, update, draft).await?;
    Ok(Json(IncidentAnswer::of("Saved the update.", incident)))
}

/// Deletes an update of an incident, unless it is the only one.
#[utoipa::path(delete, path = "/api/v1/incident/{incidentid}/update/{updateid}/delete", tag = "Status pages",
    params(
        ("incidentid" = String, Path, description = "The id of the incident"),
        ("updateid" = String, Path, description = "The id of the update")),
    responses(
        (status = 200, description = "Deleted", body = Ack),
        (status = 403, description = "The caller is limited to some monitors", body = ErrorBody),
        (status = 404, description = "The team has no such incident or update", body = ErrorBody),
        (status = 409, description = "It is the only update, or the incident was modified concurrently", body = ErrorBody)))]
async fn delete_update(
    State(api): State<Api>,
    caller: Authorized<permission::Respond>,
    Path((incidentid, updateid)): Path<(String, String)>,
) -> ApiResult<Ack> {
    let (id, update) = (incident_id(&incidentid)?, update_id(&updateid)?);
    api.engine().delete_incident_update(&caller, id, update).await?;
    Ack::with_message("Deleted the update.")
}

/// Shows a draft on its status pages.
#[utoipa::path(post, path = "/api/v1/incident/{incidentid}/publish", tag = "Status pages", request_body = PublishIncident,
    params(("incidentid" = String, Path, description = "The id of the incident")),
    responses(
        (status = 200, description = "Published", body = IncidentAnswer),
        (status = 403, description = "The caller is limited to some monitors", body = ErrorBody),
        (status = 404, description = "The team has no such incident", body = ErrorBody),
        (status = 409, description = "The draft was discarded, or modified concurrently", body = ErrorBody)))]
async fn publish_incident(
    State(api): State<Api>,
    caller: Authorized<permission::Respond>,
    Path(incidentid): Path<String>,
    Body(mut fields): Body<Fields>,
) -> ApiResult<IncidentAnswer> {
    let id = incident_id(&incidentid)?;
    let notify = fields.optional_flag("notify");
    let notify = fields.finish(Some(notify))?.unwrap_or(true);
    let incident = api.engine().publish_incident(&caller, id, notify).await?;
    Ok(Json(IncidentAnswer::of("Incident published.", incident)))
}

/// Saves the postmortem of an incident.
#[utoipa::path(post, path = "/api/v1/incident/{incidentid}/postmortem/save", tag = "Status pages", request_body = SavePostmortem,
    params(("incidentid" = String, Path, description = "The id of the incident")),
    responses(
        (status = 200, description = "The incident with the postmortem", body = IncidentAnswer),
        (status = 403, description = "The caller is limited to some monitors", body = ErrorBody),
        (status = 404, description = "The team has no such incident", body = ErrorBody),
        (status = 409, description = "Modified concurrently", body = ErrorBody)))]
async fn save_postmortem(
    State(api): State<Api>,
    caller: Authorized<permission::Respond>,
    Path(incidentid): Path<String>,
    Body(mut fields): Body<Fields>,
) -> ApiResult<IncidentAnswer> {
    let id = incident_id(&incidentid)?;
    let postmortem = dto::postmortem(&mut fields);
    let draft = fields.finish(postmortem)?;
    let incident = api.engine().save_postmortem(&caller, id, draft).await?;
    Ok(Json(IncidentAnswer::of("Postmortem saved.", incident)))
}

/// Deletes an incident with its updates.
#[utoipa::path(delete, path = "/api/v1/incident/{incidentid}/delete", tag = "Status pages",
    params(("incidentid" = String, Path, description = "The id of the incident")),
    responses(
        (status = 200, description = "Deleted", body = Ack),
        (status = 403, description = "The caller is limited to some monitors", body = ErrorBody),
        (status = 404, description = "The team has no such incident", body = ErrorBody)))]
async fn delete_incident(
    State(api): State<Api>,
    caller: Authorized<permission::Edit>,
    Path(incidentid): Path<String>,
) -> ApiResult<Ack> {
    api.engine().delete_incident(&caller, incident_id(&incidentid)?).await?;
    Ack::with_message("Incident deleted.")
}

/// Lists the team's templates for incidents.
#[utoipa::path(get, path = "/api/v1/incidenttemplates", tag = "Status pages",
    params(
        ("limit" = Option<u32>, Query, minimum = 1, maximum = 1000, description = "Templates per page"),
        ("cursor" = Option<String>, Query, description = "`next_cursor` of the previous page")),
    responses(
        (status = 200, description = "The templates", body = TemplateList),
        (status = 422, description = "A query parameter is invalid", body = ErrorBody)))]
async fn list_templates(
    State(api): State<Api>,
    caller: Authorized<permission::View>,
    query: Query,
) -> ApiResult<TemplateList> {
    let part = ListPage::read(query, IncidentTemplateId::parse)?;
    let templates = api.engine().incident_templates(&caller).await?;
    let (templates, next_cursor) = part.paginate(templates, |one| one.id, |id| id.to_string());
    let incidenttemplates = templates.into_iter().map(TemplateBody::of).collect();
    Ok(Json(TemplateList { success: true, incidenttemplates, next_cursor }))
}

/// Creates a template for incidents, or changes the one with the given `templateid`.
#[utoipa::path(post, path = "/api/v1/incidenttemplate/save", tag = "Status pages", request_body = SaveIncidentTemplate,
    responses(
        (status = 200, description = "The template as saved", body = TemplateAnswer),
        (status = 403, description = "The caller is limited to some monitors", body = ErrorBody),
        (status = 404, description = "The team has no such template", body = ErrorBody),
        (status = 409, description = "Modified concurrently, or the team has the maximum number of templates; nothing was saved", body = ErrorBody)))]
async fn save_template(
    State(api): State<Api>,
    caller: Authorized<permission::Edit>,
    Body(mut fields): Body<Fields>,
) -> ApiResult<TemplateAnswer> {
    let id = fields.optional_text("templateid").map(|text| template_id(&text)).transpose()?;
    let merge = |stored: Option<&IncidentTemplate>| {
        let mut fields = fields.reread();
        let draft = dto::template(&mut fields, stored);
        fields.finish(draft)
    };
    let template = api.engine().save_incident_template(&caller, id, merge).await?;
    let incidenttemplate = TemplateBody::of(template);
    Ok(Json(TemplateAnswer { success: true, message: "Template saved.", incidenttemplate }))
}

/// Deletes a template for incidents.
#[utoipa::path(delete, path = "/api/v1/incidenttemplate/{templateid}/delete", tag = "Status pages",
    params(("templateid" = String, Path, description = "The id of the template")),
    responses(
        (status = 200, description = "Deleted", body = Ack),
        (status = 403, description = "The caller is limited to some monitors", body = ErrorBody),
        (status = 404, description = "The team has no such template", body = ErrorBody)))]
async fn delete_template(
    State(api): State<Api>,
    caller: Authorized<permission::Edit>,
    Path(templateid): Path<String>,
) -> ApiResult<Ack> {
    api.engine().delete_incident_template(&caller, template_id(&templateid)?).await?;
    Ack::with_message("Template deleted.")
}

fn incident_id(text: &str) -> Result<IncidentId, ApiError> {
    path_id::parse(text, "incident", IncidentId::parse)
}

fn update_id(text: &str) -> Result<IncidentUpdateId, ApiError> {
    path_id::parse(text, "update", IncidentUpdateId::parse)
}

fn template_id(text: &str) -> Result<IncidentTemplateId, ApiError> {
    path_id::parse(text, "template", IncidentTemplateId::parse)
}
