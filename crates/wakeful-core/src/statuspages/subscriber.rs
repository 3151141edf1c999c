//! A recipient of the updates of a status page, the token in its emails, and the events that it
//! is notified of.

use data_encoding::BASE64URL_NOPAD;
use hmac::{Hmac, KeyInit as _, Mac as _};
use serde::{Deserialize, Serialize};
use sha2::Sha256;
use std::time::Duration;
use uuid::Uuid;

use super::Language;
use super::incident::{Incident, Update};
use super::scope::Scope;
use super::snapshot::{IncidentKind, IncidentStatus, text_enum};
use crate::Invalid;
use crate::audit::{Audited, View};
use crate::email_address::EmailAddress;
use crate::id::{EventId, IncidentUpdateId, StatuspageId, SubscriberId};
use crate::monitors::url::HttpUrl;
use crate::notifications::notifier::SigningSecret;
use crate::seal::Key;
use crate::time::Millis;
use crate::token::Digest;

/// The most subscribers of a page.
pub const MAX_SUBSCRIBERS: usize = 100_000;
/// The most subscribers of one import.
pub const MAX_IMPORTED: usize = 1_000;
/// How long a subscription can be confirmed.
pub const CONFIRM_WITHIN: Duration = Duration::from_secs(86_400);
/// The most emails a day that ask one address for a confirmation.
pub const MAX_CONFIRMATIONS: i64 = 3;
/// How long an address that was unsubscribed, or deleted while it bounced, is not imported again.
pub const REMEMBERED_FOR: Duration = Duration::from_secs(90 * 86_400);
/// How long what was sent can be looked up.
pub const DELIVERIES_RETAINED: Duration = Duration::from_secs(90 * 86_400);
/// Permanent rejections in a row after which nothing more is sent.
pub const MAX_FAILURES: i64 = 3;
/// The longest URL of a webhook.
const MAX_URL: usize = 2_000;

text_enum! {
    #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
    pub enum SubscriberKind {
        Email = "email",
        Webhook = "webhook",
        Slack = "slack",
        Discord = "discord",
        Teams = "teams",
    }
}

text_enum! {
    #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
    pub enum SubscriberState {
        /// Not confirmed yet.
        Pending = "pending",
        Active = "active",
        /// Rejected too often: nothing is sent until it is confirmed again.
        Bouncing = "bouncing",
        Unsubscribed = "unsubscribed",
    }
}

text_enum! {
    /// How a subscriber was added.
    #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
    pub enum SubscriberSource {
        Visitor = "self",
        Team = "team",
        Import = "import",
    }
}

text_enum! {
    /// The body that a webhook receives.
    #[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
    pub enum WebhookFormat {
        #[default]
        Standard = "standard",
        /// That of Statuspage.
        Statuspage = "statuspage",
    }
}

text_enum! {
    #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
    pub enum SubscribedKind {
        Incidents = "incidents",
        Maintenance = "maintenance",
    }
}

/// What a subscriber receives, stored as one JSON text.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct SubscriberSettings {
    pub format: WebhookFormat,
    pub scope: Scope,
    pub kinds: Vec<SubscribedKind>,
    pub language: Language,
}

impl Default for SubscriberSettings {
    fn default() -> Self {
        Self {
            format: WebhookFormat::Standard,
            scope: Scope::default(),
            kinds: SubscribedKind::ALL.to_vec(),
            language: Language::English,
        }
    }
}

impl SubscriberSettings {
    pub fn wants(&self, kind: IncidentKind) -> bool {
        self.kinds.contains(&match kind {
            IncidentKind::Incident => SubscribedKind::Incidents,
            IncidentKind::Maintenance => SubscribedKind::Maintenance,
        })
    }
}

/// Where updates are sent to.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Recipient {
    /// An email address or a URL; empty after unsubscribing.
    pub address: String,
    /// For a webhook: the email address of its owner, if known.
    #[serde(default)]
    pub contact: String,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Subscriber {
    pub id: SubscriberId,
    pub page: StatuspageId,
    pub kind: SubscriberKind,
    pub recipient: Recipient,
    /// Signs what a webhook receives.
    pub secret: Option<SigningSecret>,
    pub settings: SubscriberSettings,
    pub state: SubscriberState,
    pub source: SubscriberSource,
    pub created: Millis,
    pub confirmed: Option<Millis>,
    pub last_delivery: Option<Millis>,
    /// Permanent rejections in a row.
    pub failures: i64,
}

