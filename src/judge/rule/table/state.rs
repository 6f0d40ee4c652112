//! From the predicates of an entry to an answer.

use jiff::Timestamp;
use twox_hash::XxHash3_64;

use super::Table;
use super::engine::entry::{Lasts, Outcome, Owed};
use super::engine::facts::Facts;
use super::engine::when::When;
use crate::judge::object::tree::Tree;
use crate::judge::object::{Object, time};
use crate::judge::rule::kopf::fingerprint;
use crate::judge::state::{Judgement, Reason, Since, SinceFrom, State};

/// A desired state that kept its fingerprint but is now a deletion.
const DELETED: u64 = 0xde1e;

impl Table {
    /// The answer for an object that is not being deleted.
    pub(in crate::judge::rule) fn judge(&self, object: &Object<'_>, now: Timestamp) -> Judgement {
        let facts = Facts::new(object, self.counts_generation);
        let judgement = self.decide(&facts, now);
        let is_signalled = match judgement.state {
            State::Processed | State::InProgress | State::Failing => true,
            State::Pending => judgement.reason != Some(Reason::NeverProcessed),
            State::Paused | State::Unknown => false,
        };
        Judgement { signalled: is_signalled, ..self.complete(&facts, judgement) }
    }

    /// Adds the fingerprints to an answer about a deletion.
    pub(in crate::judge::rule) fn complete_deletion(&self, object: &Object<'_>, judgement: Judgement) -> Judgement {
        let facts = Facts::new(object, self.counts_generation);
        let completed = self.complete(&facts, judgement);
        Judgement { desired: completed.desired ^ DELETED, ..completed }
    }

    /// The answer for an object that is being deleted and whose operator has seen it: the request for deletion raises
    /// the generation, and the number that the operator repeats has followed.
    pub(in crate::judge::rule) fn deletion_progress(&self, object: &Object<'_>) -> Option<Judgement> {
        let facts = Facts::new(object, self.counts_generation);
        let generation = facts.generation?;
        let mut numbers = self.entry.tokens.iter().filter_map(|path| facts.observed(path));
        let own = facts.newest_own_generation(self.entry.conditions);
        if numbers.all(|observed| observed != generation) && own != Some(generation) {
            return None;
        }
        let moved_at = self.moved_at(&facts).max(object.deleted_at());
        Some(Judgement {
            since: object.deleted_at().map(|at| Since::new(at, SinceFrom::Deletion)),
            until: moved_at.and_then(|at| at.checked_add(self.durations().max_attempt).ok()),
            moved_at,
            ..Judgement::new(State::InProgress, Reason::Working, "the operator has seen the request for deletion")
        })
    }

    fn complete(&self, facts: &Facts<'_, '_>, judgement: Judgement) -> Judgement {
        let is_acknowledged = matches!(judgement.state, State::Processed | State::InProgress | State::Failing);
        let acked_at = if is_acknowledged { judgement.moved_at.or_else(|| self.moved_at(facts)) } else { None };
        let created = || facts.object.created_at().filter(|_| facts.object.generation() == Some(1));
        Judgement {
            token: self.token(facts),
            desired: self.desired(facts),
            desired_at: facts.written.desired().or_else(created),
            acked_at,
            ..judgement
        }
    }

    fn decide(&self, facts: &Facts<'_, '_>, now: Timestamp) -> Judgement {
        let entry = self.entry;
        if let Some(when) = first(facts, entry.paused.iter()) {
            return Judgement::new(State::Paused, Reason::Suspended, when.to_string());
        }
        if entry.is_static() {
            return Judgement::unknown(Reason::NoSignal, "nothing is ever acknowledged on this kind");
        }
        if first(facts, entry.inert.iter()).is_some() {
            return Judgement::unknown(Reason::NoSignal, "there is nothing to reconcile");
        }
        if let Some(judgement) = entry.pending.iter().find_map(|owed| pending(facts, owed, now)) {
            return judgement;
        }
        if let Some(judgement) = self.outcome(facts, entry.failing, State::Failing, Reason::ReportsFailure) {
            return judgement;
        }
        if let Some(judgement) = self.outcome(facts, entry.in_progress, State::InProgress, Reason::Working) {
            return judgement;
        }
        if first(facts, entry.processed.iter()).is_some() {
            return Judgement::new(State::Processed, None, "the latest desired state was acknowledged");
        }
        Judgement::unknown(Reason::NoSignal, self.unknown(facts))
    }

    fn outcome(
        &self,
        facts: &Facts<'_, '_>,
        outcomes: &'static [Outcome],
        state: State,
        reason: Reason,
    ) -> Option<Judgement> {
        let (outcome, when) = outcomes.iter().find_map(|it| Some((it, facts.held(&it.when)?)))?;
        let moved_at = self.moved_at(facts);
        let until = moved_at.filter(|_| outcome.lasts == Lasts::Moving);
        Some(Judgement {
            since: transition(facts, when).map(|at| Since::new(at, SinceFrom::Rule)),
            until: until.and_then(|at| at.checked_add(self.durations().max_attempt).ok()),
            moved_at,
            ..Judgement::new(state, reason, when.to_string())
        })
    }

