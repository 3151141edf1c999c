//! Operations on subscribers: those of a team on its pages, and those of visitors, who confirm by
//! a link in an email.

use std::net::IpAddr;
use std::sync::Arc;
use wakeful_core::access::permission;
use wakeful_core::email_address;
use wakeful_core::error_chain::ErrorChain;
use wakeful_core::id::{
    ComponentId, EventId, IncidentId, IncidentUpdateId, SectionId, StatuspageId, SubscriberId,
};
use wakeful_core::monitors::url::HttpUrl;
use wakeful_core::notifications::notifier::SigningSecret;
use wakeful_core::notifications::retry::Outcome;
use wakeful_core::statuspages::Language;
use wakeful_core::statuspages::i18n::fill;
use wakeful_core::statuspages::incident::{
    Incident, IncidentSettings, IncidentSource, IncidentState, Update, UpdateSettings,
};
use wakeful_core::statuspages::page::{StatusPage, localized};
use wakeful_core::statuspages::scope::Scope;
use wakeful_core::statuspages::snapshot::{Impact, IncidentKind, IncidentStatus};
use wakeful_core::statuspages::subscriber::{
    CONFIRM_WITHIN, EventType, MAX_SUBSCRIBERS, Recipient, Subscriber, SubscriberKind,
    SubscriberSettings, SubscriberSource, SubscriberState,
};
use wakeful_core::token::{Digest, Kind};
use wakeful_outbound::mail::MailSession;
use wakeful_outbound::notify::statuspage::{self, News, PageEnvelope, Subscription};
use wakeful_store::{
    AddSubscriberOutcome, Confirmation, DeleteSubscriberOutcome, Imported, Mail, SubscriberCounts,
    SubscriberDigests, SubscriberQuery, UpdateDeliveries,
};

use super::snapshots::Served;
use crate::caller::Authorized;
use crate::mail::templates::EmailText;
use crate::notifications::notifiers::require_all_monitors;
use crate::{Engine, Error, Page, Result, limit_plus_one, random};

/// A subscriber to add, well formed.
#[derive(Clone, Debug)]
pub struct SubscriberDraft {
    pub kind: SubscriberKind,
    pub address: String,
    /// For a webhook: the email address of its owner.
    pub contact: String,
    pub settings: SubscriberSettings,
}

/// What a team does with subscribers.
#[derive(Clone, Debug)]
pub enum SaveSubscriber {
    Add {
        draft: SubscriberDraft,
        /// The team has the consent of the owner in writing.
        consent: bool,
    },
    Change(SubscriberSettings),
}

/// The outcome of a confirmation.
#[derive(Clone, Debug)]
pub enum Confirmed {
    /// A new webhook has a signing secret, which is shown once.
    Done(Option<SigningSecret>),
    /// The webhook did not accept the first message.
    Refused(String),
    /// The link is not valid.
    Invalid,
}

impl Engine {
    /// The subscribers of a page that fit, newest first, and how many there are.
    pub async fn subscribers(
        &self,
        caller: &Authorized<permission::Edit>,
        page: StatuspageId,
        query: &SubscriberQuery,
    ) -> Result<(Page<Subscriber, SubscriberId>, SubscriberCounts)> {
        require_all_monitors(caller)?;
        self.stored_statuspage(caller, page).await?;
        let wanted = SubscriberQuery { limit: limit_plus_one(query.limit), ..query.clone() };
        let team = self.store().team(caller.team_access());
        let found = team.subscribers(page, &wanted).await?;
        let counts = team.subscriber_counts(page).await?;
        Ok((Page::of(found, query.limit, |one: &Subscriber| one.id), counts))
    }

