//! Notifiers that send to a known service, such as Slack: their settings are an object with the
//! name of the type, whose fields are those of its descriptor.

use serde::Serialize;
use std::collections::BTreeMap;
use utoipa::ToSchema;
use wakeful_core::notifications::notifier::service::{self, Descriptor, Field, Input};
use wakeful_core::notifications::notifier::{Channel, Kind, ServiceSpec};
use wakeful_engine::{Engine, PreviewChannel, PreviewRequest};

use crate::dto::Fields;
use crate::dto::enums::{NotifierAbility, NotifierType};

/// The settings of a notifier that sends to a known service: the fields of its type in
/// `notifier/kinds`. An omitted field retains its value; an empty one is removed.
#[derive(ToSchema)]
#[schema(as = SaveNotifierService)]
#[expect(dead_code, reason = "only its schema is used")]
pub(crate) struct SaveService(BTreeMap<String, ServiceValue>);

/// A text, or true or false.
#[derive(Serialize, ToSchema)]
#[serde(untagged)]
pub(crate) enum ServiceValue {
    Text(String),
    Flag(bool),
}

/// The settings of a notifier that sends to a known service. Its secrets are never returned.
#[derive(Serialize, ToSchema)]
#[schema(as = NotifierService)]
pub(crate) struct ServiceBody {
    /// The names of the secrets that are set.
    secrets_set: Vec<&'static str>,
    /// The other settings.
    #[serde(flatten)]
    settings: BTreeMap<&'static str, ServiceValue>,
}

impl ServiceBody {
    pub(super) fn of(spec: &ServiceSpec) -> Self {
        let fields = spec.descriptor().fields.iter().filter(|field| !field.secret);
        let value = |field: &Field| match field.input {
            Input::Flag => ServiceValue::Flag(spec.flag(field.name())),
            _ => ServiceValue::Text(spec.get(field.name()).to_owned()),
        };
        let settings = fields.map(|field| (field.name(), value(field))).collect();
        Self { secrets_set: spec.secrets_set(), settings }
    }
}

/// The settings after a change; all invalid fields are reported at once.
pub(super) fn read(
    fields: &mut Fields,
    kind: Kind,
    old: Option<&Channel>,
    engine: &Engine,
) -> Option<Channel> {
    let descriptor = kind.service()?;
    let known: Vec<&str> =
        descriptor.fields.iter().map(Field::name).chain(["secrets_set"]).collect();
    fields.reject_unknown(&known);
    let values = values(fields, descriptor, old);
    let value = |field: &Field| values.get(field.name()).cloned();
    let spec = match ServiceSpec::changed(descriptor, value, spec(old)) {
        Ok(spec) => spec,
        Err(errors) => {
            for (name, why) in errors {
                fields.refuse(name, why.0);
            }
            return None;
        }
    };
    for (field, url) in spec.urls() {
        fields.accept(field.name(), engine.validate_url(&url));
    }
    Some(Channel::Service(spec))
}

pub(super) fn preview(
    fields: &mut Fields,
    kind: Kind,
    old: Option<&Channel>,
) -> Option<PreviewChannel> {
    let descriptor = kind.service()?;
    let values = values(fields, descriptor, old);
    let value = |field: &Field| values.get(field.name()).cloned();
    Some(PreviewChannel::Service(ServiceSpec::draft(descriptor, value, spec(old))))
}

/// The fields in a request. Those of a webhook with a built-in template, whose type is changed,
/// are in its URL.
fn values(
    fields: &mut Fields,
    descriptor: &Descriptor,
    old: Option<&Channel>,
) -> BTreeMap<&'static str, String> {
    let mut values: BTreeMap<&'static str, String> = match old {
        Some(Channel::Webhook(hook)) => {
            service::settings_of_webhook(descriptor, hook).into_iter().collect()
        }
        _ => BTreeMap::new(),
    };
    for field in descriptor.fields {
        let name = field.name();
        let value = match field.input {
            Input::Flag => fields.optional_flag(name).map(|flag| flag.to_string()),
            _ => fields.optional_text(name),
        };
        values.extend(value.map(|value| (name, value)));
    }
    values
}

fn spec(channel: Option<&Channel>) -> Option<&ServiceSpec> {
    match channel {
        Some(Channel::Service(spec)) => Some(spec),
        _ => None,
    }
}

/// A request to a service, without its secrets.
#[derive(Serialize, ToSchema)]
#[schema(as = NotifierRequest)]
pub(crate) struct RequestBody {
    method: String,
    url: String,
    headers: BTreeMap<String, String>,
    body: String,
}

impl From<PreviewRequest> for RequestBody {
    fn from(request: PreviewRequest) -> Self {
        let PreviewRequest { method, url, headers, body } = request;
        Self { method, url, headers, body }
    }
}

/// The types of notifiers that send to a known service.
#[derive(Serialize, ToSchema)]
pub(crate) struct NotifierKinds {
    success: bool,
    kinds: Vec<KindBody>,
}

/// A type of notifier.
#[derive(Serialize, ToSchema)]
#[schema(as = NotifierKind)]
pub(crate) struct KindBody {
    #[schema(value_type = NotifierType)]
    r#type: &'static str,
    /// The name of the service.
    label: &'static str,
    fields: Vec<FieldBody>,
    #[schema(value_type = Vec<NotifierAbility>)]
    can: Vec<&'static str>,
}

/// A setting of a type of notifier.
#[derive(Serialize, ToSchema)]
#[schema(as = NotifierField)]
pub(crate) struct FieldBody {
    name: &'static str,
    /// What it takes: text, url, flag or choice.
    r#type: &'static str,
    required: bool,
    /// Secrets are encrypted, and never returned.
    secret: bool,
    /// Used when it is not set.
    default: ServiceValue,
    help: &'static str,
    /// The values that a choice takes.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    options: Vec<&'static str>,
}

impl NotifierKinds {
    pub(crate) fn all() -> Self {
        let kinds = Kind::ALL.iter().filter_map(|kind| kind.service());
        Self { success: true, kinds: kinds.map(KindBody::of).collect() }
    }
}

impl KindBody {
    fn of(descriptor: &Descriptor) -> Self {
        Self {
            r#type: descriptor.kind.as_str(),
            label: descriptor.label,
            fields: descriptor.fields.iter().map(FieldBody::of).collect(),
            can: descriptor.can.iter().map(|can| can.as_str()).collect(),
        }
    }
}

impl FieldBody {
    fn of(field: &Field) -> Self {
        let Field { input, required, secret, default, help, .. } = *field;
        Self {
            name: field.name(),
            r#type: input.as_str(),
            required,
            secret,
            default: match input {
                Input::Flag => ServiceValue::Flag(default == "true"),
                _ => ServiceValue::Text(default.to_owned()),
            },
            help,
            options: match input {
                Input::Choice(names) => names.to_vec(),
                _ => Vec::new(),
            },
        }
    }
}
