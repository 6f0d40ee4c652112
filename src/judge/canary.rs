//! The canary: an object made for this purpose whose desired state dogwatch changes every so often, to see whether the
//! operator notices also where nobody else changes anything.
//!
//! # How the shell drives this
//!
//! It calls [`Canary::begin`] with the life of the operator's container, then [`Canary::due`], does what that asks for and
//! reports it: before a change one reading ([`Canary::is_ready`]), the change ([`Canary::changed`]), readings while the
//! change is outstanding ([`Canary::looked`]); [`Canary::gone`] and [`Canary::failed`] where there is nothing to read.
//!
//! A change is evidence only after [`PROOFS`] acknowledgements within the same life of the container: the operator's
//! filter may leave the object out, its rule may not see such changes, others may take them back. What could not be
//! asked is no evidence, and there is never a second change before the first is acknowledged.

use std::time::Duration;

use super::ledger::Uid;
use super::state::{State, words};
use super::tick::Tick;

/// So many acknowledgements in a row prove that the operator serves the canary.
pub const PROOFS: u32 = 3;
/// From one reading of an outstanding change to the next, when nothing else has shown its acknowledgement.
const LOOK_EVERY: Duration = Duration::from_secs(5);
/// The same once it is outstanding for longer than [`SOON`].
const LOOK_SELDOM: Duration = Duration::from_secs(20);
const SOON: Duration = Duration::from_mins(1);
/// After a change that somebody has taken back: what dogwatch and a `GitOps` controller write in turn never ends.
const TRUCE: Duration = Duration::from_mins(10);

words! {
    /// Why the canary proves nothing. None of them is evidence.
    Problem {
        /// Its resource is not among those that are watched, or no rule was chosen for it yet.
        NotWatched = "not-watched",
        /// Under the resource's rule an annotation is no change of the desired state, and `canary.path` is not configured.
        NoPath = "no-path",
        /// There is no such object.
        NotFound = "not-found",
        /// The credentials do not allow to read, change or create it.
        Forbidden = "forbidden",
        /// An admission webhook, a policy or the schema refuses the change.
        Rejected = "rejected",
        /// The API server took the change and did not keep it: the schema has no such field, or a webhook undid it.
        NotKept = "not-kept",
        /// Somebody took the change back before it was acknowledged, as `GitOps` controllers do.
        Reverted = "reverted",
        /// The API server did not answer, or could not write.
        Unreachable = "unreachable",
        /// The operator has not processed the object as it was before any change of dogwatch.
        NotProcessed = "not-processed",
        /// The rule, the selector or `dogwatch/ignore` leaves the object out.
        LeftOut = "left-out",
        /// The rule cannot judge the object.
        Unreadable = "unreadable",
    }
}

/// The canary as one reading showed it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Reading<'r> {
    /// Which object it is.
    pub uid: Uid,
    /// What stands where dogwatch writes.
    pub value: Option<&'r str>,
    /// Its state.
    pub state: State,
    /// See [`super::state::Judgement::token`].
    pub token: u64,
}

/// What is to be done now.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Due {
    /// Nothing.
    Nothing,
    /// The object is to be changed, if it is ready.
    Change,
    /// It is to be read.
    Look,
}

/// What a reading of an outstanding change came to.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Looked {
    /// Nothing yet.
    Outstanding,
    /// The operator acknowledged it, after so long; absent where the change was made in another life of the container.
    Acknowledged(Option<Duration>),
    /// It proves nothing any more.
    Lost,
}

/// A change that is not acknowledged.
#[derive(Debug, Clone, PartialEq, Eq)]
struct Outstanding {
    value: String,
    uid: Uid,
    token: u64,
    at: Tick,
    looked: Tick,
    /// Made in an earlier life of the container, whose successor reads everything anew.
    is_void: bool,
}

/// The canary's memory.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Canary {
    /// From one change to the next.
    pub interval: Duration,
    life: Option<String>,
    uid: Option<Uid>,
    acks: u32,
    outstanding: Option<Outstanding>,
    next: Tick,
    problem: Option<Problem>,
}

impl Canary {
    /// A canary of which nothing is known. Its first change is due at once.
    pub const fn new(interval: Duration, now: Tick) -> Self {
        Self { interval, life: None, uid: None, acks: 0, outstanding: None, next: now, problem: None }
    }

    /// Takes in which life of the operator's container this is. In a new one nothing is proven yet.
    pub fn begin(&mut self, life: &str) {
        if self.life.as_deref() != Some(life) {
            self.life = Some(life.to_owned());
            self.acks = 0;
            if let Some(outstanding) = &mut self.outstanding {
                outstanding.is_void = true;
            }
        }
    }

