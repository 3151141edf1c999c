//! The sections and components of a status page.

use serde::{Deserialize, Serialize};

use super::page::Texts;
use super::snapshot::{Collapsed, ComponentStatus, text_enum};
use crate::Invalid;
use crate::id::{ComponentId, MonitorId, SectionId};
use crate::time::Millis;

/// The most monitors that a component names.
pub const MAX_MONITORS: usize = 200;
/// The most monitors that a tag includes, the oldest first.
pub const MAX_TAGGED: usize = 1_000;
pub const MAX_DESCRIPTION: usize = 2_000;
pub const MAX_NOTE: usize = 1_000;

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Section {
    pub id: SectionId,
    /// May be empty: no heading.
    pub name: String,
    pub settings: SectionSettings,
    pub components: Vec<Component>,
}

#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct SectionSettings {
    pub description: String,
    /// As the page, unless set.
    pub collapsed: Option<Collapsed>,
    pub texts: Texts,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Component {
    pub id: ComponentId,
    pub name: String,
    pub monitors: Vec<ComponentMonitor>,
    /// Also includes every monitor with this tag; empty: none.
    pub tag: String,
    pub settings: ComponentSettings,
    /// The status that a user has set.
    pub status_override: Option<Override>,
    pub created: Millis,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ComponentMonitor {
    pub id: MonitorId,
    pub name: String,
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct ComponentSettings {
    pub description: String,
    pub texts: Texts,
    pub needs: Needs,
    pub own_status: ComponentStatus,
    /// By its monitors if it has any, unless set.
    pub uptime_from: Option<UptimeFrom>,
    #[serde(with = "crate::serde_millis::maybe_instant")]
    pub since: Option<Millis>,
    pub link: String,
    pub only_show_if_degraded: bool,
    pub display: ComponentDisplay,
    /// Empty: none.
    pub alias: String,
    /// A monitor that it had was deleted. Without any other, its status is unknown until somebody
    /// decides what to do with it.
    pub had_monitors: bool,
}

impl Default for ComponentSettings {
    fn default() -> Self {
        Self {
            description: String::new(),
            texts: Texts::new(),
            needs: Needs::All,
            own_status: ComponentStatus::Operational,
            uptime_from: None,
            since: None,
            link: String::new(),
            only_show_if_degraded: false,
            display: ComponentDisplay::default(),
            alias: String::new(),
            had_monitors: false,
        }
    }
}

/// What a component shows; as the page where it is not set.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct ComponentDisplay {
    pub uptime: Option<bool>,
    pub response_time: Option<bool>,
    pub certificate: Option<bool>,
}

/// How many of its monitors must be up for a component to work.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Needs {
    #[default]
    All,
    Any,
    Count(u32),
}

impl Needs {
    pub fn parse(text: &str) -> Result<Self, Invalid> {
        match text.trim() {
            "all" => Ok(Self::All),
            "any" => Ok(Self::Any),
            number => number
                .parse()
                .ok()
                .filter(|count| (1..=MAX_TAGGED as u32 + MAX_MONITORS as u32).contains(count))
                .map(Self::Count)
                .ok_or_else(|| Invalid::new("must be all, any or a number from 1 to 1200")),
        }
    }

    /// Of so many monitors.
    pub fn of(self, monitors: usize) -> usize {
        match self {
            Self::All => monitors,
            Self::Any => monitors.min(1),
            Self::Count(count) => (count as usize).min(monitors),
        }
    }
}

impl std::fmt::Display for Needs {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::All => f.write_str("all"),
            Self::Any => f.write_str("any"),
            Self::Count(count) => count.fmt(f),
        }
    }
}

crate::stored_as_text::stored_as_text!(Needs);

text_enum! {
    /// What the uptime of a component is computed from.
    #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
    pub enum UptimeFrom {
        Monitors = "monitors",
        Incidents = "incidents",
        None = "none",
    }
}

/// A status that a user has set.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Override {
    pub status: ComponentStatus,
    /// Until it is removed, unless set.
    #[serde(with = "crate::serde_millis::maybe_instant")]
    pub until: Option<Millis>,
    pub note: String,
}

impl Override {
    pub fn is_active(&self, now: Millis) -> bool {
        self.until.is_none_or(|until| now < until)
    }
}

impl Component {
    /// Whether its status follows from monitors, even if all of them were deleted.
    pub fn has_monitors(&self) -> bool {
        !self.monitors.is_empty() || !self.tag.is_empty() || self.settings.had_monitors
    }

    /// Whether all of its monitors were deleted, and nobody has decided yet what to do with it.
    pub fn has_lost_monitors(&self) -> bool {
        self.monitors.is_empty() && self.tag.is_empty() && self.settings.had_monitors
    }

    pub fn monitor_ids(&self) -> impl Iterator<Item = MonitorId> {
        self.monitors.iter().map(|monitor| monitor.id)
    }

    pub fn uptime_from(&self) -> UptimeFrom {
        let default =
            if self.has_monitors() { UptimeFrom::Monitors } else { UptimeFrom::Incidents };
        self.settings.uptime_from.unwrap_or(default)
    }

    /// The name to show: that of its monitor where it was given none.
    pub fn shown_name(&self) -> &str {
        match self.monitors.first() {
            Some(monitor) if self.name.is_empty() => &monitor.name,
            _ => &self.name,
        }
    }

    pub fn active_override(&self, now: Millis) -> Option<&Override> {
        self.status_override.as_ref().filter(|set| set.is_active(now))
    }
}

impl Section {
    /// For the audit log, such as `Services: API, Website`.
    pub(super) fn describe(&self) -> String {
        let names: Vec<String> = self
            .components
            .iter()
            .map(|component| {
                let count = component.monitors.len();
                match component.tag.as_str() {
                    "" if count == 0 => component.shown_name().to_owned(),
                    "" => format!("{} ({count} monitors)", component.shown_name()),
                    tag => format!("{} ({count} monitors, tag {tag})", component.shown_name()),
                }
            })
            .collect();
        format!("{}: {}", self.name, names.join(", "))
    }
}

/// The short name of a component in badges.
pub fn parse_alias(text: &str) -> Result<String, Invalid> {
    let plain = |c: char| c.is_ascii_lowercase() || c.is_ascii_digit() || c == '-';
    let alias = text.trim();
    if alias.len() <= 64 && alias.chars().all(plain) {
        Ok(alias.to_owned())
    } else {
        Err(Invalid::new("must have 1 to 64 of the characters a-z, 0-9 and -"))
    }
}
