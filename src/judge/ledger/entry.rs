//! What is remembered of one object that is not processed.

mod clock;
mod observe;

use super::habit::{Behind, Habits};
use super::sent;
use crate::judge::state::{Excuse, Judgement, Moment, Reason, State};
use crate::judge::tick::Tick;
pub(in crate::judge) use clock::{Clock, Renewed};

/// One object, without its name and without its content.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(in crate::judge) struct Entry {
    /// `metadata.resourceVersion` of the newest observation, where it is a number.
    pub(super) version: Option<u64>,
    /// See [`Judgement::token`]; 0 until an observation shows one.
    pub(super) token: u64,
    /// Fingerprint of the desired state.
    pub(super) desired: u64,
    /// Since when the ledger knows the object.
    pub(super) tracked: Tick,
    /// The newest observation.
    pub(super) seen: Tick,
    /// When the own watch delivered the oldest change that is not acknowledged; absent where only lists and GETs showed
    /// it.
    pub(super) event_seen: Option<Tick>,
    /// Runs while the object is pending; only an acknowledgement ends it.
    pub(super) clock: Option<Clock>,
    pub(super) standing: Standing,
    pub(super) marks: Marks,
    /// How the rule's signal lags; absent where it does not, or the rule does not tell.
    pub(super) behind: Option<Behind>,
}

/// How the object stood when it was last observed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(in crate::judge) enum Standing {
    /// The desired state is not acknowledged.
    Pending,
    /// `in-progress` or `failing`: acknowledged, and pending by itself from `deadline` on.
    Moving {
        /// When it turns pending.
        deadline: Option<Tick>,
        /// For `in-progress`: when its marker last moved.
        moved: Option<Tick>,
    },
    /// Nobody expects anything; the clock stands still since then.
    Paused(Tick),
    /// Could not be read; the clock runs on.
    Unreadable,
    /// Turned pending together with many others without having been written: the rule is wrong, not the operator.
    Mistrusted,
}

/// What is true of the object beside its standing.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
#[allow(clippy::struct_excessive_bools)] // independent facts, not a state
pub(in crate::judge) struct Marks {
    /// See [`Judgement::conditional`].
    pub(in crate::judge) conditional: bool,
    /// A deletion that no finalizer of the operator holds, or whose holder nobody knows.
    pub(in crate::judge) holder_unknown: bool,
    /// Annotated with `dogwatch/ignore`.
    pub(in crate::judge) ignored: bool,
    /// Pending only because the operator stopped moving: the clock began with that, and ends when it moves again.
    pub(super) stopped: bool,
    /// Turned pending in the list under way without having been written since the list before.
    pub(super) flipped: bool,
    /// The store went back in time: the next observation is taken as it is and proves nothing.
    pub(super) rebased: bool,
}

/// The fingerprint of a requested deletion, which is a desired state of its own.
pub(super) const DELETION: u64 = u64::MAX;

fn is_deletion(judgement: &Judgement) -> bool {
    judgement.reason == Some(Reason::DeletionNotProcessed)
}

/// The fingerprint of what is wanted; absent where the judgement does not tell.
fn desired(judgement: &Judgement) -> Option<u64> {
    match judgement.desired {
        _ if is_deletion(judgement) => Some(DELETION),
        0 => None,
        known => Some(known),
    }
}

/// Whether an object in this state is worth an entry. Paused and unreadable ones are only if they were pending before.
pub(super) fn is_tracked(state: State) -> bool {
    matches!(state, State::Pending | State::InProgress | State::Failing)
}

impl Entry {
    /// The entry of an object that was not remembered.
    ///
    /// `not_yet`: when it was last known not to be pending, as whatever is not remembered after a complete list.
    pub(super) fn new(
        judgement: &Judgement,
        version: Option<u64>,
        not_yet: Option<Tick>,
        habits: &Habits,
        now: Moment,
    ) -> (Self, State) {
        let mut entry = Self {
            version,
            token: judgement.token,
            desired: desired(judgement).unwrap_or_default(),
            tracked: now.tick(),
            seen: now.tick(),
            event_seen: None,
            clock: None,
            standing: Standing::Unreadable,
            marks: Marks::default(),
            behind: Behind::after(None, judgement, None, now),
        };
        let judgement = habits.read(judgement, entry.behind, now);
        entry.stand(&judgement, not_yet, now, false);
        (entry, judgement.state)
    }

