//! Flux: sources, kustomizations, Helm releases, image automation, notifications.
//!
//! The condition `Ready` carries the generation that a controller has worked on. `status.observedGeneration` follows
//! only on success or when the controller gives up, so a number that lags behind beside a current `Ready` is a failure
//! or work in progress, and no sign of a deaf controller. The CRDs set -1 at creation, which no controller has written.
//! `flux reconcile` sets an annotation whose value the controller repeats when it has answered. The controllers return
//! early while `spec.suspend` is set.

use super::engine::prelude::*;

/// The rule.
pub(super) static RULE: Ecosystem = Ecosystem {
    name: "flux",
    project: Some("flux"),
    about: "Flux (fluxcd.io)",
    entries: &[
        Entry {
            fits: &[
                Fit::all("kustomize.toolkit.fluxcd.io"),
                Fit::all("image.toolkit.fluxcd.io"),
                Fit::all("source.extensions.toolkit.fluxcd.io"),
                Fit::of("notification.toolkit.fluxcd.io", &["Receiver"]),
            ],
            examples: &[
                example(
                    Processed,
                    r#"{"metadata":{"generation":2},"status":{"observedGeneration":2,"conditions":[{"type":"Ready","status":"True","observedGeneration":2}]}}"#,
                ),
                example(
                    Pending,
                    r#"{"metadata":{"generation":3},"status":{"observedGeneration":2,"conditions":[{"type":"Ready","status":"True","observedGeneration":2}]}}"#,
                ),
                example(Pending, r#"{"metadata":{"generation":1},"status":{"observedGeneration":-1}}"#),
                example(
                    Pending,
                    r#"{"metadata":{"generation":2,"annotations":{"reconcile.fluxcd.io/requestedAt":"2026-03-01T11:00:00Z"}},"status":{"observedGeneration":2,"lastHandledReconcileAt":"2026-03-01T10:00:00Z"}}"#,
                ),
                example(
                    Failing,
                    r#"{"metadata":{"generation":3},"status":{"observedGeneration":2,"conditions":[{"type":"Ready","status":"False","reason":"BuildFailed","observedGeneration":3}]}}"#,
                ),
                example(
                    InProgress,
                    r#"{"metadata":{"generation":3},"status":{"observedGeneration":2,"conditions":[{"type":"Ready","status":"False","reason":"DependencyNotReady","observedGeneration":3}]}}"#,
                ),
                example(
                    Paused,
                    r#"{"metadata":{"generation":3},"spec":{"suspend":true},"status":{"observedGeneration":2}}"#,
                ),
                example(
                    Unknown,
                    r#"{"metadata":{},"status":{"observedGeneration":2,"conditions":[{"type":"Ready","status":"True","observedGeneration":2}]}}"#,
                ),
            ],
            ..CONTROLLER
        },
        Entry {
            fits: &[Fit::all("helm.toolkit.fluxcd.io")],
            // Helm waits for what it installs, five minutes by default and often for longer, and then rolls back.
            durations: minutes(5, 30, 30),
            examples: &[example(
                InProgress,
                r#"{"metadata":{"generation":3},"status":{"observedGeneration":2,"conditions":[{"type":"Reconciling","status":"True","reason":"Progressing","observedGeneration":3},{"type":"Ready","status":"Unknown","reason":"Progressing","observedGeneration":3},{"type":"Released","status":"True","observedGeneration":1}]}}"#,
            )],
            ..CONTROLLER
        },
        Entry {
            fits: &[Fit::all("source.toolkit.fluxcd.io")],
            // A Helm repository of type oci is an address and nothing that could be fetched.
            inert: &[is("spec.type", &["oci"])],
            examples: &[example(Unknown, r#"{"metadata":{"generation":1},"spec":{"type":"oci"},"status":{}}"#)],
            ..CONTROLLER
        },
        Entry {
            fits: &[Fit::of("notification.toolkit.fluxcd.io", &["Alert", "Provider"])],
            about: "Since v1beta3 these are settings without a status; before, they were reconciled like the others.",
            inert: &[When::NoStatus],
            examples: &[example(Unknown, r#"{"metadata":{"generation":1},"spec":{"type":"slack"}}"#)],
            ..CONTROLLER
        },
    ],
};

const ANY_CURRENT: When = has(ANY.current());

const CONTROLLER: Entry = Entry {
    about: "Ready carries the generation worked on; status.observedGeneration follows on success only.",
    paused: &[is_set("spec.suspend")],
    pending: &[
        Owed::Request(
            When::Unanswered { annotation: "reconcile.fluxcd.io/requestedAt", answer: "status.lastHandledReconcileAt" },
            "reconcile.fluxcd.io/requestedAt",
        ),
        NEVER,
        Owed::Change(When::All(&[BEHIND, When::Not(&ANY_CURRENT)])),
        Owed::Change(When::All(&[When::Not(&CURRENT), When::Behind(ANY)])),
    ],
    failing: &[
        standing(When::All(&[has(condition(&["Stalled"]).yes().not_older()), ANY_CURRENT])),
        standing(has(READY.no().but_not(&["DependencyNotReady", "Progressing", "SourceNotReady"]).current())),
    ],
    in_progress: &[
        standing(has(READY.no().current())),
        moving(When::All(&[ANY_CURRENT, has(condition(&["Reconciling"]).yes().not_older())])),
        moving(has(READY.is(&["Unknown"]).current())),
    ],
    processed: &[When::All(&[has(READY.current()), When::Any(&[CURRENT, has(READY.yes().current())])])],
    tokens: &[OBSERVED, "status.lastHandledReconcileAt"],
    finalizers: Finalizers::named(&["finalizers.fluxcd.io"]),
    ..Entry::NEW
};
