//! Arithmetic, order and equality of single values.

use std::cmp::Ordering;

use super::fault::Cause;
use super::node::Operator;
use super::value::{Kind, Value};

/// The bytes of a text; 0 for anything else.
pub(super) fn length(value: &Value<'_>) -> usize {
    if let Value::Text(text) = value { text.as_str().len() } else { 0 }
}

/// How much work it is to compute something of the two, in steps: what is put together is copied.
pub(super) fn steps(left: &Value<'_>, right: &Value<'_>) -> usize {
    let size = |value: &Value<'_>| match value {
        Value::Items(_) | Value::List(_) => value.positions().unwrap_or(0),
        other => length(other) / 16,
    };
    size(left) + size(right)
}

/// `-x`.
pub(super) fn negate<'v>(value: &Value<'v>) -> Result<Value<'v>, Cause> {
    match value {
        Value::Int(number) => number.checked_neg().map(Value::Int).ok_or(Cause::Overflow),
        Value::Double(number) => Ok(Value::Double(-number)),
        other => Err(Cause::kind(other, "a number with a sign")),
    }
}

/// Computes one value of two. Both must be of one type, as CEL wants it.
pub(super) fn compute<'v>(operator: Operator, left: &Value<'v>, right: &Value<'v>) -> Result<Value<'v>, Cause> {
    match (left, right) {
        (Value::Int(left), Value::Int(right)) => integer(operator, *left, *right).map(Value::Int),
        (Value::Uint(left), Value::Uint(right)) => unsigned(operator, *left, *right).map(Value::Uint),
        (Value::Double(left), Value::Double(right)) => fraction(operator, *left, *right).map(Value::Double),
        _ => match operator {
            Operator::Add => add(left, right),
            Operator::Subtract => subtract(left, right),
            _ => Err(different(left, right)),
        },
    }
}

fn integer(operator: Operator, left: i64, right: i64) -> Result<i64, Cause> {
    let result = match operator {
        Operator::Add => left.checked_add(right),
        Operator::Subtract => left.checked_sub(right),
        Operator::Multiply => left.checked_mul(right),
        Operator::Divide | Operator::Remainder if right == 0 => return Err(Cause::DivisionByZero),
        Operator::Divide => left.checked_div(right),
        Operator::Remainder => left.checked_rem(right),
    };
    result.ok_or(Cause::Overflow)
}

fn unsigned(operator: Operator, left: u64, right: u64) -> Result<u64, Cause> {
    let result = match operator {
        Operator::Add => left.checked_add(right),
        Operator::Subtract => left.checked_sub(right),
        Operator::Multiply => left.checked_mul(right),
        Operator::Divide | Operator::Remainder if right == 0 => return Err(Cause::DivisionByZero),
        Operator::Divide => left.checked_div(right),
        Operator::Remainder => left.checked_rem(right),
    };
    result.ok_or(Cause::Overflow)
}

fn fraction(operator: Operator, left: f64, right: f64) -> Result<f64, Cause> {
    Ok(match operator {
        Operator::Add => left + right,
        Operator::Subtract => left - right,
        Operator::Multiply => left * right,
        Operator::Divide => left / right,
        Operator::Remainder => return Err(Cause::Kind { found: Some(Kind::Double), wanted: "a whole number" }),
    })
}

fn add<'v>(left: &Value<'v>, right: &Value<'v>) -> Result<Value<'v>, Cause> {
    match (left, right) {
        (Value::Text(left), Value::Text(right)) => Ok(Value::text([left.as_str(), right.as_str()].concat())),
        (Value::Time(time), Value::Duration(duration)) | (Value::Duration(duration), Value::Time(time)) => {
            time.checked_add(*duration).map(Value::Time).map_err(|_| Cause::Overflow)
        }
        (Value::Duration(left), Value::Duration(right)) => {
            left.checked_add(*right).map(Value::Duration).ok_or(Cause::Overflow)
        }
        (Value::Items(_) | Value::List(_), Value::Items(_) | Value::List(_)) => {
            let items = |value: &Value<'v>| {
                let count = value.positions().unwrap_or(0);
                (0..count).filter_map(|at| value.walked(at)).collect::<Vec<_>>()
            };
            Ok(Value::list([items(left), items(right)].concat()))
        }
        _ => Err(different(left, right)),
    }
}

