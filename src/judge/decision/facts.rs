//! What the columns of the table mean.

use std::time::Duration;

use super::table::Facts;
use super::{
    Blindness, Container, Decider, Gate, Inputs, LEASE, Leadership, Mode, Peering, Pod, Restart, State, Suspicion,
    Withheld,
};
use crate::judge::diagnosis::{Diagnosis, Explanation, Hold, Stream, Surroundings};
use crate::judge::state::Moment;
use crate::judge::tick::Tick;

/// So many rounds of re-reads must agree.
const ENOUGH_REREADS: u32 = 3;
/// Probe periods after which a container that was to be terminated must be gone.
const SPARE_PERIODS: u32 = 3;
/// Work in flight delays a restart by at most so many attempts.
const LONGEST_DELAY_ATTEMPTS: u32 = 2;

/// What is seen in one step.
#[derive(Debug)]
pub(super) struct Sight {
    pub(super) streams: Vec<Explanation>,
    pub(super) holds: Vec<Hold>,
    pub(super) container: Option<Container>,
    is_ready: bool,
    /// Until when work in flight delays, and the longest delay that it may cause.
    in_flight: Vec<(Tick, Duration)>,
}

impl Sight {
    pub(super) fn stream(&self, name: &str) -> Option<&Explanation> {
        self.streams.iter().find(|explanation| explanation.stream == name)
    }

    /// The stream that speaks loudest for a restart: the one silent for longest.
    pub(super) fn worst(&self) -> Option<&Explanation> {
        self.streams
            .iter()
            .filter(|explanation| is_sleeper(explanation))
            .min_by_key(|explanation| (explanation.silent_since, &explanation.stream))
    }
}

fn is_sleeper(explanation: &Explanation) -> bool {
    explanation.may_restart && explanation.diagnosis == Diagnosis::Asleep && explanation.holds.is_empty()
}

impl Decider {
    /// Holds, and what they leave to be said of each stream.
    pub(super) fn look(&mut self, now: Moment, inputs: &Inputs, streams: &mut [Stream]) -> Sight {
        let tick = now.tick();
        let container = match &inputs.pod {
            Pod::Elsewhere | Pod::Unread => None,
            Pod::Read { container, .. } => container.clone(),
        };
        let holds = self.holds(tick, inputs);
        self.hold.update(!holds.is_empty(), tick);
        let around = Surroundings {
            holds: &holds,
            held_until: self.hold.at(tick),
            started: container.as_ref().map_or(self.unseen_start(), |container| container.started),
            grace: self.policy.grace,
            reception: inputs.reception,
        };
        let mut explanations: Vec<Explanation> = streams.iter_mut().map(|it| it.diagnose(now, &around)).collect();
        let in_flight = explanations
            .iter()
            .zip(streams.iter())
            .filter_map(|(explanation, stream)| {
                let longest = stream.settings.max_attempt.saturating_mul(LONGEST_DELAY_ATTEMPTS);
                explanation.in_flight_until.map(|until| (until, longest))
            })
            .collect();
        let sees_pod = !matches!(inputs.pod, Pod::Unread) || inputs.probe.is_some();
        let is_ready = inputs.gate == Gate::Open && sees_pod && streams.iter().all(|stream| stream.ledger.is_ready());
        explanations.extend(self.lease.explain(&holds, around.held_until, around.started, &self.policy, tick));
        Sight { streams: explanations, holds, container, is_ready, in_flight }
    }

    /// Where the container cannot be seen: since when the operator was watched, or was last restarted. A restart that is
    /// only requested, or was called back, has not happened.
    fn unseen_start(&self) -> Tick {
        self.handed_over.map_or(self.born, |last| self.born.max(last))
    }

    fn holds(&self, now: Tick, inputs: &Inputs) -> Vec<Hold> {
        let leads_newly = self.leader_grace_ends().is_some_and(|ends| now < ends);
        let (is_running, is_terminating) = match &inputs.pod {
            Pod::Elsewhere | Pod::Unread => (true, false),
            Pod::Read { container, is_terminating } => {
                (container.as_ref().is_some_and(|container| container.is_running), *is_terminating)
            }
        };
        [
            (matches!(self.state, State::Starting { .. }), Hold::Starting),
            (inputs.gate == Gate::Closed, Hold::GateClosed),
            (!is_running, Hold::NotRunning),
            (inputs.leadership == Leadership::Elsewhere, Hold::NotLeader),
            (leads_newly && matches!(inputs.leadership, Leadership::Ours { .. }), Hold::NewLeader),
            (inputs.leadership == Leadership::Unreadable, Hold::LeaseUnreadable),
            (inputs.peering == Peering::Paused, Hold::Paused),
            (inputs.peering == Peering::Unreadable, Hold::PeeringUnreadable),
            (is_terminating, Hold::Terminating),
            (inputs.has_ended_task, Hold::TaskEnded),
        ]
        .into_iter()
        .filter_map(|(is_on, hold)| is_on.then_some(hold))
        .collect()
    }

