//! Velero: backups, restores and what they are made of.
//!
//! These happen once: an empty phase or `New` is one that nobody has picked up. Some of the CRDs have no status
//! subresource. A schedule is read whenever it is validated; its `lastBackup` says when it fired last. A storage
//! location is validated by a timer.

use super::engine::prelude::*;

/// The rule.
pub(super) static RULE: Ecosystem = Ecosystem {
    name: "velero",
    project: Some("velero"),
    about: "Velero (velero.io)",
    entries: &[
        Entry {
            fits: &[Fit::of(
                "velero.io",
                &[
                    "Backup",
                    "Restore",
                    "DownloadRequest",
                    "DeleteBackupRequest",
                    "PodVolumeBackup",
                    "PodVolumeRestore",
                    "DataUpload",
                    "DataDownload",
                    "ServerStatusRequest",
                ],
            )],
            about: "Happens once: no phase, or New, before it was picked up, and a final one at its end.",
            pending: &[NEVER, Owed::Never(NOT_BEGUN)],
            failing: &[standing(is(
                "status.phase",
                &[
                    "FailedValidation",
                    "Failed",
                    "PartiallyFailed",
                    "FinalizingPartiallyFailed",
                    "WaitingForPluginOperationsPartiallyFailed",
                ],
            ))],
            in_progress: &[standing(is(
                "status.phase",
                &[
                    "InProgress",
                    "WaitingForPluginOperations",
                    "Finalizing",
                    "Queued",
                    "ReadyToStart",
                    "Accepted",
                    "Prepared",
                    "Deleting",
                    "Canceling",
                ],
            ))],
            processed: &[is("status.phase", &["Completed", "Processed", "Canceled"])],
            tokens: &["status.phase"],
            desired: &["spec.cancel"],
            // One backup at a time: the next one waits in its first phase.
            durations: minutes(60, 240, 240),
            examples: &[
                example(Pending, r#"{"metadata":{},"status":{"phase":"New"}}"#),
                example(Processed, r#"{"metadata":{"generation":5},"status":{"phase":"Completed"}}"#),
                example(InProgress, r#"{"metadata":{},"status":{"phase":"InProgress"}}"#),
                example(Failing, r#"{"metadata":{},"status":{"phase":"PartiallyFailed"}}"#),
            ],
            ..Entry::NEW
        },
        Entry {
            fits: &[Fit::of("velero.io", &["Schedule"])],
            about: "status.phase says whether the schedule is valid; managedFields tell of which spec.",
            paused: &[is_set("spec.paused")],
            pending: &[NEVER, Owed::Never(NOT_BEGUN)],
            failing: &[standing(is("status.phase", &["FailedValidation"]))],
            processed: &[When::All(&[SEEN, is("status.phase", &["Enabled"])])],
            tokens: &["status.phase"],
            examples: &[
                example(Processed, r#"{"metadata":{"generation":1},"status":{"phase":"Enabled"}}"#),
                example(Paused, r#"{"metadata":{"generation":2},"spec":{"paused":true},"status":{"phase":"Enabled"}}"#),
                example(Unknown, r#"{"metadata":{"generation":2},"status":{"phase":"Enabled"}}"#),
            ],
            ..Entry::NEW
        },
        Entry {
            fits: &[Fit::of("velero.io", &["BackupStorageLocation", "VolumeSnapshotLocation", "BackupRepository"])],
            ..Entry::STATIC
        },
    ],
};

const NOT_BEGUN: When = When::Any(&[When::Field("status.phase", Value::Missing), is("status.phase", &["New"])]);
