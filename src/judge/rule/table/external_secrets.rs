//! External Secrets Operator: secrets that are fetched and pushed, and the stores they come from.
//!
//! `status.syncedResourceVersion` begins with the generation, followed by a dash and a hash of labels and annotations.
//! It is written on success only: where it is old, `Ready=True` tells a change that was not seen, and `Ready=False`
//! needs managedFields to tell a failure from a change not seen. `refreshTime` is a timer's. With the policy
//! `CreatedOnce` nothing happens any more after the first success. Stores have `Ready` alone.

use super::engine::prelude::*;

/// The rule.
pub(super) static RULE: Ecosystem = Ecosystem {
    name: "external-secrets",
    project: Some("external-secrets"),
    about: "External Secrets Operator (external-secrets.io)",
    entries: &[
        Entry {
            fits: &[Fit::of("external-secrets.io", &["ExternalSecret", "PushSecret"])],
            about: "status.syncedResourceVersion begins with the generation that was synchronised.",
            paused: &[When::All(&[
                is("spec.refreshPolicy", &["CreatedOnce"]),
                When::Not(&When::Field(SYNCED, Value::Missing)),
            ])],
            pending: &[NEVER_A_CONDITION, Owed::Change(When::All(&[When::PrefixBelow(SYNCED), has(READY.yes())]))],
            failing: &[standing(When::All(&[When::Any(&[When::PrefixCurrent(SYNCED), SEEN]), has(READY.no())]))],
            processed: &[When::All(&[When::Any(&[When::PrefixCurrent(SYNCED), SEEN]), has(READY.yes())])],
            tokens: &[SYNCED],
            finalizers: Finalizers::named(&[
                "externalsecrets.external-secrets.io/externalsecret-cleanup",
                "pushsecret.externalsecrets.io/finalizer",
            ]),
            examples: &[
                example(
                    Processed,
                    r#"{"metadata":{"generation":3},"status":{"syncedResourceVersion":"3-0f1e","conditions":[{"type":"Ready","status":"True"}]}}"#,
                ),
                example(
                    Pending,
                    r#"{"metadata":{"generation":3},"status":{"syncedResourceVersion":"2-0f1e","conditions":[{"type":"Ready","status":"True"}]}}"#,
                ),
                example(
                    Unknown,
                    r#"{"metadata":{"generation":3},"status":{"syncedResourceVersion":"2-0f1e","conditions":[{"type":"Ready","status":"False"}]}}"#,
                ),
                example(
                    Failing,
                    r#"{"metadata":{"generation":1},"status":{"conditions":[{"type":"Ready","status":"False"}]}}"#,
                ),
                example(
                    Paused,
                    r#"{"metadata":{"generation":3},"spec":{"refreshPolicy":"CreatedOnce"},"status":{"syncedResourceVersion":"2-0f1e"}}"#,
                ),
            ],
            ..Entry::NEW
        },
        Entry {
            fits: &[Fit::of("external-secrets.io", &["SecretStore", "ClusterSecretStore"])],
            about: "Ready carries no generation; managedFields tell whether it speaks of the latest spec.",
            pending: &[NEVER_A_CONDITION],
            failing: &[standing(When::All(&[SEEN, has(READY.no())]))],
            processed: &[When::All(&[SEEN, has(READY.yes())])],
            examples: &[
                example(
                    Processed,
                    r#"{"metadata":{"generation":1},"status":{"conditions":[{"type":"Ready","status":"True"}]}}"#,
                ),
                example(Unknown, r#"{"metadata":{},"status":{"conditions":[{"type":"Ready","status":"True"}]}}"#),
            ],
            ..Entry::NEW
        },
        Entry {
            fits: &[Fit::of("external-secrets.io", &["ClusterExternalSecret", "ClusterPushSecret"])],
            about: "Ready carries no generation; managedFields tell whether it speaks of the latest spec.",
            pending: &[NEVER_IF_OTHERS],
            failing: &[standing(When::All(&[SEEN, has(READY.no())]))],
            processed: &[When::All(&[SEEN, has(READY.yes())])],
            ..Entry::NEW
        },
        Entry { fits: &[Fit::all("generators.external-secrets.io")], ..Entry::STATIC },
    ],
};

const SYNCED: &str = "status.syncedResourceVersion";
