//! What is known of one operator and decided about it.

use std::time::Duration;

use jiff::Timestamp;

use super::{
    Connections, Counts, Decision, Explanation, Hold, Leadership, Mode, Moment, Offender, Outcome, Pod, Probe,
    SeenMetrics, SeenNudges, SeenPeering, Stream, Tick, Transition, View, Withheld,
};
use crate::judge::decision::Step;
use crate::judge::diagnosis::OFFENDERS;
use crate::judge::state::words;

/// At most so many restarts are kept in [`Restarts::history`].
pub const HISTORY: usize = 20;

/// What is known of one operator and decided about it.
#[derive(Debug, Clone, PartialEq)]
pub struct Operator {
    /// `operator.name`, the label of every metric.
    pub name: String,
    /// What was decided.
    pub verdict: Verdict,
    /// What is watched, in the order of the configuration.
    pub streams: Vec<Stream>,
    /// The lease as a stream, if it is ours: the explanation of that name that [`Step::streams`] ends with.
    pub lease: Option<Explanation>,
    /// `restart.mode`, or what the Pod's annotation says instead.
    pub mode: Mode,
    /// Who leads.
    pub leadership: Leadership,
    /// The own Pod and the operator's container.
    pub pod: Pod,
    /// The numbers of the operator's liveness probe; absent where neither the Pod nor the configuration tells.
    pub probe: Option<Probe>,
    /// The operator's own check; absent where none is configured.
    pub own_check: Option<OwnCheck>,
    /// The peering; absent where none is configured.
    pub peering: Option<SeenPeering>,
    /// The operator's own metrics; absent where none are configured.
    pub metrics: Option<SeenMetrics>,
    /// Nudges; absent where they are not enabled.
    pub nudges: Option<SeenNudges>,
    /// Restarts that were requested, and what came of them.
    pub restarts: Restarts,
    /// Its TCP connections to the API server.
    pub connections: Connections,
    /// Events on the Pod, by what became of them.
    pub events: Counts<EventResult>,
}

/// What was decided, and until when.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Verdict {
    /// The decision in force.
    pub decision: Decision,
    /// Since when, on the boot clock; tells one `restarting` from another.
    pub since: Tick,
    /// When it was taken, on both clocks. The wall time stays what it was then.
    pub at: Moment,
    /// The row that led to it; absent before the first.
    pub by: Option<Transition>,
    /// The name of the stream that it is about.
    pub subject: Option<String>,
    /// Whether `/healthz` answers 500.
    pub is_failing: bool,
    /// The first line of `/healthz`, see [`super::line::write`].
    pub line: String,
    /// Holds of the whole operator.
    pub holds: Vec<Hold>,
    /// Restarts that the budget still allows within its window.
    pub budget_remaining: u32,
    /// When something can change without a new observation, as [`Moment::elapsed`] counts.
    pub changes_at: Option<Duration>,
}

impl Verdict {
    /// What `step` decided. `line` is the first line that was written when its decision was taken.
    pub fn of(step: &Step, line: impl Into<String>) -> Self {
        Self {
            decision: step.decision,
            since: step.since,
            at: step.headline.at,
            by: step.headline.by,
            subject: step.subject.clone(),
            is_failing: step.is_failing,
            line: line.into(),
            holds: step.holds.clone(),
            budget_remaining: step.budget_remaining,
            changes_at: step.changes_at,
        }
    }
}

/// The operator's own check, `operator.healthz`.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct OwnCheck {
    /// When it began to count as failed: `failureThreshold` failures in a row, the container's start and initialDelay
    /// past. Absent while it does not; then `/healthz` does not fail for it.
    pub failed: Option<Timestamp>,
    /// Failures in a row, now.
    pub in_a_row: u32,
    /// What the newest failure was, in one line without a query of the URL.
    pub problem: Option<String>,
    /// Failures since dogwatch started.
    pub failures: u64,
}

/// Restarts since dogwatch started; the budget reaches further back.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Restarts {
    /// How many were requested.
    pub requested: u64,
    /// How many came to which outcome.
    pub outcomes: Counts<Outcome>,
    /// How many were due and withheld, by reason.
    pub withheld: Counts<Withheld>,
    /// When the last one was requested, also by an earlier life of the state file.
    pub last: Option<Timestamp>,
    /// The newest, newest first, at most [`HISTORY`].
    pub history: Vec<Restart>,
}

/// One restart.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Restart {
    /// The stream that it is for.
    pub stream: String,
    /// When it was requested.
    pub requested: Timestamp,
    /// What came of it, and when; absent until then.
    pub outcome: Option<(Outcome, Timestamp)>,
}

words! {
    /// What became of an Event.
    EventResult {
        /// The API server took it.
        Sent = "sent",
        /// The credentials do not allow it.
        Forbidden = "forbidden",
        /// Anything else; it was not sent again.
        Failed = "failed",
    }
}

impl Operator {
    /// Where the operator stands when the worst comes first: one to be restarted, then the worst decision.
    pub(super) fn rank(&self) -> (bool, usize) {
        const WORST_FIRST: [Decision; 8] = [
            Decision::Restarting,
            Decision::Exhausted,
            Decision::Suspect,
            Decision::Blind,
            Decision::Recovering,
            Decision::Starting,
            Decision::Standby,
            Decision::Watching,
        ];
        let place = WORST_FIRST.iter().position(|decision| *decision == self.verdict.decision);
        (!self.is_failing(), place.unwrap_or(WORST_FIRST.len()))
    }

    /// The decision in force and since when; [`Decision::Blind`] once the view is too old to say anything.
    pub fn decision(&self, view: &View, is_stale: bool) -> (Decision, Timestamp) {
        if is_stale {
            (Decision::Blind, view.wall_at(view.stale_at()))
        } else {
            (self.verdict.decision, self.verdict.at.wall)
        }
    }

    /// Whether `/healthz` must answer 500 for it, as long as the view is fresh.
    pub fn is_failing(&self) -> bool {
        self.verdict.is_failing || self.has_failed_check()
    }

    fn has_failed_check(&self) -> bool {
        self.own_check.as_ref().is_some_and(|check| check.failed.is_some())
    }

    /// The oldest overdue objects, oldest first, at most [`OFFENDERS`], each with the position of its stream.
    pub fn offenders(&self) -> Vec<(usize, &Offender)> {
        let mut offenders: Vec<_> = self
            .streams
            .iter()
            .enumerate()
            .flat_map(|(position, stream)| stream.offenders.iter().map(move |offender| (position, offender)))
            .collect();
        offenders.sort_by_key(|(_, offender)| offender.since);
        offenders.truncate(OFFENDERS);
        offenders
    }
}
