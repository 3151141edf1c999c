//! What subscribers of a status page receive: emails in their language, and messages to webhooks
//! and chats. Everything is taken from what the page shows.

use serde_json::{Map, Value, json};
use std::fmt::Write as _;
use url::Url;
use wakeful_core::id::EventId;
use wakeful_core::monitors::spec::Headers;
use wakeful_core::notifications::notifier::BuiltinTemplate;
use wakeful_core::notifications::retry::Outcome;
use wakeful_core::one_line::one_line;
use wakeful_core::statuspages::Language;
use wakeful_core::statuspages::i18n::{Messages, Subscriptions, fill};
use wakeful_core::statuspages::incident::{Incident, NamedComponent, Update};
use wakeful_core::statuspages::markdown::{escape, to_html, to_text, visible};
use wakeful_core::statuspages::page::{StatusPage, localized};
use wakeful_core::statuspages::snapshot::{Impact, IncidentKind, IncidentStatus};
use wakeful_core::statuspages::subscriber::{EventType, Subscriber, SubscriberKind, WebhookFormat};
use wakeful_core::time::Millis;

use super::signed_post::SignedPost;
use super::template::{self, TemplateContext};
use crate::mail::{Email, MailingList};
use crate::net::Net;

/// The type of the first message to a webhook.
const CONFIRMED: &str = "subscription.confirmed";
const MAX_SUBJECT_LENGTH: usize = 200;
/// How much of an update a chat shows.
const MAX_CHAT_LENGTH: usize = 2_000;

/// An update to report.
#[derive(Clone, Copy)]
pub struct News<'a> {
    pub kind: EventType,
    pub incident: &'a Incident,
    pub update: &'a Update,
    pub at: Millis,
}

impl<'a> News<'a> {
    /// The published postmortem, with its time, if this is about it.
    pub fn postmortem(&self) -> Option<(&'a str, Millis)> {
        let postmortem = self.incident.settings.postmortem.as_ref()?;
        let published = postmortem.published.filter(|_| self.kind == EventType::Postmortem)?;
        Some((&postmortem.body, published))
    }

    /// When it is shown to have been written.
    fn shown_at(&self) -> Millis {
        self.postmortem().map_or(self.update.display_at, |(_, published)| published)
    }

    /// A postmortem is an update of its own, as in Statuspage.
    fn id(&self) -> String {
        match self.postmortem() {
            Some(_) => format!("{}-postmortem", self.incident.id),
            None => self.update.id.to_string(),
        }
    }

    fn status(&self) -> &'static str {
        match self.postmortem() {
            Some(_) => "postmortem",
            None => self.update.status.as_str(),
        }
    }

    /// The type of a message to a webhook.
    fn event(&self) -> &'static str {
        let kind = match (self.kind, self.incident.kind) {
            (EventType::Postmortem, IncidentKind::Incident) => EventType::IncidentUpdated,
            (EventType::Postmortem, IncidentKind::Maintenance) => EventType::MaintenanceUpdated,
            (kind, _) => kind,
        };
        kind.as_str()
    }
}

/// A page and one of its subscribers.
#[derive(Clone, Copy)]
pub struct Subscription<'a> {
    pub page: &'a StatusPage,
    /// The URL of the page.
    pub url: &'a str,
    /// Its status in the words of Statuspage.
    pub indicator: &'a str,
    pub description: &'a str,
    pub subscriber: &'a Subscriber,
    /// The token of the link to choose what to receive.
    pub token: &'a str,
    /// The link that ends the subscription.
    pub unsubscribe: &'a str,
}

