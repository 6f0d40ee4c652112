//! What kopf has left on one object: the stored essence, progress records and touches.

use std::borrow::Cow;
use std::collections::BTreeSet;

use jiff::Timestamp;

use super::fingerprint;
use super::name::{DEFAULT_KEY, REPLICA_SET_SUFFIX, TOUCH, can_be_older_form, current_form, is_older_form, older_form};
use super::prefix::{Prefixes, annotations};
use super::progress::Record;
use super::{Kopf, Storage};
use crate::judge::object::tree::Tree;
use crate::judge::object::{Object, time};

/// The name that kopf's requests carry in `managedFields`: the part before the slash of its User-Agent, since 0.23.
pub(super) const MANAGER: &str = "kopf";

/// Everything that was found.
#[derive(Debug)]
pub(super) struct Traces<'t> {
    pub(super) prefixes: Prefixes<'t>,
    pub(super) marks: Vec<Mark<'t>>,
    pub(super) records: Vec<Record<'t>>,
    /// The newest touch.
    pub(super) touched_at: Option<Timestamp>,
    /// The newest write by kopf in `managedFields`.
    managed_at: Option<Timestamp>,
    /// The newest of those that can have been nothing but a mark, progress or a finalizer.
    marked_at: Option<Timestamp>,
}

/// A place where a stored essence stands.
#[derive(Debug)]
pub(super) struct Mark<'t> {
    /// The annotation; absent where it stands in the status.
    annotation: Option<(&'t str, &'t str)>,
    value: &'t Tree<'t>,
}

/// A stored essence that cannot be read. kopf raises an exception on such an object and never handles it.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Unreadable {
    /// What is wrong and where.
    pub(super) message: String,
}

impl<'t> Mark<'t> {
    /// The essence that is stored.
    pub(super) fn essence(&self, kopf: &Kopf) -> Result<Tree<'t>, Unreadable> {
        let unreadable = |what: &str| Unreadable {
            message: format!("{} {what}: what was last handled cannot be told", self.place()),
        };
        let text = self.text().ok_or_else(|| unreadable(&format!("is {}, not text", self.value.kind())))?;
        match Tree::read(text.as_bytes(), &kopf.whole) {
            Ok(essence @ Tree::Map(_)) => Ok(essence),
            Ok(other) => Err(unreadable(&format!("holds {}, not a map", other.kind()))),
            Err(_) => Err(unreadable("is not JSON that can be read")),
        }
    }

    /// The text of the essence.
    pub(super) fn text(&self) -> Option<&'t str> {
        self.value.as_str()
    }

    fn prefix(&self) -> Option<&'t str> {
        self.annotation.map(|(prefix, _)| prefix)
    }

    /// Where it stands, for messages.
    pub(super) fn place(&self) -> String {
        self.annotation.map_or_else(
            || "the stored essence in the status".to_owned(),
            |(prefix, key)| format!("metadata.annotations[{prefix}/{key}]"),
        )
    }

    /// kopf takes the JSON value `null` as absent.
    fn is_null(&self) -> bool {
        self.value.is_null() || self.value.as_str().is_some_and(|text| text.trim() == "null")
    }

    fn fingerprint(&self) -> u64 {
        self.value.as_str().map(fingerprint::of_text).or_else(|| fingerprint::of_tree(self.value, None)).unwrap_or(1)
    }
}

impl<'t> Traces<'t> {
    /// Looks for kopf's traces where `kopf` says that they can be.
    pub(super) fn find(object: &'t Object<'_>, kopf: &'t Kopf) -> Self {
        let prefixes = Prefixes::find(object, kopf.options.prefix.as_deref());
        let suffix = if is_replica_set_of_deployment(object) { REPLICA_SET_SUFFIX } else { "" };
        let mut traces = Self {
            prefixes,
            marks: Vec::new(),
            records: Vec::new(),
            touched_at: None,
            managed_at: None,
            marked_at: None,
        };
        traces.find_in_annotations(object, kopf, suffix);
        traces.find_in_status(object, kopf);
        traces.find_writes(object, kopf);
        traces
    }

    /// The newest write by kopf that the object shows, touches included.
    pub(super) fn written_at(&self) -> Option<Timestamp> {
        self.managed_at.max(self.touched_at)
    }

    /// The newest write by kopf that no timer and no handler of the operator's can have made.
    pub(super) const fn marked_at(&self) -> Option<Timestamp> {
        self.marked_at
    }

    /// The newest acknowledgement that the object shows. A touch is none, and where one is there it was the last write.
    pub(super) fn acked_at(&self) -> Option<Timestamp> {
        match self.touched_at {
            None => self.managed_at,
            Some(_) => self.records.iter().filter_map(Record::moved_at).max(),
        }
    }

    /// Whether a mark or progress is there.
    pub(super) fn is_signalled(&self) -> bool {
        !self.records.is_empty() || !self.marks.is_empty()
    }

    /// A fingerprint of the stored essence and the records; 0 where there are none.
    pub(super) fn token(&self) -> u64 {
        let marks = self.marks.iter().map(Mark::fingerprint);
        let records = self.records.iter().map(Record::fingerprint);
        marks.chain(records).fold(0, u64::wrapping_add)
    }

