//! Which conditions are meant.

use super::value::number;
use crate::judge::object::tree::Tree;

/// Describes conditions. Lists of them may be `null`, lack types, or hold a type twice; what a description asks for and
/// a condition lacks does not fit.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Condition {
    /// Where the list stands. The path goes through lists on its way.
    pub(super) path: &'static str,
    /// One of these types; empty: any.
    pub(super) types: &'static [&'static str],
    /// One of these words as its status; empty: any.
    pub(super) statuses: &'static [&'static str],
    /// One of these reasons; empty: any.
    pub(super) reasons: &'static [&'static str],
    /// None of these reasons.
    pub(super) other_reasons: &'static [&'static str],
    /// One of these severities; empty: any.
    pub(super) severities: &'static [&'static str],
    /// Its own `observedGeneration`.
    pub(super) generation: Own,
}

/// What a condition says of the generation by itself.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(in crate::judge::rule::table) enum Own {
    /// It does not matter.
    Any,
    /// Its `observedGeneration` is the object's generation.
    Current,
    /// It is the object's generation, or the condition has none.
    NotOlder,
    /// The condition has none.
    Absent,
}

/// The usual place of conditions.
pub(in crate::judge::rule::table) const USUAL: &str = "status.conditions";

/// Conditions of any of these types.
pub(in crate::judge::rule::table) const fn condition(types: &'static [&'static str]) -> Condition {
    Condition {
        path: USUAL,
        types,
        statuses: &[],
        reasons: &[],
        other_reasons: &[],
        severities: &[],
        generation: Own::Any,
    }
}

impl Condition {
    /// Those in another list.
    pub const fn at(self, path: &'static str) -> Self {
        Self { path, ..self }
    }

    /// Those with one of these statuses.
    pub const fn is(self, statuses: &'static [&'static str]) -> Self {
        Self { statuses, ..self }
    }

    /// Those that are `True`.
    pub const fn yes(self) -> Self {
        self.is(&["True"])
    }

    /// Those that are `False`.
    pub const fn no(self) -> Self {
        self.is(&["False"])
    }

    /// Those with one of these reasons.
    pub const fn because(self, reasons: &'static [&'static str]) -> Self {
        Self { reasons, ..self }
    }

    /// Those with none of these reasons.
    pub const fn but_not(self, other_reasons: &'static [&'static str]) -> Self {
        Self { other_reasons, ..self }
    }

    /// Those with one of these severities.
    pub const fn severity(self, severities: &'static [&'static str]) -> Self {
        Self { severities, ..self }
    }

    /// Those that carry the current generation.
    pub const fn current(self) -> Self {
        Self { generation: Own::Current, ..self }
    }

    /// Those that carry the current generation or none.
    pub const fn not_older(self) -> Self {
        Self { generation: Own::NotOlder, ..self }
    }

    /// Those that carry no generation.
    pub const fn unnumbered(self) -> Self {
        Self { generation: Own::Absent, ..self }
    }

    /// Whether `found` is one of them, on an object of this generation.
    pub(super) fn fits(&self, found: &Tree<'_>, generation: Option<i64>) -> bool {
        let field = |key| found.get(key).and_then(Tree::as_str);
        let has = |key, words: &[&str]| words.is_empty() || field(key).is_some_and(|word| words.contains(&word));
        // A type is asked for first: it tells most of them apart.
        has("type", self.types)
            && has("status", self.statuses)
            && has("reason", self.reasons)
            && (self.other_reasons.is_empty()
                || !field("reason").is_some_and(|reason| self.other_reasons.contains(&reason)))
            && has("severity", self.severities)
            && match (self.generation, number(found.get("observedGeneration"))) {
                (Own::Any, _) | (Own::NotOlder | Own::Absent, None) => true,
                (Own::Current, None) | (Own::Absent, Some(_)) => false,
                (Own::Current | Own::NotOlder, own) => own == generation,
            }
    }
}
