//! The file as it is written: a tree in which every value and every key knows its place.
//!
//! Reading into a tree first, and not into derived types, is what makes it possible to report every problem at once
//! with its line: a derived type gives up at its first one.

use std::fmt;

use serde::de::{Deserialize, Deserializer, MapAccess, SeqAccess, Visitor};
use serde_saphyr::options::{DuplicateKeyPolicy, NonFiniteFloatPolicy};
use serde_saphyr::{Error, Location, MessageFormatter as _, Options, Spanned, UserMessageFormatter};

use super::problem::{Position, Problem, one_line};

/// A value and where it stands.
#[derive(Debug)]
pub(super) struct Node {
    pub(super) at: Position,
    pub(super) value: Value,
}

/// A value, with the types that YAML gives to plain and quoted words.
#[derive(Debug)]
pub(super) enum Value {
    Null,
    Boolean(bool),
    Integer(i128),
    /// A number that is not whole; no key takes one.
    Fraction,
    Text(String),
    List(Vec<Node>),
    Map(Vec<Entry>),
}

/// One key of a mapping; a key that is written twice is two entries.
#[derive(Debug)]
pub(super) struct Entry {
    pub(super) at: Position,
    pub(super) key: String,
    pub(super) node: Node,
}

/// Reads one YAML document.
///
/// Nesting, aliases and the number of nodes are bounded, so that no text exhausts memory, time or the stack.
pub(super) fn read(text: &str) -> Result<Node, Problem> {
    if text.trim().is_empty() {
        return Ok(Node { at: Position::START, value: Value::Null });
    }
    serde_saphyr::from_str_with_options(text, options()).map_err(|error| problem(&error))
}

fn options() -> Options {
    serde_saphyr::options! {
        // The default of 64 levels takes more than the 2 MiB stack of a thread in a debug build; the schema needs 7.
        budget: serde_saphyr::budget! { max_depth: 16 },
        // An alias bomb costs nothing noticeable, and no configuration has a tenth of it.
        alias_limits: serde_saphyr::alias_limits! { max_total_replayed_events: 100_000 },
        duplicate_keys: DuplicateKeyPolicy::PassThrough,
        non_finite_float_policy: NonFiniteFloatPolicy::PassThrough,
        // `yes` and `on` are words in YAML 1.2, and no key of ours takes such a word.
        strict_booleans: true,
        // A tag that nobody reads would be dropped in silence.
        reject_unsupported_tags: true,
        with_snippet: false,
    }
}

fn problem(error: &Error) -> Problem {
    let message = UserMessageFormatter.format_message(error.without_snippet()).into_owned();
    Problem {
        at: error.location().map_or(Position::START, position),
        path: String::new(),
        message: format!("cannot be read as YAML: {}", one_line(&message)),
    }
}

fn position(location: Location) -> Position {
    Position { line: location.line().max(1), column: location.column().max(1) }
}

impl<'de> Deserialize<'de> for Node {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let Spanned { value, referenced, .. } = Spanned::deserialize(deserializer)?;
        Ok(Self { at: position(referenced), value })
    }
}

impl<'de> Deserialize<'de> for Value {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_any(ValueVisitor)
    }
}

struct ValueVisitor;

impl<'de> Visitor<'de> for ValueVisitor {
    type Value = Value;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a value")
    }

    fn visit_unit<E>(self) -> Result<Value, E> {
        Ok(Value::Null)
    }

    fn visit_none<E>(self) -> Result<Value, E> {
        Ok(Value::Null)
    }

    fn visit_bool<E>(self, value: bool) -> Result<Value, E> {
        Ok(Value::Boolean(value))
    }

    fn visit_i64<E>(self, value: i64) -> Result<Value, E> {
        Ok(Value::Integer(value.into()))
    }

    fn visit_u64<E>(self, value: u64) -> Result<Value, E> {
        Ok(Value::Integer(value.into()))
    }

    fn visit_f64<E>(self, _value: f64) -> Result<Value, E> {
        Ok(Value::Fraction)
    }

    fn visit_str<E>(self, value: &str) -> Result<Value, E> {
        Ok(Value::Text(value.to_owned()))
    }

    fn visit_string<E>(self, value: String) -> Result<Value, E> {
        Ok(Value::Text(value))
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut items: A) -> Result<Value, A::Error> {
        let mut list = Vec::new();
        while let Some(item) = items.next_element()? {
            list.push(item);
        }
        Ok(Value::List(list))
    }

    fn visit_map<A: MapAccess<'de>>(self, mut entries: A) -> Result<Value, A::Error> {
        let mut map = Vec::new();
        while let Some(Spanned { value: key, referenced, .. }) = entries.next_key::<Spanned<String>>()? {
            map.push(Entry { at: position(referenced), key, node: entries.next_value()? });
        }
        Ok(Value::Map(map))
    }
}
