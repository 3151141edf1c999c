//! The outcome of a delivery attempt: delivered, retried after a while, or
//! given up. And when a notifier whose receiver keeps failing is disabled.

use std::time::Duration;

use crate::backoff;
use crate::time::Millis;

/// A receiver that is overloaded or does not respond is given at least this
/// long.
const OVERLOAD_BACKOFF: Duration = Duration::from_secs(60);
/// The longest wait for a quota.
const MAX_QUOTA_WAIT: Duration = Duration::from_secs(24 * 3600);
/// A notifier that fails for this long without one success is disabled.
pub const DISABLE_AFTER: Duration = Duration::from_secs(120 * 3600);
/// Failures that are further apart do not belong together: nothing was tried in
/// between, so nothing is known about that time. The longest wait between two
/// attempts of one message is shorter.
pub const FAILURE_STREAK_GAP: Duration = Duration::from_secs(30 * 3600);

/// The outcome of an attempt, with the receiver's message or ours.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Outcome {
    Delivered(String),
    /// Delivered to some recipients; these others may be retried later.
    Partial {
        answer: String,
        left: Vec<String>,
        /// How long one of them asked to wait before the next attempt.
        retry_after: Option<Duration>,
    },
    /// A retry may succeed.
    Failed(Failure),
    /// The same message will never be accepted.
    Refused(String),
    /// The receiver has been removed permanently and accepts no more messages.
    Gone(String),
}

#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Failure {
    pub answer: String,
    /// How long the receiver asked to wait before the next attempt.
    pub retry_after: Option<Duration>,
    /// The receiver did not respond in time, or reported that it is overloaded.
    pub overloaded: bool,
    /// A quota is used up: an attempt before the time that the receiver named is pointless.
    pub quota: bool,
}

impl Outcome {
    pub fn failed(answer: impl Into<String>) -> Self {
        Self::Failed(Failure { answer: answer.into(), ..Failure::default() })
    }

    pub fn answer(&self) -> &str {
        match self {
            Self::Delivered(answer)
            | Self::Partial { answer, .. }
            | Self::Refused(answer)
            | Self::Gone(answer) => answer,
            Self::Failed(failure) => &failure.answer,
        }
    }
}

/// The wait after the given number of failed attempts; `None` after the last
/// one. A receiver may ask for up to twice the wait, but not for less; for a quota, for up to a
/// day.
pub fn delay(attempts: u32, failure: &Failure, jitter: u32) -> Option<Duration> {
    let step = backoff::delay(attempts, jitter)?;
    let base = if failure.overloaded { step.max(OVERLOAD_BACKOFF) } else { step };
    let longest = if failure.quota { MAX_QUOTA_WAIT.max(base) } else { base * 2 };
    Some(failure.retry_after.map_or(base, |asked| asked.clamp(base, longest)))
}

/// Whether a notifier that fails now, and has failed since then, is disabled.
pub fn should_disable(failing_since: Option<Millis>, now: Millis) -> bool {
    failing_since.is_some_and(|since| now.since(since) >= DISABLE_AFTER)
}

#[cfg(test)]
mod tests {
    use super::*;

    const MIDDLE: u32 = u32::MAX / 2;

    fn seconds(attempts: u32, retry_after: Option<u64>, overloaded: bool) -> Option<u64> {
        let retry_after = retry_after.map(Duration::from_secs);
        let failure = Failure { retry_after, overloaded, ..Failure::default() };
        delay(attempts, &failure, MIDDLE).map(|delay| delay.as_secs_f64().round() as u64)
    }

    #[test]
    fn each_failure_waits_longer_until_the_last() {
        let waits: Vec<_> = (1..=10).map(|attempts| seconds(attempts, None, false)).collect();
        let ladder = [5, 30, 120, 600, 1_800, 3_600, 10_800, 21_600, 43_200];
        assert_eq!(waits[..9], ladder.map(Some));
        assert_eq!(waits[9], None);
    }

    #[test]
    fn a_receiver_may_ask_for_a_longer_wait_up_to_a_limit() {
        assert_eq!(seconds(2, Some(1), false), Some(30));
        assert_eq!(seconds(2, Some(45), false), Some(45));
        assert_eq!(seconds(2, Some(86_400), false), Some(60));
    }

    #[test]
    fn an_overloaded_receiver_is_retried_after_a_minute_at_the_earliest() {
        assert_eq!(seconds(1, None, true), Some(60));
        assert_eq!(seconds(1, Some(90), true), Some(90));
        assert_eq!(seconds(4, None, true), Some(600));
    }

    #[test]
    fn a_quota_is_waited_for_as_long_as_the_receiver_says() {
        let asked = |seconds| Some(Duration::from_secs(seconds));
        let wait = |seconds| {
            let failure =
                Failure { retry_after: asked(seconds), quota: true, ..Failure::default() };
            delay(1, &failure, MIDDLE).map(|delay| delay.as_secs())
        };
        assert_eq!(wait(3_600), Some(3_600));
        assert_eq!(wait(30 * 86_400), Some(86_400));
    }

    #[test]
    fn five_days_of_failures_disable_a_notifier_and_no_failures_do_not() {
        let since = Millis(1_000);
        assert!(!should_disable(None, since.after(DISABLE_AFTER * 2)));
        assert!(!should_disable(
            Some(since),
            since.after(DISABLE_AFTER - Duration::from_millis(1))
        ));
        assert!(should_disable(Some(since), since.after(DISABLE_AFTER)));
    }

    #[test]
    fn retries_of_one_message_belong_to_one_failure_streak() {
        let asked = Some(Duration::from_secs(30 * 86_400));
        for attempts in 1..=9 {
            for quota in [false, true] {
                let overloaded = true;
                let failure =
                    Failure { retry_after: asked, overloaded, quota, ..Failure::default() };
                let longest = delay(attempts, &failure, u32::MAX).expect("a step");
                assert!(longest < FAILURE_STREAK_GAP, "{attempts}: {longest:?}");
            }
        }
    }
}
