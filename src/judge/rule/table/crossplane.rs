//! Crossplane: managed and composite resources, packages.
//!
//! The condition `Synced` says how the last reconciliation went; newer runtimes stamp the generation on it, older ones
//! leave it to managedFields. Defaults that a provider fills into the spec raise the generation, so objects at
//! generation 3 that nobody edited are common. `Ready` is the health of what stands outside the cluster and may stay
//! away for an hour. An annotation asks for a reconciliation, and the status repeats it. Paused is an object by an
//! annotation or by an empty list of management policies.

use super::engine::prelude::*;

/// The rule.
pub(super) static RULE: Ecosystem = Ecosystem {
    name: "crossplane",
    project: Some("crossplane"),
    about: "Crossplane and its providers (crossplane.io, upbound.io)",
    entries: &[
        Entry {
            fits: &[
                Fit { group: Group::Below("crossplane.io"), kinds: Kinds::Only(STATIC_KINDS) },
                Fit { group: Group::Below("upbound.io"), kinds: Kinds::Only(STATIC_KINDS) },
            ],
            examples: &[example(Unknown, r#"{"metadata":{"generation":1},"spec":{}}"#)],
            ..Entry::STATIC
        },
        Entry {
            fits: &[Fit::all("pkg.crossplane.io")],
            about: "The conditions of packages and their revisions carry the generation.",
            paused: &[PAUSED],
            pending: &[NEVER_IF_OTHERS, Owed::Change(When::Behind(ANY))],
            failing: &[standing(has(condition(&["Installed", "Healthy"]).no().current()))],
            in_progress: &[standing(has(condition(&["Installed", "Healthy"]).is(&["Unknown"]).current()))],
            processed: &[has(ANY.current())],
            finalizers: FINALIZERS,
            examples: &[
                example(
                    Processed,
                    r#"{"metadata":{"generation":3},"status":{"conditions":[{"type":"Healthy","status":"True","observedGeneration":3}]}}"#,
                ),
                example(
                    Failing,
                    r#"{"metadata":{"generation":3},"status":{"conditions":[{"type":"Healthy","status":"False","observedGeneration":3}]}}"#,
                ),
            ],
            ..Entry::NEW
        },
        Entry {
            fits: &[
                Fit::all("apiextensions.crossplane.io"),
                Fit::all("ops.crossplane.io"),
                Fit::all("protection.crossplane.io"),
                Fit::all("stacks.crossplane.io"),
            ],
            paused: &[PAUSED],
            finalizers: FINALIZERS,
            ..CONVENTIONAL
        },
        MANAGED,
    ],
};

const STATIC_KINDS: &[&str] = &[
    "ProviderConfig",
    "ClusterProviderConfig",
    "ProviderConfigUsage",
    "Composition",
    "CompositionRevision",
    "EnvironmentConfig",
    "StoreConfig",
    "DeploymentRuntimeConfig",
    "ControllerConfig",
    "ImageConfig",
    "Lock",
];

const FINALIZERS: Finalizers = Finalizers::of(&["crossplane.io"]);

const PAUSED: When = annotated("crossplane.io/paused", &["true"]);

const SYNCED: Condition = condition(&["Synced"]);

const SYNCED_SEEN: When = When::Any(&[has(SYNCED.current()), When::All(&[has(SYNCED.unnumbered()), SEEN])]);

const MANAGED: Entry = Entry {
    fits: &[Fit::below("crossplane.io"), Fit::below("upbound.io")],
    about: "Synced carries the generation where the provider is new enough; else managedFields must show a status that \
            is newer than the spec.",
    paused: &[
        PAUSED,
        has(SYNCED.no().because(&["ReconcilePaused"])),
        When::Field("spec.managementPolicies", Value::Empty),
    ],
    pending: &[
        NEVER_A_CONDITION,
        Owed::Change(When::Behind(SYNCED)),
        Owed::Request(
            When::Unanswered {
                annotation: "crossplane.io/reconcile-requested-at",
                answer: "status.lastHandledReconcileAt",
            },
            "crossplane.io/reconcile-requested-at",
        ),
    ],
    failing: &[standing(When::All(&[SYNCED_SEEN, has(SYNCED.no())]))],
    in_progress: &[standing(When::All(&[SYNCED_SEEN, has(SYNCED.yes()), has(READY.is(&["False", "Unknown"]))]))],
    processed: &[When::All(&[SYNCED_SEEN, has(SYNCED.yes())])],
    tokens: &["status.lastHandledReconcileAt"],
    finalizers: FINALIZERS,
    durations: minutes(10, 30, 30),
    examples: &[
        example(
            Processed,
            r#"{"metadata":{"generation":3},"status":{"conditions":[{"type":"Synced","status":"True","observedGeneration":3},{"type":"Ready","status":"True"}]}}"#,
        ),
        example(
            Unknown,
            r#"{"metadata":{"generation":3},"status":{"conditions":[{"type":"Synced","status":"True"},{"type":"Ready","status":"True"}]}}"#,
        ),
        example(
            Pending,
            r#"{"metadata":{"generation":4},"status":{"conditions":[{"type":"Synced","status":"True","observedGeneration":3}]}}"#,
        ),
        example(
            Failing,
            r#"{"metadata":{"generation":1},"status":{"conditions":[{"type":"Synced","status":"False","reason":"ReconcileError"}]}}"#,
        ),
        example(
            InProgress,
            r#"{"metadata":{"generation":1},"status":{"conditions":[{"type":"Synced","status":"True"},{"type":"Ready","status":"False","reason":"Creating"}]}}"#,
        ),
        example(Paused, r#"{"metadata":{"generation":2,"annotations":{"crossplane.io/paused":"true"}}}"#),
        example(Paused, r#"{"metadata":{"generation":2},"spec":{"managementPolicies":[]}}"#),
    ],
    ..Entry::NEW
};
