//! The paths that a rule reads.

/// What is read of one value. The empty mask reads nothing but that the value is there.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Mask {
    /// Everything below is read.
    whole: bool,
    /// The keys that are read, sorted.
    named: Vec<Named>,
    /// What is read of all other keys; without it they are skipped.
    others: Option<Box<Mask>>,
}

#[derive(Debug, Clone, PartialEq, Eq)]
struct Named {
    sign: u32,
    name: Box<str>,
    mask: Mask,
}

/// In a path: every key that no other path names.
pub const OTHERS: &str = "*";

impl Mask {
    /// A mask that reads nothing but presence.
    pub fn new() -> Self {
        Self::default()
    }

    /// Reads the whole value at `path`. Lists are transparent: a path goes through each of their items.
    #[must_use]
    pub fn whole(mut self, path: &[&str]) -> Self {
        *self.node(path) = Self { whole: true, ..Self::default() };
        self
    }

    /// Reads whether there is a value at `path`.
    #[must_use]
    pub fn presence(mut self, path: &[&str]) -> Self {
        self.node(path);
        self
    }

    /// Reads the whole values at `path` followed by each of `keys`.
    #[must_use]
    pub fn fields(self, path: &[&str], keys: &[&str]) -> Self {
        keys.iter().fold(self, |mask, key| {
            let full: Vec<&str> = path.iter().copied().chain([*key]).collect();
            mask.whole(&full)
        })
    }

    /// Reads what either of the two reads. A key that one of them names and the other takes among [`OTHERS`] is read as
    /// both say.
    #[must_use]
    pub fn union(self, other: &Self) -> Self {
        if self.whole || other.whole {
            return Self { whole: true, ..Self::default() };
        }
        let both = |one: Option<&Self>, two: Option<&Self>| match (one, two) {
            (Some(one), Some(two)) => Some(one.clone().union(two)),
            (one, two) => one.or(two).cloned(),
        };
        let mut names: Vec<&str> = self.named.iter().chain(&other.named).map(|named| named.name.as_ref()).collect();
        names.sort_unstable();
        names.dedup();
        let united = names.into_iter().filter_map(|name| {
            Some(Named { sign: sign(name), name: name.into(), mask: both(self.below(name), other.below(name))? })
        });
        Self {
            whole: false,
            named: united.collect(),
            others: both(self.others.as_deref(), other.others.as_deref()).map(Box::new),
        }
    }

    fn node(&mut self, path: &[&str]) -> &mut Self {
        match path {
            // What is read whole already cannot be narrowed by a longer path.
            [key, rest @ ..] if !self.whole => self.child(key).node(rest),
            _ => self,
        }
    }

    fn child(&mut self, key: &str) -> &mut Self {
        if key == OTHERS {
            return self.others.get_or_insert_default();
        }
        let at = self.named.binary_search_by(|named| named.name.as_ref().cmp(key)).unwrap_or_else(|at| {
            self.named.insert(at, Named { sign: sign(key), name: key.into(), mask: Self::default() });
            at
        });
        &mut self.named[at].mask
    }

    /// True when everything below is read.
    pub(super) const fn is_whole(&self) -> bool {
        self.whole
    }

    /// True when nothing but presence is read.
    pub(super) fn is_presence(&self) -> bool {
        !self.whole && self.named.is_empty() && self.others.is_none()
    }

    /// The mask of the value under `key`, or `None` if that key is not read.
    pub(super) fn below(&self, key: &str) -> Option<&Self> {
        if self.whole {
            return Some(self);
        }
        let sign = sign(key);
        let named = self.named.iter().find(|named| named.sign == sign && named.name.as_ref() == key);
        named.map(|named| &named.mask).or(self.others.as_deref())
    }

    /// How many keys of one map can be read, where that is known.
    pub(super) fn width(&self) -> usize {
        self.named.len()
    }
}

/// Tells most names apart without a look at the rest of them: length, first and last byte.
fn sign(name: &str) -> u32 {
    let bytes = name.as_bytes();
    let end = |byte: Option<&u8>| byte.map_or(0, |byte| u32::from(*byte));
    let length = u32::try_from(bytes.len()).unwrap_or(u32::MAX);
    length << 16 ^ end(bytes.first()) << 8 ^ end(bytes.last())
}

#[cfg(test)]
mod tests {
    use super::{Mask, OTHERS};

    #[test]
    fn a_longer_path_does_not_narrow_a_shorter_one() {
        let mask = Mask::new().whole(&["a"]).whole(&["a", "b"]);
        assert!(mask.below("a").is_some_and(|mask| mask.whole));
        let mask = Mask::new().whole(&["a", "b"]).whole(&["a"]);
        assert!(mask.below("a").is_some_and(|mask| mask.whole));
    }

    #[test]
    fn a_union_reads_what_either_reads() {
        let one = Mask::new().whole(&[OTHERS]).presence(&["status"]);
        let both = one.union(&Mask::new().whole(&["spec", "class"]).whole(&["status", "phase"]));
        assert!(both.below("spec").is_some_and(|mask| mask.whole), "read whole among the others");
        assert!(both.below("data").is_some_and(|mask| mask.whole));
        let status = both.below("status").expect("read");
        assert!(!status.whole && status.below("phase").is_some_and(|mask| mask.whole));
        assert!(status.below("conditions").is_none());
        assert_eq!(Mask::new().whole(&["a"]).union(&Mask::new()), Mask::new().whole(&["a"]));
        assert!(Mask::new().whole(&["a"]).union(&Mask::new().whole(&[])).below("b").is_some_and(|mask| mask.whole));
    }

    #[test]
    fn a_named_key_wins_over_others() {
        let mask = Mask::new().whole(&[OTHERS]).presence(&["status"]);
        assert!(mask.below("spec").is_some_and(|mask| mask.whole));
        assert!(mask.below("status").is_some_and(Mask::is_presence));
        assert!(Mask::new().whole(&["a"]).below("b").is_none());
        assert!(Mask::new().whole(&["spec"]).below("suec").is_none(), "the same length and ends");
    }
}
