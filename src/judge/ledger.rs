//! What is remembered of one stream: which objects are pending since when, and when the operator last acknowledged
//! anything.
//!
//! # How the shell drives this
//!
//! One [`Ledger`] per stream; a new one ([`Ledger::reloaded`]) when its rule or selector changes.
//!
//! * A list: [`Ledger::begin_list`], [`Ledger::apply`] with [`Source::List`] for every object as it is judged,
//!   [`Ledger::end_list`] with how it ended. With `streams: namespace` one list of the resource feeds the ledger of each
//!   object's namespace, and all of them begin and end together.
//! * A GET: [`Ledger::apply`] with [`Source::Single`], also while a list is under way; one that finds nothing:
//!   [`Ledger::gone`].
//! * An event of the own watch: [`Ledger::apply`] with [`Source::Watch`], a `DELETED` one: [`Ledger::deleted`]. Events may
//!   arrive late; what is older than what is known already says nothing.
//! * [`Noted::pending_for`] feeds the histogram of times to acknowledgement; [`Noted::tracked`] tells for which objects
//!   the shell may keep a name. The ledger has none.
//!
//! Nothing is decided here; [`super::diagnosis`] reads the ledger and [`super::decision`] the diagnoses.

mod entry;
mod event;
mod habit;
mod list;
mod longest;
mod nudged;
mod seen;
mod sent;
mod settled;
pub mod snapshot;
mod uid;

use std::collections::HashMap;
use std::time::Duration;

use jiff::Timestamp;

use super::object::Identity;
use super::state::{Judgement, Moment, Reason, State};
use super::tally::States;
use super::tick::Tick;
pub(super) use entry::{Clock, Entry, Standing};
use habit::Habits;
pub use habit::{Habit, Learnt};
use list::{Complete, Listing};
pub use list::{ListEnd, Listed, Regression};
use longest::Longest;
use settled::Settled;
pub use uid::Uid;

/// So many objects of a stream are remembered, pending ones and the oldest first; the rest is counted.
pub const REMEMBERED: usize = 10_000;
/// So many more are held before the youngest are dropped, so that not every object sorts them.
const SLACK: usize = REMEMBERED / 4;

/// Where an observation comes from.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Source {
    /// The list under way.
    List,
    /// A GET, which shows the newest there is.
    Single,
    /// An event of the own watch, which may be late.
    Watch,
}

/// What an observation came to.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Noted {
    /// The object is remembered.
    pub tracked: Option<Uid>,
    /// It proves that the operator serves the stream.
    pub ack: bool,
    /// For the acknowledgement of a remembered object that was pending: for how long, since it was first seen so.
    pub pending_for: Option<Duration>,
}

/// How far this process has come with lists; what the state file tells of older ones does not count.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Reading {
    /// No list was complete; so many failed in a row.
    Never(u8),
    /// The same, since the rule or the selector was replaced.
    NeverSinceReload(u8),
    /// None was complete, and it is known why.
    Explained,
    /// At least one was complete.
    Complete,
}

/// The memory of one stream.
#[derive(Debug, Clone)]
pub struct Ledger {
    entries: HashMap<Uid, Entry>,
    listing: Option<Listing>,
    complete: Option<Complete>,
    reading: Reading,
    signal_exists: bool,
    is_proven: bool,
    last_ack: Option<Tick>,
    /// The newest acknowledgement that processed objects show by themselves; for reports only.
    shown_ack: Option<Timestamp>,
    served_through: Option<Tick>,
    settled: Settled,
    longest: Longest,
    /// What was nudged.
    nudged: nudged::Nudged,
    /// Deletions that the operator's finalizer held and that have come to their end; counted by this process only.
    released: u64,
    /// What the operator is seen to do.
    habits: Habits,
    /// What was learnt of it by the end of the newest list: within a list, the order of objects must not matter.
    lessons: Habits,
    /// Since when the same container runs without a hold; absent while there is one.
    undisturbed_since: Option<Tick>,
}

impl Default for Ledger {
    fn default() -> Self {
        Self::new()
    }
}

impl Ledger {
    /// The empty memory of a stream that dogwatch begins to watch.
    pub fn new() -> Self {
        Self {
            entries: HashMap::new(),
            listing: None,
            complete: None,
            reading: Reading::Never(0),
            signal_exists: false,
            is_proven: false,
            last_ack: None,
            shown_ack: None,
            served_through: None,
            settled: Settled::default(),
            longest: Longest::default(),
            nudged: nudged::Nudged::new(),
            released: 0,
            habits: Habits::default(),
            lessons: Habits::default(),
            undisturbed_since: None,
        }
    }

    /// The empty memory of a stream whose rule or selector changed: nothing that an older rule said counts.
    pub fn reloaded() -> Self {
        Self { reading: Reading::NeverSinceReload(0), ..Self::new() }
    }

