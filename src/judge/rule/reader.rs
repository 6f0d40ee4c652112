//! A rule at work: decoding, the deletion step, deadlines, and the annotation by which a person excuses an object.

use jiff::Timestamp;

use super::cel::expression::Expression;
use super::{Holder, Rule, cel};
use crate::judge::object::mask::Mask;
use crate::judge::object::{self, Identity, Object};
use crate::judge::state::{Excuse, Judgement, Reason, Since, SinceFrom, State};

/// A rule made ready for the objects of one resource.
#[derive(Debug, Clone)]
pub struct Reader {
    rule: Rule,
    selection: Option<Expression>,
    finalizers: Vec<String>,
    mask: Mask,
}

impl Reader {
    /// `finalizers` are those that the configuration calls the operator's own, beside those that the rule knows.
    pub fn new(rule: Rule, finalizers: Vec<String>) -> Self {
        let mask = rule.mask();
        Self { rule, selection: None, finalizers, mask }
    }

    /// Judges only objects for which `selection` is true; others are `paused`, reason `not-selected`. It stands before
    /// everything else, also before deletion, since what it leaves out is another operator's.
    #[must_use]
    pub fn selecting(self, selection: Option<Expression>) -> Self {
        let mask = selection.iter().fold(self.mask, |mask, selection| mask.union(selection.mask()));
        Self { selection, mask, ..self }
    }

    /// The rule.
    pub const fn rule(&self) -> &Rule {
        &self.rule
    }

    /// Judges the object that `json` is and hands the answer to `then` with what is known of its identity.
    ///
    /// `now` is on the API server's clock. What cannot be decoded is `unknown`, reason `undecodable`.
    pub fn judge<R>(&self, json: &[u8], now: Timestamp, then: impl FnOnce(Identity<'_>, Judgement) -> R) -> R {
        match Object::read(json, &self.mask) {
            Ok(object) => then(object.identity(), self.judge_object(&object, now)),
            Err(error) => {
                let judgement = Judgement::unknown(Reason::Undecodable, error.to_string());
                object::identity_of(json, &object::identity_mask(), |identity| then(identity, judgement))
            }
        }
    }

    fn judge_object(&self, object: &Object<'_>, now: Timestamp) -> Judgement {
        if let Some(left_out) = self.selection.as_ref().and_then(|selection| cel::left_out(selection, object)) {
            return Judgement { created_at: object.created_at(), held: self.is_held(object), ..left_out };
        }
        let mut judgement = match object.deleted_at() {
            Some(deleted_at) => self.rule.complete_deletion(object, self.judge_deletion(object, deleted_at, now)),
            None if object.is_ignored() => {
                Judgement::new(State::Paused, Reason::Ignored, "annotated with dogwatch/ignore")
            }
            None => self.rule.judge(object, now),
        };
        if object.is_ignored() {
            judgement.excuse = Some(Excuse::Ignored);
        }
        judgement.created_at = object.created_at();
        judgement.held = self.is_held(object);
        after_deadline(judgement, now)
    }

    fn is_held(&self, object: &Object<'_>) -> bool {
        self.rule.holder(object) == Holder::Operator
            || object.finalizers().any(|finalizer| self.finalizers.iter().any(|own| own == finalizer))
    }

    fn judge_deletion(&self, object: &Object<'_>, deleted_at: Timestamp, now: Timestamp) -> Judgement {
        // Records that are left behind once the last finalizer of the operator is gone move no more.
        let is_released = self.rule.holder(object) == Holder::Others && !self.is_held(object);
        if let Some(progress) = self.rule.deletion_progress(object, now).filter(|_| !is_released) {
            return progress;
        }
        let pending = |message| Judgement {
            since: Some(Since::new(deleted_at, SinceFrom::Deletion)),
            desired_at: Some(deleted_at),
            ..Judgement::new(State::Pending, Reason::DeletionNotProcessed, message)
        };
        if self.is_held(object) {
            return pending("deletion requested; the operator's finalizer is still there");
        }
        match self.rule.holder(object) {
            Holder::Operator | Holder::Others => Judgement::new(
                State::Processed,
                Reason::HeldByOthers,
                "deletion requested; the operator has let go, another finalizer holds the object",
            ),
            Holder::Unknown => Judgement {
                excuse: Some(Excuse::HolderUnknown),
                ..pending("deletion requested; whose finalizers hold the object is not known")
            },
        }
    }
}

/// Turns `in-progress` and `failing` past their deadline into `pending`, since the deadline.
fn after_deadline(judgement: Judgement, now: Timestamp) -> Judgement {
    match judgement.until {
        Some(until) if matches!(judgement.state, State::InProgress | State::Failing) && now > until => Judgement {
            state: State::Pending,
            reason: Some(Reason::ProgressStopped),
            since: Some(Since::new(until, SinceFrom::Deadline)),
            until: None,
            message: format!("{}; no movement since", judgement.message).into(),
            ..judgement
        },
        _ => judgement,
    }
}
