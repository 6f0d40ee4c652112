//! Whether the operator is restarted: a state machine over the streams of one operator.
//!
//! # How the shell drives this
//!
//! One [`Decider`] per operator, made by [`Decider::new`] or, if there is a state file, by [`Decider::restore`], which
//! also fills the streams; [`Decider::claim`] fills those that are found later. Then, in one place and one at a time:
//!
//! 1. feed the ledgers (see [`super::ledger`]), then call [`Decider::step`] with everything that is known now: after
//!    each list, re-read and watch event that was an acknowledgement, after each change of an input, and when
//!    [`Step::changes_at`] comes. A step more than needed changes nothing.
//! 2. If [`Step::effects`] holds [`Effect::Save`], write [`Decider::snapshot`] **before** the step is published: a
//!    restart must be on record before the first 500 is given. Write it also from time to time and at the end.
//! 3. Publish the step: `/healthz` answers 500 exactly while [`Step::is_failing`], with the words of
//!    [`Step::headline`]. Count the 500s that probes are given in a row for this
//!    [`Step::since`] into [`Inputs::given`].
//! 4. Send the other effects: Events, counters. They are complete: the shell counts nothing that is not there.
//!
//! While [`Step::decision`] is `suspect` or `restarting` the shell reads the [`Explanation::oldest`] objects of the
//! [`Step::subject`] by GET every 10 s, applies each to the ledger, and hands in one [`Reread`] per round. For the
//! subject [`LEASE`] it reads the lease instead. It also lists that stream at least once: a list that begins after
//! [`Step::since`] is a condition of the restart.

mod budget;
mod facts;
mod inputs;
mod lease;
pub mod snapshot;
mod table;
mod take;
mod words;

use std::collections::BTreeSet;
use std::time::Duration;

use super::diagnosis::{Diagnosis, Explanation, Hold, HoldEnd, Stream};
use super::ledger::Uid;
use super::state::Moment;
use super::tick::Tick;
pub use budget::Budget;
use budget::Spent;
pub use inputs::{Container, Gate, Given, Inputs, Leadership, Mode, Peering, Pod, Policy, Probe, Reread};
pub use lease::LEASE;
use lease::LeaseWatch;
pub use table::Transition;
pub use words::{Blindness, Decision, EventReason, Outcome, Withheld};

/// What the shell must do.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Effect {
    /// Write the state file before anything of this step is published.
    Save,
    /// Send an Event on the Pod.
    Event {
        /// Its reason.
        reason: EventReason,
        /// The stream it is about.
        stream: Option<String>,
    },
    /// Count a restart that was requested.
    Requested,
    /// Count a restart that is due and withheld; once per suspicion and reason.
    Withheld(Withheld),
    /// Count the outcome of a restart.
    Outcome {
        /// The stream that it was for.
        stream: String,
        /// What came of it.
        outcome: Outcome,
    },
}

/// What `/healthz` says in its first line. Written when the decision is taken and the same until the next one.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Headline {
    /// The decision.
    pub decision: Decision,
    /// When it was taken.
    pub at: Moment,
    /// The row that led to it; absent before the first.
    pub by: Option<Transition>,
    /// The stream that it is about, as it was then.
    pub about: Option<Explanation>,
}

impl Headline {
    /// The oldest object that speaks for the decision.
    pub fn oldest(&self) -> Option<Uid> {
        self.about.as_ref()?.oldest.first().copied()
    }
}

/// What one step came to.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Step {
    /// The decision in force.
    pub decision: Decision,
    /// Since when.
    pub since: Tick,
    /// The stream that it is about.
    pub subject: Option<String>,
    /// Whether `/healthz` answers 500.
    pub is_failing: bool,
    /// The ingredients of its first line.
    pub headline: Headline,
    /// The rows that were taken in this step.
    pub transitions: Vec<Transition>,
    /// What must be done.
    pub effects: Vec<Effect>,
    /// The streams in the order in which they were given, and the lease after them if it is ours.
    pub streams: Vec<Explanation>,
    /// Holds of the whole operator.
    pub holds: Vec<Hold>,
    /// Restarts that the budget still allows within its window; minGap not counted in.
    pub budget_remaining: u32,
    /// When [`Decider::step`] must be called at the latest, as [`Moment::elapsed`] counts; absent while only an input
    /// can change anything.
    pub changes_at: Option<Duration>,
}

/// A restart that was requested. It is moved from `restarting` to `recovering` and consumed by its one outcome.
#[derive(Debug, Clone, PartialEq, Eq)]
struct Restart {
    stream: String,
    requested: Tick,
    /// The container that is to be restarted, where it can be seen.
    container: Option<String>,
    /// How long the new container may be silent.
    asleep_after: Duration,
    /// [`Explanation::released`] when the kubelet took over.
    released: u64,
}

/// A stream that is asleep and being confirmed.
#[derive(Debug, Clone, PartialEq, Eq)]
struct Suspicion {
    stream: String,
    since: Tick,
    jitter: Duration,
    agreed: u32,
    withheld: BTreeSet<Withheld>,
}

