//! The links in the emails of subscribers: the confirmation, what to receive, and the end. A link
//! shows a page with a button, so that programs that open links change nothing.

use axum::extract::{FromRequest as _, Path, Request, State};
use axum::http::request::Parts;
use axum::http::{HeaderMap, StatusCode};
use axum::response::{IntoResponse as _, Response};
use wakeful_core::statuspages::Language;
use wakeful_core::statuspages::i18n::fill;
use wakeful_core::statuspages::subscriber::{Subscriber, SubscriberSettings, SubscriberState};
use wakeful_engine::{Confirmed, Error};

use super::access::Admission;
use super::form::Class;
use super::notice::{Notice, invalid_link, notice, on_page, unknown_link};
use super::subscribe_form::{self, is_form, kinds, scope};
use super::view::View;
use super::visit::{Visit, visit};
use crate::app::Api;
use crate::body::FormBody;
use crate::dto::Fields;
use crate::error::ApiError;

fn failed(error: Error) -> Response {
    ApiError::from(error).into_response()
}

// The confirmation.

pub(super) async fn confirm_form(
    State(api): State<Api>,
    Path((slug, token)): Path<(String, String)>,
    request: Request,
) -> Result<Response, Response> {
    let (parts, _) = request.into_parts();
    let visit = visit(&api, &slug, parts).await?;
    let found = api.engine().subscriber_to_confirm(&token).await.map_err(failed)?;
    Ok(match found {
        Some(subscriber) if subscriber.page == visit.page.id => {
            confirmation(&visit, &token, None, StatusCode::OK)
        }
        _ => invalid_link(&visit),
    })
}

fn confirmation(visit: &Visit, token: &str, error: Option<&str>, status: StatusCode) -> Response {
    let context = visit.context(false);
    let v = View::new(&visit.snapshot, context.language, context.base);
    let texts = context.language.subscriptions();
    let (name, action) = (v.name(), v.href(&format!("/confirm/{token}")));
    let text = fill(texts.confirm_text, &[("page", &name)]);
    let button = Some((action.as_str(), texts.confirm));
    let notice = Notice { heading: texts.confirm, text: &text, error, button, ..Notice::default() };
    on_page(visit, notice, status)
}

pub(super) async fn confirm(
    State(api): State<Api>,
    Path((slug, token)): Path<(String, String)>,
    request: Request,
) -> Result<Response, Response> {
    let (parts, _) = request.into_parts();
    let visit = visit(&api, &slug, parts).await?;
    let texts = visit.context(false).language.subscriptions();
    let confirmed = api.engine().confirm_subscriber(&visit.page, &token, visit.client).await;
    Ok(match confirmed.map_err(failed)? {
        Confirmed::Done(None) => notice(&visit, texts.confirm, texts.confirmed),
        Confirmed::Done(Some(secret)) => {
            let text = format!("{} {}", texts.confirmed, texts.secret_once);
            let secret = Some(secret.expose());
            let notice =
                Notice { heading: texts.confirm, text: &text, secret, ..Notice::default() };
            on_page(&visit, notice, StatusCode::OK)
        }
        Confirmed::Refused(answer) => {
            let error = fill(texts.webhook_failed, &[("answer", &answer)]);
            confirmation(&visit, &token, Some(&error), StatusCode::UNPROCESSABLE_ENTITY)
        }
        Confirmed::Invalid => invalid_link(&visit),
    })
}

// What to receive.

/// The page and the subscriber of a link, and whether its parts are not to be shown.
async fn managed(
    api: &Api,
    slug: &str,
    token: &str,
    parts: Parts,
) -> Result<(Box<Visit>, Subscriber, bool), Response> {
    let visit = visit(api, slug, parts).await?;
    let found = api.engine().subscriber_of_token(token).await.map_err(failed)?;
    let subscriber = found
        .and_then(|(_, subscriber)| subscriber)
        .filter(|one| one.page == visit.page.id && one.state != SubscriberState::Unsubscribed);
    let Some(subscriber) = subscriber else { return Err(invalid_link(&visit)) };
    // The parts of a locked page are shown only to visitors who have unlocked it.
    let is_locked = matches!(visit.admission(api, Class::Html).await?, Admission::Locked(_));
    Ok((visit, subscriber, is_locked))
}

