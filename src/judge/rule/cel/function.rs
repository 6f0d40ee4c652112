//! The functions that an expression may call, and what each makes of its arguments.

use jiff::{SignedDuration, Timestamp};

use super::fault::Cause;
use super::value::{Kind, Value};
use crate::judge::object::parse_time;
use crate::judge::object::tree::Tree;

/// A function.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Function {
    Size,
    Contains,
    StartsWith,
    EndsWith,
    LowerAscii,
    UpperAscii,
    Int,
    Uint,
    Double,
    Bool,
    String,
    Type,
    Dyn,
    Timestamp,
    Duration,
    Conditions,
    Generation,
    ObservedGeneration,
}

/// How a function is written.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Style {
    /// `f(x)`.
    Global,
    /// `x.f()`.
    Member,
    Either,
}

/// How a function is called.
#[derive(Debug)]
pub(super) struct Signature {
    pub(super) name: &'static str,
    pub(super) function: Function,
    pub(super) style: Style,
    /// What each argument may be, what stands before the dot being the first; empty: anything.
    pub(super) takes: &'static [&'static [Kind]],
    /// What it returns, where that is always the same.
    pub(super) returns: Option<Kind>,
}

const TEXT: &[Kind] = &[Kind::Text];
const ANY: &[Kind] = &[];

const fn signature(
    name: &'static str,
    function: Function,
    style: Style,
    takes: &'static [&'static [Kind]],
    returns: Option<Kind>,
) -> Signature {
    Signature { name, function, style, takes, returns }
}

/// Every function but `matches`, whose pattern is compiled beforehand, and the macros.
pub(super) const FUNCTIONS: &[Signature] = &[
    signature("size", Function::Size, Style::Either, &[&[Kind::Text, Kind::List, Kind::Map]], Some(Kind::Int)),
    signature("contains", Function::Contains, Style::Member, &[TEXT, TEXT], Some(Kind::Bool)),
    signature("startsWith", Function::StartsWith, Style::Member, &[TEXT, TEXT], Some(Kind::Bool)),
    signature("endsWith", Function::EndsWith, Style::Member, &[TEXT, TEXT], Some(Kind::Bool)),
    signature("lowerAscii", Function::LowerAscii, Style::Member, &[TEXT], Some(Kind::Text)),
    signature("upperAscii", Function::UpperAscii, Style::Member, &[TEXT], Some(Kind::Text)),
    signature("int", Function::Int, Style::Global, &[NUMBERS], Some(Kind::Int)),
    signature("uint", Function::Uint, Style::Global, &[NUMBERS], Some(Kind::Uint)),
    signature("double", Function::Double, Style::Global, &[NUMBERS], Some(Kind::Double)),
    signature("bool", Function::Bool, Style::Global, &[&[Kind::Bool, Kind::Text]], Some(Kind::Bool)),
    signature("string", Function::String, Style::Global, &[SCALARS], Some(Kind::Text)),
    signature("type", Function::Type, Style::Global, &[ANY], Some(Kind::Type)),
    signature("dyn", Function::Dyn, Style::Global, &[ANY], None),
    signature("timestamp", Function::Timestamp, Style::Global, &[TIMES], Some(Kind::Time)),
    signature("duration", Function::Duration, Style::Global, &[&[Kind::Text, Kind::Duration]], Some(Kind::Duration)),
    signature("conditions", Function::Conditions, Style::Global, &[ANY], Some(Kind::List)),
    signature("generation", Function::Generation, Style::Global, &[&[Kind::Map]], Some(Kind::Int)),
    signature("observedGeneration", Function::ObservedGeneration, Style::Global, &[&[Kind::Map]], Some(Kind::Int)),
];

const NUMBERS: &[Kind] = &[Kind::Int, Kind::Uint, Kind::Double, Kind::Text, Kind::Time];
const SCALARS: &[Kind] = &[Kind::Bool, Kind::Int, Kind::Uint, Kind::Double, Kind::Text, Kind::Time, Kind::Duration];
const TIMES: &[Kind] = &[Kind::Text, Kind::Int, Kind::Time];

impl Function {
    /// Whether an argument that is not there is an answer, too.
    pub(super) const fn takes_absent(self) -> bool {
        matches!(self, Self::Conditions | Self::ObservedGeneration)
    }