/// The decision with what belongs to it and to no other.
#[derive(Debug, Clone, PartialEq, Eq)]
enum State {
    Starting { resumed: Option<Restart> },
    Watching,
    Suspect(Suspicion),
    Restarting(Restart),
    Recovering(Restart),
    Exhausted { stream: String },
    Standby,
    Blind,
}

/// Decides for one operator.
#[derive(Debug, Clone)]
pub struct Decider {
    /// What the configuration says; may be replaced at any time.
    pub policy: Policy,
    state: State,
    since: Tick,
    headline: Headline,
    /// When this operator was first watched, over all lives of the state file.
    born: Tick,
    spent: Spent,
    /// When the kubelet last had acted on a restart, or must have.
    handed_over: Option<Tick>,
    hold: HoldEnd,
    lease: LeaseWatch,
    stale: BTreeSet<String>,
    unclaimed: Option<snapshot::Unclaimed>,
}

/// More rows than any chain of the table is long.
const LONGEST_CHAIN: usize = 8;

impl Decider {
    /// A decider that knows nothing yet.
    pub fn new(policy: Policy, now: Moment) -> Self {
        Self {
            policy,
            state: State::Starting { resumed: None },
            since: now.tick(),
            headline: Headline { decision: Decision::Starting, at: now, by: None, about: None },
            born: now.tick(),
            spent: Spent::default(),
            handed_over: None,
            hold: HoldEnd::Never,
            lease: LeaseWatch::new(0),
            stale: BTreeSet::new(),
            unclaimed: None,
        }
    }

    /// Takes every row of the table that applies now.
    pub fn step(&mut self, now: Moment, inputs: &Inputs, streams: &mut [Stream]) -> Step {
        let mut effects = Vec::new();
        let mut transitions = Vec::new();
        self.lease.observe(inputs.leadership, now.tick());
        self.count_reread(inputs.reread.as_ref());
        let sight = loop {
            let sight = self.look(now, inputs, streams);
            let row = table::next(self.decision(), &self.facts(now.tick(), inputs, &sight));
            match row.filter(|_| transitions.len() < LONGEST_CHAIN) {
                Some(Transition::Withhold(reason)) => {
                    self.withhold(reason, &mut effects);
                    break sight;
                }
                Some(row) => {
                    self.take(row, now, inputs, &sight, streams, &mut effects);
                    transitions.push(row);
                }
                None => break sight,
            }
        };
        self.note_stale(&sight.streams, &mut effects);
        Step {
            decision: self.decision(),
            since: self.since,
            subject: self.subject().map(str::to_owned),
            is_failing: self.decision() == Decision::Restarting,
            headline: self.headline.clone(),
            transitions,
            effects,
            budget_remaining: self.spent.remaining(&self.policy.budget, now.tick()),
            changes_at: self.changes_at(now.tick(), inputs, &sight).map(Tick::elapsed),
            streams: sight.streams,
            holds: sight.holds,
        }
    }

    /// The decision in force.
    pub const fn decision(&self) -> Decision {
        match self.state {
            State::Starting { .. } => Decision::Starting,
            State::Watching => Decision::Watching,
            State::Suspect(_) => Decision::Suspect,
            State::Restarting(_) => Decision::Restarting,
            State::Recovering(_) => Decision::Recovering,
            State::Exhausted { .. } => Decision::Exhausted,
            State::Standby => Decision::Standby,
            State::Blind => Decision::Blind,
        }
    }

    /// The name of the stream that the decision is about.
    fn subject(&self) -> Option<&str> {
        match &self.state {
            State::Suspect(suspicion) => Some(&suspicion.stream),
            State::Restarting(restart) | State::Recovering(restart) => Some(&restart.stream),
            State::Exhausted { stream } => Some(stream),
            State::Starting { .. } | State::Watching | State::Standby | State::Blind => None,
        }
    }

    /// Only rounds that began within the suspicion confirm it; one that disagrees undoes the others.
    fn count_reread(&mut self, reread: Option<&Reread>) {
        if let (State::Suspect(suspicion), Some(reread)) = (&mut self.state, reread)
            && reread.stream == suspicion.stream
            && reread.began >= suspicion.since
        {
            suspicion.agreed = if reread.agrees { suspicion.agreed.saturating_add(1) } else { 0 };
        }
    }

    fn withhold(&mut self, reason: Withheld, effects: &mut Vec<Effect>) {
        if let State::Suspect(suspicion) = &mut self.state
            && suspicion.withheld.insert(reason)
        {
            effects.push(Effect::Withheld(reason));
        }
    }

    fn note_stale(&mut self, streams: &[Explanation], effects: &mut Vec<Effect>) {
        let stale: BTreeSet<String> = streams
            .iter()
            .filter(|explanation| explanation.diagnosis == Diagnosis::ServerStale)
            .map(|explanation| explanation.stream.clone())
            .collect();
        effects.extend(
            stale
                .difference(&self.stale)
                .map(|stream| Effect::Event { reason: EventReason::ServerStale, stream: Some(stream.clone()) }),
        );
        self.stale = stale;
    }
}

#[cfg(test)]
mod tests;
