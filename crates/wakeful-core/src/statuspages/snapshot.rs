//! Everything that a status page shows at one time. No type here has a field for the target
//! of a monitor, the message of a check or the cause of an alert, so that no output form of a
//! page can show one. Values that the page does not show are `None`.

pub use jiff::civil::Date;
use serde::{Serialize, Serializer};
use std::fmt;
use std::num::NonZeroU32;

pub use super::days::Days;
use super::{Language, Localized};
use crate::id::{ComponentId, IncidentId, IncidentUpdateId, SectionId, StatuspageId};
use crate::monitors::Kind;
use crate::stored_as_text::stored_as_text;
use crate::time::Millis;
use crate::{Invalid, named_enum};

/// A named enum with `parse` and `Display`, stored and sent as its name.
macro_rules! text_enum {
    ($(#[$meta:meta])* pub enum $name:ident { $($body:tt)+ }) => {
        $crate::named_enum! { $(#[$meta])* pub enum $name { $($body)+ } }

        impl $name {
            pub fn parse(text: &str) -> Result<Self, $crate::Invalid> {
                let found = Self::ALL.iter().copied().find(|one| one.as_str() == text);
                found.ok_or_else(|| {
                    $crate::Invalid::one_of(Self::ALL.iter().map(|one| one.as_str()))
                })
            }
        }

        impl std::fmt::Display for $name {
            fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
                f.write_str(self.as_str())
            }
        }

        $crate::stored_as_text::stored_as_text!($name);
    };
}
pub(super) use text_enum;

text_enum! {
    /// From the best to the worst, so that they can be compared.
    #[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
    pub enum ComponentStatus {
        /// No monitor has a status yet.
        Unknown = "unknown",
        #[default]
        Operational = "operational",
        UnderMaintenance = "under_maintenance",
        DegradedPerformance = "degraded_performance",
        PartialOutage = "partial_outage",
        MajorOutage = "major_outage",
    }
}

text_enum! {
    /// The status of a page, from the best to the worst.
    #[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
    pub enum Indicator {
        #[default]
        None = "none",
        Maintenance = "maintenance",
        Minor = "minor",
        Major = "major",
        Critical = "critical",
    }
}

text_enum! {
    #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
    pub enum IncidentKind {
        Incident = "incident",
        Maintenance = "maintenance",
    }
}

text_enum! {
    /// The statuses of incidents, then those of maintenance, each in their usual order.
    #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
    pub enum IncidentStatus {
        Investigating = "investigating",
        Identified = "identified",
        Monitoring = "monitoring",
        Resolved = "resolved",
        Scheduled = "scheduled",
        InProgress = "in_progress",
        Verifying = "verifying",
        Completed = "completed",
    }
}

impl IncidentStatus {
    pub fn kind(self) -> IncidentKind {
        match self {
            Self::Investigating | Self::Identified | Self::Monitoring | Self::Resolved => {
                IncidentKind::Incident
            }
            Self::Scheduled | Self::InProgress | Self::Verifying | Self::Completed => {
                IncidentKind::Maintenance
            }
        }
    }

    /// Whether it ends the incident.
    pub fn is_final(self) -> bool {
        matches!(self, Self::Resolved | Self::Completed)
    }
}

text_enum! {
    /// From the least to the most severe; `maintenance` only for maintenance.
    #[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
    pub enum Impact {
        #[default]
        None = "none",
        Maintenance = "maintenance",
        Minor = "minor",
        Major = "major",
        Critical = "critical",
    }
}

text_enum! {
    /// The color of a day in the bars of a component.
    #[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
    pub enum DayColor {
        #[default]
        NoData = "no_data",
        /// Maintenance and nothing else.
        Maintenance = "maintenance",
        Good = "good",
        /// Down for less than 5% of the monitored time.
        Some = "some",
        /// Down for 5% of the monitored time or more.
        Out = "out",
    }
}

text_enum! {
    #[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
    pub enum Scheme {
        #[default]
        Auto = "auto",
        Light = "light",
        Dark = "dark",
    }
}

text_enum! {
    #[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
    pub enum Layout {
        #[default]
        List = "list",
        Compact = "compact",
    }
}

text_enum! {
    /// When a section is shown collapsed.
    #[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
    pub enum Collapsed {
        #[default]
        Never = "never",
        Always = "always",
        /// While all its components are operational.
        Operational = "operational",
    }
}

/// Everything that a page shows.
#[derive(Clone, Debug, Serialize)]
pub struct Snapshot {
    pub page: Page,
    pub status: PageStatus,
    pub sections: Vec<Section>,
    /// Published and open, newest first.
    pub incidents: Vec<Incident>,
    /// Published maintenance that is scheduled or in progress, by its start.
    pub maintenances: Vec<Incident>,
    /// Resolved incidents and completed maintenance, newest first: the [`MAX_RECENT`] newest, or
    /// fewer if much is written about them.
    pub past: Vec<Incident>,
    /// Whether the page may have older ones than these.
    pub has_more_past: bool,
    /// When the oldest one that is known began, also if it is too old for the snapshot.
    pub oldest_past: Option<Millis>,
    /// The day of `as_of` in the page's time zone: the last day of the bars.
    #[serde(serialize_with = "date")]
    pub today: Date,
    /// When the data was read.
    pub as_of: Millis,
    /// Another one for every change of what is shown.
    pub revision: u64,
    /// Since when the database could not be read.
    pub delayed_since: Option<Millis>,
}

/// How many past incidents and maintenances a snapshot has at most, and after how many bytes of
/// text it has no further ones.
pub const MAX_RECENT: usize = 100;
pub const MAX_PAST_TEXT: usize = 2 << 20;
/// After how many bytes of text the open incidents and maintenances of a snapshot are shortened.
pub const MAX_OPEN_TEXT: usize = 2 << 20;

#[derive(Clone, Debug, Serialize)]
pub struct Page {
    pub id: StatuspageId,
    pub slug: String,
    /// The public URL, without a slash at its end.
    pub url: String,
    pub name: Localized,
    /// Markdown.
    pub description: Localized,
    /// Markdown.
    pub footer: Localized,
    pub language: Language,
    /// Further languages.
    pub languages: Vec<Language>,
    /// An IANA name.
    pub timezone: String,
    pub indexed: bool,
    pub appearance: Appearance,
    pub display: Display,
    /// Whether feeds are offered.
    pub feeds: bool,
    /// The origins that may frame the page's widget; `*` for all.
    pub embed_origins: Vec<String>,
    pub subscribe: Subscribable,
    pub created: Millis,
    pub modified: Millis,
}

/// How visitors can subscribe.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
pub struct Subscribable {
    pub email: bool,
    pub webhook: bool,
    pub chat: bool,
    /// By section and component.
    pub choose: bool,
}

impl Subscribable {
    pub fn is_offered(&self) -> bool {
        self.email || self.webhook || self.chat
    }
}

#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct Appearance {
    pub scheme: Scheme,
    pub accent: Option<Color>,
    pub layout: Layout,
    pub links: Vec<Link>,
    /// Validated by `css.rs`.
    pub custom_css: String,
    pub powered_by: bool,
    pub logo: Option<Image>,
    pub logo_dark: Option<Image>,
    pub favicon: Option<Image>,
}

/// A color of the form `#rrggbb`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Color {
    pub red: u8,
    pub green: u8,
    pub blue: u8,
}

