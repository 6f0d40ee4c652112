//! Which objects were nudged, each for which desired state.

use std::collections::BTreeMap;
use std::time::Duration;

use super::entry::DELETION;
use super::{Ledger, Standing, Tick, Uid};

/// The desired state of each object that was nudged; see [`super::super::nudge`].
pub(super) type Nudged = BTreeMap<Uid, u64>;

impl Ledger {
    /// Whether an object may be nudged: pending and seen so for longer than `overdue_after`, by a stream of which
    /// everything is known, no deletion, not ignored, and not nudged before for what is wanted now.
    pub fn may_nudge(&self, uid: Uid, overdue_after: Duration, now: Tick) -> bool {
        let Some(entry) = self.entries.get(&uid) else { return false };
        let Some(clock) = entry.pending_clock(now) else { return false };
        let marks = entry.marks();
        self.listed().is_some()
            && self.left_out() == 0
            && now > clock.first_seen.after(overdue_after)
            && entry.standing() == Standing::Pending
            && entry.desired != DELETION
            && !marks.ignored
            && (self.signal_exists || !marks.conditional)
            && self.nudged.get(&uid) != Some(&entry.desired)
    }

    /// Remembers that an object was nudged. It is not nudged again for what is wanted now.
    pub fn nudged(&mut self, uid: Uid) {
        if let Some(entry) = self.entries.get(&uid) {
            self.nudged.insert(uid, entry.desired);
        }
    }

    /// Forgets nudges of objects that are not remembered any more.
    pub(super) fn settle_nudges(&mut self) {
        let Self { nudged, entries, .. } = self;
        nudged.retain(|uid, _| entries.contains_key(uid));
    }
}
