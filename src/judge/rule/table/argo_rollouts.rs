//! Argo Rollouts: rollouts, and the analyses and experiments that they start.
//!
//! `status.observedGeneration` is a text, and up to version 0.9 a hash, which says nothing. A pause that a person asks
//! for stands in `spec.paused`; one that a canary step asks for is the phase `Paused`, by which the controller waits as
//! it was told. Analyses and experiments run once, so their phase is enough.

use super::engine::prelude::*;

/// The rule.
pub(super) static RULE: Ecosystem = Ecosystem {
    name: "argo-rollouts",
    project: Some("argo-rollouts"),
    about: "Argo Rollouts (argo-rollouts.readthedocs.io)",
    entries: &[
        Entry {
            fits: &[Fit::of("argoproj.io", &["Rollout"]), Fit::of("spot.io", &["SpotDeployment"])],
            about: "status.observedGeneration, a number in a text; status.phase says how the rollout goes.",
            paused: &[is_set("spec.paused")],
            pending: &[NEVER, CHANGED],
            failing: &[
                standing(When::All(&[CURRENT, has(condition(&["InvalidSpec"]).yes())])),
                standing(When::All(&[CURRENT, is("status.phase", &["Degraded"])])),
                standing(When::All(&[CURRENT, is_set("status.abort")])),
            ],
            in_progress: &[standing(When::All(&[CURRENT, is("status.phase", &["Progressing", "Paused"])]))],
            processed: &[CURRENT],
            tokens: &[OBSERVED],
            examples: &[
                example(
                    Processed,
                    r#"{"metadata":{"generation":3},"status":{"observedGeneration":"3","phase":"Healthy"}}"#,
                ),
                example(
                    Pending,
                    r#"{"metadata":{"generation":3},"status":{"observedGeneration":"2","phase":"Healthy"}}"#,
                ),
                example(
                    InProgress,
                    r#"{"metadata":{"generation":3},"status":{"observedGeneration":"3","phase":"Paused"}}"#,
                ),
                example(
                    Failing,
                    r#"{"metadata":{"generation":3},"status":{"observedGeneration":"3","phase":"Degraded"}}"#,
                ),
                example(Unknown, r#"{"metadata":{"generation":3},"status":{"observedGeneration":"c45557fd9"}}"#),
                example(
                    Paused,
                    r#"{"metadata":{"generation":3},"spec":{"paused":true},"status":{"observedGeneration":"2"}}"#,
                ),
            ],
            ..Entry::NEW
        },
        Entry {
            fits: &[Fit::of("argoproj.io", &["AnalysisRun", "Experiment"])],
            about: "Runs once: no phase before it was picked up, and a final one at its end.",
            pending: &[
                NEVER,
                Owed::Never(When::Field("status.phase", Value::Missing)),
                Owed::Change(When::All(&[is_set("spec.terminate"), is("status.phase", RUNNING)])),
            ],
            failing: &[standing(is("status.phase", &["Failed", "Error"]))],
            in_progress: &[standing(is("status.phase", RUNNING))],
            processed: &[is("status.phase", &["Successful", "Inconclusive"])],
            tokens: &["status.phase"],
            examples: &[
                example(Pending, r#"{"metadata":{},"spec":{"metrics":[]}}"#),
                example(Processed, r#"{"metadata":{},"status":{"phase":"Inconclusive"}}"#),
            ],
            ..Entry::NEW
        },
        Entry { fits: &[Fit::of("argoproj.io", &["AnalysisTemplate", "ClusterAnalysisTemplate"])], ..Entry::STATIC },
    ],
};

const RUNNING: &[&str] = &["Running", "Pending"];
