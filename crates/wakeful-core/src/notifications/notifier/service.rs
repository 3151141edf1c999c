//! A notifier that sends to a known service, such as Slack. A kind of service is a descriptor of
//! its settings; everything else about the settings is the same for all of them and is here:
//! validation, storage in two parts, changes that leave fields out, and masking of secrets.

use serde::Serialize;
use std::collections::{BTreeMap, HashSet};
use url::Url;

use super::webhook::{self, WebhookSpec};
use super::{BuiltinTemplate, Kind, Template};
use crate::Invalid;
use crate::monitors::spec::HttpUrl;
use crate::named_enum;
use crate::notifications::event;
use crate::secret::Secret;

/// A longer value is refused.
const MAX_LENGTH: usize = 2_048;
/// Shown instead of a secret.
pub const MASK: &str = "***";
/// What takes the place of an address that has not been entered yet, in a preview.
const UNKNOWN_SERVER: &str = "https://service.invalid/";

/// A kind of service.
pub struct Descriptor {
    pub kind: Kind,
    /// Its name.
    pub label: &'static str,
    pub fields: &'static [Field],
    pub can: &'static [Ability],
    /// Whether programs read its messages: they get every type of event.
    pub is_for_programs: bool,
    /// Rules about several fields.
    pub check: fn(&ServiceSpec) -> Result<(), FieldError>,
    /// The built-in template that this kind replaces.
    pub replaces: Option<BuiltinTemplate>,
    /// The settings that the URL of a webhook with that template contains.
    pub from_url: fn(&Url) -> Vec<(&'static str, String)>,
}

/// The name of a field and what is wrong with it.
pub type FieldError = (&'static str, Invalid);

named_enum! {
    /// What a service can do with a message.
    #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
    pub enum Ability {
        /// Later messages about the same alert belong to the first one.
        Thread = "thread",
        /// A message that was sent can be changed.
        Edit = "edit",
        /// A reader can acknowledge the alert.
        Acknowledge = "acknowledge",
        /// Many messages can be sent as one.
        Digest = "digest",
    }
}

/// A setting of a service.
pub struct Field {
    /// With the name of the kind: `slack.token`.
    pub path: &'static str,
    pub input: Input,
    pub required: bool,
    /// Encrypted, and never returned.
    pub secret: bool,
    /// Only returned to those who may edit: with it, others can read or send messages.
    pub private: bool,
    /// Used when it is not set.
    pub default: &'static str,
    pub help: &'static str,
    /// What a text must look like.
    pub parse: fn(&str) -> Result<(), Invalid>,
}

/// What a field takes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Input {
    Text,
    Url,
    /// The address of the service. The secrets are only sent there: another address needs them
    /// again.
    Server,
    Flag,
    Choice(&'static [&'static str]),
}

impl Input {
    /// The type of the field in the API.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Text => "text",
            Self::Url | Self::Server => "url",
            Self::Flag => "flag",
            Self::Choice(_) => "choice",
        }
    }

    pub fn is_url(self) -> bool {
        matches!(self, Self::Url | Self::Server)
    }
}

impl Field {
    const fn new(path: &'static str, input: Input, help: &'static str) -> Self {
        let parse = |_: &str| Ok(());
        Self {
            path,
            input,
            required: false,
            secret: false,
            private: false,
            default: "",
            help,
            parse,
        }
    }

    pub const fn text(path: &'static str, help: &'static str) -> Self {
        Self::new(path, Input::Text, help)
    }

    pub const fn url(path: &'static str, help: &'static str) -> Self {
        Self::new(path, Input::Url, help)
    }

    pub const fn server(path: &'static str, default: &'static str, help: &'static str) -> Self {
        Self { default, ..Self::new(path, Input::Server, help) }
    }

    pub const fn flag(path: &'static str, help: &'static str) -> Self {
        Self { default: "false", ..Self::new(path, Input::Flag, help) }
    }

