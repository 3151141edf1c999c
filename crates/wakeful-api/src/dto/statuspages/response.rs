//! Status pages as they are returned.

use serde::Serialize;
use std::collections::HashMap;
use utoipa::ToSchema;
use wakeful_core::id::{
    ComponentId, IncidentRuleId, IncidentTemplateId, MonitorId, NotifierId, SectionId, StatuspageId,
};
use wakeful_core::statuspages::component::{Component, Section};
use wakeful_core::statuspages::page::{
    Appearance, Display, DomainRecord, StatusPage, Subscribe, Texts,
};
use wakeful_core::statuspages::rule::Rule;
use wakeful_core::statuspages::snapshot::{ComponentStatus, ImageKind};
use wakeful_core::statuspages::subscriber::SubscriberKind;
use wakeful_core::time::Millis;
use wakeful_engine::{DomainLookup, DomainOutcome, PageRow, PageView};

use crate::dto::enums;
use crate::error::FieldError;
use crate::statuspages::{Preview, Warning};

/// A status page.
#[derive(Serialize, ToSchema)]
#[schema(as = Statuspage)]
pub(crate) struct StatuspageBody {
    #[schema(value_type = String, format = Uuid)]
    pageid: StatuspageId,
    /// The public URL.
    url: String,
    name: String,
    slug: String,
    description: String,
    footer: String,
    #[schema(value_type = enums::StatuspageLanguage)]
    language: &'static str,
    #[schema(value_type = Vec<enums::StatuspageLanguage>)]
    languages: Vec<&'static str>,
    #[schema(value_type = Object)]
    texts: Texts,
    timezone: String,
    published: bool,
    indexed: bool,
    #[schema(value_type = enums::StatuspageAccess)]
    access: &'static str,
    has_password: bool,
    /// Only for callers who may edit the page.
    access_token: Option<String>,
    allowed_networks: Vec<String>,
    appearance: AppearanceBody,
    display: DisplayBody,
    shown_after: u32,
    subscribe: SubscribeBody,
    embed_origins: Vec<String>,
    domains: Vec<DomainBody>,
    sections: Vec<SectionBody>,
    rules: Vec<RuleBody>,
    #[schema(value_type = String, format = DateTime)]
    created: Millis,
    #[schema(value_type = String, format = DateTime)]
    modified: Millis,
}

/// How a page looks.
#[derive(Serialize, ToSchema)]
#[schema(as = StatuspageAppearance)]
pub(crate) struct AppearanceBody {
    #[schema(value_type = Option<enums::StatuspageScheme>, nullable = false)]
    scheme: &'static str,
    /// `#rrggbb`; empty for the built-in one.
    accent: Option<String>,
    #[schema(value_type = Option<enums::StatuspageLayout>, nullable = false)]
    layout: &'static str,
    #[schema(value_type = Option<Vec<LinkBody>>, nullable = false, max_items = 8)]
    links: Vec<LinkBody>,
    #[schema(value_type = Option<String>, nullable = false, max_length = 20000)]
    custom_css: String,
    #[schema(value_type = Option<bool>, nullable = false)]
    powered_by: bool,
    /// The URL of the image; read-only, as the next two.
    logo: Option<String>,
    logo_dark: Option<String>,
    favicon: Option<String>,
}

#[derive(Serialize, ToSchema)]
#[schema(as = StatuspageLink)]
pub(crate) struct LinkBody {
    #[schema(min_length = 1, max_length = 100)]
    text: String,
    url: String,
}

/// What a page shows.
#[derive(Serialize, ToSchema)]
#[schema(as = StatuspageDisplay)]
pub(crate) struct DisplayBody {
    /// 30, 60 or 90.
    #[schema(value_type = Option<u32>, nullable = false)]
    history_days: u32,
    #[schema(value_type = Option<bool>, nullable = false)]
    bars: bool,
    #[schema(value_type = Option<bool>, nullable = false)]
    uptime: bool,
    #[schema(value_type = Option<u32>, nullable = false, maximum = 4)]
    decimals: u32,
    #[schema(value_type = Option<bool>, nullable = false)]
    response_times: bool,
    #[schema(value_type = Option<bool>, nullable = false)]
    certificates: bool,
    /// Individual outages with their times.
    #[schema(value_type = Option<bool>, nullable = false)]
    outages: bool,
    #[schema(value_type = Option<u32>, nullable = false, maximum = 30)]
    incident_days: u32,
    #[schema(value_type = Option<enums::StatuspageCollapsed>, nullable = false)]
    collapsed: &'static str,
}

