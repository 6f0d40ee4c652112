//! Objects and what happened to them: one counter of revisions for everything, as etcd has it.

use std::collections::{BTreeMap, VecDeque};
use std::sync::Arc;
use std::time::Duration;

use serde_json::Value;

/// Where an object stands. The order is the one in which lists return objects.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Key {
    pub(super) group: String,
    pub(super) plural: String,
    /// Empty for a cluster-scoped object.
    pub(super) namespace: String,
    pub(super) name: String,
}

impl Key {
    /// Whether it stands in the resource and, if one is given, in the namespace.
    pub(super) fn is_in(&self, group: &str, plural: &str, namespace: Option<&str>) -> bool {
        self.group == group && self.plural == plural && namespace.is_none_or(|namespace| namespace == self.namespace)
    }
}

/// Objects by where they stand.
pub(super) type Objects = BTreeMap<Key, Arc<Value>>;

/// The objects of a resource and, if one is given, of a namespace, in the order of lists.
pub(super) fn within<'a>(
    objects: &'a Objects,
    group: &'a str,
    plural: &'a str,
    namespace: Option<&'a str>,
) -> impl Iterator<Item = (&'a Key, &'a Arc<Value>)> {
    let from = Key {
        group: group.to_owned(),
        plural: plural.to_owned(),
        namespace: namespace.unwrap_or_default().to_owned(),
        name: String::new(),
    };
    objects.range(from..).take_while(move |(key, _)| key.is_in(group, plural, namespace))
}

/// One change of one object.
#[derive(Debug, Clone)]
pub(super) struct Change {
    pub(super) revision: u64,
    /// When, on the boot clock.
    pub(super) at: Duration,
    pub(super) key: Key,
    pub(super) before: Option<Arc<Value>>,
    /// The object after it. For a deletion the last state, with the revision of the deletion.
    pub(super) object: Arc<Value>,
    pub(super) deleted: bool,
}

/// The objects now, and as many changes as the history holds.
#[derive(Debug)]
pub(super) struct Store {
    objects: Objects,
    revision: u64,
    /// The newest revision whose change is forgotten: watches and lists from before it are too old.
    forgotten: u64,
    history: VecDeque<Change>,
    capacity: usize,
}

impl Store {
    pub(super) const fn new(capacity: usize) -> Self {
        Self { objects: BTreeMap::new(), revision: 1, forgotten: 0, history: VecDeque::new(), capacity }
    }

    pub(super) const fn revision(&self) -> u64 {
        self.revision
    }

    /// The oldest revision that a watch can go on from and a list can show.
    pub(super) const fn oldest(&self) -> u64 {
        self.forgotten
    }

    pub(super) fn set_capacity(&mut self, capacity: usize) {
        self.capacity = capacity;
        self.trim();
    }

    pub(super) const fn objects(&self) -> &Objects {
        &self.objects
    }

    pub(super) fn read(&self, key: &Key) -> Option<&Arc<Value>> {
        self.objects.get(key)
    }

    /// Writes an object and returns it with its new `resourceVersion`.
    pub(super) fn put(&mut self, key: Key, object: Value, at: Duration) -> Arc<Value> {
        let object = self.stamped(object);
        let before = self.objects.insert(key.clone(), Arc::clone(&object));
        self.record(Change { revision: self.revision, at, key, before, object: Arc::clone(&object), deleted: false });
        object
    }

    /// Removes an object and returns its last state, which is `last` with the revision of the removal.
    pub(super) fn remove(&mut self, key: &Key, last: Value, at: Duration) -> Arc<Value> {
        let object = self.stamped(last);
        let before = self.objects.remove(key);
        let (revision, key) = (self.revision, key.clone());
        self.record(Change { revision, at, key, before, object: Arc::clone(&object), deleted: true });
        object
    }

    fn stamped(&mut self, mut object: Value) -> Arc<Value> {
        self.revision += 1;
        object["metadata"]["resourceVersion"] = self.revision.to_string().into();
        Arc::new(object)
    }

    fn record(&mut self, change: Change) {
        self.history.push_back(change);
        self.trim();
    }

