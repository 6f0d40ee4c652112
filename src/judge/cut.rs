//! Cuts a byte stream of Kubernetes JSON into objects as it arrives, without holding more than one of them.
//!
//! The stream is one JSON document or several behind one another. A document with a top-level `items` list is a list:
//! every item leaves as one slice, and what surrounds the items (`kind`, `metadata.continue`, ...) leaves at the end as
//! a small envelope. A bare list is taken as `items` without an envelope. Every other document is one object. No order
//! of keys is assumed: in a list of custom resources they come in alphabetical order, `kind` and `metadata` behind
//! `items`.
//!
//! Only brackets, strings and separators are looked at here. Whether a slice is JSON is found out by whoever parses it.

use super::scan::Scan;

/// What the cutter hands out.
#[derive(Debug, PartialEq, Eq)]
pub enum Piece<'a> {
    /// One element of a list's `items`.
    Item(&'a [u8]),
    /// What surrounds the items: the document with an empty `items`. Comes behind the last item.
    Envelope(&'a [u8]),
    /// A document without `items`.
    Document(&'a [u8]),
    /// An item or a document of more bytes than allowed; they were dropped as they came.
    TooLarge {
        /// How many bytes it had.
        bytes: u64,
    },
}

/// Why a stream could not be cut.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum Error {
    /// Something stands where JSON does not allow it.
    #[error("not JSON at byte {offset}")]
    NotJson {
        /// Counted from the start of the stream.
        offset: u64,
    },
    /// The stream ended inside a document.
    #[error("ends inside a document, after {offset} bytes")]
    Truncated {
        /// How many bytes there were.
        offset: u64,
    },
    /// What stands before a list's items is larger than an object may be.
    #[error("what stands around a list's items has more than {limit} bytes")]
    EnvelopeTooLarge {
        /// The limit in bytes.
        limit: usize,
    },
}

const ITEMS_KEY: &[u8] = b"\"items\"";

/// Cuts one stream.
#[derive(Debug)]
pub struct Cutter {
    limit: usize,
    phase: Phase,
    scan: Scan,
    /// The document so far, without its items.
    document: Held,
    /// The item that began in an earlier chunk.
    item: Held,
    /// The current top-level key with its quotes.
    key: Held,
    is_list: bool,
    offset: u64,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Phase {
    /// Outside any document.
    Between,
    /// Before a top-level key, or the closing bracket where `may_close`.
    Key {
        may_close: bool,
    },
    InKey,
    Colon,
    /// Before a top-level value.
    Value,
    InValue,
    /// Behind a top-level value.
    Comma,
    /// Before an item, or the end of the items where `may_close`.
    Item {
        may_close: bool,
    },
    InItem,
    /// Behind an item.
    ItemComma,
}

/// Bytes that are kept up to a limit and only counted beyond it.
#[derive(Debug, Default)]
struct Held {
    bytes: Vec<u8>,
    total: u64,
}

impl Held {
    fn push(&mut self, bytes: &[u8], limit: usize) {
        self.total += bytes.len() as u64;
        if self.total <= limit as u64 {
            self.bytes.extend_from_slice(bytes);
        } else {
            self.bytes = Vec::new();
        }
    }

    fn is_too_large(&self, limit: usize) -> bool {
        self.total > limit as u64
    }

    fn piece<'a>(&'a self, limit: usize, kept: impl FnOnce(&'a [u8]) -> Piece<'a>) -> Piece<'a> {
        if self.is_too_large(limit) { Piece::TooLarge { bytes: self.total } } else { kept(&self.bytes) }
    }

    fn clear(&mut self) {
        self.bytes.clear();
        self.total = 0;
    }
}

impl Cutter {
    /// A cutter that drops every object of more than `limit` bytes.
    pub fn new(limit: usize) -> Self {
        Self {
            limit,
            phase: Phase::Between,
            scan: Scan::default(),
            document: Held::default(),
            item: Held::default(),
            key: Held::default(),
            is_list: false,
            offset: 0,
        }
    }

    /// Takes the next bytes and hands each piece that is complete to `each`.
    ///
    /// # Errors
    /// When what was read is no JSON document. The pieces handed out before stay valid; the rest of the stream is lost.
    pub fn feed(&mut self, chunk: &[u8], each: &mut impl FnMut(Piece<'_>)) -> Result<(), Error> {
        let mut at = 0;
        while at < chunk.len() {
            let rest = &chunk[at..];
            let used = match self.phase {
                Phase::InItem => self.item_bytes(rest, each),
                Phase::InValue => self.value_bytes(rest),
                Phase::InKey => self.key_bytes(rest),
                _ if is_space(rest[0]) => 1,
                _ => self.structure(rest, each).map_err(|error| error.at(self.offset + at as u64))?,
            };
            at += used;
        }
        self.offset += chunk.len() as u64;
        Ok(())
    }

    /// Ends the stream.
    ///
    /// # Errors
    /// When it ends inside a document.
    pub fn finish(self) -> Result<(), Error> {
        if self.phase == Phase::Between { Ok(()) } else { Err(Error::Truncated { offset: self.offset }) }
    }

    /// One byte between keys, values and items. Returns how many bytes were used up.
    fn structure(&mut self, rest: &[u8], each: &mut impl FnMut(Piece<'_>)) -> Result<usize, Misplaced> {
        let byte = rest[0];
        match (self.phase, byte) {
            (Phase::Between, b'{') => self.begin_document(false, Phase::Key { may_close: true }),
            (Phase::Between, b'[') => self.begin_document(true, Phase::Item { may_close: true }),
            (Phase::Key { .. }, b'"') => {
                self.key.clear();
                self.scan = Scan::default();
                self.phase = Phase::InKey;
                return Ok(0);
            }
            (Phase::Key { may_close: true } | Phase::Comma, b'}') => {
                self.keep(b"}");
                self.end_document(each);
            }
            (Phase::Colon, b':') => {
                self.keep(b":");
                self.phase = Phase::Value;
            }
            (Phase::Value, b'[') if self.key_is_items() => {
                if self.document.is_too_large(self.limit) {
                    return Err(Misplaced::Envelope { limit: self.limit });
                }
                self.keep(b"[");
                self.is_list = true;
                self.phase = Phase::Item { may_close: true };
            }
            (Phase::Value, b',' | b':' | b'}' | b']') => return Err(Misplaced::Byte),
            (Phase::Value, _) => return Ok(self.begin(Phase::InValue)),
            (Phase::Comma, b',') => {
                self.keep(b",");
                self.phase = Phase::Key { may_close: false };
            }
            (Phase::Item { may_close: true } | Phase::ItemComma, b']') => {
                self.keep(b"]");
                // A bare list has no bracket around it and ends with its items.
                if self.document.bytes.first() == Some(&b'[') {
                    self.end_document(each);
                } else {
                    self.phase = Phase::Comma;
                }
            }
            (Phase::Item { .. }, b',' | b':' | b'}' | b']') => return Err(Misplaced::Byte),
            (Phase::Item { .. }, _) => return Ok(self.begin(Phase::InItem)),
            (Phase::ItemComma, b',') => self.phase = Phase::Item { may_close: false },
            _ => return Err(Misplaced::Byte),
        }
        Ok(1)
    }

    fn begin_document(&mut self, is_list: bool, phase: Phase) {
        self.document.clear();
        self.is_list = is_list;
        self.keep(if is_list { b"[" } else { b"{" });
        self.phase = phase;
    }

    fn begin(&mut self, phase: Phase) -> usize {
        self.scan = Scan::default();
        self.phase = phase;
        0
    }

    fn keep(&mut self, bytes: &[u8]) {
        self.document.push(bytes, self.limit);
    }

    fn key_is_items(&self) -> bool {
        self.key.bytes == ITEMS_KEY
    }

    fn key_bytes(&mut self, rest: &[u8]) -> usize {
        let end = self.scan.advance(rest);
        let used = end.unwrap_or(rest.len());
        self.key.push(&rest[..used], ITEMS_KEY.len());
        self.keep(&rest[..used]);
        if end.is_some() {
            self.phase = Phase::Colon;
        }
        used
    }

    fn value_bytes(&mut self, rest: &[u8]) -> usize {
        let end = self.scan.advance(rest);
        let used = end.unwrap_or(rest.len());
        self.keep(&rest[..used]);
        if end.is_some() {
            self.phase = Phase::Comma;
        }
        used
    }

    fn item_bytes(&mut self, rest: &[u8], each: &mut impl FnMut(Piece<'_>)) -> usize {
        let Some(end) = self.scan.advance(rest) else {
            self.item.push(rest, self.limit);
            return rest.len();
        };
        if self.item.total == 0 && end <= self.limit {
            each(Piece::Item(&rest[..end]));
        } else {
            self.item.push(&rest[..end], self.limit);
            each(self.item.piece(self.limit, Piece::Item));
            self.item.clear();
        }
        self.phase = Phase::ItemComma;
        end
    }

    fn end_document(&mut self, each: &mut impl FnMut(Piece<'_>)) {
        let is_list = self.is_list;
        each(
            self.document
                .piece(self.limit, |bytes| if is_list { Piece::Envelope(bytes) } else { Piece::Document(bytes) }),
        );
        self.document.clear();
        self.phase = Phase::Between;
    }
}

/// An error of [`Cutter::structure`], which does not know the offset.
enum Misplaced {
    Byte,
    Envelope { limit: usize },
}

impl Misplaced {
    fn at(self, offset: u64) -> Error {
        match self {
            Self::Byte => Error::NotJson { offset },
            Self::Envelope { limit } => Error::EnvelopeTooLarge { limit },
        }
    }
}

fn is_space(byte: u8) -> bool {
    matches!(byte, b' ' | b'\n' | b'\r' | b'\t')
}

#[cfg(test)]
mod tests;
