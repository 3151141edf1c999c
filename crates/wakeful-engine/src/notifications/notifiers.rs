//! Operations on the notifiers of a team, and the list of their deliveries.

use std::net::IpAddr;
use std::time::Duration;
use wakeful_core::Invalid;
use wakeful_core::access::{Permission, permission};
use wakeful_core::id::{DeliveryId, EventId, NotifierId};
use wakeful_core::monitors::Name;
use wakeful_core::monitors::spec::{Hostname, HttpUrl};
use wakeful_core::notifications::event::{self, Event};
use wakeful_core::notifications::message_rules::MessageRules;
use wakeful_core::notifications::notifier::{
    AttemptReset, Channel, DeliveryMode, Disabled, Mailbox, Mailboxes, Notifier, SigningSecret,
};
use wakeful_core::notifications::{MAX_NOTIFIERS_PER_TEAM, MAX_PERSONAL_NOTIFIERS};
use wakeful_core::quiet::Quiet;
use wakeful_core::severity::Severity;
use wakeful_core::template::UserTemplate;
use wakeful_outbound::fair_queue::Bounds;
use wakeful_outbound::mail;
use wakeful_outbound::notify::{self, template};
use wakeful_store::{ChangeNotifierOutcome, DeleteNotifierOutcome, ResendOutcome, StoreError};

pub use wakeful_outbound::notify::{Preview, PreviewChannel, PreviewRequest};
pub use wakeful_store::ListedDelivery;

use super::account_notifier::require_own_notifier;
use crate::caller::{Authorized, Caller};
use crate::{Engine, Error, MAX_SAVE_ATTEMPTS, Page, Result, limit_plus_one, random};

/// How long a request waits for its turn to render a template.
const RENDER_TIMEOUT: Duration = Duration::from_secs(5);
pub(crate) const RENDERING: Bounds =
    Bounds { running: 1, waiting: 64, waiting_per_key: 8, share: |_free| 1 };

/// Which messages a notifier gets. A new one for programs gets every type of event, and one for a
/// known service those that it can show; one that is no longer for programs gets those that people
/// do.
fn message_rules(draft: &NotifierDraft, before: Option<&Notifier>) -> MessageRules {
    let default = draft.channel.default_events();
    let old = before.map(|before| before.messages.clone()).unwrap_or_default();
    let events = match before {
        None => default,
        Some(before) => {
            let old_default = before.channel.default_events();
            let is_service = |channel: &Channel| matches!(channel, Channel::Service(_));
            let is_converted = before.channel.kind() != draft.channel.kind()
                && (is_service(&before.channel) || is_service(&draft.channel));
            let is_unchanged = old.events.is_none() || old.events == old_default;
            if is_converted && is_unchanged {
                default
            } else if old_default.is_some() && default.is_none() {
                None
            } else {
                old.events.clone()
            }
        }
    };
    let unchanged = MessageRules { events, ..old };
    // What a notifier gets anyway need not be named.
    let sent = draft.events.clone().filter(|sent| *sent != unchanged.event_types());
    MessageRules {
        events: sent.or(unchanged.events),
        min_severity: draft.min_severity.unwrap_or(unchanged.min_severity),
        quiet: draft.quiet.clone().unwrap_or(unchanged.quiet),
    }
}

pub(super) fn too_many_notifiers() -> Error {
    Error::FixedLimit { max: MAX_NOTIFIERS_PER_TEAM, of: "notifiers per team" }
}

/// The settings of a notifier, complete and valid.
#[derive(Clone, Debug)]
pub struct NotifierDraft {
    pub name: Name,
    pub channel: Channel,
    /// Whether it is a personal notifier of the caller; one that is stored stays what it is.
    pub is_personal: bool,
    /// `None`: unchanged, as for the next one.
    pub isactive: Option<bool>,
    pub isdefault: Option<bool>,
    pub min_severity: Option<Severity>,
    /// The types of events that it gets.
    pub events: Option<Vec<String>>,
    /// `Some(None)`: no quiet hours.
    pub quiet: Option<Option<Quiet>>,
    /// How long a message waits for others, in seconds.
    pub group_wait: Option<u32>,
}