impl Subscription<'_> {
    fn language(&self) -> Language {
        self.subscriber.settings.language
    }

    fn messages(&self) -> &'static Messages {
        self.language().messages()
    }

    fn texts(&self) -> &'static Subscriptions {
        self.language().subscriptions()
    }

    fn page_name(&self) -> String {
        let name = localized(&self.page.name, &self.page.settings.texts, "name");
        visible(name.get(self.language()))
    }

    fn manage(&self) -> String {
        format!("{}/manage/{}", self.url, self.token)
    }

    fn link(&self, incident: &Incident) -> String {
        format!("{}/incident/{}", self.url, incident.id)
    }

    fn title(&self, incident: &Incident) -> String {
        let title = localized(&incident.title, &incident.settings.texts, "title");
        visible(title.get(self.language()))
    }

    fn body(&self, update: &Update) -> String {
        let body = localized(&update.body, &update.settings.texts, "body");
        body.get(self.language()).to_owned()
    }

    /// The text of an update, or of the postmortem.
    fn news_body(&self, news: &News<'_>) -> String {
        news.postmortem().map_or_else(|| self.body(news.update), |(body, _)| body.to_owned())
    }

    fn status(&self, news: &News<'_>) -> &'static str {
        let status = news.update.status;
        if news.postmortem().is_some() {
            return self.messages().postmortem;
        }
        if news.incident.settings.cancelled && status == IncidentStatus::Completed {
            return self.messages().cancelled;
        }
        self.messages().incident_status(status)
    }

    fn time(&self, at: Millis) -> String {
        self.messages().time(at, &self.page.zone())
    }

    /// The components of this page that an incident names.
    fn components<'b>(&self, incident: &'b Incident) -> Vec<&'b NamedComponent> {
        let page = self.page.id;
        incident.components.iter().filter(|component| component.page == page).collect()
    }

    fn component_name(&self, component: &NamedComponent) -> String {
        visible(&self.page.component_name(component, self.language()))
    }

    fn affected(&self, incident: &Incident) -> String {
        let named = |component: &&NamedComponent| {
            let status = self.messages().component_status(component.status);
            format!("{} ({status})", self.component_name(component))
        };
        self.components(incident).iter().map(named).collect::<Vec<_>>().join(", ")
    }

    /// When a maintenance takes place.
    fn window(&self, incident: &Incident) -> Option<String> {
        let (from, to) = (incident.settings.scheduled_for?, incident.settings.scheduled_until?);
        let window =
            fill(self.messages().window, &[("from", &self.time(from)), ("to", &self.time(to))]);
        Some(window)
    }
}

// Emails.

/// The addresses of an email, and what identifies it.
#[derive(Clone, Copy)]
pub struct PageEnvelope<'a> {
    pub id: EventId,
    pub in_reply_to: Option<EventId>,
    pub from: &'a str,
    pub to: &'a str,
    pub reply_to: &'a str,
    pub date: Millis,
}

/// The email about one update, or about several that are listed by incident.
pub fn email(
    subscription: &Subscription<'_>,
    envelope: PageEnvelope<'_>,
    news: &[News<'_>],
) -> Email {
    let of = |event: EventId| format!("statuspage-{event}-{}", subscription.subscriber.id);
    let (text, html) = (text(subscription, news), html(subscription, news));
    Email {
        id: of(envelope.id),
        in_reply_to: envelope.in_reply_to.map(of),
        date: envelope.date,
        from: envelope.from.to_owned(),
        to: vec![envelope.to.to_owned()],
        reply_to: (!envelope.reply_to.is_empty()).then(|| envelope.reply_to.to_owned()),
        subject: subject(subscription, news),
        text,
        html: Some(html),
        list: Some(MailingList {
            id: list_id(subscription),
            unsubscribe: subscription.unsubscribe.to_owned(),
        }),
        ..Email::default()
    }
}

/// The name of the sender is that of the page.
pub fn sender(page: &str, address: &str) -> String {
    let address = match address.strip_suffix('>').and_then(|rest| rest.rsplit_once('<')) {
        Some((_, address)) => address,
        None => address,
    };
    // Quotes would end the name.
    let name = one_line(&visible(page), 100).replace(['"', '<', '>', '\\'], " ");
    format!("\"{}\" <{address}>", name.trim())
}

/// Like a host name: that of the page, with the page in front of it on the app's host.
fn list_id(subscription: &Subscription<'_>) -> String {
    let host = Url::parse(subscription.url).ok();
    let host = host.as_ref().and_then(Url::host_str).unwrap_or("localhost");
    format!("{}.{host}", subscription.page.slug)
}

fn subject(subscription: &Subscription<'_>, news: &[News<'_>]) -> String {
    let page = subscription.page_name();
    let incidents = by_incident(news);
    let about = match (&incidents[..], news.last()) {
        ([_], Some(last)) => {
            let status = subscription.status(last);
            format!("{}: {status}", subscription.title(last.incident))
        }
        _ => fill(subscription.texts().several_updates, &[("count", &news.len().to_string())]),
    };
    let line = one_line(&format!("[{page}] {about}"), MAX_SUBJECT_LENGTH);
    line.split_whitespace().collect::<Vec<_>>().join(" ")
}