    /// One of these values; the first one unless it is set.
    pub const fn choice(
        path: &'static str,
        options: &'static [&'static str],
        help: &'static str,
    ) -> Self {
        Self { default: options[0], ..Self::new(path, Input::Choice(options), help) }
    }

    /// How the first message and its thread show the end of an outage.
    pub const fn on_recovery(path: &'static str) -> Self {
        let help = "How a recovery is shown: as a reply, by updating the first message, or both.";
        let input = Input::Choice(&["reply", "update", "both"]);
        Self { default: "both", ..Self::new(path, input, help) }
    }

    #[must_use]
    pub const fn required(self) -> Self {
        Self { required: true, ..self }
    }

    #[must_use]
    pub const fn secret(self) -> Self {
        Self { secret: true, ..self }
    }

    #[must_use]
    pub const fn private(self) -> Self {
        Self { private: true, ..self }
    }

    #[must_use]
    pub const fn parsed(self, parse: fn(&str) -> Result<(), Invalid>) -> Self {
        Self { parse, ..self }
    }

    /// The name of the field within the settings of its kind.
    pub fn name(&self) -> &'static str {
        self.path.split_once('.').map_or(self.path, |(_, name)| name)
    }

    fn validate(&self, text: &str) -> Result<(), Invalid> {
        if text.chars().count() > MAX_LENGTH {
            return Err(Invalid::new(format!("must have at most {MAX_LENGTH} characters")));
        }
        if text.chars().any(char::is_control) {
            return Err(Invalid::new("must not contain line ends or other control characters"));
        }
        match self.input {
            Input::Url | Input::Server => webhook::url(text).map(drop)?,
            Input::Flag if !["true", "false"].contains(&text) => {
                return Err(Invalid::new("must be true or false"));
            }
            Input::Choice(names) if !names.contains(&text) => {
                return Err(Invalid::one_of(names.iter().copied()));
            }
            _ => {}
        }
        (self.parse)(text)
    }
}

impl Descriptor {
    fn field(&self, name: &str) -> Option<&'static Field> {
        self.fields.iter().find(|field| field.name() == name)
    }

    /// The types of events that a new notifier of this kind gets.
    pub fn default_events(&self) -> Vec<String> {
        let follows = self.can.iter().any(|can| [Ability::Thread, Ability::Edit].contains(can));
        let is_wanted = |kind: &String| {
            self.is_for_programs
                || follows
                || !event::ALERT_TYPES.contains(&kind.as_str())
                || event::ADDRESSED_TYPES.contains(&kind.as_str())
        };
        every_event().into_iter().filter(is_wanted).collect()
    }
}

/// Every type of event that is neither a test nor only sent on request.
pub(super) fn every_event() -> Vec<String> {
    let is_usual = |kind: &&&str| **kind != event::TEST && !event::OPTIONAL_TYPES.contains(kind);
    let kinds = event::TYPES.iter().filter(is_usual);
    kinds.map(|kind| (*kind).to_owned()).collect()
}

/// The settings of a notifier that sends to a service. A value that is not set is not in it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ServiceSpec {
    kind: Kind,
    open: BTreeMap<String, String>,
    secrets: BTreeMap<String, Secret>,
}