/// The settings of a notifier that affect its messages.
#[derive(Clone, Debug)]
pub struct PreviewDraft {
    pub name: String,
    pub channel: PreviewChannel,
    /// The kind of event, such as `monitor.down`.
    pub event: String,
}

/// A notifier, and its signing secret if it is new and has to be shown.
#[derive(Clone, Debug)]
pub struct NotifierView {
    pub notifier: Notifier,
    pub secret: Option<SigningSecret>,
    /// Whether secrets were removed, because the caller may not edit.
    pub redacted: bool,
}

impl NotifierView {
    fn visible_to(self, caller: &Caller) -> Self {
        let is_limited = !caller.may(Permission::Edit) || caller.team_access().filter().is_some();
        if is_limited && self.notifier.owner.is_none() {
            return Self::redacted(self.notifier);
        }
        self
    }

    /// Without what only those who may edit it may see.
    pub(crate) fn redacted(mut notifier: Notifier) -> Self {
        notifier.channel.redact();
        Self { notifier, secret: None, redacted: true }
    }
}

/// Notifiers are used by all monitors of the team: a caller who is limited to some of them may
/// not change one, which would redirect or silence the notifications of the others.
pub(crate) fn require_all_monitors(caller: &Caller) -> Result<()> {
    if caller.team_access().filter().is_none() { Ok(()) } else { Err(Error::LimitedToMonitors) }
}

impl From<Notifier> for NotifierView {
    fn from(notifier: Notifier) -> Self {
        Self { notifier, secret: None, redacted: false }
    }
}

impl Engine {
    /// The team's notifiers in the order of creation.
    ///
    /// Without the secrets, unless the caller may edit.
    pub async fn notifiers(
        &self,
        caller: &Authorized<permission::View>,
    ) -> Result<Vec<NotifierView>> {
        let found = self.store().team(caller.team_access()).notifiers().await?;
        Ok(found.into_iter().map(|found| NotifierView::from(found).visible_to(caller)).collect())
    }

    /// The caller's personal notifiers in the team, in the order of creation.
    pub async fn personal_notifiers(
        &self,
        caller: &Authorized<permission::View>,
    ) -> Result<Vec<NotifierView>> {
        let team = self.store().team(caller.team_access());
        let found = team.personal_notifiers(caller.user()).await?;
        Ok(found.into_iter().map(|found| NotifierView::from(found).visible_to(caller)).collect())
    }

    /// A notifier of the team, or a personal one of the caller.
    pub(super) async fn notifier(&self, caller: &Caller, id: NotifierId) -> Result<Notifier> {
        let found = self.store().team(caller.team_access()).notifier(id).await?;
        let is_visible = |one: &Notifier| one.owner.is_none_or(|owner| owner == caller.user());
        found.filter(is_visible).ok_or(Error::NotFound("notifier"))
    }

    /// A notifier that the caller may change.
    async fn changeable_notifier(&self, caller: &Caller, id: NotifierId) -> Result<Notifier> {
        let notifier = self.notifier(caller, id).await?;
        if notifier.owner.is_none() {
            require_all_monitors(caller)?;
        }
        require_own_notifier(caller, &notifier)?;
        Ok(notifier)
    }

    /// The notifier with this id, if one is given.
    pub async fn optional_notifier(
        &self,
        caller: &Authorized<permission::Edit>,
        id: Option<NotifierId>,
    ) -> Result<Option<Notifier>> {
        match id {
            Some(id) => {
                let notifier = self.notifier(caller, id).await?;
                if notifier.owner.is_none() {
                    require_all_monitors(caller)?;
                }
                Ok(Some(notifier))
            }
            None => Ok(None),
        }
    }

