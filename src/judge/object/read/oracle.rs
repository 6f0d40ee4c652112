//! The same reading by `serde_json` alone: slower and beyond doubt.

use std::borrow::Cow;
use std::fmt;

use serde::de::{DeserializeSeed, Deserializer, Error as _, IgnoredAny, MapAccess, SeqAccess, Visitor};

use super::has_duplicate;
use crate::judge::object::mask::Mask;
use crate::judge::object::tree::{Fault, Tree};

pub(super) fn read<'a>(json: &'a [u8], mask: &Mask) -> Result<Tree<'a>, Fault> {
    let mut reader = serde_json::Deserializer::from_slice(json);
    let tree = Masked::value(mask).deserialize(&mut reader);
    tree.and_then(|tree| reader.end().map(|()| tree)).map_err(|error| fault(&error))
}

fn fault(error: &serde_json::Error) -> Fault {
    use serde_json::error::Category;
    match error.classify() {
        Category::Eof => Fault::EndsEarly,
        Category::Syntax if error.to_string().starts_with("recursion limit") => Fault::TooDeep,
        Category::Syntax if error.to_string().starts_with("number out of range") => Fault::OutOfRange,
        Category::Syntax | Category::Io => Fault::NotJson,
        Category::Data => Fault::DuplicateKey,
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
