//! Evaluates an expression over one object, step by step, each paid for.
//!
//! Semantics are those of CEL with three differences, all to the side of `unknown`: `||`, `&&`, `exists` and `all` pass
//! over nothing but what is absent, where CEL passes over every error; null in the object is as good as absent; and
//! `has(a.b.c)` is false, and no error, where `a.b` is absent.

use std::cmp::Ordering;
use std::rc::Rc;

use super::compute;
use super::fault::{Cause, Failure};
use super::function::Function;
use super::node::{Comparison, Fold, Form, Gather, Literal, Node};
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
        match self.left.checked_sub(steps) {
            Some(left) => self.left = left,
            None => {
                self.left = 0;
                return Err(Failure { at, cause: Cause::Budget });
            }
        }
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

    fn is_in(&mut self, two: &'v [Node; 2], at: usize) -> Answer<'v> {
        let (value, of) = self.both(two)?;
        if let (Value::Text(key), Value::Entries(_)) = (&value, &of) {
            return Ok(Value::Bool(of.field(key.as_str()).is_some()));
        }
        let Some(count) = of.positions() else {
            return Err(Failure { at, cause: Cause::kind(&of, "a list or a map") });
        };
        for position in 0..count {
            if let Some(item) = of.walked(position)
                && self.equal(&value, &item, at)?
            {
                return Ok(Value::Bool(true));
            }
        }
        Ok(Value::Bool(false))
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

    fn fold(&mut self, fold: &'v Fold, at: usize) -> Answer<'v> {
        let range = self.evaluate(&fold.range)?;
        let is_map = matches!(range, Value::Entries(_) | Value::Map(_));
        let Some(count) = range.positions().filter(|_| !is_map || fold.takes_keys) else {
            return Err(Failure { at, cause: Cause::kind(&range, "a list") });
        };
        let mut walk = Walked { exists: false, all: true, absent: None, count: 0, items: Vec::new() };
        for position in 0..count {
            self.pay(1, at)?;
            let Some(item) = range.walked(position) else { continue };
            self.locals.push(item);
            let goes_on = self.gather(&fold.gather, &mut walk);
            self.locals.pop();
            if !goes_on? {
                break;
            }
        }
        walk.answer(&fold.gather)
    }

    /// Takes in one item; false when the answer is settled.
    fn gather(&mut self, gather: &'v Gather, walk: &mut Walked<'v>) -> Result<bool, Failure> {
        match gather {
            Gather::Exists(condition) | Gather::All(condition) => {
                let settling = matches!(gather, Gather::Exists(_));
                match settle(self.is_true(condition))? {
                    Ok(value) if value == settling => {
                        (walk.exists, walk.all) = (true, false);
                        return Ok(false);
                    }
                    Err(failure) => walk.absent = walk.absent.or(Some(failure)),
                    Ok(_) => {}
                }
            }
            Gather::ExistsOne(condition) => walk.count += usize::from(self.is_true(condition)?),
            Gather::Collect { when, item } => {
                let is_taken = when.as_ref().map_or(Ok(true), |condition| self.is_true(condition))?;
                if is_taken {
                    walk.items.push(self.evaluate(item)?);
                }
            }
        }
        Ok(true)
    }

    /// `==`: numbers of all types compare by value, other values of different types are different.
    fn equal(&mut self, left: &Value<'v>, right: &Value<'v>, at: usize) -> Result<bool, Failure> {
        self.pay(1 + compute::length(left).min(compute::length(right)) / 64, at)?;
        if let Some(is_equal) = compute::equal(left, right).map_err(|cause| Failure { at, cause })? {
            return Ok(is_equal);
        }
        let (Some(count), Some(others)) = (left.positions(), right.positions()) else { return Ok(false) };
        if left.kind() != right.kind() {
            return Ok(false);
        }
        self.pay(count.max(others), at)?;
        if left.len() != right.len() {
            return Ok(false);
        }
        let is_map = matches!(left, Value::Entries(_) | Value::Map(_));
        for position in 0..count {
            let Some(item) = left.walked(position) else { continue };
            let pair = if is_map {
                self.under(left, &item, at)?.zip(self.under(right, &item, at)?)
            } else {
                right.walked(position).map(|other| (item, other))
            };
            match pair {
                Some((one, other)) if self.equal(&one, &other, at)? => {}
                _ => return Ok(false),
            }
        }
        Ok(true)
    }

    /// The value under a key of a map.
    fn under(&mut self, map: &Value<'v>, key: &Value<'v>, at: usize) -> Result<Option<Value<'v>>, Failure> {
        self.pay(map.positions().unwrap_or(0) / 8, at)?;
        match (map, key) {
            (_, Value::Text(key)) => Ok(map.field(key.as_str())),
            (Value::Map(entries), key) => {
                for (name, value) in entries.iter() {
                    if self.equal(name, key, at)? {
                        return Ok(Some(value.clone()));
                    }
                }
                Ok(None)
            }
            _ => Ok(None),
        }
    }
}

/// What a loop has seen so far.
struct Walked<'v> {
    exists: bool,
    all: bool,
    absent: Option<Failure>,
    count: usize,
    items: Vec<Value<'v>>,
}

impl<'v> Walked<'v> {
    fn answer(self, gather: &Gather) -> Answer<'v> {
        match gather {
            Gather::Exists(_) if self.exists => Ok(Value::Bool(true)),
            Gather::All(_) if !self.all => Ok(Value::Bool(false)),
            Gather::Exists(_) | Gather::All(_) => match self.absent {
                Some(failure) => Err(failure),
                None => Ok(Value::Bool(matches!(gather, Gather::All(_)))),
            },
            Gather::ExistsOne(_) => Ok(Value::Bool(self.count == 1)),
            Gather::Collect { .. } => Ok(Value::list(self.items)),
        }
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
