//! How many restarts may be requested.

use std::time::Duration;

use crate::judge::tick::Tick;

/// `restart.budget`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Budget {
    /// At most so many restarts within `window`.
    pub max: u32,
    /// The time in which restarts are counted.
    pub window: Duration,
    /// At least so long between two of them.
    pub min_gap: Duration,
}

/// So many restarts are remembered, whatever the budget: a later configuration may count over a longer window.
const REMEMBERED: usize = 256;

/// When restarts were requested, on the boot clock. There is no refund, whatever came of them.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(super) struct Spent(Vec<Tick>);

impl Spent {
    pub(super) fn new(mut requested: Vec<Tick>) -> Self {
        requested.sort_unstable();
        Self(requested)
    }

    pub(super) fn add(&mut self, now: Tick) {
        self.0.push(now);
        let surplus = self.0.len().saturating_sub(REMEMBERED);
        self.0.drain(..surplus);
    }

    pub(super) fn requested(&self) -> &[Tick] {
        &self.0
    }

    pub(super) fn remaining(&self, budget: &Budget, now: Tick) -> u32 {
        let counted = self.0.iter().filter(|at| now < at.after(budget.window)).count();
        budget.max.saturating_sub(u32::try_from(counted).unwrap_or(u32::MAX))
    }

    pub(super) fn allows(&self, budget: &Budget, now: Tick) -> bool {
        let is_apart = self.0.last().is_none_or(|last| now >= last.after(budget.min_gap));
        is_apart && self.remaining(budget, now) > 0
    }

    /// When the next restart leaves the window; absent where none is within it.
    pub(super) fn refills_at(&self, budget: &Budget, now: Tick) -> Option<Tick> {
        self.0.iter().map(|at| at.after(budget.window)).filter(|at| now < *at).min()
    }

    /// The first moment at which [`Spent::allows`] says yes; absent where the budget never does.
    pub(super) fn allows_at(&self, budget: &Budget, now: Tick) -> Option<Tick> {
        // More than can be remembered would never be seen to be spent.
        let max = usize::try_from(budget.max).unwrap_or(usize::MAX);
        let gap = self.0.last().map_or(now, |last| last.after(budget.min_gap));
        let nth = self.0.len().checked_sub(max).map(|index| self.0.get(index).copied());
        match nth {
            None => Some(gap.max(now)),
            Some(Some(oldest)) => Some(gap.max(oldest.after(budget.window)).max(now)),
            Some(None) => (max > 0).then_some(gap.max(now)),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const BUDGET: Budget = Budget { max: 2, window: Duration::from_hours(24), min_gap: Duration::from_mins(15) };

    fn minutes(minutes: u64) -> Tick {
        Tick::from_millis(0).after(Duration::from_mins(minutes))
    }

    #[test]
    fn the_gap_and_then_the_window_hold_back() {
        let mut spent = Spent::default();
        assert!(spent.allows(&BUDGET, minutes(0)));
        spent.add(minutes(0));
        assert!(!spent.allows(&BUDGET, minutes(14)));
        assert_eq!(spent.allows_at(&BUDGET, minutes(14)), Some(minutes(15)));
        assert!(spent.allows(&BUDGET, minutes(15)));
        spent.add(minutes(20));
        assert_eq!(spent.allows_at(&BUDGET, minutes(40)), Some(minutes(24 * 60)));
        assert!(!spent.allows(&BUDGET, minutes(24 * 60 - 1)));
        assert!(spent.allows(&BUDGET, minutes(24 * 60)));
        assert_eq!(spent.refills_at(&BUDGET, minutes(30)), Some(minutes(24 * 60)));
        assert_eq!(spent.refills_at(&BUDGET, minutes(24 * 60)), Some(minutes(24 * 60 + 20)));
        assert_eq!(spent.refills_at(&BUDGET, minutes(25 * 60)), None);
    }

    #[test]
    fn a_budget_of_nothing_never_allows() {
        let none = Budget { max: 0, ..BUDGET };
        assert!(!Spent::default().allows(&none, minutes(5)));
        assert_eq!(Spent::default().allows_at(&none, minutes(5)), None);
    }
}
