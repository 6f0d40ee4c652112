//! Strimzi: Kafka clusters, connectors, topics, users.
//!
//! The whole status is written at the end of a reconciliation, with the generation, so that a rolling update of a large
//! cluster leaves the number behind for as long as it takes. Topics and users are quick. A status that would not change
//! is not written. A pause leaves the old number on purpose; a topic that is not managed keeps a current one, and
//! nothing is owed to it all the same.

use super::engine::prelude::*;

/// The rule.
pub(super) static RULE: Ecosystem = Ecosystem {
    name: "strimzi",
    project: Some("strimzi"),
    about: "Strimzi (strimzi.io)",
    entries: &[
        Entry {
            fits: &[Fit::of("kafka.strimzi.io", &["KafkaTopic"])],
            paused: &[PAUSED_BY_ANNOTATION, PAUSED_BY_CONDITION, annotated("strimzi.io/managed", &["false"])],
            finalizers: Finalizers::named(&["strimzi.io/topic-operator"]),
            durations: minutes(2, 10, 5),
            examples: &[
                example(
                    Paused,
                    r#"{"metadata":{"generation":2,"annotations":{"strimzi.io/managed":"false"}},"status":{"observedGeneration":2}}"#,
                ),
                example(
                    Failing,
                    r#"{"metadata":{"generation":2},"status":{"observedGeneration":2,"conditions":[{"type":"Ready","status":"False"}]}}"#,
                ),
            ],
            ..RECONCILED
        },
        Entry { fits: &[Fit::of("kafka.strimzi.io", &["KafkaUser"])], durations: minutes(5, 15, 5), ..RECONCILED },
        Entry {
            fits: &[Fit::all("kafka.strimzi.io"), Fit::all("core.strimzi.io")],
            durations: minutes(60, 120, 120),
            examples: &[
                example(
                    Processed,
                    r#"{"metadata":{"generation":2},"status":{"observedGeneration":2,"conditions":[{"type":"Ready","status":"True"}]}}"#,
                ),
                example(
                    Pending,
                    r#"{"metadata":{"generation":3},"status":{"observedGeneration":2,"conditions":[{"type":"Ready","status":"True"}]}}"#,
                ),
                example(Pending, r#"{"metadata":{"generation":1}}"#),
                example(
                    Failing,
                    r#"{"metadata":{"generation":1},"status":{"observedGeneration":1,"conditions":[{"type":"NotReady","status":"True"}]}}"#,
                ),
                example(
                    InProgress,
                    r#"{"metadata":{"generation":1},"status":{"observedGeneration":1,"conditions":[{"type":"Rebalancing","status":"True"}]}}"#,
                ),
                example(
                    Paused,
                    r#"{"metadata":{"generation":3,"annotations":{"strimzi.io/pause-reconciliation":"true"}},"status":{"observedGeneration":2}}"#,
                ),
            ],
            ..RECONCILED
        },
    ],
};

const PAUSED_BY_ANNOTATION: When = annotated("strimzi.io/pause-reconciliation", &["true"]);
const PAUSED_BY_CONDITION: When = has(condition(&["ReconciliationPaused"]).yes());

const RECONCILED: Entry = Entry {
    about: "status.observedGeneration is written with the rest of the status when a reconciliation ends.",
    paused: &[PAUSED_BY_ANNOTATION, PAUSED_BY_CONDITION],
    pending: &[NEVER, CHANGED],
    failing: &[
        standing(When::All(&[CURRENT, has(condition(&["NotReady"]).yes())])),
        standing(When::All(&[CURRENT, has(READY.no())])),
    ],
    in_progress: &[standing(When::All(&[
        CURRENT,
        has(condition(&["PendingProposal", "Rebalancing", "Stopping"]).yes()),
    ]))],
    processed: &[CURRENT],
    tokens: &[OBSERVED],
    ..Entry::NEW
};