impl Color {
    pub fn parse(text: &str) -> Result<Self, Invalid> {
        let digits = text.strip_prefix('#').filter(|digits| {
            digits.len() == 6 && digits.bytes().all(|digit| digit.is_ascii_hexdigit())
        });
        let value = digits.and_then(|digits| u32::from_str_radix(digits, 16).ok());
        let [_, red, green, blue] =
            value.ok_or_else(|| Invalid::new("must be a color of the form #rrggbb"))?.to_be_bytes();
        Ok(Self { red, green, blue })
    }
}

impl fmt::Display for Color {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "#{:02x}{:02x}{:02x}", self.red, self.green, self.blue)
    }
}

stored_as_text!(Color);

/// A link that the team chose to show.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Link {
    pub text: String,
    pub url: String,
}

/// A stored image of a page. The image is in the database, its address in memory.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Image {
    /// Hexadecimal, from the content: part of the URL.
    pub hash: String,
    /// Such as `image/png`.
    pub media_type: String,
}

named_enum! {
    #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
    pub enum ImageKind {
        Logo = "logo",
        LogoDark = "logo_dark",
        Favicon = "favicon",
    }
}

impl ImageKind {
    pub fn parse(text: &str) -> Option<Self> {
        Self::ALL.iter().copied().find(|kind| kind.as_str() == text)
    }
}

