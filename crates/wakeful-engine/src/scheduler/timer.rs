//! A precise timer. Tokio's timer counts whole milliseconds and rounds up twice, when it is
//! set and when the runtime goes to sleep, so that half of all checks would start a
//! millisecond late. Linux has a timer that can be awaited like a socket and is late by
//! microseconds.

use tokio::time::{Instant, sleep_until};
use wakeful_core::error_chain::ErrorChain;

#[cfg(target_os = "linux")]
use kernel::TimerFd;

pub(super) struct Timer {
    #[cfg(target_os = "linux")]
    timer_fd: Option<TimerFd>,
}

impl Timer {
    pub(super) fn new() -> Self {
        Self {
            #[cfg(target_os = "linux")]
            timer_fd: TimerFd::new()
                .inspect_err(|error| tracing::warn!(error = %ErrorChain(error), "creating a timer failed, checks start up to 2 ms late"))
                .ok(),
        }
    }

    /// Waits until then. Cancel-safe.
    pub(super) async fn until(&mut self, at: Instant) {
        #[cfg(target_os = "linux")]
        if let Some(timer_fd) = &mut self.timer_fd
            && timer_fd.until(at).await.is_ok()
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

    /// A timer is read like a pipe, which is empty until the timer has expired.
    pub(super) struct TimerFd(Receiver);

    impl TimerFd {
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
            // A buffer with more room than there is data spares a second read.
            self.0.read(&mut [0; 16]).await.map(|_| ())
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::time::Duration;

    #[tokio::test]
    async fn it_is_never_early_and_a_canceled_deadline_does_not_fire() {
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
