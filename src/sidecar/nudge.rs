//! Touches overdue objects that speak for no restart, each once for what is wanted of it, and looks what comes of it.

mod act;

use std::sync::Arc;
use std::time::Duration;

use super::operator::{Facts, Name, Operator};
use super::shared::{Known, Shared};
use crate::clock;
use crate::cluster::connect::Cluster;
use crate::judge::decision::Decision;
use crate::judge::diagnosis::{Diagnosis, Explanation, OLDEST, Stream};
use crate::judge::ledger::Uid;
use crate::judge::nudge::{NudgeOutcome, Rate};
use crate::judge::state::Moment;
use crate::judge::tick::Tick;
use crate::view::{Counts, SeenNudges};
use act::{Job, Target};

/// How soon something that is due is noticed.
const LOOK: Duration = Duration::from_secs(5);
/// From one reading of a nudged object to the next.
const READ_EVERY: Duration = Duration::from_secs(15);

/// The nudges of one operator.
#[derive(Debug)]
pub(super) struct Nudges {
    rate: Rate,
    waiting: Vec<Waiting>,
    outcomes: Counts<NudgeOutcome>,
    /// Why the newest one failed.
    problem: Option<String>,
}

/// A nudge whose outcome is not known yet.
#[derive(Debug, Clone)]
struct Waiting {
    stream: String,
    name: Name,
    /// As the object showed it before.
    token: u64,
    looked: Tick,
    until: Tick,
}

impl Nudges {
    fn new(now: Tick) -> Self {
        Self { rate: Rate::new(now), waiting: Vec::new(), outcomes: Counts::default(), problem: None }
    }

    fn settle(&mut self, uid: &str, outcome: NudgeOutcome) {
        self.waiting.retain(|waiting| *waiting.name.uid != *uid);
        self.outcomes.add(outcome);
    }

    fn fail(&mut self, problem: String) {
        if self.problem.as_ref() != Some(&problem) {
            tracing::warn!(problem, "cannot nudge");
        }
        self.problem = Some(problem);
        self.outcomes.add(NudgeOutcome::Failed);
    }

    /// What readers see.
    pub(super) fn shown(&self) -> SeenNudges {
        SeenNudges { outcomes: self.outcomes.clone(), waiting: self.waiting.len(), problem: self.problem.clone() }
    }
}

impl Known {
    /// Puts `nudge.enabled` in force.
    pub(super) fn configure_nudges(&mut self, is_enabled: bool, now: Moment) {
        for operator in &mut self.operators {
            let kept = operator.nudges.take().unwrap_or_else(|| Nudges::new(now.tick()));
            operator.nudges = is_enabled.then_some(kept);
        }
    }
}

/// Nudges for ever.
pub(super) async fn keep(shared: Arc<Shared>, cluster: Arc<Cluster>, limit: usize) {
    loop {
        let now = shared.now().tick();
        for job in shared.with(|known| jobs(known, limit, now)) {
            job.take(&shared, &cluster).await;
        }
        clock::sleep(LOOK).await;
    }
}

/// What is to be done now: at most one nudge of each operator, and readings of what was nudged.
fn jobs(known: &Known, limit: usize, now: Tick) -> Vec<Job> {
    let mut jobs = Vec::new();
    for operator in &known.operators {
        let Some(nudges) = &operator.nudges else { continue };
        jobs.extend(nudges.waiting.iter().filter_map(|waiting| look(operator, waiting, limit, now)));
        if nudges.rate.allows(now) {
            jobs.extend(first(operator, limit, now));
        }
    }
    jobs
}

/// The reading of a nudged object, if it is due: its time is up, or it does not seem to be pending any more.
fn look(operator: &Operator, waiting: &Waiting, limit: usize, now: Tick) -> Option<Job> {
    let index = operator.stream(&waiting.stream)?;
    let is_pending = operator.streams[index].ledger.pending_since(Uid::of(&waiting.name.uid), now).is_some();
    let is_over = now >= waiting.until;
    if now < waiting.looked.after(READ_EVERY) || (is_pending && !is_over) {
        return None;
    }
    let target = target(operator, &operator.facts[index], &waiting.stream, waiting.name.clone(), limit)?;
    Some(Job::Look { target, token: waiting.token, is_over })
}

/// The oldest object that may be nudged.
fn first(operator: &Operator, limit: usize, now: Tick) -> Option<Job> {
    let step = operator.step.as_ref()?;
    let is_at_work = matches!(step.decision, Decision::Watching | Decision::Suspect | Decision::Exhausted);
    if !is_at_work || !step.holds.is_empty() {
        return None;
    }
    let streams = operator.streams.iter().zip(&operator.facts).zip(&step.streams);
    let found = streams.filter_map(|((stream, facts), explanation)| {
        let (since, uid) = oldest(stream, explanation, now)?;
        Some((since, stream, facts, facts.names.of(uid)?.clone()))
    });
    let (_, stream, facts, name) = found.min_by_key(|(since, ..)| *since)?;
    let overdue_after = stream.settings.overdue_after;
    let target = target(operator, facts, stream.name(), name, limit)?;
    Some(Job::Nudge { target, overdue_after })
}

/// The oldest overdue object of a stream that may be nudged: any while the stream is `partial`, one that may not speak
/// for a restart while it is `asleep`.
fn oldest(stream: &Stream, explanation: &Explanation, now: Tick) -> Option<(Tick, Uid)> {
    let is_told_apart = explanation.candidates <= OLDEST as u64;
    let may = |uid: &Uid| match explanation.diagnosis {
        Diagnosis::Partial => true,
        Diagnosis::Asleep => is_told_apart && !explanation.oldest.contains(uid),
        Diagnosis::Healthy | Diagnosis::ServerStale | Diagnosis::Unknown => false,
    };
    let objects = explanation.offenders.iter().filter(|_| explanation.holds.is_empty());
    objects
        .filter(|(uid, _)| may(uid) && stream.evidence.canary != Some(*uid))
        .find(|(uid, _)| stream.ledger.may_nudge(*uid, stream.settings.overdue_after, now))
        .map(|(uid, since)| (*since, *uid))
}

fn target(operator: &Operator, facts: &Facts, stream: &str, name: Name, limit: usize) -> Option<Target> {
    let watched = operator.watched(&facts.resource)?;
    Some(Target {
        operator: operator.name.clone(),
        stream: stream.to_owned(),
        resource: watched.found.clone()?,
        reader: Arc::clone(&watched.rule.as_ref()?.reader),
        name,
        limit,
    })
}
