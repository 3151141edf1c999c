//! The notifiers of a team: saved, listed, tried, deleted, and what became of
//! the messages sent by them.

use std::net::SocketAddr;
use std::time::Duration;
use wakeful_core::Invalid;
use wakeful_core::id::{DeliveryId, EventId, NotifierId};
use wakeful_core::monitor::Name;
use wakeful_core::monitor::spec::{Headers, Host, Hostname, HttpUrl};
use wakeful_core::notice::retry::Outcome;
use wakeful_core::notice::{self, Notice};
use wakeful_core::notifier::{
    Channel, Disabled, EmailSpec, Keys, Mailbox, Mailboxes, Notifier, SigningSecret, Subject,
    Template, WebhookSpec,
};
use wakeful_core::template::UserTemplate;
use wakeful_outbound::mail;
use wakeful_outbound::notify::preview::{self, Preview};
use wakeful_outbound::notify::{email, letters, template, webhook};
use wakeful_store::{ChangedNotifier, DeletedNotifier, ListedDelivery, Resent, StoreError};

use crate::caller::Caller;
use crate::monitors::{Page, ROUNDS, and_one};
use crate::{Engine, Error, Result, random};

/// What people set of a notifier, complete and valid.
#[derive(Clone, Debug)]
pub struct NotifierDraft {
    pub name: Name,
    pub channel: ChannelDraft,
    /// Nothing: as it is.
    pub isactive: Option<bool>,
}

#[derive(Clone, Debug)]
pub enum ChannelDraft {
    Email(EmailSpec),
    Webhook {
        url: HttpUrl,
        headers: Headers,
        template: Template,
        /// Nothing: as it is, or a new one.
        secret: Option<SigningSecret>,
    },
}

/// As much of a notifier as decides what its messages look like.
#[derive(Clone, Debug)]
pub struct PreviewDraft {
    pub name: String,
    pub channel: PreviewChannel,
    /// The kind of message, such as `monitor.down`.
    pub event: String,
}

#[derive(Clone, Debug)]
pub enum PreviewChannel {
    Email { subject: Subject },
    Webhook { template: Template, url: Option<HttpUrl> },
}

/// A notifier, and its signing secret when this is the moment to show it.
#[derive(Clone, Debug)]
pub struct NotifierView {
    pub notifier: Notifier,
    pub secret: Option<SigningSecret>,
}

/// How long a person who tests waits: not so long that the request is given up.
const A_TEST: Duration = Duration::from_secs(20);

impl From<Notifier> for NotifierView {
    fn from(notifier: Notifier) -> Self {
        Self { notifier, secret: None }
    }
}

impl Engine {
    /// The team's notifiers in the order they were made.
    pub async fn notifiers(&self, caller: &Caller) -> Result<Vec<Notifier>> {
        Ok(self.store().team(caller.team).notifiers().await?)
    }

    pub async fn notifier(&self, caller: &Caller, id: NotifierId) -> Result<Notifier> {
        let found = self.store().team(caller.team).notifier(id).await?;
        found.ok_or(Error::NotFound("notifier"))
    }

    /// Makes a notifier, or changes the one that is named. `merge` lays what is
    /// wanted over what is stored, and does so anew when that changed meanwhile.
    pub async fn save_notifier<E: From<Error>>(
        &self,
        caller: &Caller,
        id: Option<NotifierId>,
        mut merge: impl FnMut(Option<&Notifier>) -> std::result::Result<NotifierDraft, E>,
    ) -> std::result::Result<NotifierView, E> {
        let Some(id) = id else {
            let draft = merge(None)?;
            return Ok(self.make_notifier(caller, draft).await?);
        };
        for _ in 0..ROUNDS {
            let before = self.notifier(caller, id).await?;
            let draft = merge(Some(&before))?;
            if let Some(view) = self.change_notifier(caller, &before, draft).await? {
                return Ok(view);
            }
        }
        Err(Error::Overtaken.into())
    }

