//! Which messages a notifier gets, and when: the types of events, the least urgent severity, and
//! quiet hours.

use super::event;
use crate::Invalid;
use crate::quiet::{Passage, Quiet};
use crate::severity::Severity;
use crate::time::Millis;

/// The settings of a notifier that decide about a message.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct MessageRules {
    /// The types of events that it gets. `None`: those that every version knows, and those that
    /// address it.
    pub events: Option<Vec<String>>,
    /// Less urgent outages are not reported.
    pub min_severity: Severity,
    pub quiet: Option<Quiet>,
}

impl Default for MessageRules {
    fn default() -> Self {
        Self { events: None, min_severity: Severity::Info, quiet: None }
    }
}

impl MessageRules {
    /// As they are stored. What cannot be read does not keep a message from being sent.
    pub fn stored(events: Option<&str>, min_severity: &str, quiet: Option<&str>) -> Self {
        Self {
            events: events.and_then(|text| serde_json::from_str(text).ok()),
            min_severity: Severity::parse(min_severity).unwrap_or(Severity::Info),
            quiet: quiet.and_then(|text| serde_json::from_str(text).ok()),
        }
    }

    /// The types of events that a notifier may name, each once and in their order.
    pub fn parse_events(names: &[String]) -> Result<Vec<String>, Invalid> {
        let names: Vec<&str> = names.iter().map(|name| name.trim()).collect();
        let is_known = |name: &&str| name.is_empty() || event::TYPES.contains(name);
        if !names.iter().all(is_known) {
            return Err(Invalid::one_of(selectable()));
        }
        let chosen: Vec<String> =
            selectable().filter(|kind| names.contains(kind)).map(str::to_owned).collect();
        if chosen.is_empty() {
            return Err(Invalid::new("must name a type of event"));
        }
        Ok(chosen)
    }

    /// The types of events that it gets.
    pub fn event_types(&self) -> Vec<&'static str> {
        selectable().filter(|kind| self.receives(kind)).collect()
    }

    /// When a message is sent first; `None`: never.
    pub fn first_try(&self, kind: &str, severity: Severity, at: Millis) -> Option<Millis> {
        if severity < self.min_severity { None } else { self.later_try(kind, severity, at) }
    }

    /// The same for a message to a recipient that knows of the alert, or that was named.
    pub fn later_try(&self, kind: &str, severity: Severity, at: Millis) -> Option<Millis> {
        if !self.receives(kind) {
            return None;
        }
        match self.quiet.as_ref().map_or(Passage::Send, |quiet| quiet.passage(severity, at)) {
            Passage::Send => Some(at),
            Passage::HoldUntil(end) => Some(end),
            Passage::Drop => None,
        }
    }

    /// When a recipient that was notified of an alert gets its end: at once if that makes no
    /// sound. Otherwise it waits for the end of the quiet hours, and is never dropped: nothing else
    /// says that the alert is over.
    pub fn ending_try(
        &self,
        kind: &str,
        severity: Severity,
        at: Millis,
        is_silent: bool,
    ) -> Option<Millis> {
        if !self.receives(kind) {
            return None;
        }
        let quiet = self.quiet.as_ref().filter(|quiet| !is_silent && severity < quiet.except());
        Some(quiet.and_then(|quiet| quiet.end(at)).unwrap_or(at))
    }

    /// Whether a message of this severity was not sent because of the quiet hours.
    pub fn drops(&self, severity: Severity, at: Millis) -> bool {
        self.quiet.as_ref().is_some_and(|quiet| quiet.passage(severity, at) == Passage::Drop)
    }

    /// Whether a time belongs to the quiet hours.
    pub fn is_quiet(&self, at: Millis) -> bool {
        self.quiet.as_ref().is_some_and(|quiet| quiet.end(at).is_some())
    }

    fn receives(&self, kind: &str) -> bool {
        match &self.events {
            Some(events) => events.iter().any(|one| one == kind),
            None => !event::ALERT_TYPES.contains(&kind) || event::ADDRESSED_TYPES.contains(&kind),
        }
    }
}