/// The updates of each incident together, in the order of the first of each.
fn by_incident<'a, 'b>(news: &'a [News<'b>]) -> Vec<Vec<&'a News<'b>>> {
    let mut incidents: Vec<Vec<&News<'_>>> = Vec::new();
    for one in news {
        match incidents.iter_mut().find(|other| other[0].incident.id == one.incident.id) {
            Some(known) => known.push(one),
            None => incidents.push(vec![one]),
        }
    }
    incidents
}

fn text(subscription: &Subscription<'_>, news: &[News<'_>]) -> String {
    let (m, s) = (subscription.messages(), subscription.texts());
    let mut text = String::new();
    for incident in by_incident(news) {
        let of = incident[0].incident;
        let _ = writeln!(text, "{}\n", subscription.title(of));
        for one in incident {
            let status = subscription.status(one);
            let _ = writeln!(text, "{status}, {}", subscription.time(one.shown_at()));
            if one.kind == EventType::MaintenanceReminder
                && let Some(start) = of.settings.scheduled_for
            {
                let _ =
                    writeln!(text, "{}", fill(s.begins_at, &[("time", &subscription.time(start))]));
            }
            let _ = writeln!(text, "\n{}\n", to_text(&subscription.news_body(one)));
        }
        if let Some(window) = subscription.window(of) {
            let _ = writeln!(text, "{}: {window}", m.maintenance);
        }
        let affected = subscription.affected(of);
        if !affected.is_empty() {
            let _ = writeln!(text, "{}: {affected}", m.affected);
        }
        let _ = writeln!(text, "{}: {}\n", s.details, subscription.link(of));
    }
    let why = fill(s.why, &[("page", &subscription.page_name())]);
    let _ = write!(
        text,
        "-- \n{why}\n{}: {}\n{}: {}\n",
        s.choose,
        subscription.manage(),
        s.unsubscribe,
        subscription.unsubscribe
    );
    text
}

fn html(subscription: &Subscription<'_>, news: &[News<'_>]) -> String {
    let (m, s) = (subscription.messages(), subscription.texts());
    let (language, page) = (subscription.language(), escape(&subscription.page_name()));
    let mut html = format!(
        "<!doctype html>\n<html lang=\"{language}\" dir=\"{}\">\n<head>\n<meta charset=\"utf-8\">\n\
         <meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n\
         <meta name=\"color-scheme\" content=\"light dark\">\n<title>{page}</title>\n</head>\n\
         <body style=\"margin:0;padding:24px 16px;font-family:-apple-system,'Segoe UI',Roboto,\
         Helvetica,Arial,sans-serif;font-size:15px;line-height:1.5\">\n\
         <div style=\"max-width:560px;margin:0 auto\">\n\
         <p style=\"font-weight:700\"><a href=\"{}\">{page}</a></p>\n",
        language.direction(),
        escape(subscription.url),
    );
    for incident in by_incident(news) {
        let of = incident[0].incident;
        let color = color(of);
        let _ = writeln!(
            html,
            "<h1 style=\"margin:24px 0 8px;padding-top:12px;border-top:4px solid {color};\
             font-size:20px;line-height:1.3\">{}</h1>",
            escape(&subscription.title(of))
        );
        for one in incident {
            let status = subscription.status(one);
            let time = escape(&subscription.time(one.shown_at()));
            let _ = writeln!(html, "<p><strong>{}</strong> {time}</p>", escape(status));
            if one.kind == EventType::MaintenanceReminder
                && let Some(start) = of.settings.scheduled_for
            {
                let begins = fill(s.begins_at, &[("time", &subscription.time(start))]);
                let _ = writeln!(html, "<p>{}</p>", escape(&begins));
            }
            let _ = writeln!(html, "<div>{}</div>", to_html(&subscription.news_body(one)));
        }
        if let Some(window) = subscription.window(of) {
            let _ = writeln!(html, "<p>{}: {}</p>", escape(m.maintenance), escape(&window));
        }
        let affected = subscription.affected(of);
        if !affected.is_empty() {
            let _ = writeln!(html, "<p>{}: {}</p>", escape(m.affected), escape(&affected));
        }
        let link = escape(&subscription.link(of));
        let _ = writeln!(html, "<p><a href=\"{link}\">{}</a></p>", escape(s.details));
    }
    let _ = write!(
        html,
        "<p style=\"margin-top:32px;font-size:13px\">{}<br>\n<a href=\"{}\">{}</a> · \
         <a href=\"{}\">{}</a></p>\n</div>\n</body>\n</html>\n",
        escape(&fill(s.why, &[("page", &subscription.page_name())])),
        escape(&subscription.manage()),
        escape(s.choose),
        escape(subscription.unsubscribe),
        escape(s.unsubscribe),
    );
    html
}

