//! Rook: Ceph clusters, pools, file systems, object stores.
//!
//! `status.observedGeneration` is written together with `Ready` at the end of an orchestration, so it lags for as long
//! as the phase is one of work; the upgrade of a cluster takes hours, with messages on the way. `lastHeartbeatTime` is a
//! timer's.

use super::engine::prelude::*;

/// The rule.
pub(super) static RULE: Ecosystem = Ecosystem {
    name: "rook",
    project: Some("rook"),
    about: "Rook (rook.io)",
    entries: &[
        Entry {
            fits: &[Fit::of(
                "ceph.rook.io",
                &[
                    "CephCluster",
                    "CephBlockPool",
                    "CephFilesystem",
                    "CephObjectStore",
                    "CephObjectStoreUser",
                    "CephNFS",
                    "CephClient",
                ],
            )],
            pending: &[NEVER, CHANGED_AT_REST],
            examples: &[
                example(
                    Processed,
                    r#"{"metadata":{"generation":2},"status":{"observedGeneration":2,"phase":"Ready"}}"#,
                ),
                example(Pending, r#"{"metadata":{"generation":2},"status":{"observedGeneration":1,"phase":"Ready"}}"#),
                example(
                    InProgress,
                    r#"{"metadata":{"generation":2},"status":{"observedGeneration":1,"phase":"Progressing"}}"#,
                ),
                example(
                    Failing,
                    r#"{"metadata":{"generation":2},"status":{"observedGeneration":2,"phase":"Failure"}}"#,
                ),
                example(Unknown, r#"{"metadata":{},"status":{"phase":"Ready"}}"#),
            ],
            ..ORCHESTRATED
        },
        Entry { fits: &[Fit::below("rook.io")], ..ORCHESTRATED },
    ],
};

const WORK: &[&str] = &["Progressing", "Connecting", "ReconcileStarted"];

const CHANGED_AT_REST: Owed = Owed::Change(When::All(&[BEHIND, When::Not(&is("status.phase", WORK))]));

const ORCHESTRATED: Entry = Entry {
    about: "status.observedGeneration is written with Ready at the end of an orchestration; it may lag while the phase \
            is one of work.",
    pending: &[NEVER_IF_OTHERS, CHANGED_AT_REST],
    failing: &[standing(When::All(&[CURRENT, is("status.phase", &["Failure", "ReconcileFailed", "Error"])]))],
    in_progress: &[moving(When::All(&[
        When::Any(&[CURRENT, BEHIND, When::FirstGeneration]),
        is("status.phase", WORK),
    ]))],
    processed: &[CURRENT],
    tokens: &[OBSERVED],
    finalizers: Finalizers::Some(Names { names: &[], domains: &["rook.io"] }),
    durations: minutes(60, 240, 240),
    ..Entry::NEW
};
