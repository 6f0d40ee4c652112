//! Operator Lifecycle Manager, the first version: subscriptions and what comes of them.
//!
//! Nothing carries a generation. A subscription's `state` is empty until it is read; its conditions are flags of
//! trouble, so `True` is bad. Install plans and cluster service versions are replaced and not edited, so their phase is
//! enough. A plan that waits for approval waits for a person.

use super::engine::prelude::*;

/// The rule.
pub(super) static RULE: Ecosystem = Ecosystem {
    name: "olm",
    project: Some("olm"),
    about: "Operator Lifecycle Manager (olm.operatorframework.io)",
    entries: &[
        Entry {
            fits: &[Fit::of("operators.coreos.com", &["Subscription"])],
            about: "status.state is a word without a generation; managedFields tell whether it speaks of the latest spec.",
            paused: &[When::All(&[
                is("spec.installPlanApproval", &["Manual"]),
                has(condition(&["InstallPlanPending"]).yes().because(&["RequiresApproval"])),
            ])],
            pending: &[
                NEVER,
                Owed::Never(When::All(&[When::Field("status.state", Value::Missing), When::Not(&TROUBLE)])),
            ],
            failing: &[standing(is("status.state", &["UpgradeFailed"])), standing(TROUBLE)],
            in_progress: &[standing(is("status.state", &["UpgradeAvailable", "UpgradePending"]))],
            processed: &[When::All(&[SEEN, is("status.state", &["AtLatestKnown"])])],
            tokens: &["status.state", "status.installedCSV", "status.installPlanGeneration"],
            examples: &[
                example(Processed, r#"{"metadata":{"generation":1},"status":{"state":"AtLatestKnown"}}"#),
                example(Pending, r#"{"metadata":{"generation":1},"status":{"lastUpdated":"2026-03-01T11:00:00Z"}}"#),
                example(
                    Failing,
                    r#"{"metadata":{"generation":1},"status":{"conditions":[{"type":"ResolutionFailed","status":"True"}]}}"#,
                ),
                example(InProgress, r#"{"metadata":{"generation":1},"status":{"state":"UpgradePending"}}"#),
                example(
                    Paused,
                    r#"{"metadata":{"generation":1},"spec":{"installPlanApproval":"Manual"},"status":{"state":"UpgradePending","conditions":[{"type":"InstallPlanPending","status":"True","reason":"RequiresApproval"}]}}"#,
                ),
            ],
            ..Entry::NEW
        },
        Entry {
            fits: &[Fit::of("operators.coreos.com", &["ClusterServiceVersion", "InstallPlan"])],
            about: "Made once: no phase before it was picked up, and a final one at its end.",
            paused: &[When::All(&[When::Field("spec.approved", Value::No), is("status.phase", &["RequiresApproval"])])],
            pending: &[
                NEVER,
                Owed::Never(When::All(&[
                    When::Any(&[When::Field("status.phase", Value::Missing), is("status.phase", &["None"])]),
                    When::Field(USUAL, Value::Missing),
                ])),
            ],
            failing: &[standing(is("status.phase", &["Failed"]))],
            in_progress: &[standing(is(
                "status.phase",
                &["Pending", "InstallReady", "Installing", "Replacing", "Deleting", "Planning", "RequiresApproval"],
            ))],
            processed: &[is("status.phase", &["Succeeded", "Complete"])],
            tokens: &["status.phase"],
            finalizers: Finalizers::Some(Names { names: &[], domains: &["operators.coreos.com"] }),
            examples: &[
                example(Processed, r#"{"metadata":{"generation":1},"status":{"phase":"Complete"}}"#),
                example(Unknown, r#"{"metadata":{},"status":{"conditions":[{"reason":"AllRequirementsMet"}]}}"#),
                example(InProgress, r#"{"metadata":{},"status":{"phase":"Installing"}}"#),
            ],
            ..Entry::NEW
        },
        Entry { fits: &[Fit::of("operators.coreos.com", &["OperatorCondition", "OLMConfig"])], ..Entry::STATIC },
    ],
};

const TROUBLE: When =
    has(condition(&["InstallPlanFailed", "ResolutionFailed", "CatalogSourcesUnhealthy", "BundleUnpackFailed"]).yes());
