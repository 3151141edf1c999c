//! Severity: how urgent an alert is. It has the severity of its monitor unless a rule or a
//! user sets another.

use std::fmt;

use crate::Invalid;
use crate::named_enum;
use crate::stored_as_text::stored_as_text;

named_enum! {
    /// From the least to the most urgent, so that they can be compared.
    #[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
    pub enum Severity {
        Info = "info",
        Warning = "warning",
        #[default]
        Critical = "critical",
    }
}

/// From so many days before its expiry on, a certificate is as urgent as an outage.
const URGENT_DAYS: u8 = 3;

impl Severity {
    pub fn parse(text: &str) -> Result<Self, Invalid> {
        let found = Self::ALL.iter().copied().find(|severity| severity.as_str() == text);
        found.ok_or_else(|| Invalid::one_of(Self::ALL.iter().rev().map(|one| one.as_str())))
    }

    /// The severity of a warning that a certificate expires in so many days.
    #[must_use]
    pub fn of_certificate(days: u8, monitor: Self) -> Self {
        if days <= URGENT_DAYS { monitor } else { Self::Warning }
    }
}

impl fmt::Display for Severity {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

stored_as_text!(Severity);

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_severity_has_a_name_and_an_order() {
        for severity in Severity::ALL {
            assert_eq!(Severity::parse(severity.as_str()), Ok(*severity));
        }
        assert!(Severity::Critical > Severity::Warning && Severity::Warning > Severity::Info);
        assert_eq!(
            Severity::parse("fatal"),
            Err(Invalid::new("must be one of critical, warning, info"))
        );
    }

    #[test]
    fn a_certificate_warning_has_the_severity_of_its_monitor_from_three_days_on() {
        for (days, severity) in [
            (21, Severity::Warning),
            (14, Severity::Warning),
            (7, Severity::Warning),
            (3, Severity::Critical),
            (1, Severity::Critical),
            (0, Severity::Critical),
        ] {
            assert_eq!(Severity::of_certificate(days, Severity::Critical), severity, "{days}");
        }
        assert_eq!(Severity::of_certificate(1, Severity::Info), Severity::Info);
    }
}
