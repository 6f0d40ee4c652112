//! How the operator of one stream is used to acknowledge, learnt from what it did.
//!
//! The rule's signal, as `status.observedGeneration` is, lags behind on purpose in some operators: it is raised at the end
//! of long work, or on success only, while the status is written all the time. Others never raise it. In one look such an
//! object cannot be told from one whose operator works from a cache that stands still. What tells them apart is how it
//! ended before:
//!
//! * An object was behind, its status was written after the change, and then the same container acknowledged the change:
//!   one proof of `at-end`, or of `on-success` if the status reported a failure on the way. Proofs count only one after
//!   the other, each from a change that was first seen after the proof before, so that one fault that heals by itself
//!   is one proof at most, however many objects it held.
//! * No object has ever shown the acknowledgement of a change, and several are behind for long whose status was written
//!   after it: `never`. The same if no object ever shows the signal at all.
//!
//! What was learnt speaks only of objects whose status was written after the change, and only until a deadline that counts
//! from the first sight of the change: what an operator that has gone deaf leaves behind stays pending as ever.

use std::borrow::Cow;
use std::time::Duration;

use crate::judge::state::{Judgement, Moment, Reason, Since, SinceFrom, State, words};
use crate::judge::tick::Tick;

words! {
    /// A habit of acknowledging.
    Habit {
        /// Changes are not acknowledged in any way that the rule can read.
        Never = "never",
        /// Acknowledged once it succeeded; failures before that are written to the status.
        OnSuccess = "on-success",
        /// Acknowledged at the end of the work; progress before that is written to the status.
        AtEnd = "at-end",
    }
}

impl Habit {
    /// What it means, in one line for a person.
    pub const fn explained(self) -> &'static str {
        match self {
            Self::Never => {
                "changes are never acknowledged in what the rule reads; objects whose status is written after a change are \
                 unknown"
            }
            Self::OnSuccess => {
                "acknowledges once it succeeded; objects whose status reports a failure after the change are failing, up to \
                 a deadline"
            }
            Self::AtEnd => {
                "acknowledges at the end of its work; objects whose status is written after the change are in progress, up \
                 to a deadline"
            }
        }
    }
}

/// A habit that was learnt, and from what.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Learnt {
    /// The habit.
    pub habit: Habit,
    /// From so many acknowledgements; for `never`, from so many objects or lists.
    pub proofs: u32,
    /// How long an object may be behind while its status is written, beside `maxAttempt`; absent for `never`.
    pub allowance: Option<Duration>,
}

/// So many proofs teach a habit.
const ENOUGH: u32 = 3;
/// From so many old objects on, a list without any signal tells something.
pub(super) const SEVERAL: u64 = 3;
/// An acknowledgement may take so many times as long as the longest that was seen.
const SPARE: u32 = 2;
/// What was learnt stretches `maxAttempt` at most so many times: a wrong lesson must not hide a fault for long.
const LONGEST_ATTEMPTS: u32 = 4;

/// Proofs of one habit.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(super) struct Proofs {
    pub(super) count: u32,
    /// When the newest one was seen.
    pub(super) newest: Option<Tick>,
    /// The longest time from the first sight of a change to its acknowledgement.
    pub(super) longest: Duration,
}

impl Proofs {
    fn add(&mut self, since: Tick, now: Tick) {
        self.longest = self.longest.max(now.since(since));
        if self.newest.is_none_or(|newest| newest < since) {
            self.count = self.count.saturating_add(1);
            self.newest = Some(now);
        }
    }

    const fn is_enough(&self) -> bool {
        self.count >= ENOUGH
    }
}

/// What is known of the habits of one stream.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(super) struct Habits {
    pub(super) at_end: Proofs,
    pub(super) on_success: Proofs,
    /// Some object has shown the acknowledgement of a change.
    pub(super) shows_changes: bool,
    /// Objects that were behind for long, though their status was written, while no change was ever acknowledged.
    pub(super) stuck: u32,
    /// Complete lists in a row of which no object showed the signal, some being old enough to show it.
    pub(super) blank_lists: u32,
}

/// An object whose signal lags behind its desired state.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Behind {
    /// First sight of the oldest change that is not acknowledged. No later change moves it.
    pub(super) since: Tick,
    /// When that change was written, in milliseconds of the API server's clock.
    pub(super) changed: i64,
    /// The newest write of the status that is later than that.
    pub(super) written: Option<Tick>,
    /// Such a write has reported a failure.
    pub(super) has_failed: bool,
}

