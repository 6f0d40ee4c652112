//! YAML documents, carried over into JSON one at a time.

use std::fmt;
use std::fs::File;
use std::io::{self, Read};
use std::sync::mpsc::{SyncSender, sync_channel};

use serde::de::{DeserializeSeed, MapAccess, SeqAccess, Visitor};
use serde::{Deserialize, Deserializer};
use serde_saphyr::Options;

use super::hand_out;
use crate::judge::cut::{Cutter, Piece};

/// Why YAML could not be read.
pub(super) enum Error {
    Read(io::Error),
    Parse { line: usize, column: usize, message: String },
}

/// One document as JSON. Written value by value: a tree of it would take ten times the room, and a serializer in between
/// would lose the place of a fault.
struct Json(Vec<u8>);

impl<'de> Deserialize<'de> for Json {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let mut bytes = Vec::new();
        Writer(&mut bytes).deserialize(deserializer)?;
        Ok(Self(bytes))
    }
}

/// Writes one value.
struct Writer<'w>(&'w mut Vec<u8>);

impl Writer<'_> {
    fn write<E: serde::de::Error>(self, value: impl serde::Serialize) -> Result<(), E> {
        serde_json::to_writer(self.0, &value).map_err(E::custom)
    }
}

impl<'de> DeserializeSeed<'de> for Writer<'_> {
    type Value = ();

    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<(), D::Error> {
        deserializer.deserialize_any(self)
    }
}

impl<'de> Visitor<'de> for Writer<'_> {
    type Value = ();

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a value")
    }

    fn visit_unit<E: serde::de::Error>(self) -> Result<(), E> {
        self.write(())
    }

    fn visit_none<E: serde::de::Error>(self) -> Result<(), E> {
        self.write(())
    }

    fn visit_bool<E: serde::de::Error>(self, value: bool) -> Result<(), E> {
        self.write(value)
    }

    fn visit_i64<E: serde::de::Error>(self, value: i64) -> Result<(), E> {
        self.write(value)
    }

    fn visit_u64<E: serde::de::Error>(self, value: u64) -> Result<(), E> {
        self.write(value)
    }

    fn visit_f64<E: serde::de::Error>(self, value: f64) -> Result<(), E> {
        self.write(value)
    }

    fn visit_str<E: serde::de::Error>(self, value: &str) -> Result<(), E> {
        self.write(value)
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut seq: A) -> Result<(), A::Error> {
        let mut opening = b'[';
        loop {
            let before = self.0.len();
            self.0.push(opening);
            if seq.next_element_seed(Writer(self.0))?.is_none() {
                self.0.truncate(before);
                break;
            }
            opening = b',';
        }
        self.0.extend_from_slice(if opening == b'[' { b"[]" } else { b"]" });
        Ok(())
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<(), A::Error> {
        let mut opening = b'{';
        while let Some(key) = map.next_key::<String>()? {
            self.0.push(opening);
            Writer(self.0).write::<A::Error>(key)?;
            self.0.push(b':');
            map.next_value_seed(Writer(self.0))?;
            opening = b',';
        }
        self.0.extend_from_slice(if opening == b'{' { b"{}" } else { b"}" });
        Ok(())
    }
}

/// Hands every object to `each`. One broken document ends the stream, since where the next one begins is then unsure.
pub(super) fn pieces(
    reader: impl Read + Send,
    file: &File,
    limit: usize,
    each: &mut impl FnMut(Piece<'_>),
) -> Result<(), Error> {
    let length = file.metadata().map_err(Error::Read)?.len();
    // One document waits while the one before it is judged.
    let (sender, documents) = sync_channel(1);
    std::thread::scope(|scope| {
        std::thread::Builder::new()
            .name("yaml".to_owned())
            .stack_size(STACK)
            .spawn_scoped(scope, move || parse(reader, length, &sender))
            .map_err(Error::Read)?;
        // The parser ends when its documents are no longer wanted, and the scope waits for it.
        documents.into_iter().try_for_each(|document| cut(&document?, limit, each))
    })
}

/// Sends every document as JSON, or the fault at which the file stops being YAML.
fn parse(mut reader: impl Read, length: u64, sender: &SyncSender<Result<Vec<u8>, Error>>) {
    for document in serde_saphyr::read_with_options::<_, Json>(&mut reader, options(length)) {
        let document = document.map(|Json(bytes)| bytes).map_err(|error| fault(&error));
        if sender.send(document).is_err() {
            return;
        }
    }
}

fn cut(document: &[u8], limit: usize, each: &mut impl FnMut(Piece<'_>)) -> Result<(), Error> {
    // An empty document, as between two separators, is no object.
    if document == b"null" {
        return Ok(());
    }
    let mut cutter = Cutter::new(limit);
    let mut is_valid = true;
    is_valid &= cutter.feed(document, &mut |piece| is_valid &= hand_out(piece, each)).is_ok();
    if is_valid && cutter.finish().is_ok() {
        return Ok(());
    }
    Err(Error::Parse { line: 1, column: 1, message: "not a Kubernetes object".to_owned() })
}

/// The parser calls itself once a level, and needs some ten thousand bytes each time.
const STACK: usize = 64 << 20;

/// As deep as JSON is read. The schemas in definitions of resources go deeper than the library's own limit of 64.
const DEEPEST: usize = 128;

/// The library's limits are made for configuration. A dump may be as large as its file, and no larger: what aliases
/// blow up beyond a small multiple of that is no dump.
fn options(length: u64) -> Options {
    let length = usize::try_from(length).unwrap_or(usize::MAX).max(64 << 10);
    let budget = serde_saphyr::budget! {
        max_reader_input_bytes: None,
        max_events: length.saturating_mul(2),
        max_nodes: length.saturating_mul(2),
        max_documents: length,
        max_depth: DEEPEST,
        max_total_scalar_bytes: length.saturating_mul(2),
        max_total_comment_bytes: length,
    };
    serde_saphyr::options! { budget: budget, with_snippet: false, strict_booleans: true }
}

fn fault(error: &serde_saphyr::Error) -> Error {
    let error = error.without_snippet();
    let (line, column) =
        error.location().map_or((1, 1), |location| (usize_of(location.line()), usize_of(location.column())));
    Error::Parse { line, column, message: format!("not YAML: {error}; the rest of the file was not read") }
}

fn usize_of(number: impl TryInto<usize>) -> usize {
    number.try_into().unwrap_or(usize::MAX)
}