impl SubscriberKind {
    /// An address of this kind as it is stored.
    pub fn parse_address(self, text: &str) -> Result<String, Invalid> {
        let text = text.trim();
        if self == Self::Email {
            return EmailAddress::parse(text).map(|email| email.as_str().to_owned());
        }
        if text.len() > MAX_URL {
            return Err(Invalid::new(format!("must have at most {MAX_URL} characters")));
        }
        HttpUrl::parse(text).map(|url| url.url().to_string())
    }

    /// What identifies an address: those that differ only in spelling are one.
    pub fn address_key(self, address: &str) -> String {
        match self {
            Self::Email => crate::email_address::key(address),
            _ => address.to_owned(),
        }
    }

    /// Whether messages are signed.
    pub fn is_signed(self) -> bool {
        self == Self::Webhook
    }
}

impl Audited for Subscriber {
    /// Without the address: it is deleted when its owner unsubscribes.
    fn view(&self) -> View {
        let scope = &self.settings.scope;
        let kinds: Vec<&str> = self.settings.kinds.iter().map(|kind| kind.as_str()).collect();
        View::default()
            .with("kind", self.kind.as_str())
            .with("state", self.state.as_str())
            .with("format", self.settings.format.as_str())
            .with("language", self.settings.language.as_str())
            .with("kinds", kinds.join(", "))
            .with("scope", serde_json::to_value(scope).unwrap_or_default())
    }
}

const PURPOSE: &str = "status page subscribers";
const VERSION: u8 = 1;
const MAC_LENGTH: usize = 16;
/// Version and id.
const CONTENT_LENGTH: usize = 1 + 16;

/// The token in the links of an email: the id of the subscriber, signed with a key that is
/// derived from this one, so that nothing is stored for it.
pub fn token(id: SubscriberId, key: &Key) -> String {
    let mut bytes = vec![VERSION];
    bytes.extend_from_slice(id.uuid().as_bytes());
    let signature = mac(key, &bytes).finalize().into_bytes();
    bytes.extend_from_slice(&signature[..MAC_LENGTH]);
    BASE64URL_NOPAD.encode(&bytes)
}

/// The subscriber of a token that was signed with one of these keys.
pub fn open_token<'a>(
    token: &str,
    mut keys: impl Iterator<Item = &'a Key>,
) -> Option<SubscriberId> {
    let bytes = BASE64URL_NOPAD.decode(token.as_bytes()).ok()?;
    let (content, signature) = bytes.split_first_chunk::<CONTENT_LENGTH>()?;
    if signature.len() != MAC_LENGTH
        || content[0] != VERSION
        || !keys.any(|key| mac(key, content).verify_truncated_left(signature).is_ok())
    {
        return None;
    }
    Some(Uuid::from_slice(&content[1..]).ok()?.into())
}

fn mac(key: &Key, content: &[u8]) -> Hmac<Sha256> {
    let key = key.derive(PURPOSE);
    let mut mac = Hmac::<Sha256>::new_from_slice(key.bytes()).expect("any length is a key");
    mac.update(content);
    mac
}

/// What an address is looked up by. The key is the installation's own and never changes.
pub fn address_digest(key: &[u8], kind: SubscriberKind, address: &str) -> Digest {
    let mut mac = Hmac::<Sha256>::new_from_slice(key).expect("any length is a key");
    mac.update(format!("{kind}\n{}", kind.address_key(address)).as_bytes());
    Digest(mac.finalize().into_bytes().into())
}

text_enum! {
    /// What subscribers are notified of.
    #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
    pub enum EventType {
        IncidentCreated = "incident.created",
        IncidentUpdated = "incident.updated",
        IncidentResolved = "incident.resolved",
        MaintenanceScheduled = "maintenance.scheduled",
        MaintenanceStarted = "maintenance.started",
        MaintenanceUpdated = "maintenance.updated",
        MaintenanceCompleted = "maintenance.completed",
        /// A maintenance begins soon.
        MaintenanceReminder = "maintenance.reminder",
        /// An update with a status of its own, as in Statuspage.
        Postmortem = "postmortem",
    }
}

