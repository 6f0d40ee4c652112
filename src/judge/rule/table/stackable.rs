//! Stackable's data platform.
//!
//! Its operators set conditions and mostly no generation. `spec.clusterOperation.reconciliationPaused` stops an operator;
//! `stopped` only what it runs. Where nothing carries a generation, managedFields have to tell.

use super::engine::prelude::*;

/// The rule.
pub(super) static RULE: Ecosystem = Ecosystem {
    name: "stackable",
    project: Some("stackable"),
    about: "Stackable's data platform (stackable.tech)",
    entries: &[Entry {
        fits: &[Fit::below("stackable.tech")],
        about: "The conditions carry a generation in few of the operators; else managedFields tell whether they speak of \
                the latest spec.",
        paused: &[
            is_set("spec.clusterOperation.reconciliationPaused"),
            has(condition(&["ReconciliationPaused"]).yes()),
        ],
        failing: &[standing(When::All(&[SEEN_AT_ALL, has(condition(&["Degraded"]).yes())]))],
        in_progress: &[standing(When::All(&[SEEN_AT_ALL, has(condition(&["Progressing"]).yes())]))],
        processed: &[SEEN_AT_ALL],
        examples: &[
            example(
                Processed,
                r#"{"metadata":{"generation":1},"status":{"conditions":[{"type":"Available","status":"True"}]}}"#,
            ),
            example(
                Unknown,
                r#"{"metadata":{"generation":2},"status":{"conditions":[{"type":"Available","status":"True"}]}}"#,
            ),
            example(
                Failing,
                r#"{"metadata":{"generation":1},"status":{"conditions":[{"type":"Degraded","status":"True"}]}}"#,
            ),
            example(
                InProgress,
                r#"{"metadata":{"generation":1},"status":{"conditions":[{"type":"Progressing","status":"True"}]}}"#,
            ),
            example(Pending, r#"{"metadata":{"generation":2},"status":{"observedGeneration":1}}"#),
            example(
                Paused,
                r#"{"metadata":{"generation":2},"spec":{"clusterOperation":{"reconciliationPaused":true}}}"#,
            ),
        ],
        ..CONVENTIONAL
    }],
};

const SEEN_AT_ALL: When = When::Any(&[
    CURRENT,
    has(ANY.current()),
    When::All(&[has(ANY.unnumbered()), When::Field(OBSERVED, Value::Missing), SEEN]),
]);
