//! Action links: what the recipient of a message can do with its alert without a login. A link
//! that was sent to a user acts for that user; one that was sent to a channel asks for a name.

use std::net::IpAddr;
use std::time::Duration;
use wakeful_core::access::{Permission, TeamAccess};
use wakeful_core::action_link::{ActionLink, LinkAction, MAX_SNOOZE, Subject, VALID_AFTER_END};
use wakeful_core::alerting::order::{Action, Author, Order};
use wakeful_core::id::{AlertId, MonitorFilterId, NotifierId, TeamId};
use wakeful_core::notifications::event::{self, Event};
use wakeful_core::notifications::notifier::{Kind, Notifier};
use wakeful_store::AuditContext;

use super::alerts::Acting;
use crate::accounts::auth::Origin;
use crate::caller::{audit_of_link, audit_of_person};
use crate::{Engine, Error, ListedAlert, Result};

/// What is done through a link.
#[derive(Clone, Debug)]
pub struct LinkOrder {
    pub action: LinkAction,
    /// For how long to snooze.
    pub seconds: Option<u64>,
    /// The comment.
    pub text: String,
    /// Who acts, if the link was sent to a channel.
    pub name: String,
}

/// An alert as its link shows it.
#[derive(Clone, Debug)]
pub struct LinkedAlert {
    pub alert: ListedAlert,
    /// The person that the link was sent to; `None` for a channel, which asks for a name.
    pub person: Option<String>,
}

/// A link that works.
struct OpenedLink {
    team: TeamId,
    /// What its holder can access now.
    access: TeamAccess,
    alert: AlertId,
    holder: Holder,
}

/// In place of a token, in previews.
const SAMPLE_TOKEN: &str = "wkt_sample";

/// Whether its reader can do something about its alert.
fn is_actionable(event: &Event) -> bool {
    let opens = event::OPENING_TYPES.iter().any(|kind| event.is(kind));
    opens || [event::REMINDER, event::ASSIGNED, event::ESCALATED].iter().any(|kind| event.is(kind))
}

/// The recipient of a link.
enum Holder {
    Person { user: wakeful_core::id::UserId, name: String, email: String },
    Channel { notifier: NotifierId, name: String, kind: Kind },
}

impl Engine {
    /// The event with the link to its page, and those to act on its alert if there is anything to
    /// do.
    pub(crate) fn with_links(&self, event: Event, notifier: &Notifier) -> Event {
        let token = self.action_token(&event, notifier);
        self.with_token(event, token.as_deref())
    }

    /// A sample event with the links that a real one would have.
    pub(crate) fn with_sample_links(&self, event: Event) -> Event {
        let token = is_actionable(&event).then_some(SAMPLE_TOKEN);
        self.with_token(event, token)
    }

    fn with_token(&self, mut event: Event, token: Option<&str>) -> Event {
        event.data.link = Some(self.details_url(&event));
        if let Some(token) = token {
            let url = self.public_url();
            event.data.action_url = Some(format!("{url}/api/action/{token}"));
            event.data.action_page = Some(format!("{url}/a/{token}"));
        }
        event
    }

    fn action_token(&self, event: &Event, notifier: &Notifier) -> Option<String> {
        if !is_actionable(event) {
            return None;
        }
        let alert = event.data.alertid?;
        let subject = notifier.user().map_or(Subject::Notifier(notifier.id), Subject::User);
        Some(self.store().action_token(&ActionLink { alert, subject }))
    }

    /// The alert of an action link.
    pub async fn linked_alert(&self, token: &str, from: IpAddr) -> Result<LinkedAlert> {
        let link = self.open_link(token, from).await?;
        self.show_link(link).await
    }

    /// Acts through an action link.
    pub async fn act_by_link(
        &self,
        token: &str,
        order: LinkOrder,
        origin: &Origin,
    ) -> Result<LinkedAlert> {
        let link = self.open_link(token, origin.address).await?;
        self.count_attempt(&self.action_link_limit(token)).await?;
        let LinkOrder { action, seconds, text, name } = order;
        let by = link.author(&name);
        if by.name.is_empty() {
            return Err(Error::Refused { field: "name", why: "is required".to_owned() });
        }
        let now = self.now();
        let action = match action {
            LinkAction::Acknowledge => Action::Acknowledge { comment: text },
            LinkAction::Resolve => Action::Resolve { comment: text },
            LinkAction::Comment => Action::Comment(text),
            LinkAction::Snooze => {
                let span = Duration::from_secs(seconds.unwrap_or(0)).min(MAX_SNOOZE);
                Action::Snooze { until: now.after(span), comment: text }
            }
        };
        let audit = link.audit(origin, now);
        let acting = Acting { access: &link.access, audit: &audit, mails: &[] };
        self.act_on_one(&acting, link.alert, &Order { by, action }).await?;
        self.show_link(link).await
    }

    /// Acknowledges the alert of an emergency that was acknowledged in Pushover. The key of the
    /// user who did is a secret of theirs.
    pub async fn acknowledge_by_pushover(&self, token: &str, origin: &Origin) -> Result<()> {
        self.act_for_service(token, Kind::Pushover, true, origin).await.map(drop)
    }

    /// Acknowledges the alert of a call, if the right key was pressed. Returns whether it was.
    pub async fn act_by_call(&self, token: &str, pressed: bool, origin: &Origin) -> Result<bool> {
        self.act_for_service(token, Kind::Twilio, pressed, origin).await
    }

