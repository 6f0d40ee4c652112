//! AWS Controllers for Kubernetes.
//!
//! Conditions carry no generation, so managedFields have to tell. `ACK.Terminal` is the controller's word that it will
//! not try again before the spec changes. Without conditions the controller has not come.

use super::engine::prelude::*;

/// The rule.
pub(super) static RULE: Ecosystem = Ecosystem {
    name: "ack",
    project: Some("ack"),
    about: "AWS Controllers for Kubernetes (services.k8s.aws)",
    entries: &[
        Entry {
            fits: &[Fit::of("services.k8s.aws", &["AdoptedResource", "FieldExport", "IAMRoleSelector"])],
            about: "ACK.Adopted or ACK.Recoverable, without a generation.",
            pending: &[Owed::NeverIfOthers(NO_CONDITIONS)],
            processed: &[When::All(&[SEEN, has(ANY)])],
            ..Entry::NEW
        },
        Entry {
            fits: &[Fit::below("services.k8s.aws")],
            about: "The conditions carry no generation; managedFields tell whether they speak of the latest spec.",
            pending: &[NEVER_A_CONDITION],
            failing: &[standing(When::All(&[SEEN, has(condition(&["ACK.Terminal"]).yes())]))],
            in_progress: &[standing(When::All(&[SEEN, has(SYNCED.is(&["False", "Unknown"]))]))],
            processed: &[When::All(&[SEEN, has(condition(&["ACK.ResourceSynced", "Ready"]).yes())])],
            finalizers: Finalizers::of(&["services.k8s.aws"]),
            durations: minutes(10, 30, 30),
            examples: &[
                example(
                    Processed,
                    r#"{"metadata":{"generation":1},"status":{"conditions":[{"type":"ACK.ResourceSynced","status":"True"}]}}"#,
                ),
                example(Pending, r#"{"metadata":{"generation":1},"status":{"ackResourceMetadata":{"region":"a"}}}"#),
                example(
                    Failing,
                    r#"{"metadata":{"generation":1},"status":{"conditions":[{"type":"ACK.Terminal","status":"True"}]}}"#,
                ),
                example(
                    InProgress,
                    r#"{"metadata":{"generation":1},"status":{"conditions":[{"type":"ACK.ResourceSynced","status":"False"}]}}"#,
                ),
                example(
                    Unknown,
                    r#"{"metadata":{},"status":{"conditions":[{"type":"ACK.ResourceSynced","status":"True"}]}}"#,
                ),
            ],
            ..Entry::NEW
        },
    ],
};

const SYNCED: Condition = condition(&["ACK.ResourceSynced"]);
