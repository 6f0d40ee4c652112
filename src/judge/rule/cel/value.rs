//! What an expression evaluates to, borrowed from the object wherever it can be.

use std::borrow::Cow;
use std::rc::Rc;

use jiff::{SignedDuration, Timestamp};

use crate::judge::object::tree::Tree;

/// A value. Copying one never copies a text, a list or a map.
#[derive(Debug, Clone)]
pub(super) enum Value<'v> {
    Null,
    Bool(bool),
    Int(i64),
    Uint(u64),
    Double(f64),
    Text(Text<'v>),
    /// A list of the object.
    Items(&'v [Tree<'v>]),
    /// A map of the object, in which null means absent.
    Entries(&'v [(Cow<'v, str>, Tree<'v>)]),
    /// A list that the expression has made.
    List(Rc<Vec<Value<'v>>>),
    /// A map that the expression has made.
    Map(Rc<Vec<(Value<'v>, Value<'v>)>>),
    Time(Timestamp),
    Duration(SignedDuration),
    Kind(Kind),
    /// A value of the object that the mask does not let through.
    Unread,
}

/// A text of the object or of the expression, or one that was made.
#[derive(Debug, Clone)]
pub(super) enum Text<'v> {
    Borrowed(&'v str),
    Made(Rc<str>),
}

/// The type of a value.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Kind {
    Null,
    Bool,
    Int,
    Uint,
    Double,
    Text,
    List,
    Map,
    Time,
    Duration,
    Type,
}

impl Text<'_> {
    pub(super) fn as_str(&self) -> &str {
        match self {
            Self::Borrowed(text) => text,
            Self::Made(text) => text,
        }
    }
}

impl Kind {
    /// The name of the type in expressions.
    pub(super) const NAMES: [(&'static str, Self); 9] = [
        ("null_type", Self::Null),
        ("bool", Self::Bool),
        ("int", Self::Int),
        ("uint", Self::Uint),
        ("double", Self::Double),
        ("string", Self::Text),
        ("list", Self::List),
        ("map", Self::Map),
        ("type", Self::Type),
    ];

    /// The kind as messages call it.
    pub(super) const fn as_str(self) -> &'static str {
        match self {
            Self::Null => "null",
            Self::Bool => "true or false",
            Self::Int => "a whole number",
            Self::Uint => "an unsigned number",
            Self::Double => "a fractional number",
            Self::Text => "text",
            Self::List => "a list",
            Self::Map => "a map",
            Self::Time => "a time",
            Self::Duration => "a duration",
            Self::Type => "a type",
        }
    }

    pub(super) const fn is_number(self) -> bool {
        matches!(self, Self::Int | Self::Uint | Self::Double)
    }

    /// Whether `<` and the like take the two.
    pub(super) fn compares_with(self, other: Self) -> bool {
        let is_ordered = matches!(self, Self::Bool | Self::Text | Self::Time | Self::Duration);
        self.is_number() && other.is_number() || is_ordered && self == other
    }
}

impl<'v> Value<'v> {
    /// The value that stands in an object.
    pub(super) fn of(tree: &'v Tree<'v>) -> Self {
        match tree {
            Tree::Null => Self::Null,
            Tree::Bool(value) => Self::Bool(*value),
            Tree::Int(number) => Self::Int(*number),
            Tree::Uint(number) => Self::Uint(*number),
            Tree::Float(number) => Self::Double(*number),
            Tree::Text(text) => Self::Text(Text::Borrowed(text)),
            Tree::List(items) => Self::Items(items),
            Tree::Map(entries) => Self::Entries(entries),
            Tree::Unread => Self::Unread,
        }
    }

    pub(super) fn text(text: String) -> Self {
        Self::Text(Text::Made(text.into()))
    }

    pub(super) fn list(items: Vec<Self>) -> Self {
        Self::List(Rc::new(items))
    }

    /// The type; `None` for what was not read.
    pub(super) const fn kind(&self) -> Option<Kind> {
        Some(match self {
            Self::Null => Kind::Null,
            Self::Bool(_) => Kind::Bool,
            Self::Int(_) => Kind::Int,
            Self::Uint(_) => Kind::Uint,
            Self::Double(_) => Kind::Double,
            Self::Text(_) => Kind::Text,
            Self::Items(_) | Self::List(_) => Kind::List,
            Self::Entries(_) | Self::Map(_) => Kind::Map,
            Self::Time(_) => Kind::Time,
            Self::Duration(_) => Kind::Duration,
            Self::Kind(_) => Kind::Type,
            Self::Unread => return None,
        })
    }

    /// How many items a list has, or how many entries of a map are not null; `None` for anything else.
    pub(super) fn len(&self) -> Option<usize> {
        match self {
            Self::Items(items) => Some(items.len()),
            Self::List(items) => Some(items.len()),
            Self::Entries(entries) => Some(entries.iter().filter(|(_, value)| !value.is_null()).count()),
            Self::Map(entries) => Some(entries.len()),
            _ => None,
        }
    }

    /// The item of a list, or the key of a map, at a position; `None` where there is none, also for the key of a null.
    pub(super) fn walked(&self, position: usize) -> Option<Self> {
        match self {
            Self::Items(items) => items.get(position).map(Self::of),
            Self::List(items) => items.get(position).cloned(),
            Self::Entries(entries) => {
                let (key, _) = entries.get(position).filter(|(_, value)| !value.is_null())?;
                Some(Self::Text(Text::Borrowed(key)))
            }
            Self::Map(entries) => entries.get(position).map(|(key, _)| key.clone()),
            _ => None,
        }
    }

    /// How many positions [`Value::walked`] has; `None` where nothing can be walked.
    pub(super) fn positions(&self) -> Option<usize> {
        match self {
            Self::Entries(entries) => Some(entries.len()),
            other => other.len(),
        }
    }

    /// The value under a key that is a text; null is absent.
    pub(super) fn field(&self, key: &str) -> Option<Self> {
        match self {
            Self::Entries(entries) => {
                let (_, value) = entries.iter().find(|(name, _)| name == key)?;
                Some(Self::of(value)).filter(|_| !value.is_null())
            }
            Self::Map(entries) => {
                let is_it = |name: &Self| matches!(name, Self::Text(text) if text.as_str() == key);
                entries.iter().find(|(name, _)| is_it(name)).map(|(_, value)| value.clone())
            }
            _ => None,
        }
    }
}
