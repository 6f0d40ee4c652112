//! Lists: absence, mass flips and stores that went back in time can be concluded from whole lists only.

use std::time::Duration;

use jiff::Timestamp;

use super::{
    Judgement, Ledger, Moment, REMEMBERED, Reading, Reason, Source, State, States, Tick, Uid, habit, version_of,
};
use crate::judge::state::Signal;

/// From so many objects on a flip can be the rule's fault.
const MASS: u64 = 10;
/// One failure after so many explains why there is no list.
const ENOUGH_FAILURES: u8 = 2;

/// How a list ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ListEnd<'a> {
    /// Everything was read. `version`: the resourceVersion of the list.
    Complete {
        /// `metadata.resourceVersion` of the list.
        version: Option<&'a str>,
    },
    /// It failed part-way. What was seen counts, absence does not.
    Partial,
    /// The API server says that there is nothing to read here (401, 403, 404): a documented reason.
    Refused,
}

/// The store's resourceVersion went back: it was restored to an older state.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Regression {
    /// Of the complete list before.
    pub from: u64,
    /// Of this one.
    pub to: u64,
}

/// What the end of a list brought to light.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Listed {
    /// Remembered objects that are no more.
    pub vanished: u64,
    /// The resourceVersion went backwards.
    pub regression: Option<Regression>,
    /// Objects that turned pending together and are distrusted until they are written.
    pub mistrusted: u64,
}

/// A list under way.
#[derive(Debug, Clone, Copy)]
pub(super) struct Listing {
    began: Moment,
    overdue_after: Duration,
    signal: Signal,
    states: States,
    conditional: u64,
    flipped: u64,
    pub(super) dropped: u64,
    shown_ack: Option<Timestamp>,
}

impl Reading {
    /// A stream that cannot be read must not keep dogwatch from watching the others.
    fn after_failure(self, end: ListEnd<'_>) -> Self {
        match self {
            Self::Complete => Self::Complete,
            _ if end == ListEnd::Refused => Self::Explained,
            Self::Explained | Self::Never(ENOUGH_FAILURES..) | Self::NeverSinceReload(ENOUGH_FAILURES..) => {
                Self::Explained
            }
            Self::Never(failures) => Self::Never(failures + 1),
            Self::NeverSinceReload(failures) => Self::NeverSinceReload(failures + 1),
        }
    }
}

/// What is kept of the newest complete list.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Complete {
    pub(super) began: Moment,
    pub(super) ended: Tick,
    pub(super) version: Option<u64>,
    pub(super) states: States,
    /// Those of `states` that are pending only if the rule's signal exists.
    pub(super) conditional: u64,
    pub(super) left_out: u64,
}

impl Complete {
    pub(super) fn states(&self, signal_exists: bool) -> States {
        let mut states = self.states;
        states.add(if signal_exists { State::Pending } else { State::Unknown }, self.conditional);
        states
    }
}

impl Listing {
    /// `state`: what the judgement comes to by what was learnt of the operator.
    pub(super) fn count(&mut self, judgement: &Judgement, state: State) {
        self.signal.add(judgement, self.began.wall, self.overdue_after);
        if judgement.conditional {
            self.conditional += 1;
        } else {
            self.states.add(state, 1);
        }
        if judgement.state == State::Processed {
            self.shown_ack = self.shown_ack.max(judgement.acked_at);
        }
    }

    fn total(&self) -> u64 {
        self.states.total() + self.conditional
    }
}

impl Ledger {
    /// Begins a list; one that was under way counts as failed.
    ///
    /// `overdue_after` separates old objects from young ones where the rule asks whether its signal exists at all.
    pub fn begin_list(&mut self, overdue_after: Duration, now: Moment) {
        self.settle_flips();
        self.lessons = self.habits;
        self.listing = Some(Listing {
            began: now,
            overdue_after,
            signal: Signal::default(),
            states: States::default(),
            conditional: 0,
            flipped: 0,
            dropped: 0,
            shown_ack: None,
        });
    }

    /// Ends the list under way. `signal_exists`: [`crate::judge::rule::Rule::signal_exists`] of the stream's rule; once
    /// it held for a complete list it holds for ever.
    pub fn end_list(&mut self, end: ListEnd<'_>, now: Moment, signal_exists: impl FnOnce(&Signal) -> bool) -> Listed {
        let mistrusted = self.settle_flips();
        let Some(mut listing) = self.listing.take() else { return Listed::default() };
        let ListEnd::Complete { version } = end else {
            self.reading = self.reading.after_failure(end);
            self.drop_youngest(REMEMBERED);
            self.lessons = self.habits;
            return Listed { mistrusted, ..Listed::default() };
        };
        let version = version_of(version);
        let regression = self.regression(version);
        let (vanished, released) = self.forget_unseen(listing.began.tick(), version.filter(|_| regression.is_none()));
        // In a store that went back nothing has come to its end.
        self.released += if regression.is_none() { released } else { 0 };
        self.settled.list_ended(version);
        if regression.is_some() {
            self.entries.values_mut().for_each(super::Entry::rebase);
            self.settled.clear();
        }
        self.signal_exists |= signal_exists(&listing.signal);
        self.learn(&listing, now);
        listing.dropped += self.drop_youngest(REMEMBERED);
        self.shown_ack = self.shown_ack.max(listing.shown_ack);
        self.settle_nudges();
        self.reading = Reading::Complete;
        let mut complete = Complete {
            began: listing.began,
            ended: now.tick(),
            version,
            states: listing.states,
            conditional: listing.conditional,
            left_out: listing.dropped,
        };
        let distrusted = self.entries.values().filter(|entry| entry.standing == super::Standing::Mistrusted).count();
        complete.states.shift(State::Pending, State::Unknown, distrusted as u64);
        self.complete = Some(complete);
        Listed { vanished, regression, mistrusted }
    }

