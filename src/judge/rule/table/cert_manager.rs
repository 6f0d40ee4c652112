//! cert-manager: Certificates, issuers, and the requests, orders and challenges that it makes of them.
//!
//! There is no `status.observedGeneration`. The condition `Ready` of Certificates and issuers carries the generation,
//! written at every evaluation; versions before 1.0 wrote none, and then managedFields have to tell. Requests, orders
//! and challenges are never changed once they are made, so the word for their state is enough. A Certificate that failed
//! is tried again after up to 32 hours, and nothing is written in between. Challenges wait for their turn, 60 at a time.

use super::engine::prelude::*;

/// The rule.
pub(super) static RULE: Ecosystem = Ecosystem {
    name: "cert-manager",
    project: Some("cert-manager"),
    about: "cert-manager (cert-manager.io)",
    entries: &[
        Entry {
            fits: &[Fit::of("cert-manager.io", &["Certificate"]), Fit::of("certmanager.k8s.io", &["Certificate"])],
            failing: &[standing(When::All(&[
                READY_SEEN,
                has(READY.no()),
                When::Field("status.lastFailureTime", Value::Present),
            ]))],
            in_progress: &[
                standing(When::All(&[READY_SEEN, has(condition(&["Issuing"]).yes())])),
                standing(When::All(&[READY_SEEN, has(READY.is(&["False", "Unknown"]))])),
            ],
            examples: &[
                example(
                    Processed,
                    r#"{"metadata":{"generation":2},"status":{"conditions":[{"type":"Ready","status":"True","observedGeneration":2}]}}"#,
                ),
                example(
                    Processed,
                    r#"{"metadata":{"generation":2,"managedFields":[{"manager":"kubectl","time":"2026-03-01T10:00:00Z","fieldsV1":{"f:spec":{}}},{"manager":"controller","time":"2026-03-01T10:00:02Z","fieldsV1":{"f:status":{}}}]},"status":{"conditions":[{"type":"Ready","status":"True"}]}}"#,
                ),
                example(
                    Pending,
                    r#"{"metadata":{"generation":2},"status":{"conditions":[{"type":"Ready","status":"True","observedGeneration":1}]}}"#,
                ),
                example(Pending, r#"{"metadata":{"generation":1,"creationTimestamp":"2026-03-01T11:00:00Z"}}"#),
                example(
                    InProgress,
                    r#"{"metadata":{"generation":1},"status":{"conditions":[{"type":"Issuing","status":"True"},{"type":"Ready","status":"False","observedGeneration":1}]}}"#,
                ),
                example(
                    Failing,
                    r#"{"metadata":{"generation":1},"status":{"lastFailureTime":"2026-03-01T10:00:00Z","conditions":[{"type":"Ready","status":"False","observedGeneration":1}]}}"#,
                ),
                example(
                    Unknown,
                    r#"{"metadata":{"generation":2},"status":{"conditions":[{"type":"Ready","status":"True"}]}}"#,
                ),
            ],
            ..READINESS
        },
        Entry {
            fits: &[
                Fit::of("cert-manager.io", &["Issuer", "ClusterIssuer"]),
                Fit::of("certmanager.k8s.io", &["Issuer", "ClusterIssuer"]),
            ],
            failing: &[standing(When::All(&[READY_SEEN, has(READY.no())]))],
            in_progress: &[standing(When::All(&[READY_SEEN, has(READY.is(&["Unknown"]))]))],
            examples: &[example(
                Failing,
                r#"{"metadata":{"generation":1},"status":{"conditions":[{"type":"Ready","status":"False","reason":"ErrRegisterACMEAccount"}]}}"#,
            )],
            ..READINESS
        },
        Entry {
            fits: &[Fit::of("cert-manager.io", &["CertificateRequest"])],
            about: "Made once and never changed: Ready with a final reason, or no condition before it is picked up.",
            pending: &[NEVER],
            failing: &[
                standing(has(READY.no().because(&["Failed", "Denied"]))),
                standing(has(condition(&["InvalidRequest", "Denied"]).yes())),
            ],
            in_progress: &[standing(has(condition(&["Approved"]))), standing(has(READY.no()))],
            processed: &[has(READY.yes())],
            examples: &[
                example(Pending, r#"{"metadata":{"generation":1}}"#),
                example(
                    Failing,
                    r#"{"metadata":{},"status":{"conditions":[{"type":"Approved","status":"True"},{"type":"Ready","status":"False","reason":"Failed"}]}}"#,
                ),
            ],
            ..REQUEST
        },
        Entry {
            fits: &[Fit::of("acme.cert-manager.io", &["Order"])],
            examples: &[
                example(Processed, r#"{"metadata":{},"status":{"state":"valid"}}"#),
                example(InProgress, r#"{"metadata":{},"status":{"state":"pending"}}"#),
                example(Failing, r#"{"metadata":{},"status":{"state":"errored"}}"#),
            ],
            ..ORDER
        },
        Entry {
            fits: &[Fit::of("acme.cert-manager.io", &["Challenge"])],
            finalizers: Finalizers::named(&["acme.cert-manager.io/finalizer", "finalizer.acme.cert-manager.io"]),
            durations: minutes(60, 60, 60),
            examples: &[example(Pending, r#"{"metadata":{},"spec":{"type":"DNS-01"}}"#)],
            ..ORDER
        },
    ],
};

/// `Ready` speaks of the latest generation: by its own number, or where it has none by managedFields.
const READY_SEEN: When = When::Any(&[has(READY.current()), When::All(&[has(READY.unnumbered()), SEEN])]);

const READINESS: Entry = Entry {
    about: "Ready carries the generation that was evaluated, whatever came of it.",
    pending: &[NEVER_A_CONDITION, Owed::Change(When::Behind(READY))],
    processed: &[READY_SEEN],
    ..Entry::NEW
};

const REQUEST: Entry = Entry { tokens: &["status.state"], ..Entry::NEW };

const ORDER: Entry = Entry {
    about: "Made once and never changed: status.state, as ACME names it.",
    pending: &[NEVER],
    failing: &[standing(is("status.state", &["invalid", "expired", "errored"]))],
    in_progress: &[standing(is("status.state", &["pending", "processing", "ready"]))],
    processed: &[is("status.state", &["valid"])],
    ..REQUEST
};
