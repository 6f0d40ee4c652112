//! Since when an object is pending.

use std::time::Duration;

#[cfg(doc)]
use crate::judge::ledger::sent;
use crate::judge::tick::Tick;

/// Since when an object is pending.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(in crate::judge) struct Clock {
    /// First seen pending, or acknowledged while it stayed pending.
    pub(in crate::judge) first_seen: Tick,
    /// The object's own time; absent where it tells none, and after an acknowledgement.
    pub(in crate::judge) own: Option<Tick>,
    /// When the object was last known not to be pending, if ever. Its own time is another machine's clock and may lie
    /// before that.
    pub(in crate::judge) not_yet: Option<Tick>,
    /// Since when the present desired state is wanted, by the earlier of its own time and the first sight of it;
    /// absent while it is the one that started the clock.
    pub(in crate::judge) renewed: Option<Renewed>,
    /// Whether an acknowledgement started the clock.
    pub(in crate::judge) acked: bool,
    /// When the change that started the clock was sent to whoever watches, at the earliest; see [`sent::sent`]. Absent where
    /// that is not known, and where no change started it.
    pub(in crate::judge) event: Option<Tick>,
}

/// A desired state that is newer than the clock.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(in crate::judge) struct Renewed {
    /// When it was first seen.
    pub(in crate::judge) seen: Tick,
    /// When it was written, by the object, but not before the sight that did not show it.
    pub(in crate::judge) own: Option<Tick>,
}

impl Clock {
    /// For reports: the earlier of the object's own time and first seen.
    pub(in crate::judge) fn since(&self) -> Tick {
        self.own.map_or(self.first_seen, |own| own.min(self.first_seen))
    }

    /// For the excuse of the container's start: since when the present desired state waits.
    pub(in crate::judge) fn wanted_since(&self) -> Tick {
        match self.renewed {
            Some(renewed) => renewed.own.map_or(renewed.seen, |own| own.min(renewed.seen)),
            None => self.not_yet.map_or(self.since(), |not_yet| self.since().max(not_yet)),
        }
    }

    /// For the excuse of being passed over: since when the operator could have been seen to serve it.
    pub(in crate::judge) fn wanted_seen(&self) -> Tick {
        self.renewed.map_or(self.first_seen, |renewed| renewed.seen)
    }

    /// A pause is over: all but the sight that did not show it yet moves on.
    pub(super) fn shifted(self, by: Duration) -> Self {
        Self {
            first_seen: self.first_seen.after(by),
            own: self.own.map(|own| own.after(by)),
            not_yet: self.not_yet,
            renewed: self.renewed.map(|it| Renewed { seen: it.seen.after(by), own: it.own.map(|own| own.after(by)) }),
            acked: self.acked,
            event: self.event,
        }
    }
}
