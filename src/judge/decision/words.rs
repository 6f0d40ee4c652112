//! The words of a decision.

use crate::judge::state::words;

words! {
    /// What the sidecar has decided.
    Decision {
        /// Not everything was seen yet.
        Starting = "starting",
        /// Nothing to do.
        Watching = "watching",
        /// A stream is asleep; it is being confirmed.
        Suspect = "suspect",
        /// A restart is requested: `/healthz` answers 500.
        Restarting = "restarting",
        /// The restart has happened or must be about to; its outcome is awaited.
        Recovering = "recovering",
        /// A restart is due and the budget does not allow it.
        Exhausted = "exhausted",
        /// Another replica leads.
        Standby = "standby",
        /// Nothing can be seen.
        Blind = "blind",
    }
}

words! {
    /// What came of a restart.
    Outcome {
        /// The new container acknowledged.
        Cured = "cured",
        /// The new container acknowledged nothing.
        Fruitless = "fruitless",
        /// The container was not restarted.
        NotSeen = "not-seen",
        /// Called back before the kubelet acted.
        Cancelled = "cancelled",
    }
}

words! {
    /// Why a restart that is due is not requested.
    Withheld {
        /// `restart.mode` is `observe`.
        Observe = "observe",
        /// No processed object was ever seen under the present rule.
        NoProof = "no-proof",
        /// An object is in progress and its marker moved a short time ago.
        WorkInFlight = "work-in-flight",
    }
}

words! {
    /// Why nothing can be seen.
    Blindness {
        /// The API gate is closed.
        GateClosed = "gate-closed",
        /// No stream can be judged.
        NoStream = "no-stream",
        /// The lease cannot be read.
        LeaseUnreadable = "lease-unreadable",
        /// The peering object cannot be read.
        PeeringUnreadable = "peering-unreadable",
        /// A task of dogwatch has ended.
        TaskEnded = "task-ended",
    }
}

words! {
    /// Reasons of Events on the Pod.
    EventReason {
        /// A stream is asleep and being confirmed.
        OperatorSuspect = "OperatorSuspect",
        /// A restart is requested.
        OperatorAsleep = "OperatorAsleep",
        /// The kubelet has restarted the operator, or must be about to.
        OperatorRestarted = "OperatorRestarted",
        /// The stream is no longer suspected, or acknowledges again.
        OperatorRecovered = "OperatorRecovered",
        /// The restart was not seen, or nothing was acknowledged after it.
        RestartHadNoEffect = "RestartHadNoEffect",
        /// A restart is due and the budget does not allow it.
        RestartBudgetExhausted = "RestartBudgetExhausted",
        /// The API server's side is at fault.
        ServerStale = "ServerStale",
        /// Nothing can be seen.
        Blind = "Blind",
    }
}