    /// How much work it is to call the function with these arguments, in steps.
    pub(super) fn steps(self, arguments: &[Value<'_>]) -> usize {
        let bytes = arguments.iter().map(|it| if let Value::Text(text) = it { text.as_str().len() } else { 0 }).sum();
        match self {
            Self::Type | Self::Dyn => 0,
            Self::Conditions => {
                arguments.first().and_then(conditions_of).map_or(0, |list| list.positions().unwrap_or(0))
            }
            Self::Size => arguments.first().and_then(Value::positions).unwrap_or(bytes) / 16,
            _ => bytes / 16,
        }
    }

    /// Calls the function. What is absent stands as null where [`Function::takes_absent`].
    pub(super) fn call<'v>(self, arguments: &[Value<'v>]) -> Result<Value<'v>, Cause> {
        let (first, second) = match arguments {
            [first] => (first, &Value::Null),
            [first, second, ..] => (first, second),
            [] => (&Value::Null, &Value::Null),
        };
        let texts = || Ok::<_, Cause>((text(first)?, text(second)?));
        match self {
            Self::Size => size(first),
            Self::Contains => texts().map(|(text, part)| Value::Bool(text.contains(part))),
            Self::StartsWith => texts().map(|(text, part)| Value::Bool(text.starts_with(part))),
            Self::EndsWith => texts().map(|(text, part)| Value::Bool(text.ends_with(part))),
            Self::LowerAscii => text(first).map(|text| Value::text(text.to_ascii_lowercase())),
            Self::UpperAscii => text(first).map(|text| Value::text(text.to_ascii_uppercase())),
            Self::Int => to_int(first).map(Value::Int),
            Self::Uint => to_uint(first).map(Value::Uint),
            Self::Double => to_double(first).map(Value::Double),
            Self::Bool => to_bool(first).map(Value::Bool),
            Self::String => to_text(first),
            Self::Type => first.kind().map(Value::Kind).ok_or(Cause::Kind { found: None, wanted: "a value" }),
            Self::Dyn => Ok(first.clone()),
            Self::Timestamp => to_time(first).map(Value::Time),
            Self::Duration => to_duration(first).map(Value::Duration),
            Self::Conditions => Ok(conditions(first)),
            Self::Generation => generation(first),
            Self::ObservedGeneration => observed_generation(first),
        }
    }
}

fn text<'t>(value: &'t Value<'_>) -> Result<&'t str, Cause> {
    match value {
        Value::Text(text) => Ok(text.as_str()),
        other => Err(Cause::kind(other, "text")),
    }
}

fn size<'v>(value: &Value<'v>) -> Result<Value<'v>, Cause> {
    let size = match value {
        Value::Text(text) => text.as_str().chars().count(),
        other => other.len().ok_or_else(|| Cause::kind(other, "text, a list or a map"))?,
    };
    i64::try_from(size).map(Value::Int).map_err(|_| Cause::Overflow)
}

/// The whole number that a fractional one is cut to; absent outside of what both types hold exactly.
#[expect(clippy::cast_possible_truncation, reason = "the range is checked")]
fn truncated(number: f64) -> Option<i64> {
    const LARGEST: f64 = 9_007_199_254_740_992.0;
    (number.abs() <= LARGEST).then_some(number as i64)
}

#[expect(clippy::cast_precision_loss, reason = "that is what the conversion means")]
fn to_double(value: &Value<'_>) -> Result<f64, Cause> {
    match value {
        Value::Int(number) => Ok(*number as f64),
        Value::Uint(number) => Ok(*number as f64),
        Value::Double(number) => Ok(*number),
        Value::Text(text) => text.as_str().parse().map_err(|_| Cause::NotA("a number")),
        other => Err(Cause::kind(other, "a number or text")),
    }
}

fn to_int(value: &Value<'_>) -> Result<i64, Cause> {
    match value {
        Value::Int(number) => Ok(*number),
        Value::Uint(number) => i64::try_from(*number).map_err(|_| Cause::Overflow),
        Value::Double(number) => truncated(*number).ok_or(Cause::Overflow),
        Value::Text(text) => text.as_str().parse().map_err(|_| Cause::NotA("a whole number")),
        Value::Time(time) => Ok(time.as_second()),
        other => Err(Cause::kind(other, "a number, text or a time")),
    }
}

fn to_uint(value: &Value<'_>) -> Result<u64, Cause> {
    match value {
        Value::Uint(number) => Ok(*number),
        Value::Text(text) => text.as_str().parse().map_err(|_| Cause::NotA("an unsigned number")),
        other => u64::try_from(to_int(other)?).map_err(|_| Cause::Overflow),
    }
}