fn subtract<'v>(left: &Value<'v>, right: &Value<'v>) -> Result<Value<'v>, Cause> {
    match (left, right) {
        (Value::Time(left), Value::Time(right)) => Ok(Value::Duration(left.duration_since(*right))),
        (Value::Time(time), Value::Duration(duration)) => {
            time.checked_sub(*duration).map(Value::Time).map_err(|_| Cause::Overflow)
        }
        (Value::Duration(left), Value::Duration(right)) => {
            left.checked_sub(*right).map(Value::Duration).ok_or(Cause::Overflow)
        }
        _ => Err(different(left, right)),
    }
}

/// The two are of types that do not go together; the one on the right is blamed.
fn different(left: &Value<'_>, right: &Value<'_>) -> Cause {
    match left.kind() {
        Some(kind) if kind.is_number() || matches!(kind, Kind::Text | Kind::List | Kind::Time | Kind::Duration) => {
            Cause::kind(right, kind.as_str())
        }
        _ => Cause::kind(left, "a number, text, a list, a time or a duration"),
    }
}

/// How the two are ordered; `None` where one is not a number.
pub(super) fn order(left: &Value<'_>, right: &Value<'_>) -> Result<Option<Ordering>, Cause> {
    match (left, right) {
        (Value::Bool(left), Value::Bool(right)) => Ok(Some(left.cmp(right))),
        (Value::Text(left), Value::Text(right)) => Ok(Some(left.as_str().cmp(right.as_str()))),
        (Value::Time(left), Value::Time(right)) => Ok(Some(left.cmp(right))),
        (Value::Duration(left), Value::Duration(right)) => Ok(Some(left.cmp(right))),
        _ => match (number(left), number(right)) {
            (Some(left), Some(right)) => Ok(left.order(&right)),
            (Some(_), None) => Err(Cause::kind(right, "a number")),
            (None, Some(_)) => Err(Cause::kind(left, "a number")),
            (None, None) => Err(different(left, right)),
        },
    }
}

/// Whether two single values are equal; `None` where both are lists or maps and must be walked.
pub(super) fn equal(left: &Value<'_>, right: &Value<'_>) -> Result<Option<bool>, Cause> {
    Ok(Some(match (left, right) {
        (Value::Unread, _) | (_, Value::Unread) => return Err(Cause::Kind { found: None, wanted: "a value" }),
        (Value::Null, Value::Null) => true,
        (Value::Bool(left), Value::Bool(right)) => left == right,
        (Value::Text(left), Value::Text(right)) => left.as_str() == right.as_str(),
        (Value::Time(left), Value::Time(right)) => left == right,
        (Value::Duration(left), Value::Duration(right)) => left == right,
        (Value::Kind(left), Value::Kind(right)) => left == right,
        _ => match (number(left), number(right)) {
            (Some(left), Some(right)) => left.order(&right) == Some(Ordering::Equal),
            (None, None) if left.positions().is_some() && right.positions().is_some() => return Ok(None),
            _ => false,
        },
    }))
}

/// A number of any type.
enum Number {
    Whole(i128),
    Fraction(f64),
}

fn number(value: &Value<'_>) -> Option<Number> {
    match value {
        Value::Int(number) => Some(Number::Whole((*number).into())),
        Value::Uint(number) => Some(Number::Whole((*number).into())),
        Value::Double(number) => Some(Number::Fraction(*number)),
        _ => None,
    }
}

impl Number {
    fn order(&self, other: &Self) -> Option<Ordering> {
        match (self, other) {
            (Self::Whole(left), Self::Whole(right)) => Some(left.cmp(right)),
            (Self::Fraction(left), Self::Fraction(right)) => left.partial_cmp(right),
            (Self::Whole(left), Self::Fraction(right)) => whole_to_fraction(*left, *right),
            (Self::Fraction(left), Self::Whole(right)) => whole_to_fraction(*right, *left).map(Ordering::reverse),
        }
    }
}

/// Compares exactly: the whole part first, then what is behind the point.
#[expect(clippy::cast_possible_truncation, reason = "saturates far beyond every whole number there is")]
fn whole_to_fraction(whole: i128, fraction: f64) -> Option<Ordering> {
    if fraction.is_nan() {
        return None;
    }
    let cut = fraction.trunc();
    Some(whole.cmp(&(cut as i128)).then_with(|| 0.0_f64.partial_cmp(&(fraction - cut)).unwrap_or(Ordering::Equal)))
}
