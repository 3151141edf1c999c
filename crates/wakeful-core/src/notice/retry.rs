//! What becomes of a delivery after an attempt: done, tried again after a
//! while, or given up. And when a receiver that only fails is left alone.

use std::time::Duration;

use crate::backoff;
use crate::time::Millis;

/// A receiver that is overloaded or silent is given at least this much rest.
const REST: Duration = Duration::from_secs(60);
/// Failing for so long without one success, a notifier is turned off.
pub const DEAD_AFTER: Duration = Duration::from_secs(120 * 3600);
/// Failures that lie further apart do not belong together: nothing was tried in
/// between, so nothing is known of that time. No wait between two tries of one
/// message is as long.
pub const QUIET: Duration = Duration::from_secs(30 * 3600);

/// What an attempt came to, with the receiver's words or ours.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Outcome {
    Delivered(String),
    /// It was taken for some; these others may be told later.
    Partly {
        answer: String,
        left: Vec<String>,
    },
    /// It may work later.
    Failed(Failure),
    /// The same message will never be taken.
    Refused(String),
    /// The receiver is gone for good and wants no more messages.
    Gone(String),
}

#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Failure {
    pub answer: String,
    /// When the receiver asked to be left alone until.
    pub retry_after: Option<Duration>,
    /// The receiver was too busy to answer, or said so.
    pub overloaded: bool,
}

impl Outcome {
    pub fn failed(answer: impl Into<String>) -> Self {
        Self::Failed(Failure { answer: answer.into(), retry_after: None, overloaded: false })
    }

    pub fn answer(&self) -> &str {
        match self {
            Self::Delivered(answer)
            | Self::Partly { answer, .. }
            | Self::Refused(answer)
            | Self::Gone(answer) => answer,
            Self::Failed(failure) => &failure.answer,
        }
    }
}

/// The wait after the given number of failed attempts; nothing when that was
/// the last. A receiver may ask for up to twice the wait, and no less.
pub fn wait(attempts: u32, failure: &Failure, jitter: u32) -> Option<Duration> {
    let step = backoff::wait(attempts, jitter)?;
    let base = if failure.overloaded { step.max(REST) } else { step };
    Some(failure.retry_after.map_or(base, |asked| asked.clamp(base, base * 2)))
}

/// Whether a receiver that fails now, and has failed since then, is dead.
pub fn is_dead(failing_since: Option<Millis>, now: Millis) -> bool {
    failing_since.is_some_and(|since| now.since(since) >= DEAD_AFTER)
}

#[cfg(test)]
mod tests {
    use super::*;

    const MIDDLE: u32 = u32::MAX / 2;

    fn seconds(attempts: u32, retry_after: Option<u64>, overloaded: bool) -> Option<u64> {
        let retry_after = retry_after.map(Duration::from_secs);
        let failure = Failure { answer: String::new(), retry_after, overloaded };
        wait(attempts, &failure, MIDDLE).map(|wait| wait.as_secs_f64().round() as u64)
    }

    #[test]
    fn each_failure_waits_longer_until_the_last() {
        let waits: Vec<_> = (1..=10).map(|attempts| seconds(attempts, None, false)).collect();
        let ladder = [5, 30, 120, 600, 1_800, 3_600, 10_800, 21_600, 43_200];
        assert_eq!(waits[..9], ladder.map(Some));
        assert_eq!(waits[9], None);
    }

    #[test]
    fn a_receiver_may_ask_for_more_but_not_for_ever() {
        assert_eq!(seconds(2, Some(1), false), Some(30));
        assert_eq!(seconds(2, Some(45), false), Some(45));
        assert_eq!(seconds(2, Some(86_400), false), Some(60));
    }

    #[test]
    fn an_overloaded_receiver_rests_for_a_minute_at_least() {
        assert_eq!(seconds(1, None, true), Some(60));
        assert_eq!(seconds(1, Some(90), true), Some(90));
        assert_eq!(seconds(4, None, true), Some(600));
    }

    #[test]
    fn five_days_of_failing_are_death_and_no_failing_is_life() {
        let since = Millis(1_000);
        assert!(!is_dead(None, since.after(DEAD_AFTER * 2)));
        assert!(!is_dead(Some(since), since.after(DEAD_AFTER - Duration::from_millis(1))));
        assert!(is_dead(Some(since), since.after(DEAD_AFTER)));
    }

    #[test]
    fn a_message_that_is_still_being_tried_is_never_quiet() {
        let asked = Some(Duration::from_secs(30 * 86_400));
        for attempts in 1..=9 {
            let failure = Failure { answer: String::new(), retry_after: asked, overloaded: true };
            let longest = wait(attempts, &failure, u32::MAX).expect("a step");
            assert!(longest < QUIET, "{attempts}: {longest:?}");
        }
    }
}
