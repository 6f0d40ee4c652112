//! What is known and decided now: one immutable value, replaced whole; read by the probe, the metrics and the status.
//!
//! # How the shell fills this
//!
//! The loop of `run` builds one [`View`] after every step of the decision, and at least once per [`View::period`] even
//! where nothing changed: its age is the only proof that the loop still turns. It hands the view to
//! [`board::Board::publish`]. Whoever reads takes the whole value and computes nothing that is not in it.
//!
//! Times on the boot clock become wall times through [`View::wall_at`], by what both clocks showed when the view was
//! made. The first line of `/healthz` must not move with them: it is written once per decision by [`line::write`] and
//! kept in [`Verdict::line`].

pub mod beside;
pub mod board;
pub mod canary;
pub mod connections;
pub mod counts;
#[cfg(test)]
pub(crate) mod example;
pub mod histogram;
pub mod line;
pub mod nudge;
pub mod operator;
pub mod stream;

use std::time::Duration;

use jiff::Timestamp;

pub use crate::judge::connection::{Fault, Open};
pub use crate::judge::decision::{
    Container, Decision, Gate, Given, LEASE, Leadership, Mode, Outcome, Pod, Probe, Transition, Withheld,
};
pub use crate::judge::diagnosis::{Diagnosis, Evidence, Explanation, Hold};
pub use crate::judge::ledger::{Learnt, Regression};
pub use crate::judge::rule::RuleFrom;
pub use crate::judge::state::{Excuse, Moment, State};
pub use crate::judge::tick::Tick;
pub use beside::{MetricsEvidence, Peering, Rank, SeenMetrics, SeenPeering};
pub use canary::{CanaryProblem, SeenCanary};
pub use connections::Connections;
pub use counts::Counts;
pub use histogram::Histogram;
pub use nudge::{NudgeOutcome, SeenNudges};
pub use operator::{EventResult, Operator, OwnCheck, Restart, Restarts, Verdict};
pub use stream::{List, ListResult, Offender, Stale, Stream, Watch, WatchType};

/// A view older than so many periods says nothing any more: the loop that makes views has stopped.
const STALE_PERIODS: u32 = 3;

/// What is known and decided now.
#[derive(Debug, Clone, PartialEq)]
pub struct View {
    /// When it was made.
    pub made: Moment,
    /// The longest time from one view to the next while the loop turns.
    pub period: Duration,
    /// When dogwatch started.
    pub started: Moment,
    /// The API gate; there is one API server.
    pub gate: Gate,
    /// The configuration in force.
    pub config: Config,
    /// dogwatch's own tasks, except the listener: if that has ended, nobody asks.
    pub tasks: Vec<Task>,
    /// The operator beside us, or those that are observed. Empty until a configuration could be used.
    pub operators: Vec<Operator>,
}

/// The configuration in force.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Config {
    /// When the configuration that is in force was read.
    pub loaded: Option<Timestamp>,
    /// Why the newest one cannot be used, with path and line; absent while it is in force.
    pub problem: Option<String>,
    /// What of it is not done, and what is wrong beside; for people, a line each.
    pub warnings: Vec<String>,
}

/// One of dogwatch's own tasks.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Task {
    /// Its name: kebab-case, unique, and the same in every view.
    pub name: String,
    /// How it ended; absent while it lives.
    pub ended: Option<String>,
}

impl View {
    /// The view of a dogwatch that has only just started.
    pub fn starting(now: Moment, period: Duration) -> Self {
        Self {
            made: now,
            period,
            started: now,
            gate: Gate::Closed,
            config: Config::default(),
            tasks: Vec::new(),
            operators: Vec::new(),
        }
    }

    /// From when on the view says nothing any more.
    pub fn stale_at(&self) -> Tick {
        self.made.tick().after(self.period.saturating_mul(STALE_PERIODS))
    }

    /// Whether the view is too old at `now` to say anything.
    pub fn is_stale(&self, now: Tick) -> bool {
        now > self.stale_at()
    }

    /// The wall time of a point on the boot clock.
    pub fn wall_at(&self, tick: Tick) -> Timestamp {
        self.made.wall_at(tick)
    }

    /// The wall time of what [`Moment::elapsed`] counts.
    pub fn wall_of(&self, elapsed: Duration) -> Timestamp {
        self.wall_at(Moment { elapsed, ..self.made }.tick())
    }

    /// The operator of which a reader should hear first: one to be restarted, then the worst decision.
    pub fn worst(&self) -> Option<&Operator> {
        self.operators.iter().min_by_key(|operator| operator.rank())
    }
}