impl Appearance {
    pub fn image(&self, kind: ImageKind) -> Option<&Image> {
        match kind {
            ImageKind::Logo => self.logo.as_ref(),
            ImageKind::LogoDark => self.logo_dark.as_ref(),
            ImageKind::Favicon => self.favicon.as_ref(),
        }
    }
}

/// What a page shows.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Display {
    /// The number of bars.
    pub history_days: u16,
    pub bars: bool,
    pub uptime: bool,
    /// Of uptime figures.
    pub decimals: u8,
    /// Past incidents on the front page.
    pub incident_days: u16,
}

impl Default for Display {
    fn default() -> Self {
        Self { history_days: 90, bars: true, uptime: true, decimals: 3, incident_days: 7 }
    }
}

/// The status of the page as a whole.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
pub struct PageStatus {
    pub indicator: Indicator,
    /// Whether an incident rather than a degraded component made it `minor`.
    pub by_incident: bool,
    /// No component has a status and there is no open incident.
    pub no_data: bool,
}

#[derive(Clone, Debug, Serialize)]
pub struct Section {
    pub id: SectionId,
    /// Without a name, the section has no heading.
    pub name: Localized,
    /// Markdown.
    pub description: Localized,
    /// The page's setting where the section has none.
    pub collapsed: Collapsed,
    pub components: Vec<Component>,
    pub created: Millis,
    pub modified: Millis,
}

impl Section {
    /// The worst status of its components.
    pub fn status(&self) -> ComponentStatus {
        let statuses = self.components.iter().map(|component| component.status);
        statuses.max().unwrap_or(ComponentStatus::Unknown)
    }

    /// Whether all components work.
    pub fn is_operational(&self) -> bool {
        let is_fine = |component: &Component| component.status <= ComponentStatus::Operational;
        self.components.iter().all(is_fine)
    }
}

#[derive(Clone, Debug, Serialize)]
pub struct Component {
    pub id: ComponentId,
    /// A short name for badges.
    pub alias: Option<String>,
    pub name: Localized,
    /// Markdown.
    pub description: Localized,
    /// A URL that the team chose.
    pub link: Option<String>,
    pub status: ComponentStatus,
    /// The type of its monitor, if it has one only.
    pub monitor: Option<Kind>,
    pub only_show_if_degraded: bool,
    /// From the oldest to today, `history_days` of them; none if no bars are shown.
    pub days: Days,
    /// `None` if it is not shown.
    pub uptime: Option<UptimeFigures>,
    /// `None` if they are not shown.
    pub response_times: Option<ResponseTimes>,
    /// The first certificate of its monitors to expire; `None` if that is not shown.
    pub certificate_expires: Option<Millis>,
    /// The day on which the period that counts begins.
    #[serde(serialize_with = "maybe_date")]
    pub since: Option<Date>,
    pub created: Millis,
    pub modified: Millis,
}

impl Component {
    /// Whether something is wrong with it.
    pub fn is_failing(&self) -> bool {
        self.status > ComponentStatus::Operational
    }

    /// Whether the front page lists it.
    pub fn is_listed(&self) -> bool {
        !self.only_show_if_degraded || self.is_failing()
    }
}

/// A day in the page's time zone.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
pub struct Day {
    #[serde(serialize_with = "date")]
    pub date: Date,
    pub color: DayColor,
    /// How many seconds it was down.
    pub down: u32,
    /// Of the monitored time; `None` without data.
    pub uptime: Option<Uptime>,
}

/// A part of the monitored time, in millionths, rounded down: one more than that, so that none
/// needs no memory of its own.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Uptime(NonZeroU32);

impl Serialize for Uptime {
    fn serialize<S: Serializer>(&self, to: S) -> Result<S::Ok, S::Error> {
        to.serialize_u32(self.millionths())
    }
}

impl Uptime {
    const WHOLE: u64 = 1_000_000;

    fn new(millionths: u128) -> Option<Self> {
        let stored = u32::try_from(millionths).ok()?.checked_add(1)?;
        NonZeroU32::new(stored).map(Self)
    }

    /// As one number, which has 20 bits.
    pub(super) fn stored(uptime: Option<Self>) -> u32 {
        uptime.map_or(0, |uptime| uptime.0.get())
    }

    pub(super) fn from_stored(stored: u32) -> Option<Self> {
        NonZeroU32::new(stored).map(Self)
    }

    /// `None` without data.
    pub fn of(up: u64, down: u64) -> Option<Self> {
        let (up, total) = (u128::from(up), u128::from(up) + u128::from(down));
        Self::new((up * u128::from(Self::WHOLE)).checked_div(total)?)
    }

