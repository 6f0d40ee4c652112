//! KEDA: what scales workloads by events.
//!
//! Nothing carries a generation and conditions have no times, so managedFields have to tell. The first reconciliation
//! sets every condition to `Unknown`: without conditions it has not come. A pause is an annotation, whose value counts
//! as true unless it says false, or the condition `Paused`.

use super::engine::prelude::*;

/// The rule.
pub(super) static RULE: Ecosystem = Ecosystem {
    name: "keda",
    project: Some("keda"),
    about: "KEDA (keda.sh)",
    entries: &[
        Entry {
            fits: &[Fit::of("keda.sh", &["ScaledObject", "ScaledJob"])],
            about: "Ready carries no generation; managedFields tell whether it speaks of the latest spec.",
            paused: &[
                When::Annotation("autoscaling.keda.sh/paused-replicas", Value::Present),
                When::All(&[
                    When::Annotation("autoscaling.keda.sh/paused", Value::Present),
                    When::Not(&When::Annotation("autoscaling.keda.sh/paused", Value::No)),
                ]),
                has(condition(&["Paused"]).yes()),
            ],
            pending: &[NEVER_A_CONDITION],
            failing: &[standing(When::All(&[SEEN, has(READY.no())]))],
            in_progress: &[standing(When::All(&[SEEN, has(READY.is(&["Unknown"]))]))],
            processed: &[When::All(&[SEEN, has(READY.yes())])],
            finalizers: Finalizers::named(&["finalizer.keda.sh"]),
            examples: &[
                example(
                    Processed,
                    r#"{"metadata":{"generation":1},"status":{"conditions":[{"type":"Ready","status":"True"}]}}"#,
                ),
                example(
                    Unknown,
                    r#"{"metadata":{"generation":2},"status":{"conditions":[{"type":"Ready","status":"True"}]}}"#,
                ),
                example(
                    Pending,
                    r#"{"metadata":{"generation":1,"annotations":{"autoscaling.keda.sh/paused":"false"}}}"#,
                ),
                example(
                    Failing,
                    r#"{"metadata":{"generation":1},"status":{"conditions":[{"type":"Ready","status":"False"}]}}"#,
                ),
                example(
                    InProgress,
                    r#"{"metadata":{"generation":1},"status":{"conditions":[{"type":"Ready","status":"Unknown"}]}}"#,
                ),
                example(Paused, r#"{"metadata":{"generation":1,"annotations":{"autoscaling.keda.sh/paused":"yes"}}}"#),
            ],
            ..Entry::NEW
        },
        Entry {
            fits: &[Fit::of("keda.sh", &["TriggerAuthentication", "ClusterTriggerAuthentication"])],
            ..Entry::STATIC
        },
    ],
};
