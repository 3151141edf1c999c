//! Logging in to a locked page, and out.

use axum::extract::{FromRequest as _, Path, Request, State};
use axum::http::StatusCode;
use axum::response::{IntoResponse as _, Response};
use wakeful_core::secret::Secret;
use wakeful_core::statuspages::page::Access;
use wakeful_engine::Error;

use super::access::Admission;
use super::form::Class;
use super::render::Way;
use super::respond;
use super::visit::visit;
use crate::app::Api;
use crate::body::FormBody;
use crate::dto::{Fields, FromFields};
use crate::error::ApiError;

/// Longer ones are not stored.
const MAX_PASSWORD: usize = 256;

/// The password that a visitor enters.
pub(super) struct Entered {
    password: Secret,
}

impl FromFields for Entered {
    fn read(fields: &mut Fields) -> Option<Self> {
        let password = fields.short_text("password", MAX_PASSWORD)?;
        Some(Self { password: Secret::new(password) })
    }
}

pub(super) async fn login_form(
    State(api): State<Api>,
    Path(slug): Path<String>,
    request: Request,
) -> Result<Response, Response> {
    let (parts, _) = request.into_parts();
    let visit = visit(&api, &slug, parts).await?;
    Ok(match visit.admission(&api, Class::Html).await? {
        Admission::Locked(way) => visit.login(StatusCode::OK, way, None),
        Admission::ByToken => visit.unlock(&api, visit.path()),
        Admission::Open | Admission::Unlocked => {
            respond::redirect(StatusCode::SEE_OTHER, visit.home())
        }
    })
}

pub(super) async fn log_in(
    State(api): State<Api>,
    Path(slug): Path<String>,
    request: Request,
) -> Result<Response, Response> {
    let (parts, body) = request.into_parts();
    let visit = visit(&api, &slug, parts.clone()).await?;
    if visit.page.access != Access::Password {
        return Err(respond::not_found(&visit.parts.headers));
    }
    let request = Request::from_parts(parts, body);
    let FormBody(Entered { password }) =
        FormBody::from_request(request, &api).await.map_err(ApiError::into_response)?;
    let tried = api.engine().try_statuspage_password(&visit.page, &password, visit.client).await;
    let m = visit.messages();
    match tried {
        Ok(true) => Ok(visit.unlock(&api, visit.home())),
        Ok(false) => {
            Ok(visit.login(StatusCode::UNAUTHORIZED, Way::Password, Some(m.wrong_password)))
        }
        Err(Error::Limited { .. }) => {
            let status = StatusCode::TOO_MANY_REQUESTS;
            Ok(visit.login(status, Way::Password, Some(m.too_many_attempts)))
        }
        Err(error) => Err(ApiError::from(error).into_response()),
    }
}

pub(super) async fn log_out(
    State(api): State<Api>,
    Path(slug): Path<String>,
    request: Request,
) -> Result<Response, Response> {
    let (parts, _) = request.into_parts();
    let visit = visit(&api, &slug, parts).await?;
    let mut response = respond::redirect(StatusCode::SEE_OTHER, visit.home());
    visit.set_cookie(&api, &mut response, None);
    Ok(response)
}
