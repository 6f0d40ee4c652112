//! Metacontroller.
//!
//! Of the parents of a `CompositeController` it writes `status.observedGeneration` after their children were managed,
//! and not where the hook itself failed, so a dead hook shows as pending. The rest of their status is what the hook
//! returns. A `DecoratorController` leaves nothing. The parents' groups are the user's: name the rule for them, or let
//! `generation` read the same number. Its own kinds are settings.

use super::engine::prelude::*;

/// The rule.
pub(super) static RULE: Ecosystem = Ecosystem {
    name: "metacontroller",
    project: Some("metacontroller"),
    about: "Metacontroller (metacontroller.k8s.io), and parents of its composite controllers where the rule is named",
    entries: &[
        Entry {
            about: "status.observedGeneration is written to a parent after its children were managed.",
            examples: &[
                example(Processed, r#"{"metadata":{"generation":2},"status":{"observedGeneration":2}}"#),
                example(Pending, r#"{"metadata":{"generation":2},"status":{"observedGeneration":1}}"#),
            ],
            pending: &[NEVER_IF_OTHERS, CHANGED],
            failing: &[],
            in_progress: &[],
            processed: &[CURRENT],
            finalizers: Finalizers::Some(Names { names: &[], domains: &["metacontroller.app", "metacontroller.io"] }),
            ..CONVENTIONAL
        },
        Entry { fits: &[Fit::all("metacontroller.k8s.io")], ..Entry::STATIC },
    ],
};
