//! Nudges: an overdue object that speaks for no restart is touched once, so that a fresh event is sent for it.
//!
//! A nudge writes [`ANNOTATION`] and nothing else. It is no newer desired state: rules leave the annotation out of the
//! fingerprint of what is wanted, so it lifts no excuse and no clock. For kopf an annotation belongs to what it compares
//! (its essence), so an operator that acknowledges the nudge has handled the object as it is.
//!
//! Which objects were nudged is kept in [`super::ledger`], and so in the state file; how often, here.

use std::collections::VecDeque;
use std::time::Duration;

use super::state::{State, words};
use super::tick::Tick;

/// What a nudge writes: the time of it.
pub const ANNOTATION: &str = "dogwatch/nudged";
/// Under which name `managedFields` records a nudge, so that no rule takes its time for that of a change.
pub const MANAGER: &str = "dogwatch-nudge";
/// From one nudge of an operator's object to the next.
pub const EVERY: Duration = Duration::from_mins(1);
/// At most so many of an operator's objects within [`WINDOW`].
pub const MOST: usize = 10;
/// See [`MOST`].
pub const WINDOW: Duration = Duration::from_hours(1);

words! {
    /// What came of a nudge.
    NudgeOutcome {
        /// The operator acknowledged the object within `overdueAfter`.
        Cured = "cured",
        /// It did not.
        NoEffect = "no-effect",
        /// The object was deleted meanwhile.
        Gone = "gone",
        /// It could not be written, or not be read again.
        Failed = "failed",
    }
}

/// How often nudges are allowed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Rate {
    /// The first nudge waits as long as every other: a dogwatch that restarts again and again nudges no oftener.
    began: Tick,
    sent: VecDeque<Tick>,
}

impl Rate {
    /// Nothing was nudged yet.
    pub const fn new(now: Tick) -> Self {
        Self { began: now, sent: VecDeque::new() }
    }

    /// Whether one more is allowed now.
    pub fn allows(&self, now: Tick) -> bool {
        let newest = self.sent.back().copied().unwrap_or(self.began);
        let recent = self.sent.iter().filter(|at| now < at.after(WINDOW)).count();
        now >= newest.after(EVERY) && recent < MOST
    }

    /// One was sent.
    pub fn sent(&mut self, now: Tick) {
        self.sent.push_back(now);
        while self.sent.len() > MOST {
            self.sent.pop_front();
        }
    }
}

/// What a reading of a nudged object shows. `before`, `after`: tokens of the judgements. `is_over`: its time is up.
pub fn outcome(state: State, before: u64, after: u64, is_over: bool) -> Option<NudgeOutcome> {
    let is_acknowledged = state == State::Processed || (after != 0 && after != before);
    match (is_acknowledged, is_over) {
        (true, _) => Some(NudgeOutcome::Cured),
        (false, true) => Some(NudgeOutcome::NoEffect),
        (false, false) => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at(second: i64) -> Tick {
        Tick::from_millis(second * 1000)
    }

    #[test]
    fn one_a_minute_and_ten_an_hour_are_allowed() {
        let mut rate = Rate::new(at(0));
        let mut sent = Vec::new();
        for second in 0..2 * 3600 {
            if rate.allows(at(second)) {
                rate.sent(at(second));
                sent.push(second);
            }
        }
        let expected: Vec<i64> = (1..=10).map(|minute| minute * 60).collect();
        assert_eq!(sent[..10], expected);
        assert_eq!((sent[10], sent.len()), (3660, 20));
    }

    #[test]
    fn only_an_acknowledgement_is_a_cure() {
        assert_eq!(outcome(State::Processed, 1, 1, false), Some(NudgeOutcome::Cured));
        assert_eq!(outcome(State::Failing, 1, 2, false), Some(NudgeOutcome::Cured));
        assert_eq!(outcome(State::Pending, 1, 1, false), None);
        assert_eq!(outcome(State::Pending, 1, 1, true), Some(NudgeOutcome::NoEffect));
        assert_eq!(outcome(State::Unknown, 1, 0, true), Some(NudgeOutcome::NoEffect));
    }
}
