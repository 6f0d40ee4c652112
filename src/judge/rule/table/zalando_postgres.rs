//! The postgres-operator of Zalando.
//!
//! The status is one word: `Updating` when the operator begins, `Running` or a failure when it ends. Very old versions
//! wrote it as the whole status. There is no generation, so managedFields have to tell. A cluster of one instance can
//! end in `UpdateFailed` although the change was made.

use super::engine::prelude::*;

/// The rule.
pub(super) static RULE: Ecosystem = Ecosystem {
    name: "zalando-postgres",
    project: Some("postgres-operator"),
    about: "Zalando's postgres-operator (acid.zalan.do)",
    entries: &[
        Entry {
            fits: &[Fit::of("acid.zalan.do", &["postgresql"])],
            about: "status.PostgresClusterStatus is one word without a generation; managedFields tell whether it speaks \
                    of the latest spec.",
            pending: &[NEVER],
            failing: &[standing(When::All(&[
                SEEN,
                is(WORD, &["CreateFailed", "UpdateFailed", "SyncFailed", "Invalid"]),
            ]))],
            // The operator waits for each Pod in turn, and always comes to an end of it.
            in_progress: &[moving(is(WORD, &["Creating", "Updating"]))],
            processed: &[When::All(&[SEEN, is(WORD, &["Running"])])],
            tokens: &[WORD],
            finalizers: Finalizers::named(&["postgres-operator.acid.zalan.do"]),
            durations: minutes(15, 60, 60),
            examples: &[
                example(Processed, r#"{"metadata":{"generation":1},"status":{"PostgresClusterStatus":"Running"}}"#),
                example(Unknown, r#"{"metadata":{"generation":4},"status":{"PostgresClusterStatus":"Running"}}"#),
                example(Unknown, r#"{"metadata":{"generation":4},"status":"Running"}"#),
                example(InProgress, r#"{"metadata":{"generation":4},"status":{"PostgresClusterStatus":"Updating"}}"#),
                example(
                    Pending,
                    r#"{"metadata":{"generation":4,"managedFields":[{"manager":"kubectl","time":"2026-03-01T09:00:00Z","fieldsV1":{"f:spec":{}}},{"manager":"operator","time":"2026-03-01T09:00:01Z","fieldsV1":{"f:status":{}}}]},"status":{"PostgresClusterStatus":"Updating"}}"#,
                ),
                example(Failing, r#"{"metadata":{"generation":1},"status":{"PostgresClusterStatus":"CreateFailed"}}"#),
            ],
            ..Entry::NEW
        },
        Entry { fits: &[Fit::of("acid.zalan.do", &["OperatorConfiguration", "PostgresTeam"])], ..Entry::STATIC },
    ],
};

const WORD: &str = "status.PostgresClusterStatus";
