//! `metadata.managedFields` as the API server keeps it for writes that are not server-side applies.
//!
//! A write owns the fields that it adds or changes and takes them from the others. The time of an entry moves when
//! its manager gains or changes fields, and stays when fields are only taken away. Lists are owned as a whole: the
//! simulated server knows no schema that would name their keys.

use std::collections::BTreeSet;

use serde_json::{Map, Value, json};

/// Who writes, as the API server records it.
#[derive(Debug, Clone, Copy)]
pub(super) struct Author<'a> {
    pub(super) manager: &'a str,
    pub(super) api_version: &'a str,
    /// The subresource that is written through.
    pub(super) subresource: Option<&'a str>,
    /// RFC 3339 in whole seconds.
    pub(super) time: &'a str,
}

type Paths = BTreeSet<Vec<String>>;

/// Fields of `metadata` that nobody owns.
const UNOWNED: [&str; 10] = [
    "name",
    "namespace",
    "generateName",
    "uid",
    "resourceVersion",
    "generation",
    "creationTimestamp",
    "deletionTimestamp",
    "deletionGracePeriodSeconds",
    "managedFields",
];

/// Brings `metadata.managedFields` of `new` up to date after `author` turned `old` into it.
pub(super) fn update(old: Option<&Value>, new: &mut Value, author: Author<'_>) {
    let (taken, gone) = difference(old.unwrap_or(&Value::Null), new);
    let entries = old.and_then(|old| old["metadata"]["managedFields"].as_array()).cloned().unwrap_or_default();
    let mut kept = Vec::new();
    let mut own = None;
    for mut entry in entries {
        let mut owned = Paths::new();
        read_fields(&entry["fieldsV1"], &mut Vec::new(), &mut owned);
        owned.retain(|path| !gone.contains(path));
        if is_of(&entry, author) {
            own = Some((entry, owned));
            continue;
        }
        owned.retain(|path| !taken.contains(path));
        if !owned.is_empty() {
            entry["fieldsV1"] = write_fields(&owned);
            kept.push(entry);
        }
    }
    if let Some(entry) = own_entry(own, taken, author) {
        kept.push(entry);
    }
    kept.sort_by_cached_key(|entry| {
        ["time", "manager", "apiVersion", "subresource"].map(|field| entry[field].as_str().map(str::to_owned))
    });
    if kept.is_empty() {
        new["metadata"].as_object_mut().map(|metadata| metadata.remove("managedFields"));
    } else {
        new["metadata"]["managedFields"] = kept.into();
    }
}

fn own_entry(before: Option<(Value, Paths)>, taken: Paths, author: Author<'_>) -> Option<Value> {
    let moved = !taken.is_empty();
    let (entry, mut owned) = before.unwrap_or_else(|| (new_entry(author), Paths::new()));
    owned.extend(taken);
    (!owned.is_empty()).then(|| {
        let mut entry = entry;
        entry["fieldsV1"] = write_fields(&owned);
        if moved {
            entry["time"] = author.time.into();
        }
        entry
    })
}

fn new_entry(author: Author<'_>) -> Value {
    let mut entry = json!({
        "manager": author.manager, "operation": "Update", "apiVersion": author.api_version,
        "fieldsType": "FieldsV1", "time": author.time,
    });
    if let Some(subresource) = author.subresource {
        entry["subresource"] = subresource.into();
    }
    entry
}

fn is_of(entry: &Value, author: Author<'_>) -> bool {
    entry["manager"] == author.manager
        && entry["operation"] == "Update"
        && entry["apiVersion"] == author.api_version
        && entry.get("subresource").and_then(Value::as_str) == author.subresource
}

/// The fields that are new or changed, and those that are gone.
fn difference(old: &Value, new: &Value) -> (Paths, Paths) {
    let (mut taken, mut gone) = (Paths::new(), Paths::new());
    compare(new, old, &mut Vec::new(), &mut taken, true);
    compare(old, new, &mut Vec::new(), &mut gone, false);
    (taken, gone)
}

/// Collects the paths of `left` that `right` lacks, and with `values` those whose value differs.
fn compare(left: &Value, right: &Value, path: &mut Vec<String>, found: &mut Paths, values: bool) {
    let Some(map) = left.as_object() else {
        if right.is_null() || (values && left != right) {
            found.insert(path.clone());
        }
        return;
    };
    let is_root = path.is_empty() || (path.len() == 1 && path[0] == "metadata");
    if !is_root && !right.is_object() {
        found.insert(path.clone());
    }
    for (key, value) in map {
        if is_unowned(path, key) {
            continue;
        }
        path.push(key.clone());
        compare(value, right.get(key).unwrap_or(&Value::Null), path, found, values);
        path.pop();
    }
}

