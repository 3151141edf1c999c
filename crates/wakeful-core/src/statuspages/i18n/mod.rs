//! The phrases of status pages. Each language is one value of `Messages`, so that a missing
//! phrase does not compile. Words in braces are replaced.

mod ar;
mod de;
mod en;
mod es;
mod fr;
mod ja;
mod nl;
mod pt;
mod subscriptions;

use jiff::civil::Date;
use std::time::Duration;

pub use subscriptions::Subscriptions;

use super::Language;
use super::snapshot::{
    ComponentStatus, DayColor, Impact, IncidentStatus, Indicator, PageStatus, Uptime,
};
use crate::calendar::zone::Zone;
use crate::time::Millis;

pub struct Messages {
    pub skip: &'static str,

    // The status of the page.
    pub all_operational: &'static str,
    pub partially_degraded: &'static str,
    pub minor_outage: &'static str,
    pub partial_system_outage: &'static str,
    pub major_service_outage: &'static str,
    pub page_maintenance: &'static str,
    pub no_data_yet: &'static str,

    // The status of a component.
    pub unknown: &'static str,
    pub operational: &'static str,
    pub under_maintenance: &'static str,
    pub degraded_performance: &'static str,
    pub partial_outage: &'static str,
    pub major_outage: &'static str,

    // The status of an incident.
    pub investigating: &'static str,
    pub identified: &'static str,
    pub monitoring: &'static str,
    pub resolved: &'static str,
    pub scheduled: &'static str,
    pub in_progress: &'static str,
    pub verifying: &'static str,
    pub completed: &'static str,
    pub cancelled: &'static str,

    // The impact of an incident.
    pub impact_none: &'static str,
    pub impact_minor: &'static str,
    pub impact_major: &'static str,
    pub impact_critical: &'static str,
    pub maintenance: &'static str,

    // Parts of the front page.
    pub current_incidents: &'static str,
    pub scheduled_maintenance: &'static str,
    pub components: &'static str,
    pub past_incidents: &'static str,
    pub no_incidents: &'static str,
    pub affected: &'static str,
    pub edited: &'static str,
    pub postmortem: &'static str,
    /// `{duration}`
    pub lasted: &'static str,
    /// `{from}`, `{to}`
    pub window: &'static str,

    // Bars and figures. Percentages are written with their sign.
    /// `{days}`
    pub days_ago: &'static str,
    pub today: &'static str,
    /// `{percent}`
    pub uptime_of: &'static str,
    pub no_data: &'static str,
    /// `{days}`, `{percent}`, `{bad}`: for screen readers.
    pub bars_bad: &'static str,
    /// `{days}`, `{percent}`
    pub bars_one: &'static str,
    /// `{days}`, `{percent}`
    pub bars_good: &'static str,
    /// `{days}`
    pub bars_no_data: &'static str,
    pub day_good: &'static str,
    pub day_some: &'static str,
    pub day_out: &'static str,
    pub how_calculated: &'static str,
    pub how_calculated_text: &'static str,
    /// `{date}`
    pub certificate_until: &'static str,

    // The page of a component.
    pub uptime: &'static str,
    pub daily_history: &'static str,
    pub date: &'static str,
    pub status: &'static str,
    pub downtime: &'static str,
    pub period: &'static str,
    pub last_24_hours: &'static str,
    /// `{days}`
    pub last_days: &'static str,
    pub response_times: &'static str,
    pub median: &'static str,
    /// `{percent}` of all checks were faster.
    pub percentile: &'static str,
    pub outages: &'static str,
    pub ongoing: &'static str,
    pub incidents: &'static str,
    pub show_table: &'static str,

    // Navigation and footer.
    pub current_status: &'static str,
    pub history: &'static str,
    pub newer: &'static str,
    pub older: &'static str,
    pub feeds: &'static str,
    pub calendar: &'static str,
    pub languages: &'static str,
    pub links: &'static str,
    /// `{zone}`
    pub time_zone: &'static str,
    /// `{time}`
    pub as_of: &'static str,
    /// `{time}`
    pub delayed_since: &'static str,
    pub powered_by: &'static str,

    // Locked pages.
    pub locked: &'static str,
    pub enter_password: &'static str,
    pub password: &'static str,
    pub unlock: &'static str,
    pub wrong_password: &'static str,
    pub too_many_attempts: &'static str,
    pub token_needed: &'static str,
    pub login_needed: &'static str,
    pub log_in: &'static str,
    pub log_out: &'static str,

    // For the script.
    pub filter: &'static str,
    /// `{status}`
    pub changed: &'static str,

    // Numbers, dates and durations.
    pub decimal_separator: &'static str,
    /// `{number}`
    pub percent_format: &'static str,
    pub months: [&'static str; 12],
    /// `{day}`, `{month}`, `{year}`
    pub date_format: &'static str,
    /// `{month}`, `{year}`
    pub month_format: &'static str,
    /// `{date}`, `{time}`
    pub time_format: &'static str,
    pub days_unit: &'static str,
    pub hours_unit: &'static str,
    pub minutes_unit: &'static str,
    pub seconds_unit: &'static str,
}

impl Language {
    pub fn messages(self) -> &'static Messages {
        match self {
            Self::English => &en::MESSAGES,
            Self::German => &de::MESSAGES,
            Self::French => &fr::MESSAGES,
            Self::Spanish => &es::MESSAGES,
            Self::Dutch => &nl::MESSAGES,
            Self::Portuguese => &pt::MESSAGES,
            Self::Japanese => &ja::MESSAGES,
            Self::Arabic => &ar::MESSAGES,
        }
    }
}

