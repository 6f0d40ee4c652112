//! The rule `generation`: `status.observedGeneration`, and the same number on single conditions.
//!
//! The API server sets `metadata.generation` to 1 at creation and raises it with every change outside metadata; status
//! writes are excluded only if the CRD has the status subresource. An operator that copies the number into its status
//! has seen that desired state. Where both forms are present and disagree, the newer one says that the operator has
//! seen the change and the older one that it has not finished or not succeeded: conditions that are no longer written
//! keep old numbers for ever, and some operators raise `status.observedGeneration` only on success.

mod condition;

use std::time::Duration;

use jiff::Timestamp;

use super::{COMMON_DURATIONS, Durations};
use crate::judge::object::mask::{Mask, OTHERS};
use crate::judge::object::tree::Tree;
use crate::judge::object::{Object, time};
use crate::judge::state::{Judgement, Reason, Since, SinceFrom, State, StatusWrite};
use condition::{is_current, kind, reports_failure, reports_work};

/// The rule with its options.
#[derive(Debug, Clone)]
pub struct Generation {
    max_attempt: Duration,
    has_status_subresource: bool,
}

/// Cluster API and its imitators pause by this annotation.
const PAUSED_ANNOTATION: &str = "cluster.x-k8s.io/paused";
/// Booleans below `spec` that stop an operator from reconciling, as far as there is a convention.
const PAUSE_FIELDS: [&str; 4] = ["suspend", "suspended", "paused", "pause"];
/// Reads what the rule needs beside the common facts.
pub(super) fn mask(common: Mask) -> Mask {
    common
        .presence(&["metadata", "annotations", PAUSED_ANNOTATION])
        .fields(&["spec"], &PAUSE_FIELDS)
        .presence(&["status", OTHERS])
        .fields(&["status"], &["observedGeneration", "observed_generation"])
        .fields(&["status", "conditions"], &["type", "status", "reason", "observedGeneration", "lastTransitionTime"])
}

/// What an object's status says about generations.
struct Seen {
    generation: i64,
    observed: Option<i64>,
    /// The newest number on a condition.
    condition: Option<i64>,
}

impl Seen {
    fn read(object: &Object<'_>, generation: i64) -> Self {
        let conditions = object.conditions().iter();
        Self {
            generation,
            observed: observed_generation(object),
            condition: conditions.filter_map(|condition| number(condition.get("observedGeneration"))).max(),
        }
    }

    fn newest(&self) -> Option<i64> {
        self.observed.max(self.condition)
    }
}

impl Default for Generation {
    fn default() -> Self {
        Self::new(COMMON_DURATIONS.max_attempt)
    }
}

impl Generation {
    /// `max_attempt`: how long the operator may stay `in-progress` or `failing` without any movement.
    pub const fn new(max_attempt: Duration) -> Self {
        Self { max_attempt, has_status_subresource: true }
    }

    /// For a CRD without the status subresource: status writes raise its generation as well, so that the number that
    /// an operator writes is behind the moment it is written, and nothing can be told from it.
    #[must_use]
    pub const fn without_status_subresource(self) -> Self {
        Self { has_status_subresource: false, ..self }
    }

    pub(super) const fn durations(&self) -> Durations {
        Durations { max_attempt: self.max_attempt, ..COMMON_DURATIONS }
    }

    pub(super) fn judge(&self, object: &Object<'_>) -> Judgement {
        let Some(generation) = object.generation() else {
            return Judgement::unknown(Reason::NoSignal, "the object has no metadata.generation");
        };
        let seen = Seen::read(object, generation);
        let judgement = if is_paused(object) {
            Judgement::new(State::Paused, Reason::Suspended, "suspended or paused by its own marker")
        } else if self.has_status_subresource {
            self.compare(object, &seen)
        } else {
            let message = "the resource has no status subresource, so its generation counts status writes as well";
            Judgement::unknown(Reason::NoSignal, message)
        };
        Judgement { desired_at: desired_at(object), ..with_numbers(&seen, judgement) }
    }