    /// Takes in the state.
    fn stand(&mut self, judgement: &Judgement, not_yet: Option<Tick>, now: Moment, ack: bool) {
        let tick = now.tick();
        self.marks.conditional = judgement.conditional;
        self.marks.ignored = judgement.excuse == Some(Excuse::Ignored);
        self.marks.holder_unknown = is_deletion(judgement) && !judgement.held;
        if let Standing::Paused(since) = self.standing {
            self.clock = self.clock.map(|clock| clock.shifted(tick.since(since)));
        }
        match judgement.state {
            State::Pending => {
                let is_stopped = judgement.reason == Some(Reason::ProgressStopped);
                self.marks.stopped = is_stopped && (self.clock.is_none() || self.marks.stopped);
                self.clock = Some(self.started(judgement, not_yet, now, ack));
                self.standing = Standing::Pending;
            }
            State::InProgress | State::Failing => {
                let is_working = judgement.state == State::InProgress;
                // What is only learnt keeps the clock that ran until then in how the object is behind. Who stopped and
                // moves again had acknowledged the desired state before: each stop is waited for anew.
                if judgement.status_write.is_some() || self.marks.stopped {
                    self.clock = None;
                }
                self.standing = Standing::Moving {
                    deadline: judgement.until.map(|until| now.tick_at(until)),
                    moved: judgement.moved_at.filter(|_| is_working).map(|at| now.tick_at(at)),
                };
            }
            State::Paused => self.standing = Standing::Paused(tick),
            State::Unknown | State::Processed => self.standing = Standing::Unreadable,
        }
    }

    /// The clock of an object that is pending now: the one that runs, or a new one.
    fn started(&self, judgement: &Judgement, not_yet: Option<Tick>, now: Moment, ack: bool) -> Clock {
        let own = judgement.since.map(|since| now.tick_at(since.at));
        match (self.clock, ack) {
            (Some(clock), _) if clock.acked => clock,
            // A later change moves the object's own time; the earliest one counts until an acknowledgement.
            (Some(clock), _) => Clock { own: earlier(clock.own, own), ..clock },
            (None, true) => {
                Clock { first_seen: now.tick(), own: None, not_yet: None, renewed: None, acked: true, event: None }
            }
            (None, false) => {
                let is_stopped = judgement.reason == Some(Reason::ProgressStopped);
                let behind = self.behind.filter(|_| judgement.status_write.is_some() && !is_stopped);
                let known = behind.map(|behind| behind.since).or(self.deadline());
                let passed = known.map_or(now.tick(), |known| known.min(now.tick()));
                let event = sent::sent(judgement, own, not_yet, passed).filter(|_| self.deadline().is_none());
                Clock { first_seen: passed, own, not_yet, renewed: None, acked: false, event }
            }
        }
    }

    fn deadline(&self) -> Option<Tick> {
        match self.standing {
            Standing::Moving { deadline, .. } => deadline,
            _ => None,
        }
    }

    /// The clock, if the object is pending at `now`: observed so, or past its deadline.
    pub(in crate::judge) fn pending_clock(&self, now: Tick) -> Option<Clock> {
        match self.standing {
            Standing::Pending => self.clock,
            Standing::Moving { deadline: Some(deadline), .. } if deadline < now => Some(self.clock.unwrap_or(Clock {
                first_seen: deadline,
                own: Some(deadline),
                not_yet: None,
                renewed: None,
                acked: false,
                event: None,
            })),
            _ => None,
        }
    }

    /// Since when it is behind, and when its status was last written after the change that it does not acknowledge.
    pub(in crate::judge) fn written_behind(&self) -> Option<(Tick, Tick)> {
        self.behind.and_then(|behind| Some((behind.since, behind.written?)))
    }

    /// Whether it is behind since before `since` though its status was written after the change.
    pub(super) fn is_stuck(&self, since: Tick) -> bool {
        self.behind.is_some_and(|behind| behind.written.is_some() && behind.since < since)
    }

    /// When the change that it waits for was sent to whoever watches, at the earliest; after an acknowledgement the one
    /// that the own watch delivered since. `clock`: its own, as it is pending.
    pub(in crate::judge) fn event(&self, clock: &Clock) -> Option<Tick> {
        clock.event.or(self.event_seen.filter(|_| clock.acked))
    }

    /// How it stood when last observed.
    pub(in crate::judge) fn standing(&self) -> Standing {
        self.standing
    }

    /// What is true beside that.
    pub(in crate::judge) fn marks(&self) -> Marks {
        self.marks
    }

    /// Whether a deletion waits for the operator's finalizer to be removed.
    pub(super) fn is_held_deletion(&self) -> bool {
        self.desired == DELETION && self.standing == Standing::Pending && !self.marks.holder_unknown
    }

    /// Distrusts the object until it is written.
    pub(super) fn mistrust(&mut self) {
        self.standing = Standing::Mistrusted;
        self.clock = None;
        self.behind = None;
    }

    /// Forgets the version and trusts the next observation as it is, after the store went back in time.
    pub(super) fn rebase(&mut self) {
        self.version = None;
        self.marks.rebased = true;
        self.behind = None;
    }

    /// Where the entry stands when not all can be kept: pending ones first, then the oldest.
    pub(super) fn rank(&self) -> (bool, Tick, Tick) {
        let since = self.clock.map_or(self.tracked, |clock| clock.since());
        (self.clock.is_none(), self.tracked, since)
    }
}

fn earlier(one: Option<Tick>, other: Option<Tick>) -> Option<Tick> {
    match (one, other) {
        (Some(one), Some(other)) => Some(one.min(other)),
        (one, other) => one.or(other),
    }
}
