//! The only place that reads a clock.

use std::time::Duration;

use jiff::Timestamp;
use rustix::time::{ClockId, clock_gettime};

/// The wall clock of this machine.
///
/// It may jump, and it differs from the API server's by the skew that [`crate::cluster::request::ServerTime`] measures.
#[expect(clippy::disallowed_methods, reason = "this is the place that the ban points to")]
pub fn wall() -> Timestamp {
    Timestamp::now()
}

/// Time since the machine booted; never goes back, and on Linux counts the time in which the machine was suspended
/// (`CLOCK_BOOTTIME`, see `clock_gettime(2)`).
pub fn elapsed() -> Duration {
    #[cfg(any(target_os = "linux", target_os = "android"))]
    const CLOCK: ClockId = ClockId::Boottime;
    #[cfg(not(any(target_os = "linux", target_os = "android")))]
    const CLOCK: ClockId = ClockId::Monotonic;
    let time = clock_gettime(CLOCK);
    let seconds = u64::try_from(time.tv_sec).unwrap_or(0);
    Duration::new(seconds, u32::try_from(time.tv_nsec).unwrap_or(0))
}
