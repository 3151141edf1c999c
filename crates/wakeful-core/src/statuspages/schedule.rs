//! The maintenance clock of status pages: when a maintenance starts and ends without a person,
//! and when the next one takes place. All of it follows from the incident and the time.

use std::time::Duration;

use super::incident::{Incident, IncidentState};
use super::snapshot::{IncidentKind, IncidentStatus};
use crate::Invalid;
use crate::calendar::rrule::Rrule;
use crate::calendar::zone::Zone;
use crate::calendar::{Rule, Schedule, Start};
use crate::time::Millis;

/// The parts of a recurrence rule that are allowed.
const PARTS: [&str; 6] = ["FREQ", "INTERVAL", "BYDAY", "BYMONTHDAY", "COUNT", "UNTIL"];

/// What the clock does with a maintenance.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ClockStep {
    /// Reminds subscribers of a maintenance that begins soon.
    Remind,
    Start,
    Complete,
    /// Creates the next occurrence.
    Repeat {
        scheduled_for: Millis,
        scheduled_until: Millis,
    },
}

/// What is due now. A start that was missed is made up for, before the end.
pub fn step(incident: &Incident, now: Millis) -> Option<ClockStep> {
    if incident.kind != IncidentKind::Maintenance || incident.state != IncidentState::Published {
        return None;
    }
    let settings = &incident.settings;
    let is_past = |at: Option<Millis>| at.is_some_and(|at| at <= now);
    match incident.status {
        IncidentStatus::Scheduled if settings.auto_start && is_past(settings.scheduled_for) => {
            Some(ClockStep::Start)
        }
        IncidentStatus::Scheduled if is_past(next_reminder(incident)) => Some(ClockStep::Remind),
        IncidentStatus::InProgress | IncidentStatus::Verifying
            if settings.auto_end && is_past(settings.scheduled_until) =>
        {
            Some(ClockStep::Complete)
        }
        IncidentStatus::Completed if !settings.repeated => {
            let (scheduled_for, scheduled_until) = next_occurrence(incident, now)?;
            Some(ClockStep::Repeat { scheduled_for, scheduled_until })
        }
        _ => None,
    }
}

/// When the clock has to look at a maintenance next.
pub fn next_at(incident: &Incident) -> Option<Millis> {
    if incident.kind != IncidentKind::Maintenance || incident.state != IncidentState::Published {
        return None;
    }
    let settings = &incident.settings;
    match incident.status {
        IncidentStatus::Scheduled => {
            let start = settings.scheduled_for.filter(|_| settings.auto_start);
            start.into_iter().chain(next_reminder(incident)).min()
        }
        IncidentStatus::InProgress | IncidentStatus::Verifying if settings.auto_end => {
            settings.scheduled_until
        }
        IncidentStatus::Completed if !settings.repeated && !settings.repeat.is_empty() => {
            Some(incident.modified)
        }
        _ => None,
    }
}

/// The time of the next reminder. What was announced after it reminds as well, and so does the
/// start: reminders that are due together are sent as one.
fn next_reminder(incident: &Incident) -> Option<Millis> {
    let settings = &incident.settings;
    let start = settings.scheduled_for?;
    let announced = incident.updates.iter().map(|update| update.created).max();
    let last = announced.into_iter().chain(settings.reminded).max();
    let hours = settings.remind_hours.iter().map(|hours| u64::from(*hours));
    hours
        .map(|hours| start.before(Duration::from_secs(hours * 3_600)))
        .filter(|at| last.is_none_or(|last| *at > last) && *at < start)
        .min()
}

/// The next occurrence of a maintenance that has not begun yet.
fn next_occurrence(incident: &Incident, now: Millis) -> Option<(Millis, Millis)> {
    let settings = &incident.settings;
    let (from, until) = (settings.scheduled_for?, settings.scheduled_until?);
    let zone = Zone::stored(&settings.timezone);
    let schedule = schedule(&settings.repeat, zone, from, until).ok()??;
    let start = schedule.next_start(from.max(now))?;
    Some((start, Millis(start.0 + (until.0 - from.0))))
}