    /// Adds a subscriber, or changes what one receives. A new webhook is returned with its
    /// signing secret.
    pub async fn save_subscriber<E: From<Error>>(
        &self,
        caller: &Authorized<permission::Edit>,
        page: StatuspageId,
        id: Option<SubscriberId>,
        read: impl FnOnce(&StatusPage, Option<&Subscriber>) -> std::result::Result<SaveSubscriber, E>,
    ) -> std::result::Result<Subscriber, E> {
        require_all_monitors(caller)?;
        let page = self.stored_statuspage(caller, page).await?.page;
        let team = self.store().team(caller.team_access());
        let missing = || Error::NotFound("subscriber");
        let stored = match id {
            Some(id) => {
                let found = team.subscriber(page.id, id).await.map_err(Error::from)?;
                Some(found.ok_or_else(missing)?)
            }
            None => None,
        };
        let (draft, consent) = match (read(&page, stored.as_ref())?, stored) {
            (SaveSubscriber::Change(settings), Some(stored)) => {
                let changed = Subscriber { settings, ..stored.clone() };
                if changed != stored {
                    let by = self.audit(caller);
                    let done = team.change_subscriber(&stored, &changed, &by).await;
                    if !done.map_err(Error::from)? {
                        return Err(missing().into());
                    }
                }
                return Ok(Subscriber { secret: None, ..changed });
            }
            (SaveSubscriber::Add { draft, consent }, _) => (draft, consent),
            (SaveSubscriber::Change(_), None) => return Err(missing().into()),
        };
        let limits = self.added_subscriber_limits(caller.team(), caller.user());
        self.count_together(&limits, 1).await?;
        let added = self.add_by_team(caller, &page, draft, consent).await;
        if !matches!(added, Ok((_, true))) {
            self.undo_attempts(&limits, 1).await?;
        }
        Ok(added?.0)
    }

    /// The subscriber, and whether it is new.
    async fn add_by_team(
        &self,
        caller: &Authorized<permission::Edit>,
        page: &StatusPage,
        draft: SubscriberDraft,
        consent: bool,
    ) -> Result<(Subscriber, bool)> {
        let is_email = draft.kind == SubscriberKind::Email;
        if !is_email {
            self.validate_webhook(&draft.address, SubscriberSource::Team)?;
        }
        let mut subscriber = self.new_subscriber(page.id, draft, SubscriberSource::Team);
        if !is_email || consent {
            subscriber.state = SubscriberState::Active;
            subscriber.confirmed = Some(subscriber.created);
        }
        let digests = self.digests().await?;
        let digest = digests.of(subscriber.kind, &subscriber.recipient.address);
        let plan = self.limiting_plan(caller.team()).await?;
        let max = plan.as_ref().and_then(|plan| plan.limits.subscribers);
        let team = self.store().team(caller.team_access());
        let by = self.audit(caller);
        let (token, mail) = self.confirmation(page, &subscriber);
        let asked = Confirmation {
            recipient: digests.of(SubscriberKind::Email, &email_address::inbox(&mail.to)),
            token: Digest::of(token.expose()),
            until: subscriber.created.after(CONFIRM_WITHIN),
            mail: &mail,
        };
        let first = (subscriber.state == SubscriberState::Pending).then_some(asked);
        let mut added = team.add_subscriber(&subscriber, digest, first, max, &by).await?;
        // Whatever consent the team has, the owner of the address must agree again.
        if added == AddSubscriberOutcome::MustConfirm && is_email {
            (subscriber.state, subscriber.confirmed) = (SubscriberState::Pending, None);
            added = team.add_subscriber(&subscriber, digest, Some(asked), max, &by).await?;
        }
        self.0.mail_queued.notify_one();
        match added {
            AddSubscriberOutcome::Done(id) => Ok((Subscriber { id, ..subscriber }, true)),
            AddSubscriberOutcome::Known(id) => {
                let stored = team.subscriber(page.id, id).await?;
                let stored = stored.ok_or(Error::NotFound("subscriber"))?;
                Ok((Subscriber { secret: None, ..stored }, false))
            }
            AddSubscriberOutcome::MustConfirm => {
                let why = "was unsubscribed or rejects messages; its owner must subscribe again";
                Err(Error::Refused { field: "address", why: why.to_owned() })
            }
            AddSubscriberOutcome::TooOften => {
                let why = "has been asked for a confirmation too often; try again tomorrow";
                Err(Error::Refused { field: "address", why: why.to_owned() })
            }
            AddSubscriberOutcome::LimitReached => Err(too_many()),
            AddSubscriberOutcome::Missing => Err(Error::NotFound("status page")),
            AddSubscriberOutcome::PlanLimit => Err(self.too_many_subscribers(plan.as_ref())),
        }
    }

