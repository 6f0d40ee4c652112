//! What can be asked of a ledger.

use std::time::Duration;

use jiff::Timestamp;

use super::{Entry, Learnt, Ledger, Reading, Uid};
use crate::judge::tally::States;
use crate::judge::tick::Tick;

impl Ledger {
    pub(in crate::judge) fn entries(&self) -> impl Iterator<Item = (Uid, &Entry)> {
        self.entries.iter().map(|(uid, entry)| (*uid, entry))
    }

    /// Whether objects without the rule's signal are pending, and not just silent about it.
    pub(in crate::judge) fn signal_exists(&self) -> bool {
        self.signal_exists
    }

    /// The longest time from pending to acknowledgement of the last day, and when it stops counting.
    pub(in crate::judge) fn longest(&self, now: Tick) -> Option<(Duration, Tick)> {
        self.longest.at(now)
    }

    /// Served-through on the boot clock: the start of the newest complete list after which an object was desired that
    /// is processed now.
    pub fn served_through(&self) -> Option<Tick> {
        self.served_through
    }

    /// When dogwatch last saw an acknowledgement.
    pub fn last_ack(&self) -> Option<Tick> {
        self.last_ack
    }

    /// The newest acknowledgement that processed objects show, for reports: it may be older than this process.
    pub fn shown_ack(&self) -> Option<Timestamp> {
        self.shown_ack
    }

    /// What was learnt of how the operator acknowledges, by the end of the newest list.
    pub fn learnt(&self) -> impl Iterator<Item = Learnt> + use<> {
        self.lessons.learnt()
    }

    /// Whether a processed object was ever seen under the present rule.
    pub fn is_proven(&self) -> bool {
        self.is_proven
    }

    /// Whether the ledger stands for a rule or selector that replaced another and was not listed since.
    pub fn is_reloaded(&self) -> bool {
        matches!(self.reading, Reading::NeverSinceReload(_))
    }

    /// Whether there is a complete list by this process, or a documented reason why there is none: it was refused, or
    /// three in a row failed.
    pub fn is_ready(&self) -> bool {
        matches!(self.reading, Reading::Complete | Reading::Explained)
    }

    /// When the newest complete list of this process began and ended.
    pub fn listed(&self) -> Option<(Tick, Tick)> {
        self.complete
            .filter(|_| self.reading == Reading::Complete)
            .map(|complete| (complete.began.tick(), complete.ended))
    }

    /// Objects by state in the newest complete list, answers that wait for the rule's signal resolved.
    pub fn states(&self) -> States {
        self.complete.map_or_else(States::default, |complete| complete.states(self.signal_exists))
    }

    /// How many objects of the newest complete list are not processed and not remembered either.
    pub fn left_out(&self) -> u64 {
        self.complete.map_or(0, |complete| complete.left_out)
    }

    /// Since when a remembered object is pending, for reports; absent where it is not.
    pub fn pending_since(&self, uid: Uid, now: Tick) -> Option<Tick> {
        let entry = self.entries.get(&uid)?;
        let counts = !entry.marks().conditional || self.signal_exists;
        entry.pending_clock(now).filter(|_| counts).map(|clock| clock.since())
    }

    /// How many objects are remembered.
    pub fn len(&self) -> usize {
        self.entries.len()
    }

    /// Whether nothing is remembered.
    pub fn is_empty(&self) -> bool {
        self.entries.is_empty()
    }

    /// How many deletions that the operator's finalizer held have come to their end.
    pub(in crate::judge) fn released(&self) -> u64 {
        self.released
    }
}
