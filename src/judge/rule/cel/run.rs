//! Evaluates an expression over one object, step by step, each paid for.
//!
//! Semantics are those of CEL with three differences, all to the side of `unknown`: `||`, `&&`, `exists` and `all` pass
//! over nothing but what is absent, where CEL passes over every error; null in the object is as good as absent; and
//! `has(a.b.c)` is false, and no error, where `a.b` is absent.

mod walk;

use std::cmp::Ordering;
use std::rc::Rc;

use super::compute;
use super::fault::{Cause, Failure};
use super::function::Function;
use super::node::{Comparison, Form, Literal, Node};
use super::value::{Text, Value};
use crate::judge::object::tree::Tree;

/// How many steps all expressions may take on one object: a few milliseconds at most, and a few megabytes.
pub(super) const STEPS: usize = 250_000;

type Answer<'v> = Result<Value<'v>, Failure>;

/// The evaluation of expressions over one object.
pub(super) struct Run<'v> {
    own: &'v Tree<'v>,
    locals: Vec<Value<'v>>,
    left: usize,
}

impl<'v> Run<'v> {
    pub(super) const fn new(own: &'v Tree<'v>) -> Self {
        Self { own, locals: Vec::new(), left: STEPS }
    }

    /// How many steps were taken.
    #[cfg(test)]
    pub(super) const fn taken(&self) -> usize {
        STEPS - self.left
    }

