//! Operators built with the Ansible operator of the Operator SDK.
//!
//! The condition `Running` has the reason `Running` while a playbook runs and `Successful` at its end; then `Successful`
//! or `Failure` is `True`. A type may stand twice in the list. Nothing carries a generation, so managedFields have to
//! tell. A playbook that puts itself off leaves `Running` for ever, and an operator can be told to write no status. The
//! project is the user's, so the rule is chosen by the field `ansibleResult`, which nothing else writes, or by groups
//! that are known.

use super::engine::prelude::*;

/// The rule.
pub(super) static RULE: Ecosystem = Ecosystem {
    name: "ansible-operator",
    project: None,
    about: "operators built with the Ansible operator of the Operator SDK",
    entries: &[
        Entry {
            fits: &[],
            pending: &[Owed::NeverIfOthers(NO_CONDITIONS)],
            examples: &[
                example(
                    Processed,
                    r#"{"metadata":{"generation":1},"status":{"conditions":[{"type":"Running","status":"True","reason":"Successful"}]}}"#,
                ),
                example(
                    InProgress,
                    r#"{"metadata":{"generation":1},"status":{"conditions":[{"type":"Running","status":"True","reason":"Running"}]}}"#,
                ),
                example(
                    Failing,
                    r#"{"metadata":{"generation":1},"status":{"conditions":[{"type":"Failure","status":"False"},{"type":"Failure","status":"True"}]}}"#,
                ),
                example(
                    Unknown,
                    r#"{"metadata":{"generation":2},"status":{"conditions":[{"type":"Running","status":"True","reason":"Successful"}]}}"#,
                ),
            ],
            ..PLAYBOOK
        },
        Entry {
            fits: &[
                Fit::of("kiali.io", &["Kiali", "OSSMConsole"]),
                Fit::all("awx.ansible.com"),
                Fit::all("eda.ansible.com"),
                Fit::of("forklift.konveyor.io", &["ForkliftController"]),
            ],
            pending: &[NEVER_A_CONDITION],
            examples: &[example(Pending, r#"{"metadata":{"generation":1}}"#)],
            ..PLAYBOOK
        },
    ],
};

const RUNNING: Condition = condition(&["Running"]).yes();

const PLAYBOOK: Entry = Entry {
    about: "The conditions carry no generation; managedFields tell whether they speak of the latest spec.",
    failing: &[standing(When::All(&[SEEN, has(condition(&["Failure"]).yes())]))],
    in_progress: &[standing(has(RUNNING.because(&["Running"])))],
    processed: &[When::All(&[
        SEEN,
        When::Any(&[has(condition(&["Successful"]).yes()), has(RUNNING.because(&["Successful"]))]),
    ])],
    durations: minutes(10, 30, 30),
    ..Entry::NEW
};
