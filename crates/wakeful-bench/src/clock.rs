//! Time shared by all processes of a run: nanoseconds of the monotonic clock,
//! and its offset to the wall clock.

use rustix::time::{ClockId, Timespec, clock_gettime};

/// Nanoseconds of the monotonic clock.
pub fn mono() -> u64 {
    nanos(clock_gettime(ClockId::Monotonic))
}

/// Nanoseconds since 1970.
pub fn wall() -> u64 {
    nanos(clock_gettime(ClockId::Realtime))
}

/// Milliseconds since 1970.
pub fn wall_millis() -> i64 {
    (wall() / 1_000_000).cast_signed()
}

fn nanos(at: Timespec) -> u64 {
    at.tv_sec.cast_unsigned() * 1_000_000_000 + at.tv_nsec.cast_unsigned()
}
