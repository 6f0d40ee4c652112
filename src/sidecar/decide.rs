//! The loop: takes a step whenever something has changed or time alone changes something, does what the step asks for,
//! and publishes the view.

use std::collections::HashMap;
use std::sync::Arc;
use std::time::Duration;

use super::operator::Operator;
use super::own_pod::OwnPod;
use super::publish;
use super::shared::{Known, Shared};
use super::state_file::{self, StateFile};
use super::tell;
use crate::clock;
use crate::cluster::event::Event;
use crate::judge::decision::snapshot::Owner;
use crate::judge::decision::{Decision, Effect, Inputs, Mode, Pod, Probe, Step, Transition};
use crate::judge::diagnosis::Stream;
use crate::judge::state::Moment;
use crate::view::board::Board;
use crate::view::{Restart, line, operator::HISTORY};

/// The longest time from one view to the next.
pub(super) const PERIOD: Duration = Duration::from_secs(10);
/// From one writing of the state file to the next, when nothing asks for it.
const SAVE_EVERY: Duration = Duration::from_mins(1);
/// The shortest sleep, so that a moment that has just come does not spin.
const LEAST: Duration = Duration::from_millis(10);

/// Steps and publishes for ever.
pub(super) async fn keep(shared: Arc<Shared>) {
    loop {
        let next = turn(&shared);
        let now = shared.now().elapsed;
        let wait = next.map_or(PERIOD, |at| at.saturating_sub(now).clamp(LEAST, PERIOD));
        tokio::select! {
            () = clock::sleep(wait) => {}
            () = shared.changed.notified() => {}
            () = shared.board.given() => {}
        }
    }
}

/// One step of every operator, and the view. Returns when the next one is due at the latest.
pub(super) fn turn(shared: &Shared) -> Option<Duration> {
    let now = shared.now();
    let (view, next) = shared.with(|known| {
        known.see_own_checks(now);
        let inputs: Vec<Inputs> = (0..known.operators.len()).map(|index| inputs(known, index, &shared.board)).collect();
        let is_due = now.elapsed.saturating_sub(known.saved) >= SAVE_EVERY;
        let Known { operators, state_file, letters, boot, .. } = known;
        for (operator, inputs) in operators.iter_mut().zip(inputs) {
            let keeper = Keeper { file: state_file.as_ref(), boot };
            for letter in step(operator, now, inputs, &keeper) {
                letters.post(&operator.name, letter);
            }
            if is_due {
                keeper.save_if_begun(operator, now);
            }
        }
        if is_due {
            known.saved = now.elapsed;
        }
        tell::summary(known, now);
        let next = known.operators.iter().filter_map(|operator| operator.step.as_ref()?.changes_at).min();
        (publish::view(known, now), next)
    });
    shared.posted.notify_one();
    shared.board.publish(view);
    next
}

/// Everything beside the streams that decides.
fn inputs(known: &mut Known, index: usize, board: &Board) -> Inputs {
    let gate = known.gate.state();
    let has_ended_task = known.has_ended_task();
    let fraction = known.random.f64();
    let Known { operators, pod, .. } = known;
    let operator = &mut operators[index];
    let restart = operator.plan.restart;
    let configured = if operator.is_unrecorded { Mode::Observe } else { operator.plan.mode() };
    let (mode, pod, probe) = match &operator.plan.beside {
        Some(_) => (pod.mode(configured), pod.judged(), probe(operator, pod)),
        // Nothing of an operator that is observed from elsewhere is restarted; its Pod decides nothing.
        None => (Mode::Observe, Pod::Unread, Some(Probe::default())),
    };
    Inputs {
        mode,
        gate,
        leadership: operator.leadership,
        pod,
        probe,
        peering: operator.own.judged_peering(),
        has_ended_task,
        reception: operator.connections.reception(),
        given: board.probes().given,
        reread: operator.reread.take(),
        jitter: restart.jitter.mul_f64(fraction),
    }
}

impl Known {
    /// Lets the operators' own checks know of the Pod as it is now.
    pub(super) fn see_own_checks(&mut self, now: Moment) {
        let Self { operators, pod, .. } = self;
        for operator in operators.iter_mut().filter(|operator| operator.plan.beside.is_some()) {
            let probe = probe(operator, pod);
            operator.own.see(&pod.judged(), probe, now);
        }
    }
}

/// The numbers of the probe of an operator beside us: as configured, else as the Pod has them.
pub(super) fn probe(operator: &Operator, pod: &OwnPod) -> Option<Probe> {
    operator.plan.beside.as_ref()?.probe.map(numbers).or(pod.probe())
}

/// The configured numbers of the probe.
const fn numbers(probe: crate::config::operator::Probe) -> Probe {
    Probe {
        period: probe.period,
        failure_threshold: probe.failure_threshold,
        termination_grace: probe.termination_grace,
    }
}

