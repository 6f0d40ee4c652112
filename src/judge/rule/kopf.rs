//! The rule `kopf`: marks that the kopf framework leaves on its objects.
//!
//! When a handling cycle ends, well or badly, kopf stores the object's *essence* (see [`essence`]) as JSON text in an
//! annotation or in the status: the *mark*. While a cycle takes more than one step it keeps a record per handler. So an
//! object whose mark differs from what it is now was changed since; one without a mark was never handled; and records
//! say until when kopf may be waited for. Nothing is written when an attempt begins, and a handler that failed for good
//! looks like one that succeeded.

mod diff;
mod essence;
pub(super) mod fingerprint;
mod ignored;
mod name;
mod options;
mod prefix;
mod progress;
mod same;
mod trace;

use jiff::Timestamp;

use super::{COMMON_DURATIONS, Durations, MINUTE};
use crate::judge::nudge;
use crate::judge::object::Object;
use crate::judge::object::mask::{Mask, OTHERS};
use crate::judge::state::{Judgement, Reason, Signal, Since, SinceFrom, State};
use diff::Differences;
use essence::View;
use ignored::Ignored;
pub use options::{Mode, Options, Storage};
use prefix::Prefixes;
use progress::{Clock, Purpose};
use trace::{MANAGER, Traces, Unreadable};

/// The rule with its options.
#[derive(Debug, Clone)]
pub struct Kopf {
    options: Box<Options>,
    ignored: Ignored,
    /// The path below `status` to what a status storage keeps.
    status_field: Vec<String>,
    /// Reads a stored essence.
    whole: Mask,
    /// Reads a progress record.
    record: Mask,
}

/// The default of `persistence.finalizer`, since 0.15. The form before has no prefix and is ignored by kopf itself.
const FINALIZER: &str = "kopf.zalando.org/KopfFinalizerMarker";
/// In mode `auto`: from how many old objects with a finalizer and without any mark it follows that the operator has
/// nothing but daemons and timers.
const ENOUGH: u64 = 3;
/// A desired state that kept its fingerprint but is now a deletion.
const DELETED: u64 = 0xde1e;

/// How the stored essence relates to the object as it is.
enum Seen {
    /// There is no stored essence.
    Never,
    /// They are the same.
    Current,
    /// They differ.
    Changed(Differences),
    /// There are several, and not all of them are the same as the object.
    Disagreeing(String),
}

impl Kopf {
    /// The rule with these options.
    pub fn new(options: Options) -> Self {
        let field = options.status_field.as_deref().unwrap_or("kopf");
        let field = field.strip_prefix("status.").unwrap_or(field);
        Self {
            ignored: Ignored::new(&options.ignored_fields),
            status_field: field.split('.').map(str::to_owned).collect(),
            whole: Mask::new().whole(&[]),
            record: Mask::new().fields(&[], &progress::FIELDS),
            options: Box::new(options),
        }
    }

    pub(super) const fn durations(&self) -> Durations {
        Durations {
            overdue_after: MINUTE.saturating_mul(10),
            max_attempt: self.options.max_attempt,
            ..COMMON_DURATIONS
        }
    }

    /// The essence needs the whole object, and the fields that an operator tracks may be anywhere in the status.
    pub(super) fn mask(&self, common: Mask) -> Mask {
        let common = common.whole(&["metadata", "annotations"]);
        match self.options.mode {
            Mode::Auto | Mode::Change => common.whole(&["metadata", OTHERS]).whole(&[OTHERS]),
            // Only deletions are judged.
            Mode::EventOnly | Mode::DaemonOnly => {
                let field: Vec<_> =
                    std::iter::once("status").chain(self.status_field.iter().map(String::as_str)).collect();
                common.whole(&field).whole(&["metadata", "ownerReferences", "kind"])
            }
        }
    }

