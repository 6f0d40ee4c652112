//! Elastic Cloud on Kubernetes.
//!
//! `status.observedGeneration` is taken when a reconciliation begins to build its state and written at its end, also
//! after an error. Operators before 2.0 wrote none. Annotations stop the operator, or only what it does to Pods.

use super::engine::prelude::*;

/// The rule.
pub(super) static RULE: Ecosystem = Ecosystem {
    name: "eck",
    project: Some("eck"),
    about: "Elastic Cloud on Kubernetes (k8s.elastic.co)",
    entries: &[Entry {
        fits: &[Fit::below("k8s.elastic.co")],
        about: "status.observedGeneration is written at the end of every reconciliation; status.phase says how it went.",
        paused: &[
            annotated("eck.k8s.elastic.co/managed", &["false"]),
            annotated("common.k8s.elastic.co/pause", &["true"]),
            annotated("eck.k8s.elastic.co/pause-orchestration", &["true"]),
        ],
        pending: &[NEVER, CHANGED],
        failing: &[standing(When::All(&[CURRENT, is("status.phase", &["Invalid"])]))],
        in_progress: &[standing(When::All(&[
            CURRENT,
            is("status.phase", &["ApplyingChanges", "MigratingData", "Stalled"]),
        ]))],
        processed: &[CURRENT],
        tokens: &[OBSERVED],
        durations: minutes(10, 30, 30),
        examples: &[
            example(Processed, r#"{"metadata":{"generation":2},"status":{"observedGeneration":2,"phase":"Ready"}}"#),
            example(Pending, r#"{"metadata":{"generation":2},"status":{"observedGeneration":1,"phase":"Ready"}}"#),
            example(Pending, r#"{"metadata":{"generation":1},"status":{}}"#),
            example(
                InProgress,
                r#"{"metadata":{"generation":2},"status":{"observedGeneration":2,"phase":"ApplyingChanges"}}"#,
            ),
            example(Failing, r#"{"metadata":{"generation":2},"status":{"observedGeneration":2,"phase":"Invalid"}}"#),
            example(
                Paused,
                r#"{"metadata":{"generation":2,"annotations":{"eck.k8s.elastic.co/managed":"false"}},"status":{"observedGeneration":1}}"#,
            ),
        ],
        ..Entry::NEW
    }],
};
