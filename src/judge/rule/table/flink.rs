//! The Flink Kubernetes operator.
//!
//! `status.observedGeneration` is set when the spec was taken over, together with a copy of it. `status.error` is not
//! empty after a failure. A job that is upgraded or rolled back says so.

use super::engine::prelude::*;

/// The rule.
pub(super) static RULE: Ecosystem = Ecosystem {
    name: "flink",
    project: Some("flink"),
    about: "Apache Flink's operator (flink.apache.org)",
    entries: &[Entry {
        fits: &[Fit::of("flink.apache.org", &["FlinkDeployment", "FlinkSessionJob"])],
        about: "status.observedGeneration is set when the spec was taken over.",
        pending: &[NEVER, CHANGED],
        failing: &[standing(When::All(&[CURRENT, When::Not(&When::Field("status.error", Value::Missing))]))],
        in_progress: &[standing(When::All(&[
            CURRENT,
            is("status.reconciliationStatus.state", &["UPGRADING", "ROLLING_BACK"]),
        ]))],
        processed: &[CURRENT],
        tokens: &[OBSERVED, "status.reconciliationStatus.state"],
        finalizers: Finalizers::Some(Names { names: &[], domains: &["flink.apache.org"] }),
        durations: minutes(10, 30, 30),
        examples: &[
            example(
                Processed,
                r#"{"metadata":{"generation":2},"status":{"observedGeneration":2,"reconciliationStatus":{"state":"DEPLOYED"}}}"#,
            ),
            example(
                InProgress,
                r#"{"metadata":{"generation":2},"status":{"observedGeneration":2,"reconciliationStatus":{"state":"UPGRADING"}}}"#,
            ),
            example(Failing, r#"{"metadata":{"generation":2},"status":{"observedGeneration":2,"error":"e"}}"#),
            example(Pending, r#"{"metadata":{"generation":3},"status":{"observedGeneration":2}}"#),
        ],
        ..Entry::NEW
    }],
};
