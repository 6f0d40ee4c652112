//! The one place where clocks are read and where the program waits.
//!
//! Everything else takes a [`Clock`] or a value read from one, so that a test can decide what time it is.

#![allow(clippy::disallowed_methods, reason = "clippy.toml bans clocks and sleeps everywhere else and names this file")]

use std::time::Duration;

use jiff::Timestamp;
use rustix::time::{ClockId, clock_gettime};

/// A wall clock and a clock that only ever moves forward.
#[derive(Debug, Clone, Copy)]
pub struct Clock {
    source: Source,
}

#[derive(Debug, Clone, Copy)]
enum Source {
    Machine,
    Tokio { origin: tokio::time::Instant, start: Timestamp },
}

impl Clock {
    /// The clocks of this machine.
    pub const fn of_machine() -> Self {
        Self { source: Source::Machine }
    }

    /// Clocks that stand at `start` (and at zero) now and move with tokio's time, so that both jump with paused time.
    pub fn of_tokio(start: Timestamp) -> Self {
        Self { source: Source::Tokio { origin: tokio::time::Instant::now(), start } }
    }

    /// The wall clock, which may be set back and forth.
    pub fn wall(&self) -> Timestamp {
        match self.source {
            Source::Machine => Timestamp::now(),
            Source::Tokio { origin, start } => start.saturating_add(origin.elapsed()).unwrap_or(Timestamp::MAX),
        }
    }

    /// Time since some fixed moment, at best the start of the machine.
    ///
    /// It never goes back. On Linux it goes on while the machine sleeps (`CLOCK_BOOTTIME`): a node that was suspended
    /// has not watched anything meanwhile, and must see that time has passed.
    pub fn boot(&self) -> Duration {
        match self.source {
            Source::Machine => elapsed(),
            Source::Tokio { origin, .. } => origin.elapsed(),
        }
    }
}

/// The wall clock of this machine.
///
/// It may jump, and it differs from the API server's by the skew that [`crate::cluster::request::ServerTime`] measures.
pub fn wall() -> Timestamp {
    Clock::of_machine().wall()
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

/// Waits on tokio's clock.
pub async fn sleep(duration: Duration) {
    tokio::time::sleep(duration).await;
}

/// What the future yields, or nothing if that takes longer than `limit` on tokio's clock.
pub async fn within<F: Future>(limit: Duration, future: F) -> Option<F::Output> {
    tokio::time::timeout(limit, future).await.ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test(start_paused = true)]
    async fn both_clocks_of_tokio_move_with_paused_time() {
        let start = Timestamp::UNIX_EPOCH;
        let clock = Clock::of_tokio(start);
        sleep(Duration::from_hours(2)).await;
        assert_eq!(clock.boot(), Duration::from_hours(2));
        assert_eq!(clock.wall(), start + Duration::from_hours(2));
    }

    #[test]
    fn the_boot_clock_of_the_machine_does_not_go_back() {
        let clock = Clock::of_machine();
        let before = clock.boot();
        assert!(clock.boot() >= before);
        assert!(before > Duration::ZERO || !cfg!(target_os = "linux"));
    }
}
