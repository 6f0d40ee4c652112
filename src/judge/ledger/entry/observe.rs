//! What a newer observation does to an entry.

use std::borrow::Cow;

use super::{DELETION, Entry, Renewed, Standing, desired};
use crate::judge::ledger::habit::{Behind, Habits};
use crate::judge::state::{Judgement, Moment, Reason, State};
use crate::judge::tick::Tick;

/// What an observation did to an entry.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(in crate::judge::ledger) struct Observed {
    /// The state, by what was learnt of the operator.
    pub(in crate::judge::ledger) state: State,
    /// The operator acknowledged something.
    pub(in crate::judge::ledger) ack: bool,
    /// Since when the object had been pending when it was acknowledged.
    pub(in crate::judge::ledger) pending_since: Option<Tick>,
    /// How the object was behind, when the change was acknowledged for good.
    pub(in crate::judge::ledger) caught_up: Option<Behind>,
    /// Nothing is left to remember.
    pub(in crate::judge::ledger) settled: bool,
    /// Processed without the operator's doing: the change was taken back.
    pub(in crate::judge::ledger) withdrawn: bool,
}

impl Entry {
    /// Takes in a newer observation.
    pub(in crate::judge::ledger) fn observe(
        &mut self,
        judgement: &Judgement,
        version: Option<u64>,
        habits: &Habits,
        now: Moment,
    ) -> Observed {
        let last_seen = std::mem::replace(&mut self.seen, now.tick());
        let is_written = self.version.is_none() || self.version != version;
        if self.standing == Standing::Mistrusted && !is_written && judgement.state == State::Pending {
            return Observed {
                state: judgement.state,
                ack: false,
                pending_since: None,
                caught_up: None,
                settled: false,
                withdrawn: false,
            };
        }
        let trusts = is_written && !self.marks.rebased && judgement.state != State::Unknown;
        let token_moved = judgement.token != 0 && judgement.token != self.token;
        let is_processed = judgement.state == State::Processed;
        let was_waiting = match self.standing {
            Standing::Pending | Standing::Moving { .. } => true,
            Standing::Unreadable => self.clock.is_some(),
            Standing::Paused(_) | Standing::Mistrusted => false,
        };
        // The token moves when, and only when, the operator acknowledges. A change that ends without that was taken
        // back by whoever made it. What has no token can only be believed.
        let withdrawn = is_processed
            && !token_moved
            && judgement.token != 0
            && matches!(self.standing, Standing::Pending | Standing::Unreadable)
            && self.desired != DELETION
            && judgement.reason != Some(Reason::HeldByOthers);
        let ack = trusts && (token_moved || (is_processed && was_waiting && !withdrawn));
        // What is not acknowledged counts as waiting, whatever was learnt of it.
        let waits_since = self
            .behind
            .map(|behind| behind.since)
            .or_else(|| self.pending_clock(now.tick()).map(|clock| clock.first_seen));
        let caught_up = self.behind.filter(|_| ack && judgement.state != State::Pending);
        self.version = version;
        self.marks.rebased = false;
        self.renew(judgement, ack, last_seen, now);
        let judgement = self.read(judgement, ack, habits, now);
        self.stand(&judgement, Some(last_seen), now, ack);
        let pending_since = waits_since.filter(|_| ack);
        Observed { state: judgement.state, ack, pending_since, caught_up, settled: is_processed, withdrawn }
    }

    /// The judgement by what was learnt, and what it says of how the object is behind.
    fn read<'j>(&mut self, judgement: &'j Judgement, ack: bool, habits: &Habits, now: Moment) -> Cow<'j, Judgement> {
        if let (Standing::Paused(since), Some(behind)) = (self.standing, self.behind) {
            self.behind = Some(behind.shifted(now.tick().since(since)));
        }
        let known = self.behind.filter(|_| !ack);
        self.behind = Behind::after(known, judgement, self.clock.map(|clock| clock.first_seen), now);
        habits.read(judgement, self.behind, now)
    }

    /// Takes in the fingerprints: a newer desired state does not touch the clock, an acknowledgement ends it.
    fn renew(&mut self, judgement: &Judgement, ack: bool, last_seen: Tick, now: Moment) {
        if judgement.state != State::Unknown && judgement.token != 0 {
            self.token = judgement.token;
        }
        let is_renewed = desired(judgement).is_some_and(|wanted| wanted != self.desired);
        self.desired = desired(judgement).unwrap_or(self.desired);
        if ack {
            self.clock = None;
        }
        if let (Some(clock), true) = (&mut self.clock, is_renewed) {
            let own = judgement.desired_at.map(|at| now.tick_at(at).max(last_seen));
            clock.renewed = Some(Renewed { seen: now.tick(), own });
        }
    }
}
