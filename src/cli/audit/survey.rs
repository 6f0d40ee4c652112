//! The first reading of a dump: which resources there are, which rules fit them, and how old the dump is.

use std::collections::HashMap;

use jiff::Timestamp;

use super::dump::{self, DumpFile};
use super::peering::Peerings;
use super::word::{Shown, resource_name};
use crate::judge::cut::Piece;
use crate::judge::object::mask::Mask;
use crate::judge::object::tree::Tree;
use crate::judge::object::{Identity, identity_mask, identity_of, time};
use crate::judge::peering::is_peering;
use crate::judge::rule::auto::{Evidence, Mark, Signs};

/// What the first reading found.
#[derive(Debug, Default)]
pub struct Survey {
    /// The newest time in the dump: creations, writes and transitions of conditions. Not deletions, which may lie in
    /// the future.
    pub newest: Option<Timestamp>,
    /// Whether there was any Kubernetes object.
    pub has_object: bool,
    /// Why files could not be read to their end.
    pub faults: Vec<dump::Error>,
    /// Peering objects.
    pub peerings: Peerings,
    /// Which kind the items of a list have that do not say it themselves.
    inherited: HashMap<Place, Key>,
    marks: HashMap<Key, Option<Mark>>,
}

/// Where in the dump a piece stands.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Hash)]
pub struct Place {
    /// Which file.
    pub file: usize,
    /// How many lists of the file have ended before.
    pub list: usize,
}

/// What identifies a resource in a dump.
#[derive(Debug, Clone, Default, PartialEq, Eq, Hash)]
pub struct Key {
    /// The API group; empty for the core group.
    pub group: String,
    /// The kind; empty where nothing tells it.
    pub kind: String,
}

impl Key {
    fn new(api_version: &str, kind: &str) -> Self {
        let group = api_version.split_once('/').map_or("", |(group, _)| group);
        Self { group: group.to_owned(), kind: kind.to_owned() }
    }

    /// `plural.group`.
    pub fn resource(&self) -> String {
        resource_name(&self.group, &self.kind)
    }

    /// The resource as RESOURCE words see it.
    pub fn shown<'k>(&'k self, identity: Identity<'k>) -> Shown<'k> {
        Shown { group: &self.group, version: version(identity), kind: &self.kind }
    }
}

/// The version part of `apiVersion`.
pub fn version(identity: Identity<'_>) -> &str {
    identity.api_version.map_or("", |text| text.rsplit('/').next().unwrap_or(text))
}

impl Survey {
    /// Reads `files` once. Objects of more than `limit` bytes are left out.
    pub fn new(files: &[DumpFile], limit: usize) -> Self {
        let mut survey = Self::default();
        let masks = Masks::new();
        for (file, dump_file) in files.iter().enumerate() {
            let mut place = Place { file, list: 0 };
            let mut nameless = None;
            let end = dump_file.pieces(limit, &mut |piece| match piece {
                Piece::Envelope(bytes) => {
                    survey.end_list(place, bytes, std::mem::take(&mut nameless));
                    place.list += 1;
                }
                Piece::Item(bytes) | Piece::Document(bytes) => survey.object(bytes, &masks, &mut nameless),
                Piece::TooLarge { .. } => survey.has_object = true,
            });
            survey.faults.extend(end.err());
        }
        survey
    }

    fn object(&mut self, bytes: &[u8], masks: &Masks, nameless: &mut Option<Mark>) {
        let mark = masks.signs.find(bytes);
        if let Ok(tree) = Tree::read(bytes, &masks.identity_and_times) {
            self.newest = self.newest.max(newest(&tree));
            let identity = Identity::of(&tree);
            self.add(identity, mark, nameless);
            if let (Some(api_version), Some(kind)) = (identity.api_version, identity.kind)
                && is_peering(&Key::new(api_version, kind).group, kind)
            {
                self.peerings.add(bytes);
            }
            return;
        }
        // One of the two may still be readable.
        identity_of(bytes, &masks.identity, |identity| self.add(identity, mark, nameless));
        if let Ok(tree) = Tree::read(bytes, &masks.times) {
            self.newest = self.newest.max(newest(&tree));
        }
    }

    fn add(&mut self, identity: Identity<'_>, mark: Option<Mark>, nameless: &mut Option<Mark>) {
        self.has_object |= identity != Identity::default();
        let known = match (identity.api_version, identity.kind) {
            (Some(api_version), Some(kind)) => self.marks.entry(Key::new(api_version, kind)).or_default(),
            _ => nameless,
        };
        *known = mark.max(*known);
    }

    /// A `WidgetList` says what its items are; a `List` does not.
    fn end_list(&mut self, place: Place, envelope: &[u8], nameless: Option<Mark>) {
        identity_of(envelope, &identity_mask(), |identity| {
            let item_kind = identity.kind.and_then(|kind| kind.strip_suffix("List")).unwrap_or_default();
            let key = if item_kind.is_empty() {
                Key::default()
            } else {
                Key::new(identity.api_version.unwrap_or_default(), item_kind)
            };
            let known = self.marks.entry(key.clone()).or_default();
            *known = nameless.max(*known);
            self.inherited.insert(place, key);
        });
    }

    /// Which resource an object belongs to.
    pub fn key(&self, place: Place, is_item: bool, identity: Identity<'_>) -> Key {
        match (identity.api_version, identity.kind) {
            (Some(api_version), Some(kind)) => Key::new(api_version, kind),
            _ if is_item => self.inherited.get(&place).cloned().unwrap_or_default(),
            (api_version, kind) => Key::new(api_version.unwrap_or_default(), kind.unwrap_or_default()),
        }
    }

    /// Every resource of the dump, as RESOURCE words see it. Versions are known to single objects only.
    pub fn keys(&self) -> impl Iterator<Item = &Key> {
        self.marks.keys().filter(|key| !key.kind.is_empty())
    }

    /// What is known for choosing the resource's rule.
    pub fn evidence<'k>(&self, key: &'k Key) -> Evidence<'k> {
        let mark = self.marks.get(key).copied().flatten();
        Evidence { group: &key.group, kind: &key.kind, mark, status_subresource: None }
    }
}

/// What is looked for in every object, made ready once.
struct Masks {
    identity: Mask,
    times: Mask,
    identity_and_times: Mask,
    signs: Signs,
}

impl Masks {
    fn new() -> Self {
        Self {
            identity: identity_mask(),
            times: with_times(Mask::new()),
            identity_and_times: with_times(identity_mask()),
            signs: Signs::new(Evidence::default()),
        }
    }
}

fn with_times(mask: Mask) -> Mask {
    mask.whole(&["metadata", "creationTimestamp"]).whole(&["metadata", "managedFields", "time"]).whole(&[
        "status",
        "conditions",
        "lastTransitionTime",
    ])
}

fn newest(tree: &Tree<'_>) -> Option<Timestamp> {
    let listed = |path: &[&str], key: &str| {
        tree.at(path).map_or(&[][..], Tree::items).iter().filter_map(|item| item.get(key).and_then(time)).max()
    };
    [
        tree.at(&["metadata", "creationTimestamp"]).and_then(time),
        listed(&["metadata", "managedFields"], "time"),
        listed(&["status", "conditions"], "lastTransitionTime"),
    ]
    .into_iter()
    .flatten()
    .max()
}
