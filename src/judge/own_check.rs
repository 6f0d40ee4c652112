//! The operator's own check, as the kubelet would count it: failures in a row, in one life of the container.
//!
//! It stands beside the decision: outside the budget, in every mode. It begins anew with every life of the container and
//! does not count before `initialDelay` after its start. Where the Pod cannot be seen, a restart is assumed once the
//! kubelet must have acted; else a container that is just starting would be killed for what the one before it did.

use std::time::Duration;

use jiff::Timestamp;

use super::decision::{Pod, Probe};
use super::state::Moment;
use super::tick::Tick;

/// What the configuration says.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Settings {
    /// Failures in a row before the check counts as failed; at least 1.
    pub failure_threshold: u32,
    /// After the container's start, before the first request.
    pub initial_delay: Duration,
}

/// What is remembered of the check.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct OwnCheck {
    /// The configuration in force; may be replaced at any time.
    pub settings: Settings,
    life: Life,
    in_a_row: u32,
    failed: Option<Moment>,
    failures: u64,
}

#[derive(Debug, Clone, PartialEq, Eq)]
enum Life {
    /// Nobody is to be asked: the container does not run, or the Pod is being deleted.
    Over,
    /// Of the container of this id, or of one that cannot be seen.
    Since { id: Option<String>, started: Tick },
}

impl OwnCheck {
    /// A check of which nothing is known. `now` stands for the start of a container that cannot be seen.
    pub const fn new(settings: Settings, now: Tick) -> Self {
        Self { settings, life: Life::Since { id: None, started: now }, in_a_row: 0, failed: None, failures: 0 }
    }

    /// Takes in the own Pod as it is now, and the numbers of the operator's probe. Call it whenever either may have
    /// changed, and before what was asked is noted.
    pub fn see(&mut self, pod: &Pod, probe: Option<Probe>, now: Tick) {
        let life = match pod {
            Pod::Elsewhere | Pod::Unread => self.unseen_life(probe.unwrap_or_default(), now),
            Pod::Read { container: Some(container), is_terminating: false } if container.is_running => {
                Life::Since { id: Some(container.id.clone()), started: container.started }
            }
            Pod::Read { .. } => Life::Over,
        };
        if life != self.life {
            self.life = life;
            self.in_a_row = 0;
            self.failed = None;
        }
    }

    /// The container's life where it cannot be seen: over, and a new one begun, once the kubelet must have asked often
    /// enough.
    fn unseen_life(&self, probe: Probe, now: Tick) -> Life {
        let told = probe.period.saturating_mul(probe.failure_threshold.saturating_add(1));
        let is_replaced = self.failed.is_some_and(|failed| now >= failed.tick().after(told));
        match &self.life {
            Life::Since { id: None, started } if !is_replaced => Life::Since { id: None, started: *started },
            _ => Life::Since { id: None, started: now },
        }
    }

    /// From when on the operator may be asked; absent while there is nobody to ask.
    pub fn asks_from(&self) -> Option<Tick> {
        match &self.life {
            Life::Over => None,
            Life::Since { started, .. } => Some(started.after(self.settings.initial_delay)),
        }
    }

    /// Counts one answer. `began`: when it was asked for; what was asked of an earlier life, or too early, does not count.
    pub fn note(&mut self, has_passed: bool, began: Tick, now: Moment) {
        if self.asks_from().is_none_or(|from| began < from) {
            return;
        }
        if has_passed {
            self.in_a_row = 0;
            self.failed = None;
            return;
        }
        self.failures += 1;
        self.in_a_row = self.in_a_row.saturating_add(1);
        if self.in_a_row >= self.settings.failure_threshold.max(1) && self.failed.is_none() {
            self.failed = Some(now);
        }
    }

    /// When it began to count as failed; absent while it does not.
    pub fn failed(&self) -> Option<Timestamp> {
        self.failed.map(|failed| failed.wall)
    }

    /// Failures in a row, now.
    pub const fn in_a_row(&self) -> u32 {
        self.in_a_row
    }

    /// All failures that counted.
    pub const fn failures(&self) -> u64 {
        self.failures
    }
}

#[cfg(test)]
mod tests;