fn is_unowned(parent: &[String], key: &str) -> bool {
    match parent {
        [] => key == "apiVersion" || key == "kind",
        [metadata] if metadata == "metadata" => UNOWNED.contains(&key),
        _ => false,
    }
}

/// Reads `fieldsV1`: `f:` stands before a field's name, `.` for the map itself, an empty map for a leaf.
fn read_fields(fields: &Value, path: &mut Vec<String>, found: &mut Paths) {
    let Some(map) = fields.as_object() else { return };
    if map.is_empty() && !path.is_empty() {
        found.insert(path.clone());
    }
    for (key, value) in map {
        if key == "." {
            found.insert(path.clone());
        } else if let Some(name) = key.strip_prefix("f:") {
            path.push(name.to_owned());
            read_fields(value, path, found);
            path.pop();
        }
    }
}

fn write_fields(paths: &Paths) -> Value {
    let mut root = Map::new();
    // A set is sorted, so a map's own path comes before the paths below it.
    for path in paths {
        let mut at = &mut root;
        for name in path {
            let entry = at.entry(format!("f:{name}")).or_insert_with(|| Value::Object(Map::new()));
            if !entry.is_object() {
                *entry = Value::Object(Map::new());
            }
            let Value::Object(map) = entry else { break };
            at = map;
        }
    }
    let mut root = Value::Object(root);
    mark_maps(&mut root, &mut Vec::new(), paths);
    root
}

/// Adds `.` to each map that has fields and is owned itself.
fn mark_maps(fields: &mut Value, path: &mut Vec<String>, paths: &Paths) {
    let Some(map) = fields.as_object_mut().filter(|map| !map.is_empty()) else { return };
    for (key, value) in map.iter_mut() {
        path.push(key.trim_start_matches("f:").to_owned());
        mark_maps(value, path, paths);
        path.pop();
    }
    if paths.contains(path) {
        map.insert(".".to_owned(), json!({}));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn author<'a>(manager: &'a str, time: &'a str) -> Author<'a> {
        Author { manager, api_version: "example.com/v1", subresource: None, time }
    }

    fn entry<'a>(object: &'a Value, manager: &str) -> Option<&'a Value> {
        object["metadata"]["managedFields"].as_array()?.iter().find(|entry| entry["manager"] == manager)
    }

    fn created() -> Value {
        let mut object = json!({
            "apiVersion": "example.com/v1", "kind": "Widget",
            "metadata": {"name": "a", "labels": {"x": "1"}}, "spec": {"size": 1, "list": [{"a": 1}]},
        });
        update(None, &mut object, author("kubectl", "t1"));
        object
    }

    #[test]
    fn a_creation_owns_every_field_but_those_of_the_system() {
        let expected = json!({
            "f:metadata": {"f:labels": {".": {}, "f:x": {}}},
            "f:spec": {".": {}, "f:list": {}, "f:size": {}},
        });
        assert_eq!(entry(&created(), "kubectl").expect("an entry")["fieldsV1"], expected);
    }

    #[test]
    fn a_changed_field_goes_over_to_the_one_who_changed_it_and_the_other_time_stays() {
        let old = created();
        let mut new = old.clone();
        new["spec"]["size"] = 2.into();
        update(Some(&old), &mut new, author("other", "t2"));
        let (kubectl, other) = (entry(&new, "kubectl").expect("kept"), entry(&new, "other").expect("new"));
        assert_eq!(other["fieldsV1"], json!({"f:spec": {"f:size": {}}}));
        assert_eq!((kubectl["time"].as_str(), other["time"].as_str()), (Some("t1"), Some("t2")));
        assert!(kubectl["fieldsV1"]["f:spec"].get("f:size").is_none());
    }

    #[test]
    fn taking_fields_away_moves_no_time() {
        let old = created();
        let mut new = old.clone();
        new["metadata"]["labels"] = json!({});
        update(Some(&old), &mut new, author("kubectl", "t2"));
        assert_eq!(entry(&new, "kubectl").expect("kept")["time"], "t1");
    }

    #[test]
    fn an_entry_that_owns_nothing_any_more_is_dropped() {
        let old = json!({"metadata": {}, "spec": {}});
        let mut one = json!({"metadata": {}, "spec": {"a": 1}});
        update(Some(&old), &mut one, author("first", "t1"));
        let mut two = one.clone();
        two["spec"]["a"] = 2.into();
        update(Some(&one), &mut two, author("second", "t2"));
        assert_eq!(entry(&two, "first"), None);
    }
}