pub(super) async fn manage_form(
    State(api): State<Api>,
    Path((slug, token)): Path<(String, String)>,
    request: Request,
) -> Result<Response, Response> {
    let (parts, _) = request.into_parts();
    let (visit, subscriber, is_locked) = managed(&api, &slug, &token, parts).await?;
    Ok(subscribe_form::manage_form(&visit, &token, &subscriber.settings, is_locked, None, None))
}

pub(super) async fn manage(
    State(api): State<Api>,
    Path((slug, token)): Path<(String, String)>,
    request: Request,
) -> Result<Response, Response> {
    let (parts, body) = request.into_parts();
    let is_form = is_form(&parts.headers);
    let (visit, subscriber, is_locked) = managed(&api, &slug, &token, parts.clone()).await?;
    let request = Request::from_parts(parts, body);
    let FormBody(mut fields) =
        FormBody::<Fields>::from_request(request, &api).await.map_err(ApiError::into_response)?;
    let language = fields.optional_text("language");
    let can_choose = visit.snapshot.page.subscribe.choose && !is_locked;
    let settings = SubscriberSettings {
        language: match language.filter(|text| !text.is_empty()) {
            Some(language) => visit.snapshot.language(Some(&language)),
            None => subscriber.settings.language,
        },
        scope: if can_choose {
            scope(&mut fields, &visit.snapshot, is_form)
        } else {
            subscriber.settings.scope.clone()
        },
        kinds: kinds(&mut fields, is_form),
        format: subscriber.settings.format,
    };
    let texts = visit.context(false).language.subscriptions();
    let shown = |notice, wrong| {
        subscribe_form::manage_form(&visit, &token, &settings, is_locked, notice, wrong)
    };
    if settings.kinds.is_empty() {
        return Ok(shown(None, Some(("kinds", texts.choose_one))));
    }
    match api.engine().change_subscription(&subscriber, settings.clone()).await {
        Ok(true) => Ok(shown(Some(texts.saved), None)),
        Ok(false) => Err(invalid_link(&visit)),
        Err(error) => Err(failed(error)),
    }
}

// The end. It also works while the page is locked or not published.

pub(super) async fn unsubscribe_form(
    State(api): State<Api>,
    Path((_, token)): Path<(String, String)>,
    headers: HeaderMap,
) -> Result<Response, Response> {
    let found = api.engine().subscriber_of_token(&token).await.map_err(failed)?;
    let (_, subscriber) = found.ok_or_else(|| unknown_link(&headers))?;
    let is_over = subscriber.as_ref().is_none_or(|one| one.state == SubscriberState::Unsubscribed);
    Ok(ending(&api, subscriber.as_ref(), &token, is_over).await)
}

/// The button, and what mail programs post (RFC 8058). The second time does nothing.
pub(super) async fn unsubscribe(
    State(api): State<Api>,
    Path((_, token)): Path<(String, String)>,
    headers: HeaderMap,
) -> Result<Response, Response> {
    let found = api.engine().subscriber_of_token(&token).await.map_err(failed)?;
    let (id, subscriber) = found.ok_or_else(|| unknown_link(&headers))?;
    api.engine().unsubscribe(id).await.map_err(failed)?;
    Ok(ending(&api, subscriber.as_ref(), &token, true).await)
}

async fn ending(
    api: &Api,
    subscriber: Option<&Subscriber>,
    token: &str,
    is_over: bool,
) -> Response {
    let language = subscriber.map_or(Language::English, |one| one.settings.language);
    let texts = language.subscriptions();
    let page = match subscriber {
        Some(one) => api.engine().page_name(one.page).await.unwrap_or_default(),
        None => None,
    };
    let page = page.unwrap_or_default();
    let text = if is_over {
        texts.unsubscribed.to_owned()
    } else {
        fill(texts.unsubscribe_text, &[("page", &page)])
    };
    let notice = Notice {
        language,
        name: &page,
        heading: texts.unsubscribe,
        text: &text,
        button: (!is_over).then_some((token, texts.unsubscribe)),
        ..Notice::default()
    };
    notice.respond(StatusCode::OK)
}
