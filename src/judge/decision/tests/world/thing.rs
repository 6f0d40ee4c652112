//! The objects.

use jiff::Timestamp;

use super::seconds;
use crate::judge::state::{Excuse, Judgement, Reason, Since, SinceFrom, State, StatusWrite};

/// One custom resource object.
#[derive(Debug, Clone)]
pub(in crate::judge::decision::tests) struct Thing {
    pub(in crate::judge::decision::tests) uid: String,
    pub(in crate::judge::decision::tests) stream: usize,
    pub(in crate::judge::decision::tests) version: u64,
    pub(in crate::judge::decision::tests) created: i64,
    /// Counts desired states.
    pub(in crate::judge::decision::tests) wanted: u64,
    pub(in crate::judge::decision::tests) wanted_at: i64,
    /// The newest desired state that was acknowledged; 0: none.
    pub(in crate::judge::decision::tests) acked: u64,
    /// Counts acknowledgements.
    pub(in crate::judge::decision::tests) token: u64,
    /// Wall time until which the operator promised to move, and when it last did.
    pub(in crate::judge::decision::tests) progress: Option<(i64, i64)>,
    /// When the status was last written without any acknowledgement, and whether it reported a failure.
    pub(in crate::judge::decision::tests) status: Option<(i64, bool)>,
    pub(in crate::judge::decision::tests) deletion: Option<Deletion>,
    /// Is no more.
    pub(in crate::judge::decision::tests) is_gone: bool,
    /// The operator does not see it.
    pub(in crate::judge::decision::tests) is_filtered: bool,
    pub(in crate::judge::decision::tests) is_ignored: bool,
    pub(super) heard: u64,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(in crate::judge::decision::tests) enum Deletion {
    /// The operator's finalizer stands on it.
    Held(i64),
    /// Somebody else's does, and the rule knows its own.
    Others,
    /// Some finalizer does, and the rule does not know its own.
    HolderUnknown(i64),
}

impl Thing {
    pub(in crate::judge::decision::tests) fn is_served(&self) -> bool {
        self.acked == self.wanted && self.deletion.is_none()
    }

    pub(in crate::judge::decision::tests) fn judge(&self, wall: i64) -> Judgement {
        let at = |second: i64| Timestamp::from_second(second).unwrap();
        let since = |second, from| Some(Since::new(at(second), from));
        let mut judgement = match (self.deletion, self.progress) {
            (Some(Deletion::Others), _) => Judgement::new(State::Processed, Reason::HeldByOthers, ""),
            (Some(Deletion::Held(asked)), _) => Judgement {
                since: since(asked, SinceFrom::Deletion),
                held: true,
                ..Judgement::new(State::Pending, Reason::DeletionNotProcessed, "")
            },
            (Some(Deletion::HolderUnknown(asked)), _) => Judgement {
                since: since(asked, SinceFrom::Deletion),
                excuse: Some(Excuse::HolderUnknown),
                ..Judgement::new(State::Pending, Reason::DeletionNotProcessed, "")
            },
            (None, Some((until, _))) if wall > until => Judgement {
                since: since(until, SinceFrom::Deadline),
                ..Judgement::new(State::Pending, Reason::ProgressStopped, "")
            },
            (None, Some((until, moved))) => Judgement {
                until: Some(at(until)),
                moved_at: Some(at(moved)),
                ..Judgement::new(State::InProgress, Reason::Working, "")
            },
            (None, None) if self.acked == self.wanted => Judgement::new(State::Processed, None, ""),
            (None, None) if self.acked == 0 => Judgement {
                since: since(self.created, SinceFrom::Creation),
                ..Judgement::new(State::Pending, Reason::NeverProcessed, "")
            },
            (None, None) => Judgement {
                since: since(self.wanted_at, SinceFrom::ManagedFields),
                status_write: self.status.map(|(second, reports_failure)| StatusWrite {
                    at: at(second),
                    reports_failure,
                    attempt: seconds(900),
                }),
                ..Judgement::new(State::Pending, Reason::ChangeNotProcessed, "")
            },
        };
        if self.is_ignored {
            judgement.excuse = Some(Excuse::Ignored);
        }
        judgement.token = if self.deletion.is_some() { 0 } else { self.token };
        judgement.desired = self.wanted;
        judgement.desired_at = Some(at(self.wanted_at));
        judgement.created_at = Some(at(self.created));
        judgement.signalled = self.token > 0;
        judgement.shows_change = self.acked > 1;
        judgement
    }
}
