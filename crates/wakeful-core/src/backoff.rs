//! How long to wait before the next attempt: fixed steps, each with a jitter of
//! up to a fifth either way so that many clients do not return at once.

use std::time::Duration;

/// 5 s, 30 s, 2 min, 10 min, 30 min, 1 h, 3 h, 6 h, 12 h.
pub const BACKOFF_STEPS: [Duration; 9] = [
    Duration::from_secs(5),
    Duration::from_secs(30),
    Duration::from_secs(2 * 60),
    Duration::from_secs(10 * 60),
    Duration::from_secs(30 * 60),
    Duration::from_secs(3600),
    Duration::from_secs(3 * 3600),
    Duration::from_secs(6 * 3600),
    Duration::from_secs(12 * 3600),
];

/// How many processes may crash while sending one message before it is given
/// up: after that, the message itself is assumed to be the cause.
pub const MAX_CRASHES: u32 = 3;
/// The reason that is recorded then.
pub const CRASHED: &str = "gave up after three crashes";

/// The wait after the given number of failed attempts; `None` after the last
/// one. `jitter` is any random number.
pub fn delay(attempts: u32, jitter: u32) -> Option<Duration> {
    let step = BACKOFF_STEPS.get(attempts.checked_sub(1)? as usize)?;
    let share = f64::from(jitter) / f64::from(u32::MAX);
    Some(step.mul_f64(0.8 + 0.4 * share))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_delay_lies_within_a_fifth_of_its_step() {
        for (at, step) in BACKOFF_STEPS.iter().enumerate() {
            let attempts = u32::try_from(at + 1).expect("small");
            assert_eq!(delay(attempts, 0), Some(step.mul_f64(0.8)));
            assert_eq!(delay(attempts, u32::MAX), Some(step.mul_f64(1.2)));
        }
    }

    #[test]
    fn after_the_last_step_there_is_no_delay() {
        assert_eq!(delay(10, 0), None);
        assert_eq!(delay(0, 0), None);
    }
}
