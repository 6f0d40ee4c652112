//! Which parts of an object an entry reads, found in its predicates.

use super::condition::{Condition, Own};
use super::entry::{Entry, Owed};
use super::value::Value;
use super::when::{Claim, When};
use crate::judge::object::mask::{Mask, OTHERS};

impl Entry {
    /// Adds what the entry reads.
    pub(in crate::judge::rule::table) fn reads(&self, common: Mask) -> Mask {
        let mut mask = self.predicates().fold(common, |mask, when| when.reads(mask));
        for path in self.tokens.iter().chain(self.desired).chain(self.times) {
            mask = mask.whole(&keys(path));
        }
        mask.fields(&keys(self.conditions), &["observedGeneration", "lastTransitionTime"])
    }

    /// Every predicate of the entry.
    pub(in crate::judge::rule::table) fn predicates(&self) -> impl Iterator<Item = &'static When> {
        let (paused, inert, pending) = (self.paused, self.inert, self.pending);
        let outcomes = self.failing.iter().chain(self.in_progress).map(|outcome| &outcome.when);
        paused.iter().chain(inert).chain(pending.iter().map(Owed::when)).chain(outcomes).chain(self.processed)
    }
}

impl When {
    fn reads(&self, mask: Mask) -> Mask {
        match self {
            Self::All(all) | Self::Any(all) => all.iter().fold(mask, |mask, when| when.reads(mask)),
            Self::Not(when) => when.reads(mask),
            Self::NoStatus => mask.presence(&["status", OTHERS]),
            // In what every rule reads.
            Self::FirstGeneration | Self::StatusAfterSpec => mask,
            Self::Field(path, Value::Present) => mask.presence(&keys(path)),
            Self::Current(path)
            | Self::Below(path)
            | Self::Zero(path)
            | Self::PrefixCurrent(path)
            | Self::PrefixBelow(path)
            | Self::Field(path, _) => mask.whole(&keys(path)),
            Self::Condition(condition) | Self::Behind(condition) => condition.reads(mask),
            Self::Annotation(name, _) => mask.whole(&["metadata", "annotations", name]),
            Self::Unanswered { annotation, answer } => {
                mask.whole(&["metadata", "annotations", annotation]).whole(&keys(answer))
            }
            Self::Differ(one, other) => mask.whole(&keys(one)).whole(&keys(other)),
            Self::Claims(Claim::AllCurrent | Claim::SomeBehind | Claim::None) => mask
                .whole(&["spec", "parentRefs", "name"])
                .whole(&["status", "parents", "parentRef", "name"])
                .whole(&["status", "parents", "conditions", "observedGeneration"]),
        }
    }
}

impl Condition {
    fn reads(&self, mask: Mask) -> Mask {
        let path = keys(self.path);
        let mut mask = mask.fields(&path, &["type", "lastTransitionTime", "observedGeneration"]);
        let asked = [
            ("status", !self.statuses.is_empty()),
            ("reason", !self.reasons.is_empty() || !self.other_reasons.is_empty()),
            ("severity", !self.severities.is_empty()),
            ("observedGeneration", self.generation != Own::Any),
        ];
        for (key, _) in asked.into_iter().filter(|(_, is_asked)| *is_asked) {
            mask = mask.fields(&path, &[key]);
        }
        mask
    }
}

fn keys(path: &'static str) -> Vec<&'static str> {
    path.split('.').collect()
}