impl ServiceSpec {
    /// The settings after a change. An omitted value (`None`) remains as it was, and an empty
    /// one is removed.
    pub fn changed(
        descriptor: &Descriptor,
        sent: impl Fn(&Field) -> Option<String>,
        old: Option<&Self>,
    ) -> Result<Self, Vec<FieldError>> {
        let mut errors = Vec::new();
        let old = old.filter(|old| old.kind == descriptor.kind);
        let mut spec = old.cloned().unwrap_or_else(|| Self::empty(descriptor.kind));
        for field in descriptor.fields {
            let Some(text) = sent(field) else { continue };
            let text = text.trim();
            if text.is_empty() {
                spec.remove(field);
                continue;
            }
            match field.validate(text) {
                Ok(()) => spec.set(field, text),
                Err(why) => errors.push((field.name(), why)),
            }
        }
        let has_moved = old.is_some_and(|old| old.servers() != spec.servers());
        if has_moved {
            spec.drop_secrets(|name| descriptor.field(name).and_then(&sent).is_none());
        }
        for field in descriptor.fields.iter().filter(|field| field.required) {
            let is_wrong = errors.iter().any(|(name, _)| *name == field.name());
            if spec.get(field.name()).is_empty() && !is_wrong {
                errors.push((field.name(), missing(field, has_moved)));
            }
        }
        if errors.is_empty() {
            match (descriptor.check)(&spec) {
                Ok(()) => return Ok(spec),
                Err(error) => errors.push(error),
            }
        }
        Err(errors)
    }

    fn empty(kind: Kind) -> Self {
        Self { kind, open: BTreeMap::new(), secrets: BTreeMap::new() }
    }

    fn set(&mut self, field: &Field, text: &str) {
        self.remove(field);
        // What is set to its default follows the default of later versions.
        if field.secret {
            self.secrets.insert(field.name().to_owned(), Secret::new(text));
        } else if text != field.default {
            self.open.insert(field.name().to_owned(), text.to_owned());
        }
    }

    fn remove(&mut self, field: &Field) {
        self.open.remove(field.name());
        self.secrets.remove(field.name());
    }

    /// Where the secrets are sent.
    fn servers(&self) -> Vec<&str> {
        let servers = self.descriptor().fields.iter().filter(|field| field.input == Input::Server);
        servers.map(|field| self.get(field.name())).collect()
    }

    /// A URL that is a secret itself is not bound to the server.
    fn drop_secrets(&mut self, is_omitted: impl Fn(&str) -> bool) {
        let descriptor = self.descriptor();
        let is_url = |name: &str| descriptor.field(name).is_some_and(|field| field.input.is_url());
        self.secrets.retain(|name, _| is_url(name) || !is_omitted(name));
    }

    pub fn kind(&self) -> Kind {
        self.kind
    }

