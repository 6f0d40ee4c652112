//! The API gate: whether the API server answers reliably.
//!
//! Every list and GET feeds it. Three answers in a row open it, three failures in a row close it. Beside that, the
//! first object of one resource after the other is listed on a connection of its own: every 30 s, and every 10 s while
//! the gate is closed or a stream is suspected.

use std::sync::Arc;
use std::time::Duration;

use super::operator::Operator;
use super::shared::Shared;
use crate::clock;
use crate::cluster::access;
use crate::cluster::connect::Cluster;
use crate::cluster::discover::Resource;
use crate::cluster::list::{self, Query};
use crate::cluster::request::{Client, Reach, ServerTime};
use crate::judge::decision::{self, Decision};

const ENOUGH: u8 = 3;
const AT_REST: Duration = Duration::from_secs(30);
const IN_DOUBT: Duration = Duration::from_secs(10);

/// What the last answers say.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct Gate {
    is_open: bool,
    answers: u8,
    failures: u8,
}

impl Gate {
    /// Counts one request. True if the gate opened or closed by it.
    pub(super) fn note(&mut self, reach: Reach) -> bool {
        let was_open = self.is_open;
        match reach {
            Reach::Answers => {
                self.answers = self.answers.saturating_add(1);
                self.failures = 0;
                self.is_open |= self.answers >= ENOUGH;
            }
            Reach::Fails => {
                self.failures = self.failures.saturating_add(1);
                self.answers = 0;
                self.is_open &= self.failures < ENOUGH;
            }
            Reach::Neither => {}
        }
        self.is_open != was_open
    }

    pub(super) const fn state(self) -> decision::Gate {
        if self.is_open { decision::Gate::Open } else { decision::Gate::Closed }
    }
}

/// Asks for the first object of one resource after the other, for ever.
pub(super) async fn keep(shared: Arc<Shared>, cluster: Arc<Cluster>) {
    let mut turn = 0_usize;
    // Each connection stays open until the next one is: what the kernel calls its peer is the API server as it looks from
    // here, and over time every backend of it. See [`super::sockets`].
    let mut held: Option<Client> = None;
    loop {
        let found = shared.with(|known| {
            let all: Vec<_> = known.operators.iter().flat_map(Operator::found_resources).collect();
            all.get(turn.checked_rem(all.len()).unwrap_or(0)).map(|resource| (*resource).clone())
        });
        turn = turn.wrapping_add(1);
        let outcome = match cluster.client().await {
            Ok(client) => {
                let outcome = ask(&client, found.as_ref()).await;
                drop(held.replace(client));
                outcome
            }
            Err(error) => Err(error.reach()),
        };
        shared.heard(outcome);
        let is_in_doubt = shared.with(|known| {
            let suspects = |decision| matches!(decision, Decision::Suspect | Decision::Restarting);
            known.gate.state() == decision::Gate::Closed
                || known.operators.iter().any(|operator| suspects(operator.decider.decision()))
        });
        clock::sleep(if is_in_doubt { IN_DOUBT } else { AT_REST }).await;
    }
}

/// Lists the first object; where there is nothing that may be listed, asks whether the API server is there at all.
async fn ask(client: &Client, resource: Option<&Resource>) -> Result<Option<ServerTime>, Reach> {
    if let Some(resource) = resource {
        let query = Query { page_size: 1, ..Query::new(resource) };
        match list::peek(client, &query).await.map_err(|error| error.reach()) {
            Err(Reach::Neither) => {}
            outcome => return outcome,
        }
    }
    access::ping(client).await.map_err(|error| error.reach())
}

impl Shared {
    /// Feeds the gate with what came of one request, and the skew with the API server's clock.
    pub(super) fn heard(&self, outcome: Result<Option<ServerTime>, Reach>) {
        let reach = match outcome {
            Ok(server) => {
                if let Some(server) = server {
                    self.set_server_time(server.date);
                }
                Reach::Answers
            }
            Err(reach) => reach,
        };
        if self.with(|known| known.gate.note(reach)) {
            self.changed.notify_one();
        }
    }
}

#[cfg(test)]
mod tests {
    use Reach::{Answers, Fails, Neither};

    use super::*;

    #[test]
    fn three_in_a_row_open_and_close_and_what_says_nothing_counts_as_neither() {
        let mut gate = Gate::default();
        let mut note = |reach| {
            gate.note(reach);
            gate.state() == decision::Gate::Open
        };
        let steps = [
            (Answers, false),
            (Answers, false),
            (Fails, false),
            (Answers, false),
            (Answers, false),
            (Neither, false),
            (Answers, true),
            (Fails, true),
            (Fails, true),
            (Answers, true),
            (Fails, true),
            (Fails, true),
            (Neither, true),
            (Fails, false),
            (Answers, false),
        ];
        for (index, (reach, is_open)) in steps.into_iter().enumerate() {
            assert_eq!(note(reach), is_open, "step {index}");
        }
    }
}
