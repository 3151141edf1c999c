//! When an API key expires, as given: a time, or a number of days from now.

use std::time::Duration;

use crate::Invalid;
use crate::time::Millis;

const MAX_DAYS: u64 = 3_650;
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
            Ok(days) if (1..=MAX_DAYS).contains(&u64::from(days)) => Ok(Self::Days(days)),
            _ => Err(Invalid::new(format!(
                "must be a time such as 2027-01-31T00:00:00Z, or a number of days from 1 to {MAX_DAYS}"
            ))),
        }
    }

    /// The time that it means now, which must lie in the future and not too far away.
    pub fn resolve(self, now: Millis) -> Result<Millis, Invalid> {
        let latest = now.after(DAY * MAX_DAYS as u32);
        match self {
            Self::Days(days) => Ok(now.after(DAY * days)),
            Self::At(at) if at <= now => Err(Invalid::new("must be in the future")),
            Self::At(at) if at > latest => {
                Err(Invalid::new(format!("must be at most {MAX_DAYS} days away")))
            }
            Self::At(at) => Ok(at),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_expiry_is_a_future_time_or_a_number_of_days() {
        let now = Millis::parse("2026-11-17T00:00:00Z").expect("a time");
        let resolve = |text: &str| Expiry::parse(text).and_then(|expiry| expiry.resolve(now));
        let tomorrow = Millis::parse("2026-11-18T00:00:00Z").expect("a time");
        assert_eq!(resolve("1"), Ok(tomorrow));
        assert_eq!(resolve(" 2026-11-18T01:00:00+01:00 "), Ok(tomorrow));
        for text in
            ["", "0", "3651", "-1", "1.5", "soon", "2026-11-17T00:00:00Z", "2099-01-01T00:00:00Z"]
        {
            assert!(resolve(text).is_err(), "{text:?}");
        }
    }
}
