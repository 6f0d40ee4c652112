//! The lease as a stream: ours by name and not renewed.

use std::time::Duration;

use super::{Leadership, Policy};
use crate::judge::diagnosis::{Diagnosis, Explanation, Hold, HoldEnd, enough};
use crate::judge::tally::States;
use crate::judge::tick::Tick;

/// The name of the stream that a lease makes.
pub const LEASE: &str = "lease";
/// A lease not renewed for so many of its durations is asleep.
const MISSED_DURATIONS: u32 = 2;

/// What is remembered of the lease. Its times are the holder's, so only that they change is believed.
#[derive(Debug, Clone)]
pub(super) struct LeaseWatch {
    ours: Option<Ours>,
    hold: HoldEnd,
    pub(super) fruitless: u32,
}

#[derive(Debug, Clone, Copy)]
struct Ours {
    since: Tick,
    renewal: u64,
    duration: Duration,
    /// When the renewal was last seen to change; absent until then.
    renewed: Option<Tick>,
}

impl LeaseWatch {
    pub(super) fn new(fruitless: u32) -> Self {
        Self { ours: None, hold: HoldEnd::Never, fruitless }
    }

    /// Takes in what was last read. A lease that cannot be read leaves what is known.
    pub(super) fn observe(&mut self, leadership: Leadership, now: Tick) {
        match (leadership, &mut self.ours) {
            (Leadership::Ours { renewal, duration }, Some(ours)) => {
                if ours.renewal != renewal {
                    ours.renewed = Some(now);
                }
                ours.renewal = renewal;
                ours.duration = duration;
            }
            (Leadership::Ours { renewal, duration }, none) => {
                *none = Some(Ours { since: now, renewal, duration, renewed: None });
            }
            (Leadership::NotNeeded | Leadership::Elsewhere, ours) => *ours = None,
            (Leadership::Unreadable, _) => {}
        }
    }

    /// Since when the lease is ours by name.
    pub(super) fn ours_since(&self) -> Option<Tick> {
        self.ours.map(|ours| ours.since)
    }

    /// The lease's own explanation; absent where no lease is ours.
    pub(super) fn explain(
        &mut self,
        holds: &[Hold],
        held_until: Option<Tick>,
        started: Tick,
        policy: &Policy,
        now: Tick,
    ) -> Option<Explanation> {
        let grace_ends = started.after(policy.grace);
        let is_in_grace = now < grace_ends && !holds.contains(&Hold::NotRunning);
        self.hold.update(is_in_grace, now);
        let ours = self.ours?;
        let is_held = is_in_grace || !holds.is_empty();
        let held_until = held_until.max(self.hold.at(now));
        let served = ours.renewed.unwrap_or(ours.since);
        let asleep_after = ours.duration.saturating_mul(MISSED_DURATIONS);
        let is_overdue = now >= served.after(asleep_after);
        let silent_since = served.max(held_until.unwrap_or(served));
        let falls_asleep_at = silent_since.after(asleep_after);
        let enough = enough(1, self.fruitless);
        let is_asleep = !is_held && now >= falls_asleep_at && enough == 1;
        let diagnosis = match (is_asleep, is_overdue) {
            (true, _) => Diagnosis::Asleep,
            (false, true) => Diagnosis::Partial,
            (false, false) => Diagnosis::Healthy,
        };
        let turns = [served.after(asleep_after), falls_asleep_at, grace_ends];
        Some(Explanation {
            stream: LEASE.to_owned(),
            diagnosis,
            states: States::default(),
            pending: u64::from(is_overdue),
            overdue: u64::from(is_overdue),
            offenders: Vec::new(),
            left_out: 0,
            oldest_pending: is_overdue.then_some(served),
            candidates: u64::from(is_overdue),
            enough,
            excused: Vec::new(),
            oldest: Vec::new(),
            silent_since: (is_overdue && !is_held).then_some(silent_since),
            asleep_after,
            last_ack: ours.renewed,
            holds: holds.iter().copied().chain(is_in_grace.then_some(Hold::Grace)).collect(),
            held_until,
            is_proven: true,
            may_restart: true,
            listed_from: None,
            in_flight_until: None,
            fruitless: self.fruitless,
            released: 0,
            habits: Vec::new(),
            changes_at: turns.into_iter().filter(|at| *at > now).min(),
        })
    }
}
