//! Changes the canary, and looks whether the operator acknowledges it. What follows from that is [`judge::canary`]'s.
//!
//! The canary is an object of a watched resource like any other: lists and the own watch show it too, and its
//! acknowledgements are acknowledgements of its stream.

mod act;

use std::sync::Arc;
use std::time::Duration;

use super::operator::Operator;
use super::own_pod::OwnPod;
use super::shared::{Known, Shared};
use crate::clock;
use crate::cluster::connect::Cluster;
use crate::cluster::discover;
use crate::config;
use crate::judge::canary::{Canary, Due, Looked, Problem};
use crate::judge::decision::{Decision, Pod};
use crate::judge::rule::{Reader, Rule};
use crate::judge::state::Moment;
use crate::view::{Histogram, SeenCanary};
use act::Turn;

/// How soon something that is due, or an acknowledgement that the own watch shows, is noticed.
const LOOK: Duration = Duration::from_secs(1);

/// The canary with what belongs to it.
#[derive(Debug)]
pub(super) struct Kept {
    plan: config::Canary,
    judged: Canary,
    /// Operator and stream, once they are known.
    stream: Option<(String, String)>,
    round_trip: Histogram,
    last_round_trip: Option<Duration>,
    /// What is wrong, for a person.
    message: Option<String>,
}

/// Where the canary stands among what is watched.
struct Found {
    operator: usize,
    stream: usize,
    resource: discover::Resource,
    reader: Arc<Reader>,
}

impl Kept {
    fn new(plan: config::Canary, now: Moment) -> Self {
        Self {
            judged: Canary::new(plan.interval, now.tick()),
            plan,
            stream: None,
            round_trip: Histogram::default(),
            last_round_trip: None,
            message: None,
        }
    }

    /// Notes what is wrong; logs it once.
    fn complain(&mut self, problem: Problem, message: String) {
        if self.message.as_ref() != Some(&message) {
            tracing::warn!(canary = %self.plan.name, problem = problem.as_str(), "canary: {message}");
        }
        self.message = Some(message);
    }

    /// Notes that nothing is wrong any more.
    fn is_well(&mut self) {
        if self.message.take().is_some() {
            tracing::info!(canary = %self.plan.name, "the canary can be changed again");
        }
    }

    fn acknowledged(&mut self, looked: Looked) {
        if let Looked::Acknowledged(Some(round_trip)) = looked {
            self.round_trip.observe(round_trip);
            self.last_round_trip = Some(round_trip);
        }
    }

    /// What readers see.
    fn shown(&self) -> SeenCanary {
        let namespace = self.plan.namespace.as_ref().map(|namespace| format!("{namespace}/")).unwrap_or_default();
        SeenCanary {
            object: format!("{namespace}{}", self.plan.name),
            acks: self.judged.acks(),
            is_proven: self.judged.is_proven(),
            outstanding: self.judged.outstanding(),
            last_round_trip: self.last_round_trip,
            problem: self.judged.problem().zip(self.message.clone()),
            round_trip: self.round_trip.clone(),
        }
    }
}

impl Known {
    /// Puts a configuration of the canary in force. The same object keeps its memory.
    pub(super) fn configure_canary(&mut self, plan: Option<config::Canary>, now: Moment) {
        let before = self.canary.take();
        self.canary = plan.map(|plan| {
            let is_it = |kept: &Kept| {
                let key = |it: &config::Canary| (it.resource.clone(), it.namespace.clone(), it.name.clone());
                key(&kept.plan) == key(&plan) && kept.plan.path == plan.path
            };
            match before.filter(is_it) {
                Some(mut kept) => {
                    kept.judged.interval = plan.interval;
                    Kept { plan, ..kept }
                }
                None => Kept::new(plan, now),
            }
        });
        for stream in self.operators.iter_mut().flat_map(|operator| &mut operator.streams) {
            (stream.evidence.canary, stream.evidence.canary_missed) = (None, None);
        }
    }

    /// The canary as readers of a stream see it.
    pub(super) fn canary_of(&self, operator: &str, stream: &str) -> Option<SeenCanary> {
        let kept = self.canary.as_ref()?;
        let is_it = kept.stream.as_ref().is_some_and(|(own, name)| own == operator && name == stream);
        is_it.then(|| kept.shown())
    }

    /// What is wrong with the canary, also where it belongs to no stream.
    pub(super) fn canary_problem(&self) -> Option<String> {
        self.canary.as_ref()?.message.as_ref().map(|message| format!("canary: {message}"))
    }
}

/// Keeps the canary for ever.
pub(super) async fn keep(shared: Arc<Shared>, cluster: Arc<Cluster>, limit: usize) {
    let options = &shared.options;
    let own = options.pod_namespace.clone().unwrap_or_else(|| cluster.namespace().to_owned());
    loop {
        let now = shared.now();
        if let Some(turn) = shared.with(|known| next(known, &own, limit, now)) {
            turn.take(&shared, &cluster).await;
            shared.with(show_evidence);
            shared.changed.notify_one();
        }
        clock::sleep(LOOK).await;
    }
}

