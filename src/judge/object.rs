//! Facts of one object, read borrowed through a mask.

pub mod mask;
pub(in crate::judge) mod read;
pub mod tree;

use std::borrow::Cow;

use jiff::Timestamp;
use jiff::civil::DateTime;
use jiff::tz::Offset;

use mask::{Mask, OTHERS};
use tree::Tree;

/// The annotation by which a person tells dogwatch to leave an object alone; its value is the reason.
pub const IGNORE_ANNOTATION: &str = "dogwatch/ignore";

/// Which object it is. Everything is as the object says; dumps may lack any of it.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Identity<'a> {
    /// `apiVersion`, absent in the items of some lists.
    pub api_version: Option<&'a str>,
    /// `kind`, absent in the items of some lists.
    pub kind: Option<&'a str>,
    /// `metadata.namespace`.
    pub namespace: Option<&'a str>,
    /// `metadata.name`.
    pub name: Option<&'a str>,
    /// `metadata.uid`.
    pub uid: Option<&'a str>,
    /// `metadata.resourceVersion`.
    pub resource_version: Option<&'a str>,
}

/// One entry of `metadata.managedFields`.
///
/// An entry's time moves when its manager changes or takes fields, and not when it takes fields away; entries written
/// before Kubernetes 1.22 do not name the subresource, so a status entry is known by the fields that it owns.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
#[expect(clippy::struct_excessive_bools, reason = "independent facts, not a state")]
pub struct ManagedFields<'a> {
    /// Who wrote.
    pub manager: &'a str,
    /// When, as written; see [`ManagedFields::at`].
    time: &'a str,
    /// Whether it owns fields below `spec`.
    pub owns_spec: bool,
    /// Whether it owns fields below `status`.
    pub owns_status: bool,
    /// Whether it owns labels or annotations.
    pub owns_metadata: bool,
    /// Whether it owns a top-level stanza beside `spec`, `status` and `metadata`, as in a `ConfigMap`.
    pub owns_other: bool,
}

impl ManagedFields<'_> {
    /// When it was written, in whole seconds of the API server's clock; absent where that cannot be read.
    pub fn at(&self) -> Option<Timestamp> {
        parse_time(self.time)
    }

    /// `fields`: what `fieldsV1` holds.
    fn owns(&mut self, fields: &[(Cow<'_, str>, Tree<'_>)]) {
        for (key, value) in fields {
            match key.as_ref() {
                "f:spec" => self.owns_spec = !value.is_null(),
                "f:status" => self.owns_status = !value.is_null(),
                "f:metadata" => {
                    self.owns_metadata = value.get("f:labels").is_some() || value.get("f:annotations").is_some();
                }
                other => self.owns_other |= other.starts_with("f:"),
            }
        }
    }
}

/// The object's facts. Built by [`Object::read`].
#[derive(Debug)]
pub struct Object<'a> {
    tree: Tree<'a>,
}

/// Why an object could not be decoded. Its text names paths and kinds of values, never values.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// The text is not what JSON or the mask allows.
    #[error("the object {0}")]
    Json(tree::Error),
    /// Not an object of the Kubernetes API.
    #[error("{path} is missing")]
    Missing {
        /// What is missing.
        path: &'static str,
    },
    /// A field has another type or form than Kubernetes gives it.
    #[error("{path} is {found}, not {wanted}")]
    Field {
        /// Where.
        path: &'static str,
        /// What stands there.
        found: &'static str,
        /// What must stand there.
        wanted: &'static str,
    },
}

/// What every rule reads of every object.
pub fn common_mask() -> Mask {
    let metadata = [
        "name",
        "namespace",
        "uid",
        "resourceVersion",
        "generation",
        "creationTimestamp",
        "deletionTimestamp",
        "finalizers",
    ];
    Mask::new()
        .fields(&[], &["apiVersion", "kind"])
        .fields(&["metadata"], &metadata)
        .presence(&["metadata", "annotations", IGNORE_ANNOTATION])
        .fields(&["metadata", "managedFields"], &["manager", "time"])
        .presence(&["metadata", "managedFields", "fieldsV1", "f:spec"])
        .presence(&["metadata", "managedFields", "fieldsV1", "f:status"])
        .presence(&["metadata", "managedFields", "fieldsV1", "f:metadata", "f:labels"])
        .presence(&["metadata", "managedFields", "fieldsV1", "f:metadata", "f:annotations"])
        .presence(&["metadata", "managedFields", "fieldsV1", OTHERS])
}

