//! Which object it is.

use super::mask::Mask;
use super::tree::Tree;

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

impl<'t> Identity<'t> {
    /// Which object `tree` is.
    pub fn of(tree: &'t Tree<'_>) -> Self {
        let text = |path: &[&str]| tree.at(path).and_then(Tree::as_str);
        Self {
            api_version: text(&["apiVersion"]),
            kind: text(&["kind"]),
            namespace: text(&["metadata", "namespace"]),
            name: text(&["metadata", "name"]),
            uid: text(&["metadata", "uid"]),
            resource_version: text(&["metadata", "resourceVersion"]),
        }
    }
}

/// What [`identity_of`] reads.
pub fn identity_mask() -> Mask {
    Mask::new()
        .fields(&[], &["apiVersion", "kind"])
        .fields(&["metadata"], &["name", "namespace", "uid", "resourceVersion"])
}

/// The identity of an object that [`super::Object::read`] refused, as far as it can be read with `mask`, which reads at least
/// what [`identity_mask`] does.
pub fn identity_of<R>(json: &[u8], mask: &Mask, then: impl FnOnce(Identity<'_>) -> R) -> R {
    match Tree::read(json, mask) {
        Ok(tree) => then(Identity::of(&tree)),
        Err(_) => then(Identity::default()),
    }
}
