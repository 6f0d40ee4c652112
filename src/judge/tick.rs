//! Points on the boot clock, and the way between them and wall times.

use std::time::Duration;

use jiff::Timestamp;
use serde::{Deserialize, Serialize};

use super::state::Moment;

/// A point on the boot clock, in milliseconds. It may lie before the boot: objects are older than machines.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(transparent)]
pub struct Tick(i64);

impl Tick {
    /// From milliseconds since the boot.
    pub const fn from_millis(millis: i64) -> Self {
        Self(millis)
    }

    /// Milliseconds since the boot.
    pub const fn as_millis(self) -> i64 {
        self.0
    }

    /// The point `duration` later.
    #[must_use]
    pub fn after(self, duration: Duration) -> Self {
        Self(self.0.saturating_add(millis(duration)))
    }

    /// The point `duration` earlier.
    #[must_use]
    pub fn before(self, duration: Duration) -> Self {
        Self(self.0.saturating_sub(millis(duration)))
    }

    /// The time that has passed since `earlier`; zero if that lies later.
    pub fn since(self, earlier: Self) -> Duration {
        Duration::from_millis(u64::try_from(self.0.saturating_sub(earlier.0)).unwrap_or(0))
    }

    /// As [`Moment::elapsed`] counts; zero for what lies before the boot.
    pub fn elapsed(self) -> Duration {
        self.since(Self(0))
    }
}

impl Moment {
    /// This moment on the boot clock.
    pub fn tick(self) -> Tick {
        Tick(millis(self.elapsed))
    }

    /// Where a wall time lies on the boot clock, by what both clocks show at this moment.
    pub fn tick_at(self, wall: Timestamp) -> Tick {
        let distance = wall.as_millisecond().saturating_sub(self.wall.as_millisecond());
        Tick(self.tick().0.saturating_add(distance))
    }

    /// The wall time of a point on the boot clock, by what both clocks show at this moment.
    pub fn wall_at(self, tick: Tick) -> Timestamp {
        let distance = tick.0.saturating_sub(self.tick().0);
        let far = if distance < 0 { Timestamp::MIN } else { Timestamp::MAX };
        Timestamp::from_millisecond(self.wall.as_millisecond().saturating_add(distance)).unwrap_or(far)
    }
}

fn millis(duration: Duration) -> i64 {
    i64::try_from(duration.as_millis()).unwrap_or(i64::MAX)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_wall_time_before_the_boot_keeps_its_distance() {
        let now = Moment { wall: Timestamp::from_second(1_000_000).unwrap(), elapsed: Duration::from_mins(1) };
        let old = Timestamp::from_second(1_000_000 - 3600).unwrap();
        let tick = now.tick_at(old);
        assert_eq!(tick.as_millis(), (60 - 3600) * 1000);
        assert_eq!(now.wall_at(tick), old);
        assert_eq!(now.tick().since(tick), Duration::from_hours(1));
    }

    #[test]
    fn what_lies_later_is_no_time_ago() {
        assert_eq!(Tick::from_millis(5).since(Tick::from_millis(9)), Duration::ZERO);
    }

    #[test]
    fn times_beyond_the_calendar_do_not_overflow() {
        let now = Moment { wall: Timestamp::from_second(0).unwrap(), elapsed: Duration::MAX };
        assert_eq!(now.wall_at(Tick::from_millis(i64::MIN)), Timestamp::MIN);
        assert_eq!(now.tick().after(Duration::MAX), Tick::from_millis(i64::MAX));
    }
}
