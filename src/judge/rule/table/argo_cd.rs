//! Argo CD: applications and sets of them.
//!
//! The CRD of Applications has no status subresource, so their generation counts status writes and is never used. The
//! controller notes in `status.sync.comparedTo` which source and destination it has compared; that it still equals the
//! spec is the acknowledgement. `status.reconciledAt` is refreshed by a timer, from a copy of the object that may be
//! old, so it proves nothing about a change. The annotations that ask for a refresh are removed when they were answered,
//! and the field `operation` goes when the operation begins. What was compared is written as Go serialises it, so what
//! is empty does not count.

use super::engine::prelude::*;

/// The rule.
pub(super) static RULE: Ecosystem = Ecosystem {
    name: "argo-cd",
    project: Some("argo-cd"),
    about: "Argo CD (argo-cd.readthedocs.io)",
    entries: &[
        APPLICATION,
        Entry {
            fits: &[Fit::of("argoproj.io", &["ApplicationSet"])],
            about: "Its conditions tell how the last generation of Applications went; none carries a generation, so \
                    that they speak of the latest spec follows from managedFields only.",
            pending: &[NEVER_IF_OTHERS],
            failing: &[standing(When::All(&[SEEN, has(condition(&["ErrorOccurred"]).yes())]))],
            processed: &[When::All(&[SEEN, has(condition(&["ResourcesUpToDate", "ParametersGenerated"]))])],
            examples: &[
                example(
                    Processed,
                    r#"{"metadata":{"generation":1},"status":{"conditions":[{"type":"ErrorOccurred","status":"False"},{"type":"ResourcesUpToDate","status":"True"}]}}"#,
                ),
                example(
                    Failing,
                    r#"{"metadata":{"generation":1},"status":{"conditions":[{"type":"ErrorOccurred","status":"True"}]}}"#,
                ),
                example(
                    Unknown,
                    r#"{"metadata":{"generation":2},"status":{"conditions":[{"type":"ResourcesUpToDate","status":"True"}]}}"#,
                ),
            ],
            ..Entry::NEW
        },
        Entry { fits: &[Fit::of("argoproj.io", &["AppProject"])], ..Entry::STATIC },
    ],
};

const APPLICATION: Entry = Entry {
    fits: &[Fit::of("argoproj.io", &["Application"])],
    about: "status.sync.comparedTo repeats the source and destination that were compared. The generation counts status \
            writes and is not used.",
    paused: &[When::Annotation("argocd.argoproj.io/skip-reconcile", Value::Yes)],
    pending: &[
        Owed::Never(When::All(&[IS_WHOLE, When::Field("status.reconciledAt", Value::Missing)])),
        Owed::Request(When::Annotation("argocd.argoproj.io/refresh", Value::Present), "argocd.argoproj.io/refresh"),
        Owed::Request(When::Annotation("argocd.argoproj.io/hydrate", Value::Present), "argocd.argoproj.io/hydrate"),
        Owed::Change(When::Field("operation", Value::Present)),
        Owed::Change(When::All(&[IS_COMPARED, DIFFERS])),
    ],
    failing: &[
        standing(has(condition(&[
            "ComparisonError",
            "InvalidSpecError",
            "SyncError",
            "UnknownError",
            "DeletionError",
        ]))),
        standing(is("status.operationState.phase", &["Failed", "Error"])),
    ],
    in_progress: &[standing(is("status.operationState.phase", &["Running", "Terminating"]))],
    processed: &[When::All(&[IS_WHOLE, IS_COMPARED, When::Not(&DIFFERS)])],
    tokens: &[
        "status.sync.comparedTo.source",
        "status.sync.comparedTo.sources",
        "status.sync.comparedTo.destination",
        "status.operationState.startedAt",
        "status.operationState.finishedAt",
    ],
    desired: &["spec.source", "spec.sources", "spec.destination", "operation"],
    times: &["status.reconciledAt"],
    finalizers: Finalizers::All(Names {
        names: &["resources-finalizer.argocd.argoproj.io"],
        domains: &["resources-finalizer.argocd.argoproj.io", "post-delete-finalizer.argocd.argoproj.io"],
    }),
    durations: minutes(10, 30, 30),
    examples: &[
        example(
            Processed,
            r#"{"metadata":{"generation":263},"spec":{"destination":{"namespace":"web","server":"https://a"},"source":{"repoURL":"https://b","path":"","directory":{"recurse":false}}},"status":{"reconciledAt":"2026-03-01T11:58:00Z","sync":{"comparedTo":{"destination":{"namespace":"web","server":"https://a"},"source":{"repoURL":"https://b"}}}}}"#,
        ),
        example(
            Pending,
            r#"{"metadata":{},"spec":{"destination":{"server":"https://a"},"source":{"repoURL":"https://b","targetRevision":"v2"}},"status":{"reconciledAt":"2026-03-01T11:58:00Z","sync":{"comparedTo":{"destination":{"server":"https://a"},"source":{"repoURL":"https://b","targetRevision":"v1"}}}}}"#,
        ),
        example(
            Pending,
            r#"{"metadata":{"annotations":{"argocd.argoproj.io/refresh":"normal"}},"spec":{"destination":{"server":"https://a"}},"status":{"reconciledAt":"2026-03-01T11:58:00Z"}}"#,
        ),
        example(Pending, r#"{"metadata":{},"spec":{"destination":{"server":"https://a"}}}"#),
        example(
            InProgress,
            r#"{"metadata":{},"spec":{"destination":{"server":"https://a"}},"status":{"reconciledAt":"2026-03-01T11:58:00Z","operationState":{"phase":"Running"}}}"#,
        ),
        example(
            Failing,
            r#"{"metadata":{},"spec":{"destination":{"server":"https://a"}},"status":{"reconciledAt":"2026-03-01T11:58:00Z","conditions":[{"type":"ComparisonError"}]}}"#,
        ),
        example(
            Paused,
            r#"{"metadata":{"annotations":{"argocd.argoproj.io/skip-reconcile":"true"}},"spec":{"destination":{}}}"#,
        ),
        example(Unknown, r#"{"metadata":{},"status":{"sync":{"status":"Synced"}}}"#),
    ],
    ..Entry::NEW
};

/// Dumps are often cut down to the health of an Application.
const IS_WHOLE: When = When::Field("spec.destination", Value::Present);

const IS_COMPARED: When = When::Field("status.sync.comparedTo.destination", Value::Present);

/// Where only one of the two forms of a source is used, the other one is written empty. A hydrated source stands
/// elsewhere in the spec.
const DIFFERS: When = When::Any(&[
    When::Differ("spec.destination", "status.sync.comparedTo.destination"),
    When::All(&[
        When::Field("spec.source", Value::Present),
        When::Differ("spec.source", "status.sync.comparedTo.source"),
    ]),
    When::All(&[
        When::Field("spec.sources", Value::Present),
        When::Differ("spec.sources", "status.sync.comparedTo.sources"),
    ]),
]);