    async fn make_notifier(&self, caller: &Caller, draft: NotifierDraft) -> Result<NotifierView> {
        self.vet(&draft.channel).await?;
        let notifier = self.drafted_notifier(caller, draft, None);
        let added = self.store().team(caller.team).add_notifier(&notifier).await;
        added.map_err(|error| match error {
            StoreError::Gone => Error::NotAuthenticated,
            error => error.into(),
        })?;
        let secret = signing_secret(&notifier).cloned();
        Ok(NotifierView { notifier, secret })
    }

    /// Nothing when the notifier was changed since it was read. What is saved as
    /// it is stored is not written.
    async fn change_notifier(
        &self,
        caller: &Caller,
        before: &Notifier,
        draft: NotifierDraft,
    ) -> Result<Option<NotifierView>> {
        self.vet(&draft.channel).await?;
        let notifier = self.drafted_notifier(caller, draft, Some(before));
        if notifier == (Notifier { modified: notifier.modified, ..before.clone() }) {
            return Ok(Some(before.clone().into()));
        }
        if !self.keep_notifier(caller, &notifier).await? {
            return Ok(None);
        }
        let known = signing_secret(before);
        let secret = signing_secret(&notifier).filter(|made| Some(*made) != known).cloned();
        Ok(Some(NotifierView { notifier, secret }))
    }

    /// False when the notifier was changed since it was read.
    async fn keep_notifier(&self, caller: &Caller, notifier: &Notifier) -> Result<bool> {
        match self.store().team(caller.team).change_notifier(notifier).await? {
            ChangedNotifier::Done => Ok(true),
            ChangedNotifier::Overtaken => Ok(false),
            ChangedNotifier::Missing => Err(Error::NotFound("notifier")),
        }
    }

    /// Refuses at once what would fail at the first message.
    async fn vet(&self, channel: &ChannelDraft) -> Result<()> {
        let parts = match channel {
            ChannelDraft::Email(spec) => vec![
                ("email.hostname", self.vet_server(&spec.hostname, spec.port)),
                ("email.from_email", vet_sender(&spec.from_email)),
                ("email.to_email", vet_recipients(&spec.to_email)),
                ("email.to_cc", vet_recipients(&spec.to_cc)),
                ("email.to_bcc", vet_recipients(&spec.to_bcc)),
            ],
            ChannelDraft::Webhook { url, .. } => vec![("webhook.url", self.vet_url(url))],
        };
        match parts.into_iter().find_map(|(field, vetted)| Some((field, vetted.err()?))) {
            Some((field, why)) => Err(Error::Refused { field, why: why.to_string() }),
            None => self.vet_template(channel).await,
        }
    }

    /// Refuses a template that does not work.
    async fn vet_template(&self, channel: &ChannelDraft) -> Result<()> {
        let (field, template) = match channel {
            ChannelDraft::Email(spec) => ("email.subject", spec.subject.template()),
            ChannelDraft::Webhook { template: Template::Own(own), .. } => {
                ("webhook.template", Some(own))
            }
            ChannelDraft::Webhook { .. } => return Ok(()),
        };
        let templates = template.map(|template| (field, template.clone())).into_iter().collect();
        match self.wrong_templates(templates).await?.pop() {
            Some((field, why)) => Err(Error::Refused { field, why: why.to_string() }),
            None => Ok(()),
        }
    }

