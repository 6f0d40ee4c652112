//! Operators built with the Java Operator SDK.
//!
//! Since version 5 nothing is automatic: an operator that wants `status.observedGeneration` writes it. The finalizer is,
//! unless it was set, `<plural>.<group>/finalizer`. The project is the user's and objects show no mark of the framework,
//! so the rule is taken where it is named; `generation` reads the same.

use super::engine::prelude::*;

/// The rule.
pub(super) static RULE: Ecosystem = Ecosystem {
    name: "java-operator-sdk",
    project: None,
    about: "operators built with the Java Operator SDK that write status.observedGeneration, where the rule is named",
    entries: &[Entry {
        examples: &[
            example(Processed, r#"{"metadata":{"generation":2},"status":{"observedGeneration":2}}"#),
            example(Pending, r#"{"metadata":{"generation":2},"status":{"observedGeneration":1}}"#),
            example(
                Failing,
                r#"{"metadata":{"generation":2},"status":{"observedGeneration":2,"conditions":[{"type":"Degraded","status":"True"}]}}"#,
            ),
            example(
                InProgress,
                r#"{"metadata":{"generation":2},"status":{"observedGeneration":2,"conditions":[{"type":"Ready","status":"Unknown"}]}}"#,
            ),
            example(Unknown, r#"{"metadata":{"generation":2},"status":{"state":"READY"}}"#),
        ],
        ..CONVENTIONAL
    }],
};
