//! Where the newest view hangs: written by the loop, read by the listener, and the way back for what probes were told.

use std::collections::BTreeMap;
use std::sync::Arc;

use arc_swap::ArcSwap;
use tokio::sync::Notify;

use super::{Given, Tick, View};
use crate::judge::state::words;

/// The newest view, and what the listener has seen of probes. Each side only ever swaps a pointer: neither waits for
/// the other, however busy the machine is.
#[derive(Debug)]
pub struct Board {
    view: ArcSwap<View>,
    probes: ArcSwap<Probes>,
    given: Notify,
}

words! {
    /// The path that was asked for.
    Path {
        /// `/healthz` and below.
        Healthz = "healthz",
        /// `/livez` and below.
        Livez = "livez",
        /// `/readyz` and below.
        Readyz = "readyz",
    }
}

words! {
    /// Who asked, by the User-Agent.
    Agent {
        /// The kubelet: `kube-probe/`.
        Kubelet = "kubelet",
        /// `dogwatch probe`: `dogwatch-probe/`.
        Probe = "dogwatch-probe",
        /// Anybody else.
        Other = "other",
    }
}

impl Agent {
    /// The kind of a User-Agent.
    pub fn of(user_agent: Option<&str>) -> Self {
        match user_agent {
            Some(agent) if agent.starts_with("kube-probe/") => Self::Kubelet,
            Some(agent) if agent.starts_with("dogwatch-probe/") => Self::Probe,
            _ => Self::Other,
        }
    }

    /// Whether the kubelet acts on what this one is told.
    pub fn is_probe(self) -> bool {
        self != Self::Other
    }
}

/// What the listener has seen of probes.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Probes {
    /// When each path was last asked for by whom.
    pub last: BTreeMap<(Path, Agent), Tick>,
    /// 500s in a row that probes were given at `/healthz` for the restart that is requested; for
    /// `Inputs::given` of the decision.
    pub given: Option<Given>,
}

impl Probes {
    /// When the kubelet or `dogwatch probe` last asked for `/healthz`.
    pub fn last_healthz(&self) -> Option<Tick> {
        let of_probe =
            |((path, agent), at): (&(Path, Agent), &Tick)| (*path == Path::Healthz && agent.is_probe()).then_some(*at);
        self.last.iter().filter_map(of_probe).max()
    }
}

/// A request that the listener has answered.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Asked {
    /// What was asked for.
    pub path: Path,
    /// By whom.
    pub agent: Agent,
    /// When.
    pub at: Tick,
    /// If the answer was 500 because a restart is requested: the [`super::Verdict::since`] of that decision.
    pub failed_for: Option<Tick>,
}

impl Board {
    /// A board with its first view, so that there is an answer from the start.
    pub fn new(view: View) -> Arc<Self> {
        Arc::new(Self {
            view: ArcSwap::from_pointee(view),
            probes: ArcSwap::from_pointee(Probes::default()),
            given: Notify::new(),
        })
    }

    /// Replaces the view.
    pub fn publish(&self, view: View) {
        self.view.store(Arc::new(view));
    }

    /// The newest view.
    pub fn view(&self) -> Arc<View> {
        self.view.load_full()
    }

    /// What the listener has seen of probes so far.
    pub fn probes(&self) -> Arc<Probes> {
        self.probes.load_full()
    }

    /// Waits until probes were given one more 500, or one less. For the loop, which must then take a step; there is one
    /// waiter, and what happened while it did not wait is not lost.
    pub async fn given(&self) {
        self.given.notified().await;
    }

    /// Notes an answer.
    pub fn note(&self, asked: Asked) {
        let before = self.probes.rcu(|probes| {
            let mut probes = Probes::clone(probes);
            probes.last.insert((asked.path, asked.agent), asked.at);
            probes.given = given(probes.given, asked);
            probes
        });
        if given(before.given, asked) != before.given {
            self.given.notify_one();
        }
    }
}

/// The count after one more answer. What others than probes are told changes nothing; any other answer to a probe ends
/// the row, since the kubelet begins anew as well.
fn given(before: Option<Given>, asked: Asked) -> Option<Given> {
    if asked.path != Path::Healthz || !asked.agent.is_probe() {
        return before;
    }
    let since = asked.failed_for?;
    let in_a_row = before.filter(|given| given.since == since).map_or(0, |given| given.in_a_row);
    Some(Given { since, in_a_row: in_a_row.saturating_add(1) })
}

#[cfg(test)]
mod tests {
    use super::super::example::{a_quiet_view, tick};
    use super::*;

    fn asked(agent: Agent, failed_for: Option<Tick>) -> Asked {
        Asked { path: Path::Healthz, agent, at: tick("07:06:40"), failed_for }
    }

    fn in_a_row(board: &Board) -> Option<u32> {
        board.probes().given.map(|given| given.in_a_row)
    }

    #[test]
    fn the_kubelet_and_the_probe_are_told_apart_from_people() {
        assert_eq!(Agent::of(Some("kube-probe/1.36")), Agent::Kubelet);
        assert_eq!(Agent::of(Some("dogwatch-probe/0.1.0")), Agent::Probe);
        assert_eq!(Agent::of(Some("curl/8.0 kube-probe/1.36")), Agent::Other);
        assert_eq!(Agent::of(None), Agent::Other);
    }

    #[test]
    fn only_what_probes_are_told_counts_and_only_in_a_row() {
        let board = Board::new(a_quiet_view());
        let since = Some(tick("07:06:10"));
        board.note(asked(Agent::Kubelet, since));
        board.note(asked(Agent::Other, since));
        board.note(asked(Agent::Other, None));
        board.note(asked(Agent::Probe, since));
        board.note(Asked { path: Path::Livez, ..asked(Agent::Kubelet, None) });
        assert_eq!(in_a_row(&board), Some(2));
        board.note(asked(Agent::Kubelet, Some(tick("07:06:11"))));
        assert_eq!(in_a_row(&board), Some(1), "another restart is counted anew");
        board.note(asked(Agent::Kubelet, None));
        assert_eq!(in_a_row(&board), None, "the kubelet begins anew after a success");
    }

    #[test]
    fn the_last_request_of_a_probe_is_no_persons() {
        let board = Board::new(a_quiet_view());
        board.note(asked(Agent::Other, None));
        assert_eq!(board.probes().last_healthz(), None);
        board.note(asked(Agent::Probe, None));
        assert_eq!(board.probes().last_healthz(), Some(tick("07:06:40")));
    }

    #[tokio::test]
    async fn the_loop_wakes_when_a_500_was_given_even_before_it_waited() {
        let board = Board::new(a_quiet_view());
        board.note(asked(Agent::Kubelet, Some(tick("07:06:10"))));
        tokio::time::timeout(std::time::Duration::from_secs(5), board.given()).await.expect("woken");
    }

    #[test]
    fn a_reader_keeps_its_view_while_another_is_published() {
        let board = Board::new(a_quiet_view());
        let before = board.view();
        let mut next = a_quiet_view();
        next.operators.clear();
        board.publish(next);
        assert_eq!((before.operators.len(), board.view().operators.len()), (1, 0));
    }
}