    fn leader_grace_ends(&self) -> Option<Tick> {
        self.lease.ours_since().map(|since| since.after(self.policy.grace))
    }

    pub(super) fn facts(&self, now: Tick, inputs: &Inputs, sight: &Sight) -> Facts {
        let subject = self.subject().and_then(|name| sight.stream(name));
        let common = Facts {
            is_ready: sight.is_ready,
            blind: blindness(inputs, sight),
            leads_elsewhere: inputs.leadership == Leadership::Elsewhere,
            has_sleeper: sight.worst().is_some(),
            is_asleep: subject.is_some_and(|subject| subject.may_restart && subject.diagnosis == Diagnosis::Asleep),
            is_held: subject.is_none_or(|subject| !subject.holds.is_empty()),
            // A person who switches to `observe` calls a restart back as well.
            is_held_otherwise: inputs.mode == Mode::Observe
                || subject.is_none_or(|subject| subject.holds.iter().any(|hold| *hold != Hold::NotRunning)),
            is_allowed: self.spent.allows(&self.policy.budget, now),
            ..Facts::default()
        };
        match &self.state {
            State::Starting { resumed } => Facts { is_resuming: resumed.is_some(), ..common },
            State::Suspect(suspicion) => Facts {
                is_confirmed: self.is_confirmed(suspicion, subject, now),
                withheld: withheld(suspicion, subject, inputs, sight, now),
                ..common
            },
            State::Restarting(restart) => Facts {
                has_left: has_left(restart, inputs, sight),
                was_told: was_told(restart, inputs) || now >= told_at(restart, inputs),
                is_acked: acked_after(subject, restart.requested),
                ..common
            },
            State::Recovering(restart) => {
                let started = self.new_start(restart, inputs, sight);
                let overtime_at = started.map(|started| self.overtime_at(restart, subject, started));
                Facts {
                    is_acked: started.is_some_and(|started| acked_after(subject, started.max(restart.requested)))
                        || (started.is_some() && has_released(restart, subject)),
                    is_unmoved: is_same(restart, sight) && now >= self.unmoved_at(inputs),
                    is_overtime: overtime_at.is_some_and(|at| now >= at)
                        && !common.leads_elsewhere
                        && subject.is_none_or(|subject| subject.holds.is_empty()),
                    ..common
                }
            }
            State::Watching | State::Exhausted { .. } | State::Standby | State::Blind => common,
        }
    }

    fn is_confirmed(&self, suspicion: &Suspicion, subject: Option<&Explanation>, now: Tick) -> bool {
        let is_listed = suspicion.stream == LEASE
            || subject.and_then(|subject| subject.listed_from).is_some_and(|from| from >= suspicion.since);
        now >= self.confirmed_at(suspicion) && is_listed && suspicion.agreed >= ENOUGH_REREADS
    }

    fn confirmed_at(&self, suspicion: &Suspicion) -> Tick {
        suspicion.since.after(self.policy.confirm).after(suspicion.jitter)
    }

    /// When the container that is not the one to be restarted began; absent while there is none that runs.
    fn new_start(&self, restart: &Restart, inputs: &Inputs, sight: &Sight) -> Option<Tick> {
        match &inputs.pod {
            Pod::Elsewhere | Pod::Unread => Some(self.since),
            Pod::Read { .. } => sight
                .container
                .as_ref()
                .filter(|container| container.is_running && Some(&container.id) != restart.container.as_ref())
                // One that could not be seen when the restart was requested cannot be told from the old one.
                .map(|it| if restart.container.is_some() { it.started } else { it.started.max(self.since) }),
        }
    }

    /// Grace and asleepAfter after the start. Time in which nothing could be seen is no silence.
    fn overtime_at(&self, restart: &Restart, subject: Option<&Explanation>, started: Tick) -> Tick {
        let grace_ends = started.after(self.policy.grace);
        let Some(subject) = subject else { return grace_ends.after(restart.asleep_after) };
        let held_until = subject.held_until.unwrap_or(grace_ends);
        grace_ends.max(held_until).after(subject.asleep_after)
    }

    fn unmoved_at(&self, inputs: &Inputs) -> Tick {
        let probe = inputs.probe.unwrap_or_default();
        self.since.after(probe.termination_grace).after(probe.period.saturating_mul(SPARE_PERIODS))
    }

