//! What one look at all objects of a resource tells: counts, the oldest offenders, and a diagnosis without history.
//!
//! A run of the sidecar remembers; a single look cannot. The newest acknowledgement that the objects themselves show
//! stands in for the memory, and a time that no object tells counts from now on.

mod part;

use std::borrow::Cow;
use std::time::Duration;

use jiff::Timestamp;

use super::object::Identity;
use super::rule::Rule;
use part::{Kept, Part};

use super::state::{Judgement, Reason, Signal, Since, SinceFrom, State, words};

words! {
    /// What can be said of one stream.
    Diagnosis {
        /// Candidates, and no acknowledgement for too long: a restart may help.
        Asleep = "asleep",
        /// Objects are overdue while others are served, or silence is still short.
        Partial = "partial",
        /// The API server's side is at fault.
        ServerStale = "server-stale",
        /// Could not be judged.
        Unknown = "unknown",
        /// Nothing is overdue.
        Healthy = "healthy",
    }
}

/// One object in a report.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Finding {
    /// `apiVersion` of the object, as far as it says.
    pub api_version: Option<Box<str>>,
    /// `kind` of the object, as far as it says.
    pub kind: Option<Box<str>>,
    /// Its namespace.
    pub namespace: Option<Box<str>>,
    /// Its name; empty where it has none.
    pub name: Box<str>,
    /// Its uid; empty where it has none.
    pub uid: Box<str>,
    /// The state.
    pub state: State,
    /// Why.
    pub reason: Option<Reason>,
    /// Since when; absent where neither the object nor its state tells.
    pub since: Option<Since>,
    /// Pending for longer than `overdueAfter`.
    pub overdue: bool,
    /// One line for a person.
    pub message: Cow<'static, str>,
    /// Position in the list.
    position: u64,
}

/// Which objects a tally keeps by name.
#[derive(Debug, Clone)]
pub struct Keep {
    /// Objects in these states.
    pub states: Vec<State>,
    /// At most so many, the oldest first; `None`: all, in the order of the list.
    pub limit: Option<usize>,
}

/// Counts by state.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct States([u64; State::ALL.len()]);

impl States {
    /// How many objects are in `state`.
    pub const fn of(&self, state: State) -> u64 {
        self.0[state as usize]
    }

    /// How many objects there are.
    pub fn total(&self) -> u64 {
        self.0.iter().sum()
    }

    pub(super) fn add(&mut self, state: State, count: u64) {
        self.0[state as usize] += count;
    }

    /// Counts `count` objects in `to` that were counted in `from`.
    pub(super) fn shift(&mut self, from: State, to: State, count: u64) {
        let moved = count.min(self.of(from));
        self.0[from as usize] -= moved;
        self.0[to as usize] += moved;
    }

    /// All of them together.
    pub fn sum<'s>(all: impl Iterator<Item = &'s Self>) -> Self {
        all.fold(Self::default(), |mut sum, states| {
            sum.add_all(states);
            sum
        })
    }

    /// Adds the counts of `other`.
    pub fn add_all(&mut self, other: &Self) {
        for state in State::ALL {
            self.add(*state, other.of(*state));
        }
    }
}

/// Counts the objects of one resource.
#[derive(Debug)]
pub struct Tally {
    now: Timestamp,
    overdue_after: Duration,
    asleep_after: Duration,
    keep: Keep,
    signal: Signal,
    settled: Part,
    /// Objects whose answer waits for the end, see [`Judgement::conditional`].
    conditional: Part,
    last_ack: Option<Timestamp>,
    position: u64,
}

/// What the look at one resource came to.
#[derive(Debug)]
pub struct Summary {
    /// Objects by state.
    pub states: States,
    /// Objects pending for longer than `overdueAfter`.
    pub overdue: u64,
    /// Since when the oldest pending object is pending.
    pub oldest_pending: Option<Timestamp>,
    /// The newest acknowledgement that the objects show.
    pub last_ack: Option<Timestamp>,
    /// The diagnosis.
    pub diagnosis: Diagnosis,
    /// Whether some object shows the rule's signal.
    pub signal_exists: bool,
    /// Why objects are `unknown`, most frequent first.
    pub unknown: Vec<(Reason, u64)>,
    /// The objects kept by name.
    pub findings: Vec<Finding>,
    /// How many of the states asked for were not kept.
    pub left_out: u64,
}

