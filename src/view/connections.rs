//! What is known of the operator's TCP connections to the API server.

use super::{Fault, Open, Tick};
use crate::judge::connection;

/// At most so many are shown one by one.
pub const SHOWN: usize = 20;

/// The operator's connections to the API server. Those of other containers in the Pod are among them.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Connections {
    /// Why they cannot be seen, in one line; absent while they can.
    pub problem: Option<String>,
    /// The first of them, at most [`SHOWN`], what is wrong with one first.
    pub open: Vec<Open>,
    /// How many more there are.
    pub left_out: u64,
    /// When the newest byte was received, as far as dogwatch has seen.
    pub last_receive: Option<Tick>,
    /// What is wrong with any of them, each word once.
    pub faults: Vec<Fault>,
}

impl Connections {
    /// Connections that cannot be seen.
    pub fn unavailable(problem: impl Into<String>) -> Self {
        Self { problem: Some(problem.into()), ..Self::default() }
    }

    /// What is remembered of connections that can be seen.
    pub fn of(known: &connection::Connections) -> Self {
        let mut open: Vec<&Open> = known.open().iter().collect();
        open.sort_by_key(|open| open.fault().is_none());
        Self {
            problem: None,
            left_out: open.len().saturating_sub(SHOWN) as u64,
            open: open.into_iter().take(SHOWN).cloned().collect(),
            last_receive: known.newest(),
            faults: known.faults(),
        }
    }
}