/// How visitors can subscribe.
#[derive(Serialize, ToSchema)]
#[schema(as = StatuspageSubscribe)]
pub(crate) struct SubscribeBody {
    #[schema(value_type = Option<bool>, nullable = false)]
    email: bool,
    #[schema(value_type = Option<bool>, nullable = false)]
    webhook: bool,
    #[schema(value_type = Option<bool>, nullable = false)]
    chat: bool,
    #[schema(value_type = Option<bool>, nullable = false)]
    feeds: bool,
    #[schema(value_type = Option<bool>, nullable = false)]
    choose: bool,
    /// The id of an email notifier; null for the service's own mail.
    #[schema(value_type = Option<String>)]
    sender: Option<NotifierId>,
    #[schema(value_type = Option<String>, nullable = false)]
    reply_to: String,
}

#[derive(Serialize, ToSchema)]
#[schema(as = StatuspageDomain)]
pub(crate) struct DomainBody {
    domain: String,
    #[schema(value_type = Option<bool>, nullable = false)]
    primary: bool,
    /// Read-only.
    #[schema(value_type = Option<bool>, nullable = false)]
    verified: bool,
}

/// What the DNS says about a domain of a page.
#[derive(Serialize, ToSchema)]
#[schema(as = StatuspageDomainAnswer)]
pub(crate) struct DomainAnswer {
    success: bool,
    message: String,
    /// Whether the expected record was found.
    verified: bool,
    /// The texts of the records at the expected name.
    found: Vec<String>,
    expected: ExpectedRecord,
}

/// A record in the DNS.
#[derive(Serialize, ToSchema)]
#[schema(as = StatuspageDomainRecord)]
struct ExpectedRecord {
    name: String,
    #[serde(rename = "type")]
    kind: &'static str,
    value: String,
}

impl DomainAnswer {
    pub(crate) fn of(lookup: DomainLookup) -> Self {
        let name = &lookup.expected.name;
        let message = match &lookup.outcome {
            DomainOutcome::Verified => "Domain verified.".to_owned(),
            DomainOutcome::Missing => format!(
                "The record was not found at {name}. A new record can take some time to become visible."
            ),
            DomainOutcome::NoAnswer(why) => {
                format!("The record at {name} could not be looked up: {why}.")
            }
        };
        Self {
            success: true,
            message,
            verified: lookup.outcome == DomainOutcome::Verified,
            found: lookup.found,
            expected: ExpectedRecord {
                name: lookup.expected.name,
                kind: DomainRecord::KIND,
                value: lookup.expected.value,
            },
        }
    }
}

#[derive(Serialize, ToSchema)]
#[schema(as = StatuspageSection)]
struct SectionBody {
    #[schema(value_type = String, format = Uuid)]
    sectionid: SectionId,
    name: String,
    description: String,
    #[schema(value_type = enums::SectionCollapsed)]
    collapsed: &'static str,
    #[schema(value_type = Object)]
    texts: Texts,
    components: Vec<ComponentBody>,
}

/// A component of a status page.
#[derive(Serialize, ToSchema)]
#[schema(as = StatuspageComponent)]
pub(crate) struct ComponentBody {
    #[schema(value_type = String, format = Uuid)]
    componentid: ComponentId,
    name: String,
    description: String,
    #[schema(value_type = Object)]
    texts: Texts,
    monitors: Vec<ComponentMonitorBody>,
    tag: String,
    needs: String,
    /// Null for a component whose monitors were deleted, until it is set.
    #[schema(value_type = Option<enums::ComponentStatus>)]
    own_status: Option<&'static str>,
    #[serde(rename = "override")]
    set: Option<OverrideBody>,
    #[schema(value_type = enums::UptimeFrom)]
    uptime_from: &'static str,
    #[schema(value_type = Option<String>, format = DateTime)]
    since: Option<Millis>,
    link: String,
    only_show_if_degraded: bool,
    display: ComponentDisplayBody,
    alias: String,
    #[schema(value_type = enums::ShownStatus)]
    status: &'static str,
}

