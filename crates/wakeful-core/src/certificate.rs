//! Warnings before a certificate expires: once each at 21, 14, 7, 3 and 1 days
//! and on expiry, for the registration of a domain at 60, 30, 14, 7, 3 and 1 days.
//! Only the most urgent is sent when several are passed at once. Issued warnings
//! are stored per expiry date: a renewed certificate has another date, and targets
//! that alternate between two certificates cause one warning for each.

use serde::{Deserialize, Serialize};
use std::time::Duration;

use crate::alerting::alert::AlertKind;
use crate::observation::{Certificate, MAX_EXPIRY, sanitize};
use crate::reason::Reason;
use crate::serde_millis;
use crate::severity::Severity;
use crate::time::Millis;

/// Most urgent first; 0 is the expiry itself.
const DAYS_BEFORE: [u8; 6] = [0, 1, 3, 7, 14, 21];
/// A domain takes longer to renew, and longer to get back.
const DAYS_BEFORE_OF_DOMAINS: [u8; 7] = [0, 1, 3, 7, 14, 30, 60];
const DAY: Duration = Duration::from_secs(86_400);

/// How many certificates of one target are tracked.
const MAX_TRACKED: usize = 8;

/// A certificate that is about to expire, to be reported once.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ExpiryWarning {
    pub of: ExpiryKind,
    /// The threshold that was passed: 21, 14, 7, 3, 1, or 0 on expiry.
    pub days: u8,
    pub not_after: Millis,
    pub message: String,
}

impl ExpiryWarning {
    pub fn reason(&self) -> Reason {
        match self.of {
            ExpiryKind::Certificate | ExpiryKind::ClientCertificate => Reason::CertificateExpiring,
            ExpiryKind::Domain => Reason::DomainExpiring,
        }
    }

    /// The severity of its alert, for a monitor with this severity.
    pub fn severity(&self, monitor: Severity) -> Severity {
        match self.of {
            ExpiryKind::Certificate | ExpiryKind::ClientCertificate => {
                Severity::of_certificate(self.days, monitor)
            }
            ExpiryKind::Domain => AlertKind::Domain.first_severity(monitor),
        }
    }

    pub fn alert_kind(&self) -> AlertKind {
        match self.of {
            ExpiryKind::Certificate | ExpiryKind::ClientCertificate => AlertKind::Certificate,
            ExpiryKind::Domain => AlertKind::Domain,
        }
    }
}

/// What expires.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum ExpiryKind {
    Certificate,
    /// The certificate that checks present.
    ClientCertificate,
    Domain,
}

/// Something that expires, and when.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Expiry {
    pub of: ExpiryKind,
    pub name: String,
    #[serde(with = "serde_millis::instant")]
    pub not_after: Millis,
}

impl Expiry {
    pub fn of(certificate: &Certificate) -> Self {
        Self {
            of: ExpiryKind::Certificate,
            name: certificate.display_name().to_owned(),
            not_after: certificate.not_after,
        }
    }

    /// That of another machine, with the same bounds as one made here.
    #[must_use]
    pub(crate) fn sanitized(self) -> Self {
        let not_after = self.not_after.clamp(Millis(0), MAX_EXPIRY);
        Self { name: sanitize(&self.name), not_after, ..self }
    }

    fn thresholds(&self) -> &'static [u8] {
        match self.of {
            ExpiryKind::Certificate | ExpiryKind::ClientCertificate => &DAYS_BEFORE,
            ExpiryKind::Domain => &DAYS_BEFORE_OF_DOMAINS,
        }
    }
}

/// The warnings already issued for one monitor. A slice, because every monitor has one.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(transparent)]
pub struct IssuedWarnings(Box<[Entry]>);

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
struct Entry {
    #[serde(with = "serde_millis::instant")]
    not_after: Millis,
    days: u8,
}

impl IssuedWarnings {
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// The warning that is due at `now`, unless it has been issued.
    pub fn due(&self, expiry: &Expiry, now: Millis) -> Option<ExpiryWarning> {
        let not_after = expiry.not_after;
        let mut days = expiry.thresholds().iter().copied();
        let days = days.find(|days| passed(*days, not_after, now))?;
        let given = self.0.iter().find(|entry| entry.not_after == not_after);
        if given.is_some_and(|entry| entry.days <= days) {
            return None;
        }
        Some(ExpiryWarning { of: expiry.of, days, not_after, message: message(expiry, now) })
    }

    /// Records that a warning has been issued.
    pub fn add(&mut self, warning: &ExpiryWarning) {
        let mut issued = std::mem::take(&mut self.0).into_vec();
        issued.retain(|entry| entry.not_after != warning.not_after);
        issued.push(Entry { not_after: warning.not_after, days: warning.days });
        if issued.len() > MAX_TRACKED {
            // The oldest warning makes room: its certificate has most likely
            // been replaced.
            issued.remove(0);
        }
        self.0 = issued.into_boxed_slice();
    }
}

fn passed(days: u8, not_after: Millis, now: Millis) -> bool {
    now >= not_after.before(DAY * u32::from(days))
}