    fn compare(&self, object: &Object<'_>, seen: &Seen) -> Judgement {
        let generation = seen.generation;
        match seen.newest() {
            Some(observed) if observed > generation => Judgement::unknown(
                Reason::NoSignal,
                format!("observed generation {observed} is ahead of generation {generation}"),
            ),
            Some(observed) if observed < generation => {
                let wrote = self.status_write(object, generation);
                let changed = changed_since(object, generation);
                let follows = wrote.filter(|wrote| changed.is_some_and(|changed| wrote.follows(changed.at)));
                Judgement { since: changed, status_write: wrote, ..behind(observed, generation, follows) }
            }
            Some(_) => self.acknowledged(object, seen),
            None if !has_status(object) => Judgement {
                since: object.created_at().map(|created| Since::new(created, SinceFrom::Creation)),
                conditional: true,
                ..Judgement::new(State::Pending, Reason::NeverProcessed, "no status")
            },
            None if status_follows_spec(object, generation) => self.acknowledged(object, seen),
            None => Judgement::unknown(Reason::NoSignal, "the status shows no observed generation"),
        }
    }

    /// The newest write of the status, and whether its conditions report a failure of this generation.
    fn status_write(&self, object: &Object<'_>, generation: i64) -> Option<StatusWrite> {
        let mut current = object.conditions().iter().filter(|condition| is_current(condition, generation));
        Some(StatusWrite {
            at: status_entry_at(object)?,
            reports_failure: current.any(reports_failure),
            attempt: self.max_attempt,
        })
    }

    /// The operator has seen this generation; its conditions tell how it went.
    fn acknowledged(&self, object: &Object<'_>, seen: &Seen) -> Judgement {
        let moved_at = status_written_at(object);
        let current = || object.conditions().iter().filter(|condition| is_current(condition, seen.generation));
        let until = moved_at.and_then(|at| at.checked_add(self.max_attempt).ok());
        let since = |condition: &Tree<'_>| {
            condition.get("lastTransitionTime").and_then(time).map(|at| Since::new(at, SinceFrom::Rule))
        };
        if let Some(condition) = current().find(|condition| reports_failure(condition)) {
            // `Stalled` is the operator's word that it will not go on by itself: nothing moves, and nothing is due.
            let is_final = kind(condition) == "Stalled";
            return Judgement {
                since: since(condition),
                until: until.filter(|_| !is_final),
                acked_at: moved_at,
                ..Judgement::new(State::Failing, Reason::ReportsFailure, "the conditions report a failure")
            };
        }
        if let Some(condition) = current().find(|condition| reports_work(condition)) {
            return Judgement {
                since: since(condition),
                until,
                moved_at,
                acked_at: moved_at,
                ..Judgement::new(State::InProgress, Reason::Working, "the conditions report work in progress")
            };
        }
        if seen.observed.is_some_and(|observed| observed < seen.generation) {
            return Judgement {
                since: changed_since(object, seen.generation),
                until,
                moved_at,
                acked_at: moved_at,
                ..Judgement::new(State::InProgress, Reason::Working, "seen by a condition, not yet by the whole status")
            };
        }
        Judgement { acked_at: moved_at, ..Judgement::new(State::Processed, None, "the latest generation was observed") }
    }
}

/// Adds the fingerprints to an answer about a deletion, which raises the generation as well.
pub(super) fn complete(object: &Object<'_>, judgement: Judgement) -> Judgement {
    match object.generation() {
        Some(generation) => with_numbers(&Seen::read(object, generation), judgement),
        None => judgement,
    }
}

fn with_numbers(seen: &Seen, judgement: Judgement) -> Judgement {
    Judgement {
        token: token(seen),
        desired: seen.generation.unsigned_abs(),
        signalled: seen.newest().is_some(),
        shows_change: seen.newest().is_some_and(|observed| observed > 1),
        ..judgement
    }
}

/// `follows`: a write of the status after the change. In one look it proves nothing: an operator at work, one that
/// failed and one whose cache stands still write alike.
fn behind(observed: i64, generation: i64, follows: Option<StatusWrite>) -> Judgement {
    let hint = match follows {
        None => "",
        Some(StatusWrite { reports_failure: true, .. }) => {
            "; the status was written since and reports a failure, so the number may be raised on success only"
        }
        Some(_) => "; the status was written since, so the number may be raised at the end of long work only",
    };
    // Some CRDs default the number to -1 or 0, which no operator has written.
    if observed <= 0 {
        let message = format!("no generation was ever observed{hint}");
        return Judgement::new(State::Pending, Reason::NeverProcessed, message);
    }
    let message = format!("generation {generation}, observed {observed}{hint}");
    Judgement::new(State::Pending, Reason::ChangeNotProcessed, message)
}

