//! A JSON value of which only the masked part was read, borrowed from the text.

use std::borrow::Cow;

use super::mask::Mask;
use super::read;

/// Why a value could not be read.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("{fault} (line {line}, column {column})")]
pub struct Error {
    /// What is wrong.
    pub fault: Fault,
    /// Counted from 1.
    pub line: usize,
    /// Counted from 1, in bytes.
    pub column: usize,
}

/// What can be wrong with what is read of a value.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum Fault {
    /// The text ends inside the value.
    #[error("ends too early")]
    EndsEarly,
    /// Something stands where JSON does not allow it.
    #[error("is not JSON")]
    NotJson,
    /// Nested deeper than 128 levels.
    #[error("is nested too deeply")]
    TooDeep,
    /// A number that does not fit a double.
    #[error("has a number out of range")]
    OutOfRange,
    /// A key stands twice in one map.
    #[error("has a key twice in one map")]
    DuplicateKey,
}

impl Error {
    pub(super) fn new(fault: Fault, json: &[u8], at: usize) -> Self {
        let before = &json[..at.min(json.len())];
        let line_start = memchr::memrchr(b'\n', before).map_or(0, |newline| newline + 1);
        let line = memchr::memchr_iter(b'\n', before).count() + 1;
        Self { fault, line, column: before.len() - line_start + 1 }
    }
}

/// One value.
#[derive(Debug, Clone, PartialEq)]
pub enum Tree<'a> {
    /// `null`.
    Null,
    /// `true` or `false`.
    Bool(bool),
    /// A whole number in the range of `i64`.
    Int(i64),
    /// A whole number above it.
    Uint(u64),
    /// Any other number.
    Float(f64),
    /// A string.
    Text(Cow<'a, str>),
    /// A list.
    List(Vec<Tree<'a>>),
    /// A map, in the order of the text. No key stands twice.
    Map(Vec<(Cow<'a, str>, Tree<'a>)>),
    /// A value that is there and was not read.
    Unread,
}

impl<'a> Tree<'a> {
    /// Reads what `mask` lets through from one JSON value.
    ///
    /// # Errors
    /// When the text is not one JSON value, a key stands twice in a map that is read, a number that is read does not
    /// fit a double, or what is read is nested deeper than 128 levels. What is not read may be nested without bound;
    /// of what is nested in it only strings and brackets are looked at.
    pub fn read(json: &'a [u8], mask: &Mask) -> Result<Self, Error> {
        read::read(json, mask)
    }

    /// The value under `key`; `None` also where this is no map. A `null` counts as absent.
    #[inline]
    pub fn get(&self, key: &str) -> Option<&Self> {
        match self {
            Self::Map(entries) => {
                entries.iter().find(|(name, _)| name == key).map(|(_, value)| value).filter(|value| !value.is_null())
            }
            _ => None,
        }
    }

    /// The value at the end of `path`.
    #[inline]
    pub fn at(&self, path: &[&str]) -> Option<&Self> {
        path.iter().try_fold(self, |tree, key| tree.get(key))
    }

    /// The string that this is.
    pub fn as_str(&self) -> Option<&str> {
        match self {
            Self::Text(text) => Some(text),
            _ => None,
        }
    }

    /// The whole number that this is.
    pub fn as_int(&self) -> Option<i64> {
        match self {
            Self::Int(number) => Some(*number),
            _ => None,
        }
    }

    /// True only for `true`.
    pub fn is_true(&self) -> bool {
        matches!(self, Self::Bool(true))
    }

    /// True only for `null`.
    pub fn is_null(&self) -> bool {
        matches!(self, Self::Null)
    }

    /// The items, or none where this is no list.
    pub fn items(&self) -> &[Self] {
        match self {
            Self::List(items) => items,
            _ => &[],
        }
    }

    /// The entries, or none where this is no map.
    pub fn entries(&self) -> &[(Cow<'a, str>, Self)] {
        match self {
            Self::Map(entries) => entries,
            _ => &[],
        }
    }

    /// A word for the kind of value, for messages that must not show the value.
    pub const fn kind(&self) -> &'static str {
        match self {
            Self::Null => "null",
            Self::Bool(_) => "a boolean",
            Self::Int(_) | Self::Uint(_) | Self::Float(_) => "a number",
            Self::Text(_) => "text",
            Self::List(_) => "a list",
            Self::Map(_) => "a map",
            Self::Unread => "unread",
        }
    }
}

#[cfg(test)]
mod tests {
    use super::{Mask, Tree};

    #[test]
    fn only_what_the_mask_names_is_read() {
        let json = br#"{"a":{"b":[{"c":1,"x":2},{"c":"t"}],"y":1},"p":{"q":1},"n":null,"s":5}"#;
        let mask = Mask::new().whole(&["a", "b", "c"]).presence(&["p"]).presence(&["n"]);
        let tree = Tree::read(json, &mask).expect("valid");
        assert_eq!(tree.get("p"), Some(&Tree::Unread));
        assert_eq!(tree.get("n"), None);
        assert_eq!(tree.get("s"), None);
        let items = tree.at(&["a", "b"]).expect("a list").items();
        assert_eq!(items[0].get("c").and_then(Tree::as_int), Some(1));
        assert_eq!(items[0].get("x"), None);
        assert_eq!(items[1].get("c").and_then(Tree::as_str), Some("t"));
    }

    #[test]
    fn what_is_not_read_may_be_anything_that_is_json() {
        let mask = Mask::new().whole(&["a"]);
        let deep = format!(r#"{{"a":1,"z":{}{}}}"#, "[".repeat(5000), "]".repeat(5000));
        assert!(Tree::read(deep.as_bytes(), &mask).is_ok());
        let digits = format!(r#"{{"a":1,"z":{}}}"#, "9".repeat(40));
        assert!(Tree::read(digits.as_bytes(), &mask).is_ok());
        let lists = format!(r#"{{"a":{}{}}}"#, "[".repeat(5000), "]".repeat(5000));
        let tree = Tree::read(lists.as_bytes(), &Mask::new().whole(&["a", "b"])).expect("one level is read");
        assert_eq!(tree.get("a"), Some(&Tree::List(vec![Tree::Unread])));
        assert!(Tree::read(br#"{"a":1,"z":[}"#, &mask).is_err());
        assert!(Tree::read(br#"{"a":1} 2"#, &mask).is_err());
    }

    #[test]
    fn hostile_values_are_refused_where_they_are_read() {
        let mask = Mask::new().whole(&["a"]);
        let deep = format!(r#"{{"a":{}{}}}"#, "[".repeat(5000), "]".repeat(5000));
        assert!(Tree::read(deep.as_bytes(), &mask).is_err());
        assert!(Tree::read(br#"{"a":1,"a":2}"#, &mask).is_err());
        assert!(Tree::read(br#"{"a":{"c":1,"b":2,"c":3}}"#, &mask).is_err());
        let digits = format!(r#"{{"a":{}}}"#, "9".repeat(40));
        assert!(matches!(Tree::read(digits.as_bytes(), &mask).expect("a double").get("a"), Some(Tree::Float(_))));
        assert!(Tree::read(br#"{"a":1e999}"#, &mask).is_err());
    }
}
