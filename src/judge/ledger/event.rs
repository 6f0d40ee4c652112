//! Events of the own watch: they come earlier than any list, and sometimes later.

use super::entry::{Entry, Standing};
use super::{Identity, Ledger, Source, Tick, Uid, version_of};

impl Ledger {
    /// The own watch says that the object is no more, or that the selector no longer fits. As [`Ledger::gone`], unless the
    /// object was seen in a newer version.
    pub fn deleted(&mut self, identity: Identity<'_>) {
        let Some(uid) = identity.uid.map(Uid::of) else { return };
        let version = version_of(identity.resource_version);
        let known = self.entries.get(&uid).and_then(|entry| entry.version);
        if matches!((version, known), (Some(new), Some(known)) if new < known) {
            return;
        }
        self.entries.remove(&uid);
        // A list under way may still show it as it was.
        self.settled.add(uid, version);
    }

    /// Whether what is said of an object that is not remembered is older than what is known of it: it was settled by a
    /// newer version, or an event shows nothing that the newest complete list did not show.
    pub(super) fn is_outdated(&self, source: Source, uid: Uid, version: Option<u64>) -> bool {
        let listed = self.complete.and_then(|complete| complete.version).filter(|_| source == Source::Watch);
        let is_listed = matches!((version, listed), (Some(new), Some(listed)) if new <= listed);
        is_listed || self.settled.knows(uid, version)
    }

    /// When the own watch delivered the oldest change that is still unserved: what it saw by then, the operator's own
    /// watch must have been sent as well. Absent where no pending object was seen by an event.
    pub fn event_seen(&self, now: Tick) -> Option<Tick> {
        let pending = self.entries.values().filter(|entry| entry.pending_clock(now).is_some());
        pending.filter_map(|entry| entry.event_seen).min()
    }
}

impl Entry {
    /// Notes when the own watch delivered what is still unserved; an acknowledgement ends that.
    pub(super) fn note_event(&mut self, source: Source, ack: bool, now: Tick) {
        if ack {
            self.event_seen = None;
        }
        if source == Source::Watch && self.standing == Standing::Pending {
            self.event_seen.get_or_insert(now);
        }
    }
}

#[cfg(test)]
mod tests;