    fn find_in_annotations(&mut self, object: &'t Object<'_>, kopf: &Kopf, suffix: &str) {
        let key = Cow::Borrowed(kopf.options.key.as_deref().unwrap_or(DEFAULT_KEY)) + suffix;
        let touch = Cow::Borrowed(TOUCH) + suffix;
        let current = current_form(&key);
        let mut older_marks = Vec::new();
        for (name, value) in annotations(object) {
            let Some((prefix, handler)) = name.split_once('/').filter(|_| self.prefixes.is_own(name)) else { continue };
            let mark = || Mark { annotation: Some((prefix, handler)), value };
            if handler == current {
                self.marks.push(mark());
            } else if is_older_form(prefix, &key, handler) {
                older_marks.push(mark());
            } else if handler == touch || is_older_form(prefix, &touch, handler) {
                self.touched_at = self.touched_at.max(time(value));
            } else if handler.ends_with(REPLICA_SET_SUFFIX) != suffix.is_empty() {
                // On a ReplicaSet what lacks the suffix speaks of the Deployment.
                self.add_record(prefix, handler, value, kopf);
            }
        }
        // kopf writes both forms and reads the current one first.
        self.marks.retain(|mark| !mark.is_null());
        let read: BTreeSet<_> = self.marks.iter().filter_map(Mark::prefix).collect();
        older_marks.retain(|mark| !mark.is_null() && !mark.prefix().is_some_and(|prefix| read.contains(prefix)));
        self.marks.append(&mut older_marks);
        if kopf.options.storage == Storage::Status {
            self.marks.clear();
        }
        self.drop_older_forms();
    }

    /// Adds a record; whatever else has kopf's prefix is not kopf's.
    fn add_record(&mut self, prefix: &'t str, handler: &'t str, value: &Tree<'_>, kopf: &Kopf) {
        let Some(text) = value.as_str().filter(|text| text.trim_start().starts_with('{')) else { return };
        let Ok(tree) = Tree::read(text.as_bytes(), &kopf.record) else { return };
        self.records.extend(Record::read(handler, Some(prefix), fingerprint::of_text(text), &tree));
    }

    /// Counts a record that is there in both forms once.
    fn drop_older_forms(&mut self) {
        /// Only the number of handlers in a message depends on it, which is not worth more comparisons.
        const MOST: usize = 64;
        if self.records.len() > MOST {
            return;
        }
        let is_older = |record: &Record<'_>| {
            self.records.iter().any(|other| {
                record.prefix == other.prefix
                    && record.value == other.value
                    && record.prefix.is_some_and(|prefix| can_be_older_form(prefix, record.handler, other.handler))
            })
        };
        let older: Vec<bool> = self.records.iter().map(is_older).collect();
        let mut older = older.iter();
        self.records.retain(|_| older.next() != Some(&true));
    }

    fn find_in_status(&mut self, object: &'t Object<'_>, kopf: &Kopf) {
        let Some(status) = object.tree().get("status") else { return };
        let Some(place) = kopf.status_field.iter().try_fold(status, |tree, key| tree.get(key)) else { return };
        // A storage with `field=` keeps its text at the very place, one with `name=` below it; so for progress.
        let is_told = kopf.options.status_field.is_some();
        let mark = if is_told && !matches!(place, Tree::Map(_)) { Some(place) } else { place.get(DEFAULT_KEY) };
        if kopf.options.storage != Storage::Annotations {
            self.marks.extend(mark.map(|value| Mark { annotation: None, value }).filter(|mark| !mark.is_null()));
        }
        self.touched_at = self.touched_at.max(place.get("dummy").and_then(time));
        let direct = if is_told { place.entries() } else { &[] };
        let below = place.get("progress").map_or(&[][..], Tree::entries);
        let known: BTreeSet<&str> = self.records.iter().map(|record| record.handler).collect();
        for (handler, value) in below.iter().chain(direct) {
            // Where both places have a record kopf reads the annotation.
            if !self.is_known(&known, handler) {
                let fingerprint = fingerprint::of_tree(value, None).unwrap_or_default();
                self.records.extend(Record::read(handler, None, fingerprint, value));
            }
        }
    }

    fn is_known(&self, known: &BTreeSet<&str>, handler: &str) -> bool {
        /// More operators do not share an object, and a hostile one must not cost more.
        const MOST: usize = 3;
        let mut own = self.prefixes.own().iter().take(MOST);
        !known.is_empty()
            && (known.contains(current_form(handler).as_str())
                || own.any(|prefix| known.contains(older_form(prefix, handler).as_str())))
    }

    /// What owns nothing but the status is the work of timers, daemons and handlers, and shows that kopf handles events
    /// only where its marks stand there.
    fn find_writes(&mut self, object: &Object<'_>, kopf: &Kopf) {
        let uses_status = self.uses_status(kopf);
        for entry in object.managed_fields().filter(|entry| entry.manager == MANAGER) {
            if uses_status || entry.owns_metadata || !entry.owns_status {
                self.managed_at = self.managed_at.max(entry.at());
            }
            if entry.owns_metadata && !entry.owns_status {
                self.marked_at = self.marked_at.max(entry.at());
            }
        }
    }

    fn uses_status(&self, kopf: &Kopf) -> bool {
        kopf.options.storage == Storage::Status
            || self.marks.iter().any(|mark| mark.annotation.is_none())
            || self.records.iter().any(|record| record.prefix.is_none())
    }
}

fn is_replica_set_of_deployment(object: &Object<'_>) -> bool {
    let is_deployment = |owner: &Tree<'_>| owner.get("kind").and_then(Tree::as_str) == Some("Deployment");
    object.identity().kind == Some("ReplicaSet")
        && object
            .tree()
            .at(&["metadata", "ownerReferences"])
            .is_some_and(|owners| owners.items().iter().any(is_deployment))
}
