//! Argo Workflows.
//!
//! A workflow runs once, so its phase is enough; its CRD has no status subresource. A workflow that waits for a lock or
//! for room is `Pending` by its own word. A request to stop stands in the spec until the phase is final. A cron workflow
//! has its status written only when it starts one, so nothing can be told but that its schedule is invalid.

use super::engine::prelude::*;

/// The rule.
pub(super) static RULE: Ecosystem = Ecosystem {
    name: "argo-workflows",
    project: Some("argo-workflows"),
    about: "Argo Workflows (argo-workflows.readthedocs.io)",
    entries: &[
        Entry {
            fits: &[Fit::of("argoproj.io", &["Workflow"])],
            about: "Runs once: no phase before it was picked up, and a final one at its end.",
            paused: &[When::All(&[is_set("spec.suspend"), When::Not(&is("status.phase", FINAL))])],
            pending: &[
                NEVER,
                Owed::Never(When::Field("status.phase", Value::Missing)),
                Owed::Change(When::All(&[
                    When::Not(&When::Field("spec.shutdown", Value::Missing)),
                    is("status.phase", RUNNING),
                ])),
            ],
            failing: &[standing(is("status.phase", &["Failed", "Error"]))],
            in_progress: &[standing(is("status.phase", RUNNING))],
            processed: &[is("status.phase", &["Succeeded"])],
            tokens: &["status.phase"],
            desired: &["spec.shutdown", "spec.suspend"],
            examples: &[
                example(Pending, r#"{"metadata":{},"spec":{"entrypoint":"main"}}"#),
                example(Pending, r#"{"metadata":{},"spec":{"shutdown":"Stop"},"status":{"phase":"Running"}}"#),
                example(InProgress, r#"{"metadata":{},"status":{"phase":"Running"}}"#),
                example(Paused, r#"{"metadata":{},"spec":{"suspend":true},"status":{"phase":"Running"}}"#),
                example(Failing, r#"{"metadata":{},"status":{"phase":"Error"}}"#),
                example(Processed, r#"{"metadata":{},"spec":{"suspend":true},"status":{"phase":"Succeeded"}}"#),
            ],
            ..Entry::NEW
        },
        Entry {
            fits: &[Fit::of("argoproj.io", &["CronWorkflow"])],
            about: "The status is written when a workflow is started, not when the spec was read.",
            paused: &[is_set("spec.suspend")],
            failing: &[standing(has(condition(&["SpecError", "SubmissionError"]).yes()))],
            examples: &[
                example(Failing, r#"{"metadata":{},"status":{"conditions":[{"type":"SpecError","status":"True"}]}}"#),
                example(Unknown, r#"{"metadata":{},"spec":{"schedule":"* * * * *"}}"#),
            ],
            ..Entry::NEW
        },
        Entry {
            fits: &[Fit::of(
                "argoproj.io",
                &[
                    "WorkflowTemplate",
                    "ClusterWorkflowTemplate",
                    "WorkflowTaskResult",
                    "WorkflowTaskSet",
                    "WorkflowArtifactGCTask",
                    "WorkflowEventBinding",
                ],
            )],
            ..Entry::STATIC
        },
    ],
};

const FINAL: &[&str] = &["Succeeded", "Failed", "Error"];
const RUNNING: &[&str] = &["Running", "Pending"];
