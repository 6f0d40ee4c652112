//! Cluster API: clusters, machines and what its providers add.
//!
//! Recent versions write the condition `Paused`, with the generation, when a reconciliation begins: an acknowledgement.
//! It stands in `status.conditions`, or for older kinds in `status.v1beta2.conditions`. `status.observedGeneration` is
//! written only when the reconciliation ended without an error. A Cluster is paused by a field or an annotation of any
//! value, which pauses what belongs to it as well; those objects show it by the condition alone. Templates have nothing
//! to reconcile.

use super::engine::prelude::*;

/// The rule.
pub(super) static RULE: Ecosystem = Ecosystem {
    name: "cluster-api",
    project: Some("cluster-api"),
    about: "Cluster API and its providers (cluster.x-k8s.io)",
    entries: &[
        Entry {
            fits: &[
                Fit::of(
                    "cluster.x-k8s.io",
                    &["Cluster", "Machine", "MachineSet", "MachineDeployment", "MachinePool", "MachineHealthCheck"],
                ),
                Fit::of("addons.cluster.x-k8s.io", &["ClusterResourceSet"]),
                Fit::of("controlplane.cluster.x-k8s.io", &["KubeadmControlPlane"]),
                Fit::of("bootstrap.cluster.x-k8s.io", &["KubeadmConfig"]),
            ],
            pending: &[NEVER, CHANGED_UNSEEN],
            examples: &[
                example(
                    Processed,
                    r#"{"metadata":{"generation":3},"status":{"observedGeneration":3,"phase":"Running"}}"#,
                ),
                example(
                    Pending,
                    r#"{"metadata":{"generation":4},"status":{"observedGeneration":3,"phase":"Running"}}"#,
                ),
                example(
                    Failing,
                    r#"{"metadata":{"generation":4},"status":{"observedGeneration":3,"conditions":[{"type":"Paused","status":"False","observedGeneration":4}]}}"#,
                ),
                example(
                    Failing,
                    r#"{"metadata":{"generation":1},"status":{"observedGeneration":1,"conditions":[{"type":"ResourcesApplied","status":"False","severity":"Error"}]}}"#,
                ),
                example(
                    InProgress,
                    r#"{"metadata":{"generation":3},"status":{"observedGeneration":3,"phase":"ScalingUp"}}"#,
                ),
                example(
                    Paused,
                    r#"{"metadata":{"generation":4,"annotations":{"cluster.x-k8s.io/paused":""}},"status":{"observedGeneration":3}}"#,
                ),
                example(
                    Paused,
                    r#"{"metadata":{"generation":4},"status":{"observedGeneration":3,"v1beta2":{"conditions":[{"type":"Paused","status":"True","observedGeneration":4}]}}}"#,
                ),
                example(Unknown, r#"{"metadata":{},"status":{"observedGeneration":3,"phase":"Running"}}"#),
            ],
            ..RECONCILED
        },
        Entry {
            fits: &[
                Fit { group: Group::Below("cluster.x-k8s.io"), kinds: Kinds::Ending("Template") },
                Fit { group: Group::Below("cluster.x-k8s.io"), kinds: Kinds::Ending("Identity") },
                Fit::of("addons.cluster.x-k8s.io", &["ClusterResourceSetBinding"]),
                Fit::of("ipam.cluster.x-k8s.io", &["IPAddress"]),
            ],
            ..Entry::STATIC
        },
        Entry { fits: &[Fit::below("cluster.x-k8s.io")], ..RECONCILED },
    ],
};

const PAUSED: Condition = condition(&["Paused"]);

const BEGUN: When = When::Any(&[has(PAUSED.current()), has(PAUSED.at("status.v1beta2.conditions").current())]);

const CHANGED_UNSEEN: Owed = Owed::Change(When::All(&[BEHIND, When::Not(&BEGUN)]));

const SEEN_BY_ONE: When = When::Any(&[CURRENT, BEGUN]);

const RECONCILED: Entry = Entry {
    about: "The condition Paused carries the generation at the start of every reconciliation; \
            status.observedGeneration follows where it ended without an error.",
    paused: &[
        When::Annotation("cluster.x-k8s.io/paused", Value::Present),
        is_set("spec.paused"),
        has(PAUSED.yes()),
        has(PAUSED.at("status.v1beta2.conditions").yes()),
    ],
    pending: &[NEVER_IF_OTHERS, CHANGED_UNSEEN],
    failing: &[
        standing(When::All(&[BEHIND, BEGUN])),
        standing(When::All(&[SEEN_BY_ONE, is("status.phase", &["Failed"])])),
        standing(When::All(&[SEEN_BY_ONE, When::Field("status.failureReason", Value::Present)])),
        standing(When::All(&[SEEN_BY_ONE, has(ANY.no().severity(&["Error"]))])),
    ],
    in_progress: &[
        standing(When::All(&[
            CURRENT,
            is("status.phase", &["Pending", "Provisioning", "ScalingUp", "ScalingDown", "Deleting"]),
        ])),
        standing(When::All(&[CURRENT, has(READY.no())])),
    ],
    processed: &[CURRENT],
    tokens: &[OBSERVED],
    finalizers: Finalizers::of(&["cluster.x-k8s.io"]),
    // Machines take their time, and a deletion waits for all of them to be drained.
    durations: minutes(30, 120, 120),
    ..Entry::NEW
};
