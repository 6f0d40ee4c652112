//! Knative (serving, eventing, operator) and KServe.
//!
//! The reconcilers that Knative generates set `Ready` to `Unknown` when they meet a new generation and store
//! `status.observedGeneration` at the end of every reconciliation, whatever came of it. KServe uses the same types.

use super::engine::prelude::*;

/// The rule.
pub(super) static RULE: Ecosystem = Ecosystem {
    name: "knative",
    project: Some("knative"),
    about: "Knative (knative.dev) and KServe (serving.kserve.io)",
    entries: &[
        Entry {
            fits: &[
                Fit::of("serving.knative.dev", &["Service", "Route", "Configuration", "Revision", "DomainMapping"]),
                Fit::of("eventing.knative.dev", &["Broker", "Trigger"]),
                Fit::of("messaging.knative.dev", &["Channel", "InMemoryChannel", "Subscription"]),
                Fit::of("serving.kserve.io", &["InferenceService"]),
            ],
            pending: &[NEVER, CHANGED],
            examples: &[
                example(
                    Processed,
                    r#"{"metadata":{"generation":2},"status":{"observedGeneration":2,"conditions":[{"type":"Ready","status":"True"}]}}"#,
                ),
                example(
                    Pending,
                    r#"{"metadata":{"generation":2},"status":{"observedGeneration":1,"conditions":[{"type":"Ready","status":"True"}]}}"#,
                ),
                example(
                    Failing,
                    r#"{"metadata":{"generation":2},"status":{"observedGeneration":2,"conditions":[{"type":"Ready","status":"False"}]}}"#,
                ),
                example(
                    InProgress,
                    r#"{"metadata":{"generation":2},"status":{"observedGeneration":2,"conditions":[{"type":"Ready","status":"Unknown"}]}}"#,
                ),
            ],
            ..RECONCILED
        },
        Entry {
            fits: &[
                Fit::of("networking.internal.knative.dev", &["ClusterDomainClaim"]),
                Fit::of("caching.internal.knative.dev", &["Image"]),
                Fit::of(
                    "serving.kserve.io",
                    &[
                        "ServingRuntime",
                        "ClusterServingRuntime",
                        "ClusterStorageContainer",
                        "LLMInferenceServiceConfig",
                    ],
                ),
            ],
            ..Entry::STATIC
        },
        Entry { fits: &[Fit::below("knative.dev"), Fit::all("serving.kserve.io")], ..RECONCILED },
    ],
};

const RECONCILED: Entry = Entry {
    about: "status.observedGeneration is stored at the end of every reconciliation; Ready says how it went.",
    pending: &[NEVER_IF_OTHERS, CHANGED],
    failing: &[standing(When::All(&[CURRENT, has(READY.no())]))],
    in_progress: &[standing(When::All(&[CURRENT, has(READY.is(&["Unknown"]))]))],
    processed: &[CURRENT],
    tokens: &[OBSERVED],
    finalizers: Finalizers::Some(Names { names: &[], domains: &["knative.dev", "kserve.io"] }),
    ..Entry::NEW
};