    /// The mean, rounded down.
    pub fn mean(all: impl Iterator<Item = Self>) -> Option<Self> {
        let (sum, count) =
            all.fold((0, 0), |(sum, count), one| (sum + u64::from(one.millionths()), count + 1));
        Self::new(u64::checked_div(sum, count)?.into())
    }

    pub fn millionths(self) -> u32 {
        self.0.get() - 1
    }

    /// As a percentage with so many decimals (at most 4), rounded down, such as `99.982`.
    pub fn percent(self, decimals: u8) -> String {
        let decimals = usize::from(decimals.min(4));
        let whole = self.millionths() / 10_000;
        let fraction = format!("{:04}", self.millionths() % 10_000);
        if decimals == 0 { whole.to_string() } else { format!("{whole}.{}", &fraction[..decimals]) }
    }
}

/// The uptime of several periods, each `None` without data.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
pub struct UptimeFigures {
    pub day: Option<Uptime>,
    pub week: Option<Uptime>,
    pub month: Option<Uptime>,
    pub quarter: Option<Uptime>,
    pub year: Option<Uptime>,
    /// Of the days that the bars show.
    pub shown: Option<Uptime>,
}

/// The median response time of several periods in milliseconds, each `None` without data.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
pub struct ResponseTimes {
    pub day: Option<u32>,
    pub week: Option<u32>,
    pub month: Option<u32>,
    pub quarter: Option<u32>,
}

/// An incident or a maintenance.
#[derive(Clone, Debug, Serialize)]
pub struct Incident {
    pub id: IncidentId,
    pub kind: IncidentKind,
    pub title: Localized,
    pub status: IncidentStatus,
    pub impact: Impact,
    pub started: Millis,
    pub resolved: Option<Millis>,
    pub scheduled_for: Option<Millis>,
    pub scheduled_until: Option<Millis>,
    pub cancelled: bool,
    /// Of this page only.
    pub components: Vec<AffectedComponent>,
    /// Newest first.
    pub updates: Vec<Update>,
    /// Only when published.
    pub postmortem: Option<Postmortem>,
    /// Whether only its title and its status are here, see [`Incident::shortened`].
    #[serde(skip)]
    pub is_short: bool,
    pub created: Millis,
    pub modified: Millis,
}

impl Incident {
    /// The bytes of its texts, in all languages.
    pub fn text_bytes(&self) -> usize {
        let changed = |update: &Update| {
            let names = update.components.iter().map(|one| one.name.bytes());
            update.body.bytes() + names.sum::<usize>()
        };
        self.title.bytes()
            + self.components.iter().map(|one| one.name.bytes()).sum::<usize>()
            + self.updates.iter().map(changed).sum::<usize>()
            + self.postmortem.as_ref().map_or(0, |one| one.body.bytes())
    }

    /// What a list needs to say about it. Its own page shows the rest, which is then read from the
    /// database.
    #[must_use]
    pub fn shortened(mut self) -> Self {
        self.updates.truncate(1);
        for update in &mut self.updates {
            update.body = Localized::default();
            update.components = Vec::new();
        }
        Self { components: Vec::new(), postmortem: None, is_short: true, ..self }
    }

    /// When it was last known to be monitored.
    pub fn monitoring_at(&self) -> Option<Millis> {
        let mut updates = self.updates.iter();
        updates.find(|one| one.status == IncidentStatus::Monitoring).map(|one| one.display_at)
    }

    /// The time to sort and group it by.
    pub fn begins(&self) -> Millis {
        self.scheduled_for.unwrap_or(self.started)
    }
}

#[derive(Clone, Debug, Serialize)]
pub struct AffectedComponent {
    /// `None` once the component was deleted.
    pub id: Option<ComponentId>,
    pub name: Localized,
    pub status: ComponentStatus,
}

#[derive(Clone, Debug, Serialize)]
pub struct Update {
    pub id: IncidentUpdateId,
    pub status: IncidentStatus,
    /// Markdown.
    pub body: Localized,
    /// Of this page only.
    pub components: Vec<ComponentChange>,
    pub display_at: Millis,
    pub notify: bool,
    pub edited: Option<Millis>,
    pub created: Millis,
}

#[derive(Clone, Debug, Serialize)]
pub struct ComponentChange {
    /// `None` once the component was deleted.
    pub id: Option<ComponentId>,
    pub name: Localized,
    pub old_status: ComponentStatus,
    pub new_status: ComponentStatus,
}

