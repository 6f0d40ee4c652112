//! What was learnt, as the state file keeps it.

use std::time::Duration;

use serde::{Deserialize, Serialize};

use super::Rebase;
use crate::judge::ledger::habit::{Habits, Proofs};
use crate::judge::tick::Tick;

/// What was learnt of one stream.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub(super) struct SavedHabits {
    at_end: SavedProofs,
    on_success: SavedProofs,
    shows_changes: bool,
    stuck: u32,
}

#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
struct SavedProofs {
    count: u32,
    newest: Option<Tick>,
    longest_millis: u64,
}

impl SavedHabits {
    pub(super) fn of(habits: &Habits) -> Self {
        let proofs = |proofs: Proofs| SavedProofs {
            count: proofs.count,
            newest: proofs.newest,
            longest_millis: u64::try_from(proofs.longest.as_millis()).unwrap_or(u64::MAX),
        };
        Self {
            at_end: proofs(habits.at_end),
            on_success: proofs(habits.on_success),
            shows_changes: habits.shows_changes,
            stuck: habits.stuck,
        }
    }

    /// Lists without any signal are counted anew: they are quickly made.
    pub(super) fn restored(&self, rebase: &Rebase) -> Habits {
        let proofs = |saved: &SavedProofs| Proofs {
            count: saved.count,
            newest: saved.newest.map(|tick| rebase.past(tick)),
            longest: Duration::from_millis(saved.longest_millis),
        };
        Habits {
            at_end: proofs(&self.at_end),
            on_success: proofs(&self.on_success),
            shows_changes: self.shows_changes,
            stuck: self.stuck,
            blank_lists: 0,
        }
    }

    pub(super) fn is_empty(&self) -> bool {
        *self == Self::default()
    }
}