#[derive(Serialize, ToSchema)]
#[schema(as = ComponentMonitor)]
struct ComponentMonitorBody {
    #[schema(value_type = String, format = Uuid)]
    monitorid: MonitorId,
    name: String,
}

/// A status that a user has set.
#[derive(Serialize, ToSchema)]
#[schema(as = ComponentOverride)]
struct OverrideBody {
    #[schema(value_type = enums::ComponentStatus)]
    status: &'static str,
    #[schema(value_type = Option<String>, format = DateTime)]
    until: Option<Millis>,
    note: String,
}

/// What a component shows.
#[derive(Serialize, ToSchema)]
#[schema(as = ComponentDisplay)]
pub(crate) struct ComponentDisplayBody {
    #[schema(value_type = Option<enums::ComponentChoice>, nullable = false)]
    uptime: &'static str,
    #[schema(value_type = Option<enums::ComponentChoice>, nullable = false)]
    response_time: &'static str,
    #[schema(value_type = Option<enums::ComponentChoice>, nullable = false)]
    certificate: &'static str,
}

/// A rule that opens incidents.
#[derive(Serialize, ToSchema)]
#[schema(as = StatuspageRule)]
struct RuleBody {
    #[schema(value_type = String, format = Uuid)]
    ruleid: IncidentRuleId,
    name: String,
    isactive: bool,
    #[schema(value_type = Vec<String>)]
    components: Vec<ComponentId>,
    after: u32,
    #[schema(value_type = enums::RuleMode)]
    mode: &'static str,
    #[schema(value_type = Option<String>)]
    templateid: Option<IncidentTemplateId>,
    #[schema(value_type = Option<enums::Impact>)]
    impact: Option<&'static str>,
    group: u32,
    #[schema(value_type = enums::OnRecovery)]
    on_recovery: &'static str,
    resolve_after: u32,
    notify: bool,
    show_cause: bool,
}

impl StatuspageBody {
    pub(crate) fn of(view: PageView) -> Self {
        let PageView { page, url, with_token, statuses } = view;
        let token = page.access_token.as_ref().filter(|_| with_token);
        Self {
            pageid: page.id,
            language: page.settings.language.as_str(),
            languages: page.settings.languages.iter().map(|one| one.as_str()).collect(),
            published: page.published,
            indexed: page.settings.indexed,
            access: page.access.as_str(),
            has_password: !page.password_hash.is_empty(),
            access_token: token.map(|token| token.expose().to_owned()),
            allowed_networks: page
                .settings
                .allowed_networks
                .iter()
                .map(ToString::to_string)
                .collect(),
            appearance: AppearanceBody::of(&page, &url, &page.settings.appearance),
            display: DisplayBody::of(&page.settings.display),
            shown_after: page.settings.shown_after,
            subscribe: SubscribeBody::of(&page.settings.subscribe),
            domains: page
                .domains
                .iter()
                .map(|one| DomainBody {
                    domain: one.domain.clone(),
                    primary: one.primary,
                    verified: one.verified.is_some(),
                })
                .collect(),
            sections: page.sections.iter().map(|one| SectionBody::of(one, &statuses)).collect(),
            rules: page.rules.iter().map(RuleBody::of).collect(),
            created: page.created,
            modified: page.modified,
            url,
            name: page.name,
            slug: page.slug,
            description: page.settings.description,
            footer: page.settings.footer,
            texts: page.settings.texts,
            timezone: page.settings.timezone,
            embed_origins: page.settings.embed_origins,
        }
    }
}

