//! The difference between two values, as kopf computes it.
//!
//! Maps are compared key by key, everything else as a whole, lists included. Values are equal as Python finds them:
//! `1`, `1.0` and `true` are. A `null` in a map counts as absent, an empty map does not.

use std::borrow::{Borrow, Cow};
use std::cmp::Ordering;
use std::fmt::Write;

use super::ignored::Ignored;
use crate::judge::object::tree::Tree;

/// An entry of a map.
pub(super) type Entry<'t> = (Cow<'t, str>, Tree<'t>);

/// Which paths differ: the first one and how many.
#[derive(Debug, Default, PartialEq, Eq)]
pub(super) struct Differences {
    first: Option<String>,
    count: usize,
}

/// A path as a chain, so that walking a tree writes no text.
#[derive(Clone, Copy)]
pub(super) struct Path<'p> {
    parent: Option<&'p Path<'p>>,
    key: &'p str,
}

/// A number as Python compares it: whole numbers and fractions of any type by value.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) enum Number {
    /// Without a fraction, in the range in which this can be told exactly.
    Whole(i128),
    /// Any other.
    Broken(f64),
}

/// Paths longer than this are cut in messages.
const LONGEST_PATH: usize = 120;

impl<'p> Path<'p> {
    /// The path of a top-level key.
    pub(super) const fn top(key: &'p str) -> Self {
        Self { parent: None, key }
    }

    /// The path of a key below this one.
    pub(super) const fn below(&'p self, key: &'p str) -> Self {
        Self { parent: Some(self), key }
    }

    fn write(&self, text: &mut String) {
        if let Some(parent) = self.parent {
            parent.write(text);
        }
        let key = self.key.replace(char::is_control, "?");
        // Writing to a string cannot fail.
        let _ = match (key.contains(['.', '/', ' ']), text.is_empty()) {
            (true, _) => write!(text, "[{key}]"),
            (false, true) => write!(text, "{key}"),
            (false, false) => write!(text, ".{key}"),
        };
    }
}

impl Differences {
    /// True when nothing differs.
    pub(super) const fn is_empty(&self) -> bool {
        self.count == 0
    }

    /// One line that names the first path and how many there are.
    pub(super) fn message(&self) -> String {
        let first = self.first.as_deref().unwrap_or_default();
        match self.count {
            0 | 1 => format!("{first} differs from what was last handled"),
            count => format!("{first} and {} more differ from what was last handled", count - 1),
        }
    }

    fn add(&mut self, path: &Path<'_>) {
        self.count += 1;
        if self.first.is_none() {
            let mut text = String::new();
            path.write(&mut text);
            if text.chars().count() > LONGEST_PATH {
                text = text.chars().take(LONGEST_PATH).chain("...".chars()).collect();
            }
            self.first = Some(text);
        }
    }

    /// Adds what differs between `old` and `new` at `path`, paths of `ignored` left out.
    pub(super) fn compare(
        &mut self,
        path: &Path<'_>,
        old: Option<&Tree<'_>>,
        new: Option<&Tree<'_>>,
        ignored: Option<&Ignored>,
    ) {
        if ignored.is_some_and(Ignored::is_end) {
            return;
        }
        let is_visible = |tree: &&Tree<'_>| !tree.is_null() && !ignored.is_some_and(|paths| paths.empties(tree));
        match (old.filter(is_visible), new.filter(is_visible)) {
            (None, None) => {}
            (Some(Tree::Map(old)), Some(Tree::Map(new))) => self.compare_entries(path, old, new, ignored),
            (Some(old), Some(new)) if are_equal(old, new) => {}
            _ => self.add(path),
        }
    }