    /// Those that do not work, and why: each is tried on a sample, aside from requests.
    pub async fn wrong_templates<F: Send + 'static>(
        &self,
        templates: Vec<(F, UserTemplate)>,
    ) -> Result<Vec<(F, Invalid)>> {
        if templates.is_empty() {
            return Ok(Vec::new());
        }
        let trying = self.net().renderers().for_request(move || {
            let wrong = templates
                .into_iter()
                .filter_map(|(field, template)| Some((field, template::check(&template).err()?)));
            wrong.collect()
        });
        trying.await.ok_or(Error::Overloaded)
    }

    /// Refuses a mail server that may not be reached. Whoever reads a request
    /// asks this, and the same of the other parts, to tell of every wrong field
    /// at once; what is saved is asked again as a whole.
    pub fn vet_server(&self, host: &Hostname, port: u16) -> std::result::Result<(), Invalid> {
        let guard = self.net().guard();
        let allowed = match host.host() {
            Host::Name(name) => guard.check_name(name),
            Host::Address(ip) => guard.check(SocketAddr::new(*ip, port)),
        };
        allowed.map_err(|denied| Invalid::new(denied.to_string()))
    }

    /// Refuses a webhook's address that may not be reached.
    pub fn vet_url(&self, url: &HttpUrl) -> std::result::Result<(), Invalid> {
        let allowed = self.net().guard().check_url(url.url());
        allowed.map_err(|denied| Invalid::new(denied.to_string()))
    }

    fn drafted_notifier(
        &self,
        caller: &Caller,
        draft: NotifierDraft,
        before: Option<&Notifier>,
    ) -> Notifier {
        let now = self.now();
        let channel = match draft.channel {
            ChannelDraft::Email(spec) => Channel::Email(spec),
            ChannelDraft::Webhook { url, headers, template, secret } => {
                let old = before.and_then(keys);
                let keys = match (secret, old) {
                    (Some(given), Some(old)) if old.current == given => old.clone(),
                    (None, Some(old)) => old.clone(),
                    (Some(given), _) => Keys::new(given),
                    (None, None) => Keys::new(SigningSecret::issue(random::bytes())),
                };
                Channel::Webhook(WebhookSpec { url, headers, template, keys })
            }
        };
        let was = before.and_then(|before| before.disabled.clone());
        Notifier {
            id: before.map_or_else(|| NotifierId::new(now, random::bytes()), |before| before.id),
            team: caller.team,
            name: draft.name,
            channel,
            disabled: match draft.isactive {
                None => was,
                Some(true) => None,
                Some(false) => {
                    was.or_else(|| Some(Disabled { at: now, why: "turned off by its team".into() }))
                }
            },
            revision: before.map_or(1, |before| before.revision),
            created: before.map_or(now, |before| before.created),
            modified: now,
        }
    }

    /// Makes a new signing secret; the old one signs beside it for a day.
    pub async fn rotate_notifier(&self, caller: &Caller, id: NotifierId) -> Result<NotifierView> {
        let new = SigningSecret::issue(random::bytes());
        for _ in 0..ROUNDS {
            let mut notifier = self.notifier(caller, id).await?;
            let Channel::Webhook(hook) = &mut notifier.channel else {
                return Err(Error::Unsigned);
            };
            hook.keys = hook.keys.clone().rotated(new.clone(), self.now());
            notifier.modified = self.now();
            if self.keep_notifier(caller, &notifier).await? {
                return Ok(NotifierView { notifier, secret: Some(new) });
            }
        }
        Err(Error::Overtaken)
    }

    /// Sends a test message, and tells what the receiver answered.
    pub async fn test_notifier(&self, caller: &Caller, id: NotifierId) -> Result<String> {
        let notifier = self.notifier(caller, id).await?;
        self.count(&self.notifier_tests(caller.team)).await?;
        let now = self.now();
        let event = EventId::new(now, random::bytes());
        let notice = Notice::test(event, notifier.name.as_str(), now);
        let sending = async {
            match &notifier.channel {
                Channel::Webhook(hook) => {
                    webhook::deliver(self.net(), hook, &notice, self.public_url(), now).await
                }
                Channel::Email(spec) => {
                    let letter = letters::letter(spec, &notice, self.public_url(), None, now).await;
                    email::deliver(self.net(), spec, &letter, None).await
                }
            }
        };
        match tokio::time::timeout(A_TEST, sending).await {
            Ok(Outcome::Delivered(answer) | Outcome::Partly { answer, .. }) => {
                self.store().notifier_works(id).await?;
                Ok(answer)
            }
            Ok(failed) => Err(Error::NotDelivered(failed.answer().to_owned())),
            Err(_) => {
                let words = format!("the receiver did not finish within {} s", A_TEST.as_secs());
                Err(Error::NotDelivered(words))
            }
        }
    }

    /// What a notifier that is still being written would send; nothing is sent.
    pub async fn preview_notifier(&self, draft: PreviewDraft) -> Result<Preview> {
        let now = self.now();
        let event = EventId::new(now, random::bytes());
        let name: String = draft.name.chars().take(Name::MAX_LENGTH).collect();
        let notice = Notice::example(&draft.event, event, &name, now).ok_or_else(|| {
            let kinds = [notice::DOWN, notice::UP, notice::CERTIFICATE, notice::TEST];
            Error::Refused { field: "event", why: format!("must be one of {}", kinds.join(", ")) }
        })?;
        let link = self.public_url().to_owned();
        let rendering = self.net().renderers().for_request(move || match &draft.channel {
            PreviewChannel::Email { subject } => preview::email(subject, &notice, &link)
                .map_err(|why| Error::Refused { field: "email.subject", why: why.to_string() }),
            PreviewChannel::Webhook { template, url } => {
                preview::webhook(template, &notice, &link, url.as_ref().map(HttpUrl::url)).map_err(
                    |why| Error::Refused { field: "webhook.template", why: why.to_string() },
                )
            }
        });
        rendering.await.ok_or(Error::Overloaded)?
    }

    pub async fn delete_notifier(&self, caller: &Caller, id: NotifierId) -> Result<()> {
        let team = self.store().team(caller.team);
        team.empty_notifier(id).await?;
        match team.delete_notifier(id).await {
            Ok(DeletedNotifier::Done) => Ok(()),
            Ok(DeletedNotifier::Missing) => Err(Error::NotFound("notifier")),
            Ok(DeletedNotifier::Linked(monitors)) => Err(Error::StillLinked(monitors)),
            // Linked between the look and the deletion.
            Err(StoreError::Gone) => Err(Error::StillLinked(Vec::new())),
            Err(error) => Err(error.into()),
        }
    }

    /// What was sent by a notifier, newest first.
    pub async fn notifier_deliveries(
        &self,
        caller: &Caller,
        id: NotifierId,
        before: Option<DeliveryId>,
        limit: Option<u32>,
    ) -> Result<Page<ListedDelivery, DeliveryId>> {
        let team = self.store().team(caller.team);
        let found = team.notifier_deliveries(id, before, and_one(limit)).await?;
        let found = found.ok_or(Error::NotFound("notifier"))?;
        Ok(Page::of(found, limit, |listed| listed.id))
    }

    /// Sends a message once more, with the same event id.
    pub async fn resend_delivery(&self, caller: &Caller, id: DeliveryId) -> Result<()> {
        match self.store().team(caller.team).resend_delivery(id, self.now()).await? {
            Resent::OnItsWay => Ok(()),
            Resent::Missing => Err(Error::NotFound("delivery")),
            Resent::Off => Err(Error::NotifierOff),
        }
    }
}

/// Refuses a sender that no letter can come from.
pub fn vet_sender(sender: &Mailbox) -> std::result::Result<(), Invalid> {
    mail::check_sender(sender)
}

/// Refuses recipients that no letter can go to.
pub fn vet_recipients(all: &Mailboxes) -> std::result::Result<(), Invalid> {
    all.iter().try_for_each(mail::check_recipient)
}

fn keys(notifier: &Notifier) -> Option<&Keys> {
    match &notifier.channel {
        Channel::Webhook(hook) => Some(&hook.keys),
        Channel::Email(_) => None,
    }
}

fn signing_secret(notifier: &Notifier) -> Option<&SigningSecret> {
    keys(notifier).map(|keys| &keys.current)
}
