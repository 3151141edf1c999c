//! The closed sets of values as OpenAPI schemas. The values come from the types of the
//! domain, so that the document cannot miss one. Nothing is parsed with these types: reading
//! stays as lenient as the parsers of the domain.

use utoipa::openapi::schema::{AnyOfBuilder, ObjectBuilder, Schema, Type};
use utoipa::openapi::{Ref, RefOr};
use utoipa::{PartialSchema, ToSchema};
use wakeful_core::access;
use wakeful_core::accounts::reauthentication;
use wakeful_core::action_link;
use wakeful_core::alerting::{alert, state, step};
use wakeful_core::assert;
use wakeful_core::audit;
use wakeful_core::billing;
use wakeful_core::calendar::hours;
use wakeful_core::dependency;
use wakeful_core::evidence;
use wakeful_core::heartbeat::Beat;
use wakeful_core::history::HistoryStatus;
use wakeful_core::maintenance;
use wakeful_core::monitors::spec::{self, AuthenticationKind, Method, RecordType};
use wakeful_core::notifications::notifier::email::SecurityKind;
use wakeful_core::notifications::notifier::{self, BuiltinTemplate};
use wakeful_core::notifications::{delivery_state, event};
use wakeful_core::oncall;
use wakeful_core::push;
use wakeful_core::quiet;
use wakeful_core::reason;
use wakeful_core::severity;
use wakeful_core::statuspages::{self, snapshot};
use wakeful_core::verdict::{Health, Report, Status};
use wakeful_engine::billing::Decline;
use wakeful_engine::history::STANDARD_SPANS;
use wakeful_engine::{ReportOrder, Source};

use super::audit::ExportFormat;
use super::invitations::AccountState;
use super::payment_methods::METHOD_TYPE;
use super::report::Format;
use super::report_page::Language;
use crate::error;