impl AppearanceBody {
    fn of(page: &StatusPage, url: &str, appearance: &Appearance) -> Self {
        let image = |kind: ImageKind| {
            let image = page.images.iter().find(|image| image.kind == kind)?;
            Some(image_url(url, kind, &image.digest))
        };
        let link = |link: &wakeful_core::statuspages::page::Link| LinkBody {
            text: link.text.clone(),
            url: link.url.clone(),
        };
        Self {
            scheme: appearance.scheme.as_str(),
            accent: appearance.accent.map(|accent| accent.to_string()),
            layout: appearance.layout.as_str(),
            links: appearance.links.iter().map(link).collect(),
            custom_css: appearance.custom_css.clone(),
            powered_by: appearance.powered_by,
            logo: image(ImageKind::Logo),
            logo_dark: image(ImageKind::LogoDark),
            favicon: image(ImageKind::Favicon),
        }
    }
}

/// The URL of an image, which changes with its content.
pub(crate) fn image_url(page: &str, kind: ImageKind, digest: &str) -> String {
    format!("{page}/image/{}?v={digest}", kind.as_str())
}

impl DisplayBody {
    fn of(display: &Display) -> Self {
        Self {
            history_days: display.history_days,
            bars: display.bars,
            uptime: display.uptime,
            decimals: display.decimals,
            response_times: display.response_times,
            certificates: display.certificates,
            outages: display.outages,
            incident_days: display.incident_days,
            collapsed: display.collapsed.as_str(),
        }
    }
}

impl SubscribeBody {
    fn of(subscribe: &Subscribe) -> Self {
        Self {
            email: subscribe.email,
            webhook: subscribe.webhook,
            chat: subscribe.chat,
            feeds: subscribe.feeds,
            choose: subscribe.choose,
            sender: subscribe.sender,
            reply_to: subscribe.reply_to.clone(),
        }
    }
}

impl SectionBody {
    fn of(section: &Section, statuses: &HashMap<ComponentId, ComponentStatus>) -> Self {
        let component = |one: &Component| ComponentBody::of(one, statuses.get(&one.id).copied());
        Self {
            sectionid: section.id,
            name: section.name.clone(),
            description: section.settings.description.clone(),
            collapsed: section.settings.collapsed.map_or("inherit", |one| one.as_str()),
            texts: section.settings.texts.clone(),
            components: section.components.iter().map(component).collect(),
        }
    }
}

impl ComponentBody {
    pub(crate) fn of(component: &Component, status: Option<ComponentStatus>) -> Self {
        let settings = &component.settings;
        let choice = |set: Option<bool>| match set {
            None => "inherit",
            Some(true) => "yes",
            Some(false) => "no",
        };
        Self {
            componentid: component.id,
            name: component.name.clone(),
            description: settings.description.clone(),
            texts: settings.texts.clone(),
            monitors: component
                .monitors
                .iter()
                .map(|one| ComponentMonitorBody { monitorid: one.id, name: one.name.clone() })
                .collect(),
            tag: component.tag.clone(),
            needs: settings.needs.to_string(),
            own_status: (!component.has_lost_monitors()).then(|| settings.own_status.as_str()),
            set: component.status_override.as_ref().map(|set| OverrideBody {
                status: set.status.as_str(),
                until: set.until,
                note: set.note.clone(),
            }),
            uptime_from: component.uptime_from().as_str(),
            since: settings.since,
            link: settings.link.clone(),
            only_show_if_degraded: settings.only_show_if_degraded,
            display: ComponentDisplayBody {
                uptime: choice(settings.display.uptime),
                response_time: choice(settings.display.response_time),
                certificate: choice(settings.display.certificate),
            },
            alias: settings.alias.clone(),
            status: status.unwrap_or(ComponentStatus::Unknown).as_str(),
        }
    }
}

impl RuleBody {
    fn of(rule: &Rule) -> Self {
        let settings = &rule.settings;
        Self {
            ruleid: rule.id,
            name: rule.name.clone(),
            isactive: rule.isactive,
            components: settings.components.clone(),
            after: settings.after,
            mode: settings.mode.as_str(),
            templateid: settings.template,
            impact: settings.impact.map(wakeful_core::statuspages::snapshot::Impact::as_str),
            group: settings.group,
            on_recovery: settings.on_recovery.as_str(),
            resolve_after: settings.resolve_after,
            notify: settings.notify,
            show_cause: settings.show_cause,
        }
    }
}