fn schedule(
    repeat: &str,
    zone: Zone,
    from: Millis,
    until: Millis,
) -> Result<Option<Schedule>, Invalid> {
    if repeat.is_empty() {
        return Ok(None);
    }
    let rule = Rrule::parse(repeat)?;
    let length = Some(until.since(from));
    let schedule = Schedule::new(Start::Instant(from), zone, length, Rule::Rrule(rule), Vec::new());
    schedule.map(Some).map_err(|why| why.reason)
}

/// A rule that a user has written, for a maintenance at this time. A number of times becomes
/// the time of the last one, so that every occurrence has the same rule.
pub fn parse_repeat(
    text: &str,
    zone: Zone,
    from: Millis,
    until: Millis,
) -> Result<String, Invalid> {
    let text = text.trim();
    let rule = text.strip_prefix("RRULE:").unwrap_or(text).to_ascii_uppercase();
    for part in rule.split(';').filter(|part| !part.is_empty()) {
        let name = part.split('=').next().unwrap_or_default();
        if !PARTS.contains(&name) || part == "FREQ=YEARLY" {
            return Err(Invalid::new(
                "must be a rule of FREQ DAILY, WEEKLY or MONTHLY with INTERVAL, BYDAY, BYMONTHDAY, \
                 COUNT or UNTIL",
            ));
        }
    }
    Ok(match schedule(&rule, zone, from, until)? {
        Some(schedule) => match schedule.rule() {
            Rule::Rrule(rule) => rule.to_string(),
            Rule::Once | Rule::Cron(_) => String::new(),
        },
        None => String::new(),
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::id::{IncidentId, TeamId};
    use crate::statuspages::incident::{IncidentSettings, IncidentSource};
    use crate::statuspages::snapshot::Impact;

    fn at(text: &str) -> Millis {
        Millis::parse(text).unwrap()
    }

    fn maintenance(from: &str, until: &str, zone: &str, repeat: &str) -> Incident {
        let (from, until) = (at(from), at(until));
        let repeat = parse_repeat(repeat, Zone::parse(zone).unwrap(), from, until).unwrap();
        Incident {
            id: IncidentId::UNKNOWN,
            team: TeamId::UNKNOWN,
            kind: IncidentKind::Maintenance,
            title: "Upgrade".to_owned(),
            state: IncidentState::Published,
            status: IncidentStatus::Scheduled,
            impact: Impact::Maintenance,
            settings: IncidentSettings {
                scheduled_for: Some(from),
                scheduled_until: Some(until),
                timezone: zone.to_owned(),
                repeat,
                remind_hours: Vec::new(),
                ..IncidentSettings::default()
            },
            source: IncidentSource::Person,
            rule: None,
            started: from,
            resolved: None,
            components: Vec::new(),
            pages: Vec::new(),
            updates: Vec::new(),
            created: Millis(0),
            modified: Millis(0),
        }
    }

    #[test]
    fn a_maintenance_starts_and_ends_on_time_or_late() {
        let mut one = maintenance("2026-11-18T10:00:00Z", "2026-11-18T11:00:00Z", "UTC", "");
        assert_eq!(next_at(&one), Some(at("2026-11-18T10:00:00Z")));
        assert_eq!(step(&one, at("2026-11-18T09:59:59Z")), None);
        // The service was down for a day: both happen, in order.
        let late = at("2026-11-19T10:00:00Z");
        assert_eq!(step(&one, late), Some(ClockStep::Start));
        one.status = IncidentStatus::InProgress;
        assert_eq!(step(&one, late), Some(ClockStep::Complete));
        one.status = IncidentStatus::Completed;
        assert_eq!((step(&one, late), next_at(&one)), (None, None));
        let mut manual = maintenance("2026-11-18T10:00:00Z", "2026-11-18T11:00:00Z", "UTC", "");
        manual.settings.auto_start = false;
        assert_eq!((step(&manual, late), next_at(&manual)), (None, None));
        let draft = Incident { state: IncidentState::Draft, ..manual };
        assert_eq!(step(&draft, late), None);
    }

    #[test]
    fn reminders_are_sent_once_and_not_for_what_was_just_announced() {
        let mut one = maintenance("2026-11-18T10:00:00Z", "2026-11-18T11:00:00Z", "UTC", "");
        one.settings.remind_hours = vec![24, 2, 1];
        assert_eq!(next_at(&one), Some(at("2026-11-17T10:00:00Z")));
        assert_eq!(step(&one, at("2026-11-17T09:00:00Z")), None);
        assert_eq!(step(&one, at("2026-11-17T10:00:00Z")), Some(ClockStep::Remind));
        one.settings.reminded = Some(at("2026-11-17T10:00:01Z"));
        assert_eq!(next_at(&one), Some(at("2026-11-18T08:00:00Z")));
        // Two that are due together are one.
        one.settings.reminded = Some(at("2026-11-18T09:30:00Z"));
        assert_eq!(next_at(&one), Some(at("2026-11-18T10:00:00Z")));
        assert_eq!(step(&one, at("2026-11-18T09:31:00Z")), None);
        // A start that is due replaces them.
        one.settings.reminded = None;
        assert_eq!(step(&one, at("2026-11-18T12:00:00Z")), Some(ClockStep::Start));
    }

    #[test]
    fn repeats_keep_their_local_time_and_skip_missing_days() {
        let next = |from: &str, until: &str, repeat: &str, now: &str| {
            let mut one = maintenance(from, until, "Europe/Berlin", repeat);
            one.status = IncidentStatus::Completed;
            match step(&one, at(now)) {
                Some(ClockStep::Repeat { scheduled_for, scheduled_until }) => {
                    Some((scheduled_for.to_string(), scheduled_until.to_string()))
                }
                other => {
                    assert_eq!(other, None);
                    None
                }
            }
        };
        let some = |from: &str, until: &str| Some((from.to_owned(), until.to_owned()));
        // Clocks go forward on 29 March 2026, and back on 25 October.
        assert_eq!(
            next(
                "2026-03-22T09:00:00Z",
                "2026-03-22T10:00:00Z",
                "FREQ=WEEKLY",
                "2026-03-22T10:00:00Z"
            ),
            some("2026-03-29T08:00:00.000Z", "2026-03-29T09:00:00.000Z")
        );
        assert_eq!(
            next(
                "2026-10-24T08:00:00Z",
                "2026-10-24T09:00:00Z",
                "FREQ=DAILY",
                "2026-10-24T09:00:00Z"
            ),
            some("2026-10-25T09:00:00.000Z", "2026-10-25T10:00:00.000Z")
        );
        assert_eq!(
            next(
                "2026-01-31T09:00:00Z",
                "2026-01-31T10:00:00Z",
                "FREQ=MONTHLY;BYMONTHDAY=31",
                "2026-01-31T10:00:00Z"
            ),
            some("2026-03-31T08:00:00.000Z", "2026-03-31T09:00:00.000Z")
        );
        // The leap day.
        assert_eq!(
            next(
                "2028-01-29T09:00:00Z",
                "2028-01-29T10:00:00Z",
                "FREQ=MONTHLY;BYMONTHDAY=29",
                "2028-01-29T10:00:00Z"
            ),
            some("2028-02-29T09:00:00.000Z", "2028-02-29T10:00:00.000Z")
        );
        // Occurrences that were missed are skipped, and the last one is the last.
        assert_eq!(
            next(
                "2026-06-01T09:00:00Z",
                "2026-06-01T10:00:00Z",
                "FREQ=DAILY;COUNT=5",
                "2026-06-03T12:00:00Z"
            ),
            some("2026-06-04T09:00:00.000Z", "2026-06-04T10:00:00.000Z")
        );
        assert_eq!(
            next(
                "2026-06-01T09:00:00Z",
                "2026-06-01T10:00:00Z",
                "FREQ=DAILY;COUNT=2",
                "2026-06-02T12:00:00Z"
            ),
            None
        );
    }

    #[test]
    fn other_rules_are_rejected() {
        let (from, until) = (at("2026-06-01T09:00:00Z"), at("2026-06-01T10:00:00Z"));
        for wrong in ["FREQ=YEARLY", "FREQ=DAILY;BYHOUR=1", "weekly", "FREQ=DAILY;COUNT=0"] {
            assert!(parse_repeat(wrong, Zone::utc(), from, until).is_err(), "{wrong}");
        }
        assert_eq!(parse_repeat("", Zone::utc(), from, until), Ok(String::new()));
    }
}
