//! Nudges for readers.

use super::Counts;
pub use crate::judge::nudge::NudgeOutcome;

/// The nudges of one operator since dogwatch started.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct SeenNudges {
    /// By what came of them.
    pub outcomes: Counts<NudgeOutcome>,
    /// Those whose outcome is not known yet.
    pub waiting: usize,
    /// Why the newest one failed.
    pub problem: Option<String>,
}

impl SeenNudges {
    /// One line for a person.
    pub fn words(&self) -> String {
        let counts: Vec<String> =
            NudgeOutcome::ALL.iter().map(|outcome| format!("{} {outcome}", self.outcomes.of(*outcome))).collect();
        let problem = self.problem.as_deref().map_or_else(String::new, |problem| format!("; {problem}"));
        format!("{}, {} waited for{problem}", counts.join(", "), self.waiting)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nudges_are_one_line() {
        let mut nudges = SeenNudges { waiting: 1, problem: Some("forbidden".to_owned()), ..SeenNudges::default() };
        nudges.outcomes.add(NudgeOutcome::Cured);
        assert_eq!(nudges.words(), "1 cured, 0 no-effect, 0 gone, 0 failed, 1 waited for; forbidden");
    }
}