    /// Creates a notifier, or changes the one with this id. `merge` applies the request to
    /// the stored notifier, and is called again if that changed meanwhile.
    pub async fn save_notifier<E: From<Error>>(
        &self,
        caller: &Authorized<permission::Edit>,
        id: Option<NotifierId>,
        from: IpAddr,
        mut merge: impl FnMut(Option<&Notifier>) -> std::result::Result<NotifierDraft, E>,
    ) -> std::result::Result<NotifierView, E> {
        let mut id = id;
        if id.is_none() {
            let draft = merge(None)?;
            if !draft.is_personal {
                require_all_monitors(caller)?;
            }
            if draft.channel.user().is_some() {
                return self.save_account_notifier(caller, from, merge).await;
            }
            // There is one for all browsers of the caller.
            if draft.channel == Channel::Webpush {
                id = self.push_notifier(caller).await?.map(|own| own.id);
            }
            if id.is_none() {
                return Ok(self.create_notifier(caller, draft).await?);
            }
        }
        let id = id.ok_or(Error::NotFound("notifier"))?;
        for _ in 0..MAX_SAVE_ATTEMPTS {
            let before = self.changeable_notifier(caller, id).await?;
            let draft = merge(Some(&before))?;
            if let Some(view) = self.change_notifier(caller, &before, draft).await? {
                return Ok(view);
            }
        }
        Err(Error::Conflict.into())
    }

    pub(super) async fn create_notifier(
        &self,
        caller: &Caller,
        draft: NotifierDraft,
    ) -> Result<NotifierView> {
        self.validate_channel(caller, &draft.channel).await?;
        let notifier = self.apply_notifier_draft(caller, draft, None);
        let team = self.store().team(caller.team_access());
        if !team.add_notifier(&notifier, &self.audit(caller)).await? {
            return Err(match notifier.owner {
                None => too_many_notifiers(),
                Some(_) => Error::FixedLimit {
                    max: MAX_PERSONAL_NOTIFIERS,
                    of: "personal notifiers per user",
                },
            });
        }
        let secret = signing_secret(&notifier).cloned();
        Ok(NotifierView { notifier, secret, redacted: false })
    }

    /// `None` if the notifier was changed since it was read. A notifier without changes is
    /// not written.
    pub(super) async fn change_notifier(
        &self,
        caller: &Caller,
        before: &Notifier,
        draft: NotifierDraft,
    ) -> Result<Option<NotifierView>> {
        self.validate_channel(caller, &draft.channel).await?;
        let notifier = self.apply_notifier_draft(caller, draft, Some(before));
        if notifier == (Notifier { modified: notifier.modified, ..before.clone() }) {
            return Ok(Some(before.clone().into()));
        }
        if !self.store_notifier(caller, &notifier).await? {
            return Ok(None);
        }
        let known = signing_secret(before);
        let secret = signing_secret(&notifier).filter(|secret| Some(*secret) != known).cloned();
        Ok(Some(NotifierView { notifier, secret, redacted: false }))
    }

    /// False if the notifier was changed since it was read.
    async fn store_notifier(&self, caller: &Caller, notifier: &Notifier) -> Result<bool> {
        let team = self.store().team(caller.team_access());
        match team.change_notifier(notifier, &self.audit(caller)).await? {
            ChangeNotifierOutcome::Done => Ok(true),
            ChangeNotifierOutcome::Conflict => Ok(false),
            ChangeNotifierOutcome::Missing => Err(Error::NotFound("notifier")),
        }
    }

    /// Refuses settings that would fail at the first message.
    pub(super) async fn validate_channel(&self, caller: &Caller, channel: &Channel) -> Result<()> {
        let mut refused = notify::refused_fields(self.net().guard(), channel);
        if refused.is_empty() {
            let templates = channel.template().map(|(field, own)| (field, own.clone()));
            refused = self.check_templates(caller, templates.into_iter().collect()).await?;
        }
        match refused.into_iter().next() {
            Some((field, why)) => Err(Error::Refused { field, why: why.to_string() }),
            None => Ok(()),
        }
    }