    /// The next moment at which a row can apply, or an explanation can change, without a new input.
    pub(super) fn changes_at(&self, now: Tick, inputs: &Inputs, sight: &Sight) -> Option<Tick> {
        let subject = self.subject().and_then(|name| sight.stream(name));
        let own: Vec<Option<Tick>> = match &self.state {
            State::Suspect(suspicion) => {
                let delays =
                    sight.in_flight.iter().map(|(until, longest)| (*until).min(suspicion.since.after(*longest)));
                let mut turns: Vec<_> = delays.map(Some).collect();
                turns.push(Some(self.confirmed_at(suspicion)));
                turns
            }
            State::Restarting(restart) => vec![Some(told_at(restart, inputs))],
            State::Recovering(restart) => {
                let started = self.new_start(restart, inputs, sight);
                let overtime_at = started.map(|started| self.overtime_at(restart, subject, started));
                vec![Some(self.unmoved_at(inputs)), overtime_at]
            }
            State::Exhausted { .. } => vec![self.spent.allows_at(&self.policy.budget, now)],
            State::Starting { .. } | State::Watching | State::Standby | State::Blind => Vec::new(),
        };
        let streams = sight.streams.iter().map(|explanation| explanation.changes_at);
        let refills_at = self.spent.refills_at(&self.policy.budget, now);
        let always = [self.leader_grace_ends(), refills_at];
        own.into_iter().chain(streams).chain(always).flatten().filter(|at| *at > now).min()
    }
}

fn blindness(inputs: &Inputs, sight: &Sight) -> Option<Blindness> {
    let can_judge_none = !sight.streams.is_empty()
        && sight.streams.iter().all(|explanation| explanation.diagnosis == Diagnosis::Unknown);
    if inputs.has_ended_task {
        Some(Blindness::TaskEnded)
    } else if inputs.gate == Gate::Closed {
        Some(Blindness::GateClosed)
    } else if inputs.leadership == Leadership::Unreadable {
        Some(Blindness::LeaseUnreadable)
    } else if inputs.peering == Peering::Unreadable {
        Some(Blindness::PeeringUnreadable)
    } else {
        can_judge_none.then_some(Blindness::NoStream)
    }
}

fn withheld(
    suspicion: &Suspicion,
    subject: Option<&Explanation>,
    inputs: &Inputs,
    sight: &Sight,
    now: Tick,
) -> Option<Withheld> {
    let is_in_flight =
        sight.in_flight.iter().any(|(until, longest)| now < *until && now < suspicion.since.after(*longest));
    if inputs.mode == Mode::Observe {
        Some(Withheld::Observe)
    } else if subject.is_some_and(|subject| !subject.is_proven) {
        Some(Withheld::NoProof)
    } else {
        is_in_flight.then_some(Withheld::WorkInFlight)
    }
}

/// Whether the container to be restarted is gone.
fn has_left(restart: &Restart, inputs: &Inputs, sight: &Sight) -> bool {
    match (&inputs.pod, &restart.container) {
        (Pod::Elsewhere | Pod::Unread, _) => false,
        (Pod::Read { .. }, None) => sight.container.as_ref().is_some_and(|container| !container.is_running),
        (Pod::Read { .. }, Some(_)) => !is_same(restart, sight),
    }
}

/// Whether the container to be restarted still runs.
fn is_same(restart: &Restart, sight: &Sight) -> bool {
    sight
        .container
        .as_ref()
        .is_some_and(|container| container.is_running && Some(&container.id) == restart.container.as_ref())
}

/// Whether a probe was given as many 500s in a row as the kubelet needs.
fn was_told(restart: &Restart, inputs: &Inputs) -> bool {
    let threshold = inputs.probe.unwrap_or_default().failure_threshold.max(1);
    inputs.given.is_some_and(|given| given.since == restart.requested && given.in_a_row >= threshold)
}

/// When the kubelet must have asked often enough.
fn told_at(restart: &Restart, inputs: &Inputs) -> Tick {
    let probe = inputs.probe.unwrap_or_default();
    restart.requested.after(probe.period.saturating_mul(probe.failure_threshold.saturating_add(1)))
}

/// Whether the backlog was of deletions alone and came to its end. A vanished object is no acknowledgement, since anybody
/// may have removed it: silence goes on, and nobody is excused by it. But where nothing is pending any more, and the last
/// that was had a finalizer of the operator, the restart was not without effect.
fn has_released(restart: &Restart, subject: Option<&Explanation>) -> bool {
    subject.is_some_and(|subject| subject.released > restart.released && subject.pending == 0)
}

fn acked_after(subject: Option<&Explanation>, after: Tick) -> bool {
    subject.and_then(|subject| subject.last_ack).is_some_and(|ack| ack > after)
}
