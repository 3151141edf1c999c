//! A timer that is on time. Tokio's counts whole milliseconds and rounds up
//! twice, when it sets an alarm and when it goes to sleep until then, so that
//! half of all checks would begin a millisecond late. Linux has a timer that
//! can be awaited like a socket and is late by microseconds.

use tokio::time::{Instant, sleep_until};

#[cfg(target_os = "linux")]
use kernel::Alarm;

pub(super) struct Timer {
    #[cfg(target_os = "linux")]
    alarm: Option<Alarm>,
}

impl Timer {
    pub(super) fn new() -> Self {
        Self {
            #[cfg(target_os = "linux")]
            alarm: Alarm::new()
                .inspect_err(|error| tracing::warn!(%error, "checks begin up to 2 ms late"))
                .ok(),
        }
    }

    /// Waits until then. It may be dropped and asked anew.
    pub(super) async fn until(&mut self, at: Instant) {
        #[cfg(target_os = "linux")]
        if let Some(alarm) = &mut self.alarm
            && alarm.until(at).await.is_ok()
        {
            return;
        }
        sleep_until(at).await;
    }
}

#[cfg(target_os = "linux")]
mod kernel {
    use rustix::time::{
        Itimerspec, TimerfdClockId, TimerfdFlags, TimerfdTimerFlags, Timespec, timerfd_create,
        timerfd_settime,
    };
    use std::io;
    use tokio::io::AsyncReadExt as _;
    use tokio::net::unix::pipe::Receiver;
    use tokio::time::Instant;

    /// A timer is read like a pipe: nothing, until it has rung.
    pub(super) struct Alarm(Receiver);

    impl Alarm {
        pub(super) fn new() -> io::Result<Self> {
            let flags = TimerfdFlags::NONBLOCK | TimerfdFlags::CLOEXEC;
            let timer = timerfd_create(TimerfdClockId::Monotonic, flags)?;
            Ok(Self(Receiver::from_owned_fd_unchecked(timer)?))
        }

        pub(super) async fn until(&mut self, at: Instant) -> io::Result<()> {
            let ahead = at.saturating_duration_since(Instant::now());
            if ahead.is_zero() {
                return Ok(());
            }
            let it_value = Timespec::try_from(ahead)
                .map_err(|_| io::Error::from(io::ErrorKind::InvalidInput))?;
            let once = Itimerspec { it_interval: Timespec { tv_sec: 0, tv_nsec: 0 }, it_value };
            timerfd_settime(&self.0, TimerfdTimerFlags::empty(), &once)?;
            // More room than there is to read, and nobody has to try again to
            // learn that this was all.
            self.0.read(&mut [0; 16]).await.map(|_| ())
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::time::Duration;

    #[tokio::test]
    async fn it_is_never_early_and_a_time_that_was_given_up_does_not_ring() {
        let mut timer = Timer::new();
        let first = Instant::now() + Duration::from_millis(5);
        tokio::select! {
            biased;
            () = timer.until(first) => panic!("it is not time yet"),
            () = std::future::ready(()) => {}
        }
        let second = Instant::now() + Duration::from_millis(20);
        timer.until(second).await;
        assert!(Instant::now() >= second);
        timer.until(first).await;
    }
}