/// Sets that are complete: clients may rely on them.
macro_rules! closed_sets {
    ($($(#[doc = $doc:literal])+ $name:ident = $values:expr;)+) => {$(
        $(#[doc = $doc])+
        pub(crate) enum $name {}

        impl PartialSchema for $name {
            fn schema() -> RefOr<Schema> {
                enumeration(concat!($($doc),+), $values)
            }
        }

        impl ToSchema for $name {}
    )+};
}

/// Sets that other strings may be added to. The name in parentheses is that of the known
/// values, which requests use.
macro_rules! open_sets {
    ($($(#[doc = $doc:literal])+ $name:ident ($known:ident) = $values:expr;)+) => {$(
        $(#[doc = $doc])+
        pub(crate) enum $name {}

        impl PartialSchema for $name {
            fn schema() -> RefOr<Schema> {
                open_ended(concat!($($doc),+), &$known::name())
            }
        }

        impl ToSchema for $name {
            fn schemas(schemas: &mut Vec<(String, RefOr<Schema>)>) {
                schemas.push(($known::name().into_owned(), $known::schema()));
            }
        }

        pub(crate) enum $known {}

        impl PartialSchema for $known {
            fn schema() -> RefOr<Schema> {
                enumeration(concat!("The known values of ", stringify!($name), "."), $values)
            }
        }

        impl ToSchema for $known {}
    )+};
}

fn enumeration(description: &str, values: impl IntoIterator<Item = &'static str>) -> RefOr<Schema> {
    let schema = ObjectBuilder::new()
        .schema_type(Type::String)
        .description(Some(description.trim()))
        .enum_values(Some(values));
    schema.into()
}

fn open_ended(description: &str, known: &str) -> RefOr<Schema> {
    let schema = AnyOfBuilder::new()
        .description(Some(description.trim()))
        .item(Ref::from_schema_name(known))
        .item(ObjectBuilder::new().schema_type(Type::String))
        .build();
    Schema::from(schema).into()
}

/// The names of all variants of a `named_enum!`.
macro_rules! names {
    ($set:ty) => {
        <$set>::ALL.iter().map(|one| one.as_str())
    };
}

closed_sets! {
    /// The role of a member in a team.
    Role = names!(access::Role);
    /// What a caller may do.
    Permission = names!(access::Permission);
    /// Whether a user is a person or a service account.
    UserKind = names!(access::UserKind);
    /// The role of a service account.
    ServiceRole = names!(access::Role).filter(|name| access::Role::parse_for_service(name).is_ok());
    /// What an API key may do at most.
    Scope = names!(access::Scope);
    /// Where the value of a setting comes from; `derived` from other settings.
    SettingSource = names!(super::admin::SettingSource);
    /// Whether the members of a team need a second factor.
    MfaPolicy = names!(access::MfaPolicy);
    /// The status of a monitor; pending until the first verdict.
    MonitorStatus = names!(Status);
    /// The status of a monitor that is not degraded, or degraded.
    MonitorHealth = names!(Health);
    /// What degraded time counts as.
    SloDegraded = ["up", "down"].into_iter();
    /// What a monitor is to one that depends on it.
    DependencyKind = names!(dependency::DependencyKind);
    /// The status that a target reports.
    ReportStatus = Report::STATUSES.iter().copied();
    /// The result of a check; unknown if it could not be performed.
    HeartbeatStatus = names!(Beat).filter(|name| *name != Beat::Degraded.as_str());
    /// The same, or degraded.
    HeartbeatHealth = names!(Beat);
    /// What a heartbeat counts as; pending if it failed but did not lead to an outage.
    HeartbeatStanding = HistoryStatus::ALL.iter().filter(|one| **one != HistoryStatus::Degraded).map(|status| status.as_str());
    /// The status of a maintenance window.
    MaintenanceStatus = names!(maintenance::WindowStatus);
    /// Whether monitors are checked during maintenance.
    MaintenanceChecks = names!(maintenance::Checks);
    /// How the time of maintenance counts in statistics.
    MaintenanceCounts = names!(maintenance::Counts);
    /// Whether people are notified of outages during maintenance.
    MaintenanceAlerts = names!(maintenance::Alerts);
    /// What an alert is about.
    AlertKind = names!(alert::AlertKind);
    /// How urgent an alert is.
    Severity = names!(severity::Severity);
    /// The status of an alert; suppressed while its notification is withheld.
    AlertStatus = names!(state::AlertStatus);
    /// What an entry of an alert's timeline is about; `delivery` for a notification.
    TimelineKind = names!(step::NoteKind).chain(["delivery"]);
    /// What suppresses an alert.
    SuppressionReason = names!(state::Reason);
    /// How an assertion compares a value with its target.
    Comparison = names!(assert::Comparison);
    /// What a failing assertion makes of its monitor.
    FailsAs = names!(assert::FailsAs);
    /// Of several values, how many must satisfy an assertion.
    AssertionMatch = names!(assert::Match);
    /// How much of what failing checks see is stored; head leaves out bodies.
    EvidenceLevel = names!(evidence::EvidenceLevel);
    /// Which check of an alert evidence is of; blip for a failure that was not confirmed.
    EvidenceOf = names!(evidence::EvidenceOf);
    /// What has become of a ping; ign if it was ignored.
    PingType = names!(push::PingKind);
    /// What the body of a ping without any of the keywords means.
    PingOtherwise = names!(push::Otherwise);
    /// A day of the week.
    Day = names!(hours::Day);
    /// The unit of the turns of an on-call layer.
    TurnUnit = names!(oncall::Unit);
    /// What happens to messages in quiet hours.
    QuietThen = names!(quiet::Then);
    /// What an action link can do.
    LinkAction = names!(action_link::LinkAction);
    /// The state of a delivery; waiting if it will be sent, or sent again.
    DeliveryState = names!(delivery_state::DeliveryState);
    /// Whether a notifier works; unused until something has been sent with its settings.
    HealthState = names!(notifier::HealthState);
    /// The state of a team's plan.
    MembershipState = names!(billing::MembershipState);
    /// The state of an invoice; void if it is unpaid and no longer due.
    InvoiceState = names!(billing::InvoiceState);
    /// The type of a payment method.
    PaymentMethodType = [METHOD_TYPE];
    /// The method of an HTTP request.
    HttpMethod = names!(Method);
    /// How an HTTP check authenticates.
    HttpAuthentication = names!(AuthenticationKind);
    /// The version of HTTP that a response must have.
    HttpVersion = names!(spec::HttpVersion);
    /// How a client authenticates to a token endpoint.
    ClientAuth = names!(spec::ClientAuth);
    /// The address family of a connection.
    IpFamily = names!(spec::IpFamily);
    /// The protocol in which a server is asked to encrypt the connection.
    StarttlsProtocol = names!(spec::Starttls);
    /// A DNS record type.
    DnsRecordType = names!(RecordType);
    /// How the connection to a mail server is secured; tls is implicit on port 465 and
    /// STARTTLS on others.
    MailSecurity = names!(SecurityKind);
    /// A standard period of statistics.
    StatsPeriod = STANDARD_SPANS.iter().map(|(name, _)| *name);
    /// The resolution of the data that points are computed from.
    SeriesSource = names!(Source);
    /// Who made a change.
    AuditActorKind = names!(audit::ActorKind);
    /// The format of an exported audit log.
    AuditFormat = names!(ExportFormat);
    /// The format of a list of subscribers.
    SubscriberExport = names!(super::subscribers::SubscriberExport);
    /// Whether an invited address has an account.
    InvitedAccount = names!(AccountState);
    /// What a service can do with a message of a notifier.
    NotifierAbility = names!(notifier::Ability);
    /// The format of a report.
    ReportFormat = names!(Format);
    /// The order of a report; uptime has the lowest first.
    ReportSort = names!(ReportOrder);
    /// The language of a report's page.
    ReportLanguage = names!(Language);
    /// Who may see a status page.
    StatuspageAccess = names!(statuspages::page::Access);
    /// Which document of a status page is shown.
    StatuspageShow = names!(crate::statuspages::Show);
    /// How a subscriber of a status page is notified.
    SubscriberKind = names!(statuspages::subscriber::SubscriberKind);
    /// Whether a subscriber of a status page is notified.
    SubscriberState = names!(statuspages::subscriber::SubscriberState);
    /// How a subscriber of a status page was added.
    SubscriberSource = names!(statuspages::subscriber::SubscriberSource);
    /// What a subscriber of a status page is notified of.
    SubscribedKind = names!(statuspages::subscriber::SubscribedKind);
    /// The body that a webhook of a subscriber receives.
    WebhookFormat = names!(statuspages::subscriber::WebhookFormat);
    /// The language of a status page.
    StatuspageLanguage = names!(statuspages::Language);
    /// The color scheme of a status page.
    StatuspageScheme = names!(snapshot::Scheme);
    /// The layout of a status page.
    StatuspageLayout = names!(snapshot::Layout);
    /// When sections are closed at first.
    StatuspageCollapsed = names!(snapshot::Collapsed);
    /// When a section is closed at first.
    SectionCollapsed = names!(snapshot::Collapsed).chain(["inherit"]);
    /// An image of a status page.
    StatuspageImage = names!(snapshot::ImageKind);
    /// Whether a component shows something that its page shows or not.
    ComponentChoice = ["inherit", "yes", "no"].into_iter();
    /// A status of a component that people may set.
    ComponentStatus = names!(snapshot::ComponentStatus).filter(|name| *name != "unknown");
    /// The status that a component is shown with.
    ShownStatus = names!(snapshot::ComponentStatus);
    /// A status to set, or `automatic`.
    SetStatus = names!(snapshot::ComponentStatus)
        .filter(|name| *name != "unknown")
        .chain(["automatic"]);
    /// What the uptime of a component is computed from.
    UptimeFrom = names!(statuspages::component::UptimeFrom);
    /// What the rule of a status page does with an incident.
    RuleMode = names!(statuspages::rule::RuleMode);
    /// What the rule of a status page does when everything works again.
    OnRecovery = names!(statuspages::rule::OnRecovery);
    /// The impact of an incident that people may set.
    Impact = names!(snapshot::Impact).filter(|name| *name != "maintenance");
    /// The impact of an incident or a maintenance.
    ShownImpact = names!(snapshot::Impact);
    /// The status of a status page.
    Indicator = names!(snapshot::Indicator);
    /// An incident, or a maintenance.
    IncidentKind = names!(snapshot::IncidentKind);
    /// The status of an incident, or of a maintenance.
    IncidentStatus = names!(snapshot::IncidentStatus);
    /// Whether an incident is shown.
    IncidentState = names!(statuspages::incident::IncidentState);
    /// The states that a list of incidents can be limited to.
    ListedState = ["draft", "open", "resolved"].into_iter();
    /// Who has opened an incident.
    IncidentSource = names!(statuspages::incident::IncidentSource);
}

open_sets! {
    /// How a session was opened; later versions may have more.
    SessionMethod (KnownSessionMethod) = names!(reauthentication::SessionMethod);
    /// The type of a monitor; later versions may have more.
    MonitorType (KnownMonitorType) = names!(spec::Kind);
    /// The type of a notifier; later versions may have more.
    NotifierType (KnownNotifierType) = names!(notifier::Kind);
    /// The type of an event; later versions may have more.
    EventType (KnownEventType) = event::TYPES.iter().copied();
    /// What was done, as `thing.verb`; later versions may have more.
    AuditAction (KnownAuditAction) = names!(audit::Action);
    /// What was changed; later versions may have more.
    AuditObjectKind (KnownAuditObjectKind) = names!(audit::ObjectKind);
    /// Why a check did not pass; later versions may have more.
    Reason (KnownReason) = names!(reason::Reason);
    /// What an assertion is about; later versions may have more.
    AssertionSource (KnownAssertionSource) = names!(assert::Source);
    /// The code of an error; later versions may have more.
    ErrorCode (KnownErrorCode) = names!(error::ErrorCode).chain(names!(Decline));
    /// The format of a webhook's messages: the name of a built-in template, a custom template,
    /// or empty for Wakeful's own format.
    WebhookTemplate (KnownWebhookTemplate) = names!(BuiltinTemplate);
}
