//! What a row of the table causes.

use super::facts::Sight;
use super::{
    Decider, Decision, Effect, EventReason, Headline, Inputs, LEASE, Moment, Outcome, Restart, State, Stream,
    Suspicion, Tick, Transition,
};
use crate::judge::diagnosis::HoldEnd;
use std::collections::BTreeSet;

impl Decider {
    /// Takes one row: the new decision, and its effects as values.
    pub(super) fn take(
        &mut self,
        row: Transition,
        now: Moment,
        inputs: &Inputs,
        sight: &Sight,
        streams: &mut [Stream],
        effects: &mut Vec<Effect>,
    ) {
        let left = std::mem::replace(&mut self.state, State::Watching);
        let stream = subject_after(row, &left, sight);
        let about = stream.as_deref().and_then(|name| sight.stream(name)).cloned();
        if let Some(outcome) = row.outcome() {
            self.conclude(left, outcome, streams, effects);
        } else {
            self.state = self.enter(row, left, stream.clone(), now.tick(), inputs, sight);
        }
        if row == Transition::Restart {
            self.spent.add(now.tick());
            effects.extend([Effect::Save, Effect::Requested]);
        }
        if row == Transition::HandOver {
            self.handed_over = Some(now.tick());
        }
        if let (Transition::Resume, State::Recovering(restart)) = (row, &self.state) {
            self.handed_over = self.handed_over.max(Some(restart.requested));
        }
        if row == Transition::Return {
            self.hold = HoldEnd::Ended(now.tick());
        }
        // What a hold ends has not recovered. A cure has, though the new container is still in grace.
        let is_held = row != Transition::Cure && about.as_ref().is_some_and(|about| !about.holds.is_empty());
        let reason = row.event().filter(|reason| *reason != EventReason::OperatorRecovered || !is_held);
        effects.extend(reason.map(|reason| Effect::Event { reason, stream }));
        self.since = now.tick();
        self.headline = Headline { decision: self.decision(), at: now, by: Some(row), about };
    }

    /// The state that a row leads to; it takes along what the one before knew.
    fn enter(
        &self,
        row: Transition,
        left: State,
        stream: Option<String>,
        now: Tick,
        inputs: &Inputs,
        sight: &Sight,
    ) -> State {
        match (row.to(), left, stream) {
            (Decision::Suspect, _, Some(stream)) => State::Suspect(Suspicion {
                stream,
                since: now,
                jitter: inputs.jitter,
                agreed: 0,
                withheld: BTreeSet::new(),
            }),
            (Decision::Restarting, _, Some(stream)) => State::Restarting(Restart {
                container: sight.container.as_ref().map(|container| container.id.clone()),
                asleep_after: sight.stream(&stream).map_or(self.policy.grace, |subject| subject.asleep_after),
                released: released(&stream, sight),
                stream,
                requested: now,
            }),
            (Decision::Recovering, State::Restarting(restart) | State::Starting { resumed: Some(restart) }, _) => {
                State::Recovering(Restart { released: released(&restart.stream, sight), ..restart })
            }
            (Decision::Exhausted, _, Some(stream)) => State::Exhausted { stream },
            (Decision::Standby, ..) => State::Standby,
            (Decision::Blind, ..) => State::Blind,
            // The remaining pairs are no rows of the table; none of them may give a 500.
            _ => State::Watching,
        }
    }

    /// Ends a restart with its one outcome.
    fn conclude(&mut self, left: State, outcome: Outcome, streams: &mut [Stream], effects: &mut Vec<Effect>) {
        let (State::Restarting(restart) | State::Recovering(restart)) = left else { return };
        let is_lease = restart.stream == LEASE;
        let stream = streams.iter_mut().find(|stream| stream.name() == restart.stream);
        let fruitless = if is_lease { self.lease.fruitless } else { stream.as_ref().map_or(0, |it| it.fruitless()) };
        let fruitless = match outcome {
            Outcome::Cured => 0,
            Outcome::Fruitless => fruitless.saturating_add(1),
            Outcome::NotSeen | Outcome::Cancelled => fruitless,
        };
        match stream {
            _ if is_lease => self.lease.fruitless = fruitless,
            Some(stream) => stream.set_fruitless(fruitless),
            None => {}
        }
        effects.extend([Effect::Save, Effect::Outcome { stream: restart.stream, outcome }]);
    }
}

fn released(stream: &str, sight: &Sight) -> u64 {
    sight.stream(stream).map_or(0, |subject| subject.released)
}

/// The stream that a row is about.
fn subject_after(row: Transition, left: &State, sight: &Sight) -> Option<String> {
    match left {
        State::Suspect(suspicion) => Some(suspicion.stream.clone()),
        State::Restarting(restart) | State::Recovering(restart) | State::Starting { resumed: Some(restart) } => {
            Some(restart.stream.clone())
        }
        State::Exhausted { stream } => Some(stream.clone()),
        State::Watching if row == Transition::Suspect => sight.worst().map(|explanation| explanation.stream.clone()),
        State::Starting { resumed: None } | State::Watching | State::Standby | State::Blind => None,
    }
}
