//! What the shell hands to one step of the decision.

use std::time::Duration;

use super::Budget;
use crate::judge::connection::Reception;
use crate::judge::tick::Tick;

/// `restart` of the configuration, as far as it is the same for all streams.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Policy {
    /// `restart.confirm`.
    pub confirm: Duration,
    /// `restart.grace`.
    pub grace: Duration,
    /// `restart.budget`.
    pub budget: Budget,
}

/// `restart.mode`, or what the Pod's annotation `dogwatch/mode` says instead.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Mode {
    /// Restarts are requested.
    Enforce,
    /// Everything but the 500.
    Observe,
}

/// Whether the API server answers reliably, see section "Observing" of the design: three answers in a row open the gate,
/// three failures close it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Gate {
    /// It does.
    Open,
    /// It does not, or never did so far.
    Closed,
}

/// Who leads.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Leadership {
    /// No lease is configured.
    NotNeeded,
    /// The lease could not be read. Unknown is neither yes nor no.
    Unreadable,
    /// The lease has another holder, or none.
    Elsewhere,
    /// The lease is ours by name, renewed or not.
    Ours {
        /// Changes its value whenever the lease is renewed, as a fingerprint of `renewTime` does.
        renewal: u64,
        /// `leaseDurationSeconds`.
        duration: Duration,
    },
}

/// Whether a kopf operator waits for a peer.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Peering {
    /// No peering is configured.
    NotNeeded,
    /// The peering object could not be read, or is not there. Unknown is neither yes nor no.
    Unreadable,
    /// No live peer of higher or the same priority.
    Free,
    /// There is one, and the operator handles nothing.
    Paused,
}

/// The operator's container.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Container {
    /// `containerID`; another value is another life.
    pub id: String,
    /// Whether `state` is `running`.
    pub is_running: bool,
    /// `startedAt` on the boot clock. The kubelet writes it by this machine's clock, not by the API server's; convert it
    /// once per id, so that a jump of the clock does not move it.
    pub started: Tick,
}

/// The own Pod.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Pod {
    /// There is none: the operator runs elsewhere and is only observed.
    Elsewhere,
    /// It was never read.
    Unread,
    /// As last read.
    Read {
        /// The operator's container; absent where it has no status yet.
        container: Option<Container>,
        /// Whether `metadata.deletionTimestamp` is set.
        is_terminating: bool,
    },
}

/// The operator's liveness probe.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Probe {
    /// `periodSeconds`.
    pub period: Duration,
    /// `failureThreshold`.
    pub failure_threshold: u32,
    /// `terminationGracePeriodSeconds` of the probe or the Pod.
    pub termination_grace: Duration,
}

impl Default for Probe {
    /// What Kubernetes takes where nothing is written.
    fn default() -> Self {
        Self { period: Duration::from_secs(10), failure_threshold: 3, termination_grace: Duration::from_secs(30) }
    }
}

/// Answers 500 in a row to requests whose User-Agent begins with `kube-probe/` or `dogwatch-probe/`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Given {
    /// [`super::Step::since`] of the `restarting` that they were given for; others are not counted.
    pub since: Tick,
    /// How many.
    pub in_a_row: u32,
}

/// One round of reading the oldest candidates of the suspected stream again, one by one, by GET.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Reread {
    /// The stream.
    pub stream: String,
    /// When the round began.
    pub began: Tick,
    /// Every candidate that could be read is as the ledger has it, and at least one could be read. A round in which
    /// nothing could be read is none.
    pub agrees: bool,
}

/// Everything beside the streams that decides, as it is now.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Inputs {
    /// Observe or enforce.
    pub mode: Mode,
    /// The API gate.
    pub gate: Gate,
    /// The lease.
    pub leadership: Leadership,
    /// The own Pod.
    pub pod: Pod,
    /// The probe's numbers; absent where neither the Pod nor the configuration tells.
    pub probe: Option<Probe>,
    /// The peering.
    pub peering: Peering,
    /// Whether a task of dogwatch has ended.
    pub has_ended_task: bool,
    /// What the operator's connections tell.
    pub reception: Reception,
    /// The 500s that probes were given; absent while none was.
    pub given: Option<Given>,
    /// A round of re-reads that ended since the last step.
    pub reread: Option<Reread>,
    /// A random part of `restart.jitter`, drawn anew for every step; a suspicion keeps the one it began with.
    pub jitter: Duration,
}