    /// What is to be done now. `is_held`: nobody can expect an acknowledgement, or the operator is being restarted.
    /// `is_pending`: whether lists and the own watch still show the object as pending.
    pub fn due(&self, now: Tick, is_held: bool, is_pending: bool) -> Due {
        let Some(outstanding) = &self.outstanding else {
            return if now >= self.next && !is_held { Due::Change } else { Due::Nothing };
        };
        let is_young = now.since(outstanding.at) < SOON;
        let pause = if is_young { LOOK_EVERY } else { LOOK_SELDOM };
        let is_due = (!is_pending && is_young) || now >= outstanding.looked.after(pause);
        if is_due { Due::Look } else { Due::Nothing }
    }

    /// Whether the object, as it was just read, may be changed: it must be processed, or an acknowledgement of the change
    /// could not be told from one of what was wanted before.
    pub fn is_ready(&mut self, reading: &Reading<'_>, now: Tick) -> bool {
        self.meet(reading.uid);
        let problem = match reading.state {
            State::Processed | State::Failing => return true,
            State::Pending | State::InProgress => Problem::NotProcessed,
            State::Paused => Problem::LeftOut,
            State::Unknown => Problem::Unreadable,
        };
        self.failed(problem, now);
        false
    }

    /// The object was changed. `reading`: as the API server then showed it; `sent`: when the change was sent.
    pub fn changed(&mut self, value: &str, reading: &Reading<'_>, sent: Tick) {
        self.meet(reading.uid);
        if reading.value != Some(value) {
            self.lose(Problem::NotKept, sent);
            return;
        }
        self.problem = None;
        self.outstanding = Some(Outstanding {
            value: value.to_owned(),
            uid: reading.uid,
            token: reading.token,
            at: sent,
            looked: sent,
            is_void: false,
        });
    }

    /// An outstanding change was looked for.
    pub fn looked(&mut self, reading: &Reading<'_>, now: Tick) -> Looked {
        let Some(outstanding) = &mut self.outstanding else { return Looked::Lost };
        outstanding.looked = now;
        if reading.uid != outstanding.uid {
            self.meet(reading.uid);
            return Looked::Lost;
        }
        if reading.value != Some(outstanding.value.as_str()) {
            self.lose(Problem::Reverted, now);
            return Looked::Lost;
        }
        let is_acknowledged =
            reading.state == State::Processed || (reading.token != 0 && reading.token != outstanding.token);
        if !is_acknowledged {
            return Looked::Outstanding;
        }
        let (sent, is_void) = (outstanding.at, outstanding.is_void);
        self.outstanding = None;
        self.problem = None;
        self.next = sent.after(self.interval).max(now);
        if is_void {
            return Looked::Acknowledged(None);
        }
        self.acks = self.acks.saturating_add(1);
        Looked::Acknowledged(Some(now.since(sent)))
    }

    /// There is no such object.
    pub fn gone(&mut self, now: Tick) {
        (self.uid, self.outstanding, self.acks) = (None, None, 0);
        self.failed(Problem::NotFound, now);
    }

    /// It could not be asked for, or may not be changed. What was known stays known.
    pub fn failed(&mut self, problem: Problem, now: Tick) {
        self.problem = Some(problem);
        match &mut self.outstanding {
            Some(outstanding) => outstanding.looked = now,
            None => self.next = now.after(self.interval),
        }
    }

    /// Another object under the same name proves nothing of this one's changes.
    fn meet(&mut self, uid: Uid) {
        if self.uid != Some(uid) {
            self.acks = 0;
            self.outstanding = None;
        }
        self.uid = Some(uid);
    }

    fn lose(&mut self, problem: Problem, now: Tick) {
        (self.outstanding, self.acks, self.problem) = (None, 0, Some(problem));
        self.next = now.after(self.interval.max(TRUCE));
    }

    /// Which object it is, once it was read.
    pub const fn uid(&self) -> Option<Uid> {
        self.uid
    }

    /// How many changes the operator has acknowledged in this life of its container.
    pub const fn acks(&self) -> u32 {
        self.acks
    }

    /// Whether a missing acknowledgement would be evidence.
    pub const fn is_proven(&self) -> bool {
        self.acks >= PROOFS
    }

    /// When the change that is not acknowledged was made.
    pub fn outstanding(&self) -> Option<Tick> {
        self.outstanding.as_ref().map(|outstanding| outstanding.at)
    }

    /// The same as evidence: made in this life of the container, by an operator that is known to serve the canary.
    pub fn missed(&self) -> Option<Tick> {
        let outstanding = self.outstanding.as_ref().filter(|outstanding| !outstanding.is_void && self.is_proven());
        outstanding.map(|outstanding| outstanding.at)
    }

    /// Why it proves nothing now.
    pub const fn problem(&self) -> Option<Problem> {
        self.problem
    }
}

#[cfg(test)]
mod tests;
