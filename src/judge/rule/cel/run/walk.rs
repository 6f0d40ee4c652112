//! What goes through lists and maps: the loops of macros, `in`, and equality.

use super::{Answer, Run, settle};
use crate::judge::rule::cel::compute;
use crate::judge::rule::cel::fault::{Cause, Failure};
use crate::judge::rule::cel::node::{Fold, Gather, Node};
use crate::judge::rule::cel::value::{Kind, Value};

impl<'v> Run<'v> {
    pub(super) fn is_in(&mut self, two: &'v [Node; 2], at: usize) -> Answer<'v> {
        let (value, of) = self.both(two)?;
        if let (Value::Text(key), Value::Entries(_)) = (&value, &of) {
            return Ok(Value::Bool(of.field(key.as_str()).is_some()));
        }
        let Some(count) = of.positions() else {
            return Err(Failure { at, cause: Cause::kind(&of, "a list or a map") });
        };
        let is_key = matches!(value.kind(), Some(Kind::Text | Kind::Bool | Kind::Int | Kind::Uint | Kind::Double));
        if of.kind() == Some(Kind::Map) && !is_key {
            return Err(Failure { at, cause: Cause::kind(&value, "text, a number, true or false") });
        }
        for position in 0..count {
            if let Some(item) = of.walked(position)
                && self.equal(&value, &item, at)?
            {
                return Ok(Value::Bool(true));
            }
        }
        Ok(Value::Bool(false))
    }

    pub(super) fn fold(&mut self, fold: &'v Fold, at: usize) -> Answer<'v> {
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
    pub(super) fn equal(&mut self, left: &Value<'v>, right: &Value<'v>, at: usize) -> Result<bool, Failure> {
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
