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
mod tests {
    use proptest::prelude::*;
    use serde_json::{Map, Value, json};

    use super::is_plainly_same;
    use crate::judge::object::mask::Mask;
    use crate::judge::object::{Object, common_mask, tree::Tree};
    use crate::judge::rule::kopf::essence::{View, compare};
    use crate::judge::rule::kopf::ignored::Ignored;
    use crate::judge::rule::kopf::prefix::Prefixes;
    use crate::judge::rule::kopf::{Kopf, Options};

    /// What the quick and the full comparison say; the full one is absent where the text cannot be read.
    fn answers(stored: &str, object: &str) -> (bool, Option<bool>) {
        let object = Object::read(object.as_bytes(), &Kopf::new(Options::default()).mask(common_mask())).expect("JSON");
        let (prefixes, ignored) = (Prefixes::find(&object, None), Ignored::default());
        let view = View { prefixes: &prefixes, ignored: &ignored, status_field: &["kopf".to_owned()] };
        let full = Tree::read(stored.as_bytes(), &Mask::new().whole(&[]));
        let full = full.ok().map(|stored| compare(&stored, object.tree(), view).is_empty());
        (is_plainly_same(stored, object.tree(), view), full)
    }

    const OBJECT: &str = r#"{"apiVersion":"v1","data":{},"kind":"K","metadata":{"annotations":{"kopf.zalando.org/a":"b",
        "n":"o\u003c"},"labels":{"l":"m"},"name":"n"},"spec":{"a":[1,{"b":true}],"c":18446744073709551615,"d":-1}}"#;
    const SAME: &str = r#"{"data":{},"spec":{"a":[1,{"b":true}],"c":18446744073709551615,"d":-1},
        "metadata":{"labels":{"l":"m"},"annotations":{"n":"o<"}}}"#;

    #[test]
    fn what_kopf_stores_of_an_unchanged_object_is_plainly_the_same() {
        assert_eq!(answers(SAME, OBJECT), (true, Some(true)));
        assert_eq!(answers("{}", r#"{"metadata":{}}"#), (true, Some(true)));
    }

    #[test]
    fn whatever_is_not_the_same_is_not_plainly_the_same() {
        for (from, to) in [
            (r#""data":{},"#, ""),
            (r#""data":{}"#, r#""data":{"x":1}"#),
            (r#""data":{}"#, r#""data":{},"data":{}"#),
            (r#""data":{}"#, r#""date":{}"#),
            ("[1,", "[2,"),
            ("[1,", "[1,1,"),
            (r#"{"b":true}]"#, "]"),
            (r#",{"b":true}]"#, "]"),
            ("true", "false"),
            ("true", "\"true\""),
            ("615", "614"),
            ("-1", "-2"),
            (r#""d":-1"#, r#""d":-1,"e":1"#),
            (r#","d":-1"#, ""),
            (r#""l":"m""#, r#""l":"x""#),
            (r#""l":"m""#, r#""l":"m","k":"m""#),
            (r#","annotations":{"n":"o<"}"#, ""),
            (r#""annotations":{"n":"o<"}"#, r#""annotations":{"n":"o<"},"name":"other""#),
            (r#""labels":{"l":"m"},"#, r#""labels":{"l":"m"},"labels":{"l":"m"},"#),
            (r#""metadata":{"#, r#""status":{"x":1},"metadata":{"#),
            (
                r#""metadata":{"labels""#,
                r#""metadata":{"labels":{"l":"m"},"annotations":{"n":"o<"}},"metadata":{"labels""#,
            ),
        ] {
            let stored = SAME.replacen(from, to, 1);
            assert_ne!(stored, SAME, "{from}");
            let (quick, full) = answers(&stored, OBJECT);
            assert!(!quick && full != Some(true), "{from} {to} {full:?}");
        }
        let trailing = format!("{SAME}{{}}");
        assert!(!answers(&trailing, OBJECT).0);
    }

    fn value() -> impl Strategy<Value = Value> {
        let leaf = prop_oneof![
            Just(Value::Null),
            any::<bool>().prop_map(Value::from),
            (-2_i64..3).prop_map(Value::from),
            (-1_i32..2).prop_map(|number| Value::from(f64::from(number))),
            "[ab\u{1f600}<]{0,2}".prop_map(Value::from),
        ];
        leaf.prop_recursive(3, 12, 3, |inner| {
            prop_oneof![
                prop::collection::vec(inner.clone(), 0..3).prop_map(Value::from),
                prop::collection::btree_map("[ab]", inner, 0..3)
                    .prop_map(|map| Value::Object(map.into_iter().collect())),
            ]
        })
    }

    fn texts() -> impl Strategy<Value = Map<String, Value>> {
        prop::collection::btree_map("[ab]", "[xy]".prop_map(Value::from), 0..2)
            .prop_map(|map| map.into_iter().collect())
    }

    proptest! {
        #[test]
        fn the_quick_yes_is_always_right(
            spec in value(), other in value(), labels in texts(), annotations in texts(), is_same in any::<bool>()
        ) {
            let object = json!({"metadata": {"labels": labels, "annotations": annotations}, "spec": spec});
            let stored = json!({"spec": if is_same { spec } else { other }, "metadata": object["metadata"]});
            let (quick, full) = answers(&stored.to_string(), &object.to_string());
            prop_assert!(!quick || full == Some(true));
            prop_assert!(!is_same || full == Some(true));
        }
    }
}
