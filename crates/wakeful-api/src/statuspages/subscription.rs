//! The links in the emails of subscribers: the confirmation, what to receive, and the end. A link
//! shows a page with a button, so that programs that open links change nothing.

use askama::Template as _;
use axum::extract::{FromRequest as _, Path, Request, State};
use axum::http::request::Parts;
use axum::http::{HeaderMap, StatusCode};
use axum::response::{IntoResponse as _, Response};
use wakeful_core::notifications::notifier::SigningSecret;
use wakeful_core::statuspages::Language;
use wakeful_core::statuspages::i18n::fill;
use wakeful_core::statuspages::snapshot::Snapshot;
use wakeful_core::statuspages::subscriber::{Subscriber, SubscriberSettings, SubscriberState};
use wakeful_engine::{Confirmed, Error};

use super::access::Admission;
use super::form::Class;
use super::notice::{Notice, invalid_link, on_page, unknown_link};
use super::render::Context;
use super::respond;
use super::subscribe_form::{self, is_form, kinds, scope};
use super::view::View;
use super::visit::{Visit, visit};
use crate::app::Api;
use crate::body::FormBody;
use crate::client_ip;
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
    let client = client_ip::of(&parts, &api);
    let visit = visit(&api, &slug, parts).await?;
    let turn = api.engine().lookup_turn(client).await.map_err(failed)?;
    let found = api.engine().subscriber_to_confirm(&token).await.map_err(failed)?;
    drop(turn);
    Ok(match found {
        Some(subscriber) if subscriber.page == visit.page.id => {
            let context = visit.context(false);
            respond::form(StatusCode::OK, confirmation(&visit.snapshot, context, &token, None))
        }
        _ => invalid_link(&visit),
    })
}

/// The button that confirms.
pub(super) fn confirmation(
    snapshot: &Snapshot,
    context: Context<'_>,
    token: &str,
    error: Option<&str>,
) -> String {
    let v = View::new(snapshot, context.language, context.base);
    let texts = context.language.subscriptions();
    let (name, action) = (v.name(), v.href(&format!("/confirm/{token}")));
    let text = fill(texts.confirm_text, &[("page", &name)]);
    let button = Some((action.as_str(), texts.confirm));
    let notice = Notice { heading: texts.confirm, text: &text, error, button, ..Notice::default() };
    on_page(snapshot, context, notice)
}

/// After it, with the secret of a webhook.
pub(super) fn confirmed(snapshot: &Snapshot, context: Context<'_>, secret: Option<&str>) -> String {
    let texts = context.language.subscriptions();
    let text = match secret {
        None => texts.confirmed.to_owned(),
        Some(_) => format!("{} {}", texts.confirmed, texts.secret_once),
    };
    let notice = Notice { heading: texts.confirm, text: &text, secret, ..Notice::default() };
    on_page(snapshot, context, notice)
}

pub(super) async fn confirm(
    State(api): State<Api>,
    Path((slug, token)): Path<(String, String)>,
    request: Request,
) -> Result<Response, Response> {
    let (parts, _) = request.into_parts();
    let visit = visit(&api, &slug, parts).await?;
    let (snapshot, context) = (&visit.snapshot, visit.context(false));
    let done = api.engine().confirm_subscriber(&visit.page, &token, visit.client).await;
    Ok(match done.map_err(failed)? {
        Confirmed::Done(secret) => {
            let secret = secret.as_ref().map(SigningSecret::expose);
            respond::form(StatusCode::OK, confirmed(snapshot, context, secret))
        }
        Confirmed::Refused(answer) => {
            let texts = context.language.subscriptions();
            let error = fill(texts.webhook_failed, &[("answer", &answer)]);
            let form = confirmation(snapshot, context, &token, Some(&error));
            respond::form(StatusCode::UNPROCESSABLE_ENTITY, form)
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
    let (snapshot, context, settings) =
        (&visit.snapshot, visit.context(false), &subscriber.settings);
    let form =
        subscribe_form::manage_form(snapshot, context, &token, settings, is_locked, None, None);
    Ok(subscribe_form::respond_with(form, None))
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
    let context = visit.context(false);
    let texts = context.language.subscriptions();
    let shown = |notice, wrong| {
        let form = subscribe_form::manage_form(
            &visit.snapshot,
            context,
            &token,
            &settings,
            is_locked,
            notice,
            wrong,
        );
        subscribe_form::respond_with(form, wrong)
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
    let page = match subscriber {
        Some(one) => api.engine().page_name(one.page).await.unwrap_or_default(),
        None => None,
    };
    let button = (!is_over).then_some(token);
    respond::form(StatusCode::OK, end(language, &page.unwrap_or_default(), button))
}

/// The button that unsubscribes, or what is shown after it.
pub(super) fn end(language: Language, page: &str, token: Option<&str>) -> String {
    let texts = language.subscriptions();
    let text = match token {
        None => texts.unsubscribed.to_owned(),
        Some(_) => fill(texts.unsubscribe_text, &[("page", page)]),
    };
    let notice = Notice {
        language,
        name: page,
        heading: texts.unsubscribe,
        text: &text,
        button: token.map(|token| (token, texts.unsubscribe)),
        ..Notice::default()
    };
    notice.render().unwrap_or_default()
}
