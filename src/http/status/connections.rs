//! The operator's TCP connections in `/status`.

use serde::Serialize;

use super::Scene;
use crate::view::{Connections, Fault};

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct Entry<'v> {
    /// Why they cannot be seen; absent while they can.
    unavailable: Option<&'v str>,
    last_receive: Option<String>,
    /// What is wrong with any of them; that nothing is says nothing.
    evidence: Vec<&'static str>,
    open: Vec<OpenEntry>,
    left_out: u64,
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct OpenEntry {
    local: String,
    peer: String,
    state: &'static str,
    last_receive: Option<String>,
    receive_queue_bytes: u32,
    send_queue_bytes: u32,
    retransmits: u8,
    evidence: Option<&'static str>,
}

pub(super) fn entry<'v>(scene: Scene<'_>, connections: &'v Connections) -> Entry<'v> {
    let open = connections.open.iter().map(|open| OpenEntry {
        local: open.local.to_string(),
        peer: open.peer.to_string(),
        state: open.phase.as_str(),
        last_receive: scene.maybe_at(open.received),
        receive_queue_bytes: open.receive_queue,
        send_queue_bytes: open.send_queue,
        retransmits: open.retransmits,
        evidence: open.fault().map(Fault::as_str),
    });
    Entry {
        unavailable: connections.problem.as_deref(),
        last_receive: scene.maybe_at(connections.last_receive),
        evidence: connections.faults.iter().map(|fault| fault.as_str()).collect(),
        open: open.collect(),
        left_out: connections.left_out,
    }
}
