//! The essence: the part of an object whose change makes kopf act.
//!
//! kopf takes every top-level stanza but `apiVersion`, `kind`, `metadata` and `status`, adds labels and annotations
//! without the marks of any kopf operator and without what `kubectl apply` stores, and adds the fields for which the
//! operator has handlers. The latter cannot be known from outside, so they are read off the stored essence: what it
//! holds below `status` and elsewhere in `metadata` is what the operator tracks. Only a field that was added inside a
//! tracked map can escape this way.
//!
//! Nothing is built here: both sides are walked where they stand.

use super::diff::{Differences, Entry, Path, pair};
use super::fingerprint;
use super::ignored::Ignored;
use super::prefix::Prefixes;
use crate::judge::nudge;
use crate::judge::object::tree::Tree;

/// What the operator's configuration says about the essence.
#[derive(Debug, Clone, Copy)]
pub(super) struct View<'v> {
    /// Whose annotations are stripped.
    pub(super) prefixes: &'v Prefixes<'v>,
    /// What the operator leaves out.
    pub(super) ignored: &'v Ignored,
    /// The path below `status` where a status storage keeps its marks, which never count.
    pub(super) status_field: &'v [String],
}

const LABELS: &str = "labels";
const ANNOTATIONS: &str = "annotations";
/// Read through the mask, so that a comparison would always fail; and no operator can track it, since its own writes
/// change it.
const MANAGED_FIELDS: &str = "managedFields";

/// What differs between the essence that was stored and the object as it is.
pub(super) fn compare(stored: &Tree<'_>, object: &Tree<'_>, view: View<'_>) -> Differences {
    let mut differences = Differences::default();
    compare_stanzas(&mut differences, stored, object, view.ignored);
    compare_metadata(&mut differences, stored, object, view);
    compare_status(&mut differences, stored, object, view);
    differences
}

/// The fingerprint of the essence, without fields that are tracked by handlers alone: whether they are is seen only
/// once a mark is there, and writing a mark is no change of the desired state.
pub(super) fn fingerprint(object: &Tree<'_>, view: View<'_>) -> u64 {
    let stanzas = fingerprint::of_entries(stanzas(object), Some(view.ignored));
    let metadata = object.get("metadata");
    let ignored = |part: &str| view.ignored.below("metadata").and_then(|ignored| ignored.below(part));
    let is_counted = |part: &str| !ignored(part).is_some_and(Ignored::is_end);
    let labels = labels(metadata).iter().filter(|_| is_counted(LABELS));
    // A nudge is compared like any annotation, since kopf does, and is nothing that anybody wants.
    let is_wanted = |entry: &&Entry<'_>| entry.0 != nudge::ANNOTATION && is_counted(ANNOTATIONS);
    let annotations = annotations(metadata, view).filter(is_wanted);
    let labels = fingerprint::of_entries(labels, ignored(LABELS));
    fingerprint::join(stanzas, fingerprint::join(labels, fingerprint::of_entries(annotations, ignored(ANNOTATIONS))))
}

/// Compares the top-level stanzas that belong to every essence.
fn compare_stanzas(differences: &mut Differences, stored: &Tree<'_>, object: &Tree<'_>, ignored: &Ignored) {
    let (stored, object): (Vec<_>, Vec<_>) = (stanzas(stored).collect(), stanzas(object).collect());
    pair(&stored, &object, |key, old, new| differences.compare(&Path::top(key), old, new, ignored.below(key)));
}

/// Compares labels and annotations, of which an empty map counts as absent, and the fields of `metadata` that the
/// operator tracks.
fn compare_metadata(differences: &mut Differences, stored: &Tree<'_>, object: &Tree<'_>, view: View<'_>) {
    let (stored, object) = (stored.get("metadata"), object.get("metadata"));
    let ignored = view.ignored.below("metadata");
    if ignored.is_some_and(Ignored::is_end) {
        return;
    }
    let path = Path::top("metadata");
    let below = |part: &str| ignored.and_then(|ignored| ignored.below(part));
    if !below(LABELS).is_some_and(Ignored::is_end) {
        differences.compare_entries(&path.below(LABELS), labels(stored), labels(object), below(LABELS));
    }
    if !below(ANNOTATIONS).is_some_and(Ignored::is_end) {
        // What a storage would strip of its own is also stripped from what an older version has stored.
        let old = entries(stored, ANNOTATIONS).iter().filter(|entry| !view.prefixes.is_own(&entry.0));
        let (old, new): (Vec<_>, Vec<_>) = (old.collect(), annotations(object, view).collect());
        differences.compare_entries(&path.below(ANNOTATIONS), &old, &new, below(ANNOTATIONS));
    }
    for (key, old) in stored.map_or(&[][..], Tree::entries) {
        if !matches!(key.as_ref(), LABELS | ANNOTATIONS | MANAGED_FIELDS) {
            let new = object.and_then(|object| object.get(key));
            differences.compare_leaves(&path.below(key), old, new, below(key));
        }
    }
}

/// Compares the fields of `status` that the operator tracks.
fn compare_status(differences: &mut Differences, stored: &Tree<'_>, object: &Tree<'_>, view: View<'_>) {
    let (Some(stored), object) = (stored.get("status"), object.get("status")) else { return };
    let mut ignored = view.ignored.below("status").cloned().unwrap_or_default();
    ignored.add(view.status_field.iter().map(String::as_str));
    if !matches!(stored, Tree::Map(entries) if entries.is_empty()) {
        differences.compare_leaves(&Path::top("status"), stored, object, Some(&ignored));
    }
}

/// The top-level stanzas that belong to every essence.
pub(super) fn stanzas<'e, 't>(tree: &'e Tree<'t>) -> impl Iterator<Item = &'e Entry<'t>> {
    let is_stanza = |key: &str| !matches!(key, "apiVersion" | "kind" | "metadata" | "status");
    tree.entries().iter().filter(move |entry| is_stanza(&entry.0))
}

/// An object's labels.
pub(super) fn labels<'e, 't>(metadata: Option<&'e Tree<'t>>) -> &'e [Entry<'t>] {
    entries(metadata, LABELS)
}

/// An object's annotations without what kopf strips.
pub(super) fn annotations<'e, 't>(
    metadata: Option<&'e Tree<'t>>,
    view: View<'e>,
) -> impl Iterator<Item = &'e Entry<'t>> {
    entries(metadata, ANNOTATIONS).iter().filter(move |entry| !view.prefixes.is_stripped(&entry.0))
}

fn entries<'e, 't>(metadata: Option<&'e Tree<'t>>, part: &str) -> &'e [Entry<'t>] {
    metadata.and_then(|metadata| metadata.get(part)).map_or(&[], Tree::entries)
}

#[cfg(test)]
mod tests;
