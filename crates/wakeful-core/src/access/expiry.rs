//! When an API key expires, as given: a time, or a number of days from now.

use std::time::Duration;

use super::policy::KeyDays;
use crate::Invalid;
use crate::time::Millis;

pub(super) const MAX_DAYS: u32 = 3_650;
const DAY: Duration = Duration::from_secs(86_400);

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Expiry {
    At(Millis),
    Days(u32),
}

impl Expiry {
    pub fn parse(text: &str) -> Result<Self, Invalid> {
        let text = text.trim();
        if let Some(at) = Millis::parse(text) {
            return Ok(Self::At(at));
        }
        match text.parse() {
            Ok(days) if (1..=MAX_DAYS).contains(&days) => Ok(Self::Days(days)),
            _ => Err(Invalid::new(format!(
                "must be a time such as 2027-01-31T00:00:00Z, or a number of days from 1 to {MAX_DAYS}"
            ))),
        }
    }

    /// The time that it means now, which must lie in the future and not too far away. A team
    /// may allow fewer days.
    pub fn resolve(self, now: Millis, allowed: KeyDays) -> Result<Millis, Invalid> {
        let max = allowed.limit().unwrap_or(MAX_DAYS);
        let at = match self {
            Self::Days(days) => now.after(DAY * days),
            Self::At(at) if at <= now => return Err(Invalid::new("must be in the future")),
            Self::At(at) => at,
        };
        if at > now.after(DAY * max) {
            return Err(Invalid::new(format!("must be at most {max} days away")));
        }
        Ok(at)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_expiry_is_a_future_time_or_a_number_of_days() {
        let now = Millis::parse("2026-11-17T00:00:00Z").expect("a time");
        let within = |text: &str, allowed| {
            Expiry::parse(text).and_then(|expiry| expiry.resolve(now, allowed))
        };
        let resolve = |text: &str| within(text, KeyDays::default());
        let tomorrow = Millis::parse("2026-11-18T00:00:00Z").expect("a time");
        assert_eq!(resolve("1"), Ok(tomorrow));
        assert_eq!(resolve(" 2026-11-18T01:00:00+01:00 "), Ok(tomorrow));
        for text in
            ["", "0", "3651", "-1", "1.5", "soon", "2026-11-17T00:00:00Z", "2099-01-01T00:00:00Z"]
        {
            assert!(resolve(text).is_err(), "{text:?}");
        }
        let week = KeyDays::new(7).expect("a number of days");
        assert!(within("7", week).is_ok() && within("2026-11-24T00:00:00Z", week).is_ok());
        for text in ["8", "2026-11-24T00:00:01Z"] {
            assert_eq!(within(text, week), Err(Invalid::new("must be at most 7 days away")));
        }
    }
}