    pub fn descriptor(&self) -> &'static Descriptor {
        self.kind.service().expect("only created for a service")
    }

    /// A value, its default, or an empty text.
    pub fn get(&self, name: &str) -> &str {
        let set = self.open.get(name).map(String::as_str);
        let set = set.or_else(|| self.secrets.get(name).map(Secret::expose));
        set.or_else(|| Some(self.descriptor().field(name)?.default)).unwrap_or_default()
    }

    pub fn flag(&self, name: &str) -> bool {
        self.get(name) == "true"
    }

    /// Sets a value that the service itself has changed.
    #[must_use]
    pub fn with(mut self, name: &str, text: &str) -> Self {
        if let Some(field) = self.descriptor().field(name) {
            self.set(field, text);
        }
        self
    }

    /// The names of the secrets that are set.
    pub fn secrets_set(&self) -> Vec<&'static str> {
        let fields = self.descriptor().fields.iter();
        fields.map(Field::name).filter(|name| self.secrets.contains_key(*name)).collect()
    }

    pub fn secrets(&self) -> impl Iterator<Item = (&str, &Secret)> {
        self.secrets.iter().map(|(name, secret)| (name.as_str(), secret))
    }

    /// The values that a text for others must not contain.
    pub fn confidential(&self) -> impl Iterator<Item = &str> {
        let private = self.private_fields().map(|field| self.get(field.name()));
        self.secrets.values().map(Secret::expose).chain(private)
    }

    fn private_fields(&self) -> impl Iterator<Item = &'static Field> + use<> {
        self.descriptor().fields.iter().filter(|field| field.private)
    }

    /// Removes what only those who may edit the notifier may see.
    pub(super) fn redact(&mut self) {
        for field in self.private_fields() {
            self.remove(field);
        }
    }

    /// The addresses in it, with the fields that they are in.
    pub fn urls(&self) -> impl Iterator<Item = (&'static Field, HttpUrl)> {
        let fields = self.descriptor().fields.iter().filter(|field| field.input.is_url());
        fields.filter_map(|field| Some((field, HttpUrl::parse(self.get(field.name())).ok()?)))
    }

    /// The same settings without their secrets, and with something in place of what is missing:
    /// a message can be composed with them before they are complete.
    #[must_use]
    pub fn masked(&self) -> Self {
        let descriptor = self.descriptor();
        let mut masked = Self { secrets: BTreeMap::new(), ..self.clone() };
        for field in descriptor.fields {
            let is_set = !self.get(field.name()).is_empty();
            if (field.secret && is_set) || (field.required && !is_set) {
                masked.fill(field, self.get(field.name()));
            }
        }
        // Each round adds what the rules about several fields require next.
        for _ in descriptor.fields {
            match (descriptor.check)(&masked) {
                Err((name, _)) if masked.get(name).is_empty() => {
                    let field = descriptor.field(name);
                    field.into_iter().for_each(|field| masked.fill(field, ""));
                }
                _ => break,
            }
        }
        masked
    }

    /// Sets a field to something that stands for its value.
    fn fill(&mut self, field: &Field, text: &str) {
        let shown = match field.input {
            Input::Url | Input::Server => masked_url(text),
            _ if field.secret => MASK.to_owned(),
            _ => "…".to_owned(),
        };
        self.set(field, &shown);
    }

    /// The settings of a preview: what is invalid or missing does not prevent it.
    pub fn draft(
        descriptor: &Descriptor,
        sent: impl Fn(&Field) -> Option<String>,
        old: Option<&Self>,
    ) -> Self {
        let old = old.filter(|old| old.kind == descriptor.kind);
        let mut spec = old.cloned().unwrap_or_else(|| Self::empty(descriptor.kind));
        for field in descriptor.fields {
            let Some(text) = sent(field) else { continue };
            match text.trim() {
                "" => spec.remove(field),
                text if field.validate(text).is_ok() => spec.set(field, text),
                _ => {}
            }
        }
        spec.masked()
    }

    pub(super) fn open_part(&self) -> String {
        super::json(&self.open)
    }

    pub(super) fn sealed_part(&self) -> Secret {
        #[derive(Serialize)]
        #[serde(transparent)]
        struct Sealed<'a>(BTreeMap<&'a str, &'a str>);
        let secrets = self.secrets.iter().map(|(name, secret)| (name.as_str(), secret.expose()));
        Secret::new(super::json(&Sealed(secrets.collect())))
    }

    pub(super) fn from_parts(kind: Kind, open: &str, sealed: &Secret) -> Option<Self> {
        let open = serde_json::from_str(open).ok()?;
        let secrets: BTreeMap<String, String> = serde_json::from_str(sealed.expose()).ok()?;
        let secrets = secrets.into_iter().map(|(name, text)| (name, Secret::new(text))).collect();
        kind.service()?;
        Some(Self { kind, open, secrets })
    }
}

fn missing(field: &Field, has_moved: bool) -> Invalid {
    if field.secret && has_moved {
        Invalid::new("is required, because the address of the server has changed")
    } else {
        Invalid::new("is required")
    }
}

/// The server of a URL; its path may contain a secret.
fn masked_url(text: &str) -> String {
    let url = HttpUrl::parse(text).or_else(|_| HttpUrl::parse(UNKNOWN_SERVER));
    url.map_or_else(|_| String::new(), |url| format!("{}/{MASK}", url.origin().as_str()))
}

/// What a webhook with the built-in template of a service contains of its settings.
pub fn settings_of_webhook(
    descriptor: &Descriptor,
    hook: &WebhookSpec,
) -> Vec<(&'static str, String)> {
    match (&hook.template, descriptor.replaces) {
        (Template::Builtin(template), Some(replaced)) if *template == replaced => {
            (descriptor.from_url)(hook.url.url())
        }
        _ => Vec::new(),
    }
}

