//! The rule `cel`: expressions of the configuration over the object alone.
//!
//! The library reads the language; evaluation is our own, because nothing else can be bounded: the library's evaluator
//! has no cost limit (586 bytes took 11.7 s and 3.2 GB), its errors carry values of objects, it passes over misspelt
//! functions behind `||`, and it copies what it is given. Here every step, every item walked and every byte made is
//! paid for out of a budget per object ([`run::STEPS`]), values are borrowed from what the mask let through, and what
//! can fail fails with one of a closed list of causes and a place in the source.
//!
//! An acknowledgement is an object that becomes processed, or a change of the observed generation of its status or its
//! conditions, where there is one: the same numbers as in the rule `generation`.

pub mod expression;
pub mod fault;

mod check;
mod compute;
mod function;
mod lint;
mod lower;
mod node;
mod paths;
mod run;
mod value;

use std::time::Duration;

use super::{COMMON_DURATIONS, Durations, generation};
use crate::judge::object::Object;
use crate::judge::object::mask::Mask;
use crate::judge::state::{Judgement, Reason, Since, SinceFrom, State};
use expression::Expression;
use fault::Failure;
use run::Run;
use value::Value;

/// The rule with its expressions.
#[derive(Debug, Clone)]
pub struct Cel {
    options: Options,
    max_attempt: Duration,
}

/// The expressions. All but `since` are true or false.
#[derive(Debug, Clone)]
pub struct Options {
    /// Whether the operator has served the latest desired state.
    pub processed: Expression,
    /// Whether it has seen it and is at work.
    pub in_progress: Option<Expression>,
    /// Whether it has seen it and reports that it failed.
    pub failing: Option<Expression>,
    /// Whether nobody expects it to act.
    pub paused: Option<Expression>,
    /// Whether it has not seen it. Without it, what is none of the others is pending.
    pub pending: Option<Expression>,
    /// Since when the object is in its state: a time, or text that can be read as one.
    pub since: Option<Expression>,
}

impl Options {
    /// Every expression with its key, in the order of evaluation.
    fn all(&self) -> impl Iterator<Item = &Expression> {
        let optional = [&self.paused, &self.pending, &self.failing, &self.in_progress, &self.since];
        optional.into_iter().flatten().chain([&self.processed])
    }
}

impl Cel {
    /// `max_attempt`: how long the operator may stay `in-progress` or `failing` without any movement. Default: 15 min.
    pub fn new(options: Options, max_attempt: Option<Duration>) -> Self {
        Self { options, max_attempt: max_attempt.unwrap_or(COMMON_DURATIONS.max_attempt) }
    }

    pub(super) const fn durations(&self) -> Durations {
        Durations { max_attempt: self.max_attempt, ..COMMON_DURATIONS }
    }

    pub(super) fn mask(&self, common: Mask) -> Mask {
        let conditions = ["status", "conditions"];
        let common = common
            .fields(&["status"], &["observedGeneration", "observed_generation"])
            .fields(&conditions, &["observedGeneration", "lastTransitionTime"]);
        self.options.all().fold(common, |mask, expression| mask.union(expression.mask()))
    }

    pub(super) fn judge(&self, object: &Object<'_>) -> Judgement {
        let numbers = generation::complete(object, Judgement::new(State::Unknown, None, ""));
        let Judgement { token, desired, signalled, .. } = numbers;
        let judgement = self.evaluate(object, signalled);
        let judgement = judgement.unwrap_or_else(|message| Judgement::unknown(Reason::RuleError, message));
        Judgement { token, desired, signalled, desired_at: generation::desired_at(object), ..judgement }
    }

