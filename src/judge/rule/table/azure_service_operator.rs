//! Azure Service Operator, version 2.
//!
//! `Ready` carries the generation, and while it is `False` a severity: `Error` will not be tried again soon, `Warning`
//! will, `Info` is work in progress. Versions of 2021 carried no generation. An annotation tells the operator to leave
//! an object alone, and then `Ready` is written all the same.

use super::engine::prelude::*;

/// The rule.
pub(super) const RULE: Ecosystem = Ecosystem {
    name: "azure-service-operator",
    project: Some("azure-service-operator"),
    about: "Azure Service Operator 2 (azure.com)",
    entries: &[Entry {
        fits: &[Fit::below("azure.com")],
        about: "Ready carries the generation and, while it is False, a severity.",
        paused: &[annotated("serviceoperator.azure.com/reconcile-policy", &["skip"])],
        pending: &[NEVER_A_CONDITION, Owed::Change(When::Behind(READY))],
        failing: &[standing(has(READY.no().severity(&["Error", "Warning"]).current()))],
        in_progress: &[standing(has(READY.is(&["False", "Unknown"]).current()))],
        processed: &[has(READY.current())],
        finalizers: Finalizers::named(&["serviceoperator.azure.com/finalizer"]),
        durations: minutes(10, 30, 30),
        examples: &[
            example(Processed, r#"{"metadata":{"generation":2},"status":{"conditions":[{"type":"Ready","status":"True","observedGeneration":2}]}}"#),
            example(Pending, r#"{"metadata":{"generation":2},"status":{"conditions":[{"type":"Ready","status":"True","observedGeneration":1}]}}"#),
            example(Failing, r#"{"metadata":{"generation":2},"status":{"conditions":[{"type":"Ready","status":"False","severity":"Error","observedGeneration":2}]}}"#),
            example(InProgress, r#"{"metadata":{"generation":2},"status":{"conditions":[{"type":"Ready","status":"False","severity":"Info","observedGeneration":2}]}}"#),
            example(Unknown, r#"{"metadata":{"generation":2},"status":{"conditions":[{"type":"Ready","status":"True"}]}}"#),
            example(Paused, r#"{"metadata":{"generation":2,"annotations":{"serviceoperator.azure.com/reconcile-policy":"skip"}}}"#),
        ],
        ..Entry::NEW
    }],
};