impl EventType {
    /// What an update says.
    pub fn of(incident: &Incident, update: &Update) -> Self {
        let is_first = incident.updates.last().is_none_or(|first| first.id == update.id);
        let place = incident.updates.iter().position(|one| one.id == update.id);
        let before = place.and_then(|place| incident.updates.get(place + 1));
        match update.status {
            IncidentStatus::Resolved => Self::IncidentResolved,
            IncidentStatus::Completed => Self::MaintenanceCompleted,
            IncidentStatus::Scheduled if is_first => Self::MaintenanceScheduled,
            IncidentStatus::InProgress | IncidentStatus::Verifying
                if before.is_none_or(|one| one.status == IncidentStatus::Scheduled) =>
            {
                Self::MaintenanceStarted
            }
            status if status.kind() == IncidentKind::Maintenance => Self::MaintenanceUpdated,
            _ if is_first => Self::IncidentCreated,
            _ => Self::IncidentUpdated,
        }
    }
}

/// Whether a change of an incident announces its postmortem.
pub fn announces_postmortem(before: Option<&Incident>, after: &Incident) -> bool {
    let announced = |incident: &Incident| {
        let postmortem = incident.settings.postmortem.as_ref()?;
        postmortem.announced.filter(|_| postmortem.published.is_some())
    };
    let at = announced(after);
    after.is_published()
        && !after.settings.backfilled
        && at.is_some()
        && at != before.and_then(announced)
}

/// The updates that a change of an incident announces: those that are new, or the newest of
/// one that was a draft.
pub fn announced<'a>(before: Option<&Incident>, after: &'a Incident) -> Vec<&'a Update> {
    if !after.is_published() || after.settings.backfilled {
        return Vec::new();
    }
    let newest_first = after.updates.iter();
    let mut new: Vec<&Update> = match before.filter(|before| before.is_published()) {
        Some(before) => newest_first
            .filter(|update| before.updates.iter().all(|known| known.id != update.id))
            .collect(),
        None => newest_first.take(1).collect(),
    };
    new.retain(|update| update.settings.notify);
    new.reverse();
    new
}

/// The id of the event about an update on a page, or about a reminder: one that is written twice
/// is the same.
pub fn event_id(
    page: StatuspageId,
    update: IncidentUpdateId,
    event: EventType,
    reminder: u32,
    created: Millis,
) -> EventId {
    let digest = Digest::of(&format!("{page} {update} {event} {reminder}"));
    EventId::new(created, digest.0.first_chunk().copied().unwrap_or_default())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_token_is_opened_with_any_key_and_cannot_be_changed() {
        let (old, new) = (Key::new([1; 32]), Key::new([2; 32]));
        let id = SubscriberId::new(Millis(1), [1; 10]);
        let signed = token(id, &old);
        assert_eq!(open_token(&signed, [&new, &old].into_iter()), Some(id));
        assert_eq!(open_token(&signed, [&new].into_iter()), None);
        for at in 0..signed.len() {
            let mut changed = signed.clone().into_bytes();
            changed[at] = if changed[at] == b'A' { b'B' } else { b'A' };
            let changed = String::from_utf8(changed).expect("ASCII");
            assert_eq!(open_token(&changed, [&old].into_iter()), None, "{at}");
        }
        for other in ["", "x", &"A".repeat(10_000)] {
            assert_eq!(open_token(other, [&old].into_iter()), None);
        }
    }

    #[test]
    fn addresses_are_one_in_any_spelling() {
        let digest = |kind, address| address_digest(b"key", kind, address);
        let email = SubscriberKind::Email;
        assert_eq!(digest(email, "Ann@Example.com"), digest(email, "ann@example.com"));
        assert_ne!(digest(email, "ann@example.com"), digest(email, "bob@example.com"));
        assert!(email.parse_address("ann").is_err());
        assert!(SubscriberKind::Webhook.parse_address("ftp://example.com").is_err());
        let url = SubscriberKind::Slack.parse_address(" HTTPS://Example.com/a ").unwrap();
        assert_eq!(url, "https://example.com/a");
    }
}
