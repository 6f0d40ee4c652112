//! Strings.

use std::borrow::Cow;
use std::ops::Range;

use wide::u8x16;

use super::{Fault, Walk};

const LANES: usize = 16;

impl<'a> Walk<'a> {
    /// Reads the string that begins here.
    pub(in crate::judge) fn text(&mut self) -> Option<Cow<'a, str>> {
        if self.peek()? != b'"' {
            return self.fail(Fault::NotJson);
        }
        let start = self.at + 1;
        match self.plain_text() {
            Some(text) => Some(Cow::Borrowed(text)),
            None => self.unusual_text(start).map(Cow::Owned),
        }
    }

    /// Reads the string that begins here. `None` where it is not plain; [`Walk::unusual_text`] then goes on.
    pub(super) fn plain_text(&mut self) -> Option<&'a str> {
        let start = self.at + 1;
        self.at = start;
        if self.pass_plain()? != b'"' {
            return None;
        }
        let text = self.utf8(start..self.at)?;
        self.at += 1;
        Some(text)
    }

    /// Reads the string whose content begins at `start` and whose first backslash stands here.
    #[cold]
    pub(super) fn unusual_text(&mut self, start: usize) -> Option<String> {
        if self.json.get(self.at) != Some(&b'\\') {
            return None;
        }
        let mut text = self.json[start..self.at].to_vec();
        loop {
            let Some(escaped) = self.json.get(self.at + 1) else { return self.fail(Fault::EndsEarly) };
            text.push(match escaped {
                b'"' | b'\\' | b'/' => *escaped,
                b'n' => b'\n',
                b't' => b'\t',
                b'r' => b'\r',
                b'b' => 0x8,
                b'f' => 0xc,
                b'u' => return self.by_library(start),
                _ => return self.fail(Fault::NotJson),
            });
            self.at += 2;
            if self.copy_plain(&mut text)? == b'"' {
                self.at += 1;
                return String::from_utf8(text).ok().or_else(|| self.fail(Fault::NotJson));
            }
        }
    }

    /// [`Walk::pass_plain`], which appends what it passes to `text`. Whole parts are copied and then cut, which is
    /// cheaper than copying the right number of bytes.
    fn copy_plain(&mut self, text: &mut Vec<u8>) -> Option<u8> {
        while let Some(part) = self.json.get(self.at..).and_then(<[u8]>::first_chunk::<LANES>) {
            let length = plain_length(part);
            text.extend_from_slice(part);
            self.at += length;
            if length < LANES {
                text.truncate(text.len() - (LANES - length));
                return self.at_special();
            }
        }
        let from = self.at;
        let end = self.pass_plain()?;
        text.extend_from_slice(&self.json[from..self.at]);
        Some(end)
    }

    /// Goes behind the string that begins here.
    pub(super) fn skip_text(&mut self) -> Option<()> {
        self.at += 1;
        while self.pass_plain()? == b'\\' {
            self.at += 2;
        }
        self.at += 1;
        Some(())
    }

    /// Goes to the next quote or backslash and returns it.
    #[inline]
    fn pass_plain(&mut self) -> Option<u8> {
        let rest = self.json.get(self.at..).unwrap_or_default();
        self.at += plain_length(rest);
        self.at_special()
    }

    #[inline]
    fn at_special(&mut self) -> Option<u8> {
        match self.json.get(self.at) {
            Some(byte @ (b'"' | b'\\')) => Some(*byte),
            // Control characters must be written with a backslash.
            Some(_) => self.fail(Fault::NotJson),
            None => self.fail(Fault::EndsEarly),
        }
    }

    /// Has the string read whose content begins at `start`.
    fn by_library(&mut self, start: usize) -> Option<String> {
        self.at = start - 1;
        self.skip_text()?;
        let text = serde_json::from_slice(&self.json[start - 1..self.at]);
        text.ok().or_else(|| self.fail(Fault::NotJson))
    }

    #[inline]
    fn utf8(&mut self, range: Range<usize>) -> Option<&'a str> {
        let part = match self.text {
            Some(text) => text.get(range),
            None => std::str::from_utf8(&self.json[range]).ok(),
        };
        part.or_else(|| self.fail(Fault::NotJson))
    }
}

/// How many bytes stand before the first quote, backslash or control character.
#[inline]
fn plain_length(bytes: &[u8]) -> usize {
    const LAST_CONTROL: u8 = 0x1f;
    let (parts, rest) = bytes.as_chunks::<LANES>();
    for (place, part) in parts.iter().enumerate() {
        let part = u8x16::new(*part);
        let is_quote = part.simd_eq(u8x16::splat(b'"'));
        let is_backslash = part.simd_eq(u8x16::splat(b'\\'));
        let is_control = part.min(u8x16::splat(LAST_CONTROL)).simd_eq(part);
        let found = (is_quote | is_backslash | is_control).to_bitmask();
        if found != 0 {
            return place * LANES + found.trailing_zeros() as usize;
        }
    }
    let is_special = |byte: &u8| matches!(byte, b'"' | b'\\' | 0..=LAST_CONTROL);
    bytes.len() - rest.len() + rest.iter().position(is_special).unwrap_or(rest.len())
}
