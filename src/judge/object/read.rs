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
    let mut walk = Walk { json, text: std::str::from_utf8(json).ok(), at: 0, depth: 0 };
    let mut tree = Tree::Unread;
    match walk.value(mask, false, &mut tree).and_then(|()| walk.end()) {
        Ok(()) => Ok(tree),
        Err(fault) => Err(Error::new(fault, json, walk.at)),
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
}

impl<'a> Walk<'a> {
    /// Reads the value that begins here into `tree`, which is half of the time that returning it would take.
    ///
    /// `is_item`: inside a list that the mask's path goes through. Such a path does not go through a list in a list:
    /// Kubernetes has no use for that, and nothing is to be read of a bottomless one.
    fn value(&mut self, mask: &Mask, is_item: bool, tree: &mut Tree<'a>) -> Result<(), Fault> {
        let first = self.peek()?;
        if mask.is_presence() {
            self.skip(first)?;
            // `null` must be told apart from a value even where the value does not matter.
            *tree = if first == b'n' { Tree::Null } else { Tree::Unread };
            return Ok(());
        }
        match first {
            b'"' => *tree = Tree::Text(self.text()?),
            b'{' => return self.map(mask, tree),
            b'[' if is_item && !mask.is_whole() => {
                self.skip(first)?;
                *tree = Tree::Unread;
            }
            b'[' => return self.list(mask, tree),
            b't' => {
                self.word(b"true")?;
                *tree = Tree::Bool(true);
            }
            b'f' => {
                self.word(b"false")?;
                *tree = Tree::Bool(false);
            }
            b'n' => {
                self.word(b"null")?;
                *tree = Tree::Null;
            }
            _ => *tree = self.number()?,
        }
        Ok(())
    }

    fn map(&mut self, mask: &Mask, tree: &mut Tree<'a>) -> Result<(), Fault> {
        let mut entries: Vec<Entry<'a>> = Vec::new();
        self.enter()?;
        if self.peek()? != b'}' {
            loop {
                if self.peek()? != b'"' {
                    return Err(Fault::NotJson);
                }
                let key = self.text()?;
                if self.peek()? != b':' {
                    return Err(Fault::NotJson);
                }
                self.at += 1;
                if let Some(mask) = mask.below(&key) {
                    entries.push((key, Tree::Unread));
                    if let Some((_, tree)) = entries.last_mut() {
                        self.value(mask, false, tree)?;
                    }
                } else {
                    let first = self.peek()?;
                    self.skip(first)?;
                }
                match self.peek()? {
                    b',' => self.at += 1,
                    b'}' => break,
                    _ => return Err(Fault::NotJson),
                }
            }
        }
        if has_duplicate(&entries) {
            return Err(Fault::DuplicateKey);
        }
        self.leave();
        *tree = Tree::Map(entries);
        Ok(())
    }

    fn list(&mut self, mask: &Mask, tree: &mut Tree<'a>) -> Result<(), Fault> {
        let mut items = Vec::new();
        self.enter()?;
        if self.peek()? != b']' {
            loop {
                items.push(Tree::Unread);
                if let Some(tree) = items.last_mut() {
                    self.value(mask, true, tree)?;
                }
                match self.peek()? {
                    b',' => self.at += 1,
                    b']' => break,
                    _ => return Err(Fault::NotJson),
                }
            }
        }
        self.leave();
        *tree = Tree::List(items);
        Ok(())
    }

    fn enter(&mut self) -> Result<(), Fault> {
        self.depth += 1;
        if self.depth == DEPTH_LIMIT {
            return Err(Fault::TooDeep);
        }
        self.at += 1;
        Ok(())
    }

    fn leave(&mut self) {
        self.depth -= 1;
        self.at += 1;
    }

    /// Goes behind the value that begins with `first`.
    fn skip(&mut self, first: u8) -> Result<(), Fault> {
        match first {
            b'{' | b'[' => {
                let end = Scan::default().advance(&self.json[self.at..]);
                self.at += end.ok_or(Fault::EndsEarly)?;
                Ok(())
            }
            b'"' => self.skip_text(),
            b't' => self.word(b"true"),
            b'f' => self.word(b"false"),
            b'n' => self.word(b"null"),
            _ => self.skip_number(),
        }
    }

    fn word(&mut self, word: &[u8]) -> Result<(), Fault> {
        if !self.json[self.at..].starts_with(word) {
            return Err(Fault::NotJson);
        }
        self.at += word.len();
        Ok(())
    }

    /// The next byte that is no white space, which is not used up.
    fn peek(&mut self) -> Result<u8, Fault> {
        loop {
            match self.json.get(self.at) {
                Some(b' ' | b'\n' | b'\r' | b'\t') => self.at += 1,
                Some(byte) => return Ok(*byte),
                None => return Err(Fault::EndsEarly),
            }
        }
    }

    fn end(&mut self) -> Result<(), Fault> {
        match self.peek() {
            Ok(_) => Err(Fault::NotJson),
            Err(_) => Ok(()),
        }
    }
}

fn has_duplicate(entries: &[Entry<'_>]) -> bool {
    // The API server sorts keys, so one pass almost always settles it.
    if entries.windows(2).all(|pair| pair[0].0 < pair[1].0) {
        return false;
    }
    let mut keys: Vec<&str> = entries.iter().map(|(key, _)| key.as_ref()).collect();
    keys.sort_unstable();
    keys.windows(2).any(|pair| pair[0] == pair[1])
}

#[cfg(test)]
mod oracle;
#[cfg(test)]
mod tests;
