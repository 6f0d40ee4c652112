//! The quick answer: whether a stored essence is, entry by entry, what the object holds now.
//!
//! Nearly every object is as it was last handled, and the API server sends keys in one order, which kopf keeps. So the
//! stored text is compared as it is read, and no tree is built of it. Whatever is not plainly the same (another order, a
//! `null`, `1.0` for `1`, a tracked field) is left to the full comparison.

use std::fmt;

use serde::de::{DeserializeSeed, Deserializer, Error, MapAccess, SeqAccess, Visitor};

use super::diff::Entry;
use super::essence::{self, View};
use crate::judge::object::tree::Tree;

/// True only where [`essence::compare`] would find no difference; false says nothing.
pub(super) fn is_plainly_same(stored: &str, object: &Tree<'_>, view: View<'_>) -> bool {
    if !view.ignored.is_empty() {
        return false;
    }
    let mut reader = serde_json::Deserializer::from_str(stored);
    Essence { object, view }.deserialize(&mut reader).is_ok() && reader.end().is_ok()
}

/// Ends the reading; the text is never shown.
fn differs<E: Error>() -> E {
    E::custom("not plainly the same")
}

/// Implements reading for a comparison whose visitor is itself.
macro_rules! compared {
    ($($name:ident < $($life:lifetime),+ > -> $value:ty;)+) => {
        $(impl<'de, $($life),+> DeserializeSeed<'de> for $name<$($life),+> {
            type Value = $value;

            fn deserialize<D: Deserializer<'de>>(self, reader: D) -> Result<$value, D::Error> {
                reader.deserialize_any(self)
            }
        })+
    };
}

compared! {
    Essence<'e, 't> -> ();
    Metadata<'e, 't> -> ();
    Entries<'e, 't> -> ();
    Value<'e, 't> -> ();
    OneOf<'k> -> usize;
}

struct Essence<'e, 't> {
    object: &'e Tree<'t>,
    view: View<'e>,
}

impl<'de> Visitor<'de> for Essence<'_, '_> {
    type Value = ();

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("an essence")
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<(), A::Error> {
        let mut stanzas = essence::stanzas(self.object).peekable();
        let mut metadata = Some(self.object.get("metadata"));
        loop {
            let next = stanzas.peek().map_or("", |entry| entry.0.as_ref());
            match map.next_key_seed(OneOf(&["metadata", next]))? {
                None => break,
                Some(0) => {
                    let metadata = metadata.take().ok_or_else(differs)?;
                    map.next_value_seed(Metadata { metadata, view: self.view })?;
                }
                Some(_) => {
                    let stanza = stanzas.next().ok_or_else(differs)?;
                    map.next_value_seed(Value(&stanza.1))?;
                }
            }
        }
        let is_bare = metadata.is_none_or(|metadata| {
            essence::labels(metadata).is_empty() && essence::annotations(metadata, self.view).next().is_none()
        });
        if stanzas.next().is_none() && is_bare { Ok(()) } else { Err(differs()) }
    }
}

struct Metadata<'e, 't> {
    metadata: Option<&'e Tree<'t>>,
    view: View<'e>,
}

impl<'de> Visitor<'de> for Metadata<'_, '_> {
    type Value = ();

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("metadata")
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<(), A::Error> {
        let mut labels: Vec<_> = essence::labels(self.metadata).iter().collect();
        let mut annotations: Vec<_> = essence::annotations(self.metadata, self.view).collect();
        while let Some(part) = map.next_key_seed(OneOf(&["labels", "annotations"]))? {
            let entries = std::mem::take(if part == 0 { &mut labels } else { &mut annotations });
            // A part that stands twice in the text finds nothing the second time.
            if entries.is_empty() {
                return Err(differs());
            }
            map.next_value_seed(Entries(&entries))?;
        }
        if labels.is_empty() && annotations.is_empty() { Ok(()) } else { Err(differs()) }
    }
}

/// A map that has exactly these entries in this order.
struct Entries<'e, 't>(&'e [&'e Entry<'t>]);

impl<'de> Visitor<'de> for Entries<'_, '_> {
    type Value = ();

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a map")
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<(), A::Error> {
        follow(&mut map, self.0.iter().copied())
    }
}

/// Reads a map to its end, which must have exactly these entries in this order.
fn follow<'de, 'e, 't: 'e, A: MapAccess<'de>>(
    map: &mut A,
    entries: impl Iterator<Item = &'e Entry<'t>>,
) -> Result<(), A::Error> {
    for (key, value) in entries {
        map.next_key_seed(OneOf(&[key]))?.ok_or_else(differs)?;
        map.next_value_seed(Value(value))?;
    }
    map.next_key_seed(OneOf(&[]))?.map_or(Ok(()), |_| Err(differs()))
}

struct Value<'e, 't>(&'e Tree<'t>);

impl<'de> Visitor<'de> for Value<'_, '_> {
    type Value = ();

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("the same value")
    }

    fn visit_bool<E: Error>(self, value: bool) -> Result<(), E> {
        if *self.0 == Tree::Bool(value) { Ok(()) } else { Err(differs()) }
    }

    fn visit_i64<E: Error>(self, value: i64) -> Result<(), E> {
        if self.0.as_int() == Some(value) { Ok(()) } else { Err(differs()) }
    }

    fn visit_u64<E: Error>(self, value: u64) -> Result<(), E> {
        match self.0 {
            Tree::Int(number) if u64::try_from(*number) == Ok(value) => Ok(()),
            Tree::Uint(number) if *number == value => Ok(()),
            _ => Err(differs()),
        }
    }

    fn visit_str<E: Error>(self, value: &str) -> Result<(), E> {
        if self.0.as_str() == Some(value) { Ok(()) } else { Err(differs()) }
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut list: A) -> Result<(), A::Error> {
        let Tree::List(items) = self.0 else { return Err(differs()) };
        for item in items {
            list.next_element_seed(Value(item))?.ok_or_else(differs)?;
        }
        list.next_element::<serde::de::IgnoredAny>()?.map_or(Ok(()), |_| Err(differs()))
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<(), A::Error> {
        let Tree::Map(entries) = self.0 else { return Err(differs()) };
        follow(&mut map, entries.iter())
    }
}

/// The place of a key among those that may come.
struct OneOf<'k>(&'k [&'k str]);

impl Visitor<'_> for OneOf<'_> {
    type Value = usize;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a key")
    }

    fn visit_str<E: Error>(self, key: &str) -> Result<usize, E> {
        self.0.iter().position(|known| *known == key).ok_or_else(differs)
    }
}

#[cfg(test)]
mod tests;
