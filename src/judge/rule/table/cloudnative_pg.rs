//! CloudNativePG: PostgreSQL clusters and what belongs to them.
//!
//! A Cluster tells its state by a sentence in `status.phase` and nothing of generations, so managedFields have to tell.
//! Databases, publications and subscriptions store `status.observedGeneration` on success only, and `applied: false`
//! with the old number on failure. An annotation stops reconciliation, another one puts the cluster to sleep.

use super::engine::prelude::*;

/// The rule.
pub(super) static RULE: Ecosystem = Ecosystem {
    name: "cloudnative-pg",
    project: Some("cloudnative-pg"),
    about: "CloudNativePG (cloudnative-pg.io)",
    entries: &[
        Entry {
            fits: &[Fit::of("postgresql.cnpg.io", &["Cluster"])],
            about: "status.phase is a sentence without a generation; managedFields tell whether it speaks of the \
                    latest spec.",
            paused: &[
                annotated("cnpg.io/reconciliationLoop", &["disabled"]),
                annotated("cnpg.io/hibernation", &["on"]),
            ],
            pending: &[NEVER],
            failing: &[standing(When::All(&[
                SEEN,
                When::Field(
                    "status.phase",
                    Value::Begins(&[
                        "Cluster cannot",
                        "Cluster is unrecoverable",
                        "Unable to create",
                        "Cluster has incomplete",
                        "Invalid cluster",
                    ]),
                ),
            ]))],
            in_progress: &[standing(When::All(&[
                When::Not(&When::Field("status.phase", Value::Missing)),
                When::Not(&is("status.phase", HEALTHY)),
            ]))],
            processed: &[When::All(&[SEEN, is("status.phase", HEALTHY)])],
            tokens: &["status.phase"],
            durations: minutes(10, 60, 60),
            examples: &[
                example(Processed, r#"{"metadata":{"generation":1},"status":{"phase":"Cluster in healthy state"}}"#),
                example(Unknown, r#"{"metadata":{"generation":2},"status":{"phase":"Cluster in healthy state"}}"#),
                example(InProgress, r#"{"metadata":{"generation":2},"status":{"phase":"Setting up primary"}}"#),
                example(
                    Failing,
                    r#"{"metadata":{"generation":1},"status":{"phase":"Unable to create required cluster objects"}}"#,
                ),
                example(Paused, r#"{"metadata":{"generation":1,"annotations":{"cnpg.io/hibernation":"on"}}}"#),
            ],
            ..Entry::NEW
        },
        Entry {
            fits: &[Fit::of("postgresql.cnpg.io", &["Database", "DatabaseRole", "Publication", "Subscription"])],
            about: "status.observedGeneration follows on success only; applied is false after a failure.",
            pending: &[
                NEVER,
                Owed::Change(When::All(&[BEHIND, When::Not(&When::All(&[REFUSED, When::StatusAfterSpec]))])),
            ],
            failing: &[standing(When::All(&[
                REFUSED,
                When::Any(&[CURRENT, When::FirstGeneration, When::StatusAfterSpec]),
            ]))],
            processed: &[CURRENT],
            tokens: &[OBSERVED],
            finalizers: Finalizers::named(&[
                "cnpg.io/deleteDatabase",
                "cnpg.io/deletePublication",
                "cnpg.io/deleteSubscription",
                "cnpg.io/deleteDatabaseRole",
            ]),
            examples: &[
                example(Processed, r#"{"metadata":{"generation":1},"status":{"observedGeneration":1,"applied":true}}"#),
                example(Pending, r#"{"metadata":{"generation":2},"status":{"observedGeneration":1,"applied":true}}"#),
                example(Failing, r#"{"metadata":{"generation":1},"status":{"applied":false}}"#),
            ],
            ..Entry::NEW
        },
        Entry {
            fits: &[Fit::of("postgresql.cnpg.io", &["Backup"])],
            about: "Happens once: no phase before it was picked up, and a final one at its end.",
            pending: &[NEVER, Owed::Never(When::Field("status.phase", Value::Missing))],
            failing: &[standing(is("status.phase", &["failed", "walArchivingFailing"]))],
            in_progress: &[standing(is("status.phase", &["pending", "started", "running", "finalizing"]))],
            processed: &[is("status.phase", &["completed"])],
            tokens: &["status.phase"],
            examples: &[example(Processed, r#"{"metadata":{},"status":{"phase":"completed"}}"#)],
            ..Entry::NEW
        },
        Entry { fits: &[Fit::of("postgresql.cnpg.io", &["ImageCatalog", "ClusterImageCatalog"])], ..Entry::STATIC },
    ],
};

const HEALTHY: &[&str] = &["Cluster in healthy state"];
const REFUSED: When = When::Field("status.applied", Value::No);