/// A test is sent in any case.
fn selectable() -> impl Iterator<Item = &'static str> {
    event::TYPES.iter().copied().filter(|kind| *kind != event::TEST)
}

#[cfg(test)]
mod tests {
    use super::*;

    const NIGHT: &str = r#"{"time_zone":"UTC","hours":[{"from":"22:00","to":"06:00"}],
        "except":"critical","then":"hold"}"#;

    fn at(text: &str) -> Millis {
        Millis::parse(text).expect("a time")
    }

    #[test]
    fn a_notifier_gets_the_types_that_it_names_and_otherwise_those_that_address_it() {
        let now = at("2026-06-05T12:00:00Z");
        let gets = |rules: &MessageRules, kind| {
            rules.first_try(kind, Severity::Critical, now) == Some(now)
        };
        let plain = MessageRules::stored(None, "info", None);
        for (kind, expected) in [
            (event::DOWN, true),
            (event::UP, true),
            (event::ESCALATED, true),
            (event::ASSIGNED, true),
            (event::ACKNOWLEDGED, false),
            (event::RESOLVED, false),
        ] {
            assert_eq!(gets(&plain, kind), expected, "{kind}");
        }
        let named = MessageRules::stored(Some(r#"["alert.resolved"]"#), "info", None);
        assert!(gets(&named, event::RESOLVED) && !gets(&named, event::DOWN));
        assert_eq!(named.event_types(), [event::RESOLVED]);
    }

    #[test]
    fn the_types_of_events_are_validated() {
        let parse = |names: &[&str]| {
            let names: Vec<String> = names.iter().map(|name| (*name).to_owned()).collect();
            MessageRules::parse_events(&names)
        };
        let parsed = parse(&["monitor.up", "monitor.down", "monitor.up", "notifier.test"]);
        assert_eq!(parsed.expect("valid"), ["monitor.down", "monitor.up"]);
        assert!(parse(&["monitor.sideways"]).is_err());
        assert!(parse(&[]).is_err() && parse(&["notifier.test"]).is_err());
    }

    #[test]
    fn a_less_urgent_message_waits_for_the_end_of_the_quiet_hours_or_is_not_sent() {
        let night = at("2026-06-05T23:00:00Z");
        let rules = MessageRules::stored(None, "warning", Some(NIGHT));
        let first = |severity| rules.first_try(event::DOWN, severity, night);
        assert_eq!(first(Severity::Critical), Some(night));
        assert_eq!(first(Severity::Warning), Some(at("2026-06-06T06:00:00Z")));
        assert_eq!(first(Severity::Info), None);
        let later = rules.later_try(event::UP, Severity::Info, night);
        assert_eq!(later, Some(at("2026-06-06T06:00:00Z")), "its recipients learn of the end");
    }

    #[test]
    fn a_recipient_that_was_notified_gets_the_end_silently_at_once_or_after_the_quiet_hours() {
        let (night, morning) = (at("2026-06-05T23:00:00Z"), at("2026-06-06T06:00:00Z"));
        for then in ["hold", "drop"] {
            let quiet = NIGHT.replace("hold", then);
            let rules = MessageRules::stored(None, "info", Some(&quiet));
            let ends =
                |severity, at, is_silent| rules.ending_try(event::UP, severity, at, is_silent);
            assert_eq!(ends(Severity::Warning, night, true), Some(night), "{then}");
            assert_eq!(ends(Severity::Warning, night, false), Some(morning), "{then}");
            assert_eq!(ends(Severity::Critical, night, false), Some(night), "{then}");
            assert_eq!(ends(Severity::Warning, morning, false), Some(morning), "{then}");
            assert_eq!(rules.drops(Severity::Warning, night), then == "drop");
            assert!(
                !rules.drops(Severity::Critical, night) && !rules.drops(Severity::Info, morning)
            );
            assert!(rules.is_quiet(night) && !rules.is_quiet(morning));
        }
        let named = MessageRules::stored(Some(r#"["monitor.down"]"#), "info", None);
        assert_eq!(named.ending_try(event::UP, Severity::Critical, night, true), None);
    }
}
