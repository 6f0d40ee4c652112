//! Operators built with the Helm operator of the Operator SDK.
//!
//! `Deployed`, `ReleaseFailed` and `Irreconcilable` tell how the release went, without a generation, so managedFields
//! have to tell. The project is the user's, so the rule is chosen by its finalizer or by the release that it keeps in
//! the status.

use super::engine::prelude::*;

/// The rule.
pub(super) static RULE: Ecosystem = Ecosystem {
    name: "helm-operator",
    project: None,
    about: "operators built with the Helm operator of the Operator SDK",
    entries: &[Entry {
        about: "The conditions carry no generation; managedFields tell whether they speak of the latest spec.",
        pending: &[Owed::NeverIfOthers(NO_CONDITIONS)],
        failing: &[standing(When::All(&[SEEN, has(condition(&["ReleaseFailed", "Irreconcilable"]).yes())]))],
        processed: &[When::All(&[SEEN, has(condition(&["Deployed"]).yes())])],
        finalizers: Finalizers::named(&["helm.sdk.operatorframework.io/uninstall-release", "uninstall-helm-release"]),
        durations: minutes(10, 30, 30),
        examples: &[
            example(
                Processed,
                r#"{"metadata":{"generation":1},"status":{"conditions":[{"type":"Deployed","status":"True"}]}}"#,
            ),
            example(
                Failing,
                r#"{"metadata":{"generation":1},"status":{"conditions":[{"type":"Deployed","status":"True"},{"type":"Irreconcilable","status":"True"}]}}"#,
            ),
            example(Pending, r#"{"metadata":{"generation":1}}"#),
            example(
                Unknown,
                r#"{"metadata":{"generation":2},"status":{"conditions":[{"type":"Deployed","status":"True"}]}}"#,
            ),
        ],
        ..Entry::NEW
    }],
};