impl PageStatus {
    /// In English, as in JSON in every language: programs compare it.
    pub fn description(self) -> &'static str {
        let english = Language::English.messages();
        if self.no_data { english.all_operational } else { english.page_status(self) }
    }
}

impl Messages {
    pub fn page_status(&self, status: PageStatus) -> &'static str {
        match status.indicator {
            _ if status.no_data => self.no_data_yet,
            Indicator::None => self.all_operational,
            Indicator::Maintenance => self.page_maintenance,
            Indicator::Minor if status.by_incident => self.minor_outage,
            Indicator::Minor => self.partially_degraded,
            Indicator::Major => self.partial_system_outage,
            Indicator::Critical => self.major_service_outage,
        }
    }

    pub fn component_status(&self, status: ComponentStatus) -> &'static str {
        match status {
            ComponentStatus::Unknown => self.unknown,
            ComponentStatus::Operational => self.operational,
            ComponentStatus::UnderMaintenance => self.under_maintenance,
            ComponentStatus::DegradedPerformance => self.degraded_performance,
            ComponentStatus::PartialOutage => self.partial_outage,
            ComponentStatus::MajorOutage => self.major_outage,
        }
    }

    pub fn incident_status(&self, status: IncidentStatus) -> &'static str {
        match status {
            IncidentStatus::Investigating => self.investigating,
            IncidentStatus::Identified => self.identified,
            IncidentStatus::Monitoring => self.monitoring,
            IncidentStatus::Resolved => self.resolved,
            IncidentStatus::Scheduled => self.scheduled,
            IncidentStatus::InProgress => self.in_progress,
            IncidentStatus::Verifying => self.verifying,
            IncidentStatus::Completed => self.completed,
        }
    }

    pub fn impact(&self, impact: Impact) -> &'static str {
        match impact {
            Impact::None => self.impact_none,
            Impact::Maintenance => self.maintenance,
            Impact::Minor => self.impact_minor,
            Impact::Major => self.impact_major,
            Impact::Critical => self.impact_critical,
        }
    }

    pub fn day(&self, color: DayColor) -> &'static str {
        match color {
            DayColor::NoData => self.no_data,
            DayColor::Maintenance => self.maintenance,
            DayColor::Good => self.day_good,
            DayColor::Some => self.day_some,
            DayColor::Out => self.day_out,
        }
    }

    /// A percentage with so many decimals (at most 4), rounded down, such as `99.982%`.
    pub fn uptime_percentage(&self, uptime: Uptime, decimals: u8) -> String {
        self.percentage(&uptime.percent(decimals))
    }

    /// A number that is written with a point, such as `99.9`, as a percentage of the language.
    pub fn percentage(&self, number: &str) -> String {
        let number = number.replace('.', self.decimal_separator);
        fill(self.percent_format, &[("number", &number)])
    }

    /// Such as `November 18, 2026`.
    pub fn day_of(&self, date: Date) -> String {
        let day = date.day().to_string();
        let year = date.year().to_string();
        fill(self.date_format, &[("day", &day), ("month", self.month_name(date)), ("year", &year)])
    }

    /// Such as `November 2026`.
    pub fn month_of(&self, date: Date) -> String {
        let year = date.year().to_string();
        fill(self.month_format, &[("month", self.month_name(date)), ("year", &year)])
    }

    fn month_name(&self, date: Date) -> &'static str {
        let index = usize::try_from(date.month()).unwrap_or(1).saturating_sub(1);
        self.months.get(index).copied().unwrap_or_default()
    }

    /// Such as `November 18, 2026, 09:31 CET`.
    pub fn time(&self, at: Millis, zone: &Zone) -> String {
        let local = zone.local(at);
        let (date, time) = (self.day_of(local.date()), self.clock(at, zone));
        fill(self.time_format, &[("date", &date), ("time", &time)])
    }

    /// Such as `09:31 CET`.
    pub fn clock(&self, at: Millis, zone: &Zone) -> String {
        let local = zone.local(at);
        format!("{:02}:{:02} {}", local.hour(), local.minute(), zone.abbreviation(at))
    }

    /// With its two largest units, such as `2 h 5 min`.
    pub fn duration(&self, span: Duration) -> String {
        let seconds = span.as_secs();
        let units = [
            (seconds / 86_400, self.days_unit),
            (seconds / 3_600 % 24, self.hours_unit),
            (seconds / 60 % 60, self.minutes_unit),
            (seconds % 60, self.seconds_unit),
        ];
        let first = units.iter().position(|(number, _)| *number > 0).unwrap_or(3);
        let shown = units.iter().skip(first).take(2).filter(|(number, _)| *number > 0);
        let shown: Vec<String> = shown.map(|(number, unit)| format!("{number} {unit}")).collect();
        if shown.is_empty() { format!("0 {}", self.seconds_unit) } else { shown.join(" ") }
    }
}

/// Replaces the words in braces.
pub fn fill(pattern: &str, values: &[(&str, &str)]) -> String {
    let mut filled = String::with_capacity(pattern.len() + 16);
    let mut rest = pattern;
    while let Some((before, after)) = rest.split_once('{') {
        filled.push_str(before);
        let (name, after) = after.split_once('}').unwrap_or((after, ""));
        let value = values.iter().find(|(one, _)| *one == name);
        filled.push_str(value.map_or("", |(_, value)| value));
        rest = after;
    }
    filled.push_str(rest);
    filled
}

#[cfg(test)]
mod tests;