    /// Adds subscribers whose consent the team has in writing.
    pub async fn import_subscribers<E: From<Error>>(
        &self,
        caller: &Authorized<permission::Edit>,
        page: StatuspageId,
        read: impl FnOnce(&StatusPage) -> std::result::Result<Vec<SubscriberDraft>, E>,
    ) -> std::result::Result<Imported, E> {
        require_all_monitors(caller)?;
        let page = self.stored_statuspage(caller, page).await?.page;
        let drafts = read(&page)?;
        let per_hour = self.settings().limits.added_subscribers_per_hour;
        if drafts.len() > per_hour as usize {
            // It would fail in every hour.
            let why = format!(
                "must have at most {per_hour} items: a team can add no more subscribers in an hour"
            );
            return Err(Error::Refused { field: "subscribers", why }.into());
        }
        let digests = self.digests().await?;
        let mut subscribers = Vec::with_capacity(drafts.len());
        for (place, draft) in drafts.into_iter().enumerate() {
            if draft.kind != SubscriberKind::Email {
                let valid = self.validate_webhook(&draft.address, SubscriberSource::Import);
                if let Err(Error::Refused { why, .. }) = valid {
                    let field = format!("subscribers.{place}.address");
                    return Err(Error::RefusedAt { field, why }.into());
                }
            }
            let digest = digests.of(draft.kind, &draft.address);
            let mut subscriber = self.new_subscriber(page.id, draft, SubscriberSource::Import);
            subscriber.state = SubscriberState::Active;
            subscriber.confirmed = Some(subscriber.created);
            subscribers.push((subscriber, digest));
        }
        let plan = self.limiting_plan(caller.team()).await?;
        let max = plan.as_ref().and_then(|plan| plan.limits.subscribers);
        let team = self.store().team(caller.team_access());
        let by = self.audit(caller);
        let limits = self.added_subscriber_limits(caller.team(), caller.user());
        let count = subscribers.len() as u32;
        self.count_together(&limits, count).await?;
        let imported = team.import_subscribers(page.id, &subscribers, max, &by).await;
        let added = imported.as_ref().map_or(0, |done| done.as_ref().map_or(0, |done| done.added));
        if added < count {
            self.undo_attempts(&limits, count - added).await?;
        }
        match imported.map_err(Error::from)? {
            Ok(imported) => Ok(imported),
            Err(AddSubscriberOutcome::PlanLimit) => {
                Err(self.too_many_subscribers(plan.as_ref()).into())
            }
            Err(AddSubscriberOutcome::Missing) => Err(Error::NotFound("status page").into()),
            Err(_) => Err(too_many().into()),
        }
    }

    /// Deletes a subscriber. True if it was bouncing and is remembered, without its address:
    /// nothing is sent to it until its owner has confirmed.
    pub async fn delete_subscriber(
        &self,
        caller: &Authorized<permission::Edit>,
        page: StatuspageId,
        id: SubscriberId,
    ) -> Result<bool> {
        require_all_monitors(caller)?;
        let team = self.store().team(caller.team_access());
        let by = self.audit(caller);
        match team.delete_subscriber(page, id, self.now(), &by).await? {
            DeleteSubscriberOutcome::Deleted => return Ok(false),
            DeleteSubscriberOutcome::Remembered => return Ok(true),
            DeleteSubscriberOutcome::Unchanged => {}
        }
        if team.subscriber(page, id).await?.is_none() {
            return Err(Error::NotFound("subscriber"));
        }
        let why = "was unsubscribed, or deleted while it rejected messages; this is remembered for \
                   90 days, without the address";
        Err(Error::Refused { field: "subscriberid", why: why.to_owned() })
    }