/// For services whose fields do not depend on each other.
pub(super) fn no_rules(_: &ServiceSpec) -> Result<(), FieldError> {
    Ok(())
}

/// For services that no built-in template exists for.
pub(super) fn nothing(_: &Url) -> Vec<(&'static str, String)> {
    Vec::new()
}

/// The value of a parameter in the query of a URL.
pub(super) fn parameter(url: &Url, name: &str) -> Option<String> {
    let mut pairs = url.query_pairs();
    pairs.find(|(key, _)| key == name).map(|(_, value)| value.into_owned())
}

/// A text that has only these characters, at least one and at most so many.
pub(super) fn made_of(
    text: &str,
    max: usize,
    is_allowed: impl Fn(char) -> bool,
    why: &str,
) -> Result<(), Invalid> {
    let is_valid = (1..=max).contains(&text.chars().count()) && text.chars().all(is_allowed);
    if is_valid { Ok(()) } else { Err(Invalid::new(why)) }
}

/// The parts of a text that are separated by commas.
pub fn items(text: &str) -> impl Iterator<Item = &str> {
    text.split(',').map(str::trim)
}

/// A list of different items, at least one and at most so many.
pub(super) fn each(
    text: &str,
    max: usize,
    is_valid: impl Fn(&str) -> bool,
    why: &str,
) -> Result<(), Invalid> {
    let all: Vec<&str> = items(text).collect();
    let mut seen = HashSet::new();
    if !all.iter().all(|one| is_valid(one)) {
        Err(Invalid::new(why))
    } else if all.len() > max {
        Err(Invalid::new(format!("must have at most {max} items")))
    } else if let Some(twice) = all.iter().find(|one| !seen.insert(**one)) {
        Err(Invalid::new(format!("has {twice} twice")))
    } else {
        Ok(())
    }
}

/// A phone number in the international format, E.164.
pub(super) fn is_phone(text: &str) -> bool {
    let digits = text.strip_prefix('+').unwrap_or_default();
    (7..=15).contains(&digits.len())
        && digits.bytes().all(|byte| byte.is_ascii_digit())
        && !digits.starts_with('0')
}

#[cfg(test)]
mod tests {
    use super::*;

