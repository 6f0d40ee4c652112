//! KubeVirt and its importer of disks.
//!
//! A virtual machine's `status.observedGeneration` is that with which the running instance was started, and lags until
//! it is started again; `status.desiredGeneration` is the one that was seen. Instances, migrations and imports go through
//! phases, and their spec does not change. The condition `Paused` is a guest that a person has paused.

use super::engine::prelude::*;

/// The rule.
pub(super) static RULE: Ecosystem = Ecosystem {
    name: "kubevirt",
    project: Some("kubevirt"),
    about: "KubeVirt and its Containerized Data Importer (kubevirt.io)",
    entries: &[
        Entry {
            fits: &[Fit::of("kubevirt.io", &["VirtualMachine"])],
            about: "status.desiredGeneration is the generation that was seen; observedGeneration is that of the running \
                    instance.",
            paused: &[has(condition(&["Paused"]).yes())],
            pending: &[NEVER, Owed::Change(When::Below(SEEN_HERE))],
            failing: &[standing(When::All(&[When::Current(SEEN_HERE), has(condition(&["Failure"]).yes())]))],
            processed: &[When::Current(SEEN_HERE)],
            tokens: &[SEEN_HERE],
            finalizers: FINALIZERS,
            examples: &[
                example(
                    Processed,
                    r#"{"metadata":{"generation":3},"status":{"observedGeneration":2,"desiredGeneration":3}}"#,
                ),
                example(
                    Pending,
                    r#"{"metadata":{"generation":4},"status":{"observedGeneration":2,"desiredGeneration":3}}"#,
                ),
                example(Unknown, r#"{"metadata":{"generation":4},"status":{"ready":true}}"#),
            ],
            ..Entry::NEW
        },
        Entry {
            fits: &[
                Fit::of("kubevirt.io", &["VirtualMachineInstance", "VirtualMachineInstanceMigration"]),
                Fit::of("cdi.kubevirt.io", &["DataVolume"]),
            ],
            about: "Goes through phases once; there is none before it was picked up.",
            paused: &[has(condition(&["Paused"]).yes())],
            pending: &[NEVER, Owed::Never(When::Field("status.phase", Value::Missing))],
            failing: &[standing(is("status.phase", &["Failed"]))],
            in_progress: &[standing(When::Not(&When::Any(&[
                When::Field("status.phase", Value::Missing),
                is("status.phase", DONE),
            ])))],
            processed: &[is("status.phase", DONE)],
            tokens: &["status.phase"],
            finalizers: FINALIZERS,
            examples: &[
                example(Processed, r#"{"metadata":{},"status":{"phase":"Running"}}"#),
                example(InProgress, r#"{"metadata":{},"status":{"phase":"ImportInProgress"}}"#),
                example(Pending, r#"{"metadata":{}}"#),
                example(Failing, r#"{"metadata":{},"status":{"phase":"Failed"}}"#),
                example(
                    Paused,
                    r#"{"metadata":{},"status":{"phase":"Running","conditions":[{"type":"Paused","status":"True"}]}}"#,
                ),
            ],
            ..Entry::NEW
        },
        Entry {
            fits: &[Fit::of(
                "instancetype.kubevirt.io",
                &[
                    "VirtualMachineInstancetype",
                    "VirtualMachineClusterInstancetype",
                    "VirtualMachinePreference",
                    "VirtualMachineClusterPreference",
                ],
            )],
            ..Entry::STATIC
        },
    ],
};

const SEEN_HERE: &str = "status.desiredGeneration";
const DONE: &[&str] = &["Succeeded", "Running"];
const FINALIZERS: Finalizers =
    Finalizers::All(Names { names: &["foregroundDeleteVirtualMachine"], domains: &["kubevirt.io"] });