    /// Sends a sample of the emails of a page to the caller.
    pub async fn test_subscriber(
        &self,
        caller: &Authorized<permission::Edit>,
        page: StatuspageId,
    ) -> Result<String> {
        require_all_monitors(caller)?;
        let page = self.stored_statuspage(caller, page).await?.page;
        let account = self.store().account(caller.user()).await?.ok_or(Error::NotAuthenticated)?;
        self.count_attempt(&self.notifier_test_limit(caller.team())).await?;
        let draft = SubscriberDraft {
            kind: SubscriberKind::Email,
            address: account.email.clone(),
            contact: String::new(),
            settings: SubscriberSettings {
                language: page.settings.language,
                ..SubscriberSettings::default()
            },
        };
        let subscriber = self.new_subscriber(page.id, draft, SubscriberSource::Team);
        let incident = self.sample_incident(&page);
        let (url, token) =
            (self.statuspage_url(&page), self.store().subscriber_token(subscriber.id));
        let unsubscribe = self.unsubscribe_url(&page, &token);
        let (indicator, description) = self.page_status(page.id);
        let subscription = Subscription {
            page: &page,
            url: &url,
            indicator,
            description,
            subscriber: &subscriber,
            token: &token,
            unsubscribe: &unsubscribe,
        };
        let now = self.now();
        let news = incident.updates.iter().map(|update| News {
            kind: EventType::IncidentCreated,
            incident: &incident,
            update,
            at: now,
        });
        let news: Vec<News<'_>> = news.collect();
        let compose = |from: &str| {
            let envelope = PageEnvelope {
                id: EventId::new(now, random::bytes()),
                in_reply_to: None,
                from,
                to: &account.email,
                reply_to: &page.settings.subscribe.reply_to,
                date: now,
            };
            statuspage::email(&subscription, envelope, &news)
        };
        let mut session = MailSession::default();
        let language = page.settings.language;
        let sent = self.send_page_email(&page, &mut session, compose, language).await;
        session.close().await;
        match sent {
            Outcome::Delivered(_) | Outcome::Partial { .. } => Ok(account.email),
            failed => Err(Error::NotDelivered(failed.answer().to_owned())),
        }
    }

    fn sample_incident(&self, page: &StatusPage) -> Incident {
        let now = self.now();
        let sample = page.settings.language.subscriptions().sample.to_owned();
        Incident {
            id: IncidentId::new(now, random::bytes()),
            team: page.team,
            kind: IncidentKind::Incident,
            title: page.name.clone(),
            state: IncidentState::Published,
            status: IncidentStatus::Investigating,
            impact: Impact::None,
            settings: IncidentSettings::default(),
            source: IncidentSource::Person,
            rule: None,
            started: now,
            resolved: None,
            components: Vec::new(),
            pages: vec![page.id],
            updates: vec![Update {
                id: IncidentUpdateId::new(now, random::bytes()),
                status: IncidentStatus::Investigating,
                body: sample,
                settings: UpdateSettings::default(),
                display_at: now,
                by_rule: false,
                created: now,
                edited: None,
            }],
            created: now,
            modified: now,
        }
    }

    /// What became of the messages about each update of an incident.
    pub async fn incident_deliveries(
        &self,
        caller: &Authorized<permission::View>,
        id: IncidentId,
    ) -> Result<Vec<UpdateDeliveries>> {
        let incident = self.incident(caller, id).await?;
        let team = self.store().team(caller.team_access());
        let mut found = team.incident_deliveries(id).await?;
        let mut of = |update: &Update| {
            let place = found.iter().position(|one| one.update == update.id);
            place.map(|place| found.swap_remove(place))
        };
        let none = |update| UpdateDeliveries {
            update,
            waiting: 0,
            delivered: 0,
            failed: 0,
            failures: Vec::new(),
        };
        Ok(incident
            .updates
            .iter()
            .map(|update| of(update).unwrap_or_else(|| none(update.id)))
            .collect())
    }

    /// Sends the failed messages about an update again; returns how many.
    pub async fn resend_incident_update(
        &self,
        caller: &Authorized<permission::Respond>,
        id: IncidentId,
        update: IncidentUpdateId,
    ) -> Result<u64> {
        require_all_monitors(caller)?;
        let incident = self.stored_incident(caller, id).await?.incident;
        if incident.updates.iter().all(|one| one.id != update) {
            return Err(Error::NotFound("update"));
        }
        let team = self.store().team(caller.team_access());
        let by = self.audit(caller);
        let resent = team.resend_update(&incident, update, self.now(), &by).await?;
        self.0.page_messages.notify_one();
        Ok(resent)
    }

    // Visitors.

    /// Asks the owner of an address to confirm a subscription. What is known of the address is
    /// not revealed: the work is done in the background.
    pub async fn subscribe_to_page(
        &self,
        page: &Arc<Served>,
        draft: SubscriberDraft,
        client: IpAddr,
    ) -> Result<()> {
        if draft.kind != SubscriberKind::Email {
            self.validate_webhook(&draft.address, SubscriberSource::Visitor)?;
        }
        self.count_attempts(&self.subscription_limits(page.id, client)).await?;
        let (engine, page) = (self.clone(), Arc::clone(page));
        self.0.tasks.spawn(async move {
            if let Err(error) = engine.ask_for_confirmation(&page, draft).await {
                tracing::warn!(page.id = %page.id, error = %ErrorChain(&error), "subscribing to status page {} failed", page.id);
            }
        });
        Ok(())
    }

