//! What kopf's progress records say, and until when it may be believed.
//!
//! kopf writes a record per handler after an attempt, and only where a handling cycle takes more than one. It never
//! writes that an attempt begins, so an attempt that runs and a lost event look the same; only time tells them apart.

use std::time::Duration;

use jiff::Timestamp;

use super::fingerprint;
use crate::judge::object::time;
use crate::judge::object::tree::Tree;
use crate::judge::state::{Judgement, Reason, Since, SinceFrom, State};

/// How late kopf may wake up.
const WAKE_UP: Duration = Duration::from_mins(1);
/// kopf cuts every sleep at 600 s and touches the object then; with the time to do so.
const HEARTBEAT: Duration = Duration::from_mins(11);

/// The fields that are read of a record.
pub(super) const FIELDS: [&str; 7] = ["started", "stopped", "delayed", "purpose", "retries", "success", "failure"];

/// The cause that a record belongs to.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Purpose {
    Create,
    Update,
    Resume,
    Delete,
    /// Not said, as before 0.28.2, or not known.
    Unsaid,
}

/// The progress of one handler.
#[derive(Debug, Clone)]
pub(super) struct Record<'t> {
    /// The handler's id, or what the annotation's name keeps of it.
    pub(super) handler: &'t str,
    /// The annotation's prefix; absent where the record stands in the status.
    pub(super) prefix: Option<&'t str>,
    /// A fingerprint of the record without its handler.
    pub(super) value: u64,
    pub(super) purpose: Purpose,
    started: Option<Timestamp>,
    stopped: Option<Timestamp>,
    delayed: Option<Timestamp>,
    is_finished: bool,
}

/// What is known beside the records.
#[derive(Debug, Clone, Copy)]
pub(super) struct Clock {
    pub(super) now: Timestamp,
    /// The newest write by kopf, touches included.
    pub(super) written_at: Option<Timestamp>,
    /// The newest desired state: creation, deletion or a write by somebody else.
    pub(super) desired_at: Option<Timestamp>,
    pub(super) max_attempt: Duration,
}

impl<'t> Record<'t> {
    /// Reads a record, of which `value` is the fingerprint; `None` where the value is not one. A time that is none counts as absent.
    pub(super) fn read(handler: &'t str, prefix: Option<&'t str>, value: u64, record: &Tree<'_>) -> Option<Self> {
        if record.get("started").is_none() && record.get("retries").is_none() {
            return None;
        }
        let at = |key: &str| record.get(key).and_then(time);
        let is_true = |key: &str| record.get(key).is_some_and(Tree::is_true);
        Some(Self {
            handler,
            prefix,
            value,
            purpose: match record.get("purpose").and_then(Tree::as_str) {
                Some("create") => Purpose::Create,
                Some("update") => Purpose::Update,
                Some("resume") => Purpose::Resume,
                Some("delete") => Purpose::Delete,
                _ => Purpose::Unsaid,
            },
            started: at("started"),
            stopped: at("stopped"),
            delayed: at("delayed"),
            is_finished: is_true("success") || is_true("failure"),
        })
    }

    /// Changes with the record.
    pub(super) fn fingerprint(&self) -> u64 {
        fingerprint::join(fingerprint::of_text(self.handler), self.value)
    }

    /// The newest time in the record at which kopf must have been at work.
    pub(super) fn moved_at(&self) -> Option<Timestamp> {
        self.started.max(self.stopped)
    }

    fn is_waiting(&self, now: Timestamp) -> bool {
        self.delayed.is_some_and(|delayed| delayed > now)
    }
}

/// The answer that the records of the given purposes support, or `None` where none of them is unfinished or all are
/// leftovers: their time is over, and the desired state is newer than that.
pub(super) fn conclude(records: &[Record<'_>], purposes: &[Purpose], clock: Clock) -> Option<Judgement> {
    let records: Vec<_> = records.iter().filter(|record| purposes.contains(&record.purpose)).collect();
    let live: Vec<_> = records.iter().copied().filter(|record| !record.is_finished).collect();
    let newest = records.iter().filter_map(|record| record.moved_at()).max();
    let moved_at = clock.written_at.max(newest.map(|at| at.min(clock.now)));
    let until = deadline(&live, moved_at, clock);
    if until.is_some_and(|until| until < clock.now && clock.desired_at.is_some_and(|desired| desired > until)) {
        return None;
    }
    // The one that kopf will turn to next, or has turned to.
    let next = live.iter().min_by_key(|record| record.delayed)?;
    let others = match live.len() - 1 {
        0 => String::new(),
        count => format!(" and {count} more"),
    };
    let handler = next.handler.replace(char::is_control, "?");
    let (reason, message) = if next.is_waiting(clock.now) {
        (Reason::Retrying, format!("kopf waits before it tries handler {handler}{others} again"))
    } else {
        (Reason::Working, format!("kopf is at work on handler {handler}{others}"))
    };
    let from = if next.prefix.is_some() { SinceFrom::Annotation } else { SinceFrom::Rule };
    Some(Judgement {
        since: live.iter().filter_map(|record| record.started).min().map(|started| Since::new(started, from)),
        until,
        moved_at,
        ..Judgement::new(State::InProgress, reason, message)
    })
}

/// Until when the unfinished records may be believed; absent only where there is none or no time is known at all.
fn deadline(live: &[&Record<'_>], moved_at: Option<Timestamp>, clock: Clock) -> Option<Timestamp> {
    let after = |at: Timestamp, wait: Duration| at.checked_add(wait).unwrap_or(Timestamp::MAX);
    let due: Vec<_> = live.iter().filter(|record| !record.is_waiting(clock.now)).collect();
    if due.is_empty() {
        let promised = live.iter().filter_map(|record| record.delayed).min().map(|at| after(at, WAKE_UP));
        let heartbeat = clock.written_at.map(|at| after(at, HEARTBEAT));
        return promised.into_iter().chain(heartbeat).min();
    }
    let delays = || due.iter().filter_map(|record| record.delayed);
    let is_between_steps = due.iter().any(|record| record.delayed.is_none());
    // Whole seconds, since `managedFields` has no others.
    let is_woken = delays()
        .min()
        .is_some_and(|delayed| clock.written_at.is_some_and(|written| written.as_second() >= delayed.as_second()));
    let promised = delays().max().map(|at| after(at, WAKE_UP));
    if is_between_steps || is_woken {
        let attempt = moved_at.or(clock.desired_at).map(|at| after(at, clock.max_attempt));
        return attempt.max(promised);
    }
    delays().min().map(|at| after(at, WAKE_UP))
}

#[cfg(test)]
mod tests;
