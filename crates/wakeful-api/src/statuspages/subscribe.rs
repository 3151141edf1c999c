//! Subscribing to a page, without a script.

use axum::Json;
use axum::extract::{FromRequest as _, Path, Request, State};
use axum::response::{IntoResponse as _, Response};
use serde_json::json;
use wakeful_core::statuspages::Language;
use wakeful_engine::Error;

use super::form::Class;
use super::notice::notice;
use super::respond;
use super::subscribe_form::{Entered, is_form, new_form, read, respond_with};
use super::visit::{Visit, visit};
use crate::app::Api;
use crate::body::FormBody;
use crate::dto::Fields;
use crate::error::ApiError;

/// The page of a visitor who may subscribe to it.
async fn offered(
    api: &Api,
    slug: &str,
    parts: axum::http::request::Parts,
    class: Class,
) -> Result<Box<Visit>, Response> {
    let visit = visit(api, slug, parts).await?;
    visit.admitted(api, class).await?;
    if visit.snapshot.page.subscribe.is_offered() {
        Ok(visit)
    } else {
        Err(respond::not_found(&visit.parts.headers))
    }
}

pub(super) async fn form(
    State(api): State<Api>,
    Path(slug): Path<String>,
    request: Request,
) -> Result<Response, Response> {
    let (parts, _) = request.into_parts();
    let visit = offered(&api, &slug, parts, Class::Html).await?;
    let context = visit.context(false);
    Ok(respond_with(new_form(&visit.snapshot, context, &Entered::default(), None), None))
}

pub(super) async fn subscribe(
    State(api): State<Api>,
    Path(slug): Path<String>,
    request: Request,
) -> Result<Response, Response> {
    post(api, slug, request, Class::Html, |fields| fields).await
}

/// Statuspage's call: the fields of the form within `subscriber`.
pub(super) async fn subscribe_v2(
    State(api): State<Api>,
    Path(slug): Path<String>,
    request: Request,
) -> Result<Response, Response> {
    let inner = |mut fields: Fields| match fields.optional_object("subscriber") {
        Some(inner) => Fields::of(inner).unwrap_or(fields),
        None => fields,
    };
    post(api, slug, request, Class::Data, inner).await
}

async fn post(
    api: Api,
    slug: String,
    request: Request,
    class: Class,
    inner: impl FnOnce(Fields) -> Fields,
) -> Result<Response, Response> {
    let (parts, body) = request.into_parts();
    let is_form = is_form(&parts.headers);
    let class = if is_form { class } else { Class::Data };
    let visit = offered(&api, &slug, parts.clone(), class).await?;
    let request = Request::from_parts(parts, body);
    let FormBody(fields) =
        FormBody::<Fields>::from_request(request, &api).await.map_err(ApiError::into_response)?;
    let mut fields = inner(fields);
    // People do not see this field.
    let is_program = fields.optional_text("website").is_some_and(|text| !text.is_empty());
    let (entered, read) = read(&mut fields, &visit, is_form);
    let texts = entered.settings.language.subscriptions();
    let done = match read {
        Ok(_) if is_program => Ok(()),
        Ok(draft) => match api.engine().subscribe_to_page(&visit.page, draft, visit.client).await {
            Ok(()) => Ok(()),
            // A form does not say how many have subscribed.
            Err(Error::Limited { .. }) if is_form => Ok(()),
            Err(Error::Refused { field: "address", .. }) => Err(("address", texts.invalid_url)),
            Err(error) => return Err(ApiError::from(error).into_response()),
        },
        Err(wrong) => Err(wrong),
    };
    Ok(match done {
        Ok(()) if is_form => notice(&visit, texts.subscribe, texts.check_inbox),
        Ok(()) => {
            let message = Language::English.subscriptions().check_inbox;
            Json(json!({"success": true, "message": message})).into_response()
        }
        Err(wrong) if is_form => {
            let context = visit.context(false);
            let form = new_form(&visit.snapshot, context, &entered, Some(wrong));
            respond_with(form, Some(wrong))
        }
        Err((field, why)) => {
            fields.refuse(field, why);
            match fields.finish(None::<()>) {
                Ok(()) => ApiError::internal().into_response(),
                Err(error) => error.into_response(),
            }
        }
    })
}