    fn sent<'a>(
        pairs: &'a [(&'static str, &'static str)],
    ) -> impl Fn(&Field) -> Option<String> + 'a {
        |field| {
            let pair = pairs.iter().find(|(name, _)| *name == field.name());
            pair.map(|(_, text)| (*text).to_owned())
        }
    }

    fn ntfy() -> &'static Descriptor {
        Kind::Ntfy.service().expect("a service")
    }

    fn topic(pairs: &[(&'static str, &'static str)], old: Option<&ServiceSpec>) -> ServiceSpec {
        ServiceSpec::changed(ntfy(), sent(pairs), old).expect("valid")
    }

    #[test]
    fn every_descriptor_is_complete() {
        for descriptor in Kind::ALL.iter().filter_map(|kind| kind.service()) {
            let kind = descriptor.kind.as_str();
            let is_combined = descriptor.can.contains(&Ability::Digest);
            assert_eq!(is_combined, !descriptor.is_for_programs, "{kind}");
            let optional = descriptor.default_events();
            assert!(!optional.iter().any(|one| one == event::COMMENTED), "{kind}");
            // A server of Signal has no credentials.
            let has_secret = descriptor.fields.iter().any(|field| field.secret);
            assert_eq!(has_secret, descriptor.kind != Kind::Signal, "{kind}");
            for field in descriptor.fields {
                assert!(field.path.starts_with(&format!("{kind}.")), "{}", field.path);
                assert!(field.help.ends_with('.'), "{}", field.path);
                if !field.default.is_empty() {
                    assert_eq!(field.validate(field.default), Ok(()), "{}", field.path);
                }
            }
            let spec = ServiceSpec::draft(descriptor, |_| None, None);
            let required = descriptor.fields.iter().filter(|field| field.required);
            for field in required {
                assert!(!spec.get(field.name()).is_empty(), "{}", field.path);
            }
        }
    }

    #[test]
    fn omitted_values_remain_and_empty_ones_are_removed() {
        let first = topic(&[("topic", " alerts "), ("token", "tk_secret")], None);
        assert_eq!(first.get("topic"), "alerts");
        assert_eq!(first.get("server"), "https://ntfy.sh");
        assert_eq!(first.secrets_set(), ["token"]);
        let renamed = topic(&[("topic", "night")], Some(&first));
        assert_eq!((renamed.get("topic"), renamed.get("token")), ("night", "tk_secret"));
        let public = topic(&[("token", "")], Some(&renamed));
        assert!(public.secrets_set().is_empty());
        assert!(!format!("{first:?}").contains("tk_secret"));
    }

    #[test]
    fn a_secret_is_bound_to_the_server_that_it_was_entered_for() {
        let first = topic(&[("topic", "alerts"), ("token", "tk_secret")], None);
        let moved = topic(&[("server", "https://ntfy.example.com")], Some(&first));
        assert!(moved.secrets_set().is_empty());
        let both = [("server", "https://ntfy.example.com"), ("token", "tk_other")];
        assert_eq!(topic(&both, Some(&first)).get("token"), "tk_other");
        let gotify = Kind::Gotify.service().expect("a service");
        let pairs = [("server", "https://g.example.com"), ("token", "abc")];
        let stored = ServiceSpec::changed(gotify, sent(&pairs), None).expect("valid");
        let pairs = [("server", "https://other.example.com")];
        let why = ServiceSpec::changed(gotify, sent(&pairs), Some(&stored)).expect_err("no token");
        assert_eq!(why[0].0, "token");
        assert!(why[0].1.0.contains("has changed"), "{}", why[0].1);
    }

    #[test]
    fn all_invalid_fields_are_named_at_once() {
        let pairs = [("topic", "no spaces"), ("server", "ftp://x")];
        let errors = ServiceSpec::changed(ntfy(), sent(&pairs), None).expect_err("invalid");
        let names: Vec<&str> = errors.iter().map(|(name, _)| *name).collect();
        assert_eq!(names, ["server", "topic"]);
        let errors = ServiceSpec::changed(ntfy(), sent(&[]), None).expect_err("invalid");
        assert_eq!(errors, [("topic", Invalid::new("is required"))]);
    }

    #[test]
    fn a_masked_spec_has_no_secret_and_is_complete() {
        let slack = Kind::Slack.service().expect("a service");
        let pairs = [("webhook_url", "https://hooks.slack.com/services/T1/B1/hunter2")];
        let spec = ServiceSpec::changed(slack, sent(&pairs), None).expect("valid");
        let masked = spec.masked();
        assert_eq!(masked.get("webhook_url"), "https://hooks.slack.com/***");
        assert_eq!(masked.get("token"), "");
        let unknown = ServiceSpec::draft(slack, |_| None, None);
        assert_eq!((unknown.get("token"), unknown.get("channel")), (MASK, "…"));
    }

    #[test]
    fn a_kind_that_follows_an_alert_also_gets_its_acknowledgement() {
        let events = |kind: Kind| kind.service().expect("a service").default_events();
        assert!(events(Kind::Slack).contains(&event::ACKNOWLEDGED.to_owned()));
        assert!(events(Kind::Pagerduty).contains(&event::RESOLVED.to_owned()));
        assert!(!events(Kind::Gotify).contains(&event::ACKNOWLEDGED.to_owned()));
        assert!(events(Kind::Gotify).contains(&event::ESCALATED.to_owned()));
    }
}
