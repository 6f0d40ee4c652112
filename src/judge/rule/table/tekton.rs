//! Tekton: runs of tasks and pipelines.
//!
//! A run happens once: without conditions nobody has picked it up, and `Succeeded` turns from `Unknown` to a final word.
//! A request to cancel stands in `spec.status` while `Succeeded` is still `Unknown`; the same field holds a run back.

use super::engine::prelude::*;

/// The rule.
pub(super) static RULE: Ecosystem = Ecosystem {
    name: "tekton",
    project: Some("tekton"),
    about: "Tekton Pipelines (tekton.dev)",
    entries: &[
        Entry {
            fits: &[Fit::of("tekton.dev", &["TaskRun", "PipelineRun"])],
            pending: &[
                NEVER_A_CONDITION,
                // The other two words for a cancellation let what runs come to its end.
                Owed::Change(When::All(&[
                    is("spec.status", &["Cancelled", "TaskRunCancelled", "PipelineRunCancelled"]),
                    has(SUCCEEDED.is(&["Unknown"])),
                ])),
            ],
            examples: &[
                example(Pending, r#"{"metadata":{"generation":1},"spec":{}}"#),
                example(
                    Pending,
                    r#"{"metadata":{"generation":2},"spec":{"status":"Cancelled"},"status":{"conditions":[{"type":"Succeeded","status":"Unknown"}]}}"#,
                ),
                example(
                    InProgress,
                    r#"{"metadata":{"generation":1},"status":{"conditions":[{"type":"Succeeded","status":"Unknown"}]}}"#,
                ),
                example(
                    Failing,
                    r#"{"metadata":{"generation":1},"status":{"conditions":[{"type":"Succeeded","status":"False"}]}}"#,
                ),
                example(
                    Processed,
                    r#"{"metadata":{"generation":1},"status":{"conditions":[{"type":"Succeeded","status":"True"}]}}"#,
                ),
                example(Paused, r#"{"metadata":{"generation":1},"spec":{"status":"PipelineRunPending"}}"#),
            ],
            ..RUN
        },
        Entry {
            fits: &[Fit::of("tekton.dev", &["CustomRun", "Run"])],
            about: "Runs once, by whichever controller its reference names; Tekton itself does not.",
            pending: &[Owed::NeverIfOthers(NO_CONDITIONS)],
            ..RUN
        },
        Entry {
            fits: &[
                Fit::of("tekton.dev", &["Task", "ClusterTask", "Pipeline", "StepAction", "VerificationPolicy"]),
                Fit::of(
                    "triggers.tekton.dev",
                    &["Trigger", "TriggerBinding", "ClusterTriggerBinding", "TriggerTemplate"],
                ),
            ],
            ..Entry::STATIC
        },
    ],
};

const SUCCEEDED: Condition = condition(&["Succeeded"]);

const RUN: Entry = Entry {
    about: "Runs once: no condition before it was picked up; Succeeded is Unknown while it runs.",
    paused: &[is("spec.status", &["PipelineRunPending"])],
    failing: &[standing(has(SUCCEEDED.no()))],
    in_progress: &[standing(has(SUCCEEDED.is(&["Unknown"])))],
    processed: &[has(SUCCEEDED.yes())],
    ..Entry::NEW
};