    /// Adds what differs between two maps.
    pub(super) fn compare_entries<'t, A: Borrow<Entry<'t>>, B: Borrow<Entry<'t>>>(
        &mut self,
        path: &Path<'_>,
        old: &[A],
        new: &[B],
        ignored: Option<&Ignored>,
    ) {
        pair(old, new, |key, old, new| {
            let ignored = ignored.and_then(|paths| paths.below(key));
            self.compare(&path.below(key), old, new, ignored);
        });
    }

    /// Adds what differs at the leaves of `old`; what only `new` has does not count.
    pub(super) fn compare_leaves(
        &mut self,
        path: &Path<'_>,
        old: &Tree<'_>,
        new: Option<&Tree<'_>>,
        ignored: Option<&Ignored>,
    ) {
        match old {
            Tree::Map(entries) if !entries.is_empty() => {
                let new = new.map_or(&[][..], Tree::entries);
                pair(entries, new, |key, old, new| {
                    let ignored = ignored.and_then(|paths| paths.below(key));
                    match old {
                        Some(old) if !ignored.is_some_and(Ignored::is_end) => {
                            self.compare_leaves(&path.below(key), old, new, ignored);
                        }
                        _ => {}
                    }
                });
            }
            leaf => self.compare(path, Some(leaf), new, ignored),
        }
    }
}

/// Calls `each` with every key of two maps and the values under it.
///
/// The API server sends keys sorted and kopf stores them as it got them, so almost always both sides agree and nothing
/// is sorted here.
pub(super) fn pair<'t, A: Borrow<Entry<'t>>, B: Borrow<Entry<'t>>>(
    old: &[A],
    new: &[B],
    mut each: impl FnMut(&str, Option<&Tree<'t>>, Option<&Tree<'t>>),
) {
    let same = old.iter().zip(new).take_while(|(a, b)| (*a).borrow().0 == (*b).borrow().0).count();
    for (a, b) in old[..same].iter().zip(&new[..same]) {
        each(&a.borrow().0, Some(&a.borrow().1), Some(&b.borrow().1));
    }
    let (old, new) = (sorted(&old[same..]), sorted(&new[same..]));
    let (mut a, mut b) = (old.iter().peekable(), new.iter().peekable());
    loop {
        let order = match (a.peek(), b.peek()) {
            (None, None) => return,
            (Some(_), None) => Ordering::Less,
            (None, Some(_)) => Ordering::Greater,
            (Some(a), Some(b)) => a.0.cmp(&b.0),
        };
        let old = a.next_if(|_| order.is_le());
        let new = b.next_if(|_| order.is_ge());
        let key = old.or(new).map_or("", |entry| entry.0.as_ref());
        each(key, old.map(|entry| &entry.1), new.map(|entry| &entry.1));
    }
}

fn sorted<'e, 't, E: Borrow<Entry<'t>>>(entries: &'e [E]) -> Vec<&'e Entry<'t>> {
    let mut sorted: Vec<_> = entries.iter().map(Borrow::borrow).collect();
    sorted.sort_unstable_by(|a, b| a.0.cmp(&b.0));
    sorted
}

/// Equal as Python's `==` finds it. Inside lists a map with a `null` differs from one without.
fn are_equal(old: &Tree<'_>, new: &Tree<'_>) -> bool {
    match (old, new) {
        (Tree::Text(old), Tree::Text(new)) => old == new,
        (Tree::List(old), Tree::List(new)) => {
            old.len() == new.len() && old.iter().zip(new).all(|(old, new)| are_equal(old, new))
        }
        (Tree::Map(old), Tree::Map(new)) => {
            let mut equal = old.len() == new.len();
            if equal {
                pair(old, new, |_, old, new| {
                    equal = equal && matches!((old, new), (Some(old), Some(new)) if are_equal(old, new));
                });
            }
            equal
        }
        (Tree::Null, Tree::Null) => true,
        _ => matches!((Number::of(old), Number::of(new)), (Some(old), Some(new)) if old == new),
    }
}

impl Number {
    /// The number that a value is in Python, where `true` is 1.
    pub(super) fn of(tree: &Tree<'_>) -> Option<Self> {
        /// Every whole double within this bound converts exactly.
        const EXACT: f64 = 1.0e37;
        match tree {
            Tree::Bool(value) => Some(Self::Whole(i128::from(*value))),
            Tree::Int(number) => Some(Self::Whole(i128::from(*number))),
            Tree::Uint(number) => Some(Self::Whole(i128::from(*number))),
            #[expect(clippy::cast_possible_truncation, reason = "whole and within the range of i128")]
            Tree::Float(number) if number.fract() == 0.0 && number.abs() < EXACT => Some(Self::Whole(*number as i128)),
            Tree::Float(number) => Some(Self::Broken(*number)),
            Tree::Null | Tree::Text(_) | Tree::List(_) | Tree::Map(_) | Tree::Unread => None,
        }
    }
}