impl<'a> Object<'a> {
    /// Reads one object.
    ///
    /// # Errors
    /// When the text is not JSON, is not a map with `metadata`, or a field of `metadata` that every answer stands on
    /// has the wrong type. The identity of such an object may still be readable, see [`identity_of`].
    pub fn read(json: &'a [u8], mask: &Mask) -> Result<Self, Error> {
        let object = Self { tree: Tree::read(json, mask).map_err(Error::Json)? };
        object.check()?;
        Ok(object)
    }

    fn check(&self) -> Result<(), Error> {
        if !matches!(self.tree, Tree::Map(_)) {
            return Err(Error::Field { path: "the object", found: self.tree.kind(), wanted: "a map" });
        }
        match self.tree.get("metadata") {
            None => return Err(Error::Missing { path: "metadata" }),
            Some(Tree::Map(_)) => {}
            Some(other) => return Err(Error::Field { path: "metadata", found: other.kind(), wanted: "a map" }),
        }
        for (key, path) in [("apiVersion", "apiVersion"), ("kind", "kind")] {
            self.field_as(&[key], path, "text", |value| value.as_str().map(drop))?;
        }
        self.metadata_as("generation", "metadata.generation", "a whole number", |value| value.as_int().map(drop))?;
        for (key, path) in [
            ("name", "metadata.name"),
            ("namespace", "metadata.namespace"),
            ("uid", "metadata.uid"),
            ("resourceVersion", "metadata.resourceVersion"),
        ] {
            self.metadata_as(key, path, "text", |value| value.as_str().map(drop))?;
        }
        for (key, path) in
            [("creationTimestamp", "metadata.creationTimestamp"), ("deletionTimestamp", "metadata.deletionTimestamp")]
        {
            self.metadata_as(key, path, "a time", |value| time(value).map(drop))?;
        }
        self.metadata_as("finalizers", "metadata.finalizers", "a list of texts", |value| match value {
            Tree::List(items) => items.iter().all(|item| item.as_str().is_some()).then_some(()),
            _ => None,
        })
    }

    fn metadata_as(
        &self,
        key: &str,
        path: &'static str,
        wanted: &'static str,
        accept: impl Fn(&Tree<'a>) -> Option<()>,
    ) -> Result<(), Error> {
        self.field_as(&["metadata", key], path, wanted, accept)
    }

    /// Absent is accepted: dumps are often trimmed, and every rule asks for what it needs.
    fn field_as(
        &self,
        keys: &[&str],
        path: &'static str,
        wanted: &'static str,
        accept: impl Fn(&Tree<'a>) -> Option<()>,
    ) -> Result<(), Error> {
        match self.tree.at(keys) {
            Some(value) if accept(value).is_none() => Err(Error::Field { path, found: value.kind(), wanted }),
            _ => Ok(()),
        }
    }

    /// Everything that was read.
    pub fn tree(&self) -> &Tree<'a> {
        &self.tree
    }

    /// Which object it is.
    pub fn identity(&self) -> Identity<'_> {
        identity_in(&self.tree)
    }

    /// `metadata.generation`: 1 at creation and one more for each change outside metadata, status excluded if the CRD
    /// has the status subresource. 0 is what servers before the feature wrote and counts as absent.
    pub fn generation(&self) -> Option<i64> {
        self.tree.at(&["metadata", "generation"]).and_then(Tree::as_int).filter(|number| *number > 0)
    }

    /// `metadata.creationTimestamp`.
    pub fn created_at(&self) -> Option<Timestamp> {
        self.tree.at(&["metadata", "creationTimestamp"]).and_then(time)
    }

    /// `metadata.deletionTimestamp`: the time of the request plus the grace period, which is 0 for custom resources.
    pub fn deleted_at(&self) -> Option<Timestamp> {
        self.tree.at(&["metadata", "deletionTimestamp"]).and_then(time)
    }

