//! Reads what a mask names of one JSON value, in one walk over its bytes.
//!
//! What the mask does not name is skipped by its strings and brackets alone, so malformed JSON strictly inside it goes
//! unnoticed as long as those balance. What is read is checked in full; numbers that are no short integer and strings
//! with `\u` are left to `serde_json`.

mod number;
mod text;

use std::borrow::Cow;

use super::mask::Mask;
use super::tree::{Error, Fault, Tree};
use crate::judge::scan::Scan;

/// How deep the values may be nested that are read, as in `serde_json`.
const DEPTH_LIMIT: u8 = 128;

type Entry<'a> = (Cow<'a, str>, Tree<'a>);

/// [`Tree::read`].
pub(super) fn read<'a>(json: &'a [u8], mask: &Mask) -> Result<Tree<'a>, Error> {
    let text = std::str::from_utf8(json).ok();
    let mut walk = Walk { json, text, at: 0, depth: 0, fault: Fault::NotJson };
    let mut tree = Tree::Unread;
    match walk.value(mask, false, &mut tree).and_then(|()| walk.end()) {
        Some(()) => Ok(tree),
        None => Err(Error::new(walk.fault, json, walk.at)),
    }
}

struct Walk<'a> {
    json: &'a [u8],
    /// All of it, where all of it is UTF-8: checking the whole once is cheaper than checking each part, and cannot be
    /// asked for, since what is not read may be anything.
    text: Option<&'a str>,
    /// The next byte; after a fault, where it was found.
    at: usize,
    depth: u8,
    /// Why a method answered `None`. Kept here because a `Result` of a tree or a text is slow to take apart.
    fault: Fault,
}

impl<'a> Walk<'a> {
    /// Reads the value that begins here into `place`, which holds [`Tree::Unread`].
    ///
    /// `is_item`: inside a list that the mask's path goes through. Such a path does not go through a list in a list:
    /// Kubernetes has no use for that, and nothing is to be read of a bottomless one.
    fn value(&mut self, mask: &Mask, is_item: bool, place: &mut Tree<'a>) -> Option<()> {
        let first = self.peek()?;
        if mask.is_presence() {
            self.skip(first)?;
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
            b'[' if is_item && !mask.is_whole() => self.skip(first),
            b'[' => {
                put(place, Tree::List(Vec::new()));
                if let Tree::List(items) = place { self.list(mask, items) } else { None }
            }
            _ => self.scalar(first, place),
        }
    }

    fn map(&mut self, mask: &Mask, entries: &mut Vec<Entry<'a>>) -> Option<()> {
        self.enter()?;
        if self.peek()? != b'}' {
            loop {
                if self.peek()? != b'"' {
                    return self.fail(Fault::NotJson);
                }
                let start = self.at + 1;
                match self.plain_text() {
                    Some(key) => match self.below(mask, key)? {
                        Some(below) => {
                            if entries.is_empty() {
                                entries.reserve(mask.width());
                            }
                            entries.push((Cow::Borrowed(key), Tree::Unread));
                            self.last(below, entries)?;
                        }
                        None => self.skip_next()?,
                    },
                    None => self.unusual_entry(start, mask, entries)?,
                }
                match self.peek()? {
                    b',' => self.at += 1,
                    b'}' => break,
                    _ => return self.fail(Fault::NotJson),
                }
            }
        }
        if has_duplicate(entries) {
            return self.fail(Fault::DuplicateKey);
        }
        self.leave();
        Some(())
    }

    /// Goes behind the colon that follows a key. Returns the mask of its value, if that is to be read.
    #[inline]
    #[allow(clippy::option_option, reason = "the outer one is the walk's own, as of every method")]
    fn below<'m>(&mut self, mask: &'m Mask, key: &str) -> Option<Option<&'m Mask>> {
        if self.peek()? != b':' {
            return self.fail(Fault::NotJson);
        }
        self.at += 1;
        Some(mask.below(key))
    }

    /// Reads the value of the last of `entries`.
    #[inline]
    fn last(&mut self, mask: &Mask, entries: &mut [Entry<'a>]) -> Option<()> {
        let (_, place) = entries.last_mut()?;
        self.value(mask, false, place)
    }

    #[cold]
    fn unusual_entry(&mut self, start: usize, mask: &Mask, entries: &mut Vec<Entry<'a>>) -> Option<()> {
        let key = self.unusual_text(start)?;
        match self.below(mask, &key)? {
            Some(mask) => {
                entries.push((Cow::Owned(key), Tree::Unread));
                self.last(mask, entries)
            }
            None => self.skip_next(),
        }
    }

    #[cold]
    fn unusual_value(&mut self, start: usize, place: &mut Tree<'a>) -> Option<()> {
        put(place, Tree::Text(Cow::Owned(self.unusual_text(start)?)));
        Some(())
    }

    fn list(&mut self, mask: &Mask, items: &mut Vec<Tree<'a>>) -> Option<()> {
        self.enter()?;
        if self.peek()? != b']' {
            loop {
                items.push(Tree::Unread);
                self.value(mask, true, items.last_mut()?)?;
                match self.peek()? {
                    b',' => self.at += 1,
                    b']' => break,
                    _ => return self.fail(Fault::NotJson),
                }
            }
        }
        self.leave();
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
        if self.depth == DEPTH_LIMIT {
            return self.fail(Fault::TooDeep);
        }
        self.at += 1;
        Some(())
    }

    fn leave(&mut self) {
        self.depth -= 1;
        self.at += 1;
    }

    /// Goes behind the next value.
    fn skip_next(&mut self) -> Option<()> {
        let first = self.peek()?;
        self.skip(first)
    }

    /// Goes behind the value that begins with `first`.
    fn skip(&mut self, first: u8) -> Option<()> {
        match first {
            b'{' | b'[' => {
                match Scan::default().advance(&self.json[self.at..]) {
                    Some(length) => self.at += length,
                    None => return self.fail(Fault::EndsEarly),
                }
                Some(())
            }
            b'"' => self.skip_text(),
            b't' => self.word(b"true"),
            b'f' => self.word(b"false"),
            b'n' => self.word(b"null"),
            _ => self.skip_number(),
        }
    }

    fn word(&mut self, word: &[u8]) -> Option<()> {
        if !self.json[self.at..].starts_with(word) {
            return self.fail(Fault::NotJson);
        }
        self.at += word.len();
        Some(())
    }

    /// The next byte that is no white space, which is not used up.
    fn peek(&mut self) -> Option<u8> {
        loop {
            match self.json.get(self.at) {
                Some(b' ' | b'\n' | b'\r' | b'\t') => self.at += 1,
                Some(byte) => return Some(*byte),
                None => return self.fail(Fault::EndsEarly),
            }
        }
    }

    fn end(&mut self) -> Option<()> {
        if self.peek().is_none() { Some(()) } else { self.fail(Fault::NotJson) }
    }

    #[cold]
    fn fail<T>(&mut self, fault: Fault) -> Option<T> {
        self.fault = fault;
        None
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
