use serde::Deserialize;
use serde_json::{Value, json};

use super::{View, compare};
use crate::judge::object::mask::Mask;
use crate::judge::object::tree::Tree;
use crate::judge::object::{Object, common_mask};
use crate::judge::rule::kopf::ignored::Ignored;
use crate::judge::rule::kopf::prefix::Prefixes;
use crate::judge::rule::kopf::{Kopf, Options};

/// What differs between `stored` and `object`: the message, or nothing.
fn difference(stored: &str, object: &Value, prefix: Option<&str>) -> Option<String> {
    let kopf = Kopf::new(Options::default());
    let json = object.to_string();
    let object = Object::read(json.as_bytes(), &kopf.mask(common_mask())).expect("an object");
    let stored = Tree::read(stored.as_bytes(), &Mask::new().whole(&[])).expect("JSON");
    let prefixes = Prefixes::find(&object, prefix);
    let field = ["kopf".to_owned()];
    let view = View { prefixes: &prefixes, ignored: &Ignored::default(), status_field: &field };
    let differences = compare(&stored, object.tree(), view);
    (!differences.is_empty()).then(|| differences.message())
}

fn of_body(stored: &Value, mut body: Value) -> Option<String> {
    if body.get("metadata").is_none() {
        body["metadata"] = json!({"name": "x"});
    }
    difference(&stored.to_string(), &body, None)
}

#[derive(Deserialize)]
struct Vector {
    title: String,
    body: Value,
    essence: Value,
    encoded: String,
}

#[test]
fn essences_are_those_of_kopf() {
    let text = include_str!("../../../../../tests/fixtures/kopf/vectors-essence.json");
    let vectors: Vec<Vector> = serde_json::from_str(text).expect("vectors");
    for (at, vector) in vectors.iter().enumerate() {
        assert_eq!(difference(&vector.encoded, &vector.body, None), None, "{}", vector.title);
        assert_eq!(difference(&vector.essence.to_string(), &vector.body, None), None, "{}", vector.title);
        // Nothing that kopf takes in may be overlooked: each essence differs from every other body.
        for other in vectors.iter().enumerate().filter(|(other, _)| *other != at).map(|(_, other)| other) {
            let is_same = without_status(&other.essence) == without_status(&vector.essence)
                && vector.essence["status"]
                    .as_object()
                    .into_iter()
                    .flatten()
                    .all(|(key, value)| other.body["status"][key] == *value);
            let answer = difference(&vector.encoded, &other.body, None);
            assert_eq!(answer.is_none(), is_same, "{} with {}", vector.title, other.title);
        }
    }
}

/// Which fields of the status an operator tracks is read off the stored essence, so there only those of it count.
fn without_status(essence: &Value) -> Value {
    let mut essence = essence.clone();
    essence.as_object_mut().and_then(|map| map.remove("status"));
    essence
}

