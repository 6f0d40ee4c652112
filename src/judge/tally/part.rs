//! Counts of one kind of answers, and the oldest of the objects by name.

use std::cmp::Ordering;
use std::collections::BinaryHeap;

use jiff::Timestamp;

use super::{Finding, Keep, States};
use crate::judge::state::{Judgement, Reason, Since, State};

/// Counts, and the objects kept by name.
#[derive(Debug, Default)]
pub(super) struct Part {
    pub(super) states: States,
    pub(super) unknown: Vec<(Reason, u64)>,
    pub(super) overdue: u64,
    pub(super) oldest_pending: Option<Timestamp>,
    pub(super) oldest_candidate: Option<Timestamp>,
    pub(super) kept: BinaryHeap<Kept>,
    pub(super) left_out: u64,
}

/// Orders findings so that the youngest is the greatest, and leaves the heap first.
#[derive(Debug)]
pub(super) struct Kept(pub(super) Finding);

impl Kept {
    pub(super) fn key(&self) -> (Timestamp, u64) {
        (self.0.since.map_or(Timestamp::MAX, |since| since.at), self.0.position)
    }
}

impl PartialEq for Kept {
    fn eq(&self, other: &Self) -> bool {
        self.cmp(other) == Ordering::Equal
    }
}

impl Eq for Kept {}

impl PartialOrd for Kept {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl Ord for Kept {
    fn cmp(&self, other: &Self) -> Ordering {
        self.key().cmp(&other.key())
    }
}

impl Part {
    pub(super) fn count(&mut self, judgement: &Judgement, since: Option<Since>, overdue: bool) {
        self.states.add(judgement.state, 1);
        self.overdue += u64::from(overdue);
        if let (State::Unknown, Some(reason)) = (judgement.state, judgement.reason) {
            self.count_unknown(reason, 1);
        }
        if judgement.state == State::Pending {
            let at = since.map(|since| since.at);
            self.oldest_pending = earlier(self.oldest_pending, at);
            if overdue && judgement.excuse.is_none() {
                self.oldest_candidate = earlier(self.oldest_candidate, at);
            }
        }
    }

    fn count_unknown(&mut self, reason: Reason, count: u64) {
        match self.unknown.iter_mut().find(|(known, _)| *known == reason) {
            Some((_, total)) => *total += count,
            None => self.unknown.push((reason, count)),
        }
    }

    pub(super) fn keep(
        &mut self,
        since: Option<Since>,
        position: u64,
        limit: Option<usize>,
        finding: impl FnOnce() -> Finding,
    ) {
        if limit.is_some_and(|limit| self.kept.len() >= limit) {
            self.left_out += 1;
            let key = (since.map_or(Timestamp::MAX, |since| since.at), position);
            if self.kept.peek().is_none_or(|youngest| youngest.key() <= key) {
                return;
            }
            self.kept.pop();
        }
        self.kept.push(Kept(finding()));
    }

    /// Counts `other` in as it stands.
    pub(super) fn merge(&mut self, other: Self) {
        self.states.add_all(&other.states);
        self.overdue += other.overdue;
        self.oldest_pending = earlier(self.oldest_pending, other.oldest_pending);
        self.oldest_candidate = earlier(self.oldest_candidate, other.oldest_candidate);
        self.left_out += other.left_out;
        self.kept.extend(other.kept);
    }

    /// Counts all of `other` in as `unknown`, reason `no-signal`.
    pub(super) fn merge_unknown(&mut self, other: Self, keep: &Keep) {
        let total = other.states.total();
        self.states.add(State::Unknown, total);
        if total > 0 {
            self.count_unknown(Reason::NoSignal, total);
        }
        if !keep.states.contains(&State::Unknown) {
            return;
        }
        self.left_out += other.left_out;
        self.kept.extend(other.kept.into_iter().map(|Kept(finding)| {
            let answer = Judgement::without_signal();
            Kept(Finding {
                state: answer.state,
                reason: answer.reason,
                since: None,
                overdue: false,
                message: answer.message,
                ..finding
            })
        }));
    }
}

fn earlier(one: Option<Timestamp>, other: Option<Timestamp>) -> Option<Timestamp> {
    match (one, other) {
        (Some(one), Some(other)) => Some(one.min(other)),
        (one, other) => one.or(other),
    }
}