fn message(expiry: &Expiry, now: Millis) -> String {
    let Expiry { of, name, not_after } = expiry;
    let what = match of {
        ExpiryKind::Certificate => "the certificate of",
        ExpiryKind::ClientCertificate => "the client certificate of",
        ExpiryKind::Domain => "the registration of",
    };
    let subject = sanitize(name);
    let left = not_after.since(now);
    match left.as_secs() / DAY.as_secs() {
        _ if now >= *not_after => format!("{what} {subject} expired on {not_after}"),
        0 => format!(
            "{what} {subject} expires within {} h, on {not_after}",
            left.as_secs() / 3_600 + 1
        ),
        1 => format!("{what} {subject} expires in 1 day, on {not_after}"),
        days => format!("{what} {subject} expires in {days} days, on {not_after}"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn expiry(of: ExpiryKind, not_after: Millis) -> Expiry {
        Expiry { of, name: "a.example".to_owned(), not_after }
    }

    fn certificate(not_after: Millis) -> Expiry {
        expiry(ExpiryKind::Certificate, not_after)
    }

    fn hours(number: u32) -> Duration {
        Duration::from_secs(3_600) * number
    }

    const EXPIRY: Millis = Millis(1_800_000_000_000);

    /// The thresholds that are reported when checks run at these hours before
    /// expiry.
    fn warnings_at(checks: &[u32]) -> Vec<u8> {
        warnings_of(ExpiryKind::Certificate, checks)
    }

    fn warnings_of(of: ExpiryKind, checks: &[u32]) -> Vec<u8> {
        let mut given = IssuedWarnings::default();
        let mut warnings_at = Vec::new();
        for before in checks {
            if let Some(warning) = given.due(&expiry(of, EXPIRY), EXPIRY.before(hours(*before))) {
                given.add(&warning);
                warnings_at.push(warning.days);
            }
        }
        warnings_at
    }

    #[test]
    fn each_threshold_warns_once_when_it_is_passed() {
        let every_hour: Vec<u32> = (0..40 * 24).rev().collect();
        assert_eq!(warnings_at(&every_hour), [21, 14, 7, 3, 1, 0]);
        let every_hour: Vec<u32> = (0..90 * 24).rev().collect();
        assert_eq!(warnings_of(ExpiryKind::Domain, &every_hour), [60, 30, 14, 7, 3, 1, 0]);
    }

    #[test]
    fn a_threshold_is_passed_to_the_millisecond() {
        let given = IssuedWarnings::default();
        let edge = EXPIRY.before(DAY * 21);
        assert_eq!(given.due(&certificate(EXPIRY), Millis(edge.0 - 1)), None);
        assert_eq!(given.due(&certificate(EXPIRY), edge).map(|w| w.days), Some(21));
    }

    #[test]
    fn of_several_thresholds_passed_at_once_only_the_most_urgent_warns() {
        assert_eq!(warnings_at(&[30 * 24, 60, 59, 20, 0]), [3, 1, 0]);
        assert_eq!(warnings_at(&[0, 0]), [0]);
    }

    #[test]
    fn a_renewed_certificate_starts_over() {
        let mut given = IssuedWarnings::default();
        let first = given.due(&certificate(EXPIRY), EXPIRY.before(DAY)).expect("due");
        given.add(&first);
        let renewed = EXPIRY.after(DAY * 90);
        assert_eq!(given.due(&certificate(renewed), EXPIRY), None);
        let again = given.due(&certificate(renewed), renewed.before(DAY * 20)).expect("due");
        assert_eq!(again.days, 21);
    }

    #[test]
    fn alternating_certificates_are_each_warned_about_once() {
        let (one, two) = (certificate(EXPIRY), certificate(EXPIRY.after(DAY)));
        let now = EXPIRY.before(DAY * 10);
        let mut given = IssuedWarnings::default();
        let warnings_at = (0..100)
            .filter(|turn| {
                let warning = given.due(if turn % 2 == 0 { &one } else { &two }, now);
                warning.inspect(|warning| given.add(warning)).is_some()
            })
            .count();
        assert_eq!(warnings_at, 2);
    }

    #[test]
    fn the_list_of_issued_warnings_is_bounded() {
        let mut given = IssuedWarnings::default();
        for number in 0..1_000 {
            let warning = given.due(&certificate(Millis(number)), EXPIRY).expect("due");
            given.add(&warning);
        }
        assert_eq!(given.0.len(), MAX_TRACKED);
    }

    #[test]
    fn a_certificate_without_a_subject_is_named_by_its_first_dns_name() {
        let names = vec!["b.example".to_owned(), "c.example".to_owned()];
        let unnamed = Certificate {
            subject: String::new(),
            issuer: "CA".to_owned(),
            names,
            not_after: EXPIRY,
            trusted: true,
            chain: Vec::new(),
        };
        let message = message(&Expiry::of(&unnamed), EXPIRY);
        assert!(message.starts_with("the certificate of b.example expired"), "{message}");
    }

    #[test]
    fn the_message_contains_the_date() {
        for (before, text) in [
            (hours(60), "expires in 2 days, on 2027-01-15T08:00:00.000Z"),
            (hours(24), "expires in 1 day, on "),
            (hours(3), "expires within 4 h, on "),
            (hours(0), "expired on 2027-01-15T08:00:00.000Z"),
        ] {
            let message = message(&certificate(EXPIRY), EXPIRY.before(before));
            assert!(message.contains(text), "{message}");
        }
    }
}