fn observed_generation(object: &Object<'_>) -> Option<i64> {
    let status = object.tree().get("status")?;
    // Operators that derive their CRD from Rust or Python types sometimes keep the snake case.
    number(status.get("observedGeneration")).or_else(|| number(status.get("observed_generation")))
}

/// A number, also where an operator writes it as text. A text that is no number (Argo Rollouts before 0.10 wrote a
/// hash) says nothing.
fn number(value: Option<&Tree<'_>>) -> Option<i64> {
    match value? {
        Tree::Int(number) => Some(*number),
        Tree::Text(text) if (1..=9).contains(&text.len()) && text.bytes().all(|byte| byte.is_ascii_digit()) => {
            text.parse().ok()
        }
        _ => None,
    }
}

fn token(seen: &Seen) -> u64 {
    // What a CRD's default writes beside somebody's first status is no acknowledgement.
    let part = |number: Option<i64>| {
        number.filter(|number| *number > 0).map_or(0, |number| number.wrapping_add(2).cast_unsigned())
    };
    part(seen.observed).wrapping_mul(0x9E37_79B9_7F4A_7C15) ^ part(seen.condition)
}

fn is_paused(object: &Object<'_>) -> bool {
    let spec = object.tree().get("spec");
    PAUSE_FIELDS.iter().any(|field| spec.and_then(|spec| spec.get(field)).is_some_and(Tree::is_true))
        || object.annotation(PAUSED_ANNOTATION).is_some()
}

fn has_status(object: &Object<'_>) -> bool {
    object.tree().get("status").is_some_and(|status| !status.entries().is_empty() || matches!(status, Tree::Unread))
}

/// Without any observed generation: whether the status was written for this desired state. A status at generation 1
/// cannot belong to an older one, unless the CRD's defaults wrote it, which is why a condition must be younger than the
/// object; later, a status entry of `managedFields` must be as new as every spec entry.
fn status_follows_spec(object: &Object<'_>, generation: i64) -> bool {
    // Defaults carry the epoch, which also tells them apart where a trimmed dump has no creation time.
    let earliest = object.created_at().unwrap_or(Timestamp::from_second(1).unwrap_or_default());
    if generation == 1 && condition_times(object).any(|at| at >= earliest) {
        return true;
    }
    let spec = object.managed_fields().filter(|entry| entry.owns_spec).filter_map(|entry| entry.at()).max();
    matches!((spec, status_entry_at(object)), (Some(spec), Some(status)) if status >= spec)
}

/// The newest write of the status alone in `managedFields`. An entry that owns the spec as well may be younger for that.
fn status_entry_at(object: &Object<'_>) -> Option<Timestamp> {
    let entries = object.managed_fields().filter(|entry| entry.owns_status && !entry.owns_spec);
    entries.filter_map(|entry| entry.at()).max()
}

/// The newest sign of a status write: `managedFields`, or a condition's transition.
pub(super) fn status_written_at(object: &Object<'_>) -> Option<Timestamp> {
    let written = object.managed_fields().filter(|entry| entry.owns_status).filter_map(|entry| entry.at()).max();
    written.max(condition_times(object).max())
}

fn condition_times(object: &Object<'_>) -> impl Iterator<Item = Timestamp> {
    object.conditions().iter().filter_map(|condition| condition.get("lastTransitionTime").and_then(time))
}

/// The newest write of the spec by somebody who does not write the status as well, since an operator may raise the
/// generation by filling in defaults; else the newest write of the spec at all.
pub(super) fn desired_at(object: &Object<'_>) -> Option<Timestamp> {
    let is_operator =
        |manager: &str| object.managed_fields().any(|entry| entry.owns_status && entry.manager == manager);
    let spec_writes = || object.managed_fields().filter(|entry| entry.owns_spec);
    let others = spec_writes().filter(|entry| !is_operator(entry.manager)).filter_map(|entry| entry.at()).max();
    others
        .or_else(|| spec_writes().filter_map(|entry| entry.at()).max())
        .or_else(|| object.created_at().filter(|_| object.generation() == Some(1)))
}

/// Absent where the object does not tell, as in a dump without `managedFields`.
pub(super) fn changed_since(object: &Object<'_>, generation: i64) -> Option<Since> {
    let from = if generation == 1 { SinceFrom::Creation } else { SinceFrom::ManagedFields };
    let at = if generation == 1 { object.created_at() } else { desired_at(object) };
    at.map(|at| Since::new(at, from))
}

#[cfg(test)]
mod tests;