#[derive(Clone, Debug, Serialize)]
pub struct Postmortem {
    /// Markdown.
    pub body: Localized,
    pub published: Millis,
}

/// What only the page of a component shows; read on demand.
#[derive(Clone, Debug, Serialize)]
pub struct ComponentFigures {
    /// A year, from the oldest day to today.
    pub days: Days,
    /// `None` if they are not shown. From the oldest day to today.
    pub response_times: Option<Vec<ResponseDay>>,
    /// `None` if they are not shown. Newest first.
    pub outages: Option<Vec<OutageSpan>>,
}

/// The response times of a day in milliseconds.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
pub struct ResponseDay {
    #[serde(serialize_with = "date")]
    pub date: Date,
    pub p50: u32,
    pub p95: u32,
}

/// An outage of a component, without its cause.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
pub struct OutageSpan {
    pub started: Millis,
    /// `None` while it lasts.
    pub ended: Option<Millis>,
}

impl Snapshot {
    pub fn components(&self) -> impl Iterator<Item = &Component> {
        self.sections.iter().flat_map(|section| &section.components)
    }

    /// A component by its id or its alias.
    pub fn component(&self, name: &str) -> Option<&Component> {
        let id = ComponentId::parse(name);
        self.components().find(|one| Some(one.id) == id || one.alias.as_deref() == Some(name))
    }

    /// All incidents and maintenances: first the open ones.
    pub fn all_incidents(&self) -> impl Iterator<Item = &Incident> {
        self.incidents.iter().chain(&self.maintenances).chain(&self.past)
    }

    pub fn incident(&self, id: IncidentId) -> Option<&Incident> {
        self.all_incidents().find(|one| one.id == id)
    }

    /// The language to show the page in; the default one unless the page has the wanted one.
    pub fn language(&self, wanted: Option<&str>) -> Language {
        let wanted = wanted.and_then(|wanted| Language::parse(wanted).ok());
        let offered = wanted.filter(|wanted| self.page.languages.contains(wanted));
        offered.unwrap_or(self.page.language)
    }
}

fn date<S: Serializer>(date: &Date, to: S) -> Result<S::Ok, S::Error> {
    to.collect_str(date)
}

fn maybe_date<S: Serializer>(date: &Option<Date>, to: S) -> Result<S::Ok, S::Error> {
    match date {
        Some(date) => to.collect_str(date),
        None => to.serialize_none(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn uptime_is_rounded_down_and_has_no_figure_without_data() {
        assert_eq!(Uptime::of(0, 0), None);
        let almost = Uptime::of(999_999_999, 1).expect("data");
        assert_eq!(almost.percent(3), "99.999");
        assert_eq!(almost.percent(0), "99");
        assert_eq!(Uptime::of(5, 0).expect("data").percent(2), "100.00");
        assert_eq!(Uptime::of(u64::MAX, u64::MAX).expect("data").percent(4), "50.0000");
        assert_eq!(Uptime::of(1, 999).expect("data").percent(4), "0.1000");
        let (all, nearly) =
            (Uptime::of(1, 0).expect("data"), Uptime::of(999_999, 1).expect("data"));
        assert_eq!(Uptime::mean([all, nearly].into_iter()), Some(nearly));
        assert_eq!((all.millionths(), nearly.millionths()), (1_000_000, 999_999));
        assert_eq!(Uptime::of(0, 1).map(Uptime::millionths), Some(0));
    }

    #[test]
    fn colors_are_six_hexadecimal_digits() {
        assert_eq!(
            Color::parse("#0A7bFF").map(|color| color.to_string()),
            Ok("#0a7bff".to_owned())
        );
        for text in ["", "#fff", "0a7bff", "#0a7bfg", "#+a7bff", "red"] {
            assert!(Color::parse(text).is_err(), "{text}");
        }
    }

    #[test]
    fn statuses_are_ordered_by_how_bad_they_are() {
        assert!(ComponentStatus::MajorOutage > ComponentStatus::PartialOutage);
        assert!(ComponentStatus::UnderMaintenance > ComponentStatus::Operational);
        for status in IncidentStatus::ALL {
            assert_eq!(IncidentStatus::parse(status.as_str()), Ok(*status));
            assert_eq!(status.is_final(), matches!(status.as_str(), "resolved" | "completed"));
        }
    }
}
