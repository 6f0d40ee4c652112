//! Google Config Connector.
//!
//! `status.observedGeneration` is written with every outcome. The operator fills the spec from what it finds and stamps
//! the generation from before that, so a lag of one for the time of a reconciliation is its own doing. A pause stands on
//! the context of the namespace or on the one object for the cluster; the resources themselves show nothing of it.

use super::engine::prelude::*;

/// The rule.
pub(super) static RULE: Ecosystem = Ecosystem {
    name: "config-connector",
    project: Some("config-connector"),
    about: "Google Config Connector (cnrm.cloud.google.com)",
    entries: &[
        Entry {
            fits: &[Fit::below("core.cnrm.cloud.google.com")],
            about: "The settings of the operator itself: status.observedGeneration and status.healthy.",
            paused: &[is("spec.actuationMode", &["Paused"])],
            pending: &[NEVER_IF_OTHERS, CHANGED],
            failing: &[standing(When::All(&[CURRENT, When::Field("status.healthy", Value::No)]))],
            processed: &[CURRENT],
            tokens: &[OBSERVED],
            examples: &[
                example(Paused, r#"{"metadata":{"generation":2},"spec":{"actuationMode":"Paused"}}"#),
                example(Failing, r#"{"metadata":{"generation":2},"status":{"observedGeneration":2,"healthy":false}}"#),
                example(Pending, r#"{"metadata":{"generation":3},"status":{"observedGeneration":2,"healthy":true}}"#),
            ],
            ..Entry::NEW
        },
        Entry {
            fits: &[Fit::below("cnrm.cloud.google.com")],
            about: "status.observedGeneration is written with every outcome; the reason of Ready says which.",
            pending: &[NEVER, CHANGED],
            failing: &[standing(When::All(&[
                CURRENT,
                has(READY.no().but_not(&["Updating", "Deleting", "DependencyNotReady"])),
            ]))],
            in_progress: &[standing(When::All(&[CURRENT, has(READY.no())]))],
            processed: &[CURRENT],
            tokens: &[OBSERVED],
            finalizers: Finalizers::of(&["cnrm.cloud.google.com"]),
            // Some resources take half an hour to create, and the operator waits for them.
            durations: minutes(15, 60, 60),
            examples: &[
                example(
                    Processed,
                    r#"{"metadata":{"generation":2},"status":{"observedGeneration":2,"conditions":[{"type":"Ready","status":"True","reason":"UpToDate"}]}}"#,
                ),
                example(
                    Pending,
                    r#"{"metadata":{"generation":3},"status":{"observedGeneration":2,"conditions":[{"type":"Ready","status":"True","reason":"UpToDate"}]}}"#,
                ),
                example(
                    Failing,
                    r#"{"metadata":{"generation":2},"status":{"observedGeneration":2,"conditions":[{"type":"Ready","status":"False","reason":"UpdateFailed"}]}}"#,
                ),
                example(
                    InProgress,
                    r#"{"metadata":{"generation":2},"status":{"observedGeneration":2,"conditions":[{"type":"Ready","status":"False","reason":"DependencyNotReady"}]}}"#,
                ),
            ],
            ..Entry::NEW
        },
    ],
};
