//! Durations counted in buckets, as Prometheus wants them.

use std::time::Duration;

/// Upper bounds in seconds; what lies above the last is counted in the total alone. From an operator that serves at
/// once to the longest attempt that a rule knows.
pub const BOUNDS: [u64; 12] = [1, 2, 5, 10, 30, 60, 120, 300, 600, 900, 1800, 3600];

/// How many durations lie within each bound, how many there are, and their sum.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Histogram {
    /// Not cumulated: each duration is counted at its smallest bound.
    within: [u64; BOUNDS.len()],
    count: u64,
    sum: Duration,
}

impl Histogram {
    /// Counts one duration.
    pub fn observe(&mut self, duration: Duration) {
        let bound = BOUNDS.iter().position(|bound| duration <= Duration::from_secs(*bound));
        if let Some(count) = bound.and_then(|bound| self.within.get_mut(bound)) {
            *count = count.saturating_add(1);
        }
        self.count = self.count.saturating_add(1);
        self.sum = self.sum.saturating_add(duration);
    }

    /// Bounds in seconds, each with how many durations are not longer.
    pub fn cumulated(&self) -> impl Iterator<Item = (u64, u64)> {
        BOUNDS.into_iter().zip(self.within).scan(0_u64, |below, (bound, count)| {
            *below = below.saturating_add(count);
            Some((bound, *below))
        })
    }

    /// How many durations were counted.
    pub const fn count(&self) -> u64 {
        self.count
    }

    /// The sum of all durations.
    pub const fn sum(&self) -> Duration {
        self.sum
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_duration_is_counted_in_every_bucket_that_reaches_it() {
        let mut histogram = Histogram::default();
        for millis in [900, 1_000, 1_001, 7_200_000] {
            histogram.observe(Duration::from_millis(millis));
        }
        let cumulated: Vec<_> = histogram.cumulated().collect();
        assert_eq!(&cumulated[..2], [(1, 2), (2, 3)]);
        assert_eq!(cumulated.last(), Some(&(3600, 3)));
        assert_eq!((histogram.count(), histogram.sum()), (4, Duration::from_millis(7_202_901)));
    }
}