    /// Learns what only a whole list tells.
    fn learn(&mut self, listing: &Listing, now: Moment) {
        let since = now.tick().before(listing.overdue_after);
        let stuck = self.entries.values().filter(|entry| entry.is_stuck(since)).count();
        let old = listing.signal.objects - listing.signal.young;
        let is_blank = !self.signal_exists && listing.signal.signalled == 0 && old >= habit::SEVERAL;
        self.habits.listed(u32::try_from(stuck).unwrap_or(u32::MAX), is_blank);
        self.lessons = self.habits;
    }

    fn regression(&self, version: Option<u64>) -> Option<Regression> {
        match (self.complete.and_then(|complete| complete.version), version) {
            (Some(from), Some(to)) if to < from => Some(Regression { from, to }),
            _ => None,
        }
    }

    /// Forgets what the list did not show. What the watch showed since the list began may be younger than the list; so may
    /// what is newer than `version`, of which the list could not know. That is given one list more and no longer: not
    /// every API compares the versions of lists with those of objects.
    ///
    /// Returns how many those were, and how many of them were deletions that the operator held.
    fn forget_unseen(&mut self, began: Tick, version: Option<u64>) -> (u64, u64) {
        let previous = self.complete.map(|complete| complete.began.tick());
        let (mut vanished, mut released) = (0, 0);
        self.entries.retain(|_, entry| {
            let is_newer = matches!((entry.version, version), (Some(known), Some(listed)) if known > listed);
            let is_kept = entry.seen >= began || (is_newer && previous.is_some_and(|previous| entry.seen >= previous));
            vanished += u64::from(!is_kept);
            released += u64::from(!is_kept && entry.is_held_deletion());
            is_kept
        });
        (vanished, released)
    }

    /// Notes an object that the list shows pending though nobody wrote it since the previous complete list.
    pub(super) fn note_flip(&mut self, source: Source, uid: Uid, judgement: &Judgement, version: Option<u64>) {
        let (Source::List, Some(listing), Some(previous)) = (source, &mut self.listing, &self.complete) else { return };
        let counts = judgement.state == State::Pending
            && !matches!(judgement.reason, Some(Reason::ProgressStopped | Reason::DeletionNotProcessed))
            && (self.signal_exists || !judgement.conditional);
        let is_old = matches!((version, previous.version), (Some(version), Some(known)) if version <= known);
        if let (true, true, Some(entry)) = (counts, is_old, self.entries.get_mut(&uid)) {
            entry.marks.flipped = true;
            listing.flipped += 1;
        }
    }

    /// Distrusts what flipped in the list under way if it was a mass, and forgets the marks.
    fn settle_flips(&mut self) -> u64 {
        let Some(listing) = &mut self.listing else { return 0 };
        // What was left out before is new in every list and has not flipped.
        let previous = self.complete.map_or((0, 0), |complete| (complete.left_out, complete.states(true).total()));
        let flipped = std::mem::take(&mut listing.flipped).saturating_sub(previous.0);
        let is_mass = flipped >= MASS && flipped.saturating_mul(2) >= listing.total().max(previous.1);
        let mut mistrusted = 0;
        for entry in self.entries.values_mut().filter(|entry| entry.marks.flipped) {
            entry.marks.flipped = false;
            if is_mass {
                entry.mistrust();
                mistrusted += 1;
            }
        }
        mistrusted
    }

    /// Keeps `limit` entries and returns how many were dropped. Which ones stay does not depend on the order of objects.
    pub(super) fn drop_youngest(&mut self, limit: usize) -> u64 {
        let surplus = self.entries.len().saturating_sub(limit);
        if surplus == 0 {
            return 0;
        }
        let mut ranked: Vec<_> = self.entries.iter().map(|(uid, entry)| (entry.rank(), *uid)).collect();
        let kept = REMEMBERED.min(limit);
        ranked.select_nth_unstable(kept);
        for (_, uid) in &ranked[kept..] {
            self.entries.remove(uid);
        }
        let dropped = (ranked.len() - kept) as u64;
        match (&mut self.listing, &mut self.complete) {
            (Some(listing), _) => listing.dropped += dropped,
            // What an event pushed out is not known to be processed either.
            (None, Some(complete)) => complete.left_out += dropped,
            (None, None) => {}
        }
        dropped
    }
}