    async fn ask_for_confirmation(&self, served: &Served, draft: SubscriberDraft) -> Result<()> {
        let Some(stored) = self.store().shown_statuspage(served.id, served.team).await? else {
            return Ok(());
        };
        let page = stored.page;
        let subscriber = self.new_subscriber(page.id, draft, SubscriberSource::Visitor);
        let digests = self.digests().await?;
        let digest = digests.of(subscriber.kind, &subscriber.recipient.address);
        let plan = self.limiting_plan(page.team).await?;
        let max = plan.as_ref().and_then(|plan| plan.limits.subscribers);
        let (token, mail) = self.confirmation(&page, &subscriber);
        let confirmation = Confirmation {
            recipient: digests.of(SubscriberKind::Email, &email_address::inbox(&mail.to)),
            token: Digest::of(token.expose()),
            until: subscriber.created.after(CONFIRM_WITHIN),
            mail: &mail,
        };
        let store = self.store();
        match store.add_visitor(page.team, &subscriber, digest, confirmation, max).await? {
            AddSubscriberOutcome::Done(_) => self.0.mail_queued.notify_one(),
            AddSubscriberOutcome::LimitReached | AddSubscriberOutcome::PlanLimit => {
                tracing::info!(page.id = %page.id, "status page {} has the maximum number of subscribers", page.id);
            }
            AddSubscriberOutcome::Known(_)
            | AddSubscriberOutcome::MustConfirm
            | AddSubscriberOutcome::TooOften
            | AddSubscriberOutcome::Missing => {}
        }
        Ok(())
    }

    /// The subscriber that a link confirms, with its page.
    pub async fn subscriber_to_confirm(&self, token: &str) -> Result<Option<Subscriber>> {
        if Kind::Subscription.decode(token).is_none() {
            return Ok(None);
        }
        Ok(self.store().subscriber_to_confirm(Digest::of(token), self.now()).await?)
    }

    /// Confirms a subscription. A webhook must accept a first message.
    pub async fn confirm_subscriber(
        &self,
        page: &Served,
        token: &str,
        client: IpAddr,
    ) -> Result<Confirmed> {
        let found = self.subscriber_to_confirm(token).await?;
        let Some(mut subscriber) = found.filter(|one| one.page == page.id) else {
            return Ok(Confirmed::Invalid);
        };
        if subscriber.kind != SubscriberKind::Email {
            self.count_attempts(&self.subscription_limits(page.id, client)).await?;
            let Some(stored) = self.store().shown_statuspage(page.id, page.team).await? else {
                return Ok(Confirmed::Invalid);
            };
            if subscriber.kind.is_signed() {
                subscriber.secret = Some(SigningSecret::issue(random::bytes()));
            }
            if let Err(answer) = self.try_webhook(&stored.page, &subscriber).await {
                return Ok(Confirmed::Refused(answer));
            }
        }
        let now = self.now();
        let digest = Digest::of(token);
        if self.store().confirm_subscriber(&subscriber, digest, now).await? {
            Ok(Confirmed::Done(subscriber.secret))
        } else {
            Ok(Confirmed::Invalid)
        }
    }

    async fn try_webhook(
        &self,
        page: &StatusPage,
        subscriber: &Subscriber,
    ) -> std::result::Result<(), String> {
        let (url, token) =
            (self.statuspage_url(page), self.store().subscriber_token(subscriber.id));
        let unsubscribe = self.unsubscribe_url(page, &token);
        let (indicator, description) = self.page_status(page.id);
        let subscription = Subscription {
            page,
            url: &url,
            indicator,
            description,
            subscriber,
            token: &token,
            unsubscribe: &unsubscribe,
        };
        let now = self.now();
        let net = self.net_for(subscriber.source);
        let id = EventId::new(now, random::bytes());
        match statuspage::post_confirmation(net, &subscription, id, now).await {
            Outcome::Delivered(_) | Outcome::Partial { .. } => Ok(()),
            failed => Err(failed.answer().to_owned()),
        }
    }

    /// The subscriber of a link in an email: its id, and itself unless it is gone.
    pub async fn subscriber_of_token(
        &self,
        token: &str,
    ) -> Result<Option<(SubscriberId, Option<Subscriber>)>> {
        let Some(id) = self.store().subscriber_of_token(token) else { return Ok(None) };
        Ok(Some((id, self.store().read_subscriber(id).await?)))
    }