    fn trim(&mut self) {
        while self.history.len() > self.capacity {
            self.forgotten = self.history.pop_front().map_or(self.forgotten, |change| change.revision);
        }
    }

    /// Forgets the whole history, as etcd's compaction does.
    pub(super) fn compact(&mut self) {
        self.history.clear();
        self.forgotten = self.revision;
    }

    /// What happened after a revision, oldest first.
    pub(super) fn changes_after(&self, revision: u64) -> impl Iterator<Item = &Change> {
        let from = self.history.partition_point(|change| change.revision <= revision);
        self.history.range(from..)
    }

    /// The newest revision that was written at or before a moment of the boot clock, as far as the history knows.
    pub(super) fn revision_at(&self, at: Duration) -> u64 {
        let known = self.history.partition_point(|change| change.at <= at);
        known.checked_sub(1).and_then(|index| self.history.get(index)).map_or(self.forgotten, |change| change.revision)
    }

    /// The objects as they were at a revision; nothing if the history does not reach back so far.
    pub(super) fn as_of(&self, revision: u64) -> Option<Objects> {
        if revision < self.forgotten {
            return None;
        }
        let mut objects = self.objects.clone();
        for change in self.history.iter().rev().take_while(|change| change.revision > revision) {
            match &change.before {
                Some(before) => objects.insert(change.key.clone(), Arc::clone(before)),
                None => objects.remove(&change.key),
            };
        }
        Some(objects)
    }

    /// Merges a patch into every object of a resource. Nobody is told.
    pub(super) fn rewrite(&mut self, group: &str, plural: &str, patch: &Value) {
        for (_, object) in self.objects.iter_mut().filter(|(key, _)| key.is_in(group, plural, None)) {
            json_patch::merge(Arc::make_mut(object), patch);
        }
    }

    /// Takes the store back to an older revision, counter included, as restoring etcd from a backup does.
    ///
    /// Goes back as far as the history reaches, and returns the revision.
    pub(super) fn roll_back(&mut self, revision: u64) -> u64 {
        let revision = revision.clamp(self.forgotten, self.revision);
        if let Some(objects) = self.as_of(revision) {
            self.objects = objects;
            self.history.retain(|change| change.revision <= revision);
            self.revision = revision;
        }
        revision
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn key(name: &str) -> Key {
        Key { group: "g".into(), plural: "things".into(), namespace: "ns".into(), name: name.into() }
    }

    fn names(objects: &Objects) -> Vec<&str> {
        objects.keys().map(|key| key.name.as_str()).collect()
    }

    fn store() -> Store {
        let mut store = Store::new(100);
        for (second, name) in ["a", "b", "c"].iter().enumerate() {
            store.put(key(name), json!({"metadata": {}}), Duration::from_secs(second as u64));
        }
        store.remove(&key("a"), json!({"metadata": {}}), Duration::from_secs(3));
        store
    }

    #[test]
    fn an_older_revision_shows_what_was_there_then() {
        let store = store();
        assert_eq!(names(store.objects()), ["b", "c"]);
        assert_eq!(names(&store.as_of(4).expect("in the history")), ["a", "b", "c"]);
        assert_eq!(names(&store.as_of(2).expect("in the history")), ["a"]);
    }

    #[test]
    fn what_the_history_lost_is_not_shown() {
        let mut store = store();
        store.set_capacity(1);
        assert_eq!(store.oldest(), 4);
        assert!(store.as_of(3).is_none());
        assert!(store.as_of(4).is_some());
    }

    #[test]
    fn the_newest_revision_of_a_moment_is_found() {
        let store = store();
        assert_eq!(store.revision_at(Duration::from_secs(1)), 3);
        assert_eq!(store.revision_at(Duration::from_mins(1)), 5);
    }

    #[test]
    fn rolling_back_takes_the_counter_back_too() {
        let mut store = store();
        assert_eq!(store.roll_back(3), 3);
        assert_eq!((store.revision(), names(store.objects())), (3, vec!["a", "b"]));
        assert_eq!(store.changes_after(3).count(), 0);
    }
}
