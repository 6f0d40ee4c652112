//! How to read from one object whether its operator has processed the latest desired state.
//!
//! A rule is a mask (the paths that it reads) and a function over what the mask lets through. What is the same for
//! every rule stands here, once: decoding, the deletion step, the deadline of `in-progress` and `failing`, and the
//! annotation by which a person excuses an object.

pub mod auto;
pub mod cel;
pub mod generation;
pub mod kopf;

use std::time::Duration;

use jiff::Timestamp;

use super::object::mask::Mask;
use super::object::{self, Identity, Object};
use super::state::{Excuse, Judgement, Reason, Signal, Since, SinceFrom, State, words};
use cel::Cel;
use cel::expression::Expression;
use generation::Generation;
use kopf::Kopf;

/// A rule with its options.
#[derive(Debug, Clone)]
pub enum Rule {
    /// kopf's marks.
    Kopf(Kopf),
    /// `status.observedGeneration` and the conditions' own.
    Generation(Generation),
    /// Expressions of the configuration.
    Cel(Cel),
}

/// Which rule the configuration or a flag asks for.
#[derive(Debug, Clone)]
pub enum Choice {
    /// The one that fits what the resource and its objects show.
    Auto {
        /// In place of the chosen rule's own.
        max_attempt: Option<Duration>,
    },
    /// This one.
    Named(Rule),
}

words! {
    /// Why a resource is read by its rule.
    RuleFrom {
        /// Its API group is known.
        Group = "group",
        /// Its definition leaves no other.
        Schema = "schema",
        /// Its objects show the rule's marks, or no rule's.
        Objects = "objects",
        /// The configuration says so.
        Config = "config",
        /// `--rule` says so.
        Flag = "flag",
    }
}

/// A rule's own durations, in force where the configuration says `auto`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Durations {
    /// How long an object may stay pending before it is overdue.
    pub overdue_after: Duration,
    /// How long a stream with candidates may stay silent before it is asleep.
    pub asleep_after: Duration,
    /// The longest that one attempt of the operator takes.
    pub max_attempt: Duration,
}

const MINUTE: Duration = Duration::from_mins(1);

/// What every rule does that does not say otherwise.
pub const COMMON_DURATIONS: Durations = Durations {
    overdue_after: MINUTE.saturating_mul(5),
    asleep_after: MINUTE.saturating_mul(15),
    max_attempt: MINUTE.saturating_mul(15),
};

/// What is known of a rule's finalizers.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Holder {
    /// One of them stands on the object: the operator has still to do its part.
    Operator,
    /// The rule knows its finalizers and none of them stands on the object.
    Others,
    /// The rule does not know which finalizers its operator uses.
    Unknown,
}

impl Rule {
    /// The name under which flags, configuration and reports know the rule.
    pub const fn name(&self) -> &'static str {
        match self {
            Self::Kopf(_) => "kopf",
            Self::Generation(_) => "generation",
            Self::Cel(_) => "cel",
        }
    }

    /// The rule's own durations; `maxAttempt` as configured.
    pub fn durations(&self) -> Durations {
        match self {
            Self::Kopf(kopf) => kopf.durations(),
            Self::Generation(generation) => generation.durations(),
            Self::Cel(cel) => cel.durations(),
        }
    }

    /// Within which time the rule's framework heals a silent stream by itself: kopf since 1.44 gives up on one after
    /// 70 s; client-go, kube-rs and fabric8 end a watch after 5 to 10 minutes.
    pub const fn own_cure(&self) -> Duration {
        match self {
            Self::Kopf(_) => Duration::from_secs(70),
            Self::Generation(_) | Self::Cel(_) => Duration::from_mins(10),
        }
    }

    /// Whether the objects of a resource, taken together, show that its operator writes this rule's signal.
    ///
    /// Where it does not, a missing signal means nothing, and objects without it are `unknown`.
    pub fn signal_exists(&self, signal: &Signal) -> bool {
        match self {
            Self::Kopf(kopf) => kopf.signal_exists(signal),
            Self::Generation(_) => signal.signalled > 0,
            // Whoever writes the expressions says that they are answered.
            Self::Cel(_) => true,
        }
    }

    fn mask(&self) -> Mask {
        match self {
            Self::Kopf(kopf) => kopf.mask(object::common_mask()),
            Self::Generation(_) => generation::mask(object::common_mask()),
            Self::Cel(cel) => cel.mask(object::common_mask()),
        }
    }

    fn holder(&self, object: &Object<'_>) -> Holder {
        match self {
            Self::Kopf(kopf) if kopf.is_held(object) => Holder::Operator,
            Self::Kopf(_) => Holder::Others,
            Self::Generation(_) | Self::Cel(_) => Holder::Unknown,
        }
    }

    /// The answer for an object that is being deleted and shows live progress of its deletion.
    fn deletion_progress(&self, object: &Object<'_>, now: Timestamp) -> Option<Judgement> {
        match self {
            Self::Kopf(kopf) => kopf.deletion_progress(object, now),
            Self::Generation(_) | Self::Cel(_) => None,
        }
    }

    /// Adds the fingerprints to an answer about a deletion: without them a request for deletion would look like an
    /// acknowledgement of what was desired before.
    fn complete_deletion(&self, object: &Object<'_>, judgement: Judgement) -> Judgement {
        match self {
            Self::Kopf(kopf) => kopf.complete_deletion(object, judgement),
            Self::Generation(_) | Self::Cel(_) => generation::complete(object, judgement),
        }
    }

    /// The answer for an object that is not being deleted.
    fn judge(&self, object: &Object<'_>, now: Timestamp) -> Judgement {
        match self {
            Self::Kopf(kopf) => kopf.judge(object, now),
            Self::Generation(generation) => generation.judge(object),
            Self::Cel(cel) => cel.judge(object),
        }
    }
}

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

#[cfg(test)]
mod tests;
