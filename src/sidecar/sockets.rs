//! Looks at the TCP connections that the operator shares a network namespace with: often while something waits for it,
//! seldom at rest.
//!
//! The table is read on the thread of the tasks, and at once: no connection of dogwatch's own is opened or closed
//! meanwhile, and a look takes a millisecond or two.

use std::sync::Arc;
use std::time::Duration;

use super::operator::Operator;
use super::shared::{Known, Shared};
use crate::clock;
use crate::cluster::chain;
use crate::judge::connection::{Connections, Fault, Reception, Socket};
use crate::judge::decision::Decision;
use crate::judge::tick::Tick;
use crate::sockets;
use crate::view;

/// While something waits for the operator, or was not seen yet.
const AWAKE: Duration = Duration::from_secs(5);
/// Otherwise.
const AT_REST: Duration = Duration::from_secs(30);

/// In a network of the whole node anybody's connections would be taken for the operator's.
const HOST_NETWORK: &str = "the Pod has hostNetwork: nothing tells the operator's connections from those of its node";
const NO_PEERS: &str = "no connection of dogwatch's own tells the API server's address yet";
const NOT_YET: &str = "nothing was looked at yet";
const ELSEWHERE: &str = "the operator is observed from elsewhere";

/// What is known of an operator's connections.
#[derive(Debug, Default)]
pub(super) struct Sight {
    connections: Connections,
    /// Why they cannot be seen.
    problem: Option<String>,
    has_looked: bool,
}

impl Sight {
    /// For the decision.
    pub(super) fn reception(&self) -> Reception {
        self.connections.reception()
    }

    /// Why nothing can be said, if so.
    pub(super) fn problem(&self) -> Option<&str> {
        match &self.problem {
            Some(problem) => Some(problem),
            None if !self.has_looked => Some(NOT_YET),
            None if !self.connections.knows_peers() => Some(NO_PEERS),
            None => None,
        }
    }

    /// For the view.
    pub(super) fn shown(&self) -> view::Connections {
        match self.problem() {
            Some(problem) => view::Connections::unavailable(problem),
            None => view::Connections::of(&self.connections),
        }
    }

    /// What is evidence now, in the words of reports.
    pub(super) fn words(&self) -> impl Iterator<Item = &'static str> {
        self.connections.faults().into_iter().map(Fault::as_str)
    }

    /// Takes in one look. True if it is news that nothing, or something again, can be seen.
    fn take(&mut self, looked: Result<&[Socket], String>, now: Tick) -> bool {
        self.has_looked = true;
        let problem = match looked {
            Ok(sockets) => {
                self.connections.observe(sockets, now);
                None
            }
            Err(problem) => {
                self.connections.lost();
                Some(problem)
            }
        };
        let before = std::mem::replace(&mut self.problem, problem);
        before != self.problem
    }

    /// One whose operator is somewhere else.
    pub(super) fn elsewhere() -> Self {
        Self { problem: Some(ELSEWHERE.to_owned()), ..Self::default() }
    }
}

/// Looks for ever. `read` reads the whole table of sockets.
pub(super) async fn keep(shared: Arc<Shared>, read: fn() -> Result<Vec<Socket>, sockets::Error>) {
    loop {
        let is_awake = look(&shared, read);
        if is_awake {
            shared.changed.notify_one();
        }
        clock::sleep(if is_awake { AWAKE } else { AT_REST }).await;
    }
}

/// Looks once; says whether the next look should come soon.
pub(super) fn look(shared: &Shared, read: impl FnOnce() -> Result<Vec<Socket>, sockets::Error>) -> bool {
    let looked = if shared.with(|known| known.pod.has_host_network()) {
        Err(HOST_NETWORK.to_owned())
    } else {
        read().map_err(|error| chain(&error))
    };
    let now = shared.now().tick();
    shared.with(|known| {
        let Known { operators, .. } = known;
        for operator in operators.iter_mut().filter(|operator| operator.plan.beside.is_some()) {
            if !operator.connections.take(looked.as_deref().map_err(Clone::clone), now) {
                continue;
            }
            if let Some(problem) = operator.connections.problem() {
                tracing::warn!(problem, "no evidence from TCP connections");
            } else {
                tracing::info!("TCP connections can be seen again");
            }
        }
        known.operators.iter().any(is_waited_for)
    })
}

/// Whether anything waits for the operator, or was not seen yet.
fn is_waited_for(operator: &Operator) -> bool {
    let Some(step) = &operator.step else { return true };
    !matches!(step.decision, Decision::Watching | Decision::Standby)
        || step.streams.iter().any(|explanation| explanation.pending > 0 || !explanation.holds.is_empty())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::judge::connection::Phase;

    fn socket(is_own: bool) -> Socket {
        Socket {
            local: ([10, 0, 0, 7], if is_own { 40_000 } else { 40_001 }).into(),
            peer: ([10, 96, 0, 1], 443).into(),
            phase: Phase::Established,
            inode: u64::from(is_own) + 1,
            is_own,
            silent_for: Some(Duration::from_secs(20)),
            receive_queue: 0,
            send_queue: 0,
            retransmits: 0,
        }
    }

    fn at(second: i64) -> Tick {
        Tick::from_millis(second * 1000)
    }

    #[test]
    fn what_cannot_be_seen_is_unavailable_and_never_none() {
        let mut sight = Sight::default();
        assert_eq!(sight.shown().problem.as_deref(), Some(NOT_YET));
        assert!(!sight.take(Ok(&[socket(false)]), at(100)), "no news: nothing was said before");
        assert_eq!(sight.shown().problem.as_deref(), Some(NO_PEERS));
        sight.take(Ok(&[socket(true), socket(false)]), at(105));
        sight.take(Ok(&[socket(true), socket(false)]), at(110));
        let shown = sight.shown();
        assert_eq!((shown.problem, shown.open.len(), shown.last_receive), (None, 1, Some(at(90))));
        assert!(sight.take(Err("denied".to_owned()), at(115)), "news");
        assert!(!sight.take(Err("denied".to_owned()), at(120)), "said once");
        let shown = sight.shown();
        assert_eq!((shown.problem.as_deref(), shown.open.len(), shown.last_receive), (Some("denied"), 0, None));
        assert_eq!(sight.reception(), Reception::default(), "what was known no longer counts");
        assert!(sight.take(Ok(&[socket(true), socket(false)]), at(125)), "news");
        assert_eq!(Sight::elsewhere().shown().problem.as_deref(), Some(ELSEWHERE));
    }
}
