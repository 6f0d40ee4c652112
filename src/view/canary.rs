//! The canary for readers.

use std::time::Duration;

use super::{Histogram, Tick};
pub use crate::judge::canary::Problem as CanaryProblem;

/// The canary as it stands.
#[derive(Debug, Clone, PartialEq)]
pub struct SeenCanary {
    /// `namespace/name`, or the name, as configured.
    pub object: String,
    /// Changes that the operator has acknowledged in this life of its container.
    pub acks: u32,
    /// Whether a missing acknowledgement would be evidence.
    pub is_proven: bool,
    /// When the change was made that is not acknowledged.
    pub outstanding: Option<Tick>,
    /// From the newest change to its acknowledgement.
    pub last_round_trip: Option<Duration>,
    /// Why it proves nothing now, and what to do.
    pub problem: Option<(CanaryProblem, String)>,
    /// Times from change to acknowledgement.
    pub round_trip: Histogram,
}

impl SeenCanary {
    /// One line for a person. `since` writes the time of a point.
    pub fn words(&self, since: impl Fn(Tick) -> String) -> String {
        let outstanding = self.outstanding.map_or_else(String::new, |at| format!(", not since {}", since(at)));
        let weight = if self.is_proven { "evidence" } else { "no evidence before 3" };
        let problem = match &self.problem {
            Some((problem, message)) => format!("; {problem}: {message}"),
            None => String::new(),
        };
        format!(
            "{} acknowledged {} times in this container's life{outstanding}; {weight}{problem}",
            self.object, self.acks
        )
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_canary_is_one_line() {
        let canary = SeenCanary {
            object: "prod/canary".to_owned(),
            acks: 1,
            is_proven: false,
            outstanding: Some(Tick::from_millis(0)),
            last_round_trip: None,
            problem: Some((CanaryProblem::Reverted, "taken back".to_owned())),
            round_trip: Histogram::default(),
        };
        assert_eq!(
            canary.words(|_| "07:06Z".to_owned()),
            "prod/canary acknowledged 1 times in this container's life, not since 07:06Z; no evidence before 3; \
             reverted: taken back"
        );
    }
}
