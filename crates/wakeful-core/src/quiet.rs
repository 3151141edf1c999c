//! Quiet hours of a notifier: less urgent messages wait for their end, or are not sent at all.

use serde::{Deserialize, Serialize};

use crate::Invalid;
use crate::calendar::FOREVER;
use crate::calendar::hours::{self, DailyHours};
use crate::calendar::zone::Zone;
use crate::named_enum;
use crate::severity::Severity;
use crate::stored_as_text::stored_as_text;
use crate::time::Millis;

/// The quiet hours of a notifier.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(try_from = "Stored", into = "Stored")]
pub struct Quiet {
    zone: Zone,
    hours: Vec<DailyHours>,
    /// Messages of this severity or a higher one are sent nevertheless.
    except: Severity,
    then: Then,
}

named_enum! {
    /// What happens to a message in quiet hours.
    #[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
    pub enum Then {
        /// It is sent at their end.
        #[default]
        Hold = "hold",
        /// It is never sent.
        Drop = "drop",
    }
}

impl Then {
    pub fn parse(text: &str) -> Result<Self, Invalid> {
        let found = Self::ALL.iter().copied().find(|then| then.as_str() == text);
        found.ok_or_else(|| Invalid::one_of(Self::ALL.iter().map(|then| then.as_str())))
    }
}

impl std::fmt::Display for Then {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(self.as_str())
    }
}

stored_as_text!(Then);

/// What to do with a message.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Passage {
    Send,
    HoldUntil(Millis),
    Drop,
}

impl Quiet {
    pub fn new(
        zone: Zone,
        hours: Vec<DailyHours>,
        except: Severity,
        then: Then,
    ) -> Result<Self, Invalid> {
        if hours.is_empty() || hours.len() > hours::MAX_SPANS {
            return Err(Invalid::new(format!("must be 1 to {} spans", hours::MAX_SPANS)));
        }
        // A message that waits forever is lost.
        let some_day = Millis(1_790_000_000_000);
        if hours::end(&hours, &zone, some_day) == Some(FOREVER) {
            return Err(Invalid::new("must not last all week: disable the notifier instead"));
        }
        Ok(Self { zone, hours, except, then })
    }

    pub fn zone(&self) -> &Zone {
        &self.zone
    }

    pub fn hours(&self) -> &[DailyHours] {
        &self.hours
    }

    pub fn except(&self) -> Severity {
        self.except
    }

    pub fn then(&self) -> Then {
        self.then
    }

    /// What to do with a message of a severity at a time.
    pub fn passage(&self, severity: Severity, now: Millis) -> Passage {
        if severity >= self.except {
            return Passage::Send;
        }
        match (self.end(now), self.then) {
            (None, _) => Passage::Send,
            (Some(_), Then::Drop) => Passage::Drop,
            (Some(end), Then::Hold) => Passage::HoldUntil(end),
        }
    }

    /// When the quiet hours end that a time belongs to.
    pub fn end(&self, now: Millis) -> Option<Millis> {
        hours::end(&self.hours, &self.zone, now)
    }
}

#[derive(Serialize, Deserialize)]
struct Stored {
    time_zone: String,
    hours: Vec<DailyHours>,
    except: Severity,
    then: Then,
}

impl From<Quiet> for Stored {
    fn from(quiet: Quiet) -> Self {
        let Quiet { zone, hours, except, then } = quiet;
        Self { time_zone: zone.name().to_owned(), hours, except, then }
    }
}

impl TryFrom<Stored> for Quiet {
    type Error = Invalid;

    fn try_from(stored: Stored) -> Result<Self, Invalid> {
        let Stored { time_zone, hours, except, then } = stored;
        Self::new(Zone::stored(&time_zone), hours, except, then)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::calendar::hours::{Day, TimeOfDay};

    fn hours(days: &[Day], from: &str, to: &str) -> DailyHours {
        let time = |text| TimeOfDay::parse(text).expect("a time");
        DailyHours::new(days.to_vec(), time(from), time(to)).expect("valid")
    }

    fn nights(except: Severity, then: Then) -> Quiet {
        let zone = Zone::parse("Europe/Berlin").expect("a zone");
        Quiet::new(zone, vec![hours(&[], "22:00", "07:00")], except, then).expect("valid")
    }

    fn at(text: &str) -> Millis {
        Millis::parse(text).expect("a time")
    }

    #[test]
    fn a_message_waits_for_the_end_of_the_quiet_hours_across_midnight_and_clock_changes() {
        let quiet = nights(Severity::Critical, Then::Hold);
        for (now, until) in [
            ("2026-06-05T19:59:00Z", None),
            ("2026-06-05T20:00:00Z", Some("2026-06-06T05:00:00Z")),
            ("2026-06-06T04:59:59Z", Some("2026-06-06T05:00:00Z")),
            ("2026-06-06T05:00:00Z", None),
            // An hour is skipped, or happens twice.
            ("2026-03-28T23:00:00Z", Some("2026-03-29T05:00:00Z")),
            ("2026-10-24T23:00:00Z", Some("2026-10-25T06:00:00Z")),
        ] {
            let expected = until.map_or(Passage::Send, |until| Passage::HoldUntil(at(until)));
            assert_eq!(quiet.passage(Severity::Warning, at(now)), expected, "{now}");
        }
    }

    #[test]
    fn severities_from_the_exception_on_pass() {
        let night = at("2026-06-05T22:00:00Z");
        for (except, severity, sent) in [
            (Severity::Critical, Severity::Critical, true),
            (Severity::Critical, Severity::Warning, false),
            (Severity::Warning, Severity::Warning, true),
            (Severity::Warning, Severity::Info, false),
        ] {
            let passage = nights(except, Then::Drop).passage(severity, night);
            assert_eq!(passage, if sent { Passage::Send } else { Passage::Drop });
        }
    }

    #[test]
    fn quiet_hours_without_an_end_are_rejected() {
        let zone = Zone::utc();
        let all_week = vec![hours(&[], "00:00", "12:00"), hours(&[], "12:00", "24:00")];
        assert!(Quiet::new(zone.clone(), all_week, Severity::Critical, Then::Hold).is_err());
        assert!(Quiet::new(zone, Vec::new(), Severity::Critical, Then::Hold).is_err());
    }

    #[test]
    fn quiet_hours_are_stored_and_read_again() {
        let quiet = nights(Severity::Warning, Then::Drop);
        let text = serde_json::to_string(&quiet).expect("plain data");
        assert_eq!(serde_json::from_str::<Quiet>(&text).expect("readable"), quiet);
    }
}
