//! Sealed Secrets.
//!
//! `status.observedGeneration` is written at every attempt, and `Synced` says how it went. A flag of the controller turns
//! all of this off, so that no status means something only beside other objects that have one.

use super::engine::prelude::*;

/// The rule.
pub(super) static RULE: Ecosystem = Ecosystem {
    name: "sealed-secrets",
    project: Some("sealed-secrets"),
    about: "Sealed Secrets (bitnami.com)",
    entries: &[Entry {
        fits: &[Fit::of("bitnami.com", &["SealedSecret"])],
        about: "status.observedGeneration is written at every attempt; Synced says how it went.",
        pending: &[NEVER_IF_OTHERS, CHANGED],
        failing: &[standing(When::All(&[CURRENT, has(condition(&["Synced"]).no())]))],
        processed: &[CURRENT],
        tokens: &[OBSERVED],
        durations: minutes(2, 10, 5),
        examples: &[
            example(
                Processed,
                r#"{"metadata":{"generation":1},"status":{"observedGeneration":1,"conditions":[{"type":"Synced","status":"True"}]}}"#,
            ),
            example(
                Failing,
                r#"{"metadata":{"generation":1},"status":{"observedGeneration":1,"conditions":[{"type":"Synced","status":"False"}]}}"#,
            ),
            example(Pending, r#"{"metadata":{"generation":2},"status":{"observedGeneration":1}}"#),
        ],
        ..Entry::NEW
    }],
};