fn to_bool(value: &Value<'_>) -> Result<bool, Cause> {
    match value {
        Value::Bool(value) => Ok(*value),
        Value::Text(text) => match text.as_str() {
            "true" | "True" | "TRUE" | "t" | "1" => Ok(true),
            "false" | "False" | "FALSE" | "f" | "0" => Ok(false),
            _ => Err(Cause::NotA("true or false")),
        },
        other => Err(Cause::kind(other, "true, false or text")),
    }
}

fn to_text<'v>(value: &Value<'v>) -> Result<Value<'v>, Cause> {
    Ok(match value {
        Value::Text(_) => value.clone(),
        Value::Bool(value) => Value::text(value.to_string()),
        Value::Int(number) => Value::text(number.to_string()),
        Value::Uint(number) => Value::text(number.to_string()),
        Value::Double(number) => Value::text(number.to_string()),
        Value::Time(time) => Value::text(time.to_string()),
        Value::Duration(duration) => Value::text(format!("{}s", duration.as_secs_f64())),
        other => return Err(Cause::kind(other, "a single value")),
    })
}

/// A time as operators write it; see [`parse_time`].
pub(super) fn to_time(value: &Value<'_>) -> Result<Timestamp, Cause> {
    match value {
        Value::Time(time) => Ok(*time),
        Value::Text(text) => parse_time(text.as_str()).ok_or(Cause::NotA("a time")),
        Value::Int(second) => Timestamp::from_second(*second).map_err(|_| Cause::Overflow),
        other => Err(Cause::kind(other, "a time or text")),
    }
}

fn to_duration(value: &Value<'_>) -> Result<SignedDuration, Cause> {
    match value {
        Value::Duration(duration) => Ok(*duration),
        Value::Text(text) => text.as_str().parse().map_err(|_| Cause::NotA("a duration")),
        other => Err(Cause::kind(other, "a duration or text")),
    }
}

/// The list that holds the conditions: the value itself, or what stands at `conditions` or `status.conditions` in it.
fn conditions_of<'v>(value: &Value<'v>) -> Option<Value<'v>> {
    let is_list = |value: &Value<'v>| value.kind() == Some(Kind::List);
    if is_list(value) {
        return Some(value.clone());
    }
    let below = || value.field("status")?.field("conditions");
    value.field("conditions").filter(is_list).or_else(|| below().filter(is_list))
}

fn conditions<'v>(value: &Value<'v>) -> Value<'v> {
    let list = conditions_of(value);
    let is_map = |item: &Value<'v>| item.kind() == Some(Kind::Map);
    match list {
        Some(Value::Items(items)) if items.iter().all(|item| matches!(item, Tree::Map(_))) => Value::Items(items),
        Some(list) => {
            let count = list.positions().unwrap_or(0);
            Value::list((0..count).filter_map(|at| list.walked(at)).filter(is_map).collect())
        }
        None => Value::Items(&[]),
    }
}

fn generation<'v>(value: &Value<'v>) -> Result<Value<'v>, Cause> {
    let found = value.field("metadata").and_then(|metadata| metadata.field("generation"));
    number(&found.ok_or(Cause::Absent)?)
}

/// 0 where nothing was observed, which is below every generation.
fn observed_generation<'v>(value: &Value<'v>) -> Result<Value<'v>, Cause> {
    if !matches!(value.kind(), Some(Kind::Map | Kind::Null)) {
        return Err(Cause::kind(value, "a map"));
    }
    let own = |value: &Value<'v>| OBSERVED.iter().find_map(|key| value.field(key));
    let found = own(value).or_else(|| own(&value.field("status")?));
    found.map_or(Ok(Value::Int(0)), |found| number(&found))
}

/// Both spellings: operators that derive their CRD from Rust or Python types sometimes keep the snake case.
pub(super) const OBSERVED: [&str; 2] = ["observedGeneration", "observed_generation"];

/// A number, also where an operator writes it as text.
fn number<'v>(value: &Value<'v>) -> Result<Value<'v>, Cause> {
    match value {
        Value::Int(_) => Ok(value.clone()),
        Value::Text(text) => text.as_str().parse().map(Value::Int).map_err(|_| Cause::NotA("a whole number")),
        other => Err(Cause::kind(other, "a whole number")),
    }
}

/// Every name that can be called, for suggestions.
pub(super) fn names() -> Vec<&'static str> {
    let macros = ["has", "all", "exists", "exists_one", "map", "filter", "matches"];
    FUNCTIONS.iter().map(|it| it.name).chain(macros).collect()
}
