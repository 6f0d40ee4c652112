//! The words in which ecosystems are written, and what several of them say alike.

pub(in crate::judge::rule::table) use super::condition::{Condition, USUAL, condition};
pub(in crate::judge::rule::table) use super::entry::{
    Ecosystem, Entry, Finalizers, Fit, Group, Kinds, Names, Outcome, Owed, example, minutes, moving, standing,
};
pub(in crate::judge::rule::table) use super::value::Value;
pub(in crate::judge::rule::table) use super::when::{Claim, When};
pub(in crate::judge::rule::table) use crate::judge::state::State::{
    Failing, InProgress, Paused, Pending, Processed, Unknown,
};

/// Where most operators repeat the generation that they have seen.
pub(in crate::judge::rule::table) const OBSERVED: &str = "status.observedGeneration";

/// The latest generation was seen.
pub(in crate::judge::rule::table) const CURRENT: When = When::Current(OBSERVED);

/// An older generation was seen last.
pub(in crate::judge::rule::table) const BEHIND: When = When::Below(OBSERVED);

/// There is a status to read and no condition in it.
pub(in crate::judge::rule::table) const NO_CONDITIONS: When =
    When::Any(&[When::NoStatus, When::Field(USUAL, Value::Missing)]);

/// The status speaks of the latest desired state, as far as the API server's own bookkeeping tells.
///
/// At generation 1 there is no older desired state, and a resource with a status subresource refuses a status at
/// creation. Later the status must have been written when the spec was, or after it.
pub(in crate::judge::rule::table) const SEEN: When = When::Any(&[When::FirstGeneration, When::StatusAfterSpec]);

/// Any condition at all.
pub(in crate::judge::rule::table) const ANY: Condition = condition(&[]);

/// The condition `Ready`.
pub(in crate::judge::rule::table) const READY: Condition = condition(&["Ready"]);

/// No sign at all, of an operator that always leaves one.
pub(in crate::judge::rule::table) const NEVER: Owed = Owed::Never(When::NoStatus);

/// No condition, of an operator that always writes one.
pub(in crate::judge::rule::table) const NEVER_A_CONDITION: Owed = Owed::Never(NO_CONDITIONS);

/// No sign at all, which counts where others of the resource show one.
pub(in crate::judge::rule::table) const NEVER_IF_OTHERS: Owed = Owed::NeverIfOthers(When::NoStatus);

/// A generation after the one seen.
pub(in crate::judge::rule::table) const CHANGED: Owed = Owed::Change(BEHIND);

/// There is such a condition.
pub(in crate::judge::rule::table) const fn has(condition: Condition) -> When {
    When::Condition(condition)
}

/// `spec.suspend`, `spec.paused` and the like say so.
pub(in crate::judge::rule::table) const fn is_set(path: &'static str) -> When {
    When::Field(path, Value::Yes)
}

/// The text at a path is one of these.
pub(in crate::judge::rule::table) const fn is(path: &'static str, words: &'static [&'static str]) -> When {
    When::Field(path, Value::Is(words))
}

/// An annotation has one of these values.
pub(in crate::judge::rule::table) const fn annotated(name: &'static str, values: &'static [&'static str]) -> When {
    When::Annotation(name, Value::Is(values))
}

/// Kinds about which nothing is known but that they follow the conventions: `status.observedGeneration`, or the same
/// number on conditions, and `Ready`.
pub(in crate::judge::rule::table) const CONVENTIONAL: Entry = Entry {
    about: "Follows the conventions of the Kubernetes API: the generation that was seen stands in the status or on its \
            conditions.",
    pending: &[
        NEVER_IF_OTHERS,
        Owed::Change(When::All(&[BEHIND, When::Not(&has(ANY.current()))])),
        Owed::Change(When::All(&[When::Field(OBSERVED, Value::Missing), When::Behind(ANY)])),
    ],
    failing: &[standing(When::All(&[
        SEEN_BY_NUMBER,
        has(condition(&["Stalled", "Failed", "Degraded"]).yes().not_older()),
    ]))],
    in_progress: CONVENTIONAL_WORK,
    processed: &[SEEN_BY_NUMBER],
    tokens: &[OBSERVED],
    ..Entry::NEW
};

const SEEN_BY_NUMBER: When = When::Any(&[CURRENT, has(ANY.current())]);

const CONVENTIONAL_WORK: &[Outcome] = &[
    moving(When::All(&[SEEN_BY_NUMBER, has(condition(&["Reconciling"]).yes().not_older())])),
    standing(When::All(&[SEEN_BY_NUMBER, has(READY.is(&["False", "Unknown"]).not_older())])),
];