/// Of the impact, or green when it is over.
fn color(incident: &Incident) -> &'static str {
    match incident.impact {
        _ if incident.status.is_final() => "#2f8f0a",
        Impact::Critical | Impact::Major => "#c2290a",
        Impact::Minor => "#b77900",
        Impact::Maintenance => "#1f6fb5",
        Impact::None => "#5b6b7b",
    }
}

// Webhooks and chats.

/// Sends an update to a webhook or a chat.
pub async fn post(
    net: &Net,
    subscription: &Subscription<'_>,
    id: EventId,
    news: &News<'_>,
    now: Millis,
) -> Outcome {
    let id = format!("{id}-{}", subscription.subscriber.id);
    match body(subscription, news) {
        Ok(body) => send(net, subscription.subscriber, id, body, now).await,
        Err(why) => Outcome::Refused(why),
    }
}

/// Sends the first message to a webhook or a chat, which it must accept.
pub async fn post_confirmation(
    net: &Net,
    subscription: &Subscription<'_>,
    id: EventId,
    now: Millis,
) -> Outcome {
    let text = subscription.texts().confirmed;
    let text = format!("{}: {text}", subscription.page_name());
    let id = format!("{id}-{}", subscription.subscriber.id);
    let body = match chat(subscription.subscriber.kind) {
        Some(template) => {
            let fields = chat_fields(CONFIRMED, &text, "", subscription.url, "#2f8f0a", now);
            template::render_for_receiver(template, &TemplateContext::of_fields(fields))
                .map_err(|why| why.0)
        }
        None => Ok(json!({
            "type": CONFIRMED,
            "timestamp": now.to_string(),
            "text": text,
            "data": {"page": page(subscription), "unsubscribe": subscription.unsubscribe},
        })
        .to_string()),
    };
    match body {
        Ok(body) => send(net, subscription.subscriber, id, body, now).await,
        Err(why) => Outcome::Refused(why),
    }
}

async fn send(
    net: &Net,
    subscriber: &Subscriber,
    id: String,
    body: String,
    now: Millis,
) -> Outcome {
    let Ok(url) = Url::parse(&subscriber.recipient.address) else {
        return Outcome::Refused("the URL is not valid".to_owned());
    };
    let secrets = subscriber.secret.iter().collect();
    let post = SignedPost { url, headers: &Headers::default(), id, body, secrets };
    match post.prepare(now) {
        Ok(post) => post.send(net, now).await,
        Err(why) => Outcome::Refused(why),
    }
}

fn chat(kind: SubscriberKind) -> Option<BuiltinTemplate> {
    match kind {
        SubscriberKind::Slack => Some(BuiltinTemplate::Slack),
        SubscriberKind::Discord => Some(BuiltinTemplate::Discord),
        SubscriberKind::Teams => Some(BuiltinTemplate::Teams),
        SubscriberKind::Email | SubscriberKind::Webhook => None,
    }
}

fn body(subscription: &Subscription<'_>, news: &News<'_>) -> Result<String, String> {
    let settings = &subscription.subscriber.settings;
    if let Some(template) = chat(subscription.subscriber.kind) {
        let message = to_text(&subscription.news_body(news));
        let message: String = message.chars().take(MAX_CHAT_LENGTH).collect();
        let link = subscription.link(news.incident);
        let title = headline(subscription, news);
        let color = color(news.incident);
        let fields = chat_fields(news.event(), &title, &message, &link, color, news.at);
        let context = TemplateContext::of_fields(fields);
        return template::render_for_receiver(template, &context).map_err(|why| why.0);
    }
    Ok(match settings.format {
        WebhookFormat::Standard => standard(subscription, news),
        WebhookFormat::Statuspage => statuspage(subscription, news),
    }
    .to_string())
}

fn headline(subscription: &Subscription<'_>, news: &News<'_>) -> String {
    let status = subscription.status(news);
    let title = subscription.title(news.incident);
    format!("{}: {title} ({status})", subscription.page_name())
}

/// The variables of the templates for chats.
fn chat_fields(
    kind: &str,
    title: &str,
    message: &str,
    link: &str,
    color: &str,
    at: Millis,
) -> Map<String, Value> {
    let number = u32::from_str_radix(color.trim_start_matches('#'), 16).unwrap_or(0);
    let emoji = match color {
        "#2f8f0a" => "✅",
        "#c2290a" => "🔴",
        "#b77900" => "⚠️",
        "#1f6fb5" => "🔧",
        _ => "🔔",
    };
    let fields = json!({
        "type": kind,
        "title": title,
        "text": title,
        "message": message,
        "emoji": emoji,
        "color": color,
        "color_number": number,
        "timestamp": at.to_string(),
        "link": link,
    });
    fields.as_object().cloned().unwrap_or_default()
}