/// What is to be done now, if anything is.
fn next(known: &mut Known, own_namespace: &str, limit: usize, now: Moment) -> Option<Turn> {
    let Known { canary, operators, pod, .. } = known;
    let kept = canary.as_mut()?;
    if operators.iter().all(|operator| operator.decider.decision() == Decision::Starting) {
        return None;
    }
    let Some(found) = find(operators, &kept.plan, own_namespace) else {
        let resource = &kept.plan.resource;
        let message = format!(
            "{resource} is not watched, or not yet; write `canary.resource` as plural.group and list it under `resources`"
        );
        kept.judged.failed(Problem::NotWatched, now.tick());
        kept.complain(Problem::NotWatched, message);
        return None;
    };
    let operator = &operators[found.operator];
    let stream = &operator.streams[found.stream];
    kept.stream = Some((operator.name.clone(), stream.name().to_owned()));
    kept.judged.begin(&life(operator, pod));
    let is_pending = kept.judged.uid().is_some_and(|uid| stream.ledger.pending_since(uid, now.tick()).is_some());
    let due = kept.judged.due(now.tick(), is_held(operator, stream.name()), is_pending);
    let turn = (due != Due::Nothing).then(|| turn(kept, operator, found, due, own_namespace, limit, now)).flatten();
    show_evidence(known);
    turn
}

fn turn(
    kept: &mut Kept,
    operator: &Operator,
    found: Found,
    due: Due,
    own_namespace: &str,
    limit: usize,
    now: Moment,
) -> Option<Turn> {
    let path = match (&kept.plan.path, found.reader.rule()) {
        (Some(path), _) => path.clone(),
        (None, Rule::Kopf(_)) => {
            ["metadata", "annotations", config::Canary::ANNOTATION].into_iter().map(str::to_owned).collect()
        }
        (None, rule) => {
            let message = format!(
                "under the rule {} an annotation is no change of what is wanted; name a text field of {} in \
                 `canary.path`, as in spec.canary",
                rule.name(),
                kept.plan.resource
            );
            kept.judged.failed(Problem::NoPath, now.tick());
            kept.complain(Problem::NoPath, message);
            return None;
        }
    };
    let namespace = kept.plan.namespace.clone().unwrap_or_else(|| own_namespace.to_owned());
    Some(Turn {
        due,
        operator: operator.name.clone(),
        namespace: found.resource.namespaced.then_some(namespace),
        name: kept.plan.name.clone(),
        resource: found.resource,
        reader: found.reader,
        path,
        create: kept.plan.create.clone(),
        limit,
    })
}

/// The stream of the canary. One per namespace appears with the first object there; until then that of the resource
/// stands for it.
fn find(operators: &[Operator], plan: &config::Canary, own_namespace: &str) -> Option<Found> {
    let namespace = plan.namespace.as_deref().unwrap_or(own_namespace);
    operators.iter().enumerate().find_map(|(index, operator)| {
        let watched = operator.watched(&plan.resource)?;
        let is_it = |facts: &super::operator::Facts| {
            facts.resource == plan.resource && facts.namespace.as_deref().is_none_or(|own| own == namespace)
        };
        let stream = operator.facts.iter().position(is_it)?;
        let reader = Arc::clone(&watched.rule.as_ref()?.reader);
        Some(Found { operator: index, stream, resource: watched.found.clone()?, reader })
    })
}

/// Which life of the operator's container this is. Where nobody can see the container, a restart that was asked for
/// begins a new one.
fn life(operator: &Operator, pod: &OwnPod) -> String {
    match (&operator.plan.beside, pod.judged()) {
        (Some(_), Pod::Read { container: Some(container), .. }) => container.id,
        _ => format!("after {} restarts", operator.restarts.requested),
    }
}

/// Nobody can expect an acknowledgement now, or the operator is being restarted.
fn is_held(operator: &Operator, stream: &str) -> bool {
    let Some(step) = &operator.step else { return true };
    let explanation = step.streams.iter().find(|it| it.stream == stream);
    step.decision == Decision::Restarting
        || !step.holds.is_empty()
        || explanation.is_none_or(|explanation| !explanation.holds.is_empty())
}

/// Lets the canary's stream know of it, and no other.
fn show_evidence(known: &mut Known) {
    let Known { canary, operators, .. } = known;
    let Some(kept) = canary else { return };
    for operator in operators {
        for stream in &mut operator.streams {
            let is_it = kept.stream.as_ref().is_some_and(|(own, name)| *own == operator.name && name == stream.name());
            stream.evidence.canary = kept.judged.uid().filter(|_| is_it);
            stream.evidence.canary_missed = kept.judged.missed().filter(|_| is_it);
        }
    }
}