/// A status page in the list.
#[derive(Serialize, ToSchema)]
#[schema(as = ListedStatuspage)]
pub(crate) struct ListedBody {
    #[schema(value_type = String, format = Uuid)]
    pageid: StatuspageId,
    slug: String,
    name: String,
    url: String,
    published: bool,
    #[schema(value_type = enums::StatuspageAccess)]
    access: &'static str,
    #[schema(value_type = enums::Indicator)]
    indicator: &'static str,
    /// How many components it has.
    components: i64,
    open_incidents: i64,
    /// How many active subscribers it has.
    subscribers: i64,
    /// The same by how they are notified.
    recipients: RecipientsBody,
    #[schema(value_type = String, format = DateTime)]
    modified: Millis,
}

/// The active subscribers of a page.
#[derive(Serialize, ToSchema)]
#[schema(as = StatuspageRecipients)]
pub(crate) struct RecipientsBody {
    email: i64,
    webhook: i64,
    chat: i64,
}

impl RecipientsBody {
    fn of(all: &[(SubscriberKind, i64)]) -> Self {
        let mut recipients = Self { email: 0, webhook: 0, chat: 0 };
        for (kind, count) in all {
            *match kind {
                SubscriberKind::Email => &mut recipients.email,
                SubscriberKind::Webhook => &mut recipients.webhook,
                SubscriberKind::Slack | SubscriberKind::Discord | SubscriberKind::Teams => {
                    &mut recipients.chat
                }
            } += count;
        }
        recipients
    }
}

impl ListedBody {
    pub(crate) fn of(row: PageRow) -> Self {
        let listed = row.listed;
        Self {
            pageid: listed.id,
            slug: listed.slug,
            name: listed.name,
            url: row.url,
            published: listed.published,
            access: listed.access.as_str(),
            indicator: row.indicator.as_str(),
            components: listed.components,
            open_incidents: listed.open_incidents,
            subscribers: listed.recipients.iter().map(|(_, count)| count).sum(),
            recipients: RecipientsBody::of(&listed.recipients),
            modified: listed.modified,
        }
    }
}

#[derive(Serialize, ToSchema)]
pub(crate) struct StatuspageList {
    pub(crate) success: bool,
    pub(crate) statuspages: Vec<ListedBody>,
    /// Only with `limit`: the cursor of the next page; null on the last page.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) next_cursor: Option<Option<String>>,
}

#[derive(Serialize, ToSchema)]
pub(crate) struct StatuspageWhole {
    pub(crate) success: bool,
    pub(crate) statuspage: StatuspageBody,
}

#[derive(Serialize, ToSchema)]
pub(crate) struct StatuspageAnswer {
    pub(crate) success: bool,
    pub(crate) message: &'static str,
    pub(crate) statuspage: StatuspageBody,
}

#[derive(Serialize, ToSchema)]
pub(crate) struct ImageAnswer {
    pub(crate) success: bool,
    pub(crate) message: &'static str,
    /// Where the image is.
    pub(crate) url: String,
}

/// A page as visitors would see it.
#[derive(Serialize, ToSchema)]
pub(crate) struct PreviewAnswer {
    success: bool,
    html: String,
    /// The style sheet of the page.
    css: String,
    /// The size of the compressed HTML.
    bytes: usize,
    warnings: Vec<FieldError>,
}

impl PreviewAnswer {
    pub(crate) fn of(preview: Preview) -> Self {
        let Preview { html, css, bytes, warnings } = preview;
        let warnings = warnings
            .into_iter()
            .map(|Warning { field, message }| FieldError { field, message })
            .collect();
        Self { success: true, html, css, bytes, warnings }
    }
}

#[derive(Serialize, ToSchema)]
pub(crate) struct TokenAnswer {
    pub(crate) success: bool,
    pub(crate) message: &'static str,
    pub(crate) access_token: String,
    /// The page with the new token.
    pub(crate) url: String,
}

#[derive(Serialize, ToSchema)]
pub(crate) struct ComponentAnswer {
    pub(crate) success: bool,
    pub(crate) message: &'static str,
    pub(crate) component: ComponentBody,
}