fn page(subscription: &Subscription<'_>) -> Value {
    json!({
        "id": subscription.page.id,
        "name": subscription.page_name(),
        "url": subscription.url,
    })
}

fn standard(subscription: &Subscription<'_>, news: &News<'_>) -> Value {
    let incident = news.incident;
    let time = |at: Option<Millis>| at.map(|at| at.to_string());
    let components: Vec<Value> = subscription
        .components(incident)
        .iter()
        .map(|one| {
            let name = subscription.component_name(one);
            json!({"id": one.id, "name": name, "status": one.status.as_str()})
        })
        .collect();
    json!({
        "type": news.event(),
        "timestamp": news.at.to_string(),
        "text": headline(subscription, news),
        "data": {
            "page": page(subscription),
            "incident": {
                "id": incident.id,
                "kind": incident.kind.as_str(),
                "title": subscription.title(incident),
                "status": incident.status.as_str(),
                "impact": incident.impact.as_str(),
                "url": subscription.link(incident),
                "started": incident.started.to_string(),
                "resolved": time(incident.resolved),
                "scheduled_for": time(incident.settings.scheduled_for),
                "scheduled_until": time(incident.settings.scheduled_until),
            },
            "update": {
                "id": news.id(),
                "status": news.status(),
                "body": to_text(&subscription.news_body(news)),
                "display_at": news.shown_at().to_string(),
            },
            "components": components,
            "unsubscribe": subscription.unsubscribe,
        },
    })
}

/// The format of Statuspage, with the names of its fields.
fn statuspage(subscription: &Subscription<'_>, news: &News<'_>) -> Value {
    let incident = news.incident;
    let time = |at: Option<Millis>| at.map(|at| at.to_string());
    let mut updates: Vec<Value> = incident
        .updates
        .iter()
        .map(|update| {
            json!({
                "id": update.id,
                "incident_id": incident.id,
                "status": update.status.as_str(),
                "body": to_text(&subscription.body(update)),
                "created_at": update.created.to_string(),
                "updated_at": update.edited.unwrap_or(update.created).to_string(),
                "display_at": update.display_at.to_string(),
            })
        })
        .collect();
    if let Some((body, published)) = news.postmortem() {
        let published = published.to_string();
        let postmortem = json!({
            "id": news.id(),
            "incident_id": incident.id,
            "status": news.status(),
            "body": to_text(body),
            "created_at": published,
            "updated_at": published,
            "display_at": published,
        });
        updates.insert(0, postmortem);
    }
    let monitoring =
        incident.updates.iter().rev().find(|one| one.status == IncidentStatus::Monitoring);
    json!({
        "meta": {
            "unsubscribe": subscription.unsubscribe,
            "generated_at": news.at.to_string(),
        },
        "page": {
            "id": subscription.page.id,
            "status_indicator": subscription.indicator,
            "status_description": subscription.description,
        },
        "incident": {
            "id": incident.id,
            "name": subscription.title(incident),
            "status": incident.status.as_str(),
            "impact": incident.impact.as_str(),
            "impact_override": incident.settings.impact_override.map(wakeful_core::statuspages::snapshot::Impact::as_str),
            "backfilled": incident.settings.backfilled,
            "shortlink": subscription.link(incident),
            "created_at": incident.created.to_string(),
            "updated_at": incident.modified.to_string(),
            "started_at": incident.started.to_string(),
            "monitoring_at": time(monitoring.map(|one| one.display_at)),
            "resolved_at": time(incident.resolved),
            "scheduled_for": time(incident.settings.scheduled_for),
            "scheduled_until": time(incident.settings.scheduled_until),
            "incident_updates": updates,
        },
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_sender_has_the_name_of_the_page_and_nothing_else() {
        let of = |page: &str| sender(page, "Wakeful <mail@example.com>");
        assert_eq!(of("Acme"), "\"Acme\" <mail@example.com>");
        assert_eq!(of("A\"<x@y.z>\r\nBcc: q"), "\"A  x@y.z  Bcc: q\" <mail@example.com>");
        assert_eq!(sender("Acme", "mail@example.com"), "\"Acme\" <mail@example.com>");
    }
}
