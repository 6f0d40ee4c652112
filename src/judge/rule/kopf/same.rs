//! The quick answer: whether a stored essence is, entry by entry, what the object holds now.
//!
//! Nearly every object is as it was last handled, and the API server sends keys in one order, which kopf keeps. So the
//! stored text is compared as it is read, and no tree is built of it. Whatever is not plainly the same (another order, a
//! `null`, `1.0` for `1`, a tracked field) is left to the full comparison.

use super::diff::Entry;
use super::essence::{self, View};
use crate::judge::object::read::Walk;
use crate::judge::object::tree::Tree;

/// True only where [`essence::compare`] would find no difference; false says nothing.
pub(super) fn is_plainly_same(stored: &str, object: &Tree<'_>, view: View<'_>) -> bool {
    if !view.ignored.is_empty() {
        return false;
    }
    let mut walk = Walk::new(stored.as_bytes());
    follow_essence(&mut walk, object, view).and_then(|()| walk.end()).is_some()
}

/// `None` is "not plainly the same", here and below.
fn follow_essence(walk: &mut Walk<'_>, object: &Tree<'_>, view: View<'_>) -> Option<()> {
    let metadata = object.get("metadata");
    let mut stanzas = essence::stanzas(object);
    let mut has_metadata = false;
    walk.entries(|walk, key| {
        if key == "metadata" {
            // One that stands twice in the text is not plain.
            return if std::mem::replace(&mut has_metadata, true) {
                None
            } else {
                follow_metadata(walk, metadata, view)
            };
        }
        let (_, value) = stanzas.next().filter(|(name, _)| *name == key)?;
        follow_value(walk, value)
    })?;
    let is_bare = || essence::labels(metadata).is_empty() && essence::annotations(metadata, view).next().is_none();
    (stanzas.next().is_none() && (has_metadata || is_bare())).then_some(())
}

fn follow_metadata(walk: &mut Walk<'_>, metadata: Option<&Tree<'_>>, view: View<'_>) -> Option<()> {
    let mut labels: Vec<_> = essence::labels(metadata).iter().collect();
    let mut annotations: Vec<_> = essence::annotations(metadata, view).collect();
    walk.entries(|walk, part| {
        let entries = match part.as_ref() {
            "labels" => std::mem::take(&mut labels),
            "annotations" => std::mem::take(&mut annotations),
            _ => return None,
        };
        // A part that stands twice in the text finds nothing the second time.
        if entries.is_empty() { None } else { follow_map(walk, entries.into_iter()) }
    })?;
    (labels.is_empty() && annotations.is_empty()).then_some(())
}

/// Goes through a map, which must have exactly these entries in this order.
fn follow_map<'e, 't: 'e>(walk: &mut Walk<'_>, mut entries: impl Iterator<Item = &'e Entry<'t>>) -> Option<()> {
    walk.entries(|walk, key| {
        let (_, value) = entries.next().filter(|(name, _)| *name == key)?;
        follow_value(walk, value)
    })?;
    entries.next().is_none().then_some(())
}

/// Goes through what must be this value. The tree has bounds to its depth, and so this has.
fn follow_value(walk: &mut Walk<'_>, tree: &Tree<'_>) -> Option<()> {
    match tree {
        Tree::Text(text) => (walk.text()? == *text).then_some(()),
        Tree::Map(entries) => follow_map(walk, entries.iter()),
        Tree::List(items) => {
            let mut items = items.iter();
            walk.items(|walk| follow_value(walk, items.next()?))?;
            items.next().is_none().then_some(())
        }
        Tree::Bool(true) => walk.word(b"true"),
        Tree::Bool(false) => walk.word(b"false"),
        Tree::Int(_) | Tree::Uint(_) => (walk.number()? == *tree).then_some(()),
        Tree::Null | Tree::Float(_) | Tree::Unread => None,
    }
}

#[cfg(test)]
mod tests;
