//! The choice `auto`: which rule fits a resource.

use std::time::Duration;

use super::generation::Generation;
use super::kopf::{self, Kopf};
use super::{COMMON_DURATIONS, Rule, RuleFrom};

/// What is known of a resource when its rule is chosen.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Evidence {
    /// Whether some object shows kopf's marks; see [`kopf::Signs`].
    pub kopf_marks: bool,
    /// Whether the resource has the status subresource; absent where nobody could tell, as in a dump.
    pub status_subresource: Option<bool>,
}

/// Chooses the rule and says why. `max_attempt` takes the place of the rule's own.
pub fn choose(evidence: Evidence, max_attempt: Option<Duration>) -> (Rule, RuleFrom) {
    if evidence.kopf_marks {
        let defaults = kopf::Options::default();
        let max_attempt = max_attempt.unwrap_or(defaults.max_attempt);
        return (Rule::Kopf(Kopf::new(kopf::Options { max_attempt, ..defaults })), RuleFrom::Objects);
    }
    let generation = Generation::new(max_attempt.unwrap_or(COMMON_DURATIONS.max_attempt));
    match evidence.status_subresource {
        Some(false) => (Rule::Generation(generation.without_status_subresource()), RuleFrom::Schema),
        Some(true) | None => (Rule::Generation(generation), RuleFrom::Objects),
    }
}

#[cfg(test)]
mod tests {
    use super::{Evidence, choose};
    use crate::judge::rule::RuleFrom;

    #[test]
    fn marks_come_before_the_schema() {
        let chosen = |kopf_marks, status_subresource| {
            let (rule, from) = choose(Evidence { kopf_marks, status_subresource }, None);
            (rule.name(), from)
        };
        assert_eq!(chosen(true, Some(false)), ("kopf", RuleFrom::Objects));
        assert_eq!(chosen(false, Some(true)), ("generation", RuleFrom::Objects));
        assert_eq!(chosen(false, Some(false)), ("generation", RuleFrom::Schema));
        assert_eq!(chosen(false, None), ("generation", RuleFrom::Objects));
    }
}
