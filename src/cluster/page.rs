//! Reads one answer as a list: its items one by one as they arrive, then what surrounds them.

use serde::Deserialize;

use super::request::{self, Body, Reach, Reason};
use crate::judge::cut::{self, Cutter, Piece};

/// One item, handed out before the rest of the answer has arrived.
pub(super) enum Item<'a> {
    /// Its JSON.
    Bytes(&'a [u8]),
    /// It had more bytes than an object may have.
    TooLarge { bytes: u64 },
}

/// What surrounds the items.
#[derive(Debug, Default, Deserialize)]
#[serde(default, rename_all = "camelCase")]
pub(super) struct Envelope {
    pub(super) api_version: String,
    pub(super) kind: String,
    pub(super) metadata: ListMeta,
    /// Of a `Status` that came in place of a list.
    message: String,
    /// Go writes an empty list as `null` where it is not careful.
    items: Option<serde::de::IgnoredAny>,
}

/// The parts of `metav1.ListMeta` that are of use.
#[derive(Debug, Default, Deserialize)]
#[serde(default, rename_all = "camelCase")]
pub(super) struct ListMeta {
    pub(super) resource_version: Option<String>,
    pub(super) r#continue: Option<String>,
    pub(super) remaining_item_count: Option<u64>,
}

/// A whole answer.
pub(super) enum Page {
    /// It had `items`.
    List(Envelope),
    /// It had none.
    Document(Vec<u8>),
}

/// Why an answer could not be read to its end.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// It did not arrive.
    #[error(transparent)]
    Request(#[from] request::Error),
    /// It is no JSON, or ends too early.
    #[error("the answer cannot be read")]
    Cut(#[from] cut::Error),
    /// What surrounds the items is not what surrounds a list.
    #[error("what surrounds the items is not what surrounds a Kubernetes list")]
    Envelope(#[source] serde_json::Error),
    /// It holds nothing, or several documents.
    #[error("the answer holds {found} documents where one was expected")]
    Count {
        /// How many.
        found: usize,
    },
    /// It is something else than what was asked for.
    #[error("the answer is a {found} where a {expected} was expected")]
    Kind {
        /// `apiVersion` and `kind`, and the message of a `Status`.
        found: String,
        /// The same of what was asked for.
        expected: String,
    },
}

impl Error {
    /// What it tells of the API server. What is no list, or breaks off, is no answer.
    pub const fn reach(&self) -> Reach {
        match self {
            Self::Request(error) => error.reach(),
            _ => Reach::Fails,
        }
    }

    /// The word for it in reports.
    pub const fn reason(&self) -> Reason {
        match self {
            Self::Request(error) => error.reason(),
            _ => Reason::Decode,
        }
    }
}

/// Hands every item to `each` as it arrives; an object of more than `limit` bytes is dropped as it comes. `bytes` grows
/// by what was read, also when this fails.
pub(super) async fn read(
    mut body: Body,
    limit: usize,
    bytes: &mut u64,
    each: &mut impl FnMut(Item<'_>),
) -> Result<Page, Error> {
    let mut cutter = Cutter::new(limit);
    let mut ends = Vec::new();
    while let Some(chunk) = body.chunk().await? {
        *bytes += chunk.len() as u64;
        cutter.feed(&chunk, &mut |piece| match piece {
            Piece::Item(item) => each(Item::Bytes(item)),
            Piece::TooLarge { bytes } => each(Item::TooLarge { bytes }),
            Piece::Envelope(end) => ends.push((true, end.to_vec())),
            Piece::Document(end) => ends.push((false, end.to_vec())),
        })?;
    }
    cutter.finish()?;
    let found = ends.len();
    match ends.pop() {
        Some((is_list, end)) if found == 1 => {
            let page = if is_list {
                Page::List(serde_json::from_slice(&end).map_err(Error::Envelope)?)
            } else {
                Page::Document(end)
            };
            Ok(page)
        }
        _ => Err(Error::Count { found }),
    }
}

impl Page {
    /// The envelope, if this is a list of `api_version` and not a single `kind`.
    pub(super) fn expect_list(self, api_version: &str, kind: &str) -> Result<Envelope, Error> {
        let (envelope, has_items) = match self {
            Self::List(envelope) => (envelope, true),
            Self::Document(document) => {
                let envelope: Envelope = serde_json::from_slice(&document).map_err(Error::Envelope)?;
                (envelope, false)
            }
        };
        // A CRD may call its list as it likes, but not by its kind's name.
        let is_list = if has_items {
            !["", "Table", kind].contains(&envelope.kind.as_str())
        } else {
            envelope.kind.ends_with("List") && envelope.items.is_none()
        };
        if is_list && envelope.api_version == api_version {
            return Ok(envelope);
        }
        Err(Error::Kind { found: envelope.describe(), expected: format!("{api_version} {kind}List") })
    }
}

impl Envelope {
    fn describe(&self) -> String {
        let name = match (self.api_version.as_str(), self.kind.as_str()) {
            ("", "") => "document without apiVersion and kind".to_owned(),
            (api_version, kind) => format!("{api_version} {kind}"),
        };
        let message = if self.kind == "Status" { format!(" ({})", self.message) } else { String::new() };
        request::one_line(&format!("{name}{message}"))
    }
}