/// Takes one step and does what it asks for, except sending Events, which come back.
fn step(operator: &mut Operator, now: Moment, mut inputs: Inputs, keeper: &Keeper<'_>) -> Vec<Event> {
    let mut letters = Vec::new();
    let step = operator.decider.step(now, &inputs, &mut operator.streams);
    let is_requested = step.effects.contains(&Effect::Requested);
    let is_saved = !step.effects.contains(&Effect::Save) || keeper.save(operator, now);
    letters.extend(take_effects(operator, step, now));
    if is_requested && !is_saved {
        // A restart that is not on record would not count after a crash of ours: it is called back before anybody is told.
        inputs.mode = Mode::Observe;
        let step = operator.decider.step(now, &inputs, &mut operator.streams);
        letters.extend(take_effects(operator, step, now));
    }
    letters
}

fn take_effects(operator: &mut Operator, step: Step, now: Moment) -> Vec<Event> {
    let mut letters = Vec::new();
    for effect in &step.effects {
        match effect {
            Effect::Save => {}
            Effect::Requested => {
                operator.restarts.requested += 1;
                operator.restarts.last = Some(now.wall);
                let stream = step.subject.clone().unwrap_or_default();
                remember(operator, Restart { stream, requested: now.wall, outcome: None });
            }
            Effect::Withheld(reason) => {
                operator.restarts.withheld.add(*reason);
                tell::withheld(operator, &step, *reason, now);
            }
            Effect::Outcome { stream, outcome } => {
                operator.restarts.outcomes.add(*outcome);
                tell::outcome(operator, &step, stream, *outcome, now);
                let is_it = |it: &&mut Restart| it.stream == *stream && it.outcome.is_none();
                if let Some(restart) = operator.restarts.history.iter_mut().find(is_it) {
                    restart.outcome = Some((*outcome, now.wall));
                } else {
                    // It was requested by an earlier life of dogwatch.
                    let requested = operator.decider.last_requested().map_or(now.wall, |at| now.wall_at(at));
                    let outcome = Some((*outcome, now.wall));
                    remember(operator, Restart { stream: stream.clone(), requested, outcome });
                }
            }
            Effect::Event { reason, stream } => letters.push(Event {
                reason: reason.as_str(),
                is_warning: tell::is_warning(*reason),
                message: tell::event_message(operator, &step, *reason, stream.as_deref()),
            }),
        }
    }
    look_closer(operator, &step);
    let is_news = operator.step.as_ref().is_none_or(|before| before.headline != step.headline);
    if is_news {
        let oldest = step.headline.oldest().zip(step.headline.about.as_ref());
        let oldest = oldest.and_then(|(uid, about)| operator.object_name(&about.stream, uid));
        operator.line = line::write(&step.headline, oldest.as_deref());
    }
    tell::changes(operator, &step, now);
    operator.step = Some(step);
    letters
}

fn remember(operator: &mut Operator, restart: Restart) {
    operator.restarts.history.insert(0, restart);
    operator.restarts.history.truncate(HISTORY);
}

/// Keeps the names of what speaks for a restart, and lists a stream at once when it is suspected.
fn look_closer(operator: &mut Operator, step: &Step) {
    for (facts, explanation) in operator.facts.iter_mut().zip(&step.streams) {
        facts.names.want(explanation);
    }
    let is_suspected = step.transitions.iter().any(|row| matches!(row, Transition::Suspect | Transition::Retry));
    if is_suspected
        && let Some(stream) = &step.subject
        && let Some(facts) = operator.stream(stream).and_then(|index| operator.facts.get(index))
        && let Some(watched) = operator.watched(&facts.resource)
    {
        watched.wake.notify_one();
    }
}

/// Puts things on record.
pub(super) struct Keeper<'k> {
    pub(super) file: Option<&'k StateFile>,
    pub(super) boot: &'k str,
}

impl Keeper<'_> {
    /// Writes the state file, unless everything is still to be seen: what the file says is then still to be claimed.
    pub(super) fn save_if_begun(&self, operator: &mut Operator, now: Moment) {
        if operator.decider.decision() != Decision::Starting {
            self.save(operator, now);
        }
    }

    /// Writes the state file. False if that failed; nothing is restarted then until it succeeds.
    fn save(&self, operator: &mut Operator, now: Moment) -> bool {
        let Some(file) = self.file.filter(|_| operator.plan.beside.is_some()) else { return true };
        let rules: HashMap<&str, &str> = operator
            .streams
            .iter()
            .zip(&operator.facts)
            .map(|(stream, facts)| (stream.name(), facts.fingerprint.as_str()))
            .collect();
        let rule_of = |stream: &Stream| rules.get(stream.name()).map(|rule| (*rule).to_owned()).unwrap_or_default();
        let owner = Owner { operator: &operator.name, boot: self.boot };
        let snapshot = operator.decider.snapshot(now, owner, &operator.streams, rule_of);
        let saved = file.save(&snapshot);
        match &saved {
            Err(error) if !operator.is_unrecorded => {
                tracing::error!(problem = state_file::say(error), "state not saved");
            }
            Ok(()) if operator.is_unrecorded => tracing::info!("state saved again"),
            _ => {}
        }
        operator.is_unrecorded = saved.is_err();
        saved.is_ok()
    }
}
