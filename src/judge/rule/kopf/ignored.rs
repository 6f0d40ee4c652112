//! The fields that an operator leaves out of the essence.

use crate::judge::object::tree::Tree;

/// Dotted paths, as a tree.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(super) struct Ignored {
    /// A path ends here: the whole value is ignored.
    is_end: bool,
    below: Vec<(String, Ignored)>,
}

impl Ignored {
    /// `paths` are dotted, as in kopf's `ignored_fields`. Below `metadata.labels` and `metadata.annotations` the rest is
    /// one name, dots included.
    pub(super) fn new(paths: &[String]) -> Self {
        let mut root = Self::default();
        for path in paths {
            root.add(keys(path).into_iter());
        }
        root
    }

    /// Ignores the value at the end of `path` as well. An empty path would ignore everything, and is none.
    pub(super) fn add<'k>(&mut self, path: impl Iterator<Item = &'k str>) {
        let mut path = path.peekable();
        if path.peek().is_some() {
            path.fold(self, Self::child).is_end = true;
        }
    }

    fn child(&mut self, key: &str) -> &mut Self {
        let at = self.below.iter().position(|(name, _)| name == key).unwrap_or_else(|| {
            self.below.push((key.to_owned(), Self::default()));
            self.below.len() - 1
        });
        &mut self.below[at].1
    }

    /// Whether nothing is ignored.
    pub(super) const fn is_empty(&self) -> bool {
        self.below.is_empty()
    }

    /// Whether the whole value here is ignored.
    pub(super) const fn is_end(&self) -> bool {
        self.is_end
    }

    /// What is ignored below `key`.
    pub(super) fn below(&self, key: &str) -> Option<&Self> {
        self.below.iter().find(|(name, _)| name == key).map(|(_, below)| below)
    }

    /// Whether a map is empty once the ignored fields are gone; kopf then drops the map as well.
    pub(super) fn empties(&self, tree: &Tree<'_>) -> bool {
        let entries = tree.entries();
        let is_gone = |(key, value): &(_, Tree<'_>)| {
            let key: &std::borrow::Cow<'_, str> = key;
            self.below(key).is_some_and(|below| below.is_end || below.empties(value))
        };
        !entries.is_empty() && entries.iter().all(is_gone)
    }
}

fn keys(path: &str) -> Vec<&str> {
    for stanza in ["metadata.labels.", "metadata.annotations."] {
        if let Some(name) = path.strip_prefix(stanza) {
            return stanza.split_terminator('.').chain([name]).collect();
        }
    }
    path.split('.').filter(|key| !key.is_empty()).collect()
}