    /// Changes what a subscriber receives, by its own link; false if it is gone.
    pub async fn change_subscription(
        &self,
        subscriber: &Subscriber,
        settings: SubscriberSettings,
    ) -> Result<bool> {
        let changed = Subscriber { settings, ..subscriber.clone() };
        Ok(self.store().change_subscription(&changed).await?)
    }

    /// Ends a subscription and deletes its address; also the second time.
    pub async fn unsubscribe(&self, id: SubscriberId) -> Result<()> {
        Ok(self.store().unsubscribe(id, self.now()).await?)
    }

    /// The name of a page, published or not.
    pub async fn page_name(&self, page: StatuspageId) -> Result<Option<String>> {
        Ok(self.store().statuspage_name(page).await?)
    }

    async fn digests(&self) -> Result<SubscriberDigests> {
        let candidate: [u8; 32] = random::bytes();
        Ok(self.store().subscriber_digests(&candidate).await?)
    }

    /// Refuses a URL that the policy for its source does not allow.
    fn validate_webhook(&self, address: &str, source: SubscriberSource) -> Result<()> {
        let refused = |why: String| Error::Refused { field: "address", why };
        let url = HttpUrl::parse(address).map_err(|why| refused(why.0))?;
        self.net_for(source).guard().validate_url(&url).map_err(|why| refused(why.0))
    }

    fn new_subscriber(
        &self,
        page: StatuspageId,
        draft: SubscriberDraft,
        source: SubscriberSource,
    ) -> Subscriber {
        let now = self.now();
        let SubscriberDraft { kind, address, contact, settings } = draft;
        // A visitor gets the secret when the webhook is confirmed.
        let has_secret = kind.is_signed() && source != SubscriberSource::Visitor;
        Subscriber {
            id: SubscriberId::new(now, random::bytes()),
            page,
            kind,
            recipient: Recipient { address, contact },
            secret: has_secret.then(|| SigningSecret::issue(random::bytes())),
            settings,
            state: SubscriberState::Pending,
            source,
            created: now,
            confirmed: None,
            last_delivery: None,
            failures: 0,
        }
    }

    /// A token and the email with its link.
    fn confirmation(
        &self,
        page: &StatusPage,
        subscriber: &Subscriber,
    ) -> (wakeful_core::secret::Secret, Mail) {
        let token = Kind::Subscription.issue(random::bytes());
        let language = subscriber.settings.language;
        let texts = language.subscriptions();
        let name = localized(&page.name, &page.settings.texts, "name");
        let link = format!(
            "{}/confirm/{}{}",
            self.statuspage_url(page),
            token.expose(),
            in_language(page, language)
        );
        let Recipient { address, contact } = &subscriber.recipient;
        let values =
            [("page", name.get(language)), ("address", address.as_str()), ("link", link.as_str())];
        let text = EmailText {
            subject: fill(texts.confirm_subject, &values),
            text: format!("{}\n", fill(texts.confirm_email, &values)),
        };
        let to = if subscriber.kind == SubscriberKind::Email { address } else { contact };
        let mut mail = self.new_mail(to, text);
        let reply_to = &page.settings.subscribe.reply_to;
        mail.reply_to = (!reply_to.is_empty()).then(|| reply_to.clone());
        (token, mail)
    }
}

/// The parameter for a language that is not the default one of the page.
fn in_language(page: &StatusPage, language: Language) -> String {
    let is_offered = page.settings.languages.contains(&language);
    if language != page.settings.language && is_offered {
        format!("?lang={language}")
    } else {
        String::new()
    }
}

fn too_many() -> Error {
    Error::FixedLimit { max: MAX_SUBSCRIBERS as u32, of: "subscribers per status page" }
}

/// A scope of parts that the page has.
pub fn scope_on(
    page: &StatusPage,
    sections: Vec<SectionId>,
    components: Vec<ComponentId>,
) -> std::result::Result<Scope, String> {
    if let Some(id) = sections.iter().find(|id| page.sections.iter().all(|one| one.id != **id)) {
        return Err(format!("names an unknown section: {id}"));
    }
    if let Some(id) = components.iter().find(|id| page.components().all(|one| one.id != **id)) {
        return Err(format!("names an unknown component: {id}"));
    }
    Ok(Scope { sections, components })
}
