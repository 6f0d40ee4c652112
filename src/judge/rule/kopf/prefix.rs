//! Which annotations of an object are marks of kopf, by the prefix of their names.

use super::name::{DEFAULT_KEY, DEFAULT_PREFIX, MANAGED};
use crate::judge::object::Object;
use crate::judge::object::tree::Tree;

/// kopf strips it from the essence because `kubectl apply` changes it with every change.
const LAST_APPLIED: &str = "kubectl.kubernetes.io/last-applied-configuration";

/// The prefixes on one object.
#[derive(Debug)]
pub(super) struct Prefixes<'t> {
    /// Those of the operator that is judged; sorted.
    own: Vec<&'t str>,
    /// Those of any kopf operator, told by the marker; sorted.
    marked: Vec<&'t str>,
}

impl<'t> Prefixes<'t> {
    /// `configured` is the operator's prefix. Without it every prefix that shows marks of kopf counts as the operator's:
    /// kopf's default, one with the marker `kopf-managed`, and one with a mark under the default key, since prefixes
    /// that begin with `kopf.` go without the marker.
    pub(super) fn find(object: &'t Object<'_>, configured: Option<&'t str>) -> Self {
        let mut own = vec![configured.unwrap_or(DEFAULT_PREFIX)];
        let mut marked = Vec::new();
        for (name, value) in annotations(object) {
            let Some((prefix, rest)) = name.split_once('/') else { continue };
            if rest == MANAGED {
                marked.push(prefix);
            }
            let is_mark = rest == MANAGED || (rest == DEFAULT_KEY && !value.is_null());
            if configured.is_none() && is_mark && prefix != DEFAULT_PREFIX {
                own.push(prefix);
            }
        }
        own.sort_unstable();
        own.dedup();
        marked.sort_unstable();
        Self { own, marked }
    }

    /// The operator's own.
    pub(super) fn own(&self) -> &[&'t str] {
        &self.own
    }

    /// Whether an annotation or a finalizer has one of the operator's own prefixes.
    pub(super) fn is_own(&self, name: &str) -> bool {
        name.split_once('/').is_some_and(|(prefix, _)| self.own.binary_search(&prefix).is_ok())
    }

    /// Whether kopf strips an annotation from the essence.
    pub(super) fn is_stripped(&self, name: &str) -> bool {
        let Some((prefix, _)) = name.split_once('/') else { return false };
        name == LAST_APPLIED
            || prefix == DEFAULT_PREFIX
            || prefix.strip_suffix(DEFAULT_PREFIX).is_some_and(|rest| rest.ends_with('.'))
            || self.own.binary_search(&prefix).is_ok()
            || self.marked.binary_search(&prefix).is_ok()
    }
}

/// `metadata.annotations`, or nothing where it is no map.
pub(super) fn annotations<'t>(object: &'t Object<'_>) -> impl Iterator<Item = (&'t str, &'t Tree<'t>)> {
    let entries = object.tree().at(&["metadata", "annotations"]).map_or(&[][..], Tree::entries);
    entries.iter().map(|(name, value)| (name.as_ref(), value))
}
