//! Keycloak's operator.
//!
//! `status.observedGeneration` is written with the conditions; `HasErrors` tells a failure.

use super::engine::prelude::*;

/// The rule.
pub(super) static RULE: Ecosystem = Ecosystem {
    name: "keycloak",
    project: Some("keycloak"),
    about: "Keycloak's operator (k8s.keycloak.org)",
    entries: &[Entry {
        fits: &[Fit::all("k8s.keycloak.org")],
        about: "status.observedGeneration is written with the conditions.",
        pending: &[NEVER, CHANGED],
        failing: &[standing(When::All(&[CURRENT, has(condition(&["HasErrors"]).yes())]))],
        in_progress: &[standing(When::All(&[CURRENT, has(READY.no())]))],
        processed: &[CURRENT],
        tokens: &[OBSERVED],
        examples: &[
            example(
                Processed,
                r#"{"metadata":{"generation":4},"status":{"observedGeneration":4,"conditions":[{"type":"Ready","status":"True"}]}}"#,
            ),
            example(
                Pending,
                r#"{"metadata":{"generation":4},"status":{"observedGeneration":3,"conditions":[{"type":"Ready","status":"True"}]}}"#,
            ),
            example(
                Unknown,
                r#"{"metadata":{"generation":4},"status":{"observedGeneration":5,"conditions":[{"type":"Ready","status":"False"}]}}"#,
            ),
            example(
                InProgress,
                r#"{"metadata":{"generation":4},"status":{"observedGeneration":4,"conditions":[{"type":"Ready","status":"False"}]}}"#,
            ),
            example(
                Failing,
                r#"{"metadata":{"generation":4},"status":{"observedGeneration":4,"conditions":[{"type":"HasErrors","status":"True"}]}}"#,
            ),
        ],
        ..Entry::NEW
    }],
};