    /// In mode `auto` a resource of which no object shows a mark or progress, and at least three old ones carry the
    /// finalizer, is taken for one with daemons and timers only.
    pub(super) const fn signal_exists(&self, signal: &Signal) -> bool {
        let old_and_held = signal.held.saturating_sub(signal.young);
        !matches!(self.options.mode, Mode::Auto) || signal.signalled > 0 || old_and_held < ENOUGH
    }

    /// Whether one of the operator's finalizers stands on the object: the configured one, else kopf's default and any
    /// that has the prefix of the operator's annotations.
    pub(super) fn is_held(&self, object: &Object<'_>) -> bool {
        if let Some(own) = &self.options.finalizer {
            return object.finalizers().any(|finalizer| finalizer == own);
        }
        if object.finalizers().any(|finalizer| finalizer == FINALIZER) {
            return true;
        }
        object.finalizers().next().is_some() && {
            let prefixes = Prefixes::find(object, self.options.prefix.as_deref());
            object.finalizers().any(|finalizer| prefixes.is_own(finalizer))
        }
    }

    /// The answer for an object that is being deleted and shows live records of its deletion.
    pub(super) fn deletion_progress(&self, object: &Object<'_>, now: Timestamp) -> Option<Judgement> {
        let traces = Traces::find(object, self);
        let clock = self.clock(object, &traces, now);
        progress::conclude(&traces.records, &[Purpose::Delete, Purpose::Unsaid], clock)
    }

    /// The answer for an object that is not being deleted.
    pub(super) fn judge(&self, object: &Object<'_>, now: Timestamp) -> Judgement {
        match self.options.mode {
            Mode::EventOnly => {
                Judgement::unknown(Reason::NoSignal, "mode event-only: kopf leaves no marks that could be read")
            }
            Mode::DaemonOnly => Judgement::unknown(
                Reason::NoSignal,
                "mode daemon-only: kopf leaves no marks, only deletions are judged",
            ),
            Mode::Auto | Mode::Change => {
                let traces = Traces::find(object, self);
                self.complete(object, &traces, self.compare(object, &traces, now))
            }
        }
    }

    /// Adds the fingerprints and times that an answer about a deletion needs as well.
    pub(super) fn complete_deletion(&self, object: &Object<'_>, judgement: Judgement) -> Judgement {
        self.complete(object, &Traces::find(object, self), judgement)
    }

    fn complete(&self, object: &Object<'_>, traces: &Traces<'_>, judgement: Judgement) -> Judgement {
        let is_acknowledged = matches!(judgement.state, State::Processed | State::InProgress);
        let deleted = if object.deleted_at().is_some() { DELETED } else { 0 };
        Judgement {
            token: traces.token(),
            desired: essence::fingerprint(object.tree(), self.view(traces)) ^ deleted,
            desired_at: desired_at(object),
            acked_at: traces.acked_at().filter(|_| is_acknowledged),
            signalled: traces.is_signalled(),
            ..judgement
        }
    }

    fn compare(&self, object: &Object<'_>, traces: &Traces<'_>, now: Timestamp) -> Judgement {
        let progress =
            |purposes: &[Purpose]| progress::conclude(&traces.records, purposes, self.clock(object, traces, now));
        match self.seen(object, traces) {
            // A restart does not help: kopf fails on such an object until somebody removes the mark.
            Err(unreadable) => Judgement::unknown(Reason::RuleError, unreadable.message),
            Ok(Seen::Disagreeing(message)) => Judgement::unknown(Reason::NoSignal, message),
            Ok(Seen::Never) => progress(&[Purpose::Create, Purpose::Update, Purpose::Resume, Purpose::Unsaid])
                .unwrap_or_else(|| self.never_handled(object, traces)),
            // Records of a resumption belong to an older desired state: a change takes them over at once.
            Ok(Seen::Changed(differences)) => progress(&[Purpose::Create, Purpose::Update, Purpose::Unsaid])
                .unwrap_or_else(|| Judgement {
                    since: changed_at(object, traces).map(|at| Since::new(at, SinceFrom::ManagedFields)),
                    ..Judgement::new(State::Pending, Reason::ChangeNotProcessed, differences.message())
                }),
            // Nothing is owed to the desired state. Records may be those of a resumption, or of a handler that is gone
            // from the operator's code, which kopf never removes; past their time they are taken for the latter, so
            // that they have no deadline at which they would turn pending.
            Ok(Seen::Current) => progress(&[Purpose::Resume, Purpose::Unsaid])
                .filter(|progress| progress.until.is_some_and(|until| now <= until))
                .map_or_else(
                    || Judgement::new(State::Processed, None, "the object is as it was last handled"),
                    |progress| Judgement { until: None, ..progress },
                ),
        }
    }

