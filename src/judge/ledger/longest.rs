//! The longest time from pending to acknowledgement within a day.

use std::collections::VecDeque;
use std::time::Duration;

use crate::judge::tick::Tick;

/// How long a measurement counts.
const KEPT_FOR: Duration = Duration::from_hours(24);
/// Enough to be exact in practice; beyond it two old ones are merged towards the longer and later.
const LIMIT: usize = 32;

/// Measurements that can still be the longest: each is shorter than the one before and younger.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(super) struct Longest {
    measured: VecDeque<(Tick, Duration)>,
}

impl Longest {
    pub(super) fn add(&mut self, at: Tick, duration: Duration) {
        self.measured.retain(|(measured, _)| at < measured.after(KEPT_FOR));
        // Of several at one moment only the longest can ever count, in whatever order they come.
        if self.measured.back().is_some_and(|(measured, longer)| *measured >= at && *longer >= duration) {
            return;
        }
        while self.measured.back().is_some_and(|(_, shorter)| *shorter <= duration) {
            self.measured.pop_back();
        }
        self.measured.push_back((at, duration));
        if self.measured.len() > LIMIT
            && let (Some((_, longest)), Some(second)) = (self.measured.pop_front(), self.measured.front_mut())
        {
            second.1 = longest;
        }
    }

    /// The longest one, and when it stops counting.
    pub(super) fn at(&self, now: Tick) -> Option<(Duration, Tick)> {
        self.measured.iter().map(|(at, duration)| (*duration, at.after(KEPT_FOR))).find(|(_, until)| now < *until)
    }

    pub(super) fn measured(&self) -> impl Iterator<Item = (Tick, Duration)> {
        self.measured.iter().copied()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn hours(hours: u64) -> Tick {
        Tick::from_millis(0).after(Duration::from_hours(hours))
    }

    #[test]
    fn the_longest_counts_for_a_day_and_then_the_next() {
        let mut longest = Longest::default();
        longest.add(hours(1), Duration::from_secs(50));
        longest.add(hours(2), Duration::from_secs(90));
        longest.add(hours(3), Duration::from_secs(20));
        assert_eq!(longest.at(hours(4)), Some((Duration::from_secs(90), hours(26))));
        assert_eq!(longest.at(hours(26)), Some((Duration::from_secs(20), hours(27))));
        assert_eq!(longest.at(hours(27)), None);
    }

    #[test]
    fn of_several_at_one_moment_the_longest_stays_in_whatever_order_they_come() {
        let of = |durations: [u64; 3]| {
            let mut longest = Longest::default();
            for secs in durations {
                longest.add(hours(1), Duration::from_secs(secs));
            }
            longest
        };
        assert_eq!(of([1, 2, 3]), of([3, 1, 2]));
    }

    #[test]
    fn memory_is_bounded_and_never_forgets_the_longest() {
        let mut longest = Longest::default();
        for n in 0..1000_u64 {
            longest.add(Tick::from_millis(n.cast_signed()), Duration::from_secs(5000 - n));
        }
        assert!(longest.measured.len() <= LIMIT);
        assert_eq!(longest.at(hours(1)).unwrap().0, Duration::from_secs(5000));
    }
}