    /// Evaluates a step and everything below it.
    pub(super) fn evaluate(&mut self, node: &'v Node) -> Answer<'v> {
        let at = node.at;
        self.pay(1, at)?;
        match &node.form {
            Form::Literal(literal) => Ok(written(literal)),
            Form::Own => Ok(Value::of(self.own)),
            Form::Local(depth) => self.locals.get(*depth).cloned().ok_or(Failure { at, cause: Cause::Absent }),
            Form::Select(of, key) => self.select(of, key, at),
            Form::Has(of, key) => match self.select(of, key, at) {
                Ok(_) => Ok(Value::Bool(true)),
                Err(Failure { cause: Cause::Absent, .. }) => Ok(Value::Bool(false)),
                Err(failure) => Err(failure),
            },
            Form::Index(two) => self.index(two, at),
            Form::Not(of) => Ok(Value::Bool(!self.is_true(of)?)),
            Form::Negate(of) => compute::negate(&self.evaluate(of)?).map_err(|cause| Failure { at, cause }),
            Form::And(two) => self.logic(two, false).map(Value::Bool),
            Form::Or(two) => self.logic(two, true).map(Value::Bool),
            Form::If(three) => {
                let [condition, then, otherwise] = &**three;
                if self.is_true(condition)? { self.evaluate(then) } else { self.evaluate(otherwise) }
            }
            Form::Equal(is_negated, two) => {
                let (left, right) = self.both(two)?;
                Ok(Value::Bool(self.equal(&left, &right, at)? != *is_negated))
            }
            Form::Compare(comparison, two) => self.compare(*comparison, two, at),
            Form::In(two) => self.is_in(two, at),
            Form::Arithmetic(operator, two) => {
                let (left, right) = self.both(two)?;
                self.pay(compute::steps(&left, &right), at)?;
                compute::compute(*operator, &left, &right).map_err(|cause| Failure { at, cause })
            }
            Form::Call(function, arguments) => self.call(*function, arguments, at),
            Form::Matches(text, pattern) => {
                let Value::Text(text) = self.evaluate_as(text, "text", |it| matches!(it, Value::Text(_)))? else {
                    return Ok(Value::Bool(false));
                };
                let text = text.as_str();
                self.pay(text.len().saturating_mul(pattern.steps_per_byte), at)?;
                Ok(Value::Bool(pattern.regex.is_match(text)))
            }
            Form::List(items) => {
                items.iter().map(|item| self.evaluate(item)).collect::<Result<_, _>>().map(Value::list)
            }
            Form::Map(entries) => self.map(entries, at),
            Form::Fold(fold) => self.fold(fold, at),
        }
    }

    fn pay(&mut self, steps: usize, at: usize) -> Result<(), Failure> {
        let Some(left) = self.left.checked_sub(steps) else {
            self.left = 0;
            return Err(Failure { at, cause: Cause::Budget });
        };
        self.left = left;
        Ok(())
    }

    fn evaluate_as(&mut self, node: &'v Node, wanted: &'static str, fits: fn(&Value<'v>) -> bool) -> Answer<'v> {
        let value = self.evaluate(node)?;
        if fits(&value) { Ok(value) } else { Err(Failure { at: node.at, cause: Cause::kind(&value, wanted) }) }
    }

    /// Evaluates what must be true or false.
    pub(super) fn is_true(&mut self, node: &'v Node) -> Result<bool, Failure> {
        match self.evaluate(node)? {
            Value::Bool(value) => Ok(value),
            other => Err(Failure { at: node.at, cause: Cause::kind(&other, "true or false") }),
        }
    }

    fn both(&mut self, two: &'v [Node; 2]) -> Result<(Value<'v>, Value<'v>), Failure> {
        let [left, right] = two;
        Ok((self.evaluate(left)?, self.evaluate(right)?))
    }

    /// `&&` or `||`: the side that settles it wins over a side that looks for something absent.
    fn logic(&mut self, two: &'v [Node; 2], settling: bool) -> Result<bool, Failure> {
        let [left, right] = two;
        let left = settle(self.is_true(left))?;
        if left == Ok(settling) {
            return left;
        }
        match (left, settle(self.is_true(right))?) {
            (_, Ok(value)) if value == settling => Ok(settling),
            (Err(failure), _) | (_, Err(failure)) => Err(failure),
            _ => Ok(!settling),
        }
    }

    fn select(&mut self, of: &'v Node, key: &'v str, at: usize) -> Answer<'v> {
        let of = self.evaluate(of)?;
        if !matches!(of, Value::Entries(_) | Value::Map(_)) {
            return Err(Failure { at, cause: Cause::kind(&of, "a map") });
        }
        of.field(key).ok_or(Failure { at, cause: Cause::Absent })
    }

    fn index(&mut self, two: &'v [Node; 2], at: usize) -> Answer<'v> {
        let (of, index) = self.both(two)?;
        let found = match (&of, &index) {
            (Value::Entries(_) | Value::Map(_), Value::Text(key)) => of.field(key.as_str()),
            (Value::Map(entries), key) => {
                let mut found = None;
                for (name, value) in entries.iter() {
                    if self.equal(name, key, at)? {
                        found = Some(value.clone());
                    }
                }
                found
            }
            (Value::Items(_) | Value::List(_), Value::Int(position)) => {
                usize::try_from(*position).ok().and_then(|position| of.walked(position))
            }
            (Value::Items(_) | Value::List(_), other) => {
                return Err(Failure { at, cause: Cause::kind(other, "a whole number") });
            }
            (Value::Entries(_), other) => return Err(Failure { at, cause: Cause::kind(other, "text") }),
            (other, _) => return Err(Failure { at, cause: Cause::kind(other, "a list or a map") }),
        };
        found.ok_or(Failure { at, cause: Cause::Absent })
    }

    fn compare(&mut self, comparison: Comparison, two: &'v [Node; 2], at: usize) -> Answer<'v> {
        let (left, right) = self.both(two)?;
        self.pay(compute::length(&left) / 64, at)?;
        let order = compute::order(&left, &right).map_err(|cause| Failure { at, cause })?;
        // A number that is none has no order, and every comparison with it is false.
        Ok(Value::Bool(order.is_some_and(|order| match comparison {
            Comparison::Less => order == Ordering::Less,
            Comparison::LessOrEqual => order != Ordering::Greater,
            Comparison::Greater => order == Ordering::Greater,
            Comparison::GreaterOrEqual => order != Ordering::Less,
        })))
    }

    fn call(&mut self, function: Function, arguments: &'v [Node], at: usize) -> Answer<'v> {
        let mut values = Vec::with_capacity(arguments.len());
        for argument in arguments {
            values.push(match self.evaluate(argument) {
                Err(Failure { cause: Cause::Absent, .. }) if function.takes_absent() => Value::Null,
                other => other?,
            });
        }
        self.pay(function.steps(&values), at)?;
        function.call(&values).map_err(|cause| Failure { at, cause })
    }

    fn map(&mut self, entries: &'v [[Node; 2]], at: usize) -> Answer<'v> {
        let mut made: Vec<(Value<'v>, Value<'v>)> = Vec::with_capacity(entries.len());
        for [key, value] in entries {
            let (key, value) = (self.evaluate(key)?, self.evaluate(value)?);
            if !matches!(key, Value::Text(_) | Value::Int(_) | Value::Uint(_) | Value::Bool(_)) {
                return Err(Failure { at, cause: Cause::kind(&key, "text, a whole number, true or false") });
            }
            for (earlier, _) in &made {
                if self.equal(earlier, &key, at)? {
                    return Err(Failure { at, cause: Cause::Repeated });
                }
            }
            made.push((key, value));
        }
        Ok(Value::Map(Rc::new(made)))
    }
}

/// Lets through an answer and what may be passed over; any other failure ends the evaluation.
fn settle(answer: Result<bool, Failure>) -> Result<Result<bool, Failure>, Failure> {
    match answer {
        Err(failure) if failure.cause != Cause::Absent => Err(failure),
        other => Ok(other),
    }
}

fn written(literal: &Literal) -> Value<'_> {
    match literal {
        Literal::Null => Value::Null,
        Literal::Bool(value) => Value::Bool(*value),
        Literal::Int(number) => Value::Int(*number),
        Literal::Uint(number) => Value::Uint(*number),
        Literal::Double(number) => Value::Double(*number),
        Literal::Text(text) => Value::Text(Text::Borrowed(text)),
        Literal::Kind(kind) => Value::Kind(*kind),
    }
}
