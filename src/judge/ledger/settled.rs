//! What was settled since the newest complete list.
//!
//! Observations of one object can arrive out of order: a page of a list shows the store as it was when the list began,
//! and a watch may be behind a GET. The memory of an object goes when nothing is left to remember, and with it the
//! resourceVersion by which an older observation is told; so the last ones are kept here until a list has caught up.

use std::collections::VecDeque;

use super::Uid;

/// So many are kept. One that is dropped early can at worst come back as pending until the next list.
const LIMIT: usize = 1024;

/// Objects that are no longer remembered, with the resourceVersion that settled them.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(super) struct Settled {
    recent: VecDeque<(Uid, u64)>,
}

impl Settled {
    /// Notes that nothing is left to remember of an object as of that version.
    pub(super) fn add(&mut self, uid: Uid, version: Option<u64>) {
        let Some(version) = version else { return };
        if self.recent.len() == LIMIT {
            self.recent.pop_front();
        }
        self.recent.push_back((uid, version));
    }

    /// Whether an observation is not newer than the one that settled the object.
    pub(super) fn knows(&self, uid: Uid, version: Option<u64>) -> bool {
        version.is_some_and(|version| self.recent.iter().any(|(known, at)| *known == uid && version <= *at))
    }

    /// A list that shows the store as of `version` is complete: nothing older can come from the next one.
    pub(super) fn list_ended(&mut self, version: Option<u64>) {
        match version {
            Some(version) => self.recent.retain(|(_, at)| *at > version),
            None => self.recent.clear(),
        }
    }

    /// The store went back in time: its versions say nothing any more.
    pub(super) fn clear(&mut self) {
        self.recent.clear();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_a_list_has_caught_up_with_is_forgotten() {
        let (a, b) = (Uid::of("a"), Uid::of("b"));
        let mut settled = Settled::default();
        settled.add(a, Some(10));
        settled.add(b, Some(20));
        assert!(settled.knows(a, Some(10)) && settled.knows(a, Some(9)));
        assert!(!settled.knows(a, Some(11)) && !settled.knows(a, None));
        settled.list_ended(Some(10));
        assert!(!settled.knows(a, Some(9)) && settled.knows(b, Some(20)));
    }

    #[test]
    fn memory_is_bounded() {
        let mut settled = Settled::default();
        (0..5000_u64).for_each(|n| settled.add(Uid::of(&n.to_string()), Some(n)));
        assert_eq!(settled.recent.len(), LIMIT);
        assert!(settled.knows(Uid::of("4999"), Some(4999)));
    }
}
