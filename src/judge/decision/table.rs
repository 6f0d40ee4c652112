//! The table of decisions: from where, on what, to where. Nothing else moves the decision.
//!
//! [`next`] is section "Deciding" of the design, row by row and in its order. What the columns mean is computed in
//! `facts.rs`; what a row causes beside the new decision stands in [`Transition::event`] and [`Transition::outcome`].

use super::{Blindness, Decision, Outcome, Withheld};

/// What a row may ask. What has no meaning in the present decision is false.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
#[allow(clippy::struct_excessive_bools)] // the columns of a table
pub(super) struct Facts {
    /// Gate open; own Pod read or probe configured; each resource has a complete list or a documented reason.
    pub(super) is_ready: bool,
    /// A restart was under way when dogwatch stopped.
    pub(super) is_resuming: bool,
    /// Why nothing can be seen.
    pub(super) blind: Option<Blindness>,
    /// Another replica leads, or none.
    pub(super) leads_elsewhere: bool,
    /// Some stream that may restart the operator is asleep and has no hold.
    pub(super) has_sleeper: bool,
    /// The stream that the decision is about is asleep.
    pub(super) is_asleep: bool,
    /// That stream has a hold.
    pub(super) is_held: bool,
    /// Held for `confirm` and jitter, a complete list begun in it, and at least three re-reads agree.
    pub(super) is_confirmed: bool,
    /// Why a confirmed suspicion must wait all the same.
    pub(super) withheld: Option<Withheld>,
    /// Budget and minGap allow a restart.
    pub(super) is_allowed: bool,
    /// The container's id changed, or it does not run.
    pub(super) has_left: bool,
    /// `failureThreshold` 500s were given in a row, or the time for them has passed.
    pub(super) was_told: bool,
    /// An acknowledgement since the restart was requested; in `recovering`, by the new container.
    pub(super) is_acked: bool,
    /// A hold other than "container not running".
    pub(super) is_held_otherwise: bool,
    /// The same container after terminationGrace and three periods.
    pub(super) is_unmoved: bool,
    /// Grace and asleepAfter after the new container's start.
    pub(super) is_overtime: bool,
}

/// A row of the table.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Transition {
    /// `starting` to `watching`: everything was seen once.
    Begin,
    /// `starting` to `recovering`: the restart that was under way when dogwatch stopped still needs its outcome.
    Resume,
    /// `watching` to `suspect`: a stream is asleep.
    Suspect,
    /// `suspect` to `watching`: no longer asleep, or a hold.
    Dismiss,
    /// `suspect` stays: a restart is due and withheld.
    Withhold(Withheld),
    /// `suspect` to `restarting`.
    Restart,
    /// `suspect` to `exhausted`: a restart is due and budget or minGap do not allow it.
    Exhaust,
    /// `restarting` to `watching`: acknowledged, or a hold.
    Cancel,
    /// `restarting` to `recovering`: the kubelet has acted or must be about to.
    HandOver,
    /// `recovering` to `watching`: the container lives on.
    NotSeen,
    /// `recovering` to `watching`: the new container acknowledges.
    Cure,
    /// `recovering` to `watching`: the new container acknowledges nothing.
    Fail,
    /// `exhausted` to `watching`: not asleep, or a hold.
    Relax,
    /// `exhausted` to `suspect`: budget and minGap allow again.
    Retry,
    /// `watching`, `suspect` or `exhausted` to `standby`: not the leader.
    StandBy,
    /// The same to `blind`: nothing can be seen.
    GoBlind(Blindness),
    /// `standby` or `blind` to `watching`; silence begins anew.
    Return,
}

