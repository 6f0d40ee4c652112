//! Fingerprints that do not depend on the order of keys and that equal values share.

use twox_hash::XxHash3_64;

use super::diff::{Entry, Number};
use super::ignored::Ignored;
use crate::judge::object::tree::Tree;

/// Never to be changed: fingerprints outlive the process in the state file.
const SEED: u64 = 0x6b6f_7066;
const PRIME: u64 = 0x9E37_79B9_7F4A_7C15;

/// The fingerprint of a text.
pub(super) fn of_text(text: &str) -> u64 {
    XxHash3_64::oneshot_with_seed(SEED, text.as_bytes())
}

/// Joins two fingerprints; their order matters.
pub(in crate::judge::rule) const fn join(one: u64, other: u64) -> u64 {
    let mixed = (one ^ other.rotate_left(29)).wrapping_mul(PRIME);
    mixed ^ (mixed >> 32)
}

/// The fingerprint of a value, or `None` where kopf finds it the same as no value. Values that kopf finds equal share it.
pub(super) fn of_tree(tree: &Tree<'_>, ignored: Option<&Ignored>) -> Option<u64> {
    if tree.is_null() || ignored.is_some_and(|paths| paths.is_end() || paths.empties(tree)) {
        return None;
    }
    Some(match tree {
        Tree::Map(entries) => of_entries(entries.iter(), ignored),
        other => of_value(other),
    })
}

/// [`of_tree`] for other rules: nothing is left out.
pub(in crate::judge::rule) fn of_whole(tree: &Tree<'_>) -> Option<u64> {
    of_tree(tree, None)
}

/// The fingerprint of a map that has these entries.
pub(super) fn of_entries<'e, 't: 'e>(entries: impl Iterator<Item = &'e Entry<'t>>, ignored: Option<&Ignored>) -> u64 {
    entries.fold(PRIME, |sum, (key, value)| {
        let value = of_tree(value, ignored.and_then(|paths| paths.below(key)));
        value.map_or(sum, |value| sum.wrapping_add(join(of_text(key), value)))
    })
}

/// Inside a list a `null` in a map is not the same as no entry.
fn of_value(tree: &Tree<'_>) -> u64 {
    match tree {
        Tree::Null => 1,
        Tree::Unread => 2,
        Tree::Text(text) => of_text(text),
        Tree::List(items) => items.iter().fold(3, |sum, item| join(sum, of_value(item))),
        Tree::Map(entries) => {
            entries.iter().fold(PRIME, |sum, (key, value)| sum.wrapping_add(join(of_text(key), of_value(value))))
        }
        Tree::Bool(_) | Tree::Int(_) | Tree::Uint(_) | Tree::Float(_) => match Number::of(tree) {
            Some(Number::Whole(number)) => join(4, of_bytes(&number.to_le_bytes())),
            Some(Number::Broken(number)) => join(5, of_bytes(&number.to_bits().to_le_bytes())),
            None => 6,
        },
    }
}

fn of_bytes(bytes: &[u8]) -> u64 {
    XxHash3_64::oneshot_with_seed(SEED, bytes)
}