    /// Takes in one object. `now` is when it was read.
    ///
    /// An object without a uid is counted and not remembered. An observation that is older by its resourceVersion than
    /// what is known of the object says nothing but that it is there.
    pub fn apply(&mut self, source: Source, identity: Identity<'_>, judgement: &Judgement, now: Moment) -> Noted {
        let (noted, state) = self.take_in(source, identity, judgement, now);
        if let (Source::List, Some(listing)) = (source, &mut self.listing) {
            listing.count(judgement, state);
        }
        noted
    }

    /// Takes in one object; returns the state as well, by what was learnt of the operator.
    fn take_in(
        &mut self,
        source: Source,
        identity: Identity<'_>,
        judgement: &Judgement,
        now: Moment,
    ) -> (Noted, State) {
        let mut state = judgement.state;
        self.habits.look(judgement);
        // Somebody else's finalizer on an object proves nothing of the rule.
        self.is_proven |= judgement.state == State::Processed && judgement.reason != Some(Reason::HeldByOthers);
        let Some(uid) = identity.uid.map(Uid::of) else { return (Noted::default(), state) };
        let version = version_of(identity.resource_version);
        let mut noted = Noted::default();
        let mut was_withdrawn = false;
        if let Some(entry) = self.entries.get_mut(&uid) {
            if matches!((version, entry.version), (Some(new), Some(known)) if new < known) {
                // A late event does not even say that: the object may be gone since.
                if source != Source::Watch {
                    entry.seen = now.tick();
                }
                return (Noted { tracked: Some(uid), ..noted }, state);
            }
            let stood = entry.standing();
            let was_written = entry.version.is_none() || entry.version != version;
            let observed = entry.observe(judgement, version, &self.lessons, now);
            state = observed.state;
            entry.note_event(source, observed.ack, now.tick());
            if !was_written && matches!(stood, Standing::Moving { .. }) && state == State::Pending {
                self.note_flip(source, uid, judgement, version);
            }
            if let Some(behind) = observed.caught_up {
                let is_undisturbed = self.undisturbed_since.is_some_and(|undisturbed| undisturbed <= behind.since);
                self.habits.acknowledged(behind, is_undisturbed, now.tick());
            }
            noted.ack = observed.ack;
            noted.pending_for = observed.pending_since.map(|since| self.measure(since, now.tick()));
            noted.tracked = (!observed.settled).then_some(uid);
            was_withdrawn = observed.withdrawn;
            if observed.settled {
                self.entries.remove(&uid);
                self.settled.add(uid, version);
            }
        } else if entry::is_tracked(judgement.state) && !self.is_outdated(source, uid, version) {
            let (mut entry, known) = Entry::new(judgement, version, self.not_yet(), &self.lessons, now);
            state = known;
            entry.note_event(source, false, now.tick());
            self.entries.insert(uid, entry);
            noted.tracked = Some(uid);
            self.note_flip(source, uid, judgement, version);
            self.drop_youngest(REMEMBERED + SLACK);
        }
        noted.ack |= !was_withdrawn && self.note_served(judgement, version);
        if noted.ack {
            self.last_ack = self.last_ack.max(Some(now.tick()));
        }
        (noted, state)
    }

    /// The object is no more. That is no acknowledgement: anybody may have removed it.
    pub fn gone(&mut self, uid: &str) {
        let entry = self.entries.remove(&Uid::of(uid));
        self.released += u64::from(entry.is_some_and(|entry| entry.is_held_deletion()));
    }

    /// When an object that is not remembered was last known not to be pending: when the newest complete list began,
    /// unless that list left some out.
    fn not_yet(&self) -> Option<Tick> {
        self.complete.filter(|complete| complete.left_out == 0).map(|complete| complete.began.tick())
    }

    /// Time from first seen to acknowledgement; remembered as a measure of the operator if nothing disturbed it.
    fn measure(&mut self, since: Tick, now: Tick) -> Duration {
        let duration = now.since(since);
        if self.undisturbed_since.is_some_and(|undisturbed| undisturbed <= since) {
            self.longest.add(now, duration);
        }
        duration
    }

    /// Moves served-through if the object is processed and was desired after the previous complete list began.
    ///
    /// The clocks of two API servers may differ, so the resourceVersion must be newer as well.
    fn note_served(&mut self, judgement: &Judgement, version: Option<u64>) -> bool {
        let Some(previous) = self.complete.filter(|_| judgement.state == State::Processed) else { return false };
        let is_newer = judgement.desired_at.is_some_and(|at| at > previous.began.wall)
            && matches!((version, previous.version), (Some(new), Some(known)) if new > known);
        let through = Some(previous.began.tick());
        let moves = is_newer && through > self.served_through;
        if moves {
            self.served_through = through;
        }
        moves
    }

    /// Remembers that nothing disturbed the operator since then; absent while a hold is on.
    pub(super) fn set_undisturbed_since(&mut self, since: Option<Tick>) {
        self.undisturbed_since = since;
    }
}

/// A resourceVersion as a number. Kubernetes 1.35 promises that they are for its own and for custom resources; of others
/// nothing is concluded.
fn version_of(text: Option<&str>) -> Option<u64> {
    text?.parse().ok()
}

#[cfg(test)]
mod tests;