impl Tally {
    /// An empty tally. `now` is on the API server's clock.
    pub fn new(now: Timestamp, overdue_after: Duration, asleep_after: Duration, keep: Keep) -> Self {
        Self {
            now,
            overdue_after,
            asleep_after,
            keep,
            signal: Signal::default(),
            settled: Part::default(),
            conditional: Part::default(),
            last_ack: None,
            position: 0,
        }
    }

    /// Forgets everything, for a list that starts over.
    pub fn reset(&mut self) {
        let keep = Keep { states: std::mem::take(&mut self.keep.states), limit: self.keep.limit };
        *self = Self::new(self.now, self.overdue_after, self.asleep_after, keep);
    }

    /// How many objects were counted.
    pub const fn objects(&self) -> u64 {
        self.signal.objects
    }

    /// Whether the answer for some object depends on a signal that no object has shown so far.
    pub fn awaits_signal(&self, rule: &Rule) -> bool {
        self.conditional.states.total() > 0 && !rule.signal_exists(&self.signal)
    }

    /// Takes note that an object that is not counted shows the signal.
    pub const fn learn_signal(&mut self) {
        self.signal.signalled += 1;
    }

    /// Counts one object in.
    pub fn add(&mut self, identity: Identity<'_>, judgement: &Judgement) {
        self.signal.add(judgement, self.now, self.overdue_after);
        self.last_ack = self.last_ack.max(judgement.acked_at);
        self.position += 1;
        let since = judgement
            .since
            .or_else(|| (judgement.state == State::Pending).then_some(Since::new(self.now, SinceFrom::FirstSeen)));
        let overdue = judgement.state == State::Pending
            && since.is_some_and(|since| age(since.at, self.now) > self.overdue_after);
        let part = if judgement.conditional { &mut self.conditional } else { &mut self.settled };
        part.count(judgement, since, overdue);
        // Whether a conditional object is listed as pending or as unknown shows only at the end.
        let is_kept = self.keep.states.contains(&judgement.state)
            || (judgement.conditional && self.keep.states.contains(&State::Unknown));
        if is_kept {
            let finding = || Finding {
                api_version: identity.api_version.map(Box::from),
                kind: identity.kind.map(Box::from),
                namespace: identity.namespace.map(Box::from),
                name: identity.name.unwrap_or_default().into(),
                uid: identity.uid.unwrap_or_default().into(),
                state: judgement.state,
                reason: judgement.reason,
                since,
                overdue,
                message: judgement.message.clone(),
                position: self.position,
            };
            part.keep(since, self.position, self.keep.limit, finding);
        }
    }

    /// Ends the look. `is_complete` is false when objects may have been missed.
    pub fn finish(self, rule: &Rule, is_complete: bool) -> Summary {
        let signal_exists = rule.signal_exists(&self.signal);
        let mut part = self.settled;
        if signal_exists {
            part.merge(self.conditional);
        } else {
            part.merge_unknown(self.conditional, &self.keep);
        }
        let mut findings: Vec<Finding> = part.kept.into_iter().map(|kept| kept.0).collect();
        match self.keep.limit {
            None => findings.sort_by_key(|finding| finding.position),
            Some(limit) => {
                findings.sort_by_key(|finding| Kept(finding.clone()).key());
                part.left_out += findings.len().saturating_sub(limit) as u64;
                findings.truncate(limit);
            }
        }
        part.unknown.sort_by_key(|(_, count)| std::cmp::Reverse(*count));
        let silence = self.last_ack.max(part.oldest_candidate).map(|at| age(at, self.now));
        let is_silent = part.oldest_candidate.is_some_and(|oldest| self.last_ack.is_none_or(|ack| ack < oldest))
            && silence.is_some_and(|silence| silence > self.asleep_after);
        let judged = part.states.total() - part.states.of(State::Unknown);
        let diagnosis = match (is_silent, part.overdue) {
            (true, _) => Diagnosis::Asleep,
            (false, 1..) => Diagnosis::Partial,
            (false, 0) if !is_complete || (judged == 0 && part.states.total() > 0) => Diagnosis::Unknown,
            (false, 0) => Diagnosis::Healthy,
        };
        Summary {
            states: part.states,
            overdue: part.overdue,
            oldest_pending: part.oldest_pending,
            last_ack: self.last_ack,
            diagnosis,
            signal_exists,
            unknown: part.unknown,
            findings,
            left_out: part.left_out,
        }
    }
}

fn age(at: Timestamp, now: Timestamp) -> Duration {
    Duration::try_from(now.duration_since(at)).unwrap_or_default()
}

#[cfg(test)]
mod tests;