impl Behind {
    /// Takes in an observation that was no acknowledgement; nothing where the object is not behind, or does not tell.
    /// `first_seen`: since when it is pending.
    pub(super) fn after(
        known: Option<Self>,
        judgement: &Judgement,
        first_seen: Option<Tick>,
        now: Moment,
    ) -> Option<Self> {
        let Some(write) = judgement.status_write.filter(|_| judgement.state == State::Pending) else { return known };
        let mut behind = known.unwrap_or(Self {
            since: first_seen.unwrap_or(now.tick()),
            changed: judgement.desired_at.unwrap_or(now.wall).as_millisecond(),
            written: None,
            has_failed: false,
        });
        if write.at.as_millisecond() > behind.changed {
            behind.written = behind.written.max(Some(now.tick_at(write.at).min(now.tick())));
            behind.has_failed |= write.reports_failure;
        }
        Some(behind)
    }

    /// As if the change had been seen later, since nobody expected anything for `by`.
    pub(super) fn shifted(self, by: Duration) -> Self {
        Self { since: self.since.after(by), ..self }
    }
}

impl Habits {
    /// Takes note of what any object shows.
    pub(super) fn look(&mut self, judgement: &Judgement) {
        self.shows_changes |= judgement.shows_change;
    }

    /// A change was acknowledged for good. `is_undisturbed`: by the container that ran when it was first seen, no hold
    /// between.
    pub(super) fn acknowledged(&mut self, behind: Behind, is_undisturbed: bool, now: Tick) {
        if behind.written.is_none() || !is_undisturbed {
            return;
        }
        let proofs = if behind.has_failed { &mut self.on_success } else { &mut self.at_end };
        proofs.add(behind.since, now);
    }

    /// A complete list has ended: so many objects are stuck, and `is_blank` if none of several old ones showed the
    /// signal.
    pub(super) fn listed(&mut self, stuck: u32, is_blank: bool) {
        self.stuck = if self.shows_changes { 0 } else { self.stuck.max(stuck) };
        self.blank_lists = if is_blank { self.blank_lists.saturating_add(1) } else { 0 };
    }

    fn is_never(&self) -> bool {
        !self.shows_changes && self.stuck >= ENOUGH
    }

    /// Everything that was learnt so far.
    pub(super) fn learnt(&self) -> impl Iterator<Item = Learnt> + use<> {
        let lag = |habit, proofs: Proofs| {
            let allowance = Some(proofs.longest.saturating_mul(SPARE));
            proofs.is_enough().then_some(Learnt { habit, proofs: proofs.count, allowance })
        };
        let is_blank = self.blank_lists >= ENOUGH;
        let proofs = if self.is_never() { self.stuck } else { self.blank_lists };
        let never = Learnt { habit: Habit::Never, proofs, allowance: None };
        let never = (self.is_never() || is_blank).then_some(never);
        never.into_iter().chain(lag(Habit::OnSuccess, self.on_success)).chain(lag(Habit::AtEnd, self.at_end))
    }

    /// What an observation comes to by what was learnt.
    pub(super) fn read<'j>(&self, judgement: &'j Judgement, behind: Option<Behind>, now: Moment) -> Cow<'j, Judgement> {
        let write = judgement.status_write.filter(|_| judgement.state == State::Pending);
        let (Some(write), Some(behind)) = (write, behind) else { return Cow::Borrowed(judgement) };
        let Some(written) = behind.written else { return Cow::Borrowed(judgement) };
        if self.is_never() {
            let message = "the status is written and changes are never acknowledged in it";
            return Cow::Owned(Judgement {
                state: State::Unknown,
                reason: Some(Reason::NoSignal),
                since: None,
                message: message.into(),
                ..judgement.clone()
            });
        }
        let (state, reason, proofs) = match (self.at_end.is_enough(), self.on_success.is_enough(), behind.has_failed) {
            (_, true, true) => (State::Failing, Reason::ReportsFailure, self.on_success),
            (true, _, true) => (State::Failing, Reason::ReportsFailure, self.at_end),
            (true, _, false) => (State::InProgress, Reason::Working, self.at_end),
            (false, ..) => return Cow::Borrowed(judgement),
        };
        let learnt = proofs.longest.saturating_mul(SPARE).min(write.attempt.saturating_mul(LONGEST_ATTEMPTS));
        let deadline = behind.since.after(write.attempt.max(learnt));
        let is_stopped = now.tick() > deadline;
        let until = now.wall_at(deadline);
        let message = format!(
            "{}; learnt from {} acknowledgements that come after writes of the status{}",
            judgement.message,
            proofs.count,
            if is_stopped { ", but none takes that long" } else { "" }
        );
        let moving = Judgement {
            state,
            reason: Some(reason),
            until: Some(until),
            moved_at: Some(now.wall_at(written)),
            message: message.into(),
            ..judgement.clone()
        };
        if !is_stopped {
            return Cow::Owned(moving);
        }
        let since = Some(Since::new(until, SinceFrom::Deadline));
        Cow::Owned(Judgement {
            state: State::Pending,
            reason: Some(Reason::ProgressStopped),
            since,
            until: None,
            ..moving
        })
    }
}

#[cfg(test)]
mod tests;
