//! A walk over the text of one JSON value.

use std::borrow::Cow;

use crate::judge::object::tree::Fault;
use crate::judge::scan::Scan;

/// A walk over the text of one JSON value. Its methods answer `None` where the text is not what they read; then the
/// walk is over.
pub(in crate::judge) struct Walk<'a> {
    pub(super) json: &'a [u8],
    /// All of it, where all of it is UTF-8: checking the whole once is cheaper than checking each part, and cannot be
    /// asked for, since what is not read may be anything.
    pub(super) text: Option<&'a str>,
    /// The next byte; after a fault, where it was found.
    pub(super) at: usize,
    pub(super) depth: u8,
    /// Why a method answered `None`. Kept here because a `Result` of a tree or a text is slow to take apart.
    pub(super) fault: Fault,
}

impl<'a> Walk<'a> {
    /// Begins before the first byte.
    pub(in crate::judge) fn new(json: &'a [u8]) -> Self {
        Self { json, text: std::str::from_utf8(json).ok(), at: 0, depth: 0, fault: Fault::NotJson }
    }

    /// Goes through a map. `each` gets every key, decoded, and has to go behind its value.
    pub(in crate::judge) fn entries(
        &mut self,
        mut each: impl FnMut(&mut Self, Cow<'a, str>) -> Option<()>,
    ) -> Option<()> {
        self.elements(b'{', b'}', |walk| {
            let key = walk.text()?;
            walk.pass_byte(b':')?;
            each(walk, key)
        })
    }

    /// Goes through a list. `each` has to go behind an item.
    pub(in crate::judge) fn items(&mut self, each: impl FnMut(&mut Self) -> Option<()>) -> Option<()> {
        self.elements(b'[', b']', each)
    }

    /// Goes through what stands between two brackets, separated by commas.
    #[inline]
    pub(super) fn elements(
        &mut self,
        open: u8,
        close: u8,
        mut each: impl FnMut(&mut Self) -> Option<()>,
    ) -> Option<()> {
        self.pass_byte(open)?;
        if self.peek()? != close {
            loop {
                each(self)?;
                match self.peek()? {
                    b',' => self.at += 1,
                    byte if byte == close => break,
                    _ => return self.fail(Fault::NotJson),
                }
            }
        }
        self.at += 1;
        Some(())
    }

    /// Goes behind `byte`, which must be next but for white space.
    pub(super) fn pass_byte(&mut self, byte: u8) -> Option<()> {
        if self.peek()? != byte {
            return self.fail(Fault::NotJson);
        }
        self.at += 1;
        Some(())
    }

    /// Goes behind the next value.
    pub(super) fn skip(&mut self) -> Option<()> {
        match self.peek()? {
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

    pub(in crate::judge) fn word(&mut self, word: &[u8]) -> Option<()> {
        if !self.json[self.at..].starts_with(word) {
            return self.fail(Fault::NotJson);
        }
        self.at += word.len();
        Some(())
    }

    /// The next byte that is no white space, which is not used up.
    #[inline]
    pub(super) fn peek(&mut self) -> Option<u8> {
        loop {
            match self.json.get(self.at) {
                Some(b' ' | b'\n' | b'\r' | b'\t') => self.at += 1,
                Some(byte) => return Some(*byte),
                None => return self.fail(Fault::EndsEarly),
            }
        }
    }

    pub(in crate::judge) fn end(&mut self) -> Option<()> {
        if self.peek().is_none() { Some(()) } else { self.fail(Fault::NotJson) }
    }

    #[cold]
    pub(super) fn fail<T>(&mut self, fault: Fault) -> Option<T> {
        self.fault = fault;
        None
    }
}