    /// Why nothing holds.
    fn unknown(&self, facts: &Facts<'_, '_>) -> &'static str {
        let mut observed = self.entry.tokens.iter().filter_map(|path| facts.observed(path));
        match (facts.object.generation(), facts.generation) {
            (None, _) => "the object has no metadata.generation",
            (_, None) => "the resource has no status subresource, so its generation counts status writes as well",
            (_, Some(generation)) if observed.any(|observed| observed > generation) => {
                "the observed generation is ahead of metadata.generation"
            }
            _ => "nothing on the object tells whether its latest desired state was seen",
        }
    }

    /// The newest sign of a write by the operator.
    fn moved_at(&self, facts: &Facts<'_, '_>) -> Option<Timestamp> {
        let named = self.entry.times.iter().filter_map(|path| facts.at(path).and_then(time)).max();
        named.max(facts.written.status).max(facts.newest_transition(self.entry.conditions))
    }

    /// See [`Judgement::token`].
    fn token(&self, facts: &Facts<'_, '_>) -> u64 {
        let values = self.entry.tokens.iter().filter_map(|path| facts.at(path));
        let sum = values.fold(0, |sum, value| fingerprint::join(sum, word(value)));
        match facts.newest_own_generation(self.entry.conditions) {
            Some(own) => fingerprint::join(sum, own.cast_unsigned().wrapping_add(2)),
            None => sum,
        }
    }

    /// See [`Judgement::desired`]: the generation, or the parts that stand for it, and what annotations ask for.
    fn desired(&self, facts: &Facts<'_, '_>) -> u64 {
        let base = match self.entry.desired {
            [] => facts.generation.unwrap_or_default().unsigned_abs(),
            paths => paths.iter().fold(0, |sum, path| {
                let part = facts.at(path).and_then(fingerprint::of_whole);
                fingerprint::join(sum, part.unwrap_or_default())
            }),
        };
        let asked = self.entry.pending.iter().filter_map(|owed| match owed {
            Owed::Request(_, annotation) => facts.object.annotation(annotation),
            _ => None,
        });
        asked.fold(base, |sum, value| fingerprint::join(sum, word(value)))
    }
}

/// The part of the first predicate that holds by which it does.
fn first(facts: &Facts<'_, '_>, mut all: impl Iterator<Item = &'static When>) -> Option<&'static When> {
    all.find_map(|when| facts.held(when))
}

fn pending(facts: &Facts<'_, '_>, owed: &'static Owed, now: Timestamp) -> Option<Judgement> {
    let when = facts.held(owed.when())?;
    let created = facts.object.created_at().map(|at| Since::new(at, SinceFrom::Creation));
    Some(match owed {
        Owed::Never(_) | Owed::NeverIfOthers(_) => Judgement {
            since: created,
            conditional: matches!(owed, Owed::NeverIfOthers(_)),
            ..Judgement::new(State::Pending, Reason::NeverProcessed, when.to_string())
        },
        Owed::Change(_) => {
            let is_first = facts.generation == Some(1);
            let written = || facts.written.desired().map(|at| Since::new(at, SinceFrom::ManagedFields));
            Judgement { since: if is_first { created } else { written() }, ..change(facts, when) }
        }
        Owed::Request(_, annotation) => {
            // Its form is free; one that names a moment which cannot be that of the request is none.
            let asked = facts.object.annotation(annotation).and_then(time).filter(|at| *at <= now);
            let asked = asked.map(|at| facts.object.created_at().map_or(at, |created| at.max(created)));
            Judgement {
                since: asked.map(|at| Since::new(at, SinceFrom::Annotation)),
                ..Judgement::new(State::Pending, Reason::RequestNotProcessed, when.to_string())
            }
        }
    })
}

fn change(facts: &Facts<'_, '_>, when: &When) -> Judgement {
    let pending = |message: String| Judgement::new(State::Pending, Reason::ChangeNotProcessed, message);
    // The number comes first where there is more to say.
    let (When::Below(path) | When::All([When::Below(path), ..])) = when else { return pending(when.to_string()) };
    match (facts.observed(path), facts.generation) {
        // Some CRDs default the number to -1 or 0, which no operator has written.
        (Some(..=0), _) => Judgement::new(State::Pending, Reason::NeverProcessed, "no generation was ever observed"),
        (Some(observed), Some(generation)) => pending(format!("generation {generation}, observed {observed}")),
        _ => pending(when.to_string()),
    }
}

/// When the condition last changed by which a predicate holds.
fn transition(facts: &Facts<'_, '_>, when: &When) -> Option<Timestamp> {
    match when {
        When::Condition(condition) => facts.condition(condition)?.get("lastTransitionTime").and_then(time),
        When::All(all) | When::Any(all) => all.iter().filter(|it| facts.hold(it)).find_map(|it| transition(facts, it)),
        _ => None,
    }
}

/// The fingerprint of a short value.
fn word(value: &Tree<'_>) -> u64 {
    match value {
        Tree::Text(text) => XxHash3_64::oneshot(text.as_bytes()),
        Tree::Int(number) => number.cast_unsigned().wrapping_add(2),
        Tree::Bool(is_true) => u64::from(*is_true) + 1,
        other => fingerprint::of_whole(other).unwrap_or_default(),
    }
}