/// The row that applies, if any.
pub(super) fn next(from: Decision, is: &Facts) -> Option<Transition> {
    use Transition as Row;
    let on = |condition: bool, row: Row| condition.then_some(row);
    match from {
        Decision::Starting => on(is.is_ready, if is.is_resuming { Row::Resume } else { Row::Begin }),

        Decision::Watching => leave(is).or(on(is.has_sleeper, Row::Suspect)),

        Decision::Suspect => leave(is)
            .or(on(!is.is_asleep || is.is_held, Row::Dismiss))
            .or(is.withheld.filter(|_| is.is_confirmed).map(Row::Withhold))
            .or(on(is.is_confirmed && is.is_allowed, Row::Restart))
            .or(on(is.is_confirmed && !is.is_allowed, Row::Exhaust)),

        // A kill that has happened, or can no longer be called back, comes before any reason to call it back.
        Decision::Restarting => {
            on(is.has_left || is.was_told, Row::HandOver).or(on(is.is_acked || is.is_held_otherwise, Row::Cancel))
        }

        Decision::Recovering => {
            on(is.is_acked, Row::Cure).or(on(is.is_unmoved, Row::NotSeen)).or(on(is.is_overtime, Row::Fail))
        }

        Decision::Exhausted => {
            leave(is).or(on(!is.is_asleep || is.is_held, Row::Relax)).or(on(is.is_allowed, Row::Retry))
        }

        Decision::Standby => on(!is.leads_elsewhere || is.blind.is_some(), Row::Return),
        Decision::Blind => on(is.blind.is_none(), Row::Return),
    }
}

/// The last row: what `watching`, `suspect` and `exhausted` leave for whatever else is true.
fn leave(is: &Facts) -> Option<Transition> {
    is.blind.map(Transition::GoBlind).or(is.leads_elsewhere.then_some(Transition::StandBy))
}

impl Transition {
    /// The row's name in logs and `/status`.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Begin => "begin",
            Self::Resume => "resume",
            Self::Suspect => "suspect",
            Self::Dismiss => "dismiss",
            Self::Withhold(_) => "withhold",
            Self::Restart => "restart",
            Self::Exhaust => "exhaust",
            Self::Cancel => "cancel",
            Self::HandOver => "hand-over",
            Self::NotSeen => "not-seen",
            Self::Cure => "cure",
            Self::Fail => "fail",
            Self::Relax => "relax",
            Self::Retry => "retry",
            Self::StandBy => "stand-by",
            Self::GoBlind(_) => "go-blind",
            Self::Return => "return",
        }
    }

    /// The decision that it leads to.
    pub const fn to(self) -> Decision {
        match self {
            Self::Begin
            | Self::Dismiss
            | Self::Cancel
            | Self::NotSeen
            | Self::Cure
            | Self::Fail
            | Self::Relax
            | Self::Return => Decision::Watching,
            Self::Suspect | Self::Withhold(_) | Self::Retry => Decision::Suspect,
            Self::Restart => Decision::Restarting,
            Self::HandOver | Self::Resume => Decision::Recovering,
            Self::Exhaust => Decision::Exhausted,
            Self::StandBy => Decision::Standby,
            Self::GoBlind(_) => Decision::Blind,
        }
    }

    /// The outcome that it gives to the restart under way. Exactly these rows end one.
    pub const fn outcome(self) -> Option<Outcome> {
        match self {
            Self::Cancel => Some(Outcome::Cancelled),
            Self::NotSeen => Some(Outcome::NotSeen),
            Self::Cure => Some(Outcome::Cured),
            Self::Fail => Some(Outcome::Fruitless),
            _ => None,
        }
    }

    /// The Event that tells of it.
    pub const fn event(self) -> Option<super::EventReason> {
        use super::EventReason as Event;
        match self {
            Self::Suspect | Self::Retry => Some(Event::OperatorSuspect),
            Self::Restart => Some(Event::OperatorAsleep),
            Self::HandOver => Some(Event::OperatorRestarted),
            Self::Dismiss | Self::Relax | Self::Cancel | Self::Cure => Some(Event::OperatorRecovered),
            Self::NotSeen | Self::Fail => Some(Event::RestartHadNoEffect),
            Self::Exhaust => Some(Event::RestartBudgetExhausted),
            Self::GoBlind(_) => Some(Event::Blind),
            Self::Begin | Self::Resume | Self::Withhold(_) | Self::StandBy | Self::Return => None,
        }
    }
}

#[cfg(test)]
mod tests;
