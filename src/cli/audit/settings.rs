//! What the flags and the configuration ask of one resource.

use std::time::Duration;

use crate::judge::rule::auto::{self, Evidence};
use crate::judge::rule::{Choice, Reader, Rule, RuleFrom};
use crate::judge::tally::{Keep, Tally};
use jiff::Timestamp;

/// How one resource is to be judged.
#[derive(Debug, Clone)]
pub struct Settings {
    /// The rule asked for.
    pub choice: Choice,
    /// Who asked for it; for `auto` the choice itself says why.
    pub choice_from: RuleFrom,
    /// In place of the rule's own.
    pub overdue_after: Option<Duration>,
    /// In place of the rule's own.
    pub asleep_after: Option<Duration>,
    /// The operator's finalizers, where the rule does not know them.
    pub finalizers: Vec<String>,
    /// The operator that the resource is counted under, where the configuration names one.
    pub operator: Option<String>,
}

/// How every resource is to be judged: the flags, over the configuration, over the defaults.
#[derive(Debug)]
pub struct Plan {
    /// `--rule`.
    pub rule: Option<Choice>,
    /// `--overdue-after`.
    pub overdue_after: Option<Duration>,
}

impl Plan {
    /// The settings of a resource, named `plural.group`; `None` where it is not to be judged at all.
    pub fn settings(&self, _resource: &str) -> Option<Settings> {
        Some(Settings {
            choice: self.rule.clone().unwrap_or(Choice::Auto { max_attempt: None }),
            choice_from: RuleFrom::Flag,
            overdue_after: self.overdue_after,
            asleep_after: None,
            finalizers: Vec::new(),
            operator: None,
        })
    }
}

/// A rule that was chosen, with everything that is needed to judge.
#[derive(Debug)]
pub struct Chosen {
    /// Judges.
    pub reader: Reader,
    /// Why this rule.
    pub rule_from: RuleFrom,
    /// The deadline in force.
    pub overdue_after: Duration,
    /// The silence in force.
    pub asleep_after: Duration,
}

impl Settings {
    /// Settles the rule and its deadlines.
    pub fn choose(&self, evidence: Evidence) -> Chosen {
        let (rule, rule_from) = match &self.choice {
            Choice::Named(rule) => (rule.clone(), self.choice_from),
            Choice::Auto { max_attempt } => auto::choose(evidence, *max_attempt),
        };
        let durations = rule.durations();
        let asleep_after = self.asleep_after.unwrap_or(durations.asleep_after).max(durations.max_attempt);
        Chosen {
            reader: Reader::new(rule, self.finalizers.clone()),
            rule_from,
            overdue_after: self.overdue_after.unwrap_or(durations.overdue_after),
            asleep_after,
        }
    }

    /// Whether objects can still change which rule is chosen.
    pub fn is_open(&self) -> bool {
        matches!(self.choice, Choice::Auto { .. })
    }
}

impl Chosen {
    /// An empty tally under this rule.
    pub fn tally(&self, now: Timestamp, keep: Keep) -> Tally {
        Tally::new(now, self.overdue_after, self.asleep_after, keep)
    }

    /// The rule.
    pub fn rule(&self) -> &Rule {
        self.reader.rule()
    }
}
