//! Holds: time in which silence does not run, because nobody can expect an acknowledgement or see one.

use crate::judge::state::words;
use crate::judge::tick::Tick;

words! {
    /// Why silence does not run.
    Hold {
        /// dogwatch has not seen everything yet.
        Starting = "starting",
        /// The stream's rule or selector changed and was not listed since.
        Reloaded = "reloaded",
        /// The newest complete list is older than three intervals.
        ListNotFresh = "list-not-fresh",
        /// The API server does not answer reliably.
        GateClosed = "gate-closed",
        /// The operator's container does not run.
        NotRunning = "not-running",
        /// The operator's container has only just started.
        Grace = "grace",
        /// Another replica leads, or none.
        NotLeader = "not-leader",
        /// This replica leads only since a moment ago.
        NewLeader = "new-leader",
        /// Nobody can see who leads.
        LeaseUnreadable = "lease-unreadable",
        /// The operator is paused by its peering.
        Paused = "paused",
        /// Nobody can see whether it is.
        PeeringUnreadable = "peering-unreadable",
        /// The Pod is being deleted.
        Terminating = "terminating",
        /// A part of dogwatch has ended.
        TaskEnded = "task-ended",
    }
}

/// When a set of holds ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(in crate::judge) enum HoldEnd {
    Held,
    Ended(Tick),
    /// There never was one.
    Never,
}

impl HoldEnd {
    pub(in crate::judge) fn update(&mut self, is_held: bool, now: Tick) {
        *self = match (is_held, *self) {
            (true, _) => Self::Held,
            (false, Self::Held) => Self::Ended(now),
            (false, ended) => ended,
        };
    }

    /// The end of the last hold; now if one is on.
    pub(in crate::judge) fn at(self, now: Tick) -> Option<Tick> {
        match self {
            Self::Held => Some(now),
            Self::Ended(at) => Some(at),
            Self::Never => None,
        }
    }
}