    /// `metadata.finalizers`.
    pub fn finalizers(&self) -> impl Iterator<Item = &str> {
        self.tree.at(&["metadata", "finalizers"]).map_or(&[][..], Tree::items).iter().filter_map(Tree::as_str)
    }

    /// The annotation named, if the mask reads it.
    pub fn annotation(&self, name: &str) -> Option<&Tree<'a>> {
        self.tree.at(&["metadata", "annotations"]).and_then(|annotations| annotations.get(name))
    }

    /// Whether a person told dogwatch to leave this object alone.
    pub fn is_ignored(&self) -> bool {
        self.annotation(IGNORE_ANNOTATION).is_some()
    }

    /// `metadata.managedFields`. Empty where the dump has none (kubectl
    /// hides them unless asked).
    pub fn managed_fields(&self) -> impl Iterator<Item = ManagedFields<'_>> {
        self.tree.at(&["metadata", "managedFields"]).map_or(&[][..], Tree::items).iter().map(|entry| {
            let mut found = ManagedFields::default();
            for (key, value) in entry.entries() {
                match key.as_ref() {
                    "manager" => found.manager = value.as_str().unwrap_or_default(),
                    "time" => found.time = value.as_str().unwrap_or_default(),
                    "fieldsV1" => found.owns(value.entries()),
                    _ => {}
                }
            }
            found
        })
    }

    /// `status.conditions`, or nothing where it is no list.
    pub fn conditions(&self) -> &[Tree<'a>] {
        self.tree.at(&["status", "conditions"]).map_or(&[], Tree::items)
    }
}

/// The identity of an object that [`Object::read`] refused, as far as it can be read.
pub fn identity_of<R>(json: &[u8], then: impl FnOnce(Identity<'_>) -> R) -> R {
    let mask = Mask::new()
        .fields(&[], &["apiVersion", "kind"])
        .fields(&["metadata"], &["name", "namespace", "uid", "resourceVersion"]);
    match Tree::read(json, &mask) {
        Ok(tree) => then(identity_in(&tree)),
        Err(_) => then(Identity::default()),
    }
}

fn identity_in<'t>(tree: &'t Tree<'_>) -> Identity<'t> {
    let text = |path: &[&str]| tree.at(path).and_then(Tree::as_str);
    Identity {
        api_version: text(&["apiVersion"]),
        kind: text(&["kind"]),
        namespace: text(&["metadata", "namespace"]),
        name: text(&["metadata", "name"]),
        uid: text(&["metadata", "uid"]),
        resource_version: text(&["metadata", "resourceVersion"]),
    }
}

/// A time as Kubernetes writes it (RFC 3339), or as kopf before 1.37 and old operators do: without a zone, which is
/// UTC, or with a zone without a colon.
pub fn time(value: &Tree<'_>) -> Option<Timestamp> {
    parse_time(value.as_str()?)
}

/// [`time`] for a text.
pub fn parse_time(text: &str) -> Option<Timestamp> {
    plain_time(text).or_else(|| text.parse::<Timestamp>().ok()).or_else(|| {
        let civil = text.parse::<DateTime>().ok()?;
        Offset::UTC.to_timestamp(civil).ok()
    })
}

/// A time in the one form in which the API server writes it, `2026-03-01T12:00:00Z`: a tenth of the general parser's
/// work, and most of what is parsed.
fn plain_time(text: &str) -> Option<Timestamp> {
    let bytes: &[u8; 20] = text.as_bytes().try_into().ok()?;
    let number = |from: usize, to: usize| {
        bytes[from..to]
            .iter()
            .try_fold(0_i16, |sum, byte| byte.is_ascii_digit().then(|| sum * 10 + i16::from(byte - b'0')))
    };
    let is_punctuated = [(4, b'-'), (7, b'-'), (10, b'T'), (13, b':'), (16, b':'), (19, b'Z')];
    if is_punctuated.iter().any(|(at, byte)| bytes[*at] != *byte) {
        return None;
    }
    let small = |from| number(from, from + 2).and_then(|number| i8::try_from(number).ok());
    let civil = DateTime::new(number(0, 4)?, small(5)?, small(8)?, small(11)?, small(14)?, small(17)?, 0).ok()?;
    Offset::UTC.to_timestamp(civil).ok()
}

#[cfg(test)]
mod tests;
