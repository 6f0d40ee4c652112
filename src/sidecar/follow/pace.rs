//! When the next watch begins, and behind what.

use std::time::Duration;

/// The API server shall close a watch after 5 to 10 minutes, as client-go asks it to.
const SHORTEST_LIFE: Duration = Duration::from_mins(5);
/// A watch that lived for so long was no failure.
const LIVED: Duration = Duration::from_secs(10);
/// After the first failure, doubled by each further one.
const FIRST_WAIT: Duration = Duration::from_millis(500);
const LONGEST_WAIT: Duration = Duration::from_secs(30);
/// From the end of a watch that went well to the next one at most.
const PAUSE: Duration = Duration::from_millis(500);

/// How often in a row it went wrong.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct Pace {
    failures: u32,
    /// Whether somebody was told, who must be told once it goes well again.
    pub(super) is_told: bool,
}

impl Pace {
    /// How many failures there were in a row.
    pub(super) const fn failures(self) -> u32 {
        self.failures
    }

    /// The wait after a watch that the API server closed. `fraction`: a random number from 0 to 1.
    pub(super) fn after_close(&mut self, lived: Duration, fraction: f64) -> Duration {
        if lived < LIVED {
            // Whoever ends every watch at once must not be asked without end.
            return self.after_failure(lived, fraction);
        }
        self.failures = 0;
        PAUSE.mul_f64(fraction)
    }

    /// The wait after a failure.
    pub(super) fn after_failure(&mut self, lived: Duration, fraction: f64) -> Duration {
        self.failures = if lived < LIVED { self.failures.saturating_add(1) } else { 1 };
        let doubled = FIRST_WAIT.saturating_mul(1 << (self.failures - 1).min(10));
        doubled.min(LONGEST_WAIT).mul_f64(0.5 + 0.5 * fraction)
    }
}

/// How long the API server shall keep the next watch open, so that the watches of many dogwatches do not end together.
pub(super) fn lasts(fraction: f64) -> Duration {
    SHORTEST_LIFE.mul_f64(1.0 + fraction)
}

/// The later of what a watch has shown and what a list has shown since; the watch's own where they cannot be compared.
pub(super) fn later(watched: String, listed: Option<String>) -> String {
    let number = |text: &str| text.parse::<u64>().ok();
    match listed {
        Some(listed) if number(&watched).zip(number(&listed)).is_some_and(|(own, listed)| listed > own) => listed,
        _ => watched,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn failures_double_the_wait_up_to_a_cap_and_a_watch_that_lived_ends_that() {
        let mut pace = Pace::default();
        let waits: Vec<u64> = (0..12)
            .map(|_| pace.after_failure(Duration::ZERO, 1.0).as_millis().try_into().expect("a number"))
            .collect();
        assert_eq!(waits, [500, 1000, 2000, 4000, 8000, 16_000, 30_000, 30_000, 30_000, 30_000, 30_000, 30_000]);
        assert_eq!(pace.after_failure(Duration::from_mins(5), 1.0), FIRST_WAIT);
        assert_eq!(pace.after_close(Duration::from_mins(5), 1.0), PAUSE);
        assert_eq!(pace.failures(), 0);
        pace.after_close(Duration::from_secs(1), 0.0);
        assert_eq!(pace.failures(), 1, "a watch that ends at once");
    }

    #[test]
    fn waits_and_lives_are_drawn_from_a_range() {
        assert_eq!(Pace::default().after_failure(Duration::ZERO, 0.0), FIRST_WAIT / 2);
        assert_eq!((lasts(0.0), lasts(1.0)), (Duration::from_mins(5), Duration::from_mins(10)));
    }

    #[test]
    fn a_watch_goes_on_behind_the_later_of_its_own_and_the_lists_version() {
        let later = |own: &str, listed: Option<&str>| later(own.to_owned(), listed.map(str::to_owned));
        assert_eq!(later("9", Some("10")), "10");
        assert_eq!(later("11", Some("10")), "11");
        assert_eq!(later("11", None), "11");
        assert_eq!(later("x", Some("10")), "x");
    }
}
