//! What can be wrong with an expression when it is read, and why its evaluation can fail: never with a value in it.

use std::fmt;

use super::value::{Kind, Value};

/// Why an expression is refused.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Fault {
    /// Where in the source, in characters from 0.
    pub at: usize,
    /// What is wrong there.
    pub problem: Problem,
}

/// What is wrong.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Problem {
    /// A function or a variable that does not exist.
    Unknown {
        /// What it would be.
        noun: &'static str,
        /// As written.
        name: String,
        /// What exists.
        known: Vec<&'static str>,
    },
    /// Anything else, and what to do.
    Other(String),
}

impl Fault {
    pub(super) fn new(at: usize, problem: impl Into<String>) -> Self {
        Self { at, problem: Problem::Other(problem.into()) }
    }
}

/// Why an evaluation ended without a value.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Failure {
    /// The step that failed, in characters from 0.
    pub(super) at: usize,
    pub(super) cause: Cause,
}

/// The closed list of causes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Cause {
    /// A field, a key or an index that is not there: the only one that `||`, `&&`, `exists` and `all` may pass over.
    Absent,
    /// A value of another type than the step takes.
    Kind {
        found: Option<Kind>,
        wanted: &'static str,
    },
    /// A number out of range.
    Overflow,
    DivisionByZero,
    /// A text, or a number, that is none of what is named.
    NotA(&'static str),
    /// Not exactly one item, key or value where only one may be.
    Repeated,
    /// Too much work for one object.
    Budget,
}

impl Cause {
    pub(super) fn kind(found: &Value<'_>, wanted: &'static str) -> Self {
        Self::Kind { found: found.kind(), wanted }
    }
}

impl fmt::Display for Cause {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Absent => f.write_str("what is asked for is not there"),
            Self::Kind { found, wanted } => {
                write!(f, "found {}, {wanted} is needed", found.map_or("a value that was not read", Kind::as_str))
            }
            Self::Overflow => f.write_str("a number is out of range"),
            Self::DivisionByZero => f.write_str("a division by zero"),
            Self::NotA(wanted) => write!(f, "the value cannot be read as {wanted}"),
            Self::Repeated => f.write_str("a key stands twice in one map"),
            Self::Budget => f.write_str("the object is too large for this expression"),
        }
    }
}

/// A place of an expression, for messages: the field or the function named there, and its position from 1.
pub fn place(source: &str, at: usize) -> String {
    let characters: Vec<char> = source.chars().collect();
    let is_word = |character: &char| character.is_ascii_alphanumeric() || *character == '_';
    let at = at.min(characters.len());
    let (before, rest) = characters.split_at(at);
    // A call stands at its bracket; what is called stands before it.
    let called = match rest.first() {
        Some('(') => before.iter().rev().take_while(|it| is_word(it)).count(),
        _ => 0,
    };
    let (before, rest) = characters.split_at(at - called);
    let dot = usize::from(rest.first() == Some(&'.'));
    let name: String = rest.iter().take(dot + rest.iter().skip(dot).take_while(|it| is_word(it)).count()).collect();
    let line = before.iter().filter(|it| **it == '\n').count() + 1;
    let column = before.iter().rev().take_while(|it| **it != '\n').count() + 1;
    let name = if name.len() > dot && name.len() <= 40 { format!("`{name}`, ") } else { String::new() };
    if source.trim_end().contains('\n') {
        format!("{name}line {line}, character {column}")
    } else {
        format!("{name}character {column}")
    }
}
