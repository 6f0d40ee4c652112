//! prometheus-operator.
//!
//! The conditions `Reconciled` and `Available` carry the generation, which older operators left out. `Reconciled` is
//! stamped with the latest generation and the last known result, so it can be one reconciliation ahead. What is selected
//! by a Prometheus (monitors, rules) is answered in `status.bindings`, and only where a feature gate asks for it.

use super::engine::prelude::*;

/// The rule.
pub(super) static RULE: Ecosystem = Ecosystem {
    name: "prometheus-operator",
    project: Some("prometheus-operator"),
    about: "prometheus-operator (monitoring.coreos.com)",
    entries: &[
        Entry {
            fits: &[Fit::of(
                "monitoring.coreos.com",
                &["Prometheus", "PrometheusAgent", "Alertmanager", "ThanosRuler"],
            )],
            about: "Reconciled carries the generation.",
            paused: &[is_set("spec.paused")],
            pending: &[NEVER_IF_OTHERS, Owed::Change(When::Behind(RECONCILED))],
            failing: &[standing(has(RECONCILED.no().current()))],
            in_progress: &[
                standing(has(RECONCILED.is(&["Unknown"]).current())),
                standing(When::All(&[
                    has(RECONCILED.current()),
                    has(condition(&["Available"]).is(&["False", "Degraded"]).not_older()),
                ])),
            ],
            processed: &[has(RECONCILED.current())],
            finalizers: Finalizers::Some(Names { names: &[], domains: &["monitoring.coreos.com"] }),
            examples: &[
                example(
                    Processed,
                    r#"{"metadata":{"generation":2},"status":{"conditions":[{"type":"Reconciled","status":"True","observedGeneration":2}]}}"#,
                ),
                example(
                    Pending,
                    r#"{"metadata":{"generation":3},"status":{"conditions":[{"type":"Reconciled","status":"True","observedGeneration":2}]}}"#,
                ),
                example(
                    InProgress,
                    r#"{"metadata":{"generation":2},"status":{"conditions":[{"type":"Available","status":"Degraded","observedGeneration":2},{"type":"Reconciled","status":"True","observedGeneration":2}]}}"#,
                ),
                example(
                    Failing,
                    r#"{"metadata":{"generation":2},"status":{"conditions":[{"type":"Reconciled","status":"False","observedGeneration":2}]}}"#,
                ),
                example(
                    Paused,
                    r#"{"metadata":{"generation":3},"spec":{"paused":true},"status":{"conditions":[{"type":"Reconciled","status":"True","observedGeneration":2}]}}"#,
                ),
                example(
                    Unknown,
                    r#"{"metadata":{"generation":46},"status":{"conditions":[{"type":"Reconciled","status":"True"}]}}"#,
                ),
            ],
            ..Entry::NEW
        },
        Entry {
            fits: &[Fit::of(
                "monitoring.coreos.com",
                &["ServiceMonitor", "PodMonitor", "Probe", "PrometheusRule", "ScrapeConfig", "AlertmanagerConfig"],
            )],
            about: "Whoever selects the object answers in status.bindings, where a feature gate of the operator says so.",
            pending: &[Owed::Change(When::Behind(BINDINGS))],
            failing: &[standing(has(condition(&["Accepted"]).at("status.bindings.conditions").no().current()))],
            processed: &[has(BINDINGS.current())],
            conditions: "status.bindings.conditions",
            examples: &[
                example(
                    Processed,
                    r#"{"metadata":{"generation":2},"status":{"bindings":[{"conditions":[{"type":"Accepted","status":"True","observedGeneration":2}]}]}}"#,
                ),
                example(Unknown, r#"{"metadata":{"generation":2}}"#),
            ],
            ..Entry::NEW
        },
    ],
};

const RECONCILED: Condition = condition(&["Reconciled"]);
const BINDINGS: Condition = ANY.at("status.bindings.conditions");
