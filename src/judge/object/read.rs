//! Reads what a mask names of one JSON value, in one walk over its bytes.
//!
//! What the mask does not name is skipped by its strings and brackets alone, so malformed JSON strictly inside it goes
//! unnoticed as long as those balance. What is read is checked in full; numbers that are no short integer and strings
//! with `\u` are left to `serde_json`.

mod number;
mod text;
mod walk;

use std::borrow::Cow;

use super::mask::Mask;
use super::tree::{Error, Fault, Tree};
pub(in crate::judge) use walk::Walk;

/// How deep the values may be nested that are read, as in `serde_json`.
const DEPTH_LIMIT: u8 = 128;

type Entry<'a> = (Cow<'a, str>, Tree<'a>);

/// [`Tree::read`].
pub(super) fn read<'a>(json: &'a [u8], mask: &Mask) -> Result<Tree<'a>, Error> {
    let mut walk = Walk::new(json);
    let mut tree = Tree::Unread;
    match walk.value(mask, false, &mut tree).and_then(|()| walk.end()) {
        Some(()) => Ok(tree),
        None => Err(Error::new(walk.fault, json, walk.at)),
    }
}

impl<'a> Walk<'a> {
    /// Reads the value that begins here into `place`, which holds [`Tree::Unread`].
    ///
    /// `is_item`: inside a list that the mask's path goes through. Such a path does not go through a list in a list:
    /// Kubernetes has no use for that, and nothing is to be read of a bottomless one.
    fn value(&mut self, mask: &Mask, is_item: bool, place: &mut Tree<'a>) -> Option<()> {
        let first = self.peek()?;
        if mask.is_presence() {
            self.skip()?;
            // `null` must be told apart from a value even where the value does not matter.
            if first == b'n' {
                put(place, Tree::Null);
            }
            return Some(());
        }
        match first {
            b'"' => {
                let start = self.at + 1;
                if let Some(text) = self.plain_text() {
                    put(place, Tree::Text(Cow::Borrowed(text)));
                    return Some(());
                }
                self.unusual_value(start, place)
            }
            b'{' => {
                put(place, Tree::Map(Vec::new()));
                if let Tree::Map(entries) = place { self.map(mask, entries) } else { None }
            }
            b'[' if is_item && !mask.is_whole() => self.skip(),
            b'[' => {
                put(place, Tree::List(Vec::new()));
                if let Tree::List(items) = place { self.list(mask, items) } else { None }
            }
            _ => self.scalar(first, place),
        }
    }

    fn map(&mut self, mask: &Mask, entries: &mut Vec<Entry<'a>>) -> Option<()> {
        self.enter()?;
        self.elements(b'{', b'}', |walk| walk.entry(mask, entries))?;
        if has_duplicate(entries) {
            self.at -= 1;
            return self.fail(Fault::DuplicateKey);
        }
        self.depth -= 1;
        Some(())
    }

    #[inline]
    fn entry(&mut self, mask: &Mask, entries: &mut Vec<Entry<'a>>) -> Option<()> {
        if self.peek()? != b'"' {
            return self.fail(Fault::NotJson);
        }
        let start = self.at + 1;
        let Some(key) = self.plain_text() else { return self.unusual_entry(start, mask, entries) };
        self.pass_byte(b':')?;
        let Some(below) = mask.below(key) else { return self.skip() };
        if entries.is_empty() {
            entries.reserve(mask.width());
        }
        entries.push((Cow::Borrowed(key), Tree::Unread));
        self.last(below, entries)
    }

    #[cold]
    fn unusual_entry(&mut self, start: usize, mask: &Mask, entries: &mut Vec<Entry<'a>>) -> Option<()> {
        let key = self.unusual_text(start)?;
        self.pass_byte(b':')?;
        let Some(below) = mask.below(&key) else { return self.skip() };
        entries.push((Cow::Owned(key), Tree::Unread));
        self.last(below, entries)
    }

    /// Reads the value of the last of `entries`.
    #[inline]
    fn last(&mut self, mask: &Mask, entries: &mut [Entry<'a>]) -> Option<()> {
        let (_, place) = entries.last_mut()?;
        self.value(mask, false, place)
    }

    #[cold]
    fn unusual_value(&mut self, start: usize, place: &mut Tree<'a>) -> Option<()> {
        put(place, Tree::Text(Cow::Owned(self.unusual_text(start)?)));
        Some(())
    }

    fn list(&mut self, mask: &Mask, items: &mut Vec<Tree<'a>>) -> Option<()> {
        self.enter()?;
        self.elements(b'[', b']', |walk| {
            items.push(Tree::Unread);
            walk.value(mask, true, items.last_mut()?)
        })?;
        self.depth -= 1;
        Some(())
    }

    fn scalar(&mut self, first: u8, place: &mut Tree<'a>) -> Option<()> {
        let tree = match first {
            b't' => self.word(b"true").map(|()| Tree::Bool(true)),
            b'f' => self.word(b"false").map(|()| Tree::Bool(false)),
            b'n' => self.word(b"null").map(|()| Tree::Null),
            _ => self.number(),
        };
        put(place, tree?);
        Some(())
    }

    fn enter(&mut self) -> Option<()> {
        self.depth += 1;
        if self.depth == DEPTH_LIMIT { self.fail(Fault::TooDeep) } else { Some(()) }
    }
}

/// Stores a tree where [`Tree::Unread`] stands, without a look at what is replaced: that owns nothing. Trees are built
/// where they are to stay, since processors are slow to move what they have just written.
#[inline]
fn put<'a>(place: &mut Tree<'a>, tree: Tree<'a>) {
    std::mem::forget(std::mem::replace(place, tree));
}

fn has_duplicate(entries: &[Entry<'_>]) -> bool {
    // The API server sorts keys, so one pass almost always settles it.
    if entries.windows(2).all(|pair| is_before(&pair[0].0, &pair[1].0)) {
        return false;
    }
    let mut keys: Vec<&str> = entries.iter().map(|(key, _)| key.as_ref()).collect();
    keys.sort_unstable();
    keys.windows(2).any(|pair| pair[0] == pair[1])
}

/// The order of texts, decided by their first bytes where these differ.
#[inline]
fn is_before(one: &str, other: &str) -> bool {
    match (one.as_bytes().first(), other.as_bytes().first()) {
        (Some(first), Some(second)) if first != second => first < second,
        _ => one < other,
    }
}

#[cfg(test)]
mod oracle;
#[cfg(test)]
mod tests;