    /// The templates that do not work, and why: each is rendered with a sample event.
    pub async fn wrong_templates<F: Send + 'static>(
        &self,
        caller: &Authorized<permission::Edit>,
        templates: Vec<(F, UserTemplate)>,
    ) -> Result<Vec<(F, Invalid)>> {
        self.check_templates(caller, templates).await
    }

    async fn check_templates<F: Send + 'static>(
        &self,
        caller: &Caller,
        templates: Vec<(F, UserTemplate)>,
    ) -> Result<Vec<(F, Invalid)>> {
        if templates.is_empty() {
            return Ok(Vec::new());
        }
        self.render(caller, move || {
            let wrong = templates
                .into_iter()
                .filter_map(|(field, template)| Some((field, template::check(&template).err()?)));
            wrong.collect()
        })
        .await
    }

    /// Renders a template for a request, on a thread that runs neither requests nor checks.
    /// Teams take turns.
    async fn render<T: Send + 'static>(
        &self,
        caller: &Caller,
        render: impl FnOnce() -> T + Send + 'static,
    ) -> Result<T> {
        let turn = tokio::time::timeout(RENDER_TIMEOUT, self.0.rendering.turn(caller.team())).await;
        let turn = turn.map_err(|_| Error::Overloaded)?.map_err(|_| Error::Overloaded)?;
        let rendering = tokio::task::spawn_blocking(move || {
            let rendered = render();
            drop(turn);
            rendered
        });
        rendering.await.map_err(|_| Error::Overloaded)
    }

    /// Refuses a host that the network policy does not allow. The API calls this and the
    /// other validations to report all invalid fields together; saving validates the
    /// notifier again as a whole.
    pub fn validate_host(&self, host: &Hostname, port: u16) -> std::result::Result<(), Invalid> {
        self.net().guard().validate_host(host, port)
    }

    /// Refuses a URL that the network policy does not allow.
    pub fn validate_url(&self, url: &HttpUrl) -> std::result::Result<(), Invalid> {
        self.net().guard().validate_url(url)
    }

    /// A new secret to sign messages with.
    pub fn new_signing_secret(&self) -> SigningSecret {
        SigningSecret::issue(random::bytes())
    }

    pub(super) fn apply_notifier_draft(
        &self,
        caller: &Caller,
        draft: NotifierDraft,
        before: Option<&Notifier>,
    ) -> Notifier {
        let now = self.now();
        let disabled = before.and_then(|before| before.disabled.clone());
        let stored = before.map(|before| before.attempts.clone()).unwrap_or_default();
        let messages = message_rules(&draft, before);
        let group_wait = draft.group_wait.or_else(|| before.map(|before| before.group_wait));
        let is_grouped = draft.channel.kind().delivery_mode() == DeliveryMode::Digest;
        let mut notifier = Notifier {
            id: before.map_or_else(|| NotifierId::new(now, random::bytes()), |before| before.id),
            team: caller.team(),
            name: draft.name,
            channel: draft.channel,
            owner: match before {
                Some(before) => before.owner,
                None => draft.is_personal.then(|| caller.user()),
            },
            disabled: match draft.isactive {
                None => disabled,
                Some(true) => None,
                Some(false) => disabled
                    .or_else(|| Some(Disabled { at: now, why: "turned off by its team".into() })),
            },
            isdefault: draft
                .isdefault
                .unwrap_or_else(|| before.is_some_and(|before| before.isdefault)),
            messages,
            // The type may have changed to one for programs.
            group_wait: group_wait.filter(|_| is_grouped).unwrap_or(0),
            attempts: stored,
            revision: before.map_or(1, |before| before.revision),
            created: before.map_or(now, |before| before.created),
            modified: now,
        };
        if let Some(before) = before {
            let reset = AttemptReset::between(before, &notifier);
            notifier.attempts = reset.apply(notifier.attempts);
        }
        notifier
    }

    /// Creates a new signing secret; messages are also signed with the old one for a day.
    pub async fn rotate_notifier(
        &self,
        caller: &Authorized<permission::Edit>,
        id: NotifierId,
    ) -> Result<NotifierView> {
        let new = self.new_signing_secret();
        for _ in 0..MAX_SAVE_ATTEMPTS {
            let mut notifier = self.changeable_notifier(caller, id).await?;
            let keys = notifier.channel.keys_mut().ok_or(Error::Unsigned)?;
            *keys = keys.clone().rotated(new.clone(), self.now());
            notifier.modified = self.now();
            if self.store_notifier(caller, &notifier).await? {
                return Ok(NotifierView { notifier, secret: Some(new), redacted: false });
            }
        }
        Err(Error::Conflict)
    }

    /// The message that a notifier with these settings would send; nothing is sent.
    pub async fn preview_notifier(
        &self,
        caller: &Authorized<permission::Edit>,
        draft: PreviewDraft,
    ) -> Result<Preview> {
        let now = self.now();
        let event_id = EventId::new(now, random::bytes());
        let name: String = draft.name.chars().take(Name::MAX_LENGTH).collect();
        let event = Event::example(&draft.event, event_id, &name, now).ok_or_else(|| {
            let kinds = [event::DOWN, event::UP, event::CERTIFICATE, event::TEST];
            Error::Refused { field: "event", why: format!("must be one of {}", kinds.join(", ")) }
        })?;
        let event = self.with_sample_links(event);
        let link = self.public_url().to_owned();
        let preview = move || notify::preview(&draft.channel, &event, &link, now);
        let rendered = self.render(caller, preview).await?;
        rendered.map_err(|(field, why)| Error::Refused { field, why: why.to_string() })
    }

    pub async fn delete_notifier(
        &self,
        caller: &Authorized<permission::Edit>,
        id: NotifierId,
    ) -> Result<()> {
        let notifier = self.changeable_notifier(caller, id).await?;
        let team = self.store().team(caller.team_access());
        let by = self.audit(caller);
        match team.delete_notifier(&notifier, &by).await {
            Ok(DeleteNotifierOutcome::Done) => {
                self.delete_some(by.at()).await;
                Ok(())
            }
            Ok(DeleteNotifierOutcome::Missing) => Err(Error::NotFound("notifier")),
            Ok(DeleteNotifierOutcome::Linked(monitors)) => Err(Error::NotifierInUse(monitors)),
            // A monitor was linked between the check and the deletion.
            Err(StoreError::Gone) => Err(Error::NotifierInUse(Vec::new())),
            Err(error) => Err(error.into()),
        }
    }

    /// The deliveries of a notifier, newest first.
    pub async fn notifier_deliveries(
        &self,
        caller: &Authorized<permission::View>,
        id: NotifierId,
        before: Option<DeliveryId>,
        limit: Option<u32>,
    ) -> Result<Page<ListedDelivery, DeliveryId>> {
        self.notifier(caller, id).await?;
        let team = self.store().team(caller.team_access());
        let found = team.notifier_deliveries(id, before, limit_plus_one(limit)).await?;
        let found = found.ok_or(Error::NotFound("notifier"))?;
        Ok(Page::of(found, limit, |listed| listed.id))
    }

    /// Sends a message again, with the same event id.
    pub async fn resend_delivery(
        &self,
        caller: &Authorized<permission::Respond>,
        id: DeliveryId,
    ) -> Result<()> {
        let team = self.store().team(caller.team_access());
        match team.resend_delivery(id, caller.user(), self.now()).await? {
            ResendOutcome::Queued => Ok(()),
            ResendOutcome::Missing => Err(Error::NotFound("delivery")),
            ResendOutcome::NotifierDisabled => Err(Error::NotifierDisabled),
        }
    }
}

/// Refuses a sender that mail cannot be sent from.
pub fn validate_sender(sender: &Mailbox) -> std::result::Result<(), Invalid> {
    mail::check_sender(sender)
}

/// Refuses recipients that mail cannot be sent to.
pub fn validate_recipients(all: &Mailboxes) -> std::result::Result<(), Invalid> {
    all.iter().try_for_each(mail::check_recipient)
}

fn signing_secret(notifier: &Notifier) -> Option<&SigningSecret> {
    notifier.channel.keys().map(|keys| &keys.current)
}