    /// Acknowledges an alert as the service reports that a message was sent to.
    async fn act_for_service(
        &self,
        token: &str,
        service: Kind,
        acknowledges: bool,
        origin: &Origin,
    ) -> Result<bool> {
        let link = self.open_link(token, origin.address).await?;
        let by = match &link.holder {
            Holder::Channel { name, kind, .. } if *kind == service => {
                Author { user: None, name: name.clone(), via: service.to_string() }
            }
            // It was sent by a personal notifier of theirs.
            Holder::Person { .. } => Author { via: service.to_string(), ..link.author("") },
            _ => return Err(Error::NotFound("alert")),
        };
        self.count_attempt(&self.action_link_limit(token)).await?;
        if acknowledges {
            let action = Action::Acknowledge { comment: String::new() };
            let audit = link.audit(origin, self.now());
            let acting = Acting { access: &link.access, audit: &audit, mails: &[] };
            self.act_on_one(&acting, link.alert, &Order { by, action }).await?;
        }
        Ok(acknowledges)
    }

    /// Acknowledges an alert as the response of a webhook requests.
    pub(crate) async fn acknowledge_by_webhook(
        &self,
        notifier: &Notifier,
        alert: AlertId,
        by: &str,
        comment: &str,
    ) -> Result<()> {
        let name = if by.is_empty() { notifier.name.as_str() } else { by };
        let by = Author { user: None, name: name.to_owned(), via: "webhook".to_owned() };
        let action = Action::Acknowledge { comment: comment.to_owned() };
        let audit = audit_of_link(notifier.team, notifier.id, name, None, self.now());
        let access = whole(notifier.team);
        let acting = Acting { access: &access, audit: &audit, mails: &[] };
        self.act_on_one(&acting, alert, &Order { by, action }).await
    }

    /// The link of a token, unless it is invalid, its alert ended more than a week ago, or its
    /// holder is suspended, is no longer in the team or has no access to the monitor.
    async fn open_link(&self, token: &str, from: IpAddr) -> Result<OpenedLink> {
        let limits = self.invalid_action_link_limits(from);
        self.check_limit(&limits).await?;
        match self.try_open_link(token).await? {
            Some(link) => Ok(link),
            None => {
                self.count_attempts(&limits).await?;
                Err(Error::NotFound("alert"))
            }
        }
    }

    async fn try_open_link(&self, token: &str) -> Result<Option<OpenedLink>> {
        let Some(ActionLink { alert, subject }) = self.store().action_link(token) else {
            return Ok(None);
        };
        let Some(found) = self.store().alerts_to_decide(&[alert]).await?.pop() else {
            return Ok(None);
        };
        let now = self.now();
        if found.facts.ended.is_some_and(|ended| now.since(ended) > VALID_AFTER_END) {
            return Ok(None);
        }
        let team = found.team;
        let mut access = whole(team);
        let holder = match subject {
            Subject::User(user) => {
                // Neither the member nor the account may be suspended.
                let active = self.account_spec(team, user).await?.is_some();
                let members = self.store().team(&whole(team)).members().await?;
                let responds = |role: wakeful_core::access::Role| {
                    role.permissions().contains(Permission::Respond)
                };
                let member = members
                    .into_iter()
                    .find(|one| active && one.user == user && responds(one.role));
                member.map(|member| {
                    access = limited(team, member.filter);
                    let name =
                        if member.name.is_empty() { member.email.clone() } else { member.name };
                    Holder::Person { user, name, email: member.email }
                })
            }
            Subject::Notifier(id) => {
                let mut notifiers = self.store().notifiers_by_id(&[id]).await?;
                let notifier = notifiers.remove(&id).filter(|notifier| notifier.team == team);
                notifier.map(|notifier| Holder::Channel {
                    notifier: id,
                    name: notifier.name.to_string(),
                    kind: notifier.channel.kind(),
                })
            }
        };
        let Some(holder) = holder else { return Ok(None) };
        let is_visible =
            access.filter().is_none() || self.store().team(&access).alert(alert).await?.is_some();
        Ok(is_visible.then_some(OpenedLink { team, access, alert, holder }))
    }

    async fn show_link(&self, link: OpenedLink) -> Result<LinkedAlert> {
        let alert = self.store().team(&link.access).alert(link.alert).await?;
        let alert = alert.ok_or(Error::NotFound("alert"))?;
        let person = match link.holder {
            Holder::Person { name, .. } => Some(name),
            Holder::Channel { .. } => None,
        };
        Ok(LinkedAlert { alert, person })
    }
}

impl OpenedLink {
    /// Who acts; `name` is what a reader of the channel has entered.
    fn author(&self, name: &str) -> Author {
        let via = "link".to_owned();
        match &self.holder {
            Holder::Person { user, name, .. } => {
                Author { user: Some(*user), name: name.clone(), via }
            }
            // A button in the message acts without asking anything.
            Holder::Channel { name: channel, kind: Kind::Ntfy, .. } if name.trim().is_empty() => {
                Author { user: None, name: channel.clone(), via: Kind::Ntfy.to_string() }
            }
            Holder::Channel { .. } => Author { user: None, name: name.trim().to_owned(), via },
        }
    }

    /// The owner of the link is the actor.
    fn audit(&self, origin: &Origin, now: wakeful_core::time::Millis) -> AuditContext {
        match &self.holder {
            Holder::Person { user, email, .. } => {
                audit_of_person(self.team, *user, email, origin, now)
            }
            Holder::Channel { notifier, name, .. } => {
                audit_of_link(self.team, *notifier, name, Some(origin), now)
            }
        }
    }
}

#[expect(clippy::disallowed_methods, reason = "a link carries its own permission, for one alert")]
fn whole(team: TeamId) -> TeamAccess {
    TeamAccess::whole(team)
}

#[expect(
    clippy::disallowed_methods,
    reason = "for what the person sees that a link was sent to, or an alert is assigned to"
)]
pub(super) fn limited(team: TeamId, filter: Option<MonitorFilterId>) -> TeamAccess {
    TeamAccess::of_caller(team, filter)
}
