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
        (r#""metadata":{"labels""#, r#""metadata":{"labels":{"l":"m"},"annotations":{"n":"o<"}},"metadata":{"labels""#),
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
            prop::collection::btree_map("[ab]", inner, 0..3).prop_map(|map| Value::Object(map.into_iter().collect())),
        ]
    })
}

fn texts() -> impl Strategy<Value = Map<String, Value>> {
    prop::collection::btree_map("[ab]", "[xy]".prop_map(Value::from), 0..2).prop_map(|map| map.into_iter().collect())
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