    /// `has_observed`: whether the object shows an observed generation. The error is a message: which expression failed,
    /// where, and for which of the closed list of causes.
    fn evaluate(&self, object: &Object<'_>, has_observed: bool) -> Result<Judgement, String> {
        let mut run = Run::new(object.tree());
        let state = self.state(&mut run)?;
        let moved_at = generation::status_written_at(object);
        // What was served once, by the numbers or by a status that is written, waits with its change.
        let is_known = has_observed || moved_at.is_some();
        let (reason, message) = match state {
            State::Processed => {
                return Ok(Judgement { acked_at: moved_at, ..Judgement::new(state, None, "`processed` is true") });
            }
            State::Unknown => return Ok(Judgement::unknown(Reason::NoSignal, "no expression of the rule is true")),
            State::Paused => (Reason::Suspended, "`paused` is true"),
            State::Failing => (Reason::ReportsFailure, "`failing` is true"),
            State::InProgress => (Reason::Working, "`inProgress` is true"),
            State::Pending => (
                if is_known { Reason::ChangeNotProcessed } else { Reason::NeverProcessed },
                if self.options.pending.is_some() { "`pending` is true" } else { "`processed` is not true" },
            ),
        };
        let told = self.since(&mut run)?;
        let own = || if state == State::Pending { own_since(object, is_known) } else { None };
        let is_acked = matches!(state, State::Failing | State::InProgress);
        let marker = told.map(|since| since.at).or(moved_at).filter(|_| is_acked);
        Ok(Judgement {
            since: told.or_else(own),
            until: marker.and_then(|at| at.checked_add(self.max_attempt).ok()),
            moved_at: marker,
            acked_at: moved_at.filter(|_| is_acked),
            ..Judgement::new(state, reason, message)
        })
    }

    fn state<'v>(&'v self, run: &mut Run<'v>) -> Result<State, String> {
        let Options { processed, in_progress, failing, paused, pending, since: _ } = &self.options;
        let optional = [
            ("paused", paused, State::Paused),
            ("pending", pending, State::Pending),
            ("failing", failing, State::Failing),
            ("inProgress", in_progress, State::InProgress),
        ];
        for (key, expression, state) in optional {
            if let Some(expression) = expression
                && is_true(run, key, expression)?
            {
                return Ok(state);
            }
        }
        Ok(match (is_true(run, "processed", processed)?, pending) {
            (true, _) => State::Processed,
            (false, None) => State::Pending,
            (false, Some(_)) => State::Unknown,
        })
    }

    /// What `since` says; `None` where it says nothing: null, or something absent.
    fn since<'v>(&'v self, run: &mut Run<'v>) -> Result<Option<Since>, String> {
        let Some(expression) = &self.options.since else { return Ok(None) };
        let value = match run.evaluate(expression.root()) {
            Ok(Value::Null) | Err(Failure { cause: fault::Cause::Absent, .. }) => return Ok(None),
            Ok(value) => value,
            Err(failure) => return Err(expression.message("since", failure)),
        };
        let failed = |cause| expression.message("since", Failure { at: expression.root().at, cause });
        function::to_time(&value).map(|at| Some(Since::new(at, SinceFrom::Rule))).map_err(failed)
    }
}

/// Since when the object waits by its own times: its creation, or the last write of its spec where it was known before.
fn own_since(object: &Object<'_>, is_known: bool) -> Option<Since> {
    match object.generation() {
        Some(generation) if is_known => generation::changed_since(object, generation),
        _ => object.created_at().map(|created| Since::new(created, SinceFrom::Creation)),
    }
}

fn is_true<'v>(run: &mut Run<'v>, key: &str, expression: &'v Expression) -> Result<bool, String> {
    run.is_true(expression.root()).map_err(|failure| expression.message(key, failure))
}

/// The judgement of an object that `where` leaves out, or on which it fails; `None` where the object is meant.
pub(super) fn left_out(selection: &Expression, object: &Object<'_>) -> Option<Judgement> {
    let mut run = Run::new(object.tree());
    match is_true(&mut run, "where", selection) {
        Ok(true) => None,
        Ok(false) => Some(Judgement::new(State::Paused, Reason::NotSelected, "`where` is false")),
        Err(message) => Some(Judgement::unknown(Reason::RuleError, message)),
    }
}

#[cfg(test)]
mod tests;
