//! When the alerts that this node has decided about are due next: their escalation steps and
//! reminders must not wait for the next poll. It may forget some, which the poll finds.

use std::collections::BTreeSet;
use std::sync::{Mutex, MutexGuard, PoisonError};
use tokio::sync::Notify;
use wakeful_core::time::Millis;

/// Alerts that are due within this time are processed together.
const PRECISION_MS: i64 = 100;
/// How many times are remembered: the next minute and a half, if there is work all the time.
const MAX_TIMES: usize = 900;

#[derive(Default)]
pub(super) struct Upcoming {
    times: Mutex<BTreeSet<Millis>>,
    /// Notified when another time is the first.
    earlier: Notify,
}

impl Upcoming {
    /// Remembers when an alert is due.
    pub(super) fn note(&self, due: Millis) {
        let due = Millis((due.0 + PRECISION_MS - 1) / PRECISION_MS * PRECISION_MS);
        let mut times = self.lock();
        let is_first = times.first().is_none_or(|first| due < *first);
        times.insert(due);
        if times.len() > MAX_TIMES {
            times.pop_last();
        }
        drop(times);
        if is_first {
            self.earlier.notify_one();
        }
    }

    /// Waits until an alert is due, and forgets the times that have passed.
    pub(super) async fn wait(&self, now: impl Fn() -> Millis) {
        loop {
            let Some(first) = self.lock().first().copied() else {
                self.earlier.notified().await;
                continue;
            };
            let now = now();
            if first <= now {
                self.lock().retain(|due| *due > now);
                return;
            }
            tokio::select! {
                () = tokio::time::sleep(first.since(now)) => {}
                () = self.earlier.notified() => {}
            }
        }
    }

    fn lock(&self) -> MutexGuard<'_, BTreeSet<Millis>> {
        self.times.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::sync::atomic::{AtomicI64, Ordering};
    use std::time::Duration;
    use tokio::time::Instant;

    /// The time on the clock of the runtime, which is paused.
    fn clock() -> impl Fn() -> Millis {
        let began = Instant::now();
        move || Millis(i64::try_from(began.elapsed().as_millis()).unwrap_or(i64::MAX))
    }

    #[tokio::test(start_paused = true)]
    async fn the_wait_ends_when_the_first_alert_is_due() {
        let (upcoming, now) = (Upcoming::default(), clock());
        for due in [30_000, 9_950, 10_000, 20_000] {
            upcoming.note(Millis(due));
        }
        for due in [10_000, 20_000, 30_000] {
            upcoming.wait(&now).await;
            let late = now().0 - due;
            assert!((0..=PRECISION_MS).contains(&late), "{late} ms late");
        }
        let no_more = tokio::time::timeout(Duration::from_secs(3600), upcoming.wait(&now));
        assert!(no_more.await.is_err(), "they are forgotten");
    }

    #[tokio::test(start_paused = true)]
    async fn an_alert_that_is_due_earlier_ends_the_wait_earlier() {
        let (upcoming, now) = (Upcoming::default(), clock());
        upcoming.note(Millis(60_000));
        let noted = async {
            tokio::time::sleep(Duration::from_secs(1)).await;
            upcoming.note(Millis(2_000));
        };
        tokio::join!(upcoming.wait(&now), noted);
        assert!((2_000..=2_000 + PRECISION_MS).contains(&now().0), "at {}", now().0);
    }

    #[tokio::test(start_paused = true)]
    async fn a_clock_that_was_set_forward_ends_the_wait_at_the_next_look() {
        let (upcoming, time) = (Upcoming::default(), AtomicI64::new(0));
        upcoming.note(Millis(5_000));
        time.store(90_000, Ordering::Relaxed);
        upcoming.wait(|| Millis(time.load(Ordering::Relaxed))).await;
        assert!(upcoming.lock().is_empty());
    }

    #[test]
    fn only_the_first_times_are_remembered() {
        let upcoming = Upcoming::default();
        for number in (0..10 * MAX_TIMES as i64).rev() {
            upcoming.note(Millis(number * PRECISION_MS));
        }
        assert_eq!(upcoming.lock().len(), MAX_TIMES);
        assert_eq!(upcoming.lock().first(), Some(&Millis(0)));
    }
}