#[test]
fn values_are_equal_as_python_finds_them() {
    let same = [
        (json!(1), json!(1.0)),
        (json!(1), json!(true)),
        (json!(0.0), json!(false)),
        (json!(-0.0), json!(0)),
        (json!(u64::MAX), json!(u64::MAX)),
        (json!({"a": null, "b": {"c": null}}), json!({"b": {}})),
        (json!({"a": 1, "b": 2}), serde_json::from_str(r#"{"b":2,"a":1}"#).expect("JSON")),
        (json!([{"a": 1, "b": 2}]), serde_json::from_str(r#"[{"b":2,"a":1.0}]"#).expect("JSON")),
    ];
    for (old, new) in same {
        assert_eq!(of_body(&json!({"spec": old}), json!({"spec": new})), None, "{old} {new}");
    }
    let different = [
        (json!(1), json!("1")),
        (json!("true"), json!(true)),
        (json!(1), json!(1.5)),
        (json!(9_007_199_254_740_993_i64), json!(9_007_199_254_740_992.0)),
        (json!(null), json!(0)),
        (json!({}), json!(null)),
        (json!([]), json!({})),
        (json!({"a": {}}), json!({})),
        (json!([1, 2]), json!([2, 1])),
        (json!([1]), json!([1, null])),
        (json!([{"a": null}]), json!([{}])),
        (json!([{"a": null}]), json!([{"b": null}])),
    ];
    for (old, new) in different {
        assert!(of_body(&json!({"spec": old}), json!({"spec": new})).is_some(), "{old} {new}");
    }
}

#[test]
fn lists_differ_as_a_whole_and_maps_key_by_key() {
    let stored = json!({"spec": {"list": [1, 2, 3], "map": {"a": 1, "b": 2, "c": 3}}});
    let body = json!({"spec": {"list": [4, 5, 6], "map": {"a": 2, "b": 2, "d": 3}}});
    assert_eq!(of_body(&stored, body).as_deref(), Some("spec.list and 3 more differ from what was last handled"));
}

#[test]
fn fields_that_the_stored_essence_holds_are_tracked() {
    let stored = json!({"status": {"phase": "a", "sub": {"x": 1}}, "metadata": {"uid": "u"}});
    let body = |phase: &str, uid: &str| json!({"metadata": {"uid": uid, "name": "n"}, "status": {"phase": phase, "sub": {"x": 1, "y": 2}, "other": 1}});
    assert_eq!(of_body(&stored, body("a", "u")), None);
    assert_eq!(of_body(&stored, body("b", "u")).as_deref(), Some("status.phase differs from what was last handled"));
    assert_eq!(of_body(&stored, body("a", "v")).as_deref(), Some("metadata.uid differs from what was last handled"));
    let gone = json!({"metadata": {"uid": "u"}, "status": {"phase": "a"}});
    assert_eq!(of_body(&stored, gone).as_deref(), Some("status.sub.x differs from what was last handled"));
}

#[test]
fn what_kopf_itself_wrote_never_counts() {
    // Versions before 0.27 stored marks of their own and empty labels.
    let stored = json!({"metadata": {"labels": {}, "annotations": {"kopf.zalando.org/old": "1"}},
        "status": {"kopf": {"progress": {"fn": {"retries": 1}}}, "x": null}});
    assert_eq!(of_body(&stored, json!({"status": {"kopf": {"dummy": "t"}}})), None);
    assert_eq!(of_body(&json!({"status": {}}), json!({})), None);
    assert_eq!(of_body(&json!({"metadata": {"managedFields": [{"manager": "a"}]}}), json!({})), None);
}

#[test]
fn annotations_of_a_configured_prefix_are_stripped_without_a_marker() {
    let body = json!({"metadata": {"annotations": {"kopf.ops.example/fn": "1", "evilkopf.zalando.org/x": "1"}}});
    let stored = json!({"metadata": {"annotations": {"evilkopf.zalando.org/x": "1"}}}).to_string();
    assert_eq!(difference(&stored, &body, Some("kopf.ops.example")), None);
    let message = difference(&stored, &body, Some("other.example")).expect("a difference");
    assert_eq!(message, "metadata.annotations[kopf.ops.example/fn] differs from what was last handled");
}

#[test]
fn keys_in_any_order_and_in_any_number_are_paired() {
    let keys = |order: &mut dyn Iterator<Item = u32>| {
        let entries: Vec<_> = order.map(|key| format!("\"k{key}\":{key}")).collect();
        format!("{{{}}}", entries.join(","))
    };
    let stored = format!("{{\"spec\":{}}}", keys(&mut (0..20_000)));
    let body: Value = serde_json::from_str(&keys(&mut (0..20_000).rev().filter(|key| *key != 7))).expect("JSON");
    let object = json!({"metadata": {}, "spec": body});
    assert_eq!(difference(&stored, &object, None).as_deref(), Some("spec.k7 differs from what was last handled"));
}
