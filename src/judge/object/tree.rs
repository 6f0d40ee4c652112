//! A JSON value of which only the masked part was read, borrowed from the text.

use std::borrow::Cow;
use std::fmt;

use serde::de::{DeserializeSeed, Deserializer, Error as _, IgnoredAny, MapAccess, SeqAccess, Visitor};

use super::mask::Mask;

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
    /// fit a double, or what is read is nested deeper than 128 levels. What is not read may be nested without bound.
    pub fn read(json: &'a [u8], mask: &Mask) -> Result<Self, serde_json::Error> {
        let mut reader = serde_json::Deserializer::from_slice(json);
        let tree = Masked::value(mask).deserialize(&mut reader)?;
        reader.end()?;
        Ok(tree)
    }

    /// The value under `key`; `None` also where this is no map. A `null` counts as absent.
    pub fn get(&self, key: &str) -> Option<&Self> {
        match self {
            Self::Map(entries) => {
                entries.iter().find(|(name, _)| name == key).map(|(_, value)| value).filter(|value| !value.is_null())
            }
            _ => None,
        }
    }

    /// The value at the end of `path`.
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

struct Masked<'m> {
    mask: &'m Mask,
    /// Inside a list that the mask's path goes through. Such a path does not go through a list in a list: Kubernetes
    /// has no use for that, and nothing is to be read of a bottomless one.
    is_item: bool,
}

impl<'m> Masked<'m> {
    const fn value(mask: &'m Mask) -> Self {
        Self { mask, is_item: false }
    }
}

impl<'de> DeserializeSeed<'de> for Masked<'_> {
    type Value = Tree<'de>;

    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<Tree<'de>, D::Error> {
        if self.mask.is_presence() {
            // `null` must be told apart from a value even where the value does not matter.
            return deserializer.deserialize_option(PresenceVisitor);
        }
        deserializer.deserialize_any(self)
    }
}

impl<'de> Visitor<'de> for Masked<'_> {
    type Value = Tree<'de>;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a JSON value")
    }

    fn visit_unit<E>(self) -> Result<Tree<'de>, E> {
        Ok(Tree::Null)
    }

    fn visit_bool<E>(self, value: bool) -> Result<Tree<'de>, E> {
        Ok(Tree::Bool(value))
    }

    fn visit_i64<E>(self, value: i64) -> Result<Tree<'de>, E> {
        Ok(Tree::Int(value))
    }

    fn visit_u64<E>(self, value: u64) -> Result<Tree<'de>, E> {
        Ok(i64::try_from(value).map_or(Tree::Uint(value), Tree::Int))
    }

    fn visit_f64<E>(self, value: f64) -> Result<Tree<'de>, E> {
        Ok(Tree::Float(value))
    }

    fn visit_borrowed_str<E>(self, value: &'de str) -> Result<Tree<'de>, E> {
        Ok(Tree::Text(Cow::Borrowed(value)))
    }

    fn visit_str<E>(self, value: &str) -> Result<Tree<'de>, E> {
        Ok(Tree::Text(Cow::Owned(value.to_owned())))
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut seq: A) -> Result<Tree<'de>, A::Error> {
        if self.is_item && !self.mask.is_whole() {
            while seq.next_element::<IgnoredAny>()?.is_some() {}
            return Ok(Tree::Unread);
        }
        let mut items = Vec::new();
        while let Some(item) = seq.next_element_seed(Masked { mask: self.mask, is_item: true })? {
            items.push(item);
        }
        Ok(Tree::List(items))
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Tree<'de>, A::Error> {
        let mut entries: Vec<(Cow<'de, str>, Tree<'de>)> = Vec::new();
        while let Some(key) = map.next_key_seed(Key)? {
            match self.mask.below(&key) {
                Some(mask) => {
                    let value = map.next_value_seed(Masked::value(mask))?;
                    entries.push((key, value));
                }
                None => {
                    map.next_value::<IgnoredAny>()?;
                }
            }
        }
        if has_duplicate(&entries) {
            return Err(A::Error::custom("a key stands twice in one map"));
        }
        Ok(Tree::Map(entries))
    }
}

fn has_duplicate(entries: &[(Cow<'_, str>, Tree<'_>)]) -> bool {
    // The API server sorts keys, so one pass almost always settles it.
    if entries.windows(2).all(|pair| pair[0].0 < pair[1].0) {
        return false;
    }
    let mut keys: Vec<&str> = entries.iter().map(|(key, _)| key.as_ref()).collect();
    keys.sort_unstable();
    keys.windows(2).any(|pair| pair[0] == pair[1])
}

struct Key;

impl<'de> DeserializeSeed<'de> for Key {
    type Value = Cow<'de, str>;

    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<Cow<'de, str>, D::Error> {
        deserializer.deserialize_str(self)
    }
}

impl<'de> Visitor<'de> for Key {
    type Value = Cow<'de, str>;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a key")
    }

    fn visit_borrowed_str<E>(self, key: &'de str) -> Result<Cow<'de, str>, E> {
        Ok(Cow::Borrowed(key))
    }

    fn visit_str<E>(self, key: &str) -> Result<Cow<'de, str>, E> {
        Ok(Cow::Owned(key.to_owned()))
    }
}

struct PresenceVisitor;

impl<'de> Visitor<'de> for PresenceVisitor {
    type Value = Tree<'de>;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a JSON value")
    }

    fn visit_none<E>(self) -> Result<Tree<'de>, E> {
        Ok(Tree::Null)
    }

    fn visit_some<D: Deserializer<'de>>(self, deserializer: D) -> Result<Tree<'de>, D::Error> {
        deserializer.deserialize_ignored_any(IgnoredAny)?;
        Ok(Tree::Unread)
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
