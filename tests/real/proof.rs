//! The proof: beside real operators dogwatch sees one go deaf, has it restarted, and sees it recover; and leaves
//! alone what a restart does not help.
//!
//! An operator talks to the real API server through a proxy that makes watches go silent; a small kubelet probes it,
//! restarts it and tells its Pod; dogwatch is the real binary.

#[path = "proof/basics.rs"]
mod basics;
#[path = "proof/broken.rs"]
mod broken;
#[path = "proof/deaf.rs"]
mod deaf;
#[path = "proof/healthy.rs"]
mod healthy;
#[path = "proof/kubelet.rs"]
mod kubelet;
#[path = "proof/make.rs"]
mod make;
#[path = "proof/operator.rs"]
mod operator;
#[path = "proof/operators.rs"]
mod operators;
#[path = "proof/play.rs"]
mod play;
#[path = "proof/pod.rs"]
mod pod;
#[path = "proof/proxy.rs"]
mod proxy;
#[path = "proof/record.rs"]
mod record;
#[path = "proof/row.rs"]
mod row;
#[path = "proof/rules.rs"]
mod rules;
#[path = "proof/scenario.rs"]
mod scenario;
#[path = "proof/sidecar.rs"]
mod sidecar;
#[path = "proof/stage.rs"]
pub(crate) mod stage;
#[path = "proof/stale.rs"]
mod stale;
#[path = "proof/table.rs"]
mod table;
#[path = "proof/tap.rs"]
mod tap;
#[path = "proof/verdict.rs"]
mod verdict;
#[path = "proof/web.rs"]
pub(crate) mod web;