    fn never_handled(&self, object: &Object<'_>, traces: &Traces<'_>) -> Judgement {
        let message = match (traces.records.is_empty(), self.is_held(object)) {
            (false, _) => "kopf has left no mark; its progress records are over",
            (true, true) => "kopf has set its finalizer and left no mark and no progress",
            (true, false) => "kopf has left no mark and no progress",
        };
        Judgement {
            since: object.created_at().map(|created| Since::new(created, SinceFrom::Creation)),
            conditional: self.options.mode == Mode::Auto,
            ..Judgement::new(State::Pending, Reason::NeverProcessed, message)
        }
    }

    fn seen(&self, object: &Object<'_>, traces: &Traces<'_>) -> Result<Seen, Unreadable> {
        let mut current = None;
        let mut changed = None;
        for mark in &traces.marks {
            let view = self.view(traces);
            if mark.text().is_some_and(|text| same::is_plainly_same(text, object.tree(), view)) {
                current = Some(mark);
                continue;
            }
            let differences = essence::compare(&mark.essence(self)?, object.tree(), view);
            if differences.is_empty() {
                current = Some(mark);
            } else if changed.is_none() {
                changed = Some((mark, differences));
            }
        }
        Ok(match (current, changed) {
            (None, None) => Seen::Never,
            (Some(_), None) => Seen::Current,
            (None, Some((_, differences))) => Seen::Changed(differences),
            (Some(current), Some((changed, _))) => Seen::Disagreeing(format!(
                "{} says handled, {} says changed since; set the rule's prefix or storage",
                current.place(),
                changed.place()
            )),
        })
    }

    fn view<'v>(&'v self, traces: &'v Traces<'_>) -> View<'v> {
        View { prefixes: &traces.prefixes, ignored: &self.ignored, status_field: &self.status_field }
    }

    fn clock(&self, object: &Object<'_>, traces: &Traces<'_>, now: Timestamp) -> Clock {
        Clock {
            now,
            written_at: traces.written_at().map(|at| at.min(now)),
            desired_at: desired_at(object),
            max_attempt: self.options.max_attempt,
        }
    }
}

/// The newest write of a part of the essence by somebody else than kopf, nudges left out.
fn changed_by_others_at(object: &Object<'_>) -> Option<Timestamp> {
    let entries = object.managed_fields().filter(|entry| entry.manager != MANAGER && entry.manager != nudge::MANAGER);
    entries
        .filter(|entry| entry.owns_spec || entry.owns_metadata || entry.owns_other)
        .filter_map(|entry| entry.at())
        .max()
}

fn desired_at(object: &Object<'_>) -> Option<Timestamp> {
    changed_by_others_at(object).max(object.created_at()).max(object.deleted_at())
}

/// When an object was changed that differs from its mark; absent where it does not tell.
///
/// `managedFields` does not move when a field is removed. Then the newest write that it shows is older than kopf's own,
/// which would make a change of a moment ago look as old as the object.
fn changed_at(object: &Object<'_>, traces: &Traces<'_>) -> Option<Timestamp> {
    changed_by_others_at(object).filter(|changed| traces.marked_at().is_none_or(|marked| *changed > marked))
}

#[cfg(test)]
mod tests;
