//! The predicates.

use super::condition::Condition;
use super::value::Value;

/// Something that can be true of an object. Where the evidence is missing it is not, and neither is [`When::Behind`] or
/// any other that would accuse: no predicate draws a conclusion from what it could not see.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum When {
    /// All of them are.
    All(&'static [Self]),
    /// One of them is.
    Any(&'static [Self]),
    /// It is not.
    Not(&'static Self),
    /// There is no `status`, or nothing in it.
    NoStatus,
    /// `metadata.generation` is 1: a status cannot speak of an older desired state.
    FirstGeneration,
    /// By `metadata.managedFields`, the status was written when the spec was last written, or later. The times have
    /// whole seconds and do not move when a field is only removed.
    StatusAfterSpec,
    /// The number at this path is the object's generation.
    Current(&'static str),
    /// The number at this path is below the object's generation.
    Below(&'static str),
    /// The number at this path is 0, which is how some types write that there is none.
    Zero(&'static str),
    /// The text at this path begins with the object's generation and a dash.
    PrefixCurrent(&'static str),
    /// The text at this path begins with a number below the object's generation and a dash.
    PrefixBelow(&'static str),
    /// There is such a condition.
    Condition(Condition),
    /// There are such conditions with an `observedGeneration`, and it is below the object's generation on all of them.
    Behind(Condition),
    /// The value at a path.
    Field(&'static str, Value),
    /// An annotation.
    Annotation(&'static str, Value),
    /// An annotation asks for something and the text at a path, which repeats what was answered, differs.
    Unanswered {
        /// The annotation.
        annotation: &'static str,
        /// Where the operator repeats its value.
        answer: &'static str,
    },
    /// The values at two paths differ once everything empty is left out of both.
    Differ(&'static str, &'static str),
    /// What becomes of each item of a list of references.
    Claims(Claim),
}

/// What the parents that a route names say of it, see [`When::Claims`]: an item of `spec.parentRefs` is answered by
/// the items of `status.parents` whose `parentRef.name` is its name.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Claim {
    /// Each is answered by conditions at the current generation.
    AllCurrent,
    /// One is answered by conditions at older generations alone.
    SomeBehind,
    /// None is answered.
    None,
}
